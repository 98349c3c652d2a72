"""What kanon_sql asks of a database: a few methods, the same for every engine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeGuard

from kanon_sql.errors import SourceError
from kanon_sql.queries import Relation
from kanon_sql.spec import Reading


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, the engine's name of its type, and the kind of that type.

    The kind is one of integer, decimal, float, date, timestamp, time, boolean, text, other.
    """

    name: str
    type: str
    kind: str

    @property
    def ordered(self) -> bool:
        """Whether the values lie on an axis, so that a range of them means something; text does not."""
        return self.kind in ("integer", "decimal", "float", "date", "timestamp", "time")

    @property
    def zoned(self) -> bool:
        """Whether its values are moments, which have a day and an hour in a time zone alone."""
        return self.type.upper() in ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ") or bool(_ZONED.fullmatch(self.type))

    @property
    def open_type(self) -> str | None:
        """The type with text for every ENUM in it, whose values a reader of the type would see; None without one.

        >>> Column("mood", "ENUM('sad', 'ok')[]", "other").open_type
        'VARCHAR[]'
        """
        opened = _ENUM.sub("VARCHAR", self.type)
        return None if opened == self.type else opened

    @property
    def type_without_values(self) -> str:
        """The type without the values of an ENUM in it.

        >>> Column("mood", "ENUM('sad', 'ok')[]", "other").type_without_values
        'ENUM[]'
        """
        return _ENUM.sub("ENUM", self.type)


@dataclass(frozen=True)
class Table:
    """A table or view that exists: where, what (table, view, materialized view, …), and its columns in order."""

    relation: Relation
    form: str
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column | None:
        """The column called exactly `name`, if there is one."""
        return next((c for c in self.columns if c.name == name), None)


@dataclass(frozen=True)
class Grant:
    """A right that somebody (None: everybody) has to a relation, or to one column of it."""

    privilege: str
    grantee: str | None
    may_grant: bool = False
    column: str | None = None


@dataclass(frozen=True)
class Rights:
    """Who owns a relation, where that can be told, and what others may do with it."""

    owner: str | None = None
    grants: tuple[Grant, ...] = ()


@dataclass(frozen=True)
class Statement:
    """A statement that was run: its name, what it is for, its seconds, and the rows it gave or wrote if that is known.

    One that was run several `times` has the text of the last, and the seconds and rows of all. `engine`: where it ran.
    """

    name: str
    sentence: str
    sql: str
    seconds: float
    rows: int | None = None
    times: int = 1
    engine: str = ""

    def __add__(self, later: Statement) -> Statement:
        """Both as one: the text of the later."""
        rows = self.rows if later.rows is None else (self.rows or 0) + later.rows
        return replace(later, seconds=self.seconds + later.seconds, rows=rows, times=self.times + later.times)


class Engine(Protocol):
    """A connection to one database. Every statement it gets was printed for its `dialect`.

    `has_transactions`: whether what `transaction` makes appears together at its end, or not at all, and what it reads
    is one snapshot. `has_temporary_tables`: whether a temporary table is more than a query that is run at every use.
    `has_keys`: whether it can keep a value from being in a column twice. `can_rename`: whether a table can be given
    another name. `kinds_kept_only`: kinds of columns that can be released as they are and no more, since which of their
    values are equal is known here alone.
    `is_embedded`: it works in this process, so that hundreds of small queries cost little, and rows that a test sends
    it go over no network. `reads_files`: it reads and writes CSV and Parquet itself. `writes_folders`: it writes
    folders of Parquet files where its cluster sees them.
    """

    dialect: str
    name: str
    has_materialized_views: bool
    has_transactions: bool
    has_temporary_tables: bool
    has_keys: bool
    can_rename: bool
    is_embedded: bool
    reads_files: bool
    writes_folders: bool
    kinds_kept_only: frozenset[str]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query and fetch all its rows."""

    def run(self, sql: str) -> int | None:
        """Run a statement for its effect; gives the rows that it wrote, None where the engine does not say."""

    def find(self, name: str) -> Table | None:
        """Look up a table or view by the name a user gave: `patients`, `hr.patients`, `"odd name"`."""

    def lasting(self, relation: Relation) -> Relation:
        """The name of a relation as a view may keep it: without the name of the database, which may change."""

    def create(self, relation: Relation, query: str, form: str, comment: str) -> int | None:
        """Make a lasting table or view of a query, with a comment on it; gives the rows that it wrote, if it says."""

    def load(self, relation: Relation, types: Mapping[str, str], columns: Sequence[Sequence[Any]]) -> None:
        """Create a temporary table with these columns (name: type of this engine) and fill it, column by column."""

    def load_batches(
        self, relation: Relation, types: Mapping[str, str], batches: Iterable[Sequence[Sequence[Any]]]
    ) -> None:
        """Do what `load` does with rows that come some at a time, each time column by column."""

    def create_castable(
        self, relation: Relation, none: str, written: Relation, type_name: str, columns: Sequence[str]
    ) -> None:
        """Make a temporary table of the rows of another whose `text` a type can hold, as `value`; NULL too.

        `none`: the query that gives the table's columns in their types, and no rows. `columns`: those of both tables.
        """

    def filled(self, relation: Relation, rows: int | None) -> None:
        """Told of a temporary table that has got rows, so many if that is known, before it is read or gets more."""

    def table(self, relation: Relation, form: str = "table") -> Table:
        """Describe a relation that is known to exist."""

    def place(self, name: str) -> Relation:
        """The one place that `name` means as a target, whether there is a table or not; TargetError if there is none.

        The schema is the one named, or else the current one.
        """

    def check_writable(self, relation: Relation) -> None:
        """Refuse the place of a target, if no table may be made there; TargetError."""

    def existing(self, relation: Relation) -> Table | None:
        """The table or view in exactly this place, if there is one."""

    def relations(self) -> list[Relation]:
        """All tables and views that a user could name, wherever they are."""

    def comments(self, relation: Relation) -> dict[Relation, str]:
        """The comments on the tables and views in the schema of a relation."""

    def hidden(self, relation: Relation) -> list[str]:
        """What the engine keeps from who reads a relation without an error, in sentences: rows, by policies on it."""

    def rights(self, relation: Relation) -> Rights:
        """Who may do what with a relation that exists."""

    def set_owner(self, owner: str, forms: Mapping[Relation, str]) -> bool:
        """Give relations, each with its form, to an owner who can read them; False if that cannot be, with no harm."""

    def send(self, query: str, target: Engine, relation: Relation) -> None:
        """Create a temporary table, here or in another engine, of what a query gives here."""

    def forget(self, relation: Relation) -> None:
        """Drop a temporary table, if it is there."""

    def may_change(self, table: Table) -> bool:
        """Whether a transaction may see two states of a table: of a view that reads files, say, or another database."""

    def fingerprint(self, table: Table) -> tuple[Any, ...] | None:
        """What tells the rows of a table from others, in any order; None where a transaction keeps them as they are."""

    def time_zone(self) -> str:
        """The time zone in which it reads moments as days and hours."""

    def explain(self, sql: str) -> str:
        """The engine's plan of a query, as text."""

    def frame(self, relation: Relation, arrow: bool = False) -> Any:
        """A relation's rows as a pandas DataFrame, or as an Arrow table."""

    def interrupt(self) -> None:
        """Stop the statement that is running, if any: it raises SourceError. To be called from another thread.

        Inside a transaction, the transaction is lost with it.
        """

    def embedded(self) -> FileEngine:
        """An embedded engine whose temporary tables are its own, under the limits that this one has in the process."""

    def close(self) -> None:
        """Close the connection."""

    def integer_type(self, largest: int) -> str:
        """The smallest signed integer type that holds `largest`."""

    def transaction(self) -> AbstractContextManager[None]:
        """One consistent snapshot; rolled back if the block raises."""


@dataclass(frozen=True)
class FilesRead:
    """Files as they were read: the view of them, the `query` that reads them anywhere, and what is to be said of that.

    The query is None where they were read by more than the engine.
    """

    table: Table
    query: str | None
    notes: tuple[str, ...] = ()


class FileEngine(Engine, Protocol):
    """An engine that reads and writes files itself, and data in memory."""

    def register(self, data: Any) -> Table:
        """Show a DataFrame, an Arrow table, or anything else that it can scan, as the source."""

    def read_file(self, pattern: str) -> Table:
        """Show the CSV or Parquet files of a path or glob as a temporary view."""

    def read_as(self, pattern: str, reading: Reading) -> FilesRead:
        """Show the CSV, Excel or Parquet files of a path or glob as a temporary view, read as somebody says."""

    def forget_files(self) -> None:
        """Drop the view of the files that were read, and what was kept of them."""

    def read_written(self, path: Path, written_as: str) -> Relation:
        """Show a file that was just written as a temporary view, as its reader will see it."""

    def write_file(self, query: str, path: Path, written_as: str, escaped: bool = True) -> int:
        """Write the rows of a query to a Parquet or CSV file, in its order; how many. OSError if that fails.

        `escaped`: whether texts of a CSV file that a spreadsheet would take for formulas have a ' before them.
        """

    def sample(self, path: str, rows: int = 5) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The names of a file's columns, and rows from here and there in it."""

    def files_sql(self, pattern: str) -> str:
        """The query that reads the files of a path or glob."""


def reads_files(engine: Engine) -> TypeGuard[FileEngine]:
    """Whether an engine reads and writes files itself."""
    return engine.reads_files


class FolderEngine(Engine, Protocol):
    """An engine whose cluster writes folders of Parquet files; such a folder is a relation like any other."""

    def write_folder(self, query: str, relation: Relation) -> None:
        """Write what a query gives to a folder that is not there yet; TargetError if it is."""


def writes_folders(engine: Engine) -> TypeGuard[FolderEngine]:
    """Whether an engine writes folders of Parquet files."""
    return engine.writes_folders


def folder_named(name: str) -> Relation | None:
    """The folder of Parquet files that a name means, as Spark writes it: the last part of the relation is its path.

    >>> folder_named("parquet.`/data/people`")
    Relation(parts=('parquet', '/data/people'))
    """
    named = _FOLDER.fullmatch(name.strip())
    return Relation("parquet", named[1]) if named else None


def name_readings(name: str) -> list[tuple[str, ...]]:
    """The ways to read a table's name: as it stands, then as dotted parts, quoted ones unquoted.

    >>> name_readings('hr."odd.name"')
    [('hr."odd.name"',), ('hr', 'odd.name')]
    """
    if not _DOTTED.fullmatch(name):
        return [(name,)]
    dotted = tuple(quoted.replace('""', '"') or bare for quoted, bare in _PART.findall(name))
    return [(name,)] if dotted == (name,) else [(name,), dotted]


def written(relation: Relation) -> str:
    """A relation's name as a user may write it, which `name_readings` reads.

    >>> written(Relation("hr", "odd.name"))
    'hr."odd.name"'
    """
    quoted = ('"' + part.replace('"', '""') + '"' for part in relation.parts)
    return ".".join(name if {".", '"'} & set(part) else part for name, part in zip(quoted, relation.parts, strict=True))


def refuse_equal_names(columns: Sequence[str], where: str) -> None:
    """Two columns that differ only in case are an error: engines and readers disagree about them."""
    seen: dict[str, str] = {}
    for column in columns:
        other = seen.get(column.casefold())
        seen[column.casefold()] = column
        if other is not None:
            raise SourceError(f"{where} has the columns {other!r} and {column!r}, the same but for case; rename one")


_ENUM = re.compile(r"ENUM\s*\((?:'(?:[^']|'')*'[\s,]*)*\)", re.IGNORECASE)  # DuckDB shows the values in the type
_ZONED = re.compile(r"timestamp(\(\d\))? with time zone")  # of PostgreSQL, with its digits
_FOLDER = re.compile(r"parquet\.`([^`]+)`", re.IGNORECASE)
_PART = re.compile(r'"((?:[^"]|"")+)"|([^."]+)')
_DOTTED = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")
