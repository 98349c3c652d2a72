"""The classes of a table by their sizes, and the risks that follow from these alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.privacy import (
    UNIT,
    Histogram,
    Predicate,
    ReleaseModel,
    estimated_uniqueness,
    marketer_risk,
    prosecutor_risk,
)
from kanon_sql.privacy.risk import least_size
from kanon_sql.queries import Relation

THRESHOLDS = (0.05, 0.09, 0.2, 0.33, 0.5)
_BANDS: Sequence[tuple[int, int | None]] = ((1, 1), (2, 2), (3, 4), (5, 10), (11, 19), (20, None))


@dataclass(frozen=True)
class Alike:
    """The classes of one size: how many, and the rows in all of them; the size counts people where these are told."""

    size: int
    classes: int
    rows: int

    @property
    def people(self) -> int:
        """The people in all of them; somebody in two classes is in each of them."""
        return self.size * self.classes


@dataclass(frozen=True)
class Band:
    """The classes whose sizes lie between two, `most` None for no bound."""

    least: int
    most: int | None
    classes: int
    rows: int
    people: int

    @property
    def sizes(self) -> str:
        """The sizes in words."""
        if self.most is None:
            return f"{self.least} or more"
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"


@dataclass(frozen=True)
class Above:
    """The rows whose prosecutor's risk is above a threshold, and the share of people (or rows) that they are."""

    risk: float
    rows: int
    people: int
    share: float


@dataclass(frozen=True)
class Classes:
    """All classes of a table; it has some."""

    alike: Sequence[Alike]

    @property
    def rows(self) -> int:
        return sum(each.rows for each in self.alike)

    @property
    def number(self) -> int:
        return sum(each.classes for each in self.alike)

    @property
    def people(self) -> int:
        """The people in all classes, where somebody in two classes counts in each of them; rows, where rows count."""
        return sum(each.people for each in self.alike)

    @property
    def smallest(self) -> int:
        """The size of the smallest class: the largest k that holds."""
        return self.alike[0].size

    @property
    def histogram(self) -> Histogram:
        return [(each.size, each.classes) for each in self.alike]

    @property
    def bands(self) -> tuple[Band, ...]:
        """The classes by the sizes that norms and habits go by."""
        return tuple(self._band(least, most) for least, most in _BANDS)

    def _band(self, least: int, most: int | None) -> Band:
        inside = [each for each in self.alike if each.size >= least and (most is None or each.size <= most)]
        figures = (sum(each.classes for each in inside), sum(each.rows for each in inside))
        return Band(least, most, *figures, sum(each.people for each in inside))

    @property
    def highest(self) -> float:
        """The prosecutor's risk of who is at most risk."""
        return 1 / self.smallest

    @property
    def mean(self) -> float:
        """The prosecutor's mean risk, and the marketer's: the classes over the people."""
        return _figure(marketer_risk(1), self)

    @property
    def above(self) -> tuple[Above, ...]:
        """The rows whose prosecutor's risk is above each of the usual thresholds."""
        return tuple(self._above(risk) for risk in THRESHOLDS)

    def _above(self, risk: float) -> Above:
        (model,) = prosecutor_risk(above=risk, share=0)
        small = [each for each in self.alike if each.size < least_size(risk)]
        share = _figure(model, self)
        return Above(risk, sum(each.rows for each in small), sum(each.people for each in small), share)

    def uniqueness(self, sampling_fraction: float) -> float | None:
        """The share of the population that is unique, as Dankar's rule estimates it; None where it finds none."""
        share = estimated_uniqueness(self.histogram, sampling_fraction)
        return share if share == share else None


def _figure(model: object, classes: Classes) -> float:
    assert isinstance(model, ReleaseModel)
    return model.figure(classes.histogram)


def classes_of(engine: Engine, relation: Relation, quasi_identifiers: Sequence[str], unit: str | None) -> Classes:
    """Count the classes of a table by size: the rows in them, or the people that a column tells apart."""
    plain = {name: column for column, name in queries.plain_names(quasi_identifiers).items()}
    text = queries.text(
        "privacy/release_class_sizes",
        engine.dialect,
        release=relation,
        quasi_identifiers=plain | ({UNIT: unit} if unit else {}),
        names=list(plain),
        size=Predicate("SUM(n)", unit=UNIT if unit else None),
    )
    return Classes([Alike(int(size), int(many), int(rows)) for size, *_, many, rows, _ in engine.rows(text)])
