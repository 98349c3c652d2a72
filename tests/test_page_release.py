"""The screen of the release: what it writes, where, with which levels, and what it refuses to write or read."""

import os
import re
import stat
import threading
from pathlib import Path

import duckdb
import pytest

from kanon_sql import anonymize
from kanon_sql.page import worker
from kanon_sql.page.draft import Draft
from kanon_sql.page.first_draft import open_page
from kanon_sql.page.release import spec_text
from kanon_sql.page.work import Work
from support.browser import NEEDS_CHROMIUM, clean, fits, window
from support.page import PEOPLE, client_of, finished, served, work_here
from support.page import text_of as read
from support.specs import load

HOSTILE = ['"><img src=x onerror=alert(1)>', "\u202etxet\u202c", "x" * 300]


@pytest.fixture
def client(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    work_here(monkeypatch)
    duckdb.sql(PEOPLE).write_parquet("people.parquet")
    with client_of("people.parquet") as client:
        client.app.state.page.counted()
        yield client


def searched(client):
    client.post("search/run")
    assert finished(client).ended == "done"
    return client.app.state.page.results[-1]


def written(client, of, name="people_anon.parquet", **more):
    """The answer to a wish to write, and the work once it has ended."""
    answer = client.post("release/write", data={"of": of, "target": name, **more})
    work = finished(client)
    assert work.ended != "failed", work.result
    return answer, work


def classes(path, columns):
    return duckdb.sql(f"SELECT MIN(n), SUM(n) FROM (SELECT COUNT(*) AS n FROM '{path}' GROUP BY {columns})").fetchall()


def test_a_result_is_written_by_its_levels_and_nothing_is_searched_again(client):
    found = searched(client)
    assert "its levels, without a search" in read(client.get("release").text)
    answer, work = written(client, "1", report="write")
    assert (answer.status_code, work.ended, work.way) == (200, "done", [])
    release = client.app.state.page.results[-1]
    assert release.written
    assert (release.manifest["strategy"], release.manifest["node"]) == ("kept", found.manifest["node"])
    assert release.manifest["target"] == {"file": "people_anon.parquet"}
    ((smallest, rows),) = classes("people_anon.parquet", "age, zip, sex")
    assert (smallest, rows) == (release.manifest["smallest_class"], release.manifest["released_rows"])
    assert sorted(os.listdir()) == ["people.parquet", "people_anon.html", "people_anon.parquet"]
    html = client.get("release").text
    assert "every combination of their values is shared by 5 rows or more" in read(html)
    assert "A separate query checked the release" in read(html)
    the_report_is_shown_in_a_box_that_runs_nothing(client, html)
    written_before = Path("people_anon.parquet").stat().st_mtime_ns
    again = client.post("release/write", data={"of": "1", "target": "people_anon.parquet", "report": "write"})
    assert "people_anon.parquet and people_anon.html exist already. Replace them?" in read(again.text).replace(
        "  ", " "
    )
    assert Path("people_anon.parquet").stat().st_mtime_ns == written_before
    assert len(client.app.state.page.results) == 2
    agreed = {"replace": ["people_anon.parquet", "people_anon.html"]}
    client.post("release/write", data={"of": "1", "target": "people_anon.parquet", "report": "write", **agreed})
    assert finished(client).ended == "done"
    assert Path("people_anon.parquet").stat().st_mtime_ns > written_before


def the_report_is_shown_in_a_box_that_runs_nothing(client, html):
    assert 'iframe sandbox src="/token-of-the-tests/release/report/2"' in html
    report = client.get("release/report/2")
    policy = report.headers["content-security-policy"].split("; ")
    assert {"default-src 'none'", "style-src 'unsafe-inline'", "sandbox"} <= {*policy}
    assert not any(item.startswith("script-src") for item in policy)
    assert report.text == Path("people_anon.html").read_text()
    kept = client.get("release/report/2?download=1").headers["content-disposition"]
    assert kept == 'attachment; filename="report-2.html"'
    assert client.get("release/report/1").status_code == 404
    assert client.get("release/report/9").status_code == 404


def test_the_written_spec_gives_the_same_release(client):
    client.post("columns/1", data={"priority": "1"})
    found = searched(client)
    assert client.post("release/spec", data={"of": "1", "name": "release.yml"}).status_code == 200
    path = Path("release.yml")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load(path).quasi_identifiers == client.app.state.page.draft.spec().quasi_identifiers
    release = anonymize(None, path)
    assert (release.manifest["node"], release.manifest["target"]["file"]) == (
        found.manifest["node"],
        "people_anon.parquet",
    )
    assert "# an identifier by its name" in path.read_text().replace("- person_id   ", "")
    html = client.get("release").text
    assert "✓ release.yml is written with these contents." in read(html)
    assert "kanon anonymize --spec release.yml" in read(html)
    client.post("risk", data={"k": "7"})
    changed = client.get("release?of=draft").text
    assert "Replace release.yml , which has other contents" in read(changed)
    assert client.post("release/spec", data={"of": "draft", "name": "release.yml"}).status_code == 422
    assert client.post("release/spec", data={"of": "draft", "name": "release.yml", "replace": "release.yml"}).is_success
    assert load(path).privacy.k == 7
    assert client.get("release/spec?of=draft").text == path.read_text()


def test_the_verdict_depends_on_the_recipient_and_the_decision_is_in_the_spec(client):
    found = searched(client)
    page = client.app.state.page
    html = client.get("release").text
    assert "Not decided : choose the recipient" in read(html)
    assert "SELECT" in found.statement["sql"]  # shown at once
    assert "Statement" not in page.work.name
    client.post("release/decision", data={"recipient": "public"})
    html = client.get("release").text
    assert "Not releasable , for the public" in read(html)
    assert "a highest risk of at most 0.09" in read(html)
    assert f"exactly {1 / found.manifest['smallest_class']:.6g}" in read(html)
    client.post("release/decision", data={"recipient": "secure", "purpose": "research", "review_date": "2099-01-31"})
    client.post("release/decision", data={"with_norms": "1", "norms": ["pdpc", "unknown"]})
    assert page.draft.spec().norms == ("pdpc",)
    assert "of a result" not in read(client.get("release").text)
    assert found.draft.asks_like(page.draft)  # the decision does not change the release
    assert "`" not in re.sub(r"<pre.*?</pre>", "", client.get("release").text, flags=re.S)
    assert "not measured" in read(client.get("release").text)
    client.post("release/measure?of=1")
    assert finished(client).ended == "done"
    html = client.get("release?of=1").text
    assert "Unique by columns released unchanged" in read(html)
    assert "not measured" not in read(html).partition("Figures of the decision")[2].partition("Write it")[0]
    for wrong in ({"recipient": "x"}, {"accepted_risk": "2"}, {"review_date": "soon"}):
        assert client.post("release/decision", data=wrong).status_code == 422
    client.post("release/spec", data={"of": "1", "name": "release.yml"})
    written_spec = load("release.yml")
    assert (written_spec.recipient, written_spec.purpose) == ("secure", "research")


BAD = ["../x", "/tmp/x", "a/x", "a\\x", "C:x", ".x", "x\0", "‮x", "", "x" * 300, "x\n"]


def test_no_name_leads_out_of_the_folder(client, tmp_path):
    page = client.app.state.page
    before = page.draft
    for name in [*(f"{bad}.parquet" for bad in BAD), "x.txt", "x.yml", "x.parquet/", "release.html"]:
        assert client.post("release/where", data={"target": name}).status_code == 422, name
    for name in [*(f"{bad}.yml" for bad in BAD), "x.parquet"]:
        assert client.post("release/spec", data={"of": "draft", "name": name}).status_code == 422, name
        assert client.post("release/where", data={"spec": name}).status_code == 422, name
    assert (page.draft, page.spec_name) == (before, "release.yml")
    assert os.listdir() == ["people.parquet"]
    assert os.listdir(tmp_path.parent).count(tmp_path.name) == 1


def test_nothing_is_written_through_a_link_or_over_the_source(client, tmp_path):
    searched(client)
    (tmp_path / "away").mkdir()
    precious = tmp_path / "away" / "precious.parquet"
    precious.write_text("precious")
    Path("link.parquet").symlink_to(precious)
    Path("link.yml").symlink_to(precious)
    before = Path("people.parquet").read_bytes()
    for name in ("link.parquet", "people.parquet"):
        client.post("release/where", data={"target": name})
        answer = client.post("release/write", data={"of": "1", "target": name, "replace": name})
        assert answer.status_code == 422, name
    assert "is read for the release itself" in read(answer.text)
    assert client.post("release/spec", data={"of": "1", "name": "link.yml", "replace": "link.yml"}).status_code == 422
    assert (precious.read_text(), Path("people.parquet").read_bytes()) == ("precious", before)
    Path("zip.csv").write_text("1000;*\n")
    client.app.state.page.change(lambda draft: draft.with_keys(hierarchies="."))
    client.post("release/where", data={"target": "sex.csv"})
    answer = client.post("release/write", data={"of": "draft", "target": "sex.csv"})
    assert "would be one of the hierarchies" in read(answer.text)
    assert not Path("sex.csv").exists()


def test_a_release_in_progress_uses_the_options_from_its_start(client, monkeypatch):
    """Another window changes the draft and the name while the first one's release is made."""
    started, go_on, really = threading.Event(), threading.Event(), worker.anonymize

    def slowly(*given, **more):
        started.set()
        assert go_on.wait(20)
        return really(*given, **more)

    monkeypatch.setattr(worker, "anonymize", slowly)
    Path("people_anon.parquet").write_bytes(b"of yesterday")
    client.post(
        "release/write", data={"of": "draft", "target": "people_anon.parquet", "replace": "people_anon.parquet"}
    )
    assert started.wait(20)
    client.post("risk", data={"k": "40"})
    client.post("release/where", data={"target": "other.csv"})
    go_on.set()
    assert finished(client).ended == "done"
    release = client.app.state.page.results[-1]
    assert (release.manifest["target"]["file"], release.manifest["privacy"][0]["required"]) == (
        "people_anon.parquet",
        5,
    )
    assert release.draft.k == 5
    assert sorted(os.listdir()) == ["people.parquet", "people_anon.parquet"]
    assert Path("people_anon.parquet").read_bytes() != b"of yesterday"
    html = client.get("release?of=1").text
    assert "comes from an earlier draft" in read(html)
    stale = client.post("release/write", data={"of": "draft", "target": "people_anon.parquet"})
    assert "Another window has changed" in read(stale.text)


def test_an_incomplete_draft_names_what_is_missing(client):
    for place in (1, 2, 3):
        client.post(f"columns/{place}", data={"role": "dropped"})
    html = client.get("release").text
    assert "This is not a valid spec yet: give at least one column the role “quasi-identifier” under Columns" in read(
        html
    )
    assert ">Columns</a>" in html
    assert 'id="write"' not in html
    assert client.post("release/write", data={"of": "draft", "target": "people_anon.parquet"}).status_code == 422
    assert client.get("release/spec?of=draft").status_code == 422


def test_another_folder_has_the_release_and_a_spec_with_paths_from_there(tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    work_here(monkeypatch)
    duckdb.sql(PEOPLE).write_parquet("people.parquet")
    with client_of("people.parquet", output=Path("../out")) as client:
        client.app.state.page.counted()
        written(client, "draft")
        client.post("release/spec", data={"of": "draft", "name": "release.yml"})
    assert os.listdir() == ["people.parquet"]
    assert sorted(os.listdir("../out")) == ["people_anon.parquet", "release.yml"]
    spec = load("../out/release.yml")
    assert (Path(spec.source).resolve(), Path(spec.target.file).resolve()) == (
        Path("people.parquet").resolve(),
        Path("../out/people_anon.parquet").resolve(),
    )


def test_a_table_of_a_database_becomes_a_view_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    work_here(monkeypatch)
    with duckdb.connect("hospital.duckdb") as connection:
        connection.execute(f"CREATE TABLE people AS {PEOPLE}")
    with client_of("people", database="hospital.duckdb") as client:
        client.app.state.page.counted()
        for bad in ("../x", "parquet.`/tmp/x`", "x\0"):
            assert client.post("release/where", data={"target": bad, "as": "view"}).status_code == 422
        client.post("release/where", data={"target": "seen", "as": "view"})
        written(client, "draft", "seen")
        found = client.app.state.page.result(1)
        assert found.manifest["target"]["as"] == "view"
        assert "rows, as a view" in read(client.get("release").text)
        assert client.get("compare").is_success
        client.post("release/statement", data={"of": "1", "dialect": "snowflake", "table": "PUBLIC.PEOPLE"})
        assert finished(client).ended == "done"
        html = client.get("release?of=1").text
        assert 'FROM "PUBLIC"."PEOPLE"' in read(html)
        assert "printed for snowflake" in read(html)
    with duckdb.connect("hospital.duckdb", read_only=True) as connection:
        assert connection.execute("SELECT COUNT(*) FROM seen").fetchone() == (found.manifest["released_rows"],)


def test_a_job_stopped_before_its_start_counts_as_stopped(tmp_path):
    ended = threading.Event()
    work = Work("a release", {}, lambda reported: ended.set() if reported.ended else None, lambda *_: None)
    work.start(tmp_path)
    work.stop(keep=False)
    assert ended.wait(20)
    assert work.ended == "stopped"


def test_a_password_is_in_no_spec():
    draft = Draft((), {"source": "people", "database": "postgresql://me:secret@db/hospital", "privacy": {"k": 5}})
    text = spec_text(draft, draft.mapping(), "release.yml")
    assert "secret" not in text
    assert '--database "$DATABASE"' in text


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_hostile_names_in_two_windows(browser, tmp_path, monkeypatch):
    """By keyboard in one window, seen in the other: a release of columns with hostile names, and axe."""
    monkeypatch.chdir(tmp_path)
    work_here(monkeypatch)
    names = {name: [f"<b>{name[:20]}{i % (2 + place)}" for i in range(40)] for place, name in enumerate(HOSTILE)}
    _parquet("<i>.parquet", names)
    page = open_page("<i>.parquet")
    page.change(_all_generalized)
    page.counted()
    with served(page) as address:
        one = window(browser, f"{address}search")
        other = window(browser, f"{address}compare", 420)
        one.focus("#go")
        one.keyboard.press("Enter")
        other.wait_for_selector("main option:text('1. auto')", state="attached")
        for opened in (one, other):
            opened.goto(f"{address}release")
        one.focus("#write")
        one.keyboard.press("Enter")
        for opened in (one, other):
            opened.wait_for_selector("#written iframe", timeout=60_000)
            assert "Release report" in opened.frames[1].content()
        for opened, screen in ((one, "release"), (other, "release"), (one, "compare"), (other, "compare")):
            opened.goto(f"{address}{screen}")
            fits(opened)
            if (opened, screen) in ((one, "release"), (other, "compare")):
                clean(opened)
        one.goto(f"{address}compare")
        one.focus("#remove-left")
        one.keyboard.press("Enter")
        other.wait_for_selector("#left option[value='1']", state="detached")
        assert one.complaints == other.complaints == []


def _parquet(path, columns):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def _all_generalized(draft):
    for place, column in enumerate(draft.columns):
        draft = draft.changed(place, column.with_key("hierarchy", "suppress"))
        draft = draft.changed(place, type(column)(column.suggested, "quasi-identifier", {"hierarchy": "suppress"}))
    return draft
