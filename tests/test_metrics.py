"""A metric is one line: it receives exactly its declared inputs in every kind of release; a manifest needs no query."""

from typing import Any, get_args

import pytest

from kanon_sql import anonymize
from kanon_sql.documents.manifest import MANIFEST_VERSION
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.loss import METRICS, Costs, Figures, Metric
from kanon_sql.spec import Metric as Name
from kanon_sql.verbs import manifest
from support.database import create_table

TYPES = {"age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR"}
ROWS = [(20 + i % 7, f"z{i % 3}{i % 2}", ("flu", "asthma", "acne")[i % 3]) for i in range(60)]
HIERARCHIES = {"age": {"hierarchy": {"ranges": [2]}}, "zip": {"hierarchy": {"redact": "right"}}}
SPEC: dict[str, Any] = {"quasi_identifiers": HIERARCHIES, "sensitive": ["ill"]}
KINDS: list[dict[str, Any]] = [
    {},
    {"strategy": "incognito", "suppression_limit": 0.1},
    {"strategy": "mondrian"},
    {"strategy": "kaca"},
    {"strategy": "prioprivacy"},
    {"strategy": "refine"},
    {"show": "median"},
    {"show": "ranges"},
]


@pytest.fixture
def people(engine: Engine) -> Engine:
    create_table(engine, "people", TYPES, ROWS)
    return engine


@pytest.mark.parametrize("options", KINDS, ids=str)
@pytest.mark.sampled
def test_a_metric_of_one_line_is_scored_in_every_kind_of_release(
    people: Engine, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    heights, losses = METRICS["height"].parts, METRICS["loss"].parts
    monkeypatch.setitem(METRICS, "sum", Metric("sum", ("node",), lambda _, node: float(sum(node)), heights))
    monkeypatch.setitem(METRICS, "worst", Metric("worst", ("losses",), lambda _, x: max(x), losses))
    mixed = Metric("mixed", ("losses", "classes", "distances"), lambda _, x, n, d: max(x) + n + max(d), losses)
    monkeypatch.setitem(METRICS, "mixed", mixed)
    built = anonymize("people", SPEC, connection=people.connection, **{"k": 3, **options}).manifest
    worst = max(built["loss_per_attribute"].values())
    node = built["node"]
    assert built["information_loss"]["sum"] == (None if node is None else sum(node.values()))
    assert built["information_loss"]["worst"] == pytest.approx(worst)
    mixed_score = worst + built["classes"] + max(built["distortion_per_attribute"].values())
    assert built["information_loss"]["mixed"] == pytest.approx(mixed_score)
    assert [*built["information_loss"]] == [*METRICS, "modification_rate", "ambiguity", "divergence"]


COSTS = Costs(10, 2, ((0.0, 0.5, 1.0), (0.0, 1.0)), ((4, 2, 1), (3, 1)))
EVERY = Figures((1, 0), 2, (0.6, 0.2), 3, 8, 2, 30, (0.0, 0.0), bits=(3.0, 1.0), generalized=(0.7, 0.2))


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_called_with_what_it_declares_and_nothing_else(name: str) -> None:
    metric, given = METRICS[name], []
    seen = Metric(name, metric.needs, lambda _, *parts: given.append(parts) or 1.0, metric.parts)
    assert seen.score(COSTS, EVERY) == 1.0
    assert given == [tuple(EVERY.part(part, COSTS) for part in metric.needs)]
    assert metric.score_if_known(COSTS, Figures(None)) is None
    with pytest.raises(ValueError, match=f"{name} needs {metric.needs[0]}"):
        metric.score(COSTS, Figures(None))


def test_the_names_of_the_metrics_are_defined_once() -> None:
    assert get_args(Name) == tuple(METRICS)


@pytest.mark.parametrize("options", [*KINDS, {"form": "anatomy", "into": "released"}], ids=str)
@pytest.mark.sampled
def test_a_manifest_needs_no_query(people: Engine, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("the database was asked")

    described, original = [], manifest.describe

    def without_a_database(*given: Any) -> Any:
        with monkeypatch.context() as patch:
            for engine in (DuckDB, PostgreSQL):
                for method in ("rows", "run", "table", "send", "load_batches"):
                    patch.setattr(engine, method, refuse)
            described.append(original(*given))
        return described[0]

    monkeypatch.setattr(manifest, "describe", without_a_database)
    release = anonymize("people", SPEC, connection=people.connection, **{"k": 3, **options})
    assert [
        {"schema": f"manifest/{MANIFEST_VERSION}", "manifest_version": MANIFEST_VERSION, **item} for item in described
    ] == [release.manifest]
