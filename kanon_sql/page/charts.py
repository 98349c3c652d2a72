"""The charts of the page: SVG in the page's colours, with a table next to every chart."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from kanon_sql.page.column_values import cut
from kanon_sql.page.histograms import Bar
from kanon_sql.report.numbers import figure
from kanon_sql.report.svg import Element, element, picture, text_width
from kanon_sql.report.svg import text as svg_text

_WIDE, _HIGH = 320.0, 90.0
_TOP = 14.0  # space for the scale of a chart of columns
_MOST_LINES, _LINE = 16, 17.0  # labels with a line each, and the height of a line
_MOST_LETTERS = 24  # of a label
_LEAST_LABEL, _MOST_LABEL, _NUMBER = 94.0, 150.0, 56.0  # the width of the labels of lines, and of their rows
Point = tuple[float, float | None, float]  # seconds, score, bound
_BAR = 120.0  # the width of a loss of 1


def histogram(name: str, column: str, bars: Sequence[Bar], k: int, counted: str = "rows") -> str:
    """Rows per label, those in classes of fewer than k in the colour of risk: a line per label, or columns if many."""
    rows = sum(bar.rows for bar in bars)
    at_risk = sum(bar.at_risk(k) for bar in bars)
    groups = f"groups of fewer than {k:,}" + (" people" if counted == "people" else "")
    text = f"{at_risk:,} of {rows:,} rows are in {groups}; the table below has every bar."
    drawn, high = _lines_of_labels(bars, k) if len(bars) <= _MOST_LINES else _columns_of_labels(bars, k)
    return picture(name, _WIDE, high, f"Safe and at risk by {column}", text, drawn)


def _lines_of_labels(bars: Sequence[Bar], k: int) -> tuple[list[Element], float]:
    """A line per label: the label, a bar, and its rows."""
    most = max((bar.rows for bar in bars), default=1) or 1
    parts: list[Element] = []
    longest = max(text_width(cut(bar.label, _MOST_LETTERS), 10) for bar in bars)
    start = min(max(longest + 8, _LEAST_LABEL), _MOST_LABEL)
    wide = _WIDE - start - _NUMBER
    for place, bar in enumerate(bars):
        y = place * _LINE
        safe = wide * (bar.rows - bar.at_risk(k)) / most
        risky = wide * bar.at_risk(k) / most
        parts.append(label(cut(bar.label, _MOST_LETTERS), 0, y + 12))
        if safe:
            parts.append(element("rect", x=start, y=y + 2, width=max(safe, 0.5), height=_LINE - 5, class_="r"))
        if risky:
            parts.append(element("rect", x=start + safe, y=y + 2, width=max(risky, 0.5), height=_LINE - 5, class_="x"))
        parts.append(label(f"{bar.rows:,}", start + safe + risky + 5, y + 12))
    return parts, len(bars) * _LINE + 1


def _columns_of_labels(bars: Sequence[Bar], k: int) -> tuple[list[Element], float]:
    """A column per label; below, as many labels as there is space for, and at the top the rows of the largest."""
    most = max((bar.rows for bar in bars), default=1) or 1
    step = _WIDE / len(bars)
    gap = min(2.0, step / 4)
    parts: list[Element] = []
    for place, bar in enumerate(bars):
        risky = bar.at_risk(k)
        x = place * step
        low = _HIGH * risky / most
        high = _HIGH * (bar.rows - risky) / most
        parts += _bar("x", x, _TOP + _HIGH - low, step - gap, low)
        parts += _bar("r", x, _TOP + _HIGH - low - high, step - gap, high)
    parts.append(element("line", x1=0, y1=_TOP + _HIGH, x2=_WIDE, y2=_TOP + _HIGH, class_="g"))
    parts.append(label(f"{most:,} rows", 0, 9))
    longest = max(text_width(cut(_first(bar), 12), 10) for bar in bars)
    every = max(1, ceil((longest + 8) / step))
    for place in range(0, len(bars), every):
        x = place * step
        if _first(bars[place]) and x + text_width(cut(_first(bars[place]), 12), 10) <= _WIDE - 2:
            parts.append(element("line", x1=x + 0.5, y1=_TOP + _HIGH, x2=x + 0.5, y2=_TOP + _HIGH + 4, class_="g"))
            parts.append(label(cut(_first(bars[place]), 12), x, _TOP + _HIGH + 14))
    return parts, _TOP + _HIGH + 18


def _first(bar: Bar) -> str:
    """The first label of a bar for a stretch of labels; empty if these are rare."""
    return "" if bar.label == "rare" else bar.label.partition(" to ")[0]


def label(content: str, x: float, y: float, size: float = 10, **attributes: object) -> Element:
    """A text in the colour of the page's notes."""
    return svg_text(content, x, y, size, class_="t", **attributes)


def way(name: str, points: Sequence[Point], compared: Sequence[Point] = ()) -> str:
    """Best score and proven bound over the seconds of a search; the gap is between the lines.

    `compared`: the points of another chart, which has the same scale.
    """
    scored = [(seconds, score, bound) for seconds, score, bound in points if score is not None]
    if not scored:
        return ""
    last = max(0.001, *(seconds for seconds, _, _ in (*points, *compared)))
    most = max(score for _, score, _ in (*points, *compared) if score is not None) or 1.0
    upper = [(seconds, score / most) for seconds, score, _ in scored]
    lower = [(seconds, min(bound, score) / most) for seconds, score, bound in scored]
    top = _steps(upper, last)
    bottom = _steps(lower, last)
    parts = [
        element("polygon", points=_drawn([*top, *reversed(bottom)]), class_="d"),
        element("polyline", points=_drawn(top), class_="b1"),
        element("polyline", points=_drawn(bottom), class_="b2"),
        element("line", x1=0, y1=_HIGH, x2=_WIDE, y2=_HIGH, class_="g"),
    ]
    seconds, score, bound = scored[-1]
    text = f"After {seconds:.1f} s the best loses {figure(score)}, and none can lose less than {figure(bound)}."
    return picture(name, _WIDE, _HIGH + 1, "The best so far and the bound", text, parts)


def _steps(points: Sequence[tuple[float, float]], last: float) -> list[tuple[float, float]]:
    """A step line, which keeps every value until the next, in the units of the chart."""
    line: list[tuple[float, float]] = []
    for seconds, share in points:
        x, y = _WIDE * seconds / last, _HIGH * (1 - share) + 2 * share
        line += [(x, line[-1][1]), (x, y)] if line else [(x, y)]
    return line


def _drawn(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _bar(css: str, x: float, y: float, wide: float, high: float) -> list[Element]:
    return [element("rect", x=x, y=y, width=wide, height=max(high, 0.5), class_=css)] if high > 0 else []


def losses(name: str, column: str, lost: Sequence[float | None]) -> str:
    """The loss of one column in one or two results, from 0 to 1: the left one's bar above the right one's."""
    parts: list[Element] = []
    for place, (css, loss) in enumerate(zip("rs", lost, strict=False)):
        y = place * 9.0
        parts.append(element("rect", x=0, y=y, width=_BAR, height=7, class_="f"))
        parts += _bar(css, 0.0, y, _BAR * min(loss or 0.0, 1.0), 7.0)
    text = " and ".join("none" if loss is None else figure(loss) for loss in lost)
    return picture(name, _BAR, 9 * len(lost) - 2, f"Loss of {column}", f"{text}, of 1 at most.", parts)
