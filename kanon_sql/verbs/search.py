"""Search the lattice of a table, without a release."""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from kanon_sql import queries
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, plan_search
from kanon_sql.plan.preflight import check_spec
from kanon_sql.plan.source import opened, settle_spec
from kanon_sql.spec import SearchIn, Spec
from kanon_sql.strategies import SearchOutcome
from kanon_sql.verbs import frequency_sets
from kanon_sql.verbs.options import Place, SearchOptions, spelled_out, taken
from kanon_sql.verbs.result import DataFrame, Result, frame
from kanon_sql.verbs.statement import of_plan


@dataclass(frozen=True, repr=False)
class Search(Result, json_form="search"):
    """The result of a search: the best node, its score and whether it is proven optimal; `to_df` returns the trace.

    `rows_at_risk`: the rows that the node suppresses. `pruned_by`: the condition that ruled nodes out, if a privacy
    model is not monotone. `outcome`: the details, see `kanon_sql.strategies.SearchOutcome`. `sql`: the release's
    statement, if a dialect was requested.
    """

    source: str
    strategy: str
    metric: str
    node: dict[str, int]
    heights: dict[str, int]
    score: float
    proven_optimal: bool
    rows: int
    rows_at_risk: int
    lattice_size: int
    pruned_by: str | None
    outcome: SearchOutcome
    sql: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything except the trace, as a mapping for JSON."""
        outcome = self.outcome
        return {
            **{name: value for name, value in vars(self).items() if name != "outcome"},
            "lower_bound": outcome.lower_bound,
            "gap": outcome.gap,
            "nodes_checked": outcome.nodes_checked,
            "nodes_tagged": outcome.nodes_tagged,
            "queries": outcome.queries,
            "search_ended": outcome.ended,
            "found_by": outcome.found_by,
            "seconds": outcome.seconds,
        }

    def to_df(self) -> DataFrame:
        """The trace: one row per query of the search, in order, with its result."""
        columns = ["seconds", "asked", "node", "rows_at_risk", "score"]
        return frame([asdict(step) for step in self.outcome.trace], columns=columns)

    def _lines(self) -> list[tuple[str, str]]:
        node = ", ".join(f"{name} {level} of {self.heights[name]}" for name, level in self.node.items())
        bound = "proven optimal" if self.proven_optimal else f"no node is below {self.outcome.lower_bound:.4f}"
        checked = f"{self.outcome.nodes_checked:,} of {self.lattice_size:,} nodes, {self.outcome.queries:,} queries"
        return [
            ("source", f"{self.source}, {self.rows:,} rows"),
            ("node", node),
            ("score", f"{self.metric} {self.score:.4f}, {bound}"),
            ("suppressed", f"{self.rows_at_risk:,} rows"),
            ("checked", f"{checked} by {self.strategy}"),
            *([("pruned", self.pruned_by)] if self.pruned_by else []),
        ]


@spelled_out(SearchOptions)
def search(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    connection: Any = None,
    observer: Observer | None = None,
    search_in: SearchIn = "embedded",
    frequency_set: Place | None = None,
    dialect: str | None = None,
    table: str | None = None,
    **options: Unpack[SearchOptions],
) -> Search:
    """Search the lattice for the best node that meets the privacy model; nothing is written.

    `source`, `spec` and options: as in `anonymize`. `frequency_set` (a file of tuples that another system
    counted), `dialect` and `table` (how to print the release for that system): as in `compile`. Raises
    KanonError; InfeasibleError if no node meets the model.

    >>> import pandas
    >>> people = pandas.DataFrame({"zip": ["12", "13", "21", "22"], "sex": list("ffmm")})
    >>> recipes = {"zip": {"hierarchy": {"redact": "right"}}, "sex": {"hierarchy": "suppress"}}
    >>> best = search(people, {"quasi_identifiers": recipes}, k=2)
    >>> best.node, best.proven_optimal
    ({'zip': 1, 'sex': 0}, True)
    """
    settled = settle_spec(source, spec, taken(SearchOptions, options)).model_copy(update={"target": None})
    check_spec(settled, "search")
    if dialect is not None:
        check_spec(settled, "sql")
        queries.check_dialect(dialect)
        settled = settled.as_standalone()
    with contextlib.ExitStack() as stack:
        if frequency_set is not None:
            plan = stack.enter_context(frequency_sets.planned(frequency_set, settled, observer or Observer()))
        else:
            data = stack.enter_context(opened(source, settled, connection))
            stack.enter_context(data.engine.snapshot())
            stack.enter_context(data.scratches)
            plan = plan_search(data, settled, observer or Observer(), search_in)
        statement = of_plan(plan, settled, dialect, table).sql if dialect else None
    return replace(result_of(plan), sql=statement)


def result_of(plan: Plan) -> Search:
    """The result of a finished search."""
    problem = plan.problem
    outcome = plan.outcome
    spec = plan.problem.spec
    assert outcome
    return Search(
        source=spec.source,
        strategy=spec.strategy,
        metric=spec.metric,
        node=dict(zip(problem.columns, outcome.node, strict=True)),
        heights=dict(zip(problem.columns, problem.costs.heights, strict=True)),
        score=outcome.score,
        proven_optimal=outcome.proven_optimal,
        rows=problem.costs.rows,
        rows_at_risk=plan.recoding.rows_at_risk,
        lattice_size=problem.lattice.size,
        pruned_by=problem.pruned_by,
        outcome=outcome,
    )
