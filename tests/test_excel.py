"""Excel workbooks as a source: the release is that of the same table as Parquet."""

import datetime
import random
import re
import sys
import tracemalloc
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest

from kanon_sql import anonymize, compile, profile, suggest
from kanon_sql.engine import FilesRead
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import KanonError, SourceError, SpecError
from kanon_sql.resources import install_command
from kanon_sql.spec import session
from support.command_line import kanon

NAMES = ["plz", "age", "pay", "born", "seen", "ok"]
ROWS: list[tuple[Any, ...]] = [
    (
        f"0{1000 + i % 3}",
        20 + i % 5,
        None if i == 7 else i / 4,
        datetime.date(1990, 1, 1 + i % 28),
        datetime.datetime(2024, 1, 1 + i % 28, i % 24, 30),
        i % 2 == 0,
    )
    for i in range(60)
]
SPEC: dict[str, Any] = {
    "quasi_identifiers": {"plz": {"hierarchy": {"redact": "right"}}, "age": {"hierarchy": {"ranges": [2]}}},
    "keep": "*",
    "privacy": {"k": 4},
}


def saved(path: Path, *rows: Sequence[Any], title: str = "Cases") -> openpyxl.Workbook:
    """A workbook of one sheet, saved."""
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.title = title
    for row in rows:
        sheet.append(row)
    workbook.save(path)
    return workbook


def read(path: Path, **options: Any) -> tuple[DuckDB, FilesRead]:
    engine = DuckDB()
    return engine, engine.read_as(str(path), session(path, **options).reading)


def types(files: FilesRead) -> dict[str, str]:
    return {column.name: column.type for column in files.table.columns}


def test_a_release_of_a_sheet_is_that_of_the_same_table_as_parquet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    saved(tmp_path / "people.xlsx", NAMES, *ROWS)
    columns = dict(zip(NAMES, map(list, zip(*ROWS, strict=True)), strict=True))
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "people.parquet")
    of = {}
    for ending in ("xlsx", "parquet"):
        release = anonymize(tmp_path / f"people.{ending}", SPEC, output=tmp_path / f"{ending}.parquet")
        of[ending] = pyarrow.parquet.read_table(tmp_path / f"{ending}.parquet").to_pylist()
        assert not any("Excel" in warning or "sheet" in warning for warning in release.manifest["warnings"])
    assert of["xlsx"] == of["parquet"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    with pytest.raises(SpecError, match=r"no statement reads .* by itself; save it as Parquet or CSV"):
        compile(tmp_path / "people.xlsx", SPEC)


def test_cells_have_the_types_that_excel_gives_them(tmp_path: Path) -> None:
    rows = [
        ("id", "mixed", "text", "error", "time"),
        (1, 5, "12,50", 1, datetime.time(9, 30)),
        (2.5, "N/A", "1.234,5", "#N/A", None),
    ]
    saved(tmp_path / "x.xlsx", *rows, (None,) * 5, (3, 7, "7", 2, None))
    engine, files = read(tmp_path / "x.xlsx")
    assert types(files) == {"id": "DOUBLE", "mixed": "VARCHAR", "text": "DOUBLE", "error": "BIGINT", "time": "TIME"}
    assert engine.rows("FROM kanon_source")[1] == (2.5, "N/A", 1234.5, None, None)
    notes = [note.partition("x.xlsx")[2] for note in files.notes]
    assert notes == [
        ": 1 cell with an error such as #N/A read as NULL",
        ": 1 empty row between others left out",
        ": column mixed stays text, since its cells are of several kinds (2 whole numbers, 1 text); list words for "
        "missing values in `null`",
        " was read with decimal commas in text; `decimal` changes that",
    ]
    engine, files = read(tmp_path / "x.xlsx", null="N/A", columns={"id": "text", "time": "text"})
    assert types(files) == {"id": "VARCHAR", "mixed": "BIGINT", "text": "DOUBLE", "error": "BIGINT", "time": "VARCHAR"}
    assert engine.rows("FROM kanon_source")[0][:2] == ("1", 5)


def test_text_of_digits_stays_text(tmp_path: Path) -> None:
    saved(tmp_path / "x.xlsx", ("plz", "nl"), ("02138", "1012"), ("12345", "3511"))
    engine, files = read(tmp_path / "x.xlsx", decimal=",")
    assert types(files) == {"plz": "VARCHAR", "nl": "VARCHAR"}
    assert engine.rows("FROM kanon_source") == [("02138", "1012"), ("12345", "3511")]
    assert files.notes == ()


def test_hidden_parts_of_a_sheet_are_read_and_reported(tmp_path: Path) -> None:
    workbook = saved(tmp_path / "x.xlsx", ("a", "b", "c"), (1, 2, "x"), (3, 4, "y"), (5, 6, "z"))
    sheet = workbook["Cases"]
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["B"].hidden = True
    sheet.merge_cells("C2:C3")
    codes = workbook.create_sheet("Codes", 0)
    codes.append(["code"])
    codes.append([1])
    codes.sheet_state = "hidden"
    workbook.active = 1
    workbook.save(tmp_path / "x.xlsx")
    engine, files = read(tmp_path / "x.xlsx")
    assert engine.rows("FROM kanon_source") == [(1, 2, "x"), (3, 4, None), (5, 6, "z")]
    assert [note.partition("x.xlsx: ")[2] for note in files.notes] == [
        "the sheet 'Cases' was read, one of 2, of which 'Codes' is hidden; `sheet` names another",
        "1 row hidden in Excel, but read",
        "hidden in Excel, but read: column B",
        "of merged cells (C2:C3), only the first has the value, and the others are NULL",
    ]
    engine, files = read(tmp_path / "x.xlsx", sheet="Codes")
    assert engine.rows("FROM kanon_source") == [(1,)]
    assert files.notes == (f"{tmp_path}/x.xlsx: the sheet 'Codes' is hidden in Excel, and was read",)
    run = kanon("profile", tmp_path / "x.xlsx")
    assert "--sheet names another" in run.err
    assert len(profile(tmp_path / "x.xlsx", sheet="Codes").notes) == 1


def with_cached_values(path: Path, values: dict[str, str]) -> None:
    """Save values beside the formulas of a workbook, as Excel does when it calculates them."""
    import re
    import zipfile

    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"].decode()
    for cell, value in values.items():
        sheet, count = re.subn(rf'(<c r="{cell}"[^>]*><f>[^<]*</f>)<v ?/>', rf"\g<1><v>{value}</v>", sheet)
        if not count:
            sheet, count = re.subn(rf'(<c r="{cell}"[^>]*><f>[^<]*</f>)<v></v>', rf"\g<1><v>{value}</v>", sheet)
        assert count == 1, sheet
    parts["xl/worksheets/sheet1.xml"] = sheet.encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_formulas_are_read_as_the_values_that_were_saved_with_them(tmp_path: Path) -> None:
    path = tmp_path / "x.xlsx"
    saved(path, ("a", "b"), (1, "=A2+1"), (2, "=A3+1"))
    with pytest.raises(SourceError, match="the formula in B2 has no value, as no program has calculated it; open the"):
        read(path)
    with_cached_values(path, {"B2": "2", "B3": "3"})
    engine, files = read(path)
    assert engine.rows("FROM kanon_source") == [(1, 2), (2, 3)]
    assert [note.partition("x.xlsx: ")[2] for note in files.notes] == [
        "2 formulas read as the value that Excel saved with it"
    ]


REFUSED: dict[str, tuple[list[tuple[Any, ...]], dict[str, Any], type[KanonError], str]] = {
    "a title above": (
        [("Patients",), ("a", "b"), (1, 2)],
        {},
        SourceError,
        "row 2 has a value in column B, which",
    ),
    "a name left out": (
        [("a", None, "c"), (1, 2, 3)],
        {},
        SourceError,
        "row 1 has no name for column B; put",
    ),
    "equal names": (
        [("a", "A"), (1, 2)],
        {},
        SourceError,
        "the same but for case; rename one",
    ),
    "nothing": ([], {}, SourceError, "has nothing in its sheet; name another with `sheet`"),
    "no such sheet": ([("a",), (1,)], {"sheet": "X"}, SpecError, "has no sheet 'X'; there are 'Cases'"),
    "an encoding": (
        [("a",), (1,)],
        {"encoding": "cp1252"},
        SpecError,
        "is for another kind of file",
    ),
    "a loss": ([("a",), (1.5,)], {"columns": {"a": "integer"}}, SourceError, "would lose something as integer"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_value_that_is_not_a_table_is_refused(tmp_path: Path, case: str) -> None:
    rows, options, kind, message = REFUSED[case]
    saved(tmp_path / "x.xlsx", *rows)
    with pytest.raises(kind, match=message):
        read(tmp_path / "x.xlsx", **options)


def test_a_file_that_is_not_a_workbook_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.xlsx").write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match=r"cannot be read as an Excel file: .* save it again as .xlsx"):
        read(tmp_path / "x.xlsx")
    (tmp_path / "x.xls").write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match=r"a workbook of a kind that cannot be read; save it as .xlsx or CSV"):
        read(tmp_path / "x.xls")
    saved(tmp_path / "y.xlsx", ("a",), (1,))
    with pytest.raises(SourceError, match=r"is 2 Excel files; name one, or save them as CSV or Parquet"):
        read(tmp_path / "*.xlsx")
    with pytest.raises(SourceError, match=r"out.xlsx is neither .csv nor .parquet"):
        anonymize(tmp_path / "y.xlsx", quasi_identifiers={"a": {"hierarchy": "suppress"}}, output=tmp_path / "out.xlsx")


def test_a_header_alone_is_a_table_without_rows(tmp_path: Path) -> None:
    saved(tmp_path / "x.xlsx", ("a", "b"))
    engine, files = read(tmp_path / "x.xlsx")
    assert engine.rows("FROM kanon_source") == []
    assert list(types(files)) == ["a", "b"]


def test_without_the_extra_the_error_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "x.xlsx", ("a",), (1,))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(SourceError, match=re.escape(f"to read it, run: {install_command('excel')}")):
        read(tmp_path / "x.xlsx")


def test_a_suggested_spec_reads_a_sheet_as_it_was_read(tmp_path: Path) -> None:
    saved(tmp_path / "people.xlsx", ["plz", "age", "pay"], *((1000 + i % 5, 20 + i % 30, i / 4) for i in range(200)))
    suggested = suggest(tmp_path / "people.xlsx", columns={"plz": "text"}, sheet="Cases")
    suggested.write(tmp_path / "release.yml")
    text = (tmp_path / "release.yml").read_text()
    assert "sheet: Cases" in text
    release = anonymize(spec=tmp_path / "release.yml")
    assert release.manifest["columns"]["plz"] == "VARCHAR"
    assert release.manifest["target"]["file"].endswith("people_anon.parquet")


def repacked(path: Path, parts: dict[str, bytes]) -> None:
    """Replace parts of a workbook."""
    with zipfile.ZipFile(path) as archive:
        kept = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**kept, **parts}.items():
            archive.writestr(name, content)


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_SHARED = (
    '<Relationship Id="rId99" Target="sharedStrings.xml" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"/></Relationships>'
)
_SHARED_TYPE = (
    '<Override PartName="/xl/sharedStrings.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>'
)


def with_cell(path: Path, cell: str, shared: bool) -> None:
    """A workbook whose second cell has this content, in its place or among the strings that cells share."""
    saved(path, ["zip"], ["y"])
    sheet, links, types = "xl/worksheets/sheet1.xml", "xl/_rels/workbook.xml.rels", "[Content_Types].xml"
    with zipfile.ZipFile(path) as archive:
        xml, linked, typed = (archive.read(name).decode() for name in (sheet, links, types))
    placed = '<c r="A2" t="s"><v>0</v></c>' if shared else f'<c r="A2" t="inlineStr"><is>{cell}</is></c>'
    parts = {sheet: re.sub(r'<c r="A2".*?</c>', placed, xml)}
    if shared:
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{_MAIN}"><si>{cell}</si></sst>'
        parts[links] = linked.replace("</Relationships>", _SHARED)
        parts[types] = typed.replace("</Types>", _SHARED_TYPE)
    repacked(path, {name: text.encode() for name, text in parts.items()})


@pytest.mark.parametrize("shared", [True, False])
def test_a_workbook_that_unpacks_into_too_much_is_refused(tmp_path: Path, shared: bool) -> None:
    path = tmp_path / "people.xlsx"
    noise = random.Random(1).randbytes(10_000).hex()  # which packs badly
    with_cell(path, f"<t>{'x' * 32_767}</t>", shared)
    assert read(path)[0].rows("SELECT MAX(LENGTH(zip)) FROM kanon_source") == [(32_767,)]
    where = "a cell" if shared else "the cell A2"
    for cell, refused in (
        (f"<t>{'x' * 32_768}</t>", f"{where} has more than the 32,767 characters that Excel allows"),
        (f"<r><t>{noise}</t></r>" * 2, f"{where} has more than the 32,767 characters that Excel allows"),
        (f"<t>{'x' * (20 * 2**20)}</t>", "unpacks from .* bytes to 20,.*, where 100 times as many are allowed"),
    ):
        with_cell(path, cell, shared)
        tracemalloc.start()
        with pytest.raises(SourceError, match=refused):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 4 * 2**20
        tracemalloc.stop()
