"""The trace of a search, lines of JSON: what was asked of the data and answered, from which another run can go on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any, TextIO

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import KanonError, SourceError, SpecError, TargetError
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import Figures
from kanon_sql.plan.problem import Problem
from kanon_sql.queries import Relation
from kanon_sql.staging import Staging
from kanon_sql.strategies.driver import Step
from kanon_sql.strategies.recalled import Answers, Recalled

Fingerprint = dict[str, str]
_Tests = dict[Node, tuple[int, int | None]]
_Scores = dict[Node, dict[str, Figures]]
_PARTS = {
    "question": "the privacy models, the metric or the suppression limit are others",
    "hierarchies": "the hierarchies, or the values in their columns, are others",
    "table": "the rows of the table are others",
}


class Trace:
    """What a search asks and is told, beside what an earlier one was: every line has the fingerprint of the question.

    `resumed`: the file of an earlier trace, or of what was there when its run was killed; SpecError if it is none.
    `path`: the file that the trace is for; what is known so far is beside it until the run ends.
    """

    def __init__(self, resumed: Path | None = None, path: Path | None = None) -> None:
        self._resumed, self._so_far = resumed, so_far(path) if path else None
        self._of, self._answers = read(resumed) if resumed else ({}, Answers())
        self._judge: Recalled | None = None
        self._file: TextIO | None = None

    def recalling(self, problem: Problem) -> Recalled:
        """The judge of a problem with all that is known of it; SpecError if the earlier search was of another."""
        of = fingerprint(problem)
        others = [_PARTS[part] for part in _PARTS if self._of and self._of.get(part) != of[part]]
        if others:
            raise SpecError(
                f"{self._resumed} is the trace of another question: {' and '.join(others)}; leave out `resume` to "
                "search anew"
            )
        self._of, self._judge = of, Recalled(problem.judge, self._answers, self._note)
        self._write(self.lines())
        return self._judge

    def _note(self, nodes: Sequence[Node], method: str | None) -> None:
        """Write new answers to the disk's cache, where they outlive the process."""
        known = self._answers
        tests = {node: known.tests[node] for node in nodes if method is None}
        figures = {node: {method: known.figures[node][method]} for node in nodes if method is not None}
        self._write("".join(self._text(line) for line in _of_nodes(nodes, tests, figures)))

    def _write(self, text: str) -> None:
        if self._so_far is None or not text:
            return
        try:
            self._file = self._file or self._so_far.open("w", encoding="utf-8")
            self._file.write(text)
            self._file.flush()
        except OSError as error:
            raise TargetError(f"{self._so_far} cannot be written ({error.strerror}); leave out `trace`") from None

    def close(self) -> None:
        """Remove what was written so far: the run has ended by itself."""
        if self._file and self._so_far:
            with suppress(OSError):  # which a full disk may raise once more
                self._file.close()
            self._so_far.unlink(missing_ok=True)

    @property
    def nodes_resumed(self) -> int:
        """How many nodes this search did not ask for, since the earlier one had."""
        return len(self._judge.recalled) if self._judge else 0

    def lines(self, steps: Sequence[Step] = ()) -> str:
        """The trace as text: the steps of a search that ended, and then whatever else is known of nodes."""
        return "".join(self._text(line) for line in self._lines(steps))

    def _text(self, line: dict[str, Any]) -> str:
        return f"{json.dumps({**line, 'of': self._of})}\n"

    def keep(self, path: Path, overwrite: bool, error: KanonError) -> SourceError | None:
        """Write what is known when an error ended a search; gives that error with the way to go on."""
        if not self._answers.nodes:
            return None
        with Staging() as staging:
            with staging.file(path, overwrite) as temporary:
                temporary.write_text(self.lines(), encoding="utf-8")
            staging.place()
        known = f"{len(self._answers.nodes):,} nodes are in {path}"
        return SourceError(f'{error}; what is known of {known}, so go on with `resume="{path}"`', error.values)

    def _lines(self, steps: Sequence[Step]) -> Iterator[dict[str, Any]]:
        tests, figures = dict(self._answers.tests), dict(self._answers.figures)
        for step in steps:
            yield {**asdict(step), **_told(tests, figures, step.node, step.asked)}
        yield from _of_nodes(self._answers.nodes, tests, figures)


def _of_nodes(nodes: Sequence[Node], tests: _Tests, figures: _Scores) -> Iterator[dict[str, Any]]:
    """What is known of nodes, in the form of steps."""
    for node in nodes:
        for asked, left in (("test", tests), ("score", figures)):
            if node in left:
                rows = tests[node][0] if asked == "test" else None
                yield {**asdict(Step(0.0, asked, node, rows, None)), **_told(tests, figures, node, asked)}


def _told(tests: _Tests, figures: _Scores, node: Node, asked: str) -> dict[str, Any]:
    """What a line says beside its step, which no later line says again."""
    if asked == "test":
        _, below = tests.pop(node, (0, None))
        return {} if below is None else {"at_risk_below": below}
    said = figures.pop(node, {})
    return {"figures": {name: _plain(each) for name, each in said.items()}} if said else {}


def so_far(path: Path) -> Path:
    """The file of what a search was told while it runs, which is left if its process is killed.

    >>> so_far(Path("trace.jsonl")).name
    'trace.jsonl.part'
    """
    return path.with_name(f"{path.name}.part")


def read(path: Path) -> tuple[Fingerprint, Answers]:
    """The fingerprint and the answers of a trace; SpecError if the file is none, or is of several questions.

    What a killed run left beside it is newer, and is read in its place.
    """
    try:
        there = so_far(path) if so_far(path).exists() else path
        whole, _, _ = there.read_text(encoding="utf-8").rpartition("\n")  # the last line of a killed run may be cut
        lines = [json.loads(line) for line in whole.splitlines()]
        of, answers = dict(lines[0]["of"]), Answers()
        for line in lines:
            if line["of"] != of:
                raise ValueError
            _take(answers, line)
    except OSError as error:
        raise SpecError(f"the trace {path} cannot be read ({error.strerror}); check the path") from error
    except (ValueError, LookupError, TypeError):
        raise SpecError(
            f"{path} is no trace to go on from; give the file that an earlier run wrote as its `trace`"
        ) from None
    return of, answers


def _take(answers: Answers, line: dict[str, Any]) -> None:
    node = tuple(map(int, line["node"]))
    if line["asked"] == "test" and answers.tests.get(node, (0, None))[1] is None:
        answers.tests[node] = int(line["rows_at_risk"]), line.get("at_risk_below")
    for name, said in line.get("figures", {}).items():
        values: dict[str, Any] = {
            part: tuple(value) if isinstance(value, list) else value for part, value in said.items()
        }
        answers.figures.setdefault(node, {})[name] = Figures(node, **values)


def _plain(figures: Figures) -> dict[str, Any]:
    return {name: value for name, value in asdict(figures).items() if value is not None and name != "node"}


def fingerprint(problem: Problem) -> Fingerprint:
    """What the answers of a search depend on, as digests: the question, the hierarchies, and the frequency set."""
    spec, counted = problem.spec, problem.frequency_set
    models = [
        (
            each.name,
            sorted(each.parameters.items()),
            each.sensitive,
            getattr(each, "safe", ""),
            getattr(each, "columns", {}),
        )
        for each in problem.judge.model.every
    ]
    question = [sorted(map(repr, models)), spec.unit, spec.metric, spec.suppression_limit]
    hierarchies = [
        (each.column.name, [repr(value) for value in each.hierarchy.values], _paths(each.hierarchy))
        for each in counted.attributes
    ]
    columns = [*counted.keys, *counted.counted, "n"]
    table: list[Any] = [_digest(counted.tables, counted.relation, columns)]
    for name, relation in counted.references.items():
        named = [column.name for column in counted.engine.table(relation).columns]
        table.append((name, _digest(counted.tables, relation, named)))
    parts = {"question": question, "hierarchies": hierarchies, "table": table}
    return {name: sha256(repr(part).encode()).hexdigest()[:16] for name, part in parts.items()}


def _paths(hierarchy: Hierarchy) -> list[Any]:
    return [tuple(hierarchy.codes(level)) for level in range(hierarchy.height + 1)]


def _digest(tables: Scratch, relation: Relation, columns: Sequence[str]) -> list[int]:
    contents = tables.make_as("contents", queries.contents(relation, columns, tables.engine.dialect))
    (sums,) = tables.rows("release/digest", contents=contents)
    tables.drop(contents)
    return [int(each or 0) for each in sums]
