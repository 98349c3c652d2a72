"""What DuckDB says of an error, as one line of ours that shows no value of the data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from kanon_sql.errors import KanonError, SourceError, TargetError

# Errors that are about a statement, a file or the machine: their text holds no values of the data.
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
    """Turn what the database says into one line of ours."""
    try:
        yield
    except duckdb.Error as error:
        if isinstance(error, duckdb.TransactionException) and "conflict" in str(error):
            raise TargetError(
                "somebody else has changed the same table meanwhile, and nothing was released; run again when nobody "
                "writes to it"
            ) from None
        said, values = said_by(error)
        raise error_class(f"{what}: {said}", values) from None
    except RuntimeError as error:  # what DuckDB makes of a Ctrl-C that it notices itself
        if "Query interrupted" not in str(error):
            raise
        raise KeyboardInterrupt from error


def said_by(error: duckdb.Error) -> tuple[str, tuple[str, ...]]:
    """What DuckDB says, and apart from it what may quote the data: then only where it was, and the error's class."""
    text = str(error).strip()
    first = text.partition("\n")[0]
    if isinstance(error, _OF_THE_STATEMENT) or re.search(_HARMLESS, first):
        return first, ()
    places = (re.search(pattern, text) for pattern in (r"Line: (\d+)", r'converting column "(\w+)"'))
    where = ", ".join(f"{what} {place[1]}" for what, place in zip(("line", "column"), places, strict=True) if place)
    conversion = re.search("Could not convert.*", text)
    shown = tuple(dict.fromkeys([first, *([conversion[0]] if conversion else [])]))
    return f"it stopped at a value that it cannot read or calculate with ({where or type(error).__name__})", shown
