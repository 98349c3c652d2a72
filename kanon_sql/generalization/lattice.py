"""The generalization lattice: nodes are tuples of levels, one per quasi-identifier. Pure integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

Node = tuple[int, ...]


def below(lower: Node, upper: Node) -> bool:
    """Whether `upper` generalizes `lower` or equals it: none of its levels is lower."""
    return all(a <= b for a, b in zip(lower, upper, strict=True))


def at_level(node: Node, attribute: int, level: int) -> Node:
    """The node with one attribute on another level.

    >>> at_level((3, 4, 1), 1, 2)
    (3, 2, 1)
    """
    return (*node[:attribute], level, *node[attribute + 1 :])


def maximal(nodes: Iterable[Node]) -> list[Node]:
    """The nodes that no other node generalizes, highest first; in quadratic time, so for few nodes.

    >>> maximal([(0, 1), (1, 1), (2, 0)])
    [(1, 1), (2, 0)]
    """
    kept: dict[Node, int] = {}
    for node, bits in sorted(_bits(nodes).items(), key=lambda item: (-sum(item[0]), item)):
        if all(bits & ~other for other in kept.values()):
            kept[node] = bits
    return list(kept)


def _bits(nodes: Iterable[Node]) -> dict[Node, int]:
    """A bit per attribute and level reached: a node's bits are a subset of those of every node above it."""
    masks = dict.fromkeys(nodes, 0)
    width = max(map(max, filter(None, masks)), default=0)
    for node in masks:
        for level in node:
            masks[node] = masks[node] << width | (1 << level) - 1
    return masks


@dataclass(frozen=True)
class Lattice:
    """All nodes between `bottom` and `top`, both included.

    >>> lattice = Lattice((0, 0), (1, 2))
    >>> lattice.size, lattice.height, list(lattice.at_height(2))
    (6, 3, [(0, 2), (1, 1)])
    """

    bottom: Node
    top: Node

    @cached_property
    def size(self) -> int:
        """The number of nodes."""
        return prod(high - low + 1 for low, high in zip(self.bottom, self.top, strict=True))

    @cached_property
    def height(self) -> int:
        """The steps from the bottom to the top."""
        return sum(self.top) - sum(self.bottom)

    def has(self, node: tuple[object, ...]) -> bool:
        """Whether a tuple is one of the nodes.

        >>> Lattice((0, 0), (1, 2)).has((1, 2)), Lattice((0, 0), (1, 2)).has((2, 0))
        (True, False)
        """
        if len(node) != len(self.top):
            return False
        bounds = zip(self.bottom, node, self.top, strict=True)
        return all(isinstance(level, int) and low <= level <= high for low, level, high in bounds)

    def nodes(self) -> Iterator[Node]:
        """Every node, in lexicographic order."""
        yield from product(*(range(low, high + 1) for low, high in zip(self.bottom, self.top, strict=True)))

    def at_height(self, height: int) -> Iterator[Node]:
        """The nodes `height` steps above the bottom, in lexicographic order, one by one."""
        yield from _at_height(self.bottom, self.top, height)

    def successors(self, node: Node) -> Iterator[Node]:
        """The nodes one step more general."""
        for i, high in enumerate(self.top):
            if node[i] < high:
                yield (*node[:i], node[i] + 1, *node[i + 1 :])

    def predecessors(self, node: Node) -> Iterator[Node]:
        """The nodes one step less general."""
        for i, low in enumerate(self.bottom):
            if node[i] > low:
                yield (*node[:i], node[i] - 1, *node[i + 1 :])


def _at_height(bottom: Node, top: Node, height: int) -> Iterator[Node]:
    if not bottom:
        if height == 0:
            yield ()
        return
    room_above = sum(top[1:]) - sum(bottom[1:])
    for step in range(max(0, height - room_above), min(top[0] - bottom[0], height) + 1):
        for rest in _at_height(bottom[1:], top[1:], height - step):
            yield (bottom[0] + step, *rest)
