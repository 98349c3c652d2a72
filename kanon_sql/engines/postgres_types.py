"""The types of PostgreSQL: of what kind each is, and what it is in DuckDB."""

from __future__ import annotations

import re

_KINDS = {
    "smallint": "integer",
    "integer": "integer",
    "bigint": "integer",
    "numeric": "decimal",
    "real": "float",
    "double precision": "float",
    "date": "date",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamp",
    "time without time zone": "time",
    "boolean": "boolean",
}
_CATEGORIES = {"S": "text", "E": "text", "": "foreign"}  # strings (varchar, char) and enums; types of extensions
_IN_DUCKDB = {
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "REAL",
    "float8": "DOUBLE",
    "bool": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMPTZ",
    "time": "TIME",
    "uuid": "UUID",
}


def kind_of(plain: str, category: str) -> str:
    """The kind of a type without its modifiers, by its category in the catalog too."""
    return _CATEGORIES.get(category) or _KINDS.get(plain, "other")


def in_duckdb(type_name: str) -> str:
    """What DuckDB calls a type, given in the short words of PostgreSQL."""
    return _IN_DUCKDB.get(re.sub(r"\(.*\)", "", type_name), "VARCHAR")
