"""Optimal Lattice Anonymization (El Emam et al., JAMIA 16(5), 2009), with a cut."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from math import inf

from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.loss import beats
from kanon_sql.strategies.space import Score, Search, Space, Test


def ola(space: Space) -> Search:
    """Find the best k-minimal node by binary search of sublattices.

    Needs a monotone privacy model. The best k-minimal node is the optimum where the metric is monotone
    (precision, height; any metric if nothing may be suppressed); otherwise a higher node can be better.

    The paper settles the whole lattice. Here nodes whose least cost exceeds the maximum cost of a k-minimal node found
    so far are not tested: on Adult that saves three of four tests, with the same result.
    """
    candidates = _Candidates()
    yield from _search(space, space.lattice, candidates)
    yield Score([node for node in candidates.anonymous if is_minimal(space, node)])


def is_minimal(space: Space, node: Node) -> bool:
    """Whether all nodes directly below an anonymous node are proven not to be anonymous."""
    return all(space.tags.status(lower) is False for lower in space.lattice.predecessors(node))


@dataclass
class _Candidates:
    """The anonymous nodes found, including all k-minimal ones that count; `most`: an upper bound for the best cost."""

    anonymous: list[Node] = field(default_factory=list)
    most: float = inf
    done: set[tuple[Node, Node]] = field(default_factory=set)


def _search(space: Space, part: Lattice, candidates: _Candidates) -> Search:
    """Settle the nodes of a sublattice that count, halving it at its middle level."""
    if (part.bottom, part.top) in candidates.done or not _counts(space, part.bottom, candidates):
        return
    if space.settled_between(part.bottom, part.top, candidates.most):
        return
    candidates.done.add((part.bottom, part.top))
    if part.height <= 1:
        for node in dict.fromkeys((part.bottom, part.top)):
            if _counts(space, node, candidates) and (yield from _test(space, node, candidates)):
                return
        return
    for node in space.at_height(part, part.height // 2):
        # A node too expensive to count is assumed to be anonymous without a test: nodes above it cost even more.
        if space.may_suppress == 0 or _counts(space, node, candidates):
            below = yield from _test(space, node, candidates)
        else:
            yield Test([])  # lets the driver check the time limit on a large level
            below = space.tags.status(node) is not False
        half = Lattice(part.bottom, node) if below else Lattice(node, part.top)
        yield from _search(space, half, candidates)


def _counts(space: Space, node: Node, candidates: _Candidates) -> bool:
    """Whether this node or one above it can be the best k-minimal node."""
    return not beats(candidates.most, space.bound(node))


def _test(space: Space, node: Node, candidates: _Candidates) -> Generator[Test | Score, list[bool], bool]:
    is_new = space.tags.status(node) is None
    (is_anonymous,) = yield Test([node])
    if is_new and is_anonymous:  # a k-minimal node is never tagged because of another one, so it is always new
        candidates.anonymous.append(node)
        candidates.most = min(candidates.most, space.most(node))
    return is_anonymous
