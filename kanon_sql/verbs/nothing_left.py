"""Whether the quasi-identifiers of a release still carry information, and if not, which privacy model is the cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kanon_sql.frequency.judge import Judge
from kanon_sql.generalization.lattice import Node
from kanon_sql.loss import Figures
from kanon_sql.plan.plan import Plan
from kanon_sql.plan.problem import Problem
from kanon_sql.privacy import PrivacyModel, PrivacyModels, ReleaseModel
from kanon_sql.report.words import listed
from kanon_sql.spec import may_suppress

_EQUAL_DISTANCE = "(equal distance)"


def nothing_left(plan: Plan, figures: Figures) -> str | None:
    """A warning for a release without rows, or with only one class; None for any other.

    One class is fine if all rows of the source are equal.
    """
    problem = plan.problem
    if figures.released_rows and (figures.classes != 1 or problem.frequency_set.tuples == 1):
        return None
    if problem.spec.target and problem.spec.target.form == "anatomy":
        return None  # an anatomy releases its quasi-identifiers unchanged
    if not figures.released_rows:
        fact = f"nothing is left: all {problem.frequency_set.rows:,} rows were suppressed"
    else:
        same = f"all {figures.released_rows:,} released rows look the same in {listed(problem.columns)}"
        fact = f"nothing is left of the quasi-identifiers: {same}"
    below = list(problem.lattice.predecessors(problem.lattice.top))
    if not below:
        return f"{fact}, since `min_level` allows nothing less general; lower it"
    models = plan.recoding.judge.model
    if plan.outcome:  # the judge has the models of the released node: keep only models that apply to any node
        models = replace(models, models=tuple(model for model in models.models if model in models.requested))
    forcing = _forcing(problem, models, below)
    if forcing is None:
        return f"{fact}, though a less general node meets the models; try another strategy or more time"
    last = forcing.every[-1]
    # A derived class size replaces the models of the whole release, so name these models instead.
    causes = [last] if last in models.requested else models.of_release
    names = " and ".join(model.name for model in causes)
    return f"{fact}, since nothing less general meets {names}; {', or '.join(_ways_out(problem, causes[0]))}"


def _forcing(problem: Problem, models: PrivacyModels, nodes: Sequence[Node]) -> PrivacyModels | None:
    """The shortest prefix of the models that no node one level below the top meets; its last model is the cause."""
    # The first model, the first two, and so on. In prefixes, counted columns keep their (numbered) names.
    of_classes = range(1, len(models.models) + 1)
    prefixes = [replace(models, models=models.models[:count], of_release=()) for count in of_classes]
    of_release = range(1, len(models.of_release) + 1)
    prefixes += [replace(models, of_release=models.of_release[:count]) for count in of_release]
    allowed = may_suppress(problem.spec.max_suppressed, problem.frequency_set.rows)
    for first in prefixes:
        judge = Judge(problem.frequency_set, first)
        met = min(judge.rows_at_risk(nodes), default=problem.frequency_set.rows) <= allowed
        judge.drop()
        if not met:
            return first
    return None


def _ways_out(problem: Problem, model: PrivacyModel | ReleaseModel) -> Iterator[str]:
    column = (
        problem.source.table.column(model.sensitive) if isinstance(model, PrivacyModel) and model.sensitive else None
    )
    if column and column.ordered and model.name.endswith(_EQUAL_DISTANCE):
        yield "measure its distance in order (`distance: ordered`)"
    yield "lower k" if isinstance(model, PrivacyModel) and model.class_size else "relax it"
    if len(problem.columns) > 1:
        yield "name fewer quasi-identifiers"
