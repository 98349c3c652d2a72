"""Credentials, unknown engines, missing extras and permissions, and the leftovers of a full disk or a second run."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from kanon_sql import anonymize
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import TargetError
from kanon_sql.plan.observer import Observer
from kanon_sql.resources import install_command
from kanon_sql.spec import names_a_server
from support.command_line import COLUMNS, PEOPLE, ask, done, kanon
from support.engines import ByHand
from support.ward import QI, TABLE, on_a_full_disk, snapshot

CANARY = "s3cretpw"
RECIPES = {"age": {"hierarchy": {"ranges": [10]}}, "zip": {"hierarchy": {"redact": "right"}}}
SPEC: dict[str, Any] = {"identifiers": ["name"], "quasi_identifiers": RECIPES, "keep": ["disease"], "privacy": {"k": 5}}

# Credentials


@pytest.mark.parametrize(
    "place",
    [
        "md:?motherduck_token={}",
        "md:hospital?motherduck_token={}",
        "mysql://host/db?password={}",
        "foo://{}@host/db",
        "https://host/people.duckdb?token={}",
        "s3://bucket/people.duckdb?secret={}",
    ],
)
def test_no_token_is_printed_and_nothing_is_fetched_or_created(ward: Path, place: str) -> None:
    url, before = place.format(CANARY), snapshot(ward)
    for line in (
        ["profile", "people", "--database", url],
        ["profile", "people", "--attach", f"{url}"],
        ["profile", url],
        ["verify", url, "--database", "hospital.duckdb", "--quasi-identifiers", "age"],
        ["anonymize", "people.csv", "--database", url, *shlex.split(QI), "--into", "anon"],
    ):
        run = kanon(*line)
        assert (run.code, run.out, run.err.count("\n"), CANARY in run.err) == (2, "", 1, False), run
    assert snapshot(ward) == before


def test_a_run_that_works_writes_no_password(ward: Path, postgres_dsn: str, make_table: Any) -> None:
    """The server of the tests asks for none, so any will do."""
    engine = ByHand.open(postgres_dsn)
    make_table(engine, "people", COLUMNS, PEOPLE)
    engine.close()
    dsn = psycopg.conninfo.make_conninfo(postgres_dsn, password=CANARY)
    assert names_a_server(dsn)
    (ward / "spec.json").write_text(json.dumps({**SPEC, "database": dsn}))
    outputs = [
        done("anonymize", "people", "--spec", "spec.json", "--output", "out.csv", "--trace", "trace.jsonl", "--json"),
        done("anonymize", "people", "--spec", "spec.json", "--into", "anon"),
        done("anonymize", "people", "--spec", "spec.json", "--sql"),
        done("explain", "people", "--spec", "spec.json"),
        done("verify", "anon", "--database", dsn, "--quasi-identifiers", "age,zip", "--k", "5", "--json"),
        kanon("anonymize", "people", "--spec", "spec.json", "--into", "anon").err,
        kanon("verify", "nobody", "--database", dsn, "--quasi-identifiers", "age").err,
        str(ask(postgres_dsn, "SELECT obj_description(oid) FROM pg_class WHERE relname = 'anon'")),
    ]
    written = [Path(name).read_text() for name in ("out.csv", "trace.jsonl")]
    assert all(outputs)
    assert not [text for text in (*outputs, *written) if CANARY in text or dsn in text]
    release = anonymize("people", SPEC, database=dsn)
    assert CANARY not in repr(release) + str(release) + repr(release.place) + json.dumps(release.manifest)


# Engines


@pytest.mark.parametrize("scheme", ["mysql", "foo", "snowflake"])
def test_an_unknown_engine_is_named(ward: Path, scheme: str) -> None:
    before = snapshot(ward)
    run = kanon("anonymize", "people", "--database", f"{scheme}://host/db", *shlex.split(QI), "--into", "anon")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(
        f"kanon: a database of {scheme}:// is neither a DuckDB file nor a PostgreSQL or Spark server; name"
    )
    assert run.err.count("\n") == 1
    assert snapshot(ward) == before


def test_a_missing_extra_names_the_command_that_installs_it(ward: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = snapshot(ward)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    run = kanon("anonymize", "people", "--database", "postgresql://me@host/db", *shlex.split(QI), "--into", "anon")
    assert (run.code, run.out) == (2, "")
    assert run.err == f"kanon: PostgreSQL needs psycopg: {install_command('postgres')}\n"
    assert snapshot(ward) == before


@pytest.mark.capability("an early error if the target is not writable")
def test_missing_permissions_are_reported_before_any_work(postgres: PostgreSQL, make_table: Any) -> None:
    people = make_table(postgres, "people", COLUMNS, PEOPLE)
    schema, reached = people.relation.parts[0], list[str]()
    role = f"reader_{schema}"
    for statement in (
        f"CREATE ROLE {role}",
        f"GRANT USAGE ON SCHEMA {schema} TO {role}",
        f"GRANT SELECT ON people TO {role}",
        f"SET ROLE {role}",
    ):
        postgres.run(statement)
    try:
        with pytest.raises(
            TargetError, match=f"^{role} may not create anon in the schema {schema}; ask its owner for GRANT"
        ):
            anonymize("people", SPEC, connection=postgres.connection, into="anon", observer=Observer(reached.append))
        assert reached == []
        assert len(anonymize("people", SPEC, connection=postgres.connection).to_df()) == len(PEOPLE)
    finally:
        postgres.run("RESET ROLE")
        postgres.run(f"DROP OWNED BY {role}")
        postgres.run(f"DROP ROLE {role}")


# Full disks and second runs


@pytest.mark.slow
def test_the_run_after_a_full_disk_finds_no_leftovers(ward: Path) -> None:
    people = "".join(f"p{i},{PEOPLE[i % 120][1]},{PEOPLE[i % 120][2]},ill{i * 7919 % 10007}\n" for i in range(10_000))
    (ward / "people.csv").write_text(f"name,age,zip,disease\n{people}")
    before = {path.name for path in ward.iterdir()}
    options = ["people.csv", *shlex.split(QI), "--keep", "disease", "--database", "hospital.duckdb", "--into", "anon"]
    on_a_full_disk("anonymize", *options, cwd=ward)
    assert ask("hospital.duckdb", "FROM anon") == [("old",)]
    done("anonymize", *options, "--overwrite")
    assert len(ask("hospital.duckdb", "FROM anon")) == 10_000
    assert {path.name for path in ward.iterdir()} == before


@pytest.mark.slow
def test_the_loser_of_two_concurrent_runs_to_one_table_reports_it(ward: Path) -> None:
    """The second one starts while the first one searches; another process finds the file locked."""
    ended: list[Any] = []

    def second(stage: str) -> None:
        if stage == "Writing the release":
            line = [sys.executable, "-m", "kanon_sql", *shlex.split(f"{TABLE} --into anon --overwrite")]
            ended.append(subprocess.run(line, capture_output=True, text=True, check=False))

    spec = {**SPEC, "database": "hospital.duckdb"}
    anonymize("people", spec, into="anon", overwrite=True, observer=Observer(second))
    (run,) = ended
    assert (run.returncode, run.stdout, run.stderr.count("\n")) == (2, "", 1)
    assert "has it open for writing; end that process" in run.stderr
    assert len(ask("hospital.duckdb", "FROM anon")) == len(PEOPLE)
    assert {path.suffix for path in ward.glob(".kanon*")} == set()


@pytest.mark.usefixtures("ward")
def test_the_loser_of_two_runs_in_one_program_reports_it() -> None:
    one, other = duckdb.connect("hospital.duckdb"), duckdb.connect("hospital.duckdb")
    refused: list[Exception] = []

    def second(stage: str) -> None:
        if stage == "Describing the release":
            try:
                anonymize("people", SPEC, connection=other, into="anon", overwrite=True)
            except TargetError as error:
                refused.append(error)

    with one, other:
        anonymize("people", SPEC, connection=one, into="anon", overwrite=True, observer=Observer(second))
        assert len(one.execute("FROM anon").fetchall()) == len(PEOPLE)
    (error,) = refused
    assert "meanwhile" in str(error)
