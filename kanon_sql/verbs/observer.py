"""Whoever watches a long run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kanon_sql.recode import Rounds
from kanon_sql.strategies import Progress


@dataclass
class Observer:
    """Whoever wants to see a long run: told of each stage, and of the search or the recoding as it goes."""

    stage: Callable[[str], None] = lambda _: None
    search: Callable[[Progress], None] | None = None
    recode: Callable[[Rounds], None] | None = None
