"""Datafly (Sweeney 1997): raise the attribute with most distinct values until the table is anonymous."""

from __future__ import annotations

from kanon_sql.generalization.lattice import at_level
from kanon_sql.strategies.space import Score, Search, Space, test


def datafly(space: Space) -> Search:
    """Walk one path up from the bottom, always raising the attribute with the most distinct values on its level.

    The first of several with equally many; attributes at their top are skipped. The result is anonymous under any
    privacy model that is met on the way, but neither of the least height nor the best by any metric, which the walk
    ignores. The paper stops where no more than k rows would be suppressed; here the suppression limit says
    how many.
    """
    lattice, distinct = space.lattice, space.costs.distinct
    node = lattice.bottom
    while not (yield from test(space, node)) and node != lattice.top:
        most = max((j for j in range(len(node)) if node[j] < lattice.top[j]), key=lambda j: distinct[j][node[j]])
        node = at_level(node, most, node[most] + 1)
    yield Score([node])
