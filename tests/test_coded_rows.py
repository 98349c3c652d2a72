"""Combinations of codes and expected counts, against plain Python."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from kanon_sql.utility import coded_rows
from kanon_sql.utility.coded_rows import CodedRows

pytestmark = pytest.mark.quick
# Few combinations, many, and more than a number can represent.
SIZES = [(3, 5), (2, 3000, 4000), (2**40, 2**40, 3), (2**32, 2**30, 4)]


def _rows(sizes: Sequence[int], counted: bool = False) -> tuple[CodedRows, list[tuple[int, ...]]]:
    """Random rows as codes, and as tuples that are repeated as often as there are such rows."""
    random = np.random.default_rng(sum(sizes) % 1000)
    base = np.column_stack([random.integers(0, size, 60) for size in sizes])[random.integers(0, 60, 200)]
    times = random.integers(1, 9, 200) if counted else np.ones(200, dtype=np.int64)
    codes = {column: base[:, column] for column in range(len(sizes))}
    rows = CodedRows(codes, sizes, times if counted else None)
    return rows, [tuple(row) for row, n in zip(base.tolist(), times.tolist(), strict=True) for _ in range(n)]


@pytest.mark.parametrize("counted", [False, True], ids=["rows", "counted rows"])
@pytest.mark.parametrize("sizes", SIZES)
def test_combinations_are_those_of_plain_python(sizes: tuple[int, ...], counted: bool) -> None:
    rows, tuples = _rows(sizes, counted)
    found = rows.counted((*range(len(sizes)),))
    assert found.rows is not None
    columns = [found.codes[column].tolist() for column in range(len(sizes))]
    assert list(zip(zip(*columns, strict=True), found.rows.tolist(), strict=True)) == sorted(Counter(tuples).items())


@pytest.mark.parametrize("sizes", SIZES)
def test_rows_in_order_are_those_of_plain_python(sizes: tuple[int, ...]) -> None:
    rows, tuples = _rows(sizes)
    places = np.array([0, 7, 7, 120, 199])
    expected = [list(sorted(tuples)[place]) for place in places]
    assert rows.in_order((*range(len(sizes)),), places).tolist() == expected


@pytest.mark.parametrize("most_cells", [0, 2**22], ids=["row by row", "in an array"])
@pytest.mark.parametrize("counted", [False, True], ids=["rows", "counted rows"])
@pytest.mark.parametrize("sizes", [(4,), (3, 5), (2, 7, 4)])
def test_expected_counts_are_those_of_plain_python(
    monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...], counted: bool, most_cells: int
) -> None:
    monkeypatch.setattr(coded_rows, "_MOST_CELLS", most_cells)
    rows, tuples = _rows(sizes, counted)
    columns = (*reversed(range(len(sizes))),)
    weights = [np.random.default_rng(column).random((6, sizes[column])) for column in columns]
    expected = [
        sum(np.prod([weights[place][query, row[column]] for place, column in enumerate(columns)]) for row in tuples)
        for query in range(6)
    ]
    assert rows.expected(columns, weights).tolist() == pytest.approx(expected)
