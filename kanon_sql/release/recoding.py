"""A recoding: how the quasi-identifiers of every row are changed, as the query of the release.

A full-domain recoding is a lattice node; a local one assigns every tuple to a class with labels. Both implement the
same protocol for writing and checking the release.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol

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
from kanon_sql.queries import (
    CountedRelease,
    LocalReleaseQuery,
    PrintedStatement,
    Relation,
)
from kanon_sql.release import large
from kanon_sql.release.cells import class_column
from kanon_sql.release.merged import MergedRows
from kanon_sql.spec import Spec

STEMS = ("assignment", "classes")  # of the tables that a view of a local recoding needs


class Recoding(Protocol):
    """A recoding, as a release needs it.

    `columns`: the released columns in order; `quasi_identifiers`: the columns that form the classes.
    `companions`: the tables that a view needs: stem of the name -> query.
    `other_finding`: the finding on a written release if equal rows do not count. `shown_population`: the engine and
    query of the population with the release's labels; None without a population.
    `merged`: the rows that are released instead of those of the recoding's own query, if some changes wait.
    `assigned`: the classes of the frequency set's tuples, in its engine. `levels_shown`: the levels above 0 of an
    attribute whose labels can be shown; `labels_shown`: the labels shown for the codes of the released values.
    """

    @property
    def engine(self) -> Engine: ...
    @property
    def tables(self) -> Scratch: ...
    @property
    def judge(self) -> Judge: ...
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
    def merged(self) -> MergedRows | None: ...
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
    def release_sql(self) -> str: ...
    def standalone(
        self,
        source: Relation | None = None,
        dialect: str | None = None,
        lasting: bool = False,
        limited: bool = True,
    ) -> PrintedStatement: ...
    def companions(self) -> dict[str, str]: ...
    def view_sql(self, view: Relation) -> str: ...
    def left_out_sql(self) -> str: ...
    def assigned(self) -> Relation: ...
    def levels_shown(self, j: int) -> range: ...
    def labels_shown(self, j: int, released: Set[int]) -> Set[str | None]: ...


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


@dataclass(frozen=True)
class Judged:
    """The common part of recodings: the source, and the judge of its frequency set.

    `tables`: the scratch tables of the release, in the engine of the source.
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
        """The model of every released class."""
        return self.judge.model.after_redrawing

    @property
    def redrawn(self) -> tuple[PrivacyModel, ...]:
        """The models that classes only satisfy after their sensitive values have been redrawn."""
        return self.judge.model.redrawn

    def _column(self, attribute: Attribute) -> Column:
        return next(column for column in self.table.columns if column.name == attribute.column.name)

    def _large_sql(self, counted_release: Callable[[], CountedRelease | None], spec: Spec) -> str | None:
        """Prepare and return the query of a large release in DuckDB; None for any other release."""
        frequency_set, target = self.judge.frequency_set, spec.target
        here = self.engine.is_embedded and frequency_set.engine is self.engine
        if not here or frequency_set.rows < large.LARGE or (query := counted_release()) is None:
            return None
        encoded = bool(target and target.file and target.form == "table" and file_format(target.file) == "parquet")
        return large.release_sql(self.tables, query, frequency_set, encoded)

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

    def _is_plain(self, column: Column) -> bool:
        """Whether equal values of a column look the same."""
        return looks_plain(self.engine, self.table, column)

    def _load_mapping(self, attribute: Attribute) -> None:
        """Load the mapping table into the source's engine, with the type of the source's column."""
        place = Place(self.engine, self.table.relation, self._column(attribute))
        mapping.load(self.tables, place, attribute.coded, attribute.hierarchy)

    def _left_out_sql(self, held: Relation) -> str:
        """The query of the source's complete rows whose tuples have no class; `held`: the tuples with a class."""
        for attribute in self.attributes:
            if self.judge.frequency_set.engine is not self.engine:
                self._load_mapping(attribute)
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
