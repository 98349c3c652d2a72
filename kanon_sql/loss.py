"""Metrics as values: the score of a node, and a lower bound for it and all nodes above it.

Lower is always better. The database sums up the figures (`sql/node_tests.sql`, `node_classes.sql`); this module divides
them.

- `precision`: mean of level / height over the released cells (Sweeney 2002; here 0 = unchanged).
- `height`: sum of levels.
- `loss`: mean over attributes of the mean over all source rows of (M - 1) / (|A| - 1), M the leaves under
  the released label, |A| all leaves, 1 for a suppressed row (Iyengar 2002).
- `loss_geometric`: the same per attribute, combined as the product of (1 + x) ^ (1 / attributes), less 1 (ARX's Loss).
- `discernibility`: sum of squared class sizes, suppressed rows counting all rows each (Bayardo, Agrawal 2005).
- `average_class_size`: released rows / (classes * k), the C_avg of LeFevre et al. 2006.
- `distortion`: mean weighted hierarchical distance between a cell and its label, 1 for a suppressed row and for a value
  that is missing in the hierarchy (J. Li, R. Wong, A. Fu, J. Pei, TKDE 20(9), 2008, whose distortion of a table is this
  times rows and attributes). `intensity`: the same with equal weights for all steps, the mean of level / height.
- `entropy`: bits lost over the original bits, -log2 of a value's share of the rows with its label, summed over the
  source rows; a suppressed row also loses -log2 of its label's share of the suppressed rows (non-uniform entropy:
  A. Gionis, T. Tassa, TKDE 21(2), 2009; F. Prasser, R. Bild, K. Kuhn, Stud. Health Technol. Inform. 228, 2016; ARX).
- `granularity`: mean share of the leaves under a label, from 1 leaf (0) to all (1): `loss` with attributes weighted by
  the leaves that they can lose, so that for one attribute it equals `loss` (ARX; Bampoulidis et al. 2019).
- `ncp`: mean share of the leaves under a label, 0 for one leaf, 1 for a suppressed row: the normalized certainty
  penalty (J. Xu et al., KDD 2006), of numbers too by the leaves of their hierarchy.

Attributes may have weights; every mean over attributes is then a weighted one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, expm1, inf, log, log1p, prod
from operator import getitem, mul
from typing import Any, Literal

from kanon_sql.errors import SpecError
from kanon_sql.generalization.lattice import Node
from kanon_sql.own import Own

Part = Literal[
    "node", "precisions", "losses", "distances", "intensities", "bits", "generalized", "classes", "released_rows",
    "squares",
]  # fmt: skip
Question = Literal["levels", "losses", "classes"]
LevelParts = tuple[tuple[float, ...], ...]
_ROUNDING = 1e-9  # of scores that are summed in another order
_EQUAL = 1e-12  # relative difference below which scores are equal, since sums depend on the order


@dataclass(frozen=True)
class Costs:
    """The figures of a table before any node is tested.

    `level_losses[j][l]`: the mean loss of attribute j on level l over all rows, without suppression (0 to 1).
    `distinct[j][l]`: the number of its labels there in the data. `differing`: the first column with another hierarchy
    than the first column, None if all are identical. `weights`: one per attribute, empty if all are equal. `beta`: of
    the weighted hierarchical distance, see `hierarchical_distances`. `leaves[j]`: the leaves of attribute j.
    `level_bits[j][l]` and `level_generalized[j][l]`: the bits that all rows lose there, and the share of rows whose
    label covers several leaves; empty until a metric needs them. `may_suppress`: the rows that a search may suppress.
    `k_of_metric`: the requested k, if `k` is larger because of models about the whole release.
    """

    rows: int
    k: int
    level_losses: tuple[tuple[float, ...], ...]
    distinct: tuple[tuple[int, ...], ...]
    columns: tuple[str, ...] = ()
    differing: str | None = None
    weights: tuple[float, ...] = ()
    beta: float = 0.0
    leaves: tuple[int, ...] = ()
    level_bits: LevelParts = ()
    level_generalized: LevelParts = ()
    may_suppress: int = 0
    k_of_metric: int | None = None

    @property
    def requested_k(self) -> int:
        """The k of the average class size: the minimum size of a class with any recoding."""
        return self.k if self.k_of_metric is None else self.k_of_metric

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """The height of each attribute's hierarchy."""
        return tuple(len(losses) - 1 for losses in self.level_losses)

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """The attributes' weights in a mean; they add up to 1."""
        return _normalized(self.weights or (1.0,) * len(self.level_losses))

    @property
    def starred(self) -> tuple[float, ...]:
        """The attributes' shares of values that are missing in the hierarchy: the loss on level 0."""
        return tuple(losses[0] for losses in self.level_losses)

    @cached_property
    def distances(self) -> tuple[tuple[float, ...], ...]:
        """The weighted hierarchical distances between values and labels, per attribute and level."""
        return tuple(hierarchical_distances(height, self.beta) for height in self.heights)

    @cached_property
    def steps(self) -> tuple[tuple[float, ...], ...]:
        """Level over height, per attribute and level: the distances with equal weights for all steps."""
        return tuple(hierarchical_distances(height) for height in self.heights)

    @cached_property
    def most_bits(self) -> tuple[float, ...]:
        """The bits of all rows per attribute, which its top loses."""
        return tuple(bits[-1] for bits in self.level_bits)

    @cached_property
    def leaf_shares(self) -> tuple[float, ...]:
        """The attributes' weights in granularity: the share times 1 - 1 / leaves, the most that rows can lose."""
        return _normalized([share * (1 - 1 / most) for share, most in zip(self.shares, self.leaves, strict=True)])

    @cached_property
    def bit_shares(self) -> tuple[float, ...]:
        """The attributes' weights in entropy, per lost bit."""
        most = sum(map(mul, self.shares, self.most_bits))
        return tuple(share / most if most else 0.0 for share in self.shares)


@dataclass(frozen=True)
class Figures:
    """The figures of one recoding; None if not computed, or not applicable (a local recoding has no node).

    Per attribute: `losses`, the mean loss over all source rows, 1 for suppressed ones; `starred`, the share of all
    source rows that are released with a value that is missing in the hierarchy, None if all such rows are released;
    `precisions` and `distances`, the mean level over height and the mean weighted hierarchical distance, None if they
    follow from the node; `intensities`, that distance with equal weights; `bits`, the bits that the rows lose;
    `generalized`, the share of all source rows whose cell covers several leaves or is suppressed.
    """

    node: Node | None
    rows_at_risk: int | None = None
    losses: tuple[float, ...] | None = None
    classes: int | None = None
    released_rows: int | None = None
    smallest_class: int | None = None
    squares: int | None = None
    starred: tuple[float, ...] | None = None
    precisions: tuple[float, ...] | None = None
    distances: tuple[float, ...] | None = None
    intensities: tuple[float, ...] | None = None
    bits: tuple[float, ...] | None = None
    generalized: tuple[float, ...] | None = None

    def part(self, name: Part, costs: Costs) -> Any:
        """One part of the figures by its name, None if it is missing."""
        if name == "precisions" and self.precisions is None and self.node is not None:
            return tuple(map(getitem, costs.steps, self.node))
        if name == "distances" and self.distances is None and self.node is not None:
            return distances_of(costs, self, costs.distances)
        if name == "intensities" and self.intensities is None and self.node is not None:
            return distances_of(costs, self, costs.steps)
        return getattr(self, name)


@dataclass(frozen=True)
class Metric:
    """A way to score recodings.

    `needs`: the parts of the figures that are passed to `formula` in this order, after the costs; a metric has a score
    wherever these parts exist. `parts`: per attribute and level a value that never decreases from level to level;
    `finish` of their sum is a lower bound for the score of a node and of all nodes above it, with any suppression. (For
    a metric of levels or losses, it is the score itself without suppression.) `begin` is the inverse of `finish`.
    `always_monotone`: a more general node never scores better, with any suppression; without suppression every metric
    with `parts` is monotone. Without `parts`, the lower bound is 0, so that every node has to be scored.

    >>> worst = Metric("worst", ("losses",), lambda costs, losses: max(losses))
    >>> worst.score(Costs(10, 2, ((0.0, 1.0),), ((3, 1),)), Figures((1,), losses=(1.0,)))
    1.0
    """

    name: str
    needs: tuple[Part, ...]
    formula: Callable[..., float]
    parts: Callable[[Costs], LevelParts] = lambda costs: tuple((0.0,) * len(levels) for levels in costs.level_losses)
    always_monotone: bool = False
    finish: Callable[[float], float] = float
    begin: Callable[[float], float] = float

    @property
    def bounded(self) -> bool:
        """Whether its scores have a lower bound other than 0."""
        return self.parts is not Metric.parts

    @property
    def of_attributes(self) -> bool:
        """Whether a score consists of the attributes' losses, which grow with every suppressed row."""
        return self.bounded and self.question != "classes" and "bits" not in self.needs

    @property
    def question(self) -> Question:
        """The query that a score needs: of classes, of losses, or none, as for levels."""
        if any(part in ("classes", "released_rows", "squares") for part in self.needs):
            return "classes"
        return "losses" if self.needs_losses or self.needs_cells else "levels"

    @property
    def needs_losses(self) -> bool:
        """Whether the losses of a node's attributes are needed, possibly in addition to its classes."""
        return any(part in ("losses", "distances", "intensities") for part in self.needs)

    @property
    def needs_cells(self) -> bool:
        """Whether figures of a node's cells other than losses are needed: bits, or the share of generalized ones."""
        return any(part in ("bits", "generalized") for part in self.needs)

    def parts_below(self, costs: Costs, figures: Figures) -> LevelParts:
        """The parts for the nodes below one whose suppressed rows are counted; they are suppressed there, too.

        Suppressing a row with the loss x adds 1 - x, and x is no larger further down; so the suppressed rows add at
        least as much to an attribute's loss there as here.
        """
        if not self.of_attributes or figures.losses is None or "losses" not in self.needs:
            return self.parts(costs)
        node = figures.node or ()
        losses = _more(costs.level_losses, figures.losses, node)
        generalized = _more(costs.level_generalized, figures.generalized, node) if figures.generalized else ()
        return self.parts(replace(costs, level_losses=losses, level_generalized=generalized))

    def score(self, costs: Costs, figures: Figures) -> float:
        """The score for these figures; ValueError if a part is missing."""
        score = self.score_if_known(costs, figures)
        if score is None:
            raise ValueError(f"{self.name} needs {', '.join(self.needs)}, and some of these are missing")
        return score

    def score_if_known(self, costs: Costs, figures: Figures) -> float | None:
        """The score, or None if a part is missing."""
        parts = [figures.part(name, costs) for name in self.needs]
        if any(part is None for part in parts):
            return None
        return self.formula(costs, *parts)

    def check(self, costs: Costs, figures: Figures, score: float) -> None:
        """SpecError if the score of a node is not a number or violates the bound by `parts`, on which searches rely."""
        least = self.bound_of(costs)(figures.node or ())
        if not score >= least - _ROUNDING * max(1.0, abs(least)):
            origin = "by its `parts`" if self.bounded else "of a metric without `parts`"
            raise SpecError(
                f"the metric {self.name} scores a node {score}, below the minimum {origin}, {least}; correct its "
                "`formula` or its `parts`"
            )

    def bound_of(self, costs: Costs) -> Callable[[Node], float]:
        """The function that returns a lower bound for the scores of a node and all nodes above it."""
        parts = self.parts(costs)
        finish = self.finish
        return lambda node: finish(sum(map(getitem, parts, node)))

    def most(self, bound: float, suppressed: float) -> float:
        """An upper bound for the score of a node with this lower bound, with this share of the rows suppressed."""
        if self.question == "classes" or not self.bounded:
            return inf
        if self.question == "levels":
            return bound
        if "bits" in self.needs:
            return 1.0  # the bits left in suppressed rows have no other bound, and no row loses more than it had
        # Suppression adds at most its share to the loss of an attribute, and (1 + x + s) <= (1 + x)(1 + s).
        return (1 + bound) * (1 + suppressed) - 1

    def monotone(self, may_suppress: int) -> bool:
        """Whether no node scores better than one below it, if this many rows may be suppressed."""
        return self.always_monotone or (self.bounded and may_suppress == 0)


def _more(of_levels: LevelParts, found: Sequence[float], node: Node) -> LevelParts:
    """The figures of all levels, plus the increase by suppressed rows at a node."""
    added = (max(0.0, now - levels[level]) for levels, now, level in zip(of_levels, found, node, strict=True))
    return tuple(tuple(x + more for x in levels) for levels, more in zip(of_levels, added, strict=True))


def beats(score: float, other: float) -> bool:
    """Whether one score is better than another by more than rounding."""
    return score < other - _EQUAL * max(1.0, abs(score))


def unsuppressed(costs: Costs, node: Node) -> Figures:
    """The figures of a node without suppression, as far as the costs contain them."""

    def of_levels(parts: LevelParts) -> tuple[float, ...] | None:
        return tuple(map(getitem, parts, node)) if parts else None

    bits = of_levels(costs.level_bits)
    generalized = of_levels(costs.level_generalized)
    return Figures(node, None, of_levels(costs.level_losses), bits=bits, generalized=generalized)


def hierarchical_distances(height: int, beta: float = 0.0) -> tuple[float, ...]:
    """The weighted hierarchical distance of all levels from the values (Li et al. 2008, definition 4).

    Its domain levels count from 1, the root, to h = height + 1; the step between j and j - 1 has the weight
    1 / (j - 1) ** beta: equal for beta = 0, higher near the root for beta > 0. 0 on level 0, 1 on the top.

    >>> [round(distance, 4) for distance in hierarchical_distances(5)]
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> round(hierarchical_distances(5, beta=1)[3], 4)  # birth date, day to ten years
    0.3431
    """
    steps = [1 / depth**beta for depth in range(height, 0, -1)]
    return (*(sum(steps[:level]) / sum(steps) for level in range(height)), 1.0)


def distances_of(costs: Costs, figures: Figures, of_levels: LevelParts) -> tuple[float, ...]:
    """The attributes' mean distances over all source rows at a node, by the distances of the levels."""
    suppressed = (figures.rows_at_risk or 0) / costs.rows
    starred = costs.starred if figures.starred is None else figures.starred
    lost = [suppressed + share for share in starred]
    levels = zip(of_levels, figures.node or (), lost, strict=True)
    return tuple(_with_lost(distances[level], x) for distances, level, x in levels)


def _with_lost(distance: float, lost: float) -> float:
    """A mean distance if a share of the rows has the distance 1."""
    return distance * (1 - lost) + lost


def _normalized(weights: Sequence[float]) -> tuple[float, ...]:
    whole = sum(weights)
    return tuple(weight / whole if whole else 0.0 for weight in weights)


# Formulas and parts of the metrics


def _summed(weights: Sequence[float], of_attributes: Iterable[float]) -> float:
    """The attributes' figures times their weights."""
    return float(sum(map(mul, of_attributes, weights)))


def _weighted(weights: Sequence[float], of_level: LevelParts) -> LevelParts:
    """The same for the parts of the levels."""
    return tuple(tuple(x * weight for x in levels) for levels, weight in zip(of_level, weights, strict=True))


def _mean(costs: Costs, of_attributes: Iterable[float]) -> float:
    return _summed(costs.shares, of_attributes)


def _shared(costs: Costs, of_level: LevelParts) -> LevelParts:
    return _weighted(costs.shares, of_level)


def _geometric(costs: Costs, losses: Sequence[float]) -> float:
    """ARX's aggregate: the geometric mean of 1 + loss, minus 1."""
    return float(prod((x + 1) ** share for x, share in zip(losses, costs.shares, strict=True))) - 1


def _geometric_parts(costs: Costs) -> LevelParts:
    return _shared(costs, tuple(tuple(map(log1p, losses)) for losses in costs.level_losses))


def _distance_parts(costs: Costs, of_levels: LevelParts) -> LevelParts:
    pairs = zip(of_levels, costs.starred, strict=True)
    return _shared(costs, tuple(tuple(_with_lost(x, lost) for x in levels) for levels, lost in pairs))


def _penalty(loss: float, generalized: float, leaves: int) -> float:
    """The mean share of the leaves under a label, 0 for one leaf; `loss` counts M - 1 of M leaves."""
    return (loss * (leaves - 1) + generalized) / leaves


def _ncp(costs: Costs, losses: Sequence[float], generalized: Sequence[float]) -> float:
    return _mean(costs, map(_penalty, losses, generalized, costs.leaves))


def _ncp_parts(costs: Costs) -> LevelParts:
    parts = []
    for losses, generalized, leaves in zip(costs.level_losses, costs.level_generalized, costs.leaves, strict=True):
        parts.append(tuple(_penalty(x, y, leaves) for x, y in zip(losses, generalized, strict=True)))
    return _shared(costs, tuple(parts))


def _discernibility(costs: Costs, squares: int, released_rows: int) -> float:
    return float(squares + costs.rows * (costs.rows - released_rows))


def _squares_parts(costs: Costs) -> LevelParts:
    """Squares sum to at least rows^2 / classes; a suppressed row adds more than it saves."""
    return _fewest_classes(costs, 2 * log(max(1, costs.rows)))


def _average_class_size(costs: Costs, classes: int, released_rows: int) -> float:
    return released_rows / (classes * costs.requested_k) if classes else inf


def _size_parts(costs: Costs) -> LevelParts:
    """Parts that sum to a lower bound: there are at most as many classes as the product of the labels."""
    return _fewest_classes(costs, log(max(1, costs.rows - costs.may_suppress) / costs.requested_k))


def _fewest_classes(costs: Costs, start: float) -> LevelParts:
    """`start`, divided among the attributes, minus the logarithm of their labels."""
    share = start / len(costs.distinct)
    return tuple(tuple(share - log(max(1, labels)) for labels in levels) for levels in costs.distinct)


METRICS = {
    metric.name: metric
    for metric in (
        Metric("precision", ("precisions",), _mean, lambda c: _shared(c, c.steps), always_monotone=True),
        Metric(
            "height",
            ("node",),
            lambda _, node: float(sum(node)),
            lambda c: tuple(tuple(map(float, range(height + 1))) for height in c.heights),
            always_monotone=True,
        ),
        Metric("loss", ("losses",), _mean, lambda c: _shared(c, c.level_losses)),
        Metric("loss_geometric", ("losses",), _geometric, _geometric_parts, finish=expm1, begin=log1p),
        Metric("discernibility", ("squares", "released_rows"), _discernibility, _squares_parts, finish=exp, begin=log),
        Metric("distortion", ("distances",), _mean, lambda c: _distance_parts(c, c.distances)),
        Metric("intensity", ("intensities",), _mean, lambda c: _distance_parts(c, c.steps)),
        Metric(
            "entropy",
            ("bits",),
            lambda c, bits: _summed(c.bit_shares, bits),
            lambda c: _weighted(c.bit_shares, c.level_bits),
        ),
        Metric(
            "granularity",
            ("losses",),
            lambda c, losses: _summed(c.leaf_shares, losses),
            lambda c: _weighted(c.leaf_shares, c.level_losses),
        ),
        Metric("ncp", ("losses", "generalized"), _ncp, _ncp_parts),
        Metric(
            "average_class_size",
            ("classes", "released_rows"),
            _average_class_size,
            _size_parts,
            finish=exp,
            begin=log,
        ),
    )
}


def metric(name: str) -> Metric:
    """The metric with a name; a user's own metric is in its `Own`.

    >>> metric("precision").needs
    ('precisions',)
    """
    if isinstance(name, Own):
        return name.value  # type: ignore[no-any-return]
    if name not in METRICS:
        raise SpecError(f"{name!r} is not a metric; choose one of {', '.join(METRICS)}")
    return METRICS[name]
