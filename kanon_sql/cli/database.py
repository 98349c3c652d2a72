"""`kanon database release|verify`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, takes
from kanon_sql.cli.output import grid, out, print_json, verified, warn, watching
from kanon_sql.spec import check_values
from kanon_sql.verbs.database import anonymize_database, known_rows, verify_database

SPEC = Argument("spec", "A spec with the tables, their keys, and the people.", type=Path, default=...)
TIME_LIMIT = replace(o.OPTIONS["time_limit"], panel=None)


@takes(SPEC, *o.SESSION_OPTIONS, TIME_LIMIT, o.JSON)
def release(spec: Path, as_json: bool | None, **overrides: Any) -> None:
    """[bold]kanon database release hospital.yml[/bold]"""
    check_values(time_limit=overrides.get("time_limit"))
    with watching() as watch:
        released = anonymize_database(spec, observer=watch, **overrides)
    if as_json:
        print_json(released.to_json())
    else:
        _show(released.manifest)
    warn(released.manifest["warnings"])


@takes(SPEC, *o.SESSION_OPTIONS, o.JSON)
def verify(spec: Path, as_json: bool | None, **overrides: Any) -> None:
    checked = verify_database(spec, **overrides)
    if as_json:
        print_json(checked.to_json())
    else:
        _show_findings(checked.findings)
        for sentence in checked.broken_keys:
            out.print(f"[red]broken[/red]: {escape(sentence)}")
        colour, outcome = ("green", "satisfied") if checked.satisfied else ("red", "not satisfied")
        out.print(f"[{colour}]{outcome}[/{colour}]: {checked.people:,} people")
    if not checked.satisfied:
        raise typer.Exit(1)


def _show(manifest: dict[str, Any]) -> None:
    """Print the rows of every table, the levels of its columns, and what the check found."""
    table = grid("table", "released rows", "of", "levels", right=("released rows", "of"))
    for name, found in manifest["tables"].items():
        levels = ", ".join(f"{column} {level}" for column, level in manifest["node"][name].items())
        table.add_row(escape(name), f"{found['released_rows']:,}", f"{found['rows']:,}", escape(levels))
    out.print(table)
    for name, found in manifest["tables"].items():
        if found["dropped"]:
            out.print(f"Dropped from {escape(name)}, since they have no role: {escape(', '.join(found['dropped']))}.")
    _show_findings(manifest["privacy"])
    proven = "proven optimal" if manifest["proven_optimal"] else f"no node is better than {manifest['lower_bound']:.4f}"
    out.print(f"Loss {manifest['score']:.4f} ({proven}), {manifest['nodes_checked']:,} nodes checked.")
    targets = ", ".join(found["target"] for found in manifest["tables"].values())
    people = f"{manifest['released_people']:,} of {manifest['people']:,} people"
    out.print(verified(f"({manifest['k']}, {manifest['m']})-anonymity of {people}", targets, "the released tables"))


def _show_findings(findings: list[dict[str, Any]]) -> None:
    table = grid("known of a person", "at least shared by", "required", "rare combinations", right=("required",))
    for finding in findings:
        shared = "–" if finding["achieved"] is None else f"{finding['achieved']:,} people"
        table.add_row(
            known_rows(finding["known_rows"]), shared, f"{finding['required']:,}", f"{finding['rare_combinations']:,}"
        )
    out.print(table)


SUBCOMMANDS = {
    "release": (
        release,
        "Release several tables of the same people together, so that what somebody knows of a person and of some of "
        "their rows is shared by k people.",
    ),
    "verify": (
        verify,
        "Check the released tables with separate SQL: exit code 0 if they satisfy the spec, 1 if not.",
    ),
}
