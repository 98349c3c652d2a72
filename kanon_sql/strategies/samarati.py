"""Samarati's binary search on the height (IEEE TKDE 13(6), 2001)."""

from __future__ import annotations

from collections.abc import Generator

from kanon_sql.strategies.space import Score, Search, Space, Test, in_chunks

_AT_ONCE = 32  # nodes of the last level tested together; fewer, and more of the others are spared by the best so far


def samarati(space: Space) -> Search:
    """Find the least height that has an anonymous node, by bisection; of its anonymous nodes, the best.

    Needs a monotone privacy model. The height is the least there is, so the node is the optimum by `height`, and by
    no other metric. The paper leaves the choice among the nodes of that height to the user; here it is the metric's.
    A height is tried node by node until one is anonymous. Where none is, the next try is higher; taking single nodes
    that fail for the height's failure overshoots (see docs/search.md).
    """
    low, high = 0, space.lattice.height
    while low < high:
        middle = (low + high) // 2
        if (yield from _holds(space, middle)):
            high = middle
        else:
            low = middle + 1
    for chunk in in_chunks(space.lattice.at_height(high), _AT_ONCE):
        yield Test([node for node in chunk if space.could_win(node)])
        yield Score(chunk)


def _holds(space: Space, height: int) -> Generator[Test | Score, list[bool], bool]:
    """Whether a height has an anonymous node."""
    for node in space.lattice.at_height(height):
        (held,) = yield Test([node])
        if held:
            return True
    return False
