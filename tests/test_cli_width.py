"""The output of the command line on a narrow terminal: nothing is dropped silently."""

from dataclasses import replace

import pandas
import pytest
from rich.console import Console

from kanon_sql.cli import output
from kanon_sql.cli.anonymize import show_release
from kanon_sql.verbs.anonymize import anonymize

LONG = [f"a_column_whose_name_is_much_too_long_for_eighty_characters_and_differs_at_its_end_{n}" for n in range(2)]


def printed(capsys: pytest.CaptureFixture[str], width: int = 80) -> str:
    text = capsys.readouterr().out
    assert all(len(line) <= width for line in text.splitlines())
    return text


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 characters."""
    monkeypatch.setattr(output.out, "_width", 80)
    monkeypatch.setattr(output.out, "soft_wrap", False)
    assert isinstance(output.out, Console)


def test_a_long_column_name_is_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    people = pandas.DataFrame({LONG[0]: list("ab") * 10, LONG[1]: range(20), "age": range(20)})
    ranges = {"hierarchy": {"ranges": [5, 10]}, "weight": 0.5}
    recipes = {LONG[0]: {"hierarchy": "suppress"}, LONG[1]: ranges, "age": ranges}
    show_release(anonymize(people, quasi_identifiers=recipes, k=2))
    text = printed(capsys)
    assert "…" not in text
    cells = "".join(line.split(" ")[0] for line in text.splitlines())
    assert all(name in cells for name in LONG)
    assert text.splitlines()[0].split() == [
        *["quasi-identifier", "level", "weight", "unchanged", "loss", "entropy", "left", "error"]
    ]


def test_columns_of_a_sample_that_do_not_fit_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    output.sample(["id", *LONG, "age"], [["1", "x", "y", "31"]])
    text = printed(capsys)
    assert text.splitlines()[0].split() == ["id", "age"]
    assert "… and 2 more columns:" in text
    assert all(name in text.replace("\n", "") for name in LONG)
    output.sample(["id", "age"], [["1", "31"]])
    assert "more column" not in printed(capsys)


def test_all_seconds_of_a_run_are_reported_by_stage(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = {"read": 1.7, "frequency_set": 20.0, "search": 0.3, "release": 1.0, "verify": 0.0, "total": 23.0}
    people = pandas.DataFrame({"age": range(20)})
    release = anonymize(people, quasi_identifiers={"age": {"hierarchy": {"ranges": [5, 10]}}}, k=2)
    show_release(replace(release, manifest={**release.manifest, "seconds": seconds}))
    message = "23.0 s in all: counting 20.0, reading 1.7, writing 1.0, searching 0.3."
    assert message in printed(capsys).replace("\n", " ")
    assert output.took({"total": 0.01}) == "0.0 s in all"
