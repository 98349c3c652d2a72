"""Iterated local search on the score itself, both ways along the lattice (Lourenço, Martin, Stützle 2003)."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, islice
from math import inf
from random import Random

from kanon_sql.generalization.lattice import Node, at_level
from kanon_sql.loss import beats
from kanon_sql.strategies.random_nodes import random_node
from kanon_sql.strategies.space import Score, Search, Space, Test

EVALUATIONS = 5_000
KICKED = 3  # levels of the best node to draw again
AT_ONCE = 8  # nodes per request: one statement
IDLE = 50  # consecutive rounds without a new node, after which everything within reach has been tested


def local_search(space: Space) -> Search:
    """Walk to ever better neighbours from the top, then again from a node near the best, and again.

    A neighbour has one attribute a level higher or lower, or one higher and another lower. The first one drawn that
    scores better is the next node; if none does, three levels of the best node are replaced by random ones. Where
    suppressed rows count as lost, the best node can be well above the k-minimal ones, and suppress far fewer rows than
    allowed: a search that only descends would miss it.

    Skips neighbours whose bound is not better than the score of the node. Evaluates at most `space.evaluations` nodes
    (default: 5,000). Works with every metric and privacy model; the score is not guaranteed. The same seed repeats the
    same run.
    """
    return improving(space, space.evaluations or EVALUATIONS)


def improving(space: Space, evaluations: float) -> Search:
    """The same with a limit of evaluations; infinite to run until there are no new nodes."""
    return _LocalSearch(space, Random(space.seed), evaluations).run()


@dataclass
class _LocalSearch:
    space: Space
    rng: Random
    left: float  # remaining evaluations

    def run(self) -> Search:
        starts, idle = [self.space.lattice.top], 0
        while self.left > 0 and idle < IDLE:
            before = self.left
            anonymous = yield from self._tested(starts)
            if anonymous:
                yield from self._climb(anonymous[0])
            idle = idle + 1 if self.left == before else 0
            starts = list(dict.fromkeys(self._kicked() for _ in range(AT_ONCE)))

    def _climb(self, node: Node) -> Search:
        """Go from neighbour to better neighbour until no neighbour is better."""
        value = yield from self._value(node)
        step: tuple[Node, float] | None = node, value
        while step:
            step = yield from self._better(*step)

    def _better(self, node: Node, value: float) -> Generator[Test | Score, list[bool], tuple[Node, float] | None]:
        """The first neighbour drawn that is better than a node, and its score; None without one."""
        space = self.space
        likely = (
            near
            for near in self._neighbours(node)
            if beats(space.bound(near), value) and space.tags.status(near) is not False
        )
        while self.left > 0 and (group := list(islice(likely, AT_ONCE))):
            for near in (yield from self._tested(group)):
                score = yield from self._value(near)
                if beats(score, value):
                    return near, score
        return None

    def _tested(self, nodes: Sequence[Node]) -> Generator[Test | Score, list[bool], list[Node]]:
        """The anonymous ones of the nodes; new nodes beyond the budget are left out."""
        new = [node for node in nodes if self.space.tags.status(node) is None]
        skipped = set(new[int(min(self.left, len(new))) :])
        self.left -= len(new) - len(skipped)
        tested = [node for node in nodes if node not in skipped]
        return list(compress(tested, (yield Test(tested))))

    def _value(self, node: Node) -> Generator[Test | Score, list[bool], float]:
        """The score of an anonymous node; infinite if the budget is used up."""
        new = self.space.at_risk(node) is None  # inferred from its neighbours, but never tested
        if self.left > 0 or not new:
            yield Score([node], all_of_them=True)
            self.left -= new and self.space.at_risk(node) is not None
        score = self.space.score_of(node)
        return inf if score is None else score

    def _neighbours(self, node: Node) -> Iterator[Node]:
        """The neighbours of a node, in random order."""
        raised = [j for j, high in enumerate(self.space.lattice.top) if node[j] < high]
        lowered = [j for j, low in enumerate(self.space.lattice.bottom) if node[j] > low]
        steps: list[tuple[tuple[int, int], ...]] = [
            *(((j, 1),) for j in raised),
            *(((j, -1),) for j in lowered),
            *(((i, 1), (j, -1)) for i in raised for j in lowered if i != j),
        ]
        for step in self.rng.sample(steps, len(steps)):
            near = node
            for j, by in step:
                near = at_level(near, j, near[j] + by)
            yield near

    def _kicked(self) -> Node:
        """The best node with three random levels replaced; a random node before any is found."""
        lattice = self.space.lattice
        if self.space.best() == inf:
            return random_node(self.rng, lattice)
        node = self.space.best_node()
        for j in self.rng.sample(range(len(node)), min(KICKED, len(node))):
            node = at_level(node, j, self.rng.randint(lattice.bottom[j], lattice.top[j]))
        return node
