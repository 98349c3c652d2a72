"""The examples of docs/pipeline.md that need another program: run beside a stand-in of it, or read as it would."""

import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import pytest
import yaml

import kanon_sql
from kanon_sql.cli.app import command
from kanon_sql.spec import load_runs

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "pipeline.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.S | re.M)


def decorator(*given: Any, **_: Any) -> Any:
    """Of a function itself, or of one that is given options."""
    return given[0] if given and callable(given[0]) else lambda function: function


def module(name: str, **content: Any) -> ModuleType:
    made = ModuleType(name)
    vars(made).update(content)
    return made


AIRFLOW = module("airflow.sdk", dag=decorator, task=decorator)
DAGSTER = module("dagster", asset=decorator, MaterializeResult=lambda metadata: metadata)
RELEASE = SimpleNamespace(manifest={"smallest_class": 5})
DONE = SimpleNamespace(releases=[SimpleNamespace(name="nightly", status="released", release=RELEASE)])


@pytest.mark.parametrize(
    ("number", "modules", "day"),
    [(0, {"airflow": module("airflow"), "airflow.sdk": AIRFLOW}, {"DAY": "{{ ds }}"}), (1, {"dagster": DAGSTER}, None)],
)
def test_the_tasks_of_schedulers_run_the_spec(number: int, modules: dict[str, ModuleType], day: Any) -> None:
    names: dict[str, Any] = {}
    with mock.patch.dict("sys.modules", modules), mock.patch.object(kanon_sql, "run", return_value=DONE) as run:
        exec(compile(blocks("py")[number], "pipeline.md", "exec"), names)
        if "patients_nightly" in names:
            assert names["patients_nightly"]() == {"status": "released", "smallest_class": 5}
    run.assert_called_once_with("/srv/clinic/nightly.yml", **({"vars": day} if day else {}))


def test_the_specs_of_the_page_are_specs(tmp_path: Path) -> None:
    names = []
    for text in blocks("yaml")[:2]:
        (tmp_path / "page.yml").write_text(text)
        names += [each.name for each in load_runs(tmp_path / "page.yml", {})]
    assert names == ["page", "research", "public"]


def test_the_workflow_makefile_and_crontab_call_commands_that_there_are(tmp_path: Path) -> None:
    workflow = yaml.safe_load(blocks("yml")[0])
    steps = workflow["jobs"]["release"]["steps"]
    (tmp_path / "Makefile").write_text(blocks("make")[0])
    called = [step["run"] for step in steps if "run" in step] + blocks("cron")
    if shutil.which("make"):
        made = subprocess.run(["make", "-n", "release"], cwd=tmp_path, capture_output=True, text=True, check=True)
        called.append(made.stdout)
    assert re.fullmatch(r"(\S+ ){5}cd .*\n", blocks("cron")[0])
    words = re.findall(r"kanon (run|releases verify) (\S+)", "\n".join(called))
    assert {name for name, _ in words} == {"run", "releases verify"}
    assert command("run").params
