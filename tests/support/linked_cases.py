"""Random databases of three or four tables, released and compared with plain Python.

Ten thousand cases: `cd tests; python -m support.linked_cases 10000`; a second number is the first seed.

Every tenth of them is thorough: it searches all levels of three tables, attacks the release, measures the risk of the
source, and checks another release that ignores the models of sensitive columns. The others, and those of four tables,
search some levels. All but the thorough ones have DuckDB's optimizer turned off, which takes longer than such small
queries themselves. Printed queries are cached for all cases.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations, groupby, permutations, product
from math import log
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql import queries
from kanon_sql.errors import InfeasibleError, SpecError
from kanon_sql.verbs.attack_database import attack_database, risk_database
from kanon_sql.verbs.database import anonymize_database, verify_database

VALUES = 4  # of every column
JOBS = ["cook", "nurse", "nurse", None]
JOB_GROUPS = {"cook": "kitchen", "nurse": "care", None: "care"}  # level 1 of the jobs' hierarchy, of height 2
SEVERITIES = ["high", "low", "low", "mild", None]
MODELS: list[dict[str, dict[str, Any]]] = [
    {},
    {},
    {"l_diversity": {"diagnoses.severity": 2}},
    {"l_diversity": {"people.job": 2, "diagnoses.severity": 3}},
    {"alpha_k": {"diagnoses.severity": 0.6}},
    {"alpha_k": {"diagnoses.severity": {"alpha": 0.5, "value": "high"}, "people.job": 0.75}},
    {"t_closeness": {"people.job": 0.4}, "l_diversity": {"diagnoses.severity": 2}},
    {"beta_likeness": {"diagnoses.severity": {"beta": 1.5, "kind": "basic"}}},
    {"l_diversity": {"people.job": {"l": 1.8, "kind": "entropy"}}, "alpha_k": {"diagnoses.severity": 0.8}},
    {"t_closeness": {"people.job": {"t": 0.2, "distance": "hierarchical"}}},
    {"t_closeness": {"people.job": {"t": 0.3, "distance": "hierarchical"}}, "l_diversity": {"people.job": 2}},
]
Row = tuple[Any, ...]
Tables = tuple[list[Row], list[Row], list[Row], list[Row]]  # people, visits, diagnoses, results
_PRINT = queries.text
_MOST_TEXTS = 20_000
_TEXTS: dict[tuple[str, str, str], tuple[str, dict[str, Any]]] = {}


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
    """A database: people (key, zip, job), visits (key, person, ward), and diagnoses of visits (code, severity, key).

    `models`: privacy models of the sensitive columns job and severity, as in a spec. `bounds`: the lowest and the
    highest level of a column, by default all levels. `results`: those of diagnoses (diagnosis, person, finding); None
    without this table, and then diagnoses are released without a key.
    """

    people: list[Row]
    visits: list[Row]
    diagnoses: list[Row]
    nested: bool
    k: int
    m: int | str
    limits: tuple[float, float]
    labels: dict[str, Labels] = field(default_factory=dict)
    models: dict[str, dict[str, Any]] = field(default_factory=dict)
    bounds: dict[str, tuple[int, int]] = field(default_factory=dict)
    results: list[Row] | None = None

    @classmethod
    def drawn(cls, seed: int) -> Case:
        draw = random.Random(seed)
        size = draw.choice([2, 5, 12, 25, 60])
        few = draw.random() < 0.5  # values that repeat often, so that releases keep something
        value = partial(draw.choices, range(VALUES), [8, 3, 1, 1] if few else [1, 1, 1, 1])
        people = [(f"p{n}", value()[0], draw.choice(JOBS)) for n in range(size)]
        visits: list[Row] = []
        diagnoses: list[Row] = []
        nested = draw.random() < 0.6

        def severity() -> str | None:
            return draw.choice(SEVERITIES)

        for key, *_ in people:
            for _ in range(draw.choice([0, 1, 1, 2, 3, 4])):
                visits.append((len(visits), key, value()[0]))
                if nested:
                    for _ in range(draw.choice([0, 1, 1, 2])):
                        diagnoses.append((visits[-1][0], key, value()[0], severity(), len(diagnoses)))
            if not nested:
                diagnoses += [(None, key, value()[0], severity(), None) for _ in range(draw.choice([0, 0, 1, 2]))]
        if nested and draw.random() < 0.3:  # a diagnosis that belongs to no visit
            some = draw.sample(people, max(1, size // 4))
            diagnoses += [(None, key, value()[0], severity(), -1 - n) for n, (key, *_) in enumerate(some)]
        limits = draw.choice([(0.0, 0.0), (0.0, 0.0), (0.1, 0.2), (0.3, 0.5), (0.0, 1.0)])
        labels = {name: Labels([draw.randrange(2) for _ in range(VALUES)]) for name in ("zip", "ward", "code")}
        k, m = draw.choice([1, 2, 3, 5]), draw.choice([0, 1, 2, 2, 3, "all"])
        models = draw.choice(MODELS)
        draw.shuffle(visits)
        draw.shuffle(diagnoses)
        case = cls(people, visits, diagnoses, nested, min(k, size), m, limits, labels, models)
        if nested and size <= 25:
            case.add_results(random.Random(f"results {seed}"))
        return case

    def add_results(self, draw: random.Random) -> None:
        """Add a table of results to some databases: of diagnoses, and sometimes of none."""
        if draw.random() < 0.4:
            return
        few = draw.random() < 0.7
        value = partial(draw.choices, range(VALUES), [9, 2, 1, 1] if few else [1, 1, 1, 1])
        self.labels["finding"] = Labels([draw.randrange(2) for _ in range(VALUES)])
        self.results = []
        for _, person, _, _, diagnosis in self.diagnoses:
            of = None if draw.random() < 0.05 else diagnosis
            self.results += [(of, person, value()[0]) for _ in range(draw.choice([0, 1, 1, 2]))]
        draw.shuffle(self.results)

    def load(self, execute: Any) -> None:
        execute("CREATE TABLE people (id VARCHAR, zip INTEGER, job VARCHAR)")
        execute("CREATE TABLE visits (visit INTEGER, person VARCHAR, ward INTEGER)")
        execute("CREATE TABLE diagnoses (visit INTEGER, person VARCHAR, code INTEGER, severity VARCHAR, dx INTEGER)")
        execute("CREATE TABLE results (dx INTEGER, person VARCHAR, finding INTEGER)")
        for table, rows in (
            ("people", self.people),
            ("visits", self.visits),
            ("diagnoses", self.diagnoses),
            ("results", self.results or []),
        ):
            values = ["(" + ", ".join("NULL" if x is None else repr(x) for x in row) + ")" for row in rows]
            if values:
                execute(f"INSERT INTO {table} VALUES {', '.join(values)}")

    def narrowed(self, seed: int) -> Case:
        """The same with fewer levels."""
        draw = random.Random(-1 - seed)
        bounds = {name: draw.choice([(0, 2), (0, 1), (1, 2), (1, 1), (2, 2), (2, 2)]) for name in self.labels}
        return replace(self, bounds=bounds)

    def nodes(self) -> list[tuple[int, ...]]:
        """The levels of zip, ward, code and finding that are allowed, the highest ones last."""
        bounds = (self.bounds.get(name, (0, 2)) for name in self.columns)
        return [*product(*(range(low, high + 1) for low, high in bounds))]

    @property
    def columns(self) -> list[str]:
        """The quasi-identifiers."""
        return ["zip", "ward", "code", *(["finding"] if self.results is not None else [])]

    def _recipe(self, name: str) -> dict[str, Any]:
        low, high = self.bounds.get(name, (0, 2))
        return {name: {"min_level": low, "max_level": high}}

    def spec(self, folder: Path) -> dict[str, Any]:
        for name, labels in self.labels.items():
            labels.write(folder / f"{name}.csv")
        (folder / "job.csv").write_text("".join(f"{job or ''};{group};*\n" for job, group in JOB_GROUPS.items()))
        keys = {"person": "people", **({"visit": "visits"} if self.nested else {})}
        results = {}
        if self.results is not None:
            keys["dx"] = "own"
            of_diagnoses = {"dx": "diagnoses", "person": "people"}
            results = {"results": {"keys": of_diagnoses, "quasi_identifiers": self._recipe("finding")}}
        return {
            "unit": {"people": "id"},
            "hierarchies": str(folder),
            "tables": {
                **results,
                "people": {"quasi_identifiers": self._recipe("zip"), "sensitive": ["job"]},
                "diagnoses": {"keys": keys, "quasi_identifiers": self._recipe("code"), "sensitive": ["severity"]},
                "visits": {"keys": {"visit": "own", "person": "people"}, "quasi_identifiers": self._recipe("ward")},
            },
            "privacy": {"k": self.k, "m": self.m, **self.models},
            "suppression_limit": self.limits[0],
            "event_suppression_limit": self.limits[1],
            "into": {"schema": "released"},
        }

    def released(self, node: Sequence[int]) -> Tables:
        """All rows on the levels of zip, ward, code and finding."""
        zips, wards, codes, *findings = (
            partial(self.labels[name].label, level=level) for name, level in zip(self.columns, node, strict=True)
        )
        return (
            [(key, zips(value), job) for key, value, job in self.people],
            [(key, person, wards(value)) for key, person, value in self.visits],
            [
                (visit if self.nested else None, person, codes(code), value, dx if self.results is not None else None)
                for visit, person, code, value, dx in self.diagnoses
            ],
            [(dx, person, findings[0](value)) for dx, person, value in self.results or []],
        )

    def loss(self, node: Sequence[int]) -> float:
        """The mean loss of the columns, if all rows are released; a table without rows loses nothing."""
        means = []
        for (name, (_, before, _, place)), level in zip(self.placed().items(), node, strict=True):
            labels = self.labels[name]
            means.append(sum(labels.loss(row[place], level) for row in before) / max(1, len(before)))
        return sum(means) / len(means)

    def placed(self) -> dict[str, tuple[str, list[Row], int, int]]:
        """By column: its table, the rows, the place of the released table among all, and that of the column in rows."""
        tables = ("people", self.people, 0, 1), ("visits", self.visits, 1, 2), ("diagnoses", self.diagnoses, 2, 2)
        return dict(zip(self.columns, (*tables, ("results", self.results or [], 3, 2)), strict=False))


def smallest(tables: Tables, m: int | str) -> dict[Any, int]:
    """The fewest people who share a class, and per number of the attacker's rows the fewest who share a combination."""
    classes = {person: label for person, label, _ in tables[0]}
    rows = rows_of_people(tables)
    found: dict[Any, int] = {0: min(Counter(classes.values()).values(), default=0)}
    if m == "all":
        wholes = Counter((classes[person], _whole(rows[person])) for person in classes)
        found["all"] = min(wholes.values(), default=0)
        return found
    assert isinstance(m, int)
    for size in range(1, m + 1):
        owners: dict[Any, set[str]] = defaultdict(set)
        for person, own in rows.items():
            for chosen in combinations([row[:2] for row in own], size):
                owners[classes[person], pattern_of(chosen)].add(person)
        if owners:
            found[size] = min(map(len, owners.values()))
    return found


def rows_of_people(tables: Tables) -> dict[str, list[Row]]:
    """The rows of every person: what they show, the rows that they belong to, and in a tuple the severity, or None."""
    _, visits, diagnoses, results = tables
    of_visit = {visit: ward for visit, _, ward in visits}
    rows: dict[str, list[Row]] = defaultdict(list)
    for visit, person, ward in visits:
        rows[person].append((("visit", ward), (visit,), None))
    of_diagnosis: dict[Any, tuple[Any, Row]] = {None: (None, ())}
    for visit, person, code, severity, dx in diagnoses:
        path = (*([] if visit is None else [visit]), *([] if dx is None else [f"dx {dx}"]))
        shown = "diagnosis", code, of_visit.get(visit)
        rows[person].append((shown, path, (severity,)))
        if dx is not None:
            of_diagnosis[dx] = shown, path
    for dx, person, finding in results:
        diagnosis, path = of_diagnosis[dx]
        rows[person].append((("result", finding, diagnosis), path, None))
    return rows


def _together(left: Row, right: Row) -> int:
    """On how many levels two rows belong together, by the rows that they belong to."""
    return sum(a == b for a, b in zip(left, right, strict=False))


def violations(case: Case, tables: Tables) -> list[str]:
    """The combinations of up to m rows whose people's sensitive values violate a model, by plain loops."""
    if not case.models:
        return []
    people = tables[0]
    classes = {person: label for person, label, _ in people}
    rows = rows_of_people(tables)
    jobs = {person: {job} for person, _, job in people}
    least = case.models.get("l_diversity", {}).get("diagnoses.severity", 0)
    severities = {person: {row[2][0] for row in rows[person] if row[2]} for person in classes}
    sharing: dict[Any, set[str]] = defaultdict(set)
    matching: dict[Any, set[Any]] = defaultdict(set)  # the severities of rows, by what they show with others
    for person, own in rows.items():
        if case.m == "all":
            break
        assert isinstance(case.m, int)
        for size in range(1, case.m + 1):
            for chosen in combinations([row[:2] for row in own], size):
                sharing[classes[person], pattern_of(chosen)].add(person)
            for place, (shown, path, severity) in enumerate(own) if least else ():
                for others in combinations([row[:2] for n, row in enumerate(own) if n != place], size - 1):
                    if severity:
                        with_others = [((other, _together(path, its)), its) for other, its in others]
                        matching[classes[person], shown, pattern_of(with_others)].add(severity[0])
    for person, label in classes.items():
        whole = (label, _whole(rows[person])) if case.m == "all" else (label,)
        sharing[whole].add(person)
        for row in rows[person] if case.m == "all" else ():
            if row[2]:
                matching[whole, row[0]].add(row[2][0])
    found = []
    for values_of, name, whole_table in (
        (jobs, "people.job", {key: {job} for key, _, job in case.people}),
        (severities, "diagnoses.severity", _severities(case)),
    ):
        for combination, sharers in sharing.items():
            found += [f"{combination}: {why}" for why in _unsafe(case.models, name, sharers, values_of, whole_table)]
    found += [f"rows {pattern}: {values}" for pattern, values in matching.items() if len(values) < least]
    return found


def _severities(case: Case) -> dict[str, set[Any]]:
    return {key: {row[3] for row in case.diagnoses if row[1] == key} for key, *_ in case.people}


def _unsafe(
    models: dict[str, dict[str, Any]],
    name: str,
    sharers: set[str],
    values_of: dict[str, set[Any]],
    whole: dict[str, set[Any]],
) -> Iterator[str]:
    """Why the values of some people are unsafe."""
    counts = Counter(value for person in sharers for value in values_of[person])
    overall = Counter(value for values in whole.values() for value in values)
    size = len(sharers)
    if not counts:
        return
    diversity = models.get("l_diversity", {}).get(name, 0)
    if isinstance(diversity, int):
        some_without = any(not values_of[person] for person in sharers)
        if len(counts) + some_without < diversity:
            yield f"{len(counts)} values"
    else:
        entropy = -sum(c / size * log(c / size) for c in counts.values())
        if entropy < log(diversity["l"]) - 1e-9:
            yield f"entropy {entropy}"
    if alpha := models.get("alpha_k", {}).get(name):
        limit, only = (alpha, None) if isinstance(alpha, float) else (alpha["alpha"], alpha["value"])
        most = max(counts.values()) if only is None else counts[only]
        if most > limit * size:
            yield f"a share of {most / size}"
    if beta := models.get("beta_likeness", {}).get(name):
        gains = (c / size * len(whole) / overall[value] - 1 for value, c in counts.items())
        if max(gains) > beta["beta"] + 1e-9:
            yield "a gain"
    if closeness := models.get("t_closeness", {}).get(name):
        extra = {value: counts[value] / size - c / len(whole) for value, c in overall.items()}
        t, distance = closeness, sum(map(abs, extra.values())) / 2
        if not isinstance(closeness, float):
            t, distance = closeness["t"], _cost_of_moves(extra)
        if distance > t + 1e-9:
            yield f"a distance of {distance}"


def _cost_of_moves(extra: dict[str | None, float]) -> float:
    """The cost of the cheapest moves between jobs: within a group 1/2, across groups 1.

    Node by node from the leaves up (Li, Li, Venkatasubramanian 2007, section 5.3).
    """
    groups: dict[str, list[float]] = defaultdict(list)
    for job, share in extra.items():
        groups[JOB_GROUPS[job]].append(share)
    within = sum(_moved(shares) for shares in groups.values())
    return within / 2 + _moved([sum(shares) for shares in groups.values()])


def _moved(extra: Sequence[float]) -> float:
    """The share that can move between the children of a node."""
    return min(sum(x for x in extra if x > 0), -sum(x for x in extra if x < 0))


def pattern_of(rows: Sequence[Row]) -> Any:
    """What rows show, and on how many levels they belong together, whatever their order.

    Of all orders, the first one by what the rows show; of rows that show the same, by the levels.
    """
    if len(rows) == 1:
        return repr(rows[0][0]), ()
    in_order = sorted([(repr(shown), path) for shown, path in rows], key=itemgetter(0))
    alike = [list(same) for _, same in groupby(in_order, key=itemgetter(0))]
    paths = ([path for same in order for _, path in same] for order in product(*map(permutations, alike)))
    levels = min([_together(a, b) for a, b in combinations(order, 2)] for order in paths)
    return tuple(shown for shown, _ in in_order), tuple(levels)


def _whole(rows: Sequence[Row], path: Row = ()) -> Any:
    """What the rows that belong to a row show, and those that belong to the rows below it."""
    own = sorted(repr(row[0]) for row in rows if row[1] == path)
    below = {row[1][: len(path) + 1] for row in rows if len(row[1]) > len(path) and row[1][: len(path)] == path}
    return tuple(own), tuple(sorted(_whole(rows, lower) for lower in below))


def run(seed: int, connection: Any = None, thorough: bool = True) -> tuple[int, str, str]:
    """Release one random database; the seed, how it ended, and what is wrong with it."""
    case = Case.drawn(seed)
    if not thorough or case.results is not None:
        case = case.narrowed(seed)
    ours = connection is None
    if connection is None:
        connection = duckdb.connect(config={"threads": 1})
        if not thorough:
            connection.execute("PRAGMA disable_optimizer")
    try:
        with tempfile.TemporaryDirectory() as folder:
            case.load(connection.execute)
            return _compared(seed, case, case.spec(Path(folder)), connection, thorough)
    finally:
        if ours:
            connection.close()


def _compared(seed: int, case: Case, spec: dict[str, Any], connection: Any, thorough: bool) -> tuple[int, str, str]:
    safe = [node for node in case.nodes() if is_safe(case, node)]
    try:
        manifest = anonymize_database(spec, connection=connection).manifest
    except SpecError as error:
        return seed, "refused", "" if "does not occur" in str(error) else f"refused: {error}"
    except InfeasibleError as error:
        if case.nodes()[-1] in safe:
            return seed, "wrong", f"refused, although the top is safe: {error}"
        return seed, "refused", ""
    released = read(spec, "released", connection)
    problems = list(problems_of(case, manifest, safe, released, spec, connection))
    if thorough:
        problems += _attack_problems(case, released, spec, connection)
        if case.models:
            problems += _check_problems(case, spec, connection)
    return seed, "released", "; ".join(problems)


def read(spec: dict[str, Any], schema: str, connection: Any) -> Tables:
    """The released rows of people, visits, diagnoses and results, with their columns in the order of the case."""
    columns = {
        "people": ("id", "zip", "job"),
        "visits": ("visit", "person", "ward"),
        "diagnoses": ("visit", "person", "code", "severity", "dx"),
        "results": ("dx", "person", "finding"),
    }
    found = []
    for table, names in columns.items():
        if table not in spec["tables"]:
            found.append([])
            continue
        rows = connection.execute(f"SELECT * FROM {schema}.{table}").fetchall()
        there = [column[0] for column in connection.execute(f"SELECT * FROM {schema}.{table} LIMIT 0").description]
        found.append([tuple(row[there.index(name)] if name in there else None for name in names) for row in rows])
    people, visits, diagnoses, results = found
    return people, visits, diagnoses, results


def _check_problems(case: Case, spec: dict[str, Any], connection: Any) -> Iterator[str]:
    """Whether a release that ignores the models satisfies them by chance, by the check and by plain loops."""
    privacy = {"k": spec["privacy"]["k"], "m": spec["privacy"]["m"]}
    ignoring = {**spec, "privacy": privacy, "into": {"schema": "ignoring"}}
    anonymize_database(ignoring, connection=connection)
    tables = read(spec, "ignoring", connection)
    violated = violations(case, tables)
    checked = verify_database({**spec, "into": ignoring["into"]}, connection=connection)
    if checked.satisfied is bool(violated):
        yield f"the check of another release: {checked.sensitive}, and plain loops: {violated[:2]}"


def is_safe(case: Case, node: Sequence[int]) -> bool:
    released = case.released(node)
    enough = all(fewest >= case.k for fewest in smallest(released, case.m).values())
    return enough and not violations(case, released)


def problems_of(
    case: Case,
    manifest: dict[str, Any],
    safe: Sequence[Row],
    tables: Tables,
    spec: Any,
    connection: Any,
) -> Iterator[str]:
    people, visits, diagnoses, results = tables
    fewest = smallest(tables, case.m) if people else {}
    if any(count < case.k for count in fewest.values()):
        yield f"unsafe: {fewest}, k = {case.k}"
    if unsafe := violations(case, tables):
        yield f"reveals values: {unsafe[:2]}"
    keys = {key for key, *_ in people}
    if len(keys) < len(people) or any(row[1] not in keys for row in (*visits, *diagnoses, *results)):
        yield "rows of people who were not released"
    of_visits = {row[0]: row[1] for row in visits}
    if any(row[0] is not None and of_visits.get(row[0]) != row[1] for row in diagnoses):
        yield "diagnoses of visits that were not released"
    of_diagnoses = {row[4]: row[1] for row in diagnoses}
    if any(row[0] is not None and of_diagnoses.get(row[0]) != row[1] for row in results):
        yield "results of diagnoses that were not released"
    for name, before, number, _ in case.placed().values():
        after = tables[number]
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
    node = [levels[table][name] for name, (table, *_) in case.placed().items()]
    lost = _loss_with_suppression(case, node, tables)
    if abs(lost - manifest["score"]) > 1e-9:
        yield f"the released rows lose {lost}, and the manifest says {manifest['score']}"


def exposed(tables: Tables, known: int, k: int) -> list[tuple[int, int]]:
    """The people who share a combination of up to 0, 1, … rows with no one, and with fewer than k."""
    classes = {person: label for person, label, _ in tables[0]}
    rows = rows_of_people(tables)
    owners: dict[Any, set[str]] = defaultdict(set)
    found = []
    for size in range(known + 1):
        for person, label in classes.items():
            for chosen in combinations([row[:2] for row in rows[person]], size):
                owners[label, pattern_of(chosen) if chosen else None].add(person)
        fewest = dict.fromkeys(classes, len(classes))
        for sharers in owners.values():
            for person in sharers:
                fewest[person] = min(fewest[person], len(sharers))
        found.append((sum(n == 1 for n in fewest.values()), sum(n < k for n in fewest.values())))
    return found


def _attack_problems(case: Case, tables: Tables, spec: Any, connection: Any) -> Iterator[str]:
    """Differences between the attacks and plain loops; everyone has at least k candidates among the released people."""
    known = case.m if isinstance(case.m, int) else 1
    found = attack_database(spec, connection=connection, known=known)
    numbers = [(each["singled_out"], each["below_k"]) for each in found.exposed if each["known_rows"] != "all"]
    if tables[0] and numbers != exposed(tables, known, case.k):
        yield f"exposed by attacks: {numbers}"
    if case.m != "all" and any((each["fewest_candidates"] or case.k) < case.k for each in found.people):
        yield f"fewer than k candidates: {found.people}"
    measured = risk_database(spec, connection=connection, known=known).exposed
    numbers = [(each["singled_out"], each["below_k"]) for each in measured]
    if numbers != exposed(case.released([0 for _ in case.columns]), known, case.k):
        yield f"exposed in the source: {numbers}"


def _loss_with_suppression(case: Case, node: Sequence[int], tables: Tables) -> float:
    """The mean loss from the released labels; a row that is left out loses everything."""
    means = []
    for (name, (_, before, number, place)), level in zip(case.placed().items(), node, strict=True):
        labels, after = case.labels[name], tables[number]
        loss_of = {labels.label(value, level): labels.loss(value, level) for value in range(VALUES)}
        lost = sum(loss_of[str(row[place])] for row in after) + len(before) - len(after)
        means.append(lost / max(1, len(before)))
    return sum(means) / len(means)


def runs(first: int, number: int, processes: int = 2) -> Iterator[tuple[int, str, str]]:
    """The ends of some cases."""
    if processes == 1:
        yield from map(_run, range(first, first + number))
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(_run, range(first, first + number), chunksize=10)


def _run(seed: int) -> tuple[int, str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queries, "text", _cached_text)
        return run(seed, thorough=seed % 10 == 0)


def _cached_text(query: str, dialect: str, **holes: Any) -> str:
    key = query, dialect, repr(holes)
    if key not in _TEXTS:
        if len(_TEXTS) >= _MOST_TEXTS:
            _TEXTS.clear()
        # The holes are stored so that an object whose address is in the key cannot be replaced by another.
        _TEXTS[key] = _PRINT(query, dialect, **holes), holes
    return _TEXTS[key][0]


def main() -> int:
    """Run the cases that the command line requests; 1 if one was wrong."""
    cases, first = ([int(text) for text in sys.argv[1:]] + [0])[:2]
    ends: Counter[str] = Counter()
    wrong = 0
    for seed, end, problem in runs(first, cases):
        ends[end] += 1
        if problem:
            wrong += 1
            print(seed, problem, flush=True)
        if ends.total() % 100 == 0:
            print(f"{ends.total():,} cases: {dict(ends)}", file=sys.stderr, flush=True)
    print(f"{cases:,} cases from seed {first}: {wrong} wrong; {dict(ends)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
