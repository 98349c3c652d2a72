"""The named forms: Markdown filled from the figures of a report, or the same as HTML or a Word document."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from kanon_sql.report import words
from kanon_sql.report.numbers import counted

FORMS: Mapping[str, str] = {
    "record": "a data protection record",
    "wp216": "the three questions of WP216",
    "iso27559": "the framework of ISO/IEC 27559",
    "hipaa-expert": "HIPAA's expert determination",
    "findata": "a summary of results for a permit authority such as Findata",
}
TO_FILL = re.compile(r"\[to fill in[^\]]*\]")
_LINKING = ("linkability", "unsorted_matching", "place_within_classes", "order_within_classes")
_SINGLING = ("singling_out", "singling_out_by_one")
_INFERRING = ("homogeneity", "inference", "background", "skewness", "posterior", "minimality", "ruling_out")


@dataclass(frozen=True)
class Question:
    """One question of WP216: its answer, the figures behind it, and whether they leave nothing open."""

    title: str
    answer: str
    figures: tuple[str, ...]
    closed: bool


def as_html(markdown: str) -> Markup:
    """A form as HTML, with marks where people must fill it in."""
    html = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    return Markup(TO_FILL.sub(lambda found: f"<mark>{found[0]}</mark>", html))


def title_of(markdown: str) -> str:
    """The first line of a text in Markdown, a heading, as plain text."""
    return markdown.partition("\n")[0].removeprefix("# ").replace("\\", "")


def questions(manifest: Mapping[str, Any], figures: Mapping[str, Any]) -> tuple[Question, ...]:
    """The three questions of WP216. What was not measured is never answered with no."""
    return (
        _question("Can a person still be singled out?", _singled_out(manifest, figures), figures, _SINGLING),
        _question("Can records about a person still be linked?", _linked(manifest, figures), figures, _LINKING),
        _question("Can information about a person still be inferred?", [], figures, _INFERRING),
    )


def _question(
    title: str, found: Sequence[tuple[bool, str]], figures: Mapping[str, Any], names: Sequence[str]
) -> Question:
    """The answer by figures, each with whether it leaves the question open, and by attacks of these names."""
    tried = [attack for attack in figures.get("attacks") or () if attack["attack"] in names]
    succeeded = [attack for attack in tried if words.is_above_chance(attack)]
    sentences = [sentence for _, sentence in found]
    sentences += [f"{words.success(attack)[:1].upper()}{words.success(attack)[1:]}." for attack in succeeded]
    if tried and not succeeded:
        sentences.append(f"{counted(len(tried), 'attacks')} tried, none more successful than chance.")
    if succeeded or any(is_open for is_open, _ in found):
        return Question(title, "Yes, for some people.", tuple(sentences), closed=False)
    if not tried:
        return Question(title, "Not measured.", (*sentences, "`kanon report` tries the attacks."), closed=False)
    return Question(title, "Not found by the attacks that were tried.", tuple(sentences), closed=True)


def _singled_out(manifest: Mapping[str, Any], figures: Mapping[str, Any]) -> list[tuple[bool, str]]:
    """The smallest group by the quasi-identifiers, and who is unique by columns that are released exactly."""
    found = []
    smallest = words.smallest_group(manifest)
    if smallest:
        size = counted(smallest, words.who(manifest))
        found.append((smallest == 1, f"The smallest group by the quasi-identifiers has {size}."))
    unique = [row for row in figures.get("exact") or () if row["unique"]]
    if unique:
        worst = max(unique, key=lambda row: row["share"] or 0.0)
        share = "Some" if worst["share"] is None else f"{words.percent(worst['share'])} of the"
        together = " together with the quasi-identifiers" if worst["with_quasi_identifiers"] else ""
        found.append((True, f"{share} {worst['of']} are unique by {words.listed(worst['columns'])}{together}."))
    return found


def _linked(manifest: Mapping[str, Any], figures: Mapping[str, Any]) -> list[tuple[bool, str]]:
    """Who is singled out by comparing the release with earlier ones, and by several rows."""
    found = []
    compared = manifest.get("differencing") or (manifest.get("run") or {}).get("singled_out")
    if compared:
        people = compared["people"]
        found.append((people > 0, f"{people:,} are singled out by comparing this release with an earlier one."))
    several = figures.get("several_rows")
    if several and several["known"]:
        columns = several["linked_by"]
        shown = f"By {words.listed(columns, 4)}, the release shows" if columns else "No column shows"
        found.append((bool(columns), f"{shown} which rows belong to one person."))
    return found
