"""The start screen: open a file or a table, set how it is read, upload a file, save the work and reopen it; Undo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response

from kanon_sql.errors import KanonError, SpecError
from kanon_sql.page import folder, saved
from kanon_sql.page.first_draft import open_again, restore
from kanon_sql.page.reading import DATES, DECIMALS, delimiters, keys_of, texts_of
from kanon_sql.page.state import Page
from kanon_sql.page.web import TITLES, rendered, shown
from kanon_sql.spec import kind_of_file

CURRENT = "current"  # the value of the field for the open source


def show(request: Request, problem: str = "") -> Response:
    """The data that can be opened, and the saved work."""
    page: Page = request.app.state.page
    tables, missing = _tables(page)
    texts = texts_of(page.draft.keys)
    content = {
        "files": folder.listed_files(page.folder, *folder.DATA),
        "tables": tables,
        "missing": missing,
        "works": folder.listed_files(page.output, saved.ENDING),
        "texts": texts,
        "delimiters": delimiters(_csv(page), texts, [column.name for column in page.draft.columns]),
        "decimals": DECIMALS,
        "dates": DATES,
        "most": folder.MOST_UPLOADED // 2**20,
        "endings": folder.DATA,
        "chosen": request.query_params.get("file", ""),
        "save_name": page.saved_name or saved.first_name(page),
        "saved_as": request.query_params.get("saved", ""),
        "ending": saved.ENDING,
    }
    return rendered(request, "start", problem, **content)


def _csv(page: Page) -> Path | None:
    """The open file if it is CSV."""
    source = str(page.draft.keys.get("source") or "")
    return page.folder / source if page.opened and kind_of_file(source) == "CSV" else None


def _tables(page: Page) -> tuple[list[str], str]:
    """The tables of the page's database, or the error."""
    try:
        return folder.tables(page.connection), ""
    except KanonError as error:
        return [], str(error)


def open_data(request: Request, form: FormData) -> Response:
    """Open a file or a table, or read the open one in another way."""
    page: Page = request.app.state.page
    chosen = str(form.get("source", ""))
    texts = {name: str(form.get(name, "")) for name in texts_of({})}
    if chosen == CURRENT and page.draft.columns:
        reading = {} if page.draft.of_table else keys_of(texts, page.draft.keys)
        open_again(page, str(page.draft.keys["source"]), reading, keep=True)
    elif chosen.startswith("table:"):
        name = chosen.removeprefix("table:")
        if name not in folder.tables(page.connection):
            raise SpecError(f"there is no table {name!r} in the database; choose one from the list")
        open_again(page, name, {}, table=True)
    elif chosen.startswith("file:"):
        file = folder.listed_file(page.folder, chosen.removeprefix("file:"), *folder.DATA)
        open_again(page, file.name, keys_of(texts, {}))
    else:
        raise SpecError("choose a file or a table first")
    return shown(request, "columns")


def upload(request: Request, form: FormData) -> Response:
    """Copy a file from this computer into the folder, where it can be opened."""
    page: Page = request.app.state.page
    content = form.get("upload")
    if not isinstance(content, UploadFile) or not content.filename:
        raise SpecError("choose a file first")
    name = folder.uploaded(page.folder, content.filename, content.file)
    page.windows.tell("changed")
    return shown(request, "start", file=name)


def save(request: Request, form: FormData) -> Response:
    """Save the draft and the results."""
    page: Page = request.app.state.page
    if not page.draft.columns:
        raise SpecError("nothing is open yet; open a file first")
    name = saved.save(page, str(form.get("name", "")), "replace" in form)
    page.saved_name = name.removesuffix(saved.ENDING)
    page.windows.tell("changed")
    return shown(request, "start", saved=name)


def reopen(request: Request, form: FormData) -> Response:
    """Return to saved work."""
    page: Page = request.app.state.page
    path = folder.listed_file(page.output, str(form.get("work", "")), saved.ENDING)
    restore(page, *saved.load(page, path))
    page.saved_name = path.name.removesuffix(saved.ENDING)
    return shown(request, "columns")


def undo(request: Request, form: FormData) -> Response:
    """Return to the draft before the last change."""
    request.app.state.page.undo()
    return _same_screen(request, form)


def redo(request: Request, form: FormData) -> Response:
    """Make an undone change again."""
    request.app.state.page.undo(back=False)
    return _same_screen(request, form)


def _same_screen(request: Request, form: FormData) -> Response:
    """The screen on which Undo was pressed; a column that is no longer generalized has no editor."""
    page: Page = request.app.state.page
    screen, _, place = str(form.get("screen", "")).partition("/")
    if screen not in TITLES:
        return shown(request, "columns")
    columns: tuple[Any, ...] = page.draft.columns
    if place.isdecimal() and int(place) < len(columns) and columns[int(place)].generalized:
        return shown(request, f"{screen}/{int(place)}")
    return shown(request, screen)


PAGES = {"/start": show}
CHANGES = {
    "/start/open": open_data,
    "/start/upload": upload,
    "/start/save": save,
    "/start/reopen": reopen,
    "/undo": undo,
    "/redo": redo,
}
