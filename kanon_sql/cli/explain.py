"""`kanon explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.syntax import Syntax

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import takes
from kanon_sql.cli.output import out, show_result, watching
from kanon_sql.verbs.explain import Explanation
from kanon_sql.verbs.explain import explain as run
from kanon_sql.verbs.options import SearchOptions


@takes(o.SOURCE, o.SPEC, *o.of(SearchOptions, "strategy", "evaluations", "seed"), o.LATTICE_SEARCH, o.SEARCH_IN, o.JSON)
def explain(source: str | None, spec: Path | None, search_in: Any, as_json: bool | None, **overrides: Any) -> None:
    with watching() as watch:
        explained = run(source, spec, observer=watch, search_in=search_in, **overrides)
    show_result(explained, as_json, _show)


def _show(explained: Explanation) -> None:
    """Print the statements of a run in order, with their results and plans."""
    for number, step in enumerate(explained.steps, start=1):
        out.print(f"\n[bold]{number}. {step.name}[/bold] ({step.engine}): {escape(step.sentence)}")
        if step.sql:
            out.print(_highlighted(step.sql))
        out.print(f"[green]result:[/green] {escape(step.outcome)}")
        if step.plan:
            out.print(escape(step.plan), style="dim")
    if explained.statement:
        out.print("\n[bold]The release as one statement[/bold], as printed by `--sql`, to run separately")
        out.print(_highlighted(explained.statement))


def _highlighted(sql: str) -> Syntax:
    return Syntax(f"{sql};", "sql", theme="ansi_dark", background_color="default", word_wrap=out.is_terminal)
