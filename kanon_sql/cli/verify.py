"""`kanon verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import takes
from kanon_sql.cli.flags import in_flags
from kanon_sql.cli.output import out, print_json, promised
from kanon_sql.report.numbers import counted
from kanon_sql.verbs.options import VerifyOptions
from kanon_sql.verbs.verify import ITSELF
from kanon_sql.verbs.verify import verify as run


@takes(o.SOURCE, o.SPEC, *o.of(VerifyOptions), o.AGAINST, o.JSON)
def verify(source: str | None, spec: Path | None, as_json: bool | None, **overrides: Any) -> None:
    """With --spec and no source, checks the spec's target. Prints only how many classes fail, and their sizes."""
    found = run(source, spec, **overrides)
    checked = found.to_dict()
    if as_json:
        print_json(found.to_json())
    else:
        _show(checked)
    if not checked["holds"]:
        raise typer.Exit(1)


def _show(checked: dict[str, Any]) -> None:
    """Print whether the models are satisfied, and the sizes of the classes that violate k-anonymity."""
    if "problem" in checked:
        out.print(f"[red]failed[/red]: {escape(in_flags(checked['problem']))}")
        return
    if "people" in checked:
        counts = "people"
        people = f" of {checked['people']:,} people"
        size = checked["smallest_class_of_people"]
    else:
        counts = "rows"
        people = ""
        size = checked["smallest_class"]
    smallest = counted(size or 0, counts)
    classes = f"{checked['rows']:,} rows{people} in {checked['classes']:,} classes, the smallest of {smallest}"
    models = escape(promised(checked["findings"]))
    columns = escape(", ".join(checked["quasi_identifiers"]))
    if checked["holds"]:
        out.print(f"[green]satisfied[/green]: {models} on {columns}; {classes}")
    else:
        out.print(f"[red]not satisfied[/red]: {models} on {columns}; {classes}")
        for finding in checked["findings"]:
            if finding["unsafe_rows"]:
                _show_violation(finding, checked["offending_sizes"], counts)
    _show_comparison(checked)


def _show_violation(finding: dict[str, Any], sizes: list[dict[str, int]], counts: str) -> None:
    """Print the value that a model achieves; for k-anonymity, the sizes of the small classes."""
    rows = f"{counted(finding['unsafe_rows'], 'rows')} in {counted(finding['unsafe_classes'], 'classes')}"
    if finding["model"] != "k-anonymity":
        achieved = "unknown" if finding["achieved"] is None else f"{finding['achieved']:.4g}"
        model = escape(promised([finding]))
        out.print(f"{rows} {'does' if finding['unsafe_rows'] == 1 else 'do'} not meet {model}: {achieved} found")
        return
    out.print(f"{rows} {'is' if finding['unsafe_rows'] == 1 else 'are'} below {finding['required']} {counts}:")
    for size in sizes:
        out.print(f"  {counted(size['classes'], 'classes')} of {counted(size['size'], counts)}")


def _show_comparison(checked: dict[str, Any]) -> None:
    compared = checked["compared_with"]
    if compared == ITSELF:
        out.print(
            "The classes were compared with the release itself, which can lack suppressed rows; to compare them with "
            "its source, name it with --against."
        )
    elif compared:
        out.print(f"The classes were compared with {escape(compared)}.")
