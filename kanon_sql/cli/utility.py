"""`kanon utility`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, Option, takes
from kanon_sql.cli.flags import in_flags
from kanon_sql.cli.output import grid, out, show_result, warn, watching
from kanon_sql.verbs.options import UtilityOptions
from kanon_sql.verbs.utility import Utility, counts_line
from kanon_sql.verbs.utility import utility as run

_MEASURES = "Measures"
_PAIRS_SHOWN = 5

RELEASE = Argument(
    "release", "A release of the source: a CSV or Parquet file, or a table or view. By default the target of --spec."
)
PREDICT = Option(
    "predict",
    "Columns that models are trained to predict from all others (default: every sensitive column). Requires "
    "scikit-learn.",
    _MEASURES,
    read=o.names,
)
QUERIES = Option("queries", "Number of random count queries.", _MEASURES, int, default=1000, limits={"min": 1})
ROWS = Option("rows", "Maximum number of rows to train models on.", _MEASURES, int, default=10_000, limits={"min": 1})


@takes(
    o.SOURCE,
    RELEASE,
    PREDICT,
    QUERIES,
    ROWS,
    o.SPEC,
    *o.of(UtilityOptions),
    o.JSON,
)
def utility(source: str | None, release: str | None, spec: Path | None, as_json: bool | None, **overrides: Any) -> None:
    """Prints only aggregates. Nothing is written."""
    with watching() as watch:
        measured = run(source, release, spec, observer=watch, **overrides)
    show_result(measured, as_json, _show)


def _show(measured: Utility) -> None:
    """The columns, the worst pairs, the count queries and the models."""
    rows = f"{measured.released_rows:,} of {measured.rows:,} rows ({measured.suppressed:.2%} suppressed)"
    out.print(f"[bold]{escape(measured.release)}[/bold]: {rows}\n")
    out.print("Differences between the columns of source and release; lower is better:")
    out.print(_columns(measured), soft_wrap=False)
    if measured.associations:
        out.print(
            f"\nPairs of columns, with an error of {measured.association_error:.4f} on average; the largest errors:"
        )
        out.print(_pairs(measured), soft_wrap=False)
    if measured.counts:
        out.print(f"\n{counts_line(measured.counts)}.")
    if measured.learned:
        out.print("\nPredictions for the source; higher is better, except for the mean absolute error:")
        out.print(_models(measured), soft_wrap=False)
    for name, why in measured.skipped:
        out.print(f"\nNot measured: {escape(name)}; {escape(in_flags(why))}.")
    warn(measured.notes)


def _columns(measured: Utility) -> Table:
    table = grid("column", "generalized", "total variation", "earth mover's")
    for marginal in measured.marginals:
        table.add_row(
            escape(marginal.column),
            f"{marginal.generalized:.1%}",
            f"{marginal.total_variation:.4f}",
            "" if marginal.earth_mover is None else f"{marginal.earth_mover:.4f}",
        )
    return table


def _pairs(measured: Utility) -> Table:
    table = grid("columns", "measure", "source", "release", "error")
    for pair in measured.associations[:_PAIRS_SHOWN]:
        measure = "Cramér's V" if pair.measure == "cramers_v" else pair.measure
        figures = (_figure(pair.source), _figure(pair.release), _figure(pair.error))
        table.add_row(escape(" and ".join(pair.columns)), measure, *figures)
    return table


def _models(measured: Utility) -> Table:
    table = grid("\nmodel of", "\nfigure", "trained on\nsource", "trained on\nrelease", "\nguess")
    for model in measured.learned:
        for name, on_source in model.source.items():
            figures = (_figure(on_source), _figure(model.release[name]), _figure(model.baseline[name]))
            table.add_row(escape(model.column), name.replace("_", " "), *figures)
    return table


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
