"""`kanon risk` as people use it."""

import json
from collections import Counter
from pathlib import Path

import pytest

from support.command_line import PEOPLE, done, kanon

RISK = ["risk", "people.csv", "--quasi-identifiers", "age,zip", "--sensitive", "disease"]
SMALLEST = min(Counter((age, code) for _, age, code, _ in PEOPLE).values())


def release() -> None:
    done("anonymize", "people.csv", *RISK[2:], "--hierarchies", "h", "--identifiers", "name", "--output", "r.csv")


@pytest.mark.usefixtures("folder")
def test_a_source_and_its_release_are_shown_side_by_side() -> None:
    release()
    shown = done(*RISK, "--release", "r.csv", "--k", "3", "--sampling-fraction", "0.5")
    lines = shown.splitlines()
    largest = next(line.split() for line in lines if line.startswith("largest k"))
    assert largest[-2] == str(SMALLEST)
    assert max(map(len, lines)) <= 80
    for heading in (
        "Verdict",
        "Class sizes",
        "Risk of re-identification",
        "Sensitive: disease",
        "Norms",
        "Identifiers",
    ):
        assert heading in lines
    for label in ("suppressed rows", "3-anonymous", "unique in the population", "EMA Policy 0070", "source", "release"):
        assert label in shown
    # The names are still in the source, and not in the release.
    (found,) = (line for line in lines if line.startswith("name"))
    assert "A names" in found or "R other unique numbers" in found


@pytest.mark.usefixtures("folder")
def test_json_has_everything_and_no_value() -> None:
    release()
    output = done(*RISK, "--release", "r.csv", "--json")
    seen = json.loads(output)
    assert seen["quasi_identifiers"] == ["age", "zip"]
    assert seen["source"]["rows"] == len(PEOPLE)
    assert seen["suppressed_rows"] == len(PEOPLE) - seen["release"]["rows"]
    assert seen["release"]["verdict"]["largest_k"] >= 5
    least = seen["release"]["verdict"]["largest_k"]
    assert [*seen["thresholds"]] == ["public", "contract", "secure"]
    found = {(of, check["name"]): check["met"] for of, checks in seen["thresholds"].items() for check in checks}
    assert found["public", "EMA Policy 0070"] is (1 / least <= 0.09)
    assert (
        found["contract", "PDPC Singapore, external sharing"]
        is found["secure", "PDPC Singapore, internal sharing"]
        is True
    )
    assert all(size_["sizes"] and size_["rows"] >= 0 for size_ in seen["source"]["class_sizes"])
    assert seen["meanings"]["highest"]
    assert not [word for word in ("02138", "02139", "90210") if word in output]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("bound", "code"),
    [("1", 0), ("0.01", 1), ("highest=0.01", 1), ("mean=1", 0), ("mean=0.01", 1), ("attribution=0.1", 1)],
)
def test_a_bound_is_compared_with_the_named_figure(bound: str, code: int) -> None:
    run = kanon(*RISK, "--fail-above", bound)
    assert run.code == code
    figure = bound.rpartition("=")[0] or "highest"
    assert (f"The {figure} risk is" in run.out) == bool(code)


@pytest.mark.usefixtures("folder")
def test_a_bound_is_compared_with_the_release_if_given() -> None:
    release()
    highest = json.loads(done(*RISK, "--release", "r.csv", "--json"))["release"]["prosecutor"]["highest"]
    assert highest < 1 / SMALLEST
    assert kanon(*RISK, "--release", "r.csv", "--fail-above", highest).code == 0
    assert kanon(*RISK, "--fail-above", highest).code == 1


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--fail-above", "2"], "--fail-above takes RISK, 0 to 1, or FIGURE=RISK"),
        (["--fail-above", "luck=0.1"], "FIGURE one of highest, mean, journalist"),
        (["--fail-above", "journalist=0.1"], "name a population"),
        (["--release", "nowhere.csv"], "there is no file nowhere.csv"),
        (["--sensitive", "illness"], "the source has no column 'illness'"),
    ],
)
def test_errors_are_reported_with_a_remedy(more: list[str], message: str) -> None:
    run = kanon(*RISK, *more)
    assert run.code == 2
    assert message in run.err


def test_a_table_of_a_database_is_measured_in_its_population(database: str) -> None:
    arguments = ["risk", "people", "--database", database, *RISK[2:], "--population", "people", "--json"]
    seen = json.loads(done(*arguments))["source"]
    assert seen["journalist"]["highest"] == seen["prosecutor"]["highest"] == 1 / SMALLEST


def test_a_long_name_is_shown_whole(folder: Path) -> None:
    name = "a_very_long_name_of_a_column_that_goes_on_and_on_until_it_is_wider_than_the_screen_of_anybody_at_work"
    (folder / "wide.csv").write_text(f"{name},b\n" + "".join(f"{i % 3},{i}\n" for i in range(30)))
    shown = done("risk", "wide.csv", "--quasi-identifiers", name, "--sensitive", "b")
    assert name in "".join(line.split("  ")[0] for line in shown.splitlines())
