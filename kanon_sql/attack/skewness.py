"""Skewness and similarity: classes with other shares than the table's, and classes of similar values.

Source: N. Li, T. Li, S. Venkatasubramanian, "t-closeness", ICDE 2007, section 3: what l-diversity does not prevent.
"""

from __future__ import annotations

from collections.abc import Iterator

from kanon_sql import queries
from kanon_sql.attack.dealing import SensitiveValues, values_of
from kanon_sql.attack.material import Attack, Material
from kanon_sql.attack.outcome import Outcome
from kanon_sql.generalization.values import key
from kanon_sql.queries import Hole

_TIMES, _POINTS = 2, 0.1  # twice the share, and ten points more
_BAND = 3  # values are near if at most a third of the rows lies between the smallest and the largest
_Found = tuple[tuple[float, ...], float, str]


def _skewness(material: Material) -> Iterator[Outcome]:
    """The attacker compares the shares of values in a person's class with the whole release."""
    for column in material.sensitive:
        release, holes = material.release, dict[str, Hole](times=_TIMES, points=_POINTS)
        values = values_of(material, column, by_people=bool(release.unit))
        holes |= {"overall": values.shares, "total": release.people}
        (affected, classes, largest), chance = values.figures(
            "attack_attributes/skewed", "attack_attributes/skewed_people", **holes
        )
        yield material.outcome(
            "skewness",
            f"{int(affected):,} of {release.people:,} {release.who} are in {int(classes):,} classes where a "
            f"value of {column} is at least twice as frequent as in the whole release, and by ten points or more.",
            column,
            int(affected),
            baseline=chance,
            figures={"classes": int(classes), "largest_ratio": largest},
            avoid=f"require t-closeness or β-likeness of {column}, or raise k",
        )


def _similarity(material: Material) -> Iterator[Outcome]:
    """The attacker learns what the different values of a person's class have in common: all low, all of one kind."""
    for column in material.sensitive:
        release = material.release
        values = values_of(material, column, by_people=bool(release.unit))
        ordered = release.column(column).ordered
        found = _near(values) if ordered else _kindred(values)
        if found is None:
            continue
        (affected, classes), chance, how = found
        yield material.outcome(
            "similarity",
            f"{int(affected):,} of {release.people:,} {release.who} are in {int(classes):,} classes with several "
            f"values of {column}, but {how}.",
            column,
            int(affected),
            baseline=chance,
            figures={"classes": int(classes)},
            avoid=f"require t-closeness of {column} by its {'ordered' if ordered else 'hierarchical'} distance",
        )


def _near(values: SensitiveValues) -> _Found:
    """Classes whose values lie in a band with at most a third of the release's rows."""
    holes: dict[str, Hole] = {"overall": values.overall, "most": values.number // _BAND}
    found, chance = values.figures("attack_attributes/near_values", "attack_attributes/near_people", **holes)
    all_of = "values of people" if values.by_people else "rows"
    how = f"all near each other: at most a third of all {all_of} lies between the smallest and the largest"
    return found, chance, how


def _kindred(values: SensitiveValues) -> _Found | None:
    """Classes whose values are in one group, on the level below the top of the column's hierarchy."""
    material, column = values.material, values.column
    everything = queries.select_all(values.overall, material.tables.engine.dialect)
    raw = [(int(number), value) for number, value, *_ in material.tables.rows_as(everything)]
    hierarchy = material.hierarchy(material.release.column(column), [value for _, value in raw])
    if hierarchy is None or hierarchy.height < 2:
        material.note(
            f"it is not known which values of {column} are similar; put a hierarchy of it, {column}.csv, next to those "
            "of the quasi-identifiers to try similarity"
        )
        return None
    level = hierarchy.height - 1
    group = dict(zip(map(key, hierarchy.values), hierarchy.codes(level), strict=False))
    kin = [group.get(key(value)) for _, value in raw]
    types = {"value": "BIGINT", "kin": "BIGINT"}
    groups = material.tables.load("groups", types, [[number for number, _ in raw], kin])
    found, chance = values.figures(
        "attack_attributes/kindred_values", "attack_attributes/kindred_people", groups=groups
    )
    return found, chance, "all of one group of its hierarchy"


SKEWNESS = Attack(
    "skewness",
    "Look for values that are far more frequent in a person's class than in the whole release.",
    _skewness,
    ("sensitive",),
)
SIMILARITY = Attack(
    "similarity",
    "Check whether the different values of a person's class are all near each other, or of one kind.",
    _similarity,
    ("sensitive",),
)
