"""How good a set of nodes is: the measures of KGen's evaluation (De Pascale et al. 2022, section 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kanon_sql.lattice import Lattice, Node, below


def level_of_generalization(node: Node, heights: Node) -> float:
    """LOG: the mean of level / height over the attributes that can be generalized, 0 (unchanged) to 1.

    >>> round(level_of_generalization((1, 0, 0), (3, 4, 1)), 2), round(level_of_generalization((0, 0, 1), (3, 4, 1)), 2)
    (0.11, 0.33)
    """
    shares = [level / height for level, height in zip(node, heights, strict=True) if height]
    return sum(shares) / len(shares) if shares else 0.0


def level_of_suppression(suppressed: int, rows: int) -> float:
    """LOS: the share of the rows that are suppressed."""
    return suppressed / rows if rows else 0.0


def accuracy_of(optimal: Node, found: Iterable[Node], lattice: Lattice) -> float:
    """How near a k-minimal node was come to: 1 if it was found, 0 if nothing above it but the top.

    Of the nodes found that generalize it, the lowest counts, by its place between the optimal node and the top.

    >>> accuracy_of((1, 0), [(0, 3), (1, 1), (2, 2)], Lattice((0, 0), (2, 3)))
    0.75
    """
    room = sum(lattice.top) - sum(optimal)
    above = [sum(node) - sum(optimal) for node in found if below(optimal, node)]
    if not above:
        return 0.0
    return 1 - min(above) / room if room else 1.0


def accuracy(
    optimal_nodes: Iterable[Node], found_nodes: Iterable[Node], lattice: Lattice, log: Callable[[Node], float]
) -> float:
    """KGen's general accuracy: the mean of `accuracy_of` over the k-minimal nodes, weighted by 1 - LOG.

    `optimal_nodes`: all k-minimal nodes, as an exhaustive search leaves them (`Outcome.minimal`). `log`: the level of
    generalization of a node.

    >>> lattice = Lattice((0, 0, 0), (3, 4, 1))
    >>> log = lambda node: level_of_generalization(node, lattice.top)
    >>> accuracy([(2, 1, 1), (3, 4, 0)], [(2, 1, 1)], lattice, log)
    0.52
    """
    found = list(found_nodes)
    weighted = [(1 - log(node), accuracy_of(node, found, lattice)) for node in optimal_nodes]
    total = sum(weight for weight, _ in weighted)
    if not total:
        return sum(value for _, value in weighted) / len(weighted) if weighted else 0.0
    return sum(weight * value for weight, value in weighted) / total
