"""Unsorted matching: rows that come in the same order in two tables are joined by their places.

Source: L. Sweeney, "k-anonymity", IJUFKS 10(5), 2002, section 4.1. A release whose rows keep the order of its source
tells which row is whose, whatever its labels hide.

The two halves of an anatomy (X. Xiao, Y. Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006) are
matched in the same way: the first row of a group with the first value of that group, and so on. A pair is right in the
share of the source's rows with these quasi-identifiers that have the value. Chance is what any order of the values
gives, or both halves sorted, as anyone can sort them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from kanon_sql.attack.matching import classes_of, fitting, load_covers
from kanon_sql.attack.material import Attack, Copy, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.queries import Hole, Relation

_CHANCES = 20  # other rows that each row is paired with
_AVOID = (
    "release the rows in an order of their own, sorted by what is released or by a seeded hash of it (`shuffle`), not "
    "in the order of the table"
)
_LEADING = 8  # columns by each of which the rows of a class are sorted, at most
_COUNT = "count"  # the column of the half with the sensitive values that says how many rows have one


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


# Rows at the same place


def _by_place(material: Material, other: Copy) -> Outcome:
    """Join the rows at the same place, and see whether they could be one person's.

    Chance is what rows that do not belong together give: at random, next to it, or when both tables are sorted, as
    anyone can.
    """
    rows = min(material.release.rows, other.rows)
    pairs = _pairs(material, other, rows)
    tried = _counts(material, pairs)
    fitted = _counts(material, _fitting_pairs(material, other, pairs))
    shares = {way: fitted.get(way, 0) / count for way, count in tried.items()}
    own, chance = tried.get("place", 0), max((share for way, share in shares.items() if way != "place"), default=0.0)
    outcome = Outcome(
        "unsorted_matching",
        f"{fitted.get('place', 0):,} of {own:,} rows of the release fit the row at the same place of {other.name}; "
        f"of rows that do not belong together {chance:.1%} do.",
        attempts=own,
        successes=fitted.get("place", 0),
        affected=0,
        baseline=chance,
        sampled=own < rows,
        avoid=_AVOID,
    )
    return replace(outcome, affected=round(outcome.share * rows) if outcome.excess else 0)


def _pairs(material: Material, other: Copy, rows: int) -> Relation:
    """Rows of the release and of the other table: at the same place, and in ways that mean nothing."""
    tables, release = material.tables, material.release
    holes: dict[str, Any] = {"rows": rows, "seed": str(material.seed), "most": material.most}
    drawn = tables.create("drawn", "attack_order/drawn_rows", copied=release.relation, **holes)
    draw = Random(material.seed)
    chances = range(rows) if rows <= _CHANCES else draw.sample(range(1, rows), _CHANCES)
    ways = [("place", 0), ("beside", 1), ("beside", rows - 1), *(("chance", shift) for shift in chances)]
    shifts = tables.load("shifts", {"way": "VARCHAR", "shift": "BIGINT"}, list(zip(*ways, strict=True)))
    pairs = tables.create("pairs", "attack_order/row_pairs", drawn=drawn, shifts=shifts, rows=rows)
    shared = _shared(material, other)
    here = [name for name in release.columns if name in shared]
    order = sorted(here, key=lambda name: name not in material.quasi_identifiers)
    columns = {"columns": release.plain(order), "columns_there": other.plain(order)}
    tables.add(
        pairs, "attack_order/ranked_pairs", drawn=drawn, copied=release.relation, other=other.relation, **columns
    )
    return pairs


def _shared(material: Material, other: Copy) -> list[str]:
    """The columns that both tables tell of a row: quasi-identifiers, and what is kept as it is."""
    shown = [name for name in material.quasi_identifiers if name in other.columns]
    return [*shown, *material.kept_with(other)]


def _fitting_pairs(material: Material, other: Copy, pairs: Relation) -> Relation:
    """The pairs that may be of one person by all that both tables tell."""
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
            covers = load_covers(material, there, here, name, other)
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
    """Rows of the source (row_id, target, value), the classes that fit them, and what the classes look like."""

    people: Relation
    fits: Relation
    classes: Relation
    released: Relation
    shapes: Relation

    @classmethod
    def of(cls, material: Material, source: Copy) -> _Rows:
        tables, release = material.tables, material.release
        names = [name for name in material.quasi_identifiers if name in source.columns]
        known, kept = source.plain(names), release.plain(material.kept_with(source))
        classes = classes_of(material, release)
        tuples = tables.create("tuples", "attack_versions/known_values", people=source.relation, columns=known)
        fits = fitting(material, tuples, source, classes, names)
        people = tables.create("people", "attack_order/valued_rows", people=source.relation, columns=known, values=kept)
        labels = release.plain(material.quasi_identifiers)
        numbered = tables.create(
            "numbered", "attack_versions/numbered", release=release.relation, labels=labels, kept=kept
        )
        released = tables.create("released", "attack_order/released_values", numbered=numbered, values=kept)
        shapes = tables.create("shapes", "attack_versions/shapes", numbered=numbered, values=kept)
        return cls(people, fits, classes, released, shapes)


def _place_within_classes(material: Material, rows: _Rows, plain: Sequence[str]) -> Outcome:
    """See whether the rows of a class look like those of the source, one after the other, where all of them are known.

    Chance is what any order gives, or sorting the rows by what they show, as anyone can.
    """
    tables, sides = material.tables, {"people": rows.people, "fits": rows.fits}
    whole = tables.create("whole", "attack_order/settled_classes", classes=rows.classes, **sides)
    ((expected,),) = tables.rows("attack_order/same_by_chance", whole=whole, shapes=rows.shapes)
    orders = [["row_id"], ["value"], *_sortings(plain)]
    (tried, same), *by_value = (
        tables.rows("attack_order/same_places", whole=whole, released=rows.released, order=order, **sides)[0]
        for order in orders
    )
    chance = max(expected, *(alike for _, alike in by_value)) / tried if tried else 0.0
    outcome = Outcome(
        "place_within_classes",
        f"{same:,} of {tried:,} rows look like the row at the same place of their class in the source; by chance "
        f"{chance:.1%} would.",
        attempts=int(tried),
        successes=int(same),
        affected=0,
        baseline=chance,
        avoid=_AVOID,
    )
    return replace(outcome, affected=int(same) if outcome.excess else 0)


def _order_within_classes(material: Material, rows: _Rows, plain: Sequence[str]) -> Outcome:
    """See whether the rows of a class come in the source's order, where it is certain which row is which.

    Chance is one half, or what sorting the rows by what they show gives, as anyone can.
    """
    sure = material.tables.create(
        "sure", "attack_order/sure_rows", people=rows.people, fits=rows.fits, shapes=rows.shapes
    )
    neighbours, ordered = _in_order(material, sure, ["row_id"])
    shares = [_in_order(material, sure, order)[1] / neighbours for order in _sortings(plain) if neighbours]
    outcome = Outcome(
        "order_within_classes",
        f"{ordered:,} of {neighbours:,} neighbours within a class whose rows in the source are certain come in the "
        "source's order."
        if neighbours
        else "Of no two neighbours within a class is it certain which rows of the source they are.",
        attempts=neighbours,
        successes=ordered,
        affected=0,
        baseline=max([0.5, *shares]),
        avoid=_AVOID,
    )
    return replace(outcome, affected=ordered if outcome.excess else 0)


def _sortings(plain: Sequence[str]) -> list[list[str]]:
    """The ways to sort by columns that begin with another one each."""
    return [[one, *(name for name in plain if name != one)] for one in plain[:_LEADING]]


def _in_order(material: Material, sure: Relation, order: Sequence[str]) -> tuple[int, int]:
    """The neighbours within classes in an order, and those of them that come as in the source."""
    ((neighbours, ordered),) = material.tables.rows(
        "attack_order/in_order", sure=sure, release=material.release.relation, order=order
    )
    return int(neighbours), int(ordered)


# The two halves of an anatomy


def _matched_halves(material: Material, half: Copy, source: Copy) -> Iterator[Outcome]:
    """Join the rows of a release with the values of its other half by their places in the groups, value by value."""
    shared = material.shared_with(half)
    for column in half.columns:
        if column not in (*shared, _COUNT) and column in source.columns:
            yield _matched(material, half, column, _truths(material, source, column))


def _truths(material: Material, source: Copy, column: str) -> Relation:
    """Of each class the shares of values among the source's rows that fit it: class, value (a key), share."""
    tables = material.tables
    names = [name for name in material.quasi_identifiers if name in source.columns]
    known: dict[str, Hole] = {"people": source.relation, "columns": source.plain(names)}
    tuples = tables.create("tuples", "attack_linkage/tuples", **known)
    fits = fitting(material, tuples, source, classes_of(material, material.release), names)
    own: dict[str, Hole] = {"labels": source.plain(names), "value": source.plain([column])}
    values = tables.create("values", "attack_attributes/values_of_classes", release=source.relation, **own)
    return tables.create("shares", "attack_linkability/shares_of_classes", fits=fits, values=values)


def _matched(material: Material, half: Copy, column: str, shares: Relation) -> Outcome:
    tables, release = material.tables, material.release
    rows = _rows(material, half, ["row_id"])
    values = _values(material, half, column, ["row_id"])
    ((attempts, right, expected),) = tables.rows(
        "attack_linkability/matched_halves", rows=rows, values=values, shares=shares
    )
    sorted_too = [_right(material, half, column, shares, *orders) for orders in _orders(material, half, column)]
    chance = max(float(expected), *sorted_too) / attempts if attempts else 0.0
    outcome = Outcome(
        "matched_halves",
        f"The row and the {column} at the same place of a group belong together for {float(right) / attempts:.1%} of "
        f"{int(attempts):,} rows; by chance {chance:.1%} would."
        if attempts
        else f"No group has both rows and values of {column}.",
        attempts=int(attempts),
        successes=round(right),
        affected=0,
        baseline=chance,
        column=column,
        figures={"right": float(right)},
        avoid="sort each half by what it shows, group by group",
    )
    return replace(outcome, affected=min(outcome.successes, release.rows) if outcome.excess else 0)


def _rows(material: Material, half: Copy, order: Sequence[str]) -> Relation:
    """The rows with their places in the groups: class, key, place."""
    release, tables = material.release, material.tables
    labels, shared = release.plain(material.quasi_identifiers), release.plain(material.shared_with(half))
    holes: dict[str, Hole] = {"labels": labels, "shared": shared, "order": [*order, "row_id"]}
    return tables.create("half_rows", "attack_linkability/half_rows", release=release.relation, **holes)


def _values(material: Material, half: Copy, column: str, order: Sequence[str]) -> Relation:
    """The values with the places that they take in the groups: key, value (a key), first, last."""
    holes: dict[str, Hole] = {"value": half.plain([column]), "order": [*order, "row_id"]}
    holes["shared"] = half.plain(material.shared_with(half))
    holes["count"] = half.plain([_COUNT]) if _COUNT in half.columns else ["1"]
    return material.tables.create("half_values", "attack_linkability/half_values", half=half.relation, **holes)


def _orders(material: Material, half: Copy, column: str) -> Iterator[tuple[list[str], list[str]]]:
    """The ways to sort the rows by columns that begin with another one each, and the values by themselves."""
    apart = (*material.shared_with(half), material.unit)
    plain = material.release.plain([name for name in material.release.columns if name not in apart])
    for one in plain[:_LEADING]:
        yield [one, *(name for name in plain if name != one)], half.plain([column])


def _right(material: Material, half: Copy, column: str, shares: Relation, rows: list[str], values: list[str]) -> float:
    of_rows, of_values = _rows(material, half, rows), _values(material, half, column, values)
    asked: dict[str, Hole] = {"rows": of_rows, "values": of_values, "shares": shares}
    ((_, right, _),) = material.tables.rows("attack_linkability/matched_halves", **asked)
    return float(right)


ORDER = Attack(
    "order",
    "Join the rows at the same place of two tables; look whether the rows of a class come in the order of the source.",
    _by_order,
    ("order",),
    ("unsorted_matching", "matched_halves", "place_within_classes", "order_within_classes"),
)
