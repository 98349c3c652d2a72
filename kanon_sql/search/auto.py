"""The default: find a good node soon, then prove that none is better."""

from __future__ import annotations

from kanon_sql.search.ola import ola
from kanon_sql.search.space import Score, Search, Space


def auto(space: Space) -> Search:
    """Settle the lattice by OLA, then score every anonymous node that its level costs do not rule out.

    Finds the optimum of every metric; one that is monotone is proven as soon as OLA ends.
    """
    yield from ola(space)
    yield Score(space.open_nodes(), cheapest_first=True)
