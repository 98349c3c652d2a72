"""The recoding that a lattice node is: every value of a column goes to the same level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column, Engine
from kanon_sql.frequency import population
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet
from kanon_sql.generalization.lattice import Node
from kanon_sql.generalization.rules import Age, Calendar, Edges, Itself, Prefix, Range, Redaction, Rule, largest
from kanon_sql.privacy import POPULATION_UNIT, Predicate
from kanon_sql.queries import (
    FullDomainQuery,
    Relation,
    StandaloneQuery,
    Statement,
    StatementColumn,
    WrittenTable,
)
from kanon_sql.recode.node import from_node
from kanon_sql.release.cells import Mapped, kept_column, level_column, null_of, unmapped
from kanon_sql.release.pieces import companion
from kanon_sql.release.recoding import Judged
from kanon_sql.spec import Spec

_FEW_BITS = ("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER")
_UNSIGNED = ("UBIGINT", "UHUGEINT")  # of more bits than a BIGINT


@dataclass(frozen=True)
class FullDomain(Judged):
    """A lattice node to be released: every value of a column goes to the same level.

    `rules`: what a level makes of a value, by column, where its recipe says it without a list of values. `read_files`:
    the query of the files that the source is, if it is no table.
    """

    node: Node
    rows_at_risk: int
    spec: Spec
    rules: Mapping[str, Callable[[int], Rule | None]] = field(default_factory=dict)
    read_files: str | None = None

    @cached_property
    def masks(self) -> bool:
        """Masked rows are a class like any other: shown only if they meet the model themselves."""
        return self.spec.mask and self.judge.may_mask(self.node, self.rows_at_risk)

    @property
    def rows(self) -> int:
        """How many rows the release must have."""
        return self.judge.frequency_set.rows - (0 if self.masks else self.rows_at_risk)

    @property
    def columns(self) -> list[str]:
        """The released columns in order."""
        return [column.name for column in self.table.columns if column.name not in self.spec.dropped]

    @property
    def quasi_identifiers(self) -> list[str]:
        """The released columns that make the classes."""
        return [attribute.column.name for attribute in self.attributes]

    def other_finding(self, engine: Engine, release: Relation) -> None:
        """Equal rows are what counts."""

    def with_people(self) -> FullDomain:
        """The same release with the columns that are counted and not released."""
        return replace(self, spec=self.spec.showing_all())

    def shown_population(self) -> tuple[Engine, str] | None:
        """The population's own values with the labels of the node, whatever the search made of them."""
        frequency_set = self.judge.frequency_set
        if frequency_set.population is None:
            return None
        tuples = frequency_set.tables[population.COUNTED]
        return frequency_set.engine, shown_population(frequency_set, self.node, tuples)

    @property
    def mapped(self) -> list[tuple[Attribute, int]]:
        """The attributes below their top, with their levels: the others become one constant."""
        return [(a, level) for a, level in self._levels if level < a.hierarchy.height]

    def select_sql(self) -> str:
        """The query over the mapping tables and the classes that hold: one pass over the source."""
        return self._select.sql(self.engine.dialect)

    def release_sql(self) -> str:
        """The same, in the way that suits its size."""
        return self._large_sql(lambda: self._select.counted("duckdb"), self.spec) or self.select_sql()

    @property
    def _select(self) -> FullDomainQuery:
        return self._query(lambda a: a.coded.mapping, "code_{}", "label_{}", classes=self.safe_classes)

    def companions(self) -> dict[str, str]:
        """The mapping tables that a view needs, each with the query that fills it."""
        return {a.coded.stem: self.view_mapping_sql(a, level) for a, level in self.mapped}

    def view_sql(self, view: Relation) -> str:
        """The query of a view: it counts its classes itself, on the rows that it returns."""
        return self._query(lambda attribute: companion(view, attribute.coded.stem), "code", "label").sql(
            self.engine.dialect
        )

    def standalone(
        self,
        source: Relation | None = None,
        dialect: str | None = None,
        lasting: bool = False,
        limited: bool = True,
    ) -> Statement:
        """The release as a statement that needs nothing but its source, in a dialect: that of the engine, or another.

        `source`: what it reads, where that is not the source of the search. `lasting`: whether tables beside it may
        last. It counts its classes itself, on the rows that it returns, and fails where it would leave out more of them
        than the suppression limit allows, if it is `limited`. SpecError if the dialect cannot express it.
        """
        cells = {a.column.name: self._standalone_cell(a, level) for a, level in self._levels}
        kept = (column for column in self.table.columns if column.name not in self.spec.dropped)
        self._check_population(source)
        query = StandaloneQuery(
            source=source or self.engine.lasting(self.table.relation),
            columns=tuple(cells.get(column.name) or kept_column(column, self._is_plain(column)) for column in kept),
            safe=self.model.safe,
            sensitive=self.model.sensitive,
            shuffle_seed=self.spec.seed if self.spec.shuffle else None,
            read_files=self.read_files if source is None else None,
            limit=self.spec.suppression_limit if limited else None,
            **self._population,
        )
        return query.statement(dialect or self.engine.dialect, lasting)

    def _standalone_cell(self, attribute: Attribute, level: int) -> StatementColumn:
        """What a statement by itself makes of a column: by the recipe's rule if it says the same, else by a mapping."""
        column, hierarchy = self._column(attribute), attribute.hierarchy
        cell = StatementColumn(column.name, column.kind, open_type=column.open_type)
        if level == hierarchy.height:
            return replace(cell, constant=hierarchy.distinct_labels(level)[0])
        rule = self.rules[column.name](level) if column.name in self.rules else None
        if rule is not None and says_the_same(rule, column, hierarchy.values, self._is_plain(column)):
            return replace(cell, rule=rule, exact=exact_of(column))
        return replace(
            cell,
            null=null_of(hierarchy, level),
            unmapped=unmapped(column, level),
            starred=hierarchy.codes(level)[-1] if hierarchy.starred and not level else None,
            written=self._written_mapping(attribute, level),
        )

    def _written_mapping(self, attribute: Attribute, level: int) -> WrittenTable:
        """The labels of one level by value, or on level 0 the values that have one; none for NULL."""
        column, hierarchy = self._column(attribute), attribute.hierarchy
        values = (*hierarchy.values, *(hierarchy.starred if level else ()))
        labels = [hierarchy.labels(level)] if level else []
        rows = [
            (self._written(value, column), *label)
            for value, *label in zip(values, *labels, strict=False)
            if value is not None
        ]
        types = (column.type, "TEXT")[: 1 + len(labels)]
        names = ("value", "label")[: len(types)]
        return queries.written_table(f"kanon_{attribute.coded.stem}", names, types, rows, self.engine.dialect)

    def view_mapping_sql(self, attribute: Attribute, level: int) -> str:
        """The query of what a view needs of a mapping table."""
        columns = {"code": f"code_{level}"} | ({"label": f"label_{level}"} if level else {})
        return queries.text(
            "mappings/view_mapping", self.engine.dialect, mapping=attribute.coded.mapping, columns=columns
        )

    @property
    def safe_classes(self) -> Relation:
        """The classes that hold, by their codes, once that is prepared."""
        return self.tables["safe_classes"]

    def prepare(self) -> None:
        """Have the mapping tables and the classes that hold in the engine of the source."""
        search_in = self.judge.frequency_set.engine
        if search_in is not self.engine:
            for attribute, _ in self.mapped:
                self._load_mapping(attribute)
        query = self.judge.released_classes_sql(self.node)
        self.tables.receive(self.safe_classes, search_in, query, "node_tests/released_classes")

    def left_out_sql(self) -> str:
        """The query of the source's rows that are suppressed, once the release is prepared."""
        engine = self.judge.frequency_set.engine
        query = queries.select_all(self.assigned(), engine.dialect)
        return self._left_out_sql(self.tables.receive("held", engine, query))

    def assigned(self) -> Relation:
        """The classes of the tuples that are released."""
        return from_node(self.judge.frequency_set, self.judge.model, self.node).assignment

    def levels_shown(self, j: int) -> range:
        """The node's level of an attribute."""
        return range(max(1, self.node[j]), self.node[j] + 1)

    def labels_shown(self, j: int, released: Set[int]) -> Set[str | None]:
        """The labels of the released values."""
        hierarchy = self.attributes[j].hierarchy
        pairs = zip(hierarchy.codes(0), hierarchy.labels(self.node[j]), strict=True)
        return {label for code, label in pairs if code in released}

    @property
    def _levels(self) -> list[tuple[Attribute, int]]:
        return list(zip(self.judge.frequency_set.attributes, self.node, strict=True))

    def _query(
        self,
        mapping: Mapped,
        code: str,
        label: str,
        classes: Relation | None = None,
    ) -> FullDomainQuery:
        recoded = {
            a.column.name: level_column(a, level, mapping(a), code.format(level), label.format(level))
            for a, level in self._levels
        }
        columns = tuple(
            recoded.get(column.name) or kept_column(column, self._is_plain(column))
            for column in self.table.columns
            if column.name not in self.spec.dropped
        )
        return FullDomainQuery(
            source=self.table.relation if classes else self.engine.lasting(self.table.relation),
            columns=columns,
            safe=self.model.safe,
            sensitive=self.model.sensitive,
            shuffle_seed=self.spec.seed if self.spec.shuffle else None,
            classes=classes,
            mask=self.masks and classes is not None,
            **({} if classes else self._population),
        )


def shown_population(frequency_set: FrequencySet, node: Node, tuples: Relation) -> str:
    """The query of a population's counted tuples with the labels of a node, by the columns' own names."""
    cells = {
        a.column.name: replace(
            level_column(a, level, a.coded.mapping, f"code_{level}", f"label_{level}"), name=a.coded.stem
        )
        for a, level in zip(frequency_set.attributes, node, strict=True)
    }
    unit = POPULATION_UNIT if frequency_set.population_unit else None
    rows, counted = Predicate("SUM(n)", unit=unit), ["n", *([unit] if unit else [])]
    return queries.shown_population(tuples, cells, counted, rows, frequency_set.engine.dialect)


# Rules that give every value that a column can hold the label of its hierarchy


def exact_of(column: Column) -> int | None:
    """How far from 0 a number of a column may be for its range to be worked out; None where any may."""
    if column.kind == "integer" and column.type.upper() in _FEW_BITS:
        return None
    return queries.EXACT_SINGLE if column.type.upper() in ("FLOAT", "REAL") else queries.EXACT


def says_the_same(rule: Rule, column: Column, values: Sequence[Any], plain: bool) -> bool:
    """Whether a rule gives every one of a hierarchy's values its label; `plain`: see `engines.looks`.

    It then gives values that come later the label that the recipe would give them.
    """
    has_text = column.kind == "text" and plain
    is_whole = column.kind == "integer" or (column.kind == "decimal" and column.type.endswith(",0)"))
    match rule:
        case Itself():
            return plain or column.kind == "float"
        case Range() | Edges():
            exact = exact_of(column)
            numeric = column.kind in ("integer", "decimal", "float") and column.type.upper() not in _UNSIGNED
            return numeric and (exact is None or largest(values) < exact)
        case Redaction() | Prefix():
            return has_text or is_whole
        case Calendar() | Age():
            # What day a moment is depends on the zone of whoever asks.
            return column.kind == "date" or (column.kind == "timestamp" and "WITH TIME ZONE" not in column.type.upper())
