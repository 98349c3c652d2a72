"""Homogeneity: in a class in which all have the same sensitive value, every person has that value.

Source: A. Machanavajjhala, J. Gehrke, D. Kifer, M. Venkitasubramaniam, "l-diversity", ICDE 2006, section 1.1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kanon_sql.attack.material import Attack, Material
from kanon_sql.attack.outcome import Outcome


def _homogeneous(material: Material) -> Iterator[Outcome]:
    for column in material.sensitive:
        yield _of_column(material, column)


def _of_column(material: Material, column: str) -> Outcome:
    tables, release = material.tables, material.release
    plain, value, relation = release.plain(material.quasi_identifiers), release.plain([column]), release.relation
    holes: dict[str, Any] = {"release": relation, "quasi_identifiers": plain}
    holes |= {"names": plain, "value": value}
    if release.unit:
        ((classes, _, people),) = tables.rows("privacy/homogeneous_people", unit=release.unit, **holes)
    else:
        ((classes, people, _),) = tables.rows("privacy/homogeneous", **holes)
    people = int(people)
    return Outcome(
        "homogeneity",
        f"{people:,} of {release.people:,} {release.who} are in {int(classes):,} classes with a single value of "
        f"{column}: finding a person's class reveals it.",
        attempts=release.people,
        successes=people,
        affected=people,
        baseline=by_chance(material, column),
        column=column,
        counted=release.who,
        figures={"classes": int(classes)},
        avoid=f"require l-diversity of {column}",
    )


def by_chance(material: Material, column: str) -> float:
    """The expected share of rows in homogeneous classes if a column's values were assigned to classes at random."""
    tables, release = material.tables, material.release
    of_value = tables.rows("attack_attributes/value_rows", release=release.relation, value=release.plain([column]))
    labels = release.plain(material.quasi_identifiers)
    sizes = tables.rows("release/class_sizes", release=release.relation, quasi_identifiers=labels)
    shares = [int(n) / release.rows for (n,) in of_value]
    expected = sum(size * classes * sum(share**size for share in shares) for size, classes in sizes)
    return float(expected / release.rows)


HOMOGENEITY = Attack(
    "homogeneity",
    "Find a person's class, and check whether it has a single sensitive value.",
    _homogeneous,
    ("sensitive",),
)
