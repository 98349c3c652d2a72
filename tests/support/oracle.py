"""Brute force in plain Python, row by row and node by node; the SQL must agree with it.

Written from the formulas of the papers, not from `kanon_sql`: nothing of the package is imported here.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from math import inf, log2, prod
from typing import Any

from hypothesis import strategies as st

Node = tuple[int, ...]
Row = tuple[Any, ...]
METRICS = (
    *("precision", "height", "loss", "loss_geometric", "discernibility", "distortion", "average_class_size"),
    *("intensity", "entropy", "granularity", "ncp"),
)


@dataclass(frozen=True)
class Column:
    """Every leaf's labels from level 0 (the leaf) to the top; a value without a leaf is `*`, then the top."""

    leaves: Mapping[Any, Sequence[Any]]
    strays: bool = False

    @property
    def height(self) -> int:
        return len(next(iter(self.leaves.values()))) - 1

    def label(self, value: Any, level: int) -> Any:
        if value in self.leaves:
            return self.leaves[value][level]
        return next(iter(self.leaves.values()))[-1] if level else "*"

    def lowest_level(self, value: Any, level: int) -> int:
        """The lowest level on which a value has this one's label, for as many leaves; the top without a leaf."""
        if value not in self.leaves:
            return self.height
        shown = [(label, self.under(value, at)) for at, label in enumerate(self.leaves[value])]
        return shown.index(shown[level])

    @property
    def levels(self) -> tuple[tuple[Any, ...], tuple[tuple[Any, ...], ...]]:
        """The leaves, and their labels level by level from level 1: the parts of a Hierarchy."""
        leaves, *levels = zip(*self.leaves.values(), strict=True)
        return leaves, tuple(levels)

    def under(self, value: Any, level: int) -> int:
        """The number of leaves with the label of a value; `*` covers all of them."""
        shared = self.strays and level and self.label(value, level) == self.label(object(), level)
        if value not in self.leaves or shared:
            return self.count
        return sum(labels[level] == self.label(value, level) for labels in self.leaves.values())

    @property
    def count(self) -> int:
        """|A|: the leaves, and what is no leaf as one more beside a lone leaf."""
        return max(2, len(self.leaves)) if self.strays else len(self.leaves)

    def loss(self, value: Any, level: int) -> Fraction:
        """(M - 1) / (|A| - 1) of one cell: M leaves have its label, |A| there are."""
        return Fraction(self.under(value, level) - 1, self.count - 1) if self.count > 1 else Fraction(0)


@dataclass(frozen=True)
class Problem:
    """A table of quasi-identifiers, their hierarchies, k and the suppression limit (a fraction)."""

    rows: Sequence[Row]
    columns: Sequence[Column]
    k: int
    limit: float = 0.0
    bottom: Node | None = None
    top: Node | None = None
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def heights(self) -> Node:
        return tuple(column.height for column in self.columns)

    @cached_property
    def may_suppress(self) -> int:
        limit = Fraction(str(self.limit))
        return limit.numerator * len(self.rows) // limit.denominator

    @cached_property
    def nodes(self) -> list[Node]:
        bottom, top = self.bottom or (0,) * len(self.columns), self.top or self.heights
        return list(product(*(range(low, high + 1) for low, high in zip(bottom, top, strict=True))))

    def labels(self, row: Row, node: Node) -> Row:
        return tuple(c.label(value, level) for c, value, level in zip(self.columns, row, node, strict=True))

    def classes(self, node: Node) -> Counter[Row]:
        """All equivalence classes of a node with their sizes, small ones too."""
        if node not in self._memo:
            self._memo[node] = Counter(self.labels(row, node) for row in self.rows)
        return self._memo[node]

    def released(self, node: Node) -> dict[Row, int]:
        return {labels: size for labels, size in self.classes(node).items() if size >= self.k}

    def rows_at_risk(self, node: Node) -> int:
        return len(self.rows) - sum(self.released(node).values())

    def anonymous(self, node: Node) -> bool:
        return self.rows_at_risk(node) <= self.may_suppress

    @cached_property
    def anonymous_nodes(self) -> list[Node]:
        return [node for node in self.nodes if self.anonymous(node)]

    @cached_property
    def minimal_nodes(self) -> list[Node]:
        """The k-minimal nodes: anonymous, and no node below is."""
        return [n for n in self.anonymous_nodes if not any(m != n and _leq(m, n) for m in self.anonymous_nodes)]

    def column_losses(self, node: Node) -> tuple[float, ...]:
        """Each column's mean loss over all source rows, a suppressed row counting 1."""
        released = self.released(node)
        sums = [Fraction(0)] * len(self.columns)
        for row in self.rows:
            kept = self.labels(row, node) in released
            for j, column in enumerate(self.columns):
                sums[j] += column.loss(row[j], node[j]) if kept else 1
        return tuple(float(total / len(self.rows)) for total in sums)

    def distances(self, node: Node) -> tuple[float, ...]:
        """Each column's mean distance: 1 for a suppressed row, and for a value without a leaf (of several)."""
        released, sums = self.released(node), [Fraction(0)] * len(self.columns)
        for row in self.rows:
            kept = self.labels(row, node) in released
            for j, column in enumerate(self.columns):
                stray = row[j] is not None and row[j] not in column.leaves
                sums[j] += Fraction(node[j], column.height) if kept and not stray else 1
        return tuple(float(total / len(self.rows)) for total in sums)

    def released_levels(self, node: Node) -> list[list[Fraction]]:
        """Each column's released cells: the lowest level with the cell's label, as a share of the height."""
        released = self.released(node)
        kept = [row for row in self.rows if self.labels(row, node) in released]
        return [
            [Fraction(c.lowest_level(row[j], node[j]), c.height) for row in kept] for j, c in enumerate(self.columns)
        ]

    def information_loss(self, node: Node) -> dict[str, float]:
        """Every metric of the released cells; a search takes the node's level for the level of every cell."""
        levels, rows = self.released_levels(node), len(self.rows)
        gone = rows - len(levels[0])
        distance = float(sum((sum(of) + gone) / Fraction(rows) for of in levels) / len(levels))
        scores = {**self.scores(node), "distortion": distance, "intensity": distance}
        if gone < rows:
            scores["precision"] = float(sum(sum(of) for of in levels) / (len(levels) * (rows - gone)))
        return scores

    def cells(self, node: Node) -> list[tuple[int, ...]]:
        """The cells of every column by the number of leaves that they cover: all leaves if the row is suppressed."""
        released = self.released(node)
        kept = [self.labels(row, node) in released for row in self.rows]
        every = zip(self.columns, node, zip(*self.rows, strict=True), strict=True)
        return [
            tuple(c.under(value, level) if stays else 0 for value, stays in zip(values, kept, strict=True))
            for c, level, values in every
        ]

    def several(self, node: Node) -> tuple[float, ...]:
        """For every column, the share of rows whose cell covers several leaves, or is suppressed."""
        return tuple(sum(m != 1 for m in cells) / len(self.rows) for cells in self.cells(node))

    def bits(self, node: Node) -> tuple[float, ...]:
        """Each column's bits that the rows lose: all on their way to the node, the suppressed ones then on to `*`."""
        released = self.released(node)
        gone = [row for row in self.rows if self.labels(row, node) not in released]
        pairs = zip(self.level_bits(), node, strict=True)
        left = (_lost(self._labels(gone, j, level), ["*"] * len(gone)) for j, level in enumerate(node))
        return tuple(bits[level] + lost for (bits, level), lost in zip(pairs, left, strict=True))

    def _labels(self, rows: Sequence[Row], j: int, level: int) -> list[Any]:
        return [self.columns[j].label(row[j], level) for row in rows]

    def level_bits(self) -> tuple[tuple[float, ...], ...]:
        """Each column's bits lost on each level, nothing suppressed."""
        if "bits" not in self._memo:
            self._memo["bits"] = tuple(
                tuple(_lost(self._labels(self.rows, j, 0), self._labels(self.rows, j, x)) for x in range(c.height + 1))
                for j, c in enumerate(self.columns)
            )
        return self._memo["bits"]

    def level_several(self) -> tuple[tuple[float, ...], ...]:
        """For every column and level, the share of rows whose label covers several leaves."""
        return tuple(
            tuple(sum(c.under(row[j], x) > 1 for row in self.rows) / len(self.rows) for x in range(c.height + 1))
            for j, c in enumerate(self.columns)
        )

    def level_losses(self) -> tuple[tuple[float, ...], ...]:
        """Each column's mean loss on each level, nothing suppressed."""
        return tuple(
            tuple(
                float(sum(c.loss(row[j], level) for row in self.rows) / len(self.rows)) for level in range(c.height + 1)
            )
            for j, c in enumerate(self.columns)
        )

    def distinct(self) -> tuple[tuple[int, ...], ...]:
        """How many labels of each column occur on each level."""
        return tuple(
            tuple(len({c.label(row[j], level) for row in self.rows}) for level in range(c.height + 1))
            for j, c in enumerate(self.columns)
        )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"q{j}" for j in range(len(self.columns)))

    @property
    def odd(self) -> str | None:
        """The first column whose hierarchy is not the first column's."""
        pairs = zip(self.names, self.columns, strict=True)
        return next((name for name, column in pairs if column.leaves != self.columns[0].leaves), None)

    def scores(self, node: Node) -> dict[str, float]:
        """Every metric of a node, lower is better."""
        if ("scores", node) in self._memo:
            return self._memo["scores", node]
        sizes, rows, count = list(self.released(node).values()), len(self.rows), len(self.columns)
        losses, bits, cells = self.column_losses(node), self.bits(node), self.cells(node)
        most, leaves = sum(level_bit[-1] for level_bit in self.level_bits()), [column.count for column in self.columns]
        shares = [[(m or of) / of for m in item] for item, of in zip(cells, leaves, strict=True)]
        penalties = [
            [x if m != 1 else 0.0 for x, m in zip(*share, strict=True)] for share in zip(shares, cells, strict=True)
        ]
        least = sum(1 / of for of in leaves)
        granularity = (sum(map(sum, shares)) / rows - least) / (count - least) if least < count else 0.0
        scores = {
            "intensity": sum(self.distances(node)) / count,
            "entropy": sum(bits) / most if most else 0.0,
            "granularity": granularity,
            "ncp": sum(map(sum, penalties)) / rows / count,
            "distortion": sum(self.distances(node)) / count,
            "precision": float(sum(Fraction(le, h) for le, h in zip(node, self.heights, strict=True)) / count),
            "height": float(sum(node)),
            "loss": sum(losses) / count,
            "loss_geometric": prod(1 + loss for loss in losses) ** (1 / count) - 1,
            "discernibility": float(sum(size**2 for size in sizes) + rows * self.rows_at_risk(node)),
            "average_class_size": sum(sizes) / (len(sizes) * self.k) if sizes else inf,
        }
        return self._memo.setdefault(("scores", node), scores)

    def optimum(self, metric: str) -> float:
        return min(self.scores(node)[metric] for node in self.anonymous_nodes)


def _lost(before: Sequence[Any], after: Sequence[Any]) -> float:
    """-log2 of the share of rows with a label that had the row's own, added up over the rows."""
    fine, coarse = Counter(before), Counter(after)
    return sum(log2(coarse[b] / fine[a]) for a, b in zip(before, after, strict=True))


def _leq(lower: Node, upper: Node) -> bool:
    return all(a <= b for a, b in zip(lower, upper, strict=True))


# Random instances. The values are few, so that classes of every size come up.

TEXTS = ("a", "b", "B", "*", "e e", "")
NUMBERS = (0, -1, 7, 300, 70_000)
STRAY = {str: "stray", int: 99}
LIMITS = (0.0, 0.02, 0.1, 0.25, 0.29, 0.5, 1.0)


@st.composite
def columns(draw: st.DrawFn, texts: Sequence[str] = TEXTS) -> Column:
    """A column with a hierarchy of height 1 to 4: each level merges labels of the one below."""
    values = draw(st.sampled_from([texts, NUMBERS]))
    leaves: list[Any] = draw(st.lists(st.sampled_from(values), min_size=1, unique=True))
    if draw(st.booleans()):
        leaves.append(None)
    levels = [leaves]
    for level in range(1, draw(st.integers(1, 4))):
        merged = {label: f"{draw(st.integers(0, 2))}'{level}" for label in dict.fromkeys(levels[-1])}
        if None in merged and draw(st.booleans()):
            merged[None] = None
        levels.append([merged[label] for label in levels[-1]])
    if len(levels) == 1 or len(set(levels[-1])) > 1:
        levels.append(["*"] * len(leaves))
    return Column(dict(zip(leaves, zip(*levels, strict=True), strict=True)))


@st.composite
def problems(
    draw: st.DrawFn,
    most_columns: int = 4,
    fewest_columns: int = 1,
    most_rows: int = 24,
    bounded: bool = False,
    strays: bool = False,
    texts: Sequence[str] = TEXTS,
) -> Problem:
    """A table, its hierarchies, k and limit; `bounded` levels, and `strays` that no hierarchy holds."""
    drawn = draw(st.lists(columns(texts), min_size=fewest_columns, max_size=most_columns))
    row = st.tuples(*(st.sampled_from(_values(column, strays)) for column in drawn))
    rows = draw(st.lists(row, min_size=1, max_size=most_rows))
    drawn = [
        replace(column, strays=any(value not in column.leaves for value in values))
        for column, values in zip(drawn, zip(*rows, strict=True), strict=True)
    ]
    k = draw(st.integers(1, min(5, len(rows))))
    limit = draw(st.sampled_from(LIMITS))
    if not bounded:
        return Problem(rows, drawn, k, limit)
    levels = [sorted((draw(st.integers(0, c.height)), draw(st.integers(0, c.height)))) for c in drawn]
    bottom, top = zip(*levels, strict=True)
    return Problem(rows, drawn, k, limit, bottom, top)


@st.composite
def identical_problems(draw: st.DrawFn, bounded: bool = False) -> Problem:
    """A table whose columns share one hierarchy, and the levels allowed if they are `bounded`."""
    column, count = draw(columns()), draw(st.integers(1, 4))
    row = st.tuples(*[st.sampled_from(list(column.leaves))] * count)
    rows = draw(st.lists(row, min_size=1, max_size=24))
    k, limit = draw(st.integers(1, min(5, len(rows)))), draw(st.sampled_from(LIMITS))
    levels = [0, column.height]
    if bounded:
        levels = sorted(draw(st.integers(0, column.height)) for _ in levels)
    return Problem(rows, [column] * count, k, limit, *((level,) * count for level in levels))


def _values(column: Column, strays: bool) -> list[Any]:
    """The possible values of a column; a leaf `*` would be the same on level 0 as a stray."""
    leaves = list(column.leaves)
    return [*leaves, STRAY[type(leaves[0])]] if strays and "*" not in leaves else leaves
