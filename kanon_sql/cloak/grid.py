"""Grids in space and time with exact lines that do not reveal the positions of the outermost rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, frexp, ldexp

_FINEST = 26  # bits of a coordinate above which an axis of equal values can still be divided


@dataclass(frozen=True)
class Axis:
    """Cells of one width: cell i ranges from `start + i * width` up to, but excluding, the start of the next."""

    start: float
    width: float

    def holes(self, name: str) -> dict[str, str]:
        """The axis as parameters of a query; as text, numbers keep all digits."""
        return {f"{name}_from": repr(float(self.start)), f"{name}_width": repr(float(self.width))}


def halved(low: float, high: float, depth: int, least: float = 0.0) -> Axis:
    """An axis from below `low` to above `high` that is halved `depth` times, its lines exact in floating point.

    It begins and ends at multiples of a power of two, at least a sixteenth of the span, so that neither end is the
    position of a row. `least`: a power of two that divides the width of the cells; 0 for any width.

    >>> halved(39.62, 40.31, 16)
    Axis(start=39.5625, width=1.1444091796875e-05)
    """
    grain = max(unit_of(low, high), least * 2**depth)
    start = _multiple(low, grain)
    return Axis(start, (floor((high - start) / grain) + 1) * grain / 2**depth)


def unit_of(low: float, high: float) -> float:
    """The power of two that divides a span into eight to sixteen parts."""
    span = max(high - low, ldexp(max(abs(low), abs(high), 2.0**-1000), -_FINEST))
    return ldexp(1.0, frexp(span)[1] - 4)


def sliced(low: float, width: float) -> Axis:
    """Slices of a width at multiples of it, from the one that contains `low`."""
    return Axis(_multiple(low, width), width)


def whole(low: float, high: float, unit: float) -> Axis:
    """One slice for all, between multiples of a unit."""
    start = _multiple(low, unit)
    return Axis(start, (floor(high / unit) + 1) * unit - start)


def levels(axis: Axis, high: float) -> int:
    """The number of cells from the start to `high`."""
    return max(1, ceil((high - axis.start) / axis.width) + 1)


def _multiple(value: float, width: float) -> float:
    """The last multiple of a width that is not above a value, division rounding as it may."""
    floored = floor(value / width) * width
    return floored - width if floored > value else floored
