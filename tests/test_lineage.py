"""Lineage of a pipeline: OpenLineage events of a real run, to a real listener, without values or passwords."""

import copy
import json
import re
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql import interrupts
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.pipeline.lineage import Dataset, column_lineage, of_file
from kanon_sql.verbs import run as runs
from support import openlineage_schema
from support.command_line import ask, kanon
from support.lineage_server import Server, check, listening

SPEC = """\
source: {source}
identifiers: [name]
quasi_identifiers: [age, zip]
sensitive: [disease]
hierarchies: h
privacy: {{k: {k}}}
target: {{{target}, overwrite: true}}
"""


def _nightly(folder: Path, source: str = "people.csv", target: str = "file: out.csv", k: int = 12) -> Path:
    spec = folder / "nightly.yml"
    spec.write_text(SPEC.format(source=source, target=target, k=k))
    return spec


def _checked(server: Server) -> list[dict[str, Any]]:
    for event in server.events:
        check(event)
        assert event["producer"] == f"urn:kanon-sql:{kanon_sql.__version__}"
    assert len({event["run"]["runId"] for event in server.events}) == 1
    return server.events


def _transformations(event: dict[str, Any]) -> dict[str, tuple[str, bool]]:
    """The source column of every released column, and whether its values are masked."""
    fields = event["outputs"][0]["facets"]["columnLineage"]["fields"]
    found = {}
    for name, field in fields.items():
        (from_,) = field["inputFields"]
        (transformation,) = from_["transformations"]
        assert transformation["type"] == "DIRECT"
        assert transformation["masking"] == (transformation["subtype"] != "IDENTITY")
        found[name] = (from_["field"], transformation["masking"])
    return found


def test_a_release_sends_start_and_complete(folder: Path) -> None:
    with listening() as server:
        run = kanon("run", _nightly(folder), "--lineage", server.url)
        assert run.code == 0
        start, complete = _checked(server)
        assert kanon("run", "nightly.yml", "--lineage", server.url).code == 0, "nothing changed"
        assert kanon("run", "nightly.yml", "--dry-run", "--lineage", server.url).code == 0
        assert len(server.events) == 2
    assert set(server.paths) == {"/api/v1/lineage"}
    assert (start["eventType"], complete["eventType"]) == ("START", "COMPLETE")
    assert (start["job"]["namespace"], start["job"]["name"]) == ("kanon_sql", "nightly")
    (before,), (after,) = complete["inputs"], complete["outputs"]
    assert (before["namespace"], before["name"]) == ("file", str(folder / "people.csv"))
    assert (after["namespace"], after["name"]) == ("file", str(folder / "out.csv"))
    assert [(event["inputs"][0]["name"], event["outputs"][0]["name"]) for event in (start, complete)] == [
        (before["name"], after["name"])
    ] * 2
    assert before["inputFacets"]["inputStatistics"]["rowCount"] == 120
    released = len((folder / "out.csv").read_text().splitlines()) - 1
    assert after["outputFacets"]["outputStatistics"]["rowCount"] == released
    assert [field["name"] for field in before["facets"]["schema"]["fields"]] == ["name", "age", "zip", "disease"]
    assert [field["name"] for field in after["facets"]["schema"]["fields"]] == ["age", "zip", "disease"]
    assert _transformations(complete) == {"age": ("age", False), "zip": ("zip", True), "disease": ("disease", False)}
    of_rows = after["facets"]["columnLineage"]["dataset"]
    assert {field["field"]: field["transformations"][0]["type"] for field in of_rows} == {
        "age": "INDIRECT",
        "zip": "INDIRECT",
    }
    assert not re.search(r"9021|0213|SELECT|'p\d|\"[xyz]\"", json.dumps(server.events)), "no values, and no SQL"


def test_a_refused_release_sends_fail_without_values(folder: Path) -> None:
    spec = _nightly(folder, k=3)
    spec.write_text(spec.read_text().replace("{k: 3}", "{k: 3, l_diversity: {disease: 9}}"))
    with listening() as server:
        run = kanon("run", spec, "--lineage", server.url, "--json")
        start, fail = _checked(server)
    assert run.code == 1
    assert (start["eventType"], fail["eventType"]) == ("START", "FAIL")
    message = fail["run"]["facets"]["errorMessage"]
    assert message["message"] == json.loads(run.out)["releases"][0]["error"]
    assert message["programmingLanguage"] == "PYTHON"
    assert "stackTrace" not in message


def test_values_of_an_error_stay_here(folder: Path) -> None:
    (folder / "h" / "zip.csv").write_text("02138;*\n")
    with listening() as server:
        assert kanon("run", _nightly(folder), "--lineage", server.url, "--show-values").code == 2
        assert [event["eventType"] for event in _checked(server)] == ["START", "FAIL"]
    assert "lacks" in server.events[1]["run"]["facets"]["errorMessage"]["message"]
    assert "90210" not in json.dumps(server.events)


def test_a_source_that_is_missing_sends_start_and_fail(folder: Path) -> None:
    with listening() as server:
        assert kanon("run", _nightly(folder, "people2.csv"), "--lineage", server.url).code == 2
        start, fail = _checked(server)
    assert (start["eventType"], fail["eventType"]) == ("START", "FAIL")
    assert start["inputs"] == fail["inputs"] == []


@pytest.mark.parametrize("why", ["refused", "error", "silent"])
def test_a_failing_server_loses_no_release(why: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kanon_sql.pipeline.lineage._LONGEST", 0.5)
    with listening(status=503) as server, socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        urls = {
            "refused": "http://127.0.0.1:1",
            "error": server.url,
            "silent": f"http://127.0.0.1:{silent.getsockname()[1]}",
        }
        run = kanon("run", _nightly(folder), "--lineage", urls[why], "--json")
    assert run.code == 0
    (outcome,) = json.loads(run.out)["releases"]
    assert outcome["status"] == "released"
    assert (
        outcome["lineage_error"]
        in {
            "refused": ("ConnectionError",),
            "error": ("the server answered with status 503",),
            "silent": ("no answer within 0.5 seconds",),
        }[why]
    )
    assert "lineage events of nightly were not received" in run.err
    assert (folder / "out.csv").exists()
    assert kanon("run", "nightly.yml").out.startswith("nightly unchanged")


def test_python_warns_of_a_failing_server(folder: Path) -> None:
    with pytest.warns(kanon_sql.ReleaseWarning, match="not received"):
        done = kanon_sql.run(_nightly(folder), lineage="http://127.0.0.1:1")
    assert done.releases[0].status == "released"
    assert done.releases[0].lineage_error == "ConnectionError"


def test_no_error_about_lineage_is_an_error_of_the_release(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("02138")

    monkeypatch.setattr("kanon_sql.pipeline.lineage.column_lineage", broken)
    run = kanon("run", _nightly(folder), "--lineage", folder / "events.jsonl", "--json")
    assert run.code == 0
    assert json.loads(run.out)["releases"][0]["lineage_error"] == "ValueError"
    assert "02138" not in run.err + run.out


def test_events_are_appended_to_a_file(folder: Path) -> None:
    spec = _nightly(folder)
    kanon_sql.run(spec, lineage=folder / "events.jsonl")
    spec.write_text(spec.read_text().replace("k: 12", "k: 15"))
    kanon_sql.run(spec, lineage=folder / "events.jsonl")
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]
    assert [event["eventType"] for event in events] == ["START", "COMPLETE"] * 2
    for event in events:
        check(event)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("people.csv", "neither a URL nor a file of lineage events"),
        ("trail.jsonl", "something else than lineage events"),
        ("missing/events.jsonl", "cannot be written"),
        ("https://me:secret@marquez:5000", "OPENLINEAGE_API_KEY"),
        ("https://marquez:5000?api_key=secret", "OPENLINEAGE_API_KEY"),
        ("kafka://marquez:5000", "such as https://"),
    ],
)
def test_a_place_that_cannot_take_events_is_an_error_before_the_run(place: str, message: str, folder: Path) -> None:
    (folder / "trail.jsonl").write_text('{"number": 1}\n')
    before = {file: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    run = kanon("run", _nightly(folder), "--lineage", place)
    assert run.code == 2
    assert message in run.err
    assert "secret" not in run.err
    assert not (folder / "out.csv").exists()
    assert {file: file.read_bytes() for file in before} == before


def test_the_key_of_a_server_comes_from_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENLINEAGE_API_KEY", "key-of-the-server")
    monkeypatch.setenv("OPENLINEAGE_NAMESPACE", "hospital")
    with listening() as server:
        kanon_sql.run(_nightly(folder), lineage=f"{server.url}/marquez/api/v1/lineage")
    assert server.headers["Authorization"] == "Bearer key-of-the-server"
    assert server.paths[0] == "/marquez/api/v1/lineage"
    assert server.events[0]["job"]["namespace"] == "hospital"
    assert "key-of-the-server" not in json.dumps(server.events)


def test_an_interrupted_run_sends_abort(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise interrupts.Stopped(15)

    monkeypatch.setattr(runs, "make_release", stopped)
    with listening() as server:
        with pytest.raises(interrupts.Stopped):
            kanon_sql.run(_nightly(folder), lineage=server.url)
        assert [event["eventType"] for event in _checked(server)] == ["START", "ABORT"]


def test_a_table_has_the_address_of_its_database(database: str, folder: Path) -> None:
    spec = _nightly(folder, "people", "table: people_k12")
    ask(database, "SELECT 1")
    with listening() as server:
        kanon_sql.run(spec, database=database, lineage=server.url)
        _, complete = _checked(server)
    (before,), (after,) = complete["inputs"], complete["outputs"]
    assert before["namespace"] == after["namespace"]
    if database.endswith(".duckdb"):
        assert before["namespace"] == f"duckdb://{database}"
        assert (before["name"], after["name"]) == ("hospital.main.people", "hospital.main.people_k12")
    else:
        assert re.fullmatch(r"postgres://localhost:\d+", before["namespace"])
        assert re.fullmatch(r"postgres\.test_\w+\.people", before["name"])
        assert after["name"] == f"{before['name']}_k12"
    assert _transformations(complete)["zip"] == ("zip", True)


def test_an_address_has_no_password(postgres: PostgreSQL) -> None:
    class Info:
        host, port, dbname, user, password = "db.example", 5433, "hospital", "me", "secret"

    class Connection:
        info = Info()

    relation = postgres.place("people")
    postgres_elsewhere = PostgreSQL.__new__(PostgreSQL)
    postgres_elsewhere.connection = Connection()  # type: ignore[assignment]
    namespace, name = postgres_elsewhere.address(relation)
    assert namespace == "postgres://db.example:5433"
    assert name.startswith("hospital.test_")


def test_an_address_of_a_file_or_object_has_no_key() -> None:
    assert of_file("https://me:pw@host/a.csv?sig=1") == ("https://host", "a.csv")
    assert of_file("a/../b.csv") == ("file", str(Path("b.csv").absolute()))


def test_columns_of_perturbed_and_redrawn_values_are_masked() -> None:
    columns = ("age", "pay", "ill", "city")
    source = Dataset("file", "a.csv", dict.fromkeys(columns, "VARCHAR"))
    target = Dataset("file", "b.csv", dict.fromkeys(("age_min", "age_max", "pay", "ill", "city"), "VARCHAR"))
    manifest = {
        "rows": 10,
        "roles": {"quasi_identifiers": ["age"], "sensitive": ["ill"], "kept": ["city"]},
        "damage": [{"column": "age", "unchanged": 4}],
        "perturbation": {"columns": {"pay": {"noise": {"scale": 100}}}},
        "minimality": {"columns": [{"column": "ill"}]},
    }
    found = column_lineage(source, target, None, manifest)
    assert {name: (from_.column, from_.masking) for name, (from_,) in found.items()} == {
        "age_min": ("age", True),
        "age_max": ("age", True),
        "pay": ("pay", True),
        "ill": ("ill", True),
        "city": ("city", False),
    }
    everything_unchanged = {**manifest, "damage": [{"column": "age", "unchanged": 10}]}
    assert not column_lineage(source, target, None, everything_unchanged)["age_min"][0].masking


def test_perturbed_values_and_ages_are_transformed(folder: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT 'p' || i AS name, DATE '1980-01-01' + CAST(i % 20 * 400 AS INT) AS born, "
            "DATE '2026-01-01' AS seen, i % 9 AS pay FROM range(200) r(i)) TO 'patients.csv'"
        )
    spec = folder / "patients.yml"
    spec.write_text(
        "source: {file: patients.csv, columns: {born: age at seen}}\nidentifiers: [name]\nprivacy: {k: 3}\n"
        "quasi_identifiers: {born: {hierarchy: {ranges: [5, 10]}, max_level: 0}}\n"
        "perturb: {pay: {noise: {scale: 2}}}\nsecret: secret.txt\ntarget: {file: noisy.csv}\n"
    )
    (folder / "secret.txt").write_text("0123456789abcdef" * 2)
    with listening() as server:
        kanon_sql.run(spec, lineage=server.url)
        _, complete = _checked(server)
    fields = complete["outputs"][0]["facets"]["columnLineage"]["fields"]
    found = {
        name: [(from_["field"], *_kind(from_["transformations"])) for from_ in sources["inputFields"]]
        for name, sources in fields.items()
    }
    assert found == {
        "born": [("born", "TRANSFORMATION", False), ("seen", "TRANSFORMATION", False)],
        "pay": [("pay", "TRANSFORMATION", True)],
    }


def _kind(transformations: list[dict[str, Any]]) -> tuple[str, bool]:
    (transformation,) = transformations
    return transformation["subtype"], transformation["masking"]


def test_cloaked_places_come_from_the_location_and_the_time(folder: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT i % 12 AS taxi, (i * 7) % 5 / 100 AS lat, (i * 3) % 5 / 100 AS lon, i % 60 AS t, 'x' AS ride "
            "FROM range(240) r(i)) TO 'trips.parquet'"
        )
    spec = folder / "trips.yml"
    spec.write_text(
        "source: trips.parquet\nlocation: [lat, lon]\ntime: t\nunit: taxi\nkeep: [ride]\nprivacy: {k: 3}\n"
        "target: {file: cloaked.parquet}\ndifferencing_limit: unlimited\n"
    )
    with listening() as server:
        kanon_sql.run(spec, lineage=server.url)
        _, complete = _checked(server)
    fields = complete["outputs"][0]["facets"]["columnLineage"]["fields"]
    from_ = {name: {field["field"] for field in sources["inputFields"]} for name, sources in fields.items()}
    assert from_.pop("ride") == {"ride"}
    assert from_
    assert all(sources == {"lat", "lon", "t"} for sources in from_.values())


def test_a_server_that_never_ends_its_answer_does_not_stop_a_run(folder: Path) -> None:
    from kanon_sql.pipeline.lineage import Lineage

    ended = threading.Event()
    lineage = Lineage(str(folder / "events.jsonl"))
    lineage._transport.emit = lambda _: ended.wait(30)
    assert lineage.send(object(), longest=0.05) == "no answer within 0.05 seconds"
    ended.set()


# The check of events


Fault = Callable[[dict[str, Any]], object]


def _lineage_facet(event: dict[str, Any]) -> dict[str, Any]:
    facet: dict[str, Any] = event["outputs"][0]["facets"]["columnLineage"]
    return facet


FAULTS: dict[str, Fault] = {
    "no producer": lambda event: event.pop("producer"),
    "no name of the job": lambda event: event["job"].pop("name"),
    "another type of event": lambda event: event.update(eventType="DONE"),
    "a time without a zone": lambda event: event.update(eventTime="2026-11-26T02:00:00"),
    "a run without a UUID": lambda event: event["run"].update(runId="nightly-1"),
    "a text as masking": lambda event: _lineage_facet(event)["fields"]["zip"]["inputFields"][0]["transformations"][
        0
    ].update(masking="true"),
    "a column without the name of its table": lambda event: _lineage_facet(event)["dataset"][0].pop("name"),
    "no version of the engine": lambda event: event["run"]["facets"]["processing_engine"].pop("version"),
    "a number of rows with a fraction": lambda event: event["outputs"][0]["outputFacets"]["outputStatistics"].update(
        rowCount=1.5
    ),
    "a field without a name": lambda event: event["inputs"][0]["facets"]["schema"]["fields"][0].pop("name"),
    "a facet under another name": lambda event: event["job"]["facets"].update(
        job_type=event["job"]["facets"]["jobType"]
    ),
    "a facet without a schema": lambda event: event["job"]["facets"]["jobType"].pop("_schemaURL"),
}
BEYOND_THE_SCHEMA: dict[str, Fault] = {
    "an invalid URN": lambda event: event.update(producer="urn:kanon_sql:1"),
    "lineage of an unknown column": lambda event: _lineage_facet(event)["fields"].update(
        name=_lineage_facet(event)["fields"]["zip"]
    ),
    "lineage from an unknown column": lambda event: _lineage_facet(event)["dataset"][0].update(field="salary"),
}


@pytest.fixture
def complete(folder: Path) -> dict[str, Any]:
    """The last event of a release."""
    kanon_sql.run(_nightly(folder), lineage=folder / "events.jsonl")
    event: dict[str, Any] = json.loads((folder / "events.jsonl").read_text().splitlines()[-1])
    return event


def test_the_check_finds_faults(complete: dict[str, Any]) -> None:
    check(complete)
    for name, plant in (FAULTS | BEYOND_THE_SCHEMA).items():
        wrong = copy.deepcopy(complete)
        plant(wrong)
        assert _is_wrong(wrong), f"not found: {name}"


def _is_wrong(event: dict[str, Any]) -> bool:
    try:
        check(event)
    except (AssertionError, ValueError, KeyError):
        return True
    return False


@pytest.mark.skipif(not openlineage_schema.FOLDER, reason=openlineage_schema.MISSING)
def test_the_schema_of_openlineage_finds_faults(complete: dict[str, Any]) -> None:
    assert not openlineage_schema.errors(complete)
    for name, plant in FAULTS.items():
        wrong = copy.deepcopy(complete)
        plant(wrong)
        assert openlineage_schema.errors(wrong), f"not found: {name}"
