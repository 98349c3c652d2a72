"""Verification of a release whose models count people, or values of another column that is not released.

The release is computed once more with these columns, in a scratch table. There they are counted, and the written
release must have the same rows, in all columns that its classes are judged by.
"""

from __future__ import annotations

from kanon_sql import queries
from kanon_sql.engine import Engine, reads_files
from kanon_sql.engines.files import file_format
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import VerificationError
from kanon_sql.queries import Relation
from kanon_sql.release.findings import Summary
from kanon_sql.release.populated import summary_of
from kanon_sql.release.publish import as_in_a_file
from kanon_sql.release.recoding import Recoding


def summarize(recoding: Recoding, engine: Engine, written: Relation) -> Summary:
    """Check the people of a written release; VerificationError if it differs from the one with people."""
    counted = (column for column in recoding.model.sensitive.values() if column not in recoding.model.hidden)
    columns = list(dict.fromkeys([*recoding.quasi_identifiers, *counted]))
    with Scratch(engine, "people") as tables:
        rows = tables.create("written", "privacy/class_rows", release=written, columns=columns)
        target = recoding.spec.target
        people = with_people(recoding, tables, file_format(target.file) if target and target.file else None)
        expected = tables.create("expected", "privacy/class_rows", release=people, columns=columns)
        ((differing,),) = tables.rows("privacy/differing_rows", one=rows, other=expected, columns=columns)
        if differing:
            raise VerificationError(
                f"the written release differs from what its people were counted in, in {differing:,} kinds of rows; "
                "nothing was released; run again and report this if it persists"
            )
        return summary_of(recoding, engine, people)


def with_people(recoding: Recoding, tables: Scratch, written_as: str | None) -> Relation:
    """The release with its people, written in the same format: different values of a table can be equal in a file.

    `tables`: the scratch tables for it, in this engine or another.
    """
    target = recoding.spec.target
    escaped = (not target or target.formulas == "escape") and not recoding.merged
    return as_read(tables, recoding.engine, recoding.with_people().release_sql(), written_as, escaped)


def as_read(tables: Scratch, source: Engine, query: str, written_as: str | None, escaped: bool = True) -> Relation:
    """The rows of a query after writing them to a file and reading it back; `written_as`: its format, None for a table.

    `escaped`: whether text that starts a formula is escaped in the file.
    """
    engine = tables.engine
    if not (written_as and reads_files(engine)):
        return tables.receive("rows", source, query)
    # With another reader, since an engine has one view for files, which may be in use.
    with as_in_a_file(source, query, written_as, escaped) as (reader, written):
        return tables.receive("rows", reader, queries.select_all(written, reader.dialect))


def without(recoding: Recoding) -> bool:
    """Whether the models count columns that the release does not have, such as the unit."""
    return not set(recoding.model.hidden).issubset(recoding.columns)
