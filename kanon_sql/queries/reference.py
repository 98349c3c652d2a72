"""The query of a reference: figures of the values of a sensitive column in the whole table."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from kanon_sql.privacy import Predicate
from kanon_sql.queries import tree as t
from kanon_sql.relation import Relation


def reference(
    counted: Relation, value: str, raw: str, rows: Predicate, dialect: str, groups: Sequence[Sequence[object]] = ()
) -> str:
    """The query of a reference; see `sql/privacy.sql`.

    `groups`: rows of a value and the number of its group on level 1, 2, …; then the query also returns `_group_l` and
    `_overall_c_l`, the rows of the group, and NULL for the figures of a value without a group.
    """
    return t.printed(reference_tree(counted, value, raw, rows, dialect, groups), dialect)


def reference_tree(
    counted: Relation, value: str, raw: str, rows: Predicate, dialect: str, groups: Sequence[Sequence[object]] = ()
) -> exp.Query:
    """The tree of `reference`, as a part of another query."""
    query = t.tree("privacy/reference", counted=counted, value=[value], raw=[raw], rows=rows)
    if rows.unit:
        query = _of_people(query, t.tree("privacy/whole_people", counted=counted, people=rows))
    has_groups = groups and len(groups[0]) > 1  # not if a row consists of the value alone
    return _grouped(query, groups, dialect) if has_groups else query


def _of_people(query: exp.Query, people: exp.Query) -> exp.Select:
    """A reference whose size is the number of people in the whole table, who may have several values."""
    columns = (exp.column(name, table="r") for name in query.named_selects if name != "overall_size")
    pairs = exp.alias_(exp.column("overall_size", table="r"), "overall_pairs")
    source = exp.select(*columns, pairs, exp.column("overall_size", table="p")).from_(query.subquery("r"), copy=False)
    return source.join(people.subquery("p"), join_type="CROSS", copy=False)


def _grouped(query: exp.Query, groups: Sequence[Sequence[object]], dialect: str) -> exp.Select:
    levels = range(1, len(groups[0]))
    names = ["value", *(f"_group_{level}" for level in levels)]
    of_null = next((row for row in groups if row[0] is None), None)
    listed = exp.values([tuple(row) for row in groups if row[0] is not None], alias="g", columns=names)
    is_null = t.is_null(exp.column("raw", table="r"))

    def group(level: int) -> exp.Expr:
        joined = exp.column(f"_group_{level}", table="g")
        return joined if of_null is None else exp.Case().when(is_null.copy(), t.literal(of_null[level])).else_(joined)

    in_group = exp.Case().when(t.is_not_null(group(1)), exp.column("overall_c", table="r"))
    figures = [exp.alias_(in_group, "overall_c")]
    for level in levels:
        rows = exp.Window(this=exp.Sum(this=exp.column("overall_c", table="r")), partition_by=[group(level)])
        figures += [
            exp.alias_(group(level), f"_group_{level}"),
            exp.alias_(exp.cast(rows, "BIGINT"), f"_overall_c_{level}"),
        ]
    plain = (exp.column(name, table="r") for name in query.named_selects if name != "overall_c")
    raw: exp.Expr = exp.column("raw", table="r")
    if dialect == "postgres" and all(isinstance(row[0], str | None) for row in groups):
        raw = exp.cast(raw, "VARCHAR")  # PostgreSQL compares no enumeration and no UUID with text
    same = exp.column("value", table="g").eq(raw)
    source = exp.select(*plain, *figures).from_(query.subquery("r"), copy=False)
    return source.join(listed, on=same, join_type="LEFT", copy=False)
