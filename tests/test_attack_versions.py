"""Attacks on two releases of one table: what their classes reveal together, arrivals and departures."""

import random
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pandas
import pytest

from kanon_sql import Attacks, attack
from kanon_sql.attack import Outcome
from kanon_sql.attack.matching import examples, overlapping
from support.command_line import done

QUASI_IDENTIFIERS = {
    "age": {"hierarchy": {"ranges": [10, 20, 40]}},
    "zip": {"hierarchy": {"redact": "right"}},
}


def versions(release: Any, *others: Any, **more: Any) -> Attacks:
    options = {"quasi_identifiers": QUASI_IDENTIFIERS, "sensitive": ["ill"], "only": ["versions"], **more}
    return attack(release, *others, **options)


def named(tried: Attacks, name: str, column: str | None = None) -> Outcome:
    (outcome,) = (outcome for outcome in tried.outcomes if (outcome.name, outcome.column) == (name, column))
    return outcome


def people(tried: Attacks) -> dict[tuple[str, str | None], int]:
    return {(outcome.name, outcome.column): outcome.affected for outcome in tried.outcomes}


def shuffled(rows: pandas.DataFrame, seed: int = 0) -> pandas.DataFrame:
    return rows.sample(frac=1, random_state=seed)


# Eight people; one release tells the decade and hides the ZIP code, the other the reverse: each is 4-anonymous.
WARD = pandas.DataFrame(
    {
        "age": [31, 32, 33, 34, 41, 42, 43, 44],
        "zip": ["11", "11", "11", "12", "11", "12", "12", "12"],
        "ill": ["flu", "flu", "cold", "mumps", "gout", "asthma", "ulcer", "gout"],
    }
)
BY_AGE = shuffled(WARD.assign(age=["[30, 40)"] * 4 + ["[40, 50)"] * 4, zip="**"))
BY_ZIP = shuffled(WARD.assign(age="*"), 1)


@pytest.mark.parametrize("source", [WARD, None], ids=["source", "labels"])
def test_two_releases_single_out_people_that_neither_does_alone(source: pandas.DataFrame | None) -> None:
    tried = versions(BY_AGE, BY_ZIP, source=source, k=4)
    # 31, 32, 33 are left in 11, and 42, 43, 44 in 12; 34 and 41 stand alone.
    below = named(tried, "intersection")
    assert (below.affected, below.attempts, below.figures["alone"], below.excess) == (8, 8, 2, 1)
    # Of the thirties only mumps occurs in 12, and of the forties only gout in 11.
    outcome = named(tried, "composition", "ill")
    assert (outcome.affected, outcome.attempts) == (2, 8)
    assert tried.notes == ()


def test_people_unique_in_one_release_do_not_count() -> None:
    alone = named(versions(WARD.astype({"age": str}), BY_ZIP, source=WARD), "intersection")
    assert (alone.affected, alone.attempts) == (0, 0)  # everybody stands alone in the first


def test_people_suppressed_in_one_release_are_found_in_the_other() -> None:
    tried = versions(BY_AGE[BY_AGE["age"] != "[40, 50)"], BY_ZIP, source=WARD, k=4)
    # The forties stand in no class of the first: four like any other four, of whom one lives in 11.
    below = named(tried, "intersection")
    assert (below.attempts, below.affected, below.figures["alone"]) == (8, 8, 2)
    assert named(tried, "composition", "ill").attempts == 4


def test_an_empty_text_is_a_label_like_any_other() -> None:
    source = WARD.assign(zip=["", "", "", "", "12", "12", "12", "12"])
    release = source.assign(age="*")
    assert named(versions(release, release, k=4), "intersection").affected == 0


def grown(rows: int, seed: int) -> pandas.DataFrame:
    draw = random.Random(seed)
    drawn = [(draw.randrange(20, 60), str(draw.randrange(10, 40)), draw.choice("abcdefg")) for _ in range(rows)]
    return pandas.DataFrame(drawn, columns=["age", "zip", "ill"])


def recoded(people: pandas.DataFrame, width: int, digits: int) -> pandas.DataFrame:
    """One label for so many years, and so many digits of the ZIP code."""
    low = people["age"] // width * width
    ages = "[" + low.astype(str) + ", " + (low + width).astype(str) + ")"
    return shuffled(people.assign(age=ages, zip=people["zip"].str[:digits] + "*" * (2 - digits)))


def counted(people: pandas.DataFrame, releases: list[pandas.DataFrame], k: int) -> tuple[int, int, int]:
    """Below k, alone, and told: by brute force, a person at a time; a row has the same index in all."""
    classes = [
        {i: frozenset(members) for members in release.groupby(["age", "zip"]).groups.values() for i in members}
        for release in releases
    ]
    below = alone = revealed = 0
    for i in people.index:
        a, b = (class_[i] for class_ in classes)
        both = a & b
        hidden = min(len(a), len(b)) >= k
        below += hidden and len(both) < k
        alone += hidden and len(both) == 1
        values = [set(people.loc[list(item), "ill"]) for item in (a, b)]
        revealed += min(map(len, values)) > 1 and len(values[0] & values[1]) == 1
    return below, alone, revealed


@pytest.mark.parametrize("seed", range(2))
def test_the_disclosure_of_two_releases_matches_brute_force(seed: int) -> None:
    source = grown(60, seed)
    first, second = recoded(source, 10, 0), recoded(source, 20, 1)
    exact = versions(first, second, source=source, k=6)
    found = named(exact, "intersection")
    below, alone, revealed = counted(source, [first, second], found.figures["k"])
    assert below > 0
    assert (found.affected, found.figures["alone"]) == (below, alone)
    assert named(exact, "composition", "ill").affected == revealed
    bounded = named(versions(first, second, k=6), "intersection")
    assert bounded.affected <= below <= bounded.figures["at_most"]


@pytest.mark.parametrize("seed", range(2))
def test_releases_generalized_in_the_same_way_reveal_nothing_together(seed: int) -> None:
    source = grown(200, seed)
    for told_source in (source, None):
        tried = versions(recoded(source, 10, 1), recoded(source, 20, 0), source=told_source)  # no class is cut
        assert (tried.worst, set(people(tried).values())) == (0, {0})


# What came and went


def test_arrivals_are_exposed_with_their_values() -> None:
    came = pandas.DataFrame({"age": [35, 45, 46], "zip": "11", "ill": ["gout", "flu", "flu"]})
    later = pandas.concat([WARD, came])
    tried = versions(recoded(later, 10, 0), previous=recoded(WARD, 10, 0), k=4)
    moved = named(tried, "differencing")
    assert (moved.attempts, moved.affected) == (3, 3)
    assert moved.figures == {"appeared": 3, "vanished": 0, "alone": 1, "k": 4}
    assert named(tried, "differencing", "ill").affected == 3
    # Two who differ are exposed, but nobody's value is.
    later["ill"] = [*WARD["ill"], "gout", "flu", "cold"]
    assert named(versions(recoded(later, 10, 0), previous=recoded(WARD, 10, 0)), "differencing", "ill").affected == 1


def test_departures_are_exposed_and_changes_in_large_groups_are_not() -> None:
    left = named(versions(recoded(WARD[1:], 10, 0), previous=recoded(WARD, 10, 0)), "differencing")
    assert (left.affected, left.figures["vanished"], left.figures["appeared"]) == (1, 1, 0)
    crowd = WARD.assign(ill=list("abcdefgh"))
    later = pandas.concat([WARD, crowd])
    moved = named(versions(recoded(later, 10, 0), previous=recoded(WARD, 10, 0), k=4), "differencing")
    assert (moved.affected, moved.attempts) == (0, 8)  # four in each class
    assert named(versions(recoded(later, 10, 0), previous=recoded(WARD, 10, 0)), "differencing", "ill").affected == 0


def test_versions_that_are_generalized_in_other_ways_are_compared_in_groups_of_classes() -> None:
    came = pandas.DataFrame({"age": [35], "zip": "11", "ill": ["gout"]})
    later = pandas.concat([WARD, came])
    for width, digits in ((20, 0), (5, 2)):
        moved = named(versions(recoded(later, width, digits), previous=recoded(WARD, 10, 0)), "differencing")
        assert (moved.affected, moved.figures["alone"]) == (1, 1)
    # Nothing is certain of who stands in both, where rows came or went, without the source.
    doubtful = named(versions(later.assign(age="*"), previous=BY_AGE), "intersection")
    assert (doubtful.affected, doubtful.figures["alone"], doubtful.figures["at_most"]) == (0, 0, 8)  # of nine


# Refusals and messages


def test_another_release_is_needed() -> None:
    tried = versions(BY_AGE)
    assert tried.outcomes == ()
    assert dict(tried.skipped)["versions"].startswith("another release of the same table")


def test_labels_that_only_a_hierarchy_explains_are_reported() -> None:
    ours, theirs = WARD.assign(zip="Bonn"), WARD.assign(zip="NRW")
    (note,) = versions(ours, theirs, quasi_identifiers=["zip"]).notes
    assert note.startswith("2 labels of zip match none of the other release")


def test_the_command_compares_a_release_with_an_earlier_one(folder: Path) -> None:
    recoded(WARD, 10, 0).to_csv(folder / "old.csv", index=False)
    recoded(WARD[1:], 10, 0).to_csv(folder / "new.csv", index=False)
    arguments = ("--quasi-identifiers", "age,zip", "--sensitive", "ill", "--only", "versions")
    output = done("attack", "new.csv", "--previous", "old.csv", *arguments)
    assert "0 rows appeared and 1 vanished since the previous release" in " ".join(output.split())


def _calendar_labels(day: date) -> list[str]:
    """The labels of a day on every level of dates, the exact one first."""
    quarter = (day.month + 2) // 3
    return [f"{day}", f"{day:%Y-%m}", f"{day.year}-Q{quarter}", f"{day.year}", f"{day.year // 10 * 10}s", "*"]


@pytest.mark.parametrize("first", range(6))
@pytest.mark.parametrize("second", range(6))
def test_parts_of_the_calendar_overlap_where_they_have_a_day_in_common(first: int, second: int) -> None:
    """Months of two releases as well: `2024-01` is no range of numbers from 2024 to 1."""
    days = [date(2018, 1, 1) + timedelta(days=number) for number in range(0, 3000, 17)]
    pairs = {(_calendar_labels(day)[first], _calendar_labels(day)[second]) for day in days}
    labels, others = ([*dict.fromkeys(side)] for side in zip(*pairs, strict=True))
    kind, values = examples([*labels, *others])
    found, unread = overlapping(labels, others, kind, values, None)
    assert (set(found), unread) == (pairs, [])


def test_one_who_arrives_among_the_visits_of_a_month_is_exposed() -> None:
    """As in nights that keep the node: the labels of both releases are the same."""
    before = pandas.DataFrame({"day": ["2024-01"] * 6 + ["2024-02"] * 5, "ill": list("xyxyxyxyxyx")})
    after = pandas.DataFrame({"day": ["2024-01"] * 7 + ["2024-02"] * 5, "ill": list("xyxyxyzxyxyx")})
    tried = versions(after, quasi_identifiers=["day"], previous=before, k=5)
    assert named(tried, "differencing").affected == 1
