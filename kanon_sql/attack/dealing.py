"""The sensitive values of the classes, and the same values dealt at random to them: what chance alone gives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, islice, repeat
from math import gcd
from statistics import mean, stdev

from kanon_sql.attack.material import Material
from kanon_sql.queries import Hole, Relation

_DEALS, _FEWER, _LARGE = 20, 5, 100_000  # of many rows every dealing is alike
_DEVIATIONS = 3


@dataclass(frozen=True)
class Values:
    """A sensitive column of the release: its values by class, and overall, as numbers in their order."""

    material: Material
    column: str
    number: int  # of the places: rows, or values of people

    @property
    def overall(self) -> Relation:
        """Each value's number, the value itself, its rows in the release, and those up to it."""
        return self.material.tables["overall"]

    def figures(self, query: str, **holes: Hole) -> tuple[tuple[float, ...], float]:
        """What a query gives of the classes' values, and the share of rows that chance gives it.

        The query's hole `counted` is filled: class, value, n. Its first figure is a number of rows. Chance gives what
        hardly any dealing exceeds, so that a class more or less is no finding: the mean of several, three standard
        deviations, and one class.
        """
        tables = self.material.tables
        counted = tables.make("counted", "attack/values_of_places", places=tables["places"])
        (found,) = tables.rows(query, counted=counted, **holes)
        dealt = [float(tables.rows(query, counted=each, **holes)[0][0]) for each in self._dealt()]
        ((classes,),) = tables.rows("attack/class_count", places=tables["places"])
        rows = self.material.release.rows
        return found, min(1.0, (mean(dealt) + _DEVIATIONS * stdev(dealt)) / rows + 1 / classes)

    def people_with_values(self) -> Relation:
        """Each value's number, and the people who have it."""
        tables = self.material.tables
        places: dict[str, Hole] = {"places": tables["places"], "numbered": tables["numbered"]}
        return tables.make("shares", "attack/shares_of_people", **places)

    def figures_of_people(self, query: str, **holes: Hole) -> tuple[tuple[float, ...], float]:
        """The same of people, whom the release tells apart; the query's hole `held` is filled: class, value, person."""
        tables, everybody = self.material.tables, self.material.release.people
        places: dict[str, Hole] = {"places": tables["places"], "numbered": tables["numbered"]}
        held = tables.make("shown", "attack/placed_people", **places)
        (found,) = tables.rows(query, held=held, **holes)
        dealt = []
        for deal, stride in enumerate(_strides(self.number, _DEALS if self.number <= _LARGE else _FEWER)):
            turn: dict[str, Hole] = {"stride": stride, "shift": deal, "rows": self.number}
            held = tables.make("dealt", "attack/dealt_people", **places, **turn)
            dealt.append(float(tables.rows(query, held=held, **holes)[0][0]))
        ((classes,),) = tables.rows("attack/class_count", places=tables["places"])
        return found, min(1.0, (mean(dealt) + _DEVIATIONS * stdev(dealt)) / everybody + 1 / classes)

    def _dealt(self) -> Iterator[Relation]:
        tables, rows = self.material.tables, self.material.release.rows
        for deal, stride in enumerate(_strides(rows, _DEALS if rows <= _LARGE else _FEWER)):
            holes: dict[str, Hole] = {"stride": stride, "shift": deal, "rows": rows}
            yield tables.make("dealt", "attack/dealt_values", places=tables["places"], **holes)


def _strides(rows: int, count: int) -> list[int]:
    """Numbers that have no factor in common with the rows: with each of them places and turns meet in another order."""
    return list(islice((stride for stride in accumulate(repeat(2), initial=31) if gcd(stride, rows) == 1), count))


def values_of(material: Material, column: str, by_people: bool = False) -> Values:
    """The values of a sensitive column, counted and ready to be dealt with the material's seed.

    `by_people`: each value of a person in a class once, where the release tells people apart.
    """
    release, value = material.release, material.release.plain([column])
    labels, relation, number = release.plain(material.quasi_identifiers), release.relation, release.rows
    if by_people:
        columns: dict[str, Hole] = {"columns": [*labels, *value], "unit": release.unit}
        relation = material.tables.make("held", "attack/held_values", release=relation, **columns)
        material.tables.make("numbered", "attack/numbered_people", held=relation, labels=labels)
        number = material.tables.count(relation)
    holes: dict[str, Hole] = {"release": relation, "value": value}
    material.tables.make("places", "attack/dealt_places", labels=labels, seed=str(material.seed), **holes)
    material.tables.make("overall", "attack/overall_values", **holes)
    return Values(material, column, number)
