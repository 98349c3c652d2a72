"""Two concurrent processes that add to one audit trail: one after the other, or one is told that it lost."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

import kanon_sql
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import KanonError
from kanon_sql.plan.observer import Observer
from support.database import create_table

OTHER = """
import sys
import kanon_sql
from kanon_sql.plan.observer import Observer

def stage(name):
    if name == "Describing the release":
        print("staged", flush=True)
        sys.stdin.readline()

for k in sys.argv[2:]:
    try:
        kanon_sql.run(sys.argv[1], vars={"K": k}, observer=Observer(stage))
        print("done", flush=True)
    except kanon_sql.KanonError as error:
        print(error, flush=True)
"""
SPEC = """
source: {source}
quasi_identifiers: {{age: {{hierarchy: {{ranges: [10, 20]}}}}}}
keep: []
privacy:
  k: ${{K}}
audit: true
differencing_limit: unlimited
target: {{{target}}}
"""
AGES = [(20 + i % 40,) for i in range(80)]


def specs(folder: Path, source: str, *targets: str, more: str = "") -> tuple[Path, Path]:
    """Two specs in folders of their own, which no lock is shared by."""
    paths = folder / "one" / "one.yml", folder / "two" / "two.yml"
    for path, target in zip(paths, targets, strict=True):
        path.parent.mkdir()
        path.write_text(SPEC.format(source=source, target=target) + more)
    return paths


@contextmanager
def another(spec: Path, *ks: str) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    line = [sys.executable, "-c", OTHER, str(spec), *ks]
    with subprocess.Popen(line, stdin=pipe, stdout=pipe, text=True) as process:
        yield process
        assert process.stdin
        process.stdin.close()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def ran(spec: Path, k: str, when_staged: Callable[[], None]) -> str:
    """Run in this process; what it said, or that it is done."""
    try:
        observer = Observer(lambda name: when_staged() if name == "Describing the release" else None)
        kanon_sql.run(spec, vars={"K": k}, observer=observer)
    except KanonError as error:
        return str(error)
    return "done"


def at_once(here: Path, k: str, process: subprocess.Popen[str]) -> tuple[str, str]:
    """Let both go on when both have staged their release; what either said."""

    def when_staged() -> None:
        assert heard(process) == "staged"
        go_on(process)

    return ran(here, k, when_staged), heard(process)


@pytest.mark.capability("a pipeline step that renews changed releases (`kanon run`)")
@pytest.mark.slow
def test_the_second_process_on_a_server_reports_why_it_adds_no_row(
    postgres: PostgreSQL, postgres_dsn: str, tmp_path: Path
) -> None:
    create_table(postgres, "people", {"age": "INTEGER"}, AGES)
    where = f'database: "{postgres_dsn}"\n'
    one, two = specs(tmp_path, "people", "table: anon_one", "table: anon_two", more=where)
    rows = 0
    with another(two, "3", "4") as process:
        for k in ("3", "4"):  # the first two make the table of the trail, the others add to it
            outcomes = at_once(one, k, process)
            assert sorted(item == "done" for item in outcomes) == [False, True]
            (lost,) = (item for item in outcomes if item != "done")
            assert re.match(r"kanon_(copies|releases) takes no .*, and nothing was released .* run again", lost)
            assert "\n" not in lost
            rows += 1
            trail = kanon_sql.releases("kanon_releases", database=postgres_dsn)
            assert (bool(trail), len(trail.entries)) == (True, rows)
    loser = one if outcomes[0] != "done" else two
    assert ran(loser, "4", lambda: None) == "done"
    assert kanon_sql.releases("kanon_releases", database=postgres_dsn)


@pytest.mark.slow
def test_the_second_process_on_a_database_file_learns_who_uses_it(tmp_path: Path) -> None:
    database = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(database)) as connection:
        connection.execute("CREATE TABLE people AS SELECT 20 + i % 40 AS age FROM range(80) AS t(i)")
    one, two = specs(tmp_path, "people", "table: one", "table: two", more=f"database: {database}\n")
    with another(two, "3") as process:
        assert heard(process) == "staged"
        run = ran(one, "3", lambda: None)
        assert f"PID {process.pid}) has it open" in run
        assert "\n" not in run
        go_on(process)
        assert heard(process) == "done"
    assert ran(one, "3", lambda: None) == "done"
    trail = kanon_sql.releases("kanon_releases", database=database)
    assert (bool(trail), [entry.release for entry in trail.entries]) == (True, ["two", "one"])


@pytest.mark.slow
def test_two_processes_add_to_a_file_one_after_the_other(tmp_path: Path) -> None:
    source = tmp_path / "people.csv"
    source.write_text("age\n" + "".join(f"{age}\n" for (age,) in AGES))
    one, two = specs(tmp_path, str(source), f"file: {tmp_path}/one.csv", f"file: {tmp_path}/two.csv")
    with another(two, "3") as process:
        assert at_once(one, "3", process) == ("done", "done")
    trail = kanon_sql.releases(tmp_path / "kanon_releases.jsonl")
    assert (bool(trail), sorted(entry.release for entry in trail.entries)) == (True, ["one", "two"])
