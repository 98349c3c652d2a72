"""The median verdict of a node on Adult's frequency set, and the bare GROUP BY of the same text in DuckDB.

Their ratio is what our own code costs: the aim is at most 1.5. Run with KANON_DATA set.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable

from measure import ADULT_COLUMNS, adult

from kanon_sql import spec
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency import fitting, judge
from kanon_sql.frequency import frequency_set as frequency
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.privacy import all_of, k_anonymity


def main() -> None:
    """Print the medians and their ratio, for single nodes and for batches of eight."""
    folder = adult()
    engine = DuckDB()
    table = engine.read_file(str(folder / "adult.csv"))
    asked = spec.merge(
        None, source="adult", quasi_identifiers=list(ADULT_COLUMNS), hierarchies=str(folder / "hierarchies")
    )
    builders = {name: fit.build for name, fit in fitting.hierarchy_sources(asked, table, engine).items()}
    frequency_set = frequency.build_frequency_set(engine, table, builders, Scratch(engine))
    asks = judge.Judge(frequency_set, all_of(k_anonymity(5)))
    nodes = random.Random(0).sample(list(Lattice((0,) * 9, frequency_set.heights).nodes()), 400)
    ours, bare = [], []
    for node in nodes:  # one after the other, so that both see the same machine
        text = asks.node_test_sql(node)
        bare.append(_seconds(lambda text=text: engine.connection.execute(text).fetchall()))
        ours.append(_seconds(lambda node=node: asks.rows_at_risk([node])))
    batches = [nodes[i : i + 8] for i in range(0, len(nodes), 8)]
    batched = [_seconds(lambda batch=batch: asks.rows_at_risk(batch)) / 8 for batch in batches]
    median = statistics.median
    print(f"{frequency_set.tuples:,} tuples, {len(nodes)} nodes drawn by seed 0, medians")
    print(f"bare GROUP BY     {median(bare) * 1e3:.3f} ms")
    print(f"verdict           {median(ours) * 1e3:.3f} ms, {median(ours) / median(bare):.2f} times the bare query")
    print(f"verdict, by eight {median(batched) * 1e3:.3f} ms, {median(batched) / median(bare):.2f} times")


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
