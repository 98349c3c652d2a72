"""The start screen of the page: what can be opened, uploaded, saved and reopened, and Undo."""

import json
import os
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql.page import folder
from kanon_sql.page.explore import checked, exploration
from kanon_sql.page.server import MOST_BYTES, MOST_OF_DATA
from support.page import PEOPLE, client_of, finished, text_of, work_here


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    work_here(monkeypatch)
    duckdb.sql(PEOPLE).write_parquet("people.parquet")


def opened(client: Any, source: str, **fields: str) -> Any:
    return client.post("start/open", data={"source": source, **fields})


def problem(answer: Any) -> str:
    assert answer.status_code == 422
    return text_of(answer.text.partition('role="alert"')[2])


def test_without_a_source_every_screen_leads_to_the_start():
    with client_of(None) as client:
        page = client.app.state.page
        for screen in ("", "columns", "hierarchies", "risk", "models", "search", "compare", "release"):
            answer = client.get(screen)
            assert (answer.status_code, str(answer.url).rpartition("/")[2]) == (200, "start"), screen
        assert client.post("columns/0", data={"role": "kept"}).url.path.endswith("/start")
        assert "Choose a file or a table first" in problem(client.post("start/open"))
        assert str(client.get("start/open").url).endswith("/start")  # reloaded
        assert client.delete("start/open").status_code == 405
        assert "Nothing is open yet" in problem(client.post("start/save", data={"name": "x"}))
        assert str(opened(client, "file:people.parquet").url).endswith("/columns")
        assert [column.name for column in page.draft.quasi_identifiers] == ["age", "zip", "sex"]
        assert page.rows == 400
        page.counted()
        assert "of 400" in text_of(client.get("risk").text)


def test_only_files_of_the_folder_are_listed_and_opened(tmp_path_factory):
    away = tmp_path_factory.mktemp("away") / "secret.csv"
    away.write_text("age\n1\n2\n")
    Path("link.csv").symlink_to(away)
    Path(".hidden.csv").write_text("age\n1\n")
    Path("notes.md").write_text("x")
    Path("below").mkdir()
    Path("below/inner.csv").write_text("age\n1\n")
    with client_of("people.parquet") as client:
        text = client.get("start").text
        assert "people.parquet" in text
        for name in ("link.csv", ".hidden.csv", "notes.md", "inner.csv"):
            assert name not in text
        for name in (
            "link.csv",
            ".hidden.csv",
            "below/inner.csv",
            f"{away}",
            "../x.csv",
            "notes.md",
            "gone.csv",
            "*.csv",
        ):
            assert opened(client, f"file:{name}").status_code == 422, name
            assert opened(client, f"table:{name}").status_code == 422, name
        assert client.app.state.page.source == "people.parquet"


def test_a_file_is_read_as_the_fields_say_and_keeps_its_roles():
    rows = "\n".join(
        f"0{8000 + i % 4};{20 + i % 30};1,{i % 10};0{1 + i % 9}.02.2024;{i % 7 or 'k. A.'}" for i in range(90)
    )
    Path("ward.csv").write_text(f"PLZ;Alter;Gewicht;Eintritt;Tage\n{rows}\n")
    with client_of(None) as client:
        page = client.app.state.page
        fields = {"decimal": ",", "date_format": "dd.mm.yyyy", "null": "k. A.", "columns": "PLZ\n"}
        opened(client, "file:ward.csv", **fields)
        types = {column.name: column.suggested.type for column in page.draft.columns}
        assert types == {"PLZ": "VARCHAR", "Alter": "BIGINT", "Gewicht": "DOUBLE", "Eintritt": "DATE", "Tage": "BIGINT"}
        assert page.draft.spec().null == ("k. A.",)
        assert "dd.mm.yyyy" in client.get("start").text
        client.post("columns/0", data={"role": "sensitive", "reason": "  we chose\nthis "})
        client.post("risk", data={"k": "3"})
        opened(client, "current", **{**fields, "null": ""})
        types = {column.name: column.suggested.type for column in page.draft.columns}
        assert types["Tage"] == "VARCHAR"
        assert (page.draft.columns[0].role, page.draft.columns[0].reason) == ("sensitive", "we chose this")
        assert page.draft.k == 3
        assert "Text encoding" in problem(opened(client, "current", encoding="nonsense"))
        Path("titled.csv").write_text(f"Statistik 2024\nPLZ;Alter;Gewicht;Eintritt;Tage\n{rows}\n")
        opened(client, "file:titled.csv", skip_lines="1")
        assert [column.name for column in page.draft.columns][:2] == ["PLZ", "Alter"]
        assert page.draft.spec().skip_lines == 1
        text = client.get("start").text
        assert 'name="skip_lines" min="0" max="1000" value="1"' in text
        assert '<option value="" selected>Detected: semicolon</option>' in text
        Path("lists.txt").write_text("Name\tWards;days\n" + "A\t1;2\n" * 9)
        opened(client, "file:lists.txt")
        assert [column.name for column in page.draft.columns] == ["Name\tWards", "days"]
        assert "Detected: semicolon" in client.get("start").text
        opened(client, "current", delimiter="tab")
        assert [column.name for column in page.draft.columns] == ["Name", "Wards;days"]
        assert '<option value="tab" selected>Tab</option>' in client.get("start").text
        assert page.draft.keys["delimiter"] == "tab"
        assert "Between the fields" in problem(opened(client, "current", delimiter="|"))


def test_tables_of_the_database_can_be_opened():
    with duckdb.connect("hospital.duckdb") as connection:
        connection.execute(f"CREATE TABLE people AS {PEOPLE}")
    with client_of(None, database="hospital.duckdb") as client:
        assert 'value="table:main.people"' in client.get("start").text
        opened(client, "table:main.people")
        assert client.app.state.page.draft.keys["database"] == "hospital.duckdb"
        assert client.app.state.page.rows == 400
        client.post("start/save", data={"name": "of a table"})
        assert "hospital" not in Path("of a table.kanon.json").read_text()
        assert client.post("start/reopen", data={"work": "of a table.kanon.json"}).status_code == 200
        assert client.app.state.page.draft.keys["database"] == "hospital.duckdb"
    with client_of("people.parquet") as client:
        answer = client.post("start/reopen", data={"work": "of a table.kanon.json"})
        assert "start the page with its database" in problem(answer)


def test_an_upload_gets_a_new_private_file(monkeypatch):
    with client_of(None) as client:

        def send(name: str, content: bytes = b"age\n1\n") -> Any:
            return client.post("start/upload", files={"upload": (name, content)})

        assert "ward.csv" in send("ward.csv").text
        assert Path("ward.csv").read_bytes() == b"age\n1\n"
        assert oct(os.stat("ward.csv").st_mode & 0o777) == "0o600"
        assert "already" in problem(send("ward.csv", b"other"))
        Path("link.csv").symlink_to("away.csv")
        assert "already" in problem(send("link.csv"))
        assert Path("ward.csv").read_bytes() == b"age\n1\n"
        for name in ("x.py", ".x.csv", "x", "x" * 300 + ".csv", "x.kanon.json"):
            assert send(name).status_code == 422, name
        assert send("../../over.csv").status_code == 200  # a browser may send a path: its last part counts
        monkeypatch.setattr(folder, "MOST_UPLOADED", 10)
        assert "cannot be uploaded" in problem(send("large.csv", b"x" * 11))
        assert sorted(os.listdir()) == ["link.csv", "over.csv", "people.parquet", "ward.csv"]
        too_long = {"content-length": str(MOST_OF_DATA + 1)}
        assert client.post("start/upload", headers=too_long).status_code == 403
        assert client.post("start/open", headers={"content-length": str(MOST_BYTES + 1)}).status_code == 403


def test_saved_work_comes_back_with_its_results():
    with client_of("people.parquet") as client:
        page = client.app.state.page
        client.post("columns/1", data={"role": "quasi-identifier", "reason": "the press knows it"})
        client.post("risk", data={"k": "3", "level-2": "1"})
        client.post("search/run")
        assert finished(client).ended == "done"
        assert "Saved as" in text_of(client.post("start/save", data={"name": "monday"}).text)
        assert oct(os.stat("monday.kanon.json").st_mode & 0o777) == "0o600"
        assert "exists already" in problem(client.post("start/save", data={"name": "monday"}))
        assert client.post("start/save", data={"name": "monday", "replace": "on"}).status_code == 200
        for name in ("../x", ".x", "a/b", "x" * 300):
            assert client.post("start/save", data={"name": name}).status_code == 422, name
        draft, results = page.draft, page.results
    with client_of(None) as client:
        page = client.app.state.page
        assert "monday" in client.get("start").text
        assert str(client.post("start/reopen", data={"work": "monday.kanon.json"}).url).endswith("/columns")
        assert page.draft.mapping() == draft.mapping()
        assert (page.draft.levels, page.draft.columns[1].reason) == ({"zip": 1}, "the press knows it")
        assert [(r.number, r.name, dict(r.manifest)) for r in page.results] == [
            (r.number, r.name, json.loads(json.dumps(r.manifest, default=str))) for r in results
        ]
        explored = page.results[0].explored
        assert explored["nodes"] == results[0].explored["nodes"]
        assert (explored["samples"], bool(results[0].explored["samples"])) == ({}, True), "no value of the source"
        assert "Other levels for 1" in client.get("compare").text
        for screen in ("search", "release", "risk"):
            assert client.get(screen).status_code == 200, screen
        client.post("search/run")
        assert finished(client).ended == "done"
        assert [result.number for result in page.results] == [1, 2]
        work = json.loads(Path("monday.kanon.json").read_text())
        work["draft"]["spec"] |= {"temp_directory": "/tmp", "write_regions": "away.json"}
        Path("monday.kanon.json").write_text(json.dumps(work))
        client.post("start/reopen", data={"work": "monday.kanon.json"})
        assert not {"temp_directory", "write_regions"} & page.draft.keys.keys()


def _age(work: Any) -> Any:
    return work["draft"]["spec"]["quasi_identifiers"]["age"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda work: work["draft"]["spec"].update(source="/etc/hostname"), "not in this folder"),
        (lambda work: work["draft"]["spec"].update(source="https://example.org/people.csv"), "not in this folder"),
        (lambda work: work["draft"]["spec"].update(source="~/people.parquet"), "not in this folder"),
        (lambda work: work["draft"]["spec"].update(population="/etc/passwd"), "not in this folder"),
        (lambda work: _age(work).update(hierarchy={"file": "/etc/passwd"}), "/etc/passwd"),
        (lambda work: _age(work).update(hierarchy={"function": "os:system"}), "no code"),
        (lambda work: work["draft"]["spec"].update(strategy="os:system"), "no code"),
        (lambda work: work["draft"].pop("levels"), "was not saved by this page"),
        (lambda work: work.update(kanon_page=99), "another version"),
        (lambda work: work["draft"]["spec"].update(source="gone.parquet"), "gone.parquet"),
    ],
)  # fmt: skip
def test_a_changed_file_of_saved_work_is_refused(change, reason):
    with client_of("people.parquet") as client:
        client.post("start/save", data={"name": "x"})
        path = Path("x.kanon.json")
        work = json.loads(path.read_text())
        change(work)
        path.write_text(json.dumps(work))
        before = client.app.state.page.draft
        assert reason in problem(client.post("start/reopen", data={"work": "x.kanon.json"}))
        assert client.app.state.page.draft == before
        path.write_text("[]")
        assert "was not saved by this page" in problem(client.post("start/reopen", data={"work": "x.kanon.json"}))


def test_a_saved_lattice_is_checked():
    node = {"node": [1, 0], "safe": True, "detail": 0.5, "suppressed": 2, "groups": None, "smallest": None}
    saved = {"columns": ["a", "b"], "bottom": [0, 0], "top": [2, 1], "best": [1, 0], "nodes": [node], "small": True}
    saved |= {"rows": 9, "may_suppress": 2, "samples": {"a": ["x", "*"]}}
    found = exploration(7, checked(saved), "")
    assert found
    assert (found.best, [*found.nodes], found.samples) == ((1, 0), [(1, 0)], {})
    for change in (
        {"best": [0, 0]}, {"best": [1]}, {"top": [0, 0]}, {"top": [900, 900]}, {"nodes": [node] * 301}, {"rows": "x"},
        {"nodes": [{**node, "detail": "<b>"}]}, {"nodes": [{}]}, {"columns": None},
    ):  # fmt: skip
        with pytest.raises((KeyError, TypeError, ValueError)):
            checked({**saved, **change})
    assert checked({}) == {}


def test_changes_are_undone_and_redone():
    with client_of("people.parquet") as client:
        page = client.app.state.page
        first = page.draft
        assert "nothing to undo" in problem(client.post("undo", data={"screen": "columns"}))
        client.post("columns/1", data={"role": "kept"})
        client.post("columns/2", data={"role": "dropped"})
        second = page.draft
        for k in (3, 4, 7):  # a slider
            client.post("risk", data={"k": str(k)})
        assert str(client.post("undo", data={"screen": "hierarchies/2"}).url).endswith("/hierarchies")
        assert page.draft == second
        client.post("undo", data={"screen": "nonsense"})
        client.post("undo", data={"screen": "risk"})
        assert page.draft == first
        for _ in range(3):
            client.post("redo", data={"screen": "risk"})
        assert page.draft.k == 7
        client.post("undo", data={"screen": "risk"})
        client.post("columns/3", data={"role": "dropped"})
        assert "nothing to redo" in problem(client.post("redo", data={"screen": "risk"}))


def test_an_age_at_the_date_in_another_column_reads_the_file_again():
    rows = "\n".join(
        f"{1 + i % 28:02d}.0{1 + i % 9}.{1940 + i % 60};{1 + i % 28:02d}.03.{2020 + i % 4};{i % 3}" for i in range(200)
    )
    Path("stays.csv").write_text(f"Geburt;Eintritt;Dauer\n{rows}\n")
    with client_of("stays.csv") as client:
        page = client.app.state.page
        page.summaries().result()
        client.post("columns/0", data={"role": "quasi-identifier", "reason": "public"})
        days = re.search('id="f-age" [^>]*value="([0-9-]+)"', client.get("hierarchies/0?as=age").text)
        assert days
        assert days[1].startswith("2023-03-")  # the last day of the data, and not today
        for wrong in ("Dauer", "nobody", "Geburt"):
            assert "not a column of dates" in problem(client.post("hierarchies/0/age", data={"at": wrong}))
        client.post("hierarchies/0/age", data={"at": "Eintritt"})
        assert page.draft.spec().columns["Geburt"].type == "age at Eintritt"
        assert page.draft.columns[0].attribute == {"hierarchy": {"ranges": [5, 10, 20, 40], "top": 90}}
        assert (page.draft.columns[0].reason, page.draft.columns[0].suggested.type) == ("public", "INTEGER")
        page.summaries().result()
        assert "read as the age at" in client.get("hierarchies/0").text
        opened(client, "current", null="x")  # another way of reading keeps it
        assert page.draft.spec().columns["Geburt"].type == "age at Eintritt"
        client.post("hierarchies/0/age", data={"at": ""})
        assert (page.draft.spec().columns, page.draft.columns[0].suggested.type) == ({}, "DATE")
