"""A random case: a table of odd types, privacy models, a population, a strategy and a target, from a seed alone."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from kanon_sql.privacy import k_anonymity
from support.models import DEFINED, POPULATED, SIZED

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
    "jsonb": ["1", "1.0", '"ann"', "{}"],
    "uuid": [*_UUIDS, "nobody"],
    "bytea": ["\\x00", "\\xaabb"],
    "boolean": ["true", "false", "t"],
    "varchar(2)": ["ab", "a", "abc", "", "*"],
    "char(3)": ["ab", "ab ", "abc", "b"],
    "text": POOLS["VARCHAR"],
}
_NUMBERS = ("INTEGER", "TINYINT", "DECIMAL(9,2)", "integer", "numeric(9,2)")
ANY_MODEL = ("auto", "best_first", "exhaustive", "certified", "depth_first", "memetic", "datafly", "local_search")
MONOTONE = ("ola", "flash", "incognito", "samarati", "optimal_igh", "extended_igh")
SEARCHES = (*ANY_MODEL, *ANY_MODEL, *MONOTONE, "kgen", "random")  # most of them take any model, or little is released
RECODINGS = ("mondrian", "mondrian_relaxed", "refine", "kaca", "prioprivacy")
_AS_IN_A_FILE = {"INTEGER", "DATE", "VARCHAR", "BOOLEAN", "DOUBLE"}


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
    """A random table with the options of its release, generated from a seed."""

    seed: int
    pools: dict[str, list[str]]
    rng: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.k = self.rng.choice((1, 2, 2, 2, 3, 4))
        self.columns = [self._column(index) for index in range(self.rng.choice((1, 1, 2, 2, 3)))]
        # Rows come in groups that are alike, or nothing would ever be released.
        rows = [self.row() for _ in range(self.rng.randint(1, 5))]
        self.rows = [self.rng.choice(rows) for _ in range(self.rng.randint(1, 14))]
        self.form = self.rng.choice(("table", "view", "view", "view", "file"))
        self.strategy = self.rng.choice(SEARCHES if self.rng.random() < 0.85 else RECODINGS)
        self.limit = self.rng.choice((0.0, 0.1, 0.5, 1.0))
        self.unmapped = self.rng.choice(("error", "top"))
        self.models = self.rng.sample(DEFINED[1:], self.rng.choice((0, 0, 1, 1, 2))) if self.rng.random() < 0.5 else []
        self.people = self.rng.random() < 0.25
        self.one_illness = self.people and self.rng.random() < 0.5  # of each person, as some models need it
        self.sized = self.rng.sample(SIZED, self.rng.choice((1, 1, 2))) if self.rng.random() < 0.25 else []
        self.populated = self.rng.sample(POPULATED, self.rng.choice((1, 1, 2))) if self.rng.random() < 0.3 else []
        if self.populated or self.sized:
            self.k = self.rng.choice((1, 1, self.k))
        if self.least and self.rng.random() < 0.8:
            self.limit = 0.0
        self._draw_population()
        if self.refusal() and self.rng.random() < 0.7:
            self.strategy = "best_first"

    def _draw_population(self) -> None:
        """The other people of the population and where they are stored; rarely nowhere, or some are missing."""
        others = [self.rng.choice(self.rows) if self.rng.random() < 0.7 else self.row() for _ in range(20)]
        self.others = others[: self.rng.randint(0, 20)]
        files = ("voters.parquet",) if {column.type for column in self.columns} <= _AS_IN_A_FILE else ()
        self.population = "nowhere.parquet" if self.rng.random() < 0.03 else self.rng.choice(("voters", *files))
        self.population_people, self.lacking = self.rng.random() < 0.7, self.rng.random() < 0.03

    def models_beside(self, population: str) -> list[Any]:
        """All privacy models, k among them; the population by its name."""
        beside = [column.make(population) for column in self.populated]
        of_sizes = [model for item in self.sized for model in item.models]
        return [k_anonymity(self.k), *(model.model for model in self.models), *beside, *of_sizes]

    @property
    def least(self) -> bool:
        """Whether a share of every class of the population must be released."""
        return any(column.least for column in self.populated)

    def refusal(self) -> str | None:
        """Words of the error with which a case must end before any work, because its options conflict."""
        return next((words for words, refused in self._refusals() if refused), None)

    def heights_differ(self) -> bool:
        """Whether a strategy for one hierarchy is given files that are not as high as the first."""
        heights = [max(1, len(column.lines[0]) - 1) if column.lines else None for column in self.columns]
        known = heights[0] is not None and self.strategy in ("optimal_igh", "extended_igh")
        return known and any(height not in (None, heights[0]) for height in heights)

    def _refusals(self) -> Iterator[tuple[str, bool]]:
        view, local = self.form == "view", self.strategy in RECODINGS
        yield "needs a monotone privacy model", self.strategy in MONOTONE and self._is_odd()
        yield "a minimum presence above 0", self.least and (view or local or self.limit > 0)
        dealt = self.strategy == "mondrian_relaxed"
        yield "puts equal rows into several classes", dealt and any(column.most < 1 for column in self.populated)
        yield "is not a table in the source's database", bool(self.populated) and view and self.population != "voters"
        nowhere = self.population == "nowhere.parquet"
        yield "is neither a table in the source's database nor a file", bool(self.populated) and nowhere
        yield "has no column 'person'", bool(self.populated) and self.people and not self.population_people

    def _is_odd(self) -> bool:
        """Whether a merge can violate a model, in addition to the size of a class."""
        models = self.models_beside("voters")
        size = max(model.class_size or 1 for model in models)
        people = max(getattr(model, "population_size", None) or 1 for model in models)
        implied = [m for m in models if hasattr(m, "figure")]
        implied = [m for m in implied if m.sufficient_size <= (size if m.population is None else people)]
        decided = [m for m in models if hasattr(m, "figure") and (self.form == "view" or self.people or m in implied)]
        spoiled = ("never", "without suppression") if self.limit > 0 or self.people else ("never",)
        return any(model.monotone in spoiled for model in models if model not in decided)

    def private(self) -> tuple[int | None, int]:
        """An illness and a person, of few."""
        if self.one_illness:
            person = self.rng.randint(1, 12)
            return 1 + person % 4, person
        ordered = any(" (ordered" in str(model) or " (hierarchical" in str(model) for model in self.models)
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
        """Most of the pool and its equal values, with labels by the first letter, or random ones."""
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
        arguments = [*map(str, (*self.models, *self.populated, *self.sized)), *(["people"] if self.people else [])]
        if self.populated:
            people = "people" if self.population_people else "rows"
            arguments.append(f"{self.population}: {people}, {self.others} more, {self.lacking:d} less")
        columns = "; ".join(f"{c.name} {c.type}: {c.lines or c.recipe}" for c in self.columns)
        how = f"k={self.k} limit={self.limit} {self.strategy} as {self.form}"
        return f"case {self.seed}: {how}; {columns}; {self.rows}; {arguments}"
