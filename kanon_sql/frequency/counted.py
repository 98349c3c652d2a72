"""The counted tuples of a few attributes in memory, where the rows at risk of nodes are summed up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from kanon_sql.frequency.frequency_set import Attribute
from kanon_sql.generalization.lattice import Node

Numbers: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"
Floats: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"
_CELLS = 1 << 20  # of an array of counts; beyond, the combinations of labels that occur are renumbered


@dataclass(frozen=True)
class AttributeLabels:
    """An attribute of counted tuples: per level the tuples' labels as numbers, and the labels' losses, 0 to 1."""

    numbers: tuple[Numbers, ...]
    losses: tuple[Floats, ...]


@dataclass
class CountedTuples:
    """The distinct tuples of some attributes with their rows; a class needs k rows."""

    labels: tuple[AttributeLabels, ...]
    rows: Floats
    k: int
    _path: list[tuple[int, Numbers, int]] = field(default_factory=list)  # the first levels of the previous node

    def rows_at_risk(self, node: Node) -> int:
        """The rows at risk of a node of these attributes, with all other attributes at their top."""
        sizes = self._sizes(node)[1]
        return int(sizes[sizes < self.k].sum())

    def lost(self, node: Node) -> list[float]:
        """The total loss of the labels of the rows at risk, per attribute."""
        classes, sizes = self._sizes(node)
        at_risk = np.flatnonzero(sizes[classes] < self.k)
        rows = self.rows[at_risk]
        pairs = zip(self.labels, node, strict=True)
        return [float(rows @ pair.losses[level][pair.numbers[level][at_risk]]) for pair, level in pairs]

    def _sizes(self, node: Node) -> tuple[Numbers, Floats]:
        """The tuples' classes as numbers, and the rows per class, 0 for unused numbers."""
        same = 0
        while same < len(self._path) and self._path[same][0] == node[same]:
            same += 1
        del self._path[same:]
        for labels, level in zip(self.labels[same:], node[same:], strict=True):
            self._path.append((level, *self._refined(labels, level)))
        _, classes, count = self._path[-1]
        sizes: Any = np.bincount(classes, self.rows, count)
        return classes, sizes

    def _refined(self, labels: AttributeLabels, level: int) -> tuple[Numbers, int]:
        """The classes of the attributes so far, refined by one more."""
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


def counted(attributes: Sequence[Attribute], tuples: Sequence[Sequence[Any]], k: int) -> CountedTuples:
    """The counted tuples of these attributes, from rows of their codes on level 0 and their count."""
    *codes, rows = np.array(tuples, dtype=np.int64).T
    return CountedTuples(tuple(map(_labels, attributes, codes)), rows.astype(np.float64), k)


def _labels(attribute: Attribute, codes: Numbers) -> AttributeLabels:
    levels = [_level(attribute, level) for level in range(attribute.hierarchy.height + 1)]
    return AttributeLabels(tuple(numbers[codes] for numbers, _ in levels), tuple(losses for _, losses in levels))


def _level(attribute: Attribute, level: int) -> tuple[Numbers, Floats]:
    """The label of every value on a level, by the value's code, and the loss of every label."""
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
