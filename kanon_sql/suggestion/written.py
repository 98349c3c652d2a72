"""A suggested spec as a file: YAML with the reason of everything in comments, for a person to edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

from kanon_sql.spec import in_flow, limit_text

_WIDTH = 116
_MANY = 8  # quasi-identifiers, from which on a reader is told to choose
Told = Sequence[tuple[str, str]]  # columns and the reason of each


@dataclass(frozen=True)
class Generalized:
    """A quasi-identifier as the file has it: its recipe, why it is one and is generalized so, its labels by level."""

    name: str
    reason: str
    recipe: Any
    why: str
    labels: Sequence[int]


@dataclass(frozen=True)
class Draft:
    """What the file says. `places`: source, database and target as far as they are known, in the file's words.

    `unit`: the column of the people, where they have several rows.
    """

    rows: int
    places: Mapping[str, Any]
    identifiers: Told
    quasi_identifiers: Sequence[Generalized]
    sensitive: Told
    kept: Told
    dropped: Told
    k: int
    suppression_limit: float | str
    notes: Sequence[str] = ()
    unit: str | None = None


def text_of(draft: Draft, name: str) -> str:
    """The text of the spec file of this name."""
    return "\n".join(_lines(draft, name)) + "\n"


def _lines(draft: Draft, name: str) -> Iterator[str]:
    yield from comment(f"Suggested by `kanon init` from {draft.rows:,} rows. Read it, edit it, then run:")
    yield from comment(f"  kanon anonymize --spec {name}")
    yield from comment(
        "It was made from the data, and so are the files in hierarchies/, which hold values: keep both as private as "
        "the source. Figures are counts of labels, level by level; what is cut off at a quantile is rounded."
    )
    for note in draft.notes:
        yield from comment(f"Note: {note}.")
    places = dict(draft.places)
    target = places.pop("target", None)
    yield from (f"{key}: {in_flow(value)}" for key, value in places.items())
    yield from _columns("identifiers", "Dropped: they tell who somebody is.", draft.identifiers)
    yield ""
    yield from comment("Generalized: others may know them, and together they tell people apart.")
    yield "quasi_identifiers:"
    for quasi_identifier in draft.quasi_identifiers:
        yield from _generalized(quasi_identifier)
    yield from _columns("sensitive", "Released unchanged; the manifest says what classes give away.", draft.sensitive)
    yield ""
    yield from comment(
        "Released unchanged: put here what others cannot know. A column that is not named in this file is dropped."
    )
    yield from listed("keep", draft.kept) if draft.kept else ["keep: []"]
    for column, reason in draft.dropped:
        yield from comment(f"- {in_flow(column)}   # dropped: {reason}")
    yield from _privacy(draft)
    if target:
        yield ""
        yield from comment("`overwrite: true` in it lets a later run replace the release.")
        yield f"target: {in_flow(target)}"


def _privacy(draft: Draft) -> Iterator[str]:
    yield ""
    if draft.unit:
        yield from comment("Some people have several rows: k counts people, whom this column tells apart.")
        yield f"unit: {in_flow(draft.unit)}"
    others = "rows of at least {} other people" if draft.unit else "at least {} others"
    yield from comment(f"Every released row looks like {others.format(draft.k - 1)}; 10 or 20 for the public.")
    yield f"privacy: {in_flow({'k': draft.k})}"
    if draft.sensitive:
        diverse = in_flow({"k": draft.k, "l_diversity": {draft.sensitive[0][0]: 2}})
        yield from comment(f"So that no class has one sensitive value alone: privacy: {diverse}")
    limit = draft.suppression_limit
    yield f"suppression_limit: {limit}   # at most {limit_text(limit)} may be left out"
    many = len(draft.quasi_identifiers)
    if many > _MANY:
        yield from comment(f"{many} quasi-identifiers leave little of each: remove those that others cannot know.")
    yield from comment("A local recoding keeps more detail where many rows are alike: strategy: refine")


def _generalized(column: Generalized) -> Iterator[str]:
    yield from comment(column.reason, "  ")
    yield f"  {in_flow(column.name)}:"
    yield from comment(column.why, "    ")
    counts = " → ".join(f"{labels:,}" for labels in column.labels)
    yield f"    hierarchy: {in_flow(column.recipe)}   # {counts}"


def _columns(key: str, said: str, told: Told) -> Iterator[str]:
    if told:
        yield ""
        yield from comment(said)
        yield from listed(key, told)


def listed(key: str, told: Told) -> Iterator[str]:
    """A list of columns under a key, the reason of each behind it."""
    yield f"{key}:"
    yield from (f"- {in_flow(name)}{_behind(reason)}" for name, reason in told)


def _behind(reason: str) -> str:
    return f"   # {_in_a_line(reason)}" if reason else ""


def comment(text: str, indent: str = "") -> Iterator[str]:
    """A text as lines of a comment."""
    begin = text[: len(text) - len(text.lstrip())]
    lines = wrap(_in_a_line(text), _WIDTH - len(indent) - len(begin), break_long_words=False, break_on_hyphens=False)
    yield from (f"{indent}# {begin}{line}" for line in lines)


def _in_a_line(text: str) -> str:
    """Without what would end a comment; names of columns may hold anything."""
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
