"""Signed evidence about a release: made by `kanon report`, checked by `kanon verify`."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1
from cryptography.hazmat.primitives.asymmetric.ec import generate_private_key as generate_ecdsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key as generate_rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from kanon_sql.errors import SpecError
from kanon_sql.report.attestation import PASSWORD, attestation, attested
from support.command_line import kanon

KEYS = {
    "Ed25519": Ed25519PrivateKey.generate,
    "ECDSA": lambda: generate_ecdsa(SECP256R1()),
    "RSA": lambda: generate_rsa(65537, 2048),
}
MANIFEST = {"privacy": [{"model": "k-anonymity", "required": 2}], "roles": {"quasi_identifiers": ["age"]}}


def write_keys(folder: Path, key: Any, password: bytes | None = None) -> tuple[Path, Path]:
    """The private and the public key as files."""
    private, public = folder / "key.pem", folder / "public.pem"
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


@pytest.mark.parametrize("kind", KEYS)
def test_what_was_signed_is_read_again(tmp_path: Path, kind: str) -> None:
    private, public = write_keys(tmp_path, KEYS[kind]())
    path = tmp_path / "attestation.json"
    path.write_text(attestation(MANIFEST, "anon.csv", "ab" * 32, private))
    found = attested(path, public)
    assert (found.name, found.sha256, found.manifest) == ("anon.csv", "ab" * 32, MANIFEST)
    envelope = json.loads(path.read_text())
    statement = json.loads(base64.b64decode(envelope["payload"]))
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    assert statement["_type"] == "https://in-toto.io/Statement/v1"


def test_another_key_or_another_text_is_refused(tmp_path: Path) -> None:
    private, public = write_keys(tmp_path, Ed25519PrivateKey.generate())
    path = tmp_path / "attestation.json"
    text = attestation(MANIFEST, "anon.csv", "ab" * 32, private)
    envelope = json.loads(text)
    statement = json.loads(base64.b64decode(envelope["payload"]))
    statement["predicate"]["manifest"]["privacy"][0]["required"] = 100
    forged = {**envelope, "payload": base64.b64encode(json.dumps(statement).encode()).decode()}
    for other in (forged, {**envelope, "signatures": []}, {**envelope, "payloadType": "text/plain"}):
        path.write_text(json.dumps(other))
        with pytest.raises(SpecError, match="was not signed by the key"):
            attested(path, public)
    path.write_text(text)
    _, another = write_keys(tmp_path, Ed25519PrivateKey.generate())
    with pytest.raises(SpecError, match="was not signed by the key"):
        attested(path, another)
    for nonsense in ("", "[]", '{"payload": 3}', "{}"):
        path.write_text(nonsense)
        with pytest.raises(SpecError, match="is not an attestation"):
            attested(path, public)


def test_an_encrypted_key_needs_its_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private, _ = write_keys(tmp_path, Ed25519PrivateKey.generate(), b"pass")
    with pytest.raises(SpecError, match="set its password"):
        attestation(MANIFEST, "anon.csv", "ab", private)
    monkeypatch.setenv(PASSWORD, "wrong")
    with pytest.raises(SpecError, match="its password is different"):
        attestation(MANIFEST, "anon.csv", "ab", private)
    monkeypatch.setenv(PASSWORD, "pass")
    assert attestation(MANIFEST, "anon.csv", "ab", private)


def test_a_report_attests_a_file_that_verify_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    private, public = write_keys(tmp_path, Ed25519PrivateKey.generate())
    (tmp_path / "people.csv").write_text("age,ill\n" + "".join(f"{20 + n % 4},{n % 2}\n" for n in range(40)))
    (tmp_path / "release.yml").write_text(
        "source: people.csv\nquasi_identifiers: {age: {hierarchy: {ranges: [2]}}}\nsensitive: [ill]\n"
        "privacy: {k: 10}\ntarget: {file: anon.csv}\n"
    )
    assert kanon("anonymize", "--spec", "release.yml").code == 0
    without = ["--without", "attacks,loss_by_k,lattice", "--output", "report.md"]
    asked = ["report", "--spec", "release.yml", *without, "--attest", "signed.json"]
    assert "--key together" in kanon(*asked).err
    made = kanon(*asked, "--key", private)
    assert (made.code, "Attestation written to signed.json" in made.out) == (0, True), made.err
    check = ["verify", "anon.csv", "--attestation", "signed.json", "--public-key", public]
    checked = kanon(*check)
    assert checked.code == 0, checked.err
    assert "attested: the file was signed as anon.csv" in checked.out
    assert "satisfied: 10-anonymous on age" in checked.out
    assert json.loads(kanon(*check, "--json").out)["required"] == 10
    assert kanon(*check, "--k", 11).code == 1  # options on the command line are stricter
    (tmp_path / "anon.csv").write_text((tmp_path / "anon.csv").read_text() + '"[20, 22)",0\n')
    changed = kanon(*check)
    assert (changed.code, "is not the file that was signed" in changed.err) == (2, True)
