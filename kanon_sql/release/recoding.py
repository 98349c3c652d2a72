"""A recoding: what each quasi-identifier of a row becomes, as the query that the release is made of.

A full-domain recoding is a lattice node; a local one assigns every tuple to a class, and a class shows what it
shows. Both say the same few things to whoever writes and checks the release.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.frequency import mapping, population
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet
from kanon_sql.frequency.judge import Judge
from kanon_sql.frequency.mapping import Place
from kanon_sql.generalization.hierarchy import STAR, Hierarchy
from kanon_sql.generalization.lattice import Node
from kanon_sql.generalization.rules import Rule
from kanon_sql.generalization.values import as_text
from kanon_sql.privacy import POPULATION_UNIT, Finding, Predicate, PrivacyModel, PrivacyModels
from kanon_sql.queries import (
    Cell,
    Hole,
    LocalCell,
    LocalReleaseQuery,
    Relation,
    ReleaseQuery,
    StandaloneCell,
    StandaloneQuery,
    Statement,
    WrittenTable,
)
from kanon_sql.recode import wildcard
from kanon_sql.recode.node import from_node
from kanon_sql.recode.order import Order
from kanon_sql.recode.show import LocalFigures, shown_names
from kanon_sql.recode.task import Local
from kanon_sql.release.pieces import companion
from kanon_sql.release.rules import exact_of, looks_plain, says_the_same
from kanon_sql.spec import Spec

_Mapping = Callable[[Attribute], Relation]
_MOST_WRITTEN_OUT = 5_000  # tuples in a statement that stands alone: it takes seconds to lay out, and nobody reads more


class Recoding(Protocol):
    """What the release needs to know of a recoding.

    `columns`: the released columns in order; `quasi_identifiers`: those that make the classes.
    `companions`: the tables that a view needs, by what their names have behind its own, each with its query.
    `other_finding`: of what a written release is held to where that is not its equal rows. `shown_population`: the
    query of the population as the release shows it, and where it is to be asked; None without a population.
    """

    @property
    def engine(self) -> Engine: ...
    @property
    def tables(self) -> Scratch: ...
    @property
    def table(self) -> Table: ...
    @property
    def spec(self) -> Spec: ...
    @property
    def attributes(self) -> tuple[Attribute, ...]: ...
    @property
    def model(self) -> PrivacyModels: ...
    @property
    def redrawn(self) -> tuple[PrivacyModel, ...]: ...
    @property
    def rows(self) -> int: ...
    @property
    def masks(self) -> bool: ...
    @property
    def rows_at_risk(self) -> int: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def quasi_identifiers(self) -> list[str]: ...

    def other_finding(self, engine: Engine, release: Relation) -> Finding | None: ...
    def with_people(self) -> Recoding: ...
    def shown_population(self) -> tuple[Engine, str] | None: ...
    def prepare(self) -> None: ...
    def select_sql(self) -> str: ...
    def standalone(self, source: Relation | None = None, dialect: str | None = None) -> Statement: ...
    def companions(self) -> dict[str, str]: ...
    def view_sql(self, view: Relation) -> str: ...
    def left_out_sql(self) -> str: ...


def unmodelled(recoding: Recoding) -> list[str]:
    """The sensitive columns, released as they are, that no privacy model is about."""
    spec, counted = recoding.spec, recoding.model.sensitive.values()
    asked = {*spec.sensitive} - {*counted, *spec.perturb}
    return (
        []
        if spec.wildcard_suppression
        else [c.name for c in recoding.table.columns if c.name in asked and c.kind != "other"]
    )


def companion_stems(columns: Sequence[str], local: bool) -> list[str]:
    """The stems of all tables that a view of these quasi-identifiers may need, known before any work."""
    mappings = list(queries.plain_names(columns).values())
    return [*mappings, *_STEMS] if local else mappings


_STEMS = ("assignment", "classes")  # of what a view of a local recoding needs of those two


@dataclass(frozen=True)
class _Judged:
    """What recodings share: the source, and the judge of its frequency set.

    `tables`: what the release is made of, in the engine of the source.
    """

    tables: Scratch
    table: Table
    judge: Judge

    @property
    def engine(self) -> Engine:
        """The engine of the source."""
        return self.tables.engine

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers."""
        return self.judge.frequency_set.attributes

    @property
    def model(self) -> PrivacyModels:
        """What every class must meet."""
        return self.judge.model.after_redrawing

    @property
    def redrawn(self) -> tuple[PrivacyModel, ...]:
        """What classes meet only after their sensitive values have been redrawn."""
        return self.judge.model.redrawn

    def _column(self, attribute: Attribute) -> Column:
        return next(column for column in self.table.columns if column.name == attribute.column.name)

    def _load_mapping(self, attribute: Attribute) -> None:
        """Have the mapping table where the source is, in the type of the source's column."""
        place = Place(self.engine, self.table.relation, self._column(attribute))
        mapping.load(self.tables, place, attribute.coded, attribute.hierarchy)

    def _left_out_sql(self, held: Relation) -> str:
        """The query of the source's rows, with all its columns, of tuples without a class; `held`: those with one."""
        for attribute in self.attributes:
            if self.judge.frequency_set.engine is not self.engine:
                self._load_mapping(attribute)
        cells = tuple(_local_cell(j, a, "labels", lambda a: a.coded.mapping) for j, a in enumerate(self.attributes))
        query = LocalReleaseQuery(self.table.relation, cells, held, held, self.model.safe)
        columns = [column.name for column in self.engine.table(self.table.relation).columns]
        return query.left_out_sql(columns, self.engine.dialect)

    def _written(self, value: Any, column: Column) -> object:
        padded = column.type.startswith("character(")  # whose blanks are no part of a text
        if column.kind in ("integer", "decimal", "boolean", "text") and not padded:
            return value
        return queries.typed(as_text(value), column.type, self.engine.dialect)


@dataclass(frozen=True)
class FullDomain(_Judged):
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
        """The same release with the column that tells people apart."""
        return replace(self, spec=_with_people(self.spec))

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
        return self._query(lambda a: a.coded.mapping, "code_{}", "label_{}", classes=self.safe_classes)

    def companions(self) -> dict[str, str]:
        """The mapping tables that a view needs, each with the query that fills it."""
        return {a.coded.stem: self.view_mapping_sql(a, level) for a, level in self.mapped}

    def view_sql(self, view: Relation) -> str:
        """The query of a view: it counts its classes itself, on the rows that it returns."""
        return self._query(lambda attribute: companion(view, attribute.coded.stem), "code", "label")

    def standalone(self, source: Relation | None = None, dialect: str | None = None) -> Statement:
        """The release as a statement that needs nothing but its source, in a dialect: that of the engine, or another.

        `source`: what it reads, where that is not the source of the search. It counts its classes itself, on the rows
        that it returns. SpecError if the dialect cannot express it.
        """
        cells = {a.column.name: self._standalone_cell(a, level) for a, level in self._levels}
        kept = (column for column in self.table.columns if column.name not in self.spec.dropped)
        population = self.judge.frequency_set.sampled_from
        if population and source:
            raise SpecError(
                "the statement would count a population, which another system has under another name; print it for "
                f"{self.engine.name} alone, or leave out the models beside a population"
            )
        query = StandaloneQuery(
            source or self.engine.lasting(self.table.relation),
            tuple(cells.get(column.name) or _kept_cell(column, self._is_plain(column)) for column in kept),
            self.model.safe,
            self.spec.seed if self.spec.shuffle else None,
            self.read_files if source is None else None,
            self.model.sensitive,
            self.engine.lasting(population.table.relation) if population else None,
            population.unit if population else None,
        )
        return query.statement(dialect or self.engine.dialect)

    def _standalone_cell(self, attribute: Attribute, level: int) -> StandaloneCell:
        """What a statement by itself makes of a column: by the recipe's rule if it says the same, else by a mapping."""
        column, hierarchy = self._column(attribute), attribute.hierarchy
        cell = StandaloneCell(column.name, column.kind, recoded=True, open_type=column.open_type)
        if level == hierarchy.height:
            return replace(cell, constant=hierarchy.distinct_labels(level)[0])
        rule = self.rules[column.name](level) if column.name in self.rules else None
        if rule is not None and says_the_same(rule, column, hierarchy.values, self._is_plain(column)):
            return replace(cell, rule=rule, exact=exact_of(column))
        nulls = _null(hierarchy, level)
        unmapped = STAR if level or column.kind == "text" else None
        return replace(
            cell,
            mapping=self._written_mapping(attribute, level),
            null=nulls[1] if nulls else unmapped,
            unmapped=unmapped,
            apart=bool(hierarchy.starred and nulls and unmapped is None),
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

    def _is_plain(self, column: Column) -> bool:
        """Whether equal values of a column look the same."""
        return looks_plain(self.engine, self.table, column)

    def view_mapping_sql(self, attribute: Attribute, level: int) -> str:
        """The query of what a view needs of a mapping table."""
        columns = {"code": f"code_{level}"} | ({"label": f"label_{level}"} if level else {})
        return queries.text("core/view_mapping", self.engine.dialect, mapping=attribute.coded.mapping, columns=columns)

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
        self.tables.receive(self.safe_classes, search_in, query, "core/released_classes")

    def left_out_sql(self) -> str:
        """The query of the source's rows that are suppressed, once the release is prepared."""
        frequency_set = self.judge.frequency_set
        assignment = from_node(frequency_set, self.judge.model, self.node).assignment
        query = queries.select_all(assignment, frequency_set.engine.dialect)
        return self._left_out_sql(self.tables.receive("held", frequency_set.engine, query))

    @property
    def _levels(self) -> list[tuple[Attribute, int]]:
        return list(zip(self.judge.frequency_set.attributes, self.node, strict=True))

    def _query(
        self,
        mapping: _Mapping,
        code: str,
        label: str,
        classes: Relation | None = None,
    ) -> str:
        recoded = {
            a.column.name: _cell(a, level, mapping(a), code.format(level), label.format(level))
            for a, level in self._levels
        }
        cells = tuple(
            recoded.get(column.name) or Cell(column.name, sortable=column.kind != "other", open_type=column.open_type)
            for column in self.table.columns
            if column.name not in self.spec.dropped
        )
        shuffle = self.spec.seed if self.spec.shuffle else None
        safe = self.model.safe
        mask = self.masks and classes is not None
        source = self.table.relation if classes else self.engine.lasting(self.table.relation)
        query = ReleaseQuery(source, cells, safe, classes, mask, shuffle, self.model.sensitive)
        return self._beside_population(query).sql(self.engine.dialect)

    def _beside_population(self, query: ReleaseQuery) -> ReleaseQuery:
        """The query with the population that it counts, where it counts its classes itself."""
        population = self.judge.frequency_set.sampled_from
        if population is None or query.classes is not None:
            return query
        return replace(
            query, population=self.engine.lasting(population.table.relation), population_unit=population.unit
        )


@dataclass(frozen=True)
class LocalRecoding(_Judged):
    """Classes of tuples to be released, with what they show in `classes`; `orders` and `hows` per attribute."""

    local: Local
    classes: Relation
    orders: tuple[Order, ...]
    hows: tuple[str, ...]
    figures: LocalFigures
    spec: Spec
    masks: bool = False
    read_files: str | None = None

    @property
    def rows(self) -> int:
        """How many rows the release must have."""
        return self.figures.released_rows

    @property
    def rows_at_risk(self) -> int:
        """The rows that no class holds."""
        return self.figures.rows - self.figures.released_rows

    @property
    def columns(self) -> list[str]:
        """The released columns in order."""
        return [name for cell in self._cells(_no_mapping) for name, _ in cell.shown or ((cell.name, ""),)]

    @property
    def quasi_identifiers(self) -> list[str]:
        """The released columns that make the classes."""
        return [name for cell in self._cells(_no_mapping) for name, _ in cell.shown]

    def other_finding(self, engine: Engine, release: Relation) -> Finding | None:
        """What a release whose stars are wildcards is by that notion; None where equal rows are what counts."""
        if not self.spec.wildcard_suppression:
            return None
        frequency_set = self.judge.frequency_set
        # The hierarchies' order, which is not that of the columns.
        columns = [a.column.name for a in frequency_set.attributes]
        fits = wildcard.of_release(frequency_set, self.spec, self.model, engine, release, columns)
        return fits.finding(self.model)

    def shown_population(self) -> tuple[Engine, str] | None:
        """The rows of the population that are equal to rows of a class, by what the class shows."""
        frequency_set = self.judge.frequency_set
        if frequency_set.population is None:
            return None
        engine, keys = frequency_set.engine, frequency_set.keys
        rows, columns = frequency_set.relation, [*keys, "population"]
        query = queries.assigned(rows, self.local.assignment, keys, columns, engine.dialect)
        assigned = frequency_set.tables.make_as("assigned", query)
        shown = {name: column for cell in self._cells(_no_mapping) for name, column in cell.shown}
        holes: dict[str, Hole] = {"assigned": assigned, "classes": self.classes, "keys": keys, "shown": shown}
        return engine, queries.text("population/shown", engine.dialect, labels=list(shown.values()), **holes)

    def with_people(self) -> LocalRecoding:
        """The same release with the column that tells people apart."""
        return replace(self, spec=_with_people(self.spec))

    def prepare(self) -> None:
        """Have the mapping tables, the assignment and the classes in the engine of the source."""
        here = self.judge.frequency_set.engine
        if here is not self.engine:
            for attribute in self.attributes:
                self._load_mapping(attribute)
            for relation in self._made:
                self.tables.receive(relation, here, queries.select_all(relation, here.dialect))

    def left_out_sql(self) -> str:
        """The query of the source's rows that no class holds, once the release is prepared."""
        return self._left_out_sql(self.local.assignment)

    def select_sql(self) -> str:
        """The query over the mapping tables, the assignment and the classes: one pass over the source."""
        query = self._query(self.table.relation, lambda a: a.coded.mapping, *self._made)
        return query.sql(self.engine.dialect)

    @property
    def _made(self) -> tuple[Relation, Relation]:
        return self.local.assignment, self.classes

    def standalone(self, source: Relation | None = None, dialect: str | None = None) -> Statement:
        """The query of a view with its tables written out, to be run by itself.

        SpecError if that is too much, or if it is asked for in another dialect, or of another source.
        """
        if source is not None or dialect not in (None, self.engine.dialect):
            raise SpecError(
                f"{self.spec.strategy} lists tuples of values, which are printed for {self.engine.name} alone; "
                "name a search strategy, or leave out `dialect`"
            )
        tuples = self.judge.frequency_set.tuples
        if tuples > _MOST_WRITTEN_OUT:
            raise SpecError(
                f"the statement would have to list {tuples:,} tuples; release with `into` or `output` instead"
            )
        names = {a.coded.mapping: Relation(f"kanon_{a.coded.stem}") for a in self.attributes}
        made = Relation("kanon_assignment"), Relation("kanon_local_classes")
        values = [self._written_out(relation, name) for relation, name in zip(self._made, made, strict=True)]
        values += [self._written_codes(a, names[a.coded.mapping]) for a in self.attributes]
        source = self.engine.lasting(self.table.relation)
        query = self._query(source, lambda a: names[a.coded.mapping], *made, recount=True, values=tuple(values))
        return replace(query, read_files=self.read_files).statement(self.engine.dialect)

    def _written_out(self, relation: Relation, name: Relation) -> WrittenTable:
        """The assignment or the classes, written out."""
        engine = self.judge.frequency_set.engine
        query, columns = self._copied(relation, engine)
        rows = _typed(engine.rows(query), columns)
        types = [column.type for column in columns]
        return queries.written_table(name.name, [c.name for c in columns], types, rows, engine.dialect)

    def _written_codes(self, attribute: Attribute, name: Relation) -> WrittenTable:
        """The codes of a column's values, written out; none for NULL."""
        column, hierarchy = self._column(attribute), attribute.hierarchy
        coded = zip((*hierarchy.values, *hierarchy.starred), hierarchy.codes(0), strict=True)
        rows = [(self._written(value, column), code) for value, code in coded if value is not None]
        return queries.written_table(
            name.name, ["value", "code_0"], [column.type, "INTEGER"], rows, self.engine.dialect
        )

    def companions(self) -> dict[str, str]:
        """The tables that a view needs, each with the query that fills it."""
        stems = {a.coded.mapping: a.coded.stem for a in self.attributes}
        stems |= dict(zip(self._made, _STEMS, strict=True))
        return {stem: self._copied(relation, self.engine)[0] for relation, stem in stems.items()}

    def view_sql(self, view: Relation) -> str:
        """The query of a view: it counts its classes itself, on the rows that it returns."""
        return self._view(view).sql(self.engine.dialect)

    def view_population_sql(self, view: Relation) -> str:
        """The query of the population as a view shows it, whenever it is run."""
        return self._view(view).population_sql(self.engine.dialect)

    def _view(self, view: Relation) -> LocalReleaseQuery:
        source = self.engine.lasting(self.table.relation)
        assignment, classes = (companion(view, stem) for stem in _STEMS)
        return self._query(source, lambda a: companion(view, a.coded.stem), assignment, classes, recount=True)

    def _copied(self, relation: Relation, engine: Engine) -> tuple[str, list[Column]]:
        """What a release by itself needs of a relation of ours: a query and its columns, the class first."""
        needed = self._needed(relation)
        columns = [column for column in engine.table(relation).columns if column.name in needed]
        columns.sort(key=lambda column: column.name not in ("class", "value"))
        return self._copy_sql(relation, [column.name for column in columns], engine.dialect), columns

    def _copy_sql(self, relation: Relation, columns: list[str], dialect: str) -> str:
        """The query of some columns of ours, the class or the value first; of a mapping table without NULL."""
        if relation in self._made:
            return queries.text("core/copy", dialect, columns=columns, source=relation)
        return queries.text("core/view_mapping", dialect, columns=columns[1:], mapping=relation)

    def _needed(self, relation: Relation) -> set[str]:
        if relation == self.classes:
            return {"class", *(column for cell in self._cells(_no_mapping) for _, column in cell.shown)}
        if relation == self.local.assignment:
            places = {"first", "last"} if self.local.split else set()
            return {"class", *places, *(a.coded.code_column(0) for a in self.attributes)}
        return {"value", "code_0"}

    def _cells(self, mapping: _Mapping) -> list[LocalCell]:
        places = {a.column.name: (j, a) for j, a in enumerate(self.attributes)}
        kept = [column for column in self.table.columns if column.name not in self.spec.dropped]
        return [
            _local_cell(*places[column.name], self.hows[places[column.name][0]], mapping)
            if column.name in places
            else LocalCell(column.name, column.kind != "other", open_type=column.open_type)
            for column in kept
        ]

    def _query(
        self,
        source: Relation,
        mapping: _Mapping,
        assignment: Relation,
        classes: Relation,
        recount: bool = False,
        values: tuple[WrittenTable, ...] = (),
    ) -> LocalReleaseQuery:
        query = LocalReleaseQuery(
            source,
            tuple(self._cells(mapping)),
            assignment,
            classes,
            self.model.safe,
            self.local.split,
            recount,
            self.spec.seed,
            self.spec.shuffle,
            values,
            self.model.sensitive,
        )
        return self._beside_population(query) if recount else query

    def _beside_population(self, query: LocalReleaseQuery) -> LocalReleaseQuery:
        """The query with the population that it counts, by its people where these count."""
        population = self.judge.frequency_set.sampled_from
        if population is None:
            return query
        unit, relation = population.unit, self.engine.lasting(population.table.relation)
        safe = self.model.populating(unit is not None).safe
        return replace(query, safe=safe, population=relation, population_unit=unit)


def shown_population(frequency_set: FrequencySet, node: Node, tuples: Relation) -> str:
    """The query of a population's counted tuples with the labels of a node, by the columns' own names."""
    cells = {
        a.column.name: replace(_cell(a, level, a.coded.mapping, f"code_{level}", f"label_{level}"), name=a.coded.stem)
        for a, level in zip(frequency_set.attributes, node, strict=True)
    }
    unit = POPULATION_UNIT if frequency_set.population_unit else None
    rows, counted = Predicate("SUM(n)", unit=unit), ["n", *([unit] if unit else [])]
    return queries.shown_population(tuples, cells, counted, rows, frequency_set.engine.dialect)


def _with_people(spec: Spec) -> Spec:
    identifiers = tuple(column for column in spec.identifiers if column != spec.unit)
    return spec.model_copy(update={"unit": None, "identifiers": identifiers})


def _no_mapping(attribute: Attribute) -> Relation:
    return attribute.coded.mapping


def _local_cell(j: int, attribute: Attribute, how: str, mapping: _Mapping) -> LocalCell:
    name = attribute.column.name
    names = shown_names(name, how)
    columns = (f"label_{j}", f"high_{j}")[: len(names)]
    null = _null(attribute.hierarchy, 0)
    shown = tuple(zip(names, columns, strict=True))
    code, opened = attribute.coded.code_column(0), attribute.column.open_type if how == "mode" else None
    return LocalCell(name, True, mapping(attribute), code, null[0] if null else None, shown, opened)


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
        open_type=attribute.column.open_type,
    )


def _kept_cell(column: Column, plain: bool) -> StandaloneCell:
    sortable = column.kind != "other"
    return StandaloneCell(column.name, column.kind, sortable=sortable, plain=plain, open_type=column.open_type)


def _null(hierarchy: Hierarchy, level: int) -> tuple[int, str | None] | None:
    if None not in hierarchy.values:
        return None
    index = hierarchy.values.index(None)
    return hierarchy.codes(level)[index], hierarchy.labels(level)[index]


def _typed(rows: Sequence[tuple[object, ...]], columns: Sequence[Column]) -> list[tuple[object, ...]]:
    """Rows to be written out, each value with the type that it needs."""
    return [tuple(queries.of_type(v, c.type) for v, c in zip(row, columns, strict=True)) for row in rows]
