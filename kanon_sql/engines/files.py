"""Files: the meaning of a path or glob, the format of a file, and whether it has changed."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from kanon_sql.errors import SourceError

_LOGS = {"Delta": "_delta_log", "Iceberg": "metadata/*.metadata.json*", "Hudi": ".hoodie"}
FileState = tuple[int, int, int]  # of a file: inode, bytes, and time of the last change in ns


def file_format(path: str) -> str:
    """Tell parquet from csv, and tsv, which is CSV with tabs, by the ending; anything else is an error."""
    ending = Path(path).suffix.lower()
    if ending == ".tsv":
        return "tsv"
    if ending in (".parquet", ".pq"):
        return "parquet"
    if ending in (".csv", ".txt", ".data"):
        return "csv"
    raise SourceError(f"{path} is neither .csv nor .parquet; name a file of one of these kinds")


def source_format(path: str) -> str:
    """The format of a source, which can also be an Excel workbook."""
    ending = Path(path).suffix.lower()
    if ending in (".xls", ".xlsb", ".ods"):
        raise SourceError(f"{path} is a workbook of a kind that cannot be read; save it as .xlsx or CSV")
    return "xlsx" if ending in (".xlsx", ".xlsm") else file_format(path)


def files(pattern: str) -> list[Path]:
    """The files of a path or glob, as DuckDB finds them, including hidden ones; a file with that exact name wins."""
    if os.path.isfile(pattern):  # False for a name that is too long
        return [Path(pattern)]
    return [Path(path) for path in sorted(glob.glob(pattern, recursive=True, include_hidden=True))]


def refuse_files_of_tables(paths: Sequence[Path]) -> None:
    """Refuse files of a Delta, Iceberg or Hudi table, whose folder also has deleted and older rows."""
    folders = {folder for path in paths for place in (path.absolute(), path.resolve()) for folder in place.parents}
    for folder in sorted(folders):
        for what, log in _LOGS.items():
            if next(folder.glob(log), None):
                raise SourceError(
                    f"{folder} is a {what} table, whose files also contain deleted and replaced rows; read the table "
                    "with its own library, and pass the Arrow table that it returns in Python"
                )


def fingerprints(pattern: str) -> dict[Path, FileState]:
    """Fingerprints of the files of a path or glob, which show whether they have changed."""
    seen_files = {}
    for path in files(pattern):
        with suppress(FileNotFoundError):
            seen = path.stat()
            seen_files[path] = (seen.st_ino, seen.st_size, seen.st_mtime_ns)
    return seen_files


def quoted_path(pattern: str) -> str:
    """An absolute path or glob for DuckDB, with special characters quoted unless the user meant a glob."""
    literal = os.path.exists(pattern)
    return os.path.join(glob.escape(os.getcwd()), glob.escape(pattern) if literal else pattern)
