"""A recoding: how the quasi-identifiers of every row are changed, as the query of the release.

A full-domain recoding is a lattice node; a local one assigns every tuple to a class with labels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table
from kanon_sql.engines.files import file_format
from kanon_sql.engines.looks import looks_plain
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.frequency import mapping
from kanon_sql.frequency.frequency_set import Attribute
from kanon_sql.frequency.judge import Judge
from kanon_sql.frequency.mapping import Place
from kanon_sql.generalization.values import as_text
from kanon_sql.privacy import Finding, PrivacyModel, PrivacyModels
from kanon_sql.queries import FullDomainQuery, LocalReleaseQuery, PrintedStatement, Relation
from kanon_sql.release import large
from kanon_sql.release.cells import class_column
from kanon_sql.release.merged import MergedRows
from kanon_sql.spec import Spec

STEMS = ("assignment", "classes")  # of the tables that a view of a local recoding needs


def unmodelled(recoding: Recoding) -> list[str]:
    """The sensitive columns, released unchanged, without a privacy model."""
    spec, counted = recoding.spec, recoding.model.sensitive.values()
    if spec.wildcard_suppression:
        return []
    names = {*spec.sensitive} - {*counted, *spec.perturb}
    return [column.name for column in recoding.table.columns if column.name in names and column.kind != "other"]


def companion_stems(columns: Sequence[str], local: bool) -> list[str]:
    """The stems of all tables that a view with these quasi-identifiers can need; no query is needed."""
    mappings = list(queries.plain_names(columns).values())
    return [*mappings, *STEMS] if local else mappings


@dataclass(frozen=True, kw_only=True)
class Recoding(ABC):
    """A recoding, as a release needs it.

    `tables`: the scratch tables of the release, in the engine of the source. `judge`: of the frequency set.
    `rows_at_risk`: the rows without a safe class. `read_files`: the query of the source's files, if it is not a table.
    `merged`: the rows that are released instead of those of the recoding's own query, if some changes wait.
    """

    tables: Scratch
    table: Table
    judge: Judge
    spec: Spec
    rows_at_risk: int
    read_files: str | None = None
    merged: MergedRows | None = None

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
        """The model of every released class."""
        return self.judge.model.after_redrawing

    @property
    def redrawn(self) -> tuple[PrivacyModel, ...]:
        """The models that classes only satisfy after their sensitive values have been redrawn."""
        return self.judge.model.redrawn

    @property
    def masks(self) -> bool:
        """Whether the rows at risk are a masked class of their own."""
        return False

    @property
    def rows(self) -> int:
        """The number of rows that the release must have."""
        if self.merged:
            return self.merged.rows
        return self.judge.frequency_set.rows - (0 if self.masks else self.rows_at_risk)

    @property
    @abstractmethod
    def columns(self) -> list[str]:
        """The released columns in order."""

    @property
    @abstractmethod
    def quasi_identifiers(self) -> list[str]:
        """The released columns that form the classes."""

    def other_finding(self, engine: Engine, release: Relation) -> Finding | None:  # noqa: ARG002
        """The finding on a written release if equal rows do not count; otherwise None."""
        return None

    def with_people(self) -> Self:
        """The same release with the columns that are counted but not released."""
        return replace(self, spec=self.spec.showing_all())

    def with_complete_enums(self) -> Self:
        """The same release, with the own type of every kept ENUM of which all values are released; the others are text.

        An ENUM lists its values. Only for a new table: in a view, and from night to night in a pipeline, other rows can
        be released later.
        """
        kept = set(self.columns) - set(self.quasi_identifiers)
        enums = [column for column in self.table.columns if column.name in kept and column.enum_values]
        if not enums:
            return self
        self.prepare()
        released = self.tables.view("released_enums", self.release_sql())
        complete = set()
        for column in enums:
            query = "frequency_sets/people"  # counts distinct values
            ((values,),) = self.tables.rows(query, relation=released, unit=[column.name])
            if values == column.enum_values:
                complete.add(column.name)
        self.tables.drop(released)
        columns = (replace(column, is_complete=column.name in complete) for column in self.table.columns)
        return replace(self, table=replace(self.table, columns=tuple(columns)))

    @abstractmethod
    def shown_population(self) -> tuple[Engine, str] | None:
        """The engine and query of the population with the release's labels; None without a population."""

    @abstractmethod
    def prepare(self) -> None:
        """Load the tables that the query reads into the engine of the source."""

    def select_sql(self) -> str:
        """The query of the release on these tables, in one pass over the source."""
        return self._select.sql(self.engine.dialect)

    def release_sql(self, tables: Scratch | None = None) -> str:
        """The same, or a faster query for a large release; or that of the rows that are released instead.

        `tables`: where a large release is prepared, by default among all other tables of the release.
        """
        if self.merged:
            return self.merged.sql(self.columns, self.quasi_identifiers)
        return self._large_sql(tables or self.tables) or self.select_sql()

    @property
    @abstractmethod
    def _select(self) -> FullDomainQuery | LocalReleaseQuery: ...

    @abstractmethod
    def standalone(
        self,
        source: Relation | None = None,
        dialect: str | None = None,
        lasting: bool = False,
        limited: bool = True,
    ) -> PrintedStatement:
        """The release as a statement that only needs its source, in the dialect of the engine or another one.

        `source`: the table that it reads, by default that of the search. `lasting`: whether tables next to it can last.
        It counts its own classes in the rows that it returns. If it is `limited`, it fails if it would suppress more
        rows than the suppression limit allows. SpecError if it is not possible.
        """

    @abstractmethod
    def companions(self) -> dict[str, str]:
        """The tables that a view needs: the query by the stem of the name."""

    @abstractmethod
    def view_sql(self, view: Relation) -> str:
        """The query of a view, which counts its own classes in the rows that it returns."""

    @abstractmethod
    def left_out_sql(self) -> str:
        """The query of the source's suppressed rows, once the release is prepared."""

    @abstractmethod
    def assigned(self) -> Relation:
        """The classes of the frequency set's tuples, in its engine."""

    @abstractmethod
    def levels_shown(self, j: int) -> range:
        """The levels above 0 of an attribute whose labels can be shown."""

    @abstractmethod
    def labels_shown(self, j: int, released: Set[int]) -> Set[str | None]:
        """The labels of an attribute that are shown for the codes of the released values."""

    @cached_property
    def _shown(self) -> list[Column]:
        """The source's columns that are released, whatever their values become."""
        return [column for column in self.table.columns if column.name not in self.spec.dropped]

    def _column(self, attribute: Attribute) -> Column:
        return next(column for column in self.table.columns if column.name == attribute.column.name)

    def _large_sql(self, tables: Scratch) -> str | None:
        """Prepare and return the query of a large release in DuckDB; None for any other release."""
        frequency_set, target = self.judge.frequency_set, self.spec.target
        here = self.engine.is_embedded and frequency_set.engine is self.engine
        if not here or frequency_set.rows < large.LARGE:
            return None
        encoded = bool(target and target.file and target.form == "table" and file_format(target.file) == "parquet")
        return large.release_sql(tables, self._select.counted("duckdb"), frequency_set, encoded)

    @property
    def _population(self) -> dict[str, Any]:
        """The arguments on the population for a query that counts its own classes."""
        population = self.judge.frequency_set.sampled_from
        if population is None:
            return {}
        relation = self.engine.lasting(population.table.relation)
        return {"population": relation, "population_unit": population.unit}

    def _check_population(self, source: Relation | None) -> None:
        """Refuse a statement that counts a population and reads a `source` of another system."""
        if source and self.judge.frequency_set.sampled_from:
            raise SpecError(
                "the statement would count a population, which has another name in another system; print it for "
                f"{self.engine.name} alone, or leave out the models with a population"
            )

    @property
    def _least_people(self) -> int | None:
        """How many people a class needs, if a view in DuckDB can count them by hashes, and needs nothing else."""
        counts_only = all(model.class_size is not None for model in self.model.models)
        unit = next((column for column in self.table.columns if column.name == self.model.unit), None)
        if unit is None or not counts_only or not self.engine.is_embedded:
            return None
        return self.model.k if self._is_plain(unit) else None

    def _is_plain(self, column: Column) -> bool:
        """Whether equal values of a column look the same."""
        return looks_plain(self.engine, self.table, column)

    def _load_mappings(self, attributes: Iterable[Attribute]) -> None:
        """Load mapping tables that are elsewhere into the source's engine, with the types of the source's columns."""
        if self.judge.frequency_set.engine is self.engine:
            return
        for attribute in attributes:
            place = Place(self.engine, self.table.relation, self._column(attribute))
            mapping.load(self.tables, place, attribute.coded, attribute.hierarchy)

    def _left_out_sql(self, held: Relation) -> str:
        """The query of the source's complete rows whose tuples have no class; `held`: the tuples with a class."""
        self._load_mappings(self.attributes)
        cells = tuple(class_column(j, a, "labels", lambda a: a.coded.mapping) for j, a in enumerate(self.attributes))
        source = self.table.relation
        query = LocalReleaseQuery(source=source, columns=cells, assignment=held, classes=held, safe=self.model.safe)
        columns = [column.name for column in self.engine.table(self.table.relation).columns]
        return query.left_out_sql(columns, self.engine.dialect)

    def _written(self, value: Any, column: Column) -> object:
        padded = column.type.startswith("character(")  # its trailing blanks are not part of the text
        if column.kind in ("integer", "decimal", "boolean", "text") and not padded:
            return value
        return queries.typed(as_text(value), column.type, self.engine.dialect)
