"""Random tables against an oracle over people: `python tests/support/random_tables.py --tables 100000 --jobs 2`.

A table has a few rows, one to three quasi-identifiers with the values NULL and others, and a sensitive column. In a
third of the tables several rows belong to one person, who may have several sensitive values; in the others every row is
a person. Each table is verified as it is, under random privacy models: unsafe classes, their rows and sizes are
compared with plain Python that groups rows and counts people. For every twentieth the lattice is searched by some
strategy; for every hundredth a release is written by a search or a local recoding, as a table, a view or a file. The
rows at risk of every tested node, the best precision, what has to be refused, and the released classes are compared.
`tests/support/fuzz.py` tries odd types, hierarchies and targets; here the subject is who is counted.

Forty tables in a row have the same columns, privacy models and k: to print a new query takes longer than to run it.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import product
from math import log
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import duckdb

from kanon_sql import anonymize, search, verify
from kanon_sql.errors import InfeasibleError, KanonError, ReleaseWarning

ANY_MODEL = ("auto", "best_first", "exhaustive", "exhaustive", "certified", "depth_first")
MONOTONE = ("ola", "flash", "incognito", "samarati")
RECODINGS = ("mondrian", "refine", "kaca", "prioprivacy")
PROVEN_BEST = ("auto", "best_first", "exhaustive", "certified", "depth_first", "ola", "flash", "incognito")
LIMITS = ("0", "0.1", "0.25", "0.29", "0.5", "1")
VALUES = (1, 2, 3, 4)
SEARCHED_EVERY = 20
RELEASED_EVERY = 100
TABLES_PER_REQUEST = 40
TOLERANCE = 1e-9

Node = tuple[int, ...]
Row = tuple[Any, ...]


class WrongError(AssertionError):
    """What the package reports differs from what plain Python counts."""


@dataclass(frozen=True)
class Column:
    """A quasi-identifier: its type, the values to draw from, its recipe, and the label of a value on every level."""

    name: str
    type: str
    values: Sequence[Any]
    recipe: Any
    labels: Sequence[Callable[[Any], Any]]

    @property
    def height(self) -> int:
        return len(self.labels) - 1

    def label(self, value: Any, level: int) -> Any:
        """What stands for a value on a level; NULL stays NULL up to the top."""
        if level == self.height:
            return "*"
        return None if value is None else self.labels[level](value)


COLUMNS = (
    Column("age", "INTEGER", range(8), {"ranges": [2, 4]}, [int, lambda v: v // 2, lambda v: v // 4, lambda _: "*"]),
    Column("zip", "VARCHAR", ["11", "12", "21", "22"], {"redact": "right"}, [str, lambda v: v[0], lambda _: "*"]),
    Column("sex", "VARCHAR", ["f", "m"], "suppress", [str, lambda _: "*"]),
)


@dataclass(frozen=True)
class People:
    """The people of a class or of the whole table: the values of each, and how many rows there are."""

    values: Mapping[Any, frozenset[Any]]
    rows: int

    @staticmethod
    def of(rows: Sequence[Row]) -> People:
        """The people of rows (…, sensitive value, person)."""
        values: dict[Any, set[Any]] = {}
        for *_, value, person in rows:
            values.setdefault(person, set()).add(value)
        return People({person: frozenset(own) for person, own in values.items()}, len(rows))

    def __len__(self) -> int:
        return len(self.values)

    def share(self, value: Any) -> Fraction:
        """The people who have a value, of all people here."""
        return Fraction(sum(value in own for own in self.values.values()), len(self.values))

    @property
    def distinct(self) -> set[Any]:
        return set().union(*self.values.values())

    @property
    def several(self) -> bool:
        """Whether anybody has several different values."""
        return any(len(own) > 1 for own in self.values.values())


@dataclass(frozen=True)
class Model:
    """A privacy model: its part of the spec, its definition for a class, and whether it needs one value per person.

    `compares`: a class is compared with the whole table, so that everybody there needs one value.
    """

    spec: Mapping[str, Any]
    is_safe: Callable[[People, People], bool]
    one_value: bool = False
    compares: bool = False


def _entropy(people: People) -> float:
    return -sum(float(people.share(v)) * log(people.share(v)) for v in people.distinct)


def _is_recursive(people: People, c: int, l: int) -> bool:  # noqa: E741  (the literature's name)
    counts = sorted((people.share(v) for v in people.distinct), reverse=True)
    return len(counts) >= l and counts[0] < c * sum(counts[l - 1 :])


def _equal_distance(people: People, table: People) -> Fraction:
    return sum((abs(people.share(v) - table.share(v)) for v in table.distinct), Fraction(0)) / 2


def _ordered_distance(people: People, table: People) -> Fraction:
    moved = so_far = Fraction(0)
    for value in sorted(table.distinct):
        so_far += people.share(value) - table.share(value)
        moved += abs(so_far)
    return moved / max(1, len(table.distinct) - 1)


def _gains(people: People, table: People) -> dict[Any, float]:
    return {v: float(people.share(v) / table.share(v)) - 1 for v in people.distinct}


MODELS = (
    Model({"l_diversity": {"ill": 2}}, lambda class_, _: len(class_.distinct) >= 2),
    Model(
        {"l_diversity": {"ill": {"l": 2, "kind": "entropy"}}},
        lambda class_, _: _entropy(class_) >= log(2) - TOLERANCE,
        one_value=True,
    ),
    Model(
        {"l_diversity": {"ill": {"l": 2, "kind": "recursive", "c": 2}}},
        lambda class_, _: _is_recursive(class_, 2, 2),
        one_value=True,
    ),
    Model(
        {"t_closeness": {"ill": 0.3}},
        lambda class_, table: _equal_distance(class_, table) <= Fraction(3, 10),
        one_value=True,
        compares=True,
    ),
    Model(
        {"t_closeness": {"ill": {"t": 0.2, "distance": "ordered"}}},
        lambda class_, table: _ordered_distance(class_, table) <= Fraction(1, 5),
        one_value=True,
        compares=True,
    ),
    Model({"alpha_k": {"ill": 0.5}}, lambda class_, _: all(2 * class_.share(v) <= 1 for v in class_.distinct)),
    Model({"alpha_k": {"ill": {"alpha": 0.25, "value": 2}}}, lambda class_, _: 4 * class_.share(2) <= 1),
    Model(
        {"beta_likeness": {"ill": {"beta": 0.8, "kind": "basic"}}},
        lambda class_, table: max(_gains(class_, table).values()) <= 0.8 + TOLERANCE,
    ),
    Model(
        {"beta_likeness": {"ill": 0.8}},
        lambda class_, table: all(
            gain <= min(0.8, -log(table.share(value))) + TOLERANCE for value, gain in _gains(class_, table).items()
        ),
    ),
    Model(
        {"delta_disclosure": {"ill": 0.8}},
        lambda class_, table: (
            class_.distinct == table.distinct
            and all(abs(log(1 + gain)) < 0.8 for gain in _gains(class_, table).values())
        ),
    ),
)


class Case:
    """One random table and what is requested of it, from a seed alone."""

    def __init__(self, seed: int) -> None:
        self.seed, self.by_people = seed, seed % 3 == 0
        shared = random.Random(f"request {seed // TABLES_PER_REQUEST}")
        self.columns = shared.sample(COLUMNS, shared.choice((1, 2, 2, 3)))
        self.k = shared.choice((1, 2, 2, 3, 5))
        models = shared.sample(MODELS, shared.choice((0, 1, 1, 2)))
        self.models = [m for i, m in enumerate(models) if all(set(m.spec) != set(o.spec) for o in models[:i])]
        self.rng = random.Random(seed)
        self.rows = self._rows(self.rng.randint(2, 24))
        self.table = People.of(self.rows)
        self.limit = self.rng.choice(LIMITS)
        self.strategy = self.rng.choice(ANY_MODEL if self.models or self.by_people else (*ANY_MODEL, *MONOTONE))
        self.metric = self.rng.choice(("precision", "loss"))

    def _rows(self, count: int) -> list[Row]:
        """Rows of a few patterns, or nothing would ever be released; a person keeps a value or has new ones."""
        rng, nulls = self.rng, self.rng.random() < 0.3
        patterns = [
            tuple(None if nulls and rng.random() < 0.15 else rng.choice(column.values) for column in self.columns)
            for _ in range(rng.randint(1, 6))
        ]
        values = VALUES[: rng.randint(1, 4)]
        people = rng.randint(1, count)
        several = rng.random() < 0.6
        usual = {person: rng.choice(values) for person in range(people)}
        rows = []
        for number in range(count):
            person = rng.randrange(people) if self.by_people else number
            value = usual.get(person) if self.by_people and not several else rng.choice(values)
            rows.append((*rng.choice(patterns), value, person))
        return rows

    @property
    def privacy(self) -> dict[str, Any]:
        models = {name: value for model in self.models for name, value in model.spec.items()}
        return {"k": self.k, **models, **({"unit": "person"} if self.by_people else {})}

    def spec(self, strategy: str) -> dict[str, Any]:
        return {
            "quasi_identifiers": {column.name: {"hierarchy": column.recipe} for column in self.columns},
            "sensitive": ["ill"],
            "keep": ["number"],
            "privacy": self.privacy,
            "suppression_limit": float(self.limit),
            "strategy": strategy,
            "metric": self.metric,
            "time_limit": 30,
        }

    @property
    def refused(self) -> bool:
        """Whether a model needs one value per person, and somebody has several."""
        return self.table.several and any(model.one_value for model in self.models)

    @property
    def may_suppress(self) -> int:
        return int(Fraction(self.limit) * len(self.rows))

    def nodes(self) -> Iterator[Node]:
        return product(*(range(column.height + 1) for column in self.columns))

    def classes(self, node: Node) -> list[list[Row]]:
        """The rows that show the same on a node."""
        classes: dict[Row, list[Row]] = {}
        for row in self.rows:
            values = zip(self.columns, row, node, strict=False)
            key = tuple(column.label(value, level) for column, value, level in values)
            classes.setdefault(key, []).append(row)
        return list(classes.values())

    @property
    def conditions(self) -> list[Callable[[Sequence[Row]], bool]]:
        """What k and each model require of a class."""
        return [
            lambda rows: len(People.of(rows)) >= self.k,
            *(partial(self._satisfies, model) for model in self.models),
        ]

    def _satisfies(self, model: Model, rows: Sequence[Row]) -> bool:
        """A model that needs one value per person is not satisfied where somebody has several."""
        class_ = People.of(rows)
        several = model.one_value and (class_.several or (model.compares and self.table.several))
        return not several and model.is_safe(class_, self.table)

    def is_safe(self, rows: Sequence[Row]) -> bool:
        return all(is_safe(rows) for is_safe in self.conditions)

    def rows_at_risk(self, node: Node) -> int:
        return sum(len(rows) for rows in self.classes(node) if not self.is_safe(rows))

    def precision(self, node: Node) -> float:
        levels = zip(self.columns, node, strict=True)
        return float(sum(Fraction(level, column.height) for column, level in levels) / len(node))

    def __str__(self) -> str:
        names = [column.name for column in self.columns]
        arguments = f"limit {self.limit}, {self.strategy}, {self.metric}"
        return f"seed {self.seed}: {self.privacy}, {arguments}, {names}\n{self.rows}"


class Check:
    """A case in a database, from the table to the comparison of every figure."""

    def __init__(self, case: Case, connection: Any, folder: Path) -> None:
        self.case, self.connection, self.folder = case, connection, folder
        connection.execute("CREATE SCHEMA case_")
        connection.execute("SET schema = 'case_'")
        types = ", ".join(f'"{column.name}" {column.type}' for column in case.columns)
        connection.execute(f"CREATE TABLE people ({types}, ill INTEGER, person INTEGER, number INTEGER)")
        holes = ", ".join("?" * (len(case.columns) + 3))
        rows = [value for number, row in enumerate(case.rows) for value in (*row, number)]
        connection.execute(f"INSERT INTO people VALUES {', '.join([f'({holes})'] * len(case.rows))}", rows)

    def run(self) -> str:
        """Verify the table, and search or release some of them; the last outcome in one word."""
        outcome = self.verify()
        if self.case.seed % SEARCHED_EVERY == 0:
            outcome = self.search()
        if self.case.seed % RELEASED_EVERY == 0:
            outcome = self.release()
        return outcome

    def verify(self) -> str:
        """Every class of the table as it is: how many are unsafe, how many rows they have, and how large they are."""
        case = self.case
        names = [column.name for column in case.columns]
        try:
            seen = verify("people", quasi_identifiers=names, connection=self.connection, **case.privacy)
        except KanonError as error:
            self.check_refusal(error)
            return "refused"
        classes = case.classes((0,) * len(names))
        unsafe = [[rows for rows in classes if not is_safe(rows)] for is_safe in case.conditions]
        counted = Counter((len(of_model), sum(map(len, of_model))) for of_model in unsafe)
        reported = Counter((of_model.unsafe_classes, of_model.unsafe_rows) for of_model in seen.summary.findings)
        if reported != counted or seen.holds == any(unsafe) or seen.summary.classes != len(classes):
            raise WrongError(f"{dict(reported)} verified and {dict(counted)} counted, unsafe classes and rows by model")
        small = Counter(size for rows in classes if (size := len(People.of(rows))) < case.k)
        if dict(seen.offending_sizes) != small:
            raise WrongError(f"small classes of {seen.offending_sizes} verified, and {dict(small)} counted")
        return "verified"

    def search(self) -> str:
        case = self.case
        try:
            found = search("people", case.spec(case.strategy), connection=self.connection)
        except InfeasibleError as error:
            self.check_infeasible(error)
            return "infeasible"
        except KanonError as error:
            self.check_refusal(error)
            return "refused"
        if case.refused:
            raise WrongError("somebody has several values, and a model that needs one was accepted")
        at_risk = {node: case.rows_at_risk(node) for node in case.nodes()}
        for step in found.outcome.trace:
            if step.rows_at_risk is not None and step.rows_at_risk != at_risk[step.node]:
                raise WrongError(
                    f"{step.node}: {step.rows_at_risk} rows at risk reported, {at_risk[step.node]} counted"
                )
        node = tuple(found.node.values())
        if found.rows_at_risk != at_risk[node] or at_risk[node] > case.may_suppress:
            raise WrongError(f"{node}: {at_risk[node]} rows at risk, and {case.may_suppress} may be suppressed")
        if case.metric == "precision" and case.strategy in PROVEN_BEST:
            best = min(case.precision(other) for other, rows in at_risk.items() if rows <= case.may_suppress)
            if not found.proven_optimal or abs(found.score - best) > TOLERANCE:
                raise WrongError(f"{found.score} at {node} is reported as the best, and {best} is")
        return "searched"

    def check_infeasible(self, error: KanonError) -> None:
        """No node is allowed, or those that are release no row."""
        case = self.case
        best = min(case.rows_at_risk(node) for node in case.nodes())
        if not case.refused and best <= case.may_suppress and best < len(case.rows):
            raise WrongError(f"a node exists, and the search says: {error}") from error

    def check_refusal(self, error: KanonError) -> None:
        """Refusals need a reason: several values of a person, an α for a value that never occurs, or a k above all."""
        case = self.case
        values = [model.spec["alpha_k"]["ill"] for model in case.models if "alpha_k" in model.spec]
        absent = [of["value"] for of in values if isinstance(of, dict) and of["value"] not in case.table.distinct]
        if not case.refused and not absent and len(case.table) >= case.k:
            raise WrongError(f"refused without a reason: {error}") from error

    def release(self) -> str:
        case, rng = self.case, self.case.rng
        strategy = rng.choice((*RECODINGS, case.strategy))
        form = rng.choice(("table", "view", "file")) if strategy == case.strategy else rng.choice(("table", "file"))
        path = str(self.folder / "seen.parquet")
        target = {"file": path} if form == "file" else {"table": "seen", "as": form}
        try:
            release = anonymize("people", case.spec(strategy) | {"target": target}, connection=self.connection)
        except InfeasibleError as error:
            if strategy == case.strategy:
                self.check_infeasible(error)
            elif case.is_safe(case.rows):
                raise WrongError(f"all rows together are safe, and {strategy} says: {error}") from error
            return "infeasible"
        except KanonError as error:
            self.check_refusal(error)
            return "refused"
        if case.refused:
            raise WrongError("somebody has several values, and a release under a model that needs one was written")
        seen = f"read_parquet('{path}')" if form == "file" else "seen"
        self.check_released(seen, release.manifest, local=strategy in RECODINGS)
        return f"released by {'local recoding' if strategy in RECODINGS else 'search'}"

    def check_released(self, seen: str, manifest: Mapping[str, Any], local: bool) -> None:
        """Every class of the released rows is safe, and the manifest's counts are those of the rows."""
        case = self.case
        columns = ", ".join(f'CAST("{column.name}" AS VARCHAR)' for column in case.columns)
        classes: dict[Row, list[Row]] = {}
        released = self.connection.execute(f"SELECT {columns}, ill, number FROM {seen}").fetchall()
        for *shown, value, number in released:
            if case.rows[number][-2] != value:
                raise WrongError(f"row {number} is released with another sensitive value")
            classes.setdefault(tuple(shown), []).append(case.rows[number])
        if len({row[-1] for row in released}) != len(released):
            raise WrongError("a row is released twice")
        for shown, rows in classes.items():
            if not case.is_safe(rows):
                raise WrongError(f"the class {shown} is not safe: {rows}")
        suppressed = len(case.rows) - len(released)
        if (manifest["released_rows"], manifest["suppressed_rows"]) != (len(released), suppressed):
            raise WrongError(f"{len(released)} rows are released, and the manifest says {manifest['released_rows']}")
        if not local and suppressed > case.may_suppress:
            raise WrongError(f"{suppressed} rows were suppressed, and {case.may_suppress} may be")


@cache
def _database() -> Any:
    """One database for all tables of a process: to open one takes as long as to search a lattice."""
    return duckdb.connect(config={"threads": 1})


def check(seed: int) -> tuple[int, str, str]:
    """Check one table: its seed, the outcome, and what was wrong."""
    case, outcome, problem = Case(seed), "wrong", ""
    connection = _database()
    with tempfile.TemporaryDirectory(prefix="kanon_tables_") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ReleaseWarning)
        try:
            outcome = Check(case, connection, Path(folder)).run()
        except Exception:
            problem = f"{case}\n{traceback.format_exc()}"
        finally:
            connection.execute("DROP SCHEMA IF EXISTS case_ CASCADE")
    return seed, outcome, problem


def checks(first: int, tables: int, jobs: int) -> Iterator[tuple[int, str, str]]:
    """Check many tables, in several processes if requested."""
    seeds = range(first, first + tables)
    if jobs == 1:
        yield from map(check, seeds)
        return
    with get_context("spawn").Pool(jobs, maxtasksperchild=2000) as pool:
        yield from pool.imap_unordered(check, seeds, chunksize=TABLES_PER_REQUEST)


def main() -> int:
    """Check the tables that the command line requests; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first table")
    parser.add_argument("--jobs", type=int, default=1)
    requested = parser.parse_args()
    outcomes: Counter[str] = Counter()
    started = time.monotonic()
    for _, outcome, problem in checks(requested.first, requested.tables, requested.jobs):
        outcomes[outcome] += 1
        if problem:
            print(problem, flush=True)
        if outcomes.total() % 1000 == 0:
            seconds = time.monotonic() - started
            print(f"{outcomes.total():,} tables in {seconds:,.0f} s: {dict(outcomes)}", file=sys.stderr, flush=True)
    print(f"{requested.tables:,} tables from seed {requested.first}: {dict(sorted(outcomes.items()))}")
    return 1 if outcomes["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
