"""The spec file of a pipeline: one release, or several under `releases`, with options for pipelines."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from kanon_sql.errors import SpecError
from kanon_sql.spec.checks import check
from kanon_sql.spec.fields import DECLARED, ReleaseSpec
from kanon_sql.spec.load import (
    KEYS,
    Fill,
    SpecType,
    completed,
    key_of_runs,
    loaded,
    mapping_of,
    merge,
    model_of,
    read,
    validated,
)
from kanon_sql.spec.validation_errors import shown

NodeReuse: TypeAlias = Literal["keep", "search", "keep_else_search"]
AUDIT = "kanon_releases"  # the default name of an audit trail
HISTORY = 30  # how many earlier releases a new one is compared with by default
_NOT_OF_THE_RELEASE = (
    *DECLARED,
    "database",
    "secret",
    "differencing",
    "differencing_limit",
    "differencing_values",
    "deferral_limit",
    "deferral_days",
)
_NAME = re.compile(r"[\w-]{1,60}")


@dataclass(frozen=True)
class Scheduled:
    """One release of a pipeline: its name, its spec, what it reuses of the previous release, and its audit trail.

    `key` identifies the release among all specs of its folder. `sha256`: the digest of its spec, without the address of
    the database, which can contain a password. `audit`: the name of the trail, None without one. `history`: how many of
    the last releases a new one is compared with.
    """

    name: str
    key: str
    spec: ReleaseSpec
    node: NodeReuse
    audit: str | None
    sha256: str
    history: int = HISTORY


def load_runs(path: Path, variables: Mapping[str, str] | None = None) -> list[Scheduled]:
    """Read the releases of a spec file, in its order; SpecError before anything is opened.

    `variables` override the environment and the file's own `vars`. Keys next to `releases` apply to all releases; a
    release overrides them key by key.
    """
    releases = _mappings(path, variables or {})
    if None in releases:
        return [_scheduled(path, path.stem, path.stem, releases[None])]
    scheduled = []
    for name, mapping in releases.items():
        try:
            scheduled.append(_scheduled(path, str(name), f"{path.stem}.{name}", mapping))
        except SpecError as error:
            raise SpecError(f"releases.{name}: {error}") from None
    return scheduled


def loaded_to_read(path: Path, model: type[SpecType], overrides: Mapping[str, Any]) -> SpecType:
    """Read a spec file for a verb that writes no release: as `loaded`, but a pipeline of one release works too.

    Keys for pipelines are ignored; variables have the values of the environment or the file.
    """
    return completed(mapping_to_read(path), path.parent, model, overrides)


def mapping_to_read(path: Path) -> dict[str, Any]:
    """The keys of the release in a spec file, without the keys for pipelines."""
    if not key_of_runs(read(path)):
        return mapping_of(path)
    releases = _mappings(path, {})
    if len(releases) > 1:
        names = ", ".join(map(str, releases))
        raise SpecError(f"{path} has the releases {names}; name a spec file of one of them")
    (mapping,) = releases.values()
    ignored = {*KEYS} | ({"node"} if isinstance(mapping.get("node"), str) else set())
    return {key: value for key, value in mapping.items() if key not in ignored}


def mappings_in(path: Path) -> list[Mapping[str, Any]]:
    """The keys of every release in a spec file, as they are written: variables are not filled, nothing is checked."""
    shared = read(path)
    releases = shared.get("releases")
    if not isinstance(releases, Mapping):
        return [shared]
    return [{**shared, **own} for own in releases.values() if isinstance(own, Mapping)] or [shared]


def load_to_check(path: Path, variables: Mapping[str, str] | None = None) -> dict[str, ReleaseSpec]:
    """Read the specs of a file, by the name of the release or file; SpecError if one does not describe a release."""
    if key_of_runs(read(path)):
        return {scheduled.name: scheduled.spec for scheduled in load_runs(path, variables)}
    if variables:
        raise SpecError(f"{path} is the spec of one release, which has no variables; leave out `vars`")
    spec = loaded(path, model_of(mapping_of(path)), {})
    check(spec, "anonymize")
    return {path.stem: spec}


def _mappings(path: Path, variables: Mapping[str, str]) -> dict[str | None, dict[str, Any]]:
    """The mapping of every release in a file, by name; None is the name of a single release without `releases`."""
    shared = dict(read(path, _filling(variables, str(path))))
    shared.pop("vars", None)
    releases = shared.pop("releases", None)
    if releases is None:
        return {None: shared}
    if not isinstance(releases, Mapping) or not releases:
        raise SpecError(f"releases: give a mapping of names to specs, not {shown(releases)}")
    return {name: {**shared, **_own(name, own)} for name, own in releases.items()}


def _own(name: Any, own: Any) -> Mapping[str, Any]:
    """The keys of one of several releases."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SpecError(f"releases: {name!r} is not a name of a release; use letters, digits, - and _")
    if not isinstance(own, Mapping):
        raise SpecError(f"releases.{name}: give a mapping of its own keys, such as its target, not {shown(own)}")
    if nested := own.keys() & {"releases", "vars"}:
        raise SpecError(f"releases.{name}: {min(nested)} belongs at the top of the file; move it there")
    return own


def _scheduled(path: Path, name: str, key: str, mapping: Mapping[str, Any]) -> Scheduled:
    keys = dict(mapping)
    audit = _audit(keys.pop("audit", None))
    node = _node_reuse(keys)
    history = _history(keys.pop("differencing_history", HISTORY))
    spec = merge(validated(keys, model_of(keys), path.parent))
    if spec.target is None:
        raise SpecError("there is no target; add one, such as `target: {table: patients_anon}`")
    if spec.differencing_limit is None:
        spec = spec.model_copy(update={"differencing_limit": 0})
    check(spec, "anonymize")
    digest = _digest({**keys, "node": keys.get("node", node)})
    return Scheduled(name, key, spec, node, audit, digest, history)


def _node_reuse(keys: dict[str, Any]) -> NodeReuse:
    """Remove and return the word under `node`; a node as levels stays in the keys."""
    word = keys.pop("node") if isinstance(keys.get("node"), str) else "keep_else_search"
    words: tuple[NodeReuse, ...] = get_args(NodeReuse)
    if word not in words:
        raise SpecError(f"node: give one of {', '.join(words)}, or a level for every column, not {word!r}")
    return words[words.index(word)]


def _audit(value: object) -> str | None:
    if value is None or value is False:
        return None
    if value is True:
        return AUDIT
    if isinstance(value, str) and value:
        return value
    raise SpecError(f"audit: give true or false, or the name of a table or file, not {shown(value)}")


def _history(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise SpecError(f"differencing_history: give a number of releases, 1 or more, not {shown(value)}")


def _digest(mapping: Mapping[str, Any]) -> str:
    """A checksum of the keys that determine the release; the address of the database is not one."""
    kept = {key: value for key, value in mapping.items() if key not in _NOT_OF_THE_RELEASE}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, default=str).encode()).hexdigest()


def _filling(variables: Mapping[str, str], where: str) -> Fill:
    import yaml

    from kanon_sql.spec.variables import filled, lookup

    def fill(tree: Any, loader: Any) -> None:
        if not isinstance(tree, yaml.MappingNode):
            return
        own = [(key, value) for key, value in tree.value if key.value == "vars"]
        defaults = loader.construct_object(own[0][1], deep=True) if own else {}
        if not isinstance(defaults, Mapping | None) or not all(isinstance(name, str) for name in defaults or {}):
            raise SpecError(f"{where}: vars is a mapping of names to defaults, not {shown(defaults)}")
        tree.value = [pair for pair in tree.value if pair not in own]
        value = lookup(variables, os.environ, defaults or {})
        filled(tree, value, where, lambda text: loader.resolve(yaml.ScalarNode, text, (True, False)))

    return fill
