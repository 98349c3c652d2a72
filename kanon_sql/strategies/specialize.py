"""Specialization from the top: a good node after few tests, for judges whose tests take seconds."""

from __future__ import annotations

from kanon_sql.generalization.lattice import at_level
from kanon_sql.strategies.auto import auto
from kanon_sql.strategies.space import Score, Search, Space, Test


def specialize(space: Space) -> Search:
    """Lower one attribute after another by a level, the one that saves most first, as long as the node is anonymous.

    An attribute whose next level is not anonymous stays where it is: further down, when the others are lower too, it
    rarely is. At most as many tests as the lattice is high. Every node on the way is scored, so that an interrupted
    search has the last one.
    """
    node = space.lattice.top
    bottom = space.lattice.bottom
    open_attributes = {j for j in range(len(node)) if node[j] > bottom[j]}
    while open_attributes:
        saved = {j: space.parts[j][node[j]] - space.parts[j][node[j] - 1] for j in open_attributes}
        chosen = max(sorted(saved), key=saved.__getitem__)
        lower = at_level(node, chosen, node[chosen] - 1)
        (anonymous,) = yield Test([lower])
        if not anonymous:
            open_attributes.discard(chosen)
            continue
        yield Score([lower])
        node = lower
        if node[chosen] == bottom[chosen]:
            open_attributes.discard(chosen)


def specialize_first(space: Space) -> Search:
    """Specialize from the top, then search for the optimum as `auto` does."""
    yield from specialize(space)
    yield from auto(space)
