"""Replacing a release on a server: readers, a second run, and runs whose session dies, at any statement."""

import re
import threading
from collections import Counter
from itertools import count
from typing import Any

import psycopg
import pytest

from kanon_sql import anonymize
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import KanonError, SourceError
from kanon_sql.plan.observer import Observer
from support.database import create_table
from support.school import there

PEOPLE = [(i * 37 % 71, f"{i * 11 % 97 // 10}", "abc"[i % 3]) for i in range(150)]
SPEC: dict[str, Any] = {
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [10, 20, 40]}}, "zip": {"hierarchy": "suppress"}},
    "sensitive": ["ill"],
}
OLD, NEW = 3, 20  # two k, whose releases show no equal row


@pytest.fixture
def hospital(postgres: PostgreSQL) -> PostgreSQL:
    create_table(postgres, "people", {"age": "INTEGER", "zip": "TEXT", "ill": "TEXT"}, PEOPLE)
    return postgres


def release(dsn: str, k: int, form: str, **more: Any) -> None:
    anonymize("people", SPEC, database=dsn, k=k, into="anon", form=form, overwrite=True, **more)


def shown(engine: PostgreSQL) -> Counter[Any]:
    return Counter(engine.rows("SELECT * FROM anon"))


@pytest.mark.parametrize("form", ["table", "view", "materialized"])
@pytest.mark.sampled
def test_a_reader_sees_the_old_release_or_the_new_one(hospital: PostgreSQL, postgres_dsn: str, form: str) -> None:
    whole = []
    for k in (OLD, NEW):
        release(postgres_dsn, k, form)
        whole.append(shown(hospital))
    assert not whole[0] & whole[1]
    seen, wrong, done = [0, 0], list[Any](), threading.Event()

    def read() -> None:
        with psycopg.connect(postgres_dsn, autocommit=True) as session:
            while not done.is_set():
                try:
                    rows = Counter(session.execute("SELECT * FROM anon").fetchall())
                except psycopg.Error as error:
                    wrong.append(error)
                    continue
                if rows in whole:
                    seen[whole.index(rows)] += 1
                else:
                    wrong.append(rows)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for k in (OLD, NEW) * 3:
            release(postgres_dsn, k, form)
    finally:
        done.set()
        reader.join()
    assert wrong == []
    assert min(seen) > 0


@pytest.mark.parametrize("form", ["table", "view"])
def test_a_session_killed_at_any_statement_leaves_the_old_release(
    hospital: PostgreSQL, postgres_dsn: str, form: str, monkeypatch: pytest.MonkeyPatch, all_cases: bool
) -> None:
    release(postgres_dsn, OLD, form)
    names, rows = there(hospital), shown(hospital)
    run, doomed = PostgreSQL.run, f"{postgres_dsn}&application_name=doomed"
    left = [-1]

    def killing(engine: PostgreSQL, sql: str) -> int | None:
        if engine.connection.info.get_parameters().get("application_name") == "doomed":
            left[0] -= 1
            if left[0] == 0:
                hospital.rows(f"SELECT pg_terminate_backend({engine.connection.info.backend_pid}, 5000)")
        return run(engine, sql)

    monkeypatch.setattr(PostgreSQL, "run", killing)
    for at in count(1, 1 if all_cases else 4):
        left[0] = at
        try:
            release(doomed, NEW, form)
        except SourceError:
            assert left[0] <= 0
            assert (there(hospital), shown(hospital)) == (names, rows), f"killed at statement {at}"
        else:
            assert left[0] > 0, f"killed at statement {at}, and it did not notice"
            break
    assert at > 8
    assert there(hospital) <= names, "a column at its top needs no companion"
    assert not shown(hospital) & rows


@pytest.mark.parametrize("overwrite", [False, True])
def test_the_losing_run_of_two_reports_it(hospital: PostgreSQL, postgres_dsn: str, overwrite: bool) -> None:
    if overwrite:
        release(postgres_dsn, 5, "table")
    ready, messages = threading.Barrier(2), dict[int, str]()

    def run(k: int) -> None:
        def stage(name: str) -> None:
            if name == "Writing the release":
                ready.wait(30)

        try:
            options = {"database": postgres_dsn, "into": "anon", "overwrite": overwrite, "observer": Observer(stage)}
            anonymize("people", SPEC, k=k, **options)
            messages[k] = ""
        except KanonError as error:
            messages[k] = str(error)

    runs = [threading.Thread(target=run, args=(k,)) for k in (OLD, NEW)]
    for finished in runs:
        finished.start()
    for finished in runs:
        finished.join()
    won = [k for k, error in messages.items() if not error]
    assert won
    assert overwrite or len(won) == 1, "with `overwrite` one may replace the other's, whole"
    for lost in filter(None, messages.values()):
        assert re.search("another session (created or replaced the same table )?meanwhile|exists now; give", lost), lost
    assert there(hospital) == {"people", "anon"}
    rows, possible = shown(hospital), []
    for k in won:
        release(postgres_dsn, k, "table")
        possible.append(shown(hospital))
    assert rows in possible, "what is there is the release of a run that won"


def test_a_run_names_the_creator_of_a_table_created_meanwhile(hospital: PostgreSQL, postgres_dsn: str) -> None:
    """The other run begins and ends while this one describes what it is about to make."""
    options: dict[str, Any] = {"database": postgres_dsn, "into": "anon"}

    def stage(name: str) -> None:
        if name == "Writing the release":
            anonymize("people", SPEC, k=OLD, **options)

    with pytest.raises(SourceError, match=r"^another session created or replaced the same table meanwhile; nothing"):
        anonymize("people", SPEC, k=NEW, observer=Observer(stage), **options)
    assert there(hospital) == {"people", "anon"}
    rows = shown(hospital)
    release(postgres_dsn, OLD, "table")
    assert shown(hospital) == rows
