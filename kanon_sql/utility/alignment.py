"""The possible released version of every source row: a released row whose labels cover all of its values.

A release does not record which row is which. If classes do not overlap, the fitting row is unique; otherwise it is
drawn by the likelihood under the uniform spread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kanon_sql.frequency.code_arrays import starts_of
from kanon_sql.utility.attribute import Floats, Int64s, SharedColumn
from kanon_sql.utility.coded_rows import CodedRows
from kanon_sql.utility.sides import Sides


@dataclass(frozen=True)
class Drawn:
    """Rows drawn from a source with a seed: their codes, and the codes of their possible released versions.

    `has_released`: whether one exists; otherwise the row is suppressed.
    """

    exact: Int64s
    released: Int64s
    has_released: np.ndarray

    @property
    def unreleased(self) -> float:
        """The share of the drawn rows that no released row fits."""
        return float(1 - self.has_released.mean())


def drawn_rows(sides: Sides, most: int, seed: int) -> Drawn:
    """At most this many rows of the source, in an order that depends only on their contents and the seed."""
    columns = tuple(range(len(sides.attributes)))
    random = np.random.default_rng(seed)
    exact = sides.source.in_order(columns, np.sort(random.permutation(len(sides.source.codes[0]))[:most]))
    exact = exact[random.permutation(len(exact))]
    distinct, whose = np.unique(exact, axis=0, return_inverse=True)
    compared = _compared(sides.attributes)
    released_tuples = sides.release.counted((*compared, *(column for column in columns if column not in compared)))
    assert released_tuples.rows is not None
    target, fitting = _fitting(sides.attributes, distinct, released_tuples, compared)
    released = np.column_stack([released_tuples.codes[column][fitting].astype(np.int64) for column in columns])
    in_order = np.lexsort((*reversed(released.T), target))
    target, fitting, released = target[in_order], fitting[in_order], released[in_order]
    likely = _likelihoods(sides, distinct[target], released) * released_tuples.rows[fitting]
    chosen = _chosen(target, likely, whose.ravel(), random)
    has_released = chosen >= 0
    return Drawn(exact, released[chosen] if len(fitting) else exact * 0, has_released)


def _compared(attributes: Sequence[SharedColumn]) -> list[int]:
    """The columns without values that the source lacks, such as noise; those with the most exact labels first."""
    compared = [number for number, attribute in enumerate(attributes) if not attribute.nearby.sum() + attribute.lost]
    return sorted(compared, key=lambda number: attributes[number].generalized)


def _fitting(
    attributes: Sequence[SharedColumn], tuples: Int64s, released: CodedRows, compared: Sequence[int]
) -> tuple[Int64s, Int64s]:
    """The fitting pairs of a tuple and a distinct released row, by their places.

    The columns are compared one by one over the prefixes of the sorted released rows, as in an attack by linkage.
    `released`: sorted by the `compared` columns.
    """
    rows = len(released.codes[0])
    prefix = np.zeros(rows, dtype=np.int64)  # of every row
    target = np.arange(len(tuples))
    fitting = np.zeros(len(tuples), dtype=np.int64)  # and its prefixes that fit
    for number in compared:
        cells = prefix * len(attributes[number].weights) + released.codes[number]
        starts = starts_of(cells)
        target, fitting = _extended(attributes[number], tuples[:, number], target, fitting, cells[starts])
        prefix = np.repeat(np.arange(len(starts)), np.diff(starts, append=rows))
    starts = np.searchsorted(prefix, np.arange(prefix.max() + 2))
    pair, place = _ranges(starts[fitting], starts[fitting + 1])
    return target[pair], place


def _extended(
    attribute: SharedColumn, groups: Int64s, target: Int64s, fitting: Int64s, cells: Int64s
) -> tuple[Int64s, Int64s]:
    """The pairs of a tuple and a prefix that is one column longer, from the pairs of a tuple and the shorter prefix.

    `groups`: of the tuples' values. `cells`: per longer prefix, the number of codes * the number of the prefix + code.
    Either the codes that cover a value are looked up among the prefixes, or the other way round, whichever are fewer.
    """
    size = len(attribute.weights)
    of_group, covering = np.nonzero(attribute.weights.T)
    ends = np.searchsorted(of_group, np.arange(attribute.weights.shape[1] + 1))
    by_code = ends[groups[target]], ends[groups[target] + 1]
    by_prefix = np.searchsorted(cells, fitting * size), np.searchsorted(cells, (fitting + 1) * size)
    if (by_code[1] - by_code[0]).sum() < (by_prefix[1] - by_prefix[0]).sum():
        pair, place = _ranges(*by_code)
        wanted = fitting[pair] * size + covering[place]
        longer = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
        fits = cells[longer] == wanted
    else:
        pair, longer = _ranges(*by_prefix)
        fits = attribute.weights[cells[longer] % size, groups[target[pair]]] > 0
    return target[pair[fits]], longer[fits]


def _ranges(starts: Int64s, ends: Int64s) -> tuple[Int64s, Int64s]:
    """All numbers of some ranges, with the number of the range."""
    sizes = ends - starts
    number = np.repeat(np.arange(len(sizes)), sizes)
    return number, np.arange(len(number)) + np.repeat(starts - np.cumsum(sizes) + sizes, sizes)


def _likelihoods(sides: Sides, exact: Int64s, released: Int64s) -> Floats:
    """The likelihoods of pairs of an exact row and a released row."""
    likely = np.ones(len(exact))
    for number, attribute in enumerate(sides.attributes):
        if not attribute.nearby.sum() + attribute.lost:
            likely *= attribute.weights[released[:, number], exact[:, number]]
    return likely


def _chosen(target: Int64s, likely: Floats, whose: Int64s, random: np.random.Generator) -> Int64s:
    """A drawn pair for every row, by its tuple `whose`; -1 if the tuple has no pair."""
    tuples = int(whose.max()) + 1
    sums = np.bincount(target, likely, tuples)
    shares = likely / sums[target]
    of_tuple = np.bincount(target, shares, tuples)
    before = (np.cumsum(of_tuple) - of_tuple)[target]  # the shares of all earlier tuples
    up_to = target + np.cumsum(shares) - before
    places = np.searchsorted(up_to, whose + random.random(len(whose)) * (1 - 1e-9), "left")
    return np.where(np.isin(whose, target), np.minimum(places, max(0, len(target) - 1)), -1)
