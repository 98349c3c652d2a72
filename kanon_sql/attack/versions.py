"""Comparison of two releases of one table: what they reveal together and neither reveals alone.

Sources: L. Sweeney, "k-anonymity", IJUFKS 10(5), 2002, sections 4.2 and 4.3 (complementary and temporal releases);
S. Ganta, S. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy", KDD 2008;
J. Byun, Y. Sohn, E. Bertino, N. Li, "Secure anonymization for incremental datasets", SDM 2006 (by difference).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.attack.matching import classes_of, fitting
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.engines.scratch import Scratch
from kanon_sql.queries import Hole, Relation

_SIDES = ("first", "second")


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
    two = _Two.of(material, other)
    if material.source and other is not material.previous:
        return Comparison(two.k, *_by_source(two))
    overlaps = _overlaps(two)
    changes = _changes(two, overlaps)
    if material.source:
        return Comparison(two.k, *_by_source(two), changes)
    below, composed = _by_labels(two, overlaps)
    if changes.appeared or changes.vanished:
        below, composed = below.uncertain(), {name: found.uncertain() for name, found in composed.items()}
    return Comparison(two.k, below, composed, changes)


@dataclass(frozen=True)
class _Two:
    """Two releases, the other one first: their classes, their rows with class numbers, and their common columns."""

    material: Material
    other: Copy
    classes: tuple[Relation, Relation]
    numbered: tuple[Relation, Relation]
    kept: tuple[str, ...]
    k: int

    @classmethod
    def of(cls, material: Material, other: Copy) -> _Two:
        releases = (other, material.release)
        kept = material.kept_with(other)
        numbered = [_classes(material, release, kept, stem) for release, stem in zip(releases, _SIDES, strict=True)]
        smallest = min(_smallest(material, release) for release in releases)
        k = max(2, min(smallest, material.k or smallest))
        (first, first_rows), (second, second_rows) = numbered
        return cls(material, other, (first, second), (first_rows, second_rows), kept, k)

    def values(self, columns: Sequence[str]) -> tuple[Relation, Relation]:
        """The combinations of values of columns in the classes of both releases: class, value, n."""
        plain, tables = self.material.release.plain(columns), self.material.tables
        first, second = (
            tables.create(f"{stem}_values", "attack_versions/shapes", numbered=rows, values=plain)
            for stem, rows in zip(("first", "second"), self.numbered, strict=True)
        )
        return first, second

    @property
    def people(self) -> bool:
        """Whether both releases show the owners of rows, so that arrivals and departures count people."""
        return bool(self.other.unit and self.material.release.unit)

    def values_of_people(self, columns: Sequence[str]) -> tuple[Relation, Relation]:
        """The same for every person: class, value, person, n."""
        release, tables = self.material.release, self.material.tables
        holes: dict[str, Hole] = {"values": release.plain(columns), "unit": release.unit}
        first, second = (
            tables.create(f"{stem}_values_of_people", "attack_versions/shapes_of_people", numbered=rows, **holes)
            for stem, rows in zip(_SIDES, self.numbered, strict=True)
        )
        return first, second

    @property
    def sensitive(self) -> list[str]:
        """The sensitive columns that both releases have."""
        return [name for name in self.material.sensitive if name in self.kept]


def _classes(material: Material, release: Copy, kept: Sequence[str], stem: str) -> tuple[Relation, Relation]:
    """The classes of a release, and its rows with the numbers of their classes."""
    labels, classes = release.plain(material.quasi_identifiers), classes_of(material, release, f"{stem}_classes")
    shown = [*release.plain(kept), *release.unit]
    holes: dict[str, Hole] = {"release": release.relation, "labels": labels, "kept": shown}
    return classes, material.tables.create(f"{stem}_rows", "attack_versions/numbered", **holes)


def _smallest(material: Material, release: Copy) -> int:
    labels = release.plain(material.quasi_identifiers)
    if release.unit:
        holes: dict[str, Hole] = {"labels": labels, "unit": release.unit}
        ((people,),) = material.tables.rows("attack_versions/smallest_class", release=release.relation, **holes)
        return int(people or 0)
    sizes = material.tables.rows("release/class_sizes", release=release.relation, quasi_identifiers=labels)
    return int(sizes[0][0]) if sizes else 0


# With the source


def _by_source(two: _Two) -> tuple[Intersection, dict[str, Intersection]]:
    """Compare by placing the source's people in the classes that fit them."""
    material, tables = two.material, two.material.tables
    source = material.source
    assert source
    names = [name for name in material.quasi_identifiers if name in source.columns]
    tuples = tables.create(
        "tuples", "attack_versions/known_values", people=source.relation, columns=source.plain(names)
    )
    first, second = (
        fitting(material, tuples, source, classes, names, f"{stem}_fits")
        for stem, classes in zip(("first", "second"), two.classes, strict=True)
    )
    members = _members(two, source, tuples, names)
    pairs = tables.create("pairs", "attack_versions/in_both", members=members, first=first, second=second)
    cells = tables.create("cells", "attack_versions/cells", pairs=pairs)
    tables.create("in_cells", "attack_versions/in_cells", pairs=pairs, cells=cells)
    composed = {name: _composed(two, source, names, name) for name in two.sensitive}
    return _narrowed(two), composed


def _members(two: _Two, source: Copy, tuples: Relation, names: Sequence[str]) -> Relation:
    """The people behind the known values: target, person, n. One person can be behind several targets."""
    tables = two.material.tables
    if not source.unit:
        return tables.create("members", "attack_versions/members", tuples=tuples)
    holes: dict[str, Hole] = {"columns": source.plain(names), "unit": source.unit}
    return tables.create("members", "attack_versions/members_of_people", people=source.relation, **holes)


def _narrowed(two: _Two) -> Intersection:
    """People in groups of at least k in both releases, and of fewer in both together."""
    tables, k = two.material.tables, two.k
    pairs, in_cells, members = tables["pairs"], tables["in_cells"], tables["members"]
    first, second = (
        tables.create(f"{side}_hidden", "attack_versions/hidden", fits=pairs, **{"class": [side]}) for side in _SIDES
    )
    both = tables.create("both_hidden", "attack_versions/hidden", fits=in_cells, **{"class": ["class"]})
    narrowed = tables.create("narrowed", "attack_versions/narrowed", first=first, second=second, both=both, k=k)
    candidates = tables.create("candidates", "attack_versions/company", narrowed=narrowed, fits=in_cells)
    ((people,),) = tables.rows("attack_versions/hidden_in_both", first=first, second=second, members=members, k=k)
    ((below, alone),) = tables.rows("attack_versions/below", candidates=candidates, members=members, k=k)
    return Intersection(int(people), int(below), int(alone))


def _composed(two: _Two, source: Copy, names: Sequence[str], column: str) -> Intersection:
    """People whose value is revealed by both releases together, and by neither alone."""
    tables = two.material.tables
    values = two.values([column])
    common = tables.create(
        "common", "attack_versions/common_values", cells=tables["cells"], first=values[0], second=values[1]
    )
    possible = {
        side: tables.create(
            f"{side}_told", "attack_versions/possible_values", fits=tables["pairs"], values=value, **{"class": [side]}
        )
        for side, value in zip(_SIDES, values, strict=True)
    }
    both = _possible_values(tables, "class", tables["in_cells"], common)
    if column in source.columns:
        holes: dict[str, Any] = {"columns": source.plain(names), "values": source.plain([column])}
        holes |= {"unit": source.unit} if source.unit else {}
        query = "attack_versions/own_values_of_people" if source.unit else "attack_versions/own_values"
        own = tables.create("own", query, people=source.relation, **holes)
    else:
        own = tables.create("own", "attack_versions/believed_values", members=tables["members"], both=both)
    ((people, found),) = tables.rows("attack_versions/composed", own=own, both=both, **possible)
    return Intersection(int(people), int(found))


def _possible_values(tables: Scratch, side: str, fits: Relation, values: Relation) -> Relation:
    """The number of possible values of every target in the classes of one side that fit, and one of the values."""
    holes: dict[str, Hole] = {"fits": fits, "values": values, "class": [side]}
    return tables.create(f"{side}_told", "attack_versions/possible_values", **holes)


# By the labels alone


def _overlaps(two: _Two) -> Relation:
    """The classes of both releases that can have people in common, by their labels: target (of the first), class."""
    material = two.material
    labels = material.release.plain(material.quasi_identifiers)
    targets = material.tables.create(
        "class_targets", "attack_versions/class_targets", classes=two.classes[0], labels=labels
    )
    return fitting(material, targets, material.release, two.classes[1], stem="overlaps")


def _by_labels(two: _Two, overlaps: Relation) -> tuple[Intersection, dict[str, Intersection]]:
    """Bounds from the classes that can have people in common, and from their common values."""
    tables, people = two.material.tables, min(two.material.release.rows, two.other.rows)
    sizes = dict(zip(_SIDES, two.classes, strict=True))
    bounds = _bounds(two, overlaps, two.values(two.kept))
    ((least, most, alone),) = tables.rows("attack_versions/bounded_below", bounds=bounds, k=two.k, **sizes)
    composed = {}
    for name in two.sensitive:
        first, second = values = two.values([name])
        of_column = _bounds(two, overlaps, values)
        ((certain, at_most),) = tables.rows(
            "attack_versions/bounded_composed", bounds=of_column, first=first, second=second
        )
        composed[name] = Intersection(people, int(certain), at_most=min(people, int(at_most)))
    return Intersection(people, int(least), int(alone), min(people, int(most))), composed


def _bounds(two: _Two, overlaps: Relation, values: tuple[Relation, Relation]) -> Relation:
    first, second = values
    return two.material.tables.create(
        "bounds", "attack_versions/shared_bounds", overlaps=overlaps, first=first, second=second
    )


def _changes(two: _Two, overlaps: Relation) -> Changes:
    """Arrivals and departures in groups of classes that have no people in common with classes outside."""
    tables, groups = two.material.tables, _groups(two, overlaps)
    changes = _changed(two, groups, two.kept)
    if two.people:
        moves = _moved(two, groups, two.kept, changes)
        found = tables.rows("attack_versions/exposed_people", moves=moves, k=two.k)
    else:
        found = tables.rows("attack_versions/exposed", changes=changes, k=two.k)
    ((appeared, vanished, exposed, alone, stayed),) = found
    certain = {name: _certain(two, groups, name) for name in two.sensitive}
    return Changes(int(appeared), int(vanished), int(exposed), int(alone), certain, int(stayed))


def _certain(two: _Two, groups: Relation, column: str) -> int:
    tables, changes = two.material.tables, _changed(two, groups, [column])
    if two.people:
        moves = _moved(two, groups, [column], changes)
        found = tables.rows("attack_versions/certain_people", changes=changes, moves=moves)
    else:
        found = tables.rows("attack_versions/certain", changes=changes)
    ((certain,),) = found
    return int(certain)


def _moved(two: _Two, groups: Relation, columns: Sequence[str], changes: Relation) -> Relation:
    """Every person's rows that arrived, left and stayed."""
    before, after = two.values_of_people(columns)
    holes: dict[str, Hole] = {"groups": groups, "before": before, "after": after, "changes": changes}
    return two.material.tables.create("moves", "attack_versions/moves_of_people", **holes)


def _changed(two: _Two, groups: Relation, columns: Sequence[str]) -> Relation:
    before, after = two.values(columns)
    return two.material.tables.create("changes", "attack_versions/changes", groups=groups, before=before, after=after)


def _groups(two: _Two, overlaps: Relation) -> Relation:
    """The smallest groups of classes of both releases that must have the same people: node, part."""
    tables = two.material.tables
    links = tables.create("links", "attack_versions/links", overlaps=overlaps)
    groups, other = tables.pair("groups")
    first, second = two.classes
    tables.create(groups, "attack_versions/own_groups", first=first, second=second)
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
