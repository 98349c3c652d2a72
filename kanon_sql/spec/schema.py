"""The JSON Schema of a spec file, for editors and other checkers: the models' own, and the short forms that they read.

Where a value is none of text, `${NAME}` is one too: a pipeline fills variables in before anything is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, get_args

from kanon_sql.spec.algorithms import FLAT
from kanon_sql.spec.choices import CloakMethod
from kanon_sql.spec.cloaking import CloakSpec
from kanon_sql.spec.fields import READING, Spec
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
_SIZE = r"^\s*\d+(\.\d+)?\s*[kKmMgGtT][iI]?[bB]\s*$"  # editors know no (?i)


def schema() -> Schema:
    """The JSON Schema (2020-12) of a spec file: of one release, or of a pipeline's.

    No key is required, since `source` and others may be given on the command line. What does not go together, and what
    is in the data, is for `load` to say.

    >>> sorted(schema()["$defs"]["Swap"]["properties"]), schema()["additionalProperties"]
    (['within'], False)
    """
    release = _lenient(_both_models())
    models: dict[str, Schema] = release.pop("$defs")
    release["properties"] |= {key: models["PrioPrivacy"]["properties"][key] for key in FLAT}
    release["properties"] |= _OF_RUNS
    release["properties"] = {key: _or(each, _NULL) for key, each in release["properties"].items()}
    del release["required"]
    shared = {key: {"$ref": f"#/$defs/Release/properties/{key}"} for key in release["properties"]}
    definitions = {"Release": release, **models}
    return {
        "$schema": _DIALECT,
        "title": "A spec of kanon_sql",
        "description": "What is released from where, at which privacy, written to where.",
        "type": "object",
        "properties": {**shared, **_OF_FILES},
        "additionalProperties": False,
        "if": release["if"],
        "then": release["then"],
        "$defs": {name: _with_variables(each) for name, each in definitions.items()} | {"variable": _A_VARIABLE},
    }


def _both_models() -> Schema:
    """The schema of a release that generalizes columns, or with a location cloaks places."""
    both, places = (model.model_json_schema(by_alias=True) for model in (Spec, CloakSpec))
    both["$defs"] |= places["$defs"]
    both["properties"] |= {key: places["properties"][key] for key in CLOAKING}
    cloaked = dict.fromkeys(GENERALIZING, False) | {"privacy": {"$ref": "#/$defs/Anonymity"}}
    both["if"] = {"properties": {"location": {"type": "array"}}, "required": ["location"]}
    return both | {"then": {"properties": cloaked}}


def _lenient(whole: Schema) -> Schema:
    """The models' schema with the forms that are read before they validate."""
    models = whole["$defs"]
    del models["SuppressRecipe"]  # it is written as a word
    for name, model in {"Spec": whole, **models}.items():
        model.pop("title")
        for key, given in model.get("properties", {}).items():
            model["properties"][key] = _or(_plain(given), *_SHORT.get((name, key), ()))
    for (name, key), short in _SHORT_OF_EACH.items():
        each = whole if name == "Spec" else models[name]
        mapping = next(given for given in _alternatives(each["properties"][key]) if "additionalProperties" in given)
        mapping["additionalProperties"] = _or(mapping["additionalProperties"], *short)
    models["Perturbation"] |= {"minProperties": 1, "maxProperties": 1}
    for (name, key), kinds in _INSTEAD.items():
        given = (whole if name == "Spec" else models[name])["properties"]
        given[key] = {"anyOf": [*kinds], "description": given[key]["description"]}
    return whole


_SHORT: Mapping[tuple[str, str], tuple[Schema, ...]] = {
    ("Spec", "keep"): ({"const": "*"},),
    ("Spec", "null"): (_TEXT,),
    ("ColumnForm", "null"): (_TEXT,),
    ("Spec", "cloak"): ({"enum": [*get_args(CloakMethod)]},),
    ("Spec", "node"): ({"enum": [*get_args(NodeReuse)]},),
    ("Spec", "quasi_identifiers"): (_NAMES,),
    ("Spec", "metric"): (_CODE,),
    ("Attribute", "hierarchy"): (_TEXT,),
    ("TCloseness", "hierarchy"): (_TEXT,),
    ("Spec", "source"): (
        {
            "type": "object",
            "properties": {"file": _TEXT} | {key: {"$ref": f"#/$defs/Release/properties/{key}"} for key in READING},
            "additionalProperties": False,
        },
    ),
}
_INSTEAD: Mapping[tuple[str, str], tuple[Schema, ...]] = {  # what the models read by a function of their own
    ("Spec", "differencing_limit"): ({"type": "integer", "minimum": 0}, {"const": "unlimited"}),
    ("Spec", "memory_limit"): ({"type": "string", "pattern": _SIZE},),
    ("GroupsRecipe", "groups"): (_LEVEL, {"type": "array", "items": _LEVEL, "minItems": 1}),
    ("RangesRecipe", "ranges"): ({"type": "array", "items": {"anyOf": [_WIDTH, _TEXT]}, "minItems": 1},),
}
_SHORT_OF_EACH: Mapping[tuple[str, str], tuple[Schema, ...]] = {
    ("Spec", "columns"): (_TEXT,),
    ("Spec", "quasi_identifiers"): (_NULL,),
    **{
        ("Privacy", name): ({"$ref": f"#/$defs/{model.__name__}/properties/{model.short}"},)
        for name, model in SENSITIVE_MODELS.items()
    },
}
_OF_RUNS: dict[str, Schema] = {
    "audit": {
        "anyOf": [{"type": "boolean"}, _TEXT],
        "description": "In a pipeline: whether each release is noted in an audit trail, or the name of its table or "
        "file. "
        f"Give true or false, or a name. Default: false; true names it {AUDIT}.",
    },
    "differencing_history": {
        "type": "integer",
        "minimum": 1,
        "default": HISTORY,
        "description": "In a pipeline: how many of the last releases a new one is held against. Give a whole number "
        "of at "
        f"least 1. Default: {HISTORY}.",
    },
}
_OF_FILES: dict[str, Schema] = {
    "releases": {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": r"^[\w-]{1,60}$"},
        "additionalProperties": {"$ref": "#/$defs/Release"},
        "description": "The releases of a pipeline, for `kanon run`: what stands beside `releases` holds for each of "
        "them. "
        "Give a mapping of names to what is their own, such as {public: {target: {table: patients_public}}}.",
    },
    "vars": {
        "type": ["object", "null"],
        "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
        "description": "Variables of a pipeline, which values name as ${NAME}, with what they are by default. Give a "
        "mapping "
        "such as {DAY: monday}.",
    },
}
_A_VARIABLE: Schema = {
    "type": "string",
    "pattern": r"\$\{[A-Za-z_][A-Za-z0-9_]*\}",
    "description": "A variable of a pipeline, such as ${NAME}.",
}


def _plain(given: Schema) -> Schema:
    """A key's schema without what the models' names say already."""
    kept = {name: each for name, each in given.items() if name != "title"}
    if kept.get("default") in (None, [], {}) or isinstance(kept["default"], dict):
        kept.pop("default", None)
    for each in _alternatives(kept):
        if "oneOf" in each:  # the recipes of hierarchies
            each["oneOf"] = [one for one in each["oneOf"] if one != {"$ref": "#/$defs/SuppressRecipe"}]
    return kept


def _alternatives(given: Schema) -> list[Schema]:
    found: list[Schema] = given.get("anyOf", [given])
    return found


_ABOUT = ("default", "description")


def _or(given: Schema, *others: Schema) -> Schema:
    """The schema that also takes others; what it says of itself stays outside."""
    if not others:
        return given
    about = {name: given[name] for name in _ABOUT if name in given}
    own = {name: each for name, each in given.items() if name not in _ABOUT}
    known = own["anyOf"] if set(own) == {"anyOf"} else [own]
    return {"anyOf": [*known, *(other for other in others if other not in known)], **about}


def _with_variables(given: Any) -> Any:
    """The schema in which a variable may stand where a number, a truth or a word of a list does."""
    if not isinstance(given, dict):
        return given
    inner = {name: _deeper(name, each) for name, each in given.items()}
    if any(map(_is_strict, _alternatives(inner))):
        return _or(inner, _VARIABLE)
    return inner


def _deeper(name: str, given: Any) -> Any:
    match name:
        case "properties":
            return {key: _with_variables(each) for key, each in given.items()}
        case "anyOf" | "oneOf":
            return [_inside(each) for each in given]
        case "items" | "additionalProperties":
            return _with_variables(given)
    return given


def _inside(given: Schema) -> Schema:
    """One of several alternatives: a variable is an alternative beside it."""
    return {name: _deeper(name, each) for name, each in given.items()}


def _is_strict(given: Schema) -> bool:
    return given.get("type") in ("integer", "number", "boolean") or any(
        name in given for name in ("enum", "const", "pattern", "format")
    )
