"""What a release is made of: the relations or files to be written, as values that whoever publishes reads."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kanon_sql.engine import Statement
from kanon_sql.queries import Relation

PEOPLE, EVIDENCE = "people", "evidence"  # whose the rows of a release are, and by which values they have their labels
KEY = "people_key"  # without which nobody finds by trying who the people are
PRIVATE = (PEOPLE, KEY, EVIDENCE)  # the stems of what belongs to a release and is for its owner alone
FOLDER = ".kanon"  # of mode 0700, for files beside others that nobody but their owner may read


@dataclass(frozen=True)
class Piece:
    """One relation or file of a release: its name among the pieces, what it is for, and the query that fills it.

    `stem`: what its own name has behind the target's, empty for the target itself. `says`: of its comment. `released`:
    whether those who may read the target may read it. `key`: a column that must not hold a value twice. `written_as`:
    the format of a file, where it is not the target's.
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

    def at(self, target: Relation) -> Relation:
        """Where it stands, by where the target does."""
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
    """The place of a companion of a file that is for its owner alone. Its ending is no data file's.

    >>> private_file(Path("anon.parquet"), "people").as_posix()
    '.kanon/anon.parquet.people'
    """
    return target.parent / FOLDER / f"{target.name}.{stem}"


def timed(piece: Piece, sql: str, run: Callable[[], int | None]) -> Statement:
    """Run the statement of a piece, and say what it took."""
    started = time.monotonic()
    rows = run()
    return Statement(piece.name, piece.sentence, sql, time.monotonic() - started, rows)
