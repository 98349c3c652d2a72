"""The release: write, verify what was written by an independent query, or leave everything as it was."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kanon_sql import queries
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.duckdb import DuckDB, file_format
from kanon_sql.errors import TargetError, VerificationError
from kanon_sql.frequency import Attribute
from kanon_sql.privacy import PrivacyModel
from kanon_sql.queries import Relation
from kanon_sql.recoding import FullDomain
from kanon_sql.spec import Target

RELEASE = queries.scratch("kanon_release")


@dataclass(frozen=True)
class Summary:
    """What an independent query found in a relation; see `sql/class_summary.sql`."""

    rows: int
    classes: int
    smallest_class: int | None
    unsafe_classes: int
    unsafe_rows: int

    @property
    def holds(self) -> bool:
        """Whether every class meets the model."""
        return self.unsafe_classes == 0


@dataclass(frozen=True)
class Written:
    """A verified release: its statement, what is in it, the seconds it took, and where it is."""

    sql: str
    summary: Summary
    write_seconds: float
    verify_seconds: float
    relation: Relation
    path: Path | None = None


def summarize(engine: Engine, relation: Relation, quasi_identifiers: Sequence[str], model: PrivacyModel) -> Summary:
    """Ask a relation itself whether it meets the model, whoever made it."""
    found = engine.rows(summary_sql(engine, relation, quasi_identifiers, model))
    ((rows, classes, smallest, unsafe_classes, unsafe_rows),) = found
    smallest = None if smallest is None else int(smallest)
    return Summary(int(rows), int(classes), smallest, int(unsafe_classes), int(unsafe_rows))


def summary_sql(engine: Engine, relation: Relation, quasi_identifiers: Sequence[str], model: PrivacyModel) -> str:
    """The query of `summarize`."""
    plain = queries.plain_names(quasi_identifiers)
    return queries.text(
        "class_summary",
        engine.dialect,
        release=relation,
        quasi_identifiers={name: column for column, name in plain.items()},
        names=list(plain.values()),
        safe=model.safe,
    )


def class_sizes(engine: Engine, relation: Relation, quasi_identifiers: Sequence[str]) -> list[tuple[int, int]]:
    """How many classes of each size a relation has, the smallest first."""
    query = queries.text("class_sizes", engine.dialect, release=relation, quasi_identifiers=list(quasi_identifiers))
    return [(int(size), int(classes)) for size, classes in engine.rows(query)]


def check_target(target: Target | None, engine: Engine, source: Table, source_files: Sequence[Path]) -> None:
    """Refuse a target that exists, or is the source, before any long work."""
    if target is None:
        return
    if target.file:
        _check_file(Path(target.file), target.overwrite, source_files)
        return
    name = str(target.table)
    found = engine.find(name)
    if found is None:
        return
    if found.relation == source.relation:
        raise TargetError(f"the target {name} is the source; name another table")
    if not target.overwrite:
        raise TargetError(f"the {found.form} {name} exists already; give --overwrite to replace it")


def _check_file(path: Path, overwrite: bool, source_files: Sequence[Path]) -> None:
    file_format(path.name)
    if not path.absolute().parent.is_dir():
        raise TargetError(f"there is no folder {path.parent} for {path.name}; make it first")
    if path.is_dir():
        raise TargetError(f"{path} is a folder; name a file in it")
    if any(path.exists() and source.exists() and path.samefile(source) for source in source_files):
        raise TargetError(f"the target {path} is the source; name another file")
    if path.exists() and not overwrite:
        raise TargetError(f"the file {path} exists already; give --overwrite to replace it")


def write(recoding: FullDomain, target: Target | None) -> Written:
    """Write a recoding where the spec says, and verify it there; VerificationError if it does not hold."""
    if target and target.file:
        return _write_file(recoding, Path(target.file))
    if target and target.form == "view":
        return _write_view(recoding, str(target.table))
    return _write_table(recoding, target.table if target else None)


def target_sql(recoding: FullDomain, target: Target | None) -> str:
    """The statement of the release as one that stands alone: what `--sql` prints."""
    query, dialect = recoding.standalone_sql(), recoding.engine.dialect
    if target and target.table:
        return queries.create_as(recoding.engine.place(target.table), query, dialect, target.form)
    if target and target.file and isinstance(recoding.engine, DuckDB):
        return queries.copy_to(query, target.file, file_format(target.file), dialect)
    return query


def _write_table(recoding: FullDomain, name: str | None) -> Written:
    engine = recoding.engine
    relation = engine.place(name) if name else _free_name(engine)
    started = time.monotonic()
    recoding.prepare()
    if name:
        _drop_whatever(engine, name)
    sql = queries.create_as(relation, recoding.select_sql(), engine.dialect, temporary=not name)
    engine.run(sql)
    written = time.monotonic()
    summary = _verified(recoding, engine, relation)
    return Written(sql, summary, written - started, time.monotonic() - written, relation)


def _write_view(recoding: FullDomain, name: str) -> Written:
    engine = recoding.engine
    relation = engine.place(name)
    started = time.monotonic()
    recoding.prepare()
    _drop_whatever(engine, name)
    for attribute, level in recoding.mapped:
        mapping = _view_mapping(relation, attribute)
        engine.run(queries.drop(mapping, engine.dialect))
        engine.run(queries.create_as(mapping, recoding.view_mapping_sql(attribute, level), engine.dialect))
    query = recoding.view_sql(lambda attribute: _view_mapping(relation, attribute))
    sql = queries.create_as(relation, query, engine.dialect, "view")
    engine.run(sql)
    written = time.monotonic()
    summary = _verified(recoding, engine, relation)
    return Written(sql, summary, written - started, time.monotonic() - written, relation)


def _view_mapping(view: Relation, attribute: Attribute) -> Relation:
    return view.sibling(f"{view.name}__{attribute.coded.stem}")


def _write_file(recoding: FullDomain, path: Path) -> Written:
    engine = recoding.engine
    started = time.monotonic()
    recoding.prepare()
    sql = recoding.select_sql()
    with _temporary_file(path) as temporary:
        if isinstance(engine, DuckDB):
            engine.write_file(sql, temporary)
        else:
            _write_from_server(engine, sql, temporary)
        written = time.monotonic()
        reader = DuckDB()
        summary = _verified(recoding, reader, reader.read_written(temporary))
        os.replace(temporary, path)
    return Written(sql, summary, written - started, time.monotonic() - written, RELEASE, path)


def _write_from_server(engine: Engine, sql: str, path: Path) -> None:
    here = DuckDB()
    engine.send(sql, here, RELEASE)
    here.write_file(queries.select_all(RELEASE, here.dialect), path)


@contextlib.contextmanager
def _temporary_file(path: Path) -> Iterator[Path]:
    """A file beside the target, to be renamed to it; whatever happens, none is left behind."""
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.kanon{path.suffix}")
    try:
        yield temporary
    except OSError as error:
        raise TargetError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _verified(recoding: FullDomain, engine: Engine, relation: Relation) -> Summary:
    """Check what was written, as a stranger would: its columns, its rows, every class."""
    names = [attribute.column.name for attribute in recoding.judge.frequency_set.attributes]
    found = engine.table(relation)
    kept = [c.name for c in recoding.table.columns if c.name not in recoding.spec.identifiers]
    if [column.name for column in found.columns] != kept:
        raise VerificationError("the written release has other columns than planned; nothing was released")
    summary = summarize(engine, relation, names, recoding.judge.model)
    if not summary.holds:
        raise VerificationError(
            f"the written release has {summary.unsafe_rows:,} rows in {summary.unsafe_classes:,} classes that do "
            "not meet the privacy model; nothing was released, run again and report this if it stays"
        )
    if summary.rows != recoding.rows:
        raise VerificationError(
            f"the written release has {summary.rows:,} rows where {recoding.rows:,} were planned; nothing was "
            "released. If the source changed meanwhile, run again"
        )
    return summary


def _drop_whatever(engine: Engine, name: str) -> None:
    found = engine.find(name)
    if found:
        engine.run(queries.drop(found.relation, engine.dialect, found.form))


def _free_name(engine: Engine) -> Relation:
    """A temporary table of its own for every release without a target, so that none replaces another."""
    number = 1
    while engine.find(f"{RELEASE.name}_{number}"):
        number += 1
    return queries.scratch(f"{RELEASE.name}_{number}")
