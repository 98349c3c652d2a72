"""Certified search: lazy clauses from judged nodes, and a solver that proposes nodes that are still open."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from math import inf, log
from random import Random

from kanon_sql.generalization.lattice import Node, at_level
from kanon_sql.loss import beats
from kanon_sql.strategies.by_groups import by_groups
from kanon_sql.strategies.reduction import lattice_minimum
from kanon_sql.strategies.space import Score, Search, Space, Test, least_anonymous, promising, test
from kanon_sql.strategies.turns import in_turns, side_by_side

Growing = Generator[Test, list[bool], Node]

_CANDIDATES = 8  # searched side by side, so that statements test several nodes; more of them would repeat each other
_CUTS = 2  # per node, side by side too


def certified(space: Space) -> Search:
    """Find the optimum of a lattice of any size, and prove it.

    A solver proposes a node that all judged nodes leave open and that can still be better than the best. If it is
    anonymous, it is lowered until it is k-minimal, and becomes the best. If not, it is raised as long as it is not
    anonymous: then all nodes below it are ruled out, by a clause of few literals because most attributes end at their
    top. When there are no more proposals, the best is the optimum. Before that, the cheapest open node is the lower
    bound.

    Where the metric is monotone (precision, height; any if no row may be suppressed) the best anonymous node is the
    one whose levels cost least, and the search ends. Where a higher node can be better, that node's cost is the first
    lower bound; then every anonymous node whose levels cost less than the best scores has to be scored. As that is
    often too much, half of the tests go to groups of attributes, whose optima add up to another bound; see `by_groups`.

    Where the privacy model is not monotone, all this is done with the nodes that promise (`Space.promises`), which is
    monotone, in the place of the anonymous ones; the remaining open ones are all tested. Only nodes
    that do not promise then rule out the nodes below; any other node that is not anonymous is ruled out alone.

    The implicit hitting set idea is that of E. Moreno-Centeno and R. Karp (Operations Research 61(2), 2013); the
    reduction to small causes is U. Junker's QuickXplain (AAAI 2004), with galloping prefixes.
    """
    if _is_hard(space):
        yield from in_turns(space, _proving(space), by_groups(space))
    else:
        yield from _proving(space)


def _is_hard(space: Space) -> bool:
    """Whether the levels' costs bound the scores badly: suppressed rows count, and there are many nodes."""
    return space.group is not None and not space.listable and not space.metric.monotone(space.may_suppress)


def _proving(space: Space) -> Search:
    draw = Random(space.seed)
    yield from lattice_minimum(space)  # nothing anonymous is below: the first clauses
    least = [(yield from _reach(space, space.lattice.top, draw))]
    yield from side_by_side([_toward_cheapest(space, least, Random(draw.random())) for _ in range(_CANDIDATES)])
    yield from side_by_side([_toward_best(space, Random(draw.random())) for _ in range(_CANDIDATES)])


def _toward_cheapest(space: Space, least: list[float], draw: Random) -> Search:
    """Rule out nodes until no open one is cheaper than the cheapest anonymous one, which costs `least`."""
    while (node := space.candidate(least[0])) is not None:
        high = _raised(space, node, least[0], draw)
        if not (yield from promising(space, high)):
            yield from _cuts(space, high, draw)
        elif beats(space.bound(high), least[0]):  # else another search has found a cheaper one meanwhile
            cost = yield from _reach(space, high, draw)
            least[0] = min(least[0], cost)


def _toward_best(space: Space, draw: Random) -> Search:
    """Settle open nodes until none can be better than the best."""
    while (node := space.candidate(inf)) is not None:
        if (yield from test(space, node)):
            yield Score([node])
        elif space.promises(node) is False:
            yield from _cuts(space, node, draw)


def _reach(space: Space, node: Node, draw: Random) -> Generator[Test | Score, list[bool], float]:
    """Score a k-minimal node below an anonymous one; return the cost of its levels."""
    low = yield from lowered(space, node, draw)
    yield Score([low, node])
    return space.bound(low)


def _cuts(space: Space, node: Node, draw: Random) -> Search:
    """Rule out as many nodes as possible with one that is not anonymous."""
    yield from side_by_side([_cut(space, node, Random(draw.random())) for _ in range(_CUTS)])


def lowered(space: Space, node: Node, draw: Random) -> Growing:
    """A k-minimal node below an anonymous one: one attribute after the other, the costliest steps first."""
    for j in _by_price(space, draw, costliest_first=True):
        level = yield from least_anonymous(space, node, j, space.lattice.bottom[j] - 1, node[j], promising)
        node = at_level(node, j, level)
    return node


def _cut(space: Space, node: Node, draw: Random) -> Growing:
    """A maximal node that is not anonymous, above one that is not: few attributes, as high as can be."""
    weight = [draw.uniform(0.5, 1.5) for _ in node]
    distinguishing = [j for j, high in enumerate(space.lattice.top) if node[j] < high]
    # How much an attribute can tell rows apart: the logarithm of its labels on a level.
    information = [log(max(1, labels[level])) for labels, level in zip(space.costs.distinct, node, strict=True)]
    distinguishing.sort(key=lambda j: (-weight[j] * information[j], j))
    needed: list[int] = []
    while distinguishing:
        count = yield from _prefix(space, node, needed, distinguishing)
        needed.append(distinguishing[count - 1])
        distinguishing = distinguishing[: count - 1]
        if not (yield from promising(space, _only(space, node, needed))):
            break
    node = _only(space, node, needed)
    for j in _by_price(space, draw, costliest_first=False):
        if j in needed:
            level = yield from least_anonymous(space, node, j, node[j], space.lattice.top[j], promising)
            node = at_level(node, j, level - 1)
    return node


def _prefix(space: Space, node: Node, needed: list[int], distinguishing: list[int]) -> Generator[Test, list[bool], int]:
    """How many distinguishing attributes, in addition to the needed ones, it takes for the node not to be anonymous."""
    low, high, step = 0, len(distinguishing), 1
    while high - low > 1:
        count = min(low + step, high - 1) if step else (low + high) // 2
        if (yield from promising(space, _only(space, node, needed + distinguishing[:count]))):
            low, step = count, 2 * step
        else:
            high, step = count, 0
    return high


def _only(space: Space, node: Node, attributes: Sequence[int]) -> Node:
    """The node with all other attributes at their top."""
    kept = set(attributes)
    return tuple(
        level if j in kept else high for j, (level, high) in enumerate(zip(node, space.lattice.top, strict=True))
    )


def _by_price(space: Space, draw: Random, costliest_first: bool) -> list[int]:
    """The attributes by what one step costs on average, equal ones in any order."""
    bottom, top = space.lattice.bottom, space.lattice.top
    price = [
        (part[high] - part[low]) / (high - low) if high > low else 0.0
        for part, low, high in zip(space.parts, bottom, top, strict=True)
    ]
    order = draw.sample(range(len(price)), len(price))
    return sorted(order, key=lambda j: -price[j] if costliest_first else price[j])


def _raised(space: Space, node: Node, limit: float, draw: Random) -> Node:
    """A node raised as far as it costs less than the limit: nearer to the border, and its cuts are the stronger."""
    limit = min(limit, space.best())
    levels = list(node)
    left = space.metric.begin(limit) - sum(part[level] for part, level in zip(space.parts, node, strict=True))
    waiting = draw.sample(range(len(node)), len(node))
    while waiting:
        still = []
        for j in waiting:
            if levels[j] < space.lattice.top[j]:
                price = space.parts[j][levels[j] + 1] - space.parts[j][levels[j]]
                if price < left:
                    levels[j], left = levels[j] + 1, left - price
                    still.append(j)
        waiting = still
    raised = tuple(levels)
    return raised if beats(space.bound(raised), limit) else node
