"""The columns of a suggested spec, with their roles and hierarchies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class SuggestedColumn:
    """A column: its role (identifier, quasi-identifier, sensitive, kept, dropped) and the reason.

    For a quasi-identifier: `recipe`, as written in a spec, or None if `levels` list the label of every value; `why`
    this hierarchy was chosen; `labels`, the number of labels on each level, values first.
    """

    name: str
    type: str
    role: str
    reason: str
    recipe: Any = None
    why: str = ""
    labels: tuple[int, ...] = ()
    levels: tuple[Mapping[Any, str], ...] = field(default=(), repr=False)

    def described(self) -> dict[str, Any]:
        """Everything except the values of its hierarchy, as a mapping for JSON."""
        return {name: value for name, value in vars(self).items() if name != "levels"} | {"labels": [*self.labels]}

    def in_file(self, path: str) -> SuggestedColumn:
        """The column with the file of its hierarchy as its recipe, if no recipe creates it."""
        return replace(self, recipe={"file": path}) if self.levels else self


@dataclass(frozen=True)
class SuggestedTable:
    """A table of the release: its rows, its keys (column, what it refers to, and why), and its other columns.

    `source`: its name in the database. `weights`: how much columns count in the loss, if not 1.
    """

    name: str
    source: str
    rows: int
    keys: tuple[tuple[str, str, str], ...]
    columns: tuple[SuggestedColumn, ...]
    weights: Mapping[str, float] = field(default_factory=dict)

    def of_role(self, role: str) -> list[SuggestedColumn]:
        """The columns with a role, in the table's order."""
        return of_role(self.columns, role)


def of_role(columns: Sequence[SuggestedColumn], role: str) -> list[SuggestedColumn]:
    """The columns with a role, in their order."""
    return [column for column in columns if column.role == role]
