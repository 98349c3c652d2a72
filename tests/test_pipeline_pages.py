"""The code of docs/pipelines/ and docs/pipeline.md is run, with the real program if installed, else a stand-in."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import duckdb
import pytest
import yaml

import kanon_sql
from kanon_sql.spec import load_runs

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PATIENTS = """
CREATE TABLE patients AS
SELECT 'P' || i AS name, 's' || i AS ssn, 20 + i % 40 AS age, CAST(10000 + i % 30 AS VARCHAR) AS zip,
  ['flu', 'asthma'][1 + i // 7 % 2] AS disease
FROM range(240) AS t(i)
"""


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.S | re.M)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the pages speak of: a database, the spec of docs/pipeline.md, and `kanon` on the path."""
    folder = tmp_path_factory.mktemp("clinic")
    with duckdb.connect(str(folder / "hospital.duckdb")) as connection:
        connection.execute(PATIENTS)
    nightly = blocks("pipeline.md", "yaml")[0].replace("hospital.duckdb", "${DATABASE}")
    (folder / "nightly.yml").write_text(nightly.replace("vars: {K: 5}", "vars: {K: 5, DATABASE: hospital.duckdb}"))
    (folder / "bin").mkdir()
    script(folder / "bin" / "kanon", f'exec "{sys.executable}" -m kanon_sql "$@"')
    script(folder / "bin" / "pip", 'echo "pip $*"')  # a stand-in: what is tested is here already
    script(folder / "bin" / "mail", f'echo "mail $*: $(cat)" >> "{folder}/mailed"')
    return folder


def script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def ran(clinic: Path, *words: str, **more: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{clinic}/bin:{os.environ['PATH']}", **more}
    done = subprocess.run(words, cwd=clinic, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def page(clinic: Path, name: str, **stand_in: Any) -> dict[str, Any]:
    """The names that a page's code gives, its folder being ours; `stand_in`: for its program where that is missing."""
    program, names = name.removesuffix(".md"), dict[str, Any](__name__="page")
    modules = {program: ModuleType(program), f"{program}.sdk": ModuleType(f"{program}.sdk")}
    for module in modules.values():
        vars(module).update(stand_in)
    missing = importlib.util.find_spec(program) is None  # the real one stays imported
    with mock.patch.dict("sys.modules", modules) if missing else nullcontext():
        exec(compile(blocks(f"pipelines/{name}", "py")[0].replace("/srv/clinic", str(clinic)), name, "exec"), names)
    return names


def holds(clinic: Path) -> bool:
    options: dict[str, Any] = {"quasi_identifiers": ["age", "zip"], "k": 5}
    return bool(kanon_sql.verify("patients_nightly", database=clinic / "hospital.duckdb", **options))


class Task:
    """What Airflow makes of a function: called in a DAG it is only planned, and `function` runs it."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *given: Any) -> None:
        assert given == ("{{ ds }}",)


def test_the_task_for_airflow_creates_the_release(clinic: Path) -> None:
    names = page(clinic, "airflow.md", task=Task, dag=lambda **_: lambda function: function)
    assert names["release"].function("2026-01-01") in (["nightly: released"], ["nightly: unchanged"])
    assert kanon_sql.verify(
        "patients_nightly", database=clinic / "hospital.duckdb", quasi_identifiers=["age", "zip"], k=5
    )


def test_the_asset_for_dagster_creates_the_release(clinic: Path) -> None:
    stand_in = {"asset": lambda **_: lambda function: function, "Definitions": dict, "MaterializeResult": dict}
    names = page(clinic, "dagster.md", **stand_in)
    asset = names["patients_nightly"]
    if importlib.util.find_spec("dagster"):
        assert names["dagster"].materialize([asset]).success
    else:
        assert asset()["metadata"]["status"] in ("released", "unchanged")
    assert kanon_sql.verify(
        "patients_nightly", database=clinic / "hospital.duckdb", quasi_identifiers=["age", "zip"], k=5
    )


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("make"), reason="install make to run it")
def test_make_release_creates_and_verifies_the_release(clinic: Path) -> None:
    (clinic / "Makefile").write_text(blocks("pipelines/makefile.md", "make")[0])
    run = ran(clinic, "make", "release")
    assert re.search(r"nightly +(released|unchanged)", run)
    assert "intact: 1 rows" in run


@pytest.mark.slow
def test_the_steps_of_the_workflow_run(clinic: Path) -> None:
    (workflow,) = map(yaml.safe_load, blocks("pipelines/github-actions.md", "yml"))
    install, run = (step for step in workflow["jobs"]["release"]["steps"] if "run" in step)
    assert ran(clinic, "bash", "-e", "-c", install["run"]) == "pip install ./kanon_sql[postgres]\n"
    (variable,) = run["env"]
    assert "nightly" in ran(clinic, "bash", "-e", "-c", run["run"], **{variable: str(clinic / "hospital.duckdb")})


@pytest.mark.slow
def test_the_line_of_the_crontab_runs_and_mails_failures(clinic: Path) -> None:
    (line,) = blocks("pipelines/cron.md", "cron")
    *when, command = line.split(" ", 5)
    assert [bool(re.fullmatch(r"\d+|\*", item)) for item in when] == [True] * 5
    run = ran(clinic, "sh", "-c", command.replace("/srv/clinic", str(clinic)))
    assert "nightly" in run
    assert not (clinic / "mailed").exists()
    ran(clinic, "sh", "-c", command.replace("/srv/clinic", str(clinic / "bin" / "nowhere")))
    mailed = (clinic / "mailed").read_text()
    assert mailed == "mail -s kanon data@example.org: tonight's release failed\n"


def test_the_specs_of_the_page_are_specs(tmp_path: Path) -> None:
    names = []
    for text in blocks("pipeline.md", "yaml")[:2]:
        (tmp_path / "page.yml").write_text(text)
        names += [load_run.name for load_run in load_runs(tmp_path / "page.yml", {})]
    assert names == ["page", "research", "public"]
