"""A check that reads a relation several times, as codes, finds the same as one that reads its values once."""

import random

import duckdb
import pytest

from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.privacy import all_of, beta_likeness, k_anonymity, l_diversity, t_closeness
from kanon_sql.queries import Relation
from kanon_sql.release.findings import summarize

ROWS = 150
MODELS = [
    k_anonymity(2),
    l_diversity("ill", 2),
    l_diversity("ill", 2, "entropy"),
    l_diversity("ill", 2, "recursive", c=2),
    t_closeness("ill", 0.4),
    t_closeness("paid", 0.4, "ordered"),
    beta_likeness("ill", 2),
]


def random_engine(seed: int) -> DuckDB:
    """A table of people with several rows, with NULL, texts that differ in case or a blank, and two zeros."""
    rng = random.Random(seed)
    values = [
        [None, "a", "A", "a ", "ä"],
        [None, "2024-01-01", "2024-01-02"],
        [None, "x", "y", "z"],
        [0.5, 1.5, 0.0, -0.0],
        [None, *range(40)],
    ]
    con = duckdb.connect()
    con.execute('CREATE TABLE people ("größe" VARCHAR, day DATE, ill VARCHAR, paid DOUBLE, who INTEGER)')
    con.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", [[rng.choice(v) for v in values] for _ in range(ROWS)])
    return DuckDB(con)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("unit", [None, "who"])
def test_codes_lead_to_the_same_findings_as_values(seed: int, unit: str | None) -> None:
    engine, models = random_engine(seed), all_of(*MODELS, unit=unit)
    columns = ["größe", "day"]
    as_codes, as_values = (
        summarize(engine, Relation("main", "people"), columns, models, sensitive=["ill", "paid"], once=once)
        for once in (False, True)
    )
    assert as_codes.rows == ROWS
    assert as_codes == as_values
