"""The frequency set of an oracle's table, built in an engine, and its nodes' figures against the oracle's."""

from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.hierarchy import Hierarchy, cover
from kanon_sql.loss import METRICS, Costs
from support.database import create_table
from support.examples import examples
from support.oracle import Node, Problem

NAMES = ("n", "value", "Sum(n)", 'a "b"; DROP', "Straße", "select", "m0", "t", "kanon_tuples", " ", "node", "k")
EXAMPLES = examples(25)
_numbers = count()


def counted(
    engine: Engine, problem: Problem, names: tuple[str, ...] = NAMES, search_in: Engine | None = None
) -> FrequencySet:
    """The frequency set of a problem's table, made in the engine under odd names."""
    types = ["BIGINT" if isinstance(c.levels[0][0], int) else "VARCHAR" for c in problem.columns]
    names = names[: len(types)]
    table = create_table(engine, f"people {next(_numbers)}", dict(zip(names, types, strict=True)), problem.rows)

    def build(index: int) -> Any:
        hierarchy = Hierarchy(*problem.columns[index].levels)
        return lambda values: cover(hierarchy, values, "it", "top")

    try:
        builders = {name: build(index) for index, name in enumerate(names)}
        return build_frequency_set(engine, table, builders, Scratch(search_in or engine))
    finally:
        engine.run(queries.drop(table.relation, engine.dialect))


def assert_losses(judge: Judge, costs: Costs, problem: Problem, nodes: Sequence[Node]) -> None:
    """What several nodes lose, asked for together, is that of brute force."""
    for node, figures in zip(nodes, judge.several_losses(nodes, costs), strict=True):
        assert (figures.node, figures.rows_at_risk) == (node, problem.rows_at_risk(node))
        assert figures.losses == pytest.approx(problem.column_losses(node))


def assert_figures(judge: Judge, costs: Costs, problem: Problem, node: Node) -> None:
    """One node's classes, losses and scores are those of brute force."""
    sizes = problem.released(node).values()
    losses, classes = judge.cells(node, costs, ("losses", "bits", "generalized")), judge.classes(node)
    assert judge.rows_at_risk([node]) == [problem.rows_at_risk(node)]
    assert losses.rows_at_risk == classes.rows_at_risk == problem.rows_at_risk(node)
    assert losses.losses == pytest.approx(problem.column_losses(node))
    assert (classes.classes, classes.smallest_class) == (len(sizes), min(sizes, default=None))
    assert (classes.released_rows, classes.squares) == (sum(sizes), sum(size**2 for size in sizes))
    for name, score in problem.scores(node).items():
        figures = classes if METRICS[name].question == "classes" else losses
        assert METRICS[name].score(costs, figures) == pytest.approx(score, abs=1e-12)
