"""The query of a relation with the values of some columns replaced by codes."""

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
