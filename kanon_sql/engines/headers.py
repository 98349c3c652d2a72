"""The columns of a file as it names them itself, before DuckDB renames or guesses any."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import duckdb

from kanon_sql.engines.files import quoted_path
from kanon_sql.errors import SourceError


def parquet_names(path: Path) -> list[str]:
    """The names of the columns, before DuckDB renames the second of `Age,age`."""
    described = "SELECT name, num_children FROM parquet_schema(?)"
    nodes = iter(duckdb.execute(described, [quoted_path(str(path))]).fetchall())

    def children(of: int) -> list[str]:
        names = []
        for _ in range(of):
            name, count = next(nodes)
            children(count or 0)
            names.append(name)
        return names

    _, columns = next(nodes)
    return children(columns)


def csv_names(path: Path) -> list[str]:
    """The names in the first line, if every line has as many fields: DuckDB would guess until nothing is wrong."""
    head = csv_head(path)
    problems = []
    for separator in separators(head):
        names = first_row(head, separator)
        if names is None:
            raise SourceError(f"{path} is empty; give a file with a line of names and rows below it")
        columns = {f"c{index}": "VARCHAR" for index in range(len(names))}
        try:
            asked = {"path": quoted_path(str(path)), "separator": separator, "columns": columns}
            duckdb.execute(_COUNTED, asked).fetchall()  # else the connection that all share is left busy
            return [name.strip() for name in names]
        except duckdb.Error as error:
            problems.append(_csv_problem(error))
    raise SourceError(f"{path} is not well-formed CSV: {problems[0]}; mend it, or write it anew as UTF-8")


def csv_head(path: Path) -> str:
    """The first characters of a text file."""
    with open(path, newline="", encoding="utf-8-sig", errors="replace") as file:
        head = file.read(_HEAD)
    if "\0" in head:
        raise SourceError(f"{path} is not a text file; give CSV, or Parquet in a file called .parquet")
    return head


def separators(head: str) -> list[str]:
    """The characters of the first line that may be its separator, the most frequent first; a comma if there is none."""
    first = re.sub(r'"[^"]*"', "", head.lstrip("\r\n")).partition("\n")[0]
    return [mark for mark in sorted(_SEPARATORS, key=first.count, reverse=True) if mark in first] or [","]


def first_row(head: str, separator: str) -> list[str] | None:
    """The fields of the first line that is not empty."""
    return next((row for row in csv.reader(io.StringIO(head, newline=None), delimiter=separator) if row), None)


def _csv_problem(error: duckdb.Error) -> str:
    """The line and what is wrong with it, without the line itself."""
    line, problem = (re.search(pattern, str(error)) for pattern in (r"CSV Error on Line: (\d+)", _PROBLEMS))
    where = f"line {line[1]}" if line else "a line"
    return f"{where}, {problem[0] if problem else 'which cannot be read'}"


_SEPARATORS = ",;\t|"
_HEAD = 2**16  # characters, in which the first line must end
# The parameters of a reading that guesses nothing: a line of another form is an error.
STRICT = """
  $path, columns = $columns, auto_detect = FALSE, header = TRUE,
  delim = $separator, quote = '"', escape = '"', comment = ''
"""
_COUNTED = f"SELECT COUNT(*) FROM read_csv({STRICT})"
_PROBLEMS = "Expected Number of Columns: .*|Value with unterminated quote|Invalid unicode|Maximum line size"
