"""A month of nights: rows arrive, leave and change, a column appears, a type changes, a hierarchy grows."""

import random
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest

import kanon_sql
from kanon_sql.errors import DifferencingError, SpecError
from support.nights import Row, covers_age, covers_zip, narrowed, singled_out

K = 3
SPEC = """
source: patients
database: hospital.duckdb
identifiers: [name]
quasi_identifiers:
  age: {hierarchy: {ranges: [20]}}
  zip: {hierarchy: zip.csv}
sensitive: [ill]
privacy: {k: 3}
suppression_limit: 0.1
audit: true
differencing: refuse
target: {table: patients_anon}
"""
DOMAIN = [(age, code) for age in range(20, 60) for code in ("1200", "1201", "1300", "1301", "1400")]
COVERS = (covers_age, covers_zip)
FIRST, LAST = slice(4), slice(-4, None)
Batch = tuple[int, str]  # an age, and a code


class Hospital:
    """The people of a table, night by night."""

    def __init__(self) -> None:
        self.random, self.numbers, self.more, self.number = random.Random(3), 0, "", "INTEGER"
        self.people, self.gone = list[Row](), list[Row]()
        self.codes = ["1200", "1201", "1300", "1301"]
        self.come(*[(low, code) for low in (20, 40) for code in self.codes])
        self.say("")

    def come(self, *batches: Batch) -> None:
        """Four people for each batch, of an age in the twenty years from one on."""
        for low, code in batches:
            for _ in range(4):
                self.numbers += 1
                age, ill = low + self.random.randrange(20), self.random.choice("xyz")
                self.people.append((f"p{self.numbers}", age, code, ill))

    def go(self, low: int, code: str, which: slice) -> list[Row]:
        gone = [person for person in self.people if low <= person[1] < low + 20 and person[2] == code][which]
        self.people = [person for person in self.people if person not in gone]
        return gone

    def change(self) -> None:
        self.was = name, age, code, ill = self.people[0]
        self.people[0] = (name, age, code, "x" if ill == "y" else "y")

    def say(self, more: str, limit: int = 1) -> None:
        """Write the spec, with lines more."""
        self.limit = limit
        Path("release.yml").write_text(f"{SPEC}differencing_limit: {limit}\n{more}")

    def write(self) -> None:
        lines = [f"{code};{code[:2]}**;*" for code in self.codes]
        Path("zip.csv").write_text("\n".join(lines) + "\n")
        values = f"(VALUES {', '.join(map(str, self.people))}) AS t(name, age, zip, ill)"
        named = f"SELECT name, CAST(age AS {self.number}) AS age, zip, ill{self.more} FROM {values} ORDER BY hash(name)"
        with duckdb.connect("hospital.duckdb") as connection:
            connection.execute(f"CREATE OR REPLACE TABLE patients AS {named}")


def happens(number: int, hospital: Hospital) -> None:
    """What happens before the run of a night, of 30."""
    match number:
        case 3:
            hospital.come((20, "1200"), (40, "1301"), (20, "1300"))
        case 7:  # as many as came, but not the same: the first night tells them apart, and the night before does not
            hospital.gone = hospital.go(20, "1200", FIRST)
        case 8:
            hospital.people[:0] = hospital.gone
            hospital.go(20, "1200", LAST)
            hospital.come((40, "1200"))
        case 10:
            hospital.more = ", 1 AS ward"
        case 11:
            hospital.say("new_columns: drop\n")
        case 12:
            hospital.number = "BIGINT"
        case 13:
            hospital.say("new_columns: drop\nchanged_types: accept\n")
        case 14:
            hospital.change()
        case 15:
            hospital.people[0] = hospital.was
            hospital.come((20, "1201"))
        case 16:
            hospital.go(40, "1200", LAST)
        case 20:
            hospital.codes.append("1400")
            hospital.come((20, "1400"), (40, "1400"))
        case 22:
            hospital.people[-8:-4] = []  # and four others come, of whom two have what two of those had
            hospital.come((20, "1400"))
        case 23:
            hospital.say("new_columns: drop\nchanged_types: accept\n", limit=2)
        case _ if number:
            return
    hospital.write()


def released() -> list[Row]:
    with duckdb.connect("hospital.duckdb", read_only=True) as connection:
        return connection.execute("SELECT CAST(age AS VARCHAR), zip, ill FROM patients_anon").fetchall()


@pytest.mark.slow
@pytest.mark.nightly
def test_every_night_is_safe_and_no_two_nights_single_out_a_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    hospital, done = Hospital(), list[str | dict[str, Any]]()
    nights: list[list[Row]] = []
    for number in range(30):
        happens(number, hospital)
        done.append(ran(hospital, nights))
        nights += [released()] if isinstance(done[-1], dict) else []
    refused = {
        number: reported
        for number, reported in enumerate(done)
        if isinstance(reported, str) and reported != "unchanged"
    }
    assert sorted(refused) == [7, 10, 12, 14, 22]
    expected = {
        7: "together with its release of 2",
        10: "'ward' is new",
        12: "BIGINT",
        14: "together with it",
        22: "out 2 people",
    }
    for number, message in expected.items():
        assert message in refused[number]
    manifests = [manifest for manifest in done if isinstance(manifest, dict)]
    assert len(manifests) == len(nights) == 9
    assert done.count("unchanged") == 16
    assert {str(manifest["node"]) for manifest in manifests} == {"{'age': 1, 'zip': 0}"}
    assert [manifest["node_kept"] for manifest in manifests] == [None, *[True] * 8]
    holds_until_a_byte_changes(len(manifests))


def ran(hospital: Hospital, nights: list[list[Row]]) -> str | dict[str, Any]:
    """Run a night, see that what is there then holds, and give the manifest of a release, or what came of it."""
    try:
        (done,) = kanon_sql.run("release.yml").releases
    except (DifferencingError, SpecError) as error:
        assert released() == nights[-1]
        return str(error)
    after = released()
    assert min(Counter(row[:2] for row in after).values()) >= K
    if not done.release:
        assert after == nights[-1]
        return done.status
    if nights:
        check(done.release.manifest["differencing"], nights, after, hospital)
    return done.release.manifest


def check(found: dict[str, Any], nights: list[list[Row]], after: list[Row], hospital: Hospital) -> None:
    """Hold a night against each before in plain Python."""
    people = [(age, code) for _, age, code, _ in hospital.people]
    revealed = [
        (singled_out(night, after, DOMAIN, COVERS, K), narrowed(night, after, people, COVERS, K)) for night in nights
    ]
    assert (found["came_left_or_stayed"], found["narrowed"]) == revealed[-1]
    unlike = {tuple(sorted(night)) for night in nights}
    assert found["earlier"] == {"releases": len(unlike) - 1, "most_people": max(map(sum, revealed[:-1]), default=0)}
    assert max(map(sum, revealed)) <= hospital.limit


def holds_until_a_byte_changes(rows: int) -> None:
    """Verify the audit trail of the month, then change one byte of one manifest."""
    trail = kanon_sql.releases("kanon_releases", database="hospital.duckdb")
    assert (bool(trail), len(trail.entries)) == (True, rows)
    with duckdb.connect("hospital.duckdb") as connection:
        connection.execute(
            "UPDATE kanon_releases SET manifest = replace(manifest, '\"seed\":0', '\"seed\":1') WHERE number = 5"
        )
    trail = kanon_sql.releases("kanon_releases", database="hospital.duckdb")
    assert trail.broken == ((5, "its checksum is not that of its manifest"),)
