"""Anonymize a table: source, hierarchies, frequency set, search, recoding, release, manifest."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from kanon_sql.engines.files import file_format, files
from kanon_sql.errors import KanonError, SourceError, SpecError
from kanon_sql.frequency.frequency_set import check_rows
from kanon_sql.measure.labelled import kept_population
from kanon_sql.pipeline.copies import Past, Replaced, classes_of
from kanon_sql.plan.observer import Observer, Phases
from kanon_sql.plan.plan import Plan, plan_release
from kanon_sql.plan.preflight import check_spec
from kanon_sql.plan.source import Source, opened, settle_labelled
from kanon_sql.plan.trace import Trace
from kanon_sql.recode.regions import read_regions, regions_of, write_regions
from kanon_sql.release import anatomy, inputs, perturb, recoded, waiting
from kanon_sql.release.listing import check_labels
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.release.publish import check_file, sha256
from kanon_sql.spec import ReleaseSpec, SearchIn, Spec
from kanon_sql.staging import Staging
from kanon_sql.verbs import manifest as manifests
from kanon_sql.verbs.options import AnonymizeOptions, spelled_out, taken
from kanon_sql.verbs.released import Release, released, warned
from kanon_sql.verbs.ways_out import at_top
from kanon_sql.verbs.ways_out import ways_out as ways_of

if TYPE_CHECKING:
    from kanon_sql.pipeline.differencing import Guard, Restored


@spelled_out(AnonymizeOptions)
def anonymize(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    connection: Any = None,
    observer: Observer | None = None,
    search_in: SearchIn = "embedded",
    trace: Path | None = None,
    resume: Path | None = None,
    ways_out: bool = False,
    report: Path | None = None,
    **options: Unpack[AnonymizeOptions],
) -> Release:
    """Anonymize a table, write the release where the spec says, and verify it there.

    `source`: the path of a CSV or Parquet file (or a glob pattern), the name of a table in the spec's `database` or
    behind `connection` (DuckDB or psycopg), a pandas DataFrame, or an Arrow table (default: the spec's source). `spec`:
    a `Spec`, a mapping of the same shape, or the path of a YAML file; keyword arguments override it (`k=5`,
    `quasi_identifiers=["age"]`, `hierarchies="folder"`, `into="patients_anon"`, …). Without a target, the release is
    kept in a temporary table. `search_in`: where the frequency set of a server is searched, `embedded` (in a local
    DuckDB) or `engine`. `trace`: a file for every query of the search, as lines of JSON. `resume`: the trace of an
    earlier search for the same spec and source; the search continues where that one ended. `ways_out`: look for ways
    out for columns that are left at their top level; they are in the manifest. `report`: a file for the report,
    .html, .pdf, .docx, .md or .json, written after the release. Raises KanonError; then nothing was written, except the
    trace if the database was lost. If the process is killed, the trace so far is in a file next to it, with the ending
    `.part`; `resume` reads it if you name the trace.

    >>> import pandas
    >>> people = pandas.DataFrame({"name": list("abcd"), "zip": ["12", "13", "21", "22"], "ill": list("xyxy")})
    >>> spec = {"identifiers": ["name"], "quasi_identifiers": {"zip": {"hierarchy": {"redact": "right"}}}}
    >>> release = anonymize(people, spec, keep=["ill"], k=2)
    >>> release.to_df().values.tolist()
    [['1*', 'x'], ['1*', 'y'], ['2*', 'x'], ['2*', 'y']]
    >>> release.manifest["node"], release.manifest["proven_optimal"]
    ({'zip': 1}, True)
    """
    observer, phases = observer or Observer(), Phases()
    settled = settle_labelled(source, spec, taken(AnonymizeOptions, options), connection)
    check_spec(settled, "anonymize")
    if trace or resume:
        check_spec(settled, "trace")
    overwrite = settled.target is not None and settled.target.overwrite
    replaces = trace == resume or overwrite
    if trace:
        _check_another_file(Path(trace), "the release and the trace", settled, replaces, files(settled.source))
    own = [Path(spec)] if isinstance(spec, (str, Path)) else []
    written = (settled.target.file if settled.target else None, trace, report, settled.write_regions)
    inputs.refuse_files(written, [*own, *inputs.files_read(settled)])
    if report:
        from kanon_sql.verbs.report import check_report  # imports all measures, so only on demand

        check_report(Path(report), overwrite)
    recorder = Trace(resume and Path(resume), trace and Path(trace)) if trace or resume else None
    observer = replace(observer, judge=recorder.recalling) if recorder else observer
    with (
        _saving_trace(recorder, trace, replaces),
        releasing(source, settled, connection, keep=settled.target is None) as (data, staging),
    ):
        release = make_release(data, settled, observer, staging, search_in, phases, ways=ways_out)
        if trace and recorder:
            with staging.file(Path(trace), replaces) as path:
                path.write_text(recorder.lines(release.trace), encoding="utf-8")
        if resume and recorder:
            release.manifest["nodes_resumed"] = recorder.nodes_resumed
    if report:
        release.report(report, source=source, overwrite=overwrite, observer=observer)
    return warned(release)


@contextlib.contextmanager
def _saving_trace(recorder: Trace | None, trace: Path | None, overwrite: bool) -> Iterator[None]:
    """Save the trace if the database is lost, so that another run can continue the search."""
    try:
        yield
    except SourceError as error:
        if recorder and trace and (error_with_remedy := recorder.keep(Path(trace), overwrite, error)):
            raise error_with_remedy from None
        raise
    finally:
        if recorder:
            recorder.close()


def _check_another_file(path: Path, both: str, spec: Spec, replaces: bool, sources: Sequence[Path]) -> None:
    """Refuse a file of a release that is also the source or the release, or that exists and must not be replaced."""
    check_file(path, replaces, sources)
    if spec.target and spec.target.file and path.absolute() == Path(spec.target.file).absolute():
        raise SpecError(f"{both} need different files; both are {path}")


@contextlib.contextmanager
def releasing(
    source: Any, spec: ReleaseSpec, connection: Any = None, keep: bool = False
) -> Iterator[tuple[Source, Staging]]:
    """Open the source for one release. At the end of the block, the whole release becomes visible, or nothing.

    Files get their final names after the source was closed. A table becomes visible when the transaction ends, and the
    files that belong to it just before.
    """
    writes = spec.tables_written
    with Staging() as staging:
        source_of = opened(source, spec, connection, keep, writes, warns=False)
        with source_of as data, _transaction(data, spec), staging.deferring():
            data = replace(data, before=data.engine.fingerprint(data.table))
            if spec.target is None and not data.engine.has_temporary_tables:
                raise SpecError(
                    f"{data.engine.name} has no temporary table to keep a release in; name a table with `into`, or a "
                    "file with `output`"
                )
            try:
                for name in writes:
                    data.engine.check_writable(data.engine.place(name))
                with data.scratches:
                    yield data, staging
            except KanonError:
                data.check_unchanged(spec.source)  # a changed source is the likely cause of other errors
                raise
            data.check_unchanged(spec.source)
            if writes:
                staging.place()
        staging.place()


def _transaction(source: Source, spec: ReleaseSpec) -> contextlib.AbstractContextManager[None]:
    """The transaction of a release, which writes tables or only reads."""
    to_file = spec.target is not None and not spec.tables_written
    return source.engine.snapshot() if to_file else source.engine.transaction()


def make_release(
    source: Source,
    spec: Spec,
    observer: Observer,
    staging: Staging,
    search_in: str = "embedded",
    phases: Phases | None = None,
    earlier: Sequence[Past] = (),
    ways: bool = False,
    restored: Past | None = None,
    replaced: Replaced | None = None,
) -> Release:
    """Create a release of an open source; it becomes visible when the block of `releasing` ends.

    `earlier`: older releases that it is compared with, in addition to the one that it replaces. `ways`: whether to look
    for ways out for columns at their top level. `restored`: the last release, to recreate with the changes that waited.
    `replaced`: the release that is replaced, if a pipeline created it.
    """
    phases = phases or Phases()
    observer = replace(observer, phases=phases)
    is_compared = spec.differencing_limit not in (None, "unlimited")
    if is_compared and search_in == "engine" and not source.engine.is_embedded:
        raise SpecError(  # the comparison copies rows; with `search_in="engine"` not even counts may leave the server
            f"two releases are compared in an embedded DuckDB, not in {source.engine.name}; leave out "
            "`search_in` or `differencing_limit`"
        )
    waiting.check(source.engine, spec, lasts=spec.database is not None or not source.owned)
    if spec.write_regions:
        path = Path(spec.write_regions)
        if file_format(path.name) != "parquet":
            raise SpecError(f"regions are written as Parquet; name a file that ends in .parquet, and not {path.name}")
        replaces = spec.target is not None and spec.target.overwrite
        _check_another_file(path, "the release and its regions", spec, replaces, source.files)
    plan = plan_release(source, spec, observer, search_in)
    observer.planned(plan)
    phases.begin("loss")
    costs = manifests.measure(plan)
    costs["at_top"] = at_top(plan)
    if ways:
        phases.begin("ways_out")
        costs["ways_out"] = ways_of(plan, replace(observer, phases=Phases()))
    observer.stage("Writing the release")
    phases.begin("release")
    with (
        _guarded(source, plan, earlier, restored, replaced) as guard,
        perturb.perturbed_source(source.engine, plan.problem.source.table, spec) as shown,
    ):
        recoding = replace(plan.recoding, table=shown)
        check_labels(recoding)
        if spec.differencing_limit is None and spec.target and spec.target.table and spec.target.form == "table":
            recoding = recoding.with_complete_enums()
        if guard:
            recoding = guard.defer(recoding, plan.placed and replace(plan.placed, table=shown))
            if recoding.merged and plan.placed:
                plan = replace(plan, recoding=plan.placed)
                costs |= manifests.measure(plan)
        if spec.target and spec.target.form == "anatomy":
            published = anatomy.release(recoding, spec.target, staging)
        else:
            published = recoded.release(recoding, spec.target, staging, guard)
    if spec.waiting:
        costs["waiting_rows"] = waiting.publish_waiting(plan.recoding, spec.waiting, staging).checked
    if spec.write_regions:
        costs["regions"] = _write_regions(plan, Path(spec.write_regions), staging)
    if not source.files and source.engine.may_change(source.table):
        check_rows(source.engine, source.table, plan.problem.frequency_set)
    observer.stage("Describing the release")
    phases.move(published.verify_seconds, "verify")
    phases.begin("describe")
    described = manifests.describe(plan, costs, published, phases, recoding.merged)
    described |= guard.to_dict() if guard else {}
    live = spec.target is not None and spec.target.stays_a_query
    return released(
        source,
        spec,
        described,
        published,
        trace=plan.outcome.trace if plan.outcome else (),
        quasi_identifiers=tuple(plan.recoding.quasi_identifiers),
        model=None if spec.wildcard_suppression else plan.recoding.model,
        population=kept_population(plan.recoding, published.relation if live else None),
    )


def _guarded(
    source: Source, plan: Plan, earlier: Sequence[Past], restored: Past | None, replaced: Replaced | None
) -> contextlib.AbstractContextManager[Guard | Restored | None]:
    """The comparison with earlier releases, if `differencing_limit` is set; or the release to recreate."""
    spec = plan.problem.spec
    if restored:
        from kanon_sql.pipeline.differencing import restoring

        return restoring(source, spec, restored)
    if not isinstance(spec.differencing_limit, int):
        return contextlib.nullcontext()
    from kanon_sql.pipeline.differencing import guarded  # imports the attacks, so only on demand

    file = plan.kept.regions_file if plan.kept else None
    regions = sha256(file) if file else None
    columns = plan.recoding.columns
    classes = regions or _classes(source, plan, replaced)
    return guarded(source, spec, spec.differencing_limit, columns, earlier, replaced, regions, classes)


def _classes(source: Source, plan: Plan, replaced: Replaced | None) -> str | None:
    """The identifier of the classes of a node, which later releases may have, too; None for a local recoding."""
    if plan.outcome is None:
        return None
    node = dict(zip(plan.problem.columns, plan.outcome.node, strict=True))
    hierarchies = {name: hierarchy.sha256 for name, hierarchy in plan.problem.hierarchy_sources.items()}
    types = source.columns or source.types()
    kept = replaced.classes if replaced and replaced.reused and plan.kept and plan.kept.kept else None
    return classes_of(node, hierarchies, {name: types[name] for name in node}, kept)


def _write_regions(plan: Plan, path: Path, staging: Staging) -> dict[str, Any]:
    """Write the regions of a local recoding, as private as the source; return the manifest's entry."""
    recoding, target = plan.recoding, plan.problem.spec.target
    assert isinstance(recoding, LocalRecoding)
    tables = plan.problem.frequency_set.tables
    earlier = plan.kept.regions_file if plan.kept else None
    if earlier:
        regions = read_regions(earlier, plan.problem.spec.session.limits)
    else:
        regions = plan.regions or regions_of(tables, recoding.local, recoding.classes, recoding.orders, recoding.hows)
    with staging.file(path, target is not None and target.overwrite, private=True) as file:
        if earlier:  # the same bytes: an equal checksum shows that rows were placed by the same regions
            file.write_bytes(earlier.read_bytes())
        else:
            write_regions(regions, file, plan.problem.spec.session.limits)
        digest = sha256(file)
    return {"file": str(path), "sha256": digest, "classes": regions.count}
