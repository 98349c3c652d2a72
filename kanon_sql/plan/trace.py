"""The trace of a search, lines of JSON: the judge's answers about nodes, from which another run can continue."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, TextIO

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import KanonError, SourceError, SpecError, TargetError
from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import Figures
from kanon_sql.plan.problem import Problem
from kanon_sql.queries import Relation
from kanon_sql.staging import write_file
from kanon_sql.strategies.driver import TraceEntry
from kanon_sql.strategies.recalled import Answers, Recalled

Fingerprint = dict[str, str]
_Tests = dict[Node, tuple[int, int | None]]
_Scores = dict[Node, dict[str, Figures]]
_PARTS = {
    "question": "the privacy models, the metric or the suppression limit differ",
    "hierarchies": "the hierarchies, or the values in their columns, differ",
    "table": "the rows of the table differ",
}


class Trace:
    """The answers of a search, and of an earlier one. Every line has the fingerprint of the problem.

    `resumed`: the trace of an earlier run, complete or left by a killed process; SpecError if it is not a trace.
    `path`: the file that the trace will be written to; until the run ends, answers are in a file next to it.
    """

    def __init__(self, resumed: Path | None = None, path: Path | None = None) -> None:
        self._resumed = resumed
        self._partial = partial_file(path) if path else None
        self._fingerprint, self._answers = read(resumed) if resumed else ({}, Answers())
        self._judge: Recalled | None = None
        self._file: TextIO | None = None

    def recalling(self, problem: Problem) -> Recalled:
        """The problem's judge with the answers so far; SpecError if the earlier search was of another problem."""
        current = fingerprint(problem)
        if self._fingerprint:
            changed = [text for part, text in _PARTS.items() if self._fingerprint.get(part) != current[part]]
            if changed:
                raise SpecError(
                    f"{self._resumed} is the trace of another search: {' and '.join(changed)}; leave out `resume` to "
                    "start again"
                )
        self._fingerprint = current
        self._judge = Recalled(problem.judge, self._answers, self._note)
        self._write(self.lines())
        return self._judge

    def _note(self, nodes: Sequence[Node], method: str | None) -> None:
        """Hand new answers to the operating system, so that they survive if the process is killed."""
        tests: _Tests = {}
        figures: _Scores = {}
        if method is None:
            tests = {node: self._answers.tests[node] for node in nodes}
        else:
            figures = {node: {method: self._answers.figures[node][method]} for node in nodes}
        self._write(self._text(_lines_of_nodes(nodes, tests, figures)))

    def _write(self, text: str) -> None:
        if self._partial is None or not text:
            return
        try:
            self._file = self._file or self._partial.open("w", encoding="utf-8")
            self._file.write(text)
            self._file.flush()
        except OSError as error:
            raise TargetError(f"{self._partial} cannot be written ({error.strerror}); leave out `trace`") from None

    def close(self) -> None:
        """Remove the file of partial answers, because the run ended by itself."""
        if self._file and self._partial:
            with suppress(OSError):  # a full disk may raise it again
                self._file.close()
            self._partial.unlink(missing_ok=True)

    @property
    def nodes_resumed(self) -> int:
        """How many nodes this search did not have to test, because the earlier one had."""
        return len(self._judge.recalled) if self._judge else 0

    def lines(self, steps: Sequence[TraceEntry] = ()) -> str:
        """The trace as text: the steps of a completed search, then all other answers."""
        tests, figures = dict(self._answers.tests), dict(self._answers.figures)
        of_steps = [{**asdict(step), **_take_details(tests, figures, step.node, step.asked)} for step in steps]
        return self._text([*of_steps, *_lines_of_nodes(self._answers.nodes, tests, figures)])

    def _text(self, lines: Iterable[dict[str, Any]]) -> str:
        return "".join(f"{json.dumps({**line, 'of': self._fingerprint})}\n" for line in lines)

    def keep(self, path: Path, overwrite: bool, error: KanonError) -> SourceError | None:
        """Write the answers when an error ended a search; returns that error with the way to continue."""
        if not self._answers.nodes:
            return None
        write_file(path, self.lines(), overwrite)
        nodes = len(self._answers.nodes)
        return SourceError(
            f'{error}; the results for {nodes:,} nodes are in {path}, so continue with `resume="{path}"`', error.values
        )


def _lines_of_nodes(nodes: Sequence[Node], tests: _Tests, figures: _Scores) -> Iterator[dict[str, Any]]:
    """The answers about nodes, in the form of steps."""
    for node in nodes:
        if node in tests:
            step = TraceEntry(0.0, "test", node, tests[node][0], None)
            yield {**asdict(step), **_take_details(tests, figures, node, "test")}
        if node in figures:
            step = TraceEntry(0.0, "score", node, None, None)
            yield {**asdict(step), **_take_details(tests, figures, node, "score")}


def _take_details(tests: _Tests, figures: _Scores, node: Node, asked: str) -> dict[str, Any]:
    """The part of an answer that a step lacks; removed from the answers, so that later lines do not repeat it."""
    if asked == "test":
        _, below = tests.pop(node, (0, None))
        return {} if below is None else {"at_risk_below": below}
    by_method = {
        method: {name: value for name, value in asdict(answer).items() if value is not None and name != "node"}
        for method, answer in figures.pop(node, {}).items()
    }
    return {"figures": by_method} if by_method else {}


def partial_file(path: Path) -> Path:
    """The file of a running search's answers, which remains if the process is killed.

    >>> partial_file(Path("trace.jsonl")).name
    'trace.jsonl.part'
    """
    return path.with_name(f"{path.name}.part")


def read(path: Path) -> tuple[Fingerprint, Answers]:
    """The fingerprint and the answers of a trace; SpecError if the file is not a trace, or is one of several problems.

    A partial file of a killed run is newer than the trace, and is read instead.
    """
    try:
        partial = partial_file(path)
        text = (partial if partial.exists() else path).read_text(encoding="utf-8")
        complete, _, _ = text.rpartition("\n")  # the last line of a killed run may be cut off
        lines = [json.loads(line) for line in complete.splitlines()]
        of = dict(lines[0]["of"])
        answers = Answers()
        for line in lines:
            if line["of"] != of:
                raise ValueError
            node = tuple(map(int, line["node"]))
            if line["asked"] == "test" and answers.tests.get(node, (0, None))[1] is None:
                answers.tests[node] = int(line["rows_at_risk"]), line.get("at_risk_below")
            for method, answer in line.get("figures", {}).items():
                values: dict[str, Any] = {
                    name: tuple(value) if isinstance(value, list) else value for name, value in answer.items()
                }
                answers.figures.setdefault(node, {})[method] = Figures(node, **values)
    except OSError as error:
        raise SpecError(f"the trace {path} cannot be read ({error.strerror}); check the path") from error
    except (ValueError, LookupError, TypeError):
        raise SpecError(
            f"{path} is not a trace to resume from; name the file that an earlier run wrote as its `trace`"
        ) from None
    return of, answers


def fingerprint(problem: Problem) -> Fingerprint:
    """Digests of everything that the answers depend on: the question, the hierarchies, and the frequency set."""
    spec, counted = problem.spec, problem.frequency_set
    models = [
        (
            model.name,
            sorted(model.parameters.items()),
            model.sensitive,
            getattr(model, "safe", ""),
            getattr(model, "columns", {}),
        )
        for model in problem.judge.model.every
    ]
    question = [sorted(map(repr, models)), spec.unit, spec.metric, spec.suppression_limit]
    hierarchies = []
    for attribute in counted.attributes:
        hierarchy = attribute.hierarchy
        codes = [tuple(hierarchy.codes(level)) for level in range(hierarchy.height + 1)]
        hierarchies.append((attribute.column.name, [repr(value) for value in hierarchy.values], codes))
    columns = [*counted.keys, *counted.counted, "n"]
    table: list[Any] = [_digest(counted.tables, counted.relation, columns)]
    for name, relation in counted.references.items():
        named = [column.name for column in counted.engine.table(relation).columns]
        table.append((name, _digest(counted.tables, relation, named)))
    parts = {"question": question, "hierarchies": hierarchies, "table": table}
    return {name: sha256(repr(part).encode()).hexdigest()[:16] for name, part in parts.items()}


def _digest(tables: Scratch, relation: Relation, columns: Sequence[str]) -> list[int]:
    contents = tables.create_as("contents", queries.contents(relation, columns, tables.engine.dialect))
    (sums,) = tables.rows("release/digest", contents=contents)
    tables.drop(contents)
    return [int(total or 0) for total in sums]
