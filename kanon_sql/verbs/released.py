"""The result of `anonymize`: a verified release that can be read, verified again and copied to a file."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_sql import queries
from kanon_sql.documents.manifest import MANIFEST_VERSION
from kanon_sql.engine import Engine, Statement
from kanon_sql.engines.files import file_format
from kanon_sql.errors import HierarchyError, KanonError, ReleaseWarning, SourceError, SpecError, VerificationError
from kanon_sql.measure.evidence import Evidence, evidence_of
from kanon_sql.measure.labelled import PopulationQuery
from kanon_sql.measure.whole import Whole, opened_whole, shown
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import IN_MEMORY, Source, opened_source
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import Relation
from kanon_sql.release.findings import Summary, summarize
from kanon_sql.release.pieces import Piece
from kanon_sql.release.publish import Published, Staged, check_file, publish
from kanon_sql.report.verdict import verdict
from kanon_sql.spec import ReleaseSpec, Session, Spec, Target
from kanon_sql.staging import Staging
from kanon_sql.strategies import TraceEntry
from kanon_sql.verbs.result import DataFrame, Result, frame
from kanon_sql.verbs.verify import ITSELF, Verification, checked

if TYPE_CHECKING:
    import pyarrow

    from kanon_sql.verbs.figures import ReleaseFigures
    from kanon_sql.verbs.report import Report

_UNCHECKED = (
    "the copy was checked by its rows alone, and not again by all of {model}: {why}. It has the same rows as the "
    "release, which was verified when it was written"
)


@dataclass(frozen=True)
class ReleaseLocation:
    """Where a release is: a file, a table of a database, or a relation behind a connection that stays open."""

    name: str
    session: Session | None = None
    engine: Engine | None = None
    relation: Relation | None = None

    @contextlib.contextmanager
    def opened(self) -> Iterator[Source]:
        """Open the release for reading."""
        if self.engine and self.relation:
            yield Source(self.engine, self.engine.table(self.relation), owned=False)
            return
        with opened_source(self.name, self.session, warns=False) as source:
            yield source


@dataclass(frozen=True, repr=False)
class Release(Result, json_form="manifest"):
    """A verified release. `manifest` describes it, `sql` created it, `to_df()` reads it.

    `trace`: every query of the search, in order, with its result. `statements`: the SQL statements that wrote the
    release, with a sentence, seconds and rows. `quasi_identifiers`: the released columns that form the classes;
    `model`: the privacy models that every class meets, None if they cannot be checked again. `place`: where the release
    is; `source_place`: where its source was, None for data in memory. `spec`: the spec of the release; `population`:
    the population by the labels of a local recoding, as it was counted then; for a view, the query.
    """

    manifest: dict[str, Any]
    sql: str
    trace: tuple[TraceEntry, ...] = field(default=(), compare=False)
    statements: tuple[Statement, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    model: PrivacyModels | None = None
    place: ReleaseLocation = field(default_factory=lambda: ReleaseLocation(""), compare=False)
    source_place: ReleaseLocation | None = field(default=None, compare=False)
    spec: ReleaseSpec | None = field(default=None, compare=False)
    population: PopulationQuery | str | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The manifest."""
        return dict(self.manifest)

    def to_df(self) -> DataFrame:
        """The released rows as a pandas DataFrame."""
        with self.place.opened() as source:
            rows: DataFrame = source.engine.frame(source.table.relation)
            return rows

    def to_arrow(self) -> pyarrow.Table:
        """The released rows as an Arrow table, with the engine's types; needs pyarrow."""
        with self.place.opened() as source:
            return source.engine.frame(source.table.relation, arrow=True)

    @property
    def name(self) -> str:
        """The name of the file or table."""
        return self.place.name

    def opened(self) -> contextlib.AbstractContextManager[Source]:
        """Open the release for reading, as verbs do that take it as a source or a release."""
        return self.place.opened()

    def __reduce__(self) -> str:
        raise TypeError(
            "a Release is tied to the process that wrote it, since it may read through its connection; pickle "
            "`release.manifest` or `release.to_df()` instead"
        )

    def damage_to_df(self) -> DataFrame:
        """The manifest's table of damage: one row per quasi-identifier."""
        return frame(self.manifest.get("damage", []))

    def figures(
        self, source: Any = None, *, without: Collection[str] = (), observer: Observer | None = None
    ) -> ReleaseFigures:
        """The figures of the report as data, measured now; see `kanon_sql.ReleaseFigures`.

        `source`: the original data, if they were in memory. `without`: parts to leave out, of `risk`, `exact`,
        `columns`, `loss_by_k`, `lattice` and `attacks`.
        """
        from kanon_sql.verbs.figures import figures_of  # imports this module

        if self.spec is None:
            raise SpecError("there is no spec of this release to measure it by; report on it by `kanon_sql.report`")
        with contextlib.ExitStack() as stack:
            try:
                release: Source | str = stack.enter_context(self.place.opened())
            except KanonError as error:
                release = f"the release cannot be read any more: {error}"
            opened = self._open_source(stack, source, release)
            return figures_of(self.manifest, self.spec, release, opened, observer, without)

    def _open_source(self, stack: contextlib.ExitStack, in_memory: Any, release: Source | str) -> Source | str:
        """The current source, opened by the connection of the release if possible; or why it cannot be read."""
        place = self.source_place
        if place is None and in_memory is None:
            return "the source was in memory and no longer exists; pass it as `source`"
        try:
            if place is None:
                return stack.enter_context(opened_source(in_memory))
            if place.engine or isinstance(release, str) or self.spec is None:
                return stack.enter_context(place.opened())
            return stack.enter_context(opened_whole(place.name, self.spec, None, release)).source
        except KanonError as error:
            return f"the source cannot be read any more: {error}"

    def report(
        self,
        path: str | PathLike[str] | None = None,
        *,
        source: Any = None,
        without: Collection[str] = (),
        overwrite: bool = False,
        observer: Observer | None = None,
    ) -> Report:
        """The report: the required privacy, its evidence, and the utility; written to `path`, if any.

        `source` and `without`: see `figures`; `path` and `overwrite`: see `Report.write`.
        """
        from kanon_sql.verbs.figures import PARTS
        from kanon_sql.verbs.report import Report, check_report

        if path is not None:
            check_report(Path(path), overwrite)
            without = PARTS if Path(path).suffix.lower() == ".json" else without  # only the manifest
        report = Report(self.figures(source, without=without, observer=observer))
        if path is not None:
            report.write(path, overwrite=overwrite)
        return report

    def _repr_html_(self) -> str:
        from kanon_sql.report.document import glance  # loads templates, so only on demand

        return glance(self.manifest)

    def verify(self) -> Verification:
        """Check the release in its current place by an independent query; see `kanon_sql.verify`.

        Models that compare a release with its source use the source if it can be read, otherwise the release itself.
        People are counted in the source, and a population in its table, by the labels of the release. For a local
        recoding that is not a view, the population as counted by the run is used.
        """
        with self.place.opened() as source:
            return self._verified(source, source.written_as, source.engine)

    def _verified(self, release: Source, written_as: str | None, engine: Engine) -> Verification:
        """Check the release or a copy of it. `written_as`: the format of a file; `engine`: that of the release."""
        if self.model is None or not isinstance(self.spec, Spec):
            raise SpecError(
                "this release cannot be checked by its rows alone; its manifest has the findings of the run"
            )
        with contextlib.ExitStack() as stack:
            population = (engine, self.population) if isinstance(self.population, str) else self.population
            needs_source = self.model.compared or self.model.hidden or self.model.population is not None
            whole: Whole | None = None
            if needs_source and self.source_place:
                with contextlib.suppress(KanonError):  # without the source if it cannot be read any more
                    whole = Whole(self.manifest["source"], stack.enter_context(self.source_place.opened()))
            evidence: Evidence | None = None
            if self.spec.target is not None:  # stored with a local recoding of people or of a sample
                place = stack.enter_context(self.place.opened())
                found = evidence_of(place, self.spec, self.quasi_identifiers, self.model)
                evidence = stack.enter_context(found)
            rows, population = stack.enter_context(
                shown(
                    release,
                    self.quasi_identifiers,
                    self.spec.model_copy(update={"target": None}),
                    self.model,
                    whole,
                    written_as,
                    population,
                    levels=self.manifest.get("node"),
                    evidence=evidence,
                )
            )
            return checked(rows, self.place.name, self.quasi_identifiers, self.model, whole, population)

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Copy the released rows to a CSV or Parquet file, and verify the copy; `.json` writes the manifest.

        If the source or the population cannot be read any more, some models cannot be checked on the copy, and a
        `ReleaseWarning` names them. They are still met if the release is unchanged, since the copy has the same rows.
        TargetError if the file exists and must not be replaced, VerificationError if the rows fail the check.
        """
        target = Path(path)
        if target.suffix.lower() == ".json":
            return super().write(target, overwrite=overwrite)
        check_file(target, overwrite, ())
        with self.place.opened() as source, Staging() as staging:
            rows = queries.select_all(source.table.relation, source.engine.dialect)
            pieces = [Piece("release", "Copy a release.", rows)]
            check = partial(self._check_copy, source.engine, file_format(str(target)))
            copy_target = Target(file=str(target), overwrite=overwrite)
            publish(source.engine, copy_target, lambda _: pieces, check, staging)
            staging.place()
        return target

    def _check_copy(self, made_in: Engine, written_as: str, engine: Engine, staged: Staged) -> None:
        """VerificationError if the copy fails the privacy models; a warning if only some can be checked."""
        ((rows,),) = engine.rows(queries.text("frequency_sets/row_count", engine.dialect, relation=staged["release"]))
        if rows != self.manifest["released_rows"]:
            raise VerificationError(
                f"the release has {rows:,} rows now, and had other rows when it was written; release again"
            )
        summary = self._summary_of_copy(Source(engine, engine.table(staged["release"])), written_as, made_in)
        if summary and not summary.holds:
            raise VerificationError(
                f"the release has {summary.unsafe_rows:,} rows now in classes that do not meet the model; release again"
            )

    def _summary_of_copy(self, copy: Source, written_as: str, made_in: Engine) -> Summary | None:
        """The findings in a copy: of all models, or of the models that can be checked without the source."""
        if self.model is None:
            return None
        try:
            check = self._verified(copy, written_as, made_in)
            if check.compared_with != ITSELF:
                return check.summary
            why = "its source cannot be read any more"
        except (SourceError, SpecError, HierarchyError) as error:
            why = str(error)
        warnings.warn(_UNCHECKED.format(model=self.model.name, why=why), ReleaseWarning, stacklevel=5)
        alone = self.model.without_source
        return summarize(copy.engine, copy.table.relation, self.quasi_identifiers, alone) if alone else None

    def _lines(self) -> list[tuple[str, str]]:
        manifest, target = self.manifest, self.manifest["target"]
        lines = [
            ("source", f"{manifest['source']}, {manifest['rows']:,} rows"),
            ("release", f"{target.get('as', 'file')} {target.get('table') or target.get('file')}"),
            ("rows", f"{manifest['released_rows']:,} released, {manifest.get('suppressed_rows', 0):,} suppressed"),
        ]
        if "people" in manifest:
            people = f"{manifest['released_people']:,} released, {manifest['suppressed_people']:,} suppressed"
            lines.append(("people", people))
        for finding in manifest["privacy"]:
            found = f"{finding['model']}: {finding['required']} required, {finding['achieved']} found"
            lines.append(("model", found))
        if manifest.get("node"):
            lines.append(("node", ", ".join(f"{name} {level}" for name, level in manifest["node"].items())))
        if manifest.get("score") is not None:
            if manifest["strategy"] == "kept":
                proof = "kept without a search"
            else:
                optimal = "proven optimal" if manifest["proven_optimal"] else "not proven optimal"
                proof = f"{optimal}, by {manifest['strategy']}"
            lines.append(("score", f"{manifest['metric']} {manifest['score']:.4f}, {proof}"))
        if dropped := manifest["roles"].get("dropped"):
            lines.append(("dropped", f"no role: {', '.join(dropped)}; keep them with `keep`"))
        lines.append(("verified", "yes" if manifest["verified"] else "no"))
        return [*lines, *(("warning", warning) for warning in manifest["warnings"])]


def released(
    source: Source,
    spec: ReleaseSpec,
    manifest: dict[str, Any],
    published: Published[Any],
    trace: tuple[TraceEntry, ...] = (),
    quasi_identifiers: tuple[str, ...] = (),
    model: PrivacyModels | None = None,
    population: PopulationQuery | str | None = None,
) -> Release:
    """The result for a published release."""
    declared = spec.declared
    described = {"schema": f"manifest/{MANIFEST_VERSION}", "manifest_version": MANIFEST_VERSION, **manifest}
    if declared:
        described["declared"] = declared
    if declared.get("recipient"):
        described["verdict"] = verdict(described).to_dict()
    # A table is read by the connection if that stays open, any other release by opening it again.
    stays_open = spec.target is None or not source.owned
    if published.path:
        place = ReleaseLocation(str(published.path), spec.session.as_it_is.without_tables)
    else:
        name = spec.target.table if spec.target and spec.target.table else published.relation.name
        place = ReleaseLocation(name, spec.session.as_it_is)
        if stays_open:
            place = ReleaseLocation(name, spec.session, source.engine, published.relation)
    source_place: ReleaseLocation | None
    if source.files:
        source_place = ReleaseLocation(spec.source, spec.session.without_tables)
    elif stays_open:
        source_place = ReleaseLocation(spec.source, spec.session, source.engine, source.table.relation)
    else:
        source_place = None if spec.source == IN_MEMORY else ReleaseLocation(spec.source, spec.session)
    return Release(
        manifest=described,
        sql=published.sql,
        trace=trace,
        statements=published.statements,
        quasi_identifiers=quasi_identifiers,
        model=model,
        place=place,
        source_place=source_place,
        spec=spec,
        population=population,
    )


def warned(release: Release) -> Release:
    """Issue the warnings of a finished release, at the line that called the verb."""
    for warning in release.manifest["warnings"]:
        warnings.warn(warning, ReleaseWarning, stacklevel=3)
    return release
