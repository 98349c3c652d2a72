"""Masking against the minimality attack: every world of a tiny table, samples of real data, and the written release."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pandas
import pytest

from kanon_sql import anonymize, attack, verify
from kanon_sql.engine import Engine
from kanon_sql.errors import InfeasibleError, SpecError, VerificationError
from kanon_sql.privacy import alpha, k_anonymity
from kanon_sql.release import minimality_mask
from support.data import DATA, needs_adult
from support.database import create_table

HALF = {"k": 2, "alpha_k": {"ill": {"alpha": 0.5, "value": "HIV"}}}
MASK = {**HALF, "minimality": "mask"}
WARDS = {"quasi_identifiers": {"ward": {"hierarchy": "suppress"}}, "sensitive": ["ill"], "suppression_limit": 0.0}
Dealing = tuple[int, ...]  # how many of the people of each ward have HIV


def wards(dealing: Dealing, sizes: Sequence[int] = (2, 2, 2, 2, 2), other: str = "flu") -> pandas.DataFrame:
    people = zip(dealing, sizes, strict=False)
    rows = [(f"w{i}", "HIV" if j < ill else other) for i, (ill, size) in enumerate(people) for j in range(size)]
    return pandas.DataFrame(rows, columns=["ward", "ill"])


def shown(dealing: Dealing, privacy: dict[str, Any], sizes: Sequence[int]) -> str | None:
    """What somebody sees of a world: the release and all that is said of it; None where there is no release."""
    try:
        release = anonymize(wards(dealing, sizes), {**WARDS, "privacy": privacy})
    except (InfeasibleError, SpecError):
        return None
    return json.dumps([release.to_df().values.tolist(), release.manifest.get("minimality")])


def beliefs(worlds: Mapping[Dealing, int], privacy: dict[str, Any], sizes: Sequence[int]) -> dict[str, list[Fraction]]:
    """What somebody who knows everybody's ward and the rules holds of each ward, by Bayes: the chance of HIV there."""
    seen: dict[str, Counter[Dealing]] = defaultdict(Counter)
    for dealing, weight in worlds.items():
        if what := shown(dealing, privacy, sizes):
            seen[what][dealing] += weight
    return {
        what: [
            sum((Fraction(dealing[ward], size) * n for dealing, n in of.items()), Fraction()) / of.total()
            for ward, size in enumerate(sizes)
        ]
        for what, of in seen.items()
    }


@pytest.mark.slow
def test_over_all_worlds_no_belief_exceeds_the_limit() -> None:
    """Two people in each of three wards: all 64 worlds, by how many of each ward are ill (one of two in two ways)."""
    worlds = {dealing: 2 ** dealing.count(1) for dealing in product(range(3), repeat=3)}
    of_all = beliefs(worlds, MASK, (2, 2, 2))
    assert len(of_all) == 8
    assert max(max(item) for item in of_all.values()) <= Fraction(1, 2)


def test_all_choices_of_classes_with_too_much_are_equally_likely() -> None:
    """Wards of other sizes, one of them ill: whichever it is, there is one release, and its manifest says no more.

    It is not the largest, which would be conspicuous without the value: that is refused.
    """
    worlds = {(2, 0, 0): 1, (0, 3, 0): 1, (0, 0, 9): 1}
    assert [*beliefs(worlds, MASK, (2, 3, 9)).values()] == [[Fraction(1, 2), Fraction(1, 2), 0]]
    with pytest.raises(InfeasibleError, match="conspicuous"):
        anonymize(wards((0, 0, 9), (2, 3, 9)), {**WARDS, "privacy": MASK})


def test_without_the_mask_the_two_people_of_the_paper_are_certain() -> None:
    """Two of seven people are ill: that their wards are not shown tells that they are the two of the first."""
    of_all = beliefs({(2, 0): 1, (1, 1): 10, (0, 2): 10}, HALF, (2, 5))
    assert [1, 0] in of_all.values()
    masked = beliefs({(2, 0, 0): 1}, MASK, (2, 5, 3))
    assert "*" not in next(iter(masked))


SEVERAL = pandas.DataFrame(
    [(f"w{i}", "HIV", 1) for i in (0, 0, 1)]
    + [("w0", "flu", 2), ("w1", "gout", 3), ("w1", None, 4)]
    + [(f"w{i}", ill, i) for i in range(2, 6) for ill in ("flu", "gout", "acne")],
    columns=["ward", "ill", "n"],
)


def several(target: Path, **more: Any) -> Any:
    return anonymize(SEVERAL, {**WARDS, "keep": ["n"], "privacy": MASK, **more}, output=target, overwrite=True)


@pytest.mark.parametrize("strategy", ["auto", "mondrian"])
def test_the_written_release_is_safe_and_only_the_value_was_changed(tmp_path: Path, strategy: str) -> None:
    (tmp_path / "secret").write_text("a secret of many letters")
    more = {"secret": str(tmp_path / "secret"), "strategy": strategy}
    release = several(tmp_path / "out.csv", **more)
    rows = release.to_df()
    counted = rows.groupby("ward")["ill"].agg([len, lambda ill: (ill == "HIV").sum()])
    assert counted.values.tolist() == [[3, 0], [3, 1], *[[3, 0]] * 4]
    drawn = rows[(rows["ward"] == "w0") & (rows["n"].astype(int) == 1)]
    assert set(drawn["ill"].dropna()) <= {"flu", "gout", "acne"}
    others = ~((SEVERAL["ward"] == "w0") & (SEVERAL["ill"] == "HIV"))
    assert texts(rows.drop(drawn.index)) == texts(SEVERAL[others])
    assert several(tmp_path / "again.csv", **more).to_df().equals(rows), "the same secret, the same values"
    options = {"quasi_identifiers": ["ward"], "k": 2, "alpha_k": HALF["alpha_k"]}
    assert verify(tmp_path / "out.csv", against=SEVERAL, **options)
    assert release.verify()


def texts(rows: pandas.DataFrame) -> list[list[str]]:
    return sorted([str(cell) for cell in row] for row in rows.fillna("NULL").values.tolist())


def test_the_manifest_reports_the_loss_but_not_the_classes(tmp_path: Path) -> None:
    release = several(tmp_path / "out.parquet")
    minimality = release.manifest["minimality"]
    assert minimality == {
        "method": "mask",
        "columns": [{"column": "ill", "required": 0.5, "classes": 1, "alike": 5, "rows_alike": 15}],
        "reproducible": False,
    }
    assert release.manifest["privacy"][-1] == {"model": "redrawn of ill = HIV", "required": 0.5, "achieved": 0.25}
    assert [warning for warning in release.manifest["warnings"] if "'ill' is not exact" in warning]
    assert [warning for warning in release.manifest["warnings"] if "set a secret" in warning]


def test_too_few_classes_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(InfeasibleError, match=r"2 classes do not meet .* and 1 have none of the value: too few"):
        anonymize(wards((2, 2, 0)), {**WARDS, "privacy": MASK}, output=tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([k_anonymity(2)], "no model names one"),
        ([k_anonymity(2), alpha("ill", 0.5)], "α of ill is about all values"),
        ([alpha("ill", 0.5, "HIV"), alpha("ill", 0.5, "flu")], "'ill' has two"),
    ],
)
def test_models_given_in_python_are_refused_by_name(models: list[Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        anonymize(wards((2, 0, 0)), WARDS, privacy=models, minimality="mask")


def test_a_value_that_does_not_occur_is_refused() -> None:
    with pytest.raises(SpecError, match="nothing to hide"):
        anonymize(wards((0, 0, 0)), {**WARDS, "privacy": MASK})


def test_a_staged_release_without_its_lookalikes_is_not_published(tmp_path: Path, monkeypatch: Any) -> None:
    """What was planned is not believed: the staged file is asked how many classes show none of the value."""
    mask = minimality_mask.mask

    def spoilt(recoding: Any) -> Any:
        query, redrawn = mask(recoding)
        return query.replace("ORDER BY", "WHERE ward IN ('w0', 'w1') ORDER BY"), redrawn

    monkeypatch.setattr(minimality_mask, "mask", spoilt)
    with pytest.raises(VerificationError):
        several(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_a_table_of_an_engine_is_masked_in_the_same_way(engine: Engine) -> None:
    rows = SEVERAL.astype(object).where(SEVERAL.notna(), None).values.tolist()
    create_table(engine, "wards", {"ward": "VARCHAR", "ill": "VARCHAR", "n": "INTEGER"}, rows)
    released = anonymize("wards", {**WARDS, "keep": ["n"], "privacy": MASK}, connection=engine.connection, into="kept")
    assert released.manifest["minimality"]["columns"][0]["classes"] == 1
    assert released.verify()


def test_a_choice_by_sensitive_values_gives_a_warning() -> None:
    source = wards((2, 0, 0))
    plain = anonymize(source, {**WARDS, "privacy": HALF}).manifest
    masked = anonymize(source, {**WARDS, "privacy": MASK}).manifest
    needless = anonymize(wards((1, 0, 1)), {**WARDS, "privacy": HALF}).manifest
    of_k = anonymize(source, {**WARDS, "privacy": {"k": 3}}).manifest
    assert [item["chosen_by_values"] for item in (plain, masked, needless, of_k)] == [True, False, False, False]
    assert [w for w in plain["warnings"] if "kanon attack --only minimality" in w and 'minimality="mask"' in w]
    assert not [w for item in (masked, needless, of_k) for w in item["warnings"] if "--only minimality" in w]


SEEDS = (3, 7, 9)  # of the five of twelve that fall


@needs_adult
@pytest.mark.slow
def test_samples_of_adult_are_vulnerable_only_without_the_mask() -> None:
    """One of them has no class that could hide another, and is refused."""
    columns = ["sex", "race", "marital-status"]
    adult = pandas.read_csv(DATA / "adult" / "adult.csv", sep=";")[[*columns, "salary-class"]]
    of = {"alpha_k": {"salary-class": {"alpha": 0.5, "value": ">50K"}}, "k": 2}
    base = {"quasi_identifiers": columns, "hierarchies": str(DATA / "adult" / "hierarchies"), "suppression_limit": 0.0}
    fallen = {}
    for seed in SEEDS:
        sample = adult.sample(60, random_state=seed).reset_index(drop=True)
        for mask in ({}, {"minimality": "mask"}):
            options = {**base, "privacy": {**of, **mask}}
            try:
                release = anonymize(sample, options)
            except InfeasibleError:
                fallen[seed, bool(mask)] = -1
                continue
            (outcome,) = attack(release.to_df(), source=sample, spec=options, only=["minimality"]).outcomes
            fallen[seed, bool(mask)] = outcome.affected
    assert [fallen[seed, False] for seed in SEEDS] == [13, 20, 18]
    assert [fallen[seed, True] for seed in SEEDS] == [0, -1, 0]


SHOWN = {
    "zip": lambda value, level: value[: 2 - level] + "*" * level if level < 2 else "*",
    "age": lambda value, level: value[: 2 - level] + "*" * level if level < 2 else "*",
    "sex": lambda value, level: "*" if level else value,
}
MANY_NODES = {
    "quasi_identifiers": {
        "zip": {"hierarchy": {"redact": "right"}},
        "age": {"hierarchy": {"redact": "right"}},
        "sex": {"hierarchy": "suppress"},
    },
    "sensitive": ["ill"],
}


def visits(draw: Random, people: int) -> pandas.DataFrame:
    """One to three rows of every person, not all of them alike."""
    rows = []
    for person in range(people):
        home, age, sex = draw.choice(["11", "12", "21"]), draw.choice(["30", "31", "45"]), draw.choice("fm")
        for _ in range(draw.choice([1, 1, 2, 3])):
            moved = draw.choice(["11", "12", "21"]) if draw.random() < 0.2 else home
            rows.append((moved, age, sex, draw.choice(["flu"] * 4 + ["HIV"]), f"p{person}"))
    return pandas.DataFrame(rows, columns=["zip", "age", "sex", "ill", "person"])


def only_values_fail(rows: pandas.DataFrame, levels: Sequence[int], counted: str, sizes: Mapping[str, int]) -> bool:
    """Whether a node is refused by the number of values of its classes alone; `counted`: rows or people."""
    classes: dict[tuple[str, ...], list[Any]] = defaultdict(list)
    population: Counter[tuple[str, ...]] = Counter()
    for row in rows.itertuples():
        key = tuple(SHOWN[name](getattr(row, name), level) for name, level in zip(SHOWN, levels, strict=True))
        population[key] += 1
        if row.in_sample:
            classes[key].append(row)
    without = with_values = 0
    for key, of_class in classes.items():
        size = len({row.person for row in of_class}) if counted == "people" else len(of_class)
        alone = size >= sizes["k"] and population[key] >= sizes["k_map"]
        without += 0 if alone else len(of_class)
        with_values += 0 if alone and len({row.ill for row in of_class}) >= sizes["l"] else len(of_class)
    return without <= sizes["allowed"] < with_values


SAMPLES = {
    "rows": (1, 3, 34),
    "people": (0, 9, 1),
    "population": (0, 2, 4),
}  # a lower node only scores worse in 1 and 3


@pytest.mark.slow
@pytest.mark.parametrize("counted", SAMPLES)
def test_a_choice_by_sensitive_values_is_recognized_by_brute_force(tmp_path: Path, counted: str) -> None:
    """Every node one level lower is judged row by row, with and without the model of the values."""
    outcomes: Counter[bool] = Counter()
    for seed in SAMPLES[counted]:
        draw = Random(seed)
        everybody = visits(draw, 40)
        in_sample = [counted != "population" or draw.random() < 0.5 for _ in range(len(everybody))]
        everybody["in_sample"] = in_sample
        sample = everybody[everybody["in_sample"]].drop(columns="in_sample")
        limit = draw.choice([0.0, 0.1, 0.3])
        options = {"k": draw.choice([2, 3]), "l": 2, "k_map": 1, "allowed": int(Fraction(str(limit)) * len(sample))}
        privacy: dict[str, Any] = {"k": options["k"], "l_diversity": {"ill": 2}}
        if counted == "population":
            options["k_map"] = draw.choice([4, 8])
            everybody.drop(columns=["ill", "in_sample"]).to_csv(tmp_path / "voters.csv", index=False)
            privacy["k_map"] = {"k": options["k_map"], "population": str(tmp_path / "voters.csv")}
        more = {"unit": "person"} if counted == "people" else {"identifiers": ["person"]}
        spec = {**MANY_NODES, "suppression_limit": limit, **more, "metric": draw.choice(["loss", "discernibility"])}
        try:
            manifest = anonymize(sample, spec, privacy=privacy).manifest
        except InfeasibleError:
            continue
        node = list(manifest["node"].values())
        lower = [[*node[:i], level - 1, *node[i + 1 :]] for i, level in enumerate(node) if level]
        expected = any(only_values_fail(everybody, item, counted, options) for item in lower)
        assert manifest["chosen_by_values"] == expected, (seed, node)
        assert bool([w for w in manifest["warnings"] if "--only minimality" in w]) == expected
        outcomes[expected] += 1
    assert len(outcomes) == 2, "both happen"
