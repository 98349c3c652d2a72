"""A large release in DuckDB: labels as ENUMs, and rows counted by kind if there are few kinds.

This takes a few more statements, which save several times their cost from about 100,000 rows on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import KanonError
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.queries import CountedRelease, Relation

LARGE = 100_000  # minimum number of rows
_MOST_LABELS = 1_000  # in a column's dictionary, which is repeated in every row group of a file
_CLASSES = "large_classes", "List the classes of the release with their labels."
_KINDS = "large_kinds", "Count the rows of every kind that is released."


def release_sql(tables: Scratch, query: CountedRelease, frequency_set: FrequencySet, encoded: bool) -> str | None:
    """Prepare a large release, and return its query; None if nothing is gained.

    The query reads new tables: the rows of a release and those with its people are prepared before either is written.
    `encoded`: whether the output has ENUMs as text with a dictionary, as a Parquet file.
    """
    if not all(shown.of.plain for shown in query.kept):
        return None  # such values are also sorted by their appearance
    counted = _has_few_kinds(tables, query, frequency_set)
    if query.shuffle_seed is not None and not counted:
        return None
    encoded = encoded and counted  # rows sorted one by one are written by several threads, ENUMs by a single one
    classes, texts = _classes(tables, query, encoded and not query.masks)
    if not counted:
        return query.rows_sql(classes, texts)
    kinds_of = query.of_rows_sql(classes) if query.kept else query.of_frequency_set_sql(frequency_set.relation, classes)
    kinds = tables.create_as(tables.unused("large_kinds"), kinds_of, *_KINDS)
    return query.repeated_sql(_with_few_values(tables, query, kinds) if encoded else kinds, texts)


def _has_few_kinds(tables: Scratch, query: CountedRelease, frequency_set: FrequencySet) -> bool:
    """Whether there are at most half as many kinds of rows as rows."""
    if not query.kept:
        return True
    if not all(shown.of.sortable for shown in query.kept):
        return False
    ((values,),) = tables.rows_as(query.kept_values_sql())
    ((kinds,),) = tables.rows_as(query.most_kinds_sql(frequency_set.relation, int(values)))
    return bool(kinds * 2 <= frequency_set.rows)


def _classes(tables: Scratch, query: CountedRelease, encoded: bool) -> tuple[Relation, set[str]]:
    """The classes with their labels, as ENUMs; and the columns that must be converted back to text."""
    if not query.keys:
        return tables["large_classes"], set()
    shown = tables.create_as(tables.unused("large_shown"), query.shown_sql(), *_CLASSES)
    columns = text_columns(tables, shown)
    with text_types(tables, shown, columns) as types:
        ((*labels,),) = tables.rows_as(queries.label_counts(types)) if types else ((),)
        classes = _typed(tables, tables.unused("large_classes"), shown, dict(zip(columns, types, strict=True)))
    many = {name for name, number in zip(columns, labels, strict=True) if number > _MOST_LABELS}
    return classes, many if encoded else set(columns)


def _with_few_values(tables: Scratch, query: CountedRelease, kinds: Relation) -> Relation:
    """The kinds of rows, with ENUMs for texts of few values."""
    kept = {shown.inner for shown in query.kept}
    columns = [name for name in text_columns(tables, kinds) if name in kept]
    if not columns:
        return kinds
    ((*values,),) = tables.rows_as(queries.text_counts(kinds, columns))
    few = [name for name, number in zip(columns, values, strict=True) if number <= _MOST_LABELS]
    with text_types(tables, kinds, few) as types:
        return _typed(tables, tables.unused("large_encoded"), kinds, dict(zip(few, types, strict=True)))


@contextmanager
def text_types(tables: Scratch, relation: Relation, columns: Sequence[str]) -> Iterator[list[str]]:
    """Names of ENUM types for the texts of columns, which exist during the block; tables with these types stay."""
    types = [tables[f"type_{name}"].name for name in columns]
    created = []
    try:
        for name, column in zip(types, columns, strict=True):
            tables.engine.run(queries.label_type(name, relation, column))
            created.append(name)
        yield types
    finally:
        for name in created:
            with suppress(KanonError):  # an error can have rolled back the transaction and the types with it
                tables.engine.run(queries.drop_type(name))


def _typed(tables: Scratch, stem: str, relation: Relation, types: dict[str, str]) -> Relation:
    """A copy of a relation with columns of these types, which replaces it."""
    columns = [column.name for column in tables.engine.table(relation).columns]
    copy = tables.create_as(stem, queries.typed_columns(relation, columns, types))
    tables.drop(relation)
    return copy


def text_columns(tables: Scratch, relation: Relation) -> list[str]:
    """The text columns of a relation."""
    return [column.name for column in tables.engine.table(relation).columns if column.type == "VARCHAR"]
