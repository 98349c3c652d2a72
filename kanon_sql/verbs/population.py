"""The population that a source is a sample of: what is asked of it, where it is, and what cannot be reached with it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from os import PathLike
from typing import Any

from kanon_sql.engine import Engine, refuse_equal_names
from kanon_sql.engines.files import files
from kanon_sql.errors import InfeasibleError, SourceError, SpecError
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.frequency.judge import may_suppress
from kanon_sql.frequency.population import Population
from kanon_sql.privacy import PrivacyModels
from kanon_sql.recode import RECODERS
from kanon_sql.recode import show as shows
from kanon_sql.spec import Spec
from kanon_sql.verbs.source import opened_source


def check_population(spec: Spec, model: PrivacyModels) -> None:
    """SpecError if what is asked beside a population cannot be done, before anything is opened."""
    if model.population is None:
        return
    _check_one(model)
    name = next(each.name for each in model.models if each.population is not None)
    if spec.mask:
        raise SpecError(
            f"which rows of a population would be masked is not known, so {name} cannot be said of masked rows; leave "
            "out `mask`, and they are left out of the release"
        )
    if model.every_class and is_a_query(spec):
        raise SpecError(
            "a least presence above 0 is asked of every class of the population together, and a query that counts its "
            "classes itself looks at one after the other; release a table with `form='table'`, or a file"
        )
    if model.every_class and spec.suppression_limit > 0:
        raise SpecError(
            "a least presence above 0 asks that every class of the population is in the release, so that no row may be "
            "suppressed; give `suppression_limit=0`"
        )
    if spec.strategy in RECODERS or shows.asked(spec):
        _check_recoder(spec, model)


def _check_one(model: PrivacyModels) -> None:
    """One population is counted, whatever is asked beside it."""
    for each in model.models:
        other = each.population
        same = other is model.population or (each.population_is_named and str(other) == str(model.population))
        if other is not None and not same:
            raise SpecError("two models name two populations; name one, with all that the source was drawn from")


def _check_recoder(spec: Spec, model: PrivacyModels) -> None:
    """A local recoding knows of a class only those rows of the population that are equal to rows of its own."""
    if model.every_class:
        raise SpecError(
            "a least presence above 0 is asked of every class of the population, and a local recoding has classes of "
            "the sample alone; name a search strategy without `show`, or give 0 as the least"
        )
    if spec.strategy == "mondrian_relaxed" and any("max" in each.parameters for each in model.models):
        raise SpecError(
            "mondrian_relaxed puts equal rows into several classes, so that none of these has all that the population "
            "has of them, and no share of it can be said; name mondrian"
        )


def is_a_query(spec: Spec) -> bool:
    """Whether a release is a view or a statement that stands alone, which counts all that it needs itself."""
    return spec.stands_alone or (spec.target is not None and spec.target.stays_a_query)


@contextlib.contextmanager
def opened_population(engine: Engine, spec: Spec, model: PrivacyModels) -> Iterator[Population | None]:
    """Open the population that the models ask for: a table where the source is, a file, or data in memory."""
    if model.population is None:
        yield None
        return
    named = isinstance(model.population, (str, PathLike))
    table = engine.find(str(model.population)) if named else None
    if table is not None:
        refuse_equal_names([column.name for column in table.columns], str(model.population))
        unit = model.unit if model.unit and table.column(model.unit) else None
        yield Population(engine, table, unit, as_it_is=is_a_query(spec))
        return
    if is_a_query(spec):
        raise SpecError(
            f"the population {model.population if named else 'in memory'} is no table where the source is, and a view, "
            "or a statement that stands alone, counts it whenever it is run; load it into the database, and name that "
            "table"
        )
    if named and not files(str(model.population)):
        raise SourceError(
            f"the population {model.population} is neither a table where the source is nor a file; check its name"
        )
    with opened_source(model.population) as source:
        has_unit = model.unit is not None and source.table.column(model.unit) is not None
        yield Population(source.engine, source.table, model.unit if has_unit else None)


def check_shares(spec: Spec, model: PrivacyModels, frequency_set: FrequencySet) -> None:
    """InfeasibleError if not even all rows in one class are what is asked of each class."""
    rows, people = frequency_set.rows, frequency_set.population
    local = spec.strategy in RECODERS or shows.asked(spec)
    if people is None or model.unit is not None:
        return
    least = rows if spec.strategy in RECODERS else rows - may_suppress(spec.suppression_limit, rows)
    for each in model.models:
        if each.population is not None and (reason := _unreachable(each.parameters, rows, least, people)):
            raise InfeasibleError(f"{each.name} cannot be met: {reason}{_OWN_TUPLES if local else ''}")


_OWN_TUPLES = " (a local recoding counts those rows of the population that are equal to rows of the sample)"


def _unreachable(asked: Any, rows: int, least: int, people: int) -> str | None:
    """Why no classes can meet a model; `least`: the rows that must be released."""
    if asked.get("k", 0) > people:
        return f"k is {asked['k']:,} and the population has only {people:,} rows; lower k"
    # The share of all rows is a mean of the classes' shares, so one of these is as high, and one as low.
    if least > asked.get("max", 1) * people:
        return (
            f"{least:,} rows or more are released of a population of {people:,}, so that some class has a share above "
            f"{asked['max']}; raise the upper bound or suppression_limit"
        )
    if rows < asked.get("min", 0) * people:
        return (
            f"the sample has {rows:,} rows of a population of {people:,}, so that some class has a share below "
            f"{asked['min']}; lower the lower bound"
        )
    return None
