"""The screen of the columns: what each is, and how important it is to keep it exact."""

from __future__ import annotations

from dataclasses import replace

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kanon_sql.errors import SpecError
from kanon_sql.page.draft import ROLES, Draft, suggested_attribute
from kanon_sql.page.web import changing, rendered, shown, whole

SAID = {
    "quasi-identifier": "others may know it: generalized",
    "identifier": "tells who somebody is: dropped",
    "sensitive": "released as it is, and watched",
    "kept": "released as it is",
    "dropped": "not released",
}


def show(request: Request, problem: str = "") -> Response:
    """The table of columns."""
    return rendered(request, "columns", problem, roles=ROLES, said=SAID)


@changing(show)
def role(request: Request, form: FormData) -> Response:
    """Another role, priority or weight of one column."""
    place = request.path_params["place"]

    def edit(draft: Draft) -> Draft:
        if not 0 <= place < len(draft.columns):
            raise SpecError("there is no such column; read the page again")
        column = draft.columns[place]
        asked = str(form.get("role", column.role))
        if asked not in ROLES:
            raise SpecError(f"{asked!r} is no role; choose one of {', '.join(ROLES)}")
        if asked != column.role:
            attribute = column.attribute or suggested_attribute(column.suggested)
            column = replace(column, role=asked, attribute=attribute)
        if "priority" in form:
            column = column.told("priority", whole(form, "priority", 1))
        return draft.changed(place, column)

    request.app.state.page.change(edit)
    return shown(request, "columns")


ROUTES = [Route("/columns", show), Route("/columns/{place:int}", role, methods=["POST"])]
