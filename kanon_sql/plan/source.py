"""The source of a run: a table, files, or data in memory, opened and described."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from kanon_sql import spec as specs
from kanon_sql.engine import Column, Engine, FileEngine, Table, name_readings, reads_files, refuse_equal_names, written
from kanon_sql.engines.files import FileState, files, fingerprints, source_format
from kanon_sql.engines.opening import embedded, engine_of, open_engine
from kanon_sql.engines.scratch import Scratch, Scratches
from kanon_sql.errors import KanonError, SourceError, SourceWarning, SpecError
from kanon_sql.frequency.frequency_set import Build
from kanon_sql.frequency.mapping import Place, aligned, in_canonical_form, values_of
from kanon_sql.generalization.hierarchy import Hierarchy, cover
from kanon_sql.hints import IDENTIFIER, QUASI_IDENTIFIER
from kanon_sql.own import imported
from kanon_sql.privacy import PrivacyModel, ReleaseModel, all_of
from kanon_sql.risk.roles import Roles
from kanon_sql.risk.security_labels import labelled
from kanon_sql.spec import (
    READING,
    AttributeSpec,
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


@runtime_checkable
class Readable(Protocol):
    """Data that can be opened as a source: a release that the library returned."""

    @property
    def name(self) -> str:
        """The name of the file or table."""

    @property
    def spec(self) -> Any:
        """The spec that it was released by."""

    def opened(self) -> contextlib.AbstractContextManager[Source]:
        """Open it for reading."""

    def verify(self) -> Any:
        """Check it by its own spec."""


AS_IT_IS = {name: Spec.model_fields[name].get_default(call_default_factory=True) for name in READING}
"""Defaults of the options for reading files, for a spec that is applied to another file than its source."""
WITHOUT_TABLES: dict[str, Any] = {"database": None, "attach": {}}  # overrides for a spec whose source is a file
IN_MEMORY = "in memory"  # the name of a DataFrame or an Arrow table in the manifest
_NAMES_SHOWN = 5  # suggestions in an error
_ROLES = {"quasi_identifiers", "identifiers", "sensitive", "location", "unit", "releases"}

_Kind = TypeVar("_Kind", bound=ReleaseSpec)


@dataclass(frozen=True)
class Source:
    """An open source: its engine, its table, and the fingerprints of its files from before it was read.

    `before`: the fingerprint of a table, for engines that do not read it in one transaction.
    `counted_by`: the column with the number of source rows per row, of a table that was counted elsewhere.
    `roles`: the result of `settle_roles` for columns without a role; the table then lacks the columns it drops.
    """

    engine: Engine
    table: Table
    fingerprints: Mapping[Path, FileState] = field(default_factory=dict)
    owned: bool = True
    before: tuple[Any, ...] | None = None
    roles: Roles = field(default_factory=Roles)
    columns: Mapping[str, str] = field(default_factory=dict)
    """The types of all columns, including dropped ones, once the roles are settled."""
    scratches: Scratches = field(default_factory=Scratches, repr=False)
    """Temporary tables of the run, in this and other engines, which are dropped when their blocks end."""
    counted_by: str | None = None
    files_query: str | None = None
    """A query that reads the source's files without this connection."""
    time_zone: str | None = None
    """The time zone of its timestamps, if it has a column of timestamps with time zone."""
    notes: tuple[str, ...] = ()
    """Warnings about how the files were read, and about rows that a server hides."""

    @property
    def warnings(self) -> list[str]:
        """Warnings about how it was read, and about its columns."""
        return [*self.notes, *self.roles.warnings]

    @property
    def files(self) -> tuple[Path, ...]:
        """The source's files, empty for a table."""
        return tuple(self.fingerprints)

    @property
    def written_as(self) -> str | None:
        """The format of the source's files, which decides how its values are compared; None for a table."""
        if not self.files:
            return None
        kind = source_format(str(self.files[0]))
        return "parquet" if kind == "xlsx" else kind  # both have types

    @property
    def read_files(self) -> str | None:
        """The query that reads the source's files; None for a table, and for one that was counted elsewhere."""
        return None if self.counted_by else self.files_query

    def types(self) -> dict[str, str]:
        """The engine's type names by column, without the values of enumerations."""
        return {column.name: column.type_without_values for column in self.table.columns}

    def check_unchanged(self, source: str) -> None:
        """SourceError if the source changed since it was opened: the release would not match its counts."""
        now = self.engine.fingerprint(self.table) if self.before else None
        if now != self.before or (self.fingerprints and fingerprints(source) != self.fingerprints):
            raise SourceError(
                f"{source} changed while it was read, and nothing was released; run again when it is not being written"
            )


def check_engine(engine: Engine, verb: str) -> None:
    """Refuse a verb that queries temporary tables repeatedly, if the engine would recompute them for every query."""
    if not engine.has_temporary_tables:
        raise SpecError(
            f"{verb} works with temporary tables, which this session of {engine.name} does not have; release to a "
            "Parquet file with `output`, or copy the table to DuckDB, and use the copy"
        )


def settle_spec(
    source: Any,
    spec: ReleaseSpec | dict[str, Any] | str | Path | None,
    overrides: dict[str, Any],
    releases: bool = False,
) -> Spec:
    """Merge the spec, the source and the keyword arguments, with the privacy models passed in Python.

    `releases`: whether the verb writes a release; a spec file of a pipeline is then left to `run`.
    """
    privacy = overrides.get("privacy")
    k = overrides.get("k")
    models: tuple[PrivacyModel | ReleaseModel, ...] = ()
    if privacy is None or isinstance(privacy, Mapping):
        settled = settle(Spec, source, spec, overrides, releases)
        if privacy is None and isinstance(spec, Spec):
            models = tuple(model for model in spec.models if k is None or model.class_size is None)
    else:
        models = _models(privacy)
        if k is not None and any(model.class_size for model in models):
            raise SpecError("`k` is set, and `privacy` also has a model for the size of classes; leave out one of them")
        settled = settle(Spec, source, spec, {**overrides, "privacy": None}, releases)
    folders = [Path(spec).parent] if isinstance(spec, (str, Path)) else []
    return with_code(settled.with_models(models) if models else settled, folders)


def spec_of_release(*data: Any) -> Any:
    """The spec of the first of these data that is a release which the library returned; None without one."""
    return next((given.spec for given in data if isinstance(given, Readable)), None)


def with_code(spec: Spec, folders: Sequence[Path] = ()) -> Spec:
    """The spec with the code that it names as `module:name` imported; SpecError if it must not run, see `own.imported`.

    `folders`: of spec files. Code in the folders of the data is allowed, too.
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
    named = [code.get(model, model) if isinstance(model, str) else model for model in spec.privacy.models]
    models = (*spec.models, *(_models(named) if named else ()))
    merged = specs.merge(spec, **{name: value for name, value in options.items() if value})
    privacy = merged.privacy.model_copy(update={"models": ()})
    return merged.model_copy(update={"privacy": privacy}).with_models(models)


def _functions(columns: Mapping[str, AttributeSpec | TCloseness], code: Mapping[str, Any]) -> dict[str, Any]:
    """The functions that the hierarchies of columns name, by column."""
    functions = {}
    for name, column in columns.items():
        recipe = column.hierarchy
        if isinstance(recipe, FunctionRecipe) and isinstance(recipe.function, str):
            functions[name] = code[recipe.function]
    return functions


def settle_either(
    source: Any,
    spec: ReleaseSpec | dict[str, Any] | str | Path | None,
    overrides: dict[str, Any],
    releases: bool = False,
) -> ReleaseSpec:
    """The settled spec of a release that generalizes columns, or of one that cloaks places if it names a location."""
    _check_spec(spec)
    merged = specs.mapping_to_read(Path(spec)) if isinstance(spec, (str, Path)) else specs.mapping_of(spec)
    merged |= {name: value for name, value in overrides.items() if value is not None}
    if specs.model_of(merged) is CloakSpec:
        return settle(CloakSpec, source, spec, overrides, releases)
    return settle_spec(source, spec, overrides, releases)


def settle_labelled(
    source: Any, spec: Spec | dict[str, Any] | str | Path | None, overrides: dict[str, Any], connection: Any = None
) -> Spec:
    """The settled spec; without any role in it, the labels of the server's table determine the roles."""
    _check_spec(spec)
    merged = {**specs.mapping_of(spec), **{name: value for name, value in overrides.items() if value is not None}}
    name = source if source is not None else merged.get("source")
    database = merged.get("database")
    server = connection is not None or (database is not None and names_a_server(str(database)))
    if not server or merged.keys() & _ROLES or not isinstance(name, str):
        return settle_spec(source, spec, overrides, releases=True)
    with opened_source(name, specs.session(database=database), connection) as data:
        labels = labelled(data.engine, data.table)
    roles = {
        "quasi_identifiers": [label.column for label in labels if label.role == QUASI_IDENTIFIER] or None,
        "identifiers": [label.column for label in labels if label.role == IDENTIFIER] or None,
    }
    spec = {**spec, **roles} if isinstance(spec, dict) else spec
    return settle_spec(source, spec, {**overrides, **roles}, releases=True)


def _models(privacy: Any) -> tuple[PrivacyModel | ReleaseModel, ...]:
    models = privacy if isinstance(privacy, Sequence) and not isinstance(privacy, str) else (privacy,)
    return all_of(*models).every


def settle(
    model: type[_Kind],
    source: Any,
    spec: ReleaseSpec | dict[str, Any] | str | Path | None,
    overrides: dict[str, Any],
    releases: bool,
) -> _Kind:
    """Merge the spec, the source and the keyword arguments into a spec of this model."""
    _check_spec(spec)
    named_in_spec = source is None or isinstance(source, Source)
    arguments = {"source": None if named_in_spec else name_of(source), **overrides}
    if isinstance(spec, (str, Path)):
        load = specs.loaded if releases else specs.loaded_to_read
        return load(Path(spec), model, arguments)
    if isinstance(spec, model):
        return specs.merge(spec, **arguments)
    mapping = specs.mapping_of(spec) if isinstance(spec, ReleaseSpec) else spec  # a spec of the other model
    if not mapping:
        return specs.merge(model, **arguments)
    return specs.merge(specs.parsed(specs.with_needed(mapping, model, arguments), model), **arguments)


def name_of(given: Any) -> str:
    """What to call a file, a table, a release, or data in memory."""
    if isinstance(given, Readable):
        return given.name
    return str(given) if isinstance(given, (str, Path)) else IN_MEMORY


def _check_spec(spec: Any) -> None:
    """SpecError for data in the place of the spec."""
    if spec is not None and not isinstance(spec, (ReleaseSpec, Mapping, str, PathLike)):
        raise SpecError(
            f"the spec is a {type(spec).__name__}; pass the data as the first argument, and the spec as a mapping, the "
            "path of a YAML file, or a Spec"
        )


def column_values(source: Source, column: str) -> list[Any]:
    """The distinct values of a column, in the form that hierarchies are built from."""
    described = source.table.column(column)
    if described is None:
        raise SpecError(f"there is no column {column!r} in {source.table.relation.name}")
    with _values_of(source, described) as place:
        return in_canonical_form(values_of(place), described)


def fitted(source: Source, column: Column, build: Build) -> Hierarchy:
    """Build a hierarchy for the values of a column; HierarchyError if it lacks one of them."""
    with _values_of(source, column) as place:
        values = in_canonical_form(values_of(place), column)
        hierarchy = aligned(place, build(values), values, source.engine)
    return cover(hierarchy, values, column.name, "refuse")


@contextlib.contextmanager
def _values_of(source: Source, column: Column) -> Iterator[Place]:
    """A temporary table of the distinct values of a column, in their original type."""
    with Scratch(source.engine, "column") as tables:
        tuples = tables.create("tuples", "frequency_sets/tuples", columns=[column.name], source=source.table.relation)
        yield Place(source.engine, tuples, column)


def opened(
    source: Any,
    spec: ReleaseSpec,
    connection: Any = None,
    keep: bool = False,
    writes: tuple[str, ...] = (),
    warns: bool = True,
) -> contextlib.AbstractContextManager[Source]:
    """Open the source of a spec, or the data in memory that replaces it.

    `writes`: the tables to create in its database, which is opened read-only without any. `warns`: see `opened_source`.
    """
    data = source if _in_memory(source) else spec.source
    return opened_source(data, replace(spec.session, writes=writes), connection, spec.target, keep, warns)


@contextlib.contextmanager
def opened_engine(session: Session, connection: Any = None) -> Iterator[Engine]:
    """Open a database, or use the one of a connection, which stays open."""
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
    warns: bool = True,
) -> Iterator[Source]:
    """Open a source and close it again, unless `keep` is set and no error occurred. An open source is used unchanged.

    `target`: of a release of it, which can require a database, or a table as the source. `warns`: whether a
    `SourceWarning` reports how files were read, because the verb does not report it itself.
    """
    if isinstance(source, Source):
        yield source
        return
    if isinstance(source, Readable):
        with source.opened() as release:
            yield release
        return
    data = open_source(source, session or Session(), connection, target)
    if warns:
        for note in data.notes:
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
            with contextlib.suppress(KanonError):  # a failed transaction cannot drop anything
                data.engine.forget_files()


def open_source(source: Any, session: Session, connection: Any = None, target: Target | None = None) -> Source:
    """Find the table or file with a name, or register data in memory."""
    if _in_memory(source):
        _refuse_reading(session.reading, "data in memory are a table")
        here = _engine_for_memory(session, target) if connection is None else embedded(session.limits)
        table = here.register(source)
        return Source(here, table, time_zone=_zone(here, table))
    name = str(source)
    if name == IN_MEMORY:
        raise SourceError("the source was in memory; pass the data as the first argument")
    if connection is not None:
        return _find(engine_of(connection, session), name, session.reading, target, owned=False)
    if not session.has_tables:
        if not _is_file(name):
            raise SourceError(f"there is no file {specs.speakable(name)}; for a table use `database`")
        if target and target.table:
            raise SpecError(f"the table {target.table} needs a database; use `database`, or name a file with `output`")
    engine = open_engine(session, create=target is not None and target.table is not None and _is_file(name))
    try:
        return _find(engine, name, session.reading, target, owned=True, tables=session.has_tables)
    except BaseException:
        engine.close()
        raise


def _engine_for_memory(session: Session, target: Target | None) -> FileEngine:
    """The engine for data in memory: that of the target's database, if any."""
    if not (session.database and target and target.table):
        return embedded(session.limits)
    engine = open_engine(session, create=True)
    if reads_files(engine):
        return engine
    engine.close()
    raise SpecError(f"data in memory cannot be released into {engine.name}; load them into a table there first")


def _in_memory(source: Any) -> bool:
    return source is not None and not isinstance(source, (str, PathLike))


def _refuse_reading(reading: Reading, what: str) -> None:
    """Refuse options for reading files if the source is not a file."""
    for option in reading.options:
        raise SpecError(
            f"`{option}` is an option for reading files, and {what}; leave it out, and convert the columns there"
        )


def _find(
    engine: Engine, name: str, reading: Reading, target: Target | None, owned: bool, tables: bool = True
) -> Source:
    """Find a table if there are `tables`, otherwise a file."""
    table = engine.find(name) if tables else None
    if table is None and _is_file(name):
        if not reads_files(engine):
            raise SpecError(f"{name} is a file, which {engine.name} cannot read; load it into a table first")
        if target and target.stays_a_query:
            raise SpecError("a view needs a table below it; load the file into the database, or use `form='table'`")
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
    """The time zone of a table's timestamps; None if no column needs one."""
    return engine.time_zone() if any(column.zoned for column in table.columns) else None


def _elsewhere(engine: Engine, name: str) -> str:
    """The remedy for a missing table: tables of that name in other schemas or databases, or of a similar name."""
    wanted = name_readings(name)[-1][-1].lower()
    relations = engine.relations()
    names = {relation.name.lower(): None for relation in relations}
    similar = [wanted] if wanted in names else get_close_matches(wanted, names, _NAMES_SHOWN)
    found = [written(engine.lasting(relation)) for relation in relations if relation.name.lower() in similar]
    if not found:
        return "check its name, or its schema"
    more = [f"{len(found) - _NAMES_SHOWN} more"] if len(found) > _NAMES_SHOWN else []
    *first, last = [*found[:_NAMES_SHOWN], *more]
    return f"did you mean {', '.join(first)}{' or ' * bool(first)}{last}?"


def _is_file(source: str) -> bool:
    return bool(files(source)) or Path(source).suffix.lower() in (".csv", ".parquet", ".pq", ".tsv", ".xlsx", ".xlsm")
