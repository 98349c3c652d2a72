"""Classes counted on arrays of codes, against plain Python."""

from collections import Counter

import numpy as np
import pytest

from kanon_sql.frequency.code_arrays import CodeArrays


@pytest.mark.quick
@pytest.mark.parametrize("most_rows", [1, 9], ids=["nearly distinct", "repeated"])
@pytest.mark.parametrize("values", [2, 50, 3000])
@pytest.mark.parametrize("columns", [1, 3, 30])  # 30 columns have more combinations than a number can represent
def test_classes_are_those_of_plain_python(most_rows: int, values: int, columns: int) -> None:
    random = np.random.default_rng(values)
    rows = random.integers(1, most_rows + 1, 400)
    names = [f"c{number}" for number in range(columns)]
    base = random.integers(0, values, (100, columns))[random.integers(0, 100, 400)]
    codes = {name: base[:, number].astype(np.int32) for number, name in enumerate(names)}
    expected: Counter[tuple[int, ...]] = Counter()
    for row, n in zip(base.tolist(), rows.tolist(), strict=True):
        expected[tuple(row)] += n
    assert sorted(CodeArrays(rows, codes).classes(names)) == sorted(expected.values())
