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
        _show_values(checked.sensitive)
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
    _show_values(manifest["sensitive"])
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


def _show_values(findings: list[dict[str, Any]]) -> None:
    """Print what the check found about sensitive columns; nothing without models."""
    if not findings:
        return
    known = list(dict.fromkeys(found["known_rows"] for found in findings))
    table = grid("sensitive column", "model", "required", *(f"worst: {known_rows(rows)}" for rows in known))
    by_model: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for found in findings:
        by_model.setdefault((found["column"], found["model"]), []).append(found)
    for (column, model), of_sizes in by_model.items():
        required = of_sizes[0]["required"]
        numbers = required.values() if isinstance(required, dict) else [required]
        limits = ", ".join(map(str, numbers))
        table.add_row(escape(column), escape(model), escape(limits), *map(_worst, of_sizes))
    out.print(table)


def _worst(finding: dict[str, Any]) -> str:
    """The worst combination's figure, with the number of those that violate the model."""
    worst = "–" if finding["achieved"] is None else f"{finding['achieved']:.4g}"
    unsafe = finding["unsafe_combinations"]
    return f"[red]{worst}, {unsafe:,} violate it[/red]" if unsafe else worst


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
