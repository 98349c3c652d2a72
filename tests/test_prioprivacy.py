"""PrioPrivacy against its own description in plain Python, and the guarantees of its strict form."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas
import pytest
from hypothesis import example, given

from kanon_sql import anonymize
from kanon_sql import spec as specs
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SpecError
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.recode import RECODERS, Clock, Local, Rounds
from support.examples import examples
from support.oracle import Column, Problem, Row
from support.prioprivacy import (
    FEW,
    Published,
    _select,
    counted,
    ranked,
    released,
    rules_of,
    spec_of,
    stands_for,
    task_of,
)


def rivals(*more: Row) -> tuple[Problem, list[int]]:
    """The first row can share a group with the second, or with the last, not with both."""
    rows = [("a1", "b1", "c1"), ("a2", "b1", "c2"), *more, ("a1", "b2", "c4")]
    columns = [Column({f"{c}{i}": (f"{c}{i}", f"any {c}", "*") for i in range(1, 5)}) for c in "abc"]
    return Problem(rows, columns, 2), [2, 2, 1]


@pytest.mark.parametrize("order", ["plain", "published"])
@FEW
@given(case=ranked())
@example(case=rivals())  # groups of two rows each: the first set of attributes comes first
@example(case=rivals(("a3", "b1", "c3")))
@example(case=(rivals(("a4", "b2", "c3"), ("a1", "b3", "c3"))[0], [1, 2, 2]))  # the larger group comes second
@pytest.mark.slow
def test_the_wildcard_form_is_the_published_algorithm(embedded: DuckDB, case: Any, order: str) -> None:
    problem, priorities = case
    frequency_set = counted(embedded, problem)
    spec = spec_of(problem, priorities, wildcard_suppression=True, suppression_order=order)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec))
    expected = dict(zip(problem.rows, Published(problem, priorities, order).out, strict=True))
    assert {row: labels for row, (labels, _) in released(frequency_set, local).items()} == expected


@FEW
@given(case=ranked())
def test_the_description_of_the_wildcard_form_is_true(embedded: DuckDB, case: Any) -> None:
    problem, priorities = case
    frequency_set = counted(embedded, problem)
    spec = spec_of(problem, priorities, wildcard_suppression=True)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec))
    rows = [labels for labels, n in released(frequency_set, local).values() for _ in range(n)]
    classes = Counter(rows)
    assert sum(classes.values()) == len(problem.rows)
    assert local.facts["string_classes"] == {
        "smallest": min(classes.values()),
        "rows_below": sum(n for n in classes.values() if n < problem.k),
    }
    fits = {row: sum(stands_for(row, original, problem.columns) for original in problem.rows) for row in classes}
    assert local.facts["wildcard"] == {"smallest": min(fits.values()), "rows_below": 0}
    assert min(fits.values()) >= problem.k


def _holds(problem: Problem, frequency_set: FrequencySet, local: Local) -> Counter[Row]:
    """What the strict form promises, checked row by row; gives the classes."""
    tuples = released(frequency_set, local)
    assert {row: n for row, (_, n) in tuples.items()} == Counter(problem.rows)
    classes: Counter[Row] = Counter()
    for row, (labels, n) in tuples.items():
        assert stands_for(labels, row, problem.columns)
        classes[labels] += n
    assert min(classes.values()) >= problem.k
    return classes


@examples(30)
@given(case=ranked(most_columns=4))
@pytest.mark.slow
def test_every_class_of_the_strict_form_is_safe_and_true(embedded: DuckDB, case: Any) -> None:
    problem, priorities = case
    frequency_set = counted(embedded, problem)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec_of(problem, priorities)))
    classes = _holds(problem, frequency_set, local)
    assert local.facts["string_classes"] == {"smallest": min(classes.values()), "rows_below": 0}
    if local.facts["absorbed_rows"] == 0:
        counts = Counter(problem.rows)
        for row, (labels, _) in released(frequency_set, local).items():
            assert counts[row] < problem.k or labels == tuple("NULL" if v is None else str(v) for v in row)


@FEW
@given(case=ranked())
@example(case=(Problem([("a",), ("b",), ("b",)], [Column({"a": ("a", "*"), "b": ("b", "*")})], 2), [1]))
@pytest.mark.slow
def test_a_run_out_of_time_ends_safely(embedded: DuckDB, case: Any) -> None:
    problem, priorities = case
    frequency_set = counted(embedded, problem)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec_of(problem, priorities), clock=Clock(-1.0)))
    _holds(problem, frequency_set, local)
    assert local.ended == "time limit"


@FEW
@given(case=ranked())
def test_the_classes_have_the_leaves_and_levels_of_their_labels(embedded: DuckDB, case: Any) -> None:
    problem, priorities = case
    frequency_set = counted(embedded, problem)
    task = task_of(frequency_set, spec_of(problem, priorities))
    classes = RECODERS["prioprivacy"](task).classes
    for j, column in enumerate(problem.columns):
        levels = len(column.leaves), column.height
        for label, leaves, level in embedded.rows(
            _select(frequency_set, classes, [f"label_{j}", f"leaves_{j}", f"level_{j}"])
        ):
            ruled = [values for level_rules in rules_of(column) for values, text in level_rules if text == label]
            plain = [{value} for value in column.leaves if label == (None if value is None else str(value))]
            meant = set().union(*ruled, *plain)
            lowest = next(at for at in range(column.height + 1) if len({column.label(v, at) for v in meant}) <= 1)
            assert (leaves, level) == (levels if label == "*" else (len(meant), lowest))


def test_a_remaining_tuple_joins_the_class_that_loses_least(embedded: DuckDB) -> None:
    """Two colours of red and blue each, one of green; the fifth row is the only one that is not safe."""
    colours = Column({c: (c, "warm" if c in ("red", "pink") else "cold", "*") for c in ("red", "pink", "blue", "teal")})
    rows = [("red",)] * 2 + [("blue",)] * 2 + [("pink",)]
    problem = Problem(rows, [colours], 2)
    frequency_set = counted(embedded, problem)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec_of(problem, [1])))
    assert released(frequency_set, local) == {
        ("red",): (("warm",), 2),
        ("pink",): (("warm",), 1),
        ("blue",): (("blue",), 2),
    }
    assert local.facts["absorbed_rows"] == 1


@pytest.mark.slow
def test_the_least_important_attribute_changes_first(embedded: DuckDB) -> None:
    yes_no = Column({v: (v, "*") for v in ("y", "n")})
    problem = Problem([("y", "y"), ("y", "n"), ("n", "y"), ("n", "n")], [yes_no, yes_no], 2)
    frequency_set = counted(embedded, problem)

    def hidden(priorities: Sequence[int | None]) -> set[Row]:
        local = RECODERS["prioprivacy"](task_of(frequency_set, spec_of(problem, priorities)))
        return {tuple(cell == "*" for cell in labels) for labels, _ in released(frequency_set, local).values()}

    assert hidden([1, 2]) == {(False, True)}
    assert hidden([2, 1]) == {(True, False)}
    assert hidden([None, None]) == {(True, False)}
    assert hidden([1, None]) == {(True, False)}, "a column without a priority is as important as the least"
    assert hidden([None, 2]) == {(True, False)}


@pytest.mark.slow
def test_the_example_of_the_paper(embedded: DuckDB) -> None:
    """{*, 20, *} if the domains are what the data show: 2 genders, 2 countries, 1 age."""
    columns = [Column({v: (v, "*") for v in values}) for values in (("f", "m"), ("20",), ("AT", "GR"))]
    problem = Problem([("f", "20", "AT")] * 2 + [("m", "20", "GR")] * 2 + [("m", "20", "AT")], columns, 2)
    spec = spec_of(problem, [1, 2, 3], wildcard_suppression=True)
    frequency_set = counted(embedded, problem)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec))
    assert released(frequency_set, local)["m", "20", "AT"] == (("*", "20", "*"), 1)
    large = Column({v: (v, "*") for v in ["AT", "GR", *map(str, range(39))]})
    problem = Problem(problem.rows, [*columns[:2], large], 2)
    frequency_set = counted(embedded, problem)
    local = RECODERS["prioprivacy"](task_of(frequency_set, spec))
    assert released(frequency_set, local)["m", "20", "AT"] == (("m", "20", "*"), 1)


@pytest.mark.parametrize(("domain", "hidden"), [("occurring", 0), (2, 0), (41, 2), ("hierarchy", 2), (None, 2)])
def test_a_domain_can_be_set(embedded: DuckDB, domain: int | str | None, hidden: int) -> None:
    """The paper's example, whose countries are 41 by the hierarchy and 2 by the data."""
    columns = [Column({v: (v, "*") for v in values}) for values in (("f", "m"), ("20",))]
    countries = Column({v: (v, "*") for v in ["AT", "GR", *map(str, range(39))]})
    rows = [("f", "20", "AT")] * 2 + [("m", "20", "GR")] * 2 + [("m", "20", "AT")]
    problem = Problem(rows, [*columns, countries], 2)
    frequency_set = counted(embedded, problem)
    attributes = {name: {"priority": p} for name, p in zip(problem.names, (1, 2, 3), strict=True)}
    attributes[problem.names[2]] |= {} if domain is None else {"domain": domain}
    spec = spec_of(problem, [1, 2, 3]).model_dump() | {"quasi_identifiers": attributes, "wildcard_suppression": True}
    local = RECODERS["prioprivacy"](task_of(frequency_set, specs.parse(spec)))
    shown = {0: ("*", "20", "*"), 2: ("m", "20", "*")}[hidden]
    assert released(frequency_set, local)["m", "20", "AT"] == (shown, 1)
    assert local.facts["domains"][problem.names[2]] == (2 if hidden == 0 else 41)


@pytest.mark.parametrize("strategy", ["mondrian", "auto"])
def test_a_domain_is_only_for_prioprivacy(strategy: str) -> None:
    table = pandas.DataFrame({"age": [1, 2, 1, 2]})
    options = {"quasi_identifiers": {"age": {"hierarchy": "suppress", "domain": 74}}, "strategy": strategy}
    with pytest.raises(SpecError, match="the domain of 'age' is for the strategy prioprivacy"):
        anonymize(table, options, k=2)


@pytest.mark.slow
def test_labels_that_differ_in_blanks_have_a_quality(tmp_path: Path) -> None:
    """Three of four ages become a label of the hierarchy, which the rules write with blanks."""
    (tmp_path / "age.csv").write_text("".join(f"{age};{age // 10}0-{age // 10}9;*\n" for age in range(20, 40)))
    rules = tmp_path / "rules"
    rules.mkdir()
    table = pandas.DataFrame({"age": [20, 21, 22, 30, 30, 30]})
    options = {"quasi_identifiers": {"age": {"hierarchy": str(tmp_path / "age.csv")}}, "strategy": "prioprivacy"}
    messages = []
    for label in ("20-29", "20 - 29", "twenties"):
        (rules / "1_age.txt").write_text(f"20,21,22 => {label}\n")
        messages.append(anonymize(table, {**options, "rules": str(rules)}, k=3).manifest["recoding"]["quality"])
    assert messages[0] == messages[1] != messages[2] is None
    assert messages[0]["intensity_kept"] == pytest.approx(1 - 3 / 6 / 2)


def test_an_observer_sees_the_remaining_rows_decrease(embedded: DuckDB) -> None:
    column = Column({str(i): (str(i), str(i // 4), "*") for i in range(8)})
    problem = Problem([(str(i),) for i in range(8)], [column], 2)
    seen: list[Rounds] = []
    RECODERS["prioprivacy"](task_of(counted(embedded, problem), spec_of(problem, [1]), clock=Clock(None, seen.append)))
    assert [(rounds.classes, rounds.left) for rounds in seen] == [(2, 0)]


def test_only_the_result_is_left(embedded: DuckDB) -> None:
    column = Column({v: (v, "*") for v in "ab"})
    problem = Problem([("a",), ("b",), ("b",)], [column], 2)
    frequency_set = counted(embedded, problem)
    before = _temporary(embedded)
    task = task_of(frequency_set, spec_of(problem, [1]))
    local = RECODERS["prioprivacy"](task)
    assert _temporary(embedded) - before == {local.assignment.name, local.classes.name}
    task.results.close()
    remaining = {local.assignment.name, local.classes.name, frequency_set.relation.name}
    assert not remaining & _temporary(embedded)


def _temporary(engine: DuckDB) -> set[str]:
    return {name for (name,) in engine.rows("SELECT table_name FROM duckdb_tables() WHERE temporary")}
