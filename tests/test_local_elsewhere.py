"""A local recoding as a statement for another system: run there if possible, otherwise read by its parser."""

import random
from collections import Counter
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

import kanon_sql
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import SpecError
from kanon_sql.queries import dialects
from support.database import create_table

DRAW = random.Random(4)
TYPES = {"age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR"}
ROWS = [
    (DRAW.choice([None, *range(20, 60)]), DRAW.choice([None, "1200", "1201", "it's", "1300 "]), DRAW.choice("xyz"))
    for _ in range(100)
]
SPEC: dict[str, Any] = {
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [5, 20]}}, "zip": {"hierarchy": {"redact": "right"}}},
    "sensitive": ["ill"],
    "privacy": {"k": 4, "l_diversity": {"ill": 2}},
}


@pytest.fixture(scope="module")
def people() -> DuckDB:
    create_table(engine := DuckDB(), "people", TYPES, ROWS)
    return engine


def compiled(people: DuckDB, **how: Any) -> kanon_sql.Compiled:
    return kanon_sql.compile("people", SPEC, connection=people.connection, **{"table": "elsewhere", **how})


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["mondrian", "kaca", "refine", "prioprivacy"])
@pytest.mark.sampled
def test_another_system_returns_the_rows_of_the_release(people: DuckDB, postgres: PostgreSQL, strategy: str) -> None:
    create_table(postgres, "elsewhere", TYPES, ROWS)
    options: dict[str, Any] = {"strategy": strategy, "into": "anon", "overwrite": True}
    kanon_sql.anonymize("people", SPEC, connection=people.connection, **options)
    released = Counter(people.rows("SELECT * FROM anon"))
    *tables, query = compiled(people, strategy=strategy, dialect="postgres").sql.split(";\n\n")
    for statement in tables:
        postgres.run(statement)
    assert Counter(postgres.rows(query)) == released
    assert released.total() > 70
    postgres.run("INSERT INTO elsewhere VALUES (20, 'new', 'x'), (NULL, '1200', 'y')")  # a tuple that no class has
    shown = Counter(row[:2] for row in postgres.rows(query))
    assert released.total() <= shown.total() <= released.total() + 1
    postgres.run("DELETE FROM elsewhere WHERE ill <> 'x'")
    with pytest.raises(Exception, match=r"\d+ of \d+ rows would be left out, and the suppression limit is 0\.02"):
        postgres.connection.execute(query)  # it counts its classes where it is run


@pytest.mark.parametrize("dialect", dialects.PRINTED)
@pytest.mark.sampled
def test_it_is_printed_for_systems_without_execution_tests(people: DuckDB, dialect: str) -> None:
    statement = compiled(people, strategy="mondrian", dialect=dialect)
    assert f"printed for {dialect}" in statement.sql
    assert ("not executed by kanon" in statement.sql) == (dialect not in ("spark", "bigquery", "clickhouse"))
    parsed = [item for item in sqlglot.parse(statement.sql, dialect) if item]
    assert all(isinstance(item, (exp.Query, exp.Create, exp.Insert, exp.Drop)) for item in parsed)
    unquoted = {name.name for item in parsed for name in item.find_all(exp.Identifier) if not name.quoted}
    of_redshift = {name for name in unquoted if name.startswith("#")}
    assert unquoted - of_redshift <= {"join_use_nulls", "prefer_column_name_to_alias"}
    long = {table.name for table in statement.mappings}
    assert ("kanon_assignment" in long) == (dialect in ("redshift", "clickhouse")), "20 rows fit there, 200 elsewhere"


def test_steps_that_another_system_could_not_repeat_are_refused(people: DuckDB) -> None:
    with pytest.raises(SpecError, match="mondrian_relaxed splits equal rows by their order in duckdb"):
        compiled(people, strategy="mondrian_relaxed", dialect="snowflake")
