"""Spark SQL through Spark Connect: the cluster counts and writes, and repeated queries run on the counts."""

from __future__ import annotations

import re
import socket
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kanon_sql import interrupts, queries
from kanon_sql.engine import VALUE_BYTES, Column, Engine, Table, folder_named, name_readings, refuse_equal_names
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.file_source import SOURCE_VIEW
from kanon_sql.engines.singles import shortest
from kanon_sql.errors import SourceError, TargetError
from kanon_sql.queries import Relation
from kanon_sql.resources import install_command
from kanon_sql.spec import Limits

if TYPE_CHECKING:  # pyspark is optional, and most of a second to import
    import pyarrow
    from pyspark.sql import SparkSession

# The time of day of a TIMESTAMP depends on the session, and collated strings can be equal: such columns are only kept.
_KINDS = {
    "tinyint": "integer",
    "smallint": "integer",
    "int": "integer",
    "bigint": "integer",
    "float": "float",
    "double": "float",
    "date": "date",
    "timestamp_ntz": "timestamp",
    "boolean": "boolean",
    "string": "text",
}
_IN_DUCKDB = {"timestamp_ntz": "TIMESTAMP", "timestamp": "TIMESTAMPTZ"}
_LOADED, _FETCHED = queries.scratch("kanon_loaded_for_spark"), Relation("kanon_fetched")
_LOST = "Spark says: the connection is lost; see the server's log, and run again"
_URL_FORM = "sc://host:15002, with ;token=… behind a last / where the server asks for one"
_URL = re.compile(r"sc://(?P<host>\[[^\]]*\]|[^][:@/?#;,]+)(?::(?P<port>\d{1,5}))?(?:/?|/;[^/]*)", re.IGNORECASE)
_PARQUET = re.compile(r"\.(?:parquet|pq)/?$", re.IGNORECASE)


class Spark(Engine):
    """One Spark session; see `kanon_sql.engine.Engine` for its methods.

    A temporary table is a view of the session, stored as a plan: of values that were sent, or of a query, which runs
    again whenever the view is read.
    """

    dialect = "spark"
    name = "spark"
    has_transactions = False
    has_temporary_tables = False
    has_keys = False
    writes_folders = True
    kinds_kept_only = frozenset(("other",))

    def __init__(self, connection: SparkSession, limits: Limits | None = None) -> None:
        self.connection = connection
        self.limits = limits or Limits()
        self._server = ""
        with _explained():
            self.catalog, self.schema = map(str, self.rows("SELECT current_catalog(), current_database()")[0])
        self.can_rename = self._can_rename()
        interrupts.interrupted_by_signals(self)

    @classmethod
    def open(cls, url: str, limits: Limits | None = None) -> Spark:
        """Connect to `sc://host:port/;token=…`; no error prints a part of it."""
        sessions = _sessions()
        _refuse_silent_server(url.strip())
        try:
            engine = cls(sessions.builder.remote(url.strip()).create(), limits)
            engine._server = urlsplit(url.strip()).netloc.rpartition("@")[2]
            return engine
        except SourceError:
            raise
        except Exception:  # pyspark's message repeats the URL with any token in it
            raise SourceError(f"Spark cannot be reached: it takes no session; check the URL: {_URL_FORM}") from None

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query and fetch all its rows; whole decimals are integers, and a FLOAT is the number that it prints."""
        with _explained():
            fetched = self.connection.sql(sql).toArrow()
            return list(zip(*map(_values, fetched.columns), strict=True))

    def run(self, sql: str) -> int | None:
        """Run a statement; Spark does not report how many rows it wrote."""
        with _explained():
            self.connection.sql(sql)
        return None

    def explain(self, sql: str) -> str:
        """The engine's plan of a query, as text."""
        return "\n".join(str(line) for (line,) in self.rows(f"EXPLAIN {sql}"))

    def may_change(self, _: Table) -> bool:
        """True: a table can change at any time, and `fingerprint` shows afterwards whether it did."""
        return True

    def fingerprint(self, table: Table) -> tuple[Any, ...]:
        """The number of rows, and the sum of their hashes, which does not depend on their order."""
        plain = [column.name for column in table.columns if column.kind not in self.kinds_kept_only]
        others = [column.name for column in table.columns if column.kind in self.kinds_kept_only]
        return self.rows(queries.fingerprint(table.relation, plain, others, self.dialect))[0]

    def find(self, name: str) -> Table | None:
        """Look up a table or view by a name from a user, or the Parquet files of a path that the cluster reads."""
        if folder := folder_named(name):
            return self.existing(folder)
        for parts in name_readings(name):
            found = self._described(".".join(_quoted(part) for part in parts)) if len(parts) <= 3 else None
            if found:
                return found
        if not _PARQUET.search(name):
            return None
        with _explained():
            self.connection.read.parquet(name).createOrReplaceTempView(SOURCE_VIEW.name)
        return self.table(SOURCE_VIEW, "files")

    def existing(self, relation: Relation) -> Table | None:
        """The table, view or folder in exactly this place, if any."""
        if len(relation.parts) == 2:  # everything else is in a catalog
            return self._folder(relation)
        return self._described(queries.named(relation, self.dialect))

    def _folder(self, relation: Relation) -> Table | None:
        """A folder of Parquet files; None if the cluster finds none, or only an empty list of columns."""
        from pyspark.errors import AnalysisException

        with _explained():
            try:
                found = self.connection.read.parquet(relation.name).schema.fields
            except AnalysisException as error:
                condition = error.getCondition()
                if condition == "UNABLE_TO_INFER_SCHEMA":
                    raise SourceError(f"there is no Parquet file in {relation.name}; name another folder") from None
                if condition != "PATH_NOT_FOUND":
                    raise
                return None
        return self.table(relation, "files") if found else None

    def write_folder(self, query: str, relation: Relation) -> None:
        """Write the rows of a query to a folder of Parquet files, which has no comment for readers."""
        from pyspark.errors import AnalysisException

        with _explained():
            try:
                self.connection.sql(query).write.mode("error").parquet(relation.name)
            except AnalysisException as error:
                if "exists" not in str(error):
                    raise
                raise TargetError(f"the folder {relation.name} exists already; name another") from None

    def _described(self, quoted: str) -> Table | None:
        with _explained():
            if not self.connection.catalog.tableExists(quoted):
                return None
            listed = self.connection.catalog.getTable(quoted)
        if listed.isTemporary:
            return self.table(queries.scratch(listed.name), "view")
        home = listed.catalog or self.catalog, *(listed.namespace or [self.schema])
        return self.table(Relation(*home, listed.name), "view" if listed.tableType == "VIEW" else "table")

    def table(self, relation: Relation, form: str = "table") -> Table:
        """Describe a relation that exists."""
        with _explained():
            schema = self.connection.sql(queries.select_all(relation, self.dialect)).schema
        refuse_equal_names(schema.names, relation.name)
        types = {field.name: field.dataType.simpleString() for field in schema.fields}
        return Table(relation, form, tuple(Column(name, kind, _kind(kind)) for name, kind in types.items()))

    def place(self, name: str) -> Relation:
        """The place of a target called `name`."""
        if folder := folder_named(name):
            return folder
        *path, table = name_readings(name)[-1]
        catalog, schema = (self.catalog, self.schema, *path)[-2:] if len(path) != 1 else (self.catalog, path[0])
        with _explained():
            exists = len(path) <= 2 and self.connection.catalog.databaseExists(f"{_quoted(catalog)}.{_quoted(schema)}")
        if not exists:
            raise TargetError(f"there is no schema {'.'.join(path)} for {table}; create it first, or name another")
        return Relation(catalog, schema, table)

    def comments(self, relation: Relation) -> dict[Relation, str]:
        """The comments on the tables and views in the schema of a relation."""
        *home, _ = relation.parts
        with _explained():
            listed = self.connection.catalog.listTables(".".join(map(_quoted, home)))
        return {Relation(*home, table.name): table.description for table in listed if table.description}

    def hidden(self, _: Relation) -> list[str]:
        """Empty: policies are in the catalog, which is not queried."""
        return []

    def create(self, relation: Relation, query: str, form: str, comment: str) -> None:
        """Create a lasting table or view from a query, with a comment on it from the beginning."""
        if form == "view":
            self.run(queries.create_commented(relation, query, self.dialect, comment))
            self._check_view(relation)
            return
        with _explained():
            fields = self.connection.sql(query).schema.fields
        types = {field.name: field.dataType.simpleString() for field in fields}
        self.run(queries.create_empty(relation, types, self.dialect, comment))
        try:
            self.run(queries.insert(relation, query, self.dialect))
        except BaseException:
            with suppress(SourceError):
                self.run(queries.drop(relation, self.dialect))
            raise

    def _check_view(self, relation: Relation) -> None:
        """Drop a view that the server cannot read: Sail keeps its text without the quotes of names."""
        try:
            self.table(relation)
        except SourceError:
            self.run(queries.drop(relation, self.dialect, "view"))
            raise TargetError(
                "this server cannot read the created view; choose plain names for the columns (letters, digits, _) "
                "in a view of the source, or release with `form='table'`"
            ) from None

    def load_batches(
        self, relation: Relation, types: Mapping[str, str], batches: Iterable[Sequence[Sequence[Any]]]
    ) -> None:
        """Create a temporary table of values, which are loaded in batches."""
        here, kinds = self._embedded, {name: _IN_DUCKDB.get(kind.lower(), kind) for name, kind in types.items()}
        here.forget(_LOADED)  # of a load that failed
        here.load_batches(_LOADED, kinds, batches)
        sent: pyarrow.Table = here.connection.sql(queries.select_all(_LOADED, here.dialect)).to_arrow_table()
        here.forget(_LOADED)
        from pyspark.sql.pandas.types import from_arrow_schema

        with _explained():
            schema = from_arrow_schema(sent.schema, prefer_timestamp_ntz=True)
            rows = self.connection.createDataFrame(sent if sent.num_rows else [], schema)
            rows.createOrReplaceTempView(relation.name)  # always a plain name

    @cached_property
    def _embedded(self) -> DuckDB:
        """A DuckDB that converts values to their types before they are sent."""
        return DuckDB()

    def filled(self, _: Relation, __: int | None) -> None:
        """Do nothing: a view has no statistics."""

    def before_adding(self, _: Relation) -> None:
        """Do nothing: a view is replaced when rows are added to it."""

    def check_writable(self, _: Relation) -> None:
        """Do nothing: Spark reports it when a table is created, before anything is replaced."""

    def relations(self) -> list[Relation]:
        """The tables and views of this schema only, since a catalog can have very many."""
        with _explained():
            listed = self.connection.catalog.listTables()
        return [Relation(self.catalog, self.schema, table.name) for table in listed if not table.isTemporary]

    def create_castable(
        self, relation: Relation, _: str, written: Relation, type_name: str, columns: Sequence[str]
    ) -> None:
        """Create a temporary table of the rows whose text a type allows."""
        self.send(queries.castable(written, type_name, columns, self.dialect), self, relation)

    def send(self, query: str, target: Engine, relation: Relation) -> None:
        """Create a temporary table, here or in an embedded DuckDB, from a query here."""
        if isinstance(target, DuckDB):
            with _explained():
                fetched = self.connection.sql(query).toArrow()
            target.receive(fetched, relation)
        elif target is self:
            with _explained():
                self.connection.sql(query).createOrReplaceTempView(relation.name)
        else:
            raise SourceError(f"Spark sends rows to an embedded DuckDB only, not to {target.name}")

    def bytes_to_send(self, table: Table, columns: Sequence[str]) -> int | None:
        """The bytes of all values of some columns. DuckDB finds the same ones equal: collated texts are `other`."""
        texts = [column.name for column in table.columns if column.kind == "text" and column.name in columns]
        lengths = " + ".join(f"COALESCE(OCTET_LENGTH({_quoted(name)}), 0)" for name in texts) or "0"
        read = queries.select_all(table.relation, self.dialect)
        ((rows, length),) = self.rows(f"SELECT COUNT(*), COALESCE(SUM({lengths}), 0) FROM ({read})")
        return int(length) + int(rows) * len(columns) * VALUE_BYTES

    def forget(self, relation: Relation) -> None:
        """Drop a temporary table, never a lasting one with the same name."""
        with _explained():
            self.connection.catalog.dropTempView(relation.name)

    def frame(self, relation: Relation, arrow: bool = False) -> Any:
        """A relation's rows as a pandas DataFrame or an Arrow table, with DuckDB's types."""
        embedded = DuckDB()
        self.send(queries.select_all(relation, self.dialect), embedded, _FETCHED)
        return embedded.frame(_FETCHED, arrow)

    def interrupt(self) -> None:
        """Interrupt the running statement."""
        self.connection.interruptAll()

    def time_zone(self) -> str:
        """The time zone of the session."""
        return str(self.connection.conf.get("spark.sql.session.timeZone"))

    def embedded(self) -> DuckDB:
        """A new DuckDB in memory."""
        return DuckDB(limits=self.limits)

    def address(self, relation: Relation) -> tuple[str, str]:
        """`sc://host:port` and `catalog.schema.table`; the parameters of the URL can have a token."""
        return f"sc://{self._server}", ".".join(relation.parts)

    def close(self) -> None:
        """End the session."""
        self.connection.stop()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Do nothing: every statement takes effect at once."""
        yield

    def _can_rename(self) -> bool:
        """Whether tables can be renamed, by the plan of a rename, which is not executed."""
        renamed = queries.rename(Relation("kanon_renamed"), "kanon_renamed_to", self.dialect)
        try:
            self.connection.sql(f"EXPLAIN {renamed}").toArrow()
        except Exception as error:
            return "unsupported" not in str(error).lower()
        return True


def _sessions() -> type[SparkSession]:
    """The class of sessions.

    pyspark takes a program without a file, such as `python -c`, for its own doctests, which need all of Spark; and it
    warns of versions of pandas, which is not used here.
    """
    interactive = hasattr(sys, "ps1")
    if not interactive:
        sys.ps1 = ""
    try:
        with warnings.catch_warnings(action="ignore", category=FutureWarning):
            import_module("pyspark.sql.connect.catalog")  # otherwise imported later, by a session
            from pyspark.sql import SparkSession
    except ImportError as error:
        raise SourceError(f"Spark needs pyspark-client: {install_command('spark')}") from error
    finally:
        if not interactive:
            del sys.ps1
    return SparkSession


def _kind(type_name: str) -> str:
    return "decimal" if type_name.startswith("decimal(") else _KINDS.get(type_name, "other")


def _quoted(name: str) -> str:
    return queries.identifier(name, Spark.dialect)


def _values(column: pyarrow.ChunkedArray) -> list[Any]:
    import pyarrow

    if pyarrow.types.is_decimal(column.type) and column.type.scale <= 0:
        return [None if value is None else int(value) for value in column.to_pylist()]
    if pyarrow.types.is_float32(column.type):
        return [None if value is None else shortest(value) for value in column.to_pylist()]
    return list(column.to_pylist())


def _refuse_silent_server(url: str) -> None:
    """Report immediately that no server answers: pyspark itself would try again for minutes."""
    named = _URL.fullmatch(url)
    if not named:
        raise SourceError(f"a Spark Connect server is named as {_URL_FORM}; the given name reads otherwise")
    try:
        socket.create_connection((named["host"].strip("[]"), int(named["port"] or 15002)), timeout=10).close()
    except OSError:
        raise SourceError(
            "Spark cannot be reached: nothing answers at that host and port; is the Connect server running?"
        ) from None


@contextmanager
def _explained() -> Iterator[None]:
    """Turn Spark's errors into one-line messages."""
    import grpc
    from pyspark.errors import AnalysisException, ParseException, PySparkException, UnsupportedOperationException

    try:
        yield
    except (AnalysisException, ParseException, UnsupportedOperationException) as error:
        raise SourceError(f"Spark says: {_first_line(error)}") from None
    except (PySparkException, ValueError, TypeError, OverflowError) as error:  # the text can quote the data
        if "StatusCode.UNAVAILABLE" in str(error):
            raise SourceError(_LOST) from None
        raise SourceError(
            f"Spark stopped at a value that it cannot read or calculate with ({type(error).__name__}); see the "
            "server's log, and the types in the table or view",
            [_first_line(error)],
        ) from None
    except grpc.RpcError:
        raise SourceError(_LOST) from None


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
