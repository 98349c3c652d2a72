"""Search strategies: generators in separate files, all run by the same driver."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.loss import Costs
from kanon_sql.own import Own
from kanon_sql.strategies.auto import auto
from kanon_sql.strategies.best_first import best_first
from kanon_sql.strategies.certified import certified
from kanon_sql.strategies.datafly import datafly
from kanon_sql.strategies.depth_first import depth_first
from kanon_sql.strategies.driver import Driver, Progress, SearchOutcome, TraceEntry
from kanon_sql.strategies.exhaustive import exhaustive
from kanon_sql.strategies.flash import flash
from kanon_sql.strategies.igh import check_identical, extended_igh, optimal_igh
from kanon_sql.strategies.incognito import incognito
from kanon_sql.strategies.kgen import kgen
from kanon_sql.strategies.local_search import local_search
from kanon_sql.strategies.memetic import memetic
from kanon_sql.strategies.ola import ola
from kanon_sql.strategies.random_nodes import random_nodes
from kanon_sql.strategies.samarati import samarati
from kanon_sql.strategies.space import Score, Search, Space, Test

__all__ = [
    "STRATEGIES",
    "Driver",
    "Progress",
    "Score",
    "SearchOutcome",
    "Space",
    "Strategy",
    "Test",
    "TraceEntry",
    "strategy",
]
_BEST_MINIMAL = "the best of the k-minimal nodes"
_BEST_LOWEST = "the best of the anonymous nodes of least height"
_ANY_MODEL = ("auto", "best_first", "certified")  # that prove the optimum, and prune soundly under any model


@dataclass(frozen=True)
class Strategy:
    """A named search, and what it returns if nothing stops it.

    `monotone_only`: it draws conclusions from a node about nodes above and below, so it needs a monotone privacy model.
    `one_hierarchy`: it needs the same hierarchy, between the same levels, for all quasi-identifiers.
    """

    name: str
    search: Callable[[Space], Search]
    promise: str
    default_seconds: float | None = None
    monotone_only: bool = False
    one_hierarchy: bool = False

    def __call__(self, space: Space) -> Search:
        """Start the search; SpecError if the privacy model or the hierarchies do not suit it."""
        self.check(space.monotone_model)
        self.check_hierarchies(space.lattice, space.costs)
        return self.search(space)

    def check_hierarchies(self, lattice: Lattice, costs: Costs) -> None:
        """Refuse different hierarchies, or different bounds of their levels, if the search needs equal ones."""
        if self.one_hierarchy:
            check_identical(lattice, costs, self.name)

    def check(self, monotone_model: bool, which: str = "") -> None:
        """Refuse a privacy model that the search cannot work with; `which`: the reason why it is not monotone.

        >>> strategy("exhaustive").check(monotone_model=False)
        """
        if self.monotone_only and not monotone_model:
            reason = f", and {which}" if which else ""
            raise SpecError(f"{self.name} needs a monotone privacy model{reason}; use {' or '.join(_ANY_MODEL)}")


STRATEGIES = {
    strategy.name: strategy
    for strategy in (
        Strategy("auto", auto, "the optimum", default_seconds=60.0),
        Strategy("best_first", best_first, "the optimum"),
        Strategy("certified", certified, "the optimum"),
        Strategy("exhaustive", exhaustive, "the optimum"),
        Strategy("depth_first", depth_first, "the optimum"),
        Strategy("flash", flash, "the optimum", monotone_only=True),
        Strategy("ola", ola, _BEST_MINIMAL, monotone_only=True),
        Strategy("incognito", incognito, _BEST_MINIMAL, monotone_only=True),
        Strategy("samarati", samarati, _BEST_LOWEST, monotone_only=True),
        Strategy("optimal_igh", optimal_igh, _BEST_LOWEST, monotone_only=True, one_hierarchy=True),
        Strategy("extended_igh", extended_igh, _BEST_LOWEST, monotone_only=True, one_hierarchy=True),
        Strategy("datafly", datafly, "an anonymous node"),
        Strategy("memetic", memetic, "a good node"),
        Strategy("local_search", local_search, "a good node"),
        Strategy("kgen", kgen, "the best node bred"),
        Strategy("random", random_nodes, "the best node drawn"),
    )
}


def strategy(name: str) -> Strategy:
    """Look up a strategy by its name; a user's strategy is part of its name (see `Own`).

    >>> strategy("ola").promise
    'the best of the k-minimal nodes'
    """
    if isinstance(name, Own):
        own = name.value if isinstance(name.value, Strategy) else Strategy(name, name.value, "the best node it scores")
        return replace(own, search=_checked(own))
    if name not in STRATEGIES:
        raise SpecError(f"{name!r} is not a strategy; choose one of {', '.join(STRATEGIES)}")
    return STRATEGIES[name]


def _checked(own: Strategy) -> Callable[[Space], Search]:
    """A user's search whose requests are checked; untested nodes are tested before they are scored."""

    def search(space: Space) -> Search:
        requests: Any = own.search(space)
        if not isinstance(requests, Generator):
            raise SpecError(
                f"the strategy {own.name} returned {type(requests).__name__}; write a generator that yields "
                "Test(nodes) and Score(nodes)"
            )
        try:
            request = next(requests)
            while True:
                nodes = _nodes_of(request, own, space.lattice)
                untested = [node for node in nodes if space.tags.status(node) is None]
                if isinstance(request, Score) and untested:
                    yield Test(untested)
                request = requests.send((yield replace(request, nodes=nodes)))
        except StopIteration:
            return
        finally:
            requests.close()

    return search


def _nodes_of(request: Any, own: Strategy, lattice: Lattice) -> list[Node]:
    """The nodes of a user's request; SpecError for another object, or a node outside the lattice."""
    if not isinstance(request, (Test, Score)):
        raise SpecError(f"the strategy {own.name} yielded {request!r}; yield Test(nodes) or Score(nodes)")
    nodes = list(request.nodes)
    for node in nodes:
        if not isinstance(node, tuple) or not lattice.has(node):
            raise SpecError(
                f"the strategy {own.name} asked for {node!r}, which is not a node; a node is a tuple of one level per "
                f"quasi-identifier, from {lattice.bottom} to {lattice.top}"
            )
    return nodes
