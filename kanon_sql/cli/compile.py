"""`kanon compile`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import takes
from kanon_sql.cli.output import out, show_result, warn, watching
from kanon_sql.errors import SpecError
from kanon_sql.plan.source import settle_spec
from kanon_sql.verbs.compile_dbt import compile_dbt
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
    o.NAMES,
    o.FREQUENCY_SET_SQL,
    o.DBT,
    o.REF,
    o.OPTIONS["node"],
    o.OPTIONS["node_from"],
    o.OPTIONS["node_else"],
    o.SEARCH_AGAIN,
    o.MAPPINGS,
    o.OVERWRITE,
    o.JSON,
)
def compile(
    source: str | None,
    spec: Path | None,
    search_in: Any,
    dialect: str | None,
    table: str | None,
    names: Any,
    frequency_set_sql: bool,
    dbt: Path | None,
    ref: str | None,
    search_again: bool | None,
    mappings: Any,
    overwrite: bool | None,
    as_json: bool | None,
    **overrides: Any,
) -> None:
    """[bold]kanon compile people.parquet --spec release.yml --dialect snowflake --table PUBLIC.PEOPLE[/bold]"""
    frequency_set = overrides.pop("frequency_set")
    if dbt is None:
        overrides["overwrite"] = overwrite
    settled = settle_spec(source, spec, overrides)
    if dbt is not None:
        if settled.target and overwrite:
            settled = settled.model_copy(update={"target": settled.target.model_copy(update={"overwrite": True})})
        printing = {"table": table, "frequency_set_sql": frequency_set_sql, "as_json": as_json}
        for name, value in {**printing, "names": names != "exact"}.items():
            if value:
                raise SpecError(f"`{name}` applies to printed output, but `dbt` writes files; leave out one of them")
        with watching() as watch:
            model = compile_dbt(
                source,
                settled,
                observer=watch,
                ref=ref,
                search_in=search_in,
                frequency_set=frequency_set,
                dialects=o.names(dialect or ""),
                project=dbt,
                search_again=bool(search_again),
                mappings=mappings or "seed",
            )
        if model.node_kept:
            levels = ", ".join(f"{name} {level}" for name, level in model.node.items())
            warn([f"kept the node of the existing model ({levels}); use `search_again` to search for another"])
        for table in model.tables:
            warn([f"created {table}; grant dbt's role the right to read it"])
        for path in model.write(dbt, overwrite=bool(overwrite)):
            out.print(escape(str(path)))
        return
    for name, value in {"ref": ref, "search_again": search_again, "mappings": mappings}.items():
        if value:
            raise SpecError(f"`{name}` applies only to a dbt model; use it with `dbt`, or leave it out")
    if frequency_set_sql:
        print(f"{counting_sql(settled, dialect=dialect or 'duckdb', table=table, names=names)};")
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
            names=names,
        )
    show_result(compiled, as_json, lambda compiled: print(f"{compiled.sql};"))
