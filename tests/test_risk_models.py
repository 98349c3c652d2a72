"""Models about all classes of a release: their value by the sizes of classes, and node by node, by brute force."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import floor, inf
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SpecError
from kanon_sql.frequency import rollups as rollup
from kanon_sql.frequency.judge import Judge
from kanon_sql.loss import metric
from kanon_sql.privacy import (
    PrivacyModels,
    all_of,
    estimated_uniqueness,
    k_anonymity,
    population_uniqueness,
    prosecutor_risk,
)
from kanon_sql.privacy.risk_models import least_size
from kanon_sql.strategies import STRATEGIES, strategy, tags
from support.counting import counted
from support.examples import examples, few
from support.oracle import Column, Node, Problem, problems
from support.risk import alike, histogram
from support.searching import assert_finds

EXAMPLES = examples(40)
SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=12)
SHARES = [Fraction(n, d) for n, d in [(1, 10), (1, 5), (1, 4), (3, 10), (1, 3), (2, 5), (1, 2), (3, 4)]]


# The oracle: fractions of class sizes


class Mean:
    def __init__(self, mean: Fraction) -> None:
        self.mean = mean
        (self.model,) = prosecutor_risk(mean=float(mean))

    def holds(self, sizes: Sequence[int]) -> bool:
        return not sizes or Fraction(len(sizes), sum(sizes)) <= self.mean


class Above:
    def __init__(self, threshold: Fraction, share: Fraction) -> None:
        self.threshold, self.share = threshold, share
        (self.model,) = prosecutor_risk(above=float(threshold), share=float(share))

    def holds(self, sizes: Sequence[int]) -> bool:
        above = sum(size for size in sizes if Fraction(1, size) > self.threshold)
        return not sizes or Fraction(above, sum(sizes)) <= self.share


class Unique:
    def __init__(self, share: Fraction, estimator: Any, fraction: float) -> None:
        self.share, self.estimator, self.fraction = share, estimator, fraction
        self.model = population_uniqueness(float(share), fraction, estimator)

    def holds(self, sizes: Sequence[int]) -> bool:
        return not sizes or estimated_uniqueness(histogram(sizes), self.fraction, self.estimator) <= self.share


RiskModel = Mean | Above | Unique
means = st.sampled_from(SHARES).map(Mean)
aboves = st.builds(Above, st.sampled_from(SHARES), st.sampled_from([Fraction(0), *SHARES[:5]]))
uniques = st.builds(
    Unique,
    st.sampled_from(SHARES),
    st.sampled_from(["dankar", "zayatz", "pitman", "snb"]),
    st.sampled_from([0.05, 0.4]),
)
risk_models = st.one_of(means, aboves, uniques)


def least_of(every: Sequence[RiskModel], sizes: Sequence[int]) -> float:
    """The least size such that the classes of that size or more meet all: all sizes are tried."""
    for least in [1, *sorted({size + 1 for size in sizes})]:
        if all(item.holds([size for size in sizes if size >= least]) for item in every):
            return least
    return inf


# Figures and conclusions


@EXAMPLES
@given(risk_model=risk_models, sizes=SIZES)
def test_a_model_is_its_formula(risk_model: RiskModel, sizes: list[int]) -> None:
    classes = histogram(sizes)
    assert risk_model.model.holds(classes) == risk_model.holds(sizes)
    least = risk_model.model.least_class_size(classes)
    wanted = least_of([risk_model], sizes)
    assert [size for size in sizes if size >= least] == [size for size in sizes if size >= wanted]


@EXAMPLES
@given(risk_model=risk_models, sizes=SIZES)
def test_large_enough_classes_always_satisfy_it(risk_model: RiskModel, sizes: list[int]) -> None:
    enough = risk_model.model.sufficient_size
    assert risk_model.holds([size + enough - 1 for size in sizes])
    if isinstance(risk_model, Mean):
        assert enough == 1 or not risk_model.holds([enough - 1])


@pytest.mark.parametrize("risk", SHARES)
def test_the_least_size_is_the_first_whose_risk_is_low_enough(risk: Fraction) -> None:
    size = least_size(float(risk))
    assert Fraction(1, size) <= risk
    assert size == 1 or Fraction(1, size - 1) > risk


@EXAMPLES
@given(risk_model=st.one_of(means, aboves), sizes=st.lists(st.integers(1, 9), min_size=2, max_size=12))
def test_merging_classes_is_safe_without_suppression(risk_model: RiskModel, sizes: list[int]) -> None:
    assert risk_model.model.monotone == "without suppression"
    merged = [sizes[0] + sizes[1], *sizes[2:]]
    assert not risk_model.holds(sizes) or risk_model.holds(merged)


@EXAMPLES
@given(
    risk_model=st.one_of(means, aboves),
    classes=st.lists(st.lists(st.integers(1, 6), min_size=1, max_size=4), min_size=1),
)
@example(risk_model=Mean(Fraction(1, 3)), classes=[[1, 1], [2], [4]])
def test_unavoidable_rows_are_suppressed_at_the_node_and_below(risk_model: RiskModel, classes: list[list[int]]) -> None:
    above, below = [sum(parts) for parts in classes], [size for parts in classes for size in parts]
    assert risk_model.model.unavoidable is not None
    unavoidable = risk_model.model.unavoidable(histogram(above))
    for sizes in (above, below):
        assert unavoidable <= sum(size for size in sizes if size < least_of([risk_model], sizes))
    fewest = min(
        sum(sizes) - sum(kept)
        for sizes in [below[:9]]
        for number in range(len(sizes) + 1)
        for kept in combinations(sizes, number)
        if risk_model.holds(kept)
    )
    assert risk_model.model.unavoidable(histogram(below[:9])) <= fewest


@pytest.mark.parametrize(
    ("risk_model", "before", "after", "suppressed"),
    [
        (Mean(Fraction(1, 3)), [1, 1, 2, 4], [2, 2, 4], (2, 4)),
        (Mean(Fraction(2, 5)), [1, 1, 2, 3], [2, 2, 3], (2, 4)),
        (Above(Fraction(3, 10), Fraction(1, 5)), [1, 2, 4, 4], [3, 4, 4], (1, 3)),
    ],
)
def test_merging_classes_can_suppress_more_rows(
    risk_model: RiskModel, before: list[int], after: list[int], suppressed: tuple[int, int]
) -> None:
    rows = tuple(sum(size for size in sizes if size < least_of([risk_model], sizes)) for sizes in (before, after))
    assert rows == suppressed
    assert risk_model.model.monotone != "always"


# The judge and every search, node by node


@st.composite
def judged(draw: st.DrawFn, **options: Any) -> tuple[Problem, PrivacyModels, list[RiskModel]]:
    problem = draw(problems(**options))
    every = draw(st.lists(risk_models, min_size=1, max_size=2))
    k = [k_anonymity(problem.k)] if problem.k > 1 else []
    return problem, all_of(*k, *(item.model for item in every)), every


def released(problem: Problem, every: Sequence[RiskModel], node: Node) -> dict[Any, int]:
    """The classes of a node that are released: those of k rows, without the smallest until all models hold."""
    classes = problem.released(node)
    least = least_of(every, list(classes.values()))
    return {labels: size for labels, size in classes.items() if size >= least}


def assert_judged(judge: Judge, problem: Problem, every: Sequence[RiskModel]) -> None:
    costs, rows = judge.costs(), len(problem.rows)
    nodes = problem.nodes[:: 1 + len(problem.nodes) // 12]
    at_risk = [rows - sum(released(problem, every, node).values()) for node in nodes]
    assert judge.rows_at_risk(nodes) == at_risk
    for node, suppressed in list(zip(nodes, at_risk, strict=True))[:: 1 + len(nodes) // 4]:
        sizes = list(released(problem, every, node).values())
        for item in (judge, judge.settled(node)):
            figures, losses = item.classes(node), item.losses(node, costs)
            assert (figures.classes, figures.released_rows) == (len(sizes), sum(sizes))
            assert figures.smallest_class == min(sizes, default=None)
            assert item.rows_at_risk([node]) == [losses.rows_at_risk] == [suppressed]
            assert metric("loss").score(costs, losses) == pytest.approx(loss(problem, every, node))
            least = judge.model.least_class_size(alike(list(problem.released(node).values())))
            large = suppressed >= max(problem.k, least.size)
            assert item.may_mask(node, suppressed) == (large and all(one.holds([*sizes, suppressed]) for one in every))


def loss(problem: Problem, every: Sequence[RiskModel], node: Node) -> float:
    """The mean loss over all rows and columns, a suppressed row counting 1."""
    kept = released(problem, every, node)
    losses = [
        float(column.loss(value, level)) if problem.labels(row, node) in kept else 1.0
        for row in problem.rows
        for column, value, level in zip(problem.columns, row, node, strict=True)
    ]
    return sum(losses) / len(losses)


@settings(EXAMPLES, max_examples=few(15))
@given(drawn=judged(), embedded=st.booleans())
@pytest.mark.slow
def test_every_node_is_judged_like_brute_force(
    engine: Engine, drawn: tuple[Problem, PrivacyModels, list[RiskModel]], embedded: bool
) -> None:
    problem, model, every = drawn
    frequency_set = counted(engine, problem, search_in=DuckDB() if embedded else engine)
    assert_judged(Judge(frequency_set, model), problem, every)


@pytest.mark.parametrize("risk_model", [Mean(Fraction(1, 10)), Above(Fraction(1, 5), Fraction(1, 20))])
def test_one_node_and_several_are_judged_the_same_where_classes_have_many_sizes(
    engine: Engine, risk_model: RiskModel
) -> None:
    draw = Random(1)
    levels = {value: (value, f"{value // 4}'", f"{value // 16}''", "*") for value in range(64)}
    rows = [tuple(min(63, int(draw.expovariate(0.1))) for _ in range(2)) for _ in range(4_000)]
    problem = Problem(rows, [Column(levels)] * 2, 1)
    judge = Judge(counted(engine, problem), all_of(risk_model.model))
    least = [least_of([risk_model], list(problem.classes(node).values())) for node in problem.nodes]
    at_risk = [
        sum(size for size in problem.classes(node).values() if size < k)
        for node, k in zip(problem.nodes, least, strict=True)
    ]
    assert len({size for node in problem.nodes for size in problem.classes(node).values()}) > 100
    assert judge.rows_at_risk(problem.nodes) == at_risk
    assert [judge.rows_at_risk([node])[0] for node in problem.nodes] == at_risk


@settings(EXAMPLES, max_examples=few(10))
@given(drawn=judged(fewest_columns=4))
@pytest.mark.slow
def test_roll_ups_keep_the_sizes(drawn: tuple[Problem, PrivacyModels, list[RiskModel]]) -> None:
    problem, model, every = drawn
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_WORTH_ROWS": 0, "_WORTH_TESTS": 1, "_WORTH_KEEPING": 9, "_MOST_KEPT": 99}.items():
            patch.setattr(rollup, name, value)
        assert_judged(Judge(counted(DuckDB(), problem), model), problem, every)


@pytest.mark.parametrize("name", [name for name in STRATEGIES if "igh" not in name])
@pytest.mark.parametrize("suppresses", [False, True])
@settings(EXAMPLES, max_examples=few(6))
@given(drawn=judged(), dense=st.booleans())
@pytest.mark.sampled
def test_every_search_finds_what_brute_force_finds(
    name: str, suppresses: bool, drawn: tuple[Problem, PrivacyModels, list[RiskModel]], dense: bool
) -> None:
    """Whatever a search claims is so, also in a lattice that is not listed."""
    problem, model, every = drawn
    allowed = floor(0.3 * len(problem.rows)) if suppresses else 0
    monotone = model.monotone_for(suppresses=allowed > 0)
    if not monotone and STRATEGIES[name].monotone_only:
        with pytest.raises(SpecError, match="monotone"):
            strategy(name).check(monotone)
        return
    losses = {
        node: loss(problem, every, node)
        for node in problem.nodes
        if len(problem.rows) - sum(released(problem, every, node).values()) <= allowed
    }
    listed = dense or name == "best_first"  # which lists all nodes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tags, "DENSE_LIMIT", tags.DENSE_LIMIT if listed else 0)
        assert_finds(name, problem, Judge(counted(DuckDB(), problem), model), allowed, losses, proves=listed)


@example(sizes=[1, 1, 2, 4])
@given(sizes=SIZES)
@EXAMPLES
def test_a_model_that_k_implies_needs_no_look_at_all_classes(sizes: list[int]) -> None:
    model = all_of(k_anonymity(4), *prosecutor_risk(mean=0.25))
    assert model.undecided == ()
    assert model.k_alone
    assert model.monotone_for(suppresses=True)
    assert model.least_class_size(alike([size + 3 for size in sizes])).size == 1
