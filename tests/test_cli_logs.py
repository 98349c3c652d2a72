"""Passwords and values of the data, which no message of the command line may show."""

import json
import traceback
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SourceError
from support.command_line import ASK, COLUMNS, PEOPLE, Run, ask, done, kanon
from support.engines import ByHand

# Connection strings


CANARY = "s3cretpw"
ODD_STRINGS = [
    "postgresql://u:{0}@127.0.0.1:1/db",
    "POSTGRESQL://u:{0}@127.0.0.1:1/db",
    " postgresql://u:{0}@127.0.0.1:1/db",
    "\tPostgreSQL://u:{0}@127.0.0.1:1/db ",
    "host=127.0.0.1 port=1 user=u password={0}",
    "HOST=127.0.0.1 port=1 password={0}",
    " password='{0}' host=127.0.0.1 port=1",
    "password={0} host=127.0.0.1 port=1 nonsense={0}",
    "host=127.0.0.1 port={0}",
    "dbname={0} host=127.0.0.1 port=1 'password",
    "user={0} host=127.0.0.1 port=1",
    "postgres:/u:{0}@127.0.0.1/db",
    "postgresql//u:{0}@127.0.0.1/db",
    "postgresql+psycopg://u:{0}@127.0.0.1/db",
    "postgre://u:{0}@127.0.0.1/db",
    "mysql://u:{0}@127.0.0.1/db",
    "jdbc:postgresql://127.0.0.1/db?user=u&password={0}",
    "u:{0}@127.0.0.1/db",
    "postgresql://u:{0}@@127.0.0.1:1/db",
    "postgresql://u:{0}@127.0.0.1:99999999/db",
    "postgresql://u:{0}@[::1/db",
    "postgresql://u:p/{0}@127.0.0.1:1/db",
    "postgresql://u:p%zz{0}@127.0.0.1:1/db",
    "host=127.0.0.1 port=1 password='{0}",
]


@pytest.mark.parametrize("text", ODD_STRINGS)
def test_no_part_of_a_connection_string_is_printed(folder: Path, text: str) -> None:
    url = text.format(CANARY)
    (folder / "bad.yml").write_text(json.dumps({"source": "t", "quasi_identifiers": ["age"], "database": url}))
    (folder / "worse.yml").write_text(json.dumps({"source": "t", "quasi_identifiers": ["age"], "database": [url]}))
    qi = ["--quasi-identifiers", "age"]
    for line in (
        ["verify", "t", "--database", url, *qi],
        ["profile", "t", "--database", url],
        ["risk", "t", "--database", url, *qi],
        ["anonymize", "people.csv", "--database", url, *qi, "--hierarchies", "h", "--into", "x", "--json"],
        ["verify", "--spec", "bad.yml", "t"],
        ["verify", "--spec", "worse.yml", "t"],
        ["verify", url, *qi],
        ["verify", url, "--database", url, *qi],
    ):
        run = kanon(*line)
        assert run.code == 2
        assert (CANARY in run.out + run.err, run.err.count("\n")) == (False, 1), run
        assert "127.0.0.1" not in run.err


def test_a_connection_string_without_quotes_is_refused_without_its_words() -> None:
    run = kanon("profile", "t", "--database", "host=127.0.0.1", f"password={CANARY}")
    assert run == Run(2, "", "kanon: a connection string with spaces needs quotes; put quotes around it\n")


@pytest.mark.parametrize("form", ["POSTGRESQL://", " postgresql://", "keywords"])
@pytest.mark.usefixtures("folder")
def test_a_server_is_named_in_any_form_that_libpq_accepts(postgres_dsn: str, make_table: Any, form: str) -> None:
    engine = ByHand.open(postgres_dsn)
    make_table(engine, "people", COLUMNS, PEOPLE)
    engine.close()
    rest = postgres_dsn.partition("://")[2]
    dsn = psycopg.conninfo.make_conninfo(postgres_dsn) if form == "keywords" else f"{form}{rest}"
    options = ["people", "--database", dsn]
    done("anonymize", *options, *ASK, "--k", 12, "--into", "anon")
    shown = done("profile", *options)
    assert "--database postgresql://…" in shown.replace("'", "")
    assert rest not in shown


# Values of the data


VALUE = "canary-value"
FAILING = [
    ("hierarchy", "quasi_identifiers: {odd: {hierarchy: {file: odd.csv}}}", "the hierarchy lacks 1 of its values"),
    ("ranges", "quasi_identifiers: {odd: {hierarchy: {ranges: [5]}}}", "a value is not a finite number"),
    ("dates", "quasi_identifiers: {odd: {hierarchy: {dates: [year]}}}", "a value is not a date"),
]


@pytest.mark.parametrize(("name", "roles", "message"), FAILING, ids=[name for name, _, _ in FAILING])
def test_a_log_contains_no_value_of_the_data(folder: Path, name: str, roles: str, message: str) -> None:
    (folder / "odd.csv").write_text("x;*\ny;*\n")
    (folder / "people.csv").write_text(f"age,odd\n1,x\n2,y\n3,{VALUE}\n")
    (folder / "bad.yml").write_text(f"source: people.csv\n{roles}\ntarget: {{file: out.csv}}\nprivacy: {{k: 1}}\n")
    run = kanon("anonymize", "--spec", "bad.yml")
    assert (run.code, message in run.err, VALUE in run.out + run.err) == (2, True, False), run
    for line in (
        ["--show-values", "anonymize", "--spec", "bad.yml"],
        ["anonymize", "--spec", "bad.yml", "--show-values"],
    ):
        run = kanon(*line)
        assert (run.code, message in run.err, run.err.count("\n")) == (2, True, 2)
        shown = run.err.splitlines()[1]
        assert shown == f"kanon: values of the data: {repr(VALUE) if name == 'hierarchy' else repr(min('x', VALUE))}"


@pytest.mark.usefixtures("folder")
@pytest.mark.slow
def test_values_in_errors_of_a_database_are_in_no_log(database: str) -> None:
    text = "CAST(disease AS VARCHAR) || 'canary-value'"
    cast = f"CASE WHEN age > 0 THEN CAST({text} AS INTEGER) END"
    ask(database, f"CREATE VIEW broken AS SELECT age, zip, {cast} AS odd FROM people")
    more = ["--database", database, "--quasi-identifiers", "age,zip", "--hierarchies", "h", "--keep"]
    for command_line in (
        ["anonymize", "broken", *more, "odd", "--into", "x"],
        ["anonymize", "broken", *more, "*", "--output", "x.parquet"],
        ["verify", "broken", "--database", database, "--quasi-identifiers", "odd"],
        ["profile", "broken", "--database", database],
    ):
        run = kanon(*command_line)
        assert (run.code, "canary" in run.out + run.err) == (2, False), run
        assert "stopped at a value that it cannot read or calculate with" in run.err
        assert "canary" in kanon(*command_line, "--show-values").err
    engine = ByHand.open(database) if database.startswith("postgresql:") else DuckDB.open(database)
    with pytest.raises(SourceError) as raised:
        engine.rows("SELECT odd FROM broken")
    engine.close()
    assert "canary" not in "".join(traceback.format_exception(raised.value))
    assert "canary" in "".join(raised.value.values)


def test_a_conversion_error_names_the_place_but_not_the_value(folder: Path) -> None:
    rows = "".join(f"{i},a\n" for i in range(30_000))
    (folder / "a.csv").write_text(f"age,zip\n{rows}")
    (folder / "b.csv").write_text(f"age,zip\n{rows}{VALUE},b\n")
    with duckdb.connect("typed.duckdb") as connection:
        connection.execute(
            "CREATE VIEW typed AS SELECT * FROM read_csv('b.csv', columns = {'age': 'INTEGER', 'zip': 'VARCHAR'})"
        )
    run = kanon("verify", "typed", "--database", "typed.duckdb", "--quasi-identifiers", "age")
    assert (run.code, VALUE in run.err) == (2, False), run
    assert "line 30002, column age" in run.err
