"""Changes that wait: every decision as by hand, and no two releases that single out a person."""

import os
import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.pipeline.deferral import ALL, ARRIVALS, CLOSED, DEPARTURES, NONE, ComparedRows, Deferral
from kanon_sql.privacy import PrivacyModels, all_of, k_anonymity, l_diversity
from kanon_sql.queries import select_all
from support.nights import Row, common_values, moved, people_moved

K = 3
SEEDS = range(int(os.environ.get("KANON_SEEDS", "2")))  # KANON_SEEDS=100 for many more tables
Content = Counter[tuple[str | None, str | None, str | None]]  # rows: a label, a value, and an owner


def ill_of(row: tuple[str | None, ...]) -> str | None:
    """The sensitive value, which is the first letter of what is seen of a row."""
    return row[1] and row[1][0]


def contents(draw: random.Random, with_owners: bool, nights: int) -> list[Content]:
    """The rows of some nights, of which most are the same from night to night."""
    labels, values = ["a", "b", None], ["x", "x2", "y", "z", None]
    number, rows = 0, list[tuple[Any, ...]]()
    found = []
    for night in range(nights):
        if night:
            rows = [row for row in rows if draw.random() > draw.choice([0.02, 0.3])]
            rows = [(row[0], draw.choice(values), row[2]) if draw.random() < 0.05 else row for row in rows]
            rows = [(draw.choice(labels), *row[1:]) if draw.random() < 0.05 else row for row in rows]
        for _ in range(draw.choice([3, 8]) if night else 24):
            number += draw.random() < 0.7
            owner = f"p{number}" if draw.random() < 0.97 else None
            rows.append((draw.choice(labels), draw.choice(values), owner if with_owners else None))
        found.append(Counter(rows))
    return found


def by_hand(
    before: Content,
    after: Content,
    earlier: Sequence[Content],
    k: int,
    diverse: int,
    with_owners: bool,
    least: int = 0,
) -> tuple[Content, int]:
    """The rows that are released, and how many classes are closed."""
    classes = {row[0] for row in {*before, *after} if before[row] != after[row]}
    waiting: set[str | None] = set()
    refused: set[tuple[str | None, int]] = set()
    while True:
        final, closed, late = Counter[Any](), 0, set[str | None]()
        choices: dict[str | None, int] = {}
        for label in {row[0] for row in {*before, *after}}:
            old, new = (Counter({row: n for row, n in side.items() if row[0] == label}) for side in (before, after))
            if label not in classes:
                final += new
                continue
            past = [before, *earlier]
            choice, chosen = first_choice(
                label, old, new, past, waiting, k, diverse, with_owners, least, {c for at, c in refused if at == label}
            )
            choices[label] = choice
            closed += choice == CLOSED
            final += chosen
            if choice != CLOSED:
                late |= {row[2] for row in {*old, *new} if old[row] != new[row] and chosen[row] != new[row]}
        if not with_owners:
            return final, closed
        more: set[tuple[str | None, int]] = set()
        if late <= waiting and least:
            exposed = exposed_movers([*earlier[::-1], before, final], least)
            late = {person for person in exposed if of_owner(final, person) != of_owner(before, person)}
            if late <= waiting:
                labels = {label for of_person in exposed.values() for label in of_person}
                more = {(label, choices[label]) for label in labels if choices.get(label, NONE) < NONE} - refused
        if late <= waiting and not more:
            return final, closed
        waiting |= late
        refused |= more


def of_owner(content: Content, owner: str | None) -> Content:
    return Counter({row: n for row, n in content.items() if row[2] == owner})


def of_label(releases: Sequence[Content], label: str | None) -> list[list[Row]]:
    """What a reader sees of a class in every release, the oldest first."""
    return [[(ill_of(row), row[1]) for row in release.elements() if row[0] == label] for release in releases]


def exposed_movers(releases: Sequence[Content], least: int) -> dict[str | None, set[str | None]]:
    """People who left one class and came to another, and too few values remain in all of these classes."""
    exposed = {}
    for person in {row[2] for release in releases for row in release} - {None}:
        came, left = set[str | None](), set[str | None]()
        for old, new in pairwise(Counter(row[0] for row in of_owner(each, person).elements()) for each in releases):
            came |= (new - old).keys()
            left |= (old - new).keys()
        if came and left and len(came | left) > 1:
            common = [common_values(of_label(releases, label)) or set() for label in came | left]
            if len(set.intersection(*common)) < least:
                exposed[person] = came | left
    return exposed


def first_choice(
    label: str | None,
    old: Content,
    new: Content,
    releases: Sequence[Content],
    waiting: set[str | None],
    k: int,
    diverse: int,
    with_owners: bool,
    least: int,
    refused: set[int],
) -> tuple[int, Content]:
    for choice in (ALL, ARRIVALS, DEPARTURES, NONE):
        if choice in refused:
            continue
        content: Content = Counter()
        for row in {*old, *new}:
            settled = {ALL: new[row], ARRIVALS: max(old[row], new[row]), DEPARTURES: min(old[row], new[row])}
            content[row] = old[row] if with_owners and row[2] in waiting else settled.get(choice, old[row])
        content = +content
        of_class = [Counter({row: n for row, n in each.items() if row[0] == label}) for each in releases]
        if is_safe(content, k, diverse, with_owners) and all(
            is_hidden(each, content, k, with_owners) and not reveals(each, content) for each in of_class
        ):
            common = common_values(of_label([*releases[::-1], content], label))
            if choice == NONE or not least or common is None or len(common) >= least:
                return choice, content
    return CLOSED, Counter()


def is_safe(content: Content, k: int, diverse: int, with_owners: bool) -> bool:
    if not content:
        return True
    members = len({row[2] for row in content} - {None}) if with_owners else content.total()
    return members >= k and len({ill_of(row) for row in content}) >= diverse


def is_hidden(old: Content, new: Content, k: int, with_owners: bool) -> bool:
    """Whether nobody arrives, leaves or stays among fewer than k."""
    before, after = ([row[1:] for row in side.elements()] for side in (old, new))
    if with_owners:
        return not people_moved(before, after, k)
    return not moved(Counter(before), Counter(after), k)


def reveals(old: Content, new: Content) -> bool:
    """Whether a class has one value in common with an earlier one, although both have several."""
    first, second = ({ill_of(row) for row in side} for side in (old, new))
    return len(first & second) == 1 and len(first) > 1 and len(second) > 1


def decided(
    before: Content,
    after: Content,
    earlier: Sequence[Content],
    model: PrivacyModels,
    with_owners: bool,
    least: int = 0,
) -> tuple[Content, int]:
    """The same by SQL."""
    rows = ComparedRows.of(["label", "ill", "seen"], ["label"], "pid" if with_owners else None)
    with Scratch(DuckDB(), "deferral") as tables:
        loaded = []
        for number, content in enumerate([before, after, *earlier]):
            cells = [(row[0], ill_of(row), *row[1:], n) for row, n in content.items()]
            columns = [*zip(*cells, strict=True)] or [[]] * 5
            columns = columns if with_owners else [*columns[:3], columns[4]]
            types = dict.fromkeys(rows.names, "VARCHAR") | {"n": "BIGINT"}
            loaded.append(tables.load(f"given_{number}", types, columns))
        values = {"ill": least} if least else {}
        decision = Deferral(tables, rows, loaded[0], loaded[1], model, K, values=values).decide(loaded[2:])
        if decision is None:
            return after, 0
        waiting, standing = (
            Counter((row[0], *row[2:]) for row in tables.engine.rows(select_all(relation, "duckdb")))
            for relation in (decision.waiting(), decision.standing())
        )
        shown = after if with_owners else Counter({row[:2]: n for row, n in after.items()})
        assert not waiting - shown
        final = shown - waiting + standing
        return (final if with_owners else Counter({(*row, None): n for row, n in final.items()})), decision.closed


@pytest.mark.parametrize("with_owners", [False, True])
@pytest.mark.parametrize(("diverse", "least"), [(1, 0), (2, 0), (2, 2)])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_decision_is_that_by_hand(seed: int, diverse: int, least: int, with_owners: bool) -> None:
    draw = random.Random(seed)
    models = [k_anonymity(K), *([l_diversity("ill", diverse)] if diverse > 1 else [])]
    model = all_of(*models, unit="pid" if with_owners else None)
    first, *nights = contents(draw, with_owners, nights=6)
    safe: Content = Counter()
    for label in {row[0] for row in first}:
        of_class = Counter({row: n for row, n in first.items() if row[0] == label})
        safe += of_class if is_safe(of_class, K, diverse, with_owners) else Counter()
    releases = [safe]
    for night in nights:
        classes = {row[0] for row in night}
        of_class = {label: Counter({row: n for row, n in night.items() if row[0] == label}) for label in classes}
        safe_classes = [rows for rows in of_class.values() if is_safe(rows, K, diverse, with_owners)]
        after: Content = sum(safe_classes, Counter())
        earlier = releases[-2:-6:-1]
        expected = by_hand(releases[-1], after, earlier, K, diverse if diverse > 1 else 0, with_owners, least)
        found = decided(releases[-1], after, earlier, model, with_owners, least)
        assert found == expected
        releases.append(found[0])
        for old in releases[-2:-7:-1]:
            for label in {row[0] for row in {*old, *found[0]}}:
                sides = [Counter({row: n for row, n in side.items() if row[0] == label}) for side in (old, found[0])]
                assert is_hidden(sides[0], sides[1], K, with_owners)
        if least:
            compared = releases[-6:]
            for label in {row[0] for release in compared for row in release}:
                assert len(common_values(of_label(compared, label)) or ()) >= least
            assert not with_owners or not exposed_movers(compared, least)


@pytest.mark.parametrize("kept", [["ill"], []])
def test_classes_with_unknown_owners_and_without_other_columns_are_decided(kept: list[str]) -> None:
    """Unknown owners stay as one person, owners who look the same may change, and a row can be its labels alone."""
    rows: dict[str, list[tuple[Any, ...]]] = {
        "who is unknown stays alone": [("a", "x", None), *[("a", "y", f"p{i}") for i in (1, 2, 3)]],
        "and the others change": [("a", "x", None), *[("a", "z", f"p{i}") for i in (4, 5, 6)]],
        "owners": [("a", "x", f"p{i}") for i in (1, 2, 3)],
        "other owners": [("a", "x", f"p{i}") for i in (1, 4, 5)],
    }
    model = all_of(k_anonymity(K), unit="pid")
    contents = [Counter(each) for each in rows.values()]
    for before, after in ((0, 1), (2, 3)):
        expected = by_hand(contents[before], contents[after], [], K, 0, with_owners=True)
        assert decided(contents[before], contents[after], [], model, with_owners=True) == expected
    names = ComparedRows.of(["label", *kept], ["label"], None)
    with Scratch(DuckDB(), "deferral") as tables:
        types = dict.fromkeys(names.names, "VARCHAR") | {"n": "BIGINT"}
        given = [
            tables.load(f"given_{number}", types, [["a"], *[["x"] for _ in kept], [rows]])
            for number, rows in enumerate((5, 6))
        ]
        decision = Deferral(tables, names, given[0], given[1], all_of(k_anonymity(K)), K).decide([given[0]])
        assert decision is not None
        assert (tables.count(decision.waiting()), tables.count(decision.standing())) == (1, 0)
