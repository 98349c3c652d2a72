"""From a database to a spec of several tables: keys, the table of the people, roles, and that the spec runs."""

from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
import yaml

from kanon_sql import anonymize_database, suggest_database, verify_database
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.spec import load_linked
from support.command_line import done, kanon

_HOSPITAL = """
CREATE TABLE wards AS SELECT range AS ward_id, 'ward ' || range AS name FROM range(6);
CREATE TABLE visits AS SELECT
  range AS visit_id, range % 400 AS patient_id, range % 6 AS ward_id,
  DATE '2026-01-01' + CAST(range % 90 AS INT) AS admitted, TIMESTAMP '2026-01-01' + to_hours(range) AS admitted_at,
  CASE WHEN range > 0 THEN range - 1 END AS previous_visit_id
FROM range(900);
CREATE TABLE diagnoses AS SELECT
  range AS diagnosis_id, range % 900 AS visit_id, 'kind ' || chr(97 + CAST(range % 7 AS INT)) AS diagnosis
FROM range(1500);
CREATE TABLE reviews AS SELECT range AS review_id, range % 1500 AS diagnosis_id, range % 3 AS grade FROM range(2000);
CREATE TABLE patients AS SELECT
  range AS patient_id, 'n' || range AS name, 1950 + range % 40 AS birth_year, CAST(NULL AS BIGINT) AS mother_id
FROM range(400);
CREATE TABLE empty (patient_id BIGINT);
CREATE TABLE own AS SELECT patient_id FROM patients;
CREATE VIEW old_visits AS SELECT * FROM visits WHERE visit_id < 100;
"""


@pytest.fixture
def hospital() -> Any:
    connection = duckdb.connect()
    connection.execute(_HOSPITAL)
    return connection


def tables(*statements: str) -> Any:
    connection = duckdb.connect()
    for statement in statements:
        connection.execute(f"CREATE TABLE {statement}")
    return connection


def keys_of(suggestions: Any) -> dict[str, dict[str, str]]:
    """The columns of keys by table, with what they refer to."""
    return {table.name: {column: refers_to for column, refers_to, _ in table.keys} for table in suggestions.tables}


def roles_of(suggestions: Any, table: str) -> dict[str, str]:
    found = next(other for other in suggestions.tables if other.name == table)
    return {column.name: column.role for column in found.columns}


def test_keys_are_found_by_names_and_values(hospital: Any) -> None:
    suggested = suggest_database(connection=hospital)
    assert (suggested.unit, suggested.key) == ("patients", "patient_id")
    assert keys_of(suggested) == {
        "patients": {},
        "visits": {"visit_id": "own", "patient_id": "patients"},
        "diagnoses": {"diagnosis_id": "own", "visit_id": "visits"},
        "reviews": {"review_id": "own", "diagnosis_id": "diagnoses"},
    }
    assert "no rows" in suggested.left_out["empty"]
    assert "belong to no person" in suggested.left_out["wards"]
    assert suggested.left_out["old_visits"] == "a view"
    assert "not the name of a table" in suggested.left_out["own"]
    assert roles_of(suggested, "visits") == {
        "ward_id": "quasi-identifier",
        "admitted": "quasi-identifier",
        "admitted_at": "dropped",  # a second date of the same event
        "previous_visit_id": "dropped",
    }
    assert roles_of(suggested, "patients")["name"] == "identifier"


def test_the_written_spec_loads_and_runs(hospital: Any, tmp_path: Path) -> None:
    suggested = suggest_database(connection=hospital, m=1, k=3)
    path = suggested.write(tmp_path / "hospital.yml")
    text = path.read_text()
    assert "- wards: its rows belong to no person" in text
    assert "patient_id: patients   # found by name and values" in text
    assert "n399" not in text + "".join(file.read_text() for file in tmp_path.rglob("*.csv"))
    spec = load_linked(path)
    assert (spec.privacy.k, spec.privacy.m) == (3, 1)
    anonymize_database(path, connection=hospital, time_limit=1)
    assert verify_database(path, connection=hospital).satisfied
    with pytest.raises(SpecError, match=r"ends in \.yml"):
        suggested.write(tmp_path / "hospital.txt")


def test_declared_keys_decide() -> None:
    connection = tables(
        "a (x INT PRIMARY KEY, age INT)",
        "b (y INT PRIMARY KEY, first INT REFERENCES a (x), day DATE)",
        "c (z INT REFERENCES b (y), code INT)",
    )
    connection.execute("INSERT INTO a SELECT range, 20 + range % 30 FROM range(60)")
    connection.execute(
        "INSERT INTO b SELECT range, range % 60, DATE '2026-01-01' + CAST(range % 99 AS INT) FROM range(90)"
    )
    connection.execute("INSERT INTO c SELECT range % 90, range % 4 FROM range(120)")
    suggested = suggest_database(connection=connection)
    assert suggested.unit == "a"
    assert keys_of(suggested)["b"] == {"y": "own", "first": "a"}
    assert keys_of(suggested)["c"] == {"z": "b"}
    assert {reason for table in suggested.tables for _, _, reason in table.keys} == {
        "declared primary key",
        "declared foreign key",
    }


def test_small_numbers_alone_refer_to_nothing_and_texts_do() -> None:
    connection = tables(
        "customers AS SELECT 'K' || range AS no, 20 + range % 30 AS age FROM range(50)",
        "orders AS SELECT 'K' || range % 50 AS buyer, range % 50 AS pieces FROM range(99)",
        "places AS SELECT range AS place, range % 7 AS size FROM range(60)",
    )
    suggested = suggest_database(connection=connection)
    assert keys_of(suggested) == {"customers": {}, "orders": {"buyer": "customers"}}
    assert suggested.tables[1].keys[0][2].startswith("by its values only")
    assert roles_of(suggested, "orders") == {"pieces": "quasi-identifier"}


def test_missing_people_and_two_ways_to_a_person_leave_out_a_key_or_a_table() -> None:
    connection = tables(
        "people AS SELECT range AS person_id, range % 9 AS age FROM range(50)",
        "stays AS SELECT range AS stay_id, range % 50 AS person_id, range % 3 AS ward FROM range(80)",
        "tests AS SELECT range % 80 AS stay_id, range % 49 AS person_id, range % 4 AS result FROM range(99)",
        "calls AS SELECT range % 60 AS person_id, range % 4 AS line FROM range(70)",
        "letters AS SELECT NULLIF(range % 50, 0) AS person_id, range % 4 AS pages FROM range(70)",
        "talks AS SELECT range % 50 AS first_person_id, range % 40 AS second_person_id FROM range(70)",
    )
    suggested = suggest_database(connection=connection)
    assert keys_of(suggested) == {
        "people": {},
        "stays": {"person_id": "people", "stay_id": "own"},
        "tests": {"person_id": "people"},
    }
    assert roles_of(suggested, "tests")["stay_id"] == "dropped"
    assert "10 values of person_id are not in people.person_id" in suggested.left_out["calls"]
    assert "2 of its rows have no person_id" in suggested.left_out["letters"]
    assert suggested.left_out["talks"].startswith("first_person_id and second_person_id refer to people")
    assert anonymize_database(load(suggested), connection=connection, time_limit=1).manifest["verified"]


def load(suggested: Any) -> Any:
    """The spec that would be written, as a mapping."""
    return yaml.safe_load(suggested.text())


@pytest.mark.parametrize(
    ("statements", "arguments", "problem"),
    [
        (("a AS SELECT range % 5 AS x FROM range(9)",), {}, "no table has a key"),
        (("a AS SELECT range AS x FROM range(9)", "b AS SELECT range AS y FROM range(9)"), {}, "refers to the key"),
        (
            (
                "logs AS SELECT range AS log_id, range AS box_id FROM range(9)",
                "boxes AS SELECT range AS box_id, range AS log_id FROM range(9)",
            ),
            {},
            "boxes and logs lead to each other in a circle; name the table of the people with `unit`",
        ),
        (("a AS SELECT range AS x FROM range(9)",), {"unit": "b"}, "there is no table 'b' for `unit`; there are a"),
        (("a AS SELECT range % 5 AS x FROM range(9)",), {"unit": "a"}, "a has no key"),
        (("people AS SELECT range AS id FROM range(3)",), {}, "fewer than k = 5 people"),
        (("people AS SELECT range AS id FROM range(9)",), {"preset": "omop"}, "OMOP needs the table person"),
        (("people AS SELECT range AS id FROM range(9)",), {"preset": "fhir"}, "there are: omop"),
    ],
)
def test_what_cannot_be_suggested_is_explained(
    statements: tuple[str, ...], arguments: dict[str, Any], problem: str
) -> None:
    with pytest.raises(SpecError, match=problem):
        suggest_database(connection=tables(*statements), **arguments)


def test_a_named_unit_ends_a_circle() -> None:
    connection = tables(
        "logs AS SELECT range AS log_id, range AS box_id, range % 3 AS size FROM range(9)",
        "boxes AS SELECT range AS box_id, range AS log_id FROM range(9)",
    )
    suggested = suggest_database(connection=connection, unit="boxes")
    assert keys_of(suggested) == {"boxes": {}, "logs": {"log_id": "own", "box_id": "boxes"}}
    assert roles_of(suggested, "boxes") == {"log_id": "dropped"}


def test_tables_of_another_schema(hospital: Any) -> None:
    hospital.execute('CREATE SCHEMA "old one"')
    hospital.execute('CREATE TABLE "old one".people AS SELECT range AS id, range % 9 AS age FROM range(50)')
    suggested = suggest_database(connection=hospital, schema="old one")
    assert [table.source for table in suggested.tables] == ["old one.people"]
    assert suggested.into == "old one_anon"
    assert anonymize_database(load(suggested), connection=hospital).manifest["people"] == 50
    hospital.execute("CREATE SCHEMA nothing")
    with pytest.raises(SourceError, match=r"no tables in the schema nothing; name a `schema`: main, old one"):
        suggest_database(connection=hospital, schema="nothing")
    hospital.execute("USE nothing")
    with pytest.raises(SourceError, match=r"no tables in the current schema; name a `schema`: main, old one"):
        suggest_database(connection=hospital)


def test_the_command_prints_the_keys_and_refuses_options_of_one_table(tmp_path: Path) -> None:
    database = tmp_path / "hospital.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute(_HOSPITAL)
    output = tmp_path / "hospital.yml"
    printed = done("init", "--database", str(database), "--output", str(output))
    assert "key patient_id → patients: found by name and values" in printed
    assert load_linked(output).database == str(database)
    failed = kanon("init", "--database", str(database), "--keep", "ward_id", "--output", str(tmp_path / "a.yml"))
    assert "--keep is for a single table" in failed.err
    failed = kanon("init", "visits", "--database", str(database), "--unit", "a", "--output", str(tmp_path / "b.yml"))
    assert "--unit is for all tables of a database; for one table, add a line `unit: COLUMN`" in failed.err


def test_keys_of_a_server(postgres_dsn: str, tmp_path: Path) -> None:
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS suggested CASCADE")
        connection.execute("DROP SCHEMA IF EXISTS suggested_anon CASCADE")
        connection.execute("CREATE SCHEMA suggested")
        connection.execute(
            "CREATE TABLE suggested.patients (id UUID PRIMARY KEY DEFAULT gen_random_uuid(), number INT, age INT)"
        )
        connection.execute(
            "CREATE TABLE suggested.visits (visit_id INT, patient UUID REFERENCES suggested.patients, day DATE)"
        )
        connection.execute("CREATE TABLE suggested.tests (visit_id NUMERIC, kind TEXT) PARTITION BY LIST (kind)")
        connection.execute("CREATE TABLE suggested.tests_0 PARTITION OF suggested.tests FOR VALUES IN ('k0')")
        connection.execute("CREATE TABLE suggested.tests_1 PARTITION OF suggested.tests DEFAULT")
        connection.execute(
            "INSERT INTO suggested.patients (number, age) SELECT i, 30 + i % 9 FROM generate_series(1, 60) i"
        )
        connection.execute(
            "INSERT INTO suggested.visits SELECT number, id, DATE '2026-01-01' + number % 9 FROM suggested.patients"
        )
        connection.execute("INSERT INTO suggested.tests SELECT visit_id, 'k' || visit_id % 2 FROM suggested.visits")
        suggested = suggest_database(connection=connection, schema="suggested", m=1)
        assert keys_of(suggested) == {
            "patients": {},
            "visits": {"visit_id": "own", "patient": "patients"},
            "tests": {"visit_id": "visits"},
        }
        assert suggested.left_out == dict.fromkeys(["tests_0", "tests_1"], "a part of another table")
        path = suggested.write(tmp_path / "server.yml")
        assert anonymize_database(path, connection=connection).manifest["released_people"] == 60
        connection.execute("DROP SCHEMA suggested, suggested_anon CASCADE")


def test_columns_that_repeat_others_are_dropped() -> None:
    connection = tables(
        "patients AS SELECT 'P' || range AS id, range % 9 AS age FROM range(60)",
        "stays AS SELECT 'P' || range % 60 AS patient, range % 5 AS code, 'kind ' || range % 5 AS description, "
        "DATE '2026-01-01' + CAST(range % 90 AS INT) AS start_date, "
        "DATE '2026-01-03' + CAST(range % 90 AS INT) AS end_date, "
        "TIMESTAMP '2026-01-01' + to_hours(range) AS start_time FROM range(200)",
    )
    suggested = suggest_database(connection=connection)
    assert keys_of(suggested)["stays"] == {"patient": "patients"}
    assert roles_of(suggested, "stays") == {
        "code": "dropped",  # the same as its description
        "description": "quasi-identifier",
        "start_date": "quasi-identifier",
        "end_date": "dropped",
        "start_time": "dropped",
    }
