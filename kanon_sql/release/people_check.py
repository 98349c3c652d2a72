"""Verification of the classes of a written release, and of a release whose models count what is not in it.

If models count people, or values of another column that is not released, the release is computed once more with these
columns, in a scratch table. There they are counted, and the written release must have the same rows, in all columns
that its classes are judged by. A population is shown with the labels of the release; if that is a file, as read from
one, since its format can merge values.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kanon_sql import queries
from kanon_sql.engine import Engine, reads_files
from kanon_sql.engines.files import file_format
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import VerificationError
from kanon_sql.queries import Hole, Relation
from kanon_sql.release import findings
from kanon_sql.release.findings import Summary
from kanon_sql.release.publish import as_in_a_file
from kanon_sql.release.recoding import Recoding, unmodelled


@contextmanager
def shown_population(recoding: Recoding) -> Iterator[tuple[Engine, str] | None]:
    """The engine and query of the population with the labels of a release; None without a population.

    If the release is a file, the population is written to a file and read back, too.
    """
    population, target = recoding.shown_population(), recoding.spec.target
    if population is None or not (target and target.file):
        yield population
        return
    (engine, query), written_as = population, file_format(target.file)
    with as_in_a_file(engine, query, written_as, escaped=target.formulas == "escape") as (reader, written):
        # With the population's rows as a number: a CSV file has no numbers.
        columns = recoding.quasi_identifiers
        yield reader, queries.text("population/counts", reader.dialect, written=written, columns=columns)


def summary_of(recoding: Recoding, engine: Engine, relation: Relation, once: bool = False) -> Summary:
    """Check the classes of a written release; `once`: read it only once, see `findings.summarize`."""
    with shown_population(recoding) as population:
        return findings.summarize(
            engine,
            relation,
            recoding.quasi_identifiers,
            recoding.model,
            source=(recoding.engine, recoding.table.relation),
            population=population,
            sensitive=unmodelled(recoding),
            once=once,
        )


def summarize(recoding: Recoding, engine: Engine, written: Relation) -> Summary:
    """Check the people of a written release; VerificationError if it differs from the one with people."""
    counted = (column for column in recoding.model.sensitive.values() if column not in recoding.model.hidden)
    columns = list(dict.fromkeys([*recoding.quasi_identifiers, *counted]))
    with Scratch(engine, "people") as tables:
        target = recoding.spec.target
        people = with_people(recoding, tables, file_format(target.file) if target and target.file else None)
        compared: dict[str, Hole] = {"one": written, "other": people, "columns": columns}
        ((differing,),) = tables.rows("privacy/differing_rows", n=1, n_other=1, **compared)
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
    with Scratch(recoding.engine, "with_people") as own:
        query = recoding.with_people().release_sql(own)
        return as_read(tables, recoding.engine, query, written_as, escaped)


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
