"""`kanon compile`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import takes
from kanon_sql.cli.show import watching
from kanon_sql.verbs.counted import frequency_set_sql as counting_sql
from kanon_sql.verbs.source import settle_spec
from kanon_sql.verbs.statement import compile as run


@takes(
    o.SOURCE,
    o.DATABASE,
    o.SPEC,
    o.FREQUENCY_SET,
    *o.ROLES,
    o.KEEP,
    *o.MODEL,
    o.SHUFFLE,
    o.STRATEGY,
    o.TIME_LIMIT,
    o.EVALUATIONS,
    o.SEED,
    o.SEARCH_IN,
    o.INTO,
    o.FORM,
    o.DIALECT,
    o.TABLE,
    o.FREQUENCY_SET_SQL,
    o.JSON,
)
def compile(
    source: str | None,
    spec: Path | None,
    search_in: Any,
    dialect: str | None,
    table: str | None,
    frequency_set_sql: bool,
    as_json: bool | None,
    **overrides: Any,
) -> None:
    """[bold]kanon compile people.parquet --spec release.yml --dialect snowflake --table PUBLIC.PEOPLE[/bold]"""
    frequency_set = overrides.pop("frequency_set")
    settled = settle_spec(source, spec, overrides)
    if frequency_set_sql:
        print(f"{counting_sql(settled, dialect=dialect or 'duckdb', table=table)};")
        return
    with watching() as watch:
        how = {"search_in": search_in, "dialect": dialect, "table": table, "frequency_set": frequency_set}
        made = run(source, settled, observer=watch, **how)
    print(json.dumps(made.to_dict(), indent=2) if as_json else f"{made.sql};")
