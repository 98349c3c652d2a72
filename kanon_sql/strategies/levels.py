"""Counts a searched lattice level by level: all nodes, settled nodes, and checked nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.strategies.tags import AT_RISK, SAFE, DenseTags, Tags


@dataclass(frozen=True)
class NodesOfHeight:
    """The nodes whose levels add up to `height`.

    `anonymous` and `at_risk` count all nodes with that status, or if not `counted` (the lattice is too large to list)
    only the checked ones.
    """

    height: int
    size: int
    anonymous: int
    at_risk: int
    checked_anonymous: int
    checked_at_risk: int
    counted: bool

    @property
    def checked(self) -> int:
        """How many nodes were tested on the data."""
        return self.checked_anonymous + self.checked_at_risk

    @property
    def unknown(self) -> int:
        """How many nodes have no status."""
        return self.size - self.anonymous - self.at_risk


def levels(lattice: Lattice, tags: Tags, checked: Collection[Node]) -> list[NodesOfHeight]:
    """Count the nodes by level, the bottom's level first."""
    verdicts = {True: Counter[int](), False: Counter[int]()}
    for node in checked:
        verdicts[bool(tags.status(node))][sum(node)] += 1
    safe, at_risk = verdicts[True], verdicts[False]
    sizes = level_sizes(lattice)
    lowest = sum(lattice.bottom)
    if not isinstance(tags, DenseTags):
        heights = range(lowest, lowest + len(sizes))
        pairs = zip(heights, sizes, strict=True)
        return [NodesOfHeight(h, n, safe[h], at_risk[h], safe[h], at_risk[h], False) for h, n in pairs]
    counts = zip(sizes, _per_level(tags, SAFE), _per_level(tags, AT_RISK), strict=True)
    return [NodesOfHeight(h, n, a, b, safe[h], at_risk[h], True) for h, (n, a, b) in enumerate(counts, start=lowest)]


def level_sizes(lattice: Lattice) -> list[int]:
    """The numbers of nodes by level, exact for a lattice of any size: a product of polynomials.

    >>> level_sizes(Lattice((0, 0), (1, 2)))
    [1, 2, 2, 1]
    """
    sizes = [1]
    for low, high in zip(lattice.bottom, lattice.top, strict=True):
        height = high - low  # of one more attribute
        sizes = [sum(sizes[max(0, total - height) : total + 1]) for total in range(len(sizes) + height)]
    return sizes


def _per_level(tags: DenseTags, status: int) -> list[int]:
    """Count the nodes with a status by level, one slice of the array at a time."""
    shape = tags.array.shape
    counts = np.zeros(sum(shape) - len(shape) + 1, dtype=np.int64)
    rest = np.zeros((), dtype=np.int16)
    for length in shape[1:]:
        rest = np.add.outer(rest, np.arange(length, dtype=np.int16))
    for first, block in enumerate(tags.array):
        counted = np.bincount(rest[block == status], minlength=1)
        counts[first : first + len(counted)] += counted
    return [int(n) for n in counts]
