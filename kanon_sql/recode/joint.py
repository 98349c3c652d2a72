"""Figures of a release about whole tuples: a checksum, ambiguity, and divergence from the source.

All are computed from the released cells: the class of every tuple, and how many leaves its cells cover.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import exp, log
from operator import mul

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.lattice import Node
from kanon_sql.privacy import Predicate
from kanon_sql.queries import Hole, Relation
from kanon_sql.recode.order import Order
from kanon_sql.recode.task import Local

_MOST_PAIRS = 50_000_000  # of a tuple and a class that might cover it: about a second
_MOST_LOG = 600.0  # logarithm of all combinations of leaves; beyond it, their inverse underflows
_ROUNDING = 1e-9  # error of a sum of logarithms that is 0


@dataclass(frozen=True)
class ReleasedCells:
    """The released cells, as a relation of keys, n, class, leaves_j and share; see `queries.cells_of_node`.

    `weights`: of the attributes, with mean 1; empty if they are equal.
    """

    frequency_set: FrequencySet
    tables: Scratch
    relation: Relation
    weights: tuple[float, ...] = ()

    @property
    def checksum(self) -> str | None:
        """Equal for two releases with the same rows in the same classes, and equal numbers of leaves per cell."""
        leaves = [f"leaves_{j}" for j, _ in enumerate(self.frequency_set.attributes)]
        holes: dict[str, Hole] = {"cells": self.relation, "keys": self.frequency_set.keys, "leaves": leaves}
        ((text,),) = self.tables.rows("quality/checksum", **holes)
        return None if text is None else str(text)

    @property
    def ambiguity(self) -> float | None:
        """The mean number of combinations of leaves that a row covers; None if that is too large for a float.

        Over the source's rows, a suppressed one counting for all combinations (J. Goldberger, T. Tassa, Transactions
        on Data Privacy 3(2), 2010). An attribute counts with its leaves to the power of its weight.
        """
        rows, shares = self._sums("weighted" if self.weights else "share")
        mean = (shares + self.frequency_set.rows - rows) / self.frequency_set.rows
        combinations = combined(self.frequency_set, self.weights)
        return mean * exp(combinations) if combinations < _MOST_LOG else None

    def divergence_apart(self) -> float:
        """The divergence if no two classes cover the same values, as the classes of a node."""
        rows, suppressed = self.frequency_set.rows, self._suppressed
        holes: dict[str, Hole] = {"cells": self.relation, "rows": rows, "suppressed": suppressed}
        ((released,),) = self.tables.rows("quality/apart_density", **holes)
        # A suppressed row is in no class.
        missing = suppressed * log(suppressed / rows) if suppressed else 0.0
        return _divergence(self.frequency_set, self.tables, float(released) + missing)

    def divergence(self, classes: Relation, orders: Sequence[Order]) -> float | None:
        """The divergence of a local recoding, in which several classes can cover a tuple; None if too large."""
        tuples, counted = self.frequency_set.tuples, self.tables.count(classes)
        if tuples * counted > _MOST_PAIRS or combined(self.frequency_set) > _MOST_LOG:
            return None
        query = queries.covered(
            self.frequency_set.relation,
            classes,
            self.frequency_set.keys,
            [order.relation for order in orders],
            _most(self.frequency_set),
            self.tables.engine.dialect,
        )
        pairs = self.tables.create_as("covered", query)
        holes: dict[str, Hole] = {"covered": pairs, "rows": self.frequency_set.rows, "suppressed": self._suppressed}
        ((logarithms,),) = self.tables.rows("quality/covered_density", **holes)
        return None if logarithms is None else _divergence(self.frequency_set, self.tables, float(logarithms))

    @property
    def _suppressed(self) -> int:
        return self.frequency_set.rows - self._sums("share")[0]

    def _sums(self, share: str) -> tuple[int, float]:
        """The released rows, and the sum of their shares of all combinations."""
        ((rows, shares),) = self.tables.rows("quality/ambiguity", cells=self.relation, share=[share])
        return int(rows), float(shares)


@contextmanager
def of_node(
    frequency_set: FrequencySet, safe: Predicate, node: Node, weights: Sequence[float] = ()
) -> Iterator[ReleasedCells]:
    """The cells of a node, with only the safe classes; `weights` of the attributes, empty if they are equal."""
    leaves = [_leaves_of(attribute, level) for attribute, level in zip(frequency_set.attributes, node, strict=True)]
    columns = [name for name in leaves if isinstance(name, str)]
    with Scratch(frequency_set.engine, "joint") as tables:
        assignment = tables.create(
            "assignment",
            "node_tests/node_assignment",
            frequency_set=frequency_set.relation,
            levels=frequency_set.level_columns(node),
            safe=safe,
            keys=[*frequency_set.keys, *columns],
            sensitive=frequency_set.counted,
        )
        yield _cells_of_node(tables, frequency_set, assignment, frequency_set.keys, leaves, weights)


@contextmanager
def of_classes_of_node(judge: Judge, node: Node, weights: Sequence[float] = ()) -> Iterator[ReleasedCells]:
    """The cells of a node, one row per safe class, not per tuple: enough for all figures except the checksum."""
    frequency_set = judge.frequency_set
    leaves = [_leaves_of(attribute, level) for attribute, level in zip(frequency_set.attributes, node, strict=True)]
    columns = [name for name in leaves if isinstance(name, str)]
    with Scratch(frequency_set.engine, "joint") as tables:
        text = judge.of_classes(node).released_leaves_sql(node, columns)
        assignment = tables.create_as("assignment", text, "node_tests/released_leaves")
        yield _cells_of_node(tables, frequency_set, assignment, [], leaves, weights)


def _cells_of_node(
    tables: Scratch,
    frequency_set: FrequencySet,
    assignment: Relation,
    keys: Sequence[str],
    leaves: Sequence[str | int],
    weights: Sequence[float],
) -> ReleasedCells:
    weights = _with_mean_1(weights)
    query = queries.cells_of_node(assignment, keys, leaves, _most(frequency_set), weights, tables.engine.dialect)
    return ReleasedCells(frequency_set, tables, tables.create_as("cells", query), weights)


@contextmanager
def of_classes(
    frequency_set: FrequencySet, local: Local, classes: Relation, weights: Sequence[float] = ()
) -> Iterator[ReleasedCells]:
    """The cells of a local recoding."""
    keys, dialect = frequency_set.keys, frequency_set.engine.dialect
    with Scratch(frequency_set.engine, "joint") as tables:
        weights = _with_mean_1(weights)
        query = queries.cells_of_classes(local.assignment, classes, keys, _most(frequency_set), weights, dialect)
        yield ReleasedCells(frequency_set, tables, tables.create_as("cells", query), weights)


def _with_mean_1(weights: Sequence[float]) -> tuple[float, ...]:
    """Weights as exponents that keep the size of a product; empty if they are equal."""
    if len(set(weights)) < 2:
        return ()
    return tuple(weight * len(weights) / sum(weights) for weight in weights)


def combined(frequency_set: FrequencySet, weights: Sequence[float] = ()) -> float:
    """The logarithm of the number of combinations of leaves, with attributes to the power of their weights."""
    logarithms = [log(most) for most in _most(frequency_set)]
    return sum(map(mul, weights, logarithms)) if weights else sum(logarithms)


def _most(frequency_set: FrequencySet) -> list[int]:
    return [attribute.hierarchy.leaf_count for attribute in frequency_set.attributes]


def _leaves_of(attribute: Attribute, level: int) -> str | int:
    if level in attribute.coded.loss_levels:
        return attribute.coded.loss_column(level)
    return attribute.hierarchy.leaf_count if level == attribute.hierarchy.height else 1


def _divergence(frequency_set: FrequencySet, tables: Scratch, logarithms: float) -> float:
    """In bits: the mean over rows of log2(source's share of their tuple / release's density there).

    `logarithms`: of the density times all combinations of leaves, added up over the rows.
    """
    if frequency_set.has_own_rows:
        ((own,),) = tables.rows("quality/own_tuple_bits", frequency_set=frequency_set.relation)
    else:
        holes: dict[str, Hole] = {"frequency_set": frequency_set.relation, "keys": frequency_set.keys}
        ((own,),) = tables.rows("quality/tuple_bits", **holes)
    rows = frequency_set.rows
    bits = (float(own) - logarithms) / rows - log(rows) + combined(frequency_set)
    return 0.0 if abs(bits) < _ROUNDING else bits / log(2)
