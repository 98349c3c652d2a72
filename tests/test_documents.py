"""What `--json` prints: every form has a closed schema that describes every key, and errors are documents too."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import kanon_sql
from kanon_sql.documents import VERSIONS
from kanon_sql.documents.forms import FORMS, NAMES
from support.command_line import ASK, done, kanon
from support.manifests import problems


def _objects(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """All schemas of objects with named keys, below a schema."""
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield path, schema
        for name, part in schema.items():
            yield from _objects(part, f"{path}/{name}")
    elif isinstance(schema, list):
        for number, part in enumerate(schema):
            yield from _objects(part, f"{path}/{number}")


def test_schemas_are_valid() -> None:
    for name in NAMES:
        Draft202012Validator.check_schema(kanon_sql.json_schema(name))


@pytest.mark.parametrize("name", ["manifest", *FORMS])
def test_schemas_are_closed_and_describe_every_key(name: str) -> None:
    parameters = {"/noise", "/swap", "/pram"}  # of operators, which the spec describes
    for path, part in _objects(kanon_sql.json_schema(name)):
        if any(path.endswith(f"/properties{end}") for end in parameters):
            continue
        assert "additionalProperties" in part, path
        for key, kind in part.get("properties", {}).items():
            assert kind["description"].endswith("."), (path, key)


def test_every_form_has_a_version() -> None:
    assert {*VERSIONS} == {"manifest", *FORMS}


def test_an_undocumented_key_is_found() -> None:
    error = {"schema": "error/1", "version": "1", "error": "wrong", "kind": "SpecError", "exit_code": 2}
    assert problems(error, "error") == []
    assert "'more' was unexpected" in problems({**error, "more": 1}, "error")[0]
    assert problems({**error, "schema": "error/2"}, "error")


def test_schema_command_prints_the_schema_of_python(tmp_path: Path) -> None:
    assert json.loads(done("schema", "risk")) == kanon_sql.json_schema("risk")
    assert json.loads(done("schema", "spec")) == json.loads(done("spec", "schema"))
    assert kanon_sql.json_schema("manifest") == kanon_sql.manifest_schema()
    file = tmp_path / "attack.schema.json"
    assert str(file) in done("schema", "attack", "--output", file)
    assert json.loads(file.read_text())["properties"]["schema"] == {
        "const": "attack/1",
        "description": "The name and version of this form.",
    }
    assert "exists" in kanon("schema", "attack", "--output", file).err
    with pytest.raises(kanon_sql.KanonError, match="there is no schema 'risks'"):
        kanon_sql.json_schema("risks")


@pytest.mark.usefixtures("folder")
def test_an_error_is_a_document() -> None:
    run = kanon("risk", "people.csv", "--quasi-identifiers", "age,shoe", "--json")
    document = json.loads(run.out)
    assert (run.code, document["exit_code"], document["kind"]) == (2, 2, "SpecError")
    assert run.err == f"kanon: {document['error']}\n"
    assert problems(document, "error") == []
    usage = kanon("risk", "people.csv", "--agee", "--json")
    assert (usage.code, json.loads(usage.out)["kind"]) == (2, "UsageError")
    assert "No such option" in usage.err
    assert kanon("risk", "people.csv", "--quasi-identifiers", "shoe").out == ""


def test_values_of_the_data_are_in_no_document(folder: Path) -> None:
    (folder / "h" / "zip.csv").write_text("02138;*\n")
    run = kanon("anonymize", "people.csv", *ASK, "--k", 3, "--output", "out.csv", "--show-values", "--json")
    assert "90210" in run.err
    document = json.loads(run.out)
    assert document["kind"] == "HierarchyError"
    assert "90210" not in run.out


@pytest.mark.usefixtures("folder")
def test_a_failed_check_is_not_an_error() -> None:
    run = kanon("verify", "people.csv", "--quasi-identifiers", "name", "--k", 2, "--json")
    document = json.loads(run.out)
    assert (run.code, document["schema"], document["holds"]) == (1, "verify/1", False)


@pytest.mark.usefixtures("folder")
def test_python_writes_the_same_document() -> None:
    people = ("people.csv", "--quasi-identifiers", "age,zip")
    measured = kanon_sql.risk("people.csv", quasi_identifiers=["age", "zip"])
    assert done("risk", *people, "--json") == f"{measured.to_json()}\n"
    written = measured.write("risk.json")
    assert json.loads(written.read_text())["schema"] == "risk/1"
    assert json.loads(written.read_text())["version"] == kanon_sql.__version__
