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

    def _dealt(self) -> Iterator[Relation]:
        tables, rows = self.material.tables, self.material.release.rows
        for deal, stride in enumerate(_strides(rows, _DEALS if rows <= _LARGE else _FEWER)):
            holes: dict[str, Hole] = {"stride": stride, "shift": deal, "rows": rows}
            yield tables.make("dealt", "attack/dealt_values", places=tables["places"], **holes)


def _strides(rows: int, count: int) -> list[int]:
    """Numbers that have no factor in common with the rows: with each of them places and turns meet in another order."""
    return list(islice((stride for stride in accumulate(repeat(2), initial=31) if gcd(stride, rows) == 1), count))


def values_of(material: Material, column: str) -> Values:
    """The values of a sensitive column, counted and ready to be dealt with the material's seed."""
    release, value = material.release, material.release.plain([column])
    holes: dict[str, Hole] = {"release": release.relation, "value": value}
    labels = release.plain(material.quasi_identifiers)
    material.tables.make("places", "attack/dealt_places", labels=labels, seed=str(material.seed), **holes)
    material.tables.make("overall", "attack/overall_values", **holes)
    return Values(material, column)
