"""Weighted hierarchical distance (WHD): how much of a value is lost on the way up its hierarchy.

Source: J. Li, R. C.-W. Wong, A. W.-C. Fu, J. Pei, Achieving k-anonymity by clustering in attribute hierarchical
structures, DaWaK 2006, section 3; Anonymization by local recoding in data with attribute hierarchical
taxonomies, TKDE 20(9), 2008. Their levels are counted from the root, 1, down to the values, h; everywhere
else here they are counted from the values, 0, up to the top.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kanon_sql.errors import SpecError
from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import hierarchical_distances


def weighted_hierarchical_distance(p: int, q: int, h: int, beta: float = 0.0) -> float:
    """WHD(p, q) as the paper writes it: from level p up to level q of h, where 1 is the root; 0 to 1.

    The step from level j to j - 1 weighs 1 / (j - 1)^beta: with beta 0 all steps are alike, with more the
    steps near the root cost most. SpecError for levels that are not 1 <= q <= p <= h.

    >>> weighted_hierarchical_distance(6, 3, h=6), round(weighted_hierarchical_distance(6, 3, h=6, beta=1), 4)
    (0.6, 0.3431)
    """
    if not 1 <= q <= p <= h:
        raise SpecError(f"levels {p} and {q} of a hierarchy of {h} are not 1 <= q <= p <= h")
    distances = hierarchical_distances(h - 1, beta)
    return distances[h - q] - distances[h - p]


def distortion(levels: Node, distances: Sequence[Sequence[float]], weights: Sequence[float] | None = None) -> float:
    """The distortion of one tuple whose cells stand on these levels: the sum of their distances, each by its weight.

    `distances`: one per attribute, from `kanon_sql.loss.hierarchical_distances`. That of a table is the sum over rows.

    >>> distortion((3, 1), [hierarchical_distances(5), hierarchical_distances(1)], weights=[1.0, 0.5])
    1.1
    """
    each = zip(levels, distances, weights or [1.0] * len(levels), strict=True)
    return sum(weight * of_level[level] for level, of_level, weight in each)


def modification_rate(cells: Iterable[tuple[Any, Any]]) -> float:
    """The share of quasi-identifier cells that were changed: `cells` holds the original and the released of each.

    >>> modification_rate([("male", "male"), ("1962", "196*"), ("male", "*"), (None, None)])
    0.5
    """
    changed = [original != released for original, released in cells]
    return sum(changed) / len(changed) if changed else 0.0
