"""Depth-first search of the whole lattice: a baseline that always finds the optimum."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.strategies.space import Score, Search, Space, in_chunks, test


def depth_first(space: Space) -> Search:
    """Settle every node, depth first from the bottom, and score every node that could be the best.

    Finds the optimum of every metric under every privacy model. It is the DFS of the comparisons of Kohlmayer et
    al. (BMC Med. Inform. Decis. Mak. 2014) and Mahanan et al. (2021): with predictive tagging, nodes that are
    tagged by then are not tested.
    """
    for chunk in in_chunks(walk(space.lattice)):
        for node in chunk:
            yield from test(space, node)
        yield Score(chunk)


def walk(
    lattice: Lattice, children_first: int = 0, enter: Callable[[Node, Node], bool] = lambda *_: True
) -> Iterator[Node]:
    """Every node of a lattice once, depth first, in memory that does not grow with their number.

    The lattice is walked as the tree in which the children of a node raise the attribute last raised, or a later
    one; that is the order of a depth-first search that remembers where it was. `children_first`: how many children's
    subtrees come before the node itself: 0 is pre-order, 1 in-order, as many as there are attributes post-order.
    `enter`: called with a node and the highest node of its subtree before the visit; if false, the subtree is skipped.

    >>> list(walk(Lattice((0, 0), (1, 2))))
    [(0, 0), (1, 0), (1, 1), (1, 2), (0, 1), (0, 2)]
    >>> list(walk(Lattice((0, 0), (1, 2)), children_first=1))
    [(1, 2), (1, 1), (1, 0), (0, 0), (0, 2), (0, 1)]
    """
    top = lattice.top
    stack = [(lattice.bottom, 0, False)]
    while stack:
        node, raised, entered = stack.pop()
        if entered:
            yield node
        elif enter(node, (*node[:raised], *top[raised:])):
            children = [
                ((*node[:i], node[i] + 1, *node[i + 1 :]), i, False)
                for i in range(raised, len(top))
                if node[i] < top[i]
            ]
            stack += reversed([*children[:children_first], (node, raised, True), *children[children_first:]])
