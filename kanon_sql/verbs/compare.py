"""Strategies and sizes of k on one frequency set: what each releases, what it proved, and what it asked for."""

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
from kanon_sql.loss import Figures
from kanon_sql.own import Own
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, planned, recode, search, shown_by_classes
from kanon_sql.plan.preflight import preflight
from kanon_sql.plan.problem import Problem, count, posed_again
from kanon_sql.plan.source import opened, settle_spec
from kanon_sql.recode import RECODERS, joint
from kanon_sql.recode import show as shows
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.spec import SearchIn, Show, Spec, check, named_strategy
from kanon_sql.strategies import STRATEGIES, Outcome, strategy
from kanon_sql.strategies.accuracy import accuracy, level_of_generalization
from kanon_sql.strategies.space import beats
from kanon_sql.verbs import manifest as manifests
from kanon_sql.verbs.compared import Comparison, Proven, StrategyResult
from kanon_sql.verbs.options import CompareOptions, spelled_out, taken

SECONDS = 60.0  # for each strategy, where nobody says
_SHOW: Show = "common"  # what the classes of a local recoding show by default: labels, as the node of a search does


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

    `strategies`: the names of searches and local recodings; left out, all searches but `auto`, which is made of them.
    `k`: a number or a list of them. All show labels of hierarchies, Mondrian too, or what `show` says. The other
    arguments are those of `anonymize`. Every strategy has the same time limit (60 seconds unless said otherwise), the
    same seed, a judge of its own, and so counts of its own. One that cannot run here, or finds nothing in its time,
    says why in `refused`; if none of them finds anything, the first one's error is raised.

    >>> import pandas
    >>> people = pandas.DataFrame({"zip": ["12", "13", "21", "22"], "sex": list("ffmm")})
    >>> recipes = {"zip": {"hierarchy": {"redact": "right"}}, "sex": {"hierarchy": "suppress"}}
    >>> side_by_side = compare(people, {"quasi_identifiers": recipes}, strategies=["ola", "exhaustive"], k=2)
    >>> [(each.strategy, each.node, each.proven_optimal) for each in side_by_side.searches]
    [('ola', {'zip': 1, 'sex': 0}, True), ('exhaustive', {'zip': 1, 'sex': 0}, True)]
    >>> both = compare(people, {"quasi_identifiers": recipes}, strategies=["auto", "mondrian"], k=[2, 4])
    >>> [(each.strategy, each.k, each.classes, each.risk_highest, each.same_as) for each in both.searches[:2]]
    [('auto', 2, 2, 0.5, None), ('mondrian', 2, 2, 0.5, ('auto', 2))]
    """
    names, given = chosen(strategies), taken(CompareOptions, options)
    specs = [_settled(source, spec, asked) for asked in _sizes(given)]
    observer = observer or Observer()
    with opened(source, specs[0], connection) as data, data.engine.transaction(), data.scratches:
        problem = count(preflight(specs[0], data, search_in, compared=names), observer)
        runs = list(_runs(problem, specs, names, observer))
    return _side_by_side(problem, runs)


def _settled(source: Any, spec: Any, options: dict[str, Any]) -> Spec:
    settled = settle_spec(source, spec, options)
    settled = settled.model_copy(update={"target": None, "time_limit": _limit(settled)})
    check(settled, "compare")
    return settled


def _sizes(options: dict[str, Any]) -> list[dict[str, Any]]:
    """The options for each k, as they are where k is no list."""
    sizes = options.get("k")
    if sizes is None or isinstance(sizes, int):
        return [options]
    if not sizes or isinstance(sizes, str) or not all(isinstance(k, int) for k in sizes):
        raise SpecError(f"k is a whole number or a list of them, not {sizes!r}; write k=[3, 5, 10]")
    return [{**options, "k": k} for k in sorted(set(sizes))]


def chosen(strategies: Iterable[str | Callable[..., Any]] | None) -> list[str]:
    """The names of the strategies to run, each once; SpecError if one is not known."""
    if isinstance(strategies, str):
        raise SpecError(f"strategies is a list of names, not {strategies!r}; write [{strategies!r}]")
    if strategies is None:
        return [name for name in STRATEGIES if name != "auto"]
    names = list(dict.fromkeys(map(named_strategy, strategies)))
    known = (*STRATEGIES, *RECODERS)
    for name in names:
        if name not in known and not isinstance(name, Own):
            raise SpecError(f"{name!r} is not a strategy; choose one of {', '.join(known)}")
    if not names:
        raise SpecError(f"no strategy is named; choose one or more of {', '.join(known)}")
    return names


@dataclass(frozen=True)
class _Run:
    """One strategy's end for one k: what it made, with the k-minimal nodes that it knows, or why there is nothing."""

    strategy: str
    k: int = 0
    outcome: Outcome | None = None
    made: _Made | None = None
    minimal: tuple[Node, ...] = ()
    refused: str | None = None


@dataclass(frozen=True)
class _Made:
    """What a release would be: its figures, its scores, what it took, and a checksum of its classes."""

    figures: Figures
    scores: dict[str, float | None]
    seconds: float
    ended: str
    checksum: str | None


def _runs(problem: Problem, specs: Sequence[Spec], names: Sequence[str], observer: Observer) -> Iterator[_Run]:
    """One strategy after the other for each k; an error that every one of them meets is raised."""
    errors: list[KanonError] = []
    of_all = [(spec, name) for spec in specs for name in names]
    problem = replace(problem, costs=problem.judge.with_cells(problem.costs))
    with Scratch(problem.frequency_set.engine, "compared") as tables:
        prepared = _Prepared(problem, tables)
        for number, (spec, name) in enumerate(of_all, start=1):
            k = spec.privacy.k if len(specs) > 1 else problem.judge.model.k
            observer.stage(f"{name}{f', k {k}' if len(specs) > 1 else ''}, {number} of {len(of_all)}")
            try:
                yield replace(prepared.run(spec.model_copy(update={"strategy": name}), observer), k=k)
            except (SpecError, InfeasibleError) as error:
                errors.append(error)
                if len(errors) == len(of_all):
                    raise errors[0] from None
                yield _Run(name, k, refused=str(error))


@dataclass
class _Prepared:
    """What is counted once, for searches and for local recodings, each run with tables and a judge of its own.

    One search's roll-ups would save the next one its queries.
    """

    problem: Problem
    tables: Scratch

    @cached_property
    def local(self) -> FrequencySet:
        """The frequency set as local recodings name its tuples."""
        counted = sampled(self.problem.frequency_set)
        return merge_equal_codes(counted, drop=counted is not self.problem.frequency_set)

    def run(self, spec: Spec, observer: Observer) -> _Run:
        """One strategy for one k."""
        if spec.strategy in RECODERS:
            return self._recode(spec, observer)
        problem = posed_again(self.problem, spec, self.problem.frequency_set)
        try:
            return _search(problem, observer, self.tables)
        finally:
            problem.judge.drop()

    def _recode(self, spec: Spec, observer: Observer) -> _Run:
        check(spec, "anonymize")
        spec = spec.model_copy(update={"show": spec.show or _SHOW})
        with Scratch(self.tables.engine, spec.strategy) as tables:
            problem = posed_again(self.problem, spec, replace(self.local, tables=tables))
            return _Run(spec.strategy, made=_made_of_classes(recode(problem, observer)))


def _search(problem: Problem, observer: Observer, tables: Scratch) -> _Run:
    outcome = search(problem, observer)
    plan = planned(problem, outcome)
    known = _minimal(problem, outcome)
    if shows.asked(problem.spec):
        made = _shown(plan, tables)
    else:
        safe = plan.recoding.judge.model.safe
        with joint.of_node(problem.frequency_set, safe, outcome.node, problem.costs.weights) as cells:
            made = _made(plan, cells, cells.divergence_apart())
    slim = replace(outcome, tags=None)  # those of a large lattice are large
    return _Run(problem.spec.strategy, outcome=slim, made=made, minimal=known)


def _shown(plan: Plan, tables: Scratch) -> _Made:
    """A search's release where its classes show what the spec asks for."""
    with Scratch(tables.engine, "shown") as own:
        counted = replace(plan.problem.frequency_set, tables=own)
        return _made_of_classes(shown_by_classes(replace(plan, problem=replace(plan.problem, frequency_set=counted))))


def _made_of_classes(plan: Plan) -> _Made:
    """What a release by classes would be."""
    recoding, problem = plan.recoding, plan.problem
    assert isinstance(recoding, LocalRecoding)
    with joint.of_classes(problem.frequency_set, recoding.local, recoding.classes, problem.costs.weights) as cells:
        return _made(plan, cells, None)


def _made(plan: Plan, cells: joint.Cells, divergence: float | None) -> _Made:
    figures = manifests.figures_of(plan)
    scores = {**manifests.scores(plan.problem, figures), "ambiguity": cells.ambiguity, "divergence": divergence}
    return _Made(figures, scores, plan.search_seconds, plan.ended, cells.checksum)


def _minimal(problem: Problem, outcome: Outcome) -> tuple[Node, ...]:
    """The nodes that a search knows to be k-minimal: no node one step below is anonymous, so none further down."""
    tags, below = outcome.tags, problem.lattice.predecessors
    if tags is None or not problem.judge.model.monotone:
        return ()
    return tuple(node for node in outcome.minimal if all(tags.status(lower) is False for lower in below(node)))


def _side_by_side(problem: Problem, runs: Sequence[_Run]) -> Comparison:
    """What only all of them together tell: which found the optimum, and how near they came to the minimal nodes."""
    spec, lattice = problem.spec, problem.lattice
    of_k = {k: [run for run in runs if run.k == k] for k in dict.fromkeys(run.k for run in runs)}
    proven = tuple(_proven(k, of, lattice.size) for k, of in of_k.items())
    first = proven[0]
    return Comparison(
        source=spec.source,
        rows=problem.frequency_set.rows,
        distinct_tuples=problem.frequency_set.tuples,
        k=first.k,
        privacy=tuple({"model": each.name, "required": each.required} for each in problem.judge.model.asked),
        suppression_limit=spec.suppression_limit,
        metric=spec.metric,
        heights=dict(zip(problem.columns, problem.costs.heights, strict=True)),
        lattice_size=lattice.size,
        time_limit=_limit(spec),
        seed=spec.seed,
        evaluations=spec.evaluations,
        frequency_seconds=problem.frequency_seconds,
        proven_score=first.proven_score,
        lower_bound=first.lower_bound,
        minimal_nodes=first.minimal_nodes,
        minimal_nodes_complete=first.minimal_nodes_complete,
        by_k=proven,
        searches=tuple(
            _found(problem, run, each, _known_minimal(of_k[each.k]), _same(run, runs))
            for each in proven
            for run in of_k[each.k]
        ),
    )


def _proven(k: int, runs: Sequence[_Run], size: int) -> Proven:
    outcomes = [run.outcome for run in runs if run.outcome]
    return Proven(
        k,
        min((outcome.score for outcome in outcomes if outcome.proven_optimal), default=None),
        max((outcome.lower_bound for outcome in outcomes), default=0.0),
        len(_known_minimal(runs)),
        any(_settled_nodes(outcome) == size for outcome in outcomes),
    )


def _known_minimal(runs: Sequence[_Run]) -> list[Node]:
    return sorted({node for run in runs for node in run.minimal})


def _same(run: _Run, runs: Sequence[_Run]) -> tuple[str, int] | None:
    """The first run before this one that makes the same release."""
    text = run.made and run.made.checksum
    first = next((each for each in runs if text and each.made and each.made.checksum == text), run)
    return None if first is run else (first.strategy, first.k)


def _limit(spec: Spec) -> float:
    return SECONDS if spec.time_limit is None else spec.time_limit


def _settled_nodes(outcome: Outcome) -> int | None:
    return None if outcome.nodes_tagged is None else outcome.nodes_checked + outcome.nodes_tagged


def _promise(name: str) -> str:
    return RECODERS[name].promise if name in RECODERS else strategy(name).promise


def _found(
    problem: Problem, run: _Run, proven: Proven, minimal: Sequence[Node], same: tuple[str, int] | None
) -> StrategyResult:
    made = run.made
    if made is None:
        return StrategyResult(run.strategy, _promise(run.strategy), run.refused, run.k)
    figures = made.figures
    suppressed, columns = figures.rows_at_risk or 0, problem.columns
    released, classes = figures.released_rows or 0, figures.classes or 0
    by_rows = problem.judge.model.unit is None  # classes are counted in rows here, which tells no risk of people
    result = StrategyResult(
        run.strategy,
        _promise(run.strategy),
        k=run.k,
        score=made.scores[problem.spec.metric],
        seconds=made.seconds,
        ended=made.ended,
        suppressed_rows=suppressed,
        los=suppressed / problem.costs.rows,
        loss_per_attribute=dict(zip(columns, figures.losses or (), strict=True)),
        information_loss=made.scores,
        classes=classes,
        smallest_class=figures.smallest_class,
        risk_highest=(1 / figures.smallest_class if figures.smallest_class else 0.0) if by_rows else None,
        risk_mean=(classes / released if released else 0.0) if by_rows else None,
        same_as=same,
    )
    return _searched(problem, result, run.outcome, proven, minimal) if run.outcome else result


def _searched(
    problem: Problem, result: StrategyResult, outcome: Outcome, proven: Proven, minimal: Sequence[Node]
) -> StrategyResult:
    """The result with what only a search has: its node, what it asked for, and what it proved."""
    best = proven.proven_score
    return replace(
        result,
        score=outcome.score,
        proven_optimal=outcome.proven_optimal,
        equals_best_proven=None if best is None else not beats(best, outcome.score),
        lower_bound=outcome.lower_bound,
        gap=outcome.gap,
        nodes_checked=outcome.nodes_checked,
        nodes_tagged=outcome.nodes_tagged,
        queries=outcome.queries,
        found_by=outcome.found_by,
        node=dict(zip(problem.columns, outcome.node, strict=True)),
        log=level_of_generalization(outcome.node, problem.costs.heights),
        accuracy=None if best is None else _accuracy(problem, outcome, minimal),
    )


def _accuracy(problem: Problem, outcome: Outcome, minimal: Sequence[Node]) -> float | None:
    if not minimal:
        return None
    return accuracy(minimal, [*outcome.minimal, outcome.node], problem.lattice, problem.costs.heights)
