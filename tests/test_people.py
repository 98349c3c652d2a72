"""People instead of rows: every count of a privacy model, by brute force on the written release."""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import log
from pathlib import Path
from random import Random
from typing import Any

import pandas
import pytest
import yaml

import kanon_sql
from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError, ReleaseWarning, SourceError, SpecError, VerificationError
from kanon_sql.frequency import judge
from kanon_sql.frequency.judge import Judge
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.preflight import preflight
from kanon_sql.plan.problem import count
from kanon_sql.plan.source import opened, settle_spec
from kanon_sql.privacy import (
    PrivacyModel,
    alpha,
    beta_likeness,
    delta_disclosure,
    k_anonymity,
    l_diversity,
    marketer_risk,
    prosecutor_risk,
    t_closeness,
)
from kanon_sql.queries import Relation
from kanon_sql.release import people_check as people_check
from support.command_line import kanon
from support.database import create_table
from support.models import Defined, People, entropy, equal_distance, gains, share, size

TYPES = {"age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR", "visit": "INTEGER", "patient": "INTEGER"}
SPEC: dict[str, Any] = {
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [5, 10, 20]}}, "zip": {"hierarchy": "suppress"}},
    "sensitive": ["ill"],
    "keep": ["visit"],
    "unit": "patient",
    "suppression_limit": 0.2,
}
STRATEGIES = ["auto", "exhaustive", "flash", "mondrian", "mondrian_relaxed", "prioprivacy", "refine", "kaca"]
HELD = {
    "k": Defined(k_anonymity(4), lambda of, _: size(of) >= 4),
    "l": Defined(l_diversity("ill", 2), lambda of, _: len(of) >= 2),
    "entropy": Defined(l_diversity("ill", 1.8, "entropy"), lambda of, _: entropy(of) >= log(1.8) - 1e-9),
    "t": Defined(t_closeness("ill", 0.4), lambda of, table: equal_distance(of, table) <= Fraction(2, 5)),
    "alpha": Defined(alpha("ill", 0.8, "flu"), lambda of, _: share(of, "flu") <= Fraction(4, 5)),
    "beta": Defined(
        beta_likeness("ill", 0.3, "basic"), lambda of, table: max(gains(of, table), default=0) <= 0.3 + 1e-9
    ),
    "delta": Defined(
        delta_disclosure("ill", 0.5),
        lambda of, table: set(of) == set(table) and all(abs(log(1 + gain)) < 0.5 for gain in gains(of, table)),
    ),
}
MODELS = {name: [k_anonymity(3 if name != "k" else 4), item.model][: 1 + (name != "k")] for name, item in HELD.items()}
ADD_UP = ("entropy", "t")  # the models for which each person must have one value
EMBEDDED = [
    *((strategy, models) for strategy in ("auto", "mondrian", "prioprivacy") for models in ("k", "entropy", "t")),
    *((strategy, "k") for strategy in STRATEGIES),
    *((strategy, "t") for strategy in ("exhaustive", "mondrian_relaxed", "refine", "kaca")),
    *(("flash", "l"), ("auto", "l"), ("mondrian", "l"), ("refine", "alpha"), ("kaca", "alpha"), ("prioprivacy", "l")),
    *(("exhaustive", "beta"), ("kaca", "beta"), ("auto", "delta")),
]
EMBEDDED = [
    pair for pair in dict.fromkeys(EMBEDDED) if pair[0] != "flash" or pair[1] in ("k", "l")
]  # needs a monotone model
Anonymize = Callable[..., Any]


def visits(rows: int = 160, seed: int = 1, one_value: bool = False) -> list[tuple[Any, ...]]:
    """Rows of few people who come often, some always from one place; the visit tells which row it was."""
    illnesses = ["flu", "flu", "ulcer", None]
    draw = Random(seed)
    created = []
    for number in range(rows):
        patient = draw.choice([draw.randint(1, 6), draw.randint(7, 60)])
        home = Random(patient)
        age, place = home.randint(20, 59), home.choice(["1010", "1020", "1030"])
        if draw.random() < 0.2:
            place = draw.choice(["1010", "1020", "1030"])
        ill = home.choice(illnesses) if one_value else draw.choice(illnesses)
        created.append((age, place, ill, number, patient))
    return created


def classes_of(released: list[tuple[Any, ...]], rows: list[tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
    """The released classes, each as the source's rows in it: a visit is one row."""
    of_visit = {row[3]: row for row in rows}
    classes = defaultdict(list)
    for *quasi, ill, visit in released:
        assert of_visit[visit][2] == ill
        classes[tuple(quasi)].append(of_visit[visit])
    return list(classes.values())


def assert_holds(models: str, classes: list[list[tuple[Any, ...]]], rows: list[tuple[Any, ...]]) -> None:
    everybody = People((row[2], row[4]) for row in rows)
    for class_ in classes:
        values = People((row[2], row[4]) for row in class_)
        assert size(values) >= 3
        assert HELD[models].is_safe(values, everybody)


@pytest.mark.parametrize(("strategy", "models"), EMBEDDED)
def test_every_class_counts_people(embedded: DuckDB, strategy: str, models: str, anonymized: Anonymize) -> None:
    assert_people_are_held(embedded, strategy, models, anonymized)


# What searches and recodes is the frequency set in DuckDB, wherever the table is: on a server each strategy, and each
# model as a table and as a view, but not each with each.
ON_A_SERVER = [
    *(("auto", "k"), ("exhaustive", "entropy"), ("exhaustive", "t"), ("flash", "l")),
    *(("mondrian", "l"), ("mondrian_relaxed", "t"), ("refine", "l"), ("kaca", "entropy")),
    *(("prioprivacy", "k"), ("prioprivacy", "entropy"), ("prioprivacy", "t")),
    *(("auto", "alpha"), ("kaca", "beta"), ("auto", "delta")),
]


@pytest.mark.parametrize(("strategy", "models"), ON_A_SERVER)
def test_every_class_counts_people_on_a_server(
    postgres: PostgreSQL, strategy: str, models: str, anonymized: Anonymize
) -> None:
    assert_people_are_held(postgres, strategy, models, anonymized)


def assert_people_are_held(engine: Engine, strategy: str, models: str, anonymized: Anonymize) -> None:
    rows = visits(seed=len(strategy), one_value=models in ADD_UP)
    create_table(engine, "visits", TYPES, rows)
    form = ["table", "view"][len(strategy + models) % 2]
    release = anonymized(engine, strategy=strategy, privacy=MODELS[models], into="anon", form=form)
    assert "patient" not in release.manifest["roles"]["kept"]
    assert release.manifest["unit"] == "patient"
    written = engine.rows('SELECT * FROM "anon"')
    assert len(written) == release.manifest["released_rows"] > 0
    assert_holds(models, classes_of(written, rows), rows)


@pytest.fixture
def anonymized() -> Anonymize:
    def ask(engine: Engine, **options: Any) -> Any:
        return kanon_sql.anonymize("visits", {**SPEC}, connection=engine.connection, **options)  # type: ignore[attr-defined]

    return ask


def test_a_row_is_not_a_person(engine: Engine, anonymized: Anonymize) -> None:
    """Five rows of one patient are 5-anonymous as rows, and nobody's crowd."""
    create_table(
        engine,
        "visits",
        TYPES,
        [(30, "1010", "flu", i, 1) for i in range(5)] + [(50, "1020", "flu", 9 + i, i) for i in range(5)],
    )
    options = {"privacy": [k_anonymity(5)], "into": "anon", "strategy": "exhaustive", "suppression_limit": 0.5}
    release = anonymized(engine, **options)
    released = engine.rows('SELECT * FROM "anon"')
    assert release.manifest["privacy"][0]["achieved"] == 5
    assert {row[0] for row in released} != {30, 50}


def test_a_view_counts_people_whenever_it_is_read(engine: Engine, anonymized: Anonymize) -> None:
    rows = [(30, "1010", "flu", i, i) for i in range(6)] + [(50, "1020", "flu", 10 + i, 10 + i) for i in range(6)]
    create_table(engine, "visits", TYPES, rows)
    anonymized(engine, privacy=[k_anonymity(4)], into="anon", form="view")
    assert len(engine.rows('SELECT * FROM "anon"')) == 12
    engine.run("UPDATE visits SET patient = 1 WHERE age = 30")
    assert {row[0] for row in engine.rows('SELECT * FROM "anon"')} == {50}


@pytest.mark.parametrize("strategy", ["exhaustive", "mondrian"])
@pytest.mark.parametrize("model", [l_diversity("ill", 2), l_diversity("ill", 1.5, "entropy"), t_closeness("ill", 0.9)])
def test_a_view_does_not_count_the_values_of_rows_without_a_person(
    engine: Engine, anonymized: Anonymize, model: PrivacyModel, strategy: str
) -> None:
    """All whom a class is known to hold have one illness, though rows of nobody have another."""
    rows = [(age, "1010", ["flu", "ulcer"][i % 2], age + i, age + i) for age in (30, 50) for i in range(6)]
    create_table(engine, "visits", TYPES, rows)
    options = {"privacy": [k_anonymity(2), model], "strategy": strategy, "suppression_limit": 0.0}
    anonymized(engine, into="anon", form="view", **options)
    assert len(engine.rows('SELECT * FROM "anon"')) == 12
    engine.run("UPDATE visits SET patient = NULL WHERE age = 30 AND ill = 'ulcer'")
    assert {str(row[0])[:2] for row in engine.rows('SELECT * FROM "anon"')} == {"50"}


@pytest.mark.parametrize("strategy", ["exhaustive", "mondrian"])
@pytest.mark.parametrize(
    ("model", "kept"), [(l_diversity("ill", 1.5, "entropy"), {"50"}), (t_closeness("ill", 0.9), set[str]())]
)
def test_a_view_hides_shares_that_no_longer_add_up(
    engine: Engine, anonymized: Anonymize, model: PrivacyModel, kept: set[str], strategy: str
) -> None:
    """Somebody gets a second value: her class has no entropy, and the whole table no distribution to compare with."""
    rows = [(age, "1010", ["flu", "ulcer"][i % 2], age + i, age + i) for age in (30, 50) for i in range(6)]
    create_table(engine, "visits", TYPES, rows)
    options = {"privacy": [k_anonymity(2), model], "strategy": strategy, "suppression_limit": 0.0}
    anonymized(engine, into="anon", form="view", **options)
    assert {str(row[0])[:2] for row in engine.rows('SELECT * FROM "anon"')} == {"30", "50"}
    engine.run("INSERT INTO visits VALUES (30, '1010', 'ulcer', 99, 30)")
    assert {str(row[0])[:2] for row in engine.rows('SELECT * FROM "anon"')} == kept
    with pytest.raises(
        SpecError, match=r"is about shares of people that add up to 1, and 1 people have several values"
    ):
        anonymized(engine, into="again", **options)


def test_a_value_that_everyone_has_has_a_share_of_1(anonymized: Anonymize) -> None:
    """Each of 40 people has four illnesses: of the rows a quarter is HIV, of the people everybody has it."""
    ill = ["HIV", "flu", "cold", "gout"]
    rows = [(30, "1010", ill[i % 4], i, i // 4) for i in range(160)]
    engine = DuckDB()
    create_table(engine, "visits", TYPES, rows)
    with pytest.raises(InfeasibleError):
        anonymized(engine, privacy=[k_anonymity(5), alpha("ill", 0.5, "HIV")])
    release = anonymized(engine, privacy=[k_anonymity(5), alpha("ill", 1, "HIV"), beta_likeness("ill", 1)])
    assert [finding["achieved"] for finding in release.manifest["privacy"]] == [40, 1, 0]


@pytest.mark.parametrize("form", ["table", "file"])
def test_equal_values_that_look_different_are_one_value_of_a_person(
    engine: Engine, anonymized: Anonymize, tmp_path: Path, form: str
) -> None:
    """0.0 and -0.0 are equal; in the release each of them is as it was."""
    rows = [(30, "1010", [0.0, -0.0, 1.5][i % 3], i, i // 4) for i in range(48)]
    create_table(engine, "visits", {**TYPES, "ill": "DOUBLE PRECISION"}, rows)
    to = {"into": "anon"} if form == "table" else {"output": str(tmp_path / "anon.parquet")}
    release = anonymized(engine, privacy=[k_anonymity(5), l_diversity("ill", 2), alpha("ill", 1)], **to)
    assert [finding["achieved"] for finding in release.manifest["privacy"]] == [12, 2, 1]
    assert sorted(map(str, release.to_df()["ill"])) == sorted(["0.0", "-0.0", "1.5"] * 16)
    assert release.verify()


def test_a_custom_model_counts_the_people_of_a_class(anonymized: Anonymize) -> None:
    engine = DuckDB()
    create_table(engine, "visits", TYPES, visits())
    columns = {"people": "SUM(n)", "pairs": "SUM(c)"}
    own = PrivacyModel("pairs", {}, columns, "pairs >= people", "ill", achieved="MAX(people)")
    top = {name: {"hierarchy": "suppress", "min_level": 1} for name in ("age", "zip")}
    release = anonymized(engine, privacy=[own], quasi_identifiers=top)
    assert release.manifest["privacy"][0]["achieved"] == len({row[4] for row in visits()})
    shares = PrivacyModel("shares", {}, {"of": "MAX(c / size)"}, "of <= 0.9", "ill")
    with pytest.raises(SpecError, match="divides by `size`"):
        anonymized(engine, privacy=[shares])


def test_a_file_counts_people(engine: Engine, anonymized: Anonymize, tmp_path: Path) -> None:
    rows = visits()
    create_table(engine, "visits", TYPES, rows)
    for name in ("anon.csv", "anon.parquet"):
        release = anonymized(engine, privacy=MODELS["l"], output=str(tmp_path / name))
        frame = release.to_df()
        assert "patient" not in frame.columns
        written = [tuple(None if value != value else value for value in row) for row in frame.itertuples(index=False)]
        assert_holds("l", classes_of([(*row[:-1], int(row[-1])) for row in written], rows), rows)


def test_a_release_that_differs_from_the_one_with_its_people_is_refused(
    engine: Engine, anonymized: Anonymize, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_table(engine, "visits", TYPES, visits())
    with_people = people_check.with_people

    def of_others(recoding: Any, tables: Scratch, written_as: str | None) -> Relation:
        people = with_people(recoding, tables, written_as)
        engine.run(queries.insert(people, queries.select_all(people, engine.dialect), engine.dialect))
        return people

    monkeypatch.setattr(people_check, "with_people", of_others)
    with pytest.raises(VerificationError, match="differs from what its people were counted in"):
        anonymized(engine, privacy=[k_anonymity(4)], into="anon")
    assert engine.find("anon") is None


@pytest.mark.parametrize("model", ["l", "t", "alpha"])
def test_a_release_is_verified_by_the_people_of_its_source(
    engine: Engine, anonymized: Anonymize, tmp_path: Path, model: str
) -> None:
    create_table(engine, "visits", TYPES, visits(one_value=model in ADD_UP))
    release = anonymized(engine, privacy=MODELS[model], into="anon")
    check = release.verify()
    assert check
    achieved = {finding["model"]: finding["achieved"] for finding in release.manifest["privacy"]}
    assert {finding.model: finding.achieved for finding in check.summary.findings} == pytest.approx(achieved)
    with warnings.catch_warnings(action="error"):
        copy = release.write(tmp_path / "copy.csv")
    options: dict[str, Any] = {"quasi_identifiers": SPEC["quasi_identifiers"], "unit": "patient"}
    options |= {"privacy": MODELS[model], "connection": engine.connection}
    again = kanon_sql.verify("anon", **options, against="visits")
    assert {finding.model: finding.achieved for finding in again.summary.findings} == pytest.approx(achieved)
    assert again.summary.rows == release.manifest["released_rows"]
    more = kanon_sql.verify(
        "anon", **{**options, "privacy": [k_anonymity(achieved["k-anonymity"] + 1)]}, against="visits"
    )
    assert not more
    with pytest.raises(SpecError, match=r"'patient', which the release does not have; name its source with `against`"):
        kanon_sql.verify("anon", **options)
    visit = engine.rows("SELECT MIN(visit) FROM anon")[0][0]
    engine.run(f"DELETE FROM visits WHERE visit = {visit}")  # of whom nobody knows any more whose it was
    with pytest.raises(
        SourceError, match="their people are unknown; name the source as it was at the time of the release"
    ):
        kanon_sql.verify("anon", **options, against="visits")
    with pytest.warns(ReleaseWarning, match="the copy was checked by its rows alone, and not again by all of"):
        release.write(copy, overwrite=True)


def test_the_people_of_a_file_are_counted_in_the_source_that_its_spec_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [(*row[:2], row[2] or "", *row[3:]) for row in visits()]
    pandas.DataFrame(rows, columns=list(TYPES)).to_csv("visits.csv", index=False)
    spec = {**SPEC, "source": "visits.csv", "privacy": {"k": 4, "unit": "patient", "l_diversity": {"ill": 2}}}
    del spec["unit"]
    Path("release.yml").write_text(yaml.safe_dump({**spec, "target": {"file": "anon.csv"}}))
    run = kanon("anonymize", "--spec", "release.yml", "--json")
    line = kanon("verify", "--spec", "release.yml", "--json")
    assert line.code == 0, line.err
    achieved = {finding["model"]: finding["achieved"] for finding in json.loads(run.out)["privacy"]}
    assert {finding["model"]: finding["achieved"] for finding in json.loads(line.out)["findings"]} == achieved
    assert kanon("verify", "--spec", "release.yml", "--k", "40").code == 1
    Path("visits.csv").rename("elsewhere.csv")
    refused = kanon("verify", "--spec", "release.yml")
    assert refused.code == 2
    assert "name its source with --against, or leave out --unit to count rows" in refused.err
    assert kanon("verify", "--spec", "release.yml", "--against", "elsewhere.csv").code == 0


def test_a_share_of_people_can_be_satisfied_by_every_class_but_not_together() -> None:
    """Who has a cold is in both classes, so that the two with the flu are half of either, and two of three in all."""
    visits = pandas.DataFrame({"zip": list("xxyy"), "person": list("acbc"), "ill": ["flu", "cold"] * 2})
    release = kanon_sql.anonymize(
        visits,
        quasi_identifiers={"zip": {"hierarchy": "suppress"}},
        unit="person",
        privacy=[k_anonymity(2), alpha("ill", 0.5)],
        suppression_limit=0.0,
    )
    assert release.manifest["node"] == {"zip": 0}
    assert [finding["achieved"] for finding in release.manifest["privacy"]] == [2, 0.5]


RISKS = [*prosecutor_risk(mean=0.3, above=0.26, share=0.25), marketer_risk(0.3)]


def risks_of_people(classes: list[list[tuple[Any, ...]]]) -> dict[str, float]:
    """The figures of everybody at the risk of the smallest class that they are in."""
    people = [{row[4] for row in class_} for class_ in classes]
    risks = [max(Fraction(1, len(item)) for item in people if person in item) for person in set().union(*people)]
    above = Fraction(sum(risk > Fraction(26, 100) for risk in risks), len(risks))
    return {risk.name: float(above if "above" in risk.name else sum(risks) / len(risks)) for risk in RISKS}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("strategy", ["exhaustive", "mondrian"])
def test_a_risk_of_a_release_is_that_of_people_at_their_smallest_class(
    embedded: DuckDB, anonymized: Anonymize, strategy: str, seed: int
) -> None:
    rows = visits(90, seed)
    create_table(embedded, "visits", TYPES, rows)
    built = anonymized(embedded, strategy=strategy, privacy=RISKS, into="anon")
    found = {
        finding["model"]: finding["achieved"]
        for finding in built.manifest["privacy"]
        if finding["model"] != "class size"
    }
    expected = risks_of_people(classes_of(embedded.rows('SELECT * FROM "anon"'), rows))
    assert found == pytest.approx(expected)
    assert all(found[risk.name] <= risk.most for risk in RISKS)
    assert any("every class has 4 people or more" in warning for warning in built.manifest["warnings"])


@pytest.mark.slow
def test_a_risk_is_verified_over_people() -> None:
    verdicts = set()
    for seed in range(4):
        rows = [
            (age // (5 if seed % 2 else 20), place, ill, visit, patient)
            for age, place, ill, visit, patient in visits(60, seed)
        ]
        by_class = defaultdict(list)
        for row in rows:
            by_class[row[:2]].append(row)
        options = {"quasi_identifiers": ["age", "zip"], "unit": "patient", "privacy": RISKS}
        checked = kanon_sql.verify(pandas.DataFrame(rows, columns=[*TYPES]), **options)
        expected = risks_of_people(list(by_class.values()))
        assert {finding.model: finding.achieved for finding in checked.summary.findings} == pytest.approx(expected)
        assert {finding.model: finding.holds for finding in checked.summary.findings} == {
            risk.name: expected[risk.name] <= risk.most for risk in RISKS
        }
        verdicts |= {finding.holds for finding in checked.summary.findings}
    assert verdicts == {True, False}


@pytest.mark.slow
def test_the_printed_figures_count_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two patients with three rows each are a class of two people."""
    monkeypatch.chdir(tmp_path)
    rows = [
        (age, "1010", "flu", 100 * (age + who) + i, age + who) for age in (30, 50) for who in range(2) for i in range(3)
    ]
    pandas.DataFrame(rows, columns=[*TYPES]).to_csv("visits.csv", index=False)
    options = {**SPEC, "node": {"age": 1, "zip": 0}, "privacy": {"k": 2}, "target": {"file": "anon.csv"}}
    Path("spec.yml").write_text(yaml.safe_dump({"source": "visits.csv", "columns": {"zip": "text"}, **options}))
    run = kanon("anonymize", "--spec", "spec.yml")
    assert "12 of 12 rows released in 2 classes, the smallest of 2 people; 0 rows suppressed." in run.out
    assert "12 rows of 4 people in 2 classes, the smallest of 2 people" in kanon("verify", "--spec", "spec.yml").out
    alone = ["verify", "visits.csv", "--quasi-identifiers", "age,visit", "--unit", "patient", "--k", "2"]
    assert (
        "the smallest of 1 person\n12 rows in 12 classes are below 2 people:\n  12 classes of 1 person"
        in kanon(*alone).out
    )


@pytest.mark.parametrize("strategy", ["auto", "mondrian"])
def test_a_release_of_people_is_explained(strategy: str) -> None:
    rows = pandas.DataFrame({"zip": list("111122222"), "person": list("aaabcccde")})
    spec = {"quasi_identifiers": {"zip": {"hierarchy": "suppress"}}, "unit": "person", "strategy": strategy}
    results = [step.gave for step in kanon_sql.explain(rows, spec, k=2).steps]
    assert "2 classes, 9 rows, the smallest of 4 rows" in results


@pytest.mark.quick
@pytest.mark.parametrize("seed", range(60))
def test_bits_of_people_decide_about_classes_like_counting_them(seed: int) -> None:
    random = Random(seed)
    people = [None, *range(1, random.choice([3, 70, 400]))]
    rows = [(int(random.triangular(0, 12, 0)), random.choice(people), random.randint(1, 3)) for _ in range(400)]
    least = random.choice([1, 2, 5, 32])
    expected = 0
    for key in {key for key, _, _ in rows}:
        members = {person for own, person, _ in rows if own == key and person is not None}
        expected += sum(n for own, _, n in rows if own == key) if len(members) < least else 0
    engine = DuckDB()
    engine.run("CREATE TABLE counted (_key_0 BIGINT, _unit INTEGER, n BIGINT)")
    values = ", ".join(f"({key}, {'NULL' if person is None else person}, {n})" for key, person, n in rows)
    engine.run(f"INSERT INTO counted VALUES {values}")
    test = queries.per_node("node_tests/node_test_of_people", "duckdb", least=least)
    assert [tuple(map(int, row)) for row in engine.rows(test(3, Relation("counted"), ["_key_0"]))] == [(3, expected)]


@pytest.mark.parametrize("seed", range(12))
def test_a_node_is_judged_alike_by_bits_and_by_counts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    rows = [(random.randrange(400), int(random.triangular(20, 90, 20)), random.choice("abcde")) for _ in range(200)]
    source = pandas.DataFrame(rows, columns=["patient", "age", "ward"])
    qi = {"age": {"hierarchy": {"ranges": [5, 10]}}, "ward": {"hierarchy": "suppress"}}
    spec = settle_spec(source, {"quasi_identifiers": qi, "unit": "patient"}, {"k": random.choice([3, 7, 25])})
    with opened(source, spec, None) as data, data.scratches:
        problem = count(preflight(spec, data, "embedded"), Observer())
        nodes = [*product(*(range(height + 1) for height in problem.frequency_set.heights))]
        by_bits = [problem.judge.rows_at_risk([node]) for node in nodes]
        assert any("BIT_COUNT" in statement.sql for statement in problem.frequency_set.tables.log)
        monkeypatch.setattr(judge, "_MOST_BITS", 0)
        by_counts = [Judge(problem.frequency_set, problem.judge.model).rows_at_risk([node]) for node in nodes]
    assert by_bits == by_counts
    assert len(set(map(tuple, by_bits))) > 2
