"""`differencing_values`: whatever releases a reader intersects, enough values of a sensitive column remain possible."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import kanon_sql
from kanon_sql.errors import DifferencingError, SpecError
from kanon_sql.pipeline.deferral import Deferral
from support.command_line import ask, kanon
from support.nights import CODES, Row, Ward, common_values, possible_values

NIGHTS, M = 5, 2
SPEC = """
source: visits
database: {database}
quasi_identifiers:
  age: {{hierarchy: {{ranges: [20]}}}}
  zip: {{hierarchy: zip.csv}}
sensitive: [ill]
privacy: {{k: 3, l_diversity: {{ill: 2}}}}
differencing_values: {{ill: 2}}
suppression_limit: 0.2
deferral_limit: 0.9
target: {{table: anon}}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("zip.csv").write_text("".join(f"{code};{code[:2]}**;*\n" for code in CODES))


def write_spec(more: str, database: str = "hospital.duckdb") -> None:
    Path("release.yml").write_text(SPEC.format(database=database) + more)


@pytest.mark.parametrize(("strategy", "where"), [("auto", "postgres"), ("auto", "duckdb"), ("mondrian", "duckdb")])
def test_an_attacker_who_follows_a_person_keeps_several_values(
    request: pytest.FixtureRequest, strategy: str, where: str
) -> None:
    database = "hospital.duckdb" if where == "duckdb" else str(request.getfixturevalue("postgres_dsn"))
    write_spec(f"unit: pid\nstrategy: {strategy}\n", database)
    ward, nights, changed = Ward("values"), list[list[Row]](), 0
    for number in range(NIGHTS):
        if number:
            ward.night()
        ward.write(database)
        (done,) = kanon_sql.run("release.yml").releases
        assert done.release
        nights.append(ask(database, "SELECT CAST(age AS VARCHAR), zip, ill, pid FROM anon__people"))
        changed += not done.same_rows
        if number:
            found = done.release.manifest["differencing"]["values"]["ill"]
            classes = [
                common_values([[row[2:3] for row in rows if row[:2] == class_] for rows in nights])
                for class_ in {row[:2] for rows in nights for row in rows}
            ]
            fewest = min(len(values or ()) for values in classes)
            assert (found["required"], M <= found["remaining"] <= fewest) == (M, True)
            assert min(map(len, possible_values(nights, 2).values())) >= found["remaining"]
    assert changed > 1


def patients(rows: Sequence[tuple[Any, ...]]) -> None:
    values = ", ".join(map(str, rows))
    query = f"SELECT * FROM (VALUES {values}) AS t(pid, age, zip, ill)"
    ask("hospital.duckdb", f"CREATE OR REPLACE TABLE visits AS {query}")


FIRST = [(number, 20 + number % 2 * 20, "1200", "xyz"[number // 2 % 3]) for number in range(36)]
FIVE_WITH_Y = [row for row in FIRST if row[1] == 20 and row[3] == "y"][:5]
OTHERS = [row for row in FIRST if row not in FIVE_WITH_Y]
NEWCOMERS = [(number, 20, "1200", ill) for number, ill in enumerate("wwwxxxyyyyyy", start=100)]


@pytest.mark.parametrize("unit", [False, True])
def test_people_with_one_value_wait_until_people_with_another_change_with_them(unit: bool) -> None:
    write_spec("unit: pid\n" if unit else "identifiers: [pid]\n")
    for rows, released in (
        (FIRST, 36),
        (OTHERS, 36),  # five leave, all with y
        (OTHERS[1:], 30),  # and one with x
        (OTHERS[1:] + NEWCOMERS[:3], 30),  # three come, all with w
        (OTHERS[1:] + NEWCOMERS, 42),  # and more with x and y than have left since the first night
    ):
        patients(rows)
        (done,) = kanon_sql.run("release.yml").releases
        assert done.release
        assert done.release.manifest["released_rows"] == released
    assert kanon_sql.verify(spec="release.yml").holds


def test_a_planted_error_of_the_decision_is_found_before_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    write_spec("identifiers: [pid]\n")
    patients(FIRST)
    kanon_sql.run("release.yml")
    patients(OTHERS)
    monkeypatch.setattr(Deferral, "_without_values", lambda *_: iter(()))
    for more in ("", "differencing: refuse\n"):
        write_spec(f"identifiers: [pid]\n{more}")
        with pytest.raises(DifferencingError, match=r"only 1 of the values of 'ill' possible for 1 class, and"):
            kanon_sql.run("release.yml")
    assert len(ask("hospital.duckdb", "SELECT * FROM anon")) == 36


def test_classes_of_another_night_are_not_compared_and_what_is_needed_is_named() -> None:
    write_spec("identifiers: [pid]\nnode: {age: 1, zip: 0}\n")
    patients(FIRST)
    kanon_sql.run("release.yml")
    write_spec("identifiers: [pid]\nnode: {age: 1, zip: 1}\n")
    with pytest.raises(DifferencingError, match="its classes are not known to be those of it"):
        kanon_sql.run("release.yml")
    done = kanon("run", "release.yml", "--differencing-limit", "unlimited")
    assert done.code == 0
    patients(OTHERS)
    assert kanon_sql.run("release.yml").releases[0].same_rows
    spec: dict[str, Any] = {"quasi_identifiers": ["age"], "sensitive": ["ill"], "differencing_values": {"ill": 3}}
    for wrong, words in (
        ({}, "set `differencing_limit=0`"),
        ({"differencing_limit": 0}, "needs 3 values of 'ill' in every class; set `l_diversity`"),
    ):
        with pytest.raises(SpecError, match=words):
            kanon_sql.anonymize("visits.csv", {**spec, **wrong}, output="anon.csv")
