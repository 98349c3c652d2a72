"""The risk of an attacker who knows several rows of a person, against all sets of rows in plain Python."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.measure import known_rows
from kanon_sql.report.evidence import sections
from kanon_sql.report.forms import questions
from kanon_sql.report.words import measured_risk
from kanon_sql.risk.known_rows import SeveralRows
from support.database import create_table

TYPES = {"person": "INTEGER", "zip": "VARCHAR", "age": "INTEGER", "home": "VARCHAR"}
QUASI = ["zip", "age"]


def drawn(seed: int, people: int = 25, most: int = 5) -> list[dict[str, Any]]:
    """Visits of people, also several in one class, with NULLs."""
    draw = Random(seed)
    return [
        {
            "person": person,
            "zip": draw.choice(["02138", "02139", "02141", None]),
            "age": draw.choice([30, 30, 40, None]),
            "home": f"home {person % 2}",
        }
        for person in range(people)
        for _ in range(draw.randint(1, most))
    ]


def oracle(rows: list[dict[str, Any]], known: int, columns: list[str]) -> list[int]:
    """The fewest candidates of every person with enough rows, over all sets of so many rows."""
    classes: dict[Any, Counter[tuple[Any, ...]]] = {}
    for row in rows:
        classes.setdefault(row["person"], Counter())[tuple(row[name] for name in columns)] += 1
    found = []
    for mine in classes.values():
        sets = [Counter(chosen) for chosen in combinations(list(mine.elements()), known)]
        if sets:
            found.append(min(sum(wanted <= theirs for theirs in classes.values()) for wanted in sets))
    return found


def check(found: SeveralRows, rows: list[dict[str, Any]], columns: list[str]) -> None:
    for figures in found.known:
        candidates = oracle(rows, figures.rows, columns)
        assert (figures.people, figures.measured, figures.partly) == (len(candidates), len(candidates), 0)
        assert figures.singled_out == candidates.count(1)
        assert figures.share == pytest.approx(candidates.count(1) / len(candidates))
        assert figures.interval is None
        assert figures.highest == 1 / min(candidates)
        assert figures.mean == pytest.approx(sum(1 / size for size in candidates) / len(candidates))
        for above in figures.above:
            assert above.people == sum(1 / size > above.risk for size in candidates)


def several_rows(source: Any, **options: Any) -> SeveralRows:
    found = kanon_sql.risk(source, **{"quasi_identifiers": QUASI, "unit": "person", **options}).last.several_rows
    assert found
    return found


def test_the_candidates_are_those_of_all_sets_of_rows(engine: Engine) -> None:
    rows = drawn(seed=1)
    create_table(engine, "visits", TYPES, [tuple(row.values()) for row in rows])
    found = several_rows("visits", connection=engine.connection)
    assert [figures.rows for figures in found.known] == [2, 3]
    assert found.linked_by == ("person",)
    check(found, rows, QUASI)


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_random_tables_have_the_candidates_of_plain_counting(seed: int) -> None:
    rows = drawn(seed, people=60, most=4)
    check(several_rows(pandas.DataFrame(rows).astype({"age": "Int64"})), rows, QUASI)


def test_a_release_is_measured_by_its_own_classes() -> None:
    rows = drawn(7, people=40)
    frame = pandas.DataFrame(rows).astype({"age": "Int64"})
    frame = frame.assign(visit=range(len(rows)), plate=[f"plate {row['person']}" for row in rows])
    spec = {
        "quasi_identifiers": {"zip": {"hierarchy": {"redact": "right"}}, "age": {"hierarchy": "suppress"}},
        "privacy": {"k": 5, "unit": "person"},
        "suppression_limit": 0.3,
    }
    release = kanon_sql.anonymize(frame, {**spec, "keep": ["home", "visit", "plate"]})
    measured = kanon_sql.risk(frame, spec, release=release).release
    assert measured
    assert measured.several_rows
    assert measured.several_rows.linked_by == ("plate",)  # two people share a home, and no two rows a visit
    level = {name: release.manifest["node"][name] for name in QUASI}
    kept = set(release.to_df()["visit"])
    labels = [
        {
            "person": row["person"],
            "zip": None if row["zip"] is None else row["zip"][: 5 - level["zip"]],
            "age": row["age"] if level["age"] == 0 else "*",
        }
        for visit, row in enumerate(rows)
        if visit in kept
    ]
    check(measured.several_rows, labels, QUASI)


def test_without_people_or_second_rows_nothing_is_measured() -> None:
    frame = pandas.DataFrame({"person": [1, 2, 3], "zip": ["1", "1", "2"]})
    assert several_rows(frame, quasi_identifiers=["zip"]) == SeveralRows((), ())
    assert kanon_sql.risk(frame[["zip"]], quasi_identifiers=["zip"]).source.several_rows is None


def test_the_work_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = drawn(3, people=60)
    frame = pandas.DataFrame(rows).astype({"age": "Int64"})
    whole = several_rows(frame).known[0]
    monkeypatch.setattr(known_rows, "_MOST_PEOPLE", 20)
    sampled = several_rows(frame).known[0]
    assert (sampled.people, sampled.measured, sampled.is_sample) == (whole.people, 20, True)
    assert sampled.interval
    assert sampled.share is not None
    assert sampled.interval[0] <= sampled.share <= sampled.interval[1]
    monkeypatch.setattr(known_rows, "_MOST_WORK", 200)
    assert 0 < several_rows(frame).known[0].measured < 20
    monkeypatch.setattr(known_rows, "_MOST_WORK", 0)
    nobody = several_rows(frame).known[0]
    assert (nobody.measured, nobody.share, nobody.interval, nobody.mean, nobody.above) == (0, None, None, None, ())
    monkeypatch.undo()
    monkeypatch.setattr(known_rows, "_MOST_SLOTS", 2)
    partial = several_rows(frame).known[0]
    assert 0 < partial.partly < partial.measured == whole.measured
    assert partial.singled_out <= whole.singled_out


def test_a_report_states_who_is_found_by_several_rows_and_by_which_key() -> None:
    known = {"rows": 2, "people": 900, "measured": 500, "complete": False, "unique": True, "share": 0.25}
    known |= {"interval": [0.2, 0.3], "highest": 1.0, "mean": 0.5}
    manifest = {"unit": "id", "released_people": 1000, "released_rows": 3000, "privacy": [], "roles": {}}

    def sentences(linked_by: list[str], **change: Any) -> str:
        figures = {"several_rows": {"linked_by": linked_by, "known": [{**known, **change}]}}
        return " ".join(next(s for s in sections(manifest, figures) if "Several" in s.title).sentences)

    assert "25% of the people with two rows or more are the only ones" in sentences(["plate"])
    assert "(a random sample of 500 people, 95% interval 20% to 30%)" in sentences(["plate"])
    assert "by plate: whoever is found this way is found with all rows" in sentences(["plate"])
    assert "these figures are upper limits" in sentences([])
    assert "some of the people with two rows or more, too few to count" in sentences([], share=None, interval=None)
    assert "not measured, because the groups are too large" in sentences([], mean=None, highest=None)
    figures = {"several_rows": {"linked_by": ["plate"], "known": [known]}}
    assert measured_risk({**manifest, "roles": {"quasi_identifiers": ["zip"]}}, figures)["highest"] == 1.0
    assert (
        questions({**manifest, "roles": {"quasi_identifiers": ["zip"]}}, figures)[1].answer == "Yes, for some people."
    )
