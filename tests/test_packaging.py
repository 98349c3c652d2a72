"""What a user installs: the built wheel, alone in a separate virtual environment, away from the checkout."""

import os
import re
import site
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def run(*line: object, cwd: Path) -> str:
    """Run a command that must succeed, whatever is on the path of modules here, and give what it printed."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, line)], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts of a fresh environment into which the wheel was installed.

    Its dependencies are those of this environment, over a .pth: installing them anew takes a minute, and
    .ci/run does so with the README's command. Ours is not among them, for a .pth inside a .pth is not read.
    """
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    run(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", wheel, cwd=folder)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder / "venv")}))
    borrowed = [place for place in site.getsitepackages() if Path(place).is_dir()]
    (packages / "dependencies.pth").write_text("\n".join(borrowed) + "\n")
    return python.parent


FOLDERS = ("report/templates", "report/templates/forms", "page/templates", "page/static")  # of what is no module


def test_the_wheel_contains_the_package_its_sql_and_its_hierarchies(wheel: Path) -> None:
    packed = set(ZipFile(wheel).namelist())
    expected = {
        f"{inside}/{path.relative_to(ROOT / outside)}"
        for outside, inside, pattern in [
            ("kanon_sql", "kanon_sql", "**/*.py"),
            *((f"kanon_sql/{folder}", f"kanon_sql/{folder}", "*.*") for folder in FOLDERS),
            ("sql", "kanon_sql/sql", "**/*.sql"),
            ("hierarchies", "kanon_sql/hierarchies", "**/*.*"),
            ("demo", "kanon_sql/demo", "**/*.*"),
        ]
        for path in (ROOT / outside).glob(pattern)
    }
    assert len(expected) > 50
    about = f"kanon_sql-{PROJECT['version']}.dist-info/"
    assert {name for name in packed if not name.startswith(about)} == expected | {
        "kanon_sql/py.typed",
        "kanon_sql/risk/names.txt",
    }
    (licence,) = (name for name in packed if name.endswith("licenses/LICENSE"))
    assert ZipFile(wheel).read(licence) == (ROOT / "LICENSE").read_bytes()


def test_the_wheel_declares_its_dependencies(wheel: Path) -> None:
    (metadata,) = (name for name in ZipFile(wheel).namelist() if name.endswith(".dist-info/METADATA"))
    text = ZipFile(wheel).read(metadata).decode()
    needed = re.findall(r"^Requires-Dist: ([a-z0-9-]+)[^;\n]*$", text, re.M)
    assert needed == [re.match(r"[a-z0-9-]+", line)[0] for line in sorted(PROJECT["dependencies"])]  # type: ignore[index]
    assert "psycopg" not in needed, "PostgreSQL is an extra"


@pytest.mark.slow
def test_the_installed_command_runs_the_demo(installed: Path, tmp_path: Path) -> None:
    where = run(installed / "python", "-c", "import kanon_sql; print(kanon_sql.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent), "the wheel's, not the checkout's"
    shown = run(installed / "kanon", "demo", "--rows", 1000, cwd=tmp_path)
    assert "5-anonymous. Written to kanon-demo/people_k5.parquet" in shown
    again = ["kanon-demo/people_k5.parquet", "--spec", "kanon-demo/release.yml"]
    assert "satisfied: 5-anonymous" in run(installed / "python", "-m", "kanon_sql", "verify", *again, cwd=tmp_path)


@pytest.mark.slow
def test_the_installed_command_prints_its_version(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "kanon", "--version", cwd=tmp_path) == f"kanon_sql {PROJECT['version']}\n"


def test_the_version_is_the_newest_of_the_changelog() -> None:
    sections = re.findall(r"^## \[([^\]]+)\]( - \d{4}-\d\d-\d\d)?$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    released = [name for name, day in sections if day]
    assert released[0] == PROJECT["version"]
    assert [name for name, day in sections if not day] in ([], ["Unreleased"])


def test_the_readme_is_that_of_the_package_and_links_to_existing_files() -> None:
    text = (ROOT / PROJECT["readme"]).read_text(encoding="utf-8")
    assert "kanon_sql" in text.splitlines()[0]
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_declarations_of_the_project_agree() -> None:
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert f"Programming Language :: Python :: {oldest}" in PROJECT["classifiers"]
    assert PROJECT["scripts"] == {"kanon": "kanon_sql.cli:process"}
    tested = [line for line in PROJECT["optional-dependencies"]["test"] if line.startswith("kanon-sql[")]
    assert tested == ["kanon-sql[excel,page,postgres,spark,utility,icd10,lineage,attest,docx]"], (
        "the tests run on PostgreSQL, and train models"
    )
