"""Categories whose rows look alike in other columns, merged step by step: the agglomerative information bottleneck.

N. Slonim, N. Tishby, NIPS 1999: of all pairs of groups those are merged that lose least of what a category tells of the
other columns, each column's distribution smoothed by that of all rows. What comes of it is not semantic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.float64]  # categories x values of another column

_SMOOTHING = 5.0  # rows of the whole table that are added to each category's


def grouped(rows: Sequence[int], beside: Sequence[Counts], sizes: Sequence[int]) -> list[list[int]]:
    """The group of each category, by the number of groups: for each of the falling `sizes` a list, nested.

    `rows`: of each category. `beside`: how many of them hold each value of another column, one array per column.

    >>> left, right = [9.0, 1.0], [1.0, 9.0]
    >>> grouped([10, 10, 10, 10], [np.array([left, right, left, right])], [2])
    [[0, 1, 0, 1]]
    """
    shares = [_smoothed(np.asarray(rows, float), columns) for columns in beside]
    told = np.concatenate(shares, axis=1) if shares else np.zeros((len(rows), 1))
    weights = np.asarray(rows, float)
    members: list[list[int]] = [[row] for row in range(len(rows))]
    found: list[list[int]] = []
    for size in sizes:
        while len(members) > size:
            first, second = _closest(weights, told)
            joint = weights[first] + weights[second]
            told[first] = (weights[first] * told[first] + weights[second] * told[second]) / joint
            weights[first] = joint
            members[first] = members[first] + members.pop(second)
            told, weights = np.delete(told, second, axis=0), np.delete(weights, second)
        found.append(_numbered(members, len(rows)))
    return found


def counted(pairs: Iterable[tuple[Any, Any, int]], categories: Sequence[Any], others: Sequence[Any]) -> Counts:
    """How many rows of each category hold each value of another column, from such pairs and their rows.

    >>> counted([("a", 1, 5), ("b", 2, 3)], ["a", "b"], [1, 2]).tolist()
    [[5.0, 0.0], [0.0, 3.0]]
    """
    place = {value: number for number, value in enumerate(categories)}
    across = {value: number for number, value in enumerate(others)}
    table = np.zeros((len(place), len(across)))
    for value, other, rows in pairs:
        table[place[value], across[other]] += rows
    return table


def _smoothed(rows: Counts, counts: Counts) -> Counts:
    whole = counts.sum(axis=0) / counts.sum()
    smoothed: Counts = (counts + _SMOOTHING * whole) / (rows[:, None] + _SMOOTHING)
    return smoothed


def _closest(weights: Counts, told: Counts) -> tuple[int, int]:
    """The pair whose merging loses least: its rows times the Jensen-Shannon divergence, in all columns together.

    What ties is settled for the rarer pair, so that without another column the rare ones come together.
    """
    costs = np.full((len(weights), len(weights)), np.inf)
    entropies = weights * _entropy(told)
    for first in range(len(weights) - 1):
        rest = slice(first + 1, None)
        joint = weights[first] + weights[rest]
        mixed = (weights[first] * told[first] + weights[rest, None] * told[rest]) / joint[:, None]
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
