"""Specs from files, from mappings, and from what is laid over them. All raise SpecError."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import ValidationError

from kanon_sql.errors import SpecError
from kanon_sql.spec.algorithms import BUDGETS, FLAT
from kanon_sql.spec.checks import READING_CONFLICTS, check
from kanon_sql.spec.errors import explained, shown
from kanon_sql.spec.fields import Attribute, Places, Spec, Target, with_hierarchies
from kanon_sql.spec.keywords import of_block
from kanon_sql.spec.places import Session
from kanon_sql.spec.privacy import SENSITIVE_MODELS, Privacy
from kanon_sql.spec.types import as_text, by_column

Fill: TypeAlias = Callable[[Any, Any], None]  # completes the tree of a file, given its loader


def load(path: str | os.PathLike[str], **overrides: Any) -> Spec:
    """Read a spec file, its relative paths taken from its own folder, with `overrides` as in `merge`.

    What the file leaves out and a run needs (source, quasi_identifiers) may come from the overrides.
    """
    mapping = read(Path(path))
    if found := key_of_runs(mapping):
        raise SpecError(f"{path}: {found} is for pipelines; run the file with `kanon run`, or leave {found} out")
    return completed(mapping, Path(path).parent, overrides)


def completed(mapping: Mapping[str, Any], folder: Path, overrides: Mapping[str, Any]) -> Spec:
    """The spec of what a file in a folder says, with `overrides` as in `merge`."""
    needed = {name: value for name, value in overrides.items() if name in _NEEDED}
    return merge(validated({**needed, **_said(mapping)}, folder=folder), **overrides)


def mapping_of(spec: Spec | Mapping[str, Any] | str | os.PathLike[str] | None) -> dict[str, Any]:
    """What a spec says, by its keys, before anything is checked."""
    if isinstance(spec, Spec):
        return {name: getattr(spec, name) for name in spec.model_fields_set}
    if isinstance(spec, (str, os.PathLike)):
        return _said(read(Path(spec)))
    return _said(spec) if isinstance(spec, Mapping) else {}


KEYS = ("audit", "differencing_history")  # of a release of a pipeline, which no other release is told
_NEEDED = ("source", "quasi_identifiers", "location")


def key_of_runs(mapping: Mapping[str, Any]) -> str | None:
    """A key of a spec file that only a pipeline is told; None if there is none."""
    found = next((key for key in ("releases", "vars", *KEYS) if key in mapping), None)
    return found or ("node" if isinstance(mapping.get("node"), str) else None)


def parse(mapping: Mapping[str, Any]) -> Spec:
    """Build a spec from its mapping; relative paths are left as they are."""
    if not isinstance(mapping, Mapping):
        raise SpecError(f"a spec is a mapping with keys such as source and privacy, not {shown(mapping)}")
    spec = validated(mapping)
    check(spec)
    return spec.with_sensitive(*spec.privacy.counted)


def session(source: object = None, **given: Any) -> Session:
    """What to open, of the keys of a spec that say so; None means not said. `source`: by its name, if it has one."""
    try:
        places = Places.model_validate({key: value for key, value in given.items() if value is not None})
    except ValidationError as error:
        raise SpecError(explained(error)) from None
    asked = Spec.model_construct(source=str(as_text(source)), **{key: getattr(places, key) for key in given})
    for conflict in READING_CONFLICTS:
        if refused := conflict.error(asked):
            raise refused
    return places.session


def merge(spec: Spec | None, **overrides: Any) -> Spec:
    """Lay keyword arguments, or what the command line said, over a spec; None means not said.

    The names are those of `KEYWORDS`: the spec's own keys, those of `privacy` and `target` without their block, and
    `priorities` (column: priority). Columns listed again keep their recipe, and privacy models of other columns stay. A
    new place to write to does not inherit the permission to overwrite.
    """
    said = {name: value for name, value in overrides.items() if value is not None}
    mapping: dict[str, Any] = {name: getattr(spec, name) for name in spec.model_fields_set} if spec else {}
    _merge_privacy(mapping, said)
    if "quasi_identifiers" in said and spec:
        said["quasi_identifiers"] = _with_recipes(said["quasi_identifiers"], spec.quasi_identifiers)
    if "priorities" in said:
        columns = said.get("quasi_identifiers", mapping.get("quasi_identifiers", {}))
        said["quasi_identifiers"] = _with_priorities(by_column(columns), said.pop("priorities"))
    if isinstance(said.get("hierarchies"), Mapping):
        said["quasi_identifiers"] = with_hierarchies({**mapping, **said})["quasi_identifiers"]
        del said["hierarchies"]
    if "columns" in said:
        said["columns"] = _merged_columns(mapping.get("columns", {}), said["columns"])
    _make_way(mapping, said)
    if isinstance(said.get("cloak"), str) and spec:
        kept = spec.cloak.model_dump(exclude_unset=True)
        said["cloak"] = {**kept, "method": said["cloak"]}
    if said.keys() & _TARGET.keys():
        mapping["target"] = _merged_target(mapping.get("target"), said)
    return parse({**mapping, **said})


def check_values(**given: Any) -> None:
    """Refuse values that no spec could have under these keys, as `merge` names them, for verbs that have no spec.

    >>> check_values(k=0)
    Traceback (most recent call last):
    kanon_sql.errors.SpecError: privacy.k: give a whole number of at least 1, not 0
    """
    merge(parse({"source": "any", "quasi_identifiers": ["any"]}), **given)


def _merged_columns(known: Mapping[str, Any], said: Any) -> Any:
    """Lay how columns are read over what was said of them before, key by key."""
    if not isinstance(said, Mapping) or not all(isinstance(form, str | Mapping) for form in said.values()):
        return said
    before = {name: form.model_dump(exclude_unset=True) for name, form in known.items()}
    forms = {name: {"type": form} if isinstance(form, str) else form for name, form in said.items()}
    return {**before, **{name: {**before.get(name, {}), **form} for name, form in forms.items()}}


def _merge_privacy(mapping: dict[str, Any], said: dict[str, Any]) -> None:
    """Lay the flat names of `privacy` over what there was, models by their column; a unit said anew wins."""
    block = said.get("privacy")
    if isinstance(block, Mapping) and block.get("unit") is not None and "unit" not in said:
        mapping.pop("unit", None)
    flat = {name: said.pop(name) for name in _PRIVACY if name in said}
    if not flat:
        return
    known = said.pop("privacy", mapping.get("privacy", Privacy()))
    kept = {key: getattr(known, key) for key in known.model_fields_set} if isinstance(known, Privacy) else dict(known)
    for name, asked in flat.items():
        merges = name in SENSITIVE_MODELS and isinstance(asked, Mapping) and isinstance(kept.get(name), Mapping)
        kept[name] = {**kept[name], **asked} if merges else asked
    mapping["privacy"] = kept


_PRIVACY, _TARGET = of_block("privacy"), of_block("target")


def _make_way(mapping: dict[str, Any], said: Mapping[str, Any]) -> None:
    """Take out of a spec the options of algorithms that are said anew, in either of their two places."""
    for key, algorithm in [*FLAT.items(), *(("evaluations", name) for name in BUDGETS)]:
        if key in said and algorithm in mapping:
            options = mapping[algorithm].model_dump()
            mapping[algorithm] = {name: value for name, value in options.items() if name != key}
    if said.keys() & set(BUDGETS):
        mapping.pop("evaluations", None)


def _with_recipes(columns: Any, known: Mapping[str, Attribute]) -> Any:
    if isinstance(columns, Mapping | str) or len(set(columns)) < len(columns):
        return columns
    return {column: known.get(column) for column in columns}


def _with_priorities(columns: Any, priorities: Mapping[str, int]) -> Any:
    """Lay priorities over the quasi-identifiers' own; a column that is not one is an error."""
    for column in priorities:
        if column not in columns:
            raise SpecError(f"the priority of {column!r} names no quasi-identifier; there are {', '.join(columns)}")
    said = {
        name: attribute.model_dump(exclude_unset=True) if isinstance(attribute, Attribute) else attribute or {}
        for name, attribute in columns.items()
    }
    return {
        name: {**attribute, **({"priority": priorities[name]} if name in priorities else {})}
        for name, attribute in said.items()
    }


def _merged_target(target: Target | None, said: dict[str, Any]) -> dict[str, Any]:
    """Take the target's flat names out of `said` and lay them over the target there was."""
    asked = {key: as_text(said.pop(name)) for name, key in _TARGET.items() if name in said}
    kept = target.model_dump(by_alias=True, exclude_unset=True) if target else {}
    if any(asked.get(place, kept.get(place)) != kept.get(place) for place in ("file", "table")):
        kept = {"as": kept["as"]} if "as" in kept and ("table" in asked or kept["as"] == "anatomy") else {}
    return {**kept, **asked}


def read(path: Path, fill: Fill | None = None) -> Mapping[str, Any]:
    """What a spec file says, as a mapping; `fill` completes its tree first, with a loader for what is plain."""
    import yaml

    from kanon_sql.spec.loader import Loader

    try:
        loader = Loader(path.read_bytes())
        tree = loader.get_single_node()
        if fill and tree:
            fill(tree, loader)
        mapping = loader.construct_document(tree) if tree else None
    except FileNotFoundError:
        raise SpecError(f"there is no spec file {path}; check the path") from None
    except OSError as error:
        raise SpecError(f"the spec file {path} cannot be read ({error.strerror}); check the path") from error
    except RecursionError:
        raise SpecError(f"{path} is nested too deeply to be a spec; correct it") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        problem = getattr(error, "problem", None) or getattr(error, "reason", "unreadable")
        raise SpecError(f"{where}: this is not YAML a spec can use ({problem}); correct it") from error
    if not isinstance(mapping, Mapping):
        raise SpecError(f"{path} is not a mapping; write keys such as 'source: patients' in it")
    return mapping


def _said(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out the known keys that are there without a value."""
    known = {*Spec.model_fields, *FLAT}
    return {key: value for key, value in mapping.items() if value is not None or key not in known}


def validated(mapping: Mapping[str, Any], folder: Path | None = None) -> Spec:
    """The spec of a mapping, its relative paths taken from a folder; SpecError in one sentence."""
    try:
        return Spec.model_validate(_said(mapping), context={"folder": folder} if folder else None)
    except ValidationError as error:
        raise SpecError(explained(error)) from None
