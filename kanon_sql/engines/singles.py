"""Numbers of single precision, as Python should have them."""

from __future__ import annotations

import struct


def shortest(single: float) -> float:
    """The number of the fewest digits that is this one in single precision; nine are always enough."""
    written = (float(f"{single:.{digits}g}") for digits in range(6, 10))
    return next((number for number in written if _same_single(number, single)), single)


def _same_single(number: float, single: float) -> bool:
    try:
        return bool(struct.unpack("f", struct.pack("f", number))[0] == single)
    except OverflowError:  # rounded up, past the largest
        return False
