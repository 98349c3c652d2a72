"""The screen of the columns: their roles and priorities."""

from __future__ import annotations

from dataclasses import replace

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kanon_sql.errors import SpecError
from kanon_sql.page.draft import ROLES, Draft, suggested_attribute
from kanon_sql.page.web import changing, rendered, shown, whole

MEANINGS = {
    "quasi-identifier": "others might know it: generalized",
    "identifier": "identifies a person: dropped",
    "sensitive": "released unchanged, and protected by the models",
    "kept": "released unchanged",
    "dropped": "not released",
}


def show(request: Request, problem: str = "") -> Response:
    """The table of columns."""
    return rendered(request, "columns", problem, roles=ROLES, meanings=MEANINGS)


@changing(show)
def role(request: Request, form: FormData) -> Response:
    """Set the role or priority of a column."""
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
        return draft.changed(place, column)

    request.app.state.page.change(edit)
    return shown(request, "columns")


ROUTES = [Route("/columns", show), Route("/columns/{place:int}", role, methods=["POST"])]
