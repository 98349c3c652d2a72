"""The data that the page can open: files of the folder that it was started in, and tables of its database.

The browser names a file, never a path: only regular files that are in the folder itself are listed and opened, and no
link leads out of it. An uploaded file gets a new name there; nothing is overwritten.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from kanon_sql.engine import written
from kanon_sql.errors import SpecError, TargetError
from kanon_sql.page.names import plain
from kanon_sql.plan.source import opened_engine
from kanon_sql.spec import kind_of_file, session
from kanon_sql.staging import Staging

DATA = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".xlsx", ".xlsm")
MOST_LISTED = 500
MOST_UPLOADED = 256 * 2**20
_PART = 2**20


@dataclass(frozen=True)
class ListedFile:
    """A file of the folder."""

    name: str
    kind: str
    size: int
    changed: datetime


def listed_files(folder: Path, *endings: str) -> list[ListedFile]:
    """The files in a folder whose names end so, the latest first."""
    found = []
    try:
        entries = list(os.scandir(folder))
    except OSError as error:
        raise SpecError(f"the folder {folder} cannot be read: {error.strerror}; start the page in another") from None
    for entry in entries:
        if entry.name.startswith(".") or not entry.name.lower().endswith(endings):
            continue
        try:
            if not entry.is_file(follow_symlinks=False):
                continue
            state = entry.stat(follow_symlinks=False)
        except OSError:  # deleted meanwhile
            continue
        changed = datetime.fromtimestamp(state.st_mtime)
        found.append(ListedFile(entry.name, kind_of_file(entry.name) or "", state.st_size, changed))
    return sorted(found, key=lambda file: file.changed, reverse=True)[:MOST_LISTED]


def listed_file(folder: Path, name: str, *endings: str) -> Path:
    """The file with a name in the folder, which must end so; SpecError if it is not listed there."""
    path = folder / plain(name, endings)
    if path.is_symlink() or not path.is_file():
        raise SpecError(f"there is no file {name!r} in the folder; choose one from the list")
    return path


def tables(connection: Mapping[str, Any]) -> list[str]:
    """The tables and views of the page's database; KanonError if it cannot be opened."""
    if not connection:
        return []
    with opened_engine(session(**connection)) as engine:
        return sorted(written(engine.lasting(relation)) for relation in engine.relations())[:MOST_LISTED]


def uploaded(folder: Path, name: str, content: IO[bytes]) -> str:
    """Write an uploaded file into the folder, readable only for its owner; returns its name there."""
    name = Path(name.replace("\\", "/")).name
    path = folder / plain(name, DATA)
    if path.exists() or path.is_symlink():
        raise TargetError(f"there is a file {name!r} in the folder already; rename the new one, and upload it again")
    with Staging() as staging:
        with staging.file(path, overwrite=False, private=True) as temporary, temporary.open("wb") as copy:
            left = MOST_UPLOADED
            while part := content.read(_PART):
                left -= len(part)
                if left < 0:
                    most = MOST_UPLOADED // 2**20
                    raise TargetError(f"a file of more than {most} MiB cannot be uploaded; copy it instead")
                copy.write(part)
        staging.place()
    return name
