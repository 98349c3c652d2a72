"""A large release in DuckDB: labels as ENUMs, and the kinds of rows counted where these are few.

A few statements go before that of the release; each takes a fraction of what it saves from some 100,000 rows on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import KanonError
from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.queries import CountedRelease, Relation

LARGE = 100_000  # rows from which on it pays
_MOST_LABELS = 1_000  # in the dictionary of a column, which every group of rows in a file begins with
_CLASSES = "large_classes", "List the classes of the release, each with what it shows."
_KINDS = "large_kinds", "Count the rows of every kind that is released."


def release_sql(tables: Scratch, query: CountedRelease, frequency_set: FrequencySet, encoded: bool) -> str | None:
    """Prepare a large release, and give its query; None where nothing is gained.

    `encoded`: whether it is written to where an ENUM is text with a dictionary, as in a Parquet file.
    """
    if not all(shown.of.plain for shown in query.kept):
        return None  # equal values that look different are sorted by their looks too
    counted = _has_few_kinds(tables, query, frequency_set)
    if query.shuffle_seed is not None and not counted:
        return None
    encoded = encoded and counted  # what is sorted row by row is written by several threads, which an ENUM is not
    classes, texts = _classes(tables, query, encoded and not query.masks)
    if not counted:
        return query.rows_sql(classes, texts)
    kinds_of = query.of_rows_sql(classes) if query.kept else query.of_frequency_set_sql(frequency_set.relation, classes)
    kinds = tables.create_as("large_kinds", kinds_of, *_KINDS)
    return query.repeated_sql(_with_few_values(tables, query, kinds) if encoded else kinds, texts)


def _has_few_kinds(tables: Scratch, query: CountedRelease, frequency_set: FrequencySet) -> bool:
    """Whether at most every other row is of a kind of its own."""
    if not query.kept:
        return True
    if not all(shown.of.sortable for shown in query.kept):
        return False
    ((values,),) = tables.rows_as(query.kept_values_sql())
    ((kinds,),) = tables.rows_as(query.most_kinds_sql(frequency_set.relation, int(values)))
    return bool(kinds * 2 <= frequency_set.rows)


def _classes(tables: Scratch, query: CountedRelease, encoded: bool) -> tuple[Relation, set[str]]:
    """The classes with what they show, texts as ENUMs; and those columns of them that are to be written as text."""
    if not query.keys:
        return tables["large_classes"], set()
    shown = tables.create_as("large_shown", query.shown_sql(), *_CLASSES)
    columns = _texts(tables, shown)
    with _types(tables, shown, columns) as types:
        ((*labels,),) = tables.rows_as(queries.label_counts(types)) if types else ((),)
        classes = _typed(tables, "large_classes", shown, dict(zip(columns, types, strict=True)))
    many = {name for name, number in zip(columns, labels, strict=True) if number > _MOST_LABELS}
    return classes, many if encoded else set(columns)


def _with_few_values(tables: Scratch, query: CountedRelease, kinds: Relation) -> Relation:
    """The kinds of rows, kept texts of few values as ENUMs."""
    kept = {shown.inner for shown in query.kept}
    columns = [name for name in _texts(tables, kinds) if name in kept]
    if not columns:
        return kinds
    ((*values,),) = tables.rows_as(queries.text_counts(kinds, columns))
    few = [name for name, number in zip(columns, values, strict=True) if number <= _MOST_LABELS]
    with _types(tables, kinds, few) as types:
        return _typed(tables, "large_encoded", kinds, dict(zip(few, types, strict=True)))


@contextmanager
def _types(tables: Scratch, relation: Relation, columns: Sequence[str]) -> Iterator[list[str]]:
    """The names of ENUMs of the texts in columns, while they are there: what is made of them stays."""
    types = [tables[f"type_{name}"].name for name in columns]
    made = []
    try:
        for name, column in zip(types, columns, strict=True):
            tables.engine.run(queries.label_type(name, relation, column))
            made.append(name)
        yield types
    finally:
        for name in made:
            with suppress(KanonError):  # after an error the transaction may be lost, and they with it
                tables.engine.run(queries.drop_type(name))


def _typed(tables: Scratch, stem: str, relation: Relation, types: dict[str, str]) -> Relation:
    """A relation with columns in these types, in place of the relation."""
    columns = [column.name for column in tables.engine.table(relation).columns]
    made = tables.create_as(stem, queries.typed_columns(relation, columns, types))
    tables.drop(relation)
    return made


def _texts(tables: Scratch, relation: Relation) -> list[str]:
    """The columns of a relation that hold texts."""
    return [column.name for column in tables.engine.table(relation).columns if column.type == "VARCHAR"]
