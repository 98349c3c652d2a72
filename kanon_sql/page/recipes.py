"""The forms of the recipes: their fields, and the conversion between the fields' texts and a spec's values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, get_args

from kanon_sql.errors import KanonError, SpecError
from kanon_sql.generalization.calendar import NAMED
from kanon_sql.page.column_values import ColumnValues, shown
from kanon_sql.page.wording import in_page_words
from kanon_sql.spec import Known
from kanon_sql.spec.types import number_or_text
from kanon_sql.suggestion import steps, suggested

Read = Callable[[str], Any]
FILES = ("file", "taxonomy")
_HALVES = ("right", "left")
SORTS = (
    ("Numbers", ("ranges", "edges")),
    ("Dates", ("dates", "age")),
    ("Codes", ("redact", "prefix", "networks")),
    ("Meaning", ("known", "groups", "file", "taxonomy", "table")),
    ("Any", ("suppress",)),
)
PROBLEMS = (KanonError, ValueError, ArithmeticError)


@dataclass(frozen=True)
class FormField:
    """A field of a form: its key in the recipe, and its label and hint.

    `shape`: text, lines, number, date, tick, choice (of `choices`) or name (of a file of the folder).
    """

    key: str
    label: str
    hint: str = ""
    shape: str = "text"
    choices: tuple[str, ...] = ()
    read: Read = str
    needed: bool = False


@dataclass(frozen=True)
class RecipeKind:
    """A kind of recipe: its title, a sentence on what it does, and its fields."""

    title: str
    what: str
    fields: tuple[FormField, ...] = ()


def _numbers(text: str) -> list[Any]:
    return [number_or_text(part) for part in re.split(r"[\s,;]+", text.strip()) if part]


def _lines(text: str) -> list[list[Any]]:
    return [_numbers(line) for line in text.splitlines() if line.strip()]


def _words(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


_SEPARATOR = FormField("separator", "Separator", "Detected from the first line by default.")
_HEADER = FormField("header", "The first line names the columns", shape="tick", read=lambda text: text == "on")
_WHERE = FormField("top", "One label from here on", "Such as 90; ages above are rare.", "number", read=number_or_text)

KINDS: dict[str, RecipeKind] = {
    "ranges": RecipeKind(
        "Ranges",
        "Numbers in ranges of one width per level, such as [20, 30).",
        (
            FormField(
                "ranges",
                "Widths",
                "The finest first, each a multiple of the previous: 5, 10, 20",
                read=_numbers,
                needed=True,
            ),
            FormField("bottom", "One label below", "Empty: none.", "number", read=number_or_text),
            _WHERE,
            FormField("origin", "Count from", "Empty: 0.", "number", read=number_or_text),
        ),
    ),
    "edges": RecipeKind(
        "Ranges of your own",
        "Numbers between edges that you choose, for skewed columns.",
        (
            FormField(
                "edges",
                "Edges",
                "One line per level, the finest first; every line has some of the edges of the line above.",
                "lines",
                read=_lines,
                needed=True,
            ),
        ),
    ),
    "dates": RecipeKind(
        "Parts of dates",
        "Dates as months, quarters, years and longer.",
        (
            FormField(
                "dates",
                "Parts",
                f"The finest first, of {', '.join(NAMED)}, or bands such as 5 years",
                read=_words,
                needed=True,
            ),
        ),
    ),
    "age": RecipeKind(
        "Age",
        "Dates of birth as the age on a day.",
        (
            FormField(
                "age", "On the day", "The same day for all rows: that of the extract, not today.", "date", needed=True
            ),
            FormField("bands", "Bands of years", "The finest first: 1, 5, 10, 20", read=_numbers),
            _WHERE,
        ),
    ),
    "redact": RecipeKind(
        "Hide characters",
        "More characters become * on each level, such as 1011*.",
        (
            FormField("redact", "From the", shape="choice", choices=_HALVES, needed=True),
            FormField("step", "Characters per level", shape="number", read=number_or_text),
        ),
    ),
    "prefix": RecipeKind(
        "First characters",
        "On each level, a code keeps so many first characters.",
        (
            FormField("prefix", "How many", "The longest first: 4, 3, 2", read=_numbers, needed=True),
            FormField(
                "pad",
                "Length with leading zeros",
                "For codes that became numbers, such as 5 for ZIPs.",
                "number",
                read=number_or_text,
            ),
        ),
    ),
    "networks": RecipeKind(
        "Networks",
        "IP addresses as the networks that they are in.",
        (
            FormField(
                "networks", "Bits", "The longest first: 24, 16, 8; IPv6 has twice as many.", read=_numbers, needed=True
            ),
        ),
    ),
    "known": RecipeKind(
        "Published classification",
        "Countries by UN region, or diagnoses by ICD-10.",
        (FormField("known", "Which", shape="choice", choices=get_args(Known), needed=True),),
    ),
    "groups": RecipeKind("By hand", "Put values into groups, and groups into larger ones."),
    "file": RecipeKind(
        "File",
        "A hierarchy file: one line per value, followed by its labels.",
        (FormField("file", "File", shape="name", needed=True), _SEPARATOR, _HEADER),
    ),
    "taxonomy": RecipeKind(
        "File of a tree",
        "A file of child and parent, one pair per line.",
        (FormField("taxonomy", "File", shape="name", needed=True), _SEPARATOR, _HEADER),
    ),
    "table": RecipeKind(
        "Table",
        "A table or view of the database: the value, then its levels.",
        (FormField("table", "Table or view", needed=True),),
    ),
    "suppress": RecipeKind("Shown or not", "The value itself, or * in its place."),
}


def kind_of(recipe: Any) -> str:
    """The kind of a recipe in a spec; None means the file in the folder of hierarchies."""
    if recipe is None or isinstance(recipe, str):
        return "suppress" if recipe == "suppress" else "file"
    return next(kind for kind in KINDS if kind in recipe)


def texts_of(recipe: Any) -> dict[str, str]:
    """The texts of the fields of a recipe's form."""
    if not isinstance(recipe, Mapping):
        return {"file": recipe} if isinstance(recipe, str) else {}
    return {key: _text(value) for key, value in recipe.items() if key != "groups" and value is not None}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else ""
    if not isinstance(value, list | tuple):
        return f"{value:g}" if isinstance(value, float) else str(value)
    inner = any(isinstance(item, list | tuple) for item in value)
    return ("\n" if inner else ", ").join(map(_text, value))


def recipe_of(kind: str, texts: Mapping[str, str]) -> Any:
    """The recipe that the fields describe; empty fields are left out."""
    if kind == "suppress":
        return "suppress"
    texts = {key: text.strip() for key, text in texts.items()}
    fields = [field for field in KINDS[kind].fields if texts.get(field.key) or field.needed]
    return {field.key: field.read(texts.get(field.key, "")) for field in fields}


def complete(kind: str, recipe: Any) -> bool:
    """Whether a recipe can be previewed before it is sent: its fields are filled in, and it needs no file."""
    needed = [field.key for field in KINDS[kind].fields if field.needed]
    return kind == "suppress" or (kind not in (*FILES, "groups", "table") and all(recipe.get(key) for key in needed))


def errors_of(error: Exception, kind: str, column: str) -> dict[str, str]:
    """The error messages of a recipe by field; '' for none of the fields."""
    error = _refused(error)
    text = str(error)
    fields = [field.key for field in KINDS[kind].fields]
    whole = f"quasi_identifiers.{column}.hierarchy"
    if text.startswith(whole):
        where, _, text = text.removeprefix(whole).partition(": ")
        key = where.strip(".").split(".")[0]
        return {key if key in fields else fields[0] if fields else "": _sentence(text, error)}
    text = text.removeprefix(f"column {column!r}: ")
    return {fields[0] if fields and kind not in FILES else "": _sentence(text, error)}


def plainly(error: Exception) -> SpecError:
    """An error of a recipe whose text includes the values that it is about."""
    error = _refused(error)
    return SpecError(_sentence(str(error), error))


def _sentence(text: str, error: KanonError) -> str:
    """The message of an error, with the values that it is about: users of the page may see the data."""
    shown_values = f" ({', '.join(error.values)})" if error.values else ""
    text = in_page_words(text)
    return f"{text[:1].upper()}{text[1:]}{shown_values}."


def usual(kind: str, values: ColumnValues) -> dict[str, str]:
    """The initial texts of the fields of a kind, for a column."""
    return {key: _text(value) for key, value in _usual(kind, values).items()}


def _usual(kind: str, values: ColumnValues) -> Mapping[str, Any]:
    if kind in ("ranges", "edges"):
        return _of_numbers(kind, values)
    if kind == "dates":
        return {"dates": ["month", "quarter", "year", "5 years", "decade"]}
    if kind == "age":
        return {"age": date.today().isoformat(), "bands": [1, 5, 10, 20], "top": 90}
    if kind == "prefix":
        longest = max((len(shown(value)) for value in values.counts if value is not None), default=2)
        return {"prefix": list(range(min(longest, 6) - 1, 0, -1)) or [1]}
    plain: dict[str, Mapping[str, Any]] = {
        "redact": {"redact": "right", "step": 1},
        "networks": {"networks": [24, 16, 8]},
        "known": {"known": "countries"},
    }
    return plain.get(kind, {})


def _of_numbers(kind: str, values: ColumnValues) -> Mapping[str, Any]:
    try:
        numbers = steps.numbers_of(values.counts) if values.column.kind != "text" else None
    except ArithmeticError:
        numbers = None
    if not numbers:
        return {}
    if kind == "ranges":
        return steps.ranges_of(numbers)
    return steps.edges_of(numbers)


def as_suggested(values: ColumnValues) -> Any:
    """A recipe for a column without a suggestion."""
    suggestion = suggested(values.column, values.counts, co_counts=tuple, common=tuple)
    return suggestion.recipe if not suggestion.levels else "suppress"


def _refused(error: Exception) -> KanonError:
    """An error of a recipe as a KanonError; a library's message is replaced by a general one."""
    return error if isinstance(error, KanonError) else SpecError("this does not fit the column; correct it")
