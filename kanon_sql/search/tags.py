"""What is known of a lattice's nodes: judged, or tagged by what was judged above and below them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from kanon_sql.lattice import Lattice, Node, below

if TYPE_CHECKING:
    import numpy as np

DENSE_LIMIT = 20_000_000  # nodes; a byte each, so 20 MB

UNKNOWN, SAFE, AT_RISK = 0, 1, 2


class Tags(Protocol):
    """The status of nodes: True (anonymous), False (not), None (unknown)."""

    def status(self, node: Node) -> bool | None:
        """What is known of a node."""

    def tag(self, node: Node, anonymous: bool) -> None:
        """Note a verdict, and what predictive tagging concludes from it where that is sound."""


def tags_for(lattice: Lattice, monotone: bool) -> Tags:
    """The representation that fits the lattice's size."""
    return DenseTags(lattice, monotone) if lattice.size <= DENSE_LIMIT else SparseTags(monotone)


class DenseTags:
    """One byte per node in an array of the lattice's shape: a tag is the assignment of a block."""

    def __init__(self, lattice: Lattice, monotone: bool) -> None:
        import numpy as np

        self._bottom = lattice.bottom
        self._from_zero = not any(lattice.bottom)
        self._monotone = monotone
        shape = [high - low + 1 for low, high in zip(lattice.bottom, lattice.top, strict=True)]
        self.array: np.ndarray[Any, np.dtype[np.int8]] = np.zeros(shape, dtype=np.int8)

    def index(self, node: Node) -> tuple[int, ...]:
        """A node's place in the array."""
        if self._from_zero:
            return node
        return tuple(level - low for level, low in zip(node, self._bottom, strict=True))

    def status(self, node: Node) -> bool | None:
        """What is known of a node."""
        found = self.array[self.index(node)]
        return None if found == UNKNOWN else bool(found == SAFE)

    def tag(self, node: Node, anonymous: bool) -> None:
        """Note a verdict, and what predictive tagging concludes from it where that is sound."""
        at = self.index(node)
        if not self._monotone:
            self.array[at] = SAFE if anonymous else AT_RISK
        elif anonymous:
            self.array[tuple(slice(i, None) for i in at)] = SAFE
        else:
            self.array[tuple(slice(0, i + 1) for i in at)] = AT_RISK


class SparseTags:
    """For lattices too large to list: the minimal anonymous and the maximal non-anonymous nodes known."""

    def __init__(self, monotone: bool) -> None:
        self._monotone = monotone
        self._exact: dict[Node, bool] = {}
        self._safe: list[Node] = []
        self._at_risk: list[Node] = []

    def status(self, node: Node) -> bool | None:
        """What is known of a node."""
        if node in self._exact:
            return self._exact[node]
        if any(below(safe, node) for safe in self._safe):
            return True
        return False if any(below(node, at_risk) for at_risk in self._at_risk) else None

    def tag(self, node: Node, anonymous: bool) -> None:
        """Note a verdict, and what predictive tagging concludes from it where that is sound."""
        self._exact[node] = anonymous
        if not self._monotone:
            return
        if anonymous:
            self._safe = [*(other for other in self._safe if not below(node, other)), node]
        else:
            self._at_risk = [*(other for other in self._at_risk if not below(other, node)), node]
