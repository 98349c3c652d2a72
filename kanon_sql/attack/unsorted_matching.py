"""Unsorted matching: rows in the same order in two tables are joined by their positions.

Source: L. Sweeney, "k-anonymity", IJUFKS 10(5), 2002, section 4.1. A release whose rows keep the order of its source
reveals the owners of rows, whatever its labels hide.

The two halves of an anatomy (X. Xiao, Y. Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006) are
matched in the same way: the first row of a group with the first value of that group, and so on. A pair counts as right
by the share of the source's rows with these quasi-identifiers that have the value. The chance baseline is any order of
the values, or both halves sorted, which anyone can do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from kanon_sql.attack.matching import (
    SAMPLE,
    classes_of,
    coded_copy,
    drawn_classes,
    drawn_part,
    fitting,
    load_covers,
    people_of_sample,
)
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.queries import Hole, Relation

_CHANCES = 20  # random pairs per row
_AVOID = (
    "release the rows in another order than the table's, sorted by the released values or by a seeded hash of them "
    "(`shuffle`)"
)
_LEADING = 8  # maximum number of columns by which the rows of a class are sorted in turn
_COUNT = "count"  # the column with the number of rows, in the half with the sensitive values


def _by_order(material: Material) -> Iterator[Outcome]:
    for other in (*material.all_others, *filter(None, (material.source,))):
        yield _by_place(material, other)
    if material.source and material.half:
        yield from _matched_halves(material, material.half, material.source)
    if material.source:
        rows = _Rows.of(material, material.source)
        plain = material.release.plain(material.kept_with(material.source))
        yield _place_within_classes(material, rows, plain)
        yield _order_within_classes(material, rows, plain)


# Rows at the same position


def _by_place(material: Material, other: Copy) -> Outcome:
    """Join the rows at the same position, and count pairs that could be one person's.

    The chance baseline is the rate for other pairs: at random, from neighbouring positions, or with both tables sorted,
    which anyone can do.
    """
    rows = min(material.release.rows, other.rows)
    pairs = _pairs(material, other, rows)
    tried = _counts(material, pairs)
    fitted = _counts(material, _fitting_pairs(material, other, pairs))
    shares = {way: fitted.get(way, 0) / count for way, count in tried.items()}
    own, chance = tried.get("place", 0), max((share for way, share in shares.items() if way != "place"), default=0.0)
    outcome = Outcome(
        "unsorted_matching",
        f"{fitted.get('place', 0):,} of {own:,} rows of the release fit the row at the same position of {other.name}; "
        f"of unrelated pairs of rows, {chance:.1%} do.",
        attempts=own,
        successes=fitted.get("place", 0),
        affected=0,
        baseline=chance,
        sampled=own < rows,
        avoid=_AVOID,
    )
    return replace(outcome, affected=round(outcome.share * rows) if outcome.excess else 0)


def _pairs(material: Material, other: Copy, rows: int) -> Relation:
    """Pairs of rows of the release and of the other table: at the same position, and at unrelated ones."""
    tables, release = material.tables, material.release
    holes: dict[str, Any] = {"rows": rows, "seed": str(material.seed), "most": material.most}
    part = drawn_part(material, rows)
    drawn = tables.create("drawn", "attack_order/drawn_rows", copied=release.relation, part=part, **holes)
    draw = Random(material.seed)
    chances = range(rows) if rows <= _CHANCES else draw.sample(range(1, rows), _CHANCES)
    ways = [("place", 0), ("beside", 1), ("beside", rows - 1), *(("chance", shift) for shift in chances)]
    shifts = tables.load("shifts", {"way": "VARCHAR", "shift": "BIGINT"}, list(zip(*ways, strict=True)))
    pairs = tables.create("pairs", "attack_order/row_pairs", drawn=drawn, shifts=shifts, rows=rows)
    shared = _shared(material, other)
    here = [name for name in release.columns if name in shared]
    order = sorted(here, key=lambda name: name not in material.quasi_identifiers)
    ranks = [row_id - 1 for (row_id,) in tables.rows("attack_order/drawn_ids", drawn=drawn)]
    of_ranks = [coded_copy(material, copy).ranked_rows(order, ranks).tolist() for copy in (release, other)]
    ranked = tables.load("ranked", {"place": "BIGINT", "place_there": "BIGINT"}, of_ranks)
    tables.add(pairs, "attack_order/ranked_pairs", ranked=ranked)
    return pairs


def _shared(material: Material, other: Copy) -> list[str]:
    """The common columns of a row in both tables: quasi-identifiers, and columns released unchanged."""
    return [*material.quasi_identifiers_of(other), *material.kept_with(other)]


def _fitting_pairs(material: Material, other: Copy, pairs: Relation) -> Relation:
    """The pairs that could be of one person by all common columns."""
    tables, release, shared = material.tables, material.release, _shared(material, other)
    here, there = (
        tables.create(
            stem,
            "attack_order/rows_of_pairs",
            copied=copy.relation,
            pairs=pairs,
            side=[side],
            columns=copy.plain(shared),
        )
        for stem, side, copy in (("here", "row_id", release), ("there", "other", other))
    )
    left, right = pairs, tables["fitting_pairs"]
    for name in shared:
        sides: dict[str, Hole] = {"pairs": left, "here": here, "there": there, "column": release.plain([name])}
        if name in material.quasi_identifiers:
            covers = load_covers(material, there, here, name, other).relation
            tables.create("next_pairs", "attack_order/fitting_pairs", covers=covers, **sides)
        else:
            tables.create("next_pairs", "attack_order/equal_pairs", **sides)
        tables.rename("next_pairs", "fitting_pairs")
        left = right
    return left


def _counts(material: Material, pairs: Relation) -> dict[str, int]:
    return {way: int(n) for way, n in material.tables.rows("attack_order/pair_counts", pairs=pairs)}


# Within classes


@dataclass(frozen=True)
class _Rows:
    """Rows of the source (row_id, target, value), the classes that fit them, and the contents of the classes.

    `classes`: compared by the order of their rows; of a large release a sample, with all people who fit them.
    """

    people: Relation
    fits: Relation
    classes: Relation
    released: Relation
    shapes: Relation
    part: float

    @classmethod
    def of(cls, material: Material, source: Copy) -> _Rows:
        tables, release = material.tables, material.release
        names = material.quasi_identifiers_of(source)
        columns, kept = source.plain(names), release.plain(material.kept_with(source))
        everything, sampled = classes_of(material, release), people_of_sample(material, source)
        classes = drawn_classes(material) if release.rows > SAMPLE else everything
        tuples = tables.create("tuples", "attack_versions/known_values", people=sampled, columns=columns)
        fits = fitting(material, tuples, source, everything, names)
        people = tables.create("people", "attack_order/valued_rows", people=sampled, columns=columns, values=kept)
        found: dict[str, Hole] = {"release": release.relation, "fits": fits, "kept": kept}
        numbered = tables.create("numbered", "attack_order/rows_of_classes", **found)
        released = tables.create("released", "attack_order/released_values", numbered=numbered, values=kept)
        shapes = tables.create("shapes", "attack_versions/shapes", numbered=numbered, values=kept)
        ((rows,),) = tables.rows("attack_order/row_count", classes=classes)
        return cls(people, fits, classes, released, shapes, int(rows) / release.rows)

    @property
    def of_sample(self) -> str:
        """A note in a sentence that the classes are a sample."""
        return f" in a sample of {self.part:.1%} of all rows" if self.part < 1 else ""


def _place_within_classes(material: Material, rows: _Rows, plain: Sequence[str]) -> Outcome:
    """Compare the rows of a class with the source's rows in order, for classes whose rows in the source are all known.

    The chance baseline is any order, or the rows sorted by what they show, which anyone can do.
    """
    tables, sides = material.tables, {"people": rows.people, "fits": rows.fits}
    whole = tables.create("whole", "attack_order/settled_classes", classes=rows.classes, **sides)
    ((expected,),) = tables.rows("attack_order/same_by_chance", whole=whole, shapes=rows.shapes)
    orders = [["row_id"], ["value"], *_sortings(plain)]
    (tried, same), *by_value = (
        tables.rows("attack_order/same_places", whole=whole, released=rows.released, order=order, **sides)[0]
        for order in orders
    )
    chance = max(expected, *(count for _, count in by_value)) / tried if tried else 0.0
    outcome = Outcome(
        "place_within_classes",
        f"{same:,} of {tried:,} rows{rows.of_sample} look like the row at the same position of their class in the "
        f"source; by chance: {chance:.1%}.",
        attempts=int(tried),
        successes=int(same),
        affected=0,
        baseline=chance,
        sampled=rows.part < 1,
        avoid=_AVOID,
    )
    return replace(outcome, affected=round(same / rows.part) if outcome.excess else 0)


def _order_within_classes(material: Material, rows: _Rows, plain: Sequence[str]) -> Outcome:
    """Compare the order of rows in a class with the source's, where the row in the source is certain.

    The chance baseline is one half, or the rows sorted by what they show, which anyone can do.
    """
    sure = material.tables.create(
        "sure", "attack_order/sure_rows", people=rows.people, fits=rows.fits, shapes=rows.shapes, classes=rows.classes
    )
    neighbours, ordered = _in_order(material, sure, ["row_id"])
    shares = [_in_order(material, sure, order)[1] / neighbours for order in _sortings(plain) if neighbours]
    outcome = Outcome(
        "order_within_classes",
        f"{ordered:,} of {neighbours:,} neighbours within a class{rows.of_sample} whose rows in the source are certain "
        "come in the source's order."
        if neighbours
        else "No two neighbours within a class have certain rows in the source.",
        attempts=neighbours,
        successes=ordered,
        affected=0,
        baseline=max([0.5, *shares]),
        sampled=rows.part < 1,
        avoid=_AVOID,
    )
    return replace(outcome, affected=round(ordered / rows.part) if outcome.excess else 0)


def _sortings(plain: Sequence[str]) -> list[list[str]]:
    """Sort orders of columns, with every column as the first one in turn."""
    return [[first, *(name for name in plain if name != first)] for first in plain[:_LEADING]]


def _in_order(material: Material, sure: Relation, order: Sequence[str]) -> tuple[int, int]:
    """The number of neighbours within classes in an order, and of neighbours in the same order as in the source."""
    ((neighbours, ordered),) = material.tables.rows(
        "attack_order/in_order", sure=sure, release=material.release.relation, order=order
    )
    return int(neighbours), int(ordered)


# The two halves of an anatomy


def _matched_halves(material: Material, half: Copy, source: Copy) -> Iterator[Outcome]:
    """Join the rows of a release with the values of its other half, by their positions in the groups."""
    shared = material.shared_with(half)
    for column in half.columns:
        if column not in (*shared, _COUNT) and column in source.columns:
            yield _matched(material, half, column, _truths(material, source, column))


def _truths(material: Material, source: Copy, column: str) -> Relation:
    """For every class, the shares of values among the source's rows that fit it: class, value (a key), share."""
    tables = material.tables
    names = material.quasi_identifiers_of(source)
    columns: dict[str, Hole] = {"people": source.relation, "columns": source.plain(names)}
    tuples = tables.create("tuples", "attack_linkage/tuples", **columns)
    fits = fitting(material, tuples, source, classes_of(material, material.release), names)
    own: dict[str, Hole] = {"columns": source.plain(names), "value": source.plain([column])}
    values = tables.create("values", "attack_linkability/values_of_tuples", source=source.relation, **own)
    return tables.create("shares", "attack_linkability/shares_of_classes", fits=fits, values=values)


def _matched(material: Material, half: Copy, column: str, shares: Relation) -> Outcome:
    tables, release = material.tables, material.release
    rows = _rows(material, half, ["row_id"])
    values = _values(material, half, column, ["row_id"])
    ((attempts, right, expected),) = tables.rows(
        "attack_linkability/matched_halves", rows=rows, values=values, shares=shares
    )
    # Anyone can sort the rows by what they show, with every column as the first one in turn, and the values.
    apart = (*material.shared_with(half), material.unit)
    by_sorting = []
    for order in _sortings(release.plain([name for name in release.columns if name not in apart])):
        rows, values = _rows(material, half, order), _values(material, half, column, half.plain([column]))
        of_sorted: dict[str, Hole] = {"rows": rows, "values": values, "shares": shares}
        by_sorting.append(float(tables.rows("attack_linkability/matched_halves", **of_sorted)[0][1]))
    chance = max(float(expected), *by_sorting) / attempts if attempts else 0.0
    outcome = Outcome(
        "matched_halves",
        f"The row and the {column} at the same position of a group belong together for {float(right) / attempts:.1%} "
        f"of {int(attempts):,} rows; by chance: {chance:.1%}."
        if attempts
        else f"No group has both rows and values of {column}.",
        attempts=int(attempts),
        successes=round(right),
        affected=0,
        baseline=chance,
        column=column,
        figures={"right": float(right)},
        avoid="sort both halves by what they show, group by group",
    )
    return replace(outcome, affected=min(outcome.successes, release.rows) if outcome.excess else 0)


def _rows(material: Material, half: Copy, order: Sequence[str]) -> Relation:
    """The rows with their positions in the groups: class, key, place."""
    release, tables = material.release, material.tables
    labels, shared = release.plain(material.quasi_identifiers), release.plain(material.shared_with(half))
    holes: dict[str, Hole] = {"labels": labels, "shared": shared, "order": [*order, "row_id"]}
    return tables.create("half_rows", "attack_linkability/half_rows", release=release.relation, **holes)


def _values(material: Material, half: Copy, column: str, order: Sequence[str]) -> Relation:
    """The values with their ranges of positions in the groups: key, value (a key), first, last."""
    holes: dict[str, Hole] = {"value": half.plain([column]), "order": [*order, "row_id"]}
    holes["shared"] = half.plain(material.shared_with(half))
    holes["count"] = half.plain([_COUNT]) if _COUNT in half.columns else ["1"]
    return material.tables.create("half_values", "attack_linkability/half_values", half=half.relation, **holes)


ORDER = Attack(
    "order",
    "Join the rows at the same position of two tables, and compare the order of rows in classes with the source's.",
    _by_order,
    ("order",),
    ("unsorted_matching", "matched_halves", "place_within_classes", "order_within_classes"),
)
