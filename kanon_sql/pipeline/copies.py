"""Copies of the releases before, so that a new one is held against them too, and not only against the one it replaces.

A copy is a Parquet file, known by its checksum, which the manifests of later runs name: one that is lost or changed is
not passed over. It holds what was published, and with a `unit` a checksum of whose each row is.
"""

from __future__ import annotations

import shutil
from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any, Protocol

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.files import file_format
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import DifferencingError, KanonError, TargetError
from kanon_sql.queries import Relation
from kanon_sql.release import tables
from kanon_sql.release.pieces import PEOPLE, companion, private_file
from kanon_sql.release.publish import sha256
from kanon_sql.spec import ReleaseSpec, Scheduled, Spec
from kanon_sql.staging import Staging, make_private

TABLE = "kanon_copies"  # beside the table of an audit trail
_SAYS = {"is": "copies of releases"}
_ENDING = ".release"  # no data file's, so that no glob takes a copy for one
_PART = 3 * 2**20  # bytes of a copy in a row of a table, where 3 bytes are 4 letters
_TYPES = {"target": "TEXT", "sha256": "TEXT", "part": "BIGINT", "content": "TEXT"}


@dataclass(frozen=True)
class Past:
    """A release before the one that is replaced: when it was made, and a file of its rows.

    `number`: how many releases are newer than it.
    """

    at: str
    file: Path
    number: int


class Copies(Protocol):
    """Where the copies of one target's releases are kept."""

    def fetch(self, digest: str, folder: Path) -> Path:
        """The copy of a checksum as a file, in a folder where it is not one anyway; it may not be there."""

    def add(self, digest: str, file: Path, kept: Collection[str], staging: Staging) -> None:
        """Keep a copy from the moment on when its release is visible, beside those of the checksums `kept`."""

    def tidy(self, kept: Collection[str]) -> None:
        """Remove what is not needed any more, once the release is visible."""


@dataclass(frozen=True)
class FileCopies:
    """Copies in files of mode 0600, `stem` at the start of their names."""

    folder: Path
    stem: str

    def fetch(self, digest: str, folder: Path) -> Path:  # noqa: ARG002
        """Its own file."""
        return self.folder / f"{self.stem}.{digest[:16]}{_ENDING}"

    def add(self, digest: str, file: Path, kept: Collection[str], staging: Staging) -> None:  # noqa: ARG002
        """Have the file placed with the release."""
        place = self.fetch(digest, self.folder)
        try:
            make_private(self.folder)
        except OSError as error:
            raise TargetError(
                f"{self.folder}, where the releases before are kept, cannot be made ({error.strerror}); give the right "
                "to, or `differencing_history: 1`"
            ) from None
        with staging.file(place, overwrite=True, private=True) as staged:
            shutil.copyfile(file, staged)

    def tidy(self, kept: Collection[str]) -> None:
        """Remove the files of other releases."""
        named = {self.fetch(digest, self.folder) for digest in kept}
        for file in {*self.folder.glob(f"{escape(self.stem)}.*{_ENDING}")} - named:
            file.unlink(missing_ok=True)


@dataclass(frozen=True)
class TableCopies:
    """Copies in a table that nobody but its owner may read, written in the transaction that is open there."""

    engine: Engine
    relation: Relation
    target: str

    def fetch(self, digest: str, folder: Path) -> Path:
        """A file of the parts that the table has."""
        file = folder / digest
        holes: dict[str, Any] = {"target": self.target, "sha256": digest}
        text = queries.text("pipeline/copy", self.engine.dialect, copies=self.relation, **holes)
        parts = self.engine.rows(text) if self.engine.existing(self.relation) else []
        file.write_bytes(b"".join(b64decode(content) for (content,) in parts))
        return file

    def add(self, digest: str, file: Path, kept: Collection[str], staging: Staging) -> None:  # noqa: ARG002
        """Add its parts, and take away the copies of the same target that are not needed any more."""
        try:
            with Scratch(self.engine, "copies") as made:
                rows = queries.select_all(made.load("parts", _TYPES, self._parts(digest, file)), self.engine.dialect)
                self._insert(rows, kept)
        except KanonError as error:
            raise TargetError(
                f"{self.relation.name} takes no copy of this release, and nothing was released ({error}); run again if "
                "another run was faster, else give `differencing_history: 1`"
            ) from error

    def tidy(self, kept: Collection[str]) -> None:
        """Nothing is left to do."""

    def _parts(self, digest: str, file: Path) -> list[list[Any]]:
        with file.open("rb") as content:
            parts = [b64encode(part).decode() for part in iter(lambda: content.read(_PART), b"")]
        return [[self.target] * len(parts), [digest] * len(parts), [*range(len(parts))], parts]

    def _insert(self, rows: str, kept: Collection[str]) -> None:
        engine, dialect = self.engine, self.engine.dialect
        if engine.existing(self.relation) is None:
            tables.make_private(engine, self.relation, rows, _SAYS)
            return
        if tables.about(engine, self.relation) != _SAYS:
            raise TargetError(f"the table {self.relation.name} is somebody's; rename it")
        engine.run(queries.delete_others(self.relation, {"target": self.target}, {"sha256": kept}, dialect))
        engine.run(queries.insert(self.relation, rows, dialect))


@dataclass(frozen=True)
class History:
    """The last releases of one target, as a run finds and leaves them; files of them are in a `folder` meanwhile."""

    release: Scheduled
    copies: Copies
    engine: Engine
    staging: Staging
    folder: Path

    def held_against(self, spec: ReleaseSpec, before: Mapping[str, Any] | None) -> list[Past]:
        """Those that the new one is held against besides the one of the manifest `before`, which stands there.

        DifferencingError if a copy is not as it was.
        """
        known = history_of(before)[: self.release.history] if _is_compared(spec) else []
        unlike = {each["sha256"]: number for number, each in reversed([*enumerate(known)])}
        return [self._past(number, known[number]) for number in sorted(unlike.values()) if number]

    def with_this(
        self, spec: ReleaseSpec, before: Mapping[str, Any] | None, at: str, restores: bool = False
    ) -> list[dict[str, str]]:
        """Keep a copy of the release that is on its way, made `at` a time; what the manifest says of all, newest first.

        A release that was held against none is the first of those that the next one is. `restores`: it is made again
        as it was.
        """
        known = history_of(before)
        if restores:
            return known
        older = known[: self.release.history - 1] if before is not None and _is_compared(spec) else []
        return [self._kept(at, older), *older] if self.release.history > 1 and _has_rows(spec) else []

    def _past(self, number: int, each: Mapping[str, str]) -> Past:
        target, file = self.release.spec.target, self.copies.fetch(each["sha256"], self.folder)
        assert target
        if not file.is_file() or sha256(file) != each["sha256"]:
            raise DifferencingError(
                f"{target.name} was left as it was: the copy of its release of {each['at']} is lost or "
                "was changed, so that nobody can say whom that and a new release single out together; restore it, or "
                f"give `differencing_history: {number}` if nobody has that release any more"
            )
        return Past(each["at"], file, number)

    def _kept(self, at: str, older: Sequence[Mapping[str, str]]) -> dict[str, str]:
        digest, file = self._copied()
        kept = [each["sha256"] for each in older]
        if digest not in kept:
            self.copies.add(digest, file, kept, self.staging)
        return {"at": at, "sha256": digest}

    def _copied(self) -> tuple[str, Path]:
        """The rows that are about to be visible in a file: its checksum, and where it is."""
        target, file = self.release.spec.target, self.folder / "copy"
        assert target
        with closing(self.engine.embedded()) as here, Scratch(here, "copy") as made:
            by_people = self.release.spec.unit is not None
            if target.file:
                path = Path(target.file).absolute()
                on_its_way = self.staging.on_their_way[private_file(path, PEOPLE) if by_people else path]
                relation = here.read_written(on_its_way, file_format(path.name))
            else:
                place = self.engine.place(str(target.table))
                there = self.staging.tables_on_their_way.get(place, place)
                there = companion(there, PEOPLE) if by_people else there
                text = queries.select_all(there, self.engine.dialect)
                relation = made.receive("release", self.engine, text)
            here.write_file(queries.select_all(relation, here.dialect), file, "parquet")
        return sha256(file), file


def history_of(manifest: Mapping[str, Any] | None) -> list[dict[str, str]]:
    """What a manifest says of its release and of those before it that the next is held against: time and checksum."""
    history: list[dict[str, str]] = (manifest or {"run": {}})["run"].get("history", [])
    return history


def _is_compared(spec: ReleaseSpec) -> bool:
    return isinstance(spec.differencing_limit, int)


def _has_rows(spec: ReleaseSpec) -> bool:
    """Whether a release can be compared with another: one table, which is no query."""
    assert spec.target
    return spec.target.form in ("table", "materialized") and isinstance(spec, Spec)
