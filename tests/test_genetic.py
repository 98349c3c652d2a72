"""Randomized searches, the lattice reduction, the descents and KGen's measures, against brute force."""

import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kanon_sql.generalization.lattice import Lattice, below
from kanon_sql.loss import Costs, metric
from kanon_sql.strategies import Driver, SearchOutcome, strategy
from kanon_sql.strategies.accuracy import level_of_generalization
from kanon_sql.strategies.descent import Descent
from kanon_sql.strategies.kgen import (
    POPULATION,
    Individual,
    between,
    crossover,
    horizontal_mutation,
    mutated,
    mutation,
    survival,
    survival_chances,
    tournament,
)
from kanon_sql.strategies.memetic import limited
from kanon_sql.strategies.random_nodes import random_node
from kanon_sql.strategies.reduction import lattice_minimum
from kanon_sql.strategies.space import Score, Search, Space, Test
from support.oracle import METRICS, Column, Node, Problem, problems
from support.searching import ABC, FAST, SPREAD, Run, Table, Threshold, Unordered, costs_of, keeps_a_row

DRAWING = ("memetic", "local_search", "kgen", "random")
BOUNDED = st.sampled_from(["precision", "height", "loss", "loss_geometric"])


class Conversation:
    """A search of a problem by any generator; `requests` as the driver received them."""

    def __init__(self, problem: Problem, search: Callable[[Space], Search], by: str = "precision", **options: Any):
        self.problem, self.judge, self.requests = problem, Table(problem), list[Test | Score]()
        costs = costs_of(problem)
        self.lattice = Lattice(problem.nodes[0], problem.nodes[-1])
        driver = Driver(self.lattice, costs, metric(by), self.judge, problem.may_suppress, **options)
        self.outcome: SearchOutcome = driver.run(lambda space: self._listening(search(space)))

    def _listening(self, search: Search) -> Search:
        request = next(search, None)
        while request is not None:
            self.requests.append(request)
            answer = yield request
            try:
                request = search.send(answer)
            except StopIteration:
                return

    @property
    def evaluated(self) -> int:
        return sum(len(request.nodes) for request in self.requests if isinstance(request, Test))


# The three searches


@FAST
@given(problem=problems(bounded=True), name=st.sampled_from(DRAWING), by=BOUNDED, seed=st.integers(0, 99))
def test_the_result_is_anonymous_and_the_archive_minimal(problem: Problem, name: str, by: str, seed: int) -> None:
    assume(keeps_a_row(problem, by))
    run = Run(problem, name, by, seed=seed, evaluations=150)
    run.check()
    held = [node for node in run.judge.tested if problem.anonymous(node)]
    lowest = {node for node in held if not any(other != node and below(other, node) for other in held)}
    assert set(run.outcome.minimal) == lowest


@FAST
@given(problem=problems(bounded=True), name=st.sampled_from(DRAWING), evaluations=st.integers(1, 40))
def test_the_budget_is_not_exceeded(problem: Problem, name: str, evaluations: int) -> None:
    assume(problem.anonymous_nodes)
    run = Run(problem, name, "precision", evaluations=evaluations)
    run.check()
    # The driver may look at the top. KGen's preprocessing is no evaluation: each attribute is bisected.
    reduction = sum(height.bit_length() for height in problem.heights) if name == "kgen" else 0
    assert len(run.judge.tested) <= evaluations + 1 + reduction
    assert len(set(run.judge.tested)) == len(run.judge.tested)


@pytest.mark.parametrize("name", DRAWING)
def test_a_seed_repeats_a_run_and_another_does_not(name: str) -> None:
    def tested(seed: int) -> list[Node]:
        return Run(SPREAD, name, "precision", seed=seed, evaluations=60).judge.tested

    assert tested(1) == tested(1)
    assert len({tuple(tested(seed)) for seed in range(4)}) > 1


@pytest.mark.parametrize("evaluations", [1, 37, 2500])
def test_random_uses_all_its_evaluations(evaluations: int) -> None:
    conversation = Conversation(SPREAD, strategy("random").search, evaluations=evaluations)
    assert conversation.evaluated == evaluations
    everywhere = {node for request in conversation.requests for node in request.nodes}
    assert evaluations < 2500 or everywhere == set(SPREAD.nodes)


def test_random_and_kgen_evaluate_5000_nodes_by_default() -> None:
    for name in ("random", "kgen"):
        evaluated = Conversation(SPREAD, strategy(name).search).evaluated
        assert 5000 <= evaluated <= 5000 + 10 * (name == "kgen")  # the reduction's on top


@FAST
@given(problem=problems(bounded=True), by=BOUNDED, seed=st.integers(0, 99))
def test_memetic_settles_a_small_lattice(problem: Problem, by: str, seed: int) -> None:
    assume(keeps_a_row(problem, by))
    run = Run(problem, "memetic", by, seed=seed)
    run.check()
    assert run.is_optimal()
    assert run.outcome.proven_optimal


@FAST
@given(problem=problems(bounded=True), seed=st.integers(0, 99))
def test_memetic_finds_the_optimum_before_it_settles_the_rest(problem: Problem, seed: int) -> None:
    """Without the sweep of small lattices, as on one too large for it."""
    assume(problem.anonymous_nodes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            sys.modules["kanon_sql.strategies.memetic"], "SWEPT", 0
        )  # the package's `memetic` is the function
        run = Run(problem, "memetic", "precision", seed=seed)
    run.check()
    assert run.is_optimal()


@settings(FAST, suppress_health_check=[HealthCheck.filter_too_much])  # two of three tops are not anonymous
@given(problem=problems(most_columns=3), name=st.sampled_from(DRAWING), by=BOUNDED)
def test_without_a_monotone_model_the_result_is_still_anonymous(problem: Problem, name: str, by: str) -> None:
    problem = Unordered(problem.rows, problem.columns, 1, 0.0)
    assume(problem.anonymous(problem.nodes[-1]))
    run = Run(problem, name, by, monotone_model=False, evaluations=150)
    run.check()
    assert name != "memetic" or len(problem.nodes) > 100 or run.is_optimal()


def test_limited_cuts_the_last_request_and_scores_what_it_found() -> None:
    def whole() -> Search:
        yield Test([(0, 0, 0)])
        yield Test([(3, 3, 3), (2, 3, 3), (3, 3, 2)])
        raise AssertionError("the budget was spent")

    conversation = Conversation(SPREAD, lambda space: limited(space, whole(), 2))
    assert conversation.judge.tested == [(0, 0, 0), (3, 3, 3)]
    assert conversation.outcome.node == (3, 3, 3)


@pytest.mark.parametrize("by", METRICS)
@pytest.mark.parametrize("limit", [0.0, 0.1, 0.25])
@pytest.mark.sampled
def test_local_search_finds_the_optimum_above_the_minimal_nodes_too(by: str, limit: float) -> None:
    problem = replace(SPREAD, limit=limit, _memo={})
    for seed in range(3):
        run = Run(problem, "local_search", by, seed=seed)
        run.check()
        assert run.is_optimal()


def test_local_search_checks_no_node_that_cannot_be_better() -> None:
    """From the top of a chain it walks down, and never looks above where it stands."""
    run = Run(Problem([("a",)] * 3 + [("b",), ("c",)], [Column(ABC)], 2, 0.5), "local_search", "loss")
    assert run.outcome.node == (1,)
    assert run.judge.tested == [(2,), (1,), (0,)]  # the kicks ask for no other: there is none


# The reduction


@FAST
@given(problem=problems(bounded=True))
def test_no_anonymous_node_lies_outside_the_reduced_lattice(problem: Problem) -> None:
    assume(problem.anonymous_nodes)
    nodes: list[Node] = []

    def reduce(space: Space) -> Search:
        nodes.append((yield from lattice_minimum(space)))

    conversation = Conversation(problem, reduce)
    bottom, top = conversation.lattice.bottom, conversation.lattice.top
    alone = [
        next(x for x in range(bottom[j], top[j] + 1) if problem.anonymous((*top[:j], x, *top[j + 1 :])))
        for j in range(len(top))
    ]
    assert nodes == [tuple(alone)]
    assert all(below(nodes[0], node) for node in problem.anonymous_nodes)


def test_without_a_monotone_model_nothing_is_reduced() -> None:
    nodes: list[Node] = []

    def reduce(space: Space) -> Search:
        nodes.append((yield from lattice_minimum(space)))
        yield Score([space.lattice.top])

    Conversation(replace(SPREAD, k=6, limit=0.0, _memo={}), reduce, monotone_model=False)
    assert nodes == [(0, 0, 0)]
    Conversation(replace(SPREAD, k=6, limit=0.0, _memo={}), reduce)
    assert nodes[1] > (0, 0, 0)


# KGen's operators


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Lattice, Node, Node]:
    ends = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), min_size=1, max_size=8))
    lattice = Lattice(tuple(low for low, _ in ends), tuple(low + more for low, more in ends))
    rng = draw(st.randoms(use_true_random=False))
    return lattice, random_node(rng, lattice), random_node(rng, lattice)


@FAST
@given(drawn=pairs(), seed=st.integers(0, 99))
def test_the_operators_stay_in_the_lattice(drawn: tuple[Lattice, Node, Node], seed: int) -> None:
    lattice, one, other = drawn
    rng = Random(seed)
    children = [mutation(rng, lattice, one), horizontal_mutation(rng, lattice, one), mutated(rng, lattice, other)]
    for anonymous in [(False, False), (True, False), (False, True), (True, True)]:
        parents = Individual(one, anonymous[0], 0.5), Individual(other, anonymous[1], 0.5)
        children += crossover(rng, *parents, False) + crossover(rng, *parents, True)
    for node in children:
        assert below(lattice.bottom, node)
        assert below(node, lattice.top)


@FAST
@given(drawn=pairs(), seed=st.integers(0, 99))
def test_crossover_has_three_cases(drawn: tuple[Lattice, Node, Node], seed: int) -> None:
    _, one, other = drawn
    rng = Random(seed)
    meet = tuple(min(levels) for levels in zip(one, other, strict=True))
    join = tuple(max(levels) for levels in zip(one, other, strict=True))

    def bred(first: bool, second: bool, meet_anonymous: bool = False) -> list[Node]:
        return crossover(rng, Individual(one, first, 0.5), Individual(other, second, 0.5), meet_anonymous)

    assert bred(True, True, True) == [meet]
    assert bred(False, False) == [join]
    below_one, below_other = bred(True, True)
    assert below(meet, below_one)
    assert below(below_one, one)
    assert below(meet, below_other)
    assert below(below_other, other)
    for (child,), parent in [(bred(True, False), one), (bred(False, True), other)]:
        assert below(meet, child)
        assert below(child, parent)


@FAST
@given(drawn=pairs(), seed=st.integers(0, 99))
def test_mutations_change_only_allowed_genes(drawn: tuple[Lattice, Node, Node], seed: int) -> None:
    lattice, node, _ = drawn
    changed = [b - a for a, b in zip(node, mutation(Random(seed), lattice, node), strict=True)]
    assert sum(map(bool, changed)) <= 1
    horizontal = [b - a for a, b in zip(node, horizontal_mutation(Random(seed), lattice, node), strict=True)]
    assert sum(step > 0 for step in horizontal) <= 1
    assert sum(step < 0 for step in horizontal) <= 1


def test_the_papers_horizontal_mutation_is_among_those_drawn() -> None:
    """22222 between 00000 and 44444: two of five, one raised and one lowered, such as 22302."""
    lattice = Lattice((0,) * 5, (4,) * 5)
    drawn = {horizontal_mutation(Random(seed), lattice, (2,) * 5) for seed in range(3000)}
    assert (2, 2, 3, 0, 2) in drawn
    # 5 * 4 places for the two, 2 * 2 ways to change both, 5 * 2 * 2 to change one, and no change.
    assert len(drawn) == 80 + 20 + 1


def test_between_covers_everything_in_between() -> None:
    rng = Random(0)
    drawn = {between(rng, (0, 1, 2), (1, 1, 4)) for _ in range(400)}
    assert drawn == {(a, 1, c) for a in (0, 1) for c in (2, 3, 4)}


def test_the_tournament_prefers_anonymous_then_fitter_and_the_more_general_of_two_that_fail() -> None:
    best, second = Individual((1,), True, 0.2), Individual((2,), True, 0.1)
    third, worst = Individual((3,), False, 0.05), Individual((0,), False, 0.9)
    rng = Random(0)
    won = [tournament(rng, [worst, second, best, third]) for _ in range(16000)]
    shares = [won.count(one) / 16000 for one in (best, second, third, worst)]
    assert shares == pytest.approx([7 / 16, 5 / 16, 3 / 16, 1 / 16], abs=0.03)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.slow
def test_kgen_breeds_on_a_wide_table(seed: int) -> None:
    """Twenty attributes of six levels, nodes anonymous from nine tenths of the height on: hardly any drawn is."""
    lattice = Lattice((0,) * 20, (5,) * 20)
    costs = Costs(100, 2, ((0.0, 0.2, 0.4, 0.6, 0.8, 1.0),) * 20, ((9, 8, 7, 6, 5, 1),) * 20)
    driver = Driver(lattice, costs, metric("precision"), Threshold(90), 0, seed=seed, evaluations=5000)
    outcome = driver.run(strategy("kgen"))
    assert outcome.found_by == "strategy"
    assert outcome.score < 0.95  # what the cheapest probe of the reduction costs


def test_the_roulette_of_figure_5() -> None:
    population = [Individual((), True, 0.85), Individual((), True, 0.44, 3), Individual((), True, 0.55, 1)]
    assert [one.weight for one in population] == pytest.approx([0.85, 0.308, 0.495])
    assert survival_chances(population) == pytest.approx([0.5142, 0.1863, 0.2995], abs=5e-5)
    assert Individual((), True, 0.5, 12).weight == pytest.approx(0.05)
    assert survival_chances([Individual((), True, 0.0)] * 2) == [0.5, 0.5]


def test_survivors_are_a_generation_older_and_offspring_are_not() -> None:
    parents, offspring = [Individual((0,), True, 0.5, 2)], [Individual((1,), True, 0.7)]
    drawn = [one for seed in range(50) for one in survival(Random(seed), parents, offspring)]
    assert len(drawn) == 50 * POPULATION
    assert {(one.node, one.age) for one in drawn} == {((0,), 3), ((1,), 0)}
    assert drawn.count(Individual((0,), True, 0.5, 3)) / len(drawn) == pytest.approx(0.35 / 1.05, abs=0.03)


def test_kgen_scores_a_generation_in_two_requests() -> None:
    requests = Conversation(SPREAD, strategy("kgen").search, evaluations=1000).requests
    sizes = [len(request.nodes) for request in requests if isinstance(request, Test)]
    assert sizes[2] == POPULATION  # after the reduction's two
    assert len(sizes) < 2 + 1 + 2 * 1000 / (POPULATION / 2) + 1


# Descents


@FAST
@given(problem=problems(bounded=True), seed=st.integers(0, 99), by=BOUNDED, steep=st.booleans())
def test_a_descent_ends_at_a_minimal_node(problem: Problem, seed: int, by: str, steep: bool) -> None:
    assume(keeps_a_row(problem, by))
    ends: list[Node] = []
    start = Random(seed).choice(problem.anonymous_nodes)

    def descend(space: Space) -> Search:
        yield Test([start])
        descent = Descent(space, space.lattice, Random(seed))
        yield from (descent.shrink if steep else descent.drop)(start)
        ends.append(descent.best)

    conversation = Conversation(problem, descend, by)
    assert ends[0] in problem.minimal_nodes
    assert below(ends[0], start)
    # What is scored is the best of the way down, which may end above its end.
    assert problem.scores(conversation.outcome.node)[by] <= problem.scores(ends[0])[by] + 1e-9


@FAST
@given(problem=problems(bounded=True), seed=st.integers(0, 99))
def test_fitted_nodes_are_the_highest_that_can_win(problem: Problem, seed: int) -> None:
    assume(problem.anonymous_nodes)
    rng = Random(seed)
    price = {node: problem.scores(node)["precision"] for node in problem.nodes}
    fitted: list[Node | None] = []
    limits: list[float] = []

    def fit(space: Space) -> Search:
        yield Score([rng.choice(problem.minimal_nodes)])
        yield Test(problem.minimal_nodes)
        yield Score(problem.minimal_nodes[:1])
        descent = Descent(space, space.lattice, rng)
        limits.append(space.best())
        fitted.extend(descent.fitted(rng.choice(problem.nodes)) for _ in range(10))
        fitted.extend(descent.swapped(rng.choice(problem.nodes), 2) for _ in range(10))

    lattice = Conversation(problem, fit).lattice
    for node in fitted:
        if node is None:
            assert min(price.values()) >= limits[0] - 1e-9
        else:
            assert price[node] < limits[0] - 1e-12
            assert all(price[higher] >= limits[0] - 1e-9 for higher in lattice.successors(node))


# Measures

FIGURE_1 = Lattice((0, 0, 0), (3, 4, 1))


def test_the_level_of_generalization() -> None:
    assert FIGURE_1.size == 40
    assert level_of_generalization((1, 0, 0), (3, 4, 1)) == pytest.approx(0.11, abs=5e-3)
    assert level_of_generalization((0, 0, 1), (3, 4, 1)) == pytest.approx(0.33, abs=5e-3)
    assert level_of_generalization((2, 0), (4, 0)) == 0.5
    for lower, higher in pairwise([(0, 0, 0), (0, 1, 0), (2, 1, 0), (3, 4, 1)]):
        assert level_of_generalization(lower, FIGURE_1.top) < level_of_generalization(higher, FIGURE_1.top)
