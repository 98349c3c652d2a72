"""What a comparison of strategies tells: what each made, and what the searches proved together."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kanon_sql.verbs.result import Result

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class StrategyResult:
    """What one strategy made for one k, in the manifest's words; only `promise` and `refused` where it could not run.

    A local recoding has no node, proves nothing and asks for no nodes. `equals_best_proven`: its score is the proven
    optimum of this k, whoever proved it. `log`: mean of level / height. `los`: suppressed rows / rows. `accuracy`: see
    `kanon_sql.strategies.accuracy`. `risk_highest`, `risk_mean`: the prosecutor's, 1 / rows of the class, at most and
    over the released rows; 0 where none is. `same_as`: the first before it with the same release, as (strategy, k).
    """

    strategy: str
    promise: str
    refused: str | None = None
    k: int | None = None
    score: float | None = None
    proven_optimal: bool | None = None
    equals_best_proven: bool | None = None
    lower_bound: float | None = None
    gap: float | None = None
    nodes_checked: int | None = None
    nodes_tagged: int | None = None
    queries: int | None = None
    seconds: float | None = None
    ended: str | None = None
    found_by: str | None = None
    node: dict[str, int] | None = None
    suppressed_rows: int | None = None
    log: float | None = None
    los: float | None = None
    loss_per_attribute: dict[str, float] | None = None
    accuracy: float | None = None
    information_loss: dict[str, float | None] | None = None
    classes: int | None = None
    smallest_class: int | None = None
    risk_highest: float | None = None
    risk_mean: float | None = None
    same_as: tuple[str, int] | None = None


@dataclass(frozen=True)
class Proven:
    """What the searches for one k tell together.

    `proven_score`: the optimum, None where no search proved it. `lower_bound`: the highest that any search proved, 0
    without a search. `minimal_nodes`: how many nodes are known to be k-minimal, which the accuracies refer to; there
    are no others if `minimal_nodes_complete`.
    """

    k: int
    proven_score: float | None
    lower_bound: float
    minimal_nodes: int
    minimal_nodes_complete: bool


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Searches and local recodings of one table, side by side, for one k or several.

    `by_k`: what the searches proved together, k by k; `k`, `privacy`, `proven_score`, `lower_bound`, `minimal_nodes`
    and `minimal_nodes_complete` are those of the first k. `searches`: what each strategy made, in the order of k.
    """

    source: str
    rows: int
    distinct_tuples: int
    k: int
    privacy: tuple[dict[str, Any], ...]
    suppression_limit: float | str
    metric: str
    heights: dict[str, int]
    lattice_size: int
    time_limit: float
    seed: int
    evaluations: int | None
    frequency_seconds: float
    proven_score: float | None
    lower_bound: float
    minimal_nodes: int
    minimal_nodes_complete: bool
    by_k: tuple[Proven, ...]
    searches: tuple[StrategyResult, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return asdict(self)

    def to_df(self) -> pandas.DataFrame:
        """One row per strategy and k."""
        import pandas

        return pandas.DataFrame([asdict(search) for search in self.searches])

    def name_of(self, search: StrategyResult) -> str:
        """A strategy's name, with its k where there are several."""
        return search.strategy if len(self.by_k) == 1 else f"{search.strategy}, k {search.k}"

    def _lines(self) -> list[tuple[str, str]]:
        proven = "not proven" if self.proven_score is None else f"{self.proven_score:.4f}, proven"
        return [
            ("source", f"{self.source}, {self.rows:,} rows"),
            ("optimum", f"{self.metric} {proven}"),
            *((self.name_of(each), each.refused or _said(each)) for each in self.searches),
        ]


def _said(search: StrategyResult) -> str:
    score = "no score" if search.score is None else f"{search.score:.4f}"
    return f"{score} in {search.seconds:.2f} s"
