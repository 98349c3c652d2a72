"""`kanon compile`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import takes
from kanon_sql.cli.output import out, print_json, watching
from kanon_sql.errors import SpecError
from kanon_sql.plan.source import settle_spec
from kanon_sql.verbs.compile_dbt import check_project, compile_dbt
from kanon_sql.verbs.frequency_sets import frequency_set_sql as counting_sql
from kanon_sql.verbs.options import SearchOptions
from kanon_sql.verbs.statement import compile as run


@takes(
    o.SOURCE,
    o.SPEC,
    o.FREQUENCY_SET,
    *o.of(SearchOptions, "strategy"),
    o.LATTICE_SEARCH,
    o.OPTIONS["shuffle"],
    o.SEARCH_IN,
    o.OPTIONS["into"],
    o.OPTIONS["form"],
    o.DIALECT,
    o.TABLE,
    o.FREQUENCY_SET_SQL,
    o.DBT,
    o.REF,
    o.OVERWRITE,
    o.JSON,
)
def compile(
    source: str | None,
    spec: Path | None,
    search_in: Any,
    dialect: str | None,
    table: str | None,
    frequency_set_sql: bool,
    dbt: Path | None,
    ref: str | None,
    overwrite: bool | None,
    as_json: bool | None,
    **overrides: Any,
) -> None:
    """[bold]kanon compile people.parquet --spec release.yml --dialect snowflake --table PUBLIC.PEOPLE[/bold]"""
    frequency_set = overrides.pop("frequency_set")
    settled = settle_spec(source, spec, overrides)
    if dbt is not None:
        _refuse_printing({"table": table, "frequency_set_sql": frequency_set_sql, "as_json": as_json})
        check_project(dbt)
        with watching() as watch:
            model = compile_dbt(
                source,
                settled,
                observer=watch,
                ref=ref,
                search_in=search_in,
                frequency_set=frequency_set,
                dialects=o.names(dialect or ""),
            )
        for path in model.write(dbt, overwrite=bool(overwrite)):
            out.print(escape(str(path)))
        return
    if ref or overwrite:
        raise SpecError("`ref` and `overwrite` apply only to a dbt model; use them with `dbt`, or leave them out")
    if frequency_set_sql:
        print(f"{counting_sql(settled, dialect=dialect or 'duckdb', table=table)};")
        return
    with watching() as watch:
        compiled = run(
            source,
            settled,
            observer=watch,
            search_in=search_in,
            dialect=dialect,
            table=table,
            frequency_set=frequency_set,
        )
    if as_json:
        print_json(compiled.to_json())
    else:
        print(f"{compiled.sql};")


def _refuse_printing(options: dict[str, Any]) -> None:
    """Refuse options about printed output together with `dbt`."""
    for name, value in options.items():
        if value:
            raise SpecError(f"`{name}` applies to printed output, but `dbt` writes files; leave out one of them")
