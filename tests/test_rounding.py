"""Bounds rounded outward, against plain Python; and numbers of single precision."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import queries
from kanon_sql.engine import Column, Engine
from kanon_sql.engines.duckdb import DuckDB, kind_of
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import Attribute
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization import recipes
from kanon_sql.queries import Coded
from kanon_sql.recode.order import Order, number_key, order_of
from kanon_sql.recode.rounding import rounded
from kanon_sql.spec import DatesRecipe, RangesRecipe, SuppressRecipe
from support.database import MakeTable
from support.examples import examples

# What the rounded bounds are, by plain Python


def order_by(values: Sequence[Any], type_name: str, build: Callable[[Sequence[Any]], h.Hierarchy]) -> Order:
    column = Column("x", type_name, kind_of(type_name))
    return order_of(Attribute(column, build(values), Coded("x", queries.scratch("x"), 1, ())))


axes = st.one_of(
    st.tuples(st.just("INTEGER"), st.lists(st.integers(-(2**31), 2**31 - 1) | st.integers(0, 99))),
    st.tuples(st.just("TINYINT"), st.lists(st.integers(-128, 127))),
    st.tuples(st.just("HUGEINT"), st.lists(st.integers(-(2**127), 2**127 - 1))),
    st.tuples(st.just("DECIMAL(9,2)"), st.lists(st.decimals(-9999999, 9999999, places=2))),
    st.tuples(st.just("DOUBLE"), st.lists(st.floats())),
    st.tuples(st.just("FLOAT"), st.lists(st.floats(width=32))),
    st.tuples(st.just("DATE"), st.lists(st.dates() | st.just("20000-01-01") | st.just("0044-03-15 (BC)"))),
    st.tuples(st.just("TIMESTAMP"), st.lists(st.datetimes())),
    st.tuples(st.just("TIMESTAMP WITH TIME ZONE"), st.lists(st.datetimes(timezones=st.just(UTC)))),
    st.tuples(st.just("TIME"), st.lists(st.times() | st.just("24:00:00"))),
)


@examples(150)
@given(axis=axes)
def test_rounded_bounds_cover_and_stay_in_the_type(axis: tuple[str, list[Any]]) -> None:
    type_name, values = axis
    order = order_by(values, type_name, lambda values: recipes.suppress(values, "x"))
    bounds = rounded(order)
    keys = [number_key(value) for value in order.values]
    for place, value in enumerate(order.values):
        low, high, first, last = (item[place] for item in (bounds.lower, bounds.upper, bounds.first, bounds.last))
        if low is None:
            assert value is None or value != value
            continue
        assert number_key(low) <= keys[place] <= number_key(high)
        assert (type(low), type(high)) == (type(value), type(value))
        inside = [i for i, key in enumerate(keys) if number_key(low) <= key <= number_key(high)]
        assert (first, last) == (inside[0], inside[-1])
    with Scratch(DuckDB()) as tables:
        bounds.load(tables, "bounds", type_name)  # an error if one does not fit


ROUNDED = [
    ("INTEGER", range(18, 91), None, 42, (40, 44)),
    ("INTEGER", [1, 2, 3, 9], None, 3, (2, 3)),
    ("INTEGER", [*range(30_000, 60_000, 250), 9_876_543], None, 9_876_543, (9_500_000, 9_999_999)),
    ("TINYINT", range(-128, 128), None, 127, (120, 127)),
    ("DECIMAL(9,2)", [Decimal(n) / 4 for n in range(400)], None, Decimal("12.25"), (Decimal(10), Decimal("19.99"))),
    ("DOUBLE", [n / 4 for n in range(400)], None, 12.25, (10.0, 20.0)),
    ("INTEGER", range(18, 95), RangesRecipe(ranges=(1, 10, 20), top=90), 42, (40, 49)),
    ("INTEGER", range(18, 95), RangesRecipe(ranges=(10,), origin=5, top=90, bottom=20), 89, (85, 89)),
    ("INTEGER", range(18, 95), RangesRecipe(ranges=(10,), top=90, bottom=20), 93, (90, 99)),
    ("INTEGER", range(18, 95), RangesRecipe(ranges=(10,), top=90, bottom=20), 18, (10, 19)),
    (
        "DATE",
        [date(y, 3, 26) for y in range(1930, 1990)],
        None,
        date(1976, 3, 26),
        (date(1975, 1, 1), date(1979, 12, 31)),
    ),
    ("DATE", [date(2020, 5, d) for d in range(1, 32)], None, date(2020, 5, 13), (date(2020, 5, 11), date(2020, 5, 17))),
    (
        "DATE",
        [date(1930, 3, 26)],
        DatesRecipe(dates=("day", "month")),
        date(1930, 3, 26),
        (date(1930, 3, 1), date(1930, 3, 31)),
    ),
    (
        "TIMESTAMP",
        [datetime(2020, 5, d, 3, 7) for d in range(1, 32)],
        DatesRecipe(dates=("day",)),
        datetime(2020, 5, 9, 3, 7),
        (datetime(2020, 5, 9), datetime(2020, 5, 10)),
    ),
    (
        "TIMESTAMP_NS",
        [f"2020-05-{d} 03:00:00.000000001" for d in range(10, 31)],
        DatesRecipe(dates=("day",)),
        "2020-05-11 03:00:00.000000001",
        (datetime(2020, 5, 11), datetime(2020, 5, 12)),
    ),
    ("TIME", [time(h, 7) for h in range(24)], None, time(23, 7), (time(23), time.max)),
]


@pytest.mark.parametrize(("type_name", "values", "recipe", "value", "ends"), ROUNDED)
def test_bounds_are_rounded_to_the_hierarchy_or_a_step(
    type_name: str, values: Sequence[Any], recipe: Any, value: Any, ends: tuple[Any, Any]
) -> None:
    order = order_by(values, type_name, lambda values: recipes.suppress(values, "x"))
    bounds = rounded(order, recipe or SuppressRecipe())
    place = order.values.index(value)
    assert (bounds.lower[place], bounds.upper[place]) == ends


def test_all_leaves_of_a_file_count_even_if_absent_from_the_data() -> None:
    text = "".join(f"{age};{age};{age // 10}0s;*\n" for age in range(20, 60))
    order = order_by([23, 41], "INTEGER", lambda _: h.convert(h.parse(text, "age.csv"), "integer", "age.csv"))
    bounds = rounded(order)
    place = order.values.index(23)
    assert (bounds.lower[place], bounds.upper[place], bounds.first[place], bounds.last[place]) == (20, 29, 0, 9)


# Single precision


@pytest.mark.parametrize("type_name", ["FLOAT", "REAL"])
def test_a_single_is_the_number_that_it_prints(engine: Engine, make_table: MakeTable, type_name: str) -> None:
    if type_name == "FLOAT" and engine.name != "duckdb":
        type_name = "REAL"
    rows = [(n / 10, n) for n in range(10) for _ in range(2)]
    make_table(engine, "people", {"weight": type_name, "n": "INTEGER"}, [*rows, (1e30, 10), (1e30, 10)])
    for recipe, label in (({"ranges": [0.1, 1]}, "[0.7, 0.8)"), ({"redact": "right"}, "0.7")):
        column = {"hierarchy": recipe, **({"min_level": 1} if "ranges" in recipe else {})}
        spec = {
            "source": "people",
            "quasi_identifiers": {"weight": column},
            "keep": ["n"],
            "target": {"table": "anon", "overwrite": True},
        }
        release = kanon_sql.anonymize(None, spec, connection=engine.connection, k=2)  # type: ignore[attr-defined]
        assert release.manifest["suppressed_rows"] == 0
        shown = {
            n: weight if isinstance(weight, str) else f"{weight:.1f}"
            for weight, n in engine.rows("SELECT weight, n FROM anon")
        }
        assert shown[7] == label


def test_a_statement_with_singles_is_standalone(engine: Engine, make_table: MakeTable) -> None:
    from kanon_sql.plan.observer import Observer
    from kanon_sql.plan.plan import plan_release
    from kanon_sql.plan.source import opened, settle_spec
    from kanon_sql.release import recoded

    make_table(
        engine, "people", {"weight": "REAL", "n": "INTEGER"}, [(w, 1) for w in (0.7, 0.1, 1e30) for _ in range(2)]
    )
    for strategy, hierarchy in (("exhaustive", {"ranges": [0.5]}), ("mondrian", None)):
        attribute = {"hierarchy": hierarchy} if hierarchy else {}
        given_spec = {
            "source": "people",
            "quasi_identifiers": {"weight": attribute},
            "privacy": {"k": 2},
            "strategy": strategy,
        }
        settled = settle_spec(None, given_spec, {})
        with opened(None, settled, engine.connection) as source, source.scratches:  # type: ignore[attr-defined]
            plan = plan_release(source, settled, Observer())
            statement = recoded.target_sql(plan.recoding, None)
        assert len(engine.rows(f"SELECT weight FROM ({statement}) AS release")) == 6
