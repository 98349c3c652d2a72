"""Reproducible random draws that cannot be guessed: derived from a secret, never from an engine's sampling."""

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
    """The secret in the spec's file, or a random one for this run; SpecError if the file has no valid secret."""
    if spec.secret is None:
        return secrets.token_bytes(32)
    path = Path(spec.secret)
    try:
        secret = path.read_bytes().strip()
    except OSError as error:
        raise SpecError(f"the secret file {path} cannot be read ({error.strerror}); check the path") from error
    if len(secret) < _SHORTEST:
        raise SpecError(
            f"the secret in {path} has {len(secret)} characters; use {_SHORTEST} or more, "
            "e.g. from `openssl rand -hex 32`"
        )
    return secret


def make_people_key(tables: Scratch, secret: bytes) -> Relation:
    """Create a scratch table of one row: `id`, which reveals nothing of the keys, `inner_key` and `outer_key`.

    Both keys are as long as a block of MD5, so that MD5(outer_key || MD5(inner_key || text)) is NMAC (Bellare, Canetti,
    Krawczyk, CRYPTO 1996), which collisions of MD5 do not break.
    """
    keys = [hmac.new(secret, f"people|{what}".encode(), sha256).hexdigest() for what in ("id", "inner", "outer")]
    names = ("id", "inner_key", "outer_key")
    return tables.load("people_key", dict.fromkeys(names, "VARCHAR"), [[keys[0][:8]], [keys[1]], [keys[2]]])


def make_key(tables: Scratch, secret: bytes, purpose: str, places: int = 1) -> Relation:
    """Create a scratch table of one row: `key`, a text for MD5(key || row), and `shift`, a number below `places`.

    Both are derived from the secret (HMAC-SHA-256) for one purpose. They go to the database as data, because the
    text of a statement can be read in a server's log.
    """
    key, shift = (hmac.new(secret, f"{what}|{purpose}".encode(), sha256).hexdigest() for what in ("key", "shift"))
    return tables.load("key", {"key": "VARCHAR", "shift": "BIGINT"}, [[key], [int(shift, 16) % places]])
