"""The files of the repository that no other test reads: workflows, citation, changelog, container."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pandas
import pytest
import yaml

import kanon_sql
from kanon_sql.documents.manifest import COMMON, FORMS
from support.manifests import problems

pytestmark = pytest.mark.quick
ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_hash_and_every_job_has_few_permissions_and_an_end(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= (350 if path.stem == "nightly" else 60)
        for step in job["steps"]:
            assert "uses" not in step or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]), step
            assert not re.search(r"\$\{\{", step.get("run", "")), "pass it as an environment variable"


def test_the_workflows_test_every_python_that_the_project_names() -> None:
    named = {name.rpartition(" ")[2] for name in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", name)}
    jobs = chain.from_iterable(yaml.safe_load(path.read_text())["jobs"].values() for path in WORKFLOWS)
    matrices = [set(job["strategy"]["matrix"]["python"]) for job in jobs if "strategy" in job]
    assert matrices == [named, named]
    assert PROJECT["requires-python"] == f">={min(named, key=lambda version: int(version.partition('.')[2]))}"


def test_one_version_everywhere() -> None:
    newest = re.search(r"^## \[([^\]]+)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert newest
    assert newest[1] == PROJECT["version"] == citation["version"]
    assert newest[2] == str(citation["date-released"])


def test_the_files_sent_to_a_container_build_the_package() -> None:
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*build["packages"], *build["force-include"], "pyproject.toml"}
    needed |= {PROJECT["readme"], *PROJECT["license-files"]}
    assert needed <= sent
    assert all((ROOT / name).exists() for name in sent)


def test_a_manifest_with_another_key_or_without_one_is_not_as_documented() -> None:
    people = pandas.DataFrame({"a": [1, 1, 2, 2]})
    release = kanon_sql.anonymize(people, quasi_identifiers={"a": {"hierarchy": "suppress"}}, k=2)
    assert not problems(release.manifest)
    assert problems({**release.manifest, "unheard_of": 1})
    for name in (*COMMON, *FORMS["anonymize"]):
        assert problems({key: value for key, value in release.manifest.items() if key != name}), name
