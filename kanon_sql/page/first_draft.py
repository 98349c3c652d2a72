"""The first draft of a page: what the data suggest, or a spec."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from kanon_sql import spec as specs
from kanon_sql.errors import SpecError, TargetError
from kanon_sql.frequency.fitting import file_in_folder
from kanon_sql.hints import DROPPED, IDENTIFIER, KEPT, QUASI_IDENTIFIER, SENSITIVE
from kanon_sql.page import web
from kanon_sql.page.draft import CONNECTION, REASONS, Draft, DraftColumn, SavedDraft, as_suggested, without_code
from kanon_sql.page.explore import checked
from kanon_sql.page.names import first_target
from kanon_sql.page.state import Page, PageResult
from kanon_sql.plan.observer import Observer
from kanon_sql.spec import Spec
from kanon_sql.verbs.suggest import Suggestions, looked_at, places_of

_ROLES = ("quasi_identifiers", "identifiers", "sensitive", "keep", "unit", REASONS)
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

    Without a source and a spec, the page opens with its start screen, where a file of the current folder or a table of
    the database can be chosen. `places`: where the tables are and how files are read, as for `kanon_sql.suggest`.
    `time_limit`: for the analysis of sets of columns, in seconds. `hierarchies`: a folder with files named after
    columns. `output`: the folder to write to, by default the current one. Raises KanonError.
    """
    loaded = None
    if spec is not None:
        loaded = without_code(specs.loaded_to_read(Path(spec), Spec, {"source": source, **places}))
    name = source if source is not None else loaded.source if loaded else None
    options = {**_places(loaded), **{key: value for key, value in places.items() if value is not None}}
    folder = output or Path.cwd()
    if not folder.is_dir():
        raise TargetError(f"the output folder {folder} does not exist; create it first")
    if hierarchies is not None and not Path(hierarchies).is_dir():
        raise SpecError(f"{hierarchies} is not a folder of hierarchies; name one")
    page = Page(
        Draft((), {}),
        Path.cwd(),
        0,
        output=folder.resolve(),
        connection={key: options[key] for key in CONNECTION if options.get(key)},
        hierarchies=None if hierarchies is None else Path(hierarchies),
        time_limit=time_limit,
    )
    if name is not None:
        seen = looked_at(str(name), options, time_limit=time_limit, observer=observer)
        draft = _of_spec(seen, loaded, options) if loaded else as_suggested(seen.columns, _keys(seen, options))
        page.draft, page.rows, page.notes = _completed(page, draft, seen), seen.rows, tuple(seen.notes)
    return page


def open_again(page: Page, source: str, reading: Mapping[str, Any], *, table: bool = False, keep: bool = False) -> None:
    """Open another file or `table` in a page, or with `keep` the same one, which keeps roles and results; KanonError.

    `reading`: the options for reading a file.
    """
    options = {**(page.connection if table or (keep and page.draft.of_table) else {}), **reading}
    with page.opening():
        seen = looked_at(source, options, time_limit=page.time_limit, observer=_showing(page))
        draft = as_suggested(seen.columns, _keys(seen, options))
        if keep:
            draft = draft.adopting(page.draft)
        page.put(_completed(page, draft, seen), seen.rows, tuple(seen.notes), page.results if keep else ())


def restore(page: Page, saved: SavedDraft, results: Sequence[tuple[Mapping[str, Any], SavedDraft]]) -> None:
    """Return to a saved draft and the results, with their drafts: read the source again, and show them; KanonError."""
    with page.opening():
        connection = page.connection if saved.of_table else {}
        options = {**{key: saved.spec[key] for key in specs.READING if key in saved.spec}, **connection}
        seen = looked_at(str(saved.spec.get("source")), options, time_limit=page.time_limit, observer=_showing(page))
        restored = [
            PageResult(
                number=result["number"],
                name=result["name"],
                draft=_restored(page, of_result, seen),
                manifest=result["manifest"],
                way=tuple((seconds, score, bound) for seconds, score, bound in result["way"]),
                sql=result["sql"],
                some=result["some"],
                statement=result["statement"],
                explored=checked(result.get("explored") or {}),
            )
            for result, of_result in results
        ]
        page.put(_restored(page, saved, seen), seen.rows, tuple(seen.notes), restored)


def _restored(page: Page, saved: SavedDraft, seen: Suggestions) -> Draft:
    """A saved draft with the columns of its source; SpecError if its spec is not valid or runs code."""
    connection = page.connection if saved.of_table else {}
    spec = {**saved.spec, **connection}
    if not spec.get("quasi_identifiers"):  # a draft may lack them, but no spec
        names = {column.name for column in seen.columns}
        unused = next(name for name in map("unused {}".format, range(len(names) + 1)) if name not in names)
        spec["quasi_identifiers"] = {unused: {"hierarchy": "suppress"}}
    loaded = without_code(specs.parse(spec))
    draft = _of_spec(seen, loaded, {**_places(loaded), **connection})
    attributes = saved.spec.get("quasi_identifiers") or {}  # with whole numbers, which a spec dumps as text
    columns = tuple(
        replace(
            column,
            reason=saved.reasons.get(column.name, ""),
            attribute=dict(attributes.get(column.name, column.attribute)),
        )
        for column in draft.columns
    )
    levels = {column.name: saved.levels[column.name] for column in columns if column.name in saved.levels}
    draft = replace(draft, columns=columns, levels=levels)
    return draft.with_keys(target=first_target(draft, places_of(seen, Path.cwd())["target"]))


def _completed(page: Page, draft: Draft, seen: Suggestions) -> Draft:
    """The draft with the page's folder of hierarchies, and with a target."""
    if page.hierarchies is not None:
        draft = _with_files(draft, page.hierarchies)
    return draft.with_keys(target=first_target(draft, places_of(seen, Path.cwd())["target"]))


def _showing(page: Page) -> Observer:
    """An observer that shows the steps on the start screens."""
    return Observer(lambda stage: page.windows.tell("live", web.fragment("opening", stage=stage)))


def _with_files(draft: Draft, folder: Path) -> Draft:
    """The draft with a folder of hierarchies; a column with a file of its name is generalized by it."""
    named = {column.name: file_in_folder(folder, column.name) for column in draft.columns}
    files = {name: str(path) for name, path in named.items() if path and path.is_file()}
    columns = (
        column.with_key("hierarchy", {"file": files[column.name]}) if column.name in files else column
        for column in draft.columns
    )
    return replace(draft, columns=tuple(columns)).with_keys(hierarchies=str(folder))


def _places(loaded: Spec | None) -> dict[str, Any]:
    """A spec's options on where its source is and how it is read."""
    return {
        key: getattr(loaded, key) for key in (*CONNECTION, *specs.READING) if loaded and key in loaded.model_fields_set
    }


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
        reason = loaded.reasons.get(column.name, "")
        if attribute is not None:
            options = attribute.model_dump(mode="json", exclude_unset=True)
            yield DraftColumn(column, QUASI_IDENTIFIER, options, reason)
        else:
            yield DraftColumn(column, roles.get(column.name, default), reason=reason)
