"""Groups of attributes searched one by one, because their optima add up to a lower bound."""

from __future__ import annotations

from math import prod

from kanon_sql.strategies.attribute_groups import Group
from kanon_sql.strategies.best_first import bisect_above
from kanon_sql.strategies.space import Score, Search, Space, Test
from kanon_sql.strategies.turns import side_by_side

_LARGEST = 1_000_000  # nodes of a group; beyond, finding its cheapest takes longer than several tests
_COUNTED = 64  # nodes counted in memory before it is the next search's turn
_COUNTED_FASTER = 8  # times than a test

AttributeIndexes = tuple[int, ...]


def by_groups(space: Space) -> Search:
    """Find the optima of pairs of attributes, then of pairs of these groups, and so on.

    The driver adds up their bounds; a group's bound is at least the sum of its parts' bounds. Nodes
    that fail rule out all below them in the whole lattice, by clauses of as few attributes as the group has. The
    groups of one size are searched side by side, cheapest nodes first, so that the bound rises all the time. Ends
    when no two groups together are small enough to list.
    """
    groups: list[AttributeIndexes] = [(j,) for j in range(len(space.lattice.top))]
    while space.group and (pairs := _pairs(space, groups)):
        paired = {group for pair in pairs for group in pair}
        groups = [group for group in groups if group not in paired] + [first + second for first, second in pairs]
        yield from side_by_side([_solved(space.group(*pair)) for pair in pairs])


def _pairs(space: Space, groups: list[AttributeIndexes]) -> list[tuple[AttributeIndexes, AttributeIndexes]]:
    """The smallest group with the largest that it can be listed with, and so on, for groups of like sizes."""
    left, pairs = sorted(groups, key=lambda group: (_nodes(space, group), group)), []
    while left:
        first = left.pop(0)
        fitting = [group for group in left if _nodes(space, first + group) <= _LARGEST]
        if fitting:
            left.remove(fitting[-1])
            pairs.append((first, fitting[-1]))
    return pairs


def _nodes(space: Space, attributes: AttributeIndexes) -> int:
    return prod(space.lattice.top[j] - space.lattice.bottom[j] + 1 for j in attributes)


def _solved(group: Group) -> Search:
    """Find the optimum of a group, in memory if its tuples can be had, else its requests as nodes of the lattice."""
    if group.is_counted:
        yield from _counted(group)
        return
    search = _cheapest_first(group)
    request = next(search, None)
    while request:
        answers: list[bool] = []
        if isinstance(request, Test):
            answers = yield Test([group.whole(node) for node in request.nodes])
        else:
            yield from _scored(group, request)
        try:
            request = search.send(answers)
        except StopIteration:
            return


def _counted(group: Group) -> Search:
    """Close all nodes of a group up to a target, the dearest first, since they rule out most; and raise the target.

    Each target lets in as many nodes as were counted before.
    """
    every = 0
    while (target := group.target(every + _COUNTED)) is not None:
        while counted := group.count(target, _COUNTED):
            every += counted
            yield Test((), weight=1 + counted // _COUNTED_FASTER)


def _cheapest_first(group: Group) -> Search:
    """As `best_first`, but what a node was found to lose raises the cost of all below it, and so changes the order."""
    while (node := group.cheapest_open()) is not None:
        if group.space.promises(node) is None:
            yield from bisect_above(group.space, node)
        yield Score([node])


def _scored(group: Group, request: Score) -> Search:
    """Request the losses of nodes that could be the group's best, unless their levels determine the losses."""
    for node in request.nodes if group.counts_suppressed else ():
        if group.space.tags.status(node) and group.space.could_win(node):
            yield Score([group.whole(node)], all_of_them=True)
