"""A judge that recalls: what was answered before, in this run or an earlier one, is not asked of the data again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import Costs, Figures, Part
from kanon_sql.strategies.driver import Evaluator


@dataclass
class Answers:
    """What is known of nodes, in the order of the first question about each.

    `tests`: the rows at risk, and those that every node below leaves at risk too, None where that was not asked.
    `figures`: what a method of the judge said, by its name.
    """

    tests: dict[Node, tuple[int, int | None]] = field(default_factory=dict)
    figures: dict[Node, dict[str, Figures]] = field(default_factory=dict)

    @property
    def nodes(self) -> list[Node]:
        """Every node that something is known of."""
        return list(dict.fromkeys((*self.tests, *self.figures)))


class Recalled:
    """A judge with a memory, see `kanon_sql.strategies.driver.Evaluator`.

    `told`: called with every new answer: of which nodes, and by which method of the judge, None for the test.
    `recalled`: the nodes whose test was known from an earlier run.
    """

    def __init__(self, judge: Evaluator, answers: Answers, told: Callable[[Sequence[Node], str | None], None]) -> None:
        self._judge, self._answers, self._told = judge, answers, told
        self._before = set(answers.nodes)
        self.recalled: set[Node] = set()

    @property
    def queries(self) -> int:
        """What was asked of the data."""
        return self._judge.queries

    def rows_at_risk(self, nodes: Sequence[Node]) -> list[int]:
        """The rows that each node would suppress."""
        ask = lambda new: [(rows, None) for rows in self._judge.rows_at_risk(new)]  # noqa: E731
        return [rows for rows, _ in self._tested(nodes, ask, set(self._answers.tests))]

    def verdicts(self, nodes: Sequence[Node]) -> list[tuple[int, int]]:
        """The rows that each node would suppress, and those of them that every node below it would too."""
        known = {node for node, (_, below) in self._answers.tests.items() if below is not None}
        return [(rows, below or 0) for rows, below in self._tested(nodes, self._judge.verdicts, known)]

    def losses(self, node: Node, costs: Costs) -> Figures:
        """Rows at risk of a node, and each attribute's mean loss with those rows suppressed."""
        return self._figures("losses", node, lambda: self._judge.losses(node, costs))

    def several_losses(self, nodes: Sequence[Node], costs: Costs) -> list[Figures]:
        """The same of several nodes."""
        new = [node for node in nodes if "losses" not in self._answers.figures.get(node, {})]
        if new:
            for node, figures in zip(new, self._judge.several_losses(new, costs), strict=True):
                self._answers.figures.setdefault(node, {})["losses"] = figures
            self._told(new, "losses")
        return [self._answers.figures[node]["losses"] for node in nodes]

    def cells(self, node: Node, costs: Costs, needs: Collection[Part]) -> Figures:
        """What is needed of a node's cells, with those rows suppressed."""
        return self._figures("cells", node, lambda: self._judge.cells(node, costs, needs))

    def classes(self, node: Node) -> Figures:
        """The classes that a node would release."""
        return self._figures("classes", node, lambda: self._judge.classes(node))

    def _tested(
        self,
        nodes: Sequence[Node],
        ask: Callable[[Sequence[Node]], Sequence[tuple[int, int | None]]],
        known: Collection[Node],
    ) -> list[tuple[int, int | None]]:
        new = [node for node in nodes if node not in known]
        if new:
            self._answers.tests.update(zip(new, ask(new), strict=True))
            self._told(new, None)
        self.recalled |= self._before.intersection(nodes).difference(new)
        return [self._answers.tests[node] for node in nodes]

    def _figures(self, name: str, node: Node, ask: Callable[[], Figures]) -> Figures:
        said = self._answers.figures.setdefault(node, {})
        if name not in said:
            said[name] = ask()
            self._told([node], name)
        return said[name]
