"""A release without information in its quasi-identifiers reports it, with the privacy model that is the cause."""

from pathlib import Path
from typing import Any

import pandas
import pytest
from typer.testing import CliRunner

from kanon_sql import anonymize
from kanon_sql.cli.app import app

PEOPLE = pandas.DataFrame(
    {"age": [20 + i % 50 for i in range(200)], "sex": ["m", "f"] * 100, "salary": [1000 + i for i in range(200)]}
)
SPEC: dict[str, Any] = {
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [5, 10]}}, "sex": {"hierarchy": "suppress"}},
    "sensitive": ["salary"],
    "suppression_limit": 0.0,
}
CLOSE = {"k": 5, "t_closeness": {"salary": 0.2}}


@pytest.mark.parametrize("strategy", ["auto", "mondrian"])
@pytest.mark.parametrize(
    ("privacy", "models"),
    [
        (CLOSE, ["t-closeness of salary (equal distance)", "`distance: ordered`", "fewer quasi-identifiers"]),
        ({"k": 150}, ["meets k-anonymity", "lower k"]),
        ({"k": 5}, []),
        ({"k": 1, "risk": {"model": "prosecutor", "mean": 0.006}}, ["prosecutor risk"]),
    ],
)
def test_the_model_that_left_nothing_is_named(strategy: str, privacy: dict[str, Any], models: list[str]) -> None:
    release = anonymize(PEOPLE, {**SPEC, "privacy": privacy}, strategy=strategy)
    text, empty = release.manifest["nothing_left"], release.to_df()[["age", "sex"]].drop_duplicates().shape[0] == 1
    assert empty == bool(models) == bool(text)
    if text:
        assert release.manifest["warnings"][0] == text
        assert all(part in text for part in ["all 200 released rows look the same in age and sex", *models])


def test_equal_rows_keep_all_information_and_no_rows_keep_none() -> None:
    equal = pandas.DataFrame({"age": [30] * 8, "sex": ["f"] * 8})
    assert anonymize(equal, {**SPEC, "sensitive": []}, k=5).manifest["nothing_left"] is None
    options: dict[str, Any] = {"node": {"age": 0, "sex": 0}, "suppression_limit": 1.0, "k": 5}
    nothing_left = anonymize(PEOPLE, SPEC, **options).manifest["nothing_left"]
    assert nothing_left.startswith("nothing is left: all 200 rows were suppressed")


@pytest.mark.slow
def test_the_first_line_reports_it_with_a_separate_exit_code_on_request(tmp_path: Path) -> None:
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    spec = tmp_path / "release.yml"
    spec.write_text(
        "source: people.csv\nquasi_identifiers: {age: {hierarchy: {ranges: [5, 10]}}}\nsensitive: [salary]\n"
        "privacy: {k: 5, t_closeness: {salary: 0.2}}\ntarget: {file: out.csv, overwrite: true}\n"
    )
    for command in ("anonymize --spec", "run"):
        for flags, code in (([], 0), (["--fail-empty"], 3)):
            run = CliRunner().invoke(app, [*command.split(), str(spec), *flags])
            assert run.exit_code == code, run.output
            assert command == "run" or run.output.startswith("nothing is left of the quasi-identifiers: all 200")
            (tmp_path / "out.csv").unlink()
