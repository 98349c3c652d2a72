"""Whether equal values of a column look the same: if not, rows sorted by them may keep the order of the source."""

from __future__ import annotations

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table

_TEXTS = ("TEXT", "VARCHAR", "CHARACTER VARYING", "ENUM")
_DIFFERENT = 6  # texts in files/apart_texts


def looks_plain(engine: Engine, table: Table, column: Column) -> bool:
    """Whether equal values of a column look the same: no -0 beside 0, no 1.0 beside 1.00, no A beside a."""
    if column.kind == "text":
        if engine.dialect == "spark":
            return column.type == "string"  # of no collation, compared by its bytes
        return column.type.upper().startswith(_TEXTS) and _tells_texts_apart(engine, table, column)
    if column.kind == "decimal":
        return "(" in column.type  # so many decimals, of every value
    return column.kind in ("integer", "date", "timestamp", "time", "boolean")


def _tells_texts_apart(engine: Engine, table: Table, column: Column) -> bool:
    """Whether the collation of a column takes no two different texts for equal."""
    if column.open_type:
        return True
    query = queries.text("files/apart_texts", engine.dialect, column=[column.name], source=table.relation)
    ((different,),) = engine.rows(query)
    return bool(different == _DIFFERENT)
