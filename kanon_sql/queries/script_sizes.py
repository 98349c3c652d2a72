"""How long a script may be in other systems, by their manuals."""

from __future__ import annotations

from dataclasses import dataclass

from kanon_sql.errors import SpecError
from kanon_sql.queries.inlined_tables import WrittenTable


@dataclass(frozen=True)
class _Limit:
    """The most bytes of a statement, or of a whole script."""

    size: int
    of_script: bool = False
    with_rows: bool = True  # whether the rows of an INSERT count


_LIMITS = {
    "snowflake": _Limit(1_000_000),
    "bigquery": _Limit(1_000_000, of_script=True),
    "redshift": _Limit(16_000_000),
    "trino": _Limit(1_000_000),
    "athena": _Limit(262_144),
    "clickhouse": _Limit(262_144, with_rows=False),
}


def size_in_words(script: str, dialect: str) -> str:
    """The size of a script, and the most that its system accepts.

    >>> size_in_words("SELECT 1", "athena")
    '8 bytes; athena accepts 262,144 bytes in a statement'
    """
    size, limit = f"{len(script.encode()):,} bytes", _LIMITS.get(dialect)
    return f"{size}; {dialect} accepts {_most(limit)}" if limit else size


def check_size(script: str, dialect: str, tables: tuple[WrittenTable, ...]) -> None:
    """SpecError for a script that its system does not accept; `tables`: the tables that it writes out."""
    limit = _LIMITS.get(dialect)
    if limit is None:
        return
    statements = [script] if limit.of_script else script.split(";\n\n")
    counted = [text for text in statements if limit.with_rows or not text.startswith("INSERT")]
    size = max((len(text.encode()) for text in counted), default=0)
    if size <= limit.size:
        return
    longest = max(tables, key=lambda table: len(table.rows), default=None)
    listed = f" (most of them for the {len(longest.rows):,} values of {longest.name})" if longest else ""
    raise SpecError(
        f"the release takes {size:,} bytes of SQL{listed}, and {dialect} accepts {_most(limit)}; use recipes such as "
        "`redact`, `prefix` or `ranges` instead of lists of values, or write a dbt model with `dbt`, whose lists "
        "are seeds"
    )


def _most(limit: _Limit) -> str:
    return f"{limit.size:,} bytes in a {'script' if limit.of_script else 'statement'}"
