"""The recoding of a lattice node: every value of a column is generalized to the same level."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Column, Engine
from kanon_sql.frequency import population
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet
from kanon_sql.generalization.label_rules import Age, Calendar, Edges, Itself, Prefix, Range, Redaction, Rule, largest
from kanon_sql.generalization.lattice import Node
from kanon_sql.privacy import POPULATION_UNIT, Predicate
from kanon_sql.queries import (
    FullDomainQuery,
    PrintedStatement,
    Relation,
    StandaloneQuery,
    StatementColumn,
    WrittenTable,
)
from kanon_sql.recode.node import from_node
from kanon_sql.release.cells import Mapped, kept_column, level_column, null_of, unmapped
from kanon_sql.release.pieces import companion
from kanon_sql.release.recoding import Recoding
from kanon_sql.spec import DatesRecipe

_FEW_BITS = ("TINYINT", "SMALLINT", "INTEGER", "UTINYINT", "USMALLINT", "UINTEGER")
_UNSIGNED = ("UBIGINT", "UHUGEINT")  # of more bits than a BIGINT


@dataclass(frozen=True, kw_only=True)
class FullDomain(Recoding):
    """A lattice node to be released: every value of a column is generalized to the same level.

    `rules`: by column, the rule for a level, if its recipe has one without a list of values. `time_zone`: of the
    source's timestamps with time zone.
    """

    node: Node
    rules: Mapping[str, Callable[[int], Rule | None]] = field(default_factory=dict)
    time_zone: str | None = None

    @cached_property
    def masks(self) -> bool:
        """Masked rows are a class of their own, shown only if they meet the model."""
        return self.spec.mask and self.judge.may_mask(self.node, self.rows_at_risk)

    @property
    def columns(self) -> list[str]:
        return [column.name for column in self._shown]

    @property
    def quasi_identifiers(self) -> list[str]:
        return [attribute.column.name for attribute in self.attributes]

    def shown_population(self) -> tuple[Engine, str] | None:
        """The population's own values with the labels of the node."""
        frequency_set = self.judge.frequency_set
        if frequency_set.population is None:
            return None
        tuples = frequency_set.tables[population.COUNTED]
        return frequency_set.engine, shown_population(frequency_set, self.node, tuples)

    @property
    def mapped(self) -> list[tuple[Attribute, int]]:
        """The attributes below their top, with their levels: the others become one constant."""
        return [(a, level) for a, level in self._levels if level < a.hierarchy.height]

    @property
    def _select(self) -> FullDomainQuery:
        return self._query(lambda a: a.coded.mapping, "code_{}", "label_{}", classes=self.safe_classes)

    def companions(self) -> dict[str, str]:
        """The mapping tables that a view needs, with their queries."""
        return {a.coded.stem: self.view_mapping_sql(a, level) for a, level in self.mapped}

    def view_sql(self, view: Relation) -> str:
        query = self._query(lambda attribute: companion(view, attribute.coded.stem), "code", "label")
        return query.sql(self.engine.dialect)

    def standalone(
        self,
        source: Relation | None = None,
        dialect: str | None = None,
        lasting: bool = False,
        limited: bool = True,
        most_listed: float | None = None,
    ) -> PrintedStatement:
        """The statement, see `Recoding`.

        `most_listed`: the rows of the largest mapping table that is part of the query, if not the usual number.
        """
        dialect = dialect or self.engine.dialect
        cells = {a.column.name: self._standalone_cell(a, level, dialect) for a, level in self._levels}
        self._check_population(source)
        query = StandaloneQuery(
            source=source or self.engine.lasting(self.table.relation),
            columns=tuple(
                cells.get(column.name) or kept_column(column, self._is_plain(column)) for column in self._shown
            ),
            safe=self.model.safe,
            sensitive=self.model.sensitive,
            shuffle_seed=self.spec.seed if self.spec.shuffle else None,
            read_files=self.read_files if source is None else None,
            limit=self.spec.suppression_limit if limited else None,
            **self._population,
        )
        return query.statement(dialect, lasting, most_listed)

    @property
    def types(self) -> dict[str, str]:
        """The engine's types of the released columns: labels are text. Empty for columns that were not counted."""
        labelled = {a.column.name for a, level in self._levels if level or level == a.hierarchy.height}
        return {c.name: "TEXT" if c.name in labelled else c.open_type or c.type for c in self._shown}

    def _standalone_cell(self, attribute: Attribute, level: int, dialect: str) -> StatementColumn:
        """A column of a standalone statement: by the recipe's rule if it returns the same labels, or by a mapping."""
        column, hierarchy = self._column(attribute), attribute.hierarchy
        cell = StatementColumn(column.name, column.kind, open_type=column.open_type)
        if level == hierarchy.height:
            return replace(cell, constant=hierarchy.distinct_labels(level)[0])
        rule = self._printed_rule(column.name, level, dialect)
        zone = self.time_zone if queries.converts_time_zones(dialect) and isinstance(rule, (Calendar, Age)) else None
        if rule is not None and says_the_same(rule, column, hierarchy.values, self._is_plain(column), zone):
            return replace(cell, rule=rule, exact=exact_of(column), zone=zone if column.zoned else None)
        return replace(
            cell,
            null=null_of(hierarchy, level),
            unmapped=unmapped(column, level),
            starred=hierarchy.codes(level)[-1] if hierarchy.starred and not level else None,
            written=self._written_mapping(attribute, level),
        )

    def _printed_rule(self, name: str, level: int, dialect: str) -> Rule | None:
        """The rule of a column's level in a statement, if its recipe has one that the dialect can express."""
        rule = self.rules[name](level) if name in self.rules else None
        recipe = self.spec.quasi_identifiers[name].hierarchy
        is_week = isinstance(recipe, DatesRecipe) and level and recipe.dates[level - 1] == "week"
        return Calendar("week") if rule is None and is_week and queries.has_iso_weeks(dialect) else rule

    def _written_mapping(self, attribute: Attribute, level: int) -> WrittenTable:
        """The labels of one level by value, or on level 0 the values that have one; without NULL."""
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
        """The query of the part of a mapping table that a view needs."""
        columns = {"code": f"code_{level}"} | ({"label": f"label_{level}"} if level else {})
        return queries.text(
            "mappings/view_mapping", self.engine.dialect, mapping=attribute.coded.mapping, columns=columns
        )

    @property
    def safe_classes(self) -> Relation:
        """The safe classes, by their codes, once the release is prepared."""
        return self.tables["safe_classes"]

    def prepare(self) -> None:
        """Load the mapping tables and the safe classes into the engine of the source."""
        if self.merged:
            return
        self._load_mappings(attribute for attribute, _ in self.mapped)
        query = self.judge.of_classes(self.node).released_classes_sql(self.node)
        search_in = self.judge.frequency_set.engine
        self.tables.receive(self.safe_classes, search_in, query, "node_tests/released_classes")

    def left_out_sql(self) -> str:
        engine = self.judge.frequency_set.engine
        query = queries.select_all(self.assigned(), engine.dialect)
        return self._left_out_sql(self.tables.receive("held", engine, query))

    def assigned(self) -> Relation:
        """The classes of the released tuples."""
        return from_node(self.judge.frequency_set, self.judge.model, self.node).assignment

    def levels_shown(self, j: int) -> range:
        """The node's level of an attribute, if above 0."""
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
        if classes is None:
            for a, level in self.mapped:
                codes = max(a.hierarchy.codes(level)) + 1
                recoded[a.column.name] = replace(recoded[a.column.name], codes=codes)
        columns = tuple(
            recoded.get(column.name) or kept_column(column, self._is_plain(column)) for column in self._shown
        )
        return FullDomainQuery(
            source=self.table.relation if classes else self.engine.lasting(self.table.relation),
            columns=columns,
            safe=self.model.safe,
            sensitive=self.model.sensitive,
            shuffle_seed=self.spec.seed if self.spec.shuffle else None,
            classes=classes,
            mask=self.masks and classes is not None,
            least_people=None if classes else self._least_people,
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


# Rules that assign the labels of a hierarchy to every possible value of a column


def exact_of(column: Column) -> int | None:
    """The limit up to which a range can be computed for a column's numbers, if any."""
    if column.kind == "integer" and column.type.upper() in _FEW_BITS:
        return None
    return queries.EXACT_SINGLE if column.type.upper() in ("FLOAT", "REAL") else queries.EXACT


def says_the_same(rule: Rule, column: Column, values: Sequence[Any], plain: bool, zone: str | None = None) -> bool:
    """Whether a rule assigns the hierarchy's labels to all of its values; `plain`: see `engines.looks`.

    `zone`: the time zone in which the statement shows timestamps with time zone, whose day depends on the session's.

    It then also assigns the recipe's labels to values that are added later.
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
            return column.kind == "date" or (column.kind == "timestamp" and (not column.zoned or zone is not None))
