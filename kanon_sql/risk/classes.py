"""The classes of a table by their sizes, and the risks that follow from these alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from kanon_sql.privacy import THRESHOLDS, Histogram, PeopleByClass, estimated_uniqueness
from kanon_sql.privacy.risk_models import least_size
from kanon_sql.release.findings import Summary

_BANDS: Sequence[tuple[int, int | None]] = ((1, 1), (2, 2), (3, 4), (5, 10), (11, 19), (20, None))


@dataclass(frozen=True)
class ClassesOfSize:
    """The classes of one size (in people with a unit): their number, and the rows in all of them."""

    size: int
    classes: int
    rows: int


@dataclass(frozen=True)
class Band:
    """The classes with sizes from `least` to `most`, None for no bound.

    `people`: the people whose smallest class is one of these, so that every person is in one band; None if rows count.
    """

    least: int
    most: int | None
    classes: int
    rows: int
    people: int | None

    @property
    def sizes(self) -> str:
        """The sizes in words."""
        if self.most is None:
            return f"{self.least} or more"
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"


@dataclass(frozen=True)
class RowsAboveThreshold:
    """The rows whose prosecutor's risk is above a threshold, the people with such a row, and their share.

    `people`: None if rows count; `share`: of the people, otherwise of the rows.
    """

    risk: float
    rows: int
    people: int | None
    share: float


@dataclass(frozen=True)
class Classes:
    """All classes of a table that is not empty.

    `of_people`: the number of people by the size of their smallest class; None if rows count.
    """

    by_size: Sequence[ClassesOfSize]
    of_people: PeopleByClass | None = None

    @property
    def rows(self) -> int:
        return sum(group.rows for group in self.by_size)

    @property
    def number(self) -> int:
        return sum(group.classes for group in self.by_size)

    @property
    def people(self) -> int | None:
        """The number of different people; None if rows count."""
        return None if self.of_people is None else self.of_people.number

    @property
    def counted(self) -> int:
        """The number of people, or of rows if these count."""
        return self.rows if self.people is None else self.people

    @property
    def members(self) -> int:
        """The sum of the sizes of all classes: a person in two classes counts twice."""
        return sum(group.size * group.classes for group in self.by_size)

    @property
    def smallest(self) -> int:
        """The size of the smallest class: the largest k for which the table is k-anonymous."""
        return self.by_size[0].size

    @property
    def histogram(self) -> Histogram:
        return [(group.size, group.classes) for group in self.by_size]

    @property
    def bands(self) -> tuple[Band, ...]:
        """The classes by commonly used bands of sizes."""
        found = []
        for least, most in _BANDS:
            inside = [group for group in self.by_size if group.size >= least and (most is None or group.size <= most)]
            classes = sum(group.classes for group in inside)
            people = None if self.of_people is None else self.of_people.between(least, most)
            found.append(Band(least, most, classes, sum(group.rows for group in inside), people))
        return tuple(found)

    @property
    def highest(self) -> float:
        """The highest prosecutor's risk."""
        return 1 / self.smallest

    @property
    def mean(self) -> float:
        """The mean prosecutor's risk, and the marketer's: classes over rows; people count at their smallest class."""
        return self.number / self.rows if self.of_people is None else self.of_people.mean

    @property
    def above(self) -> tuple[RowsAboveThreshold, ...]:
        """The rows whose prosecutor's risk is above the usual thresholds."""
        found = []
        for risk in THRESHOLDS:
            rows = sum(group.rows for group in self.by_size if group.size < least_size(risk))
            people = None if self.of_people is None else self.of_people.above(risk)
            share = (rows if people is None else people) / self.counted
            found.append(RowsAboveThreshold(risk, rows, people, share))
        return tuple(found)

    def uniqueness(self, sampling_fraction: float) -> float | None:
        """The share of the population that is unique, estimated by Dankar's rule; None without an estimate."""
        share = estimated_uniqueness(self.histogram, sampling_fraction)
        return share if share == share else None


def classes_of(summary: Summary) -> Classes:
    """The classes by size of a relation whose models were checked, in rows, or in people if these were counted."""
    by_size = []
    for size, group in groupby(summary.sizes, key=itemgetter(0)):
        of_size = [(rows, classes) for _, rows, classes in group]
        rows = sum(rows * classes for rows, classes in of_size)
        by_size.append(ClassesOfSize(size, sum(classes for _, classes in of_size), rows))
    return Classes(by_size, summary.of_people)
