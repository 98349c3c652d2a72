"""Every option of the command line and the key of the spec that it sets."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest

from kanon_sql.cli.app import command as imported
from kanon_sql.errors import SpecError
from kanon_sql.spec import (
    Form,
    Noise,
    Perturbation,
    Pram,
    Privacy,
    ReleaseSpec,
    Show,
    Spec,
    SuppressionOrder,
    Swap,
    Unmapped,
)
from kanon_sql.spec.privacy import DeltaPresence, KMap
from support.command_line import kanon

OPTIONS: list[tuple[str, str, object]] = [
    ("--database hospital.duckdb", "database", "hospital.duckdb"),
    ("--attach lake.duckdb:archive", "attach.archive", "lake.duckdb"),
    ("--memory-limit 2GB", "memory_limit", "2GB"),
    ("--threads 2", "threads", 2),
    ("--temp-directory /tmp", "temp_directory", "/tmp"),
    ("--time-zone Asia/Tokyo", "time_zone", "Asia/Tokyo"),
    ("--quasi-identifiers ' age, \"zip, code\"'", "quasi_identifiers", ["age", "zip, code"]),
    ("--hierarchies h", "hierarchies", "h"),
    ("--identifiers name,ssn", "identifiers", ["name", "ssn"]),
    ("--sensitive disease", "sensitive", ["disease"]),
    ("--keep ward,city", "keep", ["ward", "city"]),
    ("--unmapped top", "unmapped", "top"),
    ("--k 7", "privacy.k", 7),
    ("--unit person", "unit", "person"),
    ("--l-diversity salary=3:entropy", "privacy.l_diversity", ["salary"]),
    ("--t-closeness salary=0.2:ordered", "privacy.t_closeness", ["salary"]),
    ("--alpha salary=0.5", "privacy.alpha_k", ["salary"]),
    ("--minimality mask", "privacy.minimality", "mask"),
    ("--beta-likeness salary=2:basic", "privacy.beta_likeness", ["salary"]),
    ("--delta-disclosure salary=1", "privacy.delta_disclosure", ["salary"]),
    ("--risk prosecutor:mean=0.05:highest=0.2", "privacy.risk.mean", 0.05),
    ("--risk prosecutor:above=0.2:share=0.1", "privacy.risk.above.share", 0.1),
    ("--uniqueness 0.01:fraction=0.1:estimator=snb", "privacy.uniqueness.estimator", "snb"),
    ("--k-map 3:voters.parquet", "privacy.k_map", KMap(k=3, population="voters.parquet")),
    (
        "--delta-presence 0:0.5:voters.csv",
        "privacy.delta_presence",
        DeltaPresence(min=0, max=0.5, population="voters.csv"),
    ),
    ("--suppression-limit 0.5", "suppression_limit", 0.5),
    ("--suppression-limit '20 rows'", "suppression_limit", "20 rows"),
    ("--mask", "mask", True),
    ("--shuffle", "shuffle", True),
    (
        "--perturb 'pay=noise:100, \"a,b=c\"=swap:0.05,city=pram:0.8'",
        "perturb",
        ["pay", "a,b=c", "city"],
    ),
    ("--secret secret.txt", "secret", "secret.txt"),
    ("--metric height", "metric", "height"),
    ("--strategy ola", "strategy", "ola"),
    ("--time-limit 1.5", "time_limit", 1.5),
    ("--patience 2.5", "patience", 2.5),
    ("--evaluations 300", "evaluations", 300),
    ("--seed 3", "seed", 3),
    ("--show median", "show", "median"),
    ("--beta 1.5", "beta", 1.5),
    ("--priorities age=2", "quasi_identifiers.age.priority", 2),
    ("--rules rules", "prioprivacy.rules", "rules"),
    ("--suppression-order published", "prioprivacy.suppression_order", "published"),
    ("--wildcard-suppression", "prioprivacy.wildcard_suppression", True),
    ("--node age=2", "node", ["age"]),
    ("--node-from manifest.json", "node_from", "manifest.json"),
    ("--node-else search", "node_else", "search"),
    ("--regions old.parquet", "regions", "old.parquet"),
    ("--write-regions new.parquet", "write_regions", "new.parquet"),
    ("--new-columns drop", "new_columns", "drop"),
    ("--changed-types accept", "changed_types", "accept"),
    ("--changed-hierarchies search", "changed_hierarchies", "search"),
    ("--incremental", "incremental", True),
    ("--waiting later", "waiting", "later"),
    ("--encoding cp1252", "encoding", "cp1252"),
    ("--decimal ,", "decimal", ","),
    ("--date-format %d.%m.%Y", "date_format", "%d.%m.%Y"),
    ("--null N/A --null ?", "null", ["N/A", "?"]),
    ("--sheet Cases", "sheet", "Cases"),
    ("--skip-lines 2", "skip_lines", 2),
    ("--delimiter tab", "delimiter", "\t"),
    ("--type sex=decimal(12.2)", "columns.sex.type", "decimal(12,2)"),
    ("--output new.parquet", "target.file", "new.parquet"),
    ("--into anon", "target.table", "anon"),
    ("--into anon --as view", "target.form", "view"),
    ("--into anon --overwrite", "target.overwrite", True),
    ("--output new.csv --formulas keep", "target.formulas", "keep"),
    ("--into anon --replace-foreign-table anon", "target.replace_foreign_table", "anon"),
    ("--differencing-limit 3", "differencing_limit", 3),
    ("--differencing refuse", "differencing", "refuse"),
    ("--differencing-values ill=3", "differencing_values", ["ill"]),
    ("--deferral-limit 0.3", "deferral_limit", 0.3),
    ("--deferral-days 3", "deferral_days", 3),
    ("--recipient 'partner under contract'", "recipient", "contract"),
    ("--purpose 'A study of falls.'", "purpose", "A study of falls."),
    ("--retention 'two years'", "retention", "two years"),
    ("--review-date 2027-01-31", "review_date", "2027-01-31"),
    ("--norms gdpr,ipc", "norms", ["gdpr", "ipc"]),
    ("--sensitivity medium", "sensitivity", "medium"),
    ("--accepted-risk 0.2", "accepted_risk", 0.2),
    ("--reason 'age=Colleagues know it, or guess it.'", "reasons.age", "Colleagues know it, or guess it."),
    ("--reason-k 'As in the last release.'", "reason_k", "As in the last release."),
]
PLACES = "--location x,y --time seen --unit device"
OF_PLACES: list[tuple[str, str, object]] = [
    ("--location 'lat, lon' --time ts --unit user", "unit", "user"),
    ("--location lat,lon --unit user --time ts", "time", "ts"),
    ("--time ts --unit user --location lat,lon", "location", ["lat", "lon"]),
    ("--location lat,lon --time ts --unit user --method temporal", "cloak.method", "temporal"),
    ("--k 7", "privacy.k", 7),
    ("--shuffle", "shuffle", True),
    ("--keep ward,city", "keep", ["ward", "city"]),
    ("--suppression-limit 0.5", "suppression_limit", 0.5),
    ("--into anon --overwrite", "target.overwrite", True),
]
SAID_OF_PLACES = """
source: people
database: old.duckdb
location: [x, y]
time: seen
unit: device
cloak: {method: adaptive, unplaced: suppress}
target: {table: old, as: table}
"""
SAID = """
source: people
database: old.duckdb
quasi_identifiers: {age: {hierarchy: {ranges: [10]}, min_level: 1}, sex: }
identifiers: [id]
sensitive: [salary]
hierarchies: old
privacy: {k: 2}
suppression_limit: 0.1
metric: precision
strategy: exhaustive
time_limit: 9
seed: 8
target: {table: old, as: table}
"""


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Spec, dict[str, Any]]]:
    """The specs that `anonymize` or `cloak` would have run, with its other arguments."""
    specs = []

    def spy(_: object, spec: Spec, **others: Any) -> None:
        specs.append((spec, others))
        raise SpecError("seen")

    monkeypatch.setattr("kanon_sql.cli.anonymize.run", spy)
    monkeypatch.setattr("kanon_sql.cli.cloak.run", spy)
    return specs


def at(spec: ReleaseSpec, path: str) -> object:
    value: Any = spec
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
    return list(value) if isinstance(value, tuple | Mapping) else value


@pytest.mark.parametrize(("options", "path", "value"), OPTIONS, ids=[options for options, _, _ in OPTIONS])
def test_every_option_reaches_the_spec(seen: list[Any], options: str, path: str, value: object) -> None:
    target = [] if path.startswith("target") else ["--output", "out.csv"]
    columns = ["--quasi-identifiers", "age"]
    source = "people.xlsx" if "--sheet" in options else "people.csv"
    kanon("anonymize", source, *columns, *target, *shlex.split(options))
    assert at(seen[0][0], path) == value
    assert seen[0][0].source == source


@pytest.mark.parametrize(("options", "path", "value"), OPTIONS, ids=[options for options, _, _ in OPTIONS])
@pytest.mark.sampled
def test_an_option_wins_over_the_spec_file(
    folder: Path, seen: list[Any], options: str, path: str, value: object
) -> None:
    (folder / "specs").mkdir()
    (folder / "specs" / "release.yml").write_text(SAID)
    check_over_a_spec("anonymize", seen, options, path, value)


def check_over_a_spec(verb: str, seen: list[Any], options: str, path: str, value: object) -> None:
    """An option changes its key of the spec in the file, and nothing else."""
    kanon(verb, "--spec", "specs/release.yml")
    kanon(verb, "--spec", "specs/release.yml", *shlex.split(options))
    before, after = (spec for spec, _ in seen)
    assert at(before, path) != value
    assert at(after, path) == value
    assert before.database == "specs/old.duckdb", "a spec's paths are taken from its own folder"
    touched = path.split(".")[0]
    assert before.model_dump(exclude={touched}) == after.model_dump(exclude={touched})


@pytest.mark.parametrize(("options", "path", "value"), OF_PLACES, ids=[options for options, _, _ in OF_PLACES])
def test_an_option_of_cloak_reaches_the_spec_and_wins_over_its_file(
    folder: Path, seen: list[Any], options: str, path: str, value: object
) -> None:
    target = [] if path.startswith("target") else ["--output", "out.csv"]
    places = [] if "--location" in options else PLACES.split()
    kanon("cloak", "trips.csv", *places, *target, *shlex.split(options))
    assert (at(seen[0][0], path), seen.pop()[0].source) == (value, "trips.csv")
    (folder / "specs").mkdir()
    (folder / "specs" / "release.yml").write_text(SAID_OF_PLACES)
    alone = options[options.rindex("--") :] if "--location" in options else options  # the spec names the others
    check_over_a_spec("cloak", seen, alone, path, value)


def test_a_repeated_column_keeps_its_recipe(folder: Path, seen: list[Any]) -> None:
    (folder / "release.yml").write_text(SAID)
    kanon("anonymize", "--spec", "release.yml", "--quasi-identifiers", "zip,age")
    columns = seen[0][0].quasi_identifiers
    assert (list(columns), columns["age"].min_level, columns["zip"].hierarchy) == (["zip", "age"], 1, None)


def test_the_source_on_the_command_line_takes_precedence(folder: Path, seen: list[Any]) -> None:
    (folder / "release.yml").write_text(SAID)
    kanon("anonymize", "others", "--spec", "release.yml", "--search-in", "engine")
    assert (seen[0][0].source, seen[0][1]["search_in"]) == ("others", "engine")


def test_every_option_has_a_test() -> None:
    elsewhere = {"source", "spec", "search_in", "trace", "resume", "as_json", "sql", "dialect", "report", "ways_out"}
    elsewhere |= {"fail_empty", "models"}
    listed = {re.findall(r"--([a-z-]+)", options)[-1].replace("-", "_") for options, _, _ in OPTIONS}
    taken = {parameter.name for parameter in imported("anonymize").params}
    assert taken - elsewhere == listed - {"as", "alpha", "type", "reason"} | {"form", "alpha_k", "columns", "reasons"}


CHOICES = {"--show": Show, "--as": Form, "--unmapped": Unmapped, "--suppression-order": SuppressionOrder}


@pytest.mark.parametrize(("flag", "choices"), CHOICES.items())
def test_an_option_takes_the_words_that_the_spec_takes(seen: list[Any], flag: str, choices: Any) -> None:
    line = ["anonymize", "people.csv", "--quasi-identifiers", "age", "--into", "anon", flag]
    for word in get_args(choices):
        assert kanon(*line, word).err == "kanon: seen\n"
    assert len(seen) == len(get_args(choices))
    assert kanon(*line, "nonsense").code == 2
    assert len(seen) == len(get_args(choices))


def test_models_are_read_column_by_column(seen: list[Any]) -> None:
    message = "--l-diversity disease=3 --l-diversity job=2.5:entropy --l-diversity a=1=4:recursive:2.5 "
    message += "--t-closeness income=0.2:ordered --t-closeness job=.3 --alpha disease=0.5:1 --alpha 'job=1:a: b=2:c' "
    kanon("anonymize", "people.csv", "--quasi-identifiers", "age", "--output", "out.csv", *shlex.split(message))
    spec = seen[0][0]
    assert spec.privacy == Privacy(
        l_diversity={
            "disease": 3,
            "job": {"l": 2.5, "kind": "entropy"},
            "a=1": {"l": 4, "kind": "recursive", "c": 2.5},
        },
        t_closeness={"income": {"t": 0.2, "distance": "ordered"}, "job": 0.3},
        alpha_k={"disease": {"alpha": 0.5, "value": "1"}, "job": {"alpha": 1, "value": "a: b=2:c"}},
    )
    assert spec.sensitive == ("disease", "job", "a=1", "income")


def test_a_model_of_another_column_stays(folder: Path, seen: list[Any]) -> None:
    models = "{k: 3, unit: person, l_diversity: {disease: 3, job: {l: 2, kind: entropy}}}"
    (folder / "release.yml").write_text(f"{{source: a.csv, quasi_identifiers: [age], privacy: {models}}}")
    kanon("anonymize", "--spec", "release.yml", "--output", "b.csv", "--l-diversity", "job=4", "--unit", "patient")
    privacy = seen[0][0]
    assert privacy.privacy == Privacy(k=3, l_diversity={"disease": 3, "job": 4})
    assert privacy.unit == "patient"


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--l-diversity disease", "--l-diversity takes COLUMN=L[:KIND[:C]]; got 'disease'"),
        ("--k-map 5", "--k-map takes K:POPULATION; got '5'"),
        ("--k-map x:voters", "privacy.k_map.k: give a whole number of at least 1, not 'x'"),
        ("--delta-presence 0:voters", "--delta-presence takes MIN:MAX:POPULATION; got '0:voters'"),
        ("--delta-presence 0:1.5:voters", "privacy.delta_presence.max: give a share above 0, at most 1, not 1.5"),
        ("--delta-disclosure a=x", "--delta-disclosure takes COLUMN=DELTA; got 'a=x'"),
        ("--alpha a=.5 --alpha a=.6", "--alpha: 'a' is given twice; keep one of the two"),
        (
            "--l-diversity a=2:even",
            "privacy.l_diversity.a.kind: give one of distinct, entropy, recursive, not 'even'",
        ),
        ("--t-closeness a=1.2", "privacy.t_closeness.a.t: give a number above 0, at most 1, not 1.2"),
        ("--alpha age=.5", "privacy.alpha_k counts the values of 'age', which is generalized as a quasi-identifier"),
    ],
)
def test_a_model_that_cannot_be_read(seen: list[Any], option: str, message: str) -> None:
    line = kanon("anonymize", "people.csv", "--quasi-identifiers", "age", "--output", "out.csv", *shlex.split(option))
    assert line.code == 2
    assert line.err.startswith(f"kanon: {message}")
    assert not seen


def test_an_option_of_perturbation_is_read(seen: list[Any]) -> None:
    message = 'pay=noise:100,"a,b=c"=swap:0.05,city=pram:0.8'
    kanon("anonymize", "people.csv", "--quasi-identifiers", "age", "--output", "out.csv", "--perturb", message)
    assert dict(seen[0][0].perturb) == {
        "pay": Perturbation(noise=Noise(scale=100)),
        "a,b=c": Perturbation(swap=Swap(within=0.05)),
        "city": Perturbation(pram=Pram(keep=0.8)),
    }
