"""A local recoding of people, or with a population, is verified by its evidence and by nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pandas
import pytest
import yaml

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.errors import KanonError, SourceError
from support.command_line import kanon
from support.database import create_table
from support.risk import Counted

TYPES = {"age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR", "visit": "INTEGER", "patient": "INTEGER"}

SPEC: dict[str, Any] = {
    "source": "visits.csv",
    "columns": {"zip": "text"},
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [5, 10, 20]}}, "zip": {"hierarchy": {"redact": "right"}}},
    "sensitive": ["ill"],
    "keep": ["visit"],
    "suppression_limit": 0.2,
}
PEOPLE = {"privacy": {"k": 4, "unit": "patient", "l_diversity": {"ill": 2}}}
QUICK = ("columns", "loss_by_k", "lattice", "attacks")  # parts of a report
SAMPLE = {"privacy": {"k_map": {"k": 5, "population": "everybody.csv"}}}


def visits() -> list[tuple[Any, ...]]:
    """One to four visits of everybody, most of them from one place."""
    draw, rows = Random(1), list[tuple[Any, ...]]()
    for patient in range(90):
        age, home = draw.randrange(20, 60), draw.choice(["1010", "1020", "1130"])
        for _ in range(1 + patient % 4):
            place = draw.choice(["1010", "1130"]) if draw.random() < 0.1 else home
            rows.append((age, place, draw.choice(["flu", "flu", "ulcer", None]), len(rows), patient))
    return rows


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [(*row[:2], row[2] or "", *row[3:]) for row in visits()]
    frame = pandas.DataFrame(rows, columns=list(TYPES))
    frame.to_csv("visits.csv", index=False)
    pandas.concat([frame, frame[::2]]).to_csv("everybody.csv", index=False)


def released(**more: Any) -> dict[str, Any]:
    Path("release.yml").write_text(yaml.safe_dump({**SPEC, **more}))
    run = kanon("anonymize", "--spec", "release.yml", "--json")
    assert run.code == 0, run.err
    manifest: dict[str, Any] = json.loads(run.out)
    return manifest


def verified() -> tuple[int, dict[str, Any], str]:
    line = kanon("verify", "--spec", "release.yml", "--json")
    found = json.loads(line.out)["findings"] if line.code == 0 else []
    return line.code, {item["model"]: item["achieved"] for item in found}, line.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        *((name, PEOPLE) for name in ("mondrian", "mondrian_relaxed", "refine", "kaca", "prioprivacy")),
        *((name, SAMPLE) for name in ("mondrian", "mondrian_relaxed")),
    ],
)
@pytest.mark.sampled
def test_every_local_recoding_is_verified_by_its_spec(strategy: str, options: dict[str, Any]) -> None:
    file = "anon.csv" if strategy in ("mondrian", "kaca") else "anon.parquet"
    limited = {"time_limit": 3} if strategy == "refine" else {}
    manifest = released(**options, **limited, strategy=strategy, target={"file": file})
    code, achieved, err = verified()
    assert code == 0, err
    assert manifest["classes"] > 3
    assert achieved == pytest.approx({finding["model"]: finding["achieved"] for finding in manifest["privacy"]})
    assert Path(f".kanon/{file}.evidence").stat().st_mode & 0o777 == 0o600


Change = Callable[[pandas.DataFrame], pandas.DataFrame]


def differ(one: Any, other: Any, labels: list[str]) -> bool:
    """Whether two rows differ in a label, and in what is counted or known of them."""
    others = [name for name in ("ill", "value_0") if name in one.index]
    return any(one[name] != other[name] for name in labels) and all(one[name] != other[name] for name in others)


def swapped(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Two rows of different labels, each with the labels of the other."""
    labels = [name for name in frame.columns if name in ("age", "zip") or name.startswith("shown")]
    pairs = [(i, j) for i in range(len(frame)) for j in range(i)]
    i, j = next(pair for pair in pairs if differ(*(frame.loc[place] for place in pair), labels))
    frame.loc[[i, j], labels] = frame.loc[[j, i], labels].values
    return frame


@pytest.mark.slow
def test_a_changed_release_is_not_verified() -> None:
    released(**PEOPLE, strategy="mondrian", target={"file": "anon.parquet"})
    evidence = Path(".kanon/anon.parquet.evidence")
    changes: list[tuple[Path, Change, str]] = [
        (Path("anon.parquet"), swapped, "the release has other rows than its source with"),
        (Path("anon.parquet"), lambda frame: frame[:-1], "the release has other rows than its source with"),
        (evidence, swapped, "that are not true of its values"),
        (evidence, lambda frame: frame[1:], "the release has other rows than its source with"),
        (evidence, lambda frame: pandas.concat([frame, frame[:1]]), "shows rows more than once"),
        (evidence, lambda frame: frame.rename(columns={"value_1": "value_2"}), "is of other quasi-identifiers"),
        (Path("visits.csv"), lambda frame: frame[3:], "the release has other rows than its source with"),
    ]
    for path, change, why in changes:
        before = path.read_bytes()
        frame = pandas.read_csv(path, dtype={"zip": str}) if path.suffix == ".csv" else pandas.read_parquet(path)
        frame = change(frame)
        frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path, index=False)
        code, _, err = verified()
        assert (code, why in err) == (2, True), (path, err)
        path.write_bytes(before)
    assert verified()[0] == 0
    assert kanon("verify", "--spec", "release.yml", "--k", "40").code == 1
    evidence.unlink()
    code, _, err = verified()
    assert (code, "with the evidence that was kept with it" in err) == (2, True)
    released(**PEOPLE, target={"file": "anon.parquet", "overwrite": True})
    assert (verified()[0], evidence.exists()) == (0, False)


@pytest.mark.slow
def test_a_failed_release_leaves_the_evidence_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    released(**PEOPLE, strategy="mondrian", target={"file": "anon.csv"})
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}

    def fails(*_: Any) -> None:
        raise SourceError("the last step fails")

    monkeypatch.setattr("kanon_sql.verbs.anonymize.manifests.describe", fails)
    more = {"strategy": "mondrian", "output": "anon.csv", "overwrite": True, "k": 6}
    with pytest.raises(SourceError, match="the last step fails"):
        kanon_sql.anonymize(None, {**SPEC, **PEOPLE}, **more)
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


@pytest.mark.slow
def test_the_evidence_of_a_table_is_in_a_table_next_to_it(engine: Engine) -> None:
    create_table(engine, "visits", TYPES, visits())
    options = {**SPEC, **PEOPLE, "strategy": "mondrian_relaxed", "columns": {}, "source": "visits"}
    connection = engine.connection  # type: ignore[attr-defined]
    release = kanon_sql.anonymize(None, options, connection=connection, into="anon")
    assert release.verify()
    again = {"quasi_identifiers": SPEC["quasi_identifiers"], **PEOPLE, "connection": connection, "against": "visits"}
    check = kanon_sql.verify("anon", **again)
    achieved = {finding["model"]: finding["achieved"] for finding in release.manifest["privacy"]}
    assert {finding.model: finding.achieved for finding in check.summary.findings} == pytest.approx(achieved)
    engine.run("DELETE FROM anon__evidence WHERE value_0 = (SELECT MIN(value_0) FROM anon__evidence)")
    with pytest.raises(SourceError, match="the release has other rows than its source with"):
        kanon_sql.verify("anon", **again)


def written(strategy: str) -> tuple[dict[str, Any], Counted]:
    """The manifest of a release that was written, and the release counted by whose each visit is."""
    limited = {"time_limit": 1} if strategy == "refine" else {}
    manifest = released(**PEOPLE, **limited, strategy=strategy, target={"file": "anon.csv"})
    patients = {str(visit): patient for *_, visit, patient in visits()}
    rows = pandas.read_csv("anon.csv", dtype=str, keep_default_na=False)
    rows["patient"] = rows["visit"].map(patients)
    return manifest, Counted(rows.to_dict("records"), ["age", "zip"], "patient")


def risk() -> dict[str, Any]:
    line = kanon("risk", "--spec", "release.yml", "--largest-set", "1", "--json")
    assert line.code == 0, line.err
    found: dict[str, Any] = json.loads(line.out)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["mondrian", "mondrian_relaxed", "refine"])
def test_the_people_of_a_written_release_are_counted_by_its_evidence(strategy: str) -> None:
    manifest, counted = written(strategy)
    seen = risk()
    after, risk_of_people = seen["release"], manifest["risk_of_people"]
    assert (seen["notes"], after["people_unknown"], after["counted"]) == ([], False, "people")
    assert after["verdict"]["holds"]
    assert after["people"] == manifest["released_people"] == counted.people
    assert after["verdict"]["largest_k"] == risk_of_people["smallest_class"] == min(counted.sizes)
    assert after["prosecutor"]["mean"] == risk_of_people["mean"] == pytest.approx(float(counted.mean))
    for size_ in after["class_sizes"]:
        assert size_["people"] == counted.band(size_["least"], size_["most"])[2]
    for size_ in risk_of_people["above"]:
        people = counted.above(size_["risk"])[1]
        assert {above["people"] for above in after["prosecutor"]["above"] if above["risk"] == size_["risk"]} == {people}
        assert size_["people"] == people


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["mondrian", "refine"])
def test_a_report_by_the_spec_counts_people_by_the_evidence(strategy: str) -> None:
    manifest, counted = written(strategy)
    figures = kanon_sql.report(None, "release.yml", without=QUICK).figures
    for name in ("people", "released_people", "suppressed_people", "risk_of_people", "smallest_class", "privacy"):
        assert figures.manifest[name] == manifest[name]
    shown = {figure["figure"]: figure["release"] for figure in figures.risk}
    assert (figures.counted, shown["smallest class"]) == ("people", min(counted.sizes))
    assert shown["mean"] == pytest.approx(float(counted.mean))
    assert sum(size_["release"] for size_ in figures.class_sizes) == counted.people
    assert "class_sizes" not in figures.missing


@pytest.mark.slow
def test_without_true_evidence_rows_count_and_a_report_is_refused() -> None:
    written("mondrian")
    evidence = Path(".kanon/anon.csv.evidence")
    swapped(pandas.read_parquet(evidence)).to_parquet(evidence, index=False)
    for why in ("that are not true of its values", "with the evidence that was kept with it"):
        seen = risk()
        assert (seen["source"]["counted"], seen["release"]["counted"]) == ("rows", "rows")
        assert seen["release"]["people_unknown"]
        assert "rows are counted, not people" in seen["notes"][0]
        assert why in seen["notes"][0]
        with pytest.raises(KanonError, match=why):
            kanon_sql.report(None, "release.yml")
        evidence.unlink(missing_ok=True)


@pytest.mark.slow
@pytest.mark.nightly
def test_losses_of_another_recoding_are_not_reported() -> None:
    """Both release every row, in other classes."""
    released(**PEOPLE, strategy="mondrian", suppression_limit=0, target={"file": "anon.csv"})
    options = {"spec": {**SPEC, **PEOPLE, "suppression_limit": 0, "target": {"file": "anon.csv"}}}
    of_another = kanon_sql.report(None, **options, strategy="kaca", without=QUICK)
    manifest = of_another.figures.manifest
    assert manifest["suppressed_rows"] == 0
    assert "the spec would release other rows today" in manifest["warnings"][0]
    assert (manifest["information_loss"], manifest["damage"], manifest["people"]) == (None, [], 90)
    assert "of 90 people" in of_another.html
    same = kanon_sql.report(None, **options, strategy="mondrian", without=QUICK).figures.manifest
    assert not any("other rows now" in warning for warning in same["warnings"])
    assert same["information_loss"]["loss"] > 0
