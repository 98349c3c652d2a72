"""A query with very many joins, as one that an engine can plan."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import chain

from sqlglot import exp

from kanon_sql.queries import tree as t

MOST_JOINS = 24  # in one SELECT: planning it takes DuckDB the cube of their number, and nothing can interrupt it
_ROWS, _ROW = "kanon_rows", "kanon_row"


@dataclass
class _Piece:
    """Some of a query's joins, as a WITH of its own, and the columns that the rest of the query needs of them."""

    name: str
    source: exp.Expr
    joins: list[exp.Join]
    row: exp.Expr
    needed: dict[tuple[str, str], str] = field(default_factory=dict)

    def take(self, column: exp.Column) -> None:
        """Make a column of one of the joins a column of this piece."""
        inner = self.needed.setdefault((column.table, column.name), f"{column.table}_{len(self.needed)}")
        column.replace(t.column(inner, self.name))

    def select(self) -> exp.Select:
        """The piece as a query: the number of the row, and what is needed."""
        columns = [exp.alias_(t.column(name, alias), inner) for (alias, name), inner in self.needed.items()]
        query = exp.select(exp.alias_(self.row, _ROW), *columns).from_(self.source, copy=False)
        query.set("joins", self.joins)
        return query


def in_pieces(query: exp.Select, aliases: Collection[str]) -> exp.Select:
    """The query itself, or one that does the joins of these aliases some at a time, by the number of the row.

    They must follow one another, each with a condition on itself and on what precedes them all; every column of the
    query names its table.
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
    """Have every column come from the piece that holds its table."""
    shown = [
        expression if isinstance(expression, exp.Alias) else exp.alias_(expression, expression.name)
        for expression in query.expressions
    ]
    query.set("expressions", shown)
    rest = [query.args.get(part) for part in ("where", "group", "having", "order")]
    holds = dict.fromkeys((rows.source.alias_or_name, *(join.alias_or_name for join in rows.joins)), rows)
    _take([join.args["on"] for piece in pieces for join in piece.joins], holds)
    holds |= {join.alias_or_name: piece for piece in pieces for join in piece.joins}
    _take([*shown, *filter(None, rest), *(join.args["on"] for join in after)], holds)


def _take(trees: Iterable[exp.Expr], holds: dict[str, _Piece]) -> None:
    columns = list(chain.from_iterable(tree.find_all(exp.Column) for tree in trees))
    for column in columns:
        if column.table in holds:
            holds[column.table].take(column)


def _by_row(piece: _Piece) -> exp.Join:
    same = exp.EQ(this=t.column(_ROW, piece.name), expression=t.column(_ROW, _ROWS))
    return exp.Join(this=exp.to_table(piece.name), on=same, kind="INNER")
