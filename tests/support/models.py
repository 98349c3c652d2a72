"""Privacy models in plain Python, by their definitions: what a class is, by the rows of each of its values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any

from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.privacy import (
    PrivacyModel,
    alpha,
    beta_likeness,
    delta_disclosure,
    k_anonymity,
    l_diversity,
    t_closeness,
)

Values = Counter[Any]
HALVES = Hierarchy((1, 2, 3, 4), (("low", "low", "high", "high"), ("*", "*", "*", "*")))


@dataclass(frozen=True)
class Defined:
    """A privacy model, and whether a class is safe by its definition: (the class, the whole table) to a truth."""

    model: PrivacyModel
    is_safe: Callable[[Values, Values], bool]

    def __str__(self) -> str:
        return self.model.name


def share(of: Values, value: Any) -> Fraction:
    return Fraction(of[value], of.total())


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
            below = [each for (_, above), each in extra(level - 1).items() if above == node]
            too_many, too_few = sum(e for e in below if e > 0), -sum(e for e in below if e < 0)
            cost += Fraction(level, hierarchy.height) * min(too_many, too_few)
    return cost


def tail(of: Values, place: int) -> int:
    return sum(sorted(of.values(), reverse=True)[place - 1 :])


def gains(of: Values, table: Values) -> list[float]:
    return [float(share(of, value) / share(table, value)) - 1 for value in of]


DEFINED: Sequence[Defined] = [
    Defined(k_anonymity(3), lambda of, _: of.total() >= 3),
    Defined(l_diversity("ill", 2), lambda of, _: len(of) >= 2),
    Defined(l_diversity("ill", 2, "entropy"), lambda of, _: entropy(of) >= log(2) - 1e-9),
    Defined(l_diversity("ill", 2, "recursive", c=2), lambda of, _: max(of.values()) < 2 * tail(of, 2)),
    Defined(t_closeness("ill", 0.3), lambda of, table: equal_distance(of, table) <= Fraction(3, 10)),
    Defined(t_closeness("ill", 0.2, "ordered"), lambda of, table: ordered_distance(of, table) <= Fraction(1, 5)),
    Defined(
        t_closeness("ill", 0.25, "hierarchical", HALVES),
        lambda of, table: hierarchical_distance(of, table, HALVES) <= Fraction(1, 4),
    ),
    Defined(alpha("ill", 0.5), lambda of, _: 2 * max(of.values()) <= of.total()),
    Defined(alpha("ill", 0.25, "2"), lambda of, _: 4 * of[2] <= of.total()),
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
