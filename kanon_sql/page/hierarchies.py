"""The screen of the hierarchies: a recipe per quasi-identifier, with a preview on the values while it is edited.

A change goes into the draft at once if it is a valid hierarchy; otherwise the form keeps the input, with the error next
to its field. Files can only be chosen by name, from the folder given on the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response

from kanon_sql.errors import HierarchyError, KanonError, SpecError
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization import recipes
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.recipes import grouped
from kanon_sql.page import groups
from kanon_sql.page.column_values import ColumnValues, HierarchyPreview, LevelPreview, Rejected, preview
from kanon_sql.page.column_values import shown as shown_value
from kanon_sql.page.draft import DraftColumn, suggested_recipe
from kanon_sql.page.first_draft import open_again
from kanon_sql.page.groups import ByHand, Chip, by_hand
from kanon_sql.page.histograms import by_number
from kanon_sql.page.recipes import (
    FILES,
    KINDS,
    PROBLEMS,
    SORTS,
    as_suggested,
    complete,
    errors_of,
    kind_of,
    plainly,
    recipe_of,
    texts_of,
    usual,
)
from kanon_sql.page.state import Page
from kanon_sql.page.web import rendered, shown, shows_rare, whole
from kanon_sql.report.svg import Element, element, picture
from kanon_sql.spec import READING
from kanon_sql.spec import age_at as age_at_in

MOST_UPLOADED, MOST_LINES = 4 * 2**20, 20_000
_WIDE, _HIGH = 320.0, 12.0
_MOST_SHARES = 60
AGES = {"ranges": [5, 10, 20, 40], "top": 90}


def show(request: Request, problem: str = "") -> Response:
    """The editor of one column, by default the first."""
    page: Page = request.app.state.page
    tabs = []
    for number, column in enumerate(page.draft.columns):
        if column.generalized:
            tabs.append((number, column.name, KINDS[kind_of(column.attribute.get("hierarchy"))].title))
    place = request.path_params.get("place", tabs[0][0] if tabs else None)
    if place not in [number for number, _, _ in tabs]:
        problem = problem or ("" if place is None else "that column is not a quasi-identifier; choose another")
        return rendered(request, "hierarchies", problem, tabs=tabs, place=None)
    rare = shows_rare(request)
    content = _content(page, place, request.query_params.get("as", ""), rare)
    return rendered(request, "hierarchies", problem, tabs=tabs, place=place, sorts=SORTS, kinds=KINDS, **content)


def _content(page: Page, place: int, viewed: str, rare: bool) -> dict[str, Any]:
    """The contents of a column's editor, for the kind of recipe that is viewed."""
    column = page.draft.columns[place]
    recipe = column.attribute.get("hierarchy")
    used = kind_of(recipe)
    tried = page.editor.rejected.get(column.name)
    kind = viewed if viewed in KINDS else tried.kind if tried else used
    content = {
        "column": column,
        "used": used,
        "kind": kind,
        "files": _files(page),
        "read_at": _read_at(page, column),
        "of_file": not page.draft.of_table,
        "message": page.editor.message(column.name, kind),
        "by_suggestion": recipe == suggested_recipe(column.suggested),
    }
    try:
        values = page.editor.values(page.draft, column.name)
    except KanonError as error:
        return {**content, "missing": str(error)}
    tried = tried if tried and tried.kind == kind else None
    texts = tried.texts if tried else texts_of(recipe) if kind == used else usual(kind, values)
    days = _days(page, column.name) if kind == "age" else {}
    if days and kind != used and not tried:
        texts = {**texts, "age": max(last for _, last in days.values())}  # the day of the data rather than today
    seen, wrong = _preview(page, column, kind, recipe_of(kind, texts)) if kind != used else _preview(page, column)
    levels = seen.levels if seen else ()
    return {
        **content,
        "missing": "",
        "values": values,
        "texts": texts,
        "days": days,
        "errors": {**wrong, **(tried.errors if tried else {})},
        "tried": tried,
        "seen": seen,
        **_visible(page, column, seen, rare),
        "bars": [_shares(f"level-bar-{number}", level, page.draft.k) for number, level in enumerate(levels)],
        **_editor(page, column, values, used),
    }


def _visible(page: Page, column: DraftColumn, seen: HierarchyPreview | None, rare: bool) -> dict[str, Any]:
    """The values and labels of a preview that at least k people have, or all if `rare` ones are requested.

    `examples`: a frequent value with its label, per level.
    """
    found: dict[str, Any] = {"rare": rare, "shown_values": [], "largest": [], "examples": [], "hidden": 0}
    if seen is None:
        return found
    k = page.draft.k
    summary = page.counted_columns().get(column.name)
    common = summary.common(k) if summary else None  # None while they are counted

    def visible(level: int, label: str, rows: int) -> bool:
        return rare or (rows >= k if level or common is None else label in common)

    shown_values = [(rows, labels) for rows, labels in seen.values if visible(0, labels[0], rows)]
    largest = [
        [(label, rows) for label, rows in level.largest if visible(number, label, rows)]
        for number, level in enumerate(seen.levels)
    ]
    example = shown_values[0][1] if shown_values else ()
    hidden = len(seen.values) - len(shown_values)
    return {**found, "shown_values": shown_values, "largest": largest, "examples": example, "hidden": hidden}


def _days(page: Page, name: str) -> dict[str, tuple[str, str]]:
    """The first and the last day of the other columns of dates, rounded to the intervals of at least k people."""
    columns = page.counted_columns()
    found = {other: summary.days(page.draft.k) for other, summary in columns.items() if other != name}
    return {other: days for other, days in found.items() if days}


def _preview(
    page: Page, column: DraftColumn, kind: str = "", recipe: Any = None
) -> tuple[HierarchyPreview | None, dict[str, str]]:
    """The preview of a column's hierarchy, or of a complete recipe of another kind; or the errors in it."""
    if kind and not complete(kind, recipe):
        return None, {}
    recipe = recipe if kind else column.attribute.get("hierarchy")
    try:
        values = page.editor.values(page.draft, column.name)
        return preview(page.editor.fitted(page.draft, column.name, recipe), values.counts), {}
    except PROBLEMS as error:
        return None, errors_of(error, kind or kind_of(recipe), column.name)


def _editor(page: Page, column: DraftColumn, values: ColumnValues, used: str) -> dict[str, Any]:
    """The boxes of the groups, with the chips that the filter matches."""
    if used != "groups":
        return {"boxes": None, "find": "", "many": values.distinct > groups.MOST_BY_HAND, "too_many": ""}
    find = page.editor.find.get(column.name, "")
    try:
        edited = _edited(page, column, values)
    except SpecError as error:
        return {"boxes": None, "find": "", "many": True, "too_many": str(error)}
    boxes = [_boxes(edited, level, find.casefold()) for level in range(1, len(edited.levels) + 1)]
    return {"boxes": boxes, "find": find, "many": False, "too_many": ""}


def _boxes(edited: ByHand, level: int, find: str) -> dict[str, Any]:
    """The boxes of a level: label, chips (with a mark if the filter matches), and numbers of rows and chips."""
    chips = {chip.text: chip for chip in edited.chips(level)}
    places = {text: place for place, text in enumerate(chips)}
    inside = [
        (label, [chips[text] for text in texts if text in chips]) for label, texts in edited.levels[level - 1].items()
    ]
    order = by_number([label for label, _ in inside]) or range(len(inside))
    boxes = [
        ("", [chips[text] for text in edited.free(level) if text or level == 1]),
        *(inside[place] for place in order),
    ]
    drawn = [
        {
            "label": label,
            "chips": [_chip(chip, places[chip.text], find) for chip in box],
            "rows": sum(chip.rows for chip in box),
            "count": len(box),
        }
        for label, box in boxes
    ]
    return {"free": drawn[0], "groups": drawn[1:]}


def _chip(chip: Chip, place: int, find: str) -> dict[str, Any]:
    text = shown_value(chip.text or None)
    return {"text": chip.text, "shown": text, "rows": chip.rows, "at": place, "found": find in text.casefold()}


def _edited(page: Page, column: DraftColumn, values: ColumnValues) -> ByHand:
    """The groups in progress, with empty ones, if the draft still has their recipe; otherwise the draft's groups."""
    recipe = column.attribute.get("hierarchy")
    editing = page.editor.editing.get(column.name)
    if editing is not None and editing.recipe() == recipe:
        return editing
    return by_hand(recipe, values.counts, values.column.kind)


def _files(page: Page) -> list[str]:
    """The names of the files in the folder of hierarchies."""
    folder = page.draft.keys.get("hierarchies")
    if not folder or not Path(folder).is_dir():
        return []
    return sorted(path.name for path in Path(folder).iterdir() if path.is_file() and path.suffix in (".csv", ".txt"))


def _changed_column(request: Request) -> tuple[Page, int, DraftColumn]:
    """The page, and the column to change; SpecError if it is not a quasi-identifier."""
    page, place = request.app.state.page, request.path_params["place"]
    if not 0 <= place < len(page.draft.columns) or not page.draft.columns[place].generalized:
        raise SpecError("that column is not a quasi-identifier; choose another")
    return page, place, page.draft.columns[place]


def _back(request: Request, kind: str = "") -> Response:
    kind = kind or request.query_params.get("as", "")
    return shown(request, f"hierarchies/{request.path_params['place']}" + (f"?as={kind}" if kind in KINDS else ""))


def _take(page: Page, place: int, name: str, recipe: Any, message: str) -> None:
    """Put a recipe into the draft if it defines a valid hierarchy; bounds above its top level are removed."""
    height = page.editor.fitted(page.draft, name, recipe).height

    def edit(draft: Any) -> Any:
        column = draft.columns[place].with_key("hierarchy", recipe)
        for key in ("min_level", "max_level"):
            if (column.attribute.get(key) or 0) > height:
                column = column.with_key(key, None)
        return draft.changed(place, column)

    page.change(edit)
    page.editor.messages[name] = (kind_of(recipe), message)
    page.editor.rejected.pop(name, None)


def recipe(request: Request, form: FormData) -> Response:
    """Set the recipe from the fields of its form; rejected input stays in the form."""
    page, place, column = _changed_column(request)
    kind = str(form.get("kind", ""))
    if kind not in KINDS or kind == "groups":
        raise SpecError(f"{kind!r} is not a recipe; choose one of {', '.join(KINDS)}")
    texts = {field.key: str(form.get(field.key, "")) for field in KINDS[kind].fields}
    try:
        _take(page, place, column.name, _in_folder(page, column, kind, texts), f"Generalized by: {KINDS[kind].title}.")
    except PROBLEMS as error:
        page.editor.rejected[column.name] = Rejected(kind, texts, errors_of(error, kind, column.name))
        answer = show(request)
        answer.status_code = 422
        return answer
    return _back(request, kind)


def _in_folder(page: Page, column: DraftColumn, kind: str, texts: Mapping[str, str]) -> Any:
    """The recipe of a form; its file must be in the list or in use."""
    recipe = recipe_of(kind, texts)
    if kind == "table" and ("/" in texts["table"] or "`" in texts["table"]):
        raise SpecError("name a table or view of the database; files are not opened from here")
    if kind not in FILES:
        return recipe
    name = texts[kind].strip()
    used = texts_of(column.attribute.get("hierarchy")).get(kind)
    if name in _files(page):
        return {**recipe, kind: str(Path(page.draft.keys["hierarchies"]) / name)}
    if name and name == used:
        return recipe
    raise SpecError("choose one of the files in the list")


def again(request: Request, _: FormData) -> Response:
    """Return to the suggested recipe."""
    page, place, column = _changed_column(request)
    page.editor.rejected.pop(column.name, None)
    _take(page, place, column.name, _suggestion(page, column), "Generalized as it was suggested.")
    return shown(request, f"hierarchies/{place}")


def _suggestion(page: Page, column: DraftColumn) -> Any:
    if column.suggested.recipe is None and not column.suggested.levels:
        return as_suggested(page.editor.values(page.draft, column.name))
    return suggested_recipe(column.suggested)


def bounds(request: Request, form: FormData) -> Response:
    """Set the lowest and highest level that a release may show."""
    page, place, column = _changed_column(request)
    height = page.editor.fitted(page.draft, column.name, column.attribute.get("hierarchy")).height
    low = whole(form, "min_level", 0, height)
    high = whole(form, "max_level", 0, height)
    if low is not None and high is not None and low > high:
        raise SpecError(f"level {low} is above level {high}; choose a range of levels that is not empty")
    changed = column.with_key("min_level", low or None).with_key("max_level", None if high == height else high)
    page.change(lambda draft: draft.changed(place, changed))
    message = f"Levels {low or 0} to {height if high is None else high} are allowed."
    page.editor.messages[column.name] = kind_of(changed.attribute.get("hierarchy")), message
    return _back(request)


def start(request: Request, form: FormData) -> Response:
    """Start groups by hand from the suggestion, from the recipe in use, or from nothing."""
    page, place, column = _changed_column(request)
    values = page.editor.values(page.draft, column.name)
    starts: dict[str, Callable[[], Any]] = {
        "suggestion": lambda: _listed(page, column, _suggestion(page, column)),
        "now": lambda: _listed(page, column, column.attribute.get("hierarchy")),
        "nothing": lambda: by_hand(None, values.counts, values.column.kind).recipe(),
    }
    if str(form.get("how")) not in starts:
        raise SpecError(f"start from one of {', '.join(starts)}")
    _take(page, place, column.name, starts[str(form["how"])](), "Ready to be grouped.")
    return _back(request, "groups")


def age_at(request: Request, form: FormData) -> Response:
    """Read a column of dates of birth as the age at the date in another column, or as dates again; the file is read."""
    page, place, column = _changed_column(request)
    at = str(form.get("at", ""))
    if at and at not in _days(page, column.name):
        raise SpecError(f"{at!r} is not a column of dates; choose one from the list")
    keys = page.draft.keys
    if page.draft.of_table:
        raise SpecError(
            "ages at another column's date are computed while a file is read; add such a column to the table"
        )
    forms = {name: form for name, form in keys.get("columns", {}).items() if name != column.name}
    reading = {key: keys[key] for key in READING if keys.get(key) and key != "columns"}
    forms |= {column.name: f"age at {at}"} if at else {}
    open_again(page, str(keys["source"]), {**reading, **({"columns": forms} if forms else {})}, keep=True)
    if at:
        _take(page, place, column.name, AGES, f"Read as the age at {at}, and generalized by ranges.")
    return shown(request, f"hierarchies/{place}")


def _read_at(page: Page, column: DraftColumn) -> str:
    """The column at whose date a column is an age; empty if it is none."""
    form = page.draft.keys.get("columns", {}).get(column.name)
    return age_at_in(form.get("type") if isinstance(form, Mapping) else form) or ""


def _listed(page: Page, column: DraftColumn, recipe: Any) -> dict[str, Any]:
    """A recipe's hierarchy as groups of the column's values."""
    return _grouped(page.editor.fitted(page.draft, column.name, recipe), column.name)


def _grouped(hierarchy: Hierarchy, name: str) -> dict[str, Any]:
    listed = grouped(hierarchy.values, hierarchy.levels)
    recipes.groups(listed, name)
    return {"groups": listed}


def move(request: Request, form: FormData) -> Response:
    """Move chips between boxes, or create, rename or delete a box or a level."""
    page, place, column = _changed_column(request)
    before = _edited(page, column, page.editor.values(page.draft, column.name))
    level = whole(form, "level", 1, len(before.levels)) or 1
    chosen = [str(chip) for chip in form.getlist("chip")]
    after, message = _moved(before, level, chosen, form)
    recipe = after.recipe()  # before the editor keeps it: it raises SpecError if it is not valid
    page.editor.editing[column.name] = after
    _take(page, place, column.name, recipe, message)
    return _back(request, "groups")


def _moved(before: ByHand, level: int, chosen: list[str], form: FormData) -> tuple[ByHand, str]:
    """The groups after a change, and the message about it."""
    to, label, old = (str(form.get(name, "")) for name in ("to", "label", "old"))
    many = f"{len(chosen):,} items" if len(chosen) > 1 else shown_value(chosen[0] or None) if chosen else "nothing yet"
    if "drop" in form:
        deleted = str(form["drop"])
        return before.dropped(level, deleted), f"Deleted the group {deleted}; its members are in no group now."
    match form.get("do"):
        case "new":
            return before.added(level, label, chosen), f"Created the group {label} with {many}."
        case "rename":
            return before.renamed(level, old, label), f"Renamed {old} to {label}."
        case "taller":
            return before.taller(), f"Added level {len(before.levels) + 1}."
        case "lower":
            return before.lower(), f"Removed level {len(before.levels)}."
        case "move" if not chosen:
            raise SpecError("nothing is chosen; tick what to move first")
        case "move" if to and to not in before.levels[level - 1]:
            raise SpecError(f"the group {to!r} does not exist any more; choose another")
        case "move":
            return before.moved(level, chosen, to), f"Moved {many} {f'to {to}' if to else 'out of all groups'}."
    raise SpecError("invalid form; reload the page")


def find(request: Request, form: FormData) -> Response:
    """Only show chips whose text contains the search text."""
    page, _, column = _changed_column(request)
    page.editor.find[column.name] = str(form.get("find", ""))
    return _back(request, "groups")


def upload(request: Request, form: FormData) -> Response:
    """Read a hierarchy from an uploaded file into groups of the spec; the file itself is not stored."""
    page, place, column = _changed_column(request)
    uploaded = form.get("upload")
    if not isinstance(uploaded, UploadFile) or not uploaded.filename:
        raise SpecError("choose a file first")
    name = f"the file {uploaded.filename}"
    values = page.editor.values(page.draft, column.name)
    try:
        hierarchy = _parse(_text(uploaded, name), name, form.get("form") == "tree", values)
        message = f"Taken from {name}: {hierarchy.leaf_count:,} values."
        _take(page, place, column.name, _grouped(hierarchy, column.name), message)
    except PROBLEMS as error:
        raise plainly(error) from None
    return _back(request, "groups")


def _text(uploaded: UploadFile, name: str) -> str:
    content = uploaded.file.read(MOST_UPLOADED + 1)
    if len(content) > MOST_UPLOADED:
        raise HierarchyError(
            f"{name} has more than {MOST_UPLOADED // 2**20} MiB; start the page with a folder of hierarchy files, and "
            "put it there"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HierarchyError(f"{name} is not UTF-8 text; save it as UTF-8") from None


def _parse(text: str, name: str, tree: bool, values: ColumnValues) -> Hierarchy:
    """The hierarchy in an uploaded file, checked as other files are."""
    column = values.column
    if tree:
        pairs = [(row[0], row[1]) for _, row in h.fields(text, name) if len(row) == 2]
        hierarchy = recipes.taxonomy(pairs, map(str, values.counts), column.name, name)
    else:
        hierarchy = h.parse(text, name)
    if hierarchy.leaf_count > MOST_LINES:
        raise HierarchyError(
            f"{name} has {hierarchy.leaf_count:,} values, at most {MOST_LINES:,} are allowed; start the page "
            "with a folder of hierarchy files, and put it there"
        )
    return h.convert(hierarchy, column.kind, name)


# The picture of a level


def _shares(name: str, level: LevelPreview, k: int) -> str:
    """A bar of a level's rows by label, the largest first, with labels of fewer than k rows in the colour of risk."""
    total = sum(level.sizes) or 1
    parts: list[Element] = []
    x = 0.0
    for size in level.sizes[:_MOST_SHARES]:
        wide = _WIDE * size / total
        css = "x" if size < k else "r"
        parts.append(element("rect", x=x, y=0, width=wide - (1 if wide > 4 else 0), height=_HIGH, class_=css))
        x += wide
    rest = level.sizes[_MOST_SHARES:]
    risky = _WIDE * sum(size for size in rest if size < k) / total
    parts += [*_flat("r", x, _WIDE - x - risky), *_flat("x", _WIDE - risky, risky)]
    text = f"{len(level.sizes):,} labels; the largest has {max(level.sizes, default=0) / total:.0%} of the rows."
    return picture(name, _WIDE, _HIGH, "Rows by label", text, parts)


def _flat(css: str, x: float, wide: float) -> list[Element]:
    return [element("rect", x=x, y=0, width=wide, height=_HIGH, class_=css)] if wide > 0.01 else []


PAGES = {"/hierarchies": show, "/hierarchies/{place:int}": show}
CHANGES = {
    "/hierarchies/{place:int}/recipe": recipe,
    "/hierarchies/{place:int}/suggested": again,
    "/hierarchies/{place:int}/levels": bounds,
    "/hierarchies/{place:int}/start": start,
    "/hierarchies/{place:int}/groups": move,
    "/hierarchies/{place:int}/find": find,
    "/hierarchies/{place:int}/file": upload,
    "/hierarchies/{place:int}/age": age_at,
}
