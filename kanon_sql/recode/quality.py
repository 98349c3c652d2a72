"""The quality of a recoding, by the quality models with which PrioPrivacy and ARX were compared; the source's is 1.

For local recodings, in which the cells of one column are on different levels: every cell's label is looked up in its
column's hierarchy, ignoring blanks if it does not occur literally (`20 - 29` for `20-29`). A recoding that shows
something else (ranges, means) has none of these figures.

Source: Bampoulidis, Markopoulos, Lupu, WI 2019, figures 1 and 2; non-uniform entropy for local recoding after
F. Prasser, R. Bild, K. Kuhn, Stud. Health Technol. Inform. 228 (2016).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log2
from typing import Any

from kanon_sql import queries
from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import HierarchyError
from kanon_sql.frequency.frequency_set import Attribute, FrequencySet
from kanon_sql.generalization.hierarchy import STAR
from kanon_sql.queries import Hole, Relation

_FEW = 1000  # values of a column whose cells are fetched: in a wide table, statements take longer than this


@dataclass(frozen=True)
class Quality:
    """Figures of a column or a table, from 0 (nothing is left) to 1 (unchanged).

    `entropy_kept`: non-uniform entropy, 1 - bits lost / bits lost if all cells were `*`. `intensity_kept`: 1 - mean
    level / height. `granularity_kept`: 1 - mean share of the leaves under a cell's label, from 1 leaf to all. All
    figures of a column with one leaf are 1.
    """

    entropy_kept: float
    intensity_kept: float
    granularity_kept: float


@dataclass(frozen=True)
class _Parts:
    """A column's sums over its cells: bits lost, bits in total, levels / height, shares of the leaves."""

    rows: int
    bits: float
    most_bits: float
    levels: float
    shares: float
    leaf: float

    @property
    def quality(self) -> Quality:
        return _quality([self])


def measure(
    engine: Engine,
    attributes: Sequence[Attribute],
    assignment: Relation,
    classes: Relation,
) -> tuple[Quality, dict[str, Quality]]:
    """The figures of the table, and of every column, for an assignment to classes with labels (label_0, …).

    A tuple whose class is NULL counts as suppressed. Raises HierarchyError for a label on no level of its
    column's hierarchy.
    """
    with Scratch(engine, "quality") as tables:
        columns = {a.column.name: _parts(tables, a, j, assignment, classes) for j, a in enumerate(attributes)}
    return _quality(list(columns.values())), {name: parts.quality for name, parts in columns.items()}


def lost_bits(frequency_set: FrequencySet, assignment: Relation, classes: Relation) -> tuple[float, ...]:
    """The bits that every attribute loses by non-uniform entropy, in classes with the levels of all cells (level_j).

    A tuple without a class, or whose class is NULL, counts as suppressed.
    """
    with Scratch(frequency_set.engine, "quality") as tables:
        relations = {"frequency_set": frequency_set.relation, "assignment": assignment, "classes": classes}
        together = _cells_together(tables, frequency_set, assignment, classes)
        return tuple(_lost_bits(tables, a, j, relations, together) for j, a in enumerate(frequency_set.attributes))


_Cell = tuple[int, int, int]  # the code of a value, the level of its cell, and the number of rows


def _cells_together(
    tables: Scratch, frequency_set: FrequencySet, assignment: Relation, classes: Relation
) -> dict[int, list[_Cell]]:
    """The cells of the attributes that are counted together; suppressed rows are on the top level."""
    attributes = frequency_set.together
    if not attributes:
        return {}
    holes: dict[str, Hole] = {"attributes": len(attributes), "assignment": assignment, "classes": classes}
    codes, levels = [a.coded.code_column(0) for a in attributes.values()], [f"level_{j}" for j in attributes]
    released = tables.rows("quality/cells_together", codes=codes, levels=levels, **holes)
    numbers, tops = list(attributes), [attribute.hierarchy.height for attribute in attributes.values()]
    rows = Counter[_Cell]()
    for j, counts in frequency_set.value_counts.items():
        rows.update({(j, code, attributes[j].hierarchy.height): n for code, n in counts.items()})
    for place, code, level, n in released:
        rows[numbers[place], code, tops[place]] -= n
        rows[numbers[place], code, level] += n
    cells: dict[int, list[_Cell]] = {j: [] for j in attributes}
    for (j, code, level), n in sorted(rows.items()):
        if n:
            cells[j].append((code, level, n))
    return cells


def _lost_bits(
    tables: Scratch,
    attribute: Attribute,
    j: int,
    relations: dict[str, Relation],
    together: Mapping[int, Sequence[_Cell]],
) -> float:
    value, hierarchy = [attribute.coded.code_column(0)], attribute.hierarchy
    holes: dict[str, Hole] = {**relations, "value": value, "level": [f"level_{j}"], "height": hierarchy.height}
    if j in together or (not attribute.coded.by_rules and len(hierarchy.values) <= _FEW):
        cells = together[j] if j in together else tables.rows("quality/cell_levels", **holes)
        codes = [hierarchy.codes(level) for level in range(hierarchy.height + 1)]
        return _bits_of([(int(code), int(level), int(n)) for code, level, n in cells], codes)
    levels = tables.create("levels", "quality/cell_levels", **holes)
    present = tables.rows("mappings/column_values", column=["level"], tuples=levels)
    return _bits_through(tables, attribute, sorted(int(level) for level, _ in present))


def _bits_of(cells: Sequence[tuple[int, int, int]], codes: Sequence[Sequence[int]]) -> float:
    """The bits that cells (value, level, rows) lose; `codes`: of all values on every level. As "quality/entropy".

    >>> _bits_of([(0, 1, 1), (1, 1, 1), (2, 0, 5)], [(0, 1, 2), (0, 0, 1)])
    2.0
    """
    bits = 0.0
    for fine, coarse in pairwise(sorted({0, *(level for _, level, _ in cells)})):
        codes_of = dict(zip(codes[0], zip(codes[fine], codes[coarse], strict=True), strict=True))
        both, above = Counter[tuple[int, int]](), Counter[int]()
        for value, level, n in cells:
            if level >= coarse:
                both[codes_of[value]] += n
                above[codes_of[value][1]] += n
        bits += sum(n * log2(above[code] / n) for (_, code), n in both.items())
    return bits


def generalized_rows(engine: Engine, classes: Relation, count: int) -> tuple[int, ...]:
    """The number of released rows whose cell covers several leaves (leaves_j), for every attribute."""
    query = queries.text(
        "quality/generalized", engine.dialect, classes=classes, leaves=[f"leaves_{j}" for j in range(count)]
    )
    (rows,) = engine.rows(query)
    return tuple(map(int, rows))


def normalized(value: float, least: float, most: float) -> float:
    """A figure scaled to 1 for the source, and 0 for the largest possible value.

    >>> normalized(4, 2, 10)
    0.75
    """
    return 1 - (value - least) / (most - least) if most > least else 1.0


def _quality(parts: Sequence[_Parts]) -> Quality:
    """The figures of several columns together: bits are added up, levels and shares averaged over all cells."""
    cells = sum(part.rows for part in parts)
    shares, leaf = sum(part.shares for part in parts) / cells, sum(part.leaf for part in parts) / len(parts)
    return Quality(
        normalized(sum(part.bits for part in parts), 0, sum(part.most_bits for part in parts)),
        1 - sum(part.levels for part in parts) / cells,
        normalized(shares, leaf, 1),
    )


def _parts(tables: Scratch, attribute: Attribute, j: int, assignment: Relation, classes: Relation) -> _Parts:
    coded, hierarchy = attribute.coded, attribute.hierarchy
    value, label = [coded.code_column(0)], [f"label_{j}"]
    relations = {"assignment": assignment, "classes": classes}
    cells = tables.create("cells", "quality/cells", value=value, label=label, **relations)
    columns = _with_shown(tables, cells, _lowest_levels(tables, attribute))
    labels = tables.load("labels", {"label": "VARCHAR", "level": "INTEGER", "leaves": "INTEGER"}, columns)
    levels = tables.create("levels", "quality/levels", cells=cells, labels=labels)
    sums = tables.rows("quality/sums", levels=levels)
    if any(level is None for level, *_ in sums):
        raise HierarchyError(
            f"column {attribute.column.name!r}: some released labels are on no level of its hierarchy, so its entropy "
            "cannot be measured; show labels, or name the hierarchy that they come from"
        )
    rows = sum(int(n) for _, n, _ in sums)
    return _Parts(
        rows,
        _bits_through(tables, attribute, [int(level) for level, *_ in sums]),
        _bits(tables, attribute, 0, hierarchy.height, 0),
        sum(int(level) * int(n) for level, n, _ in sums) / hierarchy.height,
        sum(int(leaves) for *_, leaves in sums) / hierarchy.leaf_count,
        1 / hierarchy.leaf_count,
    )


def _bits_through(tables: Scratch, attribute: Attribute, present: Sequence[int]) -> float:
    """The bits that rows lose, step by step over the levels on which there are cells."""
    steps = pairwise([0, *(level for level in present if level)])
    return sum(_bits(tables, attribute, fine, coarse, coarse) for fine, coarse in steps)


def _bits(tables: Scratch, attribute: Attribute, fine: int, coarse: int, level: int) -> float:
    """The bits that rows on `level` or above lose from one level of the hierarchy to another."""
    mapping, columns = attribute.coded.mapping, {"fine": [f"code_{fine}"], "coarse": [f"code_{coarse}"]}
    holes = {"levels": tables["levels"], "mapping": mapping}
    ((bits,),) = tables.rows("quality/entropy", level=level, **holes, **columns)
    return float(bits)


def _with_shown(tables: Scratch, cells: Relation, lowest: dict[str | None, tuple[int, int]]) -> list[Sequence[Any]]:
    """The labels as columns, with those of cells that only differ from them in blanks."""
    by_letters: dict[str, tuple[int, int]] = {}
    for label, place in lowest.items():
        by_letters.setdefault(_letters(label or ""), place)
    released = tables.rows("mappings/column_values", column=["label"], tuples=cells)
    shown = {label: by_letters.get(_letters(label)) for label, _ in released if label is not None}
    labels = {label: place for label, place in shown.items() if place} | lowest
    return [list(labels), [level for level, _ in labels.values()], [leaves for _, leaves in labels.values()]]


def _letters(label: str) -> str:
    return "".join(label.split())


def _lowest_levels(tables: Scratch, attribute: Attribute) -> dict[str | None, tuple[int, int]]:
    """Every label with the lowest level that has it, and its number of leaves there; `*` is always the top."""
    hierarchy = attribute.hierarchy
    texts = dict(tables.rows("prioprivacy/rule_values", mapping=attribute.coded.mapping))
    lowest: dict[str | None, tuple[int, int]] = {STAR: (hierarchy.height, hierarchy.leaf_count)}
    for level in range(hierarchy.height + 1):
        for code, leaves in enumerate(hierarchy.leaves(level)):
            label = texts[code] if level == 0 else hierarchy.distinct_labels(level)[code]
            lowest.setdefault(label, (level, leaves))
    return lowest
