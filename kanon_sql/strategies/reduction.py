"""Lattice reduction: the least level that each attribute needs on its own."""

from __future__ import annotations

from collections.abc import Generator

from kanon_sql.generalization.lattice import Lattice, Node, at_level
from kanon_sql.strategies.space import Score, Space, Test


def lattice_minimum(space: Space) -> Generator[Test | Score, list[bool], Node]:
    """The node below which, in any attribute, nothing is anonymous (De Pascale et al. 2022, section 3.2).

    Per attribute it holds the least level at which that attribute alone, all others at the lattice's top, meets the
    privacy model with the same suppression limit. The levels are bisected, all attributes in one request, so that
    hierarchies of height h take about log2(h) requests.

    Every anonymous node generalizes it if the privacy model is monotone, with a suppression limit too: raising the
    other attributes of an anonymous node to the top leaves no more rows at risk, so the node with only this attribute
    below the top is anonymous as well. (Section 7 of the paper doubts it, for attributes checked one after the other,
    each on the rows that the ones before have left. Here each is checked on the whole table.) Without a monotone
    model it is the least level that still promises (`Space.promises`), which is monotone; where no node tells of others
    it is the lattice's bottom, and nothing is asked.
    """
    low, top = list(space.lattice.bottom), space.lattice.top
    high = list(top)
    while space.prunes and low != high:
        middle = {j: (low[j] + high[j]) // 2 for j in range(len(top)) if low[j] < high[j]}
        probes = {j: at_level(top, j, level) for j, level in middle.items()}
        yield Test([node for node in probes.values() if space.promises(node) is None], reduction=True)
        for j, level in middle.items():
            low[j], high[j] = (low[j], level) if space.promises(probes[j]) else (level + 1, high[j])
    return tuple(low)


def reduced(space: Space) -> Generator[Test | Score, list[bool], Lattice]:
    """The lattice from its reduced bottom up; see `lattice_minimum`."""
    return Lattice((yield from lattice_minimum(space)), space.lattice.top)
