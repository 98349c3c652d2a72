"""Units of the calendar: hours, days, weeks, months, years and bands of years."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime

_YEARS = re.compile(r"([2-9]|[1-9]\d{1,2}) years")


@dataclass(frozen=True)
class TimeUnit:
    """A unit of time as a number of hours or of months. Bands of years begin at a multiple."""

    name: str
    hours: int = 0
    months: int = 0

    @property
    def years(self) -> int:
        """The number of whole years."""
        return self.months // 12

    def nests_in(self, coarser: TimeUnit) -> bool:
        """Whether every period of the unit is within one of the coarser unit; a week can be in two months.

        >>> unit("month").nests_in(unit("5 years")), unit("week").nests_in(unit("month"))
        (True, False)
        """
        if self.months:
            return coarser.months > self.months and coarser.months % self.months == 0
        if coarser.months:
            return self.hours <= 24
        return coarser.hours > self.hours and coarser.hours % self.hours == 0

    def label(self, day: date) -> str:
        """The label of the period that contains a date or timestamp.

        >>> [unit(name).label(datetime(2024, 5, 17, 13, 30)) for name in ("hour", "week", "5 years", "decade")]
        ['2024-05-17 13:00', '2024-W20', '2020-2024', '2020s']
        """
        year = day.year
        match self.name:
            case "hour":
                return f"{day.isoformat()[:10]} {day.hour if isinstance(day, datetime) else 0:02d}:00"
            case "day":
                return day.isoformat()[:10]
            case "week":
                week = day.isocalendar()
                return f"{week.year:04d}-W{week.week:02d}"
            case "month":
                return day.isoformat()[:7]
            case "quarter":
                return f"{year:04d}-Q{(day.month + 2) // 3}"
            case "year":
                return f"{year:04d}"
            case "decade":
                return f"{year // 10 * 10:04d}s"
        first = year // self.years * self.years
        return f"{first:04d}-{first + self.years - 1:04d}"


NAMED = {
    named.name: named
    for named in (
        TimeUnit("hour", hours=1),
        TimeUnit("day", hours=24),
        TimeUnit("week", hours=168),
        TimeUnit("month", months=1),
        TimeUnit("quarter", months=3),
        TimeUnit("year", months=12),
        TimeUnit("decade", months=120),
        TimeUnit("century", months=1200),
    )
}


def unit(name: str) -> TimeUnit | None:
    """The unit with a name, such as month or `5 years`; None for another word.

    >>> unit("5 years").months, unit("fortnight")
    (60, None)
    """
    match = _YEARS.fullmatch(name)
    return TimeUnit(name, months=12 * int(match[1])) if match else NAMED.get(name)
