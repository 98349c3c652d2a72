"""Bad input: one line, exit code 2, and no change to any existing file or table."""

import io
import json
import os
import shlex
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from support.command_line import COLUMNS, PEOPLE, ask, command, kanon, tables
from support.engines import ByHand
from support.ward import HEADER, OUT, QI, TABLE, Files, put, snapshot

ILL = "--keep '*' --quasi-identifiers disease"
FILE = f"anonymize people.csv {QI}"


def spec(columns: str, rest: str = "") -> Files:
    return {
        "bad.yml": f"source: people.csv\nquasi_identifiers: {columns}\ntarget: {{file: out.csv}}\nkeep: '*'\n{rest}"
    }


def parquet(rows: int | None = None, **columns: list[Any]) -> bytes:
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns).slice(0, rows), file)
    return file.getvalue()


def rows(count: int, bad: str, line: int) -> str:
    """A CSV file in which one line is bad."""
    lines = [f"p{i},29,02138,x\n" for i in range(2, count + 2)]
    return HEADER + "".join([*lines[: line - 2], bad + "\n", *lines[line - 2 :]])


SOURCES: list[tuple[str, Files, str]] = [
    (f"anonymize nope.csv {QI} {OUT}", {}, "there is no file nope.csv; check the path"),
    (f"anonymize 'part_*.parquet' {QI} {OUT}", {}, "there is no file part_*.parquet; check the path"),
    (f"anonymize people {QI} {OUT}", {}, "there is no file people; for a table use --database"),
    (f"anonymize h {QI} {OUT}", {}, "there is no file h"),
    (f"anonymize 'no\nfile.csv' {QI} {OUT}", {}, "there is no file no file.csv"),
    (
        f"anonymize data.xlsx {QI} {OUT}",
        {"data.xlsx": "x"},
        "data.xlsx cannot be read as an Excel file: it may",
    ),
    (f"anonymize nope --database hospital.duckdb {QI} {OUT}", {}, "there is no table nope in the database; check"),
    (f"anonymize s.people --database hospital.duckdb {QI} {OUT}", {}, "there is no table s.people in the database"),
    (f"anonymize people --database nope.duckdb {QI} {OUT}", {}, "there is no database file nope.duckdb"),
    (f"anonymize people --database h {QI} {OUT}", {}, "there is no database file h"),
    (f"anonymize people --database people.csv {QI} {OUT}", {}, "people.csv is not a DuckDB database"),
    (f"{FILE} --database people.csv --into anon_2", {}, "people.csv is not a DuckDB database"),
    (f"anonymize people --database x.db {QI} {OUT}", {"x.db": "SQLite format 3\0"}, "x.db is not a DuckDB database"),
    (f"anonymize people --database x.db {QI} {OUT}", {"x.db": ""}, "x.db is not a DuckDB database"),
    (
        f"anonymize people --database x.db {QI} {OUT}",
        {"x.db": b"\0" * 8 + b"DUCK" + b"\0" * 9000},
        "the database x.db cannot be opened",
    ),
    ("anonymize people --database postgresql://u@127.0.0.1:1/x " + QI, {}, "there is no target"),
    (f"anonymize people --database postgresql://u@127.0.0.1:1/x {QI} {OUT}", {}, "PostgreSQL cannot be reached"),
    (f"anonymize people --database postgresql:/u@/x {QI} {OUT}", {}, "the given database is neither a DuckDB file nor"),
    ("anonymize --quasi-identifiers age " + OUT, {}, "source is missing"),
    (f"anonymize people.csv --hierarchies h {OUT}", {}, "quasi_identifiers is missing"),
    (f"anonymize people.csv --quasi-identifiers , --hierarchies h {OUT}", {}, "give one or more column names"),
]
CONTENTS: list[tuple[str, Files, str]] = [
    (f"anonymize bad.csv {QI} {OUT}", {"bad.csv": content}, message)
    for content, message in [
        ("", "bad.csv is empty"),
        ("\n\n", "bad.csv is empty"),
        (HEADER, "bad.csv has no rows"),
        (HEADER.strip(), "bad.csv has no rows"),
        (rows(50, "p0,29", 2), "bad.csv is not well-formed CSV: line 2, Expected Number of Columns: 4 Found: 2"),
        (rows(50, "p0,29,02138,x,y", 9), "not well-formed CSV: line 9, Expected Number of Columns: 4 Found: 5"),
        (rows(50, "p0", 52), "not well-formed CSV: line 52, Expected Number of Columns: 4 Found: 1"),
        (rows(50, 'p0,29,"02138,x', 20), "not well-formed CSV: line 20, Value with unterminated quote"),
        (rows(50, "# a comment", 2), "not well-formed CSV: line 2"),
        (rows(30_000, "p0,29", 30_001), "not well-formed CSV: line 30001, Expected"),
        ("# a preamble\n" + rows(9, "p0,29,02138,x", 2), "not well-formed CSV"),
        ("name\nx|1\ny|2\n", "bad.csv has 1 column by its first line and 2 by the others"),
        (rows(9, "\x81,29,02138,x", 4).encode("latin-1"), "bad.csv is neither UTF-8 nor cp1252, which has no byte 81"),
        (bytes(range(256)) * 9, "bad.csv is not a text file"),
        (bytes(range(1, 256)) * 9, "not well-formed CSV"),
        ("PAR1" + "\0" * 900, "bad.csv is not a text file"),
        (HEADER.replace("name", "Age") + "1,2,3,4\n", "bad.csv has the columns 'Age' and 'age', the same but for case"),
        (HEADER.replace("name", "age") + "1,2,3,4\n", "bad.csv has the columns 'age' and 'age'"),
    ]
]
CONTENTS += [
    (f"anonymize bad.parquet {QI} {OUT}", {"bad.parquet": content}, message)
    for content, message in [
        (b"", "bad.parquet cannot be read: "),
        (b"name,age\n" * 99, "bad.parquet cannot be read: "),
        (b"PAR1" + bytes(99) + b"PAR1", "bad.parquet cannot be read: "),
        (parquet(age=[1], zip=["1"])[:-30], "bad.parquet cannot be read: "),
        (parquet(age=[1], AGE=[2]), "bad.parquet has the columns 'age' and 'AGE', the same but for case; rename one"),
        (parquet(name=[""], age=[1], zip=[""], rows=0), "bad.parquet has no rows"),
    ]
]
CONTENTS += [
    (f"anonymize '*.csv' {QI} {OUT}", {"z.csv": HEADER + "a,1\n"}, "z.csv is not well-formed CSV: line 2"),
    (f"anonymize 'z*.csv' {QI} {OUT}", {"z1.csv": HEADER, "z2.csv": HEADER.upper()}, "z*.csv has no rows"),
    ("verify bad.csv --quasi-identifiers age", {"bad.csv": "age\n"}, "bad.csv has no rows; there is nothing to verify"),
    (f"explain bad.csv {QI}", {"bad.csv": HEADER}, "bad.csv has no rows"),
    (
        "verify bad.csv --quasi-identifiers born --type born=date",
        {"bad.csv": "born\n2020-01-31\n31/01/2020\n"},
        "column born of bad.csv cannot be read so: line 3 has no date as %Y-%m-%d",
    ),
]
ROLES: list[tuple[str, Files, str]] = [
    (f"anonymize people.csv --quasi-identifiers age,job --hierarchies h {OUT}", {}, "no quasi-identifier column 'job'"),
    (f"anonymize people.csv --quasi-identifiers AGE --hierarchies h {OUT}", {}, "column 'AGE'; did you mean 'age'?"),
    (f"anonymize people.csv {QI} --identifiers ssn {OUT}", {}, "no identifier column 'ssn'; there are name, age, zip"),
    (f"{FILE} --sensitive job {OUT}", {}, "there is no sensitive column 'job'"),
    (
        f"{FILE} --identifiers name,age {OUT}",
        {},
        "'age' is in both --identifiers and --quasi-identifiers; keep it in one",
    ),
    (f"{FILE} --sensitive zip {OUT}", {}, "'zip' is in both --quasi-identifiers and --sensitive"),
    (f"{FILE} --sensitive ZIP {OUT}", {}, "'zip' in --quasi-identifiers and 'ZIP' in --sensitive differ only in case"),
    (f"{FILE} --quasi-identifiers age,zip,age {OUT}", {}, "'age' is listed twice; keep one of the two"),
    ("verify people.csv --quasi-identifiers age,job", {}, "there is no quasi-identifier column 'job'"),
    *(
        (
            f"anonymize bad.parquet --spec bad.yml {OUT}",
            spec("{a: {hierarchy: suppress}}") | {"bad.parquet": parquet(a=[value] * 9)},
            f"column 'a' is a {shown}, which has no hierarchy",
        )
        for value, shown in [([1], "BIGINT[]"), ({"x": 1}, "STRUCT(x BIGINT)")]
    ),
]
FIGURES: list[tuple[str, Files, str]] = [
    *((f"{FILE} --k {k} {OUT}", {}, f"k: give a whole number of at least 1, not {k}") for k in (0, -3)),
    *((f"{command} --k 121 {OUT}", {}, "k is 121 but people") for command in (FILE, TABLE)),
    (f"{FILE} --k 1000000 {OUT}", {}, "has only 120 rows, too few for a single class; lower k"),
    *(
        (f"{FILE} --suppression-limit {limit} {OUT}", {}, "suppression_limit: give a fraction of the rows from 0 to 1")
        for limit in ("1.01", "-0.01", "2", "nan", "inf")
    ),
    (f"{FILE} --metric cost {OUT}", {}, "metric: give one of precision, height, loss"),
    (
        f"{FILE} --strategy refine --trace t.jsonl {OUT}",
        {},
        "refine is a local recoding, which tests no nodes that a trace could list",
    ),
    (f"{FILE} --strategy mondrian --k 200 {OUT}", {}, "k is 200 but people.csv has only"),
    (f"{FILE} --strategy mondrian --mask {OUT}", {}, "no node whose masked rows could be shown"),
    (f"{FILE} --rules nowhere {OUT}", {}, "--rules is for the strategy prioprivacy"),
    (
        f"{FILE} --wildcard-suppression --strategy kaca {OUT}",
        {},
        "--wildcard-suppression is for the strategy prioprivacy",
    ),
    (f"{FILE} --strategy prioprivacy --rules nowhere {OUT}", {}, "nowhere"),
    (f"{FILE} --priorities zip {OUT}", {}, "--priorities: 'zip' is not COLUMN=NUMBER"),
    (f"{FILE} --priorities age=1,age=2 {OUT}", {}, "--priorities: 'age' is given twice"),
    (f"{FILE} --priorities shoe=1 {OUT}", {}, "the priority of 'shoe' names no quasi-identifier"),
    (f"{FILE} --strategy fast {OUT}", {}, "'fast' is not a strategy; choose one of auto, best_first"),
    (f"{FILE} --time-limit -1 {OUT}", {}, "time_limit: give a number of seconds of at least 0"),
    ("verify people.csv --quasi-identifiers age --k 0", {}, "k: give a whole number of at least 1"),
]
HIERARCHIES: list[tuple[str, Files, str]] = [
    *(
        (f"anonymize people.csv {ILL} --hierarchies h {OUT}", {"h/disease.csv": text}, message)
        for text, message in [
            ("x;a;*\ny;b\nz;b;*\n", "h/disease.csv, line 2: 2 fields found, 3 expected"),
            ("x;a;1\ny;a;2\nz;b;2\n", "h/disease.csv: level 2 splits 'a' of level 1 into '1' and '2'"),
            ("x;a;*\nx;b;*\n", "h/disease.csv: 'x' has the labels 'a;*' (line 1) and 'b;*' (line 2)"),
            ("x;a;*\ny;;*\n", "h/disease.csv, line 2: level 1 of 'y' is empty"),
            ("x;*\n", "column 'disease': the hierarchy lacks 2 of its values; "),
            ("", "h/disease.csv: there are no rows"),
            ('"x;a\n', "h/disease.csv, line 1: "),
            (b"\xff\xfe\0x", "the hierarchy file h/disease.csv is not UTF-8 text"),
        ]
    ),
    (f"{FILE} {OUT}", {"h/age.csv": "young;*\n"}, "h/age.csv: none of its values ('young', …) is of the column's type"),
    (f"anonymize people.csv {ILL} {OUT}", {}, "column 'disease' has no hierarchy; use --hierarchies"),
    (f"{FILE} --hierarchies g {OUT}", {}, "there is no hierarchy file g/age.csv for column 'age'; create one with"),
    (f"{FILE} --hierarchies people.csv {OUT}", {}, "people.csv/age.csv cannot be read (Not a directory)"),
    ("anonymize --spec bad.yml", spec("{age: {hierarchy: {table: ages}}}"), "the table ages, which does not exist"),
    ("anonymize --spec bad.yml", spec("{zip: {hierarchy: {ranges: [7, 10]}}}"), "10 is not a multiple of 7"),
    ("anonymize --spec bad.yml", spec("{disease: {hierarchy: {ranges: [7]}}}"), "a value is not a finite number"),
    ("anonymize --spec bad.yml", spec("{disease: {hierarchy: {dates: [year]}}}"), "a value is not a date"),
    ("anonymize --spec bad.yml", spec("{age: {hierarchy: suppress, min_level: 2}}"), "above the height of its hierar"),
    (
        "anonymize --spec bad.yml",
        spec("{age: {hierarchy: suppress, min_level: 1, max_level: 0}}"),
        "quasi_identifiers.age: min_level 1 is above max_level 0; lower the one or raise the other",
    ),
    (
        "anonymize --spec bad.yml",
        spec("{name: {hierarchy: suppress, max_level: 0}}"),
        "no node of the lattice meets the privacy model: even the most general one leaves more than 2 rows at risk",
    ),
]
SPECS: list[tuple[str, Files, str]] = [
    ("anonymize --spec nope.yml", {}, "there is no spec file nope.yml; check the path"),
    ("anonymize --spec h", {}, "the spec file h cannot be read (Is a directory)"),
    ("anonymize --spec bad.yml", spec("[age"), "bad.yml, line 3: this is not YAML a spec can use"),
    ("anonymize --spec bad.yml", {"bad.yml": "- age\n"}, "bad.yml is not a mapping"),
    ("anonymize --spec bad.yml", {"bad.yml": b"\xff\xfe\xfd"}, "bad.yml: this is not YAML a spec can use"),
    ("anonymize --spec bad.yml", spec("[age]", "quasi_identifier: [zip]"), "did you mean 'quasi_identifiers'?"),
    ("anonymize --spec bad.yml", spec("[age]", "k: 5"), "k is not a key of a spec; did you mean 'privacy.k'?"),
    ("anonymize --spec bad.yml", spec("{age: {hierarchy: {range: [5]}}}"), "range is not a key"),
    ("anonymize --spec bad.yml", spec("[age]", "privacy: {k: five}"), "privacy.k: give a whole number"),
    ("anonymize --spec bad.yml", spec("[age]", "suppression_limit: 2 %"), "suppression_limit: give a fraction"),
    ("anonymize --spec bad.yml", spec("[age]", "seed: 1\nseed: 2"), "line 6: this is not YAML a spec can use (the key"),
]
TARGETS: list[tuple[str, Files, str]] = [
    (FILE, {}, "there is no target; use --output FILE.parquet, or --into TABLE, or --sql"),
    (f"{FILE} --output old.csv", {}, "the file old.csv exists already; use --overwrite to replace it"),
    (f"{TABLE} --output old.parquet", {}, "the file old.parquet exists already"),
    (f"{FILE} --output people.csv --overwrite", {}, "the target people.csv is the source; name another file"),
    (f"{FILE} --output h/../people.csv --overwrite", {}, "the target h/../people.csv is the source"),
    (f"anonymize 'p*.csv' {QI} --output people.csv --overwrite", {}, "the target people.csv is the source"),
    (f"{FILE} --output no/out.csv", {}, "there is no folder no for out.csv; make it first"),
    (f"{FILE} {OUT} --trace no/trace.jsonl", {}, "there is no folder no for trace.jsonl"),
    (f"{FILE} {OUT} --trace old.csv", {}, "the file old.csv exists already"),
    (f"{FILE} {OUT} --trace ./out.csv", {}, "the release and the trace"),
    (f"{FILE} {OUT} --trace people.csv --overwrite", {}, "the target people.csv is the source"),
    (f"{FILE} --output h --overwrite", {}, "h is neither .csv nor .parquet"),
    (f"{FILE} --output d.csv --overwrite", {"d.csv/x": ""}, "d.csv is a folder; name a file in it"),
    (f"{FILE} --output out.xlsx", {}, "out.xlsx is neither .csv nor .parquet"),
    (f"{FILE} --into anon", {}, "the table anon needs a database; use --database"),
    (f"{FILE} --into anon {OUT}", {}, "both a file and a table are named; keep one of --output and --into"),
    (f"{FILE} --as view {OUT}", {}, "a view needs a name"),
    (f"{FILE} --database hospital.duckdb --into anon_2 --as view", {}, "a view needs a table below it"),
    (f"{TABLE} --into anon", {}, "the table anon exists already; use --overwrite to replace it"),
    (f"{TABLE} --into ANON", {}, "the table ANON exists already"),
    (f"{TABLE} --into seen", {}, "the view seen exists already"),
    *((f"{TABLE} --into {name} --overwrite", {}, f"the target {name} is the source") for name in ("people", "PEOPLE")),
    (f"{TABLE} --into main.people --as view --overwrite", {}, "the target main.people is the source"),
    (
        f"anonymize seen --database hospital.duckdb {QI} --into people --overwrite",
        {},
        "which reads the target people; name another",
    ),
    (f"{TABLE} --into nowhere.anon", {}, "there is no schema nowhere for anon; create it first"),
    (f"{FILE} {OUT} --mask --sql", {}, "leave out --mask or --sql"),
    (f"{TABLE} --into anon_2 --as view --mask", {}, "a view drops rows instead of masking them"),
    (f"{TABLE} --into mine --as view", {}, "the view mine needs a table mine__age, which exists already"),
    (f"{TABLE} --into mine --as view --overwrite", {}, "the view mine needs a table mine__age, which exists already"),
    (f"{FILE} --database new.duckdb --into anon --k 121", {}, "k is 121"),
    (f"anonymize bad.csv {QI} --database new.duckdb --into anon", {"bad.csv": HEADER + "x\n"}, "not well-formed CSV"),
    ("demo --directory people.csv", {}, "people.csv cannot be the demo's folder (Not a directory)"),
    ("demo --rows 100 --k 101", {}, "k is 101 but there are only 100 people"),
]
BUILD = "hierarchy build people.csv --output new.csv --column"
COMMANDS: list[tuple[str, Files, str]] = [
    (f"{BUILD} job --suppress", {}, "column 'job'"),
    (f"{BUILD} age", {}, "give exactly one of --ranges, --edges, --redact, --prefix, --networks, --dates, --age, "),
    (f"{BUILD} age --ranges 5 --suppress", {}, "give exactly one of"),
    *((f"{BUILD} age --ranges {widths}", {}, "") for widths in ("5,x", "nan", "inf", "0", "-5", "''", "10,15")),
    *((f"{BUILD} age --ranges 5 --{bound} {value}", {}, "") for bound in ("top", "origin") for value in ("nan", "inf")),
    (f"compare people.csv {QI} --strategies ola,magic", {}, "'magic' is not a strategy; choose one of auto"),
    (f"compare people.csv {QI} --strategies ,", {}, "no strategy is named; choose one or more of auto"),
    (f"compare people.csv {QI} --strategies ola --k 121", {}, "k is 121 but people.csv has only 120 rows"),
    (f"compare people.csv {QI} --metric magic", {}, "metric: give one of precision"),
    (f"compare people.csv {QI} --time-limit -1", {}, "time_limit: give a number of seconds of at least 0"),
    (f"compare nope.csv {QI}", {}, "there is no file nope.csv; check the path"),
    (f"lattice people.csv {QI} --strategy magic", {}, "'magic' is not a strategy; choose one of auto"),
    (f"lattice people.csv {QI} --strategy refine", {}, "refine is a local recoding, which has no lattice to look at"),
    (f"compare people.csv {QI} --strategies kaca --k 3,x", {}, "--k takes whole numbers separated by commas"),
    (f"lattice people.csv {QI} --output lattice.png", {}, "lattice.png does not end in .svg; choose a name"),
    (f"lattice people.csv {QI}", {"lattice.svg": "old"}, "the file lattice.svg exists already; use --overwrite"),
    (f"lattice people.csv {QI} --output no/lattice.svg", {}, "there is no folder no for lattice.svg; make it first"),
    (f"lattice people.csv {QI} --output h/age.csv/x.svg", {}, "there is no folder h/age.csv for x.svg"),
    (f"lattice people.csv {QI} --k 121", {}, "k is 121 but people.csv has only 120 rows"),
    (f"{BUILD} zip --redact middle", {}, "give right or left, not 'middle'"),
    (f"{BUILD} zip --dates week,month", {}, "weeks do not nest in months"),
    (f"{BUILD} zip --taxonomy nope.csv", {}, "there is no hierarchy file nope.csv"),
    (f"{BUILD} zip --taxonomy t.csv", {"t.csv": "a;b\nb;a\n"}, "the parents form a cycle"),
    (f"{BUILD} zip --suppress --output old.csv", {}, "the file old.csv exists already; use --overwrite"),
    (f"{BUILD} zip --suppress --output people.csv --overwrite", {}, "the target people.csv is the source"),
    (f"{BUILD} zip --suppress --output no/zip.csv", {}, "there is no folder no"),
    (f"{BUILD} zip --suppress --output h --overwrite", {}, "h is a folder"),
    ("hierarchy check nope.csv", {}, "there is no hierarchy file nope.csv"),
    ("hierarchy show nope.csv", {}, "there is no hierarchy file nope.csv"),
    ("hierarchy check bad.csv", {"bad.csv": "a;b;*\nc;*\n"}, "bad.csv, line 2: 2 fields found, 3 expected"),
    (
        "hierarchy check h/zip.csv people.csv --column disease",
        {},
        "the hierarchy lacks 3 of its values; ",
    ),
]
CASES = [*SOURCES, *CONTENTS, *ROLES, *FIGURES, *HIERARCHIES, *SPECS, *TARGETS, *COMMANDS]


@pytest.mark.parametrize(("line", "files", "message"), CASES, ids=[f"{line} | {message}" for line, _, message in CASES])
def test_errors_are_one_line_with_exit_code_2_and_change_nothing(
    ward: Path, line: str, files: Files, message: str
) -> None:
    put(ward, files)
    before = snapshot(ward)
    run = kanon(*shlex.split(line))
    assert (run.code, run.out) == (2, ""), run
    assert run.err.startswith("kanon: ")
    assert run.err.count("\n") == 1
    assert message in run.err
    assert snapshot(ward) == before


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("x" * 252 + ".csv", "File name too long"),
        ("no.csv/", "target.file: no.csv/ ends like a folder; leave out the / at its end"),
        ("people.csv/", "target.file: people.csv/ ends like a folder"),
        ("pipe.csv", "pipe.csv is not a regular file; remove it, or name another file"),
        ("link.csv", "link.csv is a broken link; remove it, or name another file"),
    ],
)
@pytest.mark.parametrize("overwrite", ["", "--overwrite"])
@pytest.mark.slow
def test_a_target_that_is_not_a_file(ward: Path, target: str, message: str, overwrite: str) -> None:
    os.mkfifo("pipe.csv")
    (ward / "link.csv").symlink_to("nowhere.csv")
    (ward / "spec.yml").write_text(f"target: {{file: '{target}', overwrite: {str(bool(overwrite)).lower()}}}\n")
    before = sorted(ward.iterdir())
    for line in (f"{FILE} --output {target} {overwrite}", f"{FILE} --spec spec.yml"):
        run = kanon(*shlex.split(line))
        assert (run.code, run.out, run.err.count("\n")) == (2, "", 1), run
        assert message in run.err
    assert sorted(ward.iterdir()) == before


@pytest.mark.parametrize("long", ["x" * 236 + ".csv", "x" * 251 + ".csv", "é" * 125 + ".csv"])
def test_a_name_of_the_maximum_length(ward: Path, long: str) -> None:
    before = sorted(ward.iterdir())
    assert kanon(*shlex.split(f"{FILE} --k 5 --keep '*' --output {long}")).code == 0
    assert sorted(ward.iterdir()) == sorted([*before, ward / long])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "spec.yml is nested too deeply to be a spec; correct it"),
        ("{a: " * 50_000, "spec.yml is nested too deeply to be a spec; correct it"),
        ("privacy: {k: 010}\n", "spec.yml, line 1: this is not YAML a spec can use (010 begins with a zero"),
        ("source: people.csv\nseed: -007\n", "spec.yml, line 2: this is not YAML a spec can use (-007 begins"),
    ],
)
@pytest.mark.slow
@pytest.mark.sampled
def test_a_spec_that_means_something_else(ward: Path, text: str, message: str) -> None:
    (ward / "spec.yml").write_text(text)
    run = kanon(*shlex.split(f"{FILE} --spec spec.yml {OUT}"))
    assert (run.code, run.out, run.err.count("\n")) == (2, "", 1)
    assert message in run.err


@pytest.mark.parametrize("ending", ["tsv", "TSV", "csv"])
@pytest.mark.slow
def test_a_tsv_can_contain_tabs(ward: Path, ending: str) -> None:
    assert kanon(*shlex.split(f"{FILE} --k 5 --output out.{ending} --keep disease")).code == 0
    first = (ward / f"out.{ending}").read_text().splitlines()[0]
    assert first == ("age,zip,disease" if ending == "csv" else "age\tzip\tdisease")
    columns = "--quasi-identifiers age,zip --k 5"
    assert kanon(*shlex.split(f"verify out.{ending} {columns}")).code == 0
    statement = kanon(*shlex.split(f"{FILE} --k 5 --output again.{ending} --keep disease --sql")).out
    ask("", statement)
    assert (ward / f"again.{ending}").read_text() == (ward / f"out.{ending}").read_text()


@pytest.mark.parametrize(
    "line", ["anonymize people.csv --k five", "anonymize --nope", "nope", f"{FILE} --as index", "demo --rows 5", ""]
)
def test_an_invalid_command_line(ward: Path, line: str) -> None:
    before = snapshot(ward)
    run = kanon(*shlex.split(line))
    assert run.code == 2
    assert "Usage: " in run.out + run.err
    assert snapshot(ward) == before


@pytest.mark.slow
def test_the_process_prints_one_line_too(ward: Path) -> None:
    run = command("anonymize", "nope.csv", *shlex.split(QI), "--output", "out.csv", "--json", cwd=ward)
    assert (run.code, run.err) == (2, "kanon: there is no file nope.csv; check the path\n")
    assert json.loads(run.out)["error"] == "there is no file nope.csv; check the path"


ON_SERVER: list[tuple[str, str]] = [
    ("anonymize nope {0} --into x", "there is no table nope in the database"),
    ("anonymize nowhere.people {0} --into x", "there is no table nowhere.people in the database"),
    ("anonymize people.csv {0} --into x", "people.csv is a file, which postgresql cannot read; load it into a table"),
    ("anonymize people {0} --into nowhere.x", "there is no schema nowhere for x; create it first"),
    ("anonymize people {0} --into x --quasi-identifiers age,job", "there is no quasi-identifier column 'job'"),
    ("anonymize people {0} --into x --quasi-identifiers Age", "column 'Age'; did you mean 'age'?"),
    ("anonymize people {0} --into x --k 121", "k is 121 but people has only 120 rows"),
    ("anonymize nobody {0} --into x", "nobody has no rows"),
    ("anonymize cases {0} --into x", "cases has the columns 'age' and 'Age', the same but for case; rename one"),
    ("anonymize people {0}", "there is no target"),
    ("anonymize people {0} --into anon", "the table anon exists already; use --overwrite"),
    ("anonymize people {0} --into anon --as view", "the table anon exists already; use --overwrite"),
    ("anonymize people {0} --into seen", "the view seen exists already"),
    ("anonymize people {0} --into people --overwrite", "the target people is the source"),
    ("anonymize PEOPLE {0} --into people --overwrite", "the target people is the source"),
    (
        "anonymize seen {0} --into people --overwrite --replace-foreign-table people",
        "which reads the target people; name another",
    ),
    ("anonymize people {0} --output old.csv", "the file old.csv exists already"),
    ("anonymize people {0} --into mine --as view", "the view mine needs a table mine__age, which exists already"),
    (f"anonymize people {{0}} --into {'x' * 64}", "is longer than the 63 bytes of a PostgreSQL name"),
    ("verify people {0} --k 0", "k: give a whole number of at least 1"),
    ("verify nobody {0}", "nobody has no rows; there is nothing to verify"),
    ("explain people {0} --k 121", "k is 121"),
]


def test_a_server_is_left_unchanged(postgres_dsn: str, ward: Path, make_table: Any) -> None:
    engine = ByHand.open(postgres_dsn)
    make_table(engine, "people", COLUMNS, PEOPLE)
    make_table(engine, "cases", {**COLUMNS, "Age": "BIGINT"}, [])
    make_table(engine, "nobody", COLUMNS, [])
    engine.close()
    for statement in ("TABLE anon AS SELECT 'old' AS old", "TABLE mine__age AS SELECT 1 AS mine"):
        ask(postgres_dsn, f"CREATE {statement}")
    ask(postgres_dsn, "CREATE VIEW seen AS SELECT * FROM people")
    files, before = snapshot(ward), tables(postgres_dsn)
    for line, message in ON_SERVER:
        options = f"--database '{postgres_dsn}' " + (QI if "verify" not in line else "--quasi-identifiers age")
        run = kanon(*shlex.split(line.format(options)))
        assert (run.code, run.out, run.err[:7], run.err.count("\n")) == (2, "", "kanon: ", 1), (line, run)
        assert message in run.err
        assert tables(postgres_dsn) == before
    assert snapshot(ward) == files
    assert ask(postgres_dsn, "SELECT * FROM anon") == [("old",)]
    assert len(ask(postgres_dsn, "SELECT * FROM people")) == len(PEOPLE)
