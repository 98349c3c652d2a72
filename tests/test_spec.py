"""The spec: its structure, and the files that it is read from."""

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel, ValidationError

from kanon_sql.errors import SpecError
from kanon_sql.spec import (
    AttributeSpec,
    FileRecipe,
    Noise,
    Perturbation,
    Pram,
    Privacy,
    RangesRecipe,
    SuppressRecipe,
    Swap,
    TableRecipe,
    Target,
    TaxonomyRecipe,
    merge,
    parse,
)
from kanon_sql.spec.privacy import LDiversity, TCloseness
from support.specs import ATTRIBUTES, FULL, full, load, small, write

NOT_YAML = "this is not YAML a spec can use"


def test_every_key_of_the_declaration_is_read() -> None:
    spec = full()
    assert (spec.source, spec.database) == ("patients", "hospital.duckdb")
    assert (spec.identifiers, spec.sensitive) == (("name", "ssn"), ("disease",))
    assert dict(spec.quasi_identifiers) == ATTRIBUTES
    assert list(spec.quasi_identifiers) == list(ATTRIBUTES)
    assert spec.hierarchies == "hierarchies/adult"
    assert spec.privacy == Privacy(k=7)
    assert (spec.suppression_limit, spec.time_limit, spec.seed) == (0.05, 60.0, 3)
    assert (spec.metric, spec.strategy, spec.unmapped) == ("precision", "flash", "top")
    assert (spec.mask, spec.shuffle) == (True, True)
    assert dict(spec.perturb) == {
        "salary": Perturbation(noise=Noise(scale=100, distribution="laplace", bottom=Decimal(0), top=Decimal(9000))),
        "visits": Perturbation(swap=Swap(within=0.05)),
        "town": Perturbation(pram=Pram(keep=0.8)),
        "job2": Perturbation(pram=Pram(matrix="jobs_matrix.csv")),
    }
    assert spec.secret == "secret.txt"
    assert spec.target == Target(table="patients_anon", form="view", overwrite=True)


@pytest.mark.parametrize("mode", ["python", "json"])
def test_round_trip(mode: str) -> None:
    written = full().model_dump(mode=mode, by_alias=True, exclude_none=True)
    assert written["target"]["as"] == "view"
    assert written["quasi_identifiers"]["sex"]["hierarchy"] == "suppress"
    assert parse(written) == full()


def test_round_trip_through_yaml(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    spec = small(quasi_identifiers=yaml.safe_load(FULL)["quasi_identifiers"] | {"age": None, "job": None})
    spec = merge(spec, quasi_identifiers=[name for name in spec.quasi_identifiers if name != "city"])
    path.write_text(yaml.safe_dump(spec.model_dump(mode="json", by_alias=True)))
    assert load(path) == spec


def test_defaults() -> None:
    spec = small()
    assert (spec.privacy.k, spec.suppression_limit, spec.metric, spec.strategy) == (5, 0.02, "loss", "auto")
    assert (spec.seed, spec.unmapped, spec.mask, spec.shuffle) == (0, "error", False, False)
    assert (spec.identifiers, spec.sensitive) == ((), ())
    assert (spec.database, spec.hierarchies, spec.time_limit, spec.target) == (None,) * 4
    assert dict(spec.quasi_identifiers) == {"age": AttributeSpec()}
    target = small(target={"file": "a.csv"}).target
    assert target == Target(file="a.csv", table=None, form="table", overwrite=False)


def test_a_key_without_a_value_is_ignored() -> None:
    keys = ("identifiers", "sensitive", "privacy", "target", "metric", "seed", "mask")
    assert small(**dict.fromkeys(keys)) == small()


def test_numbers_keep_their_spelling() -> None:
    mapping = yaml.safe_load("{age: {hierarchy: {ranges: [0.1, 1e3, '2.50'], top: 0.3, origin: -1}}}")
    assert small(quasi_identifiers=mapping).quasi_identifiers["age"].hierarchy == RangesRecipe(
        ranges=(Decimal("0.1"), Decimal("1e3"), Decimal("2.50")), top=Decimal("0.3"), origin=Decimal(-1)
    )


def test_paths_can_be_path_objects() -> None:
    spec = small(
        hierarchies=Path("h"),
        quasi_identifiers={"age": {"hierarchy": Path("age.csv")}},
        target={"file": Path("out.csv")},
    )
    assert spec.hierarchies == "h"
    assert spec.quasi_identifiers["age"].hierarchy == FileRecipe(file="age.csv")
    assert spec.target == Target(file="out.csv")


@pytest.mark.parametrize("limit", [0, 0.5, 1])
def test_bounds_of_the_suppression_limit_are_allowed(limit: float) -> None:
    assert small(suppression_limit=limit).suppression_limit == limit


@pytest.mark.parametrize(
    ("model", "field"),
    [
        (full(), "source"),
        (full().privacy, "k"),
        (full().target, "table"),
        *((attribute, "min_level") for attribute in ATTRIBUTES.values()),
        (ATTRIBUTES["zip"].hierarchy, "redact"),
        (ATTRIBUTES["income"].hierarchy, "ranges"),
    ],
)
def test_nothing_can_be_changed(model: BaseModel, field: str) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(model, field, getattr(model, field))


def test_no_column_can_be_added() -> None:
    with pytest.raises(TypeError):
        full().quasi_identifiers["more"] = AttributeSpec()  # type: ignore[index]


def test_yaml_is_imported_only_to_load() -> None:
    code = "import sys, kanon_sql.spec; sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_paths_are_taken_from_the_folder_of_the_file(tmp_path: Path) -> None:
    spec = load(write(tmp_path, FULL))
    recipes = {name: attribute.hierarchy for name, attribute in spec.quasi_identifiers.items()}
    assert spec.source == "patients"
    assert spec.database == str(tmp_path / "hospital.duckdb")
    assert spec.hierarchies == str(tmp_path / "hierarchies/adult")
    assert recipes["age"] == FileRecipe(file=str(tmp_path / "hierarchies/age.csv"))
    assert recipes["job"] == FileRecipe(file=str(tmp_path / "jobs.csv"), separator=",", header=True)
    assert recipes["city"] == TaxonomyRecipe(taxonomy=str(tmp_path / "places.csv"))
    assert recipes["diag"] == TableRecipe(table="icd_hierarchy")
    assert recipes["sex"] == SuppressRecipe()
    assert spec.target == Target(table="patients_anon", form="view", overwrite=True)


def test_values_that_are_not_relative_paths_are_kept(tmp_path: Path) -> None:
    text = "{source: /d/a.csv, quasi_identifiers: [a], hierarchies: /h, target: {file: 's3://b/a.parquet'}"
    spec = load(write(tmp_path, text + ", database: 'postgresql://u@h/d'}"))
    assert spec.database == "postgresql://u@h/d"
    assert (spec.source, spec.hierarchies) == ("/d/a.csv", "/h")
    assert spec.target == Target(file="s3://b/a.parquet")
    spec = load(write(tmp_path, "{source: a, quasi_identifiers: [a], database: ':memory:'}"))
    assert spec.database == ":memory:"


def test_home_and_target_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    path = write(tmp_path, "{source: a, quasi_identifiers: [a], hierarchies: ~/h, target: {file: o.csv}}")
    assert load(path).hierarchies == "/home/me/h"
    assert load(path).target == Target(file=str(tmp_path / "o.csv"))


def test_source_is_a_file_only_where_there_is_one(tmp_path: Path) -> None:
    path = write(tmp_path, "{source: patients.csv, quasi_identifiers: [a]}")
    assert load(path).source == "patients.csv"
    (tmp_path / "patients.csv").touch()
    assert load(path).source == str(tmp_path / "patients.csv")
    (tmp_path / "patients").mkdir()
    assert load(write(tmp_path, "{source: patients, quasi_identifiers: [a]}")).source == "patients"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: c: d\n", f", line 2: {NOT_YAML} (mapping values are not allowed here); correct it"),
        ("a: 1\nb: [c\n", f", line 3: {NOT_YAML} (expected ',' or ']', but got '<stream end>'); correct it"),
        ("a: 1\na: 2\n", f", line 2: {NOT_YAML} (the key 'a' is repeated); correct it"),
        ("a: {b: {c: 1, c: 1}}\n", f", line 1: {NOT_YAML} (the key 'c' is repeated); correct it"),
        ("a: \x01\n", f": {NOT_YAML} (special characters are not allowed); correct it"),
        ("- a\n", " is not a mapping; write keys such as 'source: patients' in it"),
        ("", " is not a mapping; write keys such as 'source: patients' in it"),
    ],
)
def test_files_that_are_not_specs(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(SpecError) as caught:
        load(path)
    assert str(caught.value) == f"{path}{message}"


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(tmp_path / "no.yaml")
    assert str(caught.value) == f"there is no spec file {tmp_path / 'no.yaml'}; check the path"
    with pytest.raises(SpecError) as caught:
        load(tmp_path)
    assert str(caught.value) == f"the spec file {tmp_path} cannot be read (Is a directory); check the path"


def test_keys_are_words_even_where_yaml_has_a_meaning_for_them(tmp_path: Path) -> None:
    path = tmp_path / "spec.yml"
    path.write_text("source: {file: x.csv, null: [N/A]}\nquasi_identifiers: {no: {}, null: {}, on: {}}\n")
    spec = load(path)
    assert spec.reading.of("no").null == ("N/A",)
    assert list(spec.quasi_identifiers) == ["no", "null", "on"]


def test_yaml_anchors_and_merges_work(tmp_path: Path) -> None:
    text = "{source: t, quasi_identifiers: {a: &a {min_level: 1, max_level: 2}, b: {<<: *a, min_level: 0}}}"
    spec = load(write(tmp_path, text))
    assert spec.quasi_identifiers["b"] == AttributeSpec(min_level=0, max_level=2)


def test_the_database_and_its_password_are_not_shown() -> None:
    assert "hush" not in repr(small(database="postgresql://u:hush@h/d"))


def test_counted_columns_are_sensitive_and_the_unit_can_be_in_either_place() -> None:
    text = "{k: 2, unit: person, l_diversity: {ill: 3}, t_closeness: {pay: 0.2, ill: {t: 0.3, distance: ordered}}}"
    spec = small(sensitive=["job"], privacy=yaml.safe_load(text))
    assert (spec.sensitive, spec.unit) == (("job", "ill", "pay"), "person")
    assert spec == small(sensitive=["job"], unit="person", privacy=yaml.safe_load(text))
    assert spec.privacy.l_diversity["ill"] == LDiversity(l=3, kind="distinct")
    assert spec.privacy.t_closeness["pay"] == TCloseness(t=0.2, distance="equal")
    assert merge(merge(spec, unit="patient"), k=3).unit == "patient"
    assert merge(spec, privacy={"unit": "patient"}).unit == "patient"
    assert parse(spec.model_dump(by_alias=True)) == spec
