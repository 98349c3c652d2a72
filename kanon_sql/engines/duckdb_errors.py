"""DuckDB's errors as one-line messages without values of the data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from kanon_sql.errors import KanonError, SourceError, TargetError

# Errors about a statement, a file or the machine, whose text has no values of the data.
_OF_THE_STATEMENT = (
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ParserException,
    duckdb.SyntaxException,
    duckdb.NotSupportedError,
    duckdb.IOException,
    duckdb.OutOfMemoryException,
    duckdb.PermissionException,
    duckdb.ConnectionException,
    duckdb.InterruptException,
)
_HARMLESS = "No magic bytes|too small to be a Parquet file|No space left|File too large|Could not write|quota"


@contextmanager
def explained(what: str = "DuckDB says", error_class: type[KanonError] = SourceError) -> Iterator[None]:
    """Turn DuckDB's errors into one-line messages."""
    try:
        yield
    except duckdb.Error as error:
        if isinstance(error, duckdb.TransactionException) and "conflict" in str(error):
            raise TargetError(
                "another session has changed the same table meanwhile, and nothing was released; run again when no "
                "other session writes to it"
            ) from None
        message, values = message_of(error)
        raise error_class(f"{what}: {message}", values) from None
    except RuntimeError as error:  # DuckDB's own reaction to Ctrl-C
        if "Query interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from error


def message_of(error: duckdb.Error) -> tuple[str, tuple[str, ...]]:
    """The message of an error, and separately any text that can quote the data.

    In that case the message only has the location, or the error's class."""
    text = str(error).strip()
    first = text.partition("\n")[0]
    if isinstance(error, _OF_THE_STATEMENT) or re.search(_HARMLESS, first):
        return first, ()
    places = (re.search(pattern, text) for pattern in (r"Line: (\d+)", r'converting column "(\w+)"'))
    where = ", ".join(f"{what} {place[1]}" for what, place in zip(("line", "column"), places, strict=True) if place)
    conversion = re.search("Could not convert.*", text)
    shown = tuple(dict.fromkeys([first, *([conversion[0]] if conversion else [])]))
    return f"it stopped at a value that it cannot read or calculate with ({where or type(error).__name__})", shown
