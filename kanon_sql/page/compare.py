"""The screen that compares two results: their settings, their figures, and what they look like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from kanon_sql.errors import KanonError, SpecError
from kanon_sql.loss import METRICS
from kanon_sql.page.charts import Point, losses, way
from kanon_sql.page.column_values import cut
from kanon_sql.page.draft import Draft
from kanon_sql.page.explore import drawn, exploration
from kanon_sql.page.histograms import DraftCounts
from kanon_sql.page.release import start_measuring
from kanon_sql.page.risk import run_at
from kanon_sql.page.state import PATIENCE, Page, PageResult
from kanon_sql.page.web import rendered, shown, stopping
from kanon_sql.report import words
from kanon_sql.report.numbers import figure, models
from kanon_sql.report.words import listed
from kanon_sql.spec import DECLARED, in_flow, limit_text

SIDES = ("left", "right")
_LONGEST = 80  # characters of a name
_NONE = "–"
_IN_OTHER_LINES = (  # keys with a line of their own, or a line per column
    *("strategy", "metric", "privacy", "suppression_limit", "target"),
    *("identifiers", "quasi_identifiers", "sensitive", "keep"),
    *DECLARED,  # the decision, which does not change a release
)
_MOST_SHOWN = 240
_FIGURES = {
    "Rows released": "released_rows",
    "People released": "released_people",
    "People left out": "suppressed_people",
    "Rows of the smallest group": "smallest_class",
    "Rows of the average group": "average_class",
}
_NOT_MEASURED = "not measured"
_MOST_COLUMNS, _MOST_QUESTIONS = 2, 12  # of a question, and questions
_MOST_ATTACKS = 4  # with a line in the first table


@dataclass(frozen=True)
class Line:
    """One line of a comparison: the values of both results, and their difference; empty without one."""

    name: str
    left: str
    right: str
    differs: str = ""


@dataclass(frozen=True)
class AttackLine(Line):
    """The line of an attack; `excess`: how far the more successful one is above chance, from 0 to 1."""

    excess: float = 0.0


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
    if content:
        content |= _explored(request, chosen)
    return rendered(request, "compare", problem, sides=dict(zip(SIDES, chosen, strict=False)), **content)


def _explored(request: Request, chosen: Sequence[PageResult]) -> dict[str, Any]:
    """The lattice of a side that was searched, and its picture: that of the address, otherwise the first."""
    explorable = list(dict.fromkeys(result.number for result in chosen))
    by_number = {result.number: result for result in chosen if result.explored}
    wanted = request.query_params.get("explore", "")
    number = next((n for n in explorable if n in by_number and wanted in ("", str(n))), next(iter(by_number), None))
    if number is None:
        return {"exploration": None, "lattice": "", "explorable": [], "people": None}
    result = by_number[number]
    page: Page = request.app.state.page
    counts = _counts_of(page, result)
    found = exploration(number, result.explored, request.query_params.get("node", ""))
    assert found is not None
    found = replace(found, samples=_samples(page, result, counts))
    query = "&".join(f"{side}={of_side.number}" for side, of_side in zip(SIDES, chosen, strict=True))
    here = f"{request.scope.get('root_path', '')}/compare?{query}&explore={number}&node="
    lattice = drawn(found, lambda key: f"{here}{key}#explored")
    return {
        "exploration": found,
        "lattice": lattice,
        "explorable": [n for n in explorable if n in by_number],
        "people": _people(counts, found.picked.levels, result.draft.k),
    }


def _counts_of(page: Page, result: PageResult) -> DraftCounts | None:
    """The counts of the current draft, if a result's draft has the same; None while they are counted."""
    if result.draft.counted_by() != page.draft.counted_by():
        return None
    try:
        return page.counting().result(timeout=PATIENCE)
    except (TimeoutError, KanonError):
        return None


def _samples(page: Page, result: PageResult, counts: DraftCounts | None) -> Mapping[str, Sequence[str]]:
    """A value of every column with its labels, as far as at least k people have them."""
    if counts is not None:
        return counts.samples(result.draft.k)
    columns = page.counted_columns()
    samples: Mapping[str, Sequence[str]] = result.explored["samples"]
    return {
        name: sample
        for name, sample in samples.items()
        if name in columns and sample[0] in columns[name].common(result.draft.k)
    }


def _people(counts: DraftCounts | None, levels: Mapping[str, int], k: int) -> int | None:
    """The people of the smallest released group at these levels; None if rows are counted, or it is unknown."""
    if counts is None or not counts.of_people:
        return None
    sizes = {size for bar in counts.shown(levels).histograms[0].every for size in bar.sizes if size >= k}
    return min(sizes, default=None)


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
    missing = [why for result in (left, right) for why in (result.measures.get("missing") or {}).values()]
    return {
        "settings": settings,
        "risks": list(_risk_lines(page, left, right)),
        "attacks": _attack_lines(left, right),
        "main": list(_main_lines(left, right)),
        "found": list(_figure_lines(left, right)),
        "unmeasured": [result.number for result in (left, right) if not result.measures],
        "missing": list(dict.fromkeys(missing)),  # what could not be measured, and why
        "questions": page.questions,
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
            yield _line(f"Role of {listed([first.name])}", first.role, second.role)
        elif first.generalized:
            attributes = first.attribute, second.attribute
            for key in dict.fromkeys((*first.attribute, *second.attribute)):
                both = [in_flow(attribute[key]) if key in attribute else _NONE for attribute in attributes]
                if both[0] != both[1]:
                    name = f"{key} of {listed([first.name])}"
                    yield replace(_line(name, *(cut(text, _MOST_SHOWN) for text in both)), differs="≠")


def _line(name: str, left: str, right: str) -> Line:
    return Line(name.replace("_", " "), left, right, "" if left == right else "≠")


def _risk_lines(page: Page, left: PageResult, right: PageResult) -> Iterator[Line]:
    """The figures that decide: risk first, then utility."""
    both = (left, right)
    risks = [words.risk(result.manifest) for result in both]
    yield _shares("Highest risk of being found", [risk and risk[0] for risk in risks])
    yield _shares("Mean risk", [risk and risk[1] for risk in risks])
    unique = [result.measures.get("exact") for result in both]
    shares = [found["unique"] / found["of"] if found and found["of"] else None for found in unique]
    yield _shares("Unique by columns released unchanged", shares, both)
    attacks = _attack_lines(left, right)
    above = sorted((line for line in attacks if line.excess > 0), key=lambda line: -line.excess)
    yield from above[:_MOST_ATTACKS]
    if not above:
        tried = ["none" if result.measures.get("attacks") else _NOT_MEASURED for result in both]
        yield _line("Attacks above chance", *tried)
    yield _shares("Detail kept", [words.detail(result.manifest) for result in both])
    counts = [result.measures.get("counts") for result in both]
    name = "Error of counts, in the median"
    yield _shares(name, [found and found["median"] for found in counts], both)
    for question in page.questions:
        errors = [_answer(result, question) for result in both]
        yield _shares(f"Error of counts by {listed(question)}", errors, both)


def _attack_lines(left: PageResult, right: PageResult) -> list[AttackLine]:
    """All attacks on both results: the share of right guesses, with that of guesses by chance."""
    attacks = [
        {(row["attack"], row["column"]): row for row in result.measures.get("attacks", ())} for result in (left, right)
    ]
    lines = []
    for attack, column in dict.fromkeys((*attacks[0], *attacks[1])):
        rows = [found.get((attack, column)) for found in attacks]
        name = f"Attack: {words.named(attack)}" + (f" of {listed([column])}" if column else "")
        line = _shares(name, [row["share"] if row else None for row in rows], (left, right))
        texts = []
        for text, row in zip((line.left, line.right), rows, strict=True):
            chances = [row[key] for key in ("baseline", "control") if row[key] is not None] if row else []
            hidden = row is not None and row["share"] is None
            shown = "of too few people to show" if hidden else text
            texts.append(f"{shown} (by chance {words.percent(max(chances))})" if chances else shown)
        excess = max((row["excess"] or 0.0) if row else 0.0 for row in rows)
        lines.append(AttackLine(name, texts[0], texts[1], line.differs, excess))
    return lines


def _answer(result: PageResult, question: Sequence[str]) -> float | None:
    """The median error of the cross table of a question; None if it was not measured."""
    for answered in result.measures.get("questions", ()):
        if tuple(answered["columns"]) == tuple(question) and answered["errors"]:
            return float(answered["errors"]["median"])
    return None


def _main_lines(left: PageResult, right: PageResult) -> Iterator[Line]:
    """The few figures that say most."""
    both = (left.manifest, right.manifest)
    metric = left.manifest.get("metric", "loss")
    name = f"Loss, by {metric.replace('_', ' ')}" if metric != "loss" else "Loss"
    yield _figures(name, *(metrics_of(result).get(metric) for result in (left, right)))
    yield _figures("Rows left out", *(manifest.get("suppressed_rows") for manifest in both))
    yield _figures("Groups", *(manifest.get("classes") for manifest in both))
    counted = ["people" if manifest.get("risk_of_people") else "rows" for manifest in both]
    smallest = [words.smallest_group(manifest) for manifest in both]
    if counted[0] == counted[1]:
        yield _figures(f"Smallest group, {counted[0]}", *smallest)


def _shares(name: str, both: Sequence[float | None], measured: Sequence[PageResult] = ()) -> Line:
    """A line of two shares, whose difference is in percentage points; `measured`: the results, if on demand only."""
    texts = []
    for place, share in enumerate(both):
        missing = _NOT_MEASURED if measured and not measured[place].measures else _NONE
        texts.append(missing if share is None else words.percent(share))
    left, right = both
    if left is None or right is None or texts[0] == texts[1]:
        differs = "" if (left is None) == (right is None) else "≠"
    else:
        points = 100 * (right - left)
        differs = f"{'+' if points > 0 else '−'}{abs(points):.1f}".removesuffix(".0") + " points"
    return Line(name, texts[0], texts[1], differs)


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
    yield _figures("Combinations tested", *(manifest.get("nodes_checked") for manifest in both))
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
        drawn_losses = losses(f"loss-{place}", name, both[:1] if left is right else both)
        levels = [_level(result.manifest, name) for result in (left, right)]
        yield ComparedQuasiIdentifier(name, levels[0], levels[1], both, drawn_losses)


def _level(manifest: Mapping[str, Any], name: str) -> str:
    """The level of a column, or the form of its labels."""
    if name not in (manifest.get("loss_per_attribute") or {}):
        return "not generalized"
    if manifest.get("node"):
        return f"level {manifest['node'][name]} of {manifest['heights'][name]}"
    return f"{(manifest.get('shown') or {}).get(name, 'labels')}, group by group"


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


def choose(request: Request, form: FormData) -> Response:
    """Choose the results to compare."""
    return shown(request, "compare", **{side: str(form.get(side, "")) for side in SIDES})


def rename(request: Request, form: FormData) -> Response:
    """Rename a result."""
    name = " ".join(str(form.get("name", "")).split())[:_LONGEST]
    if not name:
        raise SpecError("a result needs a name; choose one")
    request.app.state.page.update(request.path_params["number"], name=name)
    return _back(request)


def remove(request: Request, _: FormData) -> Response:
    """Remove a result from the page."""
    request.app.state.page.remove(request.path_params["number"])
    return _back(request)


def measure(request: Request, _: FormData) -> Response:
    """Start measuring the attacks on a result, and its utility; nothing is written."""
    page: Page = request.app.state.page
    result = page.result(request.path_params["number"])
    start_measuring(page, result)
    return _back(request)


def ask(request: Request, form: FormData) -> Response:
    """Add a question of the user, the columns of a cross table, or remove it; results are measured anew."""
    page: Page = request.app.state.page
    names = {column.name for column in page.draft.columns}
    question = tuple(dict.fromkeys(str(name) for name in form.getlist("column") if str(name)))
    if not 0 < len(question) <= _MOST_COLUMNS or not names.issuperset(question):
        raise SpecError("“Counts by”: choose one or two columns")
    others = tuple(other for other in page.questions if other != question)[-_MOST_QUESTIONS:]
    page.questions = others if form.get("how") == "remove" else (*others, question)
    page.windows.tell("changed")
    return _back(request)


def pick(request: Request, form: FormData) -> Response:
    """Turn an explored node into a result."""
    page: Page = request.app.state.page
    result = page.result(request.path_params["number"])
    found = exploration(result.number, result.explored, str(form.get("node", "")))
    if found is None or found.picked.key != str(form.get("node")):
        raise SpecError("this combination of levels was not explored; pick one of the picture")
    run_at(page, result.draft, dict(found.picked.levels))
    return shown(request, "compare", left=str(result.number))  # the new result will be at the right


def bring_back(request: Request, _: FormData) -> Response:
    """Make a result's draft the draft."""
    page: Page = request.app.state.page
    draft = page.result(request.path_params["number"]).draft
    page.change(lambda now: draft.with_keys(target=now.keys.get("target")))
    return _back(request)


PAGES = {"/compare": show}
CHANGES = {
    "/compare": choose,
    "/compare/{number:int}/name": rename,
    "/compare/{number:int}/remove": remove,
    "/compare/ask": ask,
    "/compare/stop": stopping(_back),
    "/compare/{number:int}/measure": measure,
    "/compare/{number:int}/pick": pick,
    "/compare/{number:int}/draft": bring_back,
}
