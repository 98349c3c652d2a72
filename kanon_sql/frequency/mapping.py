"""Mapping tables: each value of a column, once in the column's own type, with its codes and labels on every level.

What is one value and what are two is for the engine to say, by the type and the collation of the column. Python holds
values as they print; none of them goes back into a table but as text, read by the engine in the column's type.
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
from kanon_sql.generalization.values import as_text, key, keys, read
from kanon_sql.queries import Coded, Hole, Relation

_QUICKLY_READ: dict[str, Callable[[str], Any]] = {"DATE": date.fromisoformat, "TIMESTAMP": datetime.fromisoformat}
# 0.1 in four bytes is 0.10000000149011612 in Python's eight; and numbers of any size are kept as text.
_PRINTED_OTHERWISE: dict[str, tuple[str, ...]] = {
    "integer": ("VARCHAR",),
    "decimal": ("VARCHAR",),
    "float": ("FLOAT", "real", "VARCHAR"),
    "boolean": (),
    "text": (),
}


@dataclass(frozen=True)
class Place:
    """A column where it stands: whose type and collation decide what equals what."""

    engine: Engine
    relation: Relation
    column: Column


def values_of(place: Place) -> list[Any]:
    """The distinct values of a column of counted tuples; one that Python cannot hold exactly comes as its text."""
    exact = place.column.type not in _PRINTED_OTHERWISE.get(place.column.kind, (place.column.type,))
    values = [value for value, _ in place.engine.rows(_values_sql(place, "values" if exact else "texts"))]
    if not exact and place.column.type in _QUICKLY_READ:
        with suppress(ValueError):  # of infinity, and of years that Python does not have
            of = _QUICKLY_READ[place.column.type]
            return [None if text is None else of(text) for text in values]
    return values if exact else [_read(text, place.column.kind) for text in values]


def in_canonical_form(values: Sequence[Any], column: Column) -> list[Any]:
    """The values of a column of the source, those of equal ones that look different in one form, whichever came first.

    0.0 for -0.0, and 1.5 for 1.50 in a column whose numbers have as many decimals as they were written with.

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
    """Whether the numbers of a column have as many decimals as each was written with."""
    return column.kind == "decimal" and "(" not in column.type


def _shortest(number: str) -> str:
    """A number as it is written without zeros at its end that mean nothing."""
    return number.rstrip("0").rstrip(".") if "." in number else number


def _values_sql(place: Place, written_as: str) -> str:
    column = [place.column.name]
    return queries.text(f"mappings/column_{written_as}", place.engine.dialect, column=column, tuples=place.relation)


def in_one_writing(tables: Scratch, source: Place, places: Sequence[Place]) -> list[Place]:
    """The places with one text for values that are equal in the source and may be written in several ways.

    `places`: the source's counted tuples in another engine that lacks the type, and those of its population. There 1.5
    and 1.50, or `1 mon` and `30 days`, would be two values.
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
    """The first text, in their order, of those that are one value in the source, by each of them that it can hold."""
    found = {text for place in places for text, _ in place.engine.rows(_values_sql(place, "texts")) if text is not None}
    texts = sorted(found)
    with Scratch(source.engine, "writings") as there:
        _load_values(there, "values", source, texts)
        equal = there.create("equal", "mappings/equal_values", values=there["values"])
        rows = there.rows("frequency_sets/copy", source=equal, columns=["row", "first"])
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
    """The hierarchy with the leaves that a column can hold, each as the column holds it, none there twice.

    `data`: the column's values as `values_of` gives them. `reader`: the engine that prints values, as it does the
    data's. Leaves that are one value in the column's type become one row; HierarchyError if their labels differ, or if
    the column can hold none of them.
    """
    known = dict(zip(keys(data), data, strict=True))
    same = keys(hierarchy.values)
    as_held = tuple(map(known.get, same, hierarchy.values))
    if not all(map(is_, as_held, hierarchy.values)):
        hierarchy = hierarchy.renamed(as_held)
    if all(map(known.__contains__, same)):
        return hierarchy
    texts = _texts(hierarchy.values)
    with Scratch(place.engine, "values") as tables:
        _load_values(tables, "values", place, texts)
        settled = not _may_print_otherwise(place, reader) and not _lacks(hierarchy, known, place.column)
        settled = settled and all(count == len(texts) - (None in texts) for count in _counts(tables))
        if settled:
            return hierarchy
        return h.restricted(hierarchy, _castable(tables, place, known, reader), f"column {place.column.name!r}")


def _may_print_otherwise(place: Place, reader: Engine) -> bool:
    return place.engine is not reader and place.column.kind in ("other", "date", "timestamp")


def _lacks(hierarchy: Hierarchy, known: Mapping[Any, Any], column: Column) -> bool:
    """Whether some of the data's texts are no leaf, though a collation may hold one equal to them."""
    return column.kind == "text" and bool(known.keys() - set(hierarchy.values) - {None})


def _counts(tables: Scratch) -> tuple[int, ...]:
    (counts,) = tables.rows("mappings/settled_values", values=tables["values"])
    return counts


def _castable(tables: Scratch, place: Place, known: Mapping[Any, Any], reader: Engine) -> dict[int, tuple[int, Any]]:
    """The loaded values by row: the first row of an equal value, and the value, as the data write it if they do."""
    kind = place.column.kind
    with Scratch(reader, "printed") as read:
        equal = read.receive("equal", place.engine, tables.text("mappings/equal_values", values=tables["values"]))
        printed = read.rows("mappings/printed_values", values=equal)
    held = {int(row): (int(first), _read(text, kind)) for row, first, text in printed}
    leaves = {key(value) for row, (first, value) in held.items() if row == first}
    if kind == "text" and known.keys() - leaves - {None}:
        held |= {row: (held[row][0], text) for row, text in _matches(tables, place) if key(text) in known}
    return {row: (first, known.get(key(value), value)) for row, (first, value) in held.items()}


def _matches(tables: Scratch, place: Place) -> list[tuple[int, str]]:
    """The loaded values that are the data's by the column's collation, as the data have them."""
    column = [place.column.name]
    rows = tables.rows("mappings/matching_values", values=tables["values"], tuples=place.relation, column=column)
    return [(int(row), text) for row, text in rows]


def load(tables: Scratch, place: Place, coded: Coded, hierarchy: Hierarchy) -> None:
    """Load a mapping table: value, code_0 … code_h, label_1 … label_h, loss_l where it varies.

    HierarchyError if two of its values are one in the type of the place: a join would count a row twice.
    """
    columns = mapping_columns(hierarchy, coded.loss_levels)
    types = {name: "VARCHAR" if top < 0 else tables.engine.integer_type(top) for name, (top, _) in columns.items()}
    texts = _texts((*hierarchy.values, *hierarchy.starred))
    beside = [entries for _, entries in columns.values()]
    _load_values(tables, coded.mapping, place, texts, types, beside)
    refuse_equal_values(tables.engine, coded.mapping, place.column.name)


def _load_values(
    tables: Scratch,
    table: str | Relation,
    place: Place,
    texts: Sequence[str | None],
    types: Mapping[str, str] = MappingProxyType({}),
    beside: Sequence[Sequence[Any]] = (),
) -> None:
    """Make a temporary table of row, text, value, and more columns: the values in the type and collation of a column.

    A text that the column cannot hold has no row; NULL has one.
    """
    column, every = place.column, {"row": "INTEGER", "text": "VARCHAR", **types}
    written = tables.load("written", every, [range(len(texts)), texts, *beside])
    none = queries.no_values(place.relation, column.name, column.type, every, tables.engine.dialect)
    tables.create_castable(table, none, written, column.type, list(every))
    tables.drop(written)


def refuse_equal_values(engine: Engine, mapping: Relation, column: str) -> None:
    """Stop where a value is in a mapping table twice."""
    ((twice,),) = engine.rows(queries.text("mappings/doubled_values", engine.dialect, mapping=mapping))
    if twice:
        raise HierarchyError(
            f"column {column!r}: {twice:,} values of the hierarchy are in it twice, by the column's type; keep one each"
        )


def mapping_columns(hierarchy: Hierarchy, loss_levels: Sequence[int]) -> dict[str, tuple[int, Sequence[Any]]]:
    """The mapping table's columns after `value`: name, the largest number in it (-1 for text), one entry per row."""
    columns: dict[str, tuple[int, Sequence[Any]]] = {}
    for level in range(hierarchy.height + 1):
        codes = hierarchy.codes(level)
        columns[f"code_{level}"] = (max(codes, default=0), codes)
    for level in range(1, hierarchy.height + 1):
        columns[f"label_{level}"] = (-1, hierarchy.labels(level))
    for level in loss_levels:
        leaves = hierarchy.leaves(level)
        lost = [under - 1 for under in leaves]
        columns[f"loss_{level}"] = hierarchy.leaf_count, list(map(lost.__getitem__, hierarchy.codes(level)))
    return columns


def _texts(values: Sequence[Any]) -> list[str | None]:
    return [None if value is None else as_text(value) for value in values]


def _read(text: str | None, kind: str) -> Any:
    try:
        return None if text is None else read(text, kind)
    except ValueError:
        return text
