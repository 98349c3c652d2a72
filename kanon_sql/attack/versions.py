"""Comparison of two releases of one table: what they reveal together and neither reveals alone.

Sources: L. Sweeney, "k-anonymity", IJUFKS 10(5), 2002, sections 4.2 and 4.3 (complementary and temporal releases);
S. Ganta, S. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy", KDD 2008;
J. Byun, Y. Sohn, E. Bertino, N. Li, "Secure anonymization for incremental datasets", SDM 2006 (by difference).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log1p

from kanon_sql import queries
from kanon_sql.attack.blocks import People
from kanon_sql.attack.matching import fitting
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.engines.scratch import Scratch
from kanon_sql.queries import Hole, Relation

# Types of values that are equal where their texts are, by kind; all others are compared as text.
_SAME_AS_TEXT = {"integer": "HUGEINT", "date": "DATE", "boolean": "BOOLEAN"}
_BUCKET_ROWS = 32  # of a release, so that only the rows in buckets that differ are compared by their keys
_MOST_DIFFERENCES = 3_000_000  # of releases that are compared together
_SIDES = {"first": "before", "second": "after"}  # the earlier releases and the new one; the column of their rows


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
class JointExposure:
    """Two releases of one table: how many people they expose together, for the `k` that both satisfy.

    `below_k`: people in groups of fewer than k in both together. `composed`: by sensitive column, people whose value is
    revealed. `changes`: None if the other release is not an earlier one and there is a source.
    """

    k: int
    below_k: Intersection
    composed: Mapping[str, Intersection]
    changes: Changes | None = None


def compared(material: Material, other: Copy) -> JointExposure:
    """Compare `material.release` with another release of the same table, such as an earlier one, in counts.

    With a source, its people are placed in the classes that fit, and counted exactly. Without one, classes are matched
    by the values that their labels cover, and the counts are bounds; they are not certain if rows arrived or
    left. k is the largest that both releases satisfy, at most `material.k` and at least 2.
    """
    versions = Versions(material, material.kept_with(other))
    versions.add(other)
    if material.source:
        (comparison,) = versions.compared(People.of(material), other is material.previous, everybody=True)
        return comparison
    sides = versions.sides()
    overlaps = _overlaps(sides)
    (changes,) = _changes(sides, _groups(sides, overlaps))
    below, composed = _by_labels(sides, overlaps, min(material.release.rows, other.rows))
    if changes.appeared or changes.vanished:
        below, composed = below.uncertain(), {name: found.uncertain() for name, found in composed.items()}
    return JointExposure(sides.limits[0], below, composed, changes)


class Versions:
    """Releases of a table that `material.release` is compared with, all by the same statements.

    Of each of them only the rows are kept that it has more often or less often than the new release, which are few from
    one night to another. All other rows are in both, so they neither came nor left; and what both releases reveal
    together depends on a class only if one of them lacks it, or if its values differ. Equal rows have equal keys of 64
    bits, and buckets of equal rows equal sums of keys; others are equal by a chance of 1 in 2 ** 64.

    `kept`: the columns that all of them and the new release show unchanged; all have a unit column, or none.
    """

    def __init__(self, material: Material, kept: Sequence[str]) -> None:
        release = material.release
        self._material = material
        self._kept = tuple(kept)
        self._types = dict.fromkeys(release.plain(material.quasi_identifiers), "VARCHAR")
        self._types |= {release.columns[name]: _SAME_AS_TEXT.get(release.kinds[name], "VARCHAR") for name in kept}
        self._added: list[Copy] = []

    def add(self, other: Copy) -> None:
        """Add a release; its rows have owners if the rows of earlier ones have them."""
        if not self._added and other.unit:
            self._types |= dict.fromkeys(self._material.release.unit, "VARCHAR")
        self._added.append(other)

    def compared(
        self, people: People, changes: bool, everybody: bool = False, same_classes: bool = False
    ) -> list[JointExposure]:
        """Compare each of the releases with the new one, by the people of the source.

        `changes`: whether they are earlier releases, so that arrivals and departures are counted as well. `everybody`:
        whether `Intersection.people` counts all, and not only those near a class that differs. `same_classes`: whether
        the same rule put people into the classes of all releases, so that no person with unchanged quasi-identifiers
        moves between classes, even if their labels overlap.
        """
        if self._find_buckets() > _MOST_DIFFERENCES and len(self._added) > 1:
            half = len(self._added) // 2
            halves = [self._of(self._added[:half]), self._of(self._added[half:])]
            options = (people, changes, everybody, same_classes)
            return [comparison for half_of in halves for comparison in half_of.compared(*options)]
        sides = self._sides()
        moved: Sequence[Changes | None] = [None] * len(self._added)
        if changes:
            moved = _changes(sides, _no_groups(sides) if same_classes else _groups(sides, _overlaps(sides)))
        found = zip(sides.limits, *_by_source(sides, people, everybody), moved, strict=True)
        return [JointExposure(k, below, composed, change) for k, below, composed, change in found]

    def _of(self, added: Sequence[Copy]) -> Versions:
        versions = Versions(self._material, self._kept)
        for copy in added:
            versions.add(copy)
        return versions

    @property
    def _buckets(self) -> int:
        return 1 + max(copy.rows for copy in (self._material.release, *self._added)) // _BUCKET_ROWS

    def _find_buckets(self) -> float:
        """Compare each release with the one before by sums of keys, because successive ones have most rows in common.

        Returns about how many differences from the new release all of them have: if n buckets differ of m, about
        -m log(1 - n / m) rows do.
        """
        tables, copies = self._material.tables, [self._material.release, *self._added]
        keyed = [queries.keyed_rows(copy.relation, place, self._types) for place, copy in enumerate(copies)]
        tables.view("new_rows", keyed[0])
        every = tables.view("keyed_rows", queries.union_all(keyed))
        sums = tables.create("bucket_sums", "attack_versions/bucket_sums", keyed=every, buckets=self._buckets)
        releases = len(self._added)
        tables.create("differing_buckets", "attack_versions/differing_buckets", sums=sums, releases=releases)
        counts = tables.rows("attack_versions/differing_bucket_counts", differing=tables["differing_buckets"])
        differences = 0.0
        for release, number in counts:
            share = number / self._buckets
            steps = -self._buckets * log1p(-share) if share < 1 else 2 * _BUCKET_ROWS * self._buckets
            differences += (releases - release) * steps
        return differences

    def sides(self) -> _Sides:
        """The classes of the added releases and of the new one, and how they differ."""
        self._find_buckets()
        return self._sides()

    def _sides(self) -> _Sides:
        material, tables = self._material, self._material.tables
        labels = material.release.plain(material.quasi_identifiers)
        others = [name for name in self._types if name not in labels]
        listed = self._find_differences()
        classes = tables.create("version_classes", "attack_versions/classes", listed=listed, labels=labels)
        query = queries.classed_rows(listed, ["row_key", *others, "n"], classes, labels)
        classed = tables.view("classed_rows", query)
        numbered = tables.create("numbered_rows", "attack_versions/numbered_rows", classed=classed, columns=others)
        rows: dict[str, Hole] = {"differences": tables["differences"], "numbered": numbered}
        tables.create("changed_classes", "attack_versions/changed_classes", classes=classes, **rows)
        both = bool(material.release.unit and self._added[0].unit)
        sides = _Sides(material, self._kept, len(self._added), material.release.unit if both else ())
        limits = [max(2, min(size, material.k or size)) for size in self._smallest_classes(sides)]
        tables.load("limits", {"release": "INTEGER", "k": "BIGINT"}, [[*range(len(limits))], limits])
        return replace(sides, limits=limits)

    def _find_differences(self) -> Relation:
        """The rows of the new release, and the rows that it no longer has, after finding the differences."""
        tables, columns = self._material.tables, [*self._types]
        keyed: dict[str, Hole] = {"keyed": tables["keyed_rows"]}
        differing, new = tables["differing_buckets"], tables["new_rows"]
        steps = tables.create("steps", "attack_versions/steps", differing=differing, buckets=self._buckets, **keyed)
        releases = tables.load("releases", {"release": "INTEGER"}, [[*range(len(self._added))]])
        counted = tables.create("row_counts", "attack_versions/row_counts", keyed=new)
        differences = tables.create(
            "differences", "attack_versions/differences", releases=releases, steps=steps, counted=counted
        )
        tables.drop(steps, counted)
        older = tables.create(
            "older_rows", "attack_versions/older_rows", differences=differences, columns=columns, **keyed
        )
        text = tables.text("attack_versions/all_rows", keyed=new, older=older, columns=columns)
        return tables.view("all_rows", text)

    def _smallest_classes(self, sides: _Sides) -> list[int]:
        """The size of the smallest class of each release and the new one; classes that did not change are in both."""
        new = self._smallest_class(self._material.release)
        if len(self._added) == 1:
            return [min(new, self._smallest_class(self._added[0]))]
        if sides.unit:
            found = sides.figures(
                "attack_versions/smallest_changed_classes_of_people", 1, values=sides.changed_values(sides.unit)
            )
        else:
            found = sides.figures("attack_versions/smallest_changed_classes", 1, changed=sides["changed_classes"])
        smallest = [min(new, size or new) for (size,) in found]
        return [size if copy.rows else 0 for size, copy in zip(smallest, self._added, strict=True)]

    def _smallest_class(self, copy: Copy) -> int:
        """In people if the copy shows the owners of rows, otherwise in rows; 0 without rows."""
        holes: dict[str, Hole] = {"copy": copy.relation, "labels": copy.plain(self._material.quasi_identifiers)}
        if copy.unit:
            ((size,),) = self._material.tables.rows("attack_versions/smallest_class_of_people", unit=copy.unit, **holes)
        else:
            ((size,),) = self._material.tables.rows("attack_versions/smallest_class", **holes)
        return int(size or 0)


@dataclass(frozen=True)
class _Sides:
    """The earlier releases and the new one, in tables of their classes and different rows.

    `kept`: their common columns. `releases`: the number of earlier ones; `limits`: for each of them its k. `unit`: the
    unit column if all show the owners of rows, so that arrivals and departures count people.
    """

    material: Material
    kept: tuple[str, ...]
    releases: int
    unit: tuple[str, ...]
    limits: Sequence[int] = ()

    def __getitem__(self, stem: str) -> Relation:
        """A table of the comparison."""
        return self.material.tables[stem]

    def holes(self, *stems: str) -> dict[str, Hole]:
        """Tables of the comparison as holes of queries."""
        tables = {
            "changed": "changed_classes",
            "classes": "version_classes",
            "differences": "differences",
            "limits": "limits",
            "numbered": "numbered_rows",
            "parts": "parts",
        }
        return {stem: self[tables[stem]] for stem in stems}

    @property
    def sensitive(self) -> list[str]:
        """The sensitive columns that all releases have."""
        return [name for name in self.material.sensitive if name in self.kept]

    @property
    def labels(self) -> list[str]:
        """The plain names of the quasi-identifiers."""
        return self.material.release.plain(self.material.quasi_identifiers)

    def labels_of(self, name: str) -> list[str | None]:
        """The labels of a quasi-identifier in all releases."""
        plain = self.material.release.plain([name])
        rows = self.material.tables.rows("attack_matching/labels", label=plain, **self.holes("classes"))
        return [label for (label,) in rows]

    def class_values(self, value: Sequence[str]) -> Relation:
        """The values of a column, by its plain name, in the classes of the new release: class, value (a key), n."""
        return self.material.tables.create(
            "class_values", "attack_versions/class_values", value=value, **self.holes("numbered")
        )

    def changed_values(self, value: Sequence[str]) -> Relation:
        """How many values of a column the changed classes have in both releases, and in one of them alone."""
        return self.material.tables.create(
            "changed_values",
            "attack_versions/changed_values",
            value=value,
            values=self.class_values(value),
            **self.holes("differences", "numbered"),
        )

    def values(self, columns: Sequence[str], near: Relation) -> tuple[Relation, Relation]:
        """The combinations of values of columns in some classes of both sides: release, class, value, n."""
        tables, plain = self.material.tables, self.material.release.plain(columns)
        rows = self.holes("differences", "numbered")
        both = tables.create("version_values", "attack_versions/values", near=near, values=plain, **rows)
        first, second = (
            tables.create(f"{stem}_values", "attack_versions/values_of_side", values=both, side=[side])
            for stem, side in _SIDES.items()
        )
        return first, second

    def all_classes(self) -> Relation:
        """All classes for each earlier release."""
        return self.material.tables.create("near", "attack_versions/all_classes", **self.holes("classes", "limits"))

    def figures(self, query: str, number: int, /, **holes: Hole) -> list[tuple[int, ...]]:
        """So many figures of each of the first releases, by a query that begins with its number; 0 without a row."""
        rows = self.material.tables.rows(query, **holes)
        found = {int(release): tuple(map(int, figures)) for release, *figures in rows}
        return [found.get(release, (0,) * number) for release in range(self.releases)]


# With the source


def _by_source(
    sides: _Sides, people: People, everybody: bool
) -> tuple[list[Intersection], list[dict[str, Intersection]]]:
    """Compare by placing the source's people in the classes that fit them."""
    tables, suspects = sides.material.tables, _suspects(sides)
    people.read_labels({name: sides.labels_of(name) for name in people.shared})
    if not everybody and not tables.count(suspects):
        none = Intersection(0, 0)
        return [none] * sides.releases, [dict.fromkeys(sides.sensitive, none)] * sides.releases
    fits = people.fits(sides["version_classes"])
    if everybody:
        near = sides.all_classes()
    else:  # all classes of the people who fit a suspect class
        targets = tables.create("near_targets", "attack_versions/near_targets", suspects=suspects, fits=fits)
        near = tables.create("near", "attack_versions/near_classes", targets=targets, fits=fits)
    first, second = (
        tables.create(
            f"{stem}_fits",
            "attack_versions/fits_of_side",
            near=near,
            fits=fits,
            side=[side],
            **sides.holes("changed", "classes"),
        )
        for stem, side in _SIDES.items()
    )
    pairs = tables.create("pairs", "attack_versions/in_both", members=people.members, first=first, second=second)
    cells = tables.create("cells", "attack_versions/cells", pairs=pairs)
    tables.create("in_cells", "attack_versions/in_cells", pairs=pairs, cells=cells)
    composed = {name: _composed(sides, people, name, near) for name in sides.sensitive}
    return _narrowed(sides), [{name: found[n] for name, found in composed.items()} for n in range(sides.releases)]


def _suspects(sides: _Sides) -> Relation:
    """The classes needed to find anyone: release, class.

    All classes that fit any other person are in both releases, and each of them has the same values in both, or at
    least two values that both have. So the person is among as many people in a class of both together as in the class
    alone, and can have as many values; or at least two.
    """
    tables = sides.material.tables
    suspects = tables.create("suspects", "attack_versions/classes_of_one", **sides.holes("changed"))
    for name in sides.sensitive:
        values = sides.changed_values(sides.material.release.plain([name]))
        tables.add(suspects, "attack_versions/classes_of_few_values", values=values)
    return suspects


def _narrowed(sides: _Sides) -> list[Intersection]:
    """People in groups of at least k in both releases, and of fewer in both together."""
    tables = sides.material.tables
    pairs, in_cells, members, limits = (tables[stem] for stem in ("pairs", "in_cells", "members", "limits"))
    first, second = (
        tables.create(f"{stem}_hidden", "attack_versions/hidden", fits=pairs, **{"class": [stem]}) for stem in _SIDES
    )
    both = tables.create("both_hidden", "attack_versions/hidden", fits=in_cells, **{"class": ["class"]})
    hidden: dict[str, Hole] = {"first": first, "second": second, "limits": limits}
    narrowed = tables.create("narrowed", "attack_versions/narrowed", both=both, **hidden)
    candidates = tables.create("candidates", "attack_versions/company", narrowed=narrowed, fits=in_cells)
    people = sides.figures("attack_versions/hidden_in_both", 1, members=members, **hidden)
    below = sides.figures("attack_versions/below", 2, candidates=candidates, members=members, limits=limits)
    return [Intersection(many, few, alone) for (many,), (few, alone) in zip(people, below, strict=True)]


def _composed(sides: _Sides, people: People, column: str, near: Relation) -> list[Intersection]:
    """People whose value is revealed by both releases together, and by neither alone."""
    tables = sides.material.tables
    values = sides.values([column], near)
    common = tables.create(
        "common", "attack_versions/common_values", cells=tables["cells"], first=values[0], second=values[1]
    )
    possible = {
        stem: _possible_values(tables, stem, tables["pairs"], of_side)
        for stem, of_side in zip(_SIDES, values, strict=True)
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
    material, tables, classes = sides.material, sides.material.tables, sides["version_classes"]
    targets = tables.create(
        "earlier_classes",
        "attack_versions/earlier_classes",
        labels=sides.labels,
        releases=sides.releases,
        **sides.holes("changed", "classes"),
    )
    new = tables.create("new_classes", "attack_versions/new_classes", classes=classes, labels=sides.labels)
    return fitting(material, targets, material.release, new, stem="overlaps")


def _by_labels(sides: _Sides, overlaps: Relation, people: int) -> tuple[Intersection, dict[str, Intersection]]:
    """Bounds from the classes of two releases that can have people in common, and from their common values."""
    tables, (k,), near = sides.material.tables, sides.limits, sides.all_classes()
    first, second = values = sides.values(sides.kept, near)
    bounds = _bounds(sides, overlaps, values)
    ((least, most, alone),) = tables.rows(
        "attack_versions/bounded_below", bounds=bounds, k=k, first=first, second=second
    )
    composed = {}
    for name in sides.sensitive:
        first, second = values = sides.values([name], near)
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


def _changes(sides: _Sides, groups: Relation) -> list[Changes]:
    """Arrivals and departures in groups of classes that have no people in common with classes outside.

    A group without a changed class has the same rows in both releases, so only the others are examined.
    """
    tables = sides.material.tables
    tables.create("parts", "attack_versions/changed_parts", groups=groups, **sides.holes("changed"))
    if sides.unit:
        owners = sides.class_values(sides.unit)
        tables.create("people_of_parts", "attack_versions/people_of_parts", values=owners, **sides.holes("parts"))
    changes = _changed(sides, sides.kept)
    if sides.unit:
        holes: dict[str, Hole] = {"moves": _moved(sides, sides.kept, changes), "people": sides["people_of_parts"]}
        found = sides.figures("attack_versions/exposed_people", 5, **holes, **sides.holes("limits"))
    else:
        holes = {"changes": changes, **sides.holes("classes", "limits", "parts")}
        found = sides.figures("attack_versions/exposed", 5, **holes)
    certain = {name: _certain(sides, name) for name in sides.sensitive}
    return [
        Changes(
            appeared, vanished, exposed, alone, {name: of_release[n] for name, of_release in certain.items()}, stayed
        )
        for n, (appeared, vanished, exposed, alone, stayed) in enumerate(found)
    ]


def _certain(sides: _Sides, column: str) -> list[int]:
    tables, changes, value = sides.material.tables, _changed(sides, [column]), sides.material.release.plain([column])
    holes: dict[str, Hole] = {"value": value, "values": sides.class_values(value), **sides.holes("parts")}
    certain = tables.create("certain_parts", "attack_versions/certain_parts", changes=changes, **holes)
    if sides.unit:
        moves = _moved(sides, [column], changes)
        found = sides.figures("attack_versions/certain_people", 1, certain=certain, moves=moves)
    else:
        found = sides.figures("attack_versions/certain", 1, certain=certain)
    return [rows for (rows,) in found]


def _moved(sides: _Sides, columns: Sequence[str], changes: Relation) -> Relation:
    """The rows that arrived, left and stayed of every person with other rows in both releases."""
    return sides.material.tables.create(
        "moves",
        "attack_versions/moves_of_people",
        changes=changes,
        people=sides["people_of_parts"],
        unit=sides.unit,
        values=sides.material.release.plain(columns),
        **sides.holes("differences", "numbered", "parts"),
    )


def _changed(sides: _Sides, columns: Sequence[str]) -> Relation:
    values, rows = sides.material.release.plain(columns), sides.holes("differences", "numbered", "parts")
    return sides.material.tables.create("changes", "attack_versions/changes", values=values, **rows)


def _groups(sides: _Sides, overlaps: Relation) -> Relation:
    """The smallest groups of linked classes of two releases that must have the same people: release, node, part."""
    tables = sides.material.tables
    crossings = tables.create(
        "crossings", "attack_versions/crossings", overlaps=overlaps, **sides.holes("changed", "classes", "limits")
    )
    links = tables.create("links", "attack_versions/links", crossings=crossings)
    groups, other = tables.pair("groups")
    tables.create(groups, "attack_versions/own_groups", links=links)
    before, now = 1, 0
    while now != before:
        tables.create(other, "attack_versions/joined_groups", groups=groups, links=links)
        tables.create(groups, "attack_versions/followed_groups", groups=other)
        before = now
        ((now,),) = tables.rows("attack_versions/groups_sum", groups=groups)
    return groups


def _no_groups(sides: _Sides) -> Relation:
    """No links between classes, so that each is a group."""
    tables = sides.material.tables
    links = tables.load("links", dict.fromkeys(["release", "node", "other"], "INTEGER"), [[], [], []])
    return tables.create("groups", "attack_versions/own_groups", links=links)


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


def _intersection(material: Material, comparison: JointExposure, other: Copy) -> Outcome:
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
