"""Nights of random databases of three tables: no two releases single anyone out, counted in plain Python.

Every row has a number that is released unchanged, by which this program recognizes it in several releases, as no reader
could. Five hundred databases: `cd tests; python -m support.linked_nights 500`; a second number is the first seed.
"""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import duckdb

from kanon_sql.errors import DifferencingError, InfeasibleError
from kanon_sql.verbs.run_database import run_database
from support.cases import run_cases

VALUES = 3  # of every column
JOBS, SEVERITIES = ["cook", "nurse", "it's"], ["low", "high", None]
MODELS: list[dict[str, int]] = [
    *[{}, {"people.job": 2}, {"diagnoses.severity": 2}, {"diagnoses.severity": 3}],
    {"people.job": 2, "diagnoses.severity": 2},
]
Release = dict[str, dict[Any, tuple[Any, ...]]]  # by table, what the row with a number shows: label, links, value


@dataclass
class Database:
    """Rows by their numbers: people (zip), visits (person, ward, days) and diagnoses (visit or None, person, code).

    `diverse`: the l of the l-diversity of the jobs of people and the severities of diagnoses; `least`: the number of
    values that two releases must leave possible.
    """

    draw: random.Random
    k: int
    m: int
    has_key: bool
    people: dict[int, int] = field(default_factory=dict)
    visits: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    diagnoses: dict[int, tuple[int | None, int, int]] = field(default_factory=dict)
    values: dict[int, str | None] = field(default_factory=dict)  # the jobs and severities by row
    rows: int = 0
    diverse: dict[str, int] = field(default_factory=dict)
    least: dict[str, int] = field(default_factory=dict)

    @classmethod
    def drawn(cls, seed: int) -> Database:
        draw = random.Random(seed)
        found = cls(draw, draw.choice([2, 2, 3]), draw.choice([0, 1, 2, 2, 3]), draw.random() < 0.5)
        for _ in range(draw.choice([8, 20, 40])):
            found.add_person()
        found.require_values()
        return found

    def number(self) -> int:
        self.rows += 1
        return self.rows

    def require_values(self) -> None:
        """Choose the models of sensitive columns."""
        self.diverse = self.draw.choice(MODELS)
        self.least = {name: self.draw.choice([2, values]) for name, values in self.diverse.items()}

    def valued(self, number: int, values: list[Any]) -> str | None:
        """The sensitive value of a row, which rarely changes."""
        if number not in self.values or self.draw.random() < 0.03:
            self.values[number] = self.draw.choice(values)
        return self.values[number]

    def value(self) -> int:
        return self.draw.choices(range(VALUES), [6, 2, 1])[0]

    def add_person(self) -> None:
        person = self.number()
        self.people[person] = self.value()
        for _ in range(self.draw.choice([0, 1, 1, 2])):
            self.add_visit(person)

    def add_visit(self, person: int) -> None:
        visit = self.number()
        self.visits[visit] = (person, self.value(), self.draw.randrange(2))
        for _ in range(self.draw.choice([0, 1, 1])):
            self.diagnoses[self.number()] = (visit, person, self.value())

    def remove_visit(self, visit: int) -> None:
        del self.visits[visit]
        self.diagnoses = {n: row for n, row in self.diagnoses.items() if row[0] != visit}

    def remove_person(self, person: int) -> None:
        del self.people[person]
        for visit in [n for n, row in self.visits.items() if row[0] == person]:
            self.remove_visit(visit)
        self.diagnoses = {n: row for n, row in self.diagnoses.items() if row[1] != person}

    def change(self) -> None:
        """A night's changes, of every kind."""
        draw = self.draw
        for _ in range(draw.choice([0, 1, 3, 6])):
            self.add_person()
        for _ in range(draw.choice([0, 0, 1, 3])):
            if len(self.people) > self.k:
                self.remove_person(draw.choice(list(self.people)))
        for _ in range(draw.choice([0, 1, 3])):
            self.add_visit(draw.choice(list(self.people)))
        for _ in range(draw.choice([0, 1])):
            self.people[draw.choice(list(self.people))] = self.value()
        if self.visits and draw.random() < 0.5:
            self.remove_visit(draw.choice(list(self.visits)))
        if self.visits and draw.random() < 0.5:
            visit = draw.choice(list(self.visits))
            person, ward, days = self.visits[visit]
            self.visits[visit] = draw.choice([(person, self.value(), days), (person, ward, 1 - days)])
        if self.diagnoses and draw.random() < 0.5:
            number = draw.choice(list(self.diagnoses))
            visit, person, _ = self.diagnoses[number]
            self.diagnoses[number] = (visit, person, self.value())

    def load(self, execute: Any) -> None:
        for table in ("people", "visits", "diagnoses"):
            execute(f"DROP TABLE IF EXISTS {table}")
        execute("CREATE TABLE people (id INTEGER, tag INTEGER, zip INTEGER, job VARCHAR)")
        execute("CREATE TABLE visits (visit INTEGER, tag INTEGER, person INTEGER, ward INTEGER, days INTEGER)")
        columns = "visit INTEGER, tag INTEGER, person INTEGER, code INTEGER, id INTEGER, severity VARCHAR"
        execute(f"CREATE TABLE diagnoses ({columns})")
        rows: dict[str, list[tuple[Any, ...]]] = {
            "people": [(n, n, zip_, self.valued(n, JOBS)) for n, zip_ in self.people.items()],
            "visits": [(n, n, *row) for n, row in self.visits.items()],
            "diagnoses": [
                (visit, n, person, code, n, self.valued(n, SEVERITIES))
                for n, (visit, person, code) in self.diagnoses.items()
            ],
        }
        for table, found in rows.items():
            for row in found:
                texts = ("NULL" if x is None else "'it''s'" if x == "it's" else repr(x) for x in row)
                execute(f"INSERT INTO {table} VALUES ({', '.join(texts)})")

    def spec(self) -> dict[str, Any]:
        halves = {"hierarchy": {"ranges": [2]}}
        own = {"id": "own"} if self.has_key else {}
        return {
            "unit": {"people": "id"},
            "tables": {
                "people": {"quasi_identifiers": {"zip": halves}, "keep": ["tag"], "sensitive": ["job"]},
                "visits": {
                    "keys": {"visit": "own", "person": "people"},
                    "quasi_identifiers": {"ward": halves},
                    "keep": ["tag", "days"],
                },
                "diagnoses": {
                    "keys": {**own, "visit": "visits", "person": "people"},
                    "quasi_identifiers": {"code": halves},
                    "keep": ["tag"],
                    "sensitive": ["severity"],
                },
            },
            "privacy": {"k": self.k, "m": self.m, "l_diversity": self.diverse},
            "differencing_values": self.least,
            "suppression_limit": 0.3,
            "event_suppression_limit": 0.4,
            "deferral_limit": 1.0,
            "into": {"schema": "released"},
        }


def read(execute: Any, has_key: bool) -> Release:
    """The release, by the numbers of rows, with links to numbers instead of keys.

    Without a key, a diagnosis that changes is another one, which can be released together with the old one.
    """
    people = {
        key: (tag, zip_, job) for key, zip_, tag, job in _rows(execute, "SELECT id, zip, tag, job FROM released.people")
    }
    visits = {
        key: (tag, people[person][0], ward, days)
        for key, person, ward, tag, days in _rows(execute, "SELECT visit, person, ward, tag, days FROM released.visits")
    }
    diagnoses = _rows(execute, "SELECT visit, person, code, tag, severity FROM released.diagnoses")
    return {
        "people": {tag: (zip_, job) for tag, zip_, job in people.values()},
        "visits": {tag: (ward, person, days) for tag, person, ward, days in visits.values()},
        "diagnoses": {
            tag if has_key else (tag, code, severity): (
                code,
                people[person][0],
                visits[visit][0] if visit is not None else None,
                severity,
            )
            for visit, person, code, tag, severity in diagnoses
        },
    }


def _rows(execute: Any, sql: str) -> list[tuple[Any, ...]]:
    return list(execute(sql).fetchall())


def fewest(earlier: Release, later: Release, m: int) -> int | None:
    """The fewest people who share what two releases together show of them and up to m of their rows."""
    owners: dict[Any, set[int]] = defaultdict(set)
    for person, own in _people(earlier, later):
        for size in range(m + 1):
            for chosen in combinations(own[1:], size):
                owners[own[0], _pattern(chosen)].add(person)
    return min(map(len, owners.values()), default=None)


def fewest_values(earlier: Release, later: Release, m: int, column: str) -> int | None:
    """The fewest values of a sensitive column that remain for what two releases together show.

    The column is `people.job` or `diagnoses.severity`. The people who share a combination have values anywhere; that
    some have none counts as one. Rows of diagnoses that show the same next to the same other rows have values as well.
    """
    people = list(_people(earlier, later))
    return min(
        (
            found
            for release in (earlier, later)
            for found in _numbers_of_values(people, release, m, column == "people.job")
        ),
        default=None,
    )


def _numbers_of_values(people: list[tuple[int, list[Any]]], release: Release, m: int, jobs: bool) -> Iterator[int]:
    """The numbers of values of one release."""
    owners: dict[Any, set[int]] = defaultdict(set)
    matching: dict[Any, set[Any]] = defaultdict(set)
    having: dict[int, set[Any]] = defaultdict(set)
    if jobs:
        having |= {person: {job} for person, (_, job) in release["people"].items()}
    for person, own in people:
        rows = own[1:]
        severities = [
            release["diagnoses"].get(number) if shown[0] == "diagnosis" else None for shown, _, number in rows
        ]
        for of_row in () if jobs else severities:
            having[person] |= {of_row[3]} if of_row else set()
        for size in range(m + 1):
            for chosen in combinations(rows, size):
                owners[own[0], _pattern(chosen)].add(person)
            for place, of_row in enumerate(severities) if size and not jobs else ():
                if of_row:
                    rest = [row for n, row in enumerate(rows) if n != place]
                    for others in combinations(rest, size - 1):
                        matching[own[0], _around(rows[place], others)].add(of_row[3])
    for sharers in owners.values():
        if values := set[Any]().union(*(having[person] for person in sharers)):
            yield len(values) + any(not having[person] for person in sharers)
    yield from map(len, matching.values())


def _around(row: Any, others: tuple[Any, ...]) -> Any:
    """What a row shows, and what others show next to it, with which of them belong to one visit."""
    marked = [((shown, visit is not None and visit == row[1]), visit, number) for shown, visit, number in others]
    return row[0], _pattern(tuple(marked))


def _people(earlier: Release, later: Release) -> Iterator[tuple[int, list[Any]]]:
    """The people of two releases: what both show of each, and then of each of their other rows with its visit."""

    def seen(table: str, number: int) -> tuple[Any, ...]:
        before, after = (release[table].get(number) for release in (earlier, later))
        changed = before is not None and after is not None and before[1:] != after[1:]
        return before and before[0], after and after[0], before is None, after is None, changed

    rows: dict[int, list[Any]] = defaultdict(list)
    for number in {*earlier["visits"], *later["visits"]}:
        row = later["visits"].get(number) or earlier["visits"][number]
        rows[row[1]].append((("visit", *seen("visits", number)), number, number))
    for number in {*earlier["diagnoses"], *later["diagnoses"]}:
        _, person, visit, _ = later["diagnoses"].get(number) or earlier["diagnoses"][number]
        shown = ("diagnosis", *seen("diagnoses", number), visit is not None and seen("visits", visit))
        rows[person].append((shown, visit, number))
    for person in {*earlier["people"], *later["people"]}:
        yield person, [seen("people", person), *rows[person]]


def _pattern(chosen: tuple[Any, ...]) -> Any:
    """What rows show together, whatever their order: with which of them belong to one visit."""
    ordered = sorted(chosen, key=lambda row: repr(row[0]))
    groups: dict[Any, list[str]] = defaultdict(list)
    for place, (shown, visit, _) in enumerate(ordered):
        groups[visit if visit is not None else f"none {place}"].append(repr(shown))
    return tuple(sorted(tuple(sorted(group)) for group in groups.values()))


def run(seed: int, nights: int = 5, connection: Any = None) -> tuple[int, Counter[str], str]:
    """Release a database every night; returns how often what happened, and what is wrong, if anything."""
    database = Database.drawn(seed)
    connection = connection or duckdb.connect()
    connection.execute("SET threads = 1") if isinstance(connection, duckdb.DuckDBPyConnection) else None
    ends: Counter[str] = Counter()
    releases: list[Release] = []
    for night in range(nights):
        if night:
            database.change()
        database.load(connection.execute)
        try:
            done = run_database(database.spec(), connection=connection)
        except (InfeasibleError, DifferencingError) as error:
            ends[type(error).__name__] += 1
            if isinstance(error, DifferencingError):
                continue
            return seed, ends, ""
        ends[done.status] += 1
        if done.status == "unchanged":
            continue
        assert done.release
        release, waiting = read(connection.execute, database.has_key), done.release.manifest["waiting"]
        ends["waiting"] += bool(waiting["people"])
        for number, earlier in enumerate([*releases, release]):
            found = fewest(earlier, release, database.m)
            if found is not None and found < database.k:
                return seed, ends, f"night {night} and release {number}: {found} people share a combination"
            for column in database.diverse:
                least = (database.diverse if earlier is release else database.least)[column]
                values = fewest_values(earlier, release, database.m, column)
                if values is not None and values < least:
                    return seed, ends, f"night {night} and release {number}: {values} values of {column}"
        for compared in done.release.manifest["compared"]:
            found = fewest(releases[compared["release"] - 1], release, database.m)
            if found != compared["fewest_people"]:
                return seed, ends, f"night {night}: {found} people, but the check found {compared}"
            for column, fewest_found in compared["fewest_values"].items():
                values = fewest_values(releases[compared["release"] - 1], release, database.m, column)
                if values != fewest_found:
                    return seed, ends, f"night {night}: {values} values of {column}, but the check found {compared}"
        releases.append(release)
    return seed, ends, ""


def main() -> int:
    """Run the cases that the command line requests; 1 if one was wrong."""
    return run_cases(run)


if __name__ == "__main__":
    sys.exit(main())
