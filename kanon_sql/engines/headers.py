"""The columns of a file by their own names, before DuckDB renames or guesses any."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import duckdb

from kanon_sql.engine import refuse_equal_names
from kanon_sql.engines.files import quoted_path
from kanon_sql.errors import SourceError

_LINE_END = "\r\n|\r|\n"
_SEPARATORS = ",;\t|"
_HEAD = 2**16  # characters, in which the first line must end
_STRICT = """
  $pathNUMBER, columns = $columnsNUMBER, auto_detect = FALSE, header = TRUE, skip = $skipNUMBER,
  delim = $separatorNUMBER, quote = $quoteNUMBER, escape = $escapeNUMBER, comment = ''
"""
_PROBLEMS = "Expected Number of Columns: .*|Value with unterminated quote|Invalid unicode|Maximum line size"


class EncodingError(SourceError):
    """A file is in another encoding."""


def parquet_names(path: Path) -> list[str]:
    """The names of the columns, before DuckDB renames the second of `Age,age`."""
    described = "SELECT name, num_children FROM parquet_schema(?)"
    nodes = iter(duckdb.cursor().execute(described, [quoted_path(str(path))]).fetchall())

    def children(of: int) -> list[str]:
        names = []
        for _ in range(of):
            name, count = next(nodes)
            children(count or 0)
            names.append(name)
        return names

    _, columns = next(nodes)
    return children(columns)


def csv_names_and_rows(path: Path, separator: str | None = None) -> tuple[list[str], int]:
    """The names in the first line, and the number of rows, if every line has as many fields.

    DuckDB would guess until nothing is wrong. SourceError names the line with more or fewer fields, or the names that
    are equal. `separator`: if it is given.
    """
    head, problems = csv_head(path), []
    blank = len(re.findall(_LINE_END, head[: len(head) - len(head.lstrip("\r\n"))]))
    for mark in separators(head, separator):
        names = first_row(head, mark)
        if names is None:
            raise SourceError(f"{path} is empty; name a file with a line of names and rows below it")
        columns = {f"c{index}": "VARCHAR" for index in range(len(names))}
        try:
            read = {"path": quoted_path(str(path)), "columns": columns, "separator": mark, "skip": blank}
            ((rows,),) = duckdb.cursor().execute(_COUNTED, {**read, "quote": '"', "escape": '"'}).fetchall()
        except duckdb.Error as error:
            problems.append(_csv_problem(error))
            continue
        names = [name.strip() for name in names]
        refuse_equal_names(list(filter(None, names)), str(path))
        return names, int(rows)
    kind = EncodingError if any("unicode" in problem for problem in problems) else SourceError
    raise kind(f"{path} is not well-formed CSV: {problems[0]}; correct it, or save it as UTF-8")


def csv_head(path: Path) -> str:
    """The first characters of a text file."""
    with open(path, newline="", encoding="utf-8-sig", errors="replace") as file:
        head = file.read(_HEAD)
    if "\0" in head:
        raise SourceError(f"{path} is not a text file; name a CSV file, or Parquet in a file called .parquet")
    return head


def parted(head: str, lines: int) -> tuple[str, str]:
    """The first lines of a text, and the rest."""
    ends = [0, *(end.end() for end in re.finditer(_LINE_END, head)), len(head)]
    return head[: ends[min(lines, len(ends) - 1)]], head[ends[min(lines, len(ends) - 1)] :]


def separators(head: str, given: str | None = None) -> list[str]:
    """Candidate separators in the first line, the most frequent first, otherwise a comma; or the one that is given."""
    if given:
        return [given]
    first = re.sub(r'"[^"]*"', "", head.lstrip("\r\n")).partition("\n")[0]
    return [mark for mark in sorted(_SEPARATORS, key=first.count, reverse=True) if mark in first] or [","]


def first_row(head: str, separator: str, quote: str = '"', escape: str = '"') -> list[str] | None:
    """The fields of the first line that is not empty; `escape`: precedes a quote inside a field."""
    lines, escaped = io.StringIO(head, newline=None), None if escape == quote else escape
    return next(filter(None, csv.reader(lines, delimiter=separator, quotechar=quote, escapechar=escaped)), None)


def _csv_problem(error: duckdb.Error) -> str:
    """The number of an invalid line and the problem, without its text."""
    line, problem = (re.search(pattern, str(error)) for pattern in (r"CSV Error on Line: (\d+)", _PROBLEMS))
    where = f"line {line[1]}" if line else "a line"
    return f"{where}, {problem[0] if problem else 'which cannot be read'}"


def strict_options(number: str = "") -> str:
    """The options for reading without guesses, as named parameters; a line of another form is an error."""
    return _STRICT.replace("NUMBER", number)


_COUNTED = f"SELECT COUNT(*) FROM read_csv({strict_options()})"
