"""The phases of a run, which add up to its total."""

import time
from typing import Any

import pandas
import pytest

from kanon_sql import anatomize, anonymize, cloak
from kanon_sql.plan.observer import Phases


def test_one_phase_is_always_under_way() -> None:
    now = [10.0]
    phases = Phases(clock=lambda: now[0])
    for second, phase in ((11.0, "frequency_set"), (13.0, "search"), (14.5, "release"), (20.0, "search")):
        now[0] = second
        phases.begin(phase)
    now[0] = 21.0
    phases.move(0.25, "verify")
    assert phases.described() == {
        "read": 1.0,
        "frequency_set": 2.0,
        "search": 1.5 + 0.75,
        "release": 5.5,
        "verify": 0.25,
        "total": 11.0,
    }


def people(rows: int = 300) -> pandas.DataFrame:
    numbers = range(rows)
    return pandas.DataFrame(
        {
            "age": [number * 7 % 90 for number in numbers],
            "zip": [str(10000 + number * 31 % 800) for number in numbers],
            "ill": ["abcd"[number % 4] for number in numbers],
        }
    )


def check(manifest: dict[str, Any], phases: set[str], wall: float) -> None:
    """The sum of the phases is the total, which is no longer than the whole call."""
    seconds = dict(manifest["seconds"])
    total = seconds.pop("total")
    assert set(seconds) == phases
    assert min(seconds.values()) >= 0
    assert sum(seconds.values()) == pytest.approx(total, rel=0.02, abs=0.05)
    assert total <= wall + 0.05


@pytest.mark.parametrize(
    ("options", "phases"),
    [
        ({}, {"search"}),
        ({"show": "ranges"}, {"search", "classes"}),
        ({"strategy": "mondrian"}, {"search", "classes"}),
        ({"strategy": "refine", "time_limit": 2.0}, {"search", "classes"}),
        ({"ways_out": True}, {"search", "ways_out"}),
    ],
)
@pytest.mark.sampled
def test_the_phases_of_a_release_add_up(options: dict[str, Any], phases: set[str]) -> None:
    recipes = {"age": {"hierarchy": {"ranges": [5, 10, 20]}}, "zip": {"hierarchy": {"redact": "right"}}}
    begun = time.monotonic()
    release = anonymize(people(), {"quasi_identifiers": recipes, "keep": ["ill"], "privacy": {"k": 5}}, **options)
    common = {"read", "frequency_set", "loss", "release", "verify", "describe"}
    check(release.manifest, common | phases, time.monotonic() - begun)


def test_the_phases_of_other_releases_add_up(tmp_path: Any) -> None:
    spec = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "target": {"file": str(tmp_path / "exact.csv")}}
    begun = time.monotonic()
    release = anatomize(people(), spec, l=2)
    check(release.manifest, {"read", "release", "verify", "describe"}, time.monotonic() - begun)
    trips = pandas.DataFrame({"x": [1.0, 2.0, 9.0, 8.0], "y": [1.0, 1.0, 9.0, 9.0], "at": [1, 2, 3, 4]})
    trips["taxi"] = list("abcd")
    begun = time.monotonic()
    boxes = cloak(trips, location=["x", "y"], time="at", unit="taxi", k=2)
    check(boxes.manifest, {"read", "cloak", "release", "verify", "describe"}, time.monotonic() - begun)
