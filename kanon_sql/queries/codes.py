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


def keyed_rows(relation: Relation, place: int, types: Mapping[str, str]) -> str:
    """The query of columns of a relation, cast to types, with a number that equal rows have in common (DuckDB).

    `place`: the number of the relation among several. `types`: by column. Two rows that differ have the same number,
    `row_key`, by a chance of 1 in 2 ** 64.
    """
    cast = {name: t.cast_to(t.column(name), kind) for name, kind in types.items()}
    named = exp.select(*(exp.alias_(value, name, quoted=True) for name, value in cast.items()), copy=False)
    key = _hash([t.column(name) for name in types])
    numbers = exp.alias_(t.literal(place), "place"), exp.alias_(key, "row_key")
    query = exp.select(*numbers, *map(t.column, types), copy=False)
    return t.printed(query.from_(named.from_(t.table(relation), copy=False).subquery("r"), copy=False), "duckdb")


def rows_of_combinations(relation: Relation, sets: Sequence[Sequence[str]], one_of: int) -> str:
    """The query of all rows with some combinations of values of any of some sets of columns (DuckDB).

    One combination in `one_of`, a power of two, is chosen by its hash. The columns are those of the sets.
    """
    names = sorted({name for columns in sets for name in columns})
    values = {name: f"value_{place}" for place, name in enumerate(names)}
    hashes = {name: f"hash_{place}" for place, name in enumerate(names)}  # of every value once, since texts take longer
    hashed = exp.select(
        *(exp.alias_(t.column(name, "r"), value, quoted=True) for name, value in values.items()),
        *(exp.alias_(_hash([t.column(name, "r")]), hash_, quoted=True) for name, hash_ in hashes.items()),
        copy=False,
    ).from_(t.table(relation, "r"), copy=False)
    chosen = []
    for columns in sets:
        combination = _hash([t.column(hashes[name]) for name in columns])
        last_bits = exp.BitwiseAnd(this=combination, expression=t.literal(one_of - 1))
        chosen.append(exp.EQ(this=last_bits, expression=t.literal(0)))
    query = exp.select(*(exp.alias_(t.column(value), name, quoted=True) for name, value in values.items()), copy=False)
    return t.printed(query.from_(hashed.subquery("hashed"), copy=False).where(exp.or_(*chosen), copy=False), "duckdb")


def rows_of_people(relation: Relation, columns: Sequence[str], person: str, one_of: int) -> str:
    """The query of some columns of all rows of one person in `one_of`, chosen by the hash of the key (DuckDB)."""
    number = exp.Mod(this=_hash([t.column(person, "r")]), expression=t.literal(one_of))
    query = exp.select(*(t.column(name, "r") for name in columns), copy=False).from_(t.table(relation, "r"), copy=False)
    return t.printed(query.where(exp.EQ(this=number, expression=t.literal(0)), copy=False), "duckdb")


def _hash(columns: list[exp.Expr]) -> exp.Anonymous:
    return exp.Anonymous(this="HASH", expressions=columns)
