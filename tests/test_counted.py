"""A frequency set exported by another system: searched like the table, and released there by a printed statement."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import KanonError, SourceError, SpecError
from support.command_line import done, kanon
from support.database import create_table

TYPES = {"name": "VARCHAR", "age": "INTEGER", "zip": "VARCHAR", "born": "DATE", "ill": "VARCHAR", "ward": "VARCHAR"}
SPEC: dict[str, Any] = {
    "source": "people",
    "identifiers": ["name"],
    "quasi_identifiers": {
        "age": {"hierarchy": {"ranges": [10, 20]}},
        "zip": {"hierarchy": {"redact": "right"}},
        "born": {"hierarchy": {"dates": ["month", "year"]}},
    },
    "sensitive": ["ill"],
    "keep": ["ward"],
    "suppression_limit": 0.1,
}
MODELS: dict[str, Any] = {
    "l and t": {"k": 3, "l_diversity": {"ill": {"l": 2}}, "t_closeness": {"ill": {"t": 0.5}}},
    "marketer": {"k": 2, "risk": {"model": "marketer", "mean": 0.2}},
}


def _people() -> list[tuple[Any, ...]]:
    draw = random.Random(7)
    ages, zips = [*range(20, 36), None], ["02138", "02139", "0214", "90210", None]
    born = [f"19{year}-0{month}-17" for year in (70, 71) for month in (1, 2)]
    drawn = ((draw.choice(ages), draw.choice(zips), draw.choice(born), draw.choice("abc")) for _ in range(250))
    return [(f"p{i}", *item, draw.choice("NS")) for i, item in enumerate(drawn)]


@pytest.fixture
def counted(tmp_path: Path) -> Path:
    """The frequency set of the people, as a warehouse would export it."""
    create_table(engine := DuckDB(), "people", TYPES, _people())
    every = {**SPEC, "privacy": {"k": 2, "l_diversity": {"ill": {"l": 2}}}}
    query = kanon_sql.frequency_set_sql(every, dialect="duckdb")
    assert "name" not in query
    assert "ward" not in query
    engine.connection.execute(f"COPY ({query}) TO '{tmp_path}/counted.parquet'")
    return tmp_path / "counted.parquet"


@pytest.mark.parametrize("name", MODELS)
def test_it_is_searched_and_released_like_the_table(engine: Engine, counted: Path, name: str) -> None:
    create_table(engine, "people", TYPES, _people())
    spec = {**SPEC, "privacy": MODELS[name]}
    spec["quasi_identifiers"] = {column: SPEC["quasi_identifiers"][column] for column in ("age", "zip")}
    spec["identifiers"] = ["name", "born"]
    of_table = kanon_sql.search("people", spec, connection=engine.connection)
    of_counted = kanon_sql.search(spec=spec, frequency_set=counted)
    timed = ("seconds", "source", "sql")
    manifests = [{k: v for k, v in item.to_dict().items() if k not in timed} for item in (of_table, of_counted)]
    assert manifests[0] == manifests[1]
    assert manifests[0]["proven_optimal"]
    statement = kanon_sql.compile(spec=spec, frequency_set=counted, dialect=engine.dialect)
    columns = "age, zip, ill, ward"
    given = engine.rows(f"SELECT {columns} FROM ({statement.query}) AS given")
    expected = kanon_sql.anonymize_sql("people", spec, connection=engine.connection)
    assert Counter(given) == Counter(engine.rows(f"SELECT {columns} FROM ({expected}) AS released"))
    assert given


def test_billions_of_rows_are_searched_like_a_few(counted: Path, tmp_path: Path) -> None:
    times, large = 10**9, tmp_path / "large.parquet"
    query = f"SELECT * REPLACE (kanon_rows * {times} AS kanon_rows) FROM '{counted}'"
    DuckDB().connection.execute(f"COPY ({query}) TO '{large}'")
    few = kanon_sql.search(spec=SPEC | {"privacy": {"k": 3}}, frequency_set=counted)
    many = kanon_sql.search(spec=SPEC | {"privacy": {"k": 3 * times}}, frequency_set=large)
    assert (many.node, many.rows, many.rows_at_risk) == (few.node, few.rows * times, few.rows_at_risk * times)
    assert many.score == pytest.approx(few.score)
    assert few.score


def test_the_statement_is_printed_for_the_system_of_the_table(counted: Path) -> None:
    found = kanon_sql.search(spec=SPEC | {"privacy": {"k": 4}}, frequency_set=counted, dialect="snowflake")
    assert found.sql is not None
    header = found.sql.splitlines()[:3]
    assert header[0].startswith("-- people, released by kanon_sql")
    assert header[1].startswith(f"-- levels: age {found.node['age']}, zip {found.node['zip']}")
    assert header[1].endswith("proven optimal")
    assert header[2] == "-- printed for snowflake, not executed by kanon"
    assert 'FROM "people" AS "s"' in found.sql
    assert '"s"."ward"' in found.sql
    assert '"name"' not in found.sql


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "people": ({"unit": "name"}, "people cannot be counted"),
    "a population": ({"privacy": {"k_map": {"k": 3, "population": "voters.csv"}}}, "a population is counted"),
    "a local recoding": ({"strategy": "mondrian"}, "name a search strategy"),
    "a mean": ({"show": "mean"}, "one statement has only labels"),
    "all columns": ({"keep": "*"}, "name the columns to release"),
    "a missing column": (
        {"sensitive": ["ill", "pay"], "privacy": {"l_diversity": {"pay": {"l": 2}}}},
        "'pay'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_parts_that_a_frequency_set_cannot_answer_are_refused_by_name(counted: Path, name: str) -> None:
    options, message = REFUSED[name]
    spec = {**SPEC, **options} if name != "people" else {**SPEC, **options, "identifiers": []}
    with pytest.raises(SpecError, match=message):
        kanon_sql.compile(spec=spec, frequency_set=counted, dialect="snowflake")


def test_a_file_that_is_not_a_frequency_set(tmp_path: Path) -> None:
    for rows, error in (("", SpecError), ("kanon_rows,0", SourceError)):
        title, _, count = rows.partition(",")
        line = ",".join(filter(None, ["30,02138,2001-01-01", count]))
        (tmp_path / "fs.csv").write_text(f"{','.join(filter(None, ['age,zip,born', title]))}\n{line}\n")
        with pytest.raises(error, match="kanon_rows"):
            kanon_sql.search(spec=SPEC | {"sensitive": []}, frequency_set=tmp_path / "fs.csv")


def test_a_statement_for_another_system_names_its_table(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("zip\n12\n13\n")
    spec = {"quasi_identifiers": {"zip": {"hierarchy": {"redact": "right"}}}, "privacy": {"k": 2}}
    with pytest.raises(SpecError, match="set `table` to its name there"):
        kanon_sql.compile(tmp_path / "people.csv", spec, dialect="trino")
    compiled = kanon_sql.compile(tmp_path / "people.csv", spec, dialect="trino", table='lake.raw."people 1"')
    assert 'FROM "lake"."raw"."people 1" AS "s"' in compiled.sql
    assert compiled.to_df().empty
    assert "lines for trino" in str(compiled)
    here = kanon_sql.compile(tmp_path / "people.csv", spec)
    assert "READ_CSV" in here.sql
    assert "not executed" not in here.sql
    with pytest.raises(KanonError, match="needs a database"):
        kanon_sql.compile(tmp_path / "people.csv", spec, into="anon")


def test_the_command_line(counted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(counted.parent)
    Path("release.yml").write_text(json.dumps(SPEC | {"privacy": {"k": 4}}))
    arguments = ["--spec", "release.yml"]
    exported = done("compile", *arguments, "--frequency-set-sql", "--dialect", "bigquery", "--table", "clinic.people")
    assert "FROM `clinic`.`people` AS `s`" in exported
    found = json.loads(done("search", *arguments, "--frequency-set", counted.name, "--json"))
    assert found["proven_optimal"]
    assert "proven optimal" in done("search", *arguments, "--frequency-set", counted.name)
    arguments += ["--frequency-set", counted.name]
    statement = done("compile", *arguments, "--dialect", "bigquery", "--into", "clinic.anon")
    assert "CREATE TABLE `clinic`.`anon` AS WITH" in statement
    assert done("search", *arguments, "--dialect", "bigquery").endswith(";\n")
    run = kanon("compile", *arguments, "--dialect", "tsql")
    assert (run.code, run.out) == (2, "")
    assert "a release cannot be printed for tsql" in run.err
    run = kanon("anonymize", counted.name, *arguments[:2], "--dialect", "trino", "--output", "x.csv")
    assert "use it with --sql" in run.err
