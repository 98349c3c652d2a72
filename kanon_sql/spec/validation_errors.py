"""Validation errors of pydantic as one sentence that names the key and the expected value."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args

from pydantic import ValidationError

from kanon_sql.spec.algorithms import FLAT
from kanon_sql.spec.cloaking import CloakSpec
from kanon_sql.spec.fields import OPERATOR, AttributeSpec, ColumnForm, Perturbation, Spec
from kanon_sql.spec.keys import kind_of, takes
from kanon_sql.spec.linked import LinkedSpec
from kanon_sql.spec.privacy import SENSITIVE_MODELS
from kanon_sql.spec.recipes import RECIPES
from kanon_sql.spec.types import Model

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

_UNKNOWN = ("extra_forbidden", "invalid_key")


def explained(error: ValidationError) -> str:
    """The first error as one sentence; unknown keys precede the keys that are missing because of them."""
    details = sorted(error.errors(), key=lambda detail: detail["type"] not in _UNKNOWN)
    whole = next((model for model in (CloakSpec, LinkedSpec) if error.title == model.__name__), Spec)
    first, *rest = (_place(detail, whole)[0] for detail in details)
    others = set(rest) - {first}
    more = f" (and {len(others)} more)" if others else ""
    return _sentence(details[0], whole) + more


def _sentence(detail: ErrorDetails, whole: type[Model]) -> str:
    path, model, key = _place(detail, whole)
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


_WHOLE: dict[type[Model], str] = {
    AttributeSpec: "{hierarchy: …} or nothing",
    Perturbation: OPERATOR,
    ColumnForm: "a type, or a mapping such as {type: decimal, decimal: ','}",
    **{model: f"a number, or a mapping such as {{{model.short}: …}}" for model in SENSITIVE_MODELS.values()},
}


def _place(detail: ErrorDetails, model: type[Model]) -> tuple[str, type[Model], str]:
    """Where an error is: the keys that lead there, the model that it belongs to, and the key of that model, if any.

    pydantic's location also has list positions, the alternative of a union (the kind of a recipe), and "[key]" after a
    key that a mapping may not have.
    """
    location = [*detail["loc"]]
    if detail["type"] == "invalid_key":
        location[-1] = str(detail["input"])  # not text, as the user wrote it
    path: list[int | str] = []
    key = ""
    while location:
        key = str(location[0])
        path.append(location.pop(0))
        field = _keys(model).get(key)
        if field is None or not location:
            break
        kind, inner = kind_of(field).type, _models(field.annotation)
        if kind in (Union, UnionType):
            alternative = str(location.pop(0))
            inner = [RECIPES[alternative]] if alternative in RECIPES else []
        elif kind is Mapping and location[1:] == ["[key]"]:
            return _joined(path), model, key
        elif kind is Mapping:
            path.append(location.pop(0))
        if not inner or not (location or inner[0] in _WHOLE):
            break
        model, key = inner[0], ""
    return _joined([*path, *location]), model, key


def _joined(path: Sequence[int | str]) -> str:
    return ".".join(part for part in path if isinstance(part, str))


def _models(annotation: Any) -> list[type[Model]]:
    """The models in the type of a field; several are the kinds of recipes."""
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models(part)]


def _keys(model: type[Model]) -> dict[str, FieldInfo]:
    """List a model's keys as written in a spec."""
    return {str(field.validation_alias or name): field for name, field in model.model_fields.items()}


def _suggestion(model: type[Model], key: str) -> str:
    key = key.lower()
    parts = {**_keys(CloakSpec), **_keys(Spec)} if model is Spec else {}
    deeper = [
        f"{part}.{key}"
        for part, field in parts.items()
        if kind_of(field).type in _models(field.annotation) and key in _keys(kind_of(field).type)
    ]
    near = deeper or get_close_matches(key, [*_keys(model), *(FLAT if model is Spec else ())], n=1)
    return f"did you mean {near[0]!r}?" if near else f"the keys there are {', '.join(_keys(model))}"
