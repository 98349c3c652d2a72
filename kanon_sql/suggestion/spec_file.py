"""A suggested spec as a file: YAML with all reasons in comments, for people to edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any

from kanon_sql.hints import DROPPED, IDENTIFIER, KEPT, QUASI_IDENTIFIER, SENSITIVE
from kanon_sql.spec import in_flow, limit_text
from kanon_sql.suggestion.columns import SuggestedColumn, of_role

_WIDTH = 116
_REASONS = {
    IDENTIFIER: "It identifies people directly.",
    QUASI_IDENTIFIER: "Others can know it, and it can identify people together with other columns.",
    SENSITIVE: "Its values must not be linked to a person.",
    KEPT: "Others are not expected to know it.",
}
_MANY = 8  # quasi-identifiers; with more, a comment recommends to remove some


@dataclass(frozen=True, repr=False)
class SpecFile:
    """The contents of the file. `unit`: the column of the people, if they have several rows."""

    source: str
    database: str | None
    rows: int
    columns: tuple[SuggestedColumn, ...]
    k: int
    suppression_limit: float | str
    notes: tuple[str, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)
    unit: str | None = None

    def of_role(self, role: str) -> tuple[SuggestedColumn, ...]:
        """The columns with a role, in the table's order."""
        return tuple(of_role(self.columns, role))


def text_of(draft: SpecFile, places: Mapping[str, Any], name: str) -> str:
    """The text of the spec file of this name, with all recipes, also those of files.

    `places`: the keys source, database and target, if available, as the file names them.
    """
    return "\n".join(_lines(draft, dict(places), name)) + "\n"


def _lines(draft: SpecFile, places: dict[str, Any], name: str) -> Iterator[str]:
    yield from comment(f"Suggested by `kanon init` from {draft.rows:,} rows. Read it, edit it, then run:")
    yield from comment(f"  kanon anonymize --spec {name}")
    yield from comment(
        "It was created from the data, like the files in hierarchies/, which contain values: protect both like the "
        "source. Figures are the numbers of labels per level; bounds at quantiles are rounded."
    )
    for note in draft.notes:
        yield from comment(f"Note: {note}.")
    target = places.pop("target", None)
    yield from (f"{key}: {in_flow(value)}" for key, value in places.items())
    yield from _columns("identifiers", "Dropped: they identify people directly.", draft.of_role(IDENTIFIER))
    yield ""
    yield from comment("Generalized: others may know them, and together they can identify people.")
    yield "quasi_identifiers:"
    for column in draft.of_role(QUASI_IDENTIFIER):
        yield from generalized(column)
    yield from _columns(
        "sensitive", "Released unchanged; the manifest shows what classes reveal.", draft.of_role(SENSITIVE)
    )
    yield ""
    yield from comment(
        "Released unchanged: list what others cannot know. Columns that this file does not name are dropped."
    )
    kept = draft.of_role(KEPT)
    yield from listed("keep", with_reasons(kept)) if kept else ["keep: []"]
    for column in draft.of_role(DROPPED):
        yield from comment(f"- {in_flow(column.name)}   # dropped: {column.reason}")
    yield from _privacy(draft)
    yield from _for_the_report(draft)
    if target:
        yield ""
        yield from comment("`overwrite: true` in it lets a later run replace the release.")
        yield f"target: {in_flow(target)}"


def _privacy(draft: SpecFile) -> Iterator[str]:
    yield ""
    if draft.unit:
        yield from comment("Some people have several rows: k counts people, identified by this column.")
        yield f"unit: {in_flow(draft.unit)}"
    others = "rows of at least {} other people" if draft.unit else "at least {} others"
    yield from comment(f"Every released row looks like {others.format(draft.k - 1)}; 10 or 20 for the public.")
    yield f"privacy: {in_flow({'k': draft.k})}"
    if sensitive := draft.of_role(SENSITIVE):
        diverse = in_flow({"k": draft.k, "l_diversity": {sensitive[0].name: 2}})
        yield from comment(f"To require two sensitive values in every class: privacy: {diverse}")
    limit = draft.suppression_limit
    yield f"suppression_limit: {limit}   # at most {limit_text(limit)} may be suppressed"
    many = len(draft.of_role(QUASI_IDENTIFIER))
    if many > _MANY:
        yield from comment(f"{many} quasi-identifiers leave little detail: remove those that others cannot know.")
    yield from comment("A local recoding keeps more detail if many rows are similar: strategy: refine")


def _for_the_report(draft: SpecFile) -> Iterator[str]:
    """Who receives the release, and the reasons of the roles, which a report shows."""
    yield ""
    yield from comment("For the verdict and the report: name the recipient, and edit the reasons, which readers see.")
    yield from comment("recipient: public, contract or secure; also purpose, retention, review_date, norms, reason_k")
    columns = [(column, default) for role, default in _REASONS.items() for column in draft.of_role(role)]
    if columns:
        yield "reasons:"
    for column, default in columns:
        yield f"  {in_flow(column.name)}: {in_flow(plain_reason(column.reason, default))}"


def plain_reason(reason: str, default: str) -> str:
    """A reason without figures and values, which can be those of few people; `default`: if nothing is left.

    >>> plain_reason("a postal code by its name; alone it puts 95.8 % of the rows in classes smaller than 5", "Public.")
    'A postal code by its name.'
    >>> plain_reason("it tells people apart: 4,255 of them in 6,000 rows; 'Name' does not vary", "Unique.")
    'It tells people apart.'
    >>> plain_reason("alone it puts 100.0 % of the rows in classes smaller than 5", "Others can know it.")
    'Others can know it.'
    """
    first = in_a_line(reason).partition(";")[0].partition(":")[0].strip()
    if not first or any(sign.isdigit() or sign in "'\"" for sign in first):
        return default
    return f"{first[:1].upper()}{first[1:]}."


def generalized(column: SuggestedColumn, weight: float | None = None) -> Iterator[str]:
    """A quasi-identifier with its hierarchy, and the reasons as comments; `weight`: in the loss, if not 1."""
    yield from comment(column.reason, "  ")
    yield f"  {in_flow(column.name)}:"
    yield from comment(column.why, "    ")
    counts = " → ".join(f"{labels:,}" for labels in column.labels)
    yield f"    hierarchy: {in_flow(column.recipe)}   # {counts}"
    if weight is not None:
        yield f"    weight: {weight:g}"


def _columns(key: str, explanation: str, columns: Sequence[SuggestedColumn]) -> Iterator[str]:
    if columns:
        yield ""
        yield from comment(explanation)
        yield from listed(key, with_reasons(columns))


def with_reasons(columns: Sequence[SuggestedColumn]) -> list[tuple[str, str]]:
    """The names of columns with the reasons for their roles."""
    return [(column.name, column.reason) for column in columns]


def listed(key: str, columns: Sequence[tuple[str, str]]) -> Iterator[str]:
    """A list of columns under a key, with the reasons as comments."""
    yield f"{key}:"
    for name, reason in columns:
        yield f"- {in_flow(name)}" + (f"   # {in_a_line(reason)}" if reason else "")


def comment(text: str, indent: str = "") -> Iterator[str]:
    """A text as lines of a comment."""
    begin = text[: len(text) - len(text.lstrip())]
    lines = wrap(in_a_line(text), _WIDTH - len(indent) - len(begin), break_long_words=False, break_on_hyphens=False)
    yield from (f"{indent}# {begin}{line}" for line in lines)


def in_a_line(text: str) -> str:
    """A text without line breaks and control characters, which names of columns can contain."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
