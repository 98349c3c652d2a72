"""Cloaked releases: files and servers, types of time, verification, and refused options."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import pandas
import pytest

import kanon_sql
from kanon_sql.cloak import METHODS as CLOAKING
from kanon_sql.cloak import cloaked_release as cloak_written
from kanon_sql.errors import InfeasibleError, SourceError, SpecError, TargetError, VerificationError
from kanon_sql.spec import CloakSpec, parse, parsed
from support.command_line import kanon

ROLES = {"location": ["x", "y"], "time": "t", "unit": "unit", "keep": "*"}

# From place to place, in every type of time

DAY = datetime(2024, 3, 1)
TRIPS = [
    (i % 9, 47 + (i * 37 % 101) / 500, 8 + (i * 53 % 97) / 400, DAY + timedelta(seconds=i * 61), i % 7, f"note {i}")
    for i in range(300)
]
TRIP_COLUMNS = ["Person", "lat", "lon", "ts", "speed", "note"]
TRIP_ROLES = {"location": ["lat", "lon"], "time": "ts", "unit": "Person", "identifiers": ["note"], "keep": ["speed"]}
TRIP_BOX = ["lat_min", "lat_max", "lon_min", "lon_max", "ts_from", "ts_to"]


@pytest.fixture
def trips(tmp_path: Path) -> Path:
    path = tmp_path / "trips.parquet"
    pandas.DataFrame(TRIPS, columns=TRIP_COLUMNS).to_parquet(path)
    return path


METHODS = [
    {"interval": 3600},
    {"method": "temporal", "level": 2},
    {"method": "both", "dx": 0.2, "dt": 4000, "depth": 6},
    {"method": "clique", "dx": 0.1, "dt": 3000},
]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.get("method", "adaptive"))
@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
@pytest.mark.slow
@pytest.mark.sampled
def test_a_file_becomes_a_file(trips: Path, method: dict[str, Any], name: str) -> None:
    target = trips.with_name(name)
    release = kanon_sql.cloak(trips, {**TRIP_ROLES, "cloak": method}, k=3, output=target)
    frame, manifest = release.to_df(), release.manifest
    assert list(frame.columns) == [*TRIP_BOX, "speed"]
    sizes = frame.groupby(TRIP_BOX).size()
    assert (len(frame), len(sizes)) == (manifest["released_rows"], manifest["classes"])
    assert sizes.min() >= 3
    assert manifest["verified"]
    assert manifest["success_rate"] == len(frame) / 300
    assert json.loads(json.dumps(manifest)) == manifest
    assert "note" not in json.dumps(manifest["sql"])
    assert frame.values.tolist() == sorted(frame.values.tolist()), "the order tells nothing"


@pytest.mark.parametrize(
    ("type_name", "interval"),
    [
        ("TIMESTAMP", 3600),
        ("TIMESTAMP WITH TIME ZONE", 3600),
        ("TIMESTAMP_NS", 3600),
        ("DATE", 1),
        ("BIGINT", 3600),
        ("DOUBLE", 0.5),
    ],
)
@pytest.mark.slow
def test_the_interval_has_the_type_of_the_time(trips: Path, type_name: str, interval: float) -> None:
    with duckdb.connect(str(trips.with_name("trips.duckdb"))) as connection:
        number = f"epoch(ts) / {3600 if type_name == 'DOUBLE' else 1}"
        value = number if type_name in ("BIGINT", "DOUBLE") else "ts"
        query = f"SELECT * REPLACE (CAST({value} AS {type_name}) AS ts) FROM '{trips}'"
        connection.execute(f"CREATE TABLE trips AS {query}")
        release = kanon_sql.cloak(
            "trips", {**TRIP_ROLES, "cloak": {"interval": interval}}, k=3, connection=connection, into="cloaked"
        )
        types = dict(connection.execute("SELECT column_name, column_type FROM (DESCRIBE cloaked)").fetchall())
        shown = "TIMESTAMP" if type_name == "TIMESTAMP_NS" else type_name
        assert (types["ts_from"], types["ts_to"]) == (shown, shown)
        lasts = connection.execute("SELECT DISTINCT ts_to - ts_from FROM cloaked").fetchall()
        assert lasts in ([(timedelta(seconds=interval),)], [(interval,)])
        assert release.manifest["figures"]["median_length"] == interval
        left = connection.execute("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'kanon%'").fetchall()
        assert left == [], "nothing of ours stays"


def test_a_server_table_is_cloaked_outside_and_written_back(postgres_dsn: str) -> None:
    import psycopg

    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(
            'CREATE TABLE trips ("Person" int, lat float8, lon numeric(8, 5), ts timestamptz, speed int, note text)'
        )
        with connection.cursor().copy("COPY trips FROM STDIN") as copy:
            for row in TRIPS:
                copy.write_row(row)
        spec = {**TRIP_ROLES, "cloak": {"interval": 7200}}
        release = kanon_sql.cloak("trips", spec, k=3, connection=connection, into="cloaked")
        names = ", ".join(TRIP_BOX)
        sizes = connection.execute(f"SELECT count(*) FROM cloaked GROUP BY {names}").fetchall()
        assert sum(n for (n,) in sizes) == release.manifest["released_rows"] > 200
        assert min(n for (n,) in sizes) >= 3
        assert connection.execute("SELECT pg_typeof(ts_from)::text FROM cloaked LIMIT 1").fetchone() == (
            "timestamp with time zone",
        )


@pytest.mark.slow
def test_shuffled_rows_are_the_same_rows(trips: Path) -> None:
    plain, mixed, again = (
        kanon_sql.cloak(trips, TRIP_ROLES, k=3, **more).to_df().values.tolist()
        for more in ({}, {"shuffle": True, "seed": 4}, {"shuffle": True, "seed": 4})
    )
    assert mixed == again != plain
    assert Counter(map(str, mixed)) == Counter(map(str, plain))


@pytest.mark.slow
def test_a_column_that_links_the_rows_of_a_unit_is_named(trips: Path) -> None:
    spec = {**TRIP_ROLES, "identifiers": [], "keep": ["note", "speed"]}
    strung, *_, suspected = kanon_sql.cloak(trips, spec, k=3).manifest["warnings"]
    assert "'note' is released unchanged and distinguishes most units" in strung
    assert suspected.startswith("the column 'note' is released unchanged, and differs in nearly every row (")


def test_the_suppression_of_a_run_can_be_limited(trips: Path) -> None:
    method = {"method": "clique", "dx": 0.02, "dt": 1500}
    release = kanon_sql.cloak(trips, {**TRIP_ROLES, "cloak": method}, k=2)
    assert 0 < release.manifest["success_rate"] < 0.98
    assert "could not be cloaked" in release.manifest["warnings"][0]
    with pytest.raises(InfeasibleError, match=r"more than suppression_limit 0\.02 allows"):
        kanon_sql.cloak(trips, {**TRIP_ROLES, "cloak": method}, k=2, suppression_limit=0.02)


# Verification


def _spoiled(change: str) -> Callable[[Any], Any]:
    """The adaptive method, with one row's box changed behind its back."""

    adaptive = CLOAKING["adaptive"]

    def method(cloaking: Any) -> Any:
        boxes = adaptive(cloaking)
        rows, b = f"temp.{boxes.rows.name}", f"temp.{boxes.boxes.name}"
        for query in (
            f"INSERT INTO {b} SELECT * REPLACE (-1 AS box) FROM {b} WHERE box = (SELECT box FROM {rows} WHERE row = 1)",
            f"UPDATE {rows} SET box = -1 WHERE row = 1",
            f"UPDATE {b} SET {change} WHERE box = -1",
        ):
            cloaking.engine.run(query)
        return boxes

    return method


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("x_min = x_min - 1", "boxes that too few units share"),
        ("x_min = x_max", "rows outside their boxes"),
        ("t_min = t_max + 1e6", "rows outside their boxes"),
        ("x_min = NULL", "rows outside their boxes"),
    ],
)
def test_unsafe_boxes_are_not_released(trips: Path, monkeypatch: pytest.MonkeyPatch, change: str, problem: str) -> None:
    monkeypatch.setitem(CLOAKING, "adaptive", _spoiled(change))
    target = trips.with_name("out.parquet")
    with pytest.raises(VerificationError, match=problem):
        kanon_sql.cloak(trips, TRIP_ROLES, k=3, output=target)
    assert not target.exists()


@pytest.mark.slow
def test_a_release_that_was_written_wrong_is_rolled_back(trips: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = cloak_written.release_sql
    wrong = lambda *given: f"SELECT * REPLACE (lat_min - 1 AS lat_min) FROM ({plain(*given)})"  # noqa: E731
    monkeypatch.setattr(cloak_written, "release_sql", wrong)
    target = trips.with_name("out.parquet")
    with pytest.raises(VerificationError, match="more or less often than planned"):
        kanon_sql.cloak(trips, TRIP_ROLES, k=3, output=target)
    assert [path.name for path in trips.parent.iterdir()] == ["trips.parquet"]


# Refusals

Change = Callable[[pandas.DataFrame], Any]


def _set(column: str, value: Any) -> Change:
    def change(table: pandas.DataFrame) -> None:
        table.loc[3:5, column] = value

    return change


@pytest.mark.parametrize(
    ("change", "spec", "problem"),
    [
        (_set("lat", None), {}, "3 rows without a place"),
        (_set("lon", math.inf), {}, "3 rows without a place"),
        (_set("ts", None), {}, "3 rows without a time"),
        (_set("Person", None), {}, "3 rows without a unit"),
        (None, {"privacy": {"k": 10}}, "k is 10 but there are only 9 different 'Person'"),
        (
            None,
            {"location": ["lat", "note"], "identifiers": []},
            "location column 'note' contains VARCHAR, not numbers",
        ),
        (None, {"location": ["Lat", "lon"]}, "there is no location column 'Lat'; did you mean 'lat'?"),
        (None, {"time": "note", "identifiers": []}, "time column 'note' contains VARCHAR"),
        (None, {"cloak": {"method": "both", "dx": "wide", "dt": 5}}, "there is no cloak column 'wide'"),
        (
            None,
            {"cloak": {"method": "both", "dx": "note", "dt": 5}, "identifiers": []},
            "contains VARCHAR, not numbers",
        ),
        (None, {"cloak": {"interval": 1e-9}}, "cannot contain fractions of a microsecond"),
        (None, {"cloak": {"interval": 1e-5}}, "too many quadrants to number"),
        (lambda t: t.insert(0, "lat_min", 1), {}, "two columns called 'lat_min'"),
        (lambda t: t[:0], {}, "has no rows"),
        (
            lambda t: t.insert(0, "d", -1.0),
            {"cloak": {"method": "clique", "dx": "d", "dt": 9}},
            "300 rows have a negative tolerance or none",
        ),
        (
            lambda t: t.insert(0, "q", 2.5),
            {"cloak": {"method": "clique", "dx": 1, "dt": 9, "k": "q"}},
            "300 rows have a value in 'q' that is not a whole number",
        ),
        (None, {"cloak": {"method": "clique", "dx": 0, "dt": 0}}, "no row could be cloaked with 3 units"),
    ],
)
def test_impossible_cloaking_is_reported_before_anything_is_written(
    tmp_path: Path, change: Change | None, spec: dict[str, Any], problem: str
) -> None:
    table = pandas.DataFrame(TRIPS, columns=TRIP_COLUMNS).astype({"Person": "Int64"})
    changed = change(table) if change else None
    table = table if changed is None else changed
    with pytest.raises((SourceError, SpecError, InfeasibleError)) as caught:
        kanon_sql.cloak(table, {**TRIP_ROLES, "privacy": {"k": 3}, **spec}, output=tmp_path / "out.parquet")
    assert problem in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_rows_without_a_place_can_be_suppressed() -> None:
    table = pandas.DataFrame(TRIPS, columns=TRIP_COLUMNS)
    _set("lat", None)(table)
    manifest = kanon_sql.cloak(table, {**TRIP_ROLES, "cloak": {"unplaced": "suppress"}}, k=3).manifest
    assert (manifest["unplaced_rows"], manifest["released_rows"], manifest["suppressed_rows"]) == (3, 297, 3)


def test_a_target_that_exists_stays(trips: Path) -> None:
    target = trips.with_name("out.csv")
    target.write_text("here before")
    with pytest.raises(TargetError, match="exists already"):
        kanon_sql.cloak(trips, TRIP_ROLES, k=3, output=target)
    assert target.read_text() == "here before"


# Keys of cloaking, and of everything else

ELSEWHERE = "`location` is for places, and cloaking has its own verb, which verifies what it writes; use kanon cloak"


@pytest.mark.parametrize(
    "name", ["anonymize", "explain", "search", "lattice", "compare", "verify", "compile", "anonymize_sql", "risk"]
)
def test_every_other_verb_names_the_command_for_cloaking(trips: Path, name: str) -> None:
    written = trips.with_name("trips.yml")
    written.write_text(json.dumps({"source": str(trips), **TRIP_ROLES, "target": {"table": "x"}}))
    for spec in (TRIP_ROLES, written, parsed({"source": str(trips), **TRIP_ROLES}, CloakSpec)):
        with pytest.raises(SpecError, match=ELSEWHERE):
            getattr(kanon_sql, name)(trips, spec)


def test_anonymize_and_its_command_name_the_command_that_takes_the_options(trips: Path) -> None:
    for option, value in {"location": ["lat", "lon"], "time": "ts", "cloak": "temporal"}.items():
        with pytest.raises(SpecError, match=f"`{option}` is for places, and cloaking has its own verb"):
            kanon_sql.anonymize(trips, **{option: value})
        line = kanon("anonymize", trips, f"--{option}", "lat,lon")
        assert (line.code, line.out, line.err.count("\n")) == (2, "", 1)
        assert "cloaking has its own verb, which verifies what it writes; use kanon cloak" in line.err


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"unit": None}, "unit is missing; give the name of the column that identifies people or devices"),
        ({"location": ["lat"]}, "location: give the two columns of a place, such as [lat, lon], not ['lat']"),
        ({"quasi_identifiers": ["speed"]}, "`quasi_identifiers` is for anonymize, which generalizes columns, and"),
        ({"strategy": "ola"}, "`strategy` is for anonymize, which generalizes columns, and places are cloaked; leave"),
        ({"mask": True}, "`mask` is for anonymize"),
        ({"node": {"lat": 1}}, "`node` is for anonymize"),
        ({"wildcard_suppression": True}, "`wildcard_suppression` is for anonymize"),
        (
            {"privacy": {"l_diversity": {"speed": 3}}},
            "privacy.l_diversity is not a key of a spec; the keys there are k",
        ),
        ({"privacy": {"minimality": "mask"}}, "privacy.minimality is not a key of a spec"),
        ({"target": {"table": "anon", "as": "view"}}, "target: places are released as a table or a file, not as view"),
        ({"target": {"file": "a.csv", "table": "b"}}, "target: both a file and a table are named; keep one of"),
        ({"sensitive": ["lat"]}, "'lat' is in both `location` and `sensitive`; keep it in one of them"),
        (
            {"cloak": {"method": "temporal", "depth": 3}},
            "cloak: depth is for adaptive and both, not for temporal; leave",
        ),
        (
            {"cloak": {"method": "clique", "dx": 1}},
            "cloak: clique keeps tolerances; set dx (and dy) and dt, numbers or",
        ),
        (
            {"cloak": {"method": "clique", "dx": 1, "dt": 1, "shared": False}},
            "cloak: clique always shares boxes; leave out shared",
        ),
        (
            {"cloak": {"method": "temporal", "level": 3, "cell": 5}},
            "cloak: level and cell both set the size of a cell; keep one of them",
        ),
        ({"cloak": {"method": "temporal", "levels": 3}}, "cloak.levels is not a key of a spec; did you mean 'level'?"),
    ],
)
def test_a_spec_of_places_has_separate_keys(settings: dict[str, Any], sentence: str) -> None:
    with mock.patch("kanon_sql.plan.source.open_source", mock.Mock(side_effect=AssertionError("was opened"))):
        with pytest.raises(SpecError) as refused:
            kanon_sql.cloak("trips.csv", {**TRIP_ROLES, **settings})
        assert str(refused.value).startswith(sentence)


def test_a_spec_of_columns_is_not_cloaked(trips: Path) -> None:
    for spec in ({"quasi_identifiers": ["speed"]}, parse({"source": "x", "quasi_identifiers": ["speed"]})):
        with pytest.raises(SpecError, match="`quasi_identifiers` is for anonymize"):
            kanon_sql.cloak(trips, spec, location=["lat", "lon"], time="ts", unit="Person")  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_pipeline_cloaks_when_its_trips_have_changed(trips: Path) -> None:
    options = {**TRIP_ROLES, "source": str(trips), "privacy": {"k": 3}, "differencing_limit": "unlimited"}
    options |= {"target": {"file": str(trips.with_name("a.csv"))}, "audit": True, "node": "keep"}
    spec = trips.with_name("trips.yml")
    spec.write_text(json.dumps(options))
    assert kanon_sql.run(spec).releases[0].status == "released"
    assert kanon_sql.run(spec).releases[0].status == "unchanged"
    pandas.DataFrame(TRIPS[:200], columns=TRIP_COLUMNS).to_parquet(trips)
    (again,) = kanon_sql.run(spec).releases
    assert (again.status, again.why, again.release and again.release.manifest["rows"]) == (
        "released",
        ("the source changed",),
        200,
    )


def test_a_command_cloaks_by_flags_and_by_a_spec(trips: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trips.parent)
    roles = ["--location", "lat,lon", "--time", "ts", "--unit", "Person", "--identifiers", "note"]
    run = kanon("cloak", trips, *roles, "--k", 3, "--method", "adaptive", "--output", "a.csv", "--report", "a.md")
    assert run.code == 0, run.err
    assert re.search(r"300 rows released in [\d,]+ boxes, shared by \d+ or more of 9 units; \d+ suppressed", run.out)
    assert "Verified in the written release: at least 3 units that share a released box and interval" in run.out
    assert "cloaked by adaptive" in Path("a.md").read_text()
    options = {**TRIP_ROLES, "source": str(trips), "privacy": {"k": 3}, "cloak": {"method": "temporal", "level": 2}}
    Path("trips.yml").write_text(json.dumps({**options, "target": {"file": "b.csv"}}))
    assert "by lat, lon, ts, written to" in kanon("spec", "check", "trips.yml").out
    again = kanon("cloak", "--spec", "trips.yml", "--json")
    manifest = json.loads(again.out)
    assert (manifest["cloak"]["method"], manifest["verified"]) == ("temporal", True)
    Path("b.json").write_text(again.out)
    attacked = kanon("attack", "--spec", "trips.yml", "--auxiliary", trips, "--source", trips)
    assert "observation" in attacked.out
    shown = kanon("report", "--spec", "trips.yml", "--manifest", "b.json", "--output", "b.html")
    assert (shown.code, "cloaked by temporal" in Path("b.html").read_text()) == (0, True), shown.err
    assert kanon("cloak", "--spec", "trips.yml").err.count("exists already") == 1
    assert "there is no target" in kanon("cloak", trips, *roles).err


def test_equal_dates_are_one_day() -> None:
    table = pandas.DataFrame({"x": [1.0, 2.0], "y": [1.0, 1.0], "t": [date(1960, 5, 1)] * 2, "unit": ["a", "b"]})
    released = kanon_sql.cloak(table, ROLES, k=2).to_df()
    assert released["t_from"].astype(str).tolist() == ["1960-05-01"] * 2
    assert released["t_to"].astype(str).tolist() == ["1960-05-02"] * 2
