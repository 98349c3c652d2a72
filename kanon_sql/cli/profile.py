"""`kanon profile`."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Sequence
from typing import Any

from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Option, takes
from kanon_sql.cli.show import grid, out, warn, watching
from kanon_sql.spec import names_a_server
from kanon_sql.verbs.profile import Profile
from kanon_sql.verbs.profile import profile as run

LARGEST_SET = Option(
    "largest_set", "The most columns to look at together.", type=int, default=3, limits={"min": 1, "max": 4}
)
TIME_LIMIT = Option(
    "time_limit", "Seconds to spend; then what is known so far is shown.", type=float, default=30.0, limits={"min": 0}
)


@takes(o.NEEDED_SOURCE, *o.PLACES, LARGEST_SET, TIME_LIMIT, o.JSON)
def profile(source: str, largest_set: int, time_limit: float, as_json: bool | None, **places: Any) -> None:
    with watching() as watch:
        seen = run(source, largest_set=largest_set, time_limit=time_limit, observer=watch, **places)
    if as_json:
        print(json.dumps(seen.to_dict(), indent=2))
    else:
        _show(seen, source, places["database"])


def _show(seen: Profile, source: str, database: str | None) -> None:
    """Show what a table's columns and small sets of them give away, and what to do about it."""
    out.print(f"{seen.rows:,} rows, {len(seen.columns)} columns")
    columns = grid("column", "type", "different", "unique rows", "suggested")
    for c in seen.columns:
        counts = ("", "") if c.distinct is None else (f"{c.distinct:,}", _share(c.unique_rows, c.unique_share))
        columns.add_row(escape(c.name), escape(c.type), *counts, c.suggestion)
    out.print(columns, soft_wrap=False)
    out.print("\nWhy:")
    for c in seen.columns:
        if c.reason:
            out.print(f"  {escape(c.name)}: {escape(c.reason)}")
    if seen.suspects:
        out.print("\nFound in columns without a role, which a release has only if --keep names them:")
    for suspect in seen.suspects:
        out.print(f"  {escape(suspect.column)}: {escape(suspect.reason)}")
    sets = grid("together", "different", "unique rows", "in classes < 5")
    for each in seen.sets[:_SETS]:
        unique = _share(each.unique_rows, each.unique_share)
        small = _share(each.small_rows, each.small_share)
        sets.add_row(escape(", ".join(each.columns)), f"{each.combinations:,}", unique, small)
    if seen.sets:
        out.print(f"\nThe most identifying of {len(seen.sets):,} small sets:")
        out.print(sets, soft_wrap=False)
    if seen.together:
        unique = _share(seen.together.unique_rows, seen.together.unique_share)
        out.print(f"\nOn all suggested quasi-identifiers together, {unique} of the rows are unique.")
    warn(seen.notes)
    if seen.quasi_identifiers:
        out.print("\n[bold]Next[/bold]")
        out.print(f"  [cyan]{escape(_anonymize_command(seen, source, database))}[/cyan]", soft_wrap=True)


_SETS = 10


def _share(rows: int | None, share: float | None) -> str:
    return "" if rows is None or share is None else f"{rows:,} ({share:.1%})"


def _anonymize_command(seen: Profile, source: str, database: str | None) -> str:
    words = ["kanon", "anonymize", source]
    words += ["--database", "postgresql://…" if names_a_server(database) else database] if database else []
    words += ["--identifiers", _columns(seen.identifiers)] if seen.identifiers else []
    words += ["--quasi-identifiers", _columns(seen.quasi_identifiers), "--hierarchies", "FOLDER"]
    words += ["--sensitive", _columns(seen.sensitive)] if seen.sensitive else []
    suspected = {suspect.column for suspect in seen.suspects}
    kept = [name for name in seen.kept if name not in suspected]
    words += ["--keep", _columns(kept)] if seen.kept else []
    return shlex.join([*words, "--output", "release.parquet"])


def _columns(names: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()
