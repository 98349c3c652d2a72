"""Releases with a population or a source whose file or server lacks the types of another engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import SpecError
from kanon_sql.privacy import delta_presence, k_map, t_closeness


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("column_type", "values"),
    [
        ("FLOAT", ["0.1", "0.7"]),
        ("DATE", ["infinity", "9999-12-31"]),
        ("TIMESTAMP_NS", ["2020-01-01 00:00:00.123456789", "2020-01-01 00:00:00.123456788"]),
        ("HUGEINT", ["170141183460469231731687303715884105727", "1"]),
        ("TIMETZ", ["12:00:00+02", "12:00:00+03"]),
    ],
)
@pytest.mark.parametrize("beside", ["INTEGER", "UUID"])  # DuckDB streams the one to a second DuckDB, and not the other
@pytest.mark.sampled
def test_a_population_is_compared_as_the_file_has_its_values(
    tmp_path: Path, column_type: str, values: list[str], ending: str, beside: str
) -> None:
    engine = DuckDB()
    engine.run(f"CREATE TABLE voters (born {column_type}, ill INTEGER, code {beside})")
    for number, value in enumerate(values * 6):
        engine.run(f"INSERT INTO voters VALUES ('{value}', {number % 2}, NULL)")
    engine.run("CREATE TABLE sample AS SELECT * FROM voters LIMIT 8")
    attributes = {"born": {"hierarchy": "suppress"}, "code": {"hierarchy": "suppress", "max_level": 0}}
    options = {"quasi_identifiers": attributes, "sensitive": ["ill"]}
    models = [k_map(6, "voters"), delta_presence(0, 0.9, "voters")]
    where: dict[str, Any] = {"output": tmp_path / f"anon.{ending}", "connection": engine.connection}
    release = kanon_sql.anonymize("sample", options, privacy=models, **where)
    assert release.manifest["node"] == {"born": 0, "code": 0}
    assert [finding["achieved"] for finding in release.manifest["privacy"]] == [6, pytest.approx(4 / 6)]


@pytest.mark.parametrize(
    ("column_type", "values"),
    [
        ("REAL", ["0.1", "0.7"]),
        ("NUMERIC", ["1.5", "NaN"]),
        ("BYTEA", ["\\x00", "\\xaabb"]),
        ("DATE", ["infinity", "2020-01-01"]),
    ],
)
def test_a_population_is_compared_in_the_types_of_a_server(
    postgres: PostgreSQL, column_type: str, values: list[str]
) -> None:
    postgres.run(f"CREATE TABLE voters (pay {column_type}, ill INTEGER)")
    for number, value in enumerate(values * 6):
        postgres.run(f"INSERT INTO voters VALUES ('{value}', {number % 2})")
    postgres.run("CREATE TABLE sample AS SELECT * FROM voters LIMIT 8")
    options = {"quasi_identifiers": {"pay": {"hierarchy": "suppress"}}, "sensitive": ["ill"]}
    where: dict[str, Any] = {"into": "anon", "connection": postgres.connection}
    release = kanon_sql.anonymize("sample", options, privacy=[k_map(6, "voters")], **where)
    assert release.manifest["node"] == {"pay": 0}
    assert release.manifest["privacy"][0]["achieved"] == 6


@pytest.mark.parametrize("form", ["table", "view"])
@pytest.mark.parametrize("of_sample", ["1.5", "NaN"])
@pytest.mark.parametrize("of_population", ["NaN", "2.25", "12345678901234567890123456789012345678901234567890"])
def test_numbers_of_any_size_are_compared_with_those_of_the_population(
    postgres: PostgreSQL, of_sample: str, of_population: str, form: str
) -> None:
    postgres.run("CREATE TABLE voters (pay NUMERIC, born INTEGER)")
    pays = [of_sample, of_sample, "1.50", "1.5", "1.500", of_population, of_population]
    for number, pay in enumerate(pays):
        postgres.run(f"INSERT INTO voters VALUES ('{pay}', {number % 2})")
    postgres.run("CREATE TABLE sample AS SELECT * FROM voters LIMIT 4")
    attributes = {"pay": {"hierarchy": "suppress", "max_level": 0}, "born": {"hierarchy": "suppress", "min_level": 1}}
    options = {"quasi_identifiers": attributes, "target": {"table": "anon", "as": form}}
    least = min(sum(float(pay) == float(other) or pay == other for other in pays) for pay in (of_sample, "1.5"))
    where: dict[str, Any] = {"connection": postgres.connection}
    release = kanon_sql.anonymize("sample", options, privacy=[k_map(least, "voters")], **where)
    assert release.manifest["privacy"][0]["achieved"] == least


@pytest.mark.parametrize("column_type", ["FLOAT", "DATE", "TIMESTAMP_NS"])
def test_a_file_is_compared_with_the_values_of_its_source(tmp_path: Path, column_type: str) -> None:
    values = ["0.1", "0.7"] if column_type == "FLOAT" else ["infinity", "2020-01-01"]
    engine = DuckDB()
    engine.run(f"CREATE TABLE people (age INTEGER, due {column_type})")
    for number in range(8):
        engine.run(f"INSERT INTO people VALUES ({number // 4}, '{values[number % 2]}')")
    options = {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}, "sensitive": ["due"]}
    where: dict[str, Any] = {"output": tmp_path / "anon.parquet", "connection": engine.connection}
    release = kanon_sql.anonymize("people", options, privacy=[t_closeness("due", 0.1)], **where)
    assert release.manifest["privacy"][0]["achieved"] == 0


LARGE = ["170141183460469231731687303715884105727", "170141183460469231731687303715884105726", "1"]
OTHERWISE = {
    "letter case": ("csv", "VARCHAR COLLATE NOCASE", ["Ann", "ann", "bob"], "are equal in the source and differ"),
    "an accent": ("parquet", "VARCHAR COLLATE NOACCENT", ["rene", "rené", "bob"], "are equal in the source and differ"),
    "-0": ("csv", "DOUBLE", ["0", "-0", "1"], "are equal in the source and differ in a csv file"),
    "a month": ("csv", "INTERVAL", ["1 month", "30 days", "1 day"], "are equal in the source and differ"),
    "a zone": ("parquet", "TIMETZ", ["12:00:00+02", "11:00:00+01", "9:00:00+00"], "are equal in a parquet file"),
    "39 digits": ("parquet", "HUGEINT", LARGE, "differ in the source and are equal in a parquet file"),
}

VIEWS = {
    "letter case": "LOWER(ill)",
    "an accent": "STRIP_ACCENTS(ill)",
    "-0": "CAST(ROUND(ill) AS INTEGER)",
    "a month": "EXTRACT(EPOCH FROM ill)",
    "a zone": "CAST(ill AS VARCHAR)",
    "39 digits": "CAST(ill AS VARCHAR)",
}


def ill(engine: DuckDB | PostgreSQL, column_type: str, values: list[str]) -> dict[str, Any]:
    engine.run(f"CREATE TABLE people (age INTEGER, ill {column_type})")
    for number in range(12):
        engine.run(f"INSERT INTO people VALUES ({number // 6}, '{values[number % 3]}')")
    return {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}, "sensitive": ["ill"]}


@pytest.mark.parametrize("case", OTHERWISE)
def test_values_spelled_differently_in_a_file_are_refused_early(tmp_path: Path, case: str) -> None:
    ending, column_type, values, why = OTHERWISE[case]
    engine, stages = DuckDB(), list[str]()
    requested, models = ill(engine, column_type, values), [t_closeness("ill", 0.1)]
    where: dict[str, Any] = {"connection": engine.connection, "observer": kanon_sql.Observer(stage=stages.append)}
    with pytest.raises(SpecError, match=f"'ill' has values that .*{why}.*; release a table, or read a view that"):
        kanon_sql.anonymize("people", requested, output=tmp_path / f"anon.{ending}", privacy=models, **where)
    assert stages == []
    assert kanon_sql.anonymize("people", requested, into="anon", privacy=models, **where).manifest["node"] == {"age": 0}
    engine.run(f"CREATE VIEW patients AS SELECT age, {VIEWS[case]} AS ill FROM people")
    kanon_sql.anonymize("patients", requested, output=tmp_path / f"anon.{ending}", privacy=models, **where)


@pytest.mark.parametrize(
    ("ending", "column_type", "values"),
    [
        ("csv", "HUGEINT", LARGE),
        ("csv", "TIMETZ", ["12:00:00+02", "11:00:00+01", "9:00:00+00"]),
        ("parquet", "DOUBLE", ["0", "-0", "1"]),
        ("parquet", "INTERVAL", ["1 month", "30 days", "1 day"]),
        ("parquet", "VARCHAR COLLATE NOCASE", ["Ann", "Ann", "bob"]),
    ],
)
def test_values_distinguished_by_file_and_source_are_released(
    tmp_path: Path, ending: str, column_type: str, values: list[str]
) -> None:
    engine = DuckDB()
    requested = ill(engine, column_type, values)
    where: dict[str, Any] = {"connection": engine.connection, "output": tmp_path / f"anon.{ending}"}
    release = kanon_sql.anonymize("people", requested, privacy=[t_closeness("ill", 0.1)], **where)
    assert release.manifest["privacy"][0]["achieved"] == 0


def test_numbers_that_a_server_writes_in_two_ways_are_refused_before_the_work(
    postgres: PostgreSQL, tmp_path: Path
) -> None:
    requested = ill(postgres, "NUMERIC", ["1.5", "1.50", "NaN"])
    where: dict[str, Any] = {"connection": postgres.connection, "output": tmp_path / "anon.parquet"}
    with pytest.raises(SpecError, match="are equal in the source and differ in a parquet file"):
        kanon_sql.anonymize("people", requested, privacy=[t_closeness("ill", 0.1)], **where)
