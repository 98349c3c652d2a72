"""Searches under models that are not monotone with suppression: their pruning, against brute force."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count, product
from math import inf
from typing import Any

import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError, SpecError
from kanon_sql.frequency.frequency_set import build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Lattice, below
from kanon_sql.loss import metric
from kanon_sql.privacy import (
    PrivacyModel,
    PrivacyModels,
    all_of,
    alpha,
    delta_presence,
    k_anonymity,
    k_map,
    l_diversity,
    marketer_risk,
    t_closeness,
)
from kanon_sql.strategies import STRATEGIES, Driver, SearchOutcome, strategy, tags
from support.command_line import ASK, kanon
from support.database import create_table
from support.examples import few
from support.models import DEFINED, Defined, counted, share
from support.oracle import METRICS, Column, Node, Problem, problems

EXAMPLES = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=few(4),
)
ODD = [definition for definition in DEFINED if definition.model.monotone != "always"]
ALWAYS = [definition for definition in DEFINED if definition.model.monotone == "always"]
ANY_MODEL = [name for name, item in STRATEGIES.items() if not item.monotone_only]
OPTIMAL = [name for name in ANY_MODEL if STRATEGIES[name].promise == "the optimum"]
TWO = Column({"a": ("a", "*"), "b": ("b", "*")})
FEW_JOBS = Defined(
    replace(alpha("ill", 0.7), name="α of job", sensitive="job"),
    lambda of, _: max(share(of, value) for value in of) <= Fraction(7, 10),
)
_numbers = count()


@dataclass(frozen=True)
class ProblemWithModels(Problem):
    """A table whose rows have an illness, a job and a person, and what is asked of its classes."""

    people: Sequence[tuple[int, str, int]] = ()
    definitions: Sequence[Defined] = ()
    unit: bool = False

    def released(self, node: Node) -> dict[Any, int]:
        if ("released", node) not in self._memo:
            classes: dict[Any, list[tuple[int, str, int]]] = defaultdict(list)
            for row, person in zip(self.rows, self.people, strict=True):
                classes[self.labels(row, node)].append(person)
            self._memo["released", node] = {
                labels: len(members) for labels, members in classes.items() if self.is_safe(members)
            }
        return self._memo["released", node]

    def is_safe(self, members: Sequence[tuple[int, str, int]]) -> bool:
        return all(
            definition.is_safe(self._values(definition, members), self._values(definition, self.people))
            for definition in self.definitions
        )

    def _values(self, defined: Defined, members: Sequence[tuple[int, str, int]]) -> Counter[Any]:
        place = {"ill": 0, "job": 1}.get(defined.model.sensitive or "")
        pairs = [(None if place is None else person[place], person[2]) for person in members]
        return counted(pairs, self.unit)

    @property
    def models(self) -> PrivacyModels:
        return all_of(*(definition.model for definition in self.definitions), unit="person" if self.unit else None)

    def judge(self) -> Judge:
        engine, models = DuckDB(), self.models
        types = ["BIGINT" if isinstance(c.levels[0][0], int) else "VARCHAR" for c in self.columns]
        columns = dict(zip(self.names, types, strict=True)) | {"ill": "BIGINT", "job": "VARCHAR", "person": "BIGINT"}
        rows = [(*row, *person) for row, person in zip(self.rows, self.people, strict=True)]
        table = create_table(engine, f"asked {next(_numbers)}", columns, rows)
        hierarchies = {name: Hierarchy(*c.levels) for name, c in zip(self.names, self.columns, strict=True)}
        named = {"sensitive": models.sensitive, "compared": models.compared, "groups": models.groups}
        builders = {name: lambda _, h=hierarchy: h for name, hierarchy in hierarchies.items()}
        return Judge(build_frequency_set(engine, table, builders, Scratch(engine), **named), models)

    def run(self, name: str, by: str) -> SearchOutcome:
        judge, models = self.judge(), self.models
        driver = Driver(
            Lattice((0,) * len(self.columns), self.heights),
            judge.with_cells(judge.costs()),
            metric(by),
            judge,
            self.may_suppress,
            models.monotone_for(self.may_suppress > 0),
            10,
            evaluations=200,
            k_alone=models.k_alone,
            prunes=models.prunes,
            mergeable=models.mergeable,
        )
        return driver.run(strategy(name))


@st.composite
def problems_with_models(draw: st.DrawFn, odd: Sequence[Defined] = ODD, units: bool = True) -> ProblemWithModels:
    """A table, and up to three models, one of which is not monotone under suppression."""
    problem = draw(problems(most_columns=3))
    person = st.tuples(st.integers(1, 4), st.sampled_from("xyz"), st.integers(1, 6))
    people = [draw(person) for _ in problem.rows]
    models = [
        draw(st.sampled_from(odd)),
        *draw(st.lists(st.sampled_from([*ALWAYS, FEW_JOBS]), max_size=2, unique_by=str)),
    ]
    models = draw(st.permutations(models))
    k = all_of(*(model.model for model in models)).k
    unit = units and draw(st.booleans())
    if unit and draw(st.booleans()):  # each person has one value, as some models need it
        people = [(1 + who % 4, "xyz"[who % 3], who) for _, _, who in people]
    return ProblemWithModels(
        problem.rows, problem.columns, k, problem.limit, people=people, definitions=models, unit=unit
    )


# What a verdict tells


@settings(EXAMPLES, max_examples=few(6))
@given(problem=problems_with_models())
@pytest.mark.slow
def test_as_many_rows_stay_at_risk_in_every_node_below(problem: ProblemWithModels) -> None:
    nodes = problem.nodes[:: 1 + len(problem.nodes) // 40]
    at_risk, unavoidable = zip(*problem.judge().verdicts(nodes), strict=True)
    assert list(at_risk) == [problem.rows_at_risk(node) for node in nodes]
    for node, rows in zip(nodes, unavoidable, strict=True):
        assert rows <= min(problem.rows_at_risk(lower) for lower in problem.nodes if below(lower, node))


@pytest.mark.parametrize("defined", ODD, ids=str)
@settings(EXAMPLES, max_examples=few(6))
@given(rows=st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 4)), min_size=1, max_size=16))
def test_no_fewer_rows_can_go_until_a_class_is_safe(defined: Defined, rows: list[tuple[str, int]]) -> None:
    """Brute force over every part of a class: the figure may be less than what has to go, never more."""
    people = [(ill, "x", 1) for _, ill in rows]
    problem = ProblemWithModels([(group,) for group, _ in rows], [TWO], 1, people=people, definitions=[defined])
    ((at_risk, unavoidable),) = problem.judge().verdicts([(0,)])
    table = Counter(ill for _, ill in rows)
    classes = [Counter(ill for group, ill in rows if group == item) for item in {group for group, _ in rows}]
    assert unavoidable <= sum(least_to_go(defined, values, table) for values in classes)
    unsafe = [values for values in classes if not defined.is_safe(values, table)]
    assert len(unsafe) <= unavoidable <= at_risk


def least_to_go(defined: Defined, values: Counter[int], table: Counter[int]) -> int:
    """The fewest rows without which a class is safe, or gone."""
    parts = product(*(range(rows + 1) for rows in values.values()))
    kept = [Counter({value: n for value, n in zip(values, part, strict=True) if n}) for part in parts]
    return values.total() - max(part.total() for part in kept if not part or defined.is_safe(part, table))


@pytest.mark.parametrize(
    ("model", "classes", "unavoidable"),
    [
        (t_closeness("ill", 0.25), [{1: 8, 2: 2}, {1: 2, 2: 8}], 4),
        (alpha("ill", 0.5), [{1: 8, 2: 2}, {1: 5, 2: 5}], 6),
        (l_diversity("ill", 2, "recursive", c=2), [{1: 8, 2: 2}, {1: 3, 2: 3}], 4),
        (l_diversity("ill", 2, "recursive", c=2), [{1: 8}, {1: 3, 2: 3}], 8),
        (l_diversity("ill", 2, "entropy"), [{1: 6}, {1: 3, 2: 3}], 6),
    ],
)
def test_the_unavoidable_suppression_is_close_to_the_true_one(
    model: PrivacyModel, classes: list[dict[int, int]], unavoidable: int
) -> None:
    rows = [(group, ill) for group, values in zip("ab", classes, strict=True) for ill in Counter(values).elements()]
    people = [(ill, "x", 1) for _, ill in rows]
    problem = ProblemWithModels([(g,) for g, _ in rows], [TWO], 1, people=people, definitions=[Defined(model, bool)])
    assert problem.judge().verdicts([(0,)])[0][1] == unavoidable


# Every search, against brute force


@pytest.mark.parametrize("name", ANY_MODEL)
@settings(EXAMPLES, max_examples=few(5))
@given(problem=problems_with_models(), by=st.sampled_from(METRICS), dense=st.booleans())
@pytest.mark.slow
@pytest.mark.sampled
def test_every_search_finds_what_brute_force_finds(name: str, problem: ProblemWithModels, by: str, dense: bool) -> None:
    if not dense and name == "best_first":
        return  # it lists all nodes
    best = min((problem.scores(node)[by] for node in problem.anonymous_nodes), default=inf)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tags, "DENSE_LIMIT", tags.DENSE_LIMIT if dense else 0)
        try:
            outcome = problem.run(name, by)
        except InfeasibleError:
            # A search that promises no optimum may miss the few nodes that will do.
            assert best == inf or name not in OPTIMAL
            return
    assert problem.anonymous(outcome.node)
    assert outcome.score == pytest.approx(problem.scores(outcome.node)[by])
    assert outcome.lower_bound <= best + 1e-9 * max(1.0, best)
    assert not outcome.proven_optimal or outcome.score == pytest.approx(best)
    if name in OPTIMAL:
        assert outcome.score == pytest.approx(best)
        # Of a lattice that is not listed the bound is rounded down, unless the clauses are asked for nodes to the end.
        assert outcome.proven_optimal or not (dense or name in ("auto", "certified"))
    assert outcome.tags is not None
    for node in problem.nodes:
        assert outcome.tags.status(node) in (None, problem.anonymous(node))
    minimal = [n for n in problem.anonymous_nodes if not any(m != n and below(m, n) for m in problem.anonymous_nodes)]
    assert name != "exhaustive" or list(outcome.minimal) == sorted(minimal, key=lambda node: (sum(node), node))


GRADES = {f"{a}{b}": (f"{a}{b}", f"{a}", "*") for a in "0123" for b in "01"}


def uneven(limit: float, definitions: Sequence[Defined]) -> ProblemWithModels:
    """400 rows, of which each group has an illness of its own more often."""
    rows = [(f"{i % 4}{i // 4 % 2}", f"{i // 8 % 4}{i // 3 % 2}", f"{i // 32 % 4}{i // 7 % 2}") for i in range(400)]
    people = [(1 + (i % 4 if i % 3 else i // 5 % 4), "x", i) for i in range(400)]
    return ProblemWithModels(rows, [Column(GRADES)] * 3, 3, limit, people=people, definitions=definitions)


CLOSE = next(value for value in ODD if value.model.name.startswith("t-closeness of ill (equal"))
K = next(definition for definition in DEFINED if definition.model.class_size)


@pytest.mark.parametrize(("name", "checks"), [("auto", 6), ("best_first", 6), ("certified", 8), ("exhaustive", 23)])
def test_a_few_checks_prove_the_optimum(name: str, checks: int) -> None:
    outcome = uneven(0.05, [K, CLOSE]).run(name, "loss")
    assert (outcome.nodes_checked, outcome.proven_optimal) == (checks, True)


def test_nothing_is_pruned_without_a_monotone_model() -> None:
    odd = replace(CLOSE, model=replace(CLOSE.model, monotone="never"))
    few, all_of_them = uneven(0.05, [CLOSE]).run("auto", "loss"), uneven(0.05, [odd]).run("auto", "loss")
    assert all_of_them.proven_optimal
    assert all_of_them.score == few.score
    assert all_of_them.nodes_checked > few.nodes_checked


def test_infeasibility_is_proven_by_the_top_alone() -> None:
    three = Defined(l_diversity("ill", 3, "entropy"), lambda *_: False)
    problem = uneven(0.05, [K, three])
    problem = replace(problem, people=[(1 + i % 2, "x", i) for i in range(400)])
    with pytest.raises(InfeasibleError, match="even the most general one leaves more than"):
        problem.run("auto", "loss")


# People


def test_safe_classes_of_people_can_be_unsafe_when_merged() -> None:
    """Somebody who is in both classes is counted once: of two and two people with either illness, three remain."""
    members = [[(1, "x", 1), (2, "x", 2)], [(1, "x", 1), (2, "x", 3)]]
    half = next(value for value in ODD if value.model.name == "α of ill")
    problem = ProblemWithModels([], [], 1, people=[*members[0], *members[1]], definitions=[half], unit=True)
    assert all(map(problem.is_safe, members))
    assert not problem.is_safe([*members[0], *members[1]])
    assert not problem.models.monotone_for(suppresses=False)
    assert all_of(half.model).monotone_for(suppresses=False)


# Messages


@pytest.mark.parametrize(
    ("models", "unit", "message"),
    [
        ([k_anonymity(2), l_diversity("ill", 2)], None, None),
        (
            [k_anonymity(2), t_closeness("ill", 0.5)],
            None,
            "t-closeness of ill (equal distance) is not monotone where rows may be suppressed; a node is ruled out "
            "where too many rows stay at risk however the classes above it are divided",
        ),
        (
            [k_anonymity(2), replace(alpha("ill", 0.5), monotone="never")],
            None,
            "α of ill is not monotone where rows may be suppressed; nodes are ruled out by k-anonymity alone",
        ),
        (
            [alpha("ill", 0.5), t_closeness("ill", 0.5)],
            "person",
            "α of ill and t-closeness of ill (equal distance) are not monotone where rows may be suppressed; no node "
            "rules out another",
        ),
    ],
)
def test_the_criteria_that_rule_out_nodes_are_reported(
    models: list[PrivacyModel], unit: str | None, message: str | None
) -> None:
    assert all_of(*models, unit=unit).pruned_by(suppresses=True) == message


@pytest.fixture
def patients(engine: Engine) -> Any:
    name = f"patients_{next(_numbers)}"
    rows = [(i % 40, "12"[i % 2], i % 7 % 3) for i in range(200)]
    table = create_table(engine, name, {"age": "BIGINT", "zip": "VARCHAR", "ill": "BIGINT"}, rows)
    yield name
    engine.run(queries.drop(table.relation, engine.dialect))


RECIPES = {"age": {"hierarchy": {"ranges": [5, 10, 20]}}, "zip": {"hierarchy": {"redact": "right"}}}


def options(engine: Engine, limit: float, model: PrivacyModel) -> dict[str, Any]:
    return {"connection": engine.connection, "privacy": [k_anonymity(5), model], "suppression_limit": limit}


@pytest.mark.parametrize("name", OPTIMAL)
def test_a_search_in_an_engine_reports_its_pruning(engine: Engine, patients: str, name: str) -> None:
    requested = options(engine, 0.1, t_closeness("ill", 0.1))
    best = kanon_sql.search(patients, {"quasi_identifiers": RECIPES}, strategy=name, search_in="engine", **requested)
    assert best.proven_optimal
    assert best.pruned_by is not None
    assert best.pruned_by.startswith(
        "t-closeness of ill (equal distance) is not monotone where rows may be suppressed;"
    )
    assert best.to_dict()["pruned_by"] == best.pruned_by
    assert best.pruned_by in str(best.to_dict())


def test_without_suppression_every_node_allows_inferences(engine: Engine, patients: str) -> None:
    requested = options(engine, 0.0, t_closeness("ill", 0.1))
    assert kanon_sql.search(patients, {"quasi_identifiers": RECIPES}, **requested).pruned_by is None


@st.composite
def staff(draw: st.DrawFn) -> pandas.DataFrame:
    person = st.tuples(st.integers(0, 39), st.sampled_from("12"), st.integers(0, 3))
    return pandas.DataFrame(draw(st.lists(person, min_size=8, max_size=40)), columns=["age", "zip", "ill"])


@settings(EXAMPLES, max_examples=few(3))
@given(
    people=staff(), others=staff(), limit=st.sampled_from([0.1, 0.3]), by=st.sampled_from(["loss", "discernibility"])
)
@pytest.mark.parametrize("name", ["auto", "certified"])
@pytest.mark.slow
def test_models_of_a_release_and_of_a_population_are_pruned_in_the_same_way(
    name: str, people: pandas.DataFrame, others: pandas.DataFrame, limit: float, by: str
) -> None:
    """The same optimum as of a search that concludes nothing, since no model is said to be monotone."""
    population = pandas.concat([people, others])[["age", "zip"]]
    choices = [
        [marketer_risk(0.4), l_diversity("ill", 2, "entropy")],
        [k_map(3, population), t_closeness("ill", 0.4)],
        [delta_presence(0, 0.6, population), l_diversity("ill", 2, "recursive", c=2)],
    ]
    for models in choices:
        spec = {"quasi_identifiers": RECIPES, "suppression_limit": limit, "metric": by}
        never = [replace(model, monotone="never") for model in models]
        try:
            best = kanon_sql.search(people, spec, privacy=never, strategy="exhaustive")
        except InfeasibleError:
            with pytest.raises(InfeasibleError):
                kanon_sql.search(people, spec, privacy=models, strategy=name)
            continue
        assert best.proven_optimal
        pruned = kanon_sql.search(people, spec, privacy=models, strategy=name)
        assert (pruned.score, pruned.proven_optimal) == (pytest.approx(best.score), True)


def test_the_manifest_reports_the_pruning(embedded: DuckDB) -> None:
    rows = [(i % 40, "12"[i % 2], i % 7 % 3) for i in range(200)]
    create_table(embedded, "ward", {"age": "BIGINT", "zip": "VARCHAR", "ill": "BIGINT"}, rows)
    spec: dict[str, Any] = {"quasi_identifiers": RECIPES}
    release = kanon_sql.anonymize("ward", spec, **options(embedded, 0.1, l_diversity("ill", 2, "entropy")))
    assert release.manifest["pruned_by"].startswith("entropy l-diversity of ill is not monotone")
    assert kanon_sql.anonymize("ward", spec, connection=embedded.connection, k=5).manifest["pruned_by"] is None


@pytest.mark.usefixtures("folder")
def test_the_command_line_reports_the_pruning() -> None:
    arguments = ["anonymize", "people.csv", *ASK, "--k", 2, "--suppression-limit", 0.2, "--output"]
    message = "Search: entropy l-diversity of disease is not monotone where rows may be suppressed; a node is ruled out"
    assert message in kanon(*arguments, "diverse.csv", "--l-diversity", "disease=2:entropy").out
    assert "Search: " not in kanon(*arguments, "k.csv").out


@pytest.mark.parametrize("name", [name for name, item in STRATEGIES.items() if item.monotone_only])
def test_a_search_that_needs_monotone_models_names_those_that_do_not(embedded: DuckDB, name: str) -> None:
    create_table(embedded, "ward", {"age": "BIGINT", "zip": "VARCHAR", "ill": "BIGINT"}, [(1, "1", 1), (2, "1", 2)])
    message = (
        f"^{name} needs a monotone privacy model, and entropy l-diversity of ill is not monotone where rows may be "
        "suppressed; use auto or best_first or certified$"
    )
    requested = options(embedded, 0.1, l_diversity("ill", 2, "entropy"))
    with pytest.raises(SpecError, match=message):
        kanon_sql.search("ward", {"quasi_identifiers": RECIPES}, strategy=name, **requested)
