"""What a strategy knows and says: the lattice, the tags, the level costs; and its two kinds of request."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field

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

    Nodes that are not anonymous, or that cannot beat the best found, are passed over. The answer is None.
    """

    nodes: Iterable[Node]
    cheapest_first: bool = False
    """Whether the nodes come in the order of their bounds already, so that they need not be listed."""


Search = Generator[Test | Score, list[bool], None]


@dataclass
class Space:
    """The search space as a strategy sees it: never SQL, only levels, tags and costs."""

    lattice: Lattice
    tags: Tags
    costs: Costs
    metric: Metric
    open_nodes: Callable[[], Iterable[Node]] = field(default=lambda: ())
    """The nodes that might still beat the best found, cheapest bound first; none if the lattice cannot be listed."""

    def bound(self, node: Node) -> float:
        """The least that a node and all above it can score."""
        return self.metric.bound(self.costs, node)


def test(space: Space, node: Node) -> Generator[Test | Score, list[bool], bool]:
    """Settle one node: from the tags if they know it, else by asking. Use with `yield from`."""
    known = space.tags.status(node)
    if known is None:
        (known,) = yield Test([node])
    return known


test.__test__ = False  # type: ignore[attr-defined]
