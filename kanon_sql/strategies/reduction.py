"""Lattice reduction: the least levels that attributes need on their own."""

from __future__ import annotations

from collections.abc import Generator

from kanon_sql.generalization.lattice import Lattice, Node, at_level
from kanon_sql.strategies.space import Score, Space, Test


def lattice_minimum(space: Space) -> Generator[Test | Score, list[bool], Node]:
    """The node below which, in any attribute, nothing is anonymous (De Pascale et al. 2022, section 3.2).

    Its levels are the least at which an attribute alone, all others at the lattice's top, meets the
    privacy model with the same suppression limit. The levels are bisected, all attributes in one request, so that
    hierarchies of height h take about log2(h) requests.

    Every anonymous node generalizes it if the privacy model is monotone, with a suppression limit too: raising the
    other attributes of an anonymous node to the top leaves no more rows at risk, so the node with only this attribute
    below the top is anonymous as well. (Section 7 of the paper doubts it, for attributes checked one after the other
    on the rows that the previous ones have left. Here they are all checked on the whole table.) Without a monotone
    model it is the least level that still promises (`Space.promises`), which is monotone; if nodes
    imply nothing about others it is the lattice's bottom, without tests.
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
