"""Callbacks for the progress of a long run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kanon_sql.recode import Rounds
from kanon_sql.strategies import Progress
from kanon_sql.strategies.driver import Evaluator


@dataclass
class Observer:
    """Callbacks for the progress of a long run: for every stage, and during a search or a local recoding.

    `judge`: returns the judge for a search to use instead of the problem's, such as one that has some answers already.
    """

    stage: Callable[[str], None] = lambda _: None
    search: Callable[[Progress], None] | None = None
    recode: Callable[[Rounds], None] | None = None
    judge: Callable[[Any], Evaluator] | None = None
