"""Codes of a frequency set as arrays, to count the classes of many sets of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_KEYS = 2**63 - 1  # combinations of codes that a number can represent
_DENSE = 4  # combinations per row, up to which they are counted in an array of all possible ones
Integers = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class PeopleOfClasses:
    """The rows and the people of every class, and for every person the people in the smallest of their classes."""

    rows: Integers
    people: Integers
    smallest: Integers


class CodeArrays:
    """The codes of a table's rows, or of its distinct tuples with their numbers of rows.

    `people`: the code of the person of every tuple, if people have several rows.
    """

    def __init__(self, rows: Integers, codes: Mapping[str, Integers], people: Integers | None = None) -> None:
        total = int(rows.sum())
        self._rows: Integers | None = rows if total > 2 * len(rows) else None
        by_row = {name: code if self._rows is not None else code.repeat(rows) for name, code in codes.items()}
        self._codes = {name: code.astype(np.min_scalar_type(code.max())) for name, code in by_row.items()}
        self._sizes = {name: int(code.max()) + 1 for name, code in by_row.items()}
        self._people = people if people is None or self._rows is not None else people.repeat(rows)

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

    def people(self, names: Sequence[str]) -> PeopleOfClasses:
        """The people in the classes of equal codes."""
        assert self._people is not None
        keys, most = self._keys(names)
        people = int(self._people.max()) + 1
        if most * people > _MOST_KEYS:
            keys = np.unique(keys, return_inverse=True)[1].ravel()
        # Every class of every person once, in the order of classes: all people of a class stand together.
        pairs = keys.astype(np.int64) * people + self._people
        pairs.sort()  # np.unique hashes them, which takes ten times as long
        starts = _starts(pairs)
        classes = pairs[starts] // people
        person = pairs[starts] - classes * people
        starts_of_classes = _starts(classes)
        sizes = np.diff(starts_of_classes, append=len(classes))
        smallest = np.full(people, people + 1)
        np.minimum.at(smallest, person, sizes.repeat(sizes))
        counted = self._rows is not None
        return PeopleOfClasses(
            rows=self.classes(names) if counted else np.diff(starts[starts_of_classes], append=len(pairs)),
            people=sizes,
            smallest=smallest[smallest <= people],  # some codes may have no person
        )

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
