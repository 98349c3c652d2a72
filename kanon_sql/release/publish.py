"""Publish: stages everything that is written to a target, has it verified, and puts it in place.

Other modules only describe the pieces of a release (`Piece`) and how they are verified. Staged pieces become visible in
one step: files when `Staging` places them, tables at the end of the transaction, or by renaming on an engine without
transactions. Until then nothing changes.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic, TypeVar

from kanon_sql import queries
from kanon_sql.engine import Engine, FileEngine, Statement, Table, reads_files
from kanon_sql.engines.files import file_format
from kanon_sql.errors import SpecError, TargetError
from kanon_sql.queries import Relation
from kanon_sql.release import folders, inputs, tables
from kanon_sql.release.pieces import PRIVATE, Piece, companion_file, private_file, timed
from kanon_sql.spec import ReleaseSpec, Target
from kanon_sql.staging import Staging, make_private

RELEASE = queries.scratch("kanon_release")
CHECKSUMS = "sha256"  # the key in the file that names all files of a release
Checked = TypeVar("Checked")
Staged = Mapping[str, Relation]  # the staged pieces by name, as a verification reads them


@dataclass(frozen=True)
class Published(Generic[Checked]):
    """A staged and verified release: its place, its statements, and the result of the verification.

    `relation`: the target; with a `path`, the rows are in that file instead. `folder`: whether the target is a folder.
    """

    relation: Relation
    checked: Checked
    statements: tuple[Statement, ...]
    write_seconds: float
    verify_seconds: float
    path: Path | None = None
    folder: bool = False

    @property
    def sql(self) -> str:
        """The statement of the release itself."""
        return next(statement.sql for statement in self.statements if statement.name == "release")


def publish(
    engine: Engine,
    target: Target | None,
    pieces: Callable[[Relation], Sequence[Piece]],
    verify: Callable[[Engine, Staged], Checked],
    staging: Staging,
) -> Published[Checked]:
    """Stage a release and verify it; `staging` then puts it in place, or removes all of it after an error.

    `pieces`: the pieces for a place, the target itself first. `verify`: returns what it found in the staged pieces, or
    raises a VerificationError. Without a target, the only piece is a temporary table.
    """
    if target is None:
        return _keep(engine, pieces, verify, staging)
    if target.file:
        return _publish_files(engine, target, pieces(RELEASE), verify, staging)
    return _publish_tables(engine, target, pieces, verify, staging)


def publish_together(engine: Engine, targets: Sequence[tuple[Target, Sequence[Piece]]]) -> None:
    """Create several tables or views in the open transaction, with their pieces.

    A view can read companions of the other targets. So all targets of an earlier release are dropped before any of its
    companions, and all new companions are created before the targets.
    """
    planned = [(tables.prepare(engine, target), pieces) for target, pieces in targets]
    for placement, pieces in planned:
        tables.make_room(placement, pieces, [old for old in placement.old if old == placement.target])
    for placement, pieces in planned:
        tables.make_room(placement, pieces, [old for old in placement.old if old != placement.target])
    created = [(placement, piece) for placement, pieces in planned for piece in pieces]
    for placement, piece in sorted(created, key=lambda found: not found[1].stem):
        tables.create(placement, piece)
    for placement, _ in planned:
        tables.finish(placement)


def check_target(spec: ReleaseSpec, engine: Engine, source: Table, source_files: Sequence[Path]) -> None:
    """Refuse a target that exists, or that is an input of the release, before any long work."""
    target = spec.target
    if target is None:
        return
    if target.file:
        file_format(target.file)
        check_file(Path(target.file), target.overwrite, source_files)
        inputs.refuse_files([target.file], inputs.files_read(spec))
        return
    if target.form == "materialized" and not engine.has_materialized_views:
        raise SpecError(
            f"{engine.name} has no materialized views; use `form='table'`, and refresh it with `overwrite=True`"
        )
    if folders.named(engine, target):
        folders.check(engine, target)
        return
    existing = tables.check(engine, target, source)
    if existing:
        inputs.refuse_table(engine, spec, existing)


def check_file(path: Path, overwrite: bool, source_files: Sequence[Path]) -> None:
    """Refuse a file that exists, is the source, is not a regular file, or whose folder does not exist."""
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
        kind = "a broken link" if path.is_symlink() and not path.exists() else "not a regular file"
        raise TargetError(f"{path} is {kind}; remove it, or name another file")
    if any(path.exists() and source.exists() and path.samefile(source) for source in source_files):
        raise TargetError(f"the target {path} is the source; name another file")
    if path.exists() and not overwrite:
        raise TargetError(f"the file {path} exists already; use `overwrite=True` to replace it")


def free_name(engine: Engine) -> Relation:
    """An unused name for the temporary table of a release without a target."""
    number = 1
    while engine.find(f"{RELEASE.name}_{number}"):
        number += 1
    return queries.scratch(f"{RELEASE.name}_{number}")


def scratch_place(engine: Engine, target: Target) -> tuple[Relation, str]:
    """A place for a search's tables next to the target, and the comment by which leftovers are recognized."""
    folder = folders.named(engine, target)
    relation = engine.place(str((folders.staging_target(folder) if folder else target).table))
    return relation.sibling(tables.unused_name(relation, "staged")), tables.comment({"is": "scratch"})


def bring_back(engine: Engine, target: Target | None) -> None:
    """Restore the name of a release that a killed run had set aside, on an engine without transactions."""
    if not engine.has_transactions and target and target.table and not folders.named(engine, target):
        tables.bring_back(engine, engine.place(target.table))


def checksums_file(path: Path) -> Path:
    """The file with the checksums of a release in several files, so that files of two releases are not mixed up.

    >>> checksums_file(Path("anon.parquet")).name
    'anon.parquet.anatomy.json'
    """
    return path.parent / f"{path.name}.anatomy.json"


def sha256(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _keep(
    engine: Engine,
    pieces: Callable[[Relation], Sequence[Piece]],
    verify: Callable[[Engine, Staged], Checked],
    staging: Staging,
) -> Published[Checked]:
    started, relation = time.monotonic(), free_name(engine)
    (piece,) = pieces(relation)
    if not engine.has_transactions:
        staging.defer(lambda: None, lambda: tables.drop(engine, {relation: "table"}))
    if engine.has_temporary_tables:
        sql = queries.create_as(relation, piece.query, engine.dialect, temporary=True)
        statement = timed(piece, sql, lambda: engine.run(sql))
    else:
        statement = timed(piece, piece.query, lambda: engine.send(piece.query, engine, relation))
    written = time.monotonic()
    checked = verify(engine, {piece.name: relation})
    return Published(relation, checked, (statement,), written - started, time.monotonic() - written)


def _publish_tables(
    engine: Engine,
    target: Target,
    pieces: Callable[[Relation], Sequence[Piece]],
    verify: Callable[[Engine, Staged], Checked],
    staging: Staging,
) -> Published[Checked]:
    started, folder = time.monotonic(), folders.named(engine, target)
    placement = tables.prepare(engine, folders.staging_target(folder) if folder else target)
    if not engine.has_transactions:
        final = pieces(placement.target)  # now, while the tables that they read exist
        put = partial(tables.put_in_place, placement, final)
        if folder:
            put = partial(folders.put_in_place, placement, folder)
        staging.defer(put, lambda: tables.discard(placement))
        staging.staged_tables[folder or placement.target] = placement.place
    # A view needs its companions first.
    staged = sorted(pieces(placement.place), key=lambda piece: not piece.stem)
    tables.make_room(placement, staged)
    statements = [tables.create(placement, piece) for piece in staged]
    tables.finish(placement)
    written = time.monotonic()
    checked = verify(engine, {piece.name: piece.at(placement.place) for piece in placement.created})
    seconds = written - started, time.monotonic() - written
    return Published(folder or placement.target, checked, tuple(statements), *seconds, folder=folder is not None)


def _publish_files(
    engine: Engine,
    target: Target,
    pieces: Sequence[Piece],
    verify: Callable[[Engine, Staged], Checked],
    staging: Staging,
) -> Published[Checked]:
    started, path = time.monotonic(), Path(str(target.file))
    written_as = file_format(path.name)
    with ExitStack() as stack:
        reader = stack.enter_context(closing(engine.embedded()))
        # Files are placed in reverse order: the target last but for the checksums, which are staged after it.
        files = {piece.name: stack.enter_context(_staged(piece, path, target, staging)) for piece in pieces}
        formats, escaped = {piece.name: piece.written_as or written_as for piece in pieces}, target.formulas == "escape"
        statements = [write_file(engine, piece, files[piece.name], formats[piece.name], escaped) for piece in pieces]
        written = time.monotonic()
        checked = verify(reader, _ReadBack(reader, files, formats))
        released = [piece for piece in pieces if piece.released]
        if len(released) > 1:
            digests = {companion_file(path, piece.stem).name: sha256(files[piece.name]) for piece in released}
            named = stack.enter_context(staging.file(checksums_file(path), target.overwrite))
            named.write_text(json.dumps({CHECKSUMS: digests}, indent=2) + "\n", encoding="utf-8")
    staging.defer(partial(_forget_private, path, [piece.stem for piece in pieces if not piece.released]), lambda: None)
    seconds = written - started, time.monotonic() - written
    return Published(RELEASE, checked, tuple(statements), *seconds, path)


def _staged(piece: Piece, path: Path, target: Target, staging: Staging) -> AbstractContextManager[Path]:
    """The staged file of a piece; a piece that is not released is only readable for its owner."""
    if piece.released:
        return staging.file(companion_file(path, piece.stem), target.overwrite)
    place = private_file(path, piece.stem)
    try:
        make_private(place.parent)
    except OSError as error:
        raise TargetError(
            f"the folder {place.parent}, for the private files of {path.name}, cannot be created ({error.strerror}); "
            "change its permissions, or name a target in another folder"
        ) from None
    return staging.file(place, overwrite=True, private=True)


def _forget_private(path: Path, stems: Sequence[str]) -> None:
    """Remove private files of the replaced release that this release does not have."""
    for stem in {*PRIVATE} - {*stems}:
        private_file(path, stem).unlink(missing_ok=True)


def write_file(engine: Engine, piece: Piece, file: Path, written_as: str, escaped: bool = True) -> Statement:
    """Write a piece to a file, from any engine."""
    escaped = escaped and not piece.escaped
    if reads_files(engine):
        return timed(piece, piece.query, lambda: engine.write_file(piece.query, file, written_as, escaped))
    with closing(engine.embedded()) as here:
        engine.send(piece.query, here, RELEASE)
        query = queries.select_all(RELEASE, here.dialect)
        return timed(piece, piece.query, lambda: here.write_file(query, file, written_as, escaped))


class _ReadBack(Mapping[str, Relation]):
    """The files as a reader sees them; one of several is loaded into a table on first use, since there is one view."""

    def __init__(self, reader: FileEngine, files: Mapping[str, Path], formats: Mapping[str, str]) -> None:
        self._reader, self._files, self._formats = reader, files, formats
        self._loaded: dict[str, Relation] = {}

    def __getitem__(self, name: str) -> Relation:
        if name not in self._loaded:
            relation = self._reader.read_written(self._files[name], self._formats[name])
            if len(self._files) > 1:
                read = queries.select_all(relation, self._reader.dialect)
                relation = queries.scratch(f"kanon_staged_{name}")
                self._reader.send(read, self._reader, relation)
            self._loaded[name] = relation
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


@contextmanager
def as_in_a_file(source: Engine, query: str, written_as: str, escaped: bool) -> Iterator[tuple[FileEngine, Relation]]:
    """The rows of a query as another engine reads them from a file: a format can merge values, or change their types.

    `escaped`: whether text that starts a formula is escaped in the file.
    """
    with TemporaryDirectory(prefix="kanon_rows_") as folder, closing(source.embedded()) as reader:
        file = Path(folder) / "rows"
        write_file(source, Piece("rows", "Write rows to read them back.", query), file, written_as, escaped)
        yield reader, reader.read_written(file, written_as)
