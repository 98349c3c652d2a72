"""Some hundred random tables, a third with several rows per person; docs/guarantees.md names the command for more."""

import pytest

from support import random_tables


@pytest.mark.slow
def test_random_tables_are_as_an_oracle_over_people_counts_them() -> None:
    outcomes = list(random_tables.checks(0, 120, 1))
    assert [problem for _, outcome, problem in outcomes if outcome == "wrong"] == []
    assert sum(outcome in ("searched", "released by search") for _, outcome, _ in outcomes) > 60
    assert any(outcome == "released by local recoding" for _, outcome, _ in outcomes)
