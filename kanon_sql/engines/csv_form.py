"""The form of CSV files, which DuckDB sniffs in all their rows, and strict loading by a given form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql import queries
from kanon_sql.engines.files import quoted_path
from kanon_sql.engines.headers import (
    EncodingError,
    csv_head,
    csv_names_and_rows,
    first_row,
    parted,
    separators,
    strict_options,
)
from kanon_sql.errors import SourceError
from kanon_sql.queries import Relation
from kanon_sql.spec import Reading

_NONE = "(empty)"
# An apostrophe at the start of a field and one at the end of a field some lines below are not quotes around both rows.
_ONE_LINE = "CASE WHEN regexp_matches(CAST(kanon_line AS VARCHAR), '[\\r\\n]') THEN error('two lines') ELSE TRUE END"
# Without `comment`, DuckDB can take a row that starts with # for a comment and leave it out.
_SNIFF = """
SELECT Delimiter, Quote, Escape, SkipRows, Columns, DateFormat, TimestampFormat
FROM sniff_csv($path, header = TRUE, sample_size = -1, comment = '')
WHERE HasHeader
"""


@dataclass(frozen=True)
class CSVForm:
    """The form of a file: its separator and quotes, blank lines above its names, its columns and their types.

    `date_formats`: the formats of dates that are not ISO. `quoted`: whether any field is in quotes.
    """

    separator: str
    quote: str
    escape: str
    blank_lines: int
    columns: tuple[tuple[str, str], ...]
    date_formats: tuple[tuple[str, str], ...] = ()
    quoted: bool = False

    @property
    def has_odd_dates(self) -> bool:
        """Whether dates are ambiguous for DuckDB: 01/02/24 could be one of 2001."""
        return any(not text.startswith("%Y") for _, text in self.date_formats)

    @property
    def has_points(self) -> bool:
        """Whether a point in numbers could separate thousands, since there could be decimal commas."""
        return (self.separator != "," or self.quoted) and any(kind == "VARCHAR" for _, kind in self.columns)

    def as_text(self, names: Set[str]) -> CSVForm:
        """The same form with some columns as text."""
        columns = tuple((name, "VARCHAR" if name in names else kind) for name, kind in self.columns)
        return replace(self, columns=columns, date_formats=() if self.has_odd_dates else self.date_formats)

    @property
    def is_standard(self) -> bool:
        """Whether quotes are double ones, doubled inside, as in RFC 4180."""
        return (self.quote, self.escape) == ('"', '"')


Forms = Mapping[CSVForm, Sequence[Path]]  # form -> files


@dataclass(frozen=True)
class LoadedCSV:
    """CSV files that were loaded: the types that DuckDB sniffed in columns loaded as text, and the first line.

    `first_line`: of the rows of a single file. `separator`: of all files, None if they have several.
    """

    types: Mapping[str, str]
    first_line: int | None = None
    separator: str | None = None


def load_csv(
    connection: duckdb.DuckDBPyConnection,
    pattern: str,
    paths: Sequence[Path],
    relation: Relation,
    guessing: str,
    reading: Reading,
) -> LoadedCSV:
    """Load CSV files into a temporary table: they are parsed once for their form, and once for their rows.

    Columns with options, and columns whose type DuckDB might misjudge, are loaded as text. `guessing`: the query with
    DuckDB's own detection, for files with odd lines and for columns with different types in different files, which only
    it distinguishes from empty columns. SourceError if it would lose a row, EncodingError if a file is not in UTF-8.
    """
    found = _forms(paths, reading.delimiter)
    types = _as_text(found or (), reading)
    forms = None if found is None else _read_as_text(found, set(types))
    if not (forms and _types_agree(forms) and _load_strictly(connection, forms, relation)):
        plain = forms is not None and not _types_agree(forms) and all(form.is_standard for form in forms)
        written = [] if plain else [csv_names_and_rows(path, reading.delimiter) for path in paths]
        values: dict[str, Any] = {"types": dict.fromkeys(types, "VARCHAR")} if types else {}
        values |= {"delim": reading.delimiter} if reading.delimiter else {}
        options = "".join(f", {name} = ${name}" for name in values)
        query = f"{guessing.removesuffix(')')}{options})"
        connection.execute(queries.create_as(relation, query, "duckdb", temporary=True), values)
        if problem := _lost(connection, relation, written):
            connection.execute(queries.drop(relation, "duckdb"))
            raise SourceError(f"{pattern} {problem}")
    separators_ = {form.separator for form in forms or ()}
    first = next(iter(forms)).blank_lines + 2 if forms and len(paths) == 1 else None
    separator = reading.delimiter or (separators_.pop() if len(separators_) == 1 else None)
    return LoadedCSV(types, first, separator)


def load_form(connection: duckdb.DuckDBPyConnection, path: Path, form: CSVForm, relation: Relation) -> None:
    """Load a CSV file that we wrote."""
    if not _load_strictly(connection, {form: [path]}, relation):
        raise SourceError(f"the copy {path.name} cannot be read; run again")


def _as_text(forms: Iterable[CSVForm], reading: Reading) -> dict[str, str]:
    """The columns to load as text, with the types that DuckDB sniffed, as far as these can be trusted."""
    types: dict[str, str] = {}
    for form in forms:
        for name, kind in form.columns:
            options, own = reading.of(name), reading.columns.get(name)
            dated = kind in ("DATE", "TIMESTAMP") and form.has_odd_dates
            numbered = kind == "DOUBLE" and (form.has_points or options.decimal == ",")
            if own or options.null or dated or numbered:
                trusted = "VARCHAR" if dated or types.get(name, kind) != kind else kind
                types[name] = trusted
    return types


def _read_as_text(forms: Forms, names: Set[str]) -> Forms:
    read: dict[CSVForm, list[Path]] = {}
    for form, paths in forms.items():
        read.setdefault(form.as_text(names), []).extend(paths)
    return read


def _forms(paths: Sequence[Path], separator: str | None) -> Forms | None:
    """The forms of files; None if one of them is not plain CSV below a line of names."""
    forms: dict[CSVForm, list[Path]] = {}
    for path in paths:
        form = _sniffed(path, separator)
        if form is None:
            return None
        forms.setdefault(form, []).append(path)
    return forms


def _types_agree(forms: Forms) -> bool:
    """Whether columns with the same name have the same type in all files."""
    types = {(name.lower(), type_name) for form in forms for name, type_name in form.columns}
    return len(types) == len({name for name, _ in types})


def _load_strictly(connection: duckdb.DuckDBPyConnection, forms: Forms, relation: Relation) -> bool:
    """Load files whose types agree; False, without a table, if a line has another form."""
    query = " UNION ALL BY NAME ".join(_reader(number, form) for number, form in enumerate(forms))
    statement = queries.create_as(relation, query, "duckdb", temporary=True)
    try:
        connection.execute(statement, dict(chain.from_iterable(map(_values, count(), forms, forms.values()))))
    except (duckdb.InvalidInputException, duckdb.ConversionException):
        return False
    return True


def _lost(
    connection: duckdb.DuckDBPyConnection, relation: Relation, written: Sequence[tuple[Sequence[str], int]]
) -> str | None:
    """The problem if the rows read from odd files are not all that the files have."""
    if not written:
        return None
    columns = len(connection.execute(f"DESCRIBE {queries.select_all(relation, 'duckdb')}").fetchall())
    if len(written) == 1 and columns != len(written[0][0]):
        first = len(written[0][0])
        columns_found = f"has {first} column{'' if first == 1 else 's'} by its first line and {columns} by the others"
        return f"{columns_found}; put fields that contain a separator in quotes"
    ((rows,),) = connection.execute(queries.text("frequency_sets/row_count", "duckdb", relation=relation)).fetchall()
    lines = sum(counted for _, counted in written)
    if rows == lines:
        return None
    rows_found = f"has {lines:,} rows by its lines, and {rows:,} as DuckDB reads it"
    return f"{rows_found}; write it again with one line of names, and fields in double quotes"


def _reader(number: int, form: CSVForm) -> str:
    """The query that reads the files of a form, and fails at a line of another form."""
    dates = "".join(f", {option} = ${option}_{number}" for option, _ in form.date_formats)
    query = f"SELECT * FROM read_csv({strict_options(f'_{number}')}{dates}) AS kanon_line"
    return query if form.is_standard else f"{query} WHERE {_ONE_LINE}"


def _values(number: int, form: CSVForm, paths: Sequence[Path]) -> Iterator[tuple[str, Any]]:
    values: dict[str, Any] = {
        "path": [quoted_path(str(path)) for path in paths],
        "columns": dict(form.columns),
        "separator": form.separator,
        "quote": form.quote,
        "escape": form.escape,
        "skip": form.blank_lines,
        **dict(form.date_formats),
    }
    return ((f"{option}_{number}", value) for option, value in values.items())


def _sniffed(path: Path, separator: str | None) -> CSVForm | None:
    head, values = csv_head(path), {"path": quoted_path(str(path))}
    marks, sniff = separators(head, separator), _SNIFF
    if separator and separator not in head:
        raise SourceError(f"{path} has no {separator!r} between its fields; name another `delimiter`, or leave it out")
    if len(marks) == 1 and marks[0] in head:  # otherwise a decimal comma in every row could count as the separator
        sniff, values = sniff.replace("$path,", "$path, delim = $separator,"), {**values, "separator": marks[0]}
    try:
        sniffed = duckdb.cursor().execute(sniff, values).fetchall()
    except duckdb.InvalidInputException as error:
        if "not utf-8 encoded" in str(error):
            raise EncodingError(f"{path} is not in UTF-8; set its `encoding`") from None
        return None
    return next((_plain(head, separator, *row) for row in sniffed), None)


def _plain(
    head: str,
    given: str | None,
    separator: str,
    quote: str,
    escape: str,
    blank: int,
    described: Sequence[Mapping[str, str]],
    *dates: str,
) -> CSVForm | None:
    columns = tuple((column["name"], column["type"]) for column in described)
    blank_lines, below = parted(head, blank)
    quoted, quote = quote != _NONE, '"' if quote == _NONE else quote
    escape = quote if escape == _NONE else escape
    header = first_row(below, separator, quote, escape) or []
    # DuckDB accepts another separator or a later line as names if that fits better, and renames equal ones.
    if blank_lines.strip() or separator not in separators(below, given) or len(header) != len(columns):
        return None
    if any(text.strip() not in ("", name) for text, (name, _) in zip(header, columns, strict=True)):
        return None
    formats = zip(("dateformat", "timestampformat"), dates, strict=True)
    date_formats = tuple((option, text) for option, text in formats if text)
    return CSVForm(separator, quote, escape, blank, columns, date_formats, quoted)
