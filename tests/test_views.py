"""Live views: they stay safe whatever happens to the rows below them."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import anonymize
from kanon_sql.engine import Engine
from kanon_sql.errors import SpecError
from support.database import create_table
from support.oracle import TEXTS, Problem, problems
from support.releasing import FEW, People, _quoted, node_of, table_rows, two_levels

OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["insert", "delete", "update", "null"]), st.integers(0, 99), st.integers(0, 99)),
    min_size=1,
    max_size=8,
)


@FEW
@given(problem=problems(most_columns=2, texts=TEXTS[:-1]), operations=OPERATIONS)
@pytest.mark.capability("a live view that recounts its classes")
@pytest.mark.slow
def test_a_view_stays_safe_whatever_changes_below_it(
    engine: Engine, tmp_path: Path, problem: Problem, operations: list[tuple[str, int, int]]
) -> None:
    people = People(engine, problem, tmp_path)
    release = people.release(into="view", form="view", overwrite=True)
    node = node_of(release)
    for operation in operations:
        change(people, *operation)
        rows = table_rows(engine, people.name)
        shown = table_rows(engine, "view")
        assert all(size >= problem.k for size in Counter(row[: len(node)] for row in shown).values())
        now = [row[1:-2] for row in rows]
        if all(value in c.leaves for row in now for c, value in zip(problem.columns, row, strict=True)):
            people.details = [row[-2:] for row in rows]
            people.problem = replace(problem, rows=now, _memo={})
            assert Counter(shown) == people.recoded(node)


def change(people: People, operation: str, which: int, what: int) -> None:
    """Insert, delete or update below the view; every tenth value or so is one that no hierarchy knows."""
    rows = table_rows(people.engine, people.name)
    chosen = which % len(rows) if rows else None
    values = tuple(
        [*column.leaves, "stray" if text else 99][what % (len(column.leaves) + 1)]
        for column, text in zip(people.problem.columns, people.texts, strict=True)
    )
    new = (1000 + len(rows), *values, "ill new", what)
    table, mark = _quoted(people.name), "%s" if people.engine.name == "postgresql" else "?"
    execute = people.engine.connection.execute
    if operation == "insert":
        execute(f"INSERT INTO {table} VALUES ({', '.join([mark] * len(new))})", new)
    elif chosen is not None:
        where = f"WHERE {_quoted(people.id).replace('%', '%%')} = {mark}"
        if operation == "delete":
            execute(f"DELETE FROM {table} {where}", [rows[chosen][0]])
        else:
            value = None if operation == "null" else values[0]
            execute(f"UPDATE {table} SET {_quoted(people.names[0])} = {mark} {where}", [value, rows[chosen][0]])


def test_a_view_is_empty_when_nothing_below_it_can_be_shown(engine: Engine, tmp_path: Path) -> None:
    people = People(engine, Problem([("a",)] * 3, [two_levels("a")], 3, bottom=(1,), top=(1,)), tmp_path)
    people.release(into="view", form="view")
    assert len(table_rows(engine, "view")) == 3
    change(people, "delete", 0, 0)
    assert table_rows(engine, "view") == []
    change(people, "insert", 0, 1)  # a stray
    assert len(table_rows(engine, "view")) == 3


def test_a_view_cannot_mask(engine: Engine, tmp_path: Path) -> None:
    people = People(engine, Problem([("a",)] * 3, [two_levels("a")], 3), tmp_path)
    with pytest.raises(SpecError, match="drops rows instead of masking"):
        people.release(into="view", form="view", mask=True)


def test_a_reader_of_a_view_cannot_read_its_source(postgres: Engine) -> None:
    """Without security_barrier PostgreSQL runs a reader's own function on rows of classes that are left out."""
    create_table(postgres, "people", {"zip": "VARCHAR", "ill": "VARCHAR"}, [("1", "a")] * 5 + [("2", "rare")])
    spec = {
        "quasi_identifiers": {"zip": {"hierarchy": "suppress"}},
        "keep": ["ill"],
        "suppression_limit": 0.5,
        "metric": "precision",
    }
    anonymize("people", spec, connection=postgres.connection, k=5, into="released", form="view")
    postgres.run("CREATE TABLE seen (ill text)")
    postgres.run(
        "CREATE FUNCTION spy(ill text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 "
        "AS 'BEGIN INSERT INTO seen VALUES (ill); RETURN TRUE; END'"
    )
    assert postgres.rows("SELECT COUNT(*) FROM released WHERE spy(ill)") == [(5,)]
    assert postgres.rows("SELECT DISTINCT ill FROM seen") == [("a",)]


def test_every_read_of_a_large_view_is_sorted() -> None:
    """DuckDB looks labels up after the sort, by several threads, and must keep the order."""
    connection = duckdb.connect(config={"threads": 4})
    connection.execute(
        "CREATE TABLE visits AS SELECT (hash(i) % 90)::INT AS age, if(hash(i, 1) % 9 > 0, hash(i, 1) % 2, NULL) AS sex,"
        " (hash(i, 2) % 1000)::INT AS days FROM range(130_000) AS r (i)"
    )
    ages, sexes = {"hierarchy": {"ranges": [30]}, "min_level": 1}, {"hierarchy": "suppress"}
    spec = {"quasi_identifiers": {"age": ages, "sex": sexes}, "keep": ["days"]}
    anonymize("visits", spec, connection=connection, k=50, into="view_", form="view")
    in_order = connection.execute("FROM view_ ORDER BY ALL NULLS LAST").fetchnumpy()
    for _ in range(3):
        read = connection.execute("FROM view_").fetchnumpy()
        assert all((read[name] == in_order[name]).all() for name in ("age", "sex", "days"))


def test_labels_written_under_other_codes_of_a_mapping_table_change_no_other_column() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE visits AS SELECT i % 40 AS age, i % 3 AS ward FROM range(600) AS r (i)")
    spec = {
        "quasi_identifiers": {"age": {"hierarchy": {"ranges": [10]}, "min_level": 1}, "ward": {"hierarchy": "suppress"}}
    }
    anonymize("visits", spec, connection=connection, k=5, into="view_", form="view")
    before = connection.execute("FROM view_").fetchall()
    assert len(set(before)) == 12
    connection.execute(
        "INSERT INTO view___age (value, code, label) SELECT 100 + i, 90 + i, 'A' || i FROM range(9) AS r (i)"
    )
    assert connection.execute("FROM view_").fetchall() == before


@pytest.mark.parametrize(
    ("k", "collation", "strategy", "safe_wards"),
    [(4, "", "auto", 56), (30, "", "mondrian", 52), (4, "COLLATE icu_noaccent", "auto", 52)],
)
def test_a_view_counts_people_exactly_whoever_arrives(k: int, collation: str, strategy: str, safe_wards: int) -> None:
    """DuckDB counts most people by digits of their hashes, which different people can have in common."""
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE visits (ward INT, home INT, patient TEXT {collation})")
    connection.execute(f"INSERT INTO visits SELECT i % 90, i % 90, 'P' || i FROM range({90 * k}) AS r (i)")
    spec = {"quasi_identifiers": {"ward": {"hierarchy": "suppress"}}, "keep": ["home"], "unit": "patient"}
    anonymize("visits", spec, connection=connection, k=k, strategy=strategy, into="view_", form="view")
    labels = "CREATE TABLE labels AS SELECT DISTINCT home, ward AS label FROM view_"
    assert connection.execute(labels).fetchall() == [(90,)]
    connection.execute(
        "TRUNCATE visits"
    )  # now a ward has one person too few, just enough or one more, in two rows each
    spelled = "['é', 'e', 'è', NULL, 'ê'][1 + p % 5]"
    connection.execute(
        f"INSERT INTO visits SELECT w, w, if(w < 12, {spelled}, 'Q' || w || '.' || p)"
        f" FROM range(90) AS w (w), range({k + 1}) AS p (p), range(2) WHERE p < {k} - 1 + w % 3"
    )
    people = "COUNT(DISTINCT patient) OVER (PARTITION BY label) AS people"
    counted = f"SELECT home, {people} FROM visits JOIN labels USING (home)"
    safe = connection.execute(f"SELECT home FROM ({counted}) AS c WHERE people >= {k} ORDER BY home").fetchall()
    assert connection.execute("SELECT home FROM view_ ORDER BY home").fetchall() == safe
    assert len(set(safe)) == safe_wards  # two thirds, and those whose people are spelled in four ways
