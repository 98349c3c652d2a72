"""The open nodes of a lattice that is small enough to list: nodes that could still be better than the best."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np

from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.loss import Costs, LevelParts, Metric, beats
from kanon_sql.strategies.tags import AT_RISK, UNKNOWN, DenseTags

_SAME = 1e-12  # sums closer than this are the same sum


class Proof:
    """The open nodes: neither tagged as not anonymous nor scored. Without open nodes, the best is the optimum.

    The lower bound depends only on the open nodes, so it is valid for every strategy.
    """

    def __init__(self, lattice: Lattice, tags: DenseTags, prospects: DenseTags, metric: Metric, costs: Costs) -> None:
        self._lattice = lattice
        self._tags = tags
        self._prospects = prospects
        self._finish = metric.finish
        self._scored = np.zeros(tags.array.shape, dtype=bool)
        self._sums = _added_up(lattice, metric.parts(costs))
        self._heights = np.indices(tags.array.shape, dtype=np.int16).sum(axis=0, dtype=np.int16)

    def scored(self, node: Node, above_too: bool) -> None:
        """Close a node, and all above it where none of them can score better."""
        at = self._tags.index(node)
        self._scored[tuple(slice(i, None) for i in at) if above_too else at] = True

    def is_scored(self, node: Node) -> bool:
        """Whether a node is closed because it, or one that it cannot be better than, was scored."""
        return bool(self._scored[self._tags.index(node)])

    def raise_below(self, node: Node, parts: LevelParts) -> None:
        """Raise the costs of this node and all below it to at least the sum of these parts."""
        block = tuple(slice(0, i + 1) for i in self._tags.index(node))
        least = _added_up(Lattice(self._lattice.bottom, node), parts)
        np.maximum(self._sums[block], least, out=self._sums[block])

    def cheapest_open(self) -> tuple[Node, float] | None:
        """The cheapest open node, and a lower bound for its score; None if there are no open nodes."""
        costs = np.where(self._open(), self._sums, inf)
        at = np.unravel_index(costs.argmin(), costs.shape)
        if costs[at] == inf:
            return None
        node = tuple(int(step) + low for step, low in zip(at, self._lattice.bottom, strict=True))
        return node, self._finish(float(costs[at]))

    def target(self, count: int, best: float) -> float | None:
        """The sum of the open node with `count` cheaper ones, or of the last that beats the best; None if none does."""
        sums = self._sums[self._open()]
        below = sums[sums < best - _SAME * max(1.0, abs(best))] if best < inf else sums
        if below.size == 0:
            return None
        return float(np.partition(below, count)[count] if count < below.size else below.max())

    def dearest_open(self, target: float, count: int) -> list[Node]:
        """The `count` dearest open nodes with sums up to the target, the dearest first."""
        places = np.flatnonzero(self._open() & (self._sums <= target))
        dearest = places[np.argsort(-self._sums.flat[places], kind="stable")[:count]]
        steps = np.stack(np.unravel_index(dearest, self._sums.shape), axis=1) + np.array(self._lattice.bottom)
        return list(map(tuple, steps.tolist()))

    def is_open(self, node: Node) -> bool:
        """Whether a node is neither tagged as not anonymous nor closed by a score."""
        at = self._tags.index(node)
        return bool(self._tags.array[at] != AT_RISK and not self._scored[at])

    def open_nodes(self) -> Iterator[Node]:
        """The nodes still open when their turn comes, cheapest bound first."""
        for place in np.argsort(self._sums, axis=None, kind="stable"):
            at = np.unravel_index(place, self._sums.shape)
            if self._tags.array[at] != AT_RISK and not self._scored[at]:
                yield tuple(int(step) + low for step, low in zip(at, self._lattice.bottom, strict=True))

    def cheapest_unknown(self, node: Node, height: int) -> Node | None:
        """The cheapest node above this one, with levels that add up to `height` and unknown `Space.promises`."""
        at = self._tags.index(node)
        above = tuple(slice(i, None) for i in at)
        wanted = (self._heights[above] == height - sum(self._lattice.bottom)) & (
            self._prospects.array[above] == UNKNOWN
        )
        if not wanted.any():
            return None
        costs = np.where(wanted, self._sums[above], inf)
        steps = np.unravel_index(costs.argmin(), costs.shape)
        return tuple(level + int(step) for level, step in zip(node, steps, strict=True))

    def cheapest_first(self, lower: Node, upper: Node, height: int) -> list[Node]:
        """The nodes between the two that are `height` steps above the lower one, cheapest first."""
        block = self._block(lower, upper)
        level = self._heights[block]
        places = np.nonzero(level == level.flat[0] + height)
        order = np.argsort(self._sums[block][places], kind="stable")
        steps = np.stack(places, axis=1)[order] + np.array(lower)
        return list(map(tuple, steps.tolist()))

    def _block(self, lower: Node, upper: Node) -> tuple[slice, ...]:
        pairs = zip(self._tags.index(lower), self._tags.index(upper), strict=True)
        return tuple(slice(low, high + 1) for low, high in pairs)

    def unknown_between(self, lower: Node, upper: Node, most: float) -> bool:
        """Whether an unknown node between the two can cost less than `most`."""
        block = self._block(lower, upper)
        unknown = self._tags.array[block] == UNKNOWN
        if not unknown.any():
            return False
        return not beats(most, self._finish(float(self._sums[block][unknown].min())))

    def lower_bound(self) -> float:
        """A lower bound for the score of any open node; infinite if there are none."""
        still_open = self._open()
        if not still_open.any():
            return inf
        return self._finish(float(self._sums[still_open].min()))

    def _open(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        still_open: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = (self._tags.array != AT_RISK) & ~self._scored
        return still_open


def _added_up(lattice: Lattice, parts: LevelParts) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """The sum of the attributes' parts for every node, in the lattice's shape."""
    total = np.zeros(())
    for part, low, high in zip(parts, lattice.bottom, lattice.top, strict=True):
        total = total[..., None] + np.array(part[low : high + 1])
    return total
