"""Opening an engine: by a database's name, on a connection of the caller's, or embedded, for work of our own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kanon_sql.engine import Engine, FileEngine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SpecError
from kanon_sql.spec import names_a_server, speakable


def open_engine(database: str | None = None, create: bool = False) -> Engine:
    """Open a database: PostgreSQL by its URL, else a DuckDB file, which may be made where `create`; None: in memory."""
    if database is None:
        return DuckDB()
    if names_a_server(database):
        from kanon_sql.engines.postgres import PostgreSQL

        return PostgreSQL.open(database)
    if speakable(database) != database and not Path(database).exists():
        raise SpecError(
            "the given database is neither a DuckDB file nor a PostgreSQL server; give the path of a file, or "
            "postgresql://user:password@host:port/database"
        )
    return DuckDB.open(database, create=create)


def engine_of(connection: Any) -> Engine:
    """Wrap a connection of the caller's, which stays open; an engine is one already."""
    if isinstance(connection, DuckDB):
        return connection
    if type(connection).__module__.split(".")[0] == "psycopg":
        from kanon_sql.engines.postgres import PostgreSQL

        return PostgreSQL(connection)
    return DuckDB(connection)


def embedded() -> FileEngine:
    """A new embedded engine in memory, which reads and writes files."""
    return DuckDB()


@contextmanager
def embedded_for(engine: Engine) -> Iterator[Engine]:
    """An engine for hundreds of small queries: this one, if it is embedded, or else a new one, closed at the end."""
    if engine.is_embedded:
        yield engine
        return
    made = engine.embedded()
    try:
        yield made
    finally:
        made.close()
