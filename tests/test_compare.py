"""Strategies side by side: the same results as separately, and conclusions from all of them together."""

import json
import random
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import duckdb
import numpy
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import Comparison, anonymize, compare
from kanon_sql.errors import InfeasibleError, KanonError, SpecError
from kanon_sql.frequency import rollups as rollup
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.plan import problem
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import settle_spec
from kanon_sql.strategies import STRATEGIES, Strategy, accuracy, levels, tags
from kanon_sql.strategies.space import Score, Search, Space, Test
from kanon_sql.verbs.compare import losses_by_k
from support.oracle import Column, Node, Problem, problems
from support.searching import DIGITS, FAST, Run, keeps_a_row

_random = random.Random(3)
NAMES = ["one", "two", "three"]
ROWS = [tuple(f"{_random.randrange(8):03b}" for _ in NAMES) for _ in range(150)]
PROBLEM = Problem(ROWS, [Column(DIGITS)] * 3, 3, 0.1)
PEOPLE = pandas.DataFrame(ROWS, columns=NAMES)
SPEC: dict[str, Any] = {
    "quasi_identifiers": {name: {"hierarchy": {"redact": "right"}} for name in NAMES},
    "privacy": {"k": PROBLEM.k},
    "suppression_limit": PROBLEM.limit,
}
WIDER = PEOPLE.assign(four=[row[0][:2] for row in ROWS])
WIDER_SPEC = {**SPEC, "quasi_identifiers": {**SPEC["quasi_identifiers"], "four": {"hierarchy": "suppress"}}}
ALONE = ("score", "node", "nodes_checked", "lower_bound", "gap", "proven_optimal", "loss_per_attribute")


def register(monkeypatch: pytest.MonkeyPatch, name: str, search: Callable[[Space], Search]) -> None:
    monkeypatch.setitem(STRATEGIES, name, Strategy(name, search, "nothing"))


def lazy(space: Space) -> Search:
    """Look at the top alone."""
    yield Test([space.lattice.top])
    yield Score([space.lattice.top])


def never(space: Space) -> Search:
    """Refuse any lattice, as a strategy does that needs one of another kind."""
    if space.lattice.size:
        raise SpecError("never needs a lattice without nodes")
    yield Test([])


# Each search as if it ran alone


@pytest.mark.parametrize(("rolled_up", "metric"), [(False, "precision"), (True, "discernibility")])
@pytest.mark.slow
@pytest.mark.sampled
def test_every_search_counts_its_own(monkeypatch: pytest.MonkeyPatch, rolled_up: bool, metric: str) -> None:
    """With roll-ups too: what one search made would save the next one its queries."""
    people, spec = (WIDER, WIDER_SPEC) if rolled_up else (PEOPLE, SPEC)
    if rolled_up:
        monkeypatch.setattr(rollup, "_WORTH_ROWS", 0)
    together = compare(people, spec, strategies=STRATEGIES, metric=metric, seed=5, evaluations=200)
    assert [search.strategy for search in together.searches] == list(STRATEGIES)
    for search in together.searches:
        if search.refused is not None:
            with pytest.raises(KanonError, match="^" + search.refused[:20]):
                anonymize(people, spec, metric=metric, strategy=search.strategy, seed=5, evaluations=200)
            continue
        manifest = anonymize(
            people, spec, metric=metric, strategy=search.strategy, seed=5, evaluations=200, time_limit=60.0
        ).manifest
        assert {name: getattr(search, name) for name in ALONE} == {name: manifest[name] for name in ALONE}
        assert search.queries == manifest["queries"] - 1, "what the levels cost is asked once for all"
        assert (search.ended, search.promise) == (manifest["search_ended"], STRATEGIES[search.strategy].promise)
        assert search.suppressed_rows == manifest["suppressed_rows"]
        assert search.los == manifest["suppressed_rows"] / manifest["rows"]
        assert search.log == pytest.approx(manifest["information_loss"]["precision"])


@pytest.mark.slow
def test_the_frequency_set_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    build = problem.build_frequency_set
    monkeypatch.setattr(problem, "build_frequency_set", lambda *a, **k: counted.append(1) or build(*a, **k))
    compare(PEOPLE, SPEC, strategies=["ola", "exhaustive", "best_first"])
    assert len(counted) == 1


@pytest.mark.slow
@pytest.mark.nightly
def test_by_default_all_candidates_of_auto_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "never", never)
    comparison = compare(PEOPLE, SPEC, time_limit=5.0, evaluations=50)
    assert [search.strategy for search in comparison.searches] == [name for name in STRATEGIES if name != "auto"]
    assert (comparison.time_limit, comparison.evaluations) == (5.0, 50)
    assert compare(PEOPLE, SPEC, strategies=["ola", "ola"]).time_limit == 60


def test_a_comparison_leaves_nothing_in_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rollup, "_WORTH_ROWS", 0)
    monkeypatch.setattr(rollup, "_WORTH_TESTS", 1)
    created = []
    make = rollup.Rollups._create
    monkeypatch.setattr(rollup.Rollups, "_create", lambda self, *levels: created.append(levels) or make(self, *levels))
    with duckdb.connect() as connection:
        connection.register("people_frame", WIDER)
        connection.execute("CREATE TABLE people AS FROM people_frame")
        connection.unregister("people_frame")
        compare("people", WIDER_SPEC, connection=connection, strategies=["ola", "exhaustive"])
        assert created, "roll-ups too"
        listed = connection.execute("SELECT table_name FROM duckdb_tables() UNION ALL FROM (VALUES ('end'))").fetchall()
        assert listed == [("people",), ("end",)]


# Local recodings and several k

MANY: dict[str, Any] = {"strategies": ["exhaustive", "mondrian"], "k": [9, 3]}
MADE = ("classes", "smallest_class", "suppressed_rows", "loss_per_attribute")


@pytest.mark.slow
@pytest.mark.nightly
def test_local_recodings_and_sizes_are_those_that_anonymize_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    build = problem.build_frequency_set
    monkeypatch.setattr(problem, "build_frequency_set", lambda *a, **k: counted.append(1) or build(*a, **k))
    together = compare(PEOPLE, SPEC, **MANY)
    assert len(counted) == 1
    every = [(name, k) for k in (3, 9) for name in MANY["strategies"]]
    assert [(search.strategy, search.k) for search in together.searches] == every
    for search in together.searches:
        alone = anonymize(PEOPLE, SPEC, strategy=search.strategy, k=search.k)
        manifest = alone.manifest
        assert {name: getattr(search, name) for name in MADE} == {name: manifest[name] for name in MADE}
        lost = dict(manifest["information_loss"])
        assert (search.score, search.node) == (manifest["score"], manifest["node"])
        if search.node is None:
            lost["divergence"] = None  # of local recodings it is not worked out here
        assert search.information_loss == pytest.approx({name: lost[name] for name in search.information_loss})
        sizes = alone.to_df().groupby(NAMES, dropna=False).size()
        assert search.risk_highest == pytest.approx(1 / sizes.min())
        assert search.risk_mean == pytest.approx(sum(size * (1 / size) for size in sizes) / sizes.sum())


@pytest.mark.parametrize("show", [None, "ranges"])
def test_all_strategies_show_their_classes_in_the_same_form(show: str | None) -> None:
    numbers = random.Random(5)
    people = pandas.DataFrame(
        [(numbers.randrange(90), numbers.randrange(2)) for _ in range(80)], columns=["age", "sex"]
    )
    recipes = {"age": {"hierarchy": {"ranges": [5, 20, 40]}}, "sex": {"hierarchy": "suppress"}}
    spec: dict[str, Any] = {"quasi_identifiers": recipes}
    for search in compare(people, spec, strategies=["exhaustive", "mondrian"], k=4, show=show).searches:
        shown = show or ("common" if search.strategy == "mondrian" else None)
        alone = anonymize(people, spec, strategy=search.strategy, k=4, show=shown).manifest
        lost = {**alone["information_loss"], "divergence": search.information_loss["divergence"]}
        assert search.information_loss == pytest.approx({name: lost[name] for name in search.information_loss})


def test_every_k_has_a_separate_optimum() -> None:
    together = compare(PEOPLE, SPEC, strategies=["exhaustive"], k=MANY["k"])
    for proven in together.by_k:
        alone = compare(PEOPLE, SPEC, k=proven.k, strategies=["exhaustive"])
        assert (proven.proven_score, proven.lower_bound) == (alone.proven_score, alone.lower_bound)
        assert (proven.minimal_nodes, proven.minimal_nodes_complete) == (alone.minimal_nodes, True)
    first = together.by_k[0]
    assert (together.k, together.proven_score, together.minimal_nodes) == (3, first.proven_score, first.minimal_nodes)
    assert [list(proven.values()) for proven in json.loads(json.dumps(together.to_dict()))["by_k"]] == [
        list(vars(proven).values()) for proven in together.by_k
    ]


def test_strategies_with_the_same_release_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "lazy", lazy)
    same = compare(PEOPLE, SPEC, strategies=["exhaustive", "ola", "lazy"], k=[3, 4], metric="height")
    repeated = _repeated(same)
    assert {(search.strategy, search.k): search.same_as for search in same.searches if search.same_as} == repeated
    assert repeated[("lazy", 4)] == ("lazy", 3), "the top is the same for every k"


def _repeated(compared: Comparison) -> dict[tuple[str, int], tuple[str, int]]:
    """Which searches release the same rows as one before them."""
    seen: dict[str, tuple[str, int]] = {}
    for search in compared.searches:
        seen.setdefault(_released(search), (search.strategy, search.k))
    firsts = {(search.strategy, search.k): seen[_released(search)] for search in compared.searches}
    return {run: first for run, first in firsts.items() if first != run}


def _released(search: Any) -> str:
    node, problem = tuple(search.node.values()), Problem(ROWS, PROBLEM.columns, search.k, PROBLEM.limit)
    released = problem.released(node)
    return str([problem.labels(row, node) if problem.labels(row, node) in released else None for row in ROWS])


def test_a_local_recoding_to_the_classes_of_a_node_equals_its_release() -> None:
    """Four values of two columns each: what Mondrian cuts are the classes of the only node but the top."""
    rows = [(f"{i % 2}{j}", "x") for i in range(2) for j in range(2) for _ in range(3)]
    people = pandas.DataFrame(rows, columns=["zip", "other"])
    recipes = {"zip": {"hierarchy": {"redact": "right"}}, "other": {"hierarchy": "suppress"}}
    compared = compare(people, {"quasi_identifiers": recipes}, strategies=["exhaustive", "mondrian"], k=[3, 6])
    assert [search.same_as for search in compared.searches] == [None, ("exhaustive", 3), None, ("exhaustive", 6)]


def test_a_local_recoding_alone_proves_nothing_and_can_be_refused() -> None:
    compared = compare(PEOPLE, SPEC, strategies=["mondrian"])
    assert (compared.proven_score, compared.lower_bound, compared.minimal_nodes) == (None, 0.0, 0)
    levels = {name: {"hierarchy": {"redact": "right"}, "max_level": 2} for name in NAMES}
    bounded: dict[str, Any] = {"quasi_identifiers": levels, "suppression_limit": 0.5}
    kaca, ola = compare(PEOPLE, bounded, strategies=["kaca", "ola"], k=3).searches
    assert kaca.refused == "kaca has no levels, so min_level and max_level of 'one' do not apply; leave them out"
    assert ola.refused is None


@pytest.mark.parametrize("k", [[], "5", [3, "x"], [2.5]])
def test_sizes_are_whole_numbers(k: Any) -> None:
    with pytest.raises(SpecError, match="k"):
        compare(PEOPLE, SPEC, strategies=["ola"], k=k)


# Those that cannot


def test_a_strategy_that_refuses_gives_the_reason_and_the_others_continue(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "never", never)
    comparison = compare(PEOPLE, SPEC, strategies=["never", "ola"])
    refused, searched = comparison.searches
    assert (refused.refused, refused.promise) == ("never needs a lattice without nodes", "nothing")
    assert {value for name, value in vars(refused).items() if name not in ("strategy", "promise", "refused", "k")} == {
        None
    }
    assert searched.refused is None
    assert searched.node == dict(zip(NAMES, Run(PROBLEM, "ola", "loss").outcome.node, strict=True))
    with pytest.raises(SpecError, match="never needs a lattice"):
        compare(PEOPLE, SPEC, strategies=["never"])


def test_a_spec_that_no_strategy_can_meet_is_an_error() -> None:
    bounded = {name: {"hierarchy": {"redact": "right"}, "max_level": 0} for name in NAMES}
    with pytest.raises(InfeasibleError, match="no node of the lattice meets"):
        compare(PEOPLE, {"quasi_identifiers": bounded}, k=20, strategies=["ola", "exhaustive"])


@pytest.mark.parametrize(
    ("strategies", "message"),
    [
        (["ola", "magic"], "'magic' is not a strategy; choose one of auto"),
        ([], "no strategy is named; choose one or more of auto"),
        ("ola", r"strategies is a list of names, not 'ola'"),
    ],
)
def test_strategy_names_are_checked_before_the_data(strategies: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        compare("nowhere.csv", {"quasi_identifiers": ["a"]}, strategies=strategies)


def test_best_first_refuses_what_cannot_be_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tags, "DENSE_LIMIT", 0)
    best_first, ola = compare(PEOPLE, SPEC, strategies=["best_first", "ola"]).searches
    assert best_first.refused == "best_first has to list all nodes, and 6.4e+01 are too many; choose auto"
    assert (ola.ended, ola.nodes_tagged) == ("complete", None)


def test_without_time_nothing_is_proven() -> None:
    comparison = compare(PEOPLE, SPEC, strategies=["ola", "exhaustive"], time_limit=0.0)
    assert comparison.proven_score is None
    for search in comparison.searches:
        assert (search.ended, search.proven_optimal, search.equals_best_proven) == ("time limit", False, None)
        assert search.accuracy is None
        assert search.lower_bound <= PROBLEM.optimum("loss") < search.score


# What only all of them together tell


def test_one_search_proves_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "lazy", lazy)
    comparison = compare(PEOPLE, SPEC, strategies=["lazy", "exhaustive"])
    top, optimum = comparison.searches
    assert (top.proven_optimal, top.equals_best_proven) == (False, False)
    assert (optimum.proven_optimal, optimum.equals_best_proven) == (True, True)
    assert comparison.proven_score == comparison.lower_bound == pytest.approx(PROBLEM.optimum("loss"))
    assert (comparison.minimal_nodes, comparison.minimal_nodes_complete) == (len(PROBLEM.minimal_nodes), True)
    assert optimum.accuracy == 1
    assert top.accuracy == 0, "the top is as far from every minimal node as can be"
    alone = compare(PEOPLE, SPEC, strategies=["lazy"])
    assert (alone.searches[0].equals_best_proven, alone.proven_score) == (None, None)
    assert not alone.minimal_nodes_complete


def test_a_comparison_is_plain_json(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, "never", never)
    comparison = compare(PEOPLE, SPEC, strategies=["never", "ola"])
    plain = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert isinstance(comparison, Comparison)
    assert set(plain) == set(vars(comparison))
    assert [set(search) for search in plain["searches"]] == [set(vars(search)) for search in comparison.searches]
    assert plain["searches"][1]["node"] == comparison.searches[1].node


# KGen's accuracy, by its definition


def defined(optimal: list[Node], nodes: list[Node], top: Node, heights: Node) -> Fraction:
    """The formula written out, node by node, in fractions."""
    total = weights = Fraction(0)
    for node in optimal:
        weight = 1 - sum(Fraction(level, height) for level, height in zip(node, heights, strict=True)) / len(heights)
        reached = [other for other in nodes if all(a <= b for a, b in zip(node, other, strict=True))]
        room = sum(top) - sum(node)
        shares = [1 - Fraction(sum(other) - sum(node), room) if room else Fraction(1) for other in reached]
        total, weights = total + weight * max(shares, default=Fraction(0)), weights + weight
    return total / weights


@FAST
@given(problem=problems(bounded=True), data=st.data())
def test_the_accuracy_is_as_defined(problem: Problem, data: st.DataObject) -> None:
    lattice = Lattice(problem.nodes[0], problem.nodes[-1])
    optimal = problem.minimal_nodes
    if not optimal:
        with pytest.raises(ValueError, match="no optimal node"):
            accuracy.accuracy([], [], lattice, problem.heights)
        return
    nodes = data.draw(st.lists(st.sampled_from(problem.anonymous_nodes), unique=True))
    share = accuracy.accuracy(optimal, nodes, lattice, problem.heights)
    if optimal == [problem.heights]:  # no weight is left
        assert share == (problem.heights in nodes)
    else:
        assert share == pytest.approx(float(defined(optimal, nodes, lattice.top, problem.heights)))
    assert accuracy.accuracy(optimal, [*nodes, *optimal], lattice, problem.heights) == 1


def test_the_accuracy_by_hand() -> None:
    """Two minimal nodes of weights 3/4 and 1/2: one found, of the other a node one of two steps above."""
    nodes = [(1, 0), (1, 2)]
    share = accuracy.accuracy([(1, 0), (0, 2)], nodes, Lattice((0, 0), (2, 2)), (2, 2))
    assert share == pytest.approx((0.75 * 1 + 0.5 * 0.5) / 1.25)


# Level by level


@FAST
@given(problem=problems(bounded=True), name=st.sampled_from(["exhaustive", "ola"]), dense=st.booleans())
def test_the_counts_of_a_level_are_those_of_its_nodes(problem: Problem, name: str, dense: bool) -> None:
    if not keeps_a_row(problem, "height"):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tags, "DENSE_LIMIT", tags.DENSE_LIMIT if dense else 0)
        run = Run(problem, name, "height")
    checked = {step.node for step in run.outcome.trace}
    counted = levels.levels(run.driver.lattice, run.outcome.tags, checked)
    assert [level.height for level in counted] == list(range(sum(problem.nodes[0]), sum(problem.nodes[-1]) + 1))
    for level in counted:
        nodes = [node for node in problem.nodes if sum(node) == level.height]
        listed = [node for node in nodes if node in checked]
        statuses = [run.status(node) for node in (nodes if dense else listed)]
        assert (level.size, level.counted) == (len(nodes), dense)
        assert (level.anonymous, level.at_risk) == (statuses.count(True), statuses.count(False))
        assert level.checked_anonymous == sum(map(problem.anonymous, listed))
        assert (level.checked, level.unknown) == (
            len(listed),
            len(nodes) - statuses.count(True) - statuses.count(False),
        )


@given(heights=st.lists(st.integers(0, 4), min_size=1, max_size=5))
def test_the_sizes_of_levels_add_up(heights: list[int]) -> None:
    lattice = Lattice((0,) * len(heights), tuple(heights))
    assert levels.level_sizes(lattice) == [len(list(lattice.at_height(h))) for h in range(lattice.height + 1)]


def test_a_lattice_of_any_size_has_exact_levels() -> None:
    sizes = levels.level_sizes(Lattice((0,) * 200, (9,) * 200))
    assert sum(sizes) == 10**200
    assert sizes == sizes[::-1]


# Losses by k, as a report shows them

SIZES = (2, 3, 5, 8, 13)
_MODELS: dict[str, dict[str, Any]] = {
    "k": {"suppression_limit": 0.1},
    "k, without suppression": {},
    "l-diversity": {"suppression_limit": 0.1, "privacy": {"l_diversity": {"ill": 2}}},
    "t-closeness": {"suppression_limit": 0.1, "privacy": {"t_closeness": {"ill": 0.4}}},  # not monotone
    "mean risk": {"suppression_limit": 0.1, "privacy": {"risk": {"mean": 0.1}}},  # of the whole release
}


@pytest.mark.parametrize("model", _MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_losses_by_k_are_those_of_separate_searches(model: str, seed: int) -> None:
    random = numpy.random.default_rng(seed)
    people = pandas.DataFrame(
        {
            "age": random.integers(20, 60, 200),
            "zip": random.choice(["1010", "1020", "1030", "2100", "2200"], 200),
            "sex": random.choice(["f", "m"], 200),
            "ill": random.choice(["flu", "cold", "gout"], 200, p=[0.5, 0.3, 0.2]),
        }
    )
    recipes = {"age": {"hierarchy": {"ranges": [5, 10, 20]}}, "zip": {"hierarchy": {"redact": "right"}}}
    spec = {
        "quasi_identifiers": {**recipes, "sex": {"hierarchy": "suppress"}},
        "strategy": "best_first",
        **_MODELS[model],
    }
    found = list(losses_by_k(people, settle_spec(people, spec, {}), SIZES, Observer()))
    for by_k in found:
        if by_k.refused:
            with pytest.raises(InfeasibleError, match=re.escape(by_k.refused)):
                compare(people, spec, k=by_k.k, strategies=["best_first"])
            continue
        alone = compare(people, spec, k=by_k.k, strategies=["best_first"]).searches[0]
        assert alone.proven_optimal
        assert (by_k.score, by_k.suppressed_rows) == (alone.score, alone.suppressed_rows)
    assert [by_k.k for by_k in found] == [*SIZES]
