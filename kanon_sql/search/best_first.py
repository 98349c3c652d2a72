"""Best-first search with growth: settle the cheapest nodes first, and stop when none can beat the best."""

from __future__ import annotations

from collections.abc import Generator

from kanon_sql.lattice import Node
from kanon_sql.search.ola import ola
from kanon_sql.search.space import Score, Search, Space, Test, test


def auto(space: Space) -> Search:
    """Best-first where the lattice can be listed, which proves the optimum; else OLA, until time ends."""
    return best_first(space) if space.listable else ola(space)


def best_first(space: Space) -> Search:
    """Walk the nodes in the order of the least that they can cost, as far as one could still be the best.

    A node that is not anonymous is grown along its cheapest successors to a maximal one, by binary search
    of the path as in Flash (Kohlmayer et al. 2012), so that it rules out as many nodes as it can.
    Finds the optimum of every metric under every privacy model, and has proven it when it ends.
    """
    for node in space.open_nodes():
        if not space.could_win(node):
            return
        if (yield from test(space, node)):
            yield Score([node])
        else:
            yield from _grow(space, node)


def _grow(space: Space, node: Node) -> Generator[Test | Score, list[bool], None]:
    """Find a maximal non-anonymous node above one, and score the anonymous nodes met on the way."""
    while len(path := _cheapest_path(space, node)) > 1:
        at_risk, anonymous = 0, len(path)
        while anonymous - at_risk > 1:
            middle = (at_risk + anonymous) // 2
            if (yield from test(space, path[middle])):
                anonymous = middle
            else:
                at_risk = middle
        yield Score(path[anonymous : anonymous + 1])
        node = path[at_risk]


def _cheapest_path(space: Space, node: Node) -> list[Node]:
    """From a node always to the cheapest successor that is not known to be anonymous, as far as there is one."""
    path = [node]
    while True:
        above = [(space.tags.status(n), space.bound(n), n) for n in space.lattice.successors(path[-1])]
        possible = [(status is None, bound, n) for status, bound, n in above if not status]
        if not possible:
            return path
        path.append(min(possible)[2])
