"""The screen of the search: its settings, its progress, Stop, and its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from kanon_sql.errors import SpecError
from kanon_sql.loss import METRICS
from kanon_sql.page.draft import Draft
from kanon_sql.page.web import number, rendered, shown, stopping
from kanon_sql.recode import RECODERS
from kanon_sql.report import words
from kanon_sql.spec import LocalStrategy, SearchStrategy
from kanon_sql.strategies import STRATEGIES


@dataclass(frozen=True)
class Choice:
    """One of the usual searches: its title, its strategy, and what to expect, in a sentence."""

    title: str
    strategy: str
    sentence: str


CHOICES = {
    "recommended": Choice(
        "Recommended",
        "auto",
        "Finds the levels that keep most detail, one level per column, and proves that no others keep more if there is "
        "time. Easy to explain and to analyze.",
    ),
    "detail": Choice(
        "More detail, by local recoding",
        "refine",
        "Generalizes every group only as far as it needs, so that one column can show 34 in one row and 30–39 in "
        "another. Keeps more detail, takes longer, and needs more care in analyses.",
    ),
    "fastest": Choice(
        "Fastest",
        "datafly",
        "Raises the column with most different values until all groups are large enough. Takes seconds for millions of "
        "rows, and keeps less detail.",
    ),
}
STRATEGY_SENTENCES = {
    "auto": "Combines several searches, by the size of the table and the models. The recommended choice.",
    "best_first": "Tries the levels that could keep most detail first, and proves the best.",
    "certified": "Rules out many levels with each test, and proves the best even among billions of combinations.",
    "exhaustive": "Tests every combination of levels. Slow; for small tables and comparisons.",
    "depth_first": "Tests every combination, column by column, and skips those that cannot be the best.",
    "flash": "Flash (Kohlmayer et al. 2012): follows paths upwards, then proves the best.",
    "ola": "OLA (El Emam et al. 2009): the best of the levels that cannot be lowered further.",
    "incognito": "Incognito (LeFevre et al. 2005): single columns, pairs, and so on; the same result as OLA.",
    "samarati": "Samarati (2001): the best of the levels with the smallest sum.",
    "optimal_igh": "For columns that all have the same hierarchy.",
    "extended_igh": "For columns that all have the same hierarchy; a faster order of the tests.",
    "datafly": "Raises the column with most different values until all groups are large enough; fast.",
    "memetic": "A genetic search that improves what it finds; good results for many columns.",
    "local_search": "Improves the levels step by step, from several starts; good results for many columns.",
    "kgen": "KGen, a genetic search as it was published; for comparisons.",
    "random": "Random levels; for comparisons.",
    "refine": "Forms groups that lose little, then moves rows to better groups; keeps most detail.",
    "mondrian": "Splits the table again and again at medians; very fast, and shows ranges of numbers.",
    "mondrian_relaxed": "Mondrian that also divides equal rows; for columns with few different values.",
    "prioprivacy": "Changes only rows that are at risk, the least important columns first; see Priority under Columns.",
    "kaca": "Merges every group that is too small with the most similar one.",
}
METRIC_SENTENCES = {
    "loss": "The share of the values of a column that a label covers, on average. The usual choice.",
    "loss_geometric": "The same, but a column that loses everything weighs more; as Loss in ARX.",
    "precision": "The level over the highest level, whatever the labels are.",
    "height": "The sum of the levels.",
    "discernibility": "The sum of squared group sizes: prefers many small groups, whatever the labels are.",
    "average_class_size": "The mean group size: prefers many groups, whatever the labels are.",
    "entropy": "The information about the original values that is lost, in bits: rare values weigh more.",
    "granularity": "The same, but columns with more values weigh a little more.",
    "ncp": "The normalized certainty penalty: the same, but 0 only for cells that are unchanged.",
    "distortion": "The mean distance of the labels from the values in the hierarchy; 1 for rows left out.",
    "intensity": "The mean level of the labels over the highest level; 1 for rows left out.",
}


def show(request: Request, problem: str = "") -> Response:
    """The settings, and the running search."""
    draft = request.app.state.page.draft
    searches = get_args(SearchStrategy)
    recoders = get_args(LocalStrategy)
    name = draft.keys.get("strategy", "auto")
    content = {
        "choices": CHOICES,
        "searches": searches,
        "recoders": recoders,
        "metrics": sorted(METRICS),
        "sentences": STRATEGY_SENTENCES,
        "measures": METRIC_SENTENCES,
        "usual": name in [choice.strategy for choice in CHOICES.values()],
        "seconds": draft.keys.get("time_limit", default_seconds(name)),
        "detail": words.detail,
    }
    return rendered(request, "search", problem, **content)


def default_seconds(name: str) -> float | None:
    """The time limit of a strategy if none is set; None without a limit."""
    strategies: Mapping[str, Any] = {**STRATEGIES, **RECODERS}
    seconds: float | None = strategies[name].default_seconds if name in strategies else None
    return seconds


def choose(request: Request, form: FormData) -> Response:
    """Set the strategy, metric or limits."""

    def edit(draft: Draft) -> Draft:
        keys: dict[str, Any] = {name: str(form[name]) for name in ("strategy", "metric") if name in form}
        if "kind" in form:
            if str(form["kind"]) not in CHOICES:
                raise SpecError(f"{form['kind']!r} is not a kind of search; choose one from the list")
            keys["strategy"] = CHOICES[str(form["kind"])].strategy
        if "suppression" in form:
            keys["suppression_limit"] = _suppression_limit(form)
        if "time_limit" in form:
            text = str(form["time_limit"]).strip()
            seconds = float(number(form, "time_limit", "Time limit", 0, None, 60)) if text else None
            name = str(keys.get("strategy") or draft.keys.get("strategy", "auto"))
            keys["time_limit"] = None if seconds == default_seconds(name) else seconds
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
    return float(f"{number(form, 'suppression', 'Maximum suppression', 0, 100, 2)}e-2")


def run(request: Request, _: FormData) -> Response:
    """Start a search of the draft; nothing is written."""
    page = request.app.state.page
    draft = page.draft
    draft.spec(target=None)
    name = f"{draft.keys.get('strategy', 'auto')}, k = {draft.k}"
    page.run(name, {"spec": {key: value for key, value in draft.mapping().items() if key != "target"}})
    return shown(request, "search")


def levels(request: Request, _: FormData) -> Response:
    """Show the risk at the levels that a search has found."""
    page = request.app.state.page
    number = request.path_params["number"]
    found = next((result.manifest.get("node") for result in page.results if result.number == number), None)
    if not found:
        raise SpecError("that result has no levels to show; choose another")
    page.change(lambda draft: replace(draft, levels=found))
    return shown(request, "risk")


PAGES = {"/search": show}
CHANGES = {
    "/search": choose,
    "/search/run": run,
    "/search/levels/{number:int}": levels,
    "/search/stop": stopping(lambda request: shown(request, "search")),
}
