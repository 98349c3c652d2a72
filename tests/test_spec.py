"""The spec: its shape, its errors' exact words, and what the command line lays over it."""

import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel, ValidationError

from kanon_sql.errors import SpecError
from kanon_sql.spec import (
    Attribute,
    DatesRecipe,
    FileRecipe,
    Noise,
    Perturbation,
    Pram,
    Privacy,
    RangesRecipe,
    RedactRecipe,
    Spec,
    SuppressRecipe,
    Swap,
    TableRecipe,
    Target,
    TaxonomyRecipe,
    load,
    merge,
    parse,
)

FULL = """
source: patients
database: hospital.duckdb
identifiers: [name, ssn]
quasi_identifiers:
  age:      {hierarchy: hierarchies/age.csv}
  zip:      {hierarchy: {redact: right}, max_level: 4}
  income:   {hierarchy: {ranges: [5000, 10000, 50000], top: 200000, bottom: 0, origin: 0}}
  admitted: {hierarchy: {dates: [month, quarter, year]}}
  city:     {hierarchy: {taxonomy: places.csv}}
  sex:      {hierarchy: suppress}
  job:      {hierarchy: {file: jobs.csv, separator: ",", header: true}}
  diag:     {hierarchy: {table: icd_hierarchy}}
  code:     {hierarchy: {redact: left, step: 2}, min_level: 1}
  region:
hierarchies: hierarchies/adult
sensitive: [disease]
privacy: {k: 7}
suppression_limit: 0.05
metric: precision
strategy: flash
time_limit: 60
seed: 3
unmapped: top
mask: true
shuffle: true
perturb:
  salary: {noise: {scale: 100, distribution: laplace, bottom: 0, top: 9000}}
  visits: {swap: {within: 0.05}}
  town:   {pram: {keep: 0.8}}
  job2:   {pram: {matrix: jobs_matrix.csv}}
secret: secret.txt
target: {table: patients_anon, as: view, overwrite: true}
"""
ATTRIBUTES = {
    "age": Attribute(hierarchy=FileRecipe(file="hierarchies/age.csv")),
    "zip": Attribute(hierarchy=RedactRecipe(redact="right", step=1), max_level=4),
    "income": Attribute(
        hierarchy=RangesRecipe(
            ranges=(Decimal(5000), Decimal(10000), Decimal(50000)),
            top=Decimal(200000),
            bottom=Decimal(0),
            origin=Decimal(0),
        )
    ),
    "admitted": Attribute(hierarchy=DatesRecipe(dates=("month", "quarter", "year"))),
    "city": Attribute(hierarchy=TaxonomyRecipe(taxonomy="places.csv", separator=None, header=False)),
    "sex": Attribute(hierarchy=SuppressRecipe()),
    "job": Attribute(hierarchy=FileRecipe(file="jobs.csv", separator=",", header=True)),
    "diag": Attribute(hierarchy=TableRecipe(table="icd_hierarchy")),
    "code": Attribute(hierarchy=RedactRecipe(redact="left", step=2), min_level=1),
    "region": Attribute(hierarchy=None, min_level=0, max_level=None),
}
QI_TEXT = "one or more column names, each alone or with {hierarchy: …}"
RECIPE_TEXT = "a file, the word suppress, or a mapping with one of file, table, ranges, redact, dates, taxonomy"
NOT_YAML = "this is not YAML a spec can use"
TOP_KEYS = (
    "source, database, identifiers, location, time, unit, cloak, quasi_identifiers, hierarchies, "
    "sensitive, keep, privacy, suppression_limit, "
    "metric, strategy, time_limit, evaluations, seed, show, beta, prioprivacy, kgen, memetic, local_search, random, "
    "unmapped, mask, shuffle, perturb, secret, target"
)


def full() -> Spec:
    return parse(yaml.safe_load(FULL))


SMALL = {"source": "t", "quasi_identifiers": ["age"]}


def small(**keys: Any) -> Spec:
    return parse({**SMALL, **keys})


def error(text: str) -> str:
    """Say what is wrong with a small spec to which the YAML `text` is added."""
    with pytest.raises(SpecError) as caught:
        parse({**SMALL, **yaml.safe_load(text)})
    return str(caught.value)


# Shape


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
    assert dict(spec.quasi_identifiers) == {"age": Attribute()}
    target = small(target={"file": "a.csv"}).target
    assert target == Target(file="a.csv", table=None, form="table", overwrite=False)


def test_a_key_without_a_value_is_not_said() -> None:
    keys = ("identifiers", "sensitive", "privacy", "target", "metric", "seed", "mask")
    assert small(**dict.fromkeys(keys)) == small()


def test_numbers_keep_what_was_written() -> None:
    mapping = yaml.safe_load("{age: {hierarchy: {ranges: [0.1, 1e3, '2.50'], top: 0.3, origin: -1}}}")
    assert small(quasi_identifiers=mapping).quasi_identifiers["age"].hierarchy == RangesRecipe(
        ranges=(Decimal("0.1"), Decimal("1e3"), Decimal("2.50")), top=Decimal("0.3"), origin=Decimal(-1)
    )


def test_paths_may_be_path_objects() -> None:
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
        full().quasi_identifiers["more"] = Attribute()  # type: ignore[index]


def test_yaml_is_imported_only_to_load() -> None:
    code = "import sys, kanon_sql.spec; sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Errors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "quasi_identifiers: {age: {heirarchy: a.csv}}",
            "quasi_identifiers.age.heirarchy is not a key of a spec; did you mean 'hierarchy'?",
        ),
        ("sensitiv: [a]", "sensitiv is not a key of a spec; did you mean 'sensitive'?"),
        ("identifers:", "identifers is not a key of a spec; did you mean 'identifiers'?"),
        ("privacy: {kk: 2}", "privacy.kk is not a key of a spec; did you mean 'k'?"),
        ("target: {overwrit: true}", "target.overwrit is not a key of a spec; did you mean 'overwrite'?"),
        ("k: 5", "k is not a key of a spec; did you mean 'privacy.k'?"),
        ("table: a", "table is not a key of a spec; did you mean 'target.table'?"),
        ("qi: 1", f"qi is not a key of a spec; the keys there are {TOP_KEYS}"),
        ("5: 1", f"5 is not a key of a spec; the keys there are {TOP_KEYS}"),
        ("privacy: {1: 2}", "privacy.1 is not a key of a spec; the keys there are k"),
        (
            "quasi_identifiers: {age: {redact: right}}",
            "quasi_identifiers.age.redact is not a key of a spec; the keys there are hierarchy, min_level, max_level, "
            "priority, weight, show, domain",
        ),
        (
            "quasi_identifiers: {age: {hierarchy: {ranges: [5], tpo: 1}}}",
            "quasi_identifiers.age.hierarchy.tpo is not a key of a spec; did you mean 'top'?",
        ),
        (
            "quasi_identifiers: {age: {hierarchy: {range: [5]}}}",
            "quasi_identifiers.age.hierarchy.range is not a key of a spec; did you mean 'ranges'? (and 1 more)",
        ),
    ],
)
def test_unknown_keys(text: str, message: str) -> None:
    assert error(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("privacy: {k: 0}", "privacy.k: give a whole number of at least 1, not 0"),
        ("privacy: {k: 2.5}", "privacy.k: give a whole number of at least 1, not 2.5"),
        ("privacy: {k: five}", "privacy.k: give a whole number of at least 1, not 'five'"),
        ("privacy: {k: true}", "privacy.k: give a whole number of at least 1, not True"),
        ("privacy: 5", "privacy: give a mapping such as {k: 5}, not 5"),
        (
            "suppression_limit: 2",
            "suppression_limit: give a fraction of the rows from 0 to 1, e.g. 0.02 for 2 %, not 2",
        ),
        (
            "suppression_limit: -0.1",
            "suppression_limit: give a fraction of the rows from 0 to 1, e.g. 0.02 for 2 %, not -0.1",
        ),
        (
            "suppression_limit: .nan",
            "suppression_limit: give a fraction of the rows from 0 to 1, e.g. 0.02 for 2 %, not nan",
        ),
        ("time_limit: -1", "time_limit: give a number of seconds of at least 0, not -1"),
        ("time_limit: .inf", "time_limit: give a number of seconds of at least 0, not inf"),
        ("seed: x", "seed: give a whole number, not 'x'"),
        ("mask: 1", "mask: give true or false, not 1"),
        ("unmapped: warn", "unmapped: give error or top, not 'warn'"),
        (
            "metric: entropy",
            "metric: give one of precision, height, loss, loss_geometric, discernibility, distortion, "
            "average_class_size, not 'entropy'",
        ),
        ("strategy: ''", "strategy: give the name of a search strategy, not ''"),
        ("source: 5", "source: give the name of a table or the path of a file, not 5"),
        ("database: [a]", "database: give a DuckDB file or postgresql://…"),
        ("hierarchies: 3", "hierarchies: give the path of a folder with <column>.csv, not 3"),
        ("identifiers: name", "identifiers: give a list of column names, as text, not 'name'"),
        ("sensitive: [disease, no]", "sensitive: give a list of column names, as text, not False"),
        ("{seed: x, mask: 1, shuffle: 2}", "seed: give a whole number, not 'x' (and 2 more)"),
    ],
)
def test_wrong_values(text: str, message: str) -> None:
    assert error(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("quasi_identifiers:", f"quasi_identifiers is missing; give {QI_TEXT}"),
        ("quasi_identifiers: []", f"quasi_identifiers: give {QI_TEXT}, not {{}}"),
        ("quasi_identifiers: age", f"quasi_identifiers: give {QI_TEXT}, not 'age'"),
        ("quasi_identifiers: [no]", f"quasi_identifiers: give {QI_TEXT}, not [False]"),
        ("quasi_identifiers: {no: }", f"quasi_identifiers: give {QI_TEXT}, not False"),
        ("quasi_identifiers: {'': }", f"quasi_identifiers: give {QI_TEXT}, not ''"),
        ("quasi_identifiers: [{age: a}]", f"quasi_identifiers: give {QI_TEXT}, not [{{'age': 'a'}}]"),
        (
            "quasi_identifiers: {age: age.csv}",
            "quasi_identifiers.age: give {hierarchy: …} or nothing, not 'age.csv'",
        ),
        (
            "quasi_identifiers: {age: {min_level: 3, max_level: 2}}",
            "quasi_identifiers.age: min_level 3 is above max_level 2; lower the one or raise the other",
        ),
        (
            "quasi_identifiers: {age: {min_level: -1}}",
            "quasi_identifiers.age.min_level: give a whole number of at least 0, not -1",
        ),
        (
            "quasi_identifiers: {age: {max_level: -1}}",
            "quasi_identifiers.age.max_level: give a whole number of at least 0, not -1",
        ),
    ],
)
def test_wrong_quasi_identifiers(text: str, message: str) -> None:
    assert error(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[pay]", ": give a mapping such as {salary: {noise: {scale: 100}}}, not ['pay']"),
        ("{5: {swap: {within: 0.1}}}", ": give a mapping such as {salary: {noise: {scale: 100}}}, not 5"),
        ("{pay: }", ".pay: give a mapping with one of noise, swap, pram, not None"),
        ("{pay: {}}", ".pay: give a mapping with one of noise, swap, pram"),
        ("{pay: {swap: {within: 1}, pram: {keep: 0}}}", ".pay: give a mapping with one of noise, swap, pram"),
        ("{pay: {nois: {scale: 1}}}", ".pay.nois is not a key of a spec; did you mean 'noise'?"),
        ("{pay: {noise: 5}}", ".pay.noise: give a mapping such as {scale: 100}, not 5"),
        ("{pay: {noise: {}}}", ".pay.noise.scale is missing; give a number above 0"),
        ("{pay: {noise: {scale: 0}}}", ".pay.noise.scale: give a number above 0, not 0"),
        ("{pay: {noise: {scale: .inf}}}", ".pay.noise.scale: give a number above 0, not inf"),
        (
            "{pay: {noise: {scale: 1, distribution: cauchy}}}",
            ".pay.noise.distribution: give one of normal, laplace, uniform, not 'cauchy'",
        ),
        (
            "{pay: {noise: {scale: 1, bottom: 3, top: 3}}}",
            ".pay.noise: bottom 3 is not below top 3; lower the one or raise the other",
        ),
        ("{pay: {swap: {within: 0}}}", ".pay.swap.within: give a fraction of the ranks above 0, at most 1, not 0"),
        ("{pay: {swap: {within: 5}}}", ".pay.swap.within: give a fraction of the ranks above 0, at most 1, not 5"),
        ("{pay: {pram: {}}}", ".pay.pram: give either matrix or keep"),
        ("{pay: {pram: {keep: 0.5, matrix: a.csv}}}", ".pay.pram: give either matrix or keep"),
        ("{pay: {pram: {keep: 1}}}", ".pay.pram.keep: give a chance from 0 to below 1, e.g. 0.8, not 1"),
        ("{pay: {pram: {kep: 1}}}", ".pay.pram.kep is not a key of a spec; did you mean 'keep'?"),
    ],
)
def test_wrong_perturbations(text: str, message: str) -> None:
    assert error(f"perturb: {text}") == f"perturb{message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "perturb: {Age: {swap: {within: 1}}}",
            "'Age' in `perturb` is a quasi-identifier; only the other columns can be",
        ),
        (
            "{identifiers: [id], perturb: {id: {swap: {within: 1}}}}",
            "'id' in `perturb` is an identifier, which is dropped; only the other columns can be",
        ),
    ],
)
def test_a_perturbed_column_is_neither_quasi_identifier_nor_identifier(text: str, message: str) -> None:
    assert error(text) == f"{message} perturbed"


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ("{}", f": give {RECIPE_TEXT}, not {{}}"),
        ("5", f": give {RECIPE_TEXT}, not 5"),
        ("{file: a, ranges: [5]}", f": give {RECIPE_TEXT}, not {{'file': 'a', 'ranges': [5]}}"),
        ("''", ".file: give the path of a hierarchy file, not ''"),
        ("{table: 5}", ".table: give the name of a table or view, not 5"),
        ("{ranges: []}", ".ranges: give a list of range widths above 0, not []"),
        ("{ranges: 5}", ".ranges: give a list of range widths above 0, not 5"),
        ("{ranges: [5, 0]}", ".ranges: give a list of range widths above 0, not 0"),
        ("{ranges: [five]}", ".ranges: give a list of range widths above 0, not 'five'"),
        ("{ranges: [true]}", ".ranges: true is not a number; give a number"),
        ("{ranges: [5], top: .inf}", ".top: give a number, not inf"),
        ("{redact: middle}", ".redact: give right or left, not 'middle'"),
        ("{redact: left, step: 0}", ".step: give a whole number of at least 1, not 0"),
        ("{dates: month}", ".dates: give a list of date parts such as [month, year], not 'month'"),
        ("{taxonomy: a, separator: 1}", ".separator: give a text such as ',' or ';', not 1"),
    ],
)
def test_wrong_recipes(recipe: str, message: str) -> None:
    text = f"quasi_identifiers: {{age: {{hierarchy: {recipe}}}}}"
    assert error(text) == "quasi_identifiers.age.hierarchy" + message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("identifiers: [a, b, a]", "identifiers: 'a' is listed twice; keep one of the two"),
        ("sensitive: [a, a]", "sensitive: 'a' is listed twice; keep one of the two"),
        ("quasi_identifiers: [a, a]", "quasi_identifiers: 'a' is listed twice; keep one of the two"),
        ("identifiers: [age]", "'age' is in both `identifiers` and `quasi_identifiers`; keep it in one of them"),
        ("sensitive: [age]", "'age' is in both `quasi_identifiers` and `sensitive`; keep it in one of them"),
        (
            "{identifiers: [a], sensitive: [a]}",
            "'a' is in both `identifiers` and `sensitive`; keep it in one of them",
        ),
        (
            "sensitive: [Age]",
            "'age' in `quasi_identifiers` and 'Age' in `sensitive` differ only in case; keep one of the two",
        ),
        (
            "identifiers: [Name, NAME]",
            "'Name' in `identifiers` and 'NAME' in `identifiers` differ only in case; keep one of the two",
        ),
    ],
)
def test_one_role_for_each_column(text: str, message: str) -> None:
    assert error(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "target: neither a file nor a table is named; give one of them with `output` or `into`"),
        ("{file: a, table: b}", "target: both a file and a table are named; keep one of `output` and `into`"),
        ("{file: a, as: view}", "target: a view needs a name; give it with `into`"),
        ("{table: a, as: index}", "target.as: give table, view, materialized or anatomy, not 'index'"),
        ("a.csv", "target: give a mapping such as {table: patients_anon, as: view}, not 'a.csv'"),
    ],
)
def test_wrong_targets(text: str, message: str) -> None:
    assert error(f"target: {text}") == message


def test_what_is_missing() -> None:
    with pytest.raises(SpecError, match=r"^source is missing; give the name of a table .* \(and 1 more\)$"):
        parse({})
    with pytest.raises(SpecError, match=r"^a spec is a mapping with keys such as source and privacy, not 5$"):
        parse(5)  # type: ignore[arg-type]


# Options of one algorithm


NESTED = "prioprivacy: {rules: my_rules, suppression_order: published, wildcard_suppression: true}"
FLAT = "{rules: my_rules, suppression_order: published, wildcard_suppression: true}"


def test_options_of_an_algorithm_stand_alone_or_under_its_name() -> None:
    nested, flat = small(**yaml.safe_load(NESTED)), small(**yaml.safe_load(FLAT))
    assert nested == flat
    assert (flat.rules, flat.suppression_order, flat.wildcard_suppression) == ("my_rules", "published", True)
    assert (small().rules, small().suppression_order, small().wildcard_suppression) == (None, "plain", False)
    mixed = small(rules="my_rules", prioprivacy={"suppression_order": "published", "wildcard_suppression": True})
    assert mixed == flat
    assert parse(flat.model_dump()) == flat


def test_one_strategy_may_have_evaluations_of_its_own() -> None:
    spec = small(kgen={"evaluations": 8}, memetic={"evaluations": 9})
    assert [spec.evaluations_of(name) for name in ("kgen", "memetic", "random", "auto")] == [8, 9, None, None]
    assert [small(evaluations=7).evaluations_of(name) for name in ("kgen", "auto")] == [7, 7]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "{rules: a, prioprivacy: {rules: b}}",
            "rules is given twice, alone and as prioprivacy.rules; keep one of the two",
        ),
        (
            "{wildcard_suppression: true, prioprivacy: {wildcard_suppression: true}}",
            "wildcard_suppression is given twice, alone and as prioprivacy.wildcard_suppression; keep one of the two",
        ),
        ("prioprivacy: {rule: a}", "prioprivacy.rule is not a key of a spec; did you mean 'rules'?"),
        ("ruels: a", "ruels is not a key of a spec; did you mean 'rules'?"),
        ("{rules: a, prioprivacy: 5}", "prioprivacy: give a mapping such as {rules: my_rules}, not 5"),
        ("rules: 5", "prioprivacy.rules: give the path of a folder with <level>_<column>.txt, not 5"),
        ("prioprivacy: {suppression_order: odd}", "prioprivacy.suppression_order: give plain or published, not 'odd'"),
        ("kgen: {evaluations: 0}", "kgen.evaluations: give a whole number of at least 1, not 0"),
        ("random: 9", "random: give a mapping such as {evaluations: 5000}, not 9"),
        ("kgen: {k: 9}", "kgen.k is not a key of a spec; the keys there are evaluations"),
    ],
)
def test_wrong_options_of_an_algorithm(text: str, message: str) -> None:
    assert error(text) == message


def test_a_file_may_give_an_algorithm_its_options(tmp_path: Path) -> None:
    path = write(tmp_path, f"{{source: t, quasi_identifiers: [a], {NESTED}}}")
    assert load(path).rules == str(tmp_path / "my_rules")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"rules": "new"}, {"rules": "new", "wildcard_suppression": True}),
        ({"wildcard_suppression": False}, {"rules": "old", "wildcard_suppression": False}),
        ({"prioprivacy": {"rules": "new"}}, {"rules": "new"}),
    ],
)
@pytest.mark.parametrize("nested", [True, False])
def test_an_option_of_an_algorithm_that_is_said_wins(
    said: dict[str, Any], expected: dict[str, Any], nested: bool
) -> None:
    options = {"rules": "old", "wildcard_suppression": True}
    spec = small(**({"prioprivacy": options} if nested else options))
    assert merge(spec, **said) == small(prioprivacy=expected)


def test_evaluations_that_are_said_win_over_those_of_a_spec() -> None:
    assert merge(small(kgen={"evaluations": 8}), evaluations=9).evaluations_of("kgen") == 9
    assert merge(small(evaluations=8), kgen={"evaluations": 9}).evaluations_of("kgen") == 9
    with pytest.raises(SpecError, match="given twice"):
        merge(small(), evaluations=8, kgen={"evaluations": 9})


# Files


def write(folder: Path, text: str) -> Path:
    path = folder / "spec.yaml"
    path.write_text(text)
    return path


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


def test_what_is_not_a_relative_path_is_left(tmp_path: Path) -> None:
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
        ("a: 1\na: 2\n", f", line 2: {NOT_YAML} (the key 'a' is there twice); correct it"),
        ("a: {b: {c: 1, c: 1}}\n", f", line 1: {NOT_YAML} (the key 'c' is there twice); correct it"),
        ("a: \x01\n", f": {NOT_YAML} (special characters are not allowed); correct it"),
        ("- a\n", " is not a mapping; write keys such as 'source: patients' in it"),
        ("", " is not a mapping; write keys such as 'source: patients' in it"),
    ],
)
def test_files_that_are_no_spec(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(SpecError) as caught:
        load(path)
    assert str(caught.value) == f"{path}{message}"


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(tmp_path / "no.yaml")
    assert str(caught.value) == f"there is no spec file {tmp_path / 'no.yaml'}; check the path"
    with pytest.raises(SpecError) as caught:
        load(tmp_path)
    assert str(caught.value) == f"the spec file {tmp_path} cannot be read (Is a directory); check the path"


def test_yaml_anchors_and_merges_work(tmp_path: Path) -> None:
    text = "{source: t, quasi_identifiers: {a: &a {min_level: 1, max_level: 2}, b: {<<: *a, min_level: 0}}}"
    spec = load(write(tmp_path, text))
    assert spec.quasi_identifiers["b"] == Attribute(min_level=0, max_level=2)


def test_load_takes_from_the_overrides_what_the_file_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "data.csv").touch()
    path = write(tmp_path, "{source: , hierarchies: h, privacy: {k: 3}}")
    spec = load(path, source="data.csv", quasi_identifiers=["age"], k=None, hierarchies="mine")
    assert (spec.source, list(spec.quasi_identifiers)) == ("data.csv", ["age"])
    assert (spec.privacy.k, spec.hierarchies) == (3, "mine")
    with pytest.raises(SpecError, match=r"^quasi_identifiers is missing"):
        load(path, source="data.csv")


# Merging


def test_nothing_said_changes_nothing() -> None:
    names = ("source", "database", "quasi_identifiers", "k", "output", "into", "form", "overwrite", "mask")
    assert merge(full(), **dict.fromkeys(names)) == full()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("source", "other"),
        ("database", "other.duckdb"),
        ("hierarchies", "h"),
        ("suppression_limit", 0.0),
        ("metric", "height"),
        ("strategy", "incognito"),
        ("time_limit", 1.5),
        ("evaluations", 7),
        ("seed", 0),
        ("unmapped", "error"),
        ("mask", False),
        ("shuffle", False),
        ("identifiers", ("ssn",)),
        ("sensitive", ()),
    ],
)
def test_what_is_said_wins(name: str, value: object) -> None:
    spec = merge(full(), **{name: value})
    assert getattr(spec, name) == value
    assert spec == full().model_copy(update={name: value})


def test_k_alone_is_said_flat() -> None:
    assert merge(full(), k=2) == full().model_copy(update={"privacy": Privacy(k=2)})
    assert merge(small(), k=2).privacy.k == 2
    with pytest.raises(SpecError, match=r"^privacy\.k: give a whole number of at least 1, not 0$"):
        merge(full(), k=0)


def test_columns_said_again_keep_their_recipe() -> None:
    spec = merge(full(), quasi_identifiers=["weight", "zip"])
    assert dict(spec.quasi_identifiers) == {"weight": Attribute(), "zip": ATTRIBUTES["zip"]}
    spec = merge(full(), quasi_identifiers={"zip": {"hierarchy": "suppress"}})
    assert dict(spec.quasi_identifiers) == {"zip": Attribute(hierarchy=SuppressRecipe())}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"quasi_identifiers": ["a", "a"]}, "quasi_identifiers: 'a' is listed twice; keep one of the two"),
        ({"quasi_identifiers": "a"}, f"quasi_identifiers: give {QI_TEXT}, not 'a'"),
        (
            {"sensitive": ["zip"]},
            "'zip' is in both `quasi_identifiers` and `sensitive`; keep it in one of them",
        ),
        ({"sorce": "a"}, "sorce is not a key of a spec; did you mean 'source'?"),
        ({"output": "a", "into": "b"}, "target: both a file and a table are named; keep one of `output` and `into`"),
        ({"output": "a", "form": "view"}, "target: a view needs a name; give it with `into`"),
    ],
)
def test_wrong_overrides(said: dict[str, Any], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        merge(full(), **said)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("said", "target"),
    [
        ({"into": "patients_anon"}, Target(table="patients_anon", form="view", overwrite=True)),
        ({"into": "other"}, Target(table="other", form="view", overwrite=False)),
        ({"into": "other", "overwrite": True}, Target(table="other", form="view", overwrite=True)),
        ({"output": Path("a.csv")}, Target(file="a.csv", overwrite=False)),
        ({"output": "a.csv", "overwrite": True}, Target(file="a.csv", overwrite=True)),
        ({"form": "table"}, Target(table="patients_anon", form="table", overwrite=True)),
        ({"overwrite": False}, Target(table="patients_anon", form="view", overwrite=False)),
    ],
)
def test_a_new_place_does_not_inherit_the_permission_to_overwrite(said: dict[str, Any], target: Target) -> None:
    assert merge(full(), **said).target == target


def test_a_spec_from_the_command_line_alone() -> None:
    spec = merge(None, source="a.csv", quasi_identifiers=["age", "zip"], k=3, output="b.csv", seed=None)
    assert spec == parse(
        {
            "source": "a.csv",
            "quasi_identifiers": ["age", "zip"],
            "privacy": {"k": 3},
            "target": {"file": "b.csv"},
        }
    )
    with pytest.raises(SpecError, match=r"^target: neither a file nor a table is named; give one of them with"):
        merge(None, source="a.csv", quasi_identifiers=["age"], overwrite=True)


def test_merging_leaves_the_first_as_it_was() -> None:
    spec = full()
    merge(spec, k=2, quasi_identifiers=["zip"], into="other")
    assert spec == full()


def test_the_database_and_its_password_are_not_shown() -> None:
    assert "hush" not in repr(small(database="postgresql://u:hush@h/d"))
