"""Deferral applied to a recoding: its rows are merged with those of the release before it, while some changes wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.files import file_format
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import DifferencingError
from kanon_sql.pipeline.deferral import ComparedRows, Decision, Deferral, Deferred
from kanon_sql.plan.source import Source
from kanon_sql.queries import Hole, Relation
from kanon_sql.release import private
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.release.merged import merge_rows
from kanon_sql.release.people_check import as_read
from kanon_sql.release.pieces import DEFERRED, Piece
from kanon_sql.release.recoding import Recoding
from kanon_sql.spec import Spec

AnyRecoding = TypeVar("AnyRecoding", bound=Recoding)
_SENTENCE = "Keep the changes that wait, and since when."
_ABOUT = {"is": "the changes of a release that wait"}


@dataclass(frozen=True)
class Merger:
    """Merges the rows of a recoding with those of earlier releases: the one that it replaces, and older ones.

    `tables`: of the comparison, embedded. `releases`: with a unit, also with the digests of the owners of rows.
    """

    tables: Scratch
    spec: Spec
    releases: Sequence[Source]

    def impossible(self, recoding: Recoding) -> str:
        """Why changes of a recoding cannot wait, in words; empty if they can."""
        spec, model = self.spec, recoding.model
        columns = {column.name: column.kind for column in recoding.table.columns}
        kept = [name for name in recoding.columns if columns.get(name) == "other"]
        reasons = {
            "stars are wildcards": spec.wildcard_suppression,
            "the rows are shuffled": spec.shuffle,
            "sensitive values are redrawn": bool(recoding.redrawn),
            "a model counts a column that is not released": {*model.hidden} > {*([spec.unit] if spec.unit else [])},
            "a model looks at a population, or at the release as a whole": bool(
                model.of_release or any(of_class.population is not None for of_class in model.models)
            ),
            f"the values of {kept[0] if kept else ''} cannot be compared": bool(kept),
            f"{recoding.engine.name} has no temporary tables": not recoding.engine.has_temporary_tables,
            "the release is a view": spec.target is None or spec.target.form != "table",
        }
        needed = {*recoding.columns, *([spec.unit] if spec.unit else [])}
        for release in self.releases:
            if missing := needed - {column.name for column in release.table.columns}:
                reasons[f"an earlier release has no column {min(missing)!r}"] = True
        return next((reason for reason, applies in reasons.items() if applies), "")

    def hold(self, recoding: AnyRecoding) -> tuple[AnyRecoding, Deferred | None]:
        """The recoding with the rows of the earlier release, while all changes wait."""
        return (recoding, None) if self.impossible(recoding) else self.merge(recoding, all_wait=True)

    def merge(self, recoding: AnyRecoding, all_wait: bool = False) -> tuple[AnyRecoding, Deferred | None]:
        """The recoding with the rows that are released while other changes wait, and who waits."""
        unit, tables = self.spec.unit, self.tables
        secret = private.people_secret(recoding, self.spec.target)
        recoding.prepare()
        query = private.people_sql(recoding, secret) if unit else recoding.release_sql()
        columns = [*recoding.columns, *([unit] if unit else [])]
        fresh, there = self._fresh(recoding, query), recoding.tables
        floats = [column.name for column in fresh.table.columns if column.kind == "float"]
        rows = ComparedRows.of(recoding.columns, recoding.quasi_identifiers, unit, floats)
        after = self._counted("after", fresh, rows)
        before, *earlier = self._earlier(rows, after)  # the older ones are read where they are
        k, overlapping = max(2, recoding.model.requested_k), isinstance(recoding, LocalRecoding)
        deferral = Deferral(tables, rows, before, after, recoding.model, k, overlapping, self.spec.differencing_values)
        decision = deferral.decide(earlier, all_wait)
        if decision is None:
            return recoding, None
        waiting, standing = decision.waiting(), decision.standing()
        leaving, staying = tables.count(waiting), tables.count(standing)
        if not (leaving or staying):
            return recoding, None
        in_file = fresh.engine is tables.engine
        here = tables if in_file else there
        changes = [waiting, standing] if in_file else [_sent(there, tables, waiting), _sent(there, tables, standing)]
        merged = merge_rows(here, fresh.table.relation, columns, rows.texts, *changes)
        if merged.rows != here.count(fresh.table.relation) - leaving + staying:
            return recoding, None  # values that do not survive the way through another engine; the comparison decides
        shown = self._people(here, fresh.table.relation) if unit else None
        members = self._people(here, merged.relation) if unit else merged.rows
        if in_file:
            merged = replace(merged, tables=there, relation=_sent(there, tables, merged.relation))
        deferred, keys = self._since(decision, members, recoding.engine)
        if not all_wait:
            self._check(deferred)
        notes = _sent(there, tables, keys)
        piece = Piece(
            DEFERRED,
            _SENTENCE,
            queries.select_all(notes, there.engine.dialect),
            DEFERRED,
            about=_ABOUT,
            released=False,
            written_as="parquet",
        )
        return replace(recoding, merged=replace(merged, shown_people=shown, notes=(piece,))), deferred

    def _fresh(self, recoding: Recoding, query: str) -> Source:
        """The rows of the new release: in a table, or as a reader of a file will see them."""
        engine, target = recoding.engine, self.spec.target
        assert target
        if target.file is None:
            return Source(engine, engine.table(recoding.tables.create_as("fresh", query)))
        read = as_read(self.tables, engine, query, file_format(target.file), target.formulas == "escape")
        return Source(self.tables.engine, self.tables.engine.table(read))

    def _counted(self, stem: str, release: Source, rows: ComparedRows) -> Relation:
        """The distinct rows of a release by plain names, counted."""
        holes: dict[str, Hole] = {"columns": rows.released, "texts": rows.texts, "relation": release.table.relation}
        query = queries.text("deferral/cells", release.engine.dialect, names=rows.names, **holes)
        return self.tables.receive(stem, release.engine, query, "deferral/cells")

    def _earlier(self, rows: ComparedRows, after: Relation) -> Iterator[Relation]:
        """The rows of the earlier releases by plain names, in the types of the new one."""
        types = self._types(after)
        for number, release in enumerate(self.releases):
            if number > 0 and release.engine is self.tables.engine:  # a view of a file, row by row
                holes: dict[str, Hole] = {"columns": rows.released, "texts": rows.texts}
                text = queries.text(
                    "deferral/renamed", release.engine.dialect, relation=release.table.relation, **holes
                )
                counted = self.tables.view(f"release_{number}", text)
            else:
                counted = self._counted(f"release_{number}", release, rows)
            if self._types(counted) != types:
                columns = [*rows.names, "n"]
                typed = self.tables.create(f"typed_{number}", "deferral/no_rows", columns=columns, fresh=after)
                self.tables.add(typed, "frequency_sets/copy", columns=columns, source=counted)
                counted = typed
            yield counted

    def _types(self, relation: Relation) -> list[str]:
        return [column.type for column in self.tables.engine.table(relation).columns]

    def _since(self, decision: Decision, members: int, engine: Engine) -> tuple[Deferred, Relation]:
        """Who waits, and a table of them with the times since when, for the next run."""
        tables, by_people = self.tables, self.spec.unit is not None
        target = self.spec.target
        assert target
        place = Path(target.file) if target.file else engine.place(str(target.table))
        known = private.companion_rows(engine, place, DEFERRED)
        by_name = [[row[0] for row in known], [row[1] for row in known]]
        earlier = tables.load("known", {"key": "VARCHAR", "since": "VARCHAR"}, by_name)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        keys = tables.create(
            "keys",
            f"deferral/waiting_{'owners' if by_people else 'kinds'}",
            final=decision.final,
            classes=decision.classes,
            earlier=earlier,
            now=now,
            **({} if by_people else {"labels": decision.rows.of_class, "others": decision.rows.in_class}),
        )
        ((waiting, arrivals, departures, oldest),) = tables.rows("deferral/waiting_counts", keys=keys)
        counted = "people" if by_people else "rows"
        figures = int(waiting), int(arrivals), int(departures)
        return Deferred(counted, *figures, decision.closed, oldest, decision.released(), members), keys

    def _people(self, tables: Scratch, rows: Relation) -> int:
        ((people,),) = tables.rows("frequency_sets/people", relation=rows, unit=[str(self.spec.unit)])
        return int(people)

    def _check(self, deferred: Deferred) -> None:
        """DifferencingError if more wait than `deferral_limit` allows, or longer than `deferral_days`."""
        spec = self.spec
        assert spec.target
        now = datetime.now(UTC)
        days = (now - datetime.fromisoformat(deferred.oldest)).total_seconds() / 86_400 if deferred.oldest else 0.0
        if deferred.waiting > spec.deferral_limit * deferred.members:
            key, why = "deferral_limit", f"is {spec.deferral_limit:.4g} of {deferred.members:,} {deferred.counted}"
        elif spec.deferral_days is not None and days > spec.deferral_days:
            key, why = "deferral_days", f"is {spec.deferral_days}"
        else:
            return
        raise DifferencingError(
            f"{spec.target.name} was left as it was: {deferred.sentence}, and `{key}` {why}; coarsen the hierarchies "
            f"or use fewer quasi-identifiers, so that classes change faster, raise `{key}`, or release once with "
            '`differencing_limit="unlimited"` if no one has the earlier releases any more'
        )


def _sent(tables: Scratch, source: Scratch, rows: Relation) -> Relation:
    """A table of another scratch, sent to this one."""
    dialect = source.engine.dialect
    return tables.receive(rows.name, source.engine, queries.select_all(rows, dialect))
