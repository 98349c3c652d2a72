"""The command line as people use it, on a table of people and its hierarchies."""

import io
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import psycopg
import pytest

from kanon_sql.cli import main, output
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from support.database import create_table
from support.engines import ByHand

_random = random.Random(5)
COLUMNS = {"name": "VARCHAR", "age": "BIGINT", "zip": "VARCHAR", "disease": "VARCHAR"}
PEOPLE: list[tuple[str, int, str, str]] = [
    (f"p{i}", _random.randint(2, 5) ** 2 + 20, _random.choice(["02138", "02139", "90210"]), _random.choice("xyz"))
    for i in range(120)
]
LEVELS: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "age": lambda age: (age, f"{age // 10}0s", "*"),
    "zip": lambda code: (code, f"{code[:3]}**", "*"),
}
ASK = ["--identifiers", "name", "--quasi-identifiers", "age,zip", "--hierarchies", "h", "--sensitive", "disease"]


@dataclass(frozen=True)
class Run:
    """The result of a command: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str


def kanon(*arguments: object) -> Run:
    """Run a command in this process, through the entry point."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["kanon", *map(str, arguments)]),
        mock.patch.object(output.out, "soft_wrap", True),
        mock.patch.object(output.err, "soft_wrap", True),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        main()
    return Run(int(left.value.code or 0), out.getvalue(), err.getvalue())


def command(*arguments: object, **how: Any) -> Run:
    """Run a command as a separate process."""
    line = [sys.executable, "-m", "kanon_sql", *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False, **how)
    return Run(done.returncode, done.stdout, done.stderr)


def done(*arguments: object) -> str:
    """Run a command that must succeed, and return its output."""
    run = kanon(*arguments)
    assert run.code == 0, run
    return run.out


def ask(database: str, sql: str) -> list[tuple[Any, ...]]:
    """The rows of a statement, over a separate connection: to PostgreSQL, a DuckDB file, or none ('')."""
    if database.startswith("postgresql:"):
        with psycopg.connect(database, autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []
    with duckdb.connect(database or ":memory:") as connection:
        return connection.execute(sql).fetchall()


def tables(database: str) -> list[tuple[Any, ...]]:
    """The tables and views of a database."""
    listed = "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = current_schema()"
    return sorted(ask(database, listed))


def texts(rows: list[tuple[Any, ...]]) -> list[tuple[str, ...]]:
    """Rows in any order and type, to compare a CSV file with a table."""
    return sorted(tuple(map(str, row)) for row in rows)


def released(node: dict[str, int], k: int) -> list[tuple[Any, ...]]:
    """The release of PEOPLE at a node, in plain Python."""
    recoded = [
        (LEVELS["age"](age)[node["age"]], LEVELS["zip"](code)[node["zip"]], disease) for _, age, code, disease in PEOPLE
    ]
    sizes = Counter(row[:2] for row in recoded)
    return [row for row in recoded if sizes[row[:2]] >= k]


def write_files(folder: Path) -> None:
    """Put people.csv and the hierarchies h/age.csv and h/zip.csv into a folder."""
    lines = [",".join(map(str, row)) for row in [tuple(COLUMNS), *PEOPLE]]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    (folder / "h").mkdir()
    for index, column in enumerate(("age", "zip"), start=1):
        rows = sorted({LEVELS[column](person[index]) for person in PEOPLE})
        (folder / "h" / f"{column}.csv").write_text("".join(";".join(map(str, row)) + "\n" for row in rows))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with people.csv and its hierarchies."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=["duckdb", "postgres"])
def database(request: pytest.FixtureRequest, folder: Path) -> str:
    """What --database takes: a database that holds the table people."""
    if request.param == "postgres":
        place = str(request.getfixturevalue("postgres_dsn"))
        engine: Engine = ByHand.open(place)
    else:
        place = str(folder / "hospital.duckdb")
        engine = DuckDB.open(place, create=True)
    create_table(engine, "people", COLUMNS, PEOPLE)
    engine.close()
    return place
