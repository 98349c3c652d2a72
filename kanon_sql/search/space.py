"""What a strategy knows and says: the lattice, the tags, the level costs; and its two kinds of request."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

from kanon_sql.lattice import Lattice, Node
from kanon_sql.loss import Costs, Metric
from kanon_sql.search.tags import Tags


@dataclass(frozen=True)
class Test:
    """Ask which of these nodes are anonymous; the answer is a list of booleans in the same order."""

    nodes: Sequence[Node]
    __test__ = False  # not a pytest class


@dataclass(frozen=True)
class Score:
    """Ask for the scores of these nodes, so that the best may be released.

    Nodes that are not anonymous, or that cannot beat the best found, are passed over. The answer is empty.
    """

    nodes: Sequence[Node]


Search = Generator[Test | Score, list[bool], None]


@dataclass
class Space:
    """The search space as a strategy sees it: never SQL, only levels, tags and costs."""

    lattice: Lattice
    tags: Tags
    costs: Costs
    metric: Metric
    best: Callable[[], float]
    """The score of the best node so far; infinite while there is none."""
    open_nodes: Callable[[], Iterator[Node]]
    """The nodes that are neither scored nor known not to be anonymous, cheapest first, as things stand when asked."""
    listable: bool

    def could_win(self, node: Node) -> bool:
        """Whether a node, or one above it, can still be better than the best."""
        return beats(self.bound(node), self.best())

    def bound(self, node: Node) -> float:
        """The least that a node and all above it can score."""
        return self.metric.bound(self.costs, node)


_EQUAL = 1e-12  # scores closer than this are the same score, summed in another order


def beats(score: float, other: float) -> bool:
    """Whether one score is better than another by more than rounding."""
    return score < other - _EQUAL * max(1.0, abs(score))


def test(space: Space, node: Node) -> Generator[Test | Score, list[bool], bool]:
    """Settle one node: from the tags if they know it, else by asking. Use with `yield from`."""
    known = space.tags.status(node)
    if known is None:
        (known,) = yield Test([node])
    return known


test.__test__ = False  # type: ignore[attr-defined]
