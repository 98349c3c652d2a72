"""Targets of a release: what is replaced, what is refused, and what is verified before anything becomes visible."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest

from kanon_sql import anonymize, anonymize_sql
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SpecError, TargetError, VerificationError
from kanon_sql.release import findings
from kanon_sql.release.findings import Summary
from kanon_sql.release.full_domain import FullDomain
from kanon_sql.release.tables import comment
from support.database import create_table, mark
from support.oracle import Problem
from support.releasing import People, _quoted, as_text, everything, file_rows, standalone, table_rows, two_levels
from support.school import PUPILS, SPEC
from support.ward import snapshot

OLD = [(41,)]


def old_target(engine: Engine, form: str) -> None:
    engine.create(engine.place("released"), f"SELECT {OLD[0][0]} AS old", form, comment({"is": "release"}))


@pytest.mark.spark(new=["table"])
@pytest.mark.parametrize("old", ["table", "view"])
@pytest.mark.parametrize("new", ["table", "view"])
@pytest.mark.capability("a release as a table or a live view, and its replacement")
@pytest.mark.sampled
def test_an_old_table_or_view_is_replaced_only_on_request(people: People, old: str, new: str) -> None:
    old_target(people.engine, old)
    with pytest.raises(TargetError, match="overwrite=True"):
        people.release(into="released", form=new)
    assert table_rows(people.engine, "released") == OLD
    for _ in range(2):
        people.release(into="released", form=new, overwrite=True)
        assert len(table_rows(people.engine, "released")) == 9
        assert people.engine.find("released").form == new


def test_a_table_below_the_source_is_not_replaced(people: People) -> None:
    """Through two views, one of which has a part called as the table."""
    engine, base = people.engine, people.name
    if engine.dialect == "spark":
        pytest.skip("Spark does not tell what a view reads")
    table, view = _quoted(base), f'"above {base}"'
    engine.run(f'CREATE VIEW "below {base}" AS WITH part AS (SELECT * FROM {table}) SELECT * FROM part')
    engine.run(f'CREATE VIEW {view} AS SELECT * FROM "below {base}"')
    before = table_rows(engine, base)
    options = {"connection": engine.connection, "overwrite": True, "replace_foreign_table": table}
    try:
        with pytest.raises(TargetError, match="which reads the target"):
            anonymize(view, people.spec, into=table, **options)
        assert table_rows(engine, base) == before
    finally:
        engine.run(f"DROP VIEW {view}")
        engine.run(f'DROP VIEW "below {base}"')


def test_a_new_database_can_be_opened_by_the_oldest_supported_duckdb(tmp_path: Path) -> None:
    database = tmp_path / "new.duckdb"
    spec = {"quasi_identifiers": {"q": {"hierarchy": "suppress"}}}
    anonymize(pandas.DataFrame({"q": ["a"] * 5}), spec, database=str(database), into="anon")
    with duckdb.connect(str(database)) as connection:
        assert connection.execute("SELECT COUNT(*) FROM anon").fetchall() == [(5,)]
    version = int.from_bytes(database.read_bytes()[12:20], "little")
    assert version <= 67, "the latest version of the format that DuckDB 1.4 reads"


def test_a_variant_is_refused_where_values_are_compared() -> None:
    if int(duckdb.__version__.split(".")[0]) < 2:
        pytest.skip("DuckDB 2 has variants")
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE source AS SELECT i % 2 AS q, CAST(i AS VARIANT) AS v FROM range(20) AS t(i)")
        for role in ({"quasi_identifiers": {"v": {"hierarchy": "suppress"}}}, {"unit": "v"}, {"sensitive": ["v"]}):
            spec = {"quasi_identifiers": {"q": {"hierarchy": "suppress"}}, **role}
            with pytest.raises(SpecError, match="the column 'v' is a VARIANT"):
                anonymize("source", spec, connection=connection, into="anon")


@pytest.mark.spark
def test_a_table_that_is_not_a_release_is_replaced_only_if_named_twice(people: People) -> None:
    create_table(people.engine, "released", {"old": "INTEGER"}, OLD)
    for named in (None, "another"):
        with pytest.raises(TargetError, match=r"has no comment of a release .* `replace_foreign_table`"):
            people.release(into="released", overwrite=True, replace_foreign_table=named)
        assert table_rows(people.engine, "released") == OLD
    with pytest.raises(TargetError, match="exists already; use `overwrite=True`"):
        people.release(into="released", replace_foreign_table="released")
    for named in ("released", None):  # it has a comment by then
        people.release(into="released", overwrite=True, replace_foreign_table=named)
        assert len(table_rows(people.engine, "released")) == 9


def test_the_inputs_of_a_release_are_never_replaced(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    create_table(engine, "pupils", {"name": "TEXT", "age": "INTEGER", "zip": "TEXT", "ill": "TEXT"}, PUPILS)
    zips = [(zip_code, "*") for zip_code in "012"]
    create_table(engine, "zips", {"value": "TEXT", "level_1": "TEXT"}, zips)
    create_table(engine, "voters", {"age": "INTEGER", "zip": "TEXT"}, [row[1:3] for row in PUPILS])
    (tmp_path / "zip.csv").write_text("0;*\n1;*\n2;*\n")
    privacy = {"k": 3, "k_map": {"k": 3, "population": "voters"}}
    by_table = {**SPEC["quasi_identifiers"], "zip": {"hierarchy": {"table": "zips"}}}
    by_file = {**SPEC["quasi_identifiers"], "zip": {"hierarchy": {"file": "zip.csv"}}}
    (tmp_path / "spec.csv").write_text(json.dumps({**SPEC, "quasi_identifiers": by_file}))
    before = [table_rows(engine, "zips"), table_rows(engine, "voters"), snapshot(tmp_path)]
    for into, what in (("zips", "hierarchy"), ("voters", "population"), ("pupils", "source")):
        spec = {**SPEC, "quasi_identifiers": by_table, "privacy": privacy}
        for own in (False, True):
            if own and what != "source":
                mark(engine, into)
            options = {"into": into, "overwrite": True, "replace_foreign_table": into}
            with pytest.raises(TargetError, match=f"is (a|the) {what}"):
                anonymize("pupils", spec, connection=engine.connection, **options)
    for options in ({"output": "zip.csv"}, {"output": "spec.csv"}, {"output": "new.csv", "trace": Path("zip.csv")}):
        with pytest.raises(TargetError, match="is read by this run"):
            anonymize("pupils", tmp_path / "spec.csv", connection=engine.connection, overwrite=True, **options)
    assert [table_rows(engine, "zips"), table_rows(engine, "voters"), snapshot(tmp_path)] == before


@pytest.mark.parametrize("target", ["none", "table", "view", "csv"])
@pytest.mark.parametrize("search_in", ["embedded", "engine"])
@pytest.mark.capability("a search in the engine itself")
@pytest.mark.sampled("postgres", "sail")
def test_only_the_release_is_left(people: People, tmp_path: Path, target: str, search_in: str) -> None:
    options = {"output": tmp_path / "release.csv"} if target == "csv" else {"into": "released", "form": target}
    files, tables = set(tmp_path.iterdir()), set(everything(people.engine))
    people.release(search_in=search_in, **({} if target == "none" else options))
    new = {name for _, name, _ in set(everything(people.engine)) - tables}
    view = {"released", "released__attribute0"}  # what a view needs of a mapping table is a table beside it
    assert new == {"none": {"kanon_release_1"}, "table": {"released"}, "view": view, "csv": set()}[target]
    assert set(tmp_path.iterdir()) - files == ({tmp_path / "release.csv"} if target == "csv" else set())


@pytest.mark.spark(ending=["parquet"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.capability("a release as a Parquet or CSV file")
def test_an_old_file_is_replaced_only_on_request(people: People, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"release.{ending}"
    path.write_text("old")
    with pytest.raises(TargetError, match="overwrite=True"):
        people.release(output=path)
    assert path.read_text() == "old"
    people.release(output=path, overwrite=True)
    assert len(file_rows(path)) == 9


@pytest.mark.spark
def test_the_target_is_never_the_source(people: People, tmp_path: Path) -> None:
    before = table_rows(people.engine, people.name)
    other = [people.name.upper()] if people.engine.dialect == "duckdb" else []  # elsewhere capitals make a name
    for name in (people.name, _quoted(people.name), *other):
        with pytest.raises(TargetError, match="is the source"):
            people.release(into=name, overwrite=True)
    assert table_rows(people.engine, people.name) == before
    source, link = tmp_path / "people.csv", tmp_path / "link.csv"
    source.write_text("q\na\na\na\n")
    link.symlink_to(source)
    for path in (source, link, tmp_path / "." / "people.csv"):
        with pytest.raises(TargetError, match="is the source"):
            anonymize(source, {"quasi_identifiers": {"q": {"hierarchy": "suppress"}}}, output=path, overwrite=True)
    assert source.read_text() == "q\na\na\na\n"


@pytest.mark.spark
def test_a_missing_folder_and_an_unknown_ending_are_refused(people: People, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="there is no folder"):
        people.release(output=tmp_path / "nowhere" / "release.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(TargetError, match="is a folder"):
        people.release(output=tmp_path / "folder.csv", overwrite=True)


def tampered(tamper: Callable[[str], str]) -> Callable[[FullDomain], str]:
    """The query of a table or file, changed on its way to the database."""
    original = FullDomain.select_sql

    def select_sql(recoding: FullDomain) -> str:
        query = tamper(original(recoding))
        assert query != original(recoding)
        return query

    return select_sql


TAMPERINGS = {
    "classes are not joined": (
        lambda sql: sql.replace("INNER JOIN", "LEFT JOIN"),
        "12 rows where 9|do not meet the privacy model",
    ),
    "a row is lost": (lambda sql: f"SELECT * FROM ({sql}) AS q LIMIT 8", "8 rows where 9 were planned"),
    "a row comes twice": (lambda sql: f"({sql}) UNION ALL ({sql})", "18 rows where 9 were planned"),
    "the identifier stays": (lambda sql: f"SELECT 1 AS id, q.* FROM ({sql}) AS q", "does not have the planned columns"),
}


@pytest.mark.capability("a failed check keeps the previous release")
@pytest.mark.spark(target=["table"])
@pytest.mark.parametrize("tampering", TAMPERINGS)
@pytest.mark.parametrize("target", ["none", "table", "csv", "parquet"])
@pytest.mark.sampled("postgres", "sail")
def test_an_unsafe_release_is_not_published(
    people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, tampering: str
) -> None:
    tamper, message = TAMPERINGS[tampering]
    monkeypatch.setattr(FullDomain, "select_sql", tampered(tamper))
    refuses(people, tmp_path, target, message)


def test_a_view_that_is_not_as_promised_is_not_released(
    people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = FullDomain.view_sql
    monkeypatch.setattr(FullDomain, "view_sql", lambda *args: original(*args).replace(">= 3", ">= 2"))
    refuses(people, tmp_path, "view", "2 rows in 1 classes that do not satisfy the privacy model")


@pytest.mark.spark(target=["parquet"])
@pytest.mark.parametrize("target", ["none", "table", "view", "csv", "parquet"])
def test_no_unverified_release_is_left(
    people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.setattr(findings, "summarize", lambda *_, **__: Summary(9, 2, 1, 1, 1))
    refuses(people, tmp_path, target, "1 rows in 1 classes that do not satisfy the privacy model")


@pytest.mark.spark(target=["table"])
@pytest.mark.parametrize("target", ["none", "table", "view", "csv", "parquet"])
def test_an_interrupted_release_leaves_nothing(
    people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt("while the release is verified")

    monkeypatch.setattr(findings, "summarize", interrupt)
    refuses(people, tmp_path, target, "while", KeyboardInterrupt)


def refuses(
    people: People, folder: Path, target: str, message: str, error: type[BaseException] = VerificationError
) -> None:
    """Neither a new release nor the loss of an old one, and nothing left lying about."""
    engine, path = people.engine, folder / f"release.{target}"
    options: dict[str, Any] = {}
    if target in ("table", "view"):
        options = {"into": "released", "form": target, "overwrite": True}
        old_target(engine, target)
    elif target != "none":
        options = {"output": path, "overwrite": True}
        path.write_text("old")
    files, tables = sorted(folder.iterdir()), everything(engine)
    with pytest.raises(error, match=message):
        people.release(**options)
    assert sorted(folder.iterdir()) == files
    assert everything(engine) == tables
    assert target not in ("table", "view") or table_rows(engine, "released") == OLD
    assert target not in ("csv", "parquet") or path.read_text() == "old"


@pytest.mark.capability("a compiled statement that creates the release")
@pytest.mark.parametrize("target", [{"into": "released"}, {"into": "released", "form": "view"}])
def test_the_statement_of_a_target_creates_it(people: People, target: dict[str, str]) -> None:
    node, sql = standalone(people, **target)
    assert people.engine.find("released") is None
    people.engine.run(sql)
    assert people.engine.find("released").form == target.get("form", "table")
    assert Counter(table_rows(people.engine, "released")) == people.recoded(node)


def test_the_statement_of_a_file_writes_it(embedded: DuckDB, tmp_path: Path) -> None:
    rows = [("a",)] * 3 + [("b",)] * 2
    people = People(embedded, Problem(rows, [two_levels("ab")], 2), tmp_path)
    path = tmp_path / "it's.csv"
    node, sql = standalone(people, output=path)
    assert not path.exists()
    embedded.run(sql)
    assert Counter(file_rows(path)) == as_text(people.recoded(node))


# Texts that a spreadsheet takes for formulas

FORMULAS = {
    **{text: f"'{text}" for text in ('=HYPERLINK("http://x.org")', "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "-A1")},
    **{text: f"'{text}" for text in ("=1", "'=1", "''=1", "\t=1", "\r=1", "\n=1", "\uff1d1", "--1 day")},
    **{
        text: text for text in ("-", "-5", "-5.3", "-1e-05", "+41 44 555 12 34", "-3 \u2013 -1", "'x", "a=1", "", " =1")
    },
}


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("formulas", [None, "escape", "keep"])
@pytest.mark.sampled
def test_no_spreadsheet_runs_what_was_released(engine: Engine, tmp_path: Path, ending: str, formulas: Any) -> None:
    shown = {**FORMULAS, None: None}
    rows = [(name, "x", -number, note) for number, note in enumerate(shown) for name in "ab"]
    create_table(engine, "people", {"name": "VARCHAR", "zip": "VARCHAR", "pay": "INTEGER", "note": "VARCHAR"}, rows)
    labels = tmp_path / "zip.csv"
    labels.write_text("x;=x();*\n")
    spec = {
        "identifiers": ["name"],
        "quasi_identifiers": {"zip": {"hierarchy": {"file": str(labels)}, "min_level": 1, "max_level": 1}},
        "sensitive": ["note"],
        "keep": ["pay"],
        "privacy": {"k": 2, "l_diversity": {"note": 2}},
    }
    path = tmp_path / f"released.{ending}"
    release = anonymize("people", spec, connection=engine.connection, output=path, formulas=formulas)
    escapes = ending != "parquet" and formulas != "keep"
    separator = {"csv": ",", "tsv": "\t"}.get(ending)
    read = (
        "read_parquet(?)"
        if separator is None
        else f"read_csv(?, all_varchar = true, allow_quoted_nulls = false, delim = '{separator}')"
    )
    written = duckdb.connect().execute(f"SELECT zip, CAST(pay AS INTEGER), note FROM {read}", [str(path)]).fetchall()
    expected = [("=x()", pay, note) for _, _, pay, note in rows]
    if escapes:
        expected = [("'=x()", pay, shown[note]) for _, _, pay, note in rows]
    assert Counter(map(str, written)) == Counter(str((zip_code, pay, note)) for zip_code, pay, note in expected)
    assert release.verify().holds


@pytest.mark.parametrize(
    "model", [{"t_closeness": {"note": 1.0}}, {"alpha_k": {"note": {"alpha": 0.6, "value": "=1"}}}]
)
def test_a_model_of_values_needs_them_unescaped(tmp_path: Path, model: dict[str, Any]) -> None:
    people = pandas.DataFrame({"zip": ["1"] * 8, "note": ["=1", "b"] * 4})
    spec = {
        "quasi_identifiers": {"zip": {"hierarchy": "suppress"}},
        "sensitive": ["note"],
        "privacy": {"k": 2, **model},
    }
    with pytest.raises(
        SpecError, match=r"'note' has 1 values that a spreadsheet would take for formulas.*formulas='keep'"
    ):
        anonymize(people, spec, output=tmp_path / "released.csv")
    for options in ({"output": tmp_path / "kept.csv", "formulas": "keep"}, {"output": tmp_path / "released.parquet"}):
        assert anonymize(people, spec, **options).verify().holds


def test_a_printed_file_has_no_formulas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pandas.DataFrame({"zip": ["1"] * 4, "n": [-1, 2, 3, 4], "note": ["=1", "@x", "-5", "a"]}).to_parquet(
        "people.parquet"
    )
    spec = {"quasi_identifiers": {"zip": {"hierarchy": "suppress"}}, "keep": ["n", "note"], "privacy": {"k": 2}}
    for formulas, notes in (("escape", ["'=1", "'@x", "-5", "a"]), ("keep", ["=1", "@x", "-5", "a"])):
        duckdb.execute(anonymize_sql("people.parquet", spec, output="released.csv", formulas=formulas))
        assert duckdb.sql("SELECT note FROM 'released.csv' ORDER BY n IS NULL, ABS(n)").fetchall() == [
            (n,) for n in notes
        ]


@pytest.mark.parametrize("name", ["../evil", "inner/evil", "linked"])
def test_a_column_names_no_hierarchy_outside_its_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "h" / "inner").mkdir(parents=True)
    for path in (tmp_path / "evil.csv", tmp_path / "h" / "inner" / "evil.csv", tmp_path / "h" / "..\\evil.csv"):
        path.write_text("x;*\n")
    (tmp_path / "h" / "linked.csv").symlink_to(tmp_path / "evil.csv")
    people = pandas.DataFrame({name: ["x"] * 4})
    for strategy in ("auto", "mondrian"):
        with pytest.raises(SpecError, match=r"would be a file outside the folder .*h; name the file in the spec"):
            anonymize(people, quasi_identifiers=[name], hierarchies=str(tmp_path / "h"), k=2, strategy=strategy)
    attributes = {name: {"hierarchy": {"file": str(tmp_path / "evil.csv")}}}
    assert anonymize(people, {"quasi_identifiers": attributes}, k=2).manifest["verified"]
    (tmp_path / "h" / "age.csv").write_text("x;*\n")
    (tmp_path / "g").symlink_to(tmp_path / "h")
    assert anonymize(people.rename(columns={name: "age"}), quasi_identifiers=["age"], hierarchies=tmp_path / "g", k=2)
