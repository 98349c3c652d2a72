"""ENUM types in a release: a type lists its values, so a column keeps its type only if all of them are released."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from kanon_sql.release.full_domain import FullDomain
from kanon_sql.release.local_recoding import LocalRecoding

AnyRecoding = TypeVar("AnyRecoding", bound=FullDomain | LocalRecoding)


def with_complete_enums(recoding: AnyRecoding) -> AnyRecoding:
    """The recoding, with the own type of every kept ENUM of which all values are released; the others become text.

    Only for a new table: in a view, and from night to night in a pipeline, other rows can be released later.
    """
    kept = set(recoding.columns) - set(recoding.quasi_identifiers)
    enums = [column for column in recoding.table.columns if column.name in kept and column.enum_values]
    if not enums:
        return recoding
    recoding.prepare()
    released = recoding.tables.view("released_enums", recoding.release_sql())
    complete = set()
    for column in enums:
        query = "frequency_sets/people"  # counts distinct values
        ((values,),) = recoding.tables.rows(query, relation=released, unit=[column.name])
        if values == column.enum_values:
            complete.add(column.name)
    recoding.tables.drop(released)
    columns = (replace(column, is_complete=column.name in complete) for column in recoding.table.columns)
    return replace(recoding, table=replace(recoding.table, columns=tuple(columns)))
