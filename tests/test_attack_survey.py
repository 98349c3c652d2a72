"""The releases of a survey of attacks, whose victims are known: A. Wiegnand and L. Schallner, "Barriers to the
implementation of k-anonymity", Tables 2, 4 (its right half) and 5. Table 6 is in test_attack_order.py.

The attack gives counts; which class it is, and who stands in it, each test works out by itself.
"""

import pandas
import pytest

from kanon_sql import attack


def homogeneous(release: pandas.DataFrame, names: list[str], column: str) -> dict[tuple[str, ...], list[int]]:
    """The rows (from 1) of each class with one value, by pandas alone; the attack must find as many."""
    classes = {
        labels: [int(i) + 1 for i in rows.index]
        for labels, rows in release.groupby(names)
        if rows[column].nunique() == 1
    }
    (outcome,) = attack(release, quasi_identifiers=names, sensitive=[column], only=["homogeneity"]).outcomes
    assert (outcome.affected, outcome.figures["classes"]) == (sum(map(len, classes.values())), len(classes))
    return classes


def test_table_2_reveals_the_problem_of_two() -> None:
    rows = [("2*", "stress"), ("3*", "stress"), ("4*", "stomach cancer"), ("3*", "obesity"), ("4*", "stomach ulcers")]
    release = pandas.DataFrame([*rows, ("2*", "stress")], columns=["age", "problem"]).assign(postcode="456*")
    assert homogeneous(release, ["age", "postcode"], "problem") == {("2*", "456*"): [1, 6]}


def test_table_4_reveals_what_bob_has() -> None:
    old, middle, young = (("≥40", "021**"), ("3*", "0223*"), ("≤30", "021**"))
    classes = [old, old, middle, young, middle, middle, old, young, young, old, middle, young]
    viral = "Viral Infection"
    ill = [viral, "Heart disease", "Cancer", "Fever", "Cancer", "Cancer", viral, "Cancer", "Short of breath", viral]
    release = pandas.DataFrame(classes, columns=["age", "zip"]).assign(nationality="*", problem=[*ill, "Cancer", viral])
    # Bob is 31 and lives in 02239.
    assert homogeneous(release, ["nationality", "age", "zip"], "problem") == {("*", "3*", "0223*"): [3, 5, 6, 11]}


def test_table_5_reveals_more_than_the_survey_states() -> None:
    classes = [("936**", "≤30")] * 2 + [("9390*", "≥40")] * 2 + [("936**", "3*")] * 2
    ill = ["Liver Disease", "Liver Disease", "Cancer", "Flu", "Heart Disease", "Cancer"]
    release = pandas.DataFrame(classes, columns=["zip", "age"]).assign(disease=ill)
    assert homogeneous(release, ["zip", "age"], "disease") == {("936**", "≤30"): [1, 2]}


def test_table_5_reveals_what_the_colleague_from_japan_has() -> None:
    """Who is 32, lives in 93607, and seldom has a heart disease; another colleague of the same class is not told."""
    classes = [("936**", "≤30")] * 2 + [("9390*", "≥40")] * 2 + [("936**", "3*")] * 2
    ill = ["Liver Disease", "Liver Disease", "Cancer", "Flu", "Heart Disease", "Cancer"]
    release = pandas.DataFrame(classes, columns=["zip", "age"]).assign(disease=ill)
    priors = pandas.DataFrame({"nationality": ["Japanese"], "disease": ["Heart Disease"], "share": [0.01]})
    colleagues = {"Umeko": "Japanese", "Ann": "American"}
    options = {"quasi_identifiers": ["zip", "age"], "sensitive": ["disease"], "hierarchies": None}
    revealed = {}
    for name, nationality in colleagues.items():
        person = pandas.DataFrame({"zip": ["93607"], "age": [32], "nationality": [nationality]})
        (outcome,) = attack(release, auxiliary=person, priors=priors, only=["priors"], **options).outcomes
        revealed[name] = (outcome.affected, outcome.baseline, outcome.figures["classes"])
    assert revealed == {"Umeko": (1, 0, 1), "Ann": (0, 0, 0)}
    sure = 1 / (1 + 0.01 / (1 / 6))  # of the cancer, in the only class that fits: rows 5 and 6
    for rows, gain in (([4, 5], 1 / (1 + 0.01 / (1 / 2)) - 1 / 2), (list(range(6)), sure - 1 / 2)):
        (outcome,) = attack(release.loc[rows], auxiliary=UMEKO, priors=priors, only=["priors"], **options).outcomes
        assert outcome.figures["worst_gain"] == pytest.approx(gain)


UMEKO = pandas.DataFrame({"zip": ["93607"], "age": [32], "nationality": ["Japanese"]})
