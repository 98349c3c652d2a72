"""The order of an attribute's values, in which Mondrian cuts and a class is a range of positions.

Every hierarchy node is a range of positions, so the lowest common ancestor of several values is that of the lowest
and the highest: two numbers per attribute determine everything that a class shows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cached_property
from operator import ne
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import Attribute
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.values import label_of
from kanon_sql.queries import Relation

_EPOCH = datetime(1970, 1, 1)
_NOWHERE = Relation()
NODES = ("common", "labels")  # forms that show nodes of a hierarchy
_MIDNIGHT = "24:00:00"
_INFINITE_DATES = ("infinity", "-infinity")  # a number is Infinity
_NANOSECONDS = re.compile(r"\d{4}-[^B]*\.\d{7,}[^B]*")


@dataclass(frozen=True)
class Order:
    """An attribute's values in order, as a relation of one row per position.

    The relation has `position` (0 up, without gaps), `number` (of a numeric value; days of a date, seconds of a
    timestamp or time; otherwise NULL), `value`, and per level of the hierarchy `code_l`, `label_l`, `leaves_l` (number
    of leaves with the label), `first_l` (first position with it). Numeric values are in the order of their numbers,
    after NULL. Others are in the order of the hierarchy's rows, as far as every node stays contiguous. Values that no
    hierarchy covers are the last position. `nested`: every hierarchy node is contiguous; otherwise only a range
    describes a class. `by_nodes`: numbers, too, are in the order of the hierarchy's rows. `relation`: set by `load`.
    """

    attribute: Attribute
    rows: Sequence[int]
    nested: bool
    relation: Relation = _NOWHERE
    by_nodes: bool = False

    @property
    def numeric(self) -> bool:
        """Whether the positions are in the order of numbers."""
        return self.attribute.column.ordered and not self.by_nodes

    @property
    def leaf_count(self) -> int:
        """|A|: the positions of leaves, without that of values in no hierarchy."""
        return self.attribute.hierarchy.leaf_count

    @cached_property
    def values(self) -> list[Any]:
        """The value of every position; None for NULL, and for values that no hierarchy covers."""
        return list(map((*self.attribute.hierarchy.values, None).__getitem__, self.rows))


def order_of(attribute: Attribute, how: str = "ranges") -> Order:
    """Put an attribute's values in order, for the form that its classes show (see `kanon_sql.recode.show`).

    Numbers are in numeric order even if the hierarchy does not follow it, unless hierarchy nodes are shown.
    """
    if attribute.coded.by_rules:
        return _as_mapped(attribute)
    order = _ordered(attribute, by_nodes=not attribute.column.ordered)
    if order.nested or how not in NODES or not attribute.column.ordered:
        return order
    by_nodes = _ordered(attribute, by_nodes=True)
    return by_nodes if by_nodes.nested else order


def _as_mapped(attribute: Attribute) -> Order:
    """The order of a hierarchy built by rules, whose values are in order already, NULL last."""
    count = len(attribute.hierarchy.values)
    if not attribute.column.ordered:
        return Order(attribute, range(count), nested=True, by_nodes=True)
    nulls = int(None in attribute.hierarchy.values)
    return Order(attribute, (*range(count - nulls, count), *range(count - nulls)), nested=True)


def _ordered(attribute: Attribute, by_nodes: bool) -> Order:
    hierarchy = attribute.hierarchy
    leaves = range(len(hierarchy.values))
    codes = [hierarchy.codes(level) for level in range(hierarchy.height, -1, -1)]
    keys = list(zip(*codes, strict=True)) if by_nodes else number_keys(hierarchy.values)
    rows = sorted(leaves, key=keys.__getitem__)
    starred = [len(hierarchy.values)] if hierarchy.starred else []
    # Such values become *. If a leaf has that label, they share its code and position.
    if starred and hierarchy.codes(0)[-1] in hierarchy.codes(0)[: len(hierarchy.values)]:
        starred = []
    return Order(attribute, (*rows, *starred), _nested(hierarchy, rows), by_nodes=by_nodes)


def load(tables: Scratch, order: Order, labels: bool = True) -> Order:
    """Load the order as a scratch table; returns it with its relation. `labels`: with `label_l` and `first_l`."""
    stem = f"order_{order.attribute.coded.stem}"
    coded, engine = order.attribute.coded, tables.engine
    if coded.by_rules:
        nulls_first = order.numeric and None in order.attribute.hierarchy.values
        kind = order.attribute.column.kind if order.numeric else ""
        place = engine.integer_type(len(order.rows))
        query = queries.mapped_order(coded, order.leaf_count, nulls_first, kind, place, labels, engine.dialect)
        return replace(order, relation=tables.create_as(stem, query))
    columns = _columns(order, labels)
    types = {name: _type(engine, order, name, values) for name, values in columns.items()}
    return replace(order, relation=tables.load(stem, types, list(columns.values())))


def number_of(value: Any) -> float | None:
    """A value of an ordered column on the axis on which Mondrian measures widths; None without a place there.

    >>> number_of(date(1970, 1, 3)), number_of("24:00:00"), number_of(float("nan"))
    (2.0, 86400.0, None)
    """
    if value == _MIDNIGHT:
        return 86400.0
    if has_nanoseconds(value):
        return number_of(datetime.fromisoformat(value))
    if isinstance(value, datetime):
        return (_naive(value) - _EPOCH).total_seconds()
    if isinstance(value, date):
        return float((value - _EPOCH.date()).days)
    if isinstance(value, time):
        return value.hour * 3600.0 + value.minute * 60 + value.second + value.microsecond / 1e6
    number = _written_number(value) if isinstance(value, str) else value
    return float(number) if number is not None and math.isfinite(number) else None


def numbers_of(values: Sequence[Any]) -> list[float | None]:
    """`number_of` for all values; much faster for whole numbers, the case with the most values.

    >>> numbers_of([7, 8]), numbers_of([7, float("nan")])
    ([7.0, 8.0], [7.0, None])
    """
    return list(map(float if set(map(type, values)) == {int} else number_of, values))


def number_key(value: Any) -> tuple[Any, ...]:
    """The sort key for values of an ordered column: NULL first, then by size, then NaN.

    Python has no years above 9999 or before 1, no 24:00, and not PostgreSQL's numbers of any length; the engine returns
    such values as text.
    """
    if value is None:
        return (0,)
    if isinstance(value, str):
        number = _written_number(value)
        return _outside(value) if number is None else (3,) if number.is_nan() else (1, 1, number)
    if isinstance(value, datetime):
        return (1, 1, _naive(value))
    return (3,) if value != value else (1, 1, value)


def number_keys(values: Sequence[Any]) -> Sequence[Any]:
    """The sort keys of values; whole numbers and dates, which can be many, are their own keys."""
    return values if set(map(type, values)) in ({int}, {date}) else list(map(number_key, values))


def is_placed(value: Any) -> bool:
    """Whether a value of an ordered column has a place among the others, unlike NULL and NaN."""
    return bool(number_key(value)[0] == 1)


def has_nanoseconds(value: Any) -> bool:
    """Whether a value is the text of a timestamp that is finer than Python's."""
    return isinstance(value, str) and _NANOSECONDS.fullmatch(value) is not None


def _naive(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def _written_number(text: str) -> Decimal | None:
    try:
        return None if text in _INFINITE_DATES else Decimal(text)
    except ArithmeticError:
        return None


def _outside(text: str) -> tuple[Any, ...]:
    """The key of a date or time that Python has no value for: dates before Christ first, dates after 9999 last."""
    if has_nanoseconds(text):
        return (1, 1, _naive(datetime.fromisoformat(text)), text)
    year, _, rest = text.lstrip("-").partition("-")
    if "BC" in text:
        return (1, 0, -int(year) if year.isdecimal() else 0, rest)
    return (1, 0, -math.inf, "") if text.startswith("-") else (1, 2, len(year), text)


def _nested(hierarchy: Hierarchy, rows: Sequence[int]) -> bool:
    for level in range(1, hierarchy.height + 1):
        codes = _at(hierarchy.codes(level), rows)
        changes = sum(map(ne, codes, codes[1:]))
        if changes + 1 > len(set(codes)):
            return False
    return True


def _at(entries: Sequence[Any], rows: Sequence[int]) -> Sequence[Any]:
    """The entries of the rows, in that order."""
    return list(map(entries.__getitem__, rows))


def _columns(order: Order, labels: bool) -> dict[str, Sequence[Any]]:
    hierarchy, rows, values = order.attribute.hierarchy, order.rows, order.values
    columns: dict[str, Sequence[Any]] = {
        "position": range(len(rows)),
        "number": numbers_of(values) if order.numeric else [None] * len(rows),
        "value": [label_of(value) for value in values],
    }
    for level in range(hierarchy.height + 1):
        codes = _at(hierarchy.codes(level), rows)
        columns[f"code_{level}"] = codes
        columns[f"leaves_{level}"] = _at(hierarchy.leaves(level), codes)
        if labels:
            first = dict(zip(reversed(codes), reversed(range(len(codes))), strict=True))
            columns[f"first_{level}"] = list(map(first.__getitem__, codes))
        if labels and level:
            columns[f"label_{level}"] = _at(hierarchy.labels(level), rows)
    columns["starred"] = [row >= len(hierarchy.values) for row in rows]
    return columns


def _type(engine: Engine, order: Order, name: str, values: Sequence[Any]) -> str:
    if name == "value":
        return order.attribute.column.type
    if name == "number":
        return "DOUBLE"
    if name == "starred":
        return "BOOLEAN"
    if name.startswith("label"):
        return "VARCHAR"
    return engine.integer_type(max(values, default=0))
