"""The report of a release: a page for decision makers, a record for the files, and the figures as data."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from kanon_sql import queries
from kanon_sql.engine import Statement
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import KanonError, SourceError, SpecError
from kanon_sql.measure.owners import waiting_changes
from kanon_sql.measure.whole import opened_whole
from kanon_sql.plan.earlier import read_manifest
from kanon_sql.plan.observer import Observer, Phases
from kanon_sql.plan.plan import plan_release
from kanon_sql.plan.source import Source, opened_source, settle_either
from kanon_sql.release.findings import Homogeneous, Summary, homogeneous
from kanon_sql.release.people_check import as_read, with_people
from kanon_sql.release.publish import Published, check_file
from kanon_sql.release.recoding import Recoding, unmodelled
from kanon_sql.report import document
from kanon_sql.report.attestation import attestation
from kanon_sql.report.forms import FORMS
from kanon_sql.report.pdf import pdf
from kanon_sql.report.word import check_word, word
from kanon_sql.resources import package_version
from kanon_sql.spec import ReleaseSpec, Spec
from kanon_sql.staging import write_file
from kanon_sql.verbs import manifest as manifests
from kanon_sql.verbs.figures import ReleaseFigures, figures_of
from kanon_sql.verbs.options import AnonymizeOptions, spelled_out, taken
from kanon_sql.verbs.result import DataFrame, Result
from kanon_sql.verbs.verify import verify

FORMATS = ("html", "pdf", "docx", "md", "json")


@dataclass(frozen=True, repr=False)
class Report(Result):
    """The report of a release: `html`, one self-contained page; `record`, in Markdown; `figures`, as data.

    `write` writes them to files.
    """

    figures: ReleaseFigures
    shown_form: str | None = field(default=None, compare=False)

    @property
    def html(self) -> str:
        """The page: smaller than 150 KB, without scripts and without external resources."""
        return document.page(self.figures.to_dict(), date.today().isoformat())

    @property
    def record(self) -> str:
        """A data protection record, for a record of processing activities or an impact assessment."""
        return self.form("record")

    def form(self, name: str) -> str:
        """A form as Markdown, filled from the figures: record, wp216, iso27559, hipaa-expert or findata."""
        check_form(name, None)
        return document.form(name, self.figures.to_dict(), date.today().isoformat())

    def attestation(self, key: str | PathLike[str]) -> str:
        """The manifest and the checksum of the released file as a signed in-toto statement, as JSON text.

        `key`: a private key as PEM; if it is encrypted, its password is in KANON_KEY_PASSWORD. SpecError if the release
        is not a file, or the key cannot be read. `verify` of the file with `attestation` checks both.
        """
        target = self.figures.manifest["target"] or {}
        if self.figures.sha256 is None or not target.get("file"):
            raise SpecError("an attestation is about a released file; release to a file with `output`")
        return attestation(self.figures.manifest, Path(target["file"]).name, self.figures.sha256, Path(key))

    def to_dict(self) -> dict[str, Any]:
        """The manifest of the release."""
        return dict(self.figures.manifest)

    def to_df(self) -> DataFrame:
        """One row per quasi-identifier; `figures` has the other tables."""
        return self.figures.to_df("columns")

    def _lines(self) -> list[tuple[str, str]]:
        return self.figures._lines()

    def _repr_html_(self) -> str:
        return document.glance(self.figures.manifest)

    def write(self, path: str | PathLike[str], *, overwrite: bool = False, form: str | None = None) -> Path:
        """Write `.html`, `.pdf` (by an installed browser), `.docx` or `.md` (the record), or `.json` (the manifest).

        The file's ending decides. `form`: a form instead, as .md, .html or .docx. TargetError if the file exists and
        must not be replaced, or there is no browser or no python-docx; SpecError for another ending or form.
        """
        target = Path(path)
        if form:
            check_form(form, target)
            return replace(self, shown_form=form).write(target, overwrite=overwrite)
        is_pdf = target.suffix.lower() == ".pdf" and self.shown_form is None
        if not is_pdf and target.suffix.lower() != ".docx":
            return super().write(target, overwrite=overwrite)
        check_file(target, overwrite, ())
        content = pdf(self.html) if is_pdf else word(self.form(self.shown_form or "record"))
        write_file(target, content, overwrite)
        return target

    def _texts(self) -> dict[str, Callable[[], str]]:
        if name := self.shown_form:
            version = self.figures.manifest["version"]
            return {".md": lambda: self.form(name), ".html": lambda: document.as_page(self.form(name), version)}
        return {".html": lambda: self.html, ".md": lambda: self.record, **super()._texts()}


def check_form(name: str, path: Path | None) -> None:
    """SpecError if there is no such form, or it cannot be written to this file."""
    if name not in FORMS:
        raise SpecError(f"there is no form {name!r}; choose among {', '.join(FORMS)}")
    if path is not None and path.suffix.lower() not in (".md", ".html", ".docx"):
        raise SpecError(f"a form is written as .md, .html or .docx, and {path.name} does not end so; name such a file")


def check_report(path: Path, overwrite: bool) -> None:
    """SpecError or TargetError if a report cannot be written to this file, to fail before any long work."""
    if path.suffix.lower().lstrip(".") not in FORMATS:
        raise SpecError(f"a report ends in .{', .'.join(FORMATS)}, and {path.name} does not; name such a file")
    if path.suffix.lower() == ".docx":
        check_word()
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
    """Report on the release of a spec, compared with its source: required and achieved privacy, risks and utility.

    `source` and `spec`: as in `anonymize`; the spec's target is the release. `manifest`: that of its run, or its
    JSON file. Without it the search runs again, and its levels and losses are reported if it finds the same release.
    `without`: parts to leave out, of `risk`, `exact`, `columns`, `loss_by_k`, `lattice` and `attacks`. For parts that
    cannot be measured, for instance because the source was deleted, the report says why. Nothing is written; see
    `Report.write`. Raises KanonError if the release cannot be read.

    >>> import pandas, tempfile
    >>> from kanon_sql import anonymize
    >>> people = pandas.DataFrame({"zip": ["12", "13", "21", "22"] * 5, "ill": list("xyxy") * 5})
    >>> spec = {"quasi_identifiers": {"zip": {"hierarchy": {"redact": "right"}}}, "sensitive": ["ill"]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     spec |= {"privacy": {"k": 10}, "target": {"file": f"{folder}/release.csv"}}
    ...     release = anonymize(people, spec)
    ...     reported = report(people, spec, without=["attacks", "loss_by_k"])
    >>> "<svg" in reported.html, reported.figures.to_df("columns")["level"].tolist(), reported.figures.missing.keys()
    (True, [1], dict_keys(['loss_by_k', 'attacks']))
    """
    settled = settle_either(source, spec, taken(AnonymizeOptions, options), releases=True)
    target = settled.target
    observer = observer or Observer()
    if target is None:
        raise SpecError("there is no release to report on; name the spec of a release, with its target")
    described = None if manifest is None else read_manifest(manifest)
    needed = {"rows", "released_rows", "privacy", "roles", "target", "version"}
    if described is not None and not needed <= described.keys():
        raise SpecError("`manifest` is not the manifest of a release; name the JSON that `anonymize` wrote")
    with contextlib.ExitStack() as stack:
        observer.stage("Reading")
        release = _open_release(stack, settled, connection)
        try:
            opened = opened_whole(settled.source if source is None else source, settled, connection, release)
            original: Source | str = stack.enter_context(opened).source
        except KanonError as error:
            original = f"the source cannot be read any more: {error}"
        if described is None:
            described = _described(settled, release, original, observer)
        else:
            described = _with_warning(described, release)
        return Report(figures_of(described, settled, release, original, observer, without))


def _with_warning(manifest: Mapping[str, Any], release: Source) -> Mapping[str, Any]:
    """The manifest, with a warning if it cannot be that of the release."""
    with Scratch(release.engine, "report") as tables:
        rows = tables.count(release.table.relation)
    if rows == manifest["released_rows"]:
        return manifest
    warning = f"the manifest is that of another release: it has {manifest['released_rows']:,} rows, not {rows:,}"
    return {**manifest, "warnings": [warning, *manifest["warnings"]]}


def _open_release(stack: contextlib.ExitStack, spec: ReleaseSpec, connection: Any) -> Source:
    """Open the release; SourceError if it does not exist."""
    target = spec.target
    assert target is not None
    session = spec.session.as_it_is
    session = session.without_tables if target.file else session
    try:
        return stack.enter_context(
            opened_source(target.file or target.table, session, None if target.file else connection)
        )
    except SourceError as error:
        raise SourceError(f"the release cannot be read: {error}; create it first, with `kanon anonymize`") from None


def _described(spec: ReleaseSpec, release: Source, source: Source | str, observer: Observer) -> dict[str, Any]:
    """A manifest for a release without one, from the written rows and from a new search by its spec."""
    if not isinstance(spec, Spec) or (spec.target and spec.target.form == "anatomy"):
        raise SpecError(
            "this kind of release cannot be planned again; name its `manifest`, which its command prints with --json, "
            "or write the report with the release, with `report`"
        )
    to_check = spec.model_copy(update={"target": None, "identifiers": (), "keep": None})
    verification = verify(release, to_check, against=None if isinstance(source, str) else source)
    assert verification.summary is not None
    if isinstance(source, str):
        return _described_without_source(spec, verification.summary)
    with source.engine.snapshot(), source.scratches:
        plan = plan_release(source, spec.model_copy(update={"target": None}), observer)
        costs = manifests.measure(plan)
        same = _has_same_rows(plan.recoding, release, spec)
        homogeneous = _homogeneous(plan.recoding, release, same)
        summary = replace(verification.summary, homogeneous=homogeneous)
        path = Path(spec.target.file) if spec.target and spec.target.file else None
        statement = Statement("release", "", plan.recoding.select_sql(), 0.0)  # on mapping tables, so without values
        published = Published(release.table.relation, summary, (statement,), 0.0, 0.0, path)
        manifest = manifests.describe(plan, costs, published, Phases())
    manifest |= {"seconds": {}, "target": _target(spec)}
    if deferred := waiting_changes(release, spec.unit):
        manifest["deferred"] = deferred
    return manifest if same else _without_plan(manifest, costs)


def _has_same_rows(recoding: Recoding, release: Source, spec: Spec) -> bool:
    """Whether a release has exactly the rows that a recoding creates, by its quasi-identifiers."""
    names, target = recoding.quasi_identifiers, spec.target
    if not all(map(release.table.column, names)):
        return False
    recoding.prepare()
    with contextlib.closing(recoding.engine.embedded()) as here, Scratch(here, "report") as tables:
        escaped = not target or target.formulas == "escape"
        recoded = as_read(tables, recoding.engine, recoding.release_sql(), release.written_as, escaped)
        query = queries.text(
            "privacy/class_rows", release.engine.dialect, release=release.table.relation, columns=names
        )
        released = tables.receive("released", release.engine, query)
        compared: dict[str, queries.Hole] = {"one": released, "other": recoded, "columns": names}
        ((differing,),) = tables.rows("privacy/differing_rows", n=["n"], n_other=1, **compared)
    return not differing


def _homogeneous(recoding: Recoding, release: Source, same: bool) -> tuple[Homogeneous, ...]:
    """The classes of a release with one value of a sensitive column; with a unit, by people if they can be counted.

    `same`: whether the recoding creates exactly the rows of the release, so that it has the same people.
    """
    names, unit = recoding.quasi_identifiers, recoding.model.unit
    columns = [name for name in unmodelled(recoding) if release.table.column(name)]
    if not all(map(release.table.column, names)) or (unit and not same):
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


def _without_plan(manifest: Mapping[str, Any], costs: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest without what a new search found, which is not the release."""
    # While changes wait, the release has rows that the source lacks, and the difference says nothing.
    suppressed = 0 if "deferred" in manifest else max(0, manifest["rows"] - manifest["released_rows"])
    warning = (
        "the spec would release other rows today: the source, the spec or a hierarchy has changed, changes wait, or "
        "the search was stopped. So levels, losses and the search are not reported; the manifest of the run has them"
    )
    of_plan = dict.fromkeys(name for name in costs if name != "people")  # the source's people
    unknown: dict[str, Any] = {**of_plan, "strategy": None, "hierarchies": {}, "damage": []}
    warnings = [warning, *manifest["warnings"]]
    return {**manifest, **unknown, "suppressed_rows": suppressed, "warnings": warnings}


def _described_without_source(spec: Spec, summary: Summary) -> dict[str, Any]:
    """A manifest for a release whose source cannot be read."""
    return {
        "rows": None,
        "released_rows": summary.rows,
        "classes": summary.classes,
        "smallest_class": summary.smallest_class,
        "privacy": [manifests.finding_entry(finding) for finding in summary.findings],
        "verified": summary.holds,
        "roles": {
            "identifiers_dropped": list(spec.dropped),
            "sensitive": list(spec.sensitive),
            "quasi_identifiers": list(spec.quasi_identifiers),
            "kept": [],
            "dropped": [],
        },
        "source": spec.source,
        "target": _target(spec),
        "warnings": [],
        **({"unit": spec.unit} if spec.unit else {}),
        "version": package_version(),
    }
