"""The page: access, changes, the slider against a count in Python, a search, a killed server."""

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import get_args
from urllib.parse import urlsplit

import duckdb
import pytest

from kanon_sql.loss import METRICS
from kanon_sql.page.first_draft import open_page
from kanon_sql.page.search import METRIC_SENTENCES, STRATEGY_SENTENCES
from kanon_sql.page.server import MOST_BYTES, serve
from kanon_sql.page.wording import in_page_words
from kanon_sql.spec import LocalStrategy, SearchStrategy
from support.page import PEOPLE, TOKEN, client_of, finished, text_of, work_here


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    duckdb.sql(PEOPLE).write_parquet(str(tmp_path / "people.parquet"))
    return tmp_path / "people.parquet"


def at_risk(path: Path, columns: list[str], k: int) -> int:
    """The rows in classes of fewer than k, counted in Python."""
    rows = duckdb.sql(f"FROM '{path}'").df()[columns].astype(str).to_numpy().tolist()
    return sum(n for n in Counter(map(tuple, rows)).values() if n < k)


def test_only_requests_with_the_address_are_answered(people):
    with client_of(people) as client:
        assert client.get("columns").status_code == 200
        assert client.get("http://127.0.0.1:1/").status_code == 403
        assert client.get("http://127.0.0.1:1/guessed/columns").status_code == 403
        assert client.get("columns", headers={"host": "attacker.example:1"}).status_code == 403
        assert client.get("columns", headers={"host": "127.0.0.1:2"}).status_code == 403
        assert client.get("columns", headers={"host": "localhost:1"}).status_code == 200
        assert client.post("columns/1", headers={"origin": "http://attacker.example"}).status_code == 403
        assert client.post("columns/1", headers={"origin": "null"}).status_code == 403
        assert client.post("columns/1", headers={"origin": "127.0.0.1:1"}).status_code == 403
        assert client.post("columns/1", headers={"origin": "http://127.0.0.1:1"}).status_code == 200
        assert client.post("columns/1", headers={"content-length": str(MOST_BYTES + 1)}).status_code == 403


def write_modules(folder: Path, *names: str) -> None:
    for name in names:
        (folder / f"{name}.py").write_text(f"open('{name}.ran', 'w'); raise SystemExit")


@pytest.mark.slow
def test_a_browser_is_not_started_with_the_token_as_an_argument(people):
    """Its script of a browser keeps what every user of the machine can see, and follows the file."""
    browser = people.parent / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > argument; ls -ld "${1#file://}" "$(dirname "${1#file://}")" > modes\n')
    browser.chmod(0o700)
    write_modules(people.parent, "dataclasses", "json", "duckdb", "pandas", "yaml", "sqlglot", "webbrowser")
    command = [sys.executable, "-m", "kanon_sql", "page", people.name, "--browser"]
    environment = {**os.environ, "BROWSER": f"{browser} %s"}
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=people.parent, env=environment)
    try:
        assert server.stdout
        address = re.search(r"http://\S+", server.stdout.readline())
        assert address
        host = urlsplit(address[0])
        with socket.create_connection((host.hostname, host.port), timeout=20) as plain:
            plain.sendall(f"OPTIONS * HTTP/1.1\r\nHost: {host.netloc}\r\n\r\n".encode())
            assert plain.recv(100).startswith(b"HTTP/1.1 403")  # the server runs, so that the browser was started
        argument, modes = (people.parent / "argument").read_text(), (people.parent / "modes").read_text()
        file = Path(urlsplit(argument.strip()).path)
        assert host.path.strip("/") not in argument
        assert address[0] in file.read_text()
        assert sorted(line[:10] for line in modes.splitlines()) == ["-rw-------", "drwx------"]
    finally:
        server.terminate()
        server.communicate(timeout=20)
    assert not file.parent.exists()
    assert not [*people.parent.glob("*.ran")]


def test_no_answer_can_be_read_framed_or_stored_elsewhere(people):
    with client_of(people) as client:
        for address in ("columns", "static/page.js", "nobody"):
            headers = client.get(address).headers
            assert "access-control-allow-origin" not in headers
            assert "default-src 'none'" in headers["content-security-policy"]
            assert (headers["cache-control"], headers["referrer-policy"]) == ("no-store", "same-origin")
            assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("name", ["../server.py", "..%2fserver.py", "page.css/../../server.py", "%2e%2e/state.py"])
def test_only_the_files_of_the_page_are_served(people, name):
    with client_of(people) as client:
        answer = client.get(f"static/{name}")
        assert answer.status_code in (403, 404)
        assert "import" not in answer.text


def test_a_changed_role_changes_the_draft(people):
    with client_of(people) as client:
        page = client.app.state.page
        assert [column.name for column in page.draft.quasi_identifiers] == ["age", "zip", "sex"]
        shown = client.post("columns/3", data={"role": "kept"})
        assert str(shown.url).endswith("/columns")
        client.post("columns/1", data={"priority": "1"})
        spec = page.draft.spec()
        assert list(spec.quasi_identifiers) == ["age", "zip"]
        assert spec.quasi_identifiers["age"].priority == 1
        assert (spec.identifiers, spec.sensitive, spec.keep) == (("person_id",), ("diagnosis",), ("sex",))
        refused = client.post("columns/1", data={"role": "<b>"})
        assert refused.status_code == 422
        assert "'<b>' is not a role" in text_of(refused.text)
        assert page.draft.spec() == spec
        assert client.post("columns/99", data={"role": "kept"}).status_code == 422


def test_the_slider_counts_as_plain_python_does(people):
    with client_of(people) as client:
        page = client.app.state.page
        page.counted()  # a screen does not wait for long
        for k in (2, 3, 4, 5, 9):
            shown = client.post("risk", data={"k": str(k)})
            expected = at_risk(people, ["age", "zip", "sex"], k)
            assert f"{expected:,} of 400" in text_of(shown.text)
            for histogram in page.counted().shown(page.draft.levels).histograms:
                for least in (1, k, 400):  # rare labels are counted, too
                    assert sum(bar.at_risk(k) for bar in histogram.bars(least)) == expected
                    assert sum(bar.rows for bar in histogram.bars(least)) == 400
        height = page.counted().heights["zip"]
        client.post("risk", data={"level-2": str(height), "k": "9"})
        assert f"{at_risk(people, ['age', 'sex'], 9):,} of 400" in text_of(client.get("risk").text)


def test_people_are_counted_if_they_have_several_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    duckdb.sql("SELECT i % 2 AS age, i // 3 AS person_id, 'x' AS note FROM range(12) AS t(i)").write_csv("visits.csv")
    spec = {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}, "unit": "person_id", "keep": []}
    Path("visits.yml").write_text(json.dumps({"source": "visits.csv", **spec}))
    with client_of(None, "visits.yml") as client:
        seen = client.app.state.page.counted().shown({})
        assert (seen.smallest(), seen.at_risk(4), seen.at_risk(5)) == (4, 0, 12)  # four people, with six rows each
        assert "4 people in the smallest" in text_of(client.get("risk").text)
        assert "of the people at risk: 4 of 4" in text_of(client.get("risk").text)
    duckdb.sql("SELECT i AS age, i AS person_id, 'x' AS note FROM range(3) AS t(i)").write_csv("visits.csv")
    with client_of(None, "visits.yml") as client:
        client.app.state.page.counted()
        assert "1 person in the smallest" in text_of(client.get("risk").text)


def test_a_search_ends_with_a_result_and_writes_nothing(people, tmp_path):
    with client_of(people) as client:
        client.post("risk", data={"k": "3"})
        client.post("search", data={"strategy": "best_first", "suppression": "5"})
        assert client.post("search", data={"suppression": "-1"}).status_code == 422
        client.post("search/run")
        assert client.post("search/run").status_code == 422  # one at a time
        assert finished(client).ended == "done"
        (result,) = client.app.state.page.results
        assert result.manifest["strategy"] == "best_first"
        assert result.manifest["smallest_class"] >= 3
        assert result.manifest["proven_optimal"]
        assert "optimal" in text_of(client.get("search").text)
        assert [path.name for path in tmp_path.iterdir()] == ["people.parquet"]


def test_three_kinds_of_search_with_their_time_limit(people):
    with client_of(people) as client:
        page = client.app.state.page
        html = client.get("search").text
        assert re.search(r'id="kind-recommended" value="recommended" checked', html)
        assert re.search(r'name="time_limit" min="0" step="any" value="60"', html)
        detail = client.post("search", data={"kind": "detail"}).text
        assert (page.draft.keys["strategy"], "Group by group" in detail) == ("refine", True)
        client.post("search", data={"kind": "fastest", "time_limit": "7"})
        assert (page.draft.keys["strategy"], page.draft.keys["time_limit"]) == ("datafly", 7)
        client.post("search", data={"kind": "recommended", "time_limit": "60"})
        assert "time_limit" not in page.draft.keys  # the default
        refused = client.post("search", data={"kind": "best"})
        assert (refused.status_code, page.draft.keys["strategy"]) == (422, "auto")
        assert "Time limit: '-1' is not" in text_of(client.post("search", data={"time_limit": "-1"}).text)


def test_every_strategy_and_measure_is_explained():
    assert set(STRATEGY_SENTENCES) == {*get_args(SearchStrategy), *get_args(LocalStrategy)}
    assert set(METRIC_SENTENCES) == set(METRICS)


def test_a_result_without_any_detail_is_called_that(people, monkeypatch):
    work_here(monkeypatch)
    with client_of(people) as client:
        client.post("risk", data={"k": "250"})
        client.post("search/run")
        assert finished(client).ended == "done"
        text = text_of(client.get("search").text)
        assert "Everything is *: all 400 released rows look the same in age, zip and sex" in text
        assert "lower k" in text


def test_levels_moved_by_hand_become_a_result(people):
    with client_of(people) as client:
        page = client.app.state.page
        page.counted()
        html = client.get("risk").text
        sample = page.counted().samples(page.draft.k)["zip"]
        assert f"1: {sample[0]} → {sample[1]}" in text_of(html)
        assert "would have to leave out 400 rows" in text_of(html)
        assert 'id="release-at"' not in html
        levels = {f"level-{place}": "9" for place in (1, 2, 3)}
        assert 'id="release-at"' in client.post("risk", data=levels).text
        client.post("risk/release")
        assert finished(client).ended == "done"
        (result,) = page.results
        assert result.manifest["node"] == page.counted().heights
        assert f"release?of={result.number}" in client.get("risk").text


def test_an_impossible_run_gives_the_reason(people):
    with client_of(people) as client:
        client.post("risk", data={"k": "401"})
        client.post("search/run")
        work = finished(client)
        assert work.ended == "failed"
        assert in_page_words(work.result["text"]) in text_of(client.get("search").text)


def test_a_killed_page_ends_its_worker(people):
    """The worker reads a pipe that the page holds: when the page is killed, the worker ends by itself."""
    request = json.dumps({"spec": {"source": str(people), "quasi_identifiers": {"age": {"hierarchy": "suppress"}}}})
    script = (
        "import subprocess, sys, time\n"
        "worker = subprocess.Popen([sys.executable, '-c', 'import time, kanon_sql.page.worker as w\\n"
        "w.run = lambda request: time.sleep(60)\\nw.main()'], stdin=subprocess.PIPE, text=True)\n"
        f"worker.stdin.write({request + chr(10)!r}); worker.stdin.flush()\n"
        "print(worker.pid, flush=True); time.sleep(60)\n"
    )
    page = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert page.stdout
    worker = Path("/proc") / page.stdout.readline().strip()
    time.sleep(1.0)
    page.kill()
    page.wait()
    end = time.monotonic() + 20
    while worker.exists() and "zombie" not in (worker / "status").read_text() and time.monotonic() < end:
        time.sleep(0.1)
    assert not worker.exists() or "zombie" in (worker / "status").read_text()


@pytest.mark.slow
def test_modules_next_to_the_data_are_not_run(people):
    write_modules(people.parent, "dataclasses", "json", "duckdb", "pandas", "yaml", "sqlglot", "kanon_sql")
    with client_of(people) as client:
        client.post("search/run")
        assert finished(client).ended == "done"
    assert not [*people.parent.glob("*.ran")]


def test_the_address_contains_the_token(people):
    with client_of(people) as client:
        assert TOKEN in str(client.get("columns").url)


def test_a_browser_can_connect_once_the_address_is_printed(people):
    def connect(address: str) -> None:
        found = urlsplit(address)
        with socket.create_connection((found.hostname, found.port), timeout=5):
            raise EOFError("connected")

    with pytest.raises(EOFError, match="connected"):
        serve(open_page(str(people)), opened=connect)


def test_models_are_requested_by_column(people):
    with client_of(people) as client:
        page = client.app.state.page
        client.post("models", data={"k": "3", "unit": "person_id"})
        client.post("models", data={"l_diversity-4": "2", "t_closeness-4": "0.4"})
        client.post("models", data={"highest": "0.25"})
        spec = page.draft.spec()
        assert (spec.privacy.k, spec.unit) == (3, "person_id")
        assert (spec.privacy.l_diversity["diagnosis"].l, spec.privacy.t_closeness["diagnosis"].t) == (2, 0.4)
        assert spec.privacy.risk.highest == 0.25
        client.post("models", data={"l_diversity-4": "2", "l_diversity-4-variant": "recursive"})
        assert page.draft.keys["privacy"]["l_diversity"] == {"diagnosis": {"l": 2, "kind": "recursive", "c": 3}}
        html = client.post("models", data={"alpha_k-4": "0.5", "alpha_k-4-value": "flu"}).text
        assert page.draft.keys["privacy"]["alpha_k"] == {"diagnosis": {"alpha": 0.5, "value": "flu"}}
        assert "fewer than 3 rows have flu" in text_of(html)
        assert 'id="l_diversity-4-c"' in html
        assert "By the order of the values" not in html  # diagnoses are text
        client.post("models", data={"l_diversity-4": "2", "l_diversity-4-variant": "distinct", "alpha_k-4": ""})
        assert page.draft.spec() == spec
        for refused in (
            {"l_diversity-4": "2", "l_diversity-4-variant": "x"},
            {"t_closeness-4": "2"},
            {"t_closeness-4": "0"},
            {"l_diversity-4": "x"},
            {"k": "0.5"},
        ):
            assert client.post("models", data=refused).status_code == 422
        assert page.draft.spec() == spec
        assert "t-closeness of diagnosis: '2' is not" in text_of(
            client.post("models", data={"t_closeness-4": "2"}).text
        )
        client.post("models", data={"l_diversity-4": "", "unit": "", "highest": ""})
        spec = page.draft.spec()
        assert (dict(spec.privacy.l_diversity), spec.unit, spec.privacy.risk) == ({}, None, None)
