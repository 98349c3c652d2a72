"""One value, one row: hierarchies in a column's own type, and views whose internal tables were modified."""

import csv
import uuid
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas
import pytest

from kanon_sql import Observer, anonymize, queries
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import HierarchyError, SourceError
from kanon_sql.generalization.recipes import suppress
from kanon_sql.plan.source import Source, column_values
from kanon_sql.privacy import all_of, k_anonymity
from kanon_sql.release.findings import summarize
from support.database import create_table

LOCAL = ("mondrian", "mondrian_relaxed", "refine", "kaca")


def rows_of(engine: Engine, name: str) -> list[tuple[Any, ...]]:
    table = engine.find(name)
    assert table is not None
    return engine.rows(queries.select_all(table.relation, engine.dialect))


def hierarchy_file(folder: Path, rows: Sequence[Sequence[str]]) -> str:
    path = folder / f"{uuid.uuid4().hex}.csv"
    path.write_text("".join(";".join(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


# Two texts of a file that are one value in the column's type. The first two of each are equal, the third differs.

DUCKDB_TWINS = {
    "DECIMAL(9,2)": ("1.23", "1.234", "5"),
    "FLOAT": ("0.1", "0.10000000149011612", "3"),
    "FLOAT ": ("16777216", "16777217", "3"),
    "TIMESTAMP_S": ("2020-01-01 00:00:00", "2020-01-01 00:00:00.3", "2021-01-01 00:00:00"),
    "VARCHAR COLLATE NOCASE": ("ann", "Ann", "bob"),
    "VARCHAR COLLATE NOACCENT": ("rene", "rené", "bob"),
}
POSTGRES_TWINS = {
    "numeric(9,2)": ("1.23", "1.234", "5"),
    "real": ("0.1", "0.10000000149011612", "3"),
    "timestamp(0)": ("2020-01-01 00:00:00", "2020-01-01 00:00:00.3", "2021-01-01 00:00:00"),
    "char(4)": ("ann", "ann ", "bob"),
}
TWINS = [("duckdb", *case) for case in DUCKDB_TWINS.items()] + [("postgres", *case) for case in POSTGRES_TWINS.items()]


@pytest.fixture
def twins(request: pytest.FixtureRequest) -> tuple[Engine, str, tuple[str, str, str]]:
    name, type_name, texts = request.param
    engine = request.getfixturevalue("embedded" if name == "duckdb" else "postgres")
    return engine, type_name.strip(), texts


def people(engine: Engine, type_name: str, values: Sequence[str]) -> None:
    """A table of one row per value, with a number to tell rows by."""
    engine.run(f"CREATE TABLE people (v {type_name}, number INTEGER)")
    for index, value in enumerate(values):
        engine.run(f"INSERT INTO people VALUES ('{value}', {index})")


@pytest.mark.parametrize("twins", TWINS, indirect=True, ids=lambda case: f"{case[0]}-{case[1]}")
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("strategy", ["best_first", "mondrian"])
@pytest.mark.sampled("postgres", "sail")
def test_a_view_never_shows_one_person_twice(
    twins: tuple[Engine, str, tuple[str, str, str]], level: int, strategy: str, tmp_path: Path
) -> None:
    engine, type_name, (one, same, other) = twins
    people(engine, type_name, [other] * 4)
    levels = {"min_level": level, "max_level": level} if strategy == "best_first" else {}
    spec = {
        "quasi_identifiers": {
            "v": {
                "hierarchy": hierarchy_file(tmp_path, [[one, "a", "*"], [same, "a", "*"], [other, "b", "*"]]),
                **levels,
            }
        },
        "keep": "*",
        "target": {"table": "seen", "as": "view"},
    }
    anonymize("people", spec, connection=engine.connection, k=2, strategy=strategy)
    engine.run(f"INSERT INTO people VALUES ('{one}', 100)")
    assert Counter(row[-1] for row in rows_of(engine, "seen")) == Counter(range(4))
    engine.run(f"INSERT INTO people VALUES ('{same}', 101)")
    assert max(Counter(row[-1] for row in rows_of(engine, "seen")).values()) == 1
    if strategy == "best_first":
        assert len(rows_of(engine, "seen")) == 6  # both are one value, and so a class of two


@pytest.mark.parametrize("twins", TWINS, indirect=True, ids=lambda case: f"{case[0]}-{case[1]}")
def test_equal_leaves_of_different_labels_are_refused(
    twins: tuple[Engine, str, tuple[str, str, str]], tmp_path: Path
) -> None:
    engine, type_name, (one, same, other) = twins
    people(engine, type_name, [other] * 4)
    hierarchy = hierarchy_file(tmp_path, [[one, "a", "*"], [same, "b", "*"], [other, "b", "*"]])
    with pytest.raises(HierarchyError, match="has the labels"):
        anonymize("people", {"quasi_identifiers": {"v": {"hierarchy": hierarchy}}}, connection=engine.connection, k=2)


# A view's own tables may be written to


def make_view(engine: Engine, folder: Path, strategy: str, level: int, with_null: bool) -> None:
    texts = [["10", "a"], ["11", "a"], ["20", "b"], ["21", "b"], ["30", "c"]] + ([["", "c"]] if with_null else [])
    file = hierarchy_file(folder, [[value, label, "*"] for value, label in texts])
    levels = {"min_level": level, "max_level": level} if strategy == "best_first" else {}
    values = [10, 11, 20, 21, 30, *([None] if with_null else [])]
    rows = [(value, i * 10 + j) for i, value in enumerate(values) for j in range(3)]
    create_table(engine, "people", {"age": "INTEGER", "number": "INTEGER"}, rows)
    target = {"table": "seen", "as": "view"}
    spec = {"quasi_identifiers": {"age": {"hierarchy": file, **levels}}, "keep": "*", "target": target}
    anonymize("people", spec, connection=engine.connection, k=2, strategy=strategy)


def undeclare(engine: Engine, table: str) -> None:
    """The owner may take a declared key away: by a table of the same name without one."""
    described = engine.find(table)
    assert described is not None
    columns = ", ".join(column.name for column in described.columns)
    engine.run(f"CREATE TABLE copied AS SELECT {columns} FROM {table}")
    if isinstance(engine, DuckDB):
        engine.run(f"DROP TABLE {table}")
        engine.run(f"ALTER TABLE copied RENAME TO {table}")
    else:
        for (name,) in engine.rows(f"SELECT conname FROM pg_constraint WHERE conrelid = '{table}'::regclass"):
            engine.run(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        engine.run("DROP TABLE copied")


def tables_beside(engine: Engine) -> list[str]:
    names = engine.rows(
        "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'seen\\_\\_%' ESCAPE '\\'"
    )
    return [name for (name,) in names]


TAMPERED = (
    "INSERT INTO {table} SELECT * FROM {table}",
    "UPDATE {table} SET {last} = (SELECT MIN({last}) FROM {table})",
    "INSERT INTO {table} SELECT {all_but_last}, (SELECT MAX({last}) FROM {table}) FROM {table}",
    "UPDATE {table} SET {first} = (SELECT MAX({first}) FROM {table})",
    "DELETE FROM {table}",
)


@pytest.mark.parametrize("with_null", [False, True])
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.slow
@pytest.mark.sampled("postgres", "sail")
def test_a_view_shows_classes_of_k_rows_whatever_was_written_to_its_mapping_table(
    engine: Engine, level: int, with_null: bool, tmp_path: Path
) -> None:
    make_view(engine, tmp_path, "best_first", level, with_null)
    undeclare(engine, "seen__age")
    codes = [int(code) for (code,) in engine.rows("SELECT DISTINCT code FROM seen__age")]
    columns = "code, label" if level else "code"
    for code in (*codes, -1, max(codes) + 1, 99):
        for label in ("secret", "a", "*") if level else (None,):
            shown = f"{code}, '{label}'" if level else f"{code}"
            for where in ("", f" WHERE value = {10 if level else 30}"):
                engine.run("BEGIN")
                engine.run(
                    f"UPDATE seen__age SET ({columns}) = ROW({shown}){where}"
                    if isinstance(engine, PostgreSQL)
                    else f"UPDATE seen__age SET code = {code}" + (f", label = '{label}'" if level else "") + where
                )
                check(engine, ["age"])
                engine.run(f"INSERT INTO seen__age (value, {columns}) SELECT value, {shown} FROM seen__age")
                check(engine, ["age"])
                engine.run("ROLLBACK")


@pytest.mark.parametrize("strategy", LOCAL)
@pytest.mark.slow
def test_a_view_of_classes_shows_no_row_twice_whatever_was_written_to_its_tables(
    engine: Engine, strategy: str, tmp_path: Path
) -> None:
    make_view(engine, tmp_path, strategy, 0, True)
    before = rows_of(engine, "seen")
    assert len(before) == 18
    for table in tables_beside(engine):
        undeclare(engine, table)
        described = engine.find(table)
        assert described is not None
        names = [f'"{column.name}"' for column in described.columns]
        for statement in TAMPERED:
            engine.run("BEGIN")
            all_but_last = ", ".join(names[:-1]) or "0"
            engine.run(statement.format(table=table, first=names[0], last=names[-1], all_but_last=all_but_last))
            check(engine, [])
            engine.run("ROLLBACK")


def check(engine: Engine, classes: Sequence[str]) -> None:
    """No row of the source twice; and every class of two rows or more, where classes are told by columns."""
    table = engine.find("seen")
    assert table is not None
    assert max(Counter(row[-1] for row in rows_of(engine, "seen")).values(), default=1) == 1
    if classes:
        assert summarize(engine, table.relation, classes, all_of(k_anonymity(2))).holds


@pytest.mark.parametrize("strategy", ["best_first", "mondrian"])
def test_a_views_mapping_table_declares_its_key(engine: Engine, strategy: str, tmp_path: Path) -> None:
    make_view(engine, tmp_path, strategy, 0, False)
    with pytest.raises(SourceError, match=r"ConstraintException|ExclusionViolation"):
        engine.run("INSERT INTO seen__age SELECT * FROM seen__age")


# Types whose values Python holds otherwise, or not at all: nothing of a column goes through Python but its text

DUCKDB_TYPES = {
    "UUID": ["00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"],
    "INTERVAL": ["1 month", "1 day", "2 years 3 hours"],
    "BLOB": ["\\x00\\xAA", "plain"],
    "TIME": ["24:00:00", "23:59:59.999999", "00:00:00"],
    "TIMETZ": ["12:00:00+02", "12:00:00+03"],
    "TIMESTAMP_NS": ["2020-01-01 00:00:00.123456789", "2020-01-01 00:00:00.123456780", "2020-01-01 00:00:00"],
    "TIMESTAMP_S": ["infinity", "2020-01-01 00:00:00"],
    "TIMESTAMP": ["infinity", "-infinity", "9999-12-31 23:59:59.999999", "20000-01-01", "2020-01-01 00:00:00.5"],
    "TIMESTAMPTZ": ["-infinity", "2020-01-01 00:00:00.5+00"],
    "DATE": ["infinity", "-infinity", "9999-12-31", "0044-03-15 (BC)", "20000-01-01", "2020-02-29"],
    "HUGEINT": ["170141183460469231731687303715884105727", "0"],
    "DECIMAL(38,10)": ["1234567890123456789012345678.0123456789", "0"],
    "DOUBLE": ["nan", "inf", "-inf", "0.1", "1e300"],
    "FLOAT": ["0.1", "16777216", "nan", "inf"],
    "BOOLEAN": ["true", "false"],
    "BIT": ["0101", "1"],
    "ENUM('sad', 'ok', 'never')": ["sad", "ok"],
    "VARCHAR": ["", "it''s", "a;b", "\\x00"],
}
POSTGRES_TYPES = {
    "uuid": DUCKDB_TYPES["UUID"],
    "interval": ["1 month", "1 day"],
    "bytea": ["\\x00aa", "\\x01"],
    "time": ["24:00:00", "00:00:00"],
    "timetz": ["12:00:00+02", "12:00:00+03"],
    "timestamp": ["infinity", "-infinity", "2020-01-01 00:00:00.5", "0044-03-15 00:00:00 BC", "0044-03-15 00:00:00"],
    "timestamptz": ["-infinity", "2020-01-01 00:00:00.5+00", "0044-03-15 00:00:00+00 BC"],
    "date": ["infinity", "-infinity", "2020-02-29", "0044-03-15 BC", "0044-03-15", "20000-01-01"],
    "numeric": ["NaN", "1.5", "12345678901234567890123456789012345678901234567890"],
    "numeric(9,2)": ["1.50", "-2"],
    "double precision": ["NaN", "Infinity", "0.1"],
    "real": ["0.1", "NaN"],
    "varchar(2)": ["ab", ""],
    "inet": ["10.0.0.1", "10.0.0.0/8"],
}
TYPES = [("duckdb", *case) for case in DUCKDB_TYPES.items()] + [("postgres", *case) for case in POSTGRES_TYPES.items()]


def typed_engine(request: pytest.FixtureRequest, name: str) -> Engine:
    engine: Engine = request.getfixturevalue("embedded" if name == "duckdb" else "postgres")
    return engine


@pytest.mark.parametrize(("name", "type_name", "texts"), TYPES, ids=lambda part: str(part)[:20])
@pytest.mark.parametrize("form", ["table", "view"])
@pytest.mark.sampled
def test_values_of_any_type_are_released_unchanged(
    request: pytest.FixtureRequest, name: str, type_name: str, texts: Sequence[str], form: str
) -> None:
    engine = typed_engine(request, name)
    people(engine, type_name, [*texts, *texts])
    target = {"table": "seen", "as": form}
    spec = {"quasi_identifiers": {"v": {"hierarchy": "suppress"}}, "keep": "*", "target": target}
    release = anonymize("people", spec, connection=engine.connection, k=2)
    assert release.manifest["node"] == {"v": 0}
    kept = "SELECT CAST(v AS VARCHAR) FROM {} ORDER BY number"
    assert engine.rows(kept.format("seen")) == engine.rows(kept.format("people"))


@pytest.mark.parametrize(("name", "type_name", "texts"), TYPES, ids=lambda part: str(part)[:20])
@pytest.mark.sampled
def test_a_hierarchy_file_built_from_a_column_fits_it(
    request: pytest.FixtureRequest, name: str, type_name: str, texts: Sequence[str], tmp_path: Path
) -> None:
    if "" in texts:
        pytest.skip("the empty text is NULL in a hierarchy file; it is refused with advice, see below")
    engine = typed_engine(request, name)
    people(engine, type_name, [*texts, *texts])
    table = engine.find("people")
    assert table is not None
    hierarchy = suppress(column_values(Source(engine, table), "v"), "v")
    path = tmp_path / "v.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(hierarchy.rows())
    spec = {"quasi_identifiers": {"v": {"hierarchy": {"file": str(path), "separator": ";"}}}}
    assert anonymize("people", spec, connection=engine.connection, k=2).manifest["node"] == {"v": 0}


# Values that PostgreSQL writes in several ways, beside one for which DuckDB has no number; the file has another way.
BIG = "12345678901234567890123456789012345678901234567890"
WRITINGS = [
    ("numeric", "1.5", "1.50", "1.500", "NaN"),
    ("numeric", "1.5", "1.50", "1.500", BIG),
    ("numeric", "0.0000001", "0.00000010", "1e-7", "NaN"),
    ("interval", "1 month", "30 days", "1 mon", "2 days"),
    ("jsonb", "1.0", "1.00", "1.0", "2"),
]


@pytest.mark.parametrize("form", ["table", "view"])
@pytest.mark.parametrize(("type_name", "one", "same", "of_file", "other"), WRITINGS, ids=lambda part: str(part)[:12])
def test_values_of_a_server_are_equal_however_they_are_written(
    postgres: PostgreSQL, type_name: str, one: str, same: str, of_file: str, other: str, form: str, tmp_path: Path
) -> None:
    people(postgres, type_name, [one, same, other, other] * 2)
    postgres.run("ALTER TABLE people ADD sex integer")
    postgres.run("UPDATE people SET sex = number % 2")  # one writing for each, so that the distinct tuples hold both
    attributes = {"v": {"hierarchy": hierarchy_file(tmp_path, [[of_file, "a"], [other, "b"]])}, "sex": {}}
    attributes["sex"]["hierarchy"] = "suppress"
    spec = {"quasi_identifiers": attributes, "keep": ["number"], "target": {"table": "seen", "as": form}}
    release = anonymize("people", spec, connection=postgres.connection, k=2)
    assert release.manifest["node"] == {"v": 0, "sex": 0}
    equal = "SELECT COUNT(*) FROM people AS p JOIN seen AS s ON s.number = p.number AND s.v = p.v AND s.sex = p.sex"
    assert postgres.rows(equal) == [(8,)]


ORDERS = [
    ("embedded", "DOUBLE", ["-0.0", "0.0", "12.5", "12.5"], "embedded"),
    ("embedded", "FLOAT", ["-0.0", "0.0", "12.5", "12.5"], "embedded"),
    ("postgres", "float8", ["-0.0", "0.0", "12.5", "12.5"], "embedded"),
    ("postgres", "numeric", ["1.5", "1.500", "20", "20.0"], "embedded"),
    ("postgres", "numeric", ["1.5", "1.500", "20", "20.0"], "engine"),
    ("postgres", "numeric", ["1.5", "1.500", "NaN", "NaN"], "embedded"),
]


@pytest.mark.parametrize(("name", "type_name", "texts", "search_in"), ORDERS, ids=lambda part: str(part)[:12])
def test_no_figure_depends_on_which_of_two_equal_values_comes_first(
    request: pytest.FixtureRequest, name: str, type_name: str, texts: list[str], search_in: Any
) -> None:
    engine: Engine = request.getfixturevalue(name)
    found = []
    for rows in (texts, texts[::-1]):
        people(engine, type_name, rows)
        spec = {"quasi_identifiers": {"v": {"hierarchy": {"redact": "right"}}}, "suppression_limit": 0.0}
        manifest = anonymize("people", spec, connection=engine.connection, k=3, search_in=search_in).manifest
        found.append((manifest["heights"], manifest["node"], manifest["score"]))
        engine.run("DROP TABLE people")
    assert found[0] == found[1]


def test_equal_values_of_the_data_are_found_before_the_search(postgres: PostgreSQL, tmp_path: Path) -> None:
    people(postgres, "interval", ["1 month", "30 days", "1 day"] * 2)
    spec = {"quasi_identifiers": {"v": {}, "number": {"hierarchy": "suppress"}}}
    spec["quasi_identifiers"]["v"]["hierarchy"] = hierarchy_file(
        tmp_path, [["1 mon", "a", "*"], ["30 days", "b", "*"], ["1 day", "b", "*"]]
    )
    stages: list[str] = []
    observer = Observer(stage=stages.append)
    with pytest.raises(HierarchyError, match=r"'1 mon' has the labels 'a;\*' \(written '1 mon'\) and 'b;\*'"):
        anonymize("people", spec, connection=postgres.connection, k=2, observer=observer)
    assert stages == ["Counting the distinct tuples"]


UNHOLDABLE = [
    ("duckdb", "TINYINT", "7", "200"),
    ("duckdb", "ENUM('sad', 'ok')", "sad", "merry"),
    ("duckdb", "UUID", DUCKDB_TYPES["UUID"][0], "nobody"),
    ("duckdb", "DECIMAL(4,2)", "12.34", "12345"),
    ("postgres", "smallint", "7", "70000"),
    ("postgres", "varchar(2)", "ab", "abc"),
    ("postgres", "uuid", DUCKDB_TYPES["UUID"][0], "nobody"),
    ("postgres", "numeric(4,2)", "12.34", "12345"),
]


@pytest.mark.parametrize(("name", "type_name", "held", "not_held"), UNHOLDABLE, ids=lambda part: str(part)[:20])
@pytest.mark.parametrize("old_server", [False, True])
@pytest.mark.sampled("postgres", "sail")
def test_impossible_leaves_of_a_column_are_left_out(
    request: pytest.FixtureRequest,
    name: str,
    type_name: str,
    held: str,
    not_held: str,
    old_server: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = typed_engine(request, name)
    if old_server and name == "duckdb":
        pytest.skip("only PostgreSQL has versions that cannot say what a type holds")
    if old_server:
        monkeypatch.setattr("kanon_sql.engines.postgres._TELLS_VALID_INPUT", 10**9)
    people(engine, type_name, [held] * 4)
    file = hierarchy_file(tmp_path, [[not_held, "x", "*"], [held, "a", "*"]])
    spec = {
        "quasi_identifiers": {"v": {"hierarchy": file, "min_level": 1}},
        "target": {"table": "seen", "as": "view"},
    }
    release = anonymize("people", spec, connection=engine.connection, k=2)
    assert release.manifest["node"] == {"v": 1}
    assert [row[0] for row in rows_of(engine, "seen")] == ["a"] * 4
    assert len(engine.rows("SELECT * FROM seen__v")) == 1


def test_leaves_missing_from_a_pandas_categorical_are_left_out(tmp_path: Path) -> None:
    people = pandas.DataFrame({"v": pandas.Categorical(["sad", "ok"] * 2), "number": range(4)})
    file = hierarchy_file(tmp_path, [["sad", "low"], ["ok", "high"], ["merry", "high"]])
    assert anonymize(people, {"quasi_identifiers": {"v": {"hierarchy": file}}}, k=2).manifest["released_rows"] == 4


def test_a_hierarchy_without_any_possible_value_of_the_column_is_refused(embedded: DuckDB, tmp_path: Path) -> None:
    people(embedded, "TINYINT", ["7", "7"])
    file = hierarchy_file(tmp_path, [["200", "x"], ["300", "x"]])
    with pytest.raises(HierarchyError, match="fits the column's type"):
        anonymize("people", {"quasi_identifiers": {"v": {"hierarchy": file}}}, connection=embedded.connection, k=2)


def test_the_empty_text_is_refused_with_advice_that_can_be_followed(engine: Engine, tmp_path: Path) -> None:
    people(engine, "VARCHAR(9)", ["", "", "a", "a"])
    spec: dict[str, Any] = {"quasi_identifiers": {"v": {"hierarchy": hierarchy_file(tmp_path, [["a"]])}}}
    with pytest.raises(HierarchyError, match="choose another recipe, since the empty text is NULL in a file and"):
        anonymize("people", spec, connection=engine.connection, k=2)
    spec["quasi_identifiers"]["v"]["hierarchy"] = "suppress"
    assert anonymize("people", spec, connection=engine.connection, k=2).manifest["node"] == {"v": 0}


@pytest.mark.parametrize("type_name", ["VARCHAR COLLATE NOCASE", "VARCHAR COLLATE NOACCENT"])
def test_a_file_can_spell_a_value_differently_if_equal_by_collation(
    embedded: DuckDB, type_name: str, tmp_path: Path
) -> None:
    _, same, _ = DUCKDB_TWINS[type_name]
    one = DUCKDB_TWINS[type_name][0]
    people(embedded, type_name, [one] * 4)
    spec = {"quasi_identifiers": {"v": {"hierarchy": hierarchy_file(tmp_path, [[same, "a", "*"], ["x", "b", "*"]])}}}
    assert anonymize("people", spec, connection=embedded.connection, k=2).manifest["released_rows"] == 4


@pytest.mark.parametrize("rows", [["rené"] * 4, ["rene", "rené"] * 20])
def test_a_file_can_have_two_spellings_that_are_equal_by_collation(
    embedded: DuckDB, rows: list[str], tmp_path: Path
) -> None:
    embedded.run("CREATE TABLE people (v VARCHAR COLLATE NOACCENT, w INTEGER)")
    embedded.run(f"INSERT INTO people VALUES {', '.join(f'({text!r}, {i % 7})' for i, text in enumerate(rows))}")
    lines = hierarchy_file(tmp_path, [["rene", "r", "*"], ["rené", "r", "*"]])
    spec = {"quasi_identifiers": {"v": {"hierarchy": lines}, "w": {"hierarchy": "suppress"}}}
    assert anonymize("people", spec, connection=embedded.connection, k=2).manifest["released_rows"] == len(rows)


# A type that lists its values lists those of suppressed rows too


ENUMS = {"ENUM('common', 'RARE')": "common", "ENUM('common', 'RARE')[]": "[common]"}
STRUCT = "STRUCT(a ENUM('common', 'RARE'), b INTEGER)"


@pytest.mark.parametrize("type_name", [*ENUMS, STRUCT])
@pytest.mark.parametrize("form", ["table", "view", "file", "anatomy"])
@pytest.mark.parametrize("strategy", ["best_first", "mondrian"])
def test_no_type_reveals_a_suppressed_value(
    embedded: DuckDB, type_name: str, form: str, strategy: str, tmp_path: Path
) -> None:
    embedded.run(f"CREATE TABLE people (age INTEGER, mood {type_name}, ill VARCHAR)")
    rare = "{'a': 'RARE', 'b': 1}" if type_name == STRUCT else "['RARE']" if "[]" in type_name else "'RARE'"
    common = rare.replace("RARE", "common")
    embedded.run(f"INSERT INTO people SELECT 20, {common}, 'flu' FROM range(8)")
    embedded.run(f"INSERT INTO people SELECT 90, {rare}, 'flu' FROM range(1)")
    target = {"file": str(tmp_path / "seen.parquet")} if form == "file" else {"table": "seen", "as": form}
    spec = {
        "quasi_identifiers": {"age": {"hierarchy": "suppress", "max_level": 0} if strategy == "best_first" else {}},
        "sensitive": ["ill"],
        "keep": ["mood"],
        "suppression_limit": 0.2,
        "target": target,
    }
    if strategy == "mondrian":
        embedded.run("DELETE FROM people WHERE age = 90")
    release = anonymize("people", spec, connection=embedded.connection, k=2, strategy=strategy)
    assert release.manifest["released_rows"] == 8
    if form == "file":
        assert "RARE" not in str(release.to_df().dtypes)
        assert "RARE" not in str(pandas.read_parquet(target["file"]).dtypes)
    else:
        assert "RARE" not in str(embedded.rows("DESCRIBE seen"))
        assert "RARE" not in str(getattr(release.to_df()["mood"].dtype, "categories", ""))


@pytest.mark.parametrize("strategy", ["best_first", "mondrian"])
def test_an_enum_of_which_all_values_are_released_keeps_its_type(embedded: DuckDB, strategy: str) -> None:
    embedded.run("CREATE TYPE mood AS ENUM ('it''s ok', 'sad')")
    embedded.run(
        "CREATE TABLE people AS SELECT i // 4 AS age, 'sad'::mood AS mood, 'sad'::mood AS never FROM range(8) t(i)"
    )
    embedded.run("UPDATE people SET mood = 'it''s ok' WHERE age = 1")
    spec = {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}, "keep": ["mood", "never"]}
    anonymize("people", spec, connection=embedded.connection, k=2, strategy=strategy, into="seen")
    types = dict(row[:2] for row in embedded.rows("DESCRIBE seen"))
    assert (types["mood"], types["never"]) == ("ENUM('it''s ok', 'sad')", "VARCHAR")
    assert embedded.rows("SELECT mood, COUNT(*) FROM seen GROUP BY mood ORDER BY mood") == [("it's ok", 4), ("sad", 4)]
    anonymize("people", spec, connection=embedded.connection, k=2, strategy=strategy, into="looked", form="view")
    assert dict(row[:2] for row in embedded.rows("DESCRIBE looked"))["mood"] == "VARCHAR"


@pytest.mark.parametrize("strategy", ["best_first", "mondrian"])
@pytest.mark.parametrize("show", [None, "mode"])
def test_no_type_of_a_quasi_identifier_reveals_a_suppressed_value(
    embedded: DuckDB, strategy: str, show: str | None
) -> None:
    embedded.run("CREATE TABLE people (mood ENUM('common', 'RARE'), age INTEGER)")
    embedded.run("INSERT INTO people SELECT 'common', i // 4 FROM range(8) t(i)")
    attribute = {"hierarchy": "suppress", **({"show": show} if show else {})}
    spec = {"quasi_identifiers": {"mood": attribute, "age": {"hierarchy": "suppress"}}, "target": {"table": "seen"}}
    anonymize("people", spec, connection=embedded.connection, k=2, strategy=strategy)
    assert "RARE" not in str(embedded.rows("DESCRIBE seen"))
    assert embedded.rows("SELECT DISTINCT mood FROM seen") == [("common",)]
