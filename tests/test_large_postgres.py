"""A large table on a server: what reads it, how its rows are joined, and how few of them are in Python at a time."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kanon_sql import anonymize
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.queries import Relation

PEOPLE = """
CREATE TABLE people AS
SELECT
  i AS id, 18 + i * 7919 % 72 AS age, lpad((i * 104729 % 397)::text, 3, '0') AS zip, i % 2 = 0 AS sex,
  DATE '2024-01-01' + i * 31 % 48 AS admitted, 'ill' || i % 7 AS ill
FROM generate_series(1, 12000) AS series (i)
"""
READS = 3  # for the distinct tuples, for who is unique by the columns released unchanged, and for the release
SPEC: dict[str, Any] = {
    "identifiers": ["id"],
    "quasi_identifiers": {
        "age": {"hierarchy": {"ranges": [5, 10, 20, 40]}},
        "zip": {"hierarchy": {"redact": "right"}},
        "sex": {"hierarchy": "suppress"},
        "admitted": {"hierarchy": {"dates": ["month"]}},
    },
    "sensitive": ["ill"],
    "privacy": {"k": 3},
    "suppression_limit": 0.3,
}
TARGETS: dict[str, dict[str, Any]] = {
    "table": {"into": "released"},
    "masked": {"into": "released", "mask": True},
    "local": {"into": "released", "strategy": "mondrian"},
    "file": {"output": "released.parquet"},
}


@pytest.fixture
def people(postgres: PostgreSQL) -> PostgreSQL:
    postgres.run(PEOPLE)
    postgres.run("ANALYZE people")
    return postgres


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.sampled
def test_three_statements_read_the_source_and_no_join_multiplies_its_rows(
    people: PostgreSQL, postgres_dsn: str, target: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    most: list[int] = []
    run, copy_out = PostgreSQL.run, PostgreSQL._copy_out

    def explained(engine: PostgreSQL, query: str) -> None:
        ((plan,),) = engine.rows(f"EXPLAIN (ANALYZE, FORMAT json) {query}")
        most.append(int(max(_rows(json.loads(plan)[0]["Plan"]))))

    def running(engine: PostgreSQL, sql: str) -> int | None:
        if sql.startswith("INSERT INTO") and "kanon_place" in sql:  # the rows of a table that exists are replaced
            explained(engine, sql.split(maxsplit=3)[3])
        return run(engine, sql)

    def copying(engine: PostgreSQL, query: str, *rest: Any) -> int:
        if "kanon_place" in query:
            explained(engine, query)
        return copy_out(engine, query, *rest)

    read = _read_so_far(people)
    anonymize("people", {**SPEC, "database": postgres_dsn}, **TARGETS[target])
    ends = time.monotonic() + 30  # a session that has been closed tells the server a moment later
    while _read_so_far(people) - read < READS * 12_000 and time.monotonic() < ends:
        time.sleep(0.1)
    assert _read_so_far(people) - read == READS * 12_000
    monkeypatch.setattr(PostgreSQL, "run", running)
    monkeypatch.setattr(PostgreSQL, "_copy_out", copying)
    anonymize("people", {**SPEC, "database": postgres_dsn}, overwrite=True, **TARGETS[target])
    assert len(most) == 1
    assert most[0] <= 12_000


def _rows(plan: dict[str, Any]) -> list[float]:
    inner = [rows for item in plan.get("Plans", []) for rows in _rows(item)]
    return [plan["Actual Rows"] * plan["Actual Loops"], *inner]


def _read_so_far(engine: PostgreSQL) -> int:
    """The rows of the source that sessions which have ended have read, as the server counts them."""
    engine.rows("SELECT pg_stat_clear_snapshot()")
    ((read,),) = engine.rows(
        "SELECT seq_tup_read FROM pg_stat_user_tables WHERE relname = 'people' AND schemaname = current_schema()"
    )
    return int(read)


def test_rows_that_move_are_few_at_a_time(
    people: PostgreSQL, postgres_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tuples of a local recoding go to the client and come back with their classes."""
    came, went = list[int](), list[int]()
    copy_out, load = PostgreSQL._copy_out, PostgreSQL.load_batches

    def copying(engine: PostgreSQL, query: str, types: Any, write: Any) -> int:
        def writing(chunk: Any) -> object:
            came.append(len(chunk))
            return write(chunk)

        return copy_out(engine, query, types, writing)

    def loading(engine: PostgreSQL, relation: Relation, types: Any, batches: Any) -> None:
        def counted() -> Iterator[Any]:
            for columns in batches:
                went.append(len(columns[0]) if columns else 0)
                yield columns

        load(engine, relation, types, counted())

    monkeypatch.setattr(PostgreSQL, "_copy_out", copying)
    monkeypatch.setattr(PostgreSQL, "load_batches", loading)
    anonymize("people", {**SPEC, "database": postgres_dsn}, into="released", strategy="mondrian")
    ((tuples,),) = people.rows("SELECT COUNT(*) FROM (SELECT DISTINCT age, zip, sex, admitted FROM people) AS t")
    assert len(came) >= tuples > 10_000
    assert max(came) < 100_000, "bytes, however many rows there are"
    assert sum(went) > tuples
    assert max(went) <= 10_000


MOVE = """
import json, pathlib, re, sys
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.queries import Relation

def peak():
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) // 1024

here, there, peaks = DuckDB(), PostgreSQL.open(sys.argv[1]), []
here.run("SET enable_progress_bar = false")
tuples = " FROM generate_series(1, {}) AS s (i)"
for rows in (1_000, 300_000):
    query = "SELECT i, i % 70 AS a, 'label ' || i AS b, i * 3 AS c" + tuples.format(rows)
    there.send(query, here, Relation("temp", "main", "came"))
    here.send("FROM temp.main.came", there, Relation("pg_temp", "went"))
    peaks.append(peak())
print(json.dumps([peaks, there.rows("SELECT COUNT(*), SUM(c) FROM pg_temp.went")]))
"""


def test_a_round_trip_of_many_tuples_takes_little_memory(postgres_dsn: str) -> None:
    """As Python's tuples they would take more than a hundred megabytes on the way back alone."""
    done = subprocess.run([sys.executable, "-c", MOVE, postgres_dsn], capture_output=True, text=True, check=True)
    (before, after), [[rows, total]] = json.loads(done.stdout)
    assert (rows, total) == (300_000, 3 * 300_000 * 300_001 // 2)
    assert after - before < 90
