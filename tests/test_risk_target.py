"""The target of a spec next to its source, without being named; and sources read backwards."""

import json
from pathlib import Path
from typing import Any

import pandas
import pytest
import yaml

import kanon_sql
from kanon_sql import risk
from kanon_sql.engine import Engine
from support.command_line import done
from support.database import create_table

PEOPLE = pandas.DataFrame({"zip": [f"{i % 4}{i % 3}" for i in range(60)], "ill": ["flu", "gout", "flu"] * 20})
SPEC: dict[str, Any] = {
    "quasi_identifiers": {"zip": {"hierarchy": {"redact": "right"}}},
    "sensitive": ["ill"],
    "privacy": {"k": 6},
}


@pytest.fixture
def spec(tmp_path: Path) -> dict[str, Any]:
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    return {**SPEC, "source": str(tmp_path / "people.csv"), "target": {"file": str(tmp_path / "released.csv")}}


@pytest.mark.slow
def test_the_target_of_a_spec_is_the_release_once_it_exists(spec: dict[str, Any], tmp_path: Path) -> None:
    assert risk(None, spec).release is None
    kanon_sql.anonymize(None, spec)
    named = risk(None, spec, release=spec["target"]["file"])
    assert risk(None, spec).to_dict() == named.to_dict()
    assert named.release is not None
    assert risk(spec["source"], spec).release is None  # a table that somebody names is looked at alone
    (tmp_path / "release.yml").write_text(yaml.safe_dump(spec))
    result = json.loads(done("risk", "--spec", tmp_path / "release.yml", "--json"))
    assert result["release"]["name"] == spec["target"]["file"]


def test_a_target_that_is_not_a_release_is_skipped_with_a_note(spec: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "released.csv").write_text("place,ill\n1*,flu\n")
    seen = risk(None, spec)
    assert seen.release is None
    assert "released.csv, the target of the spec, is left out: the release has no column 'zip'" in seen.notes[0]
    kanon_sql.anonymize(None, {**spec, "target": {**spec["target"], "as": "anatomy", "overwrite": True}})
    assert risk(None, {**spec, "target": {**spec["target"], "as": "anatomy"}}).release is None


def test_the_target_can_be_a_table(engine: Engine) -> None:
    create_table(engine, "people", {"zip": "VARCHAR", "ill": "VARCHAR"}, [*PEOPLE.itertuples(index=False)])
    spec = {**SPEC, "source": "people", "target": {"table": "released"}}
    assert risk(None, spec, connection=engine.connection).release is None
    kanon_sql.anonymize(None, spec, connection=engine.connection)
    seen = risk(None, spec, connection=engine.connection)
    assert seen.release is not None
    assert seen.release.classes.smallest >= 6


@pytest.mark.parametrize("step", [-1, -2])
def test_a_reversed_frame_can_be_read(step: int) -> None:
    when = pandas.date_range("2024-01-01", periods=60, tz="UTC")
    people = PEOPLE.assign(paid=[i / 2 for i in range(60)], number=range(60), when=when)
    people["job"] = people["ill"].astype("category")
    turned = people[::step]
    kept = {"keep": "*", "strategy": "auto", "k": 2}
    released = kanon_sql.anonymize(turned, {**SPEC, "privacy": {}}, **kept).to_df()
    assert sorted(released["number"]) == sorted(turned["number"])
    plain = kanon_sql.anonymize(turned.copy(), {**SPEC, "privacy": {}}, **kept).to_df()
    pandas.testing.assert_frame_equal(released, plain)
