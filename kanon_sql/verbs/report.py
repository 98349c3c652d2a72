"""The report of a release: one page for whoever decides, a record for the files, and its figures as data."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import date
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from kanon_sql import queries
from kanon_sql.engine import Statement
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import KanonError, SourceError, SpecError
from kanon_sql.measure.whole import opened_whole
from kanon_sql.plan.earlier import read_manifest
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import plan_release
from kanon_sql.plan.source import Source, opened_source, settle_either
from kanon_sql.release.findings import Homogeneous, homogeneous
from kanon_sql.release.people import as_read, with_people
from kanon_sql.release.publish import Published, check_file
from kanon_sql.release.recoding import Recoding, unmodelled
from kanon_sql.report import page
from kanon_sql.report.pdf import pdf
from kanon_sql.resources import package_version
from kanon_sql.spec import ReleaseSpec, Spec
from kanon_sql.staging import Staging
from kanon_sql.verbs import manifest as manifests
from kanon_sql.verbs.figures import ReleaseFigures, figures_of
from kanon_sql.verbs.options import AnonymizeOptions, spelled_out, taken
from kanon_sql.verbs.result import Result
from kanon_sql.verbs.verify import Verification, verify

if TYPE_CHECKING:
    import pandas

FORMATS = ("html", "pdf", "md", "json")


@dataclass(frozen=True, repr=False)
class Report(Result):
    """The report of a release: `html` is one page that needs nothing else, `record` one in Markdown; see `write`.

    `figures`: all that they show, as data.
    """

    figures: ReleaseFigures

    @property
    def html(self) -> str:
        """The page, smaller than 150 KB, without a script, and without anything to fetch."""
        return page.page(self.figures.to_dict(), date.today().isoformat())

    @property
    def record(self) -> str:
        """A data protection record, for a record of processing activities or an impact assessment."""
        return page.record(self.figures.to_dict(), date.today().isoformat())

    def to_dict(self) -> dict[str, Any]:
        """The manifest of the release."""
        return dict(self.figures.manifest)

    def to_df(self) -> pandas.DataFrame:
        """What became of each quasi-identifier, one row each; `figures` has the other tables."""
        return self.figures.to_df("columns")

    def _lines(self) -> list[tuple[str, str]]:
        return self.figures._lines()

    def _repr_html_(self) -> str:
        return page.glance(self.figures.manifest)

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write it by the file's ending: `.html`, `.pdf` (by a browser that is installed), `.md`, `.json` the manifest.

        TargetError if the file exists and may not be replaced or there is no browser, SpecError for another ending.
        """
        target = Path(path)
        if target.suffix.lower() != ".pdf":
            return super().write(target, overwrite=overwrite)
        check_file(target, overwrite, ())
        with Staging() as staging:
            with staging.file(target, overwrite) as temporary:
                temporary.write_bytes(pdf(self.html))
            staging.place()
        return target

    def _texts(self) -> dict[str, Callable[[], str]]:
        return {".html": lambda: self.html, ".md": lambda: self.record, **super()._texts()}


def check_report(path: Path, overwrite: bool) -> None:
    """Refuse a file for a report that could not be written, before any long work."""
    if path.suffix.lower().lstrip(".") not in FORMATS:
        raise SpecError(f"a report ends in .{', .'.join(FORMATS)}, and {path.name} does not; name such a file")
    check_file(path, overwrite, ())


@spelled_out(AnonymizeOptions)
def report(
    source: Any = None,
    spec: ReleaseSpec | dict[str, Any] | str | Path | None = None,
    *,
    manifest: str | PathLike[str] | Mapping[str, Any] | None = None,
    without: Collection[str] = (),
    connection: Any = None,
    observer: Observer | None = None,
    **options: Unpack[AnonymizeOptions],
) -> Report:
    """Report on the release that a spec's run wrote, beside its source: what was promised, what holds, what is left.

    `source` and `spec` are those of `anonymize`; the spec's target is the release. `manifest`: the one of its run, or
    its JSON file; without it the search is made again, and its levels and losses are told if they are those of the
    release. `without`: parts that are not measured, of `risk`, `columns`, `loss_by_k`, `lattice` and `attacks`. What
    cannot be measured, since the source is gone for instance, says so. Nothing is written; see `Report.write`. Raises
    KanonError if the release cannot be read.

    >>> import pandas, tempfile
    >>> from kanon_sql import anonymize
    >>> people = pandas.DataFrame({"zip": ["12", "13", "21", "22"] * 5, "ill": list("xyxy") * 5})
    >>> spec = {"quasi_identifiers": {"zip": {"hierarchy": {"redact": "right"}}}, "sensitive": ["ill"]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     asked = {**spec, "privacy": {"k": 10}, "target": {"file": f"{folder}/release.csv"}}
    ...     release = anonymize(people, asked)
    ...     seen = report(people, asked, without=["attacks", "loss_by_k"])
    >>> "<svg" in seen.html, seen.figures.to_df("columns")["level"].tolist(), seen.figures.missing.keys()
    (True, [1], dict_keys(['loss_by_k', 'attacks']))
    """
    settled = settle_either(source, spec, taken(AnonymizeOptions, options), releases=True)
    target, observer = settled.target, observer or Observer()
    if target is None:
        raise SpecError("there is no release to report on; name the spec of one, with its target")
    said = None if manifest is None else _told(read_manifest(manifest))
    with contextlib.ExitStack() as stack:
        observer.stage("Reading")
        release = _release(stack, settled, connection)
        read = _read(stack, settled.source if source is None else source, settled, connection, release)
        said = _described(settled, release, read, observer) if said is None else _held(said, release)
        return Report(figures_of(said, settled, release, read, observer, without))


def _told(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """A manifest of a release; SpecError if it is something else."""
    missing = [
        name for name in ("rows", "released_rows", "privacy", "roles", "target", "version") if name not in manifest
    ]
    if missing:
        raise SpecError("what `manifest` gives is no manifest of a release; name the JSON that `anonymize` gave")
    return manifest


def _held(manifest: Mapping[str, Any], release: Source) -> Mapping[str, Any]:
    """A manifest with a warning if it is not that of the release."""
    with Scratch(release.engine, "report") as tables:
        rows = tables.count(release.table.relation)
    if rows == manifest["released_rows"]:
        return manifest
    warning = f"the manifest tells of {manifest['released_rows']:,} rows, and the release has {rows:,}: it is another's"
    return {**manifest, "warnings": [warning, *manifest["warnings"]]}


def _release(stack: contextlib.ExitStack, spec: ReleaseSpec, connection: Any) -> Source:
    """The release, open; SourceError if there is none."""
    target = spec.target
    assert target is not None
    session = spec.session.as_it_is
    session = session.without_tables if target.file else session
    try:
        return stack.enter_context(
            opened_source(target.file or target.table, session, None if target.file else connection)
        )
    except SourceError as error:
        raise SourceError(f"the release cannot be read: {error}; make it first, with `kanon anonymize`") from None


def _read(
    stack: contextlib.ExitStack, source: Any, spec: ReleaseSpec, connection: Any, release: Source
) -> Source | str:
    """The source, open, where the release is if it is there; or why it cannot be read."""
    try:
        return stack.enter_context(opened_whole(source, spec, connection, release)).source
    except KanonError as error:
        return f"the source cannot be read any more: {error}"


def _described(spec: ReleaseSpec, release: Source, source: Source | str, observer: Observer) -> dict[str, Any]:
    """A manifest for a release whose own is not given, from what is written and from the plan of its spec."""
    if not isinstance(spec, Spec) or (spec.target and spec.target.form == "anatomy"):
        raise SpecError(
            "this kind of release cannot be planned again; give its `manifest`, which its command prints with --json, "
            "or write the report with the release, with `report`"
        )
    alone = spec.model_copy(update={"target": None, "identifiers": (), "keep": None})
    seen = verify(release, alone, against=None if isinstance(source, str) else source)
    if isinstance(source, str):
        return _of_release(spec, seen)
    started = time.monotonic()
    with source.engine.transaction(), source.scratches:
        plan = plan_release(source, spec.model_copy(update={"target": None}), observer)
        costs = manifests.measure(plan)
        assert seen.summary is not None
        again = _shows(plan.recoding, release, spec)
        summary = replace(seen.summary, homogeneous=_homogeneous(plan.recoding, release, again))
        path = Path(spec.target.file) if spec.target and spec.target.file else None
        statement = Statement("release", "", plan.recoding.select_sql(), 0.0)  # on mapping tables: no value
        published = Published(release.table.relation, summary, (statement,), 0.0, 0.0, path)
        said = manifests.describe(plan, costs, published, started)
    said |= {"seconds": {}, "target": _target(spec)}
    return said if again else _of_another(said, costs)


def _shows(recoding: Recoding, release: Source, spec: Spec) -> bool:
    """Whether a release has the very rows that a recoding makes, by its quasi-identifiers."""
    names, target = recoding.quasi_identifiers, spec.target
    if not all(map(release.table.column, names)):
        return False
    recoding.prepare()
    with contextlib.closing(recoding.engine.embedded()) as here, Scratch(here, "report") as tables:
        escaped = not target or target.formulas == "escape"
        made = as_read(tables, recoding.engine, recoding.release_sql(), release.written_as, escaped)
        query = queries.text(
            "privacy/class_rows", release.engine.dialect, release=release.table.relation, columns=names
        )
        released = tables.receive("released", release.engine, query)
        planned = tables.make("planned", "privacy/class_rows", release=made, columns=names)
        ((differing,),) = tables.rows("privacy/differing_rows", one=released, other=planned, columns=names)
    return not differing


def _homogeneous(recoding: Recoding, release: Source, again: bool) -> tuple[Homogeneous, ...]:
    """The classes of a release that have one value of a sensitive column: by people, where these count and are known.

    `again`: whether the recoding makes the very rows of the release, so that its people are those of the release.
    """
    names, unit = recoding.quasi_identifiers, recoding.model.unit
    columns = [name for name in unmodelled(recoding) if release.table.column(name)]
    if not all(map(release.table.column, names)) or (unit and not again):
        return ()
    with contextlib.closing(recoding.engine.embedded()) as here, Scratch(here, "report") as tables:
        if unit:
            relation = with_people(recoding, tables, release.written_as)
        else:
            query = queries.select_all(release.table.relation, release.engine.dialect)
            relation = tables.receive("release", release.engine, query)
        return tuple(homogeneous(tables, relation, names, column, unit) for column in columns)


def _target(spec: Spec) -> dict[str, str]:
    assert spec.target is not None
    return {"file": spec.target.file} if spec.target.file else {"table": str(spec.target.table), "as": spec.target.form}


def _of_another(said: Mapping[str, Any], costs: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a release that its spec would not make again: nothing of a plan."""
    lost = said["rows"] - said["released_rows"]
    warning = (
        "the spec would release other rows now than are there: the source, the spec or a hierarchy has changed, or the "
        "search was stopped, so that nothing is said of levels, losses and the search; the manifest of the run says it"
    )
    of_plan = dict.fromkeys(name for name in costs if name != "people")  # whom the source has
    unknown: dict[str, Any] = {**of_plan, "strategy": None, "hierarchies": {}, "damage": []}
    return {**said, **unknown, "suppressed_rows": max(0, lost), "warnings": [warning, *said["warnings"]]}


def _of_release(spec: Spec, seen: Verification) -> dict[str, Any]:
    """What is known of a release whose source is gone."""
    summary = seen.summary
    assert summary is not None
    kept = {"identifiers_dropped": list(spec.dropped), "sensitive": list(spec.sensitive)}
    return {
        "rows": None,
        "released_rows": summary.rows,
        "classes": summary.classes,
        "smallest_class": summary.smallest_class,
        "privacy": [manifests.finding_entry(finding) for finding in summary.findings],
        "verified": summary.holds,
        "roles": {**kept, "quasi_identifiers": list(spec.quasi_identifiers), "kept": [], "dropped": []},
        "source": spec.source,
        "target": _target(spec),
        "warnings": [],
        **({"unit": spec.unit} if spec.unit else {}),
        "version": package_version(),
    }
