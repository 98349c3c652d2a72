"""The trace of a search, lines of JSON: what was asked of the data and answered, from which another run can go on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from kanon_sql import queries
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import KanonError, SourceError, SpecError
from kanon_sql.generalization.hierarchy import Hierarchy
from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import Figures
from kanon_sql.queries import Relation
from kanon_sql.staging import Staging
from kanon_sql.strategies.driver import Step
from kanon_sql.strategies.recalled import Answers, Recalled
from kanon_sql.verbs.problem import Problem

Fingerprint = dict[str, str]
_PARTS = {
    "question": "the privacy models, the metric or the suppression limit are others",
    "hierarchies": "the hierarchies, or the values in their columns, are others",
    "table": "the rows of the table are others",
}


class Trace:
    """What a search asks and is told, beside what an earlier one was: every line has the fingerprint of the question.

    `resumed`: the file of an earlier trace; SpecError if it is none.
    """

    def __init__(self, resumed: Path | None = None) -> None:
        self._resumed = resumed
        self._of, self._answers = read(resumed) if resumed else ({}, Answers())
        self._judge: Recalled | None = None

    def recalling(self, problem: Problem) -> Recalled:
        """The judge of a problem with all that is known of it; SpecError if the earlier search was of another."""
        of = fingerprint(problem)
        others = [_PARTS[part] for part in _PARTS if self._of and self._of.get(part) != of[part]]
        if others:
            raise SpecError(
                f"{self._resumed} is the trace of another question: {' and '.join(others)}; leave out `resume` to "
                "search anew"
            )
        self._of, self._judge = of, Recalled(problem.judge, self._answers)
        return self._judge

    @property
    def nodes_resumed(self) -> int:
        """How many nodes this search did not ask for, since the earlier one had."""
        return len(self._judge.recalled) if self._judge else 0

    def lines(self, steps: Sequence[Step] = ()) -> str:
        """The trace as text: the steps of a search that ended, and then whatever else is known of nodes."""
        return "".join(f"{json.dumps({**line, 'of': self._of})}\n" for line in self._lines(steps))

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
            yield {**asdict(step), **self._told(tests, figures, step.node, step.asked)}
        for node in self._answers.nodes:
            for asked, left in (("test", tests), ("score", figures)):
                if node in left:
                    rows = tests[node][0] if asked == "test" else None
                    step = Step(0.0, asked, node, rows, None)
                    yield {**asdict(step), **self._told(tests, figures, node, asked)}

    @staticmethod
    def _told(
        tests: dict[Node, tuple[int, int | None]], figures: dict[Node, dict[str, Figures]], node: Node, asked: str
    ) -> dict[str, Any]:
        """What a line says beside its step, which no later line says again."""
        if asked == "test":
            _, below = tests.pop(node, (0, None))
            return {} if below is None else {"at_risk_below": below}
        said = figures.pop(node, {})
        return {"figures": {name: _plain(each) for name, each in said.items()}} if said else {}


def read(path: Path) -> tuple[Fingerprint, Answers]:
    """The fingerprint and the answers of a trace; SpecError if the file is none, or is of several questions."""
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
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
    if line["asked"] == "test" and node not in answers.tests:
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
        (each.name, sorted(each.parameters.items()), getattr(each, "sensitive", None))
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
    (sums,) = tables.rows("core/digest", contents=contents)
    tables.drop(contents)
    return [int(each or 0) for each in sums]
