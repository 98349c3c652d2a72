"""Optimal Lattice Anonymization (El Emam et al., JAMIA 16(5), 2009), with a cut."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field
from math import inf

from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.strategies.space import Score, Search, Space, Test, beats

Asking = Generator[Test | Score, list[bool], None]


def ola(space: Space) -> Search:
    """Find the best k-minimal node by binary search of sublattices.

    Needs a monotone privacy model. The best k-minimal node is the optimum where the metric is monotone
    (precision, height; any metric if nothing may be suppressed); otherwise a higher node can be better.

    The paper settles the whole lattice. Here a node whose least cost is more than some k-minimal node is known
    to cost at most is not asked for: on Adult that takes three of four tests away, and the answer is the same.
    """
    candidates = _Candidates()
    yield from _search(space, space.lattice, candidates)
    yield Score([node for node in candidates.anonymous if is_minimal(space, node)])


def is_minimal(space: Space, node: Node) -> bool:
    """Whether an anonymous node is known to have no anonymous node below it."""
    return all(space.tags.status(lower) is False for lower in space.lattice.predecessors(node))


@dataclass
class _Candidates:
    """The anonymous nodes asked for, among them all k-minimal ones that count; what the best costs at most."""

    anonymous: list[Node] = field(default_factory=list)
    most: float = inf
    done: set[tuple[Node, Node]] = field(default_factory=set)


def _search(space: Space, part: Lattice, candidates: _Candidates) -> Asking:
    """Settle what counts of a sublattice, halving it at its middle level."""
    if (part.bottom, part.top) in candidates.done or not _counts(space, part.bottom, candidates):
        return
    if space.settled_between(part.bottom, part.top, candidates.most):
        return
    candidates.done.add((part.bottom, part.top))
    if part.height <= 1:
        for node in dict.fromkeys((part.bottom, part.top)):
            if _counts(space, node, candidates) and (yield from _ask(space, node, candidates)):
                return
        return
    for node in space.at_height(part, part.height // 2):
        # A node too expensive to count is taken for anonymous unasked: all above it costs more, what counts is below.
        asked = space.may_suppress == 0 or _counts(space, node, candidates)
        # Either way there is a request, though the tags may know all: on a large level the clock must be looked at.
        below = (yield from _ask(space, node, candidates)) if asked else (yield from _taken(space, node))
        half = Lattice(part.bottom, node) if below else Lattice(node, part.top)
        yield from _search(space, half, candidates)


def _counts(space: Space, node: Node, candidates: _Candidates) -> bool:
    """Whether the best k-minimal node may be this one or one above it."""
    return not beats(candidates.most, space.bound(node))


def _ask(space: Space, node: Node, candidates: _Candidates) -> Generator[Test | Score, list[bool], bool]:
    asked = space.tags.status(node) is None
    (held,) = yield Test([node])
    if asked and held:  # a k-minimal node is never tagged by another, so it is always among those asked
        candidates.anonymous.append(node)
        candidates.most = min(candidates.most, space.most(node))
    return held


def _taken(space: Space, node: Node) -> Generator[Test | Score, list[bool], bool]:
    yield Test([])
    return space.tags.status(node) is not False
