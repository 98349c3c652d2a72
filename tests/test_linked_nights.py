"""Runs of several tables: compared with earlier releases in plain Python, and what is refused."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import psycopg
import pytest

from kanon_sql import anonymize_database, json_schema, queries, run_database, verify_database
from kanon_sql.errors import DifferencingError, SpecError, TargetError
from kanon_sql.linked.waiting import Chooser
from kanon_sql.queries import Relation
from support import chain_nights, linked_nights
from support.command_line import kanon

RANGES = {"hierarchy": {"ranges": [20]}}


@pytest.fixture
def hospital(tmp_path: Path) -> Any:
    """Sixty patients with a visit each."""
    connection = duckdb.connect(str(tmp_path / "hospital.duckdb"))
    connection.execute("CREATE TABLE patients AS SELECT range AS id, 20 + range % 20 AS age FROM range(60)")
    connection.execute(
        "CREATE TABLE visits AS SELECT range AS visit, range AS patient, range % 2 AS ward, 1 AS days FROM range(60)"
    )
    return connection


def spec(**changes: Any) -> dict[str, Any]:
    tables = {
        "patients": {"quasi_identifiers": {"age": RANGES}},
        "visits": {
            "keys": {"visit": "own", "patient": "patients"},
            "quasi_identifiers": {"ward": {"hierarchy": "suppress"}},
            "keep": ["days"],
        },
    }
    mapping = {"unit": {"patients": "id"}, "tables": tables, "privacy": {"k": 5, "m": 1}, "into": {"schema": "anon"}}
    return {**mapping, **changes}


def arrive(connection: Any, people: int, ward: int) -> None:
    """New patients of the same age, with a visit to the same ward each."""
    (first,) = connection.execute("SELECT MAX(id) + 1 FROM patients").fetchone()
    connection.execute(f"INSERT INTO patients SELECT {first} + range, 30 FROM range({people})")
    connection.execute(f"INSERT INTO visits SELECT {first} + range, {first} + range, {ward}, 1 FROM range({people})")


def released(connection: Any, table: str) -> int:
    ((rows,),) = connection.execute(f"SELECT COUNT(*) FROM anon.{table}").fetchall()
    return int(rows)


@pytest.mark.slow
def test_no_two_releases_of_random_databases_single_anyone_out() -> None:
    ends: Counter[str] = Counter()
    for seed in (201, 204):  # in which values are too few as well
        _, found, problem = linked_nights.run(seed, nights=3)
        assert not problem, f"seed {seed}: {problem}"
        ends += found
    assert ends["released"] > 5
    assert ends["waiting"] > 3


@pytest.mark.slow
def test_nights_of_a_server(postgres_dsn: str) -> None:
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS released CASCADE")
        connection.execute("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC")
        _, ends, problem = linked_nights.run(231, nights=3, connection=connection)
        assert not problem
        assert ends["released"] > 1
        connection.execute("ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM PUBLIC")
        readable = connection.execute(
            "SELECT DISTINCT table_name FROM information_schema.role_table_grants "
            "WHERE table_schema = 'released' AND grantee = 'PUBLIC' ORDER BY table_name"
        ).fetchall()
        connection.execute("DROP SCHEMA released CASCADE")
        assert readable == [("diagnoses",), ("people",), ("visits",)]  # and neither their histories nor the runs


def test_releases_of_chains_are_compared_as_by_plain_python() -> None:
    _, ends, problem = chain_nights.run(4, nights=2)
    assert not problem
    assert ends["compared"] > 0
    assert ends["waiting"] > 0


@pytest.mark.slow
def test_chains_of_a_server(postgres_dsn: str) -> None:
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS released CASCADE")
        _, ends, problem = chain_nights.run(4, nights=2, connection=connection)
        connection.execute("DROP SCHEMA released CASCADE")
        assert not problem
        assert ends["compared"] > 0


def chain(connection: Any, m: int) -> dict[str, Any]:
    """Sixty patients with two visits to a ward, two diagnoses of each visit, and no results."""
    connection.execute("CREATE TABLE patients AS SELECT range AS id, 30 AS age FROM range(60)")
    connection.execute(
        "CREATE TABLE visits AS SELECT range AS visit, range // 2 AS patient, range // 2 % 2 AS ward FROM range(120)"
    )
    connection.execute(
        "CREATE TABLE diagnoses AS SELECT range AS diagnosis, range // 2 AS visit, 'J' AS code FROM range(240)"
    )
    connection.execute("CREATE TABLE results (result INTEGER, diagnosis INTEGER, finding VARCHAR)")
    exact = {"hierarchy": "suppress", "max_level": 0}
    tables = {
        "patients": {"quasi_identifiers": {"age": RANGES}},
        "visits": {"keys": {"visit": "own", "patient": "patients"}, "quasi_identifiers": {"ward": exact}},
        "diagnoses": {"keys": {"diagnosis": "own", "visit": "visits"}, "quasi_identifiers": {"code": exact}},
        "results": {"keys": {"result": "own", "diagnosis": "diagnoses"}, "quasi_identifiers": {"finding": exact}},
    }
    return spec(tables=tables, privacy={"k": 5, "m": m})


def add_results(connection: Any, patients: Sequence[int], *diagnoses: int) -> None:
    """A result for some of the four diagnoses of patients."""
    for patient in patients:
        for diagnosis in diagnoses:
            connection.execute(f"INSERT INTO results SELECT COUNT(*), {4 * patient + diagnosis}, 'high' FROM results")


def waiting_results(connection: Any, of_chain: dict[str, Any]) -> dict[str, int]:
    """The results that wait in the next release."""
    release = run_database(of_chain, connection=connection).release
    assert release
    waiting: dict[str, int] = release.manifest["waiting"]["tables"]["results"]
    return waiting


def test_a_person_who_stands_out_by_the_visit_of_the_diagnosis_of_a_new_result_waits() -> None:
    with duckdb.connect() as connection:
        of_chain = chain(connection, m=1)
        add_results(connection, range(20), 0)
        run_database(of_chain, connection=connection)
        add_results(connection, [20, 22, 24, 26, 28, 21], 0)  # 21 is the only one in the other ward
        assert waiting_results(connection, of_chain) == {"people": 1, "to_appear": 1, "to_leave": 0, "to_change": 0}
        add_results(connection, [23, 25, 27, 29], 0)
        assert waiting_results(connection, of_chain)["people"] == 0


def test_a_person_who_stands_out_by_the_visits_of_two_new_results_waits() -> None:
    with duckdb.connect() as connection:
        of_chain = chain(connection, m=2)
        add_results(connection, range(0, 20, 2), 0, 1)  # of two diagnoses of one visit
        add_results(connection, range(20, 40, 2), 0, 2)  # of diagnoses of two visits
        run_database(of_chain, connection=connection)
        add_results(connection, range(40, 50, 2), 0, 1)
        add_results(connection, [50], 0, 2)
        assert waiting_results(connection, of_chain) == {"people": 1, "to_appear": 1, "to_leave": 0, "to_change": 0}
        release = run_database({**of_chain, "recipient": "public"}, connection=connection)
        assert release.status == "unchanged"


def test_what_rows_show_together_with_those_above_them() -> None:
    """Of result 13, only the visit moves; diagnosis 22 has no visit, and visit 31 is another one in version 0."""
    compared = [
        *[(1, 0, 1, 1, None, 3, 0), (1, 1, 11, 1, None, 4, 1), (1, 2, 12, 1, 11, 5, 0), (1, 3, 13, 1, 12, 6, 0)],
        *[(1, 0, 2, 2, None, 3, 1), (1, 2, 22, 2, None, 5, 1), (1, 3, 23, 2, 22, 6, 1)],
        *[(version, 0, 3, 3, None, 3, 0) for version in (0, 1)],
        *[(0, 1, 31, 3, None, 7, 0), (1, 1, 31, 3, None, 4, 0)],
        *[row for v in (0, 1) for row in ((v, 2, 32, 3, 31, 5, 0), (v, 3, 33, 3, 32, 6, 0))],
    ]
    classes = [(1, 1, 8, 0), (1, 2, 8, 1), (0, 3, 9, 0), (1, 3, 8, 0)]
    with duckdb.connect() as connection:
        for name, columns, given in (
            ("compared", "version, kind, row_id, unit_id, parent_id, what, moving", compared),
            ("classes", "version, unit_id, class, moving", classes),
        ):
            values = ", ".join(str(row).replace("None", "NULL") for row in given)
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM (VALUES {values}) AS t({columns})")
        text = queries.compared_facts(Relation("compared"), Relation("classes"), 2, "duckdb")
        found = connection.execute(f"SELECT * FROM ({text}) ORDER BY version, row_id").fetchall()
    # version, person, class, item, row, whether it moves, the row above that does, whether the person does, and places
    assert found == [
        (0, 3, 9, 8, 31, 0, None, 0, 31, None),
        *[(0, 3, 9, 3, 32, 0, None, 0, 31, 32), (0, 3, 9, 6, 33, 0, None, 0, 31, 32)],
        *[(1, 1, 8, 1, 11, 1, None, 0, 11, None), (1, 1, 8, 2, 12, 0, 11, 0, 11, 12)],
        *[(1, 1, 8, 5, 13, 0, 11, 0, 11, 12), (1, 2, 8, 4, 22, 1, None, 1, 22, None)],
        *[(1, 2, 8, 7, 23, 1, 22, 1, 22, 23), (1, 3, 8, 1, 31, 0, None, 0, 31, None)],
        *[(1, 3, 8, 2, 32, 0, None, 0, 31, 32), (1, 3, 8, 5, 33, 0, None, 0, 31, 32)],
    ]


def test_a_run_repeats_a_release_when_something_has_changed(hospital: Any) -> None:
    first = run_database(spec(), connection=hospital)
    assert (first.status, first.number, first.why) == ("released", 1, ("there is no release yet",))
    assert run_database(spec(), connection=hospital).status == "unchanged"
    arrive(hospital, 5, 1)
    would = run_database(spec(), connection=hospital, dry_run=True)
    assert (would.status, would.number, released(hospital, "patients")) == ("would release", 2, 60)
    second = run_database(spec(), connection=hospital)
    assert second.why == ("the source of patients changed", "the source of visits changed")
    assert second.release
    assert second.release.manifest["released_people"] == released(hospital, "patients") == 65
    assert second.release.manifest["compared"] == [{"release": 1, "fewest_people": 5, "fewest_values": {}}]
    hospital.execute("DROP TABLE anon.visits")
    assert run_database(spec(), connection=hospital).why == ("visits was missing",)
    assert verify_database(spec(), connection=hospital).satisfied
    found = run_database(spec(privacy={"k": 4, "m": 1}), connection=hospital)
    assert found.why == ("the spec changed",)


def test_the_hierarchy_of_a_distance_is_an_input_of_a_run(hospital: Any, tmp_path: Path) -> None:
    hospital.execute("ALTER TABLE patients ADD COLUMN job VARCHAR DEFAULT 'cook'")
    hospital.execute("UPDATE patients SET job = 'nurse' WHERE id % 40 < 20")
    jobs = tmp_path / "jobs.csv"
    jobs.write_text("cook;kitchen;*\nnurse;care;*\n")
    closeness = {"t": 0.5, "distance": "hierarchical", "hierarchy": str(jobs)}
    privacy = {"k": 5, "m": 0, "t_closeness": {"patients.job": closeness}, "l_diversity": {"patients.job": 2}}
    tables = {"patients": {**spec()["tables"]["patients"], "sensitive": ["job"]}}
    close = spec(tables=tables, privacy=privacy)
    assert run_database(close, connection=hospital).status == "released"
    assert run_database(close, connection=hospital).status == "unchanged"
    jobs.write_text("cook;work;*\nnurse;work;*\n")
    again = run_database(close, connection=hospital)
    assert again.why == ("the hierarchy of patients.job in t_closeness changed",)


def test_changes_of_fewer_than_k_people_wait(hospital: Any) -> None:
    run_database(spec(), connection=hospital)
    arrive(hospital, 3, 1)
    hospital.execute("DELETE FROM visits WHERE patient < 2")
    hospital.execute("DELETE FROM patients WHERE id < 2")
    hospital.execute("UPDATE visits SET days = 9 WHERE visit = 50")
    refused = spec(differencing="refuse")
    with pytest.raises(DifferencingError, match="release 1 together would single out people: fewer than 5 share"):
        run_database(refused, connection=hospital)
    with pytest.raises(DifferencingError, match="changes of 6 people would wait, more than 5%"):
        run_database(spec(deferral_limit=0.05), connection=hospital)
    second = run_database(spec(deferral_limit=0.2), connection=hospital).release
    assert second
    assert second.manifest["waiting"] == {
        "people": 6,
        "changed_rows": 11,
        "tables": {
            "patients": {"people": 5, "to_appear": 3, "to_leave": 2, "to_change": 0},
            "visits": {"people": 6, "to_appear": 3, "to_leave": 2, "to_change": 1},
        },
    }
    assert released(hospital, "patients") == 60
    assert hospital.execute("SELECT DISTINCT days FROM anon.visits").fetchall() == [(1,)]
    arrive(hospital, 2, 1)  # with those who wait, they are five
    third = run_database(spec(deferral_limit=0.2), connection=hospital).release
    assert third
    assert third.manifest["waiting"]["people"] == 3
    assert released(hospital, "patients") == released(hospital, "visits") == 65


def test_the_check_is_not_that_which_chooses(hospital: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run_database(spec(), connection=hospital)
    arrive(hospital, 3, 1)
    monkeypatch.setattr(Chooser, "choose", lambda *_: None)
    with pytest.raises(DifferencingError, match="main row and 0 other rows"):
        run_database(spec(), connection=hospital)
    assert released(hospital, "patients") == 60
    unlimited = run_database(spec(differencing_limit="unlimited"), connection=hospital)
    assert unlimited.release
    assert unlimited.release.manifest["compared"] == []
    monkeypatch.undo()
    arrive(hospital, 5, 0)
    found = run_database(spec(), connection=hospital).release
    assert found
    assert [compared["release"] for compared in found.manifest["compared"]] == [2]  # and not with the one before


def ill(connection: Any, people: int, illness: str) -> None:
    """New patients with an illness, in a table of patients alone."""
    (first,) = connection.execute("SELECT MAX(id) + 1 FROM patients").fetchone()
    connection.execute(f"INSERT INTO patients SELECT {first} + range, 30, '{illness}' FROM range({people})")


def test_people_who_would_disclose_their_value_wait(hospital: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hospital.execute("ALTER TABLE patients ADD COLUMN ill VARCHAR")
    hospital.execute("UPDATE patients SET ill = CASE id % 2 WHEN 0 THEN 'flu' ELSE 'cold' END")
    tables = {"patients": {"quasi_identifiers": {"age": RANGES}, "sensitive": ["ill"]}}
    values = spec(tables=tables, privacy={"k": 5, "m": 0, "l_diversity": {"patients.ill": 2}}, deferral_limit=0.2)
    run_database(values, connection=hospital)
    ill(hospital, 6, "HIV")
    with monkeypatch.context() as patched:
        patched.setattr(Chooser, "choose", lambda *_: None)
        with pytest.raises(DifferencingError, match=r"would disclose patients.ill: .* leaves 1 of 2 values possible"):
            run_database(values, connection=hospital)
    second = run_database(values, connection=hospital).release
    assert second
    assert (second.manifest["waiting"]["people"], released(hospital, "patients")) == (6, 60)
    ill(hospital, 1, "flu")
    third = run_database(values, connection=hospital).release
    assert third
    assert (third.manifest["waiting"]["people"], released(hospital, "patients")) == (0, 67)
    assert third.manifest["compared"] == [{"release": 1, "fewest_people": 7, "fewest_values": {"patients.ill": 2}}]
    hospital.execute("UPDATE patients SET ill = 'HIV' WHERE id < 6")  # six flus and colds leave, six HIV arrive
    fourth = run_database(values, connection=hospital).release
    assert fourth
    assert (fourth.manifest["waiting"]["people"], released(hospital, "patients")) == (6, 67)
    with pytest.raises(SpecError, match="set `l_diversity` of the column to 3 or more"):
        run_database({**values, "differencing_values": {"patients.ill": 3}}, connection=hospital)


def test_a_release_keeps_its_own_diversity_when_arrivals_wait(hospital: Any) -> None:
    """Both releases show two values of everyone; but the new one needs three, and the third arrives with too few."""
    hospital.execute("DELETE FROM patients WHERE id >= 10")
    hospital.execute("ALTER TABLE patients ADD COLUMN ill VARCHAR")
    hospital.execute(
        "UPDATE patients SET age = 30, ill = CASE WHEN id < 4 THEN 'flu' WHEN id < 8 THEN 'cold' ELSE 'HIV' END"
    )
    tables = {"patients": {"quasi_identifiers": {"age": RANGES}, "sensitive": ["ill"]}}
    values = spec(tables=tables, privacy={"k": 2, "m": 0, "l_diversity": {"patients.ill": 3}}, deferral_limit=1.0)
    run_database(values, connection=hospital)
    hospital.execute("DELETE FROM patients WHERE id > 6")  # one with a cold, and both with HIV
    hospital.execute("INSERT INTO patients VALUES (20, 30, 'gout')")
    second = run_database(values, connection=hospital).release
    assert second
    assert (second.manifest["waiting"]["people"], released(hospital, "patients")) == (4, 10)


def test_an_older_release_is_compared_as_well(hospital: Any) -> None:
    run_database(spec(), connection=hospital)
    for ward in (0, 1):
        arrive(hospital, 5, ward)
        run_database(spec(), connection=hospital)
    hospital.execute("DELETE FROM visits WHERE patient >= 65")
    hospital.execute("DELETE FROM patients WHERE id BETWEEN 65 AND 69")
    hospital.execute("INSERT INTO patients SELECT 80 + range, 30 FROM range(5)")
    found = run_database(spec(), connection=hospital).release
    assert found
    assert [compared["release"] for compared in found.manifest["compared"]] == [3, 2, 1]
    short = run_database(spec(differencing_history=1), connection=hospital)
    assert short.status == "unchanged"  # the number of releases to compare with is no reason for a release


def test_what_a_run_does_not_touch(hospital: Any, tmp_path: Path) -> None:
    anonymize_database(spec(), connection=hospital)
    with pytest.raises(TargetError, match="no run has created it"):
        run_database(spec(), connection=hospital)
    run_database(spec(into={"schema": "anon", "overwrite": True}), connection=hospital)
    with pytest.raises(TargetError, match="released by `kanon database run`"):
        anonymize_database(spec(into={"schema": "anon", "overwrite": True}), connection=hospital)
    hospital.execute("DELETE FROM anon.visits WHERE days = 1")
    with pytest.raises(TargetError, match="were changed after the last run"):
        run_database(spec(), connection=hospital)
    hospital.execute("DROP TABLE anon.visits__history")
    arrive(hospital, 5, 1)
    with pytest.raises(DifferencingError, match="visits__history with the earlier releases is missing"):
        run_database(spec(into={"schema": "anon", "overwrite": True}), connection=hospital)
    hospital.execute("DROP TABLE anon.kanon_runs")
    again = spec(into={"schema": "anon", "overwrite": True})
    with pytest.raises(DifferencingError, match="the table kanon_runs is missing"):
        run_database(again, connection=hospital)
    assert run_database({**again, "differencing_limit": "unlimited"}, connection=hospital).number == 1
    with pytest.raises(SpecError, match="a run replaces tables of a schema"):
        run_database(spec(into={"folder": str(tmp_path / "files")}), connection=hospital)
    tables = {"patients": {"quasi_identifiers": {"age": RANGES}, "sensitive": ["ill"]}}
    without = {"tables": tables, "privacy": {"k": 5, "m": 0, "alpha_k": {"patients.ill": 0.9}}}
    with pytest.raises(SpecError, match=r"add `l_diversity: \{patients.ill: 2\}` to `privacy`"):
        run_database(spec(**without), connection=hospital)


def test_the_command(hospital: Any, tmp_path: Path) -> None:
    file = tmp_path / "hospital.yml"
    file.write_text(json.dumps(spec(database=str(tmp_path / "hospital.duckdb"))))
    hospital.close()
    done = kanon("database", "run", str(file), "--json")
    assert done.code == 0, done.err
    content = json.loads(done.out)
    jsonschema.validate(content, json_schema("database-run"))
    assert content["status"] == "released"
    assert "release 1 unchanged" in kanon("database", "run", str(file)).out
    with duckdb.connect(str(tmp_path / "hospital.duckdb")) as connection:
        arrive(connection, 4, 1)
    shown = kanon("database", "run", str(file), "--dry-run").out
    assert "release 2 would release: the source of patients changed" in shown
    assert "Changes of 4 people wait; 0 of 8 rows change now." in shown
    assert "Compared with 1 earlier release: at least" in shown
    file.write_text(json.dumps(spec(database=str(tmp_path / "hospital.duckdb"), deferral_limit=0.01)))
    refused = kanon("database", "run", str(file))
    assert refused.code == 1
    assert "more than 1% of the 60 in the release (`deferral_limit`)" in refused.err
    assert "or --differencing-limit unlimited if" in refused.err
    assert kanon("database", "run", str(file), "--differencing-limit", "unlimited").code == 0
