"""The JSON Schema of a spec accepts what the loader accepts, and refuses what it refuses for its structure."""

import ast
import functools
import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from kanon_sql.errors import SpecError
from kanon_sql.spec import CloakSpec, Spec, load_linked, load_runs, loaded_to_read
from kanon_sql.spec.load import read
from kanon_sql.spec.schema import database_schema, schema
from support.command_line import kanon
from support.specs import FULL, SMALL

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SCHEMA = schema()
VALIDATOR = Draft202012Validator(SCHEMA)


def accepts(spec: Any) -> bool:
    return VALIDATOR.is_valid(as_json(spec))


def as_json(spec: Any) -> Any:
    """What an editor hands to a checker: texts where YAML has dates, and keys as texts."""
    match spec:
        case dict():
            return {str(key): as_json(item) for key, item in spec.items()}
        case list() | tuple():
            return [as_json(item) for item in spec]
        case date():
            return spec.isoformat()
    return spec


def refusal(message: str | dict[str, Any], folder: Path) -> str | None:
    """What the loader says against a spec, as a file; None if it takes it."""
    text = message if isinstance(message, str) else yaml.safe_dump(message, sort_keys=False)
    path = folder / "spec.yml"
    path.write_text(text, encoding="utf-8")
    try:
        if re.search(r"^(releases|vars|audit|differencing_history):", text, re.MULTILINE):
            load_runs(path, {"DAY": "monday", "K": "5", "LIMIT": "0.1"})
        else:
            model = CloakSpec if re.search(r"^location:", text, re.MULTILINE) else Spec
            needed = {"source": "t", "quasi_identifiers": ["age"], "time": "ts", "unit": "taxi"}
            lacking = {key: needed[key] for key in model.model_fields if key in needed and f"{key}:" not in text}
            loaded_to_read(path, model, lacking)
    except SpecError as error:
        return str(error)
    return None


def written_in_pages() -> Iterator[str]:
    for page in PAGES:
        yield from re.findall(r"^```yaml\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.S | re.M)


@functools.cache
def written_in_tests() -> tuple[str | dict[str, Any], ...]:
    return tuple(_written_in_tests())


def _written_in_tests() -> Iterator[str | dict[str, Any]]:
    """Every text and every plain mapping in the tests that could be a spec."""
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if path == Path(__file__):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                if re.search(r"^(quasi_identifiers|location):", node.value, re.MULTILINE):
                    yield node.value
            elif isinstance(node, ast.Dict) and any(
                ast.unparse(key) == "'quasi_identifiers'" for key in node.keys if key
            ):
                try:
                    yield ast.literal_eval(node)
                except ValueError:
                    continue


def as_mapping(message: str | dict[str, Any], folder: Path) -> Any:
    if isinstance(message, dict):
        return message
    path = folder / "spec.yml"
    path.write_text(message, encoding="utf-8")
    try:
        return read(path)
    except SpecError:
        return None


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    json.dumps(SCHEMA)


def test_every_key_has_a_description_and_its_values() -> None:
    owners = {"the top": SCHEMA, **SCHEMA["$defs"]}
    for owner, model in owners.items():
        for key, given in model.get("properties", {}).items():
            reference = given.get("$ref", "")
            description = (
                given.get("description", "") if "/properties/" not in reference else "Give what is said there."
            )
            assert re.search(r"\bGive \S", description), f"{owner}: {key}"


@pytest.mark.parametrize("written", [written_in_pages, written_in_tests], ids=["pages", "tests"])
def test_the_schema_takes_every_spec_that_the_loader_takes(written: Any, tmp_path: Path) -> None:
    taken = 0
    for spec in written():
        mapping = as_mapping(spec, tmp_path)
        if isinstance(mapping, dict) and refusal(spec, tmp_path) is None:
            taken += 1
            assert accepts(mapping), f"{spec}\n{next(VALIDATOR.iter_errors(as_json(mapping))).message}"
    assert taken >= 10


def test_the_schema_refuses_every_misspelled_key_of_the_tests(tmp_path: Path) -> None:
    for written_in_test in written_in_tests():
        mapping = as_mapping(written_in_test, tmp_path)
        if isinstance(mapping, dict) and "is not a key of a spec" in (refusal(written_in_test, tmp_path) or ""):
            assert not accepts(mapping), written_in_test


def wrong_in_tests() -> Iterator[str]:
    """What the tests of errors add to a small spec, one part each."""
    tree = ast.parse((ROOT / "tests" / "test_spec_errors.py").read_text(encoding="utf-8"))
    wanted = {"test_unknown_keys", "test_wrong_values", "test_wrong_quasi_identifiers", "test_wrong_perturbations"}
    for test in tree.body:
        if isinstance(test, ast.FunctionDef) and test.name in wanted:
            cases = test.decorator_list[0].args[1].elts
            yield from (ast.literal_eval(case.elts[0]) for case in cases)


NOT_OF_SHAPE = re.compile(  # keys against each other, and what JSON has not: NaN, infinity, keys that are no texts
    r"\.nan|\.inf|\{1: 2\}|no: \}|unit: a, privacy|min: 0\.5, max|\{population: a\}"
    r"|model: (prosecutor\}|marketer|journalist)|min_level: 3|quasi_identifiers:( \[\])?$"
)


@pytest.mark.parametrize("text", [text for text in wrong_in_tests() if not NOT_OF_SHAPE.search(text)])
@pytest.mark.quick
def test_the_schema_refuses_what_the_loader_refuses(text: str) -> None:
    spec = yaml.safe_load(text)
    assert not accepts({**SMALL, **spec} if isinstance(spec, dict) else spec)


@pytest.mark.parametrize(
    "text",
    [
        FULL,
        "releases: {public: {target: {table: a}, privacy: {k: '${K}'}, node: keep}}\nvars: {DAY: friday, K: 5}",
        "audit: nightly\ndifferencing_history: 5\nsuppression_limit: ${LIMIT}\ntarget: {table: a, overwrite: '${NO}'}",
        "source: {file: a.csv, encoding: cp1252, columns: {zip: text, pay: {decimal: ','}}}",
        "location: [x, y]\ntime: ts\nunit: taxi\nprivacy: {k: 3, unit: taxi}\ncloak: temporal\nshuffle: true",
        "quasi_identifiers: {born: {hierarchy: {age: 2026-01-01}}, sex: }\nkeep: '*'\nmemory_limit: 2gib\nthreads:",
        "location:\nquasi_identifiers: [age]\nmask: true",
    ],
)
def test_the_accepted_forms_of_a_file(text: str) -> None:
    assert accepts(yaml.safe_load(text))


@pytest.mark.parametrize(
    "text",
    [
        "releases: {public: {targte: {table: a}}}",
        "releases: {public: {releases: {}}}",
        "releases: [public]",
        "audit: 5",
        "differencing_history: 0",
        "suppression_limit: $LIMIT",
        "source: {file: a.csv, encodng: cp1252}",
        "location: [x, y]\nquasi_identifiers: [age]",
        "location: [x, y]\nprivacy: {l_diversity: {ill: 3}}",
        "releases: {trips: {location: [x, y], strategy: ola}}",
    ],
)
def test_the_refused_forms_of_a_file(text: str) -> None:
    assert not accepts(yaml.safe_load(text))


def test_specs_of_init_and_the_demo_are_accepted(tmp_path: Path) -> None:
    assert kanon("demo", "--rows", 1000, "--directory", tmp_path / "demo").code == 0
    run = kanon("init", tmp_path / "demo" / "people.parquet", "--output", tmp_path / "made.yml")
    assert run.code == 0, run.err
    for path in (tmp_path / "demo" / "release.yml", tmp_path / "made.yml"):
        assert accepts(read(path))
        assert kanon("spec", "check", path).code == 0


def test_the_command_prints_the_schema_or_writes_it(tmp_path: Path) -> None:
    assert json.loads(kanon("spec", "schema").out) == SCHEMA
    path = tmp_path / "schema.json"
    assert f"# yaml-language-server: $schema={path}" in kanon("spec", "schema", "--output", path).out
    assert json.loads(path.read_text(encoding="utf-8")) == SCHEMA
    assert kanon("spec", "schema", "--output", path).code == 2
    assert kanon("spec", "schema", "--output", path, "--overwrite").code == 0


def test_a_spec_is_checked_without_its_data(tmp_path: Path) -> None:
    path = tmp_path / "release.yml"
    path.write_text("source: nowhere.csv\nquasi_identifiers: [age, zip]\nprivacy: {k: 7}\ntarget: {file: a.csv}\n")
    assert "age, zip" in kanon("spec", "check", path).out
    path.write_text("source: nowhere.csv\nquasi_identifers: [age]\n")
    wrong = kanon("spec", "check", path)
    assert (wrong.code, "did you mean 'quasi_identifiers'?" in wrong.err) == (2, True)
    path.write_text(
        "source: t\nquasi_identifiers: [age]\nprivacy:\n  k: ${K}\n"
        "releases: {a: {target: {table: a}}, b: {target: {table: b}}}\n"
    )
    assert "K" in kanon("spec", "check", path).err
    checked = kanon("spec", "check", path, "--var", "K=9")
    assert (checked.code, checked.out.count("k = 9")) == (0, 2)
    other = tmp_path / "other.yml"
    other.write_text("source: t\nquasi_identifers: [age]\n")
    both = kanon("spec", "check", path, other, "--var", "K=9")
    assert (both.code, both.out.count("k = 9"), "other.yml: " in both.err) == (2, 2, True)


def test_the_schema_of_several_tables_accepts_what_the_loader_accepts() -> None:
    validator = Draft202012Validator(database_schema())
    written = [yaml.safe_load(text) for text in written_in_pages() if re.search("^unit: {", text, re.MULTILINE)]
    specs = [spec for spec in written if "tables" in spec and "privacy" in spec]
    assert specs
    short = {"unit": {"people": "id"}, "tables": {"people": {"quasi_identifiers": ["age"]}}, "privacy": {"k": 2}}
    models = {"privacy": {"k": 2, "alpha_k": {"people.ill": 0.5}, "l_diversity": {"people.ill": {"l": 2}}}}
    for spec in [*specs, short, short | models, short | {"memory_limit": "2GB", "node": "search", "into": None}]:
        load_linked(spec)
        assert [error.message for error in validator.iter_errors(as_json(spec))] == []
    wrong = ({"m": 2}, {"privacy": {"k": 0}}, {"privacy": {"k": 2, "m": 9}}, {"into": {"table": "a"}}, {"unit": {}})
    for change in (*wrong, {"tables": {"people": {"quasi": ["age"]}}}, {"memory_limit": "much"}):
        assert not validator.is_valid(short | change)
        with pytest.raises(SpecError):
            load_linked(short | change)
    printed = json.loads(kanon("spec", "schema", "--tables").out)
    assert printed == database_schema()
