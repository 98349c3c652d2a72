"""The screen of the privacy models besides k-anonymity, by sensitive column and for the whole release."""

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
    """A number per model and column; an empty field means that the model is not required."""
    draft = request.app.state.page.draft
    privacy = draft.keys.get("privacy", {})
    required = {
        key: {column: _short(key, parameters) for column, parameters in privacy.get(key, {}).items()}
        for key in SENSITIVE_MODELS
    }
    other = [key for key in privacy if key not in ("k", "risk", *SENSITIVE_MODELS)]
    content = {"required": required, "risk": privacy.get("risk") or {}, "other": other}
    declared = {"of_columns": SENSITIVE_MODELS, "most": MOST, "of_release": OF_RELEASE}
    return rendered(request, "models", problem, **declared, **content)


def _short(key: str, parameters: Any) -> Any:
    """A model's main parameter, which a spec sets alone or together with others."""
    return parameters.get(SENSITIVE_MODELS[key].short, "") if isinstance(parameters, Mapping) else parameters


@changing(show)
def choose(request: Request, form: FormData) -> Response:
    """Set or remove the parameters of models."""

    def edit(draft: Draft) -> Draft:
        privacy = dict(draft.keys.get("privacy", {}))
        if "k" in form:
            privacy["k"] = int(number(form, "k", 1, None, draft.k))
        if "unit" in form:
            names = {column.name for column in draft.columns}
            unit = str(form["unit"])
            draft = draft.with_keys(unit=unit if unit in names else None)
        for place, column in enumerate(draft.columns):
            for key in SENSITIVE_MODELS:
                if f"{key}-{place}" in form:
                    privacy[key] = _with(privacy.get(key, {}), key, column.name, form, f"{key}-{place}")
        risk = dict(privacy.get("risk") or {})
        for name in OF_RELEASE:
            if name in form:
                text = str(form[name]).strip()
                risk[name] = number(form, name, 0, 1, 1) if text else None
        privacy["risk"] = {name: value for name, value in risk.items() if value is not None}
        edited = draft.with_keys(privacy={key: value for key, value in privacy.items() if value})
        edited.spec(target=None)
        return edited

    request.app.state.page.change(edit)
    return shown(request, "models")


def _with(before: Mapping[str, Any], key: str, column: str, form: FormData, name: str) -> dict[str, Any]:
    """The parameters of a model by column, with a new number for one column; other parameters stay."""
    model = SENSITIVE_MODELS[key]
    written = str(form[name]).strip()
    if not written:
        return {other: parameters for other, parameters in before.items() if other != column}
    value = number(form, name, model.least, MOST[key], model.least)
    if value == 0:
        raise SpecError(f"{model.symbol} must be above 0; raise it, or leave it empty to require nothing")
    parameters = before.get(column)
    return {**before, column: {**parameters, model.short: value} if isinstance(parameters, Mapping) else value}


ROUTES = [Route("/models", show), Route("/models", choose, methods=["POST"])]
