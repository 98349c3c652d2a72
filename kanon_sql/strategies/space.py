"""A strategy's view of a search (the lattice, the tags, the level costs), and its two kinds of request."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from kanon_sql.generalization.lattice import Lattice, Node, at_level
from kanon_sql.loss import Costs, Metric, beats
from kanon_sql.strategies.proof import Proof
from kanon_sql.strategies.tags import Tags


@dataclass(frozen=True)
class Test:
    """Request which of these nodes are anonymous; the answer is a list of booleans in the same order.

    `reduction`: they are probes of the lattice's reduction, which no strategy would release. `weight`: other work,
    counted as so many tests, if searches take turns.
    """

    nodes: Sequence[Node]
    reduction: bool = False
    weight: int = 0
    __test__ = False  # not a pytest class


@dataclass(frozen=True)
class Score:
    """Request the scores of these nodes, so that the best can be released.

    Nodes that are not anonymous, or that cannot beat the best, are skipped. Among nodes with equal scores the one with
    the smaller average class is kept if `by_class_size` is set, otherwise the first. `all_of_them`: also score nodes
    that cannot beat the best, for `Space.score_of`. The answer is empty.
    """

    nodes: Sequence[Node]
    by_class_size: bool = False
    all_of_them: bool = False


Search = Generator[Test | Score, list[bool], None]


class TuplesInMemory(Protocol):
    """The tuples of some attributes in memory, which answer for nodes with all other attributes at their top."""

    def rows_at_risk(self, node: Node) -> int:
        """The rows at risk of a node."""

    def lost(self, node: Node) -> list[float]:
        """The summed losses of the labels of these rows, per attribute."""


@dataclass
class Space:
    """The search space for a strategy: levels, tags and costs, never SQL."""

    lattice: Lattice
    tags: Tags
    costs: Costs
    metric: Metric
    may_suppress: int
    best: Callable[[], float]
    """The score of the best node so far; infinite before the first."""
    best_node: Callable[[], Node] = lambda: ()
    """The best node so far; the lattice's top before the first."""
    score_of: Callable[[Node], float | None] = lambda _: None
    """The score of a node; None if it was not scored."""
    at_risk: Callable[[Node], int | None] = lambda _: None
    """The rows at risk of a node; None if it was not tested."""
    monotone_model: bool = True
    """Whether every verdict implies tags, see `PrivacyModel.monotone`."""
    prospects: Tags | None = None
    """Whether a node or one below it can be anonymous, which is monotone under every model; None: same as the tags."""
    prunes: bool = True
    """Whether a node that is not anonymous can rule out the nodes below it; otherwise all have prospects."""
    seed: int = 0
    """For strategies with random choices."""
    evaluations: int | None = None
    """Maximum number of nodes for a strategy with random choices; None for its own default."""
    candidate: Callable[[float], Node | None] = lambda _: None
    """A node not ruled out whose lower bound is below a limit and the best; None proves that no such node exists."""
    group: Callable[..., Any] | None = None
    """Attributes to search as a `Group`, see `Groups.merged`; None if the privacy model is not monotone."""
    counted: Callable[[Sequence[int]], TuplesInMemory | None] = lambda _: None
    """The tuples of some attributes in memory, if available."""
    listing: Proof | None = None
    """Queries over all nodes; None if there are too many to list."""

    def promises(self, node: Node) -> bool | None:
        """Whether a node or one below it can be anonymous; if not, no node below is; None if unknown.

        If a node promises, so do all above it. Under a monotone model this is whether the node itself is anonymous.
        """
        return (self.prospects or self.tags).status(node)

    @property
    def listable(self) -> bool:
        """Whether the lattice is small enough to list."""
        return self.listing is not None

    def open_nodes(self) -> Iterator[Node]:
        """The nodes that are neither scored nor proven not to be anonymous when they are reached, cheapest first."""
        return self.listing.open_nodes() if self.listing else iter(())

    def cheapest_unknown(self, node: Node, height: int) -> Node | None:
        """The cheapest node above this one with levels that add up to `height` and unknown `promises`."""
        return self.listing.cheapest_unknown(node, height) if self.listing else None

    def at_height(self, part: Lattice, height: int) -> Iterable[Node]:
        """The nodes of a sublattice on one of its levels, cheapest first if they can be listed."""
        if self.listing is None:
            return part.at_height(height)
        return self.listing.cheapest_first(part.bottom, part.top, height)

    def settled_between(self, lower: Node, upper: Node, most: float) -> bool:
        """Whether no unknown node between the two costs less than `most`; False also if that is expensive to check."""
        if self.listing is None:
            return self.tags.status(lower) is True or self.tags.status(upper) is False
        return not self.listing.unknown_between(lower, upper, most)

    def could_win(self, node: Node) -> bool:
        """Whether a node, or one above it, can still be better than the best."""
        return beats(self.bound(node), self.best())

    def __post_init__(self) -> None:
        self.bound = self.metric.bound_of(self.costs)
        """The lower bound of the scores of a node and all above it."""
        self.parts = self.metric.parts(self.costs)
        """The contributions of every attribute's levels to that bound."""

    def most(self, node: Node) -> float:
        """The upper bound of the score of a k-minimal node at or below an anonymous node."""
        return self.metric.most(self.bound(node), self.may_suppress / max(1, self.costs.rows))


def in_chunks(nodes: Iterable[Node], size: int = 1024) -> Iterator[list[Node]]:
    """Cut an iterator of nodes into lists, since a level of a large lattice does not fit in memory.

    >>> list(in_chunks([(0, 1), (1, 0), (1, 1)], 2))
    [[(0, 1), (1, 0)], [(1, 1)]]
    """
    remaining = iter(nodes)
    while chunk := list(islice(remaining, size)):
        yield chunk


def test(space: Space, node: Node) -> Generator[Test, list[bool], bool]:
    """Settle one node, from the tags or by a request. Use with `yield from`."""
    status = space.tags.status(node)
    if status is None:
        (status,) = yield Test([node])
    return status


def promising(space: Space, node: Node) -> Generator[Test, list[bool], bool]:
    """Whether a node or one below it can be anonymous, by a request if needed; under a monotone model as `test`."""
    promises = space.promises(node)
    if promises is None:
        yield Test([node])
        promises = space.promises(node)
    return bool(promises)


Settled = Callable[[Space, Node], Generator[Test, list[bool], bool]]


def least_anonymous(
    space: Space, node: Node, attribute: int, at_risk: int, anonymous: int, settled: Settled = test
) -> Generator[Test, list[bool], int]:
    """The lowest level of an attribute that makes a node anonymous, between one that does not and one that does."""
    while anonymous - at_risk > 1:
        level = (at_risk + anonymous) // 2
        if (yield from settled(space, at_level(node, attribute, level))):
            anonymous = level
        else:
            at_risk = level
    return anonymous


test.__test__ = False  # type: ignore[attr-defined]
