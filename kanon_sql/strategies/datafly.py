"""Datafly (Sweeney 1997): raise the attribute with most distinct values until the table is anonymous."""

from __future__ import annotations

from kanon_sql.strategies.space import Score, Search, Space, test


def datafly(space: Space) -> Search:
    """Walk one path up from the bottom, each time raising the attribute that has most distinct values on its level.

    Of equally many the first; an attribute at its top is left. What is found is anonymous under any privacy model
    that holds on the way, and no more is promised: not the least height, nor the best by any metric, which the walk
    does not look at. The paper stops where no more than k rows would be suppressed; here the suppression limit says
    how many.
    """
    lattice, distinct = space.lattice, space.costs.distinct
    node = lattice.bottom
    while not (yield from test(space, node)) and node != lattice.top:
        most = max((j for j in range(len(node)) if node[j] < lattice.top[j]), key=lambda j: distinct[j][node[j]])
        node = (*node[:most], node[most] + 1, *node[most + 1 :])
    yield Score([node])
