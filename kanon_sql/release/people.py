"""The check of a release whose classes must hold people, by a column that no release has.

The release is made once more with that column beside it, where nobody else looks. Its people are counted there, and
what was written must have the same rows, by all that its classes are judged by.
"""

from __future__ import annotations

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import VerificationError
from kanon_sql.privacy import UNIT
from kanon_sql.queries import Relation
from kanon_sql.release import findings
from kanon_sql.release.findings import Summary
from kanon_sql.release.recoding import Recoding


def summarize(recoding: Recoding, engine: Engine, written: Relation) -> Summary:
    """What the people of a written release are; VerificationError if it is another release than the one with them."""
    with Scratch(recoding.engine, "people") as tables:
        people = tables.make_as("rows", recoding.with_people().select_sql())
        _check_same(recoding, people, engine, written)
        source = recoding.engine, recoding.table.relation
        return findings.summarize(recoding.engine, people, recoding.quasi_identifiers, recoding.model, source)


def _check_same(recoding: Recoding, people: Relation, engine: Engine, written: Relation) -> None:
    counted = (column for name, column in recoding.model.sensitive.items() if name != UNIT)
    columns = list(dict.fromkeys([*recoding.quasi_identifiers, *counted]))
    with Scratch(engine, "compared") as tables:
        one = tables.make("written", "privacy/class_rows", release=written, columns=columns)
        dialect = recoding.engine.dialect
        query = queries.text("privacy/class_rows", dialect, release=people, columns=columns)
        other = tables.receive("expected", recoding.engine, query)
        ((differing,),) = tables.rows("privacy/differing_rows", one=one, other=other, columns=columns)
    if differing:
        raise VerificationError(
            f"the written release differs from what its people were counted in, in {differing:,} kinds of rows; "
            "nothing was released; run again, and report this if it persists"
        )


def without(recoding: Recoding) -> bool:
    """Whether a release is to hold people, and does not tell them apart itself."""
    return recoding.model.unit is not None and recoding.model.unit not in recoding.columns
