"""The median verdict of a node on a frequency set, and the bare GROUP BY of the same text in DuckDB: prints JSON.

Their ratio is what our own code costs. `python benchmarks/node_test.py SPEC.json`, a spec with its source; without one
Adult is taken from KANON_DATA.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from measure import ADULT_COLUMNS, Row, adult

from kanon_sql import spec
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.frequency import fitting, judge
from kanon_sql.frequency import frequency_set as frequency
from kanon_sql.privacy import all_of, k_anonymity

NODES = 200


def main() -> None:
    """Print the medians in milliseconds."""
    adults = {"source": "adult.csv", "quasi_identifiers": list(ADULT_COLUMNS)}
    settings = json.loads(Path(sys.argv[1]).read_text()) if sys.argv[1:] else adults
    if not sys.argv[1:]:
        settings |= {"source": str(adult() / "adult.csv"), "hierarchies": str(adult() / "hierarchies")}
    print(json.dumps(figures(settings)))


def figures(settings: Row) -> Row:
    """What single nodes and batches of eight take, drawn by seed 0."""
    engine, settled = DuckDB(), spec.parse(settings)
    table = engine.read_file(settings["source"])
    builders = {name: fit.build for name, fit in fitting.hierarchy_sources(settled, table, engine).items()}
    frequency_set = frequency.build_frequency_set(engine, table, builders, Scratch(engine))
    asks, draw = judge.Judge(frequency_set, all_of(k_anonymity(5))), random.Random(0)
    nodes = [tuple(draw.randint(0, height) for height in frequency_set.heights) for _ in range(NODES)]
    ours, bare = [], []
    for node in nodes:  # one after the other, so that both see the same machine
        text = asks.node_test_sql(node)
        bare.append(_seconds(lambda text=text: engine.connection.execute(text).fetchall()))
        ours.append(_seconds(lambda node=node: asks.rows_at_risk([node])))
    batches = [nodes[i : i + 8] for i in range(0, len(nodes), 8)]
    batched = [_seconds(lambda batch=batch: asks.rows_at_risk(batch)) / 8 for batch in batches]
    medians = {"bare": bare, "verdict": ours, "by_eight": batched}
    return {"tuples": frequency_set.tuples, **{name: 1e3 * statistics.median(of) for name, of in medians.items()}}


def _seconds(run: Callable[[], object]) -> float:
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
