"""The rows of a table as codes of their cells, and the combinations of codes that occur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kanon_sql.engine import Engine
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import SourceError
from kanon_sql.frequency.code_arrays import combined, count_keys, separated
from kanon_sql.generalization.values import Label
from kanon_sql.queries import Coded, Relation, coded_cells
from kanon_sql.utility.attribute import Floats, Int64s

_MOST_CELLS = 2**22  # of an array with all combinations of codes of some columns
Subset = tuple[int, ...]  # of the columns, by number
Codes = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class CodedRows:
    """The rows of a table as codes, in one array per column.

    `sizes`: the number of codes of every column. `rows`: how many rows every element stands for, None for one each.
    """

    codes: Mapping[int, Codes]
    sizes: Sequence[int]
    rows: Int64s | None = None

    def counted(self, columns: Subset) -> CodedRows:
        """The combinations of codes of some columns that occur, in order, with their rows."""
        codes, sizes = [self.codes[column] for column in columns], [self.sizes[column] for column in columns]
        keys, most = combined(codes, sizes)
        distinct, rows = count_keys(keys, self.rows, most)
        if most == prod(sizes):
            return self._of(columns, separated(distinct, sizes), rows)
        one = np.zeros(len(distinct), dtype=np.int64)  # the place of one row per combination
        one[np.searchsorted(distinct, keys)] = np.arange(len(keys))
        return self._of(columns, [code[one] for code in codes], rows)

    def in_order(self, columns: Subset, places: Int64s) -> Int64s:
        """The codes of some columns in the rows at some places, if all rows were sorted by these codes."""
        codes, sizes = [self.codes[column] for column in columns], [self.sizes[column] for column in columns]
        keys, most = combined(codes, sizes)
        if most == prod(sizes):
            keys.sort()
            return np.column_stack([code.astype(np.int64) for code in separated(keys[places], sizes)])
        rows = np.argsort(keys)[places]
        return np.column_stack([code[rows].astype(np.int64) for code in codes])

    def _of(self, columns: Subset, codes: Sequence[Codes], rows: Int64s) -> CodedRows:
        small = {column: code.astype(self.codes[column].dtype) for column, code in zip(columns, codes, strict=True)}
        return CodedRows(small, self.sizes, rows)

    def expected(self, columns: Subset, weights: Sequence[Floats]) -> Floats:
        """The expected number of rows that satisfy a predicate on each of some columns, for several such queries.

        `weights`: per column, the probability that a cell satisfies a query's predicate, by query and code.
        """
        sizes = [self.sizes[column] for column in columns]
        codes = [self.codes[column] for column in columns]
        if prod(sizes) <= _MOST_CELLS:
            rows = np.bincount(combined(codes, sizes)[0], self.rows, prod(sizes)).reshape(sizes)
            query = len(columns)
            operands = [operand for place, weight in enumerate(weights) for operand in (weight, [query, place])]
            expected: Floats = np.einsum(rows.astype(float), [*range(query)], *operands, [query], optimize=True)
            return expected
        of_rows = np.ones(len(codes[0])) if self.rows is None else self.rows.astype(float)
        answers = []
        for of_columns in zip(*weights, strict=True):
            chances = of_rows
            for weight, code in zip(of_columns, codes, strict=True):
                chances = chances * weight[code]
            answers.append(chances.sum())
        return np.array(answers)


def read_codes(
    engine: Engine, table: Relation, cells: Sequence[str], codes: Sequence[Mapping[Label, int]], sizes: Sequence[int]
) -> CodedRows:
    """The rows of a table in an embedded engine as codes.

    `cells`: its columns. `codes`: per column the codes of its cells by their text. SourceError if a cell has none.
    """
    with Scratch(engine, "codes") as tables:
        mapped = [_mapped(tables, number, of_column) for number, of_column in enumerate(codes)]
        columns = {attribute.stem: cell for attribute, cell in zip(mapped, cells, strict=True)}
        found = engine.arrays(tables.view("coded", coded_cells(table, columns, mapped, engine.dialect)))
    arrays = [found[attribute.code_column(0)] for attribute in mapped]
    if any(np.ma.is_masked(array) for array in arrays):
        raise SourceError("a table changed while it was read; run again")
    return CodedRows(dict(enumerate(map(np.ma.getdata, arrays))), sizes)


def _mapped(tables: Scratch, number: int, codes: Mapping[Label, int]) -> Coded:
    rows = [(text, code) for text, code in codes.items() if text is not None]
    types = {"value": "VARCHAR", "code_0": tables.engine.integer_type(max(codes.values(), default=0))}
    mapping = tables.load(f"a{number}", types, list(zip(*rows, strict=True)) or [[], []])
    nulls = {"code_0": codes[None]} if None in codes else None
    return Coded(f"a{number}", mapping, 0, (), nulls)
