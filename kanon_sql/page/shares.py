"""The picture of a level: the rows of its labels side by side."""

from __future__ import annotations

from kanon_sql.page.values import Level
from kanon_sql.report.svg import Element, element, picture

_WIDE, _HIGH = 320.0, 12.0


def shares(name: str, of: Level, k: int) -> str:
    """The rows of a level by its labels, the largest first; those of fewer than k in the colour of risk."""
    total = sum(of.sizes) or 1
    parts: list[Element] = []
    x = 0.0
    for size in of.sizes[:_MOST_SHARES]:
        wide = _WIDE * size / total
        css = "x" if size < k else "r"
        parts.append(element("rect", x=x, y=0, width=wide - (1 if wide > 4 else 0), height=_HIGH, class_=css))
        x += wide
    rest = of.sizes[_MOST_SHARES:]
    risky = _WIDE * sum(size for size in rest if size < k) / total
    parts += [*_flat("r", x, _WIDE - x - risky), *_flat("x", _WIDE - risky, risky)]
    said = f"{len(of.sizes):,} labels; the largest has {max(of.sizes, default=0) / total:.0%} of the rows."
    return picture(name, _WIDE, _HIGH, "Rows by label", said, parts)


_MOST_SHARES = 60


def _flat(css: str, x: float, wide: float) -> list[Element]:
    return [element("rect", x=x, y=0, width=wide, height=_HIGH, class_=css)] if wide > 0.01 else []
