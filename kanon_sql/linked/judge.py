"""Tests of nodes: which people and rows a release of several tables has to leave out.

A node has a level for every quasi-identifier of every table. An attacker is assumed to know a person's row in
the main table and up to m of their rows elsewhere, with the rows that these refer to; at least k people must share them
((k, m)-anonymity: M. Terrovitis, N. Mamoulis, P. Kalnis, "Privacy-preserving anonymization of set-valued data", VLDB
2008, with a relational part as in G. Poulis, G. Loukides, A. Gkoulalas-Divanis, S. Skiadopoulos, ECML PKDD 2013).

People of classes below k are left out first. Then, in turns, single rows, pairs and triples that fewer than k people
of a class have: of every rare combination the row that fewer people have, until none is left. Combinations whose
people's sensitive values violate a privacy model are left out in the same way, and classes that violate it as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import ceil
from typing import Any

from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.frequency.frequency_set import Attribute
from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.linked.counted import CodedTable
from kanon_sql.linked.items import (
    NodeRows,
    Shown,
    chosen_items,
    every_event,
    parents_of_items,
    shown_rows,
    with_children,
)
from kanon_sql.linked.sensitive import KeptValues, Revealing, Valued
from kanon_sql.loss import Costs, Figures, Part
from kanon_sql.queries import NumberedPlaces, Relation

SCALE = 10**9  # the mean share of suppressed cells in a search, as a whole number
_PAIRS_AT_ONCE = 20_000_000  # pairs of rows in one statement, so that DuckDB needs less than 4 GB
_PAIRS_BETWEEN_CHECKS = 4_000_000
_MOST_PLACES = 2**63  # numbers are BIGINT


@dataclass(frozen=True)
class SuppressionLimits:
    """How many people may be left out, and how many rows of each table, by its number."""

    people: int
    rows: tuple[int, ...]

    def allow(self, left_out: Sequence[int]) -> bool:
        """Whether these numbers of rows may be left out; the first table is that of the people."""
        return left_out[0] <= self.people and all(map(int.__le__, left_out[1:], self.rows[1:]))


@dataclass(frozen=True)
class NodeTest:
    """The result of a test: the rows left out of every table, and those that every node below leaves out, too.

    `left_out` and `losses` are None if more must be left out than allowed. `losses`: the mean loss per attribute, 1 for
    a cell of a row that is left out.
    """

    unavoidable: tuple[int, ...]
    left_out: tuple[int, ...] | None = None
    losses: tuple[float, ...] | None = None


@dataclass(frozen=True)
class KeptRows:
    """The people and rows that a node keeps: `people`, and per table the rows that are left out."""

    people: Relation
    left_out: tuple[Relation, ...]


class _TooManyError(Exception):
    """More rows must be left out than allowed."""


class LinkedJudge:
    """Tests nodes for the driver of searches; every node is tested once.

    The driver counts in parts of `SCALE`: the mean share, over all quasi-identifiers, of cells that are left out.
    `whole_items`: leave items out for all people of a class, as live views do; see `kanon_sql.linked.items`.
    """

    def __init__(
        self,
        tables: Sequence[CodedTable],
        here: Scratch,
        k: int,
        m: int | str,
        limits: SuppressionLimits,
        weights: Sequence[float],
        valued: Sequence[Valued] = (),
        whole_items: bool = False,
    ) -> None:
        self.tables = tables
        self.here = here
        self.k = k
        self.m = m
        self.limits = limits
        self.whole_items = whole_items
        self._places = self._numbered_places()
        self.revealing = Revealing(here, valued, len(tables), m, self._places)
        self._queries = 0
        self.attributes = [(table, attribute) for table in tables for attribute in table.attributes]
        self.columns = [f"{table.copy.link.name}.{a.column.name}" for table, a in self.attributes]
        self._shares = [weight / sum(weights) for weight in weights]
        self._verdicts: dict[Node, NodeTest] = {}
        self._last: tuple[Node, KeptRows | None] | None = None  # the last test, whose tables still exist
        self._referenced = [self._numbers_of_referenced(level) for level in range(1, self._places.levels + 1)]
        self._no_rows = here.load("no_rows", {"row_id": "BIGINT"}, [[]])
        most = m if isinstance(m, int) else 1
        self._copies = here.load("copies", {"copy": "INTEGER"}, [range(1, most + 1)])

    def _numbered_places(self) -> NumberedPlaces:
        """How the places of rows are numbered; SpecError if there are too many rows on too many levels."""
        levels = max(1, *(table.copy.link.depth for table in self.tables))
        if levels == 1:
            return NumberedPlaces()
        most = 0
        for table in self.tables:
            if table.copy.link.parent and table.copy.link.referenced:
                ((children,),) = self.here.rows("linked/most_children", rows=table.relation)
                most = max(most, int(children))
        places = NumberedPlaces(levels, (most + 1) * len(self.tables))
        rows = max(table.copy.rows for table in self.tables)
        if (rows + 1) * len(self.tables) * places.unit(1) >= _MOST_PLACES:
            raise SpecError(
                f"the rows of {levels + 1} tables that refer to each other, with up to {most:,} rows that refer to the "
                "same one, are too many to be numbered; join two of these tables in a view"
            )
        return places

    def _numbers_of_referenced(self, level: int) -> Relation:
        """The tables of a level that others refer to."""
        links = [table.copy.link for table in self.tables[1:]]
        numbers = [link.number for link in links if link.referenced and link.depth + 1 == level]
        return self.here.load(f"referenced_{level}", {"number": "INTEGER"}, [numbers])

    @property
    def queries(self) -> int:
        """The statements so far."""
        return self._queries + self.revealing.queries

    @property
    def monotone(self) -> bool:
        """Whether a node above one that leaves nothing out leaves nothing out: all models but l values count shares."""
        return not any(found.column.models.models for found in self.revealing.valued)

    @property
    def may_suppress(self) -> int:
        """The largest share of cells that may be left out, in parts of `SCALE`."""
        if self.limits.allow([1] + [0] * (len(self.tables) - 1)) or any(self.limits.rows[1:]):
            return self._scaled([self.limits.people, *self.limits.rows[1:]])
        return 0

    def costs(self) -> Costs:
        """The losses of all levels of all attributes, each as a mean over the rows of its table."""
        level_losses: list[tuple[float, ...]] = []
        distinct: list[tuple[int, ...]] = []
        leaves: list[int] = []
        for table in self.tables:
            if table.costs:
                level_losses += table.costs.level_losses
                distinct += table.costs.distinct
                leaves += table.costs.leaves
            else:  # no rows, or no quasi-identifiers
                level_losses += [(0.0,) * (height + 1) for height in table.height]
                distinct += [(0,) * (height + 1) for height in table.height]
                leaves += [1 for _ in table.height]
        return Costs(
            SCALE, self.k, tuple(level_losses), tuple(distinct), tuple(self.columns), "another column",
            weights=tuple(self._shares), leaves=tuple(leaves),
        )  # fmt: skip

    def lattice(self) -> Lattice:
        """The lattice between the levels that the specs of the tables allow."""
        bottom, top = [], []
        for table, attribute in self.attributes:
            bounds, height = table.copy.spec.quasi_identifiers[attribute.column.name], attribute.hierarchy.height
            bottom.append(min(bounds.min_level, height))
            top.append(height if bounds.max_level is None else min(bounds.max_level, height))
        return Lattice(tuple(bottom), tuple(top))

    def rows_at_risk(self, nodes: Sequence[Node]) -> list[int]:
        """The share of cells that every node would leave out; above `may_suppress` if that is not allowed."""
        return [at_risk for at_risk, _ in self.verdicts(nodes)]

    def verdicts(self, nodes: Sequence[Node]) -> list[tuple[int, int]]:
        """The same, with the share that every node below it would leave out, too."""
        answers = []
        for node in nodes:
            verdict = self.verdict(node)
            refused = self.may_suppress + 1
            unavoidable = self._scaled(verdict.unavoidable) if self.limits.allow(verdict.unavoidable) else refused
            at_risk = refused if verdict.left_out is None else self._scaled(verdict.left_out)
            answers.append((at_risk, min(unavoidable, at_risk)))
        return answers

    def losses(self, node: Node, costs: Costs) -> Figures:  # noqa: ARG002 - of the protocol
        """The share of cells left out, and every attribute's mean loss."""
        verdict = self.verdict(node)
        assert verdict.left_out is not None
        return Figures(node, self._scaled(verdict.left_out), verdict.losses)

    def several_losses(self, nodes: Sequence[Node], costs: Costs) -> list[Figures]:
        """The same of several nodes."""
        return [self.losses(node, costs) for node in nodes]

    def cells(self, node: Node, costs: Costs, needs: Collection[Part]) -> Figures:
        """Not available; the spec offers no metric that needs it."""
        raise NotImplementedError

    def classes(self, node: Node) -> Figures:
        """Not available; the spec offers no metric that needs it."""
        raise NotImplementedError

    def _scaled(self, left_out: Sequence[int]) -> int:
        """The mean share of cells left out, rounded up, so that it is 0 only if nothing is left out."""
        number = {table.copy.link.number: left_out[n] / max(1, table.copy.rows) for n, table in enumerate(self.tables)}
        shares = zip(self._shares, self.attributes, strict=True)
        mean = sum(share * number[table.copy.link.number] for share, (table, _) in shares)
        return max(ceil(SCALE * mean), int(any(left_out)))

    def verdict(self, node: Node) -> NodeTest:
        """Test a node, once."""
        if node not in self._verdicts:
            self._verdicts[node] = self._tested(node)
        return self._verdicts[node]

    def kept(self, node: Node) -> KeptRows:
        """What a node that may be released keeps."""
        if self._last is None or self._last[0] != node:
            self._tested(node)
        assert self._last is not None
        _, kept = self._last
        assert kept is not None
        return kept

    def _tested(self, node: Node) -> NodeTest:
        self._last = node, None
        shown = self._shown(node)
        people, items = shown.people, shown.items
        unavoidable = self._unavoidable(people, items)
        if not self.limits.allow(unavoidable):
            return NodeTest(unavoidable)
        remaining = None
        if self.m == "all" and items:
            people = self._people_with_equal_rows(people, items)
        elif self.m == 0 or not items:
            people = self._without_unsafe_classes(people, items)
        elif self.whole_items:
            remaining = self._without_rare_items(shown)
            if remaining is None:
                return NodeTest(unavoidable)
        else:
            found = self._without_rare(people, items)
            if found is None:
                return NodeTest(unavoidable)
            people, remaining = found
        kept = KeptRows(people, tuple(self._left_out(n, people, items, remaining) for n in range(len(self.tables))))
        left_out = tuple(self.here.written(relation) for relation in kept.left_out)
        if not self.limits.allow(left_out):
            return NodeTest(unavoidable)
        self._last = node, kept
        return NodeTest(unavoidable, left_out, self._losses(node, kept))

    def _shown(self, node: Node) -> Shown:
        """The people of large enough classes, and what the rows of every other table show at a node."""
        levels = iter(node)
        rows = []
        for table in self.tables:
            codes = self._level_columns(table, [next(levels) for _ in table.attributes])
            rows.append(NodeRows(table.copy.link, table.relation, codes))
        return shown_rows(self._create, rows, self._places, self.k)

    def _level_columns(self, table: CodedTable, levels: Sequence[int]) -> list[str]:
        """The columns with a node's codes; all rows are equal in a column at its top, so it is omitted if possible."""
        pairs = list(zip(table.attributes, levels, strict=True))
        columns = [a.coded.code_column(level) for a, level in pairs if level < a.hierarchy.height]
        return columns or ["n"]  # which is 1 in every row

    def _unavoidable(self, people: Relation, items: Sequence[Relation]) -> tuple[int, ...]:
        """The rows that this node and all nodes below it leave out; fewer rows are rare on a more general node."""
        main = self.tables[0].copy
        counts = [main.rows - self.here.written(people)]
        self._frequent = True  # whether no single row is rare before any row is left out
        for table, relation in zip(self.tables[1:], items, strict=True):
            if self.m == 0:
                counts.append(0)
                continue
            number = table.copy.link.number
            equal_rows = self._create(f"equal_rows_{number}", "linked/equal_rows", items=relation)
            least = self.k if self.m != "all" else 0
            rare = self._create(f"rare_{number}", "linked/rare_singles", events=equal_rows, k=least)
            frequent = self.here.written(rare) == 0
            self._frequent &= frequent
            if frequent and counts[0] == 0:
                counts.append(0)
                continue
            ((rows,),) = self._rows("linked/unavoidable", rows=table.relation, equal_rows=equal_rows, rare=rare)
            counts.append(int(rows))
        return tuple(counts)

    def _everything(self, people: Relation, items: Sequence[Relation]) -> Relation:
        """What all rows of a person show together."""
        every = items[0]
        for number, more in enumerate(items[1:]):
            every = self._create(f"every_{number}", "linked/all_items", first=every, second=more)
        return self._create("shown", "linked/everything_shown", people=people, visits=self._places.shown(every))

    def _people_with_equal_rows(self, people: Relation, items: Sequence[Relation]) -> Relation:
        """The people whose rows are all like those of at least k people, and do not reveal sensitive values."""
        shown = self._everything(people, items)
        sharing = self._create("sharing_people", "linked/people_with_equal_rows", shown=shown, k=self.k)
        if not self.revealing.valued:
            return sharing
        wholes = self._create("wholes", "linked/wholes", shown=shown, people=sharing)
        numbered = [
            self._create(f"whole_items_{n}", "linked/items_of_wholes", items=relation, wholes=wholes)
            for n, relation in enumerate(items)
        ]
        turn = 0
        while True:
            kept = self.revealing.kept(
                wholes, partial(self._kept_values, people=wholes, items=numbered, remaining=None)
            )
            unsafe = self.revealing.wholes(kept)
            if unsafe is None:
                return wholes
            turn += 1
            wholes = self._create(f"wholes_{turn % 2}", "linked/people_without", people=wholes, unsafe=unsafe)

    def _without_unsafe_classes(self, people: Relation, items: Sequence[Relation]) -> Relation:
        """The people of classes that do not reveal sensitive values; classes do not affect each other."""
        turn = 0
        while True:
            kept = self.revealing.kept(people, partial(self._kept_values, people=people, items=items, remaining=None))
            unsafe = self.revealing.classes(kept)
            if unsafe is None:
                return people
            turn += 1
            people = self._create(f"people_{turn % 2}", "linked/people_without", people=people, unsafe=unsafe)

    def _kept_values(
        self, found: Valued, people: Relation, items: Sequence[Relation], remaining: Relation | None
    ) -> Relation:
        """The values of a sensitive column in the rows that are kept, or of the people."""
        number = found.column.number
        if number == 0:
            return found.values
        left_out = self._left_out(number, people, items, remaining)
        holes = {"items": items[number - 1], "values": found.values, "left_out": left_out}
        numbers = {"table": number, "tables": len(self.tables), "most": self.m if self.m in (2, 3) else 1}
        return self._create(f"kept_values_{found.place}", "linked/kept_values", **holes, **numbers)

    def _without_rare(self, people: Relation, items: Sequence[Relation]) -> tuple[Relation, Relation] | None:
        """The people and rows that remain when no combination of up to m rows is rare, or reveals sensitive values.

        None if more than allowed are left out.
        """
        self._events = self._every_event(len(items))
        total = self.here.written(self._events)
        remaining, turn = self._events, 0
        self._counted = False  # whether pairs were counted
        self._changed: Relation | None = None  # what changed since then
        self._unit_items: Relation | None = None  # as of the last count of pairs
        self._affected: Relation | None = None  # the people who lost rows since then
        kept: KeptValues | None = None
        while True:
            allowed = sum(self.limits.rows[1:]) - total + self.here.written(remaining)
            if allowed < 0:
                return None
            try:
                victims = self._victims(remaining, allowed)
            except _TooManyError:
                return None
            turn += 1
            if victims is None:
                values = partial(self._kept_values, people=people, items=items, remaining=remaining)
                kept = self.revealing.kept(people, values) if kept is None else kept.after(values)
                if unsafe := self.revealing.classes(kept):
                    people = self._create(f"people_{turn % 2}", "linked/people_without", people=people, unsafe=unsafe)
                    kept = None
                    if self.tables[0].copy.rows - self.here.written(people) > self.limits.people:
                        return None
                    holes = {"events": self._events, "people": people}
                    self._events = self._create(f"own_events_{turn % 2}", "linked/events_of_people", **holes)
                    holes = {"events": remaining, "people": people}
                    remaining = self._create(f"remaining_{turn % 2}", "linked/events_of_people", **holes)
                    self._unit_items = None
                    continue
                victims = self._revealing_rows(remaining, kept)
            if victims is None:
                return people, remaining
            gone = self._with_children(remaining, victims)
            assert self.here.written(gone), "every rare combination has a row to leave out"
            self._note_changed(remaining, gone)
            remaining = self._create(f"remaining_{turn % 2}", "linked/remaining", events=remaining, left_out=gone)

    def _without_rare_items(self, shown: Shown) -> Relation | None:
        """The rows that remain when the items of rare combinations are left out for all people of a class.

        None if more than allowed are left out.
        """
        self._events = events = self._every_event(len(shown.items))
        total, most = self.here.written(events), sum(self.limits.rows[1:])
        parents = parents_of_items(self._create, shown)
        for size in range(1, int(self.m) + 1):
            if size == 1 and self._frequent:
                continue
            try:
                rare = self._rare_of(size, events, most - total + self.here.written(events))
            except _TooManyError:
                return None
            if not self.here.written(rare):
                continue
            chosen = chosen_items(self._create, size, rare, events)
            chosen = with_children(self._create, chosen, parents, self._places.levels)
            events = self._create(f"remaining_{size}", "linked/without_items", events=events, left_out=chosen)
            if total - self.here.written(events) > most:
                return None
        return events

    def _rare_of(self, size: int, events: Relation, allowed: int) -> Relation:
        """The rare combinations of a size; _TooManyError if they need more rows to be left out than allowed."""
        if size == 1:
            return self._create("rare", "linked/rare_singles", events=events, k=self.k)
        if size == 3:
            return self._rare("linked/rare_triples", events, {"events": events})
        unit_items = self._create("unit_items", "linked/unit_items", events=events)
        return self._rare("linked/rare_pairs", unit_items, {"events": events, "unit_items": unit_items}, allowed)

    def _with_children(self, events: Relation, victims: Relation) -> Relation:
        """The rows to leave out, and those that belong to them."""
        gone = victims
        for level, referenced in enumerate(self._referenced, start=1):
            holes = {"above": self._places.at("x", level), "below": self._places.at("e", level)}
            gone = self._create(
                f"gone_{level}",
                "linked/with_children",
                events=events,
                victims=gone,
                referenced=referenced,
                tables=len(self.tables),
                **holes,
            )
        return gone

    def _every_event(self, tables: int) -> Relation:
        equal_rows = [self.here[f"equal_rows_{number}"] for number in range(1, tables + 1)]
        return every_event(self._create, equal_rows, self._copies, len(self.tables))

    def _victims(self, events: Relation, allowed: int) -> Relation | None:
        """The rows to leave out because of the smallest combinations that are rare; None if none is."""
        if (rare := self._rare_singles(events)) and self.here.written(rare):
            return self._create("victims", "linked/singles_left_out", events=events, rare=rare)
        for size in range(2, int(self.m) + 1):
            holes: dict[str, Any] = {"events": events}
            if size == 2:
                holes["unit_items"] = self._current_unit_items(events)
            rare = self._rare_pairs(holes, allowed) if size == 2 else self._rare("linked/rare_triples", events, holes)
            if rare is None or not self.here.written(rare):
                continue
            if size == 2:
                frequencies = self._create("frequencies", "linked/frequencies_of_pairs", events=events, rare=rare)
                return self._create("victims", "linked/victims_of_pairs", rare=rare, frequencies=frequencies, **holes)
            frequencies = self._create("frequencies", "linked/frequencies", events=events)
            return self._create("victims", "linked/victims_of_triples", rare=rare, frequencies=frequencies, **holes)
        return None

    def _rare_singles(self, events: Relation) -> Relation | None:
        """The rare items among those that changed since the pairs were counted; None if there is none to count."""
        if self._counted:
            if self._changed is None:
                return None
            return self._create("rare", "linked/rare_changed_singles", events=events, changed=self._changed, k=self.k)
        if self._frequent:
            self._frequent = False
            return None
        return self._create("rare", "linked/rare_singles", events=events, k=self.k)

    def _current_unit_items(self, events: Relation) -> Relation:
        """What the rows of every person show, counted anew for people who lost rows since the last count."""
        if self._unit_items is None:
            self._unit_items = self._create("unit_items_0", "linked/unit_items", events=events)
        elif self._affected:
            old, other = self._unit_items, self.here["unit_items_0"]
            stem = "unit_items_1" if old == other else "unit_items_0"
            holes = {"unit_items": old, "affected": self._affected, "events": events}
            self._unit_items = self._create(stem, "linked/renewed_unit_items", **holes)
        self._affected = None
        return self._unit_items

    def _revealing_rows(self, events: Relation, kept: KeptValues) -> Relation | None:
        """The rows to leave out because combinations with them reveal sensitive values; None if none does."""
        if not self.revealing.valued:
            return None
        parts = self._parts(events, _PAIRS_AT_ONCE)

        def victims(size: int, unsafe: Relation) -> Relation:
            if size == 1:
                return self._create("victims", "linked/unsafe_rows_left_out", events=events, unsafe=unsafe)
            holes = {"events": events, "rare": unsafe}
            holes["frequencies"] = self._create("frequencies", "linked/frequencies", events=events)
            if size == 2:
                holes["unit_items"] = self._current_unit_items(events)
                return self._create("victims", "linked/victims_of_pairs", **holes)
            return self._create("victims", "linked/victims_of_triples", **holes)

        return self.revealing.rows(events, parts, kept, victims)

    def _note_changed(self, events: Relation, gone: Relation) -> None:
        holes = {"events": events, "left_out": gone}
        if self._counted:
            self._changed = self._create_or_add("changed", self._changed, "linked/changed", **holes)
        if self._unit_items:
            self._affected = self._create_or_add("affected", self._affected, "linked/units_left_out", **holes)

    def _create_or_add(self, stem: str, existing: Relation | None, query: str, **holes: Relation) -> Relation:
        if existing is None:
            return self._create(stem, query, **holes)
        self._queries += 1
        self.here.add(existing, query, **holes)
        return existing

    def _rare_pairs(self, holes: dict[str, Any], allowed: int) -> Relation | None:
        """The rare pairs: all of them at first, then those with an item of which rows were left out meanwhile."""
        if not self._counted:
            rare = self._rare("linked/rare_pairs", holes["unit_items"], holes, allowed)
        elif self._changed is None:
            return None
        else:
            items = self._create(
                "changed_items", "linked/changed_items", unit_items=holes["unit_items"], changed=self._changed
            )
            rare = self._create("rare", "linked/rare_changed_pairs", k=self.k, changed_items=items, **holes)
            self._check_least(rare, allowed)
        self._counted, self._changed = True, None
        return rare

    def _parts(self, rows: Relation, at_once: int) -> int:
        """In how many parts the pairs of people's rows are counted."""
        number = self.here.written(rows)
        if number * (number - 1) // 2 < at_once:  # even if all are of one person
            return 1
        ((pairs,),) = self._rows("linked/pairs", rows=rows)
        return 1 + int(pairs) // at_once

    def _rare(self, query: str, rows: Relation, holes: dict[str, Any], allowed: int | None = None) -> Relation:
        """The rare combinations of a size, found in parts so that their pairs fit in memory.

        `allowed`: how many rows may be left out; _TooManyError as soon as the pairs so far need more.
        """
        parts = self._parts(rows, _PAIRS_AT_ONCE if allowed is None else _PAIRS_BETWEEN_CHECKS)
        rare = self._create("rare", query, k=self.k, parts=parts, part=0, **holes)
        for part in range(1, parts):
            if allowed is not None:
                self._check_least(rare, allowed)
            self._queries += 1
            self.here.add(rare, query, k=self.k, parts=parts, part=part, **holes, **self._places.holes_of(query))
        if allowed is not None:
            self._check_least(rare, allowed)
        return rare

    def _check_least(self, rare: Relation, allowed: int) -> None:
        """_TooManyError if rare pairs need more rows to be left out than allowed.

        Every pair loses a row, and a row that is left out is in at most as many pairs as its person has items.
        """
        if not self.here.written(rare):
            return
        ((least,),) = self._rows("linked/least_left_out", rare=rare)
        if least > allowed:
            raise _TooManyError

    def _left_out(self, n: int, people: Relation, items: Sequence[Relation], remaining: Relation | None) -> Relation:
        """The rows of a table that are left out."""
        table, stem = self.tables[n], f"left_out_{n}"
        everyone = self.here.written(people) == self.tables[0].copy.rows
        if everyone and (
            n == 0 or remaining is None or self.here.written(remaining) == self.here.written(self._events)
        ):
            return self._no_rows
        if n == 0:
            return self._create(stem, "linked/people_left_out", rows=table.relation, people=people)
        if remaining is None:
            remaining = events = self._no_events
        else:
            events = self._events
        holes = {"rows": table.relation, "people": people, "items": items[n - 1], "events": events}
        return self._create(stem, "linked/rows_left_out", remaining=remaining, **holes)

    @cached_property
    def _no_events(self) -> Relation:
        return self._create("no_events", "linked/no_events", referenced=self._referenced[0])

    def _losses(self, node: Node, kept: KeptRows) -> tuple[float, ...]:
        """Every attribute's mean loss over all rows of its table, 1 for a row that is left out."""
        levels = iter(node)
        means: list[float] = []
        for table, left_out in zip(self.tables, kept.left_out, strict=True):
            chosen = [(attribute, next(levels)) for attribute in table.attributes]
            if table.costs is None:
                means += [0.0 for _ in chosen]
                continue
            if left_out == self._no_rows:
                means += [table.costs.level_losses[index][level] for index, (_, level) in enumerate(chosen)]
                continue
            columns = [a.coded.loss_column(level) for a, level in chosen if level in a.coded.loss_levels]
            holes = {"rows": table.relation, "left_out": left_out, "losses": columns or ["n"]}
            (n, *sums), *_ = self._rows("linked/losses_left_out", **holes)
            lost = dict(zip(columns, map(int, sums), strict=False))
            for index, (attribute, level) in enumerate(chosen):
                of_level = table.costs.level_losses[index][level]
                means.append(of_level + (int(n) - _lost(attribute, level, lost, of_level, int(n))) / table.copy.rows)
        return tuple(means)

    def _create(self, stem: str, query: str, **holes: Any) -> Relation:
        self._queries += 1
        return self.here.create(stem, query, **holes, **self._places.holes_of(query))

    def _rows(self, query: str, **holes: Any) -> list[tuple[Any, ...]]:
        self._queries += 1
        return self.here.rows(query, **holes)


def _lost(attribute: Attribute, level: int, lost: dict[str, int], of_level: float, rows: int) -> float:
    """The summed loss of the rows left out, if they were released on this level."""
    most = attribute.hierarchy.leaf_count - 1
    if level in attribute.coded.loss_levels and most:
        return lost[attribute.coded.loss_column(level)] / most
    return of_level * rows
