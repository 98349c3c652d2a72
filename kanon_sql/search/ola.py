"""Optimal Lattice Anonymization (El Emam et al., JAMIA 16(5), 2009)."""

from __future__ import annotations

from collections.abc import Generator

from kanon_sql.lattice import Lattice, Node
from kanon_sql.search.space import Score, Search, Space, Test, test

Parts = set[tuple[Node, Node]]


def ola(space: Space) -> Search:
    """Find the k-minimal nodes by binary search of sublattices, and score them.

    Needs a monotone privacy model. The best k-minimal node is the optimum where the metric is monotone
    (precision, height; any metric if nothing may be suppressed); otherwise a higher node can be better.
    """
    anonymous: list[Node] = []
    yield from _search(space, space.lattice, anonymous, set())
    yield Score([node for node in anonymous if is_minimal(space, node)])


def is_minimal(space: Space, node: Node) -> bool:
    """Whether an anonymous node is known to have no anonymous node below it."""
    return all(space.tags.status(lower) is False for lower in space.lattice.predecessors(node))


def _search(
    space: Space, part: Lattice, anonymous: list[Node], done: Parts
) -> Generator[Test | Score, list[bool], None]:
    """Settle a sublattice whose top is anonymous, halving it at its middle level."""
    # A k-minimal node is never tagged anonymous by another, so it is always among those asked.
    if (part.bottom, part.top) in done or space.tags.settled_between(part.bottom, part.top):
        return
    done.add((part.bottom, part.top))
    if part.height <= 1:
        if not (yield from _ask(space, part.bottom, anonymous)):
            yield from _ask(space, part.top, anonymous)
        return
    for node in part.at_height(part.height // 2):
        held = yield from _ask(space, node, anonymous)
        half = Lattice(part.bottom, node) if held else Lattice(node, part.top)
        yield from _search(space, half, anonymous, done)


def _ask(space: Space, node: Node, anonymous: list[Node]) -> Generator[Test | Score, list[bool], bool]:
    asked = space.tags.status(node) is None
    held = yield from test(space, node)
    if asked and held:
        anonymous.append(node)
    return held
