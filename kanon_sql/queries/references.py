"""Statements as the text of dbt models: with refs for relations, and braces escaped from Jinja."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from kanon_sql.queries import dialects
from kanon_sql.queries import tree as t
from kanon_sql.queries.inlined_tables import WrittenTable


def escaped(text: str) -> str:
    """A text that Jinja outputs unchanged.

    >>> escaped("{{ a }} {% b %} {# c #} {d}")
    "{{ '{{' }} a }} {{ '{%' }} b %} {{ '{#' }} c #} {d}"
    """
    return _OPENS.sub(lambda found: f"{{{{ '{found[0]}' }}}}", text)


def unescaped(text: str) -> str:
    """The text that was escaped.

    >>> unescaped(escaped("{{ a }} {% b"))
    '{{ a }} {% b'
    """
    return _ESCAPED.sub(lambda found: found[1], text)


_ESCAPED = re.compile(r"\{\{ '(\{[{%#])' \}\}")
_OPENS = re.compile(r"\{[{%#]")


def with_references(sql: str, dialect: str, references: Mapping[str, str]) -> str:
    """A statement with Jinja in place of the relations that it reads under these names; the rest of it escaped.

    >>> with_references("SELECT 'FROM a', a.a FROM a AS a", "duckdb", {"a": "{{ ref('b') }}"})
    "SELECT 'FROM a', a.a FROM {{ ref('b') }} AS a"
    """
    return dialects.with_relations(sql, dialect, references, escaped)


def type_in(name: str, engine: str, dialect: str) -> str:
    """A type by its name in an engine, in the words of a dialect.

    >>> type_in("character varying(9)", "postgres", "bigquery"), type_in("INTEGER", "duckdb", "snowflake")
    ('STRING(9)', 'INT')
    """
    return dialects.printed(exp.DataType.build(name, dialect=engine, udt=True), dialect)


@dataclass(frozen=True)
class Seed:
    """A table of a statement as a seed of dbt: CSV of the rows that all readers read the same, and the other rows.

    A reader might read an empty text as NULL, trim blanks, or guess at quotes; such rows stay in the statement.
    """

    table: WrittenTable

    @property
    def text(self) -> str | None:
        """The CSV file; None if no row can be in it."""
        rows = [texts for texts in map(_texts, self.table.rows) if _is_plain(texts)]
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows([self.table.columns, *rows])
        return written.getvalue() if rows else None

    def types(self, dialect: str) -> dict[str, str]:
        """The types of its columns in a dialect."""
        kinds = zip(self.table.columns, self.table.types, strict=True)
        return {name: dialects.printed(kind.copy(), dialect) for name, kind in kinds}

    def read_as(self, reference: str, dialect: str) -> str:
        """The replacement of the table in a statement: the seed, and the rows that are not in it."""
        left = [self._row(row) for row in self.table.rows if not _is_plain(_texts(row))]
        if not left:
            return reference
        columns = [t.column(name) for name in self.table.columns]
        seed = [exp.select(*columns).from_(exp.to_table(self.table.name))] if self.text else []
        query = t.union([*seed, *left])
        return f"({with_references(dialects.printed(query, dialect), dialect, {self.table.name: reference})})"

    def _row(self, row: tuple[object, ...]) -> exp.Select:
        cells = zip(row, self.table.types, self.table.columns, strict=True)
        return exp.select(
            *(exp.alias_(exp.Cast(this=exp.convert(v), to=k.copy()), n, quoted=True) for v, k, n in cells)
        )


def _texts(row: tuple[object, ...]) -> list[str | None]:
    return [_text(value) for value in row]


def _text(value: object) -> str | None:
    if value is None or isinstance(value, exp.Null):
        return None
    if isinstance(value, exp.Cast):
        return _text(value.this)
    if isinstance(value, exp.Expr):
        return value.name
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_plain(texts: list[str | None]) -> bool:
    return all(text is None or (_PLAIN.fullmatch(text) and text.lower() != "null") for text in texts)


_PLAIN = re.compile(r"[^\s\"'\\#]([^\n\r\t\x00-\x1f\"'\\]*[^\s\"'\\])?")
