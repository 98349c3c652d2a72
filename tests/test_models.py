"""Every privacy model against its definition in plain Python, and every inference from one node to others."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.hierarchy import from_rows
from kanon_sql.privacy import PrivacyModels, all_of
from support.database import create_table
from support.examples import few
from support.models import DEFINED, Defined, Values, counted

EXAMPLES = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=few(4),
)
_ANY = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(1, 9)), min_size=4, max_size=30
)  # age, illness, person
ROWS = _ANY | _ANY.map(lambda rows: [(age, 1 + person % 4, person) for age, _, person in rows])  # one illness each
AGES = from_rows([["0", "0-1", "*"], ["1", "0-1", "*"], ["2", "2-3", "*"], ["3", "2-3", "*"]], "age")
_numbers = count()


def classes_of(rows: list[tuple[int, int, int]], level: int) -> list[list[tuple[int, int, int]]]:
    classes: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for row in rows:
        classes[row[0] >> level].append(row)
    return list(classes.values())


def values_of(rows: list[tuple[int, int, int]], people: bool) -> Values:
    return counted([row[1:] for row in rows], people)


@pytest.mark.parametrize("defined", DEFINED, ids=str)
@pytest.mark.parametrize("people", [False, True])
@EXAMPLES
@given(rows=ROWS)
@pytest.mark.slow
@pytest.mark.sampled("postgres", "sail")
def test_every_class_is_judged_by_its_definition(
    engine: Engine, defined: Defined, people: bool, rows: list[tuple[int, int, int]]
) -> None:
    model = all_of(defined.model, unit="person" if people else None)
    with judged(engine, model, rows) as judge:
        for level in range(3):
            unsafe = (c for c in classes_of(rows, level) if not safe(defined, c, rows, people))
            assert judge.rows_at_risk([(level,)]) == [sum(map(len, unsafe))]


@pytest.mark.parametrize("people", [False, True])
@EXAMPLES
@given(rows=ROWS, definitions=st.lists(st.sampled_from(DEFINED), min_size=2, max_size=4, unique_by=str))
@pytest.mark.slow
def test_models_together_are_judged_one_by_one(
    engine: Engine, people: bool, rows: list[tuple[int, int, int]], definitions: list[Defined]
) -> None:
    """All on one column: what one of them needs to know of a class must not change what another sees."""
    model = all_of(*(item.model for item in definitions), unit="person" if people else None)
    with judged(engine, model, rows) as judge:
        for level in range(3):
            unsafe = (
                c for c in classes_of(rows, level) if not all(safe(item, c, rows, people) for item in definitions)
            )
            assert judge.rows_at_risk([(level,)]) == [sum(map(len, unsafe))]


@contextmanager
def judged(engine: Engine, model: PrivacyModels, rows: list[tuple[int, int, int]]) -> Iterator[Judge]:
    """The judge of a table of ages, illnesses and people."""
    types = {"age": "BIGINT", "ill": "BIGINT", "person": "BIGINT"}
    table = create_table(engine, f"judged {next(_numbers)}", types, rows)
    with Scratch(engine) as tables:
        named = {"sensitive": model.sensitive, "compared": model.compared, "groups": model.groups}
        yield Judge(build_frequency_set(engine, table, {"age": lambda _: AGES}, tables, **named), model)
    engine.run(queries.drop(table.relation, engine.dialect))


def safe(defined: Defined, of: list[Any], rows: list[Any], people: bool) -> bool:
    return defined.is_safe(values_of(of, people), values_of(rows, people))


# What one node tells of others


@st.composite
def tables(draw: st.DrawFn) -> list[Values]:
    """The classes of a table, by the rows of four values."""
    row = st.lists(st.integers(0, 6), min_size=4, max_size=4)
    classes = [Counter({v: n for v, n in enumerate(draw(row), 1) if n}) for _ in range(draw(st.integers(2, 4)))]
    return [class_ for class_ in classes if class_]


@pytest.mark.parametrize(
    "defined", [definition for definition in DEFINED if definition.model.monotone == "always"], ids=str
)
@settings(max_examples=few(150), suppress_health_check=[HealthCheck.filter_too_much])
@given(classes=tables())
def test_always_a_safe_class_stays_safe_with_any_other(defined: Defined, classes: list[Values]) -> None:
    assume(len(classes) > 1)
    table = sum(classes, Counter())
    assume(defined.is_safe(classes[0], table))
    assert defined.is_safe(classes[0] + classes[1], table)


@pytest.mark.parametrize(
    "defined", [definition for definition in DEFINED if definition.model.monotone != "never"], ids=str
)
@settings(max_examples=few(150), suppress_health_check=[HealthCheck.filter_too_much])
@given(classes=tables())
def test_safe_classes_are_safe_when_merged(defined: Defined, classes: list[Values]) -> None:
    assume(len(classes) > 1)
    table = sum(classes, Counter())
    assume(defined.is_safe(classes[0], table))
    assume(defined.is_safe(classes[1], table))
    assert defined.is_safe(classes[0] + classes[1], table)


# A safe class, an unsafe one that spoils it, and the rest of the table: of each model that is not `always`.
SPOILED: dict[str, tuple[dict[int, int], dict[int, int], dict[int, int]]] = {
    "entropy l-diversity of ill": ({1: 1, 2: 1}, {1: 4}, {}),
    "recursive (c, l)-diversity of ill": ({1: 1, 2: 1}, {1: 4}, {}),
    "t-closeness of ill (equal distance)": ({1: 1, 2: 1}, {1: 4}, {2: 4}),
    "t-closeness of ill (ordered distance)": ({1: 1, 4: 1}, {1: 4}, {4: 4}),
    "t-closeness of ill (hierarchical distance)": ({1: 1, 3: 1}, {1: 4}, {3: 4}),
    "α of ill": ({1: 1, 2: 1}, {1: 4}, {}),
    "α of ill = 2": ({1: 3, 2: 1}, {2: 4}, {}),
    "basic β-likeness of ill": ({1: 1, 2: 1}, {1: 20}, {2: 20}),
    "enhanced β-likeness of ill": ({1: 1, 2: 1}, {1: 20}, {2: 20}),
    "δ-disclosure privacy of ill": ({1: 5, 2: 5}, {1: 20}, {2: 20}),
}


@pytest.mark.parametrize(
    "defined", [definition for definition in DEFINED if definition.model.monotone != "always"], ids=str
)
def test_an_unsafe_class_can_spoil_a_safe_one(defined: Defined) -> None:
    one, other, rest = map(Counter, SPOILED[defined.model.name])
    table = one + other + rest
    assert defined.is_safe(one, table)
    assert not defined.is_safe(one + other, table)
