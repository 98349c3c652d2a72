"""Released tables as Parquet files in a folder, and live views, read once before they are counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
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


@contextmanager
def read_once(engine: Engine, released: Mapping[str, Relation], in_transaction: bool) -> Iterator[dict[str, Relation]]:
    """The released tables, with the rows of views in temporary tables: each read of a view counts everything again.

    `in_transaction`: whether one is open; otherwise the views are read in a new one, so that they show the same moment.
    """
    forms = {name: table.form for name, table in ((n, engine.existing(r)) for n, r in released.items()) if table}
    views = [name for name, form in forms.items() if form == "view"]
    with Scratch(engine, "read") as tables:
        found = dict(released)
        with nullcontext() if in_transaction or not views else engine.snapshot():
            for number, name in enumerate(views):
                text = queries.select_all(released[name], engine.dialect)
                found[name] = tables.create_as(f"view_{number}", text)
        yield found
