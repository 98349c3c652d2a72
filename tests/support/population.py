"""Samples of a population, and what models ask of their classes, in plain Python."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from random import Random
from typing import Any

from kanon_sql.privacy import PrivacyModel, delta_presence, k_anonymity, k_map, l_diversity

_numbers = count()


@dataclass(frozen=True)
class Asked:
    """What every class is held to: rows, rows of the population, the share of these, different values."""

    k: int = 1
    k_map: int = 1
    least: Fraction = Fraction(0)
    most: Fraction = Fraction(1)
    values: int = 1

    def models(self, population: Any) -> list[PrivacyModel]:
        made = [k_map(self.k_map, population), k_anonymity(self.k)]
        if self.least > 0 or self.most < 1:
            made.append(delta_presence(float(self.least), float(self.most), population))
        return made + ([l_diversity("ill", self.values)] if self.values > 1 else [])

    def is_safe(self, rows: int, people: int, values: int) -> bool:
        share = self.least * people <= rows <= self.most * people
        return rows >= self.k and people >= self.k_map and share and values >= self.values


def people(rows: int, seed: int = 1) -> list[tuple[Any, ...]]:
    draw = Random(seed)
    zips = ["123", "124", "131", "222", None]
    return [(draw.choice([*range(20, 60), None]), draw.choice(zips), draw.choice("xyz")) for _ in range(rows)]
