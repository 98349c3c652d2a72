"""The screen of the privacy models: what must hold besides k, by sensitive column and for the whole release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kanon_sql.errors import SpecError
from kanon_sql.page.draft import Draft
from kanon_sql.page.web import changing, number, rendered, shown
from kanon_sql.spec import SENSITIVE_MODELS
from kanon_sql.spec.keys import kind_of

MOST = {key: kind_of(model.model_fields[model.short]).limits.get("le") for key, model in SENSITIVE_MODELS.items()}
OF_RELEASE = {
    "highest": ("Highest risk, at most", "of being found: 1 over the smallest class, from 0 to 1"),
    "mean": ("Mean risk, at most", "over all rows: classes over rows, from 0 to 1"),
}


def show(request: Request, problem: str = "") -> Response:
    """A number per model and column; empty means that it is not asked for."""
    draft = request.app.state.page.draft
    privacy = draft.keys.get("privacy", {})
    asked = {key: {c: _short(key, said) for c, said in privacy.get(key, {}).items()} for key in SENSITIVE_MODELS}
    other = {key: said for key, said in privacy.items() if key not in ("k", "risk", *SENSITIVE_MODELS)}
    content = {"asked": asked, "risk": privacy.get("risk") or {}, "other": other}
    declared = {"of_columns": SENSITIVE_MODELS, "most": MOST, "of_release": OF_RELEASE}
    return rendered(request, "models", problem, **declared, **content)


def _short(key: str, said: Any) -> Any:
    """The number of a model, which a spec may have alone or with others beside it."""
    return said.get(SENSITIVE_MODELS[key].short, "") if isinstance(said, Mapping) else said


@changing(show)
def ask(request: Request, form: FormData) -> Response:
    """Another number of a model, or none."""

    def edit(draft: Draft) -> Draft:
        privacy = dict(draft.keys.get("privacy", {}))
        if "k" in form:
            privacy["k"] = int(number(form, "k", 1, None, draft.k))
        if "unit" in form:
            names = {column.name for column in draft.columns}
            unit = str(form["unit"])
            draft = draft.told(unit=unit if unit in names else None)
        for place, column in enumerate(draft.columns):
            for key in SENSITIVE_MODELS:
                if f"{key}-{place}" in form:
                    privacy[key] = _asked(privacy.get(key, {}), key, column.name, form, f"{key}-{place}")
        risk = dict(privacy.get("risk") or {})
        for name in OF_RELEASE:
            if name in form:
                said = str(form[name]).strip()
                risk[name] = number(form, name, 0, 1, 1) if said else None
        privacy["risk"] = {name: value for name, value in risk.items() if value is not None}
        edited = draft.told(privacy={key: said for key, said in privacy.items() if said})
        edited.spec(target=None)
        return edited

    request.app.state.page.change(edit)
    return shown(request, "models")


def _asked(before: Mapping[str, Any], key: str, column: str, form: FormData, name: str) -> dict[str, Any]:
    """What a model asks of columns, with another number for one of them; its other parameters stay."""
    model, written = SENSITIVE_MODELS[key], str(form[name]).strip()
    if not written:
        return {other: parameters for other, parameters in before.items() if other != column}
    value = number(form, name, model.least, MOST[key], model.least)
    if value == 0:
        raise SpecError(f"{model.symbol} must be above 0; raise it, or leave it empty to ask for nothing")
    parameters = before.get(column)
    return {**before, column: {**parameters, model.short: value} if isinstance(parameters, Mapping) else value}


ROUTES = [Route("/models", show), Route("/models", ask, methods=["POST"])]
