"""Output shared by commands: consoles, progress on standard error, notes, roles and small tables."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from kanon_sql.cli import JSON_IS_PRINTED, PRINTED_WARNINGS
from kanon_sql.cli.flags import in_flags
from kanon_sql.plan.observer import Observer
from kanon_sql.report.numbers import counted, parameters
from kanon_sql.report.verdict import Verdict
from kanon_sql.report.words import smallest_group, who
from kanon_sql.verbs.progress import shown_on
from kanon_sql.verbs.result import Result

_Shown = TypeVar("_Shown", bound=Result)
_LOG = logging.getLogger("kanon_sql")
EMPTY = 3  # exit code of --fail-empty for a release without rows or information

_STAGES = {
    "read": "reading",
    "frequency_set": "counting",
    "search": "searching",
    "classes": "forming classes",
    "loss": "measuring the loss",
    "release": "writing",
    "verify": "verifying",
    "describe": "describing",
    "cloak": "cloaking",
}


def _console(stderr: bool = False) -> Console:
    console = Console(stderr=stderr, highlight=False)
    console.soft_wrap = not console.is_terminal  # do not break lines in a pipe or file
    return console


out = _console()
err = _console(stderr=True)


def configure(quiet: bool, level: str) -> None:
    """Configure printing: nothing for people if `quiet`, and on standard error the messages of the log level."""
    out.quiet = quiet
    _LOG.setLevel(level.upper())
    _LOG.handlers = [_Lines()]


class _Lines(logging.StreamHandler[Any]):
    """Writes log messages to standard error, one line each: the time, the level and the message."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)
        form = logging.Formatter("%(asctime)s %(levelname)s %(message)s", datefmt="%Y-%m-%dT%H:%M:%S%z")
        self.setFormatter(form)


@contextmanager
def watching(interrupt: str = "Ctrl-C takes the best so far") -> Iterator[Observer]:
    """Show progress and the effect of an interrupt, if standard error is a terminal; or log the stages."""
    if _LOG.isEnabledFor(logging.INFO):
        yield Observer(stage=lambda text: _LOG.info(" ".join(text.splitlines())))
        return
    if not err.is_terminal or out.quiet:
        yield Observer()
        return
    with shown_on(err, interrupt, "stop with Ctrl-C, or use --patience") as observer:
        yield observer


def print_json(text: str) -> None:
    """Print the one document of a command with `--json`."""
    JSON_IS_PRINTED.set()
    print(text)


def show_result(
    result: _Shown, as_json: bool | None, show: Callable[[_Shown], None], notes: Iterable[str] = ()
) -> None:
    """Print the result of a command for people, or with `--json` as its one document, and then the notes."""
    if as_json:
        print_json(result.to_json())
        warn(notes)
    else:
        show(result)


def warn(warnings: Iterable[str]) -> None:
    """Print notes to standard error, except those that were printed while the source was read."""
    if not _LOG.isEnabledFor(logging.WARNING):
        return
    for text in warnings:
        if text not in PRINTED_WARNINGS:
            err.print(f"[yellow]note:[/yellow] {escape(in_flags(text))}")


def found_by(found_by: str | None, strategy: str) -> str:
    """A sentence about where the node comes from, empty if the strategy itself found it."""
    return {
        "lowered": f" What {strategy} found was then lowered to a node of the same score.",
        "reduction": f" {strategy} did not find its node: it is a probe of the lattice reduction.",
        "last resort": f" {strategy} did not find its node: it is the best of those tested on the way.",
    }.get(found_by or "", "")


def roles(roles: dict[str, Any]) -> None:
    """List the columns that are released unchanged, and the columns that are not released."""
    kept = [*(f"{name} (sensitive)" for name in roles["sensitive"]), *roles["kept"]]
    labels = [f"{name} ({role})" for name, role in roles.get("labels", {}).items()]
    columns_by_use = {
        "Released unchanged": (kept, ""),
        "Dropped": (roles["identifiers_dropped"], ""),
        "Dropped, no role": (roles["dropped"], "; keep them with --keep"),
        "Labelled for PostgreSQL Anonymizer": (labels, ""),
    }
    for use, (columns, remedy) in columns_by_use.items():
        if columns:
            out.print(f"{use}: {escape(', '.join(columns))}{remedy}.")


def verified(privacy: str, target: str, in_: str = "the written release") -> str:
    """The last line of a run: which privacy models were verified, and where the release is."""
    return f"[green]Verified[/green] in {in_}: {privacy}. Written to {escape(target)}"


def verdict(manifest: Mapping[str, Any], indent: str = "") -> None:
    """Print the verdict on a release in one line, if its recipient is named."""
    if decided := manifest.get("verdict"):
        out.print(f"{indent}Verdict: {escape(Verdict.read(decided).sentence)}.")


def grid(*titles: str, right: Collection[str] = ()) -> Table:
    """A table without lines, whose cells are wrapped and never cut off."""
    table = Table(box=None, pad_edge=False)
    for title in titles:
        table.add_column(title, overflow="fold", justify="right" if title in right else "left")
    return table


def sample(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print some rows, then the names of the columns that do not fit on the terminal."""
    texts = [["NULL" if cell is None else str(cell) for cell in row] for row in rows]
    fit = _that_fit([[name, *(row[i] for row in texts)] for i, name in enumerate(columns)])
    table = grid(*(escape(columns[i]) for i in fit))
    for row in texts:
        table.add_row(*(escape(row[i]) for i in fit))
    out.print(table, soft_wrap=False)
    left_out = [name for i, name in enumerate(columns) if i not in fit]
    if left_out:
        more = "1 more column" if len(left_out) == 1 else f"{len(left_out)} more columns"
        out.print(f"… and {more}: {escape(', '.join(left_out))}")


def _that_fit(columns: Sequence[Sequence[str]]) -> list[int]:
    """Indices of the columns that fit side by side, after leaving out the widest ones."""
    widths = {i: max(map(len, cells)) + 2 for i, cells in enumerate(columns)}
    while len(widths) > 2 and sum(widths.values()) > out.width:
        del widths[max(widths, key=lambda i: widths[i])]
    return list(widths)


def smallest_of(manifest: Mapping[str, Any]) -> str:
    """The size of the smallest class of a release, in people if a unit is set, else in rows."""
    return counted(smallest_group(manifest) or 0, who(manifest))


def took(seconds: Mapping[str, float]) -> str:
    """How long a run and its stages took, the longest stage first.

    >>> took({"read": 1.0, "frequency_set": 20.31, "search": 0.04, "release": 1.5, "verify": 0.2, "total": 23.05})
    '23.1 s in all: counting 20.3, writing 1.5, reading 1.0, verifying 0.2'
    """
    stages = {_STAGES.get(name, name.replace("_", " ")): taken for name, taken in seconds.items() if name != "total"}
    total = seconds.get("total", sum(stages.values()))
    longest_first = sorted(stages, key=lambda name: -stages[name])
    shown = [f"{name} {stages[name]:.1f}" for name in longest_first if stages[name] >= 0.05]
    return f"{total:.1f} s in all{': ' if shown else ''}{', '.join(shown)}"


def promised(privacy: Sequence[dict[str, Any]]) -> str:
    """The privacy models of a release in words; only k-anonymity is called anonymous.

    >>> promised([{"model": "k-anonymity", "required": 5}, {"model": "at most", "required": 0.8}])
    '5-anonymous, at most (0.8)'
    """
    words = []
    for model in privacy:
        if model["model"] == "k-anonymity":
            words.append(f"{model['required']}-anonymous")
        else:
            words.append(f"{model['model']} ({parameters(model['required'])})")
    return ", ".join(words)
