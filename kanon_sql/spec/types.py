"""The types of the fields: how their values are read and validated."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    PlainSerializer,
    StrictFloat,
    StringConstraints,
    ValidationInfo,
)
from pydantic_core import CoreSchema

from kanon_sql.spec.keys import described
from kanon_sql.spec.session import names_a_server


class Model(BaseModel):
    """A part of a spec: frozen, and without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """The JSON Schema with the whole description of each key."""
        reference = handler(core_schema)
        properties = handler.resolve_ref_schema(reference).get("properties", {})
        for name, field in cls.model_fields.items():
            properties[field.serialization_alias or name]["description"] = described(field)
        return reference


def as_text(value: object) -> object:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _in_folder(value: str, info: ValidationInfo) -> str:
    """Resolve a relative path against the spec file's folder, if any."""
    if not info.context or "://" in value or value == ":memory:" or names_a_server(value):
        return value
    return str(info.context["folder"] / Path(value).expanduser())


def _in_folder_if_there(value: str, info: ValidationInfo) -> str:
    """Resolve a file, or a glob of files, against the spec file's folder; other names, as of tables, stay unchanged."""
    resolved = _in_folder(value, info)
    if os.path.isfile(resolved):
        return resolved
    if not info.context or not glob.has_magic(value):
        return value
    pattern = os.path.join(glob.escape(str(info.context["folder"])), Path(value).expanduser())
    return pattern if next(glob.iglob(pattern, recursive=True, include_hidden=True), None) else value


def _path_or_mapping(value: object, info: ValidationInfo) -> object:
    """The path of a manifest, or the manifest itself as a Python object."""
    text = as_text(value)
    if isinstance(text, str) and text:
        return _in_folder(text, info)
    if isinstance(text, Mapping):
        return dict(text)
    raise ValueError("give the path of a manifest, or in Python the manifest itself")


def no_folder(value: object) -> object:
    text = as_text(value)
    if isinstance(text, str) and text.endswith(("/", os.sep)):
        raise ValueError(f"{text} ends like a folder; leave out the {text[-1]} at its end, or name a file in it")
    return value


def _not_a_boolean(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError(f"{str(value).lower()} is not a number; write a number")
    return value


def distinct(value: object) -> object:
    if isinstance(value, list | tuple):
        for column in value:
            if value.count(column) > 1:
                raise ValueError(f"{column!r} is listed twice; keep one of the two")
    return value


def alone(key: str) -> BeforeValidator:
    """Accept a bare text in place of a mapping with this key."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, str) else value)


def by_column(value: object) -> object:
    """Turn a plain list of columns, or columns without settings, into the full mapping."""
    if isinstance(value, Mapping):
        return {column: {} if attribute is None else attribute for column, attribute in value.items()}
    if isinstance(value, list | tuple) and all(isinstance(column, str) for column in value):
        return {column: {} for column in value}
    return value


FROZEN = AfterValidator(MappingProxyType), PlainSerializer(dict)  # of mappings that no one can change


def empty() -> Mapping[Any, Any]:
    """The default of such a mapping."""
    return MappingProxyType({})


Text: TypeAlias = Annotated[str, StringConstraints(min_length=1)]
Weight: TypeAlias = Annotated[StrictFloat, Field(gt=0, le=1)]
Columns: TypeAlias = Annotated[tuple[Text, ...], BeforeValidator(distinct)]
Number: TypeAlias = Annotated[Decimal, BeforeValidator(_not_a_boolean)]
Manifest: TypeAlias = Annotated[str | dict[str, Any], BeforeValidator(_path_or_mapping)]
IN_FOLDER = AfterValidator(_in_folder)
LocalPath: TypeAlias = Annotated[Text, BeforeValidator(as_text), IN_FOLDER]
Source: TypeAlias = Annotated[Text, BeforeValidator(as_text), AfterValidator(_in_folder_if_there)]


def number_or_text(text: str) -> int | float | str:
    """A number from its text; the text itself, which the spec then rejects, if it is none.

    >>> number_or_text("3"), number_or_text("0.5"), number_or_text("many")
    (3, 0.5, 'many')
    """
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else float_or_text(text)


def float_or_text(text: str) -> float | str:
    """The same, for a number with decimals."""
    try:
        return float(text)
    except ValueError:
        return text
