"""`kanon hierarchy build|check|show`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, Option, takes
from kanon_sql.cli.show import out, sample
from kanon_sql.errors import SpecError
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.verbs import hierarchies

COLUMN = Option("column", "The column it is for.", default=...)
A_COLUMN = replace(COLUMN, help="The column it is for (default: the file's name).", default=None)
FILE = Argument("file", "A hierarchy file: value;level1;…;*", type=Path, default=...)
COVERED = Argument("source", "A file or table that it should cover.")
SEPARATOR = Option("separator", "The field separator (default: taken from the first line).")
HEADER = Option("header", "The first line names the levels.", type=bool)


def _numbers(text: str) -> list[int | float]:
    try:
        return [_exact(float(part)) for part in text.split(",")]
    except ValueError:
        raise SpecError(f"--ranges {text}: give widths with commas between them, as in 5,10,20") from None


def _exact(number: float) -> int | float:
    return int(number) if number.is_integer() else number


@takes(
    o.NEEDED_SOURCE,
    COLUMN,
    replace(o.OUTPUT, help="The file to write.", panel=None, type=Path, default=...),
    o.DATABASE,
    Option("ranges", "Widths of number ranges, as in 5,10,20.", read=_numbers),
    Option("top", "Numbers from here on become one range.", type=float, read=_exact),
    Option("bottom", "Numbers below become one range.", type=float, read=_exact),
    Option("origin", "Where the ranges start to count.", type=float, read=_exact, default=0),
    Option("redact", "Hide characters from the right or the left."),
    Option("step", "Characters hidden per level.", type=int, default=1, limits={"min": 1}),
    Option("dates", "Date parts, as in month,quarter,year.", read=o.names),
    Option("taxonomy", "A file of child and parent.", type=Path, read=str),
    Option("suppress", "One step, from the value to *.", type=bool),
    o.OVERWRITE,
)
def build(source: str, column: str, output: Path, database: str | None, overwrite: bool | None, **recipe: Any) -> None:
    made = hierarchies.build(
        source, column, _recipe(**recipe), database=database, output=output, overwrite=bool(overwrite)
    )
    _show(made.hierarchy, str(output), rows=8)


def _recipe(redact: str | None, step: int, suppress: bool | None, **asked: Any) -> Any:
    """The one recipe that is asked for, as a spec writes it."""
    bounds = {name: asked[name] for name in ("top", "bottom", "origin") if asked[name] is not None}
    recipes = [
        {"ranges": asked["ranges"], **bounds} if asked["ranges"] is not None else None,
        {"redact": redact, "step": step} if redact is not None else None,
        {"dates": asked["dates"]} if asked["dates"] is not None else None,
        {"taxonomy": asked["taxonomy"]} if asked["taxonomy"] is not None else None,
        "suppress" if suppress else None,
    ]
    given = [recipe for recipe in recipes if recipe]
    if len(given) != 1:
        raise SpecError("give exactly one of --ranges, --redact, --dates, --taxonomy and --suppress")
    return given[0]


@takes(FILE, COVERED, A_COLUMN, o.DATABASE, SEPARATOR, HEADER)
def check(file: Path, source: str | None, column: str | None, header: bool | None, **how: Any) -> None:
    checked = hierarchies.check(file, source, column, header=bool(header), **how)
    said = "is a hierarchy" if source is None else f"covers {checked.column} of {source}"
    size = f"{checked.hierarchy.leaf_count:,} values, height {checked.height}"
    out.print(f"[green]{escape(f'{file} {said}')}[/green]: {size}")


@takes(FILE, Option("rows", "Values to show.", type=int, default=12, limits={"min": 1}), SEPARATOR, HEADER)
def show(file: Path, rows: int, separator: str | None, header: bool | None) -> None:
    _show(hierarchies.show(file, separator=separator, header=bool(header)).hierarchy, str(file), rows)


SUBCOMMANDS = {
    "build": (build, "Build a hierarchy from a column's values and write it as a file, to be read, edited and kept."),
    "check": (check, "Check that a file is a hierarchy, and that it covers every value of a column."),
    "show": (show, "Show a hierarchy file: its levels, and what some of its values become."),
}


def _show(made: Hierarchy, name: str, rows: int) -> None:
    """Show a hierarchy: how many labels each level has, and the road of some values."""
    levels = range(made.height + 1)
    out.print(f"{escape(name)}: {made.leaf_count:,} values, height {made.height}")
    counts = Table("level", "labels", "largest label holds", box=None, pad_edge=False)
    for level in levels:
        counts.add_row(
            str(level), f"{len(made.distinct_labels(level)):,}", f"{max(made.leaves(level), default=0):,} values"
        )
    out.print(counts)
    step = max(1, made.leaf_count // rows)
    picked = range(0, made.leaf_count, step)
    out.print(
        sample(
            [f"level {level}" for level in levels],
            [[made.labels(level)[i] for level in levels] for i in picked][:rows],
        )
    )
