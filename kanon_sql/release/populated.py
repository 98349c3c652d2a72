"""The population with the labels of a release, as read from a released file: its format can merge values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.files import file_format
from kanon_sql.queries import Relation
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
