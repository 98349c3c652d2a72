"""Random tables of odd types, released and checked from outside: `python tests/support/fuzz.py --cases 100000`.

A case is a table of few rows, hierarchies that fit it more or less, privacy models, a population, a strategy and a
target. The release is checked by code that shares nothing with the package but the engine's equality: does every class
have k rows (or people), is it safe by the requested models, also compared with the population, are all classes safe
together, is no row duplicated, and does every cell show the label of its value? A view is checked again after every
change of the rows below it or of the population, and after someone has written to its companion tables. A case can
also end with an error of one sentence; if its options conflict, before any work.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import traceback
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import duckdb
import psycopg

from kanon_sql import Observer, anonymize
from kanon_sql.errors import HierarchyError, InfeasibleError, KanonError
from kanon_sql.privacy import ReleaseModel

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from support.fuzz_cases import POOLS, POSTGRES_POOLS, Case, Column
from support.fuzz_population import Population
from support.models import Defined, OfSizes, counted

# Errors with these words are bugs, or hide an unknown cause.
_BLAMED = ("report", "changed while", "other rows", "DuckDB says", "PostgreSQL says", "were planned")
_ROUNDING = 1e-3  # of an estimate found by trial; no case is so close to the required figure
Shown = tuple[Any, ...]


class WrongError(AssertionError):
    """A release that does not keep its promise."""


class InDuckDB:
    """An empty DuckDB."""

    pools = POOLS
    held = "TRY_CAST(? AS {}) IS NOT NULL"
    tables = "SELECT table_name FROM information_schema.tables"
    odd_rows = "rowid % 2 = 0"
    error: type[Exception] = duckdb.Error

    def __init__(self) -> None:
        self.connection: Any = duckdb.connect()

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement with ? for values, and return its rows."""
        return list(self.connection.execute(sql, list(values)).fetchall())

    def close(self) -> None:
        """Delete it."""
        self.connection.close()


class InPostgreSQL:
    """An empty schema of the PostgreSQL that KANON_POSTGRES_DSN names."""

    pools = POSTGRES_POOLS
    held = "pg_input_is_valid(?, '{}')"
    tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
    odd_rows = "ctid::text LIKE '%%2)'"
    error: type[Exception] = psycopg.Error

    def __init__(self) -> None:
        self.connection: Any = psycopg.connect(os.environ["KANON_POSTGRES_DSN"], autocommit=True)
        self.schema = f"fuzz_{uuid.uuid4().hex}"
        self.rows(f"CREATE SCHEMA {self.schema}")
        self.rows(f"SET search_path TO {self.schema}")

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run a statement with ? for values, and return its rows."""
        cursor = self.connection.execute(sql.replace("?", "%s") if values else sql, list(values) or None)
        return list(cursor.fetchall()) if cursor.description else []

    def close(self) -> None:
        """Delete it."""
        self.rows(f"DROP SCHEMA {self.schema} CASCADE")
        self.connection.close()


ENGINES = {"duckdb": InDuckDB, "postgres": InPostgreSQL}


class Run:
    """A case in a database, from the table to all checks of the release."""

    def __init__(self, case: Case, db: InDuckDB | InPostgreSQL, folder: Path) -> None:
        self.case, self.folder, self.rng, self.db = case, folder, case.rng, db
        self.names = [column.name for column in case.columns]
        self.node: list[int] | None = None
        self.tampered = False
        types = ", ".join(f"{_quoted(column.name)} {column.type}" for column in case.columns)
        db.rows(f"CREATE TABLE people (number INTEGER, ill INTEGER, person INTEGER, {types})")
        self.next, self.texts = 0, dict[int, list[str | None]]()  # what is in the rows, by their numbers
        self.shown, self.regions = dict[int, Shown](), dict[Shown, set[Any]]()  # by number, and what it stands for
        for row in case.rows:
            self.insert(row)
        self.population = Population(case, db, self.holds) if case.populated else None
        if self.population:
            persons = dict(db.rows("SELECT number, person FROM people"))
            for number, row in list(self.texts.items())[case.lacking :]:
                self.population.insert(persons[number], row)
            for row in () if case.lacking else case.others:
                self.population.insert(self.rng.randint(1, 30), row)

    def holds(self, column: Column, text: str | None) -> bool:
        """Whether a column can hold a text."""
        rows = self.db.rows(f"SELECT {self.db.held.format(column.plain_type)}", [text])
        return text is not None and bool(rows[0][0])

    def insert(self, row: Sequence[str | None]) -> None:
        """Add a row; a text that its column cannot hold is NULL."""
        pairs = list(zip(self.case.columns, row, strict=True))
        values = ", ".join(f"CAST(? AS {column.plain_type})" for column in self.case.columns)
        held = [text if self.holds(column, text) else None for column, text in pairs]
        private = self.case.private()
        self.db.rows(f"INSERT INTO people VALUES ({self.next}, ?, ?, {values})", [*private, *held])
        self.texts[self.next] = held
        self.next += 1

    def spec(self) -> dict[str, Any]:
        """The options of the release."""
        case, attributes = self.case, {}
        for index, column in enumerate(case.columns):
            if column.lines is None:
                attributes[column.name] = {"hierarchy": column.recipe}
                continue
            path = self.folder / f"{index}.csv"
            path.write_text("".join(";".join(map(_field, line)) + "\n" for line in column.lines), encoding="utf-8")
            attributes[column.name] = {"hierarchy": {"file": str(path), "separator": ";"}}
        path = self.folder / "seen.parquet"
        path.unlink(missing_ok=True)
        target = {"file": str(path)} if case.form == "file" else {"table": "seen", "as": case.form}
        return {
            "quasi_identifiers": attributes,
            "suppression_limit": case.limit,
            "unmapped": case.unmapped,
            "target": target,
            "keep": ["number"],
            "sensitive": ["ill"],
            **({"unit": "person"} if case.people else {"identifiers": ["person"]}),
        }

    def go(self) -> str:
        """Release, and check; returns the outcome in one word."""
        stages, tables = list[str](), self.db.rows(self.db.tables)
        try:
            release = anonymize(
                "people",
                self.spec(),
                connection=self.db.connection,
                privacy=self.case.models_beside(self.populated_by()),
                strategy=self.case.strategy,
                time_limit=5,
                observer=Observer(stage=stages.append),
            )
        except KanonError as error:
            self.check_refusal(error, stages)
            if sorted(self.db.rows(self.db.tables)) != sorted(tables):
                raise WrongError("something was left behind by a run that failed") from error
            return "refused"
        if self.case.refusal() or self.case.heights_differ():
            raise WrongError(f"this should have been refused: {self.case.refusal() or 'heights differ'}")
        if self.case.form == "file":
            self.fetch()
        manifest = release.manifest
        self.node = list(manifest["node"].values()) if manifest["node"] else None
        shown = self.look("seen")
        if len(shown) != manifest["released_rows"] or len(shown) + manifest["suppressed_rows"] != self.next:
            raise WrongError(f"{len(shown)} rows are shown, and the manifest says {manifest['released_rows']}")
        if manifest["node"] and manifest["suppressed_rows"] > self.case.limit * self.next:
            raise WrongError("more rows were suppressed than allowed")
        if self.node:
            self.check_labels(shown, self.node)
        self.check_achieved(manifest["privacy"], shown)
        if self.case.form == "view":
            self.change()
        return "released"

    def populated_by(self) -> str:
        """The population's name: a table, a file of its rows, or an empty file."""
        if self.population and self.case.population == "voters.parquet":
            self.db.rows(f"COPY voters TO '{self.folder / self.case.population}' (FORMAT parquet)")
        return self.case.population if self.case.population == "voters" else str(self.folder / self.case.population)

    def check_refusal(self, error: KanonError, stages: Sequence[str]) -> None:
        """The error is one sentence, raised before the search, or before the counting if the models conflict."""
        if any(word in str(error) for word in _BLAMED):
            raise WrongError(f"an error that explains nothing: {error}") from error
        if "\n" in str(error) or str(error).endswith(".") or not str(error):
            raise WrongError(f"an error that is not one sentence: {error}") from error
        refusal = self.case.refusal()
        unreadable = isinstance(error, HierarchyError) and not stages  # of two things that are wrong either may be said
        if refusal and not unreadable and (refusal not in str(error) or stages):
            raise WrongError(f"not refused before any work, as {refusal!r}: {error} {stages}") from error
        if self.case.heights_differ() and stages:
            raise WrongError(f"several heights were refused after the work was begun: {error}") from error
        late = isinstance(error, (InfeasibleError, HierarchyError))
        if len(stages) > 1 and not late:
            raise WrongError(f"refused after the work was begun: {error} {stages}") from error

    def fetch(self) -> None:
        """Put a released file into a table, all columns as text."""
        columns = ", ".join(f"CAST({_quoted(name)} AS VARCHAR)" for name in self.names)
        path = str(self.folder / "seen.parquet")
        rows = duckdb.connect().execute(f"SELECT number, {columns} FROM read_parquet(?)", [path]).fetchall()
        texts = ", ".join(f"{_quoted(name)} VARCHAR" for name in self.names)
        self.db.rows(f"CREATE TABLE seen (number INTEGER, {texts})")
        for row in rows:
            self.db.rows(f"INSERT INTO seen VALUES ({', '.join('?' * len(row))})", row)

    def look(self, seen: str) -> list[tuple[Any, ...]]:
        """Read a release: no row is duplicated, and every class of equal labels has k rows."""
        columns = ", ".join(f"CAST({_quoted(name)} AS VARCHAR)" for name in self.names)
        rows = self.db.rows(f"SELECT number, {columns} FROM {seen}")
        if len({number for number, *_ in rows}) != len(rows):
            raise WrongError("a row is shown twice")
        self.shown = {number: tuple(shown) for number, *shown in rows}
        self.check_classes(_classes(rows))
        return rows

    def check_classes(self, classes: Sequence[Sequence[int]]) -> None:
        """Every class is safe by the current rows of the table, and so are all classes together."""
        known = {
            number: (ill, person) for number, ill, person in self.db.rows("SELECT number, ill, person FROM people")
        }
        for numbers in classes:
            for model in self.case.models:
                self.check_class(model, [known[number] for number in numbers], list(known.values()))
        sizes = self.sizes(classes)
        if min(sizes, default=self.case.k) < self.case.k:
            raise WrongError(f"a class of {min(sizes)}, and k is {self.case.k}")
        for model in self.case.sized if sizes else ():
            self.check_sizes(model, classes)
        if self.population and not self.tampered:
            self.check_population(self.population, classes, sizes)

    def sizes(self, classes: Sequence[Sequence[int]]) -> list[int]:
        """The rows of each class, or its people."""
        person = dict(self.db.rows("SELECT number, person FROM people"))
        return [len({person[n] for n in numbers}) if self.case.people else len(numbers) for numbers in classes]

    def check_sizes(self, of_sizes: OfSizes, classes: Sequence[Sequence[int]]) -> None:
        """All classes together are safe by one model's definition."""
        sizes, most = self.sizes(classes), [most for _, most in of_sizes.figures]
        for reached, allowed in zip(self.figures(of_sizes, classes), most, strict=True):
            if reached > allowed + _ROUNDING:
                raise WrongError(f"classes of {sizes} are not safe by {of_sizes}: {reached}, and {allowed} at most")

    def figures(self, of_sizes: OfSizes, classes: Sequence[Sequence[int]]) -> list[float]:
        """The figure of all classes together by a model's definition; a person counts with their highest risk."""
        person, sizes = dict(self.db.rows("SELECT number, person FROM people")), self.sizes(classes)
        risks: dict[Any, float] = {}
        for size, numbers in zip(sizes, classes, strict=True):
            for one in {person[number] for number in numbers}:
                risks[one] = max(1 / size, risks.get(one, 0))
        reached = []
        for model, (figure, _) in zip(of_sizes.models, of_sizes.figures, strict=True):
            if not (self.case.people and isinstance(model, ReleaseModel) and model.is_risk):
                reached.append(figure(sizes))
            elif "threshold" in model.parameters:
                reached.append(sum(risk > model.parameters["threshold"] for risk in risks.values()) / len(risks))
            else:
                reached.append(sum(risks.values()) / len(risks))
        return reached

    def check_population(self, population: Population, classes: Sequence[Sequence[int]], sizes: Sequence[int]) -> None:
        """Every class is safe compared with the rows of the population that are generalized to it."""
        keys = self.keys(population, classes)
        pairs = list(zip(sizes, population.standing_for(keys, self.node), strict=True))
        for size, people in pairs:
            for column in self.case.populated:
                if not column.is_safe(size, people):
                    raise WrongError(f"a class of {size} that stands for {people} is not safe by {column}")
        for column in self.case.populated if pairs else ():
            if column.figure and column.figure(pairs) > column.highest:
                raise WrongError(f"classes of {pairs} are not safe by {column}: {float(column.figure(pairs))}")
        if self.case.least and (rest := population.others(keys, self.node)):
            raise WrongError(f"of these of the population nobody is released: {rest}")

    def keys(self, population: Population, classes: Sequence[Sequence[int]]) -> list[set[Any]]:
        """The keys of every class at the node; for a local recoding, all keys that rows with these labels ever had.

        A local class is a region: a person within it fits, even if no row with the same values remains.
        """
        keys = [{population.key(self.texts[number], self.node) for number in numbers} for numbers in classes]
        if self.node:
            return keys
        regions = [self.regions.setdefault(self.shown[numbers[0]], set()) for numbers in classes]
        for region, found in zip(regions, keys, strict=True):
            region |= found
        return regions

    def check_achieved(self, findings: Sequence[dict[str, Any]], shown: Sequence[tuple[Any, ...]]) -> None:
        """The manifest lists every model of sizes and populations with the required and achieved figures."""
        classes = _classes(shown)
        sizes = self.sizes(classes)
        reached = {"k-anonymity": [(self.case.k, min(sizes, default=None))]}
        for column in self.case.sized:
            figures = self.figures(column, classes) if sizes else [None] * len(column.models)
            for model, figure in zip(column.models, figures, strict=True):
                reached.setdefault(model.name, []).append((model.required, figure))
        # Beside a local recoding everyone of the population counts at one of her rows, and so for one class at most.
        if self.population and (self.node or not self.case.people):
            people = self.population.standing_for(self.keys(self.population, classes), self.node)
            for column in self.case.populated:
                model = column.make("voters")
                worst = column.achieved(list(zip(sizes, people, strict=True))) if sizes else None
                reached.setdefault(model.name, []).append((model.required, worst))
        for name, those in reached.items():
            written = [(item["required"], item["achieved"]) for item in findings if item["model"] == name]
            if not _agree(written, those):
                raise WrongError(f"{name}: the manifest says {written}, and it is {those}")

    def check_class(
        self, defined: Defined, of: Sequence[tuple[Any, int]], everybody: Sequence[tuple[Any, int]]
    ) -> None:
        """A class is safe by one model's definition."""
        values, table = (counted(all_of, self.case.people) for all_of in (of, everybody))
        if not defined.is_safe(values, table):
            raise WrongError(f"a class of {values} of {table} is not safe by {defined}")

    def check_labels(self, shown: Sequence[tuple[Any, ...]], node: Sequence[int]) -> None:
        """Every cell is the label of its value, found by the engine's own equality, or a star."""
        for place, (column, level) in enumerate(zip(self.case.columns, node, strict=True), start=1):
            if column.lines is None:
                continue
            name = _quoted(column.name)
            values = dict(self.db.rows(f"SELECT number, CAST({name} AS VARCHAR) FROM people"))
            lines: dict[int, list[list[str]]] = {number: [] for number in values}
            for line in column.lines:
                if line[0] and self.holds(column, line[0]):
                    equal = f"SELECT number FROM people WHERE {name} = CAST(? AS {column.plain_type})"
                    for (number,) in self.db.rows(equal, [line[0]]):
                        lines[number].append(line)
            for row in shown:
                self.check_label(column, level, row[place], values[row[0]], lines[row[0]])

    def check_label(
        self, column: Column, level: int, shown: str | None, value: str | None, lines: list[list[str]]
    ) -> None:
        """One cell: the label of a leaf equal to its value; a value without a leaf is a star, or NULL."""
        assert column.lines
        height = max(len(line) for line in column.lines) - 1
        if value is None:
            lines = [line for line in column.lines if line[0] == ""]
        if level > height:  # the level of * that was added
            expected: set[str | None] = {"*"}
        elif lines and level:
            expected = {line[level] for line in lines}
        elif value is None and level:
            expected = {None, *({"*"} if level == height else ())}
        elif lines or value is None:
            return  # the value itself, or what is equal to it
        else:
            expected = {"*", None} if not level else {column.lines[0][-1], "*"}
        if shown not in expected:
            raise WrongError(f"{column.name} on level {level}: {value!r} is shown as {shown!r}, not {expected}")

    def change(self) -> None:
        """Change the rows below a view and its companion tables, and check after every change."""
        for _ in range(self.rng.randint(1, 5)):
            draw = self.rng.random()
            if draw < 0.5:
                self.insert(self.rng.choice([self.case.row(), self.rng.choice(self.case.rows)]))
            elif draw < 0.7:
                self.db.rows("DELETE FROM people WHERE number = ?", [self.rng.randrange(self.next)])
            elif draw < 0.8 and self.population:
                self.population.change(self.rng.choice(list(self.texts.values())))
            elif draw < 0.85:
                column = self.rng.choice(self.case.columns)
                text = self.rng.choice(self.case.pools[column.type])
                value = f"{_quoted(column.name)} = CAST(? AS {column.plain_type})"
                held = text if self.holds(column, text) else None
                number = self.rng.randrange(self.next)
                self.db.rows(f"UPDATE people SET {value} WHERE number = ?", [held, number])
                self.texts[number][self.case.columns.index(column)] = held
            else:
                self.tamper()
                self.tampered = True
            shown = self.look("seen")
            if self.node and not self.tampered:
                self.check_labels(shown, self.node)

    def tamper(self) -> None:
        """Write to a companion table of the view, as far as its key allows."""
        names = [name for (name,) in self.db.rows(self.db.tables) if name.startswith("seen__")]
        if not names:
            return
        table = _quoted(self.rng.choice(sorted(names)))
        described = self.db.connection.execute(f"SELECT * FROM {table} LIMIT 0").description
        column = _quoted(self.rng.choice([name for name, *_ in described]))
        statements = (
            f"INSERT INTO {table} SELECT * FROM {table}",
            f"UPDATE {table} SET {column} = (SELECT MIN({column}) FROM {table})",
            f"UPDATE {table} SET {column} = NULL",
            f"DELETE FROM {table} WHERE {self.db.odd_rows}",
        )
        with suppress(self.db.error):
            self.db.rows(self.rng.choice(statements))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _classes(rows: Sequence[tuple[Any, ...]]) -> list[list[int]]:
    """The numbers of rows with equal labels."""
    classes: dict[tuple[Any, ...], list[int]] = {}
    for number, *shown in rows:
        classes.setdefault(tuple(shown), []).append(number)
    return list(classes.values())


def _agree(written: Sequence[tuple[Any, float | None]], expected: Sequence[tuple[Any, float | None]]) -> bool:
    """Whether models of one name have the same required and achieved figures."""
    pairs = zip(written, expected, strict=True) if len(written) == len(expected) else [((0, 0), (1, 1))]
    return all(
        required == requested and (achieved is reached or abs((achieved or 0) - (reached or 0)) <= _ROUNDING)
        for (required, achieved), (requested, reached) in pairs
    )


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(';"\n') else text


def run(seeds: tuple[str, int]) -> tuple[int, str, str]:
    """Run one case on an engine: its seed, its outcome, and the error found."""
    engine, seed = seeds
    case, db = Case(seed, ENGINES[engine].pools), ENGINES[engine]()
    with tempfile.TemporaryDirectory(prefix="kanon_fuzz_") as folder:
        try:
            return seed, Run(case, db, Path(folder)).go(), ""
        except Exception:
            return seed, "wrong", f"{case}\n{traceback.format_exc()}"
        finally:
            db.close()


def runs(engine: str, first: int, cases: int, jobs: int) -> Iterator[tuple[int, str, str]]:
    """Run many cases, in several processes if requested."""
    seeds = [(engine, seed) for seed in range(first, first + cases)]
    if jobs == 1:
        yield from map(run, seeds)
        return
    with get_context("spawn").Pool(jobs, maxtasksperchild=2000) as pool:
        yield from pool.imap_unordered(run, seeds, chunksize=50)


def main() -> int:
    """Run the cases that the command line requests; 1 if one was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first case")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--engine", choices=list(ENGINES), default="duckdb")
    arguments = parser.parse_args()
    ends: Counter[str] = Counter()
    for _, end, problem in runs(arguments.engine, arguments.first, arguments.cases, arguments.jobs):
        ends[end] += 1
        if problem:
            print(problem, flush=True)
        if sum(ends.values()) % 1000 == 0:
            print(f"{sum(ends.values()):,} cases: {dict(ends)}", file=sys.stderr, flush=True)
    print(f"{arguments.cases:,} cases on {arguments.engine} from seed {arguments.first}: {dict(ends)}")
    return 1 if ends["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
