"""The charts of the page: SVG in the page's colours, with a table next to every chart."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.page.histograms import DraftHistogram
from kanon_sql.report.numbers import figure
from kanon_sql.report.svg import Element, element, picture

_WIDE, _HIGH = 320.0, 90.0
Point = tuple[float, float | None, float]  # seconds, score, bound
_BAR = 120.0  # the width of a loss of 1


def histogram(name: str, of: DraftHistogram, k: int) -> str:
    """Rows per label: below, the rows in classes of fewer than k, in the colour of risk; above them the others."""
    most = max((bar.rows for bar in of.bars), default=1) or 1
    step = _WIDE / max(len(of.bars), 1)
    gap = min(2.0, step / 4)
    parts: list[Element] = []
    for place, bar in enumerate(of.bars):
        risky = bar.at_risk(k)
        x = place * step
        low = _HIGH * risky / most
        high = _HIGH * (bar.rows - risky) / most
        parts += _bar("x", x, _HIGH - low, step - gap, low)
        parts += _bar("r", x, _HIGH - low - high, step - gap, high)
    parts.append(element("line", x1=0, y1=_HIGH, x2=_WIDE, y2=_HIGH, class_="g"))
    rows = sum(bar.rows for bar in of.bars)
    at_risk = sum(bar.at_risk(k) for bar in of.bars)
    text = f"{at_risk:,} of {rows:,} rows are in classes of fewer than {k:,}; the table below has every bar."
    return picture(name, _WIDE, _HIGH + 1, f"Safe and at risk by {of.column}", text, parts)


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
    text = f"After {seconds:.1f} s the best scores {figure(score)}, and no node is below {figure(bound)}."
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
    """The loss of one column in two results, from 0 to 1: the left one's bar above the right one's."""
    parts: list[Element] = []
    for place, (css, loss) in enumerate(zip("rs", lost, strict=True)):
        y = place * 9.0
        parts.append(element("rect", x=0, y=y, width=_BAR, height=7, class_="f"))
        parts += _bar(css, 0.0, y, _BAR * min(loss or 0.0, 1.0), 7.0)
    text = " and ".join("none" if loss is None else figure(loss) for loss in lost)
    return picture(name, _BAR, 16, f"Loss of {column}", f"{text}, of 1 at most.", parts)
