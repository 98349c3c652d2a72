"""`kanon hierarchy build|check|show`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, Option, takes
from kanon_sql.cli.output import grid, out, sample
from kanon_sql.errors import SpecError
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.report.numbers import counted
from kanon_sql.spec import RECIPES, Keyword, read_value
from kanon_sql.verbs import hierarchies
from kanon_sql.verbs.options import PlaceOptions

COLUMN = Option("column", "The column of the hierarchy.", default=...)
A_COLUMN = replace(COLUMN, help="The column of the hierarchy (default: the file's name).", default=None)
FILE = Argument("file", "A hierarchy file: value;level1;…;*", type=Path, default=...)
COVERED = Argument("source", "A file or table whose values the hierarchy must cover.")


def _numbers(
    text: str, flag: str = "--ranges", form: str = "widths separated by commas, as in 5,10,20"
) -> list[int | float]:
    try:
        return [_exact(float(part)) for part in text.split(",")]
    except ValueError:
        raise SpecError(f"{flag} {text}: give {form}") from None


def _whole(text: str) -> list[int]:
    if not re.fullmatch(r"\s*\d+\s*(,\s*\d+\s*)*", text):
        raise SpecError(f"{text!r} is not a list of whole numbers; separate them with commas, as in 4,3,2")
    return [int(part) for part in text.split(",")]


def _levels(text: str) -> list[list[int | float]]:
    """Read `1,10,100;10`: the edges of the levels, with semicolons between levels."""
    return [
        _numbers(level, "--edges", "edges separated by commas, and levels separated by `;`")
        for level in text.split(";")
    ]


def _exact(number: float) -> int | float:
    return int(number) if number.is_integer() else number


_FORMS = {  # by key, for the keys of recipes that have an option
    "ranges": o.OptionForm("For example 5,10,20.", read=_numbers),
    **dict.fromkeys(("top", "bottom", "origin"), o.OptionForm(type=float, read=_exact)),
    "edges": o.OptionForm("For example 1,10,100;10.", read=_levels),
    "redact": o.OptionForm("Give right or left.", str),
    "step": o.OptionForm(limited=True),
    "prefix": o.OptionForm("For example 4,3,2.", read=_whole),
    "pad": o.OptionForm(limited=True),
    "networks": o.OptionForm("For example 24,16,8.", read=_whole),
    "dates": o.OptionForm("For example month,quarter,year."),
    "age": o.OptionForm("For example 2026-01-01.", str),
    "bands": o.OptionForm("For example 1,5,10 (default 1,5,10,20).", read=_whole),
    "taxonomy": o.OptionForm(type=Path, read=str),
    "known": o.OptionForm(),
    "groups": o.OptionForm(
        "Written as in a spec, for example {Higher: [Bachelors, Masters]}, or a list of such levels.",
        read=lambda text: read_value(f"{{groups: {text}}}")["groups"],
    ),
}
_RECIPES = ("ranges", "edges", "redact", "prefix", "networks", "dates", "age", "taxonomy", "known", "groups")
_PARTS = {name: [key for key in RECIPES[name].model_fields if key in _FORMS] for name in _RECIPES}


def _options(recipe: str, *keys: str) -> list[Option]:
    """The options for keys of a recipe."""
    fields = RECIPES[recipe].model_fields
    options = [o.option(Keyword(key, key, "", fields[key], ""), _FORMS.get(key, o.OptionForm())) for key in keys]
    return [option for option in options if option]


SEPARATOR, HEADER = _options("file", "separator", "header")


@takes(
    o.NEEDED_SOURCE,
    COLUMN,
    replace(o.OUTPUT, help="The file to write.", panel=None, type=Path, default=...),
    *o.PLACES,
    *(option for name in _RECIPES for option in _options(name, *_PARTS[name]) if (name, option.name) != ("age", "top")),
    Option("suppress", "A hierarchy with one step, from the value to *.", type=bool),
    o.OVERWRITE,
)
def build(source: str, column: str, output: Path, overwrite: bool | None, **options: Any) -> None:
    places = {name: options.pop(name) for name in PlaceOptions.__annotations__}
    built = hierarchies.build(source, column, _recipe(**options), output=output, overwrite=bool(overwrite), **places)
    _show(built.hierarchy, str(output), rows=8)


def _recipe(suppress: bool | None, **options: Any) -> Any:
    """The one recipe that the options describe, in the form of a spec."""
    named = [name for name in _RECIPES if options[name] is not None]
    if len(named) + bool(suppress) != 1:
        *first, last = [*(f"--{name}" for name in _RECIPES), "--suppress"]
        raise SpecError(f"give exactly one of {', '.join(first)} and {last}")
    if suppress:
        return "suppress"
    return {key: options[key] for key in _PARTS[named[0]] if options[key] is not None}


@takes(FILE, COVERED, A_COLUMN, *o.PLACES, SEPARATOR, HEADER)
def check(file: Path, source: str | None, column: str | None, header: bool | None, **options: Any) -> None:
    checked = hierarchies.check(file, source, column, header=bool(header), **options)
    result = "is a hierarchy" if source is None else f"covers {checked.column} of {source}"
    size = f"{checked.hierarchy.leaf_count:,} values, height {checked.height}"
    out.print(f"[green]{escape(f'{file} {result}')}[/green]: {size}")


@takes(FILE, Option("rows", "Number of values to show.", type=int, default=12, limits={"min": 1}), SEPARATOR, HEADER)
def show(file: Path, rows: int, separator: str | None, header: bool | None) -> None:
    _show(hierarchies.show(file, separator=separator, header=bool(header)).hierarchy, str(file), rows)


SUBCOMMANDS = {
    "build": (
        build,
        "Build a hierarchy from the values of a column, and write it to a file that you can review and edit.",
    ),
    "check": (check, "Check that a file is a hierarchy, and that it covers every value of a column."),
    "show": (show, "Show a hierarchy file: its levels, and the labels of some of its values."),
}


def _show(hierarchy: Hierarchy, name: str, rows: int) -> None:
    """Print the number of labels per level, and the labels of some values at all levels."""
    levels = range(hierarchy.height + 1)
    out.print(f"{escape(name)}: {hierarchy.leaf_count:,} values, height {hierarchy.height}")
    counts = grid("level", "labels", "largest label")
    for level in levels:
        largest = max(hierarchy.leaves(level), default=0)
        counts.add_row(str(level), f"{len(hierarchy.distinct_labels(level)):,}", counted(largest, "values"))
    out.print(counts, soft_wrap=False)
    step = max(1, hierarchy.leaf_count // rows)
    leaves = range(0, hierarchy.leaf_count, step)[:rows]
    paths = [[hierarchy.labels(level)[leaf] for level in levels] for leaf in leaves]
    sample([f"level {level}" for level in levels], paths)
