"""Packed codes: the figures of every node match brute force, however attributes share numbers, and without packing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.frequency import packed as packing
from kanon_sql.frequency import rollups
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.hierarchy import from_rows
from kanon_sql.privacy import all_of, k_anonymity
from support.counting import EXAMPLES, assert_figures, assert_losses, counted
from support.examples import few
from support.oracle import Column, Problem, problems

TWO = all_of(k_anonymity(2))


@settings(EXAMPLES, max_examples=few(10))
@given(
    problem=problems(strays=True, fewest_columns=4),
    limits=st.sampled_from([{"_BITS": 2}, {"_BITS": 5}, {"_MOST_VALUES": 3}, {"_MOST_TUPLES": 0}]),
    rolled=st.booleans(),
)
def test_the_position_of_the_bits_changes_no_figure(
    engine: Engine, problem: Problem, limits: dict[str, int], rolled: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(packing, name, value)
        for name, value in {"_WORTH_ROWS": 0, "_WORTH_TESTS": 1, "_WORTH_KEEPING": 1}.items() if rolled else ():
            patch.setattr(rollups, name, value)
        judge = Judge(counted(engine, problem), all_of(k_anonymity(problem.k)))
        costs = judge.with_cells(judge.costs())
        nodes = problem.nodes[:: 1 + len(problem.nodes) // 12]
        assert judge.rows_at_risk(nodes) == [problem.rows_at_risk(node) for node in nodes]
        assert_losses(judge, costs, problem, nodes)
        for node in nodes[::4]:
            assert_figures(judge, costs, problem, node)


def test_masked_bits_are_equal_where_labels_are() -> None:
    rows = [[str(v), f"{v // 4}", f"{v // 12}", "*"] for v in range(37)]
    rows[5][1:3] = ["alone", "alone too"]  # a label as deep as the others, with one value
    hierarchy = from_rows(rows, "v.csv")
    layout = packing._layout(hierarchy)
    assert layout is not None
    assert layout.width == 2 + 2 + 3, "three bits say which of the labels below the top, two which of those below, …"
    for level in range(hierarchy.height + 1):
        pairs = {
            (hierarchy.codes(level)[i], layout.numbers[hierarchy.codes(0)[i]] & layout.masks[level]) for i in range(37)
        }
        assert len(pairs) == len(dict(pairs)) == len({bits for _, bits in pairs})


def test_a_test_of_a_node_returns_one_number_and_leaves_nothing_behind() -> None:
    engine = DuckDB()
    columns = [Column({value: (value, "*") for value in values}) for values in ("ab", "x", "pq", "1")]
    judge = Judge(counted(engine, Problem([("a", "x", "p", "1"), ("b", "x", "q", "1")], columns, 2)), TWO)
    bottom, top = (0, 0, 0, 0), (1, 0, 1, 0)
    assert judge.rows_at_risk([bottom, top]) == [2, 0]
    (statement,) = [
        statement.sql for statement in judge.frequency_set.tables.log if statement.name == "node_tests/node_test"
    ]
    assert statement.count("GROUP BY") == 1 + statement.count("GROUP BY at_risk.node") == 2, "one grouping for both"
    (at_bottom,), (at_top,) = judge._test_texts([bottom]), judge._test_texts([top])
    assert 'GROUP BY "_key_0"' in at_bottom
    assert 'GROUP BY "_key_0"' not in at_top, "at the top of all attributes with two values nothing is told apart"
    assert judge.rows_at_risk([bottom]) + judge.rows_at_risk([top]) == [2, 0]
    other = Judge(judge.frequency_set, TWO)
    assert other.rows_at_risk([(0, 0, 0, 0)]) == [2]
    judge.drop()
    assert other.rows_at_risk([(1, 0, 1, 0)]) == judge.rows_at_risk([(1, 0, 1, 0)]) == [0], "each has its own"
    judge.drop()
    other.drop()
    assert not engine.rows("SELECT 1 FROM duckdb_tables() WHERE table_name LIKE 'kanon%packed%'")
