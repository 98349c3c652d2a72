"""DuckDB on a connection whose owner can be inside a transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import duckdb

from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.file_source import SOURCE_VIEW
from kanon_sql.errors import SpecError


class JoinedDuckDB(DuckDB):
    """Everything here is part of the connection's transaction, which its owner ends, even after an error."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One consistent snapshot: the owner's, or otherwise a new transaction."""
        if self._in_transaction():
            yield
            return
        with super().transaction():
            yield

    def _in_transaction(self) -> bool:
        """Whether two statements are in one transaction; trying to begin one would abort the owner's."""
        first, second = (self.rows("SELECT txid_current()") for _ in range(2))
        return first == second


@contextmanager
def showing(connection: Any, relation: Any) -> Iterator[tuple[DuckDB, str]]:
    """A relation of a connection under a temporary name, while the block runs.

    SpecError if the connection is not one to DuckDB.
    """
    if not isinstance(connection, duckdb.DuckDBPyConnection) and not hasattr(connection, "register"):
        raise SpecError(
            "the session is not a connection to DuckDB; pass the `session` of a Python model of dbt-duckdb, or use "
            "`kanon compile --dbt`, which writes a model in SQL for other adapters"
        )
    engine = JoinedDuckDB(connection)
    connection.execute("SELECT 1").fetchall()  # ends an open result, during which nothing can be registered
    engine.register(relation)
    try:
        yield engine, SOURCE_VIEW.name
    finally:
        with suppress(duckdb.Error):  # nothing can be dropped in a failed transaction, which removes it anyway
            connection.unregister(SOURCE_VIEW.name)
