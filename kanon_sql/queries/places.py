"""The query of a full-domain release that sorts the places of labels, and writes the labels afterwards.

Rows are sorted by all that is released. To carry eight columns of text through that sort takes most of the time of a
large release: so every label has its place among those of its column, the places are sorted, and the label is taken
from a list by its place. A join after the sort would do the same, but DuckDB does not keep the order of rows in one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.queries.pieces import in_pieces

if TYPE_CHECKING:
    from kanon_sql.queries.release import Cell

Cells = Sequence[tuple[int, "Cell"]]
SORTED, CODED = "kanon_sorted", "kanon_coded"
_LABELS, _CLASSES = "kanon_labels", "kanon_placed"


def can_place(dialect: str) -> bool:
    """Whether a system takes an element of a list by its place as fast from a long list as from a short one."""
    return dialect == "duckdb"


def placed(sorted_rows: exp.Select, cells: Cells, keyed: Cells, masks: bool) -> exp.Select:
    """The release of sorted rows: `p0`, `p1`, … are places of labels of `keyed` cells, `o0`, … are shown as they are.

    `masks`: whether a row without a place shows its mask.
    """
    shown = {i: _label(cell, i, masks) for i, cell in keyed}
    columns = (exp.alias_(shown.get(i, t.column(f"o{i}", SORTED)), cell.name, quoted=True) for i, cell in cells)
    query = exp.select(*columns).from_(exp.to_table(SORTED))
    if keyed:
        query = query.join(exp.to_table(_LABELS), join_type="CROSS")
        lists = (exp.alias_(_list(i), f"l{i}") for i, _ in keyed)
        for i, cell in keyed:
            query = query.with_(_labels(i), as_=_places(cell))
        query = query.with_(_LABELS, as_=exp.select(*lists))
    return query.with_(SORTED, as_=sorted_rows)


def with_places(classes: exp.Expr, keyed: Cells) -> exp.Expr:
    """The relation of the classes, `k`, with the places of their labels, `p0`, `p1`, …"""
    codes = [
        exp.alias_(t.column(str(cell.class_column), "q"), str(cell.class_column), quoted=True) for _, cell in keyed
    ]
    places = [exp.alias_(t.column("place", f"m{i}"), f"p{i}") for i, _ in keyed]
    query = exp.select(*codes, *places).from_(classes, copy=False)
    for i, cell in keyed:
        same = exp.EQ(this=t.column("code", f"m{i}"), expression=t.column(str(cell.class_column), "q"))
        labels = exp.alias_(exp.to_table(_labels(i)), f"m{i}", table=True)
        query = query.join(labels, on=same, copy=False)
    return in_pieces(query, [f"m{i}" for i, _ in keyed]).subquery("k")


def _labels(index: int) -> str:
    return f"{_LABELS}_{index}"


def _places(cell: Cell) -> exp.Select:
    """The labels of a cell's codes in their order: code, shown, place."""
    assert cell.mapping is not None
    label = t.column(cell.label or "value", "m")
    shown = label if cell.label else t.opened(label, cell.open_type)
    code = t.column(cell.code, "m")
    if cell.starred is not None:
        starred = exp.EQ(this=code.copy(), expression=t.literal(cell.starred))
        shown = exp.Case().when(starred, t.literal(cell.unmapped)).else_(shown)
    named = exp.alias_(code, "code"), exp.alias_(shown, "shown")
    of_values: exp.Query = exp.select(*named).distinct().from_(t.table(cell.mapping, "m"), copy=False)
    if cell.null:
        of_null = (exp.alias_(t.literal(each), name) for each, name in zip(cell.null, ("code", "shown"), strict=True))
        of_values = exp.union(of_values, exp.select(*of_null))
    # A collation may hold two labels equal; by their bytes they are two.
    looks = exp.Ordered(this=exp.func("HEX", exp.cast(exp.column("shown"), "TEXT")), nulls_first=False)
    order = exp.Order(expressions=[_ascending("shown"), looks])
    place = exp.Window(this=exp.Anonymous(this="DENSE_RANK"), order=order)
    columns = exp.column("code"), exp.column("shown"), exp.alias_(exp.cast(place, _type(cell.labels)), "place")
    return exp.select(*columns).from_(of_values.subquery("labels"), copy=False)


def _type(labels: int) -> str:
    """The smallest type that holds the places of so many labels, and of some more: small ones are sorted sooner."""
    return "TINYINT" if labels < 100 else "SMALLINT" if labels < 30_000 else "INT"


def _list(index: int) -> exp.Expr:
    """The labels of a cell as one list, each at its place."""
    once = exp.select("place", "shown").distinct().from_(exp.to_table(_labels(index)))
    order = exp.Order(this=exp.column("shown"), expressions=[_ascending("place")])
    return exp.select(exp.ArrayAgg(this=order)).from_(once.subquery("labels")).subquery()


def _ascending(name: str) -> exp.Ordered:
    return exp.Ordered(this=exp.column(name), nulls_first=False)


def _label(cell: Cell, index: int, masks: bool) -> exp.Expr:
    place = t.column(f"p{index}", SORTED)
    label: exp.Expr = exp.Anonymous(this="LIST_EXTRACT", expressions=[t.column(f"l{index}", _LABELS), place])
    if not masks or cell.mask is None:
        return label
    return exp.Case().when(t.is_null(place.copy()), t.literal(cell.mask)).else_(label)
