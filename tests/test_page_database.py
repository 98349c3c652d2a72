"""The read-only page of a spec of several tables: what it shows, and that it writes nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql import run_database
from kanon_sql.errors import SpecError
from kanon_sql.page.database import open_database
from support.browser import NEEDS_CHROMIUM, clean, fits, picture, window
from support.command_line import kanon
from support.page import client_on, finished, served, text_of, work_here

SPEC = """
database: hospital.duckdb
unit: {patients: id}
tables:
  patients:
    quasi_identifiers: {age: {hierarchy: {ranges: [20]}}}
    identifiers: [name]
  visits:
    keys: {visit: own, patient: patients}
    quasi_identifiers: {ward: {hierarchy: suppress}}
    sensitive: [severity]
privacy: {k: 5, m: 1, l_diversity: {visits.severity: 2}}
deferral_limit: 0.2
into: {schema: anon}
"""


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sixty patients with two visits each, and a person in three with none."""
    monkeypatch.chdir(tmp_path)
    work_here(monkeypatch)
    with duckdb.connect("hospital.duckdb") as connection:
        connection.execute(
            "CREATE TABLE patients AS SELECT range AS id, 20 + range % 20 AS age, 'Secretname' AS name FROM range(60)"
        )
        connection.execute(
            """CREATE TABLE visits AS SELECT range AS visit, range % 40 AS patient, range % 2 AS ward,
            CASE WHEN range % 3 = 0 THEN 'Secretvalue' ELSE 'mild' END AS severity FROM range(80)"""
        )
    Path("hospital.yml").write_text(SPEC)
    return Path("hospital.yml")


@pytest.fixture
def client(spec: Path) -> Iterator[Any]:
    with client_on(open_database(spec)) as client:
        assert finished(client).ended == "done"
        yield client


def reloaded(client: Any, path: str = "database/reload") -> str:
    client.post(path)
    assert finished(client).ended == "done"
    return text_of(client.get("database").text)


def change_hospital(*statements: str) -> None:
    with duckdb.connect("hospital.duckdb") as connection:
        for statement in statements:
            connection.execute(statement)


def test_the_release_its_check_and_its_runs_are_shown(client: Any) -> None:
    text = text_of(client.get("").text)
    assert "there is no table patients in the schema anon; release first" in text
    assert "has not released these tables" in text
    assert client.get("database/report").status_code == 404
    run_database("hospital.yml")
    change_hospital("INSERT INTO patients SELECT 100 + range, 30, 'Secretname' FROM range(3)")
    run_database("hospital.yml")
    before = Path("hospital.duckdb").read_bytes()
    text = reloaded(client)
    assert "satisfied (5, 1)-anonymity and the models of sensitive columns" in text
    assert "patients 60 released rows of 60 people" in text
    assert "visits 80 released rows of 40 people" in text
    assert "patient key, refers to patients replaced by a random key" in text
    assert "name identifier dropped" in text
    assert "severity sensitive unchanged, limited by l-diversity" in text
    assert "ward quasi-identifier unchanged at level 0 (suppress)" in text
    assert "row of the main table 60 people 5" in text
    assert "visits.severity" in text
    runs = text.partition("Shared in both releases by at least")[2]
    assert runs.split("UTC")[1].split()[:6] == ["60", "3", "3", "0", "0", "1"]
    reloaded(client, "database/create")
    report = client.get("database/report")
    assert "sandbox" in report.headers["content-security-policy"]
    assert "Release of several tables" in report.text
    assert Path("hospital.duckdb").read_bytes() == before
    for shown in (client.get("database").text, report.text):
        assert "Secret" not in shown
    change_hospital("DELETE FROM anon.patients WHERE rowid > 2")
    text = reloaded(client)
    assert "not satisfied (5, 1)-anonymity" in text
    assert "refer by patient to rows of patients that do not exist" in text
    assert client.get("database/report").status_code == 404  # it was about another release
    Path("hospital.yml").write_text(SPEC.replace("k: 5", "k: none"))
    answer = client.post("database/reload")
    assert answer.status_code == 422
    assert "Not read: privacy.k" in text_of(answer.text)
    assert "not satisfied (5, 1)-anonymity" in text_of(client.get("database").text)  # as last read


def test_the_page_is_guarded_like_the_other(client: Any) -> None:
    assert client.get("database").headers["x-content-type-options"] == "nosniff"
    assert client.get("http://127.0.0.1:1/other/database").status_code == 403
    assert client.get("database", headers={"host": "evil.example:1"}).status_code == 403
    assert client.post("database/reload", headers={"origin": "http://evil.example"}).status_code == 403
    assert str(client.get("database/reload").url).endswith("/database")  # reloaded
    for screen in ("columns", "data", "release", "start"):
        assert client.get(screen).status_code == 404


def test_what_does_not_go_with_the_page_is_refused(spec: Path) -> None:
    done = kanon("page", "--spec", "hospital.yml", "--output", ".")
    assert done.code == 2
    assert "read-only; leave out --output" in " ".join(done.err.split())
    spec.write_text(SPEC.replace("suppress", "{function: 'mine:wards'}"))
    with pytest.raises(SpecError, match="runs no code, and the spec names mine:wards"):
        open_database(spec)


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_it_has_no_violation_and_fits(browser: Any, spec: Path) -> None:
    run_database(spec)
    with served(open_database(spec)) as address:
        opened = window(browser, address)
        opened.wait_for_selector("#combinations")
        clean(opened)
        picture(opened, "database")
        opened.set_viewport_size({"width": 400, "height": 800})
        fits(opened)
        picture(opened, "database-narrow")
