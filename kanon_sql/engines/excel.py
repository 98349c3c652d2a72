"""Excel workbooks: one sheet, copied as CSV to be loaded, with the types of its cells."""

from __future__ import annotations

import csv
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree
from xml.parsers import expat

from kanon_sql.engine import refuse_equal_names
from kanon_sql.engines.csv_form import CSVForm
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.resources import install_command
from kanon_sql.spec import Reading

_MOST_BYTES, _MOST_TIMES = 2**31, 100  # maximum size of an unpacked part, and maximum ratio to its packed size
_NEVER_TOO_MUCH = 10 * 2**20  # bytes of a part that are always allowed
_MOST_CHARACTERS = 32_767  # Excel's limit for a cell
_AT_ONCE = 2**16  # bytes
_ERRORS = frozenset(("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#SPILL!", "#CALC!"))
_HELD = {
    "BOOLEAN": {"boolean"},
    "BIGINT": {"integer"},
    "DOUBLE": {"integer", "float"},
    "DATE": {"date"},
    "TIMESTAMP": {"date", "timestamp"},
    "TIME": {"time"},
}
_TRUE = ("1", "true")


def copy_as_csv(path: Path, reading: Reading, copy: Path) -> tuple[CSVForm, list[str]]:
    """Copy a sheet of a workbook as CSV, by default the first visible one; SourceError if it is not a table.

    Returns the form of the copy, and notes about the sheet.
    """
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise SourceError(f"{path} is an Excel file; to read it, run: {install_command('excel')}") from None
    try:
        _check_parts(path)
        workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
    except SourceError:
        raise
    except Exception as error:  # any error of a file that is not a workbook
        reason = "it may have a password, or not be a workbook"
        raise SourceError(f"{path} cannot be read as an Excel file: {reason}; save it again as .xlsx") from error
    with closing(workbook):
        sheets = workbook.worksheets
        visible = [sheet for sheet in sheets if sheet.sheet_state == "visible"]
        named = [sheet for sheet in sheets if sheet.title == reading.sheet] if reading.sheet else [*visible, *sheets]
        if not named:
            titles = ", ".join(repr(sheet.title) for sheet in sheets)
            raise SpecError(f"{path} has no sheet {reading.sheet!r}; there are {titles}")
        sheet = named[0]
        seen = _look(path, sheet.title)
        sheet.reset_dimensions()  # the size in the file can be wrong
        copied = _Copied(path, reading)
        copy.touch(mode=0o600, exist_ok=False)
        with open(copy, "w", encoding="utf-8", newline="") as file:
            copied.write(sheet.iter_rows(values_only=True), file)
        about = _about_sheets(sheet.title, sheets, reading.sheet)
        return copied.form, [f"{path}: {note}" for note in (*about, *seen.notes, *copied.notes)]


def _check_parts(path: Path) -> None:
    """Refuse a workbook that needs far more memory than its size suggests, before it is unpacked."""
    with zipfile.ZipFile(path) as archive:
        for part in archive.infolist():
            times = part.file_size / max(1, part.compress_size)
            if part.file_size > _MOST_BYTES or (part.file_size > _NEVER_TOO_MUCH and times > _MOST_TIMES):
                raise SourceError(
                    f"{path}: {part.filename} unpacks from {part.compress_size:,} bytes to {part.file_size:,}, where "
                    f"{_MOST_TIMES} times as many are allowed, and {_MOST_BYTES:,} at most; save the sheet as CSV"
                )
        for name in archive.namelist():
            if posixpath.basename(name).lower() == "sharedstrings.xml":
                _check_cells(path, archive, name)


def _check_cells(path: Path, archive: zipfile.ZipFile, part: str) -> None:
    """Refuse a cell longer than Excel allows, which a reader would keep in memory, and more than once."""
    parser, length, place = expat.ParserCreate(), 0, ""

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal length, place
        if name.rpartition(":")[2] in ("c", "si"):
            length, place = 0, attributes.get("r", "")

    def text(data: str) -> None:
        nonlocal length
        length += len(data)
        if length > _MOST_CHARACTERS:
            where = f"the cell {place}" if place else "a cell"
            raise SourceError(
                f"{path}: {where} has more than the {_MOST_CHARACTERS:,} characters that Excel allows; shorten it, or "
                "save the sheet as CSV"
            )

    parser.StartElementHandler, parser.CharacterDataHandler = start, text
    with archive.open(part) as file:
        while chunk := file.read(_AT_ONCE):
            parser.Parse(chunk)


def _about_sheets(title: str, sheets: Sequence[Any], requested: str | None) -> Iterator[str]:
    """Which sheet was read, unless it is the only one or was requested; and whether any is hidden."""
    hidden = [sheet.title for sheet in sheets if sheet.sheet_state != "visible"]
    if not requested and len(sheets) > 1:
        more = (
            f", of which {', '.join(map(repr, hidden))} {'is' if len(hidden) == 1 else 'are'} hidden" if hidden else ""
        )
        yield f"the sheet {title!r} was read, one of {len(sheets)}{more}; `sheet` names another"
    if title in hidden:
        yield f"the sheet {title!r} is hidden in Excel, and was read"


class _Copied:
    """The cells of a sheet while they are copied, with the kinds of values in every column."""

    def __init__(self, path: Path, reading: Reading) -> None:
        self.path, self.null, self.skip_lines = path, reading, reading.skip_lines
        self.names: list[str] = []
        self.kinds: list[Counter[str]] = []
        self.errors = self.empty_rows = 0
        self._texts = {name for name, options in reading.columns.items() if options.type == "text"}

    def write(self, rows: Iterator[Sequence[Any]], file: IO[str]) -> None:
        """Copy all rows, the names first."""
        numbered = ((number, row) for number, row in enumerate(rows, start=1))
        below = islice(numbered, self.skip_lines, None)
        filled = ((number, row) for number, row in below if any(cell is not None for cell in row))
        top, header = next(filled, (0, ()))
        self._head(top, header)
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.names)
        last = top
        for number, row in filled:
            self.empty_rows += number - last - 1
            last = number
            writer.writerow(self._cells(number, row))

    def _head(self, top: int, header: Sequence[Any]) -> None:
        if not top:
            raise SourceError(f"{self.path} has nothing in its sheet; name another with `sheet`")
        names = ["" if cell is None else _written(cell)[0].strip() for cell in header]
        while names and not names[-1]:
            names.pop()
        if "" in names:
            raise SourceError(
                f"{self.path}: row {top} has no name for column {_letters(names.index(''))}; put the names of all "
                "columns into the first row, or count the rows above them in `skip_lines`"
            )
        refuse_equal_names(names, str(self.path))
        self.names, self.kinds = names, [Counter() for _ in names]
        self._null = [frozenset(self.null.of(name).null) for name in names]

    def _cells(self, number: int, row: Sequence[Any]) -> list[str]:
        beyond = next((place for place in range(len(self.names), len(row)) if row[place] is not None), None)
        if beyond is not None:
            raise SourceError(
                f"{self.path}: row {number} has a value in column {_letters(beyond)}, which has no name in the first "
                "row; name the column, clear it, or count the rows above the names in `skip_lines`"
            )
        padded = (*row[: len(self.names)], *[None] * (len(self.names) - len(row)))
        return [self._cell(place, cell) for place, cell in enumerate(padded)]

    def _cell(self, place: int, cell: Any) -> str:
        if isinstance(cell, str) and cell in _ERRORS:
            self.errors += 1
            return ""
        if cell is None or cell == "" or (isinstance(cell, str) and cell in self._null[place]):
            return ""
        text, kind = _written(cell)
        self.kinds[place][kind] += 1
        return text

    @property
    def form(self) -> CSVForm:
        """The form of the copy, with the types of its columns."""
        types = [_type(kinds) if name not in self._texts else "VARCHAR" for name, kinds in self._columns]
        return CSVForm(",", '"', '"', 0, tuple(zip(self.names, types, strict=True)))

    @property
    def _columns(self) -> Iterator[tuple[str, Counter[str]]]:
        return zip(self.names, self.kinds, strict=True)

    @property
    def notes(self) -> Iterator[str]:
        """Notes on cells that are not plain values of their column."""
        if self.errors:
            yield f"{_many(self.errors, 'cell')} with an error such as #N/A read as NULL"
        if self.empty_rows:
            yield f"{_many(self.empty_rows, 'empty row')} between others left out"
        mixed = [
            name for name, kinds in self._columns if "text" in kinds and len(kinds) > 1 and name not in self._texts
        ]
        for name, kinds in self._columns:
            if name in mixed:
                what = ", ".join(_many(count, _KINDS.get(kind, kind)) for kind, count in sorted(kinds.items()))
                yield (
                    f"column {name} stays text, since its cells are of several kinds ({what}); list words for missing "
                    "values in `null`"
                )


def _written(cell: Any) -> tuple[str, str]:
    """A cell's value as text that DuckDB reads, and its kind."""
    if isinstance(cell, bool):
        return str(cell).lower(), "boolean"
    if isinstance(cell, int):
        return str(cell), "integer"
    if isinstance(cell, float):
        return repr(cell), "float"
    if isinstance(cell, datetime):
        whole = cell.time() == time()
        return (cell.date().isoformat(), "date") if whole else (cell.isoformat(sep=" "), "timestamp")
    if isinstance(cell, (date, time)):
        return cell.isoformat(), "date" if isinstance(cell, date) else "time"
    return str(cell), "text"


def _type(kinds: Counter[str]) -> str:
    """The type for all kinds of values of a column."""
    for type_name, held in _HELD.items():
        if kinds and set(kinds) <= held:
            return type_name
    return "VARCHAR"


@dataclass
class _Seen:
    """Features of a sheet that its table of values does not show."""

    hidden_rows: int = 0
    hidden_columns: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    formulas: int = 0

    @property
    def notes(self) -> Iterator[str]:
        if self.hidden_rows:
            yield f"{_many(self.hidden_rows, 'row')} hidden in Excel, but read"
        if self.hidden_columns:
            yield f"hidden in Excel, but read: column {', '.join(self.hidden_columns)}"
        if self.merged:
            few = ", ".join(self.merged[:3]) + (", …" if len(self.merged) > 3 else "")
            yield f"of merged cells ({few}), only the first has the value, and the others are NULL"
        if self.formulas:
            yield f"{_many(self.formulas, 'formula')} read as the value that Excel saved with it"


def _look(path: Path, title: str) -> _Seen:
    """Scan the stored sheet for features that openpyxl omits when it reads row by row."""
    seen, rows = _Seen(), None
    with zipfile.ZipFile(path) as archive:
        part = _part(archive, title)
        _check_cells(path, archive, part)
        with archive.open(part) as file:
            for event, element in ElementTree.iterparse(file, events=("start", "end")):
                name = element.tag.rpartition("}")[2]
                if event == "start":
                    rows = element if name == "sheetData" else rows
                elif name == "row":
                    seen.hidden_rows += element.get("hidden") in _TRUE
                    if rows is not None:
                        rows.clear()
                elif name == "c":
                    _look_at_cell(path, element, seen)
                elif name == "col" and element.get("hidden") in _TRUE:
                    first, last = int(element.get("min", 1)), int(element.get("max", 1))
                    seen.hidden_columns.append(":".join(dict.fromkeys((_letters(first - 1), _letters(last - 1)))))
                elif name == "mergeCell":
                    seen.merged.append(element.get("ref", ""))
    return seen


def _look_at_cell(path: Path, cell: ElementTree.Element, seen: _Seen) -> None:
    parts = {part.tag.rpartition("}")[2]: part.text for part in cell}
    if "f" not in parts:
        return
    seen.formulas += 1
    if not parts.get("v") and cell.get("t") != "str":
        raise SourceError(
            f"{path}: the formula in {cell.get('r')} has no value, as no program has calculated it; open the file in "
            "Excel or LibreOffice, and save it"
        )


def _part(archive: zipfile.ZipFile, title: str) -> str:
    """The path of a sheet inside a workbook."""
    book = next(target for kind, _, target in _relations(archive, "") if kind == "officeDocument")
    folder = posixpath.dirname(book)
    sheets = ElementTree.fromstring(archive.read(book)).iter()
    ids = {sheet.get("name"): _id(sheet) for sheet in sheets if sheet.tag.rpartition("}")[2] == "sheet"}
    targets = {number: target for _, number, target in _relations(archive, book)}
    target = targets[ids[title]]
    return target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))


def _id(sheet: ElementTree.Element) -> str:
    return next(value for key, value in sheet.items() if re.fullmatch(r"\{.*relationships\}id", key))


def _relations(archive: zipfile.ZipFile, part: str) -> Iterator[tuple[str, str, str]]:
    """The kinds, numbers and targets of everything that a part of a workbook refers to."""
    folder, name = posixpath.split(part)
    for relationship in ElementTree.fromstring(archive.read(posixpath.join(folder, "_rels", f"{name}.rels"))):
        target = relationship.get("Target", "")
        yield (
            relationship.get("Type", "").rpartition("/")[2],
            relationship.get("Id", ""),
            target if part else target.lstrip("/"),
        )


def _letters(place: int) -> str:
    """Excel's name of a column, counted from 0.

    >>> [_letters(place) for place in (0, 25, 26, 701, 702)]
    ['A', 'Z', 'AA', 'ZZ', 'AAA']
    """
    letters = ""
    place += 1
    while place:
        place, letter = divmod(place - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return letters


_KINDS = {"integer": "whole number", "float": "number", "boolean": "truth value"}  # of cells, in words


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
