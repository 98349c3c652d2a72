"""Background knowledge of any m of n attributes, against brute force and planted cases."""

import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pandas
import pytest

from kanon_sql import attack
from kanon_sql.attack import Outcome, attributes, matching


def known(release: pandas.DataFrame, names: Sequence[str], **more: Any) -> list[Outcome]:
    options = {"quasi_identifiers": list(names), "sensitive": ["ill"], "only": ["known_attributes"], **more}
    return list(attack(release, **options).outcomes)


def rows_of(draw: random.Random, columns: int, rows: int) -> pandas.DataFrame:
    names = [f"q{i}" for i in range(columns)]
    drawn = [(*(draw.choice(["a", "b", None]) for _ in names), draw.choice("xy")) for _ in range(rows)]
    return pandas.DataFrame(drawn, columns=[*names, "ill"])


@pytest.mark.parametrize("fetched", [0, attributes._MOST_FETCHED])
@pytest.mark.parametrize("seed", range(2))
def test_every_set_is_tried_and_counted_as_by_hand(seed: int, fetched: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attributes, "_MOST_FETCHED", fetched)
    release = rows_of(random.Random(seed), 3, 25)
    names = ["q0", "q1", "q2"]
    few, alike = known(release, names, k=4)
    for size in (1, 2, 3):
        below, one = [], []
        for known_ones in combinations(names, size):
            groups = [rows for _, rows in release.groupby(list(known_ones), dropna=False)]
            below.append(sum(len(rows) for rows in groups if len(rows) < 4))
            one.append(sum(len(rows) for rows in groups if rows["ill"].nunique() == 1))
        assert (few.figures[f"worst_of_{size}"], few.figures[f"mean_of_{size}"]) == (
            max(below),
            sum(below) / len(below),
        )
        assert (alike.figures[f"worst_of_{size}"], alike.figures[f"mean_of_{size}"]) == (max(one), sum(one) / len(one))
    assert (few.affected, alike.affected) == (few.figures["worst_of_3"], alike.figures["worst_of_3"])


def test_the_sufficient_attributes_are_named() -> None:
    release = pandas.DataFrame({"a": list("xxxxyy"), "b": list("uuvvuu"), "ill": list("121222")})
    few, alike = known(release, ["a", "b"], k=2)
    assert (few.affected, few.share) == (0, 0)
    assert "enough" not in few.sentence
    assert alike.affected == 2  # who has y
    assert "for some 1 are enough, such as a" in alike.sentence
    few, _ = known(release, ["a", "b"], k=3)
    assert few.affected == 6
    assert "such as a" in few.sentence


def test_a_k_anonymous_release_has_no_class_below_k() -> None:
    draw = random.Random(3)
    release = pandas.concat([rows_of(draw, 4, 20)] * 5)
    few, _ = known(release, ["q0", "q1", "q2", "q3"], k=5)
    assert [value for value in few.figures.values() if value] == []
    assert few.excess == 0


@pytest.mark.parametrize("seed", range(2))
def test_randomly_dealt_values_are_not_a_finding(seed: int) -> None:
    draw = random.Random(seed)
    release = pandas.DataFrame([(str(i // 3 % 50), str(i % 3), draw.choice("xyz")) for i in range(600)])
    _, alike = known(release.set_axis(["a", "b", "ill"], axis=1), ["a", "b"])
    assert alike.excess == 0


def test_sets_of_many_attributes_are_sampled_by_seed() -> None:
    names = tuple(f"q{i}" for i in range(12))
    first, again, other = (list(attributes._sets(names, random.Random(seed))) for seed in (4, 4, 5))
    assert first == again != other
    assert len(set(first)) == len(first) <= 300
    assert {len(item) for item in first} == set(range(1, 13))
    assert names in first
    assert set(first[:12]) == {(name,) for name in names}


def test_a_release_without_a_sensitive_column_is_attacked_too() -> None:
    release = rows_of(random.Random(1), 2, 9)[["q0", "q1"]]
    (few,) = attack(release, quasi_identifiers=["q0", "q1"], only="known_attributes").outcomes
    assert few.attempts == 9


@pytest.mark.parametrize("sample", [10, matching.SAMPLE], ids=["sampled", "all"])
@pytest.mark.parametrize("seed", range(4))
def test_the_people_who_fit_a_class_are_those_of_plain_python(
    seed: int, sample: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (matching, attributes):
        monkeypatch.setattr(module, "SAMPLE", sample)
    draw = random.Random(seed)
    rows = [(draw.randrange(12), draw.randrange(4), draw.choice(["a", "b", None])) for _ in range(60)]
    source = pandas.DataFrame(rows, columns=["patient", "zip", "sex"]).astype({"zip": str})
    release = source[["zip", "sex"]].assign(zip=["0-1" if zip_code < 2 else "2-3" for _, zip_code, _ in rows])
    spec = {
        "quasi_identifiers": {"zip": {"hierarchy": {"groups": {"0-1": ["0", "1"], "2-3": ["2", "3"]}}}, "sex": None},
        "unit": "patient",
        "privacy": {"k": 9},
    }
    (found,) = attack(release, source=source, spec=spec, only="few_people", attempts=1).outcomes[1:2]
    people: dict[tuple[str, str | None], set[int]] = {}
    for patient, zip_code, sex in rows:
        people.setdefault(("0-1" if zip_code < 2 else "2-3", sex), set()).add(patient)
    sizes = Counter(zip(release["zip"], [sex for *_, sex in rows], strict=True))
    few = sum(sizes[class_] for class_, members in people.items() if len(members) < 9)
    assert found.name == "few_people"
    if sample < 60:  # whole classes were drawn, and these figures are theirs
        classes = [(sizes[class_], len(members)) for class_, members in people.items()]
        assert found.sampled
        assert (found.attempts, found.successes, found.figures["fewest_people"]) in {
            (sum(n for n, _ in some), sum(n for n, members in some if members < 9), min(members for _, members in some))
            for some in subsets(classes)
        }
    else:
        assert (found.attempts, found.successes, found.affected) == (60, few, few)
        assert found.figures == {"fewest_people": min(map(len, people.values()))}


def subsets(classes: Sequence[tuple[int, int]]) -> list[tuple[tuple[int, int], ...]]:
    return [some for size in range(1, len(classes) + 1) for some in combinations(classes, size)]


def test_equal_rows_of_a_person_do_not_look_like_people() -> None:
    """Six equal rows of each person: no class has fewer than 5 rows, and every class has one person."""
    source = pandas.DataFrame([(person, person) for person in range(30) for _ in range(6)], columns=["patient", "zip"])
    spec = {"quasi_identifiers": {"zip": None}, "unit": "patient", "privacy": {"k": 5}}
    rows, people = attack(source[["zip"]], source=source, spec=spec, only="known_attributes").outcomes
    assert (rows.name, rows.affected) == ("known_attributes", 0)
    assert (people.name, people.affected, people.figures) == ("few_people", 180, {"fewest_people": 1})
    (only_rows,) = attack(source[["zip"]], source=source, quasi_identifiers=["zip"], only="known_attributes").outcomes
    assert only_rows.name == "known_attributes"
