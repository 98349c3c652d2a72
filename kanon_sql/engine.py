"""The interface of database engines: a few methods, the same for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeGuard

from kanon_sql import queries
from kanon_sql.errors import KanonError, SourceError
from kanon_sql.queries import Relation
from kanon_sql.spec import Reading

VALUE_BYTES = 8  # of a number that a server sends; a text takes as much more than its length


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, the engine's name of its type, and the kind of that type.

    The kind is one of integer, decimal, float, date, timestamp, time, boolean, text, other. `is_complete`: whether all
    values that the type lists are released.
    """

    name: str
    type: str
    kind: str
    is_complete: bool = False

    @property
    def ordered(self) -> bool:
        """Whether ranges of the values are meaningful; they are not for text."""
        return self.kind in ("integer", "decimal", "float", "date", "timestamp", "time")

    @property
    def zoned(self) -> bool:
        """Whether its values are timestamps with a time zone, whose day and hour depend on a time zone."""
        return self.type.upper() in ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ") or bool(_ZONED.fullmatch(self.type))

    @property
    def open_type(self) -> str | None:
        """The type with text in place of every ENUM, which would reveal its values; None without an ENUM.

        >>> Column("mood", "ENUM('sad', 'ok')[]", "other").open_type
        'VARCHAR[]'
        """
        opened = _ENUM.sub("VARCHAR", self.type)
        return None if opened == self.type or self.is_complete else opened

    @property
    def enum_values(self) -> int:
        """The number of values of an ENUM; 0 for any other type.

        >>> Column("mood", "ENUM('sad', 'it''s ok')", "text").enum_values
        2
        """
        return len(_ENUM_VALUE.findall(self.type)) if _ENUM.fullmatch(self.type) else 0

    @property
    def type_without_values(self) -> str:
        """The type without the values of an ENUM in it.

        >>> Column("mood", "ENUM('sad', 'ok')[]", "other").type_without_values
        'ENUM[]'
        """
        return _ENUM.sub("ENUM", self.type)


@dataclass(frozen=True)
class Table:
    """An existing table or view: its name, its form (table, view, materialized view, …) and its columns in order."""

    relation: Relation
    form: str
    columns: tuple[Column, ...]

    def column(self, name: str) -> Column | None:
        """The column called exactly `name`, if any."""
        return next((c for c in self.columns if c.name == name), None)


@dataclass(frozen=True)
class Grant:
    """A right of a grantee (None: everybody) to a relation, or to one of its columns."""

    privilege: str
    grantee: str | None
    may_grant: bool = False
    column: str | None = None


@dataclass(frozen=True)
class Rights:
    """The owner of a relation, if available, and the rights of others."""

    owner: str | None = None
    grants: tuple[Grant, ...] = ()


@dataclass(frozen=True)
class Attached:
    """Something that users attached to a table or view and that is lost if it is dropped, such as an index or a view.

    `name`: in words. `statement`: creates it again on a relation of the same name with these `columns`; empty if that
    is impossible. `needs_table`: whether only a relation of the same form can have it.
    """

    name: str
    columns: tuple[str, ...] = ()
    statement: str = ""
    needs_table: bool = True


@dataclass(frozen=True)
class Statement:
    """A statement that was run: its name, its purpose, its seconds, and the rows it returned or wrote, if available.

    A statement that ran several `times` has the text of the last run, and the total seconds and rows. `engine`: where
    it ran.
    """

    name: str
    sentence: str
    sql: str
    seconds: float
    rows: int | None = None
    times: int = 1
    engine: str = ""

    def __add__(self, later: Statement) -> Statement:
        """Both as one, with the later text."""
        rows = self.rows if later.rows is None else (self.rows or 0) + later.rows
        return replace(later, seconds=self.seconds + later.seconds, rows=rows, times=self.times + later.times)


class Engine(Protocol):
    """A connection to one database. All statements are printed for its `dialect`.

    The engines derive from this class. Its own values and methods are those of a database on a server with comments on
    existing tables, and without owners and privileges. What a release relies on to be safe has no default:
    transactions, whether a table may change in one, and rows that policies hide.

    `has_transactions`: whether the changes in `transaction` become visible together at its end, or not at all, and its
    reads see one snapshot. `has_temporary_tables`: whether a temporary table is more than a query that runs at every
    use. `has_keys`: whether it supports unique columns. `can_rename`: whether tables can be renamed.
    `kinds_kept_only`: kinds of columns that can only be released unchanged, since only this engine knows which of their
    values are equal. `is_embedded`: it runs in this process, so that hundreds of small queries are cheap, and rows are
    not sent over a network. `reads_files`: it reads and writes CSV and Parquet itself. `writes_folders`: it writes
    folders of Parquet files that its cluster can access.
    """

    dialect: str
    name: str
    has_materialized_views: bool = False
    has_transactions: bool
    has_temporary_tables: bool = True
    has_keys: bool = True
    can_rename: bool = True
    is_embedded: bool = False
    reads_files: bool = False
    writes_folders: bool = False
    kinds_kept_only: frozenset[str] = frozenset()

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query and fetch all its rows."""

    def run(self, sql: str) -> int | None:
        """Run a statement for its effect; returns the number of rows written, None if the engine does not report it."""

    def find(self, name: str) -> Table | None:
        """Look up a table or view by the name a user gave: `patients`, `hr.patients`, `"odd name"`."""

    def lasting(self, relation: Relation) -> Relation:
        """The name of a relation for use in a view: without the name of the database, if that can change."""
        return relation

    def create(self, relation: Relation, query: str, form: str, comment: str) -> int | None:
        """Create a permanent table or view from a query, with a comment; returns the rows written, if reported."""
        rows = self.run(queries.create_as(relation, query, self.dialect, form))
        try:
            self.run(queries.comment(relation, comment, self.dialect, form))
        except BaseException:  # a table without our comment would look foreign
            with suppress(KanonError):  # a lost transaction has rolled it back
                self.run(queries.drop(relation, self.dialect, form))
            raise
        return rows

    def load_batches(
        self, relation: Relation, types: Mapping[str, str], batches: Iterable[Sequence[Sequence[Any]]]
    ) -> None:
        """Create a temporary table with these columns (name: type of this engine); each batch has their values."""

    def create_castable(
        self, relation: Relation, none: str, written: Relation, type_name: str, columns: Sequence[str]
    ) -> None:
        """Create a temporary table with the rows of another whose `text` a type can contain, as `value`, and NULL.

        `none`: a query without rows that has the table's columns in their types. `columns`: those of both tables.
        """

    def filled(self, relation: Relation, rows: int | None) -> None:
        """Called after rows were written to a temporary table (None: an unknown number), before it is used."""

    def before_adding(self, relation: Relation) -> None:
        """Called before rows are added to a temporary table that is empty, or may be."""

    def table(self, relation: Relation, form: str = "table") -> Table:
        """Describe an existing relation."""

    def place(self, name: str) -> Relation:
        """The relation that `name` means as a target, existing or not; TargetError for an invalid name.

        The schema is the named one, otherwise the current one.
        """

    def address(self, relation: Relation) -> tuple[str, str]:
        """The namespace and the name of a relation as OpenLineage writes them, without credentials."""

    def check_writable(self, relation: Relation) -> None:
        """TargetError if a target cannot be created under this name."""

    def existing(self, relation: Relation) -> Table | None:
        """The table or view with exactly this name, if it exists."""

    def relations(self) -> list[Relation]:
        """All tables and views that a user could name, in any schema."""

    def comments(self, relation: Relation) -> dict[Relation, str]:
        """The comments on the tables and views in the schema of a relation."""

    def hidden(self, relation: Relation) -> list[str]:
        """Sentences about data that the engine silently hides from readers of a relation, such as rows by policies."""

    def rights(self, _: Relation) -> Rights:
        """The owner of an existing relation and the rights to it."""
        return Rights()

    def set_owner(self, _: str, __: Mapping[Relation, str]) -> bool:
        """Transfer relations with their forms to an owner who can read them; False, without changes, if impossible."""
        return False

    def send(self, query: str, target: Engine, relation: Relation) -> None:
        """Create a temporary table, here or in another engine, from the result of a query here."""

    def bytes_to_send(self, _: Table, __: Sequence[str]) -> int | None:
        """The bytes of all values of some columns; None if an embedded engine can find other values equal."""
        return None

    def forget(self, relation: Relation) -> None:
        """Drop a temporary table, if it exists."""

    def may_change(self, table: Table) -> bool:
        """Whether a transaction can see two states of a table, such as a view of files or of another database."""

    def fingerprint(self, table: Table) -> tuple[Any, ...] | None:
        """A fingerprint of the rows of a table in any order; None if a transaction protects them from changes."""

    def time_zone(self) -> str:
        """The time zone in which it converts timestamps to days and hours."""

    def explain(self, sql: str) -> str:
        """The engine's plan of a query, as text."""

    def frame(self, relation: Relation, arrow: bool = False) -> Any:
        """A relation's rows as a pandas DataFrame, or as an Arrow table."""

    def arrays(self, relation: Relation) -> dict[str, Any]:
        """A relation's rows without NULL, as a NumPy array per column."""
        frame = self.frame(relation)
        return {name: frame[name].to_numpy() for name in frame}

    def interrupt(self) -> None:
        """Stop the running statement, if any, which raises SourceError. To be called from another thread.

        Inside a transaction, this aborts the transaction.
        """

    @property
    def can_interrupt(self) -> bool:
        """Whether there is certainly no transaction that an interruption would abort."""
        return False

    def embedded(self) -> FileEngine:
        """A new embedded engine with separate temporary tables, under the same limits."""

    def close(self) -> None:
        """Close the connection."""

    def integer_type(self, largest: int) -> str:
        """The smallest signed integer type that can represent `largest`."""
        sizes = {"TINYINT": 2**7, "SMALLINT": 2**15, "INTEGER": 2**31}
        return next((name for name, size in sizes.items() if largest < size), "BIGINT")

    def transaction(self) -> AbstractContextManager[None]:
        """One consistent snapshot; rolled back if the block raises."""

    def snapshot(self) -> AbstractContextManager[None]:
        """One consistent snapshot for a block that only reads: a transaction, unless nobody else can write."""
        return self.transaction()


class TransactionalEngine(Engine, Protocol):
    """An engine with transactions, in which the rows of a permanent table can be replaced."""

    def hold(self, relation: Relation) -> None:
        """Prevent other sessions from writing to a table until the transaction ends; they can still read it."""

    def refill(self, relation: Relation, query: str, comment: str) -> int | None:
        """Replace the rows of a permanent table and its comment, in a transaction; returns the rows written.

        Other sessions see the old rows until the transaction ends. TargetError if the rows cannot be replaced.
        """

    def result_types(self, query: str) -> list[tuple[str, str]]:
        """The columns of a query's result, with types that are equal for equal types."""

    def attached(self, relation: Relation) -> list[Attached]:
        """Everything that is lost if a table or view is dropped, other than its privileges and its own comment."""

    def reads_from(self, view: Relation, relation: Relation) -> bool:
        """Whether a view reads a table or view, itself or through other views."""


def has_transactions(engine: Engine) -> TypeGuard[TransactionalEngine]:
    """Whether an engine has transactions."""
    return engine.has_transactions


@dataclass(frozen=True)
class FilesRead:
    """The result of reading files: the view of them, the `query` that reads them anywhere, and notes for the user.

    The query is None if the engine alone cannot read them.
    """

    table: Table
    query: str | None
    notes: tuple[str, ...] = ()


class FileEngine(Engine, Protocol):
    """An engine that reads and writes files itself, and data in memory."""

    def register(self, data: Any) -> Table:
        """Register a DataFrame, an Arrow table, or other data that the engine can scan, as the source."""

    def read_file(self, pattern: str) -> Table:
        """Show the CSV or Parquet files of a path or glob as a temporary view."""

    def read_as(self, pattern: str, reading: Reading) -> FilesRead:
        """Show the CSV, Excel or Parquet files of a path or glob as a temporary view, with reading options."""

    def forget_files(self) -> None:
        """Drop the view of the files that were read, and cached data."""

    def read_written(self, path: Path, written_as: str) -> Relation:
        """Show a file that was just written as a temporary view, as its reader will see it."""

    def write_file(self, query: str, path: Path, written_as: str, escaped: bool = True) -> int:
        """Write the rows of a query to a Parquet or CSV file, in order; returns their number. OSError if that fails.

        `escaped`: whether texts of a CSV file that a spreadsheet would interpret as formulas get a ' before them.
        """

    def files_sql(self, pattern: str) -> str:
        """The query that reads the files of a path or glob."""


def reads_files(engine: Engine) -> TypeGuard[FileEngine]:
    """Whether an engine reads and writes files itself."""
    return engine.reads_files


class FolderEngine(Engine, Protocol):
    """An engine whose cluster writes folders of Parquet files; such a folder is a relation like any other."""

    def write_folder(self, query: str, relation: Relation) -> None:
        """Write the result of a query to a new folder; TargetError if the folder exists."""


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
    """The ways to read a table's name: literally, then as dotted parts, quoted ones unquoted.

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
    """SourceError for two columns that differ only in case: engines and readers treat them differently."""
    seen: dict[str, str] = {}
    for column in columns:
        other = seen.get(column.casefold())
        seen[column.casefold()] = column
        if other is not None:
            raise SourceError(f"{where} has the columns {other!r} and {column!r}, the same but for case; rename one")


_ENUM_VALUE = re.compile(r"'(?:[^']|'')*'")
_ENUM = re.compile(r"ENUM\s*\((?:'(?:[^']|'')*'[\s,]*)*\)", re.IGNORECASE)  # DuckDB shows the values in the type
_ZONED = re.compile(r"timestamp(\(\d\))? with time zone")  # of PostgreSQL, with its digits
_FOLDER = re.compile(r"parquet\.`([^`]+)`", re.IGNORECASE)
_PART = re.compile(r'"((?:[^"]|"")+)"|([^."]+)')
_DOTTED = re.compile(rf"(?:{_PART.pattern})(?:\.(?:{_PART.pattern}))*")
