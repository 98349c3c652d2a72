"""Numbers: widths of 1, 2 and 5 times a power of ten, or edges at rounded quantiles if few values have most rows.

Rounding is deliberate: a hierarchy with an exact quantile of the data would publish it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from itertools import pairwise, product
from math import log
from typing import Any, TypeAlias

from kanon_sql.generalization.values import as_text
from kanon_sql.recode.rounding import nice

Counted: TypeAlias = Sequence[tuple[Decimal, int]]  # increasing numbers with their rows

MOST_WIDTHS = 6
_TAIL = 0.01  # of the rows, at either end, that can become one label
_FEWEST_ROWS = 10  # of a label that a rounded quantile cuts off
_SKEWED = 0.5  # of the entropy of equal shares, below which even ranges are not used
_EVEN, _FEWEST_EDGED = 6, 12  # even ranges that are examined; values for which edges pay off
_MODE = 0.2  # of the rows, above which a value stays separate
_LABELS = (128, 32, 16, 8, 4, 2)  # of edges, per level


def numbers_of(counts: Mapping[Any, int]) -> list[tuple[Decimal, int]] | None:
    """The finite numbers of a column in order, with their rows; None if there are others, or too large ones."""
    numbers = [(Decimal(as_text(value)), rows) for value, rows in counts.items() if value is not None]
    if not all(number.is_finite() and abs(number.adjusted()) < 15 for number, _ in numbers):
        return None
    return sorted(numbers)


def recipe_of(numbers: Counted) -> dict[str, Any]:
    """The recipe of a column's numbers: widths, or edges if even ranges would put most rows into one.

    >>> recipe_of([(Decimal(age), 40 if age < 80 else 3) for age in range(18, 96)])
    {'ranges': [5, 10, 20, 40], 'top': 85}
    """
    low, high, widths = _even(numbers)
    return edges_of(numbers) if _is_skewed(numbers, widths, low, high) else ranges_of(numbers)


def ranges_of(numbers: Counted) -> dict[str, Any]:
    """The recipe of ranges of even widths, for any distribution."""
    bounds = {name: plain(end) for name, end in zip(("bottom", "top"), _ends(numbers), strict=True) if end is not None}
    return {"ranges": [plain(width) for width in _even(numbers)[2]], **bounds}


def edges_of(numbers: Counted) -> dict[str, Any]:
    """The recipe of edges at rounded quantiles, for any distribution."""
    return {"edges": [[plain(edge) for edge in level] for level in _edges(numbers)]}


def _even(numbers: Counted) -> tuple[Decimal, Decimal, list[Decimal]]:
    """The bounds of even ranges, and their widths."""
    bottom, top = _ends(numbers)
    low = numbers[0][0] if bottom is None else bottom
    high = numbers[-1][0] if top is None else top
    inside = sum(low <= number <= high for number, _ in numbers)
    return low, high, chain((high - low) / max(1, inside - 1), high - low)


def chain(gap: Decimal, span: Decimal) -> list[Decimal]:
    """Widths between the gap of two values and the whole span: 1, 2 or 5 times a power of ten, and nested.

    Of all such chains, the one with the most even steps is chosen, and of these the one with smaller coarse steps. If
    more than two ranges would be left below `*`, the last width is doubled once more.

    >>> [f"{step:f}" for step in chain(Decimal(1), Decimal(73))]
    ['5', '10', '20', '40']
    """
    if gap <= 0 or span <= gap:
        return [Decimal(1)]
    tens = range(gap.adjusted(), span.adjusted() + 1)
    chains = []
    for digits in product((2, 5), repeat=len(tens)):
        pairs = zip(tens, digits, strict=True)
        widths = [Decimal(digit).scaleb(ten) for ten, middle in pairs for digit in (1, middle)]
        chains.append([width for width in widths if gap < width < span] or [span])
    best = min(chains, key=lambda widths: _unevenness([gap, *widths, span]))[-MOST_WIDTHS:]
    return [*best, 2 * best[-1]] if span > 2 * best[-1] else best


def _unevenness(steps: Sequence[Decimal]) -> tuple[float, list[float]]:
    ratios = [log(coarser / finer) for finer, coarser in pairwise(steps)]
    return round(sum(ratio**2 for ratio in ratios), 6), [round(ratio, 6) for ratio in reversed(ratios)]


def plain(number: Decimal) -> int | float:
    """A number as in a spec."""
    return int(number) if number == number.to_integral_value() else float(number)


def _ends(numbers: Counted) -> tuple[Decimal | None, Decimal | None]:
    """The bounds of bottom and top coding: rounded quantiles, if there are enough different values beyond."""
    low = quantile(numbers, _TAIL)
    high = quantile(numbers, 1 - _TAIL)
    if high <= low:
        return None, None
    unit = nice((high - low) / 10)
    bottom, top = ((end / unit).to_integral_value(ROUND_HALF_EVEN) * unit for end in (low, high))
    below = [number for number in numbers if number[0] < bottom]
    above = [number for number in numbers if number[0] >= top]
    codes_bottom = _worth(below) and bottom - numbers[0][0] > unit
    codes_top = _worth(above) and numbers[-1][0] - top > unit
    return bottom if codes_bottom else None, top if codes_top else None


def _worth(beyond: Counted) -> bool:
    return len(beyond) > 1 and sum(rows for _, rows in beyond) >= _FEWEST_ROWS


def quantile(numbers: Counted, share: float) -> Decimal:
    """The first number with at least this share of the rows up to it."""
    wanted = share * sum(rows for _, rows in numbers)
    reached = 0
    for number, rows in numbers:
        reached += rows
        if reached >= wanted:
            return number
    return numbers[-1][0]


def _is_skewed(numbers: Counted, widths: Sequence[Decimal], low: Decimal, high: Decimal) -> bool:
    """Whether a few even ranges would be uneven in rows: their entropy is much lower than that of equal shares."""
    if len(numbers) < _FEWEST_EDGED:
        return False
    width = max((width for width in widths if (high - low) / width >= _EVEN), default=widths[0])
    rows_of: dict[Decimal, int] = {}
    for number, rows in numbers:
        label = (min(max(number, low), high) / width).to_integral_value(ROUND_FLOOR)
        rows_of[label] = rows_of.get(label, 0) + rows
    total = sum(rows_of.values())
    entropy = -sum(rows / total * log(rows / total) for rows in rows_of.values())
    return len(rows_of) > 1 and entropy < _SKEWED * log(len(rows_of))


def _edges(numbers: Counted) -> list[list[Decimal]]:
    """Edges at rounded quantiles, fewer per level; the most frequent value stays separate if possible."""
    total = sum(rows for _, rows in numbers)
    mode, most = max(numbers, key=lambda number: number[1])
    apart = [_after(numbers, mode)] if most >= _MODE * total else []
    rest = [number for number in numbers if number[0] != mode] if apart else list(numbers)
    levels: list[list[Decimal]] = []
    for labels in _LABELS:
        if labels * 2 <= len(numbers):
            quantiles = [quantile(rest, part / labels) for part in range(1, labels)]
            edges = [_closest(levels[-1], number) if levels else _rounded(number) for number in quantiles]
            levels.append(sorted({*apart, *edges}))
    return [level for level in levels if level] or [apart or [numbers[len(numbers) // 2][0]]]


def _after(numbers: Counted, mode: Decimal) -> Decimal:
    """A round number between a value and the next; the last value has none, and is cut off below."""
    above = [number for number, _ in numbers if number > mode]
    if not above:
        return mode
    step = nice(min(above[0] - mode, abs(mode) or above[0] - mode))
    return mode + step


def _closest(among: Sequence[Decimal], number: Decimal) -> Decimal:
    place = bisect_left(among, number)
    return min(among[max(0, place - 1) : place + 1], key=lambda edge: abs(edge - number))


def _rounded(number: Decimal) -> Decimal:
    """To two digits that count."""
    if number == 0:
        return Decimal(0)
    return number.quantize(Decimal(1).scaleb(number.adjusted() - 1), ROUND_HALF_EVEN) + 0
