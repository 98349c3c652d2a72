"""The cells of a release: what a query shows of each column."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kanon_sql import queries
from kanon_sql.engine import Column
from kanon_sql.frequency.frequency_set import Attribute
from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.queries import (
    Cell,
    LocalCell,
    Relation,
    StandaloneCell,
)
from kanon_sql.recode.show import shown_names

Mapped = Callable[[Attribute], Relation]


def no_mapping(attribute: Attribute) -> Relation:
    """The mapping table of an attribute where the names of the columns are all that matters."""
    return attribute.coded.mapping


def local_cell(j: int, attribute: Attribute, how: str, mapping: Mapped) -> LocalCell:
    """What a release by a local recoding shows of its j-th attribute; `how`: see `recode.show`."""
    name = attribute.column.name
    names = shown_names(name, how)
    columns = (f"label_{j}", f"high_{j}")[: len(names)]
    null = null_of(attribute.hierarchy, 0)
    shown = tuple(zip(names, columns, strict=True))
    code, opened = attribute.coded.code_column(0), attribute.column.open_type if how == "mode" else None
    return LocalCell(name, "other", mapping(attribute), code, null[0] if null else None, shown, opened)


def cell_of(attribute: Attribute, level: int, mapping: Relation, code: str, label: str) -> Cell:
    """What a release shows of an attribute on a level; `code` and `label` are columns of its mapping table."""
    name, hierarchy = attribute.column.name, attribute.hierarchy
    if level == hierarchy.height:
        return Cell(name, constant=hierarchy.distinct_labels(level)[0])
    # On level 0 the column keeps its type, and only text can show a star; NULL stands for it elsewhere.
    star = STAR if level or attribute.column.kind == "text" else None
    return Cell(
        name,
        mapping=mapping,
        code=code,
        label=label if level else None,
        null=null_of(hierarchy, level),
        unmapped=star,
        starred=hierarchy.codes(level)[-1] if hierarchy.starred and not level else None,
        class_column=attribute.coded.code_column(level),
        mask=star,
        open_type=attribute.column.open_type,
    )


def kept_cell(column: Column, plain: bool) -> StandaloneCell:
    """A column that a statement releases as it is; `plain`: whether equal values look the same."""
    sortable = column.kind != "other"
    return StandaloneCell(column.name, column.kind, sortable=sortable, plain=plain, open_type=column.open_type)


def null_of(hierarchy: Hierarchy, level: int) -> tuple[int, str | None] | None:
    """The code and the label of NULL on a level; None if the hierarchy has no NULL."""
    if None not in hierarchy.values:
        return None
    index = hierarchy.values.index(None)
    return hierarchy.codes(level)[index], hierarchy.labels(level)[index]


def typed(rows: Sequence[tuple[object, ...]], columns: Sequence[Column]) -> list[tuple[object, ...]]:
    """Rows to be written out, each value with the type that it needs."""
    return [tuple(queries.of_type(v, c.type) for v, c in zip(row, columns, strict=True)) for row in rows]
