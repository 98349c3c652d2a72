"""The road in SQL: every statement of a run with its sentence, the engine's plan, and what it gave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kanon_sql import frequency, queries
from kanon_sql import release as releases
from kanon_sql.engine import Engine
from kanon_sql.pipeline import Plan
from kanon_sql.queries import Relation
from kanon_sql.recoding import HELD

_FREQUENCY_SET = "Turn the distinct tuples into codes: one integer column per attribute and level."
_RELEASE = "Write every row with its labels, if its class is one that holds; sorted by what is released."


@dataclass(frozen=True)
class Step:
    """One statement: its name, a sentence, the text, the plan, and the rows or figures it gave."""

    name: str
    sentence: str
    engine: str
    sql: str
    plan: str
    gave: str


def steps(plan: Plan) -> Iterator[Step]:
    """Run a finished search's statements one by one; the release goes to a temporary table only.

    The plan must have been made with `keep_tuples`, inside the source engine's transaction.
    """
    source, found, judge = plan.source.engine, plan.frequency_set, plan.judge
    here, node = found.engine, plan.outcome.node
    scan, coding = found.sql
    yield _step("tuples", source, scan, gave=f"{found.tuples:,} distinct tuples of {found.rows:,} rows")
    columns = len(here.table(frequency.FREQUENCY_SET).columns)
    yield _step("frequency_set", here, coding, _FREQUENCY_SET, f"{found.tuples:,} rows, {columns} columns")
    for each in dict.fromkeys([plan.lattice.bottom, node]):
        sql = judge.node_test_sql(each)
        levels = ", ".join(f"{a.column.name} {level}" for a, level in zip(found.attributes, each, strict=True))
        yield _step("node_test", here, sql, gave=f"{here.rows(sql)[0][1]:,} rows at risk at {levels}")
    sql = judge.node_classes_sql(node)
    _, classes, released, smallest, _ = here.rows(sql)[0]
    yield _step("node_classes", here, sql, gave=f"{classes:,} classes, {released:,} rows, smallest {smallest}")
    written = releases.write(plan.recoding, None)
    held = judge.released_classes_sql(node)
    yield _step("released_classes", here, held, gave=f"{_count(source, HELD):,} classes")
    query = plan.recoding.select_sql()
    yield _step("release", source, query, _RELEASE, f"{written.summary.rows:,} rows")
    names = [attribute.column.name for attribute in found.attributes]
    check = releases.summary_sql(source, written.relation, names, judge.model)
    gave = f"smallest class {written.summary.smallest_class}, {written.summary.unsafe_rows} rows that do not hold"
    yield _step("class_summary", source, check, gave=gave)


def _step(name: str, engine: Engine, sql: str, sentence: str | None = None, gave: str = "") -> Step:
    text = queries.pretty(sql, engine.dialect)
    return Step(name, sentence or queries.sentence(name), engine.name, text, engine.explain(sql), gave)


def _count(engine: Engine, relation: Relation) -> int:
    ((rows,),) = engine.rows(queries.text("row_count", engine.dialect, relation=relation))
    return int(rows)
