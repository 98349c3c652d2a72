"""The screen of the privacy models in addition to k-anonymity, by sensitive column and for the whole release."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from kanon_sql.errors import SpecError
from kanon_sql.hints import DROPPED, IDENTIFIER, SENSITIVE
from kanon_sql.page.draft import Draft, DraftColumn
from kanon_sql.page.web import number, rendered, shown
from kanon_sql.spec import SENSITIVE_MODELS
from kanon_sql.spec.keys import kind_of

MOST: dict[str, float | None] = {
    key: kind_of(model.model_fields[model.short]).limits.get("le") for key, model in SENSITIVE_MODELS.items()
}
MOST["t_closeness"] = 1  # no two distributions are farther apart
_ORDERED = re.compile(r"u?(tiny|small|big|huge)?int|integer|decimal|numeric|double|float|real|date|time|interval", re.I)
_BY_COUNTS = "By the number of different values"


@dataclass(frozen=True)
class Variant:
    """A variant of a model: its title, and what it requires, in a sentence with an example."""

    title: str
    sentence: str


@dataclass(frozen=True)
class ModelForm:
    """How a model is chosen: the key of its variant, if any, and the variants by their word in a spec."""

    key: str
    variants: Mapping[str, Variant] = field(default_factory=dict)


FORMS = {
    "l_diversity": ModelForm(
        "kind",
        {
            "distinct": Variant(
                _BY_COUNTS,
                "Every group has at least l different values. With l = 3, a group with flu, asthma and gout is "
                "allowed; a group with flu and asthma only is not.",
            ),
            "entropy": Variant(
                "By entropy: the values are also spread evenly",
                "The values of every group are spread at least as evenly as l equally frequent values. With l = 2, "
                "half flu and half asthma is allowed; nine rows with flu and one with asthma are not.",
            ),
            "recursive": Variant(
                "Recursive: the most frequent value is limited",
                "The most frequent value is less than c times as frequent as all values together that are not among "
                "the l − 1 most frequent. With l = 2 and c = 3, fewer than 3 rows have flu for every row with another "
                "value.",
            ),
        },
    ),
    "t_closeness": ModelForm(
        "distance",
        {
            "equal": Variant(
                "All values are equally far apart",
                "The shares of the values in a group differ from those in the whole table by at most t. With t = 0.2, "
                "a value that 10 % of the table have is shared by at most 30 % of a group.",
            ),
            "ordered": Variant(
                "By the order of the values, for numbers and dates",
                "Values count as further apart the more values are between them. With t = 0.2, a group cannot consist "
                "of the highest salaries only; a mix of low, middle and high ones is allowed.",
            ),
            "hierarchical": Variant(
                "By the hierarchy of the column",
                "Values count as closer if they share a label of the hierarchy. With t = 0.2, a group can replace "
                "asthma by bronchitis, both lung diseases, but not by fractures.",
            ),
        },
    ),
    "alpha_k": ModelForm(
        "value",
        {
            "": Variant(
                "Every value is limited",
                "No value has a larger share of a group than α. With α = 0.5, at most 5 of 10 rows have one value.",
            ),
            "value": Variant(
                "Only this value is limited",
                "Only the value that you name is limited. With α = 0.2 and HIV, at most 2 of 10 rows have HIV; other "
                "values can be as frequent as they are.",
            ),
        },
    ),
    "beta_likeness": ModelForm(
        "kind",
        {
            "enhanced": Variant(
                "Enhanced: frequent values are limited more",
                "A value can be more frequent in a group than in the table by β times at most, and by less if it is "
                "frequent. With β = 1, a value of 10 % of the table has at most 20 % of a group, one of 60 % at most "
                "91 %.",
            ),
            "basic": Variant(
                "Basic: the same for all values",
                "A value can be more frequent in a group than in the table by β times at most. With β = 1, a value of "
                "10 % of the table has at most 20 % of a group, and one of 60 % is not limited.",
            ),
        },
    ),
    "delta_disclosure": ModelForm(
        "",
        {
            "": Variant(
                "",
                "Every value is in every group, with a share close to that in the table: neither much larger nor much "
                "smaller. With δ = 1, a value of 10 % of the table has between 3.7 and 27 % of every group.",
            )
        },
    ),
}
OF_RELEASE = {
    "highest": (
        "Highest risk, at most",
        "The risk of a row is 1 over the size of its group. With 0.1, every group has at least 10 rows.",
    ),
    "mean": (
        "Mean risk, at most",
        "The mean over all rows: groups over rows. With 0.05, groups have 20 rows on average; some can be smaller.",
    ),
}


@dataclass(frozen=True)
class ColumnModel:
    """A model on one sensitive column, as the screen shows it.

    `number`: its main parameter, empty if it is not required. `variants`: those that suit the column. `chosen`: one of
    them. `more`: the other parameters: c of recursive l-diversity, the value of (α, k)-anonymity.
    """

    key: str
    number: Any
    variants: Mapping[str, Variant]
    chosen: str
    more: Mapping[str, Any]


def show(request: Request, problem: str = "") -> Response:
    """A number per model and column; an empty field means that the model is not required."""
    draft = request.app.state.page.draft
    privacy = draft.keys.get("privacy", {})
    columns = [
        (place, column, [_shown(key, column, privacy.get(key, {}).get(column.name)) for key in SENSITIVE_MODELS])
        for place, column in enumerate(draft.columns)
        if column.role == SENSITIVE or any(column.name in privacy.get(key, {}) for key in SENSITIVE_MODELS)
    ]
    units = [column for column in draft.columns if column.role in (IDENTIFIER, DROPPED)]
    other = [key for key in privacy if key not in ("k", "risk", *SENSITIVE_MODELS)]
    content = {"columns": columns, "units": units, "risk": privacy.get("risk") or {}, "other": other}
    return rendered(request, "models", problem, of=SENSITIVE_MODELS, most=MOST, of_release=OF_RELEASE, **content)


def _shown(key: str, column: DraftColumn, parameters: Any) -> ColumnModel:
    """A model on a column; `parameters`: as in the spec, None if it is not required."""
    model, form = SENSITIVE_MODELS[key], FORMS[key]
    given = parameters if isinstance(parameters, Mapping) else {model.short: parameters}
    chosen = str(given.get(form.key) or "") if form.key else ""
    if key == "alpha_k":
        chosen = "value" if chosen else ""
    suited = {word: variant for word, variant in form.variants.items() if word == chosen or _suits(word, column)}
    variants = suited if key != "alpha_k" else {chosen: form.variants[chosen]}  # its field for a value decides
    number = given.get(model.short)
    return ColumnModel(
        key, "" if number is None else number, variants, chosen if chosen in variants else next(iter(variants)), given
    )


def _suits(variant: str, column: DraftColumn) -> bool:
    """Whether a variant makes sense for a column: an order needs numbers or dates, and a hierarchy needs one."""
    if variant == "ordered":
        return bool(_ORDERED.match(column.suggested.type))
    if variant == "hierarchical":
        return bool(column.attribute.get("hierarchy", "suppress") != "suppress")
    return True


def choose(request: Request, form: FormData) -> Response:
    """Set or remove the parameters of models."""

    def edit(draft: Draft) -> Draft:
        privacy = dict(draft.keys.get("privacy", {}))
        if "k" in form:
            privacy["k"] = int(number(form, "k", "k, the minimum size of a group", 1, None, draft.k))
        if "unit" in form:
            names = {column.name for column in draft.columns}
            unit = str(form["unit"])
            draft = draft.with_keys(unit=unit if unit in names else None)
        for place, column in enumerate(draft.columns):
            for key in SENSITIVE_MODELS:
                if f"{key}-{place}" in form:
                    privacy[key] = _with(privacy.get(key, {}), key, column, form, f"{key}-{place}")
        risk = dict(privacy.get("risk") or {})
        for name, (title, _) in OF_RELEASE.items():
            if name in form:
                text = str(form[name]).strip()
                risk[name] = number(form, name, title, 0, 1, 1) if text else None
        privacy["risk"] = {name: value for name, value in risk.items() if value is not None}
        edited = draft.with_keys(privacy={key: value for key, value in privacy.items() if value})
        edited.spec(target=None)
        return edited

    request.app.state.page.change(edit)
    return shown(request, "models")


def _with(before: Mapping[str, Any], key: str, column: DraftColumn, form: FormData, name: str) -> dict[str, Any]:
    """The parameters of a model by column, with the form's for one column; parameters without a field stay."""
    model = SENSITIVE_MODELS[key]
    others = {other: parameters for other, parameters in before.items() if other != column.name}
    title = f"{model.title} of {column.name}"
    if not str(form[name]).strip():
        return others
    value = number(form, name, title, model.least, MOST[key], model.least)
    if value == 0:
        raise SpecError(f"{title}: {model.symbol} must be above 0; raise it, or leave it empty to require nothing")
    parameters = before.get(column.name)
    given = {**parameters, model.short: value} if isinstance(parameters, Mapping) else {model.short: value}
    if f"{name}-value" in form:
        value_limited = str(form[f"{name}-value"]).strip()
        given = {**given, "value": value_limited} if value_limited else {model.short: value}
    elif f"{name}-variant" in form:
        given = _with_variant(given, key, column, form, name)
    return {**others, column.name: given if len(given) > 1 else value}


def _with_variant(given: dict[str, Any], key: str, column: DraftColumn, form: FormData, name: str) -> dict[str, Any]:
    """The parameters of a model with the variant of the form, and what the variant needs."""
    word, variants = str(form[f"{name}-variant"]), FORMS[key]
    if word not in variants.variants:
        raise SpecError(f"{word!r} is not a variant of {SENSITIVE_MODELS[key].title}; choose one from the list")
    rest = {name: value for name, value in given.items() if name not in (variants.key, "c", "hierarchy")}
    if word != next(iter(variants.variants)):
        rest[variants.key] = word
    if word == "recursive":
        rest["c"] = number(form, f"{name}-c", f"c of {column.name}", 0, None, given.get("c") or 3)
    if word == "hierarchical":
        rest["hierarchy"] = given.get("hierarchy") or column.attribute.get("hierarchy")
    return rest


PAGES = {"/models": show}
CHANGES = {"/models": choose}
