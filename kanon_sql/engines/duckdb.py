"""DuckDB: the embedded default, in memory over files, DataFrames and Arrow tables, or on a database file."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from importlib.util import find_spec
from math import isnan
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql import interrupts, queries
from kanon_sql.engine import Attached, Column, Engine, FilesRead, Table, name_readings, refuse_equal_names
from kanon_sql.engines.duckdb_errors import explained, message_of
from kanon_sql.engines.duckdb_files import (
    connected,
    opening,
    refuse_missing,
    refuse_other_formats,
    spill_apart,
    write_copy,
)
from kanon_sql.engines.file_source import LINES, SOURCE_VIEW, Reader
from kanon_sql.engines.files import file_format, files, quoted_path
from kanon_sql.engines.singles import printed_singles
from kanon_sql.errors import SourceError, SpecError, TargetError
from kanon_sql.queries import Relation
from kanon_sql.spec import Limits, Reading
from kanon_sql.staging import NewFile

_SENT = queries.scratch("kanon_sent")
# Types that another connection reads unchanged; others (HUGEINT, DECIMAL, TIME …) might be converted.
_TIMES = "DATE", "INTERVAL", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE"
_STREAMED = frozenset(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "BOOLEAN", "VARCHAR", *_TIMES))
_INEXACT = frozenset((*_TIMES, "TIME_NS"))  # Python has no infinite dates and no nanoseconds
_BATCH = 10_000  # rows in Python at a time, on their way to another engine
_RECURSIVE = "WITH RECURSIVE "
_LOOK_UP = """
SELECT table_name, CASE WHEN table_type = 'VIEW' THEN 'view' ELSE 'table' END
FROM information_schema.tables
WHERE table_catalog = $1 AND table_schema = $2
"""
_READ_ONLY = "SELECT 1 FROM duckdb_databases() WHERE database_name = $1 AND readonly"
_ALL_TABLES = """
SELECT database_name, schema_name, table_name FROM duckdb_tables() WHERE NOT temporary AND NOT internal
UNION ALL
SELECT database_name, schema_name, view_name FROM duckdb_views() WHERE NOT temporary AND NOT internal
ORDER BY ALL
"""
_COMMENTS = """
SELECT table_name, comment FROM duckdb_tables() WHERE database_name = $1 AND schema_name = $2 AND comment IS NOT NULL
UNION ALL
SELECT view_name, comment FROM duckdb_views() WHERE database_name = $1 AND schema_name = $2 AND comment IS NOT NULL
"""
_DEFINITION = "SELECT sql FROM duckdb_views() WHERE database_name = $1 AND schema_name = $2 AND view_name = $3"
# A view reads a table by its name, so it survives.
_ATTACHED = """
SELECT 'the index ' || index_name, NULL, NULL
FROM duckdb_indexes() WHERE database_name = $1 AND schema_name = $2 AND table_name = $3
UNION ALL
SELECT 'the constraint ' || constraint_text, NULL, NULL
FROM duckdb_constraints() WHERE database_name = $1 AND schema_name = $2 AND table_name = $3
UNION ALL
SELECT 'the default of the column ' || column_name, NULL, NULL
FROM duckdb_columns()
WHERE database_name = $1 AND schema_name = $2 AND table_name = $3 AND COALESCE(column_default, 'NULL') <> 'NULL'
UNION ALL
SELECT 'the comment on the column ' || column_name, column_name, comment
FROM duckdb_columns() WHERE database_name = $1 AND schema_name = $2 AND table_name = $3 AND comment IS NOT NULL
"""
_LASTING = "SELECT 1 FROM information_schema.tables WHERE table_catalog = CURRENT_DATABASE() LIMIT 1"
_MANY = 2_000  # rows; fewer are loaded faster as parameters than as arrays
_NUMBERS: dict[str, type] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), int),
    **dict.fromkeys(("DOUBLE", "FLOAT8"), float),
    "BOOLEAN": bool,
}
_KINDS = {
    "integer": ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"),
    "float": ("FLOAT", "DOUBLE", "REAL"),
    "boolean": ("BOOLEAN",),
    "date": ("DATE",),
    "time": ("TIME",),
    "text": ("VARCHAR", "ENUM", "CHAR", "TEXT"),
}
_PORTABLE = {"integer": "BIGINT", "float": "DOUBLE PRECISION", "text": "VARCHAR"}
_WIDE = ("HUGEINT", "UBIGINT")  # too wide for a BIGINT
_TIME_ZONE = "UTC"  # the default for timestamps with time zone, instead of that of the machine
_OWN_SCANS = frozenset(("SEQ_SCAN", "CTE_SCAN"))
_ANY = "a pandas or Polars DataFrame, an Arrow table, the path of a file, or the name of a table"
_WAYS_OUT = {
    ("deltalake", "DeltaTable"): "the result of its `to_pyarrow_table()`",
    ("pyiceberg", "Table"): "the result of its `scan().to_arrow()`",
    ("narwhals", "LazyFrame"): "the result of its `collect()`",
    ("polars", "LazyFrame"): "the result of its `collect()`",
    ("pyspark", "DataFrame"): "the name of the table, and the session as `connection`",
    ("pandas", "Series"): "the result of its `to_frame()`",
    ("polars", "Series"): "the result of its `to_frame()`",
    ("pyarrow", "RecordBatchReader"): "the result of its `read_all()`",
    ("kanon_sql", "Release"): "the result of its `to_df()`, or the file or table that it is in",
    ("builtins", "list"): "`pandas.DataFrame(…)` of it",
    ("builtins", "dict"): "`pandas.DataFrame(…)` of it",
}


class DuckDB(Engine):
    """One DuckDB connection; see `kanon_sql.engine.Engine` for its methods.

    `alone`: nobody else can write to the tables that it reads.
    """

    dialect = "duckdb"
    name = "duckdb"
    has_transactions = True
    is_embedded = True
    reads_files = True

    def __init__(
        self, connection: duckdb.DuckDBPyConnection | None = None, limits: Limits | None = None, alone: bool = False
    ) -> None:
        self.connection = connection or duckdb.connect()
        self.limits = limits or Limits()
        self._alone = alone
        self._new: NewFile | None = None
        self._interrupting, self._to_its_end = threading.RLock(), False  # re-entrant, since a signal can come inside
        # A caller's connection might be inside a transaction, which cannot be queried.
        self._may_transact = not alone
        self._spilled = None if connection else spill_apart(self.connection, self.limits)
        for setting in ("memory_limit", "threads"):
            value = getattr(self.limits, setting)
            if value is not None:
                with explained(f"{setting} cannot be {value}", SpecError):
                    self.connection.execute(f"SET {setting} = ?", [value])
        if connection is None:
            self._read_moments_in(self.limits.time_zone or _TIME_ZONE)
        interrupts.interrupted_by_signals(self, at_once=True)

    @classmethod
    def open(cls, path: str, create: bool = False, read_only: bool = False, limits: Limits | None = None) -> DuckDB:
        """Open a database file; a missing one is an error unless `create` allows to create it.

        A new file only appears, complete, when the engine is closed, if it has any lasting tables. `read_only`: other
        processes can read it at the same time.
        """
        if not create:
            refuse_missing(path)
        refuse_other_formats(path)
        place = Path(path).resolve()
        new = None if os.path.exists(place) else NewFile(place)
        with opening(path, writes=not read_only):
            engine = cls(connected(str(new.file) if new else path, read_only and not new), limits, alone=read_only)
        engine._spilled = spill_apart(engine.connection, engine.limits, place.parent)
        engine._read_moments_in(engine.limits.time_zone or _TIME_ZONE)
        engine._new = new
        return engine

    def attach(self, name: str, path: str, read_only: bool = True) -> None:
        """Attach a database file, which must exist, under a name; SpecError if the name already exists here."""
        refuse_missing(path)
        refuse_other_formats(path)
        if self._home([name]):
            raise SpecError(f"{name} is a schema or database already; attach {path} by another name")
        self._alone = False
        with opening(path, writes=not read_only):
            self.connection.execute(queries.attach(path, name, self.dialect, read_only))

    def use(self, name: str) -> None:
        """Make an attached database the default for names without a database."""
        self.connection.execute(queries.use(name, self.dialect))

    def _read_moments_in(self, time_zone: str) -> None:
        try:
            self.connection.execute("SET TimeZone = ?", [time_zone])
        except duckdb.Error:
            raise SpecError(f"there is no time zone {time_zone!r} in DuckDB; set one such as Europe/Zurich") from None

    @contextmanager
    def in_time_zone(self, name: str | None) -> Iterator[None]:
        """The connection with another time zone, which stays as it is for None, while the block runs."""
        if name is None:
            yield
            return
        before = self.time_zone()
        self._read_moments_in(name)
        try:
            yield
        finally:
            with suppress(SpecError):  # an aborted transaction, whose error is more important
                self._read_moments_in(before)

    def time_zone(self) -> str:
        """The time zone of the connection."""
        ((name,),) = self.connection.execute("SELECT CURRENT_SETTING('TimeZone')").fetchall()
        return str(name)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query and fetch all its rows; a FLOAT is the number that it prints, 0.7 and not 0.699999988079071."""
        with explained():
            self.connection.execute(sql)
            fetched = self.connection.fetchall()
        return self._as_printed(fetched)

    def _batches(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a query in batches."""
        with explained():
            self.connection.execute(sql)
            while fetched := self.connection.fetchmany(_BATCH):
                yield self._as_printed(fetched)

    def _as_printed(self, fetched: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        singles = [place for place, (_, kind, *_) in enumerate(self.connection.description) if kind == "FLOAT"]
        return [printed_singles(row, singles) for row in fetched] if singles else fetched

    def run(self, sql: str) -> int | None:
        """Run a statement; returns the number of rows that it wrote, if DuckDB reports it."""
        with explained():
            result = self._run_to_its_end(sql) if _RECURSIVE in sql else self.connection.execute(sql).fetchone()
        return int(result[0]) if result and isinstance(result[0], int) else None

    def _run_to_its_end(self, sql: str) -> tuple[Any, ...] | None:
        """Run a recursive statement without interruptions, after which DuckDB 2.0 sometimes never ends."""
        try:
            with self._interrupting:
                self._to_its_end = True
            return interrupts.run_to_its_end(lambda: self.connection.execute(sql).fetchone())
        finally:
            self._to_its_end = False

    def filled(self, _: Relation, __: int | None) -> None:
        """Do nothing: DuckDB estimates the numbers of values itself."""

    def before_adding(self, relation: Relation) -> None:
        """Add a row to an empty table and delete it again."""
        # Otherwise DuckDB 2.0 loses all rows of a large INSERT that follows one of no rows in a transaction.
        if not self._may_transact:
            return
        if self.rows(queries.text("frequency_sets/row_count", self.dialect, relation=relation)) == [(0,)]:
            for statement in queries.add_and_delete_a_row(relation, self.dialect):
                self.run(statement)

    def explain(self, sql: str) -> str:
        """The engine's plan of a query, as text."""
        return str(self.rows(f"EXPLAIN {sql}")[0][1])

    def may_change(self, table: Table) -> bool:
        """Whether a view reads anything except DuckDB's own tables, according to its plan."""
        if table.form != "view":
            return False
        ((_, plan),) = self.rows(f"EXPLAIN (FORMAT json) {queries.select_all(table.relation, self.dialect)}")
        return not _OWN_SCANS.issuperset(_scans(json.loads(plan)[0]))

    def find(self, name: str) -> Table | None:
        """Look up a table or view by a name from a user."""
        for *path, table in name_readings(name):
            homes = [self._home(path)] if path else [("temp", "main"), self._home(path)]
            for home in homes:
                existing = self.existing(Relation(*home, table)) if home else None
                if existing:
                    return existing
        return None

    def existing(self, relation: Relation) -> Table | None:
        """The table or view in exactly this place; DuckDB ignores the case of the letters a to z."""
        *home, name = relation.parts
        listed = self.connection.execute(_LOOK_UP, [*home, "main"][:2]).fetchall()  # main is the default schema
        stored = next(((stored, form) for stored, form in listed if _folded(stored) == _folded(name)), None)
        return self.table(Relation(*home, stored[0]), stored[1]) if stored else None

    def fingerprint(self, _: Table) -> None:
        """None: a transaction has one snapshot of a table."""

    def _home(self, path: Sequence[str]) -> tuple[str, str] | None:
        """The database and schema that the first parts of a name refer to, in their own spelling."""
        here, schema = self.rows("SELECT current_database(), current_schema()")[0]
        homes = self.rows("SELECT catalog_name, schema_name FROM information_schema.schemata")
        # A schema of this database comes before another database.
        wanted = [path, (here, *path), (*path, "main")] if path else [(here, schema)]
        spelled = [_folded("\0".join(parts)) for parts in wanted]
        order = {_folded("\0".join(home)): home for home in homes}
        return next((order[home] for home in spelled if home in order), None)

    def table(self, relation: Relation, form: str = "table") -> Table:
        """Describe a relation that exists."""
        described = self.result_types(queries.select_all(relation, self.dialect))
        types = {name: "VARCHAR" if kind == '"NULL"' else kind for name, kind in described}
        return Table(relation, form, tuple(Column(name, kind, kind_of(kind)) for name, kind in types.items()))

    def place(self, name: str) -> Relation:
        """The place of a target called `name`; an existing relation keeps its capitals."""
        *path, table = name_readings(name)[-1]
        home = self._home(path)
        if home is None:
            raise TargetError(f"there is no schema {'.'.join(path)} for {table}; create it first, or name another")
        relation = Relation(*home, table)
        existing = self.existing(relation)
        return existing.relation if existing else relation

    def check_writable(self, relation: Relation) -> None:
        """Refuse a place in a database that was opened read-only."""
        database, _, table = relation.parts
        if self.connection.execute(_READ_ONLY, [database]).fetchall():
            raise TargetError(
                f"the database {database} is open to be read only, so there can be no {table} in it; attach it for "
                "writing, or name a target in another"
            )

    def reads_from(self, view: Relation, relation: Relation) -> bool:
        """Whether a view reads a table or view, itself or through other views."""
        found, pending = {view}, [view]
        while pending:
            parts = pending.pop().parts
            if len(parts) < 3:  # a temporary view of ours
                continue
            for (definition,) in self.connection.execute(_DEFINITION, parts).fetchall():
                tables = filter(None, map(self.find, queries.tables_read(definition, self.dialect)))
                new = {table.relation for table in tables} - found
                pending += new
                found |= new
        return relation in found

    def relations(self) -> list[Relation]:
        """All tables and views of all attached databases."""
        return [Relation(*parts) for parts in self.connection.execute(_ALL_TABLES).fetchall()]

    def comments(self, relation: Relation) -> dict[Relation, str]:
        """The comments on the tables and views in the schema of a relation."""
        *home, _ = relation.parts
        return {Relation(*home, name): text for name, text in self.connection.execute(_COMMENTS, home).fetchall()}

    def hidden(self, _: Relation) -> list[str]:
        """DuckDB has no policies."""
        return []

    def hold(self, _: Relation) -> None:
        """Do nothing: of two transactions that change a table, DuckDB refuses the second."""

    def refill(self, relation: Relation, query: str, comment: str) -> int | None:
        """Replace the rows of a table and its comment."""
        self.run(queries.comment(relation, comment, self.dialect))
        self.run(queries.delete_all(relation, self.dialect))
        return self.run(queries.insert(relation, query, self.dialect))

    def result_types(self, query: str) -> list[tuple[str, str]]:
        """The columns of a query's result with their types."""
        return [(name, type_name) for name, type_name, *_ in self.rows(f"DESCRIBE {query}")]

    def attached(self, relation: Relation) -> list[Attached]:
        """The indexes, constraints, defaults and comments on columns of a table or view."""
        attached = []
        for name, column, comment in self.connection.execute(_ATTACHED, relation.parts).fetchall():
            if column is None:
                attached.append(Attached(name))
            else:
                statement = queries.comment_column(relation, column, comment, self.dialect)
                attached.append(Attached(name, (column,), statement, needs_table=False))
        return attached

    def register(self, data: Any) -> Table:
        """Make a DataFrame, an Arrow table, or anything else that DuckDB can scan, the source."""
        if _way_out(data) or (_is_stream(data) and _can_be_read_once(data)):  # not as often as needed
            raise _unreadable(data)
        refuse_equal_names(_column_names(data), "the table")
        _show(self.connection, SOURCE_VIEW.name, data)
        return self.table(SOURCE_VIEW, "view")

    def frame(self, relation: Relation, arrow: bool = False) -> Any:
        """A relation's rows as a pandas DataFrame, or as an Arrow table."""
        query = queries.select_all(relation, self.dialect)
        with explained():
            return self.connection.sql(query).to_arrow_table() if arrow else self.connection.execute(query).df()

    def arrays(self, relation: Relation) -> dict[str, Any]:
        """A relation's rows without NULL, as a NumPy array per column."""
        with explained():
            return self.connection.execute(queries.select_all(relation, self.dialect)).fetchnumpy()

    def interrupt(self) -> None:
        """Interrupt the running statement, unless it is recursive: these are short, and would not end."""
        with self._interrupting:
            if not self._to_its_end:
                self.connection.interrupt()

    @property
    def can_interrupt(self) -> bool:
        """Whether there is certainly no transaction that an interruption would abort."""
        return not self._may_transact

    def embedded(self) -> DuckDB:
        """A connection to this database with separate temporary tables and transactions, under the same limits."""
        # A new database would take as long as twenty small queries, and could use the limits a second time.
        engine = DuckDB(self.connection.cursor(), self.limits)
        engine._may_transact = False
        engine._read_moments_in(self.time_zone())  # a setting per connection
        return engine

    def address(self, relation: Relation) -> tuple[str, str]:
        """`duckdb://` with the path of the file, and `database.schema.table`; a token after the path is left out."""
        query = "SELECT path FROM duckdb_databases() WHERE database_name = ?"
        found = self.connection.execute(query, [relation.parts[0]]).fetchone()
        path = str(found[0]).partition("?")[0] if found and found[0] else ":memory:"
        if self._new and path == str(self._new.file):
            path = str(self._new.path)
        place = path if path.startswith((":", "md:")) else os.path.abspath(path)
        return f"duckdb://{place}", ".".join(relation.parts)

    def close(self) -> None:
        """Close the connection; a new database with any lasting tables appears now, TargetError if it cannot."""
        with ExitStack() as last:
            if self._new:
                last.callback(self._new.remove)
            placed = self._new if self._new and not self._empty() else None
            try:
                if placed:
                    with explained("DuckDB cannot save the database", TargetError):
                        self.connection.execute("CHECKPOINT")  # otherwise a part of it can be in a separate log file
            finally:
                self._disconnect()
            if placed:
                placed.place()

    def _disconnect(self) -> None:
        if self._spilled:
            # The same process can have this database open elsewhere, and spill, too: then the folder stays until exit.
            with suppress(duckdb.Error):
                self.connection.execute("RESET temp_directory")
                self._spilled.remove()
        self.connection.close()

    def _empty(self) -> bool:
        """Whether the database has no lasting tables; True after an error on the disk."""
        try:
            return not self.connection.execute(_LASTING).fetchall()
        except duckdb.Error:
            return True

    def lasting(self, relation: Relation) -> Relation:
        """The name of a relation in a view's definition, without the database: its file can be renamed."""
        if relation == SOURCE_VIEW:
            return Relation(SOURCE_VIEW.name)
        ((here,),) = self.rows("SELECT current_database()")
        return Relation(*relation.parts[1:]) if len(relation.parts) == 3 and relation.parts[0] == here else relation

    def load_batches(
        self, relation: Relation, types: Mapping[str, str], batches: Iterable[Sequence[Sequence[Any]]]
    ) -> None:
        """Create a temporary table and fill it, in batches of rows."""
        relation = queries.scratch(relation.name)  # never the user's own table
        self.run(queries.create_table(relation, types, self.dialect, replace=True))
        statement = queries.insert_lists(relation, types, self.dialect)
        for columns in batches:
            if columns and len(columns[0]):
                arrays = columns_of(types, columns)
                with explained():
                    if arrays is None:
                        self.connection.execute(statement, [list(column) for column in columns])
                    else:
                        self._insert_arrays(relation, arrays)

    def _insert_arrays(self, relation: Relation, arrays: dict[str, Any]) -> None:
        self.connection.register(_SENT.name, arrays)
        try:
            self.run(queries.insert(relation, queries.select_all(_SENT, self.dialect), self.dialect))
        finally:
            self.connection.unregister(_SENT.name)

    def create_castable(
        self, relation: Relation, none: str, written: Relation, type_name: str, columns: Sequence[str]
    ) -> None:
        """Create a table of the rows whose text a type allows; `none`: a query without rows that sets the collation."""
        castable = queries.castable(written, type_name, columns, self.dialect)
        self.send(queries.union_all([none, castable]), self, relation)

    def send(self, query: str, target: Engine, relation: Relation) -> None:
        """Create a temporary table, here or in another engine, from a query here."""
        if target is self:
            self.run(queries.create_as(relation, query, self.dialect, temporary=True, replace=True))
            return
        described = dict(self.result_types(query))
        if isinstance(target, DuckDB) and _STREAMED.issuperset(described.values()):
            # Not the relation: DuckDB 2.0 would run its query three times, twice for the columns and once for the rows.
            with explained():
                stream = self.connection.sql(query).__arrow_c_stream__()
            target.receive(stream, relation)
        else:
            own = isinstance(target, DuckDB)
            types = {name: type_name if own else portable(type_name) for name, type_name in described.items()}
            times = [name for name, type_name in described.items() if type_name in _INEXACT]
            as_texts = queries.with_texts(query, times, self.dialect) if times else query
            batches = (list(zip(*rows, strict=True)) for rows in self._batches(as_texts))
            target.load_batches(relation, types, batches)

    def receive(self, stream: Any, relation: Relation) -> None:
        """Create a temporary table from another connection's stream."""
        with explained():
            self.connection.register(_SENT.name, stream)
            sent = queries.select_all(_SENT, self.dialect)
            self.run(queries.create_as(relation, sent, self.dialect, temporary=True, replace=True))
            self.connection.unregister(_SENT.name)

    def forget(self, relation: Relation) -> None:
        """Drop a temporary table."""
        self.run(queries.drop(relation, self.dialect))

    def read_file(self, pattern: str) -> Table:
        """Make the CSV, Excel or Parquet files of a path or glob the view of the source."""
        return self.read_as(pattern, Reading()).table

    def read_as(self, pattern: str, reading: Reading) -> FilesRead:
        """The same, with options; CSV and Excel files are parsed immediately, into a table."""
        paths = [path for path in files(pattern) if path.is_file()]
        if not paths:
            raise SourceError(f"there is no file {pattern}; check the path")
        self.forget_files()
        with explained(f"{pattern} cannot be read"):
            return Reader(self, self.connection, self.limits).read(pattern, paths, reading)

    def forget_files(self) -> None:
        """Drop the view of files, and the table behind it."""
        self.run(queries.drop(SOURCE_VIEW, self.dialect, "view"))
        self.run(queries.drop(LINES, self.dialect))

    def files_sql(self, pattern: str) -> str:
        """The query that reads the files of a path or glob."""
        reader = "files/read_parquet" if file_format(pattern) == "parquet" else "files/read_csv"
        return queries.text(reader, self.dialect, path=quoted_path(pattern))

    def write_file(self, query: str, path: Path, written_as: str, escaped: bool = True) -> int:
        """Write the rows of a query to a Parquet or CSV file, in its order, and count them; OSError if that fails.

        An existing file keeps its mode.
        """
        try:
            return write_copy(self.connection, query, path, written_as, escaped)
        except duckdb.Error as error:
            refused = re.search(r'"errno":"(\d+)"', str(error))
            message, values = message_of(error)
            if refused or isinstance(error, duckdb.IOException):
                raise OSError(os.strerror(int(refused[1])) if refused else message) from error
            raise TargetError(f"the release cannot be written: {message}", values) from None

    def read_written(self, path: Path, written_as: str) -> Relation:
        """Make a file that was just written the view of the source, as its readers will see it."""
        holes: dict[str, queries.Hole] = {"path": quoted_path(str(path))}
        if written_as != "parquet":
            holes["separator"] = queries.SEPARATORS[written_as]
        reader = "files/read_parquet" if written_as == "parquet" else "files/read_written_csv"
        query = queries.text(reader, self.dialect, **holes)
        self.run(queries.drop(SOURCE_VIEW, self.dialect, "view"))
        self.run(queries.create_as(SOURCE_VIEW, query, self.dialect, "view", temporary=True))
        return SOURCE_VIEW

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One consistent snapshot; rolled back if the block raises."""
        try:
            self.connection.execute("BEGIN TRANSACTION")
        except duckdb.TransactionException as error:
            raise SourceError("the connection is inside a transaction; commit or roll it back first") from error
        before, self._may_transact = self._may_transact, True
        try:
            yield
        except BaseException:
            with suppress(duckdb.Error):  # a failed statement can have rolled back already
                self.connection.execute("ROLLBACK")
            raise
        finally:
            self._may_transact = before
        with explained("DuckDB cannot save the tables", TargetError):
            self.connection.execute("COMMIT")

    def snapshot(self) -> AbstractContextManager[None]:
        """A transaction, unless nobody else can write: without one, the space of dropped tables is freed at once."""
        return nullcontext() if self._alone else self.transaction()


def _folded(name: str) -> bytes:
    """A name as DuckDB compares it: ignoring the case of a to z, but of no other letter."""
    return name.encode().lower()


def _scans(operator: Mapping[str, Any]) -> Iterator[str]:
    """The operators of a plan that read data."""
    if not operator["children"]:
        yield operator["name"].strip()
    for child in operator["children"]:
        yield from _scans(child)


# Columns as arrays, which DuckDB reads several times faster than lists in parameters


def columns_of(types: Mapping[str, str], columns: Sequence[Sequence[Any]]) -> dict[str, Any] | None:
    """Arrays by column name; None for few rows, and for values that an array cannot represent exactly.

    Arrays are exact for numbers except NaN and for booleans, in columns of their types, for texts in columns of any
    type, and for NULL. Columns that are arrays already stay what they are.

    >>> columns_of({"code": "INTEGER"}, [[1, 2, 3]]) is None
    True
    >>> columns_of({"code": "INTEGER", "label": "VARCHAR"}, [range(3000), ["a", None, "b"] * 1000])["label"].shape
    (3000,)
    """
    if all(hasattr(column, "dtype") for column in columns):
        return dict(zip(types, columns, strict=True))
    if len(columns[0]) < _MANY:
        return None
    arrays = dict(zip(types, map(_array, types.values(), columns), strict=True))
    return None if any(array is None for array in arrays.values()) else arrays


def _array(type_name: str, column: Sequence[Any]) -> Any:
    """The array of a column; None if it would not be exact."""
    import numpy as np  # slow to import, and few tables are long

    kinds = {int} if isinstance(column, range) else set(map(type, column))
    value_kinds = kinds - {type(None)}
    if value_kinds <= {str}:
        return np.array(column, dtype=object)
    kind = _NUMBERS.get(type_name)
    if value_kinds != {kind} or (kind is float and any(value is not None and isnan(value) for value in column)):
        return None
    unit = np.int64 if kind is int else kind
    if kinds == value_kinds:
        return np.array(column, dtype=unit)
    missing = [value is None for value in column]
    return np.ma.array([value or 0 for value in column], dtype=unit, mask=missing)


# Types


def kind_of(type_name: str) -> str:
    """The kind of a DuckDB type: `DECIMAL(18,3)` is decimal, `TIMESTAMP WITH TIME ZONE` timestamp."""
    if type_name.endswith("]"):
        return "other"
    base = type_name.upper().split("(")[0].strip()
    if base in ("DECIMAL", "NUMERIC"):
        return "decimal"
    if base.startswith(("TIMESTAMP", "DATETIME")):
        return "timestamp"
    return next((kind for kind, bases in _KINDS.items() if base in bases), "other")


def portable(type_name: str) -> str:
    """The type in which engines other than DuckDB receive values of a type."""
    return "NUMERIC" if type_name in _WIDE else _PORTABLE.get(kind_of(type_name), type_name)


# DataFrames and Arrow tables as views


def _column_names(data: Any) -> list[str]:
    """The names of the columns, as text."""
    if _is_stream(data):
        return list(_stream(data).schema.names)
    of_schema = getattr(getattr(data, "schema", None), "names", None)  # of Arrow's tables, batches and data sets
    named = of_schema if isinstance(of_schema, list) else getattr(data, "columns", ())
    return [str(name) for name in named]


def _show(connection: duckdb.DuckDBPyConnection, name: str, data: Any) -> None:
    """Register data; SourceError if it is not a table.

    Some data are copied: a relation of another connection, and a DataFrame with values stored backwards, such as
    `frame[::-1]`.
    """
    try:
        _register(connection, name, data)
    except duckdb.InvalidInputException:
        raise _unreadable(data) from None
    except (duckdb.Error, TypeError) as error:
        message, values = message_of(error) if isinstance(error, duckdb.Error) else ("it is not a table", ())
        raise SourceError(f"a {type(data).__name__} cannot be read as a table: {message}", values) from None


def _unreadable(data: Any) -> SourceError:
    """The error for an object that DuckDB cannot scan, or not twice, with what to use instead.

    >>> print(_unreadable(["a", "b"]))
    a list is not a table that can be read; pass `pandas.DataFrame(…)` of it
    """
    return SourceError(f"a {type(data).__name__} is not a table that can be read; pass {_way_out(data) or _ANY}")


def _way_out(data: Any) -> str | None:
    kinds = [(kind.__module__.partition(".")[0], kind.__name__) for kind in type(data).__mro__]
    return next((_WAYS_OUT[kind] for kind in kinds if kind in _WAYS_OUT), None)


def _register(connection: duckdb.DuckDBPyConnection, name: str, data: Any) -> None:
    try:
        connection.register(name, data)
    except duckdb.Error:
        if isinstance(data, duckdb.DuckDBPyRelation):  # of another connection
            connection.register(name, data.to_arrow_table())
        elif hasattr(data, "iloc"):
            connection.register(name, data.copy())
        else:
            raise


def _is_stream(data: Any) -> bool:
    """Whether an object is only an Arrow stream, whose schema pyarrow can read."""
    has_schema = any(hasattr(data, name) for name in ("schema", "columns", "column_names"))
    return hasattr(data, "__arrow_c_stream__") and not has_schema and find_spec("pyarrow") is not None


def _can_be_read_once(data: Any) -> bool:
    """Whether a stream can be read only once, or does not have rows."""
    try:
        _stream(data), _stream(data)
    except Exception:  # of any library
        return True
    return False


def _stream(data: Any) -> Any:
    import pyarrow

    return pyarrow.RecordBatchReader.from_stream(data)
