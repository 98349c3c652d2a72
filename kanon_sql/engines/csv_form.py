"""The form of CSV files, which DuckDB sees in all their rows, and the strict loading of files of one form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from kanon_sql import queries
from kanon_sql.engines.files import quoted_path
from kanon_sql.engines.headers import STRICT, csv_head, first_row, separators
from kanon_sql.queries import Relation


@dataclass(frozen=True)
class CSVForm:
    """The separator of a file, the name and the type of each column, and how its dates are written if not by ISO."""

    separator: str
    columns: tuple[tuple[str, str], ...]
    date_formats: tuple[tuple[str, str], ...] = ()

    def load(self, connection: duckdb.DuckDBPyConnection, pattern: str, relation: Relation) -> bool:
        """Load the rows of files into a temporary table; False, and no table, if a line is of another form."""
        given = {"path": quoted_path(pattern), "separator": self.separator, "columns": dict(self.columns)}
        dates = "".join(f", {option} = ${option}" for option, _ in self.date_formats)
        rows = f"SELECT * FROM read_csv({STRICT}{dates})"
        made = queries.create_as(relation, rows, "duckdb", temporary=True)
        try:
            connection.execute(made, {**given, **dict(self.date_formats)})
        except (duckdb.InvalidInputException, duckdb.ConversionException):
            return False
        return True


def csv_form(paths: Sequence[Path]) -> CSVForm | None:
    """The one form of some files; None if they have several, or one of them is not plain CSV below a line of names."""
    first, *others = (_sniffed(path) for path in paths)
    return first if all(form == first for form in others) else None


def _sniffed(path: Path) -> CSVForm | None:
    try:
        sniffed = duckdb.execute(_SNIFF, {"path": quoted_path(str(path))}).fetchall()
    except duckdb.InvalidInputException:
        return None
    return next((_plain(csv_head(path), *row) for row in sniffed), None)


def _plain(head: str, separator: str, described: Sequence[Mapping[str, str]], *formats: str | None) -> CSVForm | None:
    columns = tuple((column["name"], column["type"]) for column in described)
    header = first_row(head, separator) or []
    # DuckDB takes another separator or a later line for the names if that suits it, and renames equal ones.
    if separator != separators(head)[0] or len(header) != len(columns):
        return None
    if any(given.strip() not in ("", name) for given, (name, _) in zip(header, columns, strict=True)):
        return None
    dates = zip(("dateformat", "timestampformat"), formats, strict=True)
    return CSVForm(separator, columns, tuple((option, text) for option, text in dates if text))


# No row if the file has a preamble, or other quotes. Without `comment` a row that starts with # would be left out.
_SNIFF = """
SELECT Delimiter, Columns, DateFormat, TimestampFormat
FROM sniff_csv($path, header = TRUE, sample_size = -1, comment = '')
WHERE Quote IN ('"', '(empty)') AND Escape IN ('"', '(empty)') AND SkipRows = 0 AND HasHeader
"""
