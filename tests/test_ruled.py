"""Mapping tables built by rules in the engine match the recipe value by value, whatever the values."""

from collections import Counter
from collections.abc import Sequence
from datetime import date, datetime
from fractions import Fraction
from math import isfinite
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import HierarchyError
from kanon_sql.frequency import ruled
from kanon_sql.frequency.fitting import hierarchy_sources
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet, build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.later import Later
from kanon_sql.privacy import all_of, k_anonymity
from kanon_sql.queries import Relation
from kanon_sql.recode import order as orders
from kanon_sql.recode import squared_errors
from kanon_sql.spec import Spec
from support.examples import examples

WHOLE = [{"ranges": [3, 30]}, {"ranges": [7, 21], "origin": 2, "bottom": -9, "top": 40}, {"edges": [[-3, 0, 100], [0]]}]
DAYS = [{"dates": ["day", "month", "quarter", "5 years"]}, {"dates": ["hour", "decade", "century"]}]
DAYS += [{"age": "2024-02-29", "bands": [1, 10], "top": 90}]
CODES = [{"prefix": [4, 2, 1]}, {"prefix": [3], "pad": 6}]
# Recipes of each type, and values at the ends of what it can hold among others.
TYPES: dict[str, tuple[Sequence[Any], st.SearchStrategy[Any]]] = {
    "INTEGER": ([*WHOLE, *CODES, "suppress"], st.integers(-(2**31), 2**31 - 1) | st.integers(-50, 50)),
    "BIGINT": ([*WHOLE, "suppress"], st.integers(-(2**63), 2**63 - 1) | st.integers(-(10**15), 10**15)),
    "UTINYINT": (WHOLE, st.integers(0, 255)),
    "DOUBLE": (WHOLE, st.floats() | st.floats(-99, 99) | st.integers(-50, 50).map(float) | st.just(-0.0)),
    "DATE": (DAYS, st.dates() | st.dates(date(1890, 1, 1), date(2024, 3, 1)) | st.just("infinity")),
    "TIMESTAMP": (
        DAYS,
        st.datetimes() | st.datetimes(datetime(1990, 1, 1), datetime(2025, 1, 1)) | st.just("-infinity"),
    ),
    "VARCHAR": ([*CODES, "suppress"], st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=6)),
}
K = 2  # of the releases whose figures are held against each other
EVERY = [(type_name, recipe) for type_name, (recipes, _) in TYPES.items() for recipe in recipes]


def fitted(engine: DuckDB, scratch: Scratch, recipe: Any, many: int) -> FrequencySet:
    """The frequency set of `people`; by rules where there are so many values."""
    spec = Spec.model_validate({"source": "people", "quasi_identifiers": {"x": {"hierarchy": recipe}}})
    table = engine.find("people")
    assert table
    builds = {name: source.builder for name, source in hierarchy_sources(spec, table, engine).items()}
    assert isinstance(builds["x"], ruled.Ruled)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ruled, "MANY", many)
        return build_frequency_set(engine, table, builds, scratch, unmapped="error")


def fitted_or_refused(engine: DuckDB, scratch: Scratch, recipe: Any, many: int) -> FrequencySet | str:
    try:
        return fitted(engine, scratch, recipe, many)
    except HierarchyError as error:
        return str(error)


def rows(engine: DuckDB, relation: Relation, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    texts = ", ".join(f'CAST("{name}" AS VARCHAR)' for name in columns)
    return engine.rows(f"SELECT {texts} FROM temp.main.{relation.name} ORDER BY ALL")


def figures(counted: FrequencySet, level: int) -> tuple[Any, ...]:
    """Of one column: rows that show themselves, rows by the lowest level of their labels, and the squared error."""
    judge = Judge(counted, all_of(k_anonymity(K)))
    (error,) = squared_errors.of_node(judge, (level,))
    return (*judge.kept_rows((level,)), judge.released_levels((level,))[0], error)


def released(counted: FrequencySet, level: int) -> list[tuple[Any, Any, int, bool]]:
    """Every value with its label, its rows, and whether its class is released."""
    (of,) = counted.attributes
    code_0 = of.coded.code_column(0)
    rows = dict(counted.engine.rows(f'SELECT "{code_0}", n FROM temp.main.{counted.relation.name}'))
    hierarchy, sizes = of.hierarchy, Counter[Any]()
    triples = list(zip(hierarchy.values, hierarchy.labels(level), hierarchy.codes(0), strict=True))
    for _, label, code in triples:
        sizes[label] += rows.get(code, 0)
    return [(value, label, rows.get(code, 0), sizes[label] >= K) for value, label, code in triples]


def as_they_were(counted: FrequencySet, level: int) -> int:
    every = released(counted, level)
    return sum(n for value, label, n, held in every if held and (level == 0 or label == written(value)))


def written(value: Any) -> str | None:
    return None if value is None else str(value)


def squared_error(counted: FrequencySet, level: int) -> float | None:
    """By the definition, in fractions; unknown where squares are too large for a float."""
    if counted.attributes[0].column.kind not in ("integer", "float"):
        return None
    every = released(counted, level)
    numbers = [(Fraction(value), label, n, held) for value, label, n, held in every if is_finite(value)]
    if len({number for number, *_ in numbers}) < 2 or any(abs(number) >= 1e140 for number, *_ in numbers):
        return None
    mean = sum(number * n for number, _, n, _ in numbers) / sum(n for _, _, n, _ in numbers)
    total = sum(n * (number - mean) ** 2 for number, _, n, _ in numbers)
    error = Fraction(0)
    for number, label, n, held in numbers:
        under, leaves = [a for a, b, *_ in numbers if b == label], sum(b == label for _, b, *_ in every)
        shown = (min(under) + max(under)) / 2 if held and leaves < len(every) else mean
        error += n * (number - shown) ** 2
    return float(error / total)


def is_finite(value: Any) -> bool:
    return value is not None and isfinite(value)


def order_in_rows(tables: Scratch, attribute: Attribute) -> tuple[Any, ...]:
    """The order of the values, and its table with labels and without."""
    order, levels = orders.order_of(attribute), range(attribute.hierarchy.height + 1)
    names = ["position", "number", "value", "starred", *(f"{name}_{n}" for n in levels for name in ("code", "leaves"))]
    cut = rows(tables.engine, orders.load(tables, order, labels=False).relation, names)
    names += [*(f"first_{n}" for n in levels), *(f"label_{n}" for n in levels[1:])]
    return tuple(order.rows), order.nested, cut, rows(tables.engine, orders.load(tables, order).relation, names)


def check(type_name: str, recipe: Any, values: Sequence[Any]) -> bool:
    """Whether the two are the same where both are made; gives whether rules made one."""
    engine = DuckDB()
    engine.load_batches(
        Relation("texts"), {"x": "VARCHAR"}, [[[None if value is None else str(value) for value in values]]]
    )
    engine.run(f"CREATE TABLE people AS SELECT CAST(x AS {type_name}) AS x FROM texts")
    with Scratch(engine) as one, Scratch(engine) as other:
        expected, found = (fitted_or_refused(engine, *how) for how in ((one, recipe, 10**9), (other, recipe, 1)))
        if isinstance(expected, str) or isinstance(found, str):
            assert found == expected
            return False
        (before,), (after,) = expected.attributes, found.attributes
        assert (after.distinct, after.column) == (before.distinct, before.column)
        assert after.coded.loss_levels == before.coded.loss_levels
        assert after.coded.nulls == before.coded.nulls
        levels, varying = range(before.hierarchy.height + 1), before.coded.loss_levels
        for level in levels:
            kept, lowest, error = figures(found, level)
            assert (kept, lowest, error) == (*figures(expected, level)[:2], pytest.approx(figures(expected, level)[2]))
            assert kept == as_they_were(expected, level)
            by_definition = squared_error(expected, level)
            assert error is by_definition is None or error == pytest.approx(by_definition, rel=1e-6, abs=1e-9)
        columns = ["value", *(f"code_{n}" for n in levels), *(f"label_{n}" for n in levels[1:])]
        columns += [f"loss_{n}" for n in varying]
        assert rows(engine, after.coded.mapping, columns) == rows(engine, before.coded.mapping, columns)
        names = [column.name for column in engine.table(expected.relation).columns]
        assert rows(engine, found.relation, names) == rows(engine, expected.relation, names)
        if isinstance(recipe, str) or "prefix" not in recipe:
            assert order_in_rows(other, after) == order_in_rows(one, before)
        assert not before.coded.by_rules
        assert (None in after.hierarchy.values) == (None in values)
        for level in levels:
            for name in ("codes", "labels", "distinct_labels", "leaves"):
                mine, theirs = (getattr(every.hierarchy, name)(level) for every in (after, before))
                assert len(mine) == len(theirs)
                assert mine[-1] == theirs[-1]
                assert tuple(mine) == tuple(theirs)
        assert after.hierarchy == before.hierarchy
        return after.coded.by_rules


@pytest.mark.slow
@examples(10)
@given(data=st.data())
def test_rules_return_the_labels_of_the_recipe(data: st.DataObject) -> None:
    type_name, recipe = data.draw(st.sampled_from(EVERY))
    check(type_name, recipe, data.draw(st.lists(TYPES[type_name][1] | st.none(), min_size=1, max_size=40)))


NUMBERS, BIRTHS = [*range(5, 250, 7), None], [date(1950 + i, 1 + i % 12, 1 + i % 28) for i in range(50)]
MOMENTS = [None, *(f"{item} {i % 24}:59:59.5" for i, item in enumerate(BIRTHS))]


@pytest.mark.parametrize(
    ("type_name", "recipe", "values"),
    [
        ("INTEGER", WHOLE[1], NUMBERS),
        ("DOUBLE", WHOLE[2], NUMBERS[:-1]),
        ("TIMESTAMP", DAYS[1], MOMENTS),
        ("DATE", DAYS[2], BIRTHS),
        ("VARCHAR", CODES[1], ["", "é", "e", "E", "10115", "10115 ", "2138", "😀😀😀", None]),
        ("BIGINT", "suppress", NUMBERS),
    ],
    ids=["ranges", "edges", "dates", "age", "prefix", "suppress"],
)
def test_ordinary_values_are_fitted_by_rules(type_name: str, recipe: Any, values: Sequence[Any]) -> None:
    assert check(type_name, recipe, values)


def test_texts_that_are_equal_by_collation_are_not_fitted_by_rules() -> None:
    engine = DuckDB()
    engine.run("CREATE TABLE people (x VARCHAR COLLATE NOCASE)")
    engine.run("INSERT INTO people VALUES ('ann'), ('Ann'), ('bób'), ('bob')")
    with Scratch(engine) as scratch:
        counted = fitted(engine, scratch, {"prefix": [2]}, many=1)
        assert not isinstance(counted.attributes[0].hierarchy.values, Later)


def test_rules_with_different_labels_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = DuckDB()
    engine.run("CREATE TABLE people AS SELECT i AS x FROM range(30) AS r(i)")
    spec = Spec.model_validate({"source": "people", "quasi_identifiers": {"x": {"hierarchy": {"ranges": [10]}}}})
    table = engine.find("people")
    assert table
    (source,) = hierarchy_sources(spec, table, engine).values()
    wrong = ruled.Ruled(source.build, (ruled.Range(11),))
    monkeypatch.setattr(ruled, "MANY", 1)
    with Scratch(engine) as scratch:
        counted = build_frequency_set(engine, table, {"x": wrong}, scratch, unmapped="error")
        assert counted.attributes[0].hierarchy.labels(1)[10] == "[10, 20)"
        assert engine.rows(f"SELECT label_1 FROM {scratch['map_x'].name} WHERE value = 10") == [("[10, 20)",)]
