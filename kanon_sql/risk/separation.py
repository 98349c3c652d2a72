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
    in it. `unique_without`: of a single column, the rows that are unique by all other quasi-identifiers. With a unit,
    also the people with a row that only rows of theirs equal.
    """

    columns: tuple[str, ...]
    combinations: int
    distinction: float
    separation: float
    unique_rows: int
    unique_without: int | None = None
    unique_people: int | None = None
    unique_people_without: int | None = None


@dataclass(frozen=True)
class Separations:
    """Single columns and small sets, the most identifying first; `complete`: the time limit skipped no set."""

    columns: tuple[Separation, ...]
    sets: tuple[Separation, ...]
    unique_rows: int
    unique_people: int | None
    complete: bool


def separations(
    cells: Cells,
    columns: Sequence[ColumnCounts],
    rows: int,
    largest: int,
    time_limit: float | None,
    people: int | None = None,
) -> Separations:
    """Count the quasi-identifiers of a table, and their sets of 2 to `largest` columns, on one frequency set.

    `people`: their number, if the cells have a unit.
    """
    deadline = None if time_limit is None else time.monotonic() + time_limit
    names = [column.name for column in columns]
    sets = Sets(cells, columns, columns, rows, deadline, keeps=True, people=people)
    singles = [_described(sets, (name,), rows, [other for other in names if other != name]) for name in names]
    # All small sets of the columns are counted, so their number is limited.
    combined = sorted(columns, key=lambda column: (-column.counts.distinct, column.order))[:MOST_COLUMNS]
    chosen = [column.name for column in sorted(combined, key=lambda column: column.order)]
    small = [combination for size in range(2, largest + 1) for combination in combinations(chosen, size)]
    complete = sets.count(small)
    counted = [combination for combination in small if complete or sets.is_counted(combination)]
    described = [_described(sets, combination, rows) for combination in counted]
    together = sets.figures(names)
    return Separations(
        columns=tuple(sorted(singles, key=_rank)),
        sets=tuple(sorted(described, key=_rank)),
        unique_rows=together.unique_rows,
        unique_people=together.unique_people,
        complete=complete,
    )


def _described(sets: Sets, names: tuple[str, ...], rows: int, others: Sequence[str] | None = None) -> Separation:
    figures = sets.figures(names)
    without = None if others is None else sets.figures(others)
    pairs = rows * (rows - 1)
    return Separation(
        columns=names,
        combinations=figures.combinations,
        distinction=figures.combinations / rows,
        separation=1 - (figures.squares - rows) / pairs if pairs else 1.0,
        unique_rows=figures.unique_rows,
        unique_without=without.unique_rows if without else None,
        unique_people=figures.unique_people,
        unique_people_without=without.unique_people if without else None,
    )


def _rank(separation: Separation) -> tuple[int, float, int]:
    unique = separation.unique_rows if separation.unique_people is None else separation.unique_people
    return -unique, -separation.separation, len(separation.columns)
