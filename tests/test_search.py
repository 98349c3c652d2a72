"""Every strategy on lattices given by brute force, without a database; then the same with one."""

import signal
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from math import inf
from random import Random
from typing import Any

import pandas
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon_sql import anonymize
from kanon_sql.engine import Engine
from kanon_sql.errors import InfeasibleError, SpecError
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.lattice import Lattice, below
from kanon_sql.loss import Costs, Figures, metric
from kanon_sql.privacy import all_of, k_anonymity
from kanon_sql.strategies import STRATEGIES, Driver, Progress, SearchOutcome, strategy, tags
from kanon_sql.strategies.driver import _LAST_RESORT as LAST_RESORT
from kanon_sql.strategies.reduction import lattice_minimum
from kanon_sql.strategies.space import Score, Search, Space, Test
from support.counting import EXAMPLES, counted
from support.oracle import Column, Node, Problem, identical_problems, problems
from support.searching import (
    ABC,
    FAST,
    IDENTICAL,
    OPTIMAL,
    SPREAD,
    Run,
    Table,
    Threshold,
    Unordered,
    checked,
    costs_of,
    keeps_a_row,
    lattice_of,
    metrics,
)

ANY_MODEL = [name for name in OPTIMAL if not STRATEGIES[name].monotone_only]


@st.composite
def cases(draw: st.DrawFn, bounded: bool = False) -> tuple[Problem, str]:
    """A strategy, and a problem that it takes."""
    name = draw(st.sampled_from(list(STRATEGIES)))
    return draw(identical_problems(bounded) if name in IDENTICAL else problems(bounded=bounded)), name


@FAST
@given(problem=problems(bounded=True), by=metrics)
@pytest.mark.parametrize("name", OPTIMAL)
def test_the_optimum_is_found_and_proven(name: str, problem: Problem, by: str) -> None:
    run = checked(problem, name, by)
    assert run.is_optimal()
    assert run.outcome.proven_optimal
    assert run.outcome.lower_bound == pytest.approx(run.outcome.score)
    assert run.outcome.gap == 0
    if problem.may_suppress == 0:  # of equal nodes the lowest
        for lower in run.driver.lattice.predecessors(run.outcome.node):
            assert not problem.anonymous(lower) or problem.scores(lower)[by] != pytest.approx(run.outcome.score)


@FAST
@given(problem=problems(bounded=True), by=metrics)
@pytest.mark.parametrize("name", ["ola", "incognito"])
def test_the_best_of_the_minimal_nodes_is_found(name: str, problem: Problem, by: str) -> None:
    run = checked(problem, name, by)
    best = min(problem.scores(node)[by] for node in problem.minimal_nodes)
    if best < inf:
        assert run.outcome.node in problem.minimal_nodes
        assert run.outcome.score == pytest.approx(best)
    if by in ("precision", "height") or problem.may_suppress == 0:
        assert run.outcome.proven_optimal


def test_ola_misses_the_optimum_and_does_not_claim_it() -> None:
    """With suppression a node above a minimal one can lose less: here (1,) keeps the row that (0,) drops."""
    problem = Problem([("a",)] * 3 + [("b",), ("c",)], [Column(ABC)], 2, 0.5)
    assert problem.minimal_nodes == [(0,)]
    ola, best = Run(problem, "ola", "loss"), Run(problem, "auto", "loss")
    assert (ola.outcome.node, best.outcome.node) == ((0,), (1,))
    assert not ola.outcome.proven_optimal
    assert ola.outcome.lower_bound <= best.outcome.score < ola.outcome.score
    assert ola.outcome.gap == ola.outcome.score - ola.outcome.lower_bound > 0


@FAST
@given(problem=problems(bounded=True))
def test_exhaustive_tests_minimal_nodes_and_those_that_are_not_anonymous(problem: Problem) -> None:
    assume(problem.anonymous_nodes)
    run = Run(problem, "exhaustive", "height")
    expected = set(problem.nodes) - set(problem.anonymous_nodes) | set(problem.minimal_nodes)
    # The top is tested first where nothing else says that it is anonymous.
    assert expected <= set(run.judge.tested) <= expected | {problem.nodes[-1]}
    assert len(run.judge.tested) == len(set(run.judge.tested)) == run.outcome.nodes_checked
    for node in problem.nodes:
        assert run.status(node) is problem.anonymous(node)


@FAST
@given(case=cases(bounded=True), by=metrics, data=st.data())
def test_a_search_stopped_anywhere_has_a_node_and_a_bound(
    case: tuple[Problem, str], by: str, data: st.DataObject
) -> None:
    problem, name = case
    assume(keeps_a_row(problem, by))
    whole = Run(problem, name, by)
    stop = data.draw(st.integers(0, max(0, whole.judge.queries - 1)))
    run = Run(problem, name, by, stop_after=stop)
    run.check(ended=run.outcome.ended)
    assert run.judge.queries <= stop + 2 + LAST_RESORT
    assert run.outcome.ended == "time limit" or run.outcome.trace[-1].node == whole.outcome.trace[-1].node


@pytest.mark.parametrize("name", STRATEGIES)
def test_no_time_still_returns_the_top(name: str) -> None:
    problem = Problem([("a",)] * 3 + [("b",), ("c",)], [Column(ABC)], 2)
    run = Run(problem, name, "loss", time_limit=-1.0)
    run.check(ended="time limit")
    assert (run.outcome.node, run.outcome.proven_optimal) == ((2,), False)
    assert run.outcome.lower_bound < 1 == run.outcome.score


@FAST
@given(case=cases(bounded=True), by=metrics)
def test_infeasibility_is_reported_before_any_search(case: tuple[Problem, str], by: str) -> None:
    problem, name = case
    if problem.anonymous_nodes:
        problem = replace(problem, k=len(problem.rows) + 1, limit=0.0, _memo={})
    judge = Table(problem)
    with pytest.raises(InfeasibleError, match="suppression_limit or max_level"):
        Run(problem, name, by, judge)
    assert judge.tested == [problem.nodes[-1]]


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_node_that_keeps_a_row_is_preferred(name: str) -> None:
    """Every row may be suppressed, and at the only k-minimal node every row is."""
    problem = Problem([("a",), ("b",), ("c",)], [Column(ABC)], 3, 1.0)
    assert Run(problem, name, "average_class_size").outcome.node == (2,)
    with pytest.raises(InfeasibleError, match="keeps any row"):
        Run(Problem(problem.rows, problem.columns, 3, 1.0, (0,), (1,)), name, "average_class_size")


@FAST
@given(case=cases(bounded=True), by=metrics)
def test_a_lattice_too_large_to_list_has_the_same_result(case: tuple[Problem, str], by: str) -> None:
    problem, name = case
    assume(keeps_a_row(problem, by) and name != "best_first")
    dense = Run(problem, name, by)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tags, "DENSE_LIMIT", 0)
        sparse = Run(problem, name, by)
    assert isinstance(sparse.space.tags, tags.SparseTags)
    sparse.check()
    assert sparse.outcome.score == pytest.approx(dense.outcome.score)


@FAST
@given(problem=problems(most_columns=3), name=st.sampled_from(ANY_MODEL), by=metrics)
def test_without_a_monotone_model_nothing_is_concluded(problem: Problem, name: str, by: str) -> None:
    problem = Unordered(problem.rows, problem.columns, 1, 0.0)
    if not keeps_a_row(problem, by):
        with pytest.raises(InfeasibleError, match="no anonymous node that keeps any row was found"):
            Run(problem, name, by, monotone_model=False)
        return
    run = Run(problem, name, by, monotone_model=False)
    run.check()
    assert run.is_optimal()
    assert run.outcome.proven_optimal


# Ctrl-C


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("name", STRATEGIES)
def test_one_interrupt_ends_the_search_with_the_best_so_far(name: str) -> None:
    problem = SPREAD

    def press(requested: int) -> None:
        if requested == 2:
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    run = Run(problem, name, "loss", Table(problem, press))
    run.check(ended="interrupted")
    assert len(run.judge.tested) < len(Run(problem, name, "loss").judge.tested)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("terminal")
def test_a_second_interrupt_ends_the_run() -> None:
    def press(_: int) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        Run(SPREAD, "auto", "loss", Table(SPREAD, press))
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("terminal")
def test_an_error_of_the_judge_restores_the_handler() -> None:
    def fail(_: int) -> None:
        raise OSError("the connection is lost")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(OSError, match="lost"):
        Run(SPREAD, "auto", "loss", Table(SPREAD, fail))
    assert signal.getsignal(signal.SIGINT) is before


def test_a_thread_of_a_program_can_search() -> None:
    outcomes: list[SearchOutcome] = []
    thread = threading.Thread(target=lambda: outcomes.append(Run(SPREAD, "auto", "loss").outcome))
    thread.start()
    thread.join(60)
    assert outcomes[0].node == Run(SPREAD, "auto", "loss").outcome.node


# The end


class Ticking:
    """A clock that only the judge moves on: `test` seconds for a node, `score` for a node's figures."""

    def __init__(self, problem: Problem, test: float, score: float = 0.0) -> None:
        self.now, self.table, self.test, self.score, self.queries = 0.0, Table(problem), test, score, 0

    def rows_at_risk(self, nodes: Sequence[Node]) -> list[int]:
        self.now += self.test * len(nodes)
        return self.table.rows_at_risk(nodes)

    def losses(self, node: Node, costs: Costs) -> Figures:
        self.now += self.score
        return self.table.losses(node, costs)

    def several_losses(self, nodes: Sequence[Node], costs: Costs) -> list[Figures]:
        return [self.losses(node, costs) for node in nodes]

    def classes(self, node: Node) -> Figures:
        self.now += self.score
        return self.table.classes(node)


def ended(
    judge: Ticking, limit: float, search: Callable[[Space], Search], problem: Problem
) -> tuple[SearchOutcome, float]:
    """A search by the judge's clock, and when it ended."""
    options = {"time_limit": limit, "clock": lambda: judge.now}
    driver = Driver(lattice_of(problem), costs_of(problem), metric("loss"), judge, problem.may_suppress, **options)
    return driver.run(search), judge.now


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize(("limit", "seconds"), [(2.5, 0.2), (10.4, 0.9), (40.0, 1.2)])
def test_a_slow_test_does_not_overrun_the_time_limit(name: str, limit: float, seconds: float) -> None:
    problem = replace(SPREAD, limit=0.0, _memo={})
    outcome, now = ended(Ticking(problem, test=seconds, score=0.05), limit, strategy(name), problem)
    assert now <= limit + max(1, 0.05 * limit)
    assert outcome.ended == ("time limit" if now > limit else "complete")


def stagnating(problem: Problem, patience: float | None) -> tuple[SearchOutcome, list[Progress]]:
    """A search that scores the best node first, and then tests all others at a second each."""
    judge, seen = Ticking(problem, test=1.0), []
    best = ended(Ticking(problem, test=0.0), 1.0, strategy("exhaustive"), problem)[0].node
    options: dict[str, Any] = {"clock": lambda: judge.now, "on_progress": seen.append, "patience": patience}
    driver = Driver(lattice_of(problem), costs_of(problem), metric("loss"), judge, problem.may_suppress, **options)

    def search(_: Space) -> Search:
        yield Test([best])
        yield Score([best])
        for node in problem.nodes:
            yield Test([node])

    return driver.run(search), seen


def test_a_search_that_stagnates_ends_by_patience() -> None:
    patient, seen = stagnating(SPREAD, None)
    stopped, _ = stagnating(SPREAD, 3.0)
    assert (patient.ended, stopped.ended) == ("complete", "patience")
    assert (stopped.node, stopped.score) == (patient.node, patient.score)
    assert stopped.nodes_checked < patient.nodes_checked
    assert seen[-1].stagnant == seen[-1].seconds - 1.0


def test_patience_begins_with_the_first_release() -> None:
    problem, judge = SPREAD, Ticking(SPREAD, test=1.0)

    def search(_: Space) -> Search:
        for node in reversed(problem.nodes):
            yield Test([node])

    options: dict[str, Any] = {"clock": lambda: judge.now, "patience": 0.5}
    driver = Driver(lattice_of(problem), costs_of(problem), metric("loss"), judge, problem.may_suppress, **options)
    outcome = driver.run(search)
    assert (outcome.ended, outcome.found_by) == ("complete", "last resort")


def test_the_last_resort_ends_in_time() -> None:
    """Sixteen nodes would be scored at half a second each."""

    def unscored(_: Space) -> Search:
        for node in reversed(SPREAD.nodes):
            yield Test([node])

    outcome, now = ended(Ticking(SPREAD, test=0.1, score=0.5), 3.0, unscored, SPREAD)
    assert (outcome.ended, outcome.found_by) == ("time limit", "last resort")
    assert now <= 4.2  # one statement is under way when the time is up
    assert SPREAD.anonymous(outcome.node)


@pytest.mark.slow
def test_a_long_search_ends_quickly() -> None:
    """Thousands of nodes on either border; CPU time, so that nothing else that runs counts. It took 20 s."""
    lattice = Lattice((0,) * 10, (5,) * 10)
    costs = Costs(100, 2, ((0.0, 0.2, 0.4, 0.6, 0.8, 1.0),) * 10, ((9, 8, 7, 6, 5, 1),) * 10)
    driver = Driver(lattice, costs, metric("loss"), Threshold(21), 10, clock=time.process_time)
    stopped: list[float] = []

    def borders(space: Space) -> Search:
        for height in (20, 21):
            yield Test(list(islice(lattice.at_height(height), 10_000)))
        stopped.append(driver._seconds())
        driver.time_limit = stopped[0]
        yield from strategy("depth_first")(space)

    outcome = driver.run(borders)
    assert (outcome.ended, len(outcome.minimal)) == ("time limit", 10_000)
    assert outcome.lower_bound > 0
    assert outcome.seconds < stopped[0] + max(1, 0.05 * stopped[0])


@FAST
@given(problem=problems(bounded=True), monotone=st.booleans(), dense=st.booleans(), seed=st.integers(0, 99))
def test_the_minimal_nodes_are_the_judged_nodes_that_generalize_no_other(
    problem: Problem, monotone: bool, dense: bool, seed: int
) -> None:
    known = (tags.DenseTags if dense else tags.SparseTags)(lattice_of(problem))
    judged = Random(seed).sample(problem.nodes, len(problem.nodes) // 2)
    for node in judged:
        known.tag(node, problem.anonymous(node), alone=not monotone)
    held = [node for node in judged if problem.anonymous(node)]
    lowest = [node for node in held if not any(other != node and below(other, node) for other in held)]
    assert known.minimal() == sorted(lowest, key=lambda node: (sum(node), node))


# Who found the node


def test_the_origin_of_the_node_is_reported() -> None:
    def found_by(search: Callable[[Space], Search], by: str = "loss") -> tuple[Node, str]:
        problem = replace(SPREAD, limit=0.0, _memo={})
        driver = Driver(lattice_of(problem), costs_of(problem), metric(by), Table(problem), 0)
        outcome = driver.run(search)
        return outcome.node, outcome.found_by

    def bred(space: Space) -> Search:
        yield from lattice_minimum(space)
        yield Score([space.lattice.top])

    def barren(space: Space) -> Search:
        yield from lattice_minimum(space)

    def tested(_: Space) -> Search:
        yield Test([(2, 3, 3)])

    assert found_by(bred) == ((3, 3, 3), "strategy")
    assert found_by(barren)[1] == "reduction"
    assert found_by(tested) == ((2, 3, 3), "last resort")


def test_a_node_lowered_at_no_loss_is_reported() -> None:
    """A column with one value loses nothing by its star."""
    single = Column({"x": ("x", "*")})
    problem = Problem([("x", "a"), ("x", "a")], [single, Column(ABC)], 2)

    def starred(_: Space) -> Search:
        yield Test([(1, 0)])
        yield Score([(1, 0)])

    driver = Driver(lattice_of(problem), costs_of(problem), metric("loss"), Table(problem), 0)
    outcome = driver.run(starred)
    assert (outcome.node, outcome.found_by) == ((0, 0), "lowered")


@pytest.mark.slow
def test_manifest_and_warnings_report_that_the_strategy_found_nothing() -> None:
    people = pandas.DataFrame({f"q{j}": [f"{i * (j + 3) % 97:07b}" for i in range(97)] for j in range(12)})
    spec = {"quasi_identifiers": {name: {"hierarchy": {"redact": "right"}} for name in people}}
    manifest = anonymize(people, spec, k=2, strategy="random", evaluations=1).manifest
    assert manifest["found_by"] == "last resort"
    assert any("random found no anonymous node, and the best node tested" in text for text in manifest["warnings"])
    manifest = anonymize(people, spec, k=2, strategy="kgen", evaluations=1).manifest
    assert manifest["found_by"] == "reduction"
    assert any("kgen found no anonymous node, and a probe of" in text for text in manifest["warnings"])
    manifest = anonymize(people, spec, k=2, strategy="datafly").manifest
    assert manifest["found_by"] in ("strategy", "lowered")
    assert not any("found no anonymous node" in text for text in manifest["warnings"])


# Progress and traces of a search


@FAST
@given(case=cases(), by=metrics)
def test_the_trace_and_the_progress_report_the_checks(case: tuple[Problem, str], by: str) -> None:
    problem, name = case
    seen: list[Progress] = []
    run = Run(problem, name, by, on_progress=seen.append, time_limit=1e9)
    trace = run.outcome.trace
    assert len(trace) == len(seen)
    assert run.outcome.nodes_checked == len({step.node for step in trace}) <= len(problem.nodes)
    assert run.outcome.queries == run.judge.queries
    assert [step.node for step in trace if step.asked == "test"] == run.judge.tested
    for step in trace:
        assert step.rows_at_risk == problem.rows_at_risk(step.node)
        expected = None if step.asked == "test" else pytest.approx(problem.scores(step.node)[by])
        assert step.score == expected
    for earlier, later in pairwise(seen):
        assert earlier.seconds <= later.seconds
        assert earlier.nodes_checked <= later.nodes_checked
        assert earlier.score >= later.score
    for progress in seen:
        assert progress.lattice_size == len(problem.nodes)
        assert 0 < progress.seconds_left <= 1e9
        assert (progress.node is None) == (progress.score == inf)
        assert progress.node is None or problem.anonymous(progress.node)


def test_errors_for_an_unknown_strategy_and_metric_list_the_valid_ones() -> None:
    with pytest.raises(SpecError, match="'magic' is not a strategy; choose one of auto"):
        strategy("magic")
    with pytest.raises(SpecError, match="'magic' is not a metric; choose one of precision"):
        metric("magic")


# With a database


@EXAMPLES
@given(problem=problems(most_columns=3).filter(lambda problem: problem.limit < 1), by=metrics)
def test_a_database_and_a_table_of_verdicts_agree(engine: Engine, problem: Problem, by: str) -> None:
    frequency_set = counted(engine, problem)
    for name in STRATEGIES.keys() - set(IDENTICAL if problem.odd else ()):
        judge = Judge(frequency_set, all_of(k_anonymity(problem.k)))  # one for each: it asks for a figure only once
        real, simulated = Run(problem, name, by, judge).outcome, Run(problem, name, by).outcome
        assert (real.node, real.nodes_checked) == (simulated.node, simulated.nodes_checked)
        assert (real.queries, real.proven_optimal) == (simulated.queries, simulated.proven_optimal)
        assert real.score == pytest.approx(simulated.score)
        assert [(s.asked, s.node, s.rows_at_risk) for s in real.trace] == [
            (s.asked, s.node, s.rows_at_risk) for s in simulated.trace
        ]


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name not in IDENTICAL])
def test_the_lowest_of_equal_nodes_is_released(name: str) -> None:
    """A column with one value loses nothing by its star, and should keep the value all the same."""
    people = pandas.DataFrame({"ward": ["x"] * 20, "bed": [i % 4 for i in range(20)]})
    spec = {"quasi_identifiers": {"ward": {"hierarchy": "suppress"}, "bed": {"hierarchy": {"ranges": [2]}}}}
    assert anonymize(people, spec, k=5, strategy=name).manifest["node"] == {"ward": 0, "bed": 0}
