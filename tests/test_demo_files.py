"""The files of the demo's folder for the examples of the README and docs/."""

import hashlib
import re
from pathlib import Path

import duckdb
import pytest

from kanon_sql import demo_files
from kanon_sql.resources import folder

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    demo_files.write(folder)
    return folder


def test_the_same_files_are_created_everywhere(place: Path) -> None:
    """Held against what they were when the pages were written, which show figures of them."""
    digest = hashlib.sha256((place / "patients.csv").read_bytes()).hexdigest()
    assert digest == "b32c2f61f91c68a81365685d1935502b552b764869890739566612983ff0f632"
    with duckdb.connect(str(place / "hospital.duckdb"), read_only=True) as hospital:
        found = hospital.sql("SELECT COUNT(*), SUM(age), CAST(MIN(admitted) AS VARCHAR), MAX(zip) FROM patients")
        assert found.fetchall() == [(2000, 99605, "2025-01-01", "8042")]
    found = duckdb.sql(f"SELECT COUNT(*), COUNT(DISTINCT taxi), SUM(speed) FROM '{place}/trips.parquet'")
    assert found.fetchall() == [(1000, 20, 35193)]


def test_no_two_people_share_a_number() -> None:
    assert demo_files.patients()["ssn"].is_unique


def test_hierarchies_and_places_cover_the_patients(place: Path) -> None:
    patients = demo_files.patients()
    for file, column in {"places.csv": "city", "exports/PLZ.csv": "zip", "exports/Alter.csv": "age"}.items():
        covered = {line.split(";")[0] for line in (place / file).read_text().splitlines()}
        assert set(patients[column].astype(str)) <= covered, file


@pytest.mark.parametrize(
    ("spec", "page"),
    [("patients.yml", "README.md"), ("trips.yml", "docs/cloaking.md"), ("nightly.yml", "docs/pipeline.md")],
)
def test_a_spec_is_the_one_that_its_page_shows(spec: str, page: str) -> None:
    shown = re.findall(r"^```yaml\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), flags=re.S | re.M)
    assert (folder("demo") / spec).read_text(encoding="utf-8") in shown


def test_existing_objects_stay_unchanged(tmp_path: Path) -> None:
    (tmp_path / "patients.yml").write_text("mine")
    (tmp_path / "trips.parquet").write_text("mine too")
    demo_files.write(tmp_path)
    assert [(tmp_path / name).read_text() for name in ("patients.yml", "trips.parquet")] == ["mine", "mine too"]
    assert not list(tmp_path.glob(".*")), "nothing half made"
