"""Releases before the previous one: a new release is compared with them too, by copies that the run keeps."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import DifferencingError, TargetError
from support.command_line import ask

SPEC = """
source: people.csv
quasi_identifiers: {age: {hierarchy: {ranges: [10]}}}
keep: [ill]
privacy: {k: 3}
node: {age: 1}
differencing: refuse
target: {file: anon.csv}
"""
FIRST = [(20 + i, ill) for i, ill in enumerate("vwxyz")]
MORE = [(25 + i, ill) for i, ill in enumerate("abc")]
SWAPPED = [*FIRST[3:], *MORE]  # three left the night before, and two stayed; of the first night as well


def write_people(*rows: tuple[int, str]) -> None:
    Path("people.csv").write_text("age,ill\n" + "".join(f"{age},{ill}\n" for age, ill in rows))


def ran(more: str = "", **how: Any) -> str:
    Path("release.yml").write_text(SPEC + more)
    (done,) = kanon_sql.run("release.yml", **how).releases
    return done.status


def copies() -> list[Path]:
    return sorted(Path(".kanon").glob("*.release"))


@pytest.fixture
def two_nights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two releases, with a third behind them that only the first of them singles people out of."""
    monkeypatch.chdir(tmp_path)
    for rows in (FIRST, [*FIRST, *MORE]):
        write_people(*rows)
        assert ran() == "released"
    write_people(*SWAPPED)
    return tmp_path


def refusal(more: str = "") -> str:
    before = Path("anon.csv").read_bytes()
    with pytest.raises(DifferencingError) as refused:
        ran(more)
    assert Path("anon.csv").read_bytes() == before
    return str(refused.value)


@pytest.mark.usefixtures("two_nights")
def test_an_earlier_release_keeps_what_the_last_one_would_let_pass() -> None:
    message = refusal()
    assert "together with its release of 2" in message
    assert "2 that came, left or stayed in groups of fewer than 3" in message
    assert message.endswith("leave that release out with `differencing_history: 1` if no one has it any more")
    assert [stat.S_IMODE(copy.stat().st_mode) for copy in copies()] == [0o600] * 2
    assert ran("differencing_history: 1\n") == "released"
    assert json.loads(Path(".kanon/release.json").read_text())["releases"][0]["run"]["history"] == []


@pytest.mark.usefixtures("two_nights")
def test_only_the_requested_number_of_copies_is_kept_and_a_lost_copy_is_an_error() -> None:
    write_people(*FIRST, *MORE, *((20, ill) for ill in "def"))
    assert ran("differencing_history: 2\n") == "released"
    assert ran("differencing_history: 2\n") == "unchanged"
    write_people(*FIRST, *MORE, *((20, ill) for ill in "defghi"))
    kept = copies()
    assert len(kept) == 3, "those of the release before are kept once more, should this one not have become visible"
    history = json.loads(Path(".kanon/release.json").read_text())["releases"][0]["run"]["history"]
    (second,) = (item for item in kept if history[1]["sha256"][:16] in item.name)
    content = second.read_bytes()
    second.write_bytes(content[:-1])
    assert f"the copy of its release of {history[1]['at']} is lost or was changed" in refusal()
    second.unlink()
    assert "use `differencing_history: 1` if no one has" in refusal()
    with pytest.raises(DifferencingError, match="is lost or was changed"):
        ran(dry_run=True)
    second.write_bytes(content)
    assert ran("differencing_history: 2\n") == "released"
    assert len(copies()) == 3


@pytest.mark.usefixtures("two_nights")
def test_without_a_limit_the_history_starts_over() -> None:
    assert ran(differencing_limit="unlimited") == "released"
    write_people(*SWAPPED, *MORE)
    assert ran() == "released"
    write_people(*SWAPPED, *MORE, *FIRST[:1])
    assert "together with it the new release" in refusal()


@pytest.mark.slow
def test_a_server_stores_the_copies_itself(postgres_dsn: str, tmp_path: Path) -> None:
    """As the month of nights does in a DuckDB file."""
    database = postgres_dsn
    path = tmp_path / "nightly.yml"
    path.write_text(
        SPEC.replace("people.csv", "ward").replace("{file: anon.csv}", "{table: ward_anon}")
        + f'database: "{database}"\naudit: true\ndifferencing_history: 3\n'
    )
    values = ", ".join(map(str, FIRST))
    ask(database, f"CREATE TABLE ward AS SELECT age, CAST(ill AS VARCHAR) AS ill FROM (VALUES {values}) AS t(age, ill)")
    for added in ("abc", "def"):
        kanon_sql.run(path)
        ask(database, f"INSERT INTO ward VALUES {', '.join(f'(25, {ill!r})' for ill in added)}")
    kanon_sql.run(path)
    ask(database, "DELETE FROM ward WHERE ill IN ('v', 'w', 'x', 'd', 'e', 'f')")
    with pytest.raises(DifferencingError, match=r"together with its release of .* 2 people"):
        kanon_sql.run(path)
    ask(database, "INSERT INTO ward VALUES (20, 'v'), (20, 'w'), (20, 'x')")
    trail = kanon_sql.releases("kanon_releases", database=database)
    kept = {item["sha256"] for item in trail.manifest(3)["run"]["history"]}
    shown = "SELECT DISTINCT sha256 FROM kanon_copies"
    assert {sha256 for (sha256,) in ask(database, shown)} == kept
    assert len(kept) == 3
    kanon_sql.run(path)
    assert len(ask(database, shown)) == 3
    ask(database, "DELETE FROM kanon_copies")
    ask(database, "INSERT INTO ward VALUES (20, 'l'), (20, 'm'), (20, 'n')")
    with pytest.raises(DifferencingError, match="is lost or was changed"):
        kanon_sql.run(path)
    ask(database, "COMMENT ON TABLE kanon_copies IS 'mine'")
    path.write_text(path.read_text() + "differencing_limit: unlimited\n")
    with pytest.raises(TargetError, match="the table kanon_copies exists and was not created by kanon_sql; rename it"):
        kanon_sql.run(path)
