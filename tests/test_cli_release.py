"""Releases from the command line: sources, targets and printed statements, on files and both databases."""

import json
import re
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from support.command_line import ASK, PEOPLE, ask, done, kanon, released, tables, texts
from support.engines import ByHand

# From a database or a file to a table, a view or a file


def reading(target: str) -> str:
    """The query that reads the release back."""
    return f"SELECT * FROM read_csv('{target}', all_varchar = true)" if target.endswith(".csv") else f'FROM "{target}"'


@pytest.mark.parametrize(
    "target", ["--output anon.csv", "--output anon.parquet", "--into anon", "--into anon --as view"]
)
@pytest.mark.parametrize("limit", ["0", "0.1"])
@pytest.mark.sampled
def test_a_table_is_released(database: str, target: str, limit: str) -> None:
    options = ["--database", database, *ASK, "--k", 12, "--suppression-limit", limit, *target.split(), "--json"]
    manifest = json.loads(done("anonymize", "people", *options))
    expected = released(manifest["node"], 12)
    if "--output" in target:
        rows = ask("", f"SELECT * FROM '{target.split()[1]}'" if "parquet" in target else reading("anon.csv"))
    else:
        rows = ask(database, "SELECT * FROM anon")
        assert ("anon", "VIEW" if "view" in target else "BASE TABLE") in tables(database)
    assert texts(rows) == texts(expected)
    assert [manifest[name] for name in ("rows", "released_rows", "verified")] == [120, len(expected), True]
    assert database not in json.dumps(manifest) or not database.startswith("postgresql:"), "a URL may hold a password"


def test_the_place_of_the_search_changes_nothing(database: str) -> None:
    options = ["people", "--database", database, *ASK, "--k", 12, "--into", "anon", "--overwrite", "--json"]
    here, there = (json.loads(done("anonymize", *options, "--search-in", w)) for w in ("embedded", "engine"))
    assert [here[key] for key in ("node", "score", "released_rows")] == [
        there[key] for key in ("node", "score", "released_rows")
    ]


def test_a_view_recounts(database: str) -> None:
    done("anonymize", "people", "--database", database, *ASK, "--k", 12, "--into", "anon", "--as", "view")
    before = Counter(row[:2] for row in ask(database, "SELECT * FROM anon"))
    ask(database, "DELETE FROM people WHERE name IN (SELECT name FROM people WHERE zip = '90210' LIMIT 9)")
    after = Counter(row[:2] for row in ask(database, "SELECT * FROM anon"))
    assert 0 < after.total() < before.total()
    assert min(after.values()) >= 12


@pytest.mark.slow
def test_a_view_that_is_overwritten_leaves_none_of_its_tables(database: str) -> None:
    ask(database, "CREATE TABLE anon__age AS SELECT 'mine' AS mine")
    view = ["people", "--database", database, *ASK, "--into", "anon_1", "--as", "view", "--overwrite"]
    done("anonymize", *view, "--k", 1)
    with_mappings = tables(database)
    done("anonymize", *view, "--k", 120)
    assert len(with_mappings) - len(tables(database)) == 2
    done("anonymize", *view[:-2], "table", "--overwrite", "--k", 1)
    assert tables(database) == [(name, "BASE TABLE") for name in ("anon_1", "anon__age", "people")]


@pytest.mark.usefixtures("folder")
def test_several_parquet_files_are_one_source() -> None:
    ask("", "COPY (FROM 'people.csv' LIMIT 50) TO 'part_1.parquet'")
    ask("", "COPY (SELECT disease, zip, age, name FROM 'people.csv' OFFSET 50) TO 'part_2.parquet'")
    options = [*ASK, "--k", 12, "--json", "--output"]
    parts = json.loads(done("anonymize", "part_*.parquet", *options, "parts.csv"))
    whole = json.loads(done("anonymize", "people.csv", *options, "whole.csv"))
    assert (parts["rows"], parts["node"]) == (120, whole["node"])
    assert texts(ask("", reading("parts.csv"))) == texts(released(whole["node"], 12))


@pytest.mark.usefixtures("folder")
def test_an_empty_column_next_to_nested_columns() -> None:
    ages = [age for _, age, *_ in PEOPLE]
    nested = {"list": [[age] for age in ages], "list_2": [[age] for age in ages], "of": [{"age": age} for age in ages]}
    odd = pyarrow.table({"age": ages, "zip": pyarrow.nulls(len(ages)), **nested})
    pyarrow.parquet.write_table(odd, "odd.parquet")
    manifest = json.loads(done("anonymize", "odd.parquet", *ASK[2:-2], "--k", 12, "--output", "out.parquet", "--json"))
    assert (manifest["node"]["zip"], manifest["rows"]) == (0, 120)
    assert {row[1] for row in ask("", "FROM 'out.parquet'")} == {None}


@pytest.mark.parametrize("name", ["p[1]'s; x.csv", "p*.csv", "[p]/päople.csv"])
@pytest.mark.slow
def test_a_file_name_is_never_read_as_a_glob(folder: Path, name: str) -> None:
    (folder / "[p]").mkdir()
    (folder / "people.csv").rename(folder / name)
    (folder / "p1's; x.csv").write_text("other\n1\n")
    (folder / "p1.csv").write_text("other\n1\n")
    for target in ("[p]/out.csv", "[p]/out.parquet"):
        manifest = json.loads(done("anonymize", name, *ASK, "--k", 12, "--output", target, "--json"))
        assert manifest["rows"] == 120
        assert done("verify", target, "--quasi-identifiers", "age,zip", "--k", 12)


def test_a_csv_with_semicolons_and_crlf_keeps_its_zeros(folder: Path) -> None:
    text = (folder / "people.csv").read_text()
    (folder / "dutch.csv").write_bytes(("\ufeff" + text.replace(",", ";").replace("\n", "\r\n")).encode())
    manifest = json.loads(done("anonymize", "dutch.csv", *ASK, "--k", 2, "--output", "out.csv", "--json"))
    assert manifest["node"]["zip"] == 0
    assert {row[1] for row in ask("", reading("out.csv"))} == {"02138", "02139", "90210"}


# --sql


VISITS = {
    "age": "BIGINT",
    "zip": "VARCHAR",
    "born": "DATE",
    "weight": "DOUBLE PRECISION",
    "ward": "VARCHAR",
}
VISITED = [
    (21, "02138", date(2001, 2, 3), 71.5, "a;b"),
    (22, "02139", date(2001, 2, 4), 71.5, "it's"),
    (35, 'O"B"1', date(1999, 12, 31), 80.25, 'q"q'),
    (35, "O'Br%", None, -0.5, None),
    (None, "02138", date(2001, 2, 3), 1e-7, "ä"),
    (22, None, date(2001, 3, 3), None, "a;b"),
]
VISITS_ROWS = [row for count, row in enumerate(VISITED, start=1) for _ in range(count)]
VISITS_SPEC = """
quasi_identifiers:
  age: {{hierarchy: {{ranges: [10, 20]}}, min_level: {0}, max_level: {0}}}
  zip: {{hierarchy: {{redact: right}}, min_level: {1}, max_level: {1}}}
  born: {{hierarchy: {{dates: [month, year]}}, min_level: {2}, max_level: {2}}}
  weight: {{hierarchy: {{ranges: [10]}}, min_level: {3}, max_level: {3}}}
privacy: {{k: 4}}
suppression_limit: 1.0
"""
NODES = {"bottom": (0, 0, 0, 0), "middle": (1, 1, 1, 1), "mixed": (0, 5, 2, 2), "top": (3, 5, 3, 2)}


@pytest.fixture
def visits(database: str, make_table: Any) -> str:
    """The database with the table visits, whose columns are of many types and hold NULL."""
    pg = database.startswith("postgresql:")
    engine: DuckDB | PostgreSQL = ByHand.open(database) if pg else DuckDB.open(database)
    make_table(engine, "visits", VISITS, VISITS_ROWS)
    engine.close()
    return database


@pytest.mark.parametrize("node", NODES)
@pytest.mark.slow
@pytest.mark.sampled
def test_the_printed_statement_alone_returns_the_release(visits: str, folder: Path, node: str) -> None:
    (folder / "visits.yml").write_text(VISITS_SPEC.format(*NODES[node]))
    options = ["anonymize", "visits", "--database", visits, "--spec", "visits.yml", "--keep", "*"]
    done(*options, "--into", "made")
    rows = ask(visits, "SELECT * FROM made")
    assert 0 < len(rows) < len(VISITS_ROWS) or node == "top"
    assert ask(visits, done(*options, "--sql")) == rows
    for form in ("table", "view"):
        ask(visits, done(*options, "--into", f"by_{form}", "--as", form, "--sql"))
        assert ask(visits, f"SELECT * FROM by_{form}") == rows
        assert (f"by_{form}", "VIEW" if form == "view" else "BASE TABLE") in tables(visits)
    statement = done(*options, "--output", "by_sql.parquet", "--sql")
    if visits.startswith("postgresql:"):
        assert ask(visits, statement) == rows, "a server writes no file here; the query is printed"
    else:
        ask(visits, statement)
        assert ask("", "FROM 'by_sql.parquet'") == rows
    assert sorted(path.suffix for path in folder.iterdir() if path.is_file()) in (
        [".csv", ".duckdb", ".parquet", ".yml"],
        [".csv", ".yml"],
    )


@pytest.mark.parametrize(
    ("source", "strategy"),
    [("people.csv", "auto"), ("people.parquet", "auto"), ("p*e.parquet", "auto"), ("people.csv", "mondrian_relaxed")],
)
@pytest.mark.slow
@pytest.mark.sampled
def test_the_printed_statement_reads_files_itself(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, source: str, strategy: str
) -> None:
    ask("", "COPY (FROM 'people.csv') TO 'people.parquet'")
    options = ["anonymize", source, *ASK, "--k", 12, "--strategy", strategy]
    done(*options, "--output", "made.csv")
    query = done(*options, "--sql")
    copies = [done(*options, "--output", folder / f"copied.{form}", "--sql") for form in ("csv", "parquet")]
    table = done(*options, "--database", "new.duckdb", "--into", "anon", "--sql")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    rows = ask("", f"FROM '{folder}/made.csv'")
    assert ask("", query) == rows
    for copy in copies:
        ask("", copy)
    assert (folder / "copied.csv").read_text() == (folder / "made.csv").read_text()
    assert ask("", f"FROM '{folder}/copied.parquet'") == rows
    assert 'CREATE TABLE "new"."main"."anon"' in table
    ask("new.duckdb", table)
    assert ask("new.duckdb", "FROM anon") == rows


@pytest.mark.slow
def test_sql_writes_nothing(database: str, folder: Path) -> None:
    files, before = sorted(folder.iterdir()), tables(database)
    for target in (["--output", "x.csv"], ["--into", "x"], ["--into", "x", "--as", "view"], []):
        run = kanon("anonymize", "people", "--database", database, *ASK, *target, "--sql")
        assert (run.code, run.err.count("\n")) == (0, 1)
        assert "lists the values of its hierarchies" in run.err
    assert (sorted(folder.iterdir()), tables(database)) == (files, before)


# Columns released unchanged


@pytest.mark.slow
def test_kept_and_dropped_columns_are_printed(folder: Path) -> None:
    options = ["anonymize", "people.csv", "--quasi-identifiers", "age,zip", "--hierarchies", "h", "--overwrite"]
    output = done(*options, "--sensitive", "disease", "--keep", "name", "--output", "anon.csv")
    assert "Released unchanged: disease (sensitive), name." in output
    assert "Dropped" not in output
    for keep in ([], ["--keep", ""]):
        output = done(*options, "--identifiers", "name", *keep, "--output", "anon.csv")
        assert "Released unchanged" not in output
        assert "Dropped: name.\nDropped, no role: disease; keep them with --keep." in output
        assert (folder / "anon.csv").read_text().splitlines()[0] == "age,zip"


@pytest.mark.usefixtures("folder")
@pytest.mark.slow
@pytest.mark.parametrize("words", ["anonymize --sql", "compile --dialect snowflake --table people", "explain"])
def test_printed_statements_warn_of_their_values(words: str) -> None:
    name, *more = words.split()
    options = [*more, "--identifiers", "name", "--quasi-identifiers", "age", "--hierarchies", "h"]
    run = kanon(name, "people.csv", *options)
    text = " ".join(run.err.split())
    assert "note: dropped, no role: zip, disease; keep them with --keep" in text
    assert "note: the statement lists the values of its hierarchies, and so of the data: keep it as private as" in text
    Path("ranges.yml").write_text("quasi_identifiers: {age: {hierarchy: {ranges: [10]}}}")
    run = kanon(name, "people.csv", *more, "--spec", "ranges.yml", "--identifiers", "name,zip,disease")
    assert (run.code, "values of the data" in run.err, "dropped" in run.err) == (0, False, False)


@pytest.mark.slow
def test_a_profile_has_the_warnings_of_a_release(folder: Path) -> None:
    shown = done("profile", "people.csv")
    assert "--keep ''" not in shown
    lines = ["id,age,remark,seen"]
    remarks = ["she has slept well since", "no change at all so far", "he asks for other pills"]
    lines += [f"{i},{20 + i % 5},{remarks[i % 3]} {i % 40},2025-01-01 00:{i % 60:02}:{i // 60:02}" for i in range(120)]
    (folder / "seen.csv").write_text("\n".join(lines) + "\n")
    suspects = {
        suspect["column"]: suspect["reason"]
        for suspect in json.loads(done("profile", "seen.csv", "--json"))["suspects"]
    }
    kept = json.loads(done("profile", "seen.csv", "--json"))["kept"]
    assert set(suspects) <= set(kept)
    shown = done("profile", "seen.csv")
    assert all(f"  {column}: {reason}" in shown for column, reason in suspects.items())


def test_a_profile_of_people_with_several_rows_suggests_their_unit(folder: Path) -> None:
    lines = ["patient,birth_year,ward", *(f"P{n % 150},{1930 + n % 60},{n % 7}" for n in range(300))]
    (folder / "visits.csv").write_text("\n".join(lines) + "\n")
    shown = done("profile", "visits.csv")
    assert shown.startswith("300 rows of 150 people, 3 columns")
    assert "kanon anonymize visits.csv --identifiers patient --unit patient --quasi-identifiers birth_year" in shown


# Perturbation and anatomy


def test_a_column_is_perturbed_by_an_option(database: str, folder: Path) -> None:
    (folder / "secret.txt").write_text("a secret of more than sixteen characters")
    options = [*ASK[:-2], "--k", 12, "--perturb", "disease=pram:0.3", "--secret", "secret.txt", "--json"]
    shown = []
    for name in ("anon_1", "anon_2"):
        manifest = json.loads(done("anonymize", "people", "--database", database, *options, "--into", name))
        shown.append(ask(database, f"SELECT * FROM {name}"))
    assert shown[0] == shown[1]
    plain = released(manifest["node"], 12)
    assert texts([row[:2] for row in shown[0]]) == texts([row[:2] for row in plain])
    assert texts(shown[0]) != texts(plain)
    assert manifest["perturbation"] == {"columns": {"disease": {"pram": {"keep": 0.3}}}, "reproducible": True}
    assert not [name for name, _ in tables(database) if "perturb" in name]


@pytest.mark.parametrize(
    "message", ["disease", "disease=pram", "disease=pram:x", "disease=blur:1", "=noise", "a=noise:1:2"]
)
def test_a_perturbation_that_cannot_be_read_is_refused(folder: Path, message: str) -> None:
    run = kanon("anonymize", "people.csv", *ASK, "--output", "anon.csv", "--perturb", message)
    assert run.code == 2
    assert "is not COLUMN=noise:SCALE, COLUMN=swap:WITHIN or COLUMN=pram:KEEP; write them as in" in run.err
    assert repr(message) in run.err
    assert not (folder / "anon.csv").exists()


def test_a_release_of_several_statements_is_not_printed_as_one(database: str) -> None:
    ask_sql = ["anonymize", "people", "--database", database, *ASK, "--sql"]
    run = kanon(*ask_sql, "--perturb", "disease=pram:0.3")
    assert (run.code, run.out) == (2, "")
    assert "a perturbed release takes more than one statement, and a secret; leave out --perturb or --sql" in run.err
    run = kanon(*ask_sql, "--into", "anon", "--as", "anatomy")
    assert (run.code, run.out) == (2, "")
    assert "an anatomy takes more than one statement" in run.err


@pytest.mark.parametrize("target", ["--into anon", "--output anon.csv", "--output anon.parquet"])
def test_an_anatomy_names_its_tables(database: str, folder: Path, target: str) -> None:
    options = ["--database", database, *ASK, "--k", 12, *target.split(), "--as", "anatomy"]
    shown = done("anonymize", "people", *options)
    beside = {"anon": "anon__sensitive", "anon.csv": "anon.sensitive.csv"}.get(
        target.split()[1], "anon.sensitive.parquet"
    )
    assert re.search(
        rf"Verified in the written release: 12-anonymous\. Written to .*anon.* and .*{re.escape(beside)}", shown
    )
    if "--output" in target:
        assert (folder / beside).exists()
        counted = ask("", f"SELECT SUM(count) FROM '{beside}'")
        rows = ask("", f"SELECT COUNT(*) FROM '{target.split()[1]}'")
    else:
        counted, rows = ask(database, f"SELECT SUM(count) FROM {beside}"), ask(database, "SELECT COUNT(*) FROM anon")
    assert [int(counted[0][0])] == [rows[0][0]]


def test_an_anatomy_of_exact_rows_states_that_it_is_not_k_anonymous(database: str) -> None:
    options = ["--database", database, *ASK[:4], "--sensitive", "disease", "--l", 2]
    run = kanon("anatomize", "people", *options, "--into", "anon")
    assert run.code == 0, run
    assert "120 rows released unchanged in 60 groups, the smallest of 2 rows. Not k-anonymous." in run.out
    assert "no sensitive value has more than 1 / 2 of its group. Written to" in run.out
    assert "anonymous" not in run.out.replace("Not k-anonymous", "")
    assert "who knows them finds the person's row" in run.err
    manifest = json.loads(done("anatomize", "people", *options, "--into", "anon", "--overwrite", "--json"))
    assert (manifest["k_anonymous"], manifest["groups"]) == (False, 60)
    assert [name for name, _ in tables(database)] == ["anon", "anon__sensitive", "people"]
    assert kanon("verify", "anon", "--database", database, "--quasi-identifiers", "age,zip", "--k", 30).code == 1
