"""Compare strategies, for one or several k, on one frequency set: their releases, proofs and effort."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError, KanonError, SpecError
from kanon_sql.frequency.frequency_set import FrequencySet, merge_equal_codes, sampled
from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import beats
from kanon_sql.own import Own
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, planned, recode, search, shown_by_classes
from kanon_sql.plan.preflight import preflight
from kanon_sql.plan.problem import Problem, count, posed_again
from kanon_sql.plan.source import opened, settle_spec
from kanon_sql.recode import RECODERS, joint
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.spec import SearchIn, Show, Spec, check, named_strategy
from kanon_sql.strategies import STRATEGIES, SearchOutcome, strategy
from kanon_sql.strategies.accuracy import accuracy, level_of_generalization
from kanon_sql.verbs import manifest as manifests
from kanon_sql.verbs.comparison import Comparison, Proven, StrategyResult
from kanon_sql.verbs.options import CompareOptions, spelled_out, taken

SECONDS = 60.0  # default time limit of each strategy
_SHOW: Show = "common"  # local recodings show labels of hierarchies by default, so that they compare with nodes


@spelled_out(CompareOptions)
def compare(
    source: Any = None,
    spec: Spec | dict[str, Any] | str | Path | None = None,
    *,
    strategies: Iterable[str | Callable[..., Any]] | None = None,
    connection: Any = None,
    observer: Observer | None = None,
    search_in: SearchIn = "embedded",
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Run several strategies, for one k or several, on one frequency set; nothing is written.

    `strategies`: names of searches and local recodings (default: all searches except `auto`, which combines them). `k`:
    a number or a list. All releases show labels of hierarchies, even Mondrian's, unless `show` is set. The other
    arguments are as in `anonymize`. Every strategy has the same time limit (default: 60 seconds) and the same seed,
    and none profits from another's counts. If one cannot run or finds nothing in time, `refused` has the
    reason; if this is true of all, the first error is raised.

    >>> import pandas
    >>> people = pandas.DataFrame({"zip": ["12", "13", "21", "22"], "sex": list("ffmm")})
    >>> recipes = {"zip": {"hierarchy": {"redact": "right"}}, "sex": {"hierarchy": "suppress"}}
    >>> side_by_side = compare(people, {"quasi_identifiers": recipes}, strategies=["ola", "exhaustive"], k=2)
    >>> [(search.strategy, search.node, search.proven_optimal) for search in side_by_side.searches]
    [('ola', {'zip': 1, 'sex': 0}, True), ('exhaustive', {'zip': 1, 'sex': 0}, True)]
    >>> both = compare(people, {"quasi_identifiers": recipes}, strategies=["auto", "mondrian"], k=[2, 4])
    >>> [(found.strategy, found.k, found.classes, found.risk_highest, found.same_as) for found in both.searches[:2]]
    [('auto', 2, 2, 0.5, None), ('mondrian', 2, 2, 0.5, ('auto', 2))]
    """
    names = _names(strategies)
    specs = [_settled(source, spec, of_k) for of_k in _options_by_k(taken(CompareOptions, options))]
    observer = observer or Observer()
    with opened(source, specs[0], connection) as data, data.engine.snapshot(), data.scratches:
        problem = count(preflight(specs[0], data, search_in, compared=names), observer)
        runs = list(_runs(problem, specs, names, observer))
    return _side_by_side(problem, runs)


@dataclass(frozen=True)
class LossOfK:
    """The search for one k: its score and suppressed rows if it proved an optimum, or why it was `refused`."""

    k: int
    score: float | None = None
    suppressed_rows: int | None = None
    refused: str | None = None


def losses_by_k(source: Any, spec: Spec, sizes: Sequence[int], observer: Observer) -> Iterator[LossOfK]:
    """The optimum of each of several k in ascending order, by the strategy of the spec; from one frequency set.

    Unlike in `compare`, a search profits from those before it: they share roll-ups, and a node that leaves too many
    rows at risk with a smaller k also does with a larger one, since a class that is too small remains so.
    """
    specs = [_settled(source, spec, {"k": k}) for k in sorted(sizes)]
    with opened(source, specs[0], None) as data, data.engine.snapshot(), data.scratches:
        problem = count(preflight(specs[0], data, "embedded", compared=[spec.strategy]), observer)
        at_risk: list[Node] = []
        for number, of_k in enumerate(specs, start=1):
            k = of_k.privacy.k
            observer.stage(f"{of_k.strategy}, k {k}, {number} of {len(specs)}")
            try:
                posed = posed_again(problem, of_k, problem.frequency_set)
                posed.judge.reuse(problem.judge)
                posed.judge.count_in_memory()
                outcome = search(posed, observer, at_risk)
            except (SpecError, InfeasibleError) as error:
                yield LossOfK(k, refused=str(error))
                continue
            at_risk += outcome.tested_at_risk(posed.may_suppress)
            if outcome.proven_optimal:
                yield LossOfK(k, outcome.score, planned(posed, outcome).recoding.rows_at_risk)
            else:
                yield LossOfK(k, refused=f"no optimum was proven in {_limit(of_k):g} seconds")


def _settled(source: Any, spec: Any, options: dict[str, Any]) -> Spec:
    settled = settle_spec(source, spec, options)
    settled = settled.model_copy(update={"target": None, "time_limit": _limit(settled)})
    check(settled, "compare")
    return settled


def _options_by_k(options: dict[str, Any]) -> list[dict[str, Any]]:
    """The options for every k of a list."""
    sizes = options.get("k")
    if sizes is None or isinstance(sizes, int):
        return [options]
    if not sizes or isinstance(sizes, str) or not all(isinstance(k, int) for k in sizes):
        raise SpecError(f"k is a whole number or a list of them, not {sizes!r}; write k=[3, 5, 10]")
    return [{**options, "k": k} for k in sorted(set(sizes))]


def _names(strategies: Iterable[str | Callable[..., Any]] | None) -> list[str]:
    """The names of the strategies to run, without duplicates; SpecError if one is unknown."""
    if isinstance(strategies, str):
        raise SpecError(f"strategies is a list of names, not {strategies!r}; write [{strategies!r}]")
    if strategies is None:
        return [name for name in STRATEGIES if name != "auto"]
    names = list(dict.fromkeys(map(named_strategy, strategies)))
    available = (*STRATEGIES, *RECODERS)
    for name in names:
        if name not in available and not isinstance(name, Own):
            raise SpecError(f"{name!r} is not a strategy; choose one of {', '.join(available)}")
    if not names:
        raise SpecError(f"no strategy is named; choose one or more of {', '.join(available)}")
    return names


@dataclass(frozen=True)
class _StrategyRun:
    """One strategy's result for one k, before it is compared with the others.

    `outcome`: of a search, without its tags. `minimal`: the k-minimal nodes that it proved. `checksum`: of the classes.
    """

    k: int
    result: StrategyResult
    outcome: SearchOutcome | None = None
    minimal: tuple[Node, ...] = ()
    checksum: str | None = None


def _runs(problem: Problem, specs: Sequence[Spec], names: Sequence[str], observer: Observer) -> Iterator[_StrategyRun]:
    """All strategies for every k, one after the other; if all fail, the first error is raised."""
    errors: list[KanonError] = []
    to_run = [(spec, name) for spec in specs for name in names]
    problem = replace(problem, costs=problem.judge.with_cells(problem.costs))
    with Scratch(problem.frequency_set.engine, "compared") as tables:
        prepared = _Prepared(problem, tables)
        for number, (spec, name) in enumerate(to_run, start=1):
            k = spec.privacy.k if len(specs) > 1 else problem.judge.model.k
            observer.stage(f"{name}{f', k {k}' if len(specs) > 1 else ''}, {number} of {len(to_run)}")
            try:
                yield prepared.run(spec.model_copy(update={"strategy": name}), k, observer)
            except (SpecError, InfeasibleError) as error:
                errors.append(error)
                if len(errors) == len(to_run):
                    raise errors[0] from None
                yield _StrategyRun(k, StrategyResult(name, _promise(name), refused=str(error), k=k))


@dataclass
class _Prepared:
    """The frequency set, counted once for all runs. Every run has a new judge and new tables.

    Otherwise a search would save queries by the roll-ups of the one before it.
    """

    problem: Problem
    tables: Scratch

    @cached_property
    def local(self) -> FrequencySet:
        """The frequency set with one row per combination of codes, as local recodings need it."""
        frequency_set = sampled(self.problem.frequency_set)
        return merge_equal_codes(frequency_set, drop=frequency_set is not self.problem.frequency_set)

    def run(self, spec: Spec, k: int, observer: Observer) -> _StrategyRun:
        """One strategy for one k."""
        if spec.strategy in RECODERS:
            check(spec, "anonymize")
            spec = spec.model_copy(update={"show": spec.show or _SHOW})
            with Scratch(self.tables.engine, spec.strategy) as tables:
                problem = posed_again(self.problem, spec, replace(self.local, tables=tables))
                return _run_of_classes(recode(problem, observer), k)
        problem = posed_again(self.problem, spec, self.problem.frequency_set)
        try:
            return self._search(problem, k, observer)
        finally:
            problem.judge.drop()

    def _search(self, problem: Problem, k: int, observer: Observer) -> _StrategyRun:
        outcome = search(problem, observer)
        plan = planned(problem, outcome)
        # A node is proven to be k-minimal if no node one step below is anonymous, so none further down.
        minimal: tuple[Node, ...] = ()
        tags, below = outcome.tags, problem.lattice.predecessors
        if tags is not None and problem.judge.model.monotone:
            nodes = outcome.minimal
            minimal = tuple(node for node in nodes if all(tags.status(lower) is False for lower in below(node)))
        if problem.spec.sets_show:  # classes show statistics instead of labels
            with Scratch(self.tables.engine, "shown") as own:
                problem = replace(problem, frequency_set=replace(problem.frequency_set, tables=own))
                return _run_of_classes(shown_by_classes(replace(plan, problem=problem)), k, outcome, minimal)
        safe = plan.recoding.judge.model.safe
        with joint.of_node(problem.frequency_set, safe, outcome.node, problem.costs.weights) as cells:
            return _run(plan, k, cells, cells.divergence_apart(), outcome, minimal)


def _run_of_classes(
    plan: Plan, k: int, outcome: SearchOutcome | None = None, minimal: tuple[Node, ...] = ()
) -> _StrategyRun:
    recoding, problem = plan.recoding, plan.problem
    assert isinstance(recoding, LocalRecoding)
    with joint.of_classes(problem.frequency_set, recoding.local, recoding.classes, problem.costs.weights) as cells:
        return _run(plan, k, cells, None, outcome, minimal)


def _run(
    plan: Plan,
    k: int,
    cells: joint.ReleasedCells | None,
    divergence: float | None,
    outcome: SearchOutcome | None,
    minimal: tuple[Node, ...],
) -> _StrategyRun:
    """The result of a plan, measured but not written. `cells`: None to leave out the figures of whole tuples."""
    problem = plan.problem
    figures = manifests.figures_of(plan)
    scores = manifests.scores(problem, figures)
    if cells:
        scores |= {"ambiguity": cells.ambiguity, "divergence": divergence}
    suppressed = figures.rows_at_risk or 0
    released = figures.released_rows or 0
    classes = figures.classes or 0
    risk_highest: float | None = None
    risk_mean: float | None = None
    if problem.judge.model.unit is None:  # the sizes of classes are in rows: no risk of people follows from them
        risk_highest = 1 / figures.smallest_class if figures.smallest_class else 0.0
        risk_mean = classes / released if released else 0.0
    result = StrategyResult(
        problem.spec.strategy,
        _promise(problem.spec.strategy),
        k=k,
        score=scores[problem.spec.metric],
        seconds=plan.search_seconds,
        ended=plan.ended,
        suppressed_rows=suppressed,
        los=suppressed / problem.costs.rows,
        loss_per_attribute=dict(zip(problem.columns, figures.losses or (), strict=True)),
        information_loss=scores,
        classes=classes,
        smallest_class=figures.smallest_class,
        risk_highest=risk_highest,
        risk_mean=risk_mean,
    )
    checksum = cells.checksum if cells else None
    if outcome is None:
        return _StrategyRun(k, result, checksum=checksum)
    result = replace(
        result,
        score=outcome.score,
        proven_optimal=outcome.proven_optimal,
        lower_bound=outcome.lower_bound,
        gap=outcome.gap,
        nodes_checked=outcome.nodes_checked,
        nodes_tagged=outcome.nodes_tagged,
        queries=outcome.queries,
        found_by=outcome.found_by,
        node=dict(zip(problem.columns, outcome.node, strict=True)),
        log=level_of_generalization(outcome.node, problem.costs.heights),
    )
    slim = replace(outcome, tags=None)  # the tags of a large lattice take much memory
    return _StrategyRun(k, result, slim, minimal, checksum)


def _side_by_side(problem: Problem, runs: Sequence[_StrategyRun]) -> Comparison:
    """All results, with the comparison: which strategies found the optimum, and which releases are the same."""
    spec, lattice = problem.spec, problem.lattice
    by_k: dict[int, list[_StrategyRun]] = {}
    for run in runs:
        by_k.setdefault(run.k, []).append(run)
    proven = tuple(_proven(k, runs_of_k, lattice.size) for k, runs_of_k in by_k.items())
    first = proven[0]
    searches: list[StrategyResult] = []
    for of_k in proven:
        minimal = _known_minimal(by_k[of_k.k])
        searches += [_compared(problem, run, runs, of_k, minimal) for run in by_k[of_k.k]]
    return Comparison(
        source=spec.source,
        rows=problem.frequency_set.rows,
        distinct_tuples=problem.frequency_set.tuples,
        **vars(first),
        privacy=tuple({"model": model.name, "required": model.required} for model in problem.judge.model.requested),
        suppression_limit=spec.suppression_limit,
        metric=spec.metric,
        heights=dict(zip(problem.columns, problem.costs.heights, strict=True)),
        lattice_size=lattice.size,
        time_limit=_limit(spec),
        seed=spec.seed,
        evaluations=spec.evaluations,
        frequency_seconds=problem.frequency_seconds,
        by_k=proven,
        searches=tuple(searches),
    )


def _proven(k: int, runs: Sequence[_StrategyRun], size: int) -> Proven:
    outcomes = [run.outcome for run in runs if run.outcome]
    return Proven(
        k,
        min((outcome.score for outcome in outcomes if outcome.proven_optimal), default=None),
        max((outcome.lower_bound for outcome in outcomes), default=0.0),
        len(_known_minimal(runs)),
        any(found.nodes_tagged is not None and found.nodes_checked + found.nodes_tagged == size for found in outcomes),
    )


def _known_minimal(runs: Sequence[_StrategyRun]) -> list[Node]:
    return sorted({node for run in runs for node in run.minimal})


def _compared(
    problem: Problem, run: _StrategyRun, runs: Sequence[_StrategyRun], proven: Proven, minimal: Sequence[Node]
) -> StrategyResult:
    """The result of a run with the first earlier run that has the same release, and with what all runs proved."""
    first = next((other for other in runs if other.checksum and other.checksum == run.checksum), run)
    result = run.result if first is run else replace(run.result, same_as=(first.result.strategy, first.k))
    best = proven.proven_score
    if run.outcome is None or best is None:
        return result
    found = [*run.outcome.minimal, run.outcome.node]
    return replace(
        result,
        equals_best_proven=not beats(best, run.outcome.score),
        accuracy=accuracy(minimal, found, problem.lattice, problem.costs.heights) if minimal else None,
    )


def _limit(spec: Spec) -> float:
    return SECONDS if spec.time_limit is None else spec.time_limit


def _promise(name: str) -> str:
    return RECODERS[name].promise if name in RECODERS else strategy(name).promise
