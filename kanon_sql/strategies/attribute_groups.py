"""Lower bounds from groups of attributes: the optima of groups, with all other attributes at their top, add up.

Take a node, and the same node with all attributes outside a group at their top: the second is above the first, so it is
anonymous if the first is, and its rows at risk are also at risk in the first. So the group's attributes lose at least
as much in the first; added up over disjoint groups, these losses are a lower bound for the score of the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.loss import Costs, Figures, LevelParts, Metric, beats, unsuppressed
from kanon_sql.strategies.proof import Proof
from kanon_sql.strategies.space import Space
from kanon_sql.strategies.tags import DenseTags

_COUNTABLE = 10**10  # nodes: two groups of up to 100,000 nodes cover all attributes, and are counted completely


class Group:
    """The nodes with all attributes but these at their top: their tags, and their least cost.

    A cost is the sum of the metric's parts for these attributes. If it `counts_suppressed` rows (see
    `Metric.of_attributes`), only scored nodes have one; otherwise it is the cost of the levels. `parts`: the groups
    that this one consists of, whose bounds add up to a bound for it.
    """

    def __init__(
        self, attributes: Sequence[int], whole: Space, counts_suppressed: bool, parts: Sequence[Group] = ()
    ) -> None:
        self.attributes = tuple(sorted(attributes))
        countable = whole.lattice.size <= _COUNTABLE and whole.metric.needs == ("losses",)
        self._tuples = whole.counted(self.attributes) if counts_suppressed and countable else None
        self.counts_suppressed = counts_suppressed
        self._whole, self._parts, self._best = whole, parts, inf
        self._rest = [j for j in range(len(whole.lattice.top)) if j not in self.attributes]
        self._at_top = sum(whole.parts[j][whole.lattice.top[j]] for j in self._rest)
        lattice = Lattice(self._of(whole.lattice.bottom), self._of(whole.lattice.top))
        self._tags = DenseTags(lattice)
        self.space = self._space(lattice, self._tags)

    def _space(self, lattice: Lattice, tags: DenseTags) -> Space:
        """The space for a search of these attributes alone."""
        whole = self._whole
        levels: LevelParts = tuple(whole.parts[j] for j in self.attributes)
        metric = Metric(whole.metric.name, (), whole.metric.formula, lambda _: levels, not self.counts_suppressed)
        costs = replace(
            whole.costs,
            level_losses=tuple(whole.costs.level_losses[j] for j in self.attributes),
            distinct=tuple(whole.costs.distinct[j] for j in self.attributes),
            weights=(),
        )
        self._proof = Proof(lattice, tags, tags, metric, costs)
        return Space(lattice, tags, costs, metric, whole.may_suppress, lambda: self._best, listing=self._proof)

    def whole(self, node: Node) -> Node:
        """A node of these attributes as one of the lattice, all others at their top."""
        levels = dict(zip(self.attributes, node, strict=True))
        return tuple(levels.get(j, high) for j, high in enumerate(self._whole.lattice.top))

    def has(self, node: Node) -> bool:
        """Whether a node of the lattice is one of this group's."""
        return all(node[j] == self._whole.lattice.top[j] for j in self._rest)

    def tag(self, node: Node, anonymous: bool) -> None:
        """Note whether a node of this group is anonymous."""
        own = self._of(node)
        self._tags.tag(own, anonymous)
        if anonymous and not self.counts_suppressed:
            self._close(own, self.space.bound(own))

    def lacks(self, node: Node) -> bool:
        """Whether a node of this group must be scored for its cost."""
        return self.counts_suppressed and not self._proof.is_scored(self._of(node))

    def score(self, node: Node, figures: Figures) -> None:
        """Note the loss of an anonymous node of this group; nodes below it lose the same rows, or more."""
        if self.counts_suppressed:
            self._close(self._of(node), self._cost(figures))
            parts = self._whole.metric.parts_below(self._whole.costs, figures)
            self._proof.raise_below(self._of(node), tuple(parts[j] for j in self.attributes))

    def cheapest_open(self) -> Node | None:
        """The open node to settle next; None if no open one can be the best."""
        cheapest = self._proof.cheapest_open()
        return cheapest[0] if cheapest and beats(cheapest[1], self._best) else None

    @property
    def is_counted(self) -> bool:
        """Whether its tuples are in memory, so that `count` can be called."""
        return self._tuples is not None

    def target(self, count: int) -> float | None:
        """The cost of the open node with `count` cheaper ones, or of the last that can be best; None if none."""
        return self._proof.target(count, self._best)

    def count(self, target: float, most: int) -> int:
        """Close at most `most` open nodes that cost no more than the target, the dearest first; return how many."""
        nodes = [node for node in sorted(self._proof.dearest_open(target, most)) if self._proof.is_open(node)]
        for node in nodes:
            self._count(node)
        return len(nodes)

    def _count(self, node: Node) -> None:
        """Compute from the tuples what the database would: whether a node is anonymous, and its attributes' losses."""
        whole, tuples, rows = self.whole(node), self._tuples, self._whole.costs.rows
        if tuples is None or not self._proof.is_open(node):
            return
        at_risk = tuples.rows_at_risk(node)
        self._tags.tag(node, at_risk <= self._whole.may_suppress)
        if at_risk <= self._whole.may_suppress:
            losses = list(unsuppressed(self._whole.costs, whole).losses or ())
            for j, lost in zip(self.attributes, tuples.lost(node), strict=True):
                losses[j] += (at_risk - lost) / rows
            self.score(whole, Figures(whole, at_risk, tuple(losses)))

    def _close(self, node: Node, cost: float) -> None:
        self._best = min(self._best, cost)
        self._proof.scored(node, above_too=not self.counts_suppressed)

    def _cost(self, figures: Figures) -> float:
        """The loss of these attributes with the rows at risk suppressed, as a sum of parts."""
        metric, costs = self._whole.metric, self._whole.costs
        return metric.begin(metric.score(costs, self._alone(figures, metric, costs))) - self._at_top

    def _alone(self, figures: Figures, metric: Metric, costs: Costs) -> Figures:
        """The figures with the other attributes' losses replaced by those of their levels, without suppressed rows."""
        levels, own = unsuppressed(costs, figures.node or ()), set(self.attributes)
        pairs = {name: zip(figures.part(name, costs), levels.part(name, costs), strict=True) for name in metric.needs}
        alone: dict[str, Any] = {
            name: tuple(x if j in own else y for j, (x, y) in enumerate(values)) for name, values in pairs.items()
        }
        return replace(figures, **alone)

    def lower_bound(self) -> float:
        """A lower bound for the cost of these attributes in any anonymous node."""
        return max(min(self._best, self._proof.lower_bound()), added_up(self._whole, self._parts, self.attributes))

    def _of(self, node: Node) -> Node:
        return tuple(node[j] for j in self.attributes)


class AttributeGroups:
    """Disjoint groups of the attributes, and the sum of their lower bounds."""

    def __init__(self, whole: Space) -> None:
        self._whole = whole
        self._counts_suppressed = whole.metric.of_attributes and not whole.metric.monotone(whole.may_suppress)
        self._groups: list[Group] = []

    def merged(self, *attributes: Sequence[int]) -> Group:
        """Merge groups of attributes, and replace them by the merged group."""
        wanted = [j for some in attributes for j in some]
        parts = [group for group in self._groups if not set(group.attributes).isdisjoint(wanted)]
        group = Group(wanted, self._whole, self._counts_suppressed, parts)
        self._groups = [group for group in self._groups if group not in parts] + [group]
        return group

    def tag(self, nodes: Iterable[Node], anonymous: Iterable[bool]) -> None:
        """Tell the groups which of their nodes are anonymous."""
        for node, is_anonymous in zip(nodes, anonymous, strict=True) if self._groups else ():
            for group in self._having(node):
                group.tag(node, is_anonymous)

    def score(self, node: Node, figures: Figures) -> None:
        """Tell the groups that have an anonymous node its loss."""
        for group in self._having(node):
            group.score(node, figures)

    def lack(self, node: Node) -> bool:
        """Whether a group still needs the loss of this node, although it was scored before."""
        return any(group.lacks(node) for group in self._having(node))

    def _having(self, node: Node) -> list[Group]:
        return [group for group in self._groups if group.has(node)]

    def lower_bound(self) -> float:
        """A lower bound for the score of any node."""
        attributes = range(len(self._whole.lattice.top))
        return self._whole.metric.finish(added_up(self._whole, self._groups, attributes))


def added_up(whole: Space, groups: Sequence[Group], attributes: Iterable[int]) -> float:
    """The sum of the bounds of disjoint groups, and of the least levels' costs of the remaining attributes."""
    grouped = {j for group in groups for j in group.attributes}
    alone = sum(whole.parts[j][whole.lattice.bottom[j]] for j in attributes if j not in grouped)
    return alone + sum(group.lower_bound() for group in groups)
