"""The queries that perturb columns other than quasi-identifiers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.queries.row_order import ordered
from kanon_sql.relation import Relation


def identified_rows(
    source: Relation,
    columns: Mapping[str, str],
    identified_by: Sequence[str],
    dialect: str,
    open_types: Mapping[str, str | None] | None = None,
) -> str:
    """The query that adds a `row_id` to every row: a unique text that does not depend on the row's place.

    `columns` (new name: old) are kept; a row is identified by its content in the columns `identified_by`, and equal
    rows by an arbitrary number. Plain names (`plain_names`) cannot clash with ours. `open_types`: by old name the types
    to keep columns in, if their own would reveal other values (ENUM).
    """
    number = "MD5(content || '|' || CAST(ROW_NUMBER() OVER (PARTITION BY content ORDER BY content) AS TEXT)) AS row_id"
    return t.printed(_over_content(source, columns, identified_by, "", number, open_types or {}), dialect)


def grouped_rows(
    source: Relation, columns: Mapping[str, str], classes: Sequence[str], seed: int | str, dialect: str
) -> str:
    """The query that adds a `group_id` to the equivalence classes of a release: 1, 2, … in the order of a hash.

    `columns` (new name: old) are kept; `classes` are the columns, by their old names, that identify the classes.
    """
    number = "DENSE_RANK() OVER (ORDER BY content) AS group_id"
    return t.printed(_over_content(source, columns, classes, str(seed), number, {}), dialect)


def _over_content(
    source: Relation,
    columns: Mapping[str, str],
    identified_by: Sequence[str],
    prefix: str,
    number: str,
    open_types: Mapping[str, str | None],
) -> exp.Select:
    content: exp.Expr = exp.Literal.string(prefix)
    for column in identified_by:
        content = exp.DPipe(this=content, expression=_numbered(column))
    kept = [exp.alias_(t.opened(t.column(old), open_types.get(old)), new, quoted=True) for new, old in columns.items()]
    identified = exp.select(*kept, exp.alias_(exp.func("MD5", content), "content")).from_(t.table(source))
    return exp.select(*(t.column(new) for new in columns), t.expression(number)).from_(
        identified.subquery("identified")
    )


def _numbered(column: str) -> exp.Expr:
    """A column as text that is unambiguous when other columns are appended, and differs from NULL."""
    text: exp.Expr = t.in_bytes(exp.cast(t.column(column), "TEXT"))
    for mark, written in (("~", "~~"), ("|", "~p")):
        text = exp.func("REPLACE", text, exp.Literal.string(mark), exp.Literal.string(written))
    not_null = exp.func("COALESCE", text, exp.Literal.string("~n"))
    return exp.DPipe(this=exp.Literal.string("|"), expression=not_null)


@dataclass(frozen=True)
class Perturbed:
    """A column of the perturbed source: `column` of the identified rows, or `value` of a relation by `row_id`.

    `type`: the column's own type, in the engine's words, to cast a perturbed value to.
    """

    name: str
    column: str
    type: str
    values: Relation | None = None


def perturbed_rows(rows: Relation, columns: Sequence[Perturbed], dialect: str) -> str:
    """The query that replaces the source's values by perturbed ones; a cell without one is NULL."""
    query = exp.select().from_(t.table(rows, "r"))
    for index, column in enumerate(columns):
        if column.values is None:
            shown: exp.Expr = t.column(column.column, "r")
        else:
            alias = f"p{index}"
            equal = t.column("row_id", alias).eq(t.column("row_id", "r"))
            query = query.join(t.table(column.values, alias), on=equal, join_type="LEFT")
            shown = t.cast_in_words(t.column("value", alias), column.type)
        query = query.select(exp.alias_(shown, column.name, quoted=True))
    return t.printed(query, dialect)


def sorted_rows(
    relation: Relation,
    columns: Mapping[str, bool],
    quasi_identifiers: Sequence[str],
    shuffle_seed: int | None,
    dialect: str,
) -> str:
    """The query of an existing release, in the order of all releases.

    `columns`: whether a column can be sorted, by its name.
    """
    places = sorted(columns, key=lambda name: name not in quasi_identifiers)
    kept = [t.column(name, "r") for name in places if name not in quasi_identifiers]
    order = ordered([(t.column(name, "r"), columns[name]) for name in places], kept, shuffle_seed)
    query = exp.select(*(t.column(name, "r") for name in columns)).from_(t.table(relation, "r"))
    return t.printed(query.order_by(*order), dialect)
