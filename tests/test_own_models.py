"""The user's own privacy models that count a dropped column, or declare something wrong about themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.errors import InfeasibleError, SpecError, VerificationError
from kanon_sql.privacy import PrivacyModel, ReleaseModel, k_anonymity
from support.database import create_table

HOSPITALS = PrivacyModel(
    "hospitals",
    {"least": 3},
    columns={"values": "COUNT(c)"},
    safe="values >= $least",
    sensitive="hospital",
    monotone="always",
    achieved="MIN(values)",
    released=False,
)
PRIVACY = [k_anonymity(4), HOSPITALS]
TYPES = {
    "row": "INTEGER",
    "age": "INTEGER",
    "zip": "VARCHAR",
    "ill": "VARCHAR",
    "hospital": "VARCHAR",
    "who": "INTEGER",
}
SPEC: dict[str, Any] = {
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [5, 10, 20]}}, "zip": {"hierarchy": {"redact": "right"}}},
    "keep": ["ill", "row"],
    "suppression_limit": 0.2,
}
NUMBERS = count()


def rows(seed: int = 1, many: int = 160) -> list[tuple[Any, ...]]:
    """People of hospitals that depend on where they live, so that near rows are alike."""
    draw = Random(seed)
    created = []
    for row in range(many):
        age, code = draw.randint(20, 59), draw.choice(["12", "13", "21", "22"])
        hospital = draw.choice(["h1", "h2"]) if draw.random() < 0.7 and code[0] == "1" else f"h{draw.randint(1, 6)}"
        created.append((row, age, code, draw.choice("abc"), hospital, row // 2))
    return created


def fewest(released: Any, of: list[tuple[Any, ...]]) -> tuple[int, int]:
    """The fewest different hospitals and the fewest rows of a class, by the rows' own numbers."""
    hospital = {row: item for row, _, _, _, item, _ in of}
    classes: dict[Any, list[str]] = defaultdict(list)
    for row, *shown in released:
        classes[tuple(shown)].append(hospital[row])
    assert classes
    return min(len(set(class_)) for class_ in classes.values()), min(map(len, classes.values()))


def read(engine: Engine, table: str) -> list[tuple[Any, ...]]:
    found = engine.find(table)
    assert found
    names = [column.name for column in found.columns]
    assert "hospital" not in names
    shown = [names.index(name) for name in names if name.startswith(("row", "age", "zip"))]
    shown.sort(key=lambda place: names[place] != "row")
    return [
        tuple(row[place] for place in shown) for row in engine.rows(queries.select_all(found.relation, engine.dialect))
    ]


@pytest.fixture
def patients(engine: Engine) -> str:
    name = f"patients_{next(NUMBERS)}"
    create_table(engine, name, TYPES, rows())
    return name


STRATEGIES = {
    "always": ["exhaustive", "mondrian", "kaca"],
    "never": ["auto", "refine"],
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("monotone", "strategy"), [(reported, name) for reported, names in STRATEGIES.items() for name in names]
)
@pytest.mark.sampled
def test_every_class_has_three_unreleased_hospitals(
    engine: Engine, patients: str, strategy: str, monotone: Any
) -> None:
    options: dict[str, Any] = {"privacy": [k_anonymity(4), replace(HOSPITALS, monotone=monotone)], "strategy": strategy}
    release = kanon_sql.anonymize(patients, SPEC, connection=engine.connection, into=f"{patients}_anon", **options)
    least, smallest = fewest(read(engine, f"{patients}_anon"), rows())
    assert least >= 3
    assert smallest >= 4
    assert release.manifest["privacy"][1] == {"model": "hospitals", "required": 3, "achieved": least}
    assert "hospital" in release.manifest["roles"]["identifiers_dropped"]
    assert release.verify().holds


def test_without_the_model_some_class_has_fewer(engine: Engine, patients: str) -> None:
    kanon_sql.anonymize(
        patients, SPEC, privacy=[k_anonymity(4)], strategy="refine", connection=engine.connection, into=f"{patients}_k"
    )
    assert fewest(read(engine, f"{patients}_k"), rows())[0] < 3


@pytest.mark.parametrize("strategy", ["auto", "mondrian"])
def test_a_view_counts_them_again(engine: Engine, patients: str, strategy: str) -> None:
    if not engine.has_transactions:
        pytest.skip("a view is made in one step there")
    view, options = f"{patients}_view", {"privacy": PRIVACY, "strategy": strategy, "form": "view"}
    release = kanon_sql.anonymize(patients, SPEC, connection=engine.connection, into=view, **options)
    before = read(engine, view)
    engine.run(f"UPDATE {patients} SET hospital = 'h1' WHERE age < 35")
    after, moved = read(engine, view), [(*row[:4], "h1" if row[1] < 35 else row[4], row[5]) for row in rows()]
    assert fewest(before, moved)[0] < 3 <= fewest(after, moved)[0]
    assert len(after) < len(before)
    assert release.verify().holds


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("strategy", ["auto", "kaca"])
@pytest.mark.sampled
def test_a_file_is_verified_against_its_source_and_not_alone(tmp_path: Path, ending: str, strategy: str) -> None:
    people, file = pandas.DataFrame(rows(), columns=list(TYPES)), tmp_path / f"released.{ending}"
    kanon_sql.anonymize(people, SPEC, privacy=PRIVACY, strategy=strategy, output=file)
    assert kanon_sql.verify(file, SPEC, privacy=PRIVACY, against=people).holds
    alike = people.assign(hospital="h1")
    found = kanon_sql.verify(file, SPEC, privacy=PRIVACY, against=alike)
    assert (found.holds, found.summary and found.summary.findings[1].achieved) == (False, 1)
    with pytest.raises(SpecError, match="hospitals counts the values of 'hospital', which the release does not have"):
        kanon_sql.verify(file, SPEC, privacy=PRIVACY)
    with pytest.raises(SpecError, match="the source has no column 'hospital', which is counted"):
        kanon_sql.verify(file, SPEC, privacy=PRIVACY, against=people.drop(columns="hospital"))


def test_it_combines_with_people_noise_and_a_report(tmp_path: Path) -> None:
    people, file = pandas.DataFrame(rows(), columns=list(TYPES)), tmp_path / "released.parquet"
    release = kanon_sql.anonymize(people, SPEC, privacy=PRIVACY, unit="who", suppression_limit=0.5)
    assert fewest(release.to_df()[["row", "age", "zip"]].itertuples(index=False, name=None), rows())[0] >= 3
    noisy = {"perturb": {"ill": {"pram": {"keep": 0.5}}}, "keep": ["row"], "output": file}
    release = kanon_sql.anonymize(people, SPEC, privacy=PRIVACY, **noisy)
    assert fewest(release.to_df()[["row", "age", "zip"]].itertuples(index=False, name=None), rows())[0] >= 3
    assert release.report(source=people).html
    assert kanon_sql.risk(people, SPEC, privacy=PRIVACY, release=file).release


def test_a_model_in_conflict_with_the_spec_is_refused() -> None:
    people = pandas.DataFrame(rows(), columns=list(TYPES))
    for more in ({"keep": ["ill", "hospital"]}, {"sensitive": ["hospital"]}):
        with pytest.raises(SpecError, match="counts the values of 'hospital' without releasing them, and the spec"):
            kanon_sql.anonymize(people, {**SPEC, **more}, privacy=PRIVACY)
    with pytest.raises(
        SpecError, match=r"counts the values of 'hospital', which is dropped as an identifier, .* `released=False`"
    ):
        kanon_sql.anonymize(people, SPEC, identifiers=["hospital"], privacy=[replace(HOSPITALS, released=True)])
    hidden = replace(HOSPITALS, parameters={"alpha": 0.5, "value": "h1"}, safe="values >= $alpha")
    with pytest.raises(SpecError, match="`minimality` hides one value"):
        kanon_sql.anonymize(people, SPEC, privacy={"minimality": "mask", "models": [hidden]})


def test_a_model_with_wrong_declarations_still_produces_safe_releases(tmp_path: Path) -> None:
    people = pandas.DataFrame(rows(), columns=list(TYPES))
    claims: list[Any] = ["always", "without suppression"]
    for monotone in claims:
        small = PrivacyModel("small", {"most": 12}, {"rows": "SUM(n)"}, "rows <= $most", monotone=monotone)
        for strategy in ("auto", "flash", "kaca"):
            try:
                release = kanon_sql.anonymize(people, SPEC, privacy=[k_anonymity(2), small], strategy=strategy)
            except (InfeasibleError, SpecError):
                continue
            sizes = Counter(release.to_df()[["age", "zip"]].itertuples(index=False, name=None)).values()
            assert 2 <= min(sizes) <= max(sizes) <= 12
    never = ReleaseModel("never", {"most": 0.1}, lambda classes: float(len(classes) > 1), 0.1, sufficient_size=1)
    with pytest.raises(VerificationError, match=r"the written release has .* that do not satisfy the privacy model"):
        kanon_sql.anonymize(people, SPEC, privacy=[k_anonymity(2), never], output=tmp_path / "released.csv")
    assert not (tmp_path / "released.csv").exists()
