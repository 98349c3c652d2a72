"""A release as a Python model of dbt-duckdb.

    from kanon_sql.dbt import release


    def model(dbt, session):
        return release(dbt.ref("stg_patients"), session, spec="release.yml")

dbt finds out what a model reads from the literal `ref` in its text, and makes a table of what `release` returns. If the
release does not hold, `release` raises, the model fails, and dbt keeps the table that was there. See docs/dbt.md.
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
from kanon_sql.engines.joined import showing
from kanon_sql.errors import SpecError
from kanon_sql.plan.source import IN_MEMORY, settle_spec
from kanon_sql.release.publish import check_file
from kanon_sql.spec import Spec
from kanon_sql.staging import Staging
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
    **options: Unpack[AnonymizeOptions],
) -> Any:
    """Anonymize what a model refers to, verify the release, and give it as a relation of the session.

    `relation`: what `dbt.ref` gives. `session`: the model's. `spec`: as in `anonymize`; a path is relative to the dbt
    project, where dbt runs. Its source, database and target do not matter: the model is the target. `manifest`: a file
    of JSON to write or replace, else it is logged by `kanon_sql.dbt`. Besides the release, a temporary table of the
    session, no relation is made or changed. Raises KanonError; then the model fails.

    >>> import duckdb
    >>> session = duckdb.connect()
    >>> patients = session.sql("SELECT '1' || i AS zip, i % 2 AS ill FROM range(4) AS t(i)")
    >>> recipes = {"zip": {"hierarchy": {"redact": "right"}}}
    >>> release(patients, session, {"quasi_identifiers": recipes, "keep": ["ill"]}, k=2).fetchall()
    [('1*', 0), ('1*', 0), ('1*', 1), ('1*', 1)]
    """
    model = _model()
    settled = settle_spec(relation, _given(spec), taken(AnonymizeOptions, options), releases=True)
    _check(settled, model)
    if manifest is not None:
        check_file(Path(manifest), True, ())
    with showing(session, relation) as (engine, name):
        made = anonymize(name, _here(settled), connection=engine)
    _tell(_named(made, model), manifest)
    assert made.place.relation is not None
    return session.sql(queries.select_all(made.place.relation, engine.dialect))


def _given(spec: Any) -> Any:
    return Path(spec) if isinstance(spec, PathLike) else spec


def _here(spec: Spec) -> Spec:
    """The spec of a release that goes nowhere else than into the session."""
    return spec.model_copy(update={"database": None, "target": None})


def _check(spec: Spec, model: Mapping[str, Any]) -> None:
    """Refuse what is no table that dbt makes anew."""
    if model.get("config", {}).get("materialized") == "incremental":
        raise SpecError(
            "a release is judged as a whole, so rows cannot be added to it one run at a time: set "
            "materialized='table' for this model"
        )
    if spec.target and spec.target.form == "anatomy":
        raise SpecError(
            "an anatomy is two tables, and a dbt model is one; give `form='table'`, or use `kanon anonymize`"
        )
    if spec.waiting or spec.incremental:
        raise SpecError(
            "rows that wait need a table beside the release, and a dbt model makes no other; leave out `incremental` "
            "and `waiting`, or use `kanon run`"
        )
    if spec.differencing_limit not in (None, "unlimited"):
        raise SpecError(
            "dbt replaces the table of a model without showing it to the model, so that nobody would compare the two; "
            "leave out `differencing_limit`, or use `kanon run`"
        )


def _model() -> Mapping[str, Any]:
    """What dbt knows of the model that it is running; nothing elsewhere.

    dbt hands a model no more than its refs, so it is taken from where dbt submits the model: the parameter of that name
    of every adapter's `submit_python_job`.
    """
    frame = sys._getframe(1).f_back
    while frame is not None:
        parsed = frame.f_locals.get("parsed_model")
        if frame.f_code.co_name == "submit_python_job" and isinstance(parsed, Mapping):
            return parsed
        frame = frame.f_back
    return {}


def _named(made: Release, model: Mapping[str, Any]) -> Release:
    """The release with what dbt calls its source and its target in the manifest."""
    refs = [str(ref["name"]) for ref in model.get("refs", [])]
    target = {"table": str(model["relation_name"]).replace('"', ""), "as": "dbt model"} if model else {}
    source = ", ".join(refs) or IN_MEMORY
    said = {**made.manifest, "source": source, **({"target": target} if target else {})}
    return replace(made, manifest=said)


def _tell(made: Release, path: str | PathLike[str] | None) -> None:
    text = json.dumps(made.manifest, indent=2)
    if path is None:
        _LOG.info("%s", text)
        return
    with Staging() as staging:
        with staging.file(Path(path), overwrite=True) as file:
            file.write_text(text + "\n", encoding="utf-8")
        staging.place()
