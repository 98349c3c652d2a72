"""The values of a column with their rows, and what a recipe makes of them: counted once, whatever the hierarchy is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.frequency.fitting import hierarchy_source
from kanon_sql.generalization.hierarchy import Hierarchy, cover
from kanon_sql.generalization.values import as_text, key
from kanon_sql.page.draft import Draft
from kanon_sql.page.groups import ByHand
from kanon_sql.plan.source import opened
from kanon_sql.spec import READING, parse

MOST_VALUES = 20_000  # the most frequent ones, of which a preview is made
_SHOWN, _LARGEST = 8, 4  # values, and labels of a level
_PLACES = ("source", "database", "attach", *READING)
_REMEMBERED = 24


@dataclass(frozen=True)
class Values:
    """The distinct values of a column, the most frequent first, each with its rows; of very many only those first."""

    column: Column
    counts: Mapping[Any, int]
    distinct: int

    @property
    def whole(self) -> bool:
        """Whether these are all of them."""
        return self.distinct == len(self.counts)


@dataclass(frozen=True)
class Level:
    """A level of a hierarchy: the rows of its labels, the largest first, and the names of the first ones."""

    sizes: tuple[int, ...]
    largest: tuple[tuple[str, int], ...]

    def at_risk(self, k: int) -> int:
        """The rows of labels that fewer than k rows have: at risk by this column alone."""
        return sum(size for size in self.sizes if size < k)


@dataclass(frozen=True)
class Preview:
    """What a hierarchy makes of a column: of the most frequent values the label on every level, and each level."""

    values: tuple[tuple[int, tuple[str, ...]], ...]
    levels: tuple[Level, ...]

    @property
    def height(self) -> int:
        """The highest level; 0 is the values themselves."""
        return len(self.levels) - 1


@dataclass(frozen=True)
class Tried:
    """What somebody typed that was refused: the kind of recipe, the texts of its fields, what is wrong with which."""

    kind: str
    texts: Mapping[str, str]
    errors: Mapping[str, str]


@dataclass
class Beside:
    """What the page knows of columns beside the draft, by their names.

    `tried`: what was refused last. `editing`: the groups that are being made, with the empty ones. `said`: what the
    last change did, and the kind of recipe that it left. `find`: the text by which chips are filtered.
    """

    tried: dict[str, Tried] = field(default_factory=dict)
    editing: dict[str, ByHand] = field(default_factory=dict)
    said: dict[str, tuple[str, str]] = field(default_factory=dict)
    find: dict[str, str] = field(default_factory=dict)
    _values: dict[str, Values] = field(default_factory=dict)
    _fitted: dict[str, Hierarchy] = field(default_factory=dict)

    def heard(self, name: str, kind: str) -> str:
        """What the last change of a column did, where somebody looks at the kind of recipe that it was about."""
        about, said = self.said.get(name, ("", ""))
        return said if about == kind else ""

    def values(self, draft: Draft, name: str) -> Values:
        """The values of a column, read from the source the first time somebody asks; KanonError if it cannot be."""
        if name not in self._values:
            self._values[name] = _read(draft, name)
        return self._values[name]

    def fitted(self, draft: Draft, name: str, recipe: Any) -> Hierarchy:
        """What a recipe, None for the file in the folder, makes of the values of a column; KanonError if it cannot."""
        again = json.dumps([name, recipe, draft.keys.get("unmapped")], default=str)
        if again not in self._fitted:
            made = _made(draft, self.values(draft, name), recipe)
            if _reads(recipe):
                return made
            while len(self._fitted) >= _REMEMBERED:
                del self._fitted[next(iter(self._fitted))]
            self._fitted[again] = made
        return self._fitted[again]


def _read(draft: Draft, name: str) -> Values:
    with opened(None, parse({**_places(draft), "quasi_identifiers": {name: {"hierarchy": "suppress"}}})) as data:
        column = data.table.column(name)
        if column is None:
            raise SpecError(f"there is no column {name!r} in the source any more; start the page again")
        (stem,) = queries.plain_names([name]).values()
        with Scratch(data.engine, "page") as tables:
            tables.create("tuples", "frequency_sets/tuples", columns={stem: name}, source=data.table.relation)
            rows = tables.rows("mappings/column_values", column=[stem], tuples=tables["tuples"])
    counts: dict[Any, int] = {}
    for value, n in rows:
        counts[key(value)] = counts.get(key(value), 0) + int(n)
    frequent = sorted(counts, key=lambda value: (-counts[value], shown(value)))
    return Values(column, {value: counts[value] for value in frequent[:MOST_VALUES]}, len(counts))


def _places(draft: Draft) -> dict[str, Any]:
    return {name: value for name, value in draft.keys.items() if name in _PLACES}


def _reads(recipe: Any) -> bool:
    """Whether a recipe reads a file or a table, which may change."""
    return recipe is None or (isinstance(recipe, Mapping) and bool({"file", "table", "taxonomy"} & recipe.keys()))


def _made(draft: Draft, values: Values, recipe: Any) -> Hierarchy:
    name, data = values.column.name, list(values.counts)
    kept = {entry: draft.keys[entry] for entry in ("unmapped", "hierarchies") if entry in draft.keys}
    spec = parse({**_places(draft), **kept, "quasi_identifiers": {name: {"hierarchy": recipe}}})
    attribute = spec.quasi_identifiers[name]
    if isinstance(recipe, Mapping) and "table" in recipe:
        with opened(None, spec) as source:
            made = hierarchy_source(attribute, values.column, spec, source.engine).build(data)
    else:
        made = hierarchy_source(attribute, values.column, spec, None).build(data)  # type: ignore[arg-type]
    return cover(made, data, name, spec.unmapped)


def preview(hierarchy: Hierarchy, counts: Mapping[Any, int]) -> Preview:
    """The labels of the most frequent values, and the rows of the labels of each level."""
    row_of = {key(value): row for row, value in enumerate((*hierarchy.values, *hierarchy.starred))}
    placed = [(row_of[value], rows) for value, rows in counts.items()]
    every = range(hierarchy.height + 1)
    labels = [hierarchy.labels(level) for level in every]
    values = [(rows, tuple(shown(level[row]) for level in labels)) for row, rows in placed[:_SHOWN]]
    return Preview(tuple(values), tuple(_level(hierarchy, level, placed) for level in every))


def _level(hierarchy: Hierarchy, level: int, placed: Sequence[tuple[int, int]]) -> Level:
    codes, labels = hierarchy.codes(level), hierarchy.distinct_labels(level)
    rows_of: dict[int, int] = {}
    for row, rows in placed:
        rows_of[codes[row]] = rows_of.get(codes[row], 0) + rows
    by_rows = sorted(rows_of, key=lambda code: -rows_of[code])
    largest = tuple((shown(labels[code]), rows_of[code]) for code in by_rows[:_LARGEST])
    return Level(tuple(rows_of[code] for code in by_rows), largest)


def shown(value: Any) -> str:
    """A value as people read it; a blank one in quotes."""
    text = "NULL" if value is None else as_text(value)
    return text if text.strip() else repr(text)
