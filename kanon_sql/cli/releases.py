"""`kanon releases list|show|verify`."""

from __future__ import annotations

from typing import Any

import typer
from rich.markup import escape

from kanon_sql import documents
from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, takes
from kanon_sql.cli.output import grid, out, print_json
from kanon_sql.pipeline.trail import Entry
from kanon_sql.verbs.releases import Releases
from kanon_sql.verbs.releases import releases as read

TRAIL = Argument("name", "An audit trail: a .jsonl file, or with --database a table.", default=...)
NUMBER = Argument("number", "The number of the row.", type=int, default=...)


@takes(TRAIL, *o.PLACES, o.JSON)
def list_(name: str, as_json: bool | None, **place: Any) -> None:
    trail = read(name, **place)
    if as_json:
        print_json(trail.to_json())
        return
    table = grid("row", "when", "release", "node", "singled out", "checksum")
    for entry in trail.entries:
        table.add_row(*_cells(entry))
    out.print(table, soft_wrap=False)
    _print_broken(trail)


def _print_broken(trail: Releases) -> None:
    for number, problem in trail.broken:
        out.print(f"[red]broken[/red]: row {number}: {escape(problem)}")


def _cells(entry: Entry) -> tuple[str, ...]:
    """The entry as a row of the list; of an unreadable entry only the number."""
    if not entry.checksum:
        return (str(entry.number), *["?"] * 5)
    return (
        str(entry.number),
        escape(entry.made_at),
        escape(entry.release),
        escape(entry.node or ""),
        "" if entry.singled_out is None else f"{entry.singled_out:,}",
        entry.checksum[:12],
    )


@takes(TRAIL, NUMBER, *o.PLACES)
def show(name: str, number: int, **place: Any) -> None:
    print_json(documents.text("manifest", read(name, **place).manifest(number)))


@takes(TRAIL, *o.PLACES, o.JSON)
def verify(name: str, as_json: bool | None, **place: Any) -> None:
    trail = read(name, **place)
    if as_json:
        print_json(trail.to_json())
    else:
        _print_broken(trail)
        if trail:
            out.print(f"[green]intact[/green]: {len(trail.entries):,} rows, the last with checksum {trail.head}")
    if not trail:
        raise typer.Exit(1)


SUBCOMMANDS = {
    "list": (
        list_,
        "List the releases: their time, their node, and how many people the comparison with earlier releases singled "
        "out.",
    ),
    "show": (show, "Print the manifest of one row of the trail."),
    "verify": (
        verify,
        "Recompute the chain of checksums: exit code 0 if every row is unchanged, 1 if not.",
    ),
}
