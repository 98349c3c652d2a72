"""Best-first search: settle the cheapest nodes first, rule out as many as possible, stop when none can win."""

from __future__ import annotations

from collections.abc import Generator

from kanon_sql.errors import SpecError
from kanon_sql.generalization.lattice import Node
from kanon_sql.strategies.space import Score, Search, Space, Test, test


def best_first(space: Space) -> Search:
    """Walk the nodes in the order of the least that they can cost, as far as one could still be the best.

    From an unknown node the heights above it are bisected, asking for the cheapest unknown node of each: one
    that is not anonymous rules out all below it, one that is may be the best. Finds the optimum of every metric
    under every privacy model, and has proven it when it ends. A lattice too large to list is a SpecError.
    """
    if not space.listable:
        raise SpecError(f"best_first has to list all nodes, and {space.lattice.size:.1e} are too many; choose auto")
    for node in space.open_nodes():
        if not space.could_win(node):
            return
        if space.tags.status(node) is None:
            yield from _bisect_above(space, node)
        yield Score([node])


def _bisect_above(space: Space, node: Node) -> Generator[Test | Score, list[bool], None]:
    """Settle a node, and on the way a border between what is not anonymous and what is."""
    at_risk, anonymous = sum(node) - 1, sum(space.lattice.top) + 1
    base = node
    while anonymous - at_risk > 1:
        height = (at_risk + anonymous) // 2
        cheapest = space.cheapest_unknown(base, height)
        if cheapest is None:
            anonymous = height
        elif (yield from test(space, cheapest)):
            anonymous = height
            yield Score([cheapest])
        else:
            at_risk, base = height, cheapest
    yield from test(space, node)
