"""Private companions of a release, written in the same step and only readable for its owner.

To compare two releases by people: a keyed digest of every row's owner. The key is in a separate file or table, so that
reading one of the two is not enough to find patient numbers by trying them all. For a local recoding whose labels alone
are not enough for verification: the labels of every tuple of the source.

A companion is a table that only its owner may read, or a file of mode 0600 in `.kanon` next to the target.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.queries import Relation
from kanon_sql.release import folders, tables
from kanon_sql.release.chance import make_people_key, secret_of
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.release.pieces import EVIDENCE, KEY, PEOPLE, Piece, private_file
from kanon_sql.release.recoding import Recoding
from kanon_sql.spec import Target

_EVIDENCE = "Keep the labels of every tuple of the source, so that the release can be verified."
_KEY = "Keep the secret of the digests of people for the next release."
_SENTENCE = "Keep the owners of the rows, so that the next release can be compared with this one by people."


def pieces(recoding: Recoding, target: Target | None, secret: bytes) -> list[Piece]:
    """The companions of a release; empty for a temporary one.

    `secret`: from `people_secret`.
    """
    if not _lasts(recoding, target):
        return []
    assert target
    return [
        *(recoding.merged.notes if recoding.merged else ()),
        *(_people(recoding, secret) if _notes_people(recoding, target) else []),
        *([_evidence(recoding)] if isinstance(recoding, LocalRecoding) and needs_evidence(recoding) else []),
    ]


def people_secret(recoding: Recoding, target: Target | None) -> bytes:
    """The secret of the digests of people: the spec's, or that of the replaced release, or a new one.

    It must be read before that release is dropped. All releases to one target share it, so that their people can be
    compared.
    """
    if target is None or not _lasts(recoding, target) or not _notes_people(recoding, target):
        return b""
    if recoding.spec.secret:
        return secret_of(recoding.spec)
    return _kept_secret(recoding.engine, target) or secret_of(recoding.spec)


def _kept_secret(engine: Engine, target: Target) -> bytes | None:
    rows = companion_rows(engine, engine.place(target.table) if target.table else Path(str(target.file)), KEY)
    return bytes.fromhex(rows[0][0]) if rows else None


def companion_rows(engine: Engine, release: Path | Relation, stem: str) -> list[tuple[Any, ...]]:
    """The rows of a private companion of a release, in Parquet next to its file or in a table; none without one."""
    if isinstance(release, Path):
        file = private_file(release, stem)
        if not file.is_file():
            return []
        with closing(engine.embedded()) as reader:
            return reader.rows(queries.select_all(reader.read_written(file, "parquet"), reader.dialect))
    table = tables.companion_of(engine, release, stem)
    return engine.rows(queries.select_all(table.relation, engine.dialect)) if table else []


def _lasts(recoding: Recoding, target: Target | None) -> bool:
    return target is not None and not folders.named(recoding.engine, target)


def _notes_people(recoding: Recoding, target: Target) -> bool:
    return shows_people(recoding) and target.form != "view"


def needs_evidence(recoding: Recoding) -> bool:
    """Whether verifying a release needs its source's people, or a population with its labels."""
    model = recoding.model
    return (bool(model.hidden) or model.population is not None) and not recoding.spec.wildcard_suppression


def shows_people(recoding: Recoding) -> bool:
    """Whether the owners of rows are stored, so that the next release can be compared with this one by people."""
    return recoding.model.unit is not None and recoding.spec.differencing_limit is not None


def _people(recoding: Recoding, secret: bytes) -> list[Piece]:
    """The released rows with digests of their owners; and the secret, unless the spec names one."""
    query = people_sql(recoding, secret)
    people = Piece(
        PEOPLE,
        _SENTENCE,
        query,
        PEOPLE,
        about={"is": "the people of a release"},
        released=False,
        escaped=recoding.merged is not None,
    )
    if recoding.spec.secret:
        return [people]
    kept = recoding.tables.load("people_secret", {"secret": "VARCHAR"}, [[secret.hex()]])
    query = queries.select_all(kept, recoding.engine.dialect)
    about = {"is": "the key of the people of a release"}
    return [people, Piece(KEY, _KEY, query, KEY, about=about, released=False, written_as="parquet")]


def people_sql(recoding: Recoding, secret: bytes) -> str:
    """The query of the released rows with digests of their owners, in the column of the unit."""
    unit = str(recoding.model.unit)
    columns = [name for name in recoding.columns if name not in recoding.model.hidden]
    if recoding.merged:  # these have digests already
        return recoding.merged.sql([*columns, unit], recoding.quasi_identifiers)
    shown = recoding.tables.create_as("with_people", recoding.with_people().release_sql())
    key = make_people_key(recoding.tables, secret)
    holes: dict[str, Any] = {"shown": shown, "key": key, "columns": columns, "unit": [unit]}
    return queries.text("pipeline/people", recoding.engine.dialect, **holes)


def _evidence(recoding: LocalRecoding) -> Piece:
    """The tuples of the source with their labels."""
    query, about = recoding.evidence_sql(), {"is": "the evidence of a release"}
    return Piece(EVIDENCE, _EVIDENCE, query, EVIDENCE, about=about, released=False, written_as="parquet")
