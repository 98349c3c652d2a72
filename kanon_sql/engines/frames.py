"""Data that a program hands over, a DataFrame or an Arrow table, as a view in DuckDB."""

from __future__ import annotations

from typing import Any

import duckdb


def names(data: Any) -> list[str]:
    """The names of the columns, as text."""
    named = data.column_names if hasattr(data, "column_names") else getattr(data, "columns", ())
    return [str(name) for name in named]


def show(connection: duckdb.DuckDBPyConnection, name: str, data: Any) -> None:
    """Register data; a DataFrame whose values are stored backwards, as `frame[::-1]` has them, as a copy."""
    try:
        connection.register(name, data)
    except duckdb.Error:
        if not hasattr(data, "iloc"):
            raise
        connection.register(name, data.copy())
