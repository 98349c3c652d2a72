"""The population that a source is a sample of: checks of models that use it, opening it, and limits it implies."""

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
from kanon_sql.spec import Spec, may_suppress, speakable, suppresses

_EQUAL_ROWS_ONLY = " (a local recoding counts only rows of the population that are equal to rows of the sample)"


def check_population(spec: Spec, models: PrivacyModels) -> None:
    """SpecError if the spec conflicts with models of a population, before anything is opened."""
    if models.population is None:
        return
    populated = [model for model in models.every if model.population is not None]
    for model in populated:
        same_name = isinstance(model.population, (str, PathLike)) and str(model.population) == str(models.population)
        if model.population is not models.population and not same_name:
            raise SpecError(
                "two models name different populations; name one, the table from which the source was drawn"
            )
    if spec.mask:
        raise SpecError(
            f"{populated[0].name} cannot be verified for masked rows, because it is unknown which rows of the "
            "population would be masked; leave out `mask` to suppress these rows"
        )
    if models.every_class and is_a_query(spec):
        raise SpecError(
            "a minimum presence above 0 concerns all classes of the population at once, and a view or a standalone "
            "statement counts class by class; release a table with `form='table'`, or a file"
        )
    if models.every_class and suppresses(spec.suppression_limit):
        raise SpecError(
            "a minimum presence above 0 needs every class of the population in the release, so that no row may be "
            "suppressed; use `suppression_limit=0`"
        )
    if spec.strategy in RECODERS or spec.sets_show:
        _check_recoder(spec, models)


def _check_recoder(spec: Spec, models: PrivacyModels) -> None:
    """A local recoding counts only rows of the population that are equal to rows of the sample."""
    if models.every_class:
        raise SpecError(
            "a minimum presence above 0 concerns every class of the population, and a local recoding has classes of "
            "the sample only; name a search strategy without `show`, or set the minimum to 0"
        )
    if spec.strategy == "mondrian_relaxed" and any("max" in model.parameters for model in models.models):
        raise SpecError(
            "mondrian_relaxed puts equal rows into several classes, so that the share of a class does not bound the "
            "probability that a person of the population is in the release; name mondrian"
        )


def is_a_query(spec: Spec) -> bool:
    """Whether a release is a view or a standalone statement, which counts everything again whenever it runs."""
    return spec.standalone or (spec.target is not None and spec.target.stays_a_query)


@contextlib.contextmanager
def opened_population(engine: Engine, spec: Spec, models: PrivacyModels) -> Iterator[Population | None]:
    """Open the population of the models: a table of the source's database, a file, or data in memory."""
    if models.population is None:
        yield None
        return
    name = str(models.population) if isinstance(models.population, (str, PathLike)) else None
    shown = speakable(name) if name else IN_MEMORY
    table = engine.find(name) if name else None
    if table is not None:
        refuse_equal_names([column.name for column in table.columns], shown)
        yield Population(engine, table, _unit_of(table, models), standalone=is_a_query(spec), name=shown)
        return
    if is_a_query(spec):
        raise _no_table(engine, spec, name)
    if name and not files(name):
        raise SourceError(
            f"the population {shown} is neither a table in the source's database nor a file; check its name"
        )
    with opened_source(models.population, spec.session.as_it_is.without_tables) as source:
        yield Population(source.engine, source.table, _unit_of(source.table, models), name=shown)
        source.check_unchanged(name or IN_MEMORY)


def _unit_of(table: Table, models: PrivacyModels) -> str | None:
    """The column that identifies people, if people are counted; SpecError if the population lacks it."""
    if models.unit and table.column(models.unit) is None:
        raise SpecError(
            f"the population has no column {models.unit!r}, which is needed to count its people; add one (a row "
            "number, if every row is a different person), or leave out `unit`"
        )
    return models.unit


def _no_table(engine: Engine, spec: Spec, name: str | None) -> SpecError:
    """The error for a population that is not a table of the source's database, with the statements that load it."""
    next_step = "load it and the source into tables of one database"
    if engine.find(spec.source) is not None:
        next_step = "load it into a table there"
    if name and files(name):
        save = "" if engine.reads_files or source_format(name) == "csv" else "save it as CSV, and "
        statements = " and ".join(f"`{statement}`" for statement in _loading(engine, spec, name))
        next_step = f"{save}{next_step}, with {statements}"
    elif name:
        next_step = f"check its name, or {next_step}"
    return SpecError(
        f"the population {speakable(name) if name else IN_MEMORY} is not a table in the source's database, and a view "
        f"or a standalone statement counts it whenever it is run; {next_step}, and name that table"
    )


def _loading(engine: Engine, spec: Spec, name: str) -> list[str]:
    """The statements that load files into a table, with the types of the source's columns."""
    paths = files(name)
    source = engine.find(spec.source)
    types_in_source = {column.name: column.type for column in source.columns} if source else {}
    if not engine.reads_files:
        paths = [path.with_suffix(".csv") for path in paths]  # psql reads no other format
    types = {}
    for column in embedded(spec.session.limits).read_file(name).columns:
        default = column.type if engine.reads_files else "text"
        types[column.name] = types_in_source.get(column.name, default)
    table = Relation(paths[0].stem if len(paths) == 1 else "population")
    return queries.load_files(table, types, list(map(str, paths)), engine.dialect)


def check_shares(spec: Spec, models: PrivacyModels, frequency_set: FrequencySet) -> None:
    """InfeasibleError if the sizes of source and population rule out a model, however classes are formed."""
    rows, population = frequency_set.rows, frequency_set.population
    if population is None or models.unit is not None:
        return
    released = rows - may_suppress(spec.suppression_limit, rows)
    local = spec.strategy in RECODERS or spec.sets_show
    for model in models.models:
        if model.population is None:
            continue
        if reason := _why_infeasible(model.parameters, rows, released, population):
            raise InfeasibleError(f"{model.name} cannot be met: {reason}{_EQUAL_ROWS_ONLY if local else ''}")


def _why_infeasible(parameters: Any, rows: int, released: int, population: int) -> str | None:
    """Why no classes can satisfy a model, if so; `released`: the minimum number of released rows."""
    if parameters.get("k", 0) > population:
        return f"k is {parameters['k']:,} and the population has only {population:,} rows; lower k"
    # The overall share is a weighted mean of the classes' shares, so one class has at least and one at most this share.
    if released > parameters.get("max", 1) * population:
        return (
            f"{released:,} rows or more are released of a population of {population:,}, so that some class has a share "
            f"above {parameters['max']}; raise the upper bound or suppression_limit"
        )
    if rows < parameters.get("min", 0) * population:
        return (
            f"the sample has {rows:,} rows of a population of {population:,}, so that some class has a share below "
            f"{parameters['min']}; lower the lower bound"
        )
    return None
