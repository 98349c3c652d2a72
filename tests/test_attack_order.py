"""Unsorted matching: whether the order of a release's rows reveals whose they are."""

import random
from pathlib import Path
from typing import Any

import pandas
import pytest

from kanon_sql import Attacks, anonymize, attack
from kanon_sql.attack import Outcome
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from support.command_line import kanon
from support.database import create_table

SPEC: dict[str, Any] = {
    "quasi_identifiers": {
        "age": {"hierarchy": {"ranges": [5, 20]}},
        "zip": {"hierarchy": {"redact": "right"}},
    },
    "sensitive": ["ill"],
    "keep": ["weight"],
}
ASKED = {**{name: SPEC[name] for name in ("quasi_identifiers", "sensitive")}, "only": ["order"]}


def order(release: Any, *others: Any, **more: Any) -> Attacks:
    return attack(release, *others, **{**ASKED, **more})


def named(tried: Attacks, name: str) -> Outcome:
    (outcome,) = (outcome for outcome in tried.outcomes if outcome.name == name)
    return outcome


def people(rows: int = 240, seed: int = 0) -> pandas.DataFrame:
    draw = random.Random(seed)
    drawn = [
        (draw.randrange(20, 60), str(draw.randrange(10, 40)), draw.choice("abcdefg"), draw.randrange(45, 110))
        for _ in range(rows)
    ]
    return pandas.DataFrame(drawn, columns=["age", "zip", "ill", "weight"])


def recoded(source: pandas.DataFrame) -> pandas.DataFrame:
    """A release that keeps the order of its source."""
    low = source["age"] // 20 * 20
    ages = "[" + low.astype(str) + ", " + (low + 20).astype(str) + ")"
    return source.assign(age=ages, zip=source["zip"].str[:1] + "*")


SOURCE = people()


def test_a_release_in_the_order_of_its_source_is_vulnerable() -> None:
    tried = order(recoded(SOURCE), source=SOURCE)
    place, within = named(tried, "unsorted_matching"), named(tried, "order_within_classes")
    assert (place.successes, place.attempts, place.affected, place.excess) == (240, 240, 240, 1)
    assert within.successes == within.attempts == within.affected > 80
    assert within.excess == 1


def test_it_finds_the_order_with_suppressed_rows_or_sorted_classes_too() -> None:
    release = recoded(SOURCE)
    for kept in (release[release.index % 7 > 0], release.sort_values(["age", "zip"], kind="stable")):
        assert named(order(kept, source=SOURCE), "order_within_classes").excess == 1


@pytest.mark.parametrize("seed", range(2))
def test_a_sorted_or_shuffled_release_withstands_the_attack(seed: int) -> None:
    source = people(seed=seed)
    release = recoded(source)
    stands = release.sort_values([*release]) if seed else release.sample(frac=1, random_state=seed)
    tried = order(stands, recoded(source).sample(frac=1, random_state=7), source=source, seed=seed)
    assert tried.worst == 0
    assert {outcome.affected for outcome in tried.outcomes} == {0}
    assert named(tried, "place_within_classes").attempts == 240


@pytest.mark.parametrize("by", [["age", "zip", "ill", "weight"], ["weight"]])
def test_a_sorted_source_is_not_a_finding(by: list[str]) -> None:
    source = SOURCE.sort_values(by)
    release = recoded(source).sort_values([*SOURCE])
    assert named(order(release, source=source), "order_within_classes").excess == 0


def test_a_release_sorted_by_numbers_reveals_nothing_of_a_source_in_that_order() -> None:
    """Sorted by how they print, 10 comes before 9: chance is what sorting by the numbers themselves gives."""
    source = pandas.DataFrame({"age": [30] * 60, "zip": ["10"] * 60, "ill": ["a"] * 60, "weight": range(5, 65)})
    release = recoded(source).sort_values(["ill", "weight"])
    place = named(order(release, source=source), "place_within_classes")
    assert (place.successes, place.excess) == (60, 0)


def test_rows_need_not_be_unique_to_come_in_the_order_of_the_source() -> None:
    source = SOURCE.drop(columns="weight")
    place = named(order(recoded(source), source=source), "place_within_classes")
    assert (place.successes, place.attempts, place.affected, place.excess) == (240, 240, 240, 1)
    stands = recoded(source).sort_values([*source])
    assert named(order(stands, source=source), "place_within_classes").excess == 0


def test_attempts_are_drawn() -> None:
    place = named(order(recoded(SOURCE), source=SOURCE, attempts=50), "unsorted_matching")
    assert (place.attempts, place.affected, place.sampled) == (50, 240, True)


def test_two_releases_that_share_only_their_order_are_joined(tmp_path: Path) -> None:
    """Table 6 of the survey: the release b hides ages, c the last digit of ZIP codes; by place they give a."""
    a = pandas.DataFrame(
        {
            "age": [42, 44, 50, 52, 20, 21, 31, 32],
            "zip": [91058, 91058, 27785, 27785, 32105, 32105, 67676, 67676],
        }
    )
    b, c = a.assign(age="*"), a.assign(zip=a["zip"] // 10 * 10)
    (tmp_path / "age.csv").write_text("".join(f"{age};*\n" for age in a["age"]))
    (tmp_path / "zip.csv").write_text("".join(f"{code};{code // 10 * 10};*\n" for code in set(a["zip"])))
    options = {"quasi_identifiers": ["age", "zip"], "hierarchies": str(tmp_path), "only": ["order"]}
    (joined,) = attack(b, c, **options).outcomes
    assert (joined.successes, joined.attempts, joined.excess) == (8, 8, 1)
    assert pandas.DataFrame({"age": c["age"], "zip": b["zip"]}).equals(a)
    (stands,) = attack(b, c.sort_values(["zip", "age"]), **options).outcomes
    assert stands.excess == 0


# Our own releases


@pytest.mark.parametrize("strategy", ["auto", "mondrian_relaxed", "refine", "kaca", "prioprivacy"])
@pytest.mark.sampled
def test_no_strategy_keeps_the_order_of_the_source(strategy: str) -> None:
    shuffle = strategy in ("auto", "kaca")
    release = anonymize(SOURCE, SPEC, k=4, strategy=strategy, shuffle=shuffle).to_df()
    tried = order(release, source=SOURCE)
    assert tried.worst == 0
    assert named(tried, "order_within_classes").attempts > 20


@pytest.mark.parametrize("form", ["table", "view", "materialized", "anatomy"])
@pytest.mark.sampled
def test_no_target_keeps_the_order_of_the_source(engine: Engine, form: str) -> None:
    if form == "materialized" and not engine.has_materialized_views:
        pytest.skip("has no materialized views")
    types = {"age": "BIGINT", "zip": "VARCHAR", "ill": "VARCHAR", "weight": "BIGINT"}
    create_table(engine, "people", types, [*SOURCE.itertuples(index=False)])
    anonymize("people", SPEC, k=4, connection=engine.connection, into="released", form=form)
    tried = order("released", source=SOURCE, sensitive=["weight"], connection=engine.connection)
    assert tried.worst == 0
    assert named(tried, "order_within_classes").attempts > 20


LOOKS = ["zero", "name"]  # columns of values that are equal and look different


@pytest.mark.parametrize("column", LOOKS)
@pytest.mark.parametrize("options", [{}, {"strategy": "kaca"}], ids=["auto", "kaca"])
@pytest.mark.sampled
def test_equal_values_that_look_different_do_not_keep_the_order_of_the_source(
    embedded: DuckDB, column: str, options: dict[str, str]
) -> None:
    draw, connection = random.Random(1), embedded.connection
    connection.execute("CREATE TABLE people (age BIGINT, zero DOUBLE, name VARCHAR COLLATE NOCASE)")
    looks = [(draw.randrange(40), draw.choice([0.0, -0.0]), draw.choice(["Doe", "doe"])) for _ in range(6000)]
    drawn = pandas.DataFrame(looks, columns=["age", *LOOKS])
    connection.register("drawn", drawn)
    connection.execute("INSERT INTO people FROM drawn")
    others = {"identifiers": [look for look in LOOKS if look != column], "keep": [column]}
    spec = {"quasi_identifiers": {"age": {"hierarchy": {"ranges": [20]}}}, **others}
    anonymize("people", spec, k=500, connection=connection, into="released", **options)
    only = {"quasi_identifiers": ["age"], "sensitive": [column], "only": ["order"]}
    tried = attack("released", source="people", connection=connection, **only)
    assert tried.worst == 0
    assert named(tried, "place_within_classes").attempts == 6000


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_no_file_keeps_the_order_of_the_source(ending: str, tmp_path: Path) -> None:
    anonymize(SOURCE, SPEC, k=4, output=tmp_path / f"released.{ending}")
    assert order(tmp_path / f"released.{ending}", source=SOURCE).worst == 0


def test_the_command_reads_files_in_their_order(folder: Path) -> None:
    SOURCE.to_csv(folder / "people.csv", index=False)
    recoded(SOURCE).to_parquet(folder / "released.parquet")
    arguments = ("--quasi-identifiers", "age,zip", "--sensitive", "ill", "--only", "order", "--fail-above", "0.5")
    fallen = kanon("attack", "released.parquet", "--source", "people.csv", *arguments)
    assert fallen.code == 1
    assert "in another order than the table's" in fallen.out
