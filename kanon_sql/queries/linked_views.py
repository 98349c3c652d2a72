"""Live views of several tables: the parts of their statements that read mapping tables, and what they return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.queries.linked import NewKey, ShiftedColumn
from kanon_sql.queries.release import code_of, join_mappings, labels_of_codes, numbers_of_codes
from kanon_sql.queries.release_query import ReleaseColumn
from kanon_sql.queries.row_order import concatenated
from kanon_sql.relation import Relation


@dataclass(frozen=True)
class LiveCell:
    """A quasi-identifier in a view: its released name, its column in the copy, and that of its codes.

    `shown`: its mapping table, or its constant if the view shows nothing of it.
    """

    name: str
    column: str
    code: str
    shown: ReleaseColumn


def copies_of_rows(most: int) -> str:
    """The query of the numbers from 1 to `most`: copy.

    >>> copies_of_rows(2)
    'SELECT 1 AS copy UNION ALL SELECT 2 AS copy'
    """
    return " UNION ALL ".join(f"SELECT {number} AS copy" for number in range(1, most + 1))


def live_rows(copy: Relation, cells: Sequence[LiveCell], dialect: str) -> str:
    """The query of a copy's rows: their links, the codes of their cells, these in few numbers, and n (1)."""
    numbered = [(index, cell) for index, cell in enumerate(cells) if cell.shown.mapping]
    links = [exp.column(name, "s") for name in ("row_id", "unit_id", "parent_id")]
    codes = [exp.alias_(code_of(cell.shown, index), cell.code) for index, cell in numbered]
    numbers = [exp.alias_(number, name) for name, number in _numbers(cells).items()]
    query = exp.select(*links, *codes, *numbers, exp.alias_(exp.Literal.number(1), "n")).from_(t.table(copy, "s"))
    return t.printed(join_mappings(query, [(index, cell.shown) for index, cell in numbered], of_view=True), dialect)


def class_numbers(cells: Sequence[LiveCell]) -> list[str]:
    """The columns of `live_rows` that tell what a row shows: usually one number of all its codes.

    PostgreSQL expects hardly any row of a join by several columns, and would loop over all rows.
    """
    return [*_numbers(cells)] or ["n"]


def _numbers(cells: Sequence[LiveCell]) -> dict[str, exp.Expr]:
    return numbers_of_codes([(index, cell.shown) for index, cell in enumerate(cells) if cell.shown.mapping])


def live_release(
    copy: Relation,
    rows: Relation,
    kept: Relation,
    keys: Sequence[NewKey],
    cells: Sequence[LiveCell],
    unchanged: Mapping[str, tuple[str, str | None]],
    shifted: Mapping[str, ShiftedColumn],
    offsets: Relation | None,
    is_keyed: bool,
    dialect: str,
) -> str:
    """The query of what a view returns: new keys, labels and kept columns of the rows of a copy, by their names.

    `rows`: those of `live_rows`. `kept`: the rows that are not left out. `unchanged`: the copy's columns by their
    released names, with the type to release them in, if it is another one. `is_keyed`: whether the first key
    identifies the rows. Rows are sorted by their keys, which are random, so that the order of the source is hidden.
    """
    query = exp.select().from_(t.table(kept, "x"))
    query = query.join(t.table(copy, "t"), on=_same("t", "x"))
    query = query.join(t.table(rows, "r"), on=_same("r", "x"))
    digests: list[exp.Expr] = []
    outputs: list[exp.Expr] = []
    for index, key in enumerate(keys):
        alias = f"k{index}"
        same = exp.column("row_id", alias).eq(exp.column(key.of, "t"))
        query = query.join(t.table(key.keys, alias), on=same, join_type="LEFT")
        digest = exp.Case().when(~t.is_null(t.column(key.column, "t")), exp.column("key", alias))
        digests.append(digest)
        outputs.append(exp.alias_(digest.copy(), key.name, quoted=True))
    others: list[tuple[str, exp.Expr]] = []
    for index, cell in enumerate(cells):
        if cell.shown.mapping:
            labels = labels_of_codes(cell.shown, of_view=True).subquery(f"m{index}")
            same = exp.column("code", f"m{index}").eq(exp.column(cell.code, "r"))
            query = query.join(labels, on=same, join_type="LEFT")
            others.append((cell.name, exp.column("shown", f"m{index}")))
        else:
            others.append((cell.name, exp.cast(t.literal(cell.shown.constant), "TEXT")))
    others += [(name, t.opened(t.column(column, "t"), type_name)) for name, (column, type_name) in unchanged.items()]
    others += [(name, found.shifted()) for name, found in shifted.items()]
    if offsets:
        same = exp.column("unit_id", "offsets").eq(exp.column("unit_id", "t"))
        query = query.join(t.table(offsets, "offsets"), on=same, join_type="LEFT")
    outputs += [exp.alias_(shown.copy(), name, quoted=True) for name, shown in others]
    order = digests[:1] if is_keyed else [*digests, exp.func("MD5", concatenated("", [shown for _, shown in others]))]
    return t.printed(query.select(*outputs).order_by(*(key.copy() for key in order)), dialect)


def _same(left: str, right: str) -> exp.Expr:
    return exp.column("row_id", left).eq(exp.column("row_id", right))
