"""A genetic search with descents (a memetic algorithm), under a falling cost limit."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from random import Random

from kanon_sql.generalization.lattice import Node
from kanon_sql.strategies.descent import Descent
from kanon_sql.strategies.random_nodes import random_node
from kanon_sql.strategies.reduction import reduced
from kanon_sql.strategies.space import Score, Search, Space, Test

EVALUATIONS = 5_000
POPULATION = 30
OFFSPRING = 16  # in a generation: two statements
CROSSOVER = 0.7
SWAPS = 3  # levels lowered for others, at most
SWEPT = 200_000  # nodes of a lattice that is settled completely; walking a larger one costs more than the tests
PATIENCE = 700  # nodes without a gain, after which a new population starts around the best


def memetic(space: Space) -> Search:
    """Breed nodes that are just affordable, the fewer rows at risk the fitter, and descend from every anonymous one.

    An individual is a node that still beats the best found but from which every step up does not; see `Descent`. None
    is anonymous: the first offspring that is becomes, after a descent to a k-minimal node, the new best, and the
    population is lowered under its cost. KGen (De Pascale et al. 2022) breeds anywhere in the lattice by the cost
    alone; the names of the rest are Moscato's (1989). Crossover takes levels randomly from both parents.

    Tests at most `space.evaluations` nodes (default: 5,000), not counting nodes that the tags answer.
    Under a monotone privacy model every descent ends at a k-minimal node. On lattices of at most 200,000 nodes the
    result is the optimum, and proven, if the metric has a bound and the search ends within its budget. Otherwise
    its score is not guaranteed. The same seed repeats the same run.
    """
    return breeding(space, space.evaluations or EVALUATIONS)


def breeding(space: Space, evaluations: float) -> Search:
    """The same with a limit of evaluations, possibly infinite."""
    return limited(space, _Memetic(space, Random(space.seed)).run(), evaluations)


def limited(space: Space, search: Search, evaluations: float) -> Search:
    """Run a search until it has requested a number of untested nodes; score the anonymous ones of the last request."""
    request = next(search, None)
    while request is not None:
        nodes = request.nodes
        if isinstance(request, Test):
            nodes = list(dict.fromkeys(node for node in nodes if space.tags.status(node) is None))
            if len(nodes) > evaluations:
                nodes = nodes[: int(evaluations)]
                yield replace(request, nodes=nodes)
                yield Score([node for node in nodes if space.tags.status(node)])
                return
            evaluations -= len(nodes)
        answer = yield request
        try:
            request = search.send(answer)
        except StopIteration:
            return


@dataclass
class _Memetic:
    space: Space
    rng: Random
    population: list[Node] = field(default_factory=list)
    fewest: float = inf  # rows at risk of the fittest so far, under the present limit
    idle: int = 0  # nodes tested since the last gain

    def run(self) -> Search:
        lattice = yield from reduced(self.space)
        self.descent = Descent(self.space, lattice, self.rng)
        yield from self.descent.drop(lattice.top)
        while new := self._drawn():
            self.idle += len(new)
            yield from self._settle(new)
            if self.idle > PATIENCE:
                self.population, self.fewest, self.idle = [], inf, 0
        yield from self._sweep()

    def _drawn(self) -> list[Node]:
        """New nodes to test: offspring of a full population, else neighbours of the best, else any."""
        missing = POPULATION - len(self.population)
        draws = [(self._neighbour, missing)] if missing > 0 else []
        draws += [(self._child, OFFSPRING)] if self.population else []
        for draw, count in [*draws, (self._stranger, OFFSPRING)]:
            if new := self.descent.promising(draw, count):
                return new
        return []

    def _neighbour(self) -> Node | None:
        best = self.descent.best
        return self.descent.swapped(best, self.rng.randint(1, len(best)))

    def _child(self) -> Node | None:
        one, other = self._parent(), self._parent()
        if self.rng.random() < CROSSOVER:
            mixed = tuple(self.rng.choice(levels) for levels in zip(one, other, strict=True))
            return self.descent.swapped(mixed, self.rng.randint(0, SWAPS))
        return self.descent.swapped(one, self.rng.randint(1, SWAPS))

    def _parent(self) -> Node:
        return min(self.rng.choice(self.population), self.rng.choice(self.population), key=self.descent.rows_at_risk)

    def _stranger(self) -> Node | None:
        return self.descent.fitted(random_node(self.rng, self.descent.lattice))

    def _settle(self, new: Sequence[Node]) -> Search:
        """Test new nodes; take them in, or descend from the cheapest that is anonymous."""
        answers = yield Test(new)
        self._take_in([node for node, anonymous in zip(new, answers, strict=True) if not anonymous])
        if any(answers):
            winners = [node for node, anonymous in zip(new, answers, strict=True) if anonymous]
            yield from self.descent.shrink(min(winners, key=self.space.bound))
            yield from self._lower_all()
            self.idle = 0

    def _take_in(self, nodes: Sequence[Node]) -> None:
        candidates = dict.fromkeys([*self.population, *nodes])
        self.population = sorted(candidates, key=self.descent.rows_at_risk)[:POPULATION]
        fewest = self.descent.rows_at_risk(self.population[0]) if self.population else inf
        if fewest < self.fewest:
            self.fewest, self.idle = fewest, 0

    def _lower_all(self) -> Search:
        """Fit the population under the new limit, in one request."""
        fitted = (node if self.descent.affordable(node) else self.descent.fitted(node) for node in self.population)
        nodes = list(dict.fromkeys(node for node in fitted if node is not None))
        yield Test(nodes)
        self.population, self.fewest = [], inf
        self._take_in(
            [node for node in nodes if self.space.at_risk(node) is not None and not self.space.tags.status(node)]
        )

    def _sweep(self) -> Generator[Test | Score, list[bool], None]:
        """Settle the remaining nodes of a small lattice, cheapest first, until none can win."""
        if self.space.lattice.size > SWEPT:
            return
        for node in self.space.open_nodes():
            while self.space.could_win(node) and self.space.tags.status(node) is None:
                yield from self._settle([self._distinguishing(node)])
            if not self.space.could_win(node):
                return
            yield Score([node])

    def _distinguishing(self, node: Node) -> Node:
        """An unknown node whose test is likely to settle this one: above it, or itself."""
        above = self.descent.fitted(node) if self.space.monotone_model else None
        return node if above is None or self.space.tags.status(above) is not None else above
