"""k-map and δ-presence against brute force: the judge and every search, and inferences from one node to others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import floor

import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import InfeasibleError
from kanon_sql.frequency import rollups as rollup
from kanon_sql.frequency.frequency_set import sampled as sampled_tuples
from kanon_sql.frequency.judge import Judge
from kanon_sql.loss import metric
from kanon_sql.privacy import all_of, delta_presence
from kanon_sql.strategies import STRATEGIES
from support.examples import few
from support.oracle import Node
from support.population import Requirement, Sampled, counted_beside, sampled
from support.searching import assert_finds

EXAMPLES = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=few(12),
)


# The judge and every search, node by node


def assert_judged(given: Sampled, requirement: Requirement, judge: Judge) -> None:
    problem, costs = given.problem, judge.costs()
    nodes = problem.nodes[:: 1 + len(problem.nodes) // 12]
    assert judge.rows_at_risk(nodes) == [given.at_risk(node, requirement) for node in nodes]
    for node in nodes[:: 1 + len(nodes) // 4]:
        unsafe, figures, losses = given.unsafe(node, requirement), judge.classes(node), judge.losses(node, costs)
        sizes = [size for labels, size in problem.classes(node).items() if labels not in unsafe]
        assert (figures.classes, figures.released_rows) == (len(sizes), sum(sizes))
        assert (figures.smallest_class, figures.squares) == (min(sizes, default=None), sum(n * n for n in sizes))
        assert losses.rows_at_risk == len(problem.rows) - sum(sizes)
        assert metric("loss").score(costs, losses) == pytest.approx(given.loss(node, requirement))
        assert not judge.may_mask(node, len(problem.rows) - sum(sizes))


@EXAMPLES
@given(given=sampled(), embedded=st.booleans())
@pytest.mark.slow
def test_every_node_is_judged_like_brute_force(
    engine: Engine, given: tuple[Sampled, Requirement], embedded: bool
) -> None:
    sample, requirement = given
    models = requirement.models("people")
    frequency_set = counted_beside(engine, sample, all_of(*models), DuckDB() if embedded else engine)
    assert (frequency_set.rows, frequency_set.tuples) == (len(sample.problem.rows), len(set(sample.problem.rows)))
    assert frequency_set.population == len(sample.people)
    assert_judged(sample, requirement, Judge(frequency_set, all_of(*models)))


@EXAMPLES
@given(given=sampled(fewest_columns=4, most_columns=4))
@pytest.mark.slow
def test_roll_ups_keep_the_population(given: tuple[Sampled, Requirement]) -> None:
    sample, requirement = given
    models = requirement.models("people")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"_WORTH_ROWS": 0, "_WORTH_TESTS": 1, "_WORTH_KEEPING": 9, "_MOST_KEPT": 99}.items():
            patch.setattr(rollup, name, value)
        assert_judged(sample, requirement, Judge(counted_beside(DuckDB(), sample, all_of(*models)), all_of(*models)))


@pytest.mark.parametrize("name", [name for name in STRATEGIES if "igh" not in name])
@settings(EXAMPLES, max_examples=few(6))
@given(given=sampled(), suppresses=st.booleans())
def test_every_search_finds_what_brute_force_finds(
    name: str, given: tuple[Sampled, Requirement], suppresses: bool
) -> None:
    sample, requirement = given
    problem, models = sample.problem, requirement.models("people")
    allowed = floor(0.3 * len(problem.rows)) if suppresses and not requirement.least else 0
    judge = Judge(counted_beside(DuckDB(), sample, all_of(*models)), all_of(*models))
    if STRATEGIES[name].monotone_only and not judge.model.monotone_for(suppresses=allowed > 0):
        return
    losses = {
        node: sample.loss(node, requirement) for node in problem.nodes if sample.at_risk(node, requirement) <= allowed
    }
    assert_finds(name, problem, judge, allowed, losses)


# Monotone and other models


@settings(deadline=None, max_examples=few(60))
@given(given=sampled())
@pytest.mark.slow
def test_inferences_from_a_node_to_those_above_it(given: tuple[Sampled, Requirement]) -> None:
    """Under k-map no suppressed row comes back; under δ-presence a node without any has none above it."""
    sample, requirement = given
    by_map, by_share = Requirement(k_map=requirement.k_map), Requirement(least=requirement.least, most=requirement.most)
    for node in sample.problem.nodes:
        for j, level in enumerate(node):
            if level == sample.problem.heights[j]:
                continue
            above = (*node[:j], level + 1, *node[j + 1 :])
            assert sample.at_risk(above, by_map) <= sample.at_risk(node, by_map)
            assert sample.at_risk(node, by_share) > 0 or sample.at_risk(above, by_share) == 0


@EXAMPLES
@given(given=sampled())
@pytest.mark.slow
def test_rows_at_risk_below_a_node_are_never_overstated(given: tuple[Sampled, Requirement]) -> None:
    sample, requirement = given
    models, nodes = requirement.models("people"), sample.problem.nodes
    judge = Judge(counted_beside(DuckDB(), sample, all_of(*models)), all_of(*models))
    for node, (at_risk, unavoidable) in zip(nodes, judge.verdicts(nodes), strict=True):
        assert at_risk == sample.at_risk(node, requirement)
        below = [item for item in nodes if all(low <= high for low, high in zip(item, node, strict=True))]
        assert unavoidable <= min(sample.at_risk(band, requirement) for band in below)


def test_a_presence_is_not_monotone_where_rows_may_be_suppressed() -> None:
    """All of zip 2 are in the sample, a tenth of zip 1: dropping zip 2 is enough, and merged with it zip 1 goes too."""
    people = pandas.DataFrame({"zip": ["1"] * 10 + ["2"] * 10})
    sample = people.iloc[9:]
    models = [delta_presence(0, 0.5, people)]
    assert all_of(*models).monotone_for(suppresses=False)
    assert not all_of(*models).monotone_for(suppresses=True)
    recipe = {"quasi_identifiers": {"zip": {"hierarchy": "suppress"}}, "suppression_limit": 0.95}
    release = kanon_sql.anonymize(sample, recipe, privacy=models)
    assert (release.manifest["node"], release.manifest["released_rows"]) == ({"zip": 0}, 1)
    recipe["quasi_identifiers"] = {"zip": {"hierarchy": "suppress", "min_level": 1}}
    with pytest.raises(InfeasibleError):
        kanon_sql.anonymize(sample, recipe, privacy=models)


# People instead of rows


@st.composite
def visits(draw: st.DrawFn) -> tuple[Sampled, list[int], Requirement]:
    """A sample of visits, the people of its rows and then of the other rows of its population, and what is asked."""
    sample, requirement = draw(sampled())
    who = [draw(st.integers(1, 6)) for _ in sample.people]
    return sample, who, replace(requirement, values=1)


def people_at_risk(sample: Sampled, who: Sequence[int], node: Node, requirement: Requirement, told_apart: bool) -> int:
    """The rows of unsafe classes, whose people are counted; the population's rows, where its people are not known."""
    rows = len(sample.problem.rows)
    labels = [sample.problem.labels(row, node) for row in sample.people]
    inside = Counter(item for item, _ in set(zip(labels[:rows], who[:rows], strict=True)))
    outside = Counter(item for item, _ in set(zip(labels, who, strict=True))) if told_apart else Counter(labels)
    sizes, counted = Counter(labels[:rows]), outside if requirement.least else inside
    unsafe = (count for count in counted if not requirement.is_safe(inside[count], outside[count], 1))
    return sum(max(1, sizes[item]) for item in unsafe)


@EXAMPLES
@given(given=visits(), told_apart=st.booleans())
@pytest.mark.slow
def test_people_are_counted_on_both_sides(
    engine: Engine, given: tuple[Sampled, list[int], Requirement], told_apart: bool
) -> None:
    sample, who, requirement = given
    models, problem = all_of(*requirement.models("people"), unit="person"), sample.problem
    tuples = counted_beside(engine, sample, models, who=who, told_apart=told_apart)
    judge = Judge(tuples, models)
    expected = [people_at_risk(sample, who, node, requirement, told_apart) for node in problem.nodes]
    assert judge.rows_at_risk(problem.nodes) == expected
    if not requirement.least:  # a local recoding counts fewer, never more
        low = Judge(sampled_tuples(tuples), models).rows_at_risk(problem.nodes)
        assert all(at_least >= exactly for at_least, exactly in zip(low, expected, strict=True))
