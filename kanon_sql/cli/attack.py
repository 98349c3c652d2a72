"""`kanon attack`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, Option, takes
from kanon_sql.cli.flags import in_flags
from kanon_sql.cli.output import grid, out, show_result, warn, watching
from kanon_sql.report.numbers import counted
from kanon_sql.verbs.attack import Attacks
from kanon_sql.verbs.attack import attack as run
from kanon_sql.verbs.options import AttackOptions

RELEASES = Argument(
    "releases",
    "The release to attack, a CSV or Parquet file or with --database a table or view, and any other releases of the "
    "same table. By default the target of --spec.",
    type=list[str],
)
_ATTACKER = "Attacker"
SOURCE = Option("source", "The table from which the release was created, to check which guesses are right.", _ATTACKER)
AUXILIARY = Option("auxiliary", "A table of people that an attacker could have, for example with names.", _ATTACKER)
CONTROL = Option(
    "control",
    "A table of comparable people who are not in the release. What attacks guess right about them is not counted as a "
    "leak.",
    _ATTACKER,
)
PRIORS = Option(
    "priors",
    "Background knowledge: a table of sensitive values, with the `share` of people that have them, by its other "
    "columns.",
    _ATTACKER,
)
PREVIOUS = Option("previous", "An earlier release of the same table.", _ATTACKER)
ONLY = Option(
    "only",
    "The attacks to run, such as homogeneity,linkage (default: all that have the tables they need).",
    _ATTACKER,
    read=o.names,
)
ATTEMPTS = Option(
    "attempts",
    "Number of people to attack, in attacks on a random sample.",
    _ATTACKER,
    int,
    default=2000,
    limits={"min": 1},
)
FAIL_ABOVE = Option(
    "fail_above",
    "Exit with 1 if the success of an attack above chance exceeds this limit, 0 to 1.",
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
    """Prints only counts and shares, never the values of a person. Nothing is written."""
    with watching() as watch:
        attacks = run(*(releases or ()), spec=spec, observer=watch, **overrides)
    show_result(attacks, as_json, _show)
    if fail_above is not None and attacks.worst > fail_above:
        raise typer.Exit(1)


def _show(attacks: Attacks) -> None:
    """Print a row of figures for every attack, then a sentence on it."""
    with_control = any(outcome.on_control for outcome in attacks.outcomes)
    control_header = ["control"] if with_control else []
    table = grid("attack", "on", "affected", "right", *control_header, "by chance", "above chance")
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
        out.print(f"\nNot run: {escape(name)}; it needs {escape(in_flags(needs))}.")
    warn(attacks.notes)
