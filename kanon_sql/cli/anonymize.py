"""`kanon anonymize`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.markup import escape
from rich.table import Table

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import takes
from kanon_sql.cli.flags import in_flags
from kanon_sql.cli.output import (
    EMPTY,
    found_by,
    grid,
    out,
    promised,
    roles,
    show_result,
    smallest_of,
    took,
    verdict,
    verified,
    warn,
    watching,
)
from kanon_sql.errors import SpecError
from kanon_sql.plan.source import settle_labelled
from kanon_sql.report.numbers import count, level_text
from kanon_sql.report.words import waiting_sentence
from kanon_sql.verbs.anonymize import anonymize as run
from kanon_sql.verbs.options import AnonymizeOptions
from kanon_sql.verbs.released import Release


@takes(
    o.SOURCE,
    o.SPEC,
    *o.of(AnonymizeOptions),
    o.SEARCH_IN,
    o.TRACE,
    o.RESUME,
    o.WAYS_OUT,
    o.REPORT,
    o.FAIL_EMPTY,
    o.JSON,
    o.SQL,
    o.DIALECT,
)
def anonymize(
    source: str | None,
    spec: Path | None,
    search_in: Any,
    trace: Path | None,
    resume: Path | None,
    ways_out: bool | None,
    report: Path | None,
    fail_empty: bool | None,
    as_json: bool | None,
    sql: bool,
    dialect: str | None,
    **overrides: Any,
) -> None:
    """[bold]kanon anonymize adult.csv --quasi-identifiers age,sex --hierarchies hierarchies/adult --output k5.csv[/bold]"""  # noqa: E501
    settled = settle_labelled(source, spec, overrides)
    if sql:
        with watching() as watch:
            from kanon_sql.verbs.statement import anonymize_sql  # not needed otherwise, so loaded here

            statement = anonymize_sql(source, settled, observer=watch, search_in=search_in, dialect=dialect)
        print(f"{statement};")
        return
    if dialect:
        raise SpecError("`dialect` applies only to a printed statement; use it with `sql`, or leave it out")
    if settled.target is None:
        raise SpecError(
            'there is no target; use `output="FILE.parquet"`, or `into="TABLE"`, or `sql` to only print the statement'
        )
    with watching() as watch:
        release = run(
            source,
            settled,
            observer=watch,
            search_in=search_in,
            trace=trace,
            resume=resume,
            ways_out=bool(ways_out),
            report=report,
        )
    show_result(release, as_json, show_release, release.manifest["warnings"])
    if fail_empty and release.manifest.get("nothing_left"):
        raise typer.Exit(EMPTY)


def show_release(release: Release) -> None:
    """Print what was released: the recoding and its loss, the privacy models, and the target."""
    manifest = release.manifest
    nothing_left = manifest.get("nothing_left")
    if nothing_left:
        out.print(f"[yellow]{escape(in_flags(nothing_left))}[/yellow]")
    out.print(_damage_table(manifest), soft_wrap=False)
    suppressed = manifest["suppressed_rows"]
    of_rows = " rows" if manifest.get("unit") else ""
    masked = " (shown as *)" if manifest["masked_rows"] else ""
    out.print(
        f"{manifest['released_rows']:,} of {manifest['rows']:,} rows released in {manifest['classes']:,} classes, "
        f"the smallest of {smallest_of(manifest)}; {suppressed:,}{of_rows} suppressed{masked}."
    )
    if "people" in manifest:
        out.print(
            f"{manifest['released_people']:,} of {manifest['people']:,} people, by {escape(manifest['unit'])}, have "
            f"rows in the release; {manifest['suppressed_people']:,} have none."
        )
    recoding = manifest["recoding"] or {}
    if "kept_classes" in recoding:
        out.print(f"{recoding['kept_classes']:,} earlier classes kept, {recoding['recut_classes']:,} recut.")
    if deferred := manifest.get("deferred"):
        out.print(f"{escape(waiting_sentence(deferred))}.")
    if "waiting_rows" in manifest:
        out.print(f"{manifest['waiting_rows']:,} rows wait in {escape(manifest['waiting'])}.")
    roles(manifest["roles"])
    score = "" if manifest["score"] is None else f"{manifest['metric']} {manifest['score']:.4f} (lower is better), "
    out.print(f"{score}{_proof(manifest)}.{found_by(manifest['found_by'], manifest['strategy'])}")
    if manifest["pruned_by"]:
        out.print(f"Search: {escape(manifest['pruned_by'])}.")
    out.print(f"{took(manifest['seconds'])}.")
    _show_ways_out(manifest)
    out.print(_verified(manifest))
    verdict(manifest)
    warn(warning for warning in manifest["warnings"] if warning != nothing_left)


def _show_ways_out(manifest: dict[str, Any]) -> None:
    """Print the columns at their top level, with the alternatives if they were computed."""
    if not manifest.get("at_top"):
        return
    hint = "" if "ways_out" in manifest else " Show alternatives and their loss with --ways-out."
    columns = escape(", ".join(manifest["at_top"]))
    out.print(f"At the top level, where all values have the same label: {columns}.{hint}")
    if not manifest.get("ways_out"):
        return
    ways = Table("column", "way out", "loss", "of the column", "suppressed", box=None, pad_edge=False)
    for way in manifest["ways_out"]:
        column = escape(way["column"] or "all")
        if way["loss"] is None:
            ways.add_row(column, escape(f"{way['way']} (nothing found)"), "", "", "")
            continue
        loss_of_column = "" if way["loss_of_column"] is None else f"{way['loss_of_column']:.3f}"
        ways.add_row(column, escape(way["way"]), f"{way['loss']:.4f}", loss_of_column, f"{way['suppressed_rows']:,}")
    out.print(ways)
    out.print("More levels in the hierarchy, just below the top, might help as well.")


def _damage_table(manifest: dict[str, Any]) -> Table:
    """The recoding of every quasi-identifier and what it loses; columns that would be empty are left out."""
    shown = manifest["shown"]
    weighted = bool(manifest["weights"])
    numeric = any(damage["squared_error"] is not None for damage in manifest["damage"])
    figures = [
        "level",
        *(["weight"] if weighted else []),
        "unchanged",
        "loss",
        "entropy left",
        *(["error"] if numeric else []),
    ]
    table = grid("quasi-identifier", *(["shows"] if shown else []), *figures, right=figures)
    for damage in manifest["damage"]:
        cells = [escape(damage["column"])]
        if shown:
            cells.append(escape(shown[damage["column"]]))
        cells.append(f"{level_text(damage['level'])} of {damage['height']}")
        if weighted:
            cells.append(f"{damage['weight']:.3g}")
        cells += [
            f"{damage['unchanged'] / manifest['rows']:.0%}",
            f"{damage['loss']:.3f}",
            _share(damage["entropy_kept"]),
        ]
        if numeric:
            cells.append(_share(damage["squared_error"]))
        table.add_row(*cells)
    return table


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


def _proof(manifest: dict[str, Any]) -> str:
    seconds = f"{manifest['seconds']['search']:.1f} s"
    if manifest["lattice_size"] is None:
        ended = "" if manifest["search_ended"] == "complete" else f", ended: {manifest['search_ended']}"
        return f"by {manifest['strategy']} ({seconds}{ended})"
    effort = f"{manifest['nodes_checked']:,} of {count(manifest['lattice_size'])} nodes checked, {seconds}"
    if manifest["found_by"] == "kept":
        return f"kept without a search ({effort})"
    if manifest["proven_optimal"]:
        return f"proven optimal ({effort})"
    return f"not proven optimal: no node is below {manifest['lower_bound']:.4f} ({effort})"


def _verified(manifest: dict[str, Any]) -> str:
    model, target = manifest["privacy"][0], manifest["target"]
    where = target.get("file") or f"{target['as']} {target['table']}"
    if "anatomy" in manifest:
        where += f" and {manifest['anatomy']['sensitive']}"
    if model["model"].startswith("NOT "):
        k = model["required"]
        privacy = f"every row fits {k} source rows, each * read as any value; [yellow]not[/yellow] {k}-anonymous"
    else:
        privacy = promised(manifest["privacy"])
    if "unit" in manifest:
        privacy += f" (people, by {escape(manifest['unit'])})"
    return verified(privacy, where)
