"""Mondrian's rounds on arrays, if only the number of its rows or people decides whether a class is safe.

A round makes the same cuts as the queries of `sql/mondrian.sql`, and its names are theirs. The database counts the
tuples and writes the classes; in between, a round sorts and adds up integers, and needs no other rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from kanon_sql.frequency.code_arrays import count_keys, is_first, starts_of

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
_CELLS = 1 << 22  # of attributes and tuples that are counted together
_MOST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Line:
    """The values of an attribute that occur, numbered in the order of their positions: their ranks, from 0.

    `range`, `most`, `weight`: as in the query "places". `numbers`: by rank; None if the hierarchy is cut. Then
    `nodes`, `highs`, `leaves` and `widths` are, by level and rank, the node above a value, its last position, its
    leaves, and their share.
    """

    positions: Array
    range: float
    most: float
    weight: float
    numbers: Array | None = None
    nodes: Array | None = None
    highs: Array | None = None
    leaves: Array | None = None
    widths: Array | None = None

    @property
    def bits(self) -> int:
        """The bits of a rank."""
        return int(len(self.positions) - 1).bit_length()

    def width(self, low: Array, high: Array) -> Array:
        """The share of the attribute that lies between two ranks: of its range, or of the leaves of a common node."""
        if self.numbers is not None:
            span: Array = np.minimum(1, (self.numbers[high] - self.numbers[low]) / self.range)
            return span
        assert self.highs is not None
        assert self.widths is not None
        covers = self.highs[:, low] >= self.positions[high]
        shared: Array = np.where(covers, self.widths[:, low], np.inf).min(axis=0)
        return shared


def partitions_of(
    tuples: Mapping[str, Array],
    codes: Sequence[str],
    places: Mapping[str, Array],
    nodes: Mapping[str, Array],
    k: int,
    merge: bool,
    within: str | None = None,
    person: str | None = None,
) -> Partitions:
    """All tuples in one partition, or in those of a column.

    `tuples`: of the columns with the attributes' codes, n, `within` and the code of a `person`, if people are counted.
    `places`, `nodes`: the tables of these names.
    """
    places, nodes = _sorted(places, ["attribute", "position"]), _sorted(nodes, ["attribute", "level", "position"])
    lines, ranks = [], []
    for attribute, code in enumerate(codes):
        own = _of_attribute(places, attribute)
        ranks_of_codes = np.zeros(int(own["code"].max()) + 1, dtype=np.min_scalar_type(len(own["code"])))
        ranks_of_codes[own["code"]] = np.arange(len(own["code"]))
        lines.append(_line(own, _of_attribute(nodes, attribute)))
        ranks.append(ranks_of_codes[tuples[code]])
    rows, people = tuples["n"].astype(np.int64), tuples[person] if person else None
    if within is None:
        return Partitions(lines, np.array(ranks), rows, np.zeros(len(rows), dtype=np.int64), k, merge, people)
    names, numbers = np.unique(tuples[within], return_inverse=True)
    return Partitions(lines, np.array(ranks), rows, numbers, k, merge, people, first_class=int(names[0]))


def _sorted(columns: Mapping[str, Array], by: Sequence[str]) -> dict[str, Array]:
    order = np.lexsort([columns[name] for name in reversed(by)])
    return {name: column[order] for name, column in columns.items()}


def _of_attribute(columns: Mapping[str, Array], attribute: int) -> dict[str, Array]:
    first, end = np.searchsorted(columns["attribute"], [attribute, attribute + 1])
    return {name: column[first:end] for name, column in columns.items()}


def _line(places: Mapping[str, Array], nodes: Mapping[str, Array]) -> Line:
    positions = places["position"]
    width, most, weight = (float(places[name][0]) for name in ("range", "most", "weight"))
    if not len(nodes["level"]):
        return Line(positions, width, most, weight, numbers=np.ma.getdata(places["number"]))
    levels = int(nodes["level"].max()) + 1
    above, highs, leaves, widths = (
        nodes[name].reshape(levels, -1)[:, positions] for name in ("node", "high", "leaves", "width")
    )
    return Line(positions, width, most, weight, nodes=above, highs=highs, leaves=leaves, widths=widths)


class _Block:
    """Attributes with ranks of as many bits, whose values are counted together; figures follow each other by rank."""

    def __init__(self, attributes: Sequence[int], lines: Sequence[Line]) -> None:
        self.attributes = np.array(attributes)
        self._lines = [lines[attribute] for attribute in attributes]
        self.bits = self._lines[0].bits
        self.ordered = self._lines[0].numbers is not None

    @cached_property
    def positions(self) -> Array:
        """The positions of ranks."""
        return self._by_rank([line.positions for line in self._lines])

    @cached_property
    def numbers(self) -> Array:
        """The numbers of ranks."""
        return self._by_rank([line.numbers for line in self._lines])

    @cached_property
    def in_order(self) -> bool:
        """Whether all numbers are in the order of their positions, unlike those of dates before the calendar."""
        return all(line.numbers is None or bool(np.all(np.diff(line.numbers) >= 0)) for line in self._lines)

    @cached_property
    def nodes(self) -> Array:
        """By level, the nodes of ranks."""
        return self._by_level([line.nodes for line in self._lines])

    @cached_property
    def highs(self) -> Array:
        """By level, the last positions under the nodes of ranks."""
        return self._by_level([line.highs for line in self._lines])

    @cached_property
    def leaves(self) -> Array:
        """By level, the leaves under the nodes of ranks."""
        return self._by_level([line.leaves for line in self._lines])

    @cached_property
    def figures(self) -> Array:
        """The range, the loss of all leaves and the weight of every attribute."""
        return np.array([(line.range, line.most, line.weight) for line in self._lines]).T

    def _by_rank(self, columns: Sequence[Any]) -> Array:
        table = np.zeros((len(columns), 1 << self.bits), dtype=columns[0].dtype)
        for row, column in zip(table, columns, strict=True):
            row[: len(column)] = column
        return table.ravel()

    def _by_level(self, columns: Sequence[Any]) -> Array:
        levels = range(max(len(column) for column in columns))  # above its top, a value has its top again
        return np.array(
            [self._by_rank([column[min(level, len(column) - 1)] for column in columns]) for level in levels]
        )


@dataclass(frozen=True)
class _Options:
    """The cuts by the attributes of a block, by attribute and partition; a gain of -inf for none.

    `split`: the last rank on the left. `children`: of the cuts by hierarchies.
    """

    block: _Block
    gains: Array
    split: Array | None = None
    children: _Children | None = None

    def rule_out(self, partitions: Array, attributes: Array) -> None:
        """Rule out the cuts of some partitions by these attributes, where they are in the block."""
        for place, attribute in enumerate(self.block.attributes):
            self.gains[place, partitions[attributes == attribute]] = -np.inf


@dataclass(frozen=True)
class _Children:
    """The children of covering nodes, in the order of groups and ranks: first rank, and whether it is split off."""

    groups: Array
    first: Array
    apart: Array


@dataclass
class Partitions:
    """The open partitions of tuples, which rounds cut.

    `ranks`: of every attribute, of the tuples. `rows`: of the tuples. `numbers`: of their partitions, without gaps.
    `k`: the rows that a safe partition needs, or people if there are `people`: of the tuples.
    `merge`: whether a safe child can stay with the rest. `first_class`: the lowest number of a class.
    """

    lines: Sequence[Line]
    ranks: Array
    rows: Array
    numbers: Array
    k: int
    merge: bool
    people: Array | None = None
    first_class: int = 0

    def __post_init__(self) -> None:
        self.open = int(self.numbers.max()) + 1
        self.closed = 0
        self._all = self.ranks, self.rows
        self._classes = np.zeros(len(self.rows), dtype=np.int64)
        self._tuples = np.arange(len(self.rows))
        self._alike = bool(np.all(self.rows == 1))
        self._enough = self.k  # a partition with so many rows certainly has k people
        if self.people is not None:
            self._enough = (self.k - 1) * int(np.bincount(self.people, self.rows).max()) + 1
        self._blocks = self._in_blocks()

    @property
    def classes(self) -> Array:
        """The class of every tuple; open partitions are classes, too."""
        classes = self._classes.copy()
        classes[self._tuples] = self.closed + self.numbers
        return classes + self.first_class

    def penalty(self) -> float:
        """The widths of all rows' cells, added up; see the query "ncp"."""
        order = self.classes.argsort()
        firsts = starts_of(self.classes[order])
        ranks, rows = self._all
        rows = np.add.reduceat(rows[order], firsts)
        penalty = 0.0
        for line, of_attribute in zip(self.lines, ranks, strict=True):
            low, high = (ufunc.reduceat(of_attribute[order], firsts) for ufunc in (np.minimum, np.maximum))
            penalty += float(rows @ line.width(low, high))
        return penalty

    def cut(self) -> None:
        """Cut every partition once; those that no attribute can cut become classes."""
        self._close(self._sizes() < 2 * self.k)
        if not self.open:
            return
        options = [self._by_order(block) if block.ordered else self._by_nodes(block) for block in self._blocks]
        part = np.zeros(len(self.numbers), dtype=np.int64)  # of its partition, to which every tuple goes
        tuples = np.arange(len(self.numbers))
        while True:
            best, split = self._choose(options)
            parts, part[tuples] = self._divide(best, split, options, tuples)
            unsafe = self._with_too_few_people(parts, part, tuples)
            if not len(unsafe):
                break
            for option in options:
                option.rule_out(unsafe, best[unsafe])
            tuples = np.flatnonzero(np.isin(self.numbers, unsafe))
        self._move(parts, part)

    def _choose(self, options: Sequence[_Options]) -> tuple[Array, Array]:
        """The attribute that cuts every partition best, -1 for none, and the last rank on its left."""
        best, split = np.full(self.open, -1), np.full(self.open, -1)
        highest = np.full(self.open, -np.inf)
        for option in options:
            choice = option.gains.argmax(axis=0)  # the first attribute wins a tie
            attributes, gains = option.block.attributes[choice], option.gains[choice, np.arange(self.open)]
            better = (gains > highest) | ((gains == highest) & (gains > -np.inf) & (attributes < best))
            best[better], highest[better] = attributes[better], gains[better]
            split[better] = -1 if option.split is None else option.split[choice, np.arange(self.open)][better]
        return best, split

    def _in_blocks(self) -> list[_Block]:
        kinds: dict[tuple[int, bool], list[int]] = {}
        for attribute, line in enumerate(self.lines):
            kinds.setdefault((line.bits, line.numbers is None), []).append(attribute)
        most = max(1, _CELLS // len(self.rows))
        parts = [kind[first : first + most] for kind in kinds.values() for first in range(0, len(kind), most)]
        return [_Block(part, self.lines) for part in parts]

    def _sizes(self) -> Array:
        return np.bincount(self.numbers, self.rows, self.open).astype(np.int64)

    def _close(self, which: Array) -> None:
        """Make classes of some partitions, and number the others again."""
        if not which.any():
            return
        closing = which[self.numbers]
        places = np.cumsum(which) - 1
        self._classes[self._tuples[closing]] = self.closed + places[self.numbers[closing]]
        kept = np.flatnonzero(~closing)
        self.closed += int(which.sum())
        self.open -= int(which.sum())
        self.numbers = (np.cumsum(~which) - 1)[self.numbers[kept]]
        self.ranks, self.rows, self._tuples = self.ranks[:, kept], self.rows[kept], self._tuples[kept]
        self.people = None if self.people is None else self.people[kept]

    def _count(self, block: _Block) -> _Cells:
        """Count the rows of every value of a block's attributes in every partition."""
        groups = np.arange(len(block.attributes))[:, None] * self.open + self.numbers
        keys = (groups << block.bits | self.ranks[block.attributes]).ravel()
        most = len(block.attributes) * self.open << block.bits
        rows = None if self._alike else np.tile(self.rows, len(block.attributes))
        return _Cells(block, self.open, *count_keys(keys, rows, most))

    def _by_order(self, block: _Block) -> _Options:
        """The cuts nearest to the median that leave both sides safe."""
        cells = self._count(block)
        running = np.cumsum(cells.rows)
        before = running[cells.starts] - cells.rows[cells.starts]
        below = running - before.repeat(cells.lengths)
        above = (running[cells.ends] - before).repeat(cells.lengths) - below
        safe = np.flatnonzero((below >= self.k) & (above >= self.k))
        below, above = below[safe], above[safe]
        groups, (ranges, most, weight) = cells.groups[safe], block.figures

        # First the cuts that separate values without a number, then those nearest to the median.
        places, numbers = cells.places, block.numbers
        far = numbers[places(safe + 1)] - numbers[places(safe)] > ranges[cells.attributes(groups)]
        distance = np.abs(below - above)
        order = np.where(far, distance, distance + int(running[-1]) + 1) if len(safe) else distance
        firsts = starts_of(groups)
        least = np.flatnonzero(order == _least(order, firsts).repeat(np.diff(firsts, append=len(safe))))
        chosen = least[starts_of(groups[least])]
        cuts, groups, below, above = safe[chosen], groups[chosen], below[chosen], above[chosen]

        first, last = places(cells.starts[groups]), places(cells.ends[groups])
        left, right = places(cuts), places(cuts + 1)
        attributes, positions = cells.attributes(groups), block.positions
        ranges, most, weight = ranges[attributes], most[attributes], weight[attributes]
        lowest, highest = (numbers[first], numbers[last]) if block.in_order else _extremes(cells, groups)
        low, high = positions[first], positions[last]
        gains = (
            weight
            * (
                (below + above) * np.where(highest - lowest > ranges, most, high - low)
                - below * np.where(numbers[left] - lowest > ranges, most, positions[left] - low)
                - above * np.where(highest - numbers[right] > ranges, most, high - positions[right])
            )
            / most
        )
        split = np.full((len(block.attributes), self.open), -1)
        split.ravel()[groups] = cells.ranks(cuts)
        return _Options(block, self._by_attribute(block, groups, gains), split=split)

    def _by_nodes(self, block: _Block) -> _Options:
        """The cuts into the children of the lowest nodes that cover all values."""
        counted = self._count(block)
        several = counted.ends > counted.starts
        cells = np.flatnonzero(several.repeat(counted.lengths))
        covered = np.flatnonzero(several)
        first, high = (counted.places(counted.starts[covered]), counted.places(counted.ends[covered]))
        level, leaves = np.zeros(len(covered), dtype=np.int64), np.full(len(covered), _MOST)
        for above in reversed(range(len(block.nodes))):
            covers = block.highs[above][first] >= block.positions[high]
            level = np.where(covers, above - 1, level)
            leaves = np.where(covers, np.minimum(leaves, block.leaves[above][first]), leaves)

        places, lengths = counted.places(cells), counted.lengths[covered]
        levels = level.repeat(lengths)
        nodes, groups = block.nodes[levels, places], counted.groups[cells]
        starts = starts_of(groups, nodes)
        nodes, groups = nodes[starts], groups[starts]
        n = np.add.reduceat(counted.rows[cells], starts) if len(cells) else counted.rows[cells]
        lost = block.leaves[levels, places][starts]
        safe = n >= self.k

        firsts = starts_of(groups)
        lengths = np.diff(firsts, append=len(groups))
        saved = n * (leaves.repeat(lengths) - lost)
        unsafe = _sums(np.where(safe, 0, n), firsts)
        alone = (unsafe == 0) | (unsafe >= self.k)  # whether the unsafe children are safe together
        # If they are not, the smallest safe child stays with them.
        order = np.where(safe, n * (int(nodes.max(initial=0)) + 1) + nodes, _MOST)
        spared = safe & (order == _least(order, firsts).repeat(lengths)) & ~alone.repeat(lengths)
        safe_children = _sums(safe.astype(np.int64), firsts)
        allowed = (safe_children > 0) & (alone | ((safe_children > 1) & self.merge))
        _, most, weight = block.figures[:, counted.attributes(groups[firsts])]
        gains = weight * (_sums(np.where(safe, saved, 0), firsts) - _sums(np.where(spared, saved, 0), firsts)) / most
        children = _Children(groups, counted.ranks(cells[starts]), safe & ~spared)
        table = self._by_attribute(block, groups[firsts][allowed], gains[allowed])
        return _Options(block, table, children=children)

    def _by_attribute(self, block: _Block, groups: Array, gains: Array) -> Array:
        """The gains of groups by attribute and partition, -inf for all others."""
        table = np.full((len(block.attributes), self.open), -np.inf)
        table.ravel()[groups] = gains
        return table

    def _divide(self, best: Array, split: Array, options: Sequence[_Options], tuples: Array) -> tuple[Array, Array]:
        """The number of parts of every partition, 0 if it is not cut, and the part that some tuples go to."""
        parts = np.where(split >= 0, 2, 0)
        keys, child_parts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for option in options:
            if option.children is None:
                continue
            groups, apart = option.children.groups, option.children.apart
            partitions, attributes = groups % self.open, option.block.attributes[groups // self.open]
            cut = best[partitions] == attributes
            partitions, apart = partitions[cut], apart[cut]
            firsts = starts_of(partitions)
            lengths = np.diff(firsts, append=len(partitions))
            number = np.cumsum(apart)
            number -= (number[firsts] - apart[firsts]).repeat(lengths)  # from 1 in every partition
            with_rest = ~np.logical_and.reduceat(apart, firsts) if len(firsts) else np.zeros(0, dtype=bool)
            parts[partitions[firsts]] = _sums(apart.astype(np.int64), firsts) + with_rest
            keys.append(partitions << 32 | option.children.first[cut])
            child_parts.append(np.where(apart, number - (~with_rest).repeat(lengths), 0))

        numbers = self.numbers[tuples]
        ranks = self.ranks[best[numbers], tuples].astype(np.int64)
        part = (ranks > split[numbers]).astype(np.int64)
        among = np.flatnonzero((split < 0)[numbers] & (parts > 0)[numbers])
        if len(among):
            places = np.concatenate(keys)
            order = places.argsort()
            child = places[order].searchsorted(numbers[among] << 32 | ranks[among], "right") - 1
            part[among] = np.concatenate(child_parts)[order][child]
        return parts, part

    def _with_too_few_people(self, parts: Array, part: Array, tuples: Array) -> Array:
        """The partitions of some tuples with a part of fewer than k people.

        Only parts with few rows are counted: k - 1 people have fewer than `_enough` rows together.
        """
        if self.people is None:
            return np.zeros(0, dtype=np.int64)
        tuples = tuples[parts[self.numbers[tuples]] > 0]
        children = (np.cumsum(parts) - parts)[self.numbers[tuples]] + part[tuples]
        rows = np.bincount(children, self.rows[tuples], int(parts.sum()))
        counted = np.flatnonzero((rows < self._enough)[children])
        pairs = np.sort(children[counted] << 32 | self.people[tuples[counted]])
        of_people, people = np.unique(pairs[is_first(pairs)] >> 32, return_counts=True)
        return np.unique(np.repeat(np.arange(self.open), parts)[of_people[people < self.k]])

    def _move(self, parts: Array, part: Array) -> None:
        """Move the tuples to the new partitions."""
        cut, first_part, before = parts > 0, np.cumsum(parts) - parts, self.numbers
        self._close(~cut)
        kept = cut[before]
        self.numbers = first_part[before[kept]] + part[kept]
        self.open = int(parts.sum())


class _Cells:
    """The rows of every value in every group, an attribute of a block in a partition; in this order."""

    def __init__(self, block: _Block, partitions: int, keys: Array, rows: Array) -> None:
        self.block, self.rows = block, rows
        self._partitions, self._keys = partitions, keys
        self.groups = keys >> block.bits
        self.starts = starts_of(self.groups)
        self.lengths = np.diff(self.starts, append=len(keys))
        self.ends = self.starts + self.lengths - 1

    def ranks(self, cells: Array) -> Array:
        """The ranks of some cells' values."""
        return self._keys[cells] & (1 << self.block.bits) - 1

    def places(self, cells: Array) -> Array:
        """The places of some cells' values in the block's figures."""
        if len(self.block.attributes) == 1:
            return self.ranks(cells)
        return self.attributes(self.groups[cells]) << self.block.bits | self.ranks(cells)

    def attributes(self, groups: Array) -> Array:
        """The attributes of some groups, by their places in the block."""
        return groups // self._partitions


def _least(values: Array, firsts: Array) -> Array:
    return np.minimum.reduceat(values, firsts) if len(firsts) else values


def _sums(values: Array, firsts: Array) -> Array:
    return np.add.reduceat(values, firsts) if len(firsts) else values


def _extremes(cells: _Cells, groups: Array) -> tuple[Array, Array]:
    """The lowest number of groups without the last cell, and the highest without the first."""
    numbers = cells.block.numbers[cells.places(np.arange(len(cells.rows)))]
    lowest, highest = numbers.copy(), numbers.copy()
    lowest[cells.ends], highest[cells.starts] = np.inf, -np.inf
    return np.minimum.reduceat(lowest, cells.starts)[groups], np.maximum.reduceat(highest, cells.starts)[groups]
