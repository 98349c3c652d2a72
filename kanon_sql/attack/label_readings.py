"""The values that a released label covers, as an attacker reads it.

With the column's hierarchy if available; otherwise literally: the value itself, `*`, a range (`[20, 30)`, `20-29`,
`>= 90`), a set (`{a, b}`), a part of the calendar (`2020-05`, `2020-Q2`, `2020s`), or a text with hidden characters
(`12***`). A label that cannot be read covers any value.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Any

from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.generalization.values import Label, Value, as_text, key, label_of, read

Covers = Callable[[Value], bool]
_BRACKETS = re.compile(r"(?P<opens>[\[(])\s*(?P<low>[^,]+?)\s*,\s*(?P<high>[^,]+?)\s*(?P<closes>[\])])")
_DASH = re.compile(r"(?P<low>-?[\d.]+)\s*(?:-|\u2013|\.\.)\s*(?P<high>-?[\d.]+)")
_HALF = re.compile(r"(?P<sign>>=|<=|>|<|≥|≤)\s*(?P<end>\S.*)|(?P<least>[\d.]+)\+")
_CALENDAR = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d)(?:-(?P<day>\d\d))?|-Q(?P<quarter>[1-4])|(?P<decade>s)|-(?P<last>\d{4}))?"
)
_ENDS = ("low", "high", "end", "least")


def covered(
    labels: Iterable[Label],
    values: Sequence[Value],
    kind: str,
    hierarchy: Hierarchy | None = None,
    texts: Sequence[Label] | None = None,
    others: Collection[Label] = (),
) -> tuple[dict[Label, list[int]], list[str]]:
    """The values, by their places, that every label covers; and the labels that cannot be read.

    `texts`: the values' texts in their own system, if these differ from Python's. `others`: texts of other people's
    values, which are also read as values.

    >>> covered(["[20, 30)", "*", "4?"], [25, 30], "integer")
    ({'[20, 30)': [0], '*': [0, 1], '4?': [0, 1]}, ['4?'])
    """
    return LabelReader(values, kind, hierarchy, texts, others).covered(labels)


class LabelReader:
    """Finds the values of a column that its labels cover; the arguments are those of `covered`."""

    def __init__(
        self,
        values: Sequence[Value],
        kind: str,
        hierarchy: Hierarchy | None = None,
        texts: Sequence[Label] | None = None,
        others: Collection[Label] = (),
    ) -> None:
        self._kind = kind
        self._leaves = _under(hierarchy, values) if hierarchy else {}
        self._domain = _ValueIndex(values, (*map(label_of, values), *(texts or ())))
        self._texts = self._domain.by_text.keys() | others

    def covered(self, labels: Iterable[Label]) -> tuple[dict[Label, list[int]], list[str]]:
        """The values, by their places, that every label covers; and the labels that cannot be read."""
        found: dict[Label, list[int]] = {}
        unread: list[str] = []
        for label in labels:
            if label in self._leaves:
                found[label] = self._domain.among(self._leaves[label])
                continue
            covers = reading(label, self._kind, self._texts)
            if covers is None and label is not None:
                unread.append(label)
            found[label] = self._domain.covered(label, covers)
        return found, unread


def reading(label: Label, kind: str, texts: Collection[Label] = ()) -> Covers | None:
    """How a label reads without a hierarchy; None if it cannot be read. `texts`: the existing values.

    >>> from datetime import date
    >>> covers = reading("2020-Q2", "date")
    >>> covers(date(2020, 5, 17)), covers(date(2020, 7, 1))
    (True, False)
    """
    if label is None:
        return lambda value: value is None
    if STAR in label:
        return _hidden(label)
    if label in texts:
        return lambda value: label_of(value) == label
    return next((covers for read_as in _READINGS if (covers := read_as(label, kind))), None)


class _ValueIndex:
    """The values of a column, found by value, by text, or by range."""

    def __init__(self, values: Sequence[Value], texts: Sequence[Label]) -> None:
        self.values = values
        self.by_key = {key(value): place for place, value in enumerate(values)}
        self.by_text: dict[Label, set[int]] = {}
        for number, text in enumerate(texts):
            self.by_text.setdefault(text, set()).add(number % len(values))
        self._masked: dict[tuple[bool, ...], dict[str, list[int]]] = {}
        self._in_order = self._sorted()

    def among(self, keys: Collection[Value]) -> list[int]:
        """The places of values with these keys."""
        return sorted(self.by_key[value] for value in keys if value in self.by_key)

    def covered(self, label: Label, covers: Covers | None) -> list[int]:
        """The places of the values that a label covers; all places if it cannot be read."""
        if covers is None:
            return list(range(len(self.values)))
        if label is not None and STAR in label and label != STAR:
            return self._like(label)
        if label in self.by_text and label != STAR:
            return sorted(self.by_text[label])
        if isinstance(covers, _Between) and self._in_order is not None:
            return covers.among(*self._in_order)
        return [place for place, value in enumerate(self.values) if covers(value)]

    def _like(self, label: str) -> list[int]:
        """The places of texts that match a label with hidden characters; texts are hidden once per mask."""
        mask = tuple(letter == STAR for letter in label)
        if mask not in self._masked:
            self._masked[mask] = {}
            for text, places in self.by_text.items():
                if text is not None and len(text) == len(mask):
                    self._masked[mask].setdefault(_hide(text, mask), []).extend(places)
        return sorted(set(self._masked[mask].get(label, ())))

    def _sorted(self) -> tuple[list[Value], list[int]] | None:
        """The values in order with their places; None for values without an order."""
        try:
            pairs = sorted((value, place) for place, value in enumerate(self.values) if value is not None)
        except (TypeError, ArithmeticError):  # a NaN among decimals has no order
            return None
        if any(value != value for value, _ in pairs):
            return None
        return [value for value, _ in pairs], [place for _, place in pairs]


def _under(hierarchy: Hierarchy, values: Sequence[Value]) -> dict[Label, set[Value]]:
    """The leaves under every label of a hierarchy, on any level."""
    leaves: dict[Label, set[Value]] = {}
    for level in range(hierarchy.height + 1):
        rows = zip((*hierarchy.values, *hierarchy.starred), hierarchy.labels(level), strict=True)
        for value, label in rows:
            leaves.setdefault(label_of(label), set()).add(key(value))
    for top in (STAR, label_of(hierarchy.labels(hierarchy.height)[0]) if hierarchy.values else STAR):
        leaves.setdefault(top, set()).update(map(key, values))
    return leaves


@dataclass(frozen=True)
class _Between:
    """From `low` to `high`; None for no end. An open end is excluded."""

    low: Value | None = None
    high: Value | None = None
    low_open: bool = False
    high_open: bool = False

    def __call__(self, value: Value) -> bool:
        """Whether a value is in the range; False for NULL, and for values that cannot be compared."""
        try:
            return value is not None and not (self._is_below(value) or self._is_above(value))
        except (TypeError, ArithmeticError):
            return False

    def _is_below(self, value: Value) -> bool:
        return self.low is not None and not (self.low < value if self.low_open else self.low <= value)

    def _is_above(self, value: Value) -> bool:
        return self.high is not None and not (value < self.high if self.high_open else value <= self.high)

    def among(self, values: Sequence[Value], places: Sequence[int]) -> list[int]:
        """The places of the values in the range; `values` are in order."""
        try:
            first = 0 if self.low is None else (bisect_right if self.low_open else bisect_left)(values, self.low)
            last = len(values)
            if self.high is not None:
                last = (bisect_left if self.high_open else bisect_right)(values, self.high)
        except (TypeError, ArithmeticError):
            return []
        return sorted(places[first:last])


def _range(label: str, kind: str) -> Covers | None:
    """`[20, 30)`, `20-29`, `20 - 29`: of numbers, dates and times."""
    match = _BRACKETS.fullmatch(label) or _DASH.fullmatch(label)
    ends = match and (_value(match["low"], kind), _value(match["high"], kind))
    if not match or not ends or None in ends or not _in_order(ends):
        return None
    parts = match.groupdict()
    return _Between(*ends, low_open=parts.get("opens") == "(", high_open=parts.get("closes") == ")")


def _in_order(ends: Sequence[Any]) -> bool:
    """Whether a range does not end before it begins, as the month `2024-01` would if it were read as numbers."""
    try:
        return all(low <= high for low, high in pairwise(ends))
    except (TypeError, ArithmeticError):  # `infinity` is a text
        return True


def _half(label: str, kind: str) -> Covers | None:
    """`>= 90`, `< 18`, `90+`."""
    match = _HALF.fullmatch(label)
    end = _value(match["end"] or match["least"], kind) if match else None
    if match is None or end is None:
        return None
    sign = (match["sign"] or ">=").replace("≥", ">=").replace("≤", "<=")
    is_open = "=" not in sign
    return _Between(low=end, low_open=is_open) if ">" in sign else _Between(high=end, high_open=is_open)


def _set(label: str, _: str) -> Covers | None:
    """`{a, b}`."""
    if not (label.startswith("{") and label.endswith("}")):
        return None
    members = {member.strip() for member in label[1:-1].split(",")}
    return lambda value: label_of(value) in members


def _calendar(label: str, kind: str) -> Covers | None:
    """`2020-05-17`, `2020-05`, `2020-Q2`, `2020`, `2020s`, `2000-2099`."""
    match = _CALENDAR.fullmatch(label)
    if not match or kind not in ("date", "timestamp"):
        return None
    first, last = int(match["year"]), int(match["last"] or match["year"])
    last += 9 if match["decade"] else 0
    quarter, month, day = (int(match[part] or 0) for part in ("quarter", "month", "day"))

    def covers(value: Value) -> bool:
        if not isinstance(value, date) or not first <= value.year <= last:
            return False
        parts = ((quarter, (value.month + 2) // 3), (month, value.month), (day, value.day))
        return all(not wanted or wanted == part for wanted, part in parts)

    return covers


def _single(label: str, kind: str) -> Covers | None:
    """One value in another notation than the values' own: `1.5` for 1.50."""
    value = _value(label, kind)
    return None if value is None or isinstance(value, str) else lambda other: bool(key(other) == key(value))


def _hidden(label: str) -> Covers:
    """`12***`: texts of the same length with the same visible characters."""
    mask = tuple(letter == STAR for letter in label)

    def covers(value: Value) -> bool:
        text = label_of(value)
        return label == STAR or (text is not None and len(text) == len(label) and _hide(text, mask) == label)

    return covers


def _hide(text: str, mask: Sequence[bool]) -> str:
    return "".join(STAR if hidden else letter for letter, hidden in zip(text, mask, strict=True))


_READINGS = (_range, _half, _set, _calendar, _single)


def _value(text: str, kind: str) -> Value | None:
    """The end of a range in the column's type; None if it is not a value of it."""
    if kind in ("text", "other"):
        return None
    for of_kind in (kind, "decimal") if kind == "integer" else (kind,):
        with suppress(ValueError):
            return read(text, of_kind)
    return None


def ends(label: str, kind: str) -> list[Value]:
    """The values of a kind at which a label's range begins or ends; empty for any other label.

    >>> ends("[20, 30)", "decimal"), ends("021**", "text"), ends("02139", "decimal"), ends("2024-01", "decimal")
    ([Decimal('20'), Decimal('30')], ['02100'], [], [])
    """
    if kind == "text":
        parts = label[1:-1].split(",") if label.startswith("{") else [label]
        return [part.strip().replace(STAR, "0") for part in parts]
    value, calendar = _value(label, kind), _CALENDAR.fullmatch(label)
    if value is not None:
        return [value] if as_text(value) == label else []  # 02139 is not a number
    if kind != "decimal" and calendar:
        year, month, quarter = (int(calendar[part] or 0) for part in ("year", "month", "quarter"))
        return [_value(f"{year:04}-{month or 3 * (quarter or 1) - 2:02}-01", kind)]  # the first day
    match = _BRACKETS.fullmatch(label) or _DASH.fullmatch(label) or _HALF.fullmatch(label)
    texts = [text for name, text in match.groupdict().items() if name in _ENDS and text] if match else []
    found = [_value(text, kind) for text in texts]
    return [] if None in found or not _in_order(found) else found
