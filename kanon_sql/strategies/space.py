"""What a strategy knows and says: the lattice, the tags, the level costs; and its two kinds of request."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from kanon_sql.generalization.lattice import Lattice, Node, at_level
from kanon_sql.loss import Costs, Metric
from kanon_sql.strategies.tags import Tags

_EQUAL = 1e-12  # scores closer than this are the same score, summed in another order


@dataclass(frozen=True)
class Test:
    """Ask which of these nodes are anonymous; the answer is a list of booleans in the same order.

    `reduction`: they are probes of the lattice's reduction, which no strategy would release. `weight`: what was done
    beside, as so many tests, where searches take turns.
    """

    nodes: Sequence[Node]
    reduction: bool = False
    weight: int = 0
    __test__ = False  # not a pytest class


@dataclass(frozen=True)
class Score:
    """Ask for the scores of these nodes, so that the best may be released.

    Nodes that are not anonymous, or that cannot beat the best found, are passed over. Of nodes with equal scores
    the one with the smaller average class is kept where `by_class_size` is set, else the first. `all_of_them`: score
    those too that cannot beat the best found, for `Space.score_of`. The answer is empty.
    """

    nodes: Sequence[Node]
    by_class_size: bool = False
    all_of_them: bool = False


Search = Generator[Test | Score, list[bool], None]


class Counted(Protocol):
    """The tuples of some attributes in memory: what the database would say of their nodes, all others at their top."""

    def rows_at_risk(self, node: Node) -> int:
        """The rows that a node puts at risk."""

    def lost(self, node: Node) -> list[float]:
        """What the labels of these rows lose, added up, per attribute."""


class Listing(Protocol):
    """Questions about all nodes of a lattice that is small enough to list; see `kanon_sql.strategies.proof`."""

    def open_nodes(self) -> Iterator[Node]:
        """The nodes still open when their turn comes, cheapest bound first."""

    def cheapest_unknown(self, node: Node, height: int) -> Node | None:
        """The cheapest node above this one, its levels adding up to `height`, of which `promises` is unknown."""

    def cheapest_first(self, lower: Node, upper: Node, height: int) -> list[Node]:
        """The nodes between the two that are `height` steps above the lower one, cheapest first."""

    def unknown_between(self, lower: Node, upper: Node, most: float) -> bool:
        """Whether an unknown node between the two can cost less than `most`."""


@dataclass
class Space:
    """The search space as a strategy sees it: never SQL, only levels, tags and costs."""

    lattice: Lattice
    tags: Tags
    costs: Costs
    metric: Metric
    may_suppress: int
    best: Callable[[], float]
    """The score of the best node so far; infinite while there is none."""
    best_node: Callable[[], Node] = lambda: ()
    """That node; the lattice's top while there is none."""
    score_of: Callable[[Node], float | None] = lambda _: None
    """The score of a node; None where it was not scored."""
    at_risk: Callable[[Node], int | None] = lambda _: None
    """The rows at risk of a node that was tested; None where it was not."""
    monotone_model: bool = True
    """Whether tags may be concluded from every verdict, see `PrivacyModel.monotone`."""
    prospects: Tags | None = None
    """Whether a node or one below it can be anonymous, which is monotone under every model; None: the tags say it."""
    prunes: bool = True
    """Whether a node that is not anonymous can rule out those below it; else all have prospects."""
    seed: int = 0
    """For strategies that draw."""
    evaluations: int | None = None
    """How many nodes a strategy that draws may look at; None for its own default."""
    candidate: Callable[[float], Node | None] = lambda _: None
    """Any node not ruled out whose least score is below both a limit and the best; None proves that there is none."""
    group: Callable[..., Any] | None = None
    """Attributes to be searched as a `Group`, see `Groups.merged`; None if the privacy model is not monotone."""
    counted: Callable[[Sequence[int]], Counted | None] = lambda _: None
    """The tuples of some attributes, where they can be had."""
    listing: Listing | None = None
    """What can be asked of all nodes at once; None where there are too many to list."""

    def promises(self, node: Node) -> bool | None:
        """Whether a node or one below it can be anonymous: where not, nothing below is; None where that is unknown.

        Where a node promises, so do all above it. Under a monotone model this says whether it is anonymous itself.
        """
        return (self.prospects or self.tags).status(node)

    @property
    def listable(self) -> bool:
        """Whether the lattice is small enough to list."""
        return self.listing is not None

    def open_nodes(self) -> Iterator[Node]:
        """The nodes neither scored nor known not to be anonymous when their turn comes, cheapest first."""
        return self.listing.open_nodes() if self.listing else iter(())

    def cheapest_unknown(self, node: Node, height: int) -> Node | None:
        """The cheapest node above this one, its levels adding up to `height`, of which `promises` is unknown."""
        return self.listing.cheapest_unknown(node, height) if self.listing else None

    def at_height(self, part: Lattice, height: int) -> Iterable[Node]:
        """The nodes of a sublattice on one of its levels, cheapest first where they can be listed."""
        if self.listing is None:
            return part.at_height(height)
        return self.listing.cheapest_first(part.bottom, part.top, height)

    def settled_between(self, lower: Node, upper: Node, most: float) -> bool:
        """Whether no unknown node between the two costs less than `most`; False may also mean: expensive to tell."""
        if self.listing is None:
            return self.tags.status(lower) is True or self.tags.status(upper) is False
        return not self.listing.unknown_between(lower, upper, most)

    def could_win(self, node: Node) -> bool:
        """Whether a node, or one above it, can still be better than the best."""
        return beats(self.bound(node), self.best())

    def __post_init__(self) -> None:
        self.bound = self.metric.bound_of(self.costs)
        """The least that a node and all above it can score."""
        self.parts = self.metric.parts(self.costs)
        """What each attribute's levels add to that."""

    def most(self, node: Node) -> float:
        """The most that a k-minimal node at or below an anonymous node can score."""
        return self.metric.most(self.bound(node), self.may_suppress / max(1, self.costs.rows))


def beats(score: float, other: float) -> bool:
    """Whether one score is better than another by more than rounding."""
    return score < other - _EQUAL * max(1.0, abs(score))


def in_chunks(nodes: Iterable[Node], size: int = 1024) -> Iterator[list[Node]]:
    """Cut nodes that are made one by one into lists, since a level of a large lattice does not fit in memory.

    >>> list(in_chunks([(0, 1), (1, 0), (1, 1)], 2))
    [[(0, 1), (1, 0)], [(1, 1)]]
    """
    made = iter(nodes)
    while chunk := list(islice(made, size)):
        yield chunk


def test(space: Space, node: Node) -> Generator[Test, list[bool], bool]:
    """Settle one node: from the tags if they know it, else by asking. Use with `yield from`."""
    known = space.tags.status(node)
    if known is None:
        (known,) = yield Test([node])
    return known


def promising(space: Space, node: Node) -> Generator[Test, list[bool], bool]:
    """Whether a node or one below it can be anonymous, by asking if need be; under a monotone model as `test`."""
    known = space.promises(node)
    if known is None:
        yield Test([node])
        known = space.promises(node)
    return bool(known)


Asked = Callable[[Space, Node], Generator[Test, list[bool], bool]]


def least_anonymous(
    space: Space, node: Node, attribute: int, at_risk: int, anonymous: int, asked: Asked = test
) -> Generator[Test, list[bool], int]:
    """The least level of an attribute that makes a node anonymous, between one that does not and one that does."""
    while anonymous - at_risk > 1:
        level = (at_risk + anonymous) // 2
        if (yield from asked(space, at_level(node, attribute, level))):
            anonymous = level
        else:
            at_risk = level
    return anonymous


test.__test__ = False  # type: ignore[attr-defined]
