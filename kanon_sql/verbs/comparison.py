"""The result of a comparison of strategies: every strategy's release, and what the searches proved together."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from kanon_sql.verbs.result import DataFrame, Result, frame


@dataclass(frozen=True)
class StrategyResult:
    """One strategy's result for one k, named as in the manifest; only `promise` and `refused` if it could not run.

    A local recoding has no node, checks no nodes and proves nothing. `equals_best_proven`: the score is the optimum of
    this k that any of the searches proved. `log`: mean of level / height. `los`: suppressed rows / rows. `accuracy`:
    see `kanon_sql.strategies.accuracy`. `risk_highest`, `risk_mean`: maximum and mean over the released rows of the
    prosecutor's risk, 1 / rows of the class; 0 without rows. `same_as`: the first earlier result with the same release,
    as (strategy, k).
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
    """What the searches for one k proved together.

    `proven_score`: the optimum, None if no search proved it. `lower_bound`: the highest that any search proved, 0
    without searches. `minimal_nodes`: the number of nodes proven to be k-minimal, on which `accuracy` is based;
    `minimal_nodes_complete`: whether these are all.
    """

    k: int
    proven_score: float | None
    lower_bound: float
    minimal_nodes: int
    minimal_nodes_complete: bool


@dataclass(frozen=True, repr=False)
class Comparison(Result, json_form="compare"):
    """Searches and local recodings of one table, side by side, for one k or several.

    `by_k`: what the searches proved together, per k; `k`, `privacy`, `proven_score`, `lower_bound`, `minimal_nodes`
    and `minimal_nodes_complete`: for the first k. `searches`: the result of every strategy, ordered by k.
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
        """All results as a mapping for JSON."""
        return asdict(self)

    def to_df(self) -> DataFrame:
        """One row per strategy and k."""
        return frame([asdict(search) for search in self.searches])

    def name_of(self, search: StrategyResult) -> str:
        """A strategy's name, with its k if there are several."""
        return search.strategy if len(self.by_k) == 1 else f"{search.strategy}, k {search.k}"

    def _lines(self) -> list[tuple[str, str]]:
        proven = "not proven" if self.proven_score is None else f"{self.proven_score:.4f}, proven"
        lines = [("source", f"{self.source}, {self.rows:,} rows"), ("optimum", f"{self.metric} {proven}")]
        for search in self.searches:
            score = "no score" if search.score is None else f"{search.score:.4f}"
            lines.append((self.name_of(search), search.refused or f"{score} in {search.seconds:.2f} s"))
        return lines
