"""The audit trail of a pipeline: a row per run, each chained to the one before by a checksum, in a table or a file.

A row holds the manifest of its run, and what else it says is in that too. Its checksum is that of the row before and
of the manifest's text, so that whoever changes a byte of a row has to write all later rows anew, whose last checksum
may be known elsewhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, Protocol

from kanon_sql import queries
from kanon_sql.engine import Engine, Table
from kanon_sql.errors import KanonError, SourceError, TargetError
from kanon_sql.pipeline.copies import TABLE, Copies, FileCopies, TableCopies
from kanon_sql.queries import Relation
from kanon_sql.release import tables
from kanon_sql.release.pieces import FOLDER
from kanon_sql.staging import Staging, locked

FIRST = "0" * 64  # what the first row is chained to
_WAIT = 600  # seconds for another run to add its row


@dataclass(frozen=True)
class Entry:
    """A row of a trail; `manifest` is the text that is checksummed, with what the run says of itself under `run`."""

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
        """The row of a manifest behind another."""
        text, previous = canonical(manifest), before.checksum if before else FIRST
        return _read(text, before.number + 1 if before else 1, previous, chained(previous, text))

    @property
    def said(self) -> dict[str, Any]:
        """The manifest."""
        manifest: dict[str, Any] = json.loads(self.manifest)
        return manifest

    def problem(self, before: Entry | None) -> str | None:
        """What is wrong with a row behind another; None of one that is as it was written."""
        try:
            expected = Entry.of(self.said, before)
        except (ValueError, KeyError, TypeError, AttributeError):
            return "its manifest cannot be read"
        if expected.number != self.number:
            return f"its number is {self.number}, where {expected.number} comes next"
        if expected.previous != self.previous:
            return "it is not chained to the row before"
        if expected.manifest != self.manifest or expected.checksum != self.checksum:
            return "its checksum is not that of its manifest"
        wrong = [each.name for each in fields(self) if getattr(self, each.name) != getattr(expected, each.name)]
        return f"{wrong[0]} is not what its manifest says" if wrong else None


def canonical(content: object) -> str:
    """The one text of what JSON can hold: keys in order, no spaces."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def chained(previous: str, manifest: str) -> str:
    """The checksum of a manifest's text behind the row with the checksum `previous`.

    >>> chained(FIRST, "{}")[:12]
    '5508d2b710e6'
    """
    return hashlib.sha256((previous + manifest).encode()).hexdigest()


def _read(text: str, number: int, previous: str, checksum: str) -> Entry:
    """A row as its manifest tells it."""
    manifest = json.loads(text)
    run = manifest["run"]
    node = None if manifest.get("node") is None else canonical(manifest["node"])
    singled = run["singled_out"] and run["singled_out"]["people"]
    told = node, canonical(manifest["privacy"]), canonical(run["fingerprints"]), singled
    spec = run["fingerprints"]["spec"]
    return Entry(number, run["at"], run["release"], spec, *told, text, previous, checksum)


class Trail(Protocol):
    """A trail where it is kept."""

    @property
    def name(self) -> str:
        """What it is called."""

    def entries(self) -> list[Entry]:
        """Its rows, the first one first; none where there is no trail yet."""

    def append(self, manifest: Mapping[str, Any], staging: Staging) -> contextlib.AbstractContextManager[Entry]:
        """Add the row of a run, which is there when its release is; the block lasts until then."""

    def copies(self, target: str) -> Copies:
        """Where the releases of a target are kept beside the trail."""


@dataclass(frozen=True)
class TableTrail:
    """A trail in a table of a database; a row is written in the transaction that is open there."""

    name: str
    engine: Engine
    relation: Relation

    def entries(self) -> list[Entry]:
        """Its rows; TargetError if the table is something else."""
        table = self.engine.existing(self.relation)
        if table is None:
            return []
        _check_columns(table, self.name)
        names = [each.name for each in fields(Entry)]
        rows = self.engine.rows(queries.text("pipeline/trail", self.engine.dialect, trail=self.relation, columns=names))
        return [Entry(*row) for row in rows]

    @contextlib.contextmanager
    def append(self, manifest: Mapping[str, Any], _: Staging) -> Iterator[Entry]:
        """Add a row; of two runs at once the key lets one."""
        known, dialect = self.entries(), self.engine.dialect
        entry = Entry.of(manifest, known[-1] if known else None)
        values = {each.name: getattr(entry, each.name) for each in fields(Entry)}
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
        """A table beside it."""
        return TableCopies(self.engine, self.relation.sibling(TABLE), target)


@dataclass(frozen=True)
class FileTrail:
    """A trail in a file of lines of JSON, which is replaced by one with a line more."""

    name: str
    path: Path

    def entries(self) -> list[Entry]:
        """Its rows; SourceError if it cannot be read."""
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise SourceError(f"the audit trail {self.path} cannot be read ({error}); restore it") from None
        return [self._entry(number, line) for number, line in enumerate(lines, start=1)]

    def _entry(self, number: int, line: str) -> Entry:
        """A line as it is written; what JSON would not write so is no manifest."""
        try:
            said = json.loads(line)
            entry = Entry(**{**said, "manifest": canonical(said["manifest"])})
        except (ValueError, KeyError, TypeError):
            return _unreadable(number, line)
        return entry if line == _line(entry) else _unreadable(number, line)

    @contextlib.contextmanager
    def append(self, manifest: Mapping[str, Any], staging: Staging) -> Iterator[Entry]:
        """Add a row, while no other run does."""
        busy = f"another run has been writing to {self.path} for {_WAIT // 60} minutes; end it, and run again"
        with locked(self.path.absolute().parent, _WAIT, busy):
            known = self.entries()
            entry = Entry.of(manifest, known[-1] if known else None)
            with staging.file(self.path, overwrite=True) as written:
                before = self.path.read_bytes() if known else b""
                written.write_bytes(before + f"{_line(entry)}\n".encode())
            yield entry

    def copies(self, target: str) -> Copies:
        """Files in a folder beside it."""
        return FileCopies(self.path.parent / FOLDER, target)


def _line(entry: Entry) -> str:
    said = dict(zip([each.name for each in fields(Entry)], astuple(entry), strict=True))
    return canonical({**said, "manifest": json.loads(entry.manifest)})


def _unreadable(number: int, line: str) -> Entry:
    return Entry(number, "", "", "", None, "", "", None, line, "", "")


def _check_columns(table: Table, name: str) -> None:
    if [column.name for column in table.columns] != [each.name for each in fields(Entry)]:
        raise TargetError(f"the {table.form} {name} is no audit trail; name another with `audit` in the spec")


def problems(entries: Sequence[Entry]) -> list[tuple[int, str]]:
    """The rows that are not as they were written, by their numbers, each with what is wrong."""
    behind = zip([None, *entries], entries, strict=False)
    found = ((entry.number, entry.problem(before)) for before, entry in behind)
    return [(number, problem) for number, problem in found if problem]
