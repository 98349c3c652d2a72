"""Small releases need no more queries than before, and have the same results: benchmarks/baseline.json.

`python benchmarks/all.py --baseline`, or `KANON_RENEW=1 pytest tests/test_counters.py`, stores the counts of today;
read what has changed before you keep it. Times are compared nowhere.
"""

import os
import sys
import warnings
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent / "benchmarks"))
import counters

BASELINE = counters.baseline()
RENEW = "; if that is as it should be, run `python benchmarks/all.py --baseline`"


@pytest.fixture(scope="module", autouse=True)
def _renewed() -> None:
    if os.environ.get("KANON_RENEW"):
        counters.renew()
        BASELINE.update(counters.baseline())


def test_every_job_is_stored() -> None:
    assert [*counters.jobs()] == [*BASELINE], f"jobs and baseline differ{RENEW}"


@pytest.mark.parametrize("name", counters.jobs())
def test_a_release_runs_no_more_queries_than_before(name: str) -> None:
    now = counters.jobs()[name]()
    worse = counters.worse(name, BASELINE[name], now)
    assert not worse, "; ".join(worse) + RENEW
    for gain in counters.better(name, BASELINE[name], now):
        warnings.warn(f"{gain}: store it by `python benchmarks/all.py --baseline`", stacklevel=1)


def test_more_is_worse_and_so_is_another_result() -> None:
    before = {"statements": 10, "rows_read": 1000, "nodes_checked": None, "score": 0.5, "verified": True}
    assert counters.worse("job", before, dict(before)) == []
    assert counters.worse("job", before, {**before, "statements": 11}) == ["job: statements 10 -> 11"]
    assert counters.worse("job", before, {**before, "nodes_checked": 1}) == ["job: nodes_checked None -> 1"]
    assert counters.worse("job", before, {**before, "score": 0.4}) == ["job: score 0.5 -> 0.4"]
    assert counters.worse("job", before, {**before, "verified": False}) == ["job: verified True -> False"]
    assert counters.worse("job", before, {**before, "rows_read": 1010}) == []
    assert counters.worse("job", before, {**before, "rows_read": 1011}) == ["job: rows_read 1000 -> 1011"]


def test_less_is_a_gain_to_be_stored() -> None:
    before = {"statements": 10, "queries": 5, "score": 0.5}
    assert counters.better("job", before, {"statements": 9, "queries": 5, "score": 0.4}) == ["job: statements 10 -> 9"]
