"""Labels of PostgreSQL Anonymizer, as its versions write them into PostgreSQL's own catalog, read as roles."""

import json
from pathlib import Path

import pytest

from kanon_sql import anonymize, profile
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import SpecError
from support.command_line import kanon
from support.database import create_table

TYPES = {"name": "TEXT", "phone": "TEXT", "age": "INTEGER", "zip": "TEXT", "ill": "TEXT"}
ROWS = [(f"p{i}", f"+41 {i:09}", 20 + i % 4, f"{i % 3}", ["flu", "gout"][i % 2]) for i in range(48)]
LABELS = {
    "name": [("anon", "MASKED WITH FUNCTION anon.fake_last_name()")],
    "phone": [("anon", "masked with value NULL")],
    "age": [("k_anonymity", "QUASI IDENTIFIER"), ("anon", "MASKED WITH FUNCTION anon.noise(age, 0.3)")],
    "zip": [("anon", "INDIRECT IDENTIFIER")],  # before version 1.2
    "ill": [("anon", "NOT MASKED")],
}
TAKEN = {"name": "identifier", "phone": "identifier", "age": "quasi-identifier", "zip": "quasi-identifier"}


@pytest.fixture
def hospital(postgres: PostgreSQL, tmp_path: Path) -> PostgreSQL:
    """A labelled table: rows of the catalog alone, since the extension that would check them is not there."""
    create_table(postgres, "people", TYPES, ROWS)
    postgres.run("SET allow_system_table_mods = on")
    places = "'people'::regclass, 'pg_class'::regclass, attnum"
    for column, labels in LABELS.items():
        for provider, label in labels:
            message = f"SELECT {places}, '{provider}', '{label}' FROM pg_attribute"
            postgres.run(
                "INSERT INTO pg_seclabel (objoid, classoid, objsubid, provider, label) "
                f"{message} WHERE attrelid = 'people'::regclass AND attname = '{column}'"
            )
    (tmp_path / "hierarchies").mkdir()
    for name in ("age", "zip"):
        lines = [f"{value};*" for value in sorted({str(row[list(TYPES).index(name)]) for row in ROWS})]
        (tmp_path / "hierarchies" / f"{name}.csv").write_text("\n".join(lines))
    return postgres


def test_a_release_without_roles_takes_those_of_the_labels(
    hospital: PostgreSQL, postgres_dsn: str, tmp_path: Path
) -> None:
    run = ["anonymize", "people", "--database", postgres_dsn, "--hierarchies", tmp_path / "hierarchies", "--k", 3]
    shown = kanon(*run, "--into", "released")
    assert shown.code == 0, shown.err
    note = "Labelled for PostgreSQL Anonymizer: " + ", ".join(f"{name} ({role})" for name, role in TAKEN.items())
    assert f"{note}." in shown.out
    assert "'age' is labelled as masked and as an indirect identifier, and it is generalized" in shown.err
    (tmp_path / "spec.json").write_text(json.dumps({"source": "people", "hierarchies": str(tmp_path / "hierarchies")}))
    for source, spec in (("people", {"hierarchies": str(tmp_path / "hierarchies")}), (None, tmp_path / "spec.json")):
        manifest = anonymize(
            source, spec, connection=hospital.connection, k=3, into="released", overwrite=True
        ).manifest
        assert manifest["roles"]["labels"] == TAKEN
        assert manifest["roles"]["identifiers_dropped"] == ["name", "phone"]
        assert list(manifest["node"]) == ["age", "zip"]


def test_a_spec_takes_precedence_and_contradictions_are_reported(hospital: PostgreSQL) -> None:
    spec = {"quasi_identifiers": {"age": {"hierarchy": "suppress"}}, "sensitive": ["zip"], "keep": ["phone"]}
    manifest = anonymize("people", spec, connection=hospital.connection, k=3).manifest
    assert list(manifest["node"]) == ["age"]
    contradictions = [warning for warning in manifest["warnings"] if "is labelled" in warning]
    assert contradictions == [
        "the column 'phone' is labelled as masked, and it is released ungeneralized",
        "the column 'age' is labelled as masked and as an indirect identifier, and it is generalized",
        "the column 'zip' is labelled as an indirect identifier, and it is released ungeneralized",
    ]


def test_a_profile_suggests_the_roles_of_labels(hospital: PostgreSQL) -> None:
    seen = profile("people", connection=hospital.connection)
    assert (seen.identifiers, seen.quasi_identifiers) == (("name", "phone"), ("age", "zip"))
    reasons = {column.name: column.reason for column in seen.columns}
    assert reasons["zip"] == "labelled as an indirect identifier for PostgreSQL Anonymizer"


def test_a_table_without_labels_has_no_roles(postgres: PostgreSQL) -> None:
    create_table(postgres, "people", TYPES, ROWS)
    with pytest.raises(SpecError, match="quasi_identifiers is missing"):
        anonymize("people", {}, connection=postgres.connection, k=3)
