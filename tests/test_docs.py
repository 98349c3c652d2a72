"""The README and docs/ are run literally, page by page, in the folder that the README's run command creates."""

import os
import pkgutil
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import duckdb
import psycopg
import pytest
import yaml

import kanon_sql
from kanon_sql import spec as specs
from support.pages import Typist, blocks
from support.relay import on_localhost
from support.warm import warm_kanon

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("docs", "docs/pipelines", "docs/tutorials")
PAGES = [
    *(ROOT / "README.md", ROOT / "docs" / "reference" / "spec.md"),
    *(page for folder in FOLDERS for page in sorted((ROOT / folder).glob("*.md"))),
]

# The pages with figures of the demo's 30,162 people; the other pages are typed with fewer people, to save time.
SHOWING_FIGURES = {"attacks", "init", "privacy-models", "privacy-officer", "researcher"}
FEWER_PEOPLE = 2000

# Each takes about ten seconds, so these are typed every night only; README, first-steps and data-engineer always.
LONG = {
    "attacks",
    "compare",
    "init",
    "omop",
    "privacy-officer",
    "report",
    "researcher",
    "several-tables",
}
TYPED = [
    pytest.param(page, marks=pytest.mark.nightly if page.stem in LONG else (), id=page.stem)
    for page in PAGES
    if blocks(page)
]


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    """Where the README's set-up has been typed, its folder and its environment; `pip` only says what it would do."""
    folder = tmp_path_factory.mktemp("typed")
    programs = folder / "bin"
    programs.mkdir()
    with warm_kanon(programs):
        (programs / "pip").write_text("#!/bin/sh\necho pip $*\n")
        (programs / "pip").chmod(0o755)
        environment = {"PATH": f"{programs}:{os.defpath}", "HOME": str(folder), "LANG": "C.UTF-8", "COLUMNS": "120"}
        environment["KANON_THREADS"] = "1"  # other tests use the other cores
        for demo in ("kanon demo", f"kanon demo --rows {FEWER_PEOPLE} --directory fewer/kanon-demo"):
            subprocess.run(demo.split(), cwd=folder, env=environment, check=True, capture_output=True)
        (folder / ".venv" / "bin").mkdir(parents=True)
        (folder / ".venv" / "bin" / "activate").touch()
        yield folder, environment


@pytest.fixture
def typist(typed: tuple[Path, dict[str, str]], tmp_path: Path, page: Path) -> Typist:
    """Somebody in a fresh copy of the demo's folder, with all its people if the page shows their figures."""
    folder, environment = typed
    demo = folder / "kanon-demo" if page.stem in SHOWING_FIGURES else folder / "fewer" / "kanon-demo"
    place = shutil.copytree(demo, tmp_path / "kanon-demo")
    shutil.copytree(folder / ".venv", tmp_path / ".venv")
    return Typist(place, dict(environment))


@pytest.fixture
def hospital(postgres_dsn: str, typist: Typist) -> Iterator[None]:
    """The server that the pages speak of, with the demo's patients: me@localhost/hospital."""
    with psycopg.connect(postgres_dsn, autocommit=True) as administrator:
        administrator.execute("CREATE ROLE me LOGIN SUPERUSER PASSWORD 'mine'")
        administrator.execute("CREATE DATABASE hospital OWNER me")
        server = administrator.info
        with on_localhost(server.host, server.port) as port:
            typist.environment |= {"PGPORT": str(port), "PGPASSWORD": "mine"}
            copy_patients(typist.folder, f"postgresql://me:mine@localhost:{port}/hospital")
            yield
        administrator.execute("DROP DATABASE hospital WITH (FORCE)")
        administrator.execute("DROP ROLE me")


NAMED = re.compile(r"(?<![\w/:.@-])kanon_sql((?:\.[A-Za-z_]\w*)+)")
IMPORTED = re.compile(r"from (kanon_sql[\w.]*) import (\w+(?:, *\w+)*)")


@pytest.mark.parametrize(
    "page", [*PAGES, *sorted((ROOT / "docs" / "decisions").glob("*.md"))], ids=lambda page: page.name
)
def test_every_name_of_the_package_in_a_page_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for module, names in IMPORTED.findall(text):
        for name in names.replace(" ", "").split(","):
            assert hasattr(import_module(module), name), f"from {module} import {name}"
    for path in NAMED.findall(IMPORTED.sub("", text)):
        found, parts = kanon_sql, path.strip(".").split(".")
        for count, name in enumerate(parts):
            if not hasattr(found, name):  # a module that nobody has imported yet, else no name that a reader can type
                import_module(".".join(["kanon_sql", *parts[: count + 1]]))
            found = getattr(found, name)


def copy_patients(place: Path, dsn: str) -> None:
    with duckdb.connect(str(place / "hospital.duckdb"), read_only=True) as source:
        rows = source.execute("SELECT * FROM patients").fetchall()
    with psycopg.connect(dsn) as target:
        target.execute(
            "CREATE TABLE patients (name text, ssn text, age int, zip text, admitted date, city text,"
            " sex text, disease text)"
        )
        with target.cursor().copy("COPY patients FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


@pytest.mark.parametrize("page", TYPED)
@pytest.mark.slow
def test_a_page_works_as_typed(page: Path, typist: Typist, request: pytest.FixtureRequest) -> None:
    if "postgresql://me@" in page.read_text(encoding="utf-8"):
        request.getfixturevalue("hospital")
    if page.parent == ROOT:
        typist.folder = typist.folder.parent
    for block in blocks(page):
        typist.type(block)
    assert not typist.complaints, "\n".join(typist.complaints)
    assert not typist.identifiers(), "released by an example"


# What is not typed, and why: a new line here is a decision.
PIPELINES = "run: tests/test_pipeline_pages.py runs it"
DBT = "run: needs dbt, and is run with the example by tests/support/dbt_example.py"
NOT_RUN = {
    "README.md": ["run", "test"],  # by .ci/run
    "docs/pipelines/airflow.md": [PIPELINES],
    "docs/pipelines/cron.md": [PIPELINES],
    "docs/pipelines/dagster.md": [PIPELINES],
    "docs/databases.md": ["run: needs the extension PostgreSQL Anonymizer", *["run: needs a Spark cluster"] * 2],
    "docs/dbt.md": [DBT] * 5,
    "docs/engines.md": ["run: it is the tests themselves"],
    "docs/environment.md": ["run: it builds an image"],
    "docs/first-steps.md": ["run: .ci/run types it, as the README's run command"],
    "docs/pipelines/github-actions.md": [PIPELINES],
    "docs/how-it-is-tested.md": [
        "run: it takes hours, in a checkout",
        "run: it takes an hour or two, in a checkout",
        "run: it takes an hour, in a checkout",
        "run: it needs a checkout of OpenLineage",
    ],
    "docs/pipelines/makefile.md": [PIPELINES],
    "docs/lineage.md": ["run: no such server is there"],
    "docs/report.md": ["run: it needs the internet and a login"],
    "docs/page.md": ["run: it serves until Ctrl-C, and is tested separately"] * 2,
}


def test_code_that_is_not_run_is_listed():
    reasons = {str(page.relative_to(ROOT)): [block.reason for block in blocks(page) if block.reason] for page in PAGES}
    assert {name: reported for name, reported in reasons.items() if reported} == NOT_RUN


def test_an_extra_that_a_page_installs_exists_and_is_in_the_test_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for page in PAGES:
        for extra in re.findall(r"kanon-sql\[(\w+)\]", page.read_text(encoding="utf-8")):
            assert extra == "dbt" or extra in extras["test"][0], f"{page.name}: {extra}"


def test_python_needs_no_package_that_nothing_installs():
    """pandas reads and writes Parquet by pyarrow, which is no dependency; DuckDB does it alone."""
    for page in PAGES:
        code = "\n".join(block.text for block in blocks(page) if block.language == "python")
        assert not re.search(r"pandas\.read_parquet|\.to_parquet\(|import pyarrow", code), page.name


def test_the_recipes_of_the_hierarchies_page_are_recipes():
    recipes = next(block for block in blocks(ROOT / "docs" / "hierarchies.md") if block.language == "yaml")
    spec = specs.parse({"source": "t", **yaml.safe_load(recipes.text)})
    old, new = {"age", "zip", "admitted", "city", "sex", "job", "code"}, {"visited", "born", "gain", "plz", "host"}
    assert set(spec.quasi_identifiers) == old | new | {"country", "illness", "education"}


def test_every_link_between_pages_leads_somewhere():
    for page in [*PAGES, *(ROOT / "docs" / "decisions").glob("*.md"), ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_file_and_name_of_the_package_in_a_page_exists():
    for page in [*PAGES, *(ROOT / "docs" / "decisions").glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for path in re.findall(r"\b(?:kanon_sql|sql|benchmarks|tests)/[\w/]+\.(?:sql|py)\b", text):
            assert (ROOT / path).exists(), f"{page.name}: {path}"
        for name in re.findall(r"`(kanon_sql\.[\w.]+)", text):
            pkgutil.resolve_name(name)  # raises where there is none


def test_every_page_named_by_the_package_exists():
    for module in (ROOT / "kanon_sql").rglob("*.py"):
        for page in re.findall(r"docs/[\w/-]+\.md", module.read_text(encoding="utf-8")):
            assert (ROOT / page).exists(), f"{module.name}: {page}"
