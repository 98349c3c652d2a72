"""The suggestion for a column: a recipe of a spec, or the levels of its values without a recipe, and why."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from kanon_sql.engine import Column
from kanon_sql.generalization import recipes
from kanon_sql.generalization.codes import OTHER
from kanon_sql.generalization.values import as_text
from kanon_sql.hints import name_phrases, words
from kanon_sql.suggestion import steps, texts
from kanon_sql.suggestion.grouping import Counts

CoCounts = Callable[[], Sequence[tuple[Sequence[Any], Counts]]]
Common = Callable[[], Collection[Any]]
_LEVELS_OF = {
    "ranges": "ranges",
    "edges": "edges",
    "dates": "dates",
    "prefix": "prefix",
    "networks": "networks",
    "age": "bands",
}
_DATES = ("month", "quarter", "year", "5 years", "decade")
_BORN = ("month", "year", "5 years", "decade", "20 years")
_BIRTH = words(
    "birth birthday birthdate born dob geburtsdatum geburtstag geboren naissance nascita nacimiento nascimento "
    "geboortedatum urodzenia"
)
_DATE = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b|(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})\b")
_WRITTEN_DATES = 0.9  # of the rows
_BIRTH_YEARS = 40  # different years from which on dates are generalized like birth dates
_EPOCH = date(1970, 1, 1)
_FEWEST_NUMBERS = 10  # different ones, for texts with other values to be numbers
_MARKED = "numbers, except for a few values that may mean missing: ranges; these values stay separate up to `*`"
_TAXONOMIES = {
    "countries": "countries: their UN subregion, then the continent",
    "icd10": "diagnoses: their ICD-10 category, block and chapter",
}
_NOT_SEMANTIC = "NOT by meaning: grouped by similar rows in the other quasi-identifiers; regroup them by hand"


@dataclass(frozen=True)
class Suggested:
    """A suggested hierarchy: a `recipe` of a spec, or `levels` with the labels of all values; and why."""

    recipe: Any = "suppress"
    levels: tuple[Mapping[Any, str], ...] = ()
    why: str = ""

    def shortened(self, kept: Sequence[int]) -> Suggested:
        """The same with only some of its levels, counted from 1."""
        if self.levels:
            levels = tuple(self.levels[level - 1] for level in kept if level <= len(self.levels))
            return Suggested("suppress", levels, self.why)
        key = _LEVELS_OF.get(next(iter(self.recipe))) if isinstance(self.recipe, Mapping) else None
        if key is None:
            return self
        levels_of_recipe = self.recipe[key]
        left = [levels_of_recipe[level - 1] for level in kept if level <= len(levels_of_recipe)]
        return Suggested({**self.recipe, key: left} if left else "suppress", (), self.why)


def suggested(column: Column, counts: Mapping[Any, int], co_counts: CoCounts, common: Common) -> Suggested:
    """The suggestion for a column with these counts of values; `co_counts` counts them by values of other columns.

    `common`: the values that labels may name, since enough people have them.
    """
    if column.kind == "boolean" or sum(value is not None for value in counts) <= 2:
        return Suggested(why="two values: shown, or not")
    if column.kind in ("date", "timestamp"):
        return _calendar(column, counts) or Suggested(why="dates that Python cannot represent: shown, or not")
    if column.kind in ("integer", "decimal", "float"):
        return _numbers(column, counts)
    if column.kind == "text":
        return _texts(column, counts, co_counts, common)
    return Suggested(why=f"there is no recipe for {column.kind}: shown, or not")


def _numbers(column: Column, counts: Mapping[Any, int]) -> Suggested:
    code = texts.code_recipe(column.name, counts, True) if column.kind == "integer" else None
    if code:
        padded = f", with the zeros that numbers lose (pad: {code['pad']})" if "pad" in code else ""
        return Suggested(code, why=f"a postal code by its name: cut off from the right{padded}")
    numbers = steps.numbers_of(counts)
    if numbers is None:
        return Suggested(why="some numbers are not finite, or too large for ranges: shown, or not")
    recipe = steps.recipe_of(numbers)
    if "edges" in recipe:
        return Suggested(recipe, why="few values have most rows: edges at rounded quantiles")
    return Suggested(recipe, why="ranges of round widths, aligned at 0")


def _calendar(column: Column, counts: Mapping[Any, int]) -> Suggested | None:
    days = [value for value in counts if value is not None]
    if not all(isinstance(day, date) for day in days):
        return None
    units: tuple[str, ...] = _BORN if name_phrases(column.name) & _BIRTH else _DATES
    units = ("hour", "day", *units) if column.kind == "timestamp" and units is _DATES else units
    as_age = "; or its age: {age: YYYY-MM-DD, bands: [1, 5, 10, 20], top: 90}" if units is _BORN else ""
    weeks = "; weeks do not nest in months: {dates: [day, week]}" if units is not _BORN else ""
    return Suggested({"dates": list(units)}, why=f"parts of the calendar{as_age}{weeks}")


def _texts(column: Column, counts: Mapping[Any, int], co_counts: CoCounts, common: Common) -> Suggested:
    if texts.all_match(counts, _is_iso_date):
        dates = _calendar(Column(column.name, column.type, "date"), {_EPOCH: 1})
        return dates or Suggested()
    taxonomy = texts.known_taxonomy(column.name, counts)
    if taxonomy:
        return Suggested({"known": taxonomy}, why=_TAXONOMIES[taxonomy])
    marked = _written_dates(column, counts) or _marked_numbers(counts, common)
    if marked:
        return marked
    code = texts.code_recipe(column.name, counts, False)
    if code:
        what = "network addresses" if "networks" in code else "codes of one form: cut off from the right"
        return Suggested(code, why=what)
    if len(counts) <= texts.FEW:
        return Suggested(why="few values: shown, or not")
    levels = texts.categories(counts, co_counts(), common())
    if not levels:
        return Suggested(why="too few people have any of its values: shown, or not")
    return Suggested(levels=tuple(levels), why=_NOT_SEMANTIC)


def _written_dates(column: Column, counts: Mapping[Any, int]) -> Suggested | None:
    """The levels of texts that are dates except for a few, which are `other`; None for other columns."""
    matched = {value: match for value in counts if value is not None and (match := _DATE.match(as_text(value)))}
    orders = [_days(matched, day_first) for day_first in (True, False)]
    days = max(orders, key=lambda days: sum(counts[value] for value in days))
    rows = sum(n for value, n in counts.items() if value is not None)
    if len(days) <= texts.FEW or sum(counts[value] for value in days) < _WRITTEN_DATES * rows:
        return None
    years = {day.year for day in days.values()}
    units = _BORN if name_phrases(column.name) & _BIRTH or len(years) > _BIRTH_YEARS else _DATES
    hierarchy = recipes.dates([day.isoformat() for day in {*days.values()}], units, "")
    row_of = {text: row for row, text in enumerate(hierarchy.values)}
    levels = [
        {value: level[row_of[days[value].isoformat()]] or "" if value in days else OTHER for value in counts}
        for level in hierarchy.levels[:-1]
    ]
    return Suggested(
        levels=tuple(levels), why="dates, except for a few values: parts of the calendar, the others separate"
    )


def _days(matched: Mapping[Any, re.Match[str]], day_first: bool) -> dict[Any, date]:
    """The values that are dates, with the day before the month or after it."""
    days = {}
    for value, match in matched.items():
        if match[1]:
            year = int(match[1])
            month = int(match[2])
            day = int(match[3])
        else:
            first = int(match[4])
            second = int(match[5])
            year = int(match[6])
            day, month = (first, second) if day_first else (second, first)
        with suppress(ValueError):
            days[value] = date(year, month, day)
    return days


def _marked_numbers(counts: Mapping[Any, int], common: Common) -> Suggested | None:
    """The levels of texts that are numbers except for a few marks, such as `?`, which stay up to the top."""
    read = {value: number for value in counts if (number := texts.as_number(value)) is not None}
    marks = [value for value in counts if value not in read]
    if len(marks) > texts.FEW or len(read) < _FEWEST_NUMBERS:
        return None
    rows: dict[Any, int] = {}
    for value, number in read.items():
        rows[number] = rows.get(number, 0) + counts[value]
    numbers = steps.numbers_of(rows)
    if not numbers:
        return None
    recipe = steps.recipe_of(numbers)
    if "edges" in recipe:
        hierarchy = recipes.edges(rows, recipe["edges"], "")
    else:
        hierarchy = recipes.ranges(rows, recipe["ranges"], "", recipe.get("bottom"), recipe.get("top"))
    row_of = {number: row for row, number in enumerate(hierarchy.values)}
    labels = {value: row_of[number] for value, number in read.items()}
    named = common()
    shown = {mark: texts.label_of(mark) if mark in named else OTHER for mark in marks}
    levels = []
    for level in hierarchy.levels[:-1]:
        levels.append({value: level[row] or "" for value, row in labels.items()} | shown)
    return Suggested(levels=tuple(levels), why=_MARKED)


def _is_iso_date(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return len(text) >= 8


def merging(labels: Sequence[int]) -> list[int]:
    """The levels that merge values: levels with fewer labels than the level below, and more than one.

    >>> merging([72, 72, 15, 15, 8, 1])
    [2, 4]
    """
    return [level for level in range(1, len(labels)) if 1 < labels[level] < labels[level - 1]]
