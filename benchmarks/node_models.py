"""The median test of a node on Adult by each privacy model, and its ratio to k-anonymity's, all in one run.

The aim is at most 2.5 for l-diversity, at most 4 for people and for t-closeness with the equal distance, at most 7 with
the others. CPU time, the best of three, on one thread, and ratios node by node, so that what else the machine does
matters little. Run with KANON_DATA set.
"""

from __future__ import annotations

import random
import statistics
import time

from measure import ADULT_COLUMNS, adult

from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency.fitting import read_hierarchy
from kanon_sql.frequency.frequency_set import build_frequency_set
from kanon_sql.frequency.judge import Judge
from kanon_sql.privacy import all_of, alpha, beta_likeness, delta_disclosure, k_anonymity, l_diversity, t_closeness

SENSITIVE = "occupation"
QUASI_IDENTIFIERS = [column for column in ADULT_COLUMNS if column != SENSITIVE]


def main() -> None:
    """Print a line per model."""
    folder = adult()
    engine = DuckDB()
    engine.connection.execute("SET threads = 1")
    file = f"read_csv('{folder / 'adult.csv'}', delim=';', all_varchar=true)"
    engine.run(f"CREATE TABLE adult AS SELECT *, (row_number() OVER ()) // 2 AS person FROM {file}")
    table = engine.find("adult")
    assert table
    hierarchies = {c: read_hierarchy(folder / "hierarchies" / f"{c}.csv") for c in (*QUASI_IDENTIFIERS, SENSITIVE)}
    requested = {
        "k-anonymity": [],
        "people": [],
        "distinct l-diversity": [l_diversity(SENSITIVE, 3)],
        "entropy l-diversity": [l_diversity(SENSITIVE, 3, "entropy")],
        "recursive (c, l)-diversity": [l_diversity(SENSITIVE, 3, "recursive", c=4)],
        "alpha": [alpha(SENSITIVE, 0.5)],
        "t-closeness, equal": [t_closeness(SENSITIVE, 0.2)],
        "t-closeness, ordered": [t_closeness(SENSITIVE, 0.2, "ordered")],
        "t-closeness, hierarchical": [t_closeness(SENSITIVE, 0.2, "hierarchical", hierarchies[SENSITIVE])],
        "β-likeness": [beta_likeness(SENSITIVE, 1)],
        "δ-disclosure": [delta_disclosure(SENSITIVE, 1)],
    }
    judges = {}
    for name, models in requested.items():
        model = all_of(k_anonymity(5), *models, unit="person" if name == "people" else None)
        builders = {column: lambda _, of=hierarchies[column]: of for column in QUASI_IDENTIFIERS}
        counted = model.sensitive, model.compared, model.groups
        frequency_set = build_frequency_set(engine, table, builders, Scratch(engine), False, None, *counted)
        judges[name] = Judge(frequency_set, model)
    draw = random.Random(1)
    nodes = [tuple(draw.randint(0, hierarchies[c].height) for c in QUASI_IDENTIFIERS) for _ in range(40)]
    # Node by node, so that every model sees the same machine.
    seconds = {name: [] for name in judges}
    for node in nodes:
        for name, judge in judges.items():
            seconds[name].append(min(_seconds(judge, node) for _ in range(3)))
    for name, times in seconds.items():
        ratio = statistics.median(one / plain for one, plain in zip(times, seconds["k-anonymity"], strict=True))
        print(f"{name:28} {statistics.median(times) * 1e3:.2f} ms, {ratio:.1f} times")


def _seconds(judge: Judge, node: tuple[int, ...]) -> float:
    started = time.process_time()
    judge.rows_at_risk([node])
    return time.process_time() - started


if __name__ == "__main__":
    main()
