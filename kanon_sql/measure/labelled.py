"""A population or a source with the labels of a release, determined from the release alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kanon_sql import queries
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.frequency.fitting import has_hierarchy, hierarchy_sources
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Node
from kanon_sql.generalization.values import as_text
from kanon_sql.measure.evidence import Evidence
from kanon_sql.measure.fetched import in_same_engine
from kanon_sql.plan.population import opened_population
from kanon_sql.plan.source import Source
from kanon_sql.privacy import PrivacyModels, all_of, k_anonymity
from kanon_sql.queries import Hole, Relation, Same
from kanon_sql.release.full_domain import FullDomain, shown_population
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.release.people_check import as_read, with_people
from kanon_sql.release.recoding import Recoding
from kanon_sql.spec import Spec, SuppressRecipe

PopulationQuery = tuple[Engine, str]  # the query of a population with a release's labels, and the engine to run it


def kept_population(recoding: Recoding, view: Relation | None) -> PopulationQuery | str | None:
    """The population with the labels of a local recoding, which cannot be determined from the labels later.

    For a view, the query that counts the population again; otherwise a copy of its current counts. None without a
    population, and for a node, whose labels suffice.
    """
    population = recoding.shown_population() if isinstance(recoding, LocalRecoding) else None
    if population is None:
        return None
    if view and isinstance(recoding, LocalRecoding):
        return recoding.view_population_sql(view)
    engine, query = population
    here = engine.embedded()
    copy = Scratch(here, "kept").receive("population", engine, query)  # not dropped: it ends with its engine
    return here, queries.select_all(copy, here.dialect)


@contextlib.contextmanager
def labelled_population(
    release: Source,
    names: Sequence[str],
    spec: Spec,
    model: PrivacyModels,
    population_engine: Engine | None,
    levels: Mapping[str, int] | None,
    evidence: Evidence | None,
) -> Iterator[PopulationQuery | None]:
    """The query of the models' population with the labels of a release, and the engine to run it.

    `population_engine`: with the population's table, if it differs from the release's. The hierarchies of the spec are
    fitted to the population; columns without one show values or `*`. A column's level is the lowest one that has all
    labels of the release: at a higher one, classes would contain at least as many of the population. SpecError if there
    is no such level. `levels`: of the columns, if available. `evidence`: of a local recoding, the labels of the
    source's tuples.
    """
    home = population_engine or release.engine
    with opened_population(home, spec, model) as population, contextlib.closing(home.embedded()) as here:
        if population is None:
            yield None
            return
        if evidence:
            with Scratch(population.engine, "population") as tables:
                yield population.engine, evidence.population(tables, population.table, population.unit)
            return
        with Scratch(here, "population") as tables:
            frequency_set = _counted("population", population.engine, population.table, names, spec, tables)
            yield here, shown_population(frequency_set, _node(release, frequency_set, levels), tables["tuples"])


@contextlib.contextmanager
def labelled_people(
    release: Source,
    names: Sequence[str],
    spec: Spec,
    model: PrivacyModels,
    whole: Source,
    written_as: str | None,
    levels: Mapping[str, int] | None,
    evidence: Evidence | None,
) -> Iterator[Source]:
    """The released rows together with the source's columns that a release lacks, such as the unit.

    A class consists of all rows of the source with its labels. SourceError if the release has other rows, since their
    people are then unknown. Labels are determined as for a population. `written_as`: the format of a release in a
    file. `levels`: of the columns, if available. `evidence`: of a local recoding, the labels of the source's tuples.
    """
    for column in model.sensitive.values():
        if whole.table.column(column) is None:
            raise SpecError(f"the source has no column {column!r}, which is counted; name the source of the release")
    counted = [column for column in model.sensitive.values() if column not in model.hidden]
    columns = list(dict.fromkeys([*names, *counted]))
    hidden = list(model.hidden)
    with contextlib.closing(whole.engine.embedded()) as here, Scratch(here, "people") as tables:
        with Scratch(whole.engine) as scratch:
            if evidence:
                query = evidence.people(scratch, whole.table, spec, [*counted, *hidden])
                people = as_read(tables, whole.engine, query, written_as)
            else:
                table = replace(
                    whole.table, columns=tuple(c for c in whole.table.columns if c.name in (*columns, *hidden))
                )
                frequency_set = _counted("source", whole.engine, table, names, spec, scratch)
                # A recoding that shows all rows of the source at the release's node, without suppression.
                judge = Judge(frequency_set, all_of(k_anonymity(1)))
                plain = spec.model_copy(update={"identifiers": (), "target": None, "mask": False, "shuffle": False})
                node = _node(release, frequency_set, levels)
                recoding = FullDomain(
                    tables=frequency_set.tables, table=table, judge=judge, node=node, rows_at_risk=0, spec=plain
                )
                recoding.prepare()
                people = with_people(recoding, tables, written_as)
        n: Hole = 1
        if read := in_same_engine(tables, "release", release):
            released = read.table.relation
        else:
            rows, dialect = release.table.relation, release.engine.dialect
            query = queries.text("privacy/class_rows", dialect, release=rows, columns=columns)
            released, n = tables.receive("released", release.engine, query), ["n"]
        with_people_rows = tables.create(
            "kept",
            "privacy/released_people",
            people=people,
            released=released,
            columns=columns,
            hidden=hidden,
            names=list(names),
            same=Same(list(names), "p", "r"),
        )
        tables.drop(people)
        compared: dict[str, Hole] = {"one": released, "other": with_people_rows, "columns": columns}
        ((differing,),) = tables.rows("privacy/differing_rows", n=n, n_other=1, **compared)
        if differing:
            raise SourceError(
                f"the release has other rows than its source with the same labels ({differing:,} distinct rows), so "
                "that their people are unknown; name the source as it was at the time of the release"
            )
        yield Source(here, here.table(with_people_rows))


def _counted(
    what: str, engine: Engine, table: Table, names: Sequence[str], spec: Spec, tables: Scratch
) -> FrequencySet:
    """The frequency set of a population or a source, with hierarchies that are fitted to its values."""
    for name in names:
        if name not in spec.quasi_identifiers or table.column(name) is None:
            raise SourceError(
                f"the {what} has no column {name!r}, which determines the classes of the release; name a {what} with "
                "the same columns"
            )
    attributes = {}
    for name, attribute in spec.quasi_identifiers.items():
        if not has_hierarchy(spec, name):
            attribute = attribute.model_copy(update={"hierarchy": SuppressRecipe()})
        attributes[name] = attribute
    fitted = hierarchy_sources(spec.model_copy(update={"quasi_identifiers": attributes}), table, engine)
    builders = {name: hierarchy.build for name, hierarchy in fitted.items()}
    return build_frequency_set(engine, table, builders, tables, keep_tuples=True, unmapped=spec.unmapped)


def _node(release: Source, frequency_set: FrequencySet, levels: Mapping[str, int] | None) -> Node:
    """The level of every column of a release: from `levels` if available, otherwise from its labels."""
    node = []
    for attribute in frequency_set.attributes:
        name = attribute.column.name
        if levels is None:
            engine, relation = release.engine, release.table.relation
            query = queries.text("population/labels", engine.dialect, column=[name], release=relation)
            node.append(_level(attribute.hierarchy, name, {label for (label,) in engine.rows(query)}))
        else:
            node.append(levels[name])
    return tuple(node)


def _level(hierarchy: Hierarchy, name: str, labels: set[str | None]) -> int:
    for level in range(hierarchy.height + 1):
        texts = {None if label is None else as_text(label) for label in hierarchy.distinct_labels(level)}
        if labels <= texts:
            return level
    raise SpecError(
        f"column {name!r} of the release has labels that are not all on one level of its hierarchy, so that it is "
        "unknown which rows they mean; name the hierarchy that the release used, or a population with "
        "the same labels; of a local recoding, verify the file or table that was released, with the evidence that was "
        "kept with it (`.kanon/` next to a file), or release again"
    )
