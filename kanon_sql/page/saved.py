"""Saved work: the draft and the results of a page, in a JSON file next to the data, readable only for its owner.

The draft is a spec. A reopened file is not trusted: its spec runs no code, reads nothing outside the page's folder
except what the page was started with, and its database is the page's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kanon_sql.errors import SpecError, TargetError
from kanon_sql.page.draft import CONNECTION, REASONS, Draft, SavedDraft
from kanon_sql.page.explore import checked, without_values
from kanon_sql.page.folder import DATA, listed_file
from kanon_sql.page.names import paths_read, plain
from kanon_sql.page.state import Page
from kanon_sql.staging import write_file

ENDING = ".kanon.json"
_MARK, _VERSION = "kanon_page", 1
_LEFT_OUT = (*CONNECTION, "temp_directory", "memory_limit", "threads", "write_regions")  # what a file must not choose
_OF_RESULT = ("number", "name", "manifest", "way", "sql", "some", "statement")
_MOST_BYTES = 256 * 2**20


def first_name(page: Page) -> str:
    """The suggested name of the file without its ending."""
    return Path(page.source).stem or "work"


def save(page: Page, name: str, overwrite: bool) -> str:
    """Write the draft and the results into the folder; returns the file's name. TargetError if it exists."""
    name = plain(name.strip().removesuffix(ENDING) + ENDING)
    path = page.output / name
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise TargetError(f"{name} is a link or no file; choose another name")
    if path.exists() and not overwrite:
        raise TargetError(f"the file {name} exists already; tick Replace it, or choose another name")
    content = {
        _MARK: _VERSION,
        "draft": _saved(page.draft),
        "results": [
            {name: getattr(result, name) for name in _OF_RESULT}
            | {"explored": without_values(result.explored), "draft": _saved(result.draft)}
            for result in page.results
        ],
    }
    write_file(path, json.dumps(content, default=str, ensure_ascii=False), overwrite, private=True)
    return name


def _saved(draft: Draft) -> dict[str, Any]:
    spec = {key: value for key, value in draft.mapping().items() if key not in (*CONNECTION, REASONS)}
    reasons = {column.name: column.reason for column in draft.columns if column.reason}
    return {"spec": spec, "reasons": reasons, "levels": dict(draft.levels), "of_table": draft.of_table}


def load(page: Page, path: Path) -> tuple[SavedDraft, list[tuple[dict[str, Any], SavedDraft]]]:
    """The draft of a saved file, and its results with their drafts.

    SpecError if it is not a saved file, or if it reads something that the page may not.
    """
    if path.stat().st_size > _MOST_BYTES:
        raise SpecError(f"{path.name} has more than {_MOST_BYTES // 2**20} MiB, and was not saved by this page")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content[_MARK] != _VERSION:
            raise SpecError(f"{path.name} was saved by another version; open the data again")
        draft = _draft_of(content["draft"])
        results = [(dict(result), _draft_of(result["draft"])) for result in content["results"]]
        for result, _ in results:
            _check_result(result)
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        raise SpecError(f"{path.name} was not saved by this page, or was changed since; open the data again") from None
    for saved in (draft, *(saved for _, saved in results)):
        _check(page, saved)
    return draft, results


def _draft_of(content: Mapping[str, Any]) -> SavedDraft:
    spec = {key: value for key, value in content["spec"].items() if key not in _LEFT_OUT}
    reasons = {str(name): str(reason) for name, reason in content["reasons"].items()}
    levels = {str(name): int(level) for name, level in content["levels"].items()}
    return SavedDraft(spec, reasons, levels, bool(content["of_table"]))


def _check_result(result: Mapping[str, Any]) -> None:
    """KeyError or TypeError if a result lacks something that the screens show."""
    _ = (
        int(result["number"]),
        str(result["name"]),
        result["sql"] + "",
        result["some"]["columns"],
        result["some"]["rows"],
    )
    _ = [(float(seconds), float(bound)) for seconds, _, bound in result["way"]], result["statement"].items()
    manifest = result["manifest"]
    checked(result.get("explored") or {})
    _ = manifest["target"].get("as"), manifest["information_loss"]["loss"], manifest["suppressed_rows"] + 0


def _check(page: Page, saved: SavedDraft) -> None:
    """SpecError if a saved spec reads a file that is neither in the page's folders nor opened by the page."""
    source = saved.spec.get("source")
    if saved.of_table and not page.connection:
        raise SpecError(f"the saved work is about the table {source}; start the page with its database")
    is_open = page.opened and source == page.draft.keys.get("source")
    if not saved.of_table and not is_open:
        if not isinstance(source, str) or Path(source).name != source:
            raise SpecError(f"the saved work reads {source}, which is not in this folder; start the page with it")
        listed_file(page.folder, source, *DATA)
    allowed = [page.folder.resolve(), *([page.hierarchies.resolve()] if page.hierarchies else [])]
    opened = {Path(page.folder / str(page.draft.keys.get("source") or "")).resolve()} if page.draft.columns else set()
    read = {key: value for key, value in saved.spec.items() if key != "source" or not saved.of_table}
    for path in paths_read(read, page.folder):
        inside = any(path.resolve().is_relative_to(place) for place in allowed)
        if not inside and path.resolve() not in opened:
            raise SpecError(f"the saved work reads {path}, which is not in this folder; start the page with it")
