"""A release that keeps rows of the previous release, and leaves out new rows that wait for more changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.queries import Relation
from kanon_sql.release.pieces import Piece


@dataclass(frozen=True)
class MergedRows:
    """The rows that a recoding releases instead of its query's, in the engine of its source.

    `relation`: with a unit, also with the digest of every row's owner, in the column of the unit.
    `shown_people`: the people whom the recoding's own query shows. `notes`: private companions of the release about the
    changes that wait.
    """

    tables: Scratch
    relation: Relation
    rows: int
    shown_people: int | None = None
    notes: tuple[Piece, ...] = ()

    def sql(self, columns: Sequence[str], quasi_identifiers: Sequence[str]) -> str:
        """The query of these columns, sorted by their values, those of quasi-identifiers first."""
        order = [*quasi_identifiers, *(name for name in columns if name not in quasi_identifiers)]
        dialect = self.tables.engine.dialect
        return queries.text("deferral/shown_rows", dialect, columns=list(columns), merged=self.relation, order=order)


def merge_rows(
    tables: Scratch,
    fresh: Relation,
    columns: Sequence[str],
    texts: Mapping[str, str],
    waiting: Relation,
    standing: Relation,
) -> MergedRows:
    """Leave out the rows of a new release that wait, and add those of the standing release that stay.

    `texts`: columns whose equal values can differ in their texts, by other names. `waiting`, `standing`: in the same
    engine, with a row for every time; their types can differ from those of `fresh`.
    """
    typed = []
    for stem, rows in (("waiting_rows", waiting), ("standing_rows", standing)):
        table = tables.create(stem, "deferral/no_rows", columns=list(columns), fresh=fresh)
        tables.add(table, "frequency_sets/copy", columns=list(columns), source=rows)
        typed.append(table)
    without, added = typed
    merged = tables.create(
        "merged_rows",
        "deferral/merged_rows",
        columns=list(columns),
        texts=texts,
        fresh=fresh,
        waiting=without,
        standing=added,
    )
    return MergedRows(tables, merged, tables.count(merged))
