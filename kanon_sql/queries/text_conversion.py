"""Converts the text of files to numbers, dates and NULL: the queries of files with their columns in other types."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from kanon_sql.privacy import Predicate
from kanon_sql.queries import tree as t
from kanon_sql.relation import Relation


@dataclass(frozen=True)
class Conversion:
    """How to read the values of a column: as which type of DuckDB, with which decimal mark or date format.

    `null`: the texts that mean a missing value. Without a mark or a format a value is cast; `of`: the original type, if
    not text, to which it must convert back. `pattern`: of its text, if stricter than the mark's.
    """

    type: str
    decimal: str | None = None
    date_format: str | None = None
    null: tuple[str, ...] = ()
    of: str | None = None
    pattern: str | None = None

    @property
    def fits(self) -> Predicate:
        """Whether `value`, a text, can be read like this without being lost or changed."""
        pattern = self.pattern or (number_pattern(self.decimal) if self.decimal else None)
        if pattern:
            return Predicate("REGEXP_FULL_MATCH(value, $pattern)", {"pattern": pattern})
        if self.date_format:
            # %Y reads 24 as the year 24.
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
    """The regular expression of numbers with a decimal mark, optionally in groups of three digits; not 02138.

    >>> [bool(re.fullmatch(number_pattern(","), text)) for text in ("1.234,5", " 12,50 ", "1.23,5", "02138", "1,234.5")]
    [True, True, False, False, False]
    """
    groups = [r"\." if decimal == "," else ",", "['\u2019]", "[ \u00a0\u202f]"]
    whole = "|".join(["0", "[1-9][0-9]*", *(f"[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+" for mark in groups)])
    return rf"\s*[-+]?(?:{whole})(?:{re.escape(decimal)}[0-9]+)?\s*"


LEADING_ZERO = r"\s*[-+]?0[0-9]+\s*"  # of a code rather than a number
PLAIN_NUMBER = r"\s*[-+]?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?\s*"
_TRIED = "TRY_STRPTIME(value, $format)"


def converted(
    source: Relation | str,
    columns: Sequence[str],
    ways: Mapping[str, Conversion],
    dialect: str,
    ages: Mapping[str, str] | None = None,
) -> str:
    """The query of the columns of a relation, or of a query that reads files, converted in these ways, or unchanged.

    `ages`: the column of dates at which another column, of dates of birth, becomes an age in whole years.
    """
    rows = t.table(source) if isinstance(source, Relation) else t.parsed(source).subquery("kanon_file")
    ages = ages or {}
    read = {name: _read(t.column(name), ways[name]) if name in ways else t.column(name) for name in columns}
    shown = {name: _age(value, read[ages[name]]) if name in ages else value for name, value in read.items()}
    query = exp.select(*(exp.alias_(value.copy(), name, quoted=True) for name, value in shown.items()))
    return t.printed(query.from_(rows), dialect)


_AGE = (
    "CAST(EXTRACT(YEAR FROM $day) - EXTRACT(YEAR FROM $born) - CASE WHEN EXTRACT(MONTH FROM $day) * 100 "
    "+ EXTRACT(DAY FROM $day) < EXTRACT(MONTH FROM $born) * 100 + EXTRACT(DAY FROM $born) THEN 1 ELSE 0 END AS INTEGER)"
)


def _age(born: exp.Expr, day: exp.Expr) -> exp.Expr:
    """The whole years between two dates; one born on 29 February is a year older on 1 March."""
    return t.expression(_AGE, born=born, day=day)


def _read(value: exp.Expr, way: Conversion) -> exp.Expr:
    if way.null:
        listed = exp.In(this=exp.cast(value.copy(), "VARCHAR"), expressions=list(map(t.literal, way.null)))
        value = exp.Case().when(listed, exp.null()).else_(value)
    if way.decimal:
        removed = exp.Literal.string("[^-+0-9,]" if way.decimal == "," else "[^-+0-9.]")
        value = _call("REGEXP_REPLACE", value, removed, exp.Literal.string(""), exp.Literal.string("g"))
        if way.decimal != ".":
            value = _call("REPLACE", value, exp.Literal.string(way.decimal), exp.Literal.string("."))
    elif way.date_format:
        value = _call("STRPTIME", value, exp.Literal.string(way.date_format))
    return t.opened(value, way.type)


def _call(name: str, *arguments: exp.Expr) -> exp.Expr:
    # sqlglot's own functions would translate a date format, and accept fewer arguments.
    return exp.Anonymous(this=name, expressions=list(arguments))
