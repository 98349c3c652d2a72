"""The command line as people use it: every option, exit code and printed statement, on files and both databases."""

import contextlib
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from math import inf
from pathlib import Path
from typing import Any, get_args

import duckdb
import psycopg
import pyarrow
import pyarrow.parquet
import pytest

from kanon_sql.cli import show
from kanon_sql.cli.app import COMMANDS
from kanon_sql.cli.app import command as imported
from kanon_sql.demo_data import write_parquet
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.spec import (
    Form,
    Noise,
    Perturbation,
    Pram,
    Show,
    Spec,
    SuppressionOrder,
    Swap,
    Unmapped,
)
from kanon_sql.strategies import Progress
from support.command_line import COLUMNS, PEOPLE, Run, ask, command, done, kanon, released, tables, texts, write_files

ROOT = Path(__file__).resolve().parent.parent
ADULT = ROOT / "hierarchies" / "adult"
ADULT_COLUMNS = "age,workclass,education,marital-status,occupation,race,sex,native-country"

ASK = ["--identifiers", "name", "--quasi-identifiers", "age,zip", "--hierarchies", "h", "--sensitive", "disease"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with people.csv and its hierarchies."""
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=["duckdb", "postgres"])
def database(request: pytest.FixtureRequest, folder: Path, make_table: Any) -> str:
    """What --database takes: a database that holds the table people."""
    if request.param == "postgres":
        place = str(request.getfixturevalue("postgres_dsn"))
        engine: DuckDB | PostgreSQL = PostgreSQL.open(place)
    else:
        place = str(folder / "hospital.duckdb")
        engine = DuckDB.open(place, create=True)
    make_table(engine, "people", COLUMNS, PEOPLE)
    engine.close()
    return place


# Options and specs


OPTIONS: list[tuple[str, str, object]] = [
    ("--database hospital.duckdb", "database", "hospital.duckdb"),
    ("--quasi-identifiers ' age, \"zip, code\"'", "quasi_identifiers", ["age", "zip, code"]),
    ("--hierarchies h", "hierarchies", "h"),
    ("--identifiers name,ssn", "identifiers", ["name", "ssn"]),
    ("--sensitive disease", "sensitive", ["disease"]),
    ("--keep ward,city", "keep", ["ward", "city"]),
    ("--location 'lat, lon' --time ts --unit user", "unit", "user"),
    ("--location lat,lon --unit user --time ts", "time", "ts"),
    ("--time ts --unit user --location lat,lon", "location", ["lat", "lon"]),
    ("--location lat,lon --time ts --unit user --cloak temporal", "cloak.method", "temporal"),
    ("--unmapped top", "unmapped", "top"),
    ("--k 7", "privacy.k", 7),
    ("--suppression-limit 0.5", "suppression_limit", 0.5),
    ("--mask", "mask", True),
    ("--shuffle", "shuffle", True),
    (
        "--perturb 'pay=noise:100, \"a,b=c\"=swap:0.05,city=pram:0.8'",
        "perturb",
        ["pay", "a,b=c", "city"],
    ),
    ("--secret secret.txt", "secret", "secret.txt"),
    ("--metric height", "metric", "height"),
    ("--strategy ola", "strategy", "ola"),
    ("--time-limit 1.5", "time_limit", 1.5),
    ("--evaluations 300", "evaluations", 300),
    ("--seed 3", "seed", 3),
    ("--show median", "show", "median"),
    ("--beta 1.5", "beta", 1.5),
    ("--priorities age=2", "quasi_identifiers.age.priority", 2),
    ("--rules rules", "prioprivacy.rules", "rules"),
    ("--suppression-order published", "prioprivacy.suppression_order", "published"),
    ("--wildcard-suppression", "prioprivacy.wildcard_suppression", True),
    ("--output new.parquet", "target.file", "new.parquet"),
    ("--into anon", "target.table", "anon"),
    ("--into anon --as view", "target.form", "view"),
    ("--into anon --overwrite", "target.overwrite", True),
]
SAID_OF_PLACES = """
source: people
database: old.duckdb
location: [x, y]
time: seen
unit: device
cloak: {method: adaptive, unplaced: suppress}
target: {table: old, as: table}
"""
SAID = """
source: people
database: old.duckdb
quasi_identifiers: {age: {hierarchy: {ranges: [10]}, min_level: 1}, sex: }
identifiers: [id]
sensitive: [salary]
hierarchies: old
privacy: {k: 2}
suppression_limit: 0.1
metric: precision
strategy: exhaustive
time_limit: 9
seed: 8
target: {table: old, as: table}
"""


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Spec, dict[str, Any]]]:
    """The specs that `anonymize` would have run, with its other arguments."""
    specs = []

    def spy(_: object, spec: Spec, **others: Any) -> None:
        specs.append((spec, others))
        raise SpecError("seen")

    monkeypatch.setattr("kanon_sql.cli.anonymize.run", spy)
    return specs


def at(spec: Spec, path: str) -> object:
    found: Any = spec
    for name in path.split("."):
        found = found[name] if isinstance(found, Mapping) else getattr(found, name)
    return list(found) if isinstance(found, tuple | Mapping) else found


@pytest.mark.parametrize(("options", "path", "value"), OPTIONS, ids=[options for options, _, _ in OPTIONS])
def test_every_option_reaches_the_spec(seen: list[Any], options: str, path: str, value: object) -> None:
    target = [] if path.startswith("target") else ["--output", "out.csv"]
    columns = [] if "--location" in options else ["--quasi-identifiers", "age"]
    kanon("anonymize", "people.csv", *columns, *target, *shlex.split(options))
    assert at(seen[0][0], path) == value
    assert seen[0][0].source == "people.csv"


@pytest.mark.parametrize(("options", "path", "value"), OPTIONS, ids=[options for options, _, _ in OPTIONS])
def test_an_option_wins_over_the_spec_file(
    folder: Path, seen: list[Any], options: str, path: str, value: object
) -> None:
    (folder / "specs").mkdir()
    (folder / "specs" / "release.yml").write_text(SAID_OF_PLACES if "--location" in options else SAID)
    kanon("anonymize", "--spec", "specs/release.yml")
    if "--location" in options:  # the spec names the others
        options = options[options.rindex("--") :]
    kanon("anonymize", "--spec", "specs/release.yml", *shlex.split(options))
    before, after = (spec for spec, _ in seen)
    assert at(before, path) != value
    assert at(after, path) == value
    assert before.database == "specs/old.duckdb", "a spec's paths are taken from its own folder"
    touched = path.split(".")[0]
    assert before.model_dump(exclude={touched}) == after.model_dump(exclude={touched})


def test_a_column_named_again_keeps_its_recipe(folder: Path, seen: list[Any]) -> None:
    (folder / "release.yml").write_text(SAID)
    kanon("anonymize", "--spec", "release.yml", "--quasi-identifiers", "zip,age")
    columns = seen[0][0].quasi_identifiers
    assert (list(columns), columns["age"].min_level, columns["zip"].hierarchy) == (["zip", "age"], 1, None)


def test_the_source_on_the_line_wins(folder: Path, seen: list[Any]) -> None:
    (folder / "release.yml").write_text(SAID)
    kanon("anonymize", "others", "--spec", "release.yml", "--search-in", "engine")
    assert (seen[0][0].source, seen[0][1]["search_in"]) == ("others", "engine")


def test_no_option_is_without_a_test() -> None:
    elsewhere = {"source", "spec", "search_in", "trace", "as_json", "sql"}
    listed = {re.findall(r"--([a-z-]+)", options)[-1].replace("-", "_") for options, _, _ in OPTIONS}
    taken = {parameter.name for parameter in imported("anonymize").params}
    assert taken - elsewhere == listed - {"as"} | {"form"}


@pytest.mark.parametrize(
    "words",
    ["", "anonymize", "anatomize", "explain", "compare", "lattice", "verify", "profile", "demo", "hierarchy build"],
)
def test_every_command_has_help(words: str) -> None:
    assert re.search(rf"Usage: .*{words} \[OPTIONS\]", done(*words.split(), "--help"))


@pytest.mark.parametrize("name", ["compare", "lattice"])
def test_what_searches_takes_the_options_of_a_search(name: str) -> None:
    ours, others = ({parameter.name for parameter in imported(each).params} for each in (name, "anonymize"))
    written = {"mask", "shuffle", "output", "into", "form", "overwrite", "trace", "as_json", "sql"}
    written |= {"perturb", "secret", "keep"}
    local = {"show", "rules", "suppression_order", "wildcard_suppression"}
    places = {"location", "time", "unit", "cloak"}
    assert others - ours - written - local - places == ({"strategy"} if name == "compare" else set())


HEAVY = ("duckdb", "numpy", "pandas", "psycopg", "pyarrow", "pydantic", "pysat", "sqlglot", "yaml", "kanon_sql.verbs")


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_root_imports_nothing_that_only_a_command_needs(option: str) -> None:
    code = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print([n for n in {HEAVY} if n in sys.modules], file=sys.stderr))\n"
        f"sys.argv = ['kanon', '{option}']\n"
        "from kanon_sql.cli import main\n"
        "main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stderr == "[]\n"
    assert run.stdout


def test_the_root_lists_every_command_with_what_its_own_help_says() -> None:
    listed = " ".join(done("--help").replace("│", " ").split())
    for name, said in COMMANDS.items():
        assert f"{name} {said}" in listed
        assert said in " ".join(done(name, "--help").split())


def test_a_command_that_there_is_not_is_refused_with_one_that_there_is() -> None:
    run = kanon("anonymise")
    assert (run.code, run.out) == (2, "")
    assert "Did you mean 'anonymize', 'anatomize'?" in run.err


CHOICES = {"--show": Show, "--as": Form, "--unmapped": Unmapped, "--suppression-order": SuppressionOrder}


@pytest.mark.parametrize(("flag", "choices"), CHOICES.items())
def test_an_option_takes_the_words_that_the_spec_takes(seen: list[Any], flag: str, choices: Any) -> None:
    line = ["anonymize", "people.csv", "--quasi-identifiers", "age", "--into", "anon", flag]
    for word in get_args(choices):
        assert kanon(*line, word).err == "kanon: seen\n"
    assert len(seen) == len(get_args(choices))
    assert kanon(*line, "nonsense").code == 2
    assert len(seen) == len(get_args(choices))


@pytest.mark.slow
def test_the_launcher_of_a_checkout() -> None:
    line = [sys.executable, "cli.py", "--help"]
    run = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert all(name in run.stdout for name in ("anonymize", "verify", "explain", "profile", "hierarchy", "demo"))


# From a database or a file to a table, a view or a file


def reading(target: str) -> str:
    """The query that reads the release back."""
    return f"SELECT * FROM read_csv('{target}', all_varchar = true)" if target.endswith(".csv") else f'FROM "{target}"'


@pytest.mark.parametrize(
    "target", ["--output anon.csv", "--output anon.parquet", "--into anon", "--into anon --as view"]
)
@pytest.mark.parametrize("limit", ["0", "0.1"])
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


def test_where_a_table_is_searched_changes_nothing(database: str) -> None:
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
def test_a_column_without_any_value_beside_nested_ones() -> None:
    ages = [age for _, age, *_ in PEOPLE]
    nested = {"list": [[age] for age in ages], "list_2": [[age] for age in ages], "of": [{"age": age} for age in ages]}
    odd = pyarrow.table({"age": ages, "zip": pyarrow.nulls(len(ages)), **nested})
    pyarrow.parquet.write_table(odd, "odd.parquet")
    manifest = json.loads(done("anonymize", "odd.parquet", *ASK[2:-2], "--k", 12, "--output", "out.parquet", "--json"))
    assert (manifest["node"]["zip"], manifest["rows"]) == (0, 120)
    assert {row[1] for row in ask("", "FROM 'out.parquet'")} == {None}


@pytest.mark.parametrize("name", ["p[1]'s; x.csv", "p*.csv", "[p]/päople.csv"])
@pytest.mark.slow
def test_a_file_of_any_name_is_itself_and_no_glob(folder: Path, name: str) -> None:
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


# What is printed, and where


MANIFEST = {
    *("rows", "released_rows", "suppressed_rows", "masked_rows", "suppression_limit", "distinct_tuples"),
    *("classes", "smallest_class", "average_class", "node", "heights", "lattice_size", "nodes_checked", "queries"),
    *("metric", "score", "information_loss", "loss_per_attribute", "precision_per_attribute"),
    *("distortion_per_attribute", "modification_per_attribute", "weights", "shown", "recoding"),
    *("lower_bound", "gap", "proven_optimal", "strategy", "search_ended", "found_by", "seed", "seconds"),
    *("verified", "privacy", "roles", "source", "target", "engine", "hierarchies", "sql", "warnings", "version"),
}


@pytest.mark.slow
def test_json_is_alone_on_standard_output(folder: Path) -> None:
    run = command("anonymize", "people.csv", *ASK[2:], "--keep", "*", "--output", "out.csv", "--json", cwd=folder)
    manifest = json.loads(run.out)
    assert (run.code, set(manifest)) == (0, MANIFEST)
    assert set(manifest["seconds"]) == {"frequency_set", "search", "release", "verify", "total"}
    assert set(manifest["sql"]) == {"frequency_set", "release"}
    assert set(manifest["privacy"][0]) == {"model", "required", "achieved"}
    assert manifest["target"] == {"file": "out.csv"}
    assert run.err.count("\n") == 1, "one note, on one line"
    assert "'name' is released as it is" in run.err


@pytest.mark.slow
def test_nothing_on_standard_error_when_there_is_nothing_to_warn_of(folder: Path) -> None:
    run = command("anonymize", "people.csv", *ASK, "--k", 12, "--output", "out.csv", cwd=folder)
    assert (run.code, run.err) == (0, "")
    assert re.search(
        r"^\d+ of 120 rows released in \d+ classes, the smallest of \d+ rows; \d+ suppressed\.$", run.out, re.M
    )
    assert run.out.endswith("Verified in what was written: 12-anonymous. It is in out.csv\n")


@pytest.mark.usefixtures("folder")
def test_the_trace_is_one_line_of_json_per_question() -> None:
    options = ["anonymize", "people.csv", *ASK, "--k", 12, "--output", "out.csv", "--overwrite", "--json"]
    manifest = json.loads(done(*options, "--trace", "trace.jsonl"))
    steps = [json.loads(line) for line in Path("trace.jsonl").read_text().splitlines()]
    assert len({tuple(step["node"]) for step in steps}) == manifest["nodes_checked"]
    assert list(manifest["node"].values()) in [step["node"] for step in steps]


@pytest.mark.usefixtures("folder")
def test_a_search_out_of_time_is_said() -> None:
    run = kanon("anonymize", "people.csv", *ASK, "--time-limit", 0, "--output", "out.csv")
    assert (run.code, run.err.count("\n")) == (0, 2)
    assert "the search did not end (time limit)" in run.err
    assert run.err.endswith("the best node tested on the way is released; give it more time\n")


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
    engine: DuckDB | PostgreSQL = PostgreSQL.open(database) if pg else DuckDB.open(database)
    make_table(engine, "visits", VISITS, VISITS_ROWS)
    engine.close()
    return database


@pytest.mark.parametrize("node", NODES)
@pytest.mark.slow
def test_the_printed_statement_alone_gives_the_release(visits: str, folder: Path, node: str) -> None:
    (folder / "visits.yml").write_text(VISITS_SPEC.format(*NODES[node]))
    options = ["anonymize", "visits", "--database", visits, "--spec", "visits.yml", "--keep", "*"]
    done(*options, "--into", "made")
    made = ask(visits, "SELECT * FROM made")
    assert 0 < len(made) < len(VISITS_ROWS) or node == "top"
    assert ask(visits, done(*options, "--sql")) == made
    for form in ("table", "view"):
        ask(visits, done(*options, "--into", f"by_{form}", "--as", form, "--sql"))
        assert ask(visits, f"SELECT * FROM by_{form}") == made
        assert (f"by_{form}", "VIEW" if form == "view" else "BASE TABLE") in tables(visits)
    statement = done(*options, "--output", "by_sql.parquet", "--sql")
    if visits.startswith("postgresql:"):
        assert ask(visits, statement) == made, "a server writes no file here; the query is printed"
    else:
        ask(visits, statement)
        assert ask("", "FROM 'by_sql.parquet'") == made
    assert sorted(path.suffix for path in folder.iterdir() if path.is_file()) in (
        [".csv", ".duckdb", ".parquet", ".yml"],
        [".csv", ".yml"],
    )


@pytest.mark.parametrize(
    ("source", "strategy"),
    [("people.csv", "auto"), ("people.parquet", "auto"), ("p*e.parquet", "auto"), ("people.csv", "mondrian_relaxed")],
)
@pytest.mark.slow
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
    made = ask("", f"FROM '{folder}/made.csv'")
    assert ask("", query) == made
    for copy in copies:
        ask("", copy)
    assert (folder / "copied.csv").read_text() == (folder / "made.csv").read_text()
    assert ask("", f"FROM '{folder}/copied.parquet'") == made
    assert 'CREATE TABLE "new"."main"."anon"' in table
    ask("new.duckdb", table)
    assert ask("new.duckdb", "FROM anon") == made


@pytest.mark.slow
def test_sql_writes_nothing(database: str, folder: Path) -> None:
    files, before = sorted(folder.iterdir()), tables(database)
    for target in (["--output", "x.csv"], ["--into", "x"], ["--into", "x", "--as", "view"], []):
        run = kanon("anonymize", "people", "--database", database, *ASK, *target, "--sql")
        assert (run.code, run.err) == (0, "")
    assert (sorted(folder.iterdir()), tables(database)) == (files, before)


# verify


@pytest.mark.slow
def test_verify_leaves_with_0_or_1(database: str) -> None:
    sizes = Counter(Counter((age, code) for _, age, code, _ in PEOPLE).values())
    smallest, largest = min(sizes), max(sizes)
    ask(database, "CREATE VIEW seen AS SELECT * FROM people")
    for source in ("people.csv", "people", "seen"):
        where = [] if source == "people.csv" else ["--database", database]
        options = [source, *where, "--quasi-identifiers", "age,zip", "--k"]
        held = kanon("verify", *options, smallest)
        assert (held.code, held.err) == (0, "")
        assert f"holds: {smallest}-anonymous on age, zip; 120 rows in {sizes.total()} classes" in held.out
        failed = kanon("verify", *options, largest)
        offending = [(size, sizes[size]) for size in sorted(sizes) if size < largest]
        rows = sum(size * classes for size, classes in offending)
        classes = sum(classes for _, classes in offending)
        assert (failed.code, failed.err) == (1, "")
        assert f"{rows} rows in {classes} classes are below {largest}:" in failed.out
        assert re.findall(r"^  (\d+) classes of (\d+)$", failed.out, re.M) == [(str(n), str(s)) for s, n in offending]
        checked = kanon("verify", *options, largest, "--json")
        assert [(o["size"], o["classes"]) for o in json.loads(checked.out)["offending_sizes"]] == offending
        assert (checked.code, json.loads(checked.out)["holds"]) == (1, False)


@pytest.mark.parametrize(("k", "code"), [(1, 0), (121, 1), (0, 2)])
@pytest.mark.slow
def test_exit_codes_of_the_process(folder: Path, k: int, code: int) -> None:
    run = command("verify", "people.csv", "--quasi-identifiers", "age,zip", "--k", k, cwd=folder)
    assert run.code == code
    assert (run.err == "") == (code < 2)
    assert (run.out == "") == (code == 2)


def test_verify_is_told_its_columns_by_a_spec(folder: Path) -> None:
    (folder / "release.yml").write_text("quasi_identifiers: [age, zip]\nprivacy: {k: 200}\ntarget: {file: x.csv}\n")
    assert kanon("verify", "people.csv", "--spec", "release.yml").code == 1
    assert kanon("verify", "people.csv", "--spec", "release.yml", "--k", 1).code == 0
    assert not (folder / "x.csv").exists()


def test_a_release_is_verified_by_the_spec_that_made_it(folder: Path) -> None:
    (folder / "release.yml").write_text(
        "{source: people.csv, identifiers: [name], quasi_identifiers: [age, zip], hierarchies: h, privacy: {k: 12}}"
    )
    done("anonymize", "--spec", "release.yml", "--output", "anon.csv")
    assert "holds: 12-anonymous on age, zip" in done("verify", "anon.csv", "--spec", "release.yml")


RELEASE = (
    "source: people{source}\nidentifiers: [name]\nquasi_identifiers: [age, zip]\nhierarchies: h\nkeep: [disease]\n"
    "privacy: {{k: 12}}\n"
)


@pytest.mark.parametrize("more", ["", "show: bounds\n", "strategy: mondrian\nshow: bounds\n"])
@pytest.mark.parametrize("form", ["table", "anatomy"])
@pytest.mark.slow
def test_a_spec_alone_verifies_its_target(folder: Path, form: str, more: str) -> None:
    roles = RELEASE.format(source=".csv")
    if form == "anatomy":
        roles = roles.replace("keep", "sensitive")
    (folder / "release.yml").write_text(f"{roles}{more}target: {{file: anon.csv, as: {form}}}\n")
    missing = kanon("verify", "--spec", "release.yml")
    assert (missing.code, missing.err) == (2, "kanon: there is no file anon.csv; check the path\n")
    done("anonymize", "--spec", "release.yml")
    held = kanon("verify", "--spec", "release.yml", "--json")
    assert held.code == 0, held
    columns = ["age_min", "age_max", "zip"] if more else ["age", "zip"]
    checked = json.loads(held.out)
    assert (checked["source"], checked["quasi_identifiers"]) == ("anon.csv", columns)
    assert kanon("verify", "people.csv", "--spec", "release.yml").code == 1, "a source that is named is verified"
    rows = (folder / "anon.csv").read_text().splitlines()
    (folder / "anon.csv").write_text("\n".join([*rows[:-1], rows[-1].replace("*", "x").replace("9", "8")]) + "\n")
    assert kanon("verify", "--spec", "release.yml").code == 1


@pytest.mark.parametrize("form", ["table", "view"])
def test_a_spec_alone_verifies_its_table(database: str, folder: Path, form: str) -> None:
    where = f"database: '{database}'\ntarget: {{table: anon, as: {form}}}\n"
    (folder / "release.yml").write_text(RELEASE.format(source="") + where)
    done("anonymize", "--spec", "release.yml")
    assert "holds: 12-anonymous on age, zip" in done("verify", "--spec", "release.yml")
    ask(database, "DROP VIEW anon" if form == "view" else "DROP TABLE anon")
    ask(database, "CREATE TABLE anon AS SELECT * FROM people")
    assert kanon("verify", "--spec", "release.yml").code == 1


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("source: people.csv\nquasi_identifiers: [age]\n", "the spec names no target that could be verified"),
        (
            "source: x\nlocation: [lat, lon]\ntime: ts\nunit: u\ntarget: {file: x.csv}\n",
            "the units that share a cloaked place are not in the release",
        ),
    ],
)
def test_a_spec_without_a_target_to_verify_says_so(folder: Path, spec: str, message: str) -> None:
    (folder / "release.yml").write_text(spec)
    run = kanon("verify", "--spec", "release.yml")
    assert (run.code, run.out) == (2, "")
    assert message in run.err


# What is released as it is


@pytest.mark.slow
def test_what_is_kept_and_dropped_is_printed(folder: Path) -> None:
    options = ["anonymize", "people.csv", "--quasi-identifiers", "age,zip", "--hierarchies", "h", "--overwrite"]
    said = done(*options, "--sensitive", "disease", "--keep", "name", "--output", "anon.csv")
    assert "Released as they are: disease (sensitive), name." in said
    assert "Dropped" not in said
    said = done(*options, "--keep", "", "--output", "anon.csv")
    assert "Released as they are" not in said
    assert "Dropped: name, disease." in said
    assert (folder / "anon.csv").read_text().splitlines()[0] == "age,zip"


@pytest.mark.usefixtures("folder")
@pytest.mark.slow
def test_nothing_is_done_before_a_column_is_named() -> None:
    options = ["people.csv", "--quasi-identifiers", "age,zip", "--hierarchies", "h"]
    asked: list[tuple[str, ...]] = [("anonymize", "--output", "x.csv"), ("anonymize", "--sql"), ("explain",)]
    for name, *rest in asked:
        run = kanon(name, *options, *rest)
        assert (run.code, run.out) == (2, "")
        assert run.err == (
            "kanon: a column without a role would be released as it is: 'name' is an identifier by its name. Drop it "
            "with --identifiers, generalize it with --quasi-identifiers, or name the columns to keep with --keep "
            "(--keep '*' for every column)\n"
        )
        assert kanon(name, *options, *rest, "--keep", "*").code == 0


@pytest.mark.slow
def test_a_profile_says_what_would_stop_a_release(folder: Path) -> None:
    shown = done("profile", "people.csv")
    assert "--keep ''" not in shown
    lines = ["id,age,remark,seen"]
    remarks = ["she has slept well since", "no change at all so far", "he asks for other pills"]
    lines += [f"{i},{20 + i % 5},{remarks[i % 3]} {i % 40},2025-01-01 00:{i % 60:02}:{i // 60:02}" for i in range(120)]
    (folder / "seen.csv").write_text("\n".join(lines) + "\n")
    suspects = {
        each["column"]: each["reason"] for each in json.loads(done("profile", "seen.csv", "--json"))["suspects"]
    }
    kept = json.loads(done("profile", "seen.csv", "--json"))["kept"]
    assert set(suspects) <= set(kept)
    shown = done("profile", "seen.csv")
    assert all(f"  {column}: {reason}" in shown for column, reason in suspects.items())


# Connection strings


CANARY = "s3cretpw"
ODD_STRINGS = [
    "postgresql://u:{0}@127.0.0.1:1/db",
    "POSTGRESQL://u:{0}@127.0.0.1:1/db",
    " postgresql://u:{0}@127.0.0.1:1/db",
    "\tPostgreSQL://u:{0}@127.0.0.1:1/db ",
    "host=127.0.0.1 port=1 user=u password={0}",
    "HOST=127.0.0.1 port=1 password={0}",
    " password='{0}' host=127.0.0.1 port=1",
    "password={0} host=127.0.0.1 port=1 nonsense={0}",
    "host=127.0.0.1 port={0}",
    "dbname={0} host=127.0.0.1 port=1 'password",
    "user={0} host=127.0.0.1 port=1",
    "postgres:/u:{0}@127.0.0.1/db",
    "postgresql//u:{0}@127.0.0.1/db",
    "postgresql+psycopg://u:{0}@127.0.0.1/db",
    "postgre://u:{0}@127.0.0.1/db",
    "mysql://u:{0}@127.0.0.1/db",
    "jdbc:postgresql://127.0.0.1/db?user=u&password={0}",
    "u:{0}@127.0.0.1/db",
    "postgresql://u:{0}@@127.0.0.1:1/db",
    "postgresql://u:{0}@127.0.0.1:99999999/db",
    "postgresql://u:{0}@[::1/db",
    "postgresql://u:p/{0}@127.0.0.1:1/db",
    "postgresql://u:p%zz{0}@127.0.0.1:1/db",
    "host=127.0.0.1 port=1 password='{0}",
]


@pytest.mark.parametrize("text", ODD_STRINGS)
def test_no_part_of_a_connection_string_is_printed(folder: Path, text: str) -> None:
    said = text.format(CANARY)
    (folder / "bad.yml").write_text(json.dumps({"source": "t", "quasi_identifiers": ["age"], "database": said}))
    (folder / "worse.yml").write_text(json.dumps({"source": "t", "quasi_identifiers": ["age"], "database": [said]}))
    qi = ["--quasi-identifiers", "age"]
    for line in (
        ["verify", "t", "--database", said, *qi],
        ["profile", "t", "--database", said],
        ["anonymize", "people.csv", "--database", said, *qi, "--hierarchies", "h", "--into", "x", "--json"],
        ["verify", "--spec", "bad.yml", "t"],
        ["verify", "--spec", "worse.yml", "t"],
        ["verify", said, *qi],
        ["verify", said, "--database", said, *qi],
    ):
        run = kanon(*line)
        assert run.code == 2
        assert (CANARY in run.out + run.err, run.err.count("\n")) == (False, 1), run
        assert "127.0.0.1" not in run.err


def test_a_connection_string_without_quotes_is_refused_without_its_words() -> None:
    run = kanon("profile", "t", "--database", "host=127.0.0.1", f"password={CANARY}")
    assert run == Run(2, "", "kanon: the words of a connection string belong together; put quotes around them\n")


@pytest.mark.parametrize("form", ["POSTGRESQL://", " postgresql://", "keywords"])
@pytest.mark.usefixtures("folder")
def test_a_server_is_named_in_any_form_that_libpq_knows(postgres_dsn: str, make_table: Any, form: str) -> None:
    engine = PostgreSQL.open(postgres_dsn)
    make_table(engine, "people", COLUMNS, PEOPLE)
    engine.close()
    rest = postgres_dsn.partition("://")[2]
    said = psycopg.conninfo.make_conninfo(postgres_dsn) if form == "keywords" else f"{form}{rest}"
    options = ["people", "--database", said]
    done("anonymize", *options, *ASK, "--k", 12, "--into", "anon")
    shown = done("profile", *options)
    assert "--database postgresql://…" in shown.replace("'", "")
    assert rest not in shown


# Values of the data


VALUE = "canary-value"
FAILING = [
    ("hierarchy", "quasi_identifiers: {odd: {hierarchy: {file: odd.csv}}}", "the hierarchy lacks 1 of its values"),
    ("ranges", "quasi_identifiers: {odd: {hierarchy: {ranges: [5]}}}", "a value is not a finite number"),
    ("dates", "quasi_identifiers: {odd: {hierarchy: {dates: [year]}}}", "a value is not a date"),
]


@pytest.mark.parametrize(("name", "roles", "message"), FAILING, ids=[name for name, _, _ in FAILING])
def test_a_log_holds_no_value_of_the_data(folder: Path, name: str, roles: str, message: str) -> None:
    (folder / "odd.csv").write_text("x;*\ny;*\n")
    (folder / "people.csv").write_text(f"age,odd\n1,x\n2,y\n3,{VALUE}\n")
    (folder / "bad.yml").write_text(f"source: people.csv\n{roles}\ntarget: {{file: out.csv}}\nprivacy: {{k: 1}}\n")
    run = kanon("anonymize", "--spec", "bad.yml")
    assert (run.code, message in run.err, VALUE in run.out + run.err) == (2, True, False), run
    for line in (
        ["--show-values", "anonymize", "--spec", "bad.yml"],
        ["anonymize", "--spec", "bad.yml", "--show-values"],
    ):
        run = kanon(*line)
        assert (run.code, message in run.err, run.err.count("\n")) == (2, True, 2)
        shown = run.err.splitlines()[1]
        assert shown == f"kanon: the data say: {repr(VALUE) if name == 'hierarchy' else repr(min('x', VALUE))}"


@pytest.mark.usefixtures("folder")
@pytest.mark.slow
def test_what_a_database_says_of_its_values_is_in_no_log(database: str) -> None:
    text = "CAST(disease AS VARCHAR) || 'canary-value'"
    cast = f"CASE WHEN age > 0 THEN CAST({text} AS INTEGER) END"
    ask(database, f"CREATE VIEW broken AS SELECT age, zip, {cast} AS odd FROM people")
    more = ["--database", database, "--quasi-identifiers", "age,zip", "--hierarchies", "h", "--keep"]
    for command_line in (
        ["anonymize", "broken", *more, "odd", "--into", "x"],
        ["anonymize", "broken", *more, "*", "--output", "x.parquet"],
        ["verify", "broken", "--database", database, "--quasi-identifiers", "odd"],
        ["profile", "broken", "--database", database],
    ):
        run = kanon(*command_line)
        assert (run.code, "canary" in run.out + run.err) == (2, False), run
        assert "stopped at a value that it cannot read or calculate with" in run.err
        assert "canary" in kanon(*command_line, "--show-values").err
    engine = PostgreSQL.open(database) if database.startswith("postgresql:") else DuckDB.open(database)
    with pytest.raises(SourceError) as raised:
        engine.rows("SELECT odd FROM broken")
    engine.close()
    assert "canary" not in "".join(traceback.format_exception(raised.value))
    assert "canary" in "".join(raised.value.values)


def test_a_file_that_cannot_be_converted_says_where_and_not_what(folder: Path) -> None:
    rows = "".join(f"{i},a\n" for i in range(30_000))
    (folder / "a.csv").write_text(f"age,zip\n{rows}")
    (folder / "b.csv").write_text(f"age,zip\n{rows}{VALUE},b\n")
    with duckdb.connect("typed.duckdb") as connection:
        connection.execute(
            "CREATE VIEW typed AS SELECT * FROM read_csv('b.csv', columns = {'age': 'INTEGER', 'zip': 'VARCHAR'})"
        )
    run = kanon("verify", "typed", "--database", "typed.duckdb", "--quasi-identifiers", "age")
    assert (run.code, VALUE in run.err) == (2, False), run
    assert "line 30002, column age" in run.err


# explain


def test_explain_shows_every_statement_and_leaves_nothing(database: str, folder: Path) -> None:
    (folder / "release.yml").write_text("target: {file: x.csv}\nprivacy: {k: 12}\n")
    files, before = sorted(folder.iterdir()), tables(database)
    options = ["people", "--database", database, "--spec", "release.yml", *ASK]
    run, steps = kanon("explain", *options), json.loads(done("explain", *options, "--json"))
    assert (run.code, run.err) == (0, "")
    assert (sorted(folder.iterdir()), tables(database)) == (files, before)
    names = [step["name"] for step in steps]
    assert names[:2] == ["tuples", "frequency_set"]
    assert set(names[2:-4]) == {"node_test"}
    assert names[-4:] == ["node_classes", "released_classes", "release", "class_summary"]
    shown = re.sub(r"[ \t]+$", "", run.out, flags=re.M)
    for number, step in enumerate(steps, start=1):
        assert f"{number}. {step['name']} ({step['engine']}): {step['sentence']}\n{step['sql']};\ngave " in shown
        assert step["plan"].strip()
        assert step["plan"].strip().splitlines()[-1] in run.out, "a plan is not folded"
    assert sum(row[-1] for row in ask(database, steps[0]["sql"])) == 120, "the first can be run as it stands"
    assert steps[0]["gave"] == f"{len({row[1:3] for row in PEOPLE})} distinct tuples of 120 rows"


@pytest.mark.parametrize("strategy", ["mondrian", "prioprivacy"])
@pytest.mark.slow
def test_explain_shows_the_classes_of_a_local_recoding(database: str, strategy: str) -> None:
    before = tables(database)
    steps = json.loads(done("explain", "people", "--database", database, *ASK, "--strategy", strategy, "--json"))
    assert [step["name"] for step in steps] == ["tuples", "frequency_set", "classes", "release", "class_summary"]
    assert re.fullmatch(r"\d+ classes, 120 rows, smallest \d+", steps[2]["gave"])
    assert strategy in steps[2]["sentence"]
    assert tables(database) == before


# hierarchy


BUILDS = {
    "age": ("--ranges 10,20 --top 40 --bottom 25", "[30, 40)"),
    "zip": ("--redact right --step 2", "021**"),
    "born": ("--dates month,year", "2001-02"),
    "weight": ("--ranges 0.5,5 --origin 0.25", "[0.25, 0.75)"),
    "disease": ("--taxonomy tree.csv", "rare"),
    "ward": ("--suppress", "*"),
}


@pytest.mark.slow
def test_hierarchies_are_built_checked_shown_and_used(folder: Path) -> None:
    lines = ["age,zip,born,weight,disease,ward"]
    lines += [
        f"{20 + i % 25},021{i % 40:02},2001-0{1 + i % 9}-17,{i % 7 / 2},{'xyz'[i % 3]},{i % 5}" for i in range(300)
    ]
    (folder / "visits.csv").write_text("\n".join(lines) + "\n")
    (folder / "tree.csv").write_text("x;rare\ny;rare\nz;common\nrare;ill\ncommon;ill\n")
    (folder / "made").mkdir()
    for column, (recipe, label) in BUILDS.items():
        file = f"made/{column}.csv"
        done("hierarchy", "build", "visits.csv", "--column", column, *recipe.split(), "--output", file)
        content = Path(file).read_text()
        assert label in [field for line in content.splitlines() for field in line.split(";")]
        leaves = content.count("\n")
        assert f"{file} covers {column} of visits.csv: {leaves} values" in done(
            "hierarchy", "check", file, "visits.csv"
        )
        assert f"{file} is a hierarchy: {leaves} values" in done("hierarchy", "check", file)
        assert f"{file}: {leaves} values" in done("hierarchy", "show", file, "--rows", 300)
    used = ["--quasi-identifiers", ",".join(BUILDS), "--hierarchies", "made", "--k", 20, "--output", "anon.csv"]
    assert json.loads(done("anonymize", "visits.csv", *used, "--json"))["verified"]


def test_a_hierarchy_of_a_table_is_built_and_shown_in_full(database: str) -> None:
    options = ["people", "--database", database, "--column", "zip"]
    done("hierarchy", "build", *options, "--redact", "right", "--output", "zip.csv")
    assert Path("zip.csv").read_text().splitlines()[0] == "02138;0213*;021**;02***;0****;*"
    assert "covers zip of people: 3 values, height 5" in done("hierarchy", "check", "zip.csv", *options)
    shown = done("hierarchy", "show", "zip.csv")
    assert all(label in shown for label in ("02138", "90210", "0213*", "0****"))
    done("hierarchy", "build", *options, "--suppress", "--output", "zip.csv", "--overwrite")
    assert Path("zip.csv").read_text() == "02138;*\n02139;*\n90210;*\n"


def test_a_hierarchy_with_a_header_or_another_separator(folder: Path) -> None:
    (folder / "zip.csv").write_text("value|area\n02138|2\n02139|2\n90210|9\n")
    assert "3 values, height 2" in done("hierarchy", "check", "zip.csv", "people.csv", "--header")
    assert "3 values, height 2" in done("hierarchy", "show", "zip.csv", "--header", "--separator", "|")


# compare and lattice


@pytest.mark.usefixtures("folder")
def test_strategies_are_compared() -> None:
    options = ["compare", "people.csv", *ASK, "--k", 12, "--strategies", "ola, exhaustive", "--seed", 3]
    before = sorted(Path().rglob("*"))
    run = kanon(*options, "--time-limit", 30, "--evaluations", 9, "--json")
    plain = json.loads(run.out)
    assert (run.code, run.err) == (0, "")
    assert [found["strategy"] for found in plain["searches"]] == ["ola", "exhaustive"]
    assert [plain[name] for name in ("k", "seed", "time_limit", "evaluations", "rows")] == [12, 3, 30, 9, 120]
    shown = done(*options)
    optimum = plain["proven_score"]
    for found in plain["searches"]:
        line = rf"^{found['strategy']} +A +{optimum:.4f} +proven +{optimum:.4f} +0 +complete$"
        assert re.search(line, shown, re.M)
        counts = rf"^{found['strategy']} +{found['nodes_checked']} +{found['nodes_tagged']} +{found['queries']} "
        assert re.search(counts, shown, re.M)
    for name, level in found["node"].items():
        assert re.search(rf"^{name} +2 +{level} +{found['loss_per_attribute'][name]:.3f}$", shown, re.M)
    assert re.search(rf"^\(rows suppressed\) +{found['suppressed_rows']} *$", shown, re.M)
    assert f"The optimum is {optimum:.4f}." in shown
    assert sorted(Path().rglob("*")) == before, "nothing is written"


@pytest.mark.usefixtures("folder")
def test_a_comparison_says_what_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kanon_sql.strategies.tags.DENSE_LIMIT", 0)
    options = ["people.csv", *ASK, "--k", 12, "--strategies", "best_first,ola,exhaustive", "--time-limit", 0]
    shown = done("compare", *options)
    assert re.search(r"^ola +A +1 +unknown +0 +1 +time limit$", shown, re.M)
    assert re.search(r"^exhaustive +A +1 +unknown .* time limit$", shown, re.M)
    assert "best_first was left out: best_first has to list all nodes" in shown
    assert shown.endswith("\nNo search proved the optimum.\n")
    assert "inf" not in shown
    assert "None" not in shown


def test_a_table_is_compared_wherever_it_is_searched(database: str) -> None:
    options = ["people", "--database", database, *ASK, "--k", 12, "--strategies", "ola,exhaustive", "--json"]
    before = tables(database)
    found = [json.loads(done("compare", *options, "--search-in", where)) for where in ("embedded", "engine")]
    for each in found:
        del each["frequency_seconds"]
        for search in each["searches"]:
            del search["seconds"]
    assert found[0] == found[1]
    assert tables(database) == before


@pytest.mark.usefixtures("folder")
@pytest.mark.slow
def test_a_lattice_is_drawn() -> None:
    options = ["lattice", "people.csv", *ASK, "--k", 12, "--strategy", "exhaustive"]
    run = kanon(*options)
    assert (run.code, run.err) == (0, "")
    assert run.out.endswith("Drawn in lattice.svg\n")
    manifest = json.loads(done("anonymize", *options[1:], "--output", "anon.csv", "--json"))
    node = ", ".join(f"{name} {level}" for name, level in manifest["node"].items())
    assert f"Best: {node}; loss {manifest['score']:.4f}, proven optimal." in run.out
    first = Path("lattice.svg").read_text(encoding="utf-8")
    assert "Strategy exhaustive, metric loss" in first
    assert done(*options, "--output", "again.SVG", "--seed", 0).endswith("Drawn in again.SVG\n")
    assert Path("again.SVG").read_text(encoding="utf-8") == first
    Path("again.SVG").write_text("old")
    done(*options, "--output", "again.SVG", "--overwrite")
    assert Path("again.SVG").read_text(encoding="utf-8") == first


# Watching


def progress(**known: Any) -> Progress:
    """A search that just began, but for what is known of it."""
    start: dict[str, Any] = {"seconds": 1.26, "nodes_checked": 8, "lattice_size": 12960, "node": None, "score": inf}
    return Progress(**{**start, **known})


@pytest.mark.parametrize(
    ("seen", "shown"),
    [
        (progress(), "8 of 12,960 nodes checked, 1 s"),
        (progress(bound=inf), "8 of 12,960 nodes checked, 1 s"),
        (progress(bound=0.25, seconds_left=58.7), "8 of 12,960 nodes checked, bound 0.2500, 1 s, 59 s left"),
        (
            progress(nodes_checked=12345, node=(1, 2), score=0.5, bound=0.25, seconds=3700.0),
            "12,345 of 12,960 nodes checked, best 0.5000, bound 0.2500, gap 0.2500, 62 min",
        ),
        (
            progress(lattice_size=16 * 10**18, node=(1,), score=55170356.0, bound=0.0, seconds_left=54000.0),
            "8 of 1.6e+19 nodes checked, best 55,170,356, bound 0, gap 55,170,356, 1 s, 15.0 h left",
        ),
    ],
)
def test_progress_shows_what_is_known(seen: Progress, shown: str) -> None:
    assert show._progress(seen) == shown


@pytest.mark.slow
def test_a_search_is_watched_on_a_terminal(tmp_path: Path) -> None:
    """Strategy by strategy, with the best so far, what is proven, and the time left; none of it on standard output."""
    write_parquet(tmp_path / "people.parquet", 2000)
    options = ["--identifiers", "person_id", "--quasi-identifiers", ADULT_COLUMNS, "--hierarchies", str(ADULT)]
    line = [sys.executable, "-m", "kanon_sql", "compare", "people.parquet", *options, "--strategies", "auto,exhaustive"]
    ours, theirs = pty.openpty()
    wide = {**os.environ, "COLUMNS": "200", "TERM": "xterm"}
    process = subprocess.Popen(
        [*line, "--time-limit", "4", "--json"], stdout=subprocess.PIPE, stderr=theirs, text=True, cwd=tmp_path, env=wide
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while more := os.read(ours, 4096):
            shown += more
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 0
    assert [found["strategy"] for found in json.loads(out)["searches"]] == ["auto", "exhaustive"]
    text = shown.decode(errors="replace")
    figure = r"\d(\.\d+|e-\d+)?"
    assert re.search(
        rf"auto, 1 of 2: [\d,]+ of [\d,]+ nodes checked, best {figure}, bound {figure}, gap {figure}, \d s, \d s left "
        r"\(Ctrl-C goes on to the next\)",
        text,
    )
    assert re.search(r"exhaustive, 2 of 2: [\d,]+ of [\d,]+ nodes checked", text)
    assert "inf" not in text
    assert "nan" not in text


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


def test_an_option_of_perturbation_is_read(seen: list[Any]) -> None:
    said = 'pay=noise:100,"a,b=c"=swap:0.05,city=pram:0.8'
    kanon("anonymize", "people.csv", "--quasi-identifiers", "age", "--output", "out.csv", "--perturb", said)
    assert dict(seen[0][0].perturb) == {
        "pay": Perturbation(noise=Noise(scale=100)),
        "a,b=c": Perturbation(swap=Swap(within=0.05)),
        "city": Perturbation(pram=Pram(keep=0.8)),
    }


@pytest.mark.parametrize(
    "said", ["disease", "disease=pram", "disease=pram:x", "disease=blur:1", "=noise", "a=noise:1:2"]
)
def test_a_perturbation_that_cannot_be_read_is_refused(folder: Path, said: str) -> None:
    run = kanon("anonymize", "people.csv", *ASK, "--output", "anon.csv", "--perturb", said)
    assert run.code == 2
    assert "--perturb takes COLUMN=noise:SCALE, COLUMN=swap:WITHIN and COLUMN=pram:KEEP" in run.err
    assert repr(said) in run.err
    assert not (folder / "anon.csv").exists()


def test_what_is_no_one_statement_is_not_printed_as_one(database: str) -> None:
    ask_sql = ["anonymize", "people", "--database", database, *ASK, "--sql"]
    run = kanon(*ask_sql, "--perturb", "disease=pram:0.3")
    assert (run.code, run.out) == (2, "")
    assert "a perturbed release takes more than one statement, and a secret; leave out --perturb or --sql" in run.err
    run = kanon(*ask_sql, "--into", "anon", "--as", "anatomy")
    assert (run.code, run.out) == (2, "")
    assert "an anatomy takes more than one statement" in run.err


@pytest.mark.parametrize("target", ["--into anon", "--output anon.csv", "--output anon.parquet"])
def test_an_anatomy_says_where_its_halves_are(database: str, folder: Path, target: str) -> None:
    options = ["--database", database, *ASK, "--k", 12, *target.split(), "--as", "anatomy"]
    shown = done("anonymize", "people", *options)
    beside = {"anon": "anon__sensitive", "anon.csv": "anon.sensitive.csv"}.get(
        target.split()[1], "anon.sensitive.parquet"
    )
    assert re.search(
        rf"Verified in what was written: 12-anonymous\. It is in .*anon.* and .*{re.escape(beside)}", shown
    )
    if "--output" in target:
        assert (folder / beside).exists()
        counted = ask("", f"SELECT SUM(count) FROM '{beside}'")
        rows = ask("", f"SELECT COUNT(*) FROM '{target.split()[1]}'")
    else:
        counted, rows = ask(database, f"SELECT SUM(count) FROM {beside}"), ask(database, "SELECT COUNT(*) FROM anon")
    assert [int(counted[0][0])] == [rows[0][0]]


def test_an_anatomy_of_exact_rows_says_what_it_is_not(database: str) -> None:
    options = ["--database", database, *ASK[:4], "--sensitive", "disease", "--l", 2]
    run = kanon("anatomize", "people", *options, "--into", "anon")
    assert run.code == 0, run
    assert "120 rows released as they are in 60 groups, the smallest of 2 rows. Not k-anonymous." in run.out
    assert "no sensitive value has more than 1 / 2 of its group. It is in" in run.out
    assert "anonymous" not in run.out.replace("Not k-anonymous", "")
    assert "who knows them finds the person's row" in run.err
    manifest = json.loads(done("anatomize", "people", *options, "--into", "anon", "--overwrite", "--json"))
    assert (manifest["k_anonymous"], manifest["groups"]) == (False, 60)
    assert [name for name, _ in tables(database)] == ["anon", "anon__sensitive", "people"]
    assert kanon("verify", "anon", "--database", database, "--quasi-identifiers", "age,zip", "--k", 30).code == 1


# demo


@pytest.mark.slow
def test_the_demo_and_every_command_that_it_suggests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = kanon("demo", "--rows", 2000, "--directory", "my demo")
    assert (run.code, run.err) == (0, "")
    assert "Before" in run.out
    assert "5-anonymous" in run.out
    lines = [shlex.split(line, comments=True) for line in run.out.partition("Next\n")[2].splitlines()]
    assert [line[:2] for line in lines] == [
        ["kanon", name] for name in ("profile", "verify", "explain", "anonymize", "anonymize")
    ]
    for _, *words in lines[1:]:
        again = kanon(*words)
        assert (again.code, again.err) == (0, "")
    assert done("verify", "my demo/people_stricter.parquet", *lines[1][3:-1], 20), "released again, with k 20"


# Ctrl-C


@pytest.fixture
def searching(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Callable[[], str]]]:
    """A long search on a terminal, and the function that reads the rest of what the terminal shows."""
    write_parquet(tmp_path / "people.parquet", 2000)
    options = ["--identifiers", "person_id", "--quasi-identifiers", ADULT_COLUMNS, "--hierarchies", str(ADULT)]
    line = [sys.executable, "-m", "kanon_sql", "anonymize", "people.parquet", *options, "--strategy", "exhaustive"]
    ours, theirs = pty.openpty()
    target = ["--overwrite", "--output", "anon.parquet"]
    process = subprocess.Popen([*line, *target], stdout=subprocess.PIPE, stderr=theirs, text=True, cwd=tmp_path)
    os.close(theirs)

    def rest(until: str = "") -> str:
        shown = b""
        while not until or until.encode() not in shown:
            try:
                shown += os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
        return shown.decode(errors="replace")

    try:
        assert "nodes checked" in rest("nodes checked")
        yield process, rest
    finally:
        process.kill()
        process.wait()
        os.close(ours)


@pytest.mark.slow
def test_ctrl_c_releases_the_best_so_far(searching: Any, tmp_path: Path) -> None:
    process, rest = searching
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "not proven optimal" in out
    assert "the search did not end (interrupted)" in " ".join(rest().split())
    assert kanon("verify", tmp_path / "anon.parquet", "--quasi-identifiers", ADULT_COLUMNS, "--k", 5).code == 0


@pytest.mark.slow
def test_a_second_ctrl_c_leaves_everything_as_it_was(searching: Any, tmp_path: Path) -> None:
    (tmp_path / "anon.parquet").write_text("old")
    process, _ = searching
    process.send_signal(signal.SIGSTOP)  # so that both arrive in the search
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGCONT)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
    assert process.returncode not in (0, 2)
    assert {path.name: path.read_bytes()[:3] for path in tmp_path.iterdir()} == {
        "people.parquet": b"PAR",
        "anon.parquet": b"old",
    }
