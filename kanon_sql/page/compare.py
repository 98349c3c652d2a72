"""The screen that compares two results: their settings, their figures, and what they look like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kanon_sql.errors import SpecError
from kanon_sql.loss import METRICS
from kanon_sql.page.charts import Point, losses, way
from kanon_sql.page.draft import Draft
from kanon_sql.page.state import Page, PageResult
from kanon_sql.page.web import changing, rendered, shown
from kanon_sql.report.numbers import figure, models
from kanon_sql.report.words import listed
from kanon_sql.spec import in_flow, limit_text

SIDES = ("left", "right")
_LONGEST = 80  # characters of a name
_NONE = "–"
_IN_OTHER_LINES = (  # keys with a line of their own, or a line per column
    *("strategy", "metric", "privacy", "suppression_limit", "target"),
    *("identifiers", "quasi_identifiers", "sensitive", "keep"),
)
_MOST_SHOWN = 240
_FIGURES = {
    "Rows released": "released_rows",
    "Rows left out": "suppressed_rows",
    "People released": "released_people",
    "People left out": "suppressed_people",
    "Classes": "classes",
    "Rows of the smallest class": "smallest_class",
    "Rows of the average class": "average_class",
}


@dataclass(frozen=True)
class Line:
    """One line of a comparison: the values of both results, and their difference; empty without one."""

    name: str
    left: str
    right: str
    differs: str = ""


@dataclass(frozen=True)
class ComparedQuasiIdentifier:
    """A quasi-identifier in both results: its level or the form of its labels, its loss, and a chart of the losses."""

    name: str
    left: str
    right: str
    losses: tuple[float | None, float | None]
    drawn: str

    @property
    def differs(self) -> str:
        """The difference of the two results in this column."""
        return _difference(*self.losses) or ("≠" if self.left != self.right else "")


def show(request: Request, problem: str = "") -> Response:
    """Two results side by side: those in the address, otherwise the last two."""
    page: Page = request.app.state.page
    chosen = _chosen(page, request)
    content = _content(page, *chosen) if len(chosen) == len(SIDES) else {}
    return rendered(request, "compare", problem, sides=dict(zip(SIDES, chosen, strict=False)), **content)


def _chosen(page: Page, request: Request) -> list[PageResult]:
    """The results of both sides; empty without results."""
    results = list(page.results)
    if not results:
        return []
    by_number = {str(result.number): result for result in results}
    last = dict(zip(SIDES, results[-2:] if len(results) > 1 else results * 2, strict=True))
    return [by_number.get(request.query_params.get(side, ""), last[side]) for side in SIDES]


def _content(page: Page, left: PageResult, right: PageResult) -> dict[str, Any]:
    settings = list(_settings(left, right))
    return {
        "settings": settings,
        "found": list(_figure_lines(left, right)),
        "generalized": list(_generalized(left, right)),
        "sentences": list(_sentences(left, right, settings)),
        "ways": _ways(left, right),
        "same": left.number == right.number,
        "stale": [not result.draft.asks_like(page.draft) for result in (left, right)],
    }


def _sentences(left: PageResult, right: PageResult, settings: Sequence[Line]) -> Iterator[str]:
    """The difference in words."""
    names = [line.name for line in settings if line.differs]
    yield f"They differ in {listed(names)}." if names else "Their settings are the same."
    metric = left.manifest.get("metric", "loss")
    losses = [(loss, result) for result in (left, right) if (loss := metrics_of(result).get(metric)) is not None]
    if len(losses) == len(SIDES):
        (less, better), (more, _) = sorted(losses, key=lambda loss_and_result: loss_and_result[0])
        if figure(less) == figure(more):
            yield f"Both lose the same, {figure(less)}, by {metric}."
        else:
            yield f"Result {better.number} loses less: {figure(less)} against {figure(more)}, by {metric}."


def metrics_of(result: PageResult) -> dict[str, float | None]:
    """The metrics of a result; None without a figure."""
    return dict(result.manifest.get("information_loss") or {})


def _settings(left: PageResult, right: PageResult) -> Iterator[Line]:
    """The settings: the usual keys, and every other key and column that differs."""
    mappings = [result.draft.mapping() for result in (left, right)]
    for key, name in (("strategy", "Strategy"), ("metric", "Loss measure")):
        yield _line(name, *(str(mapping.get(key, _NONE)) for mapping in mappings))
    required = [
        [(finding["model"], finding["required"]) for finding in result.manifest["privacy"]] for result in (left, right)
    ]
    yield _line("Models", *map(models, required))
    limits = (limit_text(mapping.get("suppression_limit", 0.02)) for mapping in mappings)
    yield _line("Maximum suppression", *limits)
    for key in dict.fromkeys(key for mapping in mappings for key in mapping):
        if key not in _IN_OTHER_LINES and mappings[0].get(key) != mappings[1].get(key):
            yield _line(key, *(in_flow(mapping[key]) if key in mapping else _NONE for mapping in mappings))
    yield from _roles(left.draft, right.draft)


def _roles(left: Draft, right: Draft) -> Iterator[Line]:
    """The columns with another role, hierarchy, priority or bound."""
    for first, second in zip(left.columns, right.columns, strict=True):
        if first.role != second.role:
            yield _line(f"Role of {_short(first.name)}", first.role, second.role)
        elif first.generalized:
            attributes = first.attribute, second.attribute
            for key in dict.fromkeys((*first.attribute, *second.attribute)):
                both = [in_flow(attribute[key]) if key in attribute else _NONE for attribute in attributes]
                if both[0] != both[1]:
                    yield replace(_line(f"{key} of {_short(first.name)}", *map(_cut, both)), differs="≠")


def _line(name: str, left: str, right: str) -> Line:
    return Line(name.replace("_", " "), left, right, "" if left == right else "≠")


def _cut(text: str) -> str:
    """A recipe, cut off if it lists many values."""
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def _short(name: str) -> str:
    return listed([name])


def _figure_lines(left: PageResult, right: PageResult) -> Iterator[Line]:
    """The figures of both manifests."""
    both = (left.manifest, right.manifest)
    lost = (metrics_of(left), metrics_of(right))
    used = (manifest["metric"] for manifest in both if manifest.get("metric") in METRICS)
    for name in dict.fromkeys((*used, *METRICS, *lost[0], *lost[1])):
        values = [figures.get(name) for figures in lost]
        if any(value is not None for value in values):
            yield _figures(name.replace("_", " "), *values)
    for name, key in _FIGURES.items():
        if any(manifest.get(key) is not None for manifest in both):
            yield _figures(name, *(manifest.get(key) for manifest in both))
    yield _line("Proven", *map(proven, both))
    yield _figures("Nodes checked", *(manifest.get("nodes_checked") for manifest in both))
    yield _figures("Seconds", *((manifest.get("seconds") or {}).get("total") for manifest in both))


def _figures(name: str, left: float | None, right: float | None) -> Line:
    texts = [_NONE if number is None else figure(number) for number in (left, right)]
    return Line(name, texts[0], texts[1], _difference(left, right))


def _difference(left: float | None, right: float | None) -> str:
    """The right figure less the left one."""
    if left == right or (left is not None and right is not None and figure(left) == figure(right)):
        return ""
    if left is None or right is None:
        return "≠"
    return f"{'+' if right > left else '−'}{figure(abs(right - left))}"


def proven(manifest: Mapping[str, Any]) -> str:
    """How good a result is proven to be."""
    if manifest.get("proven_optimal"):
        return "optimal"
    gap = manifest.get("gap")
    return "not proven" if gap is None else f"gap {figure(gap)}"


def _generalized(left: PageResult, right: PageResult) -> Iterator[ComparedQuasiIdentifier]:
    """The columns that are generalized in either result, in the order of the table."""
    lost = [result.manifest.get("loss_per_attribute") or {} for result in (left, right)]
    names = [column.name for column in left.draft.columns if any(column.name in figures for figures in lost)]
    for place, name in enumerate(names):
        both = lost[0].get(name), lost[1].get(name)
        levels = [_level(result.manifest, name) for result in (left, right)]
        yield ComparedQuasiIdentifier(name, levels[0], levels[1], both, losses(f"loss-{place}", name, both))


def _level(manifest: Mapping[str, Any], name: str) -> str:
    """The level of a column, or the form of its labels."""
    if name not in (manifest.get("loss_per_attribute") or {}):
        return "not generalized"
    if manifest.get("node"):
        return f"level {manifest['node'][name]} of {manifest['heights'][name]}"
    return f"{(manifest.get('shown') or {}).get(name, 'labels')}, class by class"


def _ways(left: PageResult, right: PageResult) -> list[tuple[PageResult, Sequence[Point], str]]:
    """The steps of both searches and their charts, on the same scale if both have the same metric."""
    steps = _steps(left), _steps(right)
    comparable = left.manifest.get("metric") == right.manifest.get("metric")
    others = reversed(steps) if comparable else ((), ())
    drawn = (way(f"way-{side}", own, other) for side, own, other in zip(SIDES, steps, others, strict=True))
    return list(zip((left, right), steps, drawn, strict=True))


def _steps(result: PageResult) -> Sequence[Point]:
    """The steps of a search and its end; a local recoding has the steps of the search that it started from."""
    manifest = result.manifest
    if manifest.get("lower_bound") is None or manifest.get("score") is None:
        return result.way
    seconds = max([manifest["seconds"].get("search") or 0.0, *(point[0] for point in result.way)])
    return (*result.way, (seconds, manifest["score"], manifest["lower_bound"]))


def _back(request: Request) -> Response:
    """The screen with the same two results."""
    return shown(request, "compare", **{side: request.query_params.get(side, "") for side in SIDES})


@changing(show)
def choose(request: Request, form: FormData) -> Response:
    """Choose the results to compare."""
    return shown(request, "compare", **{side: str(form.get(side, "")) for side in SIDES})


@changing(show)
def rename(request: Request, form: FormData) -> Response:
    """Rename a result."""
    name = " ".join(str(form.get("name", "")).split())[:_LONGEST]
    if not name:
        raise SpecError("a result needs a name; give one")
    request.app.state.page.update(request.path_params["number"], name=name)
    return _back(request)


@changing(show)
def remove(request: Request, _: FormData) -> Response:
    """Remove a result from the page."""
    request.app.state.page.remove(request.path_params["number"])
    return _back(request)


@changing(show)
def bring_back(request: Request, _: FormData) -> Response:
    """Make a result's draft the draft."""
    page: Page = request.app.state.page
    draft = page.result(request.path_params["number"]).draft
    page.change(lambda now: draft.with_keys(target=now.keys.get("target")))
    return _back(request)


ROUTES = [
    Route("/compare", show),
    Route("/compare", choose, methods=["POST"]),
    Route("/compare/{number:int}/name", rename, methods=["POST"]),
    Route("/compare/{number:int}/remove", remove, methods=["POST"]),
    Route("/compare/{number:int}/draft", bring_back, methods=["POST"]),
]
