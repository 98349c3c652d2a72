"""Searches for identical generalization hierarchies: all quasi-identifiers share one (Mahanan et al.)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle

from kanon_sql.errors import SpecError
from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.loss import Costs
from kanon_sql.strategies.depth_first import walk
from kanon_sql.strategies.space import Score, Search, Space, Test, in_chunks


def extended_igh(space: Space) -> Search:
    """Find the lowest level that has an anonymous node, by in-order routes (Mahanan et al., World Wide Web 2021).

    Needs a monotone privacy model, and one hierarchy for all quasi-identifiers, between the same levels; else
    SpecError. All nodes of a level then have the same precision and height, so the result is optimal by these two
    metrics; among equal nodes it has the least average class size. By any other metric it is the best
    anonymous node of that level, and a node above it can be better.

    The routes follow a depth-first walk, in-order, no higher than the lowest level found anonymous; levels above
    it are not searched. The bottom is tested first, as in the paper's example: 000, 222, 221, 220. The paper's listing
    starts from the bottom, which would be pre-order.
    """
    return _lowest(space, [1], first=[space.lattice.bottom])


def optimal_igh(space: Space) -> Search:
    """Find the same node as `extended_igh` by pre-order and post-order routes (Mahanan et al., SOCA 2020).

    Conditions and guarantees: as in `extended_igh`. The source for the algorithm is only the later paper (2021),
    which states that it performs both orders, but not how they are combined. Here they alternate, test by test, on
    common tags, until one of them is finished.
    """
    return _lowest(space, [0, len(space.lattice.top)])


def check_identical(lattice: Lattice, costs: Costs, name: str) -> None:
    """SpecError if the quasi-identifiers differ in their hierarchies or in the levels allowed."""
    first = costs.columns[0]
    if costs.differing is not None:
        raise not_identical(name, "hierarchy", costs.differing, first)
    bounds = list(zip(lattice.bottom, lattice.top, strict=True))
    for column, levels in zip(costs.columns, bounds, strict=True):
        if levels != bounds[0]:
            raise not_identical(name, "min_level and max_level", column, first)


def not_identical(name: str, what: str, column: str, first: str) -> SpecError:
    """The error that a column has another hierarchy, or other levels, than the first."""
    return SpecError(
        f"{name} needs the same {what} for all quasi-identifiers, and {column!r} differs from {first!r}; "
        "make them the same, or use best_first"
    )


def _lowest(space: Space, orders: list[int], first: Sequence[Node] = ()) -> Search:
    """Settle all nodes up to the lowest level with an anonymous one, then score that level."""
    yield Test(first)
    lowest = sum(space.lattice.top)

    def enter(node: Node, highest: Node) -> bool:
        return sum(node) <= lowest and space.tags.status(highest) is not False

    walks: list[Iterator[Node]] = [walk(space.lattice, order, enter) for order in orders]
    for nodes in cycle(walks):
        node = next((node for node in nodes if sum(node) <= lowest), None)
        if node is None:
            break
        (is_anonymous,) = yield Test([node])
        if is_anonymous:
            lowest = sum(node)
    for chunk in in_chunks(space.lattice.at_height(lowest - sum(space.lattice.bottom))):
        yield Score(chunk, by_class_size=True)
