"""Columns of many values: their mapping tables made in the engine, by the rules of the recipe, and not value by value.

What a rule gives is what the recipe gives (`kanon_sql.queries.rules`); before it is relied on, the recipe itself labels
some hundreds of the values, and the two are compared. Where a type or a value may not be worked out so, nothing is made
here, and the recipe labels all of them.
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
from kanon_sql.generalization.hierarchy import STAR, Hierarchy, Level, cover, known
from kanon_sql.generalization.later import Later
from kanon_sql.generalization.rules import MOST, Age, Calendar, Edges, Prefix, Range, Rule
from kanon_sql.queries import Coded, Relation

MANY = 20_000  # values; of fewer the recipe labels all as fast
_COMPARED = 500  # values that the recipe labels too
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
# The types of which SQL gives the label of every value that `_is_within` lets through.
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
    """What builds a hierarchy, and the rules of all its levels between the values and the one label at the top."""

    build: Callable[[Sequence[Any]], Hierarchy]
    rules: tuple[Rule, ...]

    def __call__(self, values: Sequence[Any]) -> Hierarchy:
        return self.build(values)


def fitted(
    tables: Scratch, place: Place, build: Ruled, data: Sequence[Any], mapped: Relation
) -> tuple[Hierarchy, Coded] | None:
    """The hierarchy of a column's values and its mapping table, made in the engine; None where that cannot be.

    `data`: the distinct values, as `values_of` gives them. The hierarchy knows how many labels each level has; the
    labels themselves it makes when they are asked for.
    """
    values = [value for value in data if value is not None]
    if len(values) < MANY or not _can_say(place, build.rules, values):
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


def _can_say(place: Place, rules: Sequence[Rule], known: Sequence[Any]) -> bool:
    type_name = place.column.type
    if (
        not place.engine.is_embedded
        or any(type_name not in _TYPES.get(type(rule), ()) for rule in rules)
        or type_name not in _ANY
    ):
        return False
    if type_name == "VARCHAR":  # whose order, else, is not that of Python
        return looks_plain(place.engine, Table(place.relation, "table", (place.column,)), place.column)
    return _is_within(known)


def _is_within(known: Sequence[Any]) -> bool:
    """Whether numbers are such as SQL reckons with exactly, and dates and moments such as Python has.

    Others of these come as texts.
    """
    (kind, *others) = set(map(type, known))
    if others or kind is str:
        return False
    if not issubclass(kind, int | float):
        return True
    return all(map(isfinite, known)) and max(-min(known), max(known)) < MOST


def _load(
    tables: Scratch,
    stem: str,
    mapped: Relation,
    labels: Relation,
    levels: Sequence[Relation],
    counts: Sequence[int],
    has_null: bool,
) -> Coded:
    """Make the mapping table of labelled values; `counts`: the labels of each level below the top."""
    height, leaves = len(counts), counts[0] + has_null
    varying = tuple(level for level, count in enumerate(counts) if count < counts[0])
    nulls: dict[str, int | str | None] | None = None
    if has_null:  # behind all values: a label of its own below the top
        nulls = {f"code_{level}": count for level, count in enumerate([*counts, 0])}
        nulls |= {f"label_{level}": None for level in range(1, height)} | {f"label_{height}": STAR}
        nulls |= {f"loss_{level}": 0 for level in varying}
    integer = tables.engine.integer_type
    types = {f"code_{level}": integer(count + has_null - 1) for level, count in enumerate(counts)}
    types |= {f"code_{height}": integer(0)} | {f"loss_{level}": integer(leaves) for level in varying}
    query = queries.ruled_mapping(labels, levels, STAR, varying, types, nulls, tables.engine.dialect)
    tables.create_as(mapped, query)
    return Coded(stem, mapped, height, varying, nulls)


def _is_as_built(tables: Scratch, build: Ruled, coded: Coded, count: int) -> bool:
    """Whether the recipe gives some of the values, here and there in their order, the labels of the mapping table."""
    columns = ["value", *(f"label_{level}" for level in range(1, coded.height + 1))]
    step = max(1, count // _COMPARED)
    some = tables.rows("mappings/every_so_many", columns=columns, mapping=coded.mapping, step=step, last=count - 1)
    rows = {value: tuple(labels) for value, *labels in some if value is not None}
    built = build(list(rows))
    return rows == dict(zip(built.values, zip(*built.levels, strict=True), strict=True))


def _hierarchy(build: Ruled, data: Sequence[Any], counts: Sequence[int], column: str) -> Hierarchy:
    """The hierarchy of the data, of which no more than the number of labels is known yet."""
    rows, has_null = len(data), len(data) > counts[0]

    @cache
    def built() -> Hierarchy:
        return cover(build(data), data, column)

    def later(length: int, make: Callable[[], Sequence[Any]], last: Any) -> tuple[Any, ...]:
        # It is a tuple to whoever looks into it.
        return cast("tuple[Any, ...]", Later(length, make, *([last] if has_null else [])))

    def level(number: int, count: int) -> Level:
        codes = later(rows, lambda: built().codes(number), count)
        labels = later(count + has_null, lambda: built().distinct_labels(number), None)
        return Level(codes, labels, later(count + has_null, lambda: built().leaves(number), 1))

    def labels(number: int) -> tuple[Any, ...]:
        return later(rows, lambda: built().labels(number), None)

    values, top = (
        later(rows, lambda: built().values, None),
        Level(later(rows, lambda: (0,) * rows, 0), (STAR,), (rows,)),
    )
    below = [level(number, count) for number, count in enumerate(counts)]
    return known(values, [*map(labels, range(1, len(counts))), (STAR,) * rows], [*below, top])
