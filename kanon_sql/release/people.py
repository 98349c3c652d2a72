"""The check of a release whose classes must hold people, or values of another column that the release does not have.

The release is made once more with those columns beside it, where nobody else looks. They are counted there, and what
was written must have the same rows, by all that its classes are judged by.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from kanon_sql import queries
from kanon_sql.engine import Engine, reads_files
from kanon_sql.engines.files import file_format
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import VerificationError
from kanon_sql.queries import Relation
from kanon_sql.release import findings
from kanon_sql.release.findings import Summary
from kanon_sql.release.pieces import Piece
from kanon_sql.release.populated import shown_population
from kanon_sql.release.publish import write_file
from kanon_sql.release.recoding import Recoding, unmodelled


def summarize(recoding: Recoding, engine: Engine, written: Relation) -> Summary:
    """What the people of a written release are; VerificationError if it is another release than the one with them."""
    counted = (column for column in recoding.model.sensitive.values() if column not in recoding.model.hidden)
    columns = list(dict.fromkeys([*recoding.quasi_identifiers, *counted]))
    with Scratch(engine, "people") as tables:
        one = tables.create("written", "privacy/class_rows", release=written, columns=columns)
        target = recoding.spec.target
        people = with_people(recoding, tables, file_format(target.file) if target and target.file else None)
        other = tables.create("expected", "privacy/class_rows", release=people, columns=columns)
        ((differing,),) = tables.rows("privacy/differing_rows", one=one, other=other, columns=columns)
        if differing:
            raise VerificationError(
                f"the written release differs from what its people were counted in, in {differing:,} kinds of rows; "
                "nothing was released; run again and report this if it persists"
            )
        source = recoding.engine, recoding.table.relation
        with shown_population(recoding) as population:
            asked = recoding.quasi_identifiers, recoding.model, source, population, unmodelled(recoding)
            return findings.summarize(engine, people, *asked)


def with_people(recoding: Recoding, tables: Scratch, written_as: str | None) -> Relation:
    """The release with its people, on the same way: two values of a table may be one in a file, as which it is written.

    `tables`: where it is made, in this engine or another.
    """
    target = recoding.spec.target
    escaped = not target or target.formulas == "escape"
    return as_read(tables, recoding.engine, recoding.with_people().release_sql(), written_as, escaped)


def as_read(tables: Scratch, source: Engine, query: str, written_as: str | None, escaped: bool = True) -> Relation:
    """The rows of a query as the reader of a file of them has them; `written_as`: its format, None of a table.

    `escaped`: whether text that starts a formula is escaped in the file.
    """
    engine = tables.engine
    if not (written_as and reads_files(engine)):
        return tables.receive("rows", source, query)
    # By a reader of its own, since an engine shows one file at a time: another one may be looked at there.
    with TemporaryDirectory(prefix="kanon_people_") as folder, closing(engine.embedded()) as reader:
        file = Path(folder) / "people"
        piece = Piece("people", "Write the release with its people.", query)
        write_file(source, piece, file, written_as, escaped=escaped)
        read = queries.select_all(reader.read_written(file, written_as), reader.dialect)
        return tables.receive("rows", reader, read)


def without(recoding: Recoding) -> bool:
    """Whether something is counted of a release that it does not show itself, such as its people."""
    return not set(recoding.model.hidden).issubset(recoding.columns)
