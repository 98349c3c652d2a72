"""Whoever watches a long run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kanon_sql.recode import Rounds
from kanon_sql.strategies import Progress
from kanon_sql.strategies.driver import Evaluator


@dataclass
class Observer:
    """Whoever wants to see a long run: told of each stage, and of the search or the recoding as it goes.

    `judge`: the judge that a search asks in the place of its problem's own, such as one that knows some answers.
    """

    stage: Callable[[str], None] = lambda _: None
    search: Callable[[Progress], None] | None = None
    recode: Callable[[Rounds], None] | None = None
    judge: Callable[[Any], Evaluator] | None = None
