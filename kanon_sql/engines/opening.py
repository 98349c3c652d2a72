"""Opening an engine: of a database's name, of a connection, or an embedded one for work of our own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB


def embedded() -> DuckDB:
    """A new embedded engine: DuckDB in memory."""
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
