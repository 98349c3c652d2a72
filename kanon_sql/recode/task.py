"""The input of a local algorithm, and its result: relations next to the frequency set."""

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
from kanon_sql.spec import Spec

_LOOKS = 0.02  # seconds between checks of the clock while a statement runs
_LATE, _LEAST_LATE = 0.05, 1.0  # allowed delay after the limit: this share of it, or seconds, whichever is larger
_LAST_SECONDS = 1.0  # for the remaining work after an interruption
Spans = Mapping[
    int, tuple[int, int] | None
]  # by code, the positions that a class shows around a value; see `show.spans`


@dataclass(frozen=True)
class Rounds:
    """The progress of a local algorithm: rounds, classes, and its own measure of the remaining work."""

    seconds: float
    round: int
    classes: int
    left: int | None = None
    seconds_left: float | None = None
    stagnant: float = 0.0
    """Seconds since the last better release."""


@dataclass
class Clock:
    """The limits of an algorithm, Ctrl-C, and the callback for its progress; `now`: returns the time in seconds.

    `patience`: seconds without a better release after which the algorithm ends, as by an interruption.
    """

    limit: float | None = None
    watch: Callable[[Rounds], None] | None = None
    interrupted: bool = False
    now: Callable[[], float] = time.monotonic
    _started: float = field(default=nan)
    _whole: Clock | None = None
    _interrupted_at: float = inf
    patience: float | None = None
    _better_at: float = inf  # since the first release, which only changes for a better one
    _out_of_patience: bool = False
    _told: tuple[int, int, int | None] = (0, 0, None)

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
        return self.stopped or ("time limit" if late else "complete")

    @property
    def stopped(self) -> str | None:
        """What stops this part and the whole algorithm, apart from the time limit: interrupted, or patience."""
        if self.interrupted:
            return "interrupted"
        if self.patience is not None and self.seconds - self._better_at > self.patience:
            self._out_of_patience = True  # stays so: final work can still find a better release
        if self._out_of_patience:
            return "patience"
        return self._whole.stopped if self._whole else None

    @property
    def spent(self) -> bool:
        """Whether to stop at the next safe place."""
        return self.ended != "complete"

    def better(self) -> None:
        """Note a first or a better release; a part of the work does not end by patience."""
        self._better_at = self.seconds

    def tell(self, number: int, classes: int, left: int | None = None) -> None:
        """Report a round to the callback."""
        self._told = number, classes, left
        self.tell_again()

    def tell_again(self) -> None:
        """Report the last round again, with the time since then."""
        if self.watch:
            number, classes, left = self._told
            remaining = None if self.limit is None else max(0.0, self.limit - self.seconds)
            stagnant = max(0.0, self.seconds - self._better_at)
            self.watch(Rounds(self.seconds, number, classes, left, remaining, stagnant))

    def part(self, until: float | None) -> Clock:
        """The same clock with another limit, for a part of the work."""
        return Clock(until, now=self.now, _started=self._started, _whole=self)

    def overtime(self) -> Clock:
        """A clock for work that may end after the limit, but before the whole recoding is late."""
        return self.part(None if self.limit is None else self.limit + max(_LATE * self.limit, _LEAST_LATE) / 2)

    def last_part(self, seconds: float) -> Clock:
        """A clock for final work: until shortly before the limit, but at least `seconds`.

        After an interruption, all final work together has `_LAST_SECONDS`.
        """
        soon = self.seconds + seconds
        if self.stopped:
            return Clock(min(soon, self._stopped_at + _LAST_SECONDS), now=self.now, _started=self._started)
        return self.part(None if self.limit is None else max(0.95 * self.limit, soon))

    def interrupt(self) -> None:
        """Stop at once, with the safe result so far."""
        self._interrupted_at = min(self._interrupted_at, self.seconds)
        self.interrupted = True

    @property
    def _stopped_at(self) -> float:
        """The second at which this clock or the whole one was interrupted."""
        return min(self._interrupted_at, self._whole._stopped_at if self._whole else inf)


@dataclass(frozen=True)
class Task:
    """The input of a local algorithm, which runs in the engine of the frequency set.

    `weights`: one per attribute, in the frequency set's order, above 0 and at most 1. `optimum`: the node that
    a full-domain search finds within a number of seconds. `judge`, `costs`, `lattice`: as for a search.
    `spans`: for every attribute, how far its values reach in the labels of classes (see `kanon_sql.recode.show`);
    empty if all classes show nodes of the hierarchies.
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
        """The tables for its results, which outlive its own scratch tables."""
        return self.frequency_set.tables

    @property
    def engine(self) -> Engine:
        """Where the algorithm's statements run."""
        return self.frequency_set.engine

    @contextmanager
    def working(self, clock: Clock | None = None) -> Iterator[None]:
        """Run the block until the clock is spent; then the running statement is interrupted, and the block ends.

        An interrupted statement has no effect. The engine must not be inside a transaction, which would be lost with
        it. In nested blocks the inner clock decides, since the outer one would interrupt final work, too.
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
class ClassCell:
    """What a class shows of a column, and the first and the last of its values, all as text.

    `label`, or with `label_high` two bounds. `level`: of the hierarchy, whose node the label is. `everything`: it
    covers all values, in a hierarchy or not.
    """

    level: int
    everything: bool
    label: str | None
    label_high: str | None = None
    low: str | None = None
    high: str | None = None


Region = tuple[ClassCell, ...]
"""The cells of a class, which a release of other rows can show, too."""


@dataclass(frozen=True)
class Local:
    """The result of a local algorithm.

    `assignment`: one row per distinct tuple, or per part of one where `split`: the level-0 columns of the
    frequency set (`age_0`, `zip_0`, …), `n` rows, `class`; where `split` also `first` and `last`, the places
    (from 1) of the part's rows among the tuple's rows. A tuple without a row, or with `class` NULL, is suppressed.
    `cuts`: for every class the region that it was cut to, `class, low_0, high_0, low_1, …` in positions (see
    `kanon_sql.recode.order`), which can be larger than the class; None if they are equal.
    `classes`: only from an algorithm with its own labels; by default `kanon_sql.recode.show` creates them.
    `kept`: the classes that are regions of an earlier release, with its labels.
    `placed`: the same with all rows that are in such regions, if some of their classes are unsafe and their changes can
    wait (see `kanon_sql.pipeline.deferral`).
    `facts`: figures of the run for the manifest.
    """

    assignment: Relation
    split: bool = False
    cuts: Relation | None = None
    classes: Relation | None = None
    ended: str = "complete"
    facts: Mapping[str, Any] = field(default_factory=dict)
    kept: Mapping[int, Region] = field(default_factory=dict)
    placed: Local | None = None
