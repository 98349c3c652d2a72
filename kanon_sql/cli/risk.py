"""`kanon risk`."""

from __future__ import annotations

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
from kanon_sql.cli.output import grid, out, promised, show_result, warn, watching
from kanon_sql.cli.profile import LARGEST_SET
from kanon_sql.errors import SpecError
from kanon_sql.report.numbers import figure
from kanon_sql.risk.attribution import Sensitive
from kanon_sql.risk.known_rows import NOTHING_KNOWN, KnownRows
from kanon_sql.risk.separation import Separation
from kanon_sql.risk.table import TableRisk
from kanon_sql.verbs.options import RiskOptions
from kanon_sql.verbs.risk import FIGURES, Risks
from kanon_sql.verbs.risk import risk as run

_WIDTH = 79
_LABEL_WIDTH = 46
_CELL_WIDTH = 16
_SETS_SHOWN = 10  # the JSON has all
_NUMBERS = ("classes", "rows", "people", "distinction", "separation", "unique rows", "without it")

RELEASE = Option("release", "The release of the source, a file or a table, to show both side by side.", "Data")
POPULATION = Option(
    "population",
    "A table or file of the population from which the rows were sampled, with the quasi-identifiers, for the "
    "journalist risk.",
    "Data",
)
SAMPLING_FRACTION = Option(
    "sampling_fraction",
    "The rows of the source divided by those of the population, to estimate the uniqueness of the population.",
    "Data",
    float,
)


def _bound(text: str) -> tuple[str, float]:
    """Read `0.09` or `mean=0.05` as the name of a figure and its upper limit.

    >>> _bound("0.09"), _bound("mean=0.05")
    (('highest', 0.09), ('mean', 0.05))
    """
    name, _, number = text.rpartition("=")
    try:
        limit = float(number)
    except ValueError:
        limit = -1
    if not 0 <= limit <= 1 or (name or "highest") not in FIGURES:
        raise SpecError(
            f"--fail-above takes RISK, 0 to 1, or FIGURE=RISK with FIGURE one of {', '.join(FIGURES)}; got {text!r}"
        )
    return name or "highest", limit


FAIL_ABOVE = Option(
    "fail_above",
    "Exit with 1 if the highest prosecutor risk of the release, or of the source without a release, exceeds this, 0 to "
    f"1. To limit another figure, name it, as in mean=0.05: {', '.join(FIGURES)}.",
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
    """The source can also be a release. Prints counts and shares, never the values of a person. Nothing is written."""
    with watching() as watch:
        measured = run(source, spec, observer=watch, **overrides)
    name, limit = fail_above or ("highest", 1.0)
    found = measured.figure(name) if fail_above else 0.0  # an unknown figure is an error, before anything is printed
    show_result(measured, as_json, _show)
    if found > limit:
        if not as_json:
            out.print(f"\n[red]The {name} risk is {figure(found)}, above {limit:g}.[/red]")
        raise typer.Exit(1)


def _show(measured: Risks) -> None:
    """Print short tables, with an explanation of every figure."""
    source = measured.source
    roles = ("source", "release")[: len(measured.tables)]
    _paragraph(f"Quasi-identifiers: {', '.join(measured.quasi_identifiers)}.", "")
    _line("", roles)
    _figures(measured, "rows", lambda table: f"{table.classes.rows:,}")
    if source.people_unknown:
        _line("people", ["unknown", "unknown"])
    if source.unit:
        _figures(measured, f"people, by {source.unit}", lambda table: _count(table.classes.people))
    _figures(measured, "classes", lambda table: f"{table.classes.number:,}")
    if measured.suppressed_rows is not None:
        _line("suppressed rows", ["", f"{measured.suppressed_rows:,}"])
        _paragraph(measured.meanings["suppressed"])
    _show_verdict(measured)
    _show_sizes(measured, roles)
    _show_risks(measured)
    if source.several_rows and source.several_rows.known:
        _show_several_rows(measured)
    for sensitive in source.sensitive:
        _show_sensitive(measured, sensitive.column)
    if not source.sensitive:
        _heading("Sensitive columns", "None named. Name them with --sensitive to see what classes reveal about them.")
    _show_columns(measured, roles)
    _show_norms(measured, roles)
    _show_thresholds(measured)
    _show_identifiers(measured, roles)
    warn(measured.notes)


def _show_verdict(measured: Risks) -> None:
    _heading("Verdict", measured.meanings["verdict"])
    by_rows = measured.source.people_unknown
    _figures(
        measured,
        f"largest k{' of rows' if by_rows else ''} that is satisfied",
        lambda table: f"{table.classes.smallest:,}",
    )
    for index, model in enumerate(measured.source.findings):
        label = promised([{"model": model.model, "required": model.required}])
        findings = [table.findings[index] for table in measured.tables]
        _line(f"{label}{', by rows' if by_rows else ''}", ["yes" if finding.holds else "no" for finding in findings])
        if not all(finding.holds for finding in findings):
            _line("  classes that fail", [_count(finding.unsafe_classes) for finding in findings])
            _line("  rows in them", [_count(finding.unsafe_rows) for finding in findings])


def _show_sizes(measured: Risks, roles: Sequence[str]) -> None:
    _heading("Class sizes", measured.meanings["class_sizes"])
    titles = ["classes", "rows", "people"] if measured.source.unit else ["classes", "rows"]
    for role, table in zip(roles, measured.tables, strict=True):
        grid = _grid(role, *titles)
        for band in table.classes.bands:
            counts = [_count(band.classes), _count(band.rows), _count(band.people)]
            grid.add_row(band.sizes, *counts[: len(titles)])
        out.print(grid, soft_wrap=False)


def _show_risks(measured: Risks) -> None:
    source = measured.source
    _heading("Risk of re-identification", "1 is certain; 0.2 is one right guess in five.")
    _figures(measured, "prosecutor, highest", lambda table: _figure(table.classes.highest), "highest")
    _figures(measured, "prosecutor, mean", lambda table: _figure(table.classes.mean), "mean")
    for limits in zip(*(table.classes.above for table in measured.tables), strict=True):
        label = f"  {'people' if source.unit else 'rows'} above {limits[0].risk}"
        _line(label, [f"{over.rows if over.people is None else over.people:,} ({over.share:.1%})" for over in limits])
    _paragraph(measured.meanings["above"])
    _figures(measured, "marketer", lambda table: _figure(table.classes.mean), "marketer")
    for name in source.journalist:
        _line(f"journalist, {name}", [_figure(table.journalist[name]) for table in measured.tables])
    if source.journalist:
        _paragraph(measured.meanings["journalist"])
    else:
        _line("journalist", ["unknown"])
        _paragraph("It requires the population from which the rows were sampled: --population.")
    if source.uniqueness is not None or measured.last.uniqueness is not None:
        _figures(measured, "unique in the population", lambda table: _figure(table.uniqueness), "uniqueness")


def _show_several_rows(measured: Risks) -> None:
    """The risk if an attacker has two, or three, rows of a person."""
    _heading("Several rows of a person", measured.meanings["several_rows"])
    for rows in (risk.rows for risk in (measured.source.several_rows or NOTHING_KNOWN).known):

        def line(label: str, read: Callable[[KnownRows], str], rows: int = rows) -> None:
            tables = [table.several_rows or NOTHING_KNOWN for table in measured.tables]
            found = [next((risk for risk in table.known if risk.rows == rows), None) for table in tables]
            _line(label, ["-" if risk is None else read(risk) for risk in found])

        line(f"{rows} rows, people with as many", lambda risk: f"{risk.people:,}")
        line("  measured", _measured)
        line("  singled out", lambda risk: "-" if risk.share is None else f"{risk.singled_out:,} ({risk.share:.1%})")
        if any(risk.is_sample for table in measured.tables for risk in (table.several_rows or NOTHING_KNOWN).known):
            line("  95 % interval", lambda risk: " to ".join(f"{end:.1%}" for end in risk.interval or ()) or "-")
        line("  risk, highest", lambda risk: _figure(risk.highest))
        line("  risk, mean", lambda risk: _figure(risk.mean))
    linked = [", ".join((table.several_rows or NOTHING_KNOWN).linked_by) or "none" for table in measured.tables]
    _line("rows linked by", linked)
    _paragraph(measured.meanings["linked_by"])


def _measured(risk: KnownRows) -> str:
    """How many people were measured, and whether only some of their rows were combined."""
    how = "all" if not risk.is_sample else f"{risk.measured:,}"
    return f"{how}, partly" if risk.partly else how


def _show_sensitive(measured: Risks, column: str) -> None:
    def line(label: str, read: Callable[[Sensitive], str], meaning: str | None = None) -> None:
        found = [next(s for s in table.sensitive if s.column == column) for table in measured.tables]
        _line(label, [read(sensitive) for sensitive in found])
        if meaning:
            _paragraph(measured.meanings[meaning])

    counted = "people" if measured.source.unit else "rows"
    _heading(f"Sensitive: {column}", "What a class reveals about this column, in the worst class or on average.")
    line("l, distinct values", lambda s: _count(s.distinct_l), "distinct_l")
    line("l, by entropy", lambda s: _figure(s.entropy_l), "entropy_l")
    line("t, equal distance", lambda s: _figure(s.t_equal))
    if any(s.t_ordered is not None for table in measured.tables for s in table.sensitive):
        line("t, ordered distance", lambda s: _figure(s.t_ordered))
    _paragraph(measured.meanings["t"])
    line("homogeneous classes", lambda s: _count(s.homogeneous_classes))
    line("  rows in them", lambda s: _count(s.homogeneous_rows))
    if measured.source.unit:
        line("  people in them", lambda s: _count(s.homogeneous_people))
    _paragraph(measured.meanings["homogeneous"])
    line("guessed by the class", lambda s: _figure(s.attribution))
    line("guessed without it", lambda s: _figure(s.guess))
    line(f"certain, {counted}", lambda s: _count(s.certain), "attribution")


def _show_columns(measured: Risks, roles: Sequence[str]) -> None:
    explained = " ".join(measured.meanings[name] for name in ("distinction", "separation", "unique_without"))
    _heading("Columns, the most identifying first", explained)
    columns = _grid("column", "in", "distinction", "separation", "unique", "unique without it")
    sets = _grid("together", "in", "distinction", "separation", "unique")
    for role, table in zip(roles, measured.tables, strict=True):
        for column in table.separations.columns:
            without = _unique(column.unique_without, column.unique_people_without)
            columns.add_row(*_separation(column, role), without)
        for columns_together in table.separations.sets[:_SETS_SHOWN]:
            sets.add_row(*_separation(columns_together, role))
    out.print(columns, soft_wrap=False)
    for role, table in zip(roles, measured.tables, strict=True):
        together = table.separations
        _line(f"unique by all, in the {role}", [_unique(together.unique_rows, together.unique_people)])
    if sets.row_count:
        number = max(len(table.separations.sets) for table in measured.tables)
        shown = min(number, _SETS_SHOWN)
        _heading("Small sets of columns", f"The {shown} most identifying of {number:,}; --json has all.")
        out.print(sets, soft_wrap=False)


def _separation(columns: Separation, role: str) -> list[str]:
    unique = _unique(columns.unique_rows, columns.unique_people)
    return [
        escape(", ".join(columns.columns)),
        role,
        _figure(columns.distinction),
        _figure(columns.separation),
        unique,
    ]


def _unique(rows: int | None, people: int | None) -> str:
    """The unique people if they were counted, otherwise the unique rows."""
    return f"{_count(rows)} rows" if people is None else f"{people:,} people"


def _show_norms(measured: Risks, roles: Sequence[str]) -> None:
    _heading("Norms", measured.meanings["norms"])
    words = {True: "yes", False: "no", None: "-"}
    lines: dict[str, list[str]] = {}  # the tables' results by norm
    for role, table in zip(roles, measured.tables, strict=True):
        for norm in table.norms:
            title = f"{norm.name}, {norm.rule}: {norm.asked}"
            lines.setdefault(title, []).append(f"{words[norm.met]:<4} {role}: {norm.found}")
    for title, results in lines.items():
        _paragraph(title, "")
        for result in results:
            _paragraph(result, "  ")


def _show_thresholds(measured: Risks) -> None:
    table = "release" if measured.release else "source"
    _heading("Recipients", f"Whether the {table} meets the thresholds for a recipient; `kanon report` decides by more.")
    words = {True: "yes", False: "no", None: "-"}
    for recipient, checks in measured.thresholds.items():
        for check in checks:
            _paragraph(f"{recipient}: {check.required} ({check.name})", "")
            _paragraph(f"{words[check.met]:<4} {check.found}", "  ")


def _show_identifiers(measured: Risks, roles: Sequence[str]) -> None:
    _heading("Identifiers", measured.meanings["identifiers"])
    grid = _grid("column", "in", "kind", "rows", "seen")
    for role, table in zip(roles, measured.tables, strict=True):
        for identifier in table.contents.identifiers:
            rows = f"{'about ' if identifier.sampled else ''}{identifier.rows:,} ({identifier.share:.1%})"
            kind = f"{identifier.letter} {identifier.kind}"
            grid.add_row(escape(identifier.column), role, kind, rows, f"it {identifier.said}")
    if grid.row_count:
        out.print(grid, soft_wrap=False)
    else:
        out.print("None seen.")


def _grid(*titles: str) -> Table:
    return grid(*titles, right=_NUMBERS)


def _heading(title: str, explanation: str) -> None:
    out.print(f"\n[bold]{escape(title)}[/bold]")
    _paragraph(explanation, "")


def _figures(measured: Risks, label: str, read: Callable[[TableRisk], str], meaning: str | None = None) -> None:
    """Print one figure of every table, then its meaning."""
    _line(label, [read(table) for table in measured.tables])
    if meaning:
        _paragraph(measured.meanings[meaning])


def _line(label: str, cells: Sequence[str]) -> None:
    if len(label) >= _LABEL_WIDTH:  # a long label gets a separate line
        _paragraph(label, "")
        label = ""
    line = f"{label:<{_LABEL_WIDTH}}" + "".join(f"{cell:>{_CELL_WIDTH}}" for cell in cells)
    out.print(escape(line.rstrip()), soft_wrap=True)


def _paragraph(text: str, indent: str = "    ") -> None:
    filled = textwrap.fill(text, _WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
    out.print(escape(filled), soft_wrap=True)


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _figure(value: float | None) -> str:
    return "unknown" if value is None else figure(value)
