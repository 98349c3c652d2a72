"""Measures how close anonymous nodes are to the k-minimal ones (KGen, arXiv 2204.01533)."""

from __future__ import annotations

from collections.abc import Sequence

from kanon_sql.generalization.lattice import Lattice, Node, below


def accuracy(optimal: Sequence[Node], nodes: Sequence[Node], lattice: Lattice, heights: Node) -> float:
    """KGen's accuracy of the nodes found, from 0 to 1; 1 if every optimal node is among them.

    `optimal`: the k-minimal nodes. A node counts 1 - (steps from it to the nearest node found above it) / (steps
    from it to the top), and 0 if none was found above it; the mean is weighted by 1 - level of generalization.
    It depends on the levels alone, whatever the metric and the privacy model.

    >>> lattice = Lattice((0, 0), (2, 2))
    >>> accuracy([(0, 0)], [(0, 1), (2, 2)], lattice, (2, 2))
    0.75
    """
    if not optimal:
        raise ValueError("there is no optimal node to compare with")
    weights = [1 - level_of_generalization(node, heights) for node in optimal]
    if not sum(weights):  # only the node that generalizes everything, with weight 0
        weights = [1.0] * len(optimal)
    near = (_nearness(node, nodes, sum(lattice.top)) for node in optimal)
    return sum(weight * share for weight, share in zip(weights, near, strict=True)) / sum(weights)


def level_of_generalization(node: Node, heights: Node) -> float:
    """KGen's LOG: the mean of level / height, over the attributes that have a height.

    >>> level_of_generalization((1, 0), (2, 4))
    0.25
    """
    shares = [level / height for level, height in zip(node, heights, strict=True) if height]
    return sum(shares) / len(shares) if shares else 0.0


def _nearness(node: Node, nodes: Sequence[Node], top: int) -> float:
    above = [sum(other) - sum(node) for other in nodes if below(node, other)]
    if not above:
        return 0.0
    to_top = top - sum(node)
    return 1 - min(above) / to_top if to_top else 1.0
