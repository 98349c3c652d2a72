"""Random cases against an oracle, from the command line."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor


def run_cases(run: Callable[[int], tuple[int, Counter[str], str]]) -> int:
    """Run as many cases as the command line says, from its seed or 0, and print what is wrong; 1 if anything is.

    `run`: a seed to the same seed, how often a night ended in which way, and what is wrong.
    """
    cases, first = ([int(text) for text in sys.argv[1:]] + [0])[:2]
    ends: Counter[str] = Counter()
    wrong = 0
    with ProcessPoolExecutor() as pool:
        for seed, found, problem in pool.map(run, range(first, first + cases), chunksize=2):
            ends += found
            if problem:
                wrong += 1
                print(seed, problem, flush=True)
    print(f"{cases:,} databases from seed {first}: {wrong} wrong; nights: {dict(ends)}")
    return 1 if wrong else 0
