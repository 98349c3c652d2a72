"""The types of DuckDB: of what kind each is, and in which another engine takes its values."""

from __future__ import annotations

_KINDS = {
    "integer": ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
    "float": ("FLOAT", "DOUBLE", "REAL"),
    "boolean": ("BOOLEAN",),
    "date": ("DATE",),
    "time": ("TIME",),
    "text": ("VARCHAR", "ENUM", "CHAR", "TEXT"),
}
_PORTABLE = {"integer": "BIGINT", "float": "DOUBLE PRECISION", "text": "VARCHAR"}
_WIDE = ("HUGEINT", "UBIGINT")  # too wide for a BIGINT


def kind_of(type_name: str) -> str:
    """The kind of a DuckDB type: `DECIMAL(18,3)` is decimal, `TIMESTAMP WITH TIME ZONE` timestamp."""
    if type_name.endswith("]"):
        return "other"
    base = type_name.upper().split("(")[0].strip()
    if base in ("DECIMAL", "NUMERIC"):
        return "decimal"
    if base.startswith(("TIMESTAMP", "DATETIME")):
        return "timestamp"
    return next((kind for kind, bases in _KINDS.items() if base in bases), "other")


def portable(type_name: str) -> str:
    """The type in which an engine that is no DuckDB takes values of a type."""
    return "NUMERIC" if type_name in _WIDE else _PORTABLE.get(kind_of(type_name), type_name)
