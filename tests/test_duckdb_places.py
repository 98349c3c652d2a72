"""Several DuckDB files and other processes, hive-partitioned Parquet, and the limits of a run."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql import anonymize, profile, verify
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SourceError, SpecError, TargetError
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.source import opened_source
from kanon_sql.spec import Limits, Session, parse
from support.command_line import ask, done, kanon
from support.ward import snapshot

PEOPLE = """
SELECT 'p' || i AS name, 20 + i % 4 AS age, 'z' || i % 3 AS zip, 'ill' || i * 7 % 5 AS ill FROM RANGE(120) AS t(i)
"""
RECIPES = {"age": {"hierarchy": {"ranges": [2]}}, "zip": {"hierarchy": {"redact": "right"}}}
SPEC: dict[str, Any] = {"identifiers": ["name"], "quasi_identifiers": RECIPES, "sensitive": ["ill"], "k": 3}
QI = "--identifiers name --quasi-identifiers age,zip --k 3"
CLASSES = {"quasi_identifiers": ["age", "zip"], "k": 3}


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with people in a schema of office.duckdb, and an empty lake.duckdb."""
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("office.duckdb") as connection:
        connection.execute("CREATE SCHEMA hr")
        connection.execute(f"CREATE TABLE hr.people AS {PEOPLE}")
    duckdb.connect("lake.duckdb").close()
    Path("spec.json").write_text(json.dumps({key: value for key, value in SPEC.items() if key != "k"}))
    return tmp_path


# Files attached to each other


@pytest.mark.parametrize("form", ["table", "anatomy"])
@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.usefixtures("office")
@pytest.mark.capability("a target in another attached file")
def test_a_source_in_one_attached_file_and_a_target_in_another(form: str, read_only: bool) -> None:
    with duckdb.connect() as mine:
        mine.execute(f"ATTACH 'office.duckdb' AS office{' (READ_ONLY)' * read_only}")
        mine.execute("ATTACH 'lake.duckdb' AS lake")
        release = anonymize("office.hr.people", _spec(), connection=mine, into="lake.main.anon", form=form)
        assert release.manifest["released_rows"] == len(mine.execute("FROM lake.anon").fetchall()) == 120
        assert verify("lake.anon", connection=mine, **CLASSES).holds
        assert release.verify().holds
    assert "anon" in {name for name, _ in _tables("lake.duckdb")}
    assert _tables("office.duckdb") == [("people", "BASE TABLE")]


def test_the_command_line_attaches_files_and_writes_to_the_named_one(office: Path) -> None:
    before = (office / "office.duckdb").read_bytes()
    places = "--attach office.duckdb --attach lake.duckdb:archive"
    done(*shlex.split(f"anonymize office.hr.people {places} --spec spec.json --k 3 --into archive.main.anon"))
    assert (office / "office.duckdb").read_bytes() == before
    done(*shlex.split("verify archive.anon --attach lake.duckdb:archive --quasi-identifiers age,zip --k 3"))
    view = "--database office.duckdb --attach lake.duckdb --spec spec.json --k 3"
    done(*shlex.split(f"anonymize hr.people {view} --into seen --as view"))
    assert len(ask("office.duckdb", "FROM seen")) == 120
    done(*shlex.split(f"verify seen {view.partition(' --spec')[0]} --quasi-identifiers age,zip --k 3"))
    run = kanon(*shlex.split(f"anonymize hr.people {view} --into lake.seen --as view"))
    assert (run.code, run.err.count("\n")) == (2, 1)
    assert "a view in lake could read office.hr.people only where both files are attached by these names" in run.err
    assert "use --as table" in run.err
    assert _tables("lake.duckdb") == [("anon", "BASE TABLE")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--attach nope.duckdb", "there is no database file nope.duckdb; check the path"),
        ("--attach spec.json", "spec.json is not a DuckDB database"),
        ("--attach lake.duckdb:hr", "hr is a schema or database already; attach lake.duckdb by another name"),
        ("--attach lake.duckdb --attach old/lake.duckdb", "two files are called lake; rename one"),
        ("--attach 'md:?motherduck_token=s3cret'", "neither a DuckDB file nor a PostgreSQL or Spark server"),
    ],
)
def test_unattachable_files_are_reported_in_one_sentence(office: Path, options: str, message: str) -> None:
    before = snapshot(office)
    run = kanon(*shlex.split(f"verify hr.people --database office.duckdb {options} --quasi-identifiers age"))
    assert (run.code, run.out, run.err.count("\n")) == (2, "", 1)
    assert message in run.err
    assert "s3cret" not in run.err
    assert snapshot(office) == before


@pytest.mark.usefixtures("office")
@pytest.mark.capability("an early error if the target is not writable")
def test_a_target_in_a_file_that_is_only_read_is_refused_before_any_work() -> None:
    with duckdb.connect() as mine:
        mine.execute("ATTACH 'office.duckdb' AS office (READ_ONLY)")
        reached: list[str] = []
        watch = Observer(reached.append)
        with pytest.raises(TargetError, match=r"^the database office is open to be read only.* attach it for writing"):
            anonymize("office.hr.people", _spec(), connection=mine, into="office.anon", observer=watch)
        assert "Searching the lattice" not in reached


def _spec() -> dict[str, Any]:
    return {**{key: value for key, value in SPEC.items() if key != "k"}, "privacy": {"k": 3}}


def _tables(database: str) -> list[tuple[Any, ...]]:
    listed = ask(database, "SELECT table_name, table_type FROM information_schema.tables")
    return sorted(item for item in listed if "__" not in item[0])


# Hive-partitioned Parquet


@pytest.mark.usefixtures("office")
@pytest.mark.capability("hive-partitioned Parquet and globs as the source")
def test_the_partitions_of_parquet_files_are_ordinary_columns() -> None:
    """Their values stand in the names of folders alone."""
    parted = "COPY (FROM hr.people) TO 'people' (FORMAT parquet, PARTITION_BY (age, zip))"
    ask("office.duckdb", parted)
    release = anonymize("people/**/*.parquet", _spec(), output="out.parquet")
    assert release.manifest["rows"] == release.manifest["released_rows"] == 120
    assert set(release.to_df().columns) == {"age", "zip", "ill"}
    assert verify("out.parquet", **CLASSES).holds
    with duckdb.connect("lake.duckdb") as mine:
        mine.execute("CREATE VIEW people AS FROM READ_PARQUET('people/**/*.parquet', hive_partitioning = TRUE)")
    released = anonymize("people", _spec(), database="lake.duckdb", into="seen", form="view", strategy="mondrian")
    assert released.verify().holds
    assert len(ask("lake.duckdb", "FROM seen")) == 120


# With other processes


@contextmanager
def held(database: str, read_only: bool) -> Iterator[int]:
    """Another process that has a database open."""
    opened = f"held = duckdb.connect({database!r}, read_only={read_only})"
    holding = f"import duckdb, sys; {opened}; print(flush=True); sys.stdin.read()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", holding], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        assert process.stdin
        process.stdout.readline()
        yield process.pid
        process.stdin.close()


READERS = [
    "verify hr.people {0} --quasi-identifiers age --k 3",
    "profile hr.people {0}",
    "risk hr.people {0} --quasi-identifiers age,zip",
    "utility out.csv hr.people {0} --spec spec.json --queries 20",
    "attack out.csv --source hr.people {0} --spec spec.json --only homogeneity",
    "compare hr.people {0} --spec spec.json --k 3 --strategies ola",
    "explain hr.people {0} --spec spec.json --k 3",
    "lattice hr.people {0} --spec spec.json --k 3 --output lattice.svg",
]


@pytest.mark.slow
@pytest.mark.nightly
def test_reading_verbs_work_next_to_another_reader(office: Path) -> None:
    reading, before = "--database office.duckdb", (office / "office.duckdb").read_bytes()
    with held("office.duckdb", read_only=True) as process:
        done(*shlex.split(f"anonymize hr.people {reading} --spec spec.json --k 3 --output out.csv"))
        for line in READERS:
            done(*shlex.split(line.format(reading)))
        assert kanon_sql.search("hr.people", {**_spec(), "database": "office.duckdb"}).node
        run = kanon(*shlex.split(f"anonymize hr.people {reading} --spec spec.json --k 3 --into anon"))
        assert (run.code, run.err.count("\n")) == (2, 1)
        assert f"PID {process}) has it open to read; end that process, or write to a file with --output" in run.err
    assert (office / "office.duckdb").read_bytes() == before
    assert {path.name for path in office.iterdir()} == {
        "office.duckdb", "lake.duckdb", "spec.json", "out.csv", "lattice.svg"
    }  # fmt: skip


@pytest.mark.usefixtures("office")
def test_a_file_in_use_by_another_process_is_reported_in_one_sentence() -> None:
    with held("office.duckdb", read_only=False) as process:
        for place in ("hr.people --database office.duckdb", "office.hr.people --attach office.duckdb"):
            run = kanon(*shlex.split(f"profile {place}"))
            assert (run.code, run.out, run.err.count("\n")) == (2, "", 1)
            assert f"PID {process}) has it open for writing; end that process, or read a copy of the file" in run.err


@pytest.mark.usefixtures("office")
def test_a_program_that_writes_to_a_database_can_share_it() -> None:
    with duckdb.connect("office.duckdb") as mine:
        mine.execute("CREATE TABLE people AS FROM hr.people")
        assert profile("people", database="office.duckdb").rows == 120
        mine.execute("DROP TABLE people")
    refused = pytest.raises(TargetError, match="the database office is open to be read only")
    with duckdb.connect("office.duckdb", read_only=True), refused:
        anonymize("hr.people", _spec(), database="office.duckdb", into="anon")


@pytest.mark.parametrize("verb", ["profile", "verify --quasi-identifiers age", "risk --quasi-identifiers age"])
def test_a_wrong_name_creates_no_file(office: Path, verb: str) -> None:
    before = snapshot(office)
    run = kanon(*shlex.split(f"{verb} hr.people --database ofice.duckdb"))
    assert (run.code, run.err) == (2, "kanon: there is no database file ofice.duckdb; check the path\n")
    assert snapshot(office) == before


# A table that is missing


@pytest.mark.capability("a hint at other schemas if a table is missing")
def test_a_missing_table_is_searched_for_in_other_schemas(engine: Engine, make_table: Any) -> None:
    table = make_table(engine, "customers", {"age": "INTEGER"}, [(1,)])
    with pytest.raises(SourceError, match=r"no table custmers in the database; did you mean \S*customers\?$"):
        _find(engine, "custmers")
    with pytest.raises(SourceError, match="no table elephant in the database; check its name, or its schema"):
        _find(engine, "elephant")
    other = f"other_{table.relation.parts[-2]}"
    engine.run(f"CREATE SCHEMA {other}")
    engine.run(f"CREATE TABLE {other}.orders AS SELECT 1 AS age")
    try:
        with pytest.raises(SourceError, match=rf"no table orders in the database; did you mean {other}\.orders\?$"):
            _find(engine, "orders")
    finally:
        engine.run(f"DROP SCHEMA {other} CASCADE")


@pytest.mark.usefixtures("office")
def test_a_missing_table_is_searched_for_in_attached_databases() -> None:
    run = kanon("profile", "people", "--database", "lake.duckdb", "--attach", "office.duckdb")
    assert run.err == "kanon: there is no table people in the database; did you mean office.hr.people?\n"
    run = kanon("profile", "people", "--database", "office.duckdb")
    assert run.err == "kanon: there is no table people in the database; did you mean hr.people?\n"


def _find(engine: Engine, name: str) -> None:
    with opened_source(name, connection=engine.connection):  # type: ignore[attr-defined]
        pass


# Limits


LIMITED: dict[str, Any] = {"memory_limit": "300MB", "threads": 1}
IN_FORCE = "SELECT CURRENT_SETTING('memory_limit'), CURRENT_SETTING('threads'), CURRENT_SETTING('temp_directory')"


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What every DuckDB that a run opens may take, as it says when it starts."""
    seen: list[tuple[Any, ...]] = []
    make = DuckDB.__init__

    def noting(engine: DuckDB, *given: Any, **how: Any) -> None:
        make(engine, *given, **how)
        seen.append((engine, given))

    monkeypatch.setattr(DuckDB, "__init__", noting)
    return seen


def in_force(engines: list[tuple[Any, ...]]) -> set[tuple[Any, ...]]:
    found = set()
    for engine, _ in engines:
        try:
            found.update(engine.connection.execute(IN_FORCE).fetchall())
        except duckdb.ConnectionException:
            continue  # closed meanwhile
    return found


@pytest.mark.parametrize("strategy", ["auto", "mondrian"])
def test_every_embedded_engine_of_a_run_keeps_to_the_limits(
    office: Path, settings: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    monkeypatch.setattr(DuckDB, "close", lambda engine: seen.update(in_force([(engine, ())])))
    seen: set[tuple[Any, ...]] = set()
    (office / "spill").mkdir()
    spec = {**_spec(), **LIMITED, "database": "office.duckdb", "temp_directory": str(office / "spill")}
    anonymize("hr.people", spec, output="out.csv", strategy=strategy)
    assert len(settings) > 1
    found = seen | in_force(settings)
    assert {(memory, threads) for memory, threads, _ in found} == {("286.1 MiB", 1)}
    assert {Path(folder).parent for *_, folder in found} == {office / "spill"}


def test_the_second_engine_of_a_server_keeps_to_the_limits(
    settings: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch, postgres: Any, make_table: Any
) -> None:
    monkeypatch.setattr(DuckDB, "close", lambda _: None)
    make_table(postgres, "people", {"age": "INTEGER", "zip": "VARCHAR"}, [(20 + i % 4, f"z{i % 3}") for i in range(60)])
    spec = {"quasi_identifiers": RECIPES, "keep": [], "privacy": {"k": 3}, **LIMITED}
    release = anonymize("people", spec, connection=postgres.connection)
    assert len(release.to_df()) == 60
    assert {(memory, threads) for memory, threads, _ in in_force(settings)} == {("286.1 MiB", 1)}


@pytest.mark.usefixtures("office")
def test_a_connection_of_the_callers_keeps_its_own_limits() -> None:
    with duckdb.connect("office.duckdb") as mine:
        before = mine.execute(IN_FORCE).fetchall()
        with pytest.raises(SpecError, match=r"do not go with a DuckDB connection of your own; set them there"):
            profile("hr.people", connection=mine, **LIMITED)
        with pytest.raises(SpecError, match=r"attach the files to it, and leave it out"):
            profile("hr.people", connection=mine, attach={"lake": "lake.duckdb"})
        assert mine.execute(IN_FORCE).fetchall() == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"memory_limit": "much"}, "memory_limit: give a number and a unit such as 2GB, not 'much'"),
        ({"threads": 0}, "threads: give a whole number of at least 1, not 0"),
        ({"temp_directory": "nowhere"}, "there is no folder nowhere to spill to"),
    ],
)
@pytest.mark.usefixtures("office")
def test_invalid_limits_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        profile("hr.people", database="office.duckdb", **options)


@pytest.mark.capability("a source larger than the memory limit (spilled to disk)")
def test_a_table_larger_than_the_memory_is_spilled_and_released(office: Path) -> None:
    (office / "spill").mkdir()
    name = "MD5(i::VARCHAR) || MD5((i + 1)::VARCHAR)"
    rows = f"SELECT {name} AS name, 20 + i % 4 AS age, 'z' || i % 3 AS zip FROM RANGE(300_000) AS t(i)"
    ask("", f"COPY ({rows}) TO 'people.csv'")
    spilled: dict[str, int] = {}

    def look(stage: str) -> None:
        spilled[stage] = sum(path.stat().st_size for path in (office / "spill").rglob("*") if path.is_file())

    limits = {"memory_limit": "24MB", "threads": 1, "temp_directory": "spill"}
    spec = {"identifiers": ["name"], "quasi_identifiers": RECIPES, "keep": [], "privacy": {"k": 3}}
    release = anonymize("people.csv", spec, observer=Observer(look), output="out.parquet", **limits)
    assert release.manifest["rows"] == 300_000
    assert max(spilled.values()) > 1_000_000, "it did spill"
    assert not any(path.is_file() for path in (office / "spill").rglob("*"))


def test_the_spec_names_what_to_open_without_printing_it() -> None:
    spec = parse({**_spec(), "source": "t", "database": "a.duckdb", "attach": {"b": "b.duckdb"}, "threads": 2})
    assert spec.session == Session("a.duckdb", {"b": "b.duckdb"}, Limits(threads=2))
    assert "duckdb" not in repr(spec) + repr(spec.session)
    assert not os.path.exists("a.duckdb")
