"""Background knowledge of values, skewness and similarity: published tables, planted cases, and uniform data."""

import random
from pathlib import Path
from typing import Any

import pandas
import pytest

from kanon_sql import Attacks, attack
from kanon_sql.attack import Outcome

# N. Li, T. Li, S. Venkatasubramanian, ICDE 2007: the 3-diverse version (table 4) of the salary and disease table.
STOMACH = ["gastric ulcer", "gastritis", "stomach cancer"]
SALARIES = pandas.DataFrame(
    {
        "zip": ["476**"] * 3 + ["4790*"] * 3 + ["476**"] * 3,
        "age": ["2*"] * 3 + [">=40"] * 3 + ["3*"] * 3,
        "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10],
        "disease": [*STOMACH, "gastritis", "flu", "bronchitis", "bronchitis", "pneumonia", "stomach cancer"],
    }
)
# Three classes: one tells its disease, the others all but one.
HOSPITAL = pandas.DataFrame(
    {"zip": ["936**", "9390*", "936**"] * 2, "age": ["<=30", ">=40", "3*"] * 2, "ill": ["liver", "cancer", "heart"] * 2}
)
HOSPITAL.loc[[4, 5], "ill"] = ["flu", "cancer"]


def tried(release: pandas.DataFrame, *only: str, **more: Any) -> Attacks:
    names = [name for name in ("zip", "age") if name in release]
    return attack(release, quasi_identifiers=names, only=only, **more)


def of(attacks: Attacks, name: str, column: str) -> Outcome:
    (outcome,) = [outcome for outcome in attacks.outcomes if (outcome.name, outcome.column) == (name, column)]
    return outcome


def test_the_class_of_low_salaries_is_found(tmp_path: Path) -> None:
    kinds = {item: "stomach" if item in STOMACH else "lungs" for item in set(SALARIES["disease"])}
    (tmp_path / "disease.csv").write_text("\n".join(f"{item};{kind};*" for item, kind in kinds.items()))
    found = tried(SALARIES, "similarity", hierarchies=tmp_path)
    assert [(outcome.column, outcome.affected, outcome.figures["classes"]) for outcome in found.outcomes] == [
        ("salary", 3, 1),
        ("disease", 3, 1),
    ]
    assert not found.notes


def test_without_a_hierarchy_no_diseases_are_similar() -> None:
    found = tried(SALARIES, "similarity", sensitive=["disease"])
    assert not found.outcomes
    assert "disease.csv" in found.notes[0]


def test_excluding_one_value_reveals_the_other() -> None:
    found = of(tried(HOSPITAL, "background"), "ruling_out", "ill")
    assert (found.affected, found.figures["classes"], found.figures["worst_posterior"]) == (6, 3, 1)
    found = of(tried(SALARIES, "background"), "ruling_out", "disease")
    assert (found.affected, found.figures["certain_after_2"], found.figures["mean_posterior"]) == (0, 9, 0.5)


def test_posteriors_by_hand() -> None:
    release = pandas.DataFrame({"zip": list("aaaabbbbbb"), "ill": list("xxxyxyyzzz")})
    found = tried(release, "background", "skewness")
    ruled, guessed = of(found, "ruling_out", "ill"), of(found, "posterior", "ill")
    # a: x 3 of 4, y 1; b: x 1, y 2, z 3 of 6. Without the other value: x and y 1; without the most frequent other one:
    # x 1/3, y 2/3, z 3/4.
    assert ruled.affected == 4
    assert ruled.figures["mean_posterior"] == pytest.approx((4 + 1 / 3 + 2 * 2 / 3 + 3 * 3 / 4) / 10)
    assert (guessed.affected, guessed.figures["disclosed"]) == (6, 0)
    assert guessed.figures["worst_gain"] == pytest.approx(3 / 4 - 4 / 10)
    assert guessed.figures["mean_gain"] == pytest.approx(
        (3 * (0.75 - 0.4) + (0.25 - 0.3) + (1 / 6 - 0.4) + 2 * (1 / 3 - 0.3) + 3 * (0.5 - 0.3)) / 10
    )
    skewed = of(found, "skewness", "ill")
    assert (skewed.affected, skewed.figures["classes"]) == (0, 0)
    assert skewed.figures["largest_ratio"] == pytest.approx(0.75 / 0.4)


def test_the_class_with_many_ill_people_is_skewed() -> None:
    """The paper's example: one in a hundred is positive, but half of a class."""
    rows = [("a", i % 2) for i in range(50)] + [(str(i // 50), i % 200 == 0) for i in range(4950)]
    release = pandas.DataFrame([(place, int(ill)) for place, ill in rows], columns=["zip", "ill"])
    found = of(tried(release, "skewness"), "skewness", "ill")
    assert (found.affected, found.figures["classes"]) == (50, 1)
    assert found.figures["largest_ratio"] == 50 / (2 * (25 + 25) / 100)


def test_null_is_a_value_that_is_near_none() -> None:
    release = pandas.DataFrame({"zip": list("aabbccdd"), "pay": [1, 2, 3, None, 5, 9, 5, 9]})
    assert of(tried(release, "similarity"), "similarity", "pay").affected == 2
    release["pay"] = [1, None, 1, None, None, None, 2, 2]
    assert of(tried(release, "background"), "ruling_out", "pay").affected == 8


@pytest.mark.parametrize("seed", range(2))
def test_random_values_are_not_a_finding(seed: int) -> None:
    draw = random.Random(seed)
    rows = [(str(i // 4), draw.choice("abcfff"), draw.randrange(40)) for i in range(800)]
    release = pandas.DataFrame(rows, columns=["zip", "ill", "pay"])
    found = tried(release, "background", "skewness", "similarity", seed=seed)
    assert found.worst == 0
    assert of(found, "ruling_out", "ill").affected > 0  # found all the same


def test_planted_people_are_found_above_chance() -> None:
    draw = random.Random(1)
    rows = [(str(i // 10), draw.choice("abcdefgh")) for i in range(1000)] + [
        (f"planted {i // 10}", "ab"[i % 2]) for i in range(200)
    ]
    found = of(tried(pandas.DataFrame(rows, columns=["zip", "ill"]), "background"), "ruling_out", "ill")
    assert (found.affected, found.attempts) == (200, 1200)
    assert found.baseline is not None
    assert found.excess == pytest.approx((1 / 6 - found.baseline) / (1 - found.baseline))
    assert found.baseline < 0.02
