"""The screen of the risk: rows and people in groups of fewer than k, while k and the levels are moved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from kanon_sql.errors import KanonError
from kanon_sql.page.charts import histogram
from kanon_sql.page.draft import Draft
from kanon_sql.page.histograms import DraftCounts, NodeHistograms
from kanon_sql.page.state import PATIENCE, Page
from kanon_sql.page.web import rendered, shown, shows_rare, stopping, whole
from kanon_sql.recode import RECODERS
from kanon_sql.spec import may_suppress

MOST_K = 100  # of the slider; the field next to it takes any k


def show(request: Request, problem: str = "") -> Response:
    """The slider, the levels, and a histogram per column."""
    rare = shows_rare(request)
    return rendered(request, "risk", problem, most=MOST_K, rare=rare, **_content(request.app.state.page, rare))


def _content(page: Page, rare: bool) -> dict[str, Any]:
    draft = page.draft
    least = 1 if rare else draft.k
    nothing: dict[str, Any] = {"seen": None, "missing": "", "tiles": [], "drawn": [], "allowed": 0, "samples": {}}
    nothing["last"] = page.results[-1] if page.results else None
    try:
        counts = page.counting().result(timeout=PATIENCE)
    except TimeoutError:
        return nothing
    except KanonError as error:
        return {**nothing, "missing": str(error)}
    seen = counts.shown(draft.levels)
    counted = "people" if counts.of_people else "rows"
    drawn = []
    summaries = page.counted_columns(timeout=0)  # empty while they are counted
    for place, column in enumerate(seen.histograms):
        name = column.column.name
        summary = summaries.get(name)
        bars = column.bars(least, summary.intervals_of(least) if summary and summary.intervals else None)
        drawn.append((column, bars, column.rare(least), histogram(f"h{place}", name, bars, draft.k, counted)))
    return {
        **nothing,
        "seen": seen,
        "tiles": _tiles(page, counts, seen),
        "drawn": drawn,
        "samples": counts.samples(least),
        "at_risk": seen.at_risk(draft.k),  # the rows that a release at these levels suppresses
        "allowed": may_suppress(draft.keys.get("suppression_limit", 0.02), page.rows),
    }


def _tiles(page: Page, counts: DraftCounts, seen: NodeHistograms) -> list[tuple[float | int, str]]:
    """The figures at the top: a share or a count, and what it means. People come first if they are counted."""
    k = page.draft.k
    rows = seen.at_risk(k)
    tiles: list[tuple[float | int, str]] = []
    if seen.people is not None:
        people, all_people = seen.people_at_risk(k), sum(seen.people.values())
        tiles.append((people / all_people, f"of the people at risk: {people:,} of {all_people:,}"))
    tiles.append((rows / page.rows, f"of the rows at risk: {rows:,} of {page.rows:,}"))
    tiles.append((seen.classes, "groups at these levels"))
    smallest = seen.smallest()
    one, several = ("person", "people") if counts.of_people else ("row", "rows")
    tiles.append((smallest, f"{one if smallest == 1 else several} in the smallest group"))
    return tiles


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
    return _back(request)


def release(request: Request, _: FormData) -> Response:
    """Turn the levels of the screen into a result, which can be compared and released; nothing is written."""
    page: Page = request.app.state.page
    heights = page.counted().heights
    levels = {name: min(page.draft.levels.get(name, 0), height) for name, height in heights.items()}
    run_at(page, page.draft, levels)
    return _back(request)


def _back(request: Request) -> Response:
    return shown(request, "risk", **({"rare": "yes"} if shows_rare(request) else {}))


def run_at(page: Page, draft: Draft, levels: dict[str, int]) -> None:
    """Start a run of a draft at given levels, without a search; SpecError while another runs."""
    draft.spec(target=None)
    if draft.keys.get("strategy") in RECODERS:  # a local recoding has no levels
        draft = draft.with_keys(strategy="auto")
    spec = {key: value for key, value in draft.mapping().items() if key not in ("target", "node_from", "node_else")}
    named = ", ".join(map(str, levels.values()))
    page.run(f"levels {named}, k = {draft.k}", {"spec": {**spec, "node": levels}}, draft)


PAGES = {"/risk": show}
CHANGES = {
    "/risk": move,
    "/risk/release": release,
    "/risk/stop": stopping(_back),
}
