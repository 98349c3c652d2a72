"""Codes of a frequency set as arrays, to count the classes of many sets of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_KEYS = 2**63 - 1  # combinations of codes that a number can represent
_DENSE = 4  # combinations per row, up to which they are counted in an array of all possible ones
Integers = NDArray[np.integer[Any]]


class CodeArrays:
    """The codes of a table's rows, or of its distinct tuples with their numbers of rows."""

    def __init__(self, rows: Integers, codes: Mapping[str, Integers]) -> None:
        total = int(rows.sum())
        self._rows: Integers | None = rows if total > 2 * len(rows) else None
        by_row = {name: code if self._rows is not None else code.repeat(rows) for name, code in codes.items()}
        self._codes = {name: code.astype(np.min_scalar_type(code.max())) for name, code in by_row.items()}
        self._sizes = {name: int(code.max()) + 1 for name, code in by_row.items()}

    def classes(self, names: Sequence[str]) -> Integers:
        """The numbers of rows in the classes of equal codes."""
        keys, most = self._keys(names)
        if most <= _DENSE * len(keys):
            classes = np.bincount(keys, self._rows).astype(np.int64)
            return classes[classes > 0]
        if self._rows is None:
            keys.sort()
            return np.diff(_starts(keys), append=len(keys))
        order = np.argsort(keys)
        return np.add.reduceat(self._rows[order], _starts(keys[order]))

    def _keys(self, names: Sequence[str]) -> tuple[Integers, int]:
        """A number per row that represents its codes, and the number of possible ones."""
        kind: type[Any] = np.uint32 if prod(self._sizes[name] for name in names) < 2**32 else np.int64
        keys: NDArray[Any] = np.zeros(len(self._codes[names[0]]), dtype=kind)
        most = 1
        for name in names:
            if most * self._sizes[name] > _MOST_KEYS:
                keys = np.unique(keys, return_inverse=True)[1].ravel()
                most = int(keys.max()) + 1
            keys *= kind(self._sizes[name])
            keys += self._codes[name].astype(kind)
            most *= self._sizes[name]
        return keys, most


def _starts(keys: Integers) -> Integers:
    """The positions in sorted keys at which another one begins."""
    return np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
