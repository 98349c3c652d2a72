"""A release of several tables as the page shows it: its spec, the released tables, their check, and the runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kanon_sql.engine import Engine
from kanon_sql.errors import KanonError, SourceError, SpecError
from kanon_sql.linked.check import rows_and_people
from kanon_sql.linked.history import stored_runs
from kanon_sql.linked.links import links_of
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import opened_engine
from kanon_sql.spec import FunctionRecipe, LinkedSpec, load_linked
from kanon_sql.verbs.database import known_rows, released_tables, verify_database

MOST_RUNS = 30


def loaded(file: Path, overrides: Mapping[str, Any]) -> LinkedSpec:
    """The spec of several tables in a file; SpecError if it is not valid, names no target, or names code."""
    spec = load_linked(file, **overrides)
    links_of(spec)
    if spec.into is None:
        raise SpecError("the spec names no target; add `into` with the schema or folder of the release")
    if spec.database is None:
        raise SpecError("there is no database; name one with `database`, such as `database: hospital.duckdb`")
    recipes = [column.hierarchy for table in spec.tables.values() for column in table.quasi_identifiers.values()]
    if named := next((recipe.function for recipe in recipes if isinstance(recipe, FunctionRecipe)), None):
        raise SpecError(f"the page runs no code, and the spec names {named}; use `kanon database report`")
    return spec


def described(spec: LinkedSpec) -> dict[str, Any]:
    """What the page shows of a spec: names of tables and columns, and kinds of hierarchies, never values."""
    assert spec.into is not None
    return {
        "unit": spec.main,
        "k": spec.privacy.k,
        "m": spec.privacy.m,
        "target": str(spec.into.folder or spec.into.schema_name),
        "in_folder": spec.into.folder is not None,
        "tables": [{"name": name, "columns": list(_columns(spec, name))} for name in spec.tables],
    }


def _columns(spec: LinkedSpec, name: str) -> Iterator[dict[str, str]]:
    """The columns of a table with their roles, and what the release does with them."""
    table = spec.tables[name]
    keys = dict(table.keys) if name != spec.main else {spec.person_key: "own", **table.keys}
    for column, refers_to in keys.items():
        rows = "the person" if name == spec.main else "the row"
        role = f"key of {rows}" if refers_to == "own" else f"key, refers to {refers_to}"
        yield {"name": column, "role": role, "change": "replaced by a random key"}
    for column, attribute in table.quasi_identifiers.items():
        kind = _kind(attribute.model_dump(mode="json", exclude_unset=True).get("hierarchy"))
        yield {"name": column, "role": "quasi-identifier", "change": "generalized", "hierarchy": kind}
    sensitive = spec.sensitive_of(name)
    for column in sensitive:
        models = [model for model, of_column, _ in spec.privacy.requirements if of_column == f"{name}.{column}"]
        limit = f"limited by {', '.join(model.replace('_', '-') for model in models)}" if models else "not limited"
        yield {"name": column, "role": "sensitive", "change": f"unchanged, {limit}"}
    for column in table.shift:
        yield {"name": column, "role": "date", "change": "an offset of days per person"}
    for column in table.keep:
        if column not in sensitive:
            yield {"name": column, "role": "kept", "change": "unchanged, not counted"}
    for column in table.identifiers:
        yield {"name": column, "role": "identifier", "change": "dropped"}


def _kind(hierarchy: Any) -> str:
    """The kind of a recipe, without its values."""
    if isinstance(hierarchy, Mapping):
        return str(next(iter(hierarchy), "file"))
    return str(hierarchy or "file")


def current_state(spec: LinkedSpec, observer: Observer) -> dict[str, Any]:
    """The spec, the released tables with their rows and people, their check, and the runs: names and figures only.

    `missing`: why there is nothing to check; then `released` and `check` are empty. Nothing is written. Raises
    KanonError if the database cannot be read.
    """
    state: dict[str, Any] = {
        "spec": described(spec),
        "at": datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"),
        "missing": "",
        "released": {},
        "check": {},
        "runs": [],
        "runs_problem": "",
    }
    with opened_engine(spec.session, None) as engine:
        observer.stage("Reading the runs")
        try:
            state["runs"] = _runs(engine, spec)
        except KanonError as error:  # only the owner of the release can read them
            state["runs_problem"] = str(error)
        observer.stage("Counting the released rows")
        try:
            with released_tables(engine, spec) as (reader, released):
                state["released"] = rows_and_people(reader, links_of(spec), spec, released)
        except SourceError as error:
            state["missing"] = str(error)
            return state
    observer.stage("Checking the released tables")
    checked = verify_database(spec).to_dict()
    for finding in (*checked["findings"], *checked["sensitive"]):
        finding["known_in_words"] = known_rows(finding["known_rows"])
    state["check"] = checked
    return state


def _runs(engine: Engine, spec: LinkedSpec) -> list[dict[str, Any]]:
    """The latest runs, the last one first; none for releases in folders."""
    assert spec.into is not None
    if spec.into.folder:
        return []
    stored = stored_runs(engine, str(spec.into.schema_name), MOST_RUNS)
    return [_run(number, at, manifest) for number, at, manifest in stored]


def _run(number: int, at: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    waiting, compared = manifest["waiting"], manifest["compared"]
    rows = {
        key: sum(table[key] for table in waiting["tables"].values()) for key in ("to_appear", "to_leave", "to_change")
    }
    return {
        "number": number,
        "at": at,
        "people": manifest["released_people"],
        "node": manifest["node"],
        "waiting_people": waiting["people"],
        **rows,
        "compared": len(compared),
        "fewest": min(
            (found["fewest_people"] for found in compared if found["fewest_people"] is not None), default=None
        ),
    }
