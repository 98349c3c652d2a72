"""Suggestions for a large table, whose sets of columns are counted in a sample of its rows."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engine import Column
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.risk import identifiers, sets, single_columns
from kanon_sql.risk.single_columns import array_counts, count_column
from kanon_sql.verbs.profile import profiled, profiled_in
from support.examples import examples

ROWS = 4_000
SAMPLED = 500  # at least
DUCKDB = DuckDB()
PEOPLE = """
CREATE TABLE people AS SELECT
  i AS id, 20 + HASH(i) % 60 AS age, HASH(i + 7) % 300 + 10000 AS zip, ['f', 'm'][1 + CAST(i % 2 AS INTEGER)] AS sex,
  'job ' || CAST((HASH(i + 3) % 97) * (HASH(i + 3) % 97) / 400 AS INTEGER) AS job, HASH(i + 9) % 8 AS "_row",
  DATE '2020-01-01' + CAST(HASH(i + 1) % 900 AS INTEGER) AS seen, 'D' || HASH(i + 2) % 50 AS diagnosis
FROM RANGE(4000) AS t(i)
"""


@pytest.fixture
def duckdb_engine() -> Iterator[DuckDB]:
    engine = DuckDB()
    engine.run(PEOPLE)
    yield engine
    engine.close()


@pytest.fixture
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "SAMPLED_ROWS", SAMPLED)


def suggested(**options: Any) -> kanon_sql.Suggestions:
    connection = duckdb.connect()
    connection.execute(PEOPLE)
    return kanon_sql.suggest("people", connection=connection, **options)


def test_a_sample_changes_reasons_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = suggested()
    monkeypatch.setattr(sets, "SAMPLED_ROWS", SAMPLED)
    sampled = suggested()
    assert sampled == suggested()
    assert not any("sample" in note for note in whole.notes)
    assert any("in a sample of" in note and "of the 4,000 rows" in note for note in sampled.notes)
    assert "# Note: sets of columns" in sampled.text()
    for of_all, of_some in zip(whole.columns, sampled.columns, strict=True):
        assert (of_all.role, of_all.recipe, of_all.labels) == (of_some.role, of_some.recipe, of_some.labels)
        # Every value has a label.
        assert [{*level} for level in of_all.levels] == [{*level} for level in of_some.levels]
    reasons = [column.reason for column in sampled.columns]
    assert any("of the sampled rows are" in reason for reason in reasons)
    assert not any("together" in reason and "of the rows" in reason for reason in reasons)


@pytest.mark.usefixtures("small_samples")
def test_columns_are_kept_by_counts_of_all_rows() -> None:
    kept = suggested(keep="*", quasi_identifiers=["age"])
    assert not any("sample" in note for note in kept.notes)


@pytest.mark.usefixtures("small_samples")
def test_sets_are_counted_in_the_sample_and_extrapolated(duckdb_engine: DuckDB) -> None:
    table = duckdb_engine.find("people")
    assert table
    with Scratch(duckdb_engine, "test") as tables:
        counted = profiled_in(tables, table, is_for_spec=True)
        assert counted.sample
        assert "id" not in counted.sample.columns
        names = counted.sample.columns
        rows = tables.rows("frequency_sets/tuples", columns=names, source=counted.sample.relation)
        expanded = [row for *row, n in rows for _ in range(n)]
    assert SAMPLED * 0.8 < len(expanded) == counted.sample.rows < SAMPLED * 1.2
    assert counted.profile.sets
    for found in counted.profile.sets:
        places = [names.index(name) for name in found.columns]
        classes = Counter(tuple(row[place] for place in places) for row in expanded).values()
        per_row = ROWS / len(expanded)
        assert found.unique_rows == round(per_row * sum(n == 1 for n in classes))
        assert found.small_rows == round(per_row * sum(n for n in classes if n < 5))


@pytest.mark.usefixtures("small_samples")
def test_a_sample_overestimates_risks_and_single_columns_are_exact(duckdb_engine: DuckDB) -> None:
    table = duckdb_engine.find("people")
    assert table
    whole = {found.columns: found for found in profiled(duckdb_engine, table).sets}
    with Scratch(duckdb_engine, "test") as tables:
        counted = profiled_in(tables, table, is_for_spec=True)
        figures = [
            count_column(tables, column, order, table.relation, ROWS) for order, column in enumerate(table.columns)
        ]
    assert {found.columns for found in counted.profile.sets} == {*whole}
    for found in counted.profile.sets:
        assert found.small_share >= whole[found.columns].small_share - 0.05  # by chance
    for column, expected in zip(counted.profile.columns, figures, strict=True):
        assert (column.distinct, column.unique_rows) == (expected.counts.distinct, expected.counts.unique_rows)


@given(st.lists(st.integers(-3, 3), max_size=12), st.integers(0, 6), st.booleans())
@examples(40)
def test_arrays_count_a_column_like_the_database(values: list[int], nulls: int, is_long: bool) -> None:
    numbers = [value + 2**62 for value in values] if is_long else values
    assume(numbers or nulls)
    with Scratch(DUCKDB, "test") as tables:
        relation = tables.load("numbers", {"n": "BIGINT"}, [[*numbers, *[None] * nulls]])
        counted = count_column(tables, Column("n", "BIGINT", "integer"), 0, relation, len(numbers) + nulls)
    assert array_counts(np.array(numbers, np.int64), nulls) == counted.counts


def test_a_large_key_is_counted_in_arrays(duckdb_engine: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
    table = duckdb_engine.find("people")
    assert table
    by_database = profiled(duckdb_engine, table)
    monkeypatch.setattr(single_columns, "MANY_ROWS", ROWS)
    monkeypatch.setattr(single_columns, "_FIRST_ROWS", 100)
    monkeypatch.setattr(identifiers, "MANY_ROWS", ROWS)
    monkeypatch.setattr(identifiers, "_READ_ROWS", 200)
    with Scratch(duckdb_engine, "test") as tables:
        in_arrays = profiled_in(tables, table).profile
        queries_run = {statement.name: statement for statement in tables.log}
    assert replace(in_arrays, seconds=by_database.seconds) == by_database
    assert "profile/first_values" in queries_run
    assert "profile/sample" in queries_run


def test_a_large_column_that_only_begins_with_different_values_is_counted_exactly(
    duckdb_engine: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    duckdb_engine.run("CREATE TABLE repeated AS SELECT IF(i < 200, i, 7) AS n FROM RANGE(1000) AS r(i)")
    monkeypatch.setattr(single_columns, "MANY_ROWS", 1000)
    monkeypatch.setattr(single_columns, "_FIRST_ROWS", 100)
    table = duckdb_engine.find("repeated")
    assert table
    (column,) = profiled(duckdb_engine, table).columns
    assert (column.distinct, column.unique_rows, column.largest_class) == (200, 199, 801)
