"""Environment variables for the options of a session, which the command line and the spec override."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from kanon_sql.engines.files import files
from kanon_sql.spec import mappings_in

SESSION = ("database", "attach", "memory_limit", "threads", "temp_directory")
"""The options for where and with which resources a command runs, not for what it releases."""
_PLACES = ("database", "attach")
_TABLES = ("source", "release", "releases", "auxiliary", "control", "priors", "previous", "population", "against")


def variable(name: str) -> str:
    """The environment variable of an option.

    >>> variable("memory_limit")
    'KANON_MEMORY_LIMIT'
    """
    return f"KANON_{name.upper()}"


def without_weaker(values: Mapping[str, Any], from_environment: Collection[str]) -> dict[str, Any]:
    """The options of a command without environment variables that something else overrides.

    A variable never overrides a key of the spec: a release could otherwise go to another database than the reviewed
    one. A database of the environment is not opened for a command that reads and writes files only.
    """
    spec = values.get("spec")
    mappings = mappings_in(spec) if isinstance(spec, Path) else [{}]
    named = {key for mapping in mappings for key, value in mapping.items() if value is not None}
    named |= {name for name, value in values.items() if value is not None and name not in from_environment}
    weaker = {name for name in from_environment if name in named}
    if named & {*_PLACES} or not any(_reads_tables(values, mapping, spec) for mapping in mappings):
        weaker |= {*_PLACES} & {*from_environment}
    return {name: None if name in weaker else value for name, value in values.items()}


def _reads_tables(values: Mapping[str, Any], mapping: Mapping[str, Any], spec: Path | None) -> bool:
    """Whether a command, or a release of its spec, reads or writes a table."""
    target = mapping.get("target")
    if values.get("into") or (isinstance(target, Mapping) and target.get("table")):
        return True
    source = mapping.get("source") if values.get("source") is None else None
    if isinstance(source, Mapping):  # {file: …}
        source = None
    if source is not None and spec is not None and not files(str(spec.parent / str(source))):
        return True
    named = [values[name] for name in _TABLES if values.get(name) is not None]
    tables = [name for names in named for name in (names if isinstance(names, list) else [names])]
    nothing_named = not tables and not mapping.get("source")
    return nothing_named or any(not files(str(name)) for name in tables)
