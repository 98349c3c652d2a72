"""Priors of sensitive values: against Bayes' theorem by hand, and invalid priors."""

from typing import Any

import pandas
import pytest

from kanon_sql import Attacks, KanonError, attack
from support.command_line import done

RELEASE = pandas.DataFrame({"zip": ["1*"] * 4 + ["2*"] * 4, "ill": list("xxyzyzzz")})
PEOPLE = pandas.DataFrame({"zip": ["11", "12", "21", "31"], "sex": list("fmff"), "ill": list("yxxz")})


def attacked_with(priors: Any, people: pandas.DataFrame = PEOPLE, **more: Any) -> Attacks:
    options = {"quasi_identifiers": ["zip"], "sensitive": ["ill"], "only": ["priors"]}
    return attack(RELEASE, auxiliary=people, priors=pandas.DataFrame(priors), **options, **more)


def test_posteriors_are_those_of_bayes() -> None:
    """x 2/8, y 2/8, z 4/8 in the release; of women nobody has x, and z half as many as of all."""
    priors = {"sex": ["f", "f", "m"], "ill": ["x", "z", "q"], "share": [0, 0.25, 0.5]}
    (outcome,) = attacked_with(priors, PEOPLE[["zip", "sex"]]).outcomes
    first = 1 / (1 + 0.5) - 2 / 4  # y, beside z at half; before it was x
    third = (3 * 0.5) / (1 + 3 * 0.5) - 3 / 4  # z, beside y
    assert outcome.figures["worst_gain"] == pytest.approx(first)
    assert outcome.figures["mean_gain"] == pytest.approx((first + 0 + third) / 3)  # who fits nothing is no gain
    assert (outcome.attempts, outcome.affected, outcome.figures["classes"]) == (4, 0, 0)


def test_certainty_of_a_wrong_value_is_not_a_success() -> None:
    priors = {"ill": ["x", "z"], "share": [0, 0.001]}  # of everybody
    (sure,) = attacked_with(priors, PEOPLE[["zip"]]).outcomes
    (right,) = attacked_with(priors).outcomes
    assert (sure.affected, right.affected) == (3, 1)  # all are taken to have y; the first has it
    assert (sure.figures["classes"], right.figures["classes"], right.baseline) == (2, 1, 0)
    (of_source,) = attacked_with(priors, None, source=PEOPLE).outcomes
    assert of_source.affected == 1


def test_null_and_numbers_are_values_too() -> None:
    release = pandas.DataFrame({"zip": ["1*"] * 4, "paid": [10, 10, None, None]})
    priors = pandas.DataFrame({"paid": [None, 10], "share": [0.0, 0.4]})
    options = {"quasi_identifiers": ["zip"], "sensitive": ["paid"], "only": "priors"}
    (outcome,) = attack(release, auxiliary=PEOPLE[["zip"]], priors=priors, **options).outcomes
    assert outcome.affected == 2


def test_priors_that_match_no_person_are_noted() -> None:
    tried = attacked_with({"sex": ["F"], "ill": ["x"], "share": [0]})
    (note,) = tried.notes
    assert note == "no row of the priors is about anybody of the auxiliary table and a value of ill in the release"
    assert tried.outcomes[0].figures["worst_gain"] == 0


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ({"sick": ["x"], "share": [0.1]}, "the priors have no column of ill; name the values"),
        ({"ill": ["x"]}, "the priors have no numbers in a column 'share'"),
        ({"ill": ["x"], "share": ["much"]}, "the priors have no numbers in a column 'share'"),
        ({"ill": ["x", "y"], "share": [5.0, 0.1]}, "1 rows of the priors have no share from 0 to 1"),
        ({"ill": ["x", "x"], "share": [0.2, 0.1]}, "the priors have 1 shares more than once"),
        (
            {"job": ["a"], "ill": ["x"], "share": [0.2]},
            "the auxiliary table has no column 'job', which the priors have",
        ),
    ],
)
def test_priors_without_information_are_refused(priors: dict[str, Any], message: str) -> None:
    with pytest.raises(KanonError, match=message):
        attacked_with(priors)


def test_the_command_line_takes_priors_and_names_their_requirements(tmp_path) -> None:
    for name, frame in {"release": RELEASE, "people": PEOPLE}.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "priors.csv").write_text("sex,ill,share\nf,x,0\nf,z,0.001\nm,x,0.25\n")
    arguments = ["attack", tmp_path / "release.csv", "--quasi-identifiers", "zip", "--only", "priors"]
    assert "Not run: priors; it needs how common the sensitive values are" in done(*arguments)
    shown = done(*arguments, "--priors", tmp_path / "priors.csv", "--auxiliary", tmp_path / "people.csv")
    assert "is 90% sure of it for 1 of 4 rows; by the records alone, for 0" in shown.replace("\n  ", " ")
