"""Values in Python: read from text, written as text, compared; and their labels."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, TypeAlias

Value: TypeAlias = Any  # int, float, Decimal, str, bool, date, datetime, time, … hashable; None is NULL

Label: TypeAlias = str | None

_NAN = object()
_SHORT = 400  # digits
# Dates and times of engines that Python cannot represent exactly; time zones are written in several ways.
_BEYOND_PYTHON = {
    "date": re.compile(r"-?infinity|\d{5,}-.*|.*BC\)?"),
    "timestamp": re.compile(r"-?infinity|\d{5,}-.*|.*BC\)?|.*\.\d{7,}.*"),
    "time": re.compile(r"24:00.*|.*\.\d{7,}|.*[+-].*"),
}


def _integer(text: str) -> int:
    if len(text) < _SHORT and text.isascii() and text.isdigit():
        return int(text)
    number = Decimal(text)
    if abs(number.adjusted()) > 400 or number != number.to_integral_value():
        raise ValueError(text)
    return int(number)


def _date(text: str) -> date:
    moment = datetime.fromisoformat(text)
    if moment.time() != time():
        raise ValueError(text)
    return moment.date()


_READERS: dict[str, Callable[[str], Value]] = {
    "integer": _integer,
    "decimal": Decimal,
    "float": float,
    "date": _date,
    "timestamp": datetime.fromisoformat,
    "time": time.fromisoformat,
    "boolean": lambda text: {"true": True, "t": True, "false": False, "f": False}[text.lower()],
}


def read(text: str, kind: str) -> Value:
    """A value of a kind from its text; the text if Python has no such date or time; ValueError for an invalid text.

    >>> read("2020-05-17", "date"), read("infinity", "date"), read("24:00:00", "time"), read("NL", "text")
    (datetime.date(2020, 5, 17), 'infinity', '24:00:00', 'NL')
    """
    beyond = _BEYOND_PYTHON.get(kind)
    if kind not in _READERS or (beyond and beyond.fullmatch(text)):
        return text
    try:
        return _READERS[kind](text)
    except (ArithmeticError, KeyError) as error:
        raise ValueError(text) from error


def read_all(values: Sequence[Value], kind: str) -> list[Value]:
    """`read` all texts among the values; three times as fast for texts of digits only.

    >>> read_all(["39", "-40"], "integer"), read_all(["4e1", 40], "integer")
    ([39, -40], [40, 40])
    """
    if kind == "integer" and set(map(type, values)) == {str}:
        written = "".join(values).replace("-", "")
        if written.isascii() and written.isdigit() and max(map(len, values)) < _SHORT:
            return list(map(int, values))
    return [read(value, kind) if isinstance(value, str) else value for value in values]


def read_or_text(text: str | None, kind: str) -> Value:
    """A value of a kind from its text; the text itself if it is invalid, None for None."""
    try:
        return None if text is None else read(text, kind)
    except ValueError:
        return text


def label_of(value: Value) -> Label:
    """A value as the label of itself: its text, or None."""
    return None if value is None else as_text(value)


def key(value: Value) -> Value:
    """A key that equal values share; NaN is equal to NaN.

    >>> key(1) == key(1.0), key(float("nan")) == key(Decimal("nan"))
    (True, True)
    """
    if isinstance(value, float):
        return _NAN if math.isnan(value) else value
    return _NAN if isinstance(value, Decimal) and value.is_nan() else value


def added_by_key(counts: Iterable[tuple[Value, int]]) -> dict[Value, int]:
    """The counts of values, added up for equal ones."""
    added: dict[Value, int] = {}
    for value, n in counts:
        added[key(value)] = added.get(key(value), 0) + int(n)
    return added


def keys(values: Sequence[Value]) -> Sequence[Value]:
    """The keys of the values; most kinds of values are their own keys.

    >>> keys([1, 2]), keys(["a", None])
    ([1, 2], ['a', None])
    """
    may_be_nan = any(issubclass(kind, float | Decimal) for kind in set(map(type, values)))
    return list(map(key, values)) if may_be_nan else values


def ordered(values: Iterable[Value]) -> tuple[Value, ...]:
    """The distinct values without NULL, sorted, so that a hierarchy does not depend on the order of the data."""
    present = [value for value in values if value is not None]
    distinct = dict(zip(keys(present), present, strict=True))
    nan = [distinct.pop(_NAN)] if _NAN in distinct else []
    try:
        return (*sorted(distinct.values()), *nan)
    except TypeError:
        return tuple(sorted([*distinct.values(), *nan], key=repr))


def as_text(value: Value) -> str:
    """The text of a value that an engine can read.

    >>> as_text(date(2020, 5, 17)), as_text(1.5), as_text(Decimal("1E-7"))
    ('2020-05-17', '1.5', '0.0000001')
    """
    if type(value) is str or type(value) is int:
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value.isoformat()) if isinstance(value, date | time) else str(value)


def printed(value: Value) -> str:
    if value is None:
        return "NULL"
    text = repr(value) if isinstance(value, str) else as_text(value)
    return text if len(text) <= 40 else text[:39] + "…"
