"""The named forms: filled from the figures of a report, with what people have to add marked."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from typing import Any

import docx
import pandas
import pytest

import kanon_sql
from kanon_sql import Report
from kanon_sql.errors import SpecError, TargetError
from kanon_sql.report.forms import FORMS, questions
from kanon_sql.report.word import word
from kanon_sql.verbs.report import check_report

PEOPLE = pandas.DataFrame(
    {"zip": ["12", "13", "21", "22"] * 10, "<b>": ["a", "b"] * 20, "ill": ["flu", "gout", "acne", "flu"] * 10}
)
SPEC: dict[str, Any] = {
    "quasi_identifiers": {"zip": {"hierarchy": {"redact": "right"}}},
    "sensitive": ["ill"],
    "keep": ["<b>"],
    "privacy": {"k": 12, "l_diversity": {"ill": 2}},
    "recipient": "public",
    "purpose": "A | B",
    "review_date": "2027-01-31",
    "reasons": {"zip": "Neighbours know it."},
}


@pytest.fixture(scope="module")
def report() -> Report:
    return kanon_sql.anonymize(PEOPLE, SPEC).report(without=("columns", "loss_by_k", "lattice"))


@pytest.mark.parametrize("name", FORMS)
def test_a_form_has_figures_declarations_and_fields_to_fill_in(name: str, report: Report) -> None:
    text = report.form(name)
    for part in ("2027-01-31", "A \\| B", "Neighbours know it.", "for the public", "Approved by, on", "20 rows"):
        assert part in text, part
    assert text.count("[to fill in") > 3
    assert not re.search(r"\{[{%]|(?<!\\)<b>", text), "unfilled, or not escaped"
    for block in re.findall(r"(?m)(?:^\|.*\n)+", text):
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1, block


def plain(markdown: str) -> list[str]:
    """The lines of a form without the backslashes that escape special characters."""
    return markdown.replace("\\", "").splitlines()


def test_a_form_is_written_as_a_word_document(report: Report, tmp_path: Any) -> None:
    document = docx.Document(str(report.write(tmp_path / "form.docx", form="iso27559")))
    headings = [found.text for found in document.paragraphs if str(found.style.name).startswith("Heading")]
    assert headings == [line.lstrip("# ") for line in plain(report.form("iso27559")) if line.startswith("#")]
    assert headings[-1] == "Decision and review"
    tables = [[[cell.text for cell in row.cells] for row in table.rows] for table in document.tables]
    assert ["Purpose", "A | B"] in tables[0]
    assert any(["<b>", "kept", "unchanged", "[to fill in]"] in table for table in tables)
    assert ["Approved by, on", "[to fill in: name, function, date, signature]"] in tables[-1]
    to_fill = document.tables[-1].rows[0].cells[1].paragraphs[0].runs
    assert all(run.font.highlight_color for run in to_fill)
    footer = document.sections[0].footer.paragraphs[0]._p.xml
    assert "NUMPAGES" in footer
    record = docx.Document(str(report.write(tmp_path / "record.docx")))
    assert record.paragraphs[0].text == plain(report.record)[0].removeprefix("# ")


def test_a_word_document_can_have_any_text(monkeypatch: pytest.MonkeyPatch) -> None:
    markdown = "# A \x0b\ud800b\n\n1. **one** `two`\n   - [to fill in: x] and\n     *more*\n\n| | |\n|---|--:|\n"
    document = docx.Document(io.BytesIO(word(f"{markdown}| k | {'a' * 99} |", "A\x00B")))
    assert document.core_properties.title == "A\ufffdB"
    assert [(found.style.name, found.text) for found in document.paragraphs[:3]] == [
        ("Heading 1", "A \ufffd\ufffdb"),
        ("List Number", "one two"),
        ("List Bullet 2", "[to fill in: x] and more"),
    ]
    assert document.tables[0].rows[0].cells[1].text.count("\u200b") == 4
    monkeypatch.setitem(sys.modules, "docx", None)
    with pytest.raises(TargetError, match="python-docx; run: pip install"):
        check_report(Path("report.docx"), overwrite=False)


def test_a_form_is_written_as_markdown_or_html(report: Report, tmp_path: Any) -> None:
    page = report.write(tmp_path / "form.html", form="wp216").read_text()
    assert "<mark>[to fill in]</mark>" in page
    assert "<table>" in page
    assert "<td>&lt;b&gt;</td>" in page
    assert "<script" not in page
    assert report.write(tmp_path / "form.md", form="wp216").read_text() == report.form("wp216")
    with pytest.raises(TargetError, match="exists"):
        report.write(tmp_path / "form.md", form="record")
    for ending in ("txt", "pdf"):
        with pytest.raises(SpecError, match="a form is written as"):
            report.write(tmp_path / f"form.{ending}", form="record")
    with pytest.raises(SpecError, match="choose among record, wp216"):
        report.form("gdpr")


def attack(name: str, excess: float | None, *, above: bool = False) -> dict[str, Any]:
    known = {"column": None, "share": excess, "baseline": 0.0, "control": None, "counted": "rows", "hits": True}
    return {"attack": name, "excess": excess, "above_chance": above or bool(excess), **known}


def attacks(*excesses: float) -> dict[str, Any]:
    return {"attacks": list(map(attack, ("singling_out", "linkability", "inference"), excesses))}


LARGE = {"privacy": [], "smallest_class": 12, "roles": {"quasi_identifiers": ["zip"]}}
YES, NO, OPEN = "Yes, for some people.", "Not found by the attacks that were tried.", "Not measured."


@pytest.mark.parametrize(
    ("manifest", "figures", "answers"),
    [
        ({}, {}, (OPEN, OPEN, OPEN)),
        ({"smallest_class": 1}, {}, (YES, OPEN, OPEN)),
        ({}, attacks(0.0, 0.0, 0.0), (NO, NO, NO)),
        ({}, attacks(0.1, 0.2, 0.3), (YES, YES, YES)),
        ({}, {"attacks": [attack("inference", None, above=True)]}, (OPEN, OPEN, YES)),
        ({}, {"attacks": [attack("inference", None)]}, (OPEN, OPEN, NO)),
        ({"differencing": {"people": 2}}, {"attacks": [attack("linkability", 0.0)]}, (OPEN, YES, OPEN)),
    ],
)  # fmt: skip
def test_the_questions_of_wp216_are_answered_by_figures(
    manifest: dict[str, Any], figures: dict[str, Any], answers: tuple[str, ...]
) -> None:
    found = questions({**LARGE, **manifest}, figures)
    assert tuple(question.answer for question in found) == answers
    assert all(question.closed == (question.answer == NO) for question in found)
    assert all(question.figures for question in found)
