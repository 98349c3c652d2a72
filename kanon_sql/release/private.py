"""What is kept with a release for its owner alone, in the same step.

Whose its rows are, where two releases of people are to be compared; and of a local recoding what its tuples are shown
as, where it is verified by more than its own rows, since its labels alone do not tell.

It is a companion table that nobody else may read, or a file of mode 0600 in `.kanon` beside the target.
"""

from __future__ import annotations

from kanon_sql import queries
from kanon_sql.release import folders
from kanon_sql.release.local_recoding import LocalRecoding
from kanon_sql.release.pieces import EVIDENCE, PEOPLE, Piece
from kanon_sql.release.recoding import Recoding
from kanon_sql.spec import Target


def pieces(recoding: Recoding, target: Target | None) -> list[Piece]:
    """The companions of a release; none of one that lasts no longer than its connection."""
    if target is None or folders.named(recoding.engine, target):
        return []
    people = [_people(recoding)] if shows_people(recoding) and target.form != "view" else []
    return [
        *people,
        *([_evidence(recoding)] if isinstance(recoding, LocalRecoding) and needs_evidence(recoding) else []),
    ]


def needs_evidence(recoding: Recoding) -> bool:
    """Whether a release is verified by its source's people, or by a population, with its labels."""
    model = recoding.model
    return (model.unit is not None or model.population is not None) and not recoding.spec.wildcard_suppression


def shows_people(recoding: Recoding) -> bool:
    """Whether it is kept whose the rows of a release are, so that the next can be compared with it by people."""
    return recoding.model.unit is not None and recoding.spec.differencing_limit is not None


def _people(recoding: Recoding) -> Piece:
    """The rows of the release, each with a checksum of whose it is."""
    unit = str(recoding.model.unit)
    shown = recoding.tables.make_as("with_people", recoding.with_people().release_sql())
    columns = [name for name in recoding.columns if name != unit]
    query = queries.text("pipeline/people", recoding.engine.dialect, shown=shown, columns=columns, unit=[unit])
    return Piece(PEOPLE, _SENTENCE, query, PEOPLE, says={"is": "the people of a release"}, released=False)


def _evidence(recoding: LocalRecoding) -> Piece:
    """The tuples of the source, each with what it is shown as."""
    query = queries.select_all(recoding.evidence(), recoding.engine.dialect)
    says = {"is": "the evidence of a release"}
    return Piece(EVIDENCE, _EVIDENCE, query, EVIDENCE, says=says, released=False, written_as="parquet")


_EVIDENCE = "Keep what each tuple of the source is shown as, so that the release can be verified."
_SENTENCE = "Keep whose the rows are, so that the next release is compared with this one by people."
