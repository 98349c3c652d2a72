"""Categories with similar rows in other columns, merged step by step: the agglomerative information bottleneck.

N. Slonim, N. Tishby, NIPS 1999: the pair of groups is merged that loses the least information about the other columns,
whose distributions are smoothed by the distribution of all rows. The result is not semantic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.float64]  # categories x values of another column

_SMOOTHING = 5.0  # rows of the whole table that are added to every category


def grouped(rows: Sequence[int], co_counts: Sequence[Counts], sizes: Sequence[int]) -> list[list[int]]:
    """The groups of the categories, nested, as a list for every number of groups in the decreasing `sizes`.

    `rows`: per category. `co_counts`: their counts by the values of another column, one array per column.

    >>> left, right = [9.0, 1.0], [1.0, 9.0]
    >>> grouped([10, 10, 10, 10], [np.array([left, right, left, right])], [2])
    [[0, 1, 0, 1]]
    """
    shares = [_smoothed(counts) for counts in co_counts]
    profiles = np.concatenate(shares, axis=1) if shares else np.zeros((len(rows), 1))
    weights = np.asarray(rows, float)
    members: list[list[int]] = [[row] for row in range(len(rows))]
    found: list[list[int]] = []
    for size in sizes:
        while len(members) > size:
            first, second = _closest(weights, profiles)
            joint = weights[first] + weights[second]
            profiles[first] = (weights[first] * profiles[first] + weights[second] * profiles[second]) / joint
            weights[first] = joint
            members[first] = members[first] + members.pop(second)
            profiles = np.delete(profiles, second, axis=0)
            weights = np.delete(weights, second)
        found.append(_numbered(members, len(rows)))
    return found


def counted(pairs: Iterable[tuple[Any, Any, int]], categories: Sequence[Any], others: Sequence[Any]) -> Counts:
    """The counts of categories by the values of another column, from pairs of these and their rows.

    >>> counted([("a", 1, 5), ("b", 2, 3)], ["a", "b"], [1, 2]).tolist()
    [[5.0, 0.0], [0.0, 3.0]]
    """
    place = {value: number for number, value in enumerate(categories)}
    across = {value: number for number, value in enumerate(others)}
    table = np.zeros((len(place), len(across)))
    for value, other, rows in pairs:
        table[place[value], across[other]] += rows
    return table


def _smoothed(counts: Counts) -> Counts:
    """The shares of every category; a sample may lack some of the categories."""
    whole = counts.sum(axis=0) / counts.sum()
    smoothed: Counts = (counts + _SMOOTHING * whole) / (counts.sum(axis=1, keepdims=True) + _SMOOTHING)
    return smoothed


def _closest(weights: Counts, profiles: Counts) -> tuple[int, int]:
    """The pair whose merging loses least: its rows times the Jensen-Shannon divergence, summed over all columns.

    Of equal pairs, the rarer one is chosen, so that rare categories are merged even without another column.
    """
    costs = np.full((len(weights), len(weights)), np.inf)
    entropies = weights * _entropy(profiles)
    for first in range(len(weights) - 1):
        rest = slice(first + 1, None)
        joint = weights[first] + weights[rest]
        mixed = (weights[first] * profiles[first] + weights[rest, None] * profiles[rest]) / joint[:, None]
        lost = joint * _entropy(mixed) - entropies[first] - entropies[rest]
        costs[first, rest] = np.maximum(lost, 0) + 1e-9 * joint
    least = int(np.argmin(costs))
    return divmod(least, len(weights))


def _entropy(shares: Counts) -> Counts:
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy: Counts = -(shares * logs).sum(axis=-1)
    return entropy


def _numbered(members: Sequence[Sequence[int]], count: int) -> list[int]:
    group_of = [0] * count
    for group, members_of_group in enumerate(members):
        for member in members_of_group:
            group_of[member] = group
    return group_of
