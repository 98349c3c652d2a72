"""What a local algorithm is given, and what it gives back: two relations beside the frequency set."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.errors import InfeasibleError
from kanon_sql.frequency import FrequencySet
from kanon_sql.judge import Judge
from kanon_sql.lattice import Lattice, Node
from kanon_sql.loss import Costs
from kanon_sql.privacy import PrivacyModel
from kanon_sql.queries import Relation
from kanon_sql.spec import Spec

ASSIGNMENT = queries.scratch("kanon_assignment")
CUTS = queries.scratch("kanon_cuts")
CLASSES = queries.scratch("kanon_local_classes")


@dataclass(frozen=True)
class Rounds:
    """Where a local algorithm stands: rounds done, classes there are, and its own measure of what is left."""

    seconds: float
    round: int
    classes: int
    left: int | None = None
    seconds_left: float | None = None


@dataclass
class Clock:
    """The time that an algorithm may take, Ctrl-C, and whoever watches."""

    limit: float | None = None
    watch: Callable[[Rounds], None] | None = None
    interrupted: bool = False
    _started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since the algorithm began."""
        return time.monotonic() - self._started

    @property
    def ended(self) -> str:
        """How a run that stops now has ended: complete, time limit, or interrupted."""
        late = self.limit is not None and self.seconds > self.limit
        return "interrupted" if self.interrupted else "time limit" if late else "complete"

    @property
    def spent(self) -> bool:
        """Whether to stop at the next safe place."""
        return self.ended != "complete"

    def tell(self, number: int, classes: int, left: int | None = None) -> None:
        """Report a round to whoever watches."""
        if self.watch:
            remaining = None if self.limit is None else max(0.0, self.limit - self.seconds)
            self.watch(Rounds(self.seconds, number, classes, left, remaining))

    def refuse_if_spent(self, name: str) -> None:
        """For an algorithm that has nothing safe to show before its end: InfeasibleError when the time is up."""
        if self.spent:
            raise InfeasibleError(
                f"{name} was stopped ({self.ended}) before every row was safe, so there is nothing to release; "
                "raise the time limit"
            )

    def interrupt(self) -> None:
        """Stop at the next safe place."""
        self.interrupted = True


@dataclass(frozen=True)
class Task:
    """All that a local algorithm is given; it works in the engine of the frequency set.

    `weights`: one per attribute, in the frequency set's order, above 0 and at most 1. `optimum`: the node that
    a full-domain search finds, given the seconds that it may take. `judge`, `costs`, `lattice`: as a search has them.
    """

    frequency_set: FrequencySet
    model: PrivacyModel
    spec: Spec
    weights: tuple[float, ...]
    clock: Clock
    judge: Judge
    costs: Costs
    lattice: Lattice
    optimum: Callable[[float | None], Node]

    @property
    def engine(self) -> Engine:
        """Where the algorithm's statements run."""
        return self.frequency_set.engine


@dataclass(frozen=True)
class Local:
    """What a local algorithm gives back.

    `assignment`: one row per distinct tuple, or per part of one where `split`: the level-0 columns of the
    frequency set (`age_0`, `zip_0`, …), `n` rows, `class`; where `split` also `first` and `last`, the places
    (from 1) of the part's rows among the tuple's rows. A tuple without a row, or with `class` NULL, is suppressed.
    `cuts`: for every class the region that it was cut to, `class, low_0, high_0, low_1, …` in positions (see
    `kanon_sql.recode.order`), of which the class itself may fill less; None where that is the same.
    `classes`: only from an algorithm that makes its own labels; else `kanon_sql.recode.show` makes them.
    `facts`: what the algorithm says of its run, for the manifest.
    """

    assignment: Relation = ASSIGNMENT
    split: bool = False
    cuts: Relation | None = None
    classes: Relation | None = None
    ended: str = "complete"
    facts: Mapping[str, Any] = field(default_factory=dict)
