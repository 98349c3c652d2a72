"""Whole journeys of a privacy officer in a real browser, each with a messy table, at the widths of two screens."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kanon_sql.hints import QUASI_IDENTIFIER
from kanon_sql.page.first_draft import open_page
from kanon_sql.verbs.suggest import DROPPED
from support.browser import NEEDS_CHROMIUM, clean, eventually, fits, picture, show, window
from support.data import DATA, needs
from support.page import served

pytestmark = [pytest.mark.slow, NEEDS_CHROMIUM]


def looked_at(opened: Any, name: str) -> None:
    """The screen fits the window, and axe finds nothing wrong with it."""
    fits(opened)
    clean(opened)
    picture(opened, name)


@needs("discharges/discharges_de.csv")
@pytest.mark.nightly
def test_discharges_from_opening_to_saved_work(browser, tmp_path, monkeypatch):
    """A German file: opened, read with its words for missing values, ages at admission, searched, looked at, saved."""
    monkeypatch.chdir(tmp_path)
    lines = (DATA / "discharges" / "discharges_de.csv").read_bytes().splitlines(keepends=True)
    some = [
        line for number, line in enumerate(lines) if number < 1200 or b"00.00.1950" in line or b";unbekannt;" in line
    ]
    Path("discharges.csv").write_bytes(b"".join(some))
    page = open_page(None, time_limit=0.2)
    with served(page) as address:
        opened = window(browser, address, 1920)
        opened.check("text=discharges.csv")
        opened.click("#reading summary")
        opened.fill("#null", "00.00.1950\nunbekannt")
        looked_at(opened, "discharges-start")
        opened.click("#open")
        opened.wait_for_selector("h1:text('What is in each column?')")
        columns = [column.name for column in page.draft.columns]
        birth, sex = columns.index("Geburtsdatum"), columns.index("Geschlecht")
        opened.wait_for_selector(f"#samples-{sex} bdi")
        assert page.draft.columns[birth].suggested.type == "DATE"
        assert opened.inner_text("#read").count("was read as cp1252") == 1
        opened.fill(f"#reason-{sex}", "Visible at reception")
        opened.press(f"#reason-{sex}", "Enter")
        opened.select_option(f"#role-{columns.index('DRG')}", "dropped")
        eventually(lambda: page.draft.columns[sex].reason == "Visible at reception")
        opened.wait_for_selector(f"#suggestion-{columns.index('DRG')} small", state="detached")
        looked_at(opened, "discharges-columns")

        opened.goto(f"{address}hierarchies/{birth}?as=age")
        opened.select_option("#at", "Eintritt")
        looked_at(opened, "discharges-age")
        opened.click("#use-at")
        opened.wait_for_selector("#dates-again")
        assert page.draft.columns[birth].suggested.type == "INTEGER"
        opened.wait_for_selector("#preview .example >> text=→ [")
        looked_at(opened, "discharges-hierarchy")

        few = {"Geburtsdatum", "Geschlecht", "PLZ"}
        page.change(
            lambda draft: replace(
                draft,
                columns=tuple(
                    replace(column, role=DROPPED)
                    if column.role == QUASI_IDENTIFIER and column.name not in few
                    else column
                    for column in draft.columns
                ),
            )
        )
        show(opened, "Search")
        opened.click("#go:text-is('Search')")
        opened.wait_for_selector("#results table")
        show(opened, "Data")
        opened.wait_for_selector("#of-after + p + div td.label")
        assert page.results[0].manifest["smallest_class"] >= 5
        assert "Weber" not in opened.inner_text("section[aria-labelledby=of-after]")
        looked_at(opened, "discharges-data")
        show(opened, "Open")
        opened.click("#save")
        opened.wait_for_selector("text=Saved as discharges.kanon.json")
        opened.click("text=Reopen >> nth=-1")
        opened.wait_for_selector("h1:text('What is in each column?')")
        assert (len(page.results), page.draft.columns[sex].reason) == (1, "Visible at reception")


@pytest.mark.nightly
def test_a_survey_of_25_columns_by_keyboard(browser, tmp_path, monkeypatch):
    """A wide questionnaire at 1280 pixels, dark: roles by keyboard, undone by Ctrl-Z, rare values on request only."""
    monkeypatch.chdir(tmp_path)
    answers = ["stimme zu", "teils", "lehne ab", "k. A."]
    with open("survey.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=";")
        names = ["Teilnehmer", "Jahrgang", "Gemeinde", "Einkommen", *(f"Frage {number}" for number in range(1, 22))]
        writer.writerow(names)
        for i in range(300):
            place = f"Weiler {i}" if i % 50 == 0 else ["Bern", "Thun", "Köniz"][i % 3]
            few = [answers[(i * 7 + question * i // 3) % 4] for question in range(21)]
            writer.writerow([f"T{i:04d}", 1940 + (i * 13) % 65, place, f"{3000 + (i * 37) % 4000},50", *few])
    page = open_page("survey.csv", time_limit=0.2)
    with served(page) as address:
        opened = window(browser, address, color_scheme="dark")
        opened.wait_for_selector("#samples-2 bdi")
        assert len(page.draft.columns) == 25
        assert "Weiler" not in opened.inner_text("main")
        looked_at(opened, "survey-columns")
        opened.focus("#show-rare")
        opened.keyboard.press("Enter")
        opened.wait_for_selector("#hide-rare")
        opened.wait_for_load_state()  # scripts that send changes
        before = page.draft
        opened.focus("#role-2")
        opened.keyboard.type("sens")
        eventually(lambda: page.draft.columns[2].role == "sensitive")
        assert "rare=yes" in opened.url
        eventually(lambda: opened.is_enabled("#undo"))
        opened.focus("#main")
        opened.keyboard.press("Control+z")
        eventually(lambda: page.draft == before)
        eventually(lambda: opened.input_value("#role-2") == before.columns[2].role)
        eventually(lambda: opened.is_enabled("#redo"))
        opened.keyboard.press("Control+Shift+Z")
        eventually(lambda: page.draft.columns[2].role == "sensitive")
        for screen in ("Data", "Hierarchies", "Open"):
            show(opened, screen)
            opened.wait_for_load_state()
            looked_at(opened, f"survey-{screen.lower()}")
