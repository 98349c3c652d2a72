"""The distinct values of a column with their rows, counted once, and previews of recipes on them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column, Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.frequency.fitting import hierarchy_source
from kanon_sql.generalization.hierarchy import Hierarchy, cover
from kanon_sql.generalization.values import added_by_key, as_text, key
from kanon_sql.page.draft import Draft
from kanon_sql.page.groups import ByHand
from kanon_sql.plan.source import opened
from kanon_sql.relation import Relation
from kanon_sql.spec import READING, parse

MOST_VALUES = 20_000  # the most frequent values, on which previews are computed
_SHOWN, _LARGEST = 8, 4  # values, and labels of a level
_PLACES = ("source", "database", "attach", *READING)
_CACHED = 24  # hierarchies


@dataclass(frozen=True)
class ColumnValues:
    """The distinct values of a column with their rows, the most frequent first; at most `MOST_VALUES` of them."""

    column: Column
    counts: Mapping[Any, int]
    distinct: int

    @property
    def whole(self) -> bool:
        """Whether these are all of them."""
        return self.distinct == len(self.counts)


@dataclass(frozen=True)
class LevelPreview:
    """A level of a hierarchy: the rows of every label, the largest first, and the names of the largest."""

    sizes: tuple[int, ...]
    largest: tuple[tuple[str, int], ...]

    def at_risk(self, k: int) -> int:
        """The rows whose label fewer than k rows have: at risk by this column alone."""
        return sum(size for size in self.sizes if size < k)


@dataclass(frozen=True)
class HierarchyPreview:
    """A hierarchy on a column: the labels of the most frequent values on every level, and the levels' sizes."""

    values: tuple[tuple[int, tuple[str, ...]], ...]
    levels: tuple[LevelPreview, ...]

    @property
    def height(self) -> int:
        """The highest level; 0 is the values themselves."""
        return len(self.levels) - 1


@dataclass(frozen=True)
class Rejected:
    """Rejected input: the kind of recipe, the texts of its fields, and error messages by field."""

    kind: str
    texts: Mapping[str, str]
    errors: Mapping[str, str]


@dataclass
class EditorState:
    """What the page stores about columns in addition to the draft, by column name.

    `rejected`: the last rejected input. `editing`: groups in progress, including empty ones. `messages`: the kind of
    recipe that the last change was about, and its message. `find`: the text that filters the chips.
    """

    rejected: dict[str, Rejected] = field(default_factory=dict)
    editing: dict[str, ByHand] = field(default_factory=dict)
    messages: dict[str, tuple[str, str]] = field(default_factory=dict)
    find: dict[str, str] = field(default_factory=dict)
    _values: dict[str, ColumnValues] = field(default_factory=dict)
    _fitted: dict[str, Hierarchy] = field(default_factory=dict)

    def message(self, name: str, kind: str) -> str:
        """The message of a column's last change, if that was about this kind of recipe."""
        about, message = self.messages.get(name, ("", ""))
        return message if about == kind else ""

    def values(self, draft: Draft, name: str) -> ColumnValues:
        """The values of a column, read from the source the first time; KanonError if that fails."""
        if name not in self._values:
            self._values[name] = _read(draft, name)
        return self._values[name]

    def fitted(self, draft: Draft, name: str, recipe: Any) -> Hierarchy:
        """The hierarchy that a recipe (None: the file in the folder) defines on a column; KanonError if it fails."""
        cache_key = json.dumps([name, recipe, draft.keys.get("unmapped")], default=str)
        if cache_key not in self._fitted:
            hierarchy = _build(draft, self.values(draft, name), recipe)
            if _reads(recipe):
                return hierarchy
            while len(self._fitted) >= _CACHED:
                del self._fitted[next(iter(self._fitted))]
            self._fitted[cache_key] = hierarchy
        return self._fitted[cache_key]


def _read(draft: Draft, name: str) -> ColumnValues:
    with opened(
        None, parse({**places(draft), "quasi_identifiers": {name: {"hierarchy": "suppress"}}}), warns=False
    ) as data:
        column = data.table.column(name)
        if column is None:
            raise SpecError(f"there is no column {name!r} in the source any more; start the page again")
        (stem,) = queries.plain_names([name]).values()
        with Scratch(data.engine, "page") as tables:
            tables.create("tuples", "frequency_sets/tuples", columns={stem: name}, source=data.table.relation)
            rows = tables.rows("mappings/column_values", column=[stem], tuples=tables["tuples"])
    counts = added_by_key(rows)
    frequent = sorted(counts, key=lambda value: (-counts[value], shown(value)))
    return ColumnValues(column, {value: counts[value] for value in frequent[:MOST_VALUES]}, len(counts))


def some_rows(engine: Engine, table: Relation, names: Sequence[str], rows: int, most: int) -> list[tuple[Any, ...]]:
    """The columns of at most so many rows from different parts of a table, which has `rows`."""
    stems = queries.plain_names(names)
    with Scratch(engine, "page") as tables:
        return tables.rows(
            "page/some_rows",
            columns=list(stems.values()),
            named={stem: name for name, stem in stems.items()},
            release=table,
            rows=most,
            stride=max(1, rows // most),
        )


def places(draft: Draft) -> dict[str, Any]:
    """The keys of a draft that say where its source is, and how it is read."""
    return {name: value for name, value in draft.keys.items() if name in _PLACES}


def _reads(recipe: Any) -> bool:
    """Whether a recipe reads a file or a table, which may change."""
    return recipe is None or (isinstance(recipe, Mapping) and bool({"file", "table", "taxonomy"} & recipe.keys()))


def _build(draft: Draft, values: ColumnValues, recipe: Any) -> Hierarchy:
    name = values.column.name
    data = list(values.counts)
    options = {key: draft.keys[key] for key in ("unmapped", "hierarchies") if key in draft.keys}
    spec = parse({**places(draft), **options, "quasi_identifiers": {name: {"hierarchy": recipe}}})
    attribute = spec.quasi_identifiers[name]
    if isinstance(recipe, Mapping) and "table" in recipe:
        with opened(None, spec) as source:
            hierarchy = hierarchy_source(attribute, values.column, spec, source.engine).build(data)
    else:
        hierarchy = hierarchy_source(attribute, values.column, spec, None).build(data)  # type: ignore[arg-type]
    return cover(hierarchy, data, name, spec.unmapped)


def preview(hierarchy: Hierarchy, counts: Mapping[Any, int]) -> HierarchyPreview:
    """The labels of the most frequent values, and the rows of every level's labels."""
    row_of = {key(value): row for row, value in enumerate((*hierarchy.values, *hierarchy.starred))}
    placed = [(row_of[value], rows) for value, rows in counts.items()]
    levels = range(hierarchy.height + 1)
    labels = [hierarchy.labels(level) for level in levels]
    values = [(rows, tuple(shown(label[row]) for label in labels)) for row, rows in placed[:_SHOWN]]
    return HierarchyPreview(tuple(values), tuple(_level(hierarchy, level, placed) for level in levels))


def _level(hierarchy: Hierarchy, level: int, placed: Sequence[tuple[int, int]]) -> LevelPreview:
    codes = hierarchy.codes(level)
    labels = hierarchy.distinct_labels(level)
    rows_of: Counter[int] = Counter()
    for row, rows in placed:
        rows_of[codes[row]] += rows
    by_rows = rows_of.most_common()
    largest = tuple((shown(labels[code]), rows) for code, rows in by_rows[:_LARGEST])
    return LevelPreview(tuple(rows for _, rows in by_rows), largest)


def shown(value: Any) -> str:
    """A value as text for display; blank text is shown in quotes."""
    text = "no value" if value is None else as_text(value)
    return text if text.strip() else repr(text)


def cut(text: str, most: int) -> str:
    """A text, cut off after so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
