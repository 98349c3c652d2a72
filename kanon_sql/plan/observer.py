"""Callbacks for the progress of a long run, and the seconds of its phases."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.recode import Rounds
from kanon_sql.strategies import Progress
from kanon_sql.strategies.driver import Evaluator


@dataclass
class Phases:
    """The seconds of a run by phase. One phase is always under way, so that they add up to the total."""

    clock: Callable[[], float] = time.monotonic
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._phase = "read"
        self._since = self.clock()

    def begin(self, phase: str) -> None:
        """End the phase under way, and begin another one or continue it."""
        now = self.clock()
        self.seconds[self._phase] = self.seconds.get(self._phase, 0.0) + now - self._since
        self._phase, self._since = phase, now

    def move(self, seconds: float, phase: str) -> None:
        """Count some seconds of the phase under way for another phase."""
        self.seconds[phase] = self.seconds.get(phase, 0.0) + seconds
        self._since += seconds

    def described(self) -> dict[str, float]:
        """The seconds of every phase so far, and in `total`."""
        self.begin(self._phase)
        return {
            phase: round(taken, 4) for phase, taken in {**self.seconds, "total": sum(self.seconds.values())}.items()
        }


@dataclass
class Observer:
    """Callbacks for the progress of a long run: for every stage, and during a search or a local recoding.

    `judge`: returns the judge for a search to use instead of the problem's, such as one that has some answers already.
    `phases`: measures the phases of the run. `planned`: is called with the plan of a release before it is written.
    """

    stage: Callable[[str], None] = lambda _: None
    search: Callable[[Progress], None] | None = None
    recode: Callable[[Rounds], None] | None = None
    judge: Callable[[Any], Evaluator] | None = None
    planned: Callable[[Any], None] = lambda _: None
    phases: Phases = field(default_factory=Phases)
