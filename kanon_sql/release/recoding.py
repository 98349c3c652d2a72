"""A recoding: what each quasi-identifier of a row becomes, as the query that the release is made of.

A full-domain recoding is a lattice node; a local one assigns every tuple to a class, and a class shows what it
shows. Both say the same few things to whoever writes and checks the release.
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
    Relation,
    Statement,
)
from kanon_sql.release import large
from kanon_sql.release.cells import class_column
from kanon_sql.spec import Spec

STEMS = ("assignment", "classes")  # of what a view of a local recoding needs of those two


class Recoding(Protocol):
    """What the release needs to know of a recoding.

    `columns`: the released columns in order; `quasi_identifiers`: those that make the classes.
    `companions`: the tables that a view needs, by what their names have behind its own, each with its query.
    `other_finding`: of what a written release is held to where that is not its equal rows. `shown_population`: the
    query of the population as the release shows it, and where it is to be asked; None without a population.
    `assigned`: the classes of the frequency set's tuples, where that is. `levels_shown`: the levels above 0 of an
    attribute of which labels may be shown; `labels_shown`: those that are, given the codes of the released values.
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
    ) -> Statement: ...
    def companions(self) -> dict[str, str]: ...
    def view_sql(self, view: Relation) -> str: ...
    def left_out_sql(self) -> str: ...
    def assigned(self) -> Relation: ...
    def levels_shown(self, j: int) -> range: ...
    def labels_shown(self, j: int, released: Set[int]) -> Set[str | None]: ...


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
    return [*mappings, *STEMS] if local else mappings


@dataclass(frozen=True)
class Judged:
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

    def _large_sql(self, counted_release: Callable[[], CountedRelease | None], spec: Spec) -> str | None:
        """The query of a large release, once it is prepared; None where it is not large, or not in DuckDB."""
        frequency_set, target = self.judge.frequency_set, spec.target
        here = self.engine.is_embedded and frequency_set.engine is self.engine
        if not here or frequency_set.rows < large.LARGE or (query := counted_release()) is None:
            return None
        encoded = bool(target and target.file and target.form == "table" and file_format(target.file) == "parquet")
        return large.release_sql(self.tables, query, frequency_set, encoded)

    @property
    def _population(self) -> dict[str, Any]:
        """What a query that counts its classes itself has of a population: `population` and `population_unit`."""
        population = self.judge.frequency_set.sampled_from
        if population is None:
            return {}
        relation = self.engine.lasting(population.table.relation)
        return {"population": relation, "population_unit": population.unit}

    def _check_population(self, source: Relation | None) -> None:
        """Refuse to print the count of a population for a statement that reads a `source` of another system."""
        if source and self.judge.frequency_set.sampled_from:
            raise SpecError(
                "the statement would count a population, which another system has under another name; print it for "
                f"{self.engine.name} alone, or leave out the models beside a population"
            )

    def _is_plain(self, column: Column) -> bool:
        """Whether equal values of a column look the same."""
        return looks_plain(self.engine, self.table, column)

    def _load_mapping(self, attribute: Attribute) -> None:
        """Have the mapping table where the source is, in the type of the source's column."""
        place = Place(self.engine, self.table.relation, self._column(attribute))
        mapping.load(self.tables, place, attribute.coded, attribute.hierarchy)

    def _left_out_sql(self, held: Relation) -> str:
        """The query of the source's rows, with all its columns, of tuples without a class; `held`: those with one."""
        for attribute in self.attributes:
            if self.judge.frequency_set.engine is not self.engine:
                self._load_mapping(attribute)
        cells = tuple(class_column(j, a, "labels", lambda a: a.coded.mapping) for j, a in enumerate(self.attributes))
        source = self.table.relation
        query = LocalReleaseQuery(source=source, columns=cells, assignment=held, classes=held, safe=self.model.safe)
        columns = [column.name for column in self.engine.table(self.table.relation).columns]
        return query.left_out_sql(columns, self.engine.dialect)

    def _written(self, value: Any, column: Column) -> object:
        padded = column.type.startswith("character(")  # whose blanks are no part of a text
        if column.kind in ("integer", "decimal", "boolean", "text") and not padded:
            return value
        return queries.typed(as_text(value), column.type, self.engine.dialect)
