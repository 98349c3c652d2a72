"""Classes counted on arrays of codes, against plain Python."""

from collections import Counter

import numpy as np
import pytest

from kanon_sql.frequency.code_arrays import CodeArrays, count_keys


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


@pytest.mark.quick
@pytest.mark.parametrize("rows", [1, 9], ids=["one row each", "counted rows"])
@pytest.mark.parametrize("values", [2, 50, 3000])
@pytest.mark.parametrize("columns", [1, 3, 30])
@pytest.mark.parametrize("many", [0, 100, 400], ids=["few rows of everyone", "one with many", "many of one person"])
def test_people_of_classes_are_those_of_plain_python(rows: int, values: int, columns: int, many: int) -> None:
    random = np.random.default_rng(values + rows)
    names = [f"c{number}" for number in range(columns)]
    base = random.integers(0, values, (60, columns))[random.integers(0, 60, 400)]
    people = random.integers(1, 120, 400).astype(np.int32)  # no row has the code 0, and some codes may have no row
    people[:many] = 7  # more rows than are compared with each other
    codes = {name: base[:, number].astype(np.int32) for number, name in enumerate(names)}
    classes: dict[tuple[int, ...], set[int]] = {}
    for row, person in zip(base.tolist(), people.tolist(), strict=True):
        classes.setdefault(tuple(row), set()).add(person)
    smallest: dict[int, int] = {}
    for members in classes.values():
        smallest |= {person: min(len(members), smallest.get(person, 400)) for person in members}
    arrays = CodeArrays(np.full(400, rows), codes, people)
    counted = arrays.people(names)
    assert sorted(counted.people) == sorted(map(len, classes.values()))
    assert sorted(counted.smallest) == sorted(smallest.values())
    assert sorted(counted.rows) == sorted(arrays.classes(names))


@pytest.mark.quick
@pytest.mark.parametrize(
    "most", [30, 10**6, 2**33, 2**62], ids=["in an array", "of 4 bytes", "packed", "too large to pack"]
)
@pytest.mark.parametrize("counted", [False, True], ids=["rows", "counted rows"])
def test_keys_are_counted_as_by_plain_python(most: int, counted: bool) -> None:
    random = np.random.default_rng(most % 1000)
    keys = random.integers(0, most, 30)[random.integers(0, 30, 200)]
    rows = random.integers(1, 50, 200) if counted else None
    expected: Counter[int] = Counter()
    for key, n in zip(keys.tolist(), [1] * 200 if rows is None else rows.tolist(), strict=True):
        expected[key] += n
    distinct, found = count_keys(keys, rows, most)
    assert list(zip(distinct.tolist(), found.tolist(), strict=True)) == sorted(expected.items())
