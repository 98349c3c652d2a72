"""Incognito (LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005): the lattices of growing subsets of the attributes."""

from __future__ import annotations

from collections.abc import Generator
from itertools import combinations, compress

from kanon_sql.generalization.lattice import Lattice, Node, at_level
from kanon_sql.strategies.space import Score, Search, Space, Test, in_chunks


def incognito(space: Space) -> Search:
    """Find all k-minimal nodes by way of the subsets of the attributes, and release the best of them.

    Needs a monotone privacy model. The best k-minimal node is the optimum where the metric is monotone (precision,
    height; any metric if nothing may be suppressed); otherwise a higher node can be better.

    A subset's lattice is the part of the whole one in which the other attributes are at their top, where the judge
    does not group by them. So the tags there are the paper's a-priori pruning (a node is excluded if its
    projection on fewer attributes was not anonymous) and, in each lattice, its generalization property. The judge
    rolls up frequency sets.

    A node with an attribute at its top was already tested in a smaller subset's lattice. The paper tests it again,
    here it is requested again and answered from the tags: so there are more requests, which the paper counts,
    than tests.
    """
    attributes = range(len(space.lattice.top))
    minimal: list[Node] = []
    for size in range(1, len(attributes) + 1):
        for subset in combinations(attributes, size):
            minimal = yield from minimal_of(space, _part(space, subset))
    yield Score(minimal)


def minimal_of(space: Space, part: Lattice) -> Generator[Test | Score, list[bool], list[Node]]:
    """Breadth-first search of a subset's lattice: its minimal anonymous nodes."""
    anonymous: list[Node] = []
    for height in range(part.height + 1):
        any_below = False
        for chunk in in_chunks(part.at_height(height)):
            candidates = [node for node in chunk if _is_candidate(space, part, node)]
            anonymous += compress(candidates, (yield Test(candidates)))
            any_below = any_below or any(space.tags.status(node) is False for node in chunk)
        if not any_below:
            break  # all nodes above are anonymous, and not minimal
    return anonymous


def _part(space: Space, subset: tuple[int, ...]) -> Lattice:
    """The lattice of a subset, starting at the lowest levels on which its attributes are anonymous alone."""
    top = space.lattice.top
    bottom = list(top)
    for j in subset:
        bottom[j] = space.lattice.bottom[j]
        while bottom[j] < top[j] and space.tags.status(at_level(top, j, bottom[j])) is False:
            bottom[j] += 1
    return Lattice(tuple(bottom), top)


def _is_candidate(space: Space, part: Lattice, node: Node) -> bool:
    """Whether a node is neither pruned nor above an anonymous one; all nodes below it are settled by then."""
    status = space.tags.status
    return status(node) is not False and all(status(lower) is False for lower in part.predecessors(node))
