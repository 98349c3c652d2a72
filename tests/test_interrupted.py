"""Ctrl-C at any statement of a search or a local recoding: the best result so far, labelled as interrupted."""

import signal
from collections import Counter
from collections.abc import Callable
from typing import Any

import pandas
import pytest

import kanon_sql
from kanon_sql import interrupts
from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.recode import task

K, L, ROWS = 3, 2, 120
COLUMNS = {"age": 40, "zip": 60, "job": 12, "sex": 2}
SPEC = {
    "quasi_identifiers": {name: {"hierarchy": {"ranges": [3, 9, 27]}} for name in COLUMNS},
    "sensitive": ["ill"],
    "show": "labels",
    "suppression_limit": 0,
}


@pytest.fixture
def people() -> pandas.DataFrame:
    table = {name: [row * row * (7 + size) % 1009 % size for row in range(ROWS)] for name, size in COLUMNS.items()}
    return pandas.DataFrame({**table, "ill": [row * row % 7 for row in range(ROWS)]})


class Interrupting:
    """Ctrl-C at one of the statements that run while it is caught; `number` counts those there were."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.at, self.number = 0, 0
        patch.setattr(task, "_LOOKS", 0.0005)
        for name in ("run", "rows"):
            patch.setattr(DuckDB, name, self._counting(getattr(DuckDB, name)))

    def _counting(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        def run(engine: DuckDB, sql: str) -> Any:
            if isinstance(signal.getsignal(signal.SIGINT), interrupts._Caught):
                self.number += 1
                if self.number == self.at:
                    signal.raise_signal(signal.SIGINT)
            return plain(engine, sql)

        return run

    def run(self, at: int, people: pandas.DataFrame, **how: Any) -> tuple[str, pandas.DataFrame, dict[str, Any]]:
        self.at, self.number = at, 0
        release = kanon_sql.anonymize(people, SPEC, k=K, **how)
        return release.manifest["search_ended"], release.to_df(), release.manifest


def is_safe(released: pandas.DataFrame, l_diverse: bool) -> bool:
    rows = [tuple(row) for row in released[[*COLUMNS, "ill"]].astype(str).to_numpy().tolist()]
    classes = Counter(row[:-1] for row in rows)
    values = Counter(row[:-1] for row in set(rows))
    return min(classes.values()) >= K and (not l_diverse or min(values.values()) >= L)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "l_diverse", "points"),
    [
        ("refine", False, 3),
        ("refine", True, 2),
        ("mondrian", False, 2),
        ("kaca", True, 1),
        ("prioprivacy", True, 2),
        ("certified", True, 2),
    ],
)
@pytest.mark.sampled
def test_an_interrupted_run_returns_the_best_so_far_with_a_note(
    strategy: str, l_diverse: bool, points: int, people: pandas.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    how: dict[str, Any] = {"strategy": strategy}
    if l_diverse:
        how["l_diversity"] = {"ill": L}
    if strategy == "prioprivacy":
        how["priorities"] = dict.fromkeys(COLUMNS, 1)
    interrupting = Interrupting(monkeypatch)
    ended, complete, _ = interrupting.run(0, people, **how)
    assert ended == "complete"
    statements = interrupting.number
    for place in range(points):
        ended, released, manifest = interrupting.run((1 + place) * statements // (1 + points), people, **how)
        assert ended == "interrupted" or released.equals(complete), place
        assert is_safe(released, l_diverse), place
        assert manifest["verified"]
