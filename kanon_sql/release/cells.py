"""The cells of a release: what a query shows of each column."""

from __future__ import annotations

from collections.abc import Callable

from kanon_sql.engine import Column
from kanon_sql.frequency.frequency_set import Attribute
from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.queries import Relation, ReleaseColumn, StatementColumn
from kanon_sql.recode.show import shown_names

Mapped = Callable[[Attribute], Relation]


def no_mapping(attribute: Attribute) -> Relation:
    """The mapping table of an attribute, where only the names of columns matter."""
    return attribute.coded.mapping


def kept_column(column: Column, plain: bool) -> StatementColumn:
    """A column that is released unchanged; `plain`: whether equal values look the same."""
    return StatementColumn(column.name, column.kind, plain, column.open_type)


def class_column(j: int, attribute: Attribute, how: str, mapping: Mapped) -> ReleaseColumn:
    """The released columns of a local recoding's j-th attribute; `how`: see `recode.show`."""
    names = shown_names(attribute.column.name, how)
    columns = (f"label_{j}", f"high_{j}")[: len(names)]
    return ReleaseColumn(
        attribute.column.name,
        open_type=attribute.column.open_type if how == "mode" else None,
        mapping=mapping(attribute),
        null=null_of(attribute.hierarchy, 0),
        key=attribute.coded.code_column(0),
        shown=tuple(zip(names, columns, strict=True)),
    )


def level_column(attribute: Attribute, level: int, mapping: Relation, code: str, label: str) -> ReleaseColumn:
    """The released column of an attribute on a level; `code` and `label` are columns of its mapping table."""
    hierarchy = attribute.hierarchy
    if level == hierarchy.height:
        labels = hierarchy.distinct_labels(level) or (STAR,)  # of a table without rows
        return ReleaseColumn(attribute.column.name, constant=labels[0])
    return ReleaseColumn(
        attribute.column.name,
        open_type=attribute.column.open_type,
        mapping=mapping,
        code=code,
        label=label if level else None,
        null=null_of(hierarchy, level),
        unmapped=unmapped(attribute.column, level),
        starred=hierarchy.codes(level)[-1] if hierarchy.starred and not level else None,
        key=attribute.coded.code_column(level),
    )


def unmapped(column: Column, level: int) -> str | None:
    """The label of a value without one: on level 0 a column keeps its type, and only text can show a star."""
    return STAR if level or column.kind == "text" else None


def null_of(hierarchy: Hierarchy, level: int) -> tuple[int, str | None] | None:
    """The code and the label of NULL on a level; None if the hierarchy has no NULL."""
    if None not in hierarchy.values:
        return None
    index = hierarchy.values.index(None)
    return hierarchy.codes(level)[index], hierarchy.labels(level)[index]
