"""The database and files of a run, its limits, and which of their names an error may print."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kanon_sql.spec.file_options import Reading


@dataclass(frozen=True)
class Limits:
    """The limits of every embedded engine of a run: memory such as `2GB`, threads, and a folder to spill to.

    None: the engine's default. `time_zone`: the zone in which engines convert timestamps to days and hours; None: that
    of the server, or UTC in DuckDB.
    """

    memory_limit: str | None = None
    threads: int | None = None
    temp_directory: str | None = None
    time_zone: str | None = None


@dataclass(frozen=True)
class Session:
    """The database that a run opens, files attached to it by name, and the limits of its embedded engines.

    `reading`: how the files of its source are read. `writes`: the names of the tables that the run creates; database
    files without any of them are opened read-only.
    """

    database: str | None = field(default=None, repr=False)
    attach: Mapping[str, str] = field(default_factory=dict, repr=False)
    limits: Limits = Limits()
    writes: tuple[str, ...] = ()
    reading: Reading = field(default_factory=Reading)

    @property
    def has_tables(self) -> bool:
        """Whether a database can be searched for tables."""
        return self.database is not None or bool(self.attach)

    @property
    def without_tables(self) -> Session:
        """The session for a source that is a file or in memory."""
        return Session(limits=self.limits, reading=self.reading)

    @property
    def as_it_is(self) -> Session:
        """The session without reading options, for files other than the source, such as releases and populations."""
        return replace(self, reading=Reading())


def names_a_server(database: str) -> bool:
    """Whether a database is named by a URL or by libpq's keywords, and not by a path.

    >>> [names_a_server(name) for name in (" POSTGRESQL://db/x", "host=db password=x", "hospital.duckdb")]
    [True, True, False]
    """
    return _SERVER.match(database) is not None


def names_spark(database: str) -> bool:
    """Whether a database is a Spark Connect server, named by its URL.

    >>> names_spark("sc://cluster:15002"), names_spark("postgresql://db/x")
    (True, False)
    """
    return database.strip().lower().startswith("sc://")


def speakable(place: str) -> str:
    """A database or file as an error may print it: hidden if it could be a connection string with a password or token.

    >>> speakable("data/people.csv"), speakable("me:secret@db/hospital"), speakable("md:?motherduck_token=x")
    ('data/people.csv', 'the given name', 'the given name')
    """
    return "the given name" if names_a_server(place) or _USER_IN.search(place) else place


_KEYWORDS = (
    "host|hostaddr|port|dbname|user|password|passfile|service|servicefile|options|application_name|connect_timeout|"
    "client_encoding|sslmode|sslcert|sslkey|sslpassword|sslrootcert|gssencmode|krbsrvname|target_session_attrs|"
    "keepalives|channel_binding|require_auth|load_balance_hosts|fallback_application_name|replication"
)
_SERVER = re.compile(rf"\s*(?:postgres(?:ql)?://|sc://|(?:{_KEYWORDS})\s*=)", re.IGNORECASE)
_USER_IN = re.compile(r"@|//[^/]*:|passw|postgres|token|secret|[?&;]\s*\w+\s*=", re.IGNORECASE)
