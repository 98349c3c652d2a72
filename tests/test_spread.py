"""The counts of sensitive values side by side: the same answers as of values in rows, in one GROUP BY."""

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
    Reference,
    Spread,
    all_of,
    alpha,
    beta_likeness,
    delta_disclosure,
    k_anonymity,
    l_diversity,
    t_closeness,
)
from kanon_sql.queries import Relation
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


def said(judge: Judge) -> list[Any]:
    costs = judge.costs()
    return [judge.rows_at_risk(NODES), judge.verdicts(NODES), judge.losses(NODES[0], costs), judge.classes(NODES[1])]


def is_spread(judge: Judge) -> bool:
    """Whether a node's test reads no class values; what a run logs has its text."""
    judge.rows_at_risk(NODE)
    text = next(each.sql for each in judge.frequency_set.tables.log if each.name == "core/node_test")
    return "class_values" not in text


@pytest.mark.parametrize(
    ("models", "rolled"), list(zip(TOGETHER.values(), [False, True] * 3, strict=True)), ids=list(TOGETHER)
)
def test_a_node_is_judged_as_by_the_rows_of_each_value(models: list[PrivacyModel], rolled: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_WORTH_ROWS": 0, "_WORTH_ASKING": 1, "_WORTH_KEEPING": 9, "_MOST_KEPT": 99}.items():
            patch.setattr(rollups, name, value if rolled else getattr(rollups, name))
        judge = judge_of(DuckDB(), models)
        here = said(judge)
        patch.setattr("kanon_sql.frequency.spread._MOST_VALUES", 0)
        other = judge_of(DuckDB(), models)
        assert said(other) == here
    assert (is_spread(judge), is_spread(other)) == (True, False)
    assert 0 < min(filter(None, here[0])) < max(here[0]) <= 300


def test_what_columns_cannot_count_is_counted_in_rows(engine: Engine) -> None:
    for models, unit in [
        ([ORDERED, alpha("pay", 0.9, "3")], None),
        ([ORDERED], "person"),
        ([t_closeness("pay", 1)], None),
    ]:
        assert not is_spread(judge_of(engine, models, unit))
    assert is_spread(judge_of(engine, [ORDERED])) == (engine.dialect == "duckdb")


def test_counts_of_one_column_never_run_into_each_other() -> None:
    """Each of three values has all the rows that a class can have, in classes of their own and in two rows each."""
    n = 2**29 - 1
    spread = Spread({"c": ("_sensitive_0_c_0", "_sensitive_0_c_1")}, {"c": (n, n, n)}, 3 * n)
    assert (spread.bits, spread.in_one, spread.values) == (31, 2, 3)
    engine = DuckDB()
    first, second, third = (1, 0), (2**31, 0), (0, 1)
    rows = [
        (level, part, a * part, b * part) for level, (a, b) in enumerate([first, second, third]) for part in (n - 7, 7)
    ]
    columns = dict.fromkeys(["age_0", "n", *spread.columns["c"]], "BIGINT")
    relation = create_table(engine, "held", columns, rows).relation
    for t, at_risk in [(0.66, 3 * n), (0.67, 0)]:
        model = all_of(t_closeness("ill", t)).referring({"_sensitive_0": Reference(Relation("none"), spread=spread)})
        test = queries.per_node("core/node_test", engine.dialect, safe=model.safe)
        assert engine.rows(test(0, relation, ["age_0"])) == [(0, at_risk)]
