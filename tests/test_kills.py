"""SIGKILL at random moments of a real process: the old or the new release is left, complete, and nothing else."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

# Imports and reads all queries once, and forks a process for every run, which is then nothing but a release. It kills
# its own child, whose number nobody else can have by then.
SERVER = """
import gc, json, os, signal, sys, tempfile, time

import duckdb, psycopg, pyarrow
import kanon_sql.cli.anonymize
from kanon_sql import anonymize
from kanon_sql.cli import main

with tempfile.TemporaryDirectory() as folder:
    people = pyarrow.table({"age": [30, 30, 40, 40], "zip": [1, 1, 2, 2], "sick": [0, 1, 0, 1]})
    spec = {"quasi_identifiers": ["age", "zip"], "keep": ["sick"], "strategy": "mondrian"}
    anonymize(people, spec, k=2, output=f"{folder}/anon.csv")
gc.collect()  # no thread of a database lives on: a process that is forked would have its handle alone

for line in sys.stdin:
    arguments, moment, work, temporary = json.loads(line)
    began = time.monotonic()
    if not (child := os.fork()):
        break
    if moment is not None:
        time.sleep(moment)
        os.kill(child, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps([status, time.monotonic() - began]), flush=True)
else:
    sys.exit()
os.chdir(work)
tempfile.tempdir = os.environ["TMPDIR"] = temporary
output = os.open(f"{temporary}/output.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
os.dup2(output, 1)
os.dup2(output, 2)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
sys.argv = ["kanon", *arguments]
main()
"""
KILLS = 4
OLD, NEW = 3, 8  # two k, whose releases differ in nearly every row
RELEASE = ["--identifiers", "id", "--quasi-identifiers", "age,zip", "--keep", "sick", "--strategy", "mondrian"]
PEOPLE = "SELECT i AS id, i * 37 % 71 AS age, i * 11 % 97 AS zip, i % 7 AS sick FROM {} AS t(i)"
Rows = Counter[tuple[Any, ...]]


class Runs:
    """Runs of `kanon` in processes of their own, and in a folder of their own."""

    def __init__(self, folder: Path, server: subprocess.Popen[str]) -> None:
        self.work, self.temporary = folder / "work", folder / "temporary"
        self.work.mkdir()
        self.temporary.mkdir()
        self.log = self.temporary / "output.log"
        self.length, self._server = 0.0, server

    def run(self, *arguments: str, moment: float | None = None) -> int:
        """Run to the end, or until it is killed at a moment; gives its exit code."""
        assert self._server.stdin
        assert self._server.stdout
        request = [arguments, moment, str(self.work), str(self.temporary)]
        self._server.stdin.write(f"{json.dumps(request)}\n")
        self._server.stdin.flush()
        code, seconds = json.loads(self._server.stdout.readline())
        if moment is None:
            self.length = seconds
        return int(code)

    def finish(self, *arguments: str) -> None:
        """Run to the end, which must be a good one, and clear away what killed runs left."""
        code = self.run(*arguments)
        assert code == 0, self.log.read_text()
        assert not [*self.work.glob(".*"), *(path for path in self.temporary.iterdir() if path != self.log)]


@pytest.fixture(scope="module")
def server() -> Iterator[subprocess.Popen[str]]:
    """The process that forks one for every run."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", SERVER], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin
        yield process
        process.stdin.close()


@pytest.fixture
def runs(tmp_path: Path, server: subprocess.Popen[str]) -> Runs:
    """One folder for one test."""
    return Runs(tmp_path, server)


class Target(ABC):
    """Where a release goes, and what is there, seen with a driver alone."""

    def __init__(self, folder: Path, form: str = "table") -> None:
        self.folder, self.form = folder, form

    @abstractmethod
    def prepare(self) -> None:
        """Make the source."""

    @abstractmethod
    def clear(self) -> None:
        """Have the source again, and nothing else."""

    @abstractmethod
    def arguments(self) -> list[str]:
        """The source and the target on the command line."""

    @abstractmethod
    def names(self) -> set[str]:
        """Everything that can be seen, beside the source."""

    @abstractmethod
    def rows(self) -> Rows:
        """The rows of the release."""


class File(Target):
    def prepare(self) -> None:
        duckdb.execute(f"COPY ({PEOPLE.format('RANGE(150)')}) TO '{self.folder / 'people.csv'}'").fetchall()

    def clear(self) -> None:
        (self.folder / "anon.csv").unlink(missing_ok=True)

    def arguments(self) -> list[str]:
        return ["people.csv", "--output", "anon.csv"]

    def names(self) -> set[str]:
        return {path.name for path in self.folder.iterdir() if not path.name.startswith(".kanon-")} - {"people.csv"}

    def rows(self) -> Rows:
        return Counter(duckdb.execute(f"FROM read_csv('{self.folder / 'anon.csv'}', all_varchar = true)").fetchall())


class Embedded(Target):
    def prepare(self) -> None:
        self._ask(f"CREATE TABLE people AS {PEOPLE.format('RANGE(150)')}")

    def clear(self) -> None:
        (self.folder / "office.duckdb").unlink()
        self.prepare()

    def arguments(self) -> list[str]:
        return ["people", "--database", "office.duckdb", "--into", "anon", "--as", self.form]

    def names(self) -> set[str]:
        tables = {name for (name,) in self._ask("SELECT table_name FROM information_schema.tables")}
        files = {path.name for path in self.folder.iterdir() if not path.name.startswith(".kanon-")}
        return (tables - {"people"}) | (files - {"office.duckdb"})

    def rows(self) -> Rows:
        return Counter(self._ask("FROM anon"))

    def _ask(self, sql: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(str(self.folder / "office.duckdb")) as connection:
            return connection.execute(sql).fetchall()


class Server(Target):
    def __init__(self, folder: Path, form: str, dsn: str) -> None:
        super().__init__(folder, form)
        self.dsn = f"{dsn}&application_name=killed"

    def prepare(self) -> None:
        self._own = psycopg.connect(self.dsn.replace("=killed", "=watching"), autocommit=True)
        ((self.schema,),) = self._own.execute("SELECT current_schema()").fetchall()
        self.clear()

    def clear(self) -> None:
        self._own.execute(f"DROP SCHEMA {self.schema} CASCADE")
        self._own.execute(f"CREATE SCHEMA {self.schema}")
        self._own.execute(f"CREATE TABLE people AS {PEOPLE.format('generate_series(0, 149)')}")

    def arguments(self) -> list[str]:
        return ["people", "--database", self.dsn, "--into", "anon", "--as", self.form]

    def names(self) -> set[str]:
        self._wait()
        listed = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'v', 'm') AND relnamespace = %s::regnamespace"
        return {name for (name,) in self._own.execute(listed, [self.schema])} - {"people"}

    def rows(self) -> Rows:
        return Counter(self._own.execute("SELECT * FROM anon").fetchall())

    def _wait(self) -> None:
        """The server hears of a client's death when its statement is over, and only then rolls back."""
        sessions = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'killed' AND datname = current_database()"
        until = time.monotonic() + 30
        while self._own.execute(sessions).fetchall():
            assert time.monotonic() < until, "the session of a killed process stays"
            time.sleep(0.01)


@pytest.fixture(params=["file", "duckdb-table", "duckdb-view", "postgres-table", "postgres-view"])
def target(request: pytest.FixtureRequest, runs: Runs) -> Iterator[Target]:
    """Each kind of target, with a source to release."""
    engine, _, form = request.param.partition("-")
    dsn = str(request.getfixturevalue("postgres_dsn")) if engine == "postgres" else ""
    opened: Target = Server(runs.work, form, dsn) if dsn else Embedded(runs.work, form) if form else File(runs.work)
    opened.prepare()
    yield opened
    if isinstance(opened, Server):
        opened._own.close()


def classes(rows: Rows) -> Counter[tuple[Any, ...]]:
    """How many rows show the same age and zip."""
    return sum((Counter({row[:2]: count}) for row, count in rows.items()), Counter())


def moments(draw: random.Random, runs: Runs) -> Iterator[float]:
    """Moments of a run, half of them in its last third, where what was made becomes visible."""
    while True:
        yield draw.uniform(0, runs.length)
        yield draw.uniform(runs.length * 2 / 3, runs.length)


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_one_whole_release(runs: Runs, target: Target) -> None:
    line = ["anonymize", *target.arguments(), *RELEASE, "--overwrite", "--k"]
    whole = {0: (set[str](), Rows())}
    for k in (OLD, NEW):
        runs.finish(*line, str(k))
        whole[k] = target.names(), target.rows()
        assert min(classes(target.rows()).values()) >= k
    assert not whole[OLD][1] & whole[NEW][1], "a mix of the two would be neither"
    target.clear()
    there, kills, when = 0, 0, moments(random.Random(), runs)
    while kills < KILLS:
        wanted, moment = OLD + NEW - (there or NEW), next(when)
        kills += runs.run(*line, str(wanted), moment=moment) < 0
        left = target.names()
        rows = left, target.rows() if left else Rows()
        assert rows in (whole[there], whole[wanted]), f"killed after {moment:.4f} of {runs.length:.4f} s: {rows}"
        there = wanted if rows == whole[wanted] else there
        if kills < KILLS / 4:  # no old release
            target.clear()
            there = 0
        elif kills % 10 == 0:
            there = OLD + NEW - (there or NEW)
            runs.finish(*line, str(there))
            assert (target.names(), target.rows()) == whole[there]
    runs.finish(*line, str(OLD))
    assert (target.names(), target.rows()) == whole[OLD]


@pytest.mark.slow
def test_a_new_database_is_never_visible_incomplete(runs: Runs) -> None:
    source = File(runs.work)
    source.prepare()
    database, when = runs.work / "new.duckdb", moments(random.Random(), runs)
    line = ["anonymize", "people.csv", "--database", "new.duckdb", "--into", "anon", "--k", str(OLD), *RELEASE]
    runs.finish(*line)
    assert database.exists()
    for _ in range(KILLS // 2):
        if database.exists():
            with duckdb.connect(str(database)) as connection:
                assert min(classes(Counter(connection.execute("FROM anon").fetchall())).values()) >= OLD
                assert connection.execute("SELECT table_name FROM information_schema.tables").fetchall() == [("anon",)]
            database.unlink()
        runs.run(*line, moment=next(when))
        assert source.names() <= {"new.duckdb"}
    database.unlink(missing_ok=True)
    runs.finish(*line)
