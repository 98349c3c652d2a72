"""What the page measures of a result: the nodes around it, and its risk and utility. Runs in the worker.

All of it is aggregates, as mappings for JSON.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from kanon_sql.engines.opening import embedded
from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import KanonError
from kanon_sql.generalization.lattice import Lattice, Node
from kanon_sql.measure.tables import opened_for_comparison
from kanon_sql.measure.utility import UtilityMeasurement
from kanon_sql.page.explore import MOST_NODES
from kanon_sql.page.histograms import sample
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan
from kanon_sql.plan.source import opened_source
from kanon_sql.report.lattice_picture import can_draw_nodes
from kanon_sql.risk.exact import exact
from kanon_sql.spec import Spec
from kanon_sql.utility import SharedColumn
from kanon_sql.utility.counts import Query, QueryErrors, drawn
from kanon_sql.utility.sides import Sides
from kanon_sql.verbs.figures import PARTS, ReleaseFigures
from kanon_sql.verbs.released import Release

SECONDS = 2.0  # for the nodes that the search did not test or score
QUERIES = 500  # random count queries
MOST_CELLS = 2000  # of a question by the user: the most frequent ones
_BATCH = 16
_DECIDING = ("counted", "risk", "norms", "exact", "attacks")


# The lattice


def explored(plan: Plan, seconds: float = SECONDS) -> dict[str, Any] | None:
    """The nodes of a searched lattice with their rows at risk and detail; None if nothing was searched.

    All nodes of a small lattice; of a large one those that the search tested, and those around the best. All of them
    are tested and scored, as far as there is time.
    """
    outcome = plan.outcome
    if outcome is None or outcome.tags is None or outcome.found_by == "kept":
        return None
    problem = plan.problem
    small = can_draw_nodes(problem.lattice)
    best = outcome.node
    tested = dict.fromkeys(step.node for step in outcome.trace)
    nodes = list(problem.lattice.nodes()) if small else list(tested | dict.fromkeys(_around(problem.lattice, best)))
    nodes.sort(key=lambda node: (node != best, sum(abs(a - b) for a, b in zip(node, best, strict=True))))
    return {
        "columns": problem.columns,
        "bottom": problem.lattice.bottom,
        "top": problem.lattice.top,
        "size": problem.lattice.size,
        "small": small,
        "best": best,
        "rows": problem.costs.rows,
        "may_suppress": problem.may_suppress,
        "nodes": _figures(plan, nodes[:MOST_NODES], time.monotonic() + seconds),
        "samples": {
            attribute.column.name: sample(attribute.hierarchy, range(len(values) // 2, len(values)))
            for attribute in problem.frequency_set.attributes
            if (values := attribute.hierarchy.values)
        },
    }


def _around(lattice: Lattice, best: Node) -> Sequence[Node]:
    """The nodes that are closest to the best one."""
    found = {best: None}
    for node in (reached := [best]):
        if len(found) >= MOST_NODES:
            break
        for other in (*lattice.predecessors(node), *lattice.successors(node)):
            if other not in found:
                found[other] = None
                reached.append(other)
    return list(found)[:MOST_NODES]


def _batches(nodes: Sequence[Node], end: float) -> Iterator[Sequence[Node]]:
    """Some nodes at a time, until the time is up."""
    for first in range(0, len(nodes), _BATCH):
        if time.monotonic() > end:
            return
        yield nodes[first : first + _BATCH]


def _figures(plan: Plan, nodes: Sequence[Node], end: float) -> list[dict[str, Any]]:
    """The figures of nodes; later ones lack `suppressed`, `detail` or group sizes if the time is up."""
    outcome, problem = plan.outcome, plan.problem
    judge = problem.judge
    assert outcome is not None
    assert outcome.tags is not None
    at_risk = {step.node: step.rows_at_risk for step in outcome.trace if step.rows_at_risk is not None}
    for some in _batches([node for node in nodes if node not in at_risk], end):
        at_risk |= dict(zip(some, judge.rows_at_risk(some), strict=True))
    safe: dict[Node, bool | None] = {}
    for node in nodes:
        safe[node] = at_risk[node] <= problem.may_suppress if node in at_risk else outcome.tags.status(node)
    detail: dict[Node, float] = {}
    for some in _batches([node for node in nodes if safe[node]], end):
        for node, figures in zip(some, judge.several_losses(some, problem.costs), strict=True):
            losses = figures.losses or ()
            detail[node] = 1 - sum(losses) / max(1, len(losses))
    found = []
    for node in nodes:
        classes = judge.classes(node) if node in detail and time.monotonic() <= end else None
        found.append(
            {
                "node": node,
                "safe": safe[node],
                "suppressed": at_risk.get(node),
                "detail": detail.get(node),
                "groups": classes and classes.classes,
                "smallest": classes and classes.smallest_class,
            }
        )
    return found


# Risk and utility


def measured(release: Release, questions: Sequence[Sequence[str]], observer: Observer) -> dict[str, Any]:
    """The attacks on a release, the uniqueness of its unchanged columns, and the errors of counts from it.

    `figures`: the part of the report's figures that the verdict needs.
    `questions`: pairs of columns whose cross table is counted. `missing`: what was not measured, and why.
    """
    spec, missing = release.spec, dict[str, str]()
    assert isinstance(spec, Spec)
    figures: dict[str, Any] = {"attacks": [], "exact": None, "counts": None, "questions": []}
    without = [part for part in PARTS if part in ("columns", "loss_by_k", "lattice")]
    with _noting(missing, "attacks"):
        measured_figures = release.figures(without=without, observer=observer)
        figures["attacks"] = [dict(attack) for attack in measured_figures.attacks]
        figures["figures"] = deciding(measured_figures)
        if "attacks" in measured_figures.missing:
            missing["attacks"] = measured_figures.missing["attacks"]
    observer.stage("Counting unique rows")
    with _noting(missing, "exact"):
        figures["exact"] = _unique(release, spec)
    with _noting(missing, "utility"):
        figures |= _utility(release, spec, questions, observer)
    return {**figures, "missing": missing}


def deciding(figures: ReleaseFigures) -> dict[str, Any]:
    """The figures of a report that a verdict depends on."""
    found = figures.to_dict()
    return {name: found[name] for name in _DECIDING if name in found}


@contextlib.contextmanager
def _noting(missing: dict[str, str], name: str) -> Iterator[None]:
    try:
        yield
    except KanonError as error:
        missing[name] = str(error)


def _unique(release: Release, spec: Spec) -> dict[str, Any]:
    """The rows, or people, that are unique in the source by the columns that are released unchanged."""
    roles, levels = release.manifest["roles"], release.manifest.get("node") or {}
    unchanged = [name for name, level in levels.items() if level == 0]
    names = [*unchanged, *(roles.get("sensitive") or ()), *(roles.get("kept") or ())]
    perturbed = (release.manifest.get("perturbation") or {}).get("columns", {})
    with opened_source(spec.source, spec.session, warns=False) as source:
        countable = {column.name for column in source.table.columns if column.kind != "other"}
        columns = [name for name in dict.fromkeys(names) if name in countable and name not in perturbed]
        with Scratch(source.engine, "exact") as tables:
            found = exact(tables, source.table.relation, columns, spec.unit)
    return {"columns": columns, "unique": found.singled_out, "of": found.counted, "people": found.by_people}


def _utility(release: Release, spec: Spec, questions: Sequence[Sequence[str]], observer: Observer) -> dict[str, Any]:
    """The errors of random count queries, and of the cross table of every question."""
    with contextlib.ExitStack() as stack:
        here = stack.enter_context(contextlib.closing(embedded(spec.session.limits)))
        tables = stack.enter_context(Scratch(here, "utility"))
        both = {
            side: stack.enter_context(opened_for_comparison(table, spec, None, is_source=side == "source"))
            for side, table in (("source", spec.source), ("release", release))
        }
        names = {"source": spec.source, "release": "the release"}
        measuring = UtilityMeasurement(tables, spec, both, names, (), observer)
        sides, rows = measuring.sides(), measuring.rows["source"]
        observer.stage("Asking count queries")
        counts = _errors(sides, drawn(sides.attributes, QUERIES, spec.seed), rows)
        place_of = {attribute.name: place for place, attribute in enumerate(sides.attributes)}
        answered = []
        for question in questions:
            subset = tuple(place_of[name] for name in question if name in place_of)
            complete = len(subset) == len(question)
            found = _errors(sides, _cross_table(sides.attributes, subset), rows) if complete else None
            answered.append({"columns": list(question), "errors": found})
        return {"counts": counts, "questions": answered}


def _errors(sides: Sides, queries: Sequence[Query], rows: int) -> dict[str, Any] | None:
    if not queries:
        return None
    found: QueryErrors = sides.counts(queries, rows)
    return dict(vars(found))


def _cross_table(attributes: Sequence[SharedColumn], subset: Sequence[int]) -> list[Query]:
    """A query per combination of values, or of groups of neighbouring values, of some columns: the largest first."""
    shares: Mapping[int, Any] = {place: attributes[place].group_rows for place in subset}
    groups = [[group for group, rows in enumerate(shares[place]) if rows] for place in subset]
    cells = []
    for cell in product(*groups):
        expected = 1.0
        for place, group in zip(subset, cell, strict=True):
            expected *= float(shares[place][group])
        cells.append((expected, cell))
    cells.sort(key=lambda expected_and_cell: (-expected_and_cell[0], expected_and_cell[1]))
    return [Query(tuple(subset), tuple((group,) for group in cell)) for _, cell in cells[:MOST_CELLS]]
