"""Correlated answers on scales of 3 to 7 values: many columns, nearly all rows different."""

from random import Random

from support.oracle import Column, Problem


def answers(rows: int, columns: int, k: int, limit: float, seed: int = 7) -> Problem:
    """People who agree with much or with little; a scale's levels are the values, pairs, fours, `*`."""
    draw = Random(seed)
    scales = [3 + j % 5 for j in range(columns)]
    drawn = []
    for _ in range(rows):
        mood = draw.gauss(0.5, 0.18)
        drawn.append(tuple(min(n - 1, max(0, int((mood + draw.gauss(0, 0.16)) * n))) for n in scales))
    return Problem(drawn, [_scale(n) for n in scales], k, limit)


def _scale(n: int) -> Column:
    wide = [width for width in (2, 4) if width < n]
    return Column({value: (value, *(f"{width}:{value // width}" for width in wide), "*") for value in range(n)})
