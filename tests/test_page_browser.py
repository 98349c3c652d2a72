"""The page in a real browser: by mouse, by keyboard only, two windows at once, a killed server, hostile names, axe."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql.page.first_draft import open_page
from kanon_sql.page.state import Page
from support.browser import NEEDS_CHROMIUM, clean, eventually, picture, show, window
from support.page import save_personnel, served, work_here

pytestmark = [pytest.mark.slow, NEEDS_CHROMIUM]
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "‮txet‬", "x" * 300, "'); --"]


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Page:
    monkeypatch.chdir(tmp_path)
    query = """
    SELECT 'P' || i AS person_id, 20 + (i * 7919) % 50 AS age, 1000 + (i * 31) % 90 AS zip,
      ['f', 'm'][1 + i % 2] AS sex, ['flu', 'asthma', 'gout'][1 + (i // 5) % 3] AS diagnosis
    FROM range(400) AS t(i)
    """
    duckdb.sql(query).write_parquet("people.parquet")
    return open_page("people.parquet")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.sampled
def test_no_screen_has_a_violation(browser, people, scheme):
    with served(people) as address:
        opened = window(browser, address, color_scheme=scheme)
        for link in opened.locator("nav a").all_text_contents():
            show(opened, link)
            clean(opened)
            picture(opened, f"{link.lower()}-{scheme}")


@pytest.mark.nightly
def test_the_slider_answers_while_it_moves(browser, people):
    with served(people) as address:
        people.change(lambda draft: replace(draft, levels={"zip": 9}))
        opened = window(browser, f"{address}risk")
        for k in (3, 9):
            opened.locator("#k-slider").fill(str(k))  # as a drag does: input events
            eventually(lambda k=k: people.draft.k == k)
            eventually(lambda k=k: f"{0 if k == 3 else 400} of 400" in opened.inner_text("#total"))
            eventually(lambda k=k: f"fewer than {k};" in opened.locator("#bars-1 svg").inner_html())
            assert opened.input_value("#k") == str(k)
        assert opened.complaints == []


@pytest.mark.nightly
def test_a_slider_over_a_million_rows_runs_no_query(browser, tmp_path, monkeypatch):
    """The source may even be gone: k is answered from numbers that are here, a level by a query on the tuples."""
    monkeypatch.chdir(tmp_path)
    query = "SELECT i % 70 AS age, (i * 7919) % 3001 AS zip, i % 2 AS sex FROM range(1000000) AS t(i)"
    duckdb.sql(query).write_parquet("million.parquet")
    page = open_page("million.parquet", time_limit=0.5)
    for column in page.draft.columns:
        assert column.name in ("age", "zip", "sex")
    with served(page) as address:
        opened = window(browser, f"{address}risk")
        opened.wait_for_selector("#total")
        (tmp_path / "million.parquet").unlink()
        statements = page.counted().frequency_set.tables.statements
        for k in (2, 4, 9):
            opened.locator("#k-slider").fill(str(k))
            eventually(lambda k=k: f"fewer than {k};" in opened.locator("figure svg").first.inner_html())
        assert page.counted().frequency_set.tables.statements == statements
        picture(opened, "million")
        opened.select_option("main select", "1")
        eventually(lambda: page.draft.levels != {})
        eventually(lambda: page.counted().frequency_set.tables.statements > statements)
        assert opened.complaints == []


@pytest.mark.nightly
def test_everything_can_be_done_by_keyboard(browser, people):
    """From the first Tab to a result, without a mouse."""
    with served(people) as address:
        opened = window(browser, address)
        keyboard = opened.keyboard

        def tab_to(selector: str) -> None:
            for _ in range(80):
                if opened.evaluate("(s) => document.activeElement.matches(s)", selector):
                    return
                keyboard.press("Tab")
            raise AssertionError(f"Tab never comes to {selector}")

        def go_to(screen: str) -> None:
            opened.focus(f"nav a[href$={screen}]")
            keyboard.press("Enter")
            opened.wait_for_selector(f"nav a[href$={screen}][aria-current]")

        keyboard.press("Tab")
        assert opened.evaluate("document.activeElement.textContent") == "Skip to the content"
        tab_to("#role-3")
        keyboard.type("kept")
        eventually(lambda: [c.name for c in people.draft.quasi_identifiers] == ["age", "zip"])
        opened.wait_for_selector("#priority-3", state="detached")
        tab_to("#priority-1")
        keyboard.type("1")
        keyboard.press("Enter")
        eventually(lambda: people.draft.columns[1].attribute.get("priority") == 1)
        go_to("risk")
        tab_to("#k-slider")
        for _ in range(3):
            keyboard.press("ArrowRight")
        eventually(lambda: people.draft.k == 8)
        assert opened.evaluate("document.activeElement.id") == "k-slider"  # no exchange of regions takes the focus
        go_to("search")
        tab_to("#go")
        keyboard.press("Enter")
        opened.wait_for_selector("#results table")
        assert people.results[0].manifest["smallest_class"] >= 8
        assert opened.complaints == []


def test_two_windows_see_one_draft(browser, people):
    with served(people) as address:
        one, other = window(browser, address), window(browser, address)
        one.select_option("#role-3", "sensitive")
        eventually(lambda: other.input_value("#role-3") == "sensitive")
        other.select_option("#role-1", "dropped")
        eventually(lambda: one.input_value("#role-1") == "dropped")
        assert [column.role for column in people.draft.columns][1:4] == ["dropped", "quasi-identifier", "sensitive"]
        assert one.complaints == other.complaints == []


def test_changes_that_overtake_an_answer_are_all_sent(browser, people):
    """Several forms post to one address; while one is on its way, the others wait for it and none is lost."""
    people.counted()
    with served(people) as address:
        opened = window(browser, f"{address}risk")
        opened.wait_for_selector("#level-1")
        script = """
        for (const place of [1, 2, 3]) {
          const select = document.getElementById(`level-${place}`);
          select.value = "1";
          select.dispatchEvent(new Event("change", {bubbles: true}));
        }
        """
        opened.evaluate(f"() => {{{script}}}")
        eventually(lambda: people.draft.levels == {"age": 1, "zip": 1, "sex": 1})


def test_a_search_can_be_stopped_with_the_best_so_far(browser, tmp_path, monkeypatch):
    """A table whose lattice takes much longer than the test: its best so far is a release all the same."""
    monkeypatch.chdir(tmp_path)
    columns = ", ".join(f"(hash(i * 31 + {c}) % {5 + c % 3}) AS a{c}" for c in range(14))
    duckdb.sql(f"SELECT {columns} FROM range(4000) AS t(i)").write_parquet("answers.parquet")
    names = {f"a{c}": {"hierarchy": {"ranges": [2, 4]}} for c in range(14)}
    (tmp_path / "answers.yml").write_text(f"source: answers.parquet\nquasi_identifiers: {names}\nkeep: []\n")
    page = open_page(None, tmp_path / "answers.yml")
    with served(page) as address:
        opened = window(browser, f"{address}search")
        opened.fill("#suppression", "10")
        opened.press("#suppression", "Enter")
        opened.click("#go")
        opened.wait_for_selector("#running dt >> text=Gap")
        opened.wait_for_selector("#running svg")
        clean(opened)
        picture(opened, "running")
        opened.click("text=Stop, and take the best so far")
        opened.wait_for_selector("#results table")
        assert page.results[0].manifest["search_ended"] == "interrupted"
        assert page.results[0].manifest["verified"]
        opened.click("#go:text-is('Search')")  # until its rows are there too, the button stops it
        opened.wait_for_selector("#running dt >> text=Best so far")
        opened.click("text=Stop without a result")
        opened.wait_for_selector("text=Stopped without a result")
        assert len(page.results) == 1
        assert opened.complaints == []


@pytest.mark.usefixtures("people")
def test_a_window_reports_a_stopped_server(browser, tmp_path):
    command = [sys.executable, "-m", "kanon_sql", "page", "people.parquet"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    assert server.stdout
    address = re.search(r"http://\S+", server.stdout.readline())
    assert address
    opened = window(browser, address[0])
    opened.goto(f"{address[0]}search")
    opened.click("#go")
    server.kill()
    server.wait()
    opened.wait_for_selector("#lost", state="visible")
    assert "has ended" in opened.inner_text("#lost")


def test_names_and_values_are_shown_and_never_run(browser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{name: HOSTILE[(row + place) % 6] for place, name in enumerate(HOSTILE)} for row in range(60)]
    import pandas

    pandas.DataFrame(rows).to_parquet("hostile.parquet")
    page = open_page("hostile.parquet")
    with served(page) as address:
        opened = window(browser, address)
        for place in range(6):
            opened.select_option(f"#role-{place}", "sensitive" if place == 5 else "quasi-identifier")
        eventually(lambda: len(page.draft.quasi_identifiers) == 5)
        for screen in opened.locator("nav a").all_text_contents():
            show(opened, screen)
            clean(opened)
            picture(opened, f"hostile-{screen.lower()}")
        opened.goto(f"{address}search")
        opened.click("#go")
        opened.wait_for_selector("#results table, #running .problem")
        clean(opened)
        assert opened.evaluate("document.querySelectorAll('main img, main script').length") == 0


@pytest.mark.nightly
def test_a_personnel_sheet_from_its_models_to_a_downloaded_report(browser, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    work_here(monkeypatch)
    save_personnel(tmp_path / "personal.xlsx")
    page = open_page("personal.xlsx")
    place = [column.name for column in page.draft.columns].index("Jahresgehalt")
    with served(page) as address:
        opened = window(browser, address, accept_downloads=True)
        opened.goto(f"{address}columns")
        opened.select_option(f"#role-{place}", "sensitive")
        eventually(lambda: page.draft.columns[place].role == "sensitive")
        models_are_chosen(opened, page, place)
        opened.goto(f"{address}search")
        opened.check("#kind-fastest")
        eventually(lambda: page.draft.keys["strategy"] == "datafly")
        opened.click("#go:text-is('Search')")
        opened.wait_for_selector("#results td.acts")
        eventually(lambda: page.work.ended == "done")
        clean(opened)
        picture(opened, "personnel-search")
        opened.set_viewport_size({"width": 420, "height": 900})
        assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")
        opened.set_viewport_size({"width": 1280, "height": 900})
        another_node_becomes_a_result(opened, page, address)
        the_release_is_written_with_its_report(opened, page, tmp_path)
        assert opened.complaints == []


def models_are_chosen(opened: Any, page: Page, place: int) -> None:
    """The variant of a model is offered once the model is required."""
    show(opened, "Models")
    opened.fill(f"#t_closeness-{place}", "0.5")
    opened.press(f"#t_closeness-{place}", "Enter")
    opened.select_option(f"#t_closeness-{place}-variant", "ordered")
    opened.wait_for_selector(f"#t_closeness-{place}-means:has-text('highest salaries')")
    eventually(lambda: page.draft.spec().privacy.t_closeness["Jahresgehalt"].distance == "ordered")
    clean(opened)
    picture(opened, "personnel-models")


def another_node_becomes_a_result(opened: Any, page: Page, address: str) -> None:
    """By keyboard: a box of the picture, then the button below its figures."""
    opened.goto(f"{address}compare")
    clean(opened)
    picture(opened, "personnel-compare")
    link = opened.locator("#explored svg a:has(.yes):not(:has(.on))").first
    link.focus()
    opened.keyboard.press("Enter")
    opened.wait_for_url("**node=*")
    assert "Picked: anonymous" in opened.inner_text("#picked")
    opened.focus("#pick")
    opened.keyboard.press("Enter")
    eventually(lambda: len(page.results) == 2 and page.work.ended == "done")


def the_release_is_written_with_its_report(opened: Any, page: Page, folder: Path) -> None:
    """The verdict follows the recipient, the report is downloaded, and no file is replaced without a question."""
    show(opened, "Release")
    opened.select_option("#recipient", "contract")
    opened.wait_for_selector("#verdict:has-text('for a partner under contract')")
    opened.click("#write")
    opened.wait_for_selector("#download-report", timeout=60_000)
    with opened.expect_download() as download:
        opened.click("#download-report")
    assert "<!doctype html>" in Path(download.value.path()).read_text(encoding="utf-8").lower()
    assert (folder / "personal_anon.parquet").exists()
    clean(opened)
    picture(opened, "personnel-release")
    opened.click("#write")
    opened.wait_for_selector("#question:has-text('personal_anon.parquet exists already. Replace it?')")
    eventually(lambda: page.work.ended == "done")
