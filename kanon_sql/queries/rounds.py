"""Rounds of statements that read the tables of the last round, and several rounds as one recursive statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.relation import Relation

_ROUNDS = "kanon_rounds"


@dataclass(frozen=True)
class RoundStatement:
    """A table that a round creates by a query of `sql/`, or by the union of its results for several sets of holes."""

    table: str
    query: str
    holes: Sequence[Mapping[str, t.Hole]]

    def tree(self, dialect: str) -> exp.Query:
        """The query, as a part of another."""
        return t.union([t.tree(self.query, dialect, **holes) for holes in self.holes])


def step(table: str, query: str, **holes: t.Hole) -> RoundStatement:
    """A step of one query."""
    return RoundStatement(table, query, (holes,))


def numbered_column(names: Sequence[str], number: str, alias: str) -> exp.Case:
    """The one of several columns whose place in the list (from 0) is in the column `number` of the row `alias`.

    Faster than indexing a list, which is built for every row.
    """
    cases = [exp.If(this=t.literal(place), true=t.column(name)) for place, name in enumerate(names)]
    return exp.Case(this=t.column(number, alias), ifs=cases)


def rounds(start: Relation, columns: Sequence[str], steps: Sequence[RoundStatement], most: int, dialect: str) -> str:
    """The query of at most `most` rounds: the columns, round (the last that a row was in), is_open.

    `start`: the open rows, in the columns. `steps`: read each other, and `open`, by their tables' names; the last two
    return the columns of the rows that are open afterwards, and of the closed ones. Only for DuckDB: elsewhere a
    recursive query may not read its rows twice.
    """
    *shared, opened, ended = steps
    zero, one_more = t.literal(0), exp.Max(this=t.column("round")) + 1
    here = exp.select(one_more).from_("open").subquery()
    next_round = exp.union(
        _of_round(columns, t.table(Relation(opened.table)), here, is_open=True),
        _of_round(columns, t.table(Relation(ended.table)), here, is_open=False),
        distinct=False,
        copy=False,
    )
    may_go_on = exp.and_(t.column("is_open"), t.column("round") < most)
    open_rows = exp.select(*map(t.column, (*columns, "round"))).from_(_ROUNDS).where(may_go_on)
    next_round = next_round.with_("open", as_=open_rows, copy=False)
    for step in shared:
        next_round = next_round.with_(step.table, as_=step.tree(dialect), materialized=True, copy=False)
    for step in (opened, ended):
        next_round = next_round.with_(step.table, as_=step.tree(dialect), copy=False)
    every = exp.union(
        _of_round(columns, t.table(start), zero, is_open=True),
        next_round.subquery(copy=False),
        distinct=False,
        copy=False,
    )
    is_last = t.column("round").eq(t.literal(most))
    query = exp.select(*map(t.column, (*columns, "round", "is_open"))).from_(_ROUNDS)
    query = query.where(exp.or_(exp.not_(t.column("is_open")), is_last))
    return t.printed(query.with_(_ROUNDS, as_=every, recursive=True, copy=False), dialect)


def _of_round(columns: Sequence[str], source: exp.Table, number: exp.Expr, is_open: bool) -> exp.Select:
    """Rows with the number of their round, and whether they are open after it."""
    added = exp.alias_(number.copy(), "round"), exp.alias_(t.literal(is_open), "is_open")
    return exp.select(*map(t.column, columns), *added).from_(source)
