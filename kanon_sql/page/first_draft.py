"""The first draft of a page: what the data suggest, or a spec."""

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
SECONDS = 10.0  # for sets of columns, while the user waits


def open_page(
    source: str | None,
    spec: str | os.PathLike[str] | None = None,
    observer: Observer | None = None,
    time_limit: float | None = SECONDS,
    hierarchies: str | os.PathLike[str] | None = None,
    output: Path | None = None,
    **places: Any,
) -> Page:
    """Analyse a table, and open a page with the suggested draft, or with the draft of a spec.

    `places`: where the tables are and how files are read, as for `kanon_sql.suggest`. `time_limit`: for the analysis of
    sets of columns, in seconds. `hierarchies`: a folder with files named after columns. `output`: the folder to write
    to, by default the current one. Raises KanonError.
    """
    loaded = without_code(specs.load_to_read(Path(spec), source=source, **places)) if spec is not None else None
    name = source if source is not None else loaded.source if loaded else None
    if name is None:
        raise SpecError("there is nothing to open; name a file or a table, or give a spec")
    options = {**_places(loaded), **{key: value for key, value in places.items() if value is not None}}
    seen = looked_at(str(name), options, time_limit=time_limit, observer=observer)
    draft = _of_spec(seen, loaded, options) if loaded else as_suggested(seen.columns, _keys(seen, options))
    if hierarchies is not None:
        draft = _with_files(draft, Path(hierarchies))
    draft = draft.with_keys(target=first_target(draft, places_of(seen, Path.cwd())["target"]))
    return Page(draft, Path.cwd(), seen.rows, tuple(seen.notes), output=_folder(output or Path.cwd()))


def _folder(output: Path) -> Path:
    if not output.is_dir():
        raise TargetError(f"the output folder {output} does not exist; create it first")
    return output.resolve()


def _with_files(draft: Draft, folder: Path) -> Draft:
    """The draft with a folder of hierarchies; a column with a file of its name is generalized by it."""
    if not folder.is_dir():
        raise SpecError(f"{folder} is not a folder of hierarchies; name one")
    named = {column.name: file_in_folder(folder, column.name) for column in draft.columns}
    files = {name: str(path) for name, path in named.items() if path and path.is_file()}
    columns = (
        column.with_key("hierarchy", {"file": files[column.name]}) if column.name in files else column
        for column in draft.columns
    )
    return replace(draft, columns=tuple(columns)).with_keys(hierarchies=str(folder))


def _places(loaded: Spec | None) -> dict[str, Any]:
    """A spec's options on where its source is and how it is read."""
    keys = ("database", "attach", *specs.READING)
    return {key: getattr(loaded, key) for key in keys if loaded and key in loaded.model_fields_set}


def _keys(seen: Suggestions, options: Mapping[str, Any]) -> dict[str, Any]:
    unit = {"unit": seen.unit} if seen.unit else {}
    privacy = {"privacy": {"k": seen.k}, "suppression_limit": seen.suppression_limit}
    return {"source": seen.source, **options, **unit, **privacy, "strategy": "auto", "metric": "loss"}


def _of_spec(seen: Suggestions, loaded: Spec, options: Mapping[str, Any]) -> Draft:
    """The draft of a spec: its roles, and its other keys unchanged."""
    values = loaded.model_dump(mode="json", by_alias=True, exclude_unset=True)
    keys = {name: value for name, value in values.items() if name not in _ROLES and value is not None}
    keys = {**_keys(seen, options), **keys, **({"unit": loaded.unit} if loaded.unit else {})}
    return Draft(tuple(_columns_of(seen, loaded)), keys)


def _columns_of(seen: Suggestions, loaded: Spec) -> Iterator[DraftColumn]:
    lists = {IDENTIFIER: loaded.identifiers, SENSITIVE: loaded.sensitive, KEPT: loaded.kept_by_name}
    roles = {name: role for role, names in lists.items() for name in names}
    default = KEPT if loaded.keep == specs.EVERY else DROPPED
    for column in seen.columns:
        attribute = loaded.quasi_identifiers.get(column.name)
        if attribute is not None:
            yield DraftColumn(column, QUASI_IDENTIFIER, attribute.model_dump(mode="json", exclude_unset=True))
        else:
            yield DraftColumn(column, roles.get(column.name, default))
