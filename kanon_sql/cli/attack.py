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
_GIVEN = "Attacker"
SOURCE = Option("source", "The table that the release was made of: it tells which guesses are right.", _GIVEN)
AUXILIARY = Option("auxiliary", "A table of people, with their names say, that an attacker may have.", _GIVEN)
CONTROL = Option(
    "control", "People like those of the source who are not in the release: what is right of them too.", _GIVEN
)
PRIORS = Option("priors", "A table of values and the `share` of people, by their other columns, who have it.", _GIVEN)
PREVIOUS = Option("previous", "An earlier release of the same table.", _GIVEN)
ONLY = Option(
    "only", "The attacks to try, such as homogeneity,linkage (default: all that can be).", _GIVEN, read=o.names
)
ATTEMPTS = Option(
    "attempts", "People to attack, where an attack draws some.", _GIVEN, int, default=2000, limits={"min": 1}
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
        tried = run(*(releases or ()), spec=spec, observer=watch, **overrides)
    if as_json:
        print(json.dumps(tried.to_dict(), indent=2))
    else:
        _show(tried)
    if fail_above is not None and tried.worst > fail_above:
        raise typer.Exit(1)


def _show(tried: Attacks) -> None:
    """A line of figures and a sentence per attack."""
    beside = ["control"] if any(each.on_control for each in tried.outcomes) else []
    columns = ("attack", "on", "succeeds with", "right", *beside, "by chance", "above chance")
    table = grid(*columns)
    for each in tried.outcomes:
        chance = "" if each.baseline is None and each.beyond is None else f"{each.chance:.1%}"
        control = [f"{each.on_control.share:.1%}" if each.on_control else ""] if beside else []
        cells = (counted(each.affected, each.counted), f"{each.share:.1%}", *control, chance, f"{each.excess:.1%}")
        table.add_row(escape(each.name), escape(each.column or ""), *cells)
    out.print(table, soft_wrap=False)
    for each in tried.outcomes:
        out.print(f"\n[bold]{escape(each.name)}[/bold]{escape(f' of {each.column}' if each.column else '')}")
        out.print(f"  {escape(each.sentence)}")
        if each.avoid and each.excess:
            out.print(f"  [cyan]To avoid it[/cyan]: {escape(each.avoid)}.")
    for name, needs in tried.skipped:
        out.print(f"\nNot tried: {escape(name)}; it needs {escape(_flagged(needs))}.")
    warn(tried.notes)


def _flagged(needs: str) -> str:
    """What an attack needs, with the flags of this command too."""
    for option in (SOURCE, AUXILIARY, PRIORS, PREVIOUS):
        needs = needs.replace(f"`{option.name}`", option.spelled)
    return in_flags(needs)
