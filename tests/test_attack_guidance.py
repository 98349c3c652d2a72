"""Singling out, linkability and inference: against brute force, planted cases, and releases without information."""

import random
from collections import Counter
from typing import Any

import pandas
import pytest

from kanon_sql import attack
from kanon_sql.attack import Outcome
from kanon_sql.generalization.recipes import ranges

NAMES = ["age", "zip"]


def tried(name: str, release: pandas.DataFrame, source: pandas.DataFrame, **more: Any) -> list[Outcome]:
    options = {"quasi_identifiers": NAMES, "sensitive": ["ill"], "only": [name], "source": source, **more}
    return list(attack(release, **options).outcomes)


def people_of(seed: int, rows: int = 40, ill: str = "xyz") -> pandas.DataFrame:
    draw = random.Random(seed)
    drawn = [(draw.randint(20, 49), draw.choice(["11", "12", "21"]), draw.choice(ill)) for _ in range(rows)]
    return pandas.DataFrame(drawn, columns=[*NAMES, "ill"])


def released(source: pandas.DataFrame, width: int = 10) -> pandas.DataFrame:
    hierarchy = ranges(source["age"], [width], "age")
    labels = dict(zip(hierarchy.values, hierarchy.labels(1), strict=True))
    return source.assign(age=source["age"].map(labels), zip=source["zip"].str[0] + "*")


# Inference


@pytest.mark.parametrize("seed", range(2))
def test_the_success_rate_is_that_computed_by_hand_with_and_without_the_own_record(seed: int) -> None:
    source = people_of(seed)
    release = released(source)
    (outcome,) = tried("inference", release, source)
    right = others = 0.0
    commonest = release["ill"].value_counts().max() / 40
    for labels, own in zip(release[NAMES].itertuples(index=False), source["ill"], strict=True):
        values = Counter(release[(release["age"] == labels.age) & (release["zip"] == labels.zip)]["ill"])
        right += share_of(values, own)
        values[own] -= 1
        others += share_of(values, own) if sum(values.values()) else commonest
    assert outcome.figures["right"] == pytest.approx(right)
    assert outcome.control == pytest.approx(others / 40)
    assert (outcome.baseline, outcome.attempts, outcome.affected) == (commonest, 40, round(right))


def share_of(values: Counter[str], own: str) -> float:
    most = [value for value, n in values.items() if n == max(values.values())]
    return (own in most) / len(most)


def test_a_class_with_one_value_reveals_it() -> None:
    source = pandas.DataFrame({"age": [21, 22, 31, 32], "zip": ["11"] * 4, "ill": ["x", "x", "y", None]})
    (outcome,) = tried("inference", released(source), source)
    assert (outcome.figures["right"], outcome.affected) == (pytest.approx(3), 3)  # y and NULL are guessed at random
    assert outcome.baseline == 0.5


def test_a_value_is_that_of_the_source_not_of_the_release() -> None:
    source = people_of(1)
    (outcome,) = tried("inference", released(source).assign(ill="q"), source)
    assert outcome.affected == 0


def test_suppressed_people_are_not_attacked() -> None:
    source = pandas.DataFrame({"age": [21, 22, 41], "zip": ["11"] * 3, "ill": list("xyx")})
    (outcome,) = tried("inference", released(source.iloc[:2]), source)
    assert outcome.attempts == 2


@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_inferred_if_every_class_is_like_the_whole(seed: int) -> None:
    source = pandas.concat([people_of(seed, 60, "x"), people_of(seed, 60, "y"), people_of(seed, 60, "x")])
    (outcome,) = tried("inference", released(source), source)
    assert (outcome.share, outcome.excess) == (pytest.approx(2 / 3), 0)


# Linkability


@pytest.mark.parametrize("seed", range(2))
def test_two_halves_meet_as_often_as_by_hand(seed: int) -> None:
    source = people_of(seed)
    release = released(source)
    (outcome,) = tried("linkability", release, source)
    same = others = 0.0
    for labels in release[NAMES].itertuples(index=False):
        one, other = release["age"] == labels.age, release["zip"] == labels.zip
        both = (one & other).sum()
        same += both / one.sum() / other.sum()
        if one.sum() > 1 < other.sum():
            others += (both - 1) / (one.sum() - 1) / (other.sum() - 1)
    assert outcome.figures["same"] == pytest.approx(same)
    assert (outcome.control, outcome.baseline) == (pytest.approx(others / 40), 1 / 40)


def test_people_unique_in_both_halves_are_linked() -> None:
    source = pandas.DataFrame({"age": [21, 31, *[41] * 8], "zip": ["11", "21", *["31"] * 8], "ill": ["x"] * 10})
    (outcome,) = tried("linkability", released(source), source)
    assert outcome.figures["same"] == pytest.approx(2 + 8 * 8 / 64)
    assert (outcome.affected, outcome.control) == (3, pytest.approx(8 * 7 / 49 / 10))
    assert outcome.share > outcome.chance


@pytest.mark.parametrize("seed", range(2))
def test_no_person_is_linked_by_halves_without_information(seed: int) -> None:
    source = people_of(seed, 300)
    (outcome,) = tried("linkability", source.assign(age="*", zip="**"), source)
    assert outcome.excess == 0


def test_the_halves_are_the_columns_of_another_table_and_the_rest() -> None:
    source = people_of(1).assign(sex="f")
    release = released(source)
    more = {"quasi_identifiers": [*NAMES, "sex"], "auxiliary": source[["sex"]]}
    (outcome,) = tried("linkability", release, source, **more)
    assert "one with sex and one with age, zip" in outcome.sentence
    (outcome,) = tried("linkability", release, source, quasi_identifiers=[*NAMES, "sex"])
    assert "one with age, sex and one with zip" in outcome.sentence
    assert tried("linkability", release, source[["zip", "ill"]]) == []


# Singling out


def test_a_kept_column_that_is_unique_singles_out() -> None:
    source = people_of(3).assign(salary=[*range(100, 115), *[7] * 25])
    by_one, by_several = tried("singling_out", released(source), source)
    assert (by_one.name, by_one.affected, by_one.figures["unique_rows"]) == ("singling_out_by_one", 15, 15)
    assert by_several.affected >= 15
    assert by_one.share == 15 / 40
    assert by_one.baseline == pytest.approx(15 / 40 * (1 - 1 / 40) ** 39)
    assert by_one.excess > 0


@pytest.mark.parametrize("seed", range(2))
def test_every_unique_row_is_compared_with_the_source(seed: int) -> None:
    source = people_of(seed)
    release = released(source).sample(30, random_state=seed)
    _, outcome = tried("singling_out", release, source)
    whole = released(source).value_counts(dropna=False)
    alone = release.value_counts(dropna=False)
    unique = [row for row, n in alone.items() if n == 1]
    assert outcome.figures["unique_rows"] == len(unique)
    assert outcome.affected == sum(whole[row] == 1 for row in unique)


def test_a_k_anonymous_release_of_quasi_identifiers_singles_out_no_person() -> None:
    source = people_of(2)
    release = pandas.concat([released(source)[NAMES]] * 2)
    for outcome in tried("singling_out", release, source[NAMES], sensitive=None):
        assert (outcome.figures["descriptions"], outcome.affected, outcome.excess) == (0, 0, 0)
        assert outcome.sentence.startswith("0 of 80 rows")


@pytest.mark.parametrize("seed", range(2))
def test_rows_of_other_people_single_out_no_more_than_chance(seed: int) -> None:
    """Rows drawn anew, of the same kind: what is alone among them is alone here in 37 of 100 cases at most."""
    draw = random.Random(seed)
    source, others = (pandas.DataFrame({"age": [draw.randint(0, 400) for _ in range(400)]}) for _ in range(2))
    outcomes = attack(others.astype(str), source=source, quasi_identifiers=["age"], only="singling_out").outcomes
    (outcome,) = outcomes
    assert outcome.figures["descriptions"] > 50
    assert outcome.excess == 0


def test_a_star_in_a_kept_column_is_an_ordinary_value() -> None:
    source = pandas.DataFrame({"age": [21] * 3, "zip": ["11"] * 3, "ill": ["*", "x", "1*"]})
    by_one, _ = tried("singling_out", released(source), source)
    assert (by_one.figures["unique_rows"], by_one.affected) == (3, 3)


def test_an_empty_source_has_nothing_to_count() -> None:
    source = people_of(1)[:0]
    release = released(people_of(1))
    for name in ("inference", "linkability"):
        assert tried(name, release, source) == []
    assert [item.affected for item in tried("singling_out", release, source)] == [0, 0]
