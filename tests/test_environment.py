"""Options from the environment, and how much a command prints."""

import json
import re
from pathlib import Path

import duckdb
import pytest

from kanon_sql.cli.app import COMMANDS, command
from kanon_sql.cli.environment import SESSION, variable
from kanon_sql.spec import Spec, keys
from kanon_sql.verbs.suggest import Suggestions
from support.command_line import ASK, kanon

pytestmark = pytest.mark.usefixtures("folder")
RISK = ("risk", "people.csv", "--quasi-identifiers", "age,zip")
NOWHERE = "postgresql://me:secret@127.0.0.1:1/hospital"


def _database(path: Path, rows: str) -> Path:
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE people AS SELECT * FROM {rows}")
    return path


def _rows(*arguments: object) -> int:
    run = kanon(*arguments, "--json")
    assert run.code == 0, run
    return int(json.loads(run.out)["source"]["rows"])


# The environment


def test_only_options_of_the_session_have_variables() -> None:
    found = {}
    for name in COMMANDS:
        group = command(name)
        for each in getattr(group, "commands", {"": group}).values():
            found |= {parameter.name: parameter.envvar for parameter in each.params if parameter.envvar}
    assert found == {name: variable(name) for name in SESSION}
    groups = {keys.declared(Spec.model_fields[name]).group for name in SESSION} - {""}
    assert groups == {keys.DATA, keys.MACHINE}


def test_the_command_line_precedes_the_spec_and_the_spec_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = (
        _database(folder / f"{name}.duckdb", f"(FROM 'people.csv' LIMIT {rows})")
        for name, rows in (("small", 50), ("large", 100))
    )
    measure = ("risk", "people", "--quasi-identifiers", "age")
    monkeypatch.setenv("KANON_DATABASE", str(small))
    assert _rows(*measure) == 50
    assert _rows(*measure, "--database", large) == 100
    (folder / "release.yml").write_text(f"source: people\nquasi_identifiers: [age]\ndatabase: {large}\n")
    assert _rows("risk", "--spec", "release.yml") == 100
    (folder / "release.yml").write_text("source: people\nquasi_identifiers: [age]\n")
    assert _rows("risk", "--spec", "release.yml") == 50


def test_the_places_of_a_spec_are_not_mixed_with_those_of_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = _database(folder / "lake.duckdb", "'people.csv'")
    (folder / "release.yml").write_text(
        f"source: lake.main.people\nquasi_identifiers: [age]\nattach: {{lake: {lake}}}\n"
    )
    monkeypatch.setenv("KANON_DATABASE", NOWHERE)
    assert _rows("risk", "--spec", "release.yml") == 120


def test_commands_on_files_open_no_database_of_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANON_DATABASE", NOWHERE)
    assert _rows(*RISK) == 120
    (folder / "nightly.yml").write_text(
        "source: people.csv\nidentifiers: [name]\nquasi_identifiers: [age, zip]\nsensitive: [disease]\n"
        "hierarchies: h\nprivacy: {k: 3}\ntarget: {file: out.csv}\n"
    )
    assert kanon("run", "nightly.yml").code == 0
    assert (folder / "out.csv").exists()
    refused = kanon("risk", "people", "--quasi-identifiers", "age", "--json")
    assert refused.code == 2
    assert "secret" not in refused.err + refused.out


def test_a_pipeline_takes_its_database_and_limits_from_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = _database(folder / "hospital.duckdb", "'people.csv'")
    keys = (
        "source: people\nidentifiers: [name]\nquasi_identifiers: [age, zip]\nsensitive: [disease]\n"
        "hierarchies: h\nprivacy: {k: 3}\ntarget: {table: people_k3}\n"
    )
    (folder / "nightly.yml").write_text(keys)
    monkeypatch.setenv("KANON_DATABASE", str(database))
    monkeypatch.setenv("KANON_THREADS", "1")
    monkeypatch.setenv("KANON_TEMP_DIRECTORY", str(folder))
    assert json.loads(kanon("run", "nightly.yml", "--json").out)["releases"][0]["status"] == "released"
    again = json.loads(kanon("run", "nightly.yml", "--threads", 2, "--json").out)
    assert again["releases"][0]["status"] == "unchanged", "limits are not part of what is released"
    (folder / "nightly.yml").write_text(f"database: {folder / 'other.duckdb'}\n{keys}")
    assert "other.duckdb" in kanon("run", "nightly.yml").err


@pytest.mark.parametrize("value", ["0", "many"])
def test_a_wrong_variable_is_an_error_that_names_it(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANON_THREADS", value)
    run = kanon(*RISK, "--json")
    assert run.code == 2
    assert "KANON_THREADS" in json.loads(run.out)["error"]
    monkeypatch.setenv("KANON_THREADS", "")
    assert kanon(*RISK).code == 0, "an empty variable is not set"


@pytest.mark.parametrize("name", ["K", "SUPPRESSION_LIMIT", "DIFFERENCING_LIMIT", "SHOW_VALUES", "KEEP", "OVERWRITE"])
def test_no_variable_changes_the_release(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"KANON_{name}", "1")
    (folder / "h" / "zip.csv").write_text("02138;*\n")
    run = kanon("anonymize", "people.csv", *ASK, "--k", 3, "--output", "out.csv")
    assert run.code == 2
    assert "90210" not in run.err


def test_json_has_no_password() -> None:
    suggestions = Suggestions("people", NOWHERE, 1, (), 5, 0.05)
    assert suggestions.to_dict()["database"] is None
    assert Suggestions("people", "hospital.duckdb", 1, (), 5, 0.05).to_dict()["database"] == "hospital.duckdb"


# Output


def test_quiet_prints_errors_and_json_only(folder: Path) -> None:
    release = ("anonymize", "people.csv", *ASK[2:], "--keep", "name", "--k", 3, "--output", "out.csv", "--overwrite")
    plain = kanon(*release)
    assert "Verified" in plain.out
    assert "note:" in plain.err
    for quiet in ((*release, "--quiet"), ("--quiet", *release), (release[0], "--quiet", *release[1:])):
        run = kanon(*quiet)
        assert (run.code, run.out, run.err) == (0, "", "")
    assert json.loads(kanon(*release, "--quiet", "--json").out)["warnings"]
    assert kanon("anonymize", "people.csv", *ASK, "--k", 999, "--output", "x.csv", "--quiet").err.startswith("kanon: ")
    assert kanon("verify", "out.csv", "--quasi-identifiers", "age,zip", "--k", 3, "--quiet").code == 0
    assert kanon("verify", "out.csv", "--quasi-identifiers", "age,zip", "--k", 99, "--quiet").code == 1
    assert "Verified" in kanon(*release).out, "quiet ends with its command"
    assert (folder / "out.csv").exists()


@pytest.mark.parametrize("options", [("--quiet",), ("--log-level", "debug"), ("--show-values",)])
def test_only_its_own_option_shows_values(options: tuple[str, ...], folder: Path) -> None:
    (folder / "h" / "zip.csv").write_text("02138;*\n")
    run = kanon("anonymize", "people.csv", *ASK, "--k", 3, "--output", "out.csv", *options)
    assert run.code == 2
    assert ("90210" in run.err) == (options == ("--show-values",))


def test_variables_set_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANON_QUIET", "1")
    monkeypatch.setenv("KANON_LOG_LEVEL", "info")
    run = kanon(*RISK)
    assert run.out == ""
    assert re.fullmatch(r"(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4} INFO [A-Z].*\n)+", run.err)
    assert kanon(*RISK, "--log-level", "error").err == ""
    monkeypatch.setenv("KANON_LOG_LEVEL", "loud")
    assert "KANON_LOG_LEVEL" in kanon(*RISK).err


def test_debug_logs_statements_without_values() -> None:
    run = kanon("anonymize", "people.csv", *ASK, "--k", 3, "--output", "out.csv", "--log-level=debug")
    assert run.code == 0
    assert re.search(r" DEBUG release\S* on duckdb: \d+\.\d{3} s", run.err)
    assert not re.search(r"SELECT|9021|0213|disease|'p\d", run.err)
