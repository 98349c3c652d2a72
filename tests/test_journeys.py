"""Three people from a table to a release that they can defend: every command as they would type it.

`KANON_PICTURES=FOLDER` keeps what chromium makes of their reports, for somebody to look at.
"""

import os
import random
import subprocess
from collections import Counter
from datetime import date, datetime, timedelta
from pathlib import Path

import duckdb
import pandas
import pytest
import yaml

import kanon_sql
from support.browser import CHROMIUM
from support.command_line import ask, done, kanon

RANDOM = random.Random(23)
VISITS = """
CREATE TABLE visits AS
SELECT
  i AS visit_id, 'P' || (i * 7919 % 700) AS patient_id,
  DATE '1940-01-01' + CAST(i * 7919 % 700 * 37 AS INTEGER) AS born,
  LPAD(CAST(1000 + i * 7919 % 700 % 60 * 111 AS VARCHAR), 5, '0') AS zip, ['f', 'm'][1 + i * 7919 % 700 % 2] AS sex,
  ['flu', 'asthma', 'diabetes', 'none'][1 + i * 13 % 4] AS diagnosis
FROM range(2000) AS t(i)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def smallest_class(path: str, columns: list[str]) -> int:
    """The rows of the smallest class of a file, counted in Python."""
    read = pandas.read_parquet if path.endswith(".parquet") else pandas.read_csv
    return min(Counter(map(tuple, read(path)[columns].astype(str).to_numpy())).values())


def look_at(page: str) -> None:
    """Draw a page light, dark and on paper, where there is a browser."""
    if CHROMIUM is None:
        return
    folder = Path(os.environ.get("KANON_PICTURES", ".")).resolve()
    name = Path(page).stem
    drawn = [folder / f"{name}-light.png", folder / f"{name}-dark.png", folder / f"{name}.pdf"]
    views = (
        ["--window-size=1100,7000", f"--screenshot={drawn[0]}"],
        ["--window-size=1100,7000", "--blink-settings=preferredColorScheme=0", f"--screenshot={drawn[1]}"],
        ["--no-pdf-header-footer", f"--print-to-pdf={drawn[2]}"],
    )
    for options in views:
        line = [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            *options,
            Path(page).resolve().as_uri(),
        ]
        subprocess.run(line, check=True, capture_output=True, timeout=120)
    assert all(path.stat().st_size > 10_000 for path in drawn)
    assert drawn[0].read_bytes() != drawn[1].read_bytes()


def test_a_data_engineer_has_a_table_released_every_night() -> None:
    with duckdb.connect("clinic.duckdb") as connection:
        connection.execute(VISITS)
    done("init", "visits", "--database", "clinic.duckdb", "--output", "nightly.yml")
    spec = yaml.safe_load(Path("nightly.yml").read_text())
    assert spec["unit"] == "patient_id"  # k counts people, of whom most have several visits
    Path("nightly.yml").write_text(Path("nightly.yml").read_text() + "audit: true\nnode: keep\n")
    assert "released" in done("run", "nightly.yml")
    assert "unchanged" in done("run", "nightly.yml")
    quasi = list(spec["quasi_identifiers"])
    names = ", ".join(quasi)
    (least,) = ask("clinic.duckdb", f"SELECT MIN(n) FROM (SELECT COUNT(*) AS n FROM visits_anon GROUP BY {names})")[0]
    assert least >= 5
    done("verify", "visits_anon", "--database", "clinic.duckdb", "--quasi-identifiers", ",".join(quasi), "--k", "5")
    with duckdb.connect("clinic.duckdb") as connection:  # a night on which one patient comes
        connection.execute(
            "INSERT INTO visits SELECT * REPLACE (9999 AS visit_id, 'P9999' AS patient_id) FROM visits LIMIT 1"
        )
    assert "1 person waits" in done("run", "nightly.yml")
    assert done("releases", "list", "kanon_releases", "--database", "clinic.duckdb").count("nightly") == 2
    done("releases", "verify", "kanon_releases", "--database", "clinic.duckdb")
    statement = done("compile", "--spec", "nightly.yml")
    assert "GROUP BY" in statement


def german(row: int) -> str:
    """A line of an export of a hospital in Germany."""
    born = date(1940, 1, 1) + timedelta(days=RANDOM.randrange(24_000))
    came = datetime(2024, 1, 1) + timedelta(minutes=RANDOM.randrange(500_000))
    cost = f"{RANDOM.randrange(9_000, 999_999) / 100:,.2f}".translate(str.maketrans(",.", ".,"))
    zip_code, sex, ill = (
        RANDOM.choice(item) for item in (["01067", "10115", "10117", "80331"], "mw", ["I10", "E11.9", "J45.0"])
    )
    return f"Müller {row};{zip_code};{born:%d.%m.%Y};{came:%d.%m.%Y %H:%M};{sex};{ill};{cost}"


@pytest.mark.nightly
def test_a_privacy_officer_defends_an_export() -> None:
    head = "Name;PLZ;Geburtsdatum;Aufnahme;Geschlecht;Diagnose;Kosten"
    Path("Patienten.csv").write_bytes("\r\n".join([head, *map(german, range(900))]).encode("cp1252"))
    run = kanon("profile", "Patienten.csv")
    assert "was read as cp1252" in run.err
    assert "decimal commas in Kosten" in run.err
    done("init", "Patienten.csv", "--quasi-identifiers", "PLZ,Geburtsdatum,Geschlecht", "--keep", "Diagnose")
    anonymized = kanon("anonymize", "--spec", "release.yml", "--report", "report.html")
    assert anonymized.code == 0
    assert "5-anonymous" in anonymized.out
    assert smallest_class("Patienten_anon.csv", ["PLZ", "Geburtsdatum", "Geschlecht"]) >= 5
    page = Path("report.html").read_text(encoding="utf-8")
    assert "Müller" not in page
    assert len(page.encode()) < 150_000
    look_at("report.html")
    done("report", "--spec", "release.yml", "--output", "record.md", "--without", "attacks,loss_by_k")
    assert "Geburtsdatum" in Path("record.md").read_text(encoding="utf-8")
    done("attack", "Patienten_anon.csv", "--source", "Patienten.csv", "--spec", "release.yml")
    assert kanon("verify", "--spec", "release.yml").code == 0


@pytest.mark.nightly
def test_a_researcher_weighs_detail_against_risk() -> None:
    people = pandas.DataFrame(
        {
            "id": range(1200),
            "age": [RANDOM.randint(18, 90) for _ in range(1200)],
            "zip": [RANDOM.choice([2138, 2139, 2140, 10115, 90210]) for _ in range(1200)],
            "education": [RANDOM.choice(["school", "college", "degree", "doctorate"]) for _ in range(1200)],
            "income": [round(RANDOM.lognormvariate(10, 0.6), -2) for _ in range(1200)],
        }
    )
    people.to_parquet("people.parquet")
    suggested = kanon_sql.suggest("people.parquet", quasi_identifiers=["age", "zip", "education"], keep=["income"])
    suggested.write("study.yml")
    best = kanon_sql.anonymize(spec="study.yml")
    local = kanon_sql.anonymize(spec="study.yml", strategy="mondrian", output="local.parquet")
    assert local.manifest["information_loss"]["loss"] < best.manifest["information_loss"]["loss"]
    assert smallest_class("local.parquet", ["age", "zip", "education"]) >= 5
    figures = best.figures()
    assert [loss["k"] for loss in figures.to_dict()["loss_by_k"]] == [3, 5, 10, 20, 50]
    best.report("study.html")
    look_at("study.html")
