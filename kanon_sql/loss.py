"""Metrics as values: what a node costs, and the least that it and all nodes above it can cost.

Lower is better everywhere. The database adds up the figures (`sql/node_tests.sql`, `node_classes.sql`); what stands
here only divides them.

- `precision`: mean of level / height over the released cells (Sweeney 2002; here 0 = unchanged).
- `height`: sum of levels.
- `loss`: mean over attributes of the mean over all source rows of (M - 1) / (|A| - 1), M the leaves under
  the released label, |A| all leaves, 1 for a suppressed row (Iyengar 2002).
- `loss_geometric`: the same per attribute, joined as the product of (1 + x) ^ (1 / attributes), less 1 (ARX's Loss).
- `discernibility`: sum of squared class sizes, suppressed rows counting all rows each (Bayardo, Agrawal 2005).
- `average_class_size`: released rows / (classes * k), the C_avg of LeFevre et al. 2006.
- `distortion`: mean weighted hierarchical distance between a cell and what is released of it, 1 for a suppressed row
  and for a value that no hierarchy holds (J. Li, R. Wong, A. Fu, J. Pei, TKDE 20(9), 2008, whose table's distortion
  is this times rows and attributes). `intensity`: the same where all steps weigh alike, the mean of level / height.
- `entropy`: bits lost over the bits there were, -log2 of a value's share of the rows with its label, summed over the
  source rows; the bits that suppressed rows had left are theirs among the suppressed (non-uniform entropy: A. Gionis,
  T. Tassa, TKDE 21(2), 2009; F. Prasser, R. Bild, K. Kuhn, Stud. Health Technol. Inform. 228, 2016; ARX).
- `granularity`: mean share of the leaves under a label, from 1 leaf (0) to all (1): `loss` where the attributes weigh
  as much as they can lose in leaves, so that an attribute's is its `loss` (ARX; Bampoulidis et al. 2019).
- `ncp`: mean share of the leaves under a label, 0 for one leaf, 1 for a suppressed row: the normalized certainty
  penalty (J. Xu et al., KDD 2006), of numbers too by the leaves of their hierarchy.

Attributes may have weights; every mean over attributes is then a weighted one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
_ROUNDING = 1e-9  # of scores that are added up in another order


@dataclass(frozen=True)
class Costs:
    """What is known of a table before any node is judged.

    `level_losses[j][l]`: the mean loss of attribute j on level l over all rows, nothing suppressed (0 to 1).
    `distinct[j][l]`: how many labels it has there in the data. `differing`: the first column whose hierarchy is not
    the first column's, None where all are identical. `weights`: one per attribute, empty where all are alike.
    `beta`: of the weighted hierarchical distance, see `hierarchical_distances`. `leaves[j]`: the leaves of attribute j.
    `level_bits[j][l]` and `level_generalized[j][l]`: the bits that all rows lose there, and the share of them whose
    label stands for several leaves; empty until a metric needs them. `may_suppress`: the rows that a search may
    suppress. `k_of_metric`: the k that was asked for, where `k` is larger for models about the whole release.
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
    def asked_k(self) -> int:
        """The k of the average class size: what a class must have, whatever recoding makes it."""
        return self.k if self.k_of_metric is None else self.k_of_metric

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """The height of each attribute's hierarchy."""
        return tuple(len(losses) - 1 for losses in self.level_losses)

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """Each attribute's part in a mean over the attributes; they add up to 1."""
        return _shared_out(self.weights or (1.0,) * len(self.level_losses))

    @property
    def starred(self) -> tuple[float, ...]:
        """Each attribute's share of values that no hierarchy holds: all that is lost on level 0."""
        return tuple(losses[0] for losses in self.level_losses)

    @cached_property
    def distances(self) -> tuple[tuple[float, ...], ...]:
        """Each attribute's weighted hierarchical distance from the value to its label on every level."""
        return tuple(hierarchical_distances(height, self.beta) for height in self.heights)

    @cached_property
    def steps(self) -> tuple[tuple[float, ...], ...]:
        """Each attribute's level over its height on every level: the distances where all steps weigh alike."""
        return tuple(hierarchical_distances(height) for height in self.heights)

    @cached_property
    def most_bits(self) -> tuple[float, ...]:
        """Each attribute's bits of all rows: what is lost on its top."""
        return tuple(bits[-1] for bits in self.level_bits)

    @cached_property
    def leaf_shares(self) -> tuple[float, ...]:
        """Each attribute's part in granularity: its share times 1 - 1 / leaves, all that its rows can lose."""
        return _shared_out([share * (1 - 1 / most) for share, most in zip(self.shares, self.leaves, strict=True)])

    @cached_property
    def bit_shares(self) -> tuple[float, ...]:
        """Each attribute's part in entropy per bit that it loses."""
        most = sum(map(mul, self.shares, self.most_bits))
        return tuple(share / most if most else 0.0 for share in self.shares)


@dataclass(frozen=True)
class Figures:
    """What is known of one recoding; None where nobody asked, or where a recoding has none (a local one has no node).

    Per attribute: `losses`, the mean loss over all source rows, suppressed rows counting 1; `starred`, the share of all
    source rows that are released with a value that no hierarchy holds, None where all of them are; `precisions` and
    `distances`, the mean level over its height and the mean weighted hierarchical distance, None where the node tells;
    `intensities`, that distance where all steps weigh alike. `bits`, those that the rows lose; `generalized`, the share
    of all source rows whose cell stands for several leaves or is suppressed.
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
        """One part of the figures by its name, None where it is not known."""
        if name == "precisions" and self.precisions is None and self.node is not None:
            return precisions(costs, self.node)
        if name == "distances" and self.distances is None and self.node is not None:
            return distances_of(costs, self, costs.distances)
        if name == "intensities" and self.intensities is None and self.node is not None:
            return distances_of(costs, self, costs.steps)
        return getattr(self, name)


@dataclass(frozen=True)
class Metric:
    """A way to score recodings.

    `needs`: the parts of the figures that `formula` is called with, in this order, after the costs, and it sees nothing
    else; so a metric has a score wherever these parts are known. `parts`: per attribute and level a cost that never
    falls from level to level; `finish` of their sum bounds the score of a node and of all above it from below, whatever
    is suppressed. (Where a metric is made of levels or losses that is the score itself while nothing is suppressed.)
    `begin` undoes `finish`. `always_monotone`: a more general node never scores better, whatever is suppressed;
    without suppression every metric with `parts` is monotone. Without `parts` all that is known of a score is that it
    is at least 0, so that every node has to be scored.

    >>> worst = Metric("worst", ("losses",), lambda costs, losses: max(losses))
    >>> worst.score(Costs(10, 2, ((0.0, 1.0),), ((3, 1),)), Figures((1,), losses=(1.0,)))
    1.0
    """

    name: str
    needs: tuple[Part, ...]
    formula: Callable[..., float]
    parts: Callable[[Costs], LevelParts] = lambda costs: _nothing_known(costs)
    always_monotone: bool = False
    finish: Callable[[float], float] = float
    begin: Callable[[float], float] = float

    @property
    def bounded(self) -> bool:
        """Whether more is known of its scores than that they are at least 0."""
        return self.parts is not Metric.parts

    @property
    def of_attributes(self) -> bool:
        """Whether a score is made of what each attribute loses, which only grows with every row suppressed."""
        return self.bounded and self.question != "classes" and "bits" not in self.needs

    @property
    def question(self) -> Question:
        """What has to be asked of a node before it can be scored; of its classes if of anything in them."""
        if any(part in ("classes", "released_rows", "squares") for part in self.needs):
            return "classes"
        return "losses" if self.needs_losses or self.needs_cells else "levels"

    @property
    def needs_losses(self) -> bool:
        """Whether the losses of a node's attributes are needed, be it beside its classes."""
        return any(part in ("losses", "distances", "intensities") for part in self.needs)

    @property
    def needs_cells(self) -> bool:
        """Whether more of a node's cells is needed than what they lose: their bits, or how many are generalized."""
        return any(part in ("bits", "generalized") for part in self.needs)

    def parts_below(self, costs: Costs, figures: Figures) -> LevelParts:
        """The parts of nodes below one whose suppressed rows are counted: those rows are suppressed there too.

        A row that loses x where it is kept loses 1 - x more where it is not, and x is no larger further down; so what
        its suppressed rows add to an attribute's loss here they add there at least.
        """
        if not self.of_attributes or figures.losses is None or "losses" not in self.needs:
            return self.parts(costs)
        node = figures.node or ()
        losses = _more(costs.level_losses, figures.losses, node)
        generalized = _more(costs.level_generalized, figures.generalized, node) if figures.generalized else ()
        return self.parts(replace(costs, level_losses=losses, level_generalized=generalized))

    def score(self, costs: Costs, figures: Figures) -> float:
        """The score of what the figures describe; ValueError where a part that it needs is not known."""
        score = self.score_if_known(costs, figures)
        if score is None:
            raise ValueError(f"{self.name} needs {', '.join(self.needs)}, and not all of them are known")
        return score

    def score_if_known(self, costs: Costs, figures: Figures) -> float | None:
        """The score, or None where a part that it needs is not known."""
        known = [figures.part(name, costs) for name in self.needs]
        if any(part is None for part in known):
            return None
        return self.formula(costs, *known)

    def check(self, costs: Costs, figures: Figures, score: float) -> None:
        """SpecError if the score of a node is not a number, or is below what `parts` say: nothing would be proven."""
        least = self.bound_of(costs)(figures.node or ())
        if not score >= least - _ROUNDING * max(1.0, abs(least)):
            said = "`parts` give" if self.bounded else "a metric without `parts` may give"
            raise SpecError(
                f"the metric {self.name} scores a node {score}, and {said} {least} or more; correct its `formula` or "
                "its `parts`"
            )

    def bound_of(self, costs: Costs) -> Callable[[Node], float]:
        """The function that says the least that a node and any node above it can score."""
        parts, finish = self.parts(costs), self.finish
        return lambda node: finish(sum(map(getitem, parts, node)))

    def most(self, bound: float, suppressed: float) -> float:
        """The most that a node with this bound can score with this share of the rows suppressed."""
        if self.question == "classes" or not self.bounded:
            return inf
        if self.question == "levels":
            return bound
        if "bits" in self.needs:
            return 1.0  # what suppressed rows had left has no bound of its own, and no row loses more than it had
        # Suppression adds at most its share to each attribute's loss, and (1 + x + s) <= (1 + x)(1 + s).
        return (1 + bound) * (1 + suppressed) - 1

    def monotone(self, may_suppress: int) -> bool:
        """Whether no node scores better than one below it, if so many rows may be suppressed."""
        return self.always_monotone or (self.bounded and may_suppress == 0)


def _nothing_known(costs: Costs) -> LevelParts:
    return tuple((0.0,) * len(losses) for losses in costs.level_losses)


def _more(of_levels: LevelParts, found: Sequence[float], node: Node) -> LevelParts:
    """Every level's figure and what suppressed rows add to it at a node."""
    added = (max(0.0, now - levels[level]) for levels, now, level in zip(of_levels, found, node, strict=True))
    return tuple(tuple(x + more for x in levels) for levels, more in zip(of_levels, added, strict=True))


def unsuppressed(costs: Costs, node: Node) -> Figures:
    """What each attribute loses at a node before any row is suppressed, as far as the costs know it."""

    def of_levels(parts: LevelParts) -> tuple[float, ...] | None:
        return tuple(map(getitem, parts, node)) if parts else None

    bits, generalized = of_levels(costs.level_bits), of_levels(costs.level_generalized)
    return Figures(node, None, of_levels(costs.level_losses), bits=bits, generalized=generalized)


def precisions(costs: Costs, node: Node) -> tuple[float, ...]:
    """Each attribute's level over its height."""
    return tuple(level / height for level, height in zip(node, costs.heights, strict=True))


def hierarchical_distances(height: int, beta: float = 0.0) -> tuple[float, ...]:
    """How far each level is from the values: the weighted hierarchical distance (Li et al. 2008, definition 4).

    Its domain levels count from 1, the root, to h = height + 1; the step between j and j - 1 weighs
    1 / (j - 1) ** beta: all steps alike at 0, those near the root more above it. 0 on level 0, 1 on the top.

    >>> [round(distance, 4) for distance in hierarchical_distances(5)]
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> round(hierarchical_distances(5, beta=1)[3], 4)  # birth date, day to ten years
    0.3431
    """
    steps = [1 / depth**beta for depth in range(height, 0, -1)]
    return (*(sum(steps[:level]) / sum(steps) for level in range(height)), 1.0)


def arithmetic(losses: Sequence[float], shares: Sequence[float]) -> float:
    """The mean of the attributes' losses."""
    return float(sum(map(mul, losses, shares)))


def geometric(losses: Sequence[float], shares: Sequence[float]) -> float:
    """ARX's aggregate: the geometric mean of the losses plus one, less one."""
    return float(prod((x + 1) ** share for x, share in zip(losses, shares, strict=True))) - 1


def _discernibility(costs: Costs, squares: int, released_rows: int) -> float:
    return float(squares + costs.rows * (costs.rows - released_rows))


def _average_class_size(costs: Costs, classes: int, released_rows: int) -> float:
    return released_rows / (classes * costs.asked_k) if classes else inf


def _mean(costs: Costs, of_attributes: Sequence[float]) -> float:
    return arithmetic(of_attributes, costs.shares)


def distances_of(costs: Costs, figures: Figures, of_levels: LevelParts) -> tuple[float, ...]:
    """Each attribute's mean distance over all source rows at a node, by the distance of each level."""
    suppressed = (figures.rows_at_risk or 0) / costs.rows
    starred = costs.starred if figures.starred is None else figures.starred
    lost = [suppressed + share for share in starred]
    levels = zip(of_levels, figures.node or (), lost, strict=True)
    return tuple(_with_lost(distances[level], x) for distances, level, x in levels)


def _with_lost(distance: float, lost: float) -> float:
    """A mean distance where a share of the rows is as far off as can be."""
    return distance * (1 - lost) + lost


def _distortion_parts(costs: Costs) -> LevelParts:
    return _distance_parts(costs, costs.distances)


def _intensity_parts(costs: Costs) -> LevelParts:
    return _distance_parts(costs, costs.steps)


def _distance_parts(costs: Costs, of_levels: LevelParts) -> LevelParts:
    pairs = zip(of_levels, costs.starred, strict=True)
    return _shared(costs, tuple(tuple(_with_lost(x, lost) for x in levels) for levels, lost in pairs))


def _entropy(costs: Costs, bits: Sequence[float]) -> float:
    return arithmetic(bits, costs.bit_shares)


def _granularity(costs: Costs, losses: Sequence[float]) -> float:
    return arithmetic(losses, costs.leaf_shares)


def _ncp(costs: Costs, losses: Sequence[float], generalized: Sequence[float]) -> float:
    return arithmetic(penalties(costs, losses, generalized), costs.shares)


def penalties(costs: Costs, losses: Sequence[float], generalized: Sequence[float]) -> tuple[float, ...]:
    """Each attribute's mean share of the leaves under a label, 0 for one leaf: of M leaves, M - 1 are its loss."""
    return tuple(map(_penalty, losses, generalized, costs.leaves))


def _penalty(loss: float, generalized: float, leaves: int) -> float:
    return (loss * (leaves - 1) + generalized) / leaves


def _entropy_parts(costs: Costs) -> LevelParts:
    return _weighted(costs.bit_shares, costs.level_bits)


def _granularity_parts(costs: Costs) -> LevelParts:
    return _weighted(costs.leaf_shares, costs.level_losses)


def _ncp_parts(costs: Costs) -> LevelParts:
    levels = zip(costs.level_losses, costs.level_generalized, costs.leaves, strict=True)
    return _shared(
        costs, tuple(tuple(_penalty(*each, leaves) for each in zip(x, y, strict=True)) for x, y, leaves in levels)
    )


def _weighted(weights: Sequence[float], of_level: LevelParts) -> LevelParts:
    return tuple(tuple(x * weight for x in levels) for levels, weight in zip(of_level, weights, strict=True))


def _shared_out(weights: Sequence[float]) -> tuple[float, ...]:
    whole = sum(weights)
    return tuple(weight / whole if whole else 0.0 for weight in weights)


def _shared(costs: Costs, of_level: LevelParts) -> LevelParts:
    """Each attribute's figures times its part in the mean."""
    return _weighted(costs.shares, of_level)


def _precision_parts(costs: Costs) -> LevelParts:
    levels = tuple(tuple(level / height for level in range(height + 1)) for height in costs.heights)
    return _shared(costs, levels)


def _height_parts(costs: Costs) -> LevelParts:
    return tuple(tuple(float(level) for level in range(height + 1)) for height in costs.heights)


def _loss_parts(costs: Costs) -> LevelParts:
    return _shared(costs, costs.level_losses)


def _geometric_parts(costs: Costs) -> LevelParts:
    return _shared(costs, tuple(tuple(map(log1p, losses)) for losses in costs.level_losses))


def _size_parts(costs: Costs) -> LevelParts:
    """Classes are never more than the product of the attributes' labels, so rows / (classes * k) is bounded below."""
    return _fewest_classes(costs, log(max(1, costs.rows - costs.may_suppress) / costs.asked_k))


def _squares_parts(costs: Costs) -> LevelParts:
    """Squares add up to no less than rows^2 / classes; a suppressed row costs more than it saves there."""
    return _fewest_classes(costs, 2 * log(max(1, costs.rows)))


def _fewest_classes(costs: Costs, start: float) -> LevelParts:
    """`start`, shared out among the attributes, less the logarithm of their labels."""
    share = start / len(costs.distinct)
    return tuple(tuple(share - log(max(1, labels)) for labels in levels) for levels in costs.distinct)


METRICS = {
    metric.name: metric
    for metric in (
        Metric("precision", ("precisions",), _mean, _precision_parts, True),
        Metric("height", ("node",), lambda _, node: float(sum(node)), _height_parts, True),
        Metric("loss", ("losses",), _mean, _loss_parts),
        Metric(
            "loss_geometric", ("losses",), lambda c, x: geometric(x, c.shares), _geometric_parts, False, expm1, log1p
        ),
        Metric("discernibility", ("squares", "released_rows"), _discernibility, _squares_parts, False, exp, log),
        Metric("distortion", ("distances",), _mean, _distortion_parts),
        Metric("intensity", ("intensities",), _mean, _intensity_parts),
        Metric("entropy", ("bits",), _entropy, _entropy_parts),
        Metric("granularity", ("losses",), _granularity, _granularity_parts),
        Metric("ncp", ("losses", "generalized"), _ncp, _ncp_parts),
        Metric("average_class_size", ("classes", "released_rows"), _average_class_size, _size_parts, False, exp, log),
    )
}


def metric(name: str) -> Metric:
    """Look a metric up by its name, which a user's own carries with it.

    >>> metric("precision").needs
    ('precisions',)
    """
    if isinstance(name, Own):
        return name.value  # type: ignore[no-any-return]
    if name not in METRICS:
        raise SpecError(f"{name!r} is not a metric; choose one of {', '.join(METRICS)}")
    return METRICS[name]
