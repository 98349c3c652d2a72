"""Nights of random databases with chains of three or four tables below the people, counted in plain Python.

Like `linked_nights`, for results of diagnoses of visits, and for readings of these: what any two releases show together
of every person is counted by plain loops over paths of rows, and comparisons must find the same numbers.
Two hundred databases: `cd tests; python -m support.chain_nights 200`; a second number is the first seed.
"""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any
from unittest.mock import patch

import duckdb

from kanon_sql.errors import DifferencingError, InfeasibleError
from kanon_sql.linked.history import LinkedHistory
from kanon_sql.verbs.run_database import run_database
from support.cases import run_cases

CHAIN = ("visits", "diagnoses", "results", "readings")
VALUES = ["low", "high", None]
Identity = tuple[Any, ...]  # a row in all releases: its table and number, and those of the rows above it


@dataclass
class Row:
    """A row of the source. `above`: the number of the row that it refers to, of the next table in the chain."""

    table: str
    person: int
    above: int | None
    label: int
    extra: int
    value: str | None


@dataclass(frozen=True)
class Shown:
    """A released row: its path of numbers from the person down, and what it shows of itself."""

    person: int
    path: Identity
    label: Any
    others: tuple[Any, ...]
    value: Any


Release = dict[Identity, Shown]
Counts = dict[int | str, tuple[int, int | None]]  # the combinations and the fewest people, by the number of known rows


@dataclass
class Database:
    """People by number with a label and a value, and rows below them, some of which refer to the person only."""

    draw: random.Random
    k: int
    m: int
    chain: tuple[str, ...]
    has_leaf_key: bool
    valued: str | None  # the table whose values are compared
    people: dict[int, tuple[int, str | None]] = field(default_factory=dict)
    rows: dict[int, Row] = field(default_factory=dict)
    last: int = 0

    @classmethod
    def drawn(cls, seed: int) -> Database:
        draw = random.Random(f"chain {seed}")
        chain = CHAIN[: draw.choice([3, 3, 4])]
        valued = draw.choice([None, None, "people", chain[-1], chain[1]])
        found = cls(draw, draw.choice([2, 2, 3]), draw.choice([1, 2, 2, 2, 2, 3]), chain, draw.random() < 0.5, valued)
        for _ in range(draw.choice([8, 14, 20])):
            found.add_person()
        return found

    def number(self) -> int:
        self.last += 1
        return self.last

    def label(self) -> int:
        return self.draw.choices(range(3), [8, 2, 1])[0]

    def add_person(self) -> None:
        person = self.number()
        self.people[person] = self.label(), self.draw.choice(VALUES)
        for _ in range(self.draw.choice([0, 1, 1, 2])):
            self.add(person, 0, None)

    def add(self, person: int, level: int, above: int | None) -> None:
        number = self.number()
        self.rows[number] = Row(
            self.chain[level], person, above, self.label(), self.draw.randrange(2), self.draw.choice(VALUES)
        )
        if level + 1 < len(self.chain):
            for _ in range(self.draw.choice([0, 1, 1, 2] if level else [1, 1, 2])):
                self.add(person, level + 1, None if self.draw.random() < 0.04 else number)

    def remove(self, number: int) -> None:
        del self.rows[number]
        for below in [n for n, row in self.rows.items() if row.above == number]:
            self.remove(below)

    def change(self) -> None:
        """A night's changes, of every kind."""
        draw = self.draw
        for _ in range(draw.choice([0, 1, 3])):
            self.add_person()
        for _ in range(draw.choice([0, 0, 1])):
            person = draw.choice(list(self.people))
            if len(self.people) > self.k:
                del self.people[person]
                self.rows = {n: row for n, row in self.rows.items() if row.person != person}
        for _ in range(draw.choice([0, 1, 3])):  # a row at any place of a chain
            uppers = [n for n, row in self.rows.items() if row.table != self.chain[-1]]
            if uppers:
                upper = draw.choice(uppers)
                row = self.rows[upper]
                self.add(row.person, self.chain.index(row.table) + 1, upper)
        for _ in range(draw.choice([0, 1])):
            if self.rows:
                self.remove(draw.choice(list(self.rows)))
        for _ in range(draw.choice([0, 1, 2])):
            if self.rows:
                row = self.rows[draw.choice(list(self.rows))]
                row.label, row.extra = draw.choice([(self.label(), row.extra), (row.label, 1 - row.extra)])
        if draw.random() < 0.3:  # a row moves to another one of the person
            number = draw.choice([n for n, row in self.rows.items() if row.above] or [0])
            if number:
                row = self.rows[number]
                of_table = self.chain[self.chain.index(row.table) - 1]
                row.above = draw.choice(
                    [n for n, one in self.rows.items() if one.table == of_table and one.person == row.person]
                )

    def load(self, execute: Any) -> None:
        for table in ("people", *CHAIN):
            execute(f"DROP TABLE IF EXISTS {table}")
        execute("CREATE TABLE people (id INTEGER, tag INTEGER, label INTEGER, value VARCHAR)")
        _insert(execute, "people", [(n, n, label, value) for n, (label, value) in self.people.items()])
        for table in self.chain:
            execute(
                f"CREATE TABLE {table} (id INTEGER, tag INTEGER, person INTEGER, above INTEGER, label INTEGER, "
                "extra INTEGER, value VARCHAR)"
            )
            rows = [
                (n, n, row.person, row.above, row.label, row.extra, row.value)
                for n, row in self.rows.items()
                if row.table == table
            ]
            _insert(execute, table, rows)

    def spec(self) -> dict[str, Any]:
        halves = {"hierarchy": {"ranges": [2]}}
        tables: dict[str, Any] = {"people": {"quasi_identifiers": {"label": halves}, "keep": ["tag"]}}
        for level, table in enumerate(self.chain):
            keys = {"person": "people", **({"above": self.chain[level - 1]} if level else {})}
            if table != self.chain[-1] or self.has_leaf_key:
                keys["id"] = "own"
            tables[table] = {"keys": keys, "quasi_identifiers": {"label": halves}, "keep": ["tag", "extra"]}
        privacy: dict[str, Any] = {"k": self.k, "m": self.m}
        if self.valued:
            tables[self.valued]["sensitive"] = ["value"]
            privacy["l_diversity"] = {f"{self.valued}.value": 2}
        return {
            "unit": {"people": "id"},
            "tables": tables,
            "privacy": privacy,
            "suppression_limit": 0.6,
            "event_suppression_limit": 0.9,
            "deferral_limit": 1.0,
            "into": {"schema": "released"},
        }

    def read(self, execute: Any) -> Release:
        """The release, by what identifies rows in all releases: without a key, also by all that they show."""
        value = {name: "value" if name == self.valued else "NULL" for name in ("people", *self.chain)}
        found: Release = {}
        places: dict[str, Identity] = {}  # of released keys
        for key, tag, label, kept in execute(
            f"SELECT id, tag, label, {value['people']} FROM released.people"
        ).fetchall():
            places[key] = (tag,)
            found[tag,] = Shown(tag, (tag,), label, (kept,), kept)
        for level, table in enumerate(self.chain):
            has_key = table != self.chain[-1] or self.has_leaf_key
            columns = f"{'id' if has_key else 'NULL'}, {'above' if level else 'NULL'}, person, tag, label, extra, "
            for key, above, person, tag, label, *others in execute(
                f"SELECT {columns}{value[table]} FROM released.{table}"
            ).fetchall():
                if label is not None:
                    label = str(label)  # a column that shows ranges in one release may show numbers in the next
                own = (table, tag) if has_key else (table, tag, label, *others)
                path = (*places[above if above is not None else person], own)
                assert path[0] == places[person][0]
                if has_key:
                    places[key] = path
                found[path] = Shown(path[0], path, label, tuple(others), others[-1])
        return found


def _insert(execute: Any, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if rows:
        values = ("(" + ", ".join("NULL" if x is None else repr(x) for x in row) + ")" for row in rows)
        execute(f"INSERT INTO {table} VALUES {', '.join(values)}")


class Pair:
    """What two releases show together of every person."""

    def __init__(self, earlier: Release, later: Release) -> None:
        self.releases = earlier, later
        self.classes: dict[int, str] = {}
        self.rows: dict[int, list[tuple[str, Identity]]] = defaultdict(list)
        for path in {*earlier, *later}:
            if len(path) == 1:
                self.classes[path[0]] = self._seen(path)
                continue
            # What a row shows, and what each of those shows to which it refers, up to the person.
            shown = [self._table(path)] + [self._seen(path[:end]) for end in range(len(path), 1, -1)]
            self.rows[path[0]].append((repr(shown), path))

    def _table(self, path: Identity) -> str:
        return str(path[-1][0])

    def _seen(self, path: Identity) -> str:
        before, after = (release.get(path) for release in self.releases)
        changed = before is not None and after is not None and before.others != after.others
        return repr((before and before.label, after and after.label, before is None, after is None, changed))

    def owners(self, size: int) -> dict[Any, set[int]]:
        """The people of every combination of so many rows."""
        found: dict[Any, set[int]] = defaultdict(set)
        for person, class_ in self.classes.items():
            for chosen in combinations(self.rows[person], size):
                found[class_, together(chosen)].add(person)
        return found

    def values(self, table: str, m: int) -> Iterator[int]:
        """The numbers of values of a table's rows that remain for combinations, in either of the two releases."""
        for release in self.releases:
            having: dict[int, set[Any]] = defaultdict(set)
            matching: dict[Any, set[Any]] = defaultdict(set)
            for path, row in release.items():
                if ("people" if len(path) == 1 else self._table(path)) == table:
                    having[row.person].add(row.value)
            for size in range(m + 1):
                for sharers in self.owners(size).values():
                    if values := set().union(*(having[person] for person in sharers)):
                        yield len(values) + any(not having[person] for person in sharers)
            for person, rows in self.rows.items():
                for place, (shown, path) in enumerate(rows):
                    if self._table(path) != table or path not in release:
                        continue
                    others = rows[:place] + rows[place + 1 :]
                    for size in range(m):
                        for chosen in combinations(others, size):
                            pattern = together([(f"known {shown}", path), *chosen])
                            matching[self.classes[person], pattern].add(release[path].value)
            yield from map(len, matching.values())


def together(rows: Sequence[tuple[str, Identity]], depth: int = 1) -> Any:
    """What rows show, nested by the rows that they belong to, whatever their order and their numbers."""
    here = sorted(shown for shown, path in rows if len(path) == depth)
    below: dict[Identity, list[tuple[str, Identity]]] = defaultdict(list)
    for shown, path in rows:
        if len(path) > depth:
            below[path[: depth + 1]].append((shown, path))
    return tuple(here), tuple(sorted(together(group, depth + 1) for group in below.values()))


@contextmanager
def _recorded(counted: dict[int, Counts], database: Database) -> Iterator[None]:
    """Add what comparisons find, by the earlier release and the number of known rows."""
    side_by_side = LinkedHistory._side_by_side

    def recording(self: Any, scratch: Any, histories: Any, release: int) -> Any:
        joined = side_by_side(self, scratch, histories, release)
        findings = joined.findings(database.k, database.m)
        counted[release] = {found.known_rows: (found.combinations, found.achieved) for found in findings}
        return joined

    with patch.object(LinkedHistory, "_side_by_side", recording):
        yield


def run(seed: int, nights: int = 3, connection: Any = None) -> tuple[int, Counter[str], str]:
    """Release a database every night; returns how often what happened, and what is wrong, if anything."""
    database = Database.drawn(seed)
    if connection is None:
        connection = duckdb.connect(config={"threads": 1})
        connection.execute("PRAGMA disable_optimizer")  # which takes longer than such small queries themselves
    ends: Counter[str] = Counter()
    releases: list[Release] = []
    for night in range(nights):
        if night:
            database.change()
        database.load(connection.execute)
        counted: dict[int, Counts] = {}
        try:
            with _recorded(counted, database):
                done = run_database(database.spec(), connection=connection)
        except InfeasibleError:
            ends["infeasible"] += 1
            return seed, ends, ""
        except DifferencingError as error:
            ends["refused"] += 1
            if " together would " in str(error):  # what waits was chosen so that this does not happen
                return seed, ends, f"night {night}: {error}"
            continue
        ends[done.status] += 1
        if done.status == "unchanged":
            continue
        assert done.release
        manifest = done.release.manifest
        ends["waiting"] += bool(manifest["waiting"]["people"])
        release = database.read(connection.execute)
        for number, earlier in enumerate([*releases, release], start=1):
            if problem := _problem(database, earlier, release, counted.get(number), manifest, number):
                return seed, ends, f"night {night} and release {number}: {problem}"
            ends["compared"] += number in counted
        releases.append(release)
    return seed, ends, ""


def _problem(
    database: Database,
    earlier: Release,
    release: Release,
    counted: Counts | None,
    manifest: dict[str, Any],
    number: int,
) -> str:
    """What is wrong with two releases, or with what the comparison found."""
    pair = Pair(earlier, release)
    fewest: list[int] = []
    for size in range(database.m + 1):
        owners = pair.owners(size)
        smallest = min(map(len, owners.values()), default=None)
        if smallest is not None:
            fewest.append(smallest)
        if smallest is not None and smallest < database.k:
            return f"{smallest} people share {size} rows"
        # Three equal rows can be listed in several orders, so that the check counts more combinations of them.
        if counted and (smallest != counted[size][1] or (size < 3 and len(owners) != counted[size][0])):
            return (
                f"{len(owners)} combinations of {size} rows, the rarest of {smallest}; the check found {counted[size]}"
            )
    values = min(pair.values(database.valued, database.m), default=None) if database.valued else None
    if values is not None and values < 2:
        return f"{values} values of {database.valued}"
    if counted is None:
        return ""
    (found,) = [one for one in manifest["compared"] if one["release"] == number]
    expected = {f"{database.valued}.value": values} if values is not None else {}
    if (found["fewest_people"], found["fewest_values"]) != (min(fewest), expected):
        return f"{min(fewest)} people and {expected}, but the check found {found}"
    return ""


def main() -> int:
    """Run the cases that the command line requests; 1 if one was wrong."""
    return run_cases(run)


if __name__ == "__main__":
    sys.exit(main())
