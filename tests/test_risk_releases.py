"""Releases by models about all of their classes: table, file, view and statement, and refused options."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from math import floor
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.errors import InfeasibleError, SpecError, VerificationError
from kanon_sql.privacy import (
    PrivacyModel,
    ReleaseModel,
    estimated_uniqueness,
    k_anonymity,
    k_map,
    l_diversity,
    marketer_risk,
    population_uniqueness,
    prosecutor_risk,
)
from kanon_sql.queries import Relation
from support.database import create_table
from support.risk import histogram

_numbers = count()

# From source to release


TYPES = {"age": "BIGINT", "zip": "VARCHAR", "ill": "VARCHAR", "person": "BIGINT"}
SPEC: dict[str, Any] = {
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [5, 10, 20]}}, "zip": {"hierarchy": {"redact": "right"}}},
    "keep": "*",
}
RISKS: dict[str, Sequence[PrivacyModel | ReleaseModel]] = {
    "highest": prosecutor_risk(highest=0.2),
    "mean": prosecutor_risk(mean=0.08),
    "all three": prosecutor_risk(highest=0.5, mean=0.1, above=0.1, share=0.2),
    "marketer": [marketer_risk(0.05)],
    "pitman": [population_uniqueness(0.02, 0.05)],
    "snb": [population_uniqueness(0.02, 0.3)],
}


@pytest.fixture
def source(engine: Engine) -> Iterator[str]:
    name, draw = f"risks_{next(_numbers)}", Random(3)
    ages = [min(89, floor(draw.gammavariate(4, 10))) for _ in range(600)]
    rows = [
        (age, f"{draw.randint(0, 3)}{draw.randint(0, 9)}", draw.choice("abc"), draw.randint(1, 300)) for age in ages
    ]
    table = create_table(engine, name, TYPES, rows)
    yield name
    engine.run(queries.drop(table.relation, engine.dialect))


def sizes_of(engine: Engine, name: str) -> list[int]:
    return [int(n) for (n,) in engine.rows(f'SELECT COUNT(*) FROM "{name}" GROUP BY age, zip')]


def assert_risk(kind: str, sizes: list[int]) -> None:
    rows, classes = sum(sizes), len(sizes)
    assert rows >= 500
    if kind == "highest":
        assert min(sizes) >= 5
    elif kind == "mean":
        assert classes / rows <= 0.08
    elif kind == "marketer":
        assert classes / rows <= 0.05
    elif kind == "all three":
        assert min(sizes) >= 2
        assert classes / rows <= 0.1
        assert sum(size for size in sizes if size < 10) / rows <= 0.2
    else:
        assert estimated_uniqueness(histogram(sizes), 0.05 if kind == "pitman" else 0.3) <= 0.02


@pytest.mark.parametrize("kind", RISKS)
@pytest.mark.parametrize("limit", [0.0, 0.1])
@pytest.mark.sampled("postgres", "sail")
def test_a_table_satisfies_models_of_all_its_classes(engine: Engine, source: str, kind: str, limit: float) -> None:
    into, model, spec = f"{source}_anon", RISKS[kind], {**SPEC, "keep": ["ill"]}
    release = kanon_sql.anonymize(
        source, spec, privacy=model, suppression_limit=limit, into=into, connection=engine.connection
    )
    try:
        sizes = sizes_of(engine, into)
        assert_risk(kind, sizes)
        assert release.manifest["proven_optimal"]
        findings = {finding["model"]: finding for finding in release.manifest["privacy"]}
        for part in model:
            assert findings[part.name]["required"] == part.required
            assert_achieved(part, findings[part.name]["achieved"], sizes)
        assert not [text for text in release.manifest["warnings"] if "'person' occur in several rows" not in text]
        assert release.verify()
        check = kanon_sql.verify(into, quasi_identifiers=["age", "zip"], privacy=model, connection=engine.connection)
        assert check
        assert {finding.unsafe_rows for finding in check.summary.findings} == {0}
    finally:
        engine.run(queries.drop(Relation(into), engine.dialect))


def assert_achieved(model: PrivacyModel | ReleaseModel, achieved: float, sizes: list[int]) -> None:
    if isinstance(model, PrivacyModel):
        assert achieved == pytest.approx(1 / min(sizes))
    else:
        assert achieved == pytest.approx(model.figure(histogram(sizes)))
        assert achieved <= model.most


@pytest.mark.parametrize("kind", RISKS)
def test_verify_finds_the_surplus_rows(engine: Engine, source: str, kind: str) -> None:
    check = kanon_sql.verify(
        source, quasi_identifiers=["age", "zip"], privacy=RISKS[kind], connection=engine.connection
    )
    assert not check
    sizes = sizes_of(engine, source)
    for finding, model in zip(check.summary.findings, RISKS[kind], strict=True):
        if isinstance(model, ReleaseModel):
            least = model.least_class_size(histogram(sizes))
            assert finding.unsafe_rows == sum(size for size in sizes if size < least) > 0
            assert finding.achieved == pytest.approx(model.figure(histogram(sizes)))


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_meets_a_mean_risk(engine: Engine, source: str, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"anon.{ending}"
    release = kanon_sql.anonymize(
        source, SPEC, privacy=RISKS["mean"], suppression_limit=0.1, output=path, connection=engine.connection
    )
    sizes = [n for (n,) in duckdb.sql(f"SELECT COUNT(*) FROM '{path}' GROUP BY age, zip").fetchall()]
    assert_risk("mean", sizes)
    assert sum(sizes) == release.manifest["released_rows"]


@pytest.mark.parametrize("kind", RISKS)
@pytest.mark.sampled("postgres", "sail")
def test_masked_rows_are_an_additional_class(engine: Engine, source: str, kind: str) -> None:
    options: dict[str, Any] = {"privacy": RISKS[kind], "suppression_limit": 0.1, "connection": engine.connection}
    release = kanon_sql.anonymize(source, SPEC, mask=True, into=f"{source}_masked", **options)
    try:
        sizes = sizes_of(engine, f"{source}_masked")
        assert_risk(kind, sizes)
        assert sum(sizes) == 600 - release.manifest["suppressed_rows"] + release.manifest["masked_rows"]
    finally:
        engine.run(queries.drop(Relation(f"{source}_masked"), engine.dialect))


@pytest.mark.parametrize("kind", ["mean", "snb"])
def test_people_are_counted_if_a_unit_is_set(engine: Engine, source: str, kind: str) -> None:
    into = f"{source}_people"
    release = kanon_sql.anonymize(
        source, SPEC, privacy=RISKS[kind], unit="person", into=into, suppression_limit=0.1, connection=engine.connection
    )
    try:
        node, least = (
            release.manifest["node"],
            next(
                (finding["required"] for finding in release.manifest["privacy"] if finding["model"] == "class size"), 1
            ),
        )
        classes = [people for people in people_of(engine, source, node).values() if len(people) >= least]
        assert release.manifest["classes"] == len(classes)
        achieved = release.manifest["privacy"][-1]["achieved"]
        if kind == "mean":  # somebody in several classes is at the risk of the smallest
            smallest = {person: len(people) for people in sorted(classes, key=len, reverse=True) for person in people}
            assert achieved == pytest.approx(sum(1 / size for size in smallest.values()) / len(smallest))
        else:
            assert_achieved(RISKS[kind][0], achieved, [len(people) for people in classes])
    finally:
        engine.run(queries.drop(Relation(into), engine.dialect))


def people_of(engine: Engine, source: str, node: dict[str, int]) -> dict[Any, set[int]]:
    """The people of each class of a node: ranges of 5, 10 and 20 years, digits off from the right."""
    people: dict[Any, set[int]] = {}
    for age, zip_code, person in engine.rows(f'SELECT age, zip, person FROM "{source}"'):
        width = (1, 5, 10, 20)[node["age"]] if node["age"] < 4 else 1000
        label = age // width, zip_code[: 2 - node["zip"]]
        people.setdefault(label, set()).add(person)
    return people


# Where nobody looks at all classes together


@pytest.mark.parametrize("kind", ["mean", "all three", "snb"])
def test_a_view_stays_safe_whatever_happens_to_its_source(engine: Engine, source: str, kind: str) -> None:
    into = f"{source}_view"
    release = kanon_sql.anonymize(
        source, SPEC, privacy=RISKS[kind], into=into, form="view", connection=engine.connection
    )
    least = max(model.sufficient_size for model in RISKS[kind] if isinstance(model, ReleaseModel))
    try:
        assert f"every class has {least} rows or more" in " ".join(release.manifest["warnings"])
        assert min(sizes_of(engine, into)) >= least
        engine.run(f"DELETE FROM {source} WHERE person > 150")
        left = sizes_of(engine, into)
        assert left
        assert min(left) >= least
    finally:
        engine.run(queries.drop(Relation(into), engine.dialect, "view"))
        for table in (f"{into}__age", f"{into}__zip"):
            engine.run(queries.drop(Relation(table), engine.dialect))


def test_a_materialized_release_is_refreshed_by_the_size_of_its_classes(engine: Engine, source: str) -> None:
    if not engine.has_materialized_views:
        pytest.skip("needs materialized views: add postgres to --engines")
    into, where = f"{source}_filled", {"connection": engine.connection}
    model = [*RISKS["mean"], l_diversity("ill", 2)]
    options = {"suppression_limit": 0.025, "form": "materialized"}  # some rows are left out once others are gone
    kanon_sql.anonymize(source, SPEC, privacy=model, into=into, **options, **where)
    try:
        engine.run(f"DELETE FROM {source} WHERE person > 200")
        release = kanon_sql.refresh(into, **where)
        assert {finding["model"]: finding["required"] for finding in release["privacy"]}["class size"] == 13
        assert min(sizes_of(engine, into)) >= 13
    finally:
        engine.run(queries.drop(Relation(into), engine.dialect, "materialized"))
        for table in (f"{into}__age", f"{into}__zip"):
            engine.run(queries.drop(Relation(table), engine.dialect))


def test_a_printed_statement_checks_the_size_of_every_class(engine: Engine, source: str) -> None:
    statement = kanon_sql.anonymize_sql(source, SPEC, privacy=RISKS["marketer"], connection=engine.connection)
    assert ">= 20" in statement


@pytest.mark.parametrize("name", ["mondrian", "refine", "kaca"])
@pytest.mark.sampled
def test_a_local_recoding_has_classes_that_are_large_enough(engine: Engine, source: str, name: str) -> None:
    into = f"{source}_{name}"
    release = kanon_sql.anonymize(
        source, SPEC, privacy=RISKS["all three"], strategy=name, show="labels", into=into, connection=engine.connection
    )
    try:
        sizes = sizes_of(engine, into)
        assert_risk("all three", sizes)
        assert min(sizes) >= 10
        assert [finding["model"] for finding in release.manifest["privacy"]][-2:] == [
            "mean prosecutor risk",
            "share of rows above a prosecutor risk",
        ]
    finally:
        engine.run(queries.drop(Relation(into), engine.dialect))


# Refusals, and models that are violated


def test_a_changed_release_fails_verification(engine: Engine, source: str, tmp_path: Path) -> None:
    into = f"{source}_changed"
    release = kanon_sql.anonymize(source, SPEC, privacy=RISKS["mean"], into=into, connection=engine.connection)
    try:
        rows = release.manifest["released_rows"]
        engine.run(f'UPDATE "{into}" SET zip = ill')
        engine.run(f'UPDATE "{into}" SET age = CAST(person AS VARCHAR)')
        assert len(engine.rows(f'SELECT 1 FROM "{into}"')) == rows
        assert not release.verify()
        with pytest.raises(VerificationError, match="do not meet the model"):
            release.write(tmp_path / "copy.csv")
    finally:
        engine.run(queries.drop(Relation(into), engine.dialect))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"highest": 0}, "highest prosecutor risk is 0; it must be above 0 and at most 1"),
        ({"mean": 1.5}, "mean prosecutor risk is 1.5; it must be above 0 and at most 1"),
        ({"mean": float("nan")}, "mean prosecutor risk is nan"),
        ({"above": 0.2}, "needs both the threshold and the share"),
        ({"above": 0.2, "share": 1}, "from 0 to below 1"),
        ({"above": 2, "share": 0.1}, "threshold of the prosecutor risk is 2"),
        ({}, "needs a bound; set highest, mean, or a threshold"),
    ],
)
def test_an_invalid_risk_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        prosecutor_risk(**options)


def test_models_that_not_even_one_class_satisfies_are_reported_before_the_search(engine: Engine, source: str) -> None:
    message = (
        r"no release can meet mean prosecutor risk, 0\.001 required: not even all 600 rows in one class do, which reach"
    )
    with pytest.raises(InfeasibleError, match=message):
        kanon_sql.anonymize(source, SPEC, privacy=prosecutor_risk(mean=0.001), connection=engine.connection)


@pytest.mark.parametrize("limit", [0.0, 0.1])
def test_every_released_person_has_enough_lookalikes_in_the_population(
    engine: Engine, source: str, limit: float
) -> None:
    into, population = f"{source}_journalist", f"{source}_all"
    engine.run(
        f"CREATE TABLE {population} AS SELECT * FROM {source} UNION ALL SELECT * FROM {source} WHERE person < 200"
    )
    options: dict[str, Any] = {"suppression_limit": limit, "into": into, "connection": engine.connection}
    risk = {"model": "journalist", "highest": 0.15, "population": population}
    try:
        release = kanon_sql.anonymize(source, SPEC, risk=risk, **options)
        sizes = sizes_of(engine, into)
        (privacy,) = release.manifest["privacy"]
        assert (privacy["model"], privacy["required"]) == ("highest journalist risk", 0.15)
        by_k = kanon_sql.anonymize(source, SPEC, privacy=[k_map(7, population)], **options | {"into": f"{into}_k"})
        assert sorted(sizes) == sorted(sizes_of(engine, f"{into}_k"))
        assert privacy["achieved"] == pytest.approx(1 / by_k.manifest["privacy"][0]["achieved"])
        assert privacy["achieved"] <= 0.15
    finally:
        for name in (into, f"{into}_k", population):
            engine.run(queries.drop(Relation(name), engine.dialect))


def test_classes_of_the_population_alone_are_no_classes_of_the_release(engine: Engine, source: str) -> None:
    population, model = f"{source}_all", prosecutor_risk(mean=0.08)
    other = f"SELECT a.age, b.zip, a.ill, 0 FROM {source} AS a CROSS JOIN {source} AS b"
    engine.run(f"CREATE TABLE {population} AS SELECT * FROM {source} UNION ALL {other}")
    options: dict[str, Any] = {"suppression_limit": 0.1, "connection": engine.connection}
    try:
        alone = kanon_sql.search(source, SPEC, privacy=model, **options)
        beside = kanon_sql.search(source, SPEC, privacy=[k_map(1, population), *model], **options)
        assert (beside.node, beside.score, beside.rows_at_risk) == (alone.node, alone.score, alone.rows_at_risk)
    finally:
        engine.run(queries.drop(Relation(population), engine.dialect))


def test_wildcards_and_anatomies_are_for_k_alone(engine: Engine, source: str) -> None:
    options: dict[str, Any] = {"privacy": RISKS["mean"], "connection": engine.connection}
    with pytest.raises(SpecError, match=r"wildcard suppression supports only k, not .*mean prosecutor risk"):
        kanon_sql.anonymize(source, SPEC, strategy="prioprivacy", prioprivacy={"wildcard_suppression": True}, **options)
    with pytest.raises(SpecError, match="support only k, not mean prosecutor risk"):
        kanon_sql.anonymize(source, {**SPEC, "sensitive": ["ill"]}, into="x", form="anatomy", **options)


def test_models_that_k_implies_change_nothing(engine: Engine, source: str) -> None:
    options: dict[str, Any] = {"suppression_limit": 0.1, "connection": engine.connection}
    plain = kanon_sql.search(source, SPEC, k=10, **options)
    both = kanon_sql.search(source, SPEC, privacy=[k_anonymity(10), *prosecutor_risk(mean=0.1)], **options)
    assert (plain.node, plain.score, plain.outcome.nodes_checked) == (both.node, both.score, both.outcome.nodes_checked)
