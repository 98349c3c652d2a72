"""Random databases of three tables, released and compared with plain Python.

Ten thousand cases: `cd tests; python -m support.linked_cases 10000`.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql.errors import InfeasibleError
from kanon_sql.verbs.database import anonymize_database, verify_database

VALUES = 4  # of every column
Row = tuple[Any, ...]


@dataclass
class Labels:
    """A random hierarchy of the numbers 0 to 3: on level 1 two or three groups, on level 2 one."""

    groups: list[int]

    def label(self, value: int, level: int) -> str:
        return str(value) if level == 0 else f"g{self.groups[value]}" if level == 1 else "*"

    def loss(self, value: int, level: int) -> float:
        alike = sum(self.label(other, level) == self.label(value, level) for other in range(VALUES))
        return (alike - 1) / (VALUES - 1)

    def write(self, path: Path) -> None:
        lines = [";".join(self.label(value, level) for level in range(3)) for value in range(VALUES)]
        path.write_text("\n".join(lines) + "\n")


@dataclass
class Case:
    """A database: people (key, zip), visits (key, person, ward), and diagnoses of visits (code), or of people."""

    people: list[Row]
    visits: list[Row]
    diagnoses: list[Row]
    nested: bool
    k: int
    m: int | str
    limits: tuple[float, float]
    labels: dict[str, Labels] = field(default_factory=dict)

    @classmethod
    def drawn(cls, seed: int) -> Case:
        draw = random.Random(seed)
        size = draw.choice([2, 5, 12, 25, 60])
        few = draw.random() < 0.5  # values that repeat often, so that releases keep something
        value = partial(draw.choices, range(VALUES), [8, 3, 1, 1] if few else [1, 1, 1, 1])
        people = [(f"p{n}", value()[0]) for n in range(size)]
        visits: list[Row] = []
        diagnoses: list[Row] = []
        nested = draw.random() < 0.6
        for key, _ in people:
            for _ in range(draw.choice([0, 1, 1, 2, 3, 4])):
                visits.append((len(visits), key, value()[0]))
                if nested:
                    for _ in range(draw.choice([0, 1, 1, 2])):
                        diagnoses.append((visits[-1][0], key, value()[0]))
            if not nested:
                diagnoses += [(None, key, value()[0]) for _ in range(draw.choice([0, 0, 1, 2]))]
        if nested and draw.random() < 0.3:  # a diagnosis that belongs to no visit
            diagnoses += [(None, key, value()[0]) for key, _ in draw.sample(people, max(1, size // 4))]
        limits = draw.choice([(0.0, 0.0), (0.0, 0.0), (0.1, 0.2), (0.3, 0.5), (0.0, 1.0)])
        labels = {name: Labels([draw.randrange(2) for _ in range(VALUES)]) for name in ("zip", "ward", "code")}
        k, m = draw.choice([1, 2, 3, 5]), draw.choice([0, 1, 2, 2, 3, "all"])
        draw.shuffle(visits)
        draw.shuffle(diagnoses)
        return cls(people, visits, diagnoses, nested, min(k, size), m, limits, labels)

    def load(self, execute: Any) -> None:
        execute("CREATE TABLE people (id VARCHAR, zip INTEGER)")
        execute("CREATE TABLE visits (visit INTEGER, person VARCHAR, ward INTEGER)")
        execute("CREATE TABLE diagnoses (visit INTEGER, person VARCHAR, code INTEGER)")
        for table, rows in (("people", self.people), ("visits", self.visits), ("diagnoses", self.diagnoses)):
            for row in rows:
                values = ", ".join("NULL" if x is None else repr(x) for x in row)
                execute(f"INSERT INTO {table} VALUES ({values})")

    def spec(self, folder: Path) -> dict[str, Any]:
        for name, labels in self.labels.items():
            labels.write(folder / f"{name}.csv")
        keys = {"person": "people", **({"visit": "visits"} if self.nested else {})}
        return {
            "unit": {"people": "id"},
            "hierarchies": str(folder),
            "tables": {
                "people": {"quasi_identifiers": ["zip"]},
                "diagnoses": {"keys": keys, "quasi_identifiers": ["code"]},
                "visits": {"keys": {"visit": "own", "person": "people"}, "quasi_identifiers": ["ward"]},
            },
            "privacy": {"k": self.k, "m": self.m},
            "suppression_limit": self.limits[0],
            "event_suppression_limit": self.limits[1],
            "into": {"schema": "released"},
        }

    def released(self, node: Sequence[int]) -> tuple[list[Row], list[Row], list[Row]]:
        """All rows on the levels of zip, ward and code."""
        zips, wards, codes = (
            partial(self.labels[name].label, level=level)
            for name, level in zip(("zip", "ward", "code"), node, strict=True)
        )
        return (
            [(key, zips(value)) for key, value in self.people],
            [(key, person, wards(value)) for key, person, value in self.visits],
            [(visit if self.nested else None, person, codes(value)) for visit, person, value in self.diagnoses],
        )

    def loss(self, node: Sequence[int]) -> float:
        """The mean loss of the three columns, if all rows are released; a table without rows loses nothing."""
        columns = (
            ("zip", [row[1] for row in self.people]),
            ("ward", [row[2] for row in self.visits]),
            ("code", [row[2] for row in self.diagnoses]),
        )
        means = []
        for (name, values), level in zip(columns, node, strict=True):
            means.append(sum(self.labels[name].loss(value, level) for value in values) / max(1, len(values)))
        return sum(means) / 3


def smallest(people: Sequence[Row], visits: Sequence[Row], diagnoses: Sequence[Row], m: int | str) -> dict[Any, int]:
    """The fewest people who share a class, and per size of known rows the fewest who share a combination."""
    classes = dict(people)
    of_visit = {visit: ward for visit, _, ward in visits}
    rows: dict[str, list[tuple[Row, Any]]] = defaultdict(list)
    for visit, person, ward in visits:
        rows[person].append((("visit", ward), visit))
    for visit, person, code in diagnoses:
        rows[person].append((("diagnosis", code, of_visit.get(visit)), visit))
    found: dict[Any, int] = {0: min(Counter(classes.values()).values(), default=0)}
    if m == "all":
        wholes = Counter((classes[person], _whole(rows[person])) for person in classes)
        found["all"] = min(wholes.values(), default=0)
        return found
    assert isinstance(m, int)
    for size in range(1, m + 1):
        owners: dict[Any, set[str]] = defaultdict(set)
        for person, own in rows.items():
            for chosen in combinations(own, size):
                owners[classes[person], _pattern(chosen)].add(person)
        if owners:
            found[size] = min(map(len, owners.values()))
    return found


def _pattern(rows: Sequence[tuple[Row, Any]]) -> Any:
    """What rows show, and which of them belong to the same visit, whatever their order."""
    patterns = []
    for order in permutations(rows):
        linked = tuple(a[1] is not None and a[1] == b[1] for a, b in combinations(order, 2))
        patterns.append((tuple(map(repr, (shown for shown, _ in order))), linked))
    return min(patterns)


def _whole(rows: Sequence[tuple[Row, Any]]) -> Any:
    visits: dict[Any, list[str]] = defaultdict(list)
    for shown, visit in rows:
        visits[visit].append(repr(shown))
    return tuple(sorted(tuple(sorted(shown)) for shown in visits.values()))


def run(seed: int, connection: Any = None) -> tuple[int, str, str]:
    """Release one random database; the seed, how it ended, and what is wrong with it."""
    case = Case.drawn(seed)
    ours = connection is None
    connection = connection or duckdb.connect()
    try:
        with tempfile.TemporaryDirectory() as folder:
            case.load(connection.execute)
            return _compared(seed, case, case.spec(Path(folder)), connection)
    finally:
        if ours:
            connection.close()


def _compared(seed: int, case: Case, spec: dict[str, Any], connection: Any) -> tuple[int, str, str]:
    safe = [node for node in product(range(3), repeat=3) if _is_safe(case, node)]
    try:
        manifest = anonymize_database(spec, connection=connection).manifest
    except InfeasibleError as error:
        if (2, 2, 2) in safe:
            return seed, "wrong", f"refused, although the top is safe: {error}"
        return seed, "refused", ""
    tables = ["people", "visits", "diagnoses"]
    people, visits, diagnoses = (connection.execute(f"SELECT * FROM released.{name}").fetchall() for name in tables)
    visits = [(visit, person, ward) for visit, person, ward in visits]
    order = [name for name in ("visit", "person") if name in spec["tables"]["diagnoses"]["keys"]]
    names = [column[0] for column in connection.execute("SELECT * FROM released.diagnoses LIMIT 0").description]
    diagnoses = [
        (row[names.index("visit")] if "visit" in order else None, row[names.index("person")], row[names.index("code")])
        for row in diagnoses
    ]
    return seed, "released", "; ".join(_problems(case, manifest, safe, people, visits, diagnoses, spec, connection))


def _is_safe(case: Case, node: Sequence[int]) -> bool:
    return all(fewest >= case.k for fewest in smallest(*case.released(node), case.m).values())


def _problems(
    case: Case,
    manifest: dict[str, Any],
    safe: Sequence[Row],
    people: list[Row],
    visits: list[Row],
    diagnoses: list[Row],
    spec: Any,
    connection: Any,
) -> Iterator[str]:
    fewest = smallest(people, visits, diagnoses, case.m) if people else {}
    if any(count < case.k for count in fewest.values()):
        yield f"unsafe: {fewest}, k = {case.k}"
    keys = {key for key, _ in people}
    if len(keys) < len(people) or any(row[1] not in keys for row in (*visits, *diagnoses)):
        yield "rows of people who were not released"
    of_visits = {row[0]: row[1] for row in visits}
    if any(row[0] is not None and of_visits.get(row[0]) != row[1] for row in diagnoses):
        yield "diagnoses of visits that were not released"
    for name, before, after in (
        ("people", case.people, people),
        ("visits", case.visits, visits),
        ("diagnoses", case.diagnoses, diagnoses),
    ):
        limit = case.limits[0] if name == "people" else case.limits[1]
        if len(before) - len(after) > limit * len(before) + 1e-9:
            yield f"{len(before) - len(after)} of {len(before)} rows of {name} left out, {limit} allowed"
        if manifest["tables"][name]["released_rows"] != len(after):
            yield f"{name}: {len(after)} rows, and the manifest says {manifest['tables'][name]['released_rows']}"
    found = {
        finding["known_rows"]: finding["achieved"] for finding in manifest["privacy"] if finding["achieved"] is not None
    }
    if found != fewest and people:
        yield f"the check found {found}, and plain Python {fewest}"
    if verify_database(spec, connection=connection).satisfied is not True:
        yield "verify does not confirm it"
    best = min((case.loss(node) for node in safe), default=None)
    if best is not None and manifest["score"] > best + 1e-9:
        yield f"score {manifest['score']}, but a safe node without losses of rows has {best}"
    if (
        case.limits == (0.0, 0.0)
        and best is not None
        and (abs(manifest["score"] - best) > 1e-9 or not manifest["proven_optimal"])
    ):
        yield f"score {manifest['score']}, optimum {best}, proven {manifest['proven_optimal']}"
    if manifest["lower_bound"] > manifest["score"] + 1e-9:
        yield "the bound is above the score"
    levels = manifest["node"]
    node = levels["people"]["zip"], levels["visits"]["ward"], levels["diagnoses"]["code"]
    lost = _loss_with_suppression(case, node, people, visits, diagnoses)
    if abs(lost - manifest["score"]) > 1e-9:
        yield f"the released rows lose {lost}, and the manifest says {manifest['score']}"


def _loss_with_suppression(
    case: Case, node: Sequence[int], people: list[Row], visits: list[Row], diagnoses: list[Row]
) -> float:
    """The mean loss from the released labels; a row that is left out loses everything."""
    means = []
    columns = (
        ("zip", case.people, people, 1),
        ("ward", case.visits, visits, 2),
        ("code", case.diagnoses, diagnoses, 2),
    )
    for (name, before, after, place), level in zip(columns, node, strict=True):
        labels = case.labels[name]
        loss_of = {labels.label(value, level): labels.loss(value, level) for value in range(VALUES)}
        lost = sum(loss_of[str(row[place])] for row in after) + len(before) - len(after)
        means.append(lost / max(1, len(before)))
    return sum(means) / 3


def runs(first: int, number: int, processes: int = 2) -> Iterator[tuple[int, str, str]]:
    """The ends of some cases."""
    if processes == 1:
        yield from map(run, range(first, first + number))
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(run, range(first, first + number), chunksize=10)


if __name__ == "__main__":
    ends = list(runs(0, int(sys.argv[1])))
    for seed, _, problem in ends:
        if problem:
            print(seed, problem)
    print(Counter(end for _, end, _ in ends))
