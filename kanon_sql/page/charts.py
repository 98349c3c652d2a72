"""The pictures of the page: SVG in the page's colours, beside which a table says the same."""

from __future__ import annotations

from kanon_sql.page.counted import Histogram
from kanon_sql.report.svg import Element, element, picture

_WIDE, _HIGH = 320.0, 90.0


def histogram(name: str, of: Histogram, k: int) -> str:
    """Rows per label, those in classes of fewer than k below in the colour of risk, the safe ones above them."""
    most = max((bar.rows for bar in of.bars), default=1) or 1
    step = _WIDE / max(len(of.bars), 1)
    gap = min(2.0, step / 4)
    parts: list[Element] = []
    for place, bar in enumerate(of.bars):
        risky = bar.at_risk(k)
        x, low, high = place * step, _HIGH * risky / most, _HIGH * (bar.rows - risky) / most
        parts += _bar("x", x, _HIGH - low, step - gap, low)
        parts += _bar("r", x, _HIGH - low - high, step - gap, high)
    parts.append(element("line", x1=0, y1=_HIGH, x2=_WIDE, y2=_HIGH, class_="g"))
    rows, at_risk = sum(bar.rows for bar in of.bars), sum(bar.at_risk(k) for bar in of.bars)
    said = f"{at_risk:,} of {rows:,} rows are in classes of fewer than {k:,}; the table below has each bar."
    return picture(name, _WIDE, _HIGH + 1, f"Safe and at risk by {of.column}", said, parts)


def _bar(css: str, x: float, y: float, wide: float, high: float) -> list[Element]:
    return [element("rect", x=x, y=y, width=wide, height=max(high, 0.5), class_=css)] if high > 0 else []
