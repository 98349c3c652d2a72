"""A generated survey in which nearly every row differs: correlated answers on scales of three to seven values."""

from pathlib import Path

import numpy
import pandas


def survey(folder: Path, rows: int, columns: int = 16, seed: int = 1) -> tuple[pandas.DataFrame, dict[str, object]]:
    """So many rows of answers, the same for a seed, and a spec whose hierarchies are put into the folder.

    Each person leans to one side of all scales, so that some combinations of answers are far more common.
    """
    draw = numpy.random.default_rng(seed)
    leaning = draw.normal(size=rows)
    answers = {}
    for j in range(columns):
        scale = 3 + j % 5
        felt = 0.6 * leaning + 0.8 * draw.normal(size=rows)
        answers[f"q{j:02}"] = numpy.clip(numpy.floor((felt + 2) / 4 * scale), 0, scale - 1).astype(int)
        (folder / f"q{j:02}.csv").write_text("".join(f"{v};{v * 3 // scale}/3;*\n" for v in range(scale)))
    return pandas.DataFrame(answers), {"quasi_identifiers": list(answers), "hierarchies": str(folder)}
