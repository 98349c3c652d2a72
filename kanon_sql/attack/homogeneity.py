"""Homogeneity: in a class in which all have the same sensitive value, every person has that value.

Source: A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "l-diversity", ICDE 2006, section 1.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kanon_sql.attack.matching import classes_of, values_of_classes
from kanon_sql.attack.material import Attack, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.queries import Hole, Relation


def _homogeneous(material: Material) -> Iterator[Outcome]:
    tables, release = material.tables, material.release
    for column in material.sensitive:
        if release.unit:
            holes: dict[str, Any] = {"release": release.relation, "value": release.plain([column])}
            holes |= {"unit": release.unit, "quasi_identifiers": ["class"], "names": ["class"]}
            ((classes, _, people),) = tables.rows("privacy/homogeneous_people", **holes)
        else:
            ranges = ranges_of_classes(material, column)
            ((people, classes),) = tables.rows("attack_attributes/one_value", classes=ranges)
        yield material.outcome(
            "homogeneity",
            f"{int(people):,} of {release.people:,} {release.who} are in {int(classes):,} classes with a single value "
            f"of {column}: finding a person's class reveals it.",
            column,
            int(people),
            baseline=by_chance(material, column),
            figures={"classes": int(classes)},
            avoid=f"require l-diversity of {column}",
        )


def ranges_of_classes(material: Material, column: str) -> Relation:
    """The classes, with the smallest and largest number of their values in a sensitive column as `low` and `high`."""
    tables, stem = material.in_common.tables, f"ranges_{material.release.columns[column]}"
    if stem in tables:
        return tables[stem]
    values, labels = values_of_classes(material, column), material.release.plain(material.quasi_identifiers)
    holes: dict[str, Hole] = {"classes": classes_of(material, material.release), "labels": labels, "values": values}
    return tables.create(stem, "attack_attributes/ranges_of_classes", **holes)


def by_chance(material: Material, column: str) -> float:
    """The expected share of rows in homogeneous classes if a column's values were assigned to classes at random."""
    tables, release = material.tables, material.release
    of_value = tables.rows("attack_attributes/value_rows", release=release.relation, value=release.plain([column]))
    sizes = tables.rows("attack_attributes/class_sizes", classes=classes_of(material, release))
    shares = [int(n) / release.rows for (n,) in of_value]
    expected = sum(size * classes * sum(share**size for share in shares) for size, classes in sizes)
    return float(expected / release.rows)


HOMOGENEITY = Attack(
    "homogeneity",
    "Find a person's class, and check whether it has a single sensitive value.",
    _homogeneous,
    ("sensitive",),
)
