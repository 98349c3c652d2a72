"""Several strategies on one frequency set: what each found, what it proved, and what it asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from kanon_sql.errors import InfeasibleError, KanonError, SpecError
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import Figures
from kanon_sql.recode import RECODERS
from kanon_sql.spec import SearchIn, Spec, check
from kanon_sql.strategies import STRATEGIES, Outcome, strategy
from kanon_sql.strategies.accuracy import accuracy, level_of_generalization
from kanon_sql.strategies.space import beats
from kanon_sql.verbs.observer import Observer
from kanon_sql.verbs.options import CompareOptions, spelled_out, taken
from kanon_sql.verbs.plan import search
from kanon_sql.verbs.problem import Problem, count
from kanon_sql.verbs.result import Result
from kanon_sql.verbs.source import opened, settle_spec

if TYPE_CHECKING:
    import pandas

SECONDS = 60.0  # for each search, where nobody says


@dataclass(frozen=True)
class StrategyResult:
    """What one strategy found, in the manifest's words; only `promise` and `refused` where it could not run.

    `equals_best_proven`: its score is the proven optimum, whoever proved it. `log`: mean of level / height.
    `los`: suppressed rows / rows. `accuracy`: see `kanon_sql.strategies.accuracy`.
    """

    strategy: str
    promise: str
    refused: str | None = None
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


@dataclass(frozen=True, repr=False)
class Comparison(Result):
    """Searches of one table, side by side.

    `proven_score`: the optimum, None where no search proved it. `lower_bound`: the highest that any search proved.
    `minimal_nodes`: how many nodes are known to be k-minimal, which the accuracies refer to; there are no others
    if `minimal_nodes_complete`.
    """

    source: str
    rows: int
    distinct_tuples: int
    k: int
    privacy: tuple[dict[str, Any], ...]
    suppression_limit: float
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
    searches: tuple[StrategyResult, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return asdict(self)

    def to_df(self) -> pandas.DataFrame:
        """One row per strategy."""
        import pandas

        return pandas.DataFrame([asdict(search) for search in self.searches])

    def _lines(self) -> list[tuple[str, str]]:
        proven = "not proven" if self.proven_score is None else f"{self.proven_score:.4f}, proven"
        return [
            ("source", f"{self.source}, {self.rows:,} rows"),
            ("optimum", f"{self.metric} {proven}"),
            *((each.strategy, each.refused or f"{each.score:.4f} in {each.seconds:.2f} s") for each in self.searches),
        ]


@spelled_out(CompareOptions)
def compare(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    strategies: Iterable[str] | None = None,
    connection: Any = None,
    observer: Observer | None = None,
    search_in: SearchIn = "embedded",
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Run several strategies on one frequency set; nothing is written.

    `strategies`: their names; left out, all but `auto`, which is made of them. The other arguments are those of
    `anonymize`. Every search has the same time limit (60 seconds unless said otherwise), the same seed, a judge of
    its own, and so counts of its own. A strategy that cannot search this lattice, or finds no node in its time,
    says why in `refused`; if none of them finds a node, the first one's error is raised.

    >>> import pandas
    >>> people = pandas.DataFrame({"zip": ["12", "13", "21", "22"], "sex": list("ffmm")})
    >>> recipes = {"zip": {"hierarchy": {"redact": "right"}}, "sex": {"hierarchy": "suppress"}}
    >>> side_by_side = compare(people, {"quasi_identifiers": recipes}, strategies=["ola", "exhaustive"], k=2)
    >>> [(each.strategy, each.node, each.proven_optimal) for each in side_by_side.searches]
    [('ola', {'zip': 1, 'sex': 0}, True), ('exhaustive', {'zip': 1, 'sex': 0}, True)]
    """
    names = chosen(strategies)
    settled = settle_spec(source, spec, taken(CompareOptions, options))
    settled = settled.model_copy(update={"target": None, "time_limit": _limit(settled)})
    check(settled, "compare")
    observer = observer or Observer()
    with opened(source, settled, connection) as data, data.engine.transaction(), data.scratches:
        problem = count(data, settled, observer, search_in)
        runs = list(_runs(problem, names, observer))
    return _side_by_side(problem, runs)


def chosen(strategies: Iterable[str] | None) -> list[str]:
    """The strategies to run, each once; SpecError if one is not known."""
    if isinstance(strategies, str):
        raise SpecError(f"strategies is a list of names, not {strategies!r}; write [{strategies!r}]")
    names = [name for name in STRATEGIES if name != "auto"] if strategies is None else list(dict.fromkeys(strategies))
    for name in names:
        if name in RECODERS:
            raise SpecError(f"{name} is a local recoding and has no node to compare; release by it, and see its loss")
        strategy(name)
    if not names:
        raise SpecError(f"no strategy is named; choose one or more of {', '.join(STRATEGIES)}")
    return names


@dataclass(frozen=True)
class _Run:
    """One strategy's end: an outcome with its node's figures and the k-minimal nodes it knows, or why there is none."""

    strategy: str
    outcome: Outcome | None = None
    figures: Figures | None = None
    minimal: tuple[Node, ...] = ()
    refused: str | None = None


def _runs(problem: Problem, names: Sequence[str], observer: Observer) -> Iterator[_Run]:
    """One search after the other; an error that every one of them meets is raised."""
    errors: list[KanonError] = []
    for number, name in enumerate(names, start=1):
        observer.stage(f"{name}, {number} of {len(names)}")
        try:
            yield _run(problem, name, observer)
        except (SpecError, InfeasibleError) as error:
            errors.append(error)
            if len(errors) == len(names):
                raise errors[0] from None
            yield _Run(name, refused=str(error))


def _run(problem: Problem, name: str, observer: Observer) -> _Run:
    """Search with a judge of its own, for one search's roll-ups would save the next one its queries."""
    judge = Judge(problem.frequency_set, problem.judge.model)
    spec = problem.spec.model_copy(update={"strategy": name})
    try:
        outcome = search(replace(problem, spec=spec, judge=judge), observer)
        figures = judge.losses(outcome.node, problem.costs)
    finally:
        judge.drop()
    known = _minimal(problem, outcome)
    return _Run(name, replace(outcome, tags=None), figures, known)  # the tags of a large lattice are large


def _minimal(problem: Problem, outcome: Outcome) -> tuple[Node, ...]:
    """The nodes that a search knows to be k-minimal: no node one step below is anonymous, so none further down."""
    tags, below = outcome.tags, problem.lattice.predecessors
    if tags is None or not problem.judge.model.monotone:
        return ()
    return tuple(node for node in outcome.minimal if all(tags.status(lower) is False for lower in below(node)))


def _side_by_side(problem: Problem, runs: Sequence[_Run]) -> Comparison:
    """What only all of them together tell: which found the optimum, and how near they came to the minimal nodes."""
    spec, lattice = problem.spec, problem.lattice
    outcomes = [run.outcome for run in runs if run.outcome]
    proven = min((outcome.score for outcome in outcomes if outcome.proven_optimal), default=None)
    minimal = sorted({node for run in runs for node in run.minimal})
    return Comparison(
        source=spec.source,
        rows=problem.frequency_set.rows,
        distinct_tuples=problem.frequency_set.tuples,
        k=problem.judge.model.k,
        privacy=tuple({"model": each.name, "required": each.required} for each in problem.judge.model.asked),
        suppression_limit=spec.suppression_limit,
        metric=spec.metric,
        heights=dict(zip(problem.columns, problem.costs.heights, strict=True)),
        lattice_size=lattice.size,
        time_limit=_limit(spec),
        seed=spec.seed,
        evaluations=spec.evaluations,
        frequency_seconds=problem.frequency_seconds,
        proven_score=proven,
        lower_bound=max(outcome.lower_bound for outcome in outcomes),
        minimal_nodes=len(minimal),
        minimal_nodes_complete=any(_settled(outcome) == lattice.size for outcome in outcomes),
        searches=tuple(_found(problem, run, proven, minimal) for run in runs),
    )


def _limit(spec: Spec) -> float:
    return SECONDS if spec.time_limit is None else spec.time_limit


def _settled(outcome: Outcome) -> int | None:
    return None if outcome.nodes_tagged is None else outcome.nodes_checked + outcome.nodes_tagged


def _found(problem: Problem, run: _Run, proven: float | None, minimal: Sequence[Node]) -> StrategyResult:
    promise = strategy(run.strategy).promise
    if run.outcome is None or run.figures is None:
        return StrategyResult(run.strategy, promise, run.refused)
    outcome, columns = run.outcome, problem.columns
    suppressed = run.figures.rows_at_risk or 0
    return StrategyResult(
        run.strategy,
        promise,
        score=outcome.score,
        proven_optimal=outcome.proven_optimal,
        equals_best_proven=None if proven is None else not beats(proven, outcome.score),
        lower_bound=outcome.lower_bound,
        gap=outcome.gap,
        nodes_checked=outcome.nodes_checked,
        nodes_tagged=outcome.nodes_tagged,
        queries=outcome.queries,
        seconds=outcome.seconds,
        ended=outcome.ended,
        found_by=outcome.found_by,
        node=dict(zip(columns, outcome.node, strict=True)),
        suppressed_rows=suppressed,
        log=level_of_generalization(outcome.node, problem.costs.heights),
        los=suppressed / problem.costs.rows,
        loss_per_attribute=dict(zip(columns, run.figures.losses or (), strict=True)),
        accuracy=None if proven is None else _accuracy(problem, outcome, minimal),
    )


def _accuracy(problem: Problem, outcome: Outcome, minimal: Sequence[Node]) -> float | None:
    if not minimal:
        return None
    return accuracy(minimal, [*outcome.minimal, outcome.node], problem.lattice, problem.costs.heights)
