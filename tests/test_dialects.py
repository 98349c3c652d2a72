"""Statements for systems without execution tests: printed as in their snapshots, and read by their own parsers.

`KANON_RENEW=1 pytest tests/test_dialects.py` writes the snapshots anew; read what changed before you keep it.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

import kanon_sql
from kanon_sql import queries
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, plan_release
from kanon_sql.plan.source import opened, settle_spec
from kanon_sql.queries import Relation, dialects, inlined_tables
from kanon_sql.release.recoded import target_sql
from kanon_sql.spec import Target
from support.database import create_table

SNAPSHOTS = Path(__file__).parent / "snapshots"
TYPES = {
    "age": "INTEGER",
    "Weight": "DOUBLE PRECISION",
    "zip": "VARCHAR",
    "born": "DATE",
    "ward": "VARCHAR",
    "code": "INTEGER",
    "ill": "VARCHAR",
    "pay": "INTEGER",
    "n": "VARCHAR",
}
ROWS: list[tuple[Any, ...]] = [
    (20 + i % 30, i / 4, f"0213{i % 7}", f"19{60 + i % 40}-01-{1 + i % 9:02}", "NS"[i % 2], i % 5, "abc"[i % 3], i, "x")
    for i in range(120)
]
RECIPES: dict[str, Any] = {
    "age": {"ranges": [10], "bottom": 18, "top": 65},
    "Weight": {"ranges": [7], "origin": 3},
    "zip": {"redact": "right"},
    "born": {"dates": ["quarter"]},
}
MODELS: dict[str, Any] = {
    "l_diversity": {"ill": {"l": 1.2, "kind": "entropy"}, "n": {"l": 1}},
    "t_closeness": {"pay": {"t": 0.9, "distance": "ordered"}, "ill": {"t": 0.8}},
    "alpha_k": {"ill": {"alpha": 0.9}},
    "beta_likeness": {"ill": {"beta": 9}},
    "delta_disclosure": {"ill": {"delta": 9}},
}


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Plan]]:
    """Two finished searches: of every recipe with k alone, and of one column with every model that counts values."""
    folder = tmp_path_factory.mktemp("hierarchies")
    (folder / "ward.csv").write_text("N;north\nS;south\nit's;south\n")
    (folder / "code.csv").write_text("".join(f"{code};{code // 2}\n" for code in range(6)))
    create_table(engine := DuckDB(), "people", TYPES, ROWS)
    columns: dict[str, Any] = {name: {"hierarchy": recipe} for name, recipe in RECIPES.items()}
    columns |= {name: {"hierarchy": str(folder / f"{name}.csv")} for name in ("ward", "code")}
    columns = {name: {**item, "min_level": 1, "max_level": 1} for name, item in columns.items()}
    every = {"quasi_identifiers": columns, "keep": ["n"], "privacy": {"k": 1}, "shuffle": True}
    one = {"quasi_identifiers": {"age": {"hierarchy": {"ranges": [10]}}}, "privacy": {"k": 2, **MODELS}, "keep": []}
    with ExitStack() as stack:
        data = stack.enter_context(opened("people", settle_spec("people", every, {}), engine.connection))
        stack.enter_context(data.scratches)
        specs = {"every recipe": every, "every model": one}
        settled = {name: settle_spec("people", spec, {}).as_standalone() for name, spec in specs.items()}
        plan_of = {name: plan_release(data, spec, Observer()) for name, spec in settled.items()}
        yield {name: plan for name, plan in plan_of.items() if plan.outcome}


def _printed(plans: dict[str, Plan], dialect: str) -> dict[str, str]:
    """All that can be printed in a dialect: with a long mapping table, as a view, and the query of a frequency set."""
    source, target = Relation("clinic", "people"), Target(table="clinic.anon", form="view")
    of_every = target_sql(plans["every recipe"].recoding, target, dialect, source)
    of_models = target_sql(plans["every model"].recoding, None, dialect, source)
    spec = {"source": "clinic.people", "quasi_identifiers": ["age", "zip"], "privacy": MODELS}
    exported = kanon_sql.frequency_set_sql(spec, dialect=dialect)
    return {"every recipe": of_every, "every model": of_models, "frequency set": exported}


@pytest.mark.parametrize("dialect", dialects.PRINTED)
@pytest.mark.sampled
def test_a_release_is_printed_as_in_its_snapshot(
    plans: dict[str, Plan], monkeypatch: pytest.MonkeyPatch, dialect: str
) -> None:
    for most in ("MOST_ROWS", "_MOST_LINES"):  # so that code has a table of its own, and ward has not
        monkeypatch.setattr(inlined_tables, most, 4)
    printed = _printed(plans, dialect)
    text = "".join(f"-- {name}\n\n{sql};\n\n" for name, sql in printed.items())
    kept = SNAPSHOTS / f"{dialect}.sql"
    if os.environ.get("KANON_RENEW"):
        kept.write_text(text, encoding="utf-8")
    assert text == kept.read_text(encoding="utf-8")
    for sql in printed.values():
        statements = sqlglot.parse(sql, dialect)
        assert all(isinstance(statement, (exp.Query, exp.Create, exp.Insert, exp.Drop)) for statement in statements)
        names = [name for statement in statements if statement for name in statement.find_all(exp.Identifier)]
        unquoted = {name.name for name in names if not name.quoted}
        of_clickhouse = {"join_use_nulls", "prefer_column_name_to_alias", "MergeTree"}
        assert unquoted <= of_clickhouse, "an unquoted name may be another one there"


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_statements_of_tested_engines_are_printed_unchanged(plans: dict[str, Plan], dialect: str) -> None:
    """The rows are compared in test_standalone; here only the words that a person reads."""
    statement = plans["every recipe"].recoding.standalone(dialect=dialect)
    assert "DENSE_RANK() OVER (" in statement.query
    assert "MATERIALIZED" in statement.query
    assert statement.tables == ()


@pytest.mark.parametrize("dialect", ["tsql", "mysql", "oracle", "klingon"])
def test_an_unsuitable_dialect_is_refused_by_name(dialect: str) -> None:
    with pytest.raises(SpecError, match=dialect):
        queries.check_dialect(dialect)


def test_an_inexpressible_part_is_refused_by_name() -> None:
    with pytest.raises(SpecError, match="redshift cannot express this release: TABLESAMPLE unsupported"):
        dialects.printed(sqlglot.parse_one("SELECT a FROM t TABLESAMPLE (5 ROWS)", "duckdb"), "redshift")


def test_a_materialized_view_is_for_postgresql(plans: dict[str, Plan]) -> None:
    target = Target(table="anon", form="materialized")
    with pytest.raises(SpecError, match="a materialized view is for PostgreSQL"):
        target_sql(plans["every recipe"].recoding, target, "snowflake", Relation("people"))


@pytest.mark.parametrize("dialect", dialects.DIALECTS)
def test_only_the_target_remains(plans: dict[str, Plan], monkeypatch: pytest.MonkeyPatch, dialect: str) -> None:
    for most in ("MOST_ROWS", "_MOST_LINES"):
        monkeypatch.setattr(inlined_tables, most, 4)
    beside_view = {"clinic.anon__code"} if dialect != "athena" else set()
    for form, beside in (("table", set()), ("view", beside_view)):
        target = Target(table="clinic.anon", form=form)
        script = target_sql(plans["every recipe"].recoding, target, dialect, Relation("clinic", "people"))
        created = [item for item in sqlglot.parse(script, dialect) if isinstance(item, exp.Create)]
        lasting = [item for item in created if not _is_temporary(item)]
        names = {".".join(part.name for part in item.find(exp.Table).parts) for item in lasting}
        assert names == {"clinic.anon", *beside}
        assert (len(created) > len(lasting)) == (form == "table" and dialect in TEMPORARY)


def _is_temporary(created: exp.Create) -> bool:
    return created.find(exp.Table).name.startswith("#") or bool(created.find(exp.TemporaryProperty))


TEMPORARY = ("duckdb", "postgres", "snowflake", "bigquery", "redshift", "clickhouse")


@pytest.mark.spark(form=(None,))  # Sail renames no tables
@pytest.mark.parametrize("form", [None, "table", "view"])
def test_a_script_leaves_no_values_and_can_be_run_again(engine: Any, tmp_path: Path, form: str | None) -> None:
    (tmp_path / "code.csv").write_text("".join(f"{code};{code // 50};*\n" for code in range(230)))
    create_table(engine, "people", {"code": "INTEGER"}, [(i % 230,) for i in range(1_000)])
    recipe = {"hierarchy": str(tmp_path / "code.csv"), "min_level": 1, "max_level": 1}
    spec = {"quasi_identifiers": {"code": recipe}, "privacy": {"k": 5}}
    target = {"into": "anon", "form": form, "overwrite": True} if form else {}
    script = kanon_sql.anonymize_sql("people", spec, connection=engine.connection, **target)
    for _ in range(2):
        _run(engine, script)
        if form:
            assert len(engine.rows("SELECT * FROM anon")) == 1_000
    if form:
        engine.run(f"DROP {form.upper()} anon")
    if form == "view":
        engine.run("DROP TABLE anon__code")
    lasting = {relation.name for relation in engine.relations() if relation.parts[-2] != "temp"}
    assert {name for name in lasting if "kanon" in name or "anon" in name} == set()


def test_a_script_that_fails_leaves_the_earlier_release(engine: Any) -> None:
    create_table(engine, "people", {"age": "INTEGER"}, [(i % 3,) for i in range(30)])
    spec = {"quasi_identifiers": {"age": {"hierarchy": "suppress", "max_level": 0}}, "privacy": {"k": 5}}
    target = {"into": "anon", "overwrite": True}
    script = kanon_sql.anonymize_sql("people", spec, connection=engine.connection, **target)
    _run(engine, script)
    engine.run("INSERT INTO people VALUES (7), (8), (9)")
    with pytest.raises(SourceError, match="stopped at a value"):
        _run(engine, script)
    if "BEGIN" in script:
        engine.run("ROLLBACK")
    assert len(engine.rows("SELECT * FROM anon")) == 30


def _run(engine: Any, script: str) -> None:
    for statement in script.split(";\n\n"):
        engine.run(statement)


@pytest.mark.parametrize("source", ["ward.clinic.anon", "Clinic.Anon", "anon__new", "clinic.anon__code"])
def test_a_script_does_not_replace_its_source(
    plans: dict[str, Plan], monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    for most in ("MOST_ROWS", "_MOST_LINES"):
        monkeypatch.setattr(inlined_tables, most, 4)
    target = Target(table="clinic.anon", form="view", overwrite=True)
    with pytest.raises(SpecError, match=r"would replace its own source by clinic\.anon.*; choose another name"):
        target_sql(plans["every recipe"].recoding, target, "trino", Relation(*source.split(".")))


def test_names_with_blanks_get_column_mapping_on_databricks(embedded: DuckDB) -> None:
    create_table(embedded, "people", {"my age": "INTEGER"}, [(i % 3,) for i in range(30)])
    spec = {"quasi_identifiers": {"my age": {"hierarchy": "suppress"}}, "privacy": {"k": 5}}
    options = {"dialect": "databricks", "into": "anon", "overwrite": True, "node": {"my age": 1}}
    printed = kanon_sql.compile("people", spec, connection=embedded.connection, **options).sql
    mapping = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    assert f"CREATE OR REPLACE TABLE `anon` {mapping} AS WITH" in printed
    assert "-- levels: my age 1; loss 1.0000, not searched" in printed
    assert sqlglot.parse_one(printed, "databricks")


def test_names_are_printed_in_the_case_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,my zip\n" + "30,0213\n" * 9)
    recipes = {"age": {"hierarchy": "suppress"}, "my zip": {"hierarchy": {"redact": "right"}}}
    spec = {"source": str(tmp_path / "people.csv"), "quasi_identifiers": recipes}
    target = {"table": "clinic.people", "into": "clinic.anon"}
    printed = kanon_sql.compile(spec=spec, dialect="snowflake", names="upper", **target)
    quoted = [name.name for name in sqlglot.parse_one(printed.sql, "snowflake").find_all(exp.Identifier)]
    assert {name for name in quoted if name != name.upper()} == {"my zip"}
    assert {"AGE", "CLINIC", "PEOPLE", "ANON"} <= set(quoted)
    assert "--names upper" not in printed.sql
    assert "--names upper" in kanon_sql.compile(spec=spec, dialect="snowflake", **target).sql
    counting = kanon_sql.frequency_set_sql(spec, dialect="snowflake", table="people", names="upper")
    assert 'SELECT\n  "AGE" AS "age",\n  "my zip",' in counting
    assert 'GROUP BY\n  "AGE",\n  "my zip"' in counting
    for dialect, words in (("duckdb", "names are not changed for duckdb"), (None, "is for another system")):
        with pytest.raises(SpecError, match=words):
            kanon_sql.compile(spec=spec, dialect=dialect, names="upper")


def test_a_script_that_its_system_would_refuse_is_refused_with_the_way_out() -> None:
    codes = inlined_tables.WrittenTable("kanon_code", ("value",), (), tuple((code,) for code in range(70_000)))
    insert = "INSERT INTO t VALUES " + ", ".join("(0)" for _ in codes.rows)
    way_out = r"350,\d+ bytes of SQL \(most of them for the 70,000 values of kanon_code\), and athena accepts 262,144"
    way_out += " bytes in a statement; use recipes .* or write a dbt model"
    with pytest.raises(SpecError, match=way_out):
        queries.check_size(insert, "athena", (codes,))
    for dialect in ("trino", "spark", "clickhouse", "bigquery"):
        queries.check_size(insert, dialect, (codes,))
    with pytest.raises(SpecError, match="bigquery accepts 1,000,000 bytes in a script"):
        queries.check_size(";\n\n".join([insert] * 3), "bigquery", (codes,))
    queries.check_size(";\n\n".join([insert] * 3), "snowflake", (codes,))


def test_athena_replaces_views_alone(plans: dict[str, Plan]) -> None:
    source, target = Relation("people"), Target(table="anon", overwrite=True)
    with pytest.raises(SpecError, match="athena cannot replace a table by a statement; use `form='view'`"):
        target_sql(plans["every recipe"].recoding, target, "athena", source)
    view = target.model_copy(update={"form": "view"})
    assert "CREATE OR REPLACE VIEW" in target_sql(plans["every recipe"].recoding, view, "athena", source)
