"""A synthetic database in the OMOP Common Data Model: its rows, the suggested spec, and a verified release."""

import hashlib
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql import anonymize_database, demo_omop, suggest_database, verify_database
from kanon_sql.engine import Column
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.suggestion.omop import _ancestors, column_of
from support.command_line import done, kanon

PEOPLE = 500


@pytest.fixture(scope="module")
def omop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("omop") / "omop.duckdb"
    demo_omop.write(path, PEOPLE)
    return path


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(path)) as connection:
        return connection.execute(query).fetchall()


def test_the_people_are_the_same_everywhere(omop: Path, tmp_path: Path) -> None:
    """Also with other versions of DuckDB, whose random numbers and hashes differ."""
    text = str(rows(omop, "SELECT * EXCLUDE (visit_occurrence_id) FROM visit_occurrence ORDER BY ALL LIMIT 200"))
    assert hashlib.md5(text.encode()).hexdigest() == "5dfc16ab06c26a4808fa6886e772264e"
    counts = demo_omop.write(tmp_path / "other.duckdb", PEOPLE, seed=1)
    assert counts["person"] == PEOPLE
    assert rows(omop, "SELECT year_of_birth FROM person ORDER BY person_id") != rows(
        tmp_path / "other.duckdb", "SELECT year_of_birth FROM person ORDER BY person_id"
    )


def test_its_rows_belong_together(omop: Path) -> None:
    broken = """
        SELECT COUNT(*) FROM condition_occurrence AS c
        LEFT JOIN visit_occurrence AS v USING (visit_occurrence_id, person_id)
        LEFT JOIN concept ON concept_id = condition_concept_id
        WHERE v.visit_start_date IS DISTINCT FROM condition_start_date OR concept_name IS NULL
    """
    assert rows(omop, broken) == [(0,)]
    born_later = (
        "SELECT COUNT(*) FROM visit_occurrence JOIN person USING (person_id) WHERE visit_start_date < birth_datetime"
    )
    assert rows(omop, born_later) == [(0,)]
    assert rows(omop, "SELECT COUNT(DISTINCT person_id) FROM visit_occurrence") == [(PEOPLE,)]


def test_its_release_is_verified_and_has_one_generalized_date_per_event(omop: Path) -> None:
    suggested = suggest_database(omop, preset="omop", m=1)
    assert suggested.reason == "the table of people in OMOP"
    quasi = {table.name: [column.name for column in table.of_role("quasi-identifier")] for table in suggested.tables}
    assert quasi == {
        "person": ["gender_concept_id", "year_of_birth", "race_concept_id", "ethnicity_concept_id"],
        "visit_occurrence": ["visit_concept_id", "visit_start_date"],
        "condition_occurrence": ["condition_concept_id"],
    }
    assert [column for column, _, _ in suggested.tables[2].keys] == [
        "condition_occurrence_id",
        "person_id",
        "visit_occurrence_id",
    ]
    assert suggested.left_out["concept"] == "the vocabulary, which has no people"
    spec = suggested.write(omop.parent / "omop.yml")
    released = anonymize_database(spec, time_limit=2)
    assert verify_database(spec).satisfied
    assert released.manifest["released_people"] >= 0.98 * PEOPLE
    shown = {name for (name,) in rows(omop, "SELECT DISTINCT condition_concept_id FROM omop_anon.condition_occurrence")}
    known = {str(number) for (number,) in rows(omop, "SELECT concept_id FROM concept")}
    assert shown <= {*known, "*"}
    dates = (
        "SELECT column_name FROM duckdb_columns() WHERE schema_name = 'omop_anon' AND column_name SIMILAR TO '.*date.*'"
    )
    assert rows(omop, dates) == [("visit_start_date",)]


def test_concepts_are_generalized_to_the_parent_with_most_of_them() -> None:
    engine = DuckDB()
    engine.run("""
        CREATE TABLE concept_ancestor AS SELECT * FROM (VALUES
          (1, 1, 0), (2, 2, 0), (3, 3, 0), (9, 9, 0), (5, 5, 0), (6, 6, 0),
          (5, 1, 1), (6, 1, 1), (6, 2, 1), (6, 3, 1), (9, 5, 1), (9, 6, 1), (9, 1, 2), (9, 2, 2), (9, 3, 2)
        ) AS t(ancestor_concept_id, descendant_concept_id, min_levels_of_separation)
    """)
    table = engine.find("concept_ancestor")
    assert table
    with Scratch(engine, "test") as scratch:
        levels = _ancestors(scratch, {"concept_ancestor": table.relation}, [1, 2, 3, 7, None])
        assert _ancestors(scratch, {}, [1, 2]) == ()
    assert levels == ({1: "6", 2: "6", 3: "6", 7: "7", None: "other"},)


@pytest.mark.parametrize(
    ("table", "column", "kind", "role"),
    [
        ("drug_exposure", "drug_concept_id", "integer", "quasi-identifier"),
        ("drug_exposure", "quantity", "decimal", "dropped"),
        ("death", "death_date", "date", "quasi-identifier"),
        ("death", "death_datetime", "timestamp", "dropped"),
        ("death", "cause_concept_id", "integer", "quasi-identifier"),
        ("observation", "value_as_string", "text", "dropped"),
        ("measurement", "measurement_time", "text", "dropped"),
        ("visit_detail", "visit_detail_concept_id", "integer", "quasi-identifier"),
        ("procedure_occurrence", "modifier_concept_id", "integer", "dropped"),
        ("person", "person_source_value", "text", "identifier"),
    ],
)
def test_roles_of_other_tables(table: str, column: str, kind: str, role: str) -> None:
    known = column_of(table, Column(column, kind, kind), None)
    assert known
    assert known.role == role


def test_the_command_generates_the_database_once(tmp_path: Path) -> None:
    printed = done("demo", "--omop", "--directory", str(tmp_path / "new"), "--rows", "100")
    assert "person 100" in printed
    assert "--preset omop" in printed
    again = kanon("demo", "--omop", "--directory", str(tmp_path / "new"))
    assert "omop.duckdb exists already" in again.err
