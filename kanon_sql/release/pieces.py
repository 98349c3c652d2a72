"""The pieces of a release: the relations or files to be written, as values."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kanon_sql.engine import Statement
from kanon_sql.queries import Relation

PEOPLE, EVIDENCE = "people", "evidence"  # the owners of a release's rows, and the labels of the source's tuples
KEY = "people_key"  # without it, people cannot be found by trying all possible units
DEFERRED = "deferred"  # the changes that wait, and since when
HISTORY = "history"  # all rows of the kept releases of several tables
PRIVATE = (PEOPLE, KEY, EVIDENCE, DEFERRED)  # the stems of private companions of a release
FOLDER = ".kanon"  # of mode 0700, for private files


@dataclass(frozen=True)
class Piece:
    """One relation or file of a release: its name among the pieces, its purpose, and its query.

    `stem`: the suffix of its name after the target's, empty for the target itself. `about`: contents of its comment.
    `released`: whether readers of the target may read it. `key`: a column without duplicates. `written_as`: the format
    of a file, if it is not the target's. `escaped`: whether text that starts a formula is escaped already.
    """

    name: str
    sentence: str
    query: str
    stem: str = ""
    form: str = "table"
    about: Mapping[str, Any] = field(default_factory=dict)
    released: bool = True
    key: str | None = None
    written_as: str | None = None
    escaped: bool = False

    def at(self, target: Relation) -> Relation:
        """Its place, given the target's."""
        return companion(target, self.stem)


def companion(target: Relation, stem: str) -> Relation:
    """The place of a companion table of a target.

    >>> companion(Relation("main", "released"), "sensitive").name
    'released__sensitive'
    """
    return target.sibling(f"{target.name}__{stem}") if stem else target


def companion_file(target: Path, stem: str) -> Path:
    """The place of a companion of a file.

    >>> companion_file(Path("anon.parquet"), "sensitive").name
    'anon.sensitive.parquet'
    """
    return target.with_name(f"{target.stem}.{stem}{target.suffix}") if stem else target


def private_file(target: Path, stem: str) -> Path:
    """The place of a companion of a file that is for its owner alone. Its ending is not that of a data file.

    >>> private_file(Path("anon.parquet"), "people").as_posix()
    '.kanon/anon.parquet.people'
    """
    return target.parent / FOLDER / f"{target.name}.{stem}"


def timed(piece: Piece, sql: str, run: Callable[[], int | None]) -> Statement:
    """Run the statement of a piece, and return its record."""
    started = time.monotonic()
    rows = run()
    return Statement(piece.name, piece.sentence, sql, time.monotonic() - started, rows)
