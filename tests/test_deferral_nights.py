"""Nights that all release: changes wait, and no two releases single out a person."""

import os
from collections import Counter
from contextlib import closing
from itertools import pairwise
from operator import eq
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest

import kanon_sql
from kanon_sql.errors import DifferencingError, SourceError
from support.command_line import ask, kanon
from support.nights import CODES, COVERS, DOMAIN, Row, Ward, people_singled_out, singled_out

K = 3
NIGHTS = int(os.environ.get("KANON_NIGHTS", "6"))  # KANON_NIGHTS=30 is a month
SPEC = """
source: visits
database: hospital.duckdb
quasi_identifiers:
  age: {hierarchy: {ranges: [20]}}
  zip: {hierarchy: zip.csv}
sensitive: [ill]
privacy: {k: 3}
suppression_limit: 0.2
deferral_limit: 0.5
audit: true
target: {table: anon}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("zip.csv").write_text("".join(f"{code};{code[:2]}**;*\n" for code in CODES))


def released(unit: bool) -> list[Row]:
    table, columns = ("anon__people", ", pid") if unit else ("anon", "")
    return ask("hospital.duckdb", f"SELECT CAST(age AS VARCHAR), zip, ill{columns} FROM {table}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "strategy"), [(False, "auto"), (True, "auto"), (False, "mondrian"), (True, "mondrian"), (False, "kaca")]
)
def test_every_night_releases_and_no_two_nights_single_out_a_person(unit: bool, strategy: str) -> None:
    ward, nights, waited = Ward(f"a month {unit}"), list[list[Row]](), list[int]()
    Path("release.yml").write_text(f"{SPEC}strategy: {strategy}\n{'unit: pid' if unit else 'identifiers: [pid]'}\n")
    current = []
    for number in range(NIGHTS):
        if number:
            ward.night()
        ward.write("hospital.duckdb")
        (done,) = kanon_sql.run("release.yml").releases
        if done.status == "unchanged":
            continue
        assert done.release
        manifest, rows = done.release.manifest, released(unit)
        assert strategy == "auto" or nights or manifest["recoding"]["placed_by_regions"]
        deferred = manifest.get("deferred", {"waiting": 0, "arrivals": 0, "departures": 0})
        waited.append(deferred["waiting"])
        current.append(1 - deferred["departures"] / manifest["released_rows"])
        assert manifest["released_rows"] == len(rows) == len(ask("hospital.duckdb", "SELECT * FROM anon"))
        if not unit:
            suppressed = manifest["suppressed_rows"]
            assert len(rows) == len(ward.visits) - suppressed - deferred["arrivals"] + deferred["departures"]
        classes: dict[Any, set[Any]] = {}
        for place, row in enumerate(rows):
            classes.setdefault(row[:2], set()).add(row[3] if unit else place)
        assert min(map(len, classes.values())) >= K
        count = people_singled_out if unit else singled_out
        for earlier in nights:
            if strategy == "auto":
                assert count(earlier, rows, DOMAIN, COVERS, K) == 0
            else:  # the same regions place the rows of both nights: classes share nobody although labels overlap
                assert count(earlier, rows, {row[:2] for row in earlier + rows}, (eq, eq), K) == 0
        nights.append(rows)
        if number % 6 == 5:
            verified = kanon_sql.verify(spec="release.yml")
            assert verified.holds
            assert (verified.summary and verified.summary.people) == (len({row[3] for row in rows}) if unit else None)
    assert len(nights) > NIGHTS * 0.8
    assert sum(map(bool, waited)) > NIGHTS / 2
    assert sum(old != new for old, new in pairwise(nights)) > NIGHTS / 4, "something is released now and then"
    assert min(current) > (0.8 if strategy == "auto" else 0.7)
    trail = kanon_sql.releases("kanon_releases", database="hospital.duckdb")
    assert trail.manifest(len(nights))["deferred"]["waiting"] == waited[-1] > 0


def two_releases(more: str = "") -> None:
    """A release of ten in each class, and one who came since."""
    rows = ", ".join(f"({number}, {20 + number % 2 * 20}, '1200', 'x')" for number in range(20))
    ask("hospital.duckdb", f"CREATE OR REPLACE TABLE visits AS SELECT * FROM (VALUES {rows}) AS t(pid, age, zip, ill)")
    spec = SPEC.replace("deferral_limit: 0.5\n", "") if "deferral_limit" in more else SPEC
    Path("release.yml").write_text(f"{spec}identifiers: [pid]\n{more}")
    assert kanon_sql.run("release.yml")
    ask("hospital.duckdb", "INSERT INTO visits VALUES (20, 20, '1200', 'y')")


def test_an_arrival_waits_for_two_others_and_the_command_line_shows_it() -> None:
    two_releases()
    shown = kanon("run", "release.yml", "--dry-run")
    assert shown.code == 0
    assert "would release: the source changed; no row of the release changes (anon)" in shown.out
    assert "1 row waits for more changes in the same class (1 to appear, 0 to leave" in " ".join(shown.out.split())
    assert len(ask("hospital.duckdb", "SELECT * FROM kanon_releases")) == 1
    assert "20 rows released, 21 in the source" in kanon("run", "release.yml").out
    first = ask("hospital.duckdb", "SELECT since FROM anon__deferred")
    ask("hospital.duckdb", "INSERT INTO visits VALUES (21, 20, '1200', 'y')")
    kanon_sql.run("release.yml")
    assert first[0] in ask("hospital.duckdb", "SELECT since FROM anon__deferred"), "it has waited since then"
    ask("hospital.duckdb", "INSERT INTO visits VALUES (22, 20, '1200', 'z')")
    (done,) = kanon_sql.run("release.yml").releases
    assert done.release
    assert (done.release.manifest["released_rows"], done.same_rows) == (23, False)
    assert "deferred" not in done.release.manifest
    with closing(duckdb.connect("hospital.duckdb")) as connection:
        assert connection.sql("SELECT * FROM duckdb_tables() WHERE table_name = 'anon__deferred'").fetchall() == []


@pytest.mark.parametrize("unit", [False, True])
def test_the_verbs_expect_released_rows_that_have_left_the_source(unit: bool) -> None:
    rows = ", ".join(f"({number}, {20 + number % 2 * 20}, '1200', 'x')" for number in range(20))
    ask("hospital.duckdb", f"CREATE OR REPLACE TABLE visits AS SELECT * FROM (VALUES {rows}) AS t(pid, age, zip, ill)")
    spec = SPEC.replace("audit: true\n", "") + ("unit: pid\n" if unit else "identifiers: [pid]\n")
    Path("release.yml").write_text(spec)
    kanon_sql.run("release.yml")
    ask("hospital.duckdb", "DELETE FROM visits WHERE pid IN (1, 2)")  # one of each class
    (done,) = kanon_sql.run("release.yml").releases
    assert done.release
    assert (done.release.manifest["rows"], done.release.manifest["released_rows"]) == (18, 20)
    assert done.release.manifest["suppressed_rows"] == 0
    assert done.release.manifest.get("suppressed_people", 0) == 0
    measured = kanon_sql.risk(spec="release.yml")
    assert measured.release
    assert (measured.suppressed_rows, measured.release.unit) == (None, "pid" if unit else None)
    assert "0 to appear, 2 to leave" in measured.notes[-1]
    assert kanon("report", "--spec", "release.yml", "--output", "report.md").code == 0
    text = Path("report.md").read_text()
    assert "2 to leave" in text
    assert "All 18 rows were released" not in text


def test_a_release_in_which_changes_wait_is_recreated() -> None:
    two_releases()
    kanon_sql.run("release.yml")
    rows = Counter(ask("hospital.duckdb", "SELECT * FROM anon"))
    ask("hospital.duckdb", "UPDATE anon__deferred SET since = '2026-01-01T00:00:00+00:00'")
    since = ask("hospital.duckdb", "SELECT * FROM anon__deferred")
    ask("hospital.duckdb", "DROP TABLE anon")
    (done,) = kanon_sql.run("release.yml").releases
    assert done.why == ("the target is gone",)
    assert Counter(ask("hospital.duckdb", "SELECT * FROM anon")) == rows
    assert ask("hospital.duckdb", "SELECT * FROM anon__deferred") == since
    assert kanon_sql.run("release.yml").releases[0].status == "unchanged"


@pytest.mark.parametrize(("strategy", "waiting"), [("mondrian", False), ("kaca", True)])
def test_a_local_recoding_is_recreated_after_its_target_was_lost_or_changed(strategy: str, waiting: bool) -> None:
    ward = Ward("lost")
    ward.write("hospital.duckdb")
    spec = SPEC.replace("{table: anon}", "{table: anon, overwrite: true}")
    Path("release.yml").write_text(f"{spec}strategy: {strategy}\nidentifiers: [pid]\n")
    kanon_sql.run("release.yml")
    if waiting:
        ward.night()
        ward.write("hospital.duckdb")
        (done,) = kanon_sql.run("release.yml").releases
        assert done.release
        assert done.release.manifest["deferred"]["waiting"]
    rows = Counter(ask("hospital.duckdb", "SELECT * FROM anon"))
    for loss in ("DROP TABLE anon", "DELETE FROM anon WHERE ill = 'x'"):
        ask("hospital.duckdb", loss)
        (done,) = kanon_sql.run("release.yml").releases
        assert done.status == "released"
        assert Counter(ask("hospital.duckdb", "SELECT * FROM anon")) == rows
    assert kanon_sql.run("release.yml").releases[0].status == "unchanged"


def test_a_refused_night_has_its_reasons_and_a_view_that_is_never_the_same_is_named() -> None:
    two_releases("deferral_limit: 0.01\n")
    (refused,) = kanon_sql.run("release.yml", check=False).releases
    assert (refused.status, refused.why) == ("refused", ("the source changed",))
    ask("hospital.duckdb", "CREATE VIEW drawn AS SELECT pid, age, zip, ill || random() AS ill FROM visits")
    spec = Path("release.yml").read_text().replace("source: visits", "source: drawn")
    Path("release.yml").write_text(spec.replace("table: anon", "table: other"))
    with pytest.raises(SourceError, match=r"the view drawn contained other rows when it was read again.*random\(\)"):
        kanon_sql.run("release.yml")


VALUES = ["=1+1", "-5", "", None, "Größe"]


@pytest.mark.parametrize(("target", "unit"), [("file: anon.csv", True), ("file: anon.parquet", False)])
def test_changes_wait_in_files(target: str, unit: bool) -> None:
    spec = SPEC.replace("table: anon", target).replace("audit: true\n", "").replace("zip.csv", "suppress")
    Path("release.yml").write_text(
        spec.replace("source: visits\ndatabase: hospital.duckdb", "source: visits.parquet")
        + ("unit: pid\n" if unit else "identifiers: [pid]\n")
        + "keep: [amount]\n"
    )
    rows = [(number, 20 + number % 2 * 20, "1200", VALUES[number % 5], -1.5 * (number % 3)) for number in range(20)]
    expected = {1: 20, 2: 20, 3: 23, 4: 20}  # by the night: one came, one left, two came, two left
    for night, change in enumerate([[], [30], [-1], [31, 32], [-3, -5]]):
        rows = [row for row in rows if -row[0] not in change or not row[0]]
        rows += [(number, 20, "1200", VALUES[number % 5], 0.0) for number in change if number > 0]
        pandas.DataFrame(rows, columns=["pid", "age", "zip", "ill", "amount"]).to_parquet("visits.parquet")
        (done,) = kanon_sql.run("release.yml").releases
        assert done.release
        assert done.release.manifest["released_rows"] == expected.get(night, 20)
        assert done.same_rows == (night in (1, 2))
        shown = done.release.to_df()
        assert len(shown) == expected.get(night, 20)
        assert kanon_sql.verify(spec="release.yml").holds
    assert Path(target.removeprefix("file: ")).read_bytes().count(b"'=1+1") == (4 if target.endswith("csv") else 0)


@pytest.mark.slow
def test_changes_wait_on_a_server_by_people(postgres_dsn: str) -> None:
    spec = SPEC.replace("hospital.duckdb", postgres_dsn).replace("zip.csv", "suppress")
    Path("release.yml").write_text(f"{spec}unit: pid\nkeep: [amount]\n")
    rows = ", ".join(f"({number}, {20 + number % 2 * 20}, '1200', 'x', {number % 3}.50)" for number in range(20))
    ask(
        postgres_dsn,
        "CREATE TABLE visits AS SELECT pid, age, zip, ill, CAST(amount AS NUMERIC(8, 2)) AS amount "
        f"FROM (VALUES {rows}) AS t(pid, age, zip, ill, amount)",
    )
    assert kanon_sql.run("release.yml")
    types = "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'anon' ORDER BY 1"
    before = ask(postgres_dsn, types)
    for change, released, waiting in (
        ("INSERT INTO visits VALUES (20, 20, '1200', 'y', 1), (20, 20, '1200', 'z', 1)", 20, 1),
        ("DELETE FROM visits WHERE pid = 0", 20, 2),
        ("INSERT INTO visits VALUES (21, 20, '1200', 'y', 1), (22, 20, '1200', 'z', 1)", 24, 1),
        ("DELETE FROM visits WHERE pid IN (2, 4)", 21, 0),
    ):
        ask(postgres_dsn, change)
        (done,) = kanon_sql.run("release.yml").releases
        assert done.release
        manifest = done.release.manifest
        assert (manifest["released_rows"], manifest.get("deferred", {"waiting": 0})["waiting"]) == (released, waiting)
        assert ask(postgres_dsn, types) == before
        assert kanon_sql.verify(spec="release.yml").holds


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("deferral_limit: 0.01", "1 row waits .* `deferral_limit` is 0.01 of 20 rows"),
        ("differencing: refuse", "would single out 1 person"),
        ("shuffle: true", "could not be deferred, because the rows are shuffled"),
    ],
)
def test_the_old_release_stays_if_too_many_wait_or_nobody_can(more: str, expected: str) -> None:
    two_releases(more)
    before = ask("hospital.duckdb", "SELECT * FROM anon")
    with pytest.raises(DifferencingError, match=expected):
        kanon_sql.run("release.yml")
    assert ask("hospital.duckdb", "SELECT * FROM anon") == before


def test_the_old_release_stays_if_someone_waits_too_long() -> None:
    two_releases("deferral_days: 3\n")
    kanon_sql.run("release.yml")
    ask("hospital.duckdb", "UPDATE anon__deferred SET since = '2026-01-01T02:00:00+00:00'")
    ask("hospital.duckdb", "INSERT INTO visits VALUES (21, 40, '1200', 'y')")
    with pytest.raises(DifferencingError, match=r"2 rows wait .* the first since 2026-01-01.* `deferral_days` is 3"):
        kanon_sql.run("release.yml")
    assert ask("hospital.duckdb", "SELECT COUNT(*) FROM anon") == [(20,)]
