"""Events against the JSON schemas in the folder `spec/` of an OpenLineage checkout, which KANON_OPENLINEAGE names."""

import json
import os
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

FOLDER = os.environ.get("KANON_OPENLINEAGE")
MISSING = "KANON_OPENLINEAGE is not set to the folder spec/ of an OpenLineage checkout"
_FORMATS = FormatChecker(())


@_FORMATS.checks("date-time", raises=ValueError)
def _is_time(value: object) -> bool:
    return not isinstance(value, str) or ("T" in value and datetime.fromisoformat(value).tzinfo is not None)


@_FORMATS.checks("uri", raises=ValueError)
def _is_uri(value: object) -> bool:
    return not isinstance(value, str) or (bool(urlsplit(value).scheme) and value.isascii() and " " not in value)


@_FORMATS.checks("uuid", raises=ValueError)
def _is_uuid(value: object) -> bool:
    return not isinstance(value, str) or str(UUID(value)) == value.lower()


def errors(event: dict[str, Any]) -> list[str]:
    """Why an event or one of its facets is invalid, by the versions of the schemas that they name."""
    url, _, definition = event["schemaURL"].partition("#/$defs/")
    assert definition == "RunEvent", event["schemaURL"]
    found = [f"event: {error}" for error in _invalid(url, event, f"{url}#/$defs/RunEvent")]
    for place, key, facet in _facets(event):
        if "_schemaURL" not in facet:  # the event's schema requires it
            continue
        url, _, definition = facet["_schemaURL"].partition("#/$defs/")
        reference = _schema(url).get("properties", {}).get(key)
        if reference == {"$ref": f"#/$defs/{definition}"}:
            found += [f"{place}.{key}: {error}" for error in _invalid(url, facet, f"{url}#/$defs/{definition}")]
        else:
            found.append(f"{place}.{key}: {url} has no facet of this name")
    return found


def _facets(event: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    places = {"run": [event["run"]], "job": [event["job"]], "inputs": event["inputs"], "outputs": event["outputs"]}
    for place, owners in places.items():
        for owner in owners:
            for kind in ("facets", "inputFacets", "outputFacets"):
                for key, facet in owner.get(kind, {}).items():
                    yield f"{place}.{kind}", key, facet


def _invalid(url: str, value: Any, reference: str) -> Iterator[str]:
    _schema(url)
    validator = Draft202012Validator({"$ref": reference}, registry=_registry(), format_checker=_FORMATS)
    for error in validator.iter_errors(value):
        yield f"{error.json_path}: {error.message}"


def _schema(url: str) -> Any:
    """The schema of a URL; an error for a version that the folder does not have."""
    assert url in _registry(), f"{FOLDER} has no {url}; check out the version of the installed openlineage-python"
    return _registry().contents(url)


@cache
def _registry() -> Registry[Any]:
    assert FOLDER, MISSING
    contents = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(Path(FOLDER).rglob("*.json"))]
    schemas = [content for content in contents if isinstance(content, dict) and "$id" in content]
    assert schemas, f"{FOLDER} contains no schema"
    resources = [(schema["$id"], Resource.from_contents(schema, DRAFT202012)) for schema in schemas]
    return Registry().with_resources(resources).crawl()
