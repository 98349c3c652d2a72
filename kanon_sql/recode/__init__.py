"""Local recodings: each an algorithm in a file of its own, in set-based statements over the frequency set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kanon_sql.recode.kaca import kaca
from kanon_sql.recode.mondrian import mondrian, mondrian_relaxed
from kanon_sql.recode.prioprivacy import prioprivacy
from kanon_sql.recode.refine import refine
from kanon_sql.recode.task import Clock, Local, Rounds, Task

__all__ = ["RECODERS", "Clock", "Local", "Recoder", "Rounds", "Task"]


@dataclass(frozen=True)
class Recoder:
    """A named local algorithm, and what it promises.

    `ranges`: numbers and dates are shown as ranges where nobody says otherwise. `takes_values`: it works with privacy
    models that look at a class's sensitive values; the others ask for the rows of a class alone.
    """

    name: str
    recode: Callable[[Task], Local]
    promise: str
    default_seconds: float | None = None
    ranges: bool = False
    takes_values: bool = False

    def __call__(self, task: Task) -> Local:
        """Recode; SpecError if it cannot work with what is asked for."""
        return self.recode(task)


_ALL: tuple[Recoder, ...] = (
    Recoder("refine", refine, "little loss, every row released; stops at any time"),
    Recoder("mondrian", mondrian, "partitions cut until no cut leaves every side safe", ranges=True, takes_values=True),
    Recoder("mondrian_relaxed", mondrian_relaxed, "as mondrian, rows equal to the median dealt to both", ranges=True),
    Recoder(
        "prioprivacy", prioprivacy, "rows that are safe stay as they are; the least important attributes change first"
    ),
    Recoder("kaca", kaca, "classes of near tuples, by the steps up their hierarchies (Li et al. 2008)"),
)
RECODERS = {found.name: found for found in _ALL}
