"""The release against a recoding in plain Python, on every engine: rows, order, masking, names and types."""

import json
import random
import re
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import anonymize, queries
from kanon_sql.engine import Engine, Table
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import VerificationError
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import plan_search
from kanon_sql.plan.source import opened, settle_spec
from kanon_sql.queries import Relation
from kanon_sql.release import recoded
from kanon_sql.verbs.released import Release
from support.database import create_table
from support.examples import examples
from support.oracle import TEXTS, Column, Node, Problem, problems
from support.releasing import FEW, ODD, People, as_text, file_rows, node_of, standalone, table_rows, two_levels


def released_table(engine: Engine, release: Release) -> Table:
    """The temporary table of a release without a target, by the name that the manifest gives it."""
    name = release.manifest["target"]["table"]
    engine.rows(f"SELECT * FROM {name}")
    return engine.table(Relation(*name.split(".")))


@pytest.fixture
def victim(engine: Engine) -> Any:
    """A table that nothing may touch."""
    create_table(engine, "victim", {"precious": "INTEGER"}, [(1,)])
    yield
    assert table_rows(engine, "victim") == [(1,)]


file_problems = problems(most_columns=3, strays=True, texts=TEXTS[:-1])
odd_names = st.permutations(ODD)


@pytest.mark.spark(target=["table"])
@FEW
@given(problem=file_problems, names=odd_names, mask=st.booleans(), shuffle=st.booleans(), embedded=st.booleans())
@pytest.mark.parametrize("target", ["none", "table", "view", "parquet", "csv"])
@pytest.mark.usefixtures("victim")
@pytest.mark.slow
def test_a_release_is_the_recoding_of_its_node(
    engine: Engine,
    target: str,
    tmp_path: Path,
    problem: Problem,
    names: list[str],
    mask: bool,
    shuffle: bool,
    embedded: bool,
) -> None:
    people = People(engine, problem, tmp_path, names)
    where, options = f"{names[0]} of {people.name}", {"mask": mask and target != "view", "shuffle": shuffle}
    path = tmp_path / f"release.{target}"
    if target in ("table", "view"):
        options |= {"into": where, "form": target}
    elif target != "none":
        options |= {"output": path, "overwrite": True}
    release = people.release(
        search_in="embedded" if embedded or not engine.has_temporary_tables else "engine", **options
    )

    manifest, node = release.manifest, node_of(release)
    assert problem.anonymous(node)
    assert manifest["score"] == pytest.approx(problem.optimum("loss"))
    if target in ("parquet", "csv"):
        written = file_rows(path, [*people.names, people.ill, people.other])
    else:
        table = released_table(engine, release) if target == "none" else engine.find(where)
        written = engine.rows(queries.select_all(table.relation, engine.dialect))
        assert_columns(people, table, node)
    expected = people.recoded(node, masked=options["mask"])
    assert Counter(written) == (as_text(expected) if target == "csv" else expected)
    classes = Counter(row[: len(node)] for row in written)
    assert all(size >= problem.k for size in classes.values())
    assert (manifest["released_rows"], manifest["classes"]) == (len(written), len(classes))
    assert manifest["smallest_class"] == min(classes.values(), default=None)
    assert manifest["suppressed_rows"] == problem.rows_at_risk(node)
    assert manifest["rows"] == len(problem.rows)
    assert manifest["verified"] is True
    for name, score in problem.information_loss(node).items():
        assert manifest["information_loss"][name] == (pytest.approx(score) if score < float("inf") else None)


def assert_columns(people: People, table: Table, node: Node) -> None:
    """The identifier is gone; the order stays, and so do the types of what is not generalized."""
    source = people.engine.find(people.name).columns[1:]
    assert [column.name for column in table.columns] == [*people.names, people.ill, people.other]
    assert table.columns[-2:] == source[-2:]
    for j, level in enumerate(node):
        assert table.columns[j].kind == ("text" if level else source[j].kind)
        assert table.columns[j].type == source[j].type or level


# The order of the rows


@examples(5)
@given(problem=file_problems, seed=st.integers(0, 3), shuffle=st.booleans())
@pytest.mark.slow
def test_the_order_of_the_source_leaves_no_trace(
    engine: Engine, tmp_path: Path, problem: Problem, seed: int, shuffle: bool
) -> None:
    people = People(engine, problem, tmp_path)
    options = {"shuffle": shuffle, "seed": seed, "overwrite": True}
    rows = table_rows(engine, people.name)
    written = set()
    for order in (rows, rows[::-1], random.Random(seed).sample(rows, len(rows))):
        people.fill(order)
        people.release(output=tmp_path / "release.csv", **options)
        people.release(into="released", **options)
        written.add(((tmp_path / "release.csv").read_bytes(), *table_rows(engine, "released")))
    assert len(written) == 1


@pytest.mark.parametrize("shuffle", [False, True])
def test_internal_names_do_not_affect_the_order(engine: Engine, shuffle: bool) -> None:
    """The query calls its columns o0, o1, …: a released column called o1 is not meant by ORDER BY o1."""
    spec = {"quasi_identifiers": {"o1": {"hierarchy": "suppress"}}, "privacy": {"k": 3}, "shuffle": shuffle}
    orders = []
    for number, letters in enumerate(["xyzvw", "wvzyx"]):
        create_table(engine, f"people {number}", {"o1": "VARCHAR", "ill": "VARCHAR"}, [("a", x) for x in letters])
        anonymize(f"people {number}", spec, connection=engine.connection, into="released", overwrite=True)
        orders.append(table_rows(engine, "released"))
    assert orders[0] == orders[1]


def test_rows_are_sorted_by_released_values_or_shuffled_by_the_seed(engine: Engine, tmp_path: Path) -> None:
    rows = [(f"{i % 7}",) for i in range(70)]
    people = People(engine, Problem(rows, [two_levels("0123456")], 2), tmp_path)
    orders = {}
    for seed in (None, 1, 2, 1):
        options = {} if seed is None else {"shuffle": True, "seed": seed}
        people.release(into="released", overwrite=True, **options)
        released = table_rows(engine, "released")
        assert orders.setdefault(seed, released) == released
    assert orders[None] == sorted(orders[None]) == sorted(orders[1]) == sorted(orders[2])
    assert len({tuple(order) for order in orders.values()}) == 3
    for order in (orders[1], orders[2]):  # equal rows stand together; classes do not
        assert sum(a[0] != b[0] for a, b in pairwise(order)) > 20


# Masking


@pytest.mark.spark
@pytest.mark.parametrize(("k", "masked"), [(2, 3), (3, 3), (4, 0)])
@pytest.mark.sampled
def test_masked_rows_are_shown_only_if_they_are_a_class(engine: Engine, tmp_path: Path, k: int, masked: int) -> None:
    letters = Column({letter: (letter, "*") for letter in "abcde"})
    numbers = Column({number: (number, "*") for number in (1, 2)})
    rows = [("a", 1)] * 4 + [("b", 2)] * 5 + [("c", 1), ("d", 2), ("e", 1)]
    people = People(engine, Problem(rows, [letters, numbers], k, 0.25, (0, 0), (0, 0)), tmp_path)
    release = people.release(into="released", mask=True)
    shown = Counter(row[:2] for row in table_rows(engine, "released"))
    assert shown == Counter({("a", 1): 4, ("b", 2): 5, ("*", None): masked})
    assert (release.manifest["masked_rows"], release.manifest["suppressed_rows"]) == (masked, 3)
    assert release.manifest["released_rows"] == 9 + masked


# Names and values that are read otherwise than they are written


@pytest.mark.xfail(strict=True, raises=VerificationError, reason="DuckDB's reader trims the names of a CSV file")
def test_a_name_with_surrounding_blanks_survives_a_csv_file(embedded: DuckDB, tmp_path: Path) -> None:
    create_table(embedded, "people", {" q ": "INTEGER"}, [(1,), (1,)])
    spec = {"quasi_identifiers": {" q ": {"hierarchy": "suppress"}}, "privacy": {"k": 2}}
    anonymize("people", spec, connection=embedded.connection, output=tmp_path / "release.csv")


@pytest.mark.parametrize("form", ["table", "view", "csv"])
@pytest.mark.parametrize(
    ("name", "type_name", "values"),
    [
        ("embedded", "VARCHAR COLLATE NOCASE", "('a'), ('A'), ('b'), ('b')"),
        ("embedded", "DOUBLE", "(0.0), ('-0.0'), (1), (1)"),
        ("postgres", "NUMERIC", "(1), (1.00), (2.0), (2)"),
        ("postgres", "DOUBLE PRECISION", "(0), ('-0.0'), (1), (1)"),
        ("postgres", "INTERVAL", "('1 day'), ('24:00'), ('2 days'), ('48:00')"),
    ],
)
@pytest.mark.sampled("postgres", "sail")
def test_equal_values_look_equal(
    request: pytest.FixtureRequest, tmp_path: Path, form: str, name: str, type_name: str, values: str
) -> None:
    engine = request.getfixturevalue(name)
    engine.run(f"CREATE TABLE people (q {type_name})")
    engine.run(f"INSERT INTO people VALUES {values}")
    spec = {"quasi_identifiers": {"q": {"hierarchy": "suppress"}}, "privacy": {"k": 2}}
    path = tmp_path / "release.csv"
    options = {"output": path} if form == "csv" else {"into": "released", "form": form}
    release = anonymize("people", spec, connection=engine.connection, **options)
    assert release.manifest["node"] == {"q": 0}
    shown = file_rows(path) if form == "csv" else engine.rows('SELECT CAST(q AS VARCHAR) FROM "released"')
    assert sorted(Counter(shown).values()) == [2, 2]


# The release as one statement


@FEW
@given(problem=file_problems, names=odd_names)
@pytest.mark.usefixtures("victim")
def test_the_statement_is_standalone(engine: Engine, tmp_path: Path, problem: Problem, names: list[str]) -> None:
    people = People(engine, problem, tmp_path, names)
    node, sql = standalone(people)
    assert Counter(engine.rows(sql)) == people.recoded(node)


TYPED = {
    "INTEGER": [1, 2, None],
    "DECIMAL(10,2)": [Decimal("1.50"), Decimal("2.00"), None],
    "DOUBLE PRECISION": [0.1, 2.0, None],
    "DATE": [date(2020, 1, 2), date(2021, 3, 4), None],
    "TIMESTAMP": [datetime(2020, 1, 2, 3, 4, 5), datetime(2021, 1, 2), None],
    "BOOLEAN": [True, False, None],
    "VARCHAR": ["'; DROP TABLE victim; --", 'a"b', None],
}


@pytest.mark.parametrize("type_name", TYPED)
@pytest.mark.parametrize("form", ["table", "view", "statement"])
@pytest.mark.usefixtures("victim")
@pytest.mark.sampled
def test_every_type_keeps_its_values_on_level_0(engine: Engine, type_name: str, form: str) -> None:
    values = TYPED[type_name] * 2
    create_table(engine, "people", {"q": type_name, "r": type_name}, [(value, None) for value in values])
    attributes = {name: {"hierarchy": "suppress", "max_level": 0} for name in ("q", "r")}
    spec = {"quasi_identifiers": attributes, "privacy": {"k": 2}}
    if form == "statement":
        settled = settle_spec("people", spec, {})
        with opened("people", settled, engine.connection) as source, source.engine.transaction():
            sql = recoded.target_sql(plan_search(source, settled, Observer()).recoding, None)
        rows = engine.rows(sql)
    else:
        anonymize("people", spec, connection=engine.connection, into="released", form=form)
        rows = table_rows(engine, "released")
        # On PostgreSQL a numeric(10,2) becomes a numeric.
        types = [[(c.kind, c.type.split("(")[0]) for c in engine.find(name).columns] for name in ("people", "released")]
        assert types[0] == types[1]
    assert Counter(rows) == Counter((value, None) for value in values)


# The manifest


@pytest.mark.spark(target=["view"])
@pytest.mark.parametrize("target", ["none", "table", "view", "csv"])
@pytest.mark.sampled("postgres", "sail")
def test_the_manifest_contains_no_value_of_the_data(engine: Engine, tmp_path: Path, target: str) -> None:
    secret = "MARKER"
    rows = [(f"{secret}{i}", f"{secret}-q{i // 2}", 777_000 + i // 3, f"{secret}-ill") for i in range(24)]
    create_table(engine, "people", {"id": "VARCHAR", "q": "VARCHAR", "z": "INTEGER", "ill": "VARCHAR"}, rows)
    spec = {
        "identifiers": ["id"],
        "quasi_identifiers": {"q": {"hierarchy": {"redact": "right"}}, "z": {"hierarchy": {"ranges": [2, 4]}}},
        "privacy": {"k": 2},
        "suppression_limit": 0.1,
    }
    options = {"output": tmp_path / "release.csv"} if target == "csv" else {"into": "released", "form": target}
    release = anonymize("people", spec, connection=engine.connection, **({} if target == "none" else options))
    manifest = json.dumps(release.manifest)
    assert release.manifest["released_rows"] > 0
    assert secret not in manifest
    # Not inside a word: fingerprints and the names of schemas are of random digits.
    assert not re.search(r"(?<![0-9A-Za-z])777\d{3}", manifest)
    assert set(release.manifest["loss_per_attribute"]) == {"q", "z"}
