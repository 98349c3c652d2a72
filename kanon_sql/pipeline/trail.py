"""The audit trail of a pipeline: a row per run, chained by checksums, in a table or a file.

A row contains the manifest of its run; its other columns repeat parts of the manifest. Its checksum covers the previous
checksum and the text of the manifest. To change a row without detection, all later rows would have to be rewritten, and
the last checksum, which may be recorded elsewhere, would change.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.errors import KanonError, SourceError, TargetError
from kanon_sql.pipeline.copies import TABLE, Copies, FileCopies, TableCopies
from kanon_sql.queries import Relation
from kanon_sql.release import tables
from kanon_sql.release.pieces import FOLDER
from kanon_sql.staging import Staging, locked

FIRST = "0" * 64  # the previous checksum of the first row
_WAIT = 600  # seconds for another run to add its row


@dataclass(frozen=True)
class Entry:
    """A row of a trail; `manifest` is the text that the checksum covers, with the run's own data under `run`."""

    number: int
    made_at: str
    release: str
    spec: str
    node: str | None
    findings: str
    fingerprints: str
    singled_out: int | None
    manifest: str
    previous: str
    checksum: str

    @classmethod
    def of(cls, manifest: Mapping[str, Any], before: Entry | None) -> Entry:
        """The row for a manifest, after the row `before`."""
        text, previous = canonical(manifest), before.checksum if before else FIRST
        return _read(text, before.number + 1 if before else 1, previous, chained(previous, text))

    @property
    def content(self) -> dict[str, Any]:
        """The manifest, parsed."""
        manifest: dict[str, Any] = json.loads(self.manifest)
        return manifest

    def problem(self, before: Entry | None) -> str | None:
        """The problem of the row, if it follows the row `before`; None if it is unchanged."""
        try:
            expected = Entry.of(self.content, before)
        except (ValueError, KeyError, TypeError, AttributeError):
            return "its manifest cannot be read"
        if expected.number != self.number:
            return f"its number is {self.number}, where {expected.number} comes next"
        if expected.previous != self.previous:
            return "it is not chained to the row before"
        if expected.manifest != self.manifest or expected.checksum != self.checksum:
            return "its checksum is not that of its manifest"
        for field in fields(self):
            if getattr(self, field.name) != getattr(expected, field.name):
                return f"{field.name} differs from its manifest"
        return None


def canonical(content: object) -> str:
    """The canonical JSON text of a value: keys in order, no spaces."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def chained(previous: str, manifest: str) -> str:
    """The checksum of a manifest's text, after the row with the checksum `previous`.

    >>> chained(FIRST, "{}")[:12]
    '5508d2b710e6'
    """
    return hashlib.sha256((previous + manifest).encode()).hexdigest()


def _read(text: str, number: int, previous: str, checksum: str) -> Entry:
    """The row for the text of a manifest."""
    manifest = json.loads(text)
    run = manifest["run"]
    return Entry(
        number,
        made_at=run["at"],
        release=run["release"],
        spec=run["fingerprints"]["spec"],
        node=None if manifest.get("node") is None else canonical(manifest["node"]),
        findings=canonical(manifest["privacy"]),
        fingerprints=canonical(run["fingerprints"]),
        singled_out=run["singled_out"] and run["singled_out"]["people"],
        manifest=text,
        previous=previous,
        checksum=checksum,
    )


@dataclass(frozen=True)
class TableTrail:
    """A trail in a table of a database; rows are written in the open transaction."""

    name: str
    engine: Engine
    relation: Relation

    def entries(self) -> list[Entry]:
        """Its rows, the oldest first, none if it does not exist yet; TargetError if the table is something else."""
        table = self.engine.existing(self.relation)
        if table is None:
            return []
        names = [field.name for field in fields(Entry)]
        if [column.name for column in table.columns] != names:
            raise TargetError(
                f"the {table.form} {self.name} is not an audit trail; name another with `audit` in the spec"
            )
        rows = self.engine.rows(queries.text("pipeline/trail", self.engine.dialect, trail=self.relation, columns=names))
        return [Entry(*row) for row in rows]

    @contextlib.contextmanager
    def append(self, manifest: Mapping[str, Any], _: Staging) -> Iterator[Entry]:
        """Add the row of a run, visible with its release; of two concurrent runs, the table's key refuses one."""
        entries, dialect = self.entries(), self.engine.dialect
        entry = Entry.of(manifest, entries[-1] if entries else None)
        values = {field.name: getattr(entry, field.name) for field in fields(Entry)}
        row = queries.text("pipeline/trail_row", dialect, **values)
        try:
            if self.engine.existing(self.relation):
                self.engine.run(queries.insert(self.relation, row, dialect))
            else:
                self.engine.run(queries.create_as(self.relation, row, dialect))
                self.engine.run(queries.comment(self.relation, tables.comment({"is": "audit trail"}), dialect))
                tables.declare_key(self.engine, self.relation, "number")
                tables.keep_private(self.engine, self.relation)
        except KanonError as error:
            raise TargetError(
                f"{self.name} takes no row of this run, and nothing was released ({error}); run again if another run "
                "was faster"
            ) from error
        yield entry

    def copies(self, target: str) -> Copies:
        """A table next to it."""
        return TableCopies(self.engine, self.relation.sibling(TABLE), target)


@dataclass(frozen=True)
class FileTrail:
    """A trail in a file of JSON lines, which is replaced as a whole to add a line."""

    name: str
    path: Path

    def entries(self) -> list[Entry]:
        """Its rows, the oldest first, none if it does not exist yet; SourceError if it cannot be read."""
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise SourceError(f"the audit trail {self.path} cannot be read ({error}); restore it") from None
        return [self._entry(number, line) for number, line in enumerate(lines, start=1)]

    def _entry(self, number: int, line: str) -> Entry:
        """Parse a line; one that is not in canonical form was changed, and is unreadable."""
        try:
            values = json.loads(line)
            entry = Entry(**{**values, "manifest": canonical(values["manifest"])})
        except (ValueError, KeyError, TypeError):
            return _unreadable(number, line)
        return entry if line == _line(entry) else _unreadable(number, line)

    @contextlib.contextmanager
    def append(self, manifest: Mapping[str, Any], staging: Staging) -> Iterator[Entry]:
        """Add the row of a run, which becomes visible with its release, while holding a lock on the trail's folder."""
        busy = f"another run has been writing to {self.path} for {_WAIT // 60} minutes; end it, and run again"
        with locked(self.path.absolute().parent, _WAIT, busy):
            entries = self.entries()
            entry = Entry.of(manifest, entries[-1] if entries else None)
            with staging.file(self.path, overwrite=True) as staged:
                before = self.path.read_bytes() if entries else b""
                staged.write_bytes(before + f"{_line(entry)}\n".encode())
            yield entry

    def copies(self, target: str) -> Copies:
        """Files in a folder next to it."""
        return FileCopies(self.path.parent / FOLDER, target)


Trail: TypeAlias = TableTrail | FileTrail


def _line(entry: Entry) -> str:
    return canonical({**asdict(entry), "manifest": json.loads(entry.manifest)})


def _unreadable(number: int, line: str) -> Entry:
    return Entry(number, "", "", "", None, "", "", None, line, "", "")


def problems(entries: Sequence[Entry]) -> list[tuple[int, str]]:
    """The numbers of the rows that were changed, with their problems."""
    found = []
    for before, entry in zip([None, *entries], entries, strict=False):
        if problem := entry.problem(before):
            found.append((entry.number, problem))
    return found
