"""Validation errors of pydantic as one sentence that names the key and the expected value."""

from __future__ import annotations

import reprlib
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

from pydantic import ValidationError

from kanon_sql.spec.algorithms import FLAT, Budget, PrioPrivacy
from kanon_sql.spec.cloaking import Cloak, CloakSpec
from kanon_sql.spec.fields import BUDGETS, OPERATOR, OPERATORS, AttributeSpec, ColumnForm, Perturbation, Spec, Target
from kanon_sql.spec.keys import takes
from kanon_sql.spec.linked import Into, LinkedPrivacy, LinkedSpec, LinkedTable
from kanon_sql.spec.privacy import POPULATION_MODELS, RELEASE_MODELS, SENSITIVE_MODELS, Above, Anonymity, Privacy
from kanon_sql.spec.recipes import RECIPES
from kanon_sql.spec.types import Model

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

Location: TypeAlias = tuple[int | str, ...]

_UNKNOWN = ("extra_forbidden", "invalid_key")


def explained(error: ValidationError) -> str:
    """The first error as one sentence; unknown keys precede the keys that are missing because of them."""
    details = sorted(error.errors(), key=lambda detail: detail["type"] not in _UNKNOWN)
    first, *rest = (_path(_location(detail)) for detail in details)
    others = set(rest) - {first}
    more = f" (and {len(others)} more)" if others else ""
    whole = next((model for model in (CloakSpec, LinkedSpec) if error.title == model.__name__), Spec)
    return _sentence(details[0], whole) + more


def _location(detail: ErrorDetails) -> Location:
    """The location of the error, with a key that is not text as the user wrote it."""
    location = detail["loc"]
    return (*location[:-1], str(detail["input"])) if detail["type"] == "invalid_key" else location


def _sentence(detail: ErrorDetails, whole: type[Model]) -> str:
    location = _location(detail)
    path = _path(location)
    model, key = _owner(location, whole)
    if detail["type"] in _UNKNOWN:
        return f"{path} is not a key of a spec; {_suggestion(model, key)}"
    if detail["type"] == "value_error":
        return ": ".join([*filter(None, [path]), str(detail["ctx"]["error"])])
    wanted = takes(_keys(model)[key]) if key else _WHOLE[model]
    if detail["type"] == "missing":
        return f"{path} is missing; give {wanted}"
    given = "" if key in ("database", "attach") else f", not {shown(detail['input'])}"
    return f"{path}: give {wanted}{given}"


class _Shown(reprlib.Repr):
    """Show the type of data instead of its contents."""

    def repr_instance(self, x: object, level: int) -> str:
        plain = isinstance(x, (bytes, float, bool, type(None)))
        return super().repr_instance(x, level) if plain else f"a {type(x).__name__}"


shown = _Shown().repr


_PARTS: dict[int | str, type[Model]] = {
    "privacy": Privacy,
    "target": Target,
    "cloak": Cloak,
    "prioprivacy": PrioPrivacy,
    **dict.fromkeys(BUDGETS, Budget),
}
_LINKED_PARTS: dict[int | str, type[Model]] = {"tables": LinkedTable, "privacy": LinkedPrivacy, "into": Into}
_WHOLE: dict[type[Model], str] = {
    AttributeSpec: "{hierarchy: …} or nothing",
    Perturbation: OPERATOR,
    ColumnForm: "a type, or a mapping such as {type: decimal, decimal: ','}",
    **{model: f"a number, or a mapping such as {{{model.short}: …}}" for model in SENSITIVE_MODELS.values()},
}


def _path(location: Location) -> str:
    """Write a place in the spec as its keys, without pydantic's recipe tags, key marks and list positions."""
    match location:
        case ("quasi_identifiers" | "perturb" | "columns" as whole, _, "[key]"):
            location = (whole,)
        case ("privacy", str(key), _, "[key]"):
            location = ("privacy", key)
        case ("quasi_identifiers", column, "hierarchy", _, *rest):
            location = ("quasi_identifiers", column, "hierarchy", *rest)
        case ("privacy", "t_closeness", column, "hierarchy", _, *rest):
            location = ("privacy", "t_closeness", column, "hierarchy", *rest)
        case ("cloak", str(key), *_):
            location = ("cloak", key)
    return ".".join(str(part) for part in location if not isinstance(part, int))


def _owner(location: Location, whole: type[Model]) -> tuple[type[Model], str]:
    """Find the model and the key of it that a place in the spec belongs to."""
    of_sensitive = location[:1] == ("privacy",) and len(location) > 2
    if whole is LinkedSpec and location and location[0] in _LINKED_PARTS and not of_sensitive:
        inner = location[2:] if location[0] == "tables" else location[1:]
        return _owner(inner, _LINKED_PARTS[location[0]]) if inner else (whole, str(location[0]))
    match location:
        case ("quasi_identifiers", _, "hierarchy", str(kind), key, *_):
            return RECIPES[kind], str(key)
        case ("privacy", "t_closeness", _, "hierarchy", str(kind), key, *_):
            return RECIPES[kind], str(key)
        case ("privacy", "risk", "above", key, *_):
            return Above, str(key)
        case ("privacy", str(name), key, *_) if name in RELEASE_MODELS:
            return RELEASE_MODELS[name], str(key)
        case ("privacy", str(name), _, *rest) if name in SENSITIVE_MODELS and rest != ["[key]"]:
            return SENSITIVE_MODELS[name], str(next(iter(rest), ""))
        case ("privacy", str(name), key, *_) if name in POPULATION_MODELS:
            return POPULATION_MODELS[name], str(key)
        case ("quasi_identifiers", _):
            return AttributeSpec, ""
        case ("quasi_identifiers", _, key, *_) if key != "[key]":
            return AttributeSpec, str(key)
        case ("perturb", _, str(operator), key, *_) if operator in OPERATORS:
            return OPERATORS[operator], str(key)
        case ("perturb", _):
            return Perturbation, ""
        case ("perturb", _, key, *_) if key != "[key]":
            return Perturbation, str(key)
        case ("columns", _):
            return ColumnForm, ""
        case ("columns", _, key, *_) if key != "[key]":
            return ColumnForm, str(key)
        case ("privacy", key, *_) if whole is CloakSpec:
            return Anonymity, str(key)
        case (part, key, *_) if part in _PARTS:
            return _PARTS[part], str(key)
    return whole, str(next(iter(location), ""))


def _keys(model: type[Model]) -> dict[str, FieldInfo]:
    """List a model's keys as written in a spec."""
    return {str(field.validation_alias or name): field for name, field in model.model_fields.items()}


def _suggestion(model: type[Model], key: str) -> str:
    parts = _PARTS if model is Spec else {}
    key = key.lower()
    deeper = [f"{part}.{key}" for part, inner in parts.items() if key in _keys(inner)]
    near = deeper or get_close_matches(key, [*_keys(model), *(FLAT if model is Spec else ())], n=1)
    return f"did you mean {near[0]!r}?" if near else f"the keys there are {', '.join(_keys(model))}"
