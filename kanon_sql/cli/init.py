"""`kanon init`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Option, takes
from kanon_sql.cli.output import out, print_json, warn, watching
from kanon_sql.errors import SpecError
from kanon_sql.hints import DROPPED, IDENTIFIER, KEPT, QUASI_IDENTIFIER, SENSITIVE
from kanon_sql.spec import read_value
from kanon_sql.suggestion.columns import SuggestedColumn
from kanon_sql.verbs.options import RoleOptions
from kanon_sql.verbs.suggest import (
    SuggestionPreview,
    check_spec_file,
    suggest,
)
from kanon_sql.verbs.suggest_database import PRESETS, DatabaseSuggestions, suggest_database

_ROLES = {"q": QUASI_IDENTIFIER, "i": IDENTIFIER, "s": SENSITIVE, "k": KEPT, "d": DROPPED}
_ANSWERS = (
    "Enter accepts; q = quasi-identifier, i = identifier, s = sensitive, k = keep, d = drop; or a recipe, such as "
    "{ranges: [5, 10]} or suppress"
)

SOURCE = replace(
    o.SOURCE,
    help="A CSV, Parquet or Excel file or a glob of files; with --database, a table or view. Without it, all tables of "
    "the database whose rows belong to the same people.",
)
OUTPUT = Option(
    "output", "The spec to write; a folder hierarchies/ is created next to it (default release.yml).", None, Path
)
K = replace(o.K, default=5)
LIMIT = replace(o.OPTIONS["suppression_limit"], default="0.02")
TIME_LIMIT = Option("time_limit", "Seconds for examining sets of columns.", type=float, default=30.0, limits={"min": 0})
INTERACTIVE = Option("interactive", "Ask about each column, with a preview of its labels.", type=bool)
OVERWRITE = replace(o.OVERWRITE, help="Replace an existing spec and existing hierarchies.", panel=None)
_DATABASE = "A whole database"
SCHEMA = Option("schema", "The schema of the tables. By default the current one.", _DATABASE)
UNIT = Option(
    "unit", "The table of the people. By default recognized by its name and by the tables that refer to it.", _DATABASE
)
PRESET = Option(
    "preset", "The data model of the tables, whose columns have known roles: OMOP.", _DATABASE, choices=PRESETS
)
M = Option(
    "m",
    "The number of a person's rows in the other tables that somebody may know (default 2).",
    _DATABASE,
    choices=("0", "1", "2", "3", "all"),
    read=lambda text: text if text == "all" else int(text),
)
_OF_DATABASES = (SCHEMA, UNIT, PRESET, M)
_FOR_BOTH = ("database", "attach", "memory_limit", "threads", "temp_directory", "k", "suppression_limit", "time_limit")


@takes(SOURCE, OUTPUT, *o.of(RoleOptions), K, LIMIT, TIME_LIMIT, *_OF_DATABASES, INTERACTIVE, OVERWRITE, o.JSON)
def init(
    source: str | None,
    output: Path | None,
    interactive: bool | None,
    overwrite: bool | None,
    as_json: bool | None,
    **options: Any,
) -> None:
    """[bold]kanon init patients.csv && kanon anonymize --spec release.yml[/bold]

    [bold]kanon init --database hospital.duckdb --output hospital.yml && kanon database release hospital.yml[/bold]

    The written files contain values of the data: protect them like the source."""
    target = output or Path("release.yml")
    check_spec_file(target, bool(overwrite))
    of_databases = {option.name: options.pop(option.name) for option in _OF_DATABASES}
    if source is None:
        _init_database(target, bool(interactive), bool(overwrite), bool(as_json), {**options, **of_databases})
        return
    if of_databases.get("unit") is not None:
        raise SpecError(
            "--unit is for all tables of a database; for one table, add a line `unit: COLUMN` to the spec that this "
            "command writes"
        )
    _refuse(of_databases, "is for all tables of a database; leave out SOURCE")
    if interactive:
        suggestions = suggest(source, ask=_ask, **options)
    else:
        with watching() as watch:
            suggestions = suggest(source, observer=watch, **options)
    written = suggestions.write(target, overwrite=bool(overwrite))
    if as_json:
        print_json(suggestions.to_json())
    else:
        _show_columns(suggestions.columns)
        _show_next("anonymize", "--spec", str(written))
        warn(suggestions.notes)


def _init_database(target: Path, interactive: bool, overwrite: bool, as_json: bool, options: dict[str, Any]) -> None:
    """Suggest a spec for all tables of a database."""
    if options["database"] is None:
        raise SpecError(
            "there is no SOURCE; name a file, or a table with --database, or only --database for all of its tables"
        )
    allowed = {*_FOR_BOTH, *(option.name for option in _OF_DATABASES)}
    others = {name: value for name, value in options.items() if name not in allowed}
    _refuse({"interactive": interactive or None, **others}, "is for a single table; name it as SOURCE")
    given = {name: value for name, value in options.items() if name in allowed and value is not None}
    with watching() as watch:
        suggestions = suggest_database(observer=watch, **given)
    written = suggestions.write(target, overwrite=overwrite)
    if as_json:
        print_json(suggestions.to_json())
    else:
        _show_database(suggestions)
        _show_next("database", "release", str(written))
        warn(suggestions.notes)


def _show_next(*command: str) -> None:
    """Print where the spec is, and the command that runs it: the last word is the file."""
    shown = escape(shlex.join(["kanon", *command]))
    out.print(f"\nWritten to {escape(command[-1])}. Review and edit it, then run: [bold]{shown}[/bold]")


def _refuse(options: dict[str, Any], why: str) -> None:
    """SpecError for an option that was used."""
    for name, value in options.items():
        if value is not None:
            raise SpecError(f"{o.flag_of(name)} {why}")


def _show_database(suggestions: DatabaseSuggestions) -> None:
    """Print the tables with their keys, and the role and generalization of every column."""
    out.print(f"The people are the rows of [bold]{escape(suggestions.unit)}[/bold]: {escape(suggestions.reason)}.")
    for table in suggestions.tables:
        out.print(f"\n[bold]{escape(table.name)}[/bold], {table.rows:,} rows")
        for column, refers_to, reason in table.keys:
            out.print(f"  key {escape(column)} → {escape(refers_to)}: {escape(reason)}")
        if shown := [column for column in table.columns if column.role != DROPPED]:
            _show_columns(shown)
        if dropped := table.of_role(DROPPED):
            out.print(f"dropped: {escape(', '.join(column.name for column in dropped))}")
    for name, reason in suggestions.left_out.items():
        out.print(f"Left out: [bold]{escape(name)}[/bold]: {escape(reason)}.")


def _ask(column: SuggestedColumn, preview: SuggestionPreview, problem: str) -> SuggestedColumn:
    """Clear the screen, show a column, and ask for its role or recipe."""
    out.clear()
    out.print(f"[bold]{escape(column.name)}[/bold] ({escape(column.type)}): {column.role}, {escape(column.reason)}")
    if column.role == QUASI_IDENTIFIER:
        recipe = _generalized_by(column) or "nothing yet"
        out.print(f"Generalized by {escape(recipe)}: {escape(column.why)}. {_labels(column)}")
        _show_preview(preview)
    if problem:
        out.print(f"[red]{escape(problem)}[/red]")
    answer = typer.prompt(_ANSWERS, default="", show_default=False).strip()
    if answer.lower() in _ROLES:
        role = _ROLES[answer.lower()]
        recipe = "suppress" if role == QUASI_IDENTIFIER and not column.labels else column.recipe
        return replace(column, role=role, reason="your choice", recipe=recipe)
    if not answer:
        return column
    try:
        typed = read_value(answer)
    except SpecError:  # text that is not YAML becomes an unknown recipe, which the caller refuses
        typed = {answer: ""}
    return replace(column, role=QUASI_IDENTIFIER, recipe=typed, reason="your choice")


def _show_preview(preview: SuggestionPreview) -> None:
    if not preview.values:
        return
    height = len(preview.classes)
    labels = Table("value", "rows", *(f"level {level}" for level in range(1, height + 1)), box=None, pad_edge=False)
    for value, rows, path in preview.values:
        labels.add_row(escape(value), f"{rows:,}", *map(escape, path))
    out.print(labels)
    for level, classes in enumerate(preview.classes, start=1):
        sizes = ", ".join(f"{label}: {rows:,}" for label, rows in classes)
        out.print(f"level {level}, largest classes: {escape(sizes)}")


def _show_columns(columns: Sequence[SuggestedColumn]) -> None:
    """Print the suggested role and generalization of every column."""
    table = Table("column", "role", "generalized by", "labels by level", box=None, pad_edge=False)
    table.columns[1].no_wrap = table.columns[2].no_wrap = True
    for column in columns:
        table.add_row(escape(column.name), column.role, escape(_generalized_by(column)), _labels(column))
    out.print(table)


def _generalized_by(column: SuggestedColumn) -> str:
    if column.role != QUASI_IDENTIFIER:
        return ""
    if column.levels:
        return "a file"
    if isinstance(column.recipe, str):
        return column.recipe
    (name, value), *_ = column.recipe.items()
    if isinstance(value, str):
        return f"{name} ({value})"
    levels = len(value) if isinstance(value, list) else value
    return f"{name}, {levels} {'level' if levels == 1 else 'levels'}"


def _labels(column: SuggestedColumn) -> str:
    return " → ".join(f"{labels:,}" for labels in column.labels)
