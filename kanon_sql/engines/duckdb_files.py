"""DuckDB's files: checks before a database is opened, spilling, and writing data files."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import duckdb

from kanon_sql import queries
from kanon_sql.database_file import create_file
from kanon_sql.engines.duckdb_errors import explained
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.spec import Limits, speakable
from kanon_sql.staging import PrivateFolder

_LOCKED = re.compile(r"Conflicting lock is held in (.*?) \(PID (\d+)\)")


def connected(path: str, read_only: bool) -> duckdb.DuckDBPyConnection:
    """Open a file, or share it with the same process, which can have it open with other settings."""
    if not read_only and not os.path.exists(path):
        create_file(path)
    try:
        return duckdb.connect(path, read_only=read_only)
    except duckdb.ConnectionException:
        return duckdb.connect(path, read_only=not read_only)


def spill_apart(
    connection: duckdb.DuckDBPyConnection, limits: Limits, default: Path | None = None
) -> PrivateFolder | None:
    """Let a database spill into a private folder, since DuckDB's temporary files are readable for all users.

    The folder is in that of the limits; by default next to the database file, or in TMPDIR if that is not writable.
    """
    if limits.temp_directory is not None and not Path(limits.temp_directory).is_dir():
        raise SpecError(f"there is no folder {limits.temp_directory} to spill to; check `temp_directory`")
    temporary = Path(tempfile.gettempdir())
    for parent in [Path(limits.temp_directory)] if limits.temp_directory else [default or temporary, temporary]:
        with suppress(duckdb.Error):  # the caller's database has spilled already
            try:
                folder = PrivateFolder(parent)
            except OSError as error:
                if limits.temp_directory:
                    raise SpecError(
                        f"{parent} cannot be written to, so nothing can be spilled there ({error.strerror}); name "
                        "another folder as `temp_directory`"
                    ) from None
                continue
            connection.execute("SET temp_directory = ?", [str(folder.path)])
            return folder
    return None


def write_copy(connection: duckdb.DuckDBPyConnection, query: str, path: Path, written_as: str, escaped: bool) -> int:
    """Write the rows of a query into an existing file, in its order, and count them; `escaped`: see `Engine`."""
    if escaped and written_as in queries.SEPARATORS:  # of a text file that a spreadsheet can open
        described = connection.sql(query)
        types = dict(zip(described.columns, map(str, described.types), strict=True))
        texts = [name for name, type_name in types.items() if type_name.startswith(("VARCHAR", "ENUM", "JSON"))]
        query = queries.without_formulas(query, list(types), texts, "duckdb")
    copy = queries.copy_to(query, str(path), written_as, "duckdb", in_place=True)
    with _written_alone(connection, query) if written_as == "parquet" else nullcontext():
        ((rows,),) = connection.execute(copy).fetchall()
    return int(rows)


@contextmanager
def _written_alone(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[None]:
    """Use a single thread for writing a query with ENUMs as Parquet.

    DuckDB 2.0 writes the values of an ENUM that it has seen, and threads note what they saw in one list of bits
    without a lock: a lost note would be an empty text in the file, and the notes depend on the timing.
    """
    described = connection.execute(f"DESCRIBE {query}").fetchall()
    if not any(str(kind).startswith("ENUM") for _, kind, *_ in described):
        yield
        return
    ((threads,),) = connection.execute("SELECT current_setting('threads')").fetchall()
    connection.execute("SET threads = 1")
    try:
        yield
    finally:
        with suppress(duckdb.Error):
            connection.execute("SET threads = ?", [threads])


def refuse_missing(path: str) -> None:
    if not os.path.isfile(path):
        raise SourceError(f"there is no database file {speakable(path)}; check the path")


def refuse_other_formats(path: str) -> None:
    """Refuse other files: DuckDB would open a data file as an empty database, and fetch extensions for some."""
    if not os.path.exists(path):
        return
    try:
        with open(path, "rb") as file:
            header = file.read(12)
    except OSError as error:
        raise SourceError(f"the database {path} cannot be opened: {error.strerror}; check the path") from error
    if header[8:] != b"DUCK":
        raise SourceError(f"{path} is not a DuckDB database; check the path")


@contextmanager
def opening(path: str, writes: bool) -> Iterator[None]:
    """Explain why a database file cannot be opened, and which process has it open, if any."""
    try:
        with explained(f"the database {path} cannot be opened"):
            yield
    except SourceError as error:
        holder = _LOCKED.search(str(error))
        if not holder:
            raise
        who = f"another process ({Path(holder[1]).name}, PID {holder[2]}) has it open"
        if writes and "read-only mode" in str(error):
            way_out = "to read; end that process, or write to a file with `output`, which needs no lock on the database"
        else:
            way_out = "for writing; end that process, or read a copy of the file"
        raise SourceError(f"the database {path} cannot be opened: {who} {way_out}") from None
