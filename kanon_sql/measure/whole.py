"""The source that a release was made of, read together with it to count its people and to compare its classes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kanon_sql.engine import Table
from kanon_sql.engines.files import files
from kanon_sql.errors import SpecError
from kanon_sql.measure.evidence import Evidence
from kanon_sql.measure.labelled import Shown, labelled_people, labelled_population
from kanon_sql.plan.source import IN_MEMORY, Source, opened_source
from kanon_sql.privacy import PrivacyModels
from kanon_sql.recode.show import shown_names
from kanon_sql.spec import ReleaseSpec, Spec


@dataclass(frozen=True)
class Whole:
    """The table that a release was made of, open, and what it is called."""

    name: str
    source: Source


@contextlib.contextmanager
def opened_whole(against: Any, spec: ReleaseSpec, connection: Any, data: Source) -> Iterator[Whole]:
    """The source of a release: a file, data in memory, or a table, where the release is if it is there."""
    name = str(against) if isinstance(against, (str, Path)) else IN_MEMORY
    if files(name) or name == IN_MEMORY:
        with opened_source(against, spec.session.without_tables) as source:
            yield Whole(name, source)
    elif table := data.engine.find(name):
        yield Whole(name, replace(data, table=table))
    else:
        with opened_source(name, spec.session, connection) as source:
            yield Whole(name, source)


def shown_columns(spec: Spec, table: Table) -> list[str]:
    """The columns that make the classes of a release: two of them where a quasi-identifier is shown by its bounds."""
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
    kept: Shown | None = None,
    levels: Mapping[str, int] | None = None,
    evidence: Evidence | None = None,
) -> Iterator[tuple[Source, Shown | None]]:
    """What a release is to be checked by: its rows, with their people where these count, and its population's.

    `whole`: its source, by which its people are told; SpecError where they count and it is not given. `written_as`: the
    format of a release that is a file. `kept`: the population, and `levels`: the columns' own, where they are known.
    `evidence`: what the tuples of a local recoding are shown as.
    """
    with contextlib.ExitStack() as stack:
        beside = whole.source.engine if whole else None
        labelled = labelled_population(release, names, spec, model, beside, levels, evidence)
        population = kept or stack.enter_context(labelled)
        missing = [column for column in model.hidden if release.table.column(column) is None]
        if missing:
            if whole is None:
                raise _not_shown(missing[0], model)
            of_people = labelled_people(release, names, spec, model, whole.source, written_as, levels, evidence)
            release = stack.enter_context(of_people)
        yield release, population


def _not_shown(column: str, model: PrivacyModels) -> SpecError:
    """Why a release cannot be verified alone that lacks a column which is counted."""
    if column == model.unit:
        return SpecError(
            f"people are told apart by {column!r}, which the release does not have; give the source that it was made "
            "of with `against`, or leave out `unit` to count rows"
        )
    name = next(each.name for each in model.models if each.sensitive == column)
    return SpecError(
        f"{name} counts the values of {column!r}, which the release does not have; give the source that it was made of "
        "with `against`, or leave out the model"
    )
