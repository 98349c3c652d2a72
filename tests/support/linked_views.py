"""Live views of random databases whose rows then change, read again and compared with plain Python.

A thousand cases: `cd tests; python -m support.linked_views 1000`; a second number is the first seed.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql.errors import InfeasibleError
from kanon_sql.verbs.database import anonymize_database, verify_database
from support.linked_cases import (
    VALUES,
    Case,
    Row,
    Tables,
    is_safe,
    pattern_of,
    problems_of,
    read,
    rows_of_people,
    smallest,
)

_CHANGES = [
    "INSERT INTO people VALUES ('new {n}', {value}, 'cook')",
    "INSERT INTO people SELECT id, {value}, job FROM people WHERE id = '{person}'",  # a key that is there twice
    "INSERT INTO people VALUES (NULL, {value}, NULL)",
    "DELETE FROM people WHERE id = '{person}'",
    "UPDATE people SET zip = {value} WHERE id = '{person}'",
    "INSERT INTO visits VALUES ({new}, '{person}', {value})",
    "INSERT INTO visits VALUES (NULL, '{person}', {value})",
    "INSERT INTO visits VALUES ({new}, 'nobody', {value})",
    "INSERT INTO visits SELECT visit, person, {value} FROM visits WHERE visit = {visit}",
    "DELETE FROM visits WHERE visit = {visit}",
    "UPDATE visits SET ward = {value} WHERE visit = {visit}",
    "UPDATE visits SET ward = {value} WHERE ward = {other}",
    "UPDATE visits SET person = '{person}' WHERE visit = {visit}",  # unlike its diagnoses
    "UPDATE diagnoses SET code = {value} WHERE visit = {visit}",
    "UPDATE diagnoses SET visit = {visit} WHERE person = '{person}'",
    "UPDATE diagnoses SET visit = NULL, person = NULL WHERE visit = {visit}",
    "DELETE FROM diagnoses WHERE dx IN (SELECT MIN(dx) FROM diagnoses)",
    "INSERT INTO diagnoses SELECT visit, person, {value}, severity, {new} FROM diagnoses WHERE visit = {visit}",
    "UPDATE results SET finding = {value} WHERE person = '{person}'",
    "UPDATE results SET dx = (SELECT MAX(dx) FROM diagnoses) WHERE person = '{person}'",
]


def as_views(case: Case, spec: dict[str, Any]) -> tuple[Case, dict[str, Any]]:
    """The case without models, and its spec with views."""
    m = 2 if case.m == "all" else case.m
    case = replace(case, models={}, m=m)
    return case, {**spec, "privacy": {"k": case.k, "m": m}, "into": {"schema": "released", "as": "view"}}


def changes(case: Case, draw: random.Random) -> Iterator[str]:
    """Statements that change some rows, so that keys can also be missing, repeated, or lead nowhere."""
    for n in range(draw.choice([1, 3, 10, 30])):
        yield draw.choice(_CHANGES).format(
            n=n,
            new=10_000 + draw.randrange(40),
            person=draw.choice(case.people)[0],
            visit=draw.choice(case.visits)[0] if case.visits else 0,
            value=draw.choice([0, 0, 1, 2, 3, 7, "NULL"]),  # 7 is in no hierarchy
            other=draw.randrange(4),
        )


def run(seed: int, connection: Any = None) -> tuple[int, str, str]:
    """Release the views of one random database, and read them before and after changes."""
    case = Case.drawn(seed)
    case = case.narrowed(seed) if case.results is not None else case
    connection = connection or duckdb.connect(config={"threads": 1})
    with tempfile.TemporaryDirectory() as folder:
        case.load(connection.execute)
        case, spec = as_views(case, case.spec(Path(folder)))
        safe = [node for node in case.nodes() if is_safe(case, node)]
        try:
            manifest = anonymize_database(spec, connection=connection).manifest
        except InfeasibleError as error:
            return seed, "refused", f"the top is safe: {error}" if case.nodes()[-1] in safe else ""
        levels = {column: level for of_table in manifest["node"].values() for column, level in of_table.items()}
        first = read(spec, "released", connection)
        problems = list(problems_of(case, manifest, safe, first, spec, connection))
        if first != read(spec, "released", connection):
            problems.append("two reads return different rows, or in another order")
        draw = random.Random(f"changes {seed}")
        for _ in range(3):
            done = [change for change in changes(case, draw) if connection.execute(change)]
            problems += [
                f"{problem} after {len(done)} changes" for problem in _live_problems(case, spec, levels, connection)
            ]
    return seed, "released", "; ".join(problems)


def _live_problems(case: Case, spec: dict[str, Any], levels: dict[str, int], connection: Any) -> Iterator[str]:
    """What is wrong with the views of a changed source."""
    people, visits, diagnoses, results = tables = _labelled(read(spec, "released", connection))
    counted = Counter(key for key, *_ in people)
    if any(key is None or n > 1 for key, n in counted.items()):
        yield f"people without a key, or with several rows: {counted.most_common(2)}"
    owners = [{None: None, **{row[place]: row[1] for row in rows}} for place, rows in ((0, visits), (4, diagnoses))]
    events: list[tuple[Row, Any]] = [(row, None) for row in visits]
    events += [(row, owners[0].get(row[0], "lost")) for row in diagnoses]
    events += [(row, owners[1].get(row[0], "lost")) for row in results]
    if any(row[1] not in counted or owner not in (None, row[1]) for row, owner in events):
        yield "rows that refer to rows or people that are not shown, or to two people"
    if people and any(count < case.k for count in smallest(tables, case.m).values()):
        yield f"unsafe: {smallest(tables, case.m)}, k = {case.k}"
    checked = verify_database(spec, connection=connection)
    if not checked.satisfied:
        yield f"verify refuses it: {checked}"
    yield from _needlessly_missing(case, tables, _sound(case, levels, connection))


def _labelled(tables: Tables) -> Tables:
    """The tables with a word for NULL: a diagnosis without a visit differs from that of a visit without a ward."""
    people, visits, diagnoses, results = tables
    return (
        [(key, _word(zipped), job) for key, zipped, job in people],
        [(visit, person, _word(ward)) for visit, person, ward in visits],
        [(visit, person, _word(code), severity, dx) for visit, person, code, severity, dx in diagnoses],
        [(dx, person, _word(finding)) for dx, person, finding in results],
    )


def _word(label: Any) -> str:
    return "NULL" if label is None else str(label)


def _sound(case: Case, levels: dict[str, int], connection: Any) -> Tables:
    """The rows of the source that belong to one person, with the labels of the released node, as the rules say."""
    people = _with_own_keys(connection.execute("SELECT id, zip, job FROM people").fetchall(), 0)
    keys = {row[0] for row in people}
    visits = connection.execute("SELECT visit, person, ward FROM visits").fetchall()
    visits = [row for row in _with_own_keys(visits, 0) if row[1] in keys]
    owners = {row[0]: row[1] for row in visits}
    diagnoses = connection.execute("SELECT visit, person, code, severity, dx FROM diagnoses").fetchall()
    if case.results is not None:
        diagnoses = _with_own_keys(diagnoses, 4)
    diagnoses = list(_with_owners(diagnoses, owners if case.nested else None, keys))
    owners = {row[4]: row[1] for row in diagnoses}
    results = connection.execute("SELECT dx, person, finding FROM results").fetchall()
    results = list(_with_owners(results, owners, keys)) if case.results is not None else []
    zips, wards, codes, findings = (
        _labelling(case, levels.get(name), name) for name in ("zip", "ward", "code", "finding")
    )
    return (
        [(key, zips(value), job) for key, value, job in people],
        [(key, person, wards(value)) for key, person, value in visits],
        [
            (visit if case.nested else None, person, codes(code), severity, dx if case.results is not None else None)
            for visit, person, code, severity, dx in diagnoses
        ],
        [(dx, person, findings(value)) for dx, person, value in results],
    )


def _with_own_keys(rows: list[Row], place: int) -> list[Row]:
    """The rows whose key no other row has."""
    counted = Counter(row[place] for row in rows)
    return [row for row in rows if row[place] is not None and counted[row[place]] == 1]


def _with_owners(rows: list[Row], owners: dict[Any, Any] | None, keys: set[Any]) -> Iterator[Row]:
    """The rows of one person, by the row that they refer to, by their own column, or both."""
    for of, named, *rest in rows:
        refers = owners is not None and of is not None
        if (refers and of not in (owners or {})) or (named is not None and named not in keys):
            continue
        found = {*([(owners or {})[of]] if refers else []), *([] if named is None else [named])}
        if len(found) == 1:
            yield of, found.pop(), *rest


def _labelling(case: Case, level: int | None, name: str) -> Callable[[Any], str]:
    """The function from a value to its label on the released level: a star, or NULL, if it has none."""

    def label(value: Any) -> str:
        if level in (0, 1) and value not in range(VALUES):
            return "*" if level else "NULL"
        return case.labels[name].label(value, level)

    return label


def _needlessly_missing(case: Case, tables: Tables, source: Tables) -> Iterator[str]:
    """Rows that are shown otherwise than in the source, and items that are left out although no combination is rare."""
    sizes = Counter(label for _, label, _ in source[0])
    classes = Counter({label: n for label, n in sizes.items() if n >= case.k})
    if Counter(label for _, label, _ in tables[0]) != classes:
        yield f"people {Counter(label for _, label, _ in tables[0])}, and in the source {classes}"
    of_source = {person: label for person, label, _ in source[0] if label in classes}
    rows = {person: own for person, own in rows_of_people(source).items() if person in of_source}
    counted = Counter((of_source[person], row[0]) for person, own in rows.items() for row in own)
    of_shown = {person: label for person, label, _ in tables[0]}
    shown = Counter((of_shown[person], row[0]) for person, own in rows_of_people(tables).items() for row in own)
    if wrong := {item: n for item, n in shown.items() if counted[item] != n}:
        yield f"items with another number of rows: {wrong}"
    gone = {item for item in counted if item not in shown}
    if case.m == 0:
        if gone:
            yield f"left out at m = 0: {gone}"
        return
    owners = defaultdict(set)
    for person, own in rows.items():
        for row in own:
            owners[of_source[person], row[0]].add(person)
    frequent = {item for item, people in owners.items() if len(people) >= case.k}
    patterns: dict[Any, set[Any]] = defaultdict(set)
    items_of: dict[Any, list[Any]] = {}
    for person, own in rows.items():
        label = of_source[person]
        own = [row for row in own if (label, row[0]) in frequent]
        for size in range(2, int(case.m) + 1):
            for chosen in combinations([row[:2] for row in own], size):
                pattern = label, pattern_of(chosen)
                patterns[pattern].add(person)
                items_of[pattern] = [(label, shown) for shown, _ in chosen]
    blamed = set()
    for pattern, people in patterns.items():
        if len(people) < case.k:
            items = items_of[pattern]
            fewest = min(len(owners[item]) for item in items)
            blamed |= {item for item in items if len(owners[item]) == fewest or len(items) == 3}
    for label, shown_by in gone & frequent:
        parents = {(label, parent) for parent in _parents(shown_by)}
        if (label, shown_by) not in blamed and not parents & gone:
            yield f"{label} {shown_by} is left out needlessly"


def _parents(shown: Row) -> Iterator[Row]:
    """What the rows show that a row refers to, from what it shows."""
    kind, *_, above = shown
    if kind == "result" and above is not None:
        yield above
        yield from _parents(above)
    if kind == "diagnosis" and above is not None:
        yield "visit", above


def main() -> int:
    """Run the cases that the command line requests; 1 if one was wrong."""
    cases, first = ([int(text) for text in sys.argv[1:]] + [0])[:2]
    ends: Counter[str] = Counter()
    wrong = 0
    for seed in range(first, first + cases):
        _, end, problem = run(seed)
        ends[end] += 1
        if problem:
            wrong += 1
            print(seed, problem, flush=True)
    print(f"{cases:,} cases from seed {first}: {wrong} wrong; {dict(ends)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
