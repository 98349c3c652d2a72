"""Where a rule gives, of every value that a column can hold, the label that its hierarchy gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column
from kanon_sql.generalization.rules import Age, Calendar, Edges, Itself, Prefix, Range, Redaction, Rule, largest

_FEW_BITS = ("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER")
_UNSIGNED = ("UBIGINT", "UHUGEINT")  # of more bits than a BIGINT


def exact_of(column: Column) -> int | None:
    """How far from 0 a number of a column may be for its range to be worked out; None where any may."""
    if column.kind == "integer" and column.type.upper() in _FEW_BITS:
        return None
    return queries.EXACT_SINGLE if column.type.upper() in ("FLOAT", "REAL") else queries.EXACT


def says_the_same(rule: Rule, column: Column, values: Sequence[Any], plain: bool) -> bool:
    """Whether a rule gives every one of a hierarchy's values its label; `plain`: see `engines.looks`.

    It then gives values that come later the label that the recipe would give them.
    """
    has_text = column.kind == "text" and plain
    is_whole = column.kind == "integer" or (column.kind == "decimal" and column.type.endswith(",0)"))
    match rule:
        case Itself():
            return plain or column.kind == "float"
        case Range() | Edges():
            exact = exact_of(column)
            numeric = column.kind in ("integer", "decimal", "float") and column.type.upper() not in _UNSIGNED
            return numeric and (exact is None or largest(values) < exact)
        case Redaction() | Prefix():
            return has_text or is_whole
        case Calendar() | Age():
            # What day a moment is depends on the zone of whoever asks.
            return column.kind == "date" or (column.kind == "timestamp" and "WITH TIME ZONE" not in column.type.upper())
