"""The rows of an incremental release that wait: those of classes that do not hold yet, in a table beside the source."""

from __future__ import annotations

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.errors import SpecError, TargetError, VerificationError
from kanon_sql.release import tables
from kanon_sql.release.pieces import Piece
from kanon_sql.release.publish import Published, Staged, publish
from kanon_sql.release.recoding import Recoding
from kanon_sql.spec import Spec, Target
from kanon_sql.staging import Staging

_SENTENCE = "Keep the rows that no class of the release holds."
_SAYS = {"is": "the rows that wait to be released"}


def check(engine: Engine, spec: Spec, lasts: bool) -> None:
    """Refuse a table for the rows that wait where it could not be, or where another stands.

    `lasts`: whether the engine's tables are there after the run.
    """
    if spec.waiting is None:
        return
    if not lasts:
        raise SpecError("the rows that wait are kept in a table, which needs a database; give `database`")
    if spec.target and spec.target.table and engine.place(spec.target.table) == engine.place(spec.waiting):
        raise SpecError(f"{spec.waiting} is to be both the release and the table of rows that wait; name two tables")
    _refuse_another(engine, spec.waiting)


def _refuse_another(engine: Engine, name: str) -> None:
    place = engine.place(name)
    existing = engine.existing(place)
    if existing and tables.about(engine, place).get("is") != _SAYS["is"]:
        raise TargetError(f"the {existing.form} {name} is no table of rows that wait; name another with `waiting`")


def publish_waiting(recoding: Recoding, name: str, staging: Staging) -> Published[int]:
    """Put the rows that a release leaves out into a table that nobody else may read; how many is what was checked."""
    _refuse_another(recoding.engine, name)  # which may have come meanwhile
    query = recoding.left_out_sql()
    piece = Piece("waiting", _SENTENCE, query, about=_SAYS, released=False)

    def verify(engine: Engine, staged: Staged) -> int:
        text = queries.text("frequency_sets/row_count", engine.dialect, relation=staged["waiting"])
        ((rows,),) = engine.rows(text)
        if rows != recoding.rows_at_risk:
            raise VerificationError(
                f"{rows:,} rows wait where {recoding.rows_at_risk:,} were left out; nothing was released; the source "
                "may have changed meanwhile: run again"
            )
        return int(rows)

    return publish(recoding.engine, Target(table=name, overwrite=True), lambda _: [piece], verify, staging)
