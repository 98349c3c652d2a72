"""The table of damage: the effect of a recoding on every quasi-identifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kanon_sql.loss import Costs, Figures


@dataclass(frozen=True)
class Damage:
    """The effect of a recoding on one column.

    `level`: of the node, or the mean level that the released cells of a local recoding need, out of `height`. `weight`:
    in means over the columns. `unchanged`, `generalized`, `suppressed`: numbers of cells, which add up to the source's
    rows. `loss` (also the column's granularity) and `intensity`: from 0, nothing lost, to 1. `entropy_kept`: the
    remaining share of the column's bits, None if it had none. `squared_error`: of the released numbers, divided by the
    error of the column's mean in their place; None for other columns, and for labels without a number.
    """

    column: str
    level: float
    height: int
    weight: float
    unchanged: int
    generalized: int
    suppressed: int
    loss: float
    entropy_kept: float | None
    intensity: float
    squared_error: float | None = None


def damage(
    costs: Costs, figures: Figures, levels: Sequence[float], kept: Sequence[int], errors: Sequence[float | None]
) -> list[dict[str, Any]]:
    """The table, ready for JSON. `levels`: the (mean) levels of the columns, `kept`: their numbers of unchanged cells.

    `figures` need rows at risk, losses, intensities and bits, and `costs` their bits.
    """
    suppressed = figures.rows_at_risk or 0
    bits = figures.part("bits", costs)
    losses = figures.part("losses", costs)
    intensities = figures.part("intensities", costs)
    weights = costs.weights or (1.0,) * len(costs.heights)
    return [
        asdict(
            Damage(
                column,
                levels[j],
                costs.heights[j],
                weights[j],
                kept[j],
                costs.rows - suppressed - kept[j],
                suppressed,
                losses[j],
                1 - bits[j] / costs.most_bits[j] if costs.most_bits[j] else None,
                intensities[j],
                errors[j],
            )
        )
        for j, column in enumerate(costs.columns)
    ]
