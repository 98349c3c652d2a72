"""Held-back rows of an incremental release: rows of classes that are not safe yet, in a table next to the source."""

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
    """Refuse a table for held-back rows that cannot exist there, or that exists as another table.

    `lasts`: whether the engine's tables exist after the run.
    """
    if spec.waiting is None:
        return
    if not lasts:
        raise SpecError("the rows that wait are kept in a table, which needs a database; use `database`")
    if spec.target and spec.target.table and engine.place(spec.target.table) == engine.place(spec.waiting):
        raise SpecError(f"{spec.waiting} is to be both the release and the table of rows that wait; name two tables")
    _refuse_another(engine, spec.waiting)


def _refuse_another(engine: Engine, name: str) -> None:
    place = engine.place(name)
    existing = engine.existing(place)
    if existing and tables.about(engine, place).get("is") != _SAYS["is"]:
        raise TargetError(f"the {existing.form} {name} is not a table of rows that wait; name another with `waiting`")


def publish_waiting(recoding: Recoding, name: str, staging: Staging) -> Published[int]:
    """Put the suppressed rows of a release into a private table; the number of rows is the result of the check."""
    _refuse_another(recoding.engine, name)  # another run can have created it since the first check
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
