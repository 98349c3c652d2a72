"""The classes that fit people, if the labels of an attribute do not overlap."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from kanon_sql.queries import tree as t
from kanon_sql.relation import Relation


def fits_of_labels(targets: Relation, target: str, classes: Relation, covers: Mapping[str, Relation]) -> str:
    """The query of the targets, by the column `target`, and the class with the labels of all their values.

    `covers`: by attribute the values (at most one label each) that every label covers: label, value, as keys.
    """
    query = exp.select(exp.alias_(t.column(target, "t"), "target"), exp.column("class", table="k"))
    query = query.from_(t.table(targets, "t"))
    same_labels: list[exp.Expr] = []
    for number, (name, of_attribute) in enumerate(covers.items()):
        alias = f"v{number}"
        labels = t.tree("attack_matching/labels_of_values", value=[name], targets=targets, covers=of_attribute)
        value = exp.NullSafeEQ(this=exp.column("value", table=alias), expression=t.column(name, "t"))
        query.join(labels.subquery(alias), on=value, copy=False)
        label = t.expression("COALESCE('=' || CAST($label AS TEXT), '')", label=t.column(name, "k"))
        same_labels.append(exp.column("label", table=alias).eq(label))
    return t.printed(query.join(t.table(classes, "k"), on=exp.and_(*same_labels), copy=False), "duckdb")
