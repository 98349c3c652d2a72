"""The optima of groups of attributes add up to a lower bound: against brute force on lattices that can be listed."""

import importlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import inf
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon_sql.generalization.lattice import below
from kanon_sql.loss import Costs, Figures, metric, unsuppressed
from kanon_sql.strategies import Driver, Progress, SearchOutcome, strategy, tags
from kanon_sql.strategies.attribute_groups import AttributeGroups
from kanon_sql.strategies.space import Space
from support.answers import answers
from support.examples import examples
from support.oracle import METRICS, Column, Node, Problem, problems
from support.searching import ABC, Run, Table, costs_of, keeps_a_row, lattice_of

certified = importlib.import_module("kanon_sql.strategies.certified")
by_name = st.sampled_from(METRICS)


def space_of(problem: Problem, by: str) -> Space:
    lattice = lattice_of(problem)
    return Space(lattice, tags.tags_for(lattice), costs_of(problem), metric(by), problem.may_suppress, lambda: inf)


def lifted(problem: Problem, group: Sequence[int]) -> list[Node]:
    """The nodes of a problem with all attributes outside a group at their top."""
    top = problem.nodes[-1]
    return [node for node in problem.nodes if all(node[j] == top[j] for j in range(len(top)) if j not in group)]


def split(problem: Problem, draw: Random) -> list[tuple[int, ...]]:
    """Random disjoint groups of the attributes, of which some may be in none."""
    places = [draw.randint(0, 2) for _ in problem.columns]
    groups = [tuple(j for j, place in enumerate(places) if place == which) for which in range(draw.choice((2, 3)))]
    return [group for group in groups if group]


class Counted:
    """Tuples of some attributes, all others at their top, by brute force."""

    def __init__(self, problem: Problem, attributes: Sequence[int]) -> None:
        self.problem, self.attributes = problem, attributes

    def whole(self, node: Node) -> Node:
        levels = dict(zip(self.attributes, node, strict=True))
        return tuple(levels.get(j, top) for j, top in enumerate(self.problem.nodes[-1]))

    def rows_at_risk(self, node: Node) -> int:
        return self.problem.rows_at_risk(self.whole(node))

    def lost(self, node: Node) -> list[float]:
        """What is lost where rows are suppressed, less what is lost where none is, is 1 less what their labels lose."""
        whole, rows = self.whole(node), len(self.problem.rows)
        found, levels = self.problem.column_losses(whole), self.problem.level_losses()
        return [self.rows_at_risk(node) - rows * (found[j] - levels[j][whole[j]]) for j in self.attributes]


def figures(problem: Problem, node: Node, by: str, costs: Costs) -> Figures:
    judge, needs = Table(problem), metric(by)
    if needs.question != "losses":
        return unsuppressed(costs, node)
    return judge.cells(node, costs, needs.needs) if needs.needs_cells else judge.losses(node, costs)


@examples(30)
@given(problem=problems(bounded=True, strays=True), by=by_name, seed=st.integers(0, 999))
def test_the_bound_never_exceeds_the_optimum(problem: Problem, by: str, seed: int) -> None:
    """Whatever part of the groups' nodes is known; by every metric, suppression limit and k."""
    assume(keeps_a_row(problem, by))
    draw, costs, optimum = Random(seed), costs_of(problem), problem.optimum(by)
    groups = AttributeGroups(space_of(problem, by))
    for group in split(problem, draw):
        groups.merged(group)
    for node in draw.sample(problem.nodes, draw.randint(0, len(problem.nodes))):
        groups.tag([node], [problem.anonymous(node)])
        if problem.anonymous(node) and draw.random() < 0.8:
            groups.score(node, figures(problem, node, by, costs))
        assert groups.lower_bound() <= optimum + 1e-9 * max(1, optimum)


@examples(20)
@given(problem=problems(bounded=True), seed=st.integers(0, 999))
def test_optima_of_groups_with_their_suppressed_rows_add_up(problem: Problem, seed: int) -> None:
    """A group's optimum is the least that its own attributes lose, rows counted that it puts at risk alone."""
    assume(problem.anonymous_nodes)
    draw, costs, total = Random(seed), costs_of(problem), 0.0
    groups = AttributeGroups(space_of(problem, "loss"))
    alone = set(range(len(problem.columns)))
    for group in split(problem, draw):
        groups.merged(group)
        alone -= set(group)
        nodes = [node for node in lifted(problem, group) if problem.anonymous(node)]
        total += min(sum(problem.column_losses(node)[j] for j in group) for node in nodes)
    for node in problem.nodes:
        groups.tag([node], [problem.anonymous(node)])
        if problem.anonymous(node):
            groups.score(node, figures(problem, node, "loss", costs))
    total += sum(problem.level_losses()[j][problem.nodes[0][j]] for j in alone)
    assert groups.lower_bound() == pytest.approx(total / len(problem.columns))
    assert total / len(problem.columns) <= problem.optimum("loss") + 1e-9


@examples(20)
@given(problem=problems(bounded=True), by=by_name, name=st.sampled_from(["auto", "certified"]), data=st.data())
def test_a_search_with_groups_stopped_anywhere_has_a_bound(
    problem: Problem, by: str, name: str, data: st.DataObject
) -> None:
    assume(keeps_a_row(problem, by))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tags, "DENSE_LIMIT", 0)
        whole = Run(problem, name, by)
        whole.check()
        assert whole.outcome.proven_optimal
        run = Run(problem, name, by, stop_after=data.draw(st.integers(0, max(0, whole.judge.queries - 1))))
        run.check(ended=run.outcome.ended)


@cache
def crowd(bounded: bool) -> Problem:
    """Few people, many of whom may be suppressed; with `bounded` levels no attribute may be `*`."""
    problem = answers(rows=40, columns=4, k=4, limit=0.3)
    top = tuple(column.height - 1 for column in problem.columns)
    return replace(problem, limit=0.7, top=top, _memo={}) if bounded else problem


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("by", METRICS)
def test_bounds_from_any_groups_never_exceed_the_optimum(by: str, bounded: bool) -> None:
    problem, draw = crowd(bounded), Random(3)
    nodes, costs, optimum = problem.nodes, costs_of(problem), problem.optimum(by)
    for parts, share in (([range(4)], 1), ([range(4)], 0.3), ([(0, 3), (1, 2)], 1), ([(0, 3), (1,)], 0.5)):
        groups = AttributeGroups(space_of(problem, by))
        for part in parts:
            groups.merged(part)
        for step, node in enumerate(draw.sample(nodes, len(nodes))):
            groups.tag([node], [problem.anonymous(node)])
            if problem.anonymous(node) and draw.random() < share:
                groups.score(node, figures(problem, node, by, costs))
            if step % 20 == 0:
                assert groups.lower_bound() <= optimum * (1 + 1e-9)
        assert groups.lower_bound() <= optimum * (1 + 1e-9)
        if share == 1 and len(parts) == 1 and metric(by).of_attributes:
            assert groups.lower_bound() == pytest.approx(optimum)


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("by", METRICS)
def test_rows_suppressed_at_a_node_are_lost_below_it_too(by: str, bounded: bool) -> None:
    problem, raised = crowd(bounded), 0
    costs, scored = costs_of(problem), metric(by)
    plain = scored.parts(costs)
    for node in problem.nodes[::5]:
        parts = scored.parts_below(costs, figures(problem, node, by, costs))
        for lower in filter(lambda other: below(other, node), problem.nodes):
            least = sum(part[level] for part, level in zip(parts, lower, strict=True))
            assert scored.finish(least) <= problem.scores(lower)[by] * (1 + 1e-9)
            raised += least > sum(part[level] for part, level in zip(plain, lower, strict=True)) + 1e-6
    assert bool(raised) == (by in ("loss", "loss_geometric", "ncp", "granularity"))


def stopped(problem: Problem, checks: int, name: str = "certified") -> SearchOutcome:
    """A search that has asked about so many nodes, in a lattice taken for too large to list."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tags, "DENSE_LIMIT", 0)
        run = Driver(lattice_of(problem), costs_of(problem), metric("loss"), Table(problem), problem.may_suppress)

    def stop(progress: Progress) -> None:
        run.time_limit = progress.seconds if progress.nodes_checked >= checks else None

    run.on_progress = stop
    return run.run(strategy(name))


def test_groups_raise_the_bound_where_nearly_all_rows_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = answers(rows=300, columns=10, k=3, limit=0.1)
    assert len(set(problem.rows)) > 290
    helped = stopped(problem, 250)
    monkeypatch.setattr(certified, "_is_hard", lambda _: False)
    alone = stopped(problem, 250)
    assert alone.lower_bound + 0.05 < helped.lower_bound < helped.score


def test_a_group_stays_open_above_a_node_that_was_scored() -> None:
    """The bottom suppresses `b` and `c`, a loss of .4; one level up nothing is suppressed, a loss of .2."""
    problem = Problem([("a",)] * 3 + [("b",), ("c",)], [Column(ABC)], 2, 0.5)
    groups, costs = AttributeGroups(space_of(problem, "loss")), costs_of(problem)
    groups.merged((0,))
    for node, most in (((0,), 0.2), ((1,), 0.2)):
        groups.tag([node], [True])
        groups.score(node, figures(problem, node, "loss", costs))
        assert groups.lower_bound() <= most + 1e-9
    assert groups.lower_bound() == pytest.approx(problem.optimum("loss")) == pytest.approx(0.2)


@examples(20)
@given(problem=problems(bounded=True, strays=True), by=by_name, seed=st.integers(0, 999))
def test_bounds_of_counted_groups_never_exceed_the_optimum(problem: Problem, by: str, seed: int) -> None:
    """At every moment."""
    assume(keeps_a_row(problem, by))
    draw, optimum = Random(seed), problem.optimum(by)
    space = space_of(problem, by)
    space.counted = lambda attributes: Counted(problem, attributes)
    groups = AttributeGroups(space)
    counted = [groups.merged(part) for part in split(problem, draw)]
    waiting = [group for group in counted if group.is_counted]
    assert bool(waiting) <= (by in ("loss", "loss_geometric", "granularity") and problem.may_suppress > 0)
    while waiting:
        group = draw.choice(waiting)
        target = group.target(draw.randint(0, 5))
        if target is None:
            waiting.remove(group)
        else:
            assert group.count(target, draw.randint(1, 4))
        assert groups.lower_bound() <= optimum + 1e-9 * max(1, optimum)


def test_groups_of_a_lattice_too_large_to_count_are_tested_in_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    space = space_of(answers(rows=40, columns=4, k=4, limit=0.3), "loss")
    space.counted = lambda attributes: Counted(crowd(False), attributes)
    for most, counts in ((space.lattice.size, True), (space.lattice.size - 1, False)):
        monkeypatch.setattr("kanon_sql.strategies.attribute_groups._COUNTABLE", most)
        assert AttributeGroups(space).merged((0, 1)).is_counted is counts


@examples(8)
@given(problem=problems(bounded=True), seed=st.integers(0, 999))
def test_a_group_searched_completely_has_its_optimum(problem: Problem, seed: int) -> None:
    assume(problem.anonymous_nodes and problem.may_suppress)
    space, draw = space_of(problem, "loss"), Random(seed)
    space.counted = lambda attributes: Counted(problem, attributes)
    for part in split(problem, draw):
        group = AttributeGroups(space).merged(part)
        while (target := group.target(draw.randint(0, 9))) is not None:
            group.count(target, 3)
        nodes = [node for node in lifted(problem, part) if problem.anonymous(node)]
        least = min(sum(problem.column_losses(node)[j] for j in part) for node in nodes)
        assert group.lower_bound() == pytest.approx(least / len(problem.columns))
