"""Attribute inference by a model: what it learns about people in the release beyond people in general."""

import random
from typing import Any

import pandas
import pytest

from kanon_sql import Attacks, attack
from kanon_sql.attack import material, model_inference
from kanon_sql.resources import install_command


def tried(release: pandas.DataFrame, source: pandas.DataFrame, **more: Any) -> Attacks:
    options = {"quasi_identifiers": ["place"], "sensitive": ["ill"], "only": ["model_inference"], **more}
    return attack(release, source=source, **options)


def people(seed: int, rows: int, places: int) -> pandas.DataFrame:
    draw = random.Random(seed)
    return pandas.DataFrame({"place": [str(i % places) for i in range(rows)], "ill": draw.choices("xyz", k=rows)})


def test_unique_people_are_memorized_by_the_model() -> None:
    source = people(1, 90, 90)
    (outcome,) = tried(source, source).outcomes
    assert (outcome.attempts, outcome.affected, outcome.share) == (90, 90, 1)
    assert outcome.control < 0.6  # one in three, of people whom nothing tells apart
    assert outcome.excess > 0.4
    assert "the right ill for 100.0% of 90 rows" in outcome.sentence


def test_knowledge_from_other_people_is_not_a_persons_own_risk() -> None:
    """Whoever lives in a place has what all have there, in the release or not."""
    source = pandas.DataFrame({"place": [str(i % 5) for i in range(100)], "ill": ["vwxyz"[i % 5] for i in range(100)]})
    (outcome,) = tried(source, source).outcomes
    assert (outcome.share, outcome.control, outcome.excess) == (1, 1, 0)
    assert outcome.baseline == 0.2


@pytest.mark.parametrize("seed", range(2))
def test_nothing_is_learned_from_large_classes_of_random_values(seed: int) -> None:
    source = people(seed, 600, 2)
    (outcome,) = tried(source, source, seed=seed).outcomes
    assert outcome.excess == 0


def test_the_source_determines_the_right_answers() -> None:
    source = people(1, 30, 30)
    (outcome,) = tried(source.assign(ill="q"), source).outcomes
    assert outcome.affected == 0
    assert tried(source, source[["place"]]).outcomes == ()


def test_too_many_values_are_noted_and_not_learned() -> None:
    source = people(1, 150, 3).assign(ill=range(150))
    result = tried(source, source)
    assert result.outcomes == ()
    assert result.notes == ("ill has 150 values, too many for a model to guess",)


def test_null_is_a_value_and_a_place() -> None:
    source = pandas.DataFrame({"place": ["a", None, "b"], "ill": [None, "x", "y"]})
    (outcome,) = tried(source, source).outcomes
    assert outcome.affected == 3


def test_without_scikit_learn_the_result_names_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(material, "find_spec", lambda _: None)
    source = people(1, 9, 3)
    result = tried(source, source)
    assert result.outcomes == ()
    assert dict(result.skipped)["model_inference"] == f"scikit-learn; run: {install_command('utility')}"


def test_every_record_is_left_out_of_one_model() -> None:
    for row in range(7):
        for n in range(12):
            places = [(row + place) % 5 for place in range(1, n + 1)]
            assert [model_inference._in_part(row, n, part) for part in range(5)] == [places.count(p) for p in range(5)]
