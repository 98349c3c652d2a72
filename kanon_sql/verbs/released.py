"""A verified release as Python has it: read, checked again, copied to a file."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_sql import queries
from kanon_sql.engine import Engine, Statement
from kanon_sql.errors import KanonError, ReleaseWarning, SpecError, VerificationError
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import Relation
from kanon_sql.release.findings import summarize
from kanon_sql.release.pieces import Piece
from kanon_sql.release.publish import Published, Staged, check_file, publish
from kanon_sql.spec import Spec, Target
from kanon_sql.staging import Staging
from kanon_sql.strategies import Step
from kanon_sql.verbs.result import Result
from kanon_sql.verbs.source import IN_MEMORY, Source, opened_source
from kanon_sql.verbs.verify import Verification, Whole, checked

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Place:
    """Where a release is: a file, a table of a database, or a relation behind a connection that stays open."""

    name: str
    database: str | None = None
    engine: Engine | None = None
    relation: Relation | None = None

    @contextlib.contextmanager
    def opened(self) -> Iterator[Source]:
        """The release, to be read."""
        if self.engine and self.relation:
            yield Source(self.engine, self.engine.table(self.relation), owned=False)
            return
        with opened_source(self.name, self.database) as source:
            yield source


@dataclass(frozen=True, repr=False)
class Release(Result):
    """A verified release. `manifest` says what it is, `sql` how it was made, `to_df()` reads it.

    `trace`: every question that the search asked of the data, in order, with its answer. `statements`: what was run
    to write the release, each with its sentence, seconds and rows. `quasi_identifiers`: the released columns that make
    the classes; `model`: what every class of them meets, None where the released rows alone cannot tell. `place`: where
    it is; `source_place`: where its source was, None of data in memory that are gone.
    """

    manifest: dict[str, Any]
    sql: str
    trace: tuple[Step, ...] = field(default=(), compare=False)
    statements: tuple[Statement, ...] = ()
    quasi_identifiers: tuple[str, ...] = ()
    model: PrivacyModels | None = None
    place: Place = field(default_factory=lambda: Place(""), compare=False)
    source_place: Place | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The manifest."""
        return dict(self.manifest)

    def to_df(self) -> pandas.DataFrame:
        """The released rows as a pandas DataFrame."""
        with self.place.opened() as source:
            frame: pandas.DataFrame = source.engine.frame(source.table.relation)
            return frame

    def verify(self) -> Verification:
        """Check the release where it is now, by an independent query of it; see `kanon_sql.verify`.

        Models that compare it with its source do so while that can be read, else with the release itself.
        """
        if self.model is None:
            raise SpecError("what was promised of this release needs more than its rows; verify what it was made of")
        with self.place.opened() as source, contextlib.ExitStack() as stack:
            whole = self._whole(stack) if self.model.compared else None
            return checked(source, self.place.name, self.quasi_identifiers, self.model, whole)

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
            publish(source.engine, asked, lambda _: pieces, self._check_copy, staging)
            staging.place()
        return target

    def _check_copy(self, engine: Engine, staged: Staged) -> None:
        """Hold the copy against what was promised."""
        ((rows,),) = engine.rows(queries.text("core/row_count", engine.dialect, relation=staged["release"]))
        if rows != self.manifest["released_rows"]:
            raise VerificationError(
                f"the release has {rows:,} rows now, not those that it was made with; release again"
            )
        model = self.model and self.model.of_release_alone
        if model is None:
            return
        summary = summarize(engine, staged["release"], self.quasi_identifiers, model)
        if not summary.holds:
            raise VerificationError(
                f"the release has {summary.unsafe_rows:,} rows now in classes that do not meet the model; release again"
            )

    def _lines(self) -> list[tuple[str, str]]:
        said, target = self.manifest, self.manifest["target"]
        models = [f"{each['model']}: {each['required']} required, {each['achieved']} found" for each in said["privacy"]]
        suppressed = said.get("suppressed_rows", 0)
        lines = [
            ("source", f"{said['source']}, {said['rows']:,} rows"),
            ("release", f"{target.get('as', 'file')} {target.get('table') or target.get('file')}"),
            ("rows", f"{said['released_rows']:,} released, {suppressed:,} suppressed"),
            *(("model", model) for model in models),
        ]
        if said.get("node"):
            lines.append(("node", ", ".join(f"{name} {level}" for name, level in said["node"].items())))
        if said.get("score") is not None:
            proof = "proven optimal" if said["proven_optimal"] else "not proven optimal"
            lines.append(("cost", f"{said['metric']} {said['score']:.4f}, {proof}, by {said['strategy']}"))
        return [*lines, ("verified", "yes" if said["verified"] else "no"), *(("warning", w) for w in said["warnings"])]


def released(
    source: Source,
    spec: Spec,
    manifest: dict[str, Any],
    published: Published[Any],
    trace: tuple[Step, ...] = (),
    quasi_identifiers: tuple[str, ...] = (),
    model: PrivacyModels | None = None,
) -> Release:
    """What was published, as its result."""
    place = _place(source, spec, published)
    whence = _source_place(source, spec)
    return Release(manifest, published.sql, trace, published.statements, quasi_identifiers, model, place, whence)


def warned(release: Release) -> Release:
    """Pass the warnings of a finished release on to whoever called the verb that calls this."""
    for warning in release.manifest["warnings"]:
        warnings.warn(warning, ReleaseWarning, stacklevel=3)
    return release


def _place(source: Source, spec: Spec, published: Published[Any]) -> Place:
    """A table behind a connection that stays open is read there; any other release is opened again."""
    if published.path:
        return Place(str(published.path))
    name = spec.target.table if spec.target and spec.target.table else published.relation.name
    if spec.target is None or not source.owned:
        return Place(name, None, source.engine, published.relation)
    return Place(name, spec.database)


def _source_place(source: Source, spec: Spec) -> Place | None:
    """Where the source can be read again: a file or table by its name, data in memory while their engine is open."""
    if source.files:
        return Place(spec.source)
    if spec.target is None or not source.owned:
        return Place(spec.source, None, source.engine, source.table.relation)
    return None if spec.source == IN_MEMORY else Place(spec.source, spec.database)
