"""Attacks on large tables: texts as ENUMs change nothing, and samples of whole classes give about the same shares."""

import json
import random

import pandas
import pytest

from kanon_sql.attack import Outcome, dealing, matching, unsorted_matching
from kanon_sql.measure import copied
from kanon_sql.verbs.attack import attack

pytestmark = pytest.mark.quick
KNOWN = ["age", "city"]


def tables(seed: int, rows: int = 1500) -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """A source with NULLs and texts, and a release of it in another order."""
    draw = random.Random(seed)
    source = pandas.DataFrame(
        {
            "age": [draw.choice([*range(20, 60), None]) for _ in range(rows)],
            "city": [draw.choice(["Bern", "Basel", "Zug", None]) for _ in range(rows)],
            "job": [draw.choice([*"abcdefgh", None]) for _ in range(rows)],
            "note": [draw.choice([f"n{number}" for number in range(400)]) for _ in range(rows)],
        }
    ).astype({"age": "Int64"})
    ages = source["age"].map(lambda age: None if pandas.isna(age) else f"[{age // 5 * 5}, {age // 5 * 5 + 5})")
    release = source.assign(age=ages.astype(object))
    return source, release.sample(frac=1, random_state=seed)


def outcomes(seed: int) -> list[Outcome]:
    source, release = tables(seed)
    found = attack(release, source=source, quasi_identifiers=KNOWN, sensitive=["job", "note"], k=5)
    return list(found.outcomes)


def rounded(found: list[Outcome]) -> object:
    """The outcomes with rounded fractions, because sums in another order differ in the last digit."""
    texts = json.dumps([outcome.to_dict() for outcome in found])
    return json.loads(texts, parse_float=lambda number: round(float(number), 12))


def by_name(found: list[Outcome]) -> dict[tuple[str, str | None], Outcome]:
    return {(outcome.name, outcome.column): outcome for outcome in found}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.nightly
def test_texts_as_enums_change_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = rounded(outcomes(seed))
    monkeypatch.setattr(copied, "LARGE", 100)
    assert rounded(outcomes(seed)) == expected


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.nightly
def test_samples_of_whole_classes_give_about_the_same_shares(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = by_name(outcomes(seed))
    for module in (matching, dealing, unsorted_matching):
        monkeypatch.setattr(module, "SAMPLE", 700)
    found = by_name(outcomes(seed))
    assert found.keys() == expected.keys()
    for name in ("place_within_classes", "order_within_classes"):
        sample, whole = found[name, None], expected[name, None]
        assert sample.sampled
        assert not whole.sampled
        assert sample.attempts < whole.attempts
        assert "in a sample of" in sample.sentence
        assert sample.to_dict()["interval"][0] <= whole.share <= sample.to_dict()["interval"][1]
    for key in (("skewness", "job"), ("ruling_out", "job"), ("posterior", "job")):
        assert found[key].successes == expected[key].successes
        # Fewer rows deviate more from the mean, to which three deviations are added.
        assert expected[key].baseline - 0.05 < found[key].baseline < 2 * expected[key].baseline + 0.05
