"""The progress of a verb on a terminal or in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import TYPE_CHECKING

from kanon_sql.plan.observer import Observer
from kanon_sql.recode import Rounds
from kanon_sql.report.numbers import count, figure
from kanon_sql.strategies import Progress

if TYPE_CHECKING:
    from rich.console import Console


STAGNANT = 20.0  # seconds without a better release after which the progress reports it


@contextmanager
def progress() -> Iterator[Observer]:
    """Show the progress of a verb in a notebook or a terminal: the stage, nodes checked, the best loss and its bound.

    Interrupting the kernel, or Ctrl-C, ends a search early; the best result so far is released.

    >>> import kanon_sql, pandas
    >>> people = pandas.DataFrame({"zip": ["12", "12", "21", "21"]})
    >>> with progress() as observer:
    ...     release = kanon_sql.anonymize(
    ...         people, quasi_identifiers={"zip": {"hierarchy": "suppress"}}, k=2, observer=observer
    ...     )
    """
    from rich import get_console

    console = get_console()
    if not (console.is_terminal or console.is_jupyter):
        yield Observer()
        return
    stop = "interrupt, or set `patience`"
    with shown_on(console, "interrupt to release the best so far", stop) as observer:
        yield observer


@contextmanager
def shown_on(console: Console, interrupt: str, stop: str) -> Iterator[Observer]:
    """Show progress on a console; `interrupt`: what an interrupt does, `stop`: how to end a search that stagnates."""
    from rich.markup import escape

    with console.status("Reading") as status:
        current = ""

        def stage(text: str) -> None:
            nonlocal current
            current = text
            status.update(escape(text))

        def search(progress: Progress) -> None:
            hint = stagnation(progress, stop) or f" ({interrupt})"
            status.update(escape(f"{current}: {progress_line(progress)}{hint}"))

        def recode(rounds: Rounds) -> None:
            status.update(escape(f"{current}: {rounds_line(rounds)}{stagnation(rounds, stop)}"))

        yield Observer(stage, search, recode)


def stagnation(progress: Progress | Rounds, stop: str) -> str:
    """A sentence about a search that has found nothing better for a while, and how to end it; otherwise empty.

    >>> stagnation(Rounds(60.0, 3, 100, stagnant=25.0), "stop with Ctrl-C, or use --patience")
    '; no better release for 25 s; stop with Ctrl-C, or use --patience'
    """
    if progress.stagnant < STAGNANT:
        return ""
    return f"; no better release for {_duration(progress.stagnant)}; {stop}"


def rounds_line(rounds: Rounds) -> str:
    """The progress of a local recoding."""
    parts = [f"round {rounds.round}", f"{count(rounds.classes)} classes"]
    if rounds.left is not None:
        parts.append(f"{count(rounds.left)} to go")
    return ", ".join([*parts, *_times(rounds.seconds, rounds.seconds_left)])


def progress_line(progress: Progress) -> str:
    """The progress of a search, without the figures that are not available yet."""
    parts = [f"{count(progress.nodes_checked)} of {count(progress.lattice_size)} nodes checked"]
    if progress.node:
        parts += [f"best {figure(progress.score)}", f"bound {figure(progress.bound)}", f"gap {figure(progress.gap)}"]
    elif 0 < progress.bound < inf:
        parts.append(f"bound {figure(progress.bound)}")
    return ", ".join([*parts, *_times(progress.seconds, progress.seconds_left)])


def _times(seconds: float, seconds_left: float | None) -> list[str]:
    """The elapsed time, and with a limit the remaining time."""
    return [_duration(seconds), *([] if seconds_left is None else [f"{_duration(seconds_left)} left"])]


def _duration(seconds: float) -> str:
    """Seconds, minutes or hours, whichever has few digits."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"
