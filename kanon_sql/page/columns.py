"""The screen of the columns: their roles, reasons and priorities, with what each contains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from kanon_sql.errors import KanonError, SpecError
from kanon_sql.page.draft import ROLES, Draft, DraftColumn, suggested_attribute
from kanon_sql.page.state import PATIENCE, Page
from kanon_sql.page.summaries import ColumnSummary
from kanon_sql.page.web import rendered, shown, shows_rare, whole

MEANINGS = {
    "quasi-identifier": "others might know it: generalized",
    "identifier": "identifies a person: dropped",
    "sensitive": "released unchanged, and protected by the models",
    "kept": "released unchanged",
    "dropped": "not released",
}
LONGEST_REASON = 500


def show(request: Request, problem: str = "") -> Response:
    """The table of columns."""
    page: Page = request.app.state.page
    rare = shows_rare(request)
    summaries, missing = _summaries(page)
    content = {
        "roles": ROLES,
        "meanings": MEANINGS,
        "summaries": summaries,
        "missing": missing,
        "rare": rare,
        "least": 1 if rare else page.draft.k,
        "counted": "people" if page.draft.keys.get("unit") else "rows",
        "notes": _notes(page),
        "longest": LONGEST_REASON,
    }
    return rendered(request, "columns", problem, **content)


def _summaries(page: Page) -> tuple[Mapping[str, ColumnSummary] | None, str]:
    """The contents of the columns, None while they are counted; or the error."""
    try:
        return page.summaries().result(timeout=PATIENCE).columns, ""
    except TimeoutError:
        return None, ""
    except KanonError as error:
        return None, str(error)


def _notes(page: Page) -> dict[str, Any]:
    """The warnings about the source: by column, and the others."""
    by_column: dict[str, list[str]] = {}
    others = []
    for note in page.notes:
        about = [column.name for column in page.draft.columns if note.startswith(f"column {column.name} ")]
        if about:
            by_column.setdefault(max(about, key=len), []).append(note)
        else:
            others.append(note)
    return {"by_column": by_column, "others": others}


def role(request: Request, form: FormData) -> Response:
    """Set the role, reason or priority of a column."""
    place = request.path_params["place"]

    def edit(draft: Draft) -> Draft:
        if not 0 <= place < len(draft.columns):
            raise SpecError("that column does not exist; reload the page")
        column = draft.columns[place]
        new = str(form.get("role", column.role))
        if new not in ROLES:
            raise SpecError(f"{new!r} is not a role; choose one of {', '.join(ROLES)}")
        if new != column.role:
            attribute = column.attribute or suggested_attribute(column.suggested)
            column = replace(column, role=new, attribute=attribute)
        if "priority" in form:
            column = column.with_key("priority", whole(form, "priority", 1))
        if "reason" in form:
            column = _with_reason(column, str(form["reason"]))
        return draft.changed(place, column)

    request.app.state.page.change(edit)
    return shown(request, "columns", **({"rare": "yes"} if shows_rare(request) else {}))


def _with_reason(column: DraftColumn, text: str) -> DraftColumn:
    """The column with a reason of the user, on one line."""
    reason = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    if len(reason) > LONGEST_REASON:
        raise SpecError(
            f"a reason has at most {LONGEST_REASON} characters, and this one has {len(reason):,}; shorten it"
        )
    return replace(column, reason=reason)


PAGES = {"/columns": show}
CHANGES = {"/columns/{place:int}": role}
