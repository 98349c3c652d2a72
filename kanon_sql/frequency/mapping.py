"""Mapping tables: the distinct values of a column in its own type, with their codes and labels on every level.

The engine decides which values are equal, by the type and the collation of the column. Python has the printed values;
they return to a table only as text, which the engine reads in the column's type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from operator import is_
from types import MappingProxyType
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column, Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import HierarchyError
from kanon_sql.generalization import hierarchy as h
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.values import key, keys, label_of, read_or_text
from kanon_sql.queries import Coded, Hole, Relation

_QUICKLY_READ: dict[str, Callable[[str], Any]] = {"DATE": date.fromisoformat, "TIMESTAMP": datetime.fromisoformat}
# 0.1 in four bytes is 0.10000000149011612 in Python's eight; numbers of unlimited size are stored as text.
_PRINTED_OTHERWISE: dict[str, tuple[str, ...]] = {
    "integer": ("VARCHAR",),
    "decimal": ("VARCHAR",),
    "float": ("FLOAT", "real", "VARCHAR"),
    "boolean": (),
    "text": (),
}


@dataclass(frozen=True)
class Place:
    """A column in a relation of an engine; its type and collation decide which values are equal."""

    engine: Engine
    relation: Relation
    column: Column


def values_of(place: Place) -> list[Any]:
    """The distinct values of a column of counted tuples; a value that Python cannot represent exactly is its text."""
    exact = place.column.type not in _PRINTED_OTHERWISE.get(place.column.kind, (place.column.type,))
    values = [value for value, _ in place.engine.rows(_values_sql(place, "values" if exact else "texts"))]
    if not exact and place.column.type in _QUICKLY_READ:
        with suppress(ValueError):  # of infinity, and of years that Python does not have
            of = _QUICKLY_READ[place.column.type]
            return [None if text is None else of(text) for text in values]
    return values if exact else [read_or_text(text, place.column.kind) for text in values]


def in_canonical_form(values: Sequence[Any], column: Column) -> list[Any]:
    """The values of a column of the source, with one form for equal values that are printed differently.

    0.0 for -0.0, and 1.5 for 1.50 in a column whose numbers keep the decimals that they were written with.

    >>> in_canonical_form([-0.0, 2.5], Column("dose", "DOUBLE", "float"))
    [0.0, 2.5]
    >>> in_canonical_form([Decimal("1.50"), Decimal("200")], Column("dose", "numeric", "decimal"))
    [Decimal('1.5'), Decimal('200')]
    """
    if column.kind == "float":
        return [0.0 if value == 0 else value for value in values]
    if _is_unscaled(column):
        return [Decimal(_shortest(f"{value:f}")) if isinstance(value, Decimal) else value for value in values]
    return list(values)


def _is_unscaled(column: Column) -> bool:
    """Whether the numbers of a column keep the decimals that they were written with."""
    return column.kind == "decimal" and "(" not in column.type


def _shortest(number: str) -> str:
    """A number without trailing zeros after the decimal point."""
    return number.rstrip("0").rstrip(".") if "." in number else number


def _values_sql(place: Place, written_as: str) -> str:
    column = [place.column.name]
    return queries.text(f"mappings/column_{written_as}", place.engine.dialect, column=column, tuples=place.relation)


def in_one_writing(tables: Scratch, source: Place, places: Sequence[Place]) -> list[Place]:
    """The places with one text for values that are equal in the source but can be written in several ways.

    `places`: the column among the counted tuples, and among those of the population, in another engine without its
    type. There 1.5 and 1.50, or `1 mon` and `30 days`, would be two values.
    """
    types = {place.column.type for place in places}
    if source.column.kind not in ("decimal", "other") or (len(types) == 1 and "VARCHAR" not in types):
        return list(places)
    first = _first_writings(source, places)
    writings = tables.load("writings", {"_text": "VARCHAR", "_first": "VARCHAR"}, [list(first), list(first.values())])
    rewritten = [_rewritten(tables, place, writings) for place in places]
    tables.drop(writings)
    return rewritten


def _first_writings(source: Place, places: Sequence[Place]) -> dict[str, str]:
    """The first, in text order, of the texts that are the same value in the source, by all these texts."""
    found = {text for place in places for text, _ in place.engine.rows(_values_sql(place, "texts")) if text is not None}
    texts = sorted(found)
    with Scratch(source.engine, "writings") as tables:
        _load_values(tables, "values", source, texts)
        equal = tables.create("equal", "mappings/equal_values", values=tables["values"])
        rows = tables.rows("frequency_sets/copy", source=equal, columns=["row", "first"])
    shown = _shortest if _is_unscaled(source.column) else str
    return {texts[row]: shown(texts[first]) for row, first in rows}


def _rewritten(tables: Scratch, place: Place, writings: Relation) -> Place:
    stem = place.column.name
    others = [column.name for column in tables.engine.table(place.relation).columns if column.name != stem]
    holes: dict[str, Hole] = {"relation": place.relation, "column": [stem], "columns": others}
    tables.create("rewritten", "mappings/in_one_writing", writings=writings, **holes)
    tables.rename("rewritten", place.relation)
    return replace(place, column=Column(stem, "VARCHAR", place.column.kind))


def aligned(place: Place, hierarchy: Hierarchy, data: Sequence[Any], reader: Engine) -> Hierarchy:
    """The hierarchy with the leaves that a column can contain, in the form of the column's values and without repeats.

    `data`: the column's values from `values_of`. `reader`: the engine that printed them. Leaves that are the same value
    in the column's type become one row; HierarchyError if their labels differ, or if the column can contain no leaf.
    """
    value_of = dict(zip(keys(data), data, strict=True))
    leaf_keys = keys(hierarchy.values)
    leaves = tuple(map(value_of.get, leaf_keys, hierarchy.values))
    if not all(map(is_, leaves, hierarchy.values)):
        hierarchy = hierarchy.renamed(leaves)
    if all(map(value_of.__contains__, leaf_keys)):
        return hierarchy
    texts = _texts(hierarchy.values)
    with Scratch(place.engine, "values") as tables:
        _load_values(tables, "values", place, texts)
        prints_differently = place.engine is not reader and place.column.kind in ("other", "date", "timestamp")
        # A collation can make a text of the data that is not a leaf equal to one.
        lacks_leaves = place.column.kind == "text" and value_of.keys() - set(hierarchy.values) - {None}
        if not prints_differently and not lacks_leaves:
            (counts,) = tables.rows("mappings/settled_values", values=tables["values"])
            if all(count == len(texts) - (None in texts) for count in counts):
                return hierarchy
        return h.restricted(hierarchy, _castable(tables, place, value_of, reader), f"column {place.column.name!r}")


def _castable(tables: Scratch, place: Place, value_of: Mapping[Any, Any], reader: Engine) -> dict[int, tuple[int, Any]]:
    """The loaded values by row: the first row with an equal value, and the value, in the form of the data."""
    kind = place.column.kind
    with Scratch(reader, "printed") as read:
        equal = read.receive("equal", place.engine, tables.text("mappings/equal_values", values=tables["values"]))
        printed = read.rows("mappings/printed_values", values=equal)
    rows = {int(row): (int(first), read_or_text(text, kind)) for row, first, text in printed}
    leaves = {key(value) for row, (first, value) in rows.items() if row == first}
    if kind == "text" and value_of.keys() - leaves - {None}:
        # Texts of the data that the column's collation makes equal to a loaded value.
        holes: dict[str, Hole] = {"tuples": place.relation, "column": [place.column.name]}
        matching = tables.rows("mappings/matching_values", values=tables["values"], **holes)
        rows |= {int(row): (rows[int(row)][0], text) for row, text in matching if key(text) in value_of}
    return {row: (first, value_of.get(key(value), value)) for row, (first, value) in rows.items()}


def load(tables: Scratch, place: Place, coded: Coded, hierarchy: Hierarchy) -> None:
    """Load a mapping table: value, code_0 … code_h, label_1 … label_h, loss_l where it varies.

    HierarchyError if two of its values are equal in the type of the place: a join would count a row twice.
    """
    columns = mapping_columns(hierarchy, coded.loss_levels)
    types = {name: "VARCHAR" if top < 0 else tables.engine.integer_type(top) for name, (top, _) in columns.items()}
    texts = _texts((*hierarchy.values, *hierarchy.starred))
    _load_values(tables, coded.mapping, place, texts, types, [entries for _, entries in columns.values()])
    refuse_equal_values(tables.engine, coded.mapping, place.column.name)


def _load_values(
    tables: Scratch,
    table: str | Relation,
    place: Place,
    texts: Sequence[str | None],
    types: Mapping[str, str] = MappingProxyType({}),
    more: Sequence[Sequence[Any]] = (),
) -> None:
    """Create a temporary table of row, text, value and `more` columns; the value has the column's type and collation.

    A text that the column cannot contain has no row; NULL has one.
    """
    column = place.column
    every = {"row": "INTEGER", "text": "VARCHAR", **types}
    written = tables.load("written", every, [range(len(texts)), texts, *more])
    none = queries.no_values(place.relation, column.name, column.type, every, tables.engine.dialect)
    tables.create_castable(table, none, written, column.type, list(every))
    tables.drop(written)


def refuse_equal_values(engine: Engine, mapping: Relation, column: str) -> None:
    """HierarchyError if a value is in a mapping table twice."""
    ((twice,),) = engine.rows(queries.text("mappings/doubled_values", engine.dialect, mapping=mapping))
    if twice:
        raise HierarchyError(
            f"column {column!r}: {twice:,} values of the hierarchy occur twice in the column's type; keep one of each"
        )


def mapping_columns(hierarchy: Hierarchy, loss_levels: Sequence[int]) -> dict[str, tuple[int, Sequence[Any]]]:
    """The mapping table's columns after `value`: name, largest number in it (-1 for text), and one entry per row."""
    columns: dict[str, tuple[int, Sequence[Any]]] = {}
    for level in range(hierarchy.height + 1):
        codes = hierarchy.codes(level)
        columns[f"code_{level}"] = (max(codes, default=0), codes)
    for level in range(1, hierarchy.height + 1):
        columns[f"label_{level}"] = (-1, hierarchy.labels(level))
    for level in loss_levels:
        lost = [leaves - 1 for leaves in hierarchy.leaves(level)]
        columns[f"loss_{level}"] = hierarchy.leaf_count, list(map(lost.__getitem__, hierarchy.codes(level)))
    return columns


def _texts(values: Sequence[Any]) -> list[str | None]:
    return [label_of(value) for value in values]
