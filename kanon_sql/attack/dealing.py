"""The sensitive values of the classes, and random assignments of the same values as the chance baseline."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, islice, repeat
from math import gcd
from statistics import mean, stdev

from kanon_sql.attack.material import Material
from kanon_sql.queries import Hole, Relation

_DEALS, _FEWER, _LARGE = 20, 5, 100_000  # with many rows, random assignments hardly differ
_DEVIATIONS = 3


@dataclass(frozen=True)
class Values:
    """A sensitive column of the release: its values by class, and overall, as numbers in their order."""

    material: Material
    column: str
    by_people: bool
    number: int  # of the places: rows, or values of people

    @property
    def overall(self) -> Relation:
        """For every value: its number, the value, its rows in the release, and the cumulated rows up to it."""
        return self.material.tables["overall"]

    @property
    def shares(self) -> Relation:
        """For every value: its number, and the rows or people that have it."""
        if not self.by_people:
            return self.overall
        return self.material.tables.create("shares", "attack_dealing/shares_of_people", **self._places)

    def figures(self, query: str, of_people: str = "", /, **holes: Hole) -> tuple[tuple[float, ...], float]:
        """The figures of a query on the classes' values, and the share of rows or people that chance explains.

        `query` has the hole `counted` (class, value, n rows); `of_people` replaces it if people are counted, and has
        the hole `held` (class, value, person). The first figure is a number of rows or people. The chance share is the
        mean of several random assignments, plus three standard deviations and one class, so that a single class is not
        a finding.
        """
        tables, release = self.material.tables, self.material.release
        if self.by_people:
            query, hole, real, random = of_people, "held", "attack_dealing/placed_people", "attack_dealing/dealt_people"
        else:
            hole, real, random = "counted", "attack_dealing/values_of_places", "attack_dealing/dealt_values"
        (figures,) = tables.rows(query, **{hole: tables.create(hole, real, **self._places)}, **holes)
        by_chance = []
        for shift, stride in enumerate(_strides(self.number, _DEALS if self.number <= _LARGE else _FEWER)):
            turn: dict[str, Hole] = {"stride": stride, "shift": shift, "rows": self.number}
            deal = tables.create("dealt", random, **self._places, **turn)
            by_chance.append(float(tables.rows(query, **{hole: deal}, **holes)[0][0]))
        everybody = release.people if self.by_people else release.rows
        ((number,),) = tables.rows("attack_dealing/class_count", places=tables["places"])
        return figures, min(1.0, (mean(by_chance) + _DEVIATIONS * stdev(by_chance)) / everybody + 1 / number)

    @property
    def _places(self) -> dict[str, Relation]:
        tables = self.material.tables
        return {"places": tables["places"]} | ({"numbered": tables["numbered"]} if self.by_people else {})


def _strides(rows: int, count: int) -> list[int]:
    """Numbers coprime to the rows, each of which assigns places to turns in another order."""
    return list(islice((stride for stride in accumulate(repeat(2), initial=31) if gcd(stride, rows) == 1), count))


def values_of(material: Material, column: str, by_people: bool = False) -> Values:
    """The values of a sensitive column, counted and prepared for random assignments with the material's seed.

    `by_people`: every value of a person in a class counts once, if the release has a unit.
    """
    release, value = material.release, material.release.plain([column])
    labels, relation, number = release.plain(material.quasi_identifiers), release.relation, release.rows
    if by_people:
        columns: dict[str, Hole] = {"columns": [*labels, *value], "unit": release.unit}
        relation = material.tables.create("held", "attack_dealing/held_values", release=relation, **columns)
        material.tables.create("numbered", "attack_dealing/numbered_people", held=relation, labels=labels)
        number = material.tables.count(relation)
    holes: dict[str, Hole] = {"release": relation, "value": value}
    material.tables.create("places", "attack_dealing/dealt_places", labels=labels, seed=str(material.seed), **holes)
    material.tables.create("overall", "attack_dealing/overall_values", **holes)
    return Values(material, column, by_people, number)
