"""The process that does the page's long work: `python -m kanon_sql.page.worker` reads a request and writes events.

The request is a line of JSON, and so is every event: the stage, the progress of the search, and finally the outputs or
the error. SIGINT stops with the best result so far, as Ctrl-C does in a terminal. SIGTERM ends the work without leaving
anything unfinished; so does the end of the page's process, which closes the pipe.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Mapping
from dataclasses import asdict, replace
from math import isfinite
from pathlib import Path
from typing import Any

from kanon_sql import interrupts
from kanon_sql.errors import InfeasibleError, KanonError
from kanon_sql.generalization.values import as_text
from kanon_sql.page import database_state, measures
from kanon_sql.page.column_values import some_rows
from kanon_sql.page.draft import without_code
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan
from kanon_sql.spec import parse
from kanon_sql.verbs.anonymize import anonymize
from kanon_sql.verbs.released import Release
from kanon_sql.verbs.report import Report, check_report
from kanon_sql.verbs.report_database import report_database
from kanon_sql.verbs.statement import compile

SOME = 10  # rows of a release that are shown
MOST_PRINTED = 200_000  # rows of a source whose statement is printed without being asked for


def send(kind: str, payload: Any) -> None:
    """Write an event on a separate line."""
    print(json.dumps({kind: payload}, default=str), file=sys.stdout, flush=True)


def observer() -> Observer:
    """An observer that passes on the progress of a run as events."""
    return Observer(
        lambda text: send("stage", text),
        lambda progress: send("search", _finite({**asdict(progress), "gap": progress.gap})),
        lambda rounds: send("recode", _finite(asdict(rounds))),
    )


def _finite(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The figures for JSON, which has no infinity."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value for name, value in figures.items()
    }


def answer(request: Mapping[str, Any]) -> None:
    """Handle a request, and report success or the error."""
    try:
        run(request)
        send("done", None)
    except KanonError as error:
        send("failed", {"text": str(error), "infeasible": isinstance(error, InfeasibleError)})


def run(request: Mapping[str, Any]) -> None:
    """Create the release of a spec, in a temporary table if it has no target; or print its statement; or measure it.

    `report`: whether a report is created, too, and the `file` to write it to, if any. `measure`: the questions about
    the release whose answers are measured, together with attacks on it.
    """
    if "database" in request:
        _look_at_database(**request["database"])
        return
    spec = without_code(parse(request["spec"]))
    report = request.get("report")
    if printed := request.get("statement"):
        compiled = compile(None, spec, observer=observer(), **printed)
        send("statement", {**printed, "sql": f"{compiled.sql};"})
        return
    if report and report.get("file"):
        check_report(Path(report["file"]), report["overwrite"])
    if "measure" in request:
        release = anonymize(None, spec, observer=observer())
        found = measures.measured(release, request["measure"], Observer(lambda text: send("stage", text)))
        send("figures", found.pop("figures", {}))
        send("measures", found)
        return
    lattices: list[Mapping[str, Any]] = []
    release = anonymize(None, spec, observer=replace(observer(), planned=lambda plan: _explore(plan, lattices)))
    send("release", {"manifest": release.manifest, "sql": release.sql})
    send("some", shown_rows(release))
    for lattice in lattices:
        send("explored", lattice)
    if spec.target is None:
        _print_statement(request["spec"], release)
    if report:
        send("stage", "Creating the report")
        created = _create_report(release, report)
        send("figures", measures.deciding(created.figures))
        send("report", created.html)


def _look_at_database(file: str, overrides: Mapping[str, Any], report: bool) -> None:
    """Send the state of a release of several tables, or its report."""
    spec = database_state.loaded(Path(file), overrides)
    if report:
        send("stage", "Measuring risk and attacks for the report")
        send("report", report_database(spec).html)
    else:
        send("database", database_state.current_state(spec, observer()))


def _explore(plan: Plan, found: list[Mapping[str, Any]]) -> None:
    """Keep the searched lattice until the release is sent; a release that is written was explored before."""
    if plan.problem.spec.target is None:
        send("stage", "Exploring the lattice")
        with contextlib.suppress(KanonError):  # the release does not need it
            explored = measures.explored(plan)
            if explored:
                found.append(explored)


def _print_statement(mapping: Mapping[str, Any], release: Release) -> None:
    """Print the statement of a release at its levels, if its source is small enough to do so without being asked."""
    node = release.manifest.get("node")
    if not node or release.manifest["rows"] > MOST_PRINTED:
        return
    send("stage", "Printing the statement")
    kept = {key: value for key, value in mapping.items() if key not in ("node_from", "node_else")}
    printed = {"dialect": None, "table": None, "sql": "", "why": ""}
    try:
        printed["sql"] = f"{compile(None, without_code(parse({**kept, 'node': node}))).sql};"
    except KanonError as error:  # some releases are not one statement
        printed["why"] = str(error)
    send("statement", printed)


def _create_report(release: Release, options: Mapping[str, Any]) -> Report:
    """The report of a finished release; a KanonError here says that the release was written nevertheless."""
    try:
        stages = Observer(lambda text: send("stage", text))  # without the progress of the report's searches
        return release.report(options.get("file"), overwrite=options.get("overwrite", False), observer=stages)
    except KanonError as error:
        raise KanonError(f"the release was written, but its report was not: {error}") from error


def shown_rows(release: Release) -> dict[str, Any]:
    """A few released rows as text, with the names of their columns."""
    with release.place.opened() as source:
        names = [column.name for column in source.table.columns]
        rows = some_rows(source.engine, source.table.relation, names, release.manifest["released_rows"], SOME)
    return {"columns": names, "rows": [[None if cell is None else as_text(cell) for cell in row] for row in rows]}


def _ended_with(pipe: Any) -> None:
    """End this process when the process that started it has ended."""
    while pipe.readline():
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Read a request and handle it."""
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_ended_with, args=(sys.stdin,), daemon=True).start()
    warnings.simplefilter("ignore")  # they are in the manifest
    try:
        with interrupts.ended_by_signals() as signals:
            signals.tidy = True
            answer(request)
    except interrupts.Stopped:
        send("stopped", None)
    sys.stdout.flush()
    os._exit(0)  # without DuckDB's complaints about open connections


if __name__ == "__main__":
    main()
