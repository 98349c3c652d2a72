"""The judge against brute force: every node of small random tables, on every engine."""

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError
from kanon_sql.frequency import counted as counts
from kanon_sql.frequency import judge as judges
from kanon_sql.frequency import rollups as rollup
from kanon_sql.frequency.frequency_set import build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.privacy import PrivacyModel, all_of, k_anonymity
from kanon_sql.spec import may_suppress
from support.counting import EXAMPLES, NAMES, assert_figures, assert_losses, counted
from support.database import create_table
from support.oracle import Column, Problem, problems
from support.searching import costs_of


@EXAMPLES
@given(problem=problems(strays=True), names=st.permutations(NAMES).map(tuple), embedded=st.booleans())
def test_every_node_is_judged_like_brute_force(
    engine: Engine, problem: Problem, names: tuple[str, ...], embedded: bool
) -> None:
    frequency_set = counted(engine, problem, names, DuckDB() if embedded else engine)
    assert (frequency_set.rows, frequency_set.tuples) == (len(problem.rows), len(set(problem.rows)))
    assert frequency_set.heights == problem.heights
    judge = Judge(frequency_set, all_of(k_anonymity(problem.k)))
    costs = judge.with_cells(judge.costs())
    assert (costs.rows, costs.k) == (len(problem.rows), problem.k)
    for mine, theirs in zip(costs.level_losses, problem.level_losses(), strict=True):
        assert mine == pytest.approx(theirs)
    assert all(map(_about, costs.level_bits, problem.level_bits()))
    assert all(map(_about, costs.level_generalized, problem.level_several()))
    nodes = problem.nodes[:: 1 + len(problem.nodes) // 24]
    assert judge.rows_at_risk(nodes) == [problem.rows_at_risk(node) for node in nodes]
    assert_losses(judge, costs, problem, nodes)
    for node in nodes[:: 1 + len(nodes) // 6]:
        assert_figures(judge, costs, problem, node)
        of_classes = judge.of_classes(node)
        assert_figures(of_classes, costs, problem, node)
        assert of_classes.kept_rows(node) == judge.kept_rows(node)
        assert of_classes.released_levels(node) == judge.released_levels(node)
        assert released_sums(of_classes, node) == pytest.approx(released_sums(judge, node))
    judge.count_in_memory()
    queries = judge.queries
    assert judge.rows_at_risk(nodes) == [problem.rows_at_risk(node) for node in nodes]
    assert judge.queries == queries


def released_sums(judge: Judge, node: tuple[int, ...]) -> list[float]:
    """The sums of a weight of every code, by attribute."""
    tables = judge.frequency_set.tables
    types = {"weighed_code": "INTEGER", "weight": "FLOAT8"}
    weights = tables.load("weights", types, [list(range(50)), [1 / (1 + code) for code in range(50)]])
    return [judge.released_sum(node, attribute, weights) for attribute in judge.frequency_set.attributes]


def test_judges_of_the_same_tables_have_their_own_classes(engine: Engine) -> None:
    problem = Problem([("a",), ("a",), ("b",), ("b",), ("b",)], [two_levels("abc")], 2)
    frequency_set = counted(engine, problem)
    judges_of_both = [Judge(frequency_set, all_of(k_anonymity(k))).of_classes((0,)) for k in (2, 3)]
    assert [judge.classes((0,)).classes for judge in judges_of_both] == [2, 1]
    judge = Judge(frequency_set, all_of(k_anonymity(3)))
    costs = judge.with_cells(judge.costs())

    def at_risk(node: tuple[int, ...]) -> int | None:
        return judge.of_classes(node).cells(node, costs, ("bits",)).rows_at_risk

    assert [at_risk(node) for node in ((0,), (1,), (0,))] == [2, 0, 2]
    judge.drop()
    assert at_risk((0,)) == 2


def test_a_value_outside_a_hierarchy_of_one_leaf_loses_everything() -> None:
    problem = Problem([("stray",)] * 2, [Column({"a": ("a", "*")}, strays=True)], 1, 0.0)
    judge = Judge(counted(DuckDB(), problem), all_of(k_anonymity(1)))
    costs = judge.with_cells(judge.costs())
    assert costs.leaves == costs_of(problem).leaves == (2,)
    assert costs.leaf_shares == costs_of(problem).leaf_shares == (1.0,)
    assert_figures(judge, costs, problem, (0,))


def _about(mine: Sequence[float], theirs: Sequence[float]) -> bool:
    return mine == pytest.approx(theirs, abs=1e-9)


@EXAMPLES
@given(problem=problems(strays=True, fewest_columns=4))
def test_roll_ups_change_no_figure(engine: Engine, problem: Problem) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_WORTH_ROWS": 0, "_WORTH_TESTS": 1, "_WORTH_KEEPING": 1}.items():
            patch.setattr(rollup, name, value)
        judge = Judge(counted(engine, problem), all_of(k_anonymity(problem.k)))
        costs = judge.with_cells(judge.costs())
        nodes = problem.nodes[:: 1 + len(problem.nodes) // 6]
        assert judge.rows_at_risk(nodes) == [problem.rows_at_risk(node) for node in nodes]
        assert_losses(judge, costs, problem, nodes)
        for node in nodes:
            assert_figures(judge, costs, problem, node)


@EXAMPLES
@given(problem=problems(fewest_columns=4), most=st.sampled_from([0, 1, 2]), data=st.data())
def test_roll_ups_keep_a_bounded_number_of_rows(problem: Problem, most: int, data: st.DataObject) -> None:
    """However many are worth it; of those that one statement reads none is dropped for another."""
    engine = DuckDB()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_WORTH_ROWS": 0, "_WORTH_TESTS": 1, "_WORTH_KEEPING": 1, "_MOST_KEPT": most}.items():
            patch.setattr(rollup, name, value)
        judge = Judge(counted(engine, problem), all_of(k_anonymity(problem.k)))
        for _ in range(6):
            nodes = data.draw(st.lists(st.sampled_from(problem.nodes), min_size=1, max_size=8))
            assert judge.rows_at_risk(nodes) == [problem.rows_at_risk(node) for node in nodes]
            assert rolled_up_rows(engine) <= most * len(set(problem.rows))
        judge.drop()
        assert rolled_up_rows(engine) == 0


def rolled_up_rows(engine: DuckDB) -> int:
    """The rows of all roll-ups that there are."""
    tables = engine.rows("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'kanon%rollup%'")
    return sum(int(engine.rows(f'SELECT COUNT(*) FROM "{name}"')[0][0]) for (name,) in tables)


@pytest.mark.parametrize("kept", [3, 256])
def test_one_text_serves_all_nodes_with_the_same_number_of_sums(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    monkeypatch.setattr(judges, "_TEXTS", kept)
    levels = [(leaf, leaf if leaf == "a" else "bc", "*") for leaf in "abc"]
    column = Column({labels[0]: labels for labels in levels})
    problem = Problem([(x, y, z) for x in "abc" for y in "abc" for z in "abc"], [column] * 3, 2)
    judge = Judge(counted(DuckDB(), problem), all_of(k_anonymity(2)))
    costs = judge.costs()
    for node in [*problem.nodes, *problem.nodes]:
        assert judge.losses(node, costs).losses == pytest.approx(problem.column_losses(node))
    cache = judge._loss_query.cache_info()
    assert cache.currsize == min(kept, 4)  # of no, one, two and three columns
    assert (cache.misses == 4) == (kept > 4)


def two_levels(leaves: str) -> Column:
    return Column({leaf: (leaf, "*") for leaf in leaves})


def test_a_row_that_gets_lost_on_the_way_stops_the_run(engine: Engine) -> None:
    table = create_table(engine, "people", {"x": "VARCHAR"}, [("a",), ("b",)])
    with pytest.raises(SourceError, match="has 1 rows where 2 were read"):
        build_frequency_set(engine, table, {"x": lambda _: Hierarchy(*two_levels("a").levels)}, Scratch(engine))


@pytest.mark.parametrize("k", [1, 2, 5, 11])
def test_a_class_of_k_rows_is_safe_and_a_smaller_one_is_not(engine: Engine, k: int) -> None:
    rows = [("a",)] * (k - 1) + [("b",)] * k + [("c",)] * (k + 1)
    judge = Judge(counted(engine, Problem(rows, [two_levels("abc")], k)), all_of(k_anonymity(k)))
    assert judge.rows_at_risk([(0,), (1,)]) == [k - 1, 0]
    classes = judge.classes((0,))
    assert (classes.classes, classes.smallest_class, classes.rows_at_risk) == (2, k, k - 1)
    assert judge.losses((0,), judge.costs()).rows_at_risk == k - 1
    assert len(engine.rows(judge.released_classes_sql((0,)))) == 2


def test_a_class_of_unknown_safety_is_at_risk(engine: Engine) -> None:
    frequency_set = counted(engine, Problem([("a",)] * 3 + [("b",)] * 2, [two_levels("ab")], 2))
    unknown = PrivacyModel("unknown of three", {"k": 3}, {"rows": "SUM(n)"}, "NULLIF(rows, $k) > 0")
    judge = Judge(frequency_set, all_of(unknown))
    assert judge.rows_at_risk([(0,)]) == [3]
    assert judge.classes((0,)).released_rows == 2
    assert judge.losses((0,), judge.costs()).rows_at_risk == 3
    assert len(engine.rows(judge.released_classes_sql((0,)))) == 1


def test_a_batch_is_one_query_with_answers_in_the_requested_order(engine: Engine) -> None:
    problem = Problem([(a, b) for a in "aabc" for b in "xyzz"], [two_levels("abc"), two_levels("xyz")], 3)
    judge = Judge(counted(engine, problem), all_of(k_anonymity(3)))
    nodes = [*reversed(problem.nodes), *problem.nodes, *problem.nodes]  # over ten: as text, 10 is below 2
    assert judge.rows_at_risk(nodes) == [problem.rows_at_risk(node) for node in nodes]
    assert judge.queries == 1
    judge.losses((0, 0), judge.costs())
    judge.classes((0, 0))
    assert judge.queries == 4
    assert engine.rows(judge.node_test_sql((0, 0))) == [(0, problem.rows_at_risk((0, 0)))]


@pytest.mark.slow
def test_a_large_table_is_added_up_exactly(engine: Engine) -> None:
    """70,000 rows of 70,000 values: squares, losses and codes outgrow 32 bits."""
    rows = [(value,) for value in range(70_000)]
    wide = Column({value: (value, value // 35_000, "*") for (value,) in rows})
    judge = Judge(counted(engine, Problem(rows, [wide], 2)), all_of(k_anonymity(2)))
    assert judge.rows_at_risk([(0,), (1,), (2,)]) == [70_000, 0, 0]
    assert [judge.classes((level,)).squares for level in (1, 2)] == [2 * 35_000**2, 70_000**2]
    assert judge.costs().level_losses == ((0.0, 34_999 / 69_999, 1.0),)


@given(digits=st.integers(0, 6), numerator=st.integers(0, 10**6), rows=st.integers(0, 10**9))
def test_the_suppression_limit_is_floored_exactly(digits: int, numerator: int, rows: int) -> None:
    numerator %= 10**digits + 1
    assert may_suppress(numerator / 10**digits, rows) == numerator * rows // 10**digits


@pytest.mark.parametrize(
    ("limit", "rows", "allowed"),
    [(0.29, 100, 29), (0.57, 100, 57), (0.07, 100, 7), (1e-05, 100_000, 1), (0.02, 30162, 603), (0.999, 1, 0)],
)
def test_the_suppression_limit_where_floats_slip(limit: float, rows: int, allowed: int) -> None:
    assert may_suppress(limit, rows) == allowed


def test_a_suppression_limit_computed_by_division_allows_the_original_number() -> None:
    for rows in range(1, 501):
        for allowed in range(rows + 1):
            assert may_suppress(allowed / rows, rows) == allowed, (allowed, rows)
            assert may_suppress(f"{allowed} rows", rows) == allowed
    assert may_suppress("20 rows", 7) == 7


@EXAMPLES
@given(problem=problems(strays=True, fewest_columns=2), cells=st.sampled_from([1, 4, 1 << 20]), data=st.data())
def test_tuples_counted_in_memory_match_the_database(
    engine: Engine, problem: Problem, cells: int, data: st.DataObject
) -> None:
    judge = Judge(counted(engine, problem), all_of(k_anonymity(problem.k)))
    costs, top = judge.costs(), judge.frequency_set.heights
    attributes = data.draw(st.lists(st.integers(0, len(top) - 1), min_size=1, unique=True))
    tuples = judge.counted(attributes)
    assert tuples is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counts, "_CELLS", cells)
        for levels in data.draw(st.permutations(list(product(*(range(top[j] + 1) for j in attributes)))))[:12]:
            chosen = dict(zip(attributes, levels, strict=True))
            figures = judge.losses(tuple(chosen.get(j, high) for j, high in enumerate(top)), costs)
            assert tuples.rows_at_risk(levels) == figures.rows_at_risk
            for j, lost in zip(attributes, tuples.lost(levels), strict=True):
                loss = costs.level_losses[j][chosen[j]] + (tuples.rows_at_risk(levels) - lost) / costs.rows
                assert (figures.losses or ())[j] == pytest.approx(loss)


def test_only_k_alone_is_counted_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    tuples = counted(DuckDB(), Problem([("a",)] * 3, [two_levels("abc")], 2))
    assert Judge(tuples, all_of(k_anonymity(2))).counted([0])
    unknown = PrivacyModel("unknown of three", {"k": 3}, {"rows": "SUM(n)"}, "NULLIF(rows, $k) > 0")
    assert Judge(tuples, all_of(unknown)).counted([0]) is None
    monkeypatch.setattr(judges, "_MOST_COUNTED", 0)
    assert Judge(tuples, all_of(k_anonymity(2))).counted([0]) is None
