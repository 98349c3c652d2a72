"""The two halves of an anatomy: whether their order tells which sensitive value belongs to which row.

Source: X. Xiao, Y. Tao, "Anatomy: simple and effective privacy preservation", VLDB 2006; L. Sweeney, "k-anonymity",
IJUFKS 10(5), 2002, section 4.1: unsorted matching. Group by group the first row of the one half is joined with the
first value of the other, and so on. A pair is right in the share of the source's rows with these quasi-identifiers that
have the value. By chance: as many as of any order of the values, or where both halves are sorted, as anyone can.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kanon_sql.attack.matching import classes_of, fitting
from kanon_sql.attack.material import Copy, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.queries import Hole, Relation

_COUNT = "count"  # the column of the half with the sensitive values that says how many rows have one
_LEADING = 8  # columns by each of which rows are sorted, at most


def matched_halves(material: Material, half: Copy, source: Copy) -> Iterator[Outcome]:
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
    tuples = tables.make("tuples", "attack_linkage/tuples", **known)
    fits = fitting(material, tuples, source, classes_of(material, material.release), names)
    own: dict[str, Hole] = {"labels": source.plain(names), "value": source.plain([column])}
    values = tables.make("values", "attack_attributes/values_of_classes", release=source.relation, **own)
    return tables.make("shares", "attack_linkability/shares_of_classes", fits=fits, values=values)


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
    return tables.make("half_rows", "attack_linkability/half_rows", release=release.relation, **holes)


def _values(material: Material, half: Copy, column: str, order: Sequence[str]) -> Relation:
    """The values with the places that they take in the groups: key, value (a key), first, last."""
    holes: dict[str, Hole] = {"value": half.plain([column]), "order": [*order, "row_id"]}
    holes["shared"] = half.plain(material.shared_with(half))
    holes["count"] = half.plain([_COUNT]) if _COUNT in half.columns else ["1"]
    return material.tables.make("half_values", "attack_linkability/half_values", half=half.relation, **holes)


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
