"""Grids in space and time whose lines are exact numbers and tell nothing of where the outermost rows are."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, frexp, ldexp

_FINEST = 26  # bits of a coordinate above which an axis of equal values may still be cut


@dataclass(frozen=True)
class Axis:
    """Cells of one width: cell i holds `start + i * width` up to, but not with, the next one's start."""

    start: float
    width: float

    def holes(self, name: str) -> dict[str, str]:
        """The axis as a query takes it; text keeps a number's every digit."""
        return {f"{name}_from": repr(float(self.start)), f"{name}_width": repr(float(self.width))}


def halved(low: float, high: float, depth: int, least: float = 0.0) -> Axis:
    """An axis from below `low` to above `high` that is halved `depth` times, its lines exact in floating point.

    It begins and ends at multiples of a power of two, a sixteenth of the span or more, so that neither end is the
    place of a row. `least`: a power of two, of which the cells' width is a multiple; 0 for any width.

    >>> halved(39.62, 40.31, 16)
    Axis(start=39.5625, width=1.1444091796875e-05)
    """
    grain = max(unit_of(low, high), least * 2**depth)
    start = _multiple(low, grain)
    return Axis(start, (floor((high - start) / grain) + 1) * grain / 2**depth)


def unit_of(low: float, high: float) -> float:
    """The power of two that divides a span into eight to sixteen."""
    span = max(high - low, ldexp(max(abs(low), abs(high), 2.0**-1000), -_FINEST))
    return ldexp(1.0, frexp(span)[1] - 4)


def sliced(low: float, width: float) -> Axis:
    """Slices of a width that are counted from zero, the first one that of `low`."""
    return Axis(_multiple(low, width), width)


def whole(low: float, high: float, unit: float) -> Axis:
    """One slice for all, from a whole number of units to another."""
    start = _multiple(low, unit)
    return Axis(start, (floor(high / unit) + 1) * unit - start)


def levels(axis: Axis, high: float) -> int:
    """How many cells it takes to hold all from the start to `high`."""
    return max(1, ceil((high - axis.start) / axis.width) + 1)


def _multiple(value: float, width: float) -> float:
    """The last multiple of a width that is not above a value, division rounding as it may."""
    floored = floor(value / width) * width
    return floored - width if floored > value else floored
