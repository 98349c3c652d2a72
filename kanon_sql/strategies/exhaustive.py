"""Breadth-first search of the whole lattice: the baseline that is always right."""

from __future__ import annotations

from kanon_sql.strategies.space import Score, Search, Space, Test, in_chunks


def exhaustive(space: Space) -> Search:
    """Settle every node, level by level from the bottom, and score every node that could be the best.

    Finds the optimum of every metric under every privacy model. With predictive tagging it tests the
    non-anonymous nodes and the minimal anonymous ones, no others.
    """
    for height in range(space.lattice.height + 1):
        for chunk in in_chunks(space.lattice.at_height(height)):
            yield Test(chunk)
            yield Score(chunk)
