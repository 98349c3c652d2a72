"""A release as a Python model of dbt-duckdb.

    from kanon_sql.dbt import release


    def model(dbt, session):
        return release(dbt.ref("stg_patients"), session, spec="release.yml")

dbt finds the inputs of a model by the literal `ref` in its text, and writes the result of `release` to a table. If the
verification fails, `release` raises, the model fails, and dbt keeps the previous table. See docs/dbt.md.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.joined import showing
from kanon_sql.errors import KanonError, SpecError
from kanon_sql.plan.preflight import preflight
from kanon_sql.plan.source import IN_MEMORY, opened, settle_spec
from kanon_sql.recode import show as shows
from kanon_sql.release.publish import check_file
from kanon_sql.spec import Spec
from kanon_sql.staging import write_file
from kanon_sql.verbs.anonymize import anonymize
from kanon_sql.verbs.options import AnonymizeOptions, spelled_out, taken
from kanon_sql.verbs.released import Release

_LOG = logging.getLogger(__name__)


@spelled_out(AnonymizeOptions)
def release(
    relation: Any,
    session: Any,
    spec: Spec | dict[str, Any] | str | PathLike[str],
    *,
    manifest: str | PathLike[str] | None = None,
    keep_node: bool = False,
    **options: Unpack[AnonymizeOptions],
) -> Any:
    """Anonymize a relation of a model, verify the release, and return it as a relation of the session.

    `relation`: the result of `dbt.ref`. `session`: the model's. `spec`: as in `anonymize`; a path is relative to the
    dbt project, where dbt runs. Its source, database and target are ignored: the model is the target. `manifest`: a
    JSON file to write or replace; by default the logger `kanon_sql.dbt` logs it. `keep_node`: use the node in this
    file while it satisfies the privacy models; `dbt run --full-refresh` searches again. No relation is created or
    changed except the release, a temporary table of the session. Raises KanonError; then the model fails. With `dbt
    run --empty`, returns the columns of the release without rows, and writes no manifest.

    >>> import duckdb
    >>> session = duckdb.connect()
    >>> patients = session.sql("SELECT '1' || i AS zip, i % 2 AS ill FROM range(4) AS t(i)")
    >>> recipes = {"zip": {"hierarchy": {"redact": "right"}}}
    >>> release(patients, session, {"quasi_identifiers": recipes, "keep": ["ill"]}, k=2).fetchall()
    [('1*', 0), ('1*', 0), ('1*', 1), ('1*', 1)]
    """
    model = _model()
    try:
        spec = Path(spec) if isinstance(spec, PathLike) else spec
        settled = settle_spec(relation, spec, taken(AnonymizeOptions, options), releases=True)
        _check(settled, model)
        if manifest is not None:
            check_file(Path(manifest), True, ())
        elif keep_node:
            raise SpecError(
                "`keep_node` reads the node from the manifest of the last build; set `manifest` to its file"
            )
        in_session = settled.model_copy(update={"database": None, "target": None})
        with showing(session, relation) as (engine, name), engine.in_time_zone(settled.time_zone):
            if model and _flag("EMPTY"):
                return session.sql(_empty_sql(engine, name, in_session, model))
            kept = None
            if keep_node and not (model and _flag("FULL_REFRESH")):
                kept = _with_kept_node(engine, name, in_session, Path(str(manifest)))
            released = kept or anonymize(name, in_session, connection=engine)
        text = json.dumps(_renamed(released, model).manifest, indent=2)
        if manifest is None:
            _LOG.info("%s", text)
        else:
            write_file(Path(manifest), f"{text}\n", overwrite=True)
    except KanonError as error:
        if not model:
            raise
        raise _without_traceback(error) from None
    assert released.place.relation is not None
    return session.sql(queries.select_all(released.place.relation, engine.dialect))


def _flag(name: str) -> bool:
    """Whether dbt runs with a flag: EMPTY creates all tables without rows, FULL_REFRESH builds everything anew."""
    flags = sys.modules.get("dbt.flags")  # loaded if dbt runs
    return bool(getattr(flags.get_flags(), name, False)) if flags else False


def _with_kept_node(engine: Engine, name: str, spec: Spec, manifest: Path) -> Release | None:
    """The release with the node of the last build, or of a search if that does not satisfy the models any more.

    None if there was no build, or if its node does not fit the spec any more: other quasi-identifiers, fewer levels.
    """
    if spec.reuses_earlier or not manifest.is_file():
        return None
    changes = {"node_from": str(manifest), "node_else": "search", "changed_hierarchies": "search"}
    changes |= {"new_columns": "drop", "changed_types": "accept"}
    try:
        return anonymize(name, spec.model_copy(update=changes), connection=engine)
    except SpecError:
        return None


def _empty_sql(engine: Engine, name: str, spec: Spec, model: Mapping[str, Any]) -> str:
    """A query of no rows with the columns of the release.

    Their types are declared by the model's YAML. Otherwise labels are text, because no node is searched, a mean
    is a number, and every other column has its type in the source.
    """
    declared = model.get("columns") or {}
    kinds = {}
    with opened(name, spec.model_copy(update={"source": name}), engine) as data:
        table = preflight(spec, data, releases_it=True).source.table
    for column in table.columns:
        if column.name in spec.dropped:
            continue
        how = shows.form_of(shows.how_of(spec, table, column.name))
        own = column.open_type or column.type
        if column.name in spec.quasi_identifiers and how not in ("bounds", "median", "mode"):
            own = "DOUBLE" if how == "mean" else "VARCHAR"
        for shown in shows.shown_names(column.name, how):
            kinds[shown] = (declared.get(shown) or {}).get("data_type") or own
    return queries.no_rows(kinds, engine.dialect)


def _without_traceback(error: KanonError) -> KanonError:
    """The same error, of which dbt-duckdb prints only the message; of other errors it prints the whole traceback."""
    kind = type(error)
    hidden = property(lambda _: None, lambda _, __: None)
    quiet = type(kind.__name__, (kind,), {"__module__": kind.__module__, "__traceback__": hidden})
    printed: KanonError = quiet.__new__(quiet, *error.args)
    printed.__dict__.update(error.__dict__)
    return printed


def _check(spec: Spec, model: Mapping[str, Any]) -> None:
    """SpecError for a release that is not one table that dbt rebuilds in every run."""
    if model.get("config", {}).get("materialized") == "incremental":
        raise SpecError(
            "a release is verified as a whole, so rows cannot be added incrementally; set materialized='table' for "
            "this model, or let changes wait with `kanon run` and read its table as a dbt source"
        )
    if spec.target and spec.target.form == "anatomy":
        raise SpecError(
            "an anatomy is two tables, and a dbt model is one; use `form='table'`, or use `kanon anonymize`"
        )
    if spec.waiting or spec.incremental:
        raise SpecError(
            "waiting rows need a second table, and a dbt model creates only one; leave out `incremental` "
            "and `waiting`, or use `kanon run`"
        )
    if spec.differencing_limit not in (None, "unlimited"):
        raise SpecError(
            "dbt passes a model neither the table that it replaces nor earlier ones, so releases cannot be compared; "
            "leave out `differencing_limit`, or use `kanon run` and read its table as a dbt source"
        )


def _model() -> Mapping[str, Any]:
    """dbt's description of the running model; empty outside of dbt.

    dbt passes only its refs to a model. So this reads the parameter `parsed_model` of `submit_python_job`, the method
    of all adapters that runs the model, from the call stack.
    """
    frame = sys._getframe(1).f_back
    while frame is not None:
        parsed = frame.f_locals.get("parsed_model")
        if frame.f_code.co_name == "submit_python_job" and isinstance(parsed, Mapping):
            return parsed
        frame = frame.f_back
    return {}


def _renamed(release: Release, model: Mapping[str, Any]) -> Release:
    """The release with dbt's names of its source and target in the manifest."""
    refs = [str(ref["name"]) for ref in model.get("refs", [])]
    target = {"table": str(model["relation_name"]).replace('"', ""), "as": "dbt model"} if model else {}
    source = ", ".join(refs) or IN_MEMORY
    manifest = {**release.manifest, "source": source, **({"target": target} if target else {})}
    return replace(release, manifest=manifest)
