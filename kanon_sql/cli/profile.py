"""`kanon profile`."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Sequence
from functools import partial
from typing import Any

from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Option, takes
from kanon_sql.cli.output import grid, out, show_result, warn, watching
from kanon_sql.spec import names_a_server
from kanon_sql.verbs.profile import Profile
from kanon_sql.verbs.profile import profile as run

_SETS_SHOWN = 10

LARGEST_SET = Option(
    "largest_set", "Maximum number of columns in a set.", type=int, default=3, limits={"min": 1, "max": 4}
)
TIME_LIMIT = Option(
    "time_limit",
    "Seconds to spend; after that, the results so far are shown.",
    type=float,
    default=30.0,
    limits={"min": 0},
)


@takes(o.NEEDED_SOURCE, *o.PLACES, LARGEST_SET, TIME_LIMIT, o.JSON)
def profile(source: str, largest_set: int, time_limit: float, as_json: bool | None, **places: Any) -> None:
    with watching() as watch:
        profiled = run(source, largest_set=largest_set, time_limit=time_limit, observer=watch, **places)
    show_result(profiled, as_json, partial(_show, source=source, database=places["database"]))


def _show(profiled: Profile, source: str, database: str | None) -> None:
    """Print how identifying columns and small sets of columns are, and the next command to run."""
    whole = profiled.whole
    people = f" of {profiled.unit.people:,} people" if profiled.unit else ""
    out.print(f"{profiled.rows:,} rows{people}, {len(profiled.columns)} columns")
    columns = grid("column", "type", "different", f"unique {whole.whom}", "suggested")
    for column in profiled.columns:
        distinct = "" if column.distinct is None else f"{column.distinct:,}"
        unique = column.unique_people if profiled.unit else column.unique_rows
        columns.add_row(
            escape(column.name), escape(column.type), distinct, _share(unique, whole.number), column.suggestion
        )
    out.print(columns, soft_wrap=False)
    out.print("\nWhy:")
    for column in profiled.columns:
        if column.reason:
            out.print(f"  {escape(column.name)}: {escape(column.reason)}")
    if profiled.suspects:
        out.print("\nFound in columns without a role, which are released only if --keep names them:")
    for suspect in profiled.suspects:
        out.print(f"  {escape(suspect.column)}: {escape(suspect.reason)}")
    sets = grid("together", "different", f"unique {whole.whom}", "in classes < 5")
    for columns_together in profiled.sets[:_SETS_SHOWN]:
        sets.add_row(
            escape(", ".join(columns_together.columns)),
            f"{columns_together.combinations:,}",
            _share(columns_together.unique, whole.number),
            _share(columns_together.small, whole.number),
        )
    if profiled.sets:
        out.print(f"\nThe most identifying of {len(profiled.sets):,} small sets:")
        out.print(sets, soft_wrap=False)
    if profiled.together:
        unique_together = _share(profiled.together.unique, whole.number)
        out.print(f"\nIn all suggested quasi-identifiers together, {unique_together} of the {whole.whom} are unique.")
    warn(profiled.notes)
    if profiled.quasi_identifiers:
        out.print("\n[bold]Next[/bold]")
        out.print(f"  [cyan]{escape(_anonymize_command(profiled, source, database))}[/cyan]", soft_wrap=True)


def _share(part: int | None, whole: int) -> str:
    return "" if part is None else f"{part:,} ({part / whole:.1%})"


def _anonymize_command(profiled: Profile, source: str, database: str | None) -> str:
    words = ["kanon", "anonymize", source]
    if database:
        words += ["--database", "postgresql://…" if names_a_server(database) else database]
    if profiled.identifiers:
        words += ["--identifiers", _columns(profiled.identifiers)]
    if profiled.unit:
        words += ["--unit", profiled.unit.column]
    words += ["--quasi-identifiers", _columns(profiled.quasi_identifiers), "--hierarchies", "FOLDER"]
    if profiled.sensitive:
        words += ["--sensitive", _columns(profiled.sensitive)]
    if profiled.kept:
        suspects = {suspect.column for suspect in profiled.suspects}
        words += ["--keep", _columns([name for name in profiled.kept if name not in suspects])]
    return shlex.join([*words, "--output", "release.parquet"])


def _columns(names: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()
