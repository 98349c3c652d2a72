"""Refresh a materialized release from its source, and verify it; if the check fails, it stays unchanged."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Unpack

from kanon_sql import queries
from kanon_sql import spec as specs
from kanon_sql.engine import Engine
from kanon_sql.errors import SourceError, SpecError, TargetError, VerificationError
from kanon_sql.plan.privacy_models import check_models
from kanon_sql.plan.source import opened_engine
from kanon_sql.privacy import PrivacyModel, PrivacyModels, all_of, k_anonymity
from kanon_sql.queries import Relation
from kanon_sql.release import findings, tables
from kanon_sql.resources import package_version
from kanon_sql.spec import limit_text, may_suppress
from kanon_sql.verbs import manifest as manifests
from kanon_sql.verbs.options import PlaceOptions, spelled_out, taken

_ANEW = "run anonymize with `overwrite=True` to recreate it"


@spelled_out(PlaceOptions)
def refresh(name: str, *, connection: Any = None, **options: Unpack[PlaceOptions]) -> dict[str, Any]:
    """Refresh a materialized release and verify it by an independent query; return a small manifest.

    `name`: a release that `anonymize` created with `form="materialized"`, in the `database` or behind the `connection`
    (psycopg). Its node stays, and so do its privacy models and quasi-identifiers, which are stored in a comment on the
    view. Models that count people, or compare a class with the source or a population, cannot be verified here: use
    `anonymize` instead. Only the owner of the view can refresh it. Raises KanonError; then the old rows remain.

    >>> refresh("patients_anon", database="office.duckdb")  # doctest: +SKIP
    Traceback (most recent call last):
    kanon_sql.errors.SpecError: duckdb has no materialized views; release a table again with `overwrite=True`
    """
    started = time.monotonic()
    session = replace(specs.session(**taken(PlaceOptions, options)), writes=(name,))
    if connection is None and not session.has_tables:
        raise SourceError(f"there is no database to look for {name} in; use --database")
    with opened_engine(session, connection) as engine, engine.transaction():
        relation = _materialized(engine, name)
        model, quasi_identifiers = _promise(engine, relation, name)
        engine.run(queries.refresh(relation, engine.dialect))
        summary = findings.summarize(engine, relation, quasi_identifiers, model)
        suppressed = _suppressed(engine, relation, name, summary.rows)
        warnings = engine.hidden(relation)
        if not summary.holds:
            raise VerificationError(
                f"{name} would have {summary.unsafe_rows:,} rows in {summary.unsafe_classes:,} classes that do not "
                f"meet the privacy model; it was left as it was; {_ANEW}"
            )
    return {
        "target": {"table": ".".join(queries.parts(relation, engine.dialect)), "as": "materialized"},
        "released_rows": summary.rows,
        "suppressed_rows": suppressed,
        "classes": summary.classes,
        "smallest_class": summary.smallest_class,
        "quasi_identifiers": quasi_identifiers,
        "privacy": [manifests.finding_entry(finding) for finding in summary.findings],
        "verified": summary.holds,
        "seconds": {"total": round(time.monotonic() - started, 4)},
        "warnings": warnings,
        "version": package_version(),
    }


def _suppressed(engine: Engine, relation: Relation, name: str, released: int) -> int | None:
    """The number of suppressed rows after a refresh; VerificationError for all, or more than the suppression limit.

    None if the comment was written by an earlier version, which did not store the source.
    """
    about = tables.about(engine, relation)
    left = "it was left as it was"
    source = engine.existing(Relation(*about["source"])) if "source" in about else None
    if "source" in about and source is None:
        raise SourceError(f"{about['source'][-1]}, the source of {name}, has another name now; {_ANEW}")
    if source is None:
        if not released:
            raise VerificationError(f"{name} would be empty; {left}; check its source, or {_ANEW}")
        return None
    ((rows,),) = engine.rows(queries.text("frequency_sets/row_count", engine.dialect, relation=source.relation))
    if not rows:
        raise VerificationError(
            f"{name} would be empty, as {source.relation.name} has no rows; {left}; fill that first"
        )
    suppressed = int(rows) - released
    limit = about["suppression_limit"]
    if not released or suppressed > may_suppress(limit, rows):
        raise VerificationError(
            f"{name} would leave out {suppressed:,} of {rows:,} rows of {source.relation.name}, and its limit is "
            f"{limit_text(limit)}; {left}; {_ANEW}"
        )
    return suppressed


def _materialized(engine: Engine, name: str) -> Relation:
    if not engine.has_materialized_views:
        raise SpecError(f"{engine.name} has no materialized views; release a table again with `overwrite=True`")
    relation = engine.place(name)
    existing = engine.existing(relation)
    if existing is None:
        other = engine.find(name)
        hint = f"; did you mean {other.relation.name!r}?" if other else "; check its name, or its schema"
        raise TargetError(f"there is no materialized view {name}{hint}")
    if existing.form != "materialized view":
        is_view = existing.form == "view"
        fact = "shows its source as it is now" if is_view else "is replaced by anonymize with `overwrite=True`"
        raise TargetError(f"{name} is a {existing.form}, which {fact}; only a materialized view can be refreshed")
    return relation


def _promise(engine: Engine, relation: Relation, name: str) -> tuple[PrivacyModels, list[str]]:
    """The privacy models and the quasi-identifiers of a release, from the comment on it."""
    about = tables.about(engine, relation)
    if not ((about.get("k") or about.get("privacy")) and about.get("quasi_identifiers")):
        raise TargetError(
            f"no comment on {name} names the k to verify; release it again with kanon anonymize, "
            "`form='materialized'` and `overwrite=True`"
        )
    if about.get("k"):
        return all_of(k_anonymity(int(about["k"]))), list(about["quasi_identifiers"])
    model = all_of(*(PrivacyModel(**fields) for fields in about["privacy"]), unit=about.get("unit"))
    if model.hidden or model.compared or model.population is not None:
        raise SpecError(
            f"{name} can be verified only by {_needed(model)}; run anonymize with `overwrite=True` to recreate it "
            "instead"
        )
    check_models(model, engine.table(relation))
    return model, list(about["quasi_identifiers"])


def _needed(model: PrivacyModels) -> str:
    """The data that the models need, if the view alone is not enough."""
    if model.unit:
        return "people, whose column no release has"
    if model.hidden:
        return f"the values of {model.hidden[0]!r}, a column that it does not have"
    if model.compared:
        return "what its source is, not the view alone"
    return f"its population {model.population}, shown as the release shows it"
