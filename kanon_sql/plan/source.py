"""The source of a run: a table, files, or data in memory, opened and described."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from kanon_sql import spec as specs
from kanon_sql.engine import Column, Engine, Table, name_readings, reads_files, refuse_equal_names, written
from kanon_sql.engines.files import Fingerprint, files, fingerprints, source_format
from kanon_sql.engines.opening import embedded, engine_of, open_engine
from kanon_sql.engines.scratch import Scratch, Scratches
from kanon_sql.errors import KanonError, SourceError, SourceWarning, SpecError
from kanon_sql.frequency.frequency_set import Build
from kanon_sql.frequency.mapping import Place, aligned, in_canonical_form, values_of
from kanon_sql.generalization.hierarchy import Hierarchy, cover
from kanon_sql.hints import IDENTIFIER, QUASI_IDENTIFIER
from kanon_sql.own import imported
from kanon_sql.privacy import PrivacyModel, ReleaseModel, all_of
from kanon_sql.risk.labels import labelled
from kanon_sql.risk.roles import Roles
from kanon_sql.spec import (
    READING,
    Attribute,
    CloakSpec,
    FunctionRecipe,
    Reading,
    ReleaseSpec,
    Session,
    Spec,
    Target,
    TCloseness,
    names_a_server,
)

AS_IT_IS = {name: Spec.model_fields[name].get_default(call_default_factory=True) for name in READING}
"""Of a spec that is used for another file than its source, which alone is read as the spec says."""
WITHOUT_TABLES: dict[str, Any] = {"database": None, "attach": {}}  # of a spec whose source is read as a file
IN_MEMORY = "in memory"  # what a DataFrame or an Arrow table is called in the manifest


@dataclass(frozen=True)
class Source:
    """A source that is open: its engine, its table, and the files it is read from, as they were before.

    `before`: what told the rows of a table from others then, where no transaction keeps them.
    `counted_by`: the column, none of the table's, of the rows that each row stands for, where it was counted elsewhere.
    `roles`: what `settle_roles` made of the columns without a role; the table then has no column that is dropped so.
    """

    engine: Engine
    table: Table
    fingerprints: Mapping[Path, Fingerprint] = field(default_factory=dict)
    owned: bool = True
    before: tuple[Any, ...] | None = None
    roles: Roles = field(default_factory=Roles)
    columns: Mapping[str, str] = field(default_factory=dict)
    """The types of all columns, those that are dropped too, once the roles are settled."""
    scratches: Scratches = field(default_factory=Scratches, repr=False)
    """What is made for a run, here and in other engines; it is dropped where their block ends."""
    counted_by: str | None = None
    files_query: str | None = None
    """The query that reads the files of the source anywhere."""
    time_zone: str | None = None
    """The time zone in which its moments are read, if it has a column of them."""
    notes: tuple[str, ...] = ()
    """How the files were read, and what a server hides of a table, where that is to be said."""

    @property
    def warnings(self) -> list[str]:
        """What is to be said of how it was read, and of its columns."""
        return [*self.notes, *self.roles.warnings]

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that the source is read from, none for a table."""
        return tuple(self.fingerprints)

    @property
    def written_as(self) -> str | None:
        """The format of the source's files, by which its values are told apart; None for a table."""
        if not self.files:
            return None
        kind = source_format(str(self.files[0]))
        return "parquet" if kind == "xlsx" else kind  # which has types, as a sheet has

    @property
    def read_files(self) -> str | None:
        """The query that reads the files of the source; None for a table, and where it was counted elsewhere."""
        return None if self.counted_by else self.files_query

    def types(self) -> dict[str, str]:
        """The columns with the engine's names of their types, which tell no value."""
        return {column.name: column.type_without_values for column in self.table.columns}

    def check_unchanged(self, source: str) -> None:
        """Stop a release of files that are others now: what was counted is not what was written."""
        now = self.engine.fingerprint(self.table) if self.before else None
        if now != self.before or (self.fingerprints and fingerprints(source) != self.fingerprints):
            raise SourceError(
                f"{source} changed while it was read, and nothing was released; run again when nobody writes to it"
            )


def check_engine(engine: Engine, verb: str) -> None:
    """Refuse a verb that asks its temporary tables again and again, where each would be worked out anew every time."""
    if not engine.has_temporary_tables:
        raise SpecError(
            f"{verb} works with temporary tables, which {engine.name} does not have; release to a Parquet file with "
            "`output`, or copy the table to DuckDB, and ask that"
        )


def settle_spec(
    source: Any,
    spec: ReleaseSpec | dict[str, Any] | str | Path | None,
    overrides: dict[str, Any],
    releases: bool = False,
) -> Spec:
    """Join what the spec, the source and the keyword arguments say, with the privacy models given in Python.

    `releases`: whether a release is to be made, which a spec file of a pipeline leaves to `run`.
    """
    models, k = overrides.get("privacy"), overrides.get("k")
    if models is None or isinstance(models, Mapping):
        settled = settle(Spec, source, spec, overrides, releases)
        given = spec.models if isinstance(spec, Spec) and models is None else ()
        given = tuple(model for model in given if k is None or model.class_size is None)
    else:
        given = _models(models)
        if k is not None and any(model.class_size for model in given):
            raise SpecError("privacy says what must hold, and k does too; put k_anonymity(k) among the privacy models")
        settled = settle(Spec, source, spec, {**overrides, "privacy": None}, releases)
    folders = [Path(spec).parent] if isinstance(spec, (str, Path)) else []
    return with_code(settled.with_models(given) if given else settled, folders)


def with_code(spec: Spec, folders: Sequence[Path] = ()) -> Spec:
    """The spec with the code that it names as `module:name`; SpecError unless it may be run, see `own.imported`.

    `folders`: those of spec files. The folders of the data count too.
    """
    if not spec.references and not spec.privacy.models:
        return spec
    data = [*files(spec.source), *([Path(spec.database)] if spec.database else [])]
    places = [*folders, *(path.parent for path in data)]
    code = {reference: imported(reference, places) for reference in spec.references}
    options = {"metric": code.get(spec.metric), "strategy": code.get(spec.strategy)}
    options["hierarchies"] = _functions(spec.quasi_identifiers, code)
    functions = _functions(spec.privacy.t_closeness, code)
    options["t_closeness"] = {
        name: spec.privacy.t_closeness[name].model_copy(update={"hierarchy": FunctionRecipe(function=function)})
        for name, function in functions.items()
    }
    named = [code.get(each, each) if isinstance(each, str) else each for each in spec.privacy.models]
    models = (*spec.models, *(_models(named) if named else ()))
    merged = specs.merge(spec, **{name: value for name, value in options.items() if value})
    privacy = merged.privacy.model_copy(update={"models": ()})
    return merged.model_copy(update={"privacy": privacy}).with_models(models)


def _functions(columns: Mapping[str, Attribute | TCloseness], code: Mapping[str, Any]) -> dict[str, Any]:
    """The code that the hierarchies of columns name, by column."""
    recipes = {name: each.hierarchy for name, each in columns.items()}
    named = {name: each.function for name, each in recipes.items() if isinstance(each, FunctionRecipe)}
    return {name: code[function] for name, function in named.items() if isinstance(function, str)}


def settle_either(
    source: Any,
    spec: ReleaseSpec | dict[str, Any] | str | Path | None,
    overrides: dict[str, Any],
    releases: bool = False,
) -> ReleaseSpec:
    """The same of a release that generalizes columns or cloaks places, by whether a location is named."""
    said = specs.mapping_to_read(Path(spec)) if isinstance(spec, (str, Path)) else specs.mapping_of(spec)
    said |= {name: value for name, value in overrides.items() if value is not None}
    if specs.model_of(said) is CloakSpec:
        return settle(CloakSpec, source, spec, overrides, releases)
    return settle_spec(source, spec, overrides, releases)


def settle_labelled(
    source: Any, spec: Spec | dict[str, Any] | str | Path | None, overrides: dict[str, Any], connection: Any = None
) -> Spec:
    """The settled spec; where nobody says a role, the columns have those that labels on the server's table give."""
    said = {**specs.mapping_of(spec), **{name: value for name, value in overrides.items() if value is not None}}
    name, database = source if source is not None else said.get("source"), said.get("database")
    server = connection is not None or (database is not None and names_a_server(str(database)))
    if not server or said.keys() & _ROLES or not isinstance(name, str):
        return settle_spec(source, spec, overrides, releases=True)
    with opened_source(name, specs.session(database=database), connection) as data:
        labels = labelled(data.engine, data.table)
    of = {role: [each.column for each in labels if each.role == role] for role in (QUASI_IDENTIFIER, IDENTIFIER)}
    roles = {"quasi_identifiers": of[QUASI_IDENTIFIER] or None, "identifiers": of[IDENTIFIER] or None}
    spec = {**spec, **roles} if isinstance(spec, dict) else spec
    return settle_spec(source, spec, {**overrides, **roles}, releases=True)


_ROLES = {"quasi_identifiers", "identifiers", "sensitive", "location", "unit", "releases"}


def _models(given: Any) -> tuple[PrivacyModel | ReleaseModel, ...]:
    models = given if isinstance(given, Sequence) and not isinstance(given, str) else (given,)
    return all_of(*models).every


_Kind = TypeVar("_Kind", bound=ReleaseSpec)


def settle(
    model: type[_Kind],
    source: Any,
    spec: ReleaseSpec | dict[str, Any] | str | Path | None,
    overrides: dict[str, Any],
    releases: bool,
) -> _Kind:
    """Join what the spec, the source and the keyword arguments say, as a spec of this model."""
    unnamed = source is None or isinstance(source, Source)  # which is open already, under its name in the spec
    named = str(source) if isinstance(source, (str, Path)) else None if unnamed else IN_MEMORY
    said = {"source": named, **overrides}
    if isinstance(spec, (str, Path)):
        load = specs.loaded if releases else specs.loaded_to_read
        return load(Path(spec), model, said)
    if isinstance(spec, model):
        return specs.merge(spec, **said)
    mapping = specs.mapping_of(spec) if isinstance(spec, ReleaseSpec) else spec  # whose keys belong elsewhere
    if not mapping:
        return specs.merge(model, **said)
    return specs.merge(specs.parsed(specs.with_needed(mapping, model, said), model), **said)


def column_values(source: Source, column: str) -> list[Any]:
    """The distinct values of one column, as a hierarchy is made of them."""
    described = source.table.column(column)
    if described is None:
        raise SpecError(f"there is no column {column!r} in {source.table.relation.name}")
    with _values_of(source, described) as place:
        return in_canonical_form(values_of(place), described)


def fitted(source: Source, column: Column, build: Build) -> Hierarchy:
    """A hierarchy made of the values of one column; HierarchyError if it lacks one of them."""
    with _values_of(source, column) as place:
        values = in_canonical_form(values_of(place), column)
        hierarchy = aligned(place, build(values), values, source.engine)
    return cover(hierarchy, values, column.name, "refuse")


@contextlib.contextmanager
def _values_of(source: Source, column: Column) -> Iterator[Place]:
    """The distinct values of a column as a relation, in their type."""
    with Scratch(source.engine, "column") as tables:
        tuples = tables.make("tuples", "frequency_sets/tuples", columns=[column.name], source=source.table.relation)
        yield Place(source.engine, tuples, column)


def opened(
    source: Any,
    spec: ReleaseSpec,
    connection: Any = None,
    keep: bool = False,
    writes: tuple[str, ...] = (),
    said: bool = False,
) -> contextlib.AbstractContextManager[Source]:
    """Open the source of a spec, or the data that a program hands over in its place.

    `writes`: the names of the tables that are made in its database, which else is only read. `said`: as `opened_source`
    takes it.
    """
    data = source if _in_memory(source) else spec.source
    return opened_source(data, replace(spec.session, writes=writes), connection, spec.target, keep, said)


@contextlib.contextmanager
def opened_engine(session: Session, connection: Any = None) -> Iterator[Engine]:
    """Open a database, or take the one behind a connection, which stays open."""
    engine = open_engine(session) if connection is None else engine_of(connection, session)
    try:
        yield engine
    finally:
        if connection is None:
            engine.close()


@contextlib.contextmanager
def opened_source(
    source: Any,
    session: Session | None = None,
    connection: Any = None,
    target: Target | None = None,
    keep: bool = False,
    said: bool = False,
) -> Iterator[Source]:
    """Open a source; what was opened here is closed again, unless it is to be kept and all went well.

    `target`: where a release of it will go, which may need a database, or a table and not a file. `said`: whether the
    verb itself says how files were read; else a `SourceWarning` does. A source that is open already
    is given back as it is.
    """
    if isinstance(source, Source):
        yield source
        return
    data = open_source(source, session or Session(), connection, target)
    for note in () if said else data.notes:
        warnings.warn(note, SourceWarning, stacklevel=4)
    try:
        yield data
    except BaseException:
        keep = False
        raise
    finally:
        if data.owned and not keep:
            data.engine.close()
        elif data.files and reads_files(data.engine):
            with contextlib.suppress(KanonError):  # in a transaction that failed nothing can be dropped
                data.engine.forget_files()


def open_source(source: Any, session: Session, connection: Any = None, target: Target | None = None) -> Source:
    """Find the data that a name means, or that a program hands over."""
    if _in_memory(source):
        _refuse_reading(session.reading, "the data in memory are a table")
        memory = embedded(session.limits)
        table = memory.register(source)
        return Source(memory, table, time_zone=_zone(memory, table))
    name = str(source)
    if connection is not None:
        return _find(engine_of(connection, session), name, session.reading, target, owned=False)
    if not session.has_tables:
        if not _is_file(name):
            raise SourceError(f"there is no file {specs.speakable(name)}; for a table give `database`")
        if target and target.table:
            raise SpecError(f"the table {target.table} needs a database; give `database`, or name a file with `output`")
    engine = open_engine(session, create=target is not None and target.table is not None and _is_file(name))
    try:
        return _find(engine, name, session.reading, target, owned=True, tables=session.has_tables)
    except BaseException:
        engine.close()
        raise


def _in_memory(source: Any) -> bool:
    return source is not None and not isinstance(source, (str, PathLike))


def _refuse_reading(reading: Reading, what: str) -> None:
    """Refuse options of files for what has types already."""
    for option in reading.said:
        raise SpecError(f"`{option}` says how a file is read, and {what}; leave it out, and convert the columns there")


def _find(
    engine: Engine, name: str, reading: Reading, target: Target | None, owned: bool, tables: bool = True
) -> Source:
    """Look a name up, among the tables too if there are `tables`, and else as that of a file."""
    table = engine.find(name) if tables else None
    if table is None and _is_file(name):
        if not reads_files(engine):
            raise SpecError(f"{name} is a file, which {engine.name} cannot read; load it into a table first")
        if target and target.stays_a_query:
            raise SpecError("a view needs a table below it; load the file into the database, or give `form='table'`")
        before = fingerprints(name)
        read = engine.read_as(name, reading)
        zone = _zone(engine, read.table)
        return Source(engine, read.table, before, owned, files_query=read.query, time_zone=zone, notes=read.notes)
    if table is None:
        raise SourceError(f"there is no table {specs.speakable(name)} in the database; {_elsewhere(engine, name)}")
    _refuse_reading(reading, f"{name} is a table")
    refuse_equal_names([column.name for column in table.columns], name)
    notes = tuple(engine.hidden(table.relation))
    return Source(engine, table, owned=owned, time_zone=_zone(engine, table), notes=notes)


def _zone(engine: Engine, table: Table) -> str | None:
    """The time zone in which the moments of a table are read; None where it has none."""
    return engine.time_zone() if any(column.zoned for column in table.columns) else None


def _elsewhere(engine: Engine, name: str) -> str:
    """What to do about a table that is missing: name the one of another schema or database, or of a similar name."""
    wanted, *_ = reversed(name_readings(name)[-1])
    known = engine.relations()
    names = {relation.name.lower(): None for relation in known}
    meant = [wanted.lower()] if wanted.lower() in names else get_close_matches(wanted.lower(), names, _FEW)
    shown = [written(engine.lasting(each)) for each in known if each.name.lower() in meant]
    if not shown:
        return "check its name, or its schema"
    more = [f"{len(shown) - _FEW} more"] if len(shown) > _FEW else []
    *first, last = [*shown[:_FEW], *more]
    return f"did you mean {', '.join(first)}{' or ' * bool(first)}{last}?"


_FEW = 5  # names that an error shows


def _is_file(source: str) -> bool:
    return bool(files(source)) or Path(source).suffix.lower() in (".csv", ".parquet", ".pq", ".tsv", ".xlsx", ".xlsm")
