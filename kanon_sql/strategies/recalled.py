"""A judge with a memory: answers from this run or an earlier one are not computed again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import Costs, Figures, Part
from kanon_sql.strategies.driver import Evaluator


@dataclass
class Answers:
    """Answers about nodes, in the order of the first request for a node.

    `tests`: the rows at risk, and the rows at risk at every node below, None if not requested.
    `figures`: results of the judge's methods, by their names.
    """

    tests: dict[Node, tuple[int, int | None]] = field(default_factory=dict)
    figures: dict[Node, dict[str, Figures]] = field(default_factory=dict)

    @property
    def nodes(self) -> list[Node]:
        """Every node with an answer."""
        return list(dict.fromkeys((*self.tests, *self.figures)))


class Recalled:
    """A judge with a memory, see `kanon_sql.strategies.driver.Evaluator`.

    `on_answer`: called with new answers: their nodes, and the method of the judge, None for a test.
    `recalled`: the nodes whose test was answered in an earlier run.
    """

    def __init__(
        self, judge: Evaluator, answers: Answers, on_answer: Callable[[Sequence[Node], str | None], None]
    ) -> None:
        self._judge, self._answers, self._on_answer = judge, answers, on_answer
        self._before = set(answers.nodes)
        self.recalled: set[Node] = set()

    @property
    def queries(self) -> int:
        """The number of statements that were run."""
        return self._judge.queries

    def rows_at_risk(self, nodes: Sequence[Node]) -> list[int]:
        """The rows that every node would suppress."""
        test = lambda new: [(rows, None) for rows in self._judge.rows_at_risk(new)]  # noqa: E731
        return [rows for rows, _ in self._tested(nodes, test, set(self._answers.tests))]

    def verdicts(self, nodes: Sequence[Node]) -> list[tuple[int, int]]:
        """The rows that every node would suppress, and the rows that every node below it would suppress, too."""
        answered = {node for node, (_, below) in self._answers.tests.items() if below is not None}
        return [(rows, below or 0) for rows, below in self._tested(nodes, self._judge.verdicts, answered)]

    def losses(self, node: Node, costs: Costs) -> Figures:
        """The rows at risk of a node, and every attribute's mean loss with its rows at risk suppressed."""
        return self._figures("losses", node, lambda: self._judge.losses(node, costs))

    def several_losses(self, nodes: Sequence[Node], costs: Costs) -> list[Figures]:
        """The same of several nodes."""
        new = [node for node in nodes if "losses" not in self._answers.figures.get(node, {})]
        if new:
            for node, figures in zip(new, self._judge.several_losses(new, costs), strict=True):
                self._answers.figures.setdefault(node, {})["losses"] = figures
            self._on_answer(new, "losses")
        return [self._answers.figures[node]["losses"] for node in nodes]

    def cells(self, node: Node, costs: Costs, needs: Collection[Part]) -> Figures:
        """The figures about a node's cells that a metric needs, with its rows at risk suppressed."""
        return self._figures("cells", node, lambda: self._judge.cells(node, costs, needs))

    def classes(self, node: Node) -> Figures:
        """The classes that a node would release."""
        return self._figures("classes", node, lambda: self._judge.classes(node))

    def _tested(
        self,
        nodes: Sequence[Node],
        test: Callable[[Sequence[Node]], Sequence[tuple[int, int | None]]],
        answered: Collection[Node],
    ) -> list[tuple[int, int | None]]:
        new = [node for node in nodes if node not in answered]
        if new:
            self._answers.tests.update(zip(new, test(new), strict=True))
            self._on_answer(new, None)
        self.recalled |= self._before.intersection(nodes).difference(new)
        return [self._answers.tests[node] for node in nodes]

    def _figures(self, name: str, node: Node, compute: Callable[[], Figures]) -> Figures:
        answers = self._answers.figures.setdefault(node, {})
        if name not in answers:
            answers[name] = compute()
            self._on_answer([node], name)
        return answers[name]
