"""A verified release as Python has it: read, checked again, copied to a file."""

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
from kanon_sql.engine import Engine, Statement
from kanon_sql.engines.files import file_format
from kanon_sql.errors import HierarchyError, KanonError, ReleaseWarning, SourceError, SpecError, VerificationError
from kanon_sql.measure.evidence import Evidence, evidence_of
from kanon_sql.measure.labelled import Shown
from kanon_sql.measure.whole import Whole, opened_whole, shown
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import IN_MEMORY, Source, opened_source
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import Relation
from kanon_sql.release.findings import Summary, summarize
from kanon_sql.release.pieces import Piece
from kanon_sql.release.publish import Published, Staged, check_file, publish
from kanon_sql.spec import ReleaseSpec, Session, Spec, Target
from kanon_sql.staging import Staging
from kanon_sql.strategies import Step
from kanon_sql.verbs.result import Result
from kanon_sql.verbs.verify import ITSELF, Verification, checked

if TYPE_CHECKING:
    import pandas

    from kanon_sql.verbs.figures import ReleaseFigures
    from kanon_sql.verbs.report import Report


@dataclass(frozen=True)
class Place:
    """Where a release is: a file, a table of a database, or a relation behind a connection that stays open."""

    name: str
    session: Session | None = None
    engine: Engine | None = None
    relation: Relation | None = None

    @contextlib.contextmanager
    def opened(self) -> Iterator[Source]:
        """The release, to be read."""
        if self.engine and self.relation:
            yield Source(self.engine, self.engine.table(self.relation), owned=False)
            return
        with opened_source(self.name, self.session, said=True) as source:
            yield source


@dataclass(frozen=True, repr=False)
class Release(Result):
    """A verified release. `manifest` says what it is, `sql` how it was made, `to_df()` reads it.

    `trace`: every question that the search asked of the data, in order, with its answer. `statements`: what was run
    to write the release, each with its sentence, seconds and rows. `quasi_identifiers`: the released columns that make
    the classes; `model`: what every class of them meets, None where that cannot be asked again. `place`: where it is;
    `source_place`: where its source was, None of data in memory that are gone. `spec`: what it was made by;
    `population`: the population by the labels of a local recoding, as it was counted then; of a view, its query.
    """

    manifest: dict[str, Any]
    sql: str
    trace: tuple[Step, ...] = field(default=(), compare=False)
    statements: tuple[Statement, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    model: PrivacyModels | None = None
    place: Place = field(default_factory=lambda: Place(""), compare=False)
    source_place: Place | None = field(default=None, compare=False)
    spec: ReleaseSpec | None = field(default=None, compare=False)
    population: Shown | str | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The manifest."""
        return dict(self.manifest)

    def to_df(self) -> pandas.DataFrame:
        """The released rows as a pandas DataFrame."""
        with self.place.opened() as source:
            frame: pandas.DataFrame = source.engine.frame(source.table.relation)
            return frame

    def damage_to_df(self) -> pandas.DataFrame:
        """The manifest's table of damage: what became of each quasi-identifier, one row each."""
        import pandas

        return pandas.DataFrame(self.manifest.get("damage", []))

    def figures(
        self, source: Any = None, *, without: Collection[str] = (), observer: Observer | None = None
    ) -> ReleaseFigures:
        """The figures of its report as data, measured now; see `kanon_sql.ReleaseFigures`.

        `source`: data in memory that it was made of, where they cannot be read again. `without`: parts that are not
        measured, of `risk`, `columns`, `loss_by_k`, `lattice` and `attacks`.
        """
        from kanon_sql.verbs.figures import figures_of  # which knows the other verbs

        if self.spec is None:
            raise SpecError("there is no spec of this release to measure it by; report on it by `kanon_sql.report`")
        with contextlib.ExitStack() as stack:
            try:
                release: Source | str = stack.enter_context(self.place.opened())
            except KanonError as error:
                release = f"the release cannot be read any more: {error}"
            read = self._source(stack, source, release)
            return figures_of(self.manifest, self.spec, release, read, observer, without)

    def _source(self, stack: contextlib.ExitStack, given: Any, release: Source | str) -> Source | str:
        """The source as it is now, by the release's own connection if it is there too; or why it cannot be read."""
        place = self.source_place
        if place is None and given is None:
            return "the source was in memory, and is gone; give it as `source`"
        try:
            if place is None:
                return stack.enter_context(opened_source(given))
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
        """Its report: what was promised, by which figure it holds, what is left; written to a path, if one is given.

        `source` and `without` as of `figures`; the path and `overwrite` as of `Report.write`.
        """
        from kanon_sql.verbs.figures import PARTS
        from kanon_sql.verbs.report import Report, check_report

        if path is not None:
            check_report(Path(path), overwrite)
            without = PARTS if Path(path).suffix.lower() == ".json" else without  # the manifest alone
        made = Report(self.figures(source, without=without, observer=observer))
        if path is not None:
            made.write(path, overwrite=overwrite)
        return made

    def _repr_html_(self) -> str:
        from kanon_sql.report.page import glance  # with its templates: loaded by who looks

        return glance(self.manifest)

    def verify(self) -> Verification:
        """Check the release where it is now, by an independent query of it; see `kanon_sql.verify`.

        Models that compare it with its source do so while that can be read, else with the release itself. People are
        counted in the source, and a population where it is, by the release's labels; beside a local recoding that is
        no view it is taken as it was counted then.
        """
        with self.place.opened() as source:
            return self._verified(source, source.written_as, source.engine)

    def _verified(self, release: Source, written_as: str | None, engine: Engine) -> Verification:
        """Check the release, or a copy of it; `written_as`: the format of a file, `engine`: where the release is."""
        if self.model is None or not isinstance(self.spec, Spec):
            raise SpecError("what was promised of this release needs more than its rows; verify what it was made of")
        with contextlib.ExitStack() as stack:
            population = (engine, self.population) if isinstance(self.population, str) else self.population
            more = self.model.compared or self.model.hidden or self.model.population is not None
            whole = self._whole(stack) if more else None
            asked = self.quasi_identifiers, self.spec.model_copy(update={"target": None}), self.model, whole, written_as
            evidence = stack.enter_context(self._evidence())
            levels = self.manifest.get("node")
            rows, population = stack.enter_context(shown(release, *asked, population, levels, evidence))
            return checked(rows, self.place.name, self.quasi_identifiers, self.model, whole, population)

    @contextlib.contextmanager
    def _evidence(self) -> Iterator[Evidence | None]:
        """What was kept with a local recoding of people or of a sample, where it is."""
        assert isinstance(self.spec, Spec)
        with contextlib.ExitStack() as stack:
            if self.spec.target is None or self.model is None:
                yield None
                return
            there = stack.enter_context(self.place.opened())
            yield stack.enter_context(evidence_of(there, self.spec, self.quasi_identifiers, self.model))

    def _whole(self, stack: contextlib.ExitStack) -> Whole | None:
        """The source, if it can still be read."""
        if self.source_place is None:
            return None
        try:
            return Whole(self.manifest["source"], stack.enter_context(self.source_place.opened()))
        except KanonError:
            return None

    def write(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Copy the released rows to a CSV or Parquet file, verified there; `.json` takes the manifest.

        What cannot be asked of the copy, for its source or population cannot be read any more, is said in a
        `ReleaseWarning`; it holds as long as the release was left as it was made, for the copy has the same rows.
        TargetError if the file exists and may not be replaced, VerificationError if the rows do not hold any more.
        """
        target = Path(path)
        if target.suffix.lower() == ".json":
            return super().write(target, overwrite=overwrite)
        check_file(target, overwrite, ())
        with self.place.opened() as source, Staging() as staging:
            asked = Target(file=str(target), overwrite=overwrite)
            copied = queries.select_all(source.table.relation, source.engine.dialect)
            pieces = [Piece("release", "Copy a release.", copied)]
            check = partial(self._check_copy, source.engine, file_format(str(target)))
            publish(source.engine, asked, lambda _: pieces, check, staging)
            staging.place()
        return target

    def _check_copy(self, made_in: Engine, written_as: str, engine: Engine, staged: Staged) -> None:
        """Hold the copy against what was promised, or against what its rows tell of that, with a warning."""
        ((rows,),) = engine.rows(queries.text("frequency_sets/row_count", engine.dialect, relation=staged["release"]))
        if rows != self.manifest["released_rows"]:
            raise VerificationError(
                f"the release has {rows:,} rows now, not those that it was made with; release again"
            )
        summary = self._summary_of_copy(Source(engine, engine.table(staged["release"])), written_as, made_in)
        if summary and not summary.holds:
            raise VerificationError(
                f"the release has {summary.unsafe_rows:,} rows now in classes that do not meet the model; release again"
            )

    def _summary_of_copy(self, copy: Source, written_as: str, made_in: Engine) -> Summary | None:
        """What is found in a copy: of everything that was promised, or of what its rows alone tell."""
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
        alone = self.model.of_release_alone
        return summarize(copy.engine, copy.table.relation, self.quasi_identifiers, alone) if alone else None

    def _lines(self) -> list[tuple[str, str]]:
        said, target = self.manifest, self.manifest["target"]
        models = [f"{each['model']}: {each['required']} required, {each['achieved']} found" for each in said["privacy"]]
        suppressed = said.get("suppressed_rows", 0)
        lines = [
            ("source", f"{said['source']}, {said['rows']:,} rows"),
            ("release", f"{target.get('as', 'file')} {target.get('table') or target.get('file')}"),
            ("rows", f"{said['released_rows']:,} released, {suppressed:,} suppressed"),
            *(
                [("people", f"{said['released_people']:,} released, {said['suppressed_people']:,} suppressed")]
                if "people" in said
                else []
            ),
            *(("model", model) for model in models),
        ]
        if said.get("node"):
            lines.append(("node", ", ".join(f"{name} {level}" for name, level in said["node"].items())))
        if said.get("score") is not None:
            proof = "proven optimal" if said["proven_optimal"] else "not proven optimal"
            found = "kept, not searched for" if said["strategy"] == "kept" else f"{proof}, by {said['strategy']}"
            lines.append(("cost", f"{said['metric']} {said['score']:.4f}, {found}"))
        if dropped := said["roles"].get("dropped"):
            lines.append(("dropped", f"no role: {', '.join(dropped)}; keep them with `keep`"))
        return [*lines, ("verified", "yes" if said["verified"] else "no"), *(("warning", w) for w in said["warnings"])]


_UNCHECKED = (
    "the copy was checked by what its rows tell, and not again by all of {model}: {why}. It has the rows of the "
    "release, which was verified when it was made"
)


def released(
    source: Source,
    spec: ReleaseSpec,
    manifest: dict[str, Any],
    published: Published[Any],
    trace: tuple[Step, ...] = (),
    quasi_identifiers: tuple[str, ...] = (),
    model: PrivacyModels | None = None,
    population: Shown | str | None = None,
) -> Release:
    """What was published, as its result."""
    place = _place(source, spec, published)
    whence = _source_place(source, spec)
    said = manifest, published.sql, trace, published.statements, quasi_identifiers, model, place, whence
    return Release(*said, spec, population)


def warned(release: Release) -> Release:
    """Pass the warnings of a finished release on to whoever called the verb that calls this."""
    for warning in release.manifest["warnings"]:
        warnings.warn(warning, ReleaseWarning, stacklevel=3)
    return release


def _place(source: Source, spec: ReleaseSpec, published: Published[Any]) -> Place:
    """A table behind a connection that stays open is read there; any other release is opened again."""
    if published.path:
        return Place(str(published.path), spec.session.as_it_is.without_tables)
    name = spec.target.table if spec.target and spec.target.table else published.relation.name
    if spec.target is None or not source.owned:
        return Place(name, spec.session, source.engine, published.relation)
    return Place(name, spec.session.as_it_is)


def _source_place(source: Source, spec: ReleaseSpec) -> Place | None:
    """Where the source can be read again: a file or table by its name, data in memory while their engine is open."""
    if source.files:
        return Place(spec.source, spec.session.without_tables)
    if spec.target is None or not source.owned:
        return Place(spec.source, spec.session, source.engine, source.table.relation)
    return None if spec.source == IN_MEMORY else Place(spec.source, spec.session)
