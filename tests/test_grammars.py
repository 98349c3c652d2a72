"""Printed scripts under the parsers and engines of other vendors; see tests/support/grammars.py."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import yaml

from kanon_sql import demo_files
from kanon_sql.engine import Engine
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, plan_release
from kanon_sql.plan.source import opened, settle_spec
from kanon_sql.queries import Relation
from kanon_sql.release.recoded import target_sql
from kanon_sql.resources import folder
from kanon_sql.spec import Target
from support import grammars
from support.database import create_table

TYPES = {
    "age": "INTEGER",
    "Weight": "DOUBLE PRECISION",
    "zip": "VARCHAR",
    "born": "DATE",
    "ward": "VARCHAR",
    "code": "INTEGER",
    "big": "HUGEINT",
    "seen": "TIMESTAMP",
    "ill": "VARCHAR",
    "pay": "INTEGER",
    "height": "DECIMAL(5, 1)",
    "member": "BOOLEAN",
    "person": "BIGINT",
    "n": "VARCHAR",
}
ROWS: list[tuple[Any, ...]] = [
    (
        20 + i % 30,
        (i % 40) / 4,
        f"0213{i % 7}",
        f"{1960 + i % 40}-01-{1 + i % 9:02}",
        "NS"[i % 2] if i % 11 else None,
        i % 230,
        i % 3,
        f"2020-01-{1 + i % 5:02} 10:00:00.{i % 3}",
        "abc"[i % 3],
        i % 50,
        150 + i % 20 / 2,
        i % 2 == 0,
        i // 2,
        "x",
    )
    for i in range(460)
]


PATIENTS = demo_files.patients().astype({"admitted": str})
TABLES: dict[str, tuple[dict[str, str], list[tuple[Any, ...]]]] = {
    "people": (TYPES, ROWS),
    "patients": (
        {**dict.fromkeys(PATIENTS.columns, "VARCHAR"), "age": "BIGINT", "admitted": "DATE"},
        list(PATIENTS.itertuples(index=False, name=None)),
    ),
}


WIDE = {"HUGEINT": "DECIMAL(38, 0)"}  # where there are no integers of 128 bits


def _fixed(recipe: Any, level: int) -> dict[str, Any]:
    return {"hierarchy": recipe, "min_level": level, "max_level": level}


def _specs(ward: str, code: str) -> dict[str, dict[str, Any]]:
    """What can be printed: the demo, every recipe and mapping table, every model, people, and a local recoding."""
    ages, zips = {"hierarchy": {"ranges": [10]}}, {"hierarchy": {"redact": "right"}}
    every_recipe = {
        "age": _fixed({"ranges": [10], "bottom": 18, "top": 65}, 1),
        "Weight": _fixed({"ranges": [7], "origin": 3}, 1),
        "zip": _fixed("suppress", 1),
        "born": _fixed({"dates": ["quarter"]}, 1),
        "ward": _fixed(ward, 1),
        "code": _fixed(code, 1),
        "big": _fixed("suppress", 0),
        "seen": _fixed({"dates": ["month"]}, 1),
    }
    models = {
        "k": 2,
        "l_diversity": {"ill": {"l": 1.2, "kind": "entropy"}, "n": {"l": 1}},
        "t_closeness": {"pay": {"t": 0.9, "distance": "ordered"}, "ill": {"t": 0.8}},
        "alpha_k": {"ill": {"alpha": 0.9}},
        "beta_likeness": {"ill": {"beta": 9}},
        "delta_disclosure": {"ill": {"delta": 9}},
    }
    demo = yaml.safe_load((folder("demo") / "patients.yml").read_text())
    demo["quasi_identifiers"]["city"]["hierarchy"]["taxonomy"] = str(folder("demo") / "places.csv")
    demo = {key: value for key, value in demo.items() if key not in ("database", "target")}
    both = {"k": 2, "l_diversity": {"ill": {"l": 2}}, "t_closeness": {"ill": {"t": 0.9}}}
    return {
        "demo": demo,
        "every recipe": {
            "quasi_identifiers": every_recipe,
            "keep": ["n", "height", "member"],
            "privacy": {"k": 1},
            "shuffle": True,
        },
        "every model": {"quasi_identifiers": {"age": ages}, "privacy": models, "keep": ["member"]},
        "people": {
            "quasi_identifiers": {"age": ages, "ward": {"hierarchy": ward}},
            "unit": "person",
            "privacy": {"k": 2, "l_diversity": {"ill": {"l": 2}}, "alpha_k": {"ill": {"alpha": 0.9}}},
            "keep": ["pay"],
            "suppression_limit": 1.0,
        },
        "mondrian": {
            "quasi_identifiers": {"Weight": {}, "born": {}, "zip": zips},
            "strategy": "mondrian",
            "privacy": both,
            "keep": ["pay"],
        },
    }


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Plan]]:
    """Finished searches."""
    hierarchies = tmp_path_factory.mktemp("hierarchies")
    (hierarchies / "ward.csv").write_text("N;it's \\ north;*\nS;south;*\n;none;*\n")
    (hierarchies / "code.csv").write_text("".join(f"{code};{code // 50};*\n" for code in range(230)))
    engine = DuckDB()
    for name, (types, rows) in TABLES.items():
        create_table(engine, name, types, rows)
    with ExitStack() as stack:
        planned = {}
        for name, spec in _specs(str(hierarchies / "ward.csv"), str(hierarchies / "code.csv")).items():
            settled = settle_spec(spec.get("source", "people"), spec, {})
            data = stack.enter_context(opened(settled.source, settled, engine.connection))
            stack.enter_context(data.scratches)
            planned[name] = plan_release(data, settled.as_standalone(), Observer())
        yield planned


def _script(plan: Plan, dialect: str, form: str | None) -> str:
    replaces = (form, dialect) != ("table", "athena")
    target = Target(table="clinic.anon", form=form, overwrite=replaces) if form else None
    return target_sql(plan.recoding, target, dialect, Relation("clinic", plan.problem.spec.source))


CASES = ("demo", "every recipe", "every model", "people", "mondrian")


@pytest.fixture(scope="module")
def clickhouse() -> Iterator[grammars.ClickHouse]:
    """ClickHouse with the tables."""
    server = grammars.ClickHouse()
    for name, table in TABLES.items():
        server.create(name, *table)
    yield server
    server.close()


@pytest.mark.parametrize("form", [None, "table", "view"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled
def test_clickhouse_has_the_rows_of_the_release_again_and_again(
    plans: dict[str, Plan], clickhouse: grammars.ClickHouse, case: str, form: str | None
) -> None:
    recoding = plans[case].recoding
    recoding.prepare()
    expected = sorted(map(_shown, recoding.engine.rows(recoding.release_sql())))
    script = _script(plans[case], "clickhouse", form)
    for _ in range(2):
        rows = clickhouse.run(script)
        if form:
            rows = clickhouse.run("SELECT * FROM clinic.anon")
        assert sorted(map(_shown, rows)) == expected
    if form:
        clickhouse.run(f"DROP {form.upper()} clinic.anon")


def _shown(row: Any) -> tuple[str, ...]:
    """A row as texts, whichever way a system shows NULL, numbers and conditions."""
    words = {"\\N": "None", "true": "True", "false": "False"}
    return tuple(words.get(text, text.removesuffix(".0")) for text in map(str, row))


def test_clickhouse_fails_beyond_the_suppression_limit(plans: dict[str, Plan], clickhouse: grammars.ClickHouse) -> None:
    script = _script(plans["every model"], "clickhouse", None)
    one_person = script.replace('FROM "clinic"."people"', "FROM (SELECT * FROM clinic.people LIMIT 1)")
    with pytest.raises(Exception, match="1 of 1 rows would be left out"):
        clickhouse.run(one_person)


@pytest.fixture(scope="module")
def bigquery() -> grammars.BigQuery:
    """BigQuery's SQL with the tables."""
    server = grammars.BigQuery()
    for name, table in TABLES.items():
        server.create(name, *table)
    return server


@pytest.mark.parametrize("case", ["every recipe", "every model", "people"])  # the others take seconds
@pytest.mark.sampled
def test_bigquery_returns_the_rows_of_the_release(
    plans: dict[str, Plan], bigquery: grammars.BigQuery, case: str
) -> None:
    recoding = plans[case].recoding
    recoding.prepare()
    expected = sorted(map(_shown, recoding.engine.rows(recoding.release_sql())))
    rows = bigquery.run(_script(plans[case], "bigquery", None), recoding.columns)
    assert sorted(map(_shown, rows)) == expected


def test_bigquery_fails_beyond_the_suppression_limit(plans: dict[str, Plan]) -> None:
    one_person = grammars.BigQuery()
    one_person.create("people", TYPES, ROWS[:1])
    with pytest.raises(Exception, match="1 of 1 rows would be left out"):
        one_person.run(_script(plans["every model"], "bigquery", None), plans["every model"].recoding.columns)


@pytest.mark.parametrize("form", ["table", "view"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled
def test_bigquery_finds_no_error(
    plans: dict[str, Plan], bigquery: grammars.BigQuery, case: str, form: str | None
) -> None:
    bigquery.check(_script(plans[case], "bigquery", form))


@pytest.mark.parametrize("form", ["table", "view"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.sampled
def test_our_own_engines_have_the_rows_of_the_release_again_and_again(
    plans: dict[str, Plan], engine: Engine, case: str, form: str
) -> None:
    name, recoding = plans[case].problem.spec.source, plans[case].recoding
    types, rows = TABLES[name]
    create_table(engine, name, {column: WIDE.get(kind, kind) for column, kind in types.items()}, rows)
    recoding.prepare()
    expected = sorted(map(_shown, recoding.engine.rows(recoding.release_sql())))
    script = target_sql(recoding, Target(table="anon", form=form, overwrite=True), engine.dialect, Relation(name))
    for _ in range(2):
        for statement in grammars.statements(script):
            engine.run(statement)
        assert sorted(map(_shown, engine.rows("SELECT * FROM anon"))) == expected


@pytest.mark.spark
@pytest.mark.parametrize("case", ["demo", "every recipe", "people", "mondrian"])
@pytest.mark.sampled
def test_spark_has_the_rows_of_the_release_again_and_again(
    plans: dict[str, Plan], chosen_spark: Any, case: str
) -> None:
    """As a view: Sail renames no tables. In the query of every model it finds a column twice, which it is not."""
    name, recoding = plans[case].problem.spec.source, plans[case].recoding
    types, rows = TABLES[name]
    create_table(chosen_spark, name, {column: WIDE.get(kind, kind) for column, kind in types.items()}, rows)
    recoding.prepare()
    expected = sorted(map(_shown, recoding.engine.rows(recoding.release_sql())))
    script = target_sql(recoding, Target(table="anon", form="view", overwrite=True), "spark", Relation(name))
    for _ in range(2):
        for statement in grammars.statements(script):
            chosen_spark.run(statement)
        assert sorted(map(_shown, chosen_spark.rows("SELECT * FROM anon"))) == expected


@pytest.mark.parametrize("form", ["table", "view"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dialect", ["trino", "athena"])
@pytest.mark.sampled
def test_trino_finds_no_error(plans: dict[str, Plan], dialect: str, case: str, form: str) -> None:
    grammars.trino(_script(plans[case], dialect, form))


@pytest.mark.parametrize(
    ("case", "form"),
    [("demo", "view"), ("every recipe", "table"), ("every model", None), ("mondrian", "view")],
)
@pytest.mark.parametrize("dialect", ["snowflake", "databricks", "redshift"])
@pytest.mark.sampled
def test_sqlfluff_finds_no_error(plans: dict[str, Plan], dialect: str, case: str, form: str | None) -> None:
    grammars.sqlfluff(_script(plans[case], dialect, form), dialect)
