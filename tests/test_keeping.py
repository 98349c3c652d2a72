"""The node of an earlier release on new data: kept while it satisfies the models, and otherwise nothing is written."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import anonymize
from kanon_sql.engine import Engine
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import InfeasibleError, KanonError, SpecError, TargetError
from kanon_sql.frequency.judge import Judge
from kanon_sql.plan.drift import drift
from kanon_sql.plan.source import opened, settle_spec
from support.command_line import kanon
from support.examples import examples
from support.oracle import TEXTS, Column, Node, Problem, problems
from support.releasing import People, everything, node_of, table_rows, two_levels


def changed(problem: Problem, kept: int, more: int) -> Problem:
    """The next night: some rows are gone, and some others are there twice."""
    rows = [row for i, row in enumerate(problem.rows) if i % 7 != kept] or list(problem.rows)
    return replace(problem, rows=[*rows, *problem.rows[:more]], _memo={})


@examples(3)
@given(problem=problems(most_columns=2, texts=TEXTS[:-1], strays=True), at=st.integers(0, 99), more=st.integers(0, 9))
def test_a_kept_node_is_released_while_it_satisfies_the_models(
    engine: Engine, tmp_path: Path, problem: Problem, at: int, more: int
) -> None:
    people = People(engine, problem, tmp_path)
    node = problem.nodes[at % len(problem.nodes)]
    options = {"node": dict(zip(people.names, node, strict=True))}
    people.problem = changed(problem, at % 7, more)
    people.problem = replace(people.problem, k=min(problem.k, len(people.problem.rows)), _memo={})
    people.details = [("ill", i % 3) for i, _ in enumerate(people.problem.rows)]
    people.spec["privacy"] = {"k": people.problem.k}
    people.fill([(i, *row, "ill", i % 3) for i, row in enumerate(people.problem.rows)])
    before = everything(engine)
    if not people.problem.anonymous(node):
        with pytest.raises(InfeasibleError, match=f"{people.problem.rows_at_risk(node):,} of"):
            people.release(**options, into="kept", overwrite=True)
        assert everything(engine) == before
        return
    release = people.release(**options, into="kept", overwrite=True)
    assert node_of(release) == node
    assert Counter(table_rows(engine, "kept")) == people.recoded(node)
    assert_kept(release.manifest)


def assert_kept(manifest: dict[str, Any]) -> None:
    entries = {name: manifest[name] for name in ("strategy", "found_by", "search_ended", "lower_bound", "gap")}
    assert entries == {"strategy": "kept", "found_by": "kept", "search_ended": None, "lower_bound": None, "gap": None}
    assert (manifest["node_kept"], manifest["proven_optimal"], manifest["nodes_checked"]) == (True, False, 1)


PEOPLE = pandas.DataFrame(
    {"name": [f"p{i}" for i in range(40)], "age": [20 + i % 8 * 5 for i in range(40)], "zip": ["12", "13"] * 20}
)
RECIPES = {"age": {"hierarchy": {"ranges": [10, 20]}}, "zip": {"hierarchy": {"redact": "right"}}}
SPEC: dict[str, Any] = {"identifiers": ["name"], "quasi_identifiers": RECIPES, "privacy": {"k": 4}}


def test_a_kept_node_costs_one_test(monkeypatch: pytest.MonkeyPatch) -> None:
    requests: list[list[Node]] = []
    ask = Judge.rows_at_risk
    monkeypatch.setattr(Judge, "rows_at_risk", lambda self, nodes: requests.append(list(nodes)) or ask(self, nodes))
    first = anonymize(PEOPLE, SPEC)
    requests.clear()
    again = anonymize(PEOPLE, SPEC, node_from=first.manifest)
    assert requests == [[node_of(first)]]
    assert again.to_df().values.tolist() == first.to_df().values.tolist()
    assert again.manifest["score"] == first.manifest["score"]
    assert again.manifest["chosen_by_values"] is False
    options = {**first.manifest, "chosen_by_values": True}
    assert anonymize(PEOPLE, SPEC, node_from=options).manifest["chosen_by_values"], "nobody chose it anew"


def test_a_failing_node_is_searched_for_again_if_requested(tmp_path: Path) -> None:
    first = anonymize(PEOPLE, SPEC).write(tmp_path / "manifest.json")
    fewer = PEOPLE[:14]
    with pytest.raises(InfeasibleError, match="no longer meets the privacy model") as refused:
        anonymize(fewer, SPEC, node_from=first)
    again = anonymize(fewer, SPEC, node_from=first, node_else="search")
    assert (again.manifest["node_kept"], again.manifest["strategy"]) == (False, "auto")
    assert again.manifest["node_not_kept_for"] == str(refused.value).partition(";")[0]
    assert again.manifest["proven_optimal"]
    assert again.to_df().groupby(["age", "zip"]).size().min() >= 4


def test_fully_redacted_values_stay_so_when_longer_values_arrive() -> None:
    shown = anonymize(PEOPLE, SPEC, node={"age": 1, "zip": 2}).manifest
    longer = PEOPLE.assign(zip=["12", "134"] * 20)
    again = anonymize(longer, SPEC, node_from=shown)
    assert again.manifest["node"] == {"age": 1, "zip": 4}
    assert set(again.to_df()["zip"]) == {"*"}


def test_a_node_whose_classes_show_a_mean_is_kept_too() -> None:
    first = anonymize(PEOPLE, SPEC, show="mean")
    again = anonymize(PEOPLE, SPEC, show="mean", node_from=first.manifest)
    assert again.to_df().values.tolist() == first.to_df().values.tolist()
    assert [again.manifest[name] for name in ("strategy", "found_by", "node_kept")] == ["kept", "kept", True]


MANIFEST: dict[str, Any] = {
    "node": {"age": 1, "zip": 1},
    "heights": {"age": 3, "zip": 2},
    "roles": {"quasi_identifiers": ["age", "zip"]},
}
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"node": {"age": 4, "zip": 1}}, "level 4 of 'age' is above the height of its hierarchy, 3"),
    ({"node": {"age": 1, "zip": 1, "sex": 0}}, "the node has 'sex', which is not a quasi-identifier now"),
    ({"node": {"age": 1}}, "the node has no level of 'zip', a quasi-identifier now"),
    ({"node": {"age": -1, "zip": 1}}, "node.age: give a mapping of every quasi-identifier"),
    ({"node": {"age": 1, "zip": 1}, "quasi_identifiers": {**RECIPES, "age": {**RECIPES["age"], "min_level": 2}}},
     "level 1 of 'age' is not between its min_level and max_level, 2 and 3"),
    ({"node_from": {**MANIFEST, "roles": {"quasi_identifiers": ["age"]}}}, "the earlier release has no level of 'zip'"),
    ({"node_from": {**MANIFEST, "roles": {"quasi_identifiers": ["age", "zip", "sex"]}}}, "the earlier release has 's"),
    ({"node_from": {**MANIFEST, "node": {"age": 9, "zip": 1}}}, "the node does not exist any more: level 9"),
    ({"node_from": {**MANIFEST, "node": None, "strategy": "kaca"}}, "is a local recoding by kaca, which has no node"),
    ({"node_from": {}}, "not the manifest of a release"),
    ({"node_from": "gone.json"}, "the manifest gone.json cannot be read"),
    ({"node_from": "people.csv"}, "the manifest people.csv is not JSON"),
    ({"node_from": 3}, "node_from: give the path of a manifest"),
    ({"node_from": MANIFEST, "strategy": "kaca"}, "the manifest names no regions"),
    ({"regions": "gone.parquet", "strategy": "kaca"}, "there is no file of regions gone.parquet"),
    ({"regions": "people.csv", "strategy": "kaca"}, "people.csv is not a file of regions"),
    ({"write_regions": "regions.csv", "strategy": "kaca"}, "regions are written as Parquet"),
    ({"write_regions": "there.parquet", "strategy": "kaca"}, "the file there.parquet exists already"),
    ({"incremental": True, "waiting": "later"}, "needs a database"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=[reported for _, reported in REFUSED])
def test_an_earlier_release_that_cannot_be_reused_is_refused_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("people.csv", index=False)
    Path("there.parquet").touch()
    spec = {**SPEC, "quasi_identifiers": options.get("quasi_identifiers", RECIPES), "unmapped": "top"}
    more = {name: value for name, value in options.items() if name != "quasi_identifiers"}
    more = {"hierarchies": ".", **more} if "strategy" in options else more
    with pytest.raises(KanonError) as refused:
        anonymize("people.csv", {**spec, "source": "people.csv"}, output="out.csv", **more)
    assert message in str(refused.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "there.parquet"]


def test_the_command_line_keeps_a_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("people.csv", index=False)
    (tmp_path / "spec.yml").write_text(json.dumps({**SPEC, "source": "people.csv"}))
    run = kanon("anonymize", "--spec", "spec.yml", "--node", "age=3,zip=1", "--output", "out.csv")
    assert (run.code, run.err) == (0, "")
    assert "kept without a search (1 of 12 nodes checked" in run.out
    for node in ("age", "age=x", "age=1,age=2"):
        assert kanon("anonymize", "--spec", "spec.yml", "--node", node, "--output", "o.csv").code == 2
    failed = kanon("anonymize", "--spec", "spec.yml", "--node", "age=0,zip=0", "--k", "39", "--output", "o.csv")
    assert failed.code == 2
    assert "search again with --node-else search" in failed.err
    assert not Path("o.csv").exists()


# Drift


HIERARCHY = [f"{age};{age // 10}0s;*" for age in range(20, 60, 5)]


class Source:
    """People in a table, their ages in a hierarchy file, and the manifest of a first release."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        self.engine, self.file = engine, folder / "age.csv"
        self.file.write_text("\n".join(HIERARCHY))
        rows = ", ".join(f"('{p.name}', {p.age}, '{p.zip}')" for p in PEOPLE.itertuples())
        engine.run("CREATE TABLE people (name VARCHAR, age INTEGER, zip VARCHAR)")
        engine.run(f"INSERT INTO people VALUES {rows}")
        columns = {"age": {"hierarchy": str(self.file)}, "zip": {"hierarchy": "suppress"}}
        self.spec = {**SPEC, "source": "people", "quasi_identifiers": columns}
        self.manifest = self.release(into="first").manifest

    def release(self, **options: Any) -> Any:
        return anonymize("people", self.spec, connection=self.engine.connection, **options)

    def drift(self) -> list[tuple[str, str, str]]:
        with opened("people", settle_spec("people", self.spec, {}), self.engine.connection) as data:
            found = drift(self.manifest, data, settle_spec("people", self.spec, {}))
        return [(item.kind, item.column, item.policy) for item in found]


DRIFT: list[tuple[str, str, str, dict[str, str], Callable[[Source], Any]]] = [
    ("new column", "pin", "error", {"new_columns": "drop"},
     lambda it: it.engine.run("ALTER TABLE people ADD COLUMN pin INTEGER DEFAULT 7")),
    ("changed type", "age", "error", {"changed_types": "accept"},
     lambda it: it.engine.run("ALTER TABLE people ALTER COLUMN age TYPE BIGINT")),
    ("changed hierarchy", "age", "error", {"changed_hierarchies": "search"},
     lambda it: it.file.write_text("\n".join([*HIERARCHY[1:], HIERARCHY[0].replace("20s", "young")]))),
    ("grown hierarchy", "age", "keep", {}, lambda it: it.file.write_text("\n".join([*HIERARCHY, "70;70s;*"]))),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "column", "policy", "way_out", "plant"), DRIFT, ids=[item[0] for item in DRIFT])
def test_planted_drift_is_found_and_treated_by_its_policy(
    embedded: Engine, tmp_path: Path, kind: str, column: str, policy: str, way_out: dict[str, str], plant: Any
) -> None:
    source = Source(embedded, tmp_path)
    assert source.drift() == []
    plant(source)
    assert source.drift() == [(kind, column, policy)]
    before = everything(embedded)
    if way_out:
        ((option, word),) = way_out.items()
        with pytest.raises(SpecError, match=f'{column}.*`{option}="{word}"`'):
            source.release(into="second", node_from=source.manifest)
        assert everything(embedded) == before
    release = source.release(into="second", node_from=source.manifest, **way_out)
    assert release.manifest["node_kept"] == (way_out.get("changed_hierarchies") is None)
    assert [column.name for column in embedded.find("second").columns] == ["age", "zip"]
    assert "pin" not in release.manifest["columns"], "what the release does not know is new again the next night"
    assert release.manifest["roles"]["dropped"] == (["pin"] if kind == "new column" else [])


def test_drift_on_a_server_is_reported_in_its_terms(postgres: PostgreSQL, tmp_path: Path) -> None:
    source = Source(postgres, tmp_path)
    for kind, *_, plant in DRIFT[:2]:
        plant(source)
        assert kind in {item[0] for item in source.drift()}
    release = source.release(node_from=source.manifest, new_columns="drop", changed_types="accept")
    assert release.manifest["columns"] == {"name": "character varying", "age": "bigint", "zip": "character varying"}


def test_another_type_of_an_unused_column_is_accepted(embedded: Engine, tmp_path: Path) -> None:
    """An identifier is dropped whatever it is; the column that tells people apart is dropped too, and is read."""
    source = Source(embedded, tmp_path)
    embedded.run("ALTER TABLE people ALTER COLUMN name TYPE BLOB")
    assert source.drift() == [("changed type", "name", "accept")]
    assert source.release(node_from=source.manifest).manifest["node_kept"]
    source.spec = {**source.spec, "unit": "name"}
    assert source.drift() == [("changed type", "name", "error")]


def test_a_missing_column_is_reported(embedded: Engine, tmp_path: Path) -> None:
    source = Source(embedded, tmp_path)
    source.manifest["columns"]["ward"] = "VARCHAR"
    assert source.drift() == [("lost column", "ward", "accept")]
    assert source.release(node_from=source.manifest).manifest["node_kept"]


def test_the_manifest_reveals_no_value_of_an_enumeration() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 'sad'::ENUM('sad', 'ok') AS mood, 1 AS age FROM range(9)")
        spec = {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}, "keep": ["mood"]}
        release = anonymize("t", spec, connection=connection, k=3)
        assert release.manifest["columns"] == {"mood": "ENUM", "age": "INTEGER"}
        again = {**spec, "node_from": release.manifest}
        connection.execute("ALTER TABLE t ALTER mood TYPE ENUM('sad', 'ok', 'glad')")  # values, as those of a text are
        assert anonymize("t", again, connection=connection, k=3).manifest["node_kept"]
        connection.execute("ALTER TABLE t ALTER mood TYPE VARCHAR")
        with pytest.raises(SpecError, match="the column 'mood' is of type VARCHAR now, and was ENUM"):
            anonymize("t", again, connection=connection, k=3)


# Incremental releases


def test_new_rows_wait_until_their_class_is_safe(engine: Engine, tmp_path: Path) -> None:
    letters = Column({leaf: (leaf, "*") for leaf in ("a", "b", "c", "d", None)})
    people = People(engine, Problem([("a",)] * 4 + [("b",)] * 3, [letters], 3), tmp_path)
    nights: list[list[Any]] = [[("c",), (None,)], [("c",), ("d",), ("stray",)], [("c",)], []]
    node = {people.names[0]: 0}
    for night, new in enumerate(nights):
        rows = [*people.problem.rows, *new]
        rows.remove(("b",)) if night == 3 else None  # a class that is too small now waits again
        people.problem = replace(people.problem, rows=rows, _memo={})
        people.details = [("ill", i % 3) for i, _ in enumerate(rows)]
        people.fill([(i, *row, "ill", i % 3) for i, row in enumerate(rows)])
        release = people.release(
            node=node, into="kept", incremental=True, waiting="waiting rows", overwrite=True, suppression_limit=0.0
        )
        assert Counter(table_rows(engine, "kept")) == people.recoded((0,))
        left = Counter(row for row in rows if rows.count(row) < 3)
        waiting = table_rows(engine, "waiting rows")
        assert Counter(row[1:2] for row in waiting) == left
        assert {row[0] for row in waiting} <= set(range(len(rows))), "with all columns of the source"
        assert release.manifest["waiting_rows"] == release.manifest["suppressed_rows"] == left.total()
        assert (release.manifest["waiting"], release.manifest["incremental"]) == ("waiting rows", True)


def test_waiting_rows_replace_no_other_table(engine: Engine, tmp_path: Path) -> None:
    people = People(engine, Problem([("a",)] * 4 + [("b",)], [two_levels("ab")], 3), tmp_path)
    engine.run("CREATE TABLE mine (a INTEGER)")
    before = everything(engine)
    options = {"node": {people.names[0]: 0}, "into": "kept", "incremental": True}
    with pytest.raises(TargetError, match="the table mine is not a table of rows that wait"):
        people.release(**options, waiting="mine")
    with pytest.raises(SpecError, match="both the release and the table of rows that wait"):
        people.release(**options, waiting="kept")
    assert everything(engine) == before


def test_no_other_user_can_read_the_waiting_rows(postgres: PostgreSQL, tmp_path: Path) -> None:
    people = People(postgres, Problem([("a",)] * 4 + [("b",)], [two_levels("ab")], 3), tmp_path)
    ((schema,),) = postgres.rows("SELECT current_schema()")
    postgres.run(f"ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO PUBLIC")
    people.release(node={people.names[0]: 0}, into="kept", incremental=True, waiting="later")
    assert postgres.rights(postgres.place("kept")).grants
    assert not postgres.rights(postgres.place("later")).grants
