"""Suggestions for a large table, whose sets of columns are counted in a sample of its rows."""

import re
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
from kanon_sql.risk import all_rows, identifiers, sets, single_columns
from kanon_sql.risk.all_rows import gains_in_all_rows
from kanon_sql.risk.sets import Sets, code
from kanon_sql.risk.single_columns import UNIQUE, Gain, array_counts, count_column
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
    monkeypatch.setattr(all_rows, "_FEW_COMBINATIONS", 100)
    monkeypatch.setattr(all_rows, "_CHOSEN_ROWS", 2_000)
    sampled = suggested()
    assert sampled == suggested()
    assert not any("sample" in note for note in whole.notes)
    assert any("in a sample of" in note and "of the 4,000 rows" in note for note in sampled.notes)
    assert "# Note: sets of columns" in sampled.text()
    for of_all, of_some in zip(whole.columns, sampled.columns, strict=True):
        assert (of_all.role, of_all.recipe, of_all.labels) == (of_some.role, of_some.recipe, of_some.labels)
        # Every value has a label.
        assert [{*level} for level in of_all.levels] == [{*level} for level in of_some.levels]
    assert any("together" in column.reason and "about" in column.reason for column in sampled.columns)
    assert not any("about" in column.reason for column in whole.columns)


@pytest.mark.usefixtures("small_samples")
def test_columns_are_kept_by_counts_of_all_rows() -> None:
    kept = suggested(keep="*", quasi_identifiers=["age"])
    assert not any("sample" in note for note in kept.notes)


@pytest.mark.usefixtures("small_samples")
def test_sets_are_compared_in_a_sample_and_single_columns_are_exact(duckdb_engine: DuckDB) -> None:
    table = duckdb_engine.find("people")
    assert table
    with Scratch(duckdb_engine, "test") as tables:
        counted = profiled_in(tables, table, is_for_spec=True)
        figures = [
            count_column(tables, column, order, table.relation, ROWS) for order, column in enumerate(table.columns)
        ]
        assert counted.sample
        names = counted.sample.columns
        rows = tables.rows("frequency_sets/tuples", columns=names, source=counted.sample.relation)
        expanded = [row for *row, n in rows for _ in range(n)]
    assert "id" not in names
    assert SAMPLED * 0.8 < len(expanded) == counted.sample.rows < SAMPLED * 1.2
    assert counted.profile.sets
    for found in counted.profile.sets:
        places = [names.index(name) for name in found.columns]
        sizes = Counter(Counter(tuple(row[place] for place in places) for row in expanded).values())
        of_size = [sizes[size] for size in range(1, 5)]
        assert (found.unique_rows, found.small_rows) == sets.estimated_at_risk(of_size, len(expanded), ROWS)
    for column, expected in zip(counted.profile.columns, figures, strict=True):
        assert (column.distinct, column.unique_rows) == (expected.counts.distinct, expected.counts.unique_rows)


@pytest.mark.parametrize("share", [1, 0.5, 0.1])
def test_rows_at_risk_are_estimated_where_classes_have_a_common_mean(share: float) -> None:
    draw = np.random.default_rng(5)
    for mean in (0.5, 3, 8):
        values = draw.integers(0, int(100_000 / mean), 100_000)
        whole = np.bincount(values)
        of_size = np.bincount(np.bincount(values[: int(100_000 * share)]), minlength=5)[1:5].tolist()
        unique, small = sets.estimated_at_risk(of_size, int(100_000 * share), 100_000)
        assert abs(unique - (whole == 1).sum()) < 4_000
        assert abs(small - whole[whole < 5].sum()) < 4_000


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize(("few", "chosen_rows"), [(100_000, ROWS), (0, ROWS), (0, ROWS // 4)])
def test_reasons_have_figures_of_all_rows(
    duckdb_engine: DuckDB, monkeypatch: pytest.MonkeyPatch, few: int, chosen_rows: int
) -> None:
    """Sets with few combinations are counted in all rows, and so are others if every combination is chosen."""
    monkeypatch.setattr(all_rows, "_FEW_COMBINATIONS", few)
    monkeypatch.setattr(all_rows, "_CHOSEN_ROWS", chosen_rows)
    table = duckdb_engine.find("people")
    assert table
    given = {
        "age": Gain(("zip",), 0, 0, estimated=True),
        "job": Gain(("age", "_row"), 0, 0, UNIQUE, estimated=True),
        "sex": Gain((), 0, 7),
    }
    with Scratch(duckdb_engine, "test") as tables:
        counted = [
            count_column(tables, column, order, table.relation, ROWS) for order, column in enumerate(table.columns)
        ]
        cells = code(tables, table.relation, counted, ROWS, tables, counted)
        in_sample = Sets(cells, counted, counted, ROWS, None, sampled=ROWS // 2)
        found = gains_in_all_rows(tables, table.relation, counted, in_sample, given)
    assert found.pop("sex") == Gain((), 0, 7)
    margin = 0 if chosen_rows == ROWS else 0.1 * ROWS
    for name, gain in found.items():
        for columns, number in ((gain.joined, gain.before), ((*gain.joined, name), gain.after)):
            classes = ", ".join(f'"{column}"' for column in columns)
            sizes = [n for (n,) in duckdb_engine.rows(f"SELECT COUNT(*) FROM people GROUP BY {classes}")]
            expected = sizes.count(1) if gain.of == UNIQUE else sum(n for n in sizes if n < 5)
            assert abs(number - expected) <= margin
        assert gain.estimated == (few == 0)


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("chosen_people", [1_000, 300], ids=["all", "some"])
def test_reasons_have_figures_of_all_people(
    duckdb_engine: DuckDB, monkeypatch: pytest.MonkeyPatch, chosen_people: int
) -> None:
    monkeypatch.setattr(all_rows, "_CHOSEN_PEOPLE", chosen_people)
    # Four rows of each of 1,000 people, one of whom is NULL.
    duckdb_engine.run("CREATE TABLE stays AS SELECT *, NULLIF(id // 4, 7) AS patient FROM people")
    table = duckdb_engine.find("stays")
    assert table
    with Scratch(duckdb_engine, "test") as tables:
        counted = profiled_in(tables, table, is_for_spec=True)
        again = profiled_in(tables, table, is_for_spec=True)
        assert counted.sample
        assert replace(again.profile, seconds=0) == replace(counted.profile, seconds=0)
        patients = [
            patient for (patient,) in tables.rows("profile/filled", column=["patient"], source=counted.sample.relation)
        ]
    assert SAMPLED * 0.8 < counted.sample.rows < SAMPLED * 1.2
    assert set(Counter(patients).values()) == {4}  # all rows of every person in it
    with_figures = [column for column in counted.profile.columns if "of the people" in column.reason]
    assert with_figures
    for column in with_figures:
        match = re.search(r"(?:together with (.*), |alone it puts )(about )?([\d.]+) % of the people", column.reason)
        assert match, column.reason
        joined = re.findall("'([^']*)'", match[1] or "")
        assert bool(match[2]) == (chosen_people < 1_000)
        names = ", ".join(f'"{name}"' for name in [*joined, column.name])
        pairs = f"SELECT DISTINCT {names}, patient FROM stays"
        sizes = f"SELECT *, COUNT(*) OVER (PARTITION BY {names}) AS n FROM ({pairs}) AS p"
        least = 1 if "are unique" in column.reason else 4
        ((at_risk,),) = duckdb_engine.rows(
            f"SELECT COUNT(DISTINCT COALESCE(patient, -1)) FROM ({sizes}) AS s WHERE n <= {least}"
        )
        margin = 0.06 if chosen_people == 1_000 else 6.0
        assert abs(float(match[3]) - at_risk / 10) <= margin


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
