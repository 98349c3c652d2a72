"""Local recodings whose time is over while a statement replaces a table: the classes found before are released."""

import random
import re
import threading
import time
from typing import Any

import pytest

from kanon_sql.engines.duckdb import DuckDB
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import KanonError
from kanon_sql.frequency.frequency_set import build_frequency_set
from kanon_sql.generalization import hierarchy as h
from kanon_sql.privacy import all_of, k_anonymity, l_diversity
from kanon_sql.recode import RECODERS, Task
from support.database import create_table
from support.refining import task_of

K, ROWS, LIMIT = 2, 30, 1000.0
CREATES = r'CREATE (OR REPLACE )?TEMPORARY TABLE "temp"."kanon_refine_classes" '
TREE = h.from_rows([[f"{n:02}", f"{n // 3}", f"{n // 9}x", "*"] for n in range(27)], "tree")


class Statements:
    """The statements of a task's engine; the one with the number `late` fails, as if interrupted, `seconds` later."""

    def __init__(self, task: Task, late: int | None = None, seconds: float = 0.0) -> None:
        self.task, self.late, self.seconds = task, late, seconds
        self.texts: list[str] = []
        self.passed = 0.0
        self.interrupted = threading.Event()
        task.clock.now = lambda: time.monotonic() + self.passed

    def patch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        engine = self.task.engine
        run = engine.run

        def execute(text: str) -> Any:
            self.texts.append(text)
            if len(self.texts) - 1 == self.late:
                self.interrupted.clear()
                self.passed = self.seconds
                if self.interrupted.wait(0.2):  # by whoever looks at the clock
                    raise KanonError("interrupted")
            return run(text)

        monkeypatch.setattr(engine, "interrupt", self.interrupted.set)
        monkeypatch.setattr(engine, "run", execute)


def run_with(
    strategy: str, monkeypatch: pytest.MonkeyPatch, late: int | None = None, seconds: float = 0.0
) -> tuple[list[str], list[int]]:
    """The statements of a run, and the sizes of its classes."""
    draw = random.Random(7)
    engine, rows = DuckDB(), [(f"{draw.randrange(27):02}", draw.choice("abc")) for _ in range(ROWS)]
    table = create_table(engine, "people", {"age": "VARCHAR", "ill": "VARCHAR"}, rows)
    frequency_set = build_frequency_set(
        engine, table, {"age": lambda _: TREE}, Scratch(engine), sensitive={"_sensitive_0": "ill"}
    )
    model = all_of(k_anonymity(K), l_diversity("ill", 2))
    task = task_of(frequency_set, model, 0.0, seconds=LIMIT)
    statements = Statements(task, late, seconds)
    statements.patch(monkeypatch)
    local = RECODERS[strategy](task)
    sizes = f"SELECT SUM(n) FROM {local.assignment.name} WHERE class IS NOT NULL GROUP BY class"
    return statements.texts, [int(n) for (n,) in task.engine.rows(sizes)]


@pytest.mark.nightly
def test_refine_is_late_when_it_describes_its_classes_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """After it found no better move; the table of classes is dropped before the statement that fills it fails."""
    texts, _ = run_with("refine", monkeypatch)
    describes = [number for number, text in enumerate(texts) if re.match(CREATES, text)]
    assert len(describes) > 3
    for number in describes[-3:]:
        _, sizes = run_with("refine", monkeypatch, number, 1.001 * LIMIT)
        assert (sum(sizes), min(sizes) >= K) == (ROWS, True), number
