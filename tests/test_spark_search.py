"""`search_in="engine"` on Spark: the frequency set and its queries stay on the cluster, in our own tables."""

import json
import random
from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from kanon_sql import anonymize, compare, queries, search
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.spark import Spark
from kanon_sql.errors import KanonError, SourceError
from kanon_sql.frequency.judge import Judge
from support.database import create_table

pytestmark = pytest.mark.spark
TYPES = {"name": "VARCHAR", "age": "INTEGER", "zip": "VARCHAR", "day": "DATE", "share": "DOUBLE", "ill": "VARCHAR"}
RANDOM = random.Random(7)
ROWS = [
    (
        f"p{i}",
        RANDOM.choice([None, *range(20, 26)]),
        RANDOM.choice(["z00", "z01", "z10", "Z99", "é99"]),
        f"2024-02-{RANDOM.choice((1, 2))}",
        RANDOM.choice([0.1, -0.0, 0.0]),
        RANDOM.choice(["flu", "flu", "asthma", "acne"]),
    )
    for i in range(150)
]
SPEC: dict[str, Any] = {
    "identifiers": ["name"],
    "quasi_identifiers": {
        "age": {"hierarchy": {"ranges": [2, 4]}},
        "zip": {"hierarchy": {"redact": "right"}},
        "day": {"hierarchy": {"dates": ["month"]}},
        "share": {"hierarchy": "suppress"},
    },
    "sensitive": ["ill"],
    "privacy": {"k": 3},
}


@pytest.fixture
def cluster(chosen_spark: Spark) -> Spark:
    """The Spark engine that was chosen, with a table of people, all of whose columns but one are quasi-identifiers."""
    create_table(chosen_spark, "people", TYPES, ROWS)
    return chosen_spark


def release(engine: Any, search_in: str = "engine", **options: Any) -> Any:
    given = {"into": "released", "search_in": search_in, **options}
    return anonymize("people", SPEC, connection=engine.connection, **given)


def rows_of(engine: Engine) -> list[tuple[Any, ...]]:
    table = engine.find("released")
    assert table
    return sorted(engine.rows(queries.select_all(table.relation, engine.dialect)), key=str)


def names(engine: Spark) -> set[str]:
    return {table.name for table in engine.connection.catalog.listTables()}


def comparable(manifest: dict[str, Any]) -> Any:
    """A manifest without what an engine may say otherwise."""
    others = ("seconds", "columns", "sql", "engine", "target", "not_atomic", "version")
    kept = {key: value for key, value in manifest.items() if key not in others}
    return json.loads(json.dumps(kept), parse_float=lambda text: round(float(text), 9))


def at_risk(node: tuple[int, ...]) -> int:
    """The rows in classes of fewer than three at a node, worked out in plain Python."""
    labels: list[Callable[[Any, int], Any]] = [
        lambda age, level: "*" if level == 3 else age if age is None or not level else age // (2 * level),
        lambda text, level: text[: 3 - level],
        lambda day, level: "*" if level == 2 else "month" if level else day,
        lambda share, level: "*" if level else float(share),
    ]
    classes = [tuple(of(cell, at) for of, cell, at in zip(labels, row[1:5], node, strict=True)) for row in ROWS]
    sizes = Counter(classes)
    return sum(size for size in sizes.values() if size < 3)


@pytest.mark.capability("a search in the engine itself")
def test_every_node_is_judged_on_the_cluster_as_by_brute_force(cluster: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that was counted is fetched, and what is asked again and again is a table."""
    created: list[str] = []
    create, send = Spark.create, Spark.send

    def noted(of: Spark, relation: Any, *given: Any) -> None:
        created.append(relation.name)
        create(of, relation, *given)

    def staying(of: Spark, query: str, target: Engine, relation: Any) -> None:
        assert target is of
        send(of, query, target, relation)

    monkeypatch.setattr(Spark, "create", noted)
    monkeypatch.setattr(Spark, "send", staying)
    before = names(cluster)
    trace = {step.node: step.rows_at_risk for step in release(cluster, strategy="exhaustive").trace}
    assert len([name for name in created if name.startswith("released__staged_")]) > 3
    assert names(cluster) == before | {"released"}
    nodes = list(product(*(range(height + 1) for height in map(max, zip(*trace, strict=True)))))
    assert {node: trace[node] for node in nodes if trace.get(node) is not None} == trace
    assert trace == {node: at_risk(node) for node in trace}
    assert len(trace) > 40


@pytest.mark.parametrize(
    "options",
    [
        {"privacy": {"k": 3, "l_diversity": {"ill": 2}}, "suppression_limit": 0.2, "form": "view"},
        {"privacy": {"t_closeness": {"ill": {"t": 0.6}}}, "suppression_limit": 0.0, "strategy": "incognito"},
    ],
    ids=str,
)
@pytest.mark.sampled
def test_a_release_is_the_one_of_a_search_in_duckdb(cluster: Spark, embedded: DuckDB, options: dict[str, Any]) -> None:
    create_table(embedded, "people", TYPES, ROWS)
    released, other = release(cluster, **options), release(embedded, **options)
    assert comparable(released.manifest) == comparable(other.manifest)
    assert rows_of(cluster) == rows_of(embedded)
    assert not [name for name in names(cluster) if "__staged_" in name or name.startswith("kanon")]


def test_an_error_leaves_nothing(cluster: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> None:
        assert [name for name in names(cluster) if "__staged_" in name]
        raise SourceError("the disk is full")

    monkeypatch.setattr(Judge, "rows_at_risk", failing)
    monkeypatch.setattr(Judge, "verdicts", failing)
    before = names(cluster)
    with pytest.raises(SourceError, match="the disk is full"):
        release(cluster)
    assert names(cluster) == before


class Killed(BaseException):
    """The end of a process: nothing is cleared up after it."""


def test_the_next_release_removes_the_leftovers_of_a_killed_search(
    cluster: Spark, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(cluster, "embedded")
    old, before = rows_of(cluster), names(cluster)

    def killed(*_: Any) -> None:
        raise Killed

    def dying(*_: Any) -> None:
        monkeypatch.setattr(Spark, "run", killed)
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Judge, "rows_at_risk", dying)
        patch.setattr(Judge, "verdicts", dying)
        with pytest.raises(Killed):
            release(cluster, overwrite=True)
    monkeypatch.undo()
    assert names(cluster) > before
    assert rows_of(cluster) == old
    release(cluster, "embedded", overwrite=True)
    assert names(cluster) == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (lambda c: release(c, strategy="mondrian"), "works in an embedded DuckDB, not in spark; leave out `search_in`"),
        (
            lambda c: release(c, into=None, output="x.csv"),
            "instead; name a table with `into`",
        ),
        (lambda c: search("people", SPEC, connection=c.connection, search_in="engine"), "tables next to the target"),
        (
            lambda c: compare("people", SPEC, connection=c.connection, search_in="engine", strategies=["ola"]),
            "tables next to the target",
        ),
    ],
)
def test_unsupported_requests_are_refused(cluster: Spark, options: Any, sentence: str) -> None:
    before = names(cluster)
    with pytest.raises(KanonError, match=sentence):
        options(cluster)
    assert names(cluster) == before
