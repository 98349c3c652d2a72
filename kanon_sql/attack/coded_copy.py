"""The rows of a copy as codes of their values, in arrays: to find unique rows, rows that labels cover, and ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_sql.frequency.code_arrays import Int64s, Integers, alone, combined
from kanon_sql.queries import Relation

_AT_ONCE = 2**18  # rows compared with all predicates
_BITS = 64  # of a number
Words = NDArray[np.uint64]


@dataclass(frozen=True)
class CodedCopy:
    """The codes of a copy's values, by column, in the order of its rows; they are numbered in the order of the values.

    `sizes`: by column the number of codes. `tables`: by column the table of its values with their codes. `values`:
    these with their texts, of the columns that attacks have read.
    """

    codes: Mapping[str, Integers]
    sizes: Mapping[str, int]
    tables: Mapping[str, Relation]
    values: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict, compare=False)

    def unique_rows(self, names: Sequence[str]) -> Int64s:
        """The places of the rows with unique values in some columns, from 0."""
        return alone(*self._keys(names))

    def ranked_rows(self, names: Sequence[str], ranks: Sequence[int]) -> Int64s:
        """The places of the rows that have these ranks if all rows are sorted by some columns, from 0."""
        keys, _ = self._keys(names)
        return np.argpartition(keys, ranks)[ranks]

    def _keys(self, names: Sequence[str]) -> tuple[Integers, int]:
        return combined([self.codes[name] for name in names], [self.sizes[name] for name in names])

    def rows_that_fit(self, allowed: Mapping[str, Sequence[Sequence[int]]]) -> Int64s:
        """For each of some predicates, the number of rows that satisfy it; 2 for any larger number.

        `allowed`: by column, the codes that every predicate allows.
        """
        # The columns that leave the fewest rows come first.
        names = sorted(allowed, key=lambda name: sum(map(len, allowed[name])) / max(1, self.sizes[name]))
        groups = [
            self._rows_of_group({name: allowed[name][start : start + _BITS] for name in names})
            for start in range(0, len(allowed[names[0]]), _BITS)
        ]
        return np.concatenate([np.zeros(0, dtype=np.int64), *groups])

    def _rows_of_group(self, allowed: Mapping[str, Sequence[Sequence[int]]]) -> Int64s:
        """The same of at most 64 predicates, each of which has a bit of a number.

        The bits of a row are those of all predicates that allow its code in every column.
        """
        bits = {name: _bits(codes, self.sizes[name]) for name, codes in allowed.items()}
        first, *others = allowed
        rows, predicates = len(self.codes[first]), len(allowed[first])
        once = again = np.uint64(0)  # the predicates that one row satisfies, or several
        for start in range(0, rows, _AT_ONCE):
            fitting = bits[first][self.codes[first][start : start + _AT_ONCE]]
            places = np.flatnonzero(fitting)
            fitting, places = fitting[places], places + start
            for name in others:
                fitting &= bits[name][self.codes[name][places]]
                left = np.flatnonzero(fitting)
                fitting, places = fitting[left], places[left]
            before = np.bitwise_or.accumulate(np.append(once, fitting))
            again |= np.bitwise_or.reduce(before[:-1] & fitting)
            once = before[-1]
            if int(again).bit_count() == predicates:
                break
        return _are_set(once, predicates) + _are_set(again, predicates)


def _bits(codes_of_predicates: Sequence[Sequence[int]], size: int) -> Words:
    """For every code, a bit for each of the predicates that allow it."""
    bits = np.zeros(size, dtype=np.uint64)
    for predicate, codes in enumerate(codes_of_predicates):
        bits[np.asarray(codes, dtype=np.intp)] |= np.uint64(1 << predicate)
    return bits


def _are_set(bits: np.uint64, number: int) -> Int64s:
    """For each of the lowest bits of a number, 1 if it is set."""
    return np.array([int(bits) >> bit & 1 for bit in range(number)])
