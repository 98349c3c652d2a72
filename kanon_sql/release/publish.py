"""The release: write, verify what was written by an independent query, or leave everything as it was."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.duckdb import DuckDB, file_format
from kanon_sql.errors import SpecError, TargetError, VerificationError
from kanon_sql.privacy import PrivacyModel
from kanon_sql.queries import Relation
from kanon_sql.recode.wildcard import Fits
from kanon_sql.release import tables
from kanon_sql.release.recoding import Recoding
from kanon_sql.spec import Spec, Target
from kanon_sql.staging import Staging

RELEASE = queries.scratch("kanon_release")


@dataclass(frozen=True)
class Summary:
    """What an independent query found in a relation; see `sql/core/class_summary.sql`.

    `fits`: the other notion of safety, where a star was asked to be a wildcard; see `kanon_sql.recode.wildcard`.
    """

    rows: int
    classes: int
    smallest_class: int | None
    unsafe_classes: int
    unsafe_rows: int
    fits: Fits | None = None

    @property
    def holds(self) -> bool:
        """Whether every class meets the model."""
        return self.unsafe_classes == 0

    @property
    def as_asked(self) -> bool:
        """Whether the release is what was asked for, by the notion that was asked for."""
        return self.fits.holds if self.fits else self.holds


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
        "core/class_summary",
        engine.dialect,
        release=relation,
        quasi_identifiers={name: column for column, name in plain.items()},
        names=list(plain.values()),
        safe=model.safe,
    )


def class_sizes(engine: Engine, relation: Relation, quasi_identifiers: Sequence[str]) -> list[tuple[int, int]]:
    """How many classes of each size a relation has, the smallest first."""
    query = queries.text(
        "core/class_sizes", engine.dialect, release=relation, quasi_identifiers=list(quasi_identifiers)
    )
    return [(int(size), int(classes)) for size, classes in engine.rows(query)]


def check_target(target: Target | None, engine: Engine, source: Table, source_files: Sequence[Path]) -> None:
    """Refuse a target that exists, or is the source, before any long work."""
    if target is None:
        return
    if target.file:
        file_format(target.file)
        check_file(Path(target.file), target.overwrite, source_files)
        return
    if target.form == "materialized" and not engine.has_materialized_views:
        raise SpecError(
            f"{engine.name} has no materialized views; give --as table, and run it again with --overwrite to refresh it"
        )
    tables.check(engine, target, source)


def check_file(path: Path, overwrite: bool, source_files: Sequence[Path]) -> None:
    """Refuse a file that exists, is the source, is no plain file, or has no folder to stand in."""
    if not os.path.isdir(path.absolute().parent):
        raise TargetError(f"there is no folder {path.parent} for {path.name}; make it first")
    try:
        path.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise TargetError(f"{path} cannot be written: {error.strerror}; name another place") from None
    if path.is_dir():
        raise TargetError(f"{path} is a folder; name a file in it")
    if not path.is_file():
        what = "a link to nothing" if path.is_symlink() and not path.exists() else "no plain file"
        raise TargetError(f"{path} is {what}; remove it, or name another file")
    if any(path.exists() and source.exists() and path.samefile(source) for source in source_files):
        raise TargetError(f"the target {path} is the source; name another file")
    if path.exists() and not overwrite:
        raise TargetError(f"the file {path} exists already; give --overwrite to replace it")


def write(recoding: Recoding, target: Target | None, staging: Staging) -> Written:
    """Write a recoding where the spec says, and verify it there; VerificationError if it does not hold.

    A file is staged, and has its name when `staging` places it; a table has it when the transaction ends.
    """
    if target and target.file:
        return _write_file(recoding, Path(target.file), target.overwrite, staging)
    if target:
        return _write_table(recoding, target)
    return keep(recoding)


def target_sql(recoding: Recoding, target: Target | None, source_files: str | None = None) -> str:
    """The statement of the release as one that stands alone: what `--sql` prints.

    `source_files`: the path or glob, where the source is not a table.
    """
    query, engine = recoding.standalone_sql(), recoding.engine
    if source_files and isinstance(engine, DuckDB):
        query = engine.over_files_sql(query, source_files)
    if target and target.table:
        return queries.create_as(engine.place(target.table), query, engine.dialect, target.form)
    if target and target.file and isinstance(engine, DuckDB):
        return queries.copy_to(query, target.file, file_format(target.file), engine.dialect)
    return query


def keep(recoding: Recoding) -> Written:
    """Write a recoding to a temporary table, and verify it there."""
    engine = recoding.engine
    relation = free_name(engine)
    started = time.monotonic()
    recoding.prepare()
    sql = queries.create_as(relation, recoding.select_sql(), engine.dialect, temporary=True)
    engine.run(sql)
    return _written(recoding, sql, relation, started)


def _write_table(recoding: Recoding, target: Target) -> Written:
    """Make a table; or a view, materialized or not, over the source and the tables that it keeps beside it."""
    started = time.monotonic()
    recoding.prepare()
    room = tables.make_room(recoding.engine, target)
    beside = recoding.beside(room.relation) if target.stays_a_query else {}
    for relation, query in beside.items():
        tables.make_beside(room, relation, query, "a table that the view needs")
        _declare_key(recoding.engine, relation)
    query = recoding.view_sql(room.relation) if target.stays_a_query else recoding.select_sql()
    sql = tables.make(room, query, target.form, promise(recoding.spec, recoding.quasi_identifiers))
    tables.finish(room)
    return _written(recoding, sql, room.relation, started)


def _written(recoding: Recoding, sql: str, relation: Relation, started: float) -> Written:
    written = time.monotonic()
    summary = _verified(recoding, recoding.engine, relation)
    return Written(sql, summary, written - started, time.monotonic() - written, relation)


def promise(spec: Spec, quasi_identifiers: Sequence[str]) -> dict[str, Any]:
    """What the comment on a release says of it, enough to verify it later: no value of the data."""
    found = {"k": spec.privacy.k, "quasi_identifiers": list(quasi_identifiers)}
    return found | ({"wildcard_suppression": True} if spec.wildcard_suppression else {})


def _declare_key(engine: Engine, beside: Relation) -> None:
    """Let the engine itself keep a value from being in a mapping table twice, where it has a key for the type."""
    value = engine.table(beside).column("value")
    if value and value.kind != "other":
        engine.run(queries.declare_key(beside, "value", engine.dialect))


def _write_file(recoding: Recoding, path: Path, overwrite: bool, staging: Staging) -> Written:
    engine = recoding.engine
    started = time.monotonic()
    recoding.prepare()
    sql, written_as = recoding.select_sql(), file_format(path.name)
    with staging.file(path, overwrite) as temporary:
        if isinstance(engine, DuckDB):
            engine.write_file(sql, temporary, written_as)
        else:
            here = DuckDB()
            engine.send(sql, here, RELEASE)
            here.write_file(queries.select_all(RELEASE, here.dialect), temporary, written_as)
        written = time.monotonic()
        reader = DuckDB()
        summary = _verified(recoding, reader, reader.read_written(temporary, written_as))
    return Written(sql, summary, written - started, time.monotonic() - written, RELEASE, path)


def _verified(recoding: Recoding, engine: Engine, relation: Relation) -> Summary:
    """Check what was written, as a stranger would: its columns, its rows, every class."""
    found = engine.table(relation)
    if [column.name for column in found.columns] != recoding.columns:
        raise VerificationError("the written release has other columns than planned; nothing was released")
    summary = summarize(engine, relation, recoding.quasi_identifiers, recoding.model)
    summary = replace(summary, fits=recoding.fits(engine, relation))
    if summary.fits and not summary.as_asked:
        raise VerificationError(
            f"the written release has {summary.fits.unsafe_rows:,} rows that fit too few rows of the source; nothing "
            "was released, run again and report this if it stays"
        )
    if not summary.as_asked:
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


def free_name(engine: Engine) -> Relation:
    """A temporary table of its own for every release without a target, so that none replaces another."""
    number = 1
    while engine.find(f"{RELEASE.name}_{number}"):
        number += 1
    return queries.scratch(f"{RELEASE.name}_{number}")
