"""The source of a run: a table, files, or data in memory, opened and described."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from kanon_sql import spec as specs
from kanon_sql.engine import Engine, Table, reads_files, refuse_equal_names
from kanon_sql.engines.files import Fingerprint, files, fingerprints
from kanon_sql.engines.opening import embedded, engine_of, open_engine
from kanon_sql.engines.scratch import Scratch, Scratches
from kanon_sql.errors import KanonError, SourceError, SpecError
from kanon_sql.frequency.mapping import Place, values_of
from kanon_sql.privacy import PrivacyModel, all_of
from kanon_sql.risk.roles import Roles
from kanon_sql.spec import Spec

IN_MEMORY = "in memory"  # what a DataFrame or an Arrow table is called in the manifest


@dataclass(frozen=True)
class Source:
    """A source that is open: its engine, its table, and the files it is read from, as they were before.

    `roles`: what `settle_roles` made of the columns without a role; the table then has no column that is dropped so.
    """

    engine: Engine
    table: Table
    fingerprints: Mapping[Path, Fingerprint] = field(default_factory=dict)
    owned: bool = True
    roles: Roles = field(default_factory=Roles)
    scratches: Scratches = field(default_factory=Scratches, repr=False)
    """What is made for a run, here and in other engines; it is dropped where their block ends."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that the source is read from, none for a table."""
        return tuple(self.fingerprints)

    def check_unchanged(self, source: str) -> None:
        """Stop a release of files that are others now: what was counted is not what was written."""
        if self.fingerprints and fingerprints(source) != self.fingerprints:
            raise SourceError(
                f"{source} changed while it was read, and nothing was released; run again when nobody writes to it"
            )


def settle_spec(source: Any, spec: Spec | dict[str, Any] | str | Path | None, overrides: dict[str, Any]) -> Spec:
    """Join what the spec, the source and the keyword arguments say, privacy models in the place of k."""
    models = overrides.get("privacy")
    if models is None or isinstance(models, Mapping):
        settled = _settled(source, spec, overrides)
        kept = spec.models if isinstance(spec, Spec) and overrides.get("k") is None and models is None else ()
        return settled.with_models(kept) if kept else settled
    if overrides.get("k") is not None:
        raise SpecError("privacy says what must hold, and k does too; put k_anonymity(k) among the privacy models")
    return _settled(source, spec, {**overrides, "privacy": None}).with_models(_models(models))


def _models(given: Any) -> tuple[PrivacyModel, ...]:
    models = given if isinstance(given, Sequence) and not isinstance(given, str) else (given,)
    return all_of(*models).models


def _settled(source: Any, spec: Spec | dict[str, Any] | str | Path | None, overrides: dict[str, Any]) -> Spec:
    named = str(source) if isinstance(source, (str, Path)) else None if source is None else IN_MEMORY
    if isinstance(spec, (str, Path)):
        return specs.load(spec, source=named, **overrides)
    if isinstance(spec, Spec):
        return specs.merge(spec, source=named, **overrides)
    return specs.merge(specs.parse({"source": named, **(spec or {})}) if spec else None, source=named, **overrides)


def opened_source(
    source: Any, database: str | PathLike[str] | None = None, connection: Any = None
) -> contextlib.AbstractContextManager[Source]:
    """Open a source of which nothing but its place is known."""
    named = str(source) if isinstance(source, (str, Path)) else IN_MEMORY
    # A spec needs a quasi-identifier; this one is never asked for.
    return opened(source, specs.parse({"source": named, "database": database, "quasi_identifiers": ["-"]}), connection)


def column_values(found: Source, column: str) -> list[Any]:
    """The distinct values of one column, as a hierarchy is made of them."""
    engine, found_column = found.engine, found.table.column(column)
    if found_column is None:
        raise SpecError(f"there is no column {column!r} in {found.table.relation.name}")
    with Scratch(engine, "column") as tables:
        tuples = tables.make("tuples", "core/tuples", columns=[column], source=found.table.relation)
        return values_of(Place(engine, tuples, found_column))


@contextlib.contextmanager
def opened(source: Any, spec: Spec, connection: Any = None, keep: bool = False) -> Iterator[Source]:
    """Open the source; what was opened here is closed again, unless it is to be kept and all went well."""
    found = open_source(source, spec, connection)
    try:
        yield found
    except BaseException:
        keep = False
        raise
    finally:
        if found.owned and not keep:
            found.engine.close()
        elif found.files and reads_files(found.engine):
            with contextlib.suppress(KanonError):  # in a transaction that failed nothing can be dropped
                found.engine.forget_files()


def open_source(source: Any, spec: Spec, connection: Any = None) -> Source:
    """Find the data that a spec names, or that a program hands over."""
    if source is not None and not isinstance(source, (str, Path)):
        memory = embedded()
        return Source(memory, memory.register(source))
    if connection is not None:
        return _find(engine_of(connection), spec, owned=False)
    engine = _open(spec)
    try:
        return _find(engine, spec, owned=True)
    except BaseException:
        engine.close()
        raise


def _find(engine: Engine, spec: Spec, owned: bool) -> Source:
    table = engine.find(spec.source)
    if table is None and _is_file(spec.source):
        if not reads_files(engine):
            raise SpecError(f"{spec.source} is a file, which {engine.name} cannot read; load it into a table first")
        if spec.target and spec.target.stays_a_query:
            raise SpecError("a view needs a table below it; load the file into the database, or give `form='table'`")
        before = fingerprints(spec.source)
        return Source(engine, engine.read_file(spec.source), before, owned)
    if table is None:
        raise SourceError(
            f"there is no table {specs.speakable(spec.source)} in the database; check its name, or its schema"
        )
    refuse_equal_names([column.name for column in table.columns], spec.source)
    return Source(engine, table, owned=owned)


def _open(spec: Spec) -> Engine:
    """Open the database of a spec, or one in memory for files."""
    if spec.database is None:
        if not _is_file(spec.source):
            raise SourceError(f"there is no file {specs.speakable(spec.source)}; for a table give `database`")
        if spec.target and spec.target.table:
            raise SpecError(
                f"the table {spec.target.table} needs a database; give `database`, or name a file with `output`"
            )
    into_new = spec.target is not None and spec.target.table is not None and _is_file(spec.source)
    return open_engine(spec.database, create=into_new)


def _is_file(source: str) -> bool:
    return bool(files(source)) or Path(source).suffix.lower() in (".csv", ".parquet", ".pq", ".tsv")
