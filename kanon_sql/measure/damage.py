"""The table of damage: the effect of a recoding on every quasi-identifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kanon_sql.loss import Costs, Figures


def damage(
    costs: Costs, figures: Figures, levels: Sequence[float], kept: Sequence[int], errors: Sequence[float | None]
) -> list[dict[str, Any]]:
    """The table, ready for JSON: one entry per column.

    `figures`: with rows at risk, losses, intensities and bits; `costs`: with bits. `levels`: the levels of the columns,
    or mean levels. `kept`: their numbers of unchanged cells. `errors`: their squared errors.

    `unchanged`, `generalized` and `suppressed` add up to the source's rows. `loss` (also the column's granularity) and
    `intensity`: from 0, nothing lost, to 1. `entropy_kept`: the remaining share of the column's bits, None if it had
    none. `squared_error`: of the released numbers, divided by the error of the column's mean in their place; None for
    other columns, and for labels without a number.
    """
    suppressed = figures.rows_at_risk or 0
    bits = figures.part("bits", costs)
    losses = figures.part("losses", costs)
    intensities = figures.part("intensities", costs)
    weights = costs.weights or (1.0,) * len(costs.heights)
    table = []
    for place, column in enumerate(costs.columns):
        most_bits = costs.most_bits[place]
        row = {
            "column": column,
            "level": levels[place],
            "height": costs.heights[place],
            "weight": weights[place],
            "unchanged": kept[place],
            "generalized": costs.rows - suppressed - kept[place],
            "suppressed": suppressed,
            "loss": losses[place],
            "entropy_kept": 1 - bits[place] / most_bits if most_bits else None,
            "intensity": intensities[place],
            "squared_error": errors[place],
        }
        table.append(row)
    return table
