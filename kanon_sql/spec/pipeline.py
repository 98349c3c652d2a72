"""The spec file of a pipeline: one release, or several under `releases`, with what a run is told of each."""

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
from kanon_sql.spec.errors import shown
from kanon_sql.spec.fields import ReleaseSpec, Spec
from kanon_sql.spec.load import (
    KEYS,
    Fill,
    Kind,
    completed,
    key_of_runs,
    loaded,
    mapping_of,
    merge,
    model_of,
    read,
    validated,
)

NodeReuse: TypeAlias = Literal["keep", "search", "keep_else_search"]
AUDIT = "kanon_releases"  # what an audit trail is called unless it is named
HISTORY = 30  # how many releases before a new one is held against unless that is said


@dataclass(frozen=True)
class Scheduled:
    """One release of a pipeline: its name, its spec, what is held of the release before, and its audit trail.

    `key` tells it from all others beside the same folder of specs. `sha256`: of what the file says of it, without where
    the database is, or a password in that. `audit`: the name of the trail, None where none is asked for. `history`: how
    many of the last releases a new one is held against.
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

    `variables`: what wins over the environment and the file's own `vars`. What stands beside `releases` holds for each
    of them; what a release says itself takes the place of that, key by key.
    """
    each = _mappings(path, variables or {})
    if None in each:
        return [_scheduled(path, path.stem, path.stem, each[None])]
    return [_one_of(path, str(name), mapping) for name, mapping in each.items()]


def load_to_read(path: Path, **overrides: Any) -> Spec:
    """Read a spec file for what writes no release: as `load`, and also the spec of a pipeline of one release.

    What only a pipeline is told is left out; variables have the values of the environment, or of the file.
    """
    return loaded_to_read(path, Spec, overrides)


def loaded_to_read(path: Path, model: type[Kind], overrides: Mapping[str, Any]) -> Kind:
    """The same for a spec of any model."""
    return completed(mapping_to_read(path), path.parent, model, overrides)


def mapping_to_read(path: Path) -> dict[str, Any]:
    """What a spec file says of its release, without what only a pipeline is told."""
    if not key_of_runs(read(path)):
        return mapping_of(path)
    each = _mappings(path, {})
    if len(each) > 1:
        names = ", ".join(map(str, each))
        raise SpecError(f"{path} has the releases {names}; give a spec file of one of them")
    (mapping,) = each.values()
    told = {*KEYS} | ({"node"} if isinstance(mapping.get("node"), str) else set())
    return {key: value for key, value in mapping.items() if key not in told}


def load_to_check(path: Path, variables: Mapping[str, str] | None = None) -> dict[str, ReleaseSpec]:
    """Read the specs of a file by the names of their releases, or its own; SpecError if a release cannot use them."""
    if key_of_runs(read(path)):
        return {each.name: each.spec for each in load_runs(path, variables)}
    if variables:
        raise SpecError(f"{path} is the spec of one release, which knows no variables; leave out `vars`")
    spec = loaded(path, model_of(mapping_of(path)), {})
    check(spec, "anonymize")
    return {path.stem: spec}


def _mappings(path: Path, variables: Mapping[str, str]) -> dict[str | None, dict[str, Any]]:
    """What a file says of each of its releases, by name; None is that of a file of one without a name."""
    shared = dict(read(path, _filling(variables, str(path))))
    shared.pop("vars", None)
    releases = shared.pop("releases", None)
    if releases is None:
        return {None: shared}
    if not isinstance(releases, Mapping) or not releases:
        raise SpecError(f"releases: give a mapping of names to specs, not {shown(releases)}")
    return {name: {**shared, **_own(name, own)} for name, own in releases.items()}


def _own(name: Any, own: Any) -> Mapping[str, Any]:
    """What one of several releases says itself."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise SpecError(f"releases: {name!r} is no name of a release; use letters, digits, - and _")
    if not isinstance(own, Mapping):
        raise SpecError(f"releases.{name}: give a mapping of what is its own, such as its target, not {shown(own)}")
    if nested := own.keys() & {"releases", "vars"}:
        raise SpecError(f"releases.{name}: {min(nested)} belongs at the top of the file; move it there")
    return own


def _one_of(path: Path, name: str, mapping: Mapping[str, Any]) -> Scheduled:
    try:
        return _scheduled(path, name, f"{path.stem}.{name}", mapping)
    except SpecError as error:
        raise SpecError(f"releases.{name}: {error}") from None


_NAME = re.compile(r"[\w-]{1,60}")


def _scheduled(path: Path, name: str, key: str, mapping: Mapping[str, Any]) -> Scheduled:
    said = dict(mapping)
    audit, node, history = said.pop("audit", None), _held(said), _history(said.pop("differencing_history", HISTORY))
    spec = merge(validated(said, model_of(said), path.parent))
    if spec.target is None:
        raise SpecError("there is no target; give one, such as `target: {table: patients_anon}`")
    if spec.differencing_limit is None:
        spec = spec.model_copy(update={"differencing_limit": 0})
    check(spec, "anonymize")
    digest = _digest({**said, "node": said.get("node", node)})
    return Scheduled(name, key, spec, node, _audit(audit), digest, history)


def _held(said: dict[str, Any]) -> NodeReuse:
    """What is held of the release before, taken out of a spec; a node of its own stays there."""
    asked = said.pop("node") if isinstance(said.get("node"), str) else "keep_else_search"
    known: tuple[NodeReuse, ...] = get_args(NodeReuse)
    found = next((each for each in known if each == asked), None)
    if found is None:
        raise SpecError(f"node: give one of {', '.join(known)}, or a level for every column, not {asked!r}")
    return found


def _audit(said: object) -> str | None:
    if said is None or said is False:
        return None
    if said is True:
        return AUDIT
    if isinstance(said, str) and said:
        return said
    raise SpecError(f"audit: give true or false, or the name of a table or file, not {shown(said)}")


def _history(said: object) -> int:
    if isinstance(said, int) and not isinstance(said, bool) and said >= 1:
        return said
    raise SpecError(f"differencing_history: give a number of releases, 1 or more, not {shown(said)}")


def _digest(said: Mapping[str, Any]) -> str:
    """A checksum of what makes a release what it is: not where the database is, nor how far it is guarded."""
    kept = {key: value for key, value in said.items() if key not in ("database", "secret", "differencing_limit")}
    return hashlib.sha256(json.dumps(kept, sort_keys=True, default=str).encode()).hexdigest()


def _filling(variables: Mapping[str, str], where: str) -> Fill:
    import yaml

    from kanon_sql.spec.variables import filled, lookup

    def fill(tree: Any, loader: Any) -> None:
        if not isinstance(tree, yaml.MappingNode):
            return
        own = [(key, value) for key, value in tree.value if key.value == "vars"]
        known = loader.construct_object(own[0][1], deep=True) if own else {}
        if not isinstance(known, Mapping | None) or not all(isinstance(name, str) for name in known or {}):
            raise SpecError(f"{where}: vars is a mapping of names to what they are by default, not {shown(known)}")
        tree.value = [pair for pair in tree.value if pair not in own]
        value = lookup(variables, os.environ, known or {})
        filled(tree, value, where, lambda text: loader.resolve(yaml.ScalarNode, text, (True, False)))

    return fill
