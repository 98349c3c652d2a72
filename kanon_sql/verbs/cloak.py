"""Generalize places and times to boxes and intervals that k units share, and verify the release."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

from kanon_sql import queries
from kanon_sql.cloak import Cloaked, CloakSummary, check_columns, in_boxes
from kanon_sql.cloak.describe import describe
from kanon_sql.plan.observer import Observer, Phases
from kanon_sql.plan.preflight import check_reasons, check_spec, settle_roles
from kanon_sql.plan.source import Source, check_engine, settle
from kanon_sql.release import inputs
from kanon_sql.release.pieces import Piece
from kanon_sql.release.publish import Published, check_target, publish
from kanon_sql.spec import CloakSpec, Target
from kanon_sql.staging import Staging
from kanon_sql.verbs import manifest as manifests
from kanon_sql.verbs.anonymize import releasing
from kanon_sql.verbs.options import CloakOptions, spelled_out, taken
from kanon_sql.verbs.released import Release, released, warned


@spelled_out(CloakOptions)
def cloak(
    source: Any = None,
    spec: CloakSpec | dict[str, Any] | str | Path | None = None,
    *,
    connection: Any = None,
    observer: Observer | None = None,
    report: Path | None = None,
    **options: Unpack[CloakOptions],
) -> Release:
    """Turn every place into a box and every time into an interval, so that at least `k` different units share both.

    Arguments: as in `anonymize`. `location`: the two columns of a place; `time`: the column of the time;
    `unit`: the column of the people or devices, which are counted instead of rows. `cloak`: a method, or a mapping of
    the method and its options. The written release is verified. Raises KanonError; then nothing was written.

    >>> import pandas
    >>> trips = pandas.DataFrame({"x": [1.0, 2.0, 9.0, 8.0], "y": [1.0, 1.0, 9.0, 9.0], "at": [1, 2, 3, 4]})
    >>> trips["taxi"] = list("abcd")
    >>> release = cloak(trips, location=["x", "y"], time="at", unit="taxi", k=2)
    >>> release.manifest["classes"], release.manifest["smallest_class"]
    (2, 2)
    """
    observer = observer or Observer()
    phases = Phases()
    settled = settle(CloakSpec, source, spec, taken(CloakOptions, options), releases=True)
    check_spec(settled, "anonymize")
    target = settled.target
    overwrite = target is not None and target.overwrite
    own = [Path(spec)] if isinstance(spec, (str, Path)) else []
    inputs.refuse_files([target.file if target else None, report], own)
    if report:
        from kanon_sql.verbs.report import check_report  # imports all measures, so only on demand

        check_report(Path(report), overwrite)
    with releasing(source, settled, connection, keep=target is None) as (data, staging):
        release = make_cloaked(data, settled, observer, staging, phases)
    if report:
        release.report(report, source=source, overwrite=overwrite, observer=observer)
    return warned(release)


def make_cloaked(
    source: Source, spec: CloakSpec, observer: Observer, staging: Staging, phases: Phases | None = None
) -> Release:
    """Create a cloaked release of an open source; it becomes visible when the block of `releasing` ends."""
    phases = phases or Phases()
    check_engine(source.engine, "the cloaking of places")
    check_columns(source.table, spec)
    check_reasons(spec, source.table)
    source = settle_roles(source, spec)
    check_target(spec, source.engine, source.table, source.files)
    here = source.engine if source.engine.is_embedded else source.engine.embedded()
    phases.begin("verify")
    cloaked = in_boxes(source.scratches[here], source.engine, source.table, spec, observer.stage)
    for phase, taken_seconds in cloaked.seconds.items():
        phases.move(taken_seconds, phase)
    observer.stage("Writing the release")
    phases.begin("release")
    published = _publish(cloaked, source, spec.target, staging)
    observer.stage("Describing the release")
    target = manifests.target_of(spec, published, source.engine.dialect)
    phases.move(published.verify_seconds, "verify")
    phases.begin("describe")
    roles = source.roles.described()
    seconds = phases.described()
    described = describe(cloaked, target, source.engine.name, roles, source.warnings, seconds)
    return released(source, spec, described, published)


def _publish(cloaked: Cloaked, source: Source, target: Target | None, staging: Staging) -> Published[CloakSummary]:
    """Publish the cloaked rows: a file from the embedded DuckDB, or a table in the engine of the source."""
    cloaking, query = cloaked.cloaking, cloaked.sql
    where = cloaking.engine if target and target.file else source.engine
    if where is not cloaking.engine:
        sent = source.scratches[where].receive("cloaked", cloaking.engine, query)
        query = queries.select_all(sent, where.dialect)
    about = {"cloaked": cloaking.spec.cloak.method, "k": cloaking.model.k}
    piece = Piece("release", queries.sentence("cloak_release/release"), query, about=about)
    verify = lambda reader, staged: cloaked.verify(reader, staged["release"])  # noqa: E731
    return publish(where, target, lambda _: [piece], verify, staging)
