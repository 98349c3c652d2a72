"""Risks of classes by their sizes, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kanon_sql.privacy import Histogram


def histogram(sizes: Sequence[int]) -> Histogram:
    return sorted(Counter(sizes).items())
