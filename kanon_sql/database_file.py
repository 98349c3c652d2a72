"""New database files, in a format that every supported DuckDB can open."""

from __future__ import annotations

from pathlib import Path

_OLDEST = "v1.4.0"  # the oldest supported DuckDB


def create_file(path: str | Path) -> None:
    """Create an empty database file; by itself, DuckDB uses its newest format."""
    import duckdb

    file = str(path).replace("'", "''")
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{file}' AS created (STORAGE_VERSION '{_OLDEST}')")
