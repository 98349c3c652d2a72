"""Local recodings: one algorithm per file, in set-based statements over the frequency set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from kanon_sql.recode.joining import recode_by_rows
from kanon_sql.recode.kaca import kaca
from kanon_sql.recode.leaving_out import recode_what_can_be
from kanon_sql.recode.mondrian import mondrian, mondrian_relaxed
from kanon_sql.recode.prioprivacy import prioprivacy
from kanon_sql.recode.refine import refine
from kanon_sql.recode.task import Clock, Local, Rounds, Task

__all__ = ["RECODERS", "Clock", "Local", "Recoder", "Rounds", "Task"]


@dataclass(frozen=True)
class Recoder:
    """A named local algorithm, and what it promises.

    `ranges`: numbers and dates are shown as ranges by default. `population`: how it meets privacy models that use a
    population table in addition to the class: it evaluates them `itself`, or counts rows alone and has its unsafe
    classes `joined` to others afterwards.
    """

    name: str
    recode: Callable[[Task], Local]
    promise: str
    default_seconds: float | None = None
    ranges: bool = False
    population: Literal["itself", "joined"] = "itself"

    def __call__(self, task: Task) -> Local:
        """Recode; SpecError for options that it does not support, InfeasibleError if nothing can be released."""
        joined = task.frequency_set.population is not None and self.population == "joined"
        return recode_what_can_be(partial(recode_by_rows, self.recode) if joined else self.recode, task)


_ALL: tuple[Recoder, ...] = (
    Recoder("refine", refine, "little loss, every row released; may be stopped at any time", population="joined"),
    Recoder("mondrian", mondrian, "partitions cut until no cut leaves every side safe", ranges=True),
    Recoder(
        "mondrian_relaxed",
        mondrian_relaxed,
        "like mondrian, but rows equal to the median go to both sides",
        ranges=True,
    ),
    Recoder("prioprivacy", prioprivacy, "safe rows do not change; the least important attributes change first"),
    Recoder(
        "kaca",
        kaca,
        "unsafe classes merged with the nearest, by hierarchy distance (Li et al. 2008)",
        population="joined",
    ),
)
RECODERS = {recoder.name: recoder for recoder in _ALL}
