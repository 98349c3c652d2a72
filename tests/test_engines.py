"""The contract of every engine, in one body of tests: loading, finding tables, transactions and names."""

import math
from contextlib import closing, nullcontext
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import queries
from kanon_sql.engine import Engine, name_readings, refuse_equal_names
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.opening import open_engine
from kanon_sql.errors import KanonError, SourceError, TargetError
from kanon_sql.queries import Relation
from kanon_sql.spec import Session
from support.engines import NASTY, TABLE, read
from support.examples import examples
from support.fuzz_cases import POOLS

ODD_NAMES = [
    "order",
    'a;b "c"',
    "Straße 東京",
    "UPPER",
    "Mixed Case",
    "a.b",
    "a%sb",
    "it's",
    "{}",
    "back\\slash",
]
TEMPORARY = {"duckdb": "temp", "postgres": "pg_temp"}


# Every engine: loaded rows are returned unchanged


@pytest.mark.parametrize(
    ("type_name", "values"),
    [
        ("VARCHAR", NASTY),
        ("INTEGER", [0, -1, 2**31 - 1, -(2**31)]),
        ("BIGINT", [2**63 - 1, -(2**63)]),
        ("DECIMAL(10,2)", [Decimal("0.10"), Decimal("-99999999.99"), Decimal(7)]),
        ("DECIMAL(38,0)", [10**37, -(10**37)]),
        ("DOUBLE PRECISION", [0.1, -1e300, math.inf, 5e-324]),
        ("DATE", [date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31)]),
        ("TIMESTAMP", [datetime(2024, 2, 29, 23, 59, 59, 999999)]),
        ("TIME", [time(0, 0), time(23, 59, 59, 1)]),
        ("BOOLEAN", [True, False]),
    ],
)
def test_loaded_rows_come_back(engine: Engine, type_name: str, values: list[Any]) -> None:
    values = [*values, None]
    engine.load_batches(TABLE, {"position": "INTEGER", 'Odd; "name"': type_name}, [[list(range(len(values))), values]])
    assert sorted(read(engine)) == list(enumerate(values))


@examples(50)
@given(texts=st.lists(st.none() | st.text(st.characters(exclude_characters="\0", codec="utf-8"))))
def test_any_texts_come_back(engine: Engine, texts: list[str | None]) -> None:
    engine.load_batches(TABLE, {"position": "INTEGER", "value": "VARCHAR"}, [[list(range(len(texts))), texts]])
    assert sorted(read(engine)) == list(enumerate(texts))


def test_load_replaces_an_earlier_load(engine: Engine) -> None:
    engine.load_batches(TABLE, {"a": "INTEGER"}, [[[1, 2]]])
    engine.load_batches(TABLE, {"b": "VARCHAR"}, [[["x"]]])
    assert read(engine) == [("x",)]


def test_load_without_rows_makes_an_empty_table(engine: Engine) -> None:
    engine.load_batches(TABLE, {"a": "INTEGER", "b": "VARCHAR"}, [[[], []]])
    assert read(engine) == []


def test_load_never_drops_a_permanent_table(engine: Engine, make_table: Any) -> None:
    permanent = make_table(engine, TABLE.name, {"precious": "INTEGER"}, [(1,)])
    engine.load_batches(TABLE, {"a": "INTEGER"}, [[[2]]])
    assert read(engine) == [(2,)]
    engine.load_batches(TABLE, {"a": "INTEGER"}, [[[3]]])
    assert read(engine) == [(3,)]
    engine.run(queries.drop(Relation(TEMPORARY[engine.dialect], TABLE.name), engine.dialect))
    assert read(engine, permanent.relation) == [(1,)]


def test_load_reports_errors_in_one_line(engine: Engine) -> None:
    with pytest.raises(SourceError) as raised:
        engine.load_batches(TABLE, {"a": "INTEGER"}, [[["not a number"]]])
    assert "\n" not in str(raised.value)
    assert engine.rows("SELECT 1") == [(1,)]


def test_sums_and_counts_are_integers(engine: Engine) -> None:
    engine.load_batches(TABLE, {"a": "BIGINT", "b": "SMALLINT"}, [[[2**62, 2**62], [1, 2]]])
    ((big, small, count, nothing),) = engine.rows(
        "SELECT SUM(a), SUM(b), COUNT(*), SUM(a) FILTER (WHERE b > 2) FROM kanon_loaded"
    )
    assert (big, small, count, nothing) == (2**63, 3, 2, None)
    assert {type(big), type(small), type(count)} == {int}


def test_a_percent_sign_is_only_itself(engine: Engine) -> None:
    assert engine.rows("SELECT '100%', '%s', 7 % 4, 'a%(b)s'") == [("100%", "%s", 3, "a%(b)s")]


def test_a_backslash_is_only_itself(engine: Engine) -> None:
    assert engine.rows(r"SELECT '\', 'a\'") == [("\\", "a\\")]


@pytest.mark.parametrize(
    ("largest", "stored"),
    [
        (0, "small"),
        (127, "small"),
        (128, ""),
        (2**15 - 1, ""),
        (2**15, ""),
        (2**31 - 1, ""),
        (2**31, ""),
        (2**63 - 1, ""),
    ],
)
def test_the_integer_type_fits_the_largest_value(engine: Engine, largest: int, stored: str) -> None:
    engine.load_batches(TABLE, {"a": engine.integer_type(largest)}, [[[largest, 0]]])
    assert sorted(read(engine)) == [(0,), (largest,)]
    assert not stored or engine.integer_type(largest).lower() in ("tinyint", "smallint")


def test_send_keeps_the_rows_here(engine: Engine, make_table: Any) -> None:
    source = make_table(engine, "source", {"a": "INTEGER", "b": "VARCHAR"}, [(1, ""), (2, None)])
    engine.send(queries.select_all(source.relation, engine.dialect), engine, Relation("sent"))
    assert sorted(read(engine, Relation("sent"))) == [(1, ""), (2, None)]


def test_send_to_an_embedded_duckdb(engine: Engine, make_table: Any) -> None:
    rows = [(1, "", Decimal("1.50")), (2, None, None), (3, 'a "b"', Decimal("-2.25"))]
    source = make_table(engine, "source", {"a": "INTEGER", "b": "VARCHAR", "c": "DECIMAL(10,2)"}, rows)
    other = DuckDB()
    engine.send(queries.select_all(source.relation, engine.dialect), other, Relation("sent"))
    assert sorted(read(other, Relation("sent"))) == rows


@pytest.mark.parametrize("beside", ["INTEGER", "UUID"])  # DuckDB streams the one to another, and not the other
def test_any_value_is_sent_to_another_duckdb(beside: str) -> None:
    here, there, sent = DuckDB(), DuckDB(), Relation("temp", "main", "sent")
    for type_name, texts in POOLS.items():
        if "COLLATE" not in type_name:
            held = f"TRY_CAST(UNNEST({texts}) AS {type_name})"
            here.run(f"CREATE OR REPLACE TABLE source AS SELECT {held} AS value, CAST(NULL AS {beside}) AS code")
            here.send("FROM source", there, sent)
            counted = "SELECT TYPEOF(value), value::TEXT, COUNT(*) FROM {} GROUP BY value ORDER BY value"
            assert there.rows(counted.format("sent")) == here.rows(counted.format("source"))


def test_frame_returns_rows_and_types(engine: Engine, make_table: Any) -> None:
    rows = [(1, "", 0.5, date(2024, 2, 29)), (2, None, 1.5, date(9999, 12, 31))]
    types = {"a": "INTEGER", "Odd name": "VARCHAR", "c": "DOUBLE PRECISION", "d": "DATE"}
    frame = engine.frame(make_table(engine, "source", types, rows).relation)
    assert list(frame.columns) == list(types)
    assert frame["Odd name"].isna().tolist() == [False, True]
    assert frame.dtypes.map(lambda dtype: dtype.kind).tolist() == ["i", "O", "f", "M"]
    assert frame.drop(columns="Odd name").values.tolist() == [[a, c, pandas.Timestamp(d)] for a, _, c, d in rows]


def test_a_closed_engine_refuses_queries(engine: Engine) -> None:
    engine.close()
    with pytest.raises(SourceError):
        engine.rows("SELECT 1")


def test_explain_returns_a_plan(engine: Engine, make_table: Any) -> None:
    source = make_table(engine, "source", {"a": "INTEGER"}, [(1,)])
    assert "source" in engine.explain(queries.select_all(source.relation, engine.dialect))


@pytest.mark.parametrize("method", ["rows", "run"])
def test_errors_are_one_line(engine: Engine, method: str) -> None:
    with pytest.raises(KanonError) as raised:
        getattr(engine, method)("SELECT nothing_like_this\nFROM nowhere_at_all")
    assert "nowhere_at_all" in str(raised.value)
    assert "\n" not in str(raised.value)


# Every engine: tables are found by the names people give


def test_what_duckdb_cannot_read_is_an_error_of_ours(embedded: DuckDB) -> None:
    """Such as an interrupted statement, which ends a step of a recoding."""
    with pytest.raises(SourceError, match="missing"):
        embedded.rows("SELECT * FROM missing")
    with pytest.raises(SourceError, match="missing"):
        embedded.arrays(Relation("missing"))
    with pytest.raises(SourceError, match="missing"):
        embedded.frame(Relation("missing"))


@pytest.mark.parametrize("name", ODD_NAMES)
def test_find_by_the_exact_name(engine: Engine, make_table: Any, name: str) -> None:
    relation = make_table(engine, name, {name: "INTEGER"}, [(1,)])
    for spelled in (name, '"' + name.replace('"', '""') + '"'):
        table = engine.find(spelled)
        assert table == relation
    assert relation.relation.name == name
    assert [column.name for column in relation.columns] == [name]
    assert read(engine, relation.relation) == [(1,)]


@pytest.mark.capability("tables in schemas")
def test_find_by_schema_and_name(engine: Engine, make_table: Any) -> None:
    make_table(engine, "first", {"a": "INTEGER"}, [])
    engine.run('CREATE SCHEMA "odd schema"')
    try:
        engine.run('CREATE TABLE "odd schema"."a.b" (x INTEGER)')
        table = engine.find('odd schema."a.b"')
        assert table is not None
        assert table.relation.parts[-2:] == ("odd schema", "a.b")
        assert engine.find("a.b") is None
        assert engine.find("odd schema.first") is None
    finally:
        engine.run('DROP SCHEMA "odd schema" CASCADE')


def test_find_ignores_case_where_no_exact_name_exists(engine: Engine, make_table: Any) -> None:
    table = make_table(engine, "Patients", {"a": "INTEGER"}, [])
    assert engine.find("patients") == engine.find("PATIENTS") == table


def test_find_returns_none_for_a_missing_table(engine: Engine) -> None:
    for name in ("patients", "hr.patients", '"x"', "", ".", 'a"', "no'such", "a.b.c.d"):
        assert engine.find(name) is None


def test_find_reads_no_part_of_a_broken_name(engine: Engine, make_table: Any) -> None:
    make_table(engine, "c", {"a": "INTEGER"}, [])
    assert engine.find('a;b "c"') is None


def test_find_distinguishes_views_from_tables(engine: Engine, make_table: Any) -> None:
    table = make_table(engine, "base", {"a": "INTEGER"}, [(1,)])
    engine.run("CREATE VIEW shown AS SELECT a FROM base")
    view = engine.find("shown")
    assert table.form == "table"
    assert view is not None
    assert view.form == "view"
    assert view.columns == table.columns


def test_find_sees_temporary_tables_first(engine: Engine, make_table: Any) -> None:
    make_table(engine, TABLE.name, {"permanent": "INTEGER"}, [])
    engine.load_batches(TABLE, {"temporary": "INTEGER"}, [[[1]]])
    table = engine.find(TABLE.name)
    assert table is not None
    assert [column.name for column in table.columns] == ["temporary"]
    assert read(engine, table.relation) == [(1,)]


def test_kinds_of_columns(engine: Engine, make_table: Any) -> None:
    kinds = {
        "SMALLINT": "integer",
        "INTEGER": "integer",
        "BIGINT": "integer",
        "DECIMAL(10,2)": "decimal",
        "REAL": "float",
        "DOUBLE PRECISION": "float",
        "VARCHAR": "text",
        "VARCHAR(10)": "text",
        "TEXT": "text",
        "DATE": "date",
        "TIMESTAMP": "timestamp",
        "TIMESTAMP WITH TIME ZONE": "timestamp",
        "TIME": "time",
        "BOOLEAN": "boolean",
        "UUID": "other",
        "INTEGER[]": "other",
    }
    table = make_table(engine, "kinds", {type_name: type_name for type_name in kinds}, [])
    assert {column.name: column.kind for column in table.columns} == kinds
    copied = {column.name: column.type for column in table.columns}
    engine.load_batches(TABLE, copied, [[[] for _ in copied]])
    loaded = engine.find(TABLE.name)
    assert loaded is not None
    assert loaded.columns == table.columns


def test_place_is_where_a_new_table_goes(engine: Engine) -> None:
    for name in ODD_NAMES:
        place = engine.place('"' + name.replace('"', '""') + '"')
        assert place.name == name
        engine.run(queries.create_as(place, "SELECT 1 AS a", engine.dialect))
        table = engine.find(name)
        assert table is not None
        assert table.relation == place


def test_place_in_a_schema(engine: Engine) -> None:
    engine.run('CREATE SCHEMA "odd schema"')
    try:
        assert engine.place('odd schema."odd.name"').parts[-2:] == ("odd schema", "odd.name")
    finally:
        engine.run('DROP SCHEMA "odd schema"')
    with pytest.raises(TargetError, match="there is no schema odd schema for x; create it first"):
        engine.place("odd schema.x")


# Every engine: all or nothing


class Interrupted(BaseException):
    pass


@pytest.mark.parametrize("error", [ValueError, Interrupted])
@pytest.mark.capability("a run as one transaction")
def test_a_transaction_rolls_back_everything(engine: Engine, make_table: Any, error: type[BaseException]) -> None:
    table = make_table(engine, "kept", {"a": "INTEGER"}, [(1,)])

    def fail() -> None:
        with engine.transaction():
            engine.run("CREATE TABLE made (a INTEGER)")
            engine.run("INSERT INTO kept VALUES (2)")
            engine.run("ALTER TABLE kept RENAME TO renamed")
            raise error

    with pytest.raises(error):
        fail()
    assert engine.find("made") is None
    assert engine.find("renamed") is None
    assert read(engine, table.relation) == [(1,)]


def test_a_transaction_commits(engine: Engine) -> None:
    with engine.transaction():
        engine.run("CREATE TABLE made (a INTEGER)")
    assert engine.find("made") is not None


def test_a_transaction_rolls_back_after_an_error_of_the_database(engine: Engine) -> None:
    def fail() -> None:
        with engine.transaction():
            engine.run("CREATE TABLE made (a INTEGER)")
            engine.run("SELECT * FROM nowhere")

    with pytest.raises(SourceError, match="nowhere"):
        fail()
    assert engine.find("made") is None


def test_a_transaction_inside_another_is_refused(engine: Engine) -> None:
    with pytest.raises(SourceError, match="inside a transaction"), engine.transaction(), engine.transaction():
        pass
    engine.run("BEGIN")
    with pytest.raises(SourceError, match="inside a transaction"), engine.transaction():
        pass
    engine.run("ROLLBACK")
    with engine.transaction():
        pass


@pytest.mark.parametrize("others_write", [False, True])
def test_duckdb_needs_a_transaction_to_read_where_others_can_write(others_write: bool) -> None:
    with closing(DuckDB(alone=not others_write)) as engine:
        engine.run("CREATE TABLE kept AS SELECT 1 AS a")
        with engine.snapshot():
            before = read(engine, Relation("kept"))
            engine.connection.cursor().execute("INSERT INTO kept VALUES (2)")
            assert (read(engine, Relation("kept")) == before) is others_write
            used = []
            for _ in range(4):
                engine.run(
                    "CREATE OR REPLACE TEMPORARY TABLE copy AS SELECT i, hash(i) AS h FROM RANGE(300_000) AS r(i)"
                )
                ((megabytes,),) = engine.rows("SELECT SUM(memory_usage_bytes) / 1e6 FROM duckdb_memory()")
                used.append(megabytes)
            assert (used[-1] < 2 * used[0]) is not others_write  # the dropped tables are freed, or kept until the end


@pytest.mark.parametrize(
    ("session", "alone"),
    [
        (Session(), True),
        (Session(database="{file}"), True),
        (Session(database="{file}", writes=("released",)), False),
        (Session(attach={"other": "{file}"}), False),
    ],
)
def test_only_a_database_that_is_opened_to_read_is_read_alone(session: Session, alone: bool, tmp_path: Path) -> None:
    file = str(tmp_path / "some.duckdb")
    duckdb.connect(file).close()
    session = replace(session, database=session.database and file, attach=dict.fromkeys(session.attach, file))
    with closing(open_engine(session)) as engine, engine.snapshot():
        engine.run("CREATE TEMPORARY TABLE example AS SELECT 1 AS a")
        refused = nullcontext() if alone else pytest.raises(SourceError, match="inside a transaction")
        with refused, engine.transaction():
            pass


def test_loading_inside_a_transaction(engine: Engine) -> None:
    with engine.transaction():
        engine.load_batches(TABLE, {"a": "INTEGER"}, [[[1]]])
        assert read(engine) == [(1,)]


# Names


@pytest.mark.parametrize(
    ("name", "readings"),
    [
        ("patients", [("patients",)]),
        ("hr.patients", [("hr.patients",), ("hr", "patients")]),
        ('"odd.name"', [('"odd.name"',), ("odd.name",)]),
        ('a."b""c".d', [('a."b""c".d',), ("a", 'b"c', "d")]),
        ('a;b "c"', [('a;b "c"',)]),
        ('a."b"c', [('a."b"c',)]),
        ("a.", [("a.",)]),
        (".a", [(".a",)]),
        ("a..b", [("a..b",)]),
        ('""', [('""',)]),
        ("", [("",)]),
    ],
)
def test_readings_of_a_name(name: str, readings: list[tuple[str, ...]]) -> None:
    assert name_readings(name) == readings


def test_columns_equal_but_for_case_are_refused() -> None:
    refuse_equal_names(["age", "ages", "sex"], "patients")
    with pytest.raises(SourceError, match="patients has the columns 'Age' and 'age', the same but for case"):
        refuse_equal_names(["Age", "sex", "age"], "patients")
    with pytest.raises(SourceError, match="'STRASSE' and 'straße'"):
        refuse_equal_names(["STRASSE", "straße"], "patients")


def test_a_query_for_another_connection_runs_once() -> None:
    """DuckDB 2.0 runs the query of a relation again for its columns."""
    engine, target, seen = DuckDB(), DuckDB(), list[int]()

    def noted(number: int) -> int:
        seen.append(number)
        return number

    engine.connection.create_function("noted", noted, ["BIGINT"], "BIGINT")
    engine.send("SELECT MAX(noted(n)) AS largest FROM RANGE(3) AS r(n)", target, Relation("sent"))
    assert target.rows("SELECT largest FROM sent") == [(2,)]
    assert seen == [0, 1, 2]
