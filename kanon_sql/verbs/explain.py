"""The road in SQL: every statement of a run with its sentence, the engine's plan, and what it gave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.queries import Relation
from kanon_sql.release import findings, recoded
from kanon_sql.spec import SearchIn, Spec
from kanon_sql.staging import Staging
from kanon_sql.verbs.observer import Observer
from kanon_sql.verbs.options import RecodingOptions, spelled_out, taken
from kanon_sql.verbs.plan import LocalPlan, Plan, check_spec, plan_release
from kanon_sql.verbs.result import Result
from kanon_sql.verbs.source import opened, settle_spec

if TYPE_CHECKING:
    import pandas

_FREQUENCY_SET = "Turn the distinct tuples into codes: one integer column per attribute and level."
_CLASSES = "What every class shows that {} made, with its rows, the leaves under each cell and its level."


@dataclass(frozen=True)
class Step:
    """One statement: its name, a sentence, the text, the plan, and the rows or figures it gave."""

    name: str
    sentence: str
    engine: str
    sql: str
    plan: str
    gave: str


@dataclass(frozen=True, repr=False)
class Explanation(Result):
    """The statements of a run in order, each with its sentence, its plan, and what it gave."""

    source: str
    steps: tuple[Step, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return {"source": self.source, "steps": [asdict(step) for step in self.steps]}

    def to_df(self) -> pandas.DataFrame:
        """One row per statement."""
        import pandas

        return pandas.DataFrame([asdict(step) for step in self.steps])

    def _lines(self) -> list[tuple[str, str]]:
        return [(step.name, f"{step.gave}: {step.sentence}") for step in self.steps]

    def _texts(self) -> dict[str, Any]:
        return {".sql": lambda: "\n".join(map(_commented, self.steps)), **super()._texts()}


def _commented(step: Step) -> str:
    return f"-- {step.name} ({step.engine}): {step.sentence}\n{step.sql};\n"


@spelled_out(RecodingOptions)
def explain(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    connection: Any = None,
    observer: Observer | None = None,
    search_in: SearchIn = "embedded",
    **options: Unpack[RecodingOptions],
) -> Explanation:
    """Show the road in SQL: each statement with a sentence, its plan, and what it gave. Nothing is written.

    `source`, `spec` and options are those of `anonymize`.

    >>> import pandas
    >>> people = pandas.DataFrame({"zip": ["12", "13", "21", "22"]})
    >>> recipes = {"zip": {"hierarchy": {"redact": "right"}}}
    >>> [step.name for step in explain(people, {"quasi_identifiers": recipes}, k=2).steps][:2]
    ['tuples', 'frequency_set']
    """
    settled = settle_spec(source, spec, taken(RecodingOptions, options)).model_copy(update={"target": None})
    check_spec(settled, "explain")
    with opened(source, settled, connection) as data, data.engine.transaction(), data.scratches:
        plan = plan_release(data, settled, observer or Observer(), search_in, keep_tuples=True)
        explained = tuple(steps(plan))
    return Explanation(settled.source, explained)


def steps(plan: Plan | LocalPlan) -> Iterator[Step]:
    """Run a finished search's or recoding's statements one by one; the release goes to a temporary table only.

    The plan must have been made with `keep_tuples`, inside the source engine's transaction. What a local recoding did
    is told by its manifest: its dozens of statements are those of `sql/`, over and over.
    """
    source, frequency_set = plan.source.engine, plan.frequency_set
    scan, coding = frequency_set.sql
    yield _step(
        "core/tuples", source, scan, gave=f"{frequency_set.tuples:,} distinct tuples of {frequency_set.rows:,} rows"
    )
    columns = len(frequency_set.engine.table(frequency_set.relation).columns)
    yield _step(
        "frequency_set",
        frequency_set.engine,
        coding,
        _FREQUENCY_SET,
        f"{frequency_set.tuples:,} rows, {columns} columns",
    )
    if isinstance(plan, Plan):
        yield from _node(plan)
    else:
        figures = plan.recoding.figures
        gave = f"{figures.classes:,} classes, {figures.released_rows:,} rows, smallest {figures.smallest_class}"
        sql = queries.select_all(plan.recoding.classes, frequency_set.engine.dialect)
        yield _step("classes", frequency_set.engine, sql, _CLASSES.format(plan.spec.strategy), gave)
    with Staging() as staging:
        published = recoded.release(plan.recoding, None, staging)
    summary = published.checked
    if isinstance(plan, Plan):
        safe, classes = plan.judge.released_classes_sql(plan.outcome.node), _count(source, plan.recoding.safe_classes)
        yield _step("core/released_classes", frequency_set.engine, safe, gave=f"{classes:,} classes")
    query = plan.recoding.select_sql()
    yield _step("release", source, query, published.statements[0].sentence, f"{published.statements[0].rows:,} rows")
    names, model = plan.recoding.quasi_identifiers, plan.judge.model
    checks = findings.summaries_sql(source, published.relation, names, model)
    for statement, finding in zip(checks, summary.findings, strict=True):
        gave = f"smallest class {summary.smallest_class}, {finding.unsafe_rows} rows that do not hold"
        yield _step("core/class_summary", source, statement, gave=gave)
    plan.recoding.tables.drop(published.relation)


def _node(plan: Plan) -> Iterator[Step]:
    """The questions that the chosen node answered."""
    frequency_set, judge, node = plan.frequency_set, plan.judge, plan.outcome.node
    here = frequency_set.engine
    for each in dict.fromkeys([plan.lattice.bottom, node]):
        sql = judge.node_test_sql(each)
        levels = ", ".join(f"{a.column.name} {level}" for a, level in zip(frequency_set.attributes, each, strict=True))
        yield _step("core/node_test", here, sql, gave=f"{here.rows(sql)[0][1]:,} rows at risk at {levels}")
    sql = judge.node_classes_sql(node)
    _, classes, released, smallest, _ = here.rows(sql)[0]
    yield _step("core/node_classes", here, sql, gave=f"{classes:,} classes, {released:,} rows, smallest {smallest}")


def _step(name: str, engine: Engine, sql: str, sentence: str | None = None, gave: str = "") -> Step:
    text = queries.pretty(sql, engine.dialect)
    return Step(
        name.rpartition("/")[2], sentence or queries.sentence(name), engine.name, text, engine.explain(sql), gave
    )


def _count(engine: Engine, relation: Relation) -> int:
    ((rows,),) = engine.rows(queries.text("core/row_count", engine.dialect, relation=relation))
    return int(rows)
