"""The possible released version of every source row: a released row whose labels cover all of its values.

A release does not record which row is which. If classes do not overlap, the fitting row is unique; otherwise it is
drawn by the likelihood under the uniform spread.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanon_sql.queries import Relation
from kanon_sql.utility.attribute import Floats, Integers, SharedColumn
from kanon_sql.utility.sides import Sides, column_of


@dataclass(frozen=True)
class Drawn:
    """Rows drawn from a source with a seed: their codes, and the codes of their possible released versions.

    `has_released`: whether there is one; otherwise the row is suppressed.
    """

    exact: Integers
    released: Integers
    has_released: np.ndarray

    @property
    def unreleased(self) -> float:
        """The share of the drawn rows that no released row fits."""
        return float(1 - self.has_released.mean())


def drawn_rows(sides: Sides, most: int, seed: int) -> Drawn:
    """At most this many rows of the source, in an order that depends only on their contents and the seed."""
    tuples, n = sides.rows(sides.source)
    random = np.random.default_rng(seed)
    kept = np.sort(random.permutation(int(n.sum()))[:most])
    exact = tuples[np.searchsorted(np.cumsum(n), kept, "right")]
    exact = exact[random.permutation(len(exact))]
    distinct, whose = np.unique(exact, axis=0, return_inverse=True)
    classes, rows = sides.rows(sides.release)
    target, fitting = _fitting(sides, distinct)
    likely = _likelihoods(sides, distinct[target], classes[fitting]) * rows[fitting]
    chosen = _chosen(target, likely, whose.ravel(), random)
    has_released = chosen >= 0
    return Drawn(exact, classes[fitting[chosen]] if len(fitting) else exact * 0, has_released)


def _fitting(sides: Sides, tuples: Integers) -> tuple[Integers, Integers]:
    """The fitting pairs of a tuple and a distinct released row, by their positions, in the tuples' order.

    The columns are joined one by one over the prefixes of the released rows, as in an attack by linkage. Columns with
    values that the source lacks, such as noise, are ignored.
    """
    tables = sides.tables
    columns = {
        number: attribute
        for number, attribute in enumerate(sides.attributes)
        if not attribute.nearby.sum() + attribute.lost
    }
    names = [column_of(number) for number in range(len(sides.attributes))]
    classes = tables.create("classes", "attack_matching/classes", release=sides.release, labels=names)
    types = {"target": "INTEGER", **dict.fromkeys(names, "INTEGER")}
    targets = tables.load("targets", types, [range(len(tuples)), *tuples.T.tolist()])
    tables.create("places", "attack_matching/first_places", classes=classes)
    tables.create("fitting", "attack_matching/first_fitting", targets=targets)
    for number in sorted(columns, key=lambda number: columns[number].generalized):
        name = [column_of(number)]
        covers = _covers(sides, columns[number])
        tables.create(
            "next_places", "attack_matching/next_places", places=tables["places"], classes=classes, label=name
        )
        relations = {"fitting": tables["fitting"], "places": tables["next_places"], "covers": covers}
        tables.create("next_fitting", "attack_matching/next_fitting", targets=targets, value=name, **relations)
        tables.rename("next_places", "places")
        tables.rename("next_fitting", "fitting")
    fits = tables.create("fits", "attack_matching/fits", fitting=tables["fitting"], places=tables["places"])
    frame = tables.engine.frame(fits)
    target, fitting = frame["target"].to_numpy(np.int64), frame["class"].to_numpy(np.int64) - 1
    order = np.lexsort((fitting, target))
    return target[order], fitting[order]


def _covers(sides: Sides, attribute: SharedColumn) -> Relation:
    """The groups of values that codes cover, as keys."""
    pairs = [[f"={number}" for number in side.tolist()] for side in np.nonzero(attribute.weights)]
    return sides.tables.load("covers", {"label": "VARCHAR", "value": "VARCHAR"}, pairs)


def _likelihoods(sides: Sides, exact: Integers, released: Integers) -> Floats:
    """The likelihoods of pairs of an exact row and a released row."""
    likely = np.ones(len(exact))
    for number, attribute in enumerate(sides.attributes):
        if not attribute.nearby.sum() + attribute.lost:
            likely *= attribute.weights[released[:, number], exact[:, number]]
    return likely


def _chosen(target: Integers, likely: Floats, whose: Integers, random: np.random.Generator) -> Integers:
    """A drawn pair for every row, by its tuple `whose`; -1 if the tuple has no pair."""
    tuples = int(whose.max()) + 1
    sums = np.bincount(target, likely, tuples)
    up_to = target + np.cumsum(likely / sums[target]) - _before(target, likely / sums[target], tuples)
    places = np.searchsorted(up_to, whose + random.random(len(whose)) * (1 - 1e-9), "left")
    return np.where(np.isin(whose, target), np.minimum(places, max(0, len(target) - 1)), -1)


def _before(target: Integers, shares: Floats, tuples: int) -> Floats:
    """The sum of the shares of all earlier tuples."""
    of_tuple = np.bincount(target, shares, tuples)
    return (np.cumsum(of_tuple) - of_tuple)[target].astype(float)
