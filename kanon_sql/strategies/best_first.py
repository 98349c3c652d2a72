"""Best-first search: settle the cheapest nodes first, rule out as many as possible, stop when none can win."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import islice

from kanon_sql.errors import SpecError
from kanon_sql.generalization.lattice import Node
from kanon_sql.strategies.space import Score, Search, Space, Test, promising
from kanon_sql.strategies.turns import side_by_side

_AT_ONCE = 8  # nodes settled side by side, so that each statement tests several; about as many tests as one by one


def best_first(space: Space) -> Search:
    """Walk the nodes in the order of their least costs, until no more of them could be the best.

    From an unknown node the heights above it are bisected, testing the cheapest unknown node of a height: if it
    is not anonymous, it rules out all below it, otherwise it might be the best. Several nodes are settled side by side,
    so that their tests go into the same statements. Finds the optimum of every metric under every privacy model, and
    has proven it when it ends. A lattice too large to list is a SpecError.

    Where the privacy model is not monotone, the bisection is on whether nodes promise (`Space.promises`), which is
    monotone; nodes that do are tested one by one, as far as they could be the best.
    """
    if not space.listable:
        raise SpecError(f"best_first has to list all nodes, and {space.lattice.size:.1e} are too many; choose auto")
    for chunk in _some_at_once(space.open_nodes()):
        nodes = list(filter(space.could_win, chunk))
        if not nodes:
            return
        yield from side_by_side([bisect_above(space, node) for node in nodes if space.promises(node) is None])
        yield Test([node for node in nodes if space.could_win(node)])
        yield Score(nodes)


def _some_at_once(nodes: Iterator[Node]) -> Iterator[list[Node]]:
    """One by one at first, then increasingly more, because the first answers settle many of the next nodes."""
    taken = 0
    while some := list(islice(nodes, min(_AT_ONCE, 1 + taken // 4))):
        yield some
        taken += len(some)


def bisect_above(space: Space, node: Node) -> Generator[Test | Score, list[bool], None]:
    """Settle whether a node promises, and on the way find a border between nodes that do not and nodes that do."""
    at_risk, anonymous = sum(node) - 1, sum(space.lattice.top) + 1
    base = node
    while anonymous - at_risk > 1:
        height = (at_risk + anonymous) // 2
        cheapest = space.cheapest_unknown(base, height)
        if cheapest is None:
            anonymous = height
        elif (yield from promising(space, cheapest)):
            anonymous = height
            yield Score([cheapest])
        else:
            at_risk, base = height, cheapest
    yield from promising(space, node)
