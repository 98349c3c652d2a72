"""Chance that can be repeated, and that nobody can guess: derived from a secret, never from an engine's sampling."""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256
from pathlib import Path

from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.queries import Relation
from kanon_sql.spec import Spec

_SHORTEST = 16


def secret_of(spec: Spec) -> bytes:
    """The secret in the spec's file, or one drawn for this run alone; SpecError if the file holds none."""
    if spec.secret is None:
        return secrets.token_bytes(32)
    path = Path(spec.secret)
    try:
        secret = path.read_bytes().strip()
    except OSError as error:
        raise SpecError(f"the secret file {path} cannot be read ({error.strerror}); check the path") from error
    if len(secret) < _SHORTEST:
        raise SpecError(
            f"the secret in {path} has {len(secret)} characters; give {_SHORTEST} or more, "
            "e.g. from `openssl rand -hex 32`"
        )
    return secret


def make_key(tables: Scratch, secret: bytes, purpose: str, places: int = 1) -> Relation:
    """Make a scratch table of one row: `key`, a text for MD5(key || row), and `shift`, a number below `places`.

    Both are derived from the secret (HMAC-SHA-256) for one purpose. They go to the database as data, because the
    text of a statement can be read in a server's log.
    """
    key, shift = (hmac.new(secret, f"{what}|{purpose}".encode(), sha256).hexdigest() for what in ("key", "shift"))
    return tables.load("key", {"key": "VARCHAR", "shift": "BIGINT"}, [[key], [int(shift, 16) % places]])
