"""The order of the rows of a release, which must not reveal more than the rows do."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.queries.release_query import ReleaseColumn


def ordered(
    columns: Sequence[tuple[exp.Expr, bool]], kept: Sequence[exp.Expr], shuffle_seed: int | None
) -> list[exp.Expr]:
    """Sort by columns (with a flag: can be sorted), or by a seeded hash of all of them.

    Equal `kept` values may look different (-0, a collation that ignores case): they are sorted by a hash.
    """
    by_value = [column if sortable else exp.cast(column, "TEXT") for column, sortable in columns]
    if shuffle_seed is None:
        return [*by_value, *([exp.func("MD5", concatenated("", kept))] if kept else [])]
    return [exp.func("MD5", concatenated(str(shuffle_seed), [column for column, _ in columns])), *by_value]


def release_order(
    cells: Sequence[tuple[exp.Expr, ReleaseColumn]], shuffle_seed: int | None, by_looks: bool = True
) -> list[exp.Expr]:
    """Sort by all released cells, quasi-identifiers first, or by a seeded hash of them.

    `by_looks`: whether equal kept values that may look different are sorted by their looks.
    """
    cells = sorted(cells, key=lambda cell: not cell[1].recoded)
    looks = [cell for cell, column in cells if not (column.recoded or column.plain)]
    return ordered([(cell, column.sortable) for cell, column in cells], looks if by_looks else [], shuffle_seed)


def by_looks(kept: Sequence[tuple[exp.Expr, str]], dialect: str) -> list[exp.Expr]:
    """Sort equal values of kept columns, given with their kinds, that may look different.

    A hash of every row costs more than the rest of the sort, so a number is used where that suffices.
    """
    scales = [column for column, kind in kept if kind == "decimal" and dialect == "postgres"]
    zeros = [column for column, kind in kept if kind == "float"]
    hashed = [column for column, kind in kept if not (column in scales or column in zeros)]
    signs = [
        exp.Case().when(exp.EQ(this=value.copy(), expression=exp.Literal.number(0)), exp.cast(value.copy(), "TEXT"))
        for value in zeros
    ]
    by_scale = [exp.Anonymous(this="SCALE", expressions=[value.copy()]) for value in scales]
    return [*by_scale, *signs, *ordered((), hashed, None)]


def concatenated(start: str, columns: Sequence[exp.Expr]) -> exp.Expr:
    """The concatenation of a text and all columns."""
    text: exp.Expr = exp.Literal.string(start)
    for column in columns:
        part = exp.func("COALESCE", t.in_bytes(exp.cast(column.copy(), "TEXT")), exp.Literal.string(""))
        text = exp.DPipe(this=exp.DPipe(this=text, expression=exp.Literal.string("|")), expression=part)
    return text
