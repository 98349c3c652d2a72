"""Flash (Kohlmayer, Prasser, Eckert, Kemper, Kuhn, PASSAT 2012): binary search on paths through the lattice."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from heapq import heappop, heappush

from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import Costs
from kanon_sql.strategies.space import Score, Search, Space, Test, in_chunks, test

Rank = tuple[int, float, float]

_SORTED = 16_384  # nodes of a level that are sorted at once; larger levels are split


def flash(space: Space) -> Search:
    """Settle every node by binary search on greedy paths upwards, and score every node that could be the best.

    Needs a monotone privacy model. Finds the optimum of every metric. The paper keeps the best of the lowest nodes of
    the paths, which is the optimum of a monotone metric only; here an anonymous node above them is scored too, as long
    as it or one above it could still win. The tests are the paper's, and as many.
    """
    rank = _ranking(space.costs)
    for height in range(space.lattice.height + 1):
        for level in in_chunks(space.lattice.at_height(height), _SORTED):
            for node in sorted((n for n in level if space.tags.status(n) is None), key=rank):
                yield from _settle_from(space, node, rank)
            yield Score(level)


def _ranking(costs: Costs) -> Callable[[Node], Rank]:
    """The paper's three criteria: low levels first, then low shares of their heights, then many labels left.

    Equal nodes keep their order: lexicographic within a level, successors from the first attribute on.
    """
    count = len(costs.heights)
    shares = [[labels / levels[0] for labels in levels] for levels in costs.distinct]

    def rank(node: Node) -> Rank:
        height = sum(level / top for level, top in zip(node, costs.heights, strict=True)) / count
        left = sum(share[level] for share, level in zip(shares, node, strict=True)) / count
        return sum(node), height, 1 - left

    return rank


def _settle_from(space: Space, node: Node, rank: Callable[[Node], Rank]) -> Generator[Test | Score, list[bool], None]:
    """Search a path from this node, then from the unknown nodes directly above the nodes that failed on the way."""
    queue = [(rank(node), node)]
    while queue:
        _, head = heappop(queue)
        if space.tags.status(head) is not None:
            continue
        path = list(_path(space, head, rank))
        for failed in (yield from _bisect(space, path)):
            for above in space.lattice.successors(failed):
                if space.tags.status(above) is None:
                    heappush(queue, (rank(above), above))


def _path(space: Space, node: Node, rank: Callable[[Node], Rank]) -> Iterator[Node]:
    """From a node to the first unknown successor in order, and on until none is left."""
    above: Node | None = node
    while above:
        yield above
        unknown = (n for n in space.lattice.successors(above) if space.tags.status(n) is None)
        above = min(unknown, key=rank, default=None)


def _bisect(space: Space, path: list[Node]) -> Generator[Test | Score, list[bool], list[Node]]:
    """Find the lowest anonymous node of a path, by binary search; return the nodes that were not anonymous."""
    low, high, failed = 0, len(path), []
    while low < high:
        middle = (low + high - 1) // 2
        if (yield from test(space, path[middle])):
            high = middle
        else:
            failed.append(path[middle])
            low = middle + 1
    yield Score(path[high : high + 1])
    return failed
