"""A search that resumes from the trace of an earlier one: the same end, and no check is repeated."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kanon_sql import anonymize
from kanon_sql.engine import Engine
from kanon_sql.engines.postgres import PostgreSQL
from kanon_sql.errors import SourceError, SpecError
from kanon_sql.frequency.judge import Judge
from support.command_line import kanon
from support.database import create_table
from support.examples import examples
from support.resumed import ROWS, SPEC, TYPES

QUESTIONS: dict[str, dict[str, Any]] = {
    "auto": {},
    "classes": {"metric": "average_class_size", "strategy": "exhaustive"},
    "cells": {"metric": "entropy"},
    "not monotone": {"privacy": {"k": 3, "t_closeness": {"ill": 0.3}}, "strategy": "exhaustive"},
}
SAME = ("node", "score", "proven_optimal", "lower_bound", "nodes_checked", "information_loss", "suppressed_rows")


class JudgeCalls:
    """How many nodes each method of the judge was asked for, and whether it fails after some of them."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.nodes, self.left, self.fail = 0, -1, lambda: None
        for name in ("rows_at_risk", "verdicts", "losses", "cells", "classes"):
            patch.setattr(Judge, name, self._counting(getattr(Judge, name)))

    def _counting(self, method: Any) -> Any:
        def counted(judge: Judge, nodes: Any, *rest: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                self.fail()
            self.nodes += 1
            return method(judge, nodes, *rest)

        return counted


@pytest.fixture
def judge_calls(monkeypatch: pytest.MonkeyPatch) -> JudgeCalls:
    return JudgeCalls(monkeypatch)


def lost() -> None:
    raise SourceError("the connection is lost")


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.sampled
def test_a_search_resumes_where_an_earlier_one_was_lost(
    embedded: Engine, judge_calls: JudgeCalls, tmp_path: Path, question: str
) -> None:
    create_table(embedded, "people", TYPES, ROWS)
    trace, more = tmp_path / "trace.jsonl", {"connection": embedded.connection, **QUESTIONS[question]}
    whole = anonymize("people", SPEC, **more).manifest
    needed, judge_calls.nodes = judge_calls.nodes, 0
    judge_calls.left, judge_calls.fail = needed * 2 // 3, lost
    with pytest.raises(SourceError, match=r'the connection is lost; .* so continue with `resume=".*trace\.jsonl"`$'):
        anonymize("people", SPEC, trace=trace, **more)
    before, judge_calls.nodes = judge_calls.nodes, 0
    resumed = anonymize("people", SPEC, resume=trace, trace=trace, **more).manifest
    assert {name: resumed[name] for name in SAME} == {name: whole[name] for name in SAME}
    assert before > 3
    assert judge_calls.nodes <= needed - before + 3, "what a plan asks of its one node is asked again"
    assert 0 < resumed["nodes_resumed"] < resumed["nodes_checked"]
    judge_calls.nodes = 0
    again = anonymize("people", SPEC, resume=trace, **more).manifest
    assert again["nodes_resumed"] == again["nodes_checked"] == whole["nodes_checked"]
    assert judge_calls.nodes <= 6, "of its one node alone"


@pytest.mark.slow
def test_a_search_out_of_time_can_be_resumed(
    judge_calls: JudgeCalls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = "\n".join(",".join(map(str, row)) for row in ROWS)
    Path("people.csv").write_text(f"{','.join(TYPES)}\n{lines}\n")
    Path("spec.json").write_text(json.dumps({**SPEC, "source": "people.csv"}))
    run = ["anonymize", "--spec", "spec.json", "--output", "out.csv", "--overwrite", "--json", "--trace", "t.jsonl"]
    whole = json.loads(kanon(*run).out)
    assert whole["proven_optimal"]
    judge_calls.left, judge_calls.fail = judge_calls.nodes // 2, lambda: time.sleep(0.6)
    short = json.loads(kanon(*run, "--time-limit", 0.5).out)
    assert (short["proven_optimal"], short["search_ended"]) == (False, "time limit")
    resumed = json.loads(kanon(*run, "--resume", "t.jsonl").out)
    assert {name: resumed[name] for name in SAME} == {name: whole[name] for name in SAME}
    assert 0 < resumed["nodes_resumed"] < resumed["nodes_checked"]
    other = kanon(*run, "--resume", "t.jsonl", "--k", 7)
    assert (other.code, json.loads(other.out)["kind"]) == (2, "SpecError")
    assert "t.jsonl is the trace of another search: the privacy models" in other.err
    assert other.err.endswith("; leave out --resume to start again\n")
    for text in ("", "{}", "[1]", '{"of": {}, "node": 5}', "not JSON", '{"of": {"table": "x"}, "asked": "test"}'):
        Path("bad.jsonl").write_text(text)
        assert "bad.jsonl is not a trace to resume from" in kanon(*run, "--resume", "bad.jsonl").err
    assert "cannot be read (No such file or directory)" in kanon(*run, "--resume", "none.jsonl").err


CELLS = st.tuples(st.sampled_from([20, 21, 30]), st.sampled_from(["11", "12", "21"]), st.sampled_from("ab"))


@examples(5)
@given(data=st.data(), rows=st.lists(CELLS, min_size=4, max_size=8))
def test_the_trace_of_any_other_table_is_refused(tmp_path: Path, data: st.DataObject, rows: list[Any]) -> None:
    """The same rows in another order are the same table; one row more, less or changed make another."""
    others = data.draw(st.lists(CELLS, min_size=4, max_size=8) | st.permutations(rows))
    trace = tmp_path / "trace.jsonl"
    trace.unlink(missing_ok=True)
    recipes = {"age": {"ranges": [10]}, "zip": {"redact": "right"}}
    spec = {
        "quasi_identifiers": {name: {"hierarchy": recipe} for name, recipe in recipes.items()},
        "sensitive": ["ill"],
        "privacy": {"k": 2, "l_diversity": {"ill": {"l": 1}}},
        "suppression_limit": 1.0,
    }
    import pandas

    frames = [pandas.DataFrame(item, columns=["age", "zip", "ill"]) for item in (rows, others)]
    first = anonymize(frames[0], spec, trace=trace).manifest
    if sorted(rows) == sorted(others):
        assert anonymize(frames[1], spec, resume=trace).manifest["node"] == first["node"]
    else:
        with pytest.raises(SpecError, match=r"is the trace of another search: .*(table|columns),? differ"):
            anonymize(frames[1], spec, resume=trace)


def test_a_connection_that_is_killed_in_the_middle(
    postgres: PostgreSQL, postgres_dsn: str, judge_calls: JudgeCalls, tmp_path: Path
) -> None:
    create_table(postgres, "people", TYPES, ROWS)
    Path(tmp_path / "spec.json").write_text(json.dumps({**SPEC, "source": "people", "database": postgres_dsn}))
    run = ["anonymize", "--spec", tmp_path / "spec.json", "--search-in", "engine", "--into", "released", "--json"]
    sessions = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'doomed'"
    whole = json.loads(kanon(*run, "--overwrite").out)
    needed, judge_calls.left = judge_calls.nodes, judge_calls.nodes // 2
    judge_calls.nodes, judge_calls.fail = 0, lambda: postgres.rows(sessions)
    doomed = f"{postgres_dsn}&application_name=doomed"
    trace = tmp_path / "trace.jsonl"
    killed = kanon(*run, "--overwrite", "--database", doomed, "--trace", trace)
    assert (killed.code, json.loads(killed.out)["exit_code"], killed.err.count("\n")) == (2, 2, 1)
    assert "PostgreSQL says: " in killed.err
    assert killed.err.endswith(f" nodes are in {trace}, so continue with --resume {trace}\n")
    before, judge_calls.nodes = judge_calls.nodes, 0
    resumed = json.loads(kanon(*run, "--overwrite", "--resume", trace).out)
    assert {name: resumed[name] for name in SAME} == {name: whole[name] for name in SAME}
    assert before > 2
    assert judge_calls.nodes <= needed - before + 3
