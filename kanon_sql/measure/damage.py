"""The table of damage: what a recoding did to each attribute, one row per quasi-identifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kanon_sql.loss import Costs, Figures


@dataclass(frozen=True)
class Damage:
    """What became of one column.

    `level`: of the node, or the mean level that the released cells of a local recoding need, of `height`; `weight`: its
    part in means over the columns, beside the others'. `unchanged`, `generalized`, `suppressed`: cells, which add up to
    the source's rows. `loss` (which is the column's granularity too), `intensity`: from 0, nothing lost, to 1.
    `entropy_kept`: the share of its bits that are left, None where it had none. `squared_error`: of what is shown of a
    number, over that of the column's mean shown for all; None for other columns, and where nothing says what is shown.
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
    """The table, ready for JSON; `levels`: the (mean) level of each column, `kept`: its cells that are as they were.

    `figures` with rows at risk, losses, intensities and bits, the costs with their bits.
    """
    suppressed = figures.rows_at_risk or 0
    bits, losses = figures.part("bits", costs), figures.part("losses", costs)
    intensities, weights = figures.part("intensities", costs), costs.weights or (1.0,) * len(costs.heights)
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
