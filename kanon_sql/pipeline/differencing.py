"""Differencing before replacing: whom a release singles out together with the one that it would replace, or an earlier.

The old release is copied while it is there, the new one where it is staged: what is too much never becomes visible.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from kanon_sql import queries
from kanon_sql.attack import Copy, Material, compared
from kanon_sql.attack.matching import ANY_VALUE
from kanon_sql.engine import Engine, FileEngine, Table, reads_files
from kanon_sql.engines.files import file_format
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import DifferencingError, KanonError
from kanon_sql.measure.copied import check_columns, copied
from kanon_sql.measure.tables import known_hierarchy, shown_columns
from kanon_sql.pipeline.copies import Past
from kanon_sql.plan.source import Source
from kanon_sql.queries import Relation
from kanon_sql.recode.show import STATISTICS, how_of
from kanon_sql.release import tables as release_tables
from kanon_sql.release.pieces import PEOPLE, companion, private_file
from kanon_sql.release.publish import Staged
from kanon_sql.spec import Spec


@dataclass(frozen=True)
class SingledOut:
    """How many people (rows, without a `unit`) two releases single out together, though neither does alone, at most.

    `came`: those that came, left or stayed in groups of fewer than k. `narrowed`: those who stand among fewer than k in
    both. `told`: by column of a privacy model, those whose value both tell.
    """

    k: int
    came: int
    narrowed: int
    told: Mapping[str, int] = field(default_factory=dict)

    @property
    def people(self) -> int:
        """All of them; who is in several counts is counted several times."""
        return self.came + self.narrowed + sum(self.told.values())

    def to_dict(self) -> dict[str, Any]:
        """As a manifest has it."""
        return {
            "people": self.people,
            "k": self.k,
            "came_left_or_stayed": self.came,
            "narrowed": self.narrowed,
            "told": dict(self.told),
        }

    @property
    def sentence(self) -> str:
        """Who they are."""
        told = [f"{people:,} whose {column} both tell" for column, people in self.told.items() if people]
        parts = [
            (self.came, f"{self.came:,} that came, left or stayed in groups of fewer than {self.k:,}"),
            (self.narrowed, f"{self.narrowed:,} among fewer than {self.k:,} in both"),
        ]
        return ", ".join([text for people, text in parts if people] + told)


@dataclass(frozen=True)
class _Older:
    """A release that somebody may have beside the new one: what it is called, the way out of its own, and its time."""

    name: str
    way_out: str = ""
    at: str | None = None


_REPLACED = _Older("it")
_Known: TypeAlias = tuple[_Older, Callable[[], Copy]]


class Guard:
    """Holds a staged release against those before; `found` says what came of the one that it replaces.

    `earlier`: how many people it singles out together with each of those before that.
    """

    def __init__(self, limit: int, beside: _Beside, known: Sequence[_Known], source: Source, people: Copy) -> None:
        self._limit, self._beside, self._known, self._source, self._people = limit, beside, known, source, people
        self.found: SingledOut | None = None
        self.earlier: list[int] = []

    def __call__(self, engine: Engine, staged: Staged) -> None:
        """DifferencingError if more people are singled out than may be."""
        made = staged[PEOPLE] if self._beside.spec.unit else staged["release"]
        new = self._beside.copied("release", Source(engine, engine.table(made)))
        for older, rows in self._known:
            copies = {"release": new, "source": self._people, "previous": rows()}
            found = singled_out(self._beside, copies, self._source, older)
            if found.people > self._limit:
                raise self._too_many(older, found)
            if older.at:
                self.earlier.append(found.people)
            else:
                self.found = found

    def to_dict(self) -> dict[str, Any]:
        """As a manifest has it; empty where nothing was compared."""
        earlier = {"earlier": {"releases": len(self.earlier), "most_people": max(self.earlier, default=0)}}
        return {"differencing": {**self.found.to_dict(), **earlier}} if self.found else {}

    def _too_many(self, older: _Older, found: SingledOut) -> DifferencingError:
        who = "person" if found.people == 1 else "people"
        what = "people have come or left" if self._beside.spec.unit else "rows have changed"
        return DifferencingError(
            f"{self._beside.target} was left as it was: beside {older.name} the new release would single out "
            f"{found.people:,} {who} ({found.sentence}), and `differencing_limit` is {self._limit:,}; wait until more "
            f"{what}, coarsen the new release, or raise the limit if nobody can have both{older.way_out}"
        )


@contextlib.contextmanager
def guarded(
    source: Source, spec: Spec, limit: int, columns: list[str], earlier: Sequence[Past] = ()
) -> Iterator[Guard | None]:
    """Copy what is about to be replaced, and the source; None where nothing is.

    `limit`: how many people may be singled out. `columns`: those of the release. `earlier`: releases before the one
    that is replaced.
    """
    if spec.target is None:
        yield None
        return
    with contextlib.ExitStack() as stack:
        here = stack.enter_context(contextlib.closing(source.engine.embedded()))
        tables = stack.enter_context(Scratch(here, "differencing"))
        before = stack.enter_context(_standing(source, spec, tables))
        if before is None:
            yield None
            return
        reader = stack.enter_context(contextlib.closing(source.engine.embedded()))
        people = replace(source, table=_used(source, spec))
        others = [_read(reader, each) for each in earlier]
        names = [each.name for one in (before, people, *others) for each in one.table.columns]
        beside = _Beside.of(tables, spec, before.table, [*columns, *names])
        replaced = _shown(beside, "previous", _REPLACED, before)
        older: list[_Known] = [(_REPLACED, lambda: replaced), *(_known(beside, reader, each) for each in earlier)]
        yield Guard(limit, beside, older, source, beside.copied("source", people))


def _read(reader: FileEngine, past: Past) -> Source:
    return Source(reader, reader.table(reader.read_written(past.file, "parquet")))


def _known(beside: _Beside, reader: FileEngine, past: Past) -> _Known:
    way_out = f"; or leave that release out with `differencing_history: {past.number}` if nobody has it any more"
    older = _Older(f"its release of {past.at}", way_out, past.at)
    return older, lambda: _shown(beside, "earlier", older, _read(reader, past))


@dataclass(frozen=True)
class _Beside:
    """Tables copied beside each other: their columns by plain names, and those that show each quasi-identifier."""

    tables: Scratch
    spec: Spec
    plain: Mapping[str, str]
    shown: Mapping[str, tuple[str, ...]]

    @property
    def target(self) -> str:
        """What the release is called."""
        assert self.spec.target
        return self.spec.target.name

    @classmethod
    def of(cls, tables: Scratch, spec: Spec, release: Table, columns: Sequence[str]) -> _Beside:
        plain = {name: f"c{number}" for number, name in enumerate(dict.fromkeys((*columns, *spec.quasi_identifiers)))}
        return cls(tables, spec, plain, {name: shown_columns(name, release) for name in spec.quasi_identifiers})

    def copied(self, role: str, source: Source) -> Copy:
        return copied(self.tables, role, source, self.plain, self.shown, self.spec.unit)

    def material(self, copies: Mapping[str, Copy], source: Source, note: Callable[[str], None]) -> Material:
        """What somebody has who has both releases, beside the source."""
        spec = self.spec
        shows = {name: how_of(spec, source.table, name) for name in spec.quasi_identifiers}
        return Material(
            self.tables,
            copies["release"],
            tuple(self.shown),
            tuple(spec.sensitive),
            source=copies["source"],
            previous=copies["previous"],
            unit=spec.unit,
            k=spec.privacy.k,
            hierarchy=partial(known_hierarchy, spec, source.engine),
            averaged=tuple(name for name, how in shows.items() if how in STATISTICS),
            note=note,
        )


def singled_out(beside: _Beside, copies: Mapping[str, Copy], source: Source, older: _Older) -> SingledOut:
    """Hold two releases against each other, beside the source of the newer one."""
    if beside.spec.unit and not copies["previous"].unit:
        raise _incomparable(beside.target, older, "it is not known which people its rows are of")
    if beside.spec.unit and len(_keys(beside.tables, copies["previous"]) | _keys(beside.tables, copies["release"])) > 1:
        raise _incomparable(beside.target, older, "its people were recorded with another key, or without one")
    notes: list[str] = []
    material = beside.material(_alike(beside, copies), source, notes.append)
    assert material.previous
    found = compared(material, material.previous)
    if unread := [note for note in notes if ANY_VALUE in note]:
        raise _incomparable(beside.target, older, unread[0].partition(";")[0])
    assert found.changes
    asked = {column: told.found for column, told in found.composed.items() if column in beside.spec.privacy.counted}
    return SingledOut(found.k, found.changes.exposed + found.changes.stayed, found.below_k.found, asked)


def _keys(tables: Scratch, copy: Copy) -> set[str]:
    """The identifiers of the keys of a release's digests of people."""
    return {key for (key,) in tables.rows("pipeline/people_keys", people=copy.relation, unit=copy.unit) if key}


@contextlib.contextmanager
def _standing(source: Source, spec: Spec, tables: Scratch) -> Iterator[Source | None]:
    """The release that stands where the new one is to go, read as that will be read; None if there is none.

    With a `unit` its rows with their people, as they were kept with it; DifferencingError if they were not.
    """
    target = spec.target
    assert target
    if target.table:
        there = source.engine.existing(source.engine.place(target.table))
        if there and spec.unit:
            yield _people_of_table(source, spec, tables, there)
        else:
            yield Source(source.engine, there) if there else None
        return
    path = Path(str(target.file))
    if not path.is_file():
        yield None
        return
    with contextlib.closing(source.engine.embedded()) as reader:
        release = Source(reader, reader.table(reader.read_written(path, file_format(path.name))))
        yield _people_of_file(release, path, spec, tables) if spec.unit else release


def _people_of_table(source: Source, spec: Spec, tables: Scratch, there: Table) -> Source:
    engine, place = source.engine, companion(there.relation, PEOPLE)
    ours = release_tables.about(engine, place).get("of") == there.relation.name
    kept = engine.existing(place) if ours else None
    if kept is None:
        raise _unknown_people(spec, f"there is no table {place.name} with them")
    rows = _counted(tables, "standing", Source(engine, there), there)
    return _checked_people(spec, tables, rows, Source(engine, kept), there)


def _people_of_file(release: Source, path: Path, spec: Spec, tables: Scratch) -> Source:
    kept, reader = private_file(path, PEOPLE), release.engine
    if not kept.is_file():
        raise _unknown_people(spec, f"there is no file {kept} with them")
    rows = _counted(tables, "standing", release, release.table)
    assert reads_files(reader)
    people = reader.table(reader.read_written(kept, file_format(path.name)))
    return _checked_people(spec, tables, rows, Source(reader, people), release.table)


def _checked_people(spec: Spec, tables: Scratch, rows: Relation, people: Source, release: Table) -> Source:
    """The people of a release, if they are of the very rows that it has."""
    columns = _comparable(release)
    if {*columns, spec.unit} - {column.name for column in people.table.columns}:
        raise _unknown_people(spec, "those that were kept are of another release")
    known = _counted(tables, "known", people, release)
    ((differing,),) = tables.rows("privacy/differing_rows", one=rows, other=known, columns=columns)
    if differing:
        raise _unknown_people(spec, "those that were kept are of another release")
    return people


def _counted(tables: Scratch, stem: str, rows: Source, release: Table) -> Relation:
    """The rows of a release, or of its people, by all that can be compared."""
    columns = _comparable(release)
    query = queries.text("privacy/class_rows", rows.engine.dialect, release=rows.table.relation, columns=columns)
    return tables.receive(stem, rows.engine, query)


def _comparable(release: Table) -> list[str]:
    return [column.name for column in release.columns if column.kind != "other"]


def _unknown_people(spec: Spec, why: str) -> DifferencingError:
    assert spec.target
    return _incomparable(spec.target.name, _REPLACED, f"it is not known which people its rows are of: {why}")


def _used(source: Source, spec: Spec) -> Any:
    """The source's table by the columns that tell people and what they have."""
    used = {*spec.quasi_identifiers, *spec.privacy.counted, *spec.sensitive, *spec.hidden}
    return replace(source.table, columns=tuple(each for each in source.table.columns if each.name in used))


def _incomparable(target: str, older: _Older, why: str) -> DifferencingError:
    return DifferencingError(
        f"{target} was left as it was: nobody can say whom {older.name} and the new release single out "
        f'together ({why}); name another target, or give `differencing_limit="unlimited"`{older.way_out}'
    )


def _shown(beside: _Beside, role: str, older: _Older, release: Source) -> Copy:
    """A release from before, copied; DifferencingError if it does not show the same quasi-identifiers."""
    try:
        check_columns(role, {column.name: column.kind for column in release.table.columns}, beside.shown, True)
    except KanonError as error:
        raise _incomparable(beside.target, older, str(error).partition(";")[0]) from None
    return beside.copied(role, release)


def _alike(beside: _Beside, copies: Mapping[str, Copy]) -> dict[str, Copy]:
    """The copies with every column that is of another kind in one of them as text, so that it is compared."""
    kinds: dict[str, set[str]] = {}
    for copy in copies.values():
        for name in copy.columns:
            kinds.setdefault(name, set()).add(copy.kinds[name])
    mixed = {name for name, found in kinds.items() if len(found) > 1 and name not in beside.shown}
    return {role: _as_texts(beside.tables, role, copy, mixed) for role, copy in copies.items()}


def _as_texts(tables: Scratch, role: str, copy: Copy, mixed: set[str]) -> Copy:
    texts = {copy.columns[name]: copy.columns[name] for name in copy.columns if name in mixed}
    if not texts:
        return copy
    others = ["row_id", *(plain for plain in copy.columns.values() if plain not in texts)]
    holes: dict[str, Any] = {"relation": copy.relation, "texts": texts, "columns": others}
    relation = tables.make(f"{role}_texts", "release/as_texts", **holes)
    return replace(copy, relation=relation, kinds={**copy.kinds, **dict.fromkeys(mixed & copy.columns.keys(), "text")})
