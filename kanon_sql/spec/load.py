"""Specs from files and mappings, with overrides. All functions raise SpecError."""

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
from kanon_sql.spec.fields import BUDGETS, AttributeSpec, Places, ReleaseSpec, Spec, Target, with_hierarchies
from kanon_sql.spec.keywords import of_block
from kanon_sql.spec.linked import LinkedSpec
from kanon_sql.spec.privacy import SENSITIVE_MODELS, Privacy
from kanon_sql.spec.session import Session
from kanon_sql.spec.types import Model, as_text, by_column
from kanon_sql.spec.validation_errors import explained, shown

Fill: TypeAlias = Callable[[Any, Any], None]  # completes the tree of a file, given its loader
SpecType = TypeVar("SpecType", bound=ReleaseSpec)
ModelType = TypeVar("ModelType", bound=Model)

KEYS = ("audit", "differencing_history")  # of a release in a pipeline only
CLOAKING = tuple(key for key in CloakSpec.model_fields if key not in Spec.model_fields)
GENERALIZING = tuple(key for key in (*Spec.model_fields, *FLAT) if key not in CloakSpec.model_fields)
CLOAKS = (
    "`{option}` is for places, and cloaking has its own verb, which verifies what it writes; use kanon cloak, or "
    "kanon_sql.cloak"
)
TABLES = (
    "this spec has several `tables`, which are released together; use `kanon database release`, or "
    "kanon_sql.anonymize_database"
)
_PRIVACY = of_block("privacy")
_TARGET = of_block("target")


def loaded(path: str | os.PathLike[str], model: type[SpecType], overrides: Mapping[str, Any]) -> SpecType:
    """Read the spec of a model from a file, with `overrides` as in `merge`; relative paths start from its folder.

    Required keys that the file lacks (source, quasi_identifiers) can come from the overrides.
    """
    mapping = read(Path(path))
    if found := key_of_runs(mapping):
        raise SpecError(f"{path}: {found} is for pipelines; run the file with `kanon run`, or leave {found} out")
    return completed(mapping, Path(path).parent, model, overrides)


def completed(
    mapping: Mapping[str, Any], folder: Path, model: type[SpecType], overrides: Mapping[str, Any]
) -> SpecType:
    """The spec of the mapping in a file of a folder, with `overrides` as in `merge`."""
    return merge(validated(with_needed(_without_empty(mapping), model, overrides), model, folder), **overrides)


def with_needed(mapping: Mapping[str, Any], model: type[SpecType], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping, completed with required keys from the overrides."""
    required = [name for name, field in model.model_fields.items() if field.is_required()]
    overridden = {name: overrides[name] for name in required if overrides.get(name) is not None}
    privacy = mapping.get("privacy")
    if isinstance(privacy, Mapping) and "unit" in privacy:
        overridden.pop("unit", None)
    return {**overridden, **mapping}


def model_of(mapping: Mapping[str, Any]) -> type[Spec] | type[CloakSpec]:
    """The model of a release: one with a location cloaks places and times."""
    return Spec if mapping.get("location") is None else CloakSpec


def mapping_of(spec: ReleaseSpec | Mapping[str, Any] | str | os.PathLike[str] | None) -> dict[str, Any]:
    """The keys of a spec and their values, before any check."""
    if isinstance(spec, ReleaseSpec):
        return {name: getattr(spec, name) for name in spec.model_fields_set}
    if isinstance(spec, (str, os.PathLike)):
        return _without_empty(read(Path(spec)))
    return _without_empty(spec) if isinstance(spec, Mapping) else {}


def key_of_runs(mapping: Mapping[str, Any]) -> str | None:
    """The first key of a spec file that is for pipelines only; None without one."""
    found = next((key for key in ("releases", "vars", *KEYS) if key in mapping), None)
    return found or ("node" if isinstance(mapping.get("node"), str) else None)


def parse(mapping: Mapping[str, Any]) -> Spec:
    """Build a spec from its mapping; relative paths stay unchanged."""
    return parsed(mapping, Spec)


def parsed(mapping: Mapping[str, Any], model: type[SpecType]) -> SpecType:
    """The same for a spec of any model."""
    spec = validated(mapping, model)
    check(spec)
    return spec.with_sensitive(*spec.privacy.counted) if isinstance(spec.privacy, Privacy) else spec


def load_linked(given: LinkedSpec | Mapping[str, Any] | str | os.PathLike[str], **overrides: Any) -> LinkedSpec:
    """Read the spec of several tables from a file or a mapping; SpecError if it is not one.

    `overrides`: values of its keys that replace those of the spec; None leaves the spec's.
    """
    folder = None
    changes = {key: value for key, value in overrides.items() if value is not None}
    if isinstance(given, LinkedSpec) and not changes:
        return given
    if isinstance(given, LinkedSpec):
        mapping: Mapping[str, Any] = given.model_dump(exclude_unset=True, by_alias=True, warnings=False)
    elif isinstance(given, Mapping):
        mapping = given
    else:
        folder, mapping = Path(given).parent, read(Path(given))
    if "tables" not in mapping:
        raise SpecError("this spec has no `tables`; for a single table use `kanon anonymize`, or `kanon_sql.anonymize`")
    return _built(LinkedSpec, {**mapping, **changes}, folder)


def session(source: object = None, **options: Any) -> Session:
    """The session for the keys of `Places`; None means unset. `source`: its name, if it has one."""
    places = _built(Places, {key: value for key, value in options.items() if value is not None})
    spec = Spec.model_construct(source=str(as_text(source)), **{key: getattr(places, key) for key in options})
    for conflict in READING_CONFLICTS:
        if refusal := conflict.error(spec):
            raise refusal
    return places.session


def merge(spec: SpecType | type[SpecType], **overrides: Any) -> SpecType:
    """Override the values of a spec, or build one of a model from the overrides alone; None means unset.

    The names are in `KEYWORDS`: the spec's own keys, the keys of `privacy` and `target` without their block, and
    `priorities` (column: priority). Columns listed again keep their recipe, and privacy models of other columns stay. A
    new file or table to write does not inherit the permission to overwrite.
    """
    changes = {name: value for name, value in overrides.items() if value is not None}
    mapping: dict[str, Any] = {} if isinstance(spec, type) else mapping_of(spec)
    _merge_privacy(mapping, changes)
    if "quasi_identifiers" in changes and isinstance(spec, Spec):
        changes["quasi_identifiers"] = _with_recipes(changes["quasi_identifiers"], spec.quasi_identifiers)
    if "priorities" in changes:
        columns = changes.get("quasi_identifiers", mapping.get("quasi_identifiers", {}))
        changes["quasi_identifiers"] = _with_priorities(by_column(columns), changes.pop("priorities"))
    if isinstance(changes.get("hierarchies"), Mapping):
        changes["quasi_identifiers"] = with_hierarchies({**mapping, **changes})["quasi_identifiers"]
        del changes["hierarchies"]
    if "columns" in changes:
        changes["columns"] = _merged_columns(mapping.get("columns", {}), changes["columns"])
    _remove_overridden(mapping, changes)
    if isinstance(changes.get("cloak"), str) and isinstance(mapping.get("cloak"), Model):
        changes["cloak"] = {**mapping["cloak"].model_dump(exclude_unset=True), "method": changes["cloak"]}
    if changes.keys() & _TARGET.keys():
        mapping["target"] = _merged_target(mapping.get("target"), changes)
    return parsed({**mapping, **changes}, spec if isinstance(spec, type) else type(spec))


def check_values(**values: Any) -> None:
    """Raise SpecError for values that a spec could not have under these keys, named as in `merge`.

    >>> check_values(k=0)
    Traceback (most recent call last):
    kanon_sql.errors.SpecError: privacy.k: give a whole number of at least 1, not 0
    """
    merge(parse({"source": "any", "quasi_identifiers": ["any"]}), **values)


def _merged_columns(forms: Mapping[str, Any], changed: Any) -> Any:
    """Override how columns are read, key by key."""
    if not isinstance(changed, Mapping) or not all(isinstance(form, str | Mapping) for form in changed.values()):
        return changed
    merged = {name: form.model_dump(exclude_unset=True) for name, form in forms.items()}
    for name, form in changed.items():
        merged[name] = {**merged.get(name, {}), **({"type": form} if isinstance(form, str) else form)}
    return merged


def _merge_privacy(mapping: dict[str, Any], changes: dict[str, Any]) -> None:
    """Merge the flat names of `privacy` into the block, models column by column; a unit in the changes wins."""
    block = changes.get("privacy")
    if isinstance(block, Mapping) and block.get("unit") is not None and "unit" not in changes:
        mapping.pop("unit", None)
    flat = {name: changes.pop(name) for name in _PRIVACY if name in changes}
    if not flat:
        return
    block = changes.pop("privacy", mapping.get("privacy", {}))
    merged = {key: getattr(block, key) for key in block.model_fields_set} if isinstance(block, Model) else dict(block)
    for name, value in flat.items():
        by_column = name in SENSITIVE_MODELS and isinstance(value, Mapping) and isinstance(merged.get(name), Mapping)
        merged[name] = {**merged[name], **value} if by_column else value
    mapping["privacy"] = merged


def _remove_overridden(mapping: dict[str, Any], changes: Mapping[str, Any]) -> None:
    """Remove the options of algorithms that are overridden, whether they are nested or flat."""
    for key, algorithm in [*FLAT.items(), *(("evaluations", name) for name in BUDGETS)]:
        if key in changes and algorithm in mapping:
            options = mapping[algorithm].model_dump()
            mapping[algorithm] = {name: value for name, value in options.items() if name != key}
    if changes.keys() & set(BUDGETS):
        mapping.pop("evaluations", None)


def _with_recipes(columns: Any, attributes: Mapping[str, AttributeSpec]) -> Any:
    if isinstance(columns, Mapping | str) or len(set(columns)) < len(columns):
        return columns
    return {column: attributes.get(column) for column in columns}


def _with_priorities(columns: Any, priorities: Mapping[str, int]) -> Any:
    """Override the priorities of quasi-identifiers; SpecError for another column."""
    for column in priorities:
        if column not in columns:
            raise SpecError(f"the priority of {column!r} names no quasi-identifier; there are {', '.join(columns)}")
    merged = {}
    for name, attribute in columns.items():
        keys = attribute.model_dump(exclude_unset=True) if isinstance(attribute, AttributeSpec) else attribute or {}
        merged[name] = {**keys, "priority": priorities[name]} if name in priorities else keys
    return merged


def _merged_target(target: Target | None, changes: dict[str, Any]) -> dict[str, Any]:
    """Move the target's flat names from `changes` into the target."""
    changed = {key: as_text(changes.pop(name)) for name, key in _TARGET.items() if name in changes}
    previous = target.model_dump(by_alias=True, exclude_unset=True) if target else {}
    if any(changed.get(place, previous.get(place)) != previous.get(place) for place in ("file", "table")):
        form = previous.get("as")  # fits another table; an anatomy also fits a file
        previous = {"as": form} if form and ("table" in changed or form == "anatomy") else {}
    return {**previous, **changed}


def read(path: Path, fill: Fill | None = None) -> Mapping[str, Any]:
    """The mapping in a spec file; `fill` first completes its YAML tree, given the loader."""
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


def _without_empty(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping without keys of a spec that have no value."""
    if not isinstance(mapping, Mapping):
        raise SpecError(f"a spec is a mapping with keys such as source and privacy, not {shown(mapping)}")
    keys = {*Spec.model_fields, *CloakSpec.model_fields, *FLAT}
    return {key: value for key, value in mapping.items() if value is not None or key not in keys}


def validated(mapping: Mapping[str, Any], model: type[SpecType], folder: Path | None = None) -> SpecType:
    """The spec of a mapping, with relative paths from a folder; SpecError also for keys of other verbs."""
    values = _without_empty(mapping)
    if "tables" in values:
        raise SpecError(TABLES)
    if model is Spec and (found := next((key for key in CLOAKING if key in values), None)):
        raise SpecError(CLOAKS.format(option=found))
    if model is CloakSpec and (found := next((key for key in GENERALIZING if key in values), None)):
        raise SpecError(f"`{found}` is for anonymize, which generalizes columns, and places are cloaked; leave it out")
    return _built(model, values, folder)


def _built(model: type[ModelType], values: Mapping[str, Any], folder: Path | None = None) -> ModelType:
    try:
        return model.model_validate(values, context={"folder": folder} if folder else None)
    except ValidationError as error:
        raise SpecError(explained(error)) from None
