"""Codes of levels derived from the level below equal those derived from the labels, for every recipe."""

import gc
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kanon_sql.errors import HierarchyError
from kanon_sql.generalization import recipes
from kanon_sql.generalization.hierarchy import Hierarchy, nested_levels, parse

WHOLE = st.one_of(st.integers(-30, 30), st.integers(-(10**40), 10**40), st.none())
NUMBERS = st.one_of(
    WHOLE, st.floats(), st.decimals(allow_nan=False, allow_infinity=False, places=3), st.sampled_from([-0.0, 0.0, "7"])
)
DAYS = st.one_of(st.dates(), st.datetimes(), st.none())
TEXTS = st.one_of(st.text(max_size=4), st.none())


def hierarchy_of(recipe: str, values: list[Any]) -> Hierarchy:
    match recipe:
        case "ranges":
            return recipes.ranges(values, [2, 10, 50], "c", origin=1)
        case "cut":
            return recipes.ranges(values, [5, 10], "c", bottom=-12, top=23)
        case "halves":
            return recipes.ranges(values, ["0.5", 1], "c")
        case "edges":
            return recipes.edges(values, [[-3, 0, 7], [0]], "c")
        case "redact":
            return recipes.redact(values, "right", "c", 2)
        case "days":
            return recipes.dates(values, ["day", "month", "year", "5 years"], "c")
        case "hours":
            return recipes.dates(values, ["hour", "week"], "c")
        case _:
            return recipes.ages(values, date(2020, 2, 29), [1, 5, 10], "c", top=90)


def as_found_out(hierarchy: Hierarchy) -> Hierarchy:
    """The same, its levels held against each other and its codes found out from its labels."""
    return nested_levels(hierarchy.values, hierarchy.levels, "here")


def check(recipe: str, values: list[Any]) -> None:
    try:
        hierarchy = hierarchy_of(recipe, values)
    except HierarchyError:
        return
    found = as_found_out(hierarchy)
    assert hierarchy == found
    assert hierarchy.values == tuple(hierarchy.labels(0))
    assert set(hierarchy.levels[-1]) <= {"*"}
    for level in range(hierarchy.height + 1):
        assert hierarchy.codes(level) == found.codes(level)
        assert hierarchy.leaves(level) == found.leaves(level)
        assert hierarchy.distinct_labels(level) == found.distinct_labels(level)


@pytest.mark.parametrize("recipe", ["ranges", "cut", "halves", "edges"])
@settings(max_examples=30)
@given(st.lists(NUMBERS, max_size=8))
@example([3, 4, 60, None])
@example([])
@example([2**62, -(2**62), 1])
def test_levels_of_numbers(recipe: str, values: list[Any]) -> None:
    check(recipe, values)


@pytest.mark.parametrize("recipe", ["ranges", "cut"])
@settings(max_examples=30)
@given(st.lists(WHOLE, max_size=8))
def test_whole_numbers_have_the_labels_of_their_decimals(recipe: str, values: list[Any]) -> None:
    exact = [None if value is None else Decimal(value) for value in values]
    assert hierarchy_of(recipe, values).levels == hierarchy_of(recipe, exact).levels


@pytest.mark.parametrize("recipe", ["days", "hours", "ages"])
@settings(max_examples=20)
@given(st.lists(DAYS, max_size=6))
@example([datetime(2024, 5, 17, 13), date(2024, 5, 17), datetime(2024, 5, 17, 13, 30)])
def test_levels_of_days(recipe: str, values: list[Any]) -> None:
    check(recipe, values)


@settings(max_examples=30)
@given(st.lists(TEXTS, max_size=8))
@example(["NL805", "NL8", "", None, "né", "🙂🙂🙂"])
def test_levels_of_texts(values: list[Any]) -> None:
    check("redact", values)


def test_a_label_is_computed_once_per_day(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [datetime(2024, 5, 1) + timedelta(minutes=minute) for minute in range(3000)]
    computed = list[str]()
    label = recipes.TimeUnit.label
    monkeypatch.setattr(recipes.TimeUnit, "label", lambda unit, day: computed.append(unit.name) or label(unit, day))
    assert recipes.dates(moments, ["day", "month"], "c").leaves(1) == (1440, 1440, 120)
    assert computed == ["day"] * 3 + ["month"] * 3


def test_reading_a_file_leaves_the_collector_as_it_was() -> None:
    with pytest.raises(HierarchyError):
        parse('a;"b\n', "h.csv")
    assert gc.isenabled()
