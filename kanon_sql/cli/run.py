"""`kanon run`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.markup import escape

from kanon_sql.cli import options as o
from kanon_sql.cli.declare import Argument, Option, takes
from kanon_sql.cli.flags import in_keys
from kanon_sql.cli.output import EMPTY, err, out, print_json, verdict, warn, watching
from kanon_sql.errors import SpecError
from kanon_sql.report.numbers import counted
from kanon_sql.report.words import waiting_sentence
from kanon_sql.verbs.report import check_report
from kanon_sql.verbs.run import Ran, lineage_warning
from kanon_sql.verbs.run import run as run_all

_COLOURS = {"released": "green", "refused": "red", "failed": "red", "would release": "yellow"}


def _variables(texts: list[str]) -> dict[str, str]:
    """Read variables written as `DAY=2026-03-01`."""
    variables: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise SpecError(f"--var takes NAME=VALUE; got {text!r}")
        if name in variables:
            raise SpecError(f"--var: {name} is given twice; keep one of the two")
        variables[name] = value
    return variables


RELEASES = Argument("spec", "A spec of one release, or of several under `releases`.", type=Path, default=...)
VAR = Option("vars", "A variable of the spec, such as DAY=2026-03-01; overrides the environment. Repeatable.", None,
             list[str], "--var", read=_variables)  # fmt: skip
ONLY = Option("only", "The releases to create, such as research,public (default: all).", read=o.names)
DRY_RUN = Option(
    "dry_run",
    "Print what would be released, why, and who would wait; release nothing.",
    type=bool,
)

REPORTS = Option(
    "reports", "Write an HTML report on every created release to this folder, named after the release.", "Output", Path
)
LINEAGE = Option(
    "lineage",
    "Send OpenLineage events about every release to this URL, such as https://marquez:5000, or append them to this "
    "file, which ends in .jsonl. Requires the extra `lineage`. A release does not fail if they are not received.",
    "Output",
)


@takes(RELEASES, VAR, ONLY, DRY_RUN, REPORTS, LINEAGE, o.DIFFERENCING_LIMIT, *o.SESSION_OPTIONS, o.FAIL_EMPTY, o.JSON)
def run(
    spec: Path,
    dry_run: bool | None,
    reports: Path | None,
    fail_empty: bool | None,
    as_json: bool | None,
    **options: Any,
) -> None:
    """Exit code 0: done, or nothing to do. 1: a release was refused because of its data, and the old one stays. 2: any
    other error. 3, with --fail-empty: a release has no rows or no information. A refused release does not prevent the
    others from being created."""
    if reports:
        check_report(reports / "release.html", overwrite=True)
    with watching() as watch:
        done = run_all(spec, dry_run=bool(dry_run), check=False, observer=watch, **options)
        for outcome in done.releases:
            if reports and outcome.release and not dry_run:
                watch.stage(f"Reporting on {outcome.name}")
                outcome.release.report(reports / f"{outcome.name}.html", overwrite=True)
    if as_json:
        print_json(done.to_json())
    else:
        for outcome in done.releases:
            _show(outcome)
    empty = False
    for outcome in done.releases:
        if outcome.error:
            error = in_keys(str(outcome.error), [o.DIFFERENCING_LIMIT])
            err.print(f"kanon: {escape(outcome.name)}: {escape(error)}", highlight=False)
        if outcome.lineage_error:
            warn([lineage_warning(outcome)])
        if outcome.release:
            warn(outcome.release.manifest["warnings"])
            empty |= bool(outcome.release.manifest.get("nothing_left"))
    raise typer.Exit(done.code or (EMPTY if fail_empty and empty else 0))


def _show(outcome: Ran) -> None:
    """Print one line: the status of a release, the reasons and the target."""
    colour = _COLOURS.get(outcome.status, "dim")
    why = f": {outcome.sentence}" if outcome.why else ""
    out.print(f"{escape(outcome.name)} [{colour}]{outcome.status}[/{colour}]{escape(why)} ({escape(outcome.target)})")
    if outcome.release:
        out.print(f"  {escape(_figures(outcome.release.manifest))}")
        verdict(outcome.release.manifest, "  ")


def _figures(manifest: Mapping[str, Any]) -> str:
    """The figures of a release in one line: rows, changes that wait, node and loss."""
    deferred = manifest.get("deferred")
    parts = [f"{manifest['released_rows']:,} of {manifest['rows']:,} rows released"]
    if deferred:  # some released rows are not in the source any more
        parts = [f"{manifest['released_rows']:,} rows released, {manifest['rows']:,} in the source"]
    if "suppressed_rows" in manifest:
        parts.append(f"{counted(manifest['suppressed_rows'], 'rows')} suppressed")
    if deferred:
        parts.append(waiting_sentence(deferred))
    if manifest.get("node"):
        kept = "kept" if manifest["node_kept"] else "found by a search"
        parts.append(f"node {', '.join(f'{column} {level}' for column, level in manifest['node'].items())} ({kept})")
    if manifest.get("score") is not None:
        parts.append(f"{manifest['metric']} {manifest['score']:.4f}")
    return "; ".join(parts)
