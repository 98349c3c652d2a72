"""Queries that replace the values of columns by codes, or by those of a smaller type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.relation import Relation


def replaced(relation: Relation, codes: Mapping[str, Relation], columns: Sequence[str], dialect: str) -> str:
    """The query of a relation with other values in some columns, and `columns` unchanged.

    `codes`: for each of the other columns a relation with `value` (every one that occurs, also NULL) and `code`.
    """
    query = exp.select(*(t.column(name, "r") for name in columns)).from_(t.table(relation, "r"), copy=False)
    for number, (name, coded) in enumerate(codes.items()):
        alias = f"c{number}"
        same = exp.NullSafeEQ(this=t.column("value", alias), expression=t.column(name, "r"))
        query = query.join(t.table(coded, alias), on=same, copy=False)
        query = query.select(exp.alias_(t.column("code", alias), name, quoted=True), copy=False)
    return t.printed(query, dialect)


def counted_rows(relation: Relation, release: int, types: Mapping[str, str], columns: Sequence[str]) -> str:
    """The query that counts the equal rows of a release (DuckDB): release (its number), the columns, n.

    `types`: of columns that are cast.
    """
    cast = {name: t.cast_to(t.column(name), types[name]) if name in types else t.column(name) for name in columns}
    query = exp.select(exp.alias_(t.literal(release), "release"), copy=False).from_(t.table(relation), copy=False)
    query = query.select(*(exp.alias_(value, name, quoted=True) for name, value in cast.items()), copy=False)
    query = query.select(exp.alias_(exp.Count(this=exp.Star()), "n"), copy=False)
    return t.printed(query.group_by(*(value.copy() for value in cast.values()), copy=False), "duckdb")
