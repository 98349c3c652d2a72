"""The screen of the data: a few rows before and after a release, side by side.

The rows of a result with levels are the same on both sides: every value becomes its label on the result's level. A
local recoding has no levels, and shows other rows of its release. Values of fewer than k people are not shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from kanon_sql.errors import KanonError
from kanon_sql.generalization.values import key
from kanon_sql.hints import DROPPED, IDENTIFIER, QUASI_IDENTIFIER
from kanon_sql.page.column_values import cut
from kanon_sql.page.column_values import shown as shown_value
from kanon_sql.page.draft import Draft
from kanon_sql.page.state import PATIENCE, Page, PageResult
from kanon_sql.page.summaries import SourceSummary
from kanon_sql.page.web import rendered, shows_rare

_LONGEST = 40


@dataclass(frozen=True)
class Cell:
    """A value as text; `how`: empty, `rare` (not shown), `range` (in place of a rare value) or `label`."""

    text: str
    how: str = ""


@dataclass(frozen=True)
class Rows:
    """Rows with the names of their columns, and their roles; a row of None is suppressed."""

    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Cell] | None]


def show(request: Request, problem: str = "") -> Response:
    """The rows of the source, and those of a result."""
    page: Page = request.app.state.page
    rare = shows_rare(request)
    of = request.query_params.get("of", "")
    results = [result for result in page.results if not result.written] or page.results
    result = next((result for result in page.results if str(result.number) == of), results[-1] if results else None)
    draft = result.draft if result else page.draft
    content: dict[str, Any] = {
        "rare": rare,
        "result": result,
        "counted": "people" if page.draft.keys.get("unit") else "rows",
        "smallest": draft.k,
        "before": None,
        "after": None,
        "matched": bool(result and result.manifest.get("node")),
        "missing": "",
    }
    try:
        summary = page.summaries().result(timeout=PATIENCE)
    except TimeoutError:
        return rendered(request, "data", problem, **content)
    except KanonError as error:
        return rendered(request, "data", problem, **{**content, "missing": str(error)})
    k = 1 if rare else page.draft.k
    columns = _columns(draft, summary)
    rows = [[_limited(summary, name, row.get(name), k) for name, _ in columns] for row in summary.rows]
    content["before"] = Rows(columns, rows)
    if result:
        content["after"] = _after(page, result, summary, k) if content["matched"] else _released(result, summary, k)
    return rendered(request, "data", problem, **content)


def _columns(draft: Draft, summary: SourceSummary) -> list[tuple[str, str]]:
    """The columns with their roles: first those that are released."""
    named = {name for name, of_column in summary.columns.items() if of_column.rows}
    roles = [(column.name, column.role) for column in draft.columns if column.name in named]
    return sorted(roles, key=lambda column: column[1] in (IDENTIFIER, DROPPED))


def _limited(summary: SourceSummary, name: str, value: Any, k: int) -> Cell:
    text, whole = summary.limited(name, value, k)
    if whole:
        return Cell(text)
    return Cell(text, "range") if text else Cell("rare value", "rare")


def _after(page: Page, result: PageResult, summary: SourceSummary, k: int) -> Rows:
    """The same rows at the levels of a result."""
    draft, node = result.draft, result.manifest["node"]
    columns = [(name, role) for name, role in _columns(draft, summary) if role not in (IDENTIFIER, DROPPED)]
    labels: dict[str, Mapping[Any, Any]] = {}
    for column in draft.quasi_identifiers:
        hierarchy = page.editor.fitted(draft, column.name, column.attribute.get("hierarchy"))
        values = map(key, (*hierarchy.values, *hierarchy.starred))
        level = min(int(node.get(column.name, 0)), hierarchy.height)
        labels[column.name] = dict(zip(values, hierarchy.labels(level), strict=True))
    rows: list[Sequence[Cell] | None] = []
    for row, size in zip(summary.rows, _sizes(page, result, summary), strict=True):
        if size is not None and size < draft.k:
            rows.append(None)
            continue
        cells = []
        for name, role in columns:
            value = row.get(name)
            if role == QUASI_IDENTIFIER and node.get(name):
                cells.append(Cell(cut(shown_value(labels[name].get(key(value))), _LONGEST), "label"))
            else:
                cells.append(_limited(summary, name, value, k))
        rows.append(cells)
    return Rows(columns, rows)


def _sizes(page: Page, result: PageResult, summary: SourceSummary) -> list[int | None]:
    """The sizes of the rows' classes at the levels of a result; None if its draft is not the one that is counted."""
    unknown: list[int | None] = [None] * len(summary.rows)
    if result.draft.counted_by() != page.draft.counted_by():
        return unknown
    try:
        counted = page.counting().result(timeout=PATIENCE)
    except (TimeoutError, KanonError):
        return unknown
    rows = [{name: key(value) for name, value in row.items()} for row in summary.rows]
    return counted.class_sizes(result.manifest["node"], rows)


def _released(result: PageResult, summary: SourceSummary, k: int) -> Rows:
    """Rows of the release of a local recoding, in which columns that are released unchanged are limited."""
    roles = {column.name: column.role for column in result.draft.columns}
    columns = [(name, roles.get(name, "")) for name in result.some["columns"]]
    rows = []
    for row in result.some["rows"]:
        cells = []
        for (name, role), text in zip(columns, row, strict=True):
            is_free = role == QUASI_IDENTIFIER or name not in summary.columns
            common = is_free or k <= 1 or text is None or text in summary.columns[name].common(k)
            how = "label" if role == QUASI_IDENTIFIER else ""
            cells.append(Cell(cut(shown_value(text), _LONGEST), how) if common else Cell("rare value", "rare"))
        rows.append(cells)
    return Rows(columns, rows)


PAGES = {"/data": show}
CHANGES: dict[str, Any] = {}
