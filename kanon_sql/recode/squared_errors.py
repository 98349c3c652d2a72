"""Squared errors: how far the released numbers are from the original ones, relative to the mean (SSE / SST).

A range or label of numbers counts as the middle of its smallest and largest leaf, a statistic as itself
(J. Domingo-Ferrer, J. Mateo-Sanz, TKDE 14(1), 2002). A cell that covers all leaves, such as a suppressed one,
counts as the column's mean: 0 is unchanged, 1 no better than the mean. Rows without a number, NULL, and values that no
hierarchy covers are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet
from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.lattice import Node
from kanon_sql.queries import Hole, Relation
from kanon_sql.recode.order import Order, numbers_of
from kanon_sql.recode.show import NUMBERS, STATISTICS
from kanon_sql.recode.task import Local

_TOO_LARGE = 1e140


def of_node(judge: Judge, node: Node) -> list[float | None]:
    """Every column's squared error at a node; None for columns that are not numeric, too large, or constant."""
    pairs = zip(judge.frequency_set.attributes, node, strict=True)
    return [_of_level(judge, node, attribute, level) if _is_number(attribute) else None for attribute, level in pairs]


def of_classes(
    frequency_set: FrequencySet, local: Local, classes: Relation, orders: Sequence[Order], hows: Sequence[str]
) -> list[float | None]:
    """Every column's squared error of a local recoding; None also if that creates its own labels."""
    if local.classes is not None:
        return [None for _ in orders]
    with Scratch(frequency_set.engine, "errors") as tables:
        together = _cells_together(tables, frequency_set, local, classes)

        def error(j: int, order: Order, how: str) -> float | None:
            if not _is_number(order.attribute):
                return None
            if j in together and how not in STATISTICS:
                return _of_cells(order, frequency_set.value_counts[j], together[j])
            return _of_class(tables, frequency_set, j, local, classes, order, how)

        return [error(j, order, how) for j, (order, how) in enumerate(zip(orders, hows, strict=True))]


def _is_number(attribute: Attribute) -> bool:
    """Whether a column has numbers whose squares can be added up."""
    if attribute.column.kind not in NUMBERS:
        return False
    if attribute.coded.by_rules:  # such a column has numbers of fifteen digits at most
        return True
    numbers = numbers_of(attribute.hierarchy.values)
    return all(number is None or abs(number) < _TOO_LARGE for number in numbers)


def _of_level(judge: Judge, node: Node, attribute: Attribute, level: int) -> float | None:
    with Scratch(judge.frequency_set.engine, "errors") as tables:
        numbers = _numbers(tables, attribute, level)
        mean, squares = _spread(tables, judge.frequency_set, attribute, numbers)
        if mean is None or squares == 0:
            return None
        hierarchy = attribute.hierarchy
        starred = hierarchy.codes(level)[-1] if hierarchy.starred else -1
        holes: dict[str, Hole] = {"leaves": hierarchy.leaf_count, "starred": starred, "mean": mean}
        weights = tables.create("weights", "quality/level_errors", numbers=numbers, **holes)
        return _ratio(judge.of_classes(node).released_sum(node, attribute, weights), squares)


def _numbers(tables: Scratch, attribute: Attribute, level: int) -> Relation:
    """Every leaf's number, and the code of its label on a level."""
    hierarchy, coded = attribute.hierarchy, attribute.coded
    if coded.by_rules:
        return tables.create("numbers", "quality/leaf_numbers", mapping=coded.mapping, label=[f"code_{level}"])
    leaves, types = len(hierarchy.values), {"code_0": "INTEGER", "label": "INTEGER", "number": "FLOAT8"}
    columns = [hierarchy.codes(0)[:leaves], hierarchy.codes(level)[:leaves], numbers_of(hierarchy.values)]
    return tables.load("numbers", types, columns)


def _of_class(
    tables: Scratch, frequency_set: FrequencySet, j: int, local: Local, classes: Relation, order: Order, how: str
) -> float | None:
    mean, squares = _spread(tables, frequency_set, order.attribute, order.relation)
    if mean is None or squares == 0:
        return None
    cells = {name: f"{name}_{j}" for name in ("label", "leaves", "first", "last")}
    holes: dict[str, Hole] = {
        "assignment": local.assignment,
        "value": [order.attribute.coded.code_column(0)],
        "positions": order.relation,
        "classes": classes,
        "statistic": how in STATISTICS,
        "leaves": order.leaf_count,
        "mean": mean,
    }
    ((difference,),) = tables.rows("quality/errors", cells=cells, **holes)
    return _ratio(float(difference), squares)


_Cell = tuple[int, int, int, int, int]  # the code of a value; leaves, first and last position of its cell; rows


def _cells_together(
    tables: Scratch, frequency_set: FrequencySet, local: Local, classes: Relation
) -> dict[int, list[_Cell]]:
    """The released cells of the attributes that are counted together."""
    numbers = list(frequency_set.together)
    cells: dict[int, list[_Cell]] = {j: [] for j in numbers}
    if cells:
        ends = {name: [f"{name}_{j}" for j in numbers] for name in ("leaves", "first", "last")}
        codes = [attribute.coded.code_column(0) for attribute in frequency_set.together.values()]
        holes: dict[str, Hole] = {"attributes": len(codes), "codes": codes, **ends}
        for place, *cell in sorted(
            tables.rows("quality/ranges_together", assignment=local.assignment, classes=classes, **holes)
        ):
            code, leaves, first, last, n = map(int, cell)
            cells[numbers[place]].append((code, leaves, first, last, n))
    return cells


def _of_cells(order: Order, counts: Mapping[int, int], cells: Sequence[_Cell]) -> float | None:
    """The same as `_of_class`, from all cells of a column."""
    at = numbers_of(order.values) if order.numeric else [None] * len(order.rows)
    codes = order.attribute.hierarchy.codes(0)
    number_of = {codes[row]: number for row, number in zip(order.rows, at, strict=True) if number is not None}
    rows = {code: n for code, n in counts.items() if code in number_of}
    if not rows:
        return None
    mean = sum(n * number_of[code] for code, n in rows.items()) / sum(rows.values())
    squares = sum(n * (number_of[code] - mean) ** 2 for code, n in rows.items())
    if squares == 0:
        return None
    difference = 0.0
    for code, leaves, first, last, n in cells:
        number, low, high = number_of.get(code), at[first], at[last]
        if number is not None:
            middle = (low + high) / 2 if leaves < order.leaf_count and low is not None and high is not None else mean
            difference += n * ((number - middle) ** 2 - (number - mean) ** 2)
    return _ratio(difference, squares)


def _spread(
    tables: Scratch, frequency_set: FrequencySet, attribute: Attribute, numbers: Relation
) -> tuple[float | None, float]:
    holes: dict[str, Hole] = {"frequency_set": frequency_set.relation, "numbers": numbers}
    ((mean, squares),) = tables.rows("quality/number_spread", value=[attribute.coded.code_column(0)], **holes)
    return None if mean is None else float(mean), float(squares)


def _ratio(difference: float, squares: float) -> float:
    return max(0.0, (difference + squares) / squares)
