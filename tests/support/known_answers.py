"""Searches of frequency sets whose answers are known."""

from collections.abc import Sequence
from functools import cache

from kanon_sql.frequency.frequency_set import FrequencySet
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.loss import Costs, Figures, metric
from kanon_sql.privacy import all_of, k_anonymity
from kanon_sql.spec import may_suppress
from kanon_sql.strategies import Driver, SearchOutcome, strategy


def anonymous_nodes(frequency_set: FrequencySet, k: int, allowed: int = 0) -> dict[Node, int]:
    """Every k-anonymous node with the rows that it suppresses."""
    nodes = list(Lattice((0,) * len(frequency_set.heights), frequency_set.heights).nodes())
    at_risk = Judge(frequency_set, all_of(k_anonymity(k))).rows_at_risk(nodes)
    return {node: rows for node, rows in zip(nodes, at_risk, strict=True) if rows <= allowed}


class Remembering(Judge):
    """Asks for a node once, since what it counts depends neither on the suppression limit nor on the metric."""

    def __init__(self, frequency_set: FrequencySet, k: int) -> None:
        super().__init__(frequency_set, all_of(k_anonymity(k)))
        self.known: dict[Node, int] = {}
        self.figures: dict[Node, Figures] = {}

    def rows_at_risk(self, nodes: Sequence[Node]) -> list[int]:
        new = [node for node in nodes if node not in self.known]
        self.known |= zip(new, super().rows_at_risk(new), strict=True) if new else {}
        return [self.known[node] for node in nodes]

    def losses(self, node: Node, costs: Costs) -> Figures:
        if node not in self.figures:
            self.figures[node] = super().losses(node, costs)
        return self.figures[node]

    def several_losses(self, nodes: Sequence[Node], costs: Costs) -> list[Figures]:
        new = [node for node in nodes if node not in self.figures]
        self.figures |= zip(new, super().several_losses(new, costs), strict=True) if new else {}
        return [self.figures[node] for node in nodes]


judge_of = cache(Remembering)


def driver(frequency_set: FrequencySet, k: int, limit: float, by: str) -> Driver:
    judge = judge_of(frequency_set, k)
    lattice = Lattice((0,) * len(frequency_set.heights), frequency_set.heights)
    return Driver(lattice, judge.costs(), metric(by), judge, may_suppress(limit, frequency_set.rows))


def search(frequency_set: FrequencySet, k: int, limit: float, by: str, name: str) -> SearchOutcome:
    return driver(frequency_set, k, limit, by).run(strategy(name))


def as_node(digits: str) -> Node:
    return tuple(map(int, digits))
