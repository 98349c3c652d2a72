"""The screen of the hierarchies: a recipe per quasi-identifier, with what it makes of the values while one edits it.

What is changed is in the draft at once, if it is a hierarchy; what is not is kept as it was typed, with the reason
beside its field. Of files only names are chosen, out of those in the folder that the command line gave.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from kanon_sql.errors import HierarchyError, KanonError, SpecError
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization import recipes
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.recipes import grouped
from kanon_sql.page import groups
from kanon_sql.page.draft import DraftColumn, suggested_recipe
from kanon_sql.page.groups import ByHand, Chip, by_hand
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
    refused,
    texts_of,
    usual,
)
from kanon_sql.page.state import Page
from kanon_sql.page.values import Level, Preview, Tried, Values, preview
from kanon_sql.page.values import shown as shown_value
from kanon_sql.page.web import changing, rendered, shown, whole
from kanon_sql.report.svg import Element, element, picture

MOST_UPLOADED, MOST_LINES = 4 * 2**20, 20_000
_WIDE, _HIGH = 320.0, 12.0
_MOST_SHARES = 60


def show(request: Request, problem: str = "") -> Response:
    """The editor of one column, the first if none is named."""
    page: Page = request.app.state.page
    places = [place for place, column in enumerate(page.draft.columns) if column.generalized]
    asked = request.path_params.get("place", places[0] if places else None)
    tabs = [(place, page.draft.columns[place].name, _kind(page.draft.columns[place])) for place in places]
    if asked not in places:
        problem = problem or ("" if asked is None else "that column is no quasi-identifier; choose another")
        return rendered(request, "hierarchies", problem, tabs=tabs, place=None)
    content = _content(page, asked, request.query_params.get("as", ""))
    return rendered(request, "hierarchies", problem, tabs=tabs, place=asked, sorts=SORTS, kinds=KINDS, **content)


def _kind(column: DraftColumn) -> str:
    return KINDS[kind_of(column.attribute.get("hierarchy"))].title


def _content(page: Page, place: int, viewed: str) -> dict[str, Any]:
    """What the editor shows of a column, for the kind of recipe that somebody looks at."""
    column = page.draft.columns[place]
    recipe = column.attribute.get("hierarchy")
    used, tried = kind_of(recipe), page.beside.tried.get(column.name)
    kind = viewed if viewed in KINDS else tried.kind if tried else used
    here = {"column": column, "used": used, "kind": kind, "files": _files(page)}
    said = {"said": page.beside.heard(column.name, kind), "by_suggestion": recipe == suggested_recipe(column.suggested)}
    try:
        values = page.beside.values(page.draft, column.name)
    except KanonError as error:
        return {**here, **said, "missing": str(error)}
    tried = tried if tried and tried.kind == kind else None
    texts = tried.texts if tried else texts_of(recipe) if kind == used else usual(kind, values)
    seen, wrong = _looked_at(page, column, kind, recipe_of(kind, texts)) if kind != used else _looked_at(page, column)
    errors = {**wrong, **(tried.errors if tried else {})}
    bars = (
        [_shares(f"level-bar-{level}", bars_of_level, page.draft.k) for level, bars_of_level in enumerate(seen.levels)]
        if seen
        else []
    )
    shown_values = {"values": values, "texts": texts, "errors": errors, "tried": tried, "seen": seen, "bars": bars}
    return {**here, **said, "missing": "", **shown_values, **_editor(page, column, values, used)}


def _looked_at(
    page: Page, column: DraftColumn, kind: str = "", recipe: Any = None
) -> tuple[Preview | None, dict[str, str]]:
    """The preview of what a column has, or of a recipe of another kind once it is complete; or what is wrong."""
    if kind and not complete(kind, recipe):
        return None, {}
    recipe = recipe if kind else column.attribute.get("hierarchy")
    try:
        values = page.beside.values(page.draft, column.name)
        return preview(page.beside.fitted(page.draft, column.name, recipe), values.counts), {}
    except PROBLEMS as error:
        return None, errors_of(refused(error), kind or kind_of(recipe), column.name)


def _editor(page: Page, column: DraftColumn, values: Values, used: str) -> dict[str, Any]:
    """The boxes of the groups, with the chips that the filter leaves."""
    if used != "groups":
        return {"boxes": None, "find": "", "many": values.distinct > groups.MOST_BY_HAND, "too_many": ""}
    find = page.beside.find.get(column.name, "")
    try:
        made = _edited(page, column, values)
    except SpecError as error:
        return {"boxes": None, "find": "", "many": True, "too_many": str(error)}
    boxes = [_boxes(made, level, find.casefold()) for level in range(1, len(made.levels) + 1)]
    return {"boxes": boxes, "find": find, "many": False, "too_many": ""}


def _boxes(made: ByHand, level: int, find: str) -> dict[str, Any]:
    """A level as it is drawn: of each box its label, its chips that are found, and the rows and number of them all."""
    chips = {chip.text: chip for chip in made.chips(level)}
    places = {text: place for place, text in enumerate(chips)}
    inside = [
        (label, [chips[text] for text in texts if text in chips]) for label, texts in made.levels[level - 1].items()
    ]
    boxes = [("", [chips[text] for text in made.free(level) if text or level == 1]), *inside]
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


def _edited(page: Page, column: DraftColumn, values: Values) -> ByHand:
    """The groups in the making, with the empty ones, if they still are what the draft says; else those of the draft."""
    recipe = column.attribute.get("hierarchy")
    kept = page.beside.editing.get(column.name)
    if kept is not None and kept.recipe() == recipe:
        return kept
    return by_hand(recipe, values.counts, values.column.kind)


def _files(page: Page) -> list[str]:
    """The names of the files in the folder of hierarchies."""
    folder = page.draft.keys.get("hierarchies")
    if not folder or not Path(folder).is_dir():
        return []
    return sorted(path.name for path in Path(folder).iterdir() if path.is_file() and path.suffix in (".csv", ".txt"))


def _asked(request: Request) -> tuple[Page, int, DraftColumn]:
    """The page, and the column that a change is about; SpecError if it is no quasi-identifier."""
    page, place = request.app.state.page, request.path_params["place"]
    if not 0 <= place < len(page.draft.columns) or not page.draft.columns[place].generalized:
        raise SpecError("that column is no quasi-identifier; choose another")
    return page, place, page.draft.columns[place]


def _back(request: Request, kind: str = "") -> Response:
    kind = kind or request.query_params.get("as", "")
    return shown(request, f"hierarchies/{request.path_params['place']}" + (f"?as={kind}" if kind in KINDS else ""))


def _take(page: Page, place: int, name: str, recipe: Any, said: str) -> None:
    """Put a recipe into the draft if it makes a hierarchy of the values; levels above its top are forgotten."""
    height = page.beside.fitted(page.draft, name, recipe).height

    def edit(draft: Any) -> Any:
        column = draft.columns[place].told("hierarchy", recipe)
        for key in ("min_level", "max_level"):
            if (column.attribute.get(key) or 0) > height:
                column = column.told(key, None)
        return draft.changed(place, column)

    page.change(edit)
    page.beside.said[name] = (kind_of(recipe), said)
    page.beside.tried.pop(name, None)


@changing(show)
def recipe(request: Request, form: FormData) -> Response:
    """Another recipe, from the fields of its form; what is refused stays as it was typed."""
    page, place, column = _asked(request)
    kind = str(form.get("kind", ""))
    if kind not in KINDS or kind == "groups":
        raise SpecError(f"{kind!r} is no recipe; choose one of {', '.join(KINDS)}")
    texts = {field.key: str(form.get(field.key, "")) for field in KINDS[kind].fields}
    try:
        _take(page, place, column.name, _in_folder(page, column, kind, texts), f"Generalized by: {KINDS[kind].title}.")
    except PROBLEMS as error:
        page.beside.tried[column.name] = Tried(kind, texts, errors_of(refused(error), kind, column.name))
        answer = show(request)
        answer.status_code = 422
        return answer
    return _back(request, kind)


def _in_folder(page: Page, column: DraftColumn, kind: str, texts: Mapping[str, str]) -> Any:
    """The recipe of a form, its file one of those that are listed, or the one that is in use."""
    made = recipe_of(kind, texts)
    if kind == "table" and ("/" in texts["table"] or "`" in texts["table"]):
        raise SpecError("name a table or view of the database; files are not opened from here")
    if kind not in FILES:
        return made
    name, used = texts[kind].strip(), texts_of(column.attribute.get("hierarchy")).get(kind)
    if name in _files(page):
        return {**made, kind: str(Path(page.draft.keys["hierarchies"]) / name)}
    if name and name == used:
        return made
    raise SpecError("choose one of the files in the list")


@changing(show)
def again(request: Request, _: FormData) -> Response:
    """The suggestion, whatever was chosen instead."""
    page, place, column = _asked(request)
    page.beside.tried.pop(column.name, None)
    _take(page, place, column.name, _suggestion(page, column), "Generalized as it was suggested.")
    return shown(request, f"hierarchies/{place}")


def _suggestion(page: Page, column: DraftColumn) -> Any:
    if column.suggested.recipe is None and not column.suggested.levels:
        return as_suggested(page.beside.values(page.draft, column.name))
    return suggested_recipe(column.suggested)


@changing(show)
def bounds(request: Request, form: FormData) -> Response:
    """The lowest and the highest level that may be shown."""
    page, place, column = _asked(request)
    height = page.beside.fitted(page.draft, column.name, column.attribute.get("hierarchy")).height
    low, high = whole(form, "min_level", 0, height), whole(form, "max_level", 0, height)
    if low is not None and high is not None and low > high:
        raise SpecError(f"level {low} is above level {high}; choose a range of levels that is not empty")
    made = column.told("min_level", low or None).told("max_level", None if high == height else high)
    page.change(lambda draft: draft.changed(place, made))
    said = f"Levels {low or 0} to {height if high is None else high} may be shown."
    page.beside.said[column.name] = kind_of(made.attribute.get("hierarchy")), said
    return _back(request)


@changing(show)
def start(request: Request, form: FormData) -> Response:
    """Begin to group by hand: with the suggestion, with what the recipe gives now, or with nothing."""
    page, place, column = _asked(request)
    values = page.beside.values(page.draft, column.name)
    begun: dict[str, Callable[[], Any]] = {
        "suggestion": lambda: _listed(page, column, _suggestion(page, column)),
        "now": lambda: _listed(page, column, column.attribute.get("hierarchy")),
        "nothing": lambda: by_hand(None, values.counts, values.column.kind).recipe(),
    }
    if str(form.get("how")) not in begun:
        raise SpecError(f"start from one of {', '.join(begun)}")
    _take(page, place, column.name, begun[str(form["how"])](), "Ready to be grouped.")
    return _back(request, "groups")


def _listed(page: Page, column: DraftColumn, recipe: Any) -> dict[str, Any]:
    """A recipe as groups of the values that there are."""
    made = page.beside.fitted(page.draft, column.name, recipe)
    return _grouped(made, column.name)


def _grouped(made: Hierarchy, name: str) -> dict[str, Any]:
    listed = grouped(made.values, made.levels)
    recipes.groups(listed, name)
    return {"groups": listed}


@changing(show)
def move(request: Request, form: FormData) -> Response:
    """Move chips between boxes, or make, rename or drop a box or a level."""
    page, place, column = _asked(request)
    made = _edited(page, column, page.beside.values(page.draft, column.name))
    level = whole(form, "level", 1, len(made.levels)) or 1
    chosen = [str(chip) for chip in form.getlist("chip")]
    after, said = _moved(made, level, chosen, form)
    made_of = after.recipe()
    page.beside.editing[column.name] = after
    _take(page, place, column.name, made_of, said)
    return _back(request, "groups")


def _moved(made: ByHand, level: int, chosen: list[str], form: FormData) -> tuple[ByHand, str]:
    to, label, old = (str(form.get(name, "")) for name in ("to", "label", "old"))
    many = f"{len(chosen):,} items" if len(chosen) > 1 else shown_value(chosen[0] or None) if chosen else "nothing yet"
    if "drop" in form:
        gone = str(form["drop"])
        return made.dropped(level, gone), f"Deleted the group {gone}; what was in it stands by itself."
    match form.get("do"):
        case "new":
            return made.made(level, label, chosen), f"Made the group {label} with {many}."
        case "rename":
            return made.renamed(level, old, label), f"Renamed {old} to {label}."
        case "taller":
            return made.taller(), f"Added level {len(made.levels) + 1}."
        case "lower":
            return made.lower(), f"Removed level {len(made.levels)}."
        case "move" if not chosen:
            raise SpecError("nothing is chosen; tick what to move first")
        case "move" if to and to not in made.levels[level - 1]:
            raise SpecError(f"there is no group {to!r} any more; choose another")
        case "move":
            return made.moved(level, chosen, to), f"Moved {many} {f'to {to}' if to else 'out: it stands by itself'}."
    raise SpecError("the page did not say what to do; read it again")


@changing(show)
def find(request: Request, form: FormData) -> Response:
    """Show the chips alone whose text has this in it."""
    page, _, column = _asked(request)
    page.beside.find[column.name] = str(form.get("find", ""))
    return _back(request, "groups")


@changing(show)
def upload(request: Request, form: FormData) -> Response:
    """A hierarchy from a file that the browser sends: it becomes groups of the spec, and no file is kept."""
    page, place, column = _asked(request)
    sent = form.get("upload")
    if not isinstance(sent, UploadFile) or not sent.filename:
        raise SpecError("choose a file first")
    name = f"the file {sent.filename}"
    values = page.beside.values(page.draft, column.name)
    try:
        made = _sent(_text(sent, name), name, form.get("form") == "tree", values)
        _take(page, place, column.name, _grouped(made, column.name), f"Taken from {name}: {made.leaf_count:,} values.")
    except PROBLEMS as error:
        raise plainly(refused(error)) from None
    return _back(request, "groups")


def _text(sent: UploadFile, name: str) -> str:
    content = sent.file.read(MOST_UPLOADED + 1)
    if len(content) > MOST_UPLOADED:
        raise HierarchyError(
            f"{name} has more than {MOST_UPLOADED // 2**20} MiB; put it into the folder given with --hierarchies"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise HierarchyError(f"{name} is not UTF-8 text; save it as UTF-8") from None


def _sent(text: str, name: str, tree: bool, values: Values) -> Hierarchy:
    """The hierarchy in a file that was sent, checked as files are."""
    column = values.column
    if tree:
        pairs = [(row[0], row[1]) for _, row in h.fields(text, name) if len(row) == 2]
        made = recipes.taxonomy(pairs, map(str, values.counts), column.name, name)
    else:
        made = h.parse(text, name)
    if made.leaf_count > MOST_LINES:
        raise HierarchyError(
            f"{name} has {made.leaf_count:,} values, {MOST_LINES:,} at most; put it into the folder of --hierarchies"
        )
    return h.convert(made, column.kind, name)


# The picture of a level


def _shares(name: str, of: Level, k: int) -> str:
    """The rows of a level by its labels, the largest first; those of fewer than k in the colour of risk."""
    total = sum(of.sizes) or 1
    parts: list[Element] = []
    x = 0.0
    for size in of.sizes[:_MOST_SHARES]:
        wide = _WIDE * size / total
        css = "x" if size < k else "r"
        parts.append(element("rect", x=x, y=0, width=wide - (1 if wide > 4 else 0), height=_HIGH, class_=css))
        x += wide
    rest = of.sizes[_MOST_SHARES:]
    risky = _WIDE * sum(size for size in rest if size < k) / total
    parts += [*_flat("r", x, _WIDE - x - risky), *_flat("x", _WIDE - risky, risky)]
    said = f"{len(of.sizes):,} labels; the largest has {max(of.sizes, default=0) / total:.0%} of the rows."
    return picture(name, _WIDE, _HIGH, "Rows by label", said, parts)


def _flat(css: str, x: float, wide: float) -> list[Element]:
    return [element("rect", x=x, y=0, width=wide, height=_HIGH, class_=css)] if wide > 0.01 else []


ROUTES = [
    Route("/hierarchies", show),
    Route("/hierarchies/{place:int}", show),
    *(
        Route(f"/hierarchies/{{place:int}}/{name}", change, methods=["POST"])
        for name, change in {
            "recipe": recipe,
            "suggested": again,
            "levels": bounds,
            "start": start,
            "groups": move,
            "find": find,
            "file": upload,
        }.items()
    ),
]
