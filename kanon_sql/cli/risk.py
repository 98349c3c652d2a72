"""`kanon risk`."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Option, takes
from kanon_sql.cli.profile import LARGEST_SET
from kanon_sql.cli.show import grid, out, promised, warn, watching
from kanon_sql.errors import SpecError
from kanon_sql.report.numbers import figure
from kanon_sql.risk.table import TableRisk
from kanon_sql.verbs.options import RiskOptions
from kanon_sql.verbs.risks import FIGURES, Risks
from kanon_sql.verbs.risks import risks as run

RELEASE = Option(
    "release", "The release that was made of the source, to show both side by side: a file, or a table.", "Data"
)
POPULATION = Option(
    "population",
    "A table or file of the people that the rows were drawn from, with the quasi-identifiers: for the journalist's "
    "risk.",
    "Data",
)
SAMPLING_FRACTION = Option(
    "sampling_fraction",
    "The rows of the source over those of the population, to estimate how much of it is unique.",
    "Data",
    float,
)


def _bound(text: str) -> tuple[str, float]:
    """Read `0.09` or `mean=0.05` as a figure and the most that it may be.

    >>> _bound("0.09"), _bound("mean=0.05")
    (('highest', 0.09), ('mean', 0.05))
    """
    name, _, number = text.rpartition("=")
    try:
        most = float(number)
    except ValueError:
        most = -1
    if not 0 <= most <= 1 or (name or "highest") not in FIGURES:
        raise SpecError(
            f"--fail-above takes RISK, 0 to 1, or FIGURE=RISK, FIGURE of {', '.join(FIGURES)}; got {text!r}"
        )
    return name or "highest", most


FAIL_ABOVE = Option(
    "fail_above",
    "Exit with 1 if the highest prosecutor's risk of what would go out, the release where one is given, is above this, "
    f"0 to 1; mean=0.05 means another figure: {', '.join(FIGURES)}.",
    "Output",
    read=_bound,
)


@takes(
    o.SOURCE,
    RELEASE,
    POPULATION,
    SAMPLING_FRACTION,
    o.SPEC,
    *o.of(RiskOptions),
    replace(LARGEST_SET, default=2),
    FAIL_ABOVE,
    o.JSON,
)
def risk(
    source: str | None,
    spec: Path | None,
    fail_above: tuple[str, float] | None,
    as_json: bool | None,
    **overrides: Any,
) -> None:
    """A release alone may be the source. Counts and shares only, never a value of anybody. Nothing is written."""
    with watching() as watch:
        seen = run(source, spec, observer=watch, **overrides)
    found = seen.figure(fail_above[0]) if fail_above else 0.0
    if as_json:
        print(json.dumps(seen.to_dict(), indent=2))
    else:
        _show(seen)
    if fail_above and found > fail_above[1]:
        if not as_json:
            out.print(f"\n[red]The {fail_above[0]} risk is {figure(found)}, above {fail_above[1]:g}.[/red]")
        raise typer.Exit(1)


_WIDTH, _LABEL, _CELL = 79, 46, 16
_SETS = 10  # that are shown; all are in the JSON


def _show(seen: Risks) -> None:
    """Everything in short tables, each with what its figures mean."""
    roles = ("source", "release")[: len(seen.tables)]
    _sentence(f"Quasi-identifiers: {', '.join(seen.quasi_identifiers)}.", "")
    _line("", list(roles))
    _of_each(seen, "rows", lambda t: f"{t.classes.rows:,}")
    if seen.source.people_unknown:
        _line("people", ["not known", "not known"])
    if seen.source.unit:
        _of_each(seen, f"people, by {seen.source.unit}", lambda t: _count(t.classes.people))
    _of_each(seen, "classes", lambda t: f"{t.classes.number:,}")
    if seen.suppressed_rows is not None:
        _line("suppressed rows", ["", f"{seen.suppressed_rows:,}"])
        _sentence(seen.meanings["suppressed"])
    _show_verdict(seen)
    _show_sizes(seen)
    _show_risks(seen)
    for column in (each.column for each in seen.source.sensitive):
        _show_sensitive(seen, column)
    if not seen.source.sensitive:
        _heading("Sensitive columns", "None was named; name them with --sensitive to see what classes tell of them.")
    _show_columns(seen, roles)
    _show_norms(seen, roles)
    _show_identifiers(seen, roles)
    warn(seen.notes)


def _show_verdict(seen: Risks) -> None:
    _heading("Verdict", seen.meanings["verdict"])
    by = " of rows" if seen.source.people_unknown else ""
    _of_each(seen, f"largest k{by} that holds", lambda t: f"{t.classes.smallest:,}")
    for index, finding in enumerate(seen.source.findings):
        asked = {"model": finding.model, "required": finding.required}
        found = [table.findings[index] for table in seen.tables]
        _line(f"{promised([asked])}{', by rows' if by else ''}", ["yes" if each.holds else "no" for each in found])
        if not all(each.holds for each in found):
            _line("  classes that fail", [_count(each.unsafe_classes) for each in found])
            _line("  rows in them", [_count(each.unsafe_rows) for each in found])


def _show_sizes(seen: Risks) -> None:
    _heading("Class sizes", seen.meanings["class_sizes"])
    people = seen.source.unit is not None
    titles = ["classes", "rows", *(["people"] if people else [])]
    for table, role in zip(seen.tables, ("source", "release"), strict=False):
        grid = _grid(role, *titles)
        for band in table.classes.bands:
            grid.add_row(band.sizes, *(_count(each) for each in (band.classes, band.rows, band.people)[: len(titles)]))
        out.print(grid, soft_wrap=False)


def _show_risks(seen: Risks) -> None:
    _heading("Risk of being found", "1 is certain; 0.2 is one right guess in five.")
    _of_each(seen, "prosecutor, highest", lambda t: _figure(t.classes.highest), "highest")
    _of_each(seen, "prosecutor, mean", lambda t: _figure(t.classes.mean), "mean")
    for index, above in enumerate(seen.source.classes.above):
        counted = "people" if seen.source.unit else "rows"
        _line(f"  {counted} above {above.risk}", [_share(table, index) for table in seen.tables])
    _sentence(seen.meanings["above"])
    _of_each(seen, "marketer", lambda t: _figure(t.classes.mean), "marketer")
    for name in seen.source.journalist:
        _line(f"journalist, {name}", [_figure(table.journalist[name]) for table in seen.tables])
    if seen.source.journalist:
        _sentence(seen.meanings["journalist"])
    else:
        _line("journalist", ["not known"])
        _sentence("It needs the population that the rows were drawn from: --population.")
    if seen.source.uniqueness is not None or seen.last.uniqueness is not None:
        _of_each(seen, "unique in the population", lambda t: _figure(t.uniqueness), "uniqueness")


def _share(table: TableRisk, index: int) -> str:
    above = table.classes.above[index]
    return f"{above.rows if above.people is None else above.people:,} ({above.share:.1%})"


def _show_sensitive(seen: Risks, column: str) -> None:
    def of(read: Callable[[Any], str]) -> Callable[[TableRisk], str]:
        return lambda table: next(read(each) for each in table.sensitive if each.column == column)

    _heading(f"Sensitive: {column}", "What a class tells of this column, in the worst class or on average.")
    _of_each(seen, "l, distinct values", of(lambda s: _count(s.distinct_l)), "distinct_l")
    _of_each(seen, "l, by entropy", of(lambda s: _figure(s.entropy_l)), "entropy_l")
    _of_each(seen, "t, equal distance", of(lambda s: _figure(s.t_equal)))
    if any(each.t_ordered is not None for each in (*seen.source.sensitive, *seen.last.sensitive)):
        _of_each(seen, "t, ordered distance", of(lambda s: _figure(s.t_ordered)))
    _sentence(seen.meanings["t"])
    _of_each(seen, "homogeneous classes", of(lambda s: _count(s.homogeneous_classes)))
    _of_each(seen, "  rows in them", of(lambda s: _count(s.homogeneous_rows)))
    if seen.source.unit:
        _of_each(seen, "  people in them", of(lambda s: _count(s.homogeneous_people)))
    _sentence(seen.meanings["homogeneous"])
    _of_each(seen, "guessed by the class", of(lambda s: _figure(s.attribution)))
    _of_each(seen, "guessed without it", of(lambda s: _figure(s.guess)))
    _of_each(seen, "certain, people" if seen.source.unit else "certain, rows", of(lambda s: _count(s.certain)))
    _sentence(seen.meanings["attribution"])


def _show_columns(seen: Risks, roles: Sequence[str]) -> None:
    said = " ".join(seen.meanings[name] for name in ("distinction", "separation", "unique_without"))
    _heading("Columns, the most identifying first", said)
    grid = _grid("column", "in", "distinction", "separation", "unique rows", "without it")
    for role, table in zip(roles, seen.tables, strict=True):
        for each in table.separations.columns:
            shown = (_figure(each.distinction), _figure(each.separation), f"{each.unique_rows:,}")
            grid.add_row(escape(", ".join(each.columns)), role, *shown, _count(each.unique_without))
    out.print(grid, soft_wrap=False)
    for role, table in zip(roles, seen.tables, strict=True):
        _line(f"rows unique by all, in the {role}", [f"{table.separations.unique_rows:,}"])
    if not any(table.separations.sets for table in seen.tables):
        return
    many = max(len(table.separations.sets) for table in seen.tables)
    _heading("Small sets of columns", f"The {min(many, _SETS)} most identifying of {many:,}; --json has all.")
    grid = _grid("together", "in", "distinction", "separation", "unique rows")
    for role, table in zip(roles, seen.tables, strict=True):
        for each in table.separations.sets[:_SETS]:
            shown = (_figure(each.distinction), _figure(each.separation), f"{each.unique_rows:,}")
            grid.add_row(escape(", ".join(each.columns)), role, *shown)
    out.print(grid, soft_wrap=False)


def _show_norms(seen: Risks, roles: Sequence[str]) -> None:
    _heading("Norms", seen.meanings["norms"])
    words = {True: "yes", False: "no", None: "-"}
    named = dict.fromkeys((each.name, each.rule, each.asked) for table in seen.tables for each in table.norms)
    for name, rule, asked in named:
        _sentence(f"{name}, {rule}: {asked}", "")
        for role, table in zip(roles, seen.tables, strict=True):
            for each in table.norms:
                if (each.name, each.rule, each.asked) == (name, rule, asked):
                    _sentence(f"{words[each.met]:<4} {role}: {each.found}", "  ")


def _show_identifiers(seen: Risks, roles: Sequence[str]) -> None:
    _heading("Identifiers", seen.meanings["identifiers"])
    grid = _grid("column", "in", "kind", "rows", "seen")
    for role, table in zip(roles, seen.tables, strict=True):
        for each in table.contents.identifiers:
            about = "about " if each.sampled else ""
            rows = f"{about}{each.rows:,} ({each.share:.1%})"
            grid.add_row(escape(each.column), role, f"{each.letter} {each.kind}", rows, f"it {each.said}")
    if grid.row_count:
        out.print(grid, soft_wrap=False)
    else:
        out.print("None seen.")


def _grid(*titles: str) -> Table:
    return grid(*titles, right=_NUMBERS)


_NUMBERS = ("classes", "rows", "people", "distinction", "separation", "unique rows", "without it")


def _heading(title: str, said: str) -> None:
    out.print(f"\n[bold]{escape(title)}[/bold]")
    _sentence(said, "")


def _of_each(seen: Risks, label: str, read: Callable[[TableRisk], str], meaning: str | None = None) -> None:
    """One figure of each table, and what it means."""
    _line(label, [read(table) for table in seen.tables])
    if meaning:
        _sentence(seen.meanings[meaning])


def _line(label: str, cells: Sequence[str]) -> None:
    if len(label) >= _LABEL:  # a long name has a line of its own
        _sentence(label, "")
        label = ""
    out.print(escape(f"{label:<{_LABEL}}{''.join(f'{cell:>{_CELL}}' for cell in cells)}".rstrip()), soft_wrap=True)


def _sentence(text: str, indent: str = "    ") -> None:
    filled = textwrap.fill(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    out.print(escape(filled), soft_wrap=True)


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _figure(value: float | None) -> str:
    return "not known" if value is None else figure(value)
