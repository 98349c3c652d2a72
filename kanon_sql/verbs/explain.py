"""Explain a run in SQL: every logged statement, with the engine's plan and its result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Unpack

from kanon_sql import queries
from kanon_sql.engine import Statement
from kanon_sql.errors import SpecError
from kanon_sql.loss import Figures
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, plan_release
from kanon_sql.plan.preflight import check_spec
from kanon_sql.plan.source import check_engine, opened, settle_spec
from kanon_sql.recode.show import LocalFigures
from kanon_sql.release import recoded
from kanon_sql.release.findings import Summary
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.spec import SearchIn, Spec
from kanon_sql.staging import Staging
from kanon_sql.verbs.options import RecodingOptions, spelled_out, taken
from kanon_sql.verbs.result import DataFrame, Result, frame
from kanon_sql.verbs.statement import warn_of

# Queries of tables that exist until the end of the run, so that their plans can be shown.
_LASTING = (
    "frequency_sets/tuples",
    "node_tests/level_losses",
    "node_tests/node_test",
    "node_tests/class_sums",
    "node_tests/node_classes",
    "node_tests/released_classes",
    "classes",
)
_CLASSES = "The labels of every class from {}, with its rows, the leaves under each cell and its level."


@dataclass(frozen=True)
class ExplainedQuery:
    """Statements with the same name: a sentence, the text of the last one, its plan and its result.

    `plan`: empty if a table of the query does not exist any more. `gave`: the result, in words. `seconds`, `rows`: the
    sums over all `times` that they ran; `rows` returned or written, None if the engine does not report them.
    """

    name: str
    sentence: str
    engine: str
    sql: str
    plan: str
    gave: str
    times: int
    seconds: float
    rows: int | None

    @property
    def outcome(self) -> str:
        """The result and the time, in words."""
        times = f"{self.times:,} times " if self.times > 1 else ""
        return f"{self.gave or 'nothing'}, {times}in {self.seconds:.3f} s"


@dataclass(frozen=True, repr=False)
class Explanation(Result, json_form="explain"):
    """The statements of a run in order, with explanations, plans, results and times.

    `statement`: the release as `anonymize_sql` returns it; empty if it takes several statements.
    """

    source: str
    steps: tuple[ExplainedQuery, ...]
    statement: str = ""

    def to_dict(self) -> dict[str, Any]:
        """All statements as a mapping for JSON."""
        steps = [asdict(step) for step in self.steps]
        return {"source": self.source, "steps": steps, "statement": self.statement}

    def to_df(self) -> DataFrame:
        """One row per statement."""
        return frame([asdict(step) for step in self.steps])

    def _lines(self) -> list[tuple[str, str]]:
        return [(step.name, f"{step.outcome}: {step.sentence}") for step in self.steps]

    def _texts(self) -> dict[str, Any]:
        steps = []
        for step in self.steps:
            comment = f"-- {step.name} ({step.engine}): {step.sentence}\n"
            steps.append(f"{comment}{step.sql};\n" if step.sql else comment)
        return {".sql": lambda: "\n".join(steps), **super()._texts()}


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
    """Show every SQL statement of a run, with an explanation, its plan, result and time. Nothing is written.

    `source`, `spec` and options: as in `anonymize`.

    >>> import pandas
    >>> people = pandas.DataFrame({"zip": ["12", "13", "21", "22"]})
    >>> recipes = {"zip": {"hierarchy": {"redact": "right"}}}
    >>> [step.name for step in explain(people, {"quasi_identifiers": recipes}, k=2).steps][-4:]
    ['release', 'class_sizes', 'sizes', 'class_summary']
    """
    settled = settle_spec(source, spec, taken(RecodingOptions, options)).model_copy(update={"target": None})
    check_spec(settled, "explain")
    with opened(source, settled, connection) as data, data.engine.snapshot(), data.scratches:
        if not data.engine.has_transactions:
            check_engine(data.engine, "explain")
        plan = plan_release(data, settled, observer or Observer(), search_in, keep_tuples=True)
        statement = _statement(plan, settled)
        explained = tuple(_steps(plan))
    return Explanation(settled.source, explained, statement)


def _statement(plan: Plan, spec: Spec) -> str:
    """The release as one self-contained statement, or ""; for a local recoding it would list the tuples."""
    if plan.outcome is None:
        return ""
    try:
        check_spec(spec, "sql")
        printed = plan.recoding.standalone()
    except SpecError:
        return ""
    warn_of(plan, printed)
    return recoded.target_sql(plan.recoding, None, printed=printed)


def _steps(plan: Plan) -> Iterator[ExplainedQuery]:
    """The logged statements of a finished search or recoding, and of its release into a temporary table.

    The plan must have been created with `keep_tuples`, inside the source engine's transaction. The dozens of statements
    of a local recoding repeat the same queries of `sql/`; they become one step.
    """
    recoding = plan.recoding
    figures: Figures | LocalFigures
    if isinstance(recoding, LocalRecoding):
        figures = recoding.figures
    else:
        figures = recoding.judge.of_classes(recoding.node).classes(recoding.node)
    with Staging() as staging:
        published = recoded.release(plan.recoding, None, staging)
    queries_of, results = _queries(plan), _results(plan, figures, published.checked)
    engines = {engine.name: engine for engine in (plan.problem.frequency_set.engine, plan.problem.source.engine)}
    classes = []  # of a local recoding, as one step
    if isinstance(recoding, LocalRecoding):
        engine, sentence = plan.problem.frequency_set.engine, _CLASSES.format(plan.problem.spec.strategy)
        sql = queries.select_all(recoding.classes, engine.dialect)
        rows = recoding.figures.classes
        classes.append(Statement("classes", sentence, sql, plan.search_seconds, rows, engine=engine.name))
    for run in (*plan.problem.source.scratches.log, *classes, *published.statements):
        if run.name == "drop":
            continue
        name = run.engine or plan.problem.source.engine.name
        own = engines.get(name)  # none if it was opened for the check alone
        query = queries_of.get(run.name, "") or run.sql
        yield ExplainedQuery(
            name=run.name.rpartition("/")[2],
            sentence=run.sentence,
            engine=name,
            sql=queries.pretty(run.sql, own.dialect if own else "duckdb") if run.sql else "",
            plan=own.explain(query) if own and run.name in queries_of else "",
            gave=results.get(run.name, "" if run.rows is None else f"{run.rows:,} rows"),
            times=run.times,
            seconds=run.seconds,
            rows=run.rows,
        )
    plan.recoding.tables.drop(published.relation)


def _queries(plan: Plan) -> dict[str, str]:
    """The statements whose plan can be shown, with the query inside them, or "" if the statement is a query."""
    model = plan.recoding.judge.model
    # The release with its people, and the codes of cells, are dropped after the check.
    summary = [] if model.hidden else ["release/class_sizes", "kinds/numbered_cells"]
    printed = {"frequency_set": plan.problem.frequency_set.sql[1], "release": plan.recoding.select_sql()}
    return dict.fromkeys([*_LASTING, *summary], "") | printed


def _results(plan: Plan, figures: Figures | LocalFigures, summary: Summary) -> dict[str, str]:
    """The results of statements in words, if their number of rows does not tell enough."""
    frequency_set, node = plan.problem.frequency_set, plan.outcome.node if plan.outcome else ()
    columns = len(frequency_set.engine.table(frequency_set.relation).columns)
    levels = ", ".join(f"{a.column.name} {level}" for a, level in zip(frequency_set.attributes, node, strict=False))
    smallest = f"the smallest of {figures.smallest_class} rows"
    classes = f"{figures.classes:,} classes, {figures.released_rows:,} rows, {smallest}"
    unsafe = ", ".join(
        f"{finding.unsafe_rows} rows that do not satisfy {finding.model}" for finding in summary.findings
    )
    return {
        "frequency_sets/tuples": f"{frequency_set.tuples:,} distinct tuples of {frequency_set.rows:,} rows",
        "frequency_set": f"{frequency_set.tuples:,} rows, {columns} columns",
        "node_tests/node_test": f"{plan.recoding.rows_at_risk:,} rows at risk at {levels}",
        "node_tests/node_classes": classes,
        "node_tests/released_classes": f"{figures.classes:,} classes",
        "classes": classes,
        "release/class_summary": f"the smallest class has {summary.smallest_class} rows, {unsafe}",
    }
