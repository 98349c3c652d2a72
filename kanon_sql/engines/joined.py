"""DuckDB on a connection whose owner may be inside a transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import duckdb

from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.reading import SOURCE_VIEW
from kanon_sql.errors import SpecError


class JoinedDuckDB(DuckDB):
    """What is done here is part of the transaction that the connection is in; its owner ends it, also if this fails."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One consistent snapshot: the owner's, or a transaction of our own where there is none."""
        if self._in_transaction():
            yield
            return
        with super().transaction():
            yield

    def _in_transaction(self) -> bool:
        """Whether two statements are of one transaction; to try to begin one would spoil the owner's."""
        first, second = (self.rows("SELECT txid_current()") for _ in range(2))
        return first == second


@contextmanager
def showing(connection: Any, relation: Any) -> Iterator[tuple[DuckDB, str]]:
    """A relation of a connection under a name that only this connection knows, as long as the block lasts.

    SpecError if the connection is not one to DuckDB.
    """
    if not isinstance(connection, duckdb.DuckDBPyConnection) and not hasattr(connection, "register"):
        raise SpecError("the session is no connection to DuckDB; give the `session` of a Python model of dbt-duckdb")
    engine = JoinedDuckDB(connection)
    connection.execute("SELECT 1").fetchall()  # nothing can be registered beside a result that is not read to its end
    engine.register(relation)
    try:
        yield engine, SOURCE_VIEW.name
    finally:
        with suppress(duckdb.Error):  # in a transaction that failed nothing can be dropped; it goes with it
            connection.unregister(SOURCE_VIEW.name)
