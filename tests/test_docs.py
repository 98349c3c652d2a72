"""The examples of the README and of docs/ are run as they stand, in a folder like the one that they speak of."""

import pkgutil
import re
import shlex
from pathlib import Path

import duckdb
import openpyxl
import pytest
import yaml

from kanon_sql import frequency_set_sql
from kanon_sql import spec as specs
from support.command_line import kanon

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "pipelines").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page in one language, the two set-up commands of the README left out."""
    text = re.sub(r"<!-- (run|test) -->\n```sh\n.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.S | re.M)


def commands(page: Path) -> list[list[str]]:
    lines = "\n".join(blocks(page, "sh")).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith("kanon ")]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The demo's folder, of fewer people, with what a page does not make itself."""
    assert kanon("demo", "--rows", "1000", "--directory", tmp_path).code == 0
    (tmp_path / "people_k5.parquet").unlink()
    (tmp_path / "dbt_project.yml").write_text("name: hospital\n")
    workbook = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet("Patients")
    for line in (tmp_path / "patients.csv").read_text(encoding="cp1252").splitlines():
        sheet.append(line.split(";"))
    workbook.save(tmp_path / "patients.xlsx")
    return tmp_path


def copy_patients(place: Path, dsn: str) -> None:
    import psycopg

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


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
@pytest.mark.slow
def test_the_commands_of_a_page_work_as_typed(page, place, request, monkeypatch):
    monkeypatch.chdir(place)
    if page.name == "guarantees.md":
        run(["kanon", "demo", "--rows", "4000", "--directory", "."])
    if page.name == "statements.md":
        query = frequency_set_sql(place / "patients.yml")
        with duckdb.connect(str(place / "hospital.duckdb")) as connection:
            connection.execute(f"COPY ({query}) TO '{place}/counted.parquet'")
    dsn = None
    for command in commands(page):
        if any(word.startswith("postgresql://") for word in command):
            if dsn is None:
                dsn = request.getfixturevalue("postgres_dsn")
                copy_patients(place, dsn)
            command = [dsn if word.startswith("postgresql://") else word for word in command]
        run(command)


def run(command: list[str]) -> None:
    """Through the entry point, in this process: to import the package again for each takes longer than most of them."""
    ended = kanon(*command[1:])
    assert ended.code == 0, f"{shlex.join(command)}\n{ended.err}"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_the_python_of_a_page_works_and_prints_what_the_page_says(page, capsys, tmp_path, monkeypatch):
    code = "\n".join(blocks(page, "python"))
    monkeypatch.chdir(tmp_path)
    exec(compile(code, page.name, "exec"), {})
    printed = capsys.readouterr().out
    assert "True" in printed
    for said in re.findall(r"^ *print\(.*\)  # (.+)$", code, flags=re.M):
        assert said in printed.splitlines()


def test_the_recipes_of_the_hierarchies_page_are_recipes():
    recipes = yaml.safe_load(blocks(ROOT / "docs" / "hierarchies.md", "yaml")[0])
    spec = specs.parse({"source": "t", "quasi_identifiers": recipes})
    old, new = {"age", "zip", "admitted", "city", "sex", "job", "code"}, {"visited", "born", "gain", "plz", "host"}
    assert set(spec.quasi_identifiers) == old | new | {"country", "illness", "education"}


def test_every_link_between_pages_leads_somewhere():
    for page in [*PAGES, *(ROOT / "docs" / "decisions").glob("*.md"), ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_file_and_name_of_the_package_that_a_page_gives_is_there():
    for page in [*PAGES, *(ROOT / "docs" / "decisions").glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for path in re.findall(r"\b(?:kanon_sql|sql|benchmarks|tests)/[\w/]+\.(?:sql|py)\b", text):
            assert (ROOT / path).exists(), f"{page.name}: {path}"
        for name in re.findall(r"`(kanon_sql\.[\w.]+)", text):
            pkgutil.resolve_name(name)  # raises where there is none


def test_every_page_that_the_package_names_is_there():
    for module in (ROOT / "kanon_sql").rglob("*.py"):
        for page in re.findall(r"docs/[\w/-]+\.md", module.read_text(encoding="utf-8")):
            assert (ROOT / page).exists(), f"{module.name}: {page}"
