"""What is kept with a release for its owner alone, in the same step.

For comparing two releases by people: the owner of each row, as a keyed digest. The key is kept in a separate file or
table, so that reading one of the two is not enough to find patient numbers by trying them all. For a local recoding
that needs more than its own rows to be verified: what its tuples are shown as, since its labels alone do not tell.

It is a companion table that nobody else may read, or a file of mode 0600 in `.kanon` beside the target.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.release import folders, tables
from kanon_sql.release.chance import make_people_key, secret_of
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.release.pieces import EVIDENCE, KEY, PEOPLE, Piece, companion, private_file
from kanon_sql.release.recoding import Recoding
from kanon_sql.spec import Target

_EVIDENCE = "Keep what each tuple of the source is shown as, so that the release can be verified."
_KEY = "Keep the secret of the digests of people for the next release."
_SENTENCE = "Keep whose the rows are, so that the next release is compared with this one by people."


def pieces(recoding: Recoding, target: Target | None, secret: bytes) -> list[Piece]:
    """The companions of a release; none of one that lasts no longer than its connection.

    `secret`: that of `people_secret`.
    """
    if not _lasts(recoding, target):
        return []
    assert target
    return [
        *(_people(recoding, secret) if _notes_people(recoding, target) else []),
        *([_evidence(recoding)] if isinstance(recoding, LocalRecoding) and needs_evidence(recoding) else []),
    ]


def people_secret(recoding: Recoding, target: Target | None) -> bytes:
    """The secret of the digests of people: the spec's, or else that of the release that is replaced, or a new one.

    Read it before that release is dropped. All releases to one target share it, so that their people can be compared.
    """
    if target is None or not _lasts(recoding, target) or not _notes_people(recoding, target):
        return b""
    if recoding.spec.secret:
        return secret_of(recoding.spec)
    return _kept_secret(recoding.engine, target) or secret_of(recoding.spec)


def _kept_secret(engine: Engine, target: Target) -> bytes | None:
    if target.table:
        place = engine.place(target.table)
        there = companion(place, KEY)
        ours = engine.existing(there) and tables.about(engine, there).get("of") == place.name
        rows = engine.rows(queries.select_all(there, engine.dialect)) if ours else []
        return bytes.fromhex(rows[0][0]) if rows else None
    file = private_file(Path(str(target.file)), KEY)
    if not file.is_file():
        return None
    with closing(engine.embedded()) as reader:
        ((key,),) = reader.rows(queries.select_all(reader.read_written(file, "parquet"), reader.dialect))
    return bytes.fromhex(key)


def _lasts(recoding: Recoding, target: Target | None) -> bool:
    return target is not None and not folders.named(recoding.engine, target)


def _notes_people(recoding: Recoding, target: Target) -> bool:
    return shows_people(recoding) and target.form != "view"


def needs_evidence(recoding: Recoding) -> bool:
    """Whether a release is verified by its source's people, or by a population, with its labels."""
    model = recoding.model
    return (bool(model.hidden) or model.population is not None) and not recoding.spec.wildcard_suppression


def shows_people(recoding: Recoding) -> bool:
    """Whether it is kept whose the rows of a release are, so that the next can be compared with it by people."""
    return recoding.model.unit is not None and recoding.spec.differencing_limit is not None


def _people(recoding: Recoding, secret: bytes) -> list[Piece]:
    """The released rows, each with a digest of its owner; and the secret, unless the spec names one."""
    unit = str(recoding.model.unit)
    shown = recoding.tables.create_as("with_people", recoding.with_people().release_sql())
    columns = [name for name in recoding.columns if name not in recoding.model.hidden]
    key = make_people_key(recoding.tables, secret)
    holes: dict[str, Any] = {"shown": shown, "key": key, "columns": columns, "unit": [unit]}
    query = queries.text("pipeline/people", recoding.engine.dialect, **holes)
    people = Piece(PEOPLE, _SENTENCE, query, PEOPLE, about={"is": "the people of a release"}, released=False)
    if recoding.spec.secret:
        return [people]
    kept = recoding.tables.load("people_secret", {"secret": "VARCHAR"}, [[secret.hex()]])
    query = queries.select_all(kept, recoding.engine.dialect)
    about = {"is": "the key of the people of a release"}
    return [people, Piece(KEY, _KEY, query, KEY, about=about, released=False, written_as="parquet")]


def _evidence(recoding: LocalRecoding) -> Piece:
    """The tuples of the source, each with what it is shown as."""
    query = queries.select_all(recoding.evidence(), recoding.engine.dialect)
    about = {"is": "the evidence of a release"}
    return Piece(EVIDENCE, _EVIDENCE, query, EVIDENCE, about=about, released=False, written_as="parquet")
