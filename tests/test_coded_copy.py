"""Copies as arrays of codes, against plain Python: unique rows, ranks, and the rows that satisfy predicates."""

import random
from collections import Counter

import numpy as np
import pytest

from kanon_sql.attack import coded_copy
from kanon_sql.attack.coded_copy import CodedCopy

pytestmark = pytest.mark.quick
SIZES = {"a": 3, "b": 7, "c": 40}


def drawn(draw: random.Random, rows: int) -> tuple[CodedCopy, list[tuple[int, ...]]]:
    table = [tuple(draw.randrange(size) for size in SIZES.values()) for _ in range(rows)]
    codes = {name: np.array([row[i] for row in table], dtype=np.uint8) for i, name in enumerate(SIZES)}
    return CodedCopy(codes, SIZES, {}), table


@pytest.mark.parametrize("seed", range(20))
def test_unique_rows_and_ranks(seed: int) -> None:
    draw = random.Random(seed)
    copy, table = drawn(draw, draw.choice([1, 20, 150, 900]))
    names = draw.sample([*SIZES], draw.randint(1, 3))
    shown = [tuple(row[[*SIZES].index(name)] for name in names) for row in table]
    counted = Counter(shown)
    assert copy.unique_rows(names).tolist() == [place for place, row in enumerate(shown) if counted[row] == 1]
    ranks = sorted(draw.sample(range(len(table)), draw.randint(1, len(table))))
    in_order = sorted(shown)
    assert [shown[place] for place in copy.ranked_rows(names, ranks)] == [in_order[rank] for rank in ranks]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("at_once", [1, 7, 2**18])
def test_rows_that_fit(seed: int, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coded_copy, "_AT_ONCE", at_once)
    draw = random.Random(seed)
    copy, table = drawn(draw, draw.choice([0, 1, 30, 200]))
    names = draw.sample([*SIZES], draw.randint(1, 3))
    predicates = draw.choice([0, 1, 63, 64, 150])
    allowed = {
        name: [draw.sample(range(SIZES[name]), draw.randint(0, SIZES[name])) for _ in range(predicates)]
        for name in names
    }
    expected = [
        sum(all(row[[*SIZES].index(name)] in allowed[name][i] for name in names) for row in table)
        for i in range(predicates)
    ]
    assert copy.rows_that_fit(allowed).tolist() == [min(2, number) for number in expected]
