"""Comparison of two releases of one table: what they reveal together and neither reveals alone.

Sources: L. Sweeney, "k-anonymity", IJUFKS 10(5), 2002, sections 4.2 and 4.3 (complementary and temporal releases);
S. Ganta, S. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy", KDD 2008;
J. Byun, Y. Sohn, E. Bertino, N. Li, "Secure anonymization for incremental datasets", SDM 2006 (by difference).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

from kanon_sql import queries
from kanon_sql.attack.blocks import People
from kanon_sql.attack.matching import fitting
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.engines.duckdb import kind_of
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import KanonError
from kanon_sql.queries import Hole, Relation

_MOST_TEXTS = 10_000  # different texts of a column that are compared as an ENUM
_SAME_AS_TEXT = ("integer", "date", "boolean", "text")  # kinds of values that are equal where their texts are


@dataclass(frozen=True)
class Intersection:
    """What the classes of two releases reveal together about the people in both.

    `people`: those about whom neither release reveals it alone; `found`: those about whom both do together; `alone`:
    those identified uniquely. Without a source these are lower bounds if both releases have the same rows, and
    `at_most` is an upper bound.
    """

    people: int
    found: int
    alone: int = 0
    at_most: int | None = None

    def uncertain(self) -> Intersection:
        """The same for releases of different rows: nothing is certain, and the upper bound stays."""
        return replace(self, found=0, alone=0)


@dataclass(frozen=True)
class Changes:
    """Arrivals and departures between two releases, as far as their counts show: people if both releases show the
    owners of rows, otherwise rows.

    `appeared`, `vanished`: minimum numbers; `exposed`: those in groups of fewer than k that arrived or left together;
    `alone`: those that arrived or left alone. `certain`: by sensitive column, those whose value this reveals.
    `stayed`: those in groups of fewer than k that stayed where others arrived or left.
    """

    appeared: int
    vanished: int
    exposed: int
    alone: int
    certain: Mapping[str, int]
    stayed: int = 0


@dataclass(frozen=True)
class Comparison:
    """Two releases of one table: how many people they expose together, for the `k` that both satisfy.

    `below_k`: people in groups of fewer than k in both together. `composed`: by sensitive column, people whose value is
    revealed. `changes`: None if the other release is not an earlier one and there is a source.
    """

    k: int
    below_k: Intersection
    composed: Mapping[str, Intersection]
    changes: Changes | None = None


def compared(material: Material, other: Copy) -> Comparison:
    """Compare `material.release` with another release of the same table, such as an earlier one, in counts.

    With a source, its people are placed in the classes that fit, and counted exactly. Without one, classes are matched
    by the values that their labels can stand for, and the counts are bounds; they are not certain if rows arrived or
    left. k is the largest that both releases satisfy, at most `material.k` and at least 2.
    """
    versions = Versions(material, material.kept_with(other))
    versions.add(other)
    if material.source:
        (comparison,) = versions.compared(People.of(material), changes=other is material.previous)
        return comparison
    sides = versions.sides()
    overlaps = _overlaps(sides)
    (changes,) = _changes(sides, overlaps)
    below, composed = _by_labels(sides, overlaps, min(material.release.rows, other.rows))
    if changes.appeared or changes.vanished:
        below, composed = below.uncertain(), {name: found.uncertain() for name, found in composed.items()}
    return Comparison(sides.limits[0], below, composed, changes)


class Versions:
    """Releases of a table that `material.release` is compared with, all by the same statements.

    `kept`: the columns that all of them and the new release show unchanged; all have a unit column, or none.
    `rows`: of all that were added.
    """

    def __init__(self, material: Material, kept: Sequence[str]) -> None:
        release = material.release
        self._material = material
        self._kept = tuple(kept)
        self._labels = release.plain(material.quasi_identifiers)
        self._texts: dict[str, set[str]] = {name: set() for name in self._few_texts()}
        self._types: dict[str, set[str]] = {}
        self._added: list[Copy] = []
        self.rows = 0
        self._look_at(release)

    def _few_texts(self) -> list[str]:
        """The columns of the new release with few different texts."""
        release, tables = self._material.release, self._material.tables
        texts = [name for name in self._kept if release.kinds[name] == "text"]
        columns = [*self._labels, *release.plain(texts)]
        ((*numbers,),) = tables.rows_as(queries.text_counts(release.relation, columns))
        return [name for name, number in zip(columns, numbers, strict=True) if number <= _MOST_TEXTS]

    def _look_at(self, release: Copy) -> None:
        """Remember the texts of columns with few of them, and the types of the others."""
        tables = self._material.tables
        if self._texts:
            found = tables.rows("attack_versions/distinct_texts", columns=[*self._texts], copy=release.relation)
            for name, texts in zip(self._texts, found[0], strict=True):
                self._texts[name].update(text for text in texts or () if text is not None)
        for column in tables.engine.table(release.relation).columns:
            self._types.setdefault(column.name, set()).add(column.type)

    def add(self, other: Copy) -> None:
        """Add a release, with or without the owners of its rows as those before it."""
        self._look_at(other)
        self._added.append(other)
        self.rows += other.rows

    def compared(self, people: People, changes: bool) -> list[Comparison]:
        """Compare each of the releases with the new one, by the people of the source.

        `changes`: whether they are earlier releases, so that arrivals and departures are counted as well.
        """
        sides = self.sides()
        moved = _changes(sides, _overlaps(sides)) if changes else [None] * len(self._added)
        found = zip(sides.limits, *_by_source(sides, people), moved, strict=True)
        return [Comparison(k, below, composed, change) for k, below, composed, change in found]

    def sides(self) -> _Sides:
        """The classes of the added releases, and of the new one."""
        material, tables = self._material, self._material.tables
        with self._enums() as types:
            second = self._side("second", [material.release], types)
            first = self._side("first", self._added, types)
        sizes, smallest = _smallest_classes(material, first), _smallest_classes(material, second).get(0, 0)
        least = [min(sizes.get(number, 0), smallest) for number in range(len(self._added))]
        limits = [max(2, min(size, material.k or size)) for size in least]
        tables.load("limits", {"release": "INTEGER", "k": "BIGINT"}, [[*range(len(limits))], limits])
        return _Sides(material, first, second, self._kept, limits)

    @contextmanager
    def _enums(self) -> Iterator[dict[str, str]]:
        """The types that columns are cast to while rows are counted: ENUMs of few texts, or text."""
        tables, types = self._material.tables, dict[str, str]()
        for name, found in self._types.items():
            if len(found) > 1 or kind_of(next(iter(found))) not in _SAME_AS_TEXT:
                types[name] = "VARCHAR"
        try:
            for name, texts in self._texts.items():
                if len(texts) <= _MOST_TEXTS:
                    texts_of_column = tables.load("texts", {"text": "VARCHAR"}, [[*texts]])
                    types[name] = tables[f"type_{name}"].name
                    tables.engine.run(queries.label_type(types[name], texts_of_column, "text"))
            yield types
        finally:
            for name in types.keys() & self._texts.keys():
                with suppress(KanonError):  # an error can have rolled back the transaction and the types with it
                    tables.engine.run(queries.drop_type(types[name]))

    def _side(self, stem: str, copies: Sequence[Copy], types: Mapping[str, str]) -> _Side:
        """Count the equal rows of releases, and number their classes."""
        tables, unit = self._material.tables, copies[0].unit
        columns = [*self._labels, *self._material.release.plain(self._kept), *unit]
        rows = tables[f"{stem}_rows"]
        for number, copy in enumerate(copies):
            query = queries.counted_rows(copy.relation, number, types, columns)
            if number:
                tables.add_as(rows, query)
            else:
                tables.create_as(rows, query)
        classes = tables.create(f"{stem}_classes", "attack_versions/classes", counted=rows, labels=self._labels)
        others = [name for name in columns if name not in self._labels]
        classed = queries.classed_rows(rows, ["release", *others, "n"], classes, ["release", *self._labels])
        numbered = tables.create_as(f"{stem}_numbered", classed)
        tables.drop(rows)
        return _Side(stem, classes, numbered, unit)


@dataclass(frozen=True)
class _Side:
    """The new release, or those that it is compared with: their classes, and counted rows with class numbers."""

    stem: str
    classes: Relation
    numbered: Relation
    unit: tuple[str, ...]


def _smallest_classes(material: Material, side: _Side) -> dict[int, int]:
    """The size of the smallest class of each release: in people if it shows the owners of rows, otherwise in rows."""
    if side.unit:
        holes: dict[str, Hole] = {"numbered": side.numbered, "unit": side.unit}
        sizes = material.tables.rows("attack_versions/smallest_classes_of_people", **holes)
    else:
        sizes = material.tables.rows("attack_versions/smallest_classes", classes=side.classes)
    return {int(release): int(size) for release, size in sizes}


@dataclass(frozen=True)
class _Sides:
    """The releases on both sides of a comparison, their common columns, and for each of the first ones its k."""

    material: Material
    first: _Side
    second: _Side
    kept: tuple[str, ...]
    limits: Sequence[int]

    @property
    def both(self) -> tuple[_Side, _Side]:
        """Both sides, in order."""
        return self.first, self.second

    @property
    def people(self) -> bool:
        """Whether all releases show the owners of rows, so that arrivals and departures count people."""
        return bool(self.first.unit and self.second.unit)

    @property
    def sensitive(self) -> list[str]:
        """The sensitive columns that all releases have."""
        return [name for name in self.material.sensitive if name in self.kept]

    def labels(self, name: str) -> list[str | None]:
        """The labels of a quasi-identifier on both sides."""
        tables, plain = self.material.tables, self.material.release.plain([name])
        rows = [
            row
            for side in self.both
            for row in tables.rows("attack_matching/labels", classes=side.classes, label=plain)
        ]
        return [label for (label,) in dict.fromkeys(rows)]

    def values(self, columns: Sequence[str]) -> tuple[Relation, Relation]:
        """The combinations of values of columns in the classes of both sides: class, value, n."""
        tables, plain = self.material.tables, self.material.release.plain(columns)
        first, second = (
            tables.create(f"{side.stem}_values", "attack_versions/values", numbered=side.numbered, values=plain)
            for side in self.both
        )
        return first, second

    def figures(self, query: str, number: int, /, **holes: Hole) -> list[tuple[int, ...]]:
        """So many figures of each of the first releases, by a query that begins with its number; 0 without a row."""
        rows = self.material.tables.rows(query, **holes)
        found = {int(release): tuple(map(int, figures)) for release, *figures in rows}
        return [found.get(release, (0,) * number) for release in range(len(self.limits))]


# With the source


def _by_source(sides: _Sides, people: People) -> tuple[list[Intersection], list[dict[str, Intersection]]]:
    """Compare by placing the source's people in the classes that fit them."""
    material, tables = sides.material, sides.material.tables
    covers = people.covers({name: sides.labels(name) for name in people.known})
    first, second = (
        fitting(material, people.tuples, people.copy, side.classes, people.known, f"{side.stem}_fits", covers)
        for side in sides.both
    )
    fits: dict[str, Hole] = {"first": first, "second": second, "classes": sides.first.classes}
    limits = tables["limits"]
    pairs = tables.create("pairs", "attack_versions/in_both", members=people.members, limits=limits, **fits)
    cells = tables.create("cells", "attack_versions/cells", pairs=pairs)
    tables.create("in_cells", "attack_versions/in_cells", pairs=pairs, cells=cells)
    composed = {name: _composed(sides, people, name) for name in sides.sensitive}
    return _narrowed(sides), [{name: found[n] for name, found in composed.items()} for n in range(len(sides.limits))]


def _narrowed(sides: _Sides) -> list[Intersection]:
    """People in groups of at least k in both releases, and of fewer in both together."""
    tables = sides.material.tables
    pairs, in_cells, members, limits = (tables[stem] for stem in ("pairs", "in_cells", "members", "limits"))
    first, second = (
        tables.create(f"{side.stem}_hidden", "attack_versions/hidden", fits=pairs, **{"class": [side.stem]})
        for side in sides.both
    )
    both = tables.create("both_hidden", "attack_versions/hidden", fits=in_cells, **{"class": ["class"]})
    hidden: dict[str, Hole] = {"first": first, "second": second, "limits": limits}
    narrowed = tables.create("narrowed", "attack_versions/narrowed", both=both, **hidden)
    candidates = tables.create("candidates", "attack_versions/company", narrowed=narrowed, fits=in_cells)
    people = sides.figures("attack_versions/hidden_in_both", 1, members=members, **hidden)
    below = sides.figures("attack_versions/below", 2, candidates=candidates, members=members, limits=limits)
    return [Intersection(many, few, alone) for (many,), (few, alone) in zip(people, below, strict=True)]


def _composed(sides: _Sides, people: People, column: str) -> list[Intersection]:
    """People whose value is revealed by both releases together, and by neither alone."""
    tables = sides.material.tables
    values = sides.values([column])
    common = tables.create(
        "common", "attack_versions/common_values", cells=tables["cells"], first=values[0], second=values[1]
    )
    possible = {
        side.stem: _possible_values(tables, side.stem, tables["pairs"], of_side)
        for side, of_side in zip(sides.both, values, strict=True)
    }
    both = _possible_values(tables, "class", tables["in_cells"], common)
    found = sides.figures("attack_versions/composed", 2, own=people.own_values(column), both=both, **possible)
    return [Intersection(doubted, revealed) for doubted, revealed in found]


def _possible_values(tables: Scratch, side: str, fits: Relation, values: Relation) -> Relation:
    """The number of possible values of every target in the classes of one side that fit, and one of the values."""
    holes: dict[str, Hole] = {"fits": fits, "values": values, "class": [side]}
    return tables.create(f"{side}_possible", "attack_versions/possible_values", **holes)


# By the labels alone


def _overlaps(sides: _Sides) -> Relation:
    """The classes of both sides that can have people in common, by their labels: target (of the first), class."""
    material = sides.material
    labels = material.release.plain(material.quasi_identifiers)
    targets = material.tables.create(
        "class_targets", "attack_versions/class_targets", classes=sides.first.classes, labels=labels
    )
    return fitting(material, targets, material.release, sides.second.classes, stem="overlaps")


def _by_labels(sides: _Sides, overlaps: Relation, people: int) -> tuple[Intersection, dict[str, Intersection]]:
    """Bounds from the classes of two releases that can have people in common, and from their common values."""
    tables, (k,) = sides.material.tables, sides.limits
    sizes: dict[str, Hole] = {side.stem: side.classes for side in sides.both}
    bounds = _bounds(sides, overlaps, sides.values(sides.kept))
    ((least, most, alone),) = tables.rows("attack_versions/bounded_below", bounds=bounds, k=k, **sizes)
    composed = {}
    for name in sides.sensitive:
        first, second = values = sides.values([name])
        of_column = _bounds(sides, overlaps, values)
        ((certain, at_most),) = tables.rows(
            "attack_versions/bounded_composed", bounds=of_column, first=first, second=second
        )
        composed[name] = Intersection(people, int(certain), at_most=min(people, int(at_most)))
    return Intersection(people, int(least), int(alone), min(people, int(most))), composed


def _bounds(sides: _Sides, overlaps: Relation, values: tuple[Relation, Relation]) -> Relation:
    first, second = values
    return sides.material.tables.create(
        "bounds", "attack_versions/shared_bounds", overlaps=overlaps, first=first, second=second
    )


def _changes(sides: _Sides, overlaps: Relation) -> list[Changes]:
    """Arrivals and departures in groups of classes that have no people in common with classes outside."""
    tables, groups = sides.material.tables, _groups(sides, overlaps)
    changes, limits = _changed(sides, groups, sides.kept), tables["limits"]
    if sides.people:
        moves = _moved(sides, groups, sides.kept, changes)
        found = sides.figures("attack_versions/exposed_people", 5, moves=moves, limits=limits)
    else:
        found = sides.figures("attack_versions/exposed", 5, changes=changes, limits=limits)
    certain = {name: _certain(sides, groups, name) for name in sides.sensitive}
    return [
        Changes(
            appeared, vanished, exposed, alone, {name: of_release[n] for name, of_release in certain.items()}, stayed
        )
        for n, (appeared, vanished, exposed, alone, stayed) in enumerate(found)
    ]


def _certain(sides: _Sides, groups: Relation, column: str) -> list[int]:
    changes = _changed(sides, groups, [column])
    if sides.people:
        moves = _moved(sides, groups, [column], changes)
        found = sides.figures("attack_versions/certain_people", 1, changes=changes, moves=moves)
    else:
        found = sides.figures("attack_versions/certain", 1, changes=changes)
    return [certain for (certain,) in found]


def _moved(sides: _Sides, groups: Relation, columns: Sequence[str], changes: Relation) -> Relation:
    """Every person's rows that arrived, left and stayed."""
    holes = _before_and_after(sides, groups, columns)
    query = "attack_versions/moves_of_people"
    return sides.material.tables.create("moves", query, changes=changes, unit=sides.first.unit, **holes)


def _changed(sides: _Sides, groups: Relation, columns: Sequence[str]) -> Relation:
    holes = _before_and_after(sides, groups, columns)
    return sides.material.tables.create("changes", "attack_versions/changes", **holes)


def _before_and_after(sides: _Sides, groups: Relation, columns: Sequence[str]) -> dict[str, Hole]:
    values = sides.material.release.plain(columns)
    return {"groups": groups, "before": sides.first.numbered, "after": sides.second.numbered, "values": values}


def _groups(sides: _Sides, overlaps: Relation) -> Relation:
    """The smallest groups of classes of two releases that must have the same people: release, node, part."""
    tables, first = sides.material.tables, sides.first.classes
    links = tables.create("links", "attack_versions/links", overlaps=overlaps, first=first)
    groups, other = tables.pair("groups")
    second, limits = sides.second.classes, tables["limits"]
    tables.create(groups, "attack_versions/own_groups", first=first, second=second, limits=limits)
    before, now = 1, 0
    while now != before:
        tables.create(other, "attack_versions/joined_groups", groups=groups, links=links)
        tables.create(groups, "attack_versions/followed_groups", groups=other)
        before = now
        ((now,),) = tables.rows("attack_versions/groups_sum", groups=groups)
    return groups


# The attack


def _compare_all(material: Material) -> Iterator[Outcome]:
    for other in material.all_others:
        comparison = compared(material, other)
        yield _intersection(material, comparison, other)
        for column, found in comparison.composed.items():
            yield _composition(material, found, other, column)
        if other is material.previous and comparison.changes:
            counted = "people" if other.unit and material.release.unit else "rows"
            yield from _differencing(comparison.changes, comparison.k, counted)


def _intersection(material: Material, comparison: Comparison, other: Copy) -> Outcome:
    below = comparison.below_k
    return Outcome(
        "intersection",
        f"{_counted(material, below)} are in groups of fewer than {comparison.k:,} in the release and {other.name} "
        f"together, but in neither alone; {below.alone:,} of them are alone.",
        attempts=below.people,
        successes=below.found,
        affected=below.found,
        counted=material.source.who if material.source else "rows",
        baseline=0.0,
        figures={"k": comparison.k, "alone": below.alone, "at_most": below.at_most},
        avoid="generalize all releases of a table in the same way, or release it once",
    )


def _composition(material: Material, found: Intersection, other: Copy, column: str) -> Outcome:
    return Outcome(
        "composition",
        f"{_counted(material, found)} have a value of {column} that the release and {other.name} reveal together and "
        "neither reveals alone: it is the only one in both of their classes.",
        attempts=found.people,
        successes=found.found,
        affected=found.found,
        baseline=0.0,
        column=column,
        counted=material.source.who if material.source else "rows",
        figures={"at_most": found.at_most},
        avoid=f"generalize all releases of a table in the same way, or release {column} in only one of them",
    )


def _counted(material: Material, found: Intersection) -> str:
    """The number of people in a source; without one, bounds on rows, which can be of fewer people."""
    of = f"of {found.people:,} {material.source.who if material.source else 'rows'}"
    if material.source:
        return f"{found.found:,} {of}"
    return f"At least {found.found:,} and at most {found.at_most:,} {of}"


def _differencing(changes: Changes, k: int, counted: str) -> Iterator[Outcome]:
    """Arrivals and departures, from the difference of two versions."""
    moved = changes.appeared + changes.vanished
    counts = f"{changes.appeared:,} {counted} appeared and {changes.vanished:,} vanished since the previous release"
    yield Outcome(
        "differencing",
        f"{counts}; {changes.exposed:,} of them in groups of fewer than {k:,} that arrived or left together, "
        f"{changes.alone:,} alone: an attacker who knows that a person joined or left finds the rows there.",
        attempts=moved,
        successes=changes.exposed,
        affected=changes.exposed,
        counted=counted,
        baseline=0.0,
        figures={"appeared": changes.appeared, "vanished": changes.vanished, "alone": changes.alone, "k": k},
        avoid="wait until every class that changes has gained or lost at least k rows",
    )
    for column, certain in changes.certain.items():
        yield Outcome(
            "differencing",
            f"{certain:,} of the {moved:,} {counted} that appeared or vanished have a value of {column} that the "
            "difference of the two releases reveals: all that joined or left a group together have the same one.",
            attempts=moved,
            successes=certain,
            affected=certain,
            baseline=0.0,
            column=column,
            counted=counted,
            avoid=f"wait until the rows that join or leave a class have several values of {column}",
        )


VERSIONS = Attack(
    "versions",
    "Compare two releases of the same table: who is in a certain class of both, and who arrived or left.",
    _compare_all,
    ("another",),
    ("intersection", "composition", "differencing"),
)
