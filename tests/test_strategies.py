"""The published searches one by one: their results, the order of their checks, and their refusals."""

import importlib
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from itertools import combinations, product
from math import inf
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kanon_sql import Observer, anonymize
from kanon_sql.errors import SpecError
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.loss import Costs, metric
from kanon_sql.privacy import k_anonymity
from kanon_sql.strategies import STRATEGIES, Driver, strategy, tags
from kanon_sql.strategies.depth_first import walk
from kanon_sql.strategies.space import Score, Search, Space, Test
from kanon_sql.strategies.turns import _NEAR, in_turns
from support.oracle import METRICS, Column, Node, Problem, identical_problems, problems
from support.searching import (
    ABC,
    FAST,
    IDENTICAL,
    OPTIMAL,
    SPREAD,
    Run,
    Table,
    Threshold,
    checked,
    costs_of,
    keeps_a_row,
    lattice_of,
    metrics,
)

auto = importlib.import_module("kanon_sql.strategies.auto")
incognito = importlib.import_module("kanon_sql.strategies.incognito")
samarati = importlib.import_module("kanon_sql.strategies.samarati")

SETTLE_ALL = ("exhaustive", "depth_first", "flash", "incognito")
MONOTONE_ONLY = ("flash", "ola", "incognito", "samarati", *IDENTICAL)


class Watched(Run):
    """A run that remembers what the strategy asked, in order."""

    def _seen(self, search: Callable[[Space], Search], space: Space) -> Search:
        self.space, self.requested = space, list[Node]()
        return watched(search(space), self.requested)


def watched(search: Search, nodes: list[Node]) -> Search:
    """A search whose questions are noted on their way to the driver."""
    answers = None
    try:
        while True:
            request = search.send(answers)
            if isinstance(request, Test):
                nodes += request.nodes
            answers = yield request
    except StopIteration as end:
        return end.value


def lowest_nodes(problem: Problem) -> list[Node]:
    """The anonymous nodes of least height."""
    least = min(map(sum, problem.anonymous_nodes))
    return [node for node in problem.anonymous_nodes if sum(node) == least]


# What they find


@FAST
@given(problem=problems(bounded=True), by=metrics)
@pytest.mark.parametrize("name", SETTLE_ALL)
def test_every_node_is_settled(name: str, problem: Problem, by: str) -> None:
    assume(keeps_a_row(problem, by))
    run = Run(problem, name, by)
    assert {node for node in problem.nodes if run.status(node)} == set(problem.anonymous_nodes)
    assert all(run.status(node) is not None for node in problem.nodes)


@FAST
@given(problem=identical_problems(bounded=True), by=metrics)
@pytest.mark.parametrize("name", OPTIMAL)
def test_the_optimum_of_identical_hierarchies_is_found_and_proven(name: str, problem: Problem, by: str) -> None:
    run = checked(problem, name, by)
    assert run.is_optimal()
    assert run.outcome.proven_optimal


@FAST
@given(problem=problems(bounded=True), by=metrics, lead=st.sampled_from([0, 5, 700]))
@pytest.mark.parametrize("far", [0, inf])
def test_auto_proves_the_optimum_whichever_search_begins(far: float, problem: Problem, by: str, lead: int) -> None:
    """As it goes about lattices that are too large for brute force."""
    assume(keeps_a_row(problem, by))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_SMALL": 0, "_FAR": far, "_LEAD": lead}.items():
            patch.setattr(auto, name, value)
        run = checked(problem, "auto", by)
    assert run.is_optimal()
    assert run.outcome.proven_optimal


@pytest.mark.parametrize(
    ("nodes", "gain", "first", "tests"),
    [(10**10, 1, "improving", 3), (10**10 + 1, 1, "breeding", 6), (10**10 + 1, 0, "breeding", 3)],
)
def test_which_search_has_a_lead_in_auto(
    nodes: int, gain: int, first: str, tests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`gain`: of every test. `tests`: of both searches for good nodes, before the proof begins."""
    requests: list[str] = []

    def asking(name: str) -> Search:
        while True:
            yield Test([(len(requests),)])
            requests.append(name)

    for name in ("certified", "improving", "breeding"):
        monkeypatch.setattr(auto, name, lambda *_, name=name: asking(name))
    monkeypatch.setattr(auto, "datafly", lambda _: iter(()))
    monkeypatch.setattr(auto, "_LEAD", 3)
    monkeypatch.setattr(importlib.import_module("kanon_sql.strategies.turns"), "_NEAR", 0)
    space: Any = SimpleNamespace(prunes=True, evaluations=None, may_suppress=1, listable=False)
    space.lattice, space.tags = SimpleNamespace(size=nodes), SimpleNamespace(status=lambda _: None)
    space.metric = SimpleNamespace(monotone=lambda _: False)
    space.best = lambda: -gain * len(requests)
    search = auto.auto(space)
    request = next(search)
    while "certified" not in requests:
        request = search.send([False] * len(request.nodes))
    before = requests.index("certified")
    assert requests[:3] == [first] * 3
    assert tests <= before <= tests + 2  # searches that are level ask together


@FAST
@given(problem=problems(bounded=True))
@pytest.mark.parametrize("name", ["incognito", "ola"])
def test_the_minimal_nodes_are_those_of_brute_force(name: str, problem: Problem) -> None:
    """By a metric that spares OLA nothing."""
    assume(keeps_a_row(problem, "discernibility"))
    run = Run(problem, name, "discernibility")
    assert set(run.outcome.minimal) == set(problem.minimal_nodes)


@FAST
@given(problem=problems(bounded=True), by=metrics, at_once=st.sampled_from([1, 2, 1024]))
def test_samarati_finds_the_least_height_and_its_best_node(problem: Problem, by: str, at_once: int) -> None:
    assume(keeps_a_row(problem, by))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samarati, "_AT_ONCE", at_once)
        run = Run(problem, "samarati", by)
    run.check()
    lowest = lowest_nodes(problem)
    best = min(problem.scores(node)[by] for node in lowest)
    if best < inf:
        assert run.outcome.node in lowest
        assert run.outcome.score == pytest.approx(best)
    if by == "height":
        assert run.outcome.proven_optimal


@FAST
@given(problem=identical_problems(bounded=True), by=metrics)
@pytest.mark.parametrize("name", IDENTICAL)
def test_igh_finds_the_lowest_level_and_its_best_node(name: str, problem: Problem, by: str) -> None:
    run = checked(problem, name, by)
    lowest = lowest_nodes(problem)
    best = min(problem.scores(node)[by] for node in lowest)
    if best < inf:
        assert run.outcome.node in lowest
        assert run.outcome.score == pytest.approx(best)
        equals = [node for node in lowest if problem.scores(node)[by] == pytest.approx(best)]
        smallest = min(problem.scores(node)["average_class_size"] for node in equals)
        assert problem.scores(run.outcome.node)["average_class_size"] == smallest
    if by in ("precision", "height"):
        assert run.outcome.proven_optimal
    assert len(run.judge.tested) == len(set(run.judge.tested)) <= len(problem.nodes)


def sweeney_datafly(problem: Problem) -> list[Node]:
    """Datafly as written down: count the distinct values of each column, raise the column that has most."""
    top, path = problem.nodes[-1], [problem.nodes[0]]
    while not problem.anonymous(path[-1]):
        node = list(path[-1])
        columns = zip(*[problem.labels(row, path[-1]) for row in problem.rows], strict=True)
        distinct = [len(set(column)) for column in columns]
        raisable = [j for j, level in enumerate(node) if level < top[j]]
        most = max(distinct[j] for j in raisable)
        node[next(j for j in raisable if distinct[j] == most)] += 1
        path.append(tuple(node))
    return path


@FAST
@given(problem=problems(bounded=True, strays=True), by=metrics)
def test_datafly_walks_the_path_of_sweeney(problem: Problem, by: str) -> None:
    assume(keeps_a_row(problem, by))
    path, top = sweeney_datafly(problem), problem.nodes[-1]
    run = Watched(problem, "datafly", by)
    run.check()
    assert [node for node in run.requested if node != top] == [node for node in path if node != top]
    if problem.scores(path[-1])[by] < inf:
        assert run.outcome.score == pytest.approx(problem.scores(path[-1])[by])


def test_datafly_leaves_an_attribute_at_its_top() -> None:
    """Also one with more distinct values than any other."""
    rows = [(digits, letter) for digits in (0, 3, 5) for letter in "ab" for _ in range(2)]
    problem = Problem(rows, [Column(SCORES), Column(ABC)], 4, top=(0, 2))
    assert Run(problem, "datafly", "loss").outcome.node == (0, 2)


# In which order they ask


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=4), st.integers(0, 4))
def test_a_walk_meets_every_node_once(levels: list[tuple[int, int]], children_first: int) -> None:
    lattice = Lattice(tuple(low for low, _ in levels), tuple(low + more for low, more in levels))
    assert sorted(walk(lattice, children_first)) == list(lattice.nodes())


def test_walks_are_those_of_a_recursive_search() -> None:
    lattice = Lattice((0, 0, 0), (2, 2, 2))
    seen: list[Node] = []

    def visit(node: Node) -> None:
        seen.append(node)
        for above in lattice.successors(node):
            if above not in seen:
                visit(above)

    visit(lattice.bottom)
    assert list(walk(lattice)) == seen
    assert [*map(as_digits, walk(lattice, 1))][:5] == ["222", "221", "220", "210", "212"]
    assert next(walk(lattice, 3)) == (2, 2, 2)


def as_digits(node: Node) -> str:
    return "".join(map(str, node))


SCORES = {i: (i, "0-2" if i < 3 else "3-5", "0-5") for i in range(6)}
TAXI = Problem(
    [tuple(map(int, row)) for row in ("401", "401", "111", "143", "155", "044", "043", "045")], [Column(SCORES)] * 3, 2
)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("extended_igh", "000 222 221 220 212 211 202 121 112 022"),
        ("optimal_igh", "000 222 100 221 200 220 212 211 201 202 121 112 022"),
    ],
)
def test_the_routes_of_igh(name: str, option: str) -> None:
    """The paper's example begins 000, 222, 221, 220, and ends with 022, whose classes are smaller than those of 211."""
    run = Run(TAXI, name, "precision")
    assert [as_digits(node) for node in run.judge.tested] == option.split()
    assert (run.outcome.node, run.outcome.proven_optimal) == ((0, 2, 2), True)


@pytest.mark.parametrize("name", IDENTICAL)
def test_igh_takes_the_node_with_the_smallest_classes_among_equals(name: str) -> None:
    """The columns the other way round, so that the node with three classes comes after the one with two."""
    problem = Problem([row[::-1] for row in TAXI.rows], TAXI.columns, 2)
    assert lowest_nodes(problem) == [(1, 1, 2), (2, 2, 0)]
    for by in ("precision", "height"):
        assert Run(problem, name, by).outcome.node == (2, 2, 0)


@pytest.mark.parametrize("name", ["samarati", *IDENTICAL])
@pytest.mark.parametrize("least", range(13))
def test_the_least_height_wherever_it_is(name: str, least: int) -> None:
    costs = Costs(100, 2, ((0.0, 0.2, 0.5, 1.0),) * 4, ((8, 4, 2, 1),) * 4, ("a", "b", "c", "d"))
    driver = Driver(Lattice((0,) * 4, (3,) * 4), costs, metric("height"), Threshold(least), 0)
    assert driver.run(strategy(name)).score == least


def test_igh_leaves_levels_above_the_lowest_unvisited() -> None:
    """Nothing but the bottom is asked for if that is anonymous."""
    problem = Problem([(0, 0, 0)] * 4, [Column(SCORES)] * 3, 2)
    assert Run(problem, "extended_igh", "loss").judge.tested == [(0, 0, 0)]
    assert Run(problem, "optimal_igh", "loss").judge.tested == [(0, 0, 0)]


@FAST
@given(problem=problems())
def test_incognito_checks_the_nodes_of_the_paper(problem: Problem) -> None:
    assume(keeps_a_row(problem, "height"))
    requests: list[list[Node]] = []

    def counting(space: Space, part: Lattice) -> Search:
        requests.append([])
        return watched(minimal_of(space, part), requests[-1])

    minimal_of = incognito.minimal_of
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incognito, "minimal_of", counting)
        run = Run(problem, "incognito", "height")
    assert [set(questions) for questions in requests] == list(lefevre_incognito(problem))
    assert all(len(questions) == len(set(questions)) for questions in requests)
    assert set(run.judge.tested) <= set().union(*requests)


def lefevre_incognito(problem: Problem) -> Iterator[set[Node]]:
    """The paper's search with its candidates written out: for each subset, the nodes whose frequency set it makes.

    A node of a subset is given with the other attributes at their top.
    """
    anonymous: dict[tuple[int, ...], set[Node]] = {(): {()}}
    for size in range(1, len(problem.columns) + 1):
        for subset in combinations(range(len(problem.columns)), size):
            kept, tested = set(), set()
            levels = product(*(range(problem.heights[j] + 1) for j in subset))
            for node in sorted(levels, key=sum):
                smaller = [(subset[:i] + subset[i + 1 :], node[:i] + node[i + 1 :]) for i in range(size)]
                if any(projection not in anonymous[part] for part, projection in smaller):
                    continue
                below = [(*node[:i], node[i] - 1, *node[i + 1 :]) for i in range(size)]
                if not kept.intersection(below):
                    tested.add(node)
                if kept.intersection(below) or problem.anonymous(embedded(problem, subset, node)):
                    kept.add(node)
            anonymous[subset] = kept
            yield {embedded(problem, subset, node) for node in tested}


def embedded(problem: Problem, subset: Sequence[int], node: Node) -> Node:
    levels = dict(zip(subset, node, strict=True))
    return tuple(levels.get(j, height) for j, height in enumerate(problem.heights))


# Lattices too large to list

LARGE = 20  # attributes of height 3: 10^12 nodes


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name != "best_first"])
@pytest.mark.sampled
def test_no_level_of_a_large_lattice_is_written_out(name: str) -> None:
    losses = ((0.0, 0.2, 0.5, 1.0),) * LARGE
    costs = Costs(100, 2, losses, ((8, 4, 2, 1),) * LARGE, tuple(f"q{j}" for j in range(LARGE)))
    lattice = Lattice((0,) * LARGE, (3,) * LARGE)
    driver = Driver(lattice, costs, metric("loss"), Threshold(40), 10)

    def stopped(space: Space) -> Search:
        search, answers, requests = strategy(name)(space), None, 0
        with suppress(StopIteration):
            while True:
                driver.time_limit = None if requests < 12 else -1.0
                answers, requests = (yield search.send(answers)), requests + 1

    tracemalloc.start()
    try:
        outcome = driver.run(stopped)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sum(outcome.node) >= 40
    assert outcome.ended == ("complete" if name == "random" else "time limit")  # it asks for 1,024 nodes at once
    assert most < 60_000_000  # a level has up to 10^11 nodes


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name != "datafly"])
def test_a_walk_among_known_nodes_can_be_stopped(name: str) -> None:
    """Where the tags answer everything, the clock is still looked at."""
    problem = Problem([("a",)] * 4, [Column(ABC)], 2)

    def search(space: Space) -> Search:
        space.tags.tag(problem.nodes[0], True)
        run.time_limit = -1.0
        yield from strategy(name)(space)

    run = Run(problem, "exhaustive", "loss").driver
    run = Driver(run.lattice, run.costs, run.metric, run.judge, 0)
    assert run.run(search).ended == "time limit"


def test_ola_takes_no_node_without_a_request() -> None:
    """Else it could walk a level of 10^11 nodes that cost too much, and no clock would be looked at.

    Here 0006 is anonymous and costs nothing, so that the other nodes of its level are too dear to be asked for.
    """
    silent: list[Node] = []

    class Spying(Space):
        def at_height(self, part: Lattice, height: int) -> Iterator[Node]:
            for node in super().at_height(part, height):
                silent.append(node)
                yield node

    def ola(space: Space) -> Search:
        given = {field.name: getattr(space, field.name) for field in fields(Space)}
        search, answers = strategy("ola")(Spying(**given)), None
        with suppress(StopIteration):
            while True:
                request = search.send(answers)
                assert len(silent) <= 1
                silent.clear()
                answers = yield request

    costs = Costs(100, 2, (*[(0.0, 0.5, 1.0)] * 3, (0.0,) * 7), (*[(4, 2, 1)] * 3, (1,) * 7))
    outcome = Driver(Lattice((0, 0, 0, 0), (2, 2, 2, 6)), costs, metric("loss"), Threshold(6), 1).run(ola)
    assert outcome.node == (0, 0, 0, 6)


# What they refuse


def test_strategies_that_need_a_monotone_model() -> None:
    assert {name for name, item in STRATEGIES.items() if item.monotone_only} >= set(MONOTONE_ONLY)


@pytest.mark.parametrize("name", MONOTONE_ONLY)
def test_a_model_that_is_not_monotone_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    message = f"^{name} needs a monotone privacy model.*; use auto or best_first or certified$"
    with pytest.raises(SpecError, match=message):
        Run(Problem([("a",)] * 4, [Column(ABC)], 2), name, "loss", monotone_model=False)
    monkeypatch.setattr("kanon_sql.plan.problem.build_frequency_set", None)  # before the data is looked at
    people = pandas.DataFrame({"zip": ["12", "13"]})
    spec = {"quasi_identifiers": {"zip": {"hierarchy": "suppress"}}}
    with pytest.raises(SpecError, match=message):
        anonymize(people, spec, privacy=[replace(k_anonymity(2), monotone="never")], strategy=name)


def test_auto_searches_a_large_lattice_without_a_monotone_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tags, "DENSE_LIMIT", 0)
    run = Run(Problem([("a",)] * 3 + [("b",), ("c",)], [Column(ABC)], 2), "auto", "loss", monotone_model=False)
    assert run.outcome.node == (1,)


@pytest.mark.parametrize("name", IDENTICAL)
def test_igh_refuses_hierarchies_that_differ(name: str) -> None:
    people = pandas.DataFrame({"first": [1, 2, 3, 4], "second": [1, 2, 3, 4], "third": [1, 2, 3, 4]})
    same, other = {"hierarchy": {"ranges": [2, 4]}}, {"hierarchy": {"ranges": [2]}}
    spec = {"quasi_identifiers": {"first": same, "second": same, "third": other}}
    stages: list[str] = []
    with pytest.raises(
        SpecError, match=f"^{name} needs the same hierarchy for all .*'third' differs from 'first'; make"
    ):
        anonymize(people, spec, k=2, strategy=name, observer=Observer(stage=stages.append))
    assert stages == ["Counting the distinct tuples"]  # by which the labels of a recipe are known
    spec["quasi_identifiers"]["third"] = same
    assert anonymize(people, spec, k=2, strategy=name, metric="precision").manifest["proven_optimal"]
    for bound in ({"min_level": 1}, {"max_level": 1}):
        spec["quasi_identifiers"]["second"] = same | bound
        with pytest.raises(SpecError, match=r"the same min_level and max_level .*'second' differs from 'first'"):
            anonymize(people, spec, k=2, strategy=name)


SAME, HIGHER = [["1", "a"], ["2", "b"]], [["1", "a", "*"], ["2", "b", "*"], ["3", "b", "*"]]
FILES = {
    "a label": ([["1", "b"], ["2", "b"]], {}, "hierarchy"),
    "the height": ([["1", "a", "x", "*"], ["2", "b", "y", "*"]], {}, "hierarchy"),
    "the lowest level": (SAME, {"min_level": 1}, "min_level and max_level"),
    "the highest level": (SAME, {"max_level": 1}, "min_level and max_level"),
}


@pytest.mark.parametrize("case", FILES)
@pytest.mark.parametrize("name", IDENTICAL)
def test_igh_refuses_files_that_differ_before_it_counts(name: str, case: str, tmp_path: Path) -> None:
    lines, bounds, what = FILES[case]
    for column, written in {"first": SAME, "second": HIGHER, "third": lines}.items():
        (tmp_path / f"{column}.csv").write_text("".join(";".join(line) + "\n" for line in written), encoding="utf-8")
    people = pandas.DataFrame({column: [1, 2, 1, 2] for column in ("first", "second", "third")})
    spec: dict[str, Any] = {"quasi_identifiers": {"first": {}, "second": {}, "third": bounds}}
    options: dict[str, Any] = {"hierarchies": tmp_path, "strategy": name, "k": 2}
    stages: list[str] = []
    with pytest.raises(SpecError, match=f"^{name} needs the same {what} for all .*'third' differs from 'first'; make"):
        anonymize(people, spec, observer=Observer(stage=stages.append), **options)
    assert stages == []
    (tmp_path / "third.csv").write_text("9;z;*\n2;b;*\n1;a;*\n", encoding="utf-8")  # one hierarchy, another part of it
    spec["quasi_identifiers"]["third"] = {}
    assert anonymize(people, spec, metric="precision", **options).manifest["proven_optimal"]


# Their descriptions


def test_every_strategy_is_in_the_table_of_the_documentation() -> None:
    text = (Path(__file__).parent.parent / "docs" / "search.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    for name in STRATEGIES:
        assert any(row.strip().startswith(f"`{name}`") for row in rows), f"{name} has no row in docs/search.md"
    assert set(METRICS) <= {row.strip().strip("`").split("`")[0] for row in rows}


# Side by side


def test_searches_in_turns_share_the_tests_and_end_with_the_first() -> None:
    problem = replace(SPREAD, limit=0.0, _memo={})
    options: dict[str, int] = {"first": 0, "second": 0}

    def asking(name: str, nodes: list[Node], at_once: int) -> Search:
        for start in range(0, len(nodes), at_once):
            chunk = nodes[start : start + at_once]
            options[name] += sum(space_of[0].tags.status(node) is None for node in chunk)
            yield Test(chunk)
        yield Score([problem.nodes[-1]])

    space_of: list[Space] = []

    def both(space: Space) -> Search:
        space_of.append(space)
        bottoms, tops = problem.nodes[:24], problem.nodes[:23:-1]
        yield from in_turns(space, asking("first", tops, 1), asking("second", bottoms, 4), start=8)

    outcome = Driver(lattice_of(problem), costs_of(problem), metric("height"), Table(problem), 0).run(both)
    assert outcome.ended == "complete"
    assert 0 < options["second"] <= options["first"] + 4 - 8 + _NEAR
