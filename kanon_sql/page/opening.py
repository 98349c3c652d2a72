"""The first draft of a page: what the data suggest, and what a spec says of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kanon_sql import spec as specs
from kanon_sql.errors import SpecError, TargetError
from kanon_sql.frequency.fitting import file_in_folder
from kanon_sql.hints import IDENTIFIER, QUASI_IDENTIFIER, SENSITIVE
from kanon_sql.page.draft import Draft, DraftColumn, as_suggested, without_code
from kanon_sql.page.names import first_target
from kanon_sql.page.state import Page
from kanon_sql.plan.observer import Observer
from kanon_sql.spec import Spec
from kanon_sql.verbs.suggest import DROPPED, KEPT, Suggestions, looked_at, places_of

_ROLES = ("quasi_identifiers", "identifiers", "sensitive", "keep", "unit")
SECONDS = 10.0  # to look at sets of columns: somebody waits


def open_page(
    source: str | None,
    spec: str | os.PathLike[str] | None = None,
    observer: Observer | None = None,
    time_limit: float | None = SECONDS,
    hierarchies: str | os.PathLike[str] | None = None,
    output: Path | None = None,
    **places: Any,
) -> Page:
    """Look at a table, and make a page of what it suggests, or of what the spec says where there is one.

    `places`: where the tables are and how files are read, as `kanon_sql.suggest` takes them. `time_limit`: for the sets
    of columns that are looked at, in seconds. `hierarchies`: a folder of files, of which a column's own is taken.
    `output`: the folder to write to, this one if it is None. Raises KanonError.
    """
    told = without_code(specs.load_to_read(Path(spec), source=source, **places)) if spec is not None else None
    name = source if source is not None else told.source if told else None
    if name is None:
        raise SpecError("there is nothing to open; name a file or a table, or give a spec")
    given = {**_places(told), **{key: value for key, value in places.items() if value is not None}}
    seen = looked_at(str(name), given, time_limit=time_limit, observer=observer)
    draft = _of_spec(seen, told, given) if told else as_suggested(seen.columns, _keys(seen, given))
    if hierarchies is not None:
        draft = _with_files(draft, Path(hierarchies))
    draft = draft.told(target=first_target(draft, places_of(seen, Path.cwd())["target"]))
    return Page(draft, Path.cwd(), seen.rows, tuple(seen.notes), output=_folder(output or Path.cwd()))


def _folder(output: Path) -> Path:
    if not output.is_dir():
        raise TargetError(f"there is no folder {output} to write to; make it first")
    return output.resolve()


def _with_files(draft: Draft, folder: Path) -> Draft:
    """The draft with a folder of hierarchies, of which every column takes the file that has its name."""
    if not folder.is_dir():
        raise SpecError(f"{folder} is no folder of hierarchies; name one")
    named = {column.name: file_in_folder(folder, column.name) for column in draft.columns}
    there = {name: str(path) for name, path in named.items() if path and path.is_file()}
    columns = (
        column.told("hierarchy", {"file": there[column.name]}) if column.name in there else column
        for column in draft.columns
    )
    return replace(draft, columns=tuple(columns)).told(hierarchies=str(folder))


def _places(told: Spec | None) -> dict[str, Any]:
    """Where a spec says that its source is, and how it is read."""
    keys = ("database", "attach", *specs.READING)
    return {key: getattr(told, key) for key in keys if told and key in told.model_fields_set}


def _keys(seen: Suggestions, given: Mapping[str, Any]) -> dict[str, Any]:
    unit = {"unit": seen.unit} if seen.unit else {}
    privacy = {"privacy": {"k": seen.k}, "suppression_limit": seen.suppression_limit}
    return {"source": seen.source, **given, **unit, **privacy, "strategy": "auto", "metric": "loss"}


def _of_spec(seen: Suggestions, told: Spec, given: Mapping[str, Any]) -> Draft:
    """The draft of a spec: its roles, and its other keys as it has them."""
    said = told.model_dump(mode="json", by_alias=True, exclude_unset=True)
    keys = {name: value for name, value in said.items() if name not in _ROLES and value is not None}
    keys = {**_keys(seen, given), **keys, **({"unit": told.unit} if told.unit else {})}
    return Draft(tuple(_as_told(seen, told)), keys)


def _as_told(seen: Suggestions, told: Spec) -> Iterator[DraftColumn]:
    lists = {IDENTIFIER: told.identifiers, SENSITIVE: told.sensitive, KEPT: told.kept_by_name}
    roles = {name: role for role, names in lists.items() for name in names}
    for column in seen.columns:
        attribute = told.quasi_identifiers.get(column.name)
        if attribute is not None:
            said = attribute.model_dump(mode="json", exclude_unset=True)
            yield DraftColumn(column, QUASI_IDENTIFIER, said)
        else:
            kept = KEPT if told.keep == specs.EVERY else DROPPED
            yield DraftColumn(column, roles.get(column.name, kept))
