"""The screen of the search: its settings, its progress, Stop, and its results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kanon_sql.errors import SpecError
from kanon_sql.loss import METRICS
from kanon_sql.page.draft import Draft
from kanon_sql.page.web import changing, number, rendered, shown
from kanon_sql.spec import LocalStrategy, SearchStrategy


def show(request: Request, problem: str = "") -> Response:
    """The settings, and the running search."""
    searches = get_args(SearchStrategy)
    recoders = get_args(LocalStrategy)
    return rendered(request, "search", problem, searches=searches, recoders=recoders, metrics=sorted(METRICS))


@changing(show)
def choose(request: Request, form: FormData) -> Response:
    """Set the strategy, metric or limits."""

    def edit(draft: Draft) -> Draft:
        keys: dict[str, Any] = {name: str(form[name]) for name in ("strategy", "metric") if name in form}
        if "suppression" in form:
            keys["suppression_limit"] = _suppression_limit(form)
        if "time_limit" in form:
            text = str(form["time_limit"]).strip()
            keys["time_limit"] = float(number(form, "time_limit", 0, None, 60)) if text else None
        edited = draft.with_keys(**keys)
        edited.spec(target=None)
        return edited

    request.app.state.page.change(edit)
    return shown(request, "search")


def _suppression_limit(form: FormData) -> float | str:
    """A percentage of the rows, or a number of rows."""
    text = str(form["suppression"]).strip()
    if text.endswith(("row", "rows")):
        return text
    return float(f"{number(form, 'suppression', 0, 100, 2)}e-2")


@changing(show)
def run(request: Request, _: FormData) -> Response:
    """Start a search of the draft; nothing is written."""
    page = request.app.state.page
    draft = page.draft
    draft.spec(target=None)
    name = f"{draft.keys.get('strategy', 'auto')}, k = {draft.k}"
    page.run(name, {"spec": {key: value for key, value in draft.mapping().items() if key != "target"}})
    return shown(request, "search")


@changing(show)
def stop(request: Request, form: FormData) -> Response:
    """Stop the search, with the best result so far or without one."""
    request.app.state.page.stop(keep=form.get("how") != "end")
    return shown(request, "search")


@changing(show)
def levels(request: Request, _: FormData) -> Response:
    """Show the risk at the levels that a search has found."""
    page = request.app.state.page
    number = request.path_params["number"]
    found = next((result.manifest.get("node") for result in page.results if result.number == number), None)
    if not found:
        raise SpecError("that result has no levels to show; choose another")
    page.change(lambda draft: replace(draft, levels=found))
    return shown(request, "risk")


ROUTES = [
    Route("/search", show),
    Route("/search", choose, methods=["POST"]),
    Route("/search/run", run, methods=["POST"]),
    Route("/search/levels/{number:int}", levels, methods=["POST"]),
    Route("/search/stop", stop, methods=["POST"]),
]
