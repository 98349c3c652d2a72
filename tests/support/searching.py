"""Searches without a database: judges that look answers up, and properties of any search, by brute force."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from kanon_sql.errors import InfeasibleError
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.loss import Costs, Figures, metric
from kanon_sql.strategies import STRATEGIES, Driver, strategy
from kanon_sql.strategies.space import Search, Space
from support.examples import examples
from support.oracle import METRICS, Column, Node, Problem

OPTIMAL = ("auto", "best_first", "certified", "exhaustive", "depth_first", "flash")
IDENTICAL = ("optimal_igh", "extended_igh")  # refuse columns whose hierarchies differ
FAST = examples(60)


class Table:
    """A judge that looks every answer up; `after` is called before each, with their number so far."""

    def __init__(self, problem: Problem, after: Callable[[int], None] = lambda _: None) -> None:
        self.problem, self.after, self.queries, self.tested = problem, after, 0, []

    def rows_at_risk(self, nodes: Sequence[Node]) -> list[int]:
        self._ask()
        self.tested += nodes
        return [self.problem.rows_at_risk(node) for node in nodes]

    def losses(self, node: Node, _: Costs) -> Figures:
        self._ask()
        problem, safe = self.problem, self.problem.released(node)
        kept = [row for row in problem.rows if problem.labels(row, node) in safe]
        starred = tuple(
            sum(row[j] not in column.leaves for row in kept if len(column.leaves) > 1) / len(problem.rows)
            for j, column in enumerate(problem.columns)
        )
        return Figures(node, problem.rows_at_risk(node), problem.column_losses(node), starred=starred)

    def several_losses(self, nodes: Sequence[Node], costs: Costs) -> list[Figures]:
        return [self.losses(node, costs) for node in nodes]

    def cells(self, node: Node, costs: Costs, needs: Collection[str]) -> Figures:
        figures = Figures(node, self.problem.rows_at_risk(node))
        if set(needs) - {"bits", "generalized"}:
            figures = self.losses(node, costs)
        if "bits" in needs:
            self._ask()
            figures = replace(figures, bits=self.problem.bits(node))
        if "generalized" in needs:
            self._ask()
            figures = replace(figures, generalized=self.problem.several(node))
        return figures

    def classes(self, node: Node) -> Figures:
        self._ask()
        sizes, at_risk = self.problem.released(node).values(), self.problem.rows_at_risk(node)
        return Figures(node, at_risk, None, len(sizes), sum(sizes), min(sizes, default=None), sum(n**2 for n in sizes))

    def _ask(self) -> None:
        self.after(self.queries)
        self.queries += 1


class Threshold:
    """A judge to whom nodes are anonymous from some height on, or else leave all rows at risk."""

    def __init__(self, height: int) -> None:
        self.height, self.queries = height, 0

    def rows_at_risk(self, nodes: Sequence[Node]) -> list[int]:
        self.queries += 1
        return [0 if sum(node) >= self.height else 100 for node in nodes]

    def losses(self, node: Node, costs: Costs) -> Figures:
        return Figures(node, 0, tuple(losses[level] for losses, level in zip(costs.level_losses, node, strict=True)))

    def several_losses(self, nodes: Sequence[Node], costs: Costs) -> list[Figures]:
        return [self.losses(node, costs) for node in nodes]

    def classes(self, node: Node) -> Figures:
        return Figures(node, 0, None, 1, 100, 100, 10_000)


def costs_of(problem: Problem) -> Costs:
    """What the judge counts before any node, by brute force."""
    return Costs(
        *(len(problem.rows), problem.k, problem.level_losses(), problem.distinct(), problem.names, problem.odd),
        leaves=tuple(column.count for column in problem.columns),
        level_bits=problem.level_bits(),
        level_generalized=problem.level_several(),
    )


def lattice_of(problem: Problem) -> Lattice:
    """All nodes of a problem."""
    return Lattice(problem.nodes[0], problem.nodes[-1])


class Run:
    """A search of a problem: its driver, its outcome, and the space that its strategy saw."""

    def __init__(self, problem: Problem, name: str, by: str, judge: Any = None, **options: Any) -> None:
        """`stop_after`: how many more questions are answered when the time runs out."""
        self.problem, self.metric = problem, by
        stop = options.pop("stop_after", inf)
        self.judge = judge or Table(problem)
        costs = costs_of(problem)
        self.driver = Driver(lattice_of(problem), costs, metric(by), self.judge, problem.may_suppress, **options)
        if stop < inf:
            self.judge.after = lambda requested: self._spend(requested == stop)
        self.outcome = self.driver.run(lambda space: self._seen(strategy(name), space))

    def _seen(self, search: Callable[[Space], Search], space: Space) -> Search:
        self.space = space
        yield from search(space)

    def _spend(self, now: bool) -> None:
        if now:
            self.driver.time_limit = -1.0

    def status(self, node: Node) -> bool | None:
        return self.space.tags.status(node)

    def check(self, ended: str = "complete") -> None:
        """What holds of any search, wherever it stopped."""
        outcome, problem = self.outcome, self.problem
        optimum = problem.optimum(self.metric)
        assert outcome.ended == ended
        assert problem.anonymous(outcome.node)
        assert outcome.score == pytest.approx(problem.scores(outcome.node)[self.metric])
        assert outcome.lower_bound <= min(optimum, outcome.score) + 1e-9 * max(1.0, optimum)
        assert outcome.proven_optimal <= (outcome.score == pytest.approx(optimum))
        assert outcome.gap == pytest.approx(0 if outcome.proven_optimal else outcome.score - outcome.lower_bound)
        for node in problem.nodes:
            assert self.status(node) in (None, problem.anonymous(node))

    def is_optimal(self) -> bool:
        return self.outcome.score == pytest.approx(self.problem.optimum(self.metric))


metrics = st.sampled_from(METRICS)


def keeps_a_row(problem: Problem, by: str) -> bool:
    """Whether there is a node to release; one that suppresses every row has no average class."""
    return bool(problem.anonymous_nodes) and problem.optimum(by) < inf


ABC = {"a": ("a", "a", "*"), "b": ("b", "bc", "*"), "c": ("c", "bc", "*")}


class Unordered(Problem):
    """Nodes that are anonymous or not without any order, as under a privacy model that is not monotone."""

    def rows_at_risk(self, node: Node) -> int:
        return len(self.rows) if hash((node, 7)) % 3 else 0

    def released(self, node: Node) -> dict[Any, int]:
        return dict(self.classes(node)) if self.rows_at_risk(node) == 0 else {}


DIGITS = {f"{a}{b}{c}": (f"{a}{b}{c}", f"{a}{b}", f"{a}", "*") for a in "01" for b in "01" for c in "01"}
SPREAD = Problem(
    [(f"{i % 8:03b}", f"{i * i % 8:03b}", f"{i // 5 % 8:03b}") for i in range(40)], [Column(DIGITS)] * 3, 3, 0.25
)


def checked(problem: Problem, name: str, by: str) -> Run:
    """A search of a problem in which some node keeps a row, with what holds of any search."""
    assume(keeps_a_row(problem, by))
    run = Run(problem, name, by)
    run.check()
    return run


def assert_finds(
    name: str, problem: Problem, judge: Judge, allowed: int, losses: Mapping[Node, float], proves: bool = True
) -> None:
    """A search by a judge's models keeps its promise, and `proves` it where this is the optimum.

    `losses`: of the nodes that may be released, by brute force.
    """
    model = judge.model
    driver = Driver(
        lattice_of(problem),
        judge.costs(),
        metric("loss"),
        judge,
        allowed,
        model.monotone_for(suppresses=allowed > 0),
        5,
        k_alone=model.k_alone,
        evaluations=200,
        prunes=model.prunes,
        mergeable=model.mergeable,
    )
    best = min(losses.values(), default=inf)
    try:
        outcome = driver.run(strategy(name))
    except InfeasibleError:
        assert best == inf or STRATEGIES[name].promise != "the optimum"
        return
    assert outcome.node in losses
    assert outcome.score == pytest.approx(losses[outcome.node])
    assert outcome.lower_bound <= best + 1e-9
    assert not outcome.proven_optimal or outcome.score == pytest.approx(best)
    if STRATEGIES[name].promise == "the optimum":
        assert outcome.score == pytest.approx(best)
        assert outcome.proven_optimal or not proves
