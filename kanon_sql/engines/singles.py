"""Numbers of single precision in Python."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any


def shortest(single: float) -> float:
    """The number with the fewest digits that is equal in single precision; nine digits are always enough."""
    written = (float(f"{single:.{digits}g}") for digits in range(6, 10))
    return next((number for number in written if _same_single(number, single)), single)


def _same_single(number: float, single: float) -> bool:
    try:
        return bool(struct.unpack("f", struct.pack("f", number))[0] == single)
    except OverflowError:  # rounded up, past the largest
        return False


def printed_singles(row: Sequence[Any], singles: Sequence[int]) -> tuple[Any, ...]:
    """A row with its single-precision numbers as printed."""
    cells = list(row)
    for place in singles:
        cells[place] = None if row[place] is None else shortest(row[place])
    return tuple(cells)
