"""Tables read where they are counted or compared.

The rows of a table on a server are fetched once: grouping them once would cost the server more.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from kanon_sql import queries
from kanon_sql.engine import Table
from kanon_sql.engines.files import file_format
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SpecError
from kanon_sql.plan.source import Source
from kanon_sql.privacy import PrivacyModels
from kanon_sql.queries import Hole
from kanon_sql.release.findings import counted_columns

MOST_BYTES = 1_000_000_000  # of all values; the server counts a larger table
_FIRST_ROWS = 100_000  # that show whether nearly all rows differ; equal rows of a release are next to each other
_NEARLY_ALL = 0.8


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
def fetched_cells(
    source: Source, quasi_identifiers: Sequence[str], model: PrivacyModels, whole: Table | None
) -> Iterator[Source]:
    """The source, or a copy of the columns that models count, if counting them on its server would cost more.

    The server counts classes alone with as little work, and a few cells are sent faster than all rows. A server without
    temporary tables, such as Spark, would count the same cells again for every query.
    """
    counted, engine = counted_columns(model).values(), source.engine
    if engine.is_embedded or not counted or needs_server(model, source.table, whole):
        yield source
        return
    columns = list(dict.fromkeys([*quasi_identifiers, *counted]))
    if engine.has_temporary_tables and not _nearly_all_differ(source, columns):
        yield source
        return
    with fetched(source, columns) as near:
        yield near


def _nearly_all_differ(source: Source, columns: Sequence[str]) -> bool:
    """Whether nearly all of the first rows differ in some columns."""
    with Scratch(source.engine, "first") as tables:
        holes: dict[str, Hole] = {"columns": columns, "relation": source.table.relation}
        ((different, rows),) = tables.rows("kinds/first_cells", **holes, most=_FIRST_ROWS)
    return bool(different >= _NEARLY_ALL * rows)


@contextlib.contextmanager
def fetched(source: Source, columns: Sequence[str] | None = None) -> Iterator[Source]:
    """The source, or if its table is on a server, a copy of some of its columns in an embedded engine.

    `columns`: by default all that can be counted. The copy is only made where both engines find the same values equal.
    The other columns are described, but not copied.
    """
    countable = [column for column in source.table.columns if column.kind != "other"]
    copied = [column for column in countable if columns is None or column.name in columns]
    names = [column.name for column in copied]
    if columns is not None and not {*columns} <= {*names}:
        yield source
        return
    size = source.engine.bytes_to_send(source.table, names) if names else None
    if size is None or size > MOST_BYTES:
        yield source
        return
    with contextlib.closing(source.engine.embedded()) as near, Scratch(near, "fetched") as tables:
        text = queries.text("frequency_sets/copy", source.engine.dialect, columns=names, source=source.table.relation)
        relation = tables.receive("rows", source.engine, text, "frequency_sets/copy")
        if [column.kind for column in near.table(relation).columns] == [column.kind for column in copied]:
            yield replace(source, engine=near, table=replace(source.table, relation=relation, form="table"))
            return
    yield source  # a type of DuckDB cannot represent a number, such as NaN in a numeric column


def in_same_engine(tables: Scratch, role: str, source: Source) -> Source | None:
    """A view of a source's Parquet files in another embedded engine, which reads them faster than it receives rows."""
    if source.files_query is None or not all(file_format(str(path)) == "parquet" for path in source.fingerprints):
        return None
    view = tables.view(f"file_{role.replace(' ', '_')}", source.files_query)
    return replace(source, engine=tables.engine, table=replace(source.table, relation=view))
