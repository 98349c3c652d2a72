"""What PostgreSQL says when it fails, as errors of ours: one line, and no value of the data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kanon_sql.engines.postgres_sql import REFUSALS
from kanon_sql.errors import SourceError


@contextmanager
def explained() -> Iterator[None]:
    """Turn what the database says into one line of ours."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        state = error.sqlstate or ""
        if state in _BY_ANOTHER:
            raise SourceError(_MEANWHILE) from None
        if state[:2] in _OF_THE_STATEMENT and error.diag.message_primary:
            raise SourceError(f"PostgreSQL says: {error.diag.message_primary}") from None
        if error.diag.schema_name == "pg_catalog" or "concurrently" in (error.diag.message_primary or ""):
            raise SourceError(_MEANWHILE) from None
        if not state and isinstance(error, psycopg.OperationalError):
            raise SourceError("PostgreSQL says: the connection is lost; see the server's log, and run again") from None
        raise SourceError(
            f"PostgreSQL stopped at a value that it cannot read or calculate with ({type(error).__name__}); see the "
            "server's log, and the types in the table or view",
            [str(error).strip().partition("\n")[0]],
        ) from None


def why_not(error: Exception) -> str:
    """Why there is no connection, in words of ours: libpq's name the user, the host and the database."""
    said = str(error)
    return next((why for words, why in REFUSALS.items() if re.search(words, said)), "check the host, port and name")


def row_security(schema: str, table: str, reader: str, policies: Sequence[str]) -> str:
    """That row-level security hides rows of a table from a role, with the names of the policies."""
    allow = f"its policies allow ({', '.join(policies)})" if policies else "policies allow, of which it has none"
    return (
        f"row-level security on {schema}.{table} shows {reader} only the rows that {allow}; hidden rows are neither "
        "counted nor released"
    )


# Classes of errors whose text is about the statement or the server: no values of the data.
_OF_THE_STATEMENT = ("0A", "25", "2B", "3F", "40", "42", "53", "54", "55", "57", "58")
_BY_ANOTHER = ("42P07", "40001")  # what was not there a moment ago is, or is another
_MEANWHILE = "somebody else made or replaced the same table meanwhile; nothing was released, run again"
