"""Signed evidence: the manifest and the checksum of a release as an in-toto statement in a DSSE envelope.

The forms are those of https://github.com/in-toto/attestation (Statement v1) and https://github.com/secure-systems-lab/dsse.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.resources import install_command

STATEMENT = "https://in-toto.io/Statement/v1"
PAYLOAD = "application/vnd.in-toto+json"
PREDICATE = "urn:kanon-sql:release:1"
PASSWORD = "KANON_KEY_PASSWORD"
_LONGEST = 64 * 1024 * 1024  # bytes of an attestation that is read


@dataclass(frozen=True)
class Attested:
    """A verified attestation: the key that signed it, the name and checksum of the release, and its manifest."""

    key: str
    name: str
    sha256: str
    manifest: Mapping[str, Any]


def attestation(manifest: Mapping[str, Any], name: str, sha256: str, key: Path) -> str:
    """The signed statement about a released file as JSON text; SpecError if the private key cannot be read.

    `key`: a private key as PEM: Ed25519, ECDSA or RSA. If it is encrypted, its password is in KANON_KEY_PASSWORD.
    """
    dsse, signers = _library()
    statement = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": sha256}}],
        "predicateType": PREDICATE,
        "predicate": {"manifest": dict(manifest)},
    }
    payload = json.dumps(statement, ensure_ascii=False, sort_keys=True).encode()
    envelope = dsse.Envelope(payload, PAYLOAD, {})
    envelope.sign(signers.CryptoSigner(_private_key(key)))
    return json.dumps(envelope.to_dict(), indent=2) + "\n"


def attested(path: Path, public_key: Path) -> Attested:
    """Verify the signature of an attestation; SpecError if it is not one, or not signed by this key."""
    dsse, signers = _library()
    key = signers.SSlibKey.from_crypto(_public_key(public_key))
    try:
        if path.stat().st_size > _LONGEST:
            raise SpecError(f"{path} is too large for an attestation; name the file that `kanon report --attest` wrote")
        envelope = dsse.Envelope.from_dict(json.loads(path.read_bytes()))
    except OSError as error:
        raise SpecError(f"the attestation {path} cannot be read ({error.strerror}); check the path") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SpecError(f"{path} is not an attestation; name the file that `kanon report --attest` wrote") from None
    try:
        envelope.verify([key], 1)
    except Exception:  # of several kinds, by the form of the signature
        raise SpecError(
            f"{path} was not signed by the key in {public_key}, or was changed since; do not rely on it"
        ) from None
    return _read(path, key.keyid, envelope)


def _read(path: Path, key: str, envelope: Any) -> Attested:
    """The contents of a statement whose signature is valid."""
    try:
        statement = json.loads(envelope.payload)
        (subject,) = statement["subject"]
        found = statement["_type"], envelope.payload_type, statement["predicateType"]
        if found != (STATEMENT, PAYLOAD, PREDICATE):
            raise ValueError(found)
        return Attested(key, subject["name"], subject["digest"]["sha256"], statement["predicate"]["manifest"])
    except (ValueError, KeyError, TypeError):
        raise SpecError(f"{path} is signed, but is not a statement about a release by kanon_sql") from None


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SpecError(f"the key {path} cannot be read ({error.strerror}); check the path") from None


def _private_key(path: Path) -> Any:
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    content, password = _content(path), os.environ.get(PASSWORD)
    try:
        return load_pem_private_key(content, password.encode() if password else None)
    except TypeError:
        raise SpecError(
            f"the key {path} is {'not encrypted; unset' if password else 'encrypted; set its password as'} {PASSWORD}"
        ) from None
    except ValueError:
        raise SpecError(
            f"{path} is not a private key in PEM, or its password is different; create a key with `openssl genpkey "
            "-algorithm ed25519 -out key.pem`"
        ) from None


def _public_key(path: Path) -> Any:
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    content = _content(path)
    try:
        return load_pem_public_key(content)
    except ValueError:
        raise SpecError(
            f"{path} is not a public key in PEM; write it with `openssl pkey -in key.pem -pubout -out public.pem`"
        ) from None


def _library() -> tuple[Any, Any]:
    """The modules of securesystemslib for envelopes and keys."""
    try:
        from securesystemslib import dsse, signer
    except ImportError:
        raise SpecError(f"attestations need securesystemslib: {install_command('attest')}") from None
    return dsse, signer
