"""A region: what a class shows of each column, as a release of other rows may show it too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClassCell:
    """What a class shows of a column, and the first and the last of its values, all as text.

    `label`, or with `label_high` two bounds. `level`: of the hierarchy, whose node the label is. `everything`: it
    covers all values, in a hierarchy or not.
    """

    level: int
    everything: bool
    label: str | None
    label_high: str | None = None
    low: str | None = None
    high: str | None = None


Region = tuple[ClassCell, ...]
