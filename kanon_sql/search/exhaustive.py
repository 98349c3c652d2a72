"""Breadth-first search of the whole lattice: the baseline that is always right."""

from __future__ import annotations

from itertools import islice

from kanon_sql.search.space import Score, Search, Space, Test

_AT_ONCE = 1024  # nodes in one request: a level of a large lattice does not fit in memory


def exhaustive(space: Space) -> Search:
    """Settle every node, level by level from the bottom, and score all that could be the best.

    Finds the optimum of every metric under every privacy model. With predictive tagging it tests the
    non-anonymous nodes and the minimal anonymous ones, no others.
    """
    for height in range(space.lattice.height + 1):
        nodes = space.lattice.at_height(height)
        while chunk := list(islice(nodes, _AT_ONCE)):
            yield Test(chunk)
            yield Score(chunk)
