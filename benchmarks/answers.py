"""Made-up answers on scales of 3 to 7 values, of people who agree with much or little: the same seed, the same bytes.

Each answer is a person's mood and a doubt of its own, so that all answers go together. With little doubt few rows
differ, with the usual one nearly all: 100,000 rows of 16 answers are 97,000 distinct ones. Whole numbers only, so that
no machine rounds otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pandas

USUAL = 32  # hundredths: how much a person's answers differ; 60,000 of 61,000 rows of 16 answers are distinct
LITTLE = 1  # of 30,000 rows of 60 answers some hundreds are distinct
_MOOD = 36  # hundredths: how much people differ
_BLOCK = 250_000  # rows drawn together
_ONE = 1 << 16


def scale(column: int) -> int:
    """How many answers a question has."""
    return 3 + column % 5


def blocks(rows: int, columns: int, seed: int = 0, doubt: int = USUAL) -> Iterator[pandas.DataFrame]:
    """The table of `rows` people and so many `columns`, a block at a time: `answer_1` and so on, 0 to 6."""
    scales = numpy.array([scale(j) for j in range(columns)])
    for number, first in enumerate(range(0, rows, _BLOCK)):
        draw = numpy.random.Generator(numpy.random.PCG64([seed, columns, number]))
        people = min(_BLOCK, rows - first)
        mood, doubts = _bell(draw, (people, 1)), _bell(draw, (people, columns))
        share = _ONE // 2 + (_MOOD * mood + doubt * doubts) // 100
        chosen = numpy.clip(share * scales // _ONE, 0, scales - 1).astype("int8")
        yield pandas.DataFrame(chosen, columns=[f"answer_{j + 1}" for j in range(columns)])


def _bell(draw: numpy.random.Generator, shape: tuple[int, int]) -> Any:
    """Sums of three whole numbers below 65,536, less their mean."""
    return sum(draw.integers(0, _ONE, shape) for _ in range(3)) - 3 * _ONE // 2


def write(path: Path, rows: int, columns: int, seed: int = 0, doubt: int = USUAL) -> None:
    """Write the table to a Parquet file; one thread, so that the bytes are the same."""
    with duckdb.connect(config={"threads": 1}) as connection:
        for number, block in enumerate(blocks(rows, columns, seed, doubt)):
            connection.register("block", block)
            connection.execute(
                f"{'INSERT INTO' if number else 'CREATE TABLE'} answers {'' if number else 'AS'} FROM block"
            )
        connection.table("answers").write_parquet(str(path), compression="zstd")


def recipes(columns: int) -> dict[str, Any]:
    """Their hierarchies, as a spec has them: pairs of answers, then fours."""
    steps = {j: [2] if scale(j) < 5 else [2, 4] for j in range(columns)}
    return {f"answer_{j + 1}": {"hierarchy": {"ranges": ranges}} for j, ranges in steps.items()}
