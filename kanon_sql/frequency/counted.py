"""The tuples of a few attributes, counted once: what their nodes put at risk is then added up in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kanon_sql.frequency.frequency_set import Attribute
from kanon_sql.generalization.lattice import Node

if TYPE_CHECKING:
    Numbers = np.ndarray[tuple[int], np.dtype[np.int64]]
    Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

_CELLS = 1 << 20  # of an array of counts; beyond, the labels that occur together are numbered anew


@dataclass(frozen=True)
class Labels:
    """An attribute of counted tuples: by level each tuple's label as a number, and what each label loses, 0 to 1."""

    numbers: tuple[Numbers, ...]
    losses: tuple[Floats, ...]


@dataclass
class Counted:
    """Some attributes' distinct tuples and how many rows have each; under k-anonymity, a class needs k rows."""

    labels: tuple[Labels, ...]
    rows: Floats
    k: int
    _path: list[tuple[int, Numbers, int]] = field(default_factory=list)  # the first levels of the node before

    def rows_at_risk(self, node: Node) -> int:
        """The rows that a node of these attributes puts at risk, all others at their top."""
        sizes = self._sizes(node)[1]
        return int(sizes[sizes < self.k].sum())

    def lost(self, node: Node) -> list[float]:
        """What the labels of the rows at risk lose, added up, per attribute."""
        classes, sizes = self._sizes(node)
        at_risk = np.flatnonzero(sizes[classes] < self.k)
        rows, pairs = self.rows[at_risk], zip(self.labels, node, strict=True)
        return [float(rows @ pair.losses[level][pair.numbers[level][at_risk]]) for pair, level in pairs]

    def _sizes(self, node: Node) -> tuple[Numbers, Floats]:
        """Each tuple's class as a number, and the rows of each class; some numbers may stand for none."""
        known = 0
        while known < len(self._path) and self._path[known][0] == node[known]:
            known += 1
        del self._path[known:]
        for labels, level in zip(self.labels[known:], node[known:], strict=True):
            self._path.append((level, *self._refined(labels, level)))
        _, classes, count = self._path[-1]
        sizes: Any = np.bincount(classes, self.rows, count)
        return classes, sizes

    def _refined(self, labels: Labels, level: int) -> tuple[Numbers, int]:
        """The classes of the attributes so far, told apart by one more."""
        different = len(labels.losses[level])
        if not self._path:
            return labels.numbers[level], different
        _, classes, count = self._path[-1]
        if different == 1:
            return classes, count
        refined, count = classes * different + labels.numbers[level], count * different
        if count > _CELLS:
            found, refined = np.unique(refined, return_inverse=True)
            count = len(found)
        return refined, count


def counted(attributes: Sequence[Attribute], tuples: Sequence[Sequence[Any]], k: int) -> Counted:
    """The tuples of these attributes as they are fetched: their codes on level 0, and their rows."""
    *codes, rows = np.array(tuples, dtype=np.int64).T
    return Counted(tuple(map(_labels, attributes, codes)), rows.astype(np.float64), k)


def _labels(attribute: Attribute, codes: Numbers) -> Labels:
    levels = [_level(attribute, level) for level in range(attribute.hierarchy.height + 1)]
    return Labels(tuple(numbers[codes] for numbers, _ in levels), tuple(losses for _, losses in levels))


def _level(attribute: Attribute, level: int) -> tuple[Numbers, Floats]:
    """Each value's label on a level, by the value's code, and what each label loses."""
    hierarchy = attribute.hierarchy
    values, labels = (np.array(hierarchy.codes(number), dtype=np.int64) for number in (0, level))
    numbers = np.zeros(int(values.max()) + 1, dtype=np.int64)
    numbers[values] = labels
    losses = np.zeros(int(labels.max()) + 1)
    most = hierarchy.leaf_count - 1
    if most and level in attribute.coded.loss_levels:
        losses[labels] = (np.array(hierarchy.leaves(level), dtype=np.float64)[labels] - 1) / most
    elif most and level == hierarchy.height:
        losses[:] = 1.0
    return numbers, losses
