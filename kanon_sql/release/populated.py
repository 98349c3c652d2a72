"""The population with the labels of a release, as read from a released file: its format can merge values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.files import file_format
from kanon_sql.queries import Relation
from kanon_sql.release import findings
from kanon_sql.release.findings import Summary
from kanon_sql.release.pieces import Piece
from kanon_sql.release.publish import write_file
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
    with TemporaryDirectory(prefix="kanon_population_") as folder, closing(engine.embedded()) as reader:
        file = Path(folder) / "population"
        piece = Piece("population", "Write the population with its labels.", query)
        write_file(engine, piece, file, written_as, escaped=target.formulas == "escape")
        written = reader.read_written(file, written_as)
        yield reader, _counts(recoding, reader, written)


def _counts(recoding: Recoding, reader: Engine, written: queries.Relation) -> str:
    """The columns as in the file, with the population's rows as a number: a CSV file has no numbers."""
    columns = recoding.quasi_identifiers
    return queries.text("population/counts", reader.dialect, written=written, columns=columns)


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
