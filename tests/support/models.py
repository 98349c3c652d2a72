"""Privacy models in plain Python, by their definitions.

Models of a class by the rows (or people) of every value, models with a population, and models of all classes by their
sizes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, exp, log
from typing import Any

from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.privacy import (
    PrivacyModel,
    ReleaseModel,
    alpha,
    beta_likeness,
    delta_disclosure,
    delta_presence,
    journalist_risk,
    k_anonymity,
    k_map,
    l_diversity,
    marketer_risk,
    population_uniqueness,
    prosecutor_risk,
    t_closeness,
)

Values = Counter[Any]


class People(Values):
    """How many people have each value, and how many there are: fewer than that where some have several values."""

    def __init__(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        different = set(pairs)
        super().__init__(value for value, _ in different)
        self.people = len({person for _, person in different})


def counted(pairs: Sequence[tuple[Any, Any]], people: bool) -> Values:
    """Pairs of a value and a person: the rows by their value, or the people who have it."""
    return People(pairs) if people else Counter(value for value, _ in pairs)


def size(of: Values) -> int:
    return of.people if isinstance(of, People) else of.total()


def one_value_each(*of: Values) -> bool:
    """Whether the shares of the values add up to 1."""
    return all(size(item) == item.total() for item in of)


HALVES = Hierarchy((1, 2, 3, 4), (("low", "low", "high", "high"), ("*", "*", "*", "*")))


@dataclass(frozen=True)
class Defined:
    """A privacy model, and whether a class is safe by its definition: (the class, the whole table) to a truth."""

    model: PrivacyModel
    is_safe: Callable[[Values, Values], bool]

    def __str__(self) -> str:
        return self.model.name


def share(of: Values, value: Any) -> Fraction:
    return Fraction(of[value], size(of))


def entropy(of: Values) -> float:
    return -sum(share(of, value) * log(share(of, value)) for value in of)


def equal_distance(of: Values, table: Values) -> Fraction:
    return sum((abs(share(of, value) - share(table, value)) for value in table), Fraction(0)) / 2


def ordered_distance(of: Values, table: Values) -> Fraction:
    moved = so_far = Fraction(0)
    for value in sorted(table):
        so_far += share(of, value) - share(table, value)
        moved += abs(so_far)
    return moved / max(1, len(table) - 1)


def hierarchical_distance(of: Values, table: Values, hierarchy: Hierarchy) -> Fraction:
    """The cost of the cheapest moves, node by node from the leaves up (Li, Li, Venkatasubramanian, section 5.3)."""
    cost = Fraction(0)
    row_of = {str(value): row for row, value in enumerate(hierarchy.values)}

    def extra(level: int) -> dict[tuple[int, int], Fraction]:
        sums: dict[tuple[int, int], Fraction] = {}
        for value in table:
            row = row_of[str(value)]
            above = hierarchy.codes(min(level + 1, hierarchy.height))[row]
            key = hierarchy.codes(level)[row], above
            sums[key] = sums.get(key, Fraction(0)) + share(of, value) - share(table, value)
        return sums

    for level in range(1, hierarchy.height + 1):
        for node in {above for _, above in extra(level - 1)}:
            below = [item for (_, above), item in extra(level - 1).items() if above == node]
            too_many, too_few = sum(e for e in below if e > 0), -sum(e for e in below if e < 0)
            cost += Fraction(level, hierarchy.height) * min(too_many, too_few)
    return cost


def is_recursively_diverse(of: Values, c: float, l: int) -> bool:  # noqa: E741  (the literature's name)
    """An attacker who rules out any l - 2 values still finds no other in c times as many rows as the rest, or more.

    So the authors say what r1 < c (rl + … + rm) means: A. Machanavajjhala and others, 2007, section 4.2.
    """
    left = (Counter({value: of[value] for value in kept}) for kept in combinations(of, max(0, len(of) - l + 2)))
    return len(of) >= l and all(max(rest.values()) < c * (rest.total() - max(rest.values())) for rest in left)


def gains(of: Values, table: Values) -> list[float]:
    return [float(share(of, value) / share(table, value)) - 1 for value in of]


DEFINED: Sequence[Defined] = [
    Defined(k_anonymity(3), lambda of, _: size(of) >= 3),
    Defined(l_diversity("ill", 2), lambda of, _: len(of) >= 2),
    Defined(l_diversity("ill", 2, "entropy"), lambda of, _: one_value_each(of) and entropy(of) >= log(2) - 1e-9),
    Defined(
        l_diversity("ill", 2, "recursive", c=2),
        lambda of, _: one_value_each(of) and is_recursively_diverse(of, 2, 2),
    ),
    Defined(
        t_closeness("ill", 0.3),
        lambda of, table: one_value_each(of, table) and equal_distance(of, table) <= Fraction(3, 10),
    ),
    Defined(
        t_closeness("ill", 0.2, "ordered"),
        lambda of, table: one_value_each(of, table) and ordered_distance(of, table) <= Fraction(1, 5),
    ),
    Defined(
        t_closeness("ill", 0.25, "hierarchical", HALVES),
        lambda of, table: one_value_each(of, table) and hierarchical_distance(of, table, HALVES) <= Fraction(1, 4),
    ),
    Defined(alpha("ill", 0.5), lambda of, _: max(share(of, value) for value in of) <= Fraction(1, 2)),
    Defined(alpha("ill", 0.25, "2"), lambda of, _: share(of, 2) <= Fraction(1, 4)),
    Defined(beta_likeness("ill", 0.8, "basic"), lambda of, table: max(gains(of, table)) <= 0.8 + 1e-9),
    Defined(
        beta_likeness("ill", 0.8),
        lambda of, table: all(
            float(share(of, v) / share(table, v)) - 1 <= min(0.8, -log(share(table, v))) + 1e-9 for v in of
        ),
    ),
    Defined(
        delta_disclosure("ill", 0.8),
        lambda of, table: set(of) == set(table) and all(abs(log(1 + gain)) < 0.8 for gain in gains(of, table)),
    ),
]


# With a population


@dataclass(frozen=True)
class Populated:
    """A model with a population: its condition on classes, by the rows (or people) released and in the population.

    `least` and `most`: bounds of the share; `size`: the rows of the population that a class stands for. Of all classes
    together, by the rows of each and those of the population: a `figure`, and the `highest` that it may be.
    """

    make: Callable[[Any], PrivacyModel | ReleaseModel]
    size: int = 1
    least: Fraction = Fraction(0)
    most: Fraction = Fraction(1)
    figure: Callable[[Sequence[tuple[int, int]]], Fraction] | None = None
    highest: Fraction = Fraction(1)

    def __str__(self) -> str:
        return f"{self.make('a population').name} {self.make('a population').required}"

    def is_safe(self, rows: int, people: int) -> bool:
        few = self.most == 1 or rows <= self.most * people  # k-map says nothing of the share
        return people >= self.size and self.least * people <= rows and few

    def achieved(self, classes: Sequence[tuple[int, int]]) -> float:
        """The worst figure of the classes, by their rows and people."""
        if self.figure:
            return float(self.figure(classes))
        name = self.make("a population").name
        if name == "k-map":
            return min(people for _, people in classes)
        if name == "highest journalist risk":
            return float(max(Fraction(1, people) for _, people in classes))
        shares = [Fraction(rows, people) for rows, people in classes]
        return float(max(shares) if self.most < 1 else min(shares))


def mean_in_population(classes: Sequence[tuple[int, int]]) -> Fraction:
    """The mean of 1 / people over rows, or over the people to whom the classes correspond, if that is more."""
    of_rows = sum(Fraction(rows, people) for rows, people in classes) / sum(rows for rows, _ in classes)
    return max(of_rows, Fraction(len(classes), sum(people for _, people in classes)))


def above_in_population(threshold: Fraction) -> Callable[[Sequence[tuple[int, int]]], Fraction]:
    """The share of rows that match so few people that the risk is above a threshold."""

    def share_of(classes: Sequence[tuple[int, int]]) -> Fraction:
        above = sum(rows for rows, people in classes if Fraction(1, people) > threshold)
        return Fraction(above, sum(rows for rows, _ in classes))

    return share_of


def _mean_risk(most: Fraction) -> Populated:
    return Populated(
        lambda population: journalist_risk(mean=float(most), population=population)[0],
        figure=mean_in_population,
        highest=most,
    )


def _above_risk(threshold: Fraction, share: Fraction) -> Populated:
    return Populated(
        lambda population: journalist_risk(above=float(threshold), share=float(share), population=population)[0],
        figure=above_in_population(threshold),
        highest=share,
    )


POPULATED: Sequence[Populated] = [
    Populated(lambda population: k_map(2, population), size=2),
    Populated(lambda population: k_map(5, population), size=5),
    Populated(lambda population: journalist_risk(0.3, population)[0], size=4),
    _mean_risk(Fraction(3, 10)),
    _mean_risk(Fraction(1, 5)),
    _above_risk(Fraction(1, 4), Fraction(2, 5)),
    Populated(lambda population: delta_presence(0, 0.5, population), most=Fraction(1, 2)),
    Populated(lambda population: delta_presence(0, 0.75, population), most=Fraction(3, 4)),
    Populated(lambda population: delta_presence(0.25, 1, population), least=Fraction(1, 4)),
    Populated(lambda population: delta_presence(0.2, 0.8, population), least=Fraction(1, 5), most=Fraction(4, 5)),
]


# All classes together, by their sizes


@dataclass(frozen=True)
class OfSizes:
    """A model by the sizes of all released classes: a figure, and the most that it may be."""

    models: Sequence[PrivacyModel | ReleaseModel]
    figures: Sequence[tuple[Callable[[Sequence[int]], float], float]]

    def __str__(self) -> str:
        return " and ".join(f"{model.name} {model.required}" for model in self.models)


def highest_risk(sizes: Sequence[int]) -> float:
    return 1 / min(sizes)


def mean_risk(sizes: Sequence[int]) -> float:
    """The mean over rows of 1 / the size of the row's class."""
    return float(sum(Fraction(1, size) for size in sizes for _ in range(size)) / sum(sizes))


def share_above(threshold: float) -> Callable[[Sequence[int]], float]:
    return lambda sizes: sum(size for size in sizes if 1 / size > threshold) / sum(sizes)


def zayatz(fraction: Fraction) -> Callable[[Sequence[int]], float]:
    """Bayes: classes of the population are of i rows as often as those of the sample; how many seen once are unique."""

    def estimate(sizes: Sequence[int]) -> float:
        if not (ones := sizes.count(1)):
            return 0.0
        drawn, population = sum(sizes), int(sum(sizes) / fraction)

        def seen_once(size: int) -> Fraction:
            return Fraction(size * comb(population - size, drawn - 1), comb(population, drawn))

        unique = seen_once(1) * ones / sum(seen_once(size) for size in sizes)  # of the classes that are seen once
        return min(1.0, float(unique * ones / drawn))

    return estimate


def pitman(fraction: Fraction) -> Callable[[Sequence[int]], float]:
    """The likeliest θ and α by trial; a person is unique if none of the N - 1 others, one by one, joins their class."""

    def estimate(sizes: Sequence[int]) -> float:
        if max(sizes) == 1 or 1 not in sizes:
            return float(max(sizes) == 1)
        alpha = likeliest(lambda alpha: log_likelihood(sizes, theta_of(sizes, alpha), alpha), 0, 1 - 1e-9)
        theta = theta_of(sizes, alpha)
        alone = 1.0
        for others in range(1, int(sum(sizes) / fraction)):
            alone *= (theta + alpha + others - 1) / (theta + others)
        return alone

    return estimate


def theta_of(sizes: Sequence[int], alpha: float) -> float:
    """The likeliest θ above -α."""
    return exp(likeliest(lambda above: log_likelihood(sizes, exp(above) - alpha, alpha), -18, 18)) - alpha


def log_likelihood(sizes: Sequence[int], theta: float, alpha: float) -> float:
    """Pitman's: a new row joins a class of i by i - α, or forms a new one by θ + α times the classes so far."""
    likely, seated = 0.0, 0
    for place, size in enumerate(sizes):
        for others in range(size):
            if seated:
                likely += log((others - alpha if others else theta + alpha * place) / (theta + seated))
            seated += 1
    return likely


def likeliest(of: Callable[[float], float], low: float, high: float) -> float:
    """The maximum of a function with one peak, by ternary search."""
    for _ in range(45):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        low, high = (left, high) if of(left) < of(right) else (low, right)
    return (low + high) / 2


def _unique(estimator: Any, share: float, fraction: Fraction, figure: Callable[[Sequence[int]], float]) -> OfSizes:
    return OfSizes([population_uniqueness(share, float(fraction), estimator)], [(figure, share)])


SIZED: Sequence[OfSizes] = [
    OfSizes(prosecutor_risk(highest=0.5), [(highest_risk, 0.5)]),
    OfSizes(prosecutor_risk(mean=0.4), [(mean_risk, 0.4)]),
    OfSizes(prosecutor_risk(above=0.34, share=0.4), [(share_above(0.34), 0.4)]),
    OfSizes(
        prosecutor_risk(highest=0.5, mean=0.3, above=0.25, share=0.5),
        [(highest_risk, 0.5), (mean_risk, 0.3), (share_above(0.25), 0.5)],
    ),
    OfSizes([marketer_risk(0.45)], [(mean_risk, 0.45)]),
    _unique("zayatz", 0.05, Fraction(1, 2), zayatz(Fraction(1, 2))),
    _unique("pitman", 0.05, Fraction(1, 2), pitman(Fraction(1, 2))),
    _unique("dankar", 0.02, Fraction(1, 10), pitman(Fraction(1, 10))),
    _unique("dankar", 0.2, Fraction(1), lambda sizes: sizes.count(1) / sum(sizes)),
]
