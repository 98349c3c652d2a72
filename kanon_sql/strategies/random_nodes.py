"""Random search: the baseline of KGen's evaluation."""

from __future__ import annotations

from random import Random

from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.strategies.space import Score, Search, Space, Test

EVALUATIONS = 5_000  # De Pascale et al. 2022, table 6
_AT_ONCE = 1024


def random_nodes(space: Space) -> Search:
    """Judge nodes drawn uniformly from the whole lattice, and keep the best (De Pascale et al. 2022, section 4.3).

    Draws `space.evaluations` nodes, 5,000 by default, with replacement. Under any metric and any privacy model the
    result is anonymous, but its score is not guaranteed. The same seed draws the same nodes.
    """
    rng = Random(space.seed)
    left = space.evaluations or EVALUATIONS
    while left > 0:
        nodes = [random_node(rng, space.lattice) for _ in range(min(left, _AT_ONCE))]
        left -= len(nodes)
        yield Test(nodes)
        yield Score(nodes)


def random_node(rng: Random, lattice: Lattice) -> Node:
    """A node of a lattice, drawn uniformly.

    >>> random_node(Random(0), Lattice((0, 0, 1), (5, 0, 3)))
    (3, 0, 1)
    """
    return tuple(map(rng.randint, lattice.bottom, lattice.top))
