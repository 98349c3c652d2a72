"""Ways out if the best node leaves a column at its top level, without information: their losses, for comparison."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

from kanon_sql.engines.scratch import Scratch
from kanon_sql.errors import InfeasibleError, SpecError
from kanon_sql.frequency.frequency_set import merge_equal_codes, sampled
from kanon_sql.generalization.lattice import Lattice
from kanon_sql.loss import Figures
from kanon_sql.plan.observer import Observer
from kanon_sql.plan.plan import Plan, recode, search
from kanon_sql.plan.problem import posed_again
from kanon_sql.spec import check
from kanon_sql.verbs import manifest as manifests

SECONDS = 2.0  # time limit of each search, and of the local recoding
HEAVIER = 4  # weight of the column, in multiples of the other weights


@dataclass(frozen=True)
class WayOut:
    """A way out for a column at its top, or for all columns (`column` None).

    `loss`: the mean loss then; `loss_of_column`: that of the column; `suppressed_rows`: the rows suppressed then. All
    are None if no such release meets the model, or none was found in time.
    """

    column: str | None
    way: str
    loss: float | None = None
    loss_of_column: float | None = None
    suppressed_rows: int | None = None


def at_top(plan: Plan) -> list[str]:
    """The columns that a node leaves at the top of their hierarchies, where all values are equal; [] for recodings."""
    if plan.outcome is None:
        return []
    problem = plan.problem
    columns = zip(problem.columns, plan.outcome.node, problem.costs.heights, problem.costs.leaves, strict=True)
    return [name for name, level, height, leaves in columns if level == height and leaves > 1]


def ways_out(plan: Plan, observer: Observer) -> list[dict[str, object]]:
    """The ways out for all columns at their top, found on the plan's frequency set, as mappings for JSON.

    Every search ends after two seconds with its best node so far, so the losses are upper bounds.
    """
    names = at_top(plan)
    problem = plan.problem
    found = []
    for name in names:
        # A lattice without the column's top level.
        place = problem.columns.index(name)
        bottom = problem.lattice.bottom
        top = list(problem.lattice.top)
        top[place] -= 1
        way = f"max_level: {top[place]}"
        if top[place] < bottom[place]:
            found.append(WayOut(name, way))
        else:
            found.append(_searched(plan, name, way, observer, lattice=Lattice(bottom, tuple(top))))
        # A larger weight for the column.
        old = problem.costs.weights or (1.0,) * len(problem.columns)
        weights = tuple(weight if number == place else weight / HEAVIER for number, weight in enumerate(old))
        found.append(_searched(plan, name, f"weight: 1, and {1 / HEAVIER:g} for the others", observer, weights=weights))
    if names:
        found.extend(_refined(plan, observer))
    return [asdict(way) for way in found]


def _searched(
    plan: Plan,
    name: str,
    way: str,
    observer: Observer,
    lattice: Lattice | None = None,
    weights: tuple[float, ...] | None = None,
) -> WayOut:
    """The best node of another lattice or by other weights; its loss is measured by the weights of the release."""
    original = plan.problem
    spec = original.spec.model_copy(update={"time_limit": SECONDS, "target": None})
    problem = posed_again(original, spec, original.frequency_set)
    costs = replace(problem.costs, weights=problem.costs.weights if weights is None else weights)
    observer.stage(f"Looking for a way out: {name}, {way}")
    try:
        changed = replace(problem, lattice=lattice or problem.lattice, costs=costs)
        node = search(changed, replace(observer, judge=None)).node
    except InfeasibleError:
        return WayOut(name, way)
    finally:
        problem.judge.drop()
    return _way_out(plan, name, way, plan.recoding.judge.losses(node, original.costs))


def _refined(plan: Plan, observer: Observer) -> Iterator[WayOut]:
    """A local recoding, if the spec allows one."""
    problem = plan.problem
    spec = problem.spec.model_copy(update={"strategy": "refine", "time_limit": SECONDS, "target": None})
    observer.stage("Looking for a way out: refine")
    try:
        check(spec, "anonymize")
        with Scratch(problem.frequency_set.engine, "refined") as tables:
            frequency_set = sampled(problem.frequency_set)
            frequency_set = merge_equal_codes(frequency_set, drop=frequency_set is not problem.frequency_set)
            refined = recode(posed_again(problem, spec, replace(frequency_set, tables=tables)), observer)
            yield _way_out(plan, None, "strategy: refine", manifests.figures_of(refined.with_cells()))
    except (SpecError, InfeasibleError):
        return


def _way_out(plan: Plan, name: str | None, way: str, figures: Figures) -> WayOut:
    costs = plan.problem.costs
    losses = figures.losses or ()
    mean = sum(share * loss for share, loss in zip(costs.shares, losses, strict=True))
    loss_of_column = None if name is None else losses[plan.problem.columns.index(name)]
    return WayOut(name, way, mean, loss_of_column, figures.rows_at_risk)
