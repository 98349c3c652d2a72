"""The verb and the command for attacks: their options, errors and output; homogeneity."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest
import yaml

import kanon_sql
from kanon_sql import Attacks, anonymize, attack
from kanon_sql.attack import ATTACKS
from kanon_sql.errors import KanonError, SourceError, SpecError
from kanon_sql.plan.observer import Observer
from support.command_line import ASK, done, kanon

RELEASE = pandas.DataFrame({"zip": ["1*", "1*", "2*", "2*"], "age": ["[20, 30)"] * 4, "ill": list("xxyz")})
SOURCE = pandas.DataFrame({"zip": ["11", "12", "21", "22"], "age": [21, 22, 23, 24], "ill": list("xxyz")})


def homogeneity(release: Any = RELEASE, *others: Any, **more: Any) -> Attacks:
    options = {"quasi_identifiers": ["zip"], "sensitive": ["ill"], "only": ["homogeneity"], **more}
    return attack(release, *others, **options)


def found(tried: Attacks) -> list[tuple[str | None, int, int]]:
    return [(outcome.column, outcome.affected, outcome.attempts) for outcome in tried.outcomes]


def test_the_verb_stays_the_verb_when_its_package_is_imported() -> None:
    assert callable(kanon_sql.attack)
    assert ATTACKS[0].name == "homogeneity"


@pytest.mark.nightly
def test_findings_of_an_attack_can_be_requested_by_name() -> None:
    more = {"source": SOURCE, "auxiliary": SOURCE, "previous": RELEASE}
    names = {outcome.name for outcome in homogeneity(**more, only=None).outcomes}
    assert {"ruling_out", "exclusion", "linkage_of_records", "unsorted_matching", "intersection"} <= names
    for name in ("posterior", "intersection"):
        assert name in {outcome.name for outcome in homogeneity(**more, only=[name]).outcomes}


# Homogeneity


def test_homogeneity_finds_the_people_of_classes_with_one_value() -> None:
    (outcome,) = homogeneity().outcomes
    assert (outcome.affected, outcome.attempts, outcome.figures["classes"]) == (2, 4, 1)
    # Two classes of two: x x by 1/2 · 1/2, y and z by 1/4 · 1/4 each.
    assert outcome.baseline == pytest.approx(1 / 4 + 2 / 16)


def test_null_is_a_label_and_a_value() -> None:
    release = pandas.DataFrame({"zip": [None, None, "1", "1"], "ill": [None, None, None, "x"]})
    assert found(homogeneity(release)) == [("ill", 2, 4)]


@pytest.mark.parametrize("seed", range(3))
def test_homogeneity_by_chance_is_not_a_finding(seed: int) -> None:
    draw = random.Random(seed)
    rows = [(str(i // 3), draw.choice("xxxy")) for i in range(900)]
    assert homogeneity(pandas.DataFrame(rows, columns=["zip", "ill"])).worst == 0


def test_people_are_counted_by_unit_if_the_release_has_it() -> None:
    release = RELEASE.assign(person=["a", "a", "b", "c"])
    (outcome,) = homogeneity(release, unit="person").outcomes
    assert (outcome.affected, outcome.attempts, outcome.counted) == (1, 3, "people")
    assert outcome.sentence.startswith("1 of 3 people")


def test_rows_are_called_rows_if_only_the_source_has_the_unit() -> None:
    (outcome,) = homogeneity(source=SOURCE.assign(person=list("aabc")), unit="person").outcomes
    assert (outcome.affected, outcome.attempts, outcome.counted) == (2, 4, "rows")
    assert outcome.sentence.startswith("2 of 4 rows")


def test_every_attack_states_what_it_counts() -> None:
    """People only where they were drawn from a table that tells them apart; never more of them than there are."""
    source = SOURCE.assign(person=list("aabc"))
    only = ["homogeneity", "background", "skewness", "inference", "linkage", "singling_out", "intersection", "order"]
    options: dict[str, Any] = {"quasi_identifiers": ["zip"], "sensitive": ["ill"], "only": only, "previous": RELEASE}
    by_rows = attack(RELEASE, source=SOURCE, auxiliary=SOURCE, **options)
    assert {outcome.counted for outcome in by_rows.outcomes} == {"rows"}
    assert not [outcome.sentence for outcome in by_rows.outcomes if "people" in outcome.sentence]
    tried = attack(RELEASE, source=source, auxiliary=source, unit="person", attempts=2, **options)
    known = {outcome.name: outcome for outcome in tried.outcomes}
    of_people = {"inference", "linkage", "intersection", "composition"}
    assert {name for name, item in known.items() if item.counted == "people"} == of_people
    assert all(known[name].affected <= 3 for name in of_people)
    assert "of 2 people" in known["inference"].sentence
    assert {item["counted"] for item in tried.to_dict()["attacks"]} == {"rows", "people"}


# Targets of attacks


def test_every_released_column_is_attacked_unless_some_are_named() -> None:
    assert found(homogeneity(sensitive=None)) == [("age", 4, 4), ("ill", 2, 4)]
    named = homogeneity(
        RELEASE.assign(person=range(4)), sensitive=None, unit="person", quasi_identifiers=["zip", "age"]
    )
    assert [outcome.column for outcome in named.outcomes] == ["ill"]


@pytest.mark.parametrize("bounds", [{"age_min": [1, 1, 5, 5], "age_max": [4, 4, 9, 9]}, {"age": [1, 1, 5, 5]}])
def test_a_quasi_identifier_can_be_shown_by_its_bounds(bounds: dict[str, list[int]]) -> None:
    release = pandas.DataFrame({**bounds, "ill": list("xxyz")})
    assert found(homogeneity(release, quasi_identifiers=["age"])) == [("ill", 2, 4)]


def test_a_release_of_nothing_but_quasi_identifiers_has_no_sensitive_column() -> None:
    tried = attack(RELEASE[["zip"]], quasi_identifiers=["zip"], only=["homogeneity"])
    assert tried.outcomes == ()
    assert dict(tried.skipped)["homogeneity"].startswith("a sensitive column")


def test_odd_names_and_types_are_released(tmp_path: Path) -> None:
    days = pandas.to_datetime(["2020-01-01"] * 3)
    release = pandas.DataFrame({'a "b"; c': [1.5, 1.5, None], "c0": [True, True, False], "row_id": days})
    release.to_parquet(tmp_path / "r.parquet")
    for given in (release, tmp_path / "r.parquet", str(tmp_path / "r.parquet")):
        tried = attack(given, quasi_identifiers=['a "b"; c', "row_id"], only="homogeneity")
        assert found(tried) == [("c0", 3, 3)]


SPEC: dict[str, Any] = {
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [10]}}, "zip": {"hierarchy": {"redact": "right"}}},
    "sensitive": ["ill"],
    "privacy": {"k": 2},
}


def test_a_spec_names_its_source_and_its_release(tmp_path: Path) -> None:
    SOURCE.to_csv(tmp_path / "people.csv", index=False)
    spec = {**SPEC, "source": str(tmp_path / "people.csv"), "target": {"file": str(tmp_path / "released.csv")}}
    anonymize(spec=spec)
    (tmp_path / "release.yml").write_text(yaml.safe_dump(spec))
    for given in (spec, tmp_path / "release.yml", kanon_sql.Spec(**spec)):
        tried = attack(spec=given, only=["homogeneity"])
        assert tried.release == str(tmp_path / "released.csv")
        assert (tried.quasi_identifiers, tried.sensitive) == (("age", "zip"), ("ill",))
        assert tried.outcomes[0].attempts == 4
    assert attack(RELEASE, spec=SPEC, only=["homogeneity"]).release == "in memory"


def test_a_release_can_be_a_table_next_to_its_source(database: str) -> None:
    arguments = ["--quasi-identifiers", "age,zip", "--sensitive", "disease", "--only", "homogeneity", "--json"]
    done("anonymize", "people", *ASK, "--k", 5, "--database", database, "--into", "released")
    result = json.loads(done("attack", "released", "--database", database, "--source", "people", *arguments))
    (outcome,) = result["attacks"]
    assert (result["release"], outcome["attempts"]) == ("released", 120)


# Refusals


@pytest.mark.parametrize(
    ("release", "options", "message"),
    [
        (RELEASE, {"quasi_identifiers": None}, "quasi_identifiers is missing"),
        (RELEASE, {"quasi_identifiers": []}, "give one or more column names"),
        (RELEASE, {"quasi_identifiers": ["zip", "zap"]}, "the release has no column 'zap'"),
        (RELEASE, {"sensitive": ["sick"]}, "the release has no column 'sick'; name sensitive columns"),
        (RELEASE, {"sensitive": ["zip"]}, "keep it in one of them"),
        (RELEASE, {"source": SOURCE[["ill"]]}, "the source has no column 'zip'"),
        (RELEASE, {"auxiliary": SOURCE[["ill"]]}, "the auxiliary table has no column 'zip'"),
        (RELEASE, {"previous": RELEASE[["ill"]]}, "the previous release has no column 'zip'"),
        (RELEASE, {"only": ["homogenity"]}, "there is no attack 'homogenity'; choose among homogeneity"),
        (RELEASE, {"attempts": 0}, "attempts is 0"),
        (RELEASE, {"source": SOURCE, "unit": "person"}, "no table has a column 'person'"),
        (RELEASE, {"quasi_identifier": ["zip"]}, "no option 'quasi_identifier'"),
        (RELEASE[:0], {}, "in memory has no rows"),
        ("nowhere.csv", {}, "there is no file nowhere.csv"),
        (None, {}, "name one, or a spec with a target"),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, str) else "",
)
def test_impossible_attacks_are_refused(release: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(KanonError, match=message):
        homogeneity(release, **options)


def test_another_release_of_another_table_is_refused() -> None:
    with pytest.raises(SpecError, match="another release has no column 'zip'"):
        homogeneity(RELEASE, RELEASE[["ill"]])


def test_a_source_can_lack_some_of_the_quasi_identifiers() -> None:
    assert found(homogeneity(source=SOURCE[["zip"]], quasi_identifiers=["zip", "age"])) == [("ill", 2, 4)]


def test_a_failed_attack_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    from kanon_sql.engines import scratch

    def fails(*_: Any) -> Iterator[Any]:
        raise SourceError("no")
        yield

    broken = kanon_sql.verbs.attack.ATTACKS[0].__class__("broken", "…", fails)
    monkeypatch.setattr("kanon_sql.verbs.attack.ATTACKS", (broken,))
    before = set(scratch._TAKEN)
    with pytest.raises(SourceError, match="no"):
        attack(RELEASE, quasi_identifiers=["zip"])
    assert before == scratch._TAKEN


# Messages


def test_a_result_has_no_value_of_a_person() -> None:
    tried = homogeneity()
    assert tried.to_dict()["attacks"][0].keys() >= {
        "name",
        "affected",
        "counted",
        "share",
        "baseline",
        "interval",
        "control",
    }
    assert "homogeneity" in str(tried)
    assert tried.to_df()[["name", "affected"]].values.tolist() == [["homogeneity", 2]]
    assert not {"1*", "[20, 30)"} & set(json.dumps(tried.to_dict()).split('"'))


def test_progress_names_the_running_attack() -> None:
    stages: list[str] = []
    homogeneity(observer=Observer(stages.append))
    assert stages == ["Reading", "Trying homogeneity"]


def test_the_command_describes_every_attack_in_a_sentence(folder: Path) -> None:
    RELEASE.to_csv(folder / "released.csv", index=False)
    arguments = ("attack", "released.csv", "--quasi-identifiers", "zip", "--sensitive", "ill", "--only", "homogeneity")
    output = done(*arguments)
    assert "2 of 4 rows are in 1 classes with a single value of ill" in output
    assert "To avoid it" not in output  # it is what chance gives
    result = json.loads(done(*arguments, "--json"))
    (outcome,) = result["attacks"]
    assert {"name": "homogeneity", "affected": 2, "counted": "rows", "share": 0.5}.items() <= outcome.items()
    skipped = done("attack", "released.csv", "--quasi-identifiers", "zip,age,ill", "--only", "homogeneity")
    assert "Not run: homogeneity; it needs a sensitive column" in skipped


def test_the_command_fails_above_a_limit(folder: Path) -> None:
    rows = [(str(i // 5), "xy"[i // 5 % 2]) for i in range(100)]
    pandas.DataFrame(rows, columns=["zip", "ill"]).to_csv(folder / "bare.csv", index=False)
    arguments = ("attack", "bare.csv", "--quasi-identifiers", "zip", "--only", "homogeneity")
    assert "To avoid it" in done(*arguments)
    assert kanon(*arguments, "--fail-above", 0.5).code == 1
    assert kanon(*arguments, "--fail-above", 0.5, "--json").code == 1
    assert kanon(*arguments, "--fail-above", 1).code == 0
    assert kanon(*arguments, "--fail-above", 2).code == 2
    refused = kanon("attack", "bare.csv", "--quasi-identifiers", "zap")
    assert (refused.code, "no column 'zap'" in refused.err) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_skewness_similarity_and_baselines_count_people_with_a_released_unit(seed: int) -> None:
    """By brute force: shares are of the people of a class and of the release, and everybody is counted once."""
    draw = random.Random(seed)
    rows = [(str(draw.randrange(8)), draw.randrange(1, 12), draw.randrange(40)) for _ in range(90)]
    rows += [("8", draw.choice([20, 21]), 3) for _ in range(30)]  # one person, whose rows are a quarter of all
    release = pandas.DataFrame(rows, columns=["zip", "pay", "person"])
    options: dict[str, Any] = {"quasi_identifiers": ["zip"], "sensitive": ["pay"], "unit": "person"}
    tried = attack(release, source=release, only=["skewness", "similarity", "inference"], **options)
    found = {outcome.name: outcome for outcome in tried.outcomes}
    everybody = {person for *_, person in rows}
    having = {pay: {p for _, value, p in rows if value == pay} for _, pay, _ in rows}
    held = {place: {(pay, p) for label, pay, p in rows if label == place} for place, *_ in rows}
    skewed, near = set[int](), set[int]()
    for of_class in held.values():
        people = {person for _, person in of_class}
        values = {pay for pay, _ in of_class}
        for pay in values:
            share, prior = sum(value == pay for value, _ in of_class) / len(people), len(having[pay]) / len(everybody)
            skewed |= people if share >= 2 * prior and share - prior >= 0.1 else set()
        within = [pay for pairs in held.values() for pay, _ in pairs if min(values) <= pay <= max(values)]
        near |= people if len(values) > 1 and len(within) <= sum(map(len, held.values())) // 3 else set()
    assert (found["skewness"].affected, found["skewness"].counted) == (len(skewed), "people")
    assert found["skewness"].attempts == len(everybody) < len(rows)
    assert (found["similarity"].affected, found["similarity"].counted) == (len(near), "people")
    assert near
    assert found["inference"].baseline == max(map(len, having.values())) / len(everybody)
