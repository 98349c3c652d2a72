"""Impossible privacy models: one sentence, from the command line and from a spec, and nothing is written."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

import kanon_sql
from kanon_sql.errors import KanonError
from support.command_line import kanon
from support.ward import OUT, QI, put, snapshot

FILES = {
    "nozip.csv": "name,age\nann,30\n",
    "few.csv": "age,zip\n29,02138\n",
    "nobody.csv": "person,age,zip\n1,28,02138\n,28,02138\n",
}
HERE = f"anonymize people.csv {QI} --sensitive disease {OUT}"
# What is asked on the command line and in a spec's `privacy`, and the words of both errors.
ASKED: dict[str, tuple[str, dict[str, Any], str]] = {
    "of a quasi-identifier": (
        "--l-diversity zip=2",
        {"l_diversity": {"zip": 2}},
        "counts the values of 'zip', which is generalized as a quasi-identifier; leave out one of the two",
    ),
    "of a dropped column": (
        "--l-diversity name=2",
        {"l_diversity": {"name": 2}},
        "counts the values of 'name', which is dropped as an identifier; leave out one of the two",
    ),
    "too diverse": (
        "--l-diversity disease=99",
        {"l_diversity": {"disease": 99}},
        "no release can meet distinct l-diversity of disease, 99 required: .* reach [0-9]; relax the model",
    ),
    "too far": ("--t-closeness disease=1.5", {"t_closeness": {"disease": 1.5}}, "t: give a number above 0, at most 1"),
    "too near": ("--t-closeness disease=0", {"t_closeness": {"disease": 0}}, "t: give a number above 0, at most 1"),
    "unordered": (
        "--t-closeness disease=0.2:ordered",
        {"t_closeness": {"disease": {"t": 0.2, "distance": "ordered"}}},
        "needs ordered values, and the order of VARCHAR has no meaning; choose a column of numbers",
    ),
    "no such column": (
        "--l-diversity ilness=2",
        {"l_diversity": {"ilness": 2}},
        "there is no sensitive column 'ilness'; there are name, age, zip, disease",
    ),
    "no such unit": ("--unit person", {"unit": "person"}, "there is no unit column 'person'; there are name, age, zip"),
    "alpha above 1": ("--alpha disease=1.5", {"alpha_k": {"disease": 1.5}}, "alpha: give a number above 0, at most 1"),
    "alpha of 0": ("--alpha disease=0", {"alpha_k": {"disease": 0}}, "alpha: give a number above 0, at most 1"),
    "alpha of nothing": (
        "--alpha disease=0.5:gout",
        {"alpha_k": {"disease": {"alpha": 0.5, "value": "gout"}}},
        "names the value 'gout', which does not occur; correct it, or leave it out to mean every value",
    ),
    "a population without the columns": (
        "--k-map 2:nozip.csv",
        {"k_map": {"k": 2, "population": "nozip.csv"}},
        "has no column 'zip', which is a quasi-identifier; name a table that has it",
    ),
    "a population that is too small": (
        "--k-map 2:few.csv",
        {"k_map": {"k": 2, "population": "few.csv"}},
        "lacks [0-9]+ of the sample's combinations of quasi-identifiers.*; name the population",
    ),
    "no population": (
        "--k-map 2:voters.csv",
        {"k_map": {"k": 2, "population": "voters.csv"}},
        "the population .*voters.csv is neither a table in the source's database nor a file; check its name",
    ),
    "a fraction above 1": (
        "--uniqueness 0.01:fraction=1.5",
        {"uniqueness": {"share": 0.01, "sampling_fraction": 1.5}},
        "uniqueness.sampling_fraction: give the rows over those of the population, above 0 and at most 1",
    ),
    "a fraction of 0": (
        "--uniqueness 0.01:fraction=0",
        {"uniqueness": {"share": 0.01, "sampling_fraction": 0}},
        "uniqueness.sampling_fraction: give the rows over those of the population, above 0 and at most 1",
    ),
    "no bound": ("--risk prosecutor", {"risk": {"model": "prosecutor"}}, "privacy.risk: give highest, mean or above"),
}
TWICE = {
    "--l-diversity disease=2 --l-diversity disease=3": "--l-diversity: 'disease' is given twice; keep one of the two",
    "--k-map 2:few.csv --k-map 3:few.csv": "--k-map is given 2 times; keep one of them",
    "--delta-presence 0:0.5:few.csv --delta-presence 0:0.6:few.csv": "--delta-presence is given 2 times; keep one",
    "--risk prosecutor:mean=0.1 --risk marketer:mean=0.1": "--risk is given 2 times; keep one of them",
    "--uniqueness 0.1:fraction=0.5 --uniqueness 0.2:fraction=0.5": "--uniqueness is given 2 times; keep one of them",
}


@pytest.fixture
def folder(ward: Path) -> Path:
    put(ward, dict(FILES))
    return ward


@pytest.mark.parametrize(("option", "_", "message"), ASKED.values(), ids=ASKED)
def test_the_command_line_reports_it_in_one_line(folder: Path, option: str, _: object, message: str) -> None:
    assert_refused(folder, f"{HERE} {option}", message)


@pytest.mark.parametrize(("option", "message"), TWICE.items())
def test_a_model_requested_twice_is_refused(folder: Path, option: str, message: str) -> None:
    assert_refused(folder, f"{HERE} {option}", message)


def test_rows_without_a_person_are_refused(folder: Path) -> None:
    line = f"anonymize nobody.csv --unit person --quasi-identifiers age,zip --hierarchies h {OUT}"
    assert_refused(
        folder, line, "1 rows have no 'person', .*; leave these rows out of the source, or give each of them"
    )


@pytest.mark.parametrize(("_", "options", "message"), ASKED.values(), ids=ASKED)
def test_a_spec_has_the_same_result(folder: Path, _: object, options: dict[str, Any], message: str) -> None:
    spec = {
        "source": "people.csv",
        "identifiers": ["name"],
        "quasi_identifiers": ["age", "zip"],
        "sensitive": ["disease"],
        "hierarchies": "h",
        "privacy": options,
        "target": {"file": "out.csv"},
    }
    (folder / "bad.yml").write_text(yaml.safe_dump(spec))
    before = snapshot(folder)
    with pytest.raises(KanonError, match=message) as refused:
        kanon_sql.anonymize(spec=folder / "bad.yml")
    assert "\n" not in str(refused.value)
    assert snapshot(folder) == before


def assert_refused(folder: Path, line: str, message: str) -> None:
    """One line that says what to do, and nothing else is left of it."""
    before, run = snapshot(folder), kanon(*line.split())
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("kanon: ")
    assert run.err.count("\n") == 1
    assert re.search(message, run.err), run.err
    assert snapshot(folder) == before
