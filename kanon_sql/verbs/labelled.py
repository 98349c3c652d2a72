"""A population as somebody else's release shows it: its values, with the labels that the release has of each column."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.opening import embedded
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.frequency.fitting import hierarchy_sources
from kanon_sql.frequency.frequency_set import FrequencySet, build_frequency_set
from kanon_sql.frequency.population import Population
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Node
from kanon_sql.generalization.values import as_text
from kanon_sql.privacy import PrivacyModels
from kanon_sql.release.recoding import shown_population
from kanon_sql.spec import Spec, SuppressRecipe
from kanon_sql.verbs.population import opened_population
from kanon_sql.verbs.source import Source


@contextlib.contextmanager
def labelled_population(
    release: Source, names: Sequence[str], spec: Spec, model: PrivacyModels
) -> Iterator[tuple[Engine, str] | None]:
    """The query of the population that the models ask for as a release shows it, and where it is to be asked.

    The hierarchies are those of the spec, fitted to the population; where it has none for a column, this shows its
    values or `*`. Each column is taken to be generalized to the lowest level that has all its labels: a higher one
    would have at least as many of the population in a class. SpecError if there is none.
    """
    with opened_population(release.engine, spec, model) as population, contextlib.closing(embedded()) as here:
        if population is None:
            yield None
            return
        with Scratch(here, "population") as tables:
            frequency_set = _counted(population, names, spec, tables)
            yield here, shown_population(frequency_set, _node(release, frequency_set), tables["tuples"])


def _counted(population: Population, names: Sequence[str], spec: Spec, tables: Scratch) -> FrequencySet:
    """The population's tuples, by hierarchies that are fitted to them."""
    for name in names:
        if name not in spec.quasi_identifiers or population.table.column(name) is None:
            raise SourceError(
                f"the population has no column {name!r}, which makes the classes of the release; name a population "
                "with the same columns"
            )
    asked = {
        name: each if _has_hierarchy(spec, name) else each.model_copy(update={"hierarchy": SuppressRecipe()})
        for name, each in spec.quasi_identifiers.items()
    }
    fitted = hierarchy_sources(
        spec.model_copy(update={"quasi_identifiers": asked}), population.table, population.engine
    )
    builders = {name: each.build for name, each in fitted.items()}
    return build_frequency_set(
        population.engine, population.table, builders, tables, keep_tuples=True, unmapped=spec.unmapped
    )


def _has_hierarchy(spec: Spec, name: str) -> bool:
    if spec.quasi_identifiers[name].hierarchy is not None:
        return True
    return spec.hierarchies is not None and (Path(spec.hierarchies) / f"{name}.csv").exists()


def _node(release: Source, frequency_set: FrequencySet) -> Node:
    """The level that each column of a release shows."""
    return tuple(
        _level(each.hierarchy, each.column.name, _labels(release, each.column.name))
        for each in frequency_set.attributes
    )


def _labels(release: Source, name: str) -> set[str | None]:
    """The labels of a released column."""
    engine, relation = release.engine, release.table.relation
    query = queries.text("population/labels", engine.dialect, column=[name], release=relation)
    return {label for (label,) in engine.rows(query)}


def _level(hierarchy: Hierarchy, name: str, labels: set[str | None]) -> int:
    for level in range(hierarchy.height + 1):
        known = {None if label is None else as_text(label) for label in hierarchy.distinct_labels(level)}
        if labels <= known:
            return level
    raise SpecError(
        f"column {name!r} of the release shows labels that are not all on one level of its hierarchy, so that nobody "
        "knows which rows of the population they stand for; give the hierarchy that the release was made with, or a "
        "population with the same labels (of a local recoding it is known only where it is made)"
    )
