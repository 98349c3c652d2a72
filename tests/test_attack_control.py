"""Attacks on a control of people who are not in the release: against brute force and planted cases."""

import json
import random
from collections import Counter
from math import sqrt
from pathlib import Path
from typing import Any

import pandas
import pytest

from kanon_sql import KanonError, attack
from kanon_sql.attack import Control, Outcome, interval
from support.command_line import done, kanon

NAMES = ["age", "zip"]
TRIED = "singling_out,linkability,inference,linkage"


def people_of(draw: random.Random, rows: int, ill: str = "xyz", first: int = 0) -> pandas.DataFrame:
    drawn = [(first + i, draw.randint(20, 49), draw.choice(["11", "12", "21"]), draw.choice(ill)) for i in range(rows)]
    return pandas.DataFrame(drawn, columns=["person", *NAMES, "ill"])


def released(source: pandas.DataFrame, width: int = 10) -> pandas.DataFrame:
    low = source["age"] // width * width
    labels = "[" + low.astype(str) + ", " + (low + width).astype(str) + ")"
    return pandas.DataFrame({"age": labels, "zip": source["zip"].str[0] + "*", "ill": source["ill"]})


def tried(release: pandas.DataFrame, only: str = TRIED, **more: Any) -> dict[str, Outcome]:
    options = {"quasi_identifiers": NAMES, "sensitive": ["ill"], "only": only.split(","), **more}
    return {outcome.name: outcome for outcome in attack(release, **options).outcomes}


def of_control(outcome: Outcome) -> Control:
    assert outcome.on_control is not None
    return outcome.on_control


@pytest.mark.slow
def test_the_control_is_attacked_as_by_hand() -> None:
    draw = random.Random(3)
    source, control = people_of(draw, 40), people_of(draw, 25, first=100)
    control.loc[0, "age"] = 95  # fits no record
    release, strangers = released(source), released(control)
    found = tried(release, f"{TRIED},model_inference", source=source, auxiliary=source[NAMES], control=control)
    guessed = halves = linked = 0.0
    commonest = release["ill"].value_counts().max() / 40
    for row in strangers.itertuples(index=False):
        one, other = release["age"] == row.age, release["zip"] == row.zip
        values = Counter(release[one & other]["ill"])
        most = [value for value, n in values.items() if n == max(values.values())]
        guessed += (row.ill in most) / len(most) if values else commonest
        halves += (one & other).sum() / one.sum() / other.sum() if values else 0
        linked += 1 / (one & other).sum() if values else 0
    assert 0 < guessed < 25
    assert of_control(found["inference"]) == Control(25, round(guessed))
    assert of_control(found["linkability"]) == Control(25, round(halves))
    assert of_control(found["linkage"]) == Control(25, round(linked))
    assert of_control(found["model_inference"]).attempts == 25
    counted = strangers.value_counts()
    alone = sum(counted.get(row) == 1 for row, n in release.value_counts().items() if n == 1)
    assert of_control(found["singling_out"]) == Control(40, alone)
    assert found["linkage_of_records"].on_control is None


def test_similar_strangers_leave_no_excess_over_the_control() -> None:
    draw = random.Random(1)
    source, control = people_of(draw, 300), people_of(draw, 300, first=1000)
    release = released(source)
    for outcome in tried(release, source=source, auxiliary=source[NAMES], control=control).values():
        if outcome.on_control:
            low, high = outcome.above_control
            assert (outcome.excess, low < 0.03, high > -0.03) == (0, True, True), outcome.name


def test_people_unique_in_the_release_are_found_and_strangers_are_not() -> None:
    draw = random.Random(2)
    rows = [(i, 20 + i % 60, f"{i:03}", draw.choice("xyz")) for i in range(120)]
    people = pandas.DataFrame(rows, columns=["person", *NAMES, "ill"])
    source, control = people[:60], people[60:]
    release = source[[*NAMES, "ill"]].astype(str)
    found = tried(release, source=source, auxiliary=source[NAMES], control=control)
    for name in ("singling_out", "linkage"):
        assert (of_control(found[name]).successes, found[name].share, found[name].excess) == (0, 1, 1), name
    guess = found["inference"]  # nobody of the control fits: the most common value is guessed
    assert of_control(guess) == Control(60, round(60 * (guess.baseline or 0)))
    assert "On 60 rows of the control" in guess.sentence


def test_the_excess_over_the_control_has_an_interval_of_both() -> None:
    outcome = Outcome("x", "It is.", 100, 60, 60, baseline=0.1, control=0.2).with_control(Control(50, 20))
    figures = outcome.to_dict()
    (low, _), (_, high) = interval(60, 100), interval(20, 50)
    below = sqrt(((0.6 - low) / 0.6) ** 2 + (0.4 * (high - 0.4) / 0.6**2) ** 2)
    assert figures["control"] == 0.4
    assert figures["excess"] == pytest.approx((0.6 - 0.4) / 0.6)
    assert figures["control_rows"] == {
        "attempts": 50,
        "successes": 20,
        "share": 0.4,
        "interval": list(interval(20, 50)),
        "excess": pytest.approx(1 / 3),
        "excess_interval": [pytest.approx(1 / 3 - below), pytest.approx(outcome.above_control[1])],
        "without_own_record": 0.2,
    }
    assert figures["sentence"].startswith("It is. On 50 rows of the control, none of which are in the release, ")
    few = Outcome("x", "It is.", 100, 60, 60).with_control(Control(5, 2))
    assert few.above_control[0] < 0
    assert few.excess == 0
    assert Outcome("x", "", 10, 10, 10).with_control(Control(5, 5)).above_control == (0, 0)


def test_nothing_changes_without_a_control() -> None:
    source = people_of(random.Random(4), 30)
    for outcome in tried(released(source), source=source, auxiliary=source[NAMES]).values():
        assert outcome.on_control is None
        assert "control_rows" not in outcome.to_dict()
        assert "control" not in outcome.sentence


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"control": "nowhere.csv"}, "no file nowhere.csv"),
        ({"drop": "zip"}, "the control has no column 'zip'; it needs the columns of the source"),
        ({"drop": "ill"}, "the control has no column 'ill'; it needs the columns of the source"),
        ({"take": 0}, "the control has no rows; name people who are not in the release"),
        ({"source": None}, "also name their source, or an auxiliary table"),
    ],
    ids=["nowhere", "no zip", "no ill", "empty", "no source"],
)
def test_a_useless_control_is_refused(options: dict[str, Any], message: str) -> None:
    source = people_of(random.Random(5), 10)
    control = source.drop(columns=options.pop("drop", [])).head(options.pop("take", 9))
    with pytest.raises(KanonError, match=message):
        tried(released(source), **{"source": source, "control": control, **options})


def test_a_control_that_shares_rows_with_the_source_is_noted() -> None:
    source = people_of(random.Random(6), 20)
    other = people_of(random.Random(7), 20, first=100)
    release, options = released(source), {"quasi_identifiers": NAMES, "only": "inference", "source": source}
    both = pandas.concat([other, source.tail(3)])
    (note,) = attack(release, control=both, **options).notes
    assert note.startswith("3 rows of the control agree in all columns with a row of the source; if they are of people")
    assert attack(release, control=other, **options).notes == ()
    assert len(attack(release, control=both.assign(ill="q"), unit="person", **options).notes) == 1
    assert attack(release, control=source.assign(person=range(100, 120)), unit="person", **options).notes == ()


def test_the_command_line_shows_the_control_next_to_the_targets(tmp_path: Path) -> None:
    draw = random.Random(8)
    source, control = people_of(draw, 60), people_of(draw, 60, first=100)
    files = {name: tmp_path / f"{name}.csv" for name in ("release", "source", "control")}
    for name, rows in (("release", released(source)), ("source", source), ("control", control)):
        rows.to_csv(files[name], index=False)
    arguments = ["attack", files["release"], "--source", files["source"], "--quasi-identifiers", "age,zip"]
    arguments += ["--only", "inference,homogeneity"]
    shown, plain = kanon(*arguments, "--control", files["control"]).out, kanon(*arguments).out
    assert "of the control" in shown
    assert "of the control" not in plain
    result = json.loads(done(*arguments, "--control", files["control"], "--json"))
    assert [("control_rows" in item) for item in result["attacks"]] == [True, False]
    source.drop(columns="age").to_csv(files["control"], index=False)
    refused = kanon(*arguments, "--control", files["control"])
    assert refused.code == 2
    assert "the control has no column 'age'; it needs the columns of the source" in refused.err.replace("\n", " ")
