"""Search the lattice of a table, and write nothing."""

from __future__ import annotations

import contextlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from kanon_sql import queries
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, plan_search
from kanon_sql.plan.preflight import check_spec
from kanon_sql.plan.source import opened, settle_spec
from kanon_sql.spec import SearchIn, Spec
from kanon_sql.strategies import Outcome
from kanon_sql.verbs import counted
from kanon_sql.verbs.options import Place, SearchOptions, spelled_out, taken
from kanon_sql.verbs.result import Result
from kanon_sql.verbs.statement import of_plan

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, repr=False)
class Search(Result):
    """The end of a search: the best node, its score, and what is proven of it; `to_df` gives its trace.

    `rows_at_risk`: the rows that the node suppresses. `pruned_by`: what nodes were ruled out by, where a privacy model
    is not monotone. `outcome`: all that the search says, see `kanon_sql.strategies.Outcome`. `sql`: the release's
    statement, where a dialect was given.
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
    outcome: Outcome
    sql: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """All of it but the trace, ready for JSON."""
        ended = self.outcome
        return {
            **{name: value for name, value in vars(self).items() if name != "outcome"},
            "lower_bound": ended.lower_bound,
            "gap": ended.gap,
            "nodes_checked": ended.nodes_checked,
            "nodes_tagged": ended.nodes_tagged,
            "queries": ended.queries,
            "search_ended": ended.ended,
            "found_by": ended.found_by,
            "seconds": ended.seconds,
        }

    def to_df(self) -> pandas.DataFrame:
        """The trace: one row per question asked of the data, in order, with its answer."""
        import pandas

        columns = ["seconds", "asked", "node", "rows_at_risk", "score"]
        return pandas.DataFrame([asdict(step) for step in self.outcome.trace], columns=columns)

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

    `source` and `spec` are those of `anonymize`, and so are the options. `frequency_set`, `dialect` and `table` are
    those of `compile`: a file of tuples that another system has counted, and how to print the release for it. Raises
    KanonError, InfeasibleError where no node meets the model.

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
        settled = settled.standing_alone()
    with contextlib.ExitStack() as stack:
        if frequency_set is not None:
            plan = stack.enter_context(counted.planned(frequency_set, settled, observer or Observer()))
        else:
            data = stack.enter_context(opened(source, settled, connection))
            stack.enter_context(data.engine.transaction())
            stack.enter_context(data.scratches)
            plan = plan_search(data, settled, observer or Observer(), search_in)
        statement = of_plan(plan, settled, dialect, table).sql if dialect else None
    return replace(result_of(plan), sql=statement)


def result_of(plan: Plan) -> Search:
    """A finished search as its result."""
    problem, outcome, spec = plan.problem, plan.outcome, plan.problem.spec
    assert outcome
    return Search(
        spec.source,
        spec.strategy,
        spec.metric,
        dict(zip(problem.columns, outcome.node, strict=True)),
        dict(zip(problem.columns, problem.costs.heights, strict=True)),
        outcome.score,
        outcome.proven_optimal,
        problem.costs.rows,
        plan.recoding.rows_at_risk,
        problem.lattice.size,
        problem.pruned_by,
        outcome,
    )
