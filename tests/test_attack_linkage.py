"""Linkage with a table of people: against brute force, planted cases, and data where no person can be found."""

import random
from decimal import Decimal
from typing import Any

import pandas
import pytest

from kanon_sql import anonymize, attack
from kanon_sql.attack import Outcome

NAMES = ["age", "zip"]


def linkage(release: pandas.DataFrame, people: pandas.DataFrame, **more: Any) -> tuple[Outcome, Outcome]:
    options = {"quasi_identifiers": NAMES, "only": ["linkage"], **more}
    one, other = attack(release, auxiliary=people, **options).outcomes
    assert (one.name, other.name) == ("linkage", "linkage_of_records")
    return one, other


def fits(label: str, value: Any) -> bool:
    """A decade, a prefix, or `*`."""
    if label == "*":
        return True
    if label.startswith("["):
        low, high = label[1:-1].split(", ")
        return int(low) <= int(value) < int(high)
    return len(label) == len(value) and all(a in ("*", b) for a, b in zip(label, value, strict=True))


def recoded(draw: random.Random, age: int, code: str) -> tuple[str, str]:
    """Labels of any level, as a local recoding gives them."""
    low = age // 10 * 10
    return draw.choice([f"[{low}, {low + 10})", "*", f"[{low}, {low + 30})"]), draw.choice([f"{code[0]}*", code, "**"])


def people_of(draw: random.Random, rows: int) -> pandas.DataFrame:
    drawn = [(i, draw.randint(20, 49), draw.choice(["11", "12", "21"])) for i in range(rows)]
    return pandas.DataFrame(drawn, columns=["person", *NAMES])


@pytest.mark.parametrize("seed", range(2))
def test_the_expected_right_links_are_those_of_brute_force(seed: int) -> None:
    draw = random.Random(seed)
    source = people_of(draw, 30)
    kept = [row for row in source.itertuples(index=False) if draw.random() < 0.8]
    release = pandas.DataFrame([recoded(draw, row.age, row.zip) for row in kept], columns=NAMES)
    auxiliary = pandas.concat([source.sample(12, random_state=seed), people_of(draw, 5).assign(person=range(100, 105))])
    classes = release.value_counts().to_dict()
    fit = {
        index: [labels for labels in classes if fits(labels[0], row.age) and fits(labels[1], row.zip)]
        for index, row in enumerate(auxiliary.itertuples(index=False))
    }
    records = {index: sum(classes[labels] for labels in fit[index]) for index in fit}
    one, other = linkage(release, auxiliary)
    assert one.figures["right"] == pytest.approx(sum(1 / n for n in records.values() if n))
    assert one.figures["one_record"] == sum(n == 1 for n in records.values())
    assert one.figures["one_class"] == sum(len(labels) == 1 for labels in fit.values())
    people = {labels: sum(labels in fit[index] for index in fit) for labels in classes}
    right = sum(min(n, people[labels]) / people[labels] for labels, n in classes.items() if people[labels])
    assert other.figures["right"] == pytest.approx(right)
    assert other.figures["one_person"] == sum(n for labels, n in classes.items() if people[labels] == 1)
    known, reported = linkage(release, auxiliary, source=source, unit="person")
    inside = {index for index, person in enumerate(auxiliary["person"]) if person < 100}
    assert known.figures["right"] == pytest.approx(sum(1 / n for index, n in records.items() if n and index in inside))
    of_them = {labels: sum(labels in fit[index] for index in inside) for labels in classes}
    right = sum(min(n, of_them[labels]) / people[labels] for labels, n in classes.items() if people[labels])
    assert reported.figures["right"] == pytest.approx(right)


def test_unique_people_are_found_and_others_only_by_chance() -> None:
    release = pandas.DataFrame({"age": ["[20, 30)"] * 8 + ["[30, 40)", "[40, 50)"], "zip": ["1*"] * 10})
    people = pandas.DataFrame({"age": [21] * 8 + [33, 44], "zip": ["11"] * 10, "name": list("abcdefghij")})
    one, other = linkage(release, people, source=people, unit="name")
    assert (one.figures["one_record"], one.figures["right"]) == (2, pytest.approx(3))  # and 8 · 1/8
    assert (one.affected, one.attempts, one.baseline) == (3, 10, 0.1)
    assert (other.figures["one_person"], other.affected) == (2, 3)
    assert "2 of them exactly one" in one.sentence
    assert "by the name of people and source" in one.sentence


def test_people_outside_the_source_are_never_a_right_link() -> None:
    release = pandas.DataFrame({"age": ["[20, 30)"], "zip": ["1*"]})
    source = pandas.DataFrame({"age": [21], "zip": ["11"], "name": ["a"]})
    other = source.assign(name=["b"])
    assert linkage(release, other, source=source, unit="name")[0].affected == 0
    assert linkage(release, source, source=source, unit="name")[0].affected == 1
    assert linkage(release, other, source=source)[0].affected == 1  # by what is known of them, they are the same
    assert linkage(release, other.assign(age=22), source=source)[0].affected == 0


def test_several_records_of_one_person_are_accepted() -> None:
    release = pandas.DataFrame({"age": ["[20, 30)"] * 4, "zip": ["1*"] * 4})
    source = pandas.DataFrame({"age": [21, 22, 23, 24], "zip": ["11"] * 4, "name": list("aaab")})
    one, _ = linkage(release, source.iloc[[0, 3]], source=source, unit="name")
    assert one.figures["right"] == pytest.approx(3 / 4 + 1 / 4)


def test_a_table_of_people_can_have_fewer_columns() -> None:
    release = pandas.DataFrame({"age": ["[20, 30)", "[30, 40)"], "zip": ["1*", "1*"]})
    people = pandas.DataFrame({"zip": ["11", "12", "91"]})
    one, other = linkage(release, people)
    assert (one.figures["fitting"], one.figures["right"]) == (2, pytest.approx(1))
    assert (other.figures["fitting"], other.figures["right"]) == (2, pytest.approx(2 * 1 / 2))


@pytest.mark.parametrize("seed", range(2))
def test_no_person_is_found_in_a_release_without_information(seed: int) -> None:
    people = people_of(random.Random(seed), 400)
    release = pandas.DataFrame({"age": ["*"] * 400, "zip": ["**"] * 400})
    one, other = linkage(release, people, source=people, unit="person", attempts=200, seed=seed)
    assert (one.excess, other.excess) == (0, 0)
    assert one.sampled


def test_every_person_of_a_k_anonymous_release_is_found_with_at_most_one_in_k() -> None:
    people = people_of(random.Random(7), 300)
    recipes = {"age": {"hierarchy": {"ranges": [5, 10]}}, "zip": {"hierarchy": {"redact": "right"}}}
    spec = {"quasi_identifiers": recipes, "identifiers": ["person"], "privacy": {"k": 6}, "strategy": "mondrian"}
    release = anonymize(people, spec).to_df()
    one, other = linkage(release, people, spec=spec, source=people, unit="person")
    assert 0 < one.share <= 1 / 6
    assert 0 < other.share <= 1 / 6
    assert one.figures["one_record"] == other.figures["one_person"] == 0


@pytest.mark.parametrize("people", [pandas.DataFrame({"age": []}), pandas.DataFrame({"age": [None], "zip": [None]})])
def test_people_without_attributes(people: pandas.DataFrame) -> None:
    release = pandas.DataFrame({"age": ["[20, 30)"], "zip": ["1*"]})
    outcomes = attack(release, auxiliary=people, quasi_identifiers=NAMES, only="linkage").outcomes
    assert [outcome.affected for outcome in outcomes] == [0] * (2 if len(people) else 0)


@pytest.mark.parametrize("show", ["exact-ranges", "bounds", "mean"])
def test_every_row_fits_the_labels_of_its_class(show: str) -> None:
    people = people_of(random.Random(7), 120)
    people.loc[:5, "age"] = None
    spec = {
        "quasi_identifiers": {"age": None, "zip": {"hierarchy": {"redact": "right"}}},
        "identifiers": ["person"],
        "privacy": {"k": 6},
        "strategy": "mondrian",
        "show": show,
    }
    release = anonymize(people, spec).to_df()
    tried = attack(release, spec=spec, source=people, auxiliary=people, unit="person", only="linkage")
    assert tried.outcomes[0].figures["fitting"] == 120
    assert bool(tried.notes) == (show == "mean")
    assert all("looks for the nearest class" in note for note in tried.notes)


def test_values_of_any_type_are_matched() -> None:
    source = pandas.DataFrame(
        {
            "tags": [["a"], ["b"], None],
            "paid": [Decimal("1.50"), Decimal("2.25"), None],
            "seen": pandas.to_datetime(["2020-01-01 10:00", "2020-01-02 11:30", None]),
            "smokes": [True, False, None],
        }
    )
    names = list(source)
    tried = attack(source, auxiliary=source, quasi_identifiers=names, only="linkage")
    assert [outcome.figures["right"] for outcome in tried.outcomes] == [3, 3]
    written = pandas.DataFrame({"paid": [1.5, 2.25, None], "smokes": ["true", "false", None]})
    tried = attack(written, auxiliary=source, quasi_identifiers=["paid", "smokes"], only="linkage")
    assert (tried.outcomes[0].figures["right"], tried.notes) == (3, ())
