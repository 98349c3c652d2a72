"""A release as a Python model of dbt: its rows, and no other change in the session's database."""

import json
import logging
import sys
import traceback
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.dbt import release
from kanon_sql.errors import InfeasibleError, SourceError, SpecError

PATIENTS = """
CREATE TABLE stg_patients AS
SELECT 'P' || i AS name, i % 40 AS age, '1' || i % 9 AS zip, i % 3 AS ill, CAST(i % 2 AS HUGEINT) AS wide
FROM range(200) AS t(i)
"""
SPEC: dict[str, Any] = {
    "source": "elsewhere",
    "database": "elsewhere.duckdb",
    "identifiers": ["name"],
    "quasi_identifiers": {
        "age": {"hierarchy": {"ranges": [5, 10, 20]}},
        "zip": {"hierarchy": {"redact": "right"}},
    },
    "keep": ["ill", "wide"],
    "privacy": {"k": 5},
    "target": {"table": "elsewhere", "as": "view"},
}


@pytest.fixture
def session(tmp_path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database as dbt leaves it to a model: tables, views and a schema that are none of ours."""
    session = duckdb.connect(str(tmp_path / "dev.duckdb"))
    session.execute(PATIENTS)
    session.execute("CREATE VIEW seen AS SELECT age FROM stg_patients; CREATE SCHEMA other")
    session.execute("CREATE TABLE other.stg_patients AS SELECT 1 AS mine; CREATE TEMP TABLE passing AS SELECT 2 AS i")
    session.execute("CREATE TABLE kanon_source AS SELECT 3 AS i")
    yield session
    session.close()


def relations(session: duckdb.DuckDBPyConnection) -> dict[tuple[str, ...], Any]:
    """Every relation of the session with all that is in it."""
    listed = session.execute(
        "SELECT table_catalog, table_schema, table_name FROM information_schema.tables ORDER BY ALL"
    ).fetchall()
    query = "SELECT * FROM {} ORDER BY ALL"
    return {name: session.execute(query.format(".".join(f'"{part}"' for part in name))).fetchall() for name in listed}


@pytest.mark.parametrize("begun", [False, True], ids=["alone", "in a transaction"])
def test_a_model_is_the_release_and_changes_no_other_relation(
    session: duckdb.DuckDBPyConnection, begun: bool, tmp_path: Path
) -> None:
    if begun:
        session.execute("BEGIN")
    session.execute("SELECT * FROM stg_patients").fetchone()  # a result that is not read to its end
    before = relations(session)
    released = release(session.query("select * from stg_patients"), session, SPEC, manifest=tmp_path / "m.json")
    session.register("of_dbt", released)
    session.execute("CREATE TABLE patients_k5 AS SELECT * FROM of_dbt")
    session.unregister("of_dbt")
    after = relations(session)
    added = {name for name in after if name not in before}
    assert {name[2] for name in added if name[0] != "temp"} == {"patients_k5"}
    assert len([name for name in added if name[0] == "temp"]) == 1, "the release itself, until the session ends"
    assert {name: after[name] for name in before} == before
    expected = kanon_sql.anonymize(session.sql("FROM stg_patients").df(), {**SPEC, "target": None, "database": None})
    columns = "age, zip, ill, CAST(wide AS DOUBLE)"
    rows = session.execute(f"SELECT {columns} FROM patients_k5").fetchall()
    assert rows == [tuple(row) for row in expected.to_df().values.tolist()], "in the same order too"
    assert session.execute("SELECT typeof(wide) FROM patients_k5").fetchone() == ("HUGEINT",)
    result = json.loads((tmp_path / "m.json").read_text())
    assert (result["node"], result["verified"]) == (expected.manifest["node"], True)
    if begun:
        session.execute("COMMIT")


def test_an_impossible_release_fails_the_model_and_changes_nothing(session: duckdb.DuckDBPyConnection) -> None:
    before = relations(session)
    with pytest.raises(InfeasibleError):
        release(
            session.query("FROM stg_patients"),
            session,
            {**SPEC, "keep": ["wide"], "privacy": {"l_diversity": {"ill": 4}}},
        )
    assert relations(session) == before


def submit_python_job(
    parsed_model: dict[str, Any], session: duckdb.DuckDBPyConnection, spec: dict[str, Any] = SPEC
) -> Any:
    """What dbt's adapters have around a model."""
    return release(session.query("FROM stg_patients"), session, spec) if parsed_model else None


def test_dbt_prints_one_sentence_of_an_error(session: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(SpecError) as error:
        submit_python_job({"config": {"materialized": "incremental"}}, session)
    (line,) = traceback.format_exception(error.value)
    assert line.startswith("kanon_sql.errors.SpecError: a release is verified as a whole, so rows cannot be added")


def test_an_empty_run_returns_the_columns_without_rows(
    session: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = types.SimpleNamespace(EMPTY=True)
    monkeypatch.setitem(sys.modules, "dbt.flags", types.SimpleNamespace(get_flags=lambda: flags))  # type: ignore[arg-type]
    session.execute("DELETE FROM stg_patients")
    declared = {"config": {}, "columns": {"age": {"name": "age", "data_type": "INTEGER"}, "zip": {"name": "zip"}}}
    released = submit_python_job(declared, session)
    assert released.fetchall() == []
    assert list(zip(released.columns, map(str, released.types), strict=True)) == [
        ("age", "INTEGER"), ("zip", "VARCHAR"), ("ill", "BIGINT"), ("wide", "HUGEINT"),
    ]  # fmt: skip
    recipes = {"age": {"show": "bounds"}, "zip": {"hierarchy": {"redact": "right"}}}
    shown = submit_python_job({"config": {}}, session, {**SPEC, "strategy": "mondrian", "quasi_identifiers": recipes})
    assert shown.columns == ["age_min", "age_max", "zip", "ill", "wide"]
    flags.EMPTY = False
    with pytest.raises(SourceError, match="no rows"):
        submit_python_job(declared, session)


def test_the_node_of_the_last_build_is_kept_until_a_full_refresh(
    session: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    flags = types.SimpleNamespace(FULL_REFRESH=False)
    monkeypatch.setitem(sys.modules, "dbt.flags", types.SimpleNamespace(get_flags=lambda: flags))  # type: ignore[arg-type]

    def submit_python_job(parsed_model: dict[str, Any], k: int) -> Any:
        release(
            session.query("FROM stg_patients"), session, SPEC, k=k, privacy={}, manifest=tmp_path / "m.json",
            keep_node=bool(parsed_model),
        )  # fmt: skip
        return json.loads((tmp_path / "m.json").read_text())

    parsed = {"config": {}, "relation_name": "patients_k5"}
    coarse = submit_python_job(parsed, k=40)["node"]
    assert (submit_python_job(parsed, k=5)["node"], coarse["age"] > 0) == (coarse, True)
    session.execute("ALTER TABLE stg_patients ADD COLUMN more INTEGER")
    assert submit_python_job(parsed, k=5)["node"] == coarse, "a new column is dropped"
    flags.FULL_REFRESH = True
    assert submit_python_job(parsed, k=5)["node"] != coarse
    with pytest.raises(SpecError, match="set `manifest` to its file"):
        release(session.query("FROM stg_patients"), session, SPEC, keep_node=True)


def test_an_incremental_model_is_refused(session: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(SpecError, match="set materialized='table' for this model"):
        submit_python_job({"config": {"materialized": "incremental"}}, session)


def test_the_manifest_is_logged_with_the_names_that_dbt_has(
    session: duckdb.DuckDBPyConnection, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "kanon_sql.dbt")
    refs = [{"name": "stg_patients", "package": None, "version": None}]
    submit_python_job({"config": {}, "refs": refs, "relation_name": '"dev"."main"."patients_k5"'}, session)
    (logged,) = (json.loads(record.message) for record in caplog.records)
    assert logged["source"] == "stg_patients"
    assert logged["target"] == {"table": "dev.main.patients_k5", "as": "dbt model"}
    assert "elsewhere" not in json.dumps(logged)


def test_a_spec_is_read_from_the_folder_of_the_project(
    session: duckdb.DuckDBPyConnection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "release.yml").write_text("quasi_identifiers: {age: {hierarchy: suppress}}\nkeep: [ill]\n")
    monkeypatch.chdir(tmp_path)
    assert release(session.query("FROM stg_patients"), session, spec="release.yml", k=7).columns == ["age", "ill"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"incremental": True, "waiting": "patients_waiting"}, "leave out `incremental` and `waiting`"),
        ({"differencing_limit": 5}, "leave out `differencing_limit`"),
    ],
)
def test_parts_that_need_another_table_are_refused(
    session: duckdb.DuckDBPyConnection, more: dict[str, Any], message: str
) -> None:
    before = relations(session)
    with pytest.raises(SpecError, match=message):
        release(session.query("FROM stg_patients"), session, {**SPEC, "target": {"table": "elsewhere"}, **more})
    assert relations(session) == before


def test_a_value_that_is_neither_a_table_nor_a_session_is_refused(session: duckdb.DuckDBPyConnection) -> None:
    relation = session.query("FROM stg_patients")
    anatomy = {**SPEC, "target": {"table": "a", "as": "anatomy"}, "sensitive": ["ill"], "keep": []}
    with pytest.raises(SpecError, match="a dbt model is one"):
        release(relation, session, anatomy)
    with pytest.raises(SpecError, match="the session is not a connection to DuckDB"):
        release(relation, object(), SPEC)
