"""Rules that compute the labels of a level without a list of values, so that SQL can compute them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal, TypeAlias

from kanon_sql.generalization.values import Value

MOST = 10**15  # the largest number in a statement


@dataclass(frozen=True)
class Itself:
    """The value itself: level 0 of every recipe."""


@dataclass(frozen=True)
class Range:
    """A half-open range of whole numbers; see `kanon_sql.generalization.recipes.ranges`."""

    width: int
    origin: int = 0
    bottom: int | None = None
    top: int | None = None


@dataclass(frozen=True)
class Redaction:
    """A number of characters hidden from one side."""

    hidden: int
    side: Literal["right", "left"]


@dataclass(frozen=True)
class Calendar:
    """A part of the calendar, such as month, decade or `5 years`; a week only in DuckDB and PostgreSQL."""

    unit: str


@dataclass(frozen=True)
class Age:
    """The age at a date, in a band of years; a band of one year is the age itself."""

    as_of: date
    band: Range


@dataclass(frozen=True)
class Edges:
    """The half-open range between two of these whole numbers, below the first, or from the last on."""

    edges: tuple[int, ...]


@dataclass(frozen=True)
class Prefix:
    """A number of characters of a code, padded with zeros."""

    length: int
    pad: int | None = None


Rule: TypeAlias = Itself | Range | Redaction | Calendar | Age | Edges | Prefix


def age_rule(as_of: date, band: int, top: int | None) -> Age:
    """The rule of ages in bands of years.

    >>> age_rule(date(2026, 1, 1), 10, 90).band
    Range(width=10, origin=0, bottom=0, top=90)
    """
    return Age(as_of, Range(band, bottom=0, top=top))


def edges_rule(edges: Sequence[Decimal]) -> Edges | None:
    """The rule of edges that are whole numbers; None for others, which a float can miss.

    >>> edges_rule([Decimal(1), Decimal(10)]), edges_rule([Decimal("0.5")])
    (Edges(edges=(1, 10)), None)
    """
    return Edges(tuple(map(int, edges))) if all(map(_is_whole, edges)) else None


def range_rule(width: Decimal, origin: Decimal, bottom: Decimal | None, top: Decimal | None) -> Range | None:
    """The rule of ranges whose ends are whole numbers; None for others, which a float can miss.

    >>> range_rule(Decimal(10), Decimal(0), None, Decimal("90")), range_rule(Decimal("0.5"), Decimal(0), None, None)
    (Range(width=10, origin=0, bottom=None, top=90), None)
    """
    if not all(_is_whole(number) for number in (width, origin, bottom, top)):
        return None
    low, high = (None if bound is None else int(bound) for bound in (bottom, top))
    return Range(int(width), int(origin), low, high)


def _is_whole(number: Decimal | None) -> bool:
    return number is None or (abs(number) < MOST and number == number.to_integral_value())


def largest(values: Sequence[Value]) -> Decimal:
    """The largest absolute value.

    >>> largest([3, -7.5, None])
    Decimal('7.5')
    """
    return max((abs(Decimal(str(value))) for value in values if value is not None), default=Decimal(0))
