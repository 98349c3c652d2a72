"""What a column contains, for the page: its frequent values and the distribution of its rows, counted once.

A value or an interval is only shown if at least k people have it, or k rows without a unit: rare values can identify
people, and the page is shown in offices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from math import floor, isfinite, log10, sqrt
from typing import Any

from kanon_sql.engine import Column
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import KanonError
from kanon_sql.page.column_values import cut, places, shown, some_rows
from kanon_sql.page.draft import Draft
from kanon_sql.plan.source import Source, opened
from kanon_sql.relation import Relation
from kanon_sql.report.svg import Element, element, picture
from kanon_sql.spec import parse

MOST_ROWS = 20  # that are shown as examples
MOST_FREQUENT = 2_000  # values that are kept of a column
_SHOWN, _BARS = 5, 24
_FEW = 12  # numbers up to this many are shown as values
_WIDE, _HIGH = 240.0, 34.0
_NUMBERS, _DATES = ("integer", "decimal", "float"), ("date", "timestamp")
_LONGEST = 40
_OTHERS = "all others"
_SPANS = ((1, 24), (3, 72), (12, 288), (60, 1440), (120, 2880), (1200, 10**9))  # months per interval, up to a span


@dataclass(frozen=True)
class Interval:
    """The rows of a column from a bound up to, and not including, another; None is open. `size`: people, at least."""

    low: float | None
    high: float | None
    rows: int
    size: int


@dataclass(frozen=True)
class Shown:
    """A value or an interval as text, with its rows."""

    text: str
    count: int


@dataclass(frozen=True)
class ColumnSummary:
    """The most frequent values of a column (text, rows, people), and all of them by their number of people.

    `sizes`: values and rows by people. People are rows without a unit. `missing`: rows without a value.
    `intervals`: of numbers (in steps of `width`) or of dates (months since the year 0; `width` is 0).
    """

    column: Column
    frequent: tuple[tuple[str, int, int], ...] = ()
    sizes: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    missing: int = 0
    intervals: tuple[Interval, ...] = ()
    width: float = 0.0
    people: bool = False

    @property
    def distinct(self) -> int:
        """The number of different values; NULL is one of them."""
        return sum(values for values, _ in self.sizes.values())

    @property
    def rows(self) -> int:
        """All rows."""
        return sum(rows for _, rows in self.sizes.values())

    def shared(self, k: int) -> int:
        """The number of values that at least k people have."""
        return sum(values for size, (values, _) in self.sizes.items() if size >= k)

    def rare_rows(self, k: int) -> int:
        """The rows with values that fewer than k people have."""
        return sum(rows for size, (_, rows) in self.sizes.items() if size < k)

    def samples(self, k: int) -> list[Shown]:
        """The values that most people have, at least k of them, with their people; `k` 1 shows rare values, too."""
        return [Shown(_cut(text), size) for text, _, size in self.frequent if size >= k][:_SHOWN]

    def bars(self, k: int) -> list[Shown]:
        """The distribution: intervals of at least k people, or the most frequent values and all others together."""
        if self.intervals:
            return [Shown(self._interval(part), part.rows) for part in merged(self.intervals, k, self.people)]
        values = [Shown(_cut(text), rows) for text, rows, size in self.frequent if size >= k][: _BARS - 1]
        rest = self.rows - sum(value.count for value in values)
        return [*values, Shown(_OTHERS, rest)] if rest else values

    def drawn(self, name: str, k: int) -> str:
        """The distribution as a picture; its text also has the rows of all other values."""
        bars = self.bars(k)
        drawn = [bar for bar in bars if bar.text != _OTHERS]
        most = max((bar.count for bar in drawn), default=1) or 1
        step = _WIDE / max(_BARS, len(drawn))
        parts: list[Element] = []
        for place, bar in enumerate(drawn):
            high = max(1.0, _HIGH * bar.count / most) if bar.count else 0.0
            title = element("title")
            title.text = f"{bar.text}: {bar.count:,} rows"
            x, wide = place * step, step - min(2, step / 4)
            parts.append(element("rect", title, x=x, y=_HIGH - high, width=wide, height=high, class_="r"))
        parts.append(element("line", x1=0, y1=_HIGH, x2=_WIDE, y2=_HIGH, class_="g"))
        text = "; ".join(f"{bar.text}: {bar.count:,}" for bar in bars)
        return picture(name, _WIDE, _HIGH + 1, f"Rows by value of {self.column.name}", f"{text}.", parts)

    def common(self, k: int) -> frozenset[str]:
        """The texts of the values that at least k people have, as far as they are kept."""
        return frozenset(text for text, _, size in self.frequent if size >= k)

    def intervals_of(self, k: int) -> Callable[[Any], str]:
        """Find the interval with at least k people that contains a value, or the text of one; empty without one."""
        named = [(part, self._interval(part)) for part in merged(self.intervals, k, self.people)]

        def find(value: Any) -> str:
            try:
                if self.column.kind in _DATES:
                    day = datetime.fromisoformat(value) if isinstance(value, str) else value
                    place = day.year * 12 + day.month - 1
                else:
                    place = float(value)
            except (AttributeError, TypeError, ValueError):
                return ""
            for part, text in named:
                if (part.low is None or part.low <= place) and (part.high is None or place < part.high):
                    return text
            return ""

        return find

    def days(self, k: int) -> tuple[str, str] | None:
        """The first and the last day of the intervals of a column of dates."""
        if self.column.kind not in _DATES or not (parts := merged(self.intervals, k, self.people)):
            return None
        first, after = int(parts[0].low or 0), int(parts[-1].high or 0)
        last = date(after // 12, after % 12 + 1, 1) - timedelta(days=1)
        return date(first // 12, first % 12 + 1, 1).isoformat(), last.isoformat()

    def ends(self, k: int) -> tuple[str, str] | None:
        """The texts of the first and the last bound of the intervals."""
        bars = self.bars(k) if self.intervals else []
        return (bars[0].text.split(" to ")[0], bars[-1].text.split(" to ")[-1]) if len(bars) > 1 else None

    def _interval(self, part: Interval) -> str:
        if not self.width:
            return _period(int(part.low or 0), int(part.high or 0))
        if part.low is None or part.high is None:
            return f"below {_number(part.high or 0)}" if part.low is None else f"from {_number(part.low)}"
        last = part.high - 1 if self.column.kind == "integer" else part.high
        return _number(part.low) if part.low == last else f"{_number(part.low)} to {_number(last)}"


@dataclass(frozen=True)
class SourceSummary:
    """The summaries of all columns, by name, and a few rows from different parts of the source."""

    columns: Mapping[str, ColumnSummary]
    rows: tuple[Mapping[str, Any], ...] = ()

    def limited(self, name: str, value: Any, k: int) -> tuple[str, bool]:
        """A value as text, and whether it is shown: fewer than k people may have one that is not.

        In its place is the interval with at least k people that contains it, if there is one.
        """
        summary = self.columns[name]
        text = shown(value)
        if k <= 1 or value is None or text in summary.common(k):
            return _cut(text), True
        return summary.intervals_of(k)(value), False


def summarized(draft: Draft) -> SourceSummary:
    """The summary of a draft's source, which is read once; KanonError if that fails."""
    generalized = {column.name: {"hierarchy": "suppress"} for column in draft.columns[:1]}
    spec = parse({**places(draft), "quasi_identifiers": generalized})
    with opened(None, spec, warns=False) as data:
        unit = str(draft.keys.get("unit") or "")
        unit = unit if data.table.column(unit) else ""
        columns = {column.name: _summary(data, column, unit) for column in data.table.columns}
        rows = max((summary.rows for summary in columns.values()), default=0)
        names = [column.name for column in data.table.columns if column.kind != "other"]
        some = some_rows(data.engine, data.table.relation, names, rows, MOST_ROWS)
        return SourceSummary(columns, tuple(dict(zip(names, row, strict=True)) for row in some))


def _summary(data: Source, column: Column, unit: str) -> ColumnSummary:
    if column.kind == "other":
        return ColumnSummary(column)
    try:
        with Scratch(data.engine, "page") as tables:
            source = data.table.relation
            if unit:
                values = tables.create("values", "page/value_people", column=[column.name], unit=[unit], source=source)
            else:
                values = tables.create("values", "page/value_counts", column=[column.name], source=source)
            frequent = tables.rows("page/frequent_values", values=values, most=MOST_FREQUENT)
            sizes = {int(size): (int(n), int(rows)) for size, n, rows in tables.rows("page/value_sizes", values=values)}
            missing = sum(int(rows) for value, rows, _ in frequent if value is None)
            texts = tuple((shown(value), int(rows), int(size)) for value, rows, size in frequent if value is not None)
            found = ColumnSummary(column, texts, sizes, missing, people=bool(unit))
            width, intervals = _intervals(_Binned(tables, values, column, unit, source), found.distinct)
            return replace(found, width=width, intervals=intervals)
    except KanonError:  # values that cannot be compared or added
        return ColumnSummary(column)


@dataclass(frozen=True)
class _Binned:
    """The intervals of a column with their rows and people."""

    tables: Scratch
    values: Relation
    column: Column
    unit: str
    source: Relation

    def counted(self, query: str, **holes: float) -> dict[int, tuple[int, int]]:
        """The rows and people of every interval, by its number."""
        bins = self.tables.create("bins", query, values=self.values, **holes)
        if self.unit:
            named = {"column": [self.column.name], "unit": [self.unit]}
            rows = self.tables.rows("page/bin_people", source=self.source, bins=bins, **named)
        else:
            rows = self.tables.rows("page/bin_rows", bins=bins)
        return {int(place): (int(n), int(size)) for place, n, size in rows}

    def joined(self, parts: Sequence[tuple[int, int]], low: float | None, high: float | None) -> Interval:
        """Neighbouring intervals as one."""
        return _joined([Interval(low, high, *part) for part in parts] or [Interval(low, high, 0, 0)], bool(self.unit))

    def of_width(self, counted: Mapping[int, tuple[int, int]], width: int) -> Iterator[Interval]:
        """All intervals of a width from the first to the last, also empty ones."""
        for start in range(min(counted) // width * width, max(counted) + 1, width):
            inside = [counted[place] for place in range(start, start + width) if place in counted]
            yield self.joined(inside, start, start + width)


def _intervals(binned: _Binned, distinct: int) -> tuple[float, tuple[Interval, ...]]:
    """The rows by intervals of numbers, or of time; none for a column of texts or of a few numbers."""
    if binned.column.kind in _DATES:
        counted = binned.counted("page/month_bins")
        if not counted:
            return 0.0, ()
        span = max(counted) - min(counted) + 1
        months = next(months for months, most in _SPANS if span <= most)
        return 0.0, tuple(binned.of_width(counted, months))
    if binned.column.kind not in _NUMBERS or distinct <= _FEW:
        return 0.0, ()
    ((mean, mean_square),) = binned.tables.rows("page/spread", values=binned.values)
    if mean is None or not isfinite(float(mean)) or not isfinite(float(mean_square)):
        return 0.0, ()
    mean, deviation = float(mean), sqrt(max(0.0, float(mean_square) - float(mean) ** 2))
    width = nice(deviation / 2)
    if binned.column.kind == "integer":
        width = max(width, 1.0)
    counted = binned.counted("page/number_bins", width=width)
    low, high = floor((mean - 3 * deviation) / width), floor((mean + 3 * deviation) / width)
    inner = {place: of for place, of in counted.items() if low <= place <= high}
    if not inner:
        return 0.0, ()
    first, last = min(inner) * width, (max(inner) + 1) * width
    middle = [
        replace(part, low=(part.low or 0) * width, high=(part.high or 0) * width) for part in binned.of_width(inner, 1)
    ]
    below = [of for place, of in counted.items() if place < low]
    above = [of for place, of in counted.items() if place > high]
    tails = [[binned.joined(below, None, first)] if below else [], [binned.joined(above, last, None)] if above else []]
    return width, (*tails[0], *middle, *tails[1])


def merged(intervals: Sequence[Interval], k: int, people: bool = False) -> list[Interval]:
    """Neighbouring intervals together until at least k people are in each.

    >>> parts = [Interval(0, 10, 2, 2), Interval(10, 20, 9, 9), Interval(20, 30, 0, 0), Interval(30, 40, 1, 1)]
    >>> [(part.low, part.high, part.rows) for part in merged(parts, 5)]
    [(0, 40, 12)]
    >>> [(part.low, part.high, part.rows) for part in merged(parts, 1)]
    [(0, 10, 2), (10, 20, 9), (20, 30, 0), (30, 40, 1)]
    """
    together: list[Interval] = []
    waiting: list[Interval] = []
    for part in intervals:
        waiting.append(part)
        joined = _joined(waiting, people)
        if joined.size >= k or (joined.rows == 0 and together):
            together.append(joined)
            waiting = []
    if any(part.rows for part in waiting):
        while together and (not waiting[0].size or _joined(waiting, people).size < k):
            waiting.insert(0, together.pop())
        joined = _joined(waiting, people)
        return [*together, joined] if joined.size >= k else []
    return together


def _joined(parts: Sequence[Interval], people: bool) -> Interval:
    """Neighbouring intervals as one, with the people of the largest, since a person can be in several."""
    sizes = [part.size for part in parts]
    return Interval(
        parts[0].low, parts[-1].high, sum(part.rows for part in parts), max(sizes) if people else sum(sizes)
    )


def nice(width: float) -> float:
    """The largest of 1, 2 and 5, times a power of ten, that is at most a width.

    >>> nice(7.3), nice(0.03), nice(2499), nice(0)
    (5.0, 0.02, 2000.0, 1.0)
    """
    if width <= 0 or not isfinite(width):
        return 1.0
    power = 10.0 ** floor(log10(width))
    return float(f"{next(step for step in (5, 2, 1) if step * power <= width * 1.0000001) * power:.3g}")


def _number(number: float) -> str:
    return f"{number:.0f}" if number == int(number) and abs(number) < 1e15 else f"{number:.6g}"


def _month(month: float) -> str:
    return f"{int(month) // 12:04d}-{int(month) % 12 + 1:02d}"


def _period(low: int, high: int) -> str:
    """The months from one up to another, in words.

    >>> _period(24288, 24289), _period(24288, 24300), _period(24276, 24300), _period(24288, 24291)
    ('2024-01', '2024', '2023 to 2024', '2024-01 to 2024-03')
    """
    if high - low == 1:
        return _month(low)
    if low % 12 == 0 and high % 12 == 0:
        first, last = low // 12, high // 12 - 1
        return f"{first:04d}" if first == last else f"{first:04d} to {last:04d}"
    return f"{_month(low)} to {_month(high - 1)}"


def _cut(text: str) -> str:
    text = " ".join(text.split()) or text
    return cut(text, _LONGEST)
