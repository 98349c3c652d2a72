"""Opening engines: by a database's name, on the caller's connection, or embedded, for our own work."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kanon_sql.engine import Engine, FileEngine, name_readings
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SpecError
from kanon_sql.spec import Limits, Session, names_a_server, names_spark, speakable

_SCHEME = re.compile(r"\s*(?:([a-z][a-z0-9+.-]*)://|(?:md|motherduck):)", re.IGNORECASE)


def open_engine(session: Session, create: bool = False) -> Engine:
    """Open the database of a session: PostgreSQL or Spark by a URL, a DuckDB file, or DuckDB in memory.

    `create`: a missing file is created.
    """
    database, limits = session.database, session.limits
    if database is not None and names_a_server(database):
        if session.attach:
            raise SpecError("`attach` works only with a DuckDB file as `database`, or without `database`; leave it out")
        if names_spark(database):
            from kanon_sql.engines.spark import Spark

            return Spark.open(database, limits)
        from kanon_sql.engines.postgres import PostgreSQL

        return PostgreSQL.open(database, limits)
    _refuse_other_engines(session)
    return _open_files(session, create)


def _open_files(session: Session, create: bool) -> DuckDB:
    """Open DuckDB files, for writing only if they are written to."""
    database, places = session.database, [_attached(session, name) for name in session.writes]
    if database is None or any(places):
        engine = DuckDB(limits=session.limits, alone=True)
    else:
        engine = DuckDB.open(database, create, read_only=not places, limits=session.limits)
    try:
        if database is not None and any(places):  # a file attached to a read-only database would be read-only, too
            engine.attach(Path(database).stem, database, read_only=all(places))
            engine.use(Path(database).stem)
        for name, path in session.attach.items():
            engine.attach(name, path, read_only=name not in places)
    except BaseException:
        engine.close()
        raise
    return engine


def engine_of(connection: Any, session: Session | None = None) -> Engine:
    """Wrap the caller's connection, which stays open; an engine is returned unchanged.

    Of a session, only the limits of further engines go with it.
    """
    session = session or Session()
    if session.attach:
        raise SpecError("`attach` does not go with a connection of your own; attach the files to it, and leave it out")
    if isinstance(connection, DuckDB):
        return connection
    driver = type(connection).__module__.split(".")[0]
    if driver == "psycopg":
        from kanon_sql.engines.postgres import PostgreSQL

        return PostgreSQL(connection, session.limits)
    if driver == "pyspark":
        from kanon_sql.engines.spark import Spark

        return Spark(connection, session.limits)
    if session.limits != Limits():
        raise SpecError(
            "`memory_limit`, `threads`, `temp_directory` and `time_zone` do not go with a DuckDB connection of your "
            "own; set them there, as in SET memory_limit = '2GB', and leave them out"
        )
    return DuckDB(connection)


def embedded(limits: Limits | None = None) -> FileEngine:
    """A new embedded engine in memory, which reads and writes files."""
    return DuckDB(limits=limits, alone=True)


@contextmanager
def embedded_for(engine: Engine) -> Iterator[Engine]:
    """An engine for hundreds of small queries: this one if it is embedded, or a new one, closed at the end."""
    if engine.is_embedded:
        yield engine
        return
    embedded_engine = engine.embedded()
    try:
        yield embedded_engine
    finally:
        embedded_engine.close()


def _refuse_other_engines(session: Session) -> None:
    """Refuse other databases: DuckDB would create a file with such a name, or fetch an extension for it."""
    for path in filter(None, [session.database, *session.attach.values()]):
        scheme = _SCHEME.match(path)
        if (scheme or speakable(path) != path) and not os.path.exists(path):
            subject = f"a database of {scheme[1]}:// is" if scheme and scheme[1] else "the given database is"
            raise SpecError(
                f"{subject} neither a DuckDB file nor a PostgreSQL or Spark server; name a file, "
                "postgresql://user:password@host:port/database, or sc://host:port"
            )


def _attached(session: Session, table: str) -> str | None:
    """The name of the attached file that a table is in, None in the database itself."""
    path = name_readings(table)[-1][:-1]
    return next((name for name in session.attach if path and name.lower() == path[0].lower()), None)
