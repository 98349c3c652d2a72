"""Roll-ups: smaller frequency sets for nodes that agree on the widest attributes.

A node test costs as much as its frequency set has rows, and most tests of a search are high in the lattice, where
the widest attributes have few labels left. Rolling those up once (Incognito's roll-up property, LeFevre et al.
2005) serves every node on these levels of them or higher ones, and roll-ups to higher ones. Only what a test counts is
rolled up: sums of losses, which few nodes are asked for, would take most of the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import le

from kanon_sql import queries
from kanon_sql.frequency.packed import Packed
from kanon_sql.generalization.lattice import Node
from kanon_sql.queries import Masked, Relation

_WIDEST = 3  # attributes rolled up together: some dozens of combinations, each asked for many times
_WORTH_ASKING = 3  # a roll-up costs about as much as three tests
_WORTH_ROWS = 50_000  # below this a test costs little more than any query
_WORTH_KEEPING = 0.5  # of the rows that it is made of; a roll-up that stays larger saves too little
_MOST_KEPT = 2  # of the rows, in all roll-ups together; beyond that those go that were not asked for the longest


class Rollups:
    """Finds the smallest relation that a node can be tested on, and makes it when it is worth it."""

    def __init__(self, packed: Packed) -> None:
        self._packed = packed
        self._frequency_set = frequency_set = packed.frequency_set
        attributes = frequency_set.attributes
        widest = sorted(range(len(attributes)), key=lambda j: -attributes[j].hierarchy.leaf_count)
        self._widest = sorted(widest[:_WIDEST])
        apart = frequency_set.population is not None  # its tuples are not among those counted as the table's
        self._tuples = frequency_set.tables.count(frequency_set.relation) if apart else frequency_set.tuples
        self._useful = self._tuples >= _WORTH_ROWS and len(attributes) > _WIDEST
        self._asked: Counter[Node] = Counter()
        self._rows: dict[Node, int] = {}  # of the roll-ups that there are, the one asked for last at the end
        self._too_large: set[Node] = {(0,) * _WIDEST}
        self.queries = 0

    def relations(self, nodes: Sequence[Node]) -> list[Relation]:
        """Where to test each of some nodes in one statement: none of these is dropped for another of them."""
        if not self._useful:
            return [self._packed.relation] * len(nodes)
        wanted = [tuple(node[j] for j in self._widest) for node in nodes]
        for levels in wanted:
            self._ask(levels, wanted)
        return [self._relation(self._below(levels)) for levels in wanted]

    def drop(self) -> None:
        """Drop every roll-up that was made."""
        for levels in tuple(self._rows):
            self._drop(levels)

    def _below(self, levels: Node) -> Node | None:
        """The smallest roll-up that tells all apart that these levels do, which is asked for now; None without one."""
        below = [row for row in self._rows if all(map(le, row, levels))]
        smallest = min(below, key=self._rows.__getitem__, default=None)
        if smallest:
            self._rows[smallest] = self._rows.pop(smallest)
        return smallest

    def _ask(self, levels: Node, beside: Sequence[Node]) -> None:
        """Count that a roll-up is asked for, and make it when it is worth it and there is room."""
        below = self._below(levels)
        if below == levels or self._rows_of(below) < _WORTH_ROWS:
            return
        self._asked[levels] += 1
        if self._asked[levels] >= _WORTH_ASKING and levels not in self._too_large:
            del self._asked[levels]  # if it has to go, it must be worth it again
            self._make(levels, below)
            self._make_room(levels, beside)

    def _make(self, levels: Node, below: Node | None) -> None:
        tables = self._frequency_set.tables
        rows = tables.count(tables.create_as(self._relation(levels), self._query(levels, below)))
        self.queries += 2
        of, self._rows[levels] = self._rows_of(below), rows
        if rows > _WORTH_KEEPING * of:
            self._too_large.add(levels)
            self._drop(levels)

    def _make_room(self, made: Node, beside: Sequence[Node]) -> None:
        """Drop what was not asked for the longest, down to the most rows; if that is not enough, what was just made."""
        for levels in tuple(self._rows):
            if levels not in beside and self._too_many_rows:
                self._drop(levels)
        if self._too_many_rows:
            self._drop(made)

    @property
    def _too_many_rows(self) -> bool:
        return sum(self._rows.values()) > _MOST_KEPT * self._tuples

    def _drop(self, levels: Node) -> None:
        del self._rows[levels]
        self._frequency_set.tables.drop(self._relation(levels))

    def _rows_of(self, levels: Node | None) -> int:
        return self._tuples if levels is None else self._rows[levels]

    def _relation(self, levels: Node | None) -> Relation:
        if levels is None:
            return self._packed.relation
        # Beside another judge's, by which number its tuples have: one's end leaves the other what it reads.
        number = self._packed.relation.name.rpartition("packed")[2]
        return self._frequency_set.tables[f"rollup{number}_at_" + "_".join(map(str, levels))]

    def _query(self, levels: Node, below: Node | None) -> str:
        counted = self._frequency_set
        keys, higher = self._packed.rolled_up(dict(zip(self._widest, levels, strict=True)))
        sums = ["n", *([] if counted.population is None else ["population"])]
        source = Masked(self._relation(below), keys, [*higher, *counted.distinguishing_columns, *sums])
        names, dialect = [*counted.distinguishing_columns, *keys], counted.engine.dialect
        return queries.text(
            "frequency_sets/rollup", dialect, frequency_set=source, keys=names, levels=higher, sums=sums
        )
