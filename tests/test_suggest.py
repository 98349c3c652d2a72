"""From a table to a spec: the suggestions for every kind of column, that the spec runs unchanged, and its file."""

import json
import random
import stat
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas
import pytest
import yaml

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.errors import SpecError, TargetError
from kanon_sql.suggestion import merging
from kanon_sql.suggestion.grouping import grouped
from kanon_sql.suggestion.steps import chain, recipe_of
from kanon_sql.suggestion.texts import categories
from support.command_line import done, kanon
from support.database import create_table

RANDOM = random.Random(11)
_CITIES = [f"city {letter}{other}" for letter in "abcdefghij" for other in "klmnopqrst"]
_JOBS = {"nurse": "low", "porter": "low", "cook": "low", "judge": "high", "surgeon": "high", "dean": "high"}


def person(number: int) -> dict[str, Any]:
    """A row with a column of nearly every kind."""
    job = RANDOM.choice(list(_JOBS))
    born = date(1940, 1, 1) + timedelta(days=RANDOM.randrange(25_000))
    return {
        "person_id": f"P{number:05}",
        "age": RANDOM.randint(18, 95),
        "zip": RANDOM.choice([2138, 2139, 2140, 10115, 10117, 90210, 90211]),
        "birth date": born,
        "admitted": datetime(2020, 1, 1) + timedelta(minutes=RANDOM.randrange(10**6)),
        "country": RANDOM.choice(["Peru", "France", "Japan", "Kenya", "Chile", "Spain"]),
        "job": job,
        "city": RANDOM.choice(_CITIES),
        "ip": f"10.{RANDOM.randrange(4)}.{RANDOM.randrange(9)}.{RANDOM.randrange(200)}",
        "code": f"{RANDOM.choice('AB')}{RANDOM.randrange(100):02}",
        "gain": RANDOM.choice([0, 0, 0, 0, 0, 0, 0, 0, round(RANDOM.expovariate(1 / 5000))]),
        "temperature": Decimal(RANDOM.randrange(350, 420)) / 10,
        "hours": RANDOM.choice(["?", "?", str(RANDOM.randrange(80))]),
        "married": RANDOM.random() < 0.5,
        "class": _JOBS[job],
        "diagnosis": RANDOM.choice("xyz"),
    }


PEOPLE = pandas.DataFrame([person(number) for number in range(600)])
NAMED = [name for name in PEOPLE if name not in ("person_id", "diagnosis")]


@pytest.fixture(scope="module")
def suggested() -> kanon_sql.Suggestions:
    return kanon_sql.suggest(PEOPLE, quasi_identifiers=NAMED)


def of(suggestions: kanon_sql.Suggestions, name: str) -> Any:
    """The column of a name."""
    return next(column for column in suggestions.columns if column.name == name)


@pytest.mark.parametrize(
    ("column", "recipe"),
    [
        ("age", {"ranges": [5, 10, 20, 40]}),
        ("zip", {"prefix": [4, 3], "pad": 5}),
        ("birth date", {"dates": ["month", "year", "5 years", "decade", "20 years"]}),
        ("admitted", {"dates": ["hour", "day", "month", "quarter", "year"]}),
        ("country", {"known": "countries"}),
        ("ip", {"networks": [24, 16]}),
        ("code", {"prefix": [2, 1]}),
        ("married", "suppress"),
        ("class", "suppress"),
    ],
)
def test_a_column_gets_the_recipe_of_its_kind(suggested: kanon_sql.Suggestions, column: str, recipe: Any) -> None:
    assert of(suggested, column).recipe == recipe


def test_roles_are_those_of_the_profile_with_their_reasons(suggested: kanon_sql.Suggestions) -> None:
    assert [column.name for column in suggested.of_role("identifier")] == ["person_id"]
    assert [column.name for column in suggested.of_role("sensitive")] == ["diagnosis"]
    assert all(column.reason for column in suggested.columns)
    assert "NOT by meaning" in of(suggested, "job").why
    assert "NOT by meaning" in of(suggested, "city").why


def test_levels_that_merge_nothing_are_left_out(suggested: kanon_sql.Suggestions) -> None:
    for column in suggested.of_role("quasi-identifier"):
        assert list(column.labels) == sorted(set(column.labels), reverse=True), column.name
    assert merging([9, 9, 4, 4, 1, 1]) == [2]


def test_skewed_numbers_are_cut_at_round_edges_and_marks_stay_apart(suggested: kanon_sql.Suggestions) -> None:
    levels = of(suggested, "gain").recipe["edges"]
    assert all(len(str(edge).strip("0.")) <= 2 for level in levels for edge in level), "two digits that count"
    values = set(map(int, PEOPLE["gain"]))
    assert not values >= set(levels[0]), "edges are rounded, and not the data's quantiles"
    hours = of(suggested, "hours")
    assert all(level["?"] == "?" for level in hours.levels)
    assert {level["37"] for level in hours.levels} >= {"[30, 40)"}


def test_categories_with_similar_rows_in_other_columns_are_grouped(suggested: kanon_sql.Suggestions) -> None:
    """The jobs whose class is the same; that column is the only one that tells them apart."""
    (last,) = ({len(set(level.values())): level for level in of(suggested, "job").levels}[2],)
    assert {job: last[job] for job in _JOBS} == {
        job: next(label for other, label in last.items() if _JOBS[other] == _JOBS[job]) for job in _JOBS
    }


def test_the_written_spec_runs(suggested: kanon_sql.Suggestions, tmp_path: Path) -> None:
    PEOPLE.to_parquet(tmp_path / "people.parquet")
    (tmp_path / "specs").mkdir()
    suggestions = kanon_sql.suggest(tmp_path / "people.parquet", quasi_identifiers=NAMED)
    assert suggestions.columns == suggested.columns
    path = suggestions.write(tmp_path / "specs" / "release.yml")
    spec = yaml.safe_load(path.read_text(encoding="utf-8"))
    named = [*spec.get("identifiers", []), *spec["quasi_identifiers"], *spec.get("sensitive", []), *spec["keep"]]
    assert sorted(spec["reasons"]) == sorted(named), "a reason for the role of every column, for the report"
    assert not any(sign.isdigit() for reason in spec["reasons"].values() for sign in reason), "a figure of few people"
    assert spec["source"] == "../people.parquet"
    assert spec["target"] == {"file": "people_anon.parquet"}
    release = kanon_sql.anonymize(None, path, time_limit=1.0)
    assert release.manifest["verified"]
    assert (tmp_path / "specs" / "people_anon.parquet").exists()
    files = {
        file.name: stat.S_IMODE(file.stat().st_mode)
        for file in (tmp_path / "specs" / "hierarchies" / "release").iterdir()
    }
    assert files == {"city.csv": 0o600, "hours.csv": 0o600, "job.csv": 0o600}, "they hold values"


def test_nothing_is_replaced_without_a_request(suggested: kanon_sql.Suggestions, tmp_path: Path) -> None:
    path = suggested.write(tmp_path / "release.yml")
    (tmp_path / "hierarchies" / "release" / "job.csv").write_text("mine")
    with pytest.raises(TargetError, match="exists already"):
        suggested.write(path)
    path.unlink()
    with pytest.raises(TargetError, match=r"job.csv exists already"):
        suggested.write(path)
    assert not path.exists()
    assert (tmp_path / "hierarchies" / "release" / "job.csv").read_text() == "mine"
    suggested.write(path, overwrite=True)
    assert path.exists()
    assert (tmp_path / "hierarchies" / "release" / "job.csv").read_text() != "mine"
    with pytest.raises(SpecError, match=r"name one that ends in \.yml"):
        suggested.write(tmp_path / "release.json")


def test_explicit_roles_take_precedence() -> None:
    suggestions = kanon_sql.suggest(PEOPLE, quasi_identifiers=["age"], identifiers=["ip"], keep=["married"])
    assert {column.name: column.role for column in suggestions.columns if column.reason == "your choice"} == {
        "age": "quasi-identifier", "ip": "identifier", "married": "kept",
    }  # fmt: skip
    assert {column.role for column in suggestions.columns if column.name in ("city", "job", "zip")} == {"dropped"}
    with pytest.raises(SpecError, match="there is no column 'aeg'"):
        kanon_sql.suggest(PEOPLE, quasi_identifiers=["aeg"])


def test_people_are_counted_if_a_column_of_people_repeats(tmp_path: Path) -> None:
    visits = pandas.DataFrame({"patient": [f"p{i % 40}" for i in range(120)], "age": [20 + i % 40 for i in range(120)]})
    suggestions = kanon_sql.suggest(visits)
    assert (suggestions.unit, [column.role for column in suggestions.columns]) == (
        "patient",
        ["identifier", "quasi-identifier"],
    )
    spec = yaml.safe_load(suggestions.text(tmp_path / "release.yml"))
    assert (spec["unit"], spec["identifiers"]) == ("patient", ["patient"])
    once = kanon_sql.suggest(visits.drop_duplicates("patient"))
    assert (once.unit, "unit" in yaml.safe_load(once.text())) == (None, False)
    assert kanon_sql.suggest(visits, keep=["patient"]).unit is None


@pytest.mark.parametrize("year", ["Geburtsjahr", "birthyear", "yob", "geboortejaar"])
def test_people_are_found_by_their_sex_and_their_year_of_birth(year: str) -> None:
    people = [(f"x{person}", 1940 + person * 7 % 60, "mw"[person % 2]) for person in range(40)]
    visits = pandas.DataFrame([(*person, day) for day in range(3) for person in people], columns=["no", year, "s", "d"])
    assert kanon_sql.suggest(visits).unit == "no"


def test_an_impossible_suggestion_names_a_remedy() -> None:
    with pytest.raises(SpecError, match="name the columns that others may know with `quasi_identifiers`"):
        kanon_sql.suggest(pandas.DataFrame({"site": ["x"] * 9}))
    with pytest.raises(SpecError, match="has 4 rows, fewer than k = 5"):
        kanon_sql.suggest(pandas.DataFrame({"age": [1, 1, 2, 2]}), quasi_identifiers=["age"])


def test_a_table_of_a_database_gets_a_spec_that_runs(engine: Engine, tmp_path: Path) -> None:
    rows = [(f"n{i}", 20 + i % 50, ["a'b", "; c", "NULL", None, "*", "-"][i % 6], i % 3) for i in range(300)]
    create_table(
        engine, "odd people", {"name": "VARCHAR", "age": "INTEGER", "#: job": "VARCHAR", "ill": "INTEGER"}, rows
    )
    suggestions = kanon_sql.suggest("odd people", connection=engine.connection, quasi_identifiers=["age", "#: job"])
    path = suggestions.write(tmp_path / "release.yml")
    release = kanon_sql.anonymize("odd people", path, connection=engine.connection, target={"table": "odd_anon"})
    assert release.manifest["verified"]
    assert release.manifest["rows"] == 300


def test_a_password_is_not_written() -> None:
    suggestions = kanon_sql.suggest(PEOPLE, quasi_identifiers=["age"])
    text = replace(suggestions, source="people", database="postgresql://me:secret@host/db").text()
    assert "secret" not in text
    assert "source: people" in text


def test_names_and_reasons_cannot_break_the_file() -> None:
    frame = pandas.DataFrame({"age\n- x: #": [i % 40 for i in range(200)], "'": ["a", "b", "c", "d"] * 50})
    text = kanon_sql.suggest(frame, quasi_identifiers=list(frame)).text()
    assert list(yaml.safe_load(text)["quasi_identifiers"]) == list(frame)


def test_init_writes_a_spec_that_anonymize_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    PEOPLE[["person_id", "age", "zip", "job", "class", "diagnosis"]].to_csv("people.csv", index=False)
    output = done("init", "people.csv")
    assert "Written to release.yml" in output
    assert "kanon anonymize --spec release.yml" in output
    assert "5-anonymous" in done("anonymize", "--spec", "release.yml")
    run = kanon("init", "people.csv")
    assert run.code == 2
    assert "use --overwrite to replace it" in run.err
    result = json.loads(done("init", "people.csv", "--output", "other.yml", "--k", "7", "--json"))
    assert result["k"] == 7
    assert "privacy: {k: 7}" in Path("other.yml").read_text()


# The parts


def test_a_spec_of_several_files_runs_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "[x]"  # whose name looks like a glob, which must stay a name
    for year in (2024, 2025):
        (folder / f"year={year}").mkdir(parents=True)
        people = pandas.DataFrame({"age": [20 + i % 7 for i in range(30)], "site": [year] * 30})
        people.to_parquet(folder / f"year={year}" / "people.parquet")
    monkeypatch.chdir(folder)
    done("init", "**/*.parquet", "--output", "release.yml")
    assert yaml.safe_load((folder / "release.yml").read_text())["source"] == "**/*.parquet"
    monkeypatch.chdir(tmp_path)
    done("anonymize", "--spec", folder / "release.yml")
    assert len(pandas.read_parquet(folder / "release.parquet")) == 60


@pytest.mark.parametrize(
    ("gap", "span", "widths"),
    [
        ("1", "73", [5, 10, 20, 40]),
        ("1", "10", [2, 5]),
        ("0.01", "1", ["0.05", "0.1", "0.5"]),
        ("0", "0", [1]),
    ],
)
def test_widths_are_one_two_and_five_and_nest(gap: str, span: str, widths: list[Any]) -> None:
    steps = chain(Decimal(gap), Decimal(span))
    assert all(not coarser % finer for finer, coarser in pairwise(steps))
    if widths != [2, 5]:
        assert steps == [Decimal(width) for width in widths]


def test_a_tail_becomes_one_label_at_a_round_number() -> None:
    numbers = [(Decimal(value), 100) for value in range(60)] + [(Decimal(900 + item), 3) for item in range(9)]
    recipe = recipe_of(numbers)
    assert recipe["top"] % 5 == 0
    assert 55 <= recipe["top"] <= 65
    assert "bottom" not in recipe


def test_groups_nest_and_rare_ones_come_first() -> None:
    first, second = grouped([500, 400, 3, 2], [], [3, 2])
    assert first[2] == first[3]
    assert len(set(first)) == 3
    assert second[2] == second[3]
    assert len(set(second)) == 2


def test_many_categories_keep_the_frequent_ones() -> None:
    counts: dict[Any, int] = {f"v{i}": 1000 - i for i in range(30)} | {f"r{i}": 1 for i in range(500)}
    levels = categories(counts, [], {value for value in counts if value.startswith("v")})
    assert levels[0]["v0"] == "v0"
    assert levels[0]["r98"] == levels[0]["r99"] == "other"
    spread: dict[Any, int] = {f"v{i}": 5 for i in range(2500)}
    assert [len(set(level.values())) for level in categories(spread, [], spread)] == [1001, 101, 11]
    assert categories(spread, [], ()) == [], "a label of none of them"
