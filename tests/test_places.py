"""Every command that opens a database takes the same options, and unwritable places are reported in one sentence."""

import json
import shlex
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql import anonymize, profile, releases
from kanon_sql.cli.app import COMMANDS, command
from kanon_sql.errors import SourceError, SpecError
from support.command_line import ask, done, kanon

PEOPLE = """
SELECT 'p' || i AS name, 20 + i % 4 AS age, 'z' || i % 3 AS zip, 'ill' || i * 7 % 5 AS ill FROM RANGE(120) AS t(i)
"""
SPEC: dict[str, Any] = {
    "identifiers": ["name"],
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [2]}}, "zip": {"hierarchy": "suppress"}},
    "sensitive": ["ill"],
    "privacy": {"k": 3},
}
SHARED = {"--database", "--attach", "--memory-limit", "--threads", "--temp-directory"}
LIMITS = "--memory-limit 300MB --threads 1 --temp-directory spill"


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with duckdb.connect("office.duckdb") as connection:
        connection.execute(f"CREATE TABLE people AS {PEOPLE}")
        connection.execute("COPY people TO 'data' (FORMAT parquet, PARTITION_BY (age))")
    duckdb.connect("lake.duckdb").close()
    Path("spill").mkdir()
    Path("spec.json").write_text(json.dumps(SPEC))
    return tmp_path


def _flags(command: Any, name: str) -> dict[str, set[str]]:
    """The flags of a command, or of each in a group, by its name."""
    if hasattr(command, "commands"):
        return {k: v for item, sub in command.commands.items() for k, v in _flags(sub, f"{name} {item}").items()}
    return {name: {flag for parameter in command.params for flag in parameter.opts}}


def test_every_command_that_opens_a_database_takes_the_same_options() -> None:
    flags = {name: taken for item in COMMANDS for name, taken in _flags(command(item), item).items()}
    assert {"refresh", "releases list", "releases verify", "hierarchy build", "hierarchy check", "anonymize"} <= {
        *flags
    }
    for name, taken in flags.items():
        assert not taken & SHARED or taken >= SHARED, name


@pytest.mark.usefixtures("office")
def test_a_hierarchy_and_an_audit_trail_come_from_attached_files() -> None:
    done(*shlex.split(f"hierarchy build office.people --attach office.duckdb {LIMITS} --column zip --suppress "
                      "--output zip.csv"))  # fmt: skip
    output = done(*shlex.split(f"hierarchy check zip.csv office.people --attach office.duckdb {LIMITS}"))
    assert "zip.csv covers zip of office.people: 3 values, height 1" in output
    spec = {**SPEC, "source": "people", "database": "office.duckdb", "audit": True, "target": {"table": "anon"}}
    Path("nightly.json").write_text(json.dumps(spec))
    done("run", "nightly.json")
    with duckdb.connect("office.duckdb", read_only=True):  # what only reads works beside another reader
        shown = json.loads(
            done(*shlex.split(f"releases list office.kanon_releases --attach office.duckdb {LIMITS} --json"))
        )
        assert releases("kanon_releases", database="office.duckdb", threads=1)
    assert (shown["holds"], len(shown["rows"])) == (True, 1)
    assert kanon("refresh", "anon", *shlex.split(f"--database office.duckdb {LIMITS}")).code == 2
    with pytest.raises(SpecError, match="there is no option 'thread'; did you mean 'threads'"):
        releases("kanon_releases", database="office.duckdb", thread=1)  # type: ignore[call-arg]
    with duckdb.connect("office.duckdb") as connection:
        connection.execute("CREATE SCHEMA marts; CREATE TABLE marts.kanon_releases AS FROM kanon_releases")
        connection.execute("DROP TABLE kanon_releases")
        assert len(releases("kanon_releases", connection=connection).entries) == 1, "in the schema of a target"
        connection.execute("CREATE SCHEMA other; CREATE TABLE other.kanon_releases AS FROM marts.kanon_releases")
        with pytest.raises(SourceError, match=r"could be marts\.kanon_releases and other\.kanon_releases; write"):
            releases("kanon_releases", connection=connection)


@pytest.mark.usefixtures("office")
def test_partitions_of_a_glob_are_released_into_another_attached_file() -> None:
    options = "--spec spec.json --attach lake.duckdb --into lake.main.anon"
    done("anonymize", "data/*/*.parquet", *shlex.split(options))
    assert ask("lake.duckdb", "SELECT COUNT(*), COUNT(DISTINCT age), MIN(age) FROM anon") == [(120, 4, 20)]
    done(*shlex.split("verify lake.anon --attach lake.duckdb --quasi-identifiers age,zip --k 3"))
    with pytest.raises(Exception, match=r"no table peple in the database; did you mean office\.main\.people\?$"):
        profile("peple", database="lake.duckdb", attach={"office": "office.duckdb"})


@pytest.mark.usefixtures("office")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--output /proc/out.csv", "/proc/out.csv cannot be written: "),
        ("--output spec.json/out.csv", "there is no folder spec.json for out.csv; make it first"),
        ("--output out.csv --temp-directory spec.json", "there is no folder spec.json to spill to; check --temp-dir"),
        ("--output out.csv --temp-directory /proc", "/proc cannot be written to, so nothing can be spilled there ("),
    ],
)
def test_an_unwritable_place_is_reported_in_one_sentence(options: str, message: str) -> None:
    """In /proc nobody can make a file, root neither."""
    run = kanon(*shlex.split(f"anonymize people --database office.duckdb --spec spec.json {options}"))
    assert (run.code, run.out, run.err.count("\n")) == (2, "", 1)
    assert message in run.err
    assert not Path("out.csv").exists()


@pytest.mark.usefixtures("office")
def test_a_new_database_that_cannot_be_created_is_reported_in_one_sentence() -> None:
    run = kanon(*shlex.split("anonymize 'data/*/*.parquet' --spec spec.json --database /proc/new.duckdb --into anon"))
    assert (run.code, run.out, run.err.count("\n")) == (2, "", 1)
    assert run.err.startswith("kanon: /proc/new.duckdb cannot be written: ")
    release = anonymize("people", SPEC, database="office.duckdb")
    assert len(release.to_df()) == 120
