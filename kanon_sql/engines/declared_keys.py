"""Keys that the tables of a database declare, of a single column, and the tables that are only parts of others."""

from __future__ import annotations

from dataclasses import dataclass, field

from kanon_sql.engine import Engine
from kanon_sql.queries import Relation

# Per dialect: the parts of the table's name, the kind of constraint, its columns, the table and columns it refers to.
_DECLARED = {
    "duckdb": """
SELECT
  [database_name, schema_name, table_name], constraint_type, constraint_column_names,
  CASE WHEN referenced_table IS NOT NULL THEN [database_name, schema_name, referenced_table] END,
  referenced_column_names
FROM duckdb_constraints()
WHERE constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY') AND database_name <> 'temp'
ORDER BY database_name, schema_name, table_name, constraint_index
""",
    "postgres": r"""
SELECT
  ARRAY[n.nspname::text, c.relname::text],
  CASE k.contype WHEN 'p' THEN 'PRIMARY KEY' WHEN 'u' THEN 'UNIQUE' ELSE 'FOREIGN KEY' END,
  ARRAY(
    SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS i(number, place)
    JOIN pg_attribute AS a ON a.attrelid = k.conrelid AND a.attnum = i.number ORDER BY i.place
  ),
  CASE WHEN k.contype = 'f' THEN ARRAY[m.nspname::text, r.relname::text] END,
  ARRAY(
    SELECT a.attname::text FROM unnest(k.confkey) WITH ORDINALITY AS i(number, place)
    JOIN pg_attribute AS a ON a.attrelid = k.confrelid AND a.attnum = i.number ORDER BY i.place
  )
FROM pg_constraint AS k
  JOIN pg_class AS c ON c.oid = k.conrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
  LEFT JOIN pg_class AS r ON r.oid = k.confrelid LEFT JOIN pg_namespace AS m ON m.oid = r.relnamespace
WHERE k.contype IN ('p', 'u', 'f') AND n.nspname NOT LIKE 'pg\_%'
ORDER BY n.nspname, c.relname, k.contype, k.conname
""",
}

_PARTS = {
    "postgres": """
SELECT n.nspname::text, c.relname::text
FROM pg_inherits AS i JOIN pg_class AS c ON c.oid = i.inhrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace
""",
}


@dataclass
class DeclaredKeys:
    """The declared keys of a table: `primary` and `unique` columns, and columns that refer to others.

    `references`: by column, the tables with the columns that it refers to.
    """

    primary: str | None = None
    unique: list[str] = field(default_factory=list)
    references: dict[str, list[tuple[Relation, str]]] = field(default_factory=dict)


def declared_keys(engine: Engine) -> dict[Relation, DeclaredKeys]:
    """The declared keys by table; empty for an engine without keys. Keys of several columns are left out."""
    declared: dict[Relation, DeclaredKeys] = {}
    query = _DECLARED.get(engine.dialect)
    for parts, kind, columns, target, target_columns in engine.rows(query) if query else ():
        keys = declared.setdefault(Relation(*parts), DeclaredKeys())
        if len(columns) > 1:
            continue
        if kind == "PRIMARY KEY":
            keys.primary = columns[0]
        elif kind == "UNIQUE":
            keys.unique.append(columns[0])
        elif target:
            keys.references.setdefault(columns[0], []).append((Relation(*target), target_columns[0]))
    return declared


def parts_of_tables(engine: Engine) -> set[Relation]:
    """The tables whose rows another table also has: partitions, and tables that inherit from one."""
    query = _PARTS.get(engine.dialect)
    return {Relation(*parts) for parts in engine.rows(query)} if query else set()
