"""Roll-ups: smaller frequency sets for nodes that agree on the widest attributes.

The cost of a node test grows with the rows of its frequency set, and a search mostly tests nodes high in the lattice,
where the widest attributes have few labels. One roll-up of these attributes (Incognito's roll-up property, LeFevre et
al. 2005) serves all nodes and roll-ups with the same or higher levels of them. Roll-ups contain only the counts of
tests: sums of losses, which few nodes need, would take most of the time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import le
from typing import Any

from kanon_sql import queries
from kanon_sql.frequency.packed import Packed
from kanon_sql.generalization.lattice import Node
from kanon_sql.queries import Masked, Relation

_WIDEST = 3  # attributes rolled up together: some dozens of combinations, with many tests each
_WORTH_TESTS = 3  # a roll-up costs about as much as three tests
_WORTH_ROWS = 50_000  # below this, a test costs little more than any query
_WORTH_KEEPING = 0.5  # of the original rows; a larger roll-up saves too little
_MOST_KEPT = 2  # times the rows, in all roll-ups together; beyond, the least recently used ones are dropped


class Rollups:
    """Finds the smallest relation on which a node can be tested, and creates roll-ups that pay off.

    `pay_off`: False if none can, so that none is created.
    """

    def __init__(self, packed: Packed, pay_off: bool = True) -> None:
        self._packed = packed
        self._frequency_set = frequency_set = packed.frequency_set
        attributes = frequency_set.attributes
        widest = sorted(range(len(attributes)), key=lambda j: -attributes[j].hierarchy.leaf_count)
        self._widest = sorted(widest[:_WIDEST])
        # With a population, the relation has more tuples than the table.
        populated = frequency_set.population is not None
        self._tuples = frequency_set.tables.count(frequency_set.relation) if populated else frequency_set.tuples
        self._useful = pay_off and self._tuples >= _WORTH_ROWS and len(attributes) > _WIDEST
        self._requests: Counter[Node] = Counter()
        self._rows: dict[Node, int] = {}  # of the existing roll-ups, the most recently used one last
        self._too_large: set[Node] = {(0,) * _WIDEST}

    def relations(self, nodes: Sequence[Node]) -> list[Relation]:
        """The relations on which to test nodes in one statement; all of them exist at the same time."""
        if not self._useful:
            return [self._packed.relation] * len(nodes)
        wanted = [tuple(node[j] for j in self._widest) for node in nodes]
        for levels in wanted:
            self._request(levels, wanted)
        return [self._relation(self._below(levels)) for levels in wanted]

    def drop(self) -> None:
        """Drop all roll-ups."""
        for levels in tuple(self._rows):
            self._drop(levels)

    def _below(self, levels: Node) -> Node | None:
        """The smallest roll-up at or below these levels, marked as used; None without one."""
        below = [row for row in self._rows if all(map(le, row, levels))]
        smallest = min(below, key=self._rows.__getitem__, default=None)
        if smallest:
            self._rows[smallest] = self._rows.pop(smallest)
        return smallest

    def _request(self, levels: Node, in_use: Sequence[Node]) -> None:
        """Count the request for a roll-up, and create it if that pays off and space is left."""
        below = self._below(levels)
        if below == levels or self._rows_of(below) < _WORTH_ROWS:
            return
        self._requests[levels] += 1
        if self._requests[levels] >= _WORTH_TESTS and levels not in self._too_large:
            del self._requests[levels]  # if it is dropped later, it must pay off again
            self._create(levels, below)
            self._free_space(levels, in_use)

    def _create(self, levels: Node, below: Node | None) -> None:
        tables = self._frequency_set.tables
        rows = tables.count(tables.create_as(self._relation(levels), self._query(levels, below)))
        self._rows[levels] = rows
        if rows > _WORTH_KEEPING * self._rows_of(below):
            self._too_large.add(levels)
            self._drop(levels)

    def _free_space(self, created: Node, in_use: Sequence[Node]) -> None:
        """Drop the least recently used roll-ups until few enough rows are left; finally the created one, too."""
        for levels in tuple(self._rows):
            if levels not in in_use and self._too_many_rows:
                self._drop(levels)
        if self._too_many_rows:
            self._drop(created)

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
        # The number of the packed relation keeps the roll-ups of several judges apart.
        number = self._packed.relation.name.rpartition("packed")[2]
        return self._frequency_set.tables[f"rollup{number}_at_" + "_".join(map(str, levels))]

    def _query(self, levels: Node, below: Node | None) -> str:
        counted = self._frequency_set
        keys, higher = self._packed.rolled_up(dict(zip(self._widest, levels, strict=True)))
        sums = ["n", *([] if counted.population is None else ["population"])]
        names = [*counted.distinguishing_columns, *keys]
        holes: dict[str, Any] = {"keys": names, "levels": higher, "sums": sums}
        prepared = queries.per_node("frequency_sets/rollup", counted.engine.dialect, **holes)
        others = [*higher, *counted.distinguishing_columns, *sums]
        return prepared(0, Masked(self._relation(below), keys | queries.unmasked(others)), ())
