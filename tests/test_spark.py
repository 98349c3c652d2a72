"""Spark SQL through Spark Connect: what it does like the other engines, and what it refuses.

The tests run on Sail, a Connect server that needs no Java, or on another:
`KANON_SPARK_URL=sc://… pytest --engines spark tests/test_spark.py`.
"""

import json
import os
import re
import socket
import subprocess
import sys
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas
import pytest

from kanon_sql import (
    anatomize,
    anonymize,
    attack,
    compare,
    compile,
    explain,
    lattice,
    profile,
    queries,
    refresh,
    risk,
    search,
    utility,
    verify,
)
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.opening import open_engine
from kanon_sql.engines.spark import Spark
from kanon_sql.errors import KanonError, SourceError, SpecError, TargetError
from kanon_sql.measure import fetched
from kanon_sql.plan.observer import Observer
from kanon_sql.relation import Relation
from kanon_sql.release import findings, tables
from kanon_sql.release.findings import Summary
from kanon_sql.resources import install_command
from kanon_sql.spec import Session
from support.command_line import kanon
from support.database import create_table

pytestmark = pytest.mark.spark
TYPES = {"name": "VARCHAR", "age": "INTEGER", "zip": "VARCHAR", "ill": "VARCHAR"}
ROWS = [
    (f"p{i}", None if i % 40 == 7 else 20 + i % 4, f"z{i % 3}{i % 2}", ("flu", "asthma", "acne")[i % 3])
    for i in range(120)
]
SPEC: dict[str, Any] = {
    "identifiers": ["name"],
    "quasi_identifiers": {"age": {"hierarchy": {"ranges": [2]}}, "zip": {"hierarchy": {"redact": "right"}}},
    "sensitive": ["ill"],
}

LETTERS: dict[str, Any] = {"quasi_identifiers": {name: {"hierarchy": "suppress"} for name in ("a", "b")}}


@pytest.fixture
def cluster(chosen_spark: Spark) -> Spark:
    """The Spark engines that were chosen, with a table of people; the embedded DuckDB has the same."""
    create_table(chosen_spark, "people", TYPES, ROWS)
    return chosen_spark


@pytest.fixture
def here(embedded: DuckDB) -> DuckDB:
    create_table(embedded, "people", TYPES, ROWS)
    return embedded


def release(engine: Any, **options: Any) -> Any:
    return anonymize("people", SPEC, connection=engine.connection, **{"k": 3, "into": "released", **options})


def rows_of(engine: Any, name: str = "released") -> list[tuple[Any, ...]]:
    return sorted(engine.rows(queries.select_all(engine.find(name).relation, engine.dialect)), key=str)


def lasting(engine: Spark) -> dict[str, list[tuple[Any, ...]]]:
    return {table.name: rows_of(engine, table.name) for table in engine.connection.catalog.listTables()}


DIFFERING = ("seconds", "columns", "sql", "engine", "target", "not_atomic", "version")


def comparable(manifest: dict[str, Any]) -> Any:
    """A manifest without what an engine may say otherwise."""
    kept = {key: value for key, value in manifest.items() if key not in DIFFERING}
    return json.loads(json.dumps(kept), parse_float=lambda text: round(float(text), 9))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"form": "view"},
        {"k": 12, "mask": True, "suppression_limit": 0.3, "shuffle": True, "seed": 3},
        {"privacy": {"l_diversity": {"ill": 2}}, "form": "view"},
        {"privacy": {"t_closeness": {"ill": {"t": 0.5}}}},
        {"strategy": "mondrian"},
        {"strategy": "mondrian", "form": "view"},
    ],
    ids=str,
)
@pytest.mark.sampled
def test_a_release_equals_that_of_duckdb(cluster: Spark, here: DuckDB, options: dict[str, Any]) -> None:
    released, other = release(cluster, **options), release(here, **options)
    assert comparable(released.manifest) == comparable(other.manifest)
    assert rows_of(cluster) == rows_of(here)
    assert released.verify()
    assert released.manifest["not_atomic"].startswith("spark has no transactions")
    assert "not_atomic" not in other.manifest
    if options.get("shuffle"):
        assert released.to_df().values.tolist() == other.to_df().values.tolist()
    assert not [view for view in cluster.connection.catalog.listTables() if view.isTemporary]


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([(f"a{i % 30}", f"b{i}") for i in range(600)], id="some values are shown"),
        pytest.param([(f"a{i}", f"b{i}") for i in range(600)], id="all rows are the same"),
        pytest.param([(f"a{i % 30}", f"b{i}", f"k{i % 7}") for i in range(600)], id="texts kept as they are"),
    ],
)
def test_a_column_at_its_top_level_does_not_stop_the_sort(cluster: Spark, values: list[tuple[str, ...]]) -> None:
    columns = [("a", "VARCHAR"), ("b", "VARCHAR"), ("kept", "VARCHAR")][: len(values[0])]
    create_table(cluster, "letters", dict(columns), values)
    manifest = anonymize("letters", LETTERS, connection=cluster.connection, into="released", k=5).manifest
    assert (manifest["node"]["b"], manifest["released_rows"]) == (1, len(values))
    assert [row[1] for row in rows_of(cluster)] == ["*"] * len(values)


def test_the_order_of_rows_reveals_nothing_of_the_source(cluster: Spark) -> None:
    columns = "CONCAT('a', id % 40) AS a, CONCAT('b', id % 7) AS b, CONCAT('k', XXHASH64(id) % 900) AS kept"
    sources, releases = [], []
    for name, number in (("up", "id"), ("down", "29999 - id")):
        cluster.run(f"CREATE TABLE {name} AS SELECT {columns} FROM (SELECT {number} AS id FROM RANGE(30000)) AS t")
        anonymize(name, LETTERS, connection=cluster.connection, into=f"{name}_released", keep=["kept"], k=5)
        sources.append(cluster.rows(f"SELECT * FROM {name}"))
        releases.append(cluster.rows(f"SELECT * FROM {name}_released"))
    assert sources[0] != sources[1]
    assert releases[0] == releases[1]
    assert len(releases[0]) == 30_000


@pytest.mark.capability("a release as a table or a live view, and its replacement")
def test_a_release_replaces_one_of_any_form(cluster: Spark) -> None:
    before = set(lasting(cluster))
    for form in ("view", "view", "table"):  # nothing is in its own way
        release(cluster, form=form, overwrite=True)
        left = set(lasting(cluster)) - before
        assert left == {"released"} if form == "table" else left > {"released"}
        assert not [name for name in left if "__staged" in name or "__replaced" in name]


@pytest.mark.capability("a live view that recounts its classes")
def test_a_view_counts_its_classes_whenever_it_is_read(cluster: Spark) -> None:
    release(cluster, form="view", quasi_identifiers=["zip"], identifiers=["name", "age"])
    before = len(rows_of(cluster))
    cluster.run("INSERT INTO people VALUES ('new', 20, 'z00', 'flu'), ('other', 21, 'unknown', 'flu')")
    assert len(rows_of(cluster)) == before + 1


@pytest.mark.capability("a release as a Parquet or CSV file")
@pytest.mark.parametrize("written_as", ["parquet", "csv"])
def test_a_release_to_a_file(cluster: Spark, here: DuckDB, tmp_path: Path, written_as: str) -> None:
    paths = [tmp_path / f"{name}.{written_as}" for name in ("spark", "duckdb")]
    for engine, path in zip((cluster, here), paths, strict=True):
        release(engine, into=None, output=path)
    if written_as == "csv":  # NULL comes first in Spark's order, and last in DuckDB's
        assert sorted(paths[0].read_text().splitlines()) == sorted(paths[1].read_text().splitlines())
    else:
        frames = [pandas.read_parquet(path).sort_values(["age", "zip", "ill"], ignore_index=True) for path in paths]
        pandas.testing.assert_frame_equal(*frames)


def test_parquet_files_that_the_cluster_reads(cluster: Spark, here: DuckDB, tmp_path: Path) -> None:
    here.run(f"COPY people TO '{tmp_path / 'people.parquet'}' (FORMAT parquet)")
    given = {"connection": cluster.connection, "k": 3, "into": "released"}
    released = anonymize(f"{tmp_path}/people.parquet", SPEC, **given)
    assert released.manifest["released_rows"] == 120
    with pytest.raises(SpecError, match="a view needs a table below it"):
        anonymize(f"{tmp_path}/people.parquet", SPEC, **given, form="view", overwrite=True)


def untimed(result: Any) -> Any:
    """What a verb says, without seconds and names of types."""
    if isinstance(result, dict):
        return {name: untimed(item) for name, item in result.items() if "seconds" not in name and name != "type"}
    return [untimed(item) for item in result] if isinstance(result, list | tuple) else result


@pytest.mark.nightly
def test_verbs_that_write_nothing_report_the_same_as_on_duckdb(cluster: Spark, here: DuckDB) -> None:
    options = {"quasi_identifiers": ["age", "zip"], "k": 3}
    messages = []
    for engine in (cluster, here):
        release(engine)
        given = {"connection": engine.connection}
        results = [
            search("people", SPEC, k=3, **given),
            lattice("people", SPEC, k=3, **given),
            compare("people", SPEC, k=[3, 12], strategies=["ola", "mondrian"], **given),
            profile("people", **given),
            verify("released", **options, **given),
            verify("people", **{**options, "k": 100}, **given),
            utility("people", "released", SPEC, **given),
        ]
        messages.append([untimed(result.to_dict()) for result in results])
    for on_spark, elsewhere in zip(*messages, strict=True):
        assert on_spark == elsewhere


def test_an_attack_finds_the_same_as_on_duckdb(cluster: Spark, here: DuckDB) -> None:
    """But for what follows the order of the rows: NULL comes first here, and last there."""
    messages = []
    for engine in (cluster, here):
        release(engine)
        found = attack("released", source="people", spec=SPEC, connection=engine.connection).to_dict()["attacks"]
        messages.append([(item["name"], item["column"], item["attempts"], item["successes"]) for item in found])
    assert len(messages[0]) > 12
    by_order = ("unsorted_matching", "place_within_classes", "order_within_classes")
    on_spark, elsewhere = ([item for item in found if item[0] not in by_order] for found in messages)
    assert on_spark == elsewhere


@pytest.mark.capability("a compiled statement that creates the release")
@pytest.mark.parametrize("form", ["table", "view"])
def test_a_compiled_statement_creates_the_release(cluster: Spark, form: str) -> None:
    release(cluster)
    compiled = compile("people", SPEC, k=3, into="compiled", form=form, connection=cluster.connection)
    cluster.run(compiled.sql)
    assert rows_of(cluster, "compiled") == rows_of(cluster)
    cluster.run("DROP TABLE people")
    create_table(cluster, "people", TYPES, ROWS[:3])
    if form == "view":
        assert rows_of(cluster, "compiled") == []
        return
    with pytest.raises(Exception, match=r"3 of 3 rows would be left out, and the suppression limit is 0\.02"):
        cluster.rows(compiled.query)
    cluster.run("DROP TABLE people")
    create_table(cluster, "people", TYPES, [])
    with pytest.raises(Exception, match="0 rows in the source; there is nothing to release"):
        cluster.rows(compiled.query)


def test_a_hierarchy_from_a_table(cluster: Spark, here: DuckDB) -> None:
    for engine in (cluster, here):
        labels = [(f"z{i}{j}", f"z{i}", "*") for i in range(3) for j in range(2)]
        create_table(engine, "zips", {"value": "VARCHAR", "place": "VARCHAR", "top": "VARCHAR"}, labels)
        spec = {"quasi_identifiers": {"zip": {"hierarchy": {"table": "zips"}}}, "keep": ["ill"]}
        anonymize("people", spec, connection=engine.connection, k=30, into="released")
    assert {row[0] for row in rows_of(cluster)} == {"z0", "z1", "z2"}
    assert rows_of(cluster) == rows_of(here)


@pytest.mark.capability("tables in schemas")
def test_a_source_and_a_target_in_separate_schemas(cluster: Spark) -> None:
    home = cluster.schema
    cluster.run("CREATE DATABASE elsewhere")
    cluster.connection.catalog.setCurrentDatabase("default")
    try:
        released = anonymize(f"{home}.people", SPEC, connection=cluster.connection, k=3, into="elsewhere.released")
        assert len(rows_of(cluster, "elsewhere.released")) == released.manifest["released_rows"] == 120
        assert cluster.find("released") is None
    finally:
        cluster.run("DROP DATABASE elsewhere CASCADE")
        cluster.connection.catalog.setCurrentDatabase(home)


@pytest.mark.parametrize("unit", [None, "name"])
def test_the_risk_is_that_of_the_same_table_in_duckdb(cluster: Spark, unit: str | None) -> None:
    rows = [*ROWS, *(("p2", 21.5, "z00", None) for _ in range(2)), ("p1", None, "z11", "flu")]
    types = {**TYPES, "age": "DOUBLE"}
    spec = {**SPEC, "unit": unit, "identifiers": [] if unit else ["name"]}
    found = []
    for engine in (cluster, DuckDB()):
        create_table(engine, "stays", types, rows)
        anonymize("stays", spec, k=3, suppression_limit=1.0, into="safe_stays", connection=engine.connection)
        of_source = risk("stays", spec, k=3, connection=engine.connection)
        of_both = risk("stays", spec, k=3, release="safe_stays", connection=engine.connection)
        found.append((of_source.to_dict(), of_both.to_dict()))
    of_spark, of_duckdb = found
    assert of_spark == of_duckdb
    assert of_spark[1]["release"]["verdict"]["holds"]
    assert (of_spark[1]["release"]["counted"], of_spark[1]["release"]["people_unknown"]) == (
        "people" if unit else "rows",
        False,
    )


def test_the_risk_of_rows_that_cannot_be_copied_is_refused(cluster: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetched, "MOST_BYTES", 10)
    with pytest.raises(SpecError, match="copies the rows of spark to the client"):
        risk("people", quasi_identifiers=["zip"], connection=cluster.connection)


def test_models_of_values_are_verified_on_one_copy_of_the_rows(cluster: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    queried: list[str] = []
    for name in ("rows", "send"):
        method = getattr(Spark, name)

        def recorded(engine: Spark, query: str, *target: Any, method: Any = method) -> Any:
            queried.append(query)
            return method(engine, query, *target)

        monkeypatch.setattr(Spark, name, recorded)
    options: dict[str, Any] = {"quasi_identifiers": ["age"], "k": 2, "connection": cluster.connection}
    numbers = []
    for models in (
        {"l_diversity": {"ill": 2}},
        {"l_diversity": {"ill": 2, "zip": 2}, "t_closeness": {"ill": {"t": 1}}, "beta_likeness": {"ill": 9}},
    ):
        queried.clear()
        assert verify("people", **models, **options)
        numbers.append(len(queried))
    assert numbers[0] == numbers[1] < 10


def test_models_of_values_that_are_counted_on_the_server_have_the_same_figures(
    cluster: Spark, here: DuckDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetched, "MOST_BYTES", -1)
    models: dict[str, Any] = {
        "l_diversity": {"ill": {"l": 2, "kind": "entropy"}, "zip": 2},
        "t_closeness": {"ill": {"t": 1}},
        "beta_likeness": {"ill": 9},
        "delta_disclosure": {"ill": 9},
    }
    of_spark, of_duckdb = (
        verify("people", quasi_identifiers=["age"], k=2, connection=engine.connection, **models).to_dict()
        for engine in (cluster, here)
    )
    assert of_spark == of_duckdb


# Refusals


def test_a_refused_refresh_names_an_alternative(cluster: Spark) -> None:
    release(cluster)
    with pytest.raises(SpecError, match=r"no materialized views; release a table again with `overwrite=True`$"):
        refresh("released", connection=cluster.connection)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (lambda c: explain("people", SPEC, k=3, connection=c), "explain works with temporary tables"),
        (lambda c: anatomize("people", SPEC, l=2, into="x", connection=c), "anatomize works with temporary tables"),
        (lambda c: anonymize("people", SPEC, k=3, connection=c), "no temporary table to keep a release in"),
        (lambda c: anonymize("people", SPEC, k=3, into="x", form="anatomy", connection=c), "an anatomy needs"),
        (
            lambda c: anonymize("people", SPEC, k=3, into="x", form="materialized", connection=c),
            "no materialized views",
        ),
        (lambda c: anonymize("people", SPEC, k=3, into="nowhere.x", connection=c), "there is no schema nowhere"),
        (lambda c: anonymize("nobody", SPEC, k=3, into="x", connection=c), "there is no table nobody"),
        (lambda c: anonymize("people", SPEC, k=200, into="x", connection=c), "200"),
        (lambda c: anonymize("people", SPEC, k=3, into="x", waiting="w", connection=c), "."),
        (
            lambda c: anonymize("people", SPEC, k=3, into="x", perturb={"age": {"noise": {"scale": 1}}}, connection=c),
            ".",
        ),
    ],
)
def test_impossible_requests_are_refused_in_one_sentence(cluster: Spark, options: Any, sentence: str) -> None:
    before = lasting(cluster)
    with pytest.raises(KanonError, match=sentence) as raised:
        options(cluster.connection)
    assert "\n" not in str(raised.value)
    assert lasting(cluster) == before


@pytest.mark.parametrize("type_name", ["TIMESTAMP", "BINARY", "ARRAY<INT>"])
def test_a_column_that_is_compared_otherwise_elsewhere_is_kept_only(cluster: Spark, type_name: str) -> None:
    cluster.run(f"CREATE TABLE odd (zip STRING, other {type_name})")
    cluster.run("INSERT INTO odd SELECT zip, NULL FROM people")
    with pytest.raises(SpecError, match="cast it to another type in a view"):
        anonymize("odd", {"quasi_identifiers": ["other"]}, connection=cluster.connection, k=2, into="x", keep=["zip"])
    spec = {"quasi_identifiers": {"zip": {"hierarchy": {"redact": "right"}}}}
    anonymize("odd", spec, connection=cluster.connection, k=2, into="x", keep=["other"])
    assert [column.name for column in cluster.find("x").columns] == ["zip", "other"]


# Types


VALUES: dict[str, list[Any]] = {
    "DECIMAL(10,2)": [Decimal("1.50"), Decimal("-7.00")],
    "DATE": [date(2024, 2, 29), date(1950, 1, 1)],
    "TIMESTAMP": [datetime(2024, 2, 29, 23, 59, 59, 999999), datetime(1970, 1, 1)],
    "BOOLEAN": [True, False],
    "DOUBLE": [0.1, -0.0, 0.0, float("nan"), float("inf")],
    "FLOAT": [0.1, 7.7],
    "BIGINT": [2**63 - 1, -(2**63)],
    "VARCHAR": ["", " ", "NULL", "a\\b", "it's", "line\nline", "Zoë 東京", "A", "a", "a ", "e\u0301", "é"],
}


def test_values_of_every_type_form_the_same_classes_as_in_duckdb(cluster: Spark, here: DuckDB) -> None:
    """Each value is in three rows, in which the columns of the other types are empty; one more has the first of all."""
    types = {f"c{i}": type_name for i, type_name in enumerate(VALUES)}
    values = [(place, value) for place, of_type in enumerate(VALUES.values()) for value in [*of_type, None]]
    alone = [tuple(value if i == place else None for i in range(len(types))) for place, value in values]
    rows = [(*row, f"s{i % 2}") for row in alone for i in range(3)] + [(*alone[0], "s1")]
    spec = {"quasi_identifiers": {name: {"hierarchy": "suppress"} for name in types}, "sensitive": ["kept"]}
    created = []
    for engine in (cluster, here):
        create_table(engine, "typed", {**types, "kept": "VARCHAR"}, rows)
        released = anonymize("typed", spec, connection=engine.connection, k=3, into="out")
        sizes = engine.rows(f"SELECT COUNT(*) AS size FROM out GROUP BY {', '.join(types)} ORDER BY size")
        created.append((comparable(released.manifest), sizes, [cells[-1] for cells in rows_of(engine, "out")]))
    assert created[0] == created[1]
    assert set(created[0][0]["node"].values()) == {0}


def test_odd_names_of_columns_and_tables(cluster: Spark) -> None:
    names = ["order", 'a;b "c"', "Straße 東京", "a.b", "it's", "back`tick"]
    # Spark itself has no odd names of tables.
    source, target = ("odd_table", "odd_target") if cluster.can_rename else ("Odd Table", "odd; target")
    create_table(cluster, source, dict.fromkeys(names, "VARCHAR"), [("x",) * 6] * 3)
    redacted = {name: {"hierarchy": {"redact": "right"}} for name in names}
    released = anonymize(
        f'"{source}"', {"quasi_identifiers": redacted}, connection=cluster.connection, k=3, into=f'"{target}"'
    )
    assert released.to_df().values.tolist() == [["x"] * 6] * 3


def test_a_view_of_odd_names_is_right_or_refused(cluster: Spark) -> None:
    """Sail keeps the text of a view without the quotes of names, and reads another, or none."""
    create_table(cluster, "odd", {"odd name": "VARCHAR", "it's": "VARCHAR"}, [("x", "y")] * 3)
    spec = {"quasi_identifiers": {"odd name": {"hierarchy": {"redact": "right"}}}, "keep": "*"}
    before, options = lasting(cluster), {"connection": cluster.connection, "k": 3, "into": "out", "form": "view"}
    if cluster.can_rename:
        anonymize("odd", spec, **options)
        assert rows_of(cluster, "out") == [("x", "y")] * 3
    else:
        with pytest.raises(TargetError, match="this server cannot read the created view; choose plain names"):
            anonymize("odd", spec, **options)
        assert lasting(cluster) == before


# Faults


@pytest.mark.parametrize("form", ["table", "view"])
def test_a_step_that_fails_is_undone(cluster: Spark, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """Every statement that puts the release in place is refused once, and all before it are undone."""
    release(cluster, k=2)
    before, place, run, left, steps = lasting(cluster), tables.put_in_place, Spark.run, [0], []

    def refused(of: Spark, sql: str) -> None:
        left[0] -= not sql.startswith("DROP")
        if left[0] == 0 and not sql.startswith("DROP"):
            raise SourceError("the disk is full")
        return run(of, sql)

    def placing(*given: Any) -> None:
        staged = {name for name in lasting(cluster) if name not in before}
        for step in range(1, 20):
            left[0] = step
            with monkeypatch.context() as patch:
                patch.setattr(Spark, "run", refused)
                try:
                    place(*given)
                    return
                except SourceError:
                    assert {name: rows for name, rows in lasting(cluster).items() if name not in staged} == before
                    steps.append(step)

    monkeypatch.setattr(tables, "put_in_place", placing)
    release(cluster, form=form, overwrite=True)
    assert len(steps) >= 2
    assert not [name for name in lasting(cluster) if "__staged" in name or "__replaced" in name]


class Killed(BaseException):
    """The end of a process: nothing is undone."""


def test_the_run_after_a_killed_one_removes_leftovers_and_restores_the_old_release(
    cluster: Spark, monkeypatch: pytest.MonkeyPatch
) -> None:
    release(cluster, k=2)
    old = rows_of(cluster)

    def killed(room: tables.Placement, *_: Any) -> None:
        aside = room.target.sibling("released__replaced_0123abcd")
        there, _ = tables._renaming(room.engine, room.target, aside, "table")
        there()
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(tables, "put_in_place", killed)
        patch.setattr(tables, "discard", lambda _: None)
        with pytest.raises(Killed):
            release(cluster, overwrite=True)
    assert len([name for name in lasting(cluster) if name.startswith("released__")]) == 2
    with pytest.raises(TargetError, match="exists now"):
        release(cluster)
    assert rows_of(cluster) == old
    release(cluster, overwrite=True)
    assert [name for name in lasting(cluster) if name.startswith("released")] == ["released"]


def test_a_kill_at_any_statement_leaves_the_old_or_the_new_release_complete(
    cluster: Spark, monkeypatch: pytest.MonkeyPatch, all_cases: bool
) -> None:
    """One run after the other is killed, each some statements later, and none is given the time to clear up."""
    release(cluster, k=30, into="other")
    release(cluster, k=2)
    old, new, run, left = rows_of(cluster), rows_of(cluster, "other"), Spark.run, [0]
    assert old != new

    def killed(of: Spark, sql: str) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Killed
        run(of, sql)

    for statement in range(0, 42, 1 if all_cases else 3):
        left[0] = statement
        with suppress(Killed), monkeypatch.context() as patch:
            patch.setattr(Spark, "run", killed)
            release(cluster, k=30, overwrite=True)
            break
        there = [rows for name, rows in lasting(cluster).items() if re.fullmatch(r"released(__replaced_\w+)?", name)]
        assert old in there or new in there, statement
    assert 3 < statement < 39
    assert rows_of(cluster) == new
    assert [name for name in lasting(cluster) if name.startswith("released")] == ["released"]


def test_a_search_that_lost_its_server_continues_with_another(here: DuckDB, sail_url: str, tmp_path: Path) -> None:
    """The search itself needs no server, and its trace is there when the release finds that there is none."""
    from pysail.spark import SparkConnectServer

    here.run(f"COPY people TO '{tmp_path / 'people.parquet'}' (FORMAT parquet)")
    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    host, port = server.listening_address
    doomed = Spark.open(f"sc://{host}:{port}")
    doomed.connection.client.set_retry_policies([])  # of ten minutes
    options = {"k": 3, "output": tmp_path / "out.csv", "trace": tmp_path / "trace.jsonl"}
    ends = Observer(lambda stage: server.stop() if stage.startswith("Searching") else None)
    with pytest.raises(SourceError, match=r"the connection is lost; .*`resume=.*trace\.jsonl"):
        anonymize(f"{tmp_path}/people.parquet", SPEC, connection=doomed.connection, observer=ends, **options)
    assert not (tmp_path / "out.csv").exists()
    options["resume"] = options.pop("trace")
    released = anonymize(f"{tmp_path}/people.parquet", SPEC, database=sail_url, **options)
    assert released.manifest["nodes_resumed"] == released.manifest["nodes_checked"] > 0


@pytest.mark.parametrize("change", ["INSERT INTO people VALUES ('new', 20, 'z00', 'flu')", "swap"])
def test_a_source_that_changes_during_the_run_is_an_error(
    cluster: Spark, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """Two rows that change places between columns, too: no count tells that."""
    staged = findings.summarize

    def changing(*given: Any, **options: Any) -> Summary:
        released = staged(*given, **options)
        if change == "swap":
            cluster.run("CREATE TABLE other AS SELECT name, age, zip, REVERSE(ill) AS ill FROM people")
            cluster.run("INSERT OVERWRITE people SELECT name, age, zip, ill FROM other")
        else:
            cluster.run(change)
        return released

    monkeypatch.setattr(findings, "summarize", changing)
    with pytest.raises(SourceError, match="changed while it was read"):
        release(cluster)
    assert not [name for name in lasting(cluster) if name.startswith("released")]


def test_the_loser_of_two_concurrent_runs_reports_it(cluster: Spark, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second has finished when the first is about to put its release in place."""
    release(cluster, k=2)
    place, once = tables.put_in_place, [True]

    def second(*given: Any) -> None:
        if once.pop() if once else False:
            release(cluster, k=30, overwrite=True)
        place(*given)

    monkeypatch.setattr(tables, "put_in_place", second)
    with pytest.raises(KanonError, match=r"released__staged"):
        release(cluster, overwrite=True)
    assert verify("released", connection=cluster.connection, quasi_identifiers=["age", "zip"], k=30)


# Credentials


SECRET = "very-secret"


def test_no_error_contains_a_token() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for url in (f"sc://127.0.0.1:{port}/;token={SECRET}", f"sc://127.0.0.1:{port};token={SECRET}", f"sc://{SECRET}@x"):
        with pytest.raises(SourceError) as raised:
            open_engine(Session(url))
        assert SECRET not in str(raised.value)
        run = kanon("verify", "people", "--database", url, "--k", "2", "--quasi-identifiers", "zip")
        assert run.code == 2
        assert SECRET not in run.out + run.err


def test_a_release_by_a_url_shows_no_token(
    cluster: Spark, here: DuckDB, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = os.environ.get("KANON_SPARK_URL") or request.getfixturevalue("sail_url")
    here.run(f"COPY people TO '{tmp_path / 'people.parquet'}' (FORMAT parquet)")
    given = {"database": f"{url}/;x-word={SECRET}", "output": tmp_path / "out.csv"}
    released = anonymize(f"{tmp_path}/people.parquet", SPEC, k=3, **given)
    assert released.manifest["engine"] == "spark"
    assert released.manifest["released_rows"] == 120
    assert SECRET not in json.dumps([released.manifest, [vars(statement) for statement in released.statements]])
    assert cluster.rows("SELECT 1 AS one") == [(1,)]  # another session has ended, and no more


def test_a_program_from_the_command_line_can_open_a_server(sail_url: str) -> None:
    """pyspark takes such a program for its own doctests, and ends it where it has no Spark beside it."""
    opened = f"from kanon_sql.engines.spark import Spark; print(Spark.open({sail_url!r}).rows('SELECT 1 AS one'))"
    ran = subprocess.run([sys.executable, "-c", opened], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("[(1,)]\n", "")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(SourceError, match=re.escape(install_command("spark"))):
        open_engine(Session("sc://127.0.0.1:1"))


def test_a_value_that_moves_to_the_next_column_is_detected(cluster: Spark) -> None:
    for name, row in (("here", ("x", None)), ("there", (None, "x"))):
        create_table(cluster, name, {"a": "VARCHAR", "b": "VARCHAR"}, [row])
    here, there = (cluster.fingerprint(cluster.table(Relation(name))) for name in ("here", "there"))
    assert here != there
