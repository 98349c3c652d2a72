"""What an attacker makes of a released label: the values that it may stand for.

By the column's hierarchy where it is known, else as it reads: the value itself, `*`, a range (`[20, 30)`, `20-29`,
`>= 90`), a set (`{a, b}`), a part of the calendar (`2020-05`, `2020-Q2`, `2020s`), or a text with hidden characters
(`12***`). A label that cannot be read may stand for any value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date
from typing import Any

from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.generalization.values import Label, as_text, key, read

Value = Any
Covers = Callable[[Value], bool]


def covered(
    labels: Iterable[Label], values: Sequence[Value], kind: str, hierarchy: Hierarchy | None = None
) -> tuple[dict[Label, list[int]], list[str]]:
    """The values, by their places, that each label may stand for; and the labels that cannot be read.

    >>> covered(["[20, 30)", "*", "4?"], [25, 30], "integer")
    ({'[20, 30)': [0], '*': [0, 1], '4?': [0, 1]}, ['4?'])
    """
    known = _under(hierarchy, values) if hierarchy else {}
    texts = {_text(value) for value in values}
    found: dict[Label, list[int]] = {}
    unread: list[str] = []
    for label in labels:
        covers = _within(known[label]) if label in known else reading(label, kind, texts)
        if covers is None and label is not None:
            unread.append(label)
        found[label] = [place for place, value in enumerate(values) if covers is None or covers(value)]
    return found, unread


def reading(label: Label, kind: str, texts: Collection[Label] = ()) -> Covers | None:
    """How a label reads without a hierarchy; None where it cannot be read. `texts`: the values that there are.

    >>> from datetime import date
    >>> covers = reading("2020-Q2", "date")
    >>> covers(date(2020, 5, 17)), covers(date(2020, 7, 1))
    (True, False)
    """
    if label is None or label in texts:
        return lambda value: _text(value) == label
    if set(label) == {STAR}:
        return lambda value: label == STAR or len(_text(value) or "") == len(label)
    return next((covers for read_as in _READINGS if (covers := read_as(label, kind))), None)


def _text(value: Value) -> Label:
    return None if value is None else as_text(value)


def _within(keys: Collection[Value]) -> Covers:
    return lambda value: key(value) in keys


def _under(hierarchy: Hierarchy, values: Sequence[Value]) -> dict[Label, set[Value]]:
    """The leaves under each label of a hierarchy, on whatever level."""
    leaves: dict[Label, set[Value]] = {}
    for level in range(hierarchy.height + 1):
        rows = zip((*hierarchy.values, *hierarchy.starred), hierarchy.labels(level), strict=True)
        for value, label in rows:
            leaves.setdefault(_text(label), set()).add(key(value))
    leaves.setdefault(STAR, set()).update(map(key, values))
    return leaves


def _range(label: str, kind: str) -> Covers | None:
    """`[20, 30)`, `20-29`, `20 - 29`: of numbers, dates and times."""
    match = _BRACKETS.fullmatch(label) or _DASH.fullmatch(label)
    ends = match and (_value(match["low"], kind), _value(match["high"], kind))
    if not match or not ends or None in ends:
        return None
    low, high = ends
    opened, closed = match.groupdict().get("opens") == "(", match.groupdict().get("closes", "]") == "]"

    def covers(value: Value) -> bool:
        above = low < value if opened else low <= value
        return bool(above and (value <= high if closed else value < high))

    return _of_values(covers)


def _half(label: str, kind: str) -> Covers | None:
    """`>= 90`, `< 18`, `90+`."""
    match = _HALF.fullmatch(label)
    end = _value(match["end"] or match["least"], kind) if match else None
    if match is None or end is None:
        return None
    sign = match["sign"] or ">="
    compared: dict[str, Covers] = {
        ">": lambda value: value > end,
        "<": lambda value: value < end,
        ">=": lambda value: value >= end,
        "<=": lambda value: value <= end,
    }
    return _of_values(compared[sign.replace("≥", ">=").replace("≤", "<=")])


def _set(label: str, _: str) -> Covers | None:
    """`{a, b}`."""
    if not (label.startswith("{") and label.endswith("}")):
        return None
    members = {each.strip() for each in label[1:-1].split(",")}
    return lambda value: _text(value) in members


def _calendar(label: str, kind: str) -> Covers | None:
    """`2020-05`, `2020-Q2`, `2020`, `2020s`."""
    match = _CALENDAR.fullmatch(label)
    if not match or kind not in ("date", "timestamp"):
        return None
    year, month, quarter = (int(match[part] or 0) for part in ("year", "month", "quarter"))

    def covers(value: date) -> bool:
        if match["decade"]:
            return value.year // 10 == year // 10
        in_quarter = not quarter or (value.month + 2) // 3 == quarter
        return value.year == year and in_quarter and (not month or value.month == month)

    return _of_values(covers)


def _hidden(label: str, _: str) -> Covers | None:
    """`12***`: as long, and with the same characters where they are shown."""
    if STAR not in label:
        return None
    pattern = re.compile("".join("." if letter == STAR else re.escape(letter) for letter in label), re.DOTALL)
    return lambda value: value is not None and pattern.fullmatch(as_text(value)) is not None


_READINGS = (_range, _half, _set, _calendar, _hidden)
_BRACKETS = re.compile(r"(?P<opens>[\[(])\s*(?P<low>[^,]+?)\s*,\s*(?P<high>[^,]+?)\s*(?P<closes>[\])])")
_DASH = re.compile(r"(?P<low>-?[\d.]+)\s*(?:-|\u2013|\.\.)\s*(?P<high>-?[\d.]+)")
_HALF = re.compile(r"(?P<sign>>=|<=|>|<|≥|≤)\s*(?P<end>\S.*)|(?P<least>[\d.]+)\+")
_CALENDAR = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d\d)|-Q(?P<quarter>[1-4])|(?P<decade>s))?")


def _of_values(covers: Covers) -> Covers:
    """NULL is in no range, nor is what cannot be compared with its ends."""

    def covers_value(value: Value) -> bool:
        try:
            return value is not None and covers(value)
        except (TypeError, AttributeError):
            return False

    return covers_value


def _value(text: str, kind: str) -> Value | None:
    """The end of a range in the column's type; None where it is no such value."""
    try:
        return read(text, kind) if kind not in ("text", "other") else None
    except ValueError:
        return _number(text) if kind == "integer" else None


def _number(text: str) -> Value | None:
    try:
        return read(text, "decimal")
    except ValueError:
        return None
