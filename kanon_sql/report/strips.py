"""A large lattice level by level: a strip of what is known of each level's nodes, with the counts beside it."""

from __future__ import annotations

from collections.abc import Iterator

from kanon_sql.report.numbers import count
from kanon_sql.report.searched import ANONYMOUS, AT_RISK, MARGIN, UNKNOWN, Body, Searched
from kanon_sql.report.svg import INK, Element, Look, element, group, rectangle, text
from kanon_sql.strategies.levels import Level

_STRIP = 340
_HEIGHT_AT, _SIZE_AT, _STRIP_AT, _WIDTH = 66, 150, 166, 960
_COUNTS_AT = (624, 716, 816, 912)  # where the counts end, to the right of the strip
_CHECKED = 4  # how high the dark bar is that stands for the checked nodes


def draw(searched: Searched) -> Body:
    """A row for each level, the top's first."""
    rows = searched.levels[::-1]
    step, size = (24, 11.0) if len(rows) <= 40 else (16, 9.5)
    counted = rows[0].counted
    most = max(level.checked for level in rows) or 1
    best = sum(searched.outcome.node)

    def elements(x: float, y: float) -> list[Element]:
        shown = "share of the level's nodes" if counted else f"nodes checked (the longest bar: {most:,})"
        parts = list(_head(shown, x, y + 12, counted))
        for number, level in enumerate(rows):
            top = y + 24 + number * step
            bar = _known(level, x, top, step - 6) if counted else _asked(level, most, x, top, step - 6)
            words = _words(level, x, top + step / 2 + 1, size, level.height == best)
            parts.append(group(_tooltip(level), [*bar, *words]))
        return parts

    return Body(_WIDTH, 24 + len(rows) * step + MARGIN, _legend(searched, counted), elements)


def _head(shown: str, x: float, y: float, counted: bool) -> Iterator[Element]:
    yield text("height", x + _HEIGHT_AT, y, 11, text_anchor="end", font_weight="bold")
    yield text("nodes", x + _SIZE_AT, y, 11, text_anchor="end", font_weight="bold")
    yield text(shown, x + _STRIP_AT, y, 11, font_weight="bold")
    names = ("not anonymous", "unknown" if counted else "", "anonymous", "checked")
    for name, end in zip(names, _COUNTS_AT, strict=True):
        yield text(name, x + end, y, 11, text_anchor="end", font_weight="bold")


def _known(level: Level, x: float, y: float, high: float) -> Iterator[Element]:
    """The level's nodes by status, the checked ones of each underlined."""
    scale, left = _STRIP / level.size, x + _STRIP_AT
    for nodes, checked, fill in (
        (level.at_risk, level.checked_at_risk, AT_RISK),
        (level.unknown, 0, UNKNOWN),
        (level.anonymous, level.checked_anonymous, ANONYMOUS),
    ):
        if nodes:
            yield rectangle(left, y, nodes * scale, high, Look(fill))
        if checked:
            yield rectangle(left, y + high - _CHECKED, max(1.0, checked * scale), _CHECKED, Look(INK))
        left += nodes * scale


def _asked(level: Level, most: int, x: float, y: float, high: float) -> Iterator[Element]:
    """The level's checked nodes by verdict; the others are too many to have a share."""
    scale, left = _STRIP / most, x + _STRIP_AT
    yield rectangle(left, y, _STRIP, high, Look("#f7f7f7"))
    for nodes, fill in ((level.checked_at_risk, AT_RISK), (level.checked_anonymous, ANONYMOUS)):
        if nodes:
            yield rectangle(left, y, nodes * scale, high, Look(fill))
        left += nodes * scale


def _words(level: Level, x: float, y: float, size: float, best: bool) -> Iterator[Element]:
    weight = {"font_weight": "bold"} if best else {}
    if best:
        tip = f"{x:.2f},{y - size:.2f} {x + 9:.2f},{y - size / 2:.2f} {x:.2f},{y:.2f}"
        yield element("polygon", points=tip, fill=INK)
    counts = (level.at_risk, level.unknown if level.counted else 0, level.anonymous, level.checked)
    shown = [count(number) if number or level.counted else "" for number in counts]
    words = (str(level.height), count(level.size), *shown)
    for word, end in zip(words, (_HEIGHT_AT, _SIZE_AT, *_COUNTS_AT), strict=True):
        if word:
            yield text(word, x + end, y, size, text_anchor="end", **weight)


def _tooltip(level: Level) -> str:
    known = f"{count(level.at_risk)} not anonymous, {count(level.anonymous)} anonymous"
    unknown = f", {count(level.unknown)} unknown" if level.counted else " among the checked ones"
    return f"height {level.height}: {count(level.size)} nodes, {count(level.checked)} checked; {known}{unknown}"


def _legend(searched: Searched, counted: bool) -> list[tuple[Look, str]]:
    safe, at_risk, checked = (
        sum(getattr(level, name) for level in searched.levels) for name in ("anonymous", "at_risk", "checked")
    )
    items = [(Look(AT_RISK), f"not anonymous: {count(at_risk)}"), (Look(ANONYMOUS), f"anonymous: {count(safe)}")]
    if counted:
        unknown = searched.lattice.size - safe - at_risk
        items.insert(1, (Look(UNKNOWN), f"unknown: {count(unknown)}"))
        items.append((Look(INK), f"underlined: checked, {count(checked)}"))
    return items
