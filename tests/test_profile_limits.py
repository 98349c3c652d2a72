"""The profile on odd, wide and private tables: no raw value in it, nothing left behind, and an end in time."""

import json
from collections.abc import Iterator
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from kanon_sql.engine import Engine, Table
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.plan.observer import Observer
from kanon_sql.risk import sets, single_columns
from kanon_sql.verbs import profile as module
from kanon_sql.verbs.profile import profiled as profile
from support.database import MakeTable, create_table
from support.profiling import _PATIENT_ROWS, PATIENTS, patients, suggested


def tables_of(engine: Engine) -> set[str]:
    schemas = "information_schema', 'pg_catalog"
    rows = engine.rows(f"SELECT table_name FROM information_schema.tables WHERE table_schema NOT IN ('{schemas}')")
    return {name for (name,) in rows}


# What must never be in it, and what must not be left behind


def test_no_raw_value_is_in_the_profile(engine: Engine) -> None:
    types = {"name": "VARCHAR", "town": "VARCHAR", "code": "INTEGER", "cost": "DOUBLE PRECISION", "born": "DATE"}
    rows = [(f"MARKER{i}", f"MARKER{i % 2}", 987654 + i % 3, 876543.25 + i, "1812-06-24") for i in range(12)]
    profiled = profile(engine, create_table(engine, "t", types, rows))
    text = json.dumps(profiled.to_dict())
    for value in ("MARKER", "98765", "87654", "1812", "06-24"):
        assert value not in text
    assert profiled.identifiers == ("name",)


def test_the_values_of_an_enum_are_raw_values(engine: Engine) -> None:
    values = "'MARKER', 'MAR''KER', 'MARKER), (', 'x'"
    engine.run(f"CREATE TYPE mood AS ENUM ({values})")
    engine.run(f"CREATE TABLE t (feels mood, also {'point' if engine.name == 'postgresql' else 'STRUCT(a mood)'})")
    engine.run("INSERT INTO t (feels) VALUES ('x'), ('MAR''KER'), ('MAR''KER')")
    profiled = profile(engine, _found(engine, "t"))
    assert "MAR" not in json.dumps(profiled.to_dict())
    expected = ["ENUM", "STRUCT(a ENUM)"] if engine.name == "duckdb" else ["mood", "point"]
    assert [c.type.rpartition(".")[2] for c in profiled.columns] == expected, "a type of PostgreSQL has its schema"
    assert [c.distinct for c in profiled.columns] == [2, None]


def test_the_profile_is_plain_json(engine: Engine) -> None:
    profiled = patients(engine)
    plain = profiled.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["columns"][0]["name"] == "name"
    assert plain["sets"][0]["columns"] == ["birth date", "sex"]
    assert plain["together"]["unique_rows"] == 6
    assert plain["seconds"] > 0


def test_nothing_is_left_behind(engine: Engine) -> None:
    patients(engine)
    assert tables_of(engine) == {"patients"}


def test_nothing_is_left_behind_when_it_is_interrupted(engine: Engine) -> None:
    table = create_table(engine, "patients", PATIENTS, _PATIENT_ROWS)

    def interrupt(stage: str) -> None:
        if "sets" in stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        profile(engine, table, observer=Observer(interrupt))
    assert tables_of(engine) == {"patients"}
    assert profile(engine, table).complete


def test_a_table_with_an_internal_name_is_left_alone(engine: Engine) -> None:
    names = ["kanon_profile_tuples", "kanon_profile_sets_coded", "kanon_profile_copy", "kanon_profile_map_sex"]
    for name in names:
        table = create_table(engine, name, {"sex": "VARCHAR", "ward": "INTEGER"}, [("f", 1), ("m", 2)] * 3)
        assert profile(engine, table).together.small_rows == 6
    assert tables_of(engine) == set(names)
    assert all(engine.rows(f'SELECT COUNT(*) FROM "{name}"') == [(6,)] for name in names)


# Odd tables


def _found(engine: Engine, name: str) -> Table:
    table = engine.find(name)
    assert table
    return table


def test_an_ungroupable_type_is_listed_but_not_counted(engine: Engine) -> None:
    odd = "json" if engine.name == "postgresql" else "STRUCT(a INTEGER)"
    more = "point" if engine.name == "postgresql" else "INTEGER[]"
    engine.run(f"CREATE TABLE t (document {odd}, sex VARCHAR, place {more}, patient UUID)")
    engine.run("INSERT INTO t (sex, patient) VALUES ('f', '12345678-1234-1234-1234-123456789abc'), ('m', NULL)")
    profiled = profile(engine, _found(engine, "t"))
    assert [(c.kind, c.distinct, c.null_rows, c.unique_share) for c in profiled.columns if c.name != "sex"] == [
        ("other", None, None, None)
    ] * 3
    assert list(suggested(profiled).values()) == ["", "quasi-identifier", "", "identifier"]
    assert profiled.columns[0].reason == "its type cannot be grouped, so it was not counted: decide by its contents"
    assert profiled.together.columns == ("sex",)


def test_a_table_of_uncounted_columns(engine: Engine) -> None:
    engine.run(f"CREATE TABLE t (a {'json' if engine.name == 'postgresql' else 'INTEGER[]'})")
    engine.run("INSERT INTO t VALUES (NULL), (NULL)")
    profiled = profile(engine, _found(engine, "t"))
    assert (profiled.rows, profiled.sets, profiled.together.columns, profiled.together.combinations) == (2, (), (), 1)
    assert (profiled.complete, profiled.together.unique_rows, profiled.together.small_rows) == (True, 0, 2)


def test_one_row(engine: Engine) -> None:
    profiled = profile(engine, create_table(engine, "t", {"sex": "VARCHAR", "a": "INTEGER"}, [("f", None)]))
    assert [c.reason for c in profiled.columns] == ["one value in every row", "NULL in every row"]
    assert (profiled.together.unique_rows, profiled.together.unique_share) == (1, 1.0)


def test_an_empty_table_is_an_error(engine: Engine, make_table: MakeTable) -> None:
    with pytest.raises(SourceError, match="patients has no rows"):
        profile(engine, make_table(engine, "patients", PATIENTS, []))
    assert tables_of(engine) == {"patients"}


def test_sets_of_no_column_are_an_error(engine: Engine, make_table: MakeTable) -> None:
    with pytest.raises(SpecError, match="largest_set is 0"):
        profile(engine, make_table(engine, "t", {"a": "INTEGER"}, [(1,)]), 0)


def test_a_slow_view_is_read_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    table = create_table(engine, "patients", PATIENTS, _PATIENT_ROWS)
    engine.run("CREATE VIEW seen AS SELECT * FROM patients")
    view = _found(engine, "seen")
    expected = profile(engine, table)
    assert profile(engine, view).columns == expected.columns
    monkeypatch.setattr(single_columns, "_SLOW_VIEW", 0.0)
    requests: list[str] = []
    monkeypatch.setattr(engine, "rows", _noting(requests, engine.rows))
    assert profile(engine, view) == expected
    assert sum("seen" in sql for sql in requests) == 1
    assert tables_of(engine) == {"patients", "seen"}


def _noting(statements: list[str], rows: Any) -> Any:
    def noted(sql: str) -> Any:
        statements.append(sql)
        return rows(sql)

    return noted


def test_the_raw_values_stay_in_the_server(postgres: PostgreSQL, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = []
    load = DuckDB.load_batches
    monkeypatch.setattr(DuckDB, "load_batches", lambda self, *a: sent.append(a) or load(self, *a))  # type: ignore[func-returns-value]
    patients(postgres)
    ((_, types, _),) = sent
    assert types == {
        "birth_date": "INTEGER",
        "zip": "INTEGER",
        "sex": "INTEGER",
        "diagnosis": "INTEGER",
        "n": "BIGINT",
    }


def test_the_server_decides_which_values_are_equal(postgres: PostgreSQL) -> None:
    postgres.run("CREATE TABLE t (a numeric, b char(5), c integer)")
    postgres.run("INSERT INTO t SELECT 1.0, 'x', i % 4 FROM generate_series(1, 8) i")
    postgres.run("INSERT INTO t SELECT 1.00, 'x  ', i % 4 FROM generate_series(1, 8) i")
    postgres.run("INSERT INTO t VALUES (2, 'y', 7)")
    profiled = profile(postgres, _found(postgres, "t"))
    assert [c.distinct for c in profiled.columns] == [2, 2, 5]
    sets = {s.columns: (s.combinations, s.unique_rows, s.small_rows) for s in profiled.sets}
    assert sets == {("a", "b"): (2, 1, 1), ("a", "c"): (5, 1, 17), ("b", "c"): (5, 1, 17), ("a", "b", "c"): (5, 1, 17)}


# Many columns, little time


def wide(engine: Engine, columns: int) -> Table:
    """Columns of 2, 3, 4, … values, the last one a year of birth, in 60 rows."""
    types = {f"c{i}": "INTEGER" for i in range(columns - 1)} | {"birth_year": "INTEGER"}
    rows = [(*(row % (i + 2) for i in range(columns - 1)), 1970 + row % 2) for row in range(60)]
    return create_table(engine, "wide", types, rows)


def test_the_most_identifying_of_many_columns_are_combined(engine: Engine) -> None:
    profiled = profile(engine, wide(engine, 16), 2)
    assert profiled.combined == (*(f"c{i}" for i in range(4, 15)), "birth_year")
    assert (profiled.possible_sets, len(profiled.sets), profiled.complete) == (66, 66, True)
    assert profiled.notes == (
        "12 of 16 columns were combined: first those named like quasi-identifiers, then those with the most values",
    )
    assert [c.suggestion for c in profiled.columns[:4]] == [""] * 4
    assert profiled.columns[0].reason == "alone it distinguishes few rows, and 12 columns go before it in the sets"


def test_a_column_beyond_the_twelfth_can_identify_alone(engine: Engine) -> None:
    types = {f"birth_{i}" if i < 13 else "ward": "INTEGER" for i in range(14)}
    rows = [(*(row % 2 for _ in range(13)), row // 4) for row in range(60)]
    profiled = profile(engine, create_table(engine, "t", types, rows), 1)
    assert profiled.combined == tuple(types)[:12]
    assert profiled.quasi_identifiers == profiled.together.columns == tuple(types)
    assert profiled.together.combinations == 30


def test_no_time(engine: Engine) -> None:
    profiled = profile(engine, wide(engine, 6), time_limit=0)
    assert (profiled.complete, profiled.sets, profiled.possible_sets) == (False, (), 35)
    assert profiled.notes == (
        "stopped after 0 seconds: 0 of 35 sets were counted, and the suggestions are based on these sets and on the "
        "names",
    )
    assert profiled.columns == profile(engine, _found(engine, "wide"), 1, 0).columns
    assert [c.distinct for c in profiled.columns] == [2, 3, 4, 5, 6, 2]
    assert profiled.together.columns == ("birth_year",)
    assert profiled.together.combinations == 2


def test_time_that_runs_out(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = profile(engine, wide(engine, 6))
    ticks: Iterator[int] = count()
    for timed in (module, sets):
        monkeypatch.setattr(timed, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    cut = profile(engine, _found(engine, "wide"), time_limit=15)
    assert not cut.complete
    assert 3 <= len(cut.sets) < len(whole.sets) == 35
    assert set(cut.sets) <= set(whole.sets)
    assert cut.notes[0].startswith(f"stopped after 15 seconds: {len(cut.sets)} of 35 sets were counted")
    assert max(len(s.columns) for s in cut.sets) == 2
    assert sum("birth_year" in s.columns for s in cut.sets) == 5  # its pairs came first


def test_progress_is_reported(engine: Engine) -> None:
    stages: list[str] = []
    profile(engine, wide(engine, 6), observer=Observer(stages.append))
    assert stages == [*(f"Counting column {number} of 6" for number in range(1, 7)), "Counting sets of columns"]


def test_without_a_time_limit_the_profile_is_complete(engine: Engine) -> None:
    assert profile(engine, wide(engine, 6), time_limit=None).complete
