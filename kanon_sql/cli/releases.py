"""`kanon releases list|show|verify`."""

from __future__ import annotations

import json
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, takes
from kanon_sql.cli.show import out
from kanon_sql.verbs.releases import releases as read

TRAIL = Argument("name", "An audit trail: a .jsonl file, or with --database a table.", default=...)
NUMBER = Argument("number", "The number of the row.", type=int, default=...)


@takes(TRAIL, o.DATABASE, o.JSON)
def list_(name: str, as_json: bool | None, **where: Any) -> None:
    trail = read(name, **where)
    if as_json:
        print(json.dumps(trail.to_dict(), indent=2))
        return
    table = Table("row", "when", "release", "node", "singled out", "checksum", box=None, pad_edge=False)
    for each in trail.entries:
        singled = "" if each.singled_out is None else f"{each.singled_out:,}"
        cells = (
            str(each.number),
            each.made_at,
            escape(each.release),
            escape(each.node or ""),
            singled,
            each.checksum[:12],
        )
        table.add_row(*cells)
    out.print(table)


@takes(TRAIL, NUMBER, o.DATABASE)
def show(name: str, number: int, **where: Any) -> None:
    print(json.dumps(read(name, **where).manifest(number), indent=2))


@takes(TRAIL, o.DATABASE, o.JSON)
def verify(name: str, as_json: bool | None, **where: Any) -> None:
    trail = read(name, **where)
    if as_json:
        print(json.dumps(trail.to_dict(), indent=2))
    else:
        for number, problem in trail.broken:
            out.print(f"[red]broken[/red]: row {number}: {escape(problem)}")
        if trail:
            out.print(f"[green]holds[/green]: {len(trail.entries):,} rows, the last of checksum {trail.head}")
    if not trail:
        raise typer.Exit(1)


SUBCOMMANDS = {
    "list": (list_, "List what was released: when, at which node, and how many people the change singled out."),
    "show": (show, "Print the manifest of a row."),
    "verify": (
        verify,
        "Work out the chain of checksums again: exit code 0 if every row is as it was written, 1 if not.",
    ),
}
