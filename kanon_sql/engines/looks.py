"""Whether equal values of a column look the same: otherwise rows sorted by them can reveal the source's order."""

from __future__ import annotations

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table

_TEXTS = ("TEXT", "VARCHAR", "CHARACTER VARYING", "ENUM")
_DIFFERENT = 6  # texts in files/apart_texts


def looks_plain(engine: Engine, table: Table, column: Column) -> bool:
    """Whether equal values of a column look the same: not both -0 and 0, 1.0 and 1.00, or A and a."""
    if column.kind == "text":
        if engine.dialect == "spark":
            return column.type == "string"  # without collation, compared by bytes
        return column.type.upper().startswith(_TEXTS) and _tells_texts_apart(engine, table, column)
    if column.kind == "decimal":
        return "(" in column.type  # a fixed number of decimals
    return column.kind in ("integer", "date", "timestamp", "time", "boolean")


def _tells_texts_apart(engine: Engine, table: Table, column: Column) -> bool:
    """Whether the collation of a column only treats identical texts as equal."""
    if column.open_type:
        return True
    query = queries.text("files/apart_texts", engine.dialect, column=[column.name], source=table.relation)
    ((different,),) = engine.rows(query)
    return bool(different == _DIFFERENT)
