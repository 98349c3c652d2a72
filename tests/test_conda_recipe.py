"""The conda recipe: the same version, dependencies and Python versions as in pyproject.toml."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

pytestmark = pytest.mark.quick
ROOT = Path(__file__).resolve().parent.parent
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
TEXT = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
CONTEXT: dict[str, str] = yaml.safe_load(TEXT)["context"]
CONDA_NAMES = {"duckdb": "python-duckdb"}  # packages with another name on conda-forge


def rendered() -> dict[str, Any]:
    """The recipe with the variables of its context filled in."""
    text = TEXT
    for name, value in CONTEXT.items():
        text = text.replace(f"${{{{ {name} }}}}", value)
    recipe: dict[str, Any] = yaml.safe_load(text)
    return recipe


def of_conda(lines: list[str]) -> dict[str, SpecifierSet]:
    """Packages and their versions as conda writes them: `name >=1,<2`."""
    names = (line.partition(" ") for line in lines)
    return {name: SpecifierSet(versions) for name, _, versions in names}


def of_python(lines: list[str]) -> dict[str, SpecifierSet]:
    """Packages, by their names on conda-forge, and their versions as Python writes them: `name>=1,<2`."""
    requirements = map(Requirement, lines)
    return {CONDA_NAMES.get(requirement.name, requirement.name): requirement.specifier for requirement in requirements}


def test_version_and_python_are_those_of_the_project() -> None:
    recipe = rendered()
    assert recipe["package"] == {"name": PROJECT["name"], "version": PROJECT["version"]}
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert of_conda(recipe["requirements"]["run"])["python"] == SpecifierSet(PROJECT["requires-python"])
    entry_points = [f"{name} = {function}" for name, function in PROJECT["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == entry_points


def test_dependencies_are_those_of_the_project() -> None:
    requirements = rendered()["requirements"]
    run = of_conda(requirements["run"])
    del run["python"]
    assert run == of_python(PROJECT["dependencies"])
    build = [line for line in requirements["host"] if line.partition(" ")[0] not in ("python", "pip")]
    assert of_conda(build) == of_python(PYPROJECT["build-system"]["requires"])
