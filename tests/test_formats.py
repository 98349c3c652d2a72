"""CSV files in other encodings, with decimal commas and European dates: the release is that of Parquet."""

import datetime
import json
import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanon_sql import anonymize, anonymize_sql, compile, profile, risk, utility, verify
from kanon_sql.engine import FilesRead
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.headers import EncodingError
from kanon_sql.errors import KanonError, SourceError, SourceWarning, SpecError
from kanon_sql.spec import merge, parse, session
from support.command_line import kanon

NAMES = ["Straße", "Alter", "Kosten", "Geburt", "Aufnahme"]
PEOPLE: list[tuple[Any, ...]] = [
    (
        ("Müllerweg", "Caféstraße", "Öde €")[i % 3],
        20 + i % 7,
        None if i == 11 else 987.25 + 0.75 * i,
        datetime.date(1960 + i % 3, 1 + i % 12, 1 + i % 28),
        datetime.datetime(2024, 1 + i % 12, 1 + i % 28, i % 24, 30),
    )
    for i in range(60)
]
SPEC: dict[str, Any] = {
    "quasi_identifiers": {
        "Alter": {"hierarchy": {"ranges": [2, 4]}},
        "Geburt": {"hierarchy": {"dates": ["year"]}},
    },
    "identifiers": ["Straße"],
    "keep": ["Kosten", "Aufnahme"],
    "privacy": {"k": 3},
    "suppression_limit": 0.2,
}


def german(value: Any) -> str:
    """A value as a German spreadsheet exports it."""
    if isinstance(value, datetime.datetime):
        return value.strftime("%d.%m.%Y %H:%M")
    if isinstance(value, datetime.date):
        return value.strftime("%d.%m.%Y")
    if isinstance(value, float):
        return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))
    return "" if value is None else str(value)


def text_of(rows: list[tuple[Any, ...]], separator: str = ";", end: str = "\n") -> str:
    return end.join(separator.join(map(german, row)) for row in [NAMES, *rows]) + end


def read(path: Path, content: str | bytes = b"", **options: Any) -> tuple[DuckDB, FilesRead]:
    """What an engine reads of a file, as somebody says."""
    if content:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    engine = DuckDB()
    return engine, engine.read_as(str(path), session(path, **options).reading)


def types(engine: DuckDB, files: FilesRead) -> list[str]:
    """The types of the columns; what the query for elsewhere gives must be the same, where there is one."""
    named = [column.type for column in files.table.columns]
    if files.query:
        assert [kind for _, kind, *_ in engine.rows(f"DESCRIBE {files.query}")] == named
        assert engine.rows(files.query) == engine.rows("FROM kanon_source")
    return named


def released(folder: Path, source: Any, **options: Any) -> tuple[list[Any], dict[str, Any]]:
    """The rows of a release, and its manifest."""
    release = anonymize(source, SPEC, output=folder / "out.parquet", overwrite=True, **options)
    return pyarrow.parquet.read_table(folder / "out.parquet").to_pylist(), release.manifest


def said_of_files(manifest: dict[str, Any]) -> list[str]:
    """The warnings of a manifest that are not about what the columns tell."""
    return [w for w in manifest["warnings"] if not w.startswith("the column ") and "shows unchanged" not in w]


@pytest.fixture(scope="module")
def of_parquet(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What is released of the same table as Parquet."""
    folder = tmp_path_factory.mktemp("parquet")
    columns = dict(zip(NAMES, map(list, zip(*PEOPLE, strict=True)), strict=True))
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "people.parquet")
    rows, manifest = released(folder, folder / "people.parquet")
    assert said_of_files(manifest) == []
    return rows


FORMS: dict[str, tuple[str, str, str, str]] = {
    "utf-8": ("utf-8", ";", "\n", "with fields separated by semicolons, decimal commas in Kosten"),
    "utf-8 with a mark": ("utf-8-sig", "\t", "\r\n", "with fields separated by tabs, decimal commas in Kosten"),
    "cp1252": ("cp1252", ";", "\r\n", "as cp1252, with fields separated by semicolons, decimal commas in Kosten"),
    "utf-16": ("utf-16", "\t", "\r\n", "as utf-16, with fields separated by tabs, decimal commas in Kosten"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_release_of_csv_is_that_of_the_same_table_as_parquet(
    tmp_path: Path, of_parquet: list[Any], form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoding, separator, end, options = FORMS[form]
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    path = tmp_path / "people.csv"
    path.write_bytes(text_of(PEOPLE, separator, end).encode(encoding))
    rows, manifest = released(tmp_path, path)
    assert rows == of_parquet
    (warning,) = said_of_files(manifest)
    dates = "dates as %d.%m.%Y in Geburt and dates as %d.%m.%Y %H:%M in Aufnahme"
    assert f"people.csv was read {options}, {dates}; " in warning
    assert warning.endswith("`decimal` and `date_format` change that")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.parquet", "people.csv"]  # no copy is left
    if encoding != "cp1252":
        return
    parameters = {"decimal": ",", "columns": {"Geburt": {"date_format": "%d.%m.%Y"}, "Aufnahme": "timestamp"}}
    assert released(tmp_path, path, encoding=encoding, **parameters)[0] == of_parquet


def test_decimal_commas_do_not_make_an_identifier_of_a_column(tmp_path: Path) -> None:
    """A cost that differs in every row was text, and so like a name."""
    path = tmp_path / "people.csv"
    path.write_bytes(text_of(PEOPLE).encode("cp1252"))
    seen = {column.name: column for column in profile(path).columns}
    assert (seen["Kosten"].type, seen["Kosten"].suggestion) == ("DOUBLE", "")
    assert seen["Aufnahme"].type == "TIMESTAMP"
    as_text = {column.name: column for column in profile(path, columns={"Kosten": "text"}).columns}
    assert (as_text["Kosten"].type, as_text["Kosten"].suggestion) == ("VARCHAR", "identifier")
    assert any("was read as cp1252" in note for note in profile(path).notes)


NUMBERS: dict[str, tuple[list[str], str, list[Any]]] = {
    "decimal commas": (["12,50", "1.234,56", "-3"], "DOUBLE", [12.5, 1234.56, -3.0]),
    "Swiss": (["1'234.50", "2'000.25"], "DOUBLE", [1234.5, 2000.25]),
    "French": (["1\u202f234,5", "1\u00a0000,25"], "DOUBLE", [1234.5, 1000.25]),
    "blanks around": ([" 12,50", "1.234,56 ", "-3"], "DOUBLE", [12.5, 1234.56, -3.0]),
    "whole": (["1.234.567", "12"], "BIGINT", [1234567, 12]),
    "more digits than a double has": (["1234567890123456,78", "0,5 "], "DECIMAL(18,2)", []),
    "a comma that may be either": (["1,234", "5,678"], "VARCHAR", ["1,234", "5,678"]),
    "groups that are none": (["1.23,5", "1.234,5"], "VARCHAR", ["1.23,5", "1.234,5"]),
    "codes": (["02138", "12345"], "VARCHAR", ["02138", "12345"]),
    "points": (["1.5", "1.234"], "DOUBLE", [1.5, 1.234]),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers(tmp_path: Path, case: str) -> None:
    texts, kind, values = NUMBERS[case]
    lines = "".join(f"{text};x\n" for text in texts)
    engine, files = read(tmp_path / "x.csv", f"n;t\n{lines}")
    assert types(engine, files) == [kind, "VARCHAR"]
    expected = values or [Decimal(text.replace(",", ".")) for text in texts]
    assert [row[0] for row in engine.rows("FROM kanon_source")] == expected


DATES: dict[str, tuple[list[str], str, str]] = {
    "%d.%m.%Y": (["31.01.2024", "1.2.2024"], "DATE", "dates as %d.%m.%Y in n"),
    "%m/%d/%Y": (["01/31/2024", "02/01/2024"], "DATE", "dates as %m/%d/%Y in n"),
    "%d.%m.%Y %H:%M": (["31.01.2024 10:30", "01.02.2024 00:00"], "TIMESTAMP", "dates as %d.%m.%Y %H:%M in n"),
    "%m/%d/%Y %I:%M %p": (["1/31/2024 1:05 PM", "2/1/2024 12:00 AM"], "TIMESTAMP", "dates as %m/%d/%Y %I:%M %p in n"),
    "%Y/%m/%d": (["2024/01/02", "2024/02/03"], "DATE", ""),
    "day or month": (["01.02.2024", "03.04.2024"], "VARCHAR", "`date_format`: %d.%m.%Y or %m.%d.%Y"),
    "day or month, with a slash": (["01/02/2024", "03/04/2024"], "VARCHAR", "%d/%m/%Y or %m/%d/%Y"),
    "two digits": (["01/02/24", "31/04/24"], "VARCHAR", "its years have two digits"),
    "no day of a calendar": (["31.01.2024"] * 9 + ["31.02.2024"], "VARCHAR", "line 11 has no date as %d.%m.%Y"),
    "days and moments": (["31.01.2024"] * 9 + ["30.01.2024 10:30"], "VARCHAR", "line 11 has no date as %d.%m.%Y"),
}


@pytest.mark.parametrize("case", DATES)
def test_dates(tmp_path: Path, case: str) -> None:
    texts, kind, read_as = DATES[case]
    lines = "".join(f"{text};{i:05}\n" for i, text in enumerate(texts))
    engine, files = read(tmp_path / "x.csv", f"n;t\n{lines}")
    assert types(engine, files) == [kind, "VARCHAR"]
    assert read_as in "".join(files.notes)
    assert not any(text in note for text in texts for note in files.notes)
    if "%" in case:
        expected = [datetime.datetime.strptime(text, case) for text in texts]
        assert engine.rows("SELECT CAST(n AS TIMESTAMP) FROM kanon_source") == [(item,) for item in expected]
    elif kind == "VARCHAR" and "or month" in case:
        said_so, _ = read(tmp_path / "x.csv", date_format="%d.%m.%Y" if "." in texts[0] else "%d/%m/%Y")
        assert said_so.rows("FROM kanon_source")[0][0] == datetime.date(2024, 2, 1)


def test_iso_dates_next_to_other_dates_stay_dates(tmp_path: Path) -> None:
    engine, files = read(tmp_path / "x.csv", "a;b\n31.01.2024;2024-01-02\n03.04.2024;2024-05-06\n")
    assert types(engine, files) == ["DATE", "DATE"]


def test_points_before_three_digits_can_be_thousands_with_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    engine, files = read(path, "a;b;c;t\n12,5;1.234;1.5;x\n3,25;12.345;12.345;y\n")
    assert types(engine, files) == ["DOUBLE", "VARCHAR", "DOUBLE", "VARCHAR"]
    assert files.notes[1].startswith("column b stays text: a mark before three digits may be decimal")
    engine, files = read(path, decimal=",")
    assert types(engine, files) == ["DOUBLE", "BIGINT", "VARCHAR", "VARCHAR"]
    assert [row[1] for row in engine.rows("FROM kanon_source")] == [1234, 12345]
    assert files.notes == (
        "column c stays text: line 2 has no number with a decimal comma, as 1 of its 2 values are; correct it, or "
        "list words for missing values in `null`",
    )
    assert types(*read(path, decimal=",", columns={"c": {"decimal": "."}})) == ["DOUBLE", "BIGINT", "DOUBLE", "VARCHAR"]


def test_a_value_in_row_100000_keeps_a_column_text_and_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text('Kosten;t\n12,5;"a\nb"\n' + "12,5;x\n" * 99_998 + "secret;y\n")
    engine, files = read(path)
    assert types(engine, files) == ["VARCHAR", "VARCHAR"]
    (note,) = files.notes
    assert note.startswith("column Kosten stays text: line 100,002 has no number with a decimal comma, as 99,999 of")
    assert "secret" not in note
    with pytest.raises(SourceError, match=r"line 100,002 has no number with a decimal comma; correct it") as error:
        read(path, columns={"Kosten": {"type": "decimal"}})
    assert "secret" not in str(error.value)
    assert types(*read(path, null="secret")) == ["DOUBLE", "VARCHAR"]


TYPED: dict[str, tuple[dict[str, Any], list[str], tuple[Any, ...]]] = {
    "text": ({"columns": {"a": "text"}}, ["VARCHAR", "BIGINT", "VARCHAR"], ("1", 20240131, "N/A")),
    "null": ({"null": ["N/A"]}, ["BIGINT", "BIGINT", "DATE"], (1, 20240131, None)),
    "null of a column": ({"columns": {"c": {"null": ["N/A"]}}}, ["BIGINT", "BIGINT", "DATE"], (1, 20240131, None)),
    "null of a number": ({"null": ["1", "N/A"]}, ["BIGINT", "BIGINT", "DATE"], (None, 20240131, None)),
    "a format": (
        {"columns": {"b": {"date_format": "%Y%m%d"}, "c": {"null": "N/A", "type": "timestamp"}}},
        ["BIGINT", "DATE", "TIMESTAMP"],
        (1, datetime.date(2024, 1, 31), None),
    ),
    "widths": (
        {"columns": {"a": "decimal(4,1)", "b": "float"}},
        ["DECIMAL(4,1)", "DOUBLE", "VARCHAR"],
        (Decimal("1.0"), 20240131.0, "N/A"),
    ),
}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("case", TYPED)
def test_options_of_columns_apply(tmp_path: Path, case: str, kind: str) -> None:
    options, expected, first = TYPED[case]
    path = tmp_path / f"x.{kind}"
    if kind == "csv":
        path.write_text("a,b,c\n1,20240131,N/A\n2,20240201,2024-01-02\n")
    else:
        columns = {"a": ["1", "2"], "b": ["20240131", "20240201"], "c": ["N/A", "2024-01-02"]}
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
        reading = options.get("columns", {})
        if "b" not in reading:  # Parquet says of its own that these are texts
            expected = [expected[0] if "a" in reading else "VARCHAR", "VARCHAR", *expected[2:]]
            first = (first[0] if "a" in reading or first[0] is None else "1", "20240131", first[2])
        elif "a" not in reading:
            expected, first = ["VARCHAR", *expected[1:]], ("1", *first[1:])
    engine, files = read(path, **options)
    assert types(engine, files) == expected
    assert engine.rows("FROM kanon_source")[0] == first


REFUSED: dict[str, tuple[dict[str, Any], type[KanonError], str]] = {
    "no such column": (
        {"columns": {"Kost": "text"}},
        SpecError,
        "`columns` names 'Kost', which .* did you mean 'Kosten'",
    ),
    "digits lost": (
        {"columns": {"Kosten": "decimal(5,1)"}},
        SourceError,
        "up to 3 digits before .* too many for decimal",
    ),
    "a fraction": ({"columns": {"Kosten": "integer"}}, SourceError, "too many for integer; read it as another type"),
    "no date": ({"columns": {"t": "date"}}, SourceError, "column t of .* cannot be read so: line 2 has no date"),
    "no encoding": ({"encoding": "utf-88"}, SpecError, "there is no encoding 'utf-88'; choose one such as utf-8"),
    "no format": (
        {"date_format": "dd.mm.yyyy"},
        SpecError,
        "'dd.mm.yyyy' is not a format of dates; write it as in",
    ),
    "no type": ({"columns": {"t": "money"}}, SpecError, "'money' is not a type; choose one of text, integer"),
    "a sheet": ({"sheet": "x"}, SpecError, "`sheet` is for another kind of file, and .* is CSV; leave it"),
    "a mark of text": (
        {"columns": {"t": {"type": "text", "decimal": ","}}},
        SpecError,
        "its type is text; leave out one",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_unreadable_source_is_refused_in_one_sentence(tmp_path: Path, case: str) -> None:
    options, kind, message = REFUSED[case]
    with pytest.raises(kind, match=message):
        read(tmp_path / "x.csv", "Kosten;t\n123,45;x\n1,5;y\n", **options)


def test_tables_and_data_in_memory_have_their_own_types(tmp_path: Path) -> None:
    with pytest.raises(
        SpecError, match="`decimal` is an option for reading files, and data in memory are a table; leave"
    ):
        profile(pandas.DataFrame({"a": [1]}), decimal=",")
    engine = DuckDB()
    engine.run("CREATE TABLE people AS SELECT 1 AS a")
    with pytest.raises(SpecError, match="`null` is an option for reading files, and people is a table; leave it out"):
        profile("people", connection=engine.connection, null=["N/A"])
    pyarrow.parquet.write_table(pyarrow.table({"a": [1.5]}), tmp_path / "x.parquet")
    with pytest.raises(SourceError, match=r"column a of .* would lose something as integer, first in row 1"):
        read(tmp_path / "x.parquet", columns={"a": "integer"})


HOSTILE: dict[str, tuple[bytes, str]] = {
    "two encodings": ("a;b\nMüller;1\n".encode() + "Öde;2\n".encode("cp1252"), "line 2 is UTF-8, and line 3 is not"),
    "neither": (b"a;b\n\x81x;1\n", "is neither UTF-8 nor cp1252, which has no byte 81; set its `encoding`"),
    "NUL bytes": (b"a;b\nx\0y;1\n", "is not a text file; name a CSV file"),
    "half a letter of UTF-16": ("a;b\nx;1\n".encode("utf-16") + b"\x00", "is not utf-16: line 3 has bytes that are no"),
    "equal names": ("ä;Ä;ä\n1;2;3\n".encode("cp1252"), "has the columns 'ä' and 'Ä', the same but for case"),
    "an empty file": (b"", "is empty; name a file with a line of names"),
    "only a mark": ("".encode("utf-16"), "is empty; name a file with a line of names"),
    "a short row": ("a;b\nÄ;1\ny\n".encode("cp1252"), "people.csv .* line 3, Expected Number of Columns"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused_by_their_own_name(tmp_path: Path, case: str) -> None:
    content, message = HOSTILE[case]
    (tmp_path / "people.csv").write_bytes(content)
    with pytest.raises(SourceError, match=message) as error:
        read(tmp_path / "people.csv")
    assert ".kanon-" not in str(error.value)


def test_a_wrong_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    with pytest.raises(EncodingError, match="is not in UTF-8; set its `encoding`"):
        read(path, "a;b\nMüller;1\n".encode("cp1252"), encoding="utf-8")
    with pytest.raises(SourceError, match="is not cp1252: line 3 has bytes that are not valid in it"):
        read(path, b"a;b\nx;1\n\x81;1\n", encoding="cp1252")
    engine, files = read(path, "a;b\nЖ;1\n".encode("cp1251"), encoding="cp1251")
    assert engine.rows("FROM kanon_source") == [("Ж", 1)]
    assert files.notes == ()


def test_quotes_with_ends_of_lines_and_only_a_header(tmp_path: Path) -> None:
    engine, files = read(tmp_path / "x.csv", 'a;b\n"Öde\r\n;""x""";1,5\n"y";2,5\n'.encode("cp1252"))
    assert engine.rows("FROM kanon_source") == [('Öde\r\n;"x"', 1.5), ("y", 2.5)]
    engine, files = read(tmp_path / "x.csv", "Ä;b\n".encode("cp1252"))
    assert engine.rows("FROM kanon_source") == []
    assert [column.name for column in files.table.columns] == ["Ä", "b"]


def test_files_of_several_encodings_are_read_together(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_bytes("a;b\nÖde;1,5\n".encode("cp1252"))
    (tmp_path / "2.csv").write_bytes("a;b\nÄhre;12\n".encode())
    engine, files = read(tmp_path / "*.csv")
    assert engine.rows("FROM kanon_source ORDER BY b") == [("Öde", 1.5), ("Ähre", 12.0)]
    assert "was read as cp1252, with fields separated by semicolons and decimal commas in b" in files.notes[0]


def test_a_copy_is_private_and_the_next_run_removes_leftovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / f".kanon-{os.uname().nodename}-99999999-left"
    left.mkdir()
    seen: list[tuple[int, int]] = []
    load: Callable[..., Any] = __import__("kanon_sql.engines.file_source", fromlist=["load_csv"]).load_csv

    def spy(connection: Any, pattern: str, paths: list[Path], *rest: Any) -> Any:
        seen.extend((path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) for path in paths)
        return load(connection, pattern, paths, *rest)

    monkeypatch.setattr("kanon_sql.engines.file_source.load_csv", spy)
    read(tmp_path / "people.csv", "a;b\nÖde;1\n".encode("utf-16"))
    assert seen == [(0o600, 0o700)]
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]


def test_options_of_the_source_do_not_apply_to_the_release(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(text_of(PEOPLE).encode("cp1252"))
    options = {"file": "people.csv", "encoding": "cp1252", "decimal": ","}
    dated = {"Geburt": {"date_format": "%d.%m.%Y"}, "Aufnahme": {"date_format": "%d.%m.%Y %H:%M"}}
    spec = {**SPEC, "source": options, "columns": dated, "target": {"file": "out.csv"}}
    path = tmp_path / "spec.json"  # which is YAML too
    path.write_text(json.dumps(spec))
    release = anonymize(spec=path)
    assert said_of_files(release.manifest) == []
    assert release.verify().holds
    assert verify(spec=path).holds
    assert verify(tmp_path / "out.csv", path, against=tmp_path / "people.csv").holds
    measured = risk(spec=path)
    assert measured.release is not None
    assert measured.source.classes.rows == 60
    assert utility(spec=path).rows == 60
    with pytest.warns(SourceWarning, match="was read as cp1252"):
        risk(tmp_path / "people.csv", quasi_identifiers=["Alter"])


def test_options_of_the_source_override_those_of_the_spec() -> None:
    spec = parse({"source": {"file": "x.csv", "columns": {"a": {"type": "decimal", "null": "?"}}}, **SPEC})
    merged = merge(spec, columns={"a": {"decimal": ","}, "b": "text"}, encoding="cp1252")
    assert merged.reading.columns["a"] == merged.reading.of("a")
    assert (merged.reading.of("a").type, merged.reading.of("a").decimal) == ("decimal", ",")
    assert (merged.reading.of("a").null, merged.reading.of("b").type) == (("?",), "text")
    with pytest.raises(SpecError, match="decimal is given twice, inside and outside of source; keep one"):
        parse({"source": {"file": "x.csv", "decimal": ","}, "decimal": ".", **SPEC})
    with pytest.raises(SpecError, match=r"source.encodin is not a key of a spec; the keys there are file, encoding"):
        parse({"source": {"file": "x.csv", "encodin": ","}, **SPEC})


def test_the_command_line_reports_how_a_file_was_read_and_the_flag_to_change_it(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(text_of(PEOPLE).encode("cp1252"))
    run = kanon("verify", path, "--quasi-identifiers", "Alter", "--k", "2")
    assert run.code == 0
    assert run.err.count("note:") == 1
    spec = tmp_path / "release.yml"
    spec.write_text(json.dumps({"source": "people.csv", "target": {"file": "made.csv"}, **SPEC}))
    written = kanon("anonymize", "--spec", spec)
    assert written.code == 0
    assert written.err.count("was read") == 1
    assert "--encoding, --decimal and --date-format change that" in run.err
    run = kanon("risk", path, "--quasi-identifiers", "Alter", "--encoding", "cp1252", "--type", "Kosten=text")
    assert "was read with fields separated by semicolons, dates as %d.%m.%Y in Geburt and" in run.err
    assert "--date-format changes that" in run.err


def test_a_statement_reads_only_what_it_can_open_itself(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(text_of(PEOPLE))
    printed = compile(path, SPEC)
    assert DuckDB().rows(f"SELECT COUNT(*) FROM ({printed.query})") == [(len(released(tmp_path, path)[0]),)]
    path.write_bytes(text_of(PEOPLE).encode("cp1252"))
    with pytest.raises(SourceError, match=r"no statement reads .* by itself"):
        compile(path, SPEC)


@settings(max_examples=8, deadline=None)
@given(
    st.lists(st.decimals(min_value=-(10**7), max_value=10**7, places=2), min_size=1, max_size=8),
    st.sampled_from([",", "."]),
    st.booleans(),
)
def test_no_number_is_lost_or_becomes_another(numbers: list[Decimal], mark: str, grouped: bool) -> None:
    """Whatever is recognized: a number is what it was, or the column stays the text that it was."""
    import tempfile

    marks = str.maketrans(",.", ".," if mark == "," else ",.")
    texts = [(f"{number:,.2f}" if grouped else f"{number:.2f}").translate(marks) for number in numbers]
    with tempfile.TemporaryDirectory() as folder:
        engine, files = read(Path(folder) / "x.csv", "n;t\n" + "".join(f"{text};x\n" for text in texts))
    found = [row[0] for row in engine.rows("FROM kanon_source")]
    if files.table.columns[0].type == "VARCHAR":
        assert found == texts
    else:
        assert [round(Decimal(value), 2) for value in found] == numbers


BORN = ["1960-02-29", "1961-03-01", "2024-01-01", None, "1999-12-31", "1970-06-15"]
DAYS = ["2023-02-28", "2024-02-29", "2023-12-31", "2023-01-01", "2023-01-01", None]


@pytest.mark.parametrize("file", ["stays.csv", "stays.parquet", "stays.xlsx"])
def test_ages_are_counted_at_the_date_in_another_column(tmp_path, file):
    """Whole years, by calendar: somebody born on 29 February is a year older on 1 March of other years."""
    table = pandas.DataFrame({"born": pandas.to_datetime(BORN), "day": pandas.to_datetime(DAYS), "ill": range(6)})
    path = tmp_path / file
    match path.suffix:
        case ".csv":
            table.to_csv(path, index=False)
        case ".parquet":
            table.to_parquet(path)
        case _:
            table.to_excel(path, index=False)
    spec = {
        "quasi_identifiers": {"born": {"hierarchy": {"ranges": [10]}}},
        "columns": {"born": "age at day"},
        "keep": ["day", "ill"],
        "privacy": {"k": 1},
        "suppression_limit": 0,
    }
    released = anonymize(path, spec).to_df().sort_values("ill")
    ages = [None if pandas.isna(age) else int(age) for age in released["born"]]
    assert ages == [62, 62, -1, None, 23, None]
    assert str(released["day"].iloc[1])[:10] == "2024-02-29"  # the other column keeps its dates
    if path.suffix != ".xlsx":
        statement = anonymize_sql(path, spec)
        rows = duckdb.sql(f"SELECT born FROM ({statement.rstrip(';')}) ORDER BY ill").fetchall()
        assert [age for (age,) in rows] == ages
        with pytest.raises(SpecError, match="add a column with the age at day"):
            compile(path, spec, dialect="postgres", table="stays")
    columns = json.loads(kanon("profile", str(path), "--type", "born=age at day", "--json").out)["columns"]
    assert columns[0]["type"] == "INTEGER"


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"born": "age at nobody"}, "not another column"),
        ({"born": "age at born"}, "not another column"),
        ({"born": "age at ill"}, "'ill' of .* has no dates"),
        ({"ill": "age at day"}, "'ill' of .* has no dates"),
        ({"born": "age at day", "day": "age at born"}, "is an age"),
        ({"born": {"type": "age at day", "decimal": ","}}, "does not fit"),
    ],
)
def test_an_age_needs_two_columns_of_dates(tmp_path, columns, reason):
    path = tmp_path / "stays.csv"
    pandas.DataFrame({"born": BORN, "day": DAYS, "ill": range(6)}).to_csv(path, index=False)
    with pytest.raises(KanonError, match=reason):
        profile(path, columns=columns)


@pytest.mark.parametrize("file", ["titled.csv", "titled-cp1252.csv", "titled.xlsx"])
def test_lines_above_the_names_are_skipped(tmp_path, file):
    path = tmp_path / file
    rows = [[f"Spital Zürich {i}" if i == 0 else f"w{i % 3}", 20 + i % 4, f"{i % 5}.5"] for i in range(40)]
    lines = [
        ["Austritte 2024", None, None],
        ["Über alles; Stand: gestern", None, None],
        ["Ort", "Alter", "Tage"],
        *rows,
    ]
    if path.suffix == ".xlsx":
        pandas.DataFrame(lines).to_excel(path, index=False, header=False)
    else:
        text = "\n".join(";".join("" if cell is None else str(cell) for cell in line).rstrip(";") for line in lines)
        path.write_bytes(f"\ufeff{text}\n".encode() if file == "titled.csv" else f"{text}\n".encode("cp1252"))
    options = {"skip_lines": 2}
    profiled = profile(path, **options)
    assert [column.name for column in profiled.columns] == ["Ort", "Alter", "Tage"]
    assert profiled.rows == 40
    spec = {
        "quasi_identifiers": {"Alter": {"hierarchy": {"ranges": [2]}}},
        "keep": ["Ort"],
        "privacy": {"k": 2},
        **options,
    }
    released = anonymize(path, spec)
    assert sorted(released.to_df()["Ort"]) == sorted(row[0] for row in rows)
    assert released.verify().holds  # the release has no title
    with pytest.raises(KanonError, match="no statement reads"):
        anonymize_sql(path, spec)
    columns = json.loads(kanon("profile", str(path), "--skip-lines", "2", "--json").out)["columns"]
    assert [column["name"] for column in columns] == ["Ort", "Alter", "Tage"]
    text_with_error = tmp_path / "odd.csv"
    text_with_error.write_text("title\nAlter\n1\nx\n3\n")
    with pytest.raises(SourceError, match="line 4 has no"):
        profile(text_with_error, skip_lines=1, columns={"Alter": "integer"})


@pytest.mark.quick
def test_a_delimiter_is_used_instead_of_the_detected_one(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("a;b,c#pay\n" + "1;2,5#3\n3;4,5#4\n" * 3)
    assert [(found.name, found.type) for found in profile(path, delimiter="#").columns] == [
        ("a;b,c", "VARCHAR"),
        ("pay", "BIGINT"),
    ]
    assert [found.name for found in profile(path, delimiter=",").columns] == ["a;b", "c#pay"]
    spec = {"quasi_identifiers": {"pay": {"hierarchy": "suppress"}}, "keep": ["a;b,c"], "privacy": {"k": 2}}
    assert sorted(anonymize(path, spec, delimiter="#").to_df()["a;b,c"]) == ["1;2,5"] * 3 + ["3;4,5"] * 3
    assert "delim = '#'" in anonymize_sql(path, spec, delimiter="#")
    path.write_text("a#b\n1#2\n1#2#3\n")  # read by guessing, as far as it is no loss
    with pytest.raises(SourceError, match="line 3"):
        profile(path, delimiter="#")
    with pytest.raises(SourceError, match="has no '\\|' between its fields"):
        profile(path, delimiter="|")
    with pytest.raises(SpecError, match="give one character"):
        profile(path, delimiter="ab")


def test_lines_of_a_parquet_file_are_not_skipped(tmp_path):
    pandas.DataFrame({"a": [1]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(SpecError, match="`skip_lines` is for another kind of file"):
        profile(tmp_path / "x.parquet", skip_lines=1)
