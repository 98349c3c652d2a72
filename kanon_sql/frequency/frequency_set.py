"""The frequency set: distinct quasi-identifier tuples, counted, every level of every hierarchy a column.

The raw table is scanned once, for its distinct tuples. All that follows works on those: the hierarchies
are fitted to the values that occur, loaded as mapping tables, and joined to give the frequency set
(the term is that of Incognito, LeFevre et al. 2005).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError
from kanon_sql.frequency import mapping, population, ruled
from kanon_sql.frequency.mapping import Place
from kanon_sql.frequency.population import Population
from kanon_sql.frequency.ruled import Ruled
from kanon_sql.generalization.hierarchy import Hierarchy, cover
from kanon_sql.generalization.lattice import Node
from kanon_sql.generalization.values import key, keys
from kanon_sql.privacy import POPULATION_UNIT, UNIT, Groups, Predicate
from kanon_sql.queries import Coded, Hole, Relation

Build = Callable[[Sequence[Any]], Hierarchy]
_SENTENCE = "Turn the distinct tuples into codes: one integer column per attribute and level."
Unmapped: TypeAlias = Literal["error", "top"]


@dataclass(frozen=True)
class Attribute:
    """A quasi-identifier: its column, its hierarchy fitted to the data, and its mapping table.

    `distinct[l]`: how many labels of level l occur.
    """

    column: Column
    hierarchy: Hierarchy
    coded: Coded
    distinct: tuple[int, ...] = ()


@dataclass(frozen=True)
class FrequencySet:
    """The counted tuples in an engine: `rows` source rows in `tuples` distinct ones.

    One row per tuple, or where values are sensitive per tuple and combination of these. Where it has a population, the
    column `population` counts its rows, and tuples that it alone has have n = 0.
    """

    tables: Scratch
    relation: Relation
    attributes: tuple[Attribute, ...]
    rows: int
    tuples: int
    sql: tuple[str, str]
    """The scan of the source, and the coding of what it found."""
    sensitive: tuple[str, ...] = ()
    """Columns of codes by which a tuple's rows are counted apart, for privacy models that need them."""
    references: Mapping[str, Relation] = field(default_factory=dict, hash=False)
    """The values of sensitive columns in the whole table, for models that compare a class with it."""
    population: int | None = None
    """The rows of the population, or its people; None without one."""
    population_unit: bool = False
    """Whether the population's people are told apart."""
    sampled_from: Population | None = None
    """Where the population is; its engine may be closed by now, if that is not the source's."""

    @property
    def engine(self) -> Engine:
        """Where it is, and what is asked of it is answered."""
        return self.tables.engine

    @cached_property
    def heights(self) -> Node:
        """The top of the full lattice."""
        return tuple(attribute.hierarchy.height for attribute in self.attributes)

    @property
    def keys(self) -> list[str]:
        """The columns that tell the tuples apart: every attribute's codes on level 0."""
        return [attribute.coded.code_column(0) for attribute in self.attributes]

    @property
    def sums(self) -> list[str]:
        """The columns that are added up when tuples are."""
        losses = (a.coded.loss_column(level) for a in self.attributes for level in a.coded.loss_levels)
        return ["n", *losses, *([] if self.population is None else ["population"])]

    @property
    def distinguishing_columns(self) -> list[str]:
        """The columns of codes by which the rows of a tuple are counted apart: sensitive values, people."""
        return [*self.sensitive, *([POPULATION_UNIT] if self.population_unit else [])]

    @property
    def counted(self) -> list[str]:
        """What models need of a row beside n."""
        return [*self.distinguishing_columns, *([] if self.population is None else ["population"])]

    def level_columns(self, node: Node) -> list[str]:
        """The columns that hold a node's codes: all that a node is to the database.

        An attribute at its top has one code for all rows and tells no classes apart, so it is left out.
        """
        pairs = list(zip(self.attributes, node, strict=True))
        distinguishing = [a.coded.code_column(level) for a, level in pairs if level < a.hierarchy.height]
        return distinguishing or [pairs[0][0].coded.code_column(node[0])]


def build_frequency_set(
    engine: Engine,
    table: Table,
    hierarchies: Mapping[str, Build],
    made: Scratch,
    keep_tuples: bool = False,
    unmapped: Unmapped | None = None,
    sensitive: Mapping[str, str] = MappingProxyType({}),
    compared: Sequence[str] = (),
    groups: Mapping[str, Groups] = MappingProxyType({}),
    sampled_from: Population | None = None,
    counted_by: str | None = None,
) -> FrequencySet:
    """Scan the table once and code what was found; each column's hierarchy is made of its distinct values.

    `made`: where the tuples, the mapping tables and the frequency set are made, in this engine or another.
    `unmapped`: what becomes of a value that its hierarchy lacks; None for hierarchies that lack none. `sensitive`: the
    columns whose values are counted apart, by their names in the frequency set; `compared`: those of them whose values
    models compare with the whole table, and `groups` the rows of their hierarchies. `sampled_from`: the population,
    whose tuples are counted too; SourceError if the table is no sample of it. `counted_by`: the column of the rows that
    each row stands for, where the table was counted elsewhere.
    """
    stems = queries.plain_names(list(hierarchies))
    others = population.count(sampled_from, made, table, stems) if sampled_from else {}
    columns = {stem: column for column, stem in stems.items()}
    scan = queries.tuples(columns, sensitive, table.relation, engine.dialect, compared, counted_by)
    tuples = made.receive("tuples", engine, scan, "frequency_sets/tuples")
    types = {column.name: column.type for column in made.engine.table(tuples).columns}
    attributes = []
    for name, build in hierarchies.items():
        if not (column := table.column(name)):
            continue
        source = Place(engine, table.relation, column)
        places = [Place(made.engine, tuples, Column(stems[name], types[stems[name]], column.kind))]
        places += [others[name]] if name in others else []
        place, *beside = places if made.engine is engine else mapping.in_one_writing(made, source, places)
        mapped, values = made[f"map_{stems[name]}"], mapping.in_canonical_form(mapping.values_of(place), column)
        alone = made.engine is engine and not beside and unmapped is not None
        in_engine = ruled.fitted(made, place, build, values, mapped) if alone and isinstance(build, Ruled) else None
        if in_engine:
            attributes.append(Attribute(replace(column, type=place.column.type), *in_engine, in_engine[0].counts))
            continue
        of_population = [
            value for other in beside for value in mapping.in_canonical_form(mapping.values_of(other), column)
        ]
        attribute = _attribute(source, place, stems[name], mapped, build, values, unmapped, of_population)
        mapping.load(made, place, attribute.coded, attribute.hierarchy)
        attributes.append(attribute)
    frequency_set = _code(made, tuple(attributes), scan, tuple(sensitive))
    _check_coded(frequency_set)
    references = {name: _reference(frequency_set, name, groups.get(name, ())) for name in compared}
    if sampled_from:
        frequency_set = _with_population(replace(frequency_set, sampled_from=sampled_from))
    if not keep_tuples:
        made.drop(tuples)
    return replace(frequency_set, references=references)


def _with_population(frequency_set: FrequencySet) -> FrequencySet:
    """The frequency set with the tuples of the population, which are counted already."""
    sampled_from = frequency_set.sampled_from
    people = sampled_from is not None and sampled_from.unit is not None
    tables, coded = frequency_set.tables, [attribute.coded for attribute in frequency_set.attributes]
    counted = population.code(tables, coded, people)
    levels = [attribute.code_column(level) for attribute in coded for level in range(attribute.height + 1)]
    losses, sensitive = frequency_set.sums[1:], frequency_set.sensitive
    query = queries.with_population(
        *(frequency_set.relation, counted, levels, losses, sensitive, tables.engine.dialect),
        POPULATION_UNIT if people else None,
    )
    both = tables.create_as("both", query)
    more = _more_than_population(UNIT if UNIT in sensitive else None, people)
    population.refuse_unmatched(tables, both, frequency_set.keys, more)
    ((_, rows),) = tables.rows("population/totals", frequency_set=both)
    sampled_from = sampled_from and replace(sampled_from, counted=int(rows))
    populated = replace(
        frequency_set, relation=both, population=int(rows), population_unit=people, sampled_from=sampled_from
    )
    return populated if populated.distinguishing_columns else _one_row_per_tuple(populated)


def _more_than_population(unit: str | None, people: bool) -> Predicate:
    """The condition that a tuple has more rows, or people, in the table than in the population."""
    return Predicate(
        "SUM(n) > SUM(population)", unit=unit, populated=True, population_unit=POPULATION_UNIT if people else None
    )


def sampled(frequency_set: FrequencySet) -> FrequencySet:
    """The frequency set of the table's tuples alone, `population` counting the rows of the population equal to them.

    Less than all that a class of several tuples stands for, so that what is safe by it is safe. People are counted
    once each, at one of their tuples.
    """
    if frequency_set.population is None:
        return frequency_set
    tables, keys = frequency_set.tables, frequency_set.keys
    named = [column.name for column in frequency_set.engine.table(frequency_set.relation).columns]
    columns = [name for name in named if name not in ("n", "population", POPULATION_UNIT)]
    holes: dict[str, Hole] = {"frequency_set": frequency_set.relation, "keys": keys, "columns": columns}
    relation = tables.create("sampled", "population/sampled", **holes)
    ((_, rows),) = tables.rows("population/totals", frequency_set=relation)
    return replace(frequency_set, relation=relation, population=int(rows), population_unit=False)


def _reference(frequency_set: FrequencySet, name: str, groups: Groups) -> Relation:
    """The values of a sensitive column, by their codes, with the rows of each; or the people, where these count."""
    tables, raw = frequency_set.tables, queries.raw_column(name)
    rows = Predicate("SUM(n)", unit=UNIT if UNIT in frequency_set.sensitive else None)
    query = queries.reference(tables["tuples"], name, raw, rows, tables.engine.dialect, groups)
    return tables.create_as(f"reference{name}", query)


def merge_equal_codes(frequency_set: FrequencySet, drop: bool = True) -> FrequencySet:
    """The frequency set with one row per combination of codes: values in no hierarchy share one.

    A node does not mind such rows, since it adds up; who names a tuple by its codes does. `drop`: the one that it is
    made of, which nobody reads any more.
    """
    if not any(attribute.hierarchy.starred for attribute in frequency_set.attributes):
        return frequency_set
    merged = _one_row_per_tuple(frequency_set, drop)
    ((tuples,),) = merged.tables.rows("frequency_sets/distinct_count", columns=merged.keys, relation=merged.relation)
    return replace(merged, tuples=int(tuples))


def _one_row_per_tuple(frequency_set: FrequencySet, drop: bool = True) -> FrequencySet:
    """The frequency set with one row per combination of codes and of what is counted apart."""
    tables = frequency_set.tables
    names = [column.name for column in frequency_set.engine.table(frequency_set.relation).columns]
    keys, sums = [*frequency_set.keys, *frequency_set.distinguishing_columns], frequency_set.sums
    levels = [name for name in names if name not in (*keys, *sums)]
    holes: dict[str, Hole] = {"keys": keys, "levels": levels, "sums": sums}
    merged = tables.create("merged", "frequency_sets/rollup", frequency_set=frequency_set.relation, **holes)
    if drop:
        tables.drop(frequency_set.relation)
    return replace(frequency_set, relation=merged)


def _attribute(
    source: Place,
    tuples: Place,
    stem: str,
    mapped: Relation,
    build: Build,
    own: Sequence[Any],
    unmapped: Unmapped | None,
    others: Sequence[Any] = (),
) -> Attribute:
    """Fit a hierarchy to the values that occur, `own`, and to `others`.

    `unmapped`: None leaves those that it lacks without a row.
    """
    column = Column(source.column.name, tuples.column.type, source.column.kind)
    known = set(keys(own)) if others else set()
    data = [*own, *(value for value in others if key(value) not in known)]
    hierarchy = build(data)
    # What is equal in the source may not be where the search is, and the other way about.
    for place in (source, tuples) if source.engine is not tuples.engine else (tuples,):
        hierarchy = mapping.aligned(place, hierarchy, data, tuples.engine)
    if unmapped:
        hierarchy = cover(hierarchy, data, column.name, unmapped)
    levels = range(hierarchy.height + 1)
    varying = tuple(level for level in levels[:-1] if any(m > 1 for m in hierarchy.leaves(level)))
    nulls = _null_row(hierarchy, varying) if None in hierarchy.values else None
    coded = Coded(stem, mapped, levels[-1], varying, nulls)
    return Attribute(column, hierarchy, coded, hierarchy.distinct(own))


def _null_row(hierarchy: Hierarchy, loss_levels: Sequence[int]) -> dict[str, int | str | None]:
    index = hierarchy.values.index(None)
    columns = mapping.mapping_columns(hierarchy, loss_levels)
    return {name: values[index] for name, (_, values) in columns.items()}


def _code(tables: Scratch, attributes: tuple[Attribute, ...], scan: str, sensitive: tuple[str, ...]) -> FrequencySet:
    counted = tables["tuples"]
    query = queries.frequency_set(counted, [a.coded for a in attributes], tables.engine.dialect, sensitive)
    relation = tables.create_as("frequency_set", query, "frequency_set", _SENTENCE)
    ((rows,),) = tables.rows("frequency_sets/total_rows", counted=relation)
    if sensitive:
        stems = [attribute.coded.stem for attribute in attributes]
        ((tuples,),) = tables.rows("frequency_sets/distinct_count", columns=stems, relation=counted)
    else:
        tuples = tables.count(relation)
    return FrequencySet(tables, relation, attributes, int(rows), int(tuples), (scan, query), sensitive)


def _check_coded(frequency_set: FrequencySet) -> None:
    """Stop where the coding lost or doubled a row of those that the scan counted: no value may have no code, or two."""
    tables = frequency_set.tables
    ((rows,),) = tables.rows("frequency_sets/total_rows", counted=tables["tuples"])
    if rows != frequency_set.rows:
        raise SourceError(
            f"the frequency set holds {frequency_set.rows:,} rows where {rows:,} were read; nothing was released, "
            "please report it"
        )


def check_rows(engine: Engine, table: Table, frequency_set: FrequencySet) -> None:
    """Stop where a source that no transaction keeps as it is has another number of rows by now: this reads it again."""
    ((rows,),) = engine.rows(queries.text("frequency_sets/row_count", engine.dialect, relation=table.relation))
    if rows != frequency_set.rows:
        raise SourceError(
            f"the frequency set holds {frequency_set.rows:,} rows and {table.relation.name} {rows:,}; "
            "the source changed while it was read, run again"
        )
