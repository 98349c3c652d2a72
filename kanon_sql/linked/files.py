"""Released tables as Parquet files in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError
from kanon_sql.queries import Relation


def file_of(folder: Path, table: str) -> Path:
    """The file of a released table."""
    return folder / f"{table}.parquet"


@contextmanager
def read_files(engine: Engine, files: Mapping[str, Path]) -> Iterator[tuple[Engine, dict[str, Relation]]]:
    """The files of tables as temporary tables of an embedded engine; SourceError if one is missing."""
    with closing(engine.embedded()) as reader, Scratch(reader, "read") as tables:
        found: dict[str, Relation] = {}
        for number, (name, path) in enumerate(files.items()):
            if not path.is_file():
                raise SourceError(f"there is no file {path}; check `into`, or release again")
            text = queries.select_all(reader.read_written(path, "parquet"), reader.dialect)
            found[name] = tables.receive(f"file_{number}", reader, text)
        yield reader, found
