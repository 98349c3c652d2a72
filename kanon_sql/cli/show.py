"""What commands share in showing: consoles, progress on standard error, notes, roles and small tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kanon_sql.cli.flags import in_flags
from kanon_sql.cli.said import SAID
from kanon_sql.plan.observer import Observer
from kanon_sql.recode import Rounds
from kanon_sql.report.numbers import count, counted, figure, parameters
from kanon_sql.report.words import smallest_group, who
from kanon_sql.strategies import Progress

EMPTY = 3  # the exit code of a release that tells nothing, where --fail-empty asks for one


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


def warn(warnings: Iterable[str]) -> None:
    """Say on standard error what a careful reader should know, and has not been told."""
    for text in (each for each in warnings if each not in SAID):
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
    labels = [f"{name} ({role})" for name, role in roles.get("labels", {}).items()]
    told = {
        "Released as they are": (kept, ""),
        "Dropped": (roles["identifiers_dropped"], ""),
        "Dropped, no role": (roles["dropped"], "; keep them with --keep"),
        "Labelled for PostgreSQL Anonymizer": (labels, ""),
    }
    for said, (columns, way_out) in told.items():
        if columns:
            out.print(f"{said}: {escape(', '.join(columns))}{way_out}.")


def verified(promise: str, where: str, in_: str = "what was written") -> str:
    """A sentence that says what was verified, and where it is."""
    return f"[green]Verified[/green] in {in_}: {promise}. It is in {escape(where)}"


def grid(*titles: str, right: Collection[str] = ()) -> Table:
    """A table without lines, nothing of which is cut off: a long word goes on below itself."""
    table = Table(box=None, pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold", justify="right" if title in right else "left")
    return table


def sample(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Show some rows, and name the columns that have no room."""
    fit = _that_fit([[name, *(_shown(row[i]) for row in rows)] for i, name in enumerate(columns)])
    table = grid(*(escape(columns[i]) for i in fit))
    for row in rows:
        table.add_row(*(escape(_shown(row[i])) for i in fit))
    out.print(table, soft_wrap=False)
    left_out = [name for i, name in enumerate(columns) if i not in fit]
    if left_out:
        more = "1 more column" if len(left_out) == 1 else f"{len(left_out)} more columns"
        out.print(f"… and {more}: {escape(', '.join(left_out))}")


def _that_fit(columns: Sequence[Sequence[str]]) -> list[int]:
    """The columns that fit side by side: the widest are left out until they do."""
    widths = {i: max(map(len, cells)) + 2 for i, cells in enumerate(columns)}
    while len(widths) > 2 and sum(widths.values()) > out.width:
        del widths[max(widths, key=lambda i: widths[i])]
    return list(widths)


def _shown(cell: Any) -> str:
    return "NULL" if cell is None else str(cell)


_STAGES = {
    "frequency_set": "counting",
    "search": "searching",
    "release": "writing",
    "verify": "verifying",
    "cloak": "cloaking",
}


def smallest_of(manifest: Mapping[str, Any]) -> str:
    """The size of the smallest class of a release, in people where these are counted."""
    return counted(smallest_group(manifest) or 0, who(manifest))


def took(seconds: Mapping[str, float]) -> str:
    """How long a run took, and which stages of it, the longest first; what none of them is was reading and describing.

    >>> took({"frequency_set": 20.31, "search": 0.04, "release": 1.5, "verify": 0.2, "total": 23.05})
    '23.1 s in all: counting 20.3, writing 1.5, reading and describing 1.0, verifying 0.2'
    """
    known = {_STAGES.get(name, name.replace("_", " ")): each for name, each in seconds.items() if name != "total"}
    total = seconds.get("total", sum(known.values()))
    known["reading and describing"] = max(0.0, total - sum(known.values()))
    shown = [f"{name} {each:.1f}" for name, each in sorted(known.items(), key=lambda each: -each[1]) if each >= 0.05]
    return f"{total:.1f} s in all{': ' if shown else ''}{', '.join(shown)}"


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
