"""`kanon hierarchy build|check|show`."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any

import typer

from kanon_sql.cli import options as o
from kanon_sql.cli import show
from kanon_sql.engines.duckdb import files
from kanon_sql.errors import SpecError
from kanon_sql.frequency import fitting
from kanon_sql.generalization import hierarchy as h
from kanon_sql.release import publish as release
from kanon_sql.spec import parse
from kanon_sql.staging import Staging
from kanon_sql.verbs.problem import check_roles
from kanon_sql.verbs.source import column_values, opened

hierarchy_app = typer.Typer(
    help="Build, check and show hierarchies: what each value becomes, level by level.", no_args_is_help=True
)

Column = Annotated[str, typer.Option(help="The column it is for.")]
File = Annotated[Path, typer.Argument(help="A hierarchy file: value;level1;…;*")]
Separator = Annotated[
    str | None, typer.Option(help="What stands between the fields (default: told by the first line).")
]
Header = Annotated[bool, typer.Option("--header", help="The first line names the levels.")]


@hierarchy_app.command()
def build(
    source: o.NeededSource,
    column: Column,
    output: Annotated[Path, typer.Option(help="The file to write.")],
    database: o.Database = None,
    ranges: Annotated[str | None, typer.Option(help="Widths of number ranges, as in 5,10,20.")] = None,
    top: Annotated[float | None, typer.Option(help="Numbers from here on become one range.")] = None,
    bottom: Annotated[float | None, typer.Option(help="Numbers below become one range.")] = None,
    origin: Annotated[float, typer.Option(help="Where the ranges start to count.")] = 0,
    redact: Annotated[str | None, typer.Option(help="Hide characters from the right or the left.")] = None,
    step: Annotated[int, typer.Option(min=1, help="Characters hidden per level.")] = 1,
    dates: Annotated[str | None, typer.Option(help="Date parts, as in month,quarter,year.")] = None,
    taxonomy: Annotated[Path | None, typer.Option(help="A file of child and parent.")] = None,
    suppress: Annotated[bool, typer.Option("--suppress", help="One step, from the value to *.")] = False,
    overwrite: o.Overwrite = False,
) -> None:
    """Build a hierarchy from a column's values and write it as a file, to be read, edited and kept."""
    recipes: list[Any] = []
    if ranges is not None:
        bounds = {"top": top, "bottom": bottom, "origin": origin}
        recipes.append({"ranges": _numbers(ranges), **{key: _exact(x) for key, x in bounds.items() if x is not None}})
    if redact is not None:
        recipes.append({"redact": redact, "step": step})
    if dates is not None:
        recipes.append({"dates": o.names(dates)})
    if taxonomy is not None:
        recipes.append({"taxonomy": str(taxonomy)})
    if suppress:
        recipes.append("suppress")
    if len(recipes) != 1:
        raise SpecError("give exactly one of --ranges, --redact, --dates, --taxonomy and --suppress")
    release.check_file(output, overwrite, files(source))
    made = _fitted(source, database, column, recipes[0])
    _write(made, output, overwrite)
    show.hierarchy(made, str(output), rows=8)


def _numbers(text: str) -> list[int | float]:
    try:
        return [_exact(float(part)) for part in text.split(",")]
    except ValueError:
        raise SpecError(f"--ranges {text}: give widths with commas between, as in 5,10,20") from None


def _exact(number: float) -> int | float:
    return int(number) if number.is_integer() else number


def _fitted(source: str, database: str | None, column: str, recipe: Any) -> h.Hierarchy:
    spec = parse({"source": source, "database": database, "quasi_identifiers": {column: {"hierarchy": recipe}}})
    with opened(source, spec) as found:
        check_roles(spec, found.table)
        fit = fitting.fits(spec, found.table, found.engine)[column]
        values = column_values(found, column)
        return h.cover(fit.build(values), values, column)


def _write(made: h.Hierarchy, output: Path, overwrite: bool) -> None:
    with Staging() as staging:
        with staging.file(output, overwrite) as path, path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";", lineterminator="\n").writerows(made.rows())
        staging.place()


@hierarchy_app.command()
def check(
    file: File,
    source: Annotated[str | None, typer.Argument(help="A file or table that it should cover.")] = None,
    column: Annotated[str | None, typer.Option(help="The column it is for (default: the file's name).")] = None,
    database: o.Database = None,
    separator: Separator = None,
    header: Header = False,
) -> None:
    """Check that a file is a hierarchy, and that it covers every value of a column."""
    name = column or file.stem
    recipe = {"file": str(file), "header": header} | ({"separator": separator} if separator else {})
    if source is None:
        found = fitting.read_hierarchy(file, separator, header)
        show.out.print(f"[green]{file} is a hierarchy[/green]: {found.leaf_count:,} values, height {found.height}")
        return
    covered = _fitted(source, database, name, recipe)
    show.out.print(
        f"[green]{file} covers {name} of {source}[/green]: {covered.leaf_count:,} values, height {covered.height}"
    )


@hierarchy_app.command("show")
def show_(
    file: File,
    rows: Annotated[int, typer.Option(min=1, help="Values to show.")] = 12,
    separator: Separator = None,
    header: Header = False,
) -> None:
    """Show a hierarchy file: its levels, and what some of its values become."""
    show.hierarchy(fitting.read_hierarchy(file, separator, header), str(file), rows)
