"""How the text of files becomes numbers, dates and NULL: the queries of a file as its columns are to be read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from kanon_sql.privacy import Predicate
from kanon_sql.queries import tree as t
from kanon_sql.relation import Relation


@dataclass(frozen=True)
class Conversion:
    """How the values of a column are read: to which type of DuckDB, by which decimal mark or format of dates.

    `null`: the texts that mean that there is no value. Without a mark or a format a value is cast; `of`: from a type
    into which it must go back, where it is no text. `pattern`: of its text, where that is less than the mark allows.
    """

    type: str
    decimal: str | None = None
    date_format: str | None = None
    null: tuple[str, ...] = ()
    of: str | None = None
    pattern: str | None = None

    @property
    def fits(self) -> Predicate:
        """Whether `value`, a text, can be read so: no value is lost, or becomes another."""
        pattern = self.pattern or (number_pattern(self.decimal) if self.decimal else None)
        if pattern:
            return Predicate("REGEXP_FULL_MATCH(value, $pattern)", {"pattern": pattern})
        if self.date_format:
            # %Y takes 24 for a year of antiquity.
            long_ago = f"YEAR({_TRIED}) < 1000" if "%Y" in self.date_format else "FALSE"
            return Predicate(f"{_TRIED} IS NOT NULL AND NOT {long_ago}", {"format": self.date_format})
        if self.of:
            return Predicate(f"TRY_CAST(TRY_CAST(value AS {self.type}) AS {self.of}) = value")
        return Predicate(f"TRY_CAST(value AS {self.type}) IS NOT NULL")

    @property
    def missing(self) -> Predicate:
        """Whether `value` is one of the texts that mean NULL."""
        if not self.null:
            return Predicate("FALSE")
        names = [f"null{number}" for number in range(len(self.null))]
        listed = ", ".join(f"${name}" for name in names)
        return Predicate(f"CAST(value AS VARCHAR) IN ({listed})", dict(zip(names, self.null, strict=True)))


def number_pattern(decimal: str) -> str:
    """The regular expression of numbers with a decimal mark, in groups of three digits or not; no 02138.

    >>> [bool(re.fullmatch(number_pattern(","), text)) for text in ("1.234,5", " 12,50 ", "1.23,5", "02138", "1,234.5")]
    [True, True, False, False, False]
    """
    groups = [r"\." if decimal == "," else ",", "['\u2019]", "[ \u00a0\u202f]"]
    whole = "|".join(["0", "[1-9][0-9]*", *(f"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+" for mark in groups)])
    return rf"\s*[-+]?(?:{whole})(?:{re.escape(decimal)}[0-9]+)?\s*"


LEADING_ZERO = r"\s*[-+]?0[0-9]+\s*"  # of a code, which is no number
PLAIN_NUMBER = r"\s*[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?\s*"
_TRIED = "TRY_STRPTIME(value, $format)"


def converted(source: Relation, columns: Sequence[str], ways: Mapping[str, Conversion], dialect: str) -> str:
    """The query of a relation's columns, each read in its way, or as it is."""
    return t.printed(_selected(columns, ways).from_(t.table(source)), dialect)


def files_converted(read: str, columns: Sequence[str], ways: Mapping[str, Conversion], dialect: str) -> str:
    """The same of the query of some files."""
    files = sqlglot.parse_one(read, "duckdb")
    assert isinstance(files, exp.Query)
    return t.printed(_selected(columns, ways).from_(files.subquery("kanon_file")), dialect)


def _selected(columns: Sequence[str], ways: Mapping[str, Conversion]) -> exp.Select:
    shown = {name: _read(t.column(name), ways[name]) if name in ways else t.column(name) for name in columns}
    return exp.select(*(exp.alias_(value, name, quoted=True) for name, value in shown.items()))


def _read(value: exp.Expr, way: Conversion) -> exp.Expr:
    if way.null:
        listed = exp.In(this=exp.cast(value.copy(), "VARCHAR"), expressions=list(map(t.literal, way.null)))
        value = exp.Case().when(listed, exp.null()).else_(value)
    if way.decimal:
        kept = exp.Literal.string("[^-+0-9,]" if way.decimal == "," else "[^-+0-9.]")
        value = _call("REGEXP_REPLACE", value, kept, exp.Literal.string(""), exp.Literal.string("g"))
        if way.decimal != ".":
            value = _call("REPLACE", value, exp.Literal.string(way.decimal), exp.Literal.string("."))
    elif way.date_format:
        value = _call("STRPTIME", value, exp.Literal.string(way.date_format))
    return t.opened(value, way.type)


def _call(name: str, *given: exp.Expr) -> exp.Expr:
    # Not sqlglot's own functions: they would translate a format of dates, and know fewer arguments.
    return exp.Anonymous(this=name, expressions=list(given))
