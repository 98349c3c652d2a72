"""The contract of PostgreSQL alone: connections and their passwords, transactions, names and types."""

import subprocess
import sys
import traceback
from contextlib import suppress
from datetime import date
from typing import Any

import psycopg
import pytest

from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import SourceError, TargetError
from kanon_sql.queries import Relation
from kanon_sql.resources import install_command
from support.engines import TABLE, ByHand, read

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
    text = "".join(traceback.format_exception(raised.value))
    assert "\n" not in str(raised.value)
    for piece in ("hun", "ter2", "t%40r2", "t@r2", "%zz"):
        assert piece not in text


def test_a_refused_connection_is_reported_in_one_line() -> None:
    with pytest.raises(SourceError, match=r"^PostgreSQL cannot be reached: nothing answers"):
        PostgreSQL.open("postgresql://user:secret@127.0.0.1:1/db")


def test_an_invalid_url_is_refused_with_its_correct_form() -> None:
    with pytest.raises(SourceError, match="postgresql://user:password@host:port/database"):
        PostgreSQL.open("hospital.duckdb")


@pytest.mark.slow
def test_without_psycopg_the_module_loads_and_open_names_what_to_install() -> None:
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
    assert done.stdout == f"PostgreSQL needs psycopg: {install_command('postgres')}\n"


def test_a_connection_inside_a_transaction_is_refused(postgres_dsn: str) -> None:
    with psycopg.connect(postgres_dsn) as connection:
        connection.execute("SELECT 1")
        with pytest.raises(SourceError, match="inside a transaction"):
            PostgreSQL(connection)
        connection.rollback()
        assert PostgreSQL(connection).rows("SELECT 1") == [(1,)]
        assert connection.autocommit


def test_any_kind_of_connection_works(postgres_dsn: str) -> None:
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


def test_a_lost_connection_is_reported(postgres: PostgreSQL, postgres_dsn: str) -> None:
    ((session,),) = postgres.rows("SELECT pg_backend_pid()")
    with pytest.raises(SourceError, match=r"^PostgreSQL says: "), postgres.transaction():
        assert ByHand.open(postgres_dsn).rows(f"SELECT pg_terminate_backend({session}, 5000)") == [(True,)]
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
    other = ByHand.open(postgres_dsn)
    with postgres.transaction():
        before = read(postgres, table.relation)
        other.run("INSERT INTO patients VALUES (2)")
        assert read(postgres, table.relation) == before == [(1,)]
    assert len(read(postgres, table.relation)) == 2


def test_a_table_can_be_recreated_with_other_columns(postgres: PostgreSQL) -> None:
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
    table = make_table(postgres, "patients", {"a": "INTEGER"}, [])
    ((database,),) = postgres.rows("SELECT current_database()")
    schema = table.relation.parts[0]
    assert postgres.find(f"{database}.{schema}.patients") == table
    assert postgres.find(f"{database}.{schema.upper()}.PATIENTS") == table
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
        ("blood", f'{table.relation.parts[0]}."Blood; group"', "text"),
        ("age", "integer", "integer"),
        ("code", "character varying(5)", "text"),
        ("sex", "character(1)", "text"),
        ("name", "name", "text"),
        ("doc", "json", "other"),
    ]
    postgres.load_batches(TABLE, {"value": table.columns[0].type}, [[["A", None]]])
    assert read(postgres) == [("A",), (None,)]


def test_padding_of_char_is_ignored(postgres: PostgreSQL, embedded: DuckDB) -> None:
    postgres.load_batches(TABLE, {"a": "character(5)"}, [[["ab", " a", "", None]]])
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
