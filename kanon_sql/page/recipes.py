"""The forms of the recipes: what fields each has, how they are read into a spec's words, and shown from them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, get_args

from kanon_sql.errors import KanonError, SpecError
from kanon_sql.generalization.calendar import NAMED
from kanon_sql.page.values import Values, shown
from kanon_sql.spec import Known
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
class Field:
    """A field of a form: the key of the recipe that it is, and how a person meets it.

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
class Kind:
    """A kind of recipe: what it is called, what it does in a sentence, and its fields."""

    title: str
    what: str
    fields: tuple[Field, ...] = ()


def _number(text: str) -> Any:
    """A number as a spec writes it, or the text itself, for the spec to refuse."""
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def _numbers(text: str) -> list[Any]:
    return [_number(part) for part in re.split(r"[\s,;]+", text.strip()) if part]


def _lines(text: str) -> list[list[Any]]:
    return [_numbers(line) for line in text.splitlines() if line.strip()]


def _words(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


_SEPARATOR = Field("separator", "Separator", "Left empty, the first line tells.")
_HEADER = Field("header", "The first line names the columns", shape="tick", read=lambda text: text == "on")
_WHERE = Field("top", "From here on one label", "Such as 90; ages above are rare.", "number", read=_number)

KINDS: dict[str, Kind] = {
    "ranges": Kind(
        "Ranges",
        "Numbers in ranges of one width per level, such as [20, 30).",
        (
            Field(
                "ranges",
                "Widths",
                "The finest first, each a multiple of the one before: 5, 10, 20",
                read=_numbers,
                needed=True,
            ),
            Field("bottom", "Below here one label", "Left empty, none.", "number", read=_number),
            _WHERE,
            Field("origin", "Count from", "Left empty, 0.", "number", read=_number),
        ),
    ),
    "edges": Kind(
        "Ranges of your own",
        "Numbers between edges that you choose, for skewed columns.",
        (
            Field(
                "edges",
                "Edges",
                "A line per level, the finest first; each line has some of the edges of the line above.",
                "lines",
                read=_lines,
                needed=True,
            ),
        ),
    ),
    "dates": Kind(
        "Parts of dates",
        "Dates as months, quarters, years and longer.",
        (
            Field(
                "dates",
                "Parts",
                f"The finest first, of {', '.join(NAMED)}, or bands such as 5 years",
                read=_words,
                needed=True,
            ),
        ),
    ),
    "age": Kind(
        "Age",
        "Dates of birth as the age on a day.",
        (
            Field("age", "On the day", shape="date", needed=True),
            Field("bands", "Bands of years", "The finest first: 1, 5, 10, 20", read=_numbers),
            _WHERE,
        ),
    ),
    "redact": Kind(
        "Hide characters",
        "More characters become * on each level, such as 1011*.",
        (
            Field("redact", "From the", shape="choice", choices=_HALVES, needed=True),
            Field("step", "Characters per level", shape="number", read=_number),
        ),
    ),
    "prefix": Kind(
        "First characters",
        "So many first characters of a code are left on each level.",
        (
            Field("prefix", "How many", "The longest first: 4, 3, 2", read=_numbers, needed=True),
            Field(
                "pad",
                "Length with leading zeros",
                "For codes that became numbers, such as 5 for ZIPs.",
                "number",
                read=_number,
            ),
        ),
    ),
    "networks": Kind(
        "Networks",
        "IP addresses as the networks that they are in.",
        (
            Field(
                "networks", "Bits", "The longest first: 24, 16, 8; IPv6 has twice as many.", read=_numbers, needed=True
            ),
        ),
    ),
    "known": Kind(
        "Known to all",
        "Countries by UN region, or diagnoses by ICD-10.",
        (Field("known", "Which", shape="choice", choices=get_args(Known), needed=True),),
    ),
    "groups": Kind("By hand", "Put values into groups, and groups into larger ones."),
    "file": Kind(
        "File",
        "A hierarchy file: a line per value, its labels behind it.",
        (Field("file", "File", shape="name", needed=True), _SEPARATOR, _HEADER),
    ),
    "taxonomy": Kind(
        "File of a tree",
        "A file of child and parent, a pair per line.",
        (Field("taxonomy", "File", shape="name", needed=True), _SEPARATOR, _HEADER),
    ),
    "table": Kind(
        "Table",
        "A table or view of the database: the value, then its levels.",
        (Field("table", "Table or view", needed=True),),
    ),
    "suppress": Kind("Shown or not", "The value as it is, or * in its place."),
}


def kind_of(recipe: Any) -> str:
    """The kind of a recipe as a spec has it; None is the file in the folder of hierarchies."""
    if recipe is None or isinstance(recipe, str):
        return "suppress" if recipe == "suppress" else "file"
    return next(kind for kind in KINDS if kind in recipe)


def texts_of(recipe: Any) -> dict[str, str]:
    """What the fields of a recipe's form show."""
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
    """The recipe that fields say, in a spec's words; what is empty is left out."""
    if kind == "suppress":
        return "suppress"
    said = {field.key: (field, texts.get(field.key, "").strip()) for field in KINDS[kind].fields}
    return {key: field.read(text) for key, (field, text) in said.items() if text or field.needed}


def complete(kind: str, recipe: Any) -> bool:
    """Whether a recipe that nobody has sent yet can be looked at: its fields are filled, no file is to be chosen."""
    needed = [field.key for field in KINDS[kind].fields if field.needed]
    return kind == "suppress" or (kind not in (*FILES, "groups", "table") and all(recipe.get(key) for key in needed))


def errors_of(error: KanonError, kind: str, column: str) -> dict[str, str]:
    """What is wrong, by the field beside which it is said; '' is none of them."""
    text, fields = str(error), [field.key for field in KINDS[kind].fields]
    whole = f"quasi_identifiers.{column}.hierarchy"
    if text.startswith(whole):
        where, _, text = text.removeprefix(whole).partition(": ")
        key = where.strip(".").split(".")[0]
        return {key if key in fields else fields[0] if fields else "": _sentence(text, error)}
    text = text.removeprefix(f"column {column!r}: ")
    return {fields[0] if fields and kind not in FILES else "": _sentence(text, error)}


def plainly(error: KanonError) -> SpecError:
    """An error with the values that it is about in its text."""
    return SpecError(_sentence(str(error), error))


def _sentence(text: str, error: KanonError) -> str:
    """What an error says, with the values that it is about: who steers the page sees the data."""
    shown_values = f" ({', '.join(error.values)})" if error.values else ""
    return f"{text[:1].upper()}{text[1:]}{shown_values}."


def usual(kind: str, values: Values) -> dict[str, str]:
    """What the fields of a kind begin with for a column."""
    return {key: _text(value) for key, value in _usual(kind, values).items()}


def _usual(kind: str, values: Values) -> Mapping[str, Any]:
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


def _of_numbers(kind: str, values: Values) -> Mapping[str, Any]:
    try:
        numbers = steps.numbers_of(values.counts) if values.column.kind != "text" else None
    except ArithmeticError:
        numbers = None
    if not numbers:
        return {}
    if kind == "ranges":
        return steps.ranges_of(numbers)
    return steps.edges_of(numbers)


def as_suggested(values: Values) -> Any:
    """A recipe for a column for which none was suggested."""
    made = suggested(values.column, values.counts, beside=tuple, common=tuple)
    return made.recipe if not made.levels else "suppress"


def refused(error: Exception) -> KanonError:
    """An error of a recipe as one of ours: what a library says of a value that it cannot take."""
    return error if isinstance(error, KanonError) else SpecError("this does not fit the column; correct it")
