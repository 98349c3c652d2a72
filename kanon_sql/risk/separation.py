"""How far columns and small sets of them distinguish rows (R. Motwani, Y. Xu, "Efficient Algorithms for Masking and
Finding Quasi-Identifiers", VLDB 2007): distinction, separation, and the rows that stay unique without them.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from kanon_sql.release.kinds import Cells
from kanon_sql.risk.sets import MOST_COLUMNS, Sets
from kanon_sql.risk.single_columns import ColumnCounts


@dataclass(frozen=True)
class Separation:
    """How far a set of columns distinguishes rows; NULL is a value.

    `distinction`: its distinct combinations over the rows. `separation`: the share of all pairs of rows that differ
    in it. `unique_without`: of a single column, the rows that are unique by all other quasi-identifiers.
    """

    columns: tuple[str, ...]
    combinations: int
    distinction: float
    separation: float
    unique_rows: int
    unique_without: int | None = None


@dataclass(frozen=True)
class Separations:
    """Single columns and small sets, the most identifying first; `complete`: the time limit skipped no set."""

    columns: tuple[Separation, ...]
    sets: tuple[Separation, ...]
    unique_rows: int
    complete: bool


def separations(
    cells: Cells, columns: Sequence[ColumnCounts], rows: int, largest: int, time_limit: float | None
) -> Separations:
    """Count the quasi-identifiers of a table, and their sets of 2 to `largest` columns, on one frequency set."""
    deadline = None if time_limit is None else time.monotonic() + time_limit
    names = [column.name for column in columns]
    sets = Sets(cells, columns, columns, rows, deadline, keeps=True)
    singles = [_described(sets, (name,), rows, [other for other in names if other != name]) for name in names]
    # All small sets of the columns are counted, so their number is limited.
    combined = sorted(columns, key=lambda column: (-column.counts.distinct, column.order))[:MOST_COLUMNS]
    chosen = [column.name for column in sorted(combined, key=lambda column: column.order)]
    small = [combination for size in range(2, largest + 1) for combination in combinations(chosen, size)]
    complete = sets.count(small)
    counted = [combination for combination in small if complete or sets.is_counted(combination)]
    described = [_described(sets, combination, rows) for combination in counted]
    unique = sets.figures(names).unique_rows
    return Separations(tuple(sorted(singles, key=_rank)), tuple(sorted(described, key=_rank)), unique, complete)


def _described(sets: Sets, names: tuple[str, ...], rows: int, others: Sequence[str] | None = None) -> Separation:
    figures = sets.figures(names)
    pairs = rows * (rows - 1)
    return Separation(
        names,
        figures.combinations,
        figures.combinations / rows,
        1 - (figures.squares - rows) / pairs if pairs else 1.0,
        figures.unique_rows,
        None if others is None else sets.figures(others).unique_rows,
    )


def _rank(separation: Separation) -> tuple[int, float, int]:
    return -separation.unique_rows, -separation.separation, len(separation.columns)
