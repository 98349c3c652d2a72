"""The frequency set: counted distinct quasi-identifier tuples, with a column per level of every hierarchy.

The raw table is scanned once, for its distinct tuples. All further steps use only these: hierarchies are fitted to the
values that occur, loaded as mapping tables, and joined. The term is from Incognito (LeFevre et al. 2005).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

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
from kanon_sql.spec import Unmapped

Build = Callable[[Sequence[Any]], Hierarchy]
_SENTENCE = "Turn the distinct tuples into codes: one integer column per attribute and level."

_FEW_VALUES = 1000  # of an attribute whose cells are fetched
_FEW_ATTRIBUTES = 24  # with a separate query for every one


@dataclass(frozen=True)
class Attribute:
    """A quasi-identifier: its column, its hierarchy fitted to the data, and its mapping table.

    `distinct[l]`: the number of labels of level l that occur.
    """

    column: Column
    hierarchy: Hierarchy
    coded: Coded
    distinct: tuple[int, ...] = ()


@dataclass(frozen=True)
class FrequencySet:
    """The counted tuples in an engine: `rows` source rows in `tuples` distinct ones.

    One row per tuple, or with sensitive columns per tuple and combination of their values. With a population, the
    column `population` counts its rows, and tuples that only the population has have n = 0.
    """

    tables: Scratch
    relation: Relation
    attributes: tuple[Attribute, ...]
    rows: int
    tuples: int
    sql: tuple[str, str]
    """The scan of the source, and the coding of its tuples."""
    sensitive: tuple[str, ...] = ()
    """Columns of codes by which a tuple's rows are counted separately, for privacy models that need them."""
    references: Mapping[str, Relation] = field(default_factory=dict, hash=False)
    """The values of sensitive columns in the whole table, for models that compare a class with it."""
    population: int | None = None
    """The rows of the population, or its people; None without one."""
    population_unit: bool = False
    """Whether the population's people are distinguished."""
    sampled_from: Population | None = None
    """Where the population is; its engine can already be closed if it is not the source's."""

    @property
    def engine(self) -> Engine:
        """The engine of the relation."""
        return self.tables.engine

    @cached_property
    def heights(self) -> Node:
        """The top of the full lattice."""
        return tuple(attribute.hierarchy.height for attribute in self.attributes)

    @cached_property
    def together(self) -> dict[int, Attribute]:
        """The attributes with few values, by number, if one query counts the cells of all of them; else none.

        A wide table takes longer to plan than to read, and a query per attribute plans it once per attribute.
        """
        few = {
            j: attribute
            for j, attribute in enumerate(self.attributes)
            if not attribute.coded.by_rules and len(attribute.hierarchy.values) <= _FEW_VALUES
        }
        return few if self.engine.is_embedded and len(few) > _FEW_ATTRIBUTES else {}

    @cached_property
    def value_counts(self) -> dict[int, dict[int, int]]:
        """The rows of every value, by its code, of the attributes counted together."""
        counts: dict[int, dict[int, int]] = {j: {} for j in self.together}
        if counts:
            codes = [attribute.coded.code_column(0) for attribute in self.together.values()]
            holes: dict[str, Hole] = {"attributes": len(codes), "codes": codes, "frequency_set": self.relation}
            numbers = list(counts)
            for place, code, n in sorted(self.tables.rows("quality/values_together", **holes)):
                if n:
                    counts[numbers[place]][int(code)] = int(n)
        return counts

    @property
    def keys(self) -> list[str]:
        """The columns that distinguish the tuples: every attribute's codes on level 0."""
        return [attribute.coded.code_column(0) for attribute in self.attributes]

    @property
    def has_shared_codes(self) -> bool:
        """Whether several values of an attribute can have the same code: those that are in no hierarchy."""
        return any(attribute.hierarchy.starred for attribute in self.attributes)

    @property
    def has_own_rows(self) -> bool:
        """Whether every tuple has one row, instead of several by sensitive values or with equal codes."""
        return not (self.has_shared_codes or self.distinguishing_columns)

    @property
    def sums(self) -> list[str]:
        """The columns that are summed when tuples are merged."""
        losses = (a.coded.loss_column(level) for a in self.attributes for level in a.coded.loss_levels)
        return ["n", *losses, *([] if self.population is None else ["population"])]

    @property
    def distinguishing_columns(self) -> list[str]:
        """The columns by which the rows of a tuple are counted separately: sensitive values, people."""
        return [*self.sensitive, *([POPULATION_UNIT] if self.population_unit else [])]

    @property
    def counted(self) -> list[str]:
        """The columns that models need in addition to n."""
        return [*self.distinguishing_columns, *([] if self.population is None else ["population"])]

    def level_columns(self, node: Node) -> list[str]:
        """The columns with a node's codes, which represent the node in the database.

        An attribute at its top has one code for all rows and distinguishes no classes, so it is omitted.
        """
        pairs = list(zip(self.attributes, node, strict=True))
        distinguishing = [a.coded.code_column(level) for a, level in pairs if level < a.hierarchy.height]
        return distinguishing or [pairs[0][0].coded.code_column(node[0])]


def build_frequency_set(
    engine: Engine,
    table: Table,
    hierarchies: Mapping[str, Build],
    tables: Scratch,
    keep_tuples: bool = False,
    unmapped: Unmapped | None = None,
    sensitive: Mapping[str, str] = MappingProxyType({}),
    compared: Sequence[str] = (),
    groups: Mapping[str, Groups] = MappingProxyType({}),
    sampled_from: Population | None = None,
    counted_by: str | None = None,
) -> FrequencySet:
    """Scan the table once and code its tuples; the hierarchies are built from the columns' distinct values.

    `tables`: where the tuples, the mapping tables and the frequency set are created, in this engine or another.
    `unmapped`: how to treat a value that its hierarchy lacks; None means no check. `sensitive`: the columns whose
    values are counted separately, by their names in the frequency set; `compared`: the sensitive columns that models
    compare with the whole table, and `groups` the rows of their hierarchies. `sampled_from`: the population, whose
    tuples are counted, too; SourceError if the table is not a sample of it. `counted_by`: the column with the number of
    rows per tuple, if the table was counted elsewhere.
    """
    stems = queries.plain_names(list(hierarchies))
    in_population = population.count(sampled_from, tables, table, stems) if sampled_from else {}
    columns = {stem: column for column, stem in stems.items()}
    scan = queries.tuples(columns, sensitive, table.relation, engine.dialect, compared, counted_by)
    tuples = tables.receive("tuples", engine, scan, "frequency_sets/tuples")
    types = {column.name: column.type for column in tables.engine.table(tuples).columns}
    attributes = []
    for name, build in hierarchies.items():
        if not (column := table.column(name)):
            continue
        source = Place(engine, table.relation, column)
        places = [Place(tables.engine, tuples, Column(stems[name], types[stems[name]], column.kind))]
        places += [in_population[name]] if name in in_population else []
        if tables.engine is not engine:
            places = mapping.in_one_writing(tables, source, places)
        attributes.append(_attribute(tables, source, places, tables[f"map_{stems[name]}"], build, unmapped))
    frequency_set = _code(tables, tuple(attributes), scan, tuple(sensitive))
    references = {name: _reference(frequency_set, name, groups.get(name, ())) for name in compared}
    if sampled_from:
        frequency_set = _with_population(replace(frequency_set, sampled_from=sampled_from))
    if not keep_tuples:
        tables.drop(tuples)
    return replace(frequency_set, references=references)


def _with_population(frequency_set: FrequencySet) -> FrequencySet:
    """The frequency set with the tuples of the population, counted before."""
    sampled_from = frequency_set.sampled_from
    people = sampled_from is not None and sampled_from.unit is not None
    tables = frequency_set.tables
    coded = [attribute.coded for attribute in frequency_set.attributes]
    counted = population.code(tables, coded, people)
    levels = [attribute.code_column(level) for attribute in coded for level in range(attribute.height + 1)]
    losses, sensitive = frequency_set.sums[1:], frequency_set.sensitive
    query = queries.with_population(
        frequency_set.relation,
        counted,
        levels,
        losses,
        sensitive,
        tables.engine.dialect,
        POPULATION_UNIT if people else None,
    )
    both = tables.create_as("both", query)
    more = Predicate(
        "SUM(n) > SUM(population)",
        unit=UNIT if UNIT in sensitive else None,
        populated=True,
        population_unit=POPULATION_UNIT if people else None,
    )
    population.refuse_unmatched(tables, both, frequency_set.keys, more)
    ((_, rows),) = tables.rows("population/totals", frequency_set=both)
    sampled_from = sampled_from and replace(sampled_from, counted=int(rows))
    populated = replace(
        frequency_set, relation=both, population=int(rows), population_unit=people, sampled_from=sampled_from
    )
    return populated if populated.distinguishing_columns else _one_row_per_tuple(populated)


def sampled(frequency_set: FrequencySet) -> FrequencySet:
    """The frequency set of the table's tuples only; `population` counts the rows of the population equal to them.

    This is a lower bound for the rows of the population in a class of several tuples, so that safe classes are safe.
    Every person is counted once, at one of their tuples.
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
    """The values of a sensitive column, by their codes, with their rows (or people)."""
    tables = frequency_set.tables
    raw = queries.raw_column(name)
    rows = Predicate("SUM(n)", unit=UNIT if UNIT in frequency_set.sensitive else None)
    query = queries.reference(tables["tuples"], name, raw, rows, tables.engine.dialect, groups)
    return tables.create_as(f"reference{name}", query)


def merge_equal_codes(frequency_set: FrequencySet, drop: bool = True) -> FrequencySet:
    """The frequency set with one row per combination of codes: values that are in no hierarchy share one.

    Node tests sum up such rows anyway; algorithms that identify a tuple by its codes need them merged. `drop`: drop the
    original relation.
    """
    if not frequency_set.has_shared_codes:
        return frequency_set
    merged = _one_row_per_tuple(frequency_set, drop)
    ((tuples,),) = merged.tables.rows("frequency_sets/distinct_count", columns=merged.keys, relation=merged.relation)
    return replace(merged, tuples=int(tuples))


def _one_row_per_tuple(frequency_set: FrequencySet, drop: bool = True) -> FrequencySet:
    """The frequency set with one row per combination of codes and of columns that are counted separately."""
    tables = frequency_set.tables
    names = [column.name for column in frequency_set.engine.table(frequency_set.relation).columns]
    keys = [*frequency_set.keys, *frequency_set.distinguishing_columns]
    sums = frequency_set.sums
    levels = [name for name in names if name not in (*keys, *sums)]
    holes: dict[str, Hole] = {"keys": keys, "levels": levels, "sums": sums}
    merged = tables.create("merged", "frequency_sets/rollup", frequency_set=frequency_set.relation, **holes)
    if drop:
        tables.drop(frequency_set.relation)
    return replace(frequency_set, relation=merged)


def _attribute(
    tables: Scratch,
    source: Place,
    places: Sequence[Place],
    mapped: Relation,
    build: Build,
    unmapped: Unmapped | None,
) -> Attribute:
    """Fit a hierarchy to the values that occur and create its mapping table.

    `places`: the column among the counted tuples, and with a population, among its tuples. `unmapped`: None
    leaves values that the hierarchy lacks without a row.
    """
    place, *in_population = places
    column = Column(source.column.name, place.column.type, source.column.kind)
    own = mapping.in_canonical_form(mapping.values_of(place), source.column)
    if isinstance(build, Ruled) and place.engine is source.engine and not in_population and unmapped is not None:
        in_engine = ruled.fitted(tables, place, build, own, mapped)
        if in_engine:
            return Attribute(replace(source.column, type=place.column.type), *in_engine, in_engine[0].counts)
    data = list(own)
    found = set(keys(own))
    for other in in_population:
        values = mapping.in_canonical_form(mapping.values_of(other), source.column)
        data += [value for value in values if key(value) not in found]
    hierarchy = build(data)
    # Values that are equal in the source can differ where the search runs, and vice versa.
    for column_place in (source, place) if source.engine is not place.engine else (place,):
        hierarchy = mapping.aligned(column_place, hierarchy, data, place.engine)
    if unmapped:
        hierarchy = cover(hierarchy, data, column.name, unmapped)
    levels = range(hierarchy.height + 1)
    varying = tuple(level for level in levels[:-1] if any(m > 1 for m in hierarchy.leaves(level)))
    nulls = None
    if None in hierarchy.values:
        index = hierarchy.values.index(None)
        entries = mapping.mapping_columns(hierarchy, varying)
        nulls = {name: values[index] for name, (_, values) in entries.items()}
    coded = Coded(place.column.name, mapped, levels[-1], varying, nulls)
    mapping.load(tables, place, coded, hierarchy)
    return Attribute(column, hierarchy, coded, hierarchy.distinct(own))


def _code(tables: Scratch, attributes: tuple[Attribute, ...], scan: str, sensitive: tuple[str, ...]) -> FrequencySet:
    counted = tables["tuples"]
    ((read, most),) = tables.rows("frequency_sets/total_and_most_rows", counted=counted)
    # Where nearly all tuples differ, most of the memory would be losses of eight bytes.
    loss_types = {a.coded.stem: tables.engine.integer_type(most * a.hierarchy.leaf_count) for a in attributes}
    coded = [attribute.coded for attribute in attributes]
    query = queries.frequency_set(counted, coded, tables.engine.dialect, sensitive, loss_types)
    relation = tables.create_as("frequency_set", query, "frequency_set", _SENTENCE)
    ((rows,),) = tables.rows("frequency_sets/total_rows", counted=relation)
    if rows != read:  # every value must have exactly one code
        raise SourceError(
            f"the frequency set has {rows:,} rows where {read:,} were read; nothing was released, please report it"
        )
    if sensitive:
        stems = [attribute.stem for attribute in coded]
        ((tuples,),) = tables.rows("frequency_sets/distinct_count", columns=stems, relation=counted)
    else:
        tuples = tables.count(relation)
    return FrequencySet(tables, relation, attributes, int(rows), int(tuples), (scan, query), sensitive)


def check_rows(engine: Engine, table: Table, frequency_set: FrequencySet) -> None:
    """SourceError if a source that no transaction protects now has another number of rows; reads it again."""
    ((rows,),) = engine.rows(queries.text("frequency_sets/row_count", engine.dialect, relation=table.relation))
    if rows != frequency_set.rows:
        raise SourceError(
            f"the frequency set has {frequency_set.rows:,} rows and {table.relation.name} {rows:,}; "
            "the source changed while it was read, run again"
        )
