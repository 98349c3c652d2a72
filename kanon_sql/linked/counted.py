"""The coded rows of the tables: a row per source row, with its person, its parent, and a code per level and column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError
from kanon_sql.frequency.fitting import HierarchySource, hierarchy_source
from kanon_sql.frequency.frequency_set import Attribute, build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.linked.copies import TableCopy
from kanon_sql.loss import Costs
from kanon_sql.privacy import all_of, k_anonymity
from kanon_sql.queries import Relation
from kanon_sql.spec import LinkedSpec

_LINKS = ("row_id", "unit_id", "parent_id")


@dataclass(frozen=True)
class CodedTable:
    """The coded rows of a table in the engine of the search, with its attributes and the losses of their levels."""

    copy: TableCopy
    tables: Scratch
    relation: Relation
    attributes: tuple[Attribute, ...] = ()
    sources: Mapping[str, HierarchySource] = field(default_factory=dict)
    costs: Costs | None = None

    @property
    def relation_engine(self) -> Engine:
        """The engine of the coded rows."""
        return self.tables.engine

    @property
    def height(self) -> tuple[int, ...]:
        """The top levels of its attributes."""
        return tuple(attribute.hierarchy.height for attribute in self.attributes)


def coded(engine: Engine, here: Scratch, copy: TableCopy, spec: LinkedSpec) -> CodedTable:
    """Code a table's rows in the engine of a scratch; HierarchyError if a value is in no hierarchy."""
    columns = {name: copy.columns[name] for name in copy.quasi_identifiers}
    if not columns:
        scan = queries.linked_rows(copy.relation, {}, engine.dialect)
        return CodedTable(copy, here, here.receive(f"rows_{copy.link.number}", engine, scan))
    sources = {
        column.name: hierarchy_source(copy.spec.quasi_identifiers[column.name], column, copy.spec, engine)
        for column in copy.source.columns
        if column.name in columns
    }
    builders = {name: source.builder for name, source in sources.items()}
    tables = Scratch(here.engine, f"linked_{copy.link.number}")
    found = build_frequency_set(engine, copy.source, builders, tables, unmapped="error")
    costs = Judge(found, all_of(k_anonymity(spec.privacy.k))).costs() if copy.rows else None
    stems = {attribute.coded.stem: columns[attribute.column.name] for attribute in found.attributes}
    scan = queries.linked_rows(copy.relation, stems, engine.dialect)
    raw = here.receive(f"raw_{copy.link.number}", engine, scan)
    text = queries.frequency_set(raw, [a.coded for a in found.attributes], here.engine.dialect, _LINKS)
    relation = here.create_as(f"rows_{copy.link.number}", text)
    if here.count(relation) != copy.rows:
        raise SourceError(
            f"{copy.link.name}: {here.count(relation):,} of {copy.rows:,} rows could be coded; nothing was released, "
            "please report it"
        )
    here.drop(raw)
    return CodedTable(copy, here, relation, found.attributes, sources, costs)
