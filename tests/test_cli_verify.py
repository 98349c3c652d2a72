"""`kanon verify`: its exit codes, and the options or the spec that define what to verify."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from support.command_line import PEOPLE, ask, command, done, kanon


@pytest.mark.slow
def test_verify_exits_with_0_or_1(database: str) -> None:
    sizes = Counter(Counter((age, code) for _, age, code, _ in PEOPLE).values())
    smallest, largest = min(sizes), max(sizes)
    ask(database, "CREATE VIEW seen AS SELECT * FROM people")
    for source in ("people.csv", "people", "seen"):
        where = [] if source == "people.csv" else ["--database", database]
        options = [source, *where, "--quasi-identifiers", "age,zip", "--k"]
        held = kanon("verify", *options, smallest)
        assert (held.code, held.err) == (0, "")
        assert f"satisfied: {smallest}-anonymous on age, zip; 120 rows in {sizes.total()} classes" in held.out
        failed = kanon("verify", *options, largest)
        offending = [(size, sizes[size]) for size in sorted(sizes) if size < largest]
        rows = sum(size * classes for size, classes in offending)
        classes = sum(classes for _, classes in offending)
        assert (failed.code, failed.err) == (1, "")
        assert f"{rows} rows in {classes} classes are below {largest} rows:" in failed.out
        assert re.findall(r"^  (\d+) class(?:es)? of (\d+) rows?$", failed.out, re.M) == [
            (str(n), str(s)) for s, n in offending
        ]
        checked = kanon("verify", *options, largest, "--json")
        assert [(o["size"], o["classes"]) for o in json.loads(checked.out)["offending_sizes"]] == offending
        assert (checked.code, json.loads(checked.out)["holds"]) == (1, False)


@pytest.mark.parametrize(("k", "code"), [(1, 0), (121, 1), (0, 2)])
@pytest.mark.slow
def test_exit_codes_of_the_process(folder: Path, k: int, code: int) -> None:
    run = command("verify", "people.csv", "--quasi-identifiers", "age,zip", "--k", k, cwd=folder)
    assert run.code == code
    assert (run.err == "") == (code < 2)
    assert (run.out == "") == (code == 2)


def test_verify_reads_its_columns_from_a_spec(folder: Path) -> None:
    (folder / "release.yml").write_text("quasi_identifiers: [age, zip]\nprivacy: {k: 200}\ntarget: {file: x.csv}\n")
    assert kanon("verify", "people.csv", "--spec", "release.yml").code == 1
    assert kanon("verify", "people.csv", "--spec", "release.yml", "--k", 1).code == 0
    assert not (folder / "x.csv").exists()


def test_a_release_is_verified_by_its_own_spec(folder: Path) -> None:
    (folder / "release.yml").write_text(
        "{source: people.csv, identifiers: [name], quasi_identifiers: [age, zip], hierarchies: h, privacy: {k: 12}}"
    )
    done("anonymize", "--spec", "release.yml", "--output", "anon.csv")
    assert "satisfied: 12-anonymous on age, zip" in done("verify", "anon.csv", "--spec", "release.yml")


RELEASE = (
    "source: people{source}\nidentifiers: [name]\nquasi_identifiers: [age, zip]\nhierarchies: h\nkeep: [disease]\n"
    "privacy: {{k: 12}}\n"
)


@pytest.mark.parametrize("more", ["", "show: bounds\n", "strategy: mondrian\nshow: bounds\n"])
@pytest.mark.parametrize("form", ["table", "anatomy"])
@pytest.mark.slow
@pytest.mark.sampled
def test_a_spec_alone_verifies_its_target(folder: Path, form: str, more: str) -> None:
    roles = RELEASE.format(source=".csv")
    if form == "anatomy":
        roles = roles.replace("keep", "sensitive")
    (folder / "release.yml").write_text(f"{roles}{more}target: {{file: anon.csv, as: {form}}}\n")
    missing = kanon("verify", "--spec", "release.yml")
    assert (missing.code, missing.err) == (2, "kanon: there is no file anon.csv; check the path\n")
    done("anonymize", "--spec", "release.yml")
    held = kanon("verify", "--spec", "release.yml", "--json")
    assert held.code == 0, held
    columns = ["age_min", "age_max", "zip"] if more else ["age", "zip"]
    checked = json.loads(held.out)
    assert (checked["source"], checked["quasi_identifiers"]) == ("anon.csv", columns)
    assert kanon("verify", "people.csv", "--spec", "release.yml").code == 1, "a source that is named is verified"
    rows = (folder / "anon.csv").read_text().splitlines()
    (folder / "anon.csv").write_text("\n".join([*rows[:-1], rows[-1].replace("*", "x").replace("9", "8")]) + "\n")
    assert kanon("verify", "--spec", "release.yml").code == 1


@pytest.mark.parametrize("form", ["table", "view"])
def test_a_spec_alone_verifies_its_table(database: str, folder: Path, form: str) -> None:
    where = f"database: '{database}'\ntarget: {{table: anon, as: {form}}}\n"
    (folder / "release.yml").write_text(RELEASE.format(source="") + where)
    done("anonymize", "--spec", "release.yml")
    assert "satisfied: 12-anonymous on age, zip" in done("verify", "--spec", "release.yml")
    ask(database, "DROP VIEW anon" if form == "view" else "DROP TABLE anon")
    ask(database, "CREATE TABLE anon AS SELECT * FROM people")
    assert kanon("verify", "--spec", "release.yml").code == 1


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("source: people.csv\nquasi_identifiers: [age]\n", "the spec names no target that could be verified"),
        (
            "source: x\nlocation: [lat, lon]\ntime: ts\nunit: u\ntarget: {file: x.csv}\n",
            "cloaking has its own verb, which verifies what it writes",
        ),
    ],
)
def test_verifying_a_spec_without_a_target_is_an_error(folder: Path, spec: str, message: str) -> None:
    (folder / "release.yml").write_text(spec)
    run = kanon("verify", "--spec", "release.yml")
    assert (run.code, run.out) == (2, "")
    assert message in run.err


@pytest.mark.usefixtures("folder")
def test_the_violations_of_several_models_are_reported_separately() -> None:
    arguments = ["people.csv", "--quasi-identifiers", "age,zip", "--k", 1, "--risk", "prosecutor:mean=0.01:highest=1"]
    missed = kanon("verify", *arguments, "--l-diversity", "disease=40")
    assert missed.code == 1
    assert "not satisfied: 1-anonymous, distinct l-diversity of disease (40), highest prosecutor risk (1)" in missed.out
    assert re.search(r"do not meet distinct l-diversity of disease \(40\): \d+ found", missed.out)
    assert re.search(r"120 rows in \d+ classes do not meet mean prosecutor risk \(0\.01\): 0\.\d+ found", missed.out)
    assert "below" not in missed.out
    assert "do not meet highest" not in missed.out
    held = kanon("verify", "people.csv", "--quasi-identifiers", "age", "--risk", "prosecutor:above=0.9:share=0")
    assert held.code == 0
    assert "satisfied: share of rows above a prosecutor risk (threshold 0.9, share 0) on age; 120 rows" in held.out


@pytest.mark.usefixtures("folder")
def test_a_release_names_its_risk_model() -> None:
    roles = ["--identifiers", "name", "--quasi-identifiers", "age,zip", "--hierarchies", "h", "--keep", "disease"]
    output = done("anonymize", "people.csv", *roles, "--risk", "marketer:mean=0.2", "--output", "risk.csv")
    assert "Verified in the written release: marketer risk (0.2)." in output
    assert "satisfied: marketer risk (0.2)" in done(
        "verify", "risk.csv", "--quasi-identifiers", "age,zip", "--risk", "marketer:mean=0.2"
    )
    statement = done("anonymize", "people.csv", *roles, "--risk", "marketer:mean=0.2", "--sql")
    assert ">= 5" in statement
