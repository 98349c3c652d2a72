"""`kanon utility`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, Option, takes
from kanon_sql.cli.flags import in_flags
from kanon_sql.cli.show import grid, out, warn, watching
from kanon_sql.verbs.options import UtilityOptions
from kanon_sql.verbs.utility import Utility, counts_line
from kanon_sql.verbs.utility import utility as run

RELEASE = Argument(
    "release", "A release of the source: a CSV or Parquet file, or a table or view. Left out, the target of --spec."
)
_MEASURES = "Measures"
PREDICT = Option(
    "predict",
    "Columns that models are trained to tell from all others (default: each sensitive one); takes scikit-learn.",
    _MEASURES,
    read=o.names,
)
QUERIES = Option("queries", "Count queries to ask.", _MEASURES, int, default=1000, limits={"min": 1})
ROWS = Option("rows", "Rows to train models on, at most.", _MEASURES, int, default=10_000, limits={"min": 1})
_SHOWN = 5  # pairs


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
    """Aggregates only. Nothing is written."""
    with watching() as watch:
        measured = run(source, release, spec, observer=watch, **overrides)
    if as_json:
        print(json.dumps(measured.to_dict(), indent=2))
    else:
        _show(measured)


def _show(measured: Utility) -> None:
    """The columns, the worst pairs, the count queries and the models."""
    rows = f"{measured.released_rows:,} of {measured.rows:,} rows ({measured.suppressed:.2%} suppressed)"
    out.print(f"[bold]{escape(measured.release)}[/bold]: {rows}\n")
    out.print(_columns(measured), soft_wrap=False)
    if measured.associations:
        out.print(f"\nPairs of columns, off by {measured.association_error:.4f} on average; the worst:")
        out.print(_pairs(measured), soft_wrap=False)
    if measured.counts:
        out.print(f"\n{counts_line(measured.counts)}.")
    if measured.learned:
        out.print(_models(measured), soft_wrap=False)
    for name, why in measured.skipped:
        out.print(f"\nNot measured: {escape(name)}; {escape(in_flags(why))}.")
    warn(measured.notes)


def _columns(measured: Utility) -> Table:
    table = grid("column", "generalized", "total variation", "earth mover's")
    for each in measured.marginals:
        moved = "" if each.earth_mover is None else f"{each.earth_mover:.4f}"
        table.add_row(escape(each.column), f"{each.generalized:.1%}", f"{each.total_variation:.4f}", moved)
    return table


def _pairs(measured: Utility) -> Table:
    table = grid("columns", "measure", "source", "release", "error")
    for each in measured.associations[:_SHOWN]:
        measure = "Cramér's V" if each.measure == "cramers_v" else each.measure
        figures = (_figure(each.source), _figure(each.release), _figure(each.error))
        table.add_row(escape(" and ".join(each.columns)), measure, *figures)
    return table


def _models(measured: Utility) -> Table:
    table = grid("\nmodel of", "\nfigure", "trained on\nsource", "trained on\nrelease", "\nguess")
    for each in measured.learned:
        for name, figure in each.source.items():
            figures = (_figure(figure), _figure(each.release[name]), _figure(each.baseline[name]))
            table.add_row(escape(each.column), name.replace("_", " "), *figures)
    return table


def _figure(figure: float | None) -> str:
    return "-" if figure is None else f"{figure:.4f}"
