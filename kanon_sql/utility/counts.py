"""Range-count queries: how far an answer from a release is from the answer of its source.

A query counts the rows within ranges of values (for unordered columns, sets of values) of two or three columns at once.
As in X. Xiao, Y. Tao, "Anatomy", VLDB 2006, section 6, the ranges are chosen so that the expected share of rows is the
selectivity if the columns are independent; shares are measured in rows of the source, not in values, so that this also
works for skewed columns. The relative error is over the exact answer, or a sanity bound of .1 %
of the rows where that is larger (X. Xiao, G. Wang, J. Gehrke, "Differential privacy via wavelet transforms", ICDE 2010,
section 7).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

import numpy as np

from kanon_sql.utility.attribute import Floats, SharedColumn

SELECTIVITY = 0.1
SANITY_BOUND = 0.001
_SUBSETS = 60  # of columns, at most


@dataclass(frozen=True)
class Query:
    """A count of the rows whose columns are in some groups of values: `groups` per number of a column."""

    subset: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class QueryErrors:
    """The relative errors of `queries` count queries.

    `selectivity`: the median share of the source's rows that they count.
    """

    queries: int
    median: float
    percentile_95: float
    selectivity: float


def drawn(attributes: Sequence[SharedColumn], queries: int, seed: int) -> list[Query]:
    """A number of queries of 2 or 3 columns with more than one group of values (of 1 if there is only one such)."""
    random = Random(f"queries {seed}")
    columns = [number for number, attribute in enumerate(attributes) if np.count_nonzero(attribute.group_rows) > 1]
    sizes = sorted({min(size, len(columns)) for size in (2, 3)})
    subsets = [subset for size in sizes if size for subset in combinations(columns, size)]
    if not subsets:
        return []
    kept = random.sample(subsets, min(_SUBSETS, len(subsets)))
    shares = [_shares(attribute) for attribute in attributes]
    return [_query(attributes, shares, kept[number % len(kept)], random) for number in range(queries)]


def _shares(attribute: SharedColumn) -> Floats:
    """The share of the source's rows per group."""
    shares: Floats = attribute.group_rows / attribute.group_rows.sum()
    return shares


def _query(
    attributes: Sequence[SharedColumn], shares: Sequence[Floats], subset: tuple[int, ...], random: Random
) -> Query:
    """A query of some columns: later columns compensate for deviations by columns with large groups."""
    wanted = SELECTIVITY
    groups = {}
    coarse_first = sorted(subset, key=lambda number: -shares[number].max())
    for left, number in zip(range(len(subset), 0, -1), coarse_first, strict=True):
        part = min(1.0, wanted ** (1 / left))
        groups[number] = tuple(_some_groups(attributes[number], shares[number], part, random))
        wanted /= shares[number][list(groups[number])].sum()
    return Query(subset, tuple(groups[number] for number in subset))


def _some_groups(attribute: SharedColumn, shares: Floats, wanted: float, random: Random) -> Iterator[int]:
    """At least one group, with about this share of the rows: a range if the column is ordered, without NULL."""
    taken = 0.0
    order = list(range(len(shares)))
    if attribute.ordered:
        order = [group for group in order if group != attribute.null_group] or order
        order = order[_start(shares[order], wanted, random) :]
    else:
        random.shuffle(order)
    for group in order:
        yield group
        taken += shares[group]
        if taken >= wanted:
            return


def _start(shares: Floats, wanted: float, random: Random) -> int:
    """A position to begin a range, so that enough rows follow."""
    before = np.cumsum(shares) - shares
    latest = max(0.0, shares.sum() - wanted)
    return int(np.searchsorted(before, random.random() * latest, "right")) - 1


def errors(rows: int, exact: Floats, estimated: Floats) -> QueryErrors:
    """The errors of the estimates; `exact`, `estimated`: the answers of every query."""
    relative = np.abs(estimated - exact) / np.maximum(exact, SANITY_BOUND * rows)
    median, high = np.percentile(relative, [50, 95])
    figures = (float(median), float(high), float(np.median(exact) / rows))
    return QueryErrors(len(exact), *(round(figure, 9) for figure in figures))
