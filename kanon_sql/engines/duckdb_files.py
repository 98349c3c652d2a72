"""Files of DuckDB: whether a name is a database, who else has it open, where it spills, and how one is written."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import duckdb

from kanon_sql import queries
from kanon_sql.engines.duckdb_errors import explained
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.spec import Limits, speakable
from kanon_sql.staging import PrivateFolder

_LOCKED = re.compile(r"Conflicting lock is held in (.*?) \(PID (\d+)\)")


def connected(path: str, read_only: bool) -> duckdb.DuckDBPyConnection:
    """Open a file, or share it with the program around us, which may have it open in another way."""
    try:
        return duckdb.connect(path, read_only=read_only)
    except duckdb.ConnectionException:
        return duckdb.connect(path, read_only=not read_only)


def spill_apart(
    connection: duckdb.DuckDBPyConnection, limits: Limits, beside: Path | None = None
) -> PrivateFolder | None:
    """Have a database spill into a folder of its own: DuckDB's files are readable to all, whatever is in them.

    It is in the folder that the limits name, else beside a database file, or where nobody may write there in TMPDIR.
    """
    if limits.temp_directory is not None and not Path(limits.temp_directory).is_dir():
        raise SpecError(f"there is no folder {limits.temp_directory} to spill to; check `temp_directory`")
    temporary = Path(tempfile.gettempdir())
    for parent in [Path(limits.temp_directory)] if limits.temp_directory else [beside or temporary, temporary]:
        with suppress(duckdb.Error):  # the database has spilled before we came
            try:
                folder = PrivateFolder(parent)
            except OSError as error:
                if limits.temp_directory:
                    raise _no_spilling(parent, error) from None
                continue
            connection.execute("SET temp_directory = ?", [str(folder.path)])
            return folder
    return None


def _no_spilling(folder: Path, error: OSError) -> SpecError:
    return SpecError(
        f"{folder} cannot be written to, so nothing can be spilled there ({error.strerror}); name another folder as "
        "`temp_directory`"
    )


def write_copy(connection: duckdb.DuckDBPyConnection, query: str, path: Path, written_as: str, escaped: bool) -> int:
    """Write the rows of a query into a file that exists, in its order, and count them; `escaped`: see `Engine`."""
    if escaped and written_as in queries.SEPARATORS:
        query = _without_formulas(connection, query)
    copy = queries.copy_to(query, str(path), written_as, "duckdb", in_place=True)
    with _written_alone(connection, query) if written_as == "parquet" else nullcontext():
        ((rows,),) = connection.execute(copy).fetchall()
    return int(rows)


def _without_formulas(connection: duckdb.DuckDBPyConnection, query: str) -> str:
    """The query of a text file, no text of which a spreadsheet would take for a formula."""
    described = connection.sql(query)
    types = dict(zip(described.columns, map(str, described.types), strict=True))
    texts = [name for name, type_name in types.items() if type_name.startswith(("VARCHAR", "ENUM", "JSON"))]
    return queries.without_formulas(query, list(types), texts, "duckdb")


@contextmanager
def _written_alone(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[None]:
    """Have one thread at work where a query that is written as Parquet gives an ENUM.

    DuckDB 2.0 writes those values of an ENUM that it has seen, and threads note what they saw in one list of bits
    without a lock: a note that is lost would be an empty text in the file, and what is noted depends on the time.
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
    """DuckDB would open a data file as a database that is lost at the end, and fetch extensions for others."""
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
    """Say in one sentence why a database file cannot be opened, and which other process has it open, if one has."""
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
