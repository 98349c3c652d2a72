"""PostgreSQL: the table stays in the database, and only the results of queries are fetched."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanon_sql import interrupts, queries
from kanon_sql.engine import (
    VALUE_BYTES,
    Attached,
    Column,
    Engine,
    Grant,
    Rights,
    Table,
    name_readings,
    refuse_equal_names,
)
from kanon_sql.engines import postgres_sql
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.named_queries import NamedQueries
from kanon_sql.errors import SourceError, SpecError, TargetError
from kanon_sql.queries import Relation
from kanon_sql.resources import install_command
from kanon_sql.spec import Limits
from kanon_sql.staging import PrivateFolder

_KINDS = {
    "smallint": "integer",
    "integer": "integer",
    "bigint": "integer",
    "numeric": "decimal",
    "real": "float",
    "double precision": "float",
    "date": "date",
    "timestamp without time zone": "timestamp",
    "timestamp with time zone": "timestamp",
    "time without time zone": "time",
    "boolean": "boolean",
}
_CATEGORIES = {"S": "text", "E": "text", "": "foreign"}  # strings (varchar, char) and enums; types of extensions
_IN_DUCKDB = {
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "float4": "REAL",
    "float8": "DOUBLE",
    "bool": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMPTZ",
    "time": "TIME",
    "uuid": "UUID",
}
_SCHEME = re.compile("^postgres(?:ql)?://", re.IGNORECASE)
_LONGEST_ROW = 1_000_000  # bytes of texts, so that a line of CSV fits into DuckDB's 2 MB even if all are quotes
_TELLS_VALID_INPUT = 160_000  # the first version with pg_input_is_valid
_NUMERIC = re.compile(r"numeric(?:\((\d+)(?:, *(-?\d+))?\))?")
_HOST = r"(?:\[[^\]]*\]|[^][:@/?#,]*)(?::\d*)?"
_URL = re.compile(rf"postgresql://(?:[^:@/?#]*(?::[^:@/?#]*)?@)?{_HOST}(?:,{_HOST})*(?:/[^?#@]*)?(?:\?[^#@]*)?")
# Classes of errors whose text is about the statement or the server: no values of the data.
_OF_THE_STATEMENT = ("0A", "25", "2B", "3F", "40", "42", "53", "54", "55", "57", "58")
_BY_ANOTHER = ("42P07", "40001")  # a table was created or changed by another session
_DEPENDENT = "2BP01"  # an object cannot be dropped, because others depend on it
_MEANWHILE = "another session created or replaced the same table meanwhile; nothing was released, run again"
_CANCELED = (
    "the standby stopped the statement because it kept a change of the primary waiting; run again, or set "
    "hot_standby_feedback or a longer max_standby_streaming_delay on the standby"
)


if TYPE_CHECKING:  # psycopg is optional, and a tenth of a second to import
    import psycopg
    from psycopg.abc import Buffer
    from psycopg.adapt import Loader


class PostgreSQL(Engine):
    """One PostgreSQL connection; see `kanon_sql.engine.Engine` for its methods.

    The connection is set to autocommit, and its session to the few settings that our SQL needs. Every statement runs in
    a transaction whose search_path is the server's own schemas, so that no other function or operator is called in
    their place. The user's search_path is read first, and does not change.

    A session that may not create temporary tables names the queries instead; see `NamedQueries`.
    """

    dialect = "postgres"
    name = "postgresql"
    has_materialized_views = True
    has_transactions = True
    kinds_kept_only = frozenset(("foreign",))  # types of extensions, whose operators are not in pg_catalog

    def __init__(self, connection: psycopg.Connection[Any], limits: Limits | None = None) -> None:
        self.connection = connection
        self.limits = limits or Limits()
        self._path: tuple[list[str], str | None] = ([], None)
        self._named = NamedQueries()
        self._refuse_open_transaction()
        with explained():
            connection.autocommit = True
            self._cursor = cursor_of(connection)
            ((*_, read_only, has_temporary),) = self._cursor.execute(postgres_sql.SESSION).fetchall()
        self._read_only = read_only == "on"
        self.has_temporary_tables = has_temporary and not self._read_only
        if zone := self.limits.time_zone:
            import psycopg

            try:
                self._cursor.execute(_sql("SET LOCAL TimeZone TO {name}", name=zone))  # without effect
            except psycopg.errors.InvalidParameterValue:
                raise SpecError(
                    f"there is no time zone {zone!r} in PostgreSQL; set one such as Europe/Zurich"
                ) from None
        interrupts.interrupted_by_signals(self)

    @classmethod
    def open(cls, dsn: str, limits: Limits | None = None) -> PostgreSQL:
        """Connect to `postgresql://user:password@host:port/database`, or by libpq's `host=… dbname=…`.

        No error prints a part of either.
        """
        try:
            import psycopg
        except ImportError as error:
            raise SourceError(f"PostgreSQL needs psycopg: {install_command('postgres')}") from error
        dsn = _SCHEME.sub("postgresql://", dsn.strip())
        # libpq can misread a part of a password as a host, and would look for it.
        if dsn.startswith("postgresql://") and not _URL.fullmatch(dsn):
            raise SourceError(postgres_sql.NO_URL)
        try:
            connection = psycopg.connect(dsn, autocommit=True)
        except (psycopg.ProgrammingError, ValueError):
            raise SourceError(postgres_sql.NO_URL) from None
        except psycopg.Error as error:
            raise SourceError(f"PostgreSQL cannot be reached: {why_not(error)}") from None
        return cls(connection, limits)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a query and fetch all its rows."""
        with self._pinned():
            return self._cursor.execute(self._named.complete(sql), prepare=False).fetchall()

    def run(self, sql: str) -> int | None:
        """Run a statement; returns the number of rows that it wrote, if PostgreSQL reports it."""
        with self._pinned():
            self._cursor.execute(sql, prepare=False)
            rows = self._cursor.rowcount
        return rows if rows >= 0 else None

    def may_change(self, _: Table) -> bool:
        """False: a transaction has one snapshot of everything that it reads."""
        return False

    def fingerprint(self, _: Table) -> None:
        """None: a transaction has one snapshot of a table."""

    def explain(self, sql: str) -> str:
        """The engine's plan of a query, as text."""
        return "\n".join(line for (line,) in self.rows(f"EXPLAIN {self._named.complete(sql)}"))

    def _catalog(self, query: str, *parameters: str | Relation | list[str]) -> list[tuple[Any, ...]]:
        """The rows of a query on the catalog; the parameter of a relation is its quoted name."""
        values = [
            _sql("{}", queries.parts(parameter, self.dialect)) if isinstance(parameter, Relation) else parameter
            for parameter in parameters
        ]
        with self._pinned():
            return self._cursor.execute(query, values).fetchall()

    def find(self, name: str) -> Table | None:
        """Look up a table or view by a name from a user, first with its exact capitals, then with any."""
        for parts in name_readings(name):
            tables = self._look_up(parts)
            if not tables:
                continue
            schema, table, form, exact = tables[0]
            if not exact and len(tables) > 1:
                names = " and ".join(repr(candidate) for _, candidate, _, _ in tables)
                raise SourceError(f"{name} could be any of {names}; write the one meant in its own capitals")
            return self.table(Relation(schema, table), form)
        return None

    def _look_up(self, parts: tuple[str, ...]) -> list[tuple[Any, ...]]:
        catalog, schema, table = (None, None, *parts)[-3:]
        with self._pinned():
            names = {"name": table, "schema": schema, "catalog": catalog, "path": self._path[0]}
            return self._cursor.execute(postgres_sql.LOOK_UP, names).fetchall()

    def table(self, relation: Relation, form: str = "table") -> Table:
        """Describe a relation that exists; a domain is described by its base type."""
        if queries.parts(relation, self.dialect)[0] == "pg_temp" and relation.name in self._named:
            return self._described(relation, form)
        described = self._catalog(postgres_sql.COLUMNS, relation)
        columns = (Column(name, type_name, kind_of(plain, category)) for name, type_name, plain, category in described)
        return Table(relation, form, tuple(columns))

    def _described(self, relation: Relation, form: str) -> Table:
        """Describe a named query by the columns of its result."""
        with self._pinned():
            self.rows(f"{queries.select_all(relation, self.dialect)} LIMIT 0")
            result, described = self._cursor.pgresult, self._cursor.description or []
            assert result
            modifiers = [result.fmod(place) for place in range(len(described))]
            columns = [column.name for column in described], [column.type_code for column in described], modifiers
            found = self._cursor.execute(postgres_sql.DESCRIBED, columns).fetchall()
        return Table(relation, form, tuple(Column(name, kind, kind_of(*of)) for name, kind, *of in found))

    def check_writable(self, relation: Relation) -> None:
        """Refuse a place in a schema where the user may not create tables, and any in a read-only session."""
        schema, table = relation.parts
        if self._read_only:
            raise TargetError(postgres_sql.READ_ONLY.format(table))
        ((may, user),) = self._catalog(postgres_sql.MAY_CREATE, schema, schema)
        if not may:
            raise TargetError(
                f"{user} may not create {table} in the schema {schema}; ask its owner for "
                f"GRANT CREATE ON SCHEMA {schema}, or name another schema"
            )

    def existing(self, relation: Relation) -> Table | None:
        """The table or view in exactly this place, with its exact capitals."""
        schema, name = relation.parts
        stored = name.encode()[: postgres_sql.LONGEST].decode(errors="ignore")  # as PostgreSQL truncates names
        stored_form = next((form for _, _, form, exact in self._look_up((schema, stored)) if exact), None)
        return self.table(Relation(schema, stored), stored_form) if stored_form else None

    def place(self, name: str) -> Relation:
        """The place of a target called `name`, with its exact capitals."""
        *path, table = name_readings(name)[-1]
        with self._pinned():
            here = self._path[1]
            ((database,),) = self.rows("SELECT current_database()")
        *catalog, schema = path or [here or ""]
        if len(table.encode()) > postgres_sql.LONGEST:
            raise TargetError(
                f"{table} is longer than the {postgres_sql.LONGEST} bytes of a PostgreSQL name; shorten it"
            )
        if not schema:
            raise TargetError(f"the search_path has no schema for {table}; name one, as in public.{table}")
        if catalog not in ([], [database]):
            raise TargetError(f"{name} is in another database than {database}; name that one as `database`")
        schemas = [name for (name,) in self._catalog(postgres_sql.SCHEMAS, schema)]
        if schema not in (*schemas, "pg_temp"):
            other = f"; there is {schemas[0]}, in its own capitals" if schemas else "; create it first, or name another"
            raise TargetError(f"there is no schema {schema} for {table}{other}")
        return Relation(schema, table)

    def relations(self) -> list[Relation]:
        """All tables and views of the database except the server's own."""
        return [Relation(*parts) for parts in self.rows(postgres_sql.ALL)]

    def comments(self, relation: Relation) -> dict[Relation, str]:
        """The comments on the tables and views in the schema of a relation."""
        schema, _ = relation.parts
        return {Relation(schema, name): text for name, text in self._catalog(postgres_sql.COMMENTS, schema, schema)}

    def hidden(self, relation: Relation) -> list[str]:
        """The row-level security policies that hide rows of a relation, or of a view's tables, in words."""
        return [row_security(*row) for row in self._catalog(postgres_sql.HIDDEN, relation)]

    def labels(self, relation: Relation) -> list[tuple[str, str, str]]:
        """The labels of PostgreSQL Anonymizer on columns: the column, the provider, the label."""
        return self._catalog(postgres_sql.LABELS, relation)

    def rights(self, relation: Relation) -> Rights:
        """The owner of a relation, and the privileges of others."""
        rights = self._catalog(postgres_sql.RIGHTS, relation)
        if not rights:  # the relation exists in the transaction's snapshot, but not any more
            raise TargetError(
                f"{relation.name} was replaced by another session meanwhile, and nothing was released; run again"
            )
        owner = rights[0][0]
        return Rights(owner, tuple(Grant(*grant) for _, *grant in rights if grant[0]))

    def set_owner(self, owner: str, forms: Mapping[Relation, str]) -> bool:
        """Change the owner of relations to one who can read them; returns False, without effect, if that fails."""
        self.run("SAVEPOINT kanon_owner")
        try:
            for relation, form in forms.items():
                self.run(queries.set_owner(relation, owner, self.dialect, form))
            for relation, form in forms.items():
                self.run(
                    queries.refresh(relation, self.dialect)
                    if form == postgres_sql.MATERIALIZED
                    else _sql("SELECT FROM {} LIMIT 0", relation.parts)
                )
        except SourceError:
            self.run("ROLLBACK TO SAVEPOINT kanon_owner")
            return False
        self.run("RELEASE SAVEPOINT kanon_owner")
        return True

    def hold(self, relation: Relation) -> None:
        """Lock a table against writers. Its readers are not affected."""
        self.run(_sql(postgres_sql.LOCK_WRITES, relation.parts))

    def refill(self, relation: Relation, query: str, comment: str) -> int | None:
        """Replace the rows of a table and its comment, by DELETE wherever possible.

        TRUNCATE would make readers wait, and show an empty table to readers with an older snapshot. It is used if a
        publication would not copy a DELETE, and for a table without rows: rows of another session that are not in our
        snapshot would otherwise stay.
        """
        ((hides_rows, truncates),) = self._catalog(postgres_sql.REFILL, relation)
        if hides_rows:
            raise TargetError(
                f"row-level security hides rows of {relation.name} from this role, so they cannot be replaced; use a "
                "role that its policies do not apply to"
            )
        if truncates or not self.run(queries.delete_all(relation, self.dialect)):
            self.run(_sql("TRUNCATE {}", relation.parts))
        rows = self.run(queries.insert(relation, self._named.complete(query), self.dialect))
        self.run("SET CONSTRAINTS ALL IMMEDIATE")  # so that no trigger changes rows after they have been verified
        self.run(queries.comment(relation, comment, self.dialect))
        return rows

    def result_types(self, query: str) -> list[tuple[str, str]]:
        """The columns of a query's result with their types; a domain is its base type."""
        return list(self._result_types(query).items())

    def attached(self, relation: Relation) -> list[Attached]:
        """What depends on a table or view, and its indexes, comments on columns, statistics targets and parameters."""
        return [
            Attached(name, tuple(columns), statement or "", needs_table)
            for name, columns, statement, needs_table in self._catalog(postgres_sql.ATTACHED, relation)
        ]

    def reads_from(self, view: Relation, relation: Relation) -> bool:
        """Whether a view reads a table or view, itself or through other views."""
        return bool(self._catalog(postgres_sql.READS_FROM, view, relation))

    def create(self, relation: Relation, query: str, form: str, comment: str) -> int | None:
        """Create a lasting table or view from a query, with a comment."""
        return super().create(relation, self._named.complete(query), form, comment)

    def load_batches(
        self, relation: Relation, types: Mapping[str, str], batches: Iterable[Sequence[Sequence[Any]]]
    ) -> None:
        """Create a temporary table and fill it, in batches of rows."""
        if not self.has_temporary_tables:
            self._named.define(relation.name, self._values(types, batches))
            return
        temporary = Relation("pg_temp", relation.name)
        self.run(queries.drop(temporary, self.dialect))
        self.run(queries.create_table(temporary, types, self.dialect))
        with self._pinned(), self._cursor.copy(_sql("COPY {} FROM STDIN", temporary.parts)) as copy:
            for row in chain.from_iterable(zip(*columns, strict=True) for columns in batches):
                copy.write_row(row)

    def _values(self, types: Mapping[str, str], batches: Iterable[Sequence[Sequence[Any]]]) -> str:
        """The query of values in batches of rows: an array of texts for each column."""
        from psycopg import sql
        from psycopg.adapt import PyFormat, Transformer

        texts: list[list[str | None]] = [[] for _ in types]
        dumpers = Transformer(self.connection)

        def text_of(value: Any) -> str | None:
            dumped = None if value is None else dumpers.get_dumper(value, PyFormat.TEXT).dump(value)
            return None if dumped is None else bytes(dumped).decode()

        for columns in batches:
            for column, of_column in zip(columns, texts, strict=True):
                of_column.extend(map(text_of, column))
        arrays = [
            f"CAST(CAST({sql.Literal(of_column).as_string(self.connection)} AS text[]) AS {type_name}[])"
            for type_name, of_column in zip(types.values(), texts, strict=True)
        ]
        names = ", ".join(queries.identifier(name, self.dialect) for name in types)
        return f"SELECT * FROM unnest({', '.join(arrays)}) AS loaded ({names})"

    def create_castable(
        self, relation: Relation, none: str, written: Relation, type_name: str, columns: Sequence[str]
    ) -> None:
        """Create a table of the rows whose text a type allows."""
        if not self.has_temporary_tables:
            self._name_castable(relation, none, written, type_name, columns)
            return
        self.send(none, self, relation)
        if type_name.startswith(("date", "timestamp")):
            self.run(_sql(postgres_sql.AFTER_DUCKDB, queries.parts(written, self.dialect)))
        insert = partial(queries.insert_castable, relation, written, type_name, columns, self.dialect)
        if self.connection.info.server_version >= _TELLS_VALID_INPUT:
            self.run(insert())
            return
        with self._pinned():
            self._valid_parts(lambda part: self.run(insert(rows=part)), (0, self._count(written)))

    def _name_castable(
        self, relation: Relation, none: str, written: Relation, type_name: str, columns: Sequence[str]
    ) -> None:
        """Name the query of the rows whose text a type allows."""
        if type_name.startswith(("date", "timestamp")):
            shown = {name: queries.identifier(name, self.dialect) for name in columns}
            shown["text"] = f"{postgres_sql.BEFORE_CHRIST_AGAIN} AS text"
            read = _sql(f"SELECT {', '.join(shown.values())} FROM {{}} AS w", queries.parts(written, self.dialect))
            self._named.define(written.name, read)
        valid = partial(queries.valid_texts, written, type_name, columns, self.dialect)
        if self.connection.info.server_version >= _TELLS_VALID_INPUT:
            castable = [valid()]
        else:
            tried = lambda part: self.rows(f"SELECT COUNT(v) FROM ({valid(rows=part)}) AS v")  # noqa: E731
            castable = [valid(rows=part) for part in self._valid_parts(tried, (0, self._count(written)))]
        self._named.define(relation.name, queries.union_all([none, *castable]))

    def _count(self, relation: Relation) -> int:
        ((rows,),) = self.rows(queries.text("frequency_sets/row_count", self.dialect, relation=relation))
        return int(rows)

    def _valid_parts(self, run: Callable[[tuple[int, int]], object], rows: tuple[int, int]) -> list[tuple[int, int]]:
        """The parts of rows (first, end) for which a statement succeeds: those whose texts a type allows.

        They are found by bisection, on a server without pg_input_is_valid.
        """
        try:
            with self.connection.transaction():
                run(rows)
        except SourceError:
            first, end = rows
            if end - first <= 1:
                return []
            middle = (first + end) // 2
            return [*self._valid_parts(run, (first, middle)), *self._valid_parts(run, (middle, end))]
        return [rows]

    def send(self, query: str, target: Engine, relation: Relation) -> None:
        """Create a temporary table, here or in an embedded DuckDB, from a query here."""
        if isinstance(target, DuckDB):
            self.fetch_into(query, target, relation)
        elif target is self and not self.has_temporary_tables:
            self._named.define(relation.name, query)
        elif target is self:
            temporary = Relation("pg_temp", relation.name)
            self.run(queries.drop(temporary, self.dialect))
            self.run(queries.create_as(temporary, query, self.dialect, temporary=True))
        else:
            raise SourceError(f"PostgreSQL sends rows to an embedded DuckDB only, not to {target.name}")

    def bytes_to_send(self, table: Table, columns: Sequence[str]) -> int | None:
        """The bytes of all values of some columns; None if DuckDB cannot read them, or can find other values equal."""
        if table.relation.name in self._named:
            return None
        ((equal_elsewhere,),) = self._catalog(postgres_sql.EQUAL_ELSEWHERE, table.relation, list(columns))
        if not equal_elsewhere:
            return None
        kinds = {column.name: column.kind for column in table.columns if column.name in columns}
        lengths = [_sql(postgres_sql.LENGTH, [name]) for name, kind in kinds.items() if kind == "text"]
        late = [_sql(postgres_sql.LATE, [name], [name]) for name, kind in kinds.items() if kind == "timestamp"]
        size = postgres_sql.SIZE.format(
            lengths=" + ".join(lengths) or "0",
            late=" OR ".join(late) or "FALSE",
            table=_sql("{}", queries.parts(table.relation, self.dialect)),
        )
        ((rows, length, longest, too_late),) = self.rows(size)
        if too_late or longest > _LONGEST_ROW:
            return None
        return int(length) + int(rows) * len(columns) * VALUE_BYTES

    def forget(self, relation: Relation) -> None:
        """Drop a temporary table."""
        if self.has_temporary_tables:
            self.run(queries.drop(relation, self.dialect))
        else:
            self._named.forget(relation.name)

    def frame(self, relation: Relation, arrow: bool = False) -> Any:
        """A relation's rows as a pandas DataFrame or an Arrow table, with DuckDB's types."""
        embedded, fetched = self.embedded(), Relation("kanon_fetched")
        self.fetch_into(queries.select_all(relation, self.dialect), embedded, fetched)
        return embedded.frame(fetched, arrow)

    def interrupt(self) -> None:
        """Interrupt the running statement."""
        self.connection.cancel()

    def embedded(self) -> DuckDB:
        """A new DuckDB in memory, within the limits of the run, and in the server's time zone if DuckDB has it."""
        with suppress(SpecError):
            return DuckDB(limits=replace(self.limits, time_zone=self.time_zone()))
        return DuckDB(limits=self.limits)

    def time_zone(self) -> str:
        """The time zone in the limits, or the default of the database or server, but not the session's."""
        return str(self.rows("SELECT current_setting('TimeZone')")[0][0])

    def address(self, relation: Relation) -> tuple[str, str]:
        """`postgres://host:port` and `database.schema.table`; a socket is on this host."""
        info = self.connection.info
        host = "localhost" if not info.host or info.host.startswith(("/", "@")) else info.host
        return f"postgres://{host}:{info.port}", ".".join((info.dbname, *relation.parts))

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def filled(self, relation: Relation, rows: int | None) -> None:
        """Analyze a temporary table, since autovacuum does not."""
        if rows != 0 and self.has_temporary_tables:
            self.run(_sql("ANALYZE {}", queries.parts(relation, self.dialect)))

    def before_adding(self, _: Relation) -> None:
        """Do nothing."""

    def integer_type(self, largest: int) -> str:
        """The smallest signed integer type for numbers up to `largest`."""
        return "smallint" if largest < 2**15 else "integer" if largest < 2**31 else "bigint"

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One consistent snapshot; rolled back if the block raises."""
        self._refuse_open_transaction()
        try:
            self._begin("ISOLATION LEVEL REPEATABLE READ")
            self.run(postgres_sql.HASH_JOINS)
            yield
        except BaseException:
            with suppress(SourceError):  # a lost connection has rolled back already
                self.run("ROLLBACK")
            raise
        self.run("COMMIT")
        if self._cursor.statusmessage != "COMMIT":
            raise SourceError("PostgreSQL rolled the transaction back because a statement in it had failed")

    def _begin(self, mode: str = "") -> None:
        """Begin a transaction with the server's own search_path, and remember the user's."""
        with explained():
            self._cursor.execute(f"BEGIN {mode}", prepare=False)
            self._path = self._cursor.execute(postgres_sql.PATH, prepare=False).fetchall()[0]
            zone = _sql("{zone}", zone=self.limits.time_zone) if self.limits.time_zone else "DEFAULT"
            self._cursor.execute(f"{postgres_sql.PIN}; SET LOCAL TimeZone TO {zone}", prepare=False)

    @contextmanager
    def _pinned(self) -> Iterator[None]:
        """Run the block in the open transaction, or in a new one."""
        if self.connection.info.transaction_status.name != "IDLE":
            with explained():
                yield
            return
        try:
            self._begin()
            with explained():
                yield
                self._cursor.execute("COMMIT", prepare=False)
        except BaseException:
            with suppress(SourceError), explained():  # a lost connection has rolled back already
                self._cursor.execute("ROLLBACK", prepare=False)
            raise

    def _refuse_open_transaction(self) -> None:
        if self.connection.info.transaction_status.name not in ("IDLE", "UNKNOWN"):
            raise SourceError("the connection is inside a transaction; commit or roll it back first")

    def fetch_into(self, query: str, target: DuckDB, relation: Relation) -> None:
        """Fetch the rows of a query into a new temporary table of an embedded DuckDB, in bounded memory.

        Types are converted; a numeric column gets a type that is exact for all its values, or becomes text.
        """
        types = self._result_types(query)
        target.load_batches(relation, {column: in_duckdb(type_name) for column, type_name in types.items()}, [])
        with PrivateFolder(Path(tempfile.gettempdir())) as folder:
            path = folder / "rows.csv"
            try:
                path.touch(mode=0o600)
                with path.open("wb") as file:
                    sent = self._copy_out(query, types, file.write)
            except OSError as error:
                raise SourceError(f"{folder} cannot hold the rows: {error.strerror}; set TMPDIR") from error
            ((received,),) = target.rows(
                _sql(postgres_sql.READ, queries.parts(relation, target.dialect), path=str(path))
            )
        if received != sent:
            raise SourceError(f"PostgreSQL sent {sent} rows, but DuckDB read {received}; please report it")
        for column, type_name in types.items():
            if declared := _NUMERIC.fullmatch(type_name):
                precision, scale = (int(digits or 0) for digits in declared.groups())
                _settle_numeric(target, relation, column, precision, scale)

    def _result_types(self, query: str) -> dict[str, str]:
        """The columns of a query with their types in PostgreSQL's short names: `int4`, `numeric(10, 2)`."""
        with self._pinned():
            self.rows(f"SELECT * FROM ({query}) AS fetched LIMIT 0")
            described = self._cursor.description or []
        refuse_equal_names([column.name for column in described], "the query")
        return {column.name: column.type_display for column in described}

    def _copy_out(self, query: str, types: Mapping[str, str], write: Callable[[Buffer], object]) -> int:
        selected = ", ".join(_sent(column, type_name) for column, type_name in types.items())
        copied = self._named.complete(f"SELECT {selected} FROM ({query}) AS fetched")
        with self._pinned():
            with self._cursor.copy(f"COPY ({copied}) TO STDOUT ({postgres_sql.CSV})") as copy:
                for chunk in copy:
                    write(chunk)
            return self._cursor.rowcount


def _sent(column: str, type_name: str) -> str:
    """The expression of a column in a form that DuckDB reads."""
    plain = re.sub(r"\(.*\)", "", type_name)
    if plain in ("date", "timestamp", "timestamptz"):
        return _sql(postgres_sql.BEFORE_CHRIST, [column], [column], [column])
    # The blanks that pad a char(n) have no meaning; the cast removes them.
    return _sql("CAST({} AS TEXT)" if plain == "bpchar" else "{}", [column])


def _settle_numeric(target: DuckDB, relation: Relation, column: str, precision: int, scale: int) -> None:
    """Turn a column of numeric texts into numbers: as declared, or as wide as the values need."""
    table = queries.parts(relation, target.dialect)
    ((plain, whole, fraction),) = target.rows(_sql(postgres_sql.MEASURE, [column], [column], [column], table))
    if precision == 0 or not 0 <= scale <= precision:
        precision, scale = whole + fraction, fraction
    if plain and precision <= 38:
        integer = "BIGINT" if precision <= 18 else "HUGEINT"
        fitting = f"DECIMAL({precision}, {scale})" if scale else integer
        target.run(_sql(f"ALTER TABLE {{}} ALTER {{}} TYPE {fitting}", table, [column]))


def _sql(statement: str, *names: Sequence[str], **literals: str) -> str:
    """Fill every {} of one of our statements with a quoted name, and every {word} with a quoted text."""
    from psycopg import sql

    quoted = {word: sql.Literal(text) for word, text in literals.items()}
    return sql.SQL(statement).format(*(sql.Identifier(*parts) for parts in names), **quoted).as_string()


# A cursor that returns the same values as DuckDB


def cursor_of(connection: psycopg.Connection[Any]) -> psycopg.Cursor[tuple[Any, ...]]:
    """A cursor of plain tuples with the values that DuckDB would return."""
    import psycopg
    from psycopg.rows import tuple_row

    cursor = psycopg.Cursor(connection, row_factory=tuple_row)
    cursor.adapters.register_loader("numeric", _loader(_number))
    cursor.adapters.register_loader("bpchar", _loader(lambda text: text.rstrip(" ")))
    for structured in ("json", "jsonb"):
        cursor.adapters.register_loader(structured, _loader(str))
    return cursor


def _loader(read: Callable[[str], object]) -> type[Loader]:
    from psycopg.adapt import Loader

    class Read(Loader):
        def load(self, data: Buffer) -> object:
            return read(bytes(data).decode())

    return Read


def _number(text: str) -> int | Decimal:
    """An integer for whole numbers, since SUM(bigint) is numeric."""
    return int(text) if text.lstrip("-").isdigit() else Decimal(text)


# Errors: one line, without values of the data


@contextmanager
def explained() -> Iterator[None]:
    """Turn PostgreSQL's errors into one-line messages."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        state = error.sqlstate or ""
        if state in _BY_ANOTHER:
            on_standby = "recovery" in (error.diag.message_primary or "")
            raise SourceError(_CANCELED if on_standby else _MEANWHILE) from None
        if state[:2] in _OF_THE_STATEMENT and error.diag.message_primary:
            details = (error.diag.message_detail or "").splitlines() if state == _DEPENDENT else []
            raise SourceError("; ".join([f"PostgreSQL says: {error.diag.message_primary}", *details])) from None
        if error.diag.schema_name == "pg_catalog" or "concurrently" in (error.diag.message_primary or ""):
            raise SourceError(_MEANWHILE) from None
        if state.startswith("23") and error.diag.table_name:
            named = f"constraint {error.diag.constraint_name}" if error.diag.constraint_name else "NOT NULL constraint"
            raise SourceError(
                f"the {named} of {error.diag.table_name} does not allow a row ({type(error).__name__}); change or drop "
                "the constraint, and run again"
            ) from None
        if not state and isinstance(error, psycopg.OperationalError):
            raise SourceError("PostgreSQL says: the connection is lost; see the server's log, and run again") from None
        raise SourceError(
            f"PostgreSQL stopped at a value that it cannot read or calculate with ({type(error).__name__}); see the "
            "server's log, and the types in the table or view",
            [str(error).strip().partition("\n")[0]],
        ) from None


def why_not(error: Exception) -> str:
    """Why connecting failed, in our words: libpq's include the user, the host and the database."""
    message = str(error)
    reasons = (reason for words, reason in postgres_sql.REFUSALS.items() if re.search(words, message))
    return next(reasons, "check the host, port and name")


def row_security(schema: str, table: str, reader: str, policies: Sequence[str]) -> str:
    """A warning that row-level security hides rows of a table from a role, with the names of the policies."""
    allow = f"its policies allow ({', '.join(policies)})" if policies else "policies allow, of which it has none"
    return (
        f"row-level security on {schema}.{table} shows {reader} only the rows that {allow}; hidden rows are neither "
        "counted nor released"
    )


# Types


def kind_of(plain: str, category: str) -> str:
    """The kind of a type without its modifiers, with its category in the catalog."""
    return _CATEGORIES.get(category) or _KINDS.get(plain, "other")


def in_duckdb(type_name: str) -> str:
    """DuckDB's name of a type, from PostgreSQL's short name."""
    return _IN_DUCKDB.get(re.sub(r"\(.*\)", "", type_name), "VARCHAR")
