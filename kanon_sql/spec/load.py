"""Specs from files, from mappings, and from what is laid over them. All raise SpecError."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pydantic import ValidationError

from kanon_sql.errors import SpecError
from kanon_sql.spec.algorithms import FLAT
from kanon_sql.spec.checks import READING_CONFLICTS, check
from kanon_sql.spec.cloaking import CloakSpec
from kanon_sql.spec.errors import explained, shown
from kanon_sql.spec.fields import BUDGETS, Attribute, Places, ReleaseSpec, Spec, Target, with_hierarchies
from kanon_sql.spec.keywords import of_block
from kanon_sql.spec.places import Session
from kanon_sql.spec.privacy import SENSITIVE_MODELS, Privacy
from kanon_sql.spec.types import Model, as_text, by_column

Fill: TypeAlias = Callable[[Any, Any], None]  # completes the tree of a file, given its loader
Kind = TypeVar("Kind", bound=ReleaseSpec)


def load(path: str | os.PathLike[str], **overrides: Any) -> Spec:
    """Read a spec file, its relative paths taken from its own folder, with `overrides` as in `merge`.

    What the file leaves out and a run needs (source, quasi_identifiers) may come from the overrides.
    """
    return loaded(path, Spec, overrides)


def loaded(path: str | os.PathLike[str], model: type[Kind], overrides: Mapping[str, Any]) -> Kind:
    """The same for a spec of any model."""
    mapping = read(Path(path))
    if found := key_of_runs(mapping):
        raise SpecError(f"{path}: {found} is for pipelines; run the file with `kanon run`, or leave {found} out")
    return completed(mapping, Path(path).parent, model, overrides)


def completed(mapping: Mapping[str, Any], folder: Path, model: type[Kind], overrides: Mapping[str, Any]) -> Kind:
    """The spec of what a file in a folder says, with `overrides` as in `merge`."""
    return merge(validated(with_needed(_said(mapping), model, overrides), model, folder), **overrides)


def with_needed(mapping: Mapping[str, Any], model: type[Kind], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping with what it lacks of the keys that a spec must have, from the overrides."""
    required = [name for name, field in model.model_fields.items() if field.is_required()]
    given = {name: overrides[name] for name in required if overrides.get(name) is not None}
    privacy = mapping.get("privacy")
    if isinstance(privacy, Mapping) and "unit" in privacy:
        given.pop("unit", None)
    return {**given, **mapping}


def model_of(mapping: Mapping[str, Any]) -> type[Spec] | type[CloakSpec]:
    """The model of a release that may be of either: one with a location cloaks places and times."""
    return Spec if mapping.get("location") is None else CloakSpec


def mapping_of(spec: ReleaseSpec | Mapping[str, Any] | str | os.PathLike[str] | None) -> dict[str, Any]:
    """What a spec says, by its keys, before anything is checked."""
    if isinstance(spec, ReleaseSpec):
        return {name: getattr(spec, name) for name in spec.model_fields_set}
    if isinstance(spec, (str, os.PathLike)):
        return _said(read(Path(spec)))
    return _said(spec) if isinstance(spec, Mapping) else {}


KEYS = ("audit", "differencing_history")  # of a release of a pipeline, which no other release is told


def key_of_runs(mapping: Mapping[str, Any]) -> str | None:
    """A key of a spec file that only a pipeline is told; None if there is none."""
    found = next((key for key in ("releases", "vars", *KEYS) if key in mapping), None)
    return found or ("node" if isinstance(mapping.get("node"), str) else None)


def parse(mapping: Mapping[str, Any]) -> Spec:
    """Build a spec from its mapping; relative paths are left as they are."""
    return parsed(mapping, Spec)


def parsed(mapping: Mapping[str, Any], model: type[Kind]) -> Kind:
    """The same for a spec of any model."""
    spec = validated(mapping, model)
    check(spec)
    return spec.with_sensitive(*spec.privacy.counted) if isinstance(spec.privacy, Privacy) else spec


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


def merge(spec: Kind | type[Kind], **overrides: Any) -> Kind:
    """Lay keyword arguments, or what the command line said, over a spec, or make one of its model of them alone.

    None means not said.

    The names are those of `KEYWORDS`: the spec's own keys, those of `privacy` and `target` without their block, and
    `priorities` (column: priority). Columns listed again keep their recipe, and privacy models of other columns stay. A
    new place to write to does not inherit the permission to overwrite.
    """
    said = {name: value for name, value in overrides.items() if value is not None}
    mapping: dict[str, Any] = {} if isinstance(spec, type) else mapping_of(spec)
    _merge_privacy(mapping, said)
    if "quasi_identifiers" in said and isinstance(spec, Spec):
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
    if isinstance(said.get("cloak"), str) and isinstance(mapping.get("cloak"), Model):
        said["cloak"] = {**mapping["cloak"].model_dump(exclude_unset=True), "method": said["cloak"]}
    if said.keys() & _TARGET.keys():
        mapping["target"] = _merged_target(mapping.get("target"), said)
    return parsed({**mapping, **said}, spec if isinstance(spec, type) else type(spec))


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
    known = said.pop("privacy", mapping.get("privacy", {}))
    kept = {key: getattr(known, key) for key in known.model_fields_set} if isinstance(known, Model) else dict(known)
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
    if not isinstance(mapping, Mapping):
        raise SpecError(f"a spec is a mapping with keys such as source and privacy, not {shown(mapping)}")
    known = {*Spec.model_fields, *CloakSpec.model_fields, *FLAT}
    return {key: value for key, value in mapping.items() if value is not None or key not in known}


def validated(mapping: Mapping[str, Any], model: type[Kind], folder: Path | None = None) -> Kind:
    """The spec of a mapping, its relative paths taken from a folder; SpecError in one sentence."""
    said = _said(mapping)
    _refuse_keys(said, model)
    try:
        return model.model_validate(said, context={"folder": folder} if folder else None)
    except ValidationError as error:
        raise SpecError(explained(error)) from None


CLOAKING = tuple(key for key in CloakSpec.model_fields if key not in Spec.model_fields)
GENERALIZING = tuple(key for key in (*Spec.model_fields, *FLAT) if key not in CloakSpec.model_fields)


def _refuse_keys(said: Mapping[str, Any], model: type[ReleaseSpec]) -> None:
    """Say where a key belongs that only the other verb knows."""
    if model is Spec and (found := next((key for key in CLOAKING if key in said), None)):
        raise SpecError(CLOAKS.format(option=found))
    if model is CloakSpec and (found := next((key for key in GENERALIZING if key in said), None)):
        raise SpecError(f"`{found}` is for anonymize, which generalizes columns, and places are cloaked; leave it out")


CLOAKS = (
    "`{option}` is for places, and cloaking has its own verb, which verifies what it writes; use kanon cloak, or "
    "kanon_sql.cloak"
)
