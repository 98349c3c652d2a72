"""A release as a dbt model in plain SQL: its files, and its rows if the files are read as dbt reads them."""

import csv
import io
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import jinja2
import pytest
import yaml

import kanon_sql
from kanon_sql.engine import Engine
from kanon_sql.errors import SpecError, StatementWarning, TargetError
from kanon_sql.verbs.dbt_project import DbtProject
from support.command_line import kanon
from support.database import MakeTable

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "dbt"
ODD = [" ", "null", " x", "a,b", 'a"b', "a'b", "#a", "{{ a }}", "{% a %}", "{# a", "a\\b", "é"]
CITY, ILL = 'the "{{ city }}"', "{% ill %}"


def rendered(model: kanon_sql.DbtModel, dialect: str, empty: bool = False) -> str:
    """The SQL of a model as dbt has it for an adapter, where refs have no schema."""

    def raise_compiler_error(message: str) -> None:
        raise SpecError(message)

    known = {
        "ref": lambda name: f'"{name}"',
        "source": lambda _, name: f'"{name}"',
        "config": lambda **_: "",
        "target": {"type": dialect},
        "execute": True,
        "flags": {"EMPTY": empty},
        "model": {"name": model.name},
        "exceptions": {"raise_compiler_error": raise_compiler_error},
    }
    return jinja2.Template(model.files[f"models/{model.name}.sql"], undefined=jinja2.StrictUndefined).render(known)


def test_the_compiled_model_returns_the_rows_of_the_release(
    engine: Engine, make_table: MakeTable, tmp_path: Path
) -> None:
    values = [*ODD, *(f"v{i:03d}" for i in range(230))]
    with (tmp_path / "cities.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=";").writerows([value, f"{{{{ {value[-1:]} }}}}", "*"] for value in values)
    rows = [(i * 3, value, i % 3) for i, value in enumerate(values)] * 4
    make_table(engine, "stg_people", {"age": "INTEGER", CITY: "VARCHAR(20)", ILL: "INTEGER"}, rows)
    cities = {"hierarchy": str(tmp_path / "cities.csv"), "max_level": 1}
    spec: dict[str, Any] = {
        "quasi_identifiers": {"age": {"hierarchy": {"ranges": [50, 400]}}, CITY: cities},
        "sensitive": [ILL],
        "privacy": {"k": 8, "l_diversity": {ILL: 2}},
        "suppression_limit": 0.3,
    }
    connection = engine.connection  # type: ignore[attr-defined]
    model = kanon_sql.compile_dbt("stg_people", spec, connection=connection, dialects=["duckdb", "postgres"])
    (name,) = (name for name in model.files if name.endswith(".csv"))
    header, *seed = csv.reader(io.StringIO(model.files[name]))
    assert header == ["value", "label"]
    assert 200 < len(seed) < len(values), "odd values stand in the statement"
    make_table(engine, Path(name).stem, {"value": "VARCHAR(20)", "label": "VARCHAR(20)"}, [tuple(row) for row in seed])
    release = kanon_sql.anonymize("stg_people", spec, connection=connection)
    assert release.place.relation is not None
    expected = engine.rows(f'SELECT * FROM "{release.place.relation.name}"')
    assert len(expected) < len(rows), "some classes are too small"
    assert engine.rows(rendered(model, engine.dialect)) == expected
    engine.run("DROP TABLE stg_people")
    make_table(engine, "stg_people", {"age": "INTEGER", CITY: "VARCHAR(20)", ILL: "INTEGER"}, rows[:20])
    with pytest.raises(Exception, match=r"20 of 20 rows would be left out, and the suppression limit is 0\.3; compile"):
        connection.execute(f"CREATE TABLE built AS {rendered(model, engine.dialect)}")
    with pytest.raises(SpecError, match="is compiled for duckdb and postgres: compile it again with --dialect snow"):
        rendered(model, "snowflake")


@pytest.mark.parametrize(("units", "newcomer"), [(["hour", "day"], "2025-01-01"), (["day", "week"], "2025-W01")])
def test_days_and_weeks_of_moments_are_expressions_in_the_time_zone_of_the_run(
    engine: Engine, make_table: MakeTable, units: list[str], newcomer: str
) -> None:
    moments = [datetime(2024, 2, 28, 12, tzinfo=UTC) + timedelta(minutes=minute) for minute in range(0, 4320, 11)]
    make_table(engine, "visits", {"at": "TIMESTAMPTZ"}, [(moment,) for moment in moments])
    spec = {"quasi_identifiers": {"at": {"hierarchy": {"dates": units}}}, "node": {"at": 2}}
    connection = engine.connection  # type: ignore[attr-defined]
    release = kanon_sql.anonymize("visits", spec, connection=connection)
    assert release.place.relation is not None
    expected = engine.rows(f'SELECT * FROM "{release.place.relation.name}"')
    with warnings.catch_warnings(action="error", category=StatementWarning):
        model = kanon_sql.compile_dbt("visits", spec, connection=connection)
    assert len(model.files) == 2, "no seed of moments"
    engine.run("SET TimeZone = 'Asia/Tokyo'")
    assert engine.rows(rendered(model, engine.dialect)) == expected
    newcomers = [(datetime(2025, 1, 1, 12, minute, tzinfo=UTC),) for minute in range(6)]
    engine.run("DROP TABLE visits")
    make_table(engine, "visits", {"at": "TIMESTAMPTZ"}, [*((moment,) for moment in moments), *newcomers])
    assert engine.rows(rendered(model, engine.dialect)) == [*expected, *[(newcomer,)] * 6]
    with pytest.warns(StatementWarning, match="recipe of 'at' is not an expression"):
        kanon_sql.compile_dbt("visits", spec, connection=connection, dialects=["databricks"])


def test_the_compiled_model_of_the_example_is_current(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "example.duckdb")) as connection:
        types = yaml.safe_load((EXAMPLE / "seeds" / "raw_patients.yml").read_text())["seeds"][0]["config"][
            "column_types"
        ]
        read = f"read_csv('{EXAMPLE}/seeds/raw_patients.csv', columns = {types})"
        connection.execute(f"CREATE TABLE stg_patients AS FROM {read}")
        model = kanon_sql.compile_dbt(
            None,
            EXAMPLE / "release.yml",
            connection=connection,
            into="patients_k5_sql",
            dialects=["duckdb", "postgres"],
        )
    assert len(model.files) == 3
    for name, text in model.files.items():
        again = "kanon compile --spec release.yml … --overwrite, as examples/dbt/README.md says"
        assert (EXAMPLE / name).read_text(encoding="utf-8") == text, f"{name} is of another version: run {again}"


PROPERTIES: dict[str, Any] = {"quasi_identifiers": {"zip": {"hierarchy": {"redact": "right"}}}, "privacy": {"k": 5}}


def compiled(spec: dict[str, Any], **options: Any) -> kanon_sql.DbtModel:
    with duckdb.connect() as connection:
        columns = "i AS id, '1' || i % 7 AS zip, i % 3 AS ill, i % 50 AS pay"
        connection.execute(f"CREATE TABLE people AS SELECT {columns} FROM range(300) AS t(i)")
        return kanon_sql.compile_dbt("people", PROPERTIES | spec, connection=connection, **options)


def test_the_properties_test_the_guarantees_of_the_release() -> None:
    spec = {
        "identifiers": ["id"],
        "sensitive": ["ill"],
        "privacy": {"k": 5, "l_diversity": {"ill": 2}, "t_closeness": {"pay": {"t": 0.5, "distance": "ordered"}}},
    }
    model = compiled(spec)
    assert (model.name, model.reads) == ("people_anon", "people")
    (described,) = yaml.safe_load(model.files["models/people_anon.yml"])["models"]
    columns = {column["name"]: column["data_type"] for column in described["columns"]}
    assert columns == {"zip": "TEXT", "ill": "BIGINT", "pay": "BIGINT"}, "labels are text"
    assert described["config"]["meta"]["kanon"]["node"] == model.node == {"zip": 0}
    arguments = {name: reported["arguments"] for test in described["data_tests"] for name, reported in test.items()}
    classes = {"quasi_identifiers": ["zip"]}
    assert arguments == {
        "kanon.suppression": {"against": "ref('people')", "suppression_limit": 0.02},
        "kanon.k_anonymity": {**classes, "k": 5},
        "kanon.l_diversity": {**classes, "sensitive": "ill", "l": 2, "kind": "distinct"},
        "kanon.t_closeness": {
            **classes, "sensitive": "pay", "t": 0.5, "distance": "ordered", "against": "ref('people')"
        },
        "kanon.no_identifiers": {"identifiers": ["id"], **classes, "sensitive": ["ill", "pay"]},
    }  # fmt: skip


def test_people_are_counted_by_the_model_alone() -> None:
    model = compiled({"unit": "id", "privacy": {"k": 5, "t_closeness": {"ill": 0.9}}, "keep": []})
    (described,) = yaml.safe_load(model.files["models/people_anon.yml"])["models"]
    assert [name for test in described["data_tests"] for name in test] == [
        "kanon.suppression", "kanon.k_anonymity", "kanon.no_identifiers",
    ]  # fmt: skip
    assert "counted by id" in described["description"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ref": "a b"}, "'a b' cannot be the name of a dbt model; choose one of letters, digits and _ with `ref`"),
        ({"into": "people"}, "the model people cannot read itself; choose another name with `into`"),
        ({"into": "x; drop"}, "cannot be the name of a dbt model"),
        ({"dialects": ["tsql"]}, "a release cannot be printed for tsql"),
        ({"mask": True}, "mask"),
        ({"strategy": "mondrian"}, "name a search strategy"),
    ],
)
def test_impossible_compilations_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        compiled({"keep": ["ill"], "identifiers": ["id"]}, **options)


def test_a_model_of_what_another_system_has_counted(tmp_path: Path) -> None:
    file = tmp_path / "fs.parquet"
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE people AS SELECT '1' || i % 7 AS zip, i % 3 AS ill FROM range(300) AS t(i)")
        counting = kanon_sql.frequency_set_sql({**PROPERTIES, "source": "people"})
        connection.sql(counting).write_parquet(str(file))
        there = kanon_sql.compile_dbt("people", PROPERTIES, connection=connection, keep=[], dialects=["snowflake"])
    spec = {**PROPERTIES, "source": "people", "keep": []}
    with pytest.raises(SpecError, match="name it with `ref`"):
        kanon_sql.compile_dbt(None, spec, frequency_set=file)
    here = kanon_sql.compile_dbt(None, spec, frequency_set=file, ref="people", dialects=["snowflake"])
    assert here.files == there.files
    kept = kanon_sql.compile_dbt(
        None, {**spec, "keep": ["ill"], "node": {"zip": 2}}, frequency_set=file, ref="people", dialects=["snowflake"]
    )
    assert kept.node == {"zip": 2}
    (described,) = yaml.safe_load(kept.files["models/people_anon.yml"])["models"]
    assert [column.get("data_type") for column in described["columns"]] == ["VARCHAR", None], "ill was not counted"
    assert """, s."ill" FROM {{ ref('people').render() }} AS s LIMIT 0""" in kept.files["models/people_anon.sql"]


def test_data_that_are_no_table_need_the_name_of_a_model() -> None:
    import pandas

    with pytest.raises(SpecError, match="name it with `ref`"):
        kanon_sql.compile_dbt(pandas.DataFrame({"zip": ["1"] * 9}), PROPERTIES)


def test_files_are_written_together_and_replaced_only_on_request(tmp_path: Path) -> None:
    model = compiled({"keep": ["ill"], "identifiers": ["id"]})
    with pytest.raises(TargetError, match=r"there is no dbt_project\.yml in"):
        model.write(tmp_path)
    (tmp_path / "dbt_project.yml").write_text("name: x\n")
    with pytest.raises(TargetError, match="has no model, seed or snapshot people; name one of its models"):
        model.write(tmp_path)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "people.sql").write_text("select 1 as zip")
    mine = tmp_path / "models" / "people_anon.yml"
    mine.write_text("mine")
    with pytest.raises(TargetError, match=r"people_anon\.yml exists already"):
        model.write(tmp_path)
    assert sorted(path.name for path in (tmp_path / "models").iterdir()) == ["people.sql", "people_anon.yml"]
    assert mine.read_text() == "mine"
    assert set(model.write(tmp_path, overwrite=True)) == {tmp_path / name for name in model.files}
    assert mine.read_text() == model.files["models/people_anon.yml"]


def test_the_node_of_an_existing_model_is_kept_while_it_satisfies_the_models(tmp_path: Path) -> None:
    (tmp_path / "dbt_project.yml").write_text("name: x\n")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "stg_people.sql").write_text("")
    odd = 'a "{{ zip }}"'
    with duckdb.connect() as connection:
        columns = f"'1' || i % 40 AS \"{odd.replace(chr(34), chr(34) * 2)}\", i % 3 AS ill"
        connection.execute(f"CREATE TABLE people AS SELECT {columns} FROM range(300) AS t(i)")
        options: dict[str, Any] = {"connection": connection, "project": tmp_path, "ref": "stg_people", "keep": ["ill"]}
        recipes: dict[str, Any] = {"quasi_identifiers": {odd: {"hierarchy": {"redact": "right"}}}}
        first = kanon_sql.compile_dbt("people", recipes, k=50, **options)
        assert (first.node, first.node_kept) == ({odd: 1}, False)
        first.write(tmp_path)
        again = kanon_sql.compile_dbt("people", recipes, k=5, **options)
        assert (again.node, again.node_kept, again.files.keys()) == (first.node, True, first.files.keys())
        assert kanon_sql.compile_dbt("people", recipes, k=5, search_again=True, **options).node == {odd: 0}
        for k, changed in ((200, recipes), (5, {"quasi_identifiers": {odd: {"hierarchy": "suppress"}}})):
            other = kanon_sql.compile_dbt("people", changed, k=k, **options)
            assert not other.node_kept, "it does not satisfy k = 200, or its levels are others"
        named = kanon_sql.compile_dbt("people", recipes, k=5, node_from={"node": {odd: 2}, "roles": {
            "quasi_identifiers": [odd]}}, **options)  # fmt: skip
        assert (named.node, named.node_kept) == ({odd: 2}, False)


@pytest.mark.parametrize(
    ("ref", "found"),
    [
        *((name, True) for name in ("stg", "versioned", "renamed", "older", "kept", "other", "x.stg", "pack.other")),
        *((name, False) for name in ("stg_", "x.other", "pack.stg", "nowhere.stg", "schema", "odd")),
    ],
)
def test_a_ref_is_a_model_a_seed_or_a_snapshot_of_the_project_or_a_package(
    tmp_path: Path, ref: str, found: bool
) -> None:
    files = {
        "dbt_project.yml": "name: x\nmodel-paths: [transform]\npackages-install-path: packs\n",
        "transform/a/stg.sql": "select 1",
        "transform/versioned_v2.py": "",
        "transform/schema.yml": "models: [{name: renamed, versions: [{v: 1, defined_in: odd_file}]}, {name: odd}]",
        "seeds/older.csv": "a\n1\n",
        "snapshots/any.sql": "{% snapshot kept %} select 1 {% endsnapshot %}",
        "snapshots/broken.yml": "snapshots: [{{",
        "packs/pack/dbt_project.yml": "name: pack\n",
        "packs/pack/models/other.sql": "select 1",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    if found:
        DbtProject(tmp_path).check_ref(ref)
        return
    with pytest.raises(TargetError, match=r"has no (package nowhere|model, seed or snapshot)"):
        DbtProject(tmp_path).check_ref(ref)


def test_mapping_tables_are_in_the_query_or_in_the_database_instead_of_the_project(
    engine: Engine, make_table: MakeTable, tmp_path: Path
) -> None:
    values = [*ODD, *(f"v{i:03d}" for i in range(230))]
    with (tmp_path / "cities.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=";").writerows([value, f"of {value[-1:]}", "*"] for value in values)
    make_table(engine, "stg_people", {"city": "VARCHAR(20)"}, [(value,) for value in values] * 4)
    connection = engine.connection  # type: ignore[attr-defined]
    recipe = {"hierarchy": str(tmp_path / "cities.csv"), "min_level": 1, "max_level": 1}
    spec: dict[str, Any] = {"quasi_identifiers": {"city": recipe}, "privacy": {"k": 4}}
    inline = kanon_sql.compile_dbt("stg_people", spec, connection=connection, mappings="inline")
    assert sorted(inline.files) == ["models/stg_people_anon.sql", "models/stg_people_anon.yml"]
    expected = engine.rows(rendered(inline, engine.dialect))
    assert len(expected) == 4 * len(values)
    for _ in range(2):  # ours are replaced
        model = kanon_sql.compile_dbt("stg_people", spec, connection=connection, mappings="table")
    assert not [name for name in model.files if name.startswith("seeds/")]
    assert not [value for value in values if any(f"'{value}'" in text for text in model.files.values())]
    assert engine.rows(rendered(model, engine.dialect)) == expected
    (listed,) = yaml.safe_load(model.files["models/stg_people_anon.yml"])["sources"]
    assert [table["name"] for table in listed["tables"]] == ["stg_people_anon__city"]
    engine.run("DROP TABLE stg_people_anon__city")
    make_table(engine, "stg_people_anon__city", {"mine": "INTEGER"})
    with pytest.raises(TargetError, match="is not a mapping table of stg_people_anon; rename it"):
        kanon_sql.compile_dbt("stg_people", spec, connection=connection, mappings="table")
    with pytest.raises(SpecError, match="where a model for snowflake cannot read them"):
        kanon_sql.compile_dbt("stg_people", spec, connection=connection, mappings="table", dialects=["snowflake"])


def test_the_command_writes_into_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dbt_project.yml").write_text("name: x\nmodel-paths: [transform]\n")
    (tmp_path / "transform").mkdir()
    (tmp_path / "transform" / "stg_people.py").write_text("")
    (tmp_path / "people.csv").write_text("zip,ill\n" + "12,x\n13,y\n" * 9)
    recipes = "quasi_identifiers: {zip: {hierarchy: {redact: right}}}"
    (tmp_path / "release.yml").write_text(f"source: people.csv\n{recipes}\nkeep: [ill]\n")
    line = ["compile", "--spec", "release.yml", "--k", 4, "--dbt", "."]
    refused = kanon(*line)
    assert (refused.code, "name it with --ref" in refused.err) == (2, True)
    mistyped = kanon(*line, "--ref", "stg_peple")
    assert mistyped.code == 2
    assert "no model, seed or snapshot stg_peple; did you mean stg_people?" in mistyped.err
    line += ["--ref", "stg_people", "--into", "marts/people_k4"]
    done = kanon(*line, "--dialect", "duckdb,postgres")
    files = ["transform/marts/people_k4.sql", "transform/marts/people_k4.yml"]
    assert (done.code, done.out.split()) == (0, files), done.err
    text = (tmp_path / "transform" / "marts" / "people_k4.sql").read_text()
    assert text.count("{{ ref('stg_people') }} AS s") in (1, 2)
    assert kanon(*line).code == 2, "they exist"
    kept = kanon(*line, "--overwrite")
    assert (kept.code, "kept the node of the existing model (zip 0)" in kept.err) == (0, True)
    assert "kept the node" not in kanon(*line, "--overwrite", "--search-again").err
    assert "leave out one of them" in kanon(*line, "--table", "t").err
    line = ["compile", "--spec", "release.yml", "--k", 4, "--dbt", "."]
    assert "applies only to a dbt model" in kanon(*line[:-2], "--ref", "t").err
    nowhere = kanon(*line[:-1], "elsewhere", "--ref", "stg_people")
    assert (nowhere.code, "there is no dbt_project.yml in elsewhere" in nowhere.err) == (2, True)
