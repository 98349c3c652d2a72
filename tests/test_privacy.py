"""Privacy models as values, against brute force: the judge and every search, node by node, and the queries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from math import floor, inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError, SpecError
from kanon_sql.frequency import rollups as rollup
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.loss import metric
from kanon_sql.privacy import Predicate, PrivacyModel, all_of, k_anonymity
from kanon_sql.queries import Relation
from kanon_sql.strategies import STRATEGIES, Driver, strategy
from support.database import create_table
from support.examples import few
from support.oracle import Node, Problem, Row
from support.privacy import AT_MOST, EXAMPLES, NUMBERS, is_safe, valued_problems

MODELS = all_of(k_anonymity(2), AT_MOST)


# The oracle: rows and dictionaries


def classes_of(problem: Problem, node: Node, values: Sequence[Any]) -> dict[Row, Counter[Any]]:
    """The classes of a node, each with its rows by their sensitive value."""
    classes: dict[Row, Counter[Any]] = defaultdict(Counter)
    for row, value in zip(problem.rows, values, strict=True):
        classes[problem.labels(row, node)][value] += 1
    return classes


def at_risk(problem: Problem, node: Node, values: Sequence[Any]) -> int:
    return sum(item.total() for item in classes_of(problem, node, values).values() if not is_safe(item))


def score_of(problem: Problem, node: Node, values: Sequence[Any], by: str) -> float:
    """The score of a node, the rows of its unsafe classes suppressed."""
    classes = classes_of(problem, node, values).items()
    released = {labels: counted.total() for labels, counted in classes if is_safe(counted)}
    rows = len(problem.rows)
    if by == "discernibility":
        return sum(n * n for n in released.values()) + rows * (rows - sum(released.values()))
    if by == "average_class_size":
        return sum(released.values()) / (2 * len(released)) if released else inf
    if by == "height":
        return sum(node)
    losses = [
        sum(float(column.loss(row[j], level)) if problem.labels(row, node) in released else 1.0 for row in problem.rows)
        / rows
        for j, (column, level) in enumerate(zip(problem.columns, node, strict=True))
    ]
    return sum(losses) / len(losses)


# The judge and every search, node by node


def counted(engine: Engine, problem: Problem, values: Sequence[Any], here: Engine | None = None) -> FrequencySet:
    names = [f"q{j}" for j in range(len(problem.columns))]
    types = ["BIGINT" if isinstance(c.levels[0][0], int) else "VARCHAR" for c in problem.columns]
    columns = dict(zip(names, types, strict=True)) | {"salary-class": "VARCHAR"}
    rows = [(*row, value) for row, value in zip(problem.rows, values, strict=True)]
    table = create_table(engine, f"valued {next(NUMBERS)}", columns, rows)
    hierarchies = {name: Hierarchy(*c.levels) for name, c in zip(names, problem.columns, strict=True)}
    builders = {name: lambda _, h=hierarchy: h for name, hierarchy in hierarchies.items()}
    try:
        return build_frequency_set(engine, table, builders, Scratch(here or engine), sensitive=MODELS.sensitive)
    finally:
        engine.run(queries.drop(table.relation, engine.dialect))


@EXAMPLES
@given(given=valued_problems(), embedded=st.booleans())
@pytest.mark.slow
def test_every_node_is_judged_like_brute_force(
    engine: Engine, given: tuple[Problem, list[Any]], embedded: bool
) -> None:
    problem, values = given
    frequency_set = counted(engine, problem, values, DuckDB() if embedded else engine)
    assert (frequency_set.rows, frequency_set.tuples) == (len(problem.rows), len(set(problem.rows)))
    assert_judged(Judge(frequency_set, MODELS), problem, values)


@EXAMPLES
@given(given=valued_problems(fewest_columns=4))
@pytest.mark.slow
def test_roll_ups_keep_the_values(given: tuple[Problem, list[Any]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_WORTH_ROWS": 0, "_WORTH_TESTS": 1, "_WORTH_KEEPING": 9, "_MOST_KEPT": 99}.items():
            patch.setattr(rollup, name, value)
        assert_judged(Judge(counted(DuckDB(), *given), MODELS), *given)


def assert_judged(judge: Judge, problem: Problem, values: Sequence[Any]) -> None:
    costs = judge.costs()
    nodes = problem.nodes[:: 1 + len(problem.nodes) // 12]
    assert judge.rows_at_risk(nodes) == [at_risk(problem, node, values) for node in nodes]
    for node in nodes[:: 1 + len(nodes) // 4]:
        released = [item.total() for item in classes_of(problem, node, values).values() if is_safe(item)]
        for either in (judge, judge.of_classes(node)):
            figures, losses = either.classes(node), either.losses(node, costs)
            assert (figures.classes, figures.released_rows) == (len(released), sum(released))
            assert losses.rows_at_risk == len(problem.rows) - sum(released)
            assert metric("loss").score(costs, losses) == pytest.approx(score_of(problem, node, values, "loss"))
        unsafe = Counter[Any]()
        for item in classes_of(problem, node, values).values():
            unsafe += Counter() if is_safe(item) else item
        assert judge.may_mask(node, unsafe.total()) == (bool(unsafe) and is_safe(unsafe))


@pytest.mark.parametrize("name", [name for name in STRATEGIES if "igh" not in name])
@pytest.mark.parametrize("suppresses", [False, True])
@settings(EXAMPLES, max_examples=few(4))
@given(given=valued_problems(), by=st.sampled_from(["loss", "height", "discernibility", "average_class_size"]))
def test_every_search_finds_what_brute_force_finds(
    name: str, suppresses: bool, given: tuple[Problem, list[Any]], by: str
) -> None:
    problem, values = given
    allowed = floor(0.3 * len(problem.rows)) if suppresses else 0
    if allowed and STRATEGIES[name].monotone_only:
        with pytest.raises(SpecError, match="needs a monotone privacy model"):
            strategy(name).check(MODELS.monotone_for(suppresses=True))
        return
    judge = Judge(counted(DuckDB(), problem, values), MODELS)
    monotone = MODELS.monotone_for(suppresses=allowed > 0)
    lattice = Lattice((0,) * len(problem.columns), problem.heights)
    driver = Driver(
        lattice, judge.costs(), metric(by), judge, allowed, monotone, 5, k_alone=MODELS.k_alone, evaluations=200
    )
    safe = {
        node: score_of(problem, node, values, by) for node in problem.nodes if at_risk(problem, node, values) <= allowed
    }
    best = min(safe.values(), default=inf)
    try:
        outcome = driver.run(strategy(name))
    except InfeasibleError:
        # A search that promises no optimum may miss the few nodes that will do.
        assert best == inf or STRATEGIES[name].promise != "the optimum"
        return
    assert outcome.node in safe
    assert outcome.score == pytest.approx(safe[outcome.node])
    assert outcome.lower_bound <= best + 1e-9
    assert not outcome.proven_optimal or outcome.score == pytest.approx(best)
    if STRATEGIES[name].promise == "the optimum":
        assert outcome.score == pytest.approx(best)
        assert outcome.proven_optimal


NODE_QUERIES: dict[str, dict[str, Any]] = {
    "node_tests/node_test": {"node": 0},
    "node_tests/node_classes": {"node": 0},
    "node_tests/node_loss": {"node": 0, "losses": ["age_1_loss"]},
    "node_tests/kept_rows": {"kept": Relation("k"), "code": {"code": "age_0"}, "sensitive": []},
    "node_tests/node_assignment": {"keys": ["age_0"], "sensitive": []},
    "node_tests/released_classes": {},
}


@pytest.mark.parametrize("name", NODE_QUERIES)
def test_k_alone_uses_the_query_unchanged(engine: Engine, name: str) -> None:
    holes = {"frequency_set": Relation("f"), "levels": ["age_1"], **NODE_QUERIES[name]}
    plain = queries.text(name, engine.dialect, **holes, safe=Predicate("SUM(n) >= 5"))
    assert queries.text(name, engine.dialect, **holes, safe=all_of(k_anonymity(5)).safe) == plain
    assert "class_values" not in plain


def test_k_alone_scans_the_source_as_it_always_did() -> None:
    columns, source = {"age": "Age"}, Relation("p")
    plain = queries.text("frequency_sets/tuples", "duckdb", columns=columns, source=source)
    assert queries.tuples(columns, {}, source, "duckdb") == plain


def test_an_invalid_monotone_declaration_is_refused() -> None:
    with pytest.raises(SpecError, match="must be one of always, without suppression, never"):
        PrivacyModel("x", {}, {"r": "SUM(n)"}, "r > 1", monotone="sometimes")  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["AVG(n)", "COUNT(DISTINCT n)"])
def test_models_that_do_not_add_up_over_values_are_refused(text: str) -> None:
    odd = Predicate("r > 1 AND m > 0", {}, {"r": text, "m": "MAX(c)"}, "_sensitive_0")
    with pytest.raises((SpecError, ValueError)):
        queries.per_node("node_tests/node_test", "duckdb", safe=odd)
