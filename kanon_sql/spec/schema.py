"""The JSON Schema of a spec file, for editors and validators: the schema of the models, with their short forms.

`${NAME}` is also allowed for values that are not text: a pipeline fills in variables before validation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, get_args

from kanon_sql.spec.algorithms import FLAT
from kanon_sql.spec.choices import CloakMethod
from kanon_sql.spec.cloaking import CloakSpec
from kanon_sql.spec.fields import READING, Spec
from kanon_sql.spec.linked import LinkedSpec
from kanon_sql.spec.load import CLOAKING, GENERALIZING
from kanon_sql.spec.pipeline import AUDIT, HISTORY, NodeReuse
from kanon_sql.spec.privacy import SENSITIVE_MODELS

Schema: TypeAlias = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT: Schema = {"type": "string", "minLength": 1}
_NAMES: Schema = {"type": "array", "items": _TEXT, "uniqueItems": True}
_CODE: Schema = {"type": "string", "pattern": r"^[\w.]+:\w+$"}
_NUMBER: Schema = {"type": "number"}
_NULL: Schema = {"type": "null"}
_WIDTH: Schema = {"type": "number", "exclusiveMinimum": 0}
_MEMBERS: Schema = {"type": "array", "items": {"type": ["string", "number", "boolean", "null"]}}
_LEVEL: Schema = {"type": "object", "minProperties": 1, "additionalProperties": _MEMBERS}
_VARIABLE = {"$ref": "#/$defs/variable"}
_ABOUT = ("default", "description")
_SIZE = r"^\s*\d+(\.\d+)?\s*[kKmMgGtT][iI]?[bB]\s*$"  # editors do not support (?i)


def schema() -> Schema:
    """The JSON Schema (2020-12) of a spec file: of one release, or of a pipeline's.

    No key is required, since `source` and others can be set on the command line. The schema contains neither the
    conflicts between options nor the data.

    >>> sorted(schema()["$defs"]["Swap"]["properties"]), schema()["additionalProperties"]
    (['within'], False)
    """
    release = _lenient(_both_models())
    models: dict[str, Schema] = release.pop("$defs")
    release["properties"] |= {key: models["PrioPrivacy"]["properties"][key] for key in FLAT}
    release["properties"] |= _OF_RUNS
    release["properties"] = {key: _or(value, _NULL) for key, value in release["properties"].items()}
    del release["required"]
    shared = {key: {"$ref": f"#/$defs/Release/properties/{key}"} for key in release["properties"]}
    definitions = {"Release": release, **models}
    return {
        "$schema": _DIALECT,
        "title": "A spec of kanon_sql",
        "description": "The source, the privacy models and the target of a release.",
        "type": "object",
        "properties": {**shared, **_OF_FILES},
        "additionalProperties": False,
        "if": release["if"],
        "then": release["then"],
        "$defs": {name: _with_variables(part) for name, part in definitions.items()} | {"variable": _A_VARIABLE},
    }


def database_schema() -> Schema:
    """The JSON Schema (2020-12) of the spec of several tables, for `kanon database`.

    >>> sorted(database_schema()["$defs"]["LinkedTable"]["properties"])[:4]
    ['identifiers', 'keep', 'keys', 'quasi_identifiers']
    """
    whole = _lenient(LinkedSpec.model_json_schema(by_alias=True), root="LinkedSpec")
    return {
        "$schema": _DIALECT,
        "title": "A spec of kanon_sql for several tables",
        **whole,
        "description": "The people, the tables with their keys and columns, the privacy models, and the target.",
    }


def _both_models() -> Schema:
    """The schema of a release that generalizes columns, or with a location cloaks places."""
    both, places = (model.model_json_schema(by_alias=True) for model in (Spec, CloakSpec))
    both["$defs"] |= places["$defs"]
    both["properties"] |= {key: places["properties"][key] for key in CLOAKING}
    cloaked = dict.fromkeys(GENERALIZING, False) | {"privacy": {"$ref": "#/$defs/Anonymity"}}
    both["if"] = {"properties": {"location": {"type": "array"}}, "required": ["location"]}
    return both | {"then": {"properties": cloaked}}


def _lenient(whole: Schema, root: str = "Spec") -> Schema:
    """The models' schema, with the short forms that are expanded before validation. `root`: the outermost model."""
    models = whole["$defs"]
    del models["SuppressRecipe"]  # it is written as a word
    named = {root: whole, **models}
    for name, model in named.items():
        model.pop("title")
        for key, value in model.get("properties", {}).items():
            model["properties"][key] = _or(_plain(value), *_SHORT.get((name, key), ()))
    for (name, key), short in _SHORT_OF_EACH.items():
        model = named.get(name)
        if model is None:
            continue
        alternatives = _alternatives(model["properties"][key])
        mapping = next(value for value in alternatives if "additionalProperties" in value)
        mapping["additionalProperties"] = _or(mapping["additionalProperties"], *short)
    if "Perturbation" in models:
        models["Perturbation"] |= {"minProperties": 1, "maxProperties": 1}
    for (name, key), kinds in _INSTEAD.items():
        if name not in named:
            continue
        properties = named[name]["properties"]
        properties[key] = {"anyOf": [*kinds], "description": properties[key]["description"]}
    return whole


_SHORT: Mapping[tuple[str, str], tuple[Schema, ...]] = {
    ("Spec", "keep"): ({"const": "*"},),
    ("Spec", "null"): (_TEXT,),
    ("ColumnForm", "null"): (_TEXT,),
    ("Spec", "cloak"): ({"enum": [*get_args(CloakMethod)]},),
    ("Spec", "node"): ({"enum": [*get_args(NodeReuse)]},),
    ("Spec", "quasi_identifiers"): (_NAMES,),
    ("LinkedTable", "quasi_identifiers"): (_NAMES,),
    ("Spec", "metric"): (_CODE,),
    ("AttributeSpec", "hierarchy"): (_TEXT,),
    ("TCloseness", "hierarchy"): (_TEXT,),
    ("Spec", "source"): (
        {
            "type": "object",
            "properties": {"file": _TEXT} | {key: {"$ref": f"#/$defs/Release/properties/{key}"} for key in READING},
            "additionalProperties": False,
        },
    ),
}
_INSTEAD: Mapping[tuple[str, str], tuple[Schema, ...]] = {  # keys that the models validate by a function
    ("Spec", "differencing_limit"): ({"type": "integer", "minimum": 0}, {"const": "unlimited"}),
    ("Spec", "memory_limit"): ({"type": "string", "pattern": _SIZE},),
    ("LinkedSpec", "memory_limit"): ({"type": "string", "pattern": _SIZE},),
    ("GroupsRecipe", "groups"): (_LEVEL, {"type": "array", "items": _LEVEL, "minItems": 1}),
    ("RangesRecipe", "ranges"): ({"type": "array", "items": {"anyOf": [_WIDTH, _TEXT]}, "minItems": 1},),
}
_SHORT_OF_EACH: Mapping[tuple[str, str], tuple[Schema, ...]] = {
    ("Spec", "columns"): (_TEXT,),
    ("Spec", "quasi_identifiers"): (_NULL,),
    ("LinkedTable", "quasi_identifiers"): (_NULL,),
    **{
        (privacy, name): ({"$ref": f"#/$defs/{model.__name__}/properties/{model.short}"},)
        for privacy in ("Privacy", "LinkedPrivacy")
        for name, model in SENSITIVE_MODELS.items()
    },
}
_OF_RUNS: dict[str, Schema] = {
    "audit": {
        "anyOf": [{"type": "boolean"}, _TEXT],
        "description": "In a pipeline: whether releases are recorded in an audit trail, or its table or file. "
        f"Give true or false, or a name. Default: false; true names it {AUDIT}.",
    },
    "differencing_history": {
        "type": "integer",
        "minimum": 1,
        "default": HISTORY,
        "description": "In a pipeline: how many of the last releases a new one is compared with. "
        f"Give a whole number of at least 1. Default: {HISTORY}.",
    },
}
_OF_FILES: dict[str, Schema] = {
    "releases": {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": r"^[\w-]{1,60}$"},
        "additionalProperties": {"$ref": "#/$defs/Release"},
        "description": "The releases of a pipeline, for `kanon run`. Keys next to `releases` apply to all of them. "
        "Give a mapping of names to their own keys, such as {public: {target: {table: patients_public}}}.",
    },
    "vars": {
        "type": ["object", "null"],
        "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
        "description": "Variables of a pipeline with their defaults; values refer to them as ${NAME}. "
        "Give a mapping such as {DAY: monday}.",
    },
}
_A_VARIABLE: Schema = {
    "type": "string",
    "pattern": r"\$\{[A-Za-z_][A-Za-z0-9_]*\}",
    "description": "A variable of a pipeline, such as ${NAME}.",
}


def _plain(value: Schema) -> Schema:
    """The schema of a key without its title and an empty default."""
    kept = {name: part for name, part in value.items() if name != "title"}
    if kept.get("default") in (None, [], {}) or isinstance(kept["default"], dict):
        kept.pop("default", None)
    for alternative in _alternatives(kept):
        if "oneOf" in alternative:  # the recipes of hierarchies
            alternative["oneOf"].remove({"$ref": "#/$defs/SuppressRecipe"})
    return kept


def _alternatives(value: Schema) -> list[Schema]:
    found: list[Schema] = value.get("anyOf", [value])
    return found


def _or(value: Schema, *others: Schema) -> Schema:
    """The schema, or one of the others; the default and the description stay outside of `anyOf`."""
    if not others:
        return value
    about = {name: value[name] for name in _ABOUT if name in value}
    own = {name: part for name, part in value.items() if name not in _ABOUT}
    alternatives = own["anyOf"] if set(own) == {"anyOf"} else [own]
    return {"anyOf": [*alternatives, *(other for other in others if other not in alternatives)], **about}


def _with_variables(value: Any) -> Any:
    """The schema that also allows a variable in place of a number, a boolean or a word of a list."""
    if not isinstance(value, dict):
        return value
    inner = _parts_with_variables(value)
    return _or(inner, _VARIABLE) if any(map(_is_strict, _alternatives(inner))) else inner


def _parts_with_variables(value: Schema) -> Schema:
    """The same for the parts of a schema that is itself an alternative, next to that of a variable."""
    parts = dict(value)
    for name, part in value.items():
        match name:
            case "properties":
                parts[name] = {key: _with_variables(inner) for key, inner in part.items()}
            case "anyOf" | "oneOf":
                parts[name] = [_parts_with_variables(alternative) for alternative in part]
            case "items" | "additionalProperties":
                parts[name] = _with_variables(part)
    return parts


def _is_strict(value: Schema) -> bool:
    return value.get("type") in ("integer", "number", "boolean") or any(
        name in value for name in ("enum", "const", "pattern", "format")
    )
