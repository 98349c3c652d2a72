"""What a local algorithm is given, and what it gives back: two relations beside the frequency set."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf, isnan, nan
from typing import Any

from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import KanonError
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.loss import Costs
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import Relation
from kanon_sql.recode.cell import Region
from kanon_sql.spec import Spec

_LOOKS = 0.02  # seconds between two looks at the clock while a statement runs
_LAST_SECONDS = 1.0  # for all that must still be done after an interruption
Spans = Mapping[int, tuple[int, int] | None]  # by code, the positions that a class shows around a value


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
    """The time that an algorithm may take, Ctrl-C, and whoever watches; `now`: what tells the seconds."""

    limit: float | None = None
    watch: Callable[[Rounds], None] | None = None
    interrupted: bool = False
    now: Callable[[], float] = time.monotonic
    _started: float = field(default=nan)
    _whole: Clock | None = None
    _interrupted_at: float = inf

    def __post_init__(self) -> None:
        if isnan(self._started):
            self._started = self.now()

    @property
    def seconds(self) -> float:
        """Seconds since the algorithm began."""
        return self.now() - self._started

    @property
    def ended(self) -> str:
        """How a run that stops now has ended: complete, time limit, or interrupted."""
        late = self.limit is not None and self.seconds > self.limit
        return "interrupted" if self._stopped else "time limit" if late else "complete"

    @property
    def _stopped(self) -> bool:
        return self.interrupted or (self._whole is not None and self._whole._stopped)

    @property
    def spent(self) -> bool:
        """Whether to stop at the next safe place."""
        return self.ended != "complete"

    def tell(self, number: int, classes: int, left: int | None = None) -> None:
        """Report a round to whoever watches."""
        if self.watch:
            remaining = None if self.limit is None else max(0.0, self.limit - self.seconds)
            self.watch(Rounds(self.seconds, number, classes, left, remaining))

    def part(self, until: float | None) -> Clock:
        """The same clock with another limit, for a part of the work."""
        return Clock(until, now=self.now, _started=self._started, _whole=self)

    def last_part(self, seconds: float) -> Clock:
        """A clock for what must still be done: until shortly before the limit, for so many seconds at least.

        After an interruption all of these together have a moment.
        """
        soon = self.seconds + seconds
        if self._stopped:
            return Clock(min(soon, self._stopped_at + _LAST_SECONDS), now=self.now, _started=self._started)
        return self.part(None if self.limit is None else max(0.95 * self.limit, soon))

    def interrupt(self) -> None:
        """Stop at once, with what is safe so far."""
        self._interrupted_at = min(self._interrupted_at, self.seconds)
        self.interrupted = True

    @property
    def _stopped_at(self) -> float:
        """The seconds at which the clock, or what it is a part of, was interrupted."""
        return min(self._interrupted_at, self._whole._stopped_at if self._whole else inf)


@dataclass(frozen=True)
class Task:
    """All that a local algorithm is given; it works in the engine of the frequency set.

    `weights`: one per attribute, in the frequency set's order, above 0 and at most 1. `optimum`: the node that
    a full-domain search finds, given the seconds that it may take. `judge`, `costs`, `lattice`: as a search has them.
    `spans`: gives for each attribute how far its values reach in what classes show (see `kanon_sql.recode.show`); or
    nothing where all classes show nodes of the hierarchies.
    """

    frequency_set: FrequencySet
    model: PrivacyModels
    spec: Spec
    weights: tuple[float, ...]
    clock: Clock
    judge: Judge
    costs: Costs
    lattice: Lattice
    optimum: Callable[[float | None], Node]
    spans: Callable[[], Sequence[Spans | None]] = tuple
    _clocks: list[Clock] = field(default_factory=list)  # of the blocks that run, the innermost last

    @property
    def results(self) -> Scratch:
        """Where what it gives back is made, which lasts longer than its own tables."""
        return self.frequency_set.tables

    @property
    def engine(self) -> Engine:
        """Where the algorithm's statements run."""
        return self.frequency_set.engine

    @contextmanager
    def working(self, clock: Clock | None = None) -> Iterator[None]:
        """Run the block until the clock is spent; then the statement that runs is interrupted, and the block left.

        A statement that is interrupted has done nothing. The engine must not be inside a transaction, which would be
        lost with it. In a block within a block the inner clock decides: what must still be done after an interruption
        would be interrupted by the outer one.
        """
        clock = clock or self.clock
        over, cut = threading.Event(), threading.Event()

        def look() -> None:
            while not over.wait(_LOOKS):
                if clock is self._clocks[-1] and clock.spent:
                    cut.set()
                    self.engine.interrupt()

        self._clocks.append(clock)
        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()
        try:
            yield
        except KanonError:
            if not cut.is_set():
                raise
        finally:
            over.set()
            watcher.join()
            self._clocks.pop()


@dataclass(frozen=True)
class Local:
    """What a local algorithm gives back.

    `assignment`: one row per distinct tuple, or per part of one where `split`: the level-0 columns of the
    frequency set (`age_0`, `zip_0`, …), `n` rows, `class`; where `split` also `first` and `last`, the places
    (from 1) of the part's rows among the tuple's rows. A tuple without a row, or with `class` NULL, is suppressed.
    `cuts`: for every class the region that it was cut to, `class, low_0, high_0, low_1, …` in positions (see
    `kanon_sql.recode.order`), of which the class itself may fill less; None where that is the same.
    `classes`: only from an algorithm that makes its own labels; else `kanon_sql.recode.show` makes them.
    `kept`: the classes that are regions of an earlier release, and show what these did.
    `facts`: what the algorithm says of its run, for the manifest.
    """

    assignment: Relation
    split: bool = False
    cuts: Relation | None = None
    classes: Relation | None = None
    ended: str = "complete"
    facts: Mapping[str, Any] = field(default_factory=dict)
    kept: Mapping[int, Region] = field(default_factory=dict)
