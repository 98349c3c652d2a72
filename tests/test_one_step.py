"""One step makes a release visible: everything that can fail precedes it, whoever else writes at the same time."""

import csv
import errno
import json
import os
import signal
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql import anonymize, cloak
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SourceError, TargetError
from kanon_sql.plan import source as sources
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import plan_release
from kanon_sql.release import exact_anatomy, perturb
from kanon_sql.release import publish as release
from kanon_sql.verbs import anatomize as anatomize_verb
from kanon_sql.verbs import manifest
from support.command_line import kanon

ILL = ("flu", "asthma", "acne")
ROWS = [(f"p{i}", 20 + i % 4, f"z{i % 3}{i % 2}", ILL[i % 3], 7 + i % 5 / 10, 46.5, 1000 + i) for i in range(120)]
HEADER = "name,age,zip,ill,x,y,at\n"
SPEC: dict[str, Any] = {
    "identifiers": ["name"],
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [2]}}, "zip": {"hierarchy": {"redact": "right"}}},
    "sensitive": ["ill"],
    "keep": "*",
    "privacy": {"k": 3},
}
ROLES = {"identifiers": ["name", "age", "zip", "ill"], "location": ["x", "y"], "time": "at", "unit": "name"}
CLOAKED: dict[str, Any] = {**ROLES, "privacy": {"k": 3}, "cloak": {"interval": 1000}}
KINDS: dict[str, dict[str, Any]] = {
    "search": SPEC,
    "local": {**SPEC, "strategy": "mondrian"},
    "anatomy": {**SPEC, "target": {"form": "anatomy"}},
    "exact": SPEC,
    "cloak": CLOAKED,
}
EXACT = {key: value for key, value in SPEC.items() if key != "privacy"}


def lines(rows: Sequence[Sequence[Any]] = ROWS) -> str:
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "people.csv").write_text(HEADER + lines())
    DuckDB().run(f"COPY (FROM '{tmp_path}/people.csv') TO '{tmp_path}/people.parquet'")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_release(kind: str, source: str = "people.csv", observer: Observer | None = None, **where: Any) -> Any:
    if kind == "exact":
        return anatomize_verb.anatomize(source, EXACT, l=3, **where)
    if kind == "cloak":
        return cloak(source, CLOAKED, observer=observer, **where)
    form = {"form": "anatomy"} if kind == "anatomy" else {}
    spec = {key: value for key, value in KINDS[kind].items() if key != "target"}
    return anonymize(source, spec, observer=observer, **form, **where)


def contents(folder: Path) -> dict[str, bytes | None]:
    return {path.name: path.read_bytes() if path.is_file() else None for path in folder.iterdir()}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# Everything that can fail comes before


def failing(*_: Any, **__: Any) -> Any:
    raise SourceError("the source is gone")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_failed_manifest_leaves_the_file_unchanged(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str, overwrite: bool
) -> None:
    if overwrite:
        (folder / "out.parquet").write_text("old")
    before = contents(folder)
    monkeypatch.setattr(manifest, "target_of", failing)
    monkeypatch.setattr("kanon_sql.verbs.cloak.describe", failing)
    with pytest.raises(SourceError, match="the source is gone"):
        write_release(kind, output="out.parquet", overwrite=overwrite)
    assert contents(folder) == before


@pytest.mark.parametrize("target", [["--output", "out.csv"], ["--database", "new.duckdb", "--into", "released"]])
def test_a_trace_that_cannot_be_written_leaves_no_release(folder: Path, target: list[str]) -> None:
    Path("spec.json").write_text(json.dumps({**SPEC, "source": "people.csv"}))
    (folder / "sealed").mkdir()
    before = contents(folder)
    watched = plan_release

    def with_a_folder_in_the_way(*args: Any) -> Any:
        (folder / "trace.jsonl").mkdir()
        return watched(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kanon_sql.verbs.anonymize.plan_release", with_a_folder_in_the_way)
        run = kanon("anonymize", "--spec", "spec.json", *target, "--trace", "trace.jsonl")
    assert (run.code, run.out) == (2, "")
    assert "trace.jsonl was created by another program meanwhile" in run.err
    (folder / "trace.jsonl").rmdir()
    assert contents(folder) == before


@pytest.mark.parametrize("kind", ["search", "cloak"])
def test_a_transaction_that_cannot_be_ended_leaves_no_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    before, close = contents(folder), DuckDB.close

    def broken(engine: DuckDB) -> None:
        close(engine)
        raise SourceError("the connection is lost")

    monkeypatch.setattr(DuckDB, "close", broken)
    with pytest.raises(SourceError, match="the connection is lost"):
        write_release(kind, output="out.csv")
    assert contents(folder) == before


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("source", "transactions"), [("people.csv", 0), ("people", 1)])
def test_only_tables_of_a_database_are_written_in_a_transaction(
    monkeypatch: pytest.MonkeyPatch, source: str, transactions: int
) -> None:
    begun, begin, database = [], DuckDB.transaction, {}
    if source == "people":
        database = {"connection": duckdb.connect()}
        database["connection"].execute("CREATE TABLE people AS FROM 'people.csv'")
    monkeypatch.setattr(DuckDB, "transaction", lambda engine: begun.append(engine) or begin(engine))
    write_release("search", source, output="out.csv", **database)
    assert len(begun) == transactions


# Two runs at once


AT_ONCE = """
import sys
from kanon_sql.release import perturb
from kanon_sql.release import findings as release
from kanon_sql.cli import main
summarize = release.summarize
def wait(*given, **named):
    release.summarize = summarize
    print(flush=True)
    sys.stdin.readline()
    return summarize(*given, **named)
release.summarize = wait
main()
"""


def at_once(*arguments: str, runs: int = 2) -> list[tuple[int, str]]:
    """The exit codes and errors of the same command, started twice: both have seen no target when they are let go."""
    pipe, line = subprocess.PIPE, [sys.executable, "-c", AT_ONCE, *arguments]
    processes = [subprocess.Popen(line, stdin=pipe, stdout=pipe, stderr=pipe, text=True) for _ in range(runs)]
    for process in processes:
        assert process.stdout
        process.stdout.readline()
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    ends = [process.communicate(timeout=120) for process in processes]
    return [(process.returncode, err) for process, (_, err) in zip(processes, ends, strict=True)]


@pytest.mark.parametrize(
    ("form", "_time"), [([], 1), ([], 2), ([], 3), (["--as", "anatomy"], 1), (["--as", "anatomy"], 2)]
)
@pytest.mark.slow
@pytest.mark.sampled
def test_one_of_two_concurrent_runs_to_a_new_file_succeeds(folder: Path, form: list[str], _time: int) -> None:
    Path("spec.json").write_text(json.dumps({**SPEC, "source": "people.csv"}))
    before = set(contents(folder))
    ends = at_once("anonymize", "--spec", "spec.json", "--output", "out.csv", *form)
    assert sorted(code for code, _ in ends) == [0, 2], ends
    ((_, err),) = [end for end in ends if end[0] == 2]
    assert "use --overwrite to replace it" in err
    beside = {"out.sensitive.csv", "out.csv.anatomy.json"} if form else set()
    assert set(contents(folder)) - before == {"out.csv", *beside}
    assert kanon("verify", "out.csv", "--quasi-identifiers", "age,zip", "--k", 3).code == 0


@pytest.mark.usefixtures("folder")
def test_a_run_that_comes_too_late_does_not_remove_the_database_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    open_source = sources.open_source

    def too_late(*args: Any) -> Any:
        line = "import duckdb; duckdb.connect('new.duckdb').execute('CREATE TABLE precious AS SELECT 1')"
        subprocess.run([sys.executable, "-c", line], check=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(duckdb, "connect", locked)
            return open_source(*args)

    def locked(*_: Any, **__: Any) -> Any:
        raise duckdb.IOException("Could not set lock on file")

    monkeypatch.setattr(sources, "open_source", too_late)
    with pytest.raises(SourceError, match="Could not set lock"):
        write_release("search", database="new.duckdb", into="released")
    assert duckdb.connect("new.duckdb").execute("FROM precious").fetchall() == [(1,)]


# Who may read what


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.sampled
def test_a_file_is_private_while_it_is_written_and_a_replaced_one_keeps_its_mode(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str, name: str
) -> None:
    read_written, seen = DuckDB.read_written, []

    def look(engine: DuckDB, path: Path, written_as: str) -> Any:
        seen.append((mode(path), mode(path.parent), path.stat().st_size > 0))
        return read_written(engine, path, written_as)

    monkeypatch.setattr(DuckDB, "read_written", look)
    before = set(contents(folder))
    umask = os.umask(0o002)
    try:
        write_release(kind, output=name)
        new = set(contents(folder)) - before
        assert {mode(folder / file) for file in new} == {0o664}
        for file in new:
            (folder / file).chmod(0o600)
        write_release(kind, output=name, overwrite=True)
        assert set(contents(folder)) - before == new
        assert {mode(folder / file) for file in new} == {0o600}
    finally:
        os.umask(umask)
    assert set(seen) == {(0o600, 0o700, True)}


@pytest.mark.parametrize("database", [None, "new.duckdb"])
def test_spilled_data_are_private_and_removed_at_the_end(folder: Path, database: str | None) -> None:
    engine = DuckDB.open(database, create=True) if database else DuckDB()
    engine.run("SET memory_limit = '30MB'")
    engine.run("CREATE TEMP TABLE spilled AS SELECT MD5(range::VARCHAR) AS secret FROM RANGE(1_000_000)")
    ((place,),) = engine.rows("SELECT CURRENT_SETTING('temp_directory')")
    assert any(path.stat().st_size for path in Path(place).iterdir()), "it did spill"
    assert mode(Path(place)) == 0o700
    if database:
        assert Path(place).parent == folder, "where there is room for the database"
    engine.close()
    del engine
    assert not Path(place).exists() or not any(Path(place).iterdir())


def test_a_program_with_the_database_open_keeps_its_spill_folder(folder: Path) -> None:
    with duckdb.connect("mine.duckdb") as mine:
        before = mine.execute("SELECT CURRENT_SETTING('temp_directory')").fetchall()
        write_release("search", database="mine.duckdb", into="released")
        assert mine.execute("SELECT CURRENT_SETTING('temp_directory')").fetchall() == before
        assert len(mine.execute("FROM released").fetchall()) > 0
    assert set(contents(folder)) == {"people.csv", "people.parquet", "mine.duckdb"}


# The two files of an anatomy


QI = ("--quasi-identifiers", "age,zip", "--k", 3)


def verified(name: str, *more: str) -> Any:
    return kanon("verify", name, *QI, *more)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("kind", ["anatomy", "exact"])
@pytest.mark.slow
def test_a_file_that_is_missing_or_changed_is_named(folder: Path, kind: str, name: str) -> None:
    out = folder / name
    release = write_release(kind, output=name)
    beside = Path(release.manifest["anatomy"]["sensitive"])
    if kind == "anatomy":
        assert verified(name).code == 0
    content = beside.read_bytes()
    for change, problem in (
        (lambda: beside.write_bytes(content[:-1]), f"{beside} has changed"),
        (beside.unlink, f"{beside} is missing"),
    ):
        change()
        run = verified(name)
        assert (run.code, run.err) == (1, "")
        assert f"failed: {problem}: the files do not match {name}.anatomy.json" in run.out
        assert json.loads(verified(name, "--json").out)["problem"].startswith(problem)
    beside.write_bytes(content)
    out.rename("elsewhere")
    assert verified(name).code == 1
    assert f"{name} is missing" in verified(name).out
    Path(f"{name}.anatomy.json").write_text("[")
    assert f"{name}.anatomy.json cannot be read" in verified(name).out


@pytest.mark.usefixtures("folder")
@pytest.mark.slow
def test_another_kind_of_release_passed_as_the_rows_is_attacked_alone() -> None:
    write_release("anatomy", output="out.csv")
    write_release("search", output="out.csv", overwrite=True)
    assert verified("out.csv").code == 0


def test_the_file_that_names_both_is_replaced_only_on_request(folder: Path) -> None:
    Path("out.csv.anatomy.json").write_text("theirs")
    with pytest.raises(TargetError, match=r"out.csv.anatomy.json exists already; use `overwrite=True`"):
        write_release("anatomy", output="out.csv")
    assert set(contents(folder)) == {"people.csv", "people.parquet", "out.csv.anatomy.json"}


KILLED = """
import os, sys, signal
from pathlib import Path
left = [int(sys.argv.pop(1))]
def counted(place):
    def instead(source, target, **how):
        if not str(source).endswith("-old") and not str(target).endswith("-old"):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return place(source, target, **how)
    return instead
os.link, os.replace = counted(os.link), counted(os.replace)
from kanon_sql.cli import main
main()
"""


@pytest.mark.parametrize(("steps", "overwrite"), [(0, True), (1, False), (1, True), (2, True), (3, False), (3, True)])
@pytest.mark.slow
def test_a_killed_run_leaves_no_two_files_that_do_not_match(folder: Path, steps: int, overwrite: bool) -> None:
    """Killed before the first, second or third of the renames, or not at all."""
    if overwrite:
        write_release("anatomy", output="out.csv")
        (folder / "people.csv").write_text(
            HEADER + lines([(row[0], row[1] + 4, row[2], ILL[row[6] % 2], *row[4:]) for row in ROWS])
        )
    Path("spec.json").write_text(json.dumps({**SPEC, "source": "people.csv"}))
    options = ["--spec", "spec.json", "--output", "out.csv", "--as", "anatomy", *(["--overwrite"] * overwrite)]
    run = subprocess.run([sys.executable, "-c", KILLED, str(steps), "anonymize", *options], check=False)
    assert run.returncode == (0 if steps == 3 else -signal.SIGKILL)
    whole = steps == 3 or (overwrite and steps == 0)
    if not whole and not overwrite:
        assert not Path("out.csv").exists(), "the rows come last, and make it visible"
    assert (verified("out.csv").code == 0) is whole
    if whole:
        rows, counts = (Counter(shown(name)) for name in ("out.csv", "out.sensitive.csv"))
        assert rows == counts


def shown(name: str) -> list[str]:
    """The group of every row, and as often as it is counted."""
    with open(name, newline="") as file:
        return [row["group_id"] for row in csv.DictReader(file) for _ in range(int(row.get("count", 1)))]


@pytest.mark.parametrize("failing", range(3))
def test_a_step_that_fails_leaves_the_existing_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    write_release("anatomy", output="out.csv")
    before, replace, left = contents(folder), os.replace, [failing]

    def refuse(source: Any, target: Any) -> None:
        left[0] -= 1
        if left[0] == -1:
            raise OSError(errno.EIO, "Input/output error")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(TargetError, match="cannot be written: Input/output error"):
        write_release("anatomy", output="out.csv", overwrite=True, seed=5, k=4)
    assert left[0] < 0
    assert contents(folder) == before


# A source that changes while it is read


def appended(source: Path) -> None:
    with source.open("a") as file:
        file.write(lines([("late", 99, "z99", "flu", 7.1, 46.5, 1001)]))


def swapped(source: Path) -> None:
    """Another file under the name, of the same rows and bytes."""
    source.with_name("other").write_bytes(source.read_bytes())
    os.replace(source.with_name("other"), source)


def truncated(source: Path) -> None:
    source.write_text(HEADER + lines(ROWS[:-10]))


def joined(source: Path) -> None:
    """One file more for the glob."""
    source.with_name(f"people_2{source.suffix}").write_bytes(source.read_bytes())


def removed(source: Path) -> None:
    source.unlink()


CHANGES: list[Callable[[Path], None]] = [appended, swapped, truncated, joined, removed]


CASES = [(kind, change, ".csv", "file") for kind in KINDS for change in CHANGES]
CASES += [(kind, change, ".csv", "table") for kind in KINDS for change in (appended, joined)]
CASES += [(kind, swapped, ".parquet", target) for kind in KINDS for target in ("file", "table")]


@pytest.mark.parametrize(("kind", "change", "suffix", "target"), CASES)
@pytest.mark.sampled
def test_a_source_that_changes_while_it_is_read_stops_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str, change: Callable[[Path], None], suffix: str, target: str
) -> None:
    """The change comes when the rows are counted, and the release is about to be written."""
    source = folder / f"people{suffix}"
    for other in {".csv", ".parquet"} - {suffix}:
        (folder / f"people{other}").unlink()
    changed: list[dict[str, Any]] = []

    def meddle() -> None:
        if not changed:
            change(source)
            changed.append(contents(folder))

    def before(module: Any, name: str) -> None:
        write = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *args, **how: (meddle(), write(*args, **how))[1])

    before(release, "_publish_tables")
    before(release, "_publish_files")
    before(import_module("kanon_sql.cloak"), "judge")
    before(perturb, "perturbed_source")
    before(exact_anatomy, "deal")
    where = {"output": "out.parquet"} if target == "file" else {"database": "new.duckdb", "into": "released"}
    with pytest.raises(SourceError, match=r"people\*.* changed while it was read, and nothing was released; run again"):
        write_release(kind, f"people*{suffix}", **where)
    ((after,),) = [changed]
    assert contents(folder) == {
        name: content for name, content in after.items() if not name.startswith((".kanon-", "new.duckdb"))
    }


@pytest.mark.parametrize("stage", ["Counting the distinct tuples", "Searching the lattice", "Describing the release"])
def test_a_change_is_seen_at_every_stage(folder: Path, stage: str) -> None:
    def meddle(reached: str) -> None:
        if reached == stage:
            swapped(folder / "people.csv")

    before = set(contents(folder))
    with pytest.raises(SourceError, match=r"people.csv changed while it was read, and nothing was released; run again"):
        write_release("search", observer=Observer(stage=meddle), output="out.csv")
    assert set(contents(folder)) == before


def test_rows_added_to_a_view_of_files_are_noticed(folder: Path) -> None:
    """The database knows a view, and not the file that the view reads."""
    duckdb.connect("hospital.duckdb").execute("CREATE VIEW people AS FROM 'people.csv'").close()

    def meddle(reached: str) -> None:
        if reached == "Writing the release":
            appended(folder / "people.csv")

    with pytest.raises(SourceError, match="has 120 rows and people 121; the source changed while it was read"):
        write_release("search", "people", Observer(stage=meddle), database="hospital.duckdb", output="out.csv")
    assert not Path("out.csv").exists()
