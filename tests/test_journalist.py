"""Mean journalist risk, and the share of rows above one, against brute force over the classes of two tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import floor
from pathlib import Path
from typing import Any

import pandas
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import InfeasibleError, SpecError
from kanon_sql.frequency.judge import Judge
from kanon_sql.loss import metric
from kanon_sql.privacy import (
    ClassCount,
    Finding,
    PrivacyModels,
    all_of,
    delta_presence,
    journalist_risk,
    k_map,
    l_diversity,
    prosecutor_risk,
)
from kanon_sql.strategies import STRATEGIES
from support.command_line import kanon
from support.database import create_table
from support.examples import few
from support.oracle import Node
from support.population import Sampled, _numbers, counted_beside, people, samples
from support.searching import assert_finds

EXAMPLES = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
    max_examples=few(10),
)
FEW = settings(EXAMPLES, max_examples=few(4))
Class = tuple[int, int]  # its rows, and those of the population that it stands for
RISKS = [Fraction(n, d) for n, d in [(1, 12), (1, 10), (1, 5), (1, 4), (3, 10), (1, 3), (2, 5), (1, 2)]]


# The oracle: fractions of the sizes of classes


class Mean:
    def __init__(self, mean: Fraction) -> None:
        self.mean = mean
        (self.model,) = journalist_risk(population="people", mean=float(mean))

    def figure(self, classes: Sequence[Class]) -> Fraction:
        rows, everybody = sum(n for n, _ in classes), sum(size for _, size in classes)
        return max(sum(Fraction(n, size) for n, size in classes) / rows, Fraction(len(classes), everybody))

    def holds(self, classes: Sequence[Class]) -> bool:
        return not classes or self.figure(classes) <= self.mean

    def size(self, one: Class) -> int:
        return one[1]


class Above:
    def __init__(self, threshold: Fraction, share: Fraction) -> None:
        self.threshold, self.share = threshold, share
        (self.model,) = journalist_risk(population="people", above=float(threshold), share=float(share))

    def figure(self, classes: Sequence[Class]) -> Fraction:
        above = sum(n for n, size in classes if Fraction(1, size) > self.threshold)
        return Fraction(above, sum(n for n, _ in classes))

    def holds(self, classes: Sequence[Class]) -> bool:
        return not classes or self.figure(classes) <= self.share

    def size(self, one: Class) -> int:
        return one[1]


class Prosecutor:
    def __init__(self, mean: Fraction) -> None:
        self.mean = mean
        (self.model,) = prosecutor_risk(mean=float(mean))

    def holds(self, classes: Sequence[Class]) -> bool:
        return not classes or Fraction(len(classes), sum(n for n, _ in classes)) <= self.mean

    def size(self, one: Class) -> int:
        return one[0]


RiskModel = Mean | Above | Prosecutor
beside = st.one_of(
    st.sampled_from(RISKS).map(Mean),
    st.builds(Above, st.sampled_from(RISKS), st.sampled_from([Fraction(0), *RISKS[:5]])),
)
classes_of_both = st.lists(
    st.tuples(st.integers(1, 6), st.integers(0, 9)).map(lambda c: (c[0], c[0] + c[1])), min_size=1, max_size=10
)


def kept(every: Sequence[RiskModel], classes: Sequence[Class]) -> list[Class]:
    """What is left where one model after the other takes the smallest classes by its size, until all hold."""
    left = list(classes)
    while not all(item.holds(left) for item in every):
        for item in every:
            least = 1
            while not item.holds([one for one in left if item.size(one) >= least]):
                least += 1
            left = [one for one in left if item.size(one) >= least]
    return left


def suppressed(risk_model: RiskModel, classes: Sequence[Class]) -> int:
    return sum(n for n, _ in classes) - sum(n for n, _ in kept([risk_model], classes))


def alike(classes: Sequence[Class]) -> list[ClassCount]:
    return [ClassCount(*one, number) for one, number in Counter(classes).items()]


# Figures and conclusions


def test_a_case_computed_by_hand() -> None:
    # 2 rows of 4, 1 of 10, 3 of 3: (2/4 + 1/10 + 3/3) / 6 = .2667 by rows, 3 classes of 17 in the population are .1765.
    classes = [ClassCount(2, 4, 1), ClassCount(1, 10, 1), ClassCount(3, 3, 1)]
    mean, above = journalist_risk(population="people", mean=0.2, above=0.25, share=0.4)
    assert mean.achieved(mean.histogram(classes)) == pytest.approx(1.6 / 6)
    assert above.achieved(above.histogram(classes)) == pytest.approx(3 / 6)
    assert mean.least_class_size(mean.histogram(classes)) == 4  # without the three of three: .6 / 3
    assert above.least_class_size(above.histogram(classes)) == 4
    # 9 rows of 90 and 1 of 1: .11 by rows, and 2 classes of 91; the other way round, 1 of 90 and 9 of 10, as well.
    assert mean.figure([(1, 1, 1), (90, 1, 9)]) == pytest.approx((1 + 9 / 90) / 10)
    # All sampled from the large class: each row has a risk of 1/20, but of 21 people the journalist finds two.
    assert mean.figure([(1, 1, 1), (20, 1, 20)]) == pytest.approx(2 / 21)
    assert mean.figure([(1, 1, 1), (20, 1, 40)]) == pytest.approx(2 / 21)  # (1 + 40/20) / 41 is less


@EXAMPLES
@given(model=beside, classes=classes_of_both)
@example(model=Mean(Fraction(1, 3)), classes=[(1, 3), (2, 3), (3, 3)])
@example(model=Mean(Fraction(1, 12)), classes=[(1, 10), (1, 15)])  # floats would be too high by a last digit
def test_a_model_is_its_formula(model: Mean | Above, classes: list[Class]) -> None:
    histogram = model.model.histogram(alike(classes))
    assert model.model.holds(histogram) == model.holds(classes)
    assert model.model.achieved(histogram) == pytest.approx(float(model.figure(classes)))
    least = model.model.least_class_size(histogram)
    assert sorted(one for one in classes if one[1] >= least) == sorted(kept([model], classes))


@EXAMPLES
@given(model=beside, classes=classes_of_both)
def test_large_enough_classes_always_satisfy_it(model: Mean | Above, classes: list[Class]) -> None:
    assert model.holds([(n, size + model.model.sufficient_size - 1) for n, size in classes])


@EXAMPLES
@given(model=beside, classes=classes_of_both, joining=st.integers(0, 4))
def test_merging_classes_is_safe_without_suppression(model: Mean | Above, classes: list[Class], joining: int) -> None:
    """Two classes merged, with some of the population whom no class stood for."""
    assert model.model.monotone == "without suppression"
    (n, size), (m, other) = classes[0], classes[-1] if len(classes) > 1 else (0, 0)
    assert not model.holds(classes) or model.holds([(n + m, size + other + joining), *classes[1:-1]])


@EXAMPLES
@given(model=beside, classes=st.lists(classes_of_both.map(lambda parts: parts[:3]), min_size=1, max_size=4))
def test_unavoidable_rows_are_suppressed_at_the_node_and_below(model: Mean | Above, classes: list[list[Class]]) -> None:
    """Of each class of a node its parts below; whatever parts are kept, so many rows at least are not."""
    above = [(sum(n for n, _ in parts), sum(size for _, size in parts)) for parts in classes]
    below = [part for parts in classes for part in parts]
    assert model.model.unavoidable is not None
    unavoidable = model.model.unavoidable(model.model.histogram(alike(above)))
    for of_a_node in (above, below):
        rows = sum(n for n, _ in of_a_node)
        subsets = (chosen for many in range(len(of_a_node) + 1) for chosen in combinations(of_a_node, many))
        fewest = min(rows - sum(n for n, _ in chosen) for chosen in subsets if model.holds(chosen))
        assert unavoidable <= fewest <= suppressed(model, of_a_node)


@pytest.mark.parametrize(
    ("model", "before", "after", "rows"),
    [
        # Without the two rows that are alone the others have 1/4; merged, these are as small as the third class.
        (Mean(Fraction(1, 4)), [(1, 1), (1, 1), (1, 2), (3, 6)], [(2, 2), (1, 2), (3, 6)], (2, 3)),
        # One of the first two is enough to lose; merged, they are still below 4 and go together.
        (Above(Fraction(3, 10), Fraction(1, 5)), [(1, 1), (1, 2), (3, 4), (3, 4)], [(2, 3), (3, 4), (3, 4)], (1, 2)),
    ],
)
def test_merging_classes_can_suppress_more_rows(
    model: Mean | Above, before: list[Class], after: list[Class], rows: tuple[int, int]
) -> None:
    assert (suppressed(model, before), suppressed(model, after)) == rows
    assert model.model.monotone != "always"


@EXAMPLES
@given(model=beside, other=st.sampled_from(RISKS).map(Prosecutor), classes=classes_of_both)
def test_risks_by_either_size_apply_together(model: Mean | Above, other: Prosecutor, classes: list[Class]) -> None:
    every = [model, other]
    least = all_of(*(one.model for one in every)).least_class_size(alike(classes))
    left = [one for one in classes if one[0] >= least.size and one[1] >= least.people]
    assert all(one.holds(left) for one in every)
    assert sorted(left) == sorted(kept(every, classes))


def test_a_k_map_that_implies_a_risk_leaves_nothing_undecided() -> None:
    model = all_of(k_map(20, "people"), *journalist_risk(0.1, "people", mean=0.05))
    assert model.undecided == ()
    assert model.monotone_for(suppresses=True)
    assert not all_of(*journalist_risk(0.1, "people", mean=0.05)).monotone_for(suppresses=True)


# The judge and every search, node by node


@st.composite
def judged(draw: st.DrawFn) -> tuple[Sampled, PrivacyModels, list[RiskModel], int]:
    every: list[RiskModel] = draw(st.lists(beside, min_size=1, max_size=2))
    every += draw(st.lists(st.sampled_from(RISKS).map(Prosecutor), max_size=1))
    least = draw(st.integers(1, 4))
    return draw(samples()), all_of(*(item.model for item in every), k_map(least, "people")), every, least


def released(sample: Sampled, every: Sequence[RiskModel], least: int, node: Node) -> dict[Any, Class]:
    classes = {labels: one for labels, one in sample.classes(node).items() if one[1] >= least}
    left = kept(every, list(classes.values()))
    return {labels: one for labels, one in classes.items() if one in left}


@FEW
@given(drawn=judged(), embedded=st.booleans())
@pytest.mark.slow
def test_every_node_is_judged_like_brute_force(
    engine: Engine, drawn: tuple[Sampled, PrivacyModels, list[RiskModel], int], embedded: bool
) -> None:
    sample, model, every, least = drawn
    judge = Judge(counted_beside(engine, sample, model, DuckDB() if embedded else engine), model)
    nodes, costs, rows = sample.problem.nodes, judge.costs(), len(sample.problem.rows)
    at_risk = [rows - sum(n for n, _ in released(sample, every, least, node).values()) for node in nodes]
    assert judge.rows_at_risk(nodes) == at_risk
    for node, (suppressed_rows, unavoidable) in zip(nodes, judge.verdicts(nodes), strict=True):
        below = [item for item in nodes if all(low <= high for low, high in zip(item, node, strict=True))]
        assert unavoidable <= min(at_risk[nodes.index(item)] for item in below)
        assert suppressed_rows == at_risk[nodes.index(node)]
    for node in nodes[:: 1 + len(nodes) // 3]:
        classes = released(sample, every, least, node)
        figures, losses = judge.settled(node).classes(node), judge.losses(node, costs)
        assert (figures.classes, figures.released_rows) == (len(classes), sum(n for n, _ in classes.values()))
        unsafe = set(sample.classes(node)) - set(classes)
        assert metric("loss").score(costs, losses) == pytest.approx(sample.loss_without(unsafe, node))
        assert not judge.may_mask(node, losses.rows_at_risk)


@FEW
@given(drawn=judged(), told_apart=st.booleans(), data=st.data())
def test_people_are_counted_on_both_sides(
    engine: Engine, drawn: tuple[Sampled, PrivacyModels, list[RiskModel], int], told_apart: bool, data: st.DataObject
) -> None:
    sample, model, every, least = drawn
    who = [data.draw(st.integers(1, 6)) for _ in sample.people]
    model = all_of(*model.every, unit="person")
    judge = Judge(counted_beside(engine, sample, model, who=who, told_apart=told_apart), model)
    rows = len(sample.problem.rows)
    for node, at_risk in zip(sample.problem.nodes, judge.rows_at_risk(sample.problem.nodes), strict=True):
        labels = [sample.problem.labels(row, node) for row in sample.people]
        inside = Counter(item for item, _ in set(zip(labels[:rows], who[:rows], strict=True)))
        outside = Counter(item for item, _ in set(zip(labels, who, strict=True))) if told_apart else Counter(labels)
        classes = {class_: (inside[class_], outside[class_]) for class_ in inside if outside[class_] >= least}
        left = kept(every, list(classes.values()))
        lost = {class_ for class_ in inside if classes.get(class_) not in left}
        assert at_risk == sum(label in lost for label in labels[:rows])


@pytest.mark.parametrize("name", [name for name in STRATEGIES if "igh" not in name])
@settings(EXAMPLES, max_examples=few(5))
@given(drawn=judged(), suppresses=st.booleans())
@pytest.mark.sampled
def test_every_search_finds_what_brute_force_finds(
    name: str, drawn: tuple[Sampled, PrivacyModels, list[RiskModel], int], suppresses: bool
) -> None:
    sample, model, every, least = drawn
    allowed = floor(0.4 * len(sample.problem.rows)) if suppresses else 0
    if STRATEGIES[name].monotone_only and not model.monotone_for(suppresses=allowed > 0):
        return
    judge = Judge(counted_beside(DuckDB(), sample, model), model)
    kept_rows = {node: released(sample, every, least, node) for node in sample.problem.nodes}
    losses = {
        node: sample.loss_without(set(sample.classes(node)) - set(classes), node)
        for node, classes in kept_rows.items()
        if len(sample.problem.rows) - sum(n for n, _ in classes.values()) <= allowed
    }
    assert_finds(name, sample.problem, judge, allowed, losses)


# From source to release


TYPES = {"age": "BIGINT", "zip": "VARCHAR", "ill": "VARCHAR"}
RECIPES: dict[str, Any] = {
    "age": {"hierarchy": {"ranges": [5, 10, 20]}},
    "zip": {"hierarchy": {"redact": "right"}},
}
BOUNDS: dict[str, dict[str, Any]] = {
    "mean": {"mean": 0.08},
    "share": {"above": 0.05, "share": 0.25},
    "all": {"highest": 0.34, "mean": 0.08, "above": 0.1, "share": 0.1},
}


@pytest.fixture
def tables(engine: Engine) -> Iterator[tuple[str, str]]:
    number, everybody = next(_numbers), people(400)
    sample, population = f"seen_{number}", f"everybody_{number}"
    for name, rows in ((sample, everybody[::5]), (population, everybody)):
        create_table(engine, name, TYPES, rows)
    yield sample, population
    for name in (sample, population):
        engine.run(queries.drop(queries.Relation(name), engine.dialect))


def band(age: int | None, level: int) -> Any:
    return None if age is None else age if level == 0 else age // (5, 10, 20)[level - 1] if level < 4 else "*"


def classes_of(node: dict[str, int], rows: Sequence[tuple[Any, ...]]) -> Counter[Any]:
    """How many rows have each label of a node, None a value of its own below the top."""
    tops = {"age": 4, "zip": 4}
    return Counter(
        (
            "*" if node["age"] >= tops["age"] else band(age, node["age"]),
            "*" if node["zip"] >= 3 else None if code is None else code[: 3 - node["zip"]],
        )
        for age, code, _ in rows
    )


def figures(classes: Sequence[Class], threshold: float = 0.05) -> tuple[float, float, float]:
    """The highest risk, the mean, and the share of rows above a threshold."""
    return (
        max(1 / size for _, size in classes),
        float(Mean(Fraction(1)).figure(classes)),
        float(Above(Fraction(str(threshold)), Fraction(0)).figure(classes)),
    )


@pytest.mark.parametrize("kind", BOUNDS)
@pytest.mark.parametrize("form", ["table", "csv"])
@pytest.mark.sampled
def test_a_release_satisfies_the_journalist_risk(
    engine: Engine, tables: tuple[str, str], tmp_path: Path, kind: str, form: str
) -> None:
    sample, population = tables
    models = journalist_risk(population=population, **BOUNDS[kind])
    target: dict[str, Any] = {"into": f"{sample}_anon"} if form == "table" else {"output": tmp_path / "anon.csv"}
    options: dict[str, Any] = {"quasi_identifiers": RECIPES, "privacy": models, "connection": engine.connection}
    manifest = kanon_sql.anonymize(sample, sensitive=["ill"], suppression_limit=0.2, **options, **target).manifest
    try:
        if form == "table":
            assert kanon_sql.verify(f"{sample}_anon", **options)
        rows, everybody = people(400)[::5], people(400)
        inside, outside = classes_of(manifest["node"], rows), classes_of(manifest["node"], everybody)
        left = [(n, outside[label]) for label, n in inside.items()]
        least = next((finding["required"] for finding in manifest["privacy"] if "population" in finding["model"]), 1)
        left = [one for one in left if one[1] >= max(least, 3 if kind == "all" else 1)]
        assert (len(left), sum(n for n, _ in left)) == (manifest["classes"], manifest["released_rows"])
        achieved = {finding["model"]: finding["achieved"] for finding in manifest["privacy"]}
        threshold = 0.05 if kind == "share" else 0.1
        names = ("highest journalist risk", "mean journalist risk", "share of rows above a journalist risk")
        for name, figure in zip(names, figures(left, threshold), strict=True):
            assert achieved.get(name, figure) == pytest.approx(figure)
        assert manifest["proven_optimal"]
        assert manifest["classes"] > 2
    finally:
        engine.run(queries.drop(queries.Relation(f"{sample}_anon"), engine.dialect))


@pytest.mark.parametrize("strategy", ["mondrian", "mondrian_relaxed", "refine", "kaca", "prioprivacy", "modes"])
@pytest.mark.sampled
def test_a_local_recoding_has_classes_that_are_large_enough_in_the_population(
    engine: Engine, tables: tuple[str, str], strategy: str
) -> None:
    sample, population = tables
    how: dict[str, Any] = {"show": "mode"} if strategy == "modes" else {"strategy": strategy, "time_limit": 5.0}
    models = journalist_risk(population=population, mean=0.08)
    manifest = kanon_sql.anonymize(
        sample,
        quasi_identifiers=RECIPES,
        sensitive=["ill"],
        privacy=models,
        connection=engine.connection,
        **how,
    ).manifest
    size, mean = manifest["privacy"]
    assert (size["model"], size["required"]) == ("class size in the population", 13)
    assert size["achieved"] >= 13
    assert mean["achieved"] <= 0.08
    assert manifest["classes"] > 2
    message = "every class represents 13 of the population or more, enough for mean journalist risk whatever"
    assert message in " ".join(manifest["warnings"])


def test_a_view_and_a_statement_check_the_size_of_every_class_in_the_population(
    engine: Engine, tables: tuple[str, str]
) -> None:
    sample, population = tables
    options: dict[str, Any] = {"quasi_identifiers": RECIPES, "sensitive": ["ill"], "connection": engine.connection}
    options |= {"privacy": journalist_risk(population=population, mean=0.08), "suppression_limit": 0.2}
    view = f"{sample}_view"
    manifest = kanon_sql.anonymize(sample, **options, into=view, form="view").manifest
    try:
        rows = engine.rows(f'SELECT age, zip, ill FROM "{view}"')
        assert len(rows) == manifest["released_rows"] >= 64
        outside = classes_of(manifest["node"], people(400))
        large = {label for label, size in outside.items() if size >= 13}
        inside = classes_of(manifest["node"], people(400)[::5])
        assert sum(n for label, n in inside.items() if label in large) == len(rows)
        assert sorted(map(str, rows)) == sorted(map(str, engine.rows(kanon_sql.anonymize_sql(sample, **options))))
        engine.run(f"DELETE FROM {population}")
        assert engine.rows(f'SELECT age, zip, ill FROM "{view}"') == []
    finally:
        engine.run(queries.drop(queries.Relation(view), engine.dialect, "view"))
        for column in RECIPES:
            engine.run(queries.drop(queries.Relation(f"{view}__{column}"), engine.dialect))


# Verification, refusals, and the command line


def test_verify_finds_the_surplus_rows(engine: Engine) -> None:
    number = next(_numbers)
    release, population = f"shown_{number}", f"all_{number}"
    columns = {"age": "VARCHAR", "zip": "VARCHAR"}
    shown = [("20", "1")] * 2 + [("30", "1")] + [("40", "1")] * 3 + [("40", "2")]
    create_table(engine, release, columns, shown)
    create_table(
        engine, population, columns, [("20", "1")] * 4 + [("30", "1")] * 10 + [("40", "1")] * 3 + [("20", "2")]
    )
    models = [*journalist_risk(0.2, population, mean=0.2, above=0.25, share=0.4), delta_presence(0, 0.5, population)]
    check = kanon_sql.verify(release, quasi_identifiers=["age", "zip"], privacy=models, connection=engine.connection)
    for name in (release, population):
        engine.run(queries.drop(queries.Relation(name), engine.dialect))
    # Nobody in the population is 40 in zip 2: no mean can be said, and the risk there is above any.
    assert check.summary.findings == (
        Finding("highest journalist risk", 0.2, 1 / 3, 3, 6),
        Finding("δ-presence", {"min": 0, "max": 0.5}, 1.0, 2, 4),
        Finding("mean journalist risk", 0.2, None, 2, 4),
        Finding("share of rows above a journalist risk", {"threshold": 0.25, "share": 0.4}, 4 / 7, 2, 4),
    )


def test_models_in_addition_to_those_of_values_apply_too(engine: Engine, tables: tuple[str, str]) -> None:
    sample, population = tables
    models = [journalist_risk(population=population, mean=0.1), l_diversity("ill", 2)]
    options: dict[str, Any] = {"quasi_identifiers": RECIPES, "privacy": models, "suppression_limit": 0.3}
    manifest = kanon_sql.anonymize(sample, **options, connection=engine.connection).manifest
    achieved = {finding["model"]: finding["achieved"] for finding in manifest["privacy"]}
    assert achieved["mean journalist risk"] <= 0.1
    assert achieved["distinct l-diversity of ill"] >= 2
    assert manifest["proven_optimal"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mean": 0.1}, "the journalist's risk needs a population"),
        ({"population": "x", "mean": 2}, "mean journalist risk is 2; it must be above 0"),
        ({"population": "x", "above": 0.1}, "needs both the threshold and the share"),
        ({"population": "x", "above": 0.1, "share": 1}, "share of rows above a journalist risk is 1"),
        ({"population": "x"}, "a journalist risk needs a bound; set highest, mean, or"),
    ],
)
def test_an_invalid_risk_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        journalist_risk(**options)


def test_models_that_the_whole_population_violates_are_reported_before_the_search() -> None:
    population = pandas.DataFrame({"age": [1, 2] * 10})
    options: dict[str, Any] = {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}}
    message = r"no release can meet mean journalist risk, 0\.04 required: .* 6 rows in one class do, which reach 0\.05"
    with pytest.raises(InfeasibleError, match=message):
        kanon_sql.anonymize(population[:6], options, privacy=journalist_risk(population=population, mean=0.04))
    other = [*journalist_risk(population=population, mean=0.5), k_map(2, population.copy())]
    with pytest.raises(SpecError, match="two models name different populations"):
        kanon_sql.anonymize(population[:6], options, privacy=other)


@pytest.mark.slow
def test_the_command_line_takes_the_journalists_mean_and_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    everybody = pandas.DataFrame({"age": [20 + i % 30 for i in range(300)]})
    everybody.to_csv("voters.csv", index=False)
    everybody[::7].to_csv("seen.csv", index=False)
    Path("hierarchies").mkdir()
    lines = [f"{age};{age // 5 * 5}+;{age // 10}0s;*" for age in range(20, 50)]
    Path("hierarchies/age.csv").write_text("\n".join(lines))
    arguments = ["--quasi-identifiers", "age", "--hierarchies", "hierarchies"]
    for risk, level in (("mean=0.1", 0), ("mean=0.02", 1), ("above=0.05:share=0.1", 1)):
        given = [*arguments, "--risk", f"journalist:{risk}:population=voters.csv"]
        run = kanon("anonymize", "seen.csv", *given, "--output", "anon.csv", "--overwrite")
        assert run.code == 0, run.err
        assert f"age {level}" in " ".join(run.out.split())
        assert "journalist risk" in run.out
        checked = kanon("verify", "anon.csv", *given)
        assert (checked.code, "journalist risk" in checked.out) == (0, True)
    failed = kanon("verify", "anon.csv", *arguments, "--risk", "journalist:mean=0.01:population=voters.csv")
    assert failed.code == 1
