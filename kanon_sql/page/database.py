"""The only screen for a spec of several tables: what the spec says, the release, its check, the runs and the report.

It writes nothing. The database is open only while a worker reads it: at the start, and when the user asks for it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from kanon_sql.errors import SpecError
from kanon_sql.page import web
from kanon_sql.page.database_state import described, loaded
from kanon_sql.page.web import fragment, report_page, shown
from kanon_sql.page.work import Work

SCREEN = "database"
_READING, _REPORTING = "Reload", "Report"  # the names of work


@dataclass
class DatabasePage:
    """The page of a spec of several tables, which all its windows share.

    `overrides`: keys of the spec from the command line. `spec`: what is shown of it, as last read. `state`: of the
    release, as last read; empty before that. `report`: its HTML, once it was requested.
    """

    file: Path
    overrides: Mapping[str, Any]
    spec: Mapping[str, Any]
    state: Mapping[str, Any] = field(default_factory=dict)
    report: str = ""
    windows: web.Windows = field(default_factory=web.Windows)
    work: Work | None = None
    first_screen: str = SCREEN
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def begin(self) -> None:
        """Start reading the release."""
        self.run(_READING)

    def run(self, name: str) -> None:
        """Start a worker that reads the release, or creates its report; SpecError while another one runs."""
        with self._lock:
            if self.work and self.work.ended is None:
                raise SpecError("the database is being read; wait, or stop it first")
            request = {"file": str(self.file), "overrides": dict(self.overrides), "report": name == _REPORTING}
            self.work = Work(name, {"database": request}, self._follow, self._keep)
            self.work.start(Path.cwd())
        self.windows.tell("changed")

    def stop(self) -> None:
        """Stop the worker."""
        if self.work:
            self.work.stop(keep=False)
        self.windows.tell("changed")

    def close(self) -> None:
        """End the worker, if any."""
        if self.work:
            self.work.close()

    def _keep(self, _: Work, kind: str, output: Any) -> None:
        with self._lock:
            if kind == "report":
                self.report = output
            else:  # the report was about an earlier state
                self.state, self.spec, self.report = output, output["spec"], ""

    def _follow(self, work: Work) -> None:
        if work.ended:
            self.windows.tell("changed")
        else:
            self.windows.tell("live", fragment("reading", work=work))


def open_database(spec: str | Path, **overrides: Any) -> DatabasePage:
    """Open the page of a spec of several tables; SpecError if it is not valid. `overrides`: replace its keys."""
    given = {key: value for key, value in overrides.items() if value is not None}
    file = Path(spec).resolve()
    return DatabasePage(file, given, described(loaded(file, given)))


def show(request: Request, problem: str = "") -> Response:
    """The spec and the release, as last read."""
    page: DatabasePage = request.app.state.page
    work = copy(page.work)  # before the state, which is complete once the work has ended
    content = {
        "base": str(request.scope.get("root_path", "")) + "/",
        "page": page,
        "spec": page.spec,
        "state": page.state,
        "work": work,
        "problem": problem,
        "has_sensitive": any(
            column["role"] == "sensitive" for table in page.spec["tables"] for column in table["columns"]
        ),
    }
    return HTMLResponse(fragment(SCREEN, **content), status_code=422 if problem else 200)


def reload(request: Request, _: FormData) -> Response:
    """Read the spec and the release again."""
    page: DatabasePage = request.app.state.page
    loaded(page.file, page.overrides)  # an error is shown before the worker starts
    page.run(_READING)
    return shown(request, SCREEN)


def create_report(request: Request, _: FormData) -> Response:
    """Create the report of the release."""
    request.app.state.page.run(_REPORTING)
    return shown(request, SCREEN)


def stop(request: Request, _: FormData) -> Response:
    """Stop reading."""
    request.app.state.page.stop()
    return shown(request, SCREEN)


def report(request: Request) -> Response:
    """The report, as a separate page."""
    page: DatabasePage = request.app.state.page
    if not page.report:
        return PlainTextResponse("There is no report yet.", status_code=404)
    return report_page(request, page.report, f"{page.file.stem}.html")


PAGES = {f"/{SCREEN}": show, f"/{SCREEN}/report": report}
CHANGES = {
    f"/{SCREEN}/reload": reload,
    f"/{SCREEN}/create": create_report,
    f"/{SCREEN}/stop": stop,
}
