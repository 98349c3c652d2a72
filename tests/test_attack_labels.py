"""How attackers interpret released labels, which classes fit a person, and the interval of a share."""

import random
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql.attack.label_readings import covered, reading
from kanon_sql.attack.matching import classes_of, drawn, fitting, load_covers
from kanon_sql.attack.material import Copy, Material
from kanon_sql.attack.outcome import Outcome, interval
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.recipes import dates, ranges, redact, suppress, taxonomy
from kanon_sql.generalization.values import as_text
from support.examples import examples

INTEGERS = st.lists(st.integers(-120, 120), min_size=1, max_size=12, unique=True)
DECIMALS = st.lists(st.decimals(-9, 9, places=2), min_size=1, max_size=9, unique=True)
DAYS = st.lists(st.dates(date(1890, 1, 1), date(2105, 1, 1)), min_size=1, max_size=9, unique=True)
CODES = st.lists(st.text("ab*1", min_size=1, max_size=4), min_size=1, max_size=9, unique=True)
UNITS = ["day", "month", "quarter", "year", "decade", "century"]
TREE = [("NL", "EU"), ("BE", "EU"), ("EU", "World"), ("US", "World")]


def check(built: Hierarchy, kind: str, known: bool = True) -> None:
    """Each label covers exactly the values under it, as it reads and, if `known`, by the hierarchy."""
    values = list(built.values)
    for level in range(1, built.height + 1):
        labels = built.labels(level)
        under = {label: [place for place, other in enumerate(labels) if other == label] for label in labels}
        for hierarchy in (None, built) if known else (None,):
            found, unread = covered(under, values, kind, hierarchy)
            assert unread == []
            for label, places in under.items():
                assert set(places) <= set(found[label])
                if hierarchy is None and not is_exact(label, values):
                    continue
                # A label of one level may be one of another level, too: `**` hides the same either way.
                others = {place for above in range(built.height + 1) for place in by_label(built, above, label)}
                assert set(found[label]) == others or label == "*"


def is_exact(label: str, values: Sequence[Any]) -> bool:
    return label != "*" and not any("*" in as_text(value) for value in values)


def by_label(hierarchy: Hierarchy, level: int, label: str) -> list[int]:
    return [
        place for place, other in enumerate(hierarchy.labels(level)) if other is not None and as_text(other) == label
    ]


@examples(8)
@given(INTEGERS, st.sampled_from([([10], None), ([7, 21], 90), ([1, 5, 50], 30)]))
def test_a_range_covers_its_numbers(values: list[int], numbers: tuple[list[int], int | None]) -> None:
    widths, top = numbers
    check(ranges(values, widths, "age", top=top, bottom=-60), "integer")


@examples(6)
@given(DECIMALS)
def test_a_range_covers_its_decimals(values: list[Decimal]) -> None:
    check(ranges(values, ["0.5", "2.5"], "price", top="3.75"), "decimal")
    check(ranges([float(value) for value in values], ["0.5", "2.5"], "price", top="3.75"), "float")


@examples(6)
@given(DAYS)
def test_a_part_of_the_calendar_covers_its_days(values: list[date]) -> None:
    for units in (UNITS, ["month", "year"], ["decade"]):
        check(dates(values, units, "born"), "date")
        check(dates([datetime.combine(value, time(23, 59)) for value in values], units, "seen"), "timestamp")


@examples(8)
@given(CODES, st.sampled_from(["left", "right"]), st.integers(1, 2))
def test_hidden_characters_cover_every_possible_text(values: list[str], side: Any, step: int) -> None:
    check(redact(values, side, "zip", step), "text", known=not any("*" in value for value in values))


def test_hidden_digits_cover_numbers() -> None:
    check(redact([1024, 1031, 77], "right", "zip"), "integer")
    assert covered(["10**", "**"], [1024, 1031, 77], "integer") == ({"10**": [0, 1], "**": [2]}, [])


def test_a_star_covers_everything() -> None:
    check(suppress([True, False], "smoker"), "boolean")
    assert covered(["*"], [None, 1, 2], "integer") == ({"*": [0, 1, 2]}, [])


def test_a_word_is_interpreted_by_its_hierarchy_or_covers_anything() -> None:
    hierarchy = taxonomy(TREE, ["NL", "US"], "country", "tree.csv")
    values = ["NL", "BE", "US", None]
    assert covered(["EU", "World"], values, "text", hierarchy) == ({"EU": [0, 1], "World": [0, 1, 2, 3]}, [])
    assert covered(["EU", "NL"], values, "text") == ({"EU": [0, 1, 2, 3], "NL": [0]}, ["EU"])


@pytest.mark.parametrize(
    ("label", "kind", "inside", "outside"),
    [
        ("[20, 30]", "integer", [20, 30], [19, 31, None, "x"]),
        ("(20, 30)", "float", [20.5], [20.0, 30.0, float("nan")]),
        ("20-29", "integer", [20, 29], [30]),
        ("-5 - 5", "integer", [-5, 0, 5], [6]),
        ("20\u201329", "integer", [20, 29], [30]),
        ("90+", "integer", [90, 120], [89]),
        (">90", "integer", [91], [90]),
        ("≤ 18", "integer", [18], [19, None]),
        ("< 2.5", "integer", [2], [3]),
        ("[2020-01-01, 2020-03-04]", "date", [date(2020, 3, 4)], [date(2020, 3, 5), 7]),
        ("[08:00:00, 09:30:00]", "time", [time(9)], [time(10)]),
        ("[2020-01-01 08:00:00, 2020-01-02 00:00:00]", "timestamp", [datetime(2020, 1, 1, 9)], [datetime(2020, 2, 1)]),
        ("{a, b}", "text", ["a", "b"], ["c", None]),
        ("2020-05-17", "timestamp", [datetime(2020, 5, 17, 8)], [datetime(2020, 5, 18)]),
        ("2000-2099", "date", [date(2000, 1, 1), date(2099, 12, 31)], [date(1999, 12, 31)]),
        ("1.5", "decimal", [Decimal("1.50")], [Decimal("1.51"), None]),
        ("37", "integer", [37], [36]),
        ("true", "boolean", [True], [False, None]),
        (None, "integer", [None], [0]),
    ],
)
def test_every_form_of_label_covers_its_values(label: Any, kind: str, inside: list[Any], outside: list[Any]) -> None:
    covers = reading(label, kind)
    assert covers is not None
    assert [covers(value) for value in inside] == [True] * len(inside)
    assert [covers(value) for value in outside] == [False] * len(outside)
    values = [value for value in (*inside, *outside) if value == value]
    found, unread = covered([label], values, kind)
    assert (found[label], unread) == (list(range(len(inside))), [])


@pytest.mark.parametrize(("label", "kind"), [("young", "integer"), ("[a, b]", "text"), ("2020", "text"), ("", "text")])
def test_an_unusual_label_covers_anything_and_is_reported(label: str, kind: str) -> None:
    assert covered([label], ["c", None], kind) == ({label: [0, 1]}, [label])


def test_a_value_is_found_as_its_engine_prints_it() -> None:
    seen = [datetime(2020, 5, 17, 8), datetime(2020, 5, 17, 9)]
    found, _ = covered(["2020-05-17 08:00:00"], seen, "timestamp", texts=["2020-05-17 08:00:00", "2020-05-17 09:00:00"])
    assert found == {"2020-05-17 08:00:00": [0]}


def test_dates_without_a_value_in_python_are_matched_as_texts() -> None:
    assert covered(["infinity", "[2020-01-01, infinity]"], ["infinity", date(2021, 1, 1)], "date")[0]["infinity"] == [0]


# Matching


def material(tables: Scratch, released: list[tuple[Any, ...]], people: list[tuple[Any, ...]]) -> tuple[Material, Copy]:
    """A release of text labels, and people with an age and a zip."""
    columns = {"age": "c0", "zip": "c1"}
    text = {"row_id": "INTEGER", "c0": "VARCHAR", "c1": "VARCHAR"}
    rows = [(i, *row) for i, row in enumerate(released, start=1)]
    release = tables.load("release", text, list(zip(*rows, strict=True)))
    known = [(i, *row) for i, row in enumerate(people, start=1)]
    source = tables.load("source", {**text, "c0": "INTEGER"}, list(zip(*known, strict=True)))
    kinds = {"age": "integer", "zip": "text"}
    copies = [
        Copy(name, relation, columns, kinds, len(rows), len(rows))
        for name, relation, rows in (("the release", release, released), ("the source", source, people))
    ]
    return Material(tables, copies[0], ("age", "zip"), source=copies[1]), copies[1]


AGES = ["[20, 30)", "[20, 40)", "25", "*", None, "young", ">= 30", "2*"]
ZIPS = ["12", "1*", "**", "*", None, "13", "city"]
DISJOINT_AGES = ["[10, 20)", "[20, 30)", "[30, 40)", None, "99"]  # a value has at most one of them
DISJOINT_ZIPS = ["12", "13", "2x", None]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("ages", "zips"), [(AGES, ZIPS), (DISJOINT_AGES, DISJOINT_ZIPS)])
def test_the_classes_that_fit_are_those_of_brute_force(ages: list[Any], zips: list[Any], seed: int) -> None:
    draw = random.Random(seed)
    released = [(draw.choice(ages), draw.choice(zips)) for _ in range(25)]
    people = [(draw.choice([19, 25, 31, 20, None]), draw.choice(["12", "13", "1", "2x", None])) for _ in range(15)]
    with Scratch(DuckDB(), "test") as tables:
        given_to, source = material(tables, released, people)
        classes = classes_of(given_to, given_to.release)
        numbered = tables.rows_as(f"SELECT class, c0, c1, n FROM {table(classes)}")
        assert sorted((age or "", zip_ or "", n) for _, age, zip_, n in numbered) == sorted(
            (age or "", zip_ or "", released.count((age, zip_))) for age, zip_ in set(released)
        )
        targets = drawn(given_to, source, source.columns)
        assert load_covers(given_to, targets, classes, "age", source).overlap == (ages == AGES)
        for names in (("age", "zip"), ("zip",), ("age",)):
            fits = fitting(given_to, targets, source, classes, names)
            pairs = sorted(tables.rows_as(f"SELECT target, class FROM {table(fits)}"))
            assert pairs == sorted(
                (target, number)
                for target, person in enumerate(people, start=1)
                for number, age, zip_, _ in numbered
                if ("age" not in names or may_be(age, person[0], "integer", set()))
                and ("zip" not in names or may_be(zip_, person[1], "text", {other for _, other in people}))
            )


def may_be(label: Any, value: Any, kind: str, texts: set[Any]) -> bool:
    covers = reading(label, kind, texts)
    return covers is None or covers(value)


def table(relation: Any) -> str:
    return f'temp."{relation.name}"'


def test_a_person_is_drawn_once_and_the_same_with_the_same_seed() -> None:
    with Scratch(DuckDB(), "test") as tables:
        given_to, source = material(tables, [("*", "*")], [(i % 7, str(i)) for i in range(50)])
        once = Copy(source.name, source.relation, source.columns, source.kinds, 50, 7, ("c0",))
        ages = tables.rows_as(f"SELECT c0 FROM {table(drawn(given_to, once, ['age']))}")
        assert sorted(ages) == [(age,) for age in range(7)]
        some = Material(tables, given_to.release, ("age",), most=5, seed=3)
        first, again = (tables.rows_as(f"SELECT * FROM {table(drawn(some, source, ['zip']))}") for _ in range(2))
        assert first == again
        assert len(set(first)) == 5


def test_unreadable_values_are_noted_once_per_column() -> None:
    notes: list[str] = []
    with Scratch(DuckDB(), "test") as tables:
        given_to, source = material(tables, [("young", "12"), ("old", "city")], [(20, "12")])
        noting = Material(tables, given_to.release, ("age", "zip"), note=notes.append)
        fitting(noting, drawn(noting, source, ["age", "zip"]), source, classes_of(noting, noting.release))
    assert [note.partition(" cannot")[0] for note in notes] == ["2 labels of age", "1 labels of zip"]


# Outcomes


def test_the_interval_of_a_share_is_wilsons() -> None:
    for successes, attempts in [(0, 10), (10, 10), (3, 7), (81, 263)]:
        low, high = interval(successes, attempts)
        share = successes / attempts
        for end in (low, high):  # where the share is 1.96 standard errors away: the equation that it solves
            error = (end * (1 - end) / attempts) ** 0.5
            assert abs(abs(share - end) - 1.959964 * error) < 1e-7
        assert 0 <= low <= share <= high <= 1
    # E. B. Wilson's method in R. Newcombe, Statistics in Medicine 17 (1998), table I: 81 of 263.
    assert [round(end, 4) for end in interval(81, 263)] == [0.2553, 0.3662]
    assert interval(0, 0) == (0.0, 1.0)


def outcome(successes: int, attempts: int, **more: Any) -> Outcome:
    return Outcome("linkage", "…", attempts, successes, successes, **more)


def test_the_excess_is_relative_to_what_chance_leaves() -> None:
    assert outcome(75, 100, baseline=0.5).excess == 0.5
    assert outcome(75, 100, baseline=0.2, control=0.5).excess == 0.5
    assert outcome(55, 100, baseline=0.5).excess == 0  # within the interval
    assert outcome(100, 100, baseline=1.0).excess == 0
    assert outcome(1, 100).excess == 0.01
    assert outcome(0, 0).excess == 0
    assert outcome(10, 100, baseline=0.9).excess == 0
