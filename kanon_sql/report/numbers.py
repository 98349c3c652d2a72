"""Figures in words and with separators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from math import isfinite

_LONG = 10**9  # larger counts are shown by their magnitude


def counted(number: int, of: str) -> str:
    """A number of rows, people, classes or other things.

    >>> counted(1, "rows"), counted(1, "people"), counted(2000, "people")
    ('1 row', '1 person', '2,000 people')
    """
    singular = {"people": "person", "classes": "class"}.get(of, of.removesuffix("s"))
    return f"{number:,} {singular if number == 1 else of}"


def count(number: int) -> str:
    """A count: exact with separators, or the magnitude of large ones.

    >>> count(12960), count(16 * 10**18)
    ('12,960', '1.6e+19')
    """
    return f"{number:,}" if abs(number) < _LONG else f"{Decimal(number):.1e}"


def figure(value: float) -> str:
    """A score, bound or gap: four decimals, fewer if it is large, its magnitude if it is small.

    >>> figure(0.31371), figure(7.0), figure(55170356.0), figure(0.00002)
    ('0.3137', '7', '55,170,356', '2e-05')
    """
    if not isfinite(value):
        return "unknown"
    if value == int(value):
        return count(int(value))
    if abs(value) < 0.001:
        return f"{value:.1g}"
    return count(round(value)) if abs(value) >= 10_000 else f"{value:.4f}"


def models(required: Iterable[tuple[str, object]]) -> str:
    """Privacy models with their required parameters, in words.

    >>> models([("k-anonymity", 5), ("mean prosecutor risk", 0.05)])
    'k = 5, mean prosecutor risk (0.05)'
    """
    words = (f"k = {value}" if name == "k-anonymity" else f"{name} ({parameters(value)})" for name, value in required)
    return ", ".join(words)


def parameters(required: object) -> str:
    """The parameters of a privacy model: a single figure, or all of them with their names.

    >>> parameters(3), parameters({"l": 3, "c": 4})
    ('3', 'l 3, c 4')
    """
    if isinstance(required, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in required.items())
    return str(required)


def level_text(level: float) -> str:
    """A level, or a mean of levels."""
    return str(level) if isinstance(level, int) else f"{level:.2f}"
