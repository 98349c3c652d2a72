"""`kanon init`."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Option, takes
from kanon_sql.cli.show import out, warn, watching
from kanon_sql.hints import QUASI_IDENTIFIER
from kanon_sql.verbs.suggest import SuggestedColumn, Suggestions, suggest

OUTPUT = Option("output", "The spec to write; hierarchies/ is made beside it (default release.yml).", None, Path)
K = replace(o.K, default=5)
LIMIT = replace(o.SUPPRESSION_LIMIT, default=0.02)
TIME_LIMIT = Option("time_limit", "Seconds to look at sets of columns.", type=float, default=30.0)
OVERWRITE = replace(o.OVERWRITE, help="Replace a spec and hierarchies that are there.", panel=None)


ROLES = (o.QUASI_IDENTIFIERS, o.IDENTIFIERS, o.SENSITIVE, o.KEEP)


@takes(o.NEEDED_SOURCE, OUTPUT, *o.PLACES, *ROLES, K, LIMIT, TIME_LIMIT, OVERWRITE, o.JSON)
def init(source: str, output: Path | None, overwrite: bool | None, as_json: bool | None, **asked: Any) -> None:
    """[bold]kanon init patients.csv && kanon anonymize --spec release.yml[/bold]

    What is written comes from the data: keep it as private as the source."""
    with watching() as watch:
        made = suggest(source, observer=watch, **asked)
    written = made.write(output or Path("release.yml"), overwrite=bool(overwrite))
    if as_json:
        print(json.dumps(made.to_dict(), indent=2))
        return
    show(made)
    command = shlex.join(["kanon", "anonymize", "--spec", str(written)])
    out.print(f"\nWritten to {escape(str(written))}. Read it, edit it, then: [bold]{escape(command)}[/bold]")
    warn(made.notes)


def show(made: Suggestions) -> None:
    """Show what each column is, and how it would be generalized."""
    columns = Table("column", "role", "generalized by", "labels by level", box=None, pad_edge=False)
    for each in columns.columns[1:3]:
        each.no_wrap = True
    for column in made.columns:
        columns.add_row(escape(column.name), column.role, escape(_way(column)), _labels(column))
    out.print(columns)


def _way(column: SuggestedColumn) -> str:
    if column.role != QUASI_IDENTIFIER:
        return ""
    return "a file" if column.levels else _written(column.recipe)


def _written(recipe: Any) -> str:
    if isinstance(recipe, str):
        return recipe
    (first, value), *_ = recipe.items()
    levels = len(value) if isinstance(value, list) else value
    return (
        f"{first} ({levels})"
        if isinstance(levels, str)
        else f"{first}, {levels} {'level' if levels == 1 else 'levels'}"
    )


def _labels(column: SuggestedColumn) -> str:
    return " → ".join(f"{labels:,}" for labels in column.labels)
