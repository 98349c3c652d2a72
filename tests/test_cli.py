"""The command line as people use it: help, output, exit codes and every command, on files and both databases."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from kanon_sql.cli.app import COMMANDS
from kanon_sql.cli.app import command as imported
from kanon_sql.documents.manifest import COMMON, GENERALIZED
from kanon_sql.spec import DECLARED
from support.command_line import ASK, PEOPLE, ask, command, done, kanon, tables

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    "words",
    [
        "",
        "init",
        "anonymize",
        "anatomize",
        "explain",
        "compare",
        "lattice",
        "report",
        "verify",
        "risk",
        "profile",
        "demo",
        "hierarchy build",
        "run",
        "releases verify",
    ],
)
def test_every_command_has_help(words: str) -> None:
    assert re.search(rf"Usage: .*{words} \[OPTIONS\]", done(*words.split(), "--help"))


@pytest.mark.parametrize("name", ["compare", "lattice"])
def test_every_searching_verb_takes_the_options_of_a_search(name: str) -> None:
    ours, others = ({parameter.name for parameter in imported(item).params} for item in (name, "anonymize"))
    written = {"mask", "shuffle", "output", "into", "form", "overwrite", "trace", "resume", "as_json", "sql", "dialect"}
    written |= {"fail_empty", "formulas", "replace_foreign_table"}
    written |= {"ways_out", "report", "minimality", "perturb", "secret", "keep", "differencing_limit"}
    written |= {"differencing", "differencing_values", "deferral_limit", "deferral_days", *DECLARED}
    local = {"show", "rules", "suppression_order", "wildcard_suppression"}
    kept = {"node", "node_from", "node_else", "regions", "write_regions", "incremental", "waiting"}
    kept |= {"new_columns", "changed_types", "changed_hierarchies"}
    assert others - ours - written - local - {"unit"} - kept == ({"strategy"} if name == "compare" else set())


HEAVY = (
    "duckdb",
    "numpy",
    "pandas",
    "psycopg",
    "pyarrow",
    "pydantic",
    "pysat",
    "sqlglot",
    "yaml",
    "kanon_sql.verbs",
    "kanon_sql.plan",
)


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_root_imports_nothing_that_only_a_command_needs(option: str) -> None:
    code = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print([n for n in {HEAVY} if n in sys.modules], file=sys.stderr))\n"
        f"sys.argv = ['kanon', '{option}']\n"
        "from kanon_sql.cli import process\n"
        "process()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stderr == "[]\n"
    assert run.stdout


@pytest.mark.slow
def test_a_release_imports_nothing_that_only_a_report_or_an_attack_needs() -> None:
    code = "import sys, kanon_sql.cli.anonymize; print([n for n in ('jinja2', 'kanon_sql.attack') if n in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout == "[]\n"


def test_failed_output_is_not_a_success() -> None:
    with Path("/dev/full").open("w") as full:
        line = [sys.executable, "-m", "kanon_sql", "--version"]
        run = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert run.returncode != 0
    assert "No space left" in run.stderr


def test_the_root_lists_every_command_with_the_summary_of_its_help() -> None:
    listed = " ".join(done("--help").replace("│", " ").split())
    for name, summary in COMMANDS.items():
        assert f"{name} {summary}" in listed
        assert summary in " ".join(done(name, "--help").split())


def test_an_unknown_command_is_refused_with_a_suggestion() -> None:
    run = kanon("anonymise")
    assert (run.code, run.out) == (2, "")
    assert "Did you mean 'anonymize', 'anatomize'?" in run.err


@pytest.mark.slow
def test_the_launcher_of_a_checkout() -> None:
    line = [sys.executable, "cli.py", "--help"]
    run = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert all(name in run.stdout for name in ("anonymize", "verify", "explain", "profile", "hierarchy", "demo"))


# Output


MANIFEST = {*COMMON, *GENERALIZED}


@pytest.mark.slow
def test_json_is_alone_on_standard_output(folder: Path) -> None:
    run = command("anonymize", "people.csv", *ASK[2:], "--keep", "*", "--output", "out.csv", "--json", cwd=folder)
    manifest = json.loads(run.out)
    assert (run.code, set(manifest)) == (0, MANIFEST)
    phases = {"read", "frequency_set", "loss", "search", "release", "verify", "describe", "total"}
    assert set(manifest["seconds"]) == phases
    assert set(manifest["sql"]) == {"frequency_set", "release"}
    assert set(manifest["privacy"][0]) == {"model", "required", "achieved"}
    assert manifest["target"] == {"file": "out.csv"}
    assert run.err.count("\n") == 2, "two notes, each on one line"
    assert "'name' is released unchanged" in run.err
    assert "in 'name' and 'disease', which a release shows unchanged" in run.err


@pytest.mark.slow
def test_standard_error_is_empty_without_warnings(folder: Path) -> None:
    run = command("anonymize", "people.csv", *ASK, "--k", 12, "--output", "out.csv", cwd=folder)
    assert (run.code, run.err) == (0, "")
    assert re.search(
        r"^\d+ of 120 rows released in \d+ classes, the smallest of \d+ rows; \d+ suppressed\.$", run.out, re.M
    )
    assert run.out.endswith("Verified in the written release: 12-anonymous. Written to out.csv\n")


@pytest.mark.usefixtures("folder")
def test_the_trace_is_one_line_of_json_per_check() -> None:
    options = ["anonymize", "people.csv", *ASK, "--k", 12, "--output", "out.csv", "--overwrite", "--json"]
    manifest = json.loads(done(*options, "--trace", "trace.jsonl"))
    steps = [json.loads(line) for line in Path("trace.jsonl").read_text().splitlines()]
    assert len({tuple(step["node"]) for step in steps}) == manifest["nodes_checked"]
    assert list(manifest["node"].values()) in [step["node"] for step in steps]


@pytest.mark.usefixtures("folder")
def test_a_search_out_of_time_is_reported() -> None:
    run = kanon("anonymize", "people.csv", *ASK, "--time-limit", 0, "--output", "out.csv")
    assert (run.code, run.err.count("\n")) == (0, 2)
    assert "the search did not end (time limit)" in run.err
    assert run.err.endswith("the best node tested on the way is released; allow more time\n")


# explain


def test_explain_shows_every_statement_and_leaves_nothing(database: str, folder: Path) -> None:
    (folder / "release.yml").write_text("target: {file: x.csv}\nprivacy: {k: 12}\n")
    files, before = sorted(folder.iterdir()), tables(database)
    options = ["people", "--database", database, "--spec", "release.yml", *ASK]
    run, steps = kanon("explain", *options), json.loads(done("explain", *options, "--json"))["steps"]
    assert (run.code, run.err.count("\n")) == (0, 1)
    assert "lists the values of its hierarchies" in run.err
    assert (sorted(folder.iterdir()), tables(database)) == (files, before)
    names = [step["name"] for step in steps]
    verified = "cells" if database.endswith(".duckdb") else "numbered_cells"
    road = ["tuples", "frequency_set", "node_test", "node_classes", "released_classes", "release", verified]
    assert [name for name in names if name in road] == road
    assert len({(step["name"], step["engine"]) for step in steps}) == len(steps)
    shown = re.sub(r"[ \t]+$", "", run.out, flags=re.M)
    for number, step in enumerate(steps, start=1):
        text = f"{step['sql']};\n" if step["sql"] else ""
        assert f"{number}. {step['name']} ({step['engine']}): {step['sentence']}\n{text}result: " in shown
        assert step["seconds"] > 0
        plan = step["plan"].strip().splitlines()
        assert plan or step["name"] not in road or step["name"] == "cells"  # its codes are dropped after the check
        assert all(line in run.out for line in plan[-1:]), "a plan is not folded"
    assert sum(row[-1] for row in ask(database, steps[0]["sql"])) == 120, "the first can be run as it stands"
    assert steps[0]["gave"] == f"{len({row[1:3] for row in PEOPLE})} distinct tuples of 120 rows"


@pytest.mark.parametrize("strategy", ["mondrian", "prioprivacy"])
@pytest.mark.slow
def test_explain_shows_the_classes_of_a_local_recoding(database: str, strategy: str) -> None:
    before = tables(database)
    explained = done("explain", "people", "--database", database, *ASK, "--strategy", strategy, "--json")
    steps = json.loads(explained)["steps"]
    step_of = {step["name"]: step for step in steps}
    verified = "cells" if database.endswith(".duckdb") else "numbered_cells"
    road = ["tuples", "frequency_set", "classes", "release", verified]
    assert [step["name"] for step in steps if step["name"] in road] == road
    assert re.fullmatch(r"\d+ classes, 120 rows, the smallest of \d+ rows", step_of["classes"]["gave"])
    assert strategy in step_of["classes"]["sentence"]
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
    assert [search["strategy"] for search in plain["searches"]] == ["ola", "exhaustive"]
    assert [plain[name] for name in ("k", "seed", "time_limit", "evaluations", "rows")] == [12, 3, 30, 9, 120]
    shown = done(*options)
    optimum = plain["proven_score"]
    for search in plain["searches"]:
        line = rf"^{search['strategy']} +A +{optimum:.4f} +proven +{optimum:.4f} +0 +complete$"
        assert re.search(line, shown, re.M)
        counts = rf"^{search['strategy']} +{search['nodes_checked']} +{search['nodes_tagged']} +{search['queries']} "
        assert re.search(counts, shown, re.M)
    for name, level in search["node"].items():
        assert re.search(rf"^{name} +2 +{level} +{search['loss_per_attribute'][name]:.3f}$", shown, re.M)
    assert re.search(rf"^\(rows suppressed\) +{search['suppressed_rows']} *$", shown, re.M)
    assert f"The optimum is {optimum:.4f}." in shown
    assert sorted(Path().rglob("*")) == before, "nothing is written"


@pytest.mark.usefixtures("folder")
def test_a_comparison_reports_unknown_figures(monkeypatch: pytest.MonkeyPatch) -> None:
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
    printed = [json.loads(done("compare", *options, "--search-in", where)) for where in ("embedded", "engine")]
    lost = [[search.pop("information_loss") for search in item["searches"]] for item in printed]
    for line in printed:
        del line["frequency_seconds"]
        for search in line["searches"]:
            del search["seconds"]
    assert printed[0] == printed[1]
    assert list(map(pytest.approx, lost[0])) == lost[1], "each engine has logarithms of its own"
    assert tables(database) == before


@pytest.mark.usefixtures("folder")
@pytest.mark.slow
def test_a_lattice_is_drawn() -> None:
    options = ["lattice", "people.csv", *ASK, "--k", 12, "--strategy", "exhaustive"]
    run = kanon(*options)
    assert (run.code, run.err) == (0, "")
    assert run.out.endswith("Drawn to lattice.svg\n")
    manifest = json.loads(done("anonymize", *options[1:], "--output", "anon.csv", "--json"))
    node = ", ".join(f"{name} {level}" for name, level in manifest["node"].items())
    assert f"Best: {node}; loss {manifest['score']:.4f}, proven optimal." in run.out
    first = Path("lattice.svg").read_text(encoding="utf-8")
    assert "Strategy exhaustive, metric loss" in first
    assert done(*options, "--output", "again.SVG", "--seed", 0).endswith("Drawn to again.SVG\n")
    assert Path("again.SVG").read_text(encoding="utf-8") == first
    Path("again.SVG").write_text("old")
    done(*options, "--output", "again.SVG", "--overwrite")
    assert Path("again.SVG").read_text(encoding="utf-8") == first


# demo


@pytest.mark.slow
def test_the_demo_and_every_command_that_it_suggests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = kanon("demo", "--rows", 2000, "--directory", "my demo")
    assert run.code == 0
    assert all(line.startswith("note: in ") for line in run.err.splitlines()), run.err
    assert "Before" in run.out
    assert "5-anonymous" in run.out
    lines = [shlex.split(line, comments=True) for line in run.out.partition("Next\n")[2].splitlines()]
    (changed, where), *lines = lines
    assert (changed, where) == ("cd", "my demo")
    monkeypatch.chdir(where)
    assert [line[:2] for line in lines] == [
        ["kanon", name] for name in ("profile", "verify", "explain", "anonymize", "anonymize")
    ]
    for _, *words in lines[1:]:
        again = kanon(*words)
        assert again.code == 0
        notes = ("note: in ", "note: the statement lists the values of its hierarchies")
        assert all(line.startswith(notes) for line in again.err.splitlines()), again.err
    assert done("verify", "people_stricter.parquet", *lines[1][3:-1], 20), "released again, with k 20"
