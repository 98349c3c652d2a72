"""The halves of an anatomy: joined by position they reveal nothing, unless they keep the order of their source."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pandas
import pytest

from kanon_sql import KanonError, anatomize, anonymize, attack
from kanon_sql.attack import Outcome
from support.command_line import done

NAMES = ["age", "zip"]
SPEC = {"quasi_identifiers": NAMES, "sensitive": ["ill"]}


def people(seed: int, rows: int = 300) -> pandas.DataFrame:
    draw = random.Random(seed)
    drawn = [(draw.randrange(20, 60), str(draw.randrange(10, 40)), draw.choice("abcdefg")) for _ in range(rows)]
    return pandas.DataFrame(drawn, columns=[*NAMES, "ill"])


def matched(rows: Any, values: Any, source: pandas.DataFrame) -> Outcome:
    tried = attack(rows, values, source=source, quasi_identifiers=NAMES, sensitive=["ill"], only="order")
    (outcome,) = [outcome for outcome in tried.outcomes if outcome.name == "matched_halves"]
    return outcome


def halves(source: pandas.DataFrame, groups: int) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Groups of rows that follow each other, both halves in the order of the source."""
    numbered = source.assign(group_id=[i * groups // len(source) + 1 for i in range(len(source))])
    return numbered[["group_id", *NAMES]], numbered[["group_id", "ill"]].assign(count=1)


def test_halves_in_the_order_of_their_source_are_joined_again() -> None:
    source = people(1)
    outcome = matched(*halves(source, 30), source)
    found = source.groupby(NAMES)["ill"].agg(Counter)
    right = sum(found[(row.age, row.zip)][row.ill] / found[(row.age, row.zip)].total() for row in source.itertuples())
    assert outcome.figures["right"] == pytest.approx(right)
    assert outcome.share > 0.8 > 0.4 > outcome.chance
    assert outcome.excess > 0.7
    assert outcome.affected == outcome.successes


def test_values_in_another_order_are_at_chance_level() -> None:
    source = people(2)
    rows, values = halves(source, 30)
    outcome = matched(rows, values.sample(frac=1, random_state=3), source)
    assert (outcome.excess, outcome.affected) == (0, 0)
    labelled = rows.assign(age="*", zip="**")  # every row may be anybody's: any order is as good
    assert matched(labelled, values, source).excess == 0


def test_our_own_anatomies_withstand_the_attack(tmp_path: Path) -> None:
    """Of groups, by either road; where the values rise with the ages too, which sorting alone would find."""
    source = people(3).sort_values("age")
    source["ill"] = [f"{age // 4 + i % 6:02}" for i, age in enumerate(source["age"])]
    exact = anatomize(source, SPEC, l=3, output=tmp_path / "exact.csv")
    recipes = {"age": {"hierarchy": {"ranges": [5, 20]}}, "zip": {"hierarchy": {"redact": "right"}}}
    coded = {**SPEC, "quasi_identifiers": recipes, "target": {"file": str(tmp_path / "coded.csv"), "as": "anatomy"}}
    for release in (exact, anonymize(source, coded, k=4)):
        outcome = matched(release.manifest["target"]["file"], release.manifest["anatomy"]["sensitive"], source)
        assert (outcome.attempts, outcome.excess) == (300, 0)
        assert outcome.chance > 0.2  # the values are those of the source, and sorting alone finds some


def test_counts_are_expanded_to_as_many_rows() -> None:
    source = pandas.DataFrame({"age": [20, 21, 22, 23], "zip": ["1"] * 4, "ill": list("xxyy")})
    rows = source[NAMES].assign(group_id=1)
    outcome = matched(rows, pandas.DataFrame({"group_id": [1, 1], "ill": ["x", "y"], "count": [2, 2]}), source)
    assert (outcome.successes, outcome.chance) == (4, 1)  # they rise with the ages: anyone can sort
    outcome = matched(rows, pandas.DataFrame({"group_id": [1, 1], "ill": ["y", "x"], "count": [1, 3]}), source)
    assert (outcome.attempts, outcome.figures["right"]) == (4, 1)


def test_the_command_line_takes_two_halves(tmp_path: Path) -> None:
    source = people(4, 60)
    for name, frame in zip(("people", "rows", "values"), (source, *halves(source, 6)), strict=True):
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / "rows.csv", tmp_path / "values.csv", "--source", tmp_path / "people.csv"]
    shown = done("attack", *files, "--quasi-identifiers", "age,zip")
    assert "matched_halves of ill" in shown
    assert "group_id" not in shown


def test_another_table_without_groups_is_refused() -> None:
    source = people(5, 20)
    with pytest.raises(KanonError, match="another release has no column 'age'"):
        matched(source[NAMES], source[["ill"]], source)
