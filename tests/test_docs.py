"""The examples of the README and of docs/ are run as they stand, in a folder like the one that they speak of."""

import pkgutil
import re
import shlex
import shutil
from datetime import datetime
from pathlib import Path

import duckdb
import openpyxl
import pytest
import yaml

from kanon_sql import frequency_set_sql
from kanon_sql import spec as specs
from kanon_sql.demo_data import write_parquet
from kanon_sql.resources import folder
from support.command_line import kanon

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "pipelines").glob("*.md"))]
PATIENTS = """
CREATE TABLE patients AS
SELECT
  'P' || i AS name, 's' || i AS ssn, 20 + (i * 7) % 60 AS age, CAST(10000 + (i * 37) % 90 AS VARCHAR) AS zip,
  DATE '2025-01-01' + CAST((i * 13) % 400 AS INTEGER) AS admitted, ['Bern', 'Thun', 'Graz'][1 + i % 3] AS city,
  ['f', 'm'][1 + i % 2] AS sex, ['flu', 'asthma'][1 + (i // 7) % 2] AS disease
FROM range(600) AS t(i)
"""


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page in one language, the two set-up commands of the README left out."""
    text = re.sub(r"<!-- (run|test) -->\n```sh\n.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.S | re.M)


def commands(page: Path) -> list[list[str]]:
    lines = "\n".join(blocks(page, "sh")).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith("kanon ")]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """People, hierarchies, a database of patients, places, and the README's spec as release.yml."""
    write_parquet(tmp_path / "people.parquet", 1000)
    shutil.copytree(folder("hierarchies") / "adult", tmp_path / "hierarchies")
    (tmp_path / "places.csv").write_text("Bern;Switzerland\nThun;Switzerland\nGraz;Austria\nSwitzerland;*\nAustria;*\n")
    with duckdb.connect(str(tmp_path / "hospital.duckdb")) as connection:
        connection.execute(PATIENTS)
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute(f"CREATE SCHEMA hr; USE hr; {PATIENTS}")
    duckdb.connect(str(tmp_path / "lake.duckdb")).close()
    write_trips(tmp_path / "trips.parquet")
    (spec,) = blocks(ROOT / "README.md", "yaml")
    (tmp_path / "release.yml").write_text(spec, encoding="utf-8")
    (tmp_path / "dbt_project.yml").write_text("name: hospital\n")
    (trips,) = blocks(ROOT / "docs" / "cloaking.md", "yaml")
    (tmp_path / "trips.yml").write_text(trips, encoding="utf-8")
    nightly, *_ = blocks(ROOT / "docs" / "pipeline.md", "yaml")
    (tmp_path / "nightly.yml").write_text(nightly, encoding="utf-8")
    write_exports(tmp_path)
    return tmp_path


def write_exports(place: Path) -> None:
    """Patients as a spreadsheet of Windows exports them, and as that spreadsheet."""
    names = ["Name", "PLZ", "Alter", "Kosten", "Aufnahme"]
    rows = [
        (f"Müller {i}", f"0{1000 + i % 5}", 20 + i % 30, i / 8, datetime(2024, 1, 1 + i % 28, i % 24, 30))
        for i in range(600)
    ]
    text = [f"{n};{z};{a};{k:.2f};{t:%d.%m.%Y %H:%M}".replace(".", ",", 1) for n, z, a, k, t in rows]
    (place / "patients.csv").write_bytes("\r\n".join([";".join(names), *text]).encode("cp1252"))
    workbook = openpyxl.Workbook(write_only=True)
    sheet = workbook.create_sheet("Patients")
    for row in (names, *rows):
        sheet.append(row)
    workbook.save(place / "patients.xlsx")
    (place / "exports").mkdir()
    (place / "exports" / "Alter.csv").write_text("".join(f"{a};{a // 10}0s;*\n" for a in range(20, 50)))
    (place / "exports" / "PLZ.csv").write_text("".join(f"0{1000 + i};*\n" for i in range(5)))


def write_trips(path: Path) -> None:
    """Twenty taxis on a spiral."""
    query = """
    SELECT i % 20 AS taxi, 46.9 + i * cos(i) / 9000 AS lat, 7.4 + i * sin(i) / 9000 AS lon,
      TIMESTAMP '2025-03-01' + INTERVAL (i * 71) SECOND AS ts, i % 90 AS speed
    FROM range(1000) AS t(i)
    """
    duckdb.sql(query).write_parquet(str(path))


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
        query = frequency_set_sql(place / "release.yml")
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
    assert set(spec.quasi_identifiers) == old | new | {"country", "illness"}


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
