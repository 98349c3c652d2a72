"""The distances between the distributions of columns in a release and in its source."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanon_sql.utility.attribute import Floats, SharedColumn, rounded


@dataclass(frozen=True)
class Marginal:
    """The error of one column; shares are relative to the rows of the same table, to exclude suppression.

    `total_variation`: half the sum of the differences between the shares of the values, 0 to 1. `earth_mover`: for an
    ordered column the mean distance in the order that shares must be moved, over that from the first value to the last,
    without NULL on both sides (N. Li, T. Li, S. Venkatasubramanian, "t-closeness", ICDE 2007, section
    5.1); None for others. `generalized`: the share of released cells that cover more than one value.
    """

    column: str
    total_variation: float
    earth_mover: float | None
    generalized: float


def marginal(attribute: SharedColumn) -> Marginal:
    """The error of one column."""
    released = attribute.released.sum() + attribute.nearby.sum() + attribute.lost
    elsewhere = attribute.nearby.sum() + attribute.lost
    differences = np.abs(_shares(attribute.rows, attribute.rows.sum()) - _shares(attribute.released, released)).sum()
    total_variation = (differences + elsewhere / (released or 1.0)) / 2
    return Marginal(attribute.name, rounded(total_variation), _earth_mover(attribute), attribute.generalized)


def _earth_mover(attribute: SharedColumn) -> float | None:
    count = len(attribute.rows) - attribute.nullable
    source, released = attribute.rows[:count], (attribute.released + attribute.nearby)[:count]
    if not attribute.ordered or not source.sum() or not released.sum():
        return None
    moved = np.cumsum(_shares(source, source.sum()) - _shares(released, released.sum()))
    return rounded(np.abs(moved).sum() / max(1, count - 1))


def _shares(rows: Floats, total: float) -> Floats:
    shares: Floats = rows / (total or 1.0)
    return shares
