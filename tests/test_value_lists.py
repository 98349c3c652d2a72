"""Class values in lists: the same answers as by windows, and by pairs of every class and value."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency import rollups
from kanon_sql.frequency.frequency_set import build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.hierarchy import from_rows
from kanon_sql.privacy import (
    PrivacyModel,
    all_of,
    alpha,
    beta_likeness,
    delta_disclosure,
    k_anonymity,
    l_diversity,
    t_closeness,
)
from kanon_sql.queries import tree
from support.database import create_table

QUARTERS = from_rows([[str(i), f"{i // 2}", f"half {i // 4}", "*"] for i in range(8)], "q")
PAY = from_rows(
    [[str(i), f"{i // 3 * 3} to {i // 3 * 3 + 2}", "low" if i < 6 else "high", "*"] for i in range(9)], "pay"
)
ORDERED, IN_GROUPS = t_closeness("pay", 0.15, "ordered"), t_closeness("pay", 0.2, "hierarchical", PAY)
TOGETHER: dict[str, list[PrivacyModel]] = {
    "ordered": [ORDERED],
    "hierarchical": [IN_GROUPS],
    "both, and equal": [ORDERED, IN_GROUPS, t_closeness("pay", 0.3)],
    "with models of values alone": [
        *(l_diversity("pay", 3), l_diversity("pay", 2, "entropy"), l_diversity("pay", 3, "recursive", c=2)),
        *(alpha("pay", 0.5), ORDERED),
    ],
    "with what is compared": [IN_GROUPS, beta_likeness("pay", 2, "basic"), delta_disclosure("pay", 3)],
    "with one value": [ORDERED, alpha("pay", 0.9, "3")],
    "that all meet": [t_closeness("pay", 1, "ordered"), t_closeness("pay", 0.3)],
    "on two columns": [ORDERED, l_diversity("ill", 2), t_closeness("ill", 0.4)],
}
NODES = [(1, 1, 2, 2), (2, 2, 2, 1), (3, 3, 1, 2)]
NODE = [(2, 1, 3, 1)]


def judge_of(engine: Engine, models: Sequence[PrivacyModel], unit: str | None = None) -> Judge:
    """The judge of 300 rows of four quarters, an ill, a pay and a person."""
    draw, model = random.Random(5), all_of(k_anonymity(2), *models, unit=unit)
    rows = [
        (*(draw.randrange(8) for _ in range(4)), draw.randrange(5), min(draw.randrange(12), 8), i // 2)
        for i in range(300)
    ]
    columns = dict.fromkeys(["q0", "q1", "q2", "q3", "ill", "pay", "person"], "BIGINT")
    table = create_table(engine, "paid", columns, rows)
    builders = {f"q{i}": lambda _: QUARTERS for i in range(4)}
    named = {"sensitive": model.sensitive, "compared": model.compared, "groups": model.groups}
    try:
        return Judge(build_frequency_set(engine, table, builders, Scratch(engine), **named), model)
    finally:
        engine.run(queries.drop(table.relation, engine.dialect))


def judgements(judge: Judge) -> list[Any]:
    costs = judge.costs()
    return [judge.rows_at_risk(NODES), judge.verdicts(NODES), judge.losses(NODES[0], costs), judge.classes(NODES[1])]


def in_lists(judge: Judge) -> bool:
    """Whether a node's test reads lists, and puts no class beside every value."""
    judge.rows_at_risk(NODE)
    text = next(
        statement.sql for statement in judge.frequency_set.tables.log if statement.name == "node_tests/node_test"
    )
    return "class_lists" in text and "AS _c_to," not in text


def answers(models: Sequence[PrivacyModel]) -> list[tuple[list[Any], bool]]:
    """What is said of rows and of people, and whether by lists."""
    judges = [judge_of(DuckDB(), models, unit) for unit in (None, "person")]
    return [(judgements(judge), in_lists(judge)) for judge in judges]


@pytest.mark.parametrize(
    ("models", "rolled"), list(zip(TOGETHER.values(), [False, True] * 4, strict=True)), ids=list(TOGETHER)
)
@pytest.mark.sampled
def test_a_node_is_judged_as_without_lists(models: list[PrivacyModel], rolled: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_WORTH_ROWS": 0, "_WORTH_TESTS": 1, "_WORTH_KEEPING": 9, "_MOST_KEPT": 99}.items():
            patch.setattr(rollups, name, value if rolled else getattr(rollups, name))
        here = answers(models)
        patch.setattr(tree, "_has_lists", lambda _: False)
        assert answers(models) == [(figures, False) for figures, _ in here]
    assert all(listed for _, listed in here)
    at_risk = here[0][0][0]
    assert 0 < min(filter(None, at_risk)) < max(at_risk) <= 300


def test_only_duckdb_has_lists(engine: Engine) -> None:
    assert in_lists(judge_of(engine, [ORDERED])) == (engine.dialect == "duckdb")
