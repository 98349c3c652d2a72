"""A column's distribution in a release and in its source, in bins that reveal nothing about few people.

A bin is a range with round ends, or a label that the release shows, never another value of the source. No bin has some
but fewer than a given number of rows of the source: neighbouring bins are pooled, and unordered rare values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil, floor, log10

import numpy as np

from kanon_sql.generalization.hierarchy import STAR
from kanon_sql.hints import name_phrases, words
from kanon_sql.utility.attribute import ColumnDisplay, Floats, Int64s, SharedColumn

MOST = 12  # bins
_MOST_LABELS = 20_000
_TAIL = 0.01  # of the rows, at either end, without separate bins
_FEW = 0.25  # of the values: the most that a label of a few values covers
OTHER = "other values"
_CODES = words(
    "zip zipcode postalcode postal postcode plz postleitzahl npa codepostal cap codigopostal kodpocztowy postnummer "
    "year jahr annee anno ano rok jaar birthyear geburtsjahr jahrgang"
)
Name = Callable[[int, int], str]  # of the bins from one to another
_DAY = 86_400


@dataclass(frozen=True)
class Bin:
    """A bar: its label, and its rows in the source and by the uniform spread in the release."""

    label: str
    source: float
    release: float


@dataclass(frozen=True)
class Treated:
    """The generalization of a column's released cells, in rows: unchanged; covering a few values, at most a quarter of
    them; covering many; covering all values."""

    kept: int
    few: int
    many: int
    hidden: int


def treated(attribute: SharedColumn) -> Treated:
    """How far the cells of a column were generalized."""
    shown = attribute.shown
    size = len(attribute.shown.values)
    stars = np.array([label == STAR for label in shown.released], dtype=bool)
    hidden = stars | ((shown.counts == size) & (size > 1))
    values = set(shown.values)
    kept = ~hidden & np.array([label in values for label in shown.released], dtype=bool)
    few = ~hidden & ~kept & (shown.counts <= _FEW * size)
    return Treated(*(int(shown.rows[cells].sum()) for cells in (kept, few, ~hidden & ~kept & ~few, hidden)))


def rare_rows(attribute: SharedColumn, least: int) -> int:
    """The rows of the source whose value occurs in fewer than `least` rows."""
    return int(attribute.rows[attribute.rows < least].sum())


def distribution(attribute: SharedColumn, least: int) -> list[Bin]:
    """The bins of a column, in order if it is ordered, NULL last; none if nothing can be shown."""
    if treated(attribute).hidden == attribute.shown.rows.sum():  # the uniform spread of * is not informative
        return []
    released = attribute.released + attribute.nearby
    binned = _of_dates(attribute) if attribute.shown.kind in ("date", "timestamp") else _of_numbers(attribute)
    if binned:
        return _in_order(*binned, attribute, released, least)
    return _of_labels(attribute, released, least)


def _in_order(of: Int64s, name: Name, attribute: SharedColumn, released: Floats, least: int) -> list[Bin]:
    """Bins in order; values without a bin, such as NULL, form the last one if there are enough of them."""
    inside = of >= 0
    size = int(of.max()) + 1
    source, release = (np.bincount(of[inside], rows[inside], size).astype(float) for rows in (attribute.rows, released))
    bins = [
        Bin(name(first, last), float(source[first : last + 1].sum()), float(release[first : last + 1].sum()))
        for first, last in pooled(source, least)
    ]
    rest = Bin("no value", float(attribute.rows[~inside].sum()), float(released[~inside].sum()))
    return [*bins, rest] if rest.source >= least else bins


def pooled(rows: Sequence[float] | Floats, least: float) -> list[tuple[int, int]]:
    """Runs of neighbours, as (first, last), with no rows or at least `least` rows.

    >>> pooled([5, 0, 2, 4, 9, 1], 5)
    [(0, 0), (1, 1), (2, 3), (4, 5)]
    """
    runs: list[tuple[int, int]] = []
    pending = 0.0
    for place, n in enumerate(rows):
        if pending:
            runs[-1] = (runs[-1][0], place)
        else:
            runs.append((place, place))
        pending = 0.0 if pending + n >= least else pending + n
    while pending and len(runs) > 1:  # the last run has too few rows
        _, last = runs.pop()
        pending += sum(rows[runs[-1][0] : runs[-1][1] + 1])
        runs[-1] = (runs[-1][0], last)
        pending = 0.0 if pending >= least else pending
    return [] if pending else runs


def _of_numbers(attribute: SharedColumn) -> tuple[Int64s, Name] | None:
    """Ranges of numbers with round ends, the first and the last of them open."""
    numbers = attribute.shown.numbers
    integers = attribute.shown.kind == "integer"
    finite = np.isfinite(numbers)
    if attribute.shown.kind not in ("integer", "decimal", "float") or finite.sum() < MOST:
        return None
    low, high = _middle(numbers[finite], attribute.rows[finite])
    step = _step((high - low) / (MOST - 2), integers)
    edges = [round(place * step, 9) for place in range(floor(low / step) + 1, ceil(high / step))]
    if not edges:
        return None
    of = np.full(len(numbers), -1)
    of[finite] = np.searchsorted(edges, numbers[finite], side="right")
    is_code = bool(name_phrases(attribute.name) & _CODES)
    return of, lambda first, last: _range(edges, first, last, integers, is_code)


def _middle(numbers: Floats, rows: Floats) -> tuple[float, float]:
    """The range of the numbers without their tails."""
    shares = np.cumsum(rows) / rows.sum()
    first, last = np.searchsorted(shares, [_TAIL, 1 - _TAIL])
    return float(numbers[first]), float(numbers[min(last, len(numbers) - 1)])


def _step(least: float, integers: bool) -> float:
    """The next of 1, 2 and 5 times a power of ten; at least 2 for whole numbers, so that no range is one value."""
    least = max(least, 2.0) if integers else least or 1.0
    power = 10.0 ** floor(log10(least))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))


def _range(edges: Sequence[float], first: int, last: int, integers: bool, is_code: bool = False) -> str:
    """The numbers of the bins from one to another; codes, such as postal codes and years, have no separators.

    >>> _range([10.0, 20.0], 1, 1, True), _range([10.0, 20.0], 0, 1, True), _range([0.5], 1, 1, False)
    ('10–19', 'under 20', '0.5 or more')
    >>> _range([30_000.0, 40_000.0], 1, 1, True), _range([30_000.0, 40_000.0], 1, 1, True, is_code=True)
    ('30,000–39,999', '30000–39999')
    """
    low = edges[first - 1] if first else None
    high = edges[last] if last < len(edges) else None
    if low is None and high is None:
        return "any"
    if low is None or high is None:
        return f"under {_number(high or 0, is_code)}" if low is None else f"{_number(low, is_code)} or more"
    least, most = _number(low, is_code), _number(high - 1 if integers else high, is_code)
    return f"{least}–{most}" if integers and low >= 0 else f"{least} to {most}"


def _number(number: float, is_code: bool) -> str:
    """A number as readers write it; separators from 10,000 on, and never in a code."""
    if is_code or abs(number) < 10_000:
        return f"{number:.0f}" if number == int(number) else f"{number:.6g}"
    return f"{number:,.0f}" if number == int(number) else f"{number:,.6g}"


def _of_dates(attribute: SharedColumn) -> tuple[Int64s, Name] | None:
    """The finest parts of the calendar that are few enough: months, quarters, years or more, open at both ends."""
    numbers = attribute.shown.numbers
    finite = np.isfinite(numbers)
    if finite.sum() < MOST:
        return None
    since = 0 if attribute.shown.kind == "date" else date(1970, 1, 1).toordinal()
    days = numbers[finite] // (_DAY if since else 1) + since
    ends = [date.fromordinal(int(day)) for day in _middle(days, attribute.rows[finite])]
    candidates = (_starts(ends, months) for months in (1, 3, 12, 24, 60, 120, 600, 12_000))
    starts = next(starts for starts in candidates if len(starts) < MOST)
    of = np.full(len(numbers), -1)
    of[finite] = np.searchsorted([start.toordinal() for start in starts], days, side="right")
    return of, lambda first, last: _span(starts, first, last)


def _starts(ends: Sequence[date], months: int) -> list[date]:
    """The first days of the parts after that of the first day, up to the last day."""
    first, last = ((day.year * 12 + day.month - 1) // months for day in ends)
    numbers = range((first + 1) * months, last * months + 1, months)
    return [date(number // 12, number % 12 + 1, 1) for number in numbers[: MOST + 1]]


def _span(starts: Sequence[date], first: int, last: int) -> str:
    """The days of the bins from one to another, as years if all bins are whole years.

    >>> starts = [date(2020, 1, 1), date(2021, 1, 1)]
    >>> _span(starts, 0, 0), _span(starts, 1, 1), _span(starts, 1, 2), _span([date(2020, 1, 1), date(2020, 4, 1)], 1, 1)
    ('until 2019', '2020', '2020 or later', '2020-01 to 2020-03')
    """
    whole = all(start.month == 1 for start in starts)
    low = starts[first - 1] if first else None
    high = starts[last] - timedelta(days=1) if last < len(starts) else None
    form = "%Y" if whole else "%Y-%m"
    begins, ends = (None if day is None else f"{day:{form}}" for day in (low, high))
    if begins is None or ends is None:
        if ends:
            return f"until {ends}"
        return f"{begins} or later" if begins else "any"
    return begins if begins == ends else f"{begins} to {ends}"


def _of_labels(attribute: SharedColumn, released: Floats, least: int) -> list[Bin]:
    """The finest released labels that exclude each other, and one bin for all other values."""
    shown = attribute.shown
    if len(shown.released) > _MOST_LABELS:
        return []
    bins = [
        (Bin(_printed(shown.released[n]), float(attribute.rows[at].sum()), float(released[at].sum())), at[0])
        for n, at in _apart(shown)
    ]
    bins.sort(key=lambda both: -both[0].source)
    shown_bins = [(bin_, place) for bin_, place in bins[: MOST - 1] if bin_.source >= least]
    other = attribute.rows.sum() - sum(bin_.source for bin_, _ in shown_bins)
    while 0 < other < least and shown_bins:
        other += shown_bins.pop()[0].source
    if attribute.ordered:
        shown_bins.sort(key=lambda both: both[1])
    labelled = [bin_ for bin_, _ in shown_bins]
    rest = Bin(OTHER, float(other), float(released.sum() - sum(bin_.release for bin_ in labelled)))
    return [*labelled, rest] if other >= least and labelled else labelled


def _apart(shown: ColumnDisplay) -> Iterator[tuple[int, Int64s]]:
    """Labels that exclude each other, the labels of the fewest values first, with the positions of their values."""
    ends = np.cumsum(shown.counts)
    taken = np.zeros(len(shown.values), dtype=bool)
    for label in np.lexsort((-shown.rows, shown.counts)):
        places = shown.places[ends[label] - shown.counts[label] : ends[label]]
        if len(places) and not taken[places].any():
            taken[places] = True
            yield int(label), places


def _printed(label: str | None) -> str:
    if label is None:
        return "no value"
    return "any value (*)" if label == STAR else label
