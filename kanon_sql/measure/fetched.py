"""The rows of a table on a server, fetched once to be counted here: grouping them once would cost the server more."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from kanon_sql import queries
from kanon_sql.engine import Table
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.plan.source import Source
from kanon_sql.privacy import PrivacyModels

MOST_BYTES = 1_000_000_000  # of all values; the server counts a larger table


def needs_server(model: PrivacyModels, table: Table, whole: Table | None = None) -> bool:
    """Whether only the server of a table can compare its values with those of a population, or of the whole table.

    A copy would have types of its own, and engines print decimal numbers and times differently.
    """
    columns = [model.sensitive[name] for name in model.compared] if whole else []
    kinds = [{other.name: other.kind for other in described.columns} for described in (table, whole) if described]
    unlike = [
        name for name in columns if len({kind.get(name) for kind in kinds}) > 1 or kinds[0].get(name) == "decimal"
    ]
    return bool(unlike) or model.population is not None


@contextlib.contextmanager
def copied_here(source: Source, verb: str) -> Iterator[Source]:
    """The same copy of a table on a server without temporary tables, such as Spark; SpecError if there can be none."""
    with fetched(source) as copy:
        if copy is source:
            raise SpecError(
                f"{verb} copies the rows of {source.engine.name} to the client, but these take more than 1 GB, or have "
                "numbers that DuckDB does not have; release to a Parquet file with `output`, or name a view with fewer "
                "columns"
            )
        yield copy


@contextlib.contextmanager
def fetched(source: Source) -> Iterator[Source]:
    """The source, or if its table is on a server, a copy of all columns that can be counted, in an embedded engine.

    The copy is only made where both engines find the same values equal, and within a transaction of the caller. Columns
    of the kind `other` are described, but not copied.
    """
    columns = [column for column in source.table.columns if column.kind != "other"]
    names = [column.name for column in columns]
    size = source.engine.bytes_to_send(source.table, names) if columns else None
    if size is None or size > MOST_BYTES:
        yield source
        return
    with contextlib.closing(source.engine.embedded()) as near, Scratch(near, "fetched") as tables:
        text = queries.text("frequency_sets/copy", source.engine.dialect, columns=names, source=source.table.relation)
        relation = tables.receive("rows", source.engine, text, "frequency_sets/copy")
        if [column.kind for column in near.table(relation).columns] == [column.kind for column in columns]:
            yield replace(source, engine=near, table=replace(source.table, relation=relation, form="table"))
            return
    yield source  # a type of DuckDB cannot represent a number, such as NaN in a numeric column
