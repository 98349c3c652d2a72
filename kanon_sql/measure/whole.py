"""The source of a release, opened together with it to count its people and to compare its classes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kanon_sql.engine import Table
from kanon_sql.engines.files import files
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.measure.evidence import Evidence
from kanon_sql.measure.labelled import PopulationQuery, labelled_people, labelled_population
from kanon_sql.measure.owners import owners_of, waiting_changes
from kanon_sql.plan.source import Source, name_of, opened_source
from kanon_sql.privacy import PrivacyModels
from kanon_sql.recode.show import shown_names
from kanon_sql.spec import ReleaseSpec, Spec


@dataclass(frozen=True)
class Whole:
    """The open source of a release, and its name."""

    name: str
    source: Source


@contextlib.contextmanager
def opened_whole(against: Any, spec: ReleaseSpec, connection: Any, data: Source) -> Iterator[Whole]:
    """Open the source of a release: a file, data in memory, or a table, first looked up in the release's database."""
    name = name_of(against)
    if files(name) or not isinstance(against, (str, Path)):
        with opened_source(against, spec.session.without_tables) as source:
            yield Whole(name, source)
    elif table := data.engine.find(name):
        yield Whole(name, replace(data, table=table))
    else:
        with opened_source(name, spec.session, connection) as source:
            yield Whole(name, source)


def shown_columns(spec: Spec, table: Table) -> list[str]:
    """The columns that determine the classes of a release: two for a quasi-identifier that is shown by its bounds."""
    names: list[str] = []
    for name, attribute in spec.quasi_identifiers.items():
        shown = shown_names(name, attribute.show or spec.show or "labels")
        names += shown if all(map(table.column, shown)) else (name,)
    return names


@contextlib.contextmanager
def shown(
    release: Source,
    names: Sequence[str],
    spec: Spec,
    model: PrivacyModels,
    whole: Whole | None,
    written_as: str | None = None,
    kept: PopulationQuery | None = None,
    levels: Mapping[str, int] | None = None,
    evidence: Evidence | None = None,
) -> Iterator[tuple[Source, PopulationQuery | None]]:
    """The rows of a release together with the hidden columns of its models, such as the unit, and its population.

    `whole`: its source, which provides hidden columns; SpecError if there are any without it. `written_as`: the format
    of a release in a file. `kept` and `levels`: the population's query and the columns' levels, if available.
    `evidence`: of a local recoding, the labels of the source's tuples.
    """
    with contextlib.ExitStack() as stack:
        source_engine = whole.source.engine if whole else None
        population = kept or stack.enter_context(
            labelled_population(release, names, spec, model, source_engine, levels, evidence)
        )
        missing = [column for column in model.hidden if release.table.column(column) is None]
        if missing == [model.unit] and waiting_changes(release, model.unit):
            # The source has other rows; the private companion has those of the release with digests of their owners.
            path = release.files[0] if release.files else None
            here = stack.enter_context(contextlib.closing(release.engine.embedded()))
            owners, _ = owners_of(release, path, missing[0], stack.enter_context(Scratch(here, "owners")))
            if owners:
                yield owners, population
                return
        if missing:
            if whole is None:
                raise _not_shown(missing[0], model)
            release = stack.enter_context(
                labelled_people(release, names, spec, model, whole.source, written_as, levels, evidence)
            )
        yield release, population


def _not_shown(column: str, model: PrivacyModels) -> SpecError:
    """The error for a release that cannot be verified alone, because it lacks a column that is counted."""
    if column == model.unit:
        return SpecError(
            f"people are counted by {column!r}, which the release does not have; name its source with "
            "`against`, or leave out `unit` to count rows"
        )
    name = next(of_column.name for of_column in model.models if of_column.sensitive == column)
    return SpecError(
        f"{name} counts the values of {column!r}, which the release does not have; name its source "
        "with `against`, or leave out the model"
    )
