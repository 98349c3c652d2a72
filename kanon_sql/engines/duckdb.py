"""DuckDB: the embedded default, in memory over files, DataFrames and Arrow tables, or on a database file."""

from __future__ import annotations

import csv
import glob
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql import queries
from kanon_sql.engine import Column, Engine, Table, name_readings, refuse_equal_names
from kanon_sql.errors import KanonError, SourceError, TargetError
from kanon_sql.queries import Relation

SOURCE_VIEW = queries.scratch("kanon_source")
_KINDS = {
    "integer": (
        "TINYINT",
        "SMALLINT",
        "INTEGER",
        "BIGINT",
        "HUGEINT",
        "UTINYINT",
        "USMALLINT",
        "UINTEGER",
        "UBIGINT",
    ),
    "float": ("FLOAT", "DOUBLE", "REAL"),
    "boolean": ("BOOLEAN",),
    "date": ("DATE",),
    "time": ("TIME",),
    "text": ("VARCHAR", "ENUM", "CHAR", "TEXT"),
}

_PORTABLE = {"integer": "BIGINT", "float": "DOUBLE PRECISION", "text": "VARCHAR"}


def kind_of(type_name: str) -> str:
    """The kind of a DuckDB type: `DECIMAL(18,3)` is decimal, `TIMESTAMP WITH TIME ZONE` timestamp."""
    base = type_name.upper().split("(")[0].strip()
    if base.endswith("[]"):
        return "other"
    if base in ("DECIMAL", "NUMERIC"):
        return "decimal"
    if base.startswith(("TIMESTAMP", "DATETIME")):
        return "timestamp"
    return next((kind for kind, bases in _KINDS.items() if base in bases), "other")


class DuckDB:
    """One DuckDB connection; see `kanon_sql.engine.Engine` for what its methods promise."""

    dialect = "duckdb"
    name = "duckdb"

    def __init__(self, connection: duckdb.DuckDBPyConnection | None = None) -> None:
        self.connection = connection or _in_memory()

    @classmethod
    def open(cls, path: str, create: bool = False) -> DuckDB:
        """Open a database file; a missing one is an error unless it may be created."""
        if not create and not Path(path).is_file():
            raise SourceError(f"there is no database file {path}; check --database")
        try:
            return cls(duckdb.connect(path))
        except duckdb.Error as error:
            raise SourceError(f"the database {path} cannot be opened: {_first_line(error)}") from error

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query and fetch all its rows."""
        with _told():
            return self.connection.execute(sql).fetchall()

    def run(self, sql: str) -> None:
        """Run a statement for its effect."""
        with _told():
            self.connection.execute(sql)

    def explain(self, sql: str) -> str:
        """The engine's plan of a query, as text."""
        return str(self.connection.execute(f"EXPLAIN {sql}").fetchall()[0][1])

    def find(self, name: str) -> Table | None:
        """Look up a table or view by the name a user gave."""
        for parts in name_readings(name):
            found = self._look_up(parts)
            if found:
                return self.table(Relation(*found[:3]), found[3])
        return None

    def _look_up(self, parts: tuple[str, ...]) -> tuple[str, str, str, str] | None:
        schema, catalog = (parts[-2] if len(parts) > 1 else None), (parts[-3] if len(parts) > 2 else None)
        found = self.connection.execute(_LOOK_UP, [parts[-1], schema, catalog]).fetchall()
        return found[0] if found else None

    def table(self, relation: Relation, form: str = "table") -> Table:
        """Describe a relation that is known to exist."""
        described = self.rows(f"DESCRIBE {queries.select_all(relation, self.dialect)}")
        return Table(relation, form, tuple(Column(row[0], row[1], kind_of(row[1])) for row in described))

    def place(self, name: str) -> Relation:
        """Where a new table called `name` would go."""
        *path, table = name_readings(name)[-1]
        here = self.rows("SELECT current_database(), current_schema()")[0]
        return Relation(*here[: 2 - len(path)], *path, table)

    def register(self, data: Any) -> Table:
        """Show a DataFrame, an Arrow table, or anything else that DuckDB can scan, as the source."""
        refuse_equal_names(_names(data), "the table")
        try:
            self.connection.register(SOURCE_VIEW.name, data)
        except (duckdb.Error, TypeError) as error:
            raise SourceError(f"a {type(data).__name__} cannot be read as a table: {_first_line(error)}") from error
        return self.table(SOURCE_VIEW, "view")

    def frame(self, relation: Relation) -> Any:
        """A relation's rows as a pandas DataFrame."""
        return self.connection.execute(queries.select_all(relation, self.dialect)).df()

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def lasting(self, relation: Relation) -> Relation:
        """The name of a relation as a view may keep it: the database file may be renamed."""
        ((here,),) = self.rows("SELECT current_database()")
        return Relation(*relation.parts[1:]) if len(relation.parts) == 3 and relation.parts[0] == here else relation

    def load(self, relation: Relation, types: Mapping[str, str], columns: Sequence[Sequence[Any]]) -> None:
        """Create a temporary table and fill it, column by column."""
        relation = queries.scratch(relation.name)  # never the user's own table
        self.run(queries.drop(relation, self.dialect))
        self.run(queries.create_table(relation, types, self.dialect))
        if columns and len(columns[0]):
            with _told():
                statement = queries.insert_lists(relation, types, self.dialect)
                self.connection.execute(statement, [list(column) for column in columns])

    def send(self, query: str, target: Engine, relation: Relation) -> None:
        """Create a temporary table, here or in another engine, of what a query gives here."""
        if target is self:
            self.run(queries.drop(relation, self.dialect))
            self.run(queries.create_as(relation, query, self.dialect, temporary=True))
        else:
            described = self.rows(f"DESCRIBE {query}")
            types = {name: _PORTABLE.get(kind_of(type_name), type_name) for name, type_name, *_ in described}
            target.load(relation, types, list(zip(*self.rows(query), strict=True)))

    def integer_type(self, largest: int) -> str:
        """The smallest signed integer type that holds `largest`."""
        return "TINYINT" if largest < 2**7 else "SMALLINT" if largest < 2**15 else "INTEGER"

    def read_file(self, pattern: str) -> Table:
        """Show the CSV or Parquet files of a path or glob as a temporary view; they are read when it is."""
        paths = sorted(glob.glob(pattern)) if glob.has_magic(pattern) else [pattern]
        if not paths or not all(Path(path).is_file() for path in paths):
            raise SourceError(f"there is no file {pattern}; check the path")
        reader = "read_parquet" if file_format(pattern) == "parquet" else "read_csv"
        _refuse_equal_names(paths[0], reader)
        query = queries.text(reader, self.dialect, path=str(Path(pattern).absolute()))
        self.run(queries.drop(SOURCE_VIEW, self.dialect, "view"))
        with _told(f"{pattern} cannot be read"):
            self.connection.execute(queries.create_as(SOURCE_VIEW, query, self.dialect, "view", temporary=True))
        return self.table(SOURCE_VIEW, "view")

    def sample(self, path: str, rows: int = 5) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The names of a file's columns, and rows from here and there in it."""
        found = self.read_file(path)
        every = f"USING SAMPLE reservoir({rows} ROWS) REPEATABLE (7)"
        shown = self.rows(f"{queries.select_all(found.relation, self.dialect)} {every}")
        return [column.name for column in found.columns], shown

    def write_file(self, query: str, path: Path) -> None:
        """Write the rows of a query to a Parquet or CSV file, in the query's order."""
        with _told(f"{path} cannot be written", TargetError):
            self.connection.execute(queries.copy_to(query, str(path), file_format(path.name), self.dialect))

    def read_written(self, path: Path) -> Relation:
        """Show a file that was just written as a temporary view, as its reader will see it."""
        parquet = file_format(path.name) == "parquet"
        query = queries.text("read_parquet" if parquet else "read_written_csv", self.dialect, path=str(path))
        self.run(queries.create_as(SOURCE_VIEW, query, self.dialect, "view", temporary=True))
        return SOURCE_VIEW

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One consistent snapshot; rolled back if the block raises."""
        try:
            self.connection.execute("BEGIN TRANSACTION")
        except duckdb.TransactionException as error:
            raise SourceError("the connection is inside a transaction; commit or roll it back first") from error
        try:
            yield
        except BaseException:
            self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")


def file_format(path: str) -> str:
    """Tell parquet from csv by the ending; anything else is an error."""
    ending = Path(path).suffix.lower()
    if ending in (".parquet", ".pq"):
        return "parquet"
    if ending in (".csv", ".tsv", ".txt", ".data"):
        return "csv"
    raise SourceError(f"{path} is neither .csv nor .parquet; name a file of one of these kinds")


_LOOK_UP = """
SELECT table_catalog, table_schema, table_name, CASE WHEN table_type = 'VIEW' THEN 'view' ELSE 'table' END
FROM information_schema.tables
WHERE lower(table_name) = lower($1)
  AND CASE WHEN $2 IS NULL THEN table_schema = current_schema() OR table_catalog = 'temp' ELSE table_schema = $2 END
  AND CASE WHEN $3 IS NULL THEN table_catalog IN (current_database(), 'temp') ELSE table_catalog = $3 END
ORDER BY table_name = $1 DESC, table_catalog = 'temp' DESC
"""


def _names(data: Any) -> list[str]:
    names = data.column_names if hasattr(data, "column_names") else getattr(data, "columns", ())
    return [str(name) for name in names]


def _in_memory() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("SET temp_directory = ?", [tempfile.gettempdir()])
    return connection


def _refuse_equal_names(path: str, reader: str) -> None:
    """DuckDB renames the second of `Age,age` silently; a person must decide which one is meant."""
    if reader == "read_parquet":
        names = [row[0] for row in duckdb.execute("SELECT name FROM parquet_schema(?)", [path]).fetchall()[1:]]
    else:
        with open(path, newline="", encoding="utf-8-sig", errors="replace") as file:
            line = file.readline()
        separator = max(";,\t|", key=line.count)
        names = next(csv.reader([line], delimiter=separator), [])
    refuse_equal_names(names, path)


@contextmanager
def _told(what: str = "DuckDB says", error_class: type[KanonError] = SourceError) -> Iterator[None]:
    """Turn what the database says into one line of ours."""
    try:
        yield
    except duckdb.Error as error:
        raise error_class(f"{what}: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
