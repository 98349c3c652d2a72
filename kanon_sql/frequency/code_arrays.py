"""Codes of a frequency set as arrays, to count the classes of many sets of columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_KEYS = 2**63 - 1  # combinations of codes that a number can represent
_DENSE = 4  # combinations per row, up to which they are counted in an array of all possible ones
_MOST_COMPARED = 64  # rows of a person, up to which they are compared with each other instead of being sorted
_MOST_PEOPLE = 255  # counted in the smallest class of a person; larger classes count as 255
_HASH = np.uint64(0x9E3779B97F4A7C15)  # 2**64 / golden ratio (D. Knuth, The Art of Computer Programming 3, section 6.4)
Integers = NDArray[np.integer[Any]]
Int64s = NDArray[np.int64]


@dataclass(frozen=True)
class PeopleOfClasses:
    """The rows and the people of every class, and for every person the people in the smallest of their classes.

    `smallest`: 255 for all larger numbers.
    """

    rows: Integers
    people: Integers
    smallest: Integers


class CodeArrays:
    """The codes of a table's rows, or of its distinct tuples with their numbers of rows.

    `people`: the code of the person of every tuple, if people have several rows.

    Sorting takes five times as long as everything else, so it is avoided where possible.
    """

    def __init__(self, rows: Integers, codes: Mapping[str, Integers], people: Integers | None = None) -> None:
        total = int(rows.sum())
        self._rows: Integers | None = rows if total > 2 * len(rows) else None
        by_row = {name: code if self._rows is not None else code.repeat(rows) for name, code in codes.items()}
        self._codes = {name: code.astype(np.min_scalar_type(code.max())) for name, code in by_row.items()}
        self._sizes = {name: int(code.max()) + 1 for name, code in by_row.items()}
        if people is not None:
            self._sort_by_person(people if self._rows is not None else people.repeat(rows))

    def _sort_by_person(self, people: Integers) -> None:
        """Bring the rows of every person together, those of people with the fewest rows first."""
        rows_of_person = np.bincount(people)
        order = np.argsort(rows_of_person[people] * len(rows_of_person) + people)
        self._codes = {name: code[order] for name, code in self._codes.items()}
        if self._rows is not None:
            self._rows = self._rows[order]
        self._rows_of_person = np.sort(rows_of_person[rows_of_person > 0])
        self._first_row = np.cumsum(self._rows_of_person) - self._rows_of_person
        self._person = np.repeat(np.arange(len(self._first_row)), self._rows_of_person)

    def classes(self, names: Sequence[str]) -> Integers:
        """The numbers of rows in the classes of equal codes."""
        keys, most = self._keys(names)
        if self._rows is None and most > _DENSE * len(keys):
            shared = keys[_shared(keys)]
            alone = np.ones(len(keys) - len(shared), dtype=np.int64)
            return np.concatenate([count_keys(shared, None, most)[1], alone])
        return count_keys(keys, self._rows, most)[1]

    def people(self, names: Sequence[str]) -> PeopleOfClasses:
        """The people in the classes of equal codes."""
        keys, most = self._keys(names)
        classes, number = (keys, most) if most <= _DENSE * len(keys) else _numbered(keys)
        people = np.bincount(self._once(classes, number), minlength=number)
        of_rows = np.minimum(people, _MOST_PEOPLE).astype(np.uint8)[classes]
        rows = self._rows_of(classes)
        return PeopleOfClasses(
            rows=rows[rows > 0],
            people=people[people > 0],
            smallest=np.minimum.reduceat(of_rows, self._first_row),
        )

    def _rows_of(self, classes: Integers) -> Integers:
        """The rows of every class by its number, 0 for unused numbers."""
        return np.bincount(classes, self._rows).astype(np.int64, copy=False)

    def _once(self, classes: Integers, number: int) -> Integers:
        """The classes of every person, each of them once."""
        pairs = self._person * number + classes
        sizes = self._rows_of_person

        def start(rows: int) -> int:
            """The first row of the people with more rows than this."""
            person = int(np.searchsorted(sizes, rows, "right"))
            return int(self._first_row[person]) if person < len(sizes) else len(pairs)

        end = start(_MOST_COMPARED)
        repeated = np.zeros(end, dtype=bool)
        distance = 1
        while start(distance) < end:  # compare all rows of a person that are this far from each other
            pairs_of_rows = pairs[start(distance) : end]
            repeated[start(distance) + distance :] |= pairs_of_rows[distance:] == pairs_of_rows[:-distance]
            distance += 1
        pairs_of_many = np.sort(pairs[end:])
        distinct = pairs_of_many[is_first(pairs_of_many)]
        return np.concatenate([classes[:end][~repeated], distinct % number])

    def _keys(self, names: Sequence[str]) -> tuple[Integers, int]:
        return combined([self._codes[name] for name in names], [self._sizes[name] for name in names])


def combined(codes: Sequence[Integers], sizes: Sequence[int]) -> tuple[Integers, int]:
    """A number per row that represents its codes in some columns, in their order, and how many such numbers there are.

    `sizes`: the number of codes of every column.
    """
    kind: type[Any] = np.uint32 if prod(sizes) < 2**32 else np.int64
    keys: NDArray[Any] = np.zeros(len(codes[0]), dtype=kind)
    most = 1
    for code, size in zip(codes, sizes, strict=True):
        if most * size > _MOST_KEYS:
            keys = np.unique(keys, return_inverse=True)[1].ravel()
            most = int(keys.max()) + 1
        keys *= kind(size)
        keys += code.astype(kind)
        most *= size
    return keys, most


def separated(keys: Integers, sizes: Sequence[int]) -> list[Integers]:
    """The codes that `combined` represents by keys, if all combinations of `sizes` have their own.

    Division by one number is several times as fast as `numpy.unravel_index`.

    >>> [codes.tolist() for codes in separated(combined([np.array([1, 0]), np.array([2, 4])], [2, 5])[0], [2, 5])]
    [[1, 0], [2, 4]]
    """
    last_first = []
    for size in reversed(sizes):
        left = keys // size
        last_first.append((keys - left * size).astype(np.min_scalar_type(size)))
        keys = left
    return last_first[::-1]


def count_keys(keys: Integers, rows: Integers | None, most: int) -> tuple[Int64s, Int64s]:
    """The distinct keys in order, and the number of rows with each.

    `rows`: of every key, None if all are 1. `most`: the number of possible keys.
    """
    if most <= _DENSE * len(keys):
        counts = np.bincount(keys, rows)
        found = np.flatnonzero(counts)
        return found, counts[found].astype(np.int64)
    if rows is None:
        keys = keys.astype(np.uint32 if most < 2**32 else np.int64)
        keys.sort()
        starts = starts_of(keys)
        return keys[starts].astype(np.int64), np.diff(starts, append=len(keys))
    bits = int(rows.max()).bit_length()
    if most >= 2 ** (63 - bits):
        order = keys.argsort()
        keys, rows = keys[order], rows[order]
    else:  # in one number, they are sorted three times as fast
        keys = keys.astype(np.int64) << bits | rows
        keys.sort()
        keys, rows = keys >> bits, keys & (1 << bits) - 1
    starts = starts_of(keys)
    return keys[starts].astype(np.int64), np.add.reduceat(rows, starts, dtype=np.int64)


def alone(keys: Integers, most: int) -> Int64s:
    """The places of the keys that occur once. `most`: the number of possible keys.

    >>> alone(np.array([7, 5, 7, 6]), 8).tolist()
    [1, 3]
    """
    if most <= _DENSE * len(keys):
        return np.flatnonzero((np.bincount(keys) == 1)[keys])
    is_alone = np.ones(len(keys), dtype=bool)
    shared = _shared(keys)
    order = np.argsort(keys[shared])
    first = is_first(keys[shared][order])
    is_alone[shared[order]] = first & np.append(first[1:], True)  # the first with its key, as the next one is
    return np.flatnonzero(is_alone)


def _numbered(keys: Integers) -> tuple[Integers, int]:
    """The keys numbered from 0 without gaps, and how many there are."""
    shared = _shared(keys)
    order = np.argsort(keys[shared])
    of_shared = np.cumsum(is_first(keys[shared][order])) - 1
    distinct = int(of_shared[-1]) + 1 if len(shared) else 0
    numbers = np.full(len(keys), -1)
    numbers[shared[order]] = of_shared
    alone = np.flatnonzero(numbers < 0)
    numbers[alone] = np.arange(distinct, distinct + len(alone))
    return numbers, distinct + len(alone)


def _shared(keys: Integers) -> Integers:
    """The rows that share the hash of their keys with others; all others are alone in their classes."""
    bits = len(keys).bit_length() + 1  # two to four hashes per row
    hashes = (keys.astype(np.uint64) * _HASH >> np.uint64(64 - bits)).astype(np.int64)
    return np.flatnonzero((np.bincount(hashes) > 1)[hashes])


def is_first(*columns: Integers) -> NDArray[np.bool_]:
    """Whether each of some sorted rows is the first with its values.

    >>> is_first(np.array([3, 3, 5, 5]), np.array([1, 1, 1, 2])).tolist()
    [True, False, True, True]
    """
    first = np.ones(len(columns[0]), dtype=bool)
    first[1:] = reduce(np.logical_or, (column[1:] != column[:-1] for column in columns))
    return first


def starts_of(*columns: Integers) -> Int64s:
    """The places at which other values begin in sorted rows.

    >>> starts_of(np.array([3, 3, 5, 5]), np.array([1, 1, 1, 2])).tolist()
    [0, 2, 3]
    """
    return np.flatnonzero(is_first(*columns))
