"""From PostgreSQL to an embedded DuckDB: every row, and the type of every column."""

import math
import tempfile
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import SourceError
from kanon_sql.queries import Relation
from support.engines import NASTY, TABLE, read
from support.examples import examples

FETCHED = Relation("fetched")
TEXTS = st.text(
    st.sampled_from("ab\"'\\,;\n\r\t N.| {}é東🏥\ufeff\x01\x7f\u2028")
    | st.characters(exclude_characters="\0", codec="utf-8")
)
ROWS = st.tuples(st.none() | TEXTS | st.sampled_from(NASTY), st.none() | TEXTS | st.sampled_from(NASTY))


def fetch(postgres: PostgreSQL, embedded: DuckDB, query: str) -> list[tuple[Any, ...]]:
    postgres.fetch_into(query, embedded, FETCHED)
    return read(embedded, FETCHED)


def fetched_types(embedded: DuckDB) -> list[str]:
    return [column.type for column in embedded.table(FETCHED).columns]


@examples(200)
@given(rows=st.lists(ROWS, max_size=20), width=st.sampled_from([1, 2]))
def test_any_texts_are_fetched_unchanged(
    postgres: PostgreSQL, embedded: DuckDB, rows: list[tuple[str | None, ...]], width: int
) -> None:
    rows = [row[:width] for row in rows]
    names = ["a", 'b;"{} %s'][:width]
    postgres.load_batches(TABLE, dict.fromkeys(names, "TEXT"), [[[row[i] for row in rows] for i in range(width)]])
    assert fetch(postgres, embedded, queries.select_all(TABLE, "postgres")) == rows
    assert [column.name for column in embedded.table(FETCHED).columns] == names


@pytest.mark.parametrize(
    ("type_name", "literals", "expected", "values"),
    [
        ("SMALLINT", ["32767", None], "SMALLINT", [32767, None]),
        ("INTEGER", ["-5"], "INTEGER", [-5]),
        ("BIGINT", [str(2**63 - 1)], "BIGINT", [2**63 - 1]),
        ("NUMERIC(10,2)", ["1.5", None], "DECIMAL(10,2)", [Decimal("1.50"), None]),
        ("NUMERIC(10,2)", [], "DECIMAL(10,2)", []),
        ("NUMERIC(10,2)", ["NaN", "1"], "VARCHAR", ["NaN", "1.00"]),
        ("NUMERIC(38,10)", ["0.1"], "DECIMAL(38,10)", [Decimal("0.1")]),
        ("NUMERIC(12)", ["7"], "BIGINT", [7]),
        ("NUMERIC(30,0)", [str(10**29)], "HUGEINT", [10**29]),
        ("NUMERIC(3,-2)", ["12345"], "BIGINT", [12300]),
        ("NUMERIC(2,5)", ["0.00012"], "DECIMAL(6,5)", [Decimal("0.00012")]),
        ("NUMERIC", [None, None], "BIGINT", [None, None]),
        ("NUMERIC", ["-12", None], "BIGINT", [-12, None]),
        ("NUMERIC", [str(10**30)], "HUGEINT", [10**30]),
        ("NUMERIC", ["-1.5", "10.25"], "DECIMAL(4,2)", [Decimal("-1.50"), Decimal("10.25")]),
        ("NUMERIC", ["Infinity", "1"], "VARCHAR", ["Infinity", "1"]),
        ("NUMERIC", [str(10**40)], "VARCHAR", [str(10**40)]),
        ("REAL", ["0.1", "-Infinity"], "FLOAT", [pytest.approx(0.1, rel=1e-7), -math.inf]),
        ("FLOAT8", ["0.1", "1e-300", "Infinity"], "DOUBLE", [0.1, 1e-300, math.inf]),
        ("BOOLEAN", ["t", "f", None], "BOOLEAN", [True, False, None]),
        ("DATE", ["2024-02-29", "0001-01-01", None], "DATE", [date(2024, 2, 29), date(1, 1, 1), None]),
        ("TIMESTAMP(3)", ["2024-02-29 01:02:03.456"], "TIMESTAMP", [datetime(2024, 2, 29, 1, 2, 3, 456000)]),
        ("TIME", ["23:59:59.000001"], "TIME", [time(23, 59, 59, 1)]),
        ("UUID", ["0" * 31 + "1"], "UUID", [UUID(int=1)]),
        ("TEXT", ["", None, "\\N", "NULL"], "VARCHAR", ["", None, "\\N", "NULL"]),
        ("VARCHAR(5)", ["a "], "VARCHAR", ["a "]),
        ("JSON", ['{"a": 1}'], "VARCHAR", ['{"a": 1}']),
        ("INTEGER[]", ["{1,2}"], "VARCHAR", ["{1,2}"]),
        ("TIMESTAMP(3)[]", ["{2024-01-01}"], "VARCHAR", ['{"2024-01-01 00:00:00"}']),
        ("NUMERIC(4,1)[]", ["{1,2}"], "VARCHAR", ["{1.0,2.0}"]),
        ("BYTEA", ["\\x00ff"], "VARCHAR", ["\\x00ff"]),
        ("INTERVAL", ["1 day"], "VARCHAR", ["1 day"]),
        ("INET", ["10.0.0.1"], "VARCHAR", ["10.0.0.1"]),
    ],
)
def test_types_follow_into_duckdb(
    postgres: PostgreSQL,
    embedded: DuckDB,
    type_name: str,
    literals: list[str | None],
    expected: str,
    values: list[Any],
) -> None:
    postgres.load_batches(TABLE, {"a": type_name}, [[literals]])
    assert fetch(postgres, embedded, "SELECT a FROM kanon_loaded") == [(value,) for value in values]
    assert fetched_types(embedded) == [expected]


def test_infinite_dates_stay_infinite(postgres: PostgreSQL, embedded: DuckDB) -> None:
    query = "SELECT DATE 'infinity' AS d, TIMESTAMP '-infinity' AS t, TIMESTAMPTZ 'infinity' AS z"
    postgres.fetch_into(query, embedded, FETCHED)
    assert fetched_types(embedded) == ["DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"]
    assert embedded.rows("SELECT isinf(d), isinf(t), isinf(z), t < d FROM fetched") == [(True,) * 4]
    with pytest.raises(SourceError, match="cannot read"):
        postgres.rows("SELECT DATE 'infinity'")


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kolkata", "America/New_York"])
def test_moments_stay_the_same_in_any_time_zone(postgres: PostgreSQL, embedded: DuckDB, zone: str) -> None:
    postgres.run(f"SET TimeZone TO '{zone}'")
    moments = [
        datetime(2024, 7, 1, 12, 30, 0, 5, UTC),
        datetime(1850, 1, 1, tzinfo=UTC),  # New York was 4:56:02 behind
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    ]
    postgres.load_batches(TABLE, {"a": "TIMESTAMPTZ"}, [[moments]])
    postgres.fetch_into("SELECT a FROM kanon_loaded", embedded, FETCHED)
    assert fetched_types(embedded) == ["TIMESTAMP WITH TIME ZONE"]
    since = [((m - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1),) for m in moments]
    assert embedded.rows("SELECT epoch_us(a) FROM fetched") == since


def test_enums_and_domains_are_fetched_with_their_types(postgres: PostgreSQL, embedded: DuckDB) -> None:
    postgres.run("CREATE TYPE blood AS ENUM ('A', 'B')")
    postgres.run("CREATE DOMAIN price AS NUMERIC(6,2)")
    schema = postgres.rows("SELECT current_schema()")[0][0]
    query = f"SELECT CAST('A' AS {schema}.blood) AS blood, CAST(1 AS {schema}.price) AS price"
    assert fetch(postgres, embedded, query) == [("A", Decimal("1.00"))]
    assert fetched_types(embedded) == ["VARCHAR", "DECIMAL(6,2)"]


def test_counts_are_fetched_as_numbers(postgres: PostgreSQL, embedded: DuckDB) -> None:
    postgres.load_batches(TABLE, {"n": "BIGINT"}, [[[1, 2]]])
    assert fetch(postgres, embedded, "SELECT SUM(n) AS n, COUNT(*) AS rows FROM kanon_loaded") == [(3, 2)]
    assert fetched_types(embedded) == ["BIGINT", "BIGINT"]


def test_fetching_twice_replaces_and_leaves_permanent_tables(postgres: PostgreSQL, embedded: DuckDB) -> None:
    embedded.run("CREATE TABLE fetched (precious INTEGER)")
    fetch(postgres, embedded, "SELECT 1 AS a")
    assert fetch(postgres, embedded, "SELECT 'x' AS b") == [("x",)]
    assert embedded.rows("SELECT * FROM memory.main.fetched") == []


def test_fetching_needs_distinct_names(postgres: PostgreSQL, embedded: DuckDB) -> None:
    for query in ('SELECT 1 AS "Age", 2 AS age', "SELECT 1 AS a, 2 AS a"):
        with pytest.raises(SourceError, match="the same but for case"):
            postgres.fetch_into(query, embedded, FETCHED)


def test_the_temporary_file_is_private_and_removed(
    postgres: PostgreSQL, embedded: DuckDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "it's a folder"
    odd.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(odd))
    seen: list[int] = []
    fetch_rows = embedded.rows

    def look(sql: str) -> list[tuple[Any, ...]]:
        seen.extend(path.stat().st_mode & 0o777 for path in odd.rglob("*"))
        return fetch_rows(sql)

    monkeypatch.setattr(embedded, "rows", look)
    assert fetch(postgres, embedded, "SELECT 1 AS a") == [(1,)]
    assert sorted(seen) == [0o600, 0o700]
    with pytest.raises(SourceError, match="DivisionByZero"):
        postgres.fetch_into("SELECT 1 / (2 - s) AS a FROM generate_series(1, 3) AS s", embedded, FETCHED)
    assert list(odd.iterdir()) == []
    assert postgres.rows("SELECT 1") == [(1,)]


def test_a_full_disk_is_reported(postgres: PostgreSQL, embedded: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(postgres, "_copy_out", full)
    with pytest.raises(SourceError, match="No space left on device; set TMPDIR"):
        postgres.fetch_into("SELECT 1 AS a", embedded, FETCHED)


def test_a_row_lost_on_the_way_is_noticed(
    postgres: PostgreSQL, embedded: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy_out = postgres._copy_out
    monkeypatch.setattr(postgres, "_copy_out", lambda *given: copy_out(*given) + 1)
    with pytest.raises(SourceError, match="PostgreSQL sent 2 rows, but DuckDB read 1"):
        postgres.fetch_into("SELECT 1 AS a", embedded, FETCHED)


def test_fetching_inside_a_transaction(postgres: PostgreSQL, embedded: DuckDB) -> None:
    with postgres.transaction():
        postgres.run("CREATE TABLE made (a INTEGER)")
        postgres.run("INSERT INTO made VALUES (1)")
        assert fetch(postgres, embedded, "SELECT a FROM made") == [(1,)]


def test_postgres_sends_to_duckdb_only(postgres: PostgreSQL, postgres_dsn: str) -> None:
    with pytest.raises(SourceError, match="not to postgresql"):
        postgres.send("SELECT 1 AS a", PostgreSQL.open(postgres_dsn), FETCHED)


def test_a_statement_reports_how_many_rows_it_wrote(engine: Engine) -> None:
    target = Relation("made")
    assert engine.run(queries.create_as(target, "SELECT 1 AS a UNION ALL SELECT 2", engine.dialect)) == 2
    assert engine.run(queries.insert(target, "SELECT 3", engine.dialect)) == 1
    assert engine.run(queries.drop(target, engine.dialect)) is None
