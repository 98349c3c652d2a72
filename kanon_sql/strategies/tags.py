"""The status of a lattice's nodes: judged, or tagged because of verdicts above and below them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias

import numpy as np

from kanon_sql.generalization.lattice import Lattice, Node

DENSE_LIMIT = 2_000_000  # nodes; beyond, writing a block per tag takes longer than reading a list of borders

UNKNOWN, SAFE, AT_RISK = 0, 1, 2
Words: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.uint64]]"


class Tags(Protocol):
    """The status of nodes: True (anonymous), False (not), None (unknown)."""

    def status(self, node: Node) -> bool | None:
        """The status of a node."""

    def tag(self, node: Node, anonymous: bool, alone: bool = False) -> None:
        """Record a verdict, and what predictive tagging concludes from it: nothing if the node is tagged `alone`."""

    def minimal(self) -> list[Node]:
        """The nodes judged anonymous that generalize no other of them, lowest first."""


def tags_for(lattice: Lattice) -> Tags:
    """The representation that fits the lattice's size."""
    return DenseTags(lattice) if lattice.size <= DENSE_LIMIT else SparseTags(lattice)


class DenseTags:
    """One byte per node in an array of the lattice's shape: a tag is the assignment of a block."""

    def __init__(self, lattice: Lattice) -> None:
        self._bottom = lattice.bottom
        self._from_zero = not any(lattice.bottom)
        self._some_alone = False
        shape = [high - low + 1 for low, high in zip(lattice.bottom, lattice.top, strict=True)]
        self.array: np.ndarray[Any, np.dtype[np.int8]] = np.zeros(shape, dtype=np.int8)

    def index(self, node: Node) -> tuple[int, ...]:
        """A node's place in the array."""
        if self._from_zero:
            return node
        return tuple(level - low for level, low in zip(node, self._bottom, strict=True))

    def settled(self) -> int:
        """The number of nodes with a status."""
        return int(np.count_nonzero(self.array))

    def status(self, node: Node) -> bool | None:
        """The status of a node."""
        status = self.array[self.index(node)]
        return None if status == UNKNOWN else bool(status == SAFE)

    def tag(self, node: Node, anonymous: bool, alone: bool = False) -> None:
        """Record a verdict, and what predictive tagging concludes from it: nothing if the node is tagged `alone`."""
        at = self.index(node)
        if alone:
            self._some_alone = True
            self.array[at] = SAFE if anonymous else AT_RISK
        elif anonymous:
            self.array[tuple(slice(i, None) for i in at)] = SAFE
        else:
            self.array[tuple(slice(0, i + 1) for i in at)] = AT_RISK

    def minimal(self) -> list[Node]:
        """The nodes judged anonymous that generalize no other of them, lowest first."""
        above = self.array == SAFE
        if self._some_alone:  # nodes above these are not tagged
            for axis in range(above.ndim):
                above = np.logical_or.accumulate(above, axis=axis)
        lowest = above.copy()
        for axis in range(above.ndim):
            rest = (slice(None),) * axis
            lowest[(*rest, slice(1, None))] &= ~above[(*rest, slice(None, -1))]
        return _lowest_first(map(tuple, (np.argwhere(lowest) + np.array(self._bottom)).tolist()))


class SparseTags:
    """For lattices too large to list: the minimal anonymous and the maximal non-anonymous nodes."""

    def __init__(self, lattice: Lattice) -> None:
        self._exact: dict[Node, bool] = {}
        self._alone: list[Node] = []  # anonymous ones without conclusions
        self._bits = _Bits(lattice)
        self.safe = Border(self._bits, above=True)
        self.at_risk = Border(self._bits, above=False)

    def status(self, node: Node) -> bool | None:
        """The status of a node."""
        if node in self._exact:
            return self._exact[node]
        word = self._bits.of(node)
        if self.at_risk.covers(word):
            return False
        return True if self.safe.covers(word) else None

    def tag(self, node: Node, anonymous: bool, alone: bool = False) -> None:
        """Record a verdict, and what predictive tagging concludes from it: nothing if the node is tagged `alone`."""
        self._exact[node] = anonymous
        if alone:
            self._alone += [node] if anonymous else []
            return
        (self.safe if anonymous else self.at_risk).add(node)

    def minimal(self) -> list[Node]:
        """The nodes judged anonymous that generalize no other of them, lowest first."""
        if not self._alone:
            return _lowest_first(self.safe.nodes)
        lowest = Border(self._bits, above=True)
        for node in (*self.safe.nodes, *self._alone):
            lowest.add(node)
        return _lowest_first(lowest.nodes)


def _lowest_first(nodes: Iterable[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: (sum(node), node))


class _Bits:
    """Nodes as words of bits, one per attribute and level reached: a node is below another if its bits are a subset.

    Comparing a node with some thousand others takes a few operations on whole arrays.
    """

    def __init__(self, lattice: Lattice) -> None:
        self._bottom = lattice.bottom
        self._at = [0]
        for low, high in zip(lattice.bottom, lattice.top, strict=True):
            self._at.append(self._at[-1] + high - low)
        self.words = self._at[-1] // 64 + 1

    def of(self, node: Node) -> Words:
        """The words of a node."""
        bits = 0
        for level, low, at in zip(node, self._bottom, self._at, strict=False):
            bits |= ((1 << (level - low)) - 1) << at
        return np.frombuffer(bits.to_bytes(8 * self.words, "little"), dtype=np.uint64)


class Border:
    """Nodes of one status, and a test whether another is above (or below) one of them.

    Only the lowest (or highest) are stored: a node that is already covered changes nothing.
    """

    def __init__(self, bits: _Bits, above: bool) -> None:
        self._bits, self._above = bits, above
        self._words = np.zeros((bits.words, 0), dtype=np.uint64)  # a column per node
        self._nodes = np.zeros(0, dtype=object)

    @property
    def nodes(self) -> list[Node]:
        """The nodes on the border, in the order in which they came."""
        return list(self._nodes)

    def covers(self, word: Words) -> bool:
        """Whether a node is above (or below) one on the border."""
        return not self._outside(word, self._above).all()

    def add(self, node: Node) -> None:
        """Add a node unless it is covered, and remove the nodes that it covers."""
        word = self._bits.of(node)
        if self.covers(word):
            return
        kept = self._outside(word, not self._above) != 0
        self._words = np.concatenate([self._words[:, kept], word[:, None]], axis=1)
        added = np.empty(1, dtype=object)
        added[0] = node
        self._nodes = np.concatenate([self._nodes[kept], added])

    def _outside(self, word: Words, above: bool) -> Words:
        """For every node on the border, the bits that keep the word from being above (or below) it; 0 if it is."""
        outside = np.zeros(self._words.shape[1], dtype=np.uint64)
        for border_bits, bits in zip(self._words, word, strict=True):
            outside |= border_bits & ~bits if above else bits & ~border_bits
        return outside
