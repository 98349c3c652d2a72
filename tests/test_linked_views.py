"""Live views of several tables: compared with plain Python while their source changes, and what is refused."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from kanon_sql import anonymize_database, attack_database, report_database, run_database, verify_database
from kanon_sql.errors import SpecError, TargetError
from support import linked_views

RANGES = {"hierarchy": {"ranges": [20]}}


@pytest.fixture(params=["duckdb", "postgres"])
def hospital(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Two hundred patients with visits, and diagnoses of these, on DuckDB and PostgreSQL."""
    numbers = "range FROM range(%d)"
    if request.param == "duckdb":
        connection: Any = duckdb.connect(str(tmp_path / "hospital.duckdb"))
    else:
        connection = psycopg.connect(request.getfixturevalue("postgres_dsn"), autocommit=True)
        numbers = "range FROM generate_series(0, %d - 1) AS range"
        for name in ("diagnoses", "visits", "patients"):
            connection.execute(f"DROP TABLE IF EXISTS {name} CASCADE")
        connection.execute("DROP SCHEMA IF EXISTS anon CASCADE")
    connection.execute(
        f"CREATE TABLE patients AS SELECT range AS id, 20 + range % 20 AS age FROM (SELECT {numbers % 200}) AS n"
    )
    connection.execute(
        "CREATE TABLE visits AS SELECT range AS visit, range % 200 AS patient, range % 7 AS ward, "
        f"DATE '2026-01-01' + CAST(range AS INT) AS admitted FROM (SELECT {numbers % 500}) AS n"
    )
    connection.execute(
        "CREATE TABLE diagnoses AS SELECT range % 500 AS visit, range % 11 AS code, range % 3 AS note "
        f"FROM (SELECT {numbers % 900}) AS n"
    )
    yield connection
    connection.close()


def spec(m: int | str = 2, k: int = 5, **changes: Any) -> dict[str, Any]:
    visit_keys = {"visit": "own", "patient": "patients"}
    tables = {
        "patients": {"quasi_identifiers": {"age": RANGES}},
        "visits": {"keys": visit_keys, "quasi_identifiers": {"ward": RANGES}, "identifiers": ["admitted"]},
        "diagnoses": {"keys": {"visit": "visits"}, "quasi_identifiers": {"code": RANGES}, "keep": ["note"]},
    }
    into = {"schema": "anon", "as": "view"}
    return {"unit": {"patients": "id"}, "tables": tables, "privacy": {"k": k, "m": m}, "into": into, **changes}


def rows(connection: Any, table: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = connection.execute(f"SELECT * FROM anon.{table}").fetchall()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 5, 9, 25, 31, 41, 48, 60, 3010, 3093])  # 3010 needs NULL, 3093 items with parents
def test_views_of_random_databases_keep_the_promise_while_their_rows_change(seed: int) -> None:
    assert linked_views.run(seed)[2] == ""


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5, 9, 48])
def test_views_of_random_databases_of_a_server(postgres_dsn: str, seed: int) -> None:
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS released CASCADE")
        for table in ("people", "visits", "diagnoses", "results"):
            connection.execute(f"DROP TABLE IF EXISTS {table} CASCADE")
        assert linked_views.run(seed, connection)[1:] == ("released", "")


@pytest.mark.parametrize("m", [0, 1, 2, 3])
def test_views_show_what_a_release_of_tables_shows_if_nothing_is_rare(hospital: Any, m: int) -> None:
    as_tables = {"schema": "anon", "overwrite": True}
    anonymize_database(spec(m, into=as_tables), connection=hospital)
    expected = {name: sorted(row[1:] for row in rows(hospital, name)) for name in ("patients", "diagnoses")}
    anonymize_database(spec(m, into={**as_tables, "as": "view"}), connection=hospital)
    assert {name: sorted(row[1:] for row in rows(hospital, name)) for name in expected} == expected
    assert verify_database(spec(m), connection=hospital).satisfied


def test_a_planted_rare_pair_disappears_and_comes_back_when_enough_people_have_it(hospital: Any) -> None:
    fine = {"patients": {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}}}
    coded = spec(m=2, k=3)
    coded["tables"] |= fine
    coded["tables"]["visits"]["quasi_identifiers"] = {"ward": {"hierarchy": "suppress", "max_level": 0}}
    coded["tables"]["diagnoses"]["quasi_identifiers"] = {"code": {"hierarchy": "suppress"}}
    hospital.execute("UPDATE visits SET ward = 0")
    hospital.execute("INSERT INTO visits SELECT 1000 + id, id, 1, NULL FROM patients WHERE id < 50")
    hospital.execute("INSERT INTO visits SELECT 2000 + id, id, 2, NULL FROM patients WHERE id >= 60 AND id < 120")
    anonymize_database(coded, connection=hospital)

    def wards() -> list[Any]:
        return sorted({ward for _, _, ward in rows(hospital, "visits")})

    assert wards() == [0, 1, 2]
    hospital.execute("INSERT INTO visits SELECT 3000 + id, id, 2, NULL FROM patients WHERE id < 2")
    assert wards() == [0, 2]  # fewer people have 1 than 2
    hospital.execute("INSERT INTO visits SELECT 3000 + id, id, 2, NULL FROM patients WHERE id = 2")
    assert wards() == [0, 1, 2]
    assert verify_database(coded, connection=hospital).satisfied


def test_keys_fit_together_and_stay_until_the_views_are_replaced(hospital: Any, tmp_path: Path) -> None:
    anonymize_database(spec(), connection=hospital)
    before = rows(hospital, "patients")
    assert rows(hospital, "patients") == before
    people, visits = {row[0] for row in before}, {row[0]: row[1] for row in rows(hospital, "visits")}
    assert set(visits.values()) <= people
    assert {row[0] for row in rows(hospital, "diagnoses")} <= set(visits)
    joined = hospital.execute("SELECT COUNT(*) FROM anon.visits AS v JOIN anon.patients AS p ON p.id = v.patient")
    assert joined.fetchall() == [(len(visits),)]
    again = spec(into={"schema": "anon", "as": "view", "overwrite": True})
    anonymize_database(again, connection=hospital)
    assert not people & {row[0] for row in rows(hospital, "patients")}
    secret = tmp_path / "secret"
    secret.write_text("a long and random text")
    for _ in range(2):
        anonymize_database(again, connection=hospital, key_secret=str(secret))
        people, before_that = {row[0] for row in rows(hospital, "patients")}, people
    assert people == before_that


def test_a_text_of_a_view_contains_neither_the_secret_nor_a_value(hospital: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a long and random text")
    hospital.execute("UPDATE visits SET ward = 4711 WHERE ward = 3")
    anonymize_database(spec(key_secret=str(secret)), connection=hospital)
    texts = "SELECT definition FROM pg_views WHERE schemaname = 'anon'"
    found = [text for (text,) in hospital.execute(texts).fetchall()]
    assert len(found) == 3
    assert not any("4711" in text or "random text" in text for text in found)


def test_rows_whose_keys_are_broken_later_are_left_out(hospital: Any) -> None:
    anonymize_database(spec(), connection=hospital)
    size = len(rows(hospital, "visits"))
    hospital.execute("INSERT INTO patients SELECT 7, 25")  # twice
    hospital.execute("INSERT INTO patients SELECT NULL, 25")
    hospital.execute("INSERT INTO visits SELECT 0, 1, 1, NULL")  # twice, of two people
    hospital.execute("INSERT INTO visits SELECT 9000, 999, 1, NULL")  # of no one
    hospital.execute("INSERT INTO visits SELECT 9001, NULL, 1, NULL")
    assert len(rows(hospital, "patients")) == 199
    assert len(rows(hospital, "visits")) == size - 3 - 1
    shown = {row[0] for row in rows(hospital, "visits")}
    assert {row[0] for row in rows(hospital, "diagnoses")} <= shown
    assert verify_database(spec(), connection=hospital).satisfied


def test_new_values_are_a_star_that_people_must_share(hospital: Any) -> None:
    by_tens = spec()
    by_tens["tables"]["patients"]["quasi_identifiers"] = {"age": {"hierarchy": {"ranges": [10]}, "min_level": 1}}
    anonymize_database(by_tens, connection=hospital)
    hospital.execute("UPDATE patients SET age = 1000 WHERE id < 4")
    assert {age for _, age in rows(hospital, "patients")} == {"[20, 30)", "[30, 40)"}
    assert len(rows(hospital, "patients")) == 196
    hospital.execute("UPDATE patients SET age = 1000 + id WHERE id < 5")
    assert sorted(age for _, age in rows(hospital, "patients"))[:5] == ["*"] * 5
    assert verify_database(by_tens, connection=hospital).satisfied


def test_dates_are_shifted_by_the_same_days_at_every_read(hospital: Any) -> None:
    dated = spec(shift_days=30)
    dated["tables"]["visits"] = {"keys": dated["tables"]["visits"]["keys"], "shift": ["admitted"]}
    anonymize_database(dated, connection=hospital)
    first = rows(hospital, "visits")
    assert rows(hospital, "visits") == first
    by_person: dict[str, list[Any]] = {}
    for _, person, admitted in first:
        by_person.setdefault(person, []).append(admitted)
    intervals = {abs((a - b).days) for days in by_person.values() for a, b in pairwise(days)}
    assert intervals <= {200, 400}  # as in the source, in which a person's visits are 200 days apart
    dates = {date for (date,) in hospital.execute("SELECT admitted FROM visits").fetchall()}
    assert {days[0] for days in by_person.values()} - dates


def test_views_are_attacked_and_reported_like_tables(hospital: Any, tmp_path: Path) -> None:
    database = {} if isinstance(hospital, psycopg.Connection) else {"database": str(tmp_path / "hospital.duckdb")}
    described = spec(**database)
    anonymize_database(described, connection=hospital)
    attacked = attack_database(described, connection=hospital)
    assert all(found["below_k"] == 0 for found in attacked.exposed)
    assert all((found["fewest_candidates"] or 5) >= 5 for found in attacked.people)
    assert "anon" in report_database(described, connection=hospital).markdown


def test_tables_and_views_replace_each_other_on_request(hospital: Any) -> None:
    anonymize_database(spec(), connection=hospital)
    with pytest.raises(TargetError, match="overwrite"):
        anonymize_database(spec(), connection=hospital)
    for form, level in (("view", 0), ("table", 1), ("view", 1)):
        changed = spec(into={"schema": "anon", "as": form, "overwrite": True})
        changed["tables"]["visits"]["quasi_identifiers"] = {"ward": {"hierarchy": "suppress", "min_level": level}}
        anonymize_database(changed, connection=hospital)
        assert verify_database(changed, connection=hospital).satisfied
    kinds = "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'anon'"
    found = dict(hospital.execute(kinds).fetchall())
    assert found["visits"] == "VIEW"
    assert "visits__ward" not in found  # of which the view shows nothing now


def test_a_table_that_a_view_needs_replaces_no_other(hospital: Any) -> None:
    hospital.execute("CREATE SCHEMA anon")
    hospital.execute("CREATE TABLE anon.patients__age AS SELECT 1 AS mine")
    with pytest.raises(TargetError, match="patients__age"):
        anonymize_database(spec(), connection=hospital)
    assert rows(hospital, "patients__age") == [(1,)]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"privacy": {"k": 5, "m": "all"}}, "set m to 0, 1, 2 or 3"),
        ({"privacy": {"k": 5, "m": 1, "l_diversity": {"diagnoses.note": 2}}}, "release tables"),
        ({"into": {"folder": "anon", "as": "view"}}, "name one with schema"),
    ],
)
def test_views_of_what_they_cannot_count_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message), duckdb.connect() as connection:
        anonymize_database(spec() | changes, connection=connection)


def test_a_run_writes_no_views() -> None:
    with pytest.raises(SpecError, match="as: table"), duckdb.connect() as connection:
        run_database(spec(), connection=connection)


def test_a_view_of_another_file_is_refused(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute(f"ATTACH '{tmp_path / 'b.duckdb'}' AS b")
        connection.execute("CREATE TABLE b.main.people AS SELECT range AS id, 1 AS age FROM range(9)")
        tables = {"people": {"source": "b.main.people", "quasi_identifiers": {"age": {"hierarchy": "suppress"}}}}
        with pytest.raises(TargetError, match="name a target where the source is"):
            anonymize_database(spec() | {"unit": {"people": "id"}, "tables": tables}, connection=connection)


def test_only_the_owner_reads_the_tables_that_views_need(postgres_dsn: str) -> None:
    with psycopg.connect(postgres_dsn, autocommit=True) as owner:
        owner.execute("DROP SCHEMA IF EXISTS anon CASCADE")
        owner.execute("DROP TABLE IF EXISTS patients CASCADE")
        owner.execute("CREATE TABLE patients AS SELECT n AS id, 20 + n % 4 AS age FROM generate_series(1, 40) AS n")
        owner.execute("CREATE SCHEMA anon")
        owner.execute("ALTER DEFAULT PRIVILEGES IN SCHEMA anon GRANT SELECT ON TABLES TO PUBLIC")
        owner.execute("GRANT USAGE ON SCHEMA anon TO PUBLIC")
        tables = {"patients": {"quasi_identifiers": {"age": {"hierarchy": {"ranges": [2]}}}}}
        anonymize_database(spec() | {"tables": tables}, connection=owner)
        owner.execute("DROP ROLE IF EXISTS reader_of_views")
        owner.execute("CREATE ROLE reader_of_views")
        try:
            owner.execute("SET ROLE reader_of_views")
            assert len(rows(owner, "patients")) == 40
            for table in ("anon.patients__key_secret", "anon.patients__age"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    owner.execute(f"SELECT * FROM {table}")
        finally:
            owner.execute("RESET ROLE")
            owner.execute("DROP SCHEMA anon CASCADE")
            owner.execute("DROP ROLE reader_of_views")


def test_rows_that_refer_to_an_item_that_is_left_out_are_left_out_with_it(hospital: Any) -> None:
    hospital.execute("DELETE FROM diagnoses")
    hospital.execute("UPDATE visits SET ward = 2")
    exact = spec(m=2, k=3)
    for table, column, level in (("patients", "age", 1), ("visits", "ward", 0), ("diagnoses", "code", 0)):
        recipe = {"hierarchy": "suppress", "min_level": level, "max_level": level}
        exact["tables"][table]["quasi_identifiers"] = {column: recipe}
    hospital.execute("INSERT INTO diagnoses SELECT visit, 0, 0 FROM visits WHERE patient < 10")
    anonymize_database(exact, connection=hospital)
    assert len(rows(hospital, "diagnoses")) > 0
    # Five people have ward 1: three of them a diagnosis there and no other ward, two another ward.
    hospital.execute("DELETE FROM visits WHERE patient < 5")
    hospital.execute("INSERT INTO visits SELECT 5000 + id, id, 1, NULL FROM patients WHERE id < 5")
    hospital.execute("INSERT INTO visits SELECT 6000 + id, id, 2, NULL FROM patients WHERE id IN (3, 4)")
    hospital.execute("DELETE FROM diagnoses")
    hospital.execute("INSERT INTO diagnoses SELECT 5000 + id, 0, 0 FROM patients WHERE id < 3")
    assert {ward for _, _, ward in rows(hospital, "visits")} == {2}
    assert rows(hospital, "diagnoses") == []
    assert verify_database(exact, connection=hospital).satisfied


@pytest.mark.parametrize(("recipe", "level"), [("suppress", 0), ("suppress", 1), ({"ranges": [20]}, 0)])
def test_a_table_may_get_its_first_rows_later(hospital: Any, recipe: Any, level: int) -> None:
    hospital.execute("DELETE FROM diagnoses")
    empty = spec()
    empty["tables"]["diagnoses"]["quasi_identifiers"] = {"code": {"hierarchy": recipe, "min_level": level}}
    anonymize_database(empty, connection=hospital)
    hospital.execute("INSERT INTO diagnoses SELECT visit, visit % 2, 0 FROM visits")
    codes = {code for _, code, _ in rows(hospital, "diagnoses")}
    assert codes == ({"*"} if level else {None})  # no value has a label
    assert len(rows(hospital, "diagnoses")) == len(rows(hospital, "visits"))
    assert verify_database(empty, connection=hospital).satisfied
