"""Minimality: the paper's example, every way to deal the values by brute force, and releases that reveal nothing."""

import random
from itertools import permutations, product
from tempfile import TemporaryDirectory
from typing import Any

import pandas
import pytest

from kanon_sql import Attacks, anonymize, attack
from kanon_sql.attack import Outcome

HIV = {"alpha_k": {"ill": {"alpha": 0.5, "value": "HIV"}}, "k": 2}
# R. Wong, A. Fu, K. Wang, J. Pei, VLDB 2007: two people of one kind, five of another, and two of the seven have HIV.
SEVEN = pandas.DataFrame({"zip": ["1"] * 2 + ["2"] * 5, "ill": ["HIV"] * 2 + ["flu", "gout", "cold", "acne", "flu"]})
TREE = [["1", "12", "*"], ["2", "12", "*"], ["3", "34", "*"], ["4", "34", "*"]]


def spec(privacy: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"quasi_identifiers": {"zip": {"hierarchy": "suppress"}}, "sensitive": ["ill"], "privacy": privacy, **more}


def tried(release: Any, source: pandas.DataFrame, options: dict[str, Any], **more: Any) -> Attacks:
    return attack(release, source=source, spec=options, only=["minimality"], **more)


def found(release: Any, source: pandas.DataFrame, options: dict[str, Any], **more: Any) -> Outcome:
    (outcome,) = tried(release, source, options, **more).outcomes
    return outcome


def test_the_two_people_of_the_paper_are_found() -> None:
    released = anonymize(SEVEN, spec(HIV)).to_df()
    assert set(released["zip"]) == {"*"}
    outcome = found(released, SEVEN, spec(HIV))
    assert (outcome.affected, outcome.figures["certain"], outcome.figures["unsafe_lower_nodes"]) == (2, 2, 1)
    assert outcome.figures["worst_gain"] == pytest.approx(1 - 2 / 7)
    assert outcome.excess > 0


def test_the_node_of_a_k_anonymous_release_reveals_no_sensitive_value() -> None:
    released = SEVEN.assign(zip="*")
    for privacy in ({"k": 5}, {**HIV, "k": 3}):  # without a model, and where the tuples alone are too few
        outcome = found(released, SEVEN, spec(privacy))
        assert (outcome.affected, outcome.excess) == (0, 0)


def test_a_release_more_general_than_necessary_reveals_nothing() -> None:
    source = SEVEN.assign(ill=["HIV", *SEVEN["ill"][2:], "HIV"])
    outcome = found(source.assign(zip="*"), source, spec(HIV))
    assert (outcome.affected, outcome.figures["unsafe_lower_nodes"]) == (0, 0)


def posteriors(source: pandas.DataFrame) -> dict[tuple[str, str], float]:
    """The gain of each value in each part: of all ways to deal, those where some part has fewer than two values."""
    classes = [part for _, part in source.groupby(source["zip"].map(dict(zip("1234", "aabb", strict=True))))]
    worlds = product(*(set(permutations(part["ill"])) for part in classes))
    zips = [place for part in classes for place in part["zip"]]
    kept, counts = 0, dict[tuple[str, str], int]()
    for world in worlds:
        values = [value for part in world for value in part]
        pairs = list(zip(zips, values, strict=True))
        if min(len({value for place, value in pairs if place == item}) for item in set(zips)) < 2:
            kept += 1
            for pair in pairs:
                counts[pair] = counts.get(pair, 0) + 1
    priors = {place: part["ill"].value_counts(normalize=True) for part in classes for place in set(part["zip"])}
    sizes = source["zip"].value_counts()
    return {pair: n / kept / sizes[pair[0]] - priors[pair[0]][pair[1]] for pair, n in counts.items()}


@pytest.mark.parametrize("seed", range(3))
def test_posteriors_are_those_of_all_ways_to_deal_the_values(seed: int) -> None:
    draw = random.Random(seed)
    while True:
        rows = [(place, draw.choice("xxyz")) for place in "1112233444"]
        source = pandas.DataFrame(rows, columns=["zip", "ill"])
        parts = source.groupby("zip")["ill"].nunique()
        wholes = source.groupby(source["zip"].isin(["1", "2"]))["ill"].nunique()
        if parts.min() < 2 <= wholes.min():
            break
    hierarchy = pandas.DataFrame(TREE)
    settings = spec({"k": 2, "l_diversity": {"ill": 2}})
    released = source.assign(zip=source["zip"].map(dict(zip(hierarchy[0], hierarchy[1], strict=True))))
    outcome = _with_tree(released, source, settings)
    gains = posteriors(source)
    worst = max(gain for pair, gain in gains.items() if pair in set(rows))
    assert outcome.figures["worst_gain"] == pytest.approx(max(worst, 0), abs=0.07)


def _with_tree(released: pandas.DataFrame, source: pandas.DataFrame, options: dict[str, Any]) -> Outcome:
    with TemporaryDirectory() as folder:
        path = f"{folder}/zip.csv"
        pandas.DataFrame(TREE).to_csv(path, sep=";", header=False, index=False)
        options["quasi_identifiers"] = {"zip": {"hierarchy": {"file": path, "separator": ";"}}}
        return found(released, source, options)


@pytest.mark.parametrize("seed", range(2))
def test_random_values_reveal_nothing(seed: int) -> None:
    """With many parts some are unsafe by chance, so that it tells nothing that some are."""
    draw = random.Random(seed)
    source = pandas.DataFrame([(str(i % 200), draw.choice("xyz")) for i in range(800)], columns=["zip", "ill"])
    outcome = found(source.assign(zip="*"), source, spec({"k": 2, "l_diversity": {"ill": 2}}))
    assert (outcome.figures["unsafe_lower_nodes"], outcome.affected, outcome.excess) == (1, 0, 0)


def test_skipped_attacks_are_reported() -> None:
    settings = spec({**HIV, "k": 2})
    suppressed = tried(SEVEN.assign(zip="*").head(6), SEVEN, settings)
    local = tried(SEVEN.assign(zip=["{1, 2}"] * 7), SEVEN, settings)
    people = tried(SEVEN.assign(zip="*"), SEVEN.assign(id=range(7)), settings, unit="id")
    for attacks, reason in ((suppressed, "suppressed"), (local, "one level"), (people, "by its rows")):
        assert not attacks.outcomes
        assert reason in attacks.notes[-1]
