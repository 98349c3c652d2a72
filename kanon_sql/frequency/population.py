"""The population of which a source is a sample: its tuples, counted and coded with the source's codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError
from kanon_sql.frequency.mapping import Place
from kanon_sql.privacy import POPULATION_UNIT, Predicate
from kanon_sql.queries import Coded, Hole, Relation

COUNTED = "population_tuples"


@dataclass(frozen=True)
class Population:
    """A table of which the source is a sample; `unit`: the column of its people, if they are counted.

    `standalone`: whether a standalone query compares its columns with the source's. `name`: the name to show;
    `counted`: its rows or people, 0 before counting.
    """

    engine: Engine
    table: Table
    unit: str | None = None
    standalone: bool = False
    name: str = ""
    counted: int = 0

    def described(self) -> dict[str, str | int]:
        """The population in the manifest."""
        return {"source": self.name, "people" if self.unit else "rows": self.counted}


def count(population: Population, tables: Scratch, source: Table, stems: Mapping[str, str]) -> dict[str, Place]:
    """Count the distinct tuples of a population, by person if people are counted; return the columns' places.

    `stems`: the plain names of the quasi-identifiers, by their columns. SourceError if a column is missing, or of
    another kind than the source's.
    """
    columns = {stem: _like(population, source, name) for name, stem in stems.items()}
    people = {POPULATION_UNIT: population.unit} if population.unit else {}
    engine, relation = population.engine, population.table.relation
    scan = queries.tuples({stem: column.name for stem, column in columns.items()}, people, relation, engine.dialect)
    counted = _in_texts(tables, tables.receive(COUNTED, engine, scan), source, columns)
    types = {column.name: column.type for column in tables.engine.table(counted).columns}
    return {
        column.name: Place(tables.engine, counted, Column(stem, types[stem], _kind(source, column)))
        for stem, column in columns.items()
    }


def _like(population: Population, source: Table, name: str) -> Column:
    """The population's column of that name."""
    here = population.table.column(name)
    in_source = source.column(name)
    if here is None:
        raise SourceError(
            f"the population has no column {name!r}, which is a quasi-identifier; name a table that has it"
        )
    kind = here.kind if population.standalone else _kind(source, here)
    if in_source is not None and in_source.kind != kind:
        raise SourceError(
            f"column {name!r} is {here.type} in the population and {in_source.type} in the source, so that their "
            "values cannot be compared; cast both to one type"
        )
    return here


def _kind(source: Table, column: Column) -> str:
    """The kind in which a column of the population is compared: whole numbers as texts if the source has texts."""
    in_source = source.column(column.name)
    as_text = in_source is not None and in_source.kind == "text" and column.kind == "integer"
    return "text" if as_text else column.kind


def _in_texts(tables: Scratch, counted: Relation, source: Table, columns: Mapping[str, Column]) -> Relation:
    """The counted tuples with whole numbers as texts if the source has texts, such as zip codes from a CSV file."""
    texts = [stem for stem, column in columns.items() if column.kind != _kind(source, column)]
    if not texts:
        return counted
    others = [column.name for column in tables.engine.table(counted).columns if column.name not in texts]
    holes: dict[str, Hole] = {"relation": counted, "texts": texts, "columns": others}
    tables.create("population_texts", "release/as_texts", **holes)
    tables.rename("population_texts", COUNTED)
    return counted


def code(tables: Scratch, attributes: Sequence[Coded], people: bool) -> Relation:
    """The counted population with its codes; with people, n counts every person once, at one of their tuples.

    SourceError if a value is invalid in the type of the source's column.
    """
    unit = [POPULATION_UNIT] if people else []
    dialect = tables.engine.dialect
    counted = tables[COUNTED]
    coded = tables.create_as("population", queries.frequency_set(counted, attributes, dialect, unit))
    lost = tables.count(counted) - tables.count(coded)
    if lost:
        raise SourceError(
            f"{lost:,} combinations of the population have values that the source's columns cannot contain; cast the "
            "columns of both to one type"
        )
    if not people:
        return coded
    keys = [attribute.code_column(0) for attribute in attributes]
    columns = [column.name for column in tables.engine.table(coded).columns if column.name != "n"]
    holes: dict[str, Hole] = {"tuples": coded, "columns": columns, "unit": unit, "keys": keys}
    return tables.create("population_people", "population/people_once", **holes)


def refuse_unmatched(tables: Scratch, frequency_set: Relation, keys: Sequence[str], more: Predicate) -> None:
    """SourceError if the source is not a sample of its population: `more` is true for some tuples."""
    ((tuples,),) = tables.rows("population/unmatched", frequency_set=frequency_set, keys=keys, more=more)
    if tuples:
        raise SourceError(
            f"the population lacks {tuples:,} of the sample's combinations of quasi-identifiers, or has fewer rows of "
            "them than the sample; name the population that the source was drawn from"
        )
