"""Attacks on cloaked places: the people with a place in a box, and the people observed there."""

from typing import Any

import numpy
import pandas
import pytest

from kanon_sql import Attacks, attack, cloak
from kanon_sql.attack import Outcome
from kanon_sql.errors import SpecError

ASKED: dict[str, Any] = {"location": ["lat", "lon"], "time": "ts", "unit": "taxi", "only": ["places"]}


def places(release: pandas.DataFrame, people: pandas.DataFrame, **more: Any) -> Attacks:
    return attack(release, auxiliary=people, **{**ASKED, **more})


def named(tried: Attacks, name: str) -> Outcome:
    (outcome,) = (outcome for outcome in tried.outcomes if outcome.name.startswith(name))
    return outcome


def boxes(*rows: tuple[float, float, float, float, int, int]) -> pandas.DataFrame:
    columns = ["lat_min", "lat_max", "lon_min", "lon_max", "ts_from", "ts_to"]
    return pandas.DataFrame(rows, columns=columns).assign(fare=range(len(rows)))


HOMES = pandas.DataFrame({"taxi": ["a", "b", "c"], "lat": [1.0, 5.0, 5.5], "lon": [1.0, 5.0, 5.5]})
# Three rows in a box with the home of a, one in a box of its own there, four in a box with two homes, one elsewhere.
RELEASE = boxes(*[(0, 2, 0, 2, 0, 9)] * 3, (1, 1, 1, 1, 5, 5), *[(4, 6, 4, 6, 0, 9)] * 4, (8, 9, 8, 9, 0, 9))


def test_rows_of_a_box_with_one_owner_are_taken_for_the_owners() -> None:
    found = named(places(RELEASE, HOMES, k=5), "restricted")
    # One of the three is a's if one row of each box is the owner's, and so is the one alone.
    assert (found.attempts, found.successes, found.affected, found.figures["boxes"]) == (4, 2, 0, 2)
    assert found.baseline == pytest.approx(1 / 5)


def test_the_source_determines_which_guesses_are_right() -> None:
    sent = [("a", 1, 1, 5), ("a", 1, 1, 6), ("a", 0, 1, 7), ("b", 2, 2, 8), ("b", 5, 5, 1), ("c", 1, 1, 10)]
    source = pandas.DataFrame(sent, columns=["taxi", "lat", "lon", "ts"])
    found = named(places(RELEASE, HOMES, source=source, k=5), "restricted")
    # Of four who sent from the first box three were a, so of its three rows 9/4; and a alone from the second.
    assert (found.attempts, found.successes) == (4, round(3 * 3 / 4 + 1))


def test_an_observed_person_is_found_if_only_one_row_fits() -> None:
    seen = HOMES.assign(ts=[5, 5, 50])
    found = named(places(RELEASE, seen, k=2), "observation")
    # a may be any of four rows, b any of four, and c was seen when nobody sent.
    assert (found.attempts, found.figures["alone"], found.figures["below_k"], found.excess) == (2, 0, 0, 0)
    alone = named(places(RELEASE[3:4], seen, k=2), "observation")
    assert (alone.attempts, alone.successes, alone.figures["alone"]) == (1, 1, 1)


def test_people_are_not_counted_by_boxes_that_the_source_does_not_have() -> None:
    source = HOMES.assign(ts=[5, 5, 50])
    known = attack(RELEASE, source=source, **{**ASKED, "only": ["known_attributes"]}, k=5).outcomes
    assert {outcome.name for outcome in known} == {"known_attributes"}
    assert (known[0].column, known[0].affected) == (None, 9)  # boxes with three rows, four, one and one


def trips(seed: int, rows: int = 2000, units: int = 200) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Trips around the homes of so many taxis, and the homes."""
    draw = numpy.random.default_rng(seed)
    home, unit = draw.uniform(0, 10, (units, 2)), draw.integers(0, units, rows)
    where = numpy.round(home[unit] + draw.normal(0, 0.3, (rows, 2)), 4)
    named = {"lat": where[:, 0], "lon": where[:, 1], "ts": draw.integers(0, 86_400, rows)}
    homes = pandas.DataFrame({"lat": home[:, 0], "lon": home[:, 1], "taxi": range(units)})
    return pandas.DataFrame({**named, "taxi": unit}), homes


def test_places_that_were_not_cloaked_are_vulnerable() -> None:
    source, _ = trips(0)
    exact = {f"{name}_{end}": source[name] for name in ("lat", "lon") for end in ("min", "max")}
    release = pandas.DataFrame({**exact, "ts_from": source["ts"], "ts_to": source["ts"]})
    tried = places(release, source, source=source, attempts=100)
    found = named(tried, "observation")
    assert (found.attempts, found.successes, found.excess, found.sampled) == (100, 100, 1, True)
    assert named(tried, "restricted").excess == 1


@pytest.mark.parametrize(
    "method", [{"method": "adaptive", "interval": 7200}, {"method": "clique", "dx": 2, "dt": 20_000}]
)
def test_cloaked_places_withstand_the_attack(method: dict[str, Any]) -> None:
    source, homes = trips(1)
    options = {"location": ["lat", "lon"], "time": "ts", "unit": "taxi", "cloak": method}
    release = cloak(source, options, k=5).to_df()
    for people, known in ((homes, source), (source, None), (source, source)):
        assert places(release, people, source=known, k=5).worst == 0


# Refusals and messages


def test_without_times_there_are_no_observations() -> None:
    tried = places(RELEASE, HOMES)
    assert [outcome.name for outcome in tried.outcomes] == ["restricted_space"]
    (note,) = tried.notes
    assert note.startswith("the auxiliary table has no column 'ts'")


def test_other_attacks_need_quasi_identifiers() -> None:
    tried = attack(RELEASE, source=HOMES, previous=RELEASE, **{**ASKED, "only": ["order", "versions", "places"]})
    reasons = dict(tried.skipped)
    assert reasons["order"] == reasons["versions"] == "quasi-identifiers, not cloaked places"
    assert reasons["places"].startswith("a table of people that an attacker could have")


@pytest.mark.parametrize(
    ("release", "people", "message"),
    [
        (RELEASE.drop(columns="ts_to"), HOMES, "the release has no column 'ts_to'"),
        (RELEASE, HOMES[["taxi", "lat"]], "the auxiliary table has no column 'lon'"),
    ],
)
def test_missing_columns_are_named(release: pandas.DataFrame, people: pandas.DataFrame, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        places(release, people)
