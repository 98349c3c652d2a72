"""The lattice of a search, as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, plan_search
from kanon_sql.plan.preflight import check_spec
from kanon_sql.plan.source import opened, settle_spec
from kanon_sql.report.lattice_picture import lattice_svg, summary
from kanon_sql.report.numbers import models
from kanon_sql.report.searched import Searched
from kanon_sql.spec import SearchIn, Spec
from kanon_sql.verbs.options import SearchOptions, spelled_out, taken
from kanon_sql.verbs.result import DataFrame, Result
from kanon_sql.verbs.search import Search, result_of


@dataclass(frozen=True, repr=False)
class LatticePicture(Result, json_form="search"):
    """A picture of a searched lattice: `svg`, shown in notebooks and written by `write`; `search`: the result."""

    svg: str
    summary: str
    search: Search

    def to_dict(self) -> dict[str, Any]:
        """The result of the search, as a mapping for JSON."""
        return self.search.to_dict()

    def to_df(self) -> DataFrame:
        """The trace of the search."""
        return self.search.to_df()

    def _texts(self) -> dict[str, Any]:
        return {".svg": lambda: self.svg, **super()._texts()}

    def _lines(self) -> list[tuple[str, str]]:
        return self.search._lines()

    def _repr_html_(self) -> str:
        return self.svg


@spelled_out(SearchOptions)
def lattice(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    connection: Any = None,
    observer: Observer | None = None,
    search_in: SearchIn = "embedded",
    **options: Unpack[SearchOptions],
) -> LatticePicture:
    """Search, and draw the lattice: which nodes are anonymous, which were checked, which is the best.

    `source`, `spec` and options: as in `search`. Nothing is written.

    >>> import pandas
    >>> people = pandas.DataFrame({"zip": ["12", "13", "21", "22"], "sex": list("ffmm")})
    >>> recipes = {"zip": {"hierarchy": {"redact": "right"}}, "sex": {"hierarchy": "suppress"}}
    >>> picture = lattice(people, {"quasi_identifiers": recipes}, k=2)
    >>> picture.svg[:4], picture.search.node
    ('<svg', {'zip': 1, 'sex': 0})
    """
    settled = settle_spec(source, spec, taken(SearchOptions, options)).model_copy(update={"target": None})
    check_spec(settled, "lattice")
    with opened(source, settled, connection) as data, data.engine.snapshot(), data.scratches:
        plan = plan_search(data, settled, observer or Observer(), search_in)
        drawn = searched(plan)
    return LatticePicture(lattice_svg(drawn), summary(drawn), result_of(plan))


def searched(plan: Plan) -> Searched:
    """The facts that the picture of a search shows."""
    spec, outcome = plan.problem.spec, plan.outcome
    if outcome is None or outcome.tags is None:
        raise ValueError("the search kept no tags")
    return Searched(
        plan.problem.columns,
        plan.problem.lattice,
        outcome,
        outcome.tags,
        spec.strategy,
        spec.metric,
        models((model.name, model.required) for model in plan.recoding.judge.model.requested),
        spec.suppression_limit,
    )
