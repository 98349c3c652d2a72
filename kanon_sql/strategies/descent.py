"""Local search along the border between anonymous nodes and others, for strategies that need a good node early."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from random import Random

from kanon_sql.generalization.lattice import Lattice, Node, at_level
from kanon_sql.loss import METRICS, beats
from kanon_sql.strategies.space import Score, Search, Space, Test, least_anonymous

_TRIES = 30  # draws per node wanted: near the end most nodes are already settled


@dataclass
class Descent:
    """Moves between nodes of a lattice (see `reduction.reduced`), for use with `yield from`.

    A node is affordable if it can still beat the best node scored. If any affordable node is anonymous then, under a
    monotone privacy model, so is every affordable node above it: to find a better node it is enough to test affordable
    nodes without affordable successors, and their rows at risk show how far they are from being anonymous. That is a
    search for a feasible solution below a falling cost limit. Where the metric's bound is weak, as for metrics of
    classes, the mean of level / height replaces it.

    `best` is the node at which the last descent ended, initially the lattice's top.
    """

    space: Space
    lattice: Lattice
    rng: Random

    def __post_init__(self) -> None:
        metric = self.space.metric
        self.best = self.lattice.top
        self._tight = metric.question != "classes"
        self._least = inf
        self._cost = (metric if self._tight else METRICS["precision"]).bound_of(self.space.costs)

    def drop(self, node: Node) -> Search:
        """Lower an anonymous node, one attribute after the other in random order, and score the result.

        Attributes are bisected to their least anonymous level, given the previous ones: few tests from far above.
        Under a monotone privacy model the result is k-minimal.
        """
        passed = [node]
        for j in self.rng.sample(range(len(node)), len(node)):
            level = yield from least_anonymous(self.space, node, j, self.lattice.bottom[j] - 1, node[j])
            node = at_level(node, j, level)
            passed.append(node)
        yield from self._reach(passed)

    def shrink(self, node: Node) -> Search:
        """Lower an anonymous node step by step, and score the result.

        Takes the step to an anonymous node that saves most per additional row at risk; all steps are tested in one
        request, so that this suits nodes near the border. Under a monotone privacy model the result is
        k-minimal.
        """
        passed, open_steps, bottom = [node], set(range(len(node))), self.lattice.bottom
        while steps := {j: at_level(node, j, node[j] - 1) for j in sorted(open_steps) if node[j] > bottom[j]}:
            answers = yield Test(list(steps.values()))
            open_steps = {j for j, anonymous in zip(steps, answers, strict=True) if anonymous}
            if not open_steps:
                break
            node = max((steps[j] for j in open_steps), key=lambda lower: self._merit(lower, passed[-1]))
            passed.append(node)
        yield from self._reach(passed)

    def _merit(self, lower: Node, node: Node) -> tuple[float, float]:
        """The savings of a step down per additional row at risk, and a random number to break ties."""
        rows = self.space.at_risk(lower), self.space.at_risk(node)
        further = 0 if rows[0] is None or rows[1] is None else rows[0] - rows[1]
        return (self._cost(node) - self._cost(lower)) / (1 + further), self.rng.random()

    def _reach(self, passed: list[Node]) -> Search:
        self.best = passed[-1]
        self._least = min(self._least, self._cost(self.best))
        yield Score(passed)  # a higher one can be better, where the metric counts suppressed rows

    def affordable(self, node: Node) -> bool:
        """Whether a node can be better than the best so far."""
        return self.space.could_win(node) and (self._tight or beats(self._cost(node), self._least))

    def fitted(self, node: Node) -> Node | None:
        """Lower random attributes until the node is affordable, then raise random ones as long as it stays affordable.

        None if not even the lattice's bottom is affordable.
        """
        while not self.affordable(node):
            lowerable = [j for j, low in enumerate(self.lattice.bottom) if node[j] > low]
            if not lowerable:
                return None
            j = self.rng.choice(lowerable)
            node = at_level(node, j, node[j] - 1)
        raisable = [j for j, high in enumerate(self.lattice.top) if node[j] < high]
        while raisable:
            j = self.rng.choice(raisable)
            higher = at_level(node, j, node[j] + 1)
            if self.affordable(higher):
                node = higher
            if node != higher or node[j] == self.lattice.top[j]:
                raisable.remove(j)
        return node

    def swapped(self, node: Node, count: int) -> Node | None:
        """Lower `count` random attributes by one level, and raise others in exchange; see `fitted`."""
        for j in self.rng.sample(range(len(node)), min(count, len(node))):
            if node[j] > self.lattice.bottom[j]:
                node = at_level(node, j, node[j] - 1)
        return self.fitted(node)

    def promising(self, draw: Callable[[], Node | None], count: int) -> list[Node]:
        """Draw up to `count` different nodes worth a test or a descent; fewer if the draws yield no new ones."""
        nodes: dict[Node, None] = {}
        for _ in range(count * _TRIES):
            node = draw()
            if node is None:
                continue
            anonymous = self.space.tags.status(node)
            # An anonymous node is worth it if it is cheaper than the best node descended to.
            if anonymous is None or (anonymous and beats(self._cost(node), self._least)):
                nodes[node] = None
                if len(nodes) == count:
                    break
        return list(nodes)

    def rows_at_risk(self, node: Node) -> float:
        """How far a node is from being anonymous; infinite if it was not tested itself."""
        at_risk = self.space.at_risk(node)
        return inf if at_risk is None else at_risk
