"""The query of a full-domain release that sorts the places of labels, and writes the labels afterwards.

Rows are sorted by all that is released. To carry eight columns of text through that sort takes most of the time of a
large release: so every label has its place among those of its column, the places are sorted, and the label is taken
from a list by its place. A join after the sort would do the same, but DuckDB does not keep the order of rows in one.

PostgreSQL and Spark sort one number sooner than several, so that there the places of a row are put together, in bits.
PostgreSQL walks a list of texts to reach one, so that a column of many labels carries them through the sort; on Spark
every column does, where only the order of the last step counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf, prod
from typing import TYPE_CHECKING

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.queries.pieces import in_pieces

if TYPE_CHECKING:
    from kanon_sql.queries.release import Cell

Cells = Sequence[tuple[int, "Cell"]]
SORTED, CODED = "kanon_sorted", "kanon_coded"
_LABELS = "kanon_labels"
_WALKED = 100  # labels in a list that is walked sooner than a label is carried
_WORD = 62  # bits of places that are sorted as one number
_ROWS_EACH = 8  # rows for each element of an array of all classes that could be: else a join is as fast
_MOST = 2_000_000  # elements of such an array: as many numbers of eight bytes


def can_place(dialect: str) -> bool:
    """Whether a system of ours takes an element of a list by its place."""
    return dialect in ("duckdb", "postgres", "spark")


def carried(keyed: Cells, dialect: str) -> Cells:
    """The cells whose labels go through the sort, since a list of theirs would be slow."""
    walked = {"duckdb": inf, "postgres": _WALKED, "spark": 0}[dialect]
    return [each for each in keyed if each[1].labels > walked]


def placed(sorted_rows: exp.Select, cells: Cells, keyed: Cells, masks: bool, dialect: str) -> exp.Select:
    """The release of sorted rows: `p0`, `p1`, … are places of labels of `keyed` cells, `o0`, … are shown as they are.

    `masks`: whether a row without a place shows its mask.
    """
    as_they_are = {i for i, _ in carried(keyed, dialect)}
    labels = {i: t.column(f"o{i}", SORTED) if i in as_they_are else _label(i, keyed, dialect) for i, _ in keyed}
    shown = {i: _masked(labels[i], cell, _place(i, keyed, dialect), masks) for i, cell in keyed}
    columns = (exp.alias_(shown.get(i, t.column(f"o{i}", SORTED)), cell.name, quoted=True) for i, cell in cells)
    query = exp.select(*columns).from_(exp.to_table(SORTED))
    for i, cell in keyed:
        query = query.with_(_labels(i), as_=_places(cell, dialect))
    if keyed and dialect == "duckdb":
        query = query.join(exp.to_table(_LABELS), join_type="CROSS")
        lists = (exp.alias_(_list(i), f"l{i}") for i, _ in keyed)
        query = query.with_(_LABELS, as_=exp.select(*lists))
    return query.with_(SORTED, as_=sorted_rows)


def sorted_by(keyed: Cells, dialect: str) -> list[str]:
    """The columns of the classes that their places are in: `p0`, `p1`, …, or several together as `w0`, `w1`, …"""
    return [name for name, _ in _written(keyed, dialect)]


def with_places(classes: exp.Expr, keyed: Cells, dialect: str) -> exp.Expr:
    """The relation of the classes, `k`, with the places of their labels; see `sorted_by`."""
    codes = [
        exp.alias_(t.column(str(cell.class_column), "q"), str(cell.class_column), quoted=True) for _, cell in keyed
    ]
    places = [exp.alias_(place, name) for name, place in _written(keyed, dialect)]
    query = exp.select(*codes, *places).from_(classes, copy=False)
    for i, cell in keyed:
        same = exp.EQ(this=t.column("code", f"m{i}"), expression=t.column(str(cell.class_column), "q"))
        labels = exp.alias_(exp.to_table(_labels(i)), f"m{i}", table=True)
        query = query.join(labels, on=same, copy=False)
    return t.fenced(in_pieces(query, [f"m{i}" for i, _ in keyed]), dialect).subquery("k")


def looked_up(
    coded: exp.Select, shown: Sequence[str], classes: exp.Expr, keyed: Cells, rows: int, dialect: str
) -> exp.Select | None:
    """Coded rows with the places of their class, NULL where it may not be released, from an array of all that could be.

    None where it is better to join the classes: where few rows share an element of the array, and where the system
    walks an array.
    """
    strides = [prod(_codes(cell) for _, cell in keyed[at + 1 :]) for at, _ in enumerate(keyed)]
    size = prod(_codes(cell) for _, cell in keyed)
    words = sorted_by(keyed, dialect) if keyed else []
    if dialect != "postgres" or len(words) != 1 or size > min(_MOST, rows // _ROWS_EACH):
        return None
    (word,) = words
    ends = (exp.Literal.number(end) for end in (1, size))
    series = exp.TableAlias(this=exp.to_identifier("i"), columns=[exp.to_identifier("element")])
    elements = exp.Table(this=exp.Anonymous(this="GENERATE_SERIES", expressions=list(ends)), alias=series)
    # PostgreSQL walks an array that holds a NULL to reach an element: 0, which is no place, stands for no class.
    place = exp.func("COALESCE", t.column(word, "k"), exp.Literal.number(0))
    array = exp.select(exp.ArrayAgg(this=exp.Order(this=place, expressions=[_ascending("element")])))
    of_class = _element([t.column(str(cell.class_column), "k") for _, cell in keyed], strides)
    same = exp.EQ(this=of_class, expression=exp.column("element"))
    array = array.from_(elements).join(with_places(classes, keyed, dialect), on=same, join_type="LEFT")
    of_row = exp.cast(exp.paren(_element([t.column(f"c{i}", CODED) for i, _ in keyed], strides)), "INT")
    found = exp.Bracket(this=array.subquery(), expressions=[of_row], offset=1)
    columns = [exp.alias_(t.column(name, CODED), name, quoted=True) for name in shown]
    columns.append(exp.alias_(exp.func("NULLIF", found, exp.Literal.number(0)), word))
    return exp.select(*columns).from_(coded.subquery(CODED), copy=False)


def _codes(cell: Cell) -> int:
    """How many codes the rows of a cell have: those of its labels from 0 on, and -1 for a value that has none."""
    return cell.labels + 1


def _element(codes: Sequence[exp.Expr], strides: Sequence[int]) -> exp.Expr:
    """Where a combination of codes is in the array: from 1 on, each code from -1 on."""
    parts = [
        exp.Mul(this=code, expression=exp.Literal.number(stride)) for code, stride in zip(codes, strides, strict=True)
    ]
    first: exp.Expr = exp.Literal.number(1 + sum(strides))
    return reduce(lambda whole, part: exp.Add(this=whole, expression=part), parts, first)


def _written(keyed: Cells, dialect: str) -> list[tuple[str, exp.Expr]]:
    """The places of a class, each by itself, or put together in the order of the cells."""
    if dialect == "duckdb":
        return [(f"p{i}", t.column("place", f"m{i}")) for i, _ in keyed]
    words: dict[str, exp.Expr] = {}
    for i, (word, shift, _) in _bits(keyed).items():
        place = exp.cast(t.column("place", f"m{i}"), "BIGINT")
        bits = exp.BitwiseLeftShift(this=place, expression=exp.Literal.number(shift))
        words[word] = exp.BitwiseOr(this=words[word], expression=exp.paren(bits)) if word in words else exp.paren(bits)
    return list(words.items())


def _bits(keyed: Cells) -> dict[int, tuple[str, int, int]]:
    """Where the place of each cell is: in which word, how many bits from its end, and how many bits it has."""
    sizes = {i: (cell.labels + 1).bit_length() for i, cell in keyed}  # with one for NULL
    words: list[list[int]] = [[]]
    for i, bits in sizes.items():
        if sum(sizes[other] for other in words[-1]) + bits > _WORD:
            words.append([])
        words[-1].append(i)
    return {
        i: (f"w{number}", sum(sizes[after] for after in word[at + 1 :]), sizes[i])
        for number, word in enumerate(words)
        for at, i in enumerate(word)
    }


def _place(index: int, keyed: Cells, dialect: str) -> exp.Expr:
    """The place of a sorted row's label."""
    if dialect == "duckdb":
        return t.column(f"p{index}", SORTED)
    word, shift, bits = _bits(keyed)[index]
    shifted = exp.BitwiseRightShift(this=t.column(word, SORTED), expression=exp.Literal.number(shift))
    place = exp.BitwiseAnd(this=exp.paren(shifted), expression=exp.Literal.number(2**bits - 1))
    return exp.cast(exp.paren(place), "INT")


def _labels(index: int) -> str:
    return f"{_LABELS}_{index}"


def _places(cell: Cell, dialect: str) -> exp.Select:
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
    order = exp.Order(expressions=[_ascending("shown")])
    if dialect == "duckdb":  # where a collation may hold two labels equal; by their bytes they are two
        looks = exp.Ordered(this=exp.func("HEX", exp.cast(exp.column("shown"), "TEXT")), nulls_first=False)
        order.append("expressions", looks)
    place = exp.Window(this=exp.Anonymous(this="DENSE_RANK"), order=order)
    columns = exp.column("code"), exp.column("shown"), exp.alias_(exp.cast(place, _type(cell.labels)), "place")
    return exp.select(*columns).from_(of_values.subquery("labels"), copy=False)


def _type(labels: int) -> str:
    """The smallest type that holds the places of so many labels, and of some more: small ones are sorted sooner."""
    return "TINYINT" if labels < 100 else "SMALLINT" if labels < 30_000 else "INT"


def _list(index: int, nulls: bool = True) -> exp.Expr:
    """The labels of a cell as one list, each at its place."""
    once = exp.select("place", "shown").distinct().from_(exp.to_table(_labels(index)))
    if not nulls:  # at the last place, and there is none beyond the end
        once = once.where(t.is_not_null(exp.column("shown")), copy=False)
    order = exp.Order(this=exp.column("shown"), expressions=[_ascending("place")])
    return exp.select(exp.ArrayAgg(this=order)).from_(once.subquery("labels")).subquery()


def _ascending(name: str) -> exp.Ordered:
    return exp.Ordered(this=exp.column(name), nulls_first=False)


def _label(index: int, keyed: Cells, dialect: str) -> exp.Expr:
    place = _place(index, keyed, dialect)
    if dialect == "duckdb":
        return exp.Anonymous(this="LIST_EXTRACT", expressions=[t.column(f"l{index}", _LABELS), place])
    return exp.Bracket(this=_list(index, nulls=False), expressions=[place], offset=1)


def _masked(label: exp.Expr, cell: Cell, place: exp.Expr, masks: bool) -> exp.Expr:
    if not masks:
        return label
    return exp.Case().when(t.is_null(place), t.literal(cell.mask)).else_(label)
