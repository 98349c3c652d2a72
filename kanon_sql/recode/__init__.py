"""Local recodings: each an algorithm in a file of its own, in set-based statements over the frequency set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kanon_sql.recode.task import Clock, Local, Rounds, Task

__all__ = ["RECODERS", "Clock", "Local", "Recoder", "Rounds", "Task"]


@dataclass(frozen=True)
class Recoder:
    """A named local algorithm, and what it promises.

    `ranges`: numbers and dates are shown as ranges where nobody says otherwise.
    """

    name: str
    recode: Callable[[Task], Local]
    promise: str
    default_seconds: float | None = None
    ranges: bool = False

    def __call__(self, task: Task) -> Local:
        """Recode; SpecError if it cannot work with what is asked for."""
        return self.recode(task)


_ALL: tuple[Recoder, ...] = ()
RECODERS = {found.name: found for found in _ALL}
