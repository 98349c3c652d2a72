"""`kanon attack`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, Option, takes
from kanon_sql.cli.flags import in_flags
from kanon_sql.cli.show import grid, out, warn, watching
from kanon_sql.report.numbers import counted
from kanon_sql.verbs.attack import Attacks
from kanon_sql.verbs.attack import attack as run
from kanon_sql.verbs.options import AttackOptions

RELEASES = Argument(
    "releases",
    "A release: a CSV or Parquet file, or with --database a table or view; further ones are other releases of the same "
    "table. Left out, the target of --spec.",
    type=list[str],
)
_ATTACKER = "Attacker"
SOURCE = Option("source", "The table that the release was made of: it tells which guesses are right.", _ATTACKER)
AUXILIARY = Option("auxiliary", "A table of people, with their names say, that an attacker may have.", _ATTACKER)
CONTROL = Option(
    "control", "People like those of the source who are not in the release: what is right of them too.", _ATTACKER
)
PRIORS = Option(
    "priors", "A table of values and the `share` of people, by their other columns, who have it.", _ATTACKER
)
PREVIOUS = Option("previous", "An earlier release of the same table.", _ATTACKER)
ONLY = Option(
    "only", "The attacks to try, such as homogeneity,linkage (default: all that can be).", _ATTACKER, read=o.names
)
ATTEMPTS = Option(
    "attempts", "People to attack, where an attack draws some.", _ATTACKER, int, default=2000, limits={"min": 1}
)
FAIL_ABOVE = Option(
    "fail_above",
    "Exit with 1 if an attack is right more often than this, 0 to 1, above what chance gives.",
    "Output",
    float,
    limits={"min": 0, "max": 1},
)


@takes(
    RELEASES,
    SOURCE,
    AUXILIARY,
    CONTROL,
    PRIORS,
    PREVIOUS,
    ONLY,
    ATTEMPTS,
    o.SPEC,
    *o.of(AttackOptions),
    FAIL_ABOVE,
    o.JSON,
)
def attack(
    releases: list[str] | None, spec: Path | None, fail_above: float | None, as_json: bool | None, **overrides: Any
) -> None:
    """Counts and shares only, never a value of anybody. Nothing is written."""
    with watching() as watch:
        attacks = run(*(releases or ()), spec=spec, observer=watch, **overrides)
    if as_json:
        print(json.dumps(attacks.to_dict(), indent=2))
    else:
        _show(attacks)
    if fail_above is not None and attacks.worst > fail_above:
        raise typer.Exit(1)


def _show(attacks: Attacks) -> None:
    """Print a row of figures for every attack, then a sentence on it."""
    with_control = any(outcome.on_control for outcome in attacks.outcomes)
    control_header = ["control"] if with_control else []
    table = grid("attack", "on", "succeeds with", "right", *control_header, "by chance", "above chance")
    for outcome in attacks.outcomes:
        cells = [
            escape(outcome.name),
            escape(outcome.column or ""),
            counted(outcome.affected, outcome.counted),
            f"{outcome.share:.1%}",
        ]
        if with_control:
            cells.append(f"{outcome.on_control.share:.1%}" if outcome.on_control else "")
        cells.append("" if outcome.baseline is None and outcome.beyond is None else f"{outcome.chance:.1%}")
        table.add_row(*cells, f"{outcome.excess:.1%}")
    out.print(table, soft_wrap=False)
    for outcome in attacks.outcomes:
        of_column = f" of {outcome.column}" if outcome.column else ""
        out.print(f"\n[bold]{escape(outcome.name)}[/bold]{escape(of_column)}")
        out.print(f"  {escape(outcome.sentence)}")
        if outcome.avoid and outcome.excess:
            out.print(f"  [cyan]To avoid it[/cyan]: {escape(outcome.avoid)}.")
    for name, needs in attacks.skipped:
        for option in (SOURCE, AUXILIARY, PRIORS, PREVIOUS):
            needs = needs.replace(f"`{option.name}`", option.spelled)
        out.print(f"\nNot tried: {escape(name)}; it needs {escape(in_flags(needs))}.")
    warn(attacks.notes)
