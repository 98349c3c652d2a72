"""Rules: what a level of a recipe makes of a value, where that needs no list of values; for SQL that works it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from kanon_sql.generalization.values import Value


@dataclass(frozen=True)
class Itself:
    """The value as it is: level 0 of every recipe."""


@dataclass(frozen=True)
class Range:
    """A half-open range of whole numbers; see `kanon_sql.generalization.recipes.ranges`."""

    width: int
    origin: int = 0
    bottom: int | None = None
    top: int | None = None


@dataclass(frozen=True)
class Redaction:
    """So many characters hidden, from one side."""

    hidden: int
    side: Literal["right", "left"]


@dataclass(frozen=True)
class Calendar:
    """A part of the calendar: day, month, quarter, year, decade or century."""

    unit: str


Rule: TypeAlias = Itself | Range | Redaction | Calendar


def range_rule(width: Decimal, origin: Decimal, bottom: Decimal | None, top: Decimal | None) -> Range | None:
    """The rule of ranges whose ends are whole numbers; None for others, whose ends need not be what a float is.

    >>> range_rule(Decimal(10), Decimal(0), None, Decimal("90")), range_rule(Decimal("0.5"), Decimal(0), None, None)
    (Range(width=10, origin=0, bottom=None, top=90), None)
    """
    if not all(_is_whole(each) for each in (width, origin, bottom, top)):
        return None
    low, high = (None if each is None else int(each) for each in (bottom, top))
    return Range(int(width), int(origin), low, high)


def _is_whole(number: Decimal | None) -> bool:
    return number is None or (abs(number) < MOST and number == number.to_integral_value())


MOST = 10**15  # of a number written in a statement


def largest(values: Sequence[Value]) -> Decimal:
    """The largest distance of numbers from 0.

    >>> largest([3, -7.5, None])
    Decimal('7.5')
    """
    return max((abs(Decimal(str(value))) for value in values if value is not None), default=Decimal(0))
