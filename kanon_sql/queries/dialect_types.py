"""Types of DuckDB and PostgreSQL that another system lacks, or has with a smaller range, and their replacements."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

_Type = exp.DType
_WIDE = dict.fromkeys((_Type.INT128, _Type.UINT128, _Type.BIGNUM), "DECIMAL(38, 0)")
_UNSIGNED = {
    _Type.UBIGINT: "DECIMAL(20, 0)",
    _Type.UINT: "BIGINT",
    _Type.USMALLINT: "INTEGER",
    _Type.UTINYINT: "SMALLINT",
}
_PRECISE = dict.fromkeys((_Type.TIMESTAMP_S, _Type.TIMESTAMP_MS, _Type.TIMESTAMP_NS), "TIMESTAMP")
_MOMENTS = (_Type.TIMESTAMP, _Type.TIMESTAMPNTZ, *_PRECISE)
_NUMBERS = {**_WIDE, **_UNSIGNED}
_ELSEWHERE = {**_NUMBERS, **_PRECISE, _Type.ENUM: "TEXT"}
_TRINO = {**_ELSEWHERE, **dict.fromkeys(_MOMENTS, "TIMESTAMP(6)")}  # without a precision it has only milliseconds
_CLICKHOUSE = {  # whose Date and DateTime start in 1970, the latter without fractions of a second
    _Type.DATE: "Nullable(Date32)",
    **dict.fromkeys(_MOMENTS, "Nullable(DateTime64(6))"),
    _Type.TIMESTAMP_NS: "Nullable(DateTime64(9))",
    _Type.TIMESTAMPTZ: "Nullable(DateTime64(6, 'UTC'))",
    _Type.ENUM: "Nullable(String)",
}
_TYPES: Mapping[str, Mapping[exp.DType, str]] = {  # ClickHouse's in its own words, the others in DuckDB's
    "postgres": _NUMBERS,
    "snowflake": {**_ELSEWHERE, _Type.UUID: "TEXT"},
    "bigquery": {**_ELSEWHERE, **dict.fromkeys(_WIDE, "BIGNUMERIC")},
    "databricks": _ELSEWHERE,
    "spark": _ELSEWHERE,
    "redshift": {**_ELSEWHERE, _Type.UUID: "TEXT"},
    "trino": _TRINO,
    "athena": _TRINO,
    "clickhouse": _CLICKHOUSE,
}


def type_in(node: exp.Expr, dialect: str) -> exp.Expr:
    """A type as one that a system has; other parts of a query unchanged.

    >>> type_in(exp.DataType.build("HUGEINT", dialect="duckdb"), "snowflake").sql("snowflake")
    'DECIMAL(38, 0)'
    """
    words = _TYPES.get(dialect, {}).get(node.this) if isinstance(node, exp.DataType) else None
    if words is None:
        return node
    return exp.DataType.build(words, dialect="clickhouse" if dialect == "clickhouse" else "duckdb")
