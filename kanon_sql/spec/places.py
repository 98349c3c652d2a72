"""What names a database: a path or a server, and what an error may print of it."""

from __future__ import annotations

import re


def names_a_server(database: str) -> bool:
    """Whether a database is named by a URL or by libpq's keywords, and not by a path.

    >>> [names_a_server(name) for name in (" POSTGRESQL://db/x", "host=db password=x", "hospital.duckdb")]
    [True, True, False]
    """
    return _SERVER.match(database) is not None


def speakable(place: str) -> str:
    """A place as an error may print it: not if it could be a connection string, with a password in it.

    >>> speakable("data/people.csv"), speakable("me:secret@db/hospital")
    ('data/people.csv', 'the given name')
    """
    return "the given name" if names_a_server(place) or _USER_IN.search(place) else place


_KEYWORDS = (
    "host|hostaddr|port|dbname|user|password|passfile|service|servicefile|options|application_name|connect_timeout|"
    "client_encoding|sslmode|sslcert|sslkey|sslpassword|sslrootcert|gssencmode|krbsrvname|target_session_attrs|"
    "keepalives|channel_binding|require_auth|load_balance_hosts|fallback_application_name|replication"
)
_SERVER = re.compile(rf"\s*(?:postgres(?:ql)?://|(?:{_KEYWORDS})\s*=)", re.IGNORECASE)
_USER_IN = re.compile(r"@|//[^/]*:|passw|postgres", re.IGNORECASE)
