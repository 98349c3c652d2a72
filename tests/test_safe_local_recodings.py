"""Local recodings end safely: on rows that make every class unsafe, and when time is up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kanon_sql
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import InfeasibleError
from kanon_sql.privacy import PrivacyModel, all_of, delta_presence, k_anonymity
from kanon_sql.recode import RECODERS, Clock, Local, Task
from kanon_sql.recode.joining import recode_by_rows
from kanon_sql.recode.kaca import kaca
from support.database import create_table
from support.examples import few
from support.models import DEFINED, Defined
from support.privacy import EXAMPLES

Row = tuple[Any, ...]  # zip, illness
RECIPES = {"zip": {"hierarchy": {"redact": "right"}}}
every_recoding = pytest.mark.parametrize("name", sorted(RECODERS))


# Rows that spoil whatever class they are in


def parted(voters: int = 80) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """A population and a sample: 3 of 10 in every zip that begins with 1, all others."""
    people = pandas.DataFrame({"zip": [f"{1 + i // 40}{i % 4}" for i in range(voters)], "row": range(voters)})
    return people, people[(people["zip"] >= "2") | (people["row"] < 12)]


@every_recoding
def test_rows_that_can_be_suppressed_do_not_prevent_a_release(name: str) -> None:
    """All together have a share above a half, which merging classes cannot mend: some rows must go."""
    people, sample = parted()
    models = [delta_presence(0, 0.5, people)] if name != "mondrian_relaxed" else [THREE_KINDS]
    options: dict[str, Any] = {"quasi_identifiers": RECIPES, "privacy": models, "keep": ["row"], "strategy": name}
    if name == "mondrian_relaxed":
        sample = sample.assign(row=[row % 3 if row < 12 else 3 for row in sample["row"]])
    release = kanon_sql.anonymize(sample, **options, suppression_limit=0.8)
    assert release.manifest["released_rows"] == 12
    assert set(release.manifest["recoding"]["kept_by"]) == {"zip"}
    with pytest.raises(InfeasibleError, match=r"raise .*suppression_limit"):
        kanon_sql.anonymize(sample, **options, suppression_limit=0.1)


THREE_KINDS = PrivacyModel(
    "three kinds at most", {}, {"kinds": "COUNT(c)", "last": "MAX(value)"}, "kinds <= 3 AND last < 3", sensitive="row"
)
# A class that grows may have one value too many: no verdict tells of a larger class.
TWO_OR_THREE = Defined(
    PrivacyModel("two or three", {}, {"kinds": "COUNT(c)"}, "kinds >= 2 AND kinds <= 3", sensitive="ill"),
    lambda of, _: 2 <= len(of) <= 3,
)


@every_recoding
def test_classes_that_are_safe_only_separately_are_released_separately(name: str) -> None:
    """The whole table has four illnesses, each half of it two."""
    rows = pandas.DataFrame({"zip": ["11", "12", "21", "22"] * 3, "ill": [1, 2, 3, 4] * 3})
    options: dict[str, Any] = {"quasi_identifiers": RECIPES, "sensitive": ["ill"], "suppression_limit": 0.0}
    release = kanon_sql.anonymize(rows, **options, privacy=[TWO_OR_THREE.model], strategy=name, time_limit=5)
    found = {zips: set(ills) for zips, ills in release.to_df().groupby("zip")["ill"]}
    assert found == {"1*": {1, 2}, "2*": {3, 4}}


def partitions(things: Sequence[Any]) -> Iterator[list[list[Any]]]:
    """All ways to put things into classes."""
    if not things:
        yield []
        return
    first, *others = things
    for classes in partitions(others):
        yield [[first], *classes]
        for place, item in enumerate(classes):
            yield [*classes[:place], [first, *item], *classes[place + 1 :]]


@every_recoding
@settings(EXAMPLES, max_examples=few(3))
@given(
    rows=st.lists(st.tuples(st.sampled_from(["11", "12", "21", "22"]), st.integers(1, 4)), min_size=3, max_size=14),
    definitions=st.lists(st.sampled_from([*DEFINED, TWO_OR_THREE]), min_size=1, max_size=2, unique_by=str),
)
@pytest.mark.slow
@pytest.mark.sampled
def test_a_release_exists_whenever_one_class_of_all_rows_is_safe(
    name: str, rows: list[Row], definitions: list[Defined]
) -> None:
    """And what is refused has, under models whose safe classes are safe merged, no safe classes at all."""
    table = Counter(ill for _, ill in rows)

    def is_safe(zips: Sequence[str]) -> bool:
        return all(item.is_safe(Counter(ill for at, ill in rows if at in zips), table) for item in definitions)

    models = all_of(*(item.model for item in definitions))
    tuples = sorted({at for at, _ in rows})
    spec: dict[str, Any] = {"quasi_identifiers": RECIPES, "sensitive": ["ill"], "suppression_limit": 0.0}
    engine = DuckDB()
    create_table(engine, "people", {"zip": "VARCHAR", "ill": "INTEGER"}, rows)
    options: dict[str, Any] = {"connection": engine.connection, "privacy": list(models.models), "strategy": name}
    try:
        release = kanon_sql.anonymize("people", spec, time_limit=5, **options)
    except kanon_sql.KanonError:
        names_a_value = not table[2] and any("= 2" in model.name for model in models.models)
        some = any(all(map(is_safe, classes)) for classes in partitions(tuples))
        assert names_a_value or not is_safe(tuples)
        assert names_a_value or not models.mergeable or not some
        return
    released = release.to_df()
    assert len(released) == len(rows)
    for _, ills in released.groupby("zip")["ill"]:
        assert all(item.is_safe(Counter(ills), table) for item in definitions)


# When the time is up


@dataclass
class Time:
    """Seconds that pass when somebody says so."""

    seconds: float = 0.0

    def clock(self, limit: float) -> Clock:
        return Clock(limit, now=lambda: self.seconds)


def one_sided(rows: int = 120) -> list[Row]:
    """A zip where nearly all have one illness, which needs many others to be hidden among, and has to ask each."""
    draw = Random(1)
    even = [(f"2{i // 10}{i % 10}", draw.choice([1, 2])) for i in range(rows)]
    return [("100", 1)] * rows + even


EVEN = PrivacyModel(
    "at most 3 of 4", {}, {"rows": "SUM(n)", "most": "MAX(c)"}, "4 * most <= 3 * rows", sensitive="ill",
    monotone="without suppression",
)  # fmt: skip


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_joining_ends_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch, rounds: int) -> None:
    """The classes by rows are done, the time is up after so many rounds of joining; what is unsafe is put together."""
    time, looks = Time(), []
    module = recode_by_rows.__globals__
    find_nearest = module["_Joining"]._find_nearest

    def look(joining: Any) -> Any:
        looks.append(joining)
        found = find_nearest(joining)
        time.seconds = 2.0 if len(looks) >= rounds else 0.0
        return found

    def by_rows(task: Task) -> Local:
        local = kaca(replace(task, clock=Clock()))
        time.seconds = 2.0 if rounds == 0 else 0.0
        return local

    monkeypatch.setattr(module["_Joining"], "_find_nearest", look)
    clocked = replace(
        RECODERS["kaca"], recode=lambda task: recode_by_rows(by_rows, replace(task, clock=time.clock(1.0)))
    )
    monkeypatch.setitem(RECODERS, "kaca", clocked)
    rows = pandas.DataFrame(one_sided(), columns=["zip", "ill"])
    options: dict[str, Any] = {"quasi_identifiers": RECIPES, "sensitive": ["ill"], "suppression_limit": 0.0}
    release = kanon_sql.anonymize(rows, **options, privacy=[k_anonymity(2), EVEN], strategy="kaca")
    assert len(looks) == rounds
    assert release.manifest["released_rows"] == len(rows)
    assert release.manifest["search_ended"] == "time limit"
    for _, ills in release.to_df().groupby("zip")["ill"]:
        assert 4 * max(Counter(ills).values()) <= 3 * len(ills)
