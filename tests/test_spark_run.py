"""`kanon run` with a Spark target: what is recreated and why, what is compared, and what a run leaves behind.

The tables are those of a server of its own, since a run opens a session by the URL.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.spark import Spark
from kanon_sql.errors import DifferencingError, KanonError, SourceError, SpecError
from kanon_sql.release import tables
from support.database import create_table

pytestmark = pytest.mark.spark
TYPES = {"name": "VARCHAR", "age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR"}
PEOPLE = [(f"p{i}", 20 + i % 4 * 10, ["1200", "1300"][i % 2], "xyz"[i % 3]) for i in range(48)]
SPEC: dict[str, Any] = {
    "source": "night.people",
    "identifiers": ["name"],
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [10, 20]}}, "zip": {"hierarchy": {"redact": "right"}}},
    "keep": ["ill"],
    "privacy": {"k": 3},
    "target": {"table": "night.anon"},
}


@pytest.fixture
def cluster(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Spark]:
    """A session of a server with a table of people, whose spec in the current folder names it by its URL."""
    if "sail" not in request.config.getoption("--engines").split(","):
        pytest.skip("needs Sail; add sail to --engines")
    url = request.getfixturevalue("sail_url")
    monkeypatch.chdir(tmp_path)
    session = Spark.open(url)
    monkeypatch.setattr(Spark, "open", classmethod(lambda *_: session))
    monkeypatch.setattr(Spark, "close", lambda _: None)
    session.connection.conf.set("spark.sql.warehouse.dir", str(tmp_path / "warehouse"))
    session.run("CREATE DATABASE night")
    session.connection.catalog.setCurrentDatabase("night")
    session.schema = "night"
    create_table(session, "people", TYPES, PEOPLE)
    write_spec(database=url)
    yield session
    session.connection.catalog.setCurrentDatabase("default")
    session.run("DROP DATABASE night CASCADE")
    session.connection.stop()


def write_spec(**other: Any) -> None:
    before = json.loads(Path("release.json").read_text()) if Path("release.json").exists() else SPEC
    Path("release.json").write_text(json.dumps({**before, **other}))


def ran(**how: Any) -> tuple[str, tuple[str, ...]]:
    (done,) = kanon_sql.run("release.json", **how).releases
    return done.status, done.why


def rows_of(cluster: Spark) -> list[tuple[Any, ...]]:
    return sorted(cluster.rows("SELECT * FROM night.anon"))


def names(cluster: Spark) -> set[str]:
    return {table.name for table in cluster.connection.catalog.listTables()}


def manifest() -> dict[str, Any]:
    known: dict[str, Any] = json.loads(Path(".kanon/release.json").read_text())["releases"][0]
    return known


@pytest.mark.capability("a pipeline step that renews changed releases (`kanon run`)")
def test_a_run_releases_skips_and_compares(cluster: Spark) -> None:
    assert ran(lineage="events.jsonl") == ("released", ("there is no release yet",))
    _, complete = map(json.loads, Path("events.jsonl").read_text().splitlines())
    (source,), (target,) = complete["inputs"], complete["outputs"]
    assert re.fullmatch(r"sc://[\w.]+:\d+", source["namespace"])
    assert source["name"].rpartition(".")[0] == target["name"].rpartition(".")[0]
    first, node = rows_of(cluster), manifest()["node"]
    assert ran()[0] == "unchanged"
    cluster.run("INSERT INTO people VALUES ('one', 20, '1200', 'x')")
    with pytest.raises(
        DifferencingError, match=r"anon was left as it was: together with it .* would single out 1 person"
    ):
        ran()
    assert rows_of(cluster) == first
    assert names(cluster) == {"people", "anon"}
    more(cluster)
    assert ran(dry_run=True) == ("would release", ("the source changed",))
    assert ran() == ("released", ("the source changed",))
    assert manifest()["node"] == node
    assert manifest()["run"]["singled_out"]["people"] == 0
    assert len(rows_of(cluster)) == len(first) + 49
    more(cluster)
    ran()
    assert manifest()["run"]["singled_out"]["earlier"] == {"releases": 1, "most_people": 0}
    assert ran()[0] == "unchanged"
    copies = [DuckDB().connection.read_parquet(str(path)).fetchall() for path in Path(".kanon").glob("*.release")]
    assert sorted(map(len, copies)) == [48, 97, 145]
    assert sorted(copies[[*map(len, copies)].index(145)]) == rows_of(cluster)


def more(cluster: Spark) -> None:
    """48 people more, four of each kind."""
    values = ", ".join(f"('n{i}', {20 + i % 4 * 10}, '1{2 + i % 2}00', '{'xyz'[i % 3]}')" for i in range(48))
    cluster.run(f"INSERT INTO people VALUES {values}")


def test_the_trail_is_a_file_next_to_the_spec(cluster: Spark) -> None:
    write_spec(audit="trail")
    before = names(cluster)
    with pytest.raises(SpecError, match=r"no transactions, .* in a file next to the spec, with `audit: trail.jsonl`$"):
        ran()
    assert names(cluster) == before
    write_spec(audit="trail.jsonl", strategy="mondrian")
    assert ran()[0] == "released"
    regions = manifest_of_trail(0)["regions"]["sha256"]
    more(cluster)
    assert ran()[0] == "released"
    trail = kanon_sql.releases("trail.jsonl")
    assert (len(trail.entries), trail.broken) == (2, ())
    assert manifest_of_trail(1)["regions"]["sha256"] == regions
    assert ran()[0] == "unchanged"


def manifest_of_trail(row: int) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads(Path("trail.jsonl").read_text().splitlines()[row])["manifest"]
    return manifest


class Killed(BaseException):
    """The end of a process."""


def test_a_step_that_fails_or_is_killed_is_not_remembered_as_released(
    cluster: Spark, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran()
    first, notes = rows_of(cluster), Path(".kanon/release.json").read_bytes()
    more(cluster)

    def failing(*_: Any) -> None:
        raise SourceError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(tables, "put_in_place", failing)
        with pytest.raises(KanonError, match="the disk is full"):
            ran()
    assert (rows_of(cluster), Path(".kanon/release.json").read_bytes()) == (first, notes)

    def killed(room: tables.Placement, _: Any) -> None:
        there, _ = tables._renaming(room.engine, room.target, room.target.sibling("anon__replaced_0123abcd"), "table")
        there()
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(tables, "put_in_place", killed)
        patch.setattr(tables, "discard", lambda _: None)
        with pytest.raises(Killed):
            ran()
    assert "anon" not in names(cluster)
    assert ran() == ("released", ("the source changed",))
    assert names(cluster) == {"people", "anon"}
    cluster.run("DROP TABLE anon")
    assert ran() == ("released", ("the target is gone",))
    assert len(rows_of(cluster)) == 96
