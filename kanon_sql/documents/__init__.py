"""What `--json` prints: documents with a name and a version, each described by a JSON Schema.

A document of the form `risk/1` has the keys `schema` and `version`, and those that `json_schema("risk")` describes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any

from kanon_sql.resources import package_version

_FORMS = (
    "manifest", "run", "releases", "refresh", "verify", "risk", "attack", "utility", "profile", "init", "init-database",
    "search", "compare", "compile", "explain", "database", "database-run", "database-check", "database-risk",
    "database-attack", "database-report", "error",
)  # fmt: skip
VERSIONS: Mapping[str, int] = dict.fromkeys(_FORMS, 1)
"""The forms of documents with their versions, which are raised when a key is removed or changes its meaning."""


def document(name: str, content: Mapping[str, Any]) -> dict[str, Any]:
    """The content with the name of its form and the version of the package; a manifest has both already."""
    if name == "manifest":
        return dict(content)
    return {"schema": f"{name}/{VERSIONS[name]}", "version": package_version(), **content}


def text(name: str, content: Mapping[str, Any]) -> str:
    """The document as JSON; numbers that JSON does not have, such as infinity, become null."""
    return json.dumps(_finite(document(name, content)), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of what a command prints with `--json`, of a `manifest`, of an `error`, or of a `spec`.

    Raises SpecError for another name.

    >>> json_schema("risk")["properties"]["schema"]
    {'const': 'risk/1', 'description': 'The name and version of this form.'}
    """
    from kanon_sql.documents.forms import schema_of  # not needed for printing a document

    return schema_of(name)
