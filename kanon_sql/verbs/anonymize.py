"""The whole road: source, hierarchies, frequency set, search, recoding, release, manifest."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from kanon_sql.engines.files import file_format, files
from kanon_sql.errors import KanonError, SourceError, SpecError
from kanon_sql.frequency.frequency_set import check_rows
from kanon_sql.measure.labelled import kept_population
from kanon_sql.pipeline.copies import Past
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, plan_release
from kanon_sql.plan.preflight import check_spec
from kanon_sql.plan.source import Source, opened, settle_labelled
from kanon_sql.plan.trace import Trace
from kanon_sql.recode.regions import regions_of, write_regions
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
    from kanon_sql.pipeline.differencing import Guard


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

    `source`: the path of a CSV or Parquet file (a glob too), the name of a table in the spec's `database`
    or behind `connection` (DuckDB or psycopg), a pandas DataFrame, or an Arrow table; left out, the spec's
    own. `spec`: a `Spec`, a mapping of the same shape, or the path of a YAML file; keyword arguments win
    over it (`k=5`, `quasi_identifiers=["age"]`, `hierarchies="folder"`, `into="patients_anon"`, …).
    Without a target the release is kept in a temporary table. `search_in`: where a server's frequency set
    is searched, `embedded` (DuckDB beside us) or `engine`. `trace`: a file for every question of the search, as lines
    of JSON. `resume`: the trace of an earlier search of the same question, which then goes on where that one ended.
    `ways_out`: whether to look for what could be done for columns that are left at their top; the manifest says it.
    `report`: a file for the report of the release, .html, .pdf, .md or .json; it is made once the release is there.
    Raises KanonError; then nothing was written, but the trace if the database was lost. If the process is killed, what
    was known is in a file beside the trace, `.part`, which `resume` reads when the trace is named.

    >>> import pandas
    >>> people = pandas.DataFrame({"name": list("abcd"), "zip": ["12", "13", "21", "22"], "ill": list("xyxy")})
    >>> spec = {"identifiers": ["name"], "quasi_identifiers": {"zip": {"hierarchy": {"redact": "right"}}}}
    >>> release = anonymize(people, spec, keep=["ill"], k=2)
    >>> release.to_df().values.tolist()
    [['1*', 'x'], ['1*', 'y'], ['2*', 'x'], ['2*', 'y']]
    >>> release.manifest["node"], release.manifest["proven_optimal"]
    ({'zip': 1}, True)
    """
    observer = observer or Observer()
    settled = settle_labelled(source, spec, taken(AnonymizeOptions, options), connection)
    check_spec(settled, "anonymize")
    if trace or resume:
        check_spec(settled, "trace")
    if trace:
        _check_trace(Path(trace), settled, resume)
    own = [Path(spec)] if isinstance(spec, (str, Path)) else []
    written = (settled.target.file if settled.target else None, trace, report, settled.write_regions)
    inputs.refuse_files(written, [*own, *inputs.files_read(settled)])
    replaces = trace == resume or (settled.target is not None and settled.target.overwrite)
    if report:
        from kanon_sql.verbs.report import check_report  # with all that measures: loaded by who asks for it

        check_report(Path(report), settled.target is not None and settled.target.overwrite)
    asked = Trace(resume and Path(resume), trace and Path(trace)) if trace or resume else None
    observer = replace(observer, judge=asked.recalling) if asked else observer
    started = time.monotonic()
    with (
        _keeping(asked, trace, replaces),
        releasing(source, settled, connection, keep=settled.target is None) as (data, staging),
    ):
        made = make_release(data, settled, observer, staging, search_in, started, ways=ways_out)
        if trace and asked:
            with staging.file(Path(trace), replaces) as path:
                path.write_text(asked.lines(made.trace), encoding="utf-8")
        if resume and asked:
            made.manifest["nodes_resumed"] = asked.nodes_resumed
    if report:
        made.report(
            report, source=source, overwrite=bool(settled.target and settled.target.overwrite), observer=observer
        )
    return warned(made)


@contextlib.contextmanager
def _keeping(asked: Trace | None, trace: Path | None, overwrite: bool) -> Iterator[None]:
    """Write what a search was told before the database was lost, so that another run can go on."""
    try:
        yield
    except SourceError as error:
        if asked and trace and (kept := asked.keep(Path(trace), overwrite, error)):
            raise kept from None
        raise
    finally:
        if asked:
            asked.close()


def _check_trace(trace: Path, spec: Spec, resume: Path | None) -> None:
    """Refuse a trace that exists, unless it is the one that is resumed; that is the source, or the release itself."""
    target = spec.target
    check_file(trace, trace == resume or (target is not None and target.overwrite), files(spec.source))
    if target and target.file and trace.absolute() == Path(target.file).absolute():
        raise SpecError(f"{trace} is to be both the release and the trace; name two files")


@contextlib.contextmanager
def releasing(
    source: Any, spec: ReleaseSpec, connection: Any = None, keep: bool = False
) -> Iterator[tuple[Source, Staging]]:
    """Open the source for one release, all of which becomes visible at the end of the block, or nothing.

    Files are placed when the source is read and closed. A table is there when the transaction ends, and files beside
    it just before.
    """
    writes = spec.tables_written
    with Staging() as staging:
        source_of = opened(source, spec, connection, keep, writes, said=True)
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
                data.check_unchanged(spec.source)  # else it is no wonder that something does not fit
                raise
            data.check_unchanged(spec.source)
            if writes:
                staging.place()
        staging.place()


def _transaction(source: Source, spec: ReleaseSpec) -> contextlib.AbstractContextManager[None]:
    """The transaction of a release; none from files to a file, which are no part of any.

    DuckDB frees what is dropped in a transaction only when that ends.
    """
    to_file = spec.target is not None and not spec.tables_written
    own_tables = source.engine.is_embedded and source.owned and spec.database is None and not spec.attach
    return contextlib.nullcontext() if to_file and own_tables else source.engine.transaction()


def make_release(
    source: Source,
    spec: Spec,
    observer: Observer,
    staging: Staging,
    search_in: str = "embedded",
    started: float | None = None,
    earlier: Sequence[Past] = (),
    ways: bool = False,
) -> Release:
    """Make a release of an open source: nothing of it is visible before the block of `releasing` ends.

    `earlier`: releases that it is held against besides the one that it replaces. `ways`: whether ways out are looked
    for where a column is at its top.
    """
    started = time.monotonic() if started is None else started
    held_against_others = spec.differencing_limit not in (None, "unlimited")
    if held_against_others and search_in == "engine" and not source.engine.is_embedded:
        raise SpecError(  # rows would be copied out of a server where even counts may not leave it
            f"two releases are held against each other in an embedded DuckDB, not in {source.engine.name}; leave out "
            "`search_in` or `differencing_limit`"
        )
    waiting.check(source.engine, spec, lasts=spec.database is not None or not source.owned)
    _check_regions(spec, source)
    plan = plan_release(source, spec, observer, search_in)
    costs = manifests.measure(plan)
    costs["at_top"] = at_top(plan)
    if ways:
        costs["ways_out"] = ways_of(plan, observer)
    observer.stage("Writing the release")
    with (
        _guarded(source, spec, plan.recoding.columns, earlier) as guard,
        perturb.perturbed_source(source.engine, plan.problem.source.table, spec) as shown,
    ):
        recoding = replace(plan.recoding, table=shown)
        check_labels(recoding)
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
    described = manifests.describe(plan, costs, published, started)
    described |= guard.to_dict() if guard else {}
    live = spec.target is not None and spec.target.stays_a_query
    population = kept_population(plan.recoding, published.relation if live else None)
    trace = plan.outcome.trace if plan.outcome else ()
    names = tuple(plan.recoding.quasi_identifiers)
    model = None if spec.wildcard_suppression else plan.recoding.model
    return released(source, spec, described, published, trace, names, model, population)


def _guarded(
    source: Source, spec: Spec, columns: list[str], earlier: Sequence[Past]
) -> contextlib.AbstractContextManager[Guard | None]:
    """What holds the release against those before it, where that is asked for."""
    if not isinstance(spec.differencing_limit, int):
        return contextlib.nullcontext()
    from kanon_sql.pipeline.differencing import guarded  # with all that attacks: loaded by who asks for it

    return guarded(source, spec, spec.differencing_limit, columns, earlier)


def _check_regions(spec: Spec, source: Source) -> None:
    """Refuse a file for regions that exists, is the source or the release, or is no Parquet file by its name."""
    if spec.write_regions is None:
        return
    path, target = Path(spec.write_regions), spec.target
    if file_format(path.name) != "parquet":
        raise SpecError(f"regions are written as Parquet; name a file that ends in .parquet, and not {path.name}")
    check_file(path, target is not None and target.overwrite, source.files)
    if target and target.file and path.absolute() == Path(target.file).absolute():
        raise SpecError(f"{path} is to be both the release and its regions; name two files")


def _write_regions(plan: Plan, path: Path, staging: Staging) -> dict[str, Any]:
    """Write the regions of a local recoding for whoever may read the source; what the manifest says of them."""
    recoding, target = plan.recoding, plan.problem.spec.target
    assert isinstance(recoding, LocalRecoding)
    shown = recoding.local, recoding.classes, recoding.orders, recoding.hows
    made = regions_of(plan.problem.frequency_set.tables, *shown)
    with staging.file(path, target is not None and target.overwrite, private=True) as file:
        write_regions(made, file, plan.problem.spec.session.limits)
        digest = sha256(file)
    return {"file": str(path), "sha256": digest, "classes": made.count}
