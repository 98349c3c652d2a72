"""Risks of classes by their sizes, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from kanon_sql.privacy import ClassCount, Histogram


def histogram(sizes: Sequence[int]) -> Histogram:
    return sorted(Counter(sizes).items())


def alike(sizes: Sequence[int]) -> list[ClassCount]:
    """Classes of these sizes, without a population."""
    return [ClassCount(size, 0, classes) for size, classes in histogram(sizes)]


Row = Mapping[str, Any]


@dataclass(frozen=True)
class Counted:
    """A table by its classes, counted row by row: the rows, or the people that a column tells apart, of each."""

    rows: Sequence[Row]
    quasi_identifiers: Sequence[str]
    unit: str | None = None

    @property
    def classes(self) -> list[list[Row]]:
        classes: dict[Any, list[Row]] = {}
        for row in self.rows:
            classes.setdefault(tuple(row[name] for name in self.quasi_identifiers), []).append(row)
        return list(classes.values())

    def size(self, rows: Sequence[Row]) -> int:
        return len(rows) if self.unit is None else len({row[self.unit] for row in rows})

    @property
    def sizes(self) -> list[int]:
        return [self.size(class_) for class_ in self.classes]

    @property
    def smallest_of(self) -> dict[Any, int]:
        """Everybody (or every row) with the size of the smallest class that they are in."""
        smallest: dict[Any, int] = {}
        rows = [(row, self.size(class_)) for class_ in self.classes for row in class_]
        for number, (row, size) in enumerate(rows):
            somebody = number if self.unit is None else row[self.unit]
            smallest[somebody] = min(size, smallest.get(somebody, size))
        return smallest

    @property
    def people(self) -> int | None:
        return None if self.unit is None else len(self.smallest_of)

    def band(self, least: int, most: int | None) -> tuple[int, int, int | None]:
        """Classes and rows of the classes with a size between two, and the people whose smallest class is one."""
        inside = [class_ for class_ in self.classes if least <= self.size(class_) <= (most or len(self.rows))]
        people = sum(least <= size <= (most or len(self.rows)) for size in self.smallest_of.values())
        return len(inside), sum(map(len, inside)), None if self.unit is None else people

    def above(self, risk: float) -> tuple[int, int | None, Fraction]:
        """Rows and people with a prosecutor's risk above a threshold, and the share of all people (or rows)."""
        small = [class_ for class_ in self.classes if Fraction(1, self.size(class_)) > Fraction(str(risk))]
        people = sum(Fraction(1, size) > Fraction(str(risk)) for size in self.smallest_of.values())
        share = Fraction(people, len(self.smallest_of))
        return sum(map(len, small)), None if self.unit is None else people, share

    @property
    def mean(self) -> Fraction:
        """The mean over all people (or rows) of the prosecutor's risk in the smallest class of each."""
        return sum((Fraction(1, size) for size in self.smallest_of.values()), Fraction()) / len(self.smallest_of)

    def values(self, rows: Sequence[Row], column: str) -> Counter[Any]:
        """The rows (people) with each value of a column."""
        return Counter({v: self.size([r for r in rows if r[column] == v]) for v in {row[column] for row in rows}})

    def of_values(self, column: str) -> list[Counter[Any]]:
        return [self.values(class_, column) for class_ in self.classes]

    def certain(self, column: str) -> int:
        """The rows (different people) of classes in which everybody has the most frequent value."""
        homogeneous = [
            class_ for class_ in self.classes if max(self.values(class_, column).values()) == self.size(class_)
        ]
        return self.size([row for item in homogeneous for row in item])

    def attribution(self, column: str) -> Fraction:
        right = sum(max(values.values()) for values in self.of_values(column))
        return Fraction(right, sum(self.sizes))

    def in_common(self, rows: Sequence[Row], column: str) -> bool:
        """Whether some value is that of every row, or that every person has."""
        who = [number if self.unit is None else row[self.unit] for number, row in enumerate(rows)]
        return any(
            {one for one, row in zip(who, rows, strict=True) if row[column] == value} == {*who}
            for value in {row[column] for row in rows}
        )

    def homogeneous(self, column: str) -> tuple[int, int, int | None]:
        """Classes in which every row (or person) has one value in common, their rows, and the people in them."""
        same = [class_ for class_ in self.classes if self.in_common(class_, column)]
        people = None if self.unit is None else len({row[self.unit] for item in same for row in item})
        return len(same), sum(map(len, same)), people


def people_alone(rows: Sequence[Row], names: Sequence[str], unit: str) -> int:
    """The people with a row that no other person's row equals."""
    people: dict[tuple[Any, ...], set[Any]] = {}
    for row in rows:
        people.setdefault(tuple(row[name] for name in names), set()).add(row[unit])
    return len(set().union(*(members for members in people.values() if len(members) == 1)))


def separated(rows: Sequence[Row], columns: Sequence[str]) -> tuple[Fraction, Fraction, int]:
    """Distinction, separation and unique rows of some columns, pair by pair."""
    tuples = [tuple(row[name] for name in columns) for row in rows]
    pairs = list(combinations(tuples, 2))
    counts = Counter(tuples)
    share = Fraction(sum(one != other for one, other in pairs), len(pairs)) if pairs else Fraction(1)
    return Fraction(len(counts), len(rows)), share, sum(n == 1 for n in counts.values())
