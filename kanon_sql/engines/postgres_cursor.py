"""A cursor of PostgreSQL whose values are those of DuckDB."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # psycopg is optional, and a tenth of a second to import
    import psycopg
    from psycopg.abc import Buffer
    from psycopg.adapt import Loader


def cursor_of(connection: psycopg.Connection[Any]) -> psycopg.Cursor[tuple[Any, ...]]:
    """A cursor of plain tuples, whose values are those that DuckDB would give."""
    import psycopg
    from psycopg.rows import tuple_row

    cursor = psycopg.Cursor(connection, row_factory=tuple_row)
    cursor.adapters.register_loader("numeric", _loader(_number))
    cursor.adapters.register_loader("bpchar", _loader(lambda text: text.rstrip(" ")))
    for structured in ("json", "jsonb"):
        cursor.adapters.register_loader(structured, _loader(str))
    return cursor


def _loader(read: Callable[[str], object]) -> type[Loader]:
    from psycopg.adapt import Loader

    class Read(Loader):
        def load(self, data: Buffer) -> object:
            return read(bytes(data).decode())

    return Read


def _number(text: str) -> int | Decimal:
    """SUM(bigint) is numeric; whole numbers are integers all the same."""
    return int(text) if text.lstrip("-").isdigit() else Decimal(text)
