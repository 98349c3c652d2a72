"""What commands share in showing: consoles, progress on standard error, notes, roles and small tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kanon_sql.cli.flags import in_flags
from kanon_sql.recode import Rounds
from kanon_sql.report.numbers import count, figure, parameters
from kanon_sql.strategies import Progress
from kanon_sql.verbs.observer import Observer


def _console(stderr: bool = False) -> Console:
    console = Console(stderr=stderr, highlight=False)
    console.soft_wrap = not console.is_terminal  # a pipe or file gets whole lines
    return console


out, err = _console(), _console(stderr=True)


@contextmanager
def watching(interrupt: str = "Ctrl-C takes the best so far") -> Iterator[Observer]:
    """Progress on a terminal, with what an interrupt does; silence where nobody watches."""
    if not err.is_terminal:
        yield Observer()
        return
    with err.status("Reading") as status:
        reached = ""

        def stage(text: str) -> None:
            nonlocal reached
            reached = text
            status.update(escape(text))

        def search(progress: Progress) -> None:
            status.update(escape(f"{reached}: {_progress(progress)} ({interrupt})"))

        def recode(rounds: Rounds) -> None:
            status.update(escape(f"{reached}: {_rounds(rounds)}"))

        yield Observer(stage, search, recode)


def _rounds(rounds: Rounds) -> str:
    """Where a local recoding stands."""
    parts = [f"round {rounds.round}", f"{count(rounds.classes)} classes"]
    if rounds.left is not None:
        parts.append(f"{count(rounds.left)} to go")
    parts.append(_duration(rounds.seconds))
    if rounds.seconds_left is not None:
        parts.append(f"{_duration(rounds.seconds_left)} left")
    return ", ".join(parts)


def _progress(progress: Progress) -> str:
    """Where a search stands; what is not known yet is left out."""
    parts = [f"{count(progress.nodes_checked)} of {count(progress.lattice_size)} nodes checked"]
    if progress.node:
        parts += [f"best {figure(progress.score)}", f"bound {figure(progress.bound)}", f"gap {figure(progress.gap)}"]
    elif 0 < progress.bound < inf:
        parts.append(f"bound {figure(progress.bound)}")
    parts.append(_duration(progress.seconds))
    if progress.seconds_left is not None:
        parts.append(f"{_duration(progress.seconds_left)} left")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    """Seconds as long as they are few, then minutes and hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 100 else f"{minutes / 60:.1f} h"


def warn(warnings: Sequence[str]) -> None:
    """Say on standard error what a careful reader should know."""
    for text in warnings:
        err.print(f"[yellow]note:[/yellow] {escape(in_flags(text))}")


def found_by(found_by: str | None, strategy: str) -> str:
    """A sentence that says who found the node, where the strategy did not."""
    return {
        "lowered": f" What {strategy} found was then lowered to a node of the same score.",
        "reduction": f" {strategy} did not find its node: it is a probe of the lattice reduction.",
        "last resort": f" {strategy} did not find its node: it is the best of those tested on the way.",
    }.get(found_by or "", "")


def roles(roles: dict[str, Any]) -> None:
    """List the columns that are released as they are, and those that are not released."""
    kept = [*(f"{name} (sensitive)" for name in roles["sensitive"]), *roles["kept"]]
    dropped = [*roles["identifiers_dropped"], *roles["dropped"]]
    labels = [f"{name} ({role})" for name, role in roles.get("labels", {}).items()]
    told = {"Released as they are": kept, "Dropped": dropped, "Labelled for PostgreSQL Anonymizer": labels}
    for said, columns in told.items():
        if columns:
            out.print(f"{said}: {escape(', '.join(columns))}.")


def verified(promise: str, where: str, in_: str = "what was written") -> str:
    """A sentence that says what was verified, and where it is."""
    return f"[green]Verified[/green] in {in_}: {promise}. It is in {escape(where)}"


def sample(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    fit = _that_fit([[name, *(_shown(row[i]) for row in rows)] for i, name in enumerate(columns)])
    table = Table(*(escape(columns[i]) for i in fit), box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(escape(_shown(row[i])) for i in fit))
    return table


def _that_fit(columns: Sequence[Sequence[str]]) -> list[int]:
    """The columns that fit side by side: the widest are left out until they do."""
    widths = {i: max(map(len, cells)) + 2 for i, cells in enumerate(columns)}
    while len(widths) > 2 and sum(widths.values()) > out.width:
        del widths[max(widths, key=lambda i: widths[i])]
    return list(widths)


def _shown(cell: Any) -> str:
    return "NULL" if cell is None else str(cell)


def promised(privacy: Sequence[dict[str, Any]]) -> str:
    """What every class meets, in words; only k-anonymity is called so.

    >>> promised([{"model": "k-anonymity", "required": 5}, {"model": "at most", "required": 0.8}])
    '5-anonymous, at most (0.8)'
    """
    words = (
        f"{each['required']}-anonymous"
        if each["model"] == "k-anonymity"
        else f"{each['model']} ({parameters(each['required'])})"
        for each in privacy
    )
    return ", ".join(words)
