"""`kanon init`."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Option, takes
from kanon_sql.cli.show import out, warn, watching
from kanon_sql.errors import SpecError
from kanon_sql.hints import IDENTIFIER, QUASI_IDENTIFIER, SENSITIVE
from kanon_sql.spec import read_value
from kanon_sql.verbs.options import RoleOptions
from kanon_sql.verbs.suggest import DROPPED, KEPT, Preview, SuggestedColumn, Suggestions, check_spec_file, suggest

OUTPUT = Option("output", "The spec to write; hierarchies/ is made beside it (default release.yml).", None, Path)
K = replace(o.K, default=5)
LIMIT = replace(o.OPTIONS["suppression_limit"], default="0.02")
TIME_LIMIT = Option("time_limit", "Seconds to look at sets of columns.", type=float, default=30.0, limits={"min": 0})
INTERACTIVE = Option("interactive", "Ask about each column, with a preview of its labels.", type=bool)
OVERWRITE = replace(o.OVERWRITE, help="Replace a spec and hierarchies that are there.", panel=None)


@takes(o.NEEDED_SOURCE, OUTPUT, *o.of(RoleOptions), K, LIMIT, TIME_LIMIT, INTERACTIVE, OVERWRITE, o.JSON)
def init(
    source: str,
    output: Path | None,
    interactive: bool | None,
    overwrite: bool | None,
    as_json: bool | None,
    **asked: Any,
) -> None:
    """[bold]kanon init patients.csv && kanon anonymize --spec release.yml[/bold]

    What is written comes from the data: keep it as private as the source."""
    target = output or Path("release.yml")
    check_spec_file(target, bool(overwrite))
    if interactive:
        made = suggest(source, ask=_ask, **asked)
    else:
        with watching() as watch:
            made = suggest(source, observer=watch, **asked)
    written = made.write(target, overwrite=bool(overwrite))
    if as_json:
        print(json.dumps(made.to_dict(), indent=2))
        return
    show(made)
    command = shlex.join(["kanon", "anonymize", "--spec", str(written)])
    out.print(f"\nWritten to {escape(str(written))}. Read it, edit it, then: [bold]{escape(command)}[/bold]")
    warn(made.notes)


_ROLES = {"q": QUASI_IDENTIFIER, "i": IDENTIFIER, "s": SENSITIVE, "k": KEPT, "d": DROPPED}
_ANSWERS = (
    "Enter takes it; q generalizes, i or d drops, s keeps as sensitive, k keeps; or a recipe, such as "
    "{ranges: [5, 10]} or suppress"
)


def _ask(column: SuggestedColumn, preview: Preview, problem: str) -> SuggestedColumn:
    """Show a column on a screen of its own, and ask what it is."""
    out.clear()
    out.print(f"[bold]{escape(column.name)}[/bold] ({escape(column.type)}): {column.role}, {escape(column.reason)}")
    if column.role == QUASI_IDENTIFIER:
        out.print(f"Generalized by {escape(_way(column) or 'nothing yet')}: {escape(column.why)}. {_labels(column)}")
        _show_preview(preview)
    if problem:
        out.print(f"[red]{escape(problem)}[/red]")
    answer = typer.prompt(_ANSWERS, default="", show_default=False).strip()
    if answer.lower() in _ROLES:
        role = _ROLES[answer.lower()]
        recipe = "suppress" if role == QUASI_IDENTIFIER and not column.labels else column.recipe
        return replace(column, role=role, reason="as you said", recipe=recipe)
    if not answer:
        return column
    return replace(column, role=QUASI_IDENTIFIER, recipe=_read(answer), reason="as you said")


def _read(answer: str) -> Any:
    """A recipe as it is typed; what is none is left to be refused."""
    try:
        return read_value(answer)
    except SpecError:
        return {answer: ""}


def _show_preview(preview: Preview) -> None:
    if not preview.values:
        return
    height = len(preview.classes)
    labels = Table("value", "rows", *(f"level {level}" for level in range(1, height + 1)), box=None, pad_edge=False)
    for value, rows, path in preview.values:
        labels.add_row(escape(value), f"{rows:,}", *map(escape, path))
    out.print(labels)
    for level, classes in enumerate(preview.classes, start=1):
        said = ", ".join(f"{label}: {rows:,}" for label, rows in classes)
        out.print(f"level {level}, largest classes: {escape(said)}")


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
