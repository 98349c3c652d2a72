"""A search whose process was killed resumes from its trace, on any engine."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kanon_sql import anonymize
from kanon_sql.engine import Engine
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import SpecError, TargetError
from kanon_sql.plan.trace import partial_file
from support.database import create_table
from support.resumed import ROWS, TYPES
from support.resumed import SPEC as SEARCHED

SPEC = {**SEARCHED, "strategy": "exhaustive"}
SAME = ("node", "score", "proven_optimal", "nodes_checked", "information_loss", "suppressed_rows")
# A process that kills itself, as the kernel would, when its search asks for something for the n-th time.
DOOMED = """
import os, signal, sys
from kanon_sql.cli import main
from kanon_sql.frequency.judge import Judge

left = [int(sys.argv[1])]
for name in ("rows_at_risk", "verdicts", "losses", "cells", "classes"):
    def asked(judge, *rest, method=getattr(Judge, name)):
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return method(judge, *rest)
    setattr(Judge, name, asked)
sys.argv[:2] = ["kanon"]
main()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("spec.json").write_text(json.dumps(SPEC))
    return tmp_path


def killed(moment: int, database: str, *options: str) -> None:
    line = ["anonymize", "people", "--database", database, "--spec", "spec.json", "--trace", "t.jsonl", *options]
    done = subprocess.run(
        [sys.executable, "-c", DOOMED, str(moment), *line], capture_output=True, text=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_a_killed_search_resumes_from_its_trace(folder: Path) -> None:
    with duckdb.connect("people.duckdb") as mine:
        mine.execute("CREATE TABLE people (age INTEGER, zip VARCHAR, sex VARCHAR, ill VARCHAR)")
        mine.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", ROWS)
    options: dict[str, Any] = {"database": "people.duckdb", "spec": SPEC, "output": "out.csv"}
    whole = anonymize("people", overwrite=True, **options).manifest
    Path("out.csv").unlink()
    killed(8, "people.duckdb", "--output", "out.csv")
    assert {path.name for path in folder.iterdir()} >= {"t.jsonl.part"}
    assert not Path("t.jsonl").exists()
    assert not Path("out.csv").exists()
    known = len(partial_file(Path("t.jsonl")).read_text().splitlines())
    with partial_file(Path("t.jsonl")).open("a") as cut:
        cut.write('{"seconds": 0.1, "asked"')  # where the kernel stopped the pen
    resumed = anonymize("people", resume="t.jsonl", trace="t.jsonl", **options).manifest
    assert {name: resumed[name] for name in SAME} == {name: whole[name] for name in SAME}
    assert known > 3
    assert 0 < resumed["nodes_resumed"] < resumed["nodes_checked"]
    assert Path("t.jsonl").exists()
    assert not partial_file(Path("t.jsonl")).exists()
    again = anonymize("people", resume="t.jsonl", overwrite=True, **options).manifest
    assert again["nodes_resumed"] == again["nodes_checked"]
    _check_killed_resumption()


def _check_killed_resumption() -> None:
    """What is left has all that was known before."""
    lines = Path("t.jsonl").read_text().splitlines()
    Path("t.jsonl").write_text("".join(f"{line}\n" for line in lines[:4]))
    killed(2, "people.duckdb", "--output", "out.csv", "--overwrite", "--resume", "t.jsonl")
    nodes = [json.loads(line)["node"] for line in partial_file(Path("t.jsonl")).read_text().splitlines()]
    assert nodes[:4] == [json.loads(line)["node"] for line in lines[:4]]


def test_a_run_that_ends_by_itself_leaves_no_part_of_a_trace(folder: Path, embedded: Engine) -> None:
    create_table(embedded, "people", TYPES, ROWS)
    with pytest.raises(SpecError):
        anonymize("people", SPEC, connection=embedded.connection, k=301, trace="t.jsonl")  # type: ignore[attr-defined]
    assert not list(folder.glob("t.jsonl*"))
    Path("t.jsonl.part").mkdir()
    with pytest.raises(TargetError, match=r"t\.jsonl\.part cannot be written .*; leave out `trace`$"):
        anonymize("people", SPEC, connection=embedded.connection, trace="t.jsonl")  # type: ignore[attr-defined]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("first", "second"), [("engine", "embedded"), ("embedded", "engine")])
def test_a_search_resumes_in_another_engine(postgres: PostgreSQL, first: Any, second: Any) -> None:
    """The fingerprint is of what was counted, whoever counted it."""
    create_table(postgres, "people", TYPES, ROWS)
    options: dict[str, Any] = {"connection": postgres.connection}
    whole = anonymize("people", SPEC, search_in=first, trace="t.jsonl", **options).manifest
    resumed = anonymize("people", SPEC, search_in=second, resume="t.jsonl", **options).manifest
    assert {name: resumed[name] for name in SAME} == {name: whole[name] for name in SAME}
    assert resumed["nodes_resumed"] == resumed["nodes_checked"]
    postgres.run("UPDATE people SET age = 99 WHERE age = 20")
    with pytest.raises(SpecError, match="is the trace of another search"):
        anonymize("people", SPEC, search_in=second, resume="t.jsonl", **options)
