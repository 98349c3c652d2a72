"""The sensitive values of the classes, and random assignments of the same values as the chance baseline."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, islice, repeat
from math import gcd
from statistics import mean, stdev

from kanon_sql.attack.matching import SAMPLE, classes_of, drawn_classes, values_in_order, values_of_classes
from kanon_sql.attack.material import Material
from kanon_sql.engines.scratch import Scratch
from kanon_sql.queries import Hole, Relation, Same

_DEALS, _FEWER = 20, 5  # with many rows, random assignments hardly differ
_DEVIATIONS = 3


@dataclass(frozen=True)
class SensitiveValues:
    """A sensitive column of the release: its values by class, and overall, as numbers in their order.

    `counted`: the values of the classes (class, value, n rows), or of the people in them (class, value, person).
    `overall`: for every value its number, the value, its rows in the release, and the cumulated rows up to it.
    `places`, `turns`: the rows to which values are dealt, and the values. `number` of rows, or of values of people.
    `classes`: the number of classes.
    """

    material: Material
    column: str
    by_people: bool
    counted: Relation
    overall: Relation
    places: Relation
    turns: Relation
    number: int
    classes: int

    @property
    def shares(self) -> Relation:
        """For every value: its number, and the rows or people that have it."""
        if not self.by_people:
            return self.overall
        return self.material.tables.create("shares", "attack_dealing/shares_of_people", held=self.counted)

    def figures(self, query: str, of_people: str = "", /, **holes: Hole) -> tuple[tuple[float, ...], float]:
        """The figures of a query on the classes' values, and the share of rows or people that chance explains.

        `query` has the hole `counted` (class, value, n rows); `of_people` replaces it if people are counted, and has
        the hole `held` (class, value, person). The first figure is a number of rows or people. The chance share is the
        mean of several random assignments, plus three standard deviations and one class, so that a single class is not
        a finding. In a large release, values are assigned to the rows of a sample of whole classes.
        """
        if self.by_people:
            tables, query, hole = self.material.tables, of_people, "held"
        else:
            tables, hole = self.material.in_common.tables, "counted"
        (figures,) = tables.rows(query, **{hole: self.counted}, **holes)
        person: dict[str, Hole] = {"person": ["person" if self.by_people else "place"]}
        ((rows, people),) = tables.rows("attack_dealing/dealt_to", places=self.places, **person)
        # Every number coprime to the rows assigns places to turns in another order.
        strides = (stride for stride in accumulate(repeat(2), initial=31) if gcd(stride, rows) == 1)
        by_chance = []
        for shift, stride in enumerate(islice(strides, _DEALS if self.number <= SAMPLE else _FEWER)):
            deal = self._dealt(tables, stride=stride, shift=shift, rows=rows)
            by_chance.append(float(tables.rows(query, **{hole: deal}, **holes)[0][0]))
        return figures, min(1.0, (mean(by_chance) + _DEVIATIONS * stdev(by_chance)) / people + 1 / self.classes)

    def _dealt(self, tables: Scratch, shift: int, **turn: Hole) -> Relation:
        """A random assignment; attacks on rows have it in common, like its places."""
        of_places: dict[str, Hole] = {"places": self.places, "turns": self.turns, "shift": shift, **turn}
        if self.by_people:
            return tables.create("dealt", "attack_dealing/dealt_people", **of_places)
        stem = f"dealt_{shift}_{self.material.release.columns[self.column]}"
        if stem in tables:
            return tables[stem]
        return tables.create(stem, "attack_dealing/dealt_values", **of_places)


def values_of(material: Material, column: str, by_people: bool = False) -> SensitiveValues:
    """The values of a sensitive column, counted and prepared for random assignments with the material's seed.

    `by_people`: every value of a person in a class counts once, if the release has a unit. Attacks on rows have all
    tables in common.
    """
    release, value = material.release, material.release.plain([column])
    tables = material.tables if by_people else material.in_common.tables
    rows, number = release.relation, release.rows
    classes = classes_of(material, release)
    if by_people:
        rows = tables.create("people", "attack_dealing/held_values", release=rows, value=value, unit=release.unit)
        overall = tables.create("overall", "attack_dealing/values_in_order", release=rows, value=value)
        held: dict[str, Hole] = {"held": rows, "value": value, "overall": overall, "same": Same(["raw"], "o", "h")}
        counted, number = tables.create("held", "attack_dealing/values_of_people", **held), tables.count(rows)
        ((class_count,),) = tables.rows("attack_dealing/class_count", counted=counted)
    else:
        counted, overall = values_of_classes(material, column), values_in_order(material, column)
        class_count = tables.count(classes)
    places, is_large = f"places_{value[0]}", number > SAMPLE
    turns = f"turns_{value[0]}" if is_large else places
    if by_people or tables.unused(places) == places:
        holes: dict[str, Hole] = {"release": rows, "value": value, "overall": overall, "seed": str(material.seed)}
        holes |= {"classes": drawn_classes(material) if is_large else classes, "same": Same(["raw"], "o", "r")}
        tables.create(places, "attack_dealing/places", person=["person"] if by_people else [], **holes)
    if is_large and (by_people or tables.unused(turns) == turns):
        dealt: dict[str, Hole] = {"places": tables.count(places), "total": number, "seed": str(material.seed)}
        tables.create(turns, "attack_dealing/turns", overall=overall, **dealt)
    return SensitiveValues(
        material=material,
        column=column,
        by_people=by_people,
        counted=counted,
        overall=overall,
        places=tables[places],
        turns=tables[turns],
        number=number,
        classes=class_count,
    )
