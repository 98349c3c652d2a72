"""Samarati's binary search on the height (IEEE TKDE 13(6), 2001)."""

from __future__ import annotations

from collections.abc import Generator

from kanon_sql.strategies.space import Score, Search, Space, Test, in_chunks

_AT_ONCE = (
    32  # nodes of the last level tested together; with fewer, the best so far would save more tests, in more statements
)


def samarati(space: Space) -> Search:
    """Find the least height with an anonymous node, by bisection, and the best anonymous node of that height.

    Needs a monotone privacy model. The node has the least height, so it is the optimum by `height`, but not by
    other metrics. The paper leaves the choice among the nodes of that height to the user; here it is the metric's.
    A height is tried node by node until one is anonymous. Where none is, the next try is higher; taking single nodes
    that fail for the height's failure overshoots (see docs/search.md).
    """
    low, high = 0, space.lattice.height
    while low < high:
        middle = (low + high) // 2
        if (yield from _has_anonymous(space, middle)):
            high = middle
        else:
            low = middle + 1
    for chunk in in_chunks(space.lattice.at_height(high), _AT_ONCE):
        yield Test([node for node in chunk if space.could_win(node)])
        yield Score(chunk)


def _has_anonymous(space: Space, height: int) -> Generator[Test | Score, list[bool], bool]:
    """Whether a height has an anonymous node."""
    for node in space.lattice.at_height(height):
        (is_anonymous,) = yield Test([node])
        if is_anonymous:
            return True
    return False
