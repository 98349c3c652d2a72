"""Privacy models in a spec, in flags and in Python, and how they are reported."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import InfeasibleError, KanonError, ReleaseWarning, SpecError
from kanon_sql.privacy import (
    PrivacyModel,
    ReleaseModel,
    alpha,
    beta_likeness,
    delta_disclosure,
    k_anonymity,
    l_diversity,
    marketer_risk,
    population_uniqueness,
    prosecutor_risk,
    t_closeness,
)
from kanon_sql.strategies import Driver
from support.command_line import kanon
from support.database import create_table
from support.models import counted, size

RECIPES = {"age": {"hierarchy": {"ranges": [10, 20]}}, "zip": {"hierarchy": {"redact": "right"}}}


def people(rows: int = 200) -> pandas.DataFrame:
    random = Random(1)
    return pandas.DataFrame(
        {
            "age": [random.randint(20, 59) for _ in range(rows)],
            "zip": [random.choice(["12", "13", "21"]) for _ in range(rows)],
            "disease": [random.choice(["HIV", "flu", "cold", "acne"]) for _ in range(rows)],
            "income": [1000 * random.randint(1, 9) for _ in range(rows)],
        }
    )


SIZES: list[tuple[dict[str, Any], list[PrivacyModel | ReleaseModel]]] = [
    ({"risk": {"highest": 0.125, "mean": 0.05}}, [*prosecutor_risk(highest=0.125, mean=0.05)]),
    ({"risk": {"above": {"threshold": 0.2, "share": 0.05}}}, [*prosecutor_risk(above=0.2, share=0.05)]),
    ({"risk": {"model": "marketer", "mean": 0.05}}, [marketer_risk(0.05)]),
    ({"uniqueness": {"share": 0.01, "sampling_fraction": 0.05}}, [population_uniqueness(0.01, 0.05)]),
]
ASKED: list[tuple[dict[str, Any], list[PrivacyModel]]] = [
    ({"l_diversity": {"disease": 3}}, [l_diversity("disease", 3)]),
    ({"l_diversity": {"disease": {"l": 2.5, "kind": "entropy"}}}, [l_diversity("disease", 2.5, "entropy")]),
    (
        {"l_diversity": {"disease": {"l": 2, "kind": "recursive", "c": 3}}},
        [l_diversity("disease", 2, "recursive", c=3)],
    ),
    ({"t_closeness": {"income": 0.3}}, [t_closeness("income", 0.3)]),
    ({"t_closeness": {"income": {"t": 0.3, "distance": "ordered"}}}, [t_closeness("income", 0.3, "ordered")]),
    ({"alpha_k": {"disease": 0.6}}, [alpha("disease", 0.6)]),
    ({"alpha_k": {"disease": {"alpha": 0.5, "value": "HIV"}}}, [alpha("disease", 0.5, "HIV")]),
    ({"beta_likeness": {"disease": 2}}, [beta_likeness("disease", 2)]),
    ({"beta_likeness": {"disease": {"beta": 2, "kind": "basic"}}}, [beta_likeness("disease", 2, "basic")]),
    ({"delta_disclosure": {"disease": 1.5}}, [delta_disclosure("disease", 1.5)]),
]


@pytest.mark.parametrize(("settings", "models"), ASKED, ids=[str(reported) for reported, _ in ASKED])
@pytest.mark.sampled
def test_a_spec_and_python_have_the_same_models(settings: dict[str, Any], models: list[PrivacyModel]) -> None:
    assert_asks_the_same({"quasi_identifiers": RECIPES}, settings, models)


def test_a_spec_and_python_have_the_same_models_for_a_local_recoding() -> None:
    assert_asks_the_same({"quasi_identifiers": RECIPES, "strategy": "mondrian"}, *ASKED[0])


def assert_asks_the_same(spec: dict[str, Any], settings: dict[str, Any], models: Sequence[PrivacyModel]) -> None:
    by_spec = kanon_sql.anonymize(people(), {**spec, "privacy": {"k": 4, **settings}})
    by_flag = kanon_sql.anonymize(people(), spec, k=4, **settings)
    by_python = kanon_sql.anonymize(people(), spec, privacy=[k_anonymity(4), *models])
    assert by_spec.manifest["privacy"] == by_flag.manifest["privacy"] == by_python.manifest["privacy"]
    assert [(finding["model"], finding["required"]) for finding in by_spec.manifest["privacy"]] == [
        (item.name, item.required) for item in (k_anonymity(4), *models)
    ]
    assert by_spec.to_df().equals(by_python.to_df())
    assert by_spec.manifest["roles"]["sensitive"] == [models[0].sensitive]


@pytest.mark.parametrize(("settings", "models"), SIZES, ids=[str(reported) for reported, _ in SIZES])
@pytest.mark.parametrize("k", [None, 3])
@pytest.mark.sampled
def test_a_risk_applies_without_k_unless_k_is_set(
    settings: dict[str, Any], models: list[PrivacyModel | ReleaseModel], k: int | None
) -> None:
    spec = {"quasi_identifiers": RECIPES}
    by_spec = kanon_sql.anonymize(people(), {**spec, "privacy": settings | ({"k": k} if k else {})})
    by_flag = kanon_sql.anonymize(people(), spec, k=k, **settings)
    by_python = kanon_sql.anonymize(people(), spec, privacy=[*([k_anonymity(k)] if k else []), *models])
    assert by_spec.manifest["privacy"] == by_flag.manifest["privacy"] == by_python.manifest["privacy"]
    names = [finding["model"] for finding in by_spec.manifest["privacy"] if finding["model"] != "class size"]
    assert names == [*(["k-anonymity"] if k else []), *(model.name for model in models)]


def test_models_of_a_spec_and_of_python_apply_together() -> None:
    spec = {"quasi_identifiers": RECIPES, "privacy": {"k": 4, "l_diversity": {"disease": 3}}}
    names = lambda release: [(finding["model"], finding["required"]) for finding in release.manifest["privacy"]]  # noqa: E731
    diverse, close = ("distinct l-diversity of disease", 3), ("t-closeness of income (equal distance)", 0.4)
    mixed = kanon_sql.anonymize(people(), spec, privacy=[t_closeness("income", 0.4)])
    assert names(mixed) == [("k-anonymity", 4), diverse, close]
    mixed = kanon_sql.anonymize(people(), spec, privacy=[t_closeness("income", 0.4), k_anonymity(2)])
    assert names(mixed) == [diverse, close, ("k-anonymity", 2)]


@pytest.mark.slow
def test_a_hierarchy_of_a_sensitive_column_comes_from_a_recipe_or_the_folder(tmp_path: Any) -> None:
    (tmp_path / "disease.csv").write_text("HIV;virus;*\nflu;virus;*\ncold;virus;*\nacne;skin;*\n")
    options = {"disease": {"t": 0.3, "distance": "hierarchical"}}
    spec = {"quasi_identifiers": RECIPES, "privacy": {"k": 4, "t_closeness": options}}
    by_folder = kanon_sql.anonymize(people(), spec, hierarchies=tmp_path)
    options["disease"]["hierarchy"] = str(tmp_path / "disease.csv")
    by_file = kanon_sql.anonymize(people(), spec)
    (finding,) = by_file.manifest["privacy"][1:]
    assert (finding["model"], finding["required"]) == ("t-closeness of disease (hierarchical distance)", 0.3)
    assert 0 < finding["achieved"] <= 0.3
    assert by_folder.manifest["privacy"] == by_file.manifest["privacy"]
    assert kanon_sql.anonymize(people(), spec | {"privacy": {"t_closeness": {"disease": 0.3}}}).to_df().shape


@pytest.mark.parametrize("form", ["table", "view"])
def test_values_of_an_enumeration_have_a_hierarchical_distance(postgres: PostgreSQL, form: str) -> None:
    postgres.run("CREATE TYPE mood AS ENUM ('sad', 'bad', 'glad')")
    moods = "CAST((CASE n % 4 WHEN 0 THEN 'sad' WHEN 1 THEN 'bad' WHEN 2 THEN 'glad' END) AS mood)"
    postgres.run(f"CREATE TABLE moods AS SELECT n / 30 AS age, {moods} AS mood FROM generate_series(0, 59) AS s(n)")
    close = {"t": 0.1, "distance": "hierarchical", "hierarchy": {"groups": {"low": ["sad", "bad"], "high": ["glad"]}}}
    spec = {
        "quasi_identifiers": {"age": {"hierarchy": "suppress"}},
        "privacy": {"k": 3, "t_closeness": {"mood": close}},
    }
    target = {"table": "moods_3", "as": form}
    release = kanon_sql.anonymize("moods", {**spec, "target": target}, connection=postgres.connection)
    assert release.manifest["node"] == {"age": 0}
    assert release.manifest["privacy"][1]["achieved"] < 0.1


def test_the_hierarchy_of_a_sensitive_column_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, read, seen = tmp_path / "disease.csv", Path.read_text, list[str]()
    path.write_text("HIV;virus;*\nflu;virus;*\ncold;virus;*\nacne;skin;*\n")
    monkeypatch.setattr(Path, "read_text", lambda self, **how: (seen.append(self.name), read(self, **how))[1])
    options = {"disease": {"t": 0.3, "distance": "hierarchical"}}
    spec = {"quasi_identifiers": RECIPES, "privacy": {"k": 4, "t_closeness": options}}
    kanon_sql.anonymize(people(), spec, hierarchies=tmp_path)
    assert seen.count("disease.csv") == 1


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"l_diversity": {"age": 3}}, "privacy.l_diversity counts the values of 'age', which is generalized as a quasi-"),
    ({"l_diversity": {"ill": 3}}, "there is no sensitive column 'ill'; there are age, zip, disease, income"),
    (
        {"l_diversity": {"disease": 5}},
        "no release can meet distinct l-diversity of disease, 5 required: not even all 200 rows in one class do, "
        "which reach 4; relax the model",
    ),
    (
        {"l_diversity": {"disease": {"l": 4, "kind": "entropy"}}, "suppression_limit": 0.0},
        r"no release can meet entropy l-diversity of disease, 4 required: .* reach 3\.98",
    ),
    (
        {"l_diversity": {"disease": {"l": 4, "kind": "recursive", "c": 1}}, "suppression_limit": 0.0},
        r"no release can meet recursive \(c, l\)-diversity of disease, l 4, c 1 required: .* reach 1\.",
    ),
    ({"alpha_k": {"disease": 0.2}, "suppression_limit": 0.0}, r"no release can meet α of disease, 0.2 required"),
    (
        {"alpha_k": {"disease": 0.2}},
        r"α of disease, 0.2 required: not even all 200 rows in one class do, which reach 0\.2750, and the 10 that may "
        "be suppressed are too few to help; relax the model, or raise `suppression_limit`",
    ),
    ({"l_diversity": {"disease": {"l": 2.5}}}, "l of 'disease' is 2.5; it must be whole and at least 1"),
    ({"l_diversity": {"disease": {"l": 2, "c": 3}}}, "'disease': recursive l-diversity needs `c`, and the other kinds"),
    ({"t_closeness": {"income": 1.01}}, "privacy.t_closeness.income.t: give a number above 0, at most 1, not 1.01"),
    (
        {"t_closeness": {"disease": {"t": 0.2, "distance": "ordered"}}},
        r"t-closeness of disease \(ordered distance\) needs ordered values, and the order of VARCHAR has no meaning; "
        "choose a column of numbers, dates or times, or the distance equal or hierarchical",
    ),
    (
        {"t_closeness": {"disease": {"t": 0.2, "distance": "hierarchical"}}},
        "column 'disease' has no hierarchy; use `hierarchies`, a folder with disease.csv, or a recipe",
    ),
    (
        {"t_closeness": {"disease": {"t": 0.2, "distance": "hierarchical", "hierarchy": "lacking.csv"}}},
        "column 'disease': the hierarchy lacks 1 of its values; add them there$",
    ),
    ({"t_closeness": {"disease": {"t": 0.2, "hierarchy": "suppress"}}}, "a hierarchical distance needs a hierarchy"),
    (
        {"t_closeness": {"ill": {"t": 0.2, "distance": "hierarchical"}}},
        "there is no sensitive column 'ill'; there are age, zip, disease, income",
    ),
    (
        {"alpha_k": {"disease": {"alpha": 0.5, "value": "AIDS"}}},
        "alpha of 'disease' names the value 'AIDS', which does not occur; correct it, or leave it out",
    ),
    ({"alpha_k": {"income": {"alpha": 0.5, "value": "many"}}}, "alpha of 'income' names the value 'many', which does"),
    ({"unit": "person"}, "there is no unit column 'person'; there are age, zip, disease, income"),
    ({"unit": "age"}, "'age' is in both `unit` and `quasi_identifiers`; keep it in one of them"),
]


@pytest.mark.parametrize("strategy", ["auto", "mondrian"])
@pytest.mark.parametrize(("settings", "message"), REFUSED, ids=[str(reported) for reported, _ in REFUSED])
def test_infeasible_models_are_refused_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], message: str, strategy: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lacking.csv").write_text("HIV;virus;*\nflu;virus;*\ncold;virus;*\n")
    spec = {"quasi_identifiers": RECIPES, "strategy": strategy, "k": 2, "suppression_limit": 0.05, **settings}
    started = spy_on_searches(monkeypatch)
    with pytest.raises(KanonError, match=message):
        kanon_sql.anonymize(people(), output="out.csv", **spec)
    assert not started
    assert not Path("out.csv").exists()


def spy_on_searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The stages that a run has come to when a search or a recoding begins."""
    started: list[str] = []
    monkeypatch.setattr(Driver, "run", lambda *_: started.append("search"))
    monkeypatch.setattr("kanon_sql.plan.plan.separate_database", lambda *_: started.append("recoding"))
    return started


def test_a_value_is_one_of_the_column_in_its_own_type() -> None:
    for value in (3000, "3000", 3000.0):
        options = {"income": {"alpha": 0.5, "value": value}}
        release = kanon_sql.anonymize(people(), {"quasi_identifiers": RECIPES, "privacy": {"k": 2, "alpha_k": options}})
        assert 0 < release.manifest["privacy"][1]["achieved"] <= 0.5


def test_the_empty_text_is_a_value() -> None:
    rows = pandas.DataFrame(
        {"zip": ["11"] * 4 + ["12"] * 4, "disease": ["", "flu", "", "flu", "flu", "flu", "", "flu"]}
    )
    options = {"k": 2, "alpha_k": {"disease": {"alpha": 0.4, "value": ""}}}
    release = kanon_sql.anonymize(rows, {"quasi_identifiers": {"zip": {"hierarchy": "suppress"}}, "privacy": options})
    assert release.manifest["node"] == {"zip": 1}
    assert release.manifest["privacy"][1]["achieved"] == 0.375
    assert release.manifest["privacy"][1]["required"] == {"alpha": 0.4, "value": ""}


def test_the_distance_of_a_column_of_one_value_is_0() -> None:
    rows = pandas.DataFrame({"zip": ["11"] * 4, "income": [7] * 4})
    options: dict[str, Any] = {"quasi_identifiers": {"zip": {"hierarchy": "suppress"}}, "privacy": {"k": 2}}
    release = kanon_sql.anonymize(rows, options, t_closeness={"income": {"t": 0.1, "distance": "ordered"}})
    assert release.manifest["privacy"][1]["achieved"] == 0


def test_models_that_suppression_can_satisfy_are_searched_for() -> None:
    """All rows have 60 of one value in 110, more than half; ten of them may go."""
    rows = pandas.DataFrame({"age": [20] * 110, "ill": ["a"] * 60 + ["b"] * 50, "zip": [*([1] * 100), *([2] * 10)]})
    rows.loc[rows.index[:10], "zip"], rows.loc[rows.index[100:], "zip"] = 2, 1
    spec = {
        "quasi_identifiers": {"zip": {"hierarchy": "suppress"}},
        "keep": "*",
        "privacy": {"k": 2, "alpha_k": {"ill": 0.5}},
    }
    release = kanon_sql.anonymize(rows, spec, suppression_limit=0.1)
    assert (release.manifest["suppressed_rows"], release.manifest["privacy"][1]["achieved"]) == (10, 0.5)
    with pytest.raises(InfeasibleError, match=r"not even all 110 rows in one class do, which reach 0\.5455"):
        kanon_sql.anonymize(rows, spec, suppression_limit=0)


def test_people_in_two_classes_are_one_when_these_are_merged() -> None:
    """A class of the people 1 (flu) and 2, and one of 3 (flu) and 2: of three people together two have the flu."""
    rows = pandas.DataFrame({"zip": [1, 1, 2, 2], "ill": ["flu", "ulcer", "flu", "ulcer"], "who": [1, 2, 3, 2]})
    spec = {"quasi_identifiers": {"zip": {"hierarchy": "suppress"}}, "unit": "who", "suppression_limit": 0.0}
    for strategy in ("auto", "best_first", "exhaustive"):
        release = kanon_sql.anonymize(rows, spec, strategy=strategy, k=2, alpha_k={"ill": 0.5})
        assert (release.manifest["node"], release.manifest["proven_optimal"]) == ({"zip": 0}, True)
    with pytest.raises(SpecError, match="ola needs a monotone privacy model"):
        kanon_sql.anonymize(rows, spec, strategy="ola", k=2, alpha_k={"ill": 0.5})
    together = kanon_sql.verify(rows.assign(zip="*"), quasi_identifiers=["zip"], unit="who", k=2, alpha_k={"ill": 0.5})
    assert together.summary.findings[1].achieved == pytest.approx(2 / 3)


def test_rows_without_a_person_are_counted(engine: Engine) -> None:
    rows = [(20 + i % 7, None if i % 40 == 0 else i // 2) for i in range(120)]
    create_table(engine, "visits", {"age": "INTEGER", "person": "INTEGER"}, rows)
    spec = {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}, "unit": "person"}
    with pytest.raises(SpecError, match="3 rows have no 'person', so the number of people is unknown"):
        kanon_sql.anonymize("visits", spec, connection=engine.connection)
    engine.run("DROP TABLE visits")
    create_table(
        engine, "visits", {"age": "INTEGER", "person": "INTEGER"}, [(r[0], i // 2) for i, r in enumerate(rows)]
    )
    with pytest.raises(InfeasibleError, match=r"no release can meet k-anonymity, 70 required: .* which reach 60;"):
        kanon_sql.anonymize("visits", spec, k=70, connection=engine.connection)


def homogeneous(rows: Sequence[tuple[Any, ...]], value: int, people: bool) -> tuple[int, int, int, int]:
    """Of rows (class, disease, person, …): the classes, those with one value in common, their rows and people."""
    classes: dict[Any, list[tuple[Any, ...]]] = defaultdict(list)
    for row in rows:
        classes[row[0]].append(row)
    counts = [(members, counted([(row[value], row[2]) for row in members], people)) for members in classes.values()]
    same = [members for members, values in counts if max(values.values()) == size(values)]
    return len(classes), len(same), sum(map(len, same)), len({row[2] for members in same for row in members})


def frequent(rows: Sequence[tuple[Any, ...]]) -> int:
    """Of rows (class, disease, …): those with the most frequent disease of their class."""
    classes: dict[Any, list[Any]] = defaultdict(list)
    for row in rows:
        classes[row[0]].append(row[1])
    return sum(Counter(values).most_common(1)[0][1] for values in classes.values())


def patients(rows: int = 240) -> list[tuple[Any, ...]]:
    """Age, disease, ward, patient and the row's number; the disease goes mostly by the age, the oldest have none."""
    random = Random(3)
    created = []
    for number in range(rows):
        patient = random.randint(1, 90)
        age = 20 + patient % 40
        ill = None if age > 55 else f"d{age // 6}" if random.random() < 0.95 else "flu"
        created.append((age, ill, random.choice("abc"), patient, number))
    return created


@pytest.mark.parametrize("form", ["table", "view"])
@pytest.mark.parametrize("strategy", ["auto", "mondrian"])
@pytest.mark.parametrize("unit", [None, "patient"])
@pytest.mark.sampled
def test_classes_with_one_sensitive_value_are_reported(
    engine: Engine, form: str, strategy: str, unit: str | None
) -> None:
    """By brute force on what was written; the source's rows of a released one tell whose they are."""
    rows = patients()
    types = {"age": "INTEGER", "disease": "VARCHAR", "ward": "VARCHAR", "patient": "INTEGER", "visit": "INTEGER"}
    create_table(engine, "wards", types, rows)
    roles = {"unit": unit} if unit else {"identifiers": ["patient"]}
    spec = {
        "quasi_identifiers": {"age": {"hierarchy": {"ranges": [2, 4, 8]}}},
        "sensitive": ["disease", "ward"],
        "keep": ["visit"],
        **roles,
    }
    options = {"strategy": strategy, "k": 3, "suppression_limit": 0.3, "into": "wards_3", "form": form}
    with pytest.warns(ReleaseWarning, match="which k-anonymity does not hide"):
        release = kanon_sql.anonymize("wards", spec, connection=engine.connection, **options)
    patient = {row[4]: row[3] for row in rows}
    released = engine.rows("SELECT age, disease, ward, visit FROM wards_3")
    written = [(label, ill, patient[visit], ward) for label, ill, ward, visit in released]
    expected = []
    for column, place in {"disease": 1, "ward": 3}.items():
        classes, same, their_rows, people = homogeneous(written, place, unit is not None)
        assert same < classes
        whose = f" of {people:,} people" if unit else ""
        said_of = f"in {same} of {classes} classes, with {their_rows} rows{whose}, all rows have the same {column!r}"
        expected += [said_of] if same else []
    # Nobody's class has one ward alone, but in some everybody was in the same one once.
    assert len(expected) == (2 if unit else 1)
    assert release.manifest["classification"]["disease"] == pytest.approx(1 - frequent(written) / len(rows))
    others = ("'visit'", "'patient' occur in several rows")
    warnings = [text for text in release.manifest["warnings"] if not any(other in text for other in others)]
    assert warnings == [
        f"{item}, which k-anonymity does not hide; add a privacy model for it, such as `l_diversity`"
        for item in expected
    ]
    engine.run(f"DROP {form.upper()} wards_3")


SPEC = {
    "source": "wards",
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [4, 16]}}},
    "privacy": {
        "k": 3,
        "unit": "patient",
        "l_diversity": {"ward": 2},
        "t_closeness": {
            "visit": {"t": 0.5, "distance": "ordered"},
            "ward": {"t": 0.4, "distance": "hierarchical", "hierarchy": "wards.csv"},
        },
        "alpha_k": {"ward": {"alpha": 0.9, "value": "a"}},
        "beta_likeness": {"ward": 5},
    },
    "suppression_limit": 0.2,
}
NAMES = [
    "k-anonymity",
    "distinct l-diversity of ward",
    "t-closeness of visit (ordered distance)",
    "t-closeness of ward (hierarchical distance)",
    "α of ward = a",
    "enhanced β-likeness of ward",
]


@pytest.mark.slow
def test_every_verb_uses_the_models_of_the_spec(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wards.csv").write_text("a;ab;*\nb;ab;*\nc;c;*\n")
    types = {"age": "INTEGER", "disease": "VARCHAR", "ward": "VARCHAR", "patient": "INTEGER", "visit": "INTEGER"}
    rows = [(age, ill, "abc"[person % 3], person, person % 20) for age, ill, _, person, _ in patients()]
    create_table(engine, "wards", types, rows)  # t-closeness needs one value per person
    options = {**SPEC, "identifiers": ["disease"]}
    connected = {"connection": engine.connection}
    release = kanon_sql.anonymize(None, options, into="wards_3", **connected)
    assert [finding["model"] for finding in release.manifest["privacy"]] == NAMES
    assert release.manifest["verified"]
    assert release.manifest["roles"]["sensitive"] == ["ward", "visit"]
    node = release.manifest["node"]
    assert kanon_sql.search(None, options, **connected).node == node
    assert kanon_sql.lattice(None, options, **connected).search.node == node
    compared = kanon_sql.compare(None, options, strategies=["exhaustive", "best_first"], **connected)
    assert [search.node for search in compared.searches] == [node, node]
    assert [finding["model"] for finding in compared.privacy] == NAMES
    explained = kanon_sql.explain(None, options, **connected)
    assert sum("class_summary" in step.name for step in explained.steps) == 1
    statement = kanon_sql.anonymize_sql(None, options, **connected)
    assert sorted(engine.rows(statement)) == sorted(engine.rows("SELECT * FROM wards_3"))
    engine.run("DROP TABLE wards_3")


def test_the_command_line_warns_of_classes_with_one_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    columns = ["age", "disease", "ward", "patient", "visit"]
    pandas.DataFrame(patients(), columns=columns).to_csv("wards.csv", index=False)
    Path("age.csv").write_text("".join(f"{age};{age // 4};*\n" for age in range(20, 60)))
    line = ["anonymize", "wards.csv", "--quasi-identifiers", "age", "--hierarchies", ".", "--sensitive", "disease"]
    line += ["--identifiers", "visit,ward", "--unit", "patient", "--k", "3", "--output", "out.csv"]
    done = kanon(*line)
    assert done.code == 0, done
    text = " ".join((done.out + done.err).split())
    assert "all rows have the same 'disease', which k-anonymity does not hide" in text
    assert "add a privacy model for it, such as --l-diversity" in text
    diverse = kanon(*line, "--l-diversity", "disease=2", "--suppression-limit", "0.6", "--overwrite")
    assert "all rows have the same" not in diverse.out + diverse.err
    assert "distinct l-diversity of disease (2)" in " ".join(diverse.out.split())
