"""Differencing: the people whom a new release singles out together with an earlier one, counted before it is published.

The old release is copied before it is replaced, and the new one is read where it is staged, so that a release above the
limit never becomes visible.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

from kanon_sql import queries
from kanon_sql.attack import Copy, Material, People, Versions
from kanon_sql.attack.matching import ANY_VALUE
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.files import file_format, quoted_path
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import DifferencingError, KanonError
from kanon_sql.measure.copied import check_columns, copied
from kanon_sql.measure.owners import owners_of
from kanon_sql.measure.tables import known_hierarchy, shown_columns
from kanon_sql.pipeline.copies import Past, Replaced
from kanon_sql.pipeline.deferral import Deferred
from kanon_sql.pipeline.merger import AnyRecoding, Merger
from kanon_sql.pipeline.series import Remaining, Series
from kanon_sql.plan.source import Source
from kanon_sql.recode.show import STATISTICS, how_of
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.release.pieces import PEOPLE
from kanon_sql.release.publish import Staged
from kanon_sql.spec import Spec


@dataclass(frozen=True)
class SingledOut:
    """Upper bounds for the people (rows, without a `unit`) whom two releases single out together, but not separately.

    `came`: those who came, left or stayed in groups of fewer than k. `narrowed`: those who are among fewer than k in
    both releases together. `revealed`: those whose value both reveal, by column of a privacy model.
    """

    k: int
    came: int
    narrowed: int
    revealed: Mapping[str, int] = field(default_factory=dict)

    @property
    def people(self) -> int:
        """The sum; people in several of the counts are counted several times."""
        return self.came + self.narrowed + sum(self.revealed.values())

    def to_dict(self) -> dict[str, Any]:
        """The entry of a manifest."""
        return {
            "people": self.people,
            "k": self.k,
            "came_left_or_stayed": self.came,
            "narrowed": self.narrowed,
            "told": dict(self.revealed),
        }

    @property
    def sentence(self) -> str:
        """The counts in words, without zeros."""
        parts = []
        if self.came:
            parts.append(f"{self.came:,} that came, left or stayed in groups of fewer than {self.k:,}")
        if self.narrowed:
            parts.append(f"{self.narrowed:,} among fewer than {self.k:,} in both")
        parts += [f"{people:,} whose {column} both tell" for column, people in self.revealed.items() if people]
        return ", ".join(parts)


@dataclass(frozen=True)
class _Older:
    """An earlier release, as errors describe it: its name, an additional remedy, and its time.

    `regions`, `classes`: see `kanon_sql.pipeline.copies`.
    """

    name: str
    remedy: str = ""
    at: str | None = None
    regions: str | None = None
    classes: str | None = None


_Past: TypeAlias = tuple[_Older, Copy]


@dataclass
class Guard:
    """Compares a staged release with earlier ones: `past`, with the copy of each, and as they are read, `releases`.

    `found`: the people it singles out together with the release that it replaces. `earlier`: their numbers together
    with the releases before that.
    """

    limit: int
    copying: _Copying
    past: Sequence[_Past]
    source: Source
    people: Copy
    releases: Sequence[Source]
    regions: str | None
    classes: str | None
    found: SingledOut | None = None
    earlier: list[int] = field(default_factory=list)
    deferred: Deferred | None = None
    remaining: dict[str, Remaining] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)
    _coded: People | None = None
    _not_deferred: str = ""

    def defer(self, recoding: AnyRecoding, placed: AnyRecoding | None = None) -> AnyRecoding:
        """The recoding with the changes held back that would single people out; DifferencingError if too many wait.

        `placed`: the same with classes that are unsafe, whose changes then wait.
        """
        if self.copying.spec.differencing_values:
            self._check_classes()
        if self.copying.spec.differencing == "refuse":
            return recoding
        merger = Merger(self.copying.tables, self.copying.spec, self.releases)
        self._not_deferred = merger.impossible(recoding)
        if self._not_deferred:
            return recoding
        merged, self.deferred = merger.merge(placed or recoding)
        if isinstance(recoding, LocalRecoding) and self.regions is None:
            self._not_deferred = "its classes overlap, and were not those of the earlier release"
        return merged if self.deferred else recoding

    def __call__(self, engine: Engine, staged: Staged) -> None:
        """DifferencingError if more people are singled out than the limit allows."""
        rows = staged[PEOPLE] if self.copying.spec.unit else staged["release"]
        new = self.copying.copied("release", Source(engine, engine.table(rows)))
        for older, found in self._compared(new):
            if found.people > self.limit:
                raise self._too_many(older, found)
            if older.at:
                self.earlier.append(found.people)
            else:
                self.found = found
        if self.copying.spec.differencing_values:
            self._check_values(new)

    def _check_classes(self) -> None:
        """DifferencingError if an earlier release has other classes, whose values cannot be intersected."""
        for older, _ in self.past:
            if self.classes is None or older.classes != self.classes:
                raise DifferencingError(
                    f"{self.copying.target} was left as it was: its classes are not known to be those of "
                    f"{older.name}, so that the values of `differencing_values` cannot be intersected; keep the "
                    'earlier node, or release once with `differencing_limit="unlimited"` if no one has the earlier '
                    f"releases any more{older.remedy}"
                )

    def _check_values(self, new: Copy) -> None:
        """DifferencingError if all releases together leave too few values of a column for anyone."""
        copying = self.copying
        for (older, release), column in product(self.past, copying.spec.differencing_values):
            if column not in release.columns:
                raise _incomparable(copying.target, older, f"it has no column {column!r}")
        releases = [new, *(release for _, release in self.past)]
        series = Series(copying.tables, releases, [*copying.shown], copying.spec.unit)
        for column, least in copying.spec.differencing_values.items():
            self.remaining[column] = found = series.remaining(column, least)
            if not found.are_enough:
                raise DifferencingError(
                    f"{copying.target} was left as it was: intersecting the new release with the last "
                    f"{len(releases) - 1:,} would leave only {found.fewest:,} of the values of {column!r} possible "
                    f"for {found.sentence}, and `differencing_values` requires {least:,}; let changes wait with "
                    '`differencing="defer"`, coarsen the new release, or release once with '
                    '`differencing_limit="unlimited"` if no one has the earlier releases any more'
                )

    def _compared(self, new: Copy) -> Iterator[tuple[_Older, SingledOut]]:
        """Compare the new release with the earlier ones: those with the same columns by the same statements."""
        together: _Together | None = None
        for past in self.past:
            material = self._material(new, past)
            same_classes = self.regions is not None and past[0].regions == self.regions == self.past[0][0].regions
            if together and not together.takes(material, same_classes):
                yield from self._finish(together)
                together = None
            if together is None:
                together = self._together(material, same_classes)
            together.add(past[0], material)
        if together:
            yield from self._finish(together)

    def _together(self, material: Material, same_classes: bool) -> _Together:
        if self._coded is None or self._coded.source != material.source:
            self._coded = People.of(material)
        assert material.previous
        return _Together(material, self._coded, Versions(material, material.kept_with(material.previous)), same_classes)

    def _finish(self, together: _Together) -> Iterator[tuple[_Older, SingledOut]]:
        comparisons = together.versions.compared(together.people, changes=True, same_classes=together.same_classes)
        unread = [note for note in self._notes if ANY_VALUE in note]
        self._notes.clear()
        if unread and len(together.past) > 1:  # one at a time, to name the release that cannot be read
            for older, material in together.past:
                alone = self._together(material, together.same_classes)
                alone.add(older, material)
                yield from self._finish(alone)
            return
        counted = self.copying.spec.privacy.counted
        for (older, _), comparison in zip(together.past, comparisons, strict=True):
            if unread:
                raise _incomparable(self.copying.target, older, unread[0].partition(";")[0])
            assert comparison.changes
            came = comparison.changes.exposed + comparison.changes.stayed
            revealed = {column: both.found for column, both in comparison.composed.items() if column in counted}
            yield older, SingledOut(comparison.k, came, comparison.below_k.found, revealed)

    def _material(self, new: Copy, past: _Past) -> Material:
        """What an attacker has who knows the new release and an earlier one."""
        (older, previous), copying = past, self.copying
        copies = {"release": new, "source": self.people, "previous": previous}
        if copying.spec.unit:
            if not copies["previous"].unit:
                raise _incomparable(copying.target, older, "it is not known which people its rows are of")
            keys = _keys(copying.tables, copies["previous"]) | _keys(copying.tables, new)
            if len(keys) > 1:
                raise _incomparable(copying.target, older, "its people were recorded with another key, or without one")
        return copying.material(_of_same_kinds(copying, copies), self.source, self._notes.append)

    def to_dict(self) -> dict[str, Any]:
        """The entry of a manifest; empty if nothing was compared."""
        if self.found is None:
            return {}
        earlier = {"releases": len(self.earlier), "most_people": max(self.earlier, default=0)}
        values = {column: remaining.to_dict() for column, remaining in self.remaining.items()}
        entry = {"differencing": {**self.found.to_dict(), "earlier": earlier} | ({"values": values} if values else {})}
        return entry | ({"deferred": self.deferred.to_dict()} if self.deferred else {})

    def _too_many(self, older: _Older, found: SingledOut) -> DifferencingError:
        who = "person" if found.people == 1 else "people"
        what = "people have come or left" if self.copying.spec.unit else "rows have changed"
        return DifferencingError(
            f"{self.copying.target} was left as it was: together with {older.name} the new release would single out "
            f"{found.people:,} {who} ({found.sentence}), and `differencing_limit` is {self.limit:,}; wait until more "
            f"{what}, coarsen the new release, or raise the limit if no one can have both{older.remedy}"
            f"{self._not_deferred and '; the changes could not be deferred, because ' + self._not_deferred}"
        )


@dataclass
class _Together:
    """Earlier releases that are compared by the same statements: their copies have the same columns and kinds.

    `same_classes`: whether the same regions placed the rows of all of them and of the new release.
    """

    material: Material
    people: People
    versions: Versions
    same_classes: bool
    past: list[tuple[_Older, Material]] = field(default_factory=list)

    def add(self, older: _Older, material: Material) -> None:
        """Add the earlier release of a material."""
        assert material.previous
        self.past.append((older, material))
        self.versions.add(material.previous)

    def takes(self, material: Material, same_classes: bool) -> bool:
        """Whether the earlier release of a material can be compared with the others."""
        mine = self.material
        assert material.previous
        assert mine.previous
        same = same_classes == self.same_classes and material.source == mine.source and material.release == mine.release
        return same and material.kept_with(material.previous) == mine.kept_with(mine.previous)


@dataclass
class Restored:
    """A release that is recreated: the changes that waited in it wait again."""

    merger: Merger
    deferred: Deferred | None = None

    def defer(self, recoding: AnyRecoding, placed: AnyRecoding | None = None) -> AnyRecoding:
        """The recoding with the rows of the release."""
        merged, self.deferred = self.merger.hold(placed or recoding)
        return merged if self.deferred else recoding

    def __call__(self, engine: Engine, staged: Staged) -> None:
        """Compare nothing: the caller compares the checksum."""

    def to_dict(self) -> dict[str, Any]:
        """The entry of a manifest."""
        return {"deferred": self.deferred.to_dict()} if self.deferred else {}


@contextlib.contextmanager
def restoring(source: Source, spec: Spec, past: Past) -> Iterator[Restored]:
    """Read the copy of a release that is recreated."""
    with contextlib.closing(source.engine.embedded()) as here, Scratch(here, "differencing") as tables:
        yield Restored(Merger(tables, spec, [_read(tables, past)]))


@contextlib.contextmanager
def guarded(
    source: Source,
    spec: Spec,
    limit: int,
    columns: list[str],
    earlier: Sequence[Past] = (),
    replaced: Replaced | None = None,
    regions: str | None = None,
    classes: str | None = None,
) -> Iterator[Guard | None]:
    """Copy the release that is about to be replaced, and the source; None if there is no such release.

    `limit`: the maximum number of people to single out. `columns`: of the new release. `earlier`: releases before the
    one that is replaced. `replaced`: of that, its regions and classes. `regions`, `classes`: of the new release (see
    `kanon_sql.pipeline.copies`).
    """
    if spec.target is None:
        yield None
        return
    with contextlib.ExitStack() as stack:
        here = stack.enter_context(contextlib.closing(source.engine.embedded()))
        tables = stack.enter_context(Scratch(here, "differencing"))
        before = stack.enter_context(_current_release(source, spec, tables))
        if before is None:
            yield None
            return
        used = {*spec.quasi_identifiers, *spec.privacy.counted, *spec.sensitive, *spec.hidden}
        used_columns = tuple(column for column in source.table.columns if column.name in used)
        people = replace(source, table=replace(source.table, columns=used_columns))
        names = [*columns]
        files = [_read(tables, past) for past in earlier]
        for data in (before, people, *files):
            names += [column.name for column in data.table.columns]
        copying = _Copying.of(tables, spec, before.table, names)
        known = replaced or Replaced()
        newest = _Older("it", regions=known.regions, classes=known.classes)
        past_releases = [(newest, _copied_release(copying, "previous", newest, before))]
        for past, file in zip(earlier, files, strict=True):
            remedy = f"; or leave that release out with `differencing_history: {past.number}` if no one has it any more"
            older = _Older(f"its release of {past.at}", remedy, past.at, past.regions, past.classes)
            copy = _copied_release(copying, f"earlier {past.number}", older, file, stored=False)
            past_releases.append((older, copy))
        people_copy = copying.copied("source", people)
        yield Guard(limit, copying, past_releases, source, people_copy, [before, *files], regions, classes)


def _read(tables: Scratch, past: Past) -> Source:
    """A view of the file of an earlier release."""
    query = queries.text("files/read_parquet", tables.engine.dialect, path=quoted_path(str(past.file)))
    return Source(tables.engine, tables.engine.table(tables.view(f"file_{past.number}", query)))


@dataclass(frozen=True)
class _Copying:
    """Copies tables into one place, with `plain` names of columns.

    `shown`: the columns that show every quasi-identifier.
    """

    tables: Scratch
    spec: Spec
    plain: Mapping[str, str]
    shown: Mapping[str, tuple[str, ...]]

    @property
    def target(self) -> str:
        """The name of the release."""
        assert self.spec.target
        return self.spec.target.name

    @classmethod
    def of(cls, tables: Scratch, spec: Spec, release: Table, columns: Sequence[str]) -> _Copying:
        names = dict.fromkeys((*columns, *spec.quasi_identifiers))
        plain = {name: f"c{number}" for number, name in enumerate(names)}
        return cls(tables, spec, plain, {name: shown_columns(name, release) for name in spec.quasi_identifiers})

    def copied(self, role: str, source: Source, stored: bool = True) -> Copy:
        return copied(self.tables, role, source, self.plain, self.shown, self.spec.unit, stored=stored)

    def material(self, copies: Mapping[str, Copy], source: Source, note: Callable[[str], None]) -> Material:
        """The background knowledge of an attacker who has both releases, for the attacks."""
        spec = self.spec
        return Material(
            self.tables,
            copies["release"],
            tuple(self.shown),
            tuple(column for column in spec.sensitive if column in spec.privacy.counted),
            source=copies["source"],
            previous=copies["previous"],
            unit=spec.unit,
            k=spec.privacy.k,
            hierarchy=partial(known_hierarchy, spec, source.engine),
            averaged=tuple(name for name in spec.quasi_identifiers if how_of(spec, source.table, name) in STATISTICS),
            note=note,
        )


def _keys(tables: Scratch, copy: Copy) -> set[str]:
    """The identifiers of the keys that the digests of a release's people were computed with."""
    return {key for (key,) in tables.rows("pipeline/people_keys", people=copy.relation, unit=copy.unit) if key}


@contextlib.contextmanager
def _current_release(source: Source, spec: Spec, tables: Scratch) -> Iterator[Source | None]:
    """The release in the target that the new one will replace; None if there is none.

    With a `unit`, its rows together with the digests of their people; DifferencingError if these were not kept.
    """
    target = spec.target
    assert target
    if target.table:
        table = source.engine.existing(source.engine.place(target.table))
        if table is None:
            yield None
        else:
            release = Source(source.engine, table)
            yield _with_owners(release, None, spec, tables) if spec.unit else release
        return
    path = Path(str(target.file))
    if not path.is_file():
        yield None
        return
    with contextlib.closing(source.engine.embedded()) as reader:
        release = Source(reader, reader.table(reader.read_written(path, file_format(path.name))))
        yield _with_owners(release, path, spec, tables) if spec.unit else release


def _with_owners(release: Source, path: Path | None, spec: Spec, tables: Scratch) -> Source:
    """The rows of a release with the digests of their owners; DifferencingError if these were not kept."""
    assert spec.unit
    assert spec.target
    people, why = owners_of(release, path, spec.unit, tables)
    if people is None:
        raise _incomparable(spec.target.name, _Older("it"), f"it is not known which people its rows are of: {why}")
    return people


def _incomparable(target: str, older: _Older, why: str) -> DifferencingError:
    return DifferencingError(
        f"{target} was left as it was: it is unknown whom {older.name} and the new release single out "
        f'together ({why}); name another target, or use `differencing_limit="unlimited"`{older.remedy}'
    )


def _copied_release(copying: _Copying, role: str, older: _Older, release: Source, stored: bool = True) -> Copy:
    """A copy of an earlier release; DifferencingError if it does not show the same quasi-identifiers."""
    try:
        check_columns(role, {column.name: column.kind for column in release.table.columns}, copying.shown, True)
    except KanonError as error:
        raise _incomparable(copying.target, older, str(error).partition(";")[0]) from None
    return copying.copied(role, release, stored)


def _of_same_kinds(copying: _Copying, copies: Mapping[str, Copy]) -> dict[str, Copy]:
    """The copies, with columns of different kinds converted to text so that they can be compared."""
    kinds: dict[str, set[str]] = {}
    for copy in copies.values():
        for name in copy.columns:
            kinds.setdefault(name, set()).add(copy.kinds[name])
    # The digests of people are compared with digests only.
    compared = kinds.keys() - {*copying.shown, copying.spec.unit}
    mixed = {name for name in compared if len(kinds[name]) > 1}
    tables, converted = copying.tables, dict(copies)
    for role, copy in copies.items():
        texts = {plain: plain for name, plain in copy.columns.items() if name in mixed}
        if not texts:
            continue
        unchanged = ["row_id", *(plain for plain in copy.columns.values() if plain not in texts)]
        stem = tables.unused(f"{role}_texts")
        relation = tables.create(stem, "release/as_texts", relation=copy.relation, texts=texts, columns=unchanged)
        as_texts = dict.fromkeys(mixed & copy.columns.keys(), "text")
        converted[role] = replace(copy, relation=relation, kinds={**copy.kinds, **as_texts})
    return converted
