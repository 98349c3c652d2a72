"""The owners of a release's rows, as `kanon_sql.release.private` keeps them: every row with a digest of its owner."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Table
from kanon_sql.engines.files import file_format
from kanon_sql.engines.scratch import Scratch
from kanon_sql.plan.source import Source
from kanon_sql.queries import Relation
from kanon_sql.release.pieces import DEFERRED, PEOPLE, companion, private_file
from kanon_sql.release.private import companion_rows
from kanon_sql.release.tables import companion_of


def owners_of(release: Source, path: Path | None, unit: str, tables: Scratch) -> tuple[Source | None, str]:
    """The rows of a release with the digests of their owners in the column `unit`; or None, and why they are unknown.

    `path`: of a release in a file. `tables`: embedded, to compare the rows with those of the release: they must be the
    same.
    """
    if path:
        file = private_file(path, PEOPLE)
        if not file.is_file():
            return None, f"there is no file {file} with them"
        with closing(tables.engine.embedded()) as reader:  # both as they were written, however the release is read
            written = Source(reader, reader.table(reader.read_written(path, file_format(path.name))))
            rows, table = _counted(tables, "standing", written, written.table), written.table
            kept = queries.select_all(reader.read_written(file, file_format(path.name)), reader.dialect)
            people = Source(tables.engine, tables.engine.table(tables.receive("people_rows", reader, kept)))
    else:
        table = release.table
        with_people = companion_of(release.engine, table.relation, PEOPLE)
        if with_people is None:
            return None, f"there is no table {companion(table.relation, PEOPLE).name} with them"
        rows = _counted(tables, "standing", release, table)
        people = Source(release.engine, with_people)
    columns = _comparable(table)
    if {*columns, unit} - {column.name for column in people.table.columns}:
        return None, "those that were kept are of another release"
    rows_of_people = _counted(tables, "known", people, table)
    compared: dict[str, queries.Hole] = {"one": rows, "other": rows_of_people, "columns": columns}
    ((differing,),) = tables.rows("privacy/differing_rows", n=["n"], n_other=["n"], **compared)
    return (None, "those that were kept are of another release") if differing else (people, "")


def waiting_changes(release: Source, unit: str | None) -> dict[str, Any] | None:
    """Who waits, in the form of a manifest's `deferred`; None if no one does, so that a release has its source's rows.

    From the companion that `kanon_sql.pipeline.merger` writes with a release in which changes wait.
    """
    if not release.files and queries.is_scratch(release.table.relation):
        return None
    rows = companion_rows(release.engine, release.files[0] if release.files else release.table.relation, DEFERRED)
    if not rows:
        return None
    return {
        "counted": "people" if unit else "rows",
        "waiting": sum(max(int(arrivals), int(departures)) for _, _, arrivals, departures in rows),
        "arrivals": sum(int(arrivals) for _, _, arrivals, _ in rows),
        "departures": sum(int(departures) for *_, departures in rows),
        "oldest": min(str(since) for _, since, *_ in rows),
    }


def _counted(tables: Scratch, stem: str, rows: Source, release: Table) -> Relation:
    """The rows of a release, or of its companion with owners, counted by all columns that can be compared."""
    columns = _comparable(release)
    query = queries.text("privacy/class_rows", rows.engine.dialect, release=rows.table.relation, columns=columns)
    return tables.receive(stem, rows.engine, query)


def _comparable(release: Table) -> list[str]:
    return [column.name for column in release.columns if column.kind != "other"]
