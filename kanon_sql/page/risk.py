"""The screen of the risk: rows in classes of fewer than k, while k and the levels are moved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kanon_sql.errors import KanonError
from kanon_sql.page.charts import histogram
from kanon_sql.page.draft import Draft
from kanon_sql.page.web import changing, rendered, shown, whole

_PATIENCE = 0.5  # seconds that a screen waits for the counts; after that, an event brings them
MOST_K = 100  # of the slider; the field next to it takes any k


def show(request: Request, problem: str = "") -> Response:
    """The slider, the levels, and a histogram per column."""
    return rendered(request, "risk", problem, most=MOST_K, **_content(request))


def _content(request: Request) -> dict[str, Any]:
    page = request.app.state.page
    draft = page.draft
    nothing: dict[str, Any] = {"seen": None, "drawn": [], "at_risk": 0, "missing": ""}
    try:
        counted = page.counting().result(timeout=_PATIENCE)
    except TimeoutError:
        return nothing
    except KanonError as error:
        return {**nothing, "missing": str(error)}
    seen = counted.shown(draft.levels)
    drawn = [(counted, histogram(f"h{place}", counted, draft.k)) for place, counted in enumerate(seen.histograms)]
    return {**nothing, "seen": seen, "drawn": drawn, "at_risk": seen.at_risk(draft.k)}


@changing(show)
def move(request: Request, form: FormData) -> Response:
    """Set k, or the level of a column."""

    def edit(draft: Draft) -> Draft:
        k = whole(form, "k", 1)
        if k is not None and k != draft.k:
            draft = draft.with_keys(privacy={**draft.keys.get("privacy", {}), "k": k})
        levels = dict(draft.levels)
        for place, column in enumerate(draft.columns):
            level = whole(form, f"level-{place}", 0)
            if level is not None:
                levels[column.name] = level
        return replace(draft, levels=levels)

    request.app.state.page.change(edit)
    return shown(request, "risk")


ROUTES = [Route("/risk", show), Route("/risk", move, methods=["POST"])]
