"""KGen, the genetic search of De Pascale et al., "Real-world K-Anonymity Applications" (arXiv 2204.01533, 2022)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from random import Random

from kanon_sql.generalization.lattice import Lattice, Node, at_level
from kanon_sql.strategies.accuracy import level_of_generalization
from kanon_sql.strategies.random_nodes import random_node
from kanon_sql.strategies.reduction import reduced
from kanon_sql.strategies.space import Score, Search, Space, Test

EVALUATIONS = 5_000  # this and the next four: the paper's table 6
POPULATION = 100
CROSSOVER = 0.9
MUTATION = 0.2
HORIZONTAL_MUTATION = 0.4
PENALTY, MOST_PENALTY = 0.1, 0.9
HORIZONTAL_SHARE = 0.2  # of the attributes; from an example, since the paper does not specify it


@dataclass(frozen=True)
class Individual:
    """A node of the population: whether it is anonymous, its fitness 1 - LOG, the generations it has survived."""

    node: Node
    anonymous: bool
    fitness: float
    age: int = 0

    @property
    def weight(self) -> float:
        """The fitness, minus the penalty for the generations survived."""
        return (1 - min(PENALTY * self.age, MOST_PENALTY)) * self.fitness


def kgen(space: Space) -> Search:
    """Breed nodes between the lattice's reduced bottom and its top, as the paper does.

    The fitness of a node is 1 - LOG, LOG being the mean of level / height, whatever the metric. Parents are chosen
    by binary tournament, an anonymous node before one that is not; survivors are drawn from parents and offspring by
    `survival`. Where the paper is silent or differs from its program:

    - Of two anonymous nodes the fitter is the parent; of two that are not, the more general one, as in the program.
      With the fitter one the population would move away from anonymous nodes, and find none on wide tables.
    - The population of 100 survives by draws with replacement; the archive of minimal anonymous nodes is the
      driver's (`SearchOutcome.minimal`), and the best of it by the space's metric is the answer.
    - An evaluation is a requested node, new or not, including the crossover's meets but not the reduction:
      `space.evaluations` (default: 5,000). The published program counts half a population per generation, however
      many it evaluates.
    - The horizontal mutation changes a fifth of the values, an even number and two at least.
    - The standard mutation changes one value, as in the paper; its program can change all.

    Does not need a monotone privacy model: the reduction uses a monotone condition (`Space.promises`). The result is
    anonymous, but its score is not guaranteed. The same seed repeats the same run.
    """
    yield from _Kgen(space, Random(space.seed), space.evaluations or EVALUATIONS).run()


@dataclass
class _Kgen:
    space: Space
    rng: Random
    left: int

    def run(self) -> Search:
        lattice = yield from reduced(self.space)
        population = yield from self._evaluate([random_node(self.rng, lattice) for _ in range(POPULATION)])
        while self.left > 0:
            children = yield from self._children(population)
            mutants = [mutated(self.rng, lattice, child) for child in children]
            offspring = yield from self._evaluate(mutants)
            population = survival(self.rng, population, offspring)

    def _evaluate(self, nodes: Sequence[Node]) -> Generator[Test | Score, list[bool], list[Individual]]:
        """The nodes as individuals, as many as the budget allows."""
        nodes = nodes[: self.left]
        self.left -= len(nodes)
        answers = yield Test(nodes)
        yield Score([node for node, anonymous in zip(nodes, answers, strict=True) if anonymous])
        heights = self.space.costs.heights
        return [
            Individual(node, anonymous, 1 - level_of_generalization(node, heights))
            for node, anonymous in zip(nodes, answers, strict=True)
        ]

    def _children(self, population: Sequence[Individual]) -> Generator[Test | Score, list[bool], list[Node]]:
        """The offspring of half a population's pairs; the meets of anonymous parents are judged in one request."""
        pairs = [(tournament(self.rng, population), tournament(self.rng, population)) for _ in range(POPULATION // 2)]
        mated = [pair if self.rng.random() < CROSSOVER else None for pair in pairs]
        meets = {pair: meet(pair[0].node, pair[1].node) for pair in mated if pair and all(p.anonymous for p in pair)}
        judged = yield from self._evaluate(list(dict.fromkeys(meets.values())))
        anonymous = {individual.node for individual in judged if individual.anonymous}
        children: list[Node] = []
        for pair, mates in zip(pairs, mated, strict=True):
            if mates is None:
                children += [parent.node for parent in pair]
            else:
                children += crossover(self.rng, *mates, meets.get(mates) in anonymous)
        return children


def meet(one: Node, other: Node) -> Node:
    """The most general node below both."""
    return tuple(map(min, one, other))


def join(one: Node, other: Node) -> Node:
    """The least general node above both."""
    return tuple(map(max, one, other))


def between(rng: Random, lower: Node, upper: Node) -> Node:
    """A node between two, with independently drawn levels."""
    return tuple(map(rng.randint, lower, upper))


def tournament(rng: Random, population: Sequence[Individual]) -> Individual:
    """The better of two random nodes: an anonymous one; of two such the fitter; of two others the more general."""
    drawn = rng.choice(population), rng.choice(population)
    return max(drawn, key=lambda one: (one.anonymous, one.fitness if one.anonymous else -one.fitness))


def crossover(rng: Random, one: Individual, other: Individual, meet_anonymous: bool) -> list[Node]:
    """The lattice crossover of section 3.5, by its three cases; `meet_anonymous` counts in the first only.

    Both parents anonymous: their meet if it is, else nodes between it and the parents. Neither: their join. One: a
    node between their meet and that parent.
    """
    lowest = meet(one.node, other.node)
    anonymous = [parent.node for parent in (one, other) if parent.anonymous]
    if not anonymous:
        return [join(one.node, other.node)]
    if len(anonymous) == 2 and meet_anonymous:
        return [lowest]
    return [between(rng, lowest, parent) for parent in anonymous]


def mutated(rng: Random, lattice: Lattice, node: Node) -> Node:
    """The node after both mutations, which happen with their probabilities."""
    if rng.random() < MUTATION:
        node = mutation(rng, lattice, node)
    if rng.random() < HORIZONTAL_MUTATION:
        node = horizontal_mutation(rng, lattice, node)
    return node


def mutation(rng: Random, lattice: Lattice, node: Node) -> Node:
    """Replace one level by a random one: a move up or down a strategy path."""
    j = rng.randrange(len(node))
    return at_level(node, j, rng.randint(lattice.bottom[j], lattice.top[j]))


def horizontal_mutation(rng: Random, lattice: Lattice, node: Node) -> Node:
    """Raise some levels and lower as many, in turn: to another strategy path."""
    levels = list(node)
    count = int(HORIZONTAL_SHARE * len(node))
    chosen = rng.sample(range(len(node)), min(len(node), max(2, count + count % 2)))
    for turn, j in enumerate(chosen):
        low, high = (node[j], lattice.top[j]) if turn % 2 == 0 else (lattice.bottom[j], node[j])
        levels[j] = rng.randint(low, high)
    return tuple(levels)


def survival_chances(population: Sequence[Individual]) -> list[float]:
    """The individuals' shares in the sum of all weights: the roulette wheel of figure 5.

    >>> figure_5 = [Individual((), True, 0.85), Individual((), True, 0.44, 3), Individual((), True, 0.55, 1)]
    >>> [round(chance, 3) for chance in survival_chances(figure_5)]
    [0.514, 0.186, 0.299]
    """
    total = sum(one.weight for one in population)
    return [one.weight / total if total else 1 / len(population) for one in population]


def survival(rng: Random, parents: Sequence[Individual], offspring: Sequence[Individual]) -> list[Individual]:
    """The next generation, drawn by `survival_chances`, with its parents a generation older."""
    candidates = [*(replace(parent, age=parent.age + 1) for parent in parents), *offspring]
    return rng.choices(candidates, survival_chances(candidates), k=POPULATION)
