"""Types of keys, from which the schemas of documents are composed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]
Keys: TypeAlias = Mapping[str, tuple[Schema, str]]
"""The keys of an object, with their types and meanings."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"
COUNT: Schema = {"type": "integer", "minimum": 0}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
ANY: Schema = {}
NAMES: Schema = {"type": "array", "items": TEXT}
FIGURE: Schema = {"anyOf": [NUMBER, {"type": "null"}]}


def or_null(kind: Schema) -> Schema:
    """A type, or null."""
    return {"anyOf": [kind, {"type": "null"}]}


def by_name(kind: Schema) -> Schema:
    """An object whose keys are names, of columns or figures."""
    return {"type": "object", "additionalProperties": kind}


def list_of(kind: Schema) -> Schema:
    """A list of values of one type."""
    return {"type": "array", "items": kind}


def closed(keys: Keys, optional: Collection[str] = ()) -> Schema:
    """An object that has exactly these keys, except that it can lack the optional ones.

    >>> closed({"rows": (COUNT, "Rows of the table.")})["additionalProperties"]
    False
    """
    return {
        "type": "object",
        "properties": {name: {**kind, "description": meaning} for name, (kind, meaning) in keys.items()},
        "required": [name for name in keys if name not in optional],
        "additionalProperties": False,
    }
