"""The process that does the long work of the page: `python -m kanon_sql.page.worker`, one request, then events.

A line of JSON comes in, lines of JSON go out: what is reached, where the search stands, and at last what was made or
why not. SIGINT takes the best so far, as Ctrl-C does in a terminal; SIGTERM ends the work and leaves nothing
unfinished behind, and so does the end of the page's own process, which closes the pipe.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

from kanon_sql import interrupts, queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError, KanonError
from kanon_sql.generalization.values import as_text
from kanon_sql.page.draft import without_code
from kanon_sql.plan.observer import Observer
from kanon_sql.recode import Rounds
from kanon_sql.spec import parse
from kanon_sql.strategies import Progress
from kanon_sql.verbs.anonymize import anonymize
from kanon_sql.verbs.released import Release
from kanon_sql.verbs.report import Report, check_report
from kanon_sql.verbs.statement import compile

SOME = 10  # rows of a release that are shown


def say(kind: str, told: Any) -> None:
    """Write an event on a line of its own."""
    print(json.dumps({kind: told}, default=str), file=sys.stdout, flush=True)


def observer() -> Observer:
    """Whoever is told of a run, and passes it on."""
    return Observer(lambda text: say("stage", text), _search, _recode)


def _search(progress: Progress) -> None:
    told = {name: _finite(value) for name, value in asdict(progress).items()}
    say("search", {**told, "gap": _finite(progress.gap)})


def _recode(rounds: Rounds) -> None:
    say("recode", {name: _finite(value) for name, value in asdict(rounds).items()})


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value


def answer(request: Mapping[str, Any]) -> None:
    """Do what is asked for, and say that it is done or why it cannot be."""
    try:
        run(request)
        say("done", None)
    except KanonError as error:
        say("failed", {"text": str(error), "infeasible": isinstance(error, InfeasibleError)})


def run(request: Mapping[str, Any]) -> None:
    """Make the release of a spec, without a target only to look at; or print its statement.

    `report`: whether a report is made of it too, and the `file` that it is written to, if any.
    """
    spec, report = without_code(parse(request["spec"])), request.get("report")
    if printed := request.get("statement"):
        made = compile(None, spec, observer=observer(), **printed)
        say("statement", {**printed, "sql": f"{made.sql};"})
        return
    if report and report.get("file"):
        check_report(Path(report["file"]), report["overwrite"])
    release = anonymize(None, spec, observer=observer())
    say("made", {"manifest": release.manifest, "sql": release.sql})
    say("some", some_rows(release))
    if report:
        say("stage", "Making the report")
        say("report", _reported(release, report).html)


def _reported(release: Release, asked: Mapping[str, Any]) -> Report:
    """The report of a release that is there already; KanonError says so where it cannot be made."""
    try:
        told = Observer(lambda text: say("stage", text))  # of its own searches nothing
        return release.report(asked.get("file"), overwrite=asked.get("overwrite", False), observer=told)
    except KanonError as error:
        raise KanonError(f"the release is written, but not its report: {error}") from error


def some_rows(made: Release) -> dict[str, Any]:
    """A few of the rows that were released, as text, with the names of their columns."""
    with made.place.opened() as source:
        names, tables = [column.name for column in source.table.columns], Scratch(source.engine, "page")
        stems = {stem: name for name, stem in queries.plain_names(names).items()}
        how = {"release": source.table.relation, "rows": SOME, "stride": max(1, made.manifest["released_rows"] // SOME)}
        rows = tables.rows("page/some_rows", columns=list(stems), named=stems, **how)
    return {"columns": names, "rows": [[None if cell is None else as_text(cell) for cell in row] for row in rows]}


def _ended_with(pipe: Any) -> None:
    """End this process when the one that started it is gone."""
    while pipe.readline():
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Read a request, do it, and tell what came of it."""
    request = json.loads(sys.stdin.readline())
    threading.Thread(target=_ended_with, args=(sys.stdin,), daemon=True).start()
    warnings.simplefilter("ignore")  # the manifest says them
    try:
        with interrupts.ended_by_signals() as signals:
            signals.tidy = True
            answer(request)
    except interrupts.Stopped:
        say("stopped", None)
    sys.stdout.flush()
    os._exit(0)  # DuckDB would complain of what is still open


if __name__ == "__main__":
    main()
