"""A population, or a source, as a release of anybody's shows it: its values, with the labels that the release has."""

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
from kanon_sql.plan.population import opened_population
from kanon_sql.plan.source import Source
from kanon_sql.privacy import PrivacyModels, all_of, k_anonymity
from kanon_sql.queries import Hole, Relation
from kanon_sql.release.full_domain import FullDomain, shown_population
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.release.people import as_read, with_people
from kanon_sql.release.recoding import Recoding
from kanon_sql.spec import Spec, SuppressRecipe

Shown = tuple[Engine, str]  # the query of a population as a release shows it, and where it is asked


def kept_population(recoding: Recoding, view: Relation | None) -> Shown | str | None:
    """The population as a local recoding shows it, for its labels do not tell what they stand for.

    Of a view the query that counts it anew, else what it is now, kept by itself. None without a population, and where
    the labels of a node tell it.
    """
    made = recoding.shown_population() if isinstance(recoding, LocalRecoding) else None
    if made is None:
        return None
    if view and isinstance(recoding, LocalRecoding):
        return recoding.view_population_sql(view)
    engine, query = made
    here = engine.embedded()
    kept = Scratch(here, "kept").receive("population", engine, query)  # not dropped: it goes with the engine
    return here, queries.select_all(kept, here.dialect)


@contextlib.contextmanager
def labelled_population(
    release: Source,
    names: Sequence[str],
    spec: Spec,
    model: PrivacyModels,
    beside: Engine | None = None,
    levels: Mapping[str, int] | None = None,
    evidence: Evidence | None = None,
) -> Iterator[Shown | None]:
    """The query of the population that the models ask for as a release shows it, and where it is to be asked.

    `beside`: where a table of the population is looked for, if not where the release is. The hierarchies are those of
    the spec, fitted to the population; where it has none for a column, this shows its values or `*`. Each column is
    taken to be generalized to the lowest level that has all its labels: a higher one would have at least as many of the
    population in a class. SpecError if there is none. `levels`: those of the columns, where they are known. `evidence`:
    what the tuples of the source are shown as, of a local recoding.
    """
    where = beside or release.engine
    with opened_population(where, spec, model) as population, contextlib.closing(where.embedded()) as here:
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
    levels: Mapping[str, int] | None = None,
    evidence: Evidence | None = None,
) -> Iterator[Source]:
    """The released rows with the columns that no release has, such as the people's, as its source has them.

    A class is all rows of the source with its labels: SourceError if the release has others, for nobody knows then
    whose its rows are. The labels are found as those of a population are. `written_as`: the format of a release that
    is a file. `levels`: those of the columns, where they are known. `evidence`: what the tuples are shown as, of a
    local recoding.
    """
    _check_people(whole, model)
    counted = [column for column in model.sensitive.values() if column not in model.hidden]
    columns, hidden = list(dict.fromkeys([*names, *counted])), list(model.hidden)
    with (
        contextlib.closing(whole.engine.embedded()) as here,
        Scratch(here, "people") as tables,
        Scratch(whole.engine) as made,
    ):
        if evidence:
            shown = evidence.people(made, whole.table, spec, [*counted, *hidden])
            people = as_read(tables, whole.engine, shown, written_as)
        else:
            table = replace(whole.table, columns=tuple(c for c in whole.table.columns if c.name in (*columns, *hidden)))
            frequency_set = _counted("source", whole.engine, table, names, spec, made)
            recoding = _shown_rows(frequency_set, _node(release, frequency_set, levels), table, spec)
            people = with_people(recoding, tables, written_as)
        query = queries.text(
            "privacy/class_rows", release.engine.dialect, release=release.table.relation, columns=columns
        )
        released = tables.receive("released", release.engine, query)
        holes: dict[str, Hole] = {"people": people, "released": released, "names": list(names), "columns": columns}
        kept = tables.make("kept", "privacy/released_people", hidden=hidden, **holes)
        other = tables.make("shown", "privacy/class_rows", release=kept, columns=columns)
        ((differing,),) = tables.rows("privacy/differing_rows", one=released, other=other, columns=columns)
        if differing:
            raise SourceError(
                f"the release has other rows than its source shows by the same labels, in {differing:,} kinds of rows, "
                "so that nobody knows whose they are; give the source that it was made of as it was then"
            )
        yield Source(here, here.table(kept))


def _check_people(whole: Source, model: PrivacyModels) -> None:
    for column in model.sensitive.values():
        if whole.table.column(column) is None:
            raise SpecError(
                f"the source has no column {column!r}, which is counted; give the source that the release was made of"
            )


def _shown_rows(frequency_set: FrequencySet, node: Node, table: Table, spec: Spec) -> FullDomain:
    """The rows of a source as a recoding shows them that suppresses none."""
    judge = Judge(frequency_set, all_of(k_anonymity(1)))
    plain = spec.model_copy(update={"identifiers": (), "target": None, "mask": False, "shuffle": False})
    shown = FullDomain(frequency_set.tables, table, judge, node, 0, plain)
    shown.prepare()
    return shown


def _counted(
    what: str, engine: Engine, table: Table, names: Sequence[str], spec: Spec, tables: Scratch
) -> FrequencySet:
    """The tuples of a population, or of a source, by hierarchies that are fitted to them."""
    for name in names:
        if name not in spec.quasi_identifiers or table.column(name) is None:
            raise SourceError(
                f"the {what} has no column {name!r}, which makes the classes of the release; name a {what} with the "
                "same columns"
            )
    asked = {
        name: each if has_hierarchy(spec, name) else each.model_copy(update={"hierarchy": SuppressRecipe()})
        for name, each in spec.quasi_identifiers.items()
    }
    fitted = hierarchy_sources(spec.model_copy(update={"quasi_identifiers": asked}), table, engine)
    builders = {name: each.build for name, each in fitted.items()}
    return build_frequency_set(engine, table, builders, tables, keep_tuples=True, unmapped=spec.unmapped)


def _node(release: Source, frequency_set: FrequencySet, levels: Mapping[str, int] | None = None) -> Node:
    """The level that each column of a release shows, unless it is known."""
    if levels is not None:
        return tuple(levels[each.column.name] for each in frequency_set.attributes)
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
        "knows which rows they stand for; give the hierarchy that the release was made with, or a population with the "
        "same labels; of a local recoding, verify the file or table that was released, with the evidence that was kept "
        "with it (`.kanon/` beside a file), or release again"
    )
