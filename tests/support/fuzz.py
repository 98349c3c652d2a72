"""Random tables of odd types, released and read as strangers would: `python tests/support/fuzz.py --cases 100000`.

A case is a table of few rows, hierarchies that fit it more or less, a strategy and a target. Whatever comes of it is
asked, by questions that share nothing with the package but the engine's own equality: is every class of k rows (or
people) and safe by the privacy models asked for, is no row there twice, does every cell show its value's label? A view
is asked again after every change of the rows below it, and after somebody has written to the tables beside it. What a
case may end in instead of a release is one sentence.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import traceback
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import duckdb
import psycopg

from kanon_sql import anonymize
from kanon_sql.errors import KanonError
from kanon_sql.privacy import k_anonymity

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from support.models import DEFINED, Defined

_UUIDS = [f"00000000-0000-0000-0000-00000000000{digit}" for digit in "0aAbB"]
# Texts that each type may hold, some of them equal in it, and some that it cannot hold.
POOLS = {
    "INTEGER": ["0", "1", "2", "3", "7", "-1", "2147483647", "2147483648", "x"],
    "TINYINT": ["0", "1", "2", "3", "127", "200", "-128"],
    "HUGEINT": ["0", "1", "170141183460469231731687303715884105727", "1e3"],
    "DECIMAL(9,2)": ["1.23", "1.234", "1.235", "5", "5.00", "-0", "0", "12345678901"],
    "FLOAT": ["0.1", "0.10000000149011612", "16777216", "16777217", "nan", "inf", "-inf", "0", "-0", "0.7"],
    "DOUBLE": ["0.1", "0.30000000000000004", "1e300", "nan", "inf", "-inf", "0", "-0", "x"],
    "DATE": ["2020-01-01", "2020-02-29", "9999-12-31", "infinity", "-infinity", "20000-01-01", "0044-03-15 (BC)"],
    "TIME": ["24:00:00", "00:00:00", "12:30:00", "12:30:00.5", "25:00:00"],
    "TIMESTAMP": ["2020-01-01 00:00:00", "2020-01-01 00:00:00.5", "infinity", "-infinity", "20000-01-01 00:00:00"],
    "TIMESTAMP_S": ["2020-01-01 00:00:00", "2020-01-01 00:00:00.3", "2020-01-01 00:00:01", "infinity"],
    "TIMESTAMP_NS": ["2020-01-01 00:00:00.123456789", "2020-01-01 00:00:00.123456788", "2020-01-01 00:00:00"],
    "TIMESTAMPTZ": ["2020-01-01 00:00:00+00", "2020-01-01 01:00:00+01", "-infinity", "2021-01-01 00:00:00+00"],
    "TIMETZ": ["12:00:00+02", "12:00:00+03", "10:00:00+00"],
    "INTERVAL": ["1 month", "30 days", "1 day", "2 years 3 hours"],
    "UUID": [*_UUIDS, "nobody"],
    "BLOB": ["\\x00", "plain", "\\xAA\\xBB", "\\x"],
    "BIT": ["0101", "1", "2"],
    "BOOLEAN": ["true", "false", "t"],
    "ENUM('sad', 'ok', 'never')": ["sad", "ok", "merry"],
    "VARCHAR": ["ann", "Ann", "bob", "*", "", " ", "a;b", 'x"y', "*;*", "NULL"],
    "VARCHAR COLLATE NOCASE": ["ann", "Ann", "ANN", "bob", "*"],
    "VARCHAR COLLATE NOACCENT": ["rene", "rené", "Rene", "bob"],
}
POSTGRES_POOLS = {
    "integer": ["0", "1", "2", "3", "7", "-1", "2147483648", "x"],
    "numeric(9,2)": ["1.23", "1.234", "1.235", "5", "5.00", "0", "12345678901"],
    "numeric": ["1.5", "1.50", "NaN", "12345678901234567890123456789012345678901234567890"],
    "real": ["0.1", "0.10000000149011612", "16777216", "16777217", "NaN", "Infinity", "0"],
    "double precision": ["0.1", "1e300", "NaN", "-Infinity", "0", "-0"],
    "date": ["2020-01-01", "2020-02-29", "infinity", "-infinity", "0044-03-15 BC"],
    "time": ["24:00:00", "00:00:00", "12:30:00.5"],
    "timestamp(0)": ["2020-01-01 00:00:00", "2020-01-01 00:00:00.3", "infinity", "2020-01-01 00:00:01"],
    "timestamptz": ["2020-01-01 00:00:00+00", "2020-01-01 01:00:00+01", "-infinity", "0044-03-15 00:00:00+00 BC"],
    "interval": ["1 month", "30 days", "1 day"],
    "uuid": [*_UUIDS, "nobody"],
    "bytea": ["\\x00", "\\xaabb"],
    "boolean": ["true", "false", "t"],
    "varchar(2)": ["ab", "a", "abc", "", "*"],
    "char(3)": ["ab", "ab ", "abc", "b"],
    "text": POOLS["VARCHAR"],
}
_NUMBERS = ("INTEGER", "TINYINT", "DECIMAL(9,2)", "integer", "numeric(9,2)")
SEARCHES = ("best_first", "exhaustive", "certified", "ola", "flash", "memetic", "datafly")
RECODINGS = ("mondrian", "mondrian_relaxed", "refine", "kaca")
# A sentence that says so is about us, or hides that we do not know.
_BLAMED = ("report", "changed while", "other rows", "DuckDB says", "PostgreSQL says", "were planned")


class WrongError(AssertionError):
    """A release that is not what it says."""


@dataclass
class Column:
    """A quasi-identifier: its type, the texts of its rows, and its hierarchy as a file or a recipe."""

    name: str
    type: str
    lines: list[list[str]] | None
    recipe: Any

    @property
    def plain_type(self) -> str:
        """The type without its collation."""
        return self.type.split(" COLLATE")[0]


@dataclass
class Case:
    """One random table and what is asked of it, made from a seed alone."""

    seed: int
    pools: dict[str, list[str]]
    rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.k = self.rng.choice((1, 2, 2, 2, 3, 4))
        self.columns = [self._column(index) for index in range(self.rng.choice((1, 1, 2, 2, 3)))]
        # Rows come in groups that are alike, or nothing would ever be released.
        made = [self.row() for _ in range(self.rng.randint(1, 5))]
        self.rows = [self.rng.choice(made) for _ in range(self.rng.randint(1, 14))]
        self.form = self.rng.choice(("table", "view", "view", "view", "file"))
        self.strategy = self.rng.choice(SEARCHES if self.rng.random() < 0.85 else RECODINGS)
        self.limit = self.rng.choice((0.0, 0.1, 0.5, 1.0))
        self.unmapped = self.rng.choice(("error", "top"))
        self.models = self.rng.sample(DEFINED[1:], self.rng.choice((0, 0, 1, 1, 2))) if self.rng.random() < 0.5 else []
        self.people = self.rng.random() < 0.25

    def private(self) -> tuple[int | None, int]:
        """An illness and a person, of few."""
        ordered = any(" (ordered" in str(each) or " (hierarchical" in str(each) for each in self.models)
        illness = None if not ordered and self.rng.random() < 0.05 else self.rng.choice((1, 1, 2, 2, 3, 4))
        return illness, self.rng.randint(1, 12)

    def _column(self, index: int) -> Column:
        type_name = self.rng.choice(list(self.pools))
        lines, recipe = None, None
        draw = self.rng.random()
        if draw < 0.6:
            lines = self._lines(self.pools[type_name])
        elif draw < 0.7 and type_name in _NUMBERS:
            recipe = {"ranges": [self.rng.choice((2, 5))]}
        elif draw < 0.8 and type_name.startswith(("VARCHAR", "text", "varchar")):
            recipe = {"redact": self.rng.choice(("left", "right"))}
        else:
            recipe = "suppress"
        return Column(
            self.rng.choice(("v", "w", "Odd name", 'q"q', "value", "code", "n")) + str(index), type_name, lines, recipe
        )

    def _lines(self, pool: Sequence[str]) -> list[list[str]]:
        """Most of the pool and what is equal to it, with labels that go by the first letter, or by chance."""
        height, odd = self.rng.randint(0, 2), self.rng.random() < 0.1
        kept = [text for text in pool if text and self.rng.random() < 0.95] or [pool[0] or "x"]
        labels = [chr(97 + self.rng.randint(0, 1)) for _ in pool]
        groups = dict(zip(pool, labels, strict=True)) if odd else {text: text[:1].lower() for text in pool}
        lines = [[text, *([groups[text]] if height > 1 else []), *(["*"] if height else [])] for text in kept]
        if self.rng.random() < 0.3:
            lines.append(["", *(["none"] if height > 1 else []), *(["*"] if height else [])])
        return lines

    def row(self) -> list[str | None]:
        pools = [self.pools[column.type] for column in self.columns]
        return [None if self.rng.random() < 0.1 else self.rng.choice(pool) for pool in pools]

    def __str__(self) -> str:
        asked = [*map(str, self.models), *(["people"] if self.people else [])]
        told = "; ".join(f"{c.name} {c.type}: {c.lines or c.recipe}" for c in self.columns)
        how = f"k={self.k} limit={self.limit} {self.strategy} as {self.form}"
        return f"case {self.seed}: {how}; {told}; {self.rows}; {asked}"


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
        """Run a statement, ? for values, and fetch what it gives."""
        return list(self.connection.execute(sql, list(values)).fetchall())

    def close(self) -> None:
        """Forget it."""
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
        """Run a statement, ? for values, and fetch what it gives."""
        cursor = self.connection.execute(sql.replace("?", "%s") if values else sql, list(values) or None)
        return list(cursor.fetchall()) if cursor.description else []

    def close(self) -> None:
        """Forget it."""
        self.rows(f"DROP SCHEMA {self.schema} CASCADE")
        self.connection.close()


ENGINES = {"duckdb": InDuckDB, "postgres": InPostgreSQL}


class Run:
    """A case in a database, from the table to all that is asked of the release."""

    def __init__(self, case: Case, db: InDuckDB | InPostgreSQL, folder: Path) -> None:
        self.case, self.folder, self.rng, self.db = case, folder, case.rng, db
        self.names = [column.name for column in case.columns]
        types = ", ".join(f"{_quoted(column.name)} {column.type}" for column in case.columns)
        db.rows(f"CREATE TABLE people (number INTEGER, ill INTEGER, person INTEGER, {types})")
        self.next = 0
        for row in case.rows:
            self.insert(row)

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
        self.next += 1

    def spec(self) -> dict[str, Any]:
        """What is asked for."""
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
        """Release, and ask; what became of it in one word."""
        try:
            release = anonymize(
                "people",
                self.spec(),
                connection=self.db.connection,
                privacy=[k_anonymity(self.case.k), *(each.model for each in self.case.models)],
                strategy=self.case.strategy,
                time_limit=5,
            )
        except KanonError as error:
            if any(word in str(error) for word in _BLAMED):
                raise WrongError(f"an error that explains nothing: {error}") from error
            if self.db.rows(self.db.tables) != [("people",)]:
                raise WrongError("something was left behind by a run that failed") from error
            return "refused"
        seen = "seen"
        if self.case.form == "file":
            self.fetch()
        shown = self.look(seen)
        manifest = release.manifest
        if len(shown) != manifest["released_rows"] or len(shown) + manifest["suppressed_rows"] != self.next:
            raise WrongError(f"{len(shown)} rows are shown, and the manifest says {manifest['released_rows']}")
        if manifest["node"] and manifest["suppressed_rows"] > self.case.limit * self.next:
            raise WrongError("more rows were suppressed than allowed")
        if manifest["node"]:
            self.check_labels(shown, list(manifest["node"].values()))
        if self.case.form == "view":
            self.change(list(manifest["node"].values()) if manifest["node"] else None)
        return "released"

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
        """Read a release: no row twice, and every class of k rows by what is shown."""
        columns = ", ".join(f"CAST({_quoted(name)} AS VARCHAR)" for name in self.names)
        rows = self.db.rows(f"SELECT number, {columns} FROM {seen}")
        if len({number for number, *_ in rows}) != len(rows):
            raise WrongError("a row is shown twice")
        classes: dict[tuple[Any, ...], list[int]] = {}
        for number, *shown in rows:
            classes.setdefault(tuple(shown), []).append(number)
        self.check_classes(list(classes.values()))
        return rows

    def check_classes(self, classes: Sequence[Sequence[int]]) -> None:
        """Every class is safe, by what its rows are in the table as it is now."""
        known = {
            number: (ill, person) for number, ill, person in self.db.rows("SELECT number, ill, person FROM people")
        }
        for numbers in classes:
            of = [known[number] for number in numbers]
            size = len({person for _, person in of}) if self.case.people else len(of)
            if size < self.case.k:
                raise WrongError(f"a class of {size}, and k is {self.case.k}")
            for each in self.case.models:
                self.check_class(each, of, list(known.values()))

    def check_class(self, asked: Defined, of: Sequence[tuple[Any, int]], everybody: Sequence[tuple[Any, int]]) -> None:
        """A class is safe by one model's definition."""
        values, table = (
            Counter(ill for ill, _ in (set(all_of) if self.case.people else all_of)) for all_of in (of, everybody)
        )
        if not asked.is_safe(values, table):
            raise WrongError(f"a class of {values} of {table} is not safe by {asked}")

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

    def change(self, node: Sequence[int] | None) -> None:
        """Change the rows below a view, and the tables beside it, and look again each time."""
        for _ in range(self.rng.randint(1, 5)):
            draw = self.rng.random()
            if draw < 0.5:
                self.insert(self.rng.choice([self.case.row(), self.rng.choice(self.case.rows)]))
            elif draw < 0.7:
                self.db.rows("DELETE FROM people WHERE number = ?", [self.rng.randrange(self.next)])
            elif draw < 0.85:
                column = self.rng.choice(self.case.columns)
                text = self.rng.choice(self.case.pools[column.type])
                value = f"{_quoted(column.name)} = CAST(? AS {column.plain_type})"
                held = text if self.holds(column, text) else None
                self.db.rows(f"UPDATE people SET {value} WHERE number = ?", [held, self.rng.randrange(self.next)])
            else:
                self.tamper()
                node = None
            shown = self.look("seen")
            if node:
                self.check_labels(shown, node)

    def tamper(self) -> None:
        """Write to a table beside the view, as far as its key allows."""
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


def _field(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if set(text) & set(';"\n') else text


def run(asked: tuple[str, int]) -> tuple[int, str, str]:
    """Run one case of an engine: its seed, what became of it, and what was wrong."""
    engine, seed = asked
    case, db = Case(seed, ENGINES[engine].pools), ENGINES[engine]()
    with tempfile.TemporaryDirectory(prefix="kanon_fuzz_") as folder:
        try:
            return seed, Run(case, db, Path(folder)).go(), ""
        except Exception:
            return seed, "wrong", f"{case}\n{traceback.format_exc()}"
        finally:
            db.close()


def runs(engine: str, first: int, cases: int, jobs: int) -> Iterator[tuple[int, str, str]]:
    """Run many cases, in several processes where asked for."""
    seeds = [(engine, seed) for seed in range(first, first + cases)]
    if jobs == 1:
        yield from map(run, seeds)
        return
    with get_context("spawn").Pool(jobs, maxtasksperchild=2000) as pool:
        yield from pool.imap_unordered(run, seeds, chunksize=50)


def main() -> int:
    """Run the cases that the command line asks for; 1 if one was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first case")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--engine", choices=list(ENGINES), default="duckdb")
    asked = parser.parse_args()
    ends: Counter[str] = Counter()
    for _, end, problem in runs(asked.engine, asked.first, asked.cases, asked.jobs):
        ends[end] += 1
        if problem:
            print(problem, flush=True)
        if sum(ends.values()) % 1000 == 0:
            print(f"{sum(ends.values()):,} cases: {dict(ends)}", file=sys.stderr, flush=True)
    print(f"{asked.cases:,} cases on {asked.engine} from seed {asked.first}: {dict(ends)}")
    return 1 if ends["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
