"""Rewrites a query with very many joins, so that an engine can plan it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import chain

from sqlglot import exp

from kanon_sql.queries import tree as t

MOST_JOINS = 24  # in one SELECT: DuckDB's planning time grows with the cube of their number, and is not interruptible
_ROWS, _ROW = "kanon_rows", "kanon_row"


@dataclass
class _Piece:
    """Some of a query's joins as a separate WITH, and their columns that the rest of the query needs."""

    name: str
    source: exp.Expr
    joins: list[exp.Join]
    row: exp.Expr
    needed: dict[tuple[str, str], str] = field(default_factory=dict)

    def take(self, column: exp.Column) -> None:
        """Replace a column of one of the joins by a column of this piece."""
        inner = self.needed.setdefault((column.table, column.name), f"{column.table}_{len(self.needed)}")
        column.replace(t.column(inner, self.name))

    def select(self) -> exp.Select:
        """The piece as a query: the number of the row, and the needed columns."""
        columns = [exp.alias_(t.column(name, alias), inner, copy=False) for (alias, name), inner in self.needed.items()]
        query = exp.Select(expressions=[exp.alias_(self.row, _ROW), *columns]).from_(self.source, copy=False)
        query.set("joins", self.joins)
        return query


def in_pieces(query: exp.Select, aliases: Collection[str]) -> exp.Select:
    """The query unchanged, or one that does the joins of these aliases in several pieces, joined by row number.

    These joins must be consecutive, and their conditions must only use their own columns and those of tables before
    them; all columns of the query must be qualified.
    """
    joins: list[exp.Join] = query.args.get("joins") or []
    places = [place for place, join in enumerate(joins) if join.alias_or_name in aliases]
    if len(places) <= MOST_JOINS:
        return query
    before, parted, after = joins[: places[0]], joins[places[0] : places[-1] + 1], joins[places[-1] + 1 :]
    rows = _Piece(_ROWS, query.args["from_"].this, before, exp.Window(this=exp.RowNumber()))
    pieces = [
        _Piece(f"kanon_piece_{i}", exp.to_table(_ROWS), parted[at : at + MOST_JOINS], t.column(_ROW, _ROWS))
        for i, at in enumerate(range(0, len(parted), MOST_JOINS))
    ]
    _share_out(query, rows, pieces, after)
    query.from_(exp.to_table(_ROWS), copy=False)
    query.set("joins", [*(_by_row(piece) for piece in pieces), *after])
    for piece in (rows, *pieces):
        query.with_(piece.name, as_=piece.select(), materialized=True, copy=False)
    return query


def _share_out(query: exp.Select, rows: _Piece, pieces: list[_Piece], after: list[exp.Join]) -> None:
    """Replace every column by that of the piece with its table."""
    shown = [
        expression if isinstance(expression, exp.Alias) else exp.alias_(expression, expression.name)
        for expression in query.expressions
    ]
    query.set("expressions", shown)
    rest = [query.args.get(part) for part in ("where", "group", "having", "order")]
    piece_of = dict.fromkeys((rows.source.alias_or_name, *(join.alias_or_name for join in rows.joins)), rows)
    _take([join.args["on"] for piece in pieces for join in piece.joins], piece_of)
    piece_of |= {join.alias_or_name: piece for piece in pieces for join in piece.joins}
    _take([*shown, *filter(None, rest), *(join.args["on"] for join in after)], piece_of)


def _take(trees: Iterable[exp.Expr], piece_of: dict[str, _Piece]) -> None:
    columns = list(chain.from_iterable(tree.find_all(exp.Column) for tree in trees))
    for column in columns:
        if column.table in piece_of:
            piece_of[column.table].take(column)


def _by_row(piece: _Piece) -> exp.Join:
    same = t.column(_ROW, piece.name).eq(t.column(_ROW, _ROWS))
    return exp.Join(this=exp.to_table(piece.name), on=same, kind="INNER")
