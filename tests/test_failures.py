"""Full disks, killed processes and locked databases: existing data is unchanged, and one line gives the reason."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kanon_sql.staging import abandoned
from support.command_line import COLUMNS, PEOPLE, ask, done, kanon, released, tables, texts
from support.database import mark
from support.engines import ByHand
from support.ward import HEADER, OUT, QI, TABLE, on_a_full_disk, put, snapshot

# Full disks


@pytest.fixture
def large(ward: Path) -> Path:
    """The folder with more people than fit on the disk."""
    people = "".join(f"p{i},{PEOPLE[i % 120][1]},{PEOPLE[i % 120][2]},ill{i * 7919 % 10007}\n" for i in range(30_000))
    (ward / "people.csv").write_text(HEADER + people)
    ask("hospital.duckdb", "INSERT INTO people FROM 'people.csv'")
    return ward


@pytest.mark.parametrize("target", ["old.csv", "old.parquet"])
@pytest.mark.slow
def test_a_full_disk_leaves_the_old_file(large: Path, target: str) -> None:
    before = snapshot(large)
    source = ["people.csv"] if target == "old.csv" else ["people", "--database", "hospital.duckdb"]
    options = [*shlex.split(QI), "--keep", "disease", "--output", target]
    on_a_full_disk("anonymize", *source, *options, cwd=large)
    assert snapshot(large) == before


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_picture(ward: Path) -> None:
    put(ward, {"lattice.svg": "old"})
    before = snapshot(ward)
    on_a_full_disk("lattice", "people.csv", *shlex.split(QI), cwd=ward, largest=2_000)
    assert snapshot(ward) == before


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_hierarchy(large: Path) -> None:
    before = snapshot(large)
    build = ["hierarchy", "build", "people.csv", "--column", "disease", "--redact", "right"]
    on_a_full_disk(*build, "--output", "old.csv", cwd=large)
    assert snapshot(large) == before


@pytest.mark.parametrize("database", ["hospital.duckdb", "new.duckdb"])
@pytest.mark.slow
def test_a_full_disk_leaves_the_old_table(large: Path, database: str) -> None:
    before = snapshot(large)
    on_a_full_disk("anonymize", "people.csv", *shlex.split(QI), "--database", database, "--into", "anon", cwd=large)
    assert snapshot(large).keys() - {"hospital.duckdb.wal"} == before.keys()
    assert ask("hospital.duckdb", "FROM anon") == [("old",)]
    assert len(ask("hospital.duckdb", "FROM people")) == 30_120


def test_a_full_disk_leaves_the_old_file_of_a_server(large: Path, postgres_dsn: str, make_table: Any) -> None:
    engine = ByHand.open(postgres_dsn)
    make_table(engine, "people", COLUMNS, [(f"p{i}", *PEOPLE[i % 120][1:3], f"ill{i}") for i in range(30_000)])
    engine.close()
    before = snapshot(large)
    options = ["--database", postgres_dsn, *shlex.split(QI), "--keep", "disease", "--output", "old.csv"]
    on_a_full_disk("anonymize", "people", *options, cwd=large)
    assert snapshot(large) == before


# Killed processes, locked databases


SLOW = """
import sys, time
from kanon_sql.release import findings as release
def wait(*_, **__):
    print("written", flush=True)
    time.sleep(600)
release.summarize = wait  # the release is written, and not yet verified
from kanon_sql.cli import main
main()
"""


def killed_while_it_writes(*arguments: str, cwd: Path) -> None:
    line = [sys.executable, "-c", SLOW, *arguments, "--overwrite"]
    with subprocess.Popen(line, cwd=cwd, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "written\n"
        process.kill()


@pytest.mark.parametrize("target", ["old.csv", "old.parquet"])
@pytest.mark.slow
def test_a_killed_process_leaves_the_old_file(ward: Path, target: str) -> None:
    before = snapshot(ward)
    killed_while_it_writes("anonymize", "people.csv", *shlex.split(QI), "--output", target, cwd=ward)
    after = snapshot(ward)
    assert {name: after[name] for name in before} == before
    left = {Path(name).parts[0] for name in after.keys() - before.keys()}
    assert len(left) == 1, "one folder of ours, which the next run can tell"
    assert all(abandoned(ward / name) for name in left)
    Path("old.csv").unlink()
    read = json.loads(done("anonymize", "*.csv", *shlex.split(QI), "--output", "new.parquet", "--json"))["rows"]
    assert read == len(PEOPLE), "no later run takes what was left for a source"


@pytest.mark.parametrize("form", ["table", "view"])
@pytest.mark.slow
def test_a_killed_process_leaves_the_old_table(ward: Path, form: str) -> None:
    before = tables("hospital.duckdb")
    options = [*shlex.split(QI), "--keep", "disease", "--database", "hospital.duckdb", "--into", "anon", "--as", form]
    killed_while_it_writes("anonymize", "people", *options, cwd=ward)
    assert tables("hospital.duckdb") == before
    assert ask("hospital.duckdb", "FROM anon") == [("old",)]
    manifest = json.loads(done("anonymize", "people", *options, "--overwrite", "--json"))
    assert texts(ask("hospital.duckdb", "FROM anon")) == texts(released(manifest["node"], 5))


def test_a_killed_process_leaves_the_old_table_of_a_server(ward: Path, postgres_dsn: str, make_table: Any) -> None:
    engine = ByHand.open(postgres_dsn)
    make_table(engine, "people", COLUMNS, PEOPLE)
    make_table(engine, "anon", {"old": "VARCHAR"}, [("old",)])
    mark(engine, "anon")
    engine.close()
    before = tables(postgres_dsn)
    options = [*shlex.split(QI), "--database", postgres_dsn, "--into", "anon"]
    killed_while_it_writes("anonymize", "people", *options, cwd=ward)
    assert ask(postgres_dsn, "SELECT * FROM anon") == [("old",)]
    assert tables(postgres_dsn) == before


@pytest.fixture
def locked(ward: Path) -> Iterator[str]:
    """The database, opened by another process."""
    holding = "import duckdb, sys; held = duckdb.connect('hospital.duckdb'); print(flush=True); sys.stdin.read()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", holding], cwd=ward, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        assert process.stdin
        process.stdout.readline()
        yield str(process.pid)
        process.stdin.close()


def test_a_database_in_use_is_named_with_who_uses_it(locked: str) -> None:
    for line in (
        f"{TABLE} {OUT}",
        f"{TABLE} --into anon --overwrite",
        "verify people --database hospital.duckdb --k 2",
    ):
        run = kanon(*shlex.split(line + " --quasi-identifiers age,zip"))
        assert (run.code, run.out, run.err.count("\n")) == (2, "", 1)
        assert "kanon: the database hospital.duckdb cannot be opened: " in run.err
        assert f"PID {locked}" in run.err
    assert not os.path.exists("out.csv")
