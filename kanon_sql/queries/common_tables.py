"""Queries as common table expressions of one statement, where other callers create temporary tables from them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kanon_sql.queries import tree as t
from kanon_sql.relation import Relation

_NAME = re.compile(r"(?<![\w.])\"?(kanon_[A-Za-z_0-9]+)\"?(?![\w.])")


@dataclass
class CommonTables:
    """Names the results of queries, as `Scratch` does, and prints them as one statement: `WITH … SELECT …`.

    Only the queries that the statement needs become part of it. Those that it reads several times are materialized, so
    that a number of a row is the same wherever it is read.

    >>> tables = CommonTables("duckdb")
    >>> rows = tables.create_as("rows", "SELECT 1 AS n")
    >>> twice = tables.create_as("twice", f"SELECT n FROM {rows.name} UNION ALL SELECT n FROM {rows.name}")
    >>> unused = tables.create_as("unused", "SELECT 2 AS n")
    >>> tables.statement(f"SELECT n FROM {twice.name}")[:52]
    'WITH kanon_rows AS MATERIALIZED (SELECT 1 AS n), kan'
    """

    dialect: str
    _texts: dict[str, str] = field(default_factory=dict)

    def create(self, stem: str, query: str, /, **holes: t.Hole) -> Relation:
        """Name the result of a query of `sql/` ("subject/query")."""
        return self.create_as(stem, t.text(query, self.dialect, **holes))

    def create_as(self, stem: str, text: str) -> Relation:
        """Name the result of a ready query."""
        name, number = f"kanon_{stem}", 1
        while name in self._texts:
            number += 1
            name = f"kanon_{stem}_x{number}"
        self._texts[name] = text
        return Relation(name)

    def statement(self, query: str) -> str:
        """A query that reads named results, with those that it needs."""
        uses = dict.fromkeys(self._texts, 0)
        for used in self._used_in(query):
            uses[used] += 1
        # A result is read only by later ones.
        for name in reversed(self._texts):
            if uses[name]:
                for used in self._used_in(self._texts[name]):
                    uses[used] += 1
        tables = [
            f"{name} AS {'MATERIALIZED ' if uses[name] > 1 else ''}({text})"
            for name, text in self._texts.items()
            if uses[name]
        ]
        return f"WITH {', '.join(tables)} {query}"

    def _used_in(self, text: str) -> list[str]:
        """The names of results in a text, as often as they occur."""
        return [name for name in _NAME.findall(text) if name in self._texts]
