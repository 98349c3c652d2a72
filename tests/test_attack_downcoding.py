"""Downcoding: tight labels, values that other classes show exactly, by hand; and releases that withstand it."""

import random
from typing import Any

import pandas
import pytest

from kanon_sql import anonymize, attack
from kanon_sql.attack import Outcome


def found(release: Any, source: pandas.DataFrame, names: list[str], **more: Any) -> dict[str, Outcome]:
    """The outcomes by column; that of exclusion by its name."""
    tried = attack(release, source=source, quasi_identifiers=names, only=["downcoding"], **more)
    return {outcome.column or outcome.name: outcome for outcome in tried.outcomes}


def people(seed: int, rows: int = 400) -> pandas.DataFrame:
    draw = random.Random(seed)
    persons = [(draw.randrange(18, 80), draw.choice("mf"), draw.choice("abcd")) for _ in range(rows)]
    return pandas.DataFrame(persons, columns=["age", "sex", "ill"])


SEX = {"sex": {"hierarchy": "suppress"}}


@pytest.mark.slow
def test_the_ends_of_exact_ranges_always_occur() -> None:
    source = people(0)
    exact = anonymize(source, {"quasi_identifiers": {"age": {}, **SEX}}, k=5, strategy="mondrian", show="exact-ranges")
    rounded = anonymize(source, {"quasi_identifiers": {"age": {}, **SEX}}, k=5, strategy="mondrian")
    outcome = found(exact.to_df(), source, ["age", "sex"])["age"]
    ranges = exact.to_df().groupby(["age", "sex"]).size().filter(like="[", axis=0)
    assert outcome.successes == outcome.affected == outcome.figures["claims"] == 2 * len(ranges)
    assert outcome.attempts == ranges.sum()
    assert outcome.figures["always"] == 1
    assert outcome.baseline is not None
    assert outcome.share > outcome.baseline
    outcome = found(rounded.to_df(), source, ["age", "sex"])["age"]
    assert (outcome.excess, outcome.affected < 2 * len(ranges)) == (0, True)


def test_ranges_of_two_values_are_claimed_and_the_advice_is_not_to_show_ranges() -> None:
    source = pandas.DataFrame({"age": [20, 21] * 4 + [40, 41] * 4, "ill": list("abcd") * 4})
    released = anonymize(source, {"quasi_identifiers": {"age": {}}}, k=5, strategy="mondrian").to_df()
    outcome = found(released, source, ["age"])["age"]
    assert (outcome.figures["claims"], outcome.successes, outcome.figures["always"]) == (4, 4, 1)
    assert "show `ranges`" not in str(outcome.avoid)
    assert "hierarchy" in str(outcome.avoid)


@pytest.mark.parametrize("seed", range(2))
def test_rounded_ranges_and_levels_of_the_lattice_withstand_the_attack(seed: int) -> None:
    source = people(seed)
    local = anonymize(source, {"quasi_identifiers": {"age": {}}}, k=5, strategy="mondrian").to_df()
    levels = {"quasi_identifiers": {"age": {"hierarchy": {"ranges": [5, 10, 20]}}, **SEX}}
    full = anonymize(source, levels, k=5).to_df()
    assert found(local, source, ["age"], seed=seed)["age"].excess == 0
    outcomes = found(full, source, ["age", "sex"], seed=seed)
    assert all(outcome.excess == 0 for outcome in outcomes.values())


def test_both_values_of_a_pair_are_claimed() -> None:
    source = pandas.DataFrame({"zip": list("aaabbb"), "sex": list("mmfmmm")})
    released = source.assign(sex=["*"] * 6)
    outcome = found(released, source, ["zip", "sex"])["sex"]
    assert (outcome.attempts, outcome.figures["claims"], outcome.successes) == (6, 4, 3)
    assert outcome.figures["always"] == 0
    # Five of six are m: in a class of three somebody is with 1 - (1/6)^3, and somebody is f with 1 - (5/6)^3.
    assert outcome.baseline == pytest.approx((2 * (1 - (1 / 6) ** 3) + 2 * (1 - (5 / 6) ** 3)) / 6)


def test_values_that_other_classes_show_exactly_are_excluded_from_a_label() -> None:
    source = pandas.DataFrame({"age": [1, 1, 2, 2, 3, 4, 1, 2], "sex": list("mmmmmmff")})
    released = source.assign(age=["1", "1", "2", "2", "*", "*", "*", "*"])
    outcome = found(released, source, ["age", "sex"])["exclusion"]
    # Of `*` of men 1 and 2 are others', 3 and 4 are left; of `*` of women nothing is shown.
    assert (outcome.attempts, outcome.successes, outcome.affected, outcome.figures["certain"]) == (4, 2, 2, 0)
    source.loc[5, "age"] = 2  # no more of the class of 2: whoever divides equal rows excludes nothing
    outcome = found(released, source, ["age", "sex"])["exclusion"]
    assert (outcome.successes, outcome.figures["certain"]) == (2, 0)
    source.loc[5, "age"] = 3
    assert found(released, source, ["age", "sex"])["exclusion"].figures["certain"] == 2


def test_a_sample_of_the_classes_represents_all() -> None:
    source = people(1)
    exact = anonymize(source, {"quasi_identifiers": {"age": {}}}, k=5, strategy="mondrian", show="exact-ranges")
    outcome = found(exact.to_df(), source, ["age"], attempts=10)["age"]
    assert outcome.sampled
    assert outcome.successes == outcome.figures["claims"] <= 20 < outcome.affected
