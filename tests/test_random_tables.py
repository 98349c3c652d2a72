"""Some random tables, a third with several rows per person; docs/how-it-is-tested.md names the command for 100,000."""

import pytest

from support import random_tables


@pytest.mark.slow
def test_random_tables_match_an_oracle_over_people() -> None:
    searched = range(0, 800, random_tables.SEARCHED_EVERY)
    outcomes = [random_tables.check(seed) for seed in (*range(1, 20), *searched)]
    assert [problem for _, outcome, problem in outcomes if outcome == "wrong"] == []
    ends = {outcome for _, outcome, _ in outcomes}
    assert ends >= {"verified", "searched", "released by search", "released by local recoding"}
