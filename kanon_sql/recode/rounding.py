"""The bounds that a class shows: its smallest and largest value, rounded outward, so as not to be values of people.

They are rounded to the boundaries of a hierarchy that has any: the first width of `ranges`, the first unit of `dates`,
the leaves of a file. Otherwise to a step: 1, 2 or 5 times a power of ten, or a unit of the clock or calendar.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from functools import partial
from typing import Any, TypeAlias

from kanon_sql.engine import Column
from kanon_sql.engines.scratch import Scratch
from kanon_sql.generalization.calendar import TimeUnit, unit
from kanon_sql.generalization.values import Value
from kanon_sql.queries import Relation
from kanon_sql.recode.order import Order, has_nanoseconds, is_placed, number_key, number_keys
from kanon_sql.spec import DatesRecipe, FileRecipe, GroupsRecipe, RangesRecipe, TableRecipe, TaxonomyRecipe

Ends: TypeAlias = Callable[[Value], tuple[Value, Value]]  # the bounds of a range that contains a value

_MOMENTS = ("date", "timestamp", "time")
_EXACT = Context(prec=2000)  # a float has up to 309 digits before the point and 1,074 behind it
_PARTS = 5  # steps in the middle half of a column's values
_FAR = 10  # a value that lies apart from the middle is rounded to a tenth of the way or more
_LISTS = (
    FileRecipe | TableRecipe | TaxonomyRecipe | GroupsRecipe
)  # whose leaves were chosen by people, not taken from the data
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_SHOWING = (("date", "hour"), ("date", "day"))  # units that would show the value itself
_NANOSECONDS = (datetime(1677, 9, 22), datetime(2262, 4, 11))


@dataclass(frozen=True)
class Bounds:
    """Per position of an order: the bounds of a class that starts or ends there, and the positions that they reach.

    `lower`, `upper`: values of the column's type; None for a value without a place among the others (NULL, NaN, in no
    hierarchy), which forms no ranges. `first`, `last`: the positions of the leaves between the two.
    """

    lower: Sequence[Value]
    upper: Sequence[Value]
    first: Sequence[int]
    last: Sequence[int]

    def load(self, tables: Scratch, stem: str, value_type: str) -> Relation:
        """Load the bounds as a scratch table of position, lower, upper, first_position, last_position."""
        place, last = tables.engine.integer_type(len(self.first)), len(self.first)
        types = {"position": place, "lower": value_type, "upper": value_type}
        types |= {"first_position": place, "last_position": place}
        return tables.load(stem, types, [list(range(last)), self.lower, self.upper, self.first, self.last])


def exact(order: Order) -> Bounds:
    """The values themselves as bounds."""
    return _bounds(order, _itself)


def rounded(order: Order, recipe: object = None) -> Bounds:
    """The bounds rounded outward; `recipe`: of the attribute's hierarchy, None for a file or an order.

    >>> from kanon_sql import queries
    >>> from kanon_sql.generalization.recipes import suppress
    >>> from kanon_sql.frequency.frequency_set import Attribute
    >>> from kanon_sql.recode.order import order_of
    >>> ages, coded = suppress([21, 34, 47, 58], "age"), queries.Coded("age", Relation("map"), 1, ())
    >>> bounds = rounded(order_of(Attribute(Column("age", "INTEGER", "integer"), ages, coded)))
    >>> bounds.lower, bounds.upper
    ([20, 34, 46, 58], [21, 35, 47, 59])
    """
    _, values = _placed(order.values)
    if set(map(type, values)) != {int}:
        values = [value for value in values if _can_be_rounded(order.attribute.column, value)]
    if not values:
        return _bounds(order, _itself)
    return _bounds(order, *_rounder(order, recipe, values))


def _bounds(order: Order, ends: Ends, shares_bounds: bool = False) -> Bounds:
    """The bounds of all positions; `shares_bounds`: values up to the upper bound of a range have the same bounds."""
    count = len(order.values)
    lowers: list[Value] = [None] * count
    uppers = list(lowers)
    firsts, lasts = list(range(count)), list(range(count))
    start, placed = _placed(order.values)
    keys = number_keys(placed)
    key_of: Callable[[Value], Any] = number_key if keys is not placed else lambda value: value
    position = 0
    while position < len(placed):
        lower, upper = ends(placed[position])
        first, last = bisect_left(keys, key_of(lower)), bisect_right(keys, key_of(upper)) - 1
        end = last + 1 if shares_bounds else position + 1
        of_range, size = slice(start + position, start + end), end - position
        lowers[of_range], uppers[of_range] = [lower] * size, [upper] * size
        firsts[of_range], lasts[of_range] = [start + first] * size, [start + last] * size
        position = end
    return Bounds(lowers, uppers, firsts, lasts)


def _placed(values: Sequence[Value]) -> tuple[int, Sequence[Value]]:
    """The values with a place among the others, which are next to each other, and the position of the first."""
    start, end = 0, len(values)
    while start < end and not is_placed(values[start]):
        start += 1
    while start < end and not is_placed(values[end - 1]):
        end -= 1
    return start, values[start:end]


def _itself(value: Value) -> tuple[Value, Value]:
    return value, value


def _can_be_rounded(column: Column, value: Value) -> bool:
    """False for infinity, and for values that are text in Python: 24:00, or a year above 9999."""
    if type(value) is int:
        return True
    if column.kind in _MOMENTS:
        return isinstance(value, date | time) or has_nanoseconds(value)
    return is_placed(value) and _decimal(value).is_finite()


def _rounder(order: Order, recipe: object, values: Sequence[Value]) -> tuple[Ends, bool]:
    """How to round a column's values, and whether values share bounds; values that cannot be rounded stay."""
    column = order.attribute.column
    axis = _Moments(column, values) if column.kind in _MOMENTS else _Numbers(column, values)
    if isinstance(recipe, RangesRecipe | DatesRecipe):
        ends = axis.by_recipe(recipe)
    else:
        ends = _by_leaves(order) if isinstance(recipe, _LISTS | None) else None
    chosen = ends or axis.by_step
    # Values of a range can have different bounds: floats on a boundary, and numbers below `bottom`.
    is_plain = set(map(type, values)) in ({int}, {date}) and getattr(recipe, "bottom", None) is None
    shares_bounds = ends is not None and isinstance(recipe, RangesRecipe | DatesRecipe) and is_plain
    return (lambda value: chosen(value) if _can_be_rounded(column, value) else (value, value)), shares_bounds


def _by_leaves(order: Order) -> Ends | None:
    """Round to the smallest and largest leaf under the lowest nodes with several leaves; None without such a level."""
    hierarchy, column = order.attribute.hierarchy, order.attribute.column
    level = next((level for level in range(1, hierarchy.height) if max(hierarchy.leaves(level)) > 1), None)
    if level is None:
        return None
    code_of = {hierarchy.values[row]: hierarchy.codes(level)[row] for row in order.rows if row < len(hierarchy.values)}
    spans: dict[int, tuple[Value, Value]] = {}
    for value in order.values:
        if _can_be_rounded(column, value):
            spans[code_of[value]] = spans.get(code_of[value], (value, value))[0], value
    return lambda value: spans[code_of[value]]


class _Numbers:
    """The axis of a numeric column: its unit (0 if it has none), its type's limits, its step."""

    def __init__(self, column: Column, values: Sequence[Value]) -> None:
        scale = re.search(r",\s*(\d+)\)", column.type)
        whole = set(map(type, values)) == {int}
        self.unit = Decimal(1) if whole else Decimal(1).scaleb(-int(scale[1])) if scale else Decimal(0)
        self.limits = _limits(column.type)
        numbers = sorted(values) if whole else sorted(map(_decimal, values))
        low, self.middle, high = (_decimal(numbers[part * len(numbers) // 4]) for part in (1, 2, 3))
        with localcontext(_EXACT):
            self.step = max(nice((high - low) / _PARTS), 2 * self.unit) or Decimal(1)

    def by_step(self, value: Value) -> tuple[Value, Value]:
        with localcontext(_EXACT):
            number = _decimal(value)
            step = max(self.step, nice(abs(number - self.middle) / _FAR))
            return self._ends(value, *self._grid(number, step))

    def by_recipe(self, recipe: RangesRecipe | DatesRecipe) -> Ends | None:
        """Round to the first width above the unit, since a range of one value would show it."""
        if isinstance(recipe, DatesRecipe):
            return None
        width = next((width for width in recipe.ranges if width > self.unit), None)
        return None if width is None else partial(self._by_width, recipe, width)

    def _by_width(self, recipe: RangesRecipe, width: Decimal, value: Value) -> tuple[Value, Value]:
        with localcontext(_EXACT):
            number = _decimal(value)
            low, high = self._grid(number, width, recipe.origin)
            if recipe.top is not None or recipe.bottom is not None:
                beyond = self._grid(number, max(self.step, width))
            if recipe.top is not None:
                low, high = (recipe.top, beyond[1]) if number >= recipe.top else (low, min(high, recipe.top))
            if recipe.bottom is not None:
                low, high = (beyond[0], recipe.bottom) if number < recipe.bottom else (max(low, recipe.bottom), high)
            return self._ends(value, low, high)

    def _grid(self, number: Decimal, step: Decimal, origin: Decimal = Decimal(0)) -> tuple[Decimal, Decimal]:
        """The multiples of the step around a number; the upper one is above it where the column has a unit."""
        past = (number - origin) % step  # has the sign of the dividend
        low = number - past - (step if past < 0 else 0)
        return low, number if low == number and not self.unit else low + step

    def _ends(self, value: Value, low: Decimal, high: Decimal) -> tuple[Value, Value]:
        """Bounds as values of the column, within its type's limits; the upper one is the last value below `high`."""
        if self.unit:
            low = (low / self.unit).to_integral_value(ROUND_FLOOR) * self.unit
            high = ((high / self.unit).to_integral_value(ROUND_CEILING) - 1) * self.unit
        if self.limits:
            low, high = max(low, self.limits[0]), min(high, self.limits[1])
        if isinstance(value, str):
            return f"{low:f}", f"{high:f}"
        return type(value)(low), type(value)(high)


def _limits(type_name: str) -> tuple[Decimal, Decimal] | None:
    """The smallest and largest number of a type; None without relevant limits."""
    name, _, scaled = type_name.upper().partition("(")
    if name in ("FLOAT", "REAL", "DOUBLE"):
        most = Decimal("3.4028235E+38") if name != "DOUBLE" else Decimal(sys.float_info.max)
        return -most, most
    if scaled:
        precision, scale = map(int, re.findall(r"\d+", scaled))
        most = (Decimal(10) ** precision - 1).scaleb(-scale, _EXACT)
        return -most, most
    bits = _BITS.get(name.removeprefix("U"))
    if bits is None:
        return None
    if name[0] == "U":
        return Decimal(0), Decimal(2**bits - 1)
    return Decimal(-(2 ** (bits - 1))), Decimal(2 ** (bits - 1) - 1)


def _decimal(value: Value) -> Decimal:
    return Decimal(str(value))


def nice(most: Decimal) -> Decimal:
    """The largest of 1, 2 and 5 times a power of ten that is at most a number; 0 for 0."""
    if most <= 0:
        return Decimal(0)
    ten = Decimal(1).scaleb(most.adjusted())
    return max(digit * ten for digit in (1, 2, 5) if digit * ten <= most)


@dataclass(frozen=True, order=True)
class _RoundingStep:
    """A step of the clock or calendar: a number of seconds, or of months."""

    length: float  # in seconds, a month's being the mean
    months: int = 0

    def floor(self, moment: datetime) -> datetime:
        """The last boundary not after a moment; weeks begin on Mondays."""
        if not self.months:
            return moment - (moment - datetime.min) % timedelta(seconds=self.length)
        months = (moment.year * 12 + moment.month - 1) // self.months * self.months
        return max(datetime.min, _first_of(months))

    def after(self, boundary: datetime) -> datetime:
        """The next boundary, or the last representable moment."""
        try:
            if not self.months:
                return boundary + timedelta(seconds=self.length)
            months = boundary.year * 12 + boundary.month - 1
            return _first_of(months // self.months * self.months + self.months)
        except (OverflowError, ValueError):
            return datetime.max


def _first_of(months: int) -> datetime:
    return datetime(months // 12, months % 12 + 1, 1) if months >= 12 else datetime.min


def _months(count: int) -> _RoundingStep:
    return _RoundingStep(count * 30.436875 * 86400, count)


def _step(of: TimeUnit) -> _RoundingStep:
    return _months(of.months) if of.months else _RoundingStep(3600 * of.hours)


_CLOCK = tuple(_RoundingStep(60 * minutes) for minutes in (1, 5, 15, 60, 360))
_CALENDAR = (_RoundingStep(7 * 86400), *(_months(count) for count in (1, 3, 12, 24, 60, 120, 240, 600, 1200)))
_LADDERS = {"time": _CLOCK, "date": _CALENDAR, "timestamp": (*_CLOCK, _RoundingStep(86400), *_CALENDAR)}


class _Moments:
    """The axis of a column of dates or times."""

    def __init__(self, column: Column, values: Sequence[Value]) -> None:
        self.kind, self.ladder = column.kind, _LADDERS[column.kind]
        self.limits = _NANOSECONDS if column.type == "TIMESTAMP_NS" else (datetime.min, datetime.max)
        moments = sorted(map(_moment, values))
        low, self.middle, high = (moments[part * len(moments) // 4] for part in (1, 2, 3))
        self.step = self._nice((high - low) / _PARTS)

    def by_step(self, value: Value) -> tuple[Value, Value]:
        return self._ends(max(self.step, self._nice(abs(_moment(value) - self.middle) / _FAR)), value)

    def by_recipe(self, recipe: RangesRecipe | DatesRecipe) -> Ends | None:
        """Round to the first unit of the recipe, except days of a date, which would show it."""
        units = [name for name in getattr(recipe, "dates", ()) if (self.kind, name) not in _SHOWING]
        finest = unit(units[0]) if units else None
        return partial(self._ends, _step(finest)) if finest else None

    def _nice(self, most: timedelta) -> _RoundingStep:
        return max((step for step in self.ladder if step.length <= most.total_seconds()), default=self.ladder[0])

    def _ends(self, step: _RoundingStep, value: Value) -> tuple[Value, Value]:
        moment = _moment(value)
        low = step.floor(moment)
        high = step.after(low)
        if self.kind == "date":
            high = max(moment, high - timedelta(days=1)) if high < datetime.max else high
        elif self.kind == "time":
            high = min(high, datetime.combine(date.min, time.max))
        if low == moment and self.kind != "date" and not has_nanoseconds(value):
            high = moment
        low, high = max(low, self.limits[0]), min(high, self.limits[1])
        return self._typed(low, value), self._typed(high, value)

    def _typed(self, moment: datetime, like: Value) -> Value:
        if self.kind == "date":
            return moment.date()
        return moment.time() if self.kind == "time" else moment.replace(tzinfo=getattr(like, "tzinfo", None) and UTC)


def _moment(value: Value) -> datetime:
    """A date, timestamp or time on one axis; a timestamp with a zone in UTC."""
    if has_nanoseconds(value):
        return _moment(datetime.fromisoformat(value))
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    if isinstance(value, date):
        return datetime.combine(value, time.min)
    return datetime.combine(date.min, value.replace(tzinfo=None))
