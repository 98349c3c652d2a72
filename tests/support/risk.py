"""Risks of classes by their sizes, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kanon_sql.privacy import Alike, Histogram


def histogram(sizes: Sequence[int]) -> Histogram:
    return sorted(Counter(sizes).items())


def alike(sizes: Sequence[int]) -> list[Alike]:
    """Classes of these sizes, without a population."""
    return [Alike(size, 0, classes) for size, classes in histogram(sizes)]
