"""The population that a source is a sample of: what is asked of it, where it is, and what cannot be reached with it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from os import PathLike
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, Table, refuse_equal_names
from kanon_sql.engines.files import files, source_format
from kanon_sql.engines.opening import embedded
from kanon_sql.errors import InfeasibleError, SourceError, SpecError
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.frequency.population import Population
from kanon_sql.plan.source import IN_MEMORY, opened_source
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import Relation
from kanon_sql.recode import RECODERS
from kanon_sql.recode import show as shows
from kanon_sql.spec import Spec, may_suppress, speakable, suppresses


def check_population(spec: Spec, model: PrivacyModels) -> None:
    """SpecError if what is asked beside a population cannot be done, before anything is opened."""
    if model.population is None:
        return
    for each in model.every:
        other, named = each.population, isinstance(each.population, (str, PathLike))
        same = other is model.population or (named and str(other) == str(model.population))
        if other is not None and not same:
            raise SpecError("two models name two populations; name one, with all that the source was drawn from")
    name = next(each.name for each in model.every if each.population is not None)
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
    if model.every_class and suppresses(spec.suppression_limit):
        raise SpecError(
            "a least presence above 0 asks that every class of the population is in the release, so that no row may be "
            "suppressed; give `suppression_limit=0`"
        )
    if spec.strategy in RECODERS or shows.asked(spec):
        _check_recoder(spec, model)


def _check_recoder(spec: Spec, model: PrivacyModels) -> None:
    """A local recoding knows of a class only those rows of the population that are equal to rows of its own."""
    if model.every_class:
        raise SpecError(
            "a least presence above 0 is asked of every class of the population, and a local recoding has classes of "
            "the sample alone; name a search strategy without `show`, or give 0 as the least"
        )
    if spec.strategy == "mondrian_relaxed" and any("max" in each.parameters for each in model.models):
        raise SpecError(
            "mondrian_relaxed puts equal rows into several classes, and who fits several is likelier to be in the "
            "release than the share of any of them says, so that no share bounds it; name mondrian"
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
    name = str(model.population) if isinstance(model.population, (str, PathLike)) else None
    said, table = speakable(name) if name else IN_MEMORY, engine.find(name) if name else None
    if table is not None:
        refuse_equal_names([column.name for column in table.columns], said)
        yield Population(engine, table, _people(table, model), as_it_is=is_a_query(spec), name=said)
        return
    if is_a_query(spec):
        raise _no_table(engine, spec, name)
    if name and not files(name):
        raise SourceError(f"the population {said} is neither a table where the source is nor a file; check its name")
    with opened_source(model.population, spec.session.as_it_is.without_tables) as source:
        yield Population(source.engine, source.table, _people(source.table, model), name=said)
        source.check_unchanged(name or IN_MEMORY)


def _people(table: Table, model: PrivacyModels) -> str | None:
    """The column of a population's people, if they are counted; SpecError if it lacks it."""
    if model.unit and table.column(model.unit) is None:
        raise SpecError(
            f"the population has no column {model.unit!r}, by which its people could be counted as those of the source "
            f"are; add one to it, the number of the row where each row is one person, or leave out `unit`"
        )
    return model.unit


def _no_table(engine: Engine, spec: Spec, name: str | None) -> SpecError:
    """Why a population that is no table where the source is, a file or data in memory, will not do, and what will."""
    there = engine.find(spec.source) is not None
    next_step = "load it into a table there" if there else "load it and the source into tables of one database"
    if name and files(name):
        saved = "" if engine.reads_files or source_format(name) == "csv" else "save it as CSV, and "
        next_step = f"{saved}{next_step}, with {' and '.join(f'`{each}`' for each in _loading(engine, spec, name))}"
    elif name:
        next_step = f"check its name, or {next_step}"
    return SpecError(
        f"the population {speakable(name) if name else IN_MEMORY} is no table where the source is, and a view, or a "
        f"statement that stands alone, counts it whenever it is run; {next_step}, and name that table"
    )


def _loading(engine: Engine, spec: Spec, name: str) -> list[str]:
    """The statements that make a table of files, in the types of the source's columns."""
    paths, source = files(name), engine.find(spec.source)
    known = {column.name: column.type for column in source.columns} if source else {}
    if not engine.reads_files:
        paths = [path.with_suffix(".csv") for path in paths]  # psql reads nothing else
    types = {
        each.name: known.get(each.name, each.type if engine.reads_files else "text")
        for each in embedded(spec.session.limits).read_file(name).columns
    }
    table = Relation(paths[0].stem if len(paths) == 1 else "population")
    return queries.load_files(table, types, list(map(str, paths)), engine.dialect)


def check_shares(spec: Spec, model: PrivacyModels, frequency_set: FrequencySet) -> None:
    """InfeasibleError if not even all rows in one class are what is asked of each class."""
    rows, people = frequency_set.rows, frequency_set.population
    local = spec.strategy in RECODERS or shows.asked(spec)
    if people is None or model.unit is not None:
        return
    least = rows - may_suppress(spec.suppression_limit, rows)
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
