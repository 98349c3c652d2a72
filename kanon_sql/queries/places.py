"""Which rows the rows of events belong to, and whether two of them belong together.

A result refers to a diagnosis, which refers to a visit. Two results belong together on no level if they are of
different visits, on one level if they are of one visit, and on two if they are of one diagnosis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.relation import Relation

_BITS_BELOW = 30  # of a BIGINT, for the places below the first level; 33 are for the rows on that
_Same = Callable[[str, str], list[exp.Expr]]  # whether two rows, by their aliases, belong together, level by level

# The rows of a combination by their aliases, in queries of released rows and of the rows that a node shows.
_RELEASED: Mapping[str, Mapping[str, str]] = {
    "linked/smallest_pairs": {"linked": "rs"},
    "linked/smallest_triples": {"linked": "rsu"},
    "linked/people_of_pairs": {"linked": "rs"},
    "linked/people_of_triples": {"linked": "rsu"},
    "linked/fewest_values_of_pairs": {"linked": "rs"},
    "linked/fewest_values_of_triples": {"linked": "rsu"},
    "attack_linked/matches_of_pairs": {"found": "rs", "known": "kl"},
    "attack_linked/matches_of_triples": {"found": "rsu", "known": "klm"},
    "linked_history/occurrences_of_pairs": {"linked": "ab"},
    "linked_history/occurrences_of_triples": {"linked": "abc"},
}
_SHOWN: Mapping[str, str] = {
    "linked/rare_triples": "abc",
    "linked/victims_of_triples": "abc",
    "linked/sharing_a_pair": "ab",
    "linked/sharing_a_triple": "abc",
    "linked/matched_pairs": "vk",
    "linked/matched_triples": "vko",
}
_WITHIN_ROOT = {"linked/rare_pairs": "cd", "linked/rare_changed_pairs": "ed", "linked/victims_of_pairs": "cd"}
_ROOT_OF_ROW = ("linked/unit_items", "linked/renewed_unit_items", "linked/victims_of_pairs")
_WITH_SLOTS = (
    "linked/fewest_values_of_pairs",
    "linked/fewest_values_of_triples",
    "linked_history/chosen_facts",
    "linked_history/facts_of_movers",
    "linked_history/facts_touched",
)


@dataclass(frozen=True)
class ReleasedPlaces:
    """The places of released rows: a column for the key of the row that they belong to, level by level."""

    slots: Sequence[str] = ("visit",)

    @classmethod
    def on_levels(cls, levels: int) -> ReleasedPlaces:
        """The places of rows in chains: at most `levels` rows lie between a row and its person.

        >>> ReleasedPlaces.on_levels(2).slots
        ['visit', 'visit_2']
        """
        return cls(["visit", *(f"visit_{level}" for level in range(2, levels + 1))])

    def holes_of(self, query: str) -> dict[str, t.Hole]:
        """The holes of a query for how rows belong together; none in most."""
        holes: dict[str, t.Hole] = {}
        for name, aliases in _RELEASED.get(query, {}).items():
            holes[name] = _together(aliases, self._same, len(self.slots))
        if query in _WITH_SLOTS:
            holes["slots"] = list(self.slots)
        return holes

    def _same(self, left: str, right: str) -> list[exp.Expr]:
        return [exp.column(slot, left).eq(exp.column(slot, right)) for slot in self.slots]

    def shown(self, rows: Relation) -> exp.Query:
        """The query of what the released rows of people show, for every row that they belong to on the first level."""
        query = t.tree("linked/released_by_place", rows=rows, slots=list(self.slots))
        for level in range(len(self.slots) - 1, 0, -1):
            query = t.tree("linked/released_by_upper_place", places=query, slots=list(self.slots[:level]))
        return query


@dataclass(frozen=True)
class NumberedPlaces:
    """The places of the rows that a node shows, in one number: `visit`, or a negative one for rows without a place.

    `levels`: how many rows lead from a row to the one that refers to people only. Visit v has the number
    v * `base` ** (levels - 1); every level below adds the number of a row among those of the same place, below `base`.
    """

    levels: int = 1
    base: int = 1

    @classmethod
    def of_growing_tables(cls, levels: int) -> NumberedPlaces:
        """Places for rows that will be added, whose numbers cannot depend on how many there are.

        Rows with more siblings than `most_children` cannot be numbered. Too many rows in all are an overflow of BIGINT.

        >>> NumberedPlaces.of_growing_tables(2).most_children(4)
        268435455
        """
        return cls() if levels == 1 else cls(levels, 2 ** (_BITS_BELOW // (levels - 1)))

    def most_children(self, tables: int) -> int:
        """How many rows can refer to the same row, if they are of one of so many tables."""
        return self.base // tables - 1

    def of_rows(self, table: int, tables: int, referenced: bool, depth: int) -> exp.Expr:
        """The place of the rows r of a table: the row that they refer to, and themselves if others refer to them.

        Rows that neither refer to others nor are referred to have the same negative number. `table`: its number, of so
        many `tables`. `depth`: how many tables of events lead from it to the people.
        """
        own: exp.Expr = exp.Neg(this=exp.Literal.number(1 + table))
        below: exp.Expr = exp.column("parent_visit", "r")
        if referenced:
            number = {"tables": tables, "table": table}
            own = t.expression("(r.row_id * $tables + $table) * $unit", unit=self.unit(1), **number)
        if referenced and depth:
            step = self.unit(depth + 1)
            below = t.expression("r.parent_visit + (r.child * $tables + $table) * $step", step=step, **number)
        return t.expression("COALESCE($below, $own)", below=below, own=own) if depth else own

    def unit(self, level: int) -> int:
        """What one row of a level, from 1, adds to the number of its place."""
        return int(self.base ** (self.levels - level))

    def at(self, alias: str, level: int) -> exp.Expr:
        """The place of a row on a level."""
        visit, unit = exp.column("visit", alias), self.unit(level)
        return visit if unit == 1 else exp.IntDiv(this=visit, expression=exp.Literal.number(unit))

    def holes_of(self, query: str) -> dict[str, t.Hole]:
        """The holes of a query for how rows belong together; none in most."""
        holes: dict[str, t.Hole] = {}
        if query in _SHOWN:
            holes["linked"] = _together(_SHOWN[query], self._same, self.levels)
        if query in _WITHIN_ROOT:
            left, right = tuple(_WITHIN_ROOT[query])
            holes["same_root"] = self.at(left, 1).eq(self.at(right, 1))
            below = [_if(self.at(left, level).eq(self.at(right, level)), 1) for level in range(2, self.levels + 1)]
            holes["linked"] = _sum([exp.Literal.number(1), *below])
        if query in _ROOT_OF_ROW:
            holes["root"] = self._root("e")
        if query in _ROOT_OF_ROW[:2]:
            holes["places"] = self._places()
        return holes

    def _root(self, alias: str) -> exp.Expr:
        """The place of a row on the first level, or the negative number of rows without a place."""
        visit, root = exp.column("visit", alias), self.at(alias, 1)
        return visit if self.levels == 1 else exp.Case().when(visit < exp.Literal.number(0), visit.copy()).else_(root)

    def _same(self, left: str, right: str) -> list[exp.Expr]:
        placed = exp.column("visit", left) >= exp.Literal.number(0)
        # The lowest level first, which is all that there is in most specs.
        levels = range(self.levels, 0, -1)
        return [exp.and_(self.at(left, level).eq(self.at(right, level)), placed.copy()) for level in levels]

    def _places(self) -> exp.Expr:
        """The number of places of equal rows on the first level; every row is one if they have none."""
        visit, copy, zero = exp.column("visit", "e"), exp.column("copy", "e"), exp.Literal.number(0)
        if self.levels == 1:
            return exp.Sum(this=_if(exp.or_(visit < zero, copy.eq(exp.Literal.number(1))), 1))
        root = exp.Case().when(visit >= zero, self.at("e", 1))
        roots = exp.Count(this=exp.Distinct(expressions=[root]))
        return roots + exp.Sum(this=_if(visit.copy() < zero.copy(), 1))

    def number_among(self, alias: str) -> exp.Expr:
        """The number of a row among those that refer to the same row."""
        order = exp.Order(expressions=[exp.Ordered(this=exp.column("row_id", alias))])
        return exp.Window(this=exp.RowNumber(), partition_by=[exp.column("parent_id", alias)], order=order)

    def shown(self, items: Relation) -> exp.Query:
        """The query of what the rows of people show, for every row that they belong to on the first level."""
        query = t.tree("linked/shown_by_place", items=items)
        for _ in range(self.levels - 1):
            query = t.tree("linked/shown_by_upper_place", places=query, base=self.base)
        return query


def _together(aliases: str, same: _Same, levels: int) -> exp.Expr:
    """A number with a digit for every pair of rows: on how many levels the two belong together."""
    terms = []
    for place, (left, right) in enumerate(combinations(aliases, 2)):
        terms += [_if(condition, (levels + 1) ** place) for condition in same(left, right)]
    return _sum(terms)


def _if(condition: exp.Expr, weight: int) -> exp.Expr:
    return exp.Case().when(condition, exp.Literal.number(weight)).else_(exp.Literal.number(0))


def _sum(terms: Sequence[exp.Expr]) -> exp.Expr:
    return sum(terms[1:], terms[0])
