"""A recoding: what each quasi-identifier of a row becomes, as the query that the release is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kanon_sql import queries
from kanon_sql.engine import Engine, Table
from kanon_sql.frequency import Attribute, load_mapping
from kanon_sql.hierarchy import STAR, Hierarchy
from kanon_sql.judge import Judge
from kanon_sql.lattice import Node
from kanon_sql.queries import Cell, Relation, ReleaseQuery
from kanon_sql.spec import Spec

HELD = queries.scratch("kanon_classes_held")
_Mapping = Callable[[Attribute], Relation]


@dataclass(frozen=True)
class FullDomain:
    """A lattice node to be released: every value of a column goes to the same level."""

    engine: Engine
    table: Table
    judge: Judge
    node: Node
    rows_at_risk: int
    spec: Spec

    @property
    def masks(self) -> bool:
        """Masked rows are a class like any other: shown only if they meet the model themselves."""
        return self.spec.mask and self.rows_at_risk >= self.spec.privacy.k

    @property
    def rows(self) -> int:
        """How many rows the release must have."""
        return self.judge.frequency_set.rows - (0 if self.masks else self.rows_at_risk)

    @property
    def mapped(self) -> list[tuple[Attribute, int]]:
        """The attributes below their top, with their levels: the others become one constant."""
        return [(a, level) for a, level in self._levels if level < a.hierarchy.height]

    def select_sql(self) -> str:
        """The query over the mapping tables and the classes that hold: one pass over the source."""
        return self._query(lambda a: a.coded.mapping, "code_{}", "label_{}", classes=HELD)

    def view_sql(self, mapping: _Mapping) -> str:
        """The query of a view: it counts its classes itself, on the rows that it returns."""
        return self._query(mapping, "code", "label")

    def standalone_sql(self) -> str:
        """The query of a view with its mapping tables written out, to be run by itself."""
        values = {f"kanon_{a.coded.stem}": _mapping_rows(a, level) for a, level in self.mapped}
        return self._query(lambda a: Relation(f"kanon_{a.coded.stem}"), "code", "label", values=values)

    def view_mapping_sql(self, attribute: Attribute, level: int) -> str:
        """The query of what a view needs of a mapping table."""
        columns = {"code": f"code_{level}"} | ({"label": f"label_{level}"} if level else {})
        return queries.text("view_mapping", self.engine.dialect, mapping=attribute.coded.mapping, columns=columns)

    def prepare(self) -> None:
        """Have the mapping tables and the classes that hold in the engine of the source."""
        search_in = self.judge.frequency_set.engine
        if search_in is not self.engine:
            for attribute, _ in self.mapped:
                load_mapping(self.engine, attribute, self._type_of(attribute))
        search_in.send(self.judge.released_classes_sql(self.node), self.engine, HELD)

    @property
    def _levels(self) -> list[tuple[Attribute, int]]:
        return list(zip(self.judge.frequency_set.attributes, self.node, strict=True))

    def _type_of(self, attribute: Attribute) -> str:
        return next(c.type for c in self.table.columns if c.name == attribute.column.name)

    def _query(
        self,
        mapping: _Mapping,
        code: str,
        label: str,
        classes: Relation | None = None,
        values: dict[str, list[tuple[object, ...]]] | None = None,
    ) -> str:
        recoded = {
            a.column.name: _cell(a, level, mapping(a), code.format(level), label.format(level))
            for a, level in self._levels
        }
        cells = tuple(
            recoded.get(column.name) or Cell(column.name, sortable=column.kind != "other")
            for column in self.table.columns
            if column.name not in self.spec.identifiers
        )
        shuffle = self.spec.seed if self.spec.shuffle else None
        safe = self.judge.model.safe
        mask = self.masks and classes is not None
        source = self.table.relation if classes else self.engine.lasting(self.table.relation)
        query = ReleaseQuery(source, cells, safe, classes, mask, shuffle, values)
        return query.sql(self.engine.dialect)


def _cell(attribute: Attribute, level: int, mapping: Relation, code: str, label: str) -> Cell:
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
        null=_null(hierarchy, level),
        unmapped=star,
        starred=hierarchy.codes(level)[-1] if hierarchy.starred and not level else None,
        class_column=attribute.coded.code_column(level),
        mask=star,
    )


def _null(hierarchy: Hierarchy, level: int) -> tuple[int, str | None] | None:
    if None not in hierarchy.values:
        return None
    index = hierarchy.values.index(None)
    return hierarchy.codes(level)[index], hierarchy.labels(level)[index]


def _mapping_rows(attribute: Attribute, level: int) -> list[tuple[object, ...]]:
    """The mapping of one level as rows of value, code and, above level 0, label."""
    found = attribute.hierarchy
    labels = [found.labels(level)] if level else []
    rows = zip((*found.values, *found.starred), found.codes(level), *labels, strict=True)
    return [row for row in rows if row[0] is not None]
