"""Copies of earlier releases, so that a new release is compared with them, and not only with the one it replaces.

A copy is a Parquet file with the published rows, and with a `unit` also digests of their people. It is identified by
its checksum, which the manifests of later runs contain, so that a lost or changed copy is noticed.
"""

from __future__ import annotations

import shutil
from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import dataclass
from glob import escape
from pathlib import Path
from typing import Any, TypeAlias

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.files import file_format
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import DifferencingError, KanonError, TargetError
from kanon_sql.frequency.fitting import digest_of
from kanon_sql.queries import Relation
from kanon_sql.release import tables
from kanon_sql.release.pieces import PEOPLE, companion, private_file
from kanon_sql.release.publish import sha256
from kanon_sql.spec import ReleaseSpec, Scheduled, Spec
from kanon_sql.staging import Staging, make_private

TABLE = "kanon_copies"  # in the schema of an audit trail
_COMMENT = {"is": "copies of releases"}
_ENDING = ".release"  # not one of a data file, so that globs for data do not match copies
_PART = 3 * 2**20  # bytes of a copy per row of a table; a multiple of 3 for base64
_TYPES = {"target": "TEXT", "sha256": "TEXT", "part": "BIGINT", "content": "TEXT"}


@dataclass(frozen=True)
class Past:
    """An earlier release than the one to be replaced: its time, and a file of its rows.

    `number`: the number of newer releases. `regions`, `classes`: see `placing_regions` and `classes_of`.
    """

    at: str
    file: Path
    number: int
    regions: str | None = None
    classes: str | None = None


@dataclass(frozen=True)
class Replaced:
    """The release to be replaced: the regions that placed its rows, and its classes, if these are known.

    `reused`: whether the recoding of the new release is that of this one, unless it was not safe any more.
    """

    regions: str | None = None
    classes: str | None = None
    reused: bool = False

    @classmethod
    def of(cls, spec: ReleaseSpec, before: Mapping[str, Any] | None) -> Replaced:
        """The release with the manifest `before`."""
        newest = {"regions": None, "classes": None, **next(iter(history_of(before)), {})}
        reused = isinstance(spec, Spec) and before is not None and spec.node_from is before
        return cls(newest["regions"], newest["classes"], reused)


@dataclass(frozen=True)
class FileCopies:
    """Copies in files of mode 0600, whose names start with `stem`."""

    folder: Path
    stem: str

    def fetch(self, digest: str, folder: Path) -> Path:  # noqa: ARG002
        """The file of a copy; it does not exist if the copy is lost."""
        return self.folder / f"{self.stem}.{digest[:16]}{_ENDING}"

    def add(self, digest: str, file: Path, kept: Collection[str], staging: Staging) -> None:  # noqa: ARG002
        """Stage a copy, to be placed in the moment in which its release becomes visible."""
        copy = self.fetch(digest, self.folder)
        try:
            make_private(self.folder)
        except OSError as error:
            raise TargetError(
                f"the folder for copies of earlier releases, {self.folder}, cannot be created ({error.strerror}); "
                "allow it, or use `differencing_history: 1`"
            ) from None
        with staging.file(copy, overwrite=True, private=True) as staged:
            shutil.copyfile(file, staged)

    def tidy(self, kept: Collection[str]) -> None:
        """Delete the files of all other releases, once the new one is visible."""
        named = {self.fetch(digest, self.folder) for digest in kept}
        for file in {*self.folder.glob(f"{escape(self.stem)}.*{_ENDING}")} - named:
            file.unlink(missing_ok=True)


@dataclass(frozen=True)
class TableCopies:
    """Copies in a table that only its owner may read, written in the open transaction."""

    engine: Engine
    relation: Relation
    target: str

    def fetch(self, digest: str, folder: Path) -> Path:
        """Join the parts in the table into a file."""
        file = folder / digest
        query = queries.text(
            "pipeline/copy", self.engine.dialect, copies=self.relation, target=self.target, sha256=digest
        )
        parts = self.engine.rows(query) if self.engine.existing(self.relation) else []
        file.write_bytes(b"".join(b64decode(content) for (content,) in parts))
        return file

    def add(self, digest: str, file: Path, kept: Collection[str], staging: Staging) -> None:  # noqa: ARG002
        """Insert the parts of a copy, and delete the target's copies that are not needed any more."""
        with file.open("rb") as content:
            texts = [b64encode(part).decode() for part in iter(lambda: content.read(_PART), b"")]
        columns = [[self.target] * len(texts), [digest] * len(texts), [*range(len(texts))], texts]
        try:
            with Scratch(self.engine, "copies") as scratch:
                parts = scratch.load("parts", _TYPES, columns)
                self._insert(queries.select_all(parts, self.engine.dialect), kept)
        except KanonError as error:
            raise TargetError(
                f"{self.relation.name} takes no copy of this release, and nothing was released ({error}); run again if "
                "another run was faster, else use `differencing_history: 1`"
            ) from error

    def tidy(self, kept: Collection[str]) -> None:
        """Do nothing: `add` has deleted them."""

    def _insert(self, rows: str, kept: Collection[str]) -> None:
        engine, dialect = self.engine, self.engine.dialect
        if engine.existing(self.relation) is None:
            tables.make_private(engine, self.relation, rows, _COMMENT)
            return
        if tables.about(engine, self.relation) != _COMMENT:
            raise TargetError(f"the table {self.relation.name} exists and was not created by kanon_sql; rename it")
        engine.run(queries.delete_others(self.relation, {"target": self.target}, {"sha256": kept}, dialect))
        engine.run(queries.insert(self.relation, rows, dialect))


Copies: TypeAlias = FileCopies | TableCopies
"""The copies of one target's releases."""


@dataclass(frozen=True)
class History:
    """The last releases of one target, before and after a run; `folder`: for temporary files of them."""

    release: Scheduled
    copies: Copies
    engine: Engine
    staging: Staging
    folder: Path

    def to_compare(self, spec: ReleaseSpec, before: Mapping[str, Any] | None) -> list[Past]:
        """The releases to compare a new one with, except the one to be replaced, whose manifest is `before`.

        Of identical releases only the newest counts. DifferencingError if a copy is lost or was changed.
        """
        if not _is_compared(spec):
            return []
        past: list[Past] = []
        digests: set[str] = set()
        for number, entry in enumerate(history_of(before)[: self.release.history]):
            if number and entry["sha256"] not in digests:
                past.append(self._past(number, entry))
            digests.add(entry["sha256"])
        return past

    def newest(self, before: Mapping[str, Any] | None) -> Past | None:
        """The last release, if changes waited in it, so that it cannot be recreated from the source alone."""
        history = history_of(before)
        return self._past(0, history[0]) if before and before.get("deferred") and history else None

    def with_new(
        self, spec: ReleaseSpec, before: Mapping[str, Any] | None, manifest: Mapping[str, Any], restores: bool = False
    ) -> list[dict[str, str]]:
        """Copy the staged release of a manifest, and return the history for it, newest first.

        If a release was not compared with earlier ones, the history starts again with it. `restores`: whether the
        release is recreated unchanged, which does not extend the history.
        """
        history = history_of(before)
        if restores:
            return history
        assert spec.target
        has_rows = spec.target.form in ("table", "materialized") and isinstance(spec, Spec)
        if self.release.history <= 1 or not has_rows:  # there is no table or file of rows to compare
            return []
        older = history[: self.release.history - 1] if before is not None and _is_compared(spec) else []
        file = self._copy_of_staged()
        digest, kept = sha256(file), [entry["sha256"] for entry in older]
        if digest not in kept:
            self.copies.add(digest, file, kept, self.staging)
        return [{"at": manifest["run"]["at"], "sha256": digest, **_identified(manifest, before, spec)}, *older]

    def _past(self, number: int, entry: Mapping[str, str]) -> Past:
        target, file = self.release.spec.target, self.copies.fetch(entry["sha256"], self.folder)
        assert target
        if not file.is_file() or sha256(file) != entry["sha256"]:
            raise DifferencingError(
                f"{target.name} was left as it was: the copy of its release of {entry['at']} is lost or "
                "was changed, so that a new release cannot be compared with it; restore it, or use "
                f"`differencing_history: {number}` if no one has that release any more"
            )
        return Past(entry["at"], file, number, entry.get("regions"), entry.get("classes"))

    def _copy_of_staged(self) -> Path:
        """Write the rows of the staged release to a file; with a `unit`, those with the digests of people."""
        target, file = self.release.spec.target, self.folder / "copy"
        assert target
        with closing(self.engine.embedded()) as here, Scratch(here, "copy") as scratch:
            by_people = self.release.spec.unit is not None
            if target.file:
                path = Path(target.file).absolute()
                staged = self.staging.staged_files[private_file(path, PEOPLE) if by_people else path]
                relation = here.read_written(staged, file_format(path.name))
            else:
                place = self.engine.place(str(target.table))
                table = self.staging.staged_tables.get(place, place)
                if by_people:
                    table = companion(table, PEOPLE)
                relation = scratch.receive("release", self.engine, queries.select_all(table, self.engine.dialect))
            here.write_file(queries.select_all(relation, here.dialect), file, "parquet")
        return file


def history_of(manifest: Mapping[str, Any] | None) -> list[dict[str, str]]:
    """The releases that the next one is compared with, from the manifest of the newest: times and checksums."""
    history: list[dict[str, str]] = (manifest or {"run": {}})["run"].get("history", [])
    return history


def placing_regions(manifest: Mapping[str, Any], before: Mapping[str, Any] | None) -> str | None:
    """The checksum of the regions that placed every row in its class; None if rows were placed in another way.

    Releases with equal ones put all people with the same quasi-identifiers into the same class, except near a class
    whose first or last text has left the source.
    """
    regions, recoding = manifest.get("regions"), manifest.get("recoding") or {}
    if not regions or recoding.get("recut_rows"):
        return None
    replaced = next(iter(history_of(before)), {}).get("regions")
    is_placed = recoding.get("placed_by_regions") or replaced == regions["sha256"]
    return str(regions["sha256"]) if is_placed else None


def classes_of(
    node: Mapping[str, int], hierarchies: Mapping[str, str], types: Mapping[str, str], kept: str | None = None
) -> str:
    """An identifier of the classes of a node, equal if they have the same labels for the same values.

    `hierarchies`: their checksums. `types`: of the quasi-identifiers. `kept`: the identifier of an earlier release, if
    its node was kept although hierarchies may have grown since.
    """
    labels = kept.partition("-")[2] if kept else digest_of([node, hierarchies])[:16]
    return f"{digest_of(types)[:16]}-{labels}"


def _identified(manifest: Mapping[str, Any], before: Mapping[str, Any] | None, spec: ReleaseSpec) -> dict[str, str]:
    """The entries of a history about the classes of a release: its regions, and an identifier of its classes."""
    regions = placing_regions(manifest, before)
    if regions:
        return {"regions": regions, "classes": regions}
    if not manifest.get("node"):
        return {}
    replaced = Replaced.of(spec, before)
    kept = replaced.classes if replaced.reused and manifest["node_kept"] else None
    types = {name: manifest["columns"][name] for name in manifest["node"]}
    return {"classes": classes_of(manifest["node"], manifest["hierarchies"], types, kept)}


def _is_compared(spec: ReleaseSpec) -> bool:
    return isinstance(spec.differencing_limit, int)
