"""Mondrian's published figures: small tables by hand, and Adult as Q. Gong's program recodes it."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from kanon_sql import anonymize, queries
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization import recipes
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.recode.mondrian import CutRule, mondrian, mondrian_relaxed
from kanon_sql.recode.task import Local, Task
from support.data import DATA, needs
from support.data import NINE as ADULT
from support.mondrian import Row, classes_of, stopped_after_one_round, task_of

needs_adult = needs("adult/adult.csv", "adult/hierarchies/<column>.csv", "adult/uci/adult.data")

PAPER = CutRule(choose="width", median_only=True)


def by_order(rows: Sequence[Row], k: int, rule: CutRule) -> tuple[Task, CutRule]:
    """A task whose columns are all cut by order, and the rule for it; text is in the order of first appearance."""

    def build(j: int) -> Callable[[Sequence[Any]], Hierarchy]:
        values = list(dict.fromkeys(row[j] for row in rows))
        if isinstance(values[0], int):
            return lambda leaves: recipes.suppress(leaves, f"q{j}")
        return lambda _: h.from_rows([[value, "*"] for value in values], f"q{j}")

    columns = range(len(rows[0]))
    task = task_of(rows, [build(j) for j in columns], k)
    return task, replace(rule, ordered=[f"q{j}" for j in columns])


def sizes_of(task: Task) -> list[int]:
    return sorted(members.total() for members in classes_of(task))


def test_the_median_of_six() -> None:
    """1, 2, 3, 3, 4, 5: strict keeps both threes on the left, relaxed deals them, in their first cut."""
    rows = [(value,) for value in (1, 2, 3, 3, 4, 5)]
    task, rule = by_order(rows, 2, PAPER)
    for recode, expected in (
        (mondrian, [[(1,), (2,), (3,), (3,)], [(4,), (5,)]]),
        (mondrian_relaxed, [[(1,), (2,), (3,)], [(3,), (4,), (5,)]]),
    ):
        recode(replace(task, clock=stopped_after_one_round()), rule)
        assert [sorted(members.elements()) for members in classes_of(task)] == expected


EIGHT = [(6, 1), (6, 1), (8, 2), (8, 2), (4, 1), (4, 2), (4, 3), (4, 4)]
NINE = [(6, 1), (8, 1), (8, 1), (8, 1), (8, 1), (4, 1), (4, 2), (4, 3), (4, 4)]


@pytest.mark.parametrize(
    ("rows", "recode", "ncp"),
    [
        (EIGHT, mondrian, 100 / 12),
        (EIGHT, mondrian_relaxed, 100 / 12),
        (NINE, mondrian, 2300 / 108),
        (NINE, mondrian_relaxed, 700 / 54),
    ],
)
def test_small_tables_of_gong(rows: list[Row], recode: Callable[[Task, CutRule], Local], ncp: float) -> None:
    """The tables of the tests of Q. Gong's implementation, k = 2, and their normalized certainty penalty in percent."""
    task, rule = by_order(rows, 2, replace(PAPER, inherited=True))
    assert 100 * recode(task, rule).facts["ncp"] == pytest.approx(ncp)


@cache
def gong_adult() -> list[Row]:
    """Adult's complete rows as Q. Gong takes them: eight columns, two of them numbers."""
    with open(DATA / "adult" / "uci" / "adult.data", encoding="utf-8") as file:
        rows = [[field.strip() for field in row] for row in csv.reader(file) if len(row) == 15]
    columns, numbers = (0, 1, 4, 5, 6, 8, 9, 13), (0, 4)
    return [tuple(int(row[i]) if i in numbers else row[i] for i in columns) for row in rows if "?" not in row]


@needs_adult
@pytest.mark.parametrize(
    ("k", "ncp", "classes"),
    [
        (2, 4.9732, 7213),
        (10, 11.2435, 1795),
        (100, 30.0858, 205),
    ],
)
@pytest.mark.slow
@pytest.mark.sampled
def test_strict_on_adult_is_as_gong_found(k: int, ncp: float, classes: int) -> None:
    task, rule = by_order(gong_adult(), k, replace(PAPER, inherited=True))
    assert 100 * mondrian(task, rule).facts["ncp"] == pytest.approx(ncp, abs=5e-5)
    sizes = sizes_of(task)
    assert len(sizes) == classes
    assert sizes[0] >= k
    assert k != 10 or sum(size**2 for size in sizes) == 673_672


@needs_adult
@pytest.mark.parametrize(
    ("columns", "ncp"),
    [(1, 0.4677), (2, 15.5207), (3, 18.1250), (5, 12.3774), (7, 11.6840)],
)
@pytest.mark.slow
@pytest.mark.sampled
def test_strict_on_the_first_columns_of_adult_is_as_gong_found(columns: int, ncp: float) -> None:
    task, rule = by_order([row[:columns] for row in gong_adult()], 10, replace(PAPER, inherited=True))
    assert 100 * mondrian(task, rule).facts["ncp"] == pytest.approx(ncp, abs=5e-5)
    assert columns > 1 or len(sizes_of(task)) == 58


@needs_adult
@pytest.mark.parametrize(
    ("k", "ncp", "classes"),
    [
        (2, 3.5434, 13735),
        (10, 15.8470, 2048),
        (100, 38.9408, 256),
    ],
)
@pytest.mark.slow
@pytest.mark.sampled
def test_relaxed_on_adult_is_as_gong_found(k: int, ncp: float, classes: int) -> None:
    """Which of the rows equal to the median go where depends on the order of the file, so here every row is a tuple."""
    rows = gong_adult()
    task, rule = by_order(rows, k, replace(PAPER, inherited=True, dealt_in=["row"]))
    attributes = task.frequency_set.attributes
    codes = [dict(zip(a.hierarchy.values, a.hierarchy.codes(0), strict=True)) for a in attributes]
    columns = {a.coded.code_column(0): [codes[j][row[j]] for row in rows] for j, a in enumerate(attributes)}
    columns |= {"n": [1] * len(rows), "row": list(range(len(rows)))}
    each_row = queries.scratch("each_row")
    task.engine.load_batches(each_row, dict.fromkeys(columns, "BIGINT"), [list(columns.values())])
    task = replace(task, frequency_set=replace(task.frequency_set, relation=each_row))
    assert 100 * mondrian_relaxed(task, rule).facts["ncp"] == pytest.approx(ncp, abs=5e-5)
    assert len(sizes_of(task)) == classes


@needs_adult
@pytest.mark.parametrize(("strategy", "most"), [("mondrian", 0.0511), ("mondrian_relaxed", 0.0505)])
@pytest.mark.slow
@pytest.mark.nightly
def test_adult_loses_half_of_what_a_median_cut_in_every_attribute_does(strategy: str, most: float) -> None:
    release = anonymize(
        DATA / "adult" / "adult.csv",
        quasi_identifiers=ADULT,
        hierarchies=DATA / "adult" / "hierarchies",
        k=5,
        strategy=strategy,
        show="exact-ranges",
    )
    manifest = release.manifest
    assert manifest["verified"]
    assert manifest["suppressed_rows"] == 0
    assert manifest["smallest_class"] >= 5
    assert manifest["information_loss"]["loss"] <= most
