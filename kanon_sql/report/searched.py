"""The data for a picture of a searched lattice, and its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.report.svg import Element, Look
from kanon_sql.strategies import SearchOutcome
from kanon_sql.strategies.levels import NodesOfHeight, levels
from kanon_sql.strategies.tags import Tags

# Light enough for dark text, distinguishable for colour-blind readers and in black and white.
ANONYMOUS, AT_RISK, UNKNOWN = "#6baed6", "#fdd0a2", "#ececec"
MARGIN = 24


@dataclass(frozen=True)
class Searched:
    """A searched lattice, and the settings of the search; `asked`: the privacy models."""

    columns: Sequence[str]
    lattice: Lattice
    outcome: SearchOutcome
    tags: Tags
    strategy: str
    metric: str
    asked: str
    suppression_limit: float | str

    @cached_property
    def rows_at_risk(self) -> dict[Node, int | None]:
        """The nodes that were tested on the data, with the rows that they would suppress."""
        return {step.node: step.rows_at_risk for step in self.outcome.trace}

    @cached_property
    def levels(self) -> list[NodesOfHeight]:
        """The number of nodes by level and status, from the bottom."""
        return levels(self.lattice, self.tags, self.rows_at_risk)

    def node_text(self, node: Node) -> str:
        """A node's levels with the names of the columns."""
        return ", ".join(f"{name} {level}" for name, level in zip(self.columns, node, strict=True))


@dataclass(frozen=True)
class Body:
    """A picture below its heading: its size, its legend, and its elements for a position."""

    width: float
    height: float
    legend: Sequence[tuple[Look, str]]
    elements: Callable[[float, float], list[Element]]
