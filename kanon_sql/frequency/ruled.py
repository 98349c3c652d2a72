"""Columns with many values: the engine builds their mapping tables by the rules of the recipe, not value by value.

A rule returns the same labels as the recipe (`kanon_sql.queries.rule_labels`). As a check, the recipe labels some
hundreds of the values, and the labels are compared. If a type or value is not supported, the recipe labels all values
instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Any, cast

from kanon_sql import queries
from kanon_sql.engine import Table
from kanon_sql.engines.looks import looks_plain
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.mapping import Place
from kanon_sql.generalization.hierarchy import STAR, Hierarchy, Level, coded_hierarchy, cover
from kanon_sql.generalization.label_rules import MOST, Age, Calendar, Edges, Prefix, Range, Rule
from kanon_sql.generalization.later import Later
from kanon_sql.generalization.values import ordered
from kanon_sql.queries import Coded, Relation

MANY = 20_000  # values; the recipe labels fewer values as fast
_COMPARED = 500  # values that the recipe labels as a check
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
# The types for which SQL computes the same label as the recipe for every value that `_is_within` accepts.
_TYPES: dict[type[Rule], tuple[str, ...]] = {
    Range: (*_WHOLE, "DOUBLE"),
    Edges: (*_WHOLE, "DOUBLE"),
    Calendar: ("DATE", "TIMESTAMP"),
    Age: ("DATE", "TIMESTAMP"),
    Prefix: (*_WHOLE, "VARCHAR"),
}
_ANY = (*_WHOLE, "DOUBLE", "DATE", "TIMESTAMP", "VARCHAR")


@dataclass(frozen=True)
class Ruled:
    """A builder of a hierarchy, with the rules of all its levels between the values and the top."""

    build: Callable[[Sequence[Any]], Hierarchy]
    rules: tuple[Rule, ...]

    def __call__(self, values: Sequence[Any]) -> Hierarchy:
        return self.build(values)

    @property
    def follows_order(self) -> bool:
        """Whether the values of every label follow each other in the order of the values."""
        return not any(isinstance(rule, Prefix) for rule in self.rules)


def fitted(
    tables: Scratch, place: Place, build: Ruled, data: Sequence[Any], mapped: Relation
) -> tuple[Hierarchy, Coded] | None:
    """The hierarchy of a column's values and its mapping table, built in the engine; None if that is not possible.

    `data`: the distinct values from `values_of`. The hierarchy has the number of labels per level, and computes the
    labels themselves on first use.
    """
    values = [value for value in data if value is not None]
    if len(values) < MANY or not _is_supported(place, build.rules, values):
        return None
    labels = _labelled(tables, place, build.rules)
    levels = [
        tables.create(f"level_{level}", "mappings/level_labels", label=[f"label_{level}"], labelled=labels)
        for level in range(1, len(build.rules) + 1)
    ]
    counts = [len(values), *map(tables.count, levels)]
    coded = _load(tables, place.column.name, mapped, labels, levels, counts, len(values) < len(data))
    tables.drop(labels, *levels)
    if not _is_as_built(tables, build, coded, counts[0]):
        return None
    return _hierarchy(build, data, counts, place.column.name), coded


def _labelled(tables: Scratch, place: Place, rules: Sequence[Rule]) -> Relation:
    values = tables.create("values", "mappings/values_in_order", column=[place.column.name], tuples=place.relation)
    labels = tables.create_as("labelled", queries.ruled_labels(values, rules, place.column.kind, tables.engine.dialect))
    tables.drop(values)
    return labels


def _is_supported(place: Place, rules: Sequence[Rule], values: Sequence[Any]) -> bool:
    type_name = place.column.type
    if (
        not place.engine.is_embedded
        or any(type_name not in _TYPES.get(type(rule), ()) for rule in rules)
        or type_name not in _ANY
    ):
        return False
    if type_name == "VARCHAR":  # other texts can have another order than in Python
        return looks_plain(place.engine, Table(place.relation, "table", (place.column,)), place.column)
    return _is_within(values)


def _is_within(values: Sequence[Any]) -> bool:
    """Whether SQL computes exactly with these numbers, or Python has these dates and timestamps (others are texts)."""
    kind, *other_kinds = set(map(type, values))
    if other_kinds or kind is str:
        return False
    if not issubclass(kind, int | float):
        return True
    return all(map(isfinite, values)) and max(-min(values), max(values)) < MOST


def _load(
    tables: Scratch,
    stem: str,
    mapped: Relation,
    labels: Relation,
    levels: Sequence[Relation],
    counts: Sequence[int],
    has_null: bool,
) -> Coded:
    """Create the mapping table of labelled values; `counts`: the number of labels per level below the top."""
    height = len(counts)
    leaves = counts[0] + has_null
    varying = tuple(level for level, count in enumerate(counts) if count < counts[0])
    nulls: dict[str, int | str | None] | None = None
    if has_null:  # after all values, with a separate label below the top
        nulls = {f"code_{level}": count for level, count in enumerate([*counts, 0])}
        nulls |= {f"label_{level}": None for level in range(1, height)} | {f"label_{height}": STAR}
        nulls |= {f"loss_{level}": 0 for level in varying}
    integer = tables.engine.integer_type
    types = {f"code_{level}": integer(count + has_null - 1) for level, count in enumerate(counts)}
    types |= {f"code_{height}": integer(0)} | {f"loss_{level}": integer(leaves) for level in varying}
    query = queries.ruled_mapping(labels, levels, STAR, varying, types, nulls, tables.engine.dialect)
    tables.create_as(mapped, query)
    return Coded(stem, mapped, height, varying, nulls, by_rules=True)


def _is_as_built(tables: Scratch, build: Ruled, coded: Coded, count: int) -> bool:
    """Whether a regular sample of the values has the recipe's labels in the mapping table."""
    columns = ["value", *(f"label_{level}" for level in range(1, coded.height + 1))]
    step = max(1, count // _COMPARED)
    sample = tables.rows("mappings/every_so_many", columns=columns, mapping=coded.mapping, step=step, last=count - 1)
    rows = {value: tuple(labels) for value, *labels in sample if value is not None}
    built = build(list(rows))
    return rows == dict(zip(built.values, zip(*built.levels, strict=True), strict=True))


def _hierarchy(build: Ruled, data: Sequence[Any], counts: Sequence[int], column: str) -> Hierarchy:
    """The hierarchy of the data, with the number of labels; the rest is built on first use."""
    rows = len(data)
    has_null = len(data) > counts[0]

    @cache
    def built() -> Hierarchy:
        return cover(build(data), data, column)

    def later(length: int, make: Callable[[], Sequence[Any]], last: Any) -> tuple[Any, ...]:
        # It behaves like a tuple.
        return cast("tuple[Any, ...]", Later(length, make, *([last] if has_null else [])))

    def level(number: int, count: int) -> Level:
        codes = later(rows, lambda: built().codes(number), count)
        labels = later(count + has_null, lambda: built().distinct_labels(number), None)
        return Level(codes, labels, later(count + has_null, lambda: built().leaves(number), 1))

    def labels(number: int) -> tuple[Any, ...]:
        return later(rows, lambda: built().labels(number), None)

    values = later(rows, lambda: (*ordered(data), *([None] if has_null else [])), None)
    top = Level(later(rows, lambda: (0,) * rows, 0), (STAR,), (rows,))
    below = [level(number, count) for number, count in enumerate(counts)]
    return coded_hierarchy(values, [*map(labels, range(1, len(counts))), (STAR,) * rows], [*below, top])
