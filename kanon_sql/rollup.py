"""Roll-ups: smaller frequency sets for nodes that agree on the widest attributes.

A node test costs as much as its frequency set has rows, and most tests of a search are high in the lattice, where
the widest attributes have few labels left. Rolling those up once (Incognito's roll-up property, LeFevre et al.
2005) serves every node with the same levels of them.
"""

from __future__ import annotations

from collections import Counter

from kanon_sql import queries
from kanon_sql.frequency import FrequencySet
from kanon_sql.lattice import Node
from kanon_sql.queries import Relation

_WIDEST = 3  # attributes rolled up together: some dozens of combinations, each asked for many times
_WORTH_ASKING = 3  # a roll-up costs about as much as three tests
_WORTH_ROWS = 50_000  # below this a test costs little more than any query
_WORTH_KEEPING = 0.5  # of the rows; a roll-up that stays larger saves too little


class Rollups:
    """Finds the smallest relation that a node can be tested on, and makes it when it is worth it."""

    def __init__(self, found: FrequencySet) -> None:
        self._found = found
        attributes = found.attributes
        widest = sorted(range(len(attributes)), key=lambda j: -attributes[j].hierarchy.leaf_count)
        self._widest = sorted(widest[:_WIDEST])
        self._useful = found.tuples >= _WORTH_ROWS and len(attributes) > _WIDEST
        self._asked: Counter[Node] = Counter()
        self._made: dict[Node, Relation] = {(0,) * _WIDEST: found.relation}
        self.queries = 0

    def relation(self, node: Node) -> Relation:
        """Where to test a node."""
        if not self._useful:
            return self._found.relation
        levels = tuple(node[j] for j in self._widest)
        self._asked[levels] += 1
        if self._asked[levels] == _WORTH_ASKING and levels not in self._made:
            self._made[levels] = self._make(levels)
        return self._made.get(levels, self._found.relation)

    def drop(self) -> None:
        """Drop every roll-up that was made."""
        engine = self._found.engine
        for relation in set(self._made.values()) - {self._found.relation}:
            engine.run(queries.drop(relation, engine.dialect))
        self._made = {}

    def _make(self, levels: Node) -> Relation:
        engine, dialect = self._found.engine, self._found.engine.dialect
        relation = queries.scratch("kanon_rollup_" + "_".join(map(str, levels)))
        engine.run(queries.drop(relation, dialect))
        engine.run(queries.create_as(relation, self._query(levels), dialect, temporary=True))
        ((rows,),) = engine.rows(queries.text("row_count", dialect, relation=relation))
        self.queries += 2
        if rows <= _WORTH_KEEPING * self._found.tuples:
            return relation
        engine.run(queries.drop(relation, dialect))
        return self._found.relation

    def _query(self, levels: Node) -> str:
        rolled = dict(zip(self._widest, levels, strict=True))
        keys, higher, sums = [], [], ["n"]
        for j, attribute in enumerate(self._found.attributes):
            coded = attribute.coded
            chosen = [rolled[j]] if j in rolled else list(range(coded.height + 1))
            keys.append(coded.code_column(chosen[0]))
            higher += [coded.code_column(level) for level in chosen[1:]]
            # On level 0 only what no hierarchy holds is lost; the judge asks for it on every level.
            sums += [coded.loss_column(level) for level in coded.loss_levels if level in (0, *chosen)]
        source = self._found.relation
        dialect = self._found.engine.dialect
        return queries.text("rollup", dialect, frequency_set=source, keys=keys, levels=higher, sums=sums)
