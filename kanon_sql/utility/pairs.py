"""Differences of the associations between columns in a release and in its source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from kanon_sql.utility.attribute import Floats, Int64s, SharedColumn, rounded

_AT_ONCE = 20_000  # pairs of codes
_NONE = 1e-9  # rows
Pairs = tuple[Int64s, Int64s, Floats]


@dataclass(frozen=True)
class Association:
    """The association of two columns in both tables.

    `measure`: `correlation` (Pearson's) of two columns of numbers, dates or times, over the rows that have both; else
    `cramers_v`, with NULL as a value and the bias corrected (W. Bergsma, Journal of the Korean Statistical Society
    42(3), 2013). `source`, `release`: None if a column has only one value, so that there is no association.
    """

    columns: tuple[str, str]
    measure: Literal["correlation", "cramers_v"]
    source: float | None
    release: float | None

    @property
    def error(self) -> float:
        """The absolute difference; a missing association counts as 0."""
        return abs((self.source or 0.0) - (self.release or 0.0))


def association(first: SharedColumn, second: SharedColumn, source: Pairs, release: Pairs) -> Association:
    """The association of two columns; `source` and `release`: their pairs of codes with their rows."""
    tables = [_table(first, second, pairs) for pairs in (source, release)]
    names = (first.name, second.name)
    if first.is_number and second.is_number:
        correlations = (_correlation(table, first.numbers, second.numbers) for table in tables)
        return Association(names, "correlation", *correlations)
    return Association(names, "cramers_v", *map(cramers_v, tables))


def _table(first: SharedColumn, second: SharedColumn, pairs: Pairs) -> Floats:
    """The contingency table of the groups of two columns, with rows spread over the values that they cover.

    The pairs are sorted by the codes of the first column.
    """
    table = np.zeros((len(first.numbers), len(second.numbers)))
    for start in range(0, len(pairs[2]), _AT_ONCE):
        codes, other_codes, rows = (part[start : start + _AT_ONCE] for part in pairs)
        starts = np.flatnonzero(np.diff(codes, prepend=-1))  # of every code, to multiply by its weights only once
        spread = np.add.reduceat(second.weights[other_codes] * rows[:, None], starts)
        table += first.weights[codes[starts]].T @ spread
    return table


def _correlation(table: Floats, first: Floats, second: Floats) -> float | None:
    """Pearson's correlation over the groups that have a number on both sides."""
    rows = np.isfinite(first)
    columns = np.isfinite(second)
    table = table[np.ix_(rows, columns)]
    first = first[rows]
    second = second[columns]
    total = table.sum()
    if not total:
        return None
    first = first - table.sum(axis=1) @ first / total
    second = second - table.sum(axis=0) @ second / total
    spreads = float(table.sum(axis=1) @ first**2) * float(table.sum(axis=0) @ second**2)
    if spreads <= 0:
        return None
    return rounded(float(first @ table @ second) / spreads**0.5)


def cramers_v(table: Floats) -> float | None:
    """The bias-corrected Cramér's V of a contingency table; None if one side has only one value.

    >>> cramers_v(np.array([[5.0, 0.0], [0.0, 5.0]]))
    1.0
    """
    total = table.sum()
    table = table[table.sum(axis=1) > _NONE][:, table.sum(axis=0) > _NONE]
    if min(table.shape) < 2 or total <= 1:
        return None
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    squared = float(((table - expected) ** 2 / expected).sum()) / total
    rows, columns = table.shape
    by_chance = (rows - 1) * (columns - 1) / (total - 1)
    least = min(size - (size - 1) ** 2 / (total - 1) for size in (rows, columns)) - 1
    return rounded(float(max(0.0, squared - by_chance) / least) ** 0.5) if least > 0 else None
