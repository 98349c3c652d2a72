"""The rows of a table on a server, fetched once to be counted here: grouping them once would cost the server more."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.plan.source import Source

MOST_BYTES = 1_000_000_000  # of all values; the server counts a larger table


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
