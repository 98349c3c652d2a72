"""What every engine promises, by one body of tests; then what PostgreSQL promises besides."""

import math
import subprocess
import sys
import tempfile
import traceback
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import pandas
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import queries
from kanon_sql.engine import Engine, name_readings, refuse_equal_names
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import KanonError, SourceError, TargetError
from kanon_sql.queries import Relation
from support.examples import examples

NASTY = [
    "",
    " ",
    "plain",
    "NULL",
    "\\N",
    "\\.",
    "\\",
    '"',
    '""',
    "'",
    "a'b\"c",
    "a;b,c|d\te",
    "line\nline",
    "\r\n",
    "\r",
    "\n",
    "%s {} $1 ?",
    "--",
    "Zoë 東京 🏥",
    "e\u0301",
    "\ufeff",
    "nan",
    "x" * 5000,
]
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
TABLE = Relation("kanon_loaded")
TEMPORARY = {"duckdb": "temp", "postgres": "pg_temp"}


def read(engine: Engine, relation: Relation = TABLE) -> list[tuple[Any, ...]]:
    return engine.rows(queries.select_all(relation, engine.dialect))


# Every engine: what is loaded comes back


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
    engine.load(TABLE, {"position": "INTEGER", 'Odd; "name"': type_name}, [list(range(len(values))), values])
    assert sorted(read(engine)) == list(enumerate(values))


@examples(50)
@given(texts=st.lists(st.none() | st.text(st.characters(exclude_characters="\0", codec="utf-8"))))
def test_any_texts_come_back(engine: Engine, texts: list[str | None]) -> None:
    engine.load(TABLE, {"position": "INTEGER", "value": "VARCHAR"}, [list(range(len(texts))), texts])
    assert sorted(read(engine)) == list(enumerate(texts))


def test_load_replaces_an_earlier_load(engine: Engine) -> None:
    engine.load(TABLE, {"a": "INTEGER"}, [[1, 2]])
    engine.load(TABLE, {"b": "VARCHAR"}, [["x"]])
    assert read(engine) == [("x",)]


def test_load_without_rows_makes_an_empty_table(engine: Engine) -> None:
    engine.load(TABLE, {"a": "INTEGER", "b": "VARCHAR"}, [[], []])
    assert read(engine) == []


def test_load_never_drops_a_permanent_table(engine: Engine, make_table: Any) -> None:
    permanent = make_table(engine, TABLE.name, {"precious": "INTEGER"}, [(1,)])
    engine.load(TABLE, {"a": "INTEGER"}, [[2]])
    assert read(engine) == [(2,)]
    engine.load(TABLE, {"a": "INTEGER"}, [[3]])
    assert read(engine) == [(3,)]
    engine.run(queries.drop(Relation(TEMPORARY[engine.dialect], TABLE.name), engine.dialect))
    assert read(engine, permanent.relation) == [(1,)]


def test_load_tells_in_one_line_what_does_not_fit(engine: Engine) -> None:
    with pytest.raises(SourceError) as raised:
        engine.load(TABLE, {"a": "INTEGER"}, [["not a number"]])
    assert "\n" not in str(raised.value)
    assert engine.rows("SELECT 1") == [(1,)]


def test_sums_and_counts_are_integers(engine: Engine) -> None:
    engine.load(TABLE, {"a": "BIGINT", "b": "SMALLINT"}, [[2**62, 2**62], [1, 2]])
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
    [(0, "small"), (127, "small"), (128, ""), (2**15 - 1, ""), (2**15, ""), (2**31 - 1, "")],
)
def test_integer_type_holds_the_largest(engine: Engine, largest: int, stored: str) -> None:
    engine.load(TABLE, {"a": engine.integer_type(largest)}, [[largest, 0]])
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


def test_frame_gives_rows_and_types(engine: Engine, make_table: Any) -> None:
    rows = [(1, "", 0.5, date(2024, 2, 29)), (2, None, 1.5, date(9999, 12, 31))]
    types = {"a": "INTEGER", "Odd name": "VARCHAR", "c": "DOUBLE PRECISION", "d": "DATE"}
    frame = engine.frame(make_table(engine, "source", types, rows).relation)
    assert list(frame.columns) == list(types)
    assert frame["Odd name"].isna().tolist() == [False, True]
    assert frame.dtypes.map(lambda dtype: dtype.kind).tolist() == ["i", "O", "f", "M"]
    assert frame.drop(columns="Odd name").values.tolist() == [[a, c, pandas.Timestamp(d)] for a, _, c, d in rows]


def test_a_closed_engine_answers_no_more(engine: Engine) -> None:
    engine.close()
    with pytest.raises(SourceError):
        engine.rows("SELECT 1")


def test_explain_gives_a_plan(engine: Engine, make_table: Any) -> None:
    source = make_table(engine, "source", {"a": "INTEGER"}, [(1,)])
    assert "source" in engine.explain(queries.select_all(source.relation, engine.dialect))


@pytest.mark.parametrize("method", ["rows", "run"])
def test_errors_are_one_line(engine: Engine, method: str) -> None:
    with pytest.raises(KanonError) as raised:
        getattr(engine, method)("SELECT nothing_like_this\nFROM nowhere_at_all")
    assert "nowhere_at_all" in str(raised.value)
    assert "\n" not in str(raised.value)


# Every engine: tables are found by the names people give


@pytest.mark.parametrize("name", ODD_NAMES)
def test_find_by_the_name_as_it_stands(engine: Engine, make_table: Any, name: str) -> None:
    made = make_table(engine, name, {name: "INTEGER"}, [(1,)])
    for spelled in (name, '"' + name.replace('"', '""') + '"'):
        table = engine.find(spelled)
        assert table == made
    assert made.relation.name == name
    assert [column.name for column in made.columns] == [name]
    assert read(engine, made.relation) == [(1,)]


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
    made = make_table(engine, "Patients", {"a": "INTEGER"}, [])
    assert engine.find("patients") == engine.find("PATIENTS") == made


def test_find_gives_none_for_what_is_missing(engine: Engine) -> None:
    for name in ("patients", "hr.patients", '"x"', "", ".", 'a"', "no'such", "a.b.c.d"):
        assert engine.find(name) is None


def test_find_reads_no_part_of_a_broken_name(engine: Engine, make_table: Any) -> None:
    make_table(engine, "c", {"a": "INTEGER"}, [])
    assert engine.find('a;b "c"') is None


def test_find_tells_views_from_tables(engine: Engine, make_table: Any) -> None:
    table = make_table(engine, "base", {"a": "INTEGER"}, [(1,)])
    engine.run("CREATE VIEW shown AS SELECT a FROM base")
    view = engine.find("shown")
    assert table.form == "table"
    assert view is not None
    assert view.form == "view"
    assert view.columns == table.columns


def test_find_sees_temporary_tables_first(engine: Engine, make_table: Any) -> None:
    make_table(engine, TABLE.name, {"permanent": "INTEGER"}, [])
    engine.load(TABLE, {"temporary": "INTEGER"}, [[1]])
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
    engine.load(TABLE, copied, [[] for _ in copied])
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
    with pytest.raises(TargetError, match="there is no schema odd schema for x; make it first"):
        engine.place("odd schema.x")


# Every engine: all or nothing


class Interrupted(BaseException):
    pass


@pytest.mark.parametrize("error", [ValueError, Interrupted])
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


def test_loading_inside_a_transaction(engine: Engine) -> None:
    with engine.transaction():
        engine.load(TABLE, {"a": "INTEGER"}, [[1]])
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


# PostgreSQL


WITHOUT_HOST = ["postgresql://user:{}/db", "postgresql://user:{}"]
URLS_THAT_FAIL = [
    "postgresql://user:{}@127.0.0.1:1/db",
    "postgres://user:{}@127.0.0.1:1/db",
    "postgresql://user:{}@no.such.host.invalid/db",
    "postgresql://user:{}@[::1]:1/db",
    "postgresql://user:{}@127.0.0.1:1,127.0.0.1:2/db?target_session_attrs=any",
    "postgresql://user:{}@127.0.0.1:port/db",
    *WITHOUT_HOST,
    "postgresql://user:{}@127.0.0.1:1/db?no_such_option=1",
    "postgresql://127.0.0.1:1/db?user=u&password={}",
    "postgresql://127.0.0.1:1/db?password={}&sslmode=nonsense",
    "mysql://user:{}@host/db",
    "host=127.0.0.1 port=1 password={}",
    "user:{}@host",
]


PASSWORDS = ["hunter2", "hunt%40r2", "hun@ter2", "hun/ter2", "hun:ter2", "hun#ter2", "hun%zzter2"]


@pytest.mark.parametrize("url", URLS_THAT_FAIL)
@pytest.mark.parametrize("password", PASSWORDS)
def test_a_password_is_never_shown(url: str, password: str) -> None:
    if "@" in password and url in WITHOUT_HOST:
        url = f"{url}@"  # else the password ends at its @, and what follows is a host
    with pytest.raises(SourceError) as raised:
        PostgreSQL.open(url.format(password))
    told = "".join(traceback.format_exception(raised.value))
    assert "\n" not in str(raised.value)
    for piece in ("hun", "ter2", "t%40r2", "t@r2", "%zz"):
        assert piece not in told


def test_connection_refused_is_told_in_one_line() -> None:
    with pytest.raises(SourceError, match=r"^PostgreSQL cannot be reached: nothing answers"):
        PostgreSQL.open("postgresql://user:secret@127.0.0.1:1/db")


def test_what_is_no_url_is_told_how_to_write_one() -> None:
    with pytest.raises(SourceError, match="postgresql://user:password@host:port/database"):
        PostgreSQL.open("hospital.duckdb")


@pytest.mark.slow
def test_without_psycopg_the_module_loads_and_open_tells_what_to_install() -> None:
    code = """
import sys
sys.modules["psycopg"] = None
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import SourceError
try:
    PostgreSQL.open("postgresql://localhost/db")
except SourceError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "PostgreSQL needs psycopg; pip install 'kanon-sql[postgres]'\n"


def test_a_connection_inside_a_transaction_is_refused(postgres_dsn: str) -> None:
    with psycopg.connect(postgres_dsn) as connection:
        connection.execute("SELECT 1")
        with pytest.raises(SourceError, match="inside a transaction"):
            PostgreSQL(connection)
        connection.rollback()
        assert PostgreSQL(connection).rows("SELECT 1") == [(1,)]
        assert connection.autocommit


def test_a_connection_of_any_making_serves(postgres_dsn: str) -> None:
    options = {"row_factory": psycopg.rows.dict_row, "cursor_factory": psycopg.ClientCursor}
    settings = "-c datestyle=SQL,DMY -c extra_float_digits=-3 -c standard_conforming_strings=off"
    with psycopg.connect(postgres_dsn, client_encoding="latin1", **options) as connection:
        for setting in settings.replace("-c ", "").split(" "):
            connection.execute(f"SET {setting}")
        connection.commit()
        engine = PostgreSQL(connection)
        dates = engine.rows("SELECT CAST(DATE '2024-02-01' AS VARCHAR), CAST('03/04/2024' AS DATE)")
        assert dates == [("2024-02-01", date(2024, 4, 3))]
        assert engine.rows(r"SELECT CAST(0.1 AS DOUBLE PRECISION) + 0.2, '\', '東京'") == [(0.1 + 0.2, "\\", "東京")]


def test_a_lost_connection_is_told(postgres: PostgreSQL, postgres_dsn: str) -> None:
    ((session,),) = postgres.rows("SELECT pg_backend_pid()")
    with pytest.raises(SourceError, match=r"^PostgreSQL says: "), postgres.transaction():
        assert PostgreSQL.open(postgres_dsn).rows(f"SELECT pg_terminate_backend({session}, 5000)") == [(True,)]
    with pytest.raises(SourceError, match=r"^PostgreSQL says: "):
        postgres.rows("SELECT 1")


def test_a_failed_statement_fails_the_transaction_though_it_was_caught(postgres: PostgreSQL) -> None:
    def swallow() -> None:
        with postgres.transaction():
            postgres.run("CREATE TABLE made (a INTEGER)")
            with suppress(SourceError):
                postgres.run("SELECT * FROM nowhere")

    with pytest.raises(SourceError, match="rolled the transaction back"):
        swallow()
    assert postgres.find("made") is None


def test_a_transaction_is_one_snapshot(postgres: PostgreSQL, postgres_dsn: str, make_table: Any) -> None:
    table = make_table(postgres, "patients", {"a": "INTEGER"}, [(1,)])
    other = PostgreSQL.open(postgres_dsn)
    with postgres.transaction():
        before = read(postgres, table.relation)
        other.run("INSERT INTO patients VALUES (2)")
        assert read(postgres, table.relation) == before == [(1,)]
    assert len(read(postgres, table.relation)) == 2


def test_a_table_may_be_made_anew_with_other_columns(postgres: PostgreSQL) -> None:
    for columns in ("a INTEGER", "a VARCHAR, b INTEGER"):
        postgres.run("DROP TABLE IF EXISTS again")
        postgres.run(f"CREATE TABLE again ({columns})")
        for _ in range(10):  # psycopg would prepare a statement run often
            assert postgres.rows("SELECT * FROM again") == []


def test_find_among_names_that_differ_in_case(postgres: PostgreSQL, make_table: Any) -> None:
    for name in ("Patients", "PATIENTS"):
        make_table(postgres, name, {name: "INTEGER"}, [])
    for name in ("Patients", "PATIENTS", '"Patients"'):
        table = postgres.find(name)
        assert table is not None
        assert table.columns[0].name == name.strip('"')
    with pytest.raises(SourceError, match="patients could be any of 'PATIENTS' and 'Patients'"):
        postgres.find("patients")


@pytest.mark.parametrize(
    ("statement", "form"),
    [
        ("CREATE MATERIALIZED VIEW found AS SELECT 1 AS a", "materialized view"),
        ("CREATE TABLE found (a INTEGER) PARTITION BY LIST (a)", "table"),
        ("CREATE UNLOGGED TABLE found (a INTEGER)", "table"),
        ("CREATE TEMPORARY VIEW found AS SELECT 1 AS a", "view"),
        ("CREATE TEMPORARY TABLE found (a INTEGER)", "table"),
    ],
)
def test_find_every_form_of_relation(postgres: PostgreSQL, statement: str, form: str) -> None:
    postgres.run(statement)
    table = postgres.find("found")
    assert table is not None
    assert (table.form, [column.name for column in table.columns]) == (form, ["a"])
    assert postgres.find(".".join(table.relation.parts)) == table


def test_find_neither_indexes_nor_sequences(postgres: PostgreSQL) -> None:
    postgres.run("CREATE TABLE base (a SERIAL PRIMARY KEY)")
    assert postgres.find("base_pkey") is None
    assert postgres.find("base_a_seq") is None


def test_find_by_database(postgres: PostgreSQL, make_table: Any) -> None:
    made = make_table(postgres, "patients", {"a": "INTEGER"}, [])
    ((database,),) = postgres.rows("SELECT current_database()")
    schema = made.relation.parts[0]
    assert postgres.find(f"{database}.{schema}.patients") == made
    assert postgres.find(f"{database}.{schema.upper()}.PATIENTS") == made
    assert postgres.find(f"elsewhere.{schema}.patients") is None


def test_columns_of_enums_domains_and_dropped_ones(postgres: PostgreSQL) -> None:
    postgres.run("CREATE TYPE \"Blood; group\" AS ENUM ('A', 'B')")
    postgres.run("CREATE DOMAIN age AS INTEGER CHECK (VALUE >= 0)")
    postgres.run("CREATE DOMAIN young AS age CHECK (VALUE < 20)")
    postgres.run("CREATE DOMAIN code AS VARCHAR(5)")
    postgres.run(
        'CREATE TABLE patients (gone INTEGER, blood "Blood; group", age young, code code, '
        "sex CHAR(1), name NAME, doc JSON)"
    )
    postgres.run("ALTER TABLE patients DROP COLUMN gone")
    table = postgres.find("patients")
    assert table is not None
    assert [(c.name, c.type, c.kind) for c in table.columns] == [
        ("blood", '"Blood; group"', "text"),
        ("age", "integer", "integer"),
        ("code", "character varying(5)", "text"),
        ("sex", "character(1)", "text"),
        ("name", "name", "text"),
        ("doc", "json", "other"),
    ]
    postgres.load(TABLE, {"value": table.columns[0].type}, [["A", None]])
    assert read(postgres) == [("A",), (None,)]


def test_padding_of_char_means_nothing(postgres: PostgreSQL, embedded: DuckDB) -> None:
    postgres.load(TABLE, {"a": "character(5)"}, [["ab", " a", "", None]])
    assert read(postgres) == [("ab",), (" a",), ("",), (None,)]
    postgres.fetch_into("SELECT a FROM kanon_loaded", embedded, TABLE)
    assert read(embedded) == read(postgres)


def test_place_refuses_a_name_that_would_be_cut(postgres: PostgreSQL) -> None:
    assert postgres.place("x" * 63).name == "x" * 63
    with pytest.raises(TargetError, match="longer than the 63 bytes"):
        postgres.place("ü" * 32)


def test_place_without_a_schema(postgres: PostgreSQL) -> None:
    postgres.run("SET search_path TO no_such_schema")
    with pytest.raises(TargetError, match="name one, as in public"):
        postgres.place("released")
    assert postgres.place("public.released") == Relation("public", "released")


# PostgreSQL to DuckDB

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
def test_any_texts_are_fetched_as_they_are(
    postgres: PostgreSQL, embedded: DuckDB, rows: list[tuple[str | None, ...]], width: int
) -> None:
    rows = [row[:width] for row in rows]
    names = ["a", 'b;"{} %s'][:width]
    postgres.load(TABLE, dict.fromkeys(names, "TEXT"), [[row[i] for row in rows] for i in range(width)])
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
    postgres.load(TABLE, {"a": type_name}, [literals])
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
    postgres.load(TABLE, {"a": "TIMESTAMPTZ"}, [moments])
    postgres.fetch_into("SELECT a FROM kanon_loaded", embedded, FETCHED)
    assert fetched_types(embedded) == ["TIMESTAMP WITH TIME ZONE"]
    since = [((m - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1),) for m in moments]
    assert embedded.rows("SELECT epoch_us(a) FROM fetched") == since


def test_enums_and_domains_are_fetched_as_what_they_are(postgres: PostgreSQL, embedded: DuckDB) -> None:
    postgres.run("CREATE TYPE blood AS ENUM ('A', 'B')")
    postgres.run("CREATE DOMAIN price AS NUMERIC(6,2)")
    assert fetch(postgres, embedded, "SELECT CAST('A' AS blood) AS blood, CAST(1 AS price) AS price") == [
        ("A", Decimal("1.00"))
    ]
    assert fetched_types(embedded) == ["VARCHAR", "DECIMAL(6,2)"]


def test_counts_are_fetched_as_numbers(postgres: PostgreSQL, embedded: DuckDB) -> None:
    postgres.load(TABLE, {"n": "BIGINT"}, [[1, 2]])
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


def test_the_file_between_is_ours_alone_and_does_not_stay(
    postgres: PostgreSQL, embedded: DuckDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = tmp_path / "it's a folder"
    odd.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(odd))
    seen: list[int] = []
    asked = embedded.rows

    def look(sql: str) -> list[tuple[Any, ...]]:
        seen.extend(path.stat().st_mode & 0o777 for path in odd.rglob("*"))
        return asked(sql)

    monkeypatch.setattr(embedded, "rows", look)
    assert fetch(postgres, embedded, "SELECT 1 AS a") == [(1,)]
    assert sorted(seen) == [0o600, 0o700]
    with pytest.raises(SourceError, match="DivisionByZero"):
        postgres.fetch_into("SELECT 1 / (2 - s) AS a FROM generate_series(1, 3) AS s", embedded, FETCHED)
    assert list(odd.iterdir()) == []
    assert postgres.rows("SELECT 1") == [(1,)]


def test_a_full_disk_is_told(postgres: PostgreSQL, embedded: DuckDB, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_statement_says_how_many_rows_it_wrote(engine: Engine) -> None:
    made = Relation("made")
    assert engine.run(queries.create_as(made, "SELECT 1 AS a UNION ALL SELECT 2", engine.dialect)) == 2
    assert engine.run(queries.insert(made, "SELECT 3", engine.dialect)) == 1
    assert engine.run(queries.drop(made, engine.dialect)) is None
