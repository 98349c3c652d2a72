"""Search strategies: each a generator in a file of its own, all run by one driver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kanon_sql.errors import SpecError
from kanon_sql.search.best_first import auto, best_first
from kanon_sql.search.driver import Driver, Outcome, Progress, Step
from kanon_sql.search.exhaustive import exhaustive
from kanon_sql.search.kgen import kgen
from kanon_sql.search.memetic import memetic
from kanon_sql.search.ola import ola
from kanon_sql.search.random_nodes import random_nodes
from kanon_sql.search.space import Search, Space

__all__ = ["STRATEGIES", "Driver", "Outcome", "Progress", "Step", "Strategy", "strategy"]


@dataclass(frozen=True)
class Strategy:
    """A named search, and what it returns when it may run to its end."""

    name: str
    search: Callable[[Space], Search]
    promise: str
    default_seconds: float | None = None


STRATEGIES = {
    found.name: found
    for found in (
        Strategy("auto", auto, "the optimum", default_seconds=60.0),
        Strategy("best_first", best_first, "the optimum"),
        Strategy("exhaustive", exhaustive, "the optimum"),
        Strategy("ola", ola, "the best of the k-minimal nodes"),
        Strategy("memetic", memetic, "a good node"),
        Strategy("kgen", kgen, "the best node bred"),
        Strategy("random", random_nodes, "the best node drawn"),
    )
}


def strategy(name: str) -> Strategy:
    """Look a strategy up by its name.

    >>> strategy("ola").promise
    'the best of the k-minimal nodes'
    """
    if name not in STRATEGIES:
        raise SpecError(f"{name!r} is not a strategy; choose one of {', '.join(STRATEGIES)}")
    return STRATEGIES[name]
